// SPDX-License-Identifier: Apache-2.0
/*
 * driven_dofs.c — devices that give single degrees of freedom of a group as functions of time, within its dynamics.
 *
 * The coordinate and the speed are set from the function at every stage and at the end of every step, and are not
 * integrated: they do not drift. The acceleration is prescribed (hybrid dynamics), which gives the force that it takes;
 * force times speed is the power that the drive supplies. Loops are projected with what is driven held.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "integrate/scheme.h"
#include "model/model.h"
#include "sim/sim_internal.h"

static const double JUMP = 1e-6;     // of a coordinate or a speed that a drive may correct when it is switched on
static const double DOUBTFUL = 1e-3; // difference of a start that was given from its drive

static bool for_each_drive(const SimDevice *device) { return device->active && device->def.ops->drive; }

static int drive_at(CalSim *sim, int i, double t, CalDofRef *dof_ref, double jet[3]) {
	const SimDevice *device = &sim->devices[i];
	const int code = device->def.ops->drive(&device->is, t, dof_ref, jet);
	if (code == 0 && isfinite(jet[0]) && isfinite(jet[1]) && isfinite(jet[2]))
		return 0;
	snprintf(sim->why_failed, sizeof sim->why_failed,
	         "its function is not finite at t = %.9g s, or its rate or acceleration is not", t);
	sim->failed_device = i;
	return 1;
}

/* A CalPrescribedFn: sets driven coordinates and speeds. user is the CalSim. */
static int drives_impose(void *user, const CalModel *model, double t, double *q, double *u) {
	CalSim *sim = user;
	for (int i = 0; i < sim->device_count; i++) {
		CalDofRef at;
		double jet[3];
		if (!for_each_drive(&sim->devices[i]))
			continue;
		if (drive_at(sim, i, t, &at, jet) != 0)
			return 1;
		if (sim->groups[at.group].model == model) {
			q[at.q] = jet[0];
			u[at.u] = jet[1];
		}
	}
	return 0;
}

void drives_bind(CalSim *sim) {
	for (int g = 0; g < sim->group_count; g++) {
		sim->groups[g].drive_count = 0;
		memset(sim->groups[g].driven, 0, (size_t)sim->groups[g].model->nu);
	}
	for (int i = 0; i < sim->device_count; i++) {
		CalDofRef at;
		double jet[3];
		if (!for_each_drive(&sim->devices[i]) ||
		    sim->devices[i].def.ops->drive(&sim->devices[i].is, cal_sim_time(sim), &at, jet) != 0)
			continue;
		SimGroup *group = &sim->groups[at.group];
		group->drive_count += !group->driven[at.u];
		group->driven[at.u] = 1;
	}
	for (int g = 0; g < sim->group_count; g++) {
		SimGroup *group = &sim->groups[g];
		const bool driven = group->drive_count > 0 && !group->motion;
		integrator_set_drive(sim->system.integrator, g, driven ? drives_impose : NULL, sim);
	}
	integrator_note_motions(sim->system.integrator);
}

/* The input at hand gets arrays of its own. */
static void own_drive(SimGroup *group, CalInput *input) {
	const size_t nu = (size_t)group->model->nu;
	if (group->own_drive)
		return;
	memcpy(group->prescribed, input->prescribed ? input->prescribed : group->model->prescribed, nu);
	if (input->udot)
		memcpy(group->given, input->udot, nu * sizeof(double));
	else
		memset(group->given, 0, nu * sizeof(double));
	input->prescribed = group->prescribed;
	input->udot = group->given;
	group->own_drive = 1;
}

CalStatus drives_act(CalEvalContext *context, const SimDevice *device) {
	CalSim *sim = context->sim;
	CalDofRef at;
	double jet[3];
	if (drive_at(sim, (int)(device - sim->devices), context->t, &at, jet) != 0)
		return context->status = CAL_ERR_USER;
	SimGroup *group = &sim->groups[at.group];
	if (group->motion || !context->inputs)
		return CAL_OK;
	own_drive(group, &context->inputs[at.group]);
	group->prescribed[at.u] = 1;
	group->given[at.u] = jet[2];
	if (!context->viewing) {
		group->worked = 1;
		group->pushed |= group->root_dof[at.u] ? PUSHED_BY_INPUT : 0;
	}
	return CAL_OK;
}

/* Boxes add forces to the rows afterwards. */
static bool is_found(const CalSim *sim, const SimGroup *group, CalPower from) {
	return isfinite(group->power[from]) && !(from == CAL_POWER_LOOPS && group->loops_move && sim->subsystems);
}

