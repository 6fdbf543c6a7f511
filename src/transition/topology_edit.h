// SPDX-License-Identifier: Apache-2.0
/*
 * topology_edit.h — one topology edit, from the first check to the new groups.
 *
 * begin; edit the description (topology.h); build new groups and give them the state of the old ones; commit, or abandon.
 * Until the commit nothing of the simulation has changed but the description, which abandoning restores. Coordinates and
 * speeds of joints that stay are copied; joints that are new in the tree get theirs from poses and velocities.
 */
#ifndef CALDER_TRANSITION_TOPOLOGY_EDIT_H
#define CALDER_TRANSITION_TOPOLOGY_EDIT_H

#include "math/vec.h"
#include "sim/sim_internal.h"
#include "topology/topology.h"

enum { EDIT_MAX_GROUPS = 2, EDIT_MAX_NEW_JOINTS = 2 };

/* Coordinates and speeds of a joint that is new in the tree. */
typedef struct NewJointState {
	uint32_t joint;
	double q[CAL_JOINT_MAX_COORDS], u[CAL_JOINT_MAX_DOF];
} NewJointState;

typedef struct TopologyEdit {
	CalSim *sim;
	Topology *t;
	CalError *error;
	int old[EDIT_MAX_GROUPS], old_count; // groups concerned; the first passes its inputs on to the first that is made
	double *u[EDIT_MAX_GROUPS];          // their speeds after an impulse, NULL: none; owned
	uint32_t group[EDIT_MAX_GROUPS];     // of the description, to be made
	SimGroup made[EDIT_MAX_GROUPS];      //
	int made_count;                      //
	NewJointState new_joints[EDIT_MAX_NEW_JOINTS]; //
	int new_joint_count;                           //
	uint32_t added;                                // a flexible body that comes in, 0: none; its modes start as given
	const double *eta, *eta_dot;                   // NULL: at rest
	double rotors_lost; // kinetic energy of motors whose joints opened, less that of those whose joints closed
	bool begun;
} TopologyEdit;

/* A node in the world. */
typedef struct NodeMotion {
	dpose X;
	spatial V; // at its origin
} NodeMotion;

/* Clears report and error. An edit that could not begin may be committed or abandoned: nothing happens. */
CalStatus edit_begin(CalSim *sim, CalTransition *report, CalError *error, TopologyEdit *c);
/* Notes that a group of the description is concerned; returns its place among the old ones. */
int edit_add_group(TopologyEdit *c, uint32_t group);
/* Room for the speeds of an old group after an impulse; they start as they are. */
CalStatus edit_copy_speeds(TopologyEdit *c, int old);
/* Kinematics of all old groups at their speeds. */
CalStatus edit_kinematics(TopologyEdit *c);
/* After that: where a node is and how it moves. */
CalStatus edit_node_motion(const TopologyEdit *c, CalNodeId node, NodeMotion *motion);
/* The same for the two sides of a joint in the tree: its coordinates and speeds become those of a new joint. */
CalStatus edit_add_new_joint(TopologyEdit *c, uint32_t joint);
/* Moves marked bodies (t->mark) to a group. */
void edit_move_marked(TopologyEdit *c, uint32_t group);

/* Models, memory and states of the new groups. */
CalStatus edit_build(TopologyEdit *c);
/* Puts them in the place of the old ones. */
void edit_commit(TopologyEdit *c, CalTransition *report);
/* Restores everything; returns status. */
CalStatus edit_abandon(TopologyEdit *c, CalStatus status);

/* Builds unless status is bad, then commits or abandons; the same for what is built already. */
CalStatus edit_build_and_commit(TopologyEdit *c, CalStatus status, CalTransition *report);
CalStatus edit_commit_or_abandon(TopologyEdit *c, CalStatus status, CalTransition *report);
/* Loops that an impulse could not stop are an error; fastest: of the speeds before. */
CalStatus edit_check_rates(TopologyEdit *c, const CalModel *model, const CalImpulseReport *lost, double fastest);
double group_fastest(const SimGroup *group);
/* A group of the description by its name: one that was emptied, or a new one; gravity and propagation as those of `like`. */
CalStatus edit_find_group(TopologyEdit *c, const char *name, const CalGroupDef *like, uint32_t *group);
/* Locks: marks, by degree of freedom of the first old group, all clear; then its speeds once those that are marked stop. */
uint8_t *edit_clear_locks(const TopologyEdit *c);
CalStatus edit_apply_locks(TopologyEdit *c, CalTransition *report);
/* Once built: the impulse that makes all loops of the first new group hold; `loop`, which was closed, must fit. */
CalStatus edit_apply_impulse(TopologyEdit *c, uint32_t loop, CalTransition *report);

/* J = X_F^-1 (node_b X_o^-1) of a joint's definition from a to b, and the velocity of J relative to F there. */
dpose joint_pose_between(const CalJointDef *def, const NodeMotion *a, const NodeMotion *b);

/* A CalFindingFn: keeps the first error in the CalError `user`. */
void edit_keep_first_error(void *user, const CalFinding *finding);
CalStatus edit_no_memory(TopologyEdit *c);
/* Ids that exist; an error says what does not. */
CalStatus edit_check_joint(TopologyEdit *c, CalJointId joint);
CalStatus edit_check_node(TopologyEdit *c, CalNodeId node);
CalStatus edit_check_body(TopologyEdit *c, CalBodyId body);
/* What the input of a group (or its model) prescribes now; NULL: the input refuses. */
const uint8_t *group_kept(const SimGroup *group);
/** prescribed[nu], and what devices drive; in scratch of the group. */
const uint8_t *group_with_driven(const SimGroup *group, const uint8_t *prescribed);

#endif
