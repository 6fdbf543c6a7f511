// SPDX-License-Identifier: Apache-2.0
/*
 * json_flat.h — JSON text (RFC 8259) as a flat tree: values refer to the text, which stays the caller's.
 *
 * For files of other programs that can be large (glTF with its buffers inside): memory is that of the values, not of their
 * texts, and time is linear. Strict: no comments, no commas at ends, numbers and escapes as in the standard. Model files are
 * read by io/yaml, which knows more of what people write.
 */
#ifndef CALDER_IO_JSON_JSON_FLAT_H
#define CALDER_IO_JSON_JSON_FLAT_H

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

typedef struct JsonFlat {
	CalAllocator allocator;
	const char *text;
	size_t length;
	JsonValue *values; // the first is the root
	int count, capacity;
	size_t at; // where reading stopped
} JsonFlat;

/** NULL: it was read; otherwise what is wrong, at tree->at. Released by json_flat_free() in any case. */
const char *json_flat_parse(JsonFlat *tree, const char *text, size_t length, const CalAllocator *allocator);
void json_flat_free(JsonFlat *tree);
/** Line of tree->at, from 1. */
int json_flat_line(const JsonFlat *tree);

/** Of an object; -1: it has none of this name, or is no object. value may be -1. */
int json_flat_member(const JsonFlat *tree, int value, const char *name);
/** The value is a number. */
bool json_flat_double(const JsonFlat *tree, int value, double *number);
/** A whole number 0 ... most; missing (-1): *number stays. False: it is something else. */
bool json_flat_whole(const JsonFlat *tree, int value, size_t most, size_t *number);
/** The value is this text; escapes are not resolved. */
bool json_flat_is(const JsonFlat *tree, int value, const char *text);

#endif
