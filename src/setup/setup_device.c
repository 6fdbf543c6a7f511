// SPDX-License-Identifier: Apache-2.0
/*
 * setup_device.c — devices by type and definition (calder/devices.h), checked against the description, copied by the table of
 * their fields (device/device_type.h), and added to a simulation. Their numbers are checked by the device itself, then.
 */
#include <string.h>

#include "device/device_type.h"
#include "setup/setup.h"

const char *cal_setup_device_type(int index) {
	const DeviceType *type = device_type(index);
	return type ? type->table.what : NULL;
}

/* ---- adding to the setup ------------------------------------------------------------------------------ */

static const char *text_at(const void *def, size_t offset) {
	return *(const char *const *)(const void *)((const char *)def + offset);
}

static const char *check_shapes(const CalDesc *desc, const CalContactDef *def) {
	if (def->shape_count > 0 && (!def->shapes || !def->nodes))
		return "its shapes or their nodes are NULL";
	for (int i = 0; i < def->shape_count; i++)
		if (!setup_has_node(desc, def->nodes[i]))
			return "a node that a shape is fixed to is not in the description; add it first";
	return NULL;
}

/* What is wrong with an id or a name of a definition, or NULL. */
static const char *check_member(const CalDesc *desc, FieldKind kind, const void *member) {
	const char *const *name = member;
	const CalJointId *joint = member;
	const CalBodyId *body = member;
	switch (kind) {
	case FIELD_NODE:
		return setup_has_node(desc, *(const CalNodeId *)member)
		           ? NULL
		           : "a node that it names is not in the description; add it first";
	case FIELD_JOINT:
		return !joint->value || cal_desc_joint(desc, *joint, NULL, NULL)
		           ? NULL
		           : "the joint that it names is not in the description; attach it first";
	case FIELD_BODY:
		return !body->value || cal_desc_body(desc, *body)
		           ? NULL
		           : "the body that it names is not in the description; add it first";
	case FIELD_GROUP:
		return !*name || cal_desc_find_group(desc, *name).value
		           ? NULL
		           : "the group that it names is not in the description; add it first";
	case FIELD_SHAPES:
		return check_shapes(desc, member);
	default:
		return NULL;
	}
}

static const char *check_def(const CalDesc *desc, const DeviceType *type, const void *def) {
	const char *wrong = NULL;
	for (int i = 0; i < type->table.count && !wrong; i++) {
		const Field *field = &type->table.fields[i];
		wrong = check_member(desc, field->kind, (const char *)def + field->offset);
	}
	return wrong;
}

static void *pool_get(void *user, size_t size) { return pool_alloc(user, size); }

static CalStatus unknown_type(const char *type, CalError *error) {
	Suggestion suggestion = {.word = type};
	char hint[128];
	for (int i = 0; device_type(i); i++)
		suggestion_offer(&suggestion, device_type(i)->table.what);
	return error_set(error, CAL_ERR_MODEL, "unknown type of device \"%.40s\"%s", type,
	                 suggestion_text(&suggestion, hint, sizeof hint));
}

static const char *device_name(const CalSetup *setup, uint32_t index) { return setup->devices[index].name; }

int setup_find_device(const CalSetup *setup, const char *name) {
	return (int)setup_find_name(setup, &setup->device_names, name, device_name) - 1;
}

CalStatus cal_setup_add_device(CalSetup *setup, const char *type, const void *def, CalError *error) {
	if (!setup || !type || !def)
		return error_null(error, "cal_setup_add_device", !setup ? "setup" : !type ? "type" : "def");
	const DeviceType *found = device_type_find(type);
	if (!found)
		return unknown_type(type, error);
	const char *name = text_at(def, found->name), *place = text_at(def, found->place);
	if (!name || !name[0])
		return error_set(error, CAL_ERR_MODEL, "%s%sa %s has no name; give it one", PLACE_ARGS(place), type);
	const char *wrong = check_def(setup->desc, found, def);
	if (setup_find_device(setup, name) >= 0)
		wrong = "there is another device of that name; rename one";
	if (wrong)
		return error_set(error, CAL_ERR_MODEL, "%s%sdevice \"%.80s\": %s", PLACE_ARGS(place), name, wrong);
	void *copy = pool_alloc(&setup->pool, found->size);
	if (!copy || !device_def_copy(found, def, copy, (FieldMemory){pool_get, &setup->pool}) ||
	    !SETUP_ROOM(setup, device) || !name_index_reserve(&setup->allocator, &setup->device_names))
		return setup_no_memory(setup, error);
	setup->devices[setup->device_count++] = (DeviceEntry){found, text_at(copy, found->name), copy};
	name_index_insert(&setup->device_names, name_hash(0, name, strlen(name)), (uint32_t)setup->device_count);
	return CAL_OK;
}

