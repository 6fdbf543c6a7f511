// SPDX-License-Identifier: Apache-2.0
/*
 * trim.c — equilibria by Newton's method with damping.
 *
 * With r the accelerations of the independent coordinates and the rates of devices at rest, and J its Jacobian, parts of A
 * (state_space.c), a step solves (J'J + mu diag(J'J)) d = -J'r. mu goes down while steps make |r| smaller and up while they do
 * not (Levenberg and Marquardt); angles move by at most half a radian. It ends where |r| is below the tolerance, or where
 * the undamped step is below 1e-11 and takes all of r away: stiff models do not come nearer for round-off.
 */
#include <math.h>
#include <string.h>

#include "analysis/trim_search.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "math/eigen.h"

enum { MOST_ITERATIONS = 200 };
static const double default_tolerance = 1e-9, longest_turn = 0.5, smallest_step = 1e-11;
static const double least_damping = 1e-14, most_damping = 1e10;

static void layout_search(TrimSearch *t, Cursor *cursor) {
	const size_t n = (size_t)t->n;
	CURSOR_ARRAY(cursor, t->J, n * n);
	CURSOR_ARRAY(cursor, t->H, n * n);
	double **const vectors[] = {&t->r, &t->next, &t->g, &t->d};
	for (size_t i = 0; i < 4; i++)
		CURSOR_ARRAY(cursor, *vectors[i], n);
}

/* ---- the system at the present state -------------------------------------------------------------------- */

/* The number of unknowns may change where loops change their rank. */
CalStatus trim_search_linearize(TrimSearch *t, CalError *error) {
	cal_state_space_release(&t->space);
	const CalStateSpaceOptions options = {
		.inputs = &t->parameter, .input_count = t->parameter != NULL, .allocator = t->allocator};
	const CalStatus status = cal_sim_state_space(t->sim, &options, &t->space, error);
	if (status != CAL_OK)
		return status;
	int coordinates = 0;
	for (int i = 0; i < t->space.state_count; i++)
		coordinates += t->space.places[i].kind == CAL_STATE_COORDINATE;
	const int n = t->space.state_count - coordinates;
	if (n == t->n && t->memory) {
		t->coordinates = coordinates;
		return CAL_OK;
	}
	memory_free(&t->allocator, t->memory);
	t->n = n;
	t->coordinates = coordinates;
	Cursor cursor = {0};
	layout_search(t, &cursor);
	t->memory = cursor_alloc_zeroed(&cursor, &t->allocator);
	if (!t->memory)
		return error_set(error, CAL_ERR_MEMORY, "cal_sim_trim: %s", cal_status_text(CAL_ERR_MEMORY));
	layout_search(t, &cursor);
	return CAL_OK;
}

/* Rows of speeds and devices, columns of coordinates and devices. */
void trim_search_jacobian(TrimSearch *t) {
	const size_t n = (size_t)t->n, all = (size_t)t->space.state_count, c = (size_t)t->coordinates;
	for (size_t i = 0; i < n; i++) {
		t->r[i] = t->space.rate[c + i];
		for (size_t j = 0; j < n; j++)
			t->J[i * n + j] = t->space.A[(c + i) * all + (j < c ? j : c + j)];
	}
}

static double norm(int n, const double *r) {
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += r[i] * r[i];
	return sqrt(sum);
}

double trim_largest(int n, const double *r, int *where) {
	double most = 0;
	*where = 0;
	for (int i = 0; i < n; i++)
		if (!(fabs(r[i]) <= most)) {
			most = fabs(r[i]);
			*where = i;
		}
	return most;
}

/* ---- steps ------------------------------------------------------------------------------------------------- */

/* d of this damping; false: the matrix is not definite. */
static bool find_step(TrimSearch *t, double damping) {
	const size_t n = (size_t)t->n;
	double most = 0;
	for (size_t i = 0; i < n; i++) {
		t->g[i] = 0;
		for (size_t k = 0; k < n; k++)
			t->g[i] -= t->J[k * n + i] * t->r[k];
		for (size_t j = 0; j <= i; j++) {
			double sum = 0;
			for (size_t k = 0; k < n; k++)
				sum += t->J[k * n + i] * t->J[k * n + j];
			t->H[i * n + j] = t->H[j * n + i] = sum;
		}
		most = fmax(most, t->H[i * n + i]);
	}
	for (size_t i = 0; i < n; i++)
		t->H[i * n + i] += damping * t->H[i * n + i] + 1e-15 * most;
	if (cholesky_factor(t->n, t->H, NULL, 0) >= 0)
		return false;
	memcpy(t->d, t->g, n * sizeof *t->d);
	cholesky_solve(t->n, t->H, t->d);
	return true;
}

