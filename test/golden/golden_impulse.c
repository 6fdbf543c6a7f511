// SPDX-License-Identifier: Apache-2.0
/*
 * golden_impulse.c — a case of kind "impulse": constraints that become active and speeds that become locked.
 *
 * All constraints of the model hold afterwards, so `activate` needs no reading: those it does not name held before. Rows of
 * the file are those of the constraints, then one for each locked speed. Both ways of solving loops compute the impulse;
 * what follows from it is checked to the tolerance of the case, what needs no solution of a linear system by 1e-11.
 */
#include <math.h>
#include <string.h>

#include <calder/impulse.h>

#include "golden/golden.h"

static const double exact = 1e-11; // tolerance of what needs no linear solve
static const double small = 1e-3;  // floor of a scale, in natural units

/* An impulse and what belongs to it; vectors over speeds in the order of the model. */
typedef struct Hit {
	const TreeNode *e;           // expected
	const char *solver;          // for labels
	uint8_t *locked;             // [nu], c->prescribed
	double *u_after, *force;     // [nu]
	double velocity, momentum;   // natural sizes
	double length, energy, mass; //
} Hit;

static const GoldenBody *find_body(const GoldenCase *c, const char *name) {
	for (int i = 0; i < c->body_count; i++) {
		if (strcmp(c->bodies[i].name, name) == 0)
			return &c->bodies[i];
	}
	return NULL;
}

static CalStatus read_locks(GoldenCase *c, Hit *hit) {
	const TreeNode *lock = tree_get(tree_get(c->root, "impulse"), "lock");
	memset(hit->locked, 0, (size_t)c->nu);
	for (int i = 0; lock && lock->kind == TREE_MAP && i < lock->count; i++) {
		const GoldenBody *body = find_body(c, tree_key(lock, i)->text);
		const TreeNode *list = lock->items[i];
		if (!body || list->kind != TREE_LIST)
			return golden_fail(c, tree_key(lock, i), "unknown body, or no list of speeds to lock");
		for (int k = 0; k < list->count; k++) {
			double index;
			const CalStatus status = golden_number(c, list->items[k], -1, &index);
			if (status != CAL_OK)
				return status;
			if (!(index >= 0 && index < body->info.nu + body->info.modes))
				return golden_fail(c, list, "a speed that the body does not have");
			hit->locked[body->info.u + (int)index] = 1;
		}
	}
	return CAL_OK;
}

static void natural_sizes(Hit *hit) {
	const TreeNode *before = tree_get(hit->e, "before"), *bodies = tree_get(before, "bodies");
	hit->length = fmax(golden_pool_magnitude(bodies, "r"), small);
	hit->velocity = fmax(golden_pool_magnitude(bodies, "v"), golden_pool_magnitude(bodies, "w"));
	hit->mass = golden_magnitude(tree_get(hit->e, "mass"));
	hit->energy = golden_magnitude(tree_get(before, "kinetic_energy"));
	hit->momentum = sqrt(2 * hit->energy * hit->mass);
}

/* ---- the impulse ------------------------------------------------------------------------------ */

static int lock_count(const Hit *hit) {
	const TreeNode *speeds = tree_get(hit->e, "locked_speeds");
	return speeds && speeds->kind == TREE_LIST ? speeds->count : 0;
}

/* Expected rows in the order of the file: constraints, then the speeds of `locked_speeds`. */
static CalStatus compare_rows(GoldenCase *c, const Hit *hit, const char *what, const double *by_row,
                              const double *by_speed, double floor, double tolerance) {
	const TreeNode *expected = tree_get(hit->e, what), *speeds = tree_get(hit->e, "locked_speeds");
	const int locks = lock_count(hit);
	const double scale = fmax(golden_magnitude(expected), floor);
	if (!expected || expected->kind != TREE_LIST || expected->count != c->rows + locks)
		return golden_fail(c, expected ? expected : hit->e, "has another number of rows than constraints and locks");
	CalStatus status = CAL_OK;
	for (int i = 0; i < c->rows && status == CAL_OK; i++)
		status = golden_compare(c, what, hit->solver, expected->items[i], &by_row[c->row[i]], 1, scale, tolerance);
	for (int i = 0; i < locks && status == CAL_OK; i++) {
		double at;
		status = golden_number(c, speeds->items[i], -1, &at);
		if (status == CAL_OK && !(at >= 0 && at < c->nu && hit->locked[c->speed[(int)at]]))
			status = golden_fail(c, speeds, "locked_speeds names a speed that `lock` does not");
		if (status == CAL_OK)
			status = golden_compare(c, what, hit->solver, expected->items[c->rows + i], &by_speed[c->speed[(int)at]], 1,
			                        scale, tolerance);
	}
	return status;
}

