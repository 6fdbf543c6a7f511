// SPDX-License-Identifier: Apache-2.0
/*
 * table_load.c — a wrench on a node or an effort on a joint, by tables over time.
 */
#include "device/device.h"
#include "device/device_type.h"

typedef struct TableLoad {
	CalTableLoadDef def;
	Table effort, wrench[6]; // moment, then force
	CalNodeRef node;
	CalDofRef joint;
} TableLoad;

static int load_bind(const CalDevice *device, const CalEvalContext *context) {
	TableLoad *s = device->data;
	if (s->def.joint.value)
		return bind_dof(context, s->def.joint, s->def.dof, &s->joint);
	return bind_node(context, s->def.node, &s->node) || s->node.group < 0 ? -1 : 0;
}

static void wrench_of(const CalDevice *device, double t, double f[6]) {
	const TableLoad *s = device->data;
	for (int i = 0; i < 6; i++)
		f[i] = table_at(device, s->wrench[i], t).value;
}

static void push_node(const CalDevice *device, CalEvalContext *context) {
	const TableLoad *s = device->data;
	double f[6];
	CalPose pose;
	CalSpatial v;
	wrench_of(device, cal_context_time(context), f);
	CalSpatial wrench = {{f[0], f[1], f[2]}, {f[3], f[4], f[5]}};
	cal_context_node_motion(context, s->node, &pose, &v);
	if (s->def.frame == CAL_FRAME_NODE)
		wrench = (CalSpatial){v_turn(&pose.R, wrench.angular), v_turn(&pose.R, wrench.linear)};
	cal_context_apply_wrench(context, s->node, CAL_FRAME_WORLD, wrench);
	cal_context_add_supplied_power(context, v_dot(wrench.angular, v.angular) + v_dot(wrench.linear, v.linear));
}

static int load_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)xdot;
	const TableLoad *s = device->data;
	if (!s->def.joint.value) {
		push_node(device, context);
		return 0;
	}
	const double effort = table_at(device, s->effort, cal_context_time(context)).value;
	cal_context_apply_effort(context, s->joint, effort);
	cal_context_add_supplied_power(context, effort * cal_context_u(context, s->joint));
	return 0;
}

static double load_next_switch(const CalDevice *device, double t) {
	const TableLoad *s = device->data;
	double next = table_next_switch(device, s->effort, t);
	for (int i = 0; i < 6; i++)
		next = fmin(next, table_next_switch(device, s->wrench[i], t));
	return next;
}

static int load_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const TableLoad *s = device->data;
	output[0] = table_at(device, s->effort, cal_context_time(context)).value;
	wrench_of(device, cal_context_time(context), output + 1);
	return 0;
}

static const char *const names[] = {"effort", "mx", "my", "mz", "fx", "fy", "fz"};
static const char *const units[DOF_KIND_KINDS][7] = {{"N m", "N m", "N m", "N m", "N", "N", "N"},
                                                     {"N", "N m", "N m", "N m", "N", "N", "N"},
                                                     {"N m|N", "N m", "N m", "N m", "N", "N", "N"}};
/* Units by what it acts on. */
#define OPS(kind)                                                                                              \
	{                                                                                                          \
		.type = "table_load", .bind = load_bind, .evaluate = load_evaluate, .outputs = load_outputs,           \
		.next_switch = load_next_switch, .output_count = 7, .output_names = names, .output_units = units[kind] \
	}
static const CalDeviceOps ops[DOF_KIND_KINDS] = {OPS(DOF_KIND_TURNS), OPS(DOF_KIND_SLIDES), OPS(DOF_KIND_EITHER)};
#undef OPS

CalStatus cal_sim_add_table_load(CalSim *sim, const CalTableLoadDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	static const char *const parts[] = {"moment x", "moment y", "moment z", "force x", "force y", "force z"};
	const DofKind kind = def->joint.value ? dof_kind(sim, def->joint, def->dof) : DOF_KIND_TURNS;
	DeviceBuilder d = device_builder(sim, &ops[kind], def->name, def->place, error);
	TableLoad data = {.def = *def};
	device_check(&d, !def->joint.value != !def->node.value, "it acts on either a node of a body or a joint; name one");
	data.effort = device_table(&d, "effort", &def->effort);
	for (int i = 0; i < 6; i++)
		data.wrench[i] = device_table(&d, parts[i], i < 3 ? &def->moment[i] : &def->force[i - 3]);
	d.def.wrench_count = def->node.value ? 1 : 0;
	return device_add(&d, &data, sizeof data, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalTableLoadDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalTableLoadDef),
	{"joint", FIELD_JOINT, AT(joint), .doc = "on which it acts, with"},
	{"dof", FIELD_DOF, AT(dof), .doc = "which of the degrees of freedom of the joint; needed if it has several"},
	{"effort", FIELD_TABLE, AT(effort), DIM_TORQUE, .flags = FIELD_BY_DOF, .doc = "on the degree of freedom; or"},
	{"node", FIELD_NODE, AT(node), .doc = "on which it acts, with"},
	{"frame", FIELD_CHOICE, AT(frame), .doc = "axes of the components; default `world`", .words = FRAME_WORDS},
	{"force", FIELD_TABLES, AT(force), DIM_FORCE, .doc = "for x, y and z"},
	{"moment", FIELD_TABLES, AT(moment), DIM_TORQUE, .doc = "for x, y and z"},
};
#undef AT
#define LINEAR \
	{ .shape = CAL_TABLE_LINEAR }
static const CalTableLoadDef start = {
	.effort = LINEAR, .moment = {LINEAR, LINEAR, LINEAR}, .force = {LINEAR, LINEAR, LINEAR}};
#undef LINEAR
DEVICE_ADD(add_table_load, CalTableLoadDef, cal_sim_add_table_load)

const DeviceType table_load_type = {
	.table = {FIELDS("table_load", fields), .doc = "A load by tables: a wrench on a node, or an effort on a joint."},
	DEVICE_DEF(CalTableLoadDef),
	.add = add_table_load,
	.ops = &ops[DOF_KIND_EITHER],
	.start = &start};
