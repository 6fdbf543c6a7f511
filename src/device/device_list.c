// SPDX-License-Identifier: Apache-2.0
/*
 * device_list.c — the types of devices, one line each, in the order of the documentation; and copies of definitions.
 */
#include <string.h>

#include <calder/motion.h>

#include "device/device_type.h"
#include "sim/sim_internal.h"

#define DEVICE_TYPE_LIST(X) \
	X(spring)               \
	X(bushing)              \
	X(limit)                \
	X(friction)             \
	X(servo)                \
	X(joint_drive)          \
	X(wheel)                \
	X(control_moment_gyro)  \
	X(thruster)             \
	X(drag)                 \
	X(slosh)                \
	X(gravity)              \
	X(applied_load)         \
	X(actuator)             \
	X(contact)              \
	X(pid)                  \
	X(state_space)          \
	X(transfer_function)    \
	X(filter)               \
	X(lookup)               \
	X(rate_gyro)            \
	X(accelerometer)        \
	X(star_tracker)         \
	X(encoder)              \
	X(force_sensor)         \
	X(shared_object)

#define DECLARE(file) extern const DeviceType file##_type;
DEVICE_TYPE_LIST(DECLARE)
#undef DECLARE

static const DeviceType *const types[] = {
#define TYPE(file) &file##_type,
	DEVICE_TYPE_LIST(TYPE)
#undef TYPE
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

const DeviceType *device_type(int index) { return index >= 0 && index < TYPE_COUNT ? types[index] : NULL; }

static bool is_name(const char *name, const char *given) { return name && strcmp(name, given) == 0; }

const DeviceType *device_type_find(const char *name) {
	for (int i = 0; i < TYPE_COUNT; i++) {
		const DeviceType *type = types[i];
		if (is_name(type->table.what, name) || is_name(type->former[0], name) || is_name(type->former[1], name))
			return type;
	}
	return NULL;
}

void device_field_count_zero(const Field *field, CalLoadValue *value) {
	if ((field->flags & FIELD_ZERO_COUNTS) && !value->formula && value->table.count == 0 && value->number == 0)
		value->formula = "0";
}

void devices_announce(CalSim *sim, bool (*comes)(void *user, const char *name), void *user) {
	sim->comes = comes;
	sim->comes_user = user;
	sim->why_failed[0] = 0;
}

const char *devices_why_unbound(const CalSim *sim) { return sim->why_failed; }

/* ---- copies -------------------------------------------------------------------------------------- */

/* A copy of `size` bytes into *to; nothing for none. False: no memory left. */
static bool copy_bytes(FieldMemory memory, const void *from, size_t size, void *to) {
	void *made = NULL;
	if (from && size > 0) {
		made = memory.get(memory.user, size);
		if (!made)
			return false;
		memcpy(made, from, size);
	}
	memcpy(to, &made, sizeof made);
	return true;
}

static bool copy_text(FieldMemory memory, const char **text) {
	return !*text || copy_bytes(memory, *text, strlen(*text) + 1, text);
}

static bool copy_table(FieldMemory memory, CalTable *table) {
	const size_t size = (size_t)table->count * sizeof(double);
	return copy_bytes(memory, table->time, size, &table->time) && copy_bytes(memory, table->value, size, &table->value);
}

static bool copy_load_value(FieldMemory memory, CalLoadValue *value) {
	return copy_text(memory, &value->formula) && copy_table(memory, &value->table);
}

static bool copy_load_list(FieldMemory memory, LoadValueList *list) {
	CalLoadValue *values = NULL;
	if (!copy_bytes(memory, list->value, (size_t)list->count * sizeof *values, &values))
		return false;
	list->value = values;
	for (int i = 0; i < list->count; i++)
		if (!copy_load_value(memory, &values[i]))
			return false;
	return true;
}

static bool copy_matrix(FieldMemory memory, NumberMatrix *matrix) {
	const size_t count = (size_t)matrix->rows * (size_t)matrix->columns;
	return copy_bytes(memory, matrix->value, count * sizeof(double), &matrix->value);
}

static bool copy_shapes(FieldMemory memory, CalContactDef *def) {
	const size_t count = (size_t)def->shape_count;
	CalShapeDef *shapes = NULL;
	if (!copy_bytes(memory, def->shapes, count * sizeof *shapes, &shapes) ||
	    !copy_bytes(memory, def->nodes, count * sizeof *def->nodes, &def->nodes))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!copy_text(memory, &shapes[i].name) || !copy_text(memory, &shapes[i].place))
			return false;
	def->shapes = shapes;
	return true;
}

/* The member is a copy of the one of the original: what it points to is replaced by a copy too. */
static bool copy_member(FieldMemory memory, FieldKind kind, void *member) {
	switch (kind) {
	case FIELD_NAME:
	case FIELD_TEXT:
	case FIELD_FILE:
	case FIELD_FORMULA:
	case FIELD_GROUP:
		return copy_text(memory, member);
	case FIELD_TABLE:
		return copy_table(memory, member);
	case FIELD_LOAD_VALUE:
		return copy_load_value(memory, member);
	case FIELD_LOAD_VALUES: {
		CalLoadValue *value = member;
		return copy_load_value(memory, &value[0]) && copy_load_value(memory, &value[1]) &&
		       copy_load_value(memory, &value[2]);
	}
	case FIELD_LOAD_LIST:
		return copy_load_list(memory, member);
	case FIELD_NUMBERS: {
		NumberList *list = member;
		return copy_bytes(memory, list->value, (size_t)list->count * sizeof(double), &list->value);
	}
	case FIELD_MATRIX:
		return copy_matrix(memory, member);
	case FIELD_FUNCTION: {
		CalTimeFunction *function = member;
		return copy_text(memory, &function->formula) && copy_table(memory, &function->table);
	}
	case FIELD_SHAPES:
		return copy_shapes(memory, member);
	default:
		return true;
	}
}

bool device_def_copy(const DeviceType *type, const void *from, void *to, FieldMemory memory) {
	const FieldTable *table = &type->table;
	memcpy(to, from, type->size);
	for (int i = 0; i < table->count; i++)
		if (!copy_member(memory, table->fields[i].kind, (char *)to + table->fields[i].offset))
			return false;
	return copy_text(memory, (const char **)(void *)((char *)to + type->place));
}
