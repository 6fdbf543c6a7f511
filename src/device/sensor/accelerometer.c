// SPDX-License-Identifier: Apache-2.0
/*
 * accelerometer.c — the specific force at a node in its own axes: R'(a - g), a the acceleration of its origin, g the gravity of
 * the group and of planets. At rest it reads +g upwards, in free fall zero.
 */
#include "device/gravity.h"
#include "device/sensor/sensor.h"
#include "sim/sim_internal.h"

typedef struct AccelerometerDef {
	const char *name;
	CalNodeId node;
	CalVec3 bias; // [m/s^2]
	SensorKeys keys;
	const char *place;
} AccelerometerDef;

typedef struct Accelerometer {
	Sensor sensor; // first
	AccelerometerDef def;
	CalNodeRef at;
} Accelerometer;

static Accelerometer *accelerometer_of(const CalDevice *device) { return (Accelerometer *)(void *)sampled_of(device); }

static int accelerometer_bind(const CalDevice *device, const CalEvalContext *context) {
	Accelerometer *s = accelerometer_of(device);
	return bind_node(context, s->def.node, &s->at) || s->at.group < 0 ? -1 : 0;
}

/* In the axes of the node. Nonzero: the dynamics failed. */
static int specific_force(const Accelerometer *s, CalEvalContext *context, CalVec3 *f) {
	CalSimView view;
	CalPose pose;
	CalSpatial a;
	CalVec3 g;
	if (context_observe(context, s->at.group, &view) != CAL_OK ||
	    cal_node_pose(view.model, view.work, s->at.node, &pose) != CAL_OK ||
	    cal_node_acceleration(view.model, view.work, s->at.node, &a) != CAL_OK ||
	    gravity_field(context, s->at.group, pose.r, &g) != 0)
		return 1;
	*f = v_unturn(&pose.R, v_sub(a.linear, v_add(g, cal_model_gravity(view.model))));
	return 0;
}

static int accelerometer_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	const Accelerometer *s = accelerometer_of(device);
	const uint64_t k = sensor_sample_number(&s->sensor, context);
	const CalVec3 bias = s->def.bias;
	CalVec3 f;
	(void)x;
	if (specific_force(s, context, &f) != 0)
		return 1;
	const double y[3] = {sensor_reading(&s->sensor, k, 0, f.x, bias.x), sensor_reading(&s->sensor, k, 1, f.y, bias.y),
	                     sensor_reading(&s->sensor, k, 2, f.z, bias.z)};
	sampled_hold(device, y);
	return 0;
}

static const char *const names[] = {"ax", "ay", "az"}, *const units[] = {"m/s^2", "m/s^2", "m/s^2"};
static const CalDeviceOps ops = SENSOR_OPS("accelerometer", accelerometer_bind, accelerometer_sample, 3, names, units);

static CalStatus add_accelerometer(CalSim *sim, const void *given, int *device, CalError *error) {
	const AccelerometerDef *def = given;
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	Accelerometer *s = sampled_alloc(&d, sizeof *s);
	if (!s)
		return d.status;
	s->def = *def;
	sensor_take(&d, &s->sensor, &def->keys, 3, 0);
	return sampled_add_device(&d, &s->sensor.s, device);
}

#define AT(member) offsetof(AccelerometerDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(AccelerometerDef),
	{"node", FIELD_NODE, AT(node), .flags = FIELD_REQUIRED,
     .doc = "of a body, whose specific force it measures, in its axes"},
	{"bias", FIELD_VECTOR, AT(bias), DIM_ACCELERATION, .doc = "of each axis; default 0"},
	SENSOR_FIELDS(AccelerometerDef, keys, DIM_ACCELERATION),
};
#undef AT

const DeviceType accelerometer_type = {
	.table = {FIELDS("accelerometer", fields),
              .doc = "An accelerometer of three axes: acceleration minus gravity. At rest it reads gravity upwards."},
	DEVICE_DEF(AccelerometerDef),
	.add = add_accelerometer,
	.ops = &ops,
	.sampled = true};