static CalStatus check_wrenches(GoldenCase *c, const Hit *hit) {
	const TreeNode *map = tree_get(hit->e, "constraints");
	const double force = fmax(golden_pool_magnitude(map, "force_impulse"), small * hit->momentum);
	const GoldenPart part[3] = {
		{"point", "point", hit->length},
		{"force_impulse", "force_impulse", force},
		{"moment_impulse", "moment_impulse",
	     fmax(golden_pool_magnitude(map, "moment_impulse"), force * fmin(hit->length, 1))},
	};
	return golden_check_wrenches(c, map, part);
}

/* A'impulse = G'lambda, and the impulses of locked speeds on these. */
static CalStatus check_generalized(GoldenCase *c, const Hit *hit, const double *lambda) {
	double *Q = c->scratch;
	CalStatus status = CAL_OK;
	if (c->rows)
		status = golden_numeric(c, cal_loop_jacobian(c->model, &c->state, c->spring_work, c->matrix, NULL),
		                        "cal_loop_jacobian");
	for (int j = 0; status == CAL_OK && j < c->nu; j++) {
		Q[j] = hit->force[j];
		for (int i = 0; i < c->rows; i++)
			Q[j] += c->matrix[(size_t)i * (size_t)c->nu + (size_t)j] * lambda[i];
	}
	return status == CAL_OK ? golden_compare_speeds(c, "gen_impulse", hit->solver, tree_get(hit->e, "gen_impulse"), Q,
	                                                small * hit->momentum, c->tolerance)
	                        : status;
}

static CalStatus check_rank(GoldenCase *c, const Hit *hit) {
	int rank = 0;
	if (c->rows) {
		const CalStatus status = golden_numeric(c, cal_loop_rank(c->model, c->work, &rank, NULL), "cal_loop_rank");
		if (status != CAL_OK)
			return status;
	}
	for (int k = 0; k < c->nu; k++)
		rank += hit->locked[k];
	CalStatus status = golden_compare_count(c, "rank", hit->solver, tree_get(hit->e, "rank"), rank);
	if (status == CAL_OK)
		status = golden_compare_flag(c, "impulse_unique", hit->solver, tree_get(hit->e, "impulse_unique"),
		                             rank == c->rows + lock_count(hit));
	return status;
}

static CalStatus check_impulse(GoldenCase *c, const Hit *hit) {
	CalImpulseReport report;
	double *lambda = c->by_row;
	const CalImpulse impulse = {.locked = hit->locked};
	CalStatus status = golden_numeric(
		c, cal_impulse(c->model, &c->state, &impulse, c->work, hit->u_after, hit->force, &report), "cal_impulse");
	if (status == CAL_OK)
		status = golden_compare_speeds(c, "u_after", hit->solver, tree_get(hit->e, "u_after"), hit->u_after,
		                               small * hit->velocity, c->tolerance);
	if (status == CAL_OK)
		status = golden_compare(c, "kinetic_energy_of_jump", hit->solver, tree_get(hit->e, "kinetic_energy_of_jump"),
		                        &report.kinetic_lost, 1, small * hit->energy, c->tolerance);
	if (status == CAL_OK && c->rows)
		status = golden_numeric(c, cal_loop_multipliers(c->model, c->work, lambda), "cal_loop_multipliers");
	if (status == CAL_OK)
		status = compare_rows(c, hit, "impulse", lambda, hit->force, small * hit->momentum, c->tolerance);
	if (status == CAL_OK)
		status = check_rank(c, hit);
	if (status == CAL_OK)
		status = check_wrenches(c, hit);
	return status == CAL_OK ? check_generalized(c, hit, lambda) : status;
}

/* ---- before and after ---------------------------------------------------------------------------- */

