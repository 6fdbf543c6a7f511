// SPDX-License-Identifier: Apache-2.0
/*
 * rosenbrock.c — the Rosenbrock W-method ROS34PW2 of Rang and Angermann (BIT 45, 2005): order 3, embedded order 2, four stages,
 * L-stable and stiffly accurate, for stiff devices, contacts, springs and modes.
 *
 * With y = (delta, u, x), the rates f and any matrix A near f':
 *   (1 - h g A) k_i = f(y_n + h sum_j a_ij k_j) + h A sum_j<i g_ij k_j,   y_n+1 = y_n + h sum b_i k_i
 * with h g_i f_t beside it, g_i = g + sum g_ij, for what acts as a function of time.
 * Its order does not depend on A, so that A may leave out what is small or not known: how the chart turns, sums over time, parts
 * of other ranks (explicit then). One Jacobian and one factor for each step, no iteration. With A from
 * system_jacobian.c, M = (Q U X) its columns by delta, u and x, and delta' = u in A, unknown are k_u and k_x alone:
 *   (1 - h g (U X) - (h g)^2 Q) (k_u, k_x) = f + h (Q (g (f_d + h s_u) + s_d) + (U X) (s_u, s_x)),   s = sum_j<i g_ij k_j
 *   k_d = f_d + h g k_u + h s_u
 * Rates 0 and MAX_STAGES - 1 are f at both ends, rates 1 to 4 the k.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "integrate/adaptive.h"
#include "integrate/runge_kutta.h"
#include "integrate/system_jacobian.h"
#include "math/dense_factor.h"

enum { STAGES = 4, FIRST = 1, END = MAX_STAGES - 1 };

#define G 4.3586652150845900e-01

static const double alpha[STAGES + 1][MAX_STAGES] = {
	{0},
	{0, 8.7173304301691801e-01},
	{0, 8.4457060015369423e-01, -1.1299064236484185e-01},
	{0, 0, 0, 1},
	{0, 2.4212380706095346e-01, -1.2232505839045147e+00, 1.5452602553351020e+00, G}, // the end of the step
};
static const double gamma_below[STAGES][STAGES] = {
	{0},
	{-8.7173304301691801e-01},
	{-9.0338057013044082e-01, 5.4180672388095326e-02},
	{2.4212380706095346e-01, -1.2232505839045147e+00, 5.4526025533510214e-01},
};

typedef struct Rosenbrock {
	SystemJacobian jacobian;
	int n;            // unknowns: nu + jacobian.nx
	double *factor;   // [n n]
	int *order;       // [n]
	double *s;        // [2 nu + nx] sum of g_ij k_j
	double *way;      // [2 nu + nx] what A is multiplied with
	double *solution; // [n]
	void *memory;
} Rosenbrock;

/* ---- making ------------------------------------------------------------------------------------- */

static void layout(Cursor *cursor, Rosenbrock *r) {
	const size_t n = (size_t)r->n;
	CURSOR_ARRAY(cursor, r->factor, n * n);
	CURSOR_ARRAY(cursor, r->order, n);
	CURSOR_ARRAY(cursor, r->s, r->jacobian.width);
	CURSOR_ARRAY(cursor, r->way, r->jacobian.width);
	CURSOR_ARRAY(cursor, r->solution, n);
}

static void rosenbrock_destroy(CalIntegrator *ig) {
	Rosenbrock *r = ig->own;
	const CalAllocator allocator = allocator_or_default(NULL);
	if (!r)
		return;
	system_jacobian_release(ig, &r->jacobian);
	memory_free(&allocator, r->memory);
	memory_free(&allocator, r);
	ig->own = NULL;
}

static CalStatus rosenbrock_create(CalIntegrator *ig) {
	const CalAllocator allocator = allocator_or_default(NULL);
	Rosenbrock *r = ig->own = memory_alloc_zeroed(&allocator, sizeof *r);
	if (!r)
		return CAL_ERR_MEMORY;
	CalStatus status = system_jacobian_create(ig, &r->jacobian);
	r->n = r->jacobian.nu + r->jacobian.nx;
	Cursor cursor = {0};
	layout(&cursor, r);
	r->memory = status == CAL_OK ? cursor_alloc_zeroed(&cursor, &allocator) : NULL;
	if (r->memory) {
		layout(&cursor, r);
		return CAL_OK;
	}
	rosenbrock_destroy(ig);
	return status != CAL_OK ? status : CAL_ERR_MEMORY;
}

/* ---- a stage --------------------------------------------------------------------------------------- */

/* 1 - h g (U X) - (h g)^2 Q, factored. */
static bool factor_matrix(Rosenbrock *r, double h) {
	const SystemJacobian *j = &r->jacobian;
	const double one = h * G, two = one * one;
	for (int i = 0; i < r->n; i++) {
		const double *row = j->M + (size_t)i * (size_t)j->width;
		double *to = r->factor + (size_t)i * (size_t)r->n;
		for (int k = 0; k < r->n; k++)
			to[k] = (i == k) - one * row[j->nu + k];
		for (int k = 0; k < j->nu; k++)
			to[k] -= two * row[k];
	}
	return lu_factor(r->n, r->factor, r->order);
}

