// SPDX-License-Identifier: Apache-2.0
/*
 * limit.c — stops of a joint.
 *
 * Beyond a stop, with p >= 0 the depth and p' its rate, a spring and damper push back: max(0, k p + c p'). The damper
 * never pulls towards the stop, so a joint leaves it without sticking. Steps end at p = 0, where the force
 * jumps when it is met, and where it lets go, which a damper makes it do before it has relaxed.
 */
#include <float.h>

#include "device/device.h"

typedef struct Limit {
	CalLimitDef def;
	CalFreedom at;
} Limit;

static int limit_bind(const CalDevice *device, const CalScene *scene) {
	Limit *s = device->data;
	return bind_freedom(scene, s->def.joint, s->def.dof, &s->at);
}

/* Depth beyond the stop that is met (negative: inside of both) and which: +1 upper, -1 lower. */
static double depth_of(const Limit *s, double q, double *side) {
	const double above = q - s->def.upper, below = s->def.lower - q;
	*side = above >= below ? 1 : -1;
	return fmax(above, below);
}

static double force_of(const Limit *s, double depth, double rate) {
	return depth >= 0 ? fmax(0, s->def.stiffness * depth + s->def.damping * rate) : 0;
}

static int limit_evaluate(const CalDevice *device, CalScene *scene, double *xdot) {
	(void)xdot;
	const Limit *s = device->data;
	double side;
	const double depth = depth_of(s, cal_scene_q(scene, s->at), &side), rate = side * cal_scene_u(scene, s->at);
	if (!(depth >= 0))
		return 0;
	const double force = force_of(s, depth, rate), elastic = s->def.stiffness * depth;
	cal_scene_effort(scene, s->at, -side * force);
	cal_scene_store(scene, 0.5 * elastic * depth);
	cal_scene_dissipate(scene, (force - elastic) * rate);
	return 0;
}

/* Depth beyond each stop and its rate, upper first. A stop that is not there is far away. */
static void depths_of(const Limit *s, CalScene *scene, double depth[2], double rate[2]) {
	const double q = cal_scene_q(scene, s->at), u = cal_scene_u(scene, s->at);
	depth[0] = fmax(q - s->def.upper, -DBL_MAX);
	depth[1] = fmax(s->def.lower - q, -DBL_MAX);
	rate[0] = u;
	rate[1] = -u;
}

/* Above zero: beyond the stop; with a damper, a second pair: it pushes. */
static int limit_values(const CalDevice *device, CalScene *scene, double *value) {
	const Limit *s = device->data;
	const double k = s->def.stiffness, c = s->def.damping;
	double depth[2], rate[2];
	depths_of(s, scene, depth, rate);
	for (int i = 0; i < 2; i++) {
		value[i] = depth[i];
		if (c > 0)
			value[2 + i] = pushes(k, c, depth[i], rate[i]);
	}
	return 0;
}

static int limit_outlook(const CalDevice *device, CalScene *scene, CalOutlook *outlook) {
	const Limit *s = device->data;
	const double k = s->def.stiffness, c = s->def.damping, udot = cal_scene_udot(scene, s->at);
	double depth[2], rate[2];
	depths_of(s, scene, depth, rate);
	for (int i = 0; i < 2; i++) {
		const double meets = keeps_sign(depth[i], rate[i], udot);
		outlook->clear = fmin(outlook->clear, fmin(meets, keeps_pushing(k, c, depth[i], rate[i], udot)));
	}
	return 0;
}

static const char *limit_value_text(const CalDevice *device, int event) {
	(void)device;
	return event % 2 == 0 ? "upper stop" : "lower stop";
}

static int limit_outputs(const CalDevice *device, CalScene *scene, double *output) {
	const Limit *s = device->data;
	double side;
	const double depth = depth_of(s, cal_scene_q(scene, s->at), &side), rate = side * cal_scene_u(scene, s->at);
	output[0] = fmax(depth, 0);
	output[1] = -side * force_of(s, depth, rate);
	return 0;
}

static const char *const names[] = {"depth", "effort"};
static const char *const units[FREEDOM_KINDS][2] = {{"rad", "N m"}, {"m", "N"}, {"rad|m", "N m|N"}};
/* Units by what it acts on. */
#define OPS(kind)                                                                                              \
	{                                                                                                          \
		.type = "limit", .bind = limit_bind, .evaluate = limit_evaluate, .values = limit_values,               \
		.outlook = limit_outlook, .value_text = limit_value_text, .outputs = limit_outputs, .output_count = 2, \
		.output_names = names, .output_units = units[kind]                                                     \
	}
static const CalDeviceOps ops[FREEDOM_KINDS] = {OPS(FREEDOM_TURNS), OPS(FREEDOM_SLIDES), OPS(FREEDOM_EITHER)};
#undef OPS

CalStatus cal_sim_add_limit(CalSim *sim, const CalLimitDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	DeviceDraft d = device_draft(sim, &ops[freedom_kind(sim, def->joint, def->dof)], def->name, def->place, error);
	const Limit data = {.def = *def};
	device_check(&d, def->lower < def->upper, "the lower limit %g is not below the upper %g", def->lower, def->upper);
	device_check(&d, isfinite(def->stiffness) && def->stiffness > 0, "stiffness is %g; give one above zero",
	             def->stiffness);
	device_not_negative(&d, "damping", def->damping);
	d.def.event_count = def->damping > 0 ? 4 : 2;
	return device_add(&d, &data, sizeof data, device);
}
