// SPDX-License-Identifier: Apache-2.0
/*
 * sensor.c — errors of sensors.
 */
#include "device/sensor/sensor.h"

#include <string.h>

#include "base/serializer.h"
#include "math/philox.h"
#include "math/quantile.h"

void sensor_take(DeviceBuilder *d, Sensor *sensor, const SensorKeys *keys, int outputs, int states) {
	sensor->keys = *keys;
	sensor->stream = d->def.name ? serializer_hash(SERIALIZER_HASH_START, d->def.name, strlen(d->def.name)) : 0;
	device_not_negative(d, "noise", keys->noise);
	device_not_negative(d, "resolution", keys->resolution);
	device_not_negative(d, "range", keys->range);
	sampled_take(d, &sensor->s, &keys->sampled, outputs, states);
}

/* Samples are at offset + k period to round-off: the nearest k is the one. */
uint64_t sensor_sample_number(const Sensor *sensor, const CalEvalContext *context) {
	return (uint64_t)floor((cal_context_time(context) - sensor->s.offset) / sensor->s.period + 0.5);
}

double sensor_noise(const Sensor *sensor, uint64_t k, int channel) {
	const Draw drawn = draw((uint64_t)sensor->keys.seed, k, sensor->stream + (uint64_t)channel);
	return quantile_normal(unit_interval(drawn.a));
}

double sensor_quantized(const Sensor *sensor, double value) {
	const SensorKeys *keys = &sensor->keys;
	if (keys->range > 0)
		value = fmin(fmax(value, -keys->range), keys->range);
	return keys->resolution > 0 ? floor(value / keys->resolution + 0.5) * keys->resolution : value;
}

double sensor_reading(const Sensor *sensor, uint64_t k, int channel, double value, double bias) {
	const double noise = sensor->keys.noise > 0 ? sensor->keys.noise * sensor_noise(sensor, k, channel) : 0;
	return sensor_quantized(sensor, value + bias + noise);
}
