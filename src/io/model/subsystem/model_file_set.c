// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_set.c — other values in the file of a subsystem (the key "set", docs/subsystems.md): the tree with another
 * node at a dotted path; all that does not change is shared.
 */
#include <string.h>

#include "io/model/subsystem/model_file_part.h"

/* The child that the beginning of a dotted path names: of several the longest. -1: none. */
static int child_of(const TreeNode *node, const char *path, size_t *length) {
	int found = -1;
	*length = 0;
	for (int i = 0; node->kind != TREE_SCALAR && i < node->count; i++) {
		const TreeNode *key = node->kind == TREE_MAP ? tree_key(node, i) : tree_get(node->items[i], "name");
		const size_t n = key && key->kind == TREE_SCALAR ? strlen(key->text) : 0;
		if (n > *length && strncmp(path, key->text, n) == 0 && (path[n] == '.' || path[n] == '\0')) {
			found = i;
			*length = n;
		}
	}
	return found;
}

static const TreeNode *with_child(Reader *r, const TreeNode *node, int child, const TreeNode *value) {
	if (node->kind == TREE_MAP)
		return map_with(r, node, tree_key(node, child)->text, value);
	const TreeNode **items = reader_array(r, (size_t)node->count, sizeof *items);
	if (!items)
		return NULL;
	memcpy(items, node->items, (size_t)node->count * sizeof *items);
	items[child] = value;
	const TreeNode *made = tree_make_list(r->file->tree, node, items, node->count);
	if (!made)
		part_failed(r);
	return made;
}

/* The tree with another value at the path; the last key may be a new one. NULL after reporting. */
static const TreeNode *with_value(Reader *r, const TreeNode *node, const TreeNode *key, const char *path,
                                  const TreeNode *value) {
	size_t length;
	const int child = child_of(node, path, &length);
	if (child < 0 && node->kind == TREE_MAP && path[0] && !strchr(path, '.'))
		return map_with(r, node, path, value);
	if (child < 0) {
		reader_fail(r, key, "there is nothing at \"%.80s\": \"%.60s\" is not found in %.100s:%d", key->text, path,
		            node->file ? node->file : tree_name(r->file->tree), node->line);
		return NULL;
	}
	const TreeNode *made = path[length] ? with_value(r, node->items[child], key, path + length + 1, value) : value;
	return made ? with_child(r, node, child, made) : NULL;
}

const TreeNode *part_with_settings(Reader *r, const TreeNode *root, const TreeNode *set) {
	if (!set || tree_is_null(set))
		return root;
	if (set->kind != TREE_MAP) {
		reader_fail(r, set, "expected a map of places in the file and their values, e.g. bodies.boom.mass: 12 kg");
		return NULL;
	}
	for (int i = 0; root && i < set->count; i++)
		root = with_value(r, root, tree_key(set, i), tree_key(set, i)->text, set->items[i]);
	return root;
}
