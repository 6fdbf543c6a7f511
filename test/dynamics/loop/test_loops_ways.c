// SPDX-License-Identifier: Apache-2.0
/*
 * test_loops_ways.c — the ways to solve closed loops give the same: each eliminated where it closes (O(n + m)), or as
 * soon as joints outboard satisfy it, and all of them by cut joints in one dense system. Random rigid and flexible trees with loops of every type, redundant, driven,
 * stabilised, on free and on fixed bases; planar linkages at and near singular positions; accelerations, forces of
 * prescribed dofs, multipliers, rank, projections.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/random_loop.h"

enum { CASES = 120, LOCAL = 0, CUT = 1 };

/* One description, compiled both ways. */
typedef struct Ways {
	Fixture *f;
	CalModel *model[2];
	CalWork *work[2];
	int n, m;
	double *udot[2], *force[2], *lambda[2];
	int compared;
} Ways;

static double *numbers(int count) {
	double *x = calloc((size_t)count + 1, sizeof *x);
	assert_non_null(x);
	return x;
}

static Ways ways_create(Fixture *f, CalLoopSolver local) {
	const CalLoopSolver solver[2] = {local, CAL_LOOPS_CUT_JOINT};
	Ways w = {.f = f};
	CalError error = {0};
	fixture_close_loops(f);
	for (int i = 0; i < 2; i++) {
		const CalCompileOptions options = {.solver = CAL_SOLVER_RECURSIVE, .loops = solver[i]};
		check_ok(f->seed, cal_model_compile(f->desc, &options, &w.model[i], &error));
		check_ok(f->seed, cal_work_create(w.model[i], &w.work[i]));
		w.n = cal_model_u_count(w.model[i]), w.m = cal_model_row_count(w.model[i]);
		w.udot[i] = numbers(w.n), w.force[i] = numbers(w.n), w.lambda[i] = numbers(w.m);
	}
	return w;
}

static void ways_destroy(Ways *w) {
	for (int i = 0; i < 2; i++) {
		cal_work_destroy(w->work[i]);
		cal_model_destroy(w->model[i]);
		free(w->udot[i]), free(w->force[i]), free(w->lambda[i]);
	}
	fixture_destroy(w->f);
}

/*
 * How near they can be: the worst conditioned of the rows that count costs both ways digits. Rows that contradict each
 * other (prescribed accelerations that loops cannot follow) are met in the least-squares sense, to fewer digits.
 */
static double tolerance_of(const Ways *w) {
	const CalState *s = &w->f->state;
	double *memory = numbers(w->n + 2 * w->m);
	RefSolution solution = {.udot = memory, .lambda = memory + w->n, .mismatch = memory + w->n + w->m};
	assert_int_equal(refq_loop_forward(w->f->ref, s->t, s->q, s->u, &w->f->ref_input, &solution), 0);
	const double contradiction = max_abs(w->m, solution.mismatch), kept = solution.kept;
	free(memory);
	return kept < 1e-9 ? INFINITY : fmax(contradiction > 1e-6 ? 1e-6 : 1e-9, 1e-13 / kept);
}

static void check_dynamics(Ways *w) {
	const uint64_t seed = w->f->seed;
	int rank[2];
	for (int i = 0; i < 2; i++) {
		check_ok(seed,
		         cal_hybrid_dynamics(w->model[i], &w->f->state, &w->f->input, w->work[i], w->udot[i], w->force[i]));
		check_ok(seed, cal_loop_multipliers(w->model[i], w->work[i], w->lambda[i]));
		check_ok(seed, cal_loop_rank(w->model[i], w->work[i], &rank[i], NULL));
	}
	const double a = fmax(1, max_abs(w->n, w->udot[CUT])), f = fmax(1, max_abs(w->n, w->force[CUT]));
	const double tolerance = tolerance_of(w);
	if (!isfinite(tolerance))
		return; // ranks could differ in good faith
	check_that(seed, rank[LOCAL] == rank[CUT]);
	check_close_scaled(seed, "udot", w->n, w->udot[LOCAL], w->udot[CUT], a, tolerance);
	check_close_scaled(seed, "force", w->n, w->force[LOCAL], w->force[CUT], f, tolerance);
	check_close_scaled(seed, "lambda", w->m, w->lambda[LOCAL], w->lambda[CUT], fmax(1, max_abs(w->m, w->lambda[CUT])),
	                   tolerance);
	++w->compared;
}

/* From a state somewhat off the constraints: the hierarchy of eliminations finds the correction of the pseudo-inverse. */
static void check_projection(Ways *w, Rng *r) {
	const uint64_t seed = w->f->seed;
	CalState s[2];
	double *dq = numbers(w->n);
	for (int k = 0; k < w->n; k++) {
		CalDofInfo dof;
		check_ok(seed, cal_model_dof(w->model[LOCAL], k, &dof));
		dq[k] = dof.prescribed ? 0 : rng_uniform(r, -1e-3, 1e-3);
	}
	for (int i = 0; i < 2; i++) {
		check_ok(seed, cal_state_create(w->model[i], &s[i]));
		cal_state_copy(w->model[i], &w->f->state, &s[i]);
		s[i].t = w->f->state.t;
		cal_config_integrate(w->model[i], w->f->state.q, dq, s[i].q);
		for (int k = 0; k < w->n; k++)
			s[i].u[k] += 10 * dq[k];
		check_ok(seed, cal_loop_project(w->model[i], &s[i], NULL, w->work[i], NULL));
	}
	check_close_scaled(seed, "projected q", cal_model_q_count(w->model[0]), s[LOCAL].q, s[CUT].q, 1, 1e-10);
	check_close_scaled(seed, "projected u", w->n, s[LOCAL].u, s[CUT].u, fmax(1, max_abs(w->n, s[CUT].u)), 1e-10);
	for (int i = 0; i < 2; i++)
		cal_state_destroy(&s[i]);
	free(dq);
}

