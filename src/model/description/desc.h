// SPDX-License-Identifier: Apache-2.0
/*
 * desc.h — the description as stored: plain growing arrays, ids are index + 1.
 *
 * Strings and arrays are owned by the description and come from its allocator; the place of an object, if there is one, is in
 * the block of its name. Body 0 of the ids is
 * the ground, which has nodes but no record. Every body has a node for its own frame ("head"), made
 * together with it.
 */
#ifndef CALDER_MODEL_DESCRIPTION_DESC_H
#define CALDER_MODEL_DESCRIPTION_DESC_H

#include <calder/build.h>
#include <stdbool.h>

#include "base/name_index.h"

typedef struct DescNode {
	CalNodeDef def; // strings owned, but of a body's own frame; placement.orientation unit
	CalBodyId body; // {0}: ground
} DescNode;

typedef struct DescBody {
	CalBodyDef def;         // strings owned; group never {0}
	CalNodeId frame;        // the node that is the body's own frame
	const CalLinkOps *link; // NULL: its flex is one of modes
	const void *link_data;  // of these functions
	CalFlexDef *flex;       // NULL: rigid; one block owned by the description, all pointers into it or NULL
	// model/compile/flex_form.h; NULL: every compilation makes its own. Owned by who keeps it
	const struct FlexForm *form;
	const uint8_t *prescribed; // [flex->modes] nonzero: the mode is; NULL: none is. Likewise owned
} DescBody;

/* What a joint is within an embedded mechanism (calder/mechanism.h). */
typedef struct DescEmbedding {
	int mechanism;                  // number from 1; 0: in none
	int independent;                // nonzero: its coordinates are those of the mechanism
	double q[CAL_JOINT_MAX_COORDS]; // its coordinates where the loops are closed
} DescEmbedding;

typedef struct DescJoint {
	CalJointDef def;         // strings owned; axes unit and defaults filled in; placements' quaternions unit
	CalNodeId inboard;       // {0}: the ground's origin
	CalNodeId outboard;      // never {0}
	DescEmbedding embedding; //
} DescJoint;

typedef struct DescLoop {
	CalLoopDef def; // strings owned; placements' quaternions unit
	CalNodeId a, b; // {0}: the ground's origin
	int mechanism;  // that it was embedded in, number from 1; 0: none
} DescLoop;

struct CalDesc {
	CalAllocator allocator;
	CalGroupDef *groups; // strings owned; groups[0] is the default group "main"
	DescBody *bodies;
	DescNode *nodes;
	DescJoint *joints;
	DescLoop *loops;
	int group_count, group_capacity;
	int body_count, body_capacity;
	int node_count, node_capacity;
	int joint_count, joint_capacity;
	int loop_count, loop_capacity;
	const struct MechanismFunctions *mechanisms; // that evaluate embedded mechanisms; NULL: there are none
	NameIndex group_names, body_names, node_names, joint_names, loop_names; // name (and body, for nodes) to id
};

/** The record of an id that is known to be valid. */
static inline const DescBody *desc_body(const CalDesc *desc, CalBodyId id) { return &desc->bodies[id.value - 1]; }
static inline const DescNode *desc_node(const CalDesc *desc, CalNodeId id) { return &desc->nodes[id.value - 1]; }
static inline const DescJoint *desc_joint(const CalDesc *desc, CalJointId id) { return &desc->joints[id.value - 1]; }

/** Copies of a name and of a place in the block of the name; *place_copy is NULL for NULL. False: out of memory. */
bool desc_strings_copy(const CalAllocator *allocator, const char *name, const char *place, const char **name_copy,
                       const char **place_copy);

/** The number of a body that is not finite ("mass"), or NULL. */
const char *body_def_not_finite(const CalBodyDef *def);

/** Checks the modes of a body by themselves: sizes, numbers, nodes that are its own and listed once. */
CalStatus flex_def_check(const CalDesc *desc, CalBodyId body, const CalFlexDef *def, CalError *error);

/**
 * Completes a joint definition as the description stores it: axes unit, defaults filled in, quaternions
 * unit. Refuses what gives no direction or is not finite; *def is then unspecified.
 */
CalStatus joint_def_resolve(CalJointDef *def, CalError *error);

/** Checks what a loop definition says by itself: numbers and sets of its type, drives, gains, applied wrenches. */
CalStatus loop_def_check(const CalLoopDef *def, CalError *error);

/** Makes the quaternion of a placement unit ({0}: identity); "what" is wrong with it, or NULL. */
const char *placement_resolve(CalPlacement *placement);

/**
 * Everything that can be checked without a compiled model: topology (every body of the group has exactly
 * one parent, no cycle, both sides of a joint in one group), mass properties, joint parameters.
 * group {0}: all groups. Returns CAL_ERR_MODEL if anything with a negative status was reported.
 */
CalStatus desc_check_structure(const CalDesc *desc, CalGroupId group, CalFindingFn report, void *user);

#endif
