// SPDX-License-Identifier: Apache-2.0
/*
 * field.h — field tables: what the members of a definition are, in words that a reader, a writer and the documentation share.
 *
 * A row says under which name a file (or a program) gives a member, what the value is, what a name refers to, its unit, where
 * it is stored and, in one line, what it means. From the tables follow: how files are read (io/model), which names get a
 * prefix in a subsystem, the JSON schema and the tables of docs/format.md (calder schema), and how a definition is copied.
 * A table knows no file format. Decision 0032.
 */
#ifndef CALDER_BASE_FIELD_H
#define CALDER_BASE_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/units.h"

/*
 * One line per kind: name, what stands in the documentation, the $def of the JSON schema. The comment gives the type of the
 * member; kinds without one are stored by the flags FIELD_AS_TEXT or FIELD_AS_TREE, or not at all.
 */
#define FIELD_KIND_LIST(X)                                                                                           \
	X(FIELD_NAME, "text", "text")                                  /* not stored: of the object, in the list form */ \
	X(FIELD_TYPE, "text", "text")                                  /* not stored: says which table counts */         \
	X(FIELD_ANYTHING, "anything", "anything")                      /* not stored */                                  \
	X(FIELD_NUMBER, "number", "quantity")                          /* double */                                      \
	X(FIELD_POSITIVE, "number > 0", "quantity")                    /* double */                                      \
	X(FIELD_NOT_NEGATIVE, "number >= 0", "quantity")               /* double */                                      \
	X(FIELD_WHOLE, "whole number", "whole")                        /* int, zero or more */                           \
	X(FIELD_NUMBERS, "number, or a list", "numbers")               /* NumberList */                                  \
	X(FIELD_ROWS, "three rows", "rows")                            /* for x, y and z: a number per mode */           \
	X(FIELD_MATRIX, "rows of a matrix, or its diagonal", "matrix") /* NumberMatrix */                                \
	X(FIELD_MATRICES, "list of matrices or diagonals", "matrices") /* three or twelve */                             \
	X(FIELD_VECTOR, "vector", "vector")                            /* CalVec3 */                                     \
	X(FIELD_SCALE, "number, or a list of three", "numbers")        /* CalVec3, none is zero */                       \
	X(FIELD_PAIR, "two numbers", "pair")                                                                             \
	X(FIELD_TENSOR, "`[xx, yy, zz]`, or three rows of three numbers", "tensor")                                      \
	X(FIELD_AXIS, "axis", "axis")                                    /* CalVec3, not zero */                         \
	X(FIELD_ORIENTATION, "orientation", "orientation")               /* CalQuat */                                   \
	X(FIELD_PLACEMENT, "[placement](#placement)", "placement_value") /* CalPlacement */                              \
	X(FIELD_TEXT, "text", "text")                                    /* const char * */                              \
	X(FIELD_TEXTS, "list of texts", "texts")                                                                         \
	X(FIELD_FLAG, "flag", "flag") /* int */                                                                          \
	X(FIELD_FLAGS, "flag, or a list of flags", "flags")                                                              \
	X(FIELD_CHOICE, "", "")                             /* int: place of the word in the list */                     \
	X(FIELD_FILE, "path of a file", "text")             /* const char *: from the folder of the file */              \
	X(FIELD_TABLE, "[table](#table)", "table_value")    /* CalTable; its shape stays unless given */                 \
	X(FIELD_PULSES, "list of `[start, end]`", "points") /* CalTable: that of a FIELD_LOAD_VALUE */                   \
	X(FIELD_POINTS, "list of points", "points")                                                                      \
	X(FIELD_FUNCTION, "[function](#table) of time", "function") /* CalTimeFunction */                                \
	X(FIELD_FUNCTIONS, "three [functions](#table) of time", "functions")                                             \
	X(FIELD_FORMULA, "[formula](expressions.md)", "formula")                                  /* const char * */     \
	X(FIELD_LOAD_VALUE, "number, [table](#table) or [formula](expressions.md)", "load_value") /* CalLoadValue */     \
	X(FIELD_LOAD_VALUES, "three numbers, [tables](#table) or [formulas](expressions.md)",                            \
	  "load_values") /* CalLoadValue[3], for x, y and z */                                                           \
	X(FIELD_LOAD_LIST, "number, [table](#table) or [formula](expressions.md), or a list",                            \
	  "load_list")                          /* LoadValueList (device/device_type.h) */                               \
	X(FIELD_NODE, "path of a node", "text") /* CalNodeId */                                                          \
	X(FIELD_NODES, "list of paths of nodes", "texts")                                                                \
	X(FIELD_JOINT, "name of a joint", "text") /* CalJointId */                                                       \
	X(FIELD_DOF, "number from 1", "count")    /* int from 0, of the joint given before */                            \
	X(FIELD_BODY, "name of a body", "text")   /* CalBodyId */                                                        \
	X(FIELD_MODE, "number from 1", "count")   /* int from 0, of the body given before */                             \
	X(FIELD_LOOP, "name of a loop", "text")                                                                          \
	X(FIELD_GROUP, "name of a group", "text") /* const char * */                                                     \
	X(FIELD_DEVICE, "name of a device", "text")                                                                      \
	X(FIELD_EVENT, "name of an event", "text")                                                                       \
	X(FIELD_OBJECT, "name", "text") /* const char *: of an object that is made */                                    \
	X(FIELD_SIGNALS, "list of [signals](#output)", "texts")                                                          \
	X(FIELD_MAP, "", "")                                      /* a map with the fields of `table` */                 \
	X(FIELD_MAPS, "", "")                                     /* one, or a list of them */                           \
	X(FIELD_LIST, "", "")                                     /* a list of them */                                   \
	X(FIELD_ITEMS, "", "")                                    /* by name, or a list with the key `name` */           \
	X(FIELD_BY_NAME, "", "")                                  /* by name of an object that exists */                 \
	X(FIELD_BY_GROUP, "", "")                                 /* by group, then by joint */                          \
	X(FIELD_TIE, "text or map", "tie")                        /* a joint or a loop without its nodes */              \
	X(FIELD_DEVICES, "by name: [device](#device)", "devices") /* `type` says which table counts */                   \
	X(FIELD_SHAPES, "by name: [contact_shape](#contact_shape)", "contact_shapes") /* CalContactDef as a whole */     \
	X(FIELD_MATERIAL, "[contact_material](#contact_material)",                                                       \
	  "contact_material") /* not stored: read with FIELD_SHAPES */

