// SPDX-License-Identifier: Apache-2.0
/*
 * test_loop_mobility.c — rank, redundant equations and independent speeds: against brute force over all choices on small
 * mechanisms, against the rank that forward dynamics finds, and by their property on random systems: with the independent
 * speeds held, what is left of G determines all others.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "golden/golden.h"
#include "support/random_tree.h"

/* ---- rank, by orthogonalising columns ------------------------------------ */

/* Rank of the m by n matrix A, rows scaled to 1, over the columns that are marked; A is overwritten. */
static int rank_of(double *A, int m, int n, const uint8_t *use) {
	for (int i = 0; i < m; i++) {
		double square = 0;
		for (int k = 0; k < n; k++)
			square += A[i * n + k] * A[i * n + k];
		for (int k = 0; k < n; k++)
			A[i * n + k] *= use[k] && square > 1e-20 ? 1 / sqrt(square) : 0;
	}
	for (int rank = 0;; rank++) { // the longest column is taken out of all others
		int best = -1;
		double most = 1e-5;
		for (int k = 0; k < n; k++) {
			double square = 0;
			for (int i = 0; i < m; i++)
				square += A[i * n + k] * A[i * n + k];
			if (sqrt(square) > most)
				most = sqrt(square), best = k;
		}
		if (best < 0)
			return rank;
		for (int k = 0; k < n; k++) {
			double dot = 0;
			for (int i = 0; i < m; i++)
				dot += A[i * n + k] * A[i * n + best];
			for (int i = 0; i < m && k != best; i++)
				A[i * n + k] -= dot / (most * most) * A[i * n + best];
		}
		for (int i = 0; i < m; i++)
			A[i * n + best] = 0;
	}
}

/* Everything that must be true of independent speeds and rows at a state; frozen NULL: as described. */
static CalMobility check_choice(uint64_t seed, const CalModel *model, const CalState *state, const uint8_t *frozen,
                                CalWork *work) {
	const int m = cal_model_row_count(model), n = cal_model_u_count(model);
	double *G = test_doubles(m * n), *part = test_doubles(m * n);
	uint8_t *rows = test_alloc((size_t)m + 1, 1), *speeds = test_alloc((size_t)n + 1, 1);
	uint8_t *use = test_alloc((size_t)n + 1, 1);
	CalMobility got;
	check_ok(seed, cal_loop_jacobian(model, state, work, G, NULL));
	check_ok(seed, cal_loop_mobility(model, state, frozen, work, &got, rows, speeds));
	int dofs = 0, chosen = 0, taken = 0;
	for (int k = 0; k < n; k++) {
		CalDofInfo info;
		check_ok(seed, cal_model_dof(model, k, &info));
		const int held = frozen ? frozen[k] : info.prescribed;
		check_that(seed, speeds[k] <= 1 && !(speeds[k] && held));
		dofs += !held, chosen += speeds[k];
		use[k] = !held;
	}
	memcpy(part, G, sizeof(double) * (size_t)(m * n));
	check_that(seed, got.dofs == dofs && got.rank == rank_of(part, m, n, use));
	check_that(seed, got.mobility == dofs - got.rank && chosen == got.mobility);
	// the dependent speeds alone have the whole rank: the independent ones may take any value
	for (int k = 0; k < n; k++)
		use[k] = use[k] && !speeds[k];
	memcpy(part, G, sizeof(double) * (size_t)(m * n));
	check_that(seed, rank_of(part, m, n, use) == got.rank);
	// and so have the independent equations alone
	memset(part, 0, sizeof(double) * (size_t)(m * n));
	for (int i = 0; i < m; i++) {
		taken += rows[i];
		if (rows[i])
			memcpy(part + i * n, G + i * n, sizeof(double) * (size_t)n);
	}
	check_that(seed, taken == got.rank && rank_of(part, m, n, use) == got.rank);
	free(G), free(part), free(rows), free(speeds), free(use);
	return got;
}

/* ---- golden mechanisms ----------------------------------------------------------------------------------- */

#ifdef CALDER_WITH_YAML // cases from files

static GoldenCase load(const char *name) {
	GoldenCase l = {0};
	char path[512];
	snprintf(path, sizeof path, "%s/golden/%s.json", TEST_DATA_DIR, name);
	check_ok(0, tree_read(path, NULL, &l.tree, &l.error));
	l.root = tree_root(l.tree);
	check_ok(0, golden_describe(&l));
	check_ok(0, golden_bind(&l, CAL_SOLVER_RECURSIVE));
	return l;
}

