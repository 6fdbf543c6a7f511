// SPDX-License-Identifier: Apache-2.0
/*
 * test_loop_golden.c — the reference with loops against every golden case that has constraints.
 *
 * The files hold what an oracle computed that knows positions only (docs/golden.md); the reference has nothing in
 * common with it but the definitions. In quad it must give all digits of the file, in double what the file says a
 * double computation reaches. Multipliers and joint wrenches are compared also where they are not unique: both
 * take the minimum norm.
 */
#include "reference/golden_case.h"
#include "reference/run.h"
#include "support/check.h"
#include "support/model_file_support.h"

#include <math.h>

#define GOLDEN TEST_DATA_DIR "/golden/"

static RefCase *load(const char *name) {
	char path[512];
	snprintf(path, sizeof path, GOLDEN "%s.json", name);
	return ref_case_read(path);
}

/* n numbers against those of the file; scale: at least that. */
static void compare(const char *name, const char *what, const TreeNode *expected, int n, const double *got,
                    double scale, double tolerance) {
	char label[256];
	double *want = test_doubles(n);
	snprintf(label, sizeof label, "%s: %s", name, what);
	ref_case_numbers(expected, want, n);
	check_close_scaled(0, label, n, got, want, scale, tolerance);
	free(want);
}

/* max |x| of a field over a map of maps. */
static double field_size(const TreeNode *map, const char *field) {
	double size = 0;
	for (int i = 0; i < map->count; i++) {
		double x[3];
		ref_case_numbers(tree_get(map->items[i], field), x, 3);
		size = fmax(size, max_abs(3, x));
	}
	return size;
}

/* Relative to the largest of the field in the map, but at least to a thousandth of `size`. */
static void compare_field(const char *name, const char *object, const TreeNode *map, const char *field, CalVec3 got,
                          double size, double tolerance) {
	char what[128];
	double scale = fmax(field_size(map, field), 1e-3 * size);
	snprintf(what, sizeof what, "%s of %s", field, object);
	compare(name, what, tree_get(tree_get(map, object), field), 3, &got.x, scale, tolerance);
}

/* ---- accelerations and forces at one state -------------------------------------------------- */

typedef struct Results {
	double *residual, *rate, *G, *gamma, *udot, *lambda, *constraint, *prescribed, *mismatch;
	RefLoopForce *force;
	CalSpatial *wrench;
	int rank;
} Results;

static Results evaluate(const RefCase *c, int quad) {
	const RefModel *m = c->model;
	int n = m->nu, rows = ref_model_rows(m);
	Results r = {test_doubles(rows),
	             test_doubles(rows),
	             test_doubles(rows * n),
	             test_doubles(rows),
	             test_doubles(n),
	             test_doubles(rows),
	             test_doubles(n),
	             test_doubles(n),
	             test_doubles(rows),
	             NULL,
	             NULL,
	             0};
	RefSolution s = {.udot = r.udot,
	                 .lambda = r.lambda,
	                 .constraint = r.constraint,
	                 .prescribed = r.prescribed,
	                 .mismatch = r.mismatch};
	r.force = test_alloc((size_t)m->loop_count, sizeof *r.force);
	r.wrench = test_alloc((size_t)m->body_count, sizeof *r.wrench);
	(quad ? refq_loop_rows : ref_loop_rows)(m, 0, c->q, c->u, r.residual, r.rate, r.G, r.gamma);
	assert_int_equal((quad ? refq_loop_forward : ref_loop_forward)(m, 0, c->q, c->u, &c->input, &s), 0);
	(quad ? refq_loop_forces : ref_loop_forces)(m, c->q, r.lambda, r.force);
	(quad ? refq_loop_reactions : ref_loop_reactions)(m, c->q, c->u, r.udot, &c->input, r.lambda, r.wrench);
	r.rank = s.rank;
	return r;
}

static void release(Results *r) {
	free(r->residual), free(r->rate), free(r->G), free(r->gamma), free(r->udot), free(r->lambda), free(r->constraint);
	free(r->prescribed), free(r->mismatch), free(r->force), free(r->wrench);
}

/* The accelerations that joint wrenches follow from have been rounded to doubles: `wrenches` allows for it. */
static void compare_loops(const char *name, const RefModel *m, const TreeNode *e, const Results *r, double tolerance,
                          double wrenches) {
	const TreeNode *map = tree_get(e, "constraints");
	double force = field_size(map, "force");
	for (int i = 0; i < m->loop_count; i++) {
		const RefLoop *l = &m->loops[i];
		int knife = l->type == REF_LOOP_KNIFE;
		CalSpatial w = knife ? r->force[i].on_a : r->force[i].on_b;
		CalVec3 point = knife ? r->force[i].point_a : r->force[i].point_b;
		compare_field(name, l->name, map, "point", point, 0, tolerance);
		compare_field(name, l->name, map, "force", w.linear, 0, tolerance);
		compare_field(name, l->name, map, "moment", w.angular, force, tolerance);
	}
	map = tree_get(e, "bodies");
	for (int i = 0; i < m->body_count; i++) {
		compare_field(name, m->bodies[i].name, map, "joint_force", r->wrench[i].linear, force, wrenches);
		compare_field(name, m->bodies[i].name, map, "joint_moment", r->wrench[i].angular, force, wrenches);
	}
}

