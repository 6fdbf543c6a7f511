// SPDX-License-Identifier: Apache-2.0
/*
 * json_tree.h — JSON text as a tree, for reference files that `calder models` reads.
 *
 * Looking up what is not there gives NULL, and NULL has no members: a chain of look-ups needs one check at its end.
 */
#ifndef CALDER_CLI_JSON_TREE_H
#define CALDER_CLI_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum JsonKind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_MAP } JsonKind;

typedef struct JsonValue JsonValue;
struct JsonValue {
	JsonKind kind;
	const char *key;  // of a member of a map
	const char *text; // TEXT
	double number;    // NUMBER
	int count;        // LIST, MAP: members
	JsonValue *first, *next;
};

typedef struct JsonTree JsonTree;

/** The text is changed and must outlive the tree. NULL: it is no JSON, or memory is short; why says which. */
JsonTree *json_tree_parse(char *text, char *why, size_t size);
void json_tree_destroy(JsonTree *tree); // accepts NULL
const JsonValue *json_tree_root(const JsonTree *tree);

const JsonValue *json_member(const JsonValue *map, const char *key);
const char *json_text(const JsonValue *value);           // "" unless it is a text
double json_value(const JsonValue *value);               // NAN unless it is a number
int json_integer(const JsonValue *map, const char *key); // -1: it is not there
/** Copies the numbers of a list of that length; false: it is another. */
bool json_numbers(const JsonValue *list, double *values, int count);

#endif
