// SPDX-License-Identifier: Apache-2.0
/*
 * advance.c — moving all groups and devices of a simulation forward in time.
 *
 * Where an input or a device jumps, a device samples or an event is due, steps end and the integrator starts afresh
 * after it, so that a method keeps its order across jumps (docs/decisions/0005). Between two such times the integrator
 * runs on by itself, unless there are values whose signs have to be watched: then the steps are taken one by one.
 */
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <calder/sim.h>

#include "base/error.h"
#include "component/mechanism_motion.h"
#include "integrate/scheme.h"
#include "model/model.h"
#include "sim/assemble.h"

typedef struct Clocks {
	double wall, cpu; // [s]
} Clocks;

static double seconds(clockid_t clock) {
	struct timespec now = {0};
	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static Clocks clocks_now(void) { return (Clocks){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)}; }

static void clocks_add(CalSim *sim, Clocks since) {
	Clocks now = clocks_now();
	sim->wall_s += now.wall - since.wall;
	sim->cpu_s += now.cpu - since.cpu;
}

/* ---- failures ---------------------------------------------------------------------------------- */

static const char *remedy(CalStatus status) {
	switch (status) {
	case CAL_SINGULAR:
		return "give the bodies beyond the joint mass and inertia, or the joint a rotor inertia; if two axes of the joint "
			   "are parallel now (gimbal lock), take a spherical joint";
	case CAL_NOT_FINITE:
		return "the motion or a load grew without bound; try a smaller step and look at the loads";
	case CAL_STEP_TOO_SMALL:
		return "loosen rtol and atol, or look for a jump in the loads or a very stiff spring";
	case CAL_TOO_MANY_STEPS:
		return "raise max_steps, or loosen rtol and atol";
	case CAL_NOT_CONVERGED:
		return "take a smaller step; if that does not help, look for a motion that the loops do not allow";
	case CAL_ERR_STAGE:
		return "a device can push only in evaluate()";
	case CAL_ERR_USER:
		return "see what the function refuses at this time";
	default:
		return "check the arguments of the call";
	}
}

static CalStatus report_group(const SimGroup *group, CalStatus status, CalError *error) {
	if (!error || status == CAL_OK)
		return status;
	char joint[160] = "";
	CalError fault = {0};
	if (status > 0 && mechanism_last_fault(group->model, group->work, &fault) != CAL_OK)
		return error_set(error, status, "group \"%s\", after t = %.9g s: %s", cal_model_name(group->model),
		                 group->state.t, fault.text);
	int dof = group->branches ? cal_branches_failed_dof(group->branches) : -1;
	dof = dof >= 0 ? dof : cal_work_failed_dof(group->work);
	if ((status == CAL_SINGULAR || status == CAL_NOT_FINITE) && dof >= 0) {
		char name[96] = "";
		cal_model_dof_name(group->model, dof, name, sizeof name);
		snprintf(joint, sizeof joint, ", joint \"%s\"", name);
	}
	const bool light = status == CAL_NOT_CONVERGED && group_lost_digits(group);
	if (status == CAL_NOT_CONVERGED && !light)
		group_worst_row(group, joint, sizeof joint);
	return error_set(error, status, "group \"%s\", t = %.9g s%s: %s; %s", cal_model_name(group->model), group->state.t,
	                 joint, cal_status_text(status),
	                 status == CAL_ERR_USER && group_lacks_function(group)
	                     ? "it has none: give it its input or motion again, as before the checkpoint"
	                 : light ? "inertias along a loop differ by more than the numbers can resolve: give its lightest "
	                           "bodies more mass, or leave them out"
	                         : remedy(status));
}

/* The same, or what the function that moves the group said. */
static CalStatus report_moved(const CalSim *sim, const SimGroup *group, CalStatus status, CalError *error) {
	if (status != CAL_ERR_USER || !group->motion || !sim->why_failed[0])
		return report_group(group, status, error);
	return error_set(error, status, "group \"%s\", t = %.9g s: %s", cal_model_name(group->model), group->state.t,
	                 sim->why_failed);
}

