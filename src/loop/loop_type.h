// SPDX-License-Identifier: Apache-2.0
/*
 * loop_type.h — what a type of loop is: all that the library knows about it.
 *
 * A type is one constant in a file of this folder and one line in CAL_LOOP_TYPE_LIST (calder/build.h). Everything else asks
 * this table: model files, writer, checks, compiler, dynamics, topology changes, checkpoints, viewer, pages. Most types
 * lock axes of frame A and nothing else (loop_directions.c); the others bring their equations. In the tests, a type is a
 * row in test/support/fixture_loop.c and in test/reference/reference.c.
 */
#ifndef CALDER_LOOP_LOOP_TYPE_H
#define CALDER_LOOP_LOOP_TYPE_H

#include "loop/loop.h"

#if CAL_LANES == 1

/* A frame of a loop in the world. */
typedef struct LoopFrame {
	mat3 R;
	vec3 r, w, v, al, a;
} LoopFrame;

/* Accelerations of the frames: those at udot = 0 (and the prescribed udot), or all. */
typedef enum LoopDepth { LOOP_BIAS, LOOP_MOTION } LoopDepth;

/* Where rows are evaluated, beside the frames. */
typedef struct LoopContext {
	double t;
	const double *q, *u;
	const double *udot; // those that the frames' accelerations are of; NULL: zero
	LoopDepth depth;    //
	int plain;          // nonzero: without stabilisation
} LoopContext;

#endif

typedef struct LoopType {
	const char *vanishes,
		*motion;               // what its equations keep at zero, and what motion is left, in a few words of Markdown
	int uses;                  // set of CAL_LOOP_USES_*
	int translation, rotation; // sets of CAL_AXIS_*: axes of A that it locks
	const char *rows[CAL_LOOP_MAX_ROWS]; // names of its further equations, up to the first NULL
	CalCoordinateKind kind;              // of these
	int speeds;                          // how many of its equations, the first ones, are of speeds alone
#if CAL_LANES == 1
	/* Its further equations from row[n] on, or a change of those before; returns the number of all. NULL: n. */
	int (*fill)(const Loop *loop, const LoopFrame *A, const LoopFrame *B, const LoopContext *at, LoopRow *row, int n);
	/* Residuals, drives included, without what does not count; NULL: all does. */
	void (*wrap)(const Loop *loop, LoopRow *row);
#endif
} LoopType;

#define LOOP_TYPE_DECLARE(type, name) extern const LoopType loop_type_##name;
CAL_LOOP_TYPE_LIST(LOOP_TYPE_DECLARE)
#undef LOOP_TYPE_DECLARE

extern const LoopType *const loop_types[CAL_LOOP_TYPE_COUNT];
/* Of a type that is in the list. */
INLINE const LoopType *loop_type(CalLoopType type) { return loop_types[type]; }

/* A coupling: ties coordinates instead of frames. */
INLINE int loop_type_has_terms(CalLoopType type) { return loop_type(type)->uses & CAL_LOOP_USES_TERMS; }
/* A knife: its wrench acts on A alone, there is no B. */
INLINE int loop_type_has_one_side(CalLoopType type) {
	return (loop_type(type)->uses & (CAL_LOOP_USES_A | CAL_LOOP_USES_B)) == CAL_LOOP_USES_A;
}
INLINE int loop_type_has_two_sides(CalLoopType type) { return loop_type(type)->uses & CAL_LOOP_USES_B; }

/* Axes of A that a loop locks, and the number of its rows. */
int loop_def_translation(const CalLoopDef *def);
int loop_def_rotation(const CalLoopDef *def);
int loop_def_rows(const CalLoopDef *def);
/* How many of the last rows are angles. */
int loop_angle_rows(CalLoopType type, int rotation);

#endif
