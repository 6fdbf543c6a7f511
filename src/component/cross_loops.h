// SPDX-License-Identifier: Apache-2.0
/*
 * cross_loops.h — loops that reach from branch to branch [THEORY 5, 6].
 *
 * The multipliers of such a loop are unknowns of every branch, beside the wrench on its cut: columns of its border
 * (component/interface.h), zero where the loop has no end in it nor in what stands on it. Branches are joined with
 * their columns; at the ground all are left, and Phi lambda = beta - z gives the smallest multipliers that bring the
 * accelerations of the rows to zero. Every loop has the eight columns behind those of the cut and of the loops before
 * it.
 */
#ifndef CALDER_COMPONENT_CROSS_LOOPS_H
#define CALDER_COMPONENT_CROSS_LOOPS_H

#include "component/assembly.h"
#include "dynamics/loop/loops.h"

/* A side of a loop: where its frame is, and where its wrench acts. */
typedef struct RowsEnd {
	int frame_branch; // -1: on the ground
	Loop frame_loop;  // the loop in the numbers of that branch
	int node_branch;  // of node `plus` (side 0) or `minus` (side 1); -1: on the ground
	int node;         // in its numbers
	LoopFrame frame;  // of the call at hand
} RowsEnd;

typedef struct RowsLoop {
	const Loop *loop; // of the whole model
	RowsEnd side[2];
} RowsLoop;

/* Where the base of a branch is; told once the frames of all loops on the branch are there. */
typedef struct RowsPlace {
	_Alignas(BRANCH_LINES) TeamMark told;
	vec3 r, v;
} RowsPlace;

struct Rows {
	_Alignas(BRANCH_LINES) TeamMark solved;
	const CalModel *model;
	int loops, width;       // of all columns: those of a cut, then eight for each loop
	RowsLoop *list;         // [loops]
	RowsPlace *place;       // [branches]
	double *x;              // [width] zero, then the multipliers
	double *lambda;         // [rows]
	double *Lambda, *right; // [rows rows], [rows]
	double *scratch;        // [(rows + 2) rows]
	int *order;
	uint8_t *independent;
	double *unit;  // [rows] of the model (Loop.unit)
	double reach;  // of the longest loop
	bool doubtful; // masses may have made rows small, or have cost digits
	void *memory;
};

/* What is asked of the rows. */
typedef struct RowsCall {
	bool plain;      // without stabilisation
	bool positions;  // rows of speeds alone do not take part
	const double *z; // [rows] what the multipliers are to bring to zero; NULL: the accelerations of the rows
} RowsCall;

/** NULL in *rows if the model has no loops. places: found with `cross`. */
CalStatus rows_make(const CalModel *model, const Places *places, int branches, Rows **rows);
void rows_free(Rows *rows); // accepts NULL

/** Pulls that the rows take on a branch, of its loops and of the branches that it waits for. */
int rows_pull_count(const Rows *rows, const Branch *branches, const Branch *b);
/** Fills them in behind the first `made`, which have their memory: gamma[6][8] and modal[most modes][8]. */
void rows_list_pulls(const Rows *rows, const Branch *branches, const Branch *b, int made);

/** After the outward sweep: where things are. Waits for the branch that it stands on. */
void rows_place(Rows *rows, const Branch *branches, const Branch *b, uint64_t call);
/** Then, before its columns: wrenches of its loops. */
void rows_fill(Rows *rows, const Branch *b, const CalState *state, uint64_t call, const RowsCall *how);
/** Once all have their place: residuals of the rows, and their rates. */
void rows_residual(const Rows *rows, const CalState *state, uint64_t call, double *value, double *rate);
/** Columns of chains that it waited for: before and after its own. */
void rows_receive(const Rows *rows, const Branch *branches, const Branch *b);
void rows_add(const Rows *rows, const Branch *branches, const Branch *b);
/** As border_join() and border_part() do for a cut alone. */
void rows_join(const Rows *rows, const AssemblyNode *inner, spatial c, const AssemblyNode *outer, AssemblyNode *node);
spatial rows_part(const Rows *rows, const AssemblyNode *inner, const AssemblyNode *node, spatial A0, const double *x,
                  double *F);
/** All chains on the ground are told: the multipliers. */
void rows_solve(Rows *rows, const Branch *branches, int count, const Assembly *assembly, const CalState *state,
                uint64_t call, const RowsCall *how);

#endif
