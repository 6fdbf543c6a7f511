// SPDX-License-Identifier: Apache-2.0
/*
 * random_tree.h — random models of every joint type with generic placements, and their test fixture.
 *
 * A Fixture holds the same system twice: the RefModel for the reference, and description, compiled model,
 * state and workspace of the library. After compiling, the RefModel is brought into the model's order, so
 * that vectors of coordinates and speeds are the same for both.
 */
#ifndef TEST_SUPPORT_RANDOM_TREE_H
#define TEST_SUPPORT_RANDOM_TREE_H

#include "reference/reference.h"
#include "support/check.h"
#include "support/rng.h"
#include "support/user_joint.h"

enum {
	TREE_ANY_JOINT = (1 << CAL_JOINT_TYPE_COUNT) - 1,
	TREE_ONE_DOF = 1 << CAL_JOINT_REVOLUTE | 1 << CAL_JOINT_PRISMATIC | 1 << CAL_JOINT_SCREW,
};

typedef struct TreeOptions {
	int bodies;
	unsigned joints; // set of 1 << CalJointType, 0: any
	int floating;    // the first body is free, and the only root
	int chain;       // no branches
	int massless;    // now and then a body without mass between others
	int springs;     // springs, dampers and rotors on some degrees of freedom
	int prescribed;  // some degrees of freedom described as prescribed
	int no_gravity;
	double flexible;    // chance that a body is flexible; never a massless one
	int max_modes;      // of a flexible body; 0: 8
	int foreshortening; // second-order shapes
	int geometric;      // geometric stiffness, which the reference leaves out
	int conservative;   // no modal damping
	double rate;        // size of the speeds; 0: 1
} TreeOptions;

/** A mixture of all of them, drawn from the seed: 1 to 12 bodies, springs, massless bodies, fixed or floating. */
TreeOptions tree_any(uint64_t seed);
/** The same with flexible bodies anywhere, carried by and carrying at any of their nodes, and faster. */
TreeOptions tree_flexible(uint64_t seed);

/** A random tree; release with ref_model_destroy() (the fixture does it). */
RefModel *random_tree(Rng *r, TreeOptions options);

/* Building by hand: each returns the new index. */
RefModel *ref_model_create(void);
int ref_model_add_body(RefModel *m, int parent, CalJointType type);
int ref_model_add_node(RefModel *m, int body, CalPlacement placement);
/** Makes a body flexible with new nodes, some of them its only mass. */
void random_flexibility(Rng *r, RefModel *m, int body, const TreeOptions *options);
/** One of the nodes of a body that the modes move, -1 if there is none. */
int random_flex_node(Rng *r, const RefModel *m, int body);

typedef struct Fixture {
	uint64_t seed;
	RefModel *ref; // in the model's order
	CalDesc *desc;
	CalModel *model;
	CalState state;
	CalWork *work;
	int nb, nq, nu;
	int *node;        // model's index of each node of ref
	int *body_of_ref; // model's index of each body in the order given
	double rate;      // size of the speeds that fixture_sample() draws
	/* set by fixture_sample(): */
	double *tau, *udot;
	uint8_t *prescribed;
	CalWrench ref_wrenches[4], wrenches[4];
	CalInput ref_input, input; // the same for both
	void **pool;
	int pool_count;
} Fixture;

/** Compiles ref, which the fixture then owns. Attachments are made in an order that depends on the seed. */
Fixture *fixture_create(RefModel *ref, uint64_t seed, CalSolver solver);
/** The same of a model that may be refused: NULL, ref is released and error says why. */
Fixture *fixture_try(RefModel *ref, uint64_t seed, CalSolver solver, CalError *error);
/** A random tree, sampled. */
Fixture *fixture_random(uint64_t seed, TreeOptions options, CalSolver solver);
void fixture_destroy(Fixture *f);
/** Zeroed numbers that live as long as the fixture. */
double *fixture_doubles(Fixture *f, int count);
/** Random well-conditioned state, forces, accelerations and wrenches; prescribed stays as described. */
void fixture_sample(Fixture *f, Rng *r);
/** Makes about a third of the degrees of freedom prescribed through the input. */
void fixture_prescribe(Fixture *f, Rng *r);

/** Part of fixture_create(): the flexibility of a body of ref into the description. */
void fixture_describe_flexible(Fixture *f, int body, CalBodyId id, const CalNodeId *nodes);

/** max of sum_j |M_ij x_j| + |h_i| + forces: what round-off in an equation of motion is relative to. */
double fixture_force_scale(Fixture *f, const double *udot);

#endif
