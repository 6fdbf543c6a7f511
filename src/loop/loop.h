// SPDX-License-Identifier: Apache-2.0
/*
 * loop.h — a loop of a compiled model, and one of its equations.
 */
#ifndef CALDER_LOOP_LOOP_H
#define CALDER_LOOP_LOOP_H

#include <calder/build.h>
#include "math/quat.h"

/* One coordinate of a coupling. */
typedef struct LoopTerm {
	int u, q; //
	double factor;
} LoopTerm;

/* A frame of a loop where the sweeps find it. */
typedef struct LoopSide {
	int link;  // -1: the ground
	int moves; // with modes: `on` is then its pose on its node, otherwise on the link
	dpose on;
} LoopSide;

/* A constraint that closes a loop. */
typedef struct Loop {
	const char *name;
	CalLoopId id;
	CalLoopType type;
	int node_a, node_b;             // -1: the ground's origin
	int plus, minus;                // nodes on which its wrench and the opposite act, -1: none
	int row, rows;                  //
	int translation, rotation;      // sets of axes that are locked, for the types that lock any
	int driven, has_applied_wrench; // rows that are driven, 1 << i of row i; an applied wrench acts
	LoopSide side[2];               // frames A and B
	double length;                  // DISTANCE
	double pitch;                   // SCREW
	double radius;                  // DISK, BALL
	double frequency, damping;      // of the stabilisation; frequency 0: none
	CalSpatial applied_wrench;      // wrench on B at its origin, axes of A
	double reach;                   // length of its path through the tree [m]
	double unit[CAL_LOOP_MAX_ROWS]; // what a residual is large or small beside: the reach, or 1 rad
	int term_count;                 // COUPLING
	LoopTerm term[CAL_LOOP_MAX_TERMS];
	CalDrive drive[CAL_LOOP_MAX_ROWS];
	CalPlacement def_a, def_b; // as described
} Loop;

/* A constraint equation: its direction is the wrench at the loop's point on node `plus` per unit of its multiplier. */
typedef struct LoopRow {
	spatial direction;
	double value, rate;  // residual and its derivative, drives included
	double acceleration; // what the forces have to bring to zero: drives and stabilisation included
} LoopRow;

#endif
