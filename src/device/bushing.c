// SPDX-License-Identifier: Apache-2.0
/*
 * bushing.c — springs and dampers between two nodes along and about the axes of the first.
 *
 * In the axes of a, with R0, p0 the pose of b in a where it is free:
 *   d = R_a'(r_b - r_a) - p0,  d' = R_a'(v_b - v_a - w_a x (r_b - r_a)),  theta = log(R_a'R_b R0'),  w = R_a'(w_b - w_a)
 *   force on b  f = -K d - C d'                    at the origin of b, the opposite on a at the same point
 *   moment on b m = -T^-T(theta) K_r theta - C_r w the opposite on a
 * T^-1 maps w to the rate of theta, so that the springs have a potential, d'Kd/2 + theta'K_r theta/2, at any angle below
 * half a turn. There theta jumps, and the moment with it: a bushing is not for joints that turn over. Adaptive steps end
 * there, and the run says that it happened.
 *
 * No function of the pose alone changes its sign at half a turn. So the value to watch is that of the quaternion of theta,
 * cos(|theta|/2), with the sign that is near the last lookahead: as theta jumps, so does the quaternion, to its opposite.
 */
#include <stdio.h>

#include "device/device.h"
#include "device/device_type.h"
#include "math/portable.h"
#include "math/quat.h"

extern const DeviceType bushing_type;

static const double pi = 3.14159265358979323846;

typedef struct Bushing {
	CalBushingDef def;
	char name[80];
	CalMat3 rest;
	CalNodeRef a, b;
	bool turns;   // it has stiffness about some axis
	CalVec3 seen; // theta at the last lookahead; of a fixed step, at the last evaluation
} Bushing;

static int bushing_bind(const CalDevice *device, const CalEvalContext *context) {
	Bushing *s = device->data;
	s->seen = (CalVec3){0, 0, 0};
	return bind_node(context, s->def.a, &s->a) || bind_node(context, s->def.b, &s->b);
}

static CalMat3 mat_of(dmat3 m) { return dmat_out(m); }

/* Rotation vector of R. */
static CalVec3 rotation_vector(const CalMat3 *R) {
	const CalVec3 axis = {R->m[2][1] - R->m[1][2], R->m[0][2] - R->m[2][0], R->m[1][0] - R->m[0][1]};
	const double trace = R->m[0][0] + R->m[1][1] + R->m[2][2], s = 0.5 * v_norm(axis), c = 0.5 * (trace - 1);
	if (c > -0.99)
		return v_scale(s > 1e-8 ? 0.5 * portable_atan2(s, c) / s : 0.5, axis);
	// near half a turn: the axis from the symmetric part
	int k = R->m[0][0] > R->m[1][1] ? 0 : 1;
	k = R->m[2][2] > R->m[k][k] ? 2 : k;
	CalVec3 n = {0.5 * (R->m[0][k] + R->m[k][0]), 0.5 * (R->m[1][k] + R->m[k][1]), 0.5 * (R->m[2][k] + R->m[k][2])};
	(k == 0 ? &n.x : k == 1 ? &n.y : &n.z)[0] -= c;
	n = v_unit(n, (CalVec3){0, 0, 1});
	return v_scale(v_dot(n, axis) < 0 ? -portable_atan2(s, c) : portable_atan2(s, c), n);
}

static CalMat3 mat_product(const CalMat3 *A, bool transpose_a, const CalMat3 *B, bool transpose_b) {
	CalMat3 C;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			C.m[i][j] = 0;
			for (int k = 0; k < 3; k++)
				C.m[i][j] += (transpose_a ? A->m[k][i] : A->m[i][k]) * (transpose_b ? B->m[j][k] : B->m[k][j]);
		}
	return C;
}

typedef struct Strain {
	CalPose a, b;
	CalVec3 d, d_rate, theta, w; // axes of a
	CalVec3 force, moment;       // on b, axes of a
} Strain;

