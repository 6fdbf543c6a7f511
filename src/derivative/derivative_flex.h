// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_flex.h — motion of nodes by modes, and the own terms of flexible bodies, in the derivatives.
 */
#ifndef CALDER_DERIVATIVE_DERIVATIVE_FLEX_H
#define CALDER_DERIVATIVE_DERIVATIVE_FLEX_H

#include "derivative/derivative.h"

/* A node of a flexible body as it moves. */
typedef struct DerivativeNode {
	const Flex *flex;
	const FlexShape *shape;
	const FlexWork *work;
	const LinkWork *base; // the link that carries B
	mat3 axes;            // of B in the world
	vec3 t;               // psi eta
	mat3 T[3];            // theta = T psi in B, and the rates of T
} DerivativeNode;

void modal_node_init(const Flex *flex, const FlexShape *shape, const FlexWork *w, const LinkWork *l,
                     DerivativeNode *node);
/* What mode k does to the node, whose origin has the acceleration a. */
DofMotion modal_node_motion(const DerivativeNode *node, int k, vec3 a);

/* Motions of the modes on all FLEX and NODE links. */
void derivative_flex_columns(const CalModel *model, CalDerivatives *d);
/* Own inertia of body f: N and p of its link, rows of its modes, and their blocks (derivative_own.c). */
void derivative_flex_own(const CalModel *model, int f, CalDerivatives *d);

#endif