static void compare_random_systems(CalLoopSolver local) {
	int redundant = 0, compared = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		LoopOptions options = loop_any(seed);
		Rng r = rng_make(seed);
		options.stabilised = seed % 3 == 0;
		options.redundant = seed % 2 == 0;
		Ways w = ways_create(fixture_random_loop(seed, options, CAL_SOLVER_RECURSIVE), local);
		int rank;
		check_dynamics(&w);
		check_ok(seed, cal_loop_rank(w.model[LOCAL], w.work[LOCAL], &rank, NULL));
		redundant += rank < w.m;
		check_projection(&w, &r);
		fixture_prescribe(w.f, &r);
		check_dynamics(&w);
		compared += w.compared;
		ways_destroy(&w);
	}
	assert_true(redundant > CASES / 3 && compared > 2 * CASES * 0.98);
}

static void random_systems(void **state) {
	(void)state;
	compare_random_systems(CAL_LOOPS_ELIMINATION);
}

static void random_systems_early(void **state) {
	(void)state;
	compare_random_systems(CAL_LOOPS_EARLY);
}

static void random_systems_coupled(void **state) {
	(void)state;
	compare_random_systems(CAL_LOOPS_COUPLED);
}

static CalBodyId add_bar(CalDesc *desc, CalNodeId on, CalVec3 at, CalJointType type, const char *name) {
	CalBodyDef body = cal_body_def();
	CalJointDef joint = cal_joint_def(type);
	CalBodyId id;
	body.name = joint.name = name;
	body.mass = 1;
	body.com = (CalVec3){0.5, 0, 0};
	body.inertia = (CalMat3){{{0.01, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}}};
	joint.axis = (CalVec3){0, 0, 1};
	joint.inboard.position = at;
	assert_int_equal(cal_desc_add_body(desc, &body, &id, NULL), CAL_OK);
	assert_int_equal(cal_desc_attach(desc, on, &joint, cal_desc_body_node(desc, id), NULL, NULL), CAL_OK);
	return id;
}

/* A parallelogram on a body: its bars turn about z, its loop joins the tips of the second and the third. */
static void add_window(CalDesc *desc, CalBodyId on, double x, const char *name) {
	char text[3][16];
	CalBodyId bar[3];
	for (int i = 0; i < 3; i++) {
		snprintf(text[i], sizeof text[i], "%s%d", name, i);
		const CalNodeId base = cal_desc_body_node(desc, i == 1 ? bar[0] : on);
		bar[i] = add_bar(desc, base, (CalVec3){i == 0 ? x : x + 1, 0, 0}, CAL_JOINT_REVOLUTE, text[i]);
	}
	CalLoopDef loop = cal_loop_def(CAL_LOOP_REVOLUTE);
	loop.name = name;
	loop.a.position = loop.b.position = (CalVec3){1, 0, 0};
	assert_int_equal(cal_desc_close_loop(desc, cal_desc_body_node(desc, bar[1]), &loop,
	                                     cal_desc_body_node(desc, bar[2]), NULL, NULL),
	                 CAL_OK);
}

/* Loops are solved where they belong: each window on a free body is a cluster that closes on it; a tie to the ground is one
 * with whatever it passes. */
static void loops_close_where_their_sides_meet(void **state) {
	(void)state;
	CalDesc *desc;
	CalModel *model, *cut;
	CalLoopInfo a, b, tie;
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	const CalBodyId hull = add_bar(desc, (CalNodeId){0}, (CalVec3){0, 0, 0}, CAL_JOINT_FREE, "hull");
	add_window(desc, hull, 1, "a");
	add_window(desc, hull, 5, "b");
	CalLoopDef rope = cal_loop_def(CAL_LOOP_DISTANCE);
	rope.name = "rope", rope.length = 3;
	const CalNodeId tip = cal_desc_body_node(desc, cal_desc_find_body(desc, "b2"));
	assert_int_equal(cal_desc_close_loop(desc, tip, &rope, (CalNodeId){0}, NULL, NULL), CAL_OK);
	assert_int_equal(cal_model_compile(desc, NULL, &model, NULL), CAL_OK);
	assert_int_equal(cal_model_compile(desc, &(CalCompileOptions){.loops = CAL_LOOPS_CUT_JOINT}, &cut, NULL), CAL_OK);
	assert_int_equal(cal_model_loop(model, cal_model_find_loop(model, "a"), &a), CAL_OK);
	assert_int_equal(cal_model_loop(model, cal_model_find_loop(model, "b"), &b), CAL_OK);
	assert_int_equal(cal_model_loop(model, cal_model_find_loop(model, "rope"), &tie), CAL_OK);
	assert_int_equal(a.closes, cal_model_find_body(model, "hull"));
	assert_int_equal(b.closes, cal_model_find_body(model, "hull"));
	assert_int_equal(tie.closes, -1);
	assert_int_equal(b.cluster, tie.cluster); // both turn the bar b2
	assert_int_not_equal(a.cluster, b.cluster);
	assert_int_equal(cal_model_loop(cut, 0, &a), CAL_OK);
	assert_int_equal(a.cluster, -1);
	cal_model_destroy(model);
	cal_model_destroy(cut);
	cal_desc_destroy(desc);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_systems),
		cmocka_unit_test(random_systems_early),
		cmocka_unit_test(random_systems_coupled),
		cmocka_unit_test(loops_close_where_their_sides_meet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
