// SPDX-License-Identifier: Apache-2.0
/*
 * composite.h — composite inertias and the mass matrix, over `real`.
 */
#ifndef CALDER_DYNAMICS_TREE_COMPOSITE_H
#define CALDER_DYNAMICS_TREE_COMPOSITE_H

#include "dynamics/tree/sweep.h"

/* Outward: poses, and each link's own moments in world axes in work->composite. */
void LANED(composite_outward)(const CalModel *model, const real *q, CalWork *work);
/* Inward: work->composite holds the links' own moments in world axes and becomes the composites'. */
void LANED(composite_inward)(const CalModel *model, CalWork *work);
/* The same, and on the way M (leading dimension nu); entries off the tree's paths are zero and not touched. */
void LANED(composite_matrix)(const CalModel *model, CalWork *work, real *M);

INLINE void composite_add(Composite *to, const Composite *c) {
	*to = (Composite){to->m + c->m, add(to->mc, c->mc), sym_add(to->Sigma, c->Sigma)};
}

/* Force that the composite of link i needs for a unit acceleration along S. */
INLINE spatial composite_mul(const Composite *c, spatial S) {
	const sym3 I = inertia_from_second_moment(c->Sigma);
	return (spatial){add(sym_mul_vec(I, S.a), cross(c->mc, S.l)), madd(cross(S.a, c->mc), c->m, S.l)};
}

/* The same for S = [z; 0]. */
INLINE spatial composite_mul_rotation(const Composite *c, vec3 z) {
	return (spatial){sym_mul_vec(inertia_from_second_moment(c->Sigma), z), cross(z, c->mc)};
}

#endif
