// SPDX-License-Identifier: Apache-2.0
/*
 * joint_elimination.h — one joint of the articulated-body recursion [THEORY (4.4)-(4.7)]: inward its degrees of freedom
 * are eliminated from inertia and force, outward its accelerations follow. For a free rotation, for a ball or free root,
 * and for any joint column by column; which of them is a matter of the number of columns, not of the type of the joint.
 */
#ifndef CALDER_DYNAMICS_TREE_JOINT_ELIMINATION_H
#define CALDER_DYNAMICS_TREE_JOINT_ELIMINATION_H

#include "dynamics/tree/articulated.h"
#include "model/loop_plan.h"

/* ---- inward, column by column ---------------------------------------------------------------- */

INLINE spatial column_force(const ArticulatedInertia *M, spatial S, ColumnKind kind) {
	if (kind == COLUMN_ROTATION)
		return (spatial){sym_mul_vec(M->I, S.a), mat_tmul_vec(M->H, S.a)};
	if (kind == COLUMN_TRANSLATION)
		return (spatial){mat_mul_vec(M->H, S.l), sym_mul_vec(M->M, S.l)};
	return articulated_mul(M, S);
}

INLINE real column_dot(spatial S, spatial f, ColumnKind kind) {
	if (kind == COLUMN_ROTATION)
		return dot(S.a, f.a);
	if (kind == COLUMN_TRANSLATION)
		return dot(S.l, f.l);
	return spatial_dot(S, f);
}

/* Not above the limit in some lane (also not a number). */
INLINE int not_above(real x, real limit) {
#if CAL_LANES == 1
	return !(x > limit);
#else
	for (int i = 0; i < CAL_LANES; ++i) {
		if (!(x[i] > limit[i]))
			return 1;
	}
	return 0;
#endif
}

INLINE real trace(sym3 s) { return s.xx + s.yy + s.zz; }

/* What a column like S might meet in M. */
INLINE real column_scale(const ArticulatedInertia *M, spatial S, ColumnKind kind) {
	if (kind == COLUMN_ROTATION)
		return trace(M->I);
	if (kind == COLUMN_TRANSLATION)
		return trace(M->M);
	return dot(S.a, S.a) * trace(M->I) + dot(S.l, S.l) * trace(M->M);
}

/* Removes one free column from M: K and 1/D [THEORY (4.4), (4.5)]. Returns nonzero if the column is singular. */
INLINE int eliminate_dof(ArticulatedInertia *M, spatial S, ColumnKind kind, double rotor, DofWork *dof) {
	const spatial U = column_force(M, S, kind);
	const real D = column_dot(S, U, kind) + rotor;
	const real limit = SINGULAR_RATIO * column_scale(M, S, kind);
	dof->D_inv = 1.0 / D;
	dof->gain = (spatial){scale(dof->D_inv, U.a), scale(dof->D_inv, U.l)};
	*M = articulated_sub_outer(*M, U, dof->gain);
	return not_above(D, limit);
}

/* Joint of link i: all its free columns, in order. Returns the DOF that is singular, or -1. */
static inline int eliminate_columns(const double *rotor, const Link *link, int i, const uint8_t *prescribed,
                                    CalWork *work, ArticulatedInertia *M) {
	int bad = -1;
	for (int k = 0; k < link->nu; ++k) {
		const int u = link->u + k;
		const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
		const spatial S = link_column(work, link, i, k);
		if (prescribed && prescribed[u]) {
			work->dofs[u].gain = column_force(M, S, kind);
			work->dofs[u].D_inv = real_from(0);
		} else if (eliminate_dof(M, S, kind, rotor[u], &work->dofs[u]) && bad < 0) {
			bad = u;
		}
	}
	return bad;
}

