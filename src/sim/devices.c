// SPDX-License-Identifier: Apache-2.0
/*
 * devices.c — the devices of a simulation: adding them, their initial states, their sample times.
 *
 * A device is copied into one block: data, table, states, name. Sample times are offset + k period, computed from the
 * time alone: nothing but t needs to be kept to know which one comes next.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/sim.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "sim/sim_internal.h"

/* ---- adding -------------------------------------------------------------------------------------- */

/* A device's block: data first, so that they have the alignment of the allocator. */
typedef struct DeviceMemory {
	char *data, *name;
	double *table, *x, *d;
} DeviceMemory;

static DeviceMemory layout_device(const CalDeviceDef *def, Cursor *cursor) {
	DeviceMemory m;
	CURSOR_ARRAY(cursor, m.data, def->data_size);
	CURSOR_ARRAY(cursor, m.table, def->table_count);
	CURSOR_ARRAY(cursor, m.x, def->nx);
	CURSOR_ARRAY(cursor, m.d, def->nd);
	CURSOR_ARRAY(cursor, m.name, strlen(def->name) + 1);
	return m;
}

/* Copies everything into one block; NULL: out of memory. */
static void *device_copy(const CalSim *sim, const CalDeviceDef *def, SimDevice *device) {
	Cursor cursor = {.align = sizeof(double)};
	layout_device(def, &cursor);
	void *block = cursor_alloc_at_start(&cursor, &sim->allocator);
	if (!block)
		return NULL;
	cursor_clear(&cursor);
	const DeviceMemory m = layout_device(def, &cursor);
	*device = (SimDevice){.def = *def, .memory = block, .x = m.x};
	if (def->data_size > 0)
		memcpy(m.data, def->data, def->data_size);
	if (def->table_count > 0)
		memcpy(m.table, def->table, (size_t)def->table_count * sizeof(double));
	memcpy(m.name, def->name, strlen(def->name) + 1);
	device->is = (CalDevice){.data = m.data, .table = m.table, .table_count = def->table_count, .x = m.x, .d = m.d};
	device->def.name = m.name;
	device->def.data = m.data;
	device->def.table = m.table;
	return block;
}

static CalStatus check_def(const CalSim *sim, const CalDeviceDef *def, CalError *error) {
	if (!sim || !def || !def->name || !def->name[0] || !def->ops || !def->ops->type || !def->ops->evaluate)
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_sim_add_device: give a simulation and a device with a name, a type and evaluate()");
	if (cal_sim_find_device(sim, def->name) >= 0)
		return error_set(error, CAL_ERR_ARGUMENT, "there are two devices \"%s\"; rename one", def->name);
	const CalDeviceOps *ops = def->ops;
	const char *wrong =
		def->nx < 0 || def->nd < 0 || def->event_count < 0 || def->wrench_count < 0 || def->table_count < 0
			? "a count is negative"
		: (def->data_size > 0 && !def->data) || (def->table_count > 0 && !def->table)
			? "its data or table is NULL, but has a size"
		: !(def->sample_period >= 0) || !isfinite(def->sample_period) || !isfinite(def->sample_offset)
			? "its sample period is negative, or it or the offset is not finite"
		: def->sample_period > 0 && !ops->sample ? "it has a sample period, but no function sample()"
		: def->event_count > 0 && !ops->values   ? "it has events, but no function values()"
												 : NULL;
	return wrong ? error_set(error, CAL_ERR_ARGUMENT, "device \"%s\" (%s): %s", def->name, ops->type, wrong) : CAL_OK;
}

static void drop_last(CalSim *sim) {
	SimDevice *device = &sim->devices[--sim->device_count];
	memory_free(&sim->allocator, device->memory);
}

CalStatus cal_sim_add_device(CalSim *sim, const CalDeviceDef *def, int *device, CalError *error) {
	CalStatus status = check_def(sim, def, error);
	if (status != CAL_OK)
		return status;
	SimDevice *devices =
		array_reserve(&sim->allocator, sim->devices, sim->device_count, 1, &sim->device_capacity, sizeof *sim->devices);
	if (devices)
		sim->devices = devices;
	if (!devices || !name_index_reserve(&sim->allocator, &sim->device_names) ||
	    !device_copy(sim, def, &devices[sim->device_count]))
		return error_set(error, CAL_ERR_MEMORY, "device \"%s\": %s", def->name, cal_status_text(CAL_ERR_MEMORY));
	SimDevice *added = &sim->devices[sim->device_count++];
	name_index_insert(&sim->device_names, name_hash(0, def->name, strlen(def->name)), (uint32_t)sim->device_count);
	status = sim_bind(sim);
	if (status == CAL_OK && !added->active)
		status = CAL_ERR_ARGUMENT;
	if (status == CAL_OK) {
		sim->started = 0;
		if (device)
			*device = sim->device_count - 1;
		return CAL_OK;
	}
	drop_last(sim);
	sim_bind(sim); // needs no more than it had
	return status == CAL_ERR_ARGUMENT
	           ? error_set(
					 error, status,
					 "device \"%s\" (%s): a node, joint or group that it acts on is not in the "
					 "simulation, is of a kind that it cannot act on, or is a dependent joint of an embedded loop",
					 def->name, def->ops->type)
	           : error_set(error, status, "device \"%s\": %s", def->name, cal_status_text(status));
}

