// SPDX-License-Identifier: Apache-2.0
/*
 * device.c — what the built-in devices share: checking a definition, collecting its tables, adding it.
 */
#include "device/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/transition.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/model.h"

CalVec3 v_unit(CalVec3 a, CalVec3 fallback) {
	const double largest = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
	if (!(largest > 0))
		return fallback;
	const CalVec3 b = v_scale(1 / largest, a);
	return v_scale(1 / v_norm(b), b);
}

double keeps_sign(double value, double rate, double bend) {
	const double left = fabs(value), away = value < 0 ? -rate : rate, most = 2 * fabs(bend);
	if (most == 0)
		return away >= 0 ? INFINITY : left / -away;
	const double root = sqrt(away * away + 2 * most * left);
	return away >= 0 ? (away + root) / most : 2 * left / (root - away);
}

double beyond(double x, double limit) {
	const double d = x - limit;
	return fabs(d) <= 1e-12 * (fabs(x) + fabs(limit)) ? 0 : d;
}

double is_pushing(double k, double c, double depth, double rate) {
	return fmin(depth, (k * depth + c * rate) / (k + c));
}

double keeps_pushing(double k, double c, double depth, double rate, double bend) {
	const double force = k * depth + c * rate;
	if (!(depth > 0 && c > 0))
		return INFINITY;
	return keeps_sign(force, -copysign(k * fabs(rate) + c * fabs(bend), force), k * bend);
}

DeviceBuilder device_builder(CalSim *sim, const CalDeviceOps *ops, const char *name, const char *place,
                             CalError *error) {
	DeviceBuilder made = {.sim = sim, .place = place, .error = error};
	made.def = (CalDeviceDef){.name = name, .ops = ops, .accounts = 1};
	if (!sim || !name || !name[0])
		made.status = error_set(error, CAL_ERR_ARGUMENT, "%s%sdevice (%s): give a simulation and a name",
		                        PLACE_ARGS(place), ops->type);
	return made;
}

void device_check(DeviceBuilder *d, bool good, const char *format, ...) {
	char text[400];
	va_list args;
	if (good || d->status != CAL_OK)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	d->status = error_set(d->error, CAL_ERR_ARGUMENT, "%s%sdevice \"%s\" (%s): %s", PLACE_ARGS(d->place), d->def.name,
	                      d->def.ops->type, text);
}

void device_not_negative(DeviceBuilder *d, const char *what, double value) {
	device_check(d, isfinite(value) && value >= 0, "%s is %g; give a number that is zero or more", what, value);
}

void device_not_negatives(DeviceBuilder *d, const char *what, CalVec3 value) {
	device_not_negative(d, what, value.x);
	device_not_negative(d, what, value.y);
	device_not_negative(d, what, value.z);
}

void device_check_table(DeviceBuilder *d, const char *what, const CalTable *table) {
	device_check(d,
	             table->count >= 0 && table->count < 100000000 && (table->count == 0 || (table->time && table->value)),
	             "the table of %s has no numbers", what);
	device_check(d, (int)table->shape >= 0 && table->shape < CAL_TABLE_SHAPE_COUNT,
	             "the table of %s has no known shape", what);
	for (int i = 0; d->status == CAL_OK && table->time && table->value && i < table->count; i++) {
		device_check(d, isfinite(table->time[i]) && isfinite(table->value[i]),
		             "number %d in the table of %s is not finite", i + 1, what);
		device_check(d, i == 0 || table->time[i] > table->time[i - 1],
		             "times in the table of %s do not ascend: %g s is followed by %g s", what,
		             i ? table->time[i - 1] : 0, table->time[i]);
	}
}

Table device_table(DeviceBuilder *d, const char *what, const CalTable *table) {
	device_check_table(d, what, table);
	const Table placed = {.shape = table->shape, .at = d->def.table_count, .count = table->count};
	d->tables[d->tables_count++] = table;
	d->def.table_count += 2 * table->count;
	return placed;
}

CalStatus device_add(DeviceBuilder *d, const void *data, size_t size, int *device) {
	if (d->status != CAL_OK)
		return d->status;
	const CalAllocator allocator = allocator_or_default(NULL);
	double *numbers = memory_alloc(&allocator, (size_t)d->def.table_count * sizeof(double));
	if (!numbers)
		return error_set(d->error, CAL_ERR_MEMORY, "device \"%s\": %s", d->def.name, cal_status_text(CAL_ERR_MEMORY));
	int at = 0;
	for (int i = 0; i < d->tables_count; i++) {
		const CalTable *table = d->tables[i];
		const size_t bytes = (size_t)table->count * sizeof(double);
		if (bytes > 0) {
			memcpy(numbers + at, table->time, bytes);
			memcpy(numbers + at + table->count, table->value, bytes);
		}
		at += 2 * table->count;
	}
	d->def.table = numbers;
	d->def.data = data;
	d->def.data_size = size;
	CalStatus status = cal_sim_add_device(d->sim, &d->def, device, d->error);
	memory_free(&allocator, numbers);
	return status;
}

int bind_dof(const CalEvalContext *context, CalJointId joint, int dof, CalDofRef *dof_ref) {
	return cal_context_find_dof(context, joint, dof, dof_ref) && dof_ref->q >= 0 ? 0 : -1;
}

DofKind dof_kind(const CalSim *sim, CalJointId joint, int dof) {
	CalDofRef at;
	if (!cal_sim_find_dof(sim, joint, dof, &at))
		return DOF_KIND_EITHER;
	const CalModel *model = cal_sim_model(sim, at.group);
	const Link *link = &model->links[model->dofs[at.u].link];
	switch (link->motion) {
	case PRIMITIVE_TRANSLATION:
		return DOF_KIND_SLIDES;
	case PRIMITIVE_FREE:
		return at.u - link->u < 3 ? DOF_KIND_SLIDES : DOF_KIND_TURNS;
	case PRIMITIVE_USER:
		return DOF_KIND_EITHER;
	default:
		return DOF_KIND_TURNS;
	}
}

int bind_node(const CalEvalContext *context, CalNodeId node, CalNodeRef *node_ref) {
	return cal_context_find_node(context, node, node_ref) ? 0 : -1;
}