static CalStatus report_device(const CalSim *sim, CalStatus status, CalError *error) {
	const CalDeviceDef *def = &sim->devices[sim->failed_device].def;
	if (sim->why_failed[0])
		return error_set(error, status, "device \"%s\" (%s), t = %.9g s: %s", def->name, def->ops->type,
		                 cal_sim_time(sim), sim->why_failed);
	return error_set(error, status, "device \"%s\" (%s), t = %.9g s: %s; %s", def->name, def->ops->type,
	                 cal_sim_time(sim), cal_status_text(status),
	                 status == CAL_ERR_ARGUMENT
	                     ? "does it push more wrenches than its wrench_count, or does the input of "
	                       "a group have more than CalSimOptions.input_wrenches?"
	                     : remedy(status));
}

/* Of a failed step: whoever it came from. */
static CalStatus report(const CalSim *sim, CalStatus status, CalError *error) {
	if (status == CAL_OK || !error)
		return status;
	if (sim->failed_device >= 0)
		return report_device(sim, status, error);
	char fault[300];
	if (loop_drives_fault(sim, fault, sizeof fault))
		return error_set(error, status, "t = %.9g s: %s", cal_sim_time(sim), fault);
	int group = cal_integrator_failed_dof(sim->system.integrator);
	group = group < 0 && sim->refused_group >= 0 ? sim->refused_group : group;
	if (group >= 0 || sim->group_count == 1)
		return report_moved(sim, &sim->groups[group < 0 ? 0 : group], status, error);
	return error_set(error, status, "t = %.9g s: %s; %s", cal_sim_time(sim), cal_status_text(status), remedy(status));
}

/* The same; a device may know why no step was small enough. The states are those before that step. */
static CalStatus report_step(CalSim *sim, CalStatus status, CalError *error) {
	if (status == CAL_STEP_TOO_SMALL && sim->failed_device < 0)
		devices_explain_small_step(sim, sim->system.integrator->control.h_min);
	return report(sim, status, error);
}

/* ---- stretches --------------------------------------------------------------------------------- */

/* A stretch of time without a jump inside. */
typedef struct NextTimes {
	double end;
	bool inputs, devices, events, loops, update; // what jumps, samples or happens at its end
} NextTimes;

static double inputs_next_switch(const CalSim *sim, double t) {
	double next = INFINITY;
	for (int i = 0; i < sim->group_count; i++) {
		const SimGroup *group = &sim->groups[i];
		double own = group->next_switch ? group->next_switch(group->user, t) : INFINITY;
		next = own > t ? fmin(next, own) : next;
	}
	return next;
}

static NextTimes stretch_from(const CalSim *sim, double t, double limit) {
	double inputs = inputs_next_switch(sim, t), devices = devices_next_switch(sim, t);
	double events = events_next_time(sim, t), loops = loop_drives_next_switch(sim, t);
	double update = formulation_next(sim, limit);
	double end = fmin(fmin(fmin(inputs, devices), fmin(fmin(events, loops), update)), limit);
	return (NextTimes){.end = end,
	                   .inputs = inputs == end,
	                   .devices = devices == end,
	                   .events = events == end,
	                   .update = update == end,
	                   .loops =
	                       loops <= end + drive_beside(end)}; // of a kink by roundings after the end there is no other
}

double sim_next_switch(const CalSim *sim, double t) { return stretch_from(sim, t, INFINITY).end; }

