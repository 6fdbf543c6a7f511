// SPDX-License-Identifier: Apache-2.0
/*
 * joint_drive.c — one degree of freedom of a joint that follows a function of time, within the dynamics of its group.
 *
 *   q = f(t),  u = f'(t),  udot = f''(t) prescribed; the dynamics give the force F that this takes, and F u is supplied
 * f is a formula, whose derivatives are propagated through it, or a table of cubic or quintic pieces. sim/driven_dofs.c
 * sets q and u, and prescribes udot. F is known only when the dynamics are: formulas and devices that act cannot read
 * it, events can.
 */
#include <string.h>

#include <calder/motion.h>

#include "base/error.h"
#include "device/device.h"
#include "device/device_type.h"
#include "sim/sim_internal.h"

typedef struct JointDrive {
	CalSim *sim;
	CalJointId joint;
	int dof;
	CalDofRef at;
	TimeFunction q;
} JointDrive;

static int drive_bind(const CalDevice *device, const CalEvalContext *context) {
	JointDrive *s = device->data;
	return bind_dof(context, s->joint, s->dof, &s->at);
}

static int drive_jet(const CalDevice *device, double t, CalDofRef *dof_ref, double jet[3]) {
	JointDrive *s = device->data;
	*dof_ref = s->at;
	const TableValue f = time_function_at(device, &s->q, t);
	jet[0] = f.value, jet[1] = f.rate, jet[2] = f.acceleration;
	return !isfinite(f.value) || !isfinite(f.rate) || !isfinite(f.acceleration);
}

static int drive_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)device, (void)context, (void)xdot;
	return 0;
}

static double drive_next_switch(const CalDevice *device, double t) {
	return time_function_next_switch(device, &((JointDrive *)device->data)->q, t);
}

static int drive_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const JointDrive *s = device->data;
	CalSimView view;
	if (context->inputs) {
		cal_context_explain_failure(context,
		                            "the force of a drive follows from the dynamics: what acts cannot depend on it");
		return 1;
	}
	if (cal_sim_observe(s->sim, s->at.group, &view) != CAL_OK)
		return 1;
	output[0] = view.force[s->at.u];
	output[1] = view.force[s->at.u] * view.state->u[s->at.u];
	return 0;
}

static void drive_destroy(void *data) { time_function_release(&((JointDrive *)data)->q); }

static const char *const names[] = {"force", "power"};
static const char *const units[DOF_KIND_KINDS][2] = {{"N m", "W"}, {"N", "W"}, {"N m|N", "W"}};
/* Units by what it acts on. */
#define OPS(kind)                                                                                             \
	{                                                                                                         \
		.type = "joint_drive", .bind = drive_bind, .evaluate = drive_evaluate, .outputs = drive_outputs,      \
		.next_switch = drive_next_switch, .destroy = drive_destroy, .output_count = 2, .output_names = names, \
		.output_units = units[kind], .drive = drive_jet                                                       \
	}
static const CalDeviceOps ops[DOF_KIND_KINDS] = {OPS(DOF_KIND_TURNS), OPS(DOF_KIND_SLIDES), OPS(DOF_KIND_EITHER)};
#undef OPS

/* Another device that drives the same degree of freedom; NULL: none. */
static const char *other_drive(const CalSim *sim, CalJointId joint, int dof) {
	for (int i = 0; sim && i < sim->device_count; i++) {
		const JointDrive *other = sim->devices[i].is.data;
		if (sim->devices[i].def.ops->drive == drive_jet && other->joint.value == joint.value && other->dof == dof)
			return sim->devices[i].def.name;
	}
	return NULL;
}

CalStatus cal_sim_add_joint_drive(CalSim *sim, const CalJointDriveDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	DeviceBuilder d = device_builder(sim, &ops[dof_kind(sim, def->joint, def->dof)], def->name, def->place, error);
	JointDrive data = {.sim = sim, .joint = def->joint, .dof = def->dof};
	const char *other = other_drive(sim, def->joint, def->dof);
	const CalTable *table = &def->q.table;
	device_check(&d, !other, "its joint is driven by device \"%.80s\" already", other ? other : "");
	device_check(&d, def->q.formula || table->count > 0, "it has no function \"q\" to follow");
	data.q = time_function_take(&d, "q", &def->q);
	device_check(
		&d, def->q.formula || table->count <= 1 || (table->shape != CAL_TABLE_STEP && table->shape != CAL_TABLE_LINEAR),
		"the speed of its table jumps, which takes infinite force; take the shape cubic, smooth or spline");
	d.def.accounts = 1;
	const CalStatus status = device_add(&d, &data, sizeof data, device);
	if (status != CAL_OK)
		time_function_release(&data.q);
	return status;
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalJointDriveDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalJointDriveDef),
	{"joint", FIELD_JOINT, AT(joint), .flags = FIELD_REQUIRED, .doc = "on which it acts"},
	{"dof", FIELD_DOF, AT(dof),
     .doc = "which of the degrees of freedom of the joint; needed if it has several. Not one of a quaternion"},
	{"q", FIELD_FUNCTION, AT(q), DIM_ANGLE, .flags = FIELD_REQUIRED | FIELD_BY_DOF, .doc = "the coordinate"},
};
#undef AT
static const CalJointDriveDef start = {.q.table.shape = CAL_TABLE_SMOOTH};
DEVICE_ADD(add_joint_drive, CalJointDriveDef, cal_sim_add_joint_drive)

const DeviceType joint_drive_type = {
	.table = {FIELDS("joint_drive", fields),
              .doc = "A joint coordinate that follows a function of time; the rest of the group moves by its dynamics, "
                     "and the force that this takes is a result."},
	DEVICE_DEF(CalJointDriveDef),
	.add = add_joint_drive,
	.ops = &ops[DOF_KIND_EITHER],
	.start = &start};
