// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_device.c — the section "devices": every type brings its table of fields (device/device_type.h); here only the
 * type is found and the definition handed to the setup.
 *
 * Definitions are checked where they are added to a simulation; here only what needs the file alone: keys, units, names.
 */
#include <stdio.h>
#include <string.h>

#include <calder/devices.h>

#include "device/device_type.h"
#include "io/model/model_file.h"

static const DeviceType *unknown_type(Reader *r, const TreeNode *node, const char *word) {
	Suggestion suggestion = {.word = word};
	char words[400] = "";
	size_t used = 0;
	for (int i = 0; device_type(i) && used < sizeof words; i++) {
		suggestion_offer(&suggestion, device_type(i)->table.what);
		used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i ? ", " : "", device_type(i)->table.what);
	}
	reader_unknown_of(r, node, "type of device", &suggestion, words);
	return NULL;
}

static const DeviceType *find_type(Reader *r, const Item *item) {
	const TreeNode *node = tree_get(item->value, "type");
	const char *word;
	if (item->value->kind != TREE_MAP || !node) {
		reader_fail(r, item->value, "the key \"type\" is missing (see \"device\" in docs/format.md)");
		return NULL;
	}
	if (!read_text(r, node, &word))
		return NULL;
	const DeviceType *type = device_type_find(word);
	if (!type)
		return unknown_type(r, node, word);
	if (strcmp(type->table.what, word) != 0 &&
	    !reader_warn(r, node, "the type \"%s\" is now called \"%s\"; write that", word, type->table.what))
		return NULL;
	return type;
}

static bool read_device(Reader *r, const Item *item) {
	char place[256];
	reader_subject(r, "device", item->name);
	const DeviceType *type = find_type(r, item);
	char *def = type ? reader_array(r, 1, type->size) : NULL;
	if (!def)
		return false;
	if (type->start)
		memcpy(def, type->start, type->size);
	r->item = item;
	r->joint = NULL;
	r->body = (CalBodyId){0};
	if (!fields_read(r, item->value, &type->table, def) || !model_file_check_stops(r, item->value, type, def))
		return false;
	model_file_limit_effort(r, item->value, type, def);
	*(const char **)(void *)(def + type->name) = item->name;
	*(const char **)(void *)(def + type->place) = tree_place(r->file->tree, item->place, place, sizeof place);
	return reader_added(r, item->place, cal_setup_add_device(r->file->setup, type->table.what, def, r->error));
}

/* Subsystems that stay are devices too. */
bool model_file_has_device(const Reader *r, const Sections *s, const char *name) {
	const char *other;
	if (model_file_find_item(s->devices, name) || model_file_find_item(s->subsystems, name))
		return true;
	for (int i = 0; cal_setup_device(r->file->setup, i, NULL, &other, NULL) == CAL_OK; i++)
		if (strcmp(other, name) == 0)
			return true;
	return false;
}

bool model_file_find_device(Reader *r, const Sections *s, const TreeNode *node, const char *name) {
	Suggestion suggestion = {.word = name};
	const char *other;
	if (model_file_has_device(r, s, name))
		return true;
	for (int i = 0; cal_setup_device(r->file->setup, i, NULL, &other, NULL) == CAL_OK; i++)
		suggestion_offer(&suggestion, other);
	for (int i = 0; s->subsystems && i < s->subsystems->count; i++) {
		Item item;
		if (items_get(r, s->subsystems, i, "subsystem", &item))
			suggestion_offer(&suggestion, item.name);
	}
	return reader_unknown(r, node, "device", &suggestion);
}

bool model_file_read_devices(Reader *r, const Sections *s) {
	r->sections = s;
	reader_subject(r, "devices", NULL);
	const int count = items_count(r, s->devices, "devices");
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, s->devices, i, "device", &item) || !read_device(r, &item))
			return false;
		reader_subject(r, "devices", NULL);
	}
	return count >= 0;
}
