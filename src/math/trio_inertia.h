// SPDX-License-Identifier: Apache-2.0
/*
 * trio_inertia.h — spatial vectors and inertias in registers (trio.h): what the inward sweep of forward dynamics works on.
 *
 * The matrices of an ArticulatedInertia [I H; H' M] as cyclic diagonals: seven registers, exactly symmetric.
 */
#ifndef CALDER_MATH_TRIO_INERTIA_H
#define CALDER_MATH_TRIO_INERTIA_H

#include "math/trio.h"

typedef struct TrioSpatial {
	trio a, l; // angular, linear
} TrioSpatial;

typedef struct TrioInertia {
	trio_sym I;
	trio_mat H;
	trio_sym M;
} TrioInertia;

/* ---- spatial vectors ------------------------------------------------------------------------- */

INLINE TrioSpatial trio_spatial_zero(void) { return (TrioSpatial){trio_zero(), trio_zero()}; }
INLINE TrioSpatial trio_spatial_from(spatial s) { return (TrioSpatial){trio_from(s.a), trio_from(s.l)}; }
INLINE spatial trio_spatial_out(TrioSpatial s) { return (spatial){trio_vec(s.a), trio_vec(s.l)}; }
INLINE TrioSpatial trio_spatial_load(const spatial *s) {
	return (TrioSpatial){trio_load_wide(&s->a), trio_load(&s->l)};
}
INLINE TrioSpatial trio_spatial_load_wide(const spatial *s) {
	return (TrioSpatial){trio_load_wide(&s->a), trio_load_wide(&s->l)};
}
INLINE void trio_spatial_store(spatial *s, TrioSpatial x) { trio_store_wide(&s->a, x.a), trio_store(&s->l, x.l); }
INLINE void trio_spatial_store_wide(spatial *s, TrioSpatial x) {
	trio_store_wide(&s->a, x.a), trio_store_wide(&s->l, x.l);
}
INLINE TrioSpatial trio_spatial_add(TrioSpatial a, TrioSpatial b) {
	return (TrioSpatial){trio_add(a.a, b.a), trio_add(a.l, b.l)};
}
INLINE TrioSpatial trio_spatial_sub(TrioSpatial a, TrioSpatial b) {
	return (TrioSpatial){trio_sub(a.a, b.a), trio_sub(a.l, b.l)};
}
INLINE TrioSpatial trio_spatial_times(real s, TrioSpatial a) {
	return (TrioSpatial){trio_times(s, a.a), trio_times(s, a.l)};
}
INLINE TrioSpatial trio_spatial_madd(TrioSpatial a, real s, TrioSpatial b) {
	return (TrioSpatial){trio_madd(a.a, s, b.a), trio_madd(a.l, s, b.l)};
}
INLINE real trio_spatial_dot(TrioSpatial a, TrioSpatial b) {
	return trio_sum(trio_add(trio_mul(a.a, b.a), trio_mul(a.l, b.l)));
}
/* X(r) on a motion: from O to O + r; X(r)' on a force: from O + r back to O. */
INLINE TrioSpatial trio_motion_shift(TrioSpatial m, trio r) {
	return (TrioSpatial){m.a, trio_add(m.l, trio_cross(m.a, r))};
}
INLINE TrioSpatial trio_force_shift(TrioSpatial f, trio r) {
	return (TrioSpatial){trio_add(f.a, trio_cross(r, f.l)), f.l};
}

/* ---- inertias -------------------------------------------------------------------------------- */

INLINE TrioInertia trio_inertia_zero(void) { return (TrioInertia){trio_sym_zero(), trio_mat_zero(), trio_sym_zero()}; }
INLINE TrioInertia trio_inertia_from(const ArticulatedInertia *a) {
	return (TrioInertia){trio_sym_from(a->I), trio_mat_from(a->H), trio_sym_from(a->M)};
}
INLINE ArticulatedInertia trio_inertia_out(TrioInertia a) {
	return (ArticulatedInertia){trio_sym_out(a.I), trio_mat_out(a.H), trio_sym_out(a.M)};
}
INLINE TrioInertia trio_inertia_load_wide(const ArticulatedInertia *a) {
	return (TrioInertia){trio_sym_load_wide(&a->I), trio_mat_from_columns(trio3_load_wide(&a->H)),
	                     trio_sym_load_wide(&a->M)};
}
INLINE void trio_inertia_store_wide(ArticulatedInertia *a, TrioInertia x) {
	trio_sym_store_wide(&a->I, x.I);
	trio3_store_wide(&a->H, trio_mat_columns(x.H));
	trio_sym_store_wide(&a->M, x.M);
}
INLINE TrioInertia trio_inertia_add(TrioInertia a, TrioInertia b) {
	return (TrioInertia){trio_sym_add(a.I, b.I), trio_mat_add(a.H, b.H), trio_sym_add(a.M, b.M)};
}
/* a - U K' with K a multiple of U. */
INLINE TrioInertia trio_inertia_sub_outer(TrioInertia a, TrioSpatial U, TrioSpatial K) {
	const trio l1 = trio_next(K.l);
	return (TrioInertia){trio_sym_sub_outer(a.I, U.a, K.a, trio_next(K.a)),
	                     trio_mat_sub_outer(a.H, U.a, K.l, l1, trio_prev(K.l)), trio_sym_sub_outer(a.M, U.l, K.l, l1)};
}
/* X(r)' a X(r): from O + r to O. H' = H + [r]x M,  I' = I + (N + N')/2,  N = [r]x (H + H')'. */
INLINE TrioInertia trio_inertia_shift(TrioInertia a, trio r, trio r1, trio r2) {
	const trio_mat H = trio_mat_add(a.H, trio_cross_sym(r1, r2, a.M));
	const trio_sym N = trio_cross_mat_half(r, r1, r2, trio_mat_add(a.H, H));
	return (TrioInertia){trio_sym_add(a.I, N), H, a.M};
}
INLINE TrioInertia trio_inertia_shift_by(TrioInertia a, trio r) {
	return trio_inertia_shift(a, r, trio_next(r), trio_prev(r));
}
/* The columns of a that a rotation about z, a translation along z, or both meet: a (z, 0), a (0, z), a S. */
INLINE TrioSpatial trio_inertia_mul_angular(const TrioInertia *a, trio z) {
	return (TrioSpatial){trio_sym_mul(a->I, z, trio_next(z), trio_prev(z)), trio_mat_tmul(a->H, z)};
}
INLINE TrioSpatial trio_inertia_mul_linear(const TrioInertia *a, trio z) {
	const trio z1 = trio_next(z), z2 = trio_prev(z);
	return (TrioSpatial){trio_mat_mul(a->H, z, z1, z2), trio_sym_mul(a->M, z, z1, z2)};
}
INLINE TrioSpatial trio_inertia_mul(const TrioInertia *a, TrioSpatial s) {
	return trio_spatial_add(trio_inertia_mul_angular(a, s.a), trio_inertia_mul_linear(a, s.l));
}

#endif
