// SPDX-License-Identifier: Apache-2.0
/*
 * composite.h — composite inertias and the mass matrix, over `real`.
 */
#ifndef CALDER_DYNAMICS_COMPOSITE_H
#define CALDER_DYNAMICS_COMPOSITE_H

#include "dynamics/sweep.h"

/* Inward: work->composite holds the links' own moments in world axes and becomes the composites'. */
void LANED(composite_inward)(const CalModel *model, CalWork *work);
/* M, leading dimension nu; entries off the tree's paths are zero and not touched. */
void LANED(composite_matrix)(const CalModel *model, const CalWork *work, real *M);

/* Force that the composite of link i needs for a unit acceleration along P. */
INLINE spatial composite_mul(const Composite *c, spatial P) {
	const sym3 I = inertia_from_second_moment(c->S);
	return (spatial){add(sym_mul_vec(I, P.a), cross(c->mc, P.l)), madd(cross(P.a, c->mc), c->m, P.l)};
}

#endif
