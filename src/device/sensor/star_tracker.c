// SPDX-License-Identifier: Apache-2.0
/*
 * star_tracker.c — the attitude of a node as a quaternion (qw >= 0): the rotation from the axes of the world, or of another node,
 * to its own. Errors are a small rotation in its axes: q exp((bias + noise)/2), then every component is rounded.
 */
#include "device/sensor/sensor.h"

#include "math/placement.h"
#include "math/quat.h"

typedef struct StarTrackerDef {
	const char *name;
	CalNodeId node, from; // from {0}: the world
	CalVec3 bias;         // rotation vector [rad]
	SensorKeys keys;      // resolution: of the components of the quaternion
	const char *place;
} StarTrackerDef;

typedef struct StarTracker {
	Sensor sensor; // first
	StarTrackerDef def;
	CalNodeRef at, from;
} StarTracker;

static StarTracker *tracker_of(const CalDevice *device) { return (StarTracker *)(void *)sampled_of(device); }

static int tracker_bind(const CalDevice *device, const CalEvalContext *context) {
	StarTracker *s = tracker_of(device);
	return bind_node(context, s->def.from, &s->from) || bind_node(context, s->def.node, &s->at);
}

static CalQuat attitude(const CalMat3 *from, const CalMat3 *to) {
	return quat_of_matrix(dmat_mul(dmat_transpose(dmat_in(from)), dmat_in(to)));
}

static dvec3 error_angles(const StarTracker *s, uint64_t k) {
	const double noise = s->sensor.keys.noise;
	double angle[3] = {s->def.bias.x, s->def.bias.y, s->def.bias.z};
	for (int i = 0; i < 3 && noise > 0; i++)
		angle[i] += noise * sensor_noise(&s->sensor, k, i);
	return (dvec3){angle[0], angle[1], angle[2]};
}

static int tracker_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	const StarTracker *s = tracker_of(device);
	CalPose from, to;
	(void)x;
	if (cal_context_node_motion(context, s->from, &from, NULL) != CAL_OK ||
	    cal_context_node_motion(context, s->at, &to, NULL) != CAL_OK)
		return 1;
	const dvec3 error = error_angles(s, sensor_sample_number(&s->sensor, context));
	CalQuat q = attitude(&from.R, &to.R);
	if (ddot(error, error) > 0)
		q = dquat_mul(q, dquat_exp(error));
	const double sign = q.w < 0 ? -1 : 1;
	const double y[4] = {sensor_quantized(&s->sensor, sign * q.w), sensor_quantized(&s->sensor, sign * q.x),
	                     sensor_quantized(&s->sensor, sign * q.y), sensor_quantized(&s->sensor, sign * q.z)};
	sampled_hold(device, y);
	return 0;
}

static const char *const names[] = {"qw", "qx", "qy", "qz"}, *const units[] = {"1", "1", "1", "1"};
static const CalDeviceOps ops = SENSOR_OPS("star_tracker", tracker_bind, tracker_sample, 4, names, units);

static CalStatus add_star_tracker(CalSim *sim, const void *given, int *device, CalError *error) {
	const StarTrackerDef *def = given;
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	StarTracker *s = sampled_alloc(&d, sizeof *s);
	if (!s)
		return d.status;
	s->def = *def;
	sensor_take(&d, &s->sensor, &def->keys, 4, 0);
	return sampled_add_device(&d, &s->sensor.s, device);
}

#define AT(member) offsetof(StarTrackerDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(StarTrackerDef),
	{"node", FIELD_NODE, AT(node), .flags = FIELD_REQUIRED, .doc = "whose attitude it measures"},
	{"from", FIELD_NODE, AT(from), .doc = "relative to whose axes; default the world"},
	{"bias", FIELD_VECTOR, AT(bias), DIM_ANGLE, .doc = "misalignment as a rotation vector; default 0"},
	{"noise", FIELD_NOT_NEGATIVE, AT(keys.noise), DIM_ANGLE, .doc = "standard deviation about each axis; default 0"},
	{"resolution", FIELD_NOT_NEGATIVE, AT(keys.resolution),
     .doc = "of the components of the quaternion; default 0: exact"},
	{"seed", FIELD_WHOLE, AT(keys.seed), .doc = "of the noise; default 0"},
	SAMPLED_FIELDS(StarTrackerDef, keys.sampled),
};
#undef AT

const DeviceType star_tracker_type = {
	.table = {FIELDS("star_tracker", fields), .doc = "The attitude of a node, as a star tracker measures it."},
	DEVICE_DEF(StarTrackerDef),
	.add = add_star_tracker,
	.ops = &ops,
	.sampled = true};