/* After a jump the last evaluation, from the left of it, must not be used again. */
static CalStatus stretch_leave(CalSim *sim, NextTimes stretch, CalError *error) {
	CalStatus status = CAL_OK;
	if (sim->groups[0].state.t != stretch.end)
		return CAL_OK;
	if (stretch.inputs)
		cal_integrator_reset(sim->system.integrator);
	if (stretch.loops) {
		loop_drives_switch(sim, stretch.end);
		cal_integrator_renew(sim->system.integrator);
	}
	if (stretch.devices) {
		drives_switch(sim, stretch.end);
		status = report(sim, devices_sample(sim, stretch.end), error);
		cal_integrator_renew(sim->system.integrator);
	}
	if (status == CAL_OK && stretch.events) {
		status = events_happen(sim, false, error);
		cal_integrator_reset(sim->system.integrator);
	}
	sim->system.values_known &= !(stretch.inputs || stretch.devices || stretch.events || stretch.loops);
	return status;
}

/* ---- steps ------------------------------------------------------------------------------------- */

static CalStatus say_chatter(CalSim *sim, CalError *error) {
	int device, event;
	const int value = events_owner(sim, sim->system.crossed_value, &device, &event);
	if (device < 0)
		return error_set(
			error, CAL_STEP_TOO_SMALL,
			"event \"%s\", t = %.9g s: its value changes its sign again and again within no time; make what it "
			"watches smooth, or let it happen once",
			event >= 0 ? sim->events[event].def.name : "", cal_sim_time(sim));
	const SimDevice *d = &sim->devices[device];
	const char *text = d->def.ops->value_text ? d->def.ops->value_text(&d->is, value) : NULL;
	char number[32];
	snprintf(number, sizeof number, "value %d", value);
	return error_set(
		error, CAL_STEP_TOO_SMALL,
		"device \"%s\" (%s), t = %.9g s: %s switches back and forth and time stands still (chattering): each side pushes "
		"the motion back to the other; make the jump smooth, as smooth_sign(x, width) does for sign(x), or use "
		"a friction device for friction that holds",
		d->def.name, d->def.ops->type, cal_sim_time(sim), text ? text : number);
}

/* Between two crossings that follow one another at once: pass() in events.c follows one for up to 2^12 tolerances. */
static const double AT_ONCE_TOLERANCES = 1e4;

/* A motion that every crossing sends back to the next one gets nowhere: time passes by roundings only. */
static bool chatters(CalSim *sim) {
	enum { AT_ONCE = 100 };
	SimSystem *w = &sim->system;
	const double t = w->now.t;
	const bool at_once = fabs(t - w->crossed_at) < AT_ONCE_TOLERANCES * events_tolerance(sim);
	w->chattered = at_once ? w->chattered + 1 : 0;
	w->crossed_at = t;
	return w->chattered >= AT_ONCE;
}

/* No step is possible at all from where a value has just changed its sign. */
static bool is_stuck(const CalSim *sim, CalStatus status) {
	const SimSystem *w = &sim->system;
	return status == CAL_STEP_TOO_SMALL &&
	       fabs(w->before.t - w->crossed_at) < AT_ONCE_TOLERANCES * events_tolerance(sim);
}

/* Whether steps have become so short that a run does not end: an adaptive method before a jump that nobody declares. */
static bool stalls(CalSim *sim, double limit) {
	enum { STEPS = 200000 };
	SimSystem *w = &sim->system;
	const double t = w->now.t;
	const bool stands = t >= w->stalled_at && t - w->stalled_at <= 1e-6 * (limit - w->stalled_at);
	if (method_is_fixed(sim->method.method) || !stands) {
		w->stalled_at = t;
		w->stalled = 0;
	}
	return ++w->stalled > STEPS;
}

static CalStatus values_begin(CalSim *sim) {
	SimSystem *w = &sim->system;
	CalStatus status = w->values_known || w->watching ? CAL_OK : events_values(sim, w->value);
	w->values_known = status == CAL_OK;
	w->before.t = w->now.t;
	memcpy(w->before.q, w->now.q, (size_t)w->nq * sizeof(double));
	memcpy(w->before.u, w->now.u, (size_t)w->nu * sizeof(double));
	memcpy(w->before.x, w->now.x, (size_t)w->nx * sizeof(double));
	return status;
}

