// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem.h — components and compiled subsystems in a simulation (calder/subsystem.h), and the ties that hold them.
 *
 * Each is a device: a compiled subsystem has hidden states, which are the device's; a component is a group of the
 * simulation with all that acts in it, and the device has its ties alone. What ties push depends on everything else
 * that acts; so they are solved for when all other devices have been evaluated.
 *
 * They are solved for level by level [THEORY 6.5]. The components form a tree; a level has the group of its component,
 * the compiled subsystems tied to it and its child levels, and the ties between these. What is inside a level is seen from
 * the one above at its edges only: A = Lambda F + b.
 *
 *   root level      group "main", ties to components   edges: none
 *     level "arm"   group "arm", ties to "arm/hand"    edge: the node by which the arm is attached
 *       level "arm/hand"   group "arm/hand"            edge: its own
 */
#ifndef CALDER_SIM_SUBSYSTEM_SUBSYSTEM_H
#define CALDER_SIM_SUBSYSTEM_SUBSYSTEM_H

#include <string.h>

#include <calder/subsystem.h>

#include "component/interface_kernels.h"
#include "dynamics/loop/loop_rows.h"
#include "base/cursor.h"
#include "math/octet.h"
#include "sim/sim_internal.h"

enum { TIE_A, TIE_B, TIE_SIDES }; // the node that the subsystem is attached to, and the subsystem's own

typedef struct SubsystemTie {
	CalNodeId id[TIE_SIDES];   // of nodes; side B of a compiled subsystem: none
	CalNodeRef ref[TIE_SIDES]; // group -1: the ground
	int interface_node;        // of a compiled subsystem
	Loop loop;                 // frames: def_a on the node, def_b on the interface node
	bool own_frequency;        // its stabilisation was given
	int point[TIE_SIDES];      // among those of SimSubsystems, -1: the ground
	int level;                 // that solves for it; -1: not at present
} SubsystemTie;

/* One subsystem. It is in one block with its arrays; a device's data points to it. */
typedef struct Subsystem {
	CalSubsystemDef def; // of a component no functions
	SubsystemTie *ties;
	int tie_count;
	CalInterfaceNode *interface_nodes; // [k] of the evaluation at hand, as all that follows; of a compiled one
	double *Lambda, *b;                // [6k][6k], [6k]
	double *spread;                    // [8k][8k] Lambda, eight columns for each node
	CalSpatial *wrench;                // [k] on the subsystem
	CalSpatial *none;                  // [k] zero
	int doubts;                        // of its own that the simulation has
	CalAllocator allocator;
	char origin[96]; // the shared object that it comes from, "": none
} Subsystem;

/* Where ties act: a node of a group, or an interface node of a compiled subsystem. */
typedef struct TiePoint {
	int group, node;            // group -1: of a compiled subsystem
	int device, interface_node; // of that
	int level;                  // that has the group or the subsystem
	int at;                     // among the points of its group
	CalInterfaceNode motion;    // of the evaluation at hand
	spatial A;                  // its acceleration without any tie
	spatial F;                  // wrench of all ties
} TiePoint;

/* A tie that a level solves for. */
typedef struct LevelTie {
	const SubsystemTie *tie;
	int node[TIE_SIDES]; // of the level, -1: the ground
	int rows;            //
	int *linked;         // [linked_count] itself, then the later ties that it has a block of H with, ascending
	int linked_count;
} LevelTie;

/* Where a node of a level gets its part of K and a from. */
typedef struct LevelSource {
	int child;        // level, -1: its group or subsystem itself
	int at;           // there: edge, point of the group, interface node
	int first, count; // nodes of the level with the same source, side by side: K has nothing between sources
	const double *K;  // its six rows of the matrix of the source, eight columns for each node of that
	size_t stride;    // from row to row
} LevelSource;

enum { SIX = 6 };

/* Nodes: points on both sides of its ties, and its edges. Of the eight columns of a node or a tie six are used (tie_algebra.c). */
typedef struct TieLevel {
	int device; // component, -1: the root
	int parent, depth;
	int node_count, edge_count, tie_count, row_count;
	LevelTie *ties;       // [tie_count]
	int *nodes;           // [node_count] points
	LevelSource *sources; // [node_count]
	int *edges;           // [edge_count] nodes that the level above sees
	int *linked;          // [tie_count (tie_count + 1) / 2] of LevelTie
	LoopRow *values;      // [row_count]
	double *a;            // [nodes][8] acceleration without its ties
	double *D;            // [ties][sides][6][8] wrenches on the two sides by multipliers
	double *H;            // [8 ties][8 ties] D'K D, the blocks that are linked; then its factor
	double *inverse;      // [8 ties] of pivots
	double *R;            // [8 ties][width] D'K E, and in column 6 what is wrong; then with the rows before taken out
	double *Lambda;       // [8 edges][width] as the level above sees it, and in column 6 b
	size_t width;         // 8 edges, 8 if there are none
	double *lambda;       // [8 ties] multipliers
	double *force;        // [nodes][8] on its nodes
	double *edge_force;   // [width] on its edges alone, and 1 in column 6
	bool dependent;       // multipliers are -R (F, 1): some equations are redundant
	double *A, *X, *G;    // [rows][rows], [rows][width], [rows][width] of these
	double *solve;        // [rows max(rows + 2, width)]
	int *order;           // [rows]
	uint8_t *independent; // [rows]
} TieLevel;