static Strain strain_of(const Bushing *s, CalEvalContext *context) {
	Strain e;
	CalSpatial va, vb;
	cal_context_node_motion(context, s->a, &e.a, &va);
	cal_context_node_motion(context, s->b, &e.b, &vb);
	const CalVec3 rho = v_sub(e.b.r, e.a.r);
	e.d = v_sub(v_unturn(&e.a.R, rho), s->def.rest.position);
	e.d_rate = v_unturn(&e.a.R, v_sub(v_sub(vb.linear, va.linear), v_cross(va.angular, rho)));
	const CalMat3 S = mat_product(&e.a.R, true, &e.b.R, false), turned = mat_product(&S, false, &s->rest, true);
	e.theta = rotation_vector(&turned);
	e.w = v_unturn(&e.a.R, v_sub(vb.angular, va.angular));
	e.force = v_scale(-1, v_add(v_times(s->def.stiffness, e.d), v_times(s->def.damping, e.d_rate)));
	// w in the axes of the frame that theta turns from is the mirror image of the one in the moving axes: theta -> -theta
	const dvec3 g = dvec_in(v_times(s->def.angular_stiffness, e.theta)), minus = dvec_in(v_scale(-1, e.theta));
	e.moment = v_scale(-1, v_add(dvec_out(rotation_vector_force(minus, g)), v_times(s->def.angular_damping, e.w)));
	return e;
}

/* ---- half a turn --------------------------------------------------------------------------------- */

/* cos(|theta|/2) with the sign of the quaternion that is nearer to the one last seen: below zero beyond half a turn. */
static double half_turn_value(const Bushing *s, CalVec3 theta) {
	const double angle = v_norm(theta), before = v_norm(s->seen), w = portable_cos(0.5 * angle);
	const double along = angle > 0 && before > 0 ? v_dot(theta, s->seen) / (angle * before) : 0;
	return w * portable_cos(0.5 * before) + portable_sin(0.5 * angle) * portable_sin(0.5 * before) * along < 0 ? -w : w;
}

/* Of states that count: at lookaheads, and at evaluations of fixed steps. */
static void see(Bushing *s, CalEvalContext *context, const Strain *e) {
	const bool over = half_turn_value(s, e->theta) < 0;
	s->seen = e->theta;
	if (!over)
		return;
	CalDoubt doubt = {.kind = CAL_DOUBT_RANGE, .time = cal_context_time(context), .value = pi, .limit = 0.5 * pi};
	snprintf(doubt.object, sizeof doubt.object, "device \"%.80s\"", s->name);
	snprintf(
		doubt.text, sizeof doubt.text,
		"device \"%.80s\" (bushing) turned over at t = %.6g s: at half a turn its moment jumps from one side to the "
		"other; a bushing is for smaller angles; take revolute joints with springs for more",
		s->name, cal_context_time(context));
	cal_context_add_doubt(context, &doubt);
}

static int bushing_start(const CalDevice *device, CalEvalContext *context, double *x) {
	(void)context;
	(void)x;
	((Bushing *)device->data)->seen = (CalVec3){0, 0, 0}; // nothing yet: no angle is beyond
	return 0;
}

static int bushing_values(const CalDevice *device, CalEvalContext *context, double *value) {
	const Bushing *s = device->data;
	*value = half_turn_value(s, strain_of(s, context).theta);
	return 0;
}

/* |theta| changes by |w| at most. From one look to the next it turns by less than half a turn, or the sign is lost. */
static int bushing_outlook(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	const double most = 2;
	Bushing *s = device->data;
	CalSpatial a, b;
	const Strain e = strain_of(s, context);
	see(s, context, &e);
	cal_context_node_acceleration(context, s->a, &a);
	cal_context_node_acceleration(context, s->b, &b);
	const double room = fmin(pi - v_norm(e.theta), most), bend = v_norm(v_sub(b.angular, a.angular));
	lookahead->event_free = keeps_sign(fmax(room, 0), -v_norm(e.w), bend);
	return 0;
}

static const char *bushing_value_text(const CalDevice *device, int event) {
	(void)device;
	(void)event;
	return "its moment at half a turn";
}

/* ---- the device ---------------------------------------------------------------------------------- */

static int bushing_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)xdot;
	Bushing *s = device->data;
	const Strain e = strain_of(s, context);
	if (s->turns && cal_context_fixed_step(context) > 0)
		see(s, context, &e);
	cal_context_apply_wrench_pair(context, s->a, s->b, e.b.r,
	                              (CalSpatial){v_turn(&e.a.R, e.moment), v_turn(&e.a.R, e.force)});
	cal_context_add_stored_energy(context, 0.5 * (v_dot(e.d, v_times(s->def.stiffness, e.d)) +
	                                              v_dot(e.theta, v_times(s->def.angular_stiffness, e.theta))));
	cal_context_add_dissipated_power(context, v_dot(e.d_rate, v_times(s->def.damping, e.d_rate)) +
	                                              v_dot(e.w, v_times(s->def.angular_damping, e.w)));
	return 0;
}

static int bushing_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const Strain e = strain_of(device->data, context);
	const double all[] = {e.d.x,     e.d.y,     e.d.z,     e.theta.x,  e.theta.y,  e.theta.z,
	                      e.force.x, e.force.y, e.force.z, e.moment.x, e.moment.y, e.moment.z};
	for (int i = 0; i < 12; i++)
		output[i] = all[i];
	return 0;
}

