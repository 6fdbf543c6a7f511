// SPDX-License-Identifier: Apache-2.0
/*
 * trim_path.c — equilibria along a parameter, by their arc length [Keller 1977].
 *
 * With z = (x, s), x the coordinates and states of devices and s the part of the way that the parameter has come, r(x, s) = 0
 * is a curve; its tangent t solves (J b; t_before') t = (0; 1). A step goes along it by ds and returns to the curve in the plane
 * t'(z - z_0) = ds by Newton's method, whose matrix (J b; t') is regular where J alone is not: at limit points. A step is repeated
 * with half the length where that fails, or where the tangent turns by more than 25 degrees: so branches are not changed. The last
 * step lands on s = 1.
 */
#include <math.h>
#include <string.h>

#include "analysis/linear_slopes.h"
#include "analysis/trim_search.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "math/dense_factor.h"

enum { MOST_CORRECTIONS = 8, FEW_CORRECTIONS = 3 };
static const double default_step = 0.1, smallest_step = 1e-6, most_turn = 0.9, tolerance = 1e-9, round_off = 1e-11;

typedef struct TrimPath {
	const CalTrimPathOptions *o;
	TrimSearch search;
	int n;                // unknowns without the parameter
	double s;             // place of the parameter, 0 to 1
	double *t, *t_next;   // [n + 1] tangents here, and there
	double *d, *c, *step; // [n + 1] from the last point; what the constraint measures; a correction
	double *K;            // [n + 1][n + 1]
	int *order;           // [n + 1]
	void *memory;
} TrimPath;

static void layout_path(TrimPath *p, Cursor *cursor) {
	const size_t m = (size_t)p->n + 1;
	double **const vectors[] = {&p->t, &p->t_next, &p->d, &p->c, &p->step};
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
		CURSOR_ARRAY(cursor, *vectors[i], m);
	CURSOR_ARRAY(cursor, p->K, m * m);
	CURSOR_ARRAY(cursor, p->order, m);
}

/* ---- the extended system ------------------------------------------------------------------------------ */

/* (J b; c'), factored, at the present state. */
static bool factor_extended(TrimPath *p, const double *c) {
	const TrimSearch *search = &p->search;
	const size_t n = (size_t)p->n, m = n + 1, states = (size_t)search->space.state_count;
	for (size_t i = 0; i < n; i++) {
		memcpy(p->K + i * m, search->J + i * n, n * sizeof *p->K);
		p->K[i * m + n] = search->space.B[states - n + i] * (p->o->to - p->o->from);
	}
	memcpy(p->K + n * m, c, m * sizeof *c);
	return lu_factor((int)m, p->K, p->order);
}

/* The tangent at the present state, in the sense of p->t. */
static bool find_tangent(TrimPath *p, const double *before, double *t) {
	const int m = p->n + 1;
	double size = 0;
	if (!factor_extended(p, before))
		return false;
	memset(t, 0, (size_t)m * sizeof *t);
	t[p->n] = 1;
	lu_solve(m, p->K, p->order, t);
	for (int i = 0; i < m; i++)
		size += t[i] * t[i];
	for (int i = 0; i < m; i++)
		t[i] /= sqrt(size);
	return isfinite(size);
}

