// SPDX-License-Identifier: Apache-2.0
/*
 * calder/dynamics.h — the algorithms: pure functions of (model, state, inputs, work) to outputs.
 *
 * Equations of motion:  M(q) udot + h(q,u) = tau + Q_gravity + Q_elastic + Q_external (+ prescribed
 * force), with Q_elastic the joint springs and dampers. Matrices are dense and row-major.
 * Closed loops (calder/loops.h): forward, hybrid and implicit dynamics and the compliance of nodes hold them; mass matrix,
 * its factor and inverse dynamics are those of the tree. calder/closed.h has these with the loops held.
 * No call allocates, locks or does I/O. Pointers are distinct unless a comment says otherwise.
 * Every call leaves in `work` what its comment says; the getters below it read from there and
 * return CAL_ERR_STAGE if it is not there.
 */
#ifndef CALDER_DYNAMICS_H
#define CALDER_DYNAMICS_H

#include <calder/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CalFrame {
	CAL_FRAME_WORLD, // axes of the group's frame
	CAL_FRAME_NODE,  // axes of the node
} CalFrame;

/** A wrench applied on a body at a node's origin. */
typedef struct CalWrench {
	int node;       // node index in the model
	CalFrame frame; // axes of the components
	CalSpatial f;   // moment [N m] and force [N]
} CalWrench;

/** Everything that acts on a system. Zero-initialized: nothing does. */
typedef struct CalInput {
	const double *tau;         // [nu] generalized forces; NULL: zero
	const uint8_t *prescribed; // [nu] nonzero: udot given; NULL: as described in the model
	const double *udot;        // [nu] read where prescribed; NULL: zero (locked)
	const CalWrench *wrenches; // [wrench_count]
	int wrench_count;          //
} CalInput;

/* ---- kinematics -------------------------------------------------------------------------- */

/** Poses, velocities and, if udot is not NULL, accelerations of everything. */
CAL_API CalStatus cal_kinematics(const CalModel *model, const CalState *state, const double *udot, CalWork *work);

/* World axes; a is the classical acceleration of the node's origin. */
/** After cal_kinematics, a forward dynamics or cal_mass_factor. */
CAL_API CalStatus cal_node_pose(const CalModel *model, const CalWork *work, int node, CalPose *pose);
/** After cal_kinematics. */
CAL_API CalStatus cal_node_velocity(const CalModel *model, const CalWork *work, int node, CalSpatial *velocity);
/** After cal_kinematics with udot, or a forward dynamics. */
CAL_API CalStatus cal_node_acceleration(const CalModel *model, const CalWork *work, int node, CalSpatial *a);
/** A_node = J udot + bias. After cal_kinematics. */
CAL_API CalStatus cal_node_bias(const CalModel *model, const CalWork *work, int node, CalSpatial *bias);
/** J[6 nu]: V_node = J u, rows angular-first. After cal_kinematics, a forward dynamics or cal_mass_factor. */
CAL_API CalStatus cal_node_jacobian(const CalModel *model, const CalWork *work, int node, double *J);
/** The same of `count` nodes: J[count][6][nu]. */
CAL_API CalStatus cal_node_jacobians(const CalModel *model, const CalWork *work, const int *nodes, int count,
                                     double *J);
/**
 * The degrees of freedom that can move a node, ascending: those of joints and modes between it and the ground. All other
 * columns of its Jacobian are zero. dofs[*count], or NULL: the number alone.
 */
CAL_API CalStatus cal_node_path(const CalModel *model, int node, int *count, int *dofs);
/** The columns of these degrees of freedom alone: J[6 count]. After what cal_node_jacobian() needs. */
CAL_API CalStatus cal_node_jacobian_path(const CalModel *model, const CalWork *work, int node, double *J);
/**
 * J[6 nu] and pose (may be NULL) of one node at state->q without cal_kinematics(): only links between the node and the ground
 * are posed. Leaves nothing in work.
 */