/* Angles by at most half a radian; returns the largest of the step. */
static double shorten_step(TrimSearch *t) {
	double turn = 0, size = 0;
	for (int i = 0; i < t->n; i++) {
		size = fmax(size, fabs(t->d[i]));
		if (i < t->coordinates && strcmp(t->space.states[i].unit, "rad") == 0)
			turn = fmax(turn, fabs(t->d[i]));
	}
	const double factor = turn > longest_turn ? longest_turn / turn : 1;
	for (int i = 0; i < t->n; i++)
		t->d[i] *= factor;
	return factor * size;
}

/* |r + J d| as part of |r|. */
static double left_over(const TrimSearch *t) {
	const size_t n = (size_t)t->n;
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		double row = t->r[i];
		for (size_t j = 0; j < n; j++)
			row += t->J[i * n + j] * t->d[j];
		sum += row * row;
	}
	return sqrt(sum) / norm(t->n, t->r);
}

/* One step that makes |r| smaller; *moved: how far, 0: there is none. */
static CalStatus take_step(TrimSearch *t, double *moved) {
	const double before = norm(t->n, t->r);
	*moved = 0;
	trim_state_save(t->state);
	for (; t->damping <= most_damping; t->damping = fmax(10 * t->damping, 1e-8)) {
		if (!find_step(t, t->damping))
			continue;
		const double size = shorten_step(t);
		CalStatus status = trim_state_move(t->state, &t->space, t->d);
		if (status == CAL_OK)
			status = trim_state_residual(t->state, &t->space, t->next);
		if (status < 0)
			return status;
		if (status == CAL_OK && norm(t->n, t->next) < before) {
			*moved = size;
			t->damping = fmax(0.1 * t->damping, least_damping);
			return CAL_OK;
		}
	}
	trim_state_restore(t->state);
	return CAL_OK;
}

/* The undamped step is next to nothing, and leaves next to nothing. */
static bool is_at_round_off(TrimSearch *t) {
	int where;
	return find_step(t, 0) && trim_largest(t->n, t->d, &where) < smallest_step && left_over(t) < 1e-3;
}

/* ---- results ------------------------------------------------------------------------------------------------- */

CalStatus trim_find_stability(const CalStateSpace *space, CalTrim *trim) {
	static const double zero_share = 1e-7, zero_rate = 1e-6; // double poles at zero are found to the root of round-off
	const int n = space->state_count;
	CalPole *poles = memory_alloc(&space->allocator, ((size_t)n + 1) * sizeof *poles);
	const CalStatus status = poles ? cal_state_space_poles(space, poles) : CAL_ERR_MEMORY;
	trim->growth = n > 0 ? -INFINITY : 0;
	const double zero = status == CAL_OK && n > 0 ? fmax(zero_share * poles[n - 1].frequency, zero_rate) : 0;
	for (int i = 0; i < n && status == CAL_OK; i++) {
		trim->zero_poles += poles[i].frequency <= zero;
		trim->growth = fmax(trim->growth, poles[i].real);
	}
	trim->stability = trim->growth > zero    ? CAL_STABILITY_UNSTABLE
	                  : trim->zero_poles > 0 ? CAL_STABILITY_NEUTRAL
	                                         : CAL_STABILITY_STABLE;
	memory_free(&space->allocator, poles);
	return status;
}

static CalStatus report_failure(const TrimSearch *t, const CalTrim *trim, CalError *error) {
	int where;
	trim_largest(t->n, t->r, &where);
	return error_set(
		error, CAL_NOT_CONVERGED,
		"no equilibrium found after %d iterations: %.80s still changes by %.3g per second; start from another "
		"state, or look for a load or drive that nothing holds",
		trim->iterations, t->n > 0 ? t->space.states[t->coordinates + where].name : "a state", trim->residual);
}

