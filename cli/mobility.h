// SPDX-License-Identifier: Apache-2.0
/*
 * mobility.h — what the loops of a group leave of its degrees of freedom, for `calder info` and `calder check`.
 */
#ifndef CALDER_CLI_MOBILITY_H
#define CALDER_CLI_MOBILITY_H

#include "cli.h"

typedef struct Mobility {
	const CalModel *model;
	char moved[900];      // what closing the loops moved, "": nothing
	int doubtful;         // some of it had been stated
	CalStatus refused;    // a run does not start because of that
	CalError why_refused; //
	CalStatus status; // of closing the loops; if not CAL_OK, error says why, and the rest is of the state that is left
	CalError error;   //
	double residual;  // largest residual of the state as given
	int residual_row; // its row, -1: the loops were closed
	int driven;       // degrees of freedom that are prescribed, or driven by a load or a device at the start
	int moved_as_given;   // all of the group moves as a function of time
	CalMobility left;     // beside the driven ones
	int overdriven;       // rows that only driven ones could meet
	uint8_t *independent; // [rows] 0: redundant
	uint8_t *held;        // [nu] the driven degrees of freedom
	uint8_t *chosen;      // [nu] independent ones: the others follow from them
} Mobility;

/** Closes the loops of a group whose state is that of the file, and analyzes what is left; not CAL_OK: out of memory. */
CalStatus mobility_find(Mobility *mobility, CalSim *sim, int group);
void mobility_free(Mobility *mobility);

/** Loops and mobility, some lines with two blanks before each. */
void mobility_print(const Mobility *mobility, FILE *out);
/** The members "loops" and "mobility" of an object, without a comma before or after. */
void mobility_json(const Mobility *mobility, FILE *out);
/** Names of redundant equations, "a.dx, b.rz ...", as many as fit. */
void mobility_redundant(const Mobility *mobility, char *text, size_t size);
/** Names of the driven degrees of freedom in the same way. */
void mobility_driven(const Mobility *mobility, char *text, size_t size);

#endif
