// SPDX-License-Identifier: Apache-2.0
/*
 * accuracy.c — whether a fixed step is too long for what moves, though it is stable.
 *
 * From the present state a step is taken, and the same in two halves. Of a method of order p their difference is
 * 1 - 2^-p of the error of the step. What oscillates with x = w h has by that an error of about
 *   euler-cromer, implicit   x/2
 *   implicit-midpoint        x^2/12
 *   rk4                      x^4/120
 * of what it changes in a step. Above 5 % the step does not resolve it: it is shifted, and rk4 and implicit damp it away
 * within a few hundred steps. Half the step often does so too, and comparing the two runs shows nothing. Where the change is
 * more than 3 % of the largest speed that deserves a doubt.
 *
 * Damping that is too small to be seen in a step adds up: what oscillates with x = w h loses the share c x^p of its amplitude
 * in each (CalMethodInfo.damping: x^2/2 by implicit, of springs and modes; x^6/144 by rk4). Five states in a row of the run
 * itself, every 25 steps, show x and the amplitude U of the fastest oscillation of a speed u, whatever slow motion it has
 * beside it: the second differences b of u follow b2 - 2 b1 + b0 = -X^2 b1, X^2 = 2 - 2 cos x, and have the amplitude X^2 U.
 * Where U is more than 3 % of the largest speed, the losses of all steps are added up from one row to the next, and 5 % of the
 * amplitude are a doubt.
 *
 * The largest speed is that of the run so far: a doubt is withdrawn if what moves later makes the change small. The steps
 * have no effect on the run.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrate/scheme.h"
#include "math/portable.h"
#include "model/model.h"
#include "sim/sim_internal.h"

static const double coarse_share = 0.05; // error of a step, of the change in it, that leaves the change unresolved
static const double share = 0.03;        // of the largest speed, for a change that is
static const double slowest = 1e-9;      // a largest speed below this is rest
static const double damped_share = 0.05; // of the amplitude of an oscillation that the method may take away
enum { SETTLED = 20 };                   // steps after which speeds are known that motion from rest begins with
enum { BETWEEN_ROWS = 20 };              // steps, few enough for a vibration that is damped within hundreds of them

static void copy_state(const SimSystem *w, const CalState *from, CalState *to) {
	to->t = from->t;
	memcpy(to->q, from->q, (size_t)w->nq * sizeof(double));
	memcpy(to->u, from->u, (size_t)w->nu * sizeof(double));
	memcpy(to->x, from->x, (size_t)w->nx * sizeof(double));
}

static double largest_speed(const SimSystem *w, const double *u) {
	double largest = 0;
	for (int i = 0; i < w->nu; i++)
		largest = fmax(largest, fabs(u[i]));
	return largest;
}

/* The step from system.before in `count` parts, to system.now. */
static CalStatus step_in(CalSim *sim, int count) {
	SimSystem *w = &sim->system;
	CalStatus status = CAL_OK;
	copy_state(w, &w->before, &w->now);
	for (int i = 0; i < count && status == CAL_OK; i++)
		status = cal_integrator_step(w->integrator, &w->now, sim->method.step / count);
	return status;
}

/*
 * The largest change of a speed in the step from system.before that the step does not resolve, and the degree of
 * freedom; that step ends in system.after.
 */
static double unresolved(CalSim *sim, int *dof) {
	SimSystem *w = &sim->system;
	const double known = 1 - ldexp(1, -cal_method_order(sim->method.method));
	double worst = 0;
	CalStatus status = step_in(sim, 1);
	copy_state(w, &w->now, &w->after);
	if (status == CAL_OK)
		status = step_in(sim, 2);
	for (int i = 0; i < w->nu && status == CAL_OK; i++) {
		const double u = w->before.u[i], change = fmax(fabs(w->after.u[i] - u), fabs(w->now.u[i] - u));
		if (fabs(w->now.u[i] - w->after.u[i]) > known * coarse_share * change && change > worst) {
			*dof = i;
			worst = change;
		}
	}
	return status == CAL_OK ? worst : NAN;
}

/* Keeps the largest change that was seen. */
static void keep_change(CalSim *sim, double change, int dof) {
	CalDoubt *coarse = &sim->coarse;
	if (!(change > coarse->value))
		return;
	if (coarse->value > 0)
		doubts_drop(&sim->doubts, coarse->kind, coarse->object);
	*coarse = (CalDoubt){.kind = CAL_DOUBT_ACCURACY, .time = cal_sim_time(sim), .value = change};
	sim_name_dof(sim, dof, coarse->object, sizeof coarse->object);
	sim->coarse_at = sim_counts(sim).steps;
}

