// SPDX-License-Identifier: Apache-2.0
/*
 * xml_tree.c — looking at a tree and editing it, and messages with places; see xml_tree.h. The construction from expat's
 * events is in xml_parse.c.
 */
#include "io/xml/xml_tree.h"

#include <string.h>

#include "base/error.h"
#include "base/name_index.h"
#include "io/xml/xml_tree_build.h"

/* ---- the tree -------------------------------------------------------------------------------------- */

void xml_destroy(XmlTree *tree) {
	while (tree) {
		XmlTree *next = tree->adopted;
		Pool pool = tree->pool; // the tree itself is in its pool
		pool_free(&pool);
		tree = next;
	}
}

XmlElement *xml_root(const XmlTree *tree) { return tree->root; }
size_t xml_length(const XmlTree *tree) { return tree->length; }
bool xml_is_plain(const XmlTree *tree) { return tree->is_plain; }
void *xml_array(XmlTree *tree, size_t count, size_t size) { return pool_array_of_words(&tree->pool, count, size); }
char *xml_text(XmlTree *tree, const char *text) { return pool_text(&tree->pool, text, strlen(text)); }

bool xml_may_hold(const XmlTree *tree, const char *name) {
	const uint32_t hash = name_hash(0, name, strlen(name));
	for (; tree; tree = tree->adopted)
		if (tree->names[hash / 64 % 4] >> hash % 64 & 1)
			return true;
	return false;
}

/* ---- looking ----------------------------------------------------------------------------------------- */

/* Most names differ in their first letter. */
static bool is_name(const char *a, const char *b) { return a[0] == b[0] && strcmp(a, b) == 0; }

static XmlAttribute *find_attribute(const XmlElement *element, const char *name) {
	if (!xml_may_have(element, name))
		return NULL;
	for (int i = 0; i < element->attribute_count; i++)
		if (is_name(element->attributes[i].name, name))
			return &element->attributes[i];
	return NULL;
}

const char *xml_get(XmlElement *element, const char *attribute) {
	XmlAttribute *found = find_attribute(element, attribute);
	if (!found)
		return NULL;
	found->used = true;
	return found->value;
}

const char *xml_peek(const XmlElement *element, const char *attribute) {
	const XmlAttribute *found = find_attribute(element, attribute);
	return found ? found->value : NULL;
}

bool xml_is(const XmlElement *element, const char *name) { return element && is_name(element->name, name); }

/* The first from `element` on that has the name. */
static XmlElement *first_named(XmlElement *element, const char *name) {
	while (element && !xml_is(element, name))
		element = element->next;
	if (element)
		element->used = true;
	return element;
}

XmlElement *xml_child(XmlElement *element, const char *name) {
	return element && (element->child_marks & xml_mark(name)) ? first_named(element->first, name) : NULL;
}

XmlElement *xml_again(XmlElement *element) { return element ? first_named(element->next, element->name) : NULL; }

const char *xml_content(XmlElement *element) {
	element->text_used = true;
	return element->text;
}

void xml_use_all(XmlElement *element) {
	element->used = element->text_used = true;
	for (int i = 0; i < element->attribute_count; i++)
		element->attributes[i].used = true;
	for (XmlElement *child = element->first; child; child = child->next)
		xml_use_all(child);
}

/* ---- editing ----------------------------------------------------------------------------------------- */

void xml_insert(XmlElement *parent, XmlElement *after, XmlElement *element) {
	element->parent = parent;
	parent->child_marks |= (uint16_t)xml_mark(element->name);
	element->next = after ? after->next : parent->first;
	if (after)
		after->next = element;
	else
		parent->first = element;
	if (!element->next)
		parent->last = element;
}

/* NULL: it is the first. */
static XmlElement *before(const XmlElement *element) {
	XmlElement *previous = element->parent->first;
	if (previous == element)
		return NULL;
	while (previous->next != element)
		previous = previous->next;
	return previous;
}

