// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_scope.c — names of a subsystem as the file that uses it sees them: boom becomes arm1/boom, everywhere.
 *
 * Where names stand is a table of places in the file; lists between maps do not count. Everything else of the tree is
 * shared by all instances of a file.
 */
#include <stdio.h>
#include <string.h>

#include <calder/expression.h>

#include "io/model/subsystem/model_file_part.h"

typedef enum NameKind {
	NAME_NONE,
	NAME_OBJECT,  // body, joint, loop, device, event
	NAME_PATH,    // of a node
	NAME_GROUP,   //
	NAME_FORMULA, // text with names in it
	NAME_FILE,    // path of a file
} NameKind;

/* '*' stands for the name of an item. */
static const struct {
	const char *place;
	NameKind kind;
} places[] = {
	{"bodies.*.group", NAME_GROUP},
	{"bodies.*.modal", NAME_FILE},
	{"bodies.*.modal.file", NAME_FILE},
	{"bodies.*.visual.mesh", NAME_FILE},
	{"ground.visual.mesh", NAME_FILE},
	{"joints.*.from", NAME_PATH},
	{"joints.*.to", NAME_PATH},
	{"pendulums.*.node", NAME_PATH},
	{"pendulums.*.group", NAME_GROUP},
	{"loops.*.from", NAME_PATH},
	{"loops.*.to", NAME_PATH},
	{"loops.*.drive.value.csv", NAME_FILE},
	{"loops.*.terms.joint", NAME_OBJECT},
	{"loops.*.terms.body", NAME_OBJECT},
	{"loads.joint", NAME_OBJECT},
	{"loads.body", NAME_OBJECT},
	{"loads.node", NAME_PATH},
	{"devices.*.from", NAME_PATH},
	{"devices.*.to", NAME_PATH},
	{"devices.*.node", NAME_PATH},
	{"devices.*.joint", NAME_OBJECT},
	{"devices.*.group", NAME_GROUP},
	{"devices.*.library", NAME_FILE},
	{"devices.*.shapes.*.node", NAME_PATH},
	{"devices.*.shapes.*.mesh", NAME_FILE},
	{"devices.*.effort", NAME_FORMULA},
	{"devices.*.force", NAME_FORMULA},
	{"devices.*.moment", NAME_FORMULA},
	{"devices.*.*.csv", NAME_FILE},
	{"motions.*.*.*.csv", NAME_FILE},
	{"group_motions.*.*.*.csv", NAME_FILE},
	{"subsystems.*.attach.to", NAME_PATH},
	{"subsystems.*.attach.joint.drive.value.csv", NAME_FILE},
	{"subsystems.*.library", NAME_FILE},
	{"events.*.when", NAME_FORMULA},
	{"events.*.after", NAME_OBJECT},
	{"events.*.do.attach.name", NAME_OBJECT},
	{"events.*.do.attach.from", NAME_PATH},
	{"events.*.do.attach.to", NAME_PATH},
	{"events.*.do.detach", NAME_OBJECT},
	{"events.*.do.reattach", NAME_OBJECT},
	{"events.*.do.reroot", NAME_OBJECT},
	{"events.*.do.split", NAME_OBJECT},
	{"events.*.do.lock", NAME_OBJECT},
	{"events.*.do.unlock", NAME_OBJECT},
	{"events.*.do.lock_modes", NAME_OBJECT},
	{"events.*.do.unlock_modes", NAME_OBJECT},
	{"events.*.do.open", NAME_OBJECT},
	{"events.*.do.close", NAME_OBJECT},
	{"events.*.do.add_body.name", NAME_OBJECT},
	{"events.*.do.add_body.group", NAME_GROUP},
	{"events.*.do.remove_body", NAME_OBJECT},
	{"events.*.do.switch_on", NAME_OBJECT},
	{"events.*.do.switch_off", NAME_OBJECT},
	{"events.*.do.release", NAME_GROUP},
	{"events.*.do.group", NAME_GROUP},
};

/* Maps and lists of named items; the names of some are their own affair. */
static const struct {
	const char *place;
	NameKind kind;
} sections[] = {
	{"groups", NAME_GROUP},          {"bodies", NAME_OBJECT},       {"joints", NAME_OBJECT},
	{"pendulums", NAME_OBJECT},      {"loops", NAME_OBJECT},        {"state", NAME_OBJECT},
	{"devices", NAME_OBJECT},        {"motions", NAME_GROUP},       {"motions.*", NAME_OBJECT},
	{"events", NAME_OBJECT},         {"ground.nodes", NAME_OBJECT}, {"subsystems", NAME_OBJECT},
	{"devices.*.shapes", NAME_NONE}, {"group_motions", NAME_GROUP}, {"group_motions.*", NAME_OBJECT},
};

