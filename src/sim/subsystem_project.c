// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_project.c — what steps leave open at ties, closed after the step [THEORY 6.5], level by level as the forces are:
 * the inner ties of a component by its own level, its edges by the level above.
 *
 *   positions   H lambda = -g,  groups move by M^-1 J'F, compiled subsystems by their correct() of F
 *   speeds      the same with the rates of the rows
 * Loops and driven dofs are held meanwhile. What is closed to round-off is left alone, so that an adaptive method seldom
 * has to start afresh.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "sim/subsystem.h"

enum { ITERATIONS = 4 };
static const double NEAR = 1e-11; // [m], [rad]: positions that are left as they are
static const double SLOW = 1e-10; // of speeds, relative to 1 m/s or 1 rad/s

/* Driven dofs are prescribed too. */
static void hold_driven(SimGroup *group, CalInput *input) {
	const uint8_t *given = input->prescribed ? input->prescribed : group->model->prescribed;
	if (group->drive_count == 0)
		return;
	for (int k = 0; k < group->model->nu; k++)
		group->held[k] = given[k] || group->driven[k];
	input->prescribed = group->held;
}

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
		hold_driven(group, &sim->system.inputs[i]);
	}
	return CAL_OK;
}

static double largest(const struct SimSubsystems *all, bool speeds) {
	double most = 0;
	for (int l = 0; l < all->level_count; l++) {
		const TieLevel *level = &all->levels[l];
		for (int i = 0; i < level->row_count; i++)
			most = fmax(most, fabs(speeds ? level->values[i].rate : level->values[i].value));
	}
	return most;
}

static CalStatus correct_groups(CalEvalContext *context, TiePurpose purpose) {
	const bool speeds = purpose != TIE_POSITIONS;
	CalSim *sim = context->sim;
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *g = &sim->groups[i];
		if (sim->subsystems->groups[i].count == 0 || g->motion)
			continue;
		const CalStatus status = tie_group_response(context, i, purpose);
		if (status != CAL_OK)
			return status;
		if (!speeds)
			cal_config_integrate(g->model, g->state.q, g->udot, g->state.q);
		for (int k = 0; speeds && k < g->model->nu; k++)
			g->state.u[k] += g->udot[k];
	}
	return CAL_OK;
}

static CalStatus correct_compiled(CalEvalContext *context, int device, bool speeds) {
	const Subsystem *subsystem = sim_subsystem(context->sim, device);
	subsystem_collect_wrenches(context->sim, device);
	memset(subsystem->none, 0, (size_t)subsystem->def.interface_node_count * sizeof *subsystem->none);
	const int code =
		subsystem->def.ops->correct(subsystem->def.self, context->t, speeds ? subsystem->none : subsystem->wrench,
	                                speeds ? subsystem->wrench : subsystem->none, context->sim->devices[device].x);
	return code != 0 ? subsystem_failed(context, device, "correct() failed") : CAL_OK;
}

/* One step for positions, speeds or impulses, if they are off by more than `enough`; *off: by how much. */
static CalStatus correct_once(CalSim *sim, TiePurpose purpose, double enough, double *off) {
	const bool speeds = purpose != TIE_POSITIONS;
	struct SimSubsystems *all = sim->subsystems;
	CalEvalContext context;
	CalStatus status = open_context(sim, &context);
	if (status == CAL_OK)
		status = subsystems_wrenches(&context, TIE_VALUES);
	*off = largest(all, speeds);
	if (status != CAL_OK || *off <= enough)
		return status;
	status = subsystems_wrenches(&context, purpose);
	if (status == CAL_OK)
		status = correct_groups(&context, purpose);
	for (int i = 0; i < sim->device_count && status == CAL_OK; i++) {
		const Subsystem *subsystem = sim_active_subsystem(sim, i);
		if (subsystem && subsystem_is_compiled(subsystem))
			status = correct_compiled(&context, i, speeds);
	}
	return status;
}

bool subsystems_take_impulses(const CalSim *sim) { return !sim->subsystems || sim->subsystems->corrects; }

/* Of all groups and devices. */
static double energy_of_all(CalSim *sim) {
	double energy = balance_stored(sim);
	for (int i = 0; i < sim->group_count; i++)
		energy += balance_energy(&sim->groups[i]);
	return energy;
}

double subsystems_pass_impulse(CalSim *sim) {
	enum { ROUNDS = 3 }; // the second is for the last digits
	double off = INFINITY;
	if (!sim->subsystems)
		return 0;
	const double before = energy_of_all(sim);
	for (int i = 0; i < ROUNDS && off > 0; i++)
		if (correct_once(sim, TIE_IMPULSES, 1e-15, &off) != CAL_OK)
			break; // the next step refuses it
	const double lost = before - energy_of_all(sim);
	balance_add_loss(sim, lost);
	return lost;
}

CalStatus subsystems_project(CalSim *sim, bool *changed) {
	double off = INFINITY, before = INFINITY;
	CalStatus status = CAL_OK;
	for (int i = 0; i < ITERATIONS && status == CAL_OK; i++) {
		status = correct_once(sim, TIE_POSITIONS, NEAR, &off);
		if (off <= NEAR || off >= 0.5 * before)
			break;
		*changed = true;
		before = off;
	}
	sim->subsystems->left_open = off;
	if (status == CAL_OK)
		status = correct_once(sim, TIE_SPEEDS, SLOW, &off);
	*changed |= off > SLOW;
	return status;
}