static int bushing_nodes(const CalDevice *device, CalNodeRef *node_refs) {
	const Bushing *s = device->data;
	node_refs[0] = s->a, node_refs[1] = s->b;
	return 2;
}

/* Only one that is stiff about some axis watches half a turn. */
static double *bushing_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	Bushing *s = device->data;
	double *number = device_parameter(&bushing_type, &s->def, DOF_KIND_TURNS, index, about);
	const CalVec3 *angular = &s->def.angular_stiffness;
	if (!s->turns && (number == &angular->x || number == &angular->y || number == &angular->z))
		device_parameter_keeps_zero(*number, about);
	return number;
}

static const char *const names[] = {"dx", "dy", "dz", "rx", "ry", "rz", "fx", "fy", "fz", "mx", "my", "mz"};
static const char *const units[] = {"m", "m", "m", "rad", "rad", "rad", "N", "N", "N", "N m", "N m", "N m"};
/* Without stiffness about its axes no moment jumps, and nothing is to be watched. */
static const CalDeviceOps ops = {.type = "bushing",
                                 .bind = bushing_bind,
                                 .start = bushing_start,
                                 .evaluate = bushing_evaluate,
                                 .outputs = bushing_outputs,
                                 .nodes = bushing_nodes,
                                 .parameter = bushing_parameter,
                                 .output_count = 12,
                                 .output_names = names,
                                 .output_units = units};
static const CalDeviceOps turning_ops = {.type = "bushing",
                                         .bind = bushing_bind,
                                         .start = bushing_start,
                                         .evaluate = bushing_evaluate,
                                         .values = bushing_values,
                                         .lookahead = bushing_outlook,
                                         .value_text = bushing_value_text,
                                         .outputs = bushing_outputs,
                                         .nodes = bushing_nodes,
                                         .parameter = bushing_parameter,
                                         .output_count = 12,
                                         .output_names = names,
                                         .output_units = units};

CalStatus cal_sim_add_bushing(CalSim *sim, const CalBushingDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	const bool turns = v_norm(def->angular_stiffness) > 0;
	DeviceBuilder d = device_builder(sim, turns ? &turning_ops : &ops, def->name, def->place, error);
	Bushing data = {.def = *def, .rest = mat_of(dquat_matrix(def->rest.orientation)), .turns = turns};
	snprintf(data.name, sizeof data.name, "%s", def->name ? def->name : "");
	device_not_negatives(&d, "stiffness", def->stiffness);
	device_not_negatives(&d, "damping", def->damping);
	device_not_negatives(&d, "angular stiffness", def->angular_stiffness);
	device_not_negatives(&d, "angular damping", def->angular_damping);
	device_check(&d, def->a.value != def->b.value, "it ties a node to itself; name two nodes");
	d.def.wrench_count = 2;
	d.def.event_count = turns ? 1 : 0;
	return device_add(&d, &data, sizeof data, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalBushingDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalBushingDef),
	{"from", FIELD_NODE, AT(a), .doc = "the node whose axes count; default `ground`"},
	{"to", FIELD_NODE, AT(b), .doc = "the other node; default `ground`"},
	{"rest", FIELD_PLACEMENT, AT(rest), .doc = "of `to` in `from` where the bushing is unloaded; default none"},
	{"stiffness", FIELD_VECTOR, AT(stiffness), DIM_STIFFNESS, .flags = FIELD_TUNED_FROM_0, .doc = "default 0"},
	{"damping", FIELD_VECTOR, AT(damping), DIM_DAMPING, .flags = FIELD_TUNED_FROM_0, .doc = "default 0"},
	{"angular_stiffness", FIELD_VECTOR, AT(angular_stiffness), DIM_ANGULAR_STIFFNESS, .flags = FIELD_TUNED_FROM_0,
     .doc = "on the rotation vector; default 0"},
	{"angular_damping", FIELD_VECTOR, AT(angular_damping), DIM_ANGULAR_DAMPING, .flags = FIELD_TUNED_FROM_0,
     .doc = "default 0"},
};
#undef AT
DEVICE_ADD(add_bushing, CalBushingDef, cal_sim_add_bushing)

const DeviceType bushing_type = {
	.table = {FIELDS("bushing", fields),
              .doc = "Springs and dampers between two nodes, of any groups, along and about the axes of the first."},
	DEVICE_DEF(CalBushingDef),
	.add = add_bushing,
	.ops = &ops};
