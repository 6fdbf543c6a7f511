// SPDX-License-Identifier: Apache-2.0
/*
 * loop_place.h — on which link a loop is eliminated [THEORY 5.9].
 *
 * A loop may be eliminated on the innermost link that its sides share. One that closes on the ground may be eliminated
 * sooner: on the first link outboard of which there are enough joints to satisfy its equations, whatever that link does.
 */
#ifndef CALDER_MODEL_LOOP_PLACE_H
#define CALDER_MODEL_LOOP_PLACE_H

#include <stdbool.h>

#include "model/model.h"

typedef struct LoopPlace {
	int link;  // on which it is eliminated, -1: on the ground
	int inert; // equations that no joint moves in any configuration, 1 << r each
} LoopPlace;

/*
 * place[loop_count] of loops that close on closes[loop_count] (-1: on the ground); late_work: products of the sweep, if all
 * were eliminated where they close. False: no memory.
 */
bool loop_places_find(const CalModel *model, const int *closes, LoopPlace *place, double *late_work);

/*
 * What the joints between the ground and a link can do with it: G = sum of S S' over their columns, about its origin.
 * Motions change their point as wrenches do with halves exchanged, so that G is kept with rows and columns (l, a).
 */
INLINE ArticulatedInertia motion_add(ArticulatedInertia G, spatial S) {
	const spatial plus = {S.l, S.a}, minus = {neg(S.l), neg(S.a)};
	return articulated_sub_outer(G, plus, minus);
}
/* About a point at r from the present one. */
INLINE ArticulatedInertia motion_move(ArticulatedInertia G, vec3 r) { return articulated_shift(G, neg(r)); }
/* Of the square of what a wrench could do on such motions: less is round-off. */
#define MOTION_NONE 1e-12
/* Whether the wrench f at the same point does work on any of these motions: more than this part [THEORY (5.32)]. */
INLINE int motion_meets(const ArticulatedInertia *G, spatial f, double part) {
	const spatial w = {f.l, f.a};
	const double most = dot(f.l, f.l) * (G->I.xx + G->I.yy + G->I.zz) + dot(f.a, f.a) * (G->M.xx + G->M.yy + G->M.zz);
	return spatial_dot(w, articulated_mul(G, w)) > part * most;
}

#endif
