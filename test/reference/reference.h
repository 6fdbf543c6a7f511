// SPDX-License-Identifier: Apache-2.0
/*
 * reference.h — textbook multibody dynamics, the second opinion of every test.
 *
 * Nothing here uses the library: a RefModel is a list of definitions as a user would write them, and the
 * functions work from positions and plain vector algebra (relative motion, d'Alembert sums, dense LDL')
 * or, for rigid bodies, from Featherstone's 6x6 matrices in body coordinates. Clarity counts, speed does not.
 * Of closed loops (loop.h) only the functions named loop and project take notice; the others see the tree.
 *
 * Every function exists twice from one source: ref_xxx computes with double, refq_xxx with 113-bit
 * numbers; both take and give doubles, so that refq_xxx is the rounded exact answer.
 */
#ifndef TEST_REFERENCE_H
#define TEST_REFERENCE_H

#include <calder/dynamics.h>

#include "reference/loop.h"

/*
 * An elementary joint. CAM: rotation by angle[0] q + angle[1] q^2 about axis, and displacement
 * shift[0] q + shift[1] q^2 + shift[2] q^3 of the origin, which contains revolute, prismatic and screw.
 * BALL: quaternion; speeds are the relative angular velocity in outboard components (BALL_INBOARD: inboard).
 */
typedef enum RefElementKind { REF_CAM, REF_BALL, REF_BALL_INBOARD } RefElementKind;

typedef struct RefElement {
	RefElementKind kind;
	CalVec3 axis; // any length
	double angle[2];
	CalVec3 shift[3];
} RefElement;

enum { REF_MAX_ELEMENTS = 6 };

typedef struct RefElements {
	int count;
	RefElement element[REF_MAX_ELEMENTS];
} RefElements;

/* On a flexible body a node moves with the modes and may carry mass; the arrays belong to the model. */
typedef struct RefNode {
	char name[32];
	int body; // -1: ground
	CalPlacement placement;
	double mass;
	CalMat3 inertia;          // constant in B
	double *phi, *psi, *phi2; // [3][modes], [3][modes], [3][modes][modes], or NULL
} RefNode;

typedef struct RefBody {
	char name[32], joint_name[32];
	double mass;
	CalVec3 com;
	CalMat3 inertia;
	int parent;        // body index, below this one's; -1: ground
	int parent_node;   // node index, -1: the parent's own frame
	int head_node;     // node index, -1: the body's own frame
	CalJointDef joint; // name not set
	RefElements *user; // USER: what its functions do (also joint.ops_data)
	int modes;         // modal coordinates and speeds follow those of the joint
	double *stiffness; // [modes][modes]
	double *damping;   // [modes][modes] or NULL
	double *geometric; // [CAL_FLEX_GEOMETRIC][modes][modes] or NULL; the reference has none
	double *start_q;   // [nq + modes] coordinates to start from, NULL: none given
	double *start_u;   // [nu + modes]
	// set by ref_model_index():
	RefElements elements;
	int q, nq, u, nu; // of the joint; q[q+nq ..] and u[u+nu ..] are modal
} RefBody;

typedef struct RefModel {
	CalVec3 gravity;
	int body_count, node_count, loop_count, nq, nu;
	RefBody *bodies; // parents first
	RefNode *nodes;
	RefLoop *loops;
} RefModel;

/** Sets elements, counts and offsets of every body from its definition. */
void ref_model_index(RefModel *m);
void ref_model_destroy(RefModel *m);
/** A new loop of the model without ends, named by its number; valid until the next one is added. */
RefLoop *ref_model_add_loop(RefModel *m, RefLoopType type);
/** Constraint equations of all loops. */
int ref_model_rows(const RefModel *m);
/** Takes q[nq] and u[nu] as the state to start from, or gives it (neutral and at rest where none is given). */
void ref_model_set_start(RefModel *m, const double *q, const double *u);
void ref_model_start(const RefModel *m, double *q, double *u);
/** Coordinates and speeds of one element. */
int ref_element_nq(const RefElement *e);
int ref_element_nu(const RefElement *e);

typedef struct RefMotion {
	CalPose pose;
	CalSpatial velocity;
	CalSpatial acceleration; // classical
} RefMotion;

