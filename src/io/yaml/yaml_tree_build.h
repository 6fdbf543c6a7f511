// SPDX-License-Identifier: Apache-2.0
/*
 * yaml_tree_build.h — the inside of a tree, shared by yaml_tree.c and yaml_parse.c, and the step that closes a map.
 */
#ifndef CALDER_IO_YAML_YAML_TREE_BUILD_H
#define CALDER_IO_YAML_YAML_TREE_BUILD_H

#include "base/memory_pool.h"
#include "io/yaml/yaml_tree.h"

struct Tree {
	Pool pool;            // holds texts and what tree_array() gives, this struct included
	Pool nodes;           // holds the nodes and their lists
	const char *name;     // of the file
	const TreeNode *root; //
	size_t node_count;    // nodes and merged pairs so far
	Tree *adopted;        // goes with this one, and what it has adopted
	size_t written_out;   // weight with the subsystems that it uses (model_file_subsystem.c), 0: not known
};

/** Positions of the pairs of a map in the order of the text of their keys: they stand after the keys. */
static inline const int *tree_order(const TreeNode *map) {
	return (const int *)(const void *)(map->items + 2 * map->count);
}
/** Pointers that the items of a map take. */
static inline size_t tree_map_room(size_t count) {
	return 2 * count + (count * sizeof(int) + sizeof(void *) - 1) / sizeof(void *);
}

/* Bits of the column of a node; documents have fewer than TREE_MAX_BYTES. */
#define TREE_COLUMN_BITS 0x1fffffffu

static inline uint32_t tree_weight_sum(uint32_t a, uint32_t b) {
	return a + b > TREE_MAX_WEIGHT ? TREE_MAX_WEIGHT + 1 : a + b; // each is at most that
}

/** A new node, zero but for its place and weight; NULL: out of memory. */
TreeNode *tree_node_new(Tree *tree, TreeKind kind, int line, int column, const char *file);

/**
 * Makes a map of pairs[0 .. 2 count - 1] (key, value, key, value ...): expands `<<`, refuses duplicate
 * keys, sorts for look-up. The keys are scalars.
 */
CalStatus tree_close_map(Tree *tree, TreeNode *map, const TreeNode *const *pairs, int count, CalError *error);

/* Further nodes, at the place of another one; NULL: no memory. The items of a list and the pairs of a map are copied. */
const TreeNode *tree_make_scalar(Tree *tree, const TreeNode *like, const char *text);
const TreeNode *tree_make_list(Tree *tree, const TreeNode *like, const TreeNode *const *items, int count);
/** A key given twice is an error, which has been reported then. */
const TreeNode *tree_make_map(Tree *tree, const TreeNode *like, const TreeNode *const *pairs, int count,
                              CalError *error);

#endif
