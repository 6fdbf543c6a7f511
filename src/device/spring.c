// SPDX-License-Identifier: Apache-2.0
/*
 * spring.c — a spring and damper along the line between two nodes.
 *
 *   L = |r_b - r_a|, n = (r_b - r_a)/L, pull = k (L - L0) + c L'; on b: -pull n, on a: +pull n
 * A cable does not push: pull < 0 becomes 0, and beyond that it stores nothing. A strut does not pull, likewise. Where the
 * nodes meet the line has no direction, and nothing acts; where it should push, the way that they part is left to chance,
 * and the run says so.
 */
#include <stdio.h>

#include "device/device.h"
#include "device/device_type.h"
#include "sim/sim_internal.h"

extern const DeviceType spring_type;

typedef struct Spring {
	CalSpringDef def;
	char name[80];
	CalNodeRef a, b;
} Spring;

static int spring_bind(const CalDevice *device, const CalEvalContext *context) {
	Spring *s = device->data;
	return bind_node(context, s->def.a, &s->a) || bind_node(context, s->def.b, &s->b);
}

typedef struct Line {
	CalVec3 a, b;        // places of its nodes
	CalVec3 n;           // from a to b
	double length, rate; //
	double stretch;      // beyond the free length; of a slack cable 0, and of a strut that is let go
	double pull;
} Line;

/* What a cable cannot push, and a strut cannot pull. At the free length both act: a step may begin there. */
static void clip_to_one_sided(const CalSpringDef *def, Line *line) {
	const double beyond = line->length - def->length;
	if (def->cable)
		line->pull = beyond >= 0 ? fmax(line->pull, 0) : 0;
	if (def->strut)
		line->pull = beyond <= 0 ? fmin(line->pull, 0) : 0;
}

static Line line_of(const Spring *s, CalEvalContext *context) {
	Line line;
	CalSpatial va, vb;
	context_point_motion(context, s->a, &line.a, &va);
	context_point_motion(context, s->b, &line.b, &vb);
	const CalVec3 d = v_sub(line.b, line.a);
	line.length = v_norm(d);
	line.n = v_unit(d, (CalVec3){0, 0, 0});
	line.rate = v_dot(line.n, v_sub(vb.linear, va.linear));
	line.stretch = line.length - s->def.length;
	line.stretch = s->def.cable ? fmax(line.stretch, 0) : s->def.strut ? fmin(line.stretch, 0) : line.stretch;
	line.pull = s->def.stiffness * line.stretch + s->def.damping * line.rate;
	clip_to_one_sided(&s->def, &line);
	return line;
}

/* Only roundings apart: no step that is tried meets that by chance. */
static void doubt_direction(const Spring *s, CalEvalContext *context, const Line *line) {
	const double limit = 1e-12 * s->def.length, force = s->def.stiffness * s->def.length;
	if (s->def.cable || !(force > 0) || line->length > limit)
		return;
	CalDoubt doubt = {.kind = CAL_DOUBT_ACCURACY, .time = cal_context_time(context), .value = force};
	snprintf(doubt.object, sizeof doubt.object, "device \"%.80s\"", s->name);
	snprintf(
		doubt.text, sizeof doubt.text,
		"device \"%.80s\" (spring): its nodes are at the same place at t = %.6g s, where its %.4g N have no direction: "
		"they do not act, and which way the nodes part is left to roundings; move a node, or take a bushing",
		s->name, cal_context_time(context), force);
	cal_context_add_doubt(context, &doubt);
}

static int spring_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)xdot;
	const Spring *s = device->data;
	const Line line = line_of(s, context);
	const double elastic = s->def.stiffness * line.stretch;
	doubt_direction(s, context, &line);
	if (line.pull != 0) // of a slack cable, and of springs that only measure, it is zero
		context_apply_pair(context, s->a, line.a, s->b, line.b, line.b,
		                   (CalSpatial){.linear = v_scale(-line.pull, line.n)});
	cal_context_add_stored_energy(context, 0.5 * elastic * line.stretch);
	cal_context_add_dissipated_power(context, (line.pull - elastic) * line.rate);
	return 0;
}

/* Above zero: stretched (a strut: pressed); with a damper, a second one: it pulls (pushes). */
static int spring_values(const CalDevice *device, CalEvalContext *context, double *value) {
	const Spring *s = device->data;
	const Line line = line_of(s, context);
	const double side = s->def.strut ? -1 : 1, depth = side * (line.length - s->def.length);
	value[0] = depth;
	if (s->def.damping > 0)
		value[1] = is_pushing(s->def.stiffness, s->def.damping, depth, side * line.rate);
	return 0;
}

