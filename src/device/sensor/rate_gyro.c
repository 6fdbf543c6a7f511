// SPDX-License-Identifier: Apache-2.0
/*
 * rate_gyro.c — a rate gyro: the angular velocity of a node in its own axes.
 */
#include "device/sensor/sensor.h"

typedef struct GyroDef {
	const char *name;
	CalNodeId node;
	CalVec3 bias; // [rad/s]
	SensorKeys keys;
	const char *place;
} GyroDef;

typedef struct Gyro {
	Sensor sensor; // first
	GyroDef def;
	CalNodeRef at;
} Gyro;

static Gyro *gyro_of(const CalDevice *device) { return (Gyro *)(void *)sampled_of(device); }

static int gyro_bind(const CalDevice *device, const CalEvalContext *context) {
	Gyro *gyro = gyro_of(device);
	return bind_node(context, gyro->def.node, &gyro->at);
}

static int gyro_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	const Gyro *gyro = gyro_of(device);
	const Sensor *sensor = &gyro->sensor;
	const uint64_t k = sensor_sample_number(sensor, context);
	CalPose pose;
	CalSpatial v;
	(void)x;
	if (cal_context_node_motion(context, gyro->at, &pose, &v) != CAL_OK)
		return 1;
	const CalVec3 w = v_unturn(&pose.R, v.angular), bias = gyro->def.bias;
	const double y[3] = {sensor_reading(sensor, k, 0, w.x, bias.x), sensor_reading(sensor, k, 1, w.y, bias.y),
	                     sensor_reading(sensor, k, 2, w.z, bias.z)};
	sampled_hold(device, y);
	return 0;
}

static const char *const names[] = {"wx", "wy", "wz"}, *const units[] = {"rad/s", "rad/s", "rad/s"};
static const CalDeviceOps ops = SENSOR_OPS("rate_gyro", gyro_bind, gyro_sample, 3, names, units);

static CalStatus add_gyro(CalSim *sim, const void *given, int *device, CalError *error) {
	const GyroDef *def = given;
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	Gyro *gyro = sampled_alloc(&d, sizeof *gyro);
	if (!gyro)
		return d.status;
	gyro->def = *def;
	sensor_take(&d, &gyro->sensor, &def->keys, 3, 0);
	return sampled_add_device(&d, &gyro->sensor.s, device);
}

#define AT(member) offsetof(GyroDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(GyroDef),
	{"node", FIELD_NODE, AT(node), .flags = FIELD_REQUIRED, .doc = "whose rates it measures, in its axes"},
	{"bias", FIELD_VECTOR, AT(bias), DIM_RATE, .doc = "of each axis; default 0"},
	SENSOR_FIELDS(GyroDef, keys, DIM_RATE),
};
#undef AT

const DeviceType rate_gyro_type = {.table = {FIELDS("rate_gyro", fields), .doc = "A rate gyro of three axes."},
                                   DEVICE_DEF(GyroDef),
                                   .add = add_gyro,
                                   .ops = &ops,
                                   .sampled = true};
