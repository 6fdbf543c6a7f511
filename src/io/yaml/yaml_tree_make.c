// SPDX-License-Identifier: Apache-2.0
/*
 * yaml_tree_make.c — nodes that do not stand in a text: what is put together from several files
 * (model_file_subsystem.c).
 *
 * Each has the place of the node that it replaces, so that messages about it lead there.
 */
#include <string.h>

#include "io/yaml/yaml_tree_build.h"

TreeNode *tree_node_new(Tree *tree, TreeKind kind, int line, int column, const char *file) {
	TreeNode *node = pool_array_of_words(&tree->nodes, 1, sizeof *node);
	if (node) {
		node->kind = (unsigned)kind & 3;
		node->line = line;
		node->column = (unsigned)column & TREE_COLUMN_BITS;
		node->file = file;
		node->weight = 1;
		tree->node_count++;
	}
	return node;
}

static TreeNode *node_like(Tree *tree, const TreeNode *like, TreeKind kind) {
	return tree_node_new(tree, kind, like->line, (int)like->column, like->file);
}

const TreeNode *tree_make_scalar(Tree *tree, const TreeNode *like, const char *text) {
	TreeNode *node = node_like(tree, like, TREE_SCALAR);
	if (!node)
		return NULL;
	node->plain = like->kind == TREE_SCALAR ? like->plain : true;
	node->text = pool_text(&tree->pool, text, strlen(text));
	return node->text ? node : NULL;
}

const TreeNode *tree_make_list(Tree *tree, const TreeNode *like, const TreeNode *const *items, int count) {
	TreeNode *node = node_like(tree, like, TREE_LIST);
	const TreeNode **copy = pool_array_of_words(&tree->nodes, (size_t)count, sizeof *copy);
	if (!node || !copy)
		return NULL;
	if (count)
		memcpy(copy, items, (size_t)count * sizeof *items);
	node->items = copy;
	node->count = count;
	for (int i = 0; i < count; i++)
		node->weight = tree_weight_sum(node->weight, items[i]->weight);
	return node;
}

const TreeNode *tree_make_map(Tree *tree, const TreeNode *like, const TreeNode *const *pairs, int count,
                              CalError *error) {
	TreeNode *node = node_like(tree, like, TREE_MAP);
	if (!node) {
		tree_error(error, tree->name, NULL, CAL_ERR_MEMORY, "out of memory");
		return NULL;
	}
	return tree_close_map(tree, node, pairs, count, error) == CAL_OK ? node : NULL;
}
