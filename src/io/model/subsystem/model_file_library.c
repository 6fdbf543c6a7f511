// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_library.c — subsystems that stay in a file: components, which are groups of it, and compiled subsystems
 * that a shared object supplies (docs/subsystems.md).
 *
 * What a compiled subsystem is, is not known before it is loaded, which happens when a simulation is set up.
 */
#include <stdlib.h>
#include <string.h>

#include "io/model/model_file.h"

/* A name, or a number from 1; default the position in the list. */
static bool read_number(Reader *r, const TreeNode *node, int index, CalSubsystemTie *tie) {
	const char *text = NULL;
	tie->interface_node = index;
	if (!node)
		return true;
	if (!read_text(r, node, &text))
		return false;
	char *end;
	const long number = strtol(text, &end, 10);
	if (*end || end == text)
		tie->name = text;
	else if (number < 1 || number > 1000)
		return reader_fail(r, node, "interface nodes are counted from 1, not %.20s", text);
	else
		tie->interface_node = (int)number - 1;
	return true;
}

static bool read_joint(Reader *r, const Sections *s, const TreeNode *joint, CalLoopDef *def) {
	*def = cal_loop_def(CAL_LOOP_WELD);
	if (!joint)
		return true;
	static const char *const given[] = {"from", "to", "name", "open"};
	for (int i = 0; joint->kind == TREE_MAP && i < 4; i++)
		if (tree_get(joint, given[i]))
			return reader_fail(r, tree_get(joint, given[i]),
			                   "\"%s\" is not given here: the joint is between \"to\" and the interface node",
			                   given[i]);
	if (joint->kind == TREE_MAP)
		return model_file_loop_def(r, s, joint, def);
	const char *text = NULL;
	if (!read_text(r, joint, &text))
		return false;
	Suggestion suggestion = {.word = text};
	for (int i = 0; i < CAL_LOOP_TYPE_COUNT; i++) {
		const char *name = cal_loop_type_name((CalLoopType)i);
		*def = cal_loop_def((CalLoopType)i);
		if (strcmp(name, text) == 0)
			return true;
		suggestion_offer(&suggestion, name);
	}
	return reader_unknown(r, joint, "type of loop", &suggestion);
}

static bool read_tie(Reader *r, const Sections *s, const TreeNode *map, int index, CalSubsystemTie *tie) {
	const TreeNode *to = tree_get(map, "to"), *node = tree_get(map, "node");
	const char *path = NULL;
	if (node && (!read_text(r, node, &path) || !model_file_find_node(r, s, node, path, &tie->inner)))
		return false;
	return to && read_text(r, to, &path) && model_file_find_node(r, s, to, path, &tie->node) &&
	       read_number(r, field_value(map, field_find(&attachment_table, "interface")), index, tie) &&
	       read_joint(r, s, tree_get(map, "joint"), &tie->joint);
}

/* It is beside the file. Without a slash the loader would look for it in the system's folders. */
static const char *library_path(Reader *r, const TreeNode *node, const char *name) {
	char path[1024];
	if (!reader_path(r, node, NULL, name, path, sizeof path))
		return NULL;
	return reader_text(r, "%s%s", strchr(path, '/') ? "" : "./", path);
}

/* The keys of the map and its attachments have been checked by then (model_file_subsystem.c). */
static bool read_box(Reader *r, const Sections *s, const Item *item) {
	char place[256];
	const TreeNode *library = tree_get(item->value, "library"), *attach = tree_get(item->value, "attach");
	const TreeNode *arguments = tree_get(item->value, "arguments");
	const bool none = !attach || tree_is_null(attach), list = attach && attach->kind == TREE_LIST;
	CalSubsystemUse use = {.name = item->name,
	                       .arguments = arguments ? arguments->text : "",
	                       .place = tree_place(r->file->tree, item->place, place, sizeof place)};
	reader_subject(r, "subsystem", item->name);
	use.tie_count = none ? 0 : list ? attach->count : 1;
	CalSubsystemTie *ties = reader_array(r, (size_t)use.tie_count, sizeof *ties);
	if (!ties ||
	    (library && (!read_text(r, library, &use.file) || !(use.library = library_path(r, library, use.file)))))
		return false;
	for (int i = 0; i < use.tie_count; i++) {
		const TreeNode *tie = list ? attach->items[i] : attach;
		if (!read_tie(r, s, tie, i, &ties[i]))
			return false;
		if (!library == !ties[i].inner.value)
			return reader_fail(r, tie,
			                   library ? "\"node\" is for a component; name the node by \"interface\""
			                           : "give \"node\", the component's own node, which is one of a body");
	}
	use.ties = ties;
	return reader_added(r, item->place, cal_setup_add_subsystem(r->file->setup, &use, r->error));
}

bool model_file_read_boxes(Reader *r, const Sections *s) {
	const int count = items_count(r, s->subsystems, "subsystems");
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, s->subsystems, i, "subsystem", &item) || !read_box(r, s, &item))
			return false;
	}
	return count >= 0;
}