/* ---- damping by the method ----------------------------------------------------------------------- */

/* Whether the method takes the stiffness of a degree of freedom implicitly; of explicit methods the question does not arise. */
static bool is_damped(const CalSim *sim, const CalMethodInfo *info, int u) {
	int own;
	const CalModel *model = sim_model_of_dof(sim, u, &own);
	if (!model)
		return false;
	const Body *body = &model->bodies[model->dofs[own].body];
	const bool mode = own >= body->u + body->nu;
	return info->implicit_share == 0 || mode || model->dofs[own].stiffness > 0;
}

/* w h of the fastest oscillation in five speeds in a row, one step apart, and its amplitude; 0: there is none. */
static double oscillation(const double u[TRAIL], double *amplitude) {
	const double b0 = u[2] - 2 * u[1] + u[0], b1 = u[3] - 2 * u[2] + u[1], b2 = u[4] - 2 * u[3] + u[2];
	const double square = -(b2 - 2 * b1 + b0) / b1;
	if (!(square > 0 && square < 2) || fabs(b1) < 0.1 * fmax(fabs(b0), fabs(b2)))
		return 0;
	const double x = portable_acos(1 - 0.5 * square);
	*amplitude = portable_hypot(b1, (b2 - b0) / (2 * portable_sin(x))) / square;
	return x;
}

/* What was lost since the last row, if it still counts. */
static double damped_since(const CalSim *sim) {
	const SimDamping *d = &sim->damping;
	return d->speed > share * fmax(sim->fastest, slowest) ? d->loss * (double)(sim_counts(sim).steps - d->at) : 0;
}

bool accuracy_wants_steps(const CalSim *sim) {
	const CalMethodInfo *info = cal_method_info(sim->method.method);
	return !info->adaptive && info->damping > 0 && !sim->ranks;
}

/* 0: of oscillations with less than `least`. */
static double loss_of(const CalSim *sim, const CalMethodInfo *info, int i, double least, double *x, double *speed) {
	const SimSystem *w = &sim->system;
	double u[TRAIL];
	for (int k = 0; k < TRAIL; k++)
		u[k] = w->trail[(ptrdiff_t)k * w->nu + i];
	*x = oscillation(u, speed);
	return *speed > least && is_damped(sim, info, i) ? info->damping * portable_pow(*x, info->damping_order) : 0;
}

/* What the steps of a full row lose, from the last row on. */
static void keep_damping(CalSim *sim) {
	const CalMethodInfo *info = cal_method_info(sim->method.method);
	SimDamping *d = &sim->damping;
	d->total += damped_since(sim);
	d->loss = d->speed = 0;
	d->at = sim_counts(sim).steps;
	for (int i = 0; i < sim->system.nu; i++) {
		double x = 0, speed = 0;
		const double loss = loss_of(sim, info, i, share * fmax(sim->fastest, slowest), &x, &speed);
		if (!(loss > d->loss))
			continue;
		d->loss = loss;
		d->speed = speed;
		if (loss > d->worst && !(d->total > damped_share)) {
			d->worst = loss;
			d->rate = x / sim->method.step;
			sim_name_dof(sim, i, d->object, sizeof d->object);
		}
	}
}

/* Checkpoints have all of the row, whatever was in its memory. */
void accuracy_forget_row(SimSystem *w) {
	w->trail_count = 0;
	w->trail_time = 0;
	if (w->nu > 0)
		memset(w->trail, 0, sizeof *w->trail * TRAIL * (size_t)w->nu);
}

/* Steps of other sizes than the one that was asked for begin a new row. */
void accuracy_note_step(CalSim *sim, const CalState *state) {
	SimSystem *w = &sim->system;
	const double h = state->t - w->trail_time;
	if (w->trail_count < 0) { // between two rows
		w->trail_count++;
		return;
	}
	if (w->trail_count > 0 && fabs(h - sim->method.step) > 1e-6 * sim->method.step)
		w->trail_count = 0;
	memcpy(w->trail + (ptrdiff_t)w->trail_count * w->nu, state->u, (size_t)w->nu * sizeof(double));
	w->trail_time = state->t;
	if (++w->trail_count < TRAIL)
		return;
	sim->fastest = fmax(sim->fastest, largest_speed(w, state->u));
	keep_damping(sim);
	w->trail_count = -BETWEEN_ROWS;
}

