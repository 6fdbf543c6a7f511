// SPDX-License-Identifier: Apache-2.0
/*
 * sampled.h — what sampled devices (controllers, filters, sensors) share: inputs that are read at the samples t = offset + k T,
 * outputs that are held from sample to sample, and a delay by whole samples.
 *
 * Data of such a device is a pointer to a struct in memory of its own, which begins with a Sampled: the caller can read why a
 * formula could not be bound. Discrete states: the outputs that are held, those under way (oldest first), then states of the
 * device.
 */
#ifndef CALDER_DEVICE_CONTROL_SAMPLED_H
#define CALDER_DEVICE_CONTROL_SAMPLED_H

#include "device/device.h"
#include "device/device_type.h"
#include "device/load_component.h"

enum {
	SAMPLED_MOST_INPUTS = 32,  // within the tables of a DeviceBuilder
	SAMPLED_MOST_OUTPUTS = 16, //
	SAMPLED_MOST_DELAY = 10000 // samples
};

/* Keys that all of them have. */
typedef struct SampledKeys {
	double sample_period, sample_offset; // [s]
	int delay;                           // [samples]
} SampledKeys;

#define SAMPLED_FIELDS(def, member)                                                                             \
	{                                                                                                           \
		"sample_period",                                                                                        \
		FIELD_POSITIVE,                                                                                         \
		offsetof(def, member) + offsetof(SampledKeys, sample_period),                                           \
		DIM_TIME,                                                                                               \
		.flags = FIELD_REQUIRED,                                                                                \
		.doc = "T: it samples at the times `sample_offset` + k T, k = 0, 1, …"},                                \
		{"sample_offset", FIELD_NUMBER, offsetof(def, member) + offsetof(SampledKeys, sample_offset), DIM_TIME, \
	     .doc = "time of the first sample; default 0"},                                                         \
	{                                                                                                           \
		"delay", FIELD_WHOLE, offsetof(def, member) + offsetof(SampledKeys, delay),                             \
			.doc = "of the outputs, in samples; default 0: at once"                                             \
	}

typedef struct Sampled {
	int input_count, output_count, delay;
	double period, offset;                     // [s]
	LoadComponent inputs[SAMPLED_MOST_INPUTS]; // [input_count]
	char names[SAMPLED_MOST_INPUTS][24];       // of the inputs, for messages
} Sampled;

/* ---- making ----------------------------------------------------------------------------------------------------- */

/** Memory for the struct of a device, zero; NULL after noting that there is none. */
void *sampled_alloc(DeviceBuilder *d, size_t size);
/** Takes the keys; the device has `outputs` held values and `states` of its own. */
void sampled_take(DeviceBuilder *d, Sampled *s, const SampledKeys *keys, int outputs, int states);
/** The next input, called `name` in messages. */
void sampled_take_input(DeviceBuilder *d, Sampled *s, const char *name, const CalLoadValue *value);
/** Adds the device; says why an input could not be bound. On failure the struct is released. */
CalStatus sampled_add_device(DeviceBuilder *d, Sampled *s, int *device);

/* ---- in a run --------------------------------------------------------------------------------------------------- */

Sampled *sampled_of(const CalDevice *device);
/** 0 or -1, as bind() returns it. */
int sampled_bind(const CalDevice *device, const CalEvalContext *context);
/** u[input_count] now; nonzero after saying which one has no value. */
int sampled_read(const CalDevice *device, CalEvalContext *context, double *u);
/** y[output_count] of this sample: what left the delay line is held from now on. */
void sampled_hold(const CalDevice *device, const double *y);
/** States of the device itself, after what is held. */
double *sampled_states(const CalDevice *device);
/** An evaluate() that does nothing, an outputs() that gives what is held. */
int sampled_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot);
int sampled_outputs(const CalDevice *device, CalEvalContext *context, double *output);
void sampled_destroy(void *data);

#endif