CalStatus cal_setup_add_device_of_type(CalSetup *setup, const char *type, const char *name, const CalFieldValue *values,
                                       int count, CalError *error) {
	if (!setup || !type || !name || (count > 0 && !values))
		return error_null(error, "cal_setup_add_device_of_type",
		                  !setup  ? "setup"
		                  : !type ? "type"
		                  : !name ? "name"
		                          : "values");
	const DeviceType *found = device_type_find(type);
	if (!found)
		return unknown_type(type, error);
	void *def = memory_alloc(&setup->allocator, found->size);
	if (!def)
		return setup_no_memory(setup, error);
	CalStatus status = device_def_fill(found, name, values, count, def, error);
	if (status == CAL_OK)
		status = cal_setup_add_device(setup, type, def, error);
	memory_free(&setup->allocator, def);
	return status;
}

int cal_setup_device_count(const CalSetup *setup) { return setup ? setup->device_count : 0; }

CalStatus cal_setup_device(const CalSetup *setup, int index, const char **type, const char **name, const void **def) {
	if (!setup || index < 0 || index >= setup->device_count)
		return CAL_ERR_ARGUMENT;
	const DeviceEntry *entry = &setup->devices[index];
	if (type)
		*type = entry->type->table.what;
	if (name)
		*name = entry->name;
	if (def)
		*def = entry->def;
	return CAL_OK;
}

const char *cal_setup_device_place(const CalSetup *setup, int index) {
	if (!setup || index < 0 || index >= setup->device_count)
		return NULL;
	const DeviceEntry *entry = &setup->devices[index];
	return *(const char *const *)(const void *)((const char *)entry->def + entry->type->place);
}

/* ---- adding to a simulation ------------------------------------------------------------------------------ */

static CalStatus apply_subsystems(const CalSetup *setup, CalSim *sim, CalError *error) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < setup->subsystem_count && status == CAL_OK; i++) {
		const CalSubsystemUse *use = &setup->subsystems[i];
		CalError own = {0};
		status = use->library ? cal_sim_load_subsystem(sim, use->name, use->library, use->arguments, use->ties,
		                                               use->tie_count, NULL, &own)
		                      : cal_sim_add_component(sim, use->name, use->ties, use->tie_count, NULL, &own);
		if (status != CAL_OK)
			error_set(error, status, "%s%s%s", PLACE_ARGS(use->place), own.text);
	}
	return status;
}

static bool comes(void *user, const char *name) { return setup_find_device(user, name) >= 0; }

/* After all have been added: formulas may read devices after them too. Names the one whose formula is wrong. */
static CalStatus check_bound(const CalSetup *setup, CalSim *sim, CalError *error) {
	for (int i = 0; i < setup->device_count; i++) {
		const DeviceEntry *entry = &setup->devices[i];
		CalDeviceInfo info;
		if (cal_sim_device(sim, cal_sim_find_device(sim, entry->name), &info) != CAL_OK || info.active)
			continue;
		return error_set(error, CAL_ERR_ARGUMENT, "%s%sdevice \"%.80s\" (%s): %s",
		                 PLACE_ARGS(text_at(entry->def, entry->type->place)), entry->name, entry->type->table.what,
		                 devices_why_unbound(sim));
	}
	return CAL_OK;
}

CalStatus cal_setup_apply_devices(const CalSetup *setup, CalSim *sim, CalError *error) {
	if (!setup || !sim)
		return error_null(error, "cal_setup_apply_devices", !setup ? "setup" : "sim");
	CalStatus status = CAL_OK;
	if (setup->device_count == 0)
		return apply_subsystems(setup, sim, error);
	cal_sim_begin_adding(sim);
	devices_announce(sim, comes, (void *)(uintptr_t)setup);
	for (int i = 0; i < setup->device_count && status == CAL_OK; i++)
		status = setup->devices[i].type->add(sim, setup->devices[i].def, NULL, error);
	devices_announce(sim, NULL, NULL);
	const CalStatus bound = cal_sim_end_adding(sim);
	if (status == CAL_OK && bound != CAL_OK)
		status = error_set(error, bound, "%s: devices: %s", setup->name, cal_status_text(bound));
	if (status == CAL_OK)
		status = check_bound(setup, sim, error);
	if (status == CAL_OK)
		status = setup_check_device_loops(setup, error);
	return status == CAL_OK ? apply_subsystems(setup, sim, error) : status;
}