/* After a step: locates the first crossing in it, if there is one, and lets it happen. */
static CalStatus values_end(CalSim *sim, CalError *error) {
	SimSystem *w = &sim->system;
	bool crossed = false;
	CalStatus status = w->watching ? watch_step(sim, &crossed) : events_values(sim, w->value_next);
	if (status == CAL_OK && !w->watching && events_crossed(sim)) {
		crossed = true;
		status = events_locate(sim, 0, w->now.t - w->before.t, w->now.t);
	}
	if (status == CAL_OK && !crossed) {
		double *old = w->value;
		w->value = w->value_next;
		w->value_next = old;
		return CAL_OK;
	}
	w->values_known = w->soft_known = false;
	if (is_stuck(sim, status))
		return say_chatter(sim, error);
	if (status != CAL_OK)
		return report(sim, status, error);
	if (chatters(sim))
		return say_chatter(sim, error);
	status = events_happen(sim, true, error);
	cal_integrator_reset(sim->system.integrator);
	return sim->failed_device >= 0 ? report(sim, status, error) : status;
}

void cal_sim_watch(CalSim *sim, CalWatchFn watch, void *user, double due) {
	if (!sim)
		return;
	sim->watch = watch;
	sim->watch_user = user;
	sim->watch_due = watch ? due : INFINITY;
}

/* On ranks nobody: the states of others are known where an advance ends. */
static bool is_watched(const CalSim *sim) { return sim->watch && !sim->ranks; }

/* States of groups and devices are those after the step. */
static void call_watcher(CalSim *sim) {
	if (is_watched(sim) && cal_sim_time(sim) >= sim->watch_due)
		sim->watch_due = sim->watch(sim->watch_user, sim);
}

static void scatter_and_watch(void *user, const CalState *state) {
	CalSim *sim = user;
	if (accuracy_wants_steps(sim))
		accuracy_note_step(sim, state);
	const bool shown = is_watched(sim) && state->t >= sim->watch_due;
	if (!shown && !sim->system.soft_known)
		return;
	sim_scatter(sim);
	jumps_note_step(sim);
	if (shown)
		call_watcher(sim);
}

/* Rotational springs of joints with a quaternion have no law beyond half a turn: their moment jumps there. */
static void note_half_turns(CalSim *sim) {
	static const double pi = 3.14159265358979323846;
	CalIntegrator *integrator = sim->system.integrator;
	if (integrator->turned_part < 0)
		return;
	char name[96] = "", object[128];
	cal_model_dof_name(sim->groups[integrator->turned_part].model, integrator->turned_u, name, sizeof name);
	char *end = strrchr(name, '.');
	if (end)
		*end = 0;
	snprintf(object, sizeof object, "joint \"%s\"", name);
	doubts_note(
		&sim->doubts, CAL_DOUBT_RANGE, object, integrator->turned_at, pi, 0.5 * pi,
		"the spring of %s turned over at t = %.6g s: at half a turn its moment jumps from one side to the other; it is for "
		"smaller angles; take revolute joints for more",
		object, integrator->turned_at);
	integrator->turned_part = -1;
}