void drives_account(void *user, double *xdot) {
	CalSim *sim = user;
	double power = 0;
	for (int g = 0; g < sim->group_count; g++) {
		SimGroup *group = &sim->groups[g];
		for (int from = 0; !group->motion && from < CAL_POWER_COUNT; from++) {
			if (is_found(sim, group, (CalPower)from))
				power += group->power[from];
			else
				group->unaccounted = 1;
		}
	}
	xdot[sim->system.nx - ACCOUNTS + ACCOUNT_SUPPLIED] += power;
}

/* How far a state is from its drive, in the coordinate and in the speed. */
static void max_difference(const SimGroup *group, const CalDofRef *at, const double jet[3], double off[2]) {
	off[0] = fabs(group->state.q[at->q] - jet[0]);
	off[1] = fabs(group->state.u[at->u] - jet[1]);
}

static void doubt_start(CalSim *sim, int i, const CalDofRef *at, const double jet[3]) {
	const SimGroup *group = &sim->groups[at->group];
	char object[96], name[96] = "";
	double off[2];
	max_difference(group, at, jet, off);
	const bool given = group->state.q[at->q] != 0 || group->state.u[at->u] != 0;
	if (!given || fmax(off[0], off[1] / fmax(1, fabs(jet[1]))) <= DOUBTFUL)
		return;
	cal_model_dof_name(group->model, at->u, name, sizeof name);
	snprintf(object, sizeof object, "device \"%.80s\"", sim->devices[i].def.name);
	doubts_note(
		&sim->doubts, CAL_DOUBT_ASSEMBLY, object, group->state.t, fmax(off[0], off[1]), DOUBTFUL,
		"%s drives joint \"%s\", and the state gives another start: q %.6g → %.6g, u %.6g → %.6g. The run starts "
		"where the drive is; leave the joint out of the state",
		object, name, group->state.q[at->q], jet[0], group->state.u[at->u], jet[1]);
}

static CalStatus start_devices(CalSim *sim) {
	for (int i = 0; i < sim->device_count; i++) {
		CalDofRef at;
		double jet[3];
		if (!for_each_drive(&sim->devices[i]))
			continue;
		if (drive_at(sim, i, cal_sim_time(sim), &at, jet) != 0)
			return CAL_ERR_USER;
		SimGroup *group = &sim->groups[at.group];
		if (group->motion)
			continue;
		doubt_start(sim, i, &at, jet);
		group->state.q[at.q] = jet[0];
		group->state.u[at.u] = jet[1];
	}
	return CAL_OK;
}

CalStatus drives_start(CalSim *sim) {
	const CalStatus status = start_devices(sim);
	return status == CAL_OK && loop_drives_fault(sim, NULL, 0) ? CAL_ERR_USER : status;
}

CalStatus drives_start_group(CalSim *sim, int group) {
	const CalStatus status = sim->groups[group].drive_count > 0 ? start_devices(sim) : CAL_OK;
	return status == CAL_OK && loop_drives_fault_of(sim, group, NULL, 0) ? CAL_ERR_USER : status;
}

void drives_switch(CalSim *sim, double t) {
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		CalDofRef at;
		double before[3], after[3];
		if (!for_each_drive(device) || drive_at(sim, i, t - drive_beside(t), &at, before) != 0 ||
		    drive_at(sim, i, t + drive_beside(t), &at, after) != 0)
			continue;
		const double jump = fabs(after[0] - before[0]), kink = fabs(after[1] - before[1]);
		if (jump <= JUMP && kink <= JUMP * fmax(1, fabs(after[1])))
			continue;
		char object[96];
		snprintf(object, sizeof object, "device \"%.80s\"", device->def.name);
		doubts_note(
			&sim->doubts, CAL_DOUBT_FORMULA, object, t, fmax(jump, kink), JUMP,
			"%s: its function jumps at t = %.6g s, by %.3g in the coordinate and %.3g in the speed; the impulse that "
			"this takes acts on nothing else. Use a function with a continuous rate",
			object, t, jump, kink);
	}
}

CalStatus drives_fit(CalSim *sim, int device, CalError *error) {
	const char *name = sim->devices[device].def.name;
	CalDofRef at;
	double jet[3], off[2];
	if (!for_each_drive(&sim->devices[device]))
		return CAL_OK;
	if (sim->devices[device].def.ops->drive(&sim->devices[device].is, cal_sim_time(sim), &at, jet) != 0)
		return error_set(error, CAL_ERR_ARGUMENT, "device \"%s\": its function is not defined now", name);
	const SimGroup *group = &sim->groups[at.group];
	max_difference(group, &at, jet, off);
	if (group->motion || (off[0] <= JUMP && off[1] <= JUMP * fmax(1, fabs(jet[1]))))
		return CAL_OK;
	return error_set(
		error, CAL_ERR_ARGUMENT,
		"device \"%s\" cannot be switched on: its joint would jump from q = %.6g, u = %.6g to %.6g, %.6g; give "
		"a function that starts where the joint is",
		name, group->state.q[at.q], group->state.u[at.u], jet[0], jet[1]);
}