static void unload(GoldenCase *l) {
	golden_unbind(l);
	cal_desc_destroy(l->desc);
	tree_destroy(l->tree);
}

#endif

/* With one independent speed at 1 and the others at 0 no dependent one is above 1; the state is changed. */
static void check_factors(const CalModel *model, CalState *state, CalWork *work) {
	const int n = cal_model_u_count(model);
	uint8_t *independent = test_alloc((size_t)n + 1, 1);
	int count;
	check_ok(0, cal_loop_independent(model, state, work, independent, &count));
	const CalProjectOptions options = {.frozen = independent};
	for (int chosen = 0; chosen < n; chosen++) {
		if (!independent[chosen])
			continue;
		for (int k = 0; k < n; k++)
			state->u[k] = k == chosen;
		check_ok(0, cal_loop_project(model, state, &options, work, NULL));
		assert_true(state->u[chosen] == 1 && max_abs(n, state->u) < 1 + 1e-6);
	}
	free(independent);
}

#ifdef CALDER_WITH_YAML

/* Rows, rank and mobility (-1: whatever the dofs leave) as the mechanisms have them by theory. */
static void known_mechanisms_have_their_mobility(void **state) {
	(void)state;
	static const struct {
		const char *name;
		int rows, rank, mobility;
	} known[] = {
		{"s23_parallelogram", 5, 2, 1},                              // planar: three rows say nothing
		{"s24_spatial_RSSR", 3, 3, -1},    {"s25_bricard", 5, 4, 1}, // one although 5 - 5 = 0
		{"s26_two_arms_object", 6, 6, -1}, {"s27_flex_loop", 6, 6, -1},
		{"s31_prescribed_loop", 5, 2, 1}, // a four-bar; what drives its crank is no part of the model
		{"s32_chaplygin", 1, 1, 2},       // a knife: speeds only
		{"s33_andrews_initial", 9, 6, 1},  {"s34_jsc_case1", 12, 12, -1},
		{"t07_iftomm_a02_n2", 6, 4, 1},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		GoldenCase l = load(known[i].name);
		const CalMobility got = check_choice(i, l.model, &l.state, NULL, l.work);
		const int rows = cal_model_row_count(l.model);
		if (rows != known[i].rows || got.rank != known[i].rank ||
		    (known[i].mobility >= 0 && got.mobility != known[i].mobility))
			fail_msg("%s: %d rows, rank %d, mobility %d", known[i].name, rows, got.rank, got.mobility);
		check_factors(l.model, &l.state, l.work);
		unload(&l);
	}
}

/*
 * Of a mechanism with one dof all speeds that take part in its motion can be chosen: with one of them held nothing
 * moves, with any other the motion continues. The one that is chosen is the fastest. The motion is found by projecting speeds.
 */
static void one_dof_is_that_of_the_fastest_speed(void **state) {
	(void)state;
	static const char *const names[] = {"s25_bricard", "s33_andrews_initial", "s23_parallelogram"};
	int still = 0;
	for (size_t c = 0; c < sizeof names / sizeof *names; c++) {
		GoldenCase l = load(names[c]);
		const int n = cal_model_u_count(l.model);
		uint8_t *independent = test_alloc((size_t)n, 1), *frozen = test_alloc((size_t)n, 1);
		int count = -1;
		check_ok(c, cal_loop_independent(l.model, &l.state, l.work, independent, &count));
		assert_int_equal(count, 1);
		for (int k = 0; k < n; k++)
			l.state.u[k] = 1 + 0.1 * k;
		check_ok(c, cal_loop_project(l.model, &l.state, NULL, l.work, NULL));
		const double fastest = max_abs(n, l.state.u);
		assert_true(fastest > 1e-3);
		for (int k = 0; k < n; k++) {
			const int moves = fabs(l.state.u[k]) > 1e-6 * fastest;
			assert_true(!independent[k] || fabs(l.state.u[k]) > (1 - 1e-6) * fastest);
			frozen[k] = 1;
			assert_int_equal(check_choice(c, l.model, &l.state, frozen, l.work).mobility, moves ? 0 : 1);
			frozen[k] = 0;
			still += !moves;
		}
		free(independent), free(frozen);
		unload(&l);
	}
	assert_true(still > 0); // Andrews' mechanism starts at a dead center
}

