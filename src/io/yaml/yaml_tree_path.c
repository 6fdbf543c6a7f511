// SPDX-License-Identifier: Apache-2.0
/*
 * yaml_tree_path.c — a place in a tree by the steps that lead to it, and another text put there.
 */
#include <string.h>

#include "io/yaml/yaml_tree_build.h"

/* A whole number of few digits, or -1. */
static int place_in_list(const char *step) {
	int number = 0;
	if (!step[0] || strlen(step) > 8 || strspn(step, "0123456789") != strlen(step))
		return -1;
	for (; *step; step++)
		number = 10 * number + *step - '0';
	return number;
}

/* Where a step leads to among the items of a node, or -1. */
static int child_index(const TreeNode *node, const char *step) {
	for (int i = 0; node->kind == TREE_MAP && i < node->count; i++)
		if (strcmp(tree_key(node, i)->text, step) == 0)
			return i;
	if (node->kind != TREE_LIST)
		return -1;
	for (int i = 0; i < node->count; i++) {
		const TreeNode *name = tree_get(node->items[i], "name");
		if (name && name->kind == TREE_SCALAR && strcmp(name->text, step) == 0)
			return i;
	}
	const int place = place_in_list(step);
	return place < node->count ? place : -1;
}

const TreeNode *tree_find(const TreeNode *node, const char *const *steps, int count, int *reached) {
	for (*reached = 0; *reached < count; ++*reached) {
		const int index = child_index(node, steps[*reached]);
		if (index < 0)
			return NULL;
		node = node->items[index];
	}
	return node;
}

/* A copy of the node with another item. */
static const TreeNode *with_item(Tree *tree, const TreeNode *node, int index, const TreeNode *item) {
	TreeNode *copy = pool_alloc(&tree->nodes, sizeof *copy);
	const size_t count = node->kind == TREE_MAP ? tree_map_room((size_t)node->count) : (size_t)node->count;
	const TreeNode **items = pool_array(&tree->nodes, count, sizeof *items);
	if (!copy || !items)
		return NULL;
	*copy = *node;
	memcpy(items, node->items, count * sizeof *items);
	items[index] = item;
	copy->items = items;
	return copy;
}

CalStatus tree_set(Tree *tree, const char *const *steps, int count, const char *text, bool shared) {
	const TreeNode *path[TREE_MAX_DEPTH + 1] = {tree->root};
	int index[TREE_MAX_DEPTH + 1];
	if (count < 1 || count > TREE_MAX_DEPTH)
		return CAL_ERR_ARGUMENT;
	for (int i = 0; i < count; i++) {
		index[i] = child_index(path[i], steps[i]);
		if (index[i] < 0)
			return CAL_ERR_ARGUMENT;
		path[i + 1] = path[i]->items[index[i]];
	}
	if (path[count]->kind != TREE_SCALAR)
		return CAL_ERR_ARGUMENT;
	char *kept = pool_text(&tree->pool, text, strlen(text));
	TreeNode *scalar = shared ? (TreeNode *)path[count] : pool_alloc(&tree->nodes, sizeof *scalar);
	if (!kept || !scalar)
		return CAL_ERR_MEMORY;
	if (!shared)
		*scalar = *path[count];
	scalar->text = kept;
	scalar->plain = true;
	const TreeNode *below = scalar;
	for (int i = count; i-- > 0 && !shared;) {
		below = with_item(tree, path[i], index[i], below);
		if (!below)
			return CAL_ERR_MEMORY;
	}
	if (!shared)
		tree->root = below;
	return CAL_OK;
}
