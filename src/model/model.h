// SPDX-License-Identifier: Apache-2.0
/*
 * model.h — the compiled model: flat arrays in one block, parent first.
 *
 * A *link* is a rigid frame that moves by one elementary motion relative to its parent link; a body is
 * carried by the last link of its joint (or, if welded, by its parent's). Link frames are chosen for the
 * sweeps: the axis of a rotation or translation is the link's z, its origin is on the axis, and where a
 * link is turned by nothing but an angle about x before its own motion, `pure_rx` says so. Users see their
 * own body frames: bodies and nodes carry a constant pose in their link.
 */
#ifndef CALDER_MODEL_MODEL_H
#define CALDER_MODEL_MODEL_H

#include <calder/model.h>
#include "base/cpu.h"
#include "flexbody/flex_body.h"
#include "joint/primitive.h"
#include "loop/loop.h"
#include "math/inertia.h"
#include "model/local_link.h"
#include "model/model_index.h"

/*
 * What a branch does with a link beside the sweeps: columns pass it; the sums of a NODE are known before them; inertia and
 * force of other branches arrive at it.
 */
enum { INTERFACE_COLUMNS = 1, INTERFACE_SUMS = 2, INTERFACE_ARRIVAL = 4 };

typedef struct Link {
	int32_t parent;      // link index, -1: ground
	int32_t motion;      // enum JointPrimitive
	int32_t u, q;        // first speed and coordinate
	int32_t nu, nq;      // their number
	int32_t accumulator; // accumulator of its children other than the next link, -1: none
	int32_t trig;        // ROTATION: index of its angle in the batch of sines and cosines
	int32_t pure_rx;     // nonzero: E is a turn about x, E.y = (0,c,s), E.z = (0,-s,c)
	int32_t zero_offset; // p is zero
	int32_t body;        // the body whose joint it belongs to
	int32_t massless;    // carries no inertia of its own
	int32_t flex_body;   // index of the flexible body whose frame it is, -1: none
	int32_t flex;        // FLEX, NODE: index of the flexible body, otherwise -1
	int32_t shape;       // FLEX: shape of the head; NODE: of the node
	int32_t columns;     // FLEX, NODE: first of its modal columns in the workspace
	int32_t port;        // NODE: its place among the ports of the flexible body
	int32_t loop_link;   // index among the links that loops reach, -1: none do, or they are not eliminated locally
	int32_t run;         // first link of the run that it is part of: each the parent of the next
	int32_t special;     // more than a joint in the sweeps: frame or node of a flexible body, loops that close on links
	int32_t interface;   // INTERFACE_* (component/interface.h), in a branch
	dmat3 E;             // orientation of the inboard frame F in the parent link
	dvec3 p;             // origin of F in the parent link [m]
	DInertia inertia;    // of all bodies that it carries, about its origin, link axes
	PrimitiveData data;  // parameters of the motion
} Link;

typedef struct Body {
	const char *name, *joint;
	CalBodyId id;
	CalJointId joint_id;
	CalJointType type;
	int parent;     // body index, -1: ground
	int link;       // the link that carries it, -1: fixed to the ground
	int first_link; // its joint's links are first_link .. link; nlink 0: welded
	int nlink;
	int q, nq, u, nu; // of its joint
	int flex;         // index of the flexible body, -1: rigid; its modes follow the joint's coordinates
	int mechanism;    // embedded mechanism that it is part of, number from 1; 0: none
	int inner;        // its index in the model of the mechanism
	int node;         // of its own frame
	int inboard_node; // on the parent, -1: ground's origin
	int head_node;    // on this body
	dpose in_link;    // body frame in the link frame
	double mass;
	dvec3 com;     // in the body frame
	dmat3 inertia; // about the center of mass, body axes
} Body;

typedef struct Node {
	const char *name;
	CalNodeId id;
	int body;      // -1: ground
	int link;      // -1: ground
	dpose in_body; // pose in the body frame
	dpose in_link; // pose in the link frame (in the world, if link is -1), undeformed
	int shape;     // how the modes of its body move it, -1: not at all
} Node;

typedef struct Dof {
	int body, index; // joint it belongs to, place in it
	int link;        //
	int q;           // its own coordinate, -1: part of a quaternion or of a user joint
	double stiffness, rest, damping;
	double rotor; // reflected rotor inertia
} Dof;

/* A spherical spring: rest orientation and stiffness of three speeds that share a quaternion. */
typedef struct BallSpring {
	int q, u;     // first of the four coordinates, of the three speeds
	CalQuat rest; // unit
	double stiffness[3];
} BallSpring;

typedef struct LoopSchedule LoopSchedule; // model/loop_plan.h
typedef struct CoupledPlan CoupledPlan;   // model/coupled_plan.h
typedef struct LoopBlocks LoopBlocks;     // model/loop_blocks.h
typedef struct Mechanism Mechanism;       // model/mechanism.h

struct CalModel {
	CalAllocator allocator;
	size_t size;
	const char *name;
	dvec3 gravity;
	CalPropagation propagation; // of the group: modes or all degrees of freedom are prescribed
	CalSolver solver;
	CpuIsa isa; // of the kernels
	double flops_recursive, flops_dense;
	int link_count, body_count, node_count, nq, nu;
	int accumulator_count; // accumulators of the inward sweeps
	int trig_count;        // angles in the batch
	int spring_count;      // degrees of freedom with an axial spring
	int ball_spring_count;
	int user_spring_count; // user joints with a spring
	int any_damping, any_rotor, any_prescribed;
	int flex_count, shape_count;
	int modal_columns; // of all FLEX and NODE links
	const Flex *flexes;
	const FlexShape *shapes;
	int loop_count, row_count;
	int any_coupling;       // among the loops
	int any_applied_wrench; // applied wrenches in loops
	int light_loops;        // links on the paths of loops differ in mass so that round-off may show (1), or by much (2)
	const Loop *loops;
	CalLoopSolver loops_by; // how they are to be solved
	const LoopSchedule
		*loop_schedule;         // of loops that are eliminated where they close, NULL: none are; a block of its own
	const CoupledPlan *coupled; // an order that couples links of both sides of loops, NULL: none; a block of its own
	const LoopBlocks *blocks;   // of their Jacobian, NULL: there are no loops, or it is a branch; a block of its own
	int mechanism_count;
	Mechanism **mechanisms; // [mechanism_count] embedded ones; blocks of their own
	const Link *links;
	const LocalLink *local_links; // [link_count] constants of inverse dynamics
	const Body *bodies;
	const Node *nodes;
	const Dof *dofs;
	const double *rotor;       // [nu]
	const double *damping;     // [nu]
	const int32_t *spring_dof; // [spring_count] indices of degrees of freedom
	const BallSpring *ball_springs;
	const int32_t *user_spring_link; // [user_spring_count] their links
	const int32_t *trig_q;           // [trig_count] coordinate of each angle
	const double *trig_offset;       // [trig_count] constant turn from the joint's zero to the link's
	const uint8_t *prescribed;       // [nu] as described
	const int32_t *dof_parent;       // [nu] next degree of freedom towards the ground, -1: none
	const int32_t *dof_depth;        // [nu] how many there are between it and the ground
	const size_t *mass_row;          // [nu + 1] first entry of each row of the sparse mass matrix
	ModelIndex index;                // by name and id; a branch has none
};

/* Reports dofs whose articulated inertia is singular in every configuration (singular.c). */
CalStatus model_check_singular(const CalModel *model, const CalDesc *desc, CalFindingFn report, void *user);

#endif
