// SPDX-License-Identifier: Apache-2.0
/*
 * device_parameter.c — which numbers of a device may change in a run, by its table of fields.
 */
#include <float.h>
#include <stdio.h>

#include "device/device.h"
#include "device/device_type.h"

enum { TUNED_ANY = FIELD_TUNED | FIELD_TUNED_FROM_0 | FIELD_TUNED_ABOVE_0 };

static int numbers_of(const Field *field) {
	return !(field->flags & TUNED_ANY) ? 0 : field->kind == FIELD_VECTOR ? 3 : 1;
}

static void describe_unit(const Field *field, DofKind kind, CalDeviceParameter *about) {
	const char *unit = dimension_unit(field->dimension);
	const char *sliding = dimension_unit(dimension_of_sliding(field->dimension));
	if (!(field->flags & FIELD_BY_DOF) || kind == DOF_KIND_TURNS)
		snprintf(about->unit, sizeof about->unit, "%s", unit);
	else if (kind == DOF_KIND_SLIDES)
		snprintf(about->unit, sizeof about->unit, "%s", sliding);
	else
		snprintf(about->unit, sizeof about->unit, "%s|%s", unit, sliding);
}

void device_parameter_keeps_zero(double value, CalDeviceParameter *about) {
	about->above = 1;
	about->fixed = value == 0 ? "it is 0 in the model: there is none" : about->fixed;
}

double *device_parameter(const DeviceType *type, void *def, DofKind kind, int index, CalDeviceParameter *about) {
	const Field *field = type->table.fields, *const end = field + type->table.count;
	while (field < end && index >= numbers_of(field))
		index -= numbers_of(field++);
	if (field == end || index < 0)
		return NULL;
	double *number = (double *)(void *)((char *)def + field->offset) + index;
	*about = (CalDeviceParameter){.low = field->flags & FIELD_TUNED ? -DBL_MAX : 0, .high = DBL_MAX};
	if (field->kind == FIELD_VECTOR)
		snprintf(about->name, sizeof about->name, "%s.%c", field->name, "xyz"[index]);
	else
		snprintf(about->name, sizeof about->name, "%s", field->name);
	describe_unit(field, kind, about);
	if (field->flags & FIELD_TUNED_ABOVE_0)
		device_parameter_keeps_zero(*number, about);
	return number;
}
