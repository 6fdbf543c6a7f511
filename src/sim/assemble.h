// SPDX-License-Identifier: Apache-2.0
/*
 * assemble.h — the start of a group whose loops the given state does not close: what was given, and what became of it.
 */
#ifndef CALDER_SIM_ASSEMBLE_H
#define CALDER_SIM_ASSEMBLE_H

#include "sim/sim_internal.h"

typedef struct Assembly {
	uint8_t *stated_q, *stated_u; // [nu] nonzero: given on purpose, and kept if the loops allow it
	bool stated_known;            // by cal_sim_set_stated(); otherwise what is not neutral counts as stated
	bool known;                   // what follows is of a state that was assembled
	bool accepted;                // the caller asked for it, however far it moves
	double residual, rate;        // of the given state: the largest, and
	int row, rate_row;            // where, -1: nowhere
	double length;                // that counts like 1 rad [m]
	double *q_given, *u_given;    // [nq], [nu]
	double *q, *u;                // [nq], [nu] assembled
	double *change;               // [nu] of positions, as cal_config_difference() has it
	double *speed_change;         // [nu]
	double *best, *weight;        // [nq], [nu] scratch
	uint8_t *mask, *angle;        // [nu] scratch: what does not move; nonzero: an angle, not a length or a mode
} Assembly;

/** Memory for one; a model without loops needs none. */
size_t assembly_size(const CalModel *model);
Assembly *assembly_place(const CalModel *model, void *memory);

/** Residuals that numbers of a file leave by their rounding [m, 1]; rates below it times the fastest speed likewise. */
#define ASSEMBLY_CLOSED 1e-9

/** How far cal_sim_restart() moves what was stated, unless its options say otherwise [rad]. */
#define ASSEMBLY_LIMIT 0.1

/**
 * Moves the positions, then the speeds, of the group's state to the nearest that its loops allow (assemble_nearest.c).
 * group->held says what stays in any case. `left` as cal_loop_project() leaves it.
 */
CalStatus assemble_nearest(SimGroup *group, CalProjectReport *left);

/** Unit of a row by its name: " m", " m/s" or "" (the sine of an angle). */
const char *assembly_row_unit(const char *row);
/** The largest change of a stated coordinate [rad, or m over length], of a stated speed (part of the fastest), and where. */
double assembly_moved(const SimGroup *group, int *dof);
double assembly_speed_moved(const SimGroup *group, int *dof);
/** CAL_ERR_ARGUMENT if one of them is beyond the limit. */
CalStatus assembly_check(const SimGroup *group, double limit, CalError *error);
/** Adds a doubt if the start is not what was stated. */
void assembly_doubt(const SimGroup *group, SimDoubts *doubts);

#endif
