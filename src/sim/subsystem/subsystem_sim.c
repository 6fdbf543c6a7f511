// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_sim.c — a simulation with one group as a compiled subsystem: its model (sim/subsystem/subsystem_model.h) with the inputs
 * and devices that act in it.
 *
 * Forces, rates and accounts are those that its own integrator would ask for at the state. Values whose signs are watched, and
 * for how long they surely keep them, are asked for at present states; so these are set to the state at hand. Devices that
 * change anything at certain times are refused: nobody would call them.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "sim/subsystem/subsystem_model.h"
#include "model/model.h"
#include "sim/subsystem/subsystem.h"

/* ---- what acts ---------------------------------------------------------------------------------------------------- */

static void set_state(CalSim *sim, const CalState *at) {
	SimGroup *group = &sim->groups[0];
	const double *x = at->x;
	group->state.t = at->t;
	memcpy(group->state.q, at->q, (size_t)group->model->nq * sizeof *x);
	memcpy(group->state.u, at->u, (size_t)group->model->nu * sizeof *x);
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		if (device->def.nx > 0)
			memcpy(device->x, x + device->x_at, (size_t)device->def.nx * sizeof *x);
	}
}

static CalStatus start_acting(void *user, const CalState *at, double *x) {
	CalSim *sim = user;
	memset(at->x, 0, (size_t)(sim->system.nx - ACCOUNTS) * sizeof *x);
	set_state(sim, at);
	for (int i = 0; i < sim->device_count; i++)
		sim->devices[i].started = false;
	const CalStatus status = sim_start_devices(sim);
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		if (device->def.nx > 0)
			memcpy(x + device->x_at, device->x, (size_t)device->def.nx * sizeof *x);
	}
	return status;
}

static CalStatus evaluate_acting(void *user, const CalState *at, CalInput *input, double *xdot,
                                 CalSubsystemEnergy *energy) {
	CalSim *sim = user;
	CalEvalContext context;
	const CalStatus status = sim_evaluate_at(sim, at, input, &context);
	if (xdot)
		memcpy(xdot, sim->system.xdot, (size_t)(sim->system.nx - ACCOUNTS) * sizeof *xdot);
	*energy = (CalSubsystemEnergy){.stored = context.stored,
	                               .dissipated = context.dissipated,
	                               .supplied = context.supplied,
	                               .linear = context.linear,
	                               .angular = context.angular};
	return status;
}

static CalStatus find_values(void *user, const CalState *at, double *value) {
	set_state(user, at);
	return events_values(user, value);
}

static CalStatus look_ahead(void *user, const CalState *at, const double *udot, CalLookahead *lookahead) {
	CalSim *sim = user;
	set_state(sim, at);
	memcpy(sim->system.udot, udot, (size_t)sim->system.nu * sizeof *udot);
	return watch_ahead(sim, lookahead->horizon, lookahead);
}

static double next_switch(void *user, double t) { return sim_next_switch(user, t); }

static int find_doubt(void *user, int index, CalDoubt *doubt) { return cal_sim_doubt(user, index, doubt) == CAL_OK; }

static const char *explain(void *user) { return ((const CalSim *)user)->why_failed; }

/* ---- making one --------------------------------------------------------------------------------------------------- */

static const char *refused_device(const SimDevice *device) {
	const CalDeviceOps *ops = device->def.ops;
	return !device->active                 ? "has not found its objects, or is switched off"
	       : device->def.sample_period > 0 ? "samples"
	       : device->def.nd > 0            ? "has discrete states"
	       : ops->event                    ? "switches its states at events"
	       : ops->drive                    ? "drives a degree of freedom"
	                                       : NULL;
}

/* What a subsystem cannot have inside; CAL_OK: nothing. */
static CalStatus check_contents(const CalSim *sim, CalError *error) {
	static const char CANNOT[] = "which a compiled subsystem cannot have inside; keep it as a component instead";
	if (sim->group_count != 1)
		return error_set(error, CAL_ERR_UNSUPPORTED, "the subsystem has a second group (\"%.100s\"), %s",
		                 cal_model_name(sim->groups[1].model), CANNOT);
	if (sim->groups[0].motion)
		return error_set(error, CAL_ERR_UNSUPPORTED, "the group of the subsystem moves as given, %s", CANNOT);
	if (sim->subsystems)
		return error_set(error, CAL_ERR_UNSUPPORTED, "the subsystem has another one in it, \"%.100s\", %s",
		                 subsystems_first(sim), CANNOT);
	if (sim->event_count > 0)
		return error_set(error, CAL_ERR_UNSUPPORTED, "the subsystem has the event \"%.100s\", %s",
		                 sim->events[0].def.name, CANNOT);
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		const char *refused = refused_device(device);
		if (refused)
			return error_set(error, CAL_ERR_UNSUPPORTED, "the device \"%.100s\" (%.40s) %s, %s", device->def.name,
			                 device->def.ops->type, refused, CANNOT);
	}
	return CAL_OK;
}

CalStatus cal_subsystem_from_sim(CalSim *sim, const int *nodes, int count, const CalModelSubsystemOptions *options,
                                 CalSubsystemDef *def, CalError *error) {
	if (!sim || !nodes || count < 1 || !def)
		return error_set(
			error, CAL_ERR_ARGUMENT,
			"cal_subsystem_from_sim: give a simulation, its interface nodes and a place for the subsystem");
	CalStatus status = check_contents(sim, error);
	if (status == CAL_OK && !sim->started)
		status = cal_sim_restart(sim, error);
	if (status != CAL_OK)
		return status;
	CalModelSubsystemOptions own = options ? *options : (CalModelSubsystemOptions){0};
	own.state = &sim->groups[0].state;
	const ModelActing acting = {.nx = sim->system.nx - ACCOUNTS,
	                            .wrench_count = sim->system.wrench_capacity,
	                            .event_count = sim->system.value_count,
	                            .user = sim,
	                            .start = start_acting,
	                            .evaluate = evaluate_acting,
	                            .values = find_values,
	                            .lookahead = look_ahead,
	                            .next_switch = next_switch,
	                            .doubt = find_doubt,
	                            .explain = explain};
	return subsystem_of_model("cal_subsystem_from_sim", sim->groups[0].model, nodes, count, &own, &acting, def, error);
}
