// SPDX-License-Identifier: Apache-2.0
/*
 * device_type.h — the types of devices: each is one file of this folder, which ends with its DeviceType, and one line in
 * device_list.c. Readers fill a definition by its field table (base/field.h) and add it; no reader knows a type.
 */
#ifndef CALDER_DEVICE_DEVICE_TYPE_H
#define CALDER_DEVICE_DEVICE_TYPE_H

#include <calder/devices.h>

#include "base/field.h"

/* Several components, for FIELD_LOAD_LIST. */
typedef struct LoadValueList {
	int count;
	const CalLoadValue *value; // [count]
} LoadValueList;

typedef struct DeviceType DeviceType;
struct DeviceType {
	FieldTable table;         // what: name of the type in files
	size_t size, name, place; // of the definition; where its name and its place for messages are in it
	CalStatus (*add)(CalSim *sim, const void *def, int *device, CalError *error);
	const CalDeviceOps
		*ops;              // names and units of its outputs, for the documentation; NULL: not known before it is loaded
	const void *start;     // definition from which a reader starts; NULL: all zero
	const char *former[2]; // names of the type in older files, or NULL
	bool sampled;          // its outputs are held from sample to sample: at an instant they depend on nothing
};

/* The first rows of every table of fields. */
#define DEVICE_FIELDS(def)                                                       \
	{"name", FIELD_NAME, offsetof(def, name), .doc = "in the list form only"}, { \
		"type", FIELD_TYPE, .flags = FIELD_REQUIRED, .doc = "type of the device" \
	}
#define DEVICE_DEF(def) sizeof(def), offsetof(def, name), offsetof(def, place)
/* Words of a CalFrame. */
#define FRAME_WORDS FIELD_WORDS("world", "node")
/* Defines `name` with the signature of DeviceType.add. */
#define DEVICE_ADD(name, def, call)                                                       \
	static CalStatus name(CalSim *sim, const void *given, int *device, CalError *error) { \
		const def *typed = given;                                                         \
		return call(sim, typed, device, error);                                           \
	}

/** All types; NULL after the last. */
const DeviceType *device_type(int index);
/** By name, also by a former one; NULL: there is none. */
const DeviceType *device_type_find(const char *name);

/** Makes a definition (type->size bytes) from names and values of its fields; what they point to stays where it is. */
CalStatus device_def_fill(const DeviceType *type, const char *name, const CalFieldValue *values, int count, void *def,
                          CalError *error);

/**
 * While devices are added: whether one of that name will be, which formulas may then read. comes NULL: no more, and devices are
 * bound when adding ends; why_unbound() says what the last formula lacked that could not be bound.
 */
void devices_announce(CalSim *sim, bool (*comes)(void *user, const char *name), void *user);
const char *devices_why_unbound(const CalSim *sim);

/** A zero that was given where it is not the default (FIELD_ZERO_COUNTS) becomes the formula "0". */
void device_field_count_zero(const Field *field, CalLoadValue *value);

/**
 * Copies a definition with all that it points to: texts, tables, formulas, shapes. Meshes of contact shapes stay where they
 * are. The copy begins at `to` (type->size bytes, from the caller); the rest comes from `memory`. False: no memory left.
 */
bool device_def_copy(const DeviceType *type, const void *from, void *to, FieldMemory memory);

#endif