/* ---- one name ----------------------------------------------------------------------------------------- */

static const char *prefixed(const Scope *scope, const char *name) {
	return reader_text(scope->r, "%s%s", scope->prefix, name);
}

const char *scope_path(const Scope *scope, const char *path) {
	if (strcmp(path, "ground") == 0)
		return path;
	if (strncmp(path, "ground/", 7) == 0)
		return reader_text(scope->r, "ground/%s%s", scope->prefix, path + 7);
	return prefixed(scope, path);
}

static const char *scope_group(const Scope *scope, const char *name) {
	return strcmp(name, "main") == 0 ? scope->main : prefixed(scope, name);
}

/* ---- formulas ------------------------------------------------------------------------------------------ */

static bool is_letter(char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

/* A function of the simulation that is called: how many of its arguments are names, and whether of nodes. */
typedef struct Call {
	int names, nodes;
	size_t length; // of the word and its parenthesis
} Call;

static Call call_at(const char *p) {
	Call call = {0, 0, 0};
	char word[16];
	size_t length = 0;
	while (is_letter(p[length]))
		length++;
	const size_t space = strspn(p + length, " \t\r\n");
	if (length == 0 || length >= sizeof word || p[length + space] != '(')
		return call;
	snprintf(word, sizeof word, "%.*s", (int)length, p);
	call.names = cal_expression_names(word, &call.nodes);
	call.length = length + space + 1;
	return call;
}

static void append_text(char **out, const char *text, size_t length) {
	memcpy(*out, text, length);
	*out += length;
}

/* Copies one argument, with the prefix where it is a name, and returns what is behind it. */
static const char *argument_copy(const Scope *scope, const Call *call, int index, const char *p, char **out) {
	const size_t space = strspn(p, " \t\r\n");
	const char quote = p[space] == '\'' || p[space] == '"' ? p[space] : 0;
	const char *name = p + space + (quote != 0);
	const char *end = quote ? strchr(name, quote) : name + strcspn(name, ",)");
	if (!end)
		end = name + strlen(name);
	const bool ground = (strncmp(name, "ground", 6) == 0) && (name + 6 == end || strchr("/ \t)", name[6]));
	const bool path = call->nodes != 0, is_name = index < call->names;
	if (is_name && path && ground && name[6] == '/')
		name += 7;
	append_text(out, p, (size_t)(name - p));
	if (is_name && (!(path && ground) || name[-1] == '/'))
		append_text(out, scope->prefix, strlen(scope->prefix));
	append_text(out, name, (size_t)(end - name));
	const size_t rest = strcspn(end, ",)");
	append_text(out, end, rest);
	return end + rest;
}

/* What is no formula, or a wrong one, comes back as it is or as wrong: it is judged when it is read. */
static const char *scope_formula(const Scope *scope, const char *text) {
	size_t commas = 2;
	for (const char *p = text; *p; p++)
		commas += *p == ',' || *p == '(';
	char *made = reader_array(scope->r, strlen(text) + commas * (strlen(scope->prefix) + 1) + 1, 1), *out = made;
	for (const char *p = text; made && *p;) {
		const Call call = call_at(p);
		size_t length = call.names ? call.length : 1;
		while (!call.names && is_letter(*p) && is_letter(p[length]))
			length++;
		append_text(&out, p, length);
		p += length;
		for (int index = 0; call.names && *p && (index == 0 || *p == ','); index++) {
			if (index > 0)
				append_text(&out, p++, 1);
			p = argument_copy(scope, &call, index, p, &out);
		}
	}
	return made;
}

/* ---- the tree ------------------------------------------------------------------------------------------ */

static const char *scope_text(const Scope *scope, NameKind kind, const char *text) {
	switch (kind) {
	case NAME_OBJECT:
		return prefixed(scope, text);
	case NAME_PATH:
		return scope_path(scope, text);
	case NAME_GROUP:
		return scope_group(scope, text);
	case NAME_FORMULA:
		return scope_formula(scope, text);
	case NAME_FILE:
		return text[0] == '/' ? text : reader_text(scope->r, "%s%s", scope->folder, text);
	default:
		return text;
	}
}

static const TreeNode *scope_scalar(const Scope *scope, NameKind kind, const TreeNode *node) {
	if (kind == NAME_NONE || node->kind != TREE_SCALAR)
		return node;
	const char *text = scope_text(scope, kind, node->text);
	return text ? make_scalar(scope->r, node, text) : NULL;
}

typedef struct Walk {
	const Scope *scope;
	char place[128];
} Walk;

static NameKind kind_at(const char *place) {
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (strcmp(places[i].place, place) == 0)
			return places[i].kind;
	return NAME_NONE;
}

/* Index of the section that the place is, or -1. */
static int section_at(const char *place) {
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		if (strcmp(sections[i].place, place) == 0)
			return (int)i;
	return -1;
}

/* Whether any name stands at or below the place. */
static bool has_names(const char *place) {
	const size_t length = strlen(place);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (strncmp(places[i].place, place, length) == 0 && strchr(".", places[i].place[length]))
			return true;
	return section_at(place) >= 0;
}

static const TreeNode *walk_node(Walk *w, const TreeNode *node);

/* One step down, to the value of a key or of a named item. */
static const TreeNode *walk_below(Walk *w, const char *key, const TreeNode *value) {
	const size_t length = strlen(w->place);
	if (snprintf(w->place + length, sizeof w->place - length, ".%.40s", key) < 0)
		return NULL;
	const TreeNode *made = walk_node(w, value);
	w->place[length] = '\0';
	return made;
}

static const TreeNode *walk_list(Walk *w, const TreeNode *list, bool named) {
	const TreeNode **items = reader_array(w->scope->r, (size_t)list->count, sizeof *items);
	for (int i = 0; items && i < list->count; i++) {
		items[i] = named ? walk_below(w, "*", list->items[i]) : walk_node(w, list->items[i]);
		if (!items[i])
			return NULL;
	}
	return items ? tree_make_list(w->scope->r->file->tree, list, items, list->count) : NULL;
}

static const TreeNode *walk_map(Walk *w, const TreeNode *map, int section) {
	Reader *r = w->scope->r;
	const TreeNode **pairs = reader_array(r, 2 * (size_t)map->count, sizeof *pairs);
	for (int i = 0; pairs && i < map->count; i++) {
		pairs[2 * i] = section < 0 ? map->keys[i] : scope_scalar(w->scope, sections[section].kind, map->keys[i]);
		pairs[2 * i + 1] = walk_below(w, section < 0 ? map->keys[i]->text : "*", map->items[i]);
		if (!pairs[2 * i] || !pairs[2 * i + 1])
			return NULL;
	}
	const TreeNode *made = pairs ? tree_make_map(r->file->tree, map, pairs, map->count, r->error) : NULL;
	if (!made && r->status == CAL_OK)
		r->status = r->error ? r->error->status : CAL_ERR_MEMORY;
	return made;
}

static const TreeNode *walk_node(Walk *w, const TreeNode *node) {
	if (!has_names(w->place))
		return node;
	if (node->kind == TREE_SCALAR)
		return tree_is_null(node) ? node : scope_scalar(w->scope, kind_at(w->place), node);
	const int section = section_at(w->place);
	return node->kind == TREE_LIST ? walk_list(w, node, section >= 0) : walk_map(w, node, section);
}

/* A body that names no group goes with the node that carries it. */
static const TreeNode *with_group(const Scope *scope, const TreeNode *body) {
	if (strcmp(scope->main, "main") == 0 || body->kind != TREE_MAP || tree_get(body, "group"))
		return body;
	const TreeNode *group = make_scalar(scope->r, body, "main"); // renamed with the rest
	return group ? map_with(scope->r, body, "group", group) : NULL;
}

static bool rename_list(const Scope *scope, PartSection section, PartList *list) {
	Walk w = {.scope = scope};
	const char *name = part_section_name(section);
	const int known = section_at(name);
	for (int i = 0; i < list->count; i++) {
		PartItem *item = &list->items[i];
		snprintf(w.place, sizeof w.place, "%s%s", name, known < 0 ? "" : ".*");
		const TreeNode *value = section == PART_BODIES ? with_group(scope, item->value) : item->value;
		value = value ? walk_node(&w, value) : NULL;
		if (known >= 0)
			item->key = scope_scalar(scope, sections[known].kind, item->key);
		if (!value || !item->key)
			return false;
		item->value = value;
	}
	return true;
}

bool part_rename(const Scope *scope, Part *part) {
	for (int i = 0; i < PART_SECTION_COUNT; i++) {
		if (!rename_list(scope, (PartSection)i, &part->lists[i]))
			return part_failed(scope->r);
		part->lists[i].index = (NameIndex){0}; // of the names that they had
		part->lists[i].indexed = 0;
	}
	for (int i = 0; i < part->instance_count; i++) {
		CalSetupInstance *instance = &part->instances[i];
		instance->name = prefixed(scope, instance->name);
		instance->joint = instance->joint ? prefixed(scope, instance->joint) : NULL;
		if (!instance->name)
			return false;
	}
	return true;
}
