// SPDX-License-Identifier: Apache-2.0
/*
 * loop_early.c — motions of a link that joints and modes inboard of it allow [THEORY (5.31), (5.32)].
 *
 * An equation that is left over on an early place is redundant if nothing inboard of that place works on its wrench. With
 * columns S_k about the origin of the link, the sum of S_k S_k' decides that for any wrench: 36 numbers per link, from
 * the ground outward. They are formed when they are first needed in an evaluation. Columns that are held count too: their
 * forces depend on what is left over.
 */
#include "dynamics/loop/loop_early.h"

#include "dynamics/flex/flexible.h"
#include "model/loop_place.h"

#if CAL_LANES == 1

/* About the origin of link i, its own columns and those that move the node or the frame that it is. */
static ArticulatedInertia motion_of(const CalModel *model, const CalWork *work, int i) {
	const Link *link = &model->links[i];
	const ArticulatedInertia *motion = work->loops.motion;
	ArticulatedInertia G = link->parent >= 0 ? motion_move(motion[link->parent], work->links[i].r) : articulated_zero();
	for (int k = 0; k < link->nu; ++k)
		G = motion_add(G, link_column(work, link, i, k));
	for (int k = 0; link->flex >= 0 && k < model->flexes[link->flex].m; ++k)
		G = motion_add(G, flexible_column(model, link, work, k));
	return G;
}

int loop_reaches(const CalModel *model, CalWork *work, int link, spatial wrench) {
	LoopWork *w = &work->loops;
	for (int i = 0; !w->motion_known && i < model->link_count; ++i)
		w->motion[i] = motion_of(model, work, i);
	w->motion_known = 1;
	return motion_meets(&w->motion[link], wrench, fmax(MOTION_NONE, w->singular));
}

#endif
