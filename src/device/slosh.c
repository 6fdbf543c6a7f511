// SPDX-License-Identifier: Apache-2.0
/*
 * slosh.c — liquid in a tank as a mass on springs and dampers along the axes of a node.
 *
 * States: s, the place of the mass from the node, in the node's axes, and v, its velocity in world axes. With R, r, w the
 * node's orientation, place and angular velocity:
 *   s' = R'(v - v_node - w x R s),  f = -R(K s + C s'),  m v' = f + m g,  on the body: -f at the place of the mass.
 * The velocity is absolute, so nothing depends on the body's acceleration. g is the gravity of the node's group.
 */
#include "device/device.h"
#include "device/device_type.h"

extern const DeviceType slosh_type;

typedef struct Slosh {
	CalSloshDef def;
	CalVec3 gravity;
	CalNodeRef at;
} Slosh;

static int slosh_bind(const CalDevice *device, const CalEvalContext *context) {
	Slosh *s = device->data;
	if (bind_node(context, s->def.node, &s->at) != 0)
		return -1;
	const CalModel *model = cal_context_model(context, s->at.group);
	s->gravity = model ? cal_model_gravity(model) : (CalVec3){0, 0, 0};
	return 0;
}

typedef struct Liquid {
	CalPose pose;
	CalVec3 s, v, s_rate;
	CalVec3 place; // of the mass
	CalVec3 force; // on it, world axes
} Liquid;

static CalVec3 vector(const double *x) { return (CalVec3){x[0], x[1], x[2]}; }

static void write_vec(double *x, CalVec3 v) {
	x[0] = v.x;
	x[1] = v.y;
	x[2] = v.z;
}

static Liquid liquid_of(const CalDevice *device, CalEvalContext *context) {
	const Slosh *s = device->data;
	Liquid l = {.s = vector(device->x), .v = vector(device->x + 3)};
	CalSpatial v;
	cal_context_node_motion(context, s->at, &l.pose, &v);
	const CalVec3 arm = v_turn(&l.pose.R, l.s);
	l.place = v_add(l.pose.r, arm);
	l.s_rate = v_unturn(&l.pose.R, v_sub(v_sub(l.v, v.linear), v_cross(v.angular, arm)));
	const CalVec3 pull = v_add(v_times(s->def.stiffness, l.s), v_times(s->def.damping, l.s_rate));
	l.force = v_scale(-1, v_turn(&l.pose.R, pull));
	return l;
}

static int slosh_start(const CalDevice *device, CalEvalContext *context, double *x) {
	const Slosh *s = device->data;
	CalPose pose;
	CalSpatial v;
	cal_context_node_motion(context, s->at, &pose, &v);
	const CalVec3 arm = v_turn(&pose.R, s->def.position);
	write_vec(x, s->def.position);
	write_vec(x + 3, v_add(v_add(v.linear, v_cross(v.angular, arm)), v_turn(&pose.R, s->def.velocity)));
	return 0;
}

static int slosh_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Slosh *s = device->data;
	const Liquid l = liquid_of(device, context);
	const double m = s->def.mass;
	write_vec(xdot, l.s_rate);
	write_vec(xdot + 3, v_add(v_scale(1 / m, l.force), s->gravity));
	const CalSpatial reaction = {.linear = v_scale(-1, l.force)};
	cal_context_apply_wrench(context, s->at, CAL_FRAME_WORLD, cal_wrench_shift(reaction, l.place, l.pose.r));
	cal_context_add_stored_energy(context, 0.5 * (m * v_dot(l.v, l.v) + v_dot(l.s, v_times(s->def.stiffness, l.s))) -
	                                           m * v_dot(s->gravity, l.place));
	cal_context_add_dissipated_power(context, v_dot(l.s_rate, v_times(s->def.damping, l.s_rate)));
	const CalVec3 momentum = v_scale(m, l.v);
	cal_context_add_momentum(context, momentum, v_cross(l.place, momentum));
	return 0;
}

static int slosh_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const Liquid l = liquid_of(device, context);
	write_vec(output, l.s);
	write_vec(output + 3, l.force);
	return 0;
}

static int slosh_nodes(const CalDevice *device, CalNodeRef *node_refs) {
	node_refs[0] = ((const Slosh *)device->data)->at;
	return 1;
}

static double *slosh_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	Slosh *s = device->data;
	return device_parameter(&slosh_type, &s->def, DOF_KIND_SLIDES, index, about);
}

static const char *const names[] = {"x", "y", "z", "fx", "fy", "fz"}, *const units[] = {"m", "m", "m", "N", "N", "N"};
static const CalDeviceOps ops = {.type = "slosh",
                                 .bind = slosh_bind,
                                 .start = slosh_start,
                                 .evaluate = slosh_evaluate,
                                 .outputs = slosh_outputs,
                                 .nodes = slosh_nodes,
                                 .parameter = slosh_parameter,
                                 .output_count = 6,
                                 .output_names = names,
                                 .output_units = units};

CalStatus cal_sim_add_slosh(CalSim *sim, const CalSloshDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	const Slosh data = {.def = *def};
	device_check(&d, isfinite(def->mass) && def->mass > 0, "mass is %g; give one above zero", def->mass);
	device_not_negatives(&d, "stiffness", def->stiffness);
	device_not_negatives(&d, "damping", def->damping);
	device_check(&d, isfinite(v_norm(def->position)) && isfinite(v_norm(def->velocity)),
	             "position or velocity at the start is not finite");
	d.def.nx = 6;
	d.def.wrench_count = 1;
	return device_add(&d, &data, sizeof data, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalSloshDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalSloshDef),
	{"node", FIELD_NODE, AT(node), .flags = FIELD_REQUIRED, .doc = "about which it moves"},
	{"mass", FIELD_NUMBER, AT(mass), DIM_MASS, .flags = FIELD_REQUIRED | FIELD_TUNED_ABOVE_0,
     .doc = "> 0; it is not part of the body"},
	{"stiffness", FIELD_VECTOR, AT(stiffness), DIM_STIFFNESS, .flags = FIELD_REQUIRED | FIELD_TUNED_FROM_0,
     .doc = "along the axes of the node"},
	{"damping", FIELD_VECTOR, AT(damping), DIM_DAMPING, .flags = FIELD_TUNED_FROM_0, .doc = "default 0"},
	{"position", FIELD_VECTOR, AT(position), DIM_LENGTH, .doc = "of the mass at the start, in the node; default 0"},
	{"velocity", FIELD_VECTOR, AT(velocity), DIM_SPEED,
     .doc = "relative to the node at the start, in its axes; default 0"},
};
#undef AT
DEVICE_ADD(add_slosh, CalSloshDef, cal_sim_add_slosh)

const DeviceType slosh_type = {
	.table = {FIELDS("slosh", fields),
              .doc = "Liquid in a tank: a mass on springs and dampers about a node, along its axes."},
	DEVICE_DEF(CalSloshDef),
	.add = add_slosh,
	.ops = &ops};