void xml_remove(XmlElement *element) {
	XmlElement *parent = element->parent;
	if (!parent)
		return;
	XmlElement *previous = before(element);
	if (previous)
		previous->next = element->next;
	else
		parent->first = element->next;
	if (parent->last == element)
		parent->last = previous;
	element->parent = element->next = NULL;
}

CalStatus xml_replace(XmlTree *tree, XmlElement *element, XmlTree *other) {
	if (!element->parent || tree->element_count > XML_MAX_ELEMENTS - other->element_count)
		return CAL_ERR_INPUT;
	tree->element_count += other->element_count;
	XmlElement *parent = element->parent, *after = element, *next;
	for (XmlElement *child = other->root->first; child; child = next) {
		next = child->next;
		xml_insert(parent, after, child);
		after = child;
	}
	other->root->first = other->root->last = NULL;
	xml_remove(element);
	XmlTree *last = other;
	while (last->adopted)
		last = last->adopted;
	last->adopted = tree->adopted;
	tree->adopted = other;
	return CAL_OK;
}

static XmlAttribute *copy_attributes(XmlTree *tree, const XmlElement *element, int room) {
	XmlAttribute *copy = xml_array(tree, (size_t)(element->attribute_count + room), sizeof *copy);
	for (int i = 0; copy && i < element->attribute_count; i++)
		copy[i] = (XmlAttribute){.name = element->attributes[i].name, .value = element->attributes[i].value};
	return copy;
}

bool xml_is_full(const XmlTree *tree) { return tree->element_count >= XML_MAX_ELEMENTS; }

XmlElement *xml_copy(XmlTree *tree, const XmlElement *element) {
	if (xml_is_full(tree))
		return NULL;
	XmlElement *copy = xml_array(tree, 1, sizeof *copy);
	if (!copy || !(copy->attributes = copy_attributes(tree, element, 0)))
		return NULL;
	tree->element_count++;
	copy->name = element->name;
	copy->text = element->text;
	copy->file = element->file;
	copy->line = element->line;
	copy->column = element->column;
	copy->attribute_count = element->attribute_count;
	copy->attribute_marks = element->attribute_marks;
	for (const XmlElement *child = element->first; child; child = child->next) {
		XmlElement *inside = xml_copy(tree, child);
		if (!inside)
			return NULL;
		xml_insert(copy, copy->last, inside);
	}
	return copy;
}

bool xml_set(XmlTree *tree, XmlElement *element, const char *attribute, const char *value) {
	XmlAttribute *found = find_attribute(element, attribute);
	const char *text = xml_text(tree, value);
	if (!text)
		return false;
	if (!found) {
		XmlAttribute *more = copy_attributes(tree, element, 1);
		const char *name = xml_text(tree, attribute);
		if (!more || !name)
			return false;
		for (int i = 0; i < element->attribute_count; i++)
			more[i].used = element->attributes[i].used;
		found = &more[element->attribute_count++];
		found->name = name;
		element->attributes = more;
		element->attribute_marks |= (uint16_t)xml_mark(name);
	}
	found->value = text;
	found->used = false;
	return true;
}

/* ---- messages ---------------------------------------------------------------------------------------- */

CalStatus xml_error(CalError *error, const XmlElement *element, CalStatus status, const char *format, ...) {
	char what[512];
	va_list args;
	va_start(args, format);
	text_format(what, sizeof what, format, args);
	va_end(args);
	return error_set(error, status, "%.200s:%d:%d: error: %s", element->file, element->line, element->column, what);
}

const char *xml_place(const XmlElement *element, char *buffer, size_t size) {
	enum { FILE_MAX = 200 };
	size_t length = text_append_some(buffer, size, 0, element->file, FILE_MAX);
	length = text_append(buffer, size, length, ":");
	length = text_append_int(buffer, size, length, element->line);
	length = text_append(buffer, size, length, ":");
	text_append_int(buffer, size, length, element->column);
	return buffer;
}
