// SPDX-License-Identifier: Apache-2.0
/*
 * sensor.h — what sensors share: samples that are held and delayed (device/control/sampled.h), and the errors of a channel.
 *
 *   reading = round((clip(value + bias + noise n[k], range))/resolution) resolution
 *
 * n[k] is normal with variance 1, a function of the seed, the name of the sensor, the channel and k alone (math/philox.h):
 * neither threads nor restarts, nor what other sensors do, change it.
 */
#ifndef CALDER_DEVICE_SENSOR_SENSOR_H
#define CALDER_DEVICE_SENSOR_SENSOR_H

#include "device/control/sampled.h"

/* Keys that all of them have, beside a bias. */
typedef struct SensorKeys {
	SampledKeys sampled;
	double noise, resolution, range; // 0: none
	int seed;
} SensorKeys;

/* unit: dimension of the values. */
#define SENSOR_FIELDS(def, member, unit)                                                                   \
	{"noise", FIELD_NOT_NEGATIVE, offsetof(def, member) + offsetof(SensorKeys, noise), unit,               \
	 .doc = "standard deviation of each sample; default 0"},                                               \
		{"resolution", FIELD_NOT_NEGATIVE, offsetof(def, member) + offsetof(SensorKeys, resolution), unit, \
	     .doc = "readings are multiples of it; default 0: exact"},                                         \
		{"range", FIELD_NOT_NEGATIVE, offsetof(def, member) + offsetof(SensorKeys, range), unit,           \
	     .doc = "readings are clipped to ± this; default none"},                                           \
		{"seed", FIELD_WHOLE, offsetof(def, member) + offsetof(SensorKeys, seed),                          \
	     .doc = "of the noise; default 0. Sensors of other names have other noise"},                       \
		SAMPLED_FIELDS(def, member.sampled)

typedef struct Sensor {
	Sampled s;       // first
	SensorKeys keys; //
	uint64_t stream; // of its random numbers, by its name
} Sensor;

/** Takes the keys; `outputs` channels, `states` of the device itself. */
void sensor_take(DeviceBuilder *d, Sensor *sensor, const SensorKeys *keys, int outputs, int states);
/** Number k of the sample at the instant of the context. */
uint64_t sensor_sample_number(const Sensor *sensor, const CalEvalContext *context);
/** A normal number with variance 1 for sample k of a channel. */
double sensor_noise(const Sensor *sensor, uint64_t k, int channel);
/** What the channel reads for a value, with errors. */
double sensor_reading(const Sensor *sensor, uint64_t k, int channel, double value, double bias);
/** The last part of a reading: range and resolution. */
double sensor_quantized(const Sensor *sensor, double value);

/* What all of them do alike; sample() and bind() are their own. */
#define SENSOR_OPS(word, binding, sampling, count, names, units)                                                  \
	{                                                                                                             \
		.type = (word), .bind = (binding), .evaluate = sampled_evaluate, .sample = (sampling),                    \
		.outputs = sampled_outputs, .destroy = sampled_destroy, .output_count = (count), .output_names = (names), \
		.output_units = (units)                                                                                   \
	}

#endif
