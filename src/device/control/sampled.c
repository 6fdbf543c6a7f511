// SPDX-License-Identifier: Apache-2.0
/*
 * sampled.c — inputs, held outputs and delays of sampled devices.
 */
#include "device/control/sampled.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

Sampled *sampled_of(const CalDevice *device) { return *(Sampled **)device->data; }

/* ---- in a run ----------------------------------------------------------------------------------- */

int sampled_bind(const CalDevice *device, const CalEvalContext *context) {
	Sampled *s = sampled_of(device);
	for (int i = 0; i < s->input_count; i++)
		if (load_component_bind(&s->inputs[i], context) != 0)
			return -1;
	return 0;
}

int sampled_read(const CalDevice *device, CalEvalContext *context, double *u) {
	Sampled *s = sampled_of(device);
	for (int i = 0; i < s->input_count; i++)
		if (load_component_value(device, &s->inputs[i], context, &u[i]) != 0)
			return 1;
	return 0;
}

void sampled_hold(const CalDevice *device, const double *y) {
	const Sampled *s = sampled_of(device);
	const size_t count = (size_t)s->output_count, under_way = count * (size_t)s->delay;
	if (under_way > 0)
		memmove(device->d, device->d + count, under_way * sizeof(double));
	memcpy(device->d + under_way, y, count * sizeof(double));
}

double *sampled_states(const CalDevice *device) {
	const Sampled *s = sampled_of(device);
	return device->d + (ptrdiff_t)s->output_count * (s->delay + 1);
}

int sampled_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)device, (void)context, (void)xdot;
	return 0;
}

int sampled_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	(void)context;
	memcpy(output, device->d, (size_t)sampled_of(device)->output_count * sizeof(double));
	return 0;
}

static void sampled_free(Sampled *s) {
	const CalAllocator allocator = allocator_or_default(NULL);
	for (int i = 0; s && i < s->input_count; i++)
		load_component_release(&s->inputs[i]);
	memory_free(&allocator, s);
}

void sampled_destroy(void *data) { sampled_free(*(Sampled **)data); }

/* ---- making ------------------------------------------------------------------------------------- */

void *sampled_alloc(DeviceBuilder *d, size_t size) {
	const CalAllocator allocator = allocator_or_default(NULL);
	void *made = d->status == CAL_OK ? memory_alloc(&allocator, size) : NULL;
	if (made)
		memset(made, 0, size);
	else if (d->status == CAL_OK)
		d->status =
			error_set(d->error, CAL_ERR_MEMORY, "device \"%s\": %s", d->def.name, cal_status_text(CAL_ERR_MEMORY));
	return made;
}

void sampled_take(DeviceBuilder *d, Sampled *s, const SampledKeys *keys, int outputs, int states) {
	device_check(d, isfinite(keys->sample_period) && keys->sample_period > 0,
	             "sample_period is %g s; give a time greater than zero", keys->sample_period);
	device_check(d, isfinite(keys->sample_offset), "sample_offset is not a finite time");
	device_check(d, keys->delay >= 0 && keys->delay <= SAMPLED_MOST_DELAY,
	             "delay is %d; give a whole number of samples from 0 to %d", keys->delay, SAMPLED_MOST_DELAY);
	s->output_count = outputs;
	s->delay = keys->delay;
	s->period = keys->sample_period;
	s->offset = keys->sample_offset;
	d->def.sample_period = keys->sample_period;
	d->def.sample_offset = keys->sample_offset;
	d->def.nd = d->status == CAL_OK ? outputs * (keys->delay + 1) + states : 0;
}

/* Inputs are read at samples alone: their kinks are nothing that steps end at. */
void sampled_take_input(DeviceBuilder *d, Sampled *s, const char *name, const CalLoadValue *value) {
	if (d->status != CAL_OK)
		return;
	char *kept = s->names[s->input_count];
	snprintf(kept, sizeof s->names[0], "%s", name);
	load_component_take(d, &s->inputs[s->input_count++], kept, kept, value, -INFINITY, INFINITY);
	d->def.event_count = 0;
}

CalStatus sampled_add_device(DeviceBuilder *d, Sampled *s, int *device) {
	const CalStatus status = s ? device_add(d, &s, sizeof(Sampled *), device) : d->status;
	for (int i = 0; s && i < s->input_count && status == CAL_ERR_ARGUMENT && d->status == CAL_OK; i++)
		device_check(d, s->inputs[i].why.status == CAL_OK, "%s: %s", s->names[i], s->inputs[i].why.text);
	if (status != CAL_OK)
		sampled_free(s);
	return status;
}