/** Inputs are a CalInput whose wrenches name nodes of the RefModel. */
#define REF_DECLARE(P)                                                                                                 \
	/* relative motion of the joint's moved frame J in F: pose, columns[nu], bias acceleration (any may be NULL) */    \
	void P##_joint(const RefElements *e, const double *q, const double *u, CalPose *X, CalSpatial *columns,            \
	               CalSpatial *bias);                                                                                  \
	void P##_elements_integrate(const RefElements *e, const double *q, const double *dq, double *out);                 \
	void P##_elements_difference(const RefElements *e, const double *q0, const double *q1, double *dq);                \
	void P##_elements_rate(const RefElements *e, const double *delta, const double *u, double *rate);                  \
	void P##_config_integrate(const RefModel *m, const double *q, const double *dq, double *out);                      \
	void P##_config_difference(const RefModel *m, const double *q0, const double *q1, double *dq);                     \
	void P##_config_rate(const RefModel *m, const double *delta, const double *u, double *rate);                       \
	/* motion of all body frames and all nodes; bodies or nodes may be NULL, udot NULL: zero */                        \
	void P##_kinematics(const RefModel *m, const double *q, const double *u, const double *udot, RefMotion *bodies,    \
	                    RefMotion *nodes);                                                                             \
	/* the same from positions alone, differentiated numerically along the motion */                                   \
	void P##_kinematics_numeric(const RefModel *m, const double *q, const double *u, const double *udot,               \
	                            RefMotion *bodies, RefMotion *nodes);                                                  \
	void P##_jacobian(const RefModel *m, const double *q, int node, double *J);                                        \
	void P##_mass_matrix(const RefModel *m, const double *q, double *M);                                               \
	void P##_bias_forces(const RefModel *m, const double *q, const double *u, double *h);                              \
	void P##_gravity_forces(const RefModel *m, const double *q, double *Q);                                            \
	void P##_elastic_forces(const RefModel *m, const double *q, const double *u, double *Q);                           \
	void P##_external_forces(const RefModel *m, const double *q, const CalInput *in, double *Q);                       \
	/* inverse dynamics by sums over bodies, and by Featherstone's recursion (rigid bodies only) */                    \
	void P##_inverse_sums(const RefModel *m, const double *q, const double *u, const double *udot, const CalInput *in, \
	                      double *tau);                                                                                \
	void P##_inverse_recursive(const RefModel *m, const double *q, const double *u, const double *udot,                \
	                           const CalInput *in, double *tau);                                                       \
	/* wrench through each joint on its body, at the head node, world axes */                                          \
	void P##_reactions(const RefModel *m, const double *q, const double *u, const double *udot, const CalInput *in,    \
	                   CalSpatial *wrench);                                                                            \
	/* forward (hybrid) dynamics: M and LDL', and the articulated-body algorithm; nonzero: singular */                 \
	int P##_forward_dense(const RefModel *m, const double *q, const double *u, const CalInput *in, double *udot);      \
	int P##_forward_articulated(const RefModel *m, const double *q, const double *u, const CalInput *in,               \
	                            double *udot);                                                                         \
	/* log det and inverse of M by dense LDL' */                                                                       \
	int P##_mass_inverse(const RefModel *m, const double *q, double *Minv, double *logdet);                            \
	/* loops at time t: residual[rows], rate[rows], G[rows nu], gamma[rows] (loop.h); any may be NULL */               \
	void P##_loop_rows(const RefModel *m, double t, const double *q, const double *u, double *residual, double *rate,  \
	                   double *G, double *gamma);                                                                      \
	/* rate, G and gamma by numerical differentiation of the residuals (rows without position: of the rates) */        \
	void P##_loop_rows_numeric(const RefModel *m, double t, const double *q, const double *u, double *rate, double *G, \
	                           double *gamma);                                                                         \
	/* forces of all loops for given multipliers */                                                                    \
	void P##_loop_forces(const RefModel *m, const double *q, const double *lambda, RefLoopForce *force);               \
	/* forward dynamics with loops and their known forces, minimum-norm multipliers; nonzero: M is singular */         \
	int P##_loop_forward(const RefModel *m, double t, const double *q, const double *u, const CalInput *in,            \
	                     RefSolution *out);                                                                            \
	/* wrenches through the joints of the tree, loops included */                                                      \
	void P##_loop_reactions(const RefModel *m, const double *q, const double *u, const double *udot,                   \
	                        const CalInput *in, const double *lambda, CalSpatial *wrench);                             \
	/* Gauss-Newton steps, each the shortest in the weight, of the speeds not frozen[nu] (or NULL); out may be q */    \
	RefProjection P##_project_position(const RefModel *m, double t, const double *q, RefWeight weight,                 \
	                                   const uint8_t *frozen, int max_iterations, double *out);                        \
	/* the same of u, one step; impulse[rows]: the multipliers of the change. Either output may be NULL */             \
	RefProjection P##_project_velocity(const RefModel *m, double t, const double *q, const double *u,                  \
	                                   RefWeight weight, const uint8_t *frozen, double *u_out, double *impulse);       \
	CalEnergy P##_energy(const RefModel *m, const double *q, const double *u);                                         \
	CalMomentum P##_momentum(const RefModel *m, const double *q, const double *u);

REF_DECLARE(ref)
REF_DECLARE(refq)
#undef REF_DECLARE

#endif
