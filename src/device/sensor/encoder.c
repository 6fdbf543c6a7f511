// SPDX-License-Identifier: Apache-2.0
/*
 * encoder.c — the coordinate of a degree of freedom, and its rate as the difference of two readings over the period.
 */
#include "device/sensor/sensor.h"

typedef struct EncoderDef {
	const char *name;
	CalJointId joint;
	int dof;
	double bias; // [rad] or [m]
	SensorKeys keys;
	const char *place;
} EncoderDef;

enum { LAST, HAS_LAST, ENCODER_STATES };

typedef struct Encoder {
	Sensor sensor; // first
	EncoderDef def;
	CalDofRef at;
} Encoder;

static Encoder *encoder_of(const CalDevice *device) { return (Encoder *)(void *)sampled_of(device); }

static int encoder_bind(const CalDevice *device, const CalEvalContext *context) {
	Encoder *s = encoder_of(device);
	return bind_dof(context, s->def.joint, s->def.dof, &s->at);
}

static int encoder_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	const Encoder *s = encoder_of(device);
	const uint64_t k = sensor_sample_number(&s->sensor, context);
	double *state = sampled_states(device);
	const double q = sensor_reading(&s->sensor, k, 0, cal_context_q(context, s->at), s->def.bias);
	const double y[2] = {q, state[HAS_LAST] != 0 ? (q - state[LAST]) / s->sensor.s.period : 0};
	(void)x;
	state[LAST] = q;
	state[HAS_LAST] = 1;
	sampled_hold(device, y);
	return 0;
}

static const char *const names[] = {"position", "rate"};
static const char *const units[DOF_KIND_KINDS][2] = {{"rad", "rad/s"}, {"m", "m/s"}, {"rad|m", "rad/s|m/s"}};
/* Units by what it measures. */
#define OPS(kind) SENSOR_OPS("encoder", encoder_bind, encoder_sample, 2, names, units[kind])
static const CalDeviceOps ops[DOF_KIND_KINDS] = {OPS(DOF_KIND_TURNS), OPS(DOF_KIND_SLIDES), OPS(DOF_KIND_EITHER)};
#undef OPS

static CalStatus add_encoder(CalSim *sim, const void *given, int *device, CalError *error) {
	const EncoderDef *def = given;
	DeviceBuilder d = device_builder(sim, &ops[dof_kind(sim, def->joint, def->dof)], def->name, def->place, error);
	Encoder *s = sampled_alloc(&d, sizeof *s);
	if (!s)
		return d.status;
	s->def = *def;
	sensor_take(&d, &s->sensor, &def->keys, 2, ENCODER_STATES);
	return sampled_add_device(&d, &s->sensor.s, device);
}

#define AT(member) offsetof(EncoderDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(EncoderDef),
	{"joint", FIELD_JOINT, AT(joint), .flags = FIELD_REQUIRED, .doc = "that it measures"},
	{"dof", FIELD_DOF, AT(dof), .doc = "which of the degrees of freedom of the joint; needed if it has several"},
	{"bias", FIELD_NUMBER, AT(bias), DIM_ANGLE, .flags = FIELD_BY_DOF, .doc = "default 0"},
	{"noise", FIELD_NOT_NEGATIVE, AT(keys.noise), DIM_ANGLE, .flags = FIELD_BY_DOF,
     .doc = "standard deviation of each sample; default 0"},
	{"resolution", FIELD_NOT_NEGATIVE, AT(keys.resolution), DIM_ANGLE, .flags = FIELD_BY_DOF,
     .doc = "of a count, of which readings are multiples; default 0: exact"},
	{"seed", FIELD_WHOLE, AT(keys.seed), .doc = "of the noise; default 0"},
	SAMPLED_FIELDS(EncoderDef, keys.sampled),
};
#undef AT

const DeviceType encoder_type = {
	.table = {FIELDS("encoder", fields),
              .doc = "The coordinate of a joint, as an encoder counts it, and its rate by differences."},
	DEVICE_DEF(EncoderDef),
	.add = add_encoder,
	.ops = &ops[DOF_KIND_EITHER],
	.sampled = true};
