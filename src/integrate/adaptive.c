// SPDX-License-Identifier: Apache-2.0
/*
 * adaptive.c — one-step pairs with step-size control and dense output (Hairer, Norsett, Wanner, Solving ODEs I, II.4-II.6).
 *
 * Error norm: RMS over delta, u and x of error / (atol + rtol size). The size of u is max(|u_n|, |u_n+1|), that of x
 * likewise. That of delta is the way made in the step, max(|delta|, h |u_n|, h |u_n+1|), not |q|: the choice of origin and the
 * number of turns of a joint must not change the accuracy.
 * Quadratures (the energy balance of a simulation) are held to atol + rtol of the largest of them and of what the system
 * gives as their scale; they count only where their error is the larger one.
 * Step size: PI control, h <- h 0.9 err^-(e - 0.75 beta) err_last^beta, beta = 0.04, where the error goes with h^(1/e). The rates
 * at the end of an accepted step are those at the start of the next, provided that the caller hands over the same state.
 * A quaternion may turn by 1.5 rad in one step at most: the chart delta ends at a full turn, and a steady
 * spin has no error that would hold the step.
 */
#include "integrate/adaptive.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrate/rotations.h"
#include "integrate/runge_kutta.h"
#include "math/portable.h"

static const double SAFETY = 0.9, SHRINK_MOST = 0.2, GROW_MOST = 10, PI_BETA = 0.04;
static const double TURN_MOST = 1.5; // [rad]

/** h * sum_j w_j rate_j[i] over all stages that have a weight: others may not be there. */
static double weighted(double *const *rate, const double *w, int i, double h) {
	double sum = 0;
	for (int j = 0; j < MAX_STAGES; j++) {
		if (w[j] != 0) {
			sum += w[j] * rate[j][i];
		}
	}
	return h * sum;
}

static double max3(double a, double b, double c) { return fmax(a, fmax(b, c)); }

/** Squares of the errors of one part, summed up. */
static double part_error(const CalIntegrator *ig, const AdaptivePair *pair, const SystemPart *part,
                         const CalState *start, double h, double sum) {
	double atol = ig->options.atol, rtol = ig->options.rtol;
	for (int i = part->u; i < part->u + part->nu; i++) {
		double u0 = fabs(start->u[i]), u1 = fabs(ig->stage.u[i]), way = fabs(ig->delta[i]);
		double e_delta = weighted(ig->delta_rate, pair->error_weight, i, h);
		double e_u = weighted(ig->u_rate, pair->error_weight, i, h);
		e_delta /= atol + rtol * max3(way, fabs(h) * u0, fabs(h) * u1);
		e_u /= atol + rtol * fmax(u0, u1);
		sum += e_delta * e_delta + e_u * e_u;
	}
	return sum;
}

/**
 * The largest error of a quadrature by what is allowed. They have a say of their own: states may be exact (free flight)
 * where a quadrature has a kink.
 */
static double quadrature_error(const CalIntegrator *ig, const AdaptivePair *pair, const CalState *start, double h) {
	double error = 0, size = 0;
	for (int i = ig->checked_x; i < ig->nx; i++) {
		double own = fabs(weighted(ig->x_rate, pair->error_weight, i, h));
		if (!isfinite(own)) {
			return INFINITY;
		}
		error = fmax(error, own);
		size = max3(size, fabs(start->x[i]), fabs(ig->stage.x[i]));
	}
	double allowed = ig->options.atol + ig->options.rtol * size;
	if (error > allowed && ig->scale) {
		allowed += ig->options.rtol * ig->scale(ig->user, start);
	}
	return error / allowed;
}

/** Error of the step from *start to the stage at hand; at most 1 is good. Not finite: INFINITY. */
static double error_norm(const CalIntegrator *ig, const AdaptivePair *pair, const CalState *start, double h) {
	double sum = 0;
	for (int k = 0; k < ig->part_count; k++) {
		if (!ig->parts[k].is.motion) {
			sum = part_error(ig, pair, &ig->parts[k], start, h, sum);
		}
	}
	for (int i = 0; i < ig->checked_x; i++) {
		double e_x = weighted(ig->x_rate, pair->error_weight, i, h);
		e_x /= ig->options.atol + ig->options.rtol * fmax(fabs(start->x[i]), fabs(ig->stage.x[i]));
		sum += e_x * e_x;
	}
	int count = 2 * ig->checked_u + ig->checked_x;
	double norm = count > 0 ? sqrt(sum / count) : 0;
	return isfinite(norm) ? fmax(norm, quadrature_error(ig, pair, start, h)) : INFINITY;
}