/* exact: tolerance of what needs no solution, solved: of the rest. */
static void state_case(const char *name, int quad, double exact, double solved) {
	RefCase *c = load(name);
	const RefModel *m = c->model;
	const TreeNode *e = tree_get(c->root, "expected"), *speeds = tree_get(e, "prescribed_speeds");
	int n = m->nu, rows = ref_model_rows(m);
	Results r = evaluate(c, quad);
	assert_int_equal(n, (int)ref_case_number(tree_get(e, "n_speeds"), -1));
	assert_int_equal(rows, (int)ref_case_number(tree_get(e, "constraint_rows"), -1));
	assert_int_equal(r.rank, (int)ref_case_number(tree_get(e, "constraint_rank"), -1));
	compare(name, "residual", tree_get(e, "constraint_residual"), rows, r.residual, 1, exact);
	compare(name, "rate", tree_get(e, "constraint_rate"), rows, r.rate, 1, exact);
	compare(name, "Jacobian", tree_get(e, "constraint_jacobian"), rows * n, r.G, 0, exact);
	compare(name, "gamma", tree_get(e, "gamma"), rows, r.gamma, 1e-3 * max_abs(n, c->u), exact);
	compare(name, "udot", tree_get(e, "udot"), n, r.udot, 0, solved);
	compare(name, "lambda", tree_get(e, "lambda"), rows, r.lambda, 0, solved);
	compare(name, "constraint forces", tree_get(e, "gen_constraint"), n, r.constraint, 0, solved);
	double *zero = test_doubles(rows);
	check_close_scaled(0, "mismatch", rows, r.mismatch, zero, max_abs(n, r.udot), solved);
	free(zero);
	for (int i = 0; speeds && i < speeds->count; i++) {
		int j = (int)ref_case_number(speeds->items[i], -1);
		double want = ref_case_number(tree_get(e, "prescribed_force")->items[i], 0);
		check_close(0, "prescribed force", 1, &r.prescribed[j], &want, solved);
	}
	compare_loops(name, m, e, &r, solved, fmax(solved, 1e-10));
	release(&r);
	ref_case_destroy(c);
}

static const char *const state_cases[] = {
	"s23_parallelogram",          "s24_spatial_RSSR",    "s25_bricard",   "s26_two_arms_object", "s27_flex_loop",
	"s28_flex_multi_constraints", "s31_prescribed_loop", "s32_chaplygin", "s33_andrews_initial", "s34_jsc_case1",
};

static void quad_gives_the_digits_of_the_files(void **state) {
	(void)state;
	for (size_t i = 0; i < sizeof state_cases / sizeof *state_cases; i++)
		state_case(state_cases[i], 1, 1e-15, 1e-14);
}

static double file_tolerance(const char *name) {
	RefCase *c = load(name);
	const TreeNode *accuracy = tree_get(c->root, "accuracy");
	double t = fmax(1e-11, 100 * ref_case_number(tree_get(accuracy, "double_vs_mp_udot"), 0));
	ref_case_destroy(c);
	return t;
}

static void double_reaches_the_tolerance_of_the_files(void **state) {
	(void)state;
	static const char *const large[] = {"s36_jsc_49bodies", "s37_jsc_case4"};
	for (size_t i = 0; i < sizeof state_cases / sizeof *state_cases; i++)
		state_case(state_cases[i], 0, 1e-11, file_tolerance(state_cases[i]));
	for (size_t i = 0; i < sizeof large / sizeof *large; i++)
		state_case(large[i], 0, 1e-11, file_tolerance(large[i]));
}

/* ---- impulses ------------------------------------------------------------------------------- */

/* A speed that becomes locked is a coupling of one coordinate. */
static void lock_speeds(RefCase *c) {
	const TreeNode *lock = tree_get(tree_get(c->root, "impulse"), "lock");
	for (int i = 0; lock && i < lock->count; i++)
		for (int k = 0; k < lock->items[i]->count; k++) {
			RefLoop *l = ref_model_add_loop(c->model, REF_LOOP_COUPLING);
			l->term_count = 1;
			l->term[0] = (RefTerm){.dof = (int)ref_case_number(lock->items[i]->items[k], -1), .factor = 1};
			snprintf(l->term[0].body, sizeof l->term[0].body, "%s", tree_key(lock, i)->text);
		}
}

