// SPDX-License-Identifier: Apache-2.0
/*
 * json_tree.h — JSON text (RFC 8259) as a flat tree: values refer to the text, which stays the caller's.
 *
 * For files of other programs that can be large (glTF with its buffers inside): memory is that of the values, not of their
 * texts, and time is linear. Strict: no comments, no commas at ends, numbers and escapes as in the standard. Model files are
 * read by io/yaml, which knows more of what people write.
 */
#ifndef CALDER_IO_JSON_JSON_TREE_H
#define CALDER_IO_JSON_JSON_TREE_H

#include <calder/base.h>
#include <stdbool.h>

enum { JSON_MAX_DEPTH = 64, JSON_MAX_VALUES = 1 << 26 };

typedef enum JsonKind { JSON_NULL, JSON_FLAG, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT } JsonKind;

typedef struct JsonValue {
	JsonKind kind;
	int next, first;     // sibling, child; -1: none
	size_t start, end;   // in the text: of a text without its quotes
	size_t key, key_end; // of a member of an object
	int count;           // children
} JsonValue;

typedef struct JsonTree {
	CalAllocator allocator;
	const char *text;
	size_t length;
	JsonValue *values; // the first is the root
	int count, capacity;
	size_t at; // where reading stopped
} JsonTree;

/** NULL: it was read; otherwise what is wrong, at tree->at. Released by json_free() in any case. */
const char *json_parse(JsonTree *tree, const char *text, size_t length, const CalAllocator *allocator);
void json_free(JsonTree *tree);
/** Line of tree->at, from 1. */
int json_line(const JsonTree *tree);

/** Of an object; -1: it has none of this name, or is no object. value may be -1. */
int json_member(const JsonTree *tree, int value, const char *name);
/** The value is a number. */
bool json_double(const JsonTree *tree, int value, double *number);
/** A whole number 0 ... most; missing (-1): *number stays. False: it is something else. */
bool json_whole(const JsonTree *tree, int value, size_t most, size_t *number);
/** The value is this text; escapes are not resolved. */
bool json_is(const JsonTree *tree, int value, const char *text);

#endif
