// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_list.c — the objects of an MJCF file by kind, number and name.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/mjcf/mjcf_internal.h"

enum { WHAT_MAX = 400, MAX_TEXT = 1 << 28, PLAIN_NUMBERS = 8 };

static const struct {
	const char *what;
	size_t size;
} kinds[MJCF_KINDS] = {
	[MJCF_BODIES] = {"body", sizeof(MjcfBody)},
	[MJCF_JOINTS] = {"joint", sizeof(MjcfJoint)},
	[MJCF_SITES] = {"site", sizeof(MjcfSite)},
	[MJCF_GEOMS] = {"geom", sizeof(MjcfGeom)},
	[MJCF_TENDONS] = {"tendon", sizeof(MjcfTendon)},
	[MJCF_MESHES] = {"mesh", sizeof(MjcfMesh)},
	[MJCF_MATERIALS] = {"material", sizeof(MjcfMaterial)},
	[MJCF_ACTUATORS] = {"actuator", sizeof(MjcfActuator)},
};

static MjcfObject *object_of(const Mjcf *m, MjcfKind kind, int i) {
	return (MjcfObject *)((char *)m->lists[kind].items + (size_t)i * kinds[kind].size);
}

bool mjcf_grow(Mjcf *m, void **items, int count, int *capacity, size_t size) {
	if (count < *capacity)
		return true;
	const int more = *capacity ? 2 * *capacity : 16;
	void *larger = xml_array(m->im->tree, (size_t)more, size);
	if (!larger)
		return import_no_memory(m->im);
	if (count)
		memcpy(larger, *items, (size_t)count * size);
	*items = larger;
	*capacity = more;
	return true;
}

const char *mjcf_format(Mjcf *m, const char *format, ...) {
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	char brief[WHAT_MAX];
	const int length = vsnprintf(brief, sizeof brief, format, args);
	const bool fits = length >= 0 && m->text_used <= MAX_TEXT - (size_t)length, is_brief = length < WHAT_MAX;
	char *text = !fits ? NULL : is_brief ? xml_text(m->im->tree, brief) : xml_array(m->im->tree, (size_t)length + 1, 1);
	if (text) {
		if (!is_brief)
			vsnprintf(text, (size_t)length + 1, format, again);
		m->text_used += (size_t)length;
	} else if (fits) {
		import_no_memory(m->im);
	} else {
		import_fail(m->im, m->file.root, "names and formulas of the model would need more than %d bytes", MAX_TEXT);
	}
	va_end(again);
	va_end(args);
	return text;
}

const char *mjcf_numbered(Mjcf *m, const char *word, int number) {
	char brief[WHAT_MAX];
	const size_t length = text_append(brief, sizeof brief, 0, word);
	m->text_used += text_append_int(brief, sizeof brief, length, number);
	const char *text = xml_text(m->im->tree, brief);
	if (!text)
		import_no_memory(m->im);
	return text;
}

bool mjcf_missing_attribute(Mjcf *m, const XmlElement *element, const char *attribute, const char *format, ...) {
	char what[WHAT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	if (!m->im->options->partial)
		return import_fail(m->im, element, "<%.40s %.40s>: %s; to read the rest, ask for a partial model (--partial)",
		                   element->name, attribute, what);
	return import_note(m->im, CAL_IMPORT_MISSING, element, attribute, "%s", what);
}

/* ---- names ------------------------------------------------------------------------------------------- */

static int find_full_name(const Mjcf *m, MjcfKind kind, const char *name) {
	const MjcfList *list = &m->lists[kind];
	if (!list->names.count)
		return -1;
	const uint32_t hash = name_hash(0, name, strlen(name));
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&list->names, hash, &cursor)) != 0)
		if (strcmp(object_of(m, kind, (int)value - 1)->name, name) == 0)
			return (int)value - 1;
	return -1;
}

static bool name_object(Mjcf *m, MjcfKind kind, int index, const char *name) {
	MjcfList *list = &m->lists[kind];
	MjcfObject *object = object_of(m, kind, index);
	if (!(object->name = object->file->prefix[0] ? mjcf_format(m, "%s%s", object->file->prefix, name) : name))
		return false;
	if (kind == MJCF_BODIES && strcmp(object->name, "world") == 0)
		return import_fail(m->im, object->element, "\"world\" is the name of the world itself; rename the body");
	const int other = find_full_name(m, kind, object->name);
	if (other >= 0)
		return import_fail(m->im, object->element, "%s \"%.100s\" is there already, in line %d; names are unique",
		                   kinds[kind].what, object->name, object_of(m, kind, other)->element->line);
	if (!name_index_reserve(&m->im->allocator, &list->names))
		return import_no_memory(m->im);
	name_index_insert(&list->names, name_hash(0, object->name, strlen(object->name)), (uint32_t)index + 1);
	return true;
}

static bool reserve_objects(Mjcf *m, MjcfKind kind, int more) {
	MjcfList *list = &m->lists[kind];
	void *items = array_reserve(&m->im->allocator, list->items, list->count, more, &list->capacity, kinds[kind].size);
	if (!items)
		return import_no_memory(m->im);
	list->items = items;
	return true;
}

/* The tree is at most XML_MAX_DEPTH deep. */
static void count_objects(const XmlElement *element, int counts[MJCF_KINDS]) {
	for (const XmlElement *e = element->first; e; e = e->next) {
		counts[MJCF_BODIES] += xml_is(e, "body");
		counts[MJCF_JOINTS] += xml_is(e, "joint");
		counts[MJCF_GEOMS] += xml_is(e, "geom");
		counts[MJCF_SITES] += xml_is(e, "site");
		count_objects(e, counts);
	}
}

