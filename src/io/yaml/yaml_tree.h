// SPDX-License-Identifier: Apache-2.0
/*
 * yaml_tree.h — a YAML or JSON document as a tree of scalars, lists and maps that knows its places.
 *
 * libyaml reads the text; what comes out is plain data without types: a scalar is its text and the
 * caller says what it should be. Anchors and aliases share nodes, `<<` merges maps. Input that could
 * hurt is refused with its place: depth, size, alias bombs, duplicate keys, tags, several documents.
 * Without libyaml (CALDER_WITH_YAML) tree_parse() returns CAL_ERR_UNSUPPORTED.
 */
#ifndef CALDER_IO_YAML_YAML_TREE_H
#define CALDER_IO_YAML_YAML_TREE_H

#include <calder/base.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	TREE_MAX_DEPTH = 64,        // nesting
	TREE_MAX_BYTES = 1 << 26,   // of a document
	TREE_MAX_NODES = 1 << 22,   // in memory
	TREE_MAX_WEIGHT = 1 << 24,  // nodes with every alias written out
	TREE_MAX_ANCHORS = 1 << 10, //
	TREE_MAX_MERGED = 1 << 16,  // pairs of one map, merged ones included
};

/* What to do about a document that is too large. */
#define TREE_REMEDY "split the model into subsystems (docs/subsystems.md), or build it with the C interface"

typedef enum TreeKind { TREE_SCALAR, TREE_LIST, TREE_MAP } TreeKind;

typedef struct TreeNode TreeNode;
struct TreeNode {
	int line;               // place in the file, from 1
	unsigned column : 29;   //
	unsigned kind : 2;      // TreeKind
	unsigned plain : 1;     // scalar without quotes
	int count;              // list: items; map: pairs
	uint32_t weight;        // nodes of this subtree with every alias written out; beyond TREE_MAX_WEIGHT: that and one
	const char *text;       // scalar: its text, ended by a zero and with none inside
	const TreeNode **items; // list: items; map: values, then keys, then their order (tree_key(), tree_get())
	const char *file;       // that it stands in; NULL: the tree's
};

/** Key `index` of a map, a scalar, in the order of the file. */
static inline const TreeNode *tree_key(const TreeNode *map, int index) { return map->items[map->count + index]; }

typedef struct Tree Tree;

/** name stands for the file in messages. */
CalStatus tree_parse(const char *text, size_t length, const char *name, const CalAllocator *allocator, Tree **tree,
                     CalError *error);
CalStatus tree_read(const char *path, const CalAllocator *allocator, Tree **tree, CalError *error);
/** All of a file, from the allocator; not ended by a zero. NULL on failure. */
CalStatus tree_text(const char *path, const CalAllocator *allocator, char **text, size_t *length, CalError *error);
void tree_destroy(Tree *tree); // accepts NULL

/** Releases the nodes of a tree and of what it has adopted; texts and what tree_array() gave stay. It has no root then. */
void tree_forget_nodes(Tree *tree);
/** Ties the life of another tree to this one's: nodes of both may be mixed. */
void tree_adopt(Tree *tree, Tree *other);

const TreeNode *tree_root(const Tree *tree);
void tree_set_root(Tree *tree, const TreeNode *root);
const char *tree_name(const Tree *tree);
/** Zeroed memory that lives as long as the tree, or NULL. */
void *tree_array(Tree *tree, size_t count, size_t size);

/** Value of a key of a map; NULL if it is not there, or if node is NULL or no map. */
const TreeNode *tree_get(const TreeNode *node, const char *key);
/** True for an empty plain scalar, `~` and `null`. */
bool tree_is_null(const TreeNode *node);

/**
 * The value that a path of steps leads to: keys of maps, and of lists names of items or places from 0. *reached: how many
 * steps could be taken; NULL back if not all.
 */
const TreeNode *tree_find(const TreeNode *node, const char *const *steps, int count, int *reached);
/**
 * Puts another text in the place of the scalar at the end of a path. What aliases and merged maps share with it stays as
 * it is, unless `shared`: then it changes wherever it is used. CAL_ERR_ARGUMENT: there is no scalar.
 */
CalStatus tree_set(Tree *tree, const char *const *steps, int count, const char *text, bool shared);

/** "name:line:column: error: ..." into error, and status back. node NULL: no place. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
CalStatus
tree_error(CalError *error, const char *name, const TreeNode *node, CalStatus status, const char *format, ...);

/** "name:line:column" into buffer, as the builder's `place`. */
const char *tree_place(const Tree *tree, const TreeNode *node, char *buffer, size_t size);

#endif
