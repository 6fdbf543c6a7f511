// SPDX-License-Identifier: Apache-2.0
/*
 * composite.h — composite inertias and the mass matrix, over `real`.
 */
#ifndef CALDER_DYNAMICS_TREE_COMPOSITE_H
#define CALDER_DYNAMICS_TREE_COMPOSITE_H

#include "dynamics/tree/sweep.h"

/* Where the mass matrix is written. Entries off the paths of the tree are zero and not touched. */
typedef enum MassForm {
	MASS_DENSE,  // both triangles, nu rows of nu
	MASS_LOWER,  // the same, the upper triangle not touched
	MASS_SPARSE, // the lower triangle by model->mass_row: entry d of a row is that of the dof of depth d
} MassForm;

/* Outward: poses, and each link's own moments in world axes in work->composite. */
void LANED(composite_outward)(const CalModel *model, const real *q, CalWork *work);
/* Inward: work->composite holds the links' own moments in world axes and becomes the composites'. */
void LANED(composite_inward)(const CalModel *model, CalWork *work);
/* The same, and on the way M, which is zero where modes are. */
void LANED(composite_matrix)(const CalModel *model, MassForm form, CalWork *work, real *M);

INLINE void composite_add(Composite *to, const Composite *c) {
	*to = (Composite){to->m + c->m, add(to->mc, c->mc), sym_add(to->Sigma, c->Sigma)};
}

/* Force that the composite of link i needs for a unit acceleration along S. */
INLINE spatial composite_mul(const Composite *c, spatial S) {
	const sym3 I = inertia_from_second_moment(c->Sigma);
	return (spatial){add(sym_mul_vec(I, S.a), cross(c->mc, S.l)), madd(cross(S.a, c->mc), c->m, S.l)};
}

/* The same for S = [z; 0] and for S = [0; z]. */
INLINE spatial composite_mul_rotation(const Composite *c, vec3 z) {
	return (spatial){sym_mul_vec(inertia_from_second_moment(c->Sigma), z), cross(z, c->mc)};
}
INLINE spatial composite_mul_translation(const Composite *c, vec3 z) {
	return (spatial){cross(c->mc, z), scale(c->m, z)};
}

#endif
