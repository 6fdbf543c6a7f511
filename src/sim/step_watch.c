// SPDX-License-Identifier: Apache-2.0
/*
 * step_watch.c — watching a step of an adaptive method from within.
 *
 * A step that is right to its tolerance where it was evaluated can still lead from one side of a wall to the other, or
 * over a pulse: nothing was there at the stages. So devices that begin to act somewhere say for how long they certainly do
 * not (CalDeviceOps.outlook): from distances, speeds and the accelerations of the step. The step is looked at again where
 * the shortest of these times ends, on the dense output, and so on to its end. Where all is clear to the end of the step,
 * which is most of the time, that is one look. A change of sign of a value ends the step just behind it, as any event.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "sim/sim_internal.h"

enum { MOST_LOOKS = 1000 };               // in one step; then it ends where they do
static const double SHORTEST_LOOK = 1e-6; // of a step

void watch_prepare(CalSim *sim) {
	bool wanted = false, all = true;
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		wanted |= device->active && device->def.ops->outlook;
		all &= device->def.ops->outlook || device_values(sim, device) == 0;
	}
	for (int i = 0; i < sim->event_count; i++) {
		wanted |= sim->events[i].def.clear != NULL;
		all &= sim->events[i].def.clear || sim->events[i].value_at < 0;
	}
	sim->whole.watching = wanted && !method_is_fixed(sim->method.method);
	sim->whole.all_ahead = all;
}

static void copy_state(const SimWhole *w, const CalState *from, CalState *to) {
	to->t = from->t;
	memcpy(to->q, from->q, (size_t)w->nq * sizeof(double));
	memcpy(to->u, from->u, (size_t)w->nu * sizeof(double));
	memcpy(to->x, from->x, (size_t)w->nx * sizeof(double));
}

static void show_state(CalSim *sim, const CalState *state) {
	copy_state(&sim->whole, state, &sim->whole.now);
	sim_scatter(sim);
}

/* ---- accelerations ahead ----------------------------------------------------------------------- */

/* Groups that move as a function of time: what that says at this instant. */
static CalStatus given_accelerations(const CalSim *sim) {
	double *udot = sim->whole.udot;
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
	SimWhole *w = &sim->whole;
	CalStatus status = cal_integrator_acceleration(w->integrator, w->before.t + s, w->udot);
	for (int k = 1; k < 3 && status == CAL_OK; k++) {
		status = cal_integrator_acceleration(w->integrator, w->before.t + s + 0.5 * k * (h - s), w->udot_at);
		for (int i = 0; i < w->nu; i++)
			w->udot[i] = fabs(w->udot_at[i]) > fabs(w->udot[i]) ? w->udot_at[i] : w->udot[i];
	}
	return status == CAL_OK ? given_accelerations(sim) : status;
}

/* ---- looking ----------------------------------------------------------------------------------- */

static CalStatus outlook_now(CalSim *sim, double span, CalOutlook *all) {
	CalScene scene = scene_now(sim, false);
	scene.udot = sim->whole.udot;
	*all = (CalOutlook){span, span, INFINITY};
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		if (!device->active || !device->def.ops->outlook)
			continue;
		CalOutlook own = {span, span, INFINITY};
		const CalDevice view = scene_device(&scene, device);
		const int code = device->def.ops->outlook(&view, &scene, &own);
		if (scene_failed(&scene, i, code) != CAL_OK)
			return scene.status;
		all->clear = fmin(all->clear, own.clear);
		all->step = fmin(all->step, own.step);
	}
	for (int i = 0; i < sim->event_count && scene.status == CAL_OK; i++) {
		const SimEvent *event = &sim->events[i];
		const CalEventDef *def = &event->def;
		if (def->clear && event->value_at >= 0 && !(def->once && event->happened > 0))
			all->clear = fmin(all->clear, def->clear(def->user, &scene, span));
	}
	return scene.status;
}

/* The step once more, no longer than h. */
static CalStatus shorten(CalSim *sim, double h) {
	SimWhole *w = &sim->whole;
	copy_state(w, &w->before, &w->now);
	cal_integrator_renew(w->integrator);
	const CalStatus status = cal_integrator_step(w->integrator, &w->now, h);
	if (status == CAL_OK) {
		sim_scatter(sim);
		copy_state(w, &w->now, &w->after);
	}
	return status;
}

static double rounding(const SimWhole *w) { return 16 * DBL_EPSILON * fmax(fabs(w->before.t), fabs(w->after.t)); }

/* At the start of the step: what is ahead, and a step that is short enough for it. */
static CalStatus first_look(CalSim *sim, CalOutlook *outlook) {
	SimWhole *w = &sim->whole;
	const double h = w->after.t - w->before.t;
	show_state(sim, &w->before);
	CalStatus status = accelerations_ahead(sim, 0, h);
	if (status == CAL_OK)
		status = outlook_now(sim, h, outlook);
	const double most = fmax(outlook->step, rounding(w));
	return status == CAL_OK && most < h ? shorten(sim, most) : status;
}

static CalStatus next_look(CalSim *sim, double s, CalOutlook *outlook) {
	const SimWhole *w = &sim->whole;
	const double h = w->after.t - w->before.t;
	CalStatus status = events_state_at(sim, s);
	if (status == CAL_OK)
		status = accelerations_ahead(sim, s, h);
	return status == CAL_OK ? outlook_now(sim, h - s, outlook) : status;
}

/* Values at the start of what is looked at now, in whole.value; those of devices that mark where they looked changed. */
static CalStatus values_here(CalSim *sim, double s) {
	if (s == 0)
		show_state(sim, &sim->whole.before);
	return events_values(sim, sim->whole.value);
}

static CalStatus values_there(CalSim *sim, double s, bool end) {
	CalStatus status = CAL_OK;
	if (end)
		show_state(sim, &sim->whole.after);
	else
		status = events_state_at(sim, s);
	return status == CAL_OK ? events_values(sim, sim->whole.value_next) : status;
}

CalStatus watch_step(CalSim *sim, bool *crossed) {
	SimWhole *w = &sim->whole;
	CalOutlook outlook;
	copy_state(w, &w->now, &w->after);
	CalStatus status = first_look(sim, &outlook);
	const double h = w->after.t - w->before.t, shortest = fmax(SHORTEST_LOOK * h, rounding(w));
	if (status == CAL_OK && w->all_ahead && outlook.clear >= h) {
		show_state(sim, &w->after);
		return CAL_OK;
	}
	double here = 0, least = shortest;
	for (int looks = 0; status == CAL_OK; looks++) {
		double there = here + fmax(outlook.clear, least);
		const bool end = !(there < h - shortest);
		there = end ? h : there;
		least = outlook.clear < least ? 2 * least : shortest; // a value that stays near zero does not stop the run
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
		if (looks == MOST_LOOKS)
			return shorten(sim, here);
		status = next_look(sim, here, &outlook);
	}
	if (status != CAL_OK)
		show_state(sim, &w->before);
	return status;
}
