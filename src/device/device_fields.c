// SPDX-License-Identifier: Apache-2.0
/*
 * device_fields.c — a device by the names and values of its fields, for programs: what a reader does with a file.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <calder/motion.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "device/device_type.h"

/* What a member can be set to; false: fields of this kind have no place in CalFieldValue, or the word is not known. */
static bool set_number(const Field *field, const CalFieldValue *value, void *member) {
	double *number = member;
	int *whole = member;
	switch (field->kind) {
	case FIELD_NUMBER:
	case FIELD_POSITIVE:
	case FIELD_NOT_NEGATIVE:
		*number = value->number;
		return true;
	case FIELD_FLAG:
		*whole = value->number != 0;
		return true;
	case FIELD_MODE:
		if (!(value->number >= 0 && value->number <= INT_MAX))
			return false;
		*whole = (int)value->number;
		return true;
	case FIELD_WHOLE:
		if (!(value->number >= 0 && value->number <= INT_MAX) || value->number != (int)value->number)
			return false;
		*whole = (int)value->number;
		return true;
	case FIELD_DOF:
		if (!(value->number >= 0 && value->number < CAL_JOINT_MAX_DOF))
			return false;
		*whole = (int)value->number;
		return true;
	case FIELD_CHOICE:
		for (int i = 0; value->text && field_word(field, i); i++) {
			if (strcmp(field_word(field, i), value->text) == 0) {
				*whole = i;
				return true;
			}
		}
		return false;
	default:
		return false;
	}
}

/* Lists stay where the caller has them until the definition is copied. */
static bool set_list(const Field *field, const CalFieldValue *value, void *member) {
	NumberList *list = member;
	NumberMatrix *matrix = member;
	LoadValueList *components = member;
	switch (field->kind) {
	case FIELD_NUMBERS:
		*list = value->numbers ? (NumberList){value->rows * value->columns, value->numbers}
		                       : (NumberList){1, &value->number};
		return !value->numbers || (value->rows >= 0 && value->columns >= 0);
	case FIELD_MATRIX:
		*matrix = value->numbers ? (NumberMatrix){value->rows, value->columns, value->numbers}
		                         : (NumberMatrix){1, 1, &value->number};
		return !value->numbers || (value->rows >= 0 && value->columns >= 0);
	case FIELD_LOAD_LIST:
		*components = (LoadValueList){value->component_count, value->components};
		return value->component_count > 0 && value->components;
	default:
		return false;
	}
}

static bool set_member(const Field *field, const CalFieldValue *value, void *member) {
	CalTimeFunction *function = member;
	CalLoadValue *component = member;
	switch (field->kind) {
	case FIELD_VECTOR:
	case FIELD_AXIS:
		*(CalVec3 *)member = value->vector;
		return true;
	case FIELD_PLACEMENT:
		*(CalPlacement *)member = value->placement;
		return true;
	case FIELD_NODE:
		*(CalNodeId *)member = value->node;
		return true;
	case FIELD_JOINT:
		*(CalJointId *)member = value->joint;
		return true;
	case FIELD_BODY:
		*(CalBodyId *)member = value->body;
		return true;
	case FIELD_TABLE:
		*(CalTable *)member = value->table;
		return true;
	case FIELD_FUNCTION:
		*function = (CalTimeFunction){value->text, value->table};
		return true;
	case FIELD_TEXT:
	case FIELD_FILE:
	case FIELD_FORMULA:
	case FIELD_GROUP:
		*(const char **)member = value->text;
		return true;
	case FIELD_LOAD_VALUE:
		*component = (CalLoadValue){value->number, value->table, value->text};
		device_field_count_zero(field, component);
		return true;
	case FIELD_LOAD_VALUES:
		component[0] = (CalLoadValue){.number = value->vector.x, .formula = value->xyz[0]};
		component[1] = (CalLoadValue){.number = value->vector.y, .formula = value->xyz[1]};
		component[2] = (CalLoadValue){.number = value->vector.z, .formula = value->xyz[2]};
		return true;
	case FIELD_NUMBERS:
	case FIELD_MATRIX:
	case FIELD_LOAD_LIST:
		return set_list(field, value, member);
	default:
		return set_number(field, value, member);
	}
}

static CalStatus refuse(CalError *error, const DeviceType *type, const char *name, const char *text,
                        const char *field) {
	return error_set(error, CAL_ERR_ARGUMENT, "device \"%.80s\" (%s): %s \"%.80s\"", name, type->table.what, text,
	                 field);
}

static CalStatus unknown_field(CalError *error, const DeviceType *type, const char *name, const char *field) {
	Suggestion suggestion = {.word = field};
	char hint[128];
	for (int i = 0; i < type->table.count; i++)
		suggestion_offer(&suggestion, type->table.fields[i].name);
	return error_set(error, CAL_ERR_ARGUMENT, "device \"%.80s\" (%s): unknown field \"%.80s\"%s", name,
	                 type->table.what, field, suggestion_text(&suggestion, hint, sizeof hint));
}

CalStatus device_def_fill(const DeviceType *type, const char *name, const CalFieldValue *values, int count, void *into,
                          CalError *error) {
	char *def = into;
	memset(def, 0, type->size);
	if (type->start)
		memcpy(def, type->start, type->size);
	for (int i = 0; i < count; i++) {
		const Field *field = values[i].field ? field_find(&type->table, values[i].field) : NULL;
		if (!field)
			return unknown_field(error, type, name, values[i].field ? values[i].field : "");
		if (!set_member(field, &values[i], def + field->offset))
			return refuse(error, type, name, "no such value can be given to the field", field->name);
	}
	for (int i = 0; i < type->table.count; i++) {
		const Field *field = &type->table.fields[i];
		bool given = !(field->flags & FIELD_REQUIRED) || field->kind == FIELD_TYPE;
		for (int k = 0; !given && k < count; k++)
			given = strcmp(values[k].field, field->name) == 0;
		if (!given)
			return refuse(error, type, name, "give the field", field->name);
	}
	*(const char **)(void *)(def + type->name) = name;
	return CAL_OK;
}

CalStatus cal_sim_add_device_of_type(CalSim *sim, const char *type, const char *name, const CalFieldValue *values,
                                     int count, int *device, CalError *error) {
	if (!sim || !type || !name || (count > 0 && !values))
		return error_null(error, __func__, "sim, type, name or values");
	const DeviceType *found = device_type_find(type);
	if (!found)
		return error_set(error, CAL_ERR_ARGUMENT, "device \"%.80s\": there is no type \"%.80s\"", name, type);
	const CalAllocator allocator = allocator_or_default(NULL);
	void *def = memory_alloc(&allocator, found->size);
	if (!def)
		return error_set(error, CAL_ERR_MEMORY, "device \"%.80s\": %s", name, cal_status_text(CAL_ERR_MEMORY));
	CalStatus status = device_def_fill(found, name, values, count, def, error);
	if (status == CAL_OK)
		status = found->add(sim, def, device, error);
	memory_free(&allocator, def);
	return status;
}
