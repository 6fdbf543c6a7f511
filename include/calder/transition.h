// SPDX-License-Identifier: Apache-2.0
/*
 * calder/transition.h — changes of topology while a simulation runs: detach, attach, re-root, lock, add, remove.
 *
 * cal_sim_reserve() gives a simulation a copy of its description and all the memory that changes may need; nothing
 * allocates later, but for branches (CalSimOptions.branches). Objects go by the ids of the description, which stay valid whatever happens; indices of groups, bodies,
 * nodes and speeds (calder/sim.h, calder/model.h) are those of the models at hand and change with them.
 *
 * No pose, speed or modal coordinate jumps other than by the impulse of calder/impulse.h: linear and angular momentum of
 * what flies freely are conserved, and the kinetic energy lost is reported. Every call either succeeds or leaves the
 * simulation as it was, with a message. See docs/transitions.md.
 *
 * A joint is in one of three states: in the tree, where it carries a body; in a loop, where it holds two bodies of one tree
 * (or the ground) together; open. Trees turn over when need be (re-rooting): a joint that is passed in the other direction
 * keeps the meaning and the values of its coordinates; those of a universal, planar or sequence joint come in the
 * opposite order then, and rotations in space count from the other side.
 */
#ifndef CALDER_TRANSITION_H
#define CALDER_TRANSITION_H

#include <calder/impulse.h>
#include <calder/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Room for what may be added to the description while the simulation runs. */
typedef struct CalSimCapacity {
	int groups, bodies, nodes, joints, loops;
	int modes;        // of flexible bodies among these, all together
	int second_order; // nonzero: they may have second-order shapes or geometric stiffness, which take memory
	size_t memory;    // bytes for everything; 0: estimated from the models at hand
} CalSimCapacity;

/**
 * Prepares sim, made of desc, for changes. capacity NULL: nothing is added, what is there may be taken apart and put
 * together again. Once, before the first change.
 */
CAL_API CalStatus cal_sim_reserve(CalSim *sim, const CalDesc *desc, const CalSimCapacity *capacity, CalError *error);
/** Nonzero after that; *most (may be NULL): how many groups, bodies, ... there can be at most, in all. */
CAL_API int cal_sim_reserved(const CalSim *sim, CalSimCapacity *most);
/** Bytes of the reserved memory that are free, in one or several pieces; 0 without cal_sim_reserve(). */
CAL_API size_t cal_sim_memory_left(const CalSim *sim);

/** What a change did. */
typedef struct CalTransition {
	double kinetic_lost; // kinetic energy before less that after, of all groups concerned [J]
	CalSpatial impulse;  // ATTACH in the tree: on the side of b at `point`, world axes [N m s, N s]; otherwise zero
	CalVec3 point;       //
	/* Momentum after less that before, of all groups concerned; of a kinematic group: less that when it became one. */
	CalVec3 linear_change;  // [kg m/s]
	CalVec3 angular_change; // about the world's origin [kg m^2/s]
	double misfit;          // ATTACH: how far the nodes were from what the joint allows [m, rad]
	int group;              // index of the group concerned; of an attach, of the joined one
	int other;              // DETACH, SPLIT: index of the group that was made, -1: none was
} CalTransition;

typedef enum CalJointState { CAL_JOINT_OPEN, CAL_JOINT_IN_TREE, CAL_JOINT_IN_LOOP } CalJointState;

/** Index of the group that a body is in now; -1: none (removed, unknown). */
CAL_API int cal_sim_group_of(const CalSim *sim, CalBodyId body);
/** *reversed (may be NULL): its outboard node is on the inboard side now. */
CAL_API CalStatus cal_sim_joint_state(const CalSim *sim, CalJointId joint, CalJointState *state, int *reversed);

/*
 * Objects by name, also those that were added in the run and joints and loops that are open; {0}: there is none. Without
 * cal_sim_reserve(): those of the models.
 */
