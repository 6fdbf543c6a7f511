// SPDX-License-Identifier: Apache-2.0
/*
 * calder/model.h — the compiled model, its state and its workspace.
 *
 * CalModel: one group, sorted parent-first (depth first, in the order of the description), flat,
 * immutable, one allocation; any number of threads may share it. CalState: t, q, u, the whole truth
 * between steps. CalWork: scratch and results of one evaluation; one per thread.
 */
#ifndef CALDER_MODEL_H
#define CALDER_MODEL_H

#include <calder/build.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalModel CalModel;
typedef struct CalWork CalWork;

typedef enum CalSolver {
	CAL_SOLVER_AUTO, // RECURSIVE: faster but for one or two bodies on prismatic or screw joints, and there by little
	CAL_SOLVER_RECURSIVE, // articulated-body recursion, O(N)
	CAL_SOLVER_DENSE,     // mass matrix and Cholesky, O(N^3): an independent second solution
} CalSolver;

/** How the inertia of a flexible body follows from its modal coordinates; all give the same to round-off. */
typedef enum CalModalInertia {
	CAL_MODAL_INERTIA_AUTO = 0,         // by estimated cost, for each body
	CAL_MODAL_INERTIA_SUMS,             // sums over the masses: cost of masses times modes
	CAL_MODAL_INERTIA_INVARIANTS,       // precomputed moments, zeros left out: cost of those that are left
	CAL_MODAL_INERTIA_DENSE_INVARIANTS, // precomputed moments, all of them: cost of modes squared
} CalModalInertia;

/** How closed loops are solved; all give the same to round-off. */
typedef enum CalLoopSolver {
	CAL_LOOPS_AUTO = 0,    // EARLY or COUPLED where many loops meet, else ELIMINATION; with the dense solver CUT_JOINT
	CAL_LOOPS_ELIMINATION, // each is eliminated where it closes: cost linear in bodies and local loops; always recursive
	CAL_LOOPS_CUT_JOINT,   // all rows in one dense system: cost cubic in their number
	CAL_LOOPS_EARLY,       // those that close on the ground are eliminated as soon as joints outboard satisfy them
	CAL_LOOPS_COUPLED, // loops between chains couple links of both, in an order with little fill, where there is one
} CalLoopSolver;

typedef struct CalCompileOptions {
	CalGroupId group;              // {0}: the default group
	CalSolver solver;              //
	CalAllocator allocator;        // {0}: malloc
	CalModalInertia modal_inertia; // second-order masses are always summed
	CalLoopSolver loops;           //
} CalCompileOptions;

/** One group of a description as a model. CAL_ERR_MODEL: error says what is wrong with the description. */
CAL_API CalStatus cal_model_compile(const CalDesc *desc, const CalCompileOptions *options, CalModel **model,
                                    CalError *error);
CAL_API void cal_model_destroy(CalModel *model);      // accepts NULL
CAL_API size_t cal_model_size(const CalModel *model); // bytes of the one block

/** Bodies, nodes, coordinates, degrees of freedom: indices run from 0 to these less one. */
CAL_API int cal_model_body_count(const CalModel *model);
CAL_API int cal_model_node_count(const CalModel *model);
CAL_API int cal_model_q_count(const CalModel *model); // coordinates
CAL_API int cal_model_u_count(const CalModel *model); // speeds = degrees of freedom
/** Elementary links of the recursion: see calder/operators.h. */
CAL_API int cal_model_link_count(const CalModel *model);
CAL_API CalSolver cal_model_solver(const CalModel *model);               // never AUTO
CAL_API double cal_model_flops(const CalModel *model, CalSolver solver); // estimate for one forward dynamics
CAL_API CalVec3 cal_model_gravity(const CalModel *model);
CAL_API CalPropagation cal_model_propagation(const CalModel *model);
CAL_API const char *cal_model_name(const CalModel *model); // of the group

/** A body of the model and the joint that carries it (index = position in the model's order). */
typedef struct CalBodyInfo {
	const char *name;    //
	CalBodyId id;        // in the description
	int parent;          // body index, -1: ground
	int node;            // node index of its own frame
	double mass;         // of the rigid part [kg]
	double lumped_mass;  // of the nodes of a flexible body [kg]
	CalVec3 com;         // in the body frame [m]
	CalMat3 inertia;     // about the center of mass, body axes [kg m^2]
	const char *joint;   // name of the inboard joint
	CalJointId joint_id; // in the description
	CalJointType type;   // of the inboard joint
	int q, nq;           // its coordinates are q[q .. q+nq-1]
	int u, nu;           // its speeds are u[u .. u+nu-1]
	int modes;           // modal coordinates are q[q+nq .. q+nq+modes-1], modal speeds u[u+nu .. u+nu+modes-1]
	int inboard_node;    // node of the parent that carries the joint, -1: the ground's origin
	int head_node;       // node of this body that the joint carries
	int link, nlink;     // its elementary links; 0 links: welded to its parent
	int mechanism;       // embedded mechanism that it is part of (calder/mechanism.h), counted from 1; 0: none
} CalBodyInfo;

