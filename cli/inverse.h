// SPDX-License-Identifier: Apache-2.0
/*
 * inverse.h — what `calder inverse` asks for and finds: the forces that a motion takes, as a table.
 */
#ifndef CALDER_CLI_INVERSE_H
#define CALDER_CLI_INVERSE_H

#include "panels.h"
#include "trajectory.h"

enum { INVERSE_NAMES = 64 }; // of each kind

typedef struct InverseRequest {
	const char *path, *motion, *output, *plot, *stream;
	const char *formulas[INVERSE_NAMES];
	int formula_count;
	char *joint_text, *actuator_text; // cut at commas; from malloc
	const char *joints[INVERSE_NAMES], *actuators[INVERSE_NAMES];
	int joint_count, actuator_count;
	double interval, duration; // NAN: not given
	bool assemble;
} InverseRequest;

/* A degree of freedom of the simulation. */
typedef struct Dof {
	int group, u, q;
	char name[160];
	bool turns; // rad, otherwise m
} Dof;

/* What acts in the place of the drives, in one group. */
typedef struct Actuation {
	CalProjection *projection;
	CalWork *work;
	uint8_t *actuated;            // [nu]
	double *vdot, *Q, *own, *tau; // [nu] at most
} Actuation;

typedef struct Inverse {
	CalSim *sim;
	Dof *followed, *acting; // [followed_count], [acting_count]
	int followed_count, acting_count;
	Actuation *actuation; // [groups]; NULL: the drives act
	Column *columns;      // [column_count]
	int column_count;
	char (*names)[200]; // [column_count]
	double *rows;       // [row_count][column_count]
	size_t row_count;
	const Trajectory *trajectory;            // its coordinates are the last of followed
	const CalModel **models;                 // [groups] at the start
	CalWork **work;                          // [groups]
	double *sampling;                        // [acting_count] error of forces for lack of samples; NAN: not known
	double *udot, *changed, *before, *other; // [dofs of all groups] scratch
} Inverse;

/* Times of the rows: those of the trajectory, or every interval from its start to its end. */
typedef struct InverseTimes {
	const double *given; // NULL: by interval
	double start, end, interval;
	size_t count;
} InverseTimes;

/** The joints of the model's drives, those of the trajectory among them, and what acts; then the state at the start. Returns an exit code. */
int inverse_prepare(Inverse *in, const InverseRequest *request, const CalSetup *setup, double start);
/** The rows. Returns an exit code. */
int inverse_solve(Inverse *in, const InverseTimes *times, const char *path);
void inverse_free(Inverse *in, int groups);

#endif
