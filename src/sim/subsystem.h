// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem.h — black boxes in a simulation (calder/subsystem.h): what subsystem.c and subsystem_solve.c share.
 *
 * A box is a device, whose states are those of the box. What it pushes depends on everything else that acts, and on all
 * other boxes; so the forces of all boxes are solved for together, when all other devices have been evaluated.
 */
#ifndef CALDER_SIM_SUBSYSTEM_H
#define CALDER_SIM_SUBSYSTEM_H

#include <calder/subsystem.h>

#include "dynamics/loop/loop_rows.h"
#include "sim/sim_internal.h"

typedef struct BoxTie {
	CalNodeId id;
	int border;
	Loop loop;    // frames: def_a on the node, def_b on the border node
	CalSite site; // of the node; group -1: the ground
	int row;      // first of its rows, among those of all boxes
} BoxTie;

/* One box. Lies in one block with its arrays; a device's data points to it. */
typedef struct SimBox {
	CalSubsystemDef def;
	BoxTie *ties;
	int tie_count, row_count;
	CalBorder *border;  // [k] of the scene at hand
	double *Phi, *b;    // [6k][6k], [6k]
	CalSpatial *wrench; // [k] on the box
	CalSpatial *none;   // [k] zero
	CalAllocator allocator;
	char origin[96]; // the shared object that it comes from, "": none
} SimBox;

/* A row on its two sides: wrenches at the origins of the nodes per unit of the multiplier. */
typedef struct BoxRow {
	int box, tie; // device, and tie of it
	spatial on_box, on_model;
} BoxRow;

/* All boxes together; one block. */
struct SimBoxes {
	int row_count, tie_count;
	BoxRow *rows;                        // [m]
	LoopRow *values;                     // [m]
	double *Lambda, *z, *lambda, *solve; // [m][m], [m], [m], [(m + 2) m]
	int *order;                          // [m]
	uint8_t *independent;                // [m]
	int *nodes;                          // [ties] of one group
	spatial *A;                          // [ties] acceleration of the nodes without the boxes
	double *C;                           // [6 ties][6 ties] compliance of one group
	bool commits;                        // some box cleans up after steps, or can be projected
	bool corrects;                       // all boxes can be projected
};

/** The box of a device, or NULL. */
SimBox *sim_box(const CalSim *sim, int device);
/** Says why a function of a box failed, with the box's own words and its file; the run names the box. CAL_ERR_USER. */
CalStatus box_failed(CalScene *scene, int device, const char *what);
/** Poses and velocities of the nodes of its ties, and its own, as the frames of the joints. */
CalStatus box_frames(CalScene *scene, int device, const BoxTie *tie, const CalBorder *border, LoopFrame *A,
                     LoopFrame *B);
/** Border nodes at the states of the scene. */
CalStatus box_border(CalScene *scene, int device);
/** What is wrong with Phi and b, or NULL. */
const char *box_response_fault(const SimBox *box);
/** Rows of all ties and their matrix Lambda; z for accelerations. plain: values and rates alone, without stabilisation. */
CalStatus boxes_rows(CalScene *scene, int plain);
/** lambda = Lambda^+ z; Lambda becomes its factor. */
void boxes_multipliers(struct SimBoxes *all);
/** Whether a box is tied to the group. */
bool boxes_touch(const CalSim *sim, int group);
/** udot of a group (SimGroup.udot): M^-1 times the multipliers' forces, loops and driven freedoms held. */
CalStatus boxes_response(CalScene *scene, int group);
/** Closes the rows after a step, where all boxes can; *changed. */
CalStatus boxes_project(CalSim *sim, bool *changed);
/** Forces of all boxes at an instant: pushes, and rates of their states. */
CalStatus boxes_solve(CalScene *scene, double *xdot);

#endif
