// SPDX-License-Identifier: Apache-2.0
/*
 * joint_elimination.h — one joint of the articulated-body recursion [THEORY (4.4)-(4.7)]: inward its degrees of freedom
 * are eliminated from inertia and force, outward its accelerations follow. For a free rotation, for a ball or free root,
 * and for any joint column by column; which of them is a matter of the number of columns, not of the type of the joint.
 */
#ifndef CALDER_DYNAMICS_TREE_JOINT_ELIMINATION_H
#define CALDER_DYNAMICS_TREE_JOINT_ELIMINATION_H

#include "dynamics/tree/articulated.h"
#include "dynamics/tree/register_algebra.h"
#include "model/loop_plan.h"

/* ---- bodies from and to memory ------------------------------------------------------------------ */

INLINE TrioBody trio_body_load(const ArticulatedBody *body) {
	return (TrioBody){trio_inertia_load_wide(&body->M), trio_spatial_load(&body->b)};
}
/* The same where it was just stored, number by number. */
INLINE TrioBody trio_body_reload(const ArticulatedBody *body) {
	return (TrioBody){trio_inertia_from(&body->M), trio_spatial_from(body->b)};
}
INLINE void trio_body_store(ArticulatedBody *body, TrioBody x) {
	trio_inertia_store_wide(&body->M, x.M);
	trio_spatial_store(&body->b, x.b);
}
/* ---- inward, column by column ---------------------------------------------------------------- */

/* link_column() in registers. */
INLINE TrioSpatial trio_column(const CalWork *work, const Link *link, int i, int k) {
	const mat3 *R = &work->links[i].R;
	const spatial *S = &work->columns[link->u + k];
	if (link->motion == PRIMITIVE_ROTATION)
		return (TrioSpatial){trio_load_wide(&R->z), trio_zero()};
	if (link->motion == PRIMITIVE_TRANSLATION)
		return (TrioSpatial){trio_zero(), trio_load_wide(&R->z)};
	if (link->motion == PRIMITIVE_SPHERICAL)
		return (TrioSpatial){trio_load_wide(k == 0 ? &R->x : k == 1 ? &R->y : &R->z), trio_zero()};
	return (TrioSpatial){trio_load_wide(&S->a), trio_load(&S->l)};
}

/* Removes one free column from M: K and 1/D [THEORY (4.4), (4.5)]. Returns nonzero if the column is singular. */
INLINE int eliminate_dof(TrioInertia *M, TrioSpatial S, ColumnKind kind, double rotor, DofWork *dof) {
	const TrioSpatial U = column_force(M, S, kind);
	const real D = column_dot(S, U, kind) + rotor;
	const real limit = SINGULAR_RATIO * column_scale(M, S, kind);
	const real d = 1.0 / D;
	const TrioSpatial K = trio_spatial_times(d, U);
	trio_spatial_store_wide(&dof->gain, K); // eps is still to come
	dof->D_inv = d;
	*M = trio_inertia_sub_outer(*M, U, K);
	return not_above(D, limit);
}

/* Joint of link i: all its free columns, in order. Returns the DOF that is singular, or -1. */
static inline int eliminate_columns(const double *rotor, const Link *link, int i, const uint8_t *prescribed,
                                    CalWork *work, TrioInertia *M) {
	int bad = -1;
	for (int k = 0; k < link->nu; ++k) {
		const int u = link->u + k;
		const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
		const TrioSpatial S = trio_column(work, link, i, k);
		if (prescribed && prescribed[u]) {
			trio_spatial_store(&work->dofs[u].gain, column_force(M, S, kind));
			work->dofs[u].D_inv = real_from(0);
		} else if (eliminate_dof(M, S, kind, rotor[u], &work->dofs[u]) && bad < 0) {
			bad = u;
		}
	}
	return bad;
}

/* The force side of the same: eps = tau - S'b, b += K eps for free columns. */
static inline void reduce_force(const Link *link, int i, const uint8_t *prescribed, const real *tau, CalWork *work,
                                TrioSpatial *b) {
	for (int k = 0; k < link->nu; ++k) {
		const int u = link->u + k;
		DofWork *dof = &work->dofs[u];
		const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
		dof->eps = tau[u] - column_dot(trio_column(work, link, i, k), *b, kind);
		if (!prescribed || !prescribed[u])
			*b = trio_spatial_madd(*b, dof->eps, trio_spatial_from(dof->gain));
	}
}

INLINE const double *sweep_rotor(const CalModel *model, const SweepInput *in) {
	return in->rotor ? in->rotor : model->rotor;
}

INLINE int is_free_rotation(const Link *link, const SweepInput *in) {
	return link->motion == PRIMITIVE_ROTATION && (LIKELY(!in->prescribed) || !in->prescribed[link->u]);
}

