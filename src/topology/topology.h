// SPDX-License-Identifier: Apache-2.0
/*
 * topology.h — the description that a running simulation edits: a copy of the user's with a record of what each joint and
 * loop is doing now.
 *
 * Ids index the copy as they did the original. What is out of use is parked: joints and loops on the one body of a group
 * that is never compiled, so that ids stay valid and nothing else of the library has to know. Records say how joints and
 * loops were given; topology_put_joint() and topology_put_loop() write what they are now into the copy.
 */
#ifndef CALDER_TOPOLOGY_TOPOLOGY_H
#define CALDER_TOPOLOGY_TOPOLOGY_H

#include <calder/transition.h>

#include "base/arena.h"
#include "model/description/desc.h"

typedef struct TopologyJoint {
	CalJointDef def;     // from a to b; strings owned by the description
	CalNodeId a, b;      //
	CalJointState state; //
	int reversed;        // IN_TREE: b is inboard
	int own;             // a free joint that the simulation made for a root
	uint32_t loop;       // the loop that stands for it IN_LOOP, 0: none was needed so far
} TopologyJoint;

typedef struct TopologyLoop {
	DescLoop as;                             // as given
	int open;                                //
	uint32_t joint;                          // joint that it stands for, 0: a loop in its own right
	uint32_t term_joint[CAL_LOOP_MAX_TERMS]; // COUPLING: joint of each term, 0: a mode of its body
	int term_dof[CAL_LOOP_MAX_TERMS];        // in the joint as given, or of the mode
} TopologyLoop;

/* Where a joint's or a body's coordinates were before a topology edit. */
typedef struct TopologyPlace {
	int32_t group; // index in the simulation, -1: nowhere
	int32_t body;  // index in its model
} TopologyPlace;

typedef struct TopologySaved {
	int groups, bodies, nodes, joints, loops;
	CalSimCapacity left;
	TopologyJoint *joint;
	TopologyLoop *loop;
	DescJoint *desc_joint;
	DescLoop *desc_loop;
	uint32_t *body_group;
	CalGroupDef *group;
	uint8_t *mode_locked;
	int modes;
} TopologySaved;

typedef struct Topology {
	Arena *arena;
	CalAllocator allocator; // that of the arena
	size_t memory;          // bytes reserved
	CalDesc *desc;
	TopologyJoint *joints; // [desc->joint_count]
	TopologyLoop *loops;   // [desc->loop_count]
	CalSimCapacity left;   // what may still be added
	int joint_slots, loop_slots, body_slots, mode_slots;
	uint8_t *mode_locked;              // [mode_slots] of all flexible bodies in turn; DescBody.prescribed points here
	int mode_count;                    // slots in use
	CalGroupId parking;                // group that is never compiled
	CalNodeId park;                    // node of its body
	uint32_t *carrier;                 // [bodies] joint that carries each, 0: none; after topology_carriers()
	uint8_t *mark;                     // [bodies] scratch of topology_subtree()
	TopologyPlace *joint_at, *body_at; // scratch of a topology edit
	TopologySaved saved;
} Topology;

/* ---- memory (topology.c); made by cal_sim_reserve() (transition/reserve.c) ---------------------------- */

void topology_destroy(Topology *t); // accepts NULL
/* What a body that has become flexible needs: its form (model/compile/flex_form.h), locks of its modes. 0: memory or slots are short. */
int topology_add_modes(Topology *t, uint32_t body);
static inline uint8_t *topology_mode_locks(const Topology *t, uint32_t body) {
	return t->mode_locked + (t->desc->bodies[body - 1].prescribed - t->mode_locked);
}

/* ---- records (topology.c) --------------------------------------------------------------------------- */

static inline TopologyJoint *topology_joint(const Topology *t, uint32_t id) { return &t->joints[id - 1]; }
static inline TopologyLoop *topology_loop(const Topology *t, uint32_t id) { return &t->loops[id - 1]; }
static inline const char *topology_body_name(const Topology *t, uint32_t body) {
	return body ? t->desc->bodies[body - 1].def.name : "ground";
}
/* Body of a node, 0: the ground; and the group of a body. */
static inline uint32_t topology_node_body(const Topology *t, CalNodeId node) {
	return node.value ? t->desc->nodes[node.value - 1].body.value : 0;
}
static inline uint32_t topology_group(const Topology *t, uint32_t body) {
	return t->desc->bodies[body - 1].def.group.value;
}
static inline CalNodeId topology_inboard(const TopologyJoint *j) { return j->reversed ? j->b : j->a; }
static inline CalNodeId topology_outboard(const TopologyJoint *j) { return j->reversed ? j->a : j->b; }

/* Keeps what a failing topology edit has to restore; restores it. */
void topology_save(Topology *t);
void topology_restore(Topology *t);

void topology_put_joint(Topology *t, uint32_t id);
/* NULL, or why it cannot be (a coupling whose joint is not in the tree). */
const char *topology_put_loop(Topology *t, uint32_t id);
/* All couplings, after trees turned over; an error names the one that is lost. */
CalStatus topology_put_couplings(Topology *t, CalError *error);

/* New records; the definition is complete and its strings are copied. 0: memory or slots are short. */
uint32_t topology_add_joint(Topology *t, const CalJointDef *def, CalNodeId a, CalNodeId b);
uint32_t topology_add_loop(Topology *t, const DescLoop *as);
/* A group with the gravity and the propagation of another definition. */
uint32_t topology_add_group(Topology *t, const char *name, const CalGroupDef *like);
/* A free joint from the ground to a body's own frame: a parked one of the simulation's, or a new one. 0: memory is short. */
uint32_t topology_root_joint(Topology *t, uint32_t body);

/* ---- trees ---------------------------------------------------------------------------------------------- */

/* Fills t->carrier. */
void topology_carriers(Topology *t);
/* Body that carries `body`, 0: the ground. */
uint32_t topology_parent(const Topology *t, uint32_t body);
/* Joint between the ground and the tree of a body. */
uint32_t topology_root(const Topology *t, uint32_t body);
/* Marks `top` and all that it carries with 1; returns how many. */
int topology_subtree(Topology *t, uint32_t top);
/*
 * Turns all joints between `body` and the body `top` above it (or body itself) over, so that body is on top; it then has no
 * carrier. An error names a joint that cannot be turned.
 */
CalStatus topology_reverse_path(Topology *t, uint32_t body, uint32_t top, CalError *error);
/* Makes a joint carry `body`, one of its two sides. */
CalStatus topology_set_parent(Topology *t, uint32_t joint, uint32_t body, CalError *error);
/* Takes a joint out of the tree or out of its loop. */
void topology_open(Topology *t, uint32_t joint);
/* Makes a joint a loop; an error says why it cannot be one. */
CalStatus topology_close(Topology *t, uint32_t joint, CalError *error);
/* A free joint on the ground that nothing restrains. */
int topology_is_free_root(const Topology *t, uint32_t joint);
/*
 * A closed loop of a group that ties marked bodies to others, 0: none. joints: among those that stand for joints, otherwise
 * among the rest without couplings; ground: ties to the ground count too.
 */
uint32_t topology_crossing(const Topology *t, uint32_t group, int joints, int ground);
/* Marks all bodies that joints in the tree and closed loops tie to `body`, itself too; the ground ties nothing. */
void topology_component(Topology *t, uint32_t body);

/* A joint as a loop between the same nodes (topology_loop.c); NULL, or why it cannot be one. */
const char *topology_joint_as_loop(const CalJointDef *def, CalLoopDef *loop);

#endif