/* L'' = n.(a_b - a_a) + (speed across the line)^2 / L; where the nodes meet only their speed counts. */
static int spring_outlook(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	const Spring *s = device->data;
	if (!s->def.cable && !s->def.strut)
		return 0;
	const Line line = line_of(s, context);
	CalSpatial va, vb, aa, ab;
	cal_context_node_motion(context, s->a, NULL, &va);
	cal_context_node_motion(context, s->b, NULL, &vb);
	cal_context_node_acceleration(context, s->a, &aa);
	cal_context_node_acceleration(context, s->b, &ab);
	const CalVec3 v = v_sub(vb.linear, va.linear);
	const double value = line.length - s->def.length, speed = v_norm(v), pull = v_norm(v_sub(ab.linear, aa.linear));
	const double across = fmax(0, speed * speed - line.rate * line.rate);
	const double bend = line.length > 0 ? pull + across / line.length : 0;
	lookahead->event_free = keeps_sign(value, line.rate, bend);
	if (speed > 0 || pull > 0) // no distance changes faster than this
		lookahead->event_free = fmax(lookahead->event_free, keeps_sign(fabs(value), -speed, pull));
	const double k = s->def.stiffness, c = s->def.damping, side = s->def.strut ? -1 : 1;
	lookahead->event_free = fmin(lookahead->event_free, keeps_pushing(k, c, side * value, side * line.rate, bend));
	return 0;
}

static const char *spring_value_text(const CalDevice *device, int event) {
	(void)event;
	return ((const Spring *)device->data)->def.cable ? "cable going taut" : "strut letting go";
}

static int spring_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const Line line = line_of(device->data, context);
	output[0] = line.length;
	output[1] = line.pull;
	return 0;
}

static int spring_nodes(const CalDevice *device, CalNodeRef *node_refs) {
	const Spring *s = device->data;
	node_refs[0] = s->a, node_refs[1] = s->b;
	return 2;
}

/* A cable with a damper has a value more to watch than one without. */
static double *spring_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	CalSpringDef *def = &((Spring *)device->data)->def;
	double *number = device_parameter(&spring_type, def, DOF_KIND_SLIDES, index, about);
	if (number == &def->damping && (def->cable || def->strut))
		device_parameter_keeps_zero(*number, about);
	return number;
}

static const char *const names[] = {"length", "pull"}, *const units[] = {"m", "N"};
static const CalDeviceOps ops = {.type = "spring",
                                 .bind = spring_bind,
                                 .evaluate = spring_evaluate,
                                 .values = spring_values,
                                 .lookahead = spring_outlook,
                                 .value_text = spring_value_text,
                                 .outputs = spring_outputs,
                                 .nodes = spring_nodes,
                                 .parameter = spring_parameter,
                                 .output_count = 2,
                                 .output_names = names,
                                 .output_units = units};

CalStatus cal_sim_add_spring(CalSim *sim, const CalSpringDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	Spring data = {.def = *def};
	snprintf(data.name, sizeof data.name, "%s", def->name ? def->name : "");
	device_not_negative(&d, "stiffness", def->stiffness);
	device_not_negative(&d, "damping", def->damping);
	device_not_negative(&d, "length", def->length);
	device_check(&d, !def->cable || !def->strut, "a cable only pulls, a strut only pushes; it cannot be both");
	device_check(&d, def->a.value != def->b.value, "it ties a node to itself; name two nodes");
	d.def.wrench_count = 2;
	d.def.event_count = !def->cable && !def->strut ? 0 : def->damping > 0 ? 2 : 1;
	return device_add(&d, &data, sizeof data, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalSpringDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalSpringDef),
	{"from", FIELD_NODE, AT(a), .doc = "the first node; default `ground`"},
	{"to", FIELD_NODE, AT(b), .doc = "the second node; default `ground`"},
	{"stiffness", FIELD_NUMBER, AT(stiffness), DIM_STIFFNESS, .flags = FIELD_TUNED_FROM_0, .doc = "default 0"},
	{"damping", FIELD_NUMBER, AT(damping), DIM_DAMPING, .flags = FIELD_TUNED_FROM_0, .doc = "default 0"},
	{"length", FIELD_NUMBER, AT(length), DIM_LENGTH, .flags = FIELD_TUNED_FROM_0,
     .doc = "unstretched length; default 0"},
	{"cable", FIELD_FLAG, AT(cable), .doc = "it only pulls; default false"},
	{"strut", FIELD_FLAG, AT(strut), .doc = "it only pushes; default false"},
};
#undef AT
DEVICE_ADD(add_spring, CalSpringDef, cal_sim_add_spring)

const DeviceType spring_type = {
	.table = {FIELDS("spring", fields), .doc = "A spring and damper along the line between two nodes, of any groups."},
	DEVICE_DEF(CalSpringDef),
	.add = add_spring,
	.ops = &ops};