CAL_API CalBodyId cal_sim_find_body(const CalSim *sim, const char *name);
CAL_API CalJointId cal_sim_find_joint(const CalSim *sim, const char *name);
CAL_API CalLoopId cal_sim_find_loop(const CalSim *sim, const char *name);
/** "body/node", "body", "ground/node" or "ground", which is {0}. Returns 0 if there is none. */
CAL_API int cal_sim_find_node(const CalSim *sim, const char *path, CalNodeId *node);
/**
 * Where degree of freedom `dof` of a joint is, counted as in its definition, whichever way the joint is passed. Returns
 * 0 if the joint is not in the tree or has no such degree of freedom.
 */
CAL_API int cal_sim_find_dof(const CalSim *sim, CalJointId joint, int dof, CalDofRef *dof_ref);
/** Where mode `mode` of a flexible body is, from 0. Returns 0 if the body is not there or has no such mode. */
CAL_API int cal_sim_find_mode(const CalSim *sim, CalBodyId body, int mode, CalDofRef *dof_ref);

/* report may be NULL in all calls below. */

/**
 * Opens a joint. In the tree: what is outboard of it becomes a group of its own by the name given (one that was emptied by
 * an attach may be named again), its first body on a free joint; the whole of a group that stood on the ground keeps its
 * name (group may be NULL). Where a joint in a loop holds that part too, the loop takes its place in the tree, and no
 * group is made; another loop in the way is an error. In a loop: the loop opens; if nothing else ties the two bodies
 * together, what is on the side of b becomes a group by the name given (NULL: it stays where it is).
 */
CAL_API CalStatus cal_sim_detach(CalSim *sim, CalJointId joint, const char *group, CalTransition *report,
                                 CalError *error);

/**
 * Makes all that joints in the tree and closed loops tie to a body a group of its own: what cal_sim_open_loop() has parted,
 * or trees that were one group from the start. The ground ties nothing together.
 */
CAL_API CalStatus cal_sim_split(CalSim *sim, CalBodyId body, const char *group, CalTransition *report, CalError *error);

/** Whether the nodes have to be where the joint allows, or the joint is made to fit them, at its zero. */
typedef enum CalFit {
	CAL_FIT_NONE, // they have to
	CAL_FIT_AT_A, // its outboard placement is set: the joint is where its inboard placement puts it on a
	CAL_FIT_AT_B, // its inboard placement is set: the joint is where its outboard placement puts it on b
} CalFit;

typedef struct CalAttachOptions {
	CalFit fit;       //
	int loop;         // nonzero: as a loop even where a tree would do
	double tolerance; // how far nodes may be off if nothing is fitted [m, rad]; 0: 1e-6
	/*
	 * Nonzero: without an impulse. The tree that becomes a child takes over the motion of the node that carries it; its own
	 * joints and modes keep their speeds. Momentum and energy jump: see the report. Not of a loop.
	 */
	int kinematic;
} CalAttachOptions;

/**
 * Ties node b to node a by a joint of any type, by an inelastic impulse (options: or without). {0}: the ground. Two groups become one, that of a
 * (that of b, if a is on the ground), in its gravity, which must be the same. The tree of b becomes a child of a if it flies freely;
 * otherwise that of a on b; otherwise, and within one tree, the joint is a loop: of any type but free, sequence and
 * user, without springs, dampers, rotors and drives. options may be NULL.
 */
CAL_API CalStatus cal_sim_attach(CalSim *sim, CalNodeId a, const CalJointDef *joint, CalNodeId b,
                                 const CalAttachOptions *options, CalJointId *id, CalTransition *report,
                                 CalError *error);
/** The same with a joint that is open, between its nodes. */
CAL_API CalStatus cal_sim_reattach(CalSim *sim, CalJointId joint, const CalAttachOptions *options,
                                   CalTransition *report, CalError *error);

/**
 * Closes a loop of any type within a group, by an impulse; opens one; closes an open one again. Trees that only this loop
 * tied together stay in one group (cal_sim_split).
 */
