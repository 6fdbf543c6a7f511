// SPDX-License-Identifier: Apache-2.0
/*
 * flex_body.h — a flexible body as the sweeps see it [THEORY 2.1, 2.2].
 *
 * A flexible body is a link that carries its body frame B, and one massless link (motion NODE) for every node that
 * carries a joint. Both move with the same modal coordinates: a NODE relative to B by its shapes, B relative to the
 * head node by those of the head, inverted. So a mode has a column on each of these links, and the rest of the
 * recursion is as for any tree.
 *
 * Components are in the axes of B, in which shapes have zeros, or in those of the link that carries it, where the two
 * differ by right angles only; points are relative to the origin of that link. Everything per mode is stored by
 * component, in rows (math/pack.h): n is the length of a row.
 */
#ifndef CALDER_FLEXBODY_FLEX_BODY_H
#define CALDER_FLEXBODY_FLEX_BODY_H

#include <calder/build.h>

#include "math/inertia.h"
#include "math/pack.h"

/* How the modes move one node: position p + phi eta (+ eta'phi2 eta), axes exp([psi eta]x) E in B. */
typedef struct FlexShape {
	dvec3 p;
	dmat3 E;
	int moves;          // 0: no shapes
	int turned;         // E is not the identity
	const double *phi;  // [3][n] translation per mode
	const double *psi;  // [3][n] rotation per mode
	const double *phi2; // [m][3][n] second-order translation, symmetric in the modes; NULL: none
} FlexShape;

/* A point mass. */
typedef struct FlexMass {
	double m;
	dvec3 p;
	const double *phi;  // [3][n]
	const double *phi2; // [m][3][n]; NULL: none
} FlexMass;

/* What the modes do not change: mass, first moment and second moment (rotary inertias included). */
typedef struct FlexRigid {
	double m;
	dvec3 mc;
	double xx, yy, zz, xy, xz, yz;
} FlexRigid;

/* Components of the invariants: symmetric (off the diagonal the mean of two), and axial: zy - yz, xz - zx, yx - xy. */
enum { FLEX_XX, FLEX_YY, FLEX_ZZ, FLEX_XY, FLEX_XZ, FLEX_YZ, FLEX_X, FLEX_Y, FLEX_Z, FLEX_COMPONENTS };

/*
 * Inertia invariants of the masses with first-order shapes: C_k = sum m phi_k r' = C0_k + sum_l G_kl eta_l, nine
 * components each, G_kl = sum m phi_k phi_l'. Of G the blocks of a pack of modes k and one mode l that are not zero are
 * kept, for every pack and component in turn, four of them as one where they are a diagonal; where there is only one
 * pack, all four or none.
 */
typedef struct FlexInvariants {
	unsigned components;  // bit c: component c is not zero throughout; none: no masses in the invariants
	const int32_t *some;  // [packs] the same of each pack of modes
	const int32_t *grows; // [packs] bit c: it depends on eta there
	const double *C0;     // [9][n]
	const int32_t *first; // [9 packs + 1] of each pack and component, in the arrays below
	const int32_t *mode;  // l, or of a diagonal ~l with l the first of its four
	const double *G;      // [..][PACK]
} FlexInvariants;

enum { FLEX_MAX_PORTS = 4 }; // joints on a body that the linear elimination takes

typedef struct Flex {
	int m, n;           // modes, and the length of their rows
	int body;           // index in the model
	int link;           // that carries B
	int q, u;           // first modal coordinate and speed
	dmat3 R;            // axes of these numbers in the link
	int turned;         // R is not the identity
	dmat3 right_angles; // from the axes of B to those of these numbers
	int mass_count;     //
	int summed_first;   // masses from here on enter by sums over them, the ones before by the invariants
	const FlexMass *masses;
	FlexInvariants inv;
	FlexRigid own;     // rotary inertias, and masses in the invariants
	FlexRigid all;     // the same with what else the link carries
	const double *Mee; // [m][n] modal mass of all but the masses with second-order shapes
	const double *K;   // [m][m] stiffness
	const double *D;   // [m][m] damping, NULL: none
	const double *s1;  // [3][n] sum m phi of the same masses: linear momentum per modal speed
	const double *c;   // [3][n] sum J psi: angular momentum of the rotary inertias per modal speed; NULL: zero
	// [m][12][n] geometric stiffness per unit acceleration a (3) and gradient W (9) at the link's origin; NULL: none
	const double *geometric;
	FlexShape head; // of the node that the joint carries
	int shape_first, shape_end;
	int by_ports;              // modes are eliminated by flexible_linear.c in forward dynamics
	int fused;                 // four modes, and one joint on the next link: forward dynamics takes both at once
	int diagonal;              // stiffness and damping are
	int port_count;            // NODE links on it
	int ports[FLEX_MAX_PORTS]; // their indices, if not more than these
	const CalLinkOps *ops;     // of a link of the caller's own, NULL: modes
	const void *ops_data;      //
	const double *neutral;     // [m] coordinates of the neutral configuration, NULL: zero
	dvec3 origin;              // of B from that of the link, in the axes of B
} Flex;

#endif
