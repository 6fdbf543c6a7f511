// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_project.c — what steps leave open between the model and its subsystems, closed after the step
 * (docs/decisions/0021-black-boxes.md): as for loops, with the matrix of the forces.
 *
 *   positions   Lambda lambda = -g,  the model moves by M^-1 J'D_m lambda, the subsystem by its correct() of D_b lambda
 *   speeds      the same with the rates of the rows
 * What is closed to round-off is left alone, so that an adaptive method seldom has to start afresh.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "sim/subsystem.h"

enum { ITERATIONS = 4 };
static const double NEAR = 1e-11; // [m], [rad]: positions that are left as they are
static const double SLOW = 1e-10; // of speeds, relative to 1 m/s or 1 rad/s

/* The present states for observers, with the inputs of groups but no devices. */
static CalStatus open_context(CalSim *sim, CalEvalContext *context) {
	*context = context_now(sim, true);
	context->inputs = sim->system.inputs;
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		sim->system.inputs[i] = (CalInput){0};
		if (!group->motion && group->input &&
		    group->input(group->user, group->model, &group->state, &sim->system.inputs[i]) != 0) {
			sim->refused_group = i;
			return CAL_ERR_USER;
		}
	}
	return CAL_OK;
}

static double largest(const struct SimSubsystems *all, bool speeds) {
	double most = 0;
	for (int i = 0; i < all->row_count; i++)
		most = fmax(most, fabs(speeds ? all->values[i].rate : all->values[i].value));
	return most;
}

static CalStatus correct_model(CalEvalContext *context, bool speeds) {
	CalSim *sim = context->sim;
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *g = &sim->groups[i];
		if (!subsystems_touch(sim, i))
			continue;
		const CalStatus status = subsystems_response(context, i);
		if (status != CAL_OK)
			return status;
		if (!speeds)
			cal_config_integrate(g->model, g->state.q, g->udot, g->state.q);
		for (int k = 0; speeds && k < g->model->nu; k++)
			g->state.u[k] += g->udot[k];
	}
	return CAL_OK;
}

static CalStatus correct_subsystem(CalEvalContext *context, int device, bool speeds) {
	const struct SimSubsystems *all = context->sim->subsystems;
	Subsystem *subsystem = sim_subsystem(context->sim, device);
	const size_t size = (size_t)subsystem->def.interface_node_count * sizeof(CalSpatial);
	memset(subsystem->wrench, 0, size);
	memset(subsystem->none, 0, size);
	for (int r = 0; r < all->row_count; r++) {
		if (all->rows[r].device != device)
			continue;
		CalSpatial *sum = &subsystem->wrench[subsystem->ties[all->rows[r].tie].interface_node];
		*sum = spatial_out(spatial_madd(spatial_in(*sum), all->lambda[r], all->rows[r].on_subsystem));
	}
	const int code =
		subsystem->def.ops->correct(subsystem->def.self, context->t, speeds ? subsystem->none : subsystem->wrench,
	                                speeds ? subsystem->wrench : subsystem->none, context->sim->devices[device].x);
	return code != 0 ? subsystem_failed(context, device, "correct() failed") : CAL_OK;
}

/* One step for positions or speeds, if they are off by more than `enough`; *off: by how much. */
static CalStatus correct_once(CalSim *sim, bool speeds, double enough, double *off) {
	struct SimSubsystems *all = sim->subsystems;
	CalEvalContext context;
	CalStatus status = open_context(sim, &context);
	if (status == CAL_OK)
		status = subsystems_rows(&context, 1);
	*off = largest(all, speeds);
	if (status != CAL_OK || *off <= enough)
		return status;
	for (int i = 0; i < all->row_count; i++)
		all->z[i] = -(speeds ? all->values[i].rate : all->values[i].value);
	subsystems_multipliers(all);
	status = correct_model(&context, speeds);
	for (int i = 0; i < sim->device_count && status == CAL_OK; i++)
		if (sim->devices[i].active && sim_subsystem(sim, i))
			status = correct_subsystem(&context, i, speeds);
	return status;
}

CalStatus subsystems_project(CalSim *sim, bool *changed) {
	double off = INFINITY, before = INFINITY;
	CalStatus status = CAL_OK;
	for (int i = 0; i < ITERATIONS && status == CAL_OK; i++) {
		status = correct_once(sim, false, NEAR, &off);
		if (off <= NEAR || off >= 0.5 * before)
			break;
		*changed = true;
		before = off;
	}
	if (status == CAL_OK)
		status = correct_once(sim, true, SLOW, &off);
	*changed |= off > SLOW;
	return status;
}