/* One step; a rest that is no more than the roundings of many steps is swallowed, so that no step has its size. */
static CalStatus step_once(CalSim *sim, double t_end, CalError *error) {
	SimSystem *w = &sim->system;
	sim_gather(sim);
	const bool looked_at = w->value_count > 0 || w->watching;
	CalStatus status = looked_at ? values_begin(sim) : CAL_OK;
	double t = w->now.t, h = t_end - t, rounding = 4 * DBL_EPSILON * fmax(fabs(t), fabs(t_end));
	if (method_is_fixed(sim->method.method) && sim->method.step * (1 + 1e-9) + rounding < h)
		h = sim->method.step;
	if (status == CAL_OK)
		status = cal_integrator_step(w->integrator, &w->now, h);
	if (status == CAL_OK && fabs(t_end - w->now.t) <= rounding)
		w->now.t = t_end;
	if (status == CAL_OK && stalls(sim, t_end))
		status = CAL_STEP_TOO_SMALL;
	if (looked_at && is_stuck(sim, status))
		return say_chatter(sim, error);
	if (status != CAL_OK)
		return report_step(sim, status, error);
	sim_scatter(sim);
	if (accuracy_wants_steps(sim))
		accuracy_note_step(sim, &w->now);
	jumps_note_step(sim);
	note_half_turns(sim);
	if (subsystems_commit_steps(sim) && (status = subsystems_commit(sim)) != CAL_OK)
		return report(sim, status, error);
	status = looked_at ? values_end(sim, error) : CAL_OK;
	if (status == CAL_OK)
		call_watcher(sim);
	return status;
}

/* No more than `most` steps. */
static CalStatus run_to(CalSim *sim, double t_end, int64_t most, CalError *error) {
	CalIntegrator *integrator = sim->system.integrator;
	const int64_t usual = integrator->options.max_steps;
	sim_gather(sim);
	integrator->options.max_steps = most;
	integrator->stop = sim->stop; // here only: the search for an event must not end early
	const bool noted = is_watched(sim) || accuracy_wants_steps(sim) || sim->system.soft_known;
	integrator_watch(integrator, noted ? scatter_and_watch : NULL, sim);
	CalStatus status = cal_integrator_advance(integrator, &sim->system.now, t_end);
	integrator_watch(integrator, NULL, NULL);
	integrator->stop = NULL;
	integrator->options.max_steps = usual;
	sim_scatter(sim);
	note_half_turns(sim);
	return report_step(sim, status, error);
}

CalStatus sim_move(CalSim *sim, double limit, bool single, CalError *error) {
	CalStatus status = CAL_OK;
	const int64_t last = sim_counts(sim).steps + cal_integrator_options(&sim->method).max_steps;
	sim->refused_group = sim->failed_device = -1;
	sim->moving = true;
	sim->restored = false;
	sim->why_failed[0] = 0;
	sim->system.values_known = sim->system.soft_known = false;
	if (events_due(sim))
		status = events_happen(sim, false, error);
	while (status == CAL_OK && cal_sim_time(sim) < limit) {
		status = report(sim, formulation_update(sim), error);
		if (status != CAL_OK)
			break;
		NextTimes stretch = stretch_from(sim, cal_sim_time(sim), limit);
		const bool one_by_one =
			single || sim->system.value_count > 0 || sim->system.watching || subsystems_commit_steps(sim);
		const int64_t left = last - sim_counts(sim).steps;
		jumps_begin(sim);
		if (left <= 0)
			status = report(sim, CAL_TOO_MANY_STEPS, error);
		else
			status = one_by_one ? step_once(sim, stretch.end, error) : run_to(sim, stretch.end, left, error);
		const double now = cal_sim_time(sim);
		if (now == stretch.end)
			sim->system.soft_known = false; // what happens there is no jump within a step
		const bool cut = now == limit || (stretch.update && now == stretch.end);
		if (status == CAL_OK && cut && !stretch.inputs && !stretch.devices && !stretch.events && !stretch.loops)
			examine_note_shortened_step(sim);
		if (status == CAL_OK)
			status = stretch_leave(sim, stretch, error);
		if (single || (sim->stop && *sim->stop))
			break;
	}
	sim->moving = false;
	return status;
}

static CalStatus begin_advance(CalSim *sim, double t_end, CalError *error) {
	double t = cal_sim_time(sim);
	if (!isfinite(t_end) || t_end < t)
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cannot advance from t = %.9g s to t = %.9g s; time only runs forward", t, t_end);
	if (!sim->system.integrator && !sim->adding) { // an earlier one could not be made: memory was short
		const CalStatus status = sim_bind(sim);
		if (status != CAL_OK)
			return error_set(error, status, "cannot set up the integrator: %s", cal_status_text(status));
	}
	return sim->started && !sim->adding ? CAL_OK : cal_sim_restart(sim, error);
}