/* All angles of a parallelogram turn at one rate: the first is taken. */
static void of_equal_speeds_the_first_is_chosen(void **state) {
	(void)state;
	GoldenCase l = load("t07_iftomm_a02_n2");
	uint8_t independent[8];
	int count;
	assert_int_equal(cal_model_u_count(l.model), 5);
	check_ok(0, cal_loop_independent(l.model, &l.state, l.work, independent, &count));
	for (int k = 0; k < 5; k++)
		assert_int_equal(independent[k], k == 0);
	unload(&l);
}

/* ---- built here ------------------------------------------------------------------------------------------- */

#endif

/* A plate on six legs: each a universal joint on the ground, a slide, and a ball at the plate. */
static CalModel *stewart(CalDesc *desc) {
	CalBodyDef body = cal_body_def();
	CalBodyId plate, legs[6], rods[6];
	CalModel *model;
	CalError error = {0};
	body.mass = 1, body.inertia = (CalMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
	body.name = "plate";
	CalJointDef joint = cal_joint_def(CAL_JOINT_FREE);
	joint.name = "flight", joint.inboard.position = (CalVec3){0, 0, 1};
	check_ok(0, cal_desc_add_body(desc, &body, &plate, &error));
	check_ok(0, cal_desc_attach(desc, (CalNodeId){0}, &joint, cal_desc_body_node(desc, plate), NULL, &error));
	for (int i = 0; i < 6; i++) {
		const double pi = acos(-1), low = pi / 3 * ((i + 1) / 2 * 2 + (i % 2 ? -0.3 : 0.3)), high = pi / 3 * (i + 0.5);
		const CalVec3 foot = {1.5 * cos(low), 1.5 * sin(low), 0}, top = {cos(high), sin(high), 0};
		const CalVec3 along = {top.x - foot.x, top.y - foot.y, 1};
		char name[3][16];
		CalLoopDef ball = cal_loop_def(CAL_LOOP_SPHERICAL);
		snprintf(name[0], sizeof name[0], "leg%d", i);
		snprintf(name[1], sizeof name[1], "rod%d", i);
		snprintf(name[2], sizeof name[2], "ball%d", i);
		body.name = name[0];
		check_ok(0, cal_desc_add_body(desc, &body, &legs[i], &error));
		body.name = name[1];
		check_ok(0, cal_desc_add_body(desc, &body, &rods[i], &error));
		joint = cal_joint_def(CAL_JOINT_UNIVERSAL);
		joint.name = name[0], joint.inboard.position = foot;
		check_ok(0, cal_desc_attach(desc, (CalNodeId){0}, &joint, cal_desc_body_node(desc, legs[i]), NULL, &error));
		joint = cal_joint_def(CAL_JOINT_PRISMATIC);
		joint.name = name[1], joint.axis = along;
		check_ok(0, cal_desc_attach(desc, cal_desc_body_node(desc, legs[i]), &joint, cal_desc_body_node(desc, rods[i]),
		                            NULL, &error));
		ball.name = name[2], ball.a.position = along, ball.b.position = top;
		check_ok(0, cal_desc_close_loop(desc, cal_desc_body_node(desc, rods[i]), &ball, cal_desc_body_node(desc, plate),
		                                NULL, &error));
	}
	check_ok(0, cal_model_compile(desc, NULL, &model, &error));
	return model;
}

static void a_stewart_platform_has_six_dofs(void **state) {
	(void)state;
	CalDesc *desc;
	CalWork *work;
	CalState s;
	CalMobility got;
	check_ok(0, cal_desc_create(NULL, &desc));
	CalModel *model = stewart(desc);
	check_ok(0, cal_work_create(model, &work));
	check_ok(0, cal_state_create(model, &s));
	double g[18];
	check_ok(0, cal_loop_residual(model, &s, work, g, NULL));
	assert_true(max_abs(18, g) < 1e-14);
	got = check_choice(0, model, &s, NULL, work);
	assert_int_equal(got.dofs, 24);
	assert_int_equal(got.rank, 18);
	// with its six slides held it stands still
	uint8_t frozen[24] = {0};
	for (int b = 0; b < cal_model_body_count(model); b++) {
		CalBodyInfo info;
		check_ok(0, cal_model_body(model, b, &info));
		if (info.type == CAL_JOINT_PRISMATIC)
			frozen[info.u] = 1;
	}
	got = check_choice(0, model, &s, frozen, work);
	assert_int_equal(got.mobility, 0);
	check_factors(model, &s, work);
	cal_state_destroy(&s);
	cal_work_destroy(work);
	cal_model_destroy(model);
	cal_desc_destroy(desc);
}

/* ---- random systems ----------------------------------------------------------------------------------------- */

/* Loops of types without parameters between random nodes at random frames: they need not be closed for their rank to be asked for. */
static CalModel *with_loops(Fixture *f, Rng *r, int count) {
	CalModel *model;
	for (int i = 0; i < count; i++) {
		CalLoopDef def = cal_loop_def((CalLoopType)rng_int(r, CAL_LOOP_KNIFE + 1));
		CalNodeInfo node[2];
		char name[16];
		snprintf(name, sizeof name, "loop%d", i);
		for (int side = 0; side < 2; side++) {
			do {
				check_ok(f->seed, cal_model_node(f->model, f->node[rng_int(r, f->ref->node_count)], &node[side]));
			} while (side == 0 && node[0].body < 0);
		}
		if (node[1].body == node[0].body)
			node[1].id = (CalNodeId){0};
		def.name = name, def.length = 0.5;
		def.a.position = rng_vector(r, 1), def.b.position = rng_vector(r, 1);
		if (def.type == CAL_LOOP_KNIFE)
			node[1].id = (CalNodeId){0};
		check_ok(f->seed, cal_desc_close_loop(f->desc, node[0].id, &def, node[1].id, NULL, NULL));
	}
	check_ok(f->seed, cal_model_compile(f->desc, &(CalCompileOptions){.solver = CAL_SOLVER_RECURSIVE}, &model, NULL));
	return model;
}

static void random_choices_leave_full_rank(void **state) {
	(void)state;
	int redundant = 0, free_ones = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 200; seed++) {
		TreeOptions options = seed % 2 ? tree_flexible(seed) : tree_any(seed);
		Rng r = rng_make(seed);
		options.prescribed = seed % 3 == 0;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		CalModel *model = with_loops(f, &r, 1 + (int)(seed % 4));
		CalWork *work;
		CalMobility got;
		int rank;
		double *udot = test_doubles(f->nu);
		check_ok(seed, cal_work_create(model, &work));
		got = check_choice(seed, model, &f->state, NULL, work);
		check_ok(seed, cal_forward_dynamics(model, &f->state, NULL, work, udot));
		check_ok(seed, cal_loop_rank(model, work, &rank, NULL));
		check_that(seed, rank == got.rank);
		redundant += rank<cal_model_row_count(model), free_ones += got.mobility> 0;
		fixture_prescribe(f, &r);
		check_choice(seed, model, &f->state, f->prescribed, work);
		free(udot);
		cal_work_destroy(work);
		cal_model_destroy(model);
		fixture_destroy(f);
	}
	assert_true(redundant > 20 && free_ones > 20); // both happen
}

