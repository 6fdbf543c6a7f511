// SPDX-License-Identifier: Apache-2.0
/*
 * register_algebra.h — what the inward sweep of forward dynamics does with registers alone: inertia and force of a body, its own
 * terms, columns of joints, small inverses. No records of a workspace here: the kernels of a GPU (src/gpu) are made of the same
 * functions, and so have the same bits.
 */
#ifndef CALDER_DYNAMICS_TREE_REGISTER_ALGEBRA_H
#define CALDER_DYNAMICS_TREE_REGISTER_ALGEBRA_H

#include "joint/primitive.h"
#include "math/trio_inertia.h"

/* ---- bodies -------------------------------------------------------------------------------------- */

/* An ArticulatedBody in registers. */
typedef struct TrioBody {
	TrioInertia M;
	TrioSpatial b;
} TrioBody;

INLINE TrioBody trio_body_zero(void) { return (TrioBody){trio_inertia_zero(), trio_spatial_zero()}; }
INLINE TrioBody trio_body_add(TrioBody a, TrioBody b) {
	return (TrioBody){trio_inertia_add(a.M, b.M), trio_spatial_add(a.b, b.b)};
}
INLINE TrioBody trio_body_shift(const TrioBody *body, trio r) {
	return (TrioBody){trio_inertia_shift_by(body->M, r), trio_force_shift(body->b, r)};
}

/* Second moments of a link in world axes: second_moment_rotate() in registers. */
INLINE trio_sym link_second_moment(const DInertia *in, const trio3 *R) {
	const trio p = trio3_mul_dvec(*R, (dvec3){in->ha, in->d, in->e});
	const trio s = trio_madd(trio_times(real_from(in->hb), R->y), real_from(in->f), R->z);
	const trio_sym turned = trio_sym_pairs(R->x, p, R->y, s);
	return (trio_sym){trio_add(trio_all(real_from(in->zz)), turned.d), turned.n};
}

/*
 * Adds own inertia and inertia force of a link: with P = W Sigma
 *   I = tr Sigma 1 - Sigma,  f = m a + W mc,  n = mc x a + (P_zy - P_yz, P_xz - P_zx, P_yx - P_xy)
 */
INLINE TrioBody trio_body_add_own(const DInertia *in, trio3 R, TrioField W, trio a, const TrioBody *to) {
	const trio m = trio_all(real_from(in->m));
	const trio mc = trio3_mul_dvec(R, in->mc), mc1 = trio_next(mc), mc2 = trio_prev(mc);
	const trio_sym S = link_second_moment(in, &R);
	const trio d1 = trio_next(S.d), d2 = trio_prev(S.d), n1 = trio_next(S.n), n2 = trio_prev(S.n);
	const trio Pn = trio_sub(trio_add(trio_mul(W.n, d1), trio_mul(W.p, n1)), trio_mul(W.c, S.n)); // P_xy, P_yz, P_zx
	const trio Pp = trio_sub(trio_add(trio_mul(W.n, n1), trio_mul(W.p, d2)), trio_mul(W.c, n2));  // P_xz, P_yx, P_zy
	const trio n = trio_add(trio_prev(Pp), trio_next(trio_sub(trio_twist(mc, mc1, a, trio_next(a)), Pn)));
	const trio f = trio_mac(trio_field_mul(W, mc, mc1, mc2), m, a);
	const TrioInertia M = {{trio_add(to->M.I.d, trio_add(d1, d2)), trio_sub(to->M.I.n, S.n)},
	                       {to->M.H.d, trio_sub(to->M.H.n, mc2), trio_add(to->M.H.p, mc1)}, // H + [mc]x
	                       {trio_add(to->M.M.d, m), to->M.M.n}};
	return (TrioBody){M, trio_spatial_add(to->b, (TrioSpatial){n, f})};
}

/* ---- columns of joints --------------------------------------------------------------------------- */

INLINE TrioSpatial column_force(const TrioInertia *M, TrioSpatial S, ColumnKind kind) {
	if (kind == COLUMN_ROTATION)
		return trio_inertia_mul_angular(M, S.a);
	if (kind == COLUMN_TRANSLATION)
		return trio_inertia_mul_linear(M, S.l);
	return trio_inertia_mul(M, S);
}

INLINE real column_dot(TrioSpatial S, TrioSpatial f, ColumnKind kind) {
	if (kind == COLUMN_ROTATION)
		return trio_dot(S.a, f.a);
	if (kind == COLUMN_TRANSLATION)
		return trio_dot(S.l, f.l);
	return trio_spatial_dot(S, f);
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

/* What a column like S might meet in M. */
INLINE real column_scale(const TrioInertia *M, TrioSpatial S, ColumnKind kind) {
	if (kind == COLUMN_ROTATION)
		return trio_sym_trace(M->I);
	if (kind == COLUMN_TRANSLATION)
		return trio_sym_trace(M->M);
	return trio_dot(S.a, S.a) * trio_sym_trace(M->I) + trio_dot(S.l, S.l) * trio_sym_trace(M->M);
}

/* Inverse of a symmetric 3x3, and nonzero if it is singular: trace(s) trace(s^-1) bounds its condition. */
INLINE trio_sym invert(trio_sym s, int *singular, real *trace) {
	real determinant;
	const trio_sym inverse = trio_sym_inverse(s, &determinant);
	const sym3 m = trio_sym_out(s);
	const real one = real_from(1), zero = real_from(0);
	*trace = trio_sym_trace(inverse);
	*singular = not_above(m.xx, zero) || not_above(m.xx * m.yy, m.xy * m.xy) || not_above(determinant, zero) ||
	            not_above(one, SINGULAR_RATIO * trio_sym_trace(s) * *trace);
	return inverse;
}

INLINE trio sym_times(trio_sym s, trio v) { return trio_sym_mul(s, v, trio_next(v), trio_prev(v)); }

#endif
