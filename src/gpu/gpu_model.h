// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_model.h — a compiled model as the kernels of a device read it: plain numbers, no pointers to other memory.
 *
 * Made from a CalModel once (gpu_plan.c) and handed to every kernel by value where it fits into the constant memory of a
 * launch, otherwise through device memory. C17 and CUDA read the same header.
 */
#ifndef CALDER_GPU_GPU_MODEL_H
#define CALDER_GPU_GPU_MODEL_H

#include <stdint.h>

#include "math/inertia.h"

enum {
	GPU_SEGMENT = 4,      // links whose motion the exact inward sweep computes again at once
	GPU_GAIN = 7,         // numbers that a dof keeps from the inward to the outward sweep: gain (6), D_inv eps
	GPU_MOTION = 18,      // numbers of a GpuMotion
	GPU_SLOT = 24,        // of a kept motion, and the acceleration of its link (6)
	GPU_BODY = 27,        // of an accumulator: articulated inertia (21), bias force (6)
	GPU_PARAM_LINKS = 96, // models up to these sizes are parameters of a launch
	GPU_PARAM_DOFS = 112,
	GPU_PARAM_SEGMENTS = 96,
	GPU_PARENT_BEFORE = -1, // GpuLink.jump: the parent is the link before
	GPU_PARENT_GROUND = -2,
};

/** A link (model/model.h), with where its neighbors in the tree keep their numbers. */
typedef struct GpuLink {
	int32_t motion;      // enum JointPrimitive
	int32_t u, q, nu;    // first speed and coordinate, number of speeds
	int32_t pure_rx;     // E is a turn about x
	int32_t zero_offset; // p is zero
	int32_t massless;    //
	int32_t at_once;     // a ball or free root whose rotations are eliminated at once
	int32_t keep;        // slot for its motion, -1: not kept
	int32_t jump;        // slot of its parent's motion, or GPU_PARENT_...
	int32_t reload;      // fast inward sweep: slot of its parent's motion; GPU_PARENT_BEFORE: undone; GPU_PARENT_GROUND
	int32_t accumulator; // of its children other than the next link, -1: none
	int32_t give_to;     // accumulator that it adds to, -1: the next link of the sweep is its parent, or there is none
	int32_t gives_first; // the accumulator is empty before
	int32_t branches;    // its acceleration is kept for children other than the next link
	int32_t unused;
	double offset; // ROTATION: from the joint's zero to the link's [rad]
	double pitch;  // SCREW
	dmat3 E;       // orientation of the inboard frame in the parent link
	dvec3 p;       // its origin [m]
	DInertia inertia;
} GpuLink;

/** What acts along a degree of freedom. */
typedef struct GpuDof {
	double rotor, damping;
	double stiffness, rest; // of its spring
	int32_t q;              // coordinate of the spring, -1: none
	int32_t unused;
} GpuDof;

/** Consecutive links, each the parent of the next: at most GPU_SEGMENT of them. */
typedef struct GpuSegment {
	int32_t first, count;
} GpuSegment;

typedef struct GpuModel {
	int32_t link_count, nq, nu;
	int32_t slot_count, accumulator_count, segment_count;
	int32_t any_damping;
	int32_t any_quaternion;
	dvec3 gravity;
} GpuModel;

/** The arrays of a model, wherever they are. */
typedef struct GpuTables {
	const GpuLink *links;       // [link_count]
	const GpuDof *dofs;         // [nu]
	const GpuSegment *segments; // [segment_count]
} GpuTables;

#endif
