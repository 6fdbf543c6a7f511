// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_write.h — the writer of the native format: what its files share.
 *
 * First everything is checked (model_file_write_check.c), then it is written, which cannot fail but for the stream. What
 * has its default is left out; numbers are as short as they can be and still read back as the same bits.
 */
#ifndef CALDER_IO_MODEL_WRITER_MODEL_FILE_WRITE_H
#define CALDER_IO_MODEL_WRITER_MODEL_FILE_WRITE_H

#include <calder/flex.h>
#include <calder/setup.h>
#include <stdbool.h>
#include <stdio.h>

#include "io/yaml/yaml_tree.h"

typedef struct Writer {
	FILE *out;
	const CalDesc *desc;
	const CalSetup *setup; // NULL: there is none
	CalError *error;
	uint32_t *first_node; // [bodies + 1] first node of each body, the ground's at 0; 0: none
	uint32_t *next_node;  // [nodes + 1] the next of the same body; 0: none
	uint32_t *carrier;    // [bodies + 1] the joint that carries each body; 0: none
} Writer;

/* Zero is +0: what has its default, and is left out. */
bool same_bits(const double *a, const double *b, int count);
bool all_zero(const double *values, int count);

/* Pieces. A key writes `, key: ` unless *first, which it clears. */
void put_key(Writer *w, bool *first, const char *key);
void put_number(Writer *w, double value);
void put_numbers(Writer *w, const double *values, int count);          // [a, b, c]
void put_rows(Writer *w, const double *values, int rows, int columns); // [[a, b], [c, d]]
void put_text(Writer *w, const char *text);                            // plain or in quotes
void put_path(Writer *w, CalNodeId node);
/** The key and its number, unless it is +0. */
void put_quantity(Writer *w, bool *first, const char *key, double value);
void write_references(Writer *w);
void put_flag(Writer *w, bool *first, const char *key, int value);
/** The key and its vector, unless it is zero. */
void put_vector(Writer *w, bool *first, const char *key, CalVec3 v);
/** The value of a placement: a vector, or a map with `at` and `orientation`. */
/** The key and its quaternion, unless nothing is turned. */
void put_orientation(Writer *w, bool *first, const char *key, CalQuat q);
void put_placement_value(Writer *w, const CalPlacement *p);
void put_placement(Writer *w, bool *first, const char *key, const CalPlacement *p);
void put_inertia(Writer *w, bool *first, const CalMat3 *inertia);
/** A subtree of another file. */
void put_tree(Writer *w, const TreeNode *node);

void write_joints(Writer *w);
void write_loops(Writer *w);
/* added: the body that an action adds, whose nodes flex counts; NULL: a body of the description. */
void write_flexible(Writer *w, bool *first, const CalFlexDef *flex, const CalNewBody *added);

/** All of a joint but its type, name and sides. */
void put_joint(Writer *w, bool *first, const CalJointDef *def);
/** A loop without name and sides, as a map. */
void put_tie(Writer *w, const CalLoopDef *def);
/** A number that is an angle or not: about a turn and more has its unit, since readers doubt it without. */
void put_value(Writer *w, double value, bool angle);
/** Points and shape; a formula or a table. */
void put_table(Writer *w, const CalTable *table, bool angle);
void put_function(Writer *w, const CalTimeFunction *function, bool angle);
/** "joint: NAME" and the like. */
void put_named(Writer *w, bool *first, const char *key, const char *name);

/* The sections of a setup beside its description. */
void write_state(Writer *w);
void write_loads(Writer *w);
void write_devices(Writer *w);
void write_motions(Writer *w);
void write_events(Writer *w);
void write_run(Writer *w);
void write_view(Writer *w);
void write_subsystems(Writer *w); // compiled ones, and interface nodes

/** Checks all that is to be written. */
CalStatus write_check(const Writer *w);
/** The same for the sections of a setup, if they do not come from the text of a file. */
CalStatus write_check_setup(const Writer *w);
CalStatus write_check_drives(const Writer *w, const CalLoopDef *def);
CalStatus write_check_name(const Writer *w, const char *kind, const char *name);

#endif