CalStatus cal_sim_advance(CalSim *sim, double t_end, CalError *error) {
	if (!sim)
		return error_null(error, __func__, "sim");
	CalStatus status = begin_advance(sim, t_end, error);
	if (status != CAL_OK)
		return status;
	Clocks since = clocks_now();
	status = sim->ranks ? distribute_move(sim, t_end, false, error) : sim_move(sim, t_end, false, error);
	clocks_add(sim, since);
	return status;
}

CalStatus cal_sim_step(CalSim *sim, double t_limit, CalError *error) {
	if (!sim)
		return error_null(error, __func__, "sim");
	CalStatus status = begin_advance(sim, t_limit, error);
	if (status != CAL_OK || t_limit == cal_sim_time(sim))
		return status;
	Clocks since = clocks_now();
	status = sim->ranks ? distribute_move(sim, t_limit, true, error) : sim_move(sim, t_limit, true, error);
	clocks_add(sim, since);
	return status;
}

CalStatus cal_sim_advance_past(CalSim *sim, double t, double t_limit, CalError *error) {
	if (!sim)
		return error_null(error, __func__, "sim");
	CalStatus status = CAL_OK;
	while (status == CAL_OK && cal_sim_time(sim) < fmin(t, t_limit) && !(sim->stop && *sim->stop))
		status = cal_sim_step(sim, t_limit, error);
	return status;
}

static CalStatus assemble_group(SimGroup *group, CalProjectReport *left, CalError *error) {
	const CalStatus status = group_assemble(group, left, error);
	return status == CAL_NOT_CONVERGED ? status : report_group(group, status, error); // that has been reported
}

CalStatus cal_sim_assemble(CalSim *sim, int group, CalProjectReport *left, CalError *error) {
	CalProjectReport own;
	if (!sim || group < 0 || group >= sim->group_count)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_assemble: there is no group %d", group);
	CalStatus status = report(sim, drives_start_group(sim, group), error);
	if (status == CAL_OK)
		status = assemble_group(&sim->groups[group], left ? left : &own, error);
	if (status == CAL_OK && sim->groups[group].assembly)
		sim->groups[group].assembly->accepted = true;
	return status;
}

/* As cal_sim_assemble() does, unless that moves what was stated too far: then the state stays as it was given. */
static CalStatus assemble_start(CalSim *sim, SimGroup *group, CalError *error) {
	CalProjectReport left;
	Assembly *a = group->assembly;
	CalStatus status = assemble_group(group, &left, error);
	if (status != CAL_OK || !a)
		return status;
	if (a->accepted) {
		assembly_doubt(group, &sim->doubts);
		return CAL_OK;
	}
	status = assembly_check(group, sim->assembly_limit, error);
	if (status == CAL_OK)
		assembly_doubt(group, &sim->doubts);
	if (status != CAL_OK) {
		memcpy(group->state.q, a->q_given, (size_t)cal_model_q_count(group->model) * sizeof(double));
		memcpy(group->state.u, a->u_given, (size_t)cal_model_u_count(group->model) * sizeof(double));
		a->known = false;
	}
	return status;
}

/* Modes that the propagation of their group holds have no speed; coordinates of embedded mechanisms are no modes. */
static CalStatus check_held_modes(const SimGroup *group, CalError *error) {
	const CalModel *model = group->model;
	for (int i = 0; model->propagation != CAL_PROPAGATE_FLEXIBLE && i < model->flex_count; i++) {
		const Flex *flex = &model->flexes[i];
		for (int k = 0; k < flex->m; k++) {
			if (group->state.u[flex->u + k] != 0 && !flex->neutral)
				return error_set(error, CAL_ERR_MODEL,
				                 "group \"%s\" is propagated %s: mode %d of body \"%s\" cannot start with the speed "
				                 "%.3g; give 0, or switch the propagation in the run",
				                 model->name, cal_propagation_name(model->propagation), k + 1,
				                 model->bodies[flex->body].name, group->state.u[flex->u + k]);
		}
	}
	return CAL_OK;
}

