// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem.h — compiled subsystems in a simulation (calder/subsystem.h): what subsystem.c and subsystem_solve.c share.
 *
 * A subsystem is a device, whose states are those of the subsystem. What it pushes depends on everything else that
 * acts, and on all other subsystems; so the forces of all subsystems are solved for together, when all other devices
 * have been evaluated.
 */
#ifndef CALDER_SIM_SUBSYSTEM_H
#define CALDER_SIM_SUBSYSTEM_H

#include <calder/subsystem.h>

#include "dynamics/loop/loop_rows.h"
#include "sim/sim_internal.h"

typedef struct SubsystemTie {
	CalNodeId id;
	int interface_node;
	Loop loop;           // frames: def_a on the node, def_b on the interface node
	CalNodeRef node_ref; // of the node; group -1: the ground
	int row;             // first of its rows, among those of all subsystems
} SubsystemTie;

/* One subsystem. It is in one block with its arrays; a device's data points to it. */
typedef struct Subsystem {
	CalSubsystemDef def;
	SubsystemTie *ties;
	int tie_count, row_count;
	CalInterfaceNode *interface_nodes; // [k] of the evaluation at hand
	double *Lambda, *b;                // [6k][6k], [6k]
	CalSpatial *wrench;                // [k] on the subsystem
	CalSpatial *none;                  // [k] zero
	CalAllocator allocator;
	char origin[96]; // the shared object that it comes from, "": none
} Subsystem;

/* A row on its two sides: wrenches at the origins of the nodes per unit of the multiplier. */
typedef struct SubsystemRow {
	int device, tie; // device, and tie of it
	spatial on_subsystem, on_model;
} SubsystemRow;

/* All subsystems together; one block. */
struct SimSubsystems {
	int row_count, tie_count;
	SubsystemRow *rows;                  // [m]
	LoopRow *values;                     // [m]
	double *Lambda, *z, *lambda, *solve; // [m][m], [m], [m], [(m + 2) m]
	int *order;                          // [m]
	uint8_t *independent;                // [m]
	int *nodes;                          // [ties] of one group
	spatial *A;                          // [ties] acceleration of the nodes without the subsystems
	double *C;                           // [6 ties][6 ties] compliance of one group
	bool commits;                        // some subsystem cleans up after steps, or can be projected
	bool corrects;                       // all subsystems can be projected
};

/** The subsystem of a device, or NULL. */
Subsystem *sim_subsystem(const CalSim *sim, int device);
/**
 * Says why a function of a subsystem failed, with the subsystem's own words and its file; the run names the subsystem.
 * CAL_ERR_USER.
 */
CalStatus subsystem_failed(CalEvalContext *context, int device, const char *what);
/** Poses and velocities of the nodes of its ties, and its own, as the frames of the joints. */
CalStatus subsystem_frames(CalEvalContext *context, int device, const SubsystemTie *tie,
                           const CalInterfaceNode *interface_nodes, LoopFrame *A, LoopFrame *B);
/** Interface nodes at the states of the context. */
CalStatus subsystem_interface_nodes(CalEvalContext *context, int device);
/** What is wrong with Lambda and b, or NULL. */
const char *subsystem_response_fault(const Subsystem *subsystem);
/** Rows of all ties and their matrix Lambda; z for accelerations. plain: values and rates alone, without stabilisation. */
CalStatus subsystems_rows(CalEvalContext *context, int plain);
/** lambda = Lambda^+ z; Lambda becomes its factor. */
void subsystems_multipliers(struct SimSubsystems *all);
/** Whether a subsystem is tied to the group. */
bool subsystems_touch(const CalSim *sim, int group);
/** udot of a group (SimGroup.udot): M^-1 times the multipliers' forces, loops and driven dofs held. */
CalStatus subsystems_response(CalEvalContext *context, int group);
/** Closes the rows after a step, where all subsystems can; *changed. */
CalStatus subsystems_project(CalSim *sim, bool *changed);
/** Forces of all subsystems at an instant: pushes, and rates of their states. */
CalStatus subsystems_solve(CalEvalContext *context, double *xdot);

#endif