int cal_sim_device_count(const CalSim *sim) { return sim ? sim->device_count : 0; }

/* Slots of devices that were dropped again stay in the index, and match nothing. */
int cal_sim_find_device(const CalSim *sim, const char *name) {
	uint32_t cursor = 0, value, hash = sim && name ? name_hash(0, name, strlen(name)) : 0;
	while (sim && name && (value = name_index_next(&sim->device_names, hash, &cursor)) != 0)
		if ((int)value <= sim->device_count && strcmp(sim->devices[value - 1].def.name, name) == 0)
			return (int)value - 1;
	return -1;
}

static bool in_range(const CalSim *sim, int device) { return sim && device >= 0 && device < sim->device_count; }

CalStatus cal_sim_device(CalSim *sim, int device, CalDeviceInfo *info) {
	if (!in_range(sim, device) || !info)
		return CAL_ERR_ARGUMENT;
	SimDevice *d = &sim->devices[device];
	*info = (CalDeviceInfo){.name = d->def.name,
	                        .ops = d->def.ops,
	                        .active = d->active,
	                        .x = d->x,
	                        .d = d->is.d,
	                        .nx = d->def.nx,
	                        .nd = d->def.nd,
	                        .not_loaded = d->not_loaded,
	                        .sample_period = d->def.sample_period};
	return CAL_OK;
}

CalStatus cal_sim_switch_device(CalSim *sim, int device, int on) { return cal_sim_switch(sim, device, on, NULL); }

CalStatus cal_sim_switch(CalSim *sim, int device, int on, CalError *error) {
	if (!in_range(sim, device))
		return error_set(error, CAL_ERR_ARGUMENT, "there is no device %d", device);
	CalEvalContext context;
	CalStatus status = sim->started ? sim_evaluate_for_observers(sim, false, &context) : CAL_OK;
	const double held = sim->started ? context.stored : 0;
	sim->devices[device].off = !on;
	if (status == CAL_OK)
		status = sim_bind(sim); // of the same size as before: it does not allocate
	if (status == CAL_OK && on && sim->started &&
	    (drives_fit(sim, device, error) != CAL_OK || subsystem_fits(sim, device, error) != CAL_OK)) {
		sim->devices[device].off = true;
		sim_bind(sim); // needs no more than it had
		return CAL_ERR_ARGUMENT;
	}
	if (status == CAL_OK && sim->started)
		status = sim_start_devices(sim);
	if (status == CAL_OK && sim->started)
		status = sim_evaluate_for_observers(sim, false, &context);
	if (status == CAL_OK && sim->started)
		balance_add_loss(sim, held - context.stored);
	if (status == CAL_OK && sim->started && on)
		subsystems_pass_impulse(sim);
	return status;
}

CalStatus cal_context_device_outputs(CalEvalContext *context, int device, double *output) {
	if (!context || !in_range(context->sim, device) || !output)
		return CAL_ERR_ARGUMENT;
	const SimDevice *d = &context->sim->devices[device];
	for (int i = 0; i < d->def.ops->output_count; i++)
		output[i] = 0;
	if (!context->sim->started)
		return CAL_ERR_STAGE;
	if (!d->active || !d->def.ops->outputs)
		return CAL_OK;
	const CalDevice view = context_device(context, d);
	return context_failed(context, device, d->def.ops->outputs(&view, context, output));
}

CalStatus cal_sim_device_outputs(CalSim *sim, int device, double *output) {
	if (!in_range(sim, device) || !output)
		return CAL_ERR_ARGUMENT;
	const CalStatus status = sim->started ? CAL_OK : cal_sim_restart(sim, NULL);
	if (status != CAL_OK) {
		memset(output, 0, sizeof(double) * (size_t)sim->devices[device].def.ops->output_count);
		return status;
	}
	CalEvalContext context = context_now(sim, true);
	return cal_context_device_outputs(&context, device, output);
}