CAL_API CalStatus cal_node_jacobian_at(const CalModel *model, const CalState *state, int node, CalWork *work,
                                       CalPose *pose, double *J);

/* ---- forward ----------------------------------------------------------------------------- */

/**
 * Accelerations; udot[nu] of prescribed degrees of freedom is the given one. O(N) or dense as compiled.
 * CAL_SINGULAR or CAL_NOT_FINITE: udot is not valid, cal_work_failed_dof() says where.
 */
CAL_API CalStatus cal_forward_dynamics(const CalModel *model, const CalState *state, const CalInput *input,
                                       CalWork *work, double *udot);
/** The same, and force[nu]: what prescribed degrees of freedom need beyond input->tau (0 for free ones); may be NULL. */
CAL_API CalStatus cal_hybrid_dynamics(const CalModel *model, const CalState *state, const CalInput *input,
                                      CalWork *work, double *udot, double *force);

/**
 * Accelerations for a linearly implicit step: joint dampers, axial joint springs and the stiffness and damping of
 * modes act as they will a time h later, everything else as it is at `state`:
 *   (M + h D + h^2 K) udot = tau - h K u + (all other forces), with q and u of the elastic forces from `elastic`
 * (usually state itself). Stable for any stiffness. Always by the recursion.
 */
CAL_API CalStatus cal_implicit_dynamics(const CalModel *model, const CalState *state, const CalState *elastic,
                                        const CalInput *input, double h, CalWork *work, double *udot);

/* ---- inverse ----------------------------------------------------------------------------- */

/** tau[nu] that makes the system accelerate with udot (NULL: zero) under input's wrenches and gravity. */
CAL_API CalStatus cal_inverse_dynamics(const CalModel *model, const CalState *state, const double *udot,
                                       const CalInput *input, CalWork *work, double *tau);
/** h[nu]: velocity-dependent inertia forces alone. */
CAL_API CalStatus cal_bias_forces(const CalModel *model, const CalState *state, CalWork *work, double *h);
/** Q[nu] of gravity alone. */
CAL_API CalStatus cal_gravity_forces(const CalModel *model, const CalState *state, CalWork *work, double *Q);
/** Q[nu] of the joint springs and dampers. */
CAL_API CalStatus cal_elastic_forces(const CalModel *model, const CalState *state, CalWork *work, double *Q);
/** Q[nu] of input's wrenches. */
CAL_API CalStatus cal_external_forces(const CalModel *model, const CalState *state, const CalInput *input,
                                      CalWork *work, double *Q);

/**
 * Wrenches that act through every joint in the motion udot under input (tau is not read: actuation is
 * part of them). Leaves them in work; world axes, on the outboard body, at its head node's origin. Loops of the model
 * act with the forces that the last forward dynamics in this work found.
 */
CAL_API CalStatus cal_reactions(const CalModel *model, const CalState *state, const double *udot, const CalInput *input,
                                CalWork *work);
CAL_API CalStatus cal_joint_reaction(const CalModel *model, const CalWork *work, int body, CalSpatial *wrench);

/** The same wrench referred to the point p instead of o, or in the axes of R (components R' f). */
CAL_API CalSpatial cal_wrench_shift(CalSpatial wrench, CalVec3 o, CalVec3 p);
CAL_API CalSpatial cal_wrench_express(CalSpatial wrench, const CalMat3 *R);

/* ---- mass matrix ------------------------------------------------------------------------- */

