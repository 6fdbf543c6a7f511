// SPDX-License-Identifier: Apache-2.0
/*
 * turns.h — how far bodies turn between two moments of a replay, and whether a viewer can show it.
 *
 * Two orientations do not say how often a body has turned between them. The angular velocities w0, w1 at both ends predict the
 * rotation exp(dt (w0 + w1)/2); what is left to the second orientation is the *residual*, a rotation vector. The viewer
 * (docs/replay.md, "Between frames") turns by the prediction and spreads the residual over the interval: right as long
 * as the residual is small. Without velocities the prediction is none, and the residual the shortest turn.
 */
#ifndef CALDER_VIEW_TURNS_H
#define CALDER_VIEW_TURNS_H

#include <calder/results.h>
#include <stdbool.h>

#define TURNS_LIMIT 1.5707963267948966 // [rad] a quarter turn: above, the motion between two frames is a guess

/** Where a body is in the rows of a table: first of its 7 and 6 columns, -1: not there. */
typedef struct BodyColumns {
	int pose;     // x, y, z, then w, x, y, z
	int velocity; // linear, then angular, world axes
} BodyColumns;

/** Rotation vector that is left from one row to the next, as its length [rad]; NAN where the body is nowhere. */
double turns_residual(BodyColumns body, const double *from, const double *to);
/** By how much the body turns from one row to the next by its angular velocities [rad]; 0: not known. */
double turns_angle(BodyColumns body, const double *from, const double *to);
/** By how much an even turn from one row to the next is wrong between them, by its angular velocities [rad]; 0: not known. */
double turns_sway(BodyColumns body, const double *from, const double *to);

/** By how much the body turns between two rows of the table at most [rad]. */
double turns_fastest(BodyColumns body, const CalResultsTable *table);

/**
 * What a viewer that has the rows `from` and `to` of a table gets wrong of the rotation between them, as far as the rows
 * between them give [rad].
 */
double turns_doubt(BodyColumns body, const CalResultsTable *table, size_t from, size_t to);

#endif
