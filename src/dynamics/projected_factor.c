// SPDX-License-Identifier: Apache-2.0
/*
 * projected_factor.c — the mass matrix of the independent speeds by its factors X'M X = L D L' [THEORY (5.26)].
 *
 * Dense, in the order in which the recursion eliminates dofs: links from the tips inwards, the modes of a body before its
 * joint, the columns of a link first to last. The factors of a symmetric matrix are unique in a given order: without loops
 * these are the innovations factors of calder/operators.h.
 */
#include "dynamics/projection.h"
#include "math/portable.h"

#if CAL_LANES == 1

/* ---- factor -------------------------------------------------------------------------------------------------- */

typedef struct Order {
	CalProjection *p;
	int count;
} Order;

static void append_speeds(Order *order, const int *column_of, int u, int nu) {
	for (int k = u; k < u + nu; ++k) {
		if (column_of[k] >= 0)
			order->p->order[order->count++] = column_of[k];
	}
}

static void find_order(CalProjection *p) {
	const CalModel *model = p->model;
	int *column_of = p->pivot;
	Order order = {p, 0};
	for (int k = 0; k < model->nu; ++k)
		column_of[k] = -1;
	for (int j = 0; j < p->count; ++j)
		column_of[p->speed[j]] = j;
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		if (link->flex_body >= 0)
			append_speeds(&order, column_of, model->flexes[link->flex_body].u, model->flexes[link->flex_body].m);
		append_speeds(&order, column_of, link->u, link->nu);
	}
}

/* M by order = L D L' in place. Returns the column whose pivot is not positive, or -1. */
static int factor(int n, double *M, double *D) {
	for (int j = 0; j < n; ++j) {
		const double whole = M[j * n + j];
		double d = whole;
		for (int k = 0; k < j; ++k)
			d -= M[j * n + k] * M[j * n + k] * D[k];
		if (!(d > SINGULAR_RATIO * whole))
			return j;
		D[j] = d;
		for (int i = j + 1; i < n; ++i) {
			double s = M[i * n + j];
			for (int k = 0; k < j; ++k)
				s -= M[i * n + k] * M[j * n + k] * D[k];
			M[i * n + j] = s / d;
		}
	}
	return -1;
}

CalStatus cal_projected_factor(CalProjection *projection, const CalState *state, CalWork *work) {
	CalProjection *p = projection;
	if (!p)
		return CAL_ERR_ARGUMENT;
	double *M = p->scratch;
	const CalStatus status = cal_projected_mass(p, state, work, M);
	if (status != CAL_OK)
		return status;
	const int n = p->count;
	find_order(p);
	for (int i = 0; i < n; ++i) {
		for (int j = 0; j < n; ++j)
			p->M[i * n + j] = M[p->order[i] * n + p->order[j]];
	}
	const int failed = factor(n, p->M, p->D);
	p->factored = failed < 0;
	work->failed_dof = failed < 0 ? -1 : p->speed[p->order[failed]];
	return failed < 0 ? CAL_OK : CAL_SINGULAR;
}

/* ---- products with the factors --------------------------------------------------------------------------------- */

static CalStatus check_arguments(const CalProjection *p, const double *x, const double *y) {
	if (!p || !x || !y)
		return CAL_ERR_ARGUMENT;
	return p->factored ? CAL_OK : CAL_ERR_STAGE;
}

/* Into the order of elimination, and back. */
static double *take_in(const CalProjection *p, const double *x) {
	for (int i = 0; i < p->count; ++i)
		p->x[i] = x[p->order[i]];
	return p->x;
}

static void put_back(const CalProjection *p, double *y) {
	for (int i = 0; i < p->count; ++i)
		y[p->order[i]] = p->x[i];
}

static void lower_mul(const CalProjection *p, double *x) {
	for (int i = p->count - 1; i > 0; --i) {
		for (int k = 0; k < i; ++k)
			x[i] += p->M[i * p->count + k] * x[k];
	}
}

static void lower_mul_transpose(const CalProjection *p, double *x) {
	for (int i = 0; i < p->count; ++i) {
		for (int k = i + 1; k < p->count; ++k)
			x[i] += p->M[k * p->count + i] * x[k];
	}
}

static void lower_solve(const CalProjection *p, double *x) {
	for (int i = 1; i < p->count; ++i) {
		for (int k = 0; k < i; ++k)
			x[i] -= p->M[i * p->count + k] * x[k];
	}
}

static void lower_solve_transpose(const CalProjection *p, double *x) {
	for (int i = p->count - 2; i >= 0; --i) {
		for (int k = i + 1; k < p->count; ++k)
			x[i] -= p->M[k * p->count + i] * x[k];
	}
}

static CalStatus apply(const CalProjection *p, void (*product)(const CalProjection *, double *), const double *x,
                       double *y) {
	const CalStatus status = check_arguments(p, x, y);
	if (status != CAL_OK)
		return status;
	product(p, take_in(p, x));
	put_back(p, y);
	return CAL_OK;
}

CalStatus cal_projected_innovations_mul(const CalProjection *projection, const double *x, double *y) {
	return apply(projection, lower_mul, x, y);
}

CalStatus cal_projected_innovations_mul_transpose(const CalProjection *projection, const double *x, double *y) {
	return apply(projection, lower_mul_transpose, x, y);
}

CalStatus cal_projected_innovations_solve(const CalProjection *projection, const double *x, double *y) {
	return apply(projection, lower_solve, x, y);
}

CalStatus cal_projected_innovations_solve_transpose(const CalProjection *projection, const double *x, double *y) {
	return apply(projection, lower_solve_transpose, x, y);
}

static void solve(const CalProjection *p, double *x) {
	lower_solve(p, x);
	for (int i = 0; i < p->count; ++i)
		x[i] /= p->D[i];
	lower_solve_transpose(p, x);
}

CalStatus cal_projected_solve(const CalProjection *projection, const double *b, double *x) {
	return apply(projection, solve, b, x);
}

CalStatus cal_projected_innovations_diagonal(const CalProjection *projection, double *d) {
	const CalStatus status = check_arguments(projection, d, d);
	for (int i = 0; status == CAL_OK && i < projection->count; ++i)
		d[projection->order[i]] = projection->D[i];
	return status;
}

CalStatus cal_projected_logdet(const CalProjection *projection, double *logdet) {
	const CalStatus status = check_arguments(projection, logdet, logdet);
	double sum = 0;
	for (int i = 0; status == CAL_OK && i < projection->count; ++i)
		sum += portable_log(projection->D[i]);
	if (status == CAL_OK)
		*logdet = sum;
	return status;
}

#endif