void accuracy_restart(CalSim *sim) {
	SimSystem *w = &sim->system;
	sim->fastest = 0;
	sim->damping = (SimDamping){0};
	accuracy_forget_row(w);
}

/* The row too: what it will show decides about doubts of a resumed run. */
void accuracy_walk(CalSim *sim, int nu, Serializer *a) {
	SimSystem *w = &sim->system;
	SimDamping *d = &sim->damping;
	serializer_double_within(a, &d->total, 0, DBL_MAX);
	serializer_double_within(a, &d->loss, 0, DBL_MAX);
	serializer_double_within(a, &d->speed, 0, DBL_MAX);
	serializer_double_within(a, &d->worst, 0, DBL_MAX);
	serializer_double_within(a, &d->rate, 0, DBL_MAX);
	serializer_i64_within(a, &d->at, 0, INT64_MAX / 4);
	serializer_text(a, d->object, sizeof d->object);
	serializer_finite(a, &sim->fastest, 1);
	serializer_int_within(a, &w->trail_count, -BETWEEN_ROWS, TRAIL - 1);
	serializer_finite(a, &w->trail_time, 1);
	serializer_finite(a, w->trail, TRAIL * nu);
}

static void check_damping(CalSim *sim) {
	const SimDamping *d = &sim->damping;
	const double lost = 1 - portable_exp(-d->total - damped_since(sim));
	if (!(lost > damped_share) || !d->object[0])
		return;
	doubts_set(
		&sim->doubts, CAL_DOUBT_ACCURACY, d->object, cal_sim_time(sim), lost, damped_share,
		"%s with a step of %g s damps vibrations: %s vibrates at %.3g rad/s and has lost %.2g %% of its amplitude by "
		"t = %.6g s, unless a load sustains it; take a smaller step, or the method %s",
		cal_method_name(sim->method.method), sim->method.step, d->object, d->rate, 100 * lost, cal_sim_time(sim),
		cal_method_name(CAL_METHOD_DEFAULT));
}

/* ---- looking ------------------------------------------------------------------------------------- */

/* Some steps from the present state, for an oscillation may stand still in one. They end where something jumps. */
void accuracy_probe(CalSim *sim) {
	enum { STEPS = 3 };
	SimSystem *w = &sim->system;
	const double t = cal_sim_time(sim), free_of_jumps = sim_next_switch(sim, t) - t;
	if (!method_is_fixed(sim->method.method) || w->nu == 0 || sim->subsystems || sim->ranks)
		return;
	sim_gather(sim);
	const CalIntegratorStats stats = w->integrator->stats;
	CalState start = {.q = w->probe, .u = w->probe + w->nq, .x = w->probe + w->nq + w->nu};
	copy_state(w, &w->now, &start);
	copy_state(w, &w->now, &w->before);
	double change = 0;
	for (int i = 0, dof = 0; i < STEPS && isfinite(change) && (i + 1) * sim->method.step <= free_of_jumps; i++) {
		change = unresolved(sim, &dof);
		if (isfinite(change))
			keep_change(sim, change, dof);
		copy_state(w, &w->after, &w->before);
	}
	w->integrator->stats = stats;
	copy_state(w, &start, &w->now);
	sim_scatter(sim);
}

static void check_change(CalSim *sim) {
	const CalDoubt *c = &sim->coarse;
	const double limit = share * fmax(sim->fastest, slowest);
	if (c->value == 0 || sim_counts(sim).steps - sim->coarse_at < SETTLED)
		return;
	if (!(c->value > limit)) {
		doubts_drop(&sim->doubts, c->kind, c->object);
		return;
	}
	doubts_set(
		&sim->doubts, c->kind, c->object, c->time, c->value, limit,
		"a step of %g s is too long for %s: at t = %.6g s the speed of %s changes by %.3g in one step, which it does "
		"not resolve (the largest speed is %.3g): fast motion is damped or shifted, and half the step may do the "
		"same; take a much smaller one, or the method %s",
		sim->method.step, cal_method_name(sim->method.method), c->time, c->object, c->value, sim->fastest,
		cal_method_name(CAL_METHOD_DEFAULT));
}

/* The second may be about the same object: it comes after the first, which withdraws its own. */
void accuracy_check(CalSim *sim) {
	if (!method_is_fixed(sim->method.method))
		return;
	sim_gather(sim);
	sim->fastest = fmax(sim->fastest, largest_speed(&sim->system, sim->system.now.u));
	check_change(sim);
	check_damping(sim);
	jumps_check(sim);
}
