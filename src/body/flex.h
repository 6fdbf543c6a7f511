// SPDX-License-Identifier: Apache-2.0
/*
 * flex.h — a flexible body as the sweeps see it [THEORY 2].
 *
 * A flexible body is a link (motion FLEX) that carries its body frame B, and one massless link (motion NODE)
 * for every node that carries a joint. Both move with the same modal coordinates: a NODE relative to B by
 * its shapes, B relative to the head node by those of the head, inverted. So a mode has a column on each of
 * these links, and the rest of the recursion is as for any tree.
 *
 * Point masses sit at nodes with shapes; rotary inertias are constant in B, so that only their sums matter.
 */
#ifndef CALDER_BODY_FLEX_H
#define CALDER_BODY_FLEX_H

#include "math/inertia.h"

/* How the modes move one node: position p + phi eta, axes exp([psi eta]x) E in B. */
typedef struct FlexShape {
	dvec3 p;
	dmat3 E;
	int moves;         // 0: no shapes
	const dvec3 *phi;  // [m] translation per mode
	const dvec3 *psi;  // [m] rotation per mode
	const dvec3 *phi2; // [m][m] second-order translation, symmetric; NULL: none
} FlexShape;

/* A point mass. */
typedef struct FlexMass {
	double m;
	dvec3 p;
	const dvec3 *phi;  // [m]
	const dvec3 *phi2; // [m][m] symmetric; NULL: none
} FlexMass;

enum { FLEX_MAX_PORTS = 4 }; // joints on a body that the linear elimination takes

typedef struct Flex {
	int m;          // modes
	int body;       // index in the model
	int link;       // that carries B
	int q, u;       // first modal coordinate and speed
	int mass_count; //
	const FlexMass *masses;
	const double *Mee; // [m][m] modal mass of all but the masses with second-order shapes
	const double *K;   // [m][m] stiffness
	const double *D;   // [m][m] damping, NULL: none
	const dvec3 *s1;   // [m] sum m phi of the same: linear momentum per modal speed
	const dvec3 *c;    // [m] sum J psi: angular momentum of the rotary inertias per modal speed
	dmat3 J;           // sum of the rotary inertias
	FlexShape head;    // of the node that the joint carries
	dvec3 *vectors;    // [vector_count] all of its shapes and moments, in the axes of the link
	int vector_count, shape_first, shape_end;
	int linear;                // modes are eliminated by flexible_linear.c in forward dynamics
	int diagonal;              // stiffness and damping are
	int port_count;            // NODE links on it
	int ports[FLEX_MAX_PORTS]; // their indices, if not more than these
} Flex;

/* A node of a flexible body relative to B; components in B. */
typedef struct FlexPose {
	vec3 rho;    // p + phi eta
	mat3 R;      // exp([psi eta]x) E
	vec3 v;      // phi eta_dot
	vec3 w;      // T psi eta_dot
	vec3 w_rest; // T_dot psi eta_dot
	vec3 v_rest; // 2 eta_dot'phi2 eta_dot
	const real *eta;
	mat3 T; // tangent of the exponential map
} FlexPose;

/* Moves of one node for (eta, eta_dot); eta_dot may be NULL: no rates. */
void LANED(flex_pose)(const FlexShape *shape, int m, const real *eta, const real *eta_dot, FlexPose *out);

/* phi_k + 2 phi2_k eta */
vec3 LANED(flex_translation)(const dvec3 *phi, const dvec3 *phi2, int m, const real *eta, int k);

/* Column of mode k at a node, in B: [T psi; phi + 2 phi2 eta]. */
INLINE spatial flex_column(const FlexShape *shape, const FlexPose *pose, int m, int k) {
	if (!shape->moves)
		return spatial_zero();
	return (spatial){mat_mul_dvec(pose->T, shape->psi[k]),
	                 shape->phi2 ? LANED(flex_translation)(shape->phi, shape->phi2, m, pose->eta, k)
	                             : vec_from(shape->phi[k])};
}

/* Motion of B in its own axes, at eta_ddot = 0. */
typedef struct FlexMotion {
	vec3 w, al, a; // a minus gravity
} FlexMotion;

/* Inertia of the point masses and rotary inertias (the rigid part is the link's own), in B. */
typedef struct FlexInertia {
	real m;
	vec3 mc;
	sym3 S; // second moment, the rotary inertias included
} FlexInertia;

/* Where the modal terms go; components in B. */
typedef struct FlexTerms {
	spatial *E;    // [m] force at the origin of B per modal acceleration (M_re)
	real *M;       // [m][m] modal mass; NULL: not wanted (no second-order shapes, no eta_ddot)
	real *be;      // [m] modal forces that the motion needs
	spatial force; // force at B that it needs
	vec3 *scratch; // [m]
} FlexTerms;

/* Everything at (eta, eta_dot); motion NULL: inertia alone. eta_ddot (NULL: zero) is part of the motion. */
void LANED(flex_terms)(const Flex *flex, const real *eta, const real *eta_dot, const real *eta_ddot,
                       const FlexMotion *motion, FlexInertia *inertia, FlexTerms *out);

#endif