static CalStatus check_invariants(GoldenCase *c, const Hit *hit, const char *when) {
	const TreeNode *e = tree_get(hit->e, when);
	const double linear = small * hit->momentum, angular = linear * hit->length;
	CalEnergy energy;
	CalMomentum p;
	CalStatus status = golden_numeric(c, cal_energy(c->model, &c->state, c->work, &energy), "cal_energy");
	if (status == CAL_OK)
		status = golden_numeric(c, cal_momentum(c->model, &c->state, c->work, &p), "cal_momentum");
	if (status == CAL_OK)
		status = golden_compare(c, "kinetic_energy", when, tree_get(e, "kinetic_energy"), &energy.kinetic, 1,
		                        small * hit->energy, exact);
	if (status == CAL_OK)
		status =
			golden_compare_vec(c, "linear_momentum", when, tree_get(e, "linear_momentum"), p.linear, linear, exact);
	if (status == CAL_OK)
		status = golden_compare_vec(c, "angular_momentum_origin", when, tree_get(e, "angular_momentum_origin"),
		                            p.angular_origin, angular, exact);
	if (status == CAL_OK)
		status = golden_compare_vec(c, "angular_momentum_com", when, tree_get(e, "angular_momentum_com"), p.angular_com,
		                            angular, exact);
	if (status == CAL_OK)
		status = golden_compare(c, "mass", "", tree_get(hit->e, "mass"), &p.mass, 1, 0, exact);
	return status == CAL_OK
	           ? golden_compare_vec(c, "com", "", tree_get(hit->e, "com"), p.com, small * hit->length, exact)
	           : status;
}

static CalStatus check_bodies(GoldenCase *c, const Hit *hit, const char *when) {
	const TreeNode *bodies = tree_get(tree_get(hit->e, when), "bodies");
	const GoldenMotionScales scales = {.r = hit->length, .v = hit->velocity, .w = hit->velocity};
	CalStatus status = golden_numeric(c, cal_kinematics(c->model, &c->state, NULL, c->work), "cal_kinematics");
	for (int i = 0; status == CAL_OK && bodies && bodies->kind == TREE_MAP && i < bodies->count; i++) {
		const char *name = tree_key(bodies, i)->text;
		const TreeNode *e = bodies->items[i];
		const int node = cal_model_find_node(c->model, name);
		if (node < 0)
			return golden_fail(c, tree_key(bodies, i), "unknown body");
		status = golden_compare_motion(c, name, e, node, &scales, exact);
	}
	return status;
}

/* Rows of the constraints, then a one at each locked speed. */
static CalStatus check_jacobian(GoldenCase *c, const Hit *hit, const TreeNode *jacobian, int locks) {
	const TreeNode *speeds = tree_get(hit->e, "locked_speeds");
	const double scale = golden_magnitude(jacobian);
	double *unit = c->scratch;
	CalStatus status = CAL_OK;
	if (jacobian->kind != TREE_LIST || jacobian->count != c->rows + locks)
		return golden_fail(c, jacobian, "has another number of rows than constraints and locks");
	if (c->rows)
		status =
			golden_numeric(c, cal_loop_jacobian(c->model, &c->state, c->work, c->matrix, NULL), "cal_loop_jacobian");
	for (int i = 0; i < c->rows && status == CAL_OK; i++)
		status = golden_compare_speeds(c, "jacobian", "", jacobian->items[i],
		                               c->matrix + (size_t)c->row[i] * (size_t)c->nu, scale, exact);
	for (int i = 0; i < locks && status == CAL_OK; i++) {
		double at;
		status = golden_number(c, speeds->items[i], -1, &at);
		if (status == CAL_OK && !(at >= 0 && at < c->nu))
			status = golden_fail(c, speeds, "locked_speeds names a speed that is not there");
		if (status != CAL_OK)
			return status;
		memset(unit, 0, sizeof *unit * (size_t)c->nu);
		unit[c->speed[(int)at]] = 1;
		status = golden_compare_speeds(c, "jacobian", "of a lock", jacobian->items[c->rows + i], unit, scale, exact);
	}
	return status;
}

/* What the impulse is computed from: the speeds before it, mass matrix, and rows with those of locked speeds after them. */
static CalStatus check_system(GoldenCase *c, const Hit *hit) {
	const TreeNode *e = hit->e, *jacobian = tree_get(e, "jacobian");
	const int locks = lock_count(hit);
	CalStatus status =
		golden_compare_speeds(c, "u_before", "", tree_get(e, "u_before"), c->state.u, small * hit->velocity, exact);
	if (status == CAL_OK)
		status = golden_compare_count(c, "n_speeds", "", tree_get(e, "n_speeds"), c->nu);
	if (status == CAL_OK)
		status = golden_compare_count(c, "rows", "", tree_get(e, "rows"), c->rows + locks);
	if (status == CAL_OK)
		status = golden_numeric(c, cal_mass_matrix(c->model, &c->state, c->work, c->square), "cal_mass_matrix");
	if (status == CAL_OK)
		status = golden_compare_matrix(c, "mass_matrix", tree_get(e, "mass_matrix"), c->square, c->speed, c->nu, exact);
	return status == CAL_OK && jacobian ? check_jacobian(c, hit, jacobian, locks) : status;
}