/*
 * Points of one group. Where its sweeps can be divided (dynamics/forward_halves.h) they are seen as the branches of a model
 * see an interface: eight columns for each point, six of them used.
 */
typedef struct TieGroup {
	int first, count;    // points, side by side
	double *C;           // [6 count][6 count] their compliance, where it is not interface.Lambda
	double *columns;     // [nu (6 count + 1)] scratch of it
	bool divides;        // no loop is open on the way from a point to the ground
	bool begun;          // the evaluation at hand was divided
	Interface interface; // [8 count] columns
	double *x;           // [8 count] forces along them
} TieGroup;

/* All subsystems together. */
struct SimSubsystems {
	int tie_count;    // of all, active or not
	bool commits;     // something is done after steps
	bool corrects;    // all compiled ones can be projected
	bool planned;     // the rest is that of the present groups and devices
	double left_open; // largest position that the last projection could not close
	int point_count, level_count, group_count;
	TiePoint *points;
	TieLevel *levels;    // parents before children
	TieGroup *groups;    // [group_count] of the simulation
	int *nodes;          // [point_count] of the model
	CalWrench *wrenches; // [point_count]
	void *memory;        // the block of all these
	size_t capacity;
	void *matrices; // the block of those of levels and groups
	size_t matrix_capacity;
};

/* What is solved for. Impulses close speeds too, in the metric of M whatever that of projections is. */
typedef enum TiePurpose {
	TIE_FORCES,
	TIE_POSITIONS,
	TIE_SPEEDS,
	TIE_IMPULSES,
	TIE_VALUES // nothing: rows are evaluated
} TiePurpose;

static inline spatial six_in(const double *six) {
	return (spatial){{six[0], six[1], six[2]}, {six[3], six[4], six[5]}};
}

static inline void six_out(spatial s, double *six) {
	const double out[6] = {s.a.x, s.a.y, s.a.z, s.l.x, s.l.y, s.l.z};
	memcpy(six, out, sizeof out);
}

/** The subsystem of a device, or NULL. */
Subsystem *sim_subsystem(const CalSim *sim, int device);
/** The same, if it is active at present. */
Subsystem *sim_active_subsystem(const CalSim *sim, int device);
static inline bool subsystem_is_compiled(const Subsystem *subsystem) { return subsystem->def.ops != NULL; }
/**
 * Says why a function of a subsystem failed, with the subsystem's own words and its file; the run names the subsystem.
 * CAL_ERR_USER.
 */
CalStatus subsystem_failed(CalEvalContext *context, int device, const char *what);
/** A frame on a point in motion, `on` in its axes, without its acceleration. */
LoopFrame subsystem_frame(const CalInterfaceNode *at, CalPlacement on);
/** Interface nodes of a compiled subsystem at the states of the context. */
CalStatus subsystem_interface_nodes(CalEvalContext *context, int device);
/** Names the first component with a tie that is open by more than 1e-6, or whose rate is; the text ends with the remedy. */
CalStatus subsystems_check_ties(CalSim *sim, bool speeds, const char *remedy);
/** What is wrong with Lambda and b, or NULL. */
const char *subsystem_response_fault(const Subsystem *subsystem);

/** A matrix of six rows and columns for each of so many nodes, with eight for each. */
static inline void spread_nodes(const double *six, int count, double *eight) {
	const size_t n = SIX * (size_t)count, width = OCTET * (size_t)count;
	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < n; c += SIX)
			memcpy(eight + (r / SIX * OCTET + r % SIX) * width + c / SIX * OCTET, six + r * n + c,
			       SIX * sizeof(double));
}

/* ---- groups (subsystem_group.c) -------------------------------------------------------------------------- */

/** Arrays of a group with points. */
void tie_group_layout(const CalModel *model, TieGroup *group, Cursor *cursor);
/** Its columns, once it has its arrays. */
void tie_group_plan(const CalModel *model, const TiePoint *points, TieGroup *group);
/** Motion of the points of a group, C, and for forces their accelerations under all else that acts. */
CalStatus tie_group_evaluate(CalEvalContext *context, int group, TiePurpose purpose);
/** Forces of all ties known: they act in what tie_group_evaluate() has begun. */
void tie_group_apply(const CalEvalContext *context, int group);
/** udot of a group (SimGroup.udot): M^-1 times the forces on its points, loops and driven dofs held. */
CalStatus tie_group_response(CalEvalContext *context, int group, TiePurpose purpose);

/* ---- all together (subsystem_solve.c) --------------------------------------------------- */

/** Forces of all ties at an instant: pushes, and rates of the states of compiled subsystems. */
CalStatus subsystems_solve(CalEvalContext *context, double *xdot);
/**
 * Whether steps end with a projection: all compiled subsystems can be projected, and the run does not say otherwise. The
 * multistep methods of CVODE would lose their history by it: their ties are stabilised instead.
 */
static inline bool subsystems_are_projected(const CalSim *sim) {
	const CalMethodInfo *info = cal_method_info(sim->method.method);
	return sim->subsystems->corrects && sim->method.projection >= 0 && (info->subsystems || info->implicit_share > 0);
}
/** Closes the rows after a step, where all subsystems can; *changed. */
CalStatus subsystems_project(CalSim *sim, bool *changed);

#endif