/* One group at its start: on its loops, or where its motion says. */
static CalStatus restart_group(CalSim *sim, SimGroup *group, CalError *error) {
	if (group->state.t != cal_sim_time(sim))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "group \"%s\" is at t = %.9g s and group \"%s\" at %.9g s; give all "
		                 "states the same time",
		                 cal_model_name(group->model), group->state.t, cal_model_name(sim->groups[0].model),
		                 cal_sim_time(sim));
	if (group->motion)
		return report_moved(sim, group, group_impose(group), error);
	CalStatus status = check_held_modes(group, error);
	if (status == CAL_OK)
		status = report_group(group, cal_config_normalize(group->model, group->state.q), error);
	return status == CAL_OK ? assemble_start(sim, group, error) : status;
}

CalStatus cal_sim_restart(CalSim *sim, CalError *error) {
	if (!sim)
		return error_null(error, __func__, "sim");
	if (sim->adding)
		return error_set(error, CAL_ERR_ARGUMENT, "devices are being added; call cal_sim_end_adding() first");
	CalStatus status = CAL_OK;
	sim->refused_group = sim->failed_device = -1;
	sim->why_failed[0] = 0;
	if (sim->started)
		sim->doubts = (SimDoubts){0};
	sim->energy_moved = sim->shortened_smallest = 0;
	sim->shortened_steps = sim->probed_at = 0;
	sim->probed = false;
	sim->coarse = (CalDoubt){0};
	sim->coarse_at = 0;
	sim->jumps = (SimJumps){0};
	accuracy_restart(sim);
	formulation_restart(sim);
	status = report(sim, drives_start(sim), error);
	for (int i = 0; i < sim->group_count; i++)
		examine_forget_loops(&sim->groups[i]);
	for (int i = 0; i < sim->group_count && status == CAL_OK; i++)
		status = restart_group(sim, &sim->groups[i], error);
	if (status == CAL_OK)
		status = report(sim, subsystems_fit(sim), error);
	if (status == CAL_OK)
		status = report(sim, sim_start_devices(sim), error);
	if (status == CAL_OK)
		status = report(sim, subsystems_start(sim), error);
	for (int i = 0; i < sim->group_count && status == CAL_OK; i++)
		status = report_group(&sim->groups[i], group_start(&sim->groups[i]), error);
	if (status == CAL_OK)
		status = report(sim, balance_start(sim), error);
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < sim->event_count; i++) {
		SimEvent *event = &sim->events[i];
		event->spent = event->value_at < 0 && event->def.time < cal_sim_time(sim);
		event->happened = 0;
		event->last = NAN;
	}
	cal_integrator_reset(sim->system.integrator);
	sim->start_stats = sim_counts(sim);
	sim->started = 1;
	sim->start_time = cal_sim_time(sim);
	sim->wall_s = 0;
	sim->cpu_s = 0;
	return CAL_OK;
}

CalSimStats cal_sim_stats(const CalSim *sim) {
	if (!sim)
		return (CalSimStats){0};
	CalSimStats stats = {.wall_s = sim->wall_s, .cpu_s = sim->cpu_s};
	if (!sim->started)
		return stats;
	const CalIntegratorStats now = sim_counts(sim);
	stats.steps = now.steps - sim->start_stats.steps;
	stats.rejected = now.rejected - sim->start_stats.rejected;
	stats.evaluations = now.evaluations - sim->start_stats.evaluations;
	stats.time = cal_sim_time(sim) - sim->start_time;
	stats.real_time_factor = sim->wall_s > 0 ? stats.time / sim->wall_s : 0;
	return stats;
}