double *device_parameter_at(const SimDevice *device, int index, CalDeviceParameter *about) {
	*about = (CalDeviceParameter){0};
	double *number = device->def.ops->parameter ? device->def.ops->parameter(&device->is, index, about) : NULL;
	if (about->low == 0 && about->high == 0)
		about->low = -DBL_MAX, about->high = DBL_MAX;
	return number;
}

int device_values(const CalSim *sim, const SimDevice *device) {
	const CalDeviceOps *ops = device->def.ops;
	const bool soft = ops->lookahead && !ops->event;
	return soft && method_is_fixed(sim->method.method) ? 0 : device->def.event_count;
}

/* ---- starting and sampling ----------------------------------------------------------------------- */

/* k of the last sample time at or before t. */
static double sample_index(const CalDeviceDef *def, double t) {
	double k = floor((t - def->sample_offset) / def->sample_period);
	while (def->sample_offset + (k + 1) * def->sample_period <= t)
		k++;
	while (def->sample_offset + k * def->sample_period > t)
		k--;
	return k;
}

static bool samples_at(const SimDevice *device, double t) {
	const CalDeviceDef *def = &device->def;
	return device->active && def->sample_period > 0 && t >= def->sample_offset &&
	       def->sample_offset + sample_index(def, t) * def->sample_period == t;
}

static double next_sample(const CalDeviceDef *def, double t) {
	if (t < def->sample_offset)
		return def->sample_offset;
	return def->sample_offset + (sample_index(def, t) + 1) * def->sample_period;
}

double devices_next_switch(const CalSim *sim, double t) {
	double next = INFINITY;
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		if (!device->active)
			continue;
		if (device->def.sample_period > 0)
			next = fmin(next, next_sample(&device->def, t));
		if (device->def.ops->next_switch) {
			const double own = device->def.ops->next_switch(&device->is, t);
			next = own > t && own < next ? own : next;
		}
	}
	return next;
}

void scene_renew_device(CalEvalContext *context, const SimDevice *device) {
	if (device->def.nx > 0)
		memcpy(context->sim->system.now.x + device->x_at, device->x, sizeof(double) * (size_t)device->def.nx);
}

static CalStatus sample_device(CalEvalContext *context, int i) {
	SimDevice *device = &context->sim->devices[i];
	const CalDevice view = context_device(context, device);
	const CalStatus status = context_failed(context, i, device->def.ops->sample(&view, context, device->x));
	scene_renew_device(context, device);
	return status;
}

CalStatus devices_sample(CalSim *sim, double t) {
	CalStatus status = CAL_OK;
	CalEvalContext context = context_now(sim, false);
	for (int i = 0; i < sim->device_count && status == CAL_OK; i++)
		if (samples_at(&sim->devices[i], t))
			status = sample_device(&context, i);
	return status;
}

void devices_explain_small_step(CalSim *sim, double step) {
	CalEvalContext context = context_now(sim, true);
	for (int i = 0; i < sim->device_count && sim->failed_device < 0; i++) {
		const SimDevice *device = &sim->devices[i];
		if (!device->active || !device->def.ops->explain_small_step)
			continue;
		const CalDevice view = context_device(&context, device);
		if (device->def.ops->explain_small_step(&view, &context, step) != 0)
			sim->failed_device = i;
	}
}

static CalStatus start_device(CalEvalContext *context, int i) {
	SimDevice *device = &context->sim->devices[i];
	const CalDevice view = context_device(context, device);
	const CalDeviceOps *ops = device->def.ops;
	const CalStatus status = ops->start ? context_failed(context, i, ops->start(&view, context, device->x)) : CAL_OK;
	scene_renew_device(context, device);
	device->started = device->fresh = status == CAL_OK;
	return status;
}

/* First all start, then those sample whose time it is: a sample may need the forces of all. */
CalStatus sim_start_devices(CalSim *sim) {
	CalStatus status = CAL_OK;
	CalEvalContext context = context_now(sim, false);
	for (int i = 0; i < sim->device_count && status == CAL_OK; i++) {
		SimDevice *device = &sim->devices[i];
		device->fresh = false;
		if (!device->started && device->active)
			status = start_device(&context, i);
	}
	for (int i = 0; i < sim->device_count && status == CAL_OK; i++) {
		SimDevice *device = &sim->devices[i];
		if (device->fresh && samples_at(device, sim->groups[0].state.t))
			status = sample_device(&context, i);
		device->started &= status == CAL_OK || !device->fresh;
	}
	return status;
}
