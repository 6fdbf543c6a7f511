// SPDX-License-Identifier: Apache-2.0
/*
 * random_loop.h — random systems with closed loops, and the linkages that tests build by hand.
 *
 * random_loop() takes a random tree, closes it by loops of any type between any nodes and leaves a state on all
 * constraints in the model: ref_model_start() gives it, in whatever order the bodies are by then (a Fixture may
 * bring them into another one; loops name nodes, couplings name bodies). Ends, frames and free displacements are
 * generic, so that rows are independent unless they are doubled on purpose. Linkages are redundant by their nature:
 * a planar one has three rows too many for each loop, and stretched flat it is singular besides.
 */
#ifndef TEST_SUPPORT_RANDOM_LOOP_H
#define TEST_SUPPORT_RANDOM_LOOP_H

#include "support/random_tree.h"

enum {
	LOOP_ANY_TYPE = (1 << REF_LOOP_TYPE_COUNT) - 1,
	LOOP_VELOCITY_TYPES = 1 << REF_LOOP_KNIFE | 1 << REF_LOOP_DISK | 1 << REF_LOOP_BALL, // rows without position
	LOOP_JOINT_TYPES = (1 << (REF_LOOP_SCREW + 1)) - 1,
};

typedef struct LoopOptions {
	TreeOptions tree;
	int loops;      // at most so many; fewer if there are too few dofs; 0: 1 to 4
	unsigned types; // set of 1 << RefLoopType; 0: any
	int redundant;  // every loop comes twice; a weld or revolute the second time through other frames
	int driven;     // some rows move with time
	int known;      // known forces in the loops
	int stabilised; // gains of stabilisation
} LoopOptions;

/** A mixture drawn from the seed: rigid or flexible, a third of them redundant, driven, with known forces. */
LoopOptions loop_any(uint64_t seed);

/** NULL never; the model has at least one loop and one dof left. */
RefModel *random_loop(Rng *r, LoopOptions options);

/**
 * The same as a Fixture, sampled, in a state on the constraints: forces and wrenches act on ref and model alike. The
 * model is that of the tree; whoever tests the library's loops adds them to the description.
 */
Fixture *fixture_random_loop(uint64_t seed, LoopOptions options, CalSolver solver);

/** A loop of the reference as the library's description has it, and all of them added to the description of f. */
CalLoopDef fixture_loop_def(const Fixture *f, const RefLoop *from);
void fixture_close_loops(Fixture *f);

/**
 * A planar linkage of `bars` moving bodies (at least three) and the ground, placed anywhere in space, closed by a
 * loop of the given type (revolute, cylindrical or point) about the common direction of the axes: bars - 2 dofs,
 * two of the rows independent.
 */
RefModel *random_linkage(Rng *r, int bars, RefLoopType closing);

/**
 * N windows of 2N+1 equal rods of length 1 m and mass 1 kg in the plane xy with gravity along -y (IFToMM A02):
 * cranks k0 ... kN are hinged to the ground at x = 0 ... N and are turned by `angle` from the x axis with the rate given;
 * coupler ci joins the tip of k(i-1), by a joint, to that of ki, by a loop of the given type. Singular for angle = 0.
 */
RefModel *loop_windows(int windows, double angle, double rate, RefLoopType closing);

/* Placements with unit quaternions: a then b, the way back, and the quaternion of a rotation. */
CalPlacement placement_compose(CalPlacement a, CalPlacement b);
CalPlacement placement_invert(CalPlacement a);
CalQuat quat_of_rotation(const CalMat3 *R);

#endif
