// SPDX-License-Identifier: Apache-2.0
/*
 * step_watch.c — watching a step of an adaptive method from within.
 *
 * A step that is right to its tolerance where it was evaluated can still lead from one side of a wall to the other, or
 * over a pulse: nothing was there at the stages. So devices that begin to act somewhere say for how long they certainly do
 * not (CalDeviceOps.outlook): from distances, speeds and the accelerations of the step. The step is looked at again where
 * the shortest of these times ends, on the dense output, and so on to its end. Where all is clear to the end of the step,
 * which is most of the time, that is one check. A change of sign of a value ends the step just after it, as any event.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "sim/sim_internal.h"

enum { MOST_CHECKS = 1000 };              // in one step; then it ends where they do
static const double SHORTEST_LOOK = 1e-6; // of a step

void watch_prepare(CalSim *sim) {
	bool wanted = false, all = true;
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		wanted |= device->active && device->def.ops->lookahead;
		all &= device->def.ops->lookahead || device_values(sim, device) == 0;
	}
	for (int i = 0; i < sim->event_count; i++) {
		wanted |= sim->events[i].def.event_free != NULL;
		all &= sim->events[i].def.event_free || sim->events[i].value_at < 0;
	}
	sim->system.watching = wanted && !method_is_fixed(sim->method.method);
	sim->system.all_ahead = all;
}

static void copy_state(const SimSystem *w, const CalState *from, CalState *to) {
	to->t = from->t;
	memcpy(to->q, from->q, (size_t)w->nq * sizeof(double));
	memcpy(to->u, from->u, (size_t)w->nu * sizeof(double));
	memcpy(to->x, from->x, (size_t)w->nx * sizeof(double));
}

static void show_state(CalSim *sim, const CalState *state) {
	copy_state(&sim->system, state, &sim->system.now);
	sim_scatter(sim);
}

/* ---- accelerations ahead ----------------------------------------------------------------------- */

/* Groups that move as a function of time: what that says at this instant. */
static CalStatus given_accelerations(const CalSim *sim) {
	double *udot = sim->system.udot;
	for (int i = 0; i < sim->group_count; i++) {
		const SimGroup *group = &sim->groups[i];
		const CalState *state = &group->state;
		if (group->motion && group->motion(group->motion_user, group->model, state->t, state->q, state->u, udot) != 0)
			return CAL_ERR_USER;
		udot += cal_model_u_count(group->model);
	}
	return CAL_OK;
}

/* Of each degree of freedom the largest acceleration at three places from s to the end of the step. */
static CalStatus accelerations_ahead(CalSim *sim, double s, double h) {
	SimSystem *w = &sim->system;
	CalStatus status = cal_integrator_acceleration(w->integrator, w->before.t + s, w->udot);
	for (int k = 1; k < 3 && status == CAL_OK; k++) {
		status = cal_integrator_acceleration(w->integrator, w->before.t + s + 0.5 * k * (h - s), w->udot_at);
		for (int i = 0; i < w->nu; i++)
			w->udot[i] = fabs(w->udot_at[i]) > fabs(w->udot[i]) ? w->udot_at[i] : w->udot[i];
	}
	return status == CAL_OK ? given_accelerations(sim) : status;
}

/* ---- looking ----------------------------------------------------------------------------------- */

CalStatus watch_ahead(CalSim *sim, double span, CalLookahead *all) {
	CalEvalContext context = context_now(sim, false);
	context.udot = sim->system.udot;
	*all = (CalLookahead){span, span, INFINITY};
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		if (!device->active || !device->def.ops->lookahead)
			continue;
		CalLookahead own = {span, span, INFINITY};
		const CalDevice view = context_device(&context, device);
		const int code = device->def.ops->lookahead(&view, &context, &own);
		if (context_failed(&context, i, code) != CAL_OK)
			return context.status;
		all->event_free = fmin(all->event_free, own.event_free);
		all->max_step = fmin(all->max_step, own.max_step);
	}
	for (int i = 0; i < sim->event_count && context.status == CAL_OK; i++) {
		const SimEvent *event = &sim->events[i];
		const CalEventDef *def = &event->def;
		if (def->event_free && event->value_at >= 0 && !(def->once && event->happened > 0))
			all->event_free = fmin(all->event_free, def->event_free(def->user, &context, span));
	}
	return context.status;
}