/* Ball or free root without prescribed columns and without rotors: see articulated.c. */
INLINE int is_free_ball(const CalModel *model, const Link *link, const SweepInput *in) {
	if (link->motion != PRIMITIVE_SPHERICAL && link->motion != PRIMITIVE_FREE)
		return 0;
#if CAL_LANES == 1
	if ((link->interface & INTERFACE_COLUMNS) || in->columns || (in->loops && loop_is_open(model, link)))
		return 0;
#endif
	for (int k = 0; k < link->nu; ++k) {
		if (sweep_rotor(model, in)[link->u + k] != 0 || (in->prescribed && in->prescribed[link->u + k]))
			return 0;
	}
	return 1;
}

/* Any joint, column by column: `total` becomes what the parent sees, at the parent's origin. */
INLINE int eliminate_joint(const double *rotor, const Link *link, int i, const SweepInput *in, CalWork *work,
                           TrioBody *total) {
	const int bad = eliminate_columns(rotor, link, i, in->prescribed, work, &total->M);
	reduce_force(link, i, in->prescribed, in->tau, work, &total->b);
	*total = trio_body_shift(total, trio_load_wide(&work->links[i].r));
	return bad;
}

/* ---- inward, a free rotation or a ball at once ------------------------------------------------- */

/* A free rotation, shifted before it is eliminated (articulated.c). Returns the dof, if it is singular, or -1. */
INLINE int eliminate_rotation(const double *rotor, const Link *link, int i, const SweepInput *in, int shift,
                              CalWork *work, TrioBody *total) {
	const LinkWork *l = &work->links[i];
	const trio z = trio_load_wide(&l->R.z);
	TrioSpatial U = trio_inertia_mul_angular(&total->M, z);
	real D, scale;
	trio_sums(trio_mul(z, U.a), total->M.I.d, &D, &scale);
	D += rotor[link->u];
	const real eps = in->tau[link->u] - trio_dot(z, total->b.a);
	TrioBody shifted = *total;
	if (shift) {
		const trio r = trio_load_wide(&l->r);
		U = trio_force_shift(U, r);
		shifted = trio_body_shift(total, r);
	}
	DofWork *dof = &work->dofs[link->u];
	const real d = 1.0 / D;
	const TrioSpatial K = trio_spatial_times(d, U);
	trio_spatial_store_wide(&dof->gain, K); // then eps, in its place
	dof->eps = eps;
	dof->D_inv = d;
	*total = (TrioBody){trio_inertia_sub_outer(shifted.M, U, K), trio_spatial_madd(shifted.b, eps, K)};
	return UNLIKELY(not_above(D, SINGULAR_RATIO * scale)) ? link->u : -1;
}

/* D_inv distinguishes a singular inertia from one that is not a number. */
INLINE void keep_ball(DofWork dof[3], trio_mat X, trio g, real d) {
	trio_store_wide(&dof[0].gain.a, g);
	trio_store_wide(&dof[0].gain.l, X.d);
	trio_store_wide(&dof[1].gain.l, X.n);
	trio_store_wide(&dof[2].gain.l, X.p);
	for (int k = 0; k < 3; ++k)
		dof[k].D_inv = d;
}

/* Its three translations: the acceleration follows from (M - H'X) a = f_applied - f - H'g. */
INLINE int eliminate_root(const Link *link, const SweepInput *in, CalWork *work, trio_sym Ma, TrioSpatial *b) {
	const spatial *S = work->columns + link->u;
	const real *tau = in->tau + link->u;
	const trio applied =
		trio3_mul((trio3){trio_from(S[0].l), trio_from(S[1].l), trio_from(S[2].l)}, vec(tau[0], tau[1], tau[2]));
	int singular;
	real trace;
	const trio_sym inverse = invert(Ma, &singular, &trace);
	trio_store_wide(&work->dofs[link->u].gain.a, sym_times(inverse, trio_sub(applied, b->l)));
	for (int k = 0; k < 3; ++k)
		work->dofs[link->u + k].D_inv = trace;
	b->l = applied;
	return singular;
}

INLINE int eliminate_ball(const Link *link, const LinkWork *l, const SweepInput *in, CalWork *work, TrioBody *total) {
	const int ball = link->motion == PRIMITIVE_FREE ? link->u + 3 : link->u; // first of its three rotations
	const TrioInertia M = total->M;
	const real *tau = in->tau + ball;
	int singular;
	real trace;
	const trio_sym inverse = invert(M.I, &singular, &trace);
	const trio_mat X = trio_sym_mul_mat(inverse, M.H);
	const trio moment = trio3_mul(trio3_load_wide(&l->R), vec(tau[0], tau[1], tau[2]));
	const trio g = sym_times(inverse, trio_sub(moment, total->b.a));
	const trio_sym HX = trio_mat_tmul_sym(M.H, X);
	const trio_sym Ma = {trio_sub(M.M.d, HX.d), trio_sub(M.M.n, HX.n)};
	keep_ball(&work->dofs[ball], X, g, trace);
	TrioBody left = {trio_inertia_zero(), {moment, trio_add(total->b.l, trio_mat_tmul(M.H, g))}};
	int singular_root = 0;
	if (link->motion == PRIMITIVE_SPHERICAL)
		left.M.M = Ma;
	else
		singular_root = eliminate_root(link, in, work, Ma, &left.b);
	*total = trio_body_shift(&left, trio_load_wide(&l->r));
	return singular ? ball : singular_root ? link->u : -1;
}