/** RMS of v / (atol + rtol |u|) over the speeds and states that count; v_x[nx] beside v_u[nu]. */
static double speed_norm(const CalIntegrator *ig, const CalState *at, const double *v_u, const double *v_x) {
	double atol = ig->options.atol, rtol = ig->options.rtol, sum = 0;
	for (int k = 0; k < ig->part_count; k++) {
		const SystemPart *part = &ig->parts[k];
		for (int i = part->u; !part->is.motion && i < part->u + part->nu; i++) {
			double e = v_u[i] / (atol + rtol * fabs(at->u[i]));
			sum += e * e;
		}
	}
	for (int i = 0; i < ig->checked_x; i++) {
		double e = v_x[i] / (atol + rtol * fabs(at->x[i]));
		sum += e * e;
	}
	int count = ig->checked_u + ig->checked_x;
	return count > 0 ? sqrt(sum / count) : 0;
}

/**
 * Size of the very first step (Hairer et al., II.4, on u and x alone): such that an Euler step changes them by 1 %,
 * then from an estimate of the second derivative; far above the least step. Uses the rates of the first stage.
 */
static CalStatus first_size(CalIntegrator *ig, const AdaptivePair *pair, const CalState *start, double direction,
                            double h_max, double *h) {
	double d0 = speed_norm(ig, start, start->u, start->x);
	double d1 = speed_norm(ig, start, ig->u_rate[0], ig->x_rate[0]);
	double h0 = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
	h0 = fmin(h0, h_max);
	const double held = fabs(start->t + direction * h0 - start->t); // what the clock makes of it
	h0 = held > 0 ? held : h0;
	const double euler[1] = {1};
	runge_kutta_combine(ig, start, direction * h0, euler, 1);
	ig->stage.t = start->t + direction * h0;
	CalStatus status = system_impose(ig, &ig->stage);
	if (status == CAL_OK) {
		status = system_evaluate(ig, &ig->stage, &ig->stage, 0, 1, NULL, NULL);
	}
	if (status < 0) {
		return status;
	}
	for (int i = 0; i < ig->nu; i++) {
		ig->u_rate[1][i] = (ig->u_rate[1][i] - ig->u_rate[0][i]) / h0;
	}
	for (int i = 0; i < ig->nx; i++) {
		ig->x_rate[1][i] = (ig->x_rate[1][i] - ig->x_rate[0][i]) / h0;
	}
	double d2 = status == CAL_OK ? fmax(d1, speed_norm(ig, start, ig->u_rate[1], ig->x_rate[1])) : INFINITY;
	double h1 = d2 <= 1e-15 ? fmax(1e-6, 1e-3 * h0) : portable_pow(0.01 / d2, pair->exponent);
	*h = isfinite(d2) ? fmin(100 * h0, h1) : 1e-3 * h0;
	*h = fmax(*h, 1e4 * ig->control.h_min); // 1 % of next to nothing is no size; the error makes it smaller if need be
	return CAL_OK;
}

static bool same_numbers(const double *a, const double *b, int count) {
	return count == 0 || memcmp(a, b, (size_t)count * sizeof(double)) == 0;
}

static void copy_numbers(double *to, const double *from, int count) {
	if (count > 0) {
		memcpy(to, from, (size_t)count * sizeof(double));
	}
}

static bool same_state(const CalIntegrator *ig, const CalState *state) {
	const StepControl *c = &ig->control;
	return c->reusable && state->t == c->t_last && same_numbers(state->q, c->q_last, ig->nq) &&
	       same_numbers(state->u, c->u_last, ig->nu) && same_numbers(state->x, c->x_last, ig->nx);
}

/** Rates at the start: those of the last stage of the step before, or evaluated. */
static CalStatus first_stage(CalIntegrator *ig, const CalState *start) {
	memset(ig->delta, 0, (size_t)ig->nu * sizeof(double));
	system_rate(ig, ig->delta, start->u, ig->delta_rate[0]);
	bool same = same_state(ig, start);
	ig->control.reusable = false;
	if (!same) {
		return system_evaluate(ig, start, start, 0, 0, NULL, NULL);
	}
	copy_numbers(ig->u_rate[0], ig->u_rate[MAX_STAGES - 1], ig->nu);
	copy_numbers(ig->x_rate[0], ig->x_rate[MAX_STAGES - 1], ig->nx);
	return CAL_OK;
}

