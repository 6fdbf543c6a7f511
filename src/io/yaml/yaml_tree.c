// SPDX-License-Identifier: Apache-2.0
/*
 * yaml_tree.c — what a tree offers once it is built, reading of files, and messages with places.
 *
 * The construction from libyaml's events is in yaml_parse.c.
 */
#include "io/yaml/yaml_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "io/yaml/yaml_tree_build.h"

const TreeNode *tree_root(const Tree *tree) { return tree->root; }

void tree_set_root(Tree *tree, const TreeNode *root) { tree->root = root; }

void tree_adopt(Tree *tree, Tree *other) {
	Tree *last = other;
	while (last->adopted)
		last = last->adopted;
	last->adopted = tree->adopted;
	tree->adopted = other;
}

const char *tree_name(const Tree *tree) { return tree->name; }

void *tree_array(Tree *tree, size_t count, size_t size) { return pool_array(&tree->pool, count, size); }

const TreeNode *tree_get(const TreeNode *node, const char *key) {
	if (!node || node->kind != TREE_MAP)
		return NULL;
	const int *sorted = tree_order(node);
	int low = 0, high = node->count - 1;
	while (low <= high) {
		const int middle = low + (high - low) / 2;
		const int at = sorted[middle];
		const int order = strcmp(key, tree_key(node, at)->text);
		if (order == 0)
			return node->items[at];
		if (order < 0)
			high = middle - 1;
		else
			low = middle + 1;
	}
	return NULL;
}

bool tree_is_null(const TreeNode *node) {
	return node->kind == TREE_SCALAR && node->plain &&
	       (!node->text[0] || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

CalStatus tree_error(CalError *error, const char *name, const TreeNode *node, CalStatus status, const char *format,
                     ...) {
	if (!error)
		return status;
	error->status = status;
	error->count = 1;
	int used;
	if (node)
		used = snprintf(error->text, sizeof error->text, "%.200s:%d:%d: error: ", node->file ? node->file : name,
		                node->line, node->column);
	else
		used = snprintf(error->text, sizeof error->text, "%.200s: error: ", name);
	if (used < 0 || (size_t)used >= sizeof error->text)
		return status;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(error->text + used, sizeof error->text - (size_t)used, format, arguments);
	va_end(arguments);
	return status;
}

const char *tree_place(const Tree *tree, const TreeNode *node, char *buffer, size_t size) {
	snprintf(buffer, size, "%.200s:%d:%d", node->file ? node->file : tree->name, node->line, node->column);
	return buffer;
}

void tree_destroy(Tree *tree) {
	while (tree) {
		Tree *next = tree->adopted;
		Pool pool = tree->pool; // the tree itself is in its pool
		pool_free(&tree->nodes);
		pool_free(&pool);
		tree = next;
	}
}

void tree_forget_nodes(Tree *tree) {
	for (; tree; tree = tree->adopted) {
		const CalAllocator allocator = tree->nodes.allocator;
		pool_free(&tree->nodes);
		pool_init(&tree->nodes, &allocator);
		tree->root = NULL;
	}
}

CalStatus tree_text(const char *path, const CalAllocator *allocator, char **text, size_t *length, CalError *error) {
	*text = NULL;
	*length = 0;
	if (!allocator_is_valid(allocator))
		return tree_error(error, path, NULL, CAL_ERR_ARGUMENT, "the allocator needs both functions or none");
	const CalAllocator source = allocator_or_default(allocator);
	static const InputFile limits = {TREE_MAX_BYTES, TREE_REMEDY, false};
	char why[INPUT_FILE_WHY];
	const CalStatus status = input_file_read(path, &limits, &source, text, length, why);
	return status == CAL_OK ? CAL_OK : tree_error(error, path, NULL, status, "%s", why);
}

CalStatus tree_read(const char *path, const CalAllocator *allocator, Tree **tree, CalError *error) {
	char *text;
	size_t length;
	*tree = NULL;
	CalStatus status = tree_text(path, allocator, &text, &length, error);
	if (status == CAL_OK) {
		const CalAllocator source = allocator_or_default(allocator);
		status = tree_parse(text, length, path, allocator, tree, error);
		memory_free(&source, text);
	}
	return status;
}
