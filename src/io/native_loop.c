// SPDX-License-Identifier: Apache-2.0
/*
 * native_loop.c — loops: constraints between two nodes of the tree (docs/loops.md).
 */
#include <string.h>

#include "io/native.h"

typedef struct LoopInput {
	CalLoopType type;
	const char *from, *to;
	CalPlacement a, b;
	double length;
} LoopInput;

static bool key_loop_type(Reader *r, const TreeNode *value, const Key *key, void *target) {
	CalLoopType *type = (CalLoopType *)(void *)((char *)target + key->offset);
	const char *text;
	if (!read_text(r, value, &text))
		return false;
	Suggestion suggestion = {.word = text};
	for (int i = 0; i < CAL_LOOP_TYPE_COUNT; i++) {
		const char *name = cal_loop_type_name((CalLoopType)i);
		if (strcmp(name, text) == 0) {
			*type = (CalLoopType)i;
			return true;
		}
		suggestion_offer(&suggestion, name);
	}
	return reader_unknown(r, value, "type of loop", &suggestion);
}

static const Key loop_keys[] = {
	{"name", key_ignore, 0, DIM_NUMBER, 0},
	{"type", key_loop_type, offsetof(LoopInput, type), DIM_NUMBER, KEY_REQUIRED},
	{"from", key_text, offsetof(LoopInput, from), DIM_NUMBER, 0},
	{"to", key_text, offsetof(LoopInput, to), DIM_NUMBER, 0},
	{"a", key_placement, offsetof(LoopInput, a), DIM_LENGTH, 0},
	{"b", key_placement, offsetof(LoopInput, b), DIM_LENGTH, 0},
	{"length", key_positive, offsetof(LoopInput, length), DIM_LENGTH, 0},
};
const KeyTable loop_table = KEY_TABLE("loop", loop_keys);

/* Keys that belong to one type, and only to it. */
static bool check_keys(Reader *r, const TreeNode *map, CalLoopType type) {
	const TreeNode *length = tree_get(map, "length");
	const char *name = cal_loop_type_name(type);
	if (length && type != CAL_LOOP_DISTANCE)
		return reader_fail(r, length, "a %s loop has no \"length\"; remove it or change the type", name);
	if (!length && type == CAL_LOOP_DISTANCE)
		return reader_fail(r, map, "a distance loop needs the key \"length\"");
	for (int side = 0; side < 2 && type == CAL_LOOP_KNIFE; side++) {
		const TreeNode *other = tree_get(map, side ? "b" : "to");
		if (other)
			return reader_fail(r, other, "a knife has one side, \"from\"; remove \"%s\"", side ? "b" : "to");
	}
	return true;
}

static bool find_side(Reader *r, const Sections *s, const TreeNode *map, const char *key, const char *path,
                      CalNodeId *id) {
	*id = (CalNodeId){0};
	return !path || native_find_node(r, s, tree_get(map, key), path, id);
}

static bool read_loop(Reader *r, const Sections *s, const Item *item) {
	char place[256];
	LoopInput input = {.a.orientation = {1, 0, 0, 0}, .b.orientation = {1, 0, 0, 0}};
	CalNodeId a, b;
	reader_subject(r, "loop", item->name);
	if (!keys_read(r, item->value, &loop_table, &input) || !check_keys(r, item->value, input.type) ||
	    !find_side(r, s, item->value, "from", input.from, &a) || !find_side(r, s, item->value, "to", input.to, &b))
		return false;
	CalLoopDef def = cal_loop_def(input.type);
	def.name = item->name;
	def.place = tree_place(r->file->tree, item->place, place, sizeof place);
	def.a = input.a, def.b = input.b;
	def.length = input.length;
	const CalStatus status = cal_desc_close_loop(r->file->desc, a, &def, b, NULL, r->error);
	return status == CAL_OK || reader_refused(r, item->place, status);
}

bool native_read_loops(Reader *r, const Sections *s) {
	reader_subject(r, "loops", NULL);
	const int count = items_count(r, s->loops, "loops");
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, s->loops, i, "loop", &item) || !read_loop(r, s, &item))
			return false;
		reader_subject(r, "loops", NULL);
	}
	return count >= 0;
}