/* The force side of the same: eps = tau - S'b, b += K eps for free columns. */
static inline void reduce_force(const Link *link, int i, const uint8_t *prescribed, const real *tau, CalWork *work,
                                spatial *b) {
	for (int k = 0; k < link->nu; ++k) {
		const int u = link->u + k;
		DofWork *dof = &work->dofs[u];
		const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
		dof->eps = tau[u] - column_dot(link_column(work, link, i, k), *b, kind);
		if (!prescribed || !prescribed[u])
			*b = spatial_madd(*b, dof->eps, dof->gain);
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
INLINE int eliminate_joint(const CalModel *model, const Link *link, int i, const SweepInput *in, CalWork *work,
                           ArticulatedBody *total) {
	const int bad = eliminate_columns(sweep_rotor(model, in), link, i, in->prescribed, work, &total->M);
	reduce_force(link, i, in->prescribed, in->tau, work, &total->b);
	const vec3 r = work->links[i].r;
	*total = (ArticulatedBody){articulated_shift(total->M, r), force_shift(total->b, r)};
	return bad;
}

/* ---- inward, a free rotation or a ball at once ------------------------------------------------- */

/* A free rotation, shifted before it is eliminated (articulated.c). */
INLINE int eliminate_rotation(const double *rotor, const Link *link, const LinkWork *l, const SweepInput *in, int shift,
                              CalWork *work, ArticulatedBody *total) {
	const vec3 z = l->R.z, r = l->r;
	const vec3 Un = sym_mul_vec(total->M.I, z), Uf = mat_tmul_vec(total->M.H, z);
	const real D = dot(z, Un) + rotor[link->u];
	const real limit = SINGULAR_RATIO * trace(total->M.I);
	const real eps = in->tau[link->u] - dot(z, total->b.a);
	spatial U = {Un, Uf}, b = total->b;
	ArticulatedInertia shifted = total->M;
	if (shift) {
		U.a = add(Un, cross(r, Uf));
		shifted = articulated_shift(total->M, r);
		b = force_shift(total->b, r);
	}
	DofWork *dof = &work->dofs[link->u];
	const real d = 1.0 / D;
	const spatial K = {scale(d, U.a), scale(d, U.l)};
	dof->gain = K;
	dof->eps = eps;
	dof->D_inv = d;
	*total = (ArticulatedBody){articulated_sub_outer(shifted, U, K), spatial_madd(b, eps, K)};
	return not_above(D, limit);
}

/* With 32 of them a branch within the commonest link costs nothing; with 16 its numbers would not stay in them. */
#if defined(__AVX512VL__) || defined(__aarch64__)
enum { MANY_REGISTERS = 1 };
#else
enum { MANY_REGISTERS = 0 };
#endif

/* On the parent's origin there is nothing to shift: after a node of a flexible body. */
static __attribute__((noinline, unused)) int eliminate_rotation_in_place(const double *rotor, const Link *link,
                                                                         const LinkWork *l, const SweepInput *in,
                                                                         CalWork *work, ArticulatedBody *total) {
	return eliminate_rotation(rotor, link, l, in, 0, work, total);
}

/* Inverse of a symmetric 3x3, and nonzero if it is singular: trace(s) trace(s^-1) bounds its condition. */
INLINE sym3 invert(sym3 s, int *singular) {
	real determinant;
	const sym3 inverse = sym_inverse(s, &determinant);
	const real one = real_from(1), zero = real_from(0);
	*singular = not_above(s.xx, zero) || not_above(s.xx * s.yy, s.xy * s.xy) || not_above(determinant, zero) ||
	            not_above(one, SINGULAR_RATIO * trace(s) * trace(inverse));
	return inverse;
}

/* Applied generalized forces of three speeds in world axes, along the columns a, b, c. */
INLINE vec3 world_force(vec3 a, vec3 b, vec3 c, const real *tau) {
	return madd(madd(scale(tau[0], a), tau[1], b), tau[2], c);
}

/* D_inv distinguishes a singular inertia from one that is not a number. */
INLINE void keep_row(DofWork *dof, vec3 row, real value, real d) {
	dof->gain.l = row;
	dof->eps = value;
	dof->D_inv = d;
}

INLINE int eliminate_ball(const Link *link, const LinkWork *l, const SweepInput *in, CalWork *work,
                          ArticulatedBody *total) {
	const int ball = link->motion == PRIMITIVE_FREE ? link->u + 3 : link->u; // first of its three rotations
	const ArticulatedInertia *M = &total->M;
	int singular, singular_a;
	const sym3 inverse = invert(M->I, &singular);
	const mat3 X = {sym_mul_vec(inverse, M->H.x), sym_mul_vec(inverse, M->H.y), sym_mul_vec(inverse, M->H.z)};
	const vec3 moment = world_force(l->R.x, l->R.y, l->R.z, in->tau + ball);
	const vec3 g = sym_mul_vec(inverse, sub(moment, total->b.a));
	keep_row(&work->dofs[ball], vec(X.x.x, X.y.x, X.z.x), g.x, trace(inverse));
	keep_row(&work->dofs[ball + 1], vec(X.x.y, X.y.y, X.z.y), g.y, trace(inverse));
	keep_row(&work->dofs[ball + 2], vec(X.x.z, X.y.z, X.z.z), g.z, trace(inverse));
	const sym3 Ma = {M->M.xx - dot(M->H.x, X.x), M->M.yy - dot(M->H.y, X.y), M->M.zz - dot(M->H.z, X.z),
	                 M->M.xy - dot(M->H.x, X.y), M->M.xz - dot(M->H.x, X.z), M->M.yz - dot(M->H.y, X.z)};
	spatial b = {moment, add(total->b.l, mat_tmul_vec(M->H, g))};
	ArticulatedInertia left = articulated_zero();
	if (link->motion == PRIMITIVE_SPHERICAL) {
		left.M = Ma;
		*total = (ArticulatedBody){articulated_shift(left, l->r), force_shift(b, l->r)};
		return singular ? ball : -1;
	}
	const spatial *S = work->columns + link->u;
	const vec3 applied = world_force(S[0].l, S[1].l, S[2].l, in->tau + link->u);
	const sym3 inverse_a = invert(Ma, &singular_a);
	const vec3 a = sym_mul_vec(inverse_a, sub(applied, b.l));
	keep_row(&work->dofs[link->u], vec_zero(), a.x, trace(inverse_a));
	keep_row(&work->dofs[link->u + 1], vec_zero(), a.y, trace(inverse_a));
	keep_row(&work->dofs[link->u + 2], vec_zero(), a.z, trace(inverse_a));
	b.l = applied;
	*total = (ArticulatedBody){left, force_shift(b, l->r)};
	return singular ? ball : singular_a ? link->u : -1;
}

/* ---- either ---------------------------------------------------------------------------------- */

/* A copy of `body`, so that this itself can stay in registers. */
INLINE int eliminate_other(const CalModel *model, const Link *link, int i, const SweepInput *in, CalWork *work,
                           ArticulatedBody *body) {
	ArticulatedBody any = *body;
	const int bad = is_free_ball(model, link, in) ? eliminate_ball(link, &work->links[i], in, work, &any)
	                                              : eliminate_joint(model, link, i, in, work, &any);
	*body = any;
	return bad;
}

/* Takes the joint of link i out of `body`, which becomes what the parent sees, at its origin. Returns the singular
 * dof, or -1. */
INLINE int eliminate(const CalModel *model, const Link *link, int i, const SweepInput *in, CalWork *work,
                     ArticulatedBody *body) {
	const double *rotor = sweep_rotor(model, in);
	const LinkWork *l = &work->links[i];
	if (UNLIKELY(!is_free_rotation(link, in)))
		return eliminate_other(model, link, i, in, work, body);
	if (MANY_REGISTERS)
		return eliminate_rotation(rotor, link, l, in, !link->zero_offset, work, body) ? link->u : -1;
	if (LIKELY(!link->zero_offset))
		return eliminate_rotation(rotor, link, l, in, 1, work, body) ? link->u : -1;
	ArticulatedBody any = *body;
	const int bad = eliminate_rotation_in_place(rotor, link, l, in, work, &any);
	*body = any;
	return bad ? link->u : -1;
}

/* ---- outward --------------------------------------------------------------------------------- */

/*
 * udot of the joint of link i, last column first; A becomes the link's own. Prescribed columns add nothing to
 * A (they are in the bias); their force is S'(M^A + b) + rotor udot - tau.
 */
static inline void accelerate_columns(const CalModel *model, const Link *link, int i, const SweepInput *in,
                                      CalWork *work, real *udot, real *force, spatial *A) {
	for (int k = link->nu - 1; k >= 0; --k) {
		const int u = link->u + k;
		const DofWork *dof = &work->dofs[u];
		if (in->prescribed && in->prescribed[u]) {
			udot[u] = in->udot ? in->udot[u] : real_from(0);
			if (force)
				force[u] = spatial_dot(dof->gain, *A) - dof->eps + sweep_rotor(model, in)[u] * udot[u];
			continue;
		}
		udot[u] = dof->D_inv * dof->eps - spatial_dot(dof->gain, *A);
		*A = spatial_madd(*A, udot[u], link_column(work, link, i, k));
	}
}

/* The same for a free ball or free root: its acceleration first, then what of it is its own. */
INLINE void accelerate_ball(const Link *link, const CalWork *work, const LinkWork *l, real *udot, spatial *A) {
	const int free_root = link->motion == PRIMITIVE_FREE, ball = free_root ? link->u + 3 : link->u;
	const DofWork *dof = &work->dofs[ball];
	vec3 a = A->l;
	if (free_root) {
		a = vec(work->dofs[link->u].eps, work->dofs[link->u + 1].eps, work->dofs[link->u + 2].eps);
		const vec3 own = sub(a, A->l);
		for (int k = 0; k < 3; ++k)
			udot[link->u + k] = dot(work->columns[link->u + k].l, own);
	}
	const vec3 al = {dof[0].eps - dot(dof[0].gain.l, a), dof[1].eps - dot(dof[1].gain.l, a),
	                 dof[2].eps - dot(dof[2].gain.l, a)};
	const vec3 own = mat_tmul_vec(l->R, sub(al, A->a));
	udot[ball] = own.x;
	udot[ball + 1] = own.y;
	udot[ball + 2] = own.z;
	*A = (spatial){al, a};
}

/* udot of the joint of link i from A of its parent, and its own A [THEORY (4.6), (4.7)]. */
INLINE void accelerate(const CalModel *model, const Link *link, int i, const SweepInput *in, CalWork *work, real *udot,
                       real *force) {
	LinkWork *l = &work->links[i];
	const spatial *parent = &work->links[link->parent].A;
	if (LIKELY(is_free_rotation(link, in))) {
		const DofWork *dof = &work->dofs[link->u];
		const real ud = dof->D_inv * dof->eps - (dot(dof->gain.a, parent->a) + dot(dof->gain.l, parent->l));
		udot[link->u] = ud;
		l->A.l = parent->l;
		if (LIKELY(!link->zero_offset))
			l->A.l = add(l->A.l, cross(parent->a, l->r));
		l->A.a = madd(parent->a, ud, l->R.z);
		return;
	}
	spatial A = motion_shift(*parent, l->r);
	if (is_free_ball(model, link, in)) {
		accelerate_ball(link, work, l, udot, &A);
	} else {
		accelerate_columns(model, link, i, in, work, udot, force, &A);
	}
	l->A = A;
}

#endif
