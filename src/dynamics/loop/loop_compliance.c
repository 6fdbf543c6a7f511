// SPDX-License-Identifier: Apache-2.0
/*
 * loop_compliance.c — the diagonal of M^-1 for the joints of loops [THEORY 5.5].
 *
 * 1/D_k alone does not show how far a force moves joint k: of several light bars in a row one has heavy ones beyond the next
 * to push against, and its D is theirs, at a short lever; yet the others follow it by their gains K, many times as far. With
 * the compliance C of each link, outward:
 *   C = X C' X',  and for each column, the last one first:
 *   m = 1/D + K'C K = (M^-1)_kk,   C <- C - (C K)S' - S(C K)' + m S S'
 * Loops that are still open hold nothing there: m is a bound. Those eliminated before (early places, branches) are in D
 * and K. C is kept as motions are (loop_place.h), rows and columns (l, a), and goes from link to link in registers.
 */
#include "dynamics/loop/loop_sweep.h"
#include "dynamics/tree/joint_elimination.h"

#if CAL_LANES == 1

INLINE TrioSpatial swapped(TrioSpatial s) { return (TrioSpatial){s.l, s.a}; }

/* C - v S' - S v' + m S S'. */
INLINE TrioInertia release_column(TrioInertia C, TrioSpatial v, TrioSpatial S, ColumnKind kind, double m) {
	const TrioSpatial w = trio_spatial_madd(v, -0.5 * m, S);
	const trio z1 = trio_next(S.a), z2 = trio_prev(S.a);
	if (kind != COLUMN_TRANSLATION) {
		C.H = trio_mat_sub_outer(C.H, w.l, S.a, z1, z2);
		C.M = trio_sym_sub_pair(C.M, w.a, S.a, z1);
	}
	if (kind != COLUMN_ROTATION) {
		const trio s1 = trio_next(S.l);
		C.I = trio_sym_sub_pair(C.I, w.l, S.l, s1);
		C.H = trio_mat_sub_outer(C.H, S.l, w.a, trio_next(w.a), trio_prev(w.a));
	}
	return C;
}

/* Gains of balls and roots on no loop's path are kept in another form, and are left out. */
INLINE int has_gains(const CalModel *model, const Link *link) {
	return !model->loop_schedule || (link->motion != PRIMITIVE_SPHERICAL && link->motion != PRIMITIVE_FREE) ||
	       loop_is_open(model, link);
}

/* A forward dynamics keeps the gain of a free rotation at the origin of its parent (DofWork). */
INLINE TrioSpatial gain_at_link(const CalModel *model, const Link *link, trio r, const DofWork *dof) {
	const TrioSpatial K = trio_spatial_load_wide(&dof->gain);
	const int at_parent = model->loop_schedule && link->motion == PRIMITIVE_ROTATION;
	return at_parent ? trio_force_shift(K, trio_neg(r)) : K;
}

/* The cluster of loops that move with a joint, if only with one of its columns; -1: none. */
INLINE int cluster_of(const CalModel *model, const CalWork *work, int link) {
	if (LIKELY(model->loop_schedule != NULL))
		return model->loop_schedule->joint_cluster[link];
	const Link *joint = &model->links[link];
	for (int k = 0; k < joint->nu; ++k) {
		if (loop_moves_rows(model, &work->loops, joint->u + k))
			return 0;
	}
	return -1;
}

INLINE void note_joint(LoopMobility *m, double d, double moved) {
	m->most = d > m->most ? d : m->most;
	m->least = d < m->least ? d : m->least;
	m->moved = moved > m->moved ? moved : m->moved;
}

/* Compliance of link i from that of its parent; what its columns do goes to the loops that move with them. */
INLINE TrioInertia release_link(const CalModel *model, CalWork *work, int i, double sliding, TrioInertia C,
                                LoopMobility *clusters) {
	const Link *link = &model->links[i];
	const trio r = trio_load_wide(&work->links[i].r);
	const int cluster = cluster_of(model, work, i);
	if (link->parent >= 0)
		C = trio_inertia_shift_by(C, trio_neg(r));
	for (int k = link->nu - 1; k >= 0; --k) {
		const DofWork *dof = &work->dofs[link->u + k];
		if (!(dof->D_inv > 0))
			continue;
		const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
		const TrioSpatial K = has_gains(model, link) ? gain_at_link(model, link, r, dof) : trio_spatial_zero();
		const TrioSpatial v = swapped(trio_inertia_mul(&C, swapped(K)));
		const double more = trio_spatial_dot(K, v), m = dof->D_inv + (more > 0 ? more : 0);
		const double unit = kind == COLUMN_TRANSLATION ? sliding : 1;
		if (cluster >= 0)
			note_joint(&clusters[cluster], dof->D_inv * unit, m * unit);
		C = release_column(C, v, trio_column(work, link, i, k), kind, m);
	}
	return C;
}

void LANED(loop_compliances)(const CalModel *model, double length, CalWork *work, LoopMobility *clusters) {
	const double sliding = 1 / (length * length);
	TrioInertia C = trio_inertia_zero(); // of link i - 1
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		if (UNLIKELY(link->parent != i - 1))
			C = link->parent >= 0 ? trio_inertia_load_wide(&work->articulated[link->parent]) : trio_inertia_zero();
		C = release_link(model, work, i, sliding, C, clusters);
		if (UNLIKELY(link->accumulator >= 0)) // other children than the next link
			trio_inertia_store_wide(&work->articulated[i], C);
	}
}

#endif