/* ---- either ---------------------------------------------------------------------------------- */

/* Takes the joint of link i out of `body`, which becomes what the parent sees, at its origin. Returns the singular
 * dof, or -1. */
INLINE int eliminate(const CalModel *model, const Link *link, int i, const SweepInput *in, const double *rotor,
                     CalWork *work, TrioBody *body) {
	if (is_free_rotation(link, in))
		return eliminate_rotation(rotor, link, i, in, !link->zero_offset, work, body);
	if (is_free_ball(model, link, in))
		return eliminate_ball(link, &work->links[i], in, work, body);
	return eliminate_joint(rotor, link, i, in, work, body);
}

/* ---- outward --------------------------------------------------------------------------------- */

/*
 * udot of the joint of link i, last column first; A becomes the link's own. Prescribed columns add nothing to
 * A (they are in the bias); their force is S'(M^A + b) + rotor udot - tau.
 */
static inline void accelerate_columns(const CalModel *model, const Link *link, int i, const SweepInput *in,
                                      CalWork *work, real *udot, real *force, TrioSpatial *A) {
	for (int k = link->nu - 1; k >= 0; --k) {
		const int u = link->u + k;
		const DofWork *dof = &work->dofs[u];
		const real KA = trio_spatial_dot(trio_spatial_load_wide(&dof->gain), *A);
		if (in->prescribed && in->prescribed[u]) {
			udot[u] = in->udot ? in->udot[u] : real_from(0);
			if (force)
				force[u] = KA - dof->eps + sweep_rotor(model, in)[u] * udot[u];
			continue;
		}
		udot[u] = dof->D_inv * dof->eps - KA;
		*A = trio_spatial_madd(*A, udot[u], trio_column(work, link, i, k));
	}
}

/* The same for a free ball or free root: its acceleration first, then what of it is its own. */
INLINE void accelerate_ball(const Link *link, const CalWork *work, const LinkWork *l, real *udot, TrioSpatial *A) {
	const int free_root = link->motion == PRIMITIVE_FREE, ball = free_root ? link->u + 3 : link->u;
	const DofWork *dof = &work->dofs[ball];
	trio a = A->l;
	if (free_root) {
		a = trio_load_wide(&work->dofs[link->u].gain.a);
		const trio own = trio_sub(a, A->l);
		for (int k = 0; k < 3; ++k)
			udot[link->u + k] = trio_dot(trio_from(work->columns[link->u + k].l), own);
	}
	const trio_mat X = {trio_load_wide(&dof[0].gain.l), trio_load_wide(&dof[1].gain.l), trio_load_wide(&dof[2].gain.l)};
	const trio al = trio_sub(trio_load_wide(&dof[0].gain.a), trio_mat_mul(X, a, trio_next(a), trio_prev(a)));
	const vec3 own = trio_vec(trio3_tmul(trio3_load_wide(&l->R), trio_sub(al, A->a)));
	udot[ball] = own.x;
	udot[ball + 1] = own.y;
	udot[ball + 2] = own.z;
	*A = (TrioSpatial){al, a};
}

/* A free rotation, whose gain is at the parent's origin. */
INLINE TrioSpatial accelerate_rotation(const Link *link, const DofWork *dof, LinkWork *l, TrioSpatial parent,
                                       real *udot) {
	const trio linear = trio_add(parent.l, trio_cross(parent.a, trio_load_any(&l->r)));
	const TrioSpatial gain = {trio_load_any(&dof->gain.a), trio_load_any(&dof->gain.l)};
	const real ud = dof->D_inv * dof->eps - trio_spatial_dot(gain, parent);
	const TrioSpatial A = {trio_madd(parent.a, ud, trio_load_any(&l->R.z)), linear};
	udot[link->u] = ud;
	trio_spatial_store_wide(&l->A, A);
	return A;
}

/* udot of the joint of link i from A of its parent, and its own A [THEORY (4.6), (4.7)]. */
INLINE TrioSpatial accelerate(const CalModel *model, const Link *link, int i, const SweepInput *in, CalWork *work,
                              TrioSpatial parent, real *udot, real *force) {
	LinkWork *l = &work->links[i];
	if (is_free_rotation(link, in))
		return accelerate_rotation(link, &work->dofs[link->u], l, parent, udot);
	TrioSpatial A = trio_motion_shift(parent, trio_load_wide(&l->r));
	if (is_free_ball(model, link, in)) {
		accelerate_ball(link, work, l, udot, &A);
	} else {
		accelerate_columns(model, link, i, in, work, udot, force, &A);
	}
	trio_spatial_store_wide(&l->A, A);
	return A;
}

#endif