/** The largest step that the fastest quaternion allows. */
static double turn_limit(const CalIntegrator *ig, const double *u) {
	double fastest = rotations_largest(ig->control.rotations, ig->control.rotation_count, u);
	return fastest > 0 ? TURN_MOST / fastest : INFINITY;
}

/** Coefficients of the interpolation polynomial of one variable, by Horner in theta and 1 - theta. */
static void dense_store(const AdaptivePair *pair, double *const *term, double *const *rate, double change, int i,
                        double h) {
	double bend = h * rate[0][i] - change;
	term[0][i] = change;
	term[1][i] = bend;
	term[2][i] = change - h * rate[MAX_STAGES - 1][i] - bend;
	term[3][i] = weighted(rate, pair->dense_weight, i, h);
}

static double dense_value(double *const *term, int i, double theta) {
	double rest = 1 - theta;
	return theta * (term[0][i] + rest * (term[1][i] + theta * (term[2][i] + rest * term[3][i])));
}

static CalStatus accept(CalIntegrator *ig, const AdaptivePair *pair, CalState *state, double h, double t_new) {
	DenseOutput *dense = &ig->dense;
	dense->t0 = state->t;
	copy_numbers(dense->q0, state->q, ig->nq);
	copy_numbers(dense->u0, state->u, ig->nu);
	copy_numbers(dense->x0, state->x, ig->nx);
	CalStatus status = integrator_commit(ig, state, t_new);
	dense->valid = status == CAL_OK;
	if (status != CAL_OK) {
		return status;
	}
	dense->t1 = t_new;
	for (int i = 0; i < ig->nu; i++) {
		dense_store(pair, dense->delta, ig->delta_rate, ig->delta[i], i, h);
		dense_store(pair, dense->u, ig->u_rate, state->u[i] - dense->u0[i], i, h);
	}
	for (int i = 0; i < ig->nx; i++) {
		dense_store(pair, dense->x, ig->x_rate, state->x[i] - dense->x0[i], i, h);
	}
	StepControl *c = &ig->control;
	copy_numbers(c->q_last, state->q, ig->nq);
	copy_numbers(c->u_last, state->u, ig->nu);
	copy_numbers(c->x_last, state->x, ig->nx);
	c->t_last = t_new;
	c->reusable = !ig->has_loops; // a projection moves the state
	return CAL_OK;
}

/** Size after an accepted step of size h; `held` if something other than the error had made it shorter. */
static void control_accept(StepControl *c, const AdaptivePair *pair, double h, double error, bool after_rejection,
                           bool held) {
	double factor = SAFETY * portable_pow(fmax(error, 1e-10), -(pair->exponent - 0.75 * PI_BETA)) *
	                portable_pow(c->error_last, PI_BETA);
	factor = fmin(GROW_MOST, fmax(SHRINK_MOST, factor));
	factor = after_rejection ? fmin(factor, 1) : factor;
	c->h_next = held && factor > 1 ? fmax(c->h_next, h * factor) : h * factor;
	c->error_last = fmax(error, 1e-4);
}

/** The size to try: at most `rest`, and not so that a sliver remains before the end. */
static double fit_step(double h, double rest) {
	if (h >= rest * (1 - 1e-10)) {
		return rest;
	}
	return h > 0.5 * rest ? 0.5 * rest : h;
}

/**
 * Evaluations that fail over and over within 1e-9 of the time: no step gets past (a dead center, for one). Steps that are too
 * short to move coordinates at all would still be accepted, without end.
 */
static bool is_blocked(StepControl *c, double t, double rest) {
	enum { MANY = 100 };
	if (!(fabs(t - c->failed_at) <= 1e-9 * fmax(fabs(t), rest))) {
		c->failed_at = t;
		c->failures = 0;
	}
	return ++c->failures > MANY;
}

