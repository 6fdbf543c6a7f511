// SPDX-License-Identifier: Apache-2.0
/*
 * loop_gains.h — equations of a loop in a configuration without any symmetry, and what columns of joints do to them, without
 * masses: which columns can satisfy which equations is decided once, when a model is compiled [THEORY 5.9, 5.10].
 */
#ifndef CALDER_MODEL_LOOP_GAINS_H
#define CALDER_MODEL_LOOP_GAINS_H

#include <stdbool.h>

#include "base/cursor.h"
#include "model/generic_pose.h"

enum { LOOP_MOST_COLUMNS = 48 };
#define LOOP_GAIN_GOOD 1e-3 // of what a gain could be: a pivot
#define LOOP_GAIN_NONE 1e-9 // nothing but round-off

/* A model in its generic configuration. */
typedef struct GenericLinks {
	const CalModel *model;
	GenericPose *pose; // [links]
	vec3 *position;    // [links]
	double *q, *dq;    // [nq], [nu]
	uint8_t *used;     // [nu] columns that a loop needs
} GenericLinks;

/* Equations of one loop, and their gains on the columns so far. */
typedef struct LoopGains {
	int count, columns;
	vec3 point[2]; // where its wrench acts on the nodes plus and minus: where they would meet, if the loop were closed
	int inner;     // of these two, the side on which it may be eliminated
	spatial wrench[CAL_LOOP_MAX_ROWS];
	double gain[CAL_LOOP_MAX_ROWS][LOOP_MOST_COLUMNS];
	int u[LOOP_MOST_COLUMNS];
	bool slides[LOOP_MOST_COLUMNS];
	double longest; // lever of these columns [m]
} LoopGains;

/* The arrays of a model that is set; then its configuration, no column being used. */
void generic_links_layout(GenericLinks *at, Cursor *cursor);
void generic_links_place(GenericLinks *at);

/* The equations of a loop, without columns. */
void loop_gains_begin(const GenericLinks *at, const Loop *loop, LoopGains *gains);
/* Adds the columns of link i on a side (0: plus, 1: minus); false: there are too many. */
bool loop_gains_add(const GenericLinks *at, int i, int side, LoopGains *gains);
/* The same in units of the longest lever, or 1 rad, so that gains are parts of what they could be. */
LoopGains loop_gains_scaled(const LoopGains *gains);
/*
 * Reduces equations by pivots among columns that are not used, column[] of them; returns their number, -1: one is neither
 * good nor none.
 */
int loop_gains_reduce(const GenericLinks *at, LoopGains *gains, int *column);

#endif