/* s of a stage. */
static void sum_below(const CalIntegrator *ig, Rosenbrock *r, int stage) {
	const int nu = ig->nu;
	memset(r->s, 0, (size_t)r->jacobian.width * sizeof *r->s);
	for (int k = 0; k < stage; k++) {
		const double g = gamma_below[stage][k];
		for (int i = 0; i < nu; i++) {
			r->s[i] += g * ig->delta_rate[FIRST + k][i];
			r->s[nu + i] += g * ig->u_rate[FIRST + k][i];
		}
		for (int i = 0; i < r->jacobian.nx; i++)
			r->s[2 * nu + i] += g * ig->x_rate[FIRST + k][i];
	}
}

/* k of a stage in the place of its rates. */
static void solve_stage(CalIntegrator *ig, Rosenbrock *r, int stage, double h) {
	const SystemJacobian *j = &r->jacobian;
	double *d = ig->delta_rate[FIRST + stage], *u = ig->u_rate[FIRST + stage], *x = ig->x_rate[FIRST + stage];
	double g = G;
	for (int k = 0; k < stage; k++)
		g += gamma_below[stage][k];
	sum_below(ig, r, stage);
	memcpy(r->way, r->s, (size_t)j->width * sizeof *r->way);
	for (int i = 0; i < j->nu; i++) {
		d[i] += h * r->s[j->nu + i];
		r->way[i] += G * d[i];
	}
	for (int i = 0; i < r->n; i++) {
		const double *row = j->M + (size_t)i * (size_t)j->width;
		double sum = 0;
		for (int k = 0; k < j->width; k++)
			sum += row[k] * r->way[k];
		r->solution[i] = (i < j->nu ? u[i] : x[i - j->nu]) + h * (sum + g * j->by_time[i]);
	}
	lu_solve(r->n, r->factor, r->order, r->solution);
	for (int i = 0; i < j->nu; i++) {
		u[i] = r->solution[i];
		d[i] += h * G * u[i];
	}
	for (int i = 0; i < j->nx; i++)
		x[i] = r->solution[j->nu + i];
}

/* ---- steps ------------------------------------------------------------------------------------------- */

static CalStatus find_jacobian(CalIntegrator *ig, const CalState *start) {
	Rosenbrock *r = ig->own;
	return system_jacobian_find(ig, &r->jacobian, start);
}

/* Rates at the state of the stage, at time t. */
static CalStatus evaluate_at(CalIntegrator *ig, double t, int to) {
	ig->stage.t = t;
	CalStatus status = system_impose(ig, &ig->stage);
	if (status == CAL_OK)
		status = system_evaluate(ig, &ig->stage, &ig->stage, 0, to, NULL, NULL);
	if (status == CAL_OK)
		system_rate(ig, ig->delta, ig->stage.u, ig->delta_rate[to]);
	return status;
}

static void copy_rates(CalIntegrator *ig, int from, int to) {
	memcpy(ig->delta_rate[to], ig->delta_rate[from], (size_t)ig->nu * sizeof(double));
	memcpy(ig->u_rate[to], ig->u_rate[from], (size_t)ig->nu * sizeof(double));
	if (ig->nx > 0)
		memcpy(ig->x_rate[to], ig->x_rate[from], (size_t)ig->nx * sizeof(double));
}

static CalStatus run_stages(CalIntegrator *ig, const CalState *start, double h, double t_new) {
	Rosenbrock *r = ig->own;
	static const double place[STAGES + 1] = {0, 8.7173304301691801e-01, 7.3157995778885243e-01, 1, 1}; // sums of alpha
	if (!factor_matrix(r, h))
		return CAL_SINGULAR;
	copy_rates(ig, 0, FIRST);
	solve_stage(ig, r, 0, h);
	CalStatus status = CAL_OK;
	system_hold_ranks(ig, true);
	for (int i = 1; i <= STAGES && status == CAL_OK; i++) {
		const double t = place[i] < 1 ? start->t + place[i] * h : nextafter(t_new, start->t);
		runge_kutta_combine(ig, start, h, alpha[i], FIRST + i);
		status = evaluate_at(ig, t, i < STAGES ? FIRST + i : END);
		if (status == CAL_OK && i < STAGES)
			solve_stage(ig, r, i, h);
	}
	system_hold_ranks(ig, false);
	return status;
}

static const AdaptivePair pair = {
	.begin = find_jacobian,
	.stages = run_stages,
	.exponent = 1.0 / 3,
	// b of order 3 minus b of order 2
	.error_weight = {0, 2.4212380706095346e-01 - 3.7810903145819369e-01,
                     -1.2232505839045147e+00 + 9.6042292212423178e-02, 1.5452602553351020e+00 - 0.5,
                     G - 2.1793326075422950e-01},
};

static CalStatus rosenbrock_step(CalIntegrator *ig, CalState *state, double h, double t_end) {
	return adaptive_step(ig, &pair, state, h, t_end);
}

const Scheme scheme_CAL_METHOD_ROSENBROCK = {
	.info = {.name = "rosenbrock",
             .doc = "Rosenbrock W-method of order 3 with adaptive steps and the Jacobian of the model: stiff systems",
             .order = 3,
             .evaluations = 4,
             .adaptive = 1,
             .rtol = 1e-6,
             .atol = 1e-9,
             .exact_resume = 1},
	.stages = MAX_STAGES,
	.dense_terms = DENSE_TERMS,
	.create = rosenbrock_create,
	.destroy = rosenbrock_destroy,
	.walk = adaptive_walk,
	.step = rosenbrock_step,
	.interpolate = adaptive_interpolate,
	.acceleration = adaptive_acceleration};