static void impulses_are_mass_weighted_projections(void **state) {
	(void)state;
	static const char *const names[] = {"i01_docking_rigid", "i02_grapple_flexible_trees", "i03_tree_touch_and_lock"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		RefCase *c = load(names[i]);
		const RefModel *m = c->model;
		const TreeNode *e = tree_get(c->root, "expected"), *map = tree_get(e, "constraints");
		int loops = m->loop_count, n = m->nu;
		lock_speeds(c);
		int rows = ref_model_rows(m);
		double *G = test_doubles(rows * n), *rate = test_doubles(rows), *u = test_doubles(n), *j = test_doubles(rows);
		RefLoopForce *force = test_alloc((size_t)m->loop_count, sizeof *force);
		refq_loop_rows(m, 0, c->q, c->u, NULL, rate, G, NULL);
		RefProjection p = refq_project_velocity(m, 0, c->q, c->u, REF_MASS, NULL, u, j);
		refq_loop_forces(m, c->q, j, force);
		assert_int_equal(p.rank, (int)ref_case_number(tree_get(e, "rank"), -1));
		compare(names[i], "Jacobian", tree_get(e, "jacobian"), rows * n, G, 0, 1e-15);
		compare(names[i], "rate before", tree_get(e, "rate_before"), rows, rate, 0, 1e-15);
		compare(names[i], "speeds after", tree_get(e, "u_after"), n, u, 0, 1e-15);
		compare(names[i], "impulse", tree_get(e, "impulse"), rows, j, 0, 1e-14);
		for (int k = 0; k < loops; k++) {
			compare_field(names[i], m->loops[k].name, map, "force_impulse", force[k].on_b.linear, 0, 1e-14);
			compare_field(names[i], m->loops[k].name, map, "moment_impulse", force[k].on_b.angular,
			              field_size(map, "force_impulse"), 1e-14);
		}
		free(G), free(rate), free(u), free(j), free(force);
		ref_case_destroy(c);
	}
}

/* ---- trajectories --------------------------------------------------------------------------- */

static void case_input(void *user, double t, const double *q, const double *u, CalInput *input) {
	RefCase *c = user;
	(void)t;
	ref_case_springs(c, q, u);
	*input = c->input;
}

/* |dy| / max(1, |y|) over coordinates and speeds; quaternions count up to sign. */
static double state_error(const RefModel *m, const double *q, const double *u, const double *q1, const double *u1) {
	double worst = 0, *dq = test_doubles(m->nu);
	ref_config_difference(m, q, q1, dq);
	for (int i = 0; i < m->nu; i++)
		worst = fmax(worst, fmax(fabs(dq[i]), fabs(u1[i] - u[i]) / fmax(1, fabs(u1[i]))));
	free(dq);
	return worst;
}

/* The segment of the schedule that holds the time between two samples. */
static const TreeNode *segment_applied(const RefCase *c, double t) {
	const TreeNode *list = tree_get(c->root, "schedule");
	for (int i = 0; list && i < list->count; i++)
		if (t >= ref_case_number(tree_get(list->items[i], "t0"), 0) &&
		    t < ref_case_number(tree_get(list->items[i], "t1"), 0))
			return tree_get(list->items[i], "applied");
	return NULL;
}

/* `rate` steps per second; samples after t_end are left out. */
static void trajectory_case(const char *name, double rate, int columns, double t_end) {
	RefCase *c = load(name);
	const RefModel *m = c->model;
	const TreeNode *samples = tree_get(c->root, "samples");
	const TreeNode *accuracy = tree_get(c->root, "accuracy");
	double tolerance = 10 * fmax(ref_case_number(tree_get(accuracy, "vs_rk4_richardson"), 0),
	                             ref_case_number(tree_get(accuracy, "vs_dop853_1e11"), 0));
	double *q = test_doubles(m->nq), *u = test_doubles(m->nu), t = 0;
	RefRun run = {.input = case_input, .user = c, .columns = columns};
	int compared = 0;
	tolerance = fmin(1e-9, fmax(1e-10, tolerance));
	for (int i = 1; i < samples->count; i++) {
		double next = ref_case_number(tree_get(samples->items[i], "t"), -1), energy, error;
		if (next > t_end)
			break;
		ref_case_input(c, segment_applied(c, (t + next) / 2), NULL);
		assert_int_equal(ref_run(m, &run, t, next, (int)ceil((next - t) * rate - 1e-6), c->q, c->u), 0);
		ref_case_state(c, tree_get(samples->items[i], "state"), q, u);
		error = state_error(m, c->q, c->u, q, u);
		if (!(error <= tolerance))
			fail_msg("%s at t = %g: error %g, tolerance %g", name, next, error, tolerance);
		energy = ref_energy(m, c->q, c->u).total + ref_case_springs(c, c->q, c->u);
		compare(name, "energy", tree_get(samples->items[i], "total_energy"), 1, &energy, 1, tolerance);
		t = next;
		compared++;
	}
	assert_true(compared > 0);
	free(q), free(u);
	ref_case_destroy(c);
}

static void trajectories_are_those_of_the_files(void **state) {
	(void)state;
	trajectory_case("t07_iftomm_a02_n2", 40, 6, 0.7);
	trajectory_case("t08_iftomm_a04_bricard", 8, 8, 10);
	trajectory_case("t09_flexible_fourbar", 200, 6, 0.3);
	trajectory_case("t10_andrews", 4000, 6, 0.03);
	trajectory_case("t11_jsc_case1", 200, 8, 0.05);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quad_gives_the_digits_of_the_files),
		cmocka_unit_test(double_reaches_the_tolerance_of_the_files),
		cmocka_unit_test(impulses_are_mass_weighted_projections),
		cmocka_unit_test(trajectories_are_those_of_the_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
