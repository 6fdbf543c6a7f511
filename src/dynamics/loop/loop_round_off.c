// SPDX-License-Identifier: Apache-2.0
/*
 * loop_round_off.c — what round-off of forces does to the joints of loops [THEORY 5.5].
 *
 * Forces that pass through a link are rounded by 1e-16, and joint k answers by (M^-1)_kk of that. 1/D_k alone does not show
 * it: of several light bars in a row one has heavy ones beyond the next to push against, and its D is theirs, at a short
 * lever; yet the others follow it by their gains K, many times as far. With the compliance C of each link, outward:
 *   C = X C' X',  and for each column, the last one first:
 *   m = 1/D + K'C K = (M^-1)_kk,   C <- C - (C K)S' - S(C K)' + m S S'
 * Loops that are still open hold nothing there: m is a bound. Those eliminated before (early places, branches) are in D
 * and K. C is kept as motions are (loop_place.h), rows and columns (l, a).
 */
#include "dynamics/loop/loop_round_off.h"
#include "dynamics/tree/sweep.h"
#include "model/loop_place.h"
#include "model/loop_plan.h"

#if CAL_LANES == 1

static const double ROUND_OFF = 1e-16; // of a force

INLINE spatial swapped(spatial s) { return (spatial){s.l, s.a}; }

/* C - v S' - S v' + m S S'. */
static ArticulatedInertia release_column(ArticulatedInertia C, spatial v, spatial S, double m) {
	const spatial s = swapped(S), w = swapped(spatial_madd(v, -0.5 * m, S));
	C.I = sym_sub_outer(sym_sub_outer(C.I, w.a, s.a), s.a, w.a);
	C.H = mat_sub_outer(mat_sub_outer(C.H, w.a, s.l), s.a, w.l);
	C.M = sym_sub_outer(sym_sub_outer(C.M, w.l, s.l), s.l, w.l);
	return C;
}

/* A forward dynamics keeps the gain of a free rotation at the origin of its parent (DofWork). */
static spatial gain_at_link(const CalModel *model, const Link *link, const LinkWork *l, const DofWork *dof) {
	const int at_parent = model->loop_schedule && link->motion == PRIMITIVE_ROTATION;
	return at_parent ? force_shift(dof->gain, neg(l->r)) : dof->gain;
}

/* Gains of balls and roots on no loop's path are kept in another form, and are left out. */
static int has_gains(const CalModel *model, const Link *link) {
	return !model->loop_schedule || (link->motion != PRIMITIVE_SPHERICAL && link->motion != PRIMITIVE_FREE) ||
	       loop_is_open(model, link);
}

/* The cluster of loops that move with a joint, if only with one of its columns; -1: none. */
static int cluster_of(const CalModel *model, const CalWork *work, int link) {
	if (model->loop_schedule)
		return model->loop_schedule->joint_cluster[link];
	const Link *joint = &model->links[link];
	for (int k = 0; k < joint->nu; ++k) {
		if (loop_moves_rows(model, &work->loops, joint->u + k))
			return 0;
	}
	return -1;
}

static void note_joint(LoopMobility *m, double d, double moved) {
	m->most = fmax(m->most, d);
	m->least = fmin(m->least, d);
	m->moved = fmax(m->moved, moved);
}

/* Compliance of link i from that of its parent; what its columns do goes to the loops that move with them. */
static ArticulatedInertia release_link(const CalModel *model, CalWork *work, int i, double length,
                                       LoopMobility *clusters) {
	const Link *link = &model->links[i];
	const LinkWork *l = &work->links[i];
	const int cluster = cluster_of(model, work, i);
	ArticulatedInertia C = link->parent >= 0 ? motion_move(work->articulated[link->parent], l->r) : articulated_zero();
	for (int k = link->nu - 1; k >= 0; --k) {
		const DofWork *dof = &work->dofs[link->u + k];
		if (!(dof->D_inv > 0))
			continue;
		const spatial K = has_gains(model, link) ? gain_at_link(model, link, l, dof) : spatial_zero();
		const spatial v = swapped(articulated_mul(&C, swapped(K)));
		const double m = dof->D_inv + fmax(0, spatial_dot(K, v)), unit = loop_column_unit(model, link->u + k, length);
		if (cluster >= 0)
			note_joint(&clusters[cluster], dof->D_inv / (unit * unit), m / (unit * unit));
		C = release_column(C, v, link_column(work, link, i, k), m);
	}
	return C;
}

static double force_of(const Loop *loop, const double *lambda) {
	double most = 0;
	for (int r = 0; lambda && r < loop->rows; ++r)
		most = fmax(most, fabs(lambda[loop->row + r]) * loop->unit[r]);
	return most;
}

LoopRoundOff loop_round_off_of(const CalModel *model, const double *lambda, CalWork *work) {
	const double length = loop_longest_reach(model);
	LoopMobility *clusters = work->loops.mobility;
	LoopRoundOff all = {INFINITY, 1, 1, 0};
	for (int l = 0; l < model->loop_count; ++l)
		clusters[l] = (LoopMobility){0, INFINITY, 0};
	for (int i = 0; i < model->link_count; ++i)
		work->articulated[i] = release_link(model, work, i, length, clusters);
	for (int l = 0; l < model->loop_count; ++l) {
		const LoopMobility *m = &clusters[model->loop_schedule ? model->loop_schedule->ends[l].cluster : 0];
		if (!(m->most > 0))
			continue;
		all.least = fmin(all.least, m->least);
		all.spread = fmax(all.spread, m->most / m->least);
		all.moved = fmax(all.moved, m->moved / m->least);
		all.acceleration = fmax(all.acceleration, ROUND_OFF * m->moved * force_of(&model->loops[l], lambda));
	}
	all.least = isfinite(all.least) ? all.least : 0;
	return all;
}

#endif