/* Rows at c->state: rates, and before the impulse residuals too. */
static CalStatus check_rates(GoldenCase *c, const Hit *hit, const char *what) {
	double *g = c->by_row, *rate = c->by_row + c->rows;
	CalStatus status = golden_numeric(c, cal_loop_residual(c->model, &c->state, c->work, g, rate), "cal_loop_residual");
	if (status == CAL_OK)
		status = compare_rows(c, hit, what, rate, c->state.u, hit->velocity, exact);
	for (int i = 0; i < c->rows && status == CAL_OK; i++) {
		const TreeNode *expected = tree_get(hit->e, "constraint_residual");
		if (expected && expected->kind == TREE_LIST && expected->count == c->rows)
			status = golden_compare(c, "constraint_residual", "", expected->items[i], &g[c->row[i]], 1,
			                        fmin(hit->length, 1), exact);
	}
	return status;
}

static CalStatus check_moment(GoldenCase *c, const Hit *hit, const char *when) {
	CalStatus status = check_invariants(c, hit, when);
	if (status == CAL_OK)
		status = check_bodies(c, hit, when);
	return status == CAL_OK ? check_rates(c, hit, strcmp(when, "before") == 0 ? "rate_before" : "rate_after") : status;
}

/* state_after = {body: {u, etadot}} */
static CalStatus check_state_after(GoldenCase *c, const Hit *hit) {
	const TreeNode *map = tree_get(hit->e, "state_after");
	CalStatus status = CAL_OK;
	for (int i = 0; status == CAL_OK && i < c->body_count; i++) {
		const CalBodyInfo *info = &c->bodies[i].info;
		const TreeNode *entry = tree_get(map, c->bodies[i].name);
		status = golden_compare(c, "state_after u", c->bodies[i].name, tree_get(entry, "u"), hit->u_after + info->u,
		                        info->nu, hit->velocity, c->tolerance);
		if (status == CAL_OK && info->modes > 0)
			status = golden_compare(c, "state_after etadot", c->bodies[i].name, tree_get(entry, "etadot"),
			                        hit->u_after + info->u + info->nu, info->modes, hit->velocity, c->tolerance);
	}
	return status;
}

/* ---- the case -------------------------------------------------------------------------------------- */

static CalStatus run_solver(GoldenCase *c, CalSolver solver, const char *label) {
	CalStatus status = golden_bind(c, solver);
	Hit hit = {.e = tree_get(c->root, "expected"), .solver = label, .locked = c->prescribed};
	hit.u_after = c->tau, hit.force = c->udot_given; // which an impulse has no other use for
	natural_sizes(&hit);
	if (status == CAL_OK)
		status = read_locks(c, &hit);
	if (status == CAL_OK)
		status = check_system(c, &hit);
	if (status == CAL_OK)
		status = check_moment(c, &hit, "before");
	if (status == CAL_OK)
		status = check_impulse(c, &hit);
	if (status == CAL_OK)
		status = check_state_after(c, &hit);
	if (status == CAL_OK) {
		memcpy(c->state.u, hit.u_after, sizeof(double) * (size_t)c->nu);
		status = check_moment(c, &hit, "after");
	}
	golden_unbind(c);
	return status;
}

CalStatus golden_run_impulse(GoldenCase *c) {
	const TreeNode *e = tree_get(c->root, "expected");
	double error;
	if (!e || !tree_get(e, "u_after") || !tree_get(e, "impulse"))
		return golden_fail(c, c->root, "the case has no expected.u_after and expected.impulse");
	CalStatus status = golden_check_impulse_keys(c, e);
	if (status == CAL_OK)
		status = golden_number(c, tree_get(tree_get(c->root, "accuracy"), "double_vs_mp_u_after"), 0, &error);
	if (status != CAL_OK)
		return status;
	c->tolerance = fmax(exact, 100 * error);
	if (status == CAL_OK)
		status = run_solver(c, CAL_SOLVER_DENSE, "(cut)");
	return status == CAL_OK ? run_solver(c, CAL_SOLVER_RECURSIVE, "(local)") : status;
}