CalStatus adaptive_step(CalIntegrator *ig, const AdaptivePair *pair, CalState *state, double h_signed, double t_end) {
	StepControl *c = &ig->control;
	double direction = h_signed > 0 ? 1 : -1, rest = fabs(h_signed);
	CalStatus status = first_stage(ig, state);
	if (status == CAL_OK && pair->begin) {
		status = pair->begin(ig, state);
	}
	if (status == CAL_OK && c->h_next == 0) {
		status = first_size(ig, pair, state, direction, rest, &c->h_next);
	}
	if (status != CAL_OK) {
		return status;
	}
	double ceiling = fmin(turn_limit(ig, state->u), ig->options.max_step > 0 ? ig->options.max_step : INFINITY);
	bool rejected = false;
	for (;;) {
		double h = fit_step(fmin(c->h_next, ceiling), rest), t_new = h == rest ? t_end : state->t + direction * h;
		if (t_new == state->t || (h < c->h_min && h < rest)) {
			return status > 0 ? status : CAL_STEP_TOO_SMALL;
		}
		const double span = t_new - state->t; // h as the clock has it
		status = pair->stages(ig, state, span, t_new);
		if (status < 0 || (status > 0 && is_blocked(c, state->t, rest))) {
			return status;
		}
		double error = status == CAL_OK ? error_norm(ig, pair, state, span) : INFINITY;
		if (error <= 1) {
			control_accept(c, pair, h, error, rejected, h < c->h_next);
			return accept(ig, pair, state, span, t_new);
		}
		double factor =
			isfinite(error) ? SAFETY * portable_pow(error, -(pair->exponent - 0.75 * PI_BETA)) : SHRINK_MOST;
		c->h_next = h * fmin(SAFETY, fmax(SHRINK_MOST, factor));
		rejected = true;
		ig->stats.rejected++;
	}
}

CalStatus adaptive_interpolate(const CalIntegrator *ig, double t, CalState *out) {
	const DenseOutput *dense = &ig->dense;
	double theta = 0;
	CalStatus status = dense_place(dense, t, &theta);
	if (status != CAL_OK) {
		return status;
	}
	for (int i = 0; i < ig->nu; i++) {
		out->u[i] = dense_value(dense->delta, i, theta);
	}
	system_integrate(ig, dense->q0, out->u, out->q);
	for (int i = 0; i < ig->nu; i++) {
		out->u[i] = dense->u0[i] + dense_value(dense->u, i, theta);
	}
	for (int i = 0; i < ig->nx; i++) {
		out->x[i] = dense->x0[i] + dense_value(dense->x, i, theta);
	}
	out->t = t;
	return system_motion(ig, out);
}

/** The derivative of dense_value(): by theta, over h. */
CalStatus adaptive_acceleration(const CalIntegrator *ig, double t, double *udot) {
	const DenseOutput *dense = &ig->dense;
	double theta = 0;
	CalStatus status = dense_place(dense, t, &theta);
	if (status != CAL_OK) {
		return status;
	}
	const double h = dense->t1 - dense->t0, w1 = 1 - 2 * theta, w2 = theta * (2 - 3 * theta),
				 w3 = 2 * theta * (1 + theta * (2 * theta - 3));
	for (int i = 0; i < ig->nu; i++) {
		udot[i] = (dense->u[0][i] + w1 * dense->u[1][i] + w2 * dense->u[2][i] + w3 * dense->u[3][i]) / h;
	}
	return CAL_OK;
}

/* ---- checkpoints --------------------------------------------------------------------------- */

static void walk_kept(Serializer *a, bool kept, double *data, int count) {
	if (kept)
		serializer_finite(a, data, count);
	else
		serializer_doubles(a, NULL, count);
}

/** The step size, the last error and the stage that the next step begins with. */
void adaptive_walk(CalIntegrator *ig, Serializer *a) {
	StepControl *c = &ig->control;
	serializer_double_within(a, &c->h_next, 0, DBL_MAX);
	serializer_double_within(a, &c->error_last, DBL_MIN, DBL_MAX);
	const bool kept = serializer_bool(a, &c->reusable); // otherwise nobody has written them
	walk_kept(a, kept, &c->t_last, 1);
	walk_kept(a, kept, c->q_last, ig->nq);
	walk_kept(a, kept, c->u_last, ig->nu);
	walk_kept(a, kept, c->x_last, ig->nx);
	walk_kept(a, kept, ig->u_rate[MAX_STAGES - 1], ig->nu);
	walk_kept(a, kept, ig->x_rate[MAX_STAGES - 1], ig->nx);
}