bool mjcf_reserve_objects(Mjcf *m, XmlElement *root) {
	static const MjcfKind counted[] = {MJCF_BODIES, MJCF_JOINTS, MJCF_GEOMS, MJCF_SITES};
	int counts[MJCF_KINDS] = {0};
	for (XmlElement *e = xml_child(root, "worldbody"); e; e = xml_again(e))
		count_objects(e, counts);
	for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
		if (!reserve_objects(m, counted[i], counts[counted[i]] + 1))
			return false;
	return true;
}

int mjcf_add(Mjcf *m, MjcfKind kind, MjcfFile *file, XmlElement *element) {
	MjcfList *list = &m->lists[kind];
	if (!reserve_objects(m, kind, 1))
		return -1;
	const int index = list->count;
	MjcfObject *object = object_of(m, kind, index);
	memset(object, 0, kinds[kind].size);
	*object = (MjcfObject){.element = element, .file = file};
	element->used = true;
	const char *name = xml_get(element, "name");
	if (name && name[0] && !name_object(m, kind, index, name))
		return -1;
	list->count++;
	return index;
}

int mjcf_find(const Mjcf *m, MjcfKind kind, const MjcfFile *file, const char *name) {
	char full[512];
	if (!file->prefix[0])
		return find_full_name(m, kind, name);
	const int length = snprintf(full, sizeof full, "%s%s", file->prefix, name);
	return length > 0 && (size_t)length < sizeof full ? find_full_name(m, kind, full) : -1;
}

/* The name that is most like one that is not there; "": none. */
static const char *nearest(Mjcf *m, MjcfKind kind, const char *name) {
	const MjcfList *list = &m->lists[kind];
	const char **names = xml_array(m->im->tree, (size_t)list->count + 1, sizeof *names);
	int count = 0;
	for (int i = 0; names && i < list->count; i++)
		if (object_of(m, kind, i)->name)
			names[count++] = object_of(m, kind, i)->name;
	return names ? cal_name_nearest(name, names, count) : NULL;
}

bool mjcf_refer(Mjcf *m, MjcfKind kind, const MjcfFile *file, XmlElement *element, const char *attribute, int *index) {
	const char *name = xml_get(element, attribute);
	*index = -1;
	if (!name)
		return true;
	if (kind == MJCF_BODIES && strcmp(name, "world") == 0)
		return *index = 0, true;
	*index = mjcf_find(m, kind, file, name);
	if (*index >= 0)
		return true;
	const char *like = nearest(m, kind, name);
	return import_fail(m->im, element, "%s=\"%.100s\": there is no such %s%s%.100s%s", attribute, name,
	                   kinds[kind].what, like ? "; did you mean \"" : "", like ? like : "", like ? "\"?" : "");
}

int mjcf_next_number(int number, int count) { return number < PLAIN_NUMBERS ? number + 1 : number + 1 + count; }

const char *mjcf_label(Mjcf *m, MjcfKind kind, const char *base) {
	const CalDesc *desc = m->im->desc;
	const char *label = base;
	for (int i = 2; label; i = mjcf_next_number(i, m->lists[kind].count)) {
		const bool taken =
			find_full_name(m, kind, label) >= 0 || (kind == MJCF_BODIES ? cal_desc_find_body(desc, label).value != 0
		                                                                : cal_desc_find_joint(desc, label).value != 0);
		if (!taken)
			return label;
		label = mjcf_format(m, "%s_%d", base, i);
	}
	return NULL;
}

static bool device_is_taken(const Mjcf *m, const char *name) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&m->device_names, name_hash(0, name, strlen(name)), &cursor)) != 0)
		if (strcmp(m->devices[value - 1], name) == 0)
			return true;
	return false;
}

const char *mjcf_device_label(Mjcf *m, const char *base) {
	const char *label = base;
	for (int i = 2; label && device_is_taken(m, label); i = mjcf_next_number(i, m->device_count))
		label = mjcf_format(m, "%s_%d", base, i);
	void *names = (void *)m->devices;
	if (!label || !mjcf_grow(m, &names, m->device_count, &m->device_capacity, sizeof *m->devices))
		return NULL;
	m->devices = names;
	if (!name_index_reserve(&m->im->allocator, &m->device_names))
		return import_no_memory(m->im), NULL;
	m->devices[m->device_count++] = label;
	name_index_insert(&m->device_names, name_hash(0, label, strlen(label)), (uint32_t)m->device_count);
	return label;
}

const char *mjcf_quoted(Mjcf *m, const XmlElement *element, const char *name) {
	const bool single = strchr(name, '\'') != NULL;
	if (!single || !strchr(name, '"'))
		return mjcf_format(m, single ? "\"%s\"" : "'%s'", name);
	import_fail(m->im, element, "the name %.100s has both kinds of quotes and cannot be in a formula; rename it", name);
	return NULL;
}

void mjcf_lists_free(Mjcf *m) {
	name_index_free(&m->im->allocator, &m->device_names);
	for (int i = 0; i < MJCF_KINDS; i++) {
		name_index_free(&m->im->allocator, &m->lists[i].names);
		memory_free(&m->im->allocator, m->lists[i].items);
	}
}