/** A body and the joint that carries it. */
CAL_API CalStatus cal_model_body(const CalModel *model, int body, CalBodyInfo *info);

/** Properties of degree of freedom u (the rotor's inertia already reflected to the joint). */
typedef struct CalDofInfo {
	int body;  // the body whose joint it belongs to
	int index; // its place in that joint
	int q;     // its coordinate, or -1 if it has none of its own (quaternions)
	double stiffness, rest, damping, reflected_inertia;
	int prescribed; // as described; CalInput may override
} CalDofInfo;
CAL_API CalStatus cal_model_dof(const CalModel *model, int u, CalDofInfo *info);

/** "joint", or "joint.wx" where it has several, or "body.etadot1" of a mode; returns the length as snprintf does. */
CAL_API int cal_model_dof_name(const CalModel *model, int u, char *buffer, size_t size);
/** The same of a coordinate: "joint.qw", "body.eta1". */
CAL_API int cal_model_q_name(const CalModel *model, int q, char *buffer, size_t size);

/** Coordinate q or speed u within its joint ("x", "qw"; "vx", "wx"), or within its body ("eta1"; "etadot1"). */
CAL_API CalStatus cal_model_coordinate(const CalModel *model, int q, CalCoordinateInfo *info);
CAL_API CalStatus cal_model_speed(const CalModel *model, int u, CalCoordinateInfo *info);

/** A node of the model. */
typedef struct CalNodeInfo {
	const char *name; //
	CalNodeId id;     // in the description
	int body;         // body index, -1: ground
	CalPose pose;     // in the body frame
} CalNodeInfo;
CAL_API CalStatus cal_model_node(const CalModel *model, int node, CalNodeInfo *info);

/* Indices by name or id; -1 if the model has no such object. Node: "body/node" or "body". */
CAL_API int cal_model_find_body(const CalModel *model, const char *name);
CAL_API int cal_model_find_node(const CalModel *model, const char *path);
CAL_API int cal_model_find_joint(const CalModel *model, const char *name); // the body it carries
CAL_API int cal_model_body_index(const CalModel *model, CalBodyId id);
CAL_API int cal_model_joint_index(const CalModel *model, CalJointId id); // the body it carries
CAL_API int cal_model_node_index(const CalModel *model, CalNodeId id);

/* ---- state ------------------------------------------------------------------------------- */

typedef struct CalState {
	double t;  // time [s]
	double *q; // coordinates [cal_model_q_count]
	double *u; // speeds [cal_model_u_count]
	double *x; // states of devices beside them (CalSystem.nx of calder/integrate.h); a model alone has none: NULL
} CalState;

/** Bytes of memory for the arrays of a state; cal_state_init places them and sets the neutral state. */
CAL_API size_t cal_state_size(const CalModel *model);
CAL_API CalStatus cal_state_init(const CalModel *model, void *memory, size_t size, CalState *state);
/** The same with memory from malloc; to be released by cal_state_destroy. */
CAL_API CalStatus cal_state_create(const CalModel *model, CalState *state);
CAL_API void cal_state_destroy(CalState *state);
CAL_API void cal_state_copy(const CalModel *model, const CalState *from, CalState *to); // t, q and u

/* ---- configuration manifold -------------------------------------------------------------- */

/** All joints at zero, quaternions at identity. */
CAL_API void cal_config_neutral(const CalModel *model, double *q);
/** q_out = q + dq: dq[nu] is a speed held for unit time (exponential map on rotations). May alias. */
CAL_API void cal_config_integrate(const CalModel *model, const double *q, const double *dq, double *q_out);
/** dq[nu] such that cal_config_integrate(q0, dq) = q1, along the shorter rotation. */
CAL_API void cal_config_difference(const CalModel *model, const double *q0, const double *q1, double *dq);
/** Rate of delta when the configuration is integrate(q0, delta) and the speeds are u. */
CAL_API void cal_config_rate(const CalModel *model, const double *delta, const double *u, double *delta_dot);
/** Makes quaternions unit; CAL_NOT_FINITE (and q unchanged) if one is zero or not finite. */
CAL_API CalStatus cal_config_normalize(const CalModel *model, double *q);

/* ---- workspace --------------------------------------------------------------------------- */

/** Bytes for one workspace; the memory must be aligned to 64 bytes. Nothing is allocated later. */
CAL_API size_t cal_work_size(const CalModel *model);
CAL_API CalStatus cal_work_init(const CalModel *model, void *memory, size_t size, CalWork **work);
/** The same with memory from malloc. */
CAL_API CalStatus cal_work_create(const CalModel *model, CalWork **work);
CAL_API void cal_work_destroy(CalWork *work);

/** After CAL_SINGULAR or CAL_NOT_FINITE: the degree of freedom that was met first, or -1. */
CAL_API int cal_work_failed_dof(const CalWork *work);

#ifdef __cplusplus
}
#endif
#endif