CAL_API CalStatus cal_sim_close_loop(CalSim *sim, CalNodeId a, const CalLoopDef *loop, CalNodeId b, CalLoopId *id,
                                     CalTransition *report, CalError *error);
CAL_API CalStatus cal_sim_open_loop(CalSim *sim, CalLoopId loop, CalTransition *report, CalError *error);
CAL_API CalStatus cal_sim_reclose_loop(CalSim *sim, CalLoopId loop, CalTransition *report, CalError *error);

/**
 * Makes a body the root of its tree. Of a tree that flies freely the free joint moves to it. Where the tree is attached to the
 * ground, a joint in a loop that holds the body on the ground becomes its root, or else a free joint does; what held the
 * tree before becomes a loop.
 */
CAL_API CalStatus cal_sim_reroot(CalSim *sim, CalBodyId body, CalTransition *report, CalError *error);

/**
 * Stops degree of freedom `dof` of a joint in the tree (-1: all of them) by an impulse; from then on it is described as
 * prescribed. Unlock makes it free. Indices count as in the definition of the joint, whichever way it is passed.
 */
CAL_API CalStatus cal_sim_lock(CalSim *sim, CalJointId joint, int dof, CalTransition *report, CalError *error);
CAL_API CalStatus cal_sim_unlock(CalSim *sim, CalJointId joint, int dof, CalTransition *report, CalError *error);

/** The same for a mode of a flexible body (-1: all of them), which then stays deflected as it is. */
CAL_API CalStatus cal_sim_lock_modes(CalSim *sim, CalBodyId body, int mode, CalTransition *report, CalError *error);
CAL_API CalStatus cal_sim_unlock_modes(CalSim *sim, CalBodyId body, int mode, CalTransition *report, CalError *error);

/**
 * How a group is propagated from now on. RIGID: an impulse stops all modes, which keep their values. KINEMATIC: an impulse
 * stops all modes and joints; a free root keeps the velocity that this leaves it, whatever acts; a group whose motion is
 * given (cal_sim_set_motion) is kinematic already and stays as it is. The impulses are internal: only the ground can change
 * the momentum, and the energy lost is reported. FLEXIBLE: everything keeps its speed and is free, but for locks of
 * joints and modes, which stay; a given motion ends, also for RIGID. Groups are attached only if they are propagated alike;
 * a part that comes off is propagated as its group was.
 */
CAL_API CalStatus cal_sim_set_propagation(CalSim *sim, int group, CalPropagation propagation, CalTransition *report,
                                          CalError *error);
/** KINEMATIC: or its motion is given. */
CAL_API CalPropagation cal_sim_propagation(const CalSim *sim, int group);

/** A free-flying body as a group of its own, with a pose and a velocity in the world. */
typedef struct CalNewBody {
	CalBodyDef body;         // its group is not read
	const char *group;       // name of the group to make
	CalPlacement placement;  //
	CalSpatial velocity;     // of its frame: angular and linear, world axes
	CalVec3 gravity;         // of the group
	const CalNodeDef *nodes; // [node_count]
	int node_count;
	const CalFlexDef *flex;      // NULL: rigid; node n of it is nodes[n - 1], {0}: the body's own frame
	const double *eta, *eta_dot; // [flex->modes] modal coordinates and speeds; NULL: zero
} CalNewBody;
/** nodes[node_count] (or NULL): ids of its nodes. */
CAL_API CalStatus cal_sim_add_body(CalSim *sim, const CalNewBody *made, CalBodyId *id, CalNodeId *nodes,
                                   CalTransition *report, CalError *error);
/** A body that carries no other and that no loop holds; it vanishes with its momentum. */
CAL_API CalStatus cal_sim_remove_body(CalSim *sim, CalBodyId body, CalTransition *report, CalError *error);

#ifdef __cplusplus
}
#endif
#endif