typedef enum FieldKind {
#define FIELD_KIND_ENUM(name, text, schema) name,
	FIELD_KIND_LIST(FIELD_KIND_ENUM)
#undef FIELD_KIND_ENUM
		FIELD_KIND_COUNT
} FieldKind;

enum {
	FIELD_REQUIRED = 1,       //
	FIELD_MAY_BE_EMPTY = 2,   // a key without value counts as not given
	FIELD_AS_TEXT = 4,        // the member is a const char *: a name that is looked up later
	FIELD_AS_TREE = 8,        // the member is what the reader parsed (const TreeNode *): its code interprets it
	FIELD_BY_DOF = 16,        // the dimension is for a dof that turns; one that slides has the linear counterpart
	FIELD_OR_LIST = 32,       // a list of such values is possible too
	FIELD_LOCAL = 64,         // FIELD_ITEMS: the names count within this object only
	FIELD_ZERO_COUNTS = 128,  // FIELD_LOAD_VALUE: a zero that is given is not the default and becomes the formula "0"
	FIELD_TUNED = 256,        // a number or vector of a device that may change in a run (calder/parameter.h); any value
	FIELD_TUNED_FROM_0 = 512, // likewise; zero or more
	FIELD_TUNED_ABOVE_0 = 1024 // likewise; above zero. One that is 0 is not there, and stays so
};

typedef struct Field Field;
typedef struct FieldTable FieldTable;

/* A reader may read a field in its own way; its types are not known here. Returns false after reporting. */
struct Reader;
struct TreeNode;
typedef bool (*FieldFn)(struct Reader *r, const struct TreeNode *value, const Field *field, void *target);

struct Field {
	const char *name;              // key in a file
	FieldKind kind;                //
	size_t offset;                 // of the member in the target
	Dimension dimension;           // of numbers
	unsigned flags;                // FIELD_...
	const char *doc;               // one line: meaning and default; the unit and the kind are not repeated
	const FieldTable *table;       // of FIELD_MAP, FIELD_MAPS, FIELD_LIST, FIELD_ITEMS, FIELD_BY_...
	FieldKind names;               // of FIELD_ITEMS, FIELD_BY_NAME: what the names are; 0: objects
	const char *const *words;      // of FIELD_CHOICE, and words that stand beside a value; ends with NULL
	const char *(*word_at)(int i); // likewise by a list of the library; NULL: no more
	const char *former;            // name in older files, which is read with a warning; NULL: none
	FieldFn read;                  // NULL: as the kind says
};

/* A list of words for Field.words. */
#define FIELD_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct FieldTable {
	const char *what; // heading in docs/format.md and name in the schema's $defs
	const Field *fields;
	int count;
	FieldKind brief;   // how a file may write the map in short; 0: not
	bool may_be_empty; // a named one may have no value
	const char *doc;   // one line: what it describes
};

#define FIELDS(what, fields) what, fields, (int)(sizeof(fields) / sizeof((fields)[0]))

/** The field of that name, or of that former name; NULL: there is none. */
const Field *field_find(const FieldTable *table, const char *name);
/** The dimension of a field whose dof slides. */
Dimension dimension_of_sliding(Dimension turning);
/** Word i of a choice, or NULL after the last one. */
const char *field_word(const Field *field, int i);

/* Numbers of any count; what they point to belongs to whoever made the definition. */
typedef struct NumberList {
	int count;
	const double *value; // [count]
} NumberList;

typedef struct NumberMatrix {
	int rows, columns;
	const double *value; // [rows][columns]
} NumberMatrix;

/** Memory for a copy; NULL: none left. */
typedef struct FieldMemory {
	void *(*get)(void *user, size_t size);
	void *user;
} FieldMemory;

#endif