/** M[nu nu], reflected rotor inertias included. Composite bodies, O(N depth). */
CAL_API CalStatus cal_mass_matrix(const CalModel *model, const CalState *state, CalWork *work, double *M);
/** Its lower triangle, M[i nu + j] with j <= i; the others are neither read nor written. calder/sparse_mass.h: without zeros. */
CAL_API CalStatus cal_mass_matrix_lower(const CalModel *model, const CalState *state, CalWork *work, double *M);
/** y[nu] = M x at state->q, O(N); y is not x. */
CAL_API CalStatus cal_mass_mul(const CalModel *model, const CalState *state, const double *x, CalWork *work, double *y);
/** Factors M at state->q by the recursion, O(N); the calls below then use it. */
CAL_API CalStatus cal_mass_factor(const CalModel *model, const CalState *state, CalWork *work);
/** x[nu] = M^-1 b, O(N); x may be b. */
CAL_API CalStatus cal_mass_solve(const CalModel *model, CalWork *work, const double *b, double *x);
/** The same for `count` right-hand sides, rows of b[count nu] and x[count nu]; each has the bits of cal_mass_solve(). x may be b. */
CAL_API CalStatus cal_mass_solve_many(const CalModel *model, CalWork *work, int count, const double *b, double *x);
/** Minv[nu nu], exactly symmetric. O(nu^2). */
CAL_API CalStatus cal_mass_inverse(const CalModel *model, CalWork *work, double *Minv);
/** log(det M). */
CAL_API CalStatus cal_mass_logdet(const CalModel *model, const CalWork *work, double *logdet);
/** trace(M), from composite inertias, O(N). */
CAL_API CalStatus cal_mass_trace(const CalModel *model, const CalState *state, CalWork *work, double *trace);
/**
 * Operational-space compliance of `count` nodes, the accelerations of the nodes per wrench on them:
 * C[6count 6count], world axes, angular-first, exactly symmetric. The loops of the model are held:
 *   C = J (M^-1 - M^-1 G'(G M^-1 G')^+ G M^-1) J'
 * and every dof is free, those described as prescribed too. After cal_mass_factor, which stays valid, or after
 * cal_closed_factor (calder/closed.h), which can hold dofs. 6 count sweeps, O(N + rows) each; uses scratch[nu].
 * CAL_SINGULAR, CAL_NOT_FINITE and CAL_NOT_CONVERGED: as from forward dynamics.
 */
CAL_API CalStatus cal_node_compliance(const CalModel *model, CalWork *work, const int *nodes, int count,
                                      double *scratch, double *C);
/** J M^-1 J' of the tree, whose loops are open. After cal_mass_factor; uses scratch[nu]. */
CAL_API CalStatus cal_node_compliance_tree(const CalModel *model, CalWork *work, const int *nodes, int count,
                                           double *scratch, double *C);
/**
 * Operational-space inertia, the pseudo-inverse of cal_node_compliance() in SI units: Lambda[6count 6count], exactly
 * symmetric; directions in which the nodes cannot move have none. rank (may be NULL): of the compliance; eigenvalues
 * below 1e-10 of the largest count as zero. Uses scratch[max(nu, 6count (6count + 3))].
 */
CAL_API CalStatus cal_node_inertia(const CalModel *model, CalWork *work, const int *nodes, int count, double *scratch,
                                   double *Lambda, int *rank);

/* ---- energy and momentum ----------------------------------------------------------------- */

typedef struct CalEnergy {
	double kinetic; // bodies and rotors [J]
	double gravity; // -sum m g.r [J]
	double elastic; // joint springs [J]
	double total;   // their sum [J]
} CalEnergy;

typedef struct CalMomentum {
	double mass;            // [kg]
	CalVec3 com;            // center of mass [m]
	CalVec3 linear;         // [kg m/s]
	CalVec3 angular_origin; // about the origin of the group's frame [kg m^2/s]
	CalVec3 angular_com;    // about the center of mass [kg m^2/s]
} CalMomentum;

/** Rotors count in the kinetic energy as 1/2 reflected_inertia u^2, and not in the momentum. */
CAL_API CalStatus cal_energy(const CalModel *model, const CalState *state, CalWork *work, CalEnergy *energy);
CAL_API CalStatus cal_momentum(const CalModel *model, const CalState *state, CalWork *work, CalMomentum *momentum);

#ifdef __cplusplus
}
#endif
#endif
