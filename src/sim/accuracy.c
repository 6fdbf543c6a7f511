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
 * The largest speed is that of the run so far: a doubt is withdrawn if what moves later makes the change small. The steps
 * have no effect on the run.
 */
#include <math.h>
#include <string.h>

#include "integrate/scheme.h"
#include "sim/sim_internal.h"

static const double coarse_share = 0.05; // error of a step, of the change in it, that leaves the change unresolved
static const double share = 0.03;        // of the largest speed, for a change that is
static const double slowest = 1e-9;      // a largest speed below this is rest
enum { SETTLED = 20 };                   // steps after which speeds are known that motion from rest begins with

static void copy_state(const SimSystem *w, const CalState *from, CalState *to) {
	to->t = from->t;
	memcpy(to->q, from->q, (size_t)w->nq * sizeof(double));
	memcpy(to->u, from->u, (size_t)w->nu * sizeof(double));
	memcpy(to->x, from->x, (size_t)w->nx * sizeof(double));
}

static double largest_speed(const SimSystem *w) {
	double largest = 0;
	for (int i = 0; i < w->nu; i++)
		largest = fmax(largest, fabs(w->now.u[i]));
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

void accuracy_judge(CalSim *sim) {
	const CalDoubt *c = &sim->coarse;
	if (!method_is_fixed(sim->method.method))
		return;
	sim_gather(sim);
	sim->fastest = fmax(sim->fastest, largest_speed(&sim->system));
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