static double product(const TrimPath *p, const double *a, const double *b) {
	double sum = 0;
	for (int i = 0; i <= p->n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* ---- steps ----------------------------------------------------------------------------------------------- */

static CalStatus linearize(TrimPath *p, CalError *error) {
	const CalStatus status = trim_search_linearize(&p->search, error);
	if (status != CAL_OK)
		return status;
	if (p->search.n != p->n || p->search.space.input_count != 1)
		return error_set(error, CAL_NOT_CONVERGED,
		                 "the mobility changes on the path, near %s = %.9g: there are %d unknowns instead of %d",
		                 p->o->input, p->o->from + p->s * (p->o->to - p->o->from), p->search.n, p->n);
	trim_search_jacobian(&p->search);
	return CAL_OK;
}

/* The simulation at d from the point that was saved. */
static CalStatus move_to(TrimPath *p) {
	p->search.sim->probe.value = p->o->from + (p->s + p->d[p->n]) * (p->o->to - p->o->from);
	return trim_state_move(p->search.state, &p->search.space, p->d);
}

/* From the prediction d back to the curve where c'd = distance. *corrections: how many; 0: it failed. */
static CalStatus correct(TrimPath *p, double distance, int *corrections, CalError *error) {
	int where;
	*corrections = 0;
	for (int k = 1; k <= MOST_CORRECTIONS; k++) {
		CalStatus status = move_to(p);
		if (status == CAL_OK)
			status = linearize(p, error);
		if (status != CAL_OK)
			return status > 0 ? CAL_OK : status;
		const double left = distance - product(p, p->c, p->d);
		for (int i = 0; i < p->n; i++)
			p->step[i] = -p->search.r[i];
		p->step[p->n] = left;
		if (!factor_extended(p, p->c))
			return CAL_OK;
		lu_solve(p->n + 1, p->K, p->order, p->step);
		const double size = trim_largest(p->n + 1, p->step, &where);
		const bool near = trim_largest(p->n, p->search.r, &where) <= tolerance && fabs(left) <= tolerance;
		if (near || size <= round_off) {
			*corrections = k;
			return CAL_OK;
		}
		if (!isfinite(size))
			return CAL_OK;
		for (int i = 0; i <= p->n; i++)
			p->d[i] += p->step[i];
	}
	return CAL_OK;
}

/* A step by ds, or (land) to s = 1. False in *done: it has to be shorter. */
static CalStatus try_step(TrimPath *p, double ds, bool land, bool *done, int *corrections, CalError *error) {
	double distance = ds;
	for (int i = 0; i <= p->n; i++) {
		p->d[i] = ds * p->t[i];
		p->c[i] = land ? i == p->n : p->t[i];
	}
	if (land)
		distance = 1 - p->s;
	*done = false;
	const CalStatus status = correct(p, distance, corrections, error);
	if (status == CAL_OK && *corrections > 0)
		*done = find_tangent(p, p->t, p->t_next) && product(p, p->t, p->t_next) >= most_turn;
	return status;
}

/* Steps until one succeeds; *ds is then proposed for the next. */
static CalStatus advance(TrimPath *p, double *ds, double longest, CalError *error) {
	bool done = false, land = false;
	int corrections = 0;
	trim_state_save(p->search.state);
	while (!done) {
		land = p->t[p->n] > 0 && p->s + *ds * p->t[p->n] >= 1;
		const double length = land ? (1 - p->s) / p->t[p->n] : *ds;
		const CalStatus status = try_step(p, length, land, &done, &corrections, error);
		if (status != CAL_OK)
			return status;
		if (done)
			break;
		trim_state_restore(p->search.state);
		*ds = 0.5 * length;
		if (*ds < smallest_step)
			return error_set(error, CAL_NOT_CONVERGED, "the path of equilibria ends at %s = %.9g", p->o->input,
			                 p->o->from + p->s * (p->o->to - p->o->from));
	}
	p->s = land ? 1 : p->s + p->d[p->n];
	if (corrections <= FEW_CORRECTIONS)
		*ds = fmin(longest, 1.5 * *ds);
	return CAL_OK;
}

/* ---- the path ------------------------------------------------------------------------------------------------ */

static CalStatus give_point(TrimPath *p, bool turns, bool *stop) {
	CalTrim trim = {0};
	int where;
	const CalStatus status = trim_find_stability(&p->search.space, &trim);
	const CalTrimPoint point = {.value = p->o->from + p->s * (p->o->to - p->o->from),
	                            .residual = trim_largest(p->n, p->search.r, &where),
	                            .stability = trim.stability,
	                            .growth = trim.growth,
	                            .zero_poles = trim.zero_poles,
	                            .turns = turns};
	*stop = status == CAL_OK && p->o->point && p->o->point(p->o->user, p->search.sim, &point) != 0;
	return status;
}

/* The first equilibrium, and the tangent that leads to larger s. */
static CalStatus begin(TrimPath *p, CalError *error) {
	CalTrim trim = {0};
	CalStatus status = trim_state_rest(p->search.state);
	if (status == CAL_OK)
		status = trim_search_run(&p->search, &(CalTrimOptions){0}, &trim, error);
	if (status != CAL_OK)
		return status;
	p->n = p->search.n;
	Cursor cursor = {0};
	layout_path(p, &cursor);
	p->memory = cursor_alloc_zeroed(&cursor, &p->search.allocator);
	if (!p->memory)
		return error_set(error, CAL_ERR_MEMORY, "cal_sim_trim_path: %s", cal_status_text(CAL_ERR_MEMORY));
	layout_path(p, &cursor);
	trim_search_jacobian(&p->search);
	p->c[p->n] = 1;
	if (find_tangent(p, p->c, p->t))
		return CAL_OK;
	return error_set(error, CAL_NOT_CONVERGED,
	                 "the equilibrium at %s = %.9g does not determine a path: it is a limit point, or neutral",
	                 p->o->input, p->o->from);
}

static CalStatus follow(TrimPath *p, int *points, CalError *error) {
	const double longest = p->o->step > 0 ? p->o->step : default_step;
	const int most = p->o->most > 0 ? p->o->most : CAL_TRIM_PATH_POINTS;
	double ds = longest;
	bool stop = false, turns = false;
	CalStatus status = begin(p, error);
	for (*points = 0; status == CAL_OK;) {
		status = give_point(p, turns, &stop);
		++*points;
		if (status != CAL_OK || stop || *points >= most || p->s >= 1 || p->s < -p->o->back)
			return status;
		status = advance(p, &ds, longest, error);
		turns = p->t[p->n] * p->t_next[p->n] < 0;
		memcpy(p->t, p->t_next, ((size_t)p->n + 1) * sizeof *p->t);
	}
	return status;
}

/* The probe that the parameter is. */
static CalStatus find_parameter(CalSim *sim, const char *name, const CalAllocator *allocator, SimProbe *probe,
                                CalError *error) {
	LinearSystem system;
	CalStatus status = linear_system_create(&system, sim, allocator);
	if (status == CAL_OK)
		status = linear_system_find(&system);
	status = status == CAL_OK ? linear_inputs_find(&system, &name, 1, error)
	                          : error_set(error, status, "cal_sim_trim_path: %s", cal_status_text(status));
	if (status == CAL_OK && system.input_count != 1)
		status = error_set(error, CAL_ERR_INPUT, "parameter \"%.100s\": it has %d components; name one, %.100s.DOF",
		                   name, system.input_count, name);
	if (status == CAL_OK)
		*probe = system.inputs[0].probe;
	linear_system_release(&system);
	return status;
}

static CalStatus run_path(CalSim *sim, const CalTrimPathOptions *o, int *points, CalError *error) {
	const CalAllocator allocator = allocator_or_default(&o->allocator);
	TrimState state;
	TrimPath p = {.o = o, .search = {.sim = sim, .state = &state, .allocator = allocator, .parameter = o->input}};
	SimProbe probe = {0};
	CalStatus status = find_parameter(sim, o->input, &allocator, &probe, error);
	if (status != CAL_OK)
		return status;
	status = trim_state_create(&state, sim, &allocator);
	if (status == CAL_OK) {
		sim->probe = probe;
		sim->probe.value = o->from;
		status = follow(&p, points, error);
		sim->probe = (SimProbe){0};
		sim->inputs_known = false;
	} else
		error_set(error, status, "cal_sim_trim_path: %s", cal_status_text(status));
	memory_free(&allocator, p.memory);
	trim_search_release(&p.search);
	trim_state_release(&state);
	return status == CAL_OK ? cal_sim_restart(sim, error) : status;
}

CalStatus cal_sim_trim_path(CalSim *sim, const CalTrimPathOptions *o, int *points, CalError *error) {
	int ignored;
	if (!sim || !o || !o->input)
		return error_null(error, __func__, !sim ? "sim" : !o ? "options" : "options->input");
	if (!isfinite(o->from) || !isfinite(o->to) || o->from == o->to || !(o->step >= 0) || !(o->back >= 0) ||
	    o->most < 0 || !allocator_is_valid(&o->allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_trim_path: the options are not valid");
	const CalStatus status = sim->started ? CAL_OK : cal_sim_restart(sim, error);
	return status == CAL_OK ? run_path(sim, o, points ? points : &ignored, error) : status;
}
