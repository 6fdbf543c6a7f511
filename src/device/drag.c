// SPDX-License-Identifier: Apache-2.0
/*
 * drag.c — drag of a medium at rest or in uniform flow on a node: aerodynamic, hydrodynamic.
 *
 *   F = -(rho Cd A |v| / 2 + c) v,  v = v_node - v_medium
 * in world axes, at the origin of the node. Of its power F.v_node, -F.v is lost to heat and F.v_medium comes from the flow.
 */
#include "device/device.h"
#include "device/device_type.h"

extern const DeviceType drag_type;

typedef struct DragDef {
	const char *name, *place;
	CalNodeId node;
	double density, coefficient, area, linear;
	CalVec3 flow; // world axes
} DragDef;

typedef struct Drag {
	DragDef def;
	CalNodeRef at;
} Drag;

typedef struct DragForce {
	CalVec3 v; // of the node relative to the medium
	CalVec3 force;
} DragForce;

static int drag_bind(const CalDevice *device, const CalEvalContext *context) {
	Drag *s = device->data;
	return bind_node(context, s->def.node, &s->at) || s->at.group < 0 ? -1 : 0;
}

static DragForce drag_of(const Drag *s, CalEvalContext *context) {
	CalSpatial motion;
	cal_context_node_motion(context, s->at, NULL, &motion);
	const CalVec3 v = v_sub(motion.linear, s->def.flow);
	const double quadratic = 0.5 * s->def.density * s->def.coefficient * s->def.area * v_norm(v);
	return (DragForce){v, v_scale(-(quadratic + s->def.linear), v)};
}

static int drag_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)xdot;
	const Drag *s = device->data;
	const DragForce drag = drag_of(s, context);
	cal_context_apply_wrench(context, s->at, CAL_FRAME_WORLD, (CalSpatial){.linear = drag.force});
	cal_context_add_dissipated_power(context, -v_dot(drag.force, drag.v));
	cal_context_add_supplied_power(context, v_dot(drag.force, s->def.flow));
	return 0;
}

static int drag_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const DragForce drag = drag_of(device->data, context);
	output[0] = drag.force.x;
	output[1] = drag.force.y;
	output[2] = drag.force.z;
	output[3] = -v_dot(drag.force, drag.v);
	return 0;
}

static int drag_nodes(const CalDevice *device, CalNodeRef *node_refs) {
	node_refs[0] = ((const Drag *)device->data)->at;
	return 1;
}

static double *drag_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	Drag *s = device->data;
	return device_parameter(&drag_type, &s->def, DOF_KIND_SLIDES, index, about);
}

static const char *const names[] = {"fx", "fy", "fz", "power"}, *const units[] = {"N", "N", "N", "W"};
static const CalDeviceOps ops = {.type = "drag",
                                 .bind = drag_bind,
                                 .evaluate = drag_evaluate,
                                 .outputs = drag_outputs,
                                 .nodes = drag_nodes,
                                 .parameter = drag_parameter,
                                 .output_count = 4,
                                 .output_names = names,
                                 .output_units = units};

static CalStatus add_drag(CalSim *sim, const void *given, int *device, CalError *error) {
	const DragDef *def = given;
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	const Drag data = {.def = *def};
	device_not_negative(&d, "density", def->density);
	device_not_negative(&d, "coefficient", def->coefficient);
	device_not_negative(&d, "area", def->area);
	device_not_negative(&d, "linear", def->linear);
	device_check(&d, isfinite(v_norm(def->flow)), "the flow is not finite");
	d.def.wrench_count = 1;
	return device_add(&d, &data, sizeof data, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(DragDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(DragDef),
	{"node", FIELD_NODE, AT(node), .flags = FIELD_REQUIRED, .doc = "on which it acts, at its origin"},
	{"density", FIELD_NUMBER, AT(density), DIM_DENSITY, .flags = FIELD_TUNED_FROM_0, .doc = "of the medium; default 0"},
	{"coefficient", FIELD_NUMBER, AT(coefficient), .flags = FIELD_TUNED_FROM_0,
     .doc = "drag coefficient Cd; default 0"},
	{"area", FIELD_NUMBER, AT(area), DIM_AREA, .flags = FIELD_TUNED_FROM_0, .doc = "reference area of Cd; default 0"},
	{"linear", FIELD_NUMBER, AT(linear), DIM_DAMPING, .flags = FIELD_TUNED_FROM_0,
     .doc = "force per speed, for slow motion; default 0"},
	{"flow", FIELD_VECTOR, AT(flow), DIM_SPEED, .flags = FIELD_TUNED,
     .doc = "velocity of the medium, world axes; default at rest"},
};
#undef AT

const DeviceType drag_type = {
	.table =
		{FIELDS("drag", fields),
         .doc = "Drag of a medium on a node: the force -(density coefficient area |v|/2 + linear) v, v the velocity of "
                "the node relative to the medium. The outputs are the force on the node in world axes and the power "
                "lost."},
	DEVICE_DEF(DragDef),
	.add = add_drag,
	.ops = &ops};
