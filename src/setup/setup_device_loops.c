// SPDX-License-Identifier: Apache-2.0
/*
 * setup_device_loops.c — algebraic loops: devices whose formulas read each other at the same instant.
 *
 * Outputs of a sampled device are held: at an instant they depend on nothing, and a ring through one is no loop. Of all others
 * every output counts as depending on every formula. Depth-first search, from each device in the order of the setup.
 */
#include <stdio.h>
#include <string.h>

#include "device/device_type.h"
#include "setup/setup.h"

enum { MOST_NAME = 200 };

/* The device that begins at `text`, as in "device(NAME.OUTPUT)" after the parenthesis; -1: none of that name. */
static int device_named(const CalSetup *setup, const char *text) {
	char name[MOST_NAME];
	text += strspn(text, " \t");
	const bool quoted = *text == '\'' || *text == '"';
	const char quote[] = {*text, 0};
	const size_t length = quoted ? strcspn(text + 1, quote) : strcspn(text, "),");
	if (length >= sizeof name)
		return -1;
	memcpy(name, text + quoted, length);
	name[length] = 0;
	char *dot = strrchr(name, '.');
	if (dot)
		*dot = 0;
	return setup_find_device(setup, name);
}

/* The devices that a formula reads, one by one: *text moves on. -1: no more. */
static int next_read(const CalSetup *setup, const char **text) {
	const char *found;
	while (*text && (found = strstr(*text, "device(")) != NULL) {
		*text = found + strlen("device(");
		const int device = device_named(setup, *text);
		if (device >= 0)
			return device;
	}
	return -1;
}

typedef struct Search {
	const CalSetup *setup;
	unsigned char *mark; // of devices: 0 not seen, 1 on the way, 2 done
	int *way;            // devices from the first to the present one
	int depth;
} Search;

static bool visit(Search *s, int device);

static bool visit_formula(Search *s, const char *formula) {
	for (int device; (device = next_read(s->setup, &formula)) >= 0;)
		if (!visit(s, device))
			return false;
	return true;
}

static bool visit_values(Search *s, const CalLoadValue *values, int count) {
	for (int i = 0; i < count; i++)
		if (!visit_formula(s, values[i].formula))
			return false;
	return true;
}

static bool visit_field(Search *s, const Field *field, const void *member) {
	const LoadValueList *list = member;
	switch (field->kind) {
	case FIELD_LOAD_VALUE:
		return visit_values(s, member, 1);
	case FIELD_LOAD_VALUES:
		return visit_values(s, member, 3);
	case FIELD_LOAD_LIST:
		return visit_values(s, list->value, list->count);
	case FIELD_FORMULA:
		return visit_formula(s, *(const char *const *)member);
	default:
		return true;
	}
}

/* False: there is a loop, which is at the end of the way. */
static bool visit(Search *s, int device) {
	const DeviceEntry *entry = &s->setup->devices[device];
	if (s->mark[device] == 2 || entry->type->sampled)
		return true;
	s->way[s->depth++] = device;
	if (s->mark[device] == 1)
		return false;
	s->mark[device] = 1;
	for (int i = 0; i < entry->type->table.count; i++) {
		const Field *field = &entry->type->table.fields[i];
		if (!visit_field(s, field, (const char *)entry->def + field->offset))
			return false;
	}
	s->mark[device] = 2;
	s->depth--;
	return true;
}

/* "a" reads "b" reads "a". */
static CalStatus say_loop(const Search *s, CalError *error) {
	const int last = s->way[s->depth - 1];
	const DeviceEntry *entry = &s->setup->devices[last];
	char names[400] = "";
	size_t used = 0;
	int at = s->depth - 2;
	while (at > 0 && s->way[at] != last)
		at--;
	for (; at < s->depth && used < sizeof names; at++)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s\"%.60s\"", used ? " reads " : "",
		                         s->setup->devices[s->way[at]].name);
	const char *place = *(const char *const *)(const void *)((const char *)entry->def + entry->type->place);
	return error_set(
		error, CAL_ERR_MODEL,
		"%s%sdevice \"%.80s\" (%s): algebraic loop: %s at the same instant; put a sampled device between them, "
		"e.g. a state_space with D: [[1]], or let one read a state instead",
		PLACE_ARGS(place), entry->name, entry->type->table.what, names);
}

static CalStatus search_all(Search *s, CalError *error) {
	for (int i = 0; i < s->setup->device_count; i++)
		if (!visit(s, i))
			return say_loop(s, error);
	return CAL_OK;
}

CalStatus setup_check_device_loops(const CalSetup *setup, CalError *error) {
	const size_t count = (size_t)setup->device_count;
	int *way = memory_alloc(&setup->allocator, (count + 2) * sizeof *way);
	unsigned char *mark = memory_alloc(&setup->allocator, count + 1);
	CalStatus status = CAL_ERR_MEMORY;
	if (way && mark) {
		memset(mark, 0, count + 1);
		status = search_all(&(Search){setup, mark, way, 0}, error);
	} else {
		setup_no_memory(setup, error);
	}
	memory_free(&setup->allocator, way);
	memory_free(&setup->allocator, mark);
	return status;
}
