// SPDX-License-Identifier: Apache-2.0
/*
 * compile.h — what the steps of the model compiler share.
 */
#ifndef CALDER_MODEL_COMPILE_COMPILE_H
#define CALDER_MODEL_COMPILE_COMPILE_H

#include "base/memory.h"
#include "joint/joint_type.h"
#include "model/compile/flex_form.h"
#include "model/description/desc_groups.h"
#include "model/mechanism.h"

typedef struct Compiler {
	const CalDesc *desc;
	const DescGroups *groups;
	int group; // index in the description
	CalModalInertia modal_inertia;
	// order.c, in the scratch of `groups`; what is not of this group (or the ground's) is not set
	int *order;             // [body_count] description index of each model body
	int *joint_of;          // [desc body_count] joint that carries a body
	int *index_of;          // [desc body_count] model index of a body
	int *node_of;           // [desc node_count] model index of a node
	double *turn;           // [2 link_count] sine and cosine of the turn of each link frame; owns scratch too
	const FlexForm **forms; // [body_count] of flexible bodies, otherwise NULL
	int *scratch;           // [body_count + 2]
	// counts
	int body_count, link_count, node_count, nq, nu, accumulator_count;
	size_t string_size;
	int loop_count, row_count;
	Mechanism **mechanisms; // embedded ones of the group, in the order of their first bodies
	int mechanism_count;
	int flex_count, shape_count, mass_count, modal_columns; // flexible bodies
	size_t flex_numbers, flex_indices;                      // in their arrays
	// arrays of the block
	Link *links;
	LocalLink *local_links;
	Body *bodies;
	Node *nodes;
	Dof *dofs;
	double *rotor, *damping, *trig_offset;
	int32_t *spring_dof, *user_spring_link, *trig_q, *dof_parent, *dof_depth;
	size_t *mass_row;
	uint8_t *prescribed;
	BallSpring *ball_springs;
	char *strings;
	ModelIndex index;
	Loop *loops;
	Flex *flexes;
	FlexShape *shapes;
	FlexMass *masses;
	double *numbers;      // shapes, modal matrices and invariants; taken from the front
	double *number_block; // where they start
	int32_t *indices;     // of the invariants; taken from the front
	// filled so far
	int links_made, q_made, u_made, trig_made, flexes_made, shapes_made, masses_made, columns_made;
} Compiler;

/* A placement as a pose, and a copy of a string in the block. */
dpose compile_pose(CalPlacement p);
const char *compile_keep_string(Compiler *c, const char *text);
/* Orders the bodies of the group depth first, siblings as described. */
void compile_order(Compiler *c);
/* Flexible bodies: see compile_flex.c. Forms that the description keeps, or new ones; released whatever came of it. */
CalStatus compile_flex_forms(Compiler *c);
void compile_flex_release(Compiler *c);
void compile_flex_count(Compiler *c, int index);
int compile_flex_node_moves(const Compiler *c, CalNodeId node);
/* A flexible body whose joint ends with body->link, its head node at the pose X there; sets link and in_link. */
void compile_flex_body(Compiler *c, int index, const dpose *X);
/* Axes and points relative to the links that carry the bodies, once these are settled. */
void compile_flex_place(Compiler *c);
/* Once the inertias of the links are known: moments, invariants, and how the modes of each body are eliminated. */
void compile_flex_finish(Compiler *c);
/* Inertia invariants: see compile_invariants.c. */
void invariants_room(Compiler *c, const FlexForm *form);
void invariants_fill(Compiler *c, const FlexForm *form, Flex *flex);
double invariants_flops(const Flex *flex);
/* The link of a moving node; returns it. */
int compile_flex_node_link(Compiler *c, int body, int node);
/* Links of a flexible body: its frame, and a node with the shape; index of the new link. */
int compile_flex_own_link(Compiler *c, int body, int parent, const dpose *X, int flex);
int compile_flex_add_node_link(Compiler *c, int flex, int shape, int body);
/* Embedded mechanisms: see compile_mechanism.c. Their models; what they take; a body of one; their degrees of freedom. */
CalStatus compile_mechanisms(Compiler *c, const CalAllocator *allocator);
void compile_mechanisms_release(const Compiler *c, const CalAllocator *allocator);
void compile_mechanism_count(Compiler *c, const DescJoint *joint);
void compile_mechanism_body(Compiler *c, int index, const DescJoint *joint);
void compile_mechanism_dofs(Compiler *c, CalModel *model);
/* Loops: see compile_loop.c. */
void compile_loop_count(Compiler *c);
void compile_loops(Compiler *c, CalModel *model);
void compile_loop_units(const CalModel *model, Loop *loops); // once links and nodes are there
/* Turns link frames about their z: see frames.c. */
void compile_turn_frames(Compiler *c);
/* The model of a group whose structure was checked; no singularity check. */
CalStatus compile_checked(const CalDesc *desc, const CalCompileOptions *options, CalModel **model);
/* The same of one group of many. */
CalStatus compile_listed(const DescGroups *groups, const CalCompileOptions *options, CalModel **model);
/* desc_check_structure() with the first finding in error, which may be NULL. */
CalStatus compile_check_structure(const CalDesc *desc, CalGroupId group, CalError *error);
/* compile_listed() and the singularity check. */
CalStatus compile_group(const DescGroups *groups, const CalCompileOptions *options, CalModel **model, CalError *error);

#endif