/* The step once more, no longer than h. */
static CalStatus shorten(CalSim *sim, double h) {
	SimSystem *w = &sim->system;
	copy_state(w, &w->before, &w->now);
	cal_integrator_renew(w->integrator);
	const CalStatus status = cal_integrator_step(w->integrator, &w->now, h);
	if (status == CAL_OK) {
		sim_scatter(sim);
		copy_state(w, &w->now, &w->after);
	}
	return status;
}

static double rounding(const SimSystem *w) { return 16 * DBL_EPSILON * fmax(fabs(w->before.t), fabs(w->after.t)); }

/* At the start of the step: what is ahead, and a step that is short enough for it. */
static CalStatus first_check_time(CalSim *sim, CalLookahead *lookahead) {
	SimSystem *w = &sim->system;
	const double h = w->after.t - w->before.t;
	show_state(sim, &w->before);
	CalStatus status = accelerations_ahead(sim, 0, h);
	if (status == CAL_OK)
		status = watch_ahead(sim, h, lookahead);
	const double most = fmax(lookahead->max_step, rounding(w));
	return status == CAL_OK && most < h ? shorten(sim, most) : status;
}

static CalStatus next_check_time(CalSim *sim, double s, CalLookahead *lookahead) {
	const SimSystem *w = &sim->system;
	const double h = w->after.t - w->before.t;
	CalStatus status = events_state_at(sim, s);
	if (status == CAL_OK)
		status = accelerations_ahead(sim, s, h);
	return status == CAL_OK ? watch_ahead(sim, h - s, lookahead) : status;
}

/*
 * Values at the start of what is looked at now, in system.value; those of devices that mark where they looked changed.
 */
static CalStatus values_here(CalSim *sim, double s) {
	if (s == 0)
		show_state(sim, &sim->system.before);
	return events_values(sim, sim->system.value);
}

static CalStatus values_there(CalSim *sim, double s, bool end) {
	CalStatus status = CAL_OK;
	if (end)
		show_state(sim, &sim->system.after);
	else
		status = events_state_at(sim, s);
	return status == CAL_OK ? events_values(sim, sim->system.value_next) : status;
}

CalStatus watch_step(CalSim *sim, bool *crossed) {
	SimSystem *w = &sim->system;
	CalLookahead lookahead = {.max_step = INFINITY};
	copy_state(w, &w->now, &w->after);
	CalStatus status = first_check_time(sim, &lookahead);
	const double h = w->after.t - w->before.t, shortest = fmax(SHORTEST_LOOK * h, rounding(w));
	if (status == CAL_OK && w->all_ahead && lookahead.event_free >= h) {
		show_state(sim, &w->after);
		return CAL_OK;
	}
	double here = 0, least = shortest;
	for (int checks = 0; status == CAL_OK; checks++) {
		double there = here + fmax(lookahead.event_free, least);
		const bool end = !(there < h - shortest);
		there = end ? h : there;
		least =
			lookahead.event_free < least ? 2 * least : shortest; // a value that stays near zero does not stop the run
		status = values_here(sim, here);
		if (status == CAL_OK)
			status = values_there(sim, there, end);
		if (status == CAL_OK && events_crossed(sim)) {
			*crossed = true;
			return events_locate(sim, here, there, w->after.t);
		}
		here = there;
		if (end || status != CAL_OK)
			break;
		if (checks == MOST_CHECKS)
			return shorten(sim, here);
		status = next_check_time(sim, here, &lookahead);
	}
	if (status != CAL_OK)
		show_state(sim, &w->before);
	return status;
}
