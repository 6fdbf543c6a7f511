// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint.h — what the files of checkpoints share.
 *
 * The bytes, without gaps: a header (what it is, of what, how long, checksum), the topology if the simulation is prepared
 * for changes, one entry for each group, the states, the rest. Each part has one function that walks over its fields in
 * all modes of an Archive.
 */
#ifndef CALDER_CHECKPOINT_CHECKPOINT_H
#define CALDER_CHECKPOINT_CHECKPOINT_H

#include <calder/checkpoint.h>

#include "model/description/desc_fields.h"
#include "sim/sim_internal.h"
#include "topology/topology.h"

/* ---- the topology (checkpoint_topology.c) ---------------------------------------------------------- */

/* All records of a Topology; its own, or a copy of them. */
typedef struct TopologyImage {
	int groups, bodies, nodes, joints, loops; // how many
	CalSimCapacity left;
	CalGroupDef *group;
	DescBody *body;
	DescNode *node;
	TopologyJoint *joint;
	TopologyLoop *loop;
	uint8_t *locked; // [modes] of all flexible bodies in turn
	int modes;       //
} TopologyImage;

/* The records that a topology has now, in place. */
TopologyImage image_of(const Topology *t);
void walk_loop_record(Serializer *a, TopologyLoop *loop, bool named);
void image_walk(Serializer *a, const SimOrigin *origin, TopologyImage *image);
/* Reads an image into memory of its own; strings come from t. An error says what is wrong, nothing is kept then. */
CalStatus image_read(Serializer *a, const CalSim *sim, TopologyImage *image, CalError *error);
/* A copy with the same strings; 0: memory is short. */
int image_copy(const Topology *t, TopologyImage *copy);
/* Makes t what an image says; NULL, or what is wrong with a loop then. */
const char *image_put(const TopologyImage *image, Topology *t);
/* Whether two images of one simulation hold the same, field by field, by their hashes; neither is changed. */
int image_same(const SimOrigin *origin, TopologyImage *a, TopologyImage *b);
/* The first of each kind that was added: after the description's own, and what things are parked on. */
TopologyImage image_first_added(const SimOrigin *origin);
/* Releases the strings of what was added to the description, and the arrays of a copy. */
void image_drop(const CalSim *sim, TopologyImage *image);
void image_free(const Topology *t, TopologyImage *image);

/* ---- checking a topology that was read (checkpoint_check.c) ------------------------------------------ */

/* Whether there is room for its counts. */
int image_fits(const CalSim *sim, const TopologyImage *image);
/* Whether it is one that the simulation could have come to: CAL_ERR_INPUT with the reason, or CAL_ERR_MEMORY. */
CalStatus image_check(const CalSim *sim, const TopologyImage *image, CalError *why);

/* ---- the run (checkpoint_state.c) -------------------------------------------------------------------- */

/* A group of a simulation. */
typedef struct GroupEntry {
	uint32_t group; // of the description
	int nq, nu;
	int input_from, motion_from;
} GroupEntry;

GroupEntry entry_of(const CalSim *sim, int group);
void walk_entry(Serializer *a, GroupEntry *entry);
/* States of groups, devices and events. */
void walk_states(Serializer *a, CalSim *sim);
/* Once the simulation is bound: all that is left, with the memory of the integrator. */
void walk_rest(Serializer *a, CalSim *sim, CalIntegrator *integrator);

#endif