static void a_tree_and_wrong_calls(void **state) {
	(void)state;
	TreeOptions options = tree_any(3);
	options.prescribed = 0;
	Fixture *f = fixture_random(3, options, CAL_SOLVER_RECURSIVE);
	uint8_t *speeds = test_alloc((size_t)f->nu + 1, 1);
	int count;
	check_ok(3, cal_loop_independent(f->model, &f->state, f->work, speeds, &count));
	assert_int_equal(count, f->nu);
	for (int k = 0; k < f->nu; k++)
		assert_int_equal(speeds[k], 1);
	check_status(3, cal_loop_independent(f->model, &f->state, f->work, NULL, &count), CAL_ERR_ARGUMENT);
	check_status(3, cal_loop_mobility(f->model, &f->state, NULL, f->work, NULL, NULL, NULL), CAL_ERR_ARGUMENT);
	check_status(3, cal_loop_mobility(NULL, &f->state, NULL, f->work, NULL, NULL, NULL), CAL_ERR_ARGUMENT);
	free(speeds);
	fixture_destroy(f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
#ifdef CALDER_WITH_YAML
		cmocka_unit_test(known_mechanisms_have_their_mobility),
		cmocka_unit_test(one_dof_is_that_of_the_fastest_speed),
		cmocka_unit_test(of_equal_speeds_the_first_is_chosen),
#endif
		cmocka_unit_test(a_stewart_platform_has_six_dofs),
		cmocka_unit_test(random_choices_leave_full_rank),
		cmocka_unit_test(a_tree_and_wrong_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