/* ---- the call -------------------------------------------------------------------------------------------------- */

CalStatus trim_search_run(TrimSearch *t, const CalTrimOptions *o, CalTrim *trim, CalError *error) {
	const double tolerance = o->tolerance > 0 ? o->tolerance : default_tolerance;
	const int most = o->max_iterations > 0 ? o->max_iterations : MOST_ITERATIONS;
	bool polished = false;
	int where;
	t->damping = 1e-3;
	for (trim->iterations = 0;; trim->iterations++) {
		CalStatus status = trim_search_linearize(t, error);
		if (status != CAL_OK)
			return status;
		trim_search_jacobian(t);
		trim->residual = trim_largest(t->n, t->r, &where);
		const bool near = trim->residual <= tolerance;
		if ((near && polished) || is_at_round_off(t))
			return trim_find_stability(&t->space, trim);
		double moved = 0;
		polished = near; // one more step takes what the tolerance leaves
		if (trim->iterations < most)
			status = take_step(t, &moved);
		if (status != CAL_OK)
			return error_set(error, status, "cal_sim_trim: %s", cal_status_text(status));
		if (!(moved > 0) && near)
			return trim_find_stability(&t->space, trim);
		if (!(moved > 0))
			return report_failure(t, trim, error);
	}
}

void trim_search_release(TrimSearch *t) {
	cal_state_space_release(&t->space);
	memory_free(&t->allocator, t->memory);
}

/* From the state at hand, or one that is drawn. */
static CalStatus begin(TrimState *state, const CalTrimOptions *o, CalError *error) {
	CalStatus status = trim_state_rest(state);
	if (status == CAL_OK && o->start > 0)
		status = trim_state_scatter(state, o);
	if (status == CAL_OK)
		return CAL_OK;
	return error_set(error, status > 0 ? CAL_NOT_CONVERGED : status, "cal_sim_trim: start %d: %s", o->start,
	                 status > 0 ? "its loops cannot be closed" : cal_status_text(status));
}

static CalStatus run_search(TrimState *state, const CalTrimOptions *o, CalTrim *trim, CalError *error) {
	TrimSearch t = {.sim = state->sim, .state = state, .allocator = state->allocator};
	TrimState given;
	CalStatus status = trim_state_create(&given, state->sim, &state->allocator);
	if (status != CAL_OK)
		return error_set(error, status, "cal_sim_trim: %s", cal_status_text(status));
	trim_state_save(&given);
	status = begin(state, o, error);
	if (status == CAL_OK)
		status = trim_search_run(&t, o, trim, error);
	if (status != CAL_OK)
		trim_state_restore(&given);
	else
		status = cal_sim_restart(state->sim, error);
	trim_state_release(&given);
	trim_search_release(&t);
	return status;
}

CalStatus cal_sim_trim(CalSim *sim, const CalTrimOptions *options, CalTrim *trim, CalError *error) {
	static const CalTrimOptions none = {0};
	const CalTrimOptions *o = options ? options : &none;
	CalTrim result = {0};
	if (!sim || !trim)
		return error_null(error, __func__, !sim ? "sim" : "trim");
	*trim = (CalTrim){0};
	if (o->start < 0 || o->max_iterations < 0 || !(o->spread >= 0) || !(o->tolerance >= 0) ||
	    !allocator_is_valid(&o->allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_trim: the options are not valid");
	CalStatus status = sim->started ? CAL_OK : cal_sim_restart(sim, error);
	if (status != CAL_OK)
		return status;
	TrimState state;
	const CalAllocator allocator = allocator_or_default(&o->allocator);
	status = trim_state_create(&state, sim, &allocator);
	status = status == CAL_OK ? run_search(&state, o, &result, error)
	                          : error_set(error, status, "cal_sim_trim: %s", cal_status_text(status));
	trim_state_release(&state);
	*trim = result;
	return status;
}

const char *cal_stability_name(CalStability stability) {
	static const char *const names[] = {"stable", "neutral", "unstable"};
	return (unsigned)stability < sizeof names / sizeof *names ? names[stability] : NULL;
}
