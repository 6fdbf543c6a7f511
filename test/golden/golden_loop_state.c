// SPDX-License-Identifier: Apache-2.0
/*
 * golden_loop_state.c — comparisons of the constraints of a golden case.
 *
 * Both sides take the multipliers of smallest norm with the same rows, so lambda and the wrenches are compared
 * also where the constraints are redundant. What follows from the solution (lambda, G'lambda, wrenches) is checked
 * by the tolerance of the case, the rows themselves by 1e-11. The rank is a number that is right or wrong.
 */
#include <math.h>

#include "golden/golden.h"

static const double exact = 1e-11; // tolerance of what needs no linear solve
static const double small = 1e-3;  // floor of a scale, in natural units

/* got[rows] in the order of the model, expected in the order of the file. */
static CalStatus compare_rows(GoldenCase *c, const char *what, const char *object, const TreeNode *expected,
                              const double *got, double floor, double tolerance) {
	double *ordered = c->by_row + (GOLDEN_VECTORS - 1) * c->rows;
	for (int i = 0; i < c->rows; i++)
		ordered[i] = got[c->row[i]];
	return golden_compare(c, what, object, expected, ordered, c->rows, floor, tolerance);
}

/* G'lambda of the library's own rows and multipliers. Leaves G in c->matrix; uses a workspace of its own. */
static CalStatus check_generalized(GoldenCase *c, const TreeNode *e, const char *solver, const GoldenSizes *s,
                                   const double *lambda) {
	double *Q = c->scratch;
	const CalStatus status =
		golden_numeric(c, cal_loop_jacobian(c->model, &c->state, c->spring_work, c->matrix, NULL), "cal_loop_jacobian");
	if (status != CAL_OK)
		return status;
	for (int j = 0; j < c->nu; j++) {
		Q[j] = 0;
		for (int i = 0; i < c->rows; i++)
			Q[j] += c->matrix[(size_t)i * (size_t)c->nu + (size_t)j] * lambda[i];
	}
	return golden_compare_speeds(c, "gen_constraint", solver, tree_get(e, "gen_constraint"), Q, small * s->generalized,
	                             c->tolerance);
}

CalStatus golden_check_wrenches(GoldenCase *c, const TreeNode *map, const GoldenPart part[3]) {
	CalStatus status = CAL_OK;
	for (int i = 0; status == CAL_OK && map && map->kind == TREE_MAP && i < map->count; i++) {
		CalSpatial f;
		CalVec3 p;
		const char *name = tree_key(map, i)->text;
		const int loop = cal_model_find_loop(c->model, name);
		if (loop < 0)
			return golden_fail(c, tree_key(map, i), "unknown constraint");
		status = golden_numeric(c, cal_loop_wrench(c->model, c->work, loop, &f, &p), "cal_loop_wrench");
		const CalVec3 got[3] = {p, f.linear, f.angular};
		for (int k = 0; k < 3 && status == CAL_OK; k++)
			status = golden_compare_vec(c, part[k].label, name, tree_get(map->items[i], part[k].key), got[k],
			                            part[k].scale, k == 0 ? exact : c->tolerance);
	}
	return status;
}

static CalStatus check_wrenches(GoldenCase *c, const TreeNode *e, const GoldenSizes *s) {
	const TreeNode *map = tree_get(e, "constraints");
	const GoldenPart part[3] = {
		{"point", "constraint point", fmax(golden_pool_magnitude(map, "point"), small * s->length)},
		{"force", "constraint force", fmax(golden_pool_magnitude(map, "force"), small * s->force)},
		{"moment", "constraint moment", fmax(golden_pool_magnitude(map, "moment"), small * s->force * s->length)},
	};
	return golden_check_wrenches(c, map, part);
}

CalStatus golden_check_multipliers(GoldenCase *c, const TreeNode *e, const char *solver, const GoldenSizes *s) {
	if (c->rows == 0)
		return CAL_OK;
	int rank = -1;
	double *lambda = c->by_row;
	CalStatus status = golden_numeric(c, cal_loop_multipliers(c->model, c->work, lambda), "cal_loop_multipliers");
	if (status == CAL_OK)
		status = compare_rows(c, "lambda", solver, tree_get(e, "lambda"), lambda, small * s->force, c->tolerance);
	if (status == CAL_OK)
		status = golden_numeric(c, cal_loop_rank(c->model, c->work, &rank, NULL), "cal_loop_rank");
	if (status == CAL_OK)
		status = golden_compare_count(c, "constraint_rank", solver, tree_get(e, "constraint_rank"), rank);
	if (status == CAL_OK)
		status = golden_compare_flag(c, "lambda_unique", solver, tree_get(e, "lambda_unique"), rank == c->rows);
	if (status == CAL_OK)
		status = check_wrenches(c, e, s);
	return status == CAL_OK ? check_generalized(c, e, solver, s, lambda) : status;
}

CalStatus golden_check_rows(GoldenCase *c, const TreeNode *e, const GoldenSizes *s) {
	if (c->rows == 0)
		return CAL_OK;
	double *g = c->by_row, *rate = c->by_row + c->rows, *gamma = rate;
	CalStatus status = golden_numeric(c, cal_loop_residual(c->model, &c->state, c->work, g, rate), "cal_loop_residual");
	if (status == CAL_OK)
		status = compare_rows(c, "constraint_residual", "", tree_get(e, "constraint_residual"), g, fmin(s->length, 1),
		                      exact);
	if (status == CAL_OK)
		status = compare_rows(c, "constraint_rate", "", tree_get(e, "constraint_rate"), rate, s->velocity, exact);
	if (status == CAL_OK)
		status =
			golden_numeric(c, cal_loop_jacobian(c->model, &c->state, c->work, c->matrix, gamma), "cal_loop_jacobian");
	if (status == CAL_OK)
		status = compare_rows(c, "gamma", "", tree_get(e, "gamma"), gamma, small * s->acceleration, exact);
	return status == CAL_OK ? golden_compare_matrix(c, "constraint_jacobian", tree_get(e, "constraint_jacobian"),
	                                                c->matrix, c->row, c->rows, exact)
	                        : status;
}

CalStatus golden_check_closure(GoldenCase *c, const char *label, const TreeNode *file_drift) {
	const double none[2] = {0, 0};
	double *g = c->by_row, *rate = c->by_row + c->rows;
	double residual = 0, drift = 0, speed = 1;
	if (c->rows == 0)
		return CAL_OK;
	const CalStatus status =
		golden_numeric(c, cal_loop_residual(c->model, &c->state, c->work, g, rate), "cal_loop_residual");
	for (int i = 0; status == CAL_OK && i < c->rows; i++) {
		residual = isfinite(g[i]) ? fmax(residual, fabs(g[i])) : INFINITY;
		drift = isfinite(rate[i]) ? fmax(drift, fabs(rate[i])) : INFINITY;
	}
	for (int i = 0; i < c->nu; i++)
		speed = fmax(speed, fabs(c->state.u[i]));
	golden_tally(c, "constraint_residual", label, residual, 1, exact);
	golden_tally(c, "constraint_rate", label, drift, speed, exact);
	return status == CAL_OK ? golden_compare(c, "constraint_drift", label, file_drift, none, 2, speed, c->tolerance)
	                        : status;
}
