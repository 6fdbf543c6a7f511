// SPDX-License-Identifier: Apache-2.0
/*
 * force_sensor.c — moment and force that pass through a joint onto its outboard body, at the node of that body which the joint
 * carries and in its axes: what a force and torque sensor in the place of the joint measures.
 */
#include "device/sensor/sensor.h"
#include "sim/sim_internal.h"

typedef struct ForceSensorDef {
	const char *name;
	CalJointId joint;
	CalVec3 bias_moment, bias_force;
	double noise_moment, noise_force, resolution_moment, resolution_force;
	int seed;
	SampledKeys sampled;
	const char *place;
} ForceSensorDef;

typedef struct ForceSensor {
	Sensor sensor; // first; of the moments
	Sensor force;  // of the forces: noise and resolution
	ForceSensorDef def;
	int group, body;
} ForceSensor;

static ForceSensor *force_sensor_of(const CalDevice *device) { return (ForceSensor *)(void *)sampled_of(device); }

/* The body that the joint carries. */
static int force_sensor_bind(const CalDevice *device, const CalEvalContext *context) {
	ForceSensor *s = force_sensor_of(device);
	for (int i = 0; i < cal_context_group_count(context); i++) {
		s->group = i;
		s->body = cal_model_joint_index(cal_context_model(context, i), s->def.joint);
		if (s->body >= 0)
			return 0;
	}
	return -1;
}

static int wrench_of(const ForceSensor *s, CalEvalContext *context, CalSpatial *wrench) {
	CalSimView view;
	CalBodyInfo body;
	CalPose pose;
	if (context_observe(context, s->group, &view) != CAL_OK ||
	    cal_reactions(view.model, view.state, view.udot, &view.input, view.work) != CAL_OK ||
	    cal_joint_reaction(view.model, view.work, s->body, wrench) != CAL_OK ||
	    cal_model_body(view.model, s->body, &body) != CAL_OK ||
	    cal_node_pose(view.model, view.work, body.head_node, &pose) != CAL_OK)
		return 1;
	*wrench = (CalSpatial){v_unturn(&pose.R, wrench->angular), v_unturn(&pose.R, wrench->linear)};
	return 0;
}

static int force_sensor_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	const ForceSensor *s = force_sensor_of(device);
	const uint64_t k = sensor_sample_number(&s->sensor, context);
	CalSpatial f;
	(void)x;
	if (wrench_of(s, context, &f) != 0)
		return 1;
	const CalVec3 m0 = s->def.bias_moment, f0 = s->def.bias_force;
	const double y[6] = {
		sensor_reading(&s->sensor, k, 0, f.angular.x, m0.x), sensor_reading(&s->sensor, k, 1, f.angular.y, m0.y),
		sensor_reading(&s->sensor, k, 2, f.angular.z, m0.z), sensor_reading(&s->force, k, 3, f.linear.x, f0.x),
		sensor_reading(&s->force, k, 4, f.linear.y, f0.y),   sensor_reading(&s->force, k, 5, f.linear.z, f0.z)};
	sampled_hold(device, y);
	return 0;
}

static const char *const names[] = {"mx", "my", "mz", "fx", "fy", "fz"};
static const char *const units[] = {"N m", "N m", "N m", "N", "N", "N"};
static const CalDeviceOps ops = SENSOR_OPS("force_sensor", force_sensor_bind, force_sensor_sample, 6, names, units);

static CalStatus add_force_sensor(CalSim *sim, const void *given, int *device, CalError *error) {
	const ForceSensorDef *def = given;
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	ForceSensor *s = sampled_alloc(&d, sizeof *s);
	if (!s)
		return d.status;
	const SensorKeys moments = {.sampled = def->sampled,
	                            .noise = def->noise_moment,
	                            .resolution = def->resolution_moment,
	                            .seed = def->seed},
					 forces = {.sampled = def->sampled,
	                           .noise = def->noise_force,
	                           .resolution = def->resolution_force,
	                           .seed = def->seed};
	s->def = *def;
	sensor_take(&d, &s->force, &forces, 6, 0);
	sensor_take(&d, &s->sensor, &moments, 6, 0);
	return sampled_add_device(&d, &s->sensor.s, device);
}

#define AT(member) offsetof(ForceSensorDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(ForceSensorDef),
	{"joint", FIELD_JOINT, AT(joint), .flags = FIELD_REQUIRED, .doc = "through which moment and force pass"},
	{"bias_moment", FIELD_VECTOR, AT(bias_moment), DIM_TORQUE, .doc = "default 0"},
	{"bias_force", FIELD_VECTOR, AT(bias_force), DIM_FORCE, .doc = "default 0"},
	{"noise_moment", FIELD_NOT_NEGATIVE, AT(noise_moment), DIM_TORQUE,
     .doc = "standard deviation of each sample; default 0"},
	{"noise_force", FIELD_NOT_NEGATIVE, AT(noise_force), DIM_FORCE,
     .doc = "standard deviation of each sample; default 0"},
	{"resolution_moment", FIELD_NOT_NEGATIVE, AT(resolution_moment), DIM_TORQUE, .doc = "default 0: exact"},
	{"resolution_force", FIELD_NOT_NEGATIVE, AT(resolution_force), DIM_FORCE, .doc = "default 0: exact"},
	{"seed", FIELD_WHOLE, AT(seed), .doc = "of the noise; default 0"},
	SAMPLED_FIELDS(ForceSensorDef, sampled),
};
#undef AT

const DeviceType force_sensor_type = {
	.table =
		{FIELDS("force_sensor", fields),
         .doc =
             "Moment and force through a joint onto its outboard body, in the axes of the node that the joint carries."},
	DEVICE_DEF(ForceSensorDef),
	.add = add_force_sensor,
	.ops = &ops,
	.sampled = true};
