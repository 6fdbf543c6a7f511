// SPDX-License-Identifier: Apache-2.0
/*
 * flexible_four.h — elimination of modes: what is common to all numbers of them, and the whole of it for four free
 * modes, which fit in registers (flexible.c has the formulas). A boom with two bending modes in each plane has four.
 *
 * Pivots that wait for each other cost more here than the arithmetic; so two are found at a time, and L is inverted on
 * the way.
 */
#ifndef CALDER_DYNAMICS_FLEX_FLEXIBLE_FOUR_H
#define CALDER_DYNAMICS_FLEX_FLEXIBLE_FOUR_H

#include "dynamics/flex/flexible.h"

enum { PIVOT_GOOD, PIVOT_LOST, PIVOT_NOT_FINITE };

INLINE int classify_pivot(real pivot, real diagonal) {
	int kind = PIVOT_GOOD;
	for (int i = 0; i < CAL_LANES; ++i) {
		const double p = real_lane(&pivot, i);
		if (!(p > SINGULAR_RATIO * real_lane(&diagonal, i)))
			kind = isnan(p) ? PIVOT_NOT_FINITE : PIVOT_LOST;
	}
	return kind;
}

/* Products of the rows of U and K, summed over the modes: U K' is symmetric. */
typedef struct OuterSum {
	pack I[6], H[9], M[6];
} OuterSum;

INLINE pack outer_term(pack sum, int first, pack u, pack k) { return first ? pack_mul(u, k) : pack_mac(sum, u, k); }

INLINE void outer_add(OuterSum *s, int first, pspatial U, pspatial K) {
	s->I[0] = outer_term(s->I[0], first, U.a.x, K.a.x), s->I[1] = outer_term(s->I[1], first, U.a.y, K.a.y);
	s->I[2] = outer_term(s->I[2], first, U.a.z, K.a.z), s->I[3] = outer_term(s->I[3], first, U.a.x, K.a.y);
	s->I[4] = outer_term(s->I[4], first, U.a.x, K.a.z), s->I[5] = outer_term(s->I[5], first, U.a.y, K.a.z);
	s->H[0] = outer_term(s->H[0], first, U.a.x, K.l.x), s->H[1] = outer_term(s->H[1], first, U.a.y, K.l.x);
	s->H[2] = outer_term(s->H[2], first, U.a.z, K.l.x), s->H[3] = outer_term(s->H[3], first, U.a.x, K.l.y);
	s->H[4] = outer_term(s->H[4], first, U.a.y, K.l.y), s->H[5] = outer_term(s->H[5], first, U.a.z, K.l.y);
	s->H[6] = outer_term(s->H[6], first, U.a.x, K.l.z), s->H[7] = outer_term(s->H[7], first, U.a.y, K.l.z);
	s->H[8] = outer_term(s->H[8], first, U.a.z, K.l.z), s->M[0] = outer_term(s->M[0], first, U.l.x, K.l.x);
	s->M[1] = outer_term(s->M[1], first, U.l.y, K.l.y), s->M[2] = outer_term(s->M[2], first, U.l.z, K.l.z);
	s->M[3] = outer_term(s->M[3], first, U.l.x, K.l.y), s->M[4] = outer_term(s->M[4], first, U.l.x, K.l.z);
	s->M[5] = outer_term(s->M[5], first, U.l.y, K.l.z);
}

/* The numbers of an ArticulatedInertia, and of an ArticulatedBody, in a row. */
enum { ARTICULATED_INERTIA_NUMBERS = 21, ARTICULATED_BODY_NUMBERS = 27 };
_Static_assert(sizeof(ArticulatedInertia) == ARTICULATED_INERTIA_NUMBERS * sizeof(real) &&
                   sizeof(ArticulatedBody) == ARTICULATED_BODY_NUMBERS * sizeof(real),
               "rows of numbers without gaps");

INLINE void row_sub(real *row, pack x) { pack_store(row, pack_sub(pack_load(row), x)); }

/* Takes the sums off an ArticulatedBody, M alone where f is NULL: forces of the modes. */
INLINE void sub_sums(real *total, const OuterSum *s, const pspatial *f) {
	row_sub(total, pack_sums_row(s->I[0], s->I[1], s->I[2], s->I[3]));
	row_sub(total + 4, pack_sums_row(s->I[4], s->I[5], s->H[0], s->H[1]));
	row_sub(total + 8, pack_sums_row(s->H[2], s->H[3], s->H[4], s->H[5]));
	row_sub(total + 12, pack_sums_row(s->H[6], s->H[7], s->H[8], s->M[0]));
	row_sub(total + 16, pack_sums_row(s->M[1], s->M[2], s->M[3], s->M[4]));
	if (!f) {
		total[20] -= pack_sum(s->M[5]);
		return;
	}
	row_sub(total + 20, pack_sums_row(s->M[5], f->a.x, f->a.y, f->a.z));
	const vec3 l = pvec_sum(f->l);
	total[24] -= l.x, total[25] -= l.y, total[26] -= l.z;
}

/* Notes the first pivot that is lost. */
INLINE void note_pivot(const Flex *flex, CalWork *work, int j, int kind, int *failed_dof) {
	if (LIKELY(kind == PIVOT_GOOD) || *failed_dof >= 0)
		return;
	*failed_dof = flex->u + j;
	work->dofs[*failed_dof].D_inv = real_from(kind == PIVOT_LOST ? (double)INFINITY : (double)NAN);
}

/* Zeros up to lane j, then ones. */
INLINE pack lanes_after(int j) {
	static const double after[2 * PACK] = {0, 0, 0, 0, 1, 1, 1, 1};
	return pack_const(after + PACK - 1 - j);
}

/* What is left of four free modes, in registers: their columns of E, rows of the modal mass. */
typedef struct Four {
	pspatial E;
	pack row[PACK];
} Four;

/* The factors of their modal mass: columns of L, zero up to the diagonal, and 1/D. */
typedef struct FourFactors {
	pack L[PACK], inverse;
	int failed_dof;
} FourFactors;

/*
 * L D L' of the modal mass. Two pivots at a time: 1/D_1 = M_00/(M_00 M_11 - M_01^2) need not wait for 1/D_0, nor the
 * products of a row with itself for 1/D.
 */
INLINE FourFactors factor_four(const Flex *flex, CalWork *work, pack row[PACK]) {
	FourFactors f = {.failed_dof = -1};
	real diagonal[PACK], inverse[PACK], pivot[PACK];
#pragma GCC unroll 4
	for (int j = 0; j < PACK; ++j)
		diagonal[j] = pack_lane(row[j], j);
#pragma GCC unroll 2
	for (int j = 0; j < PACK; j += 2) {
		const real a = pack_lane(row[j], j), b = pack_lane(row[j], j + 1), c = pack_lane(row[j + 1], j + 1);
		const real determinant = a * c - b * b;
		inverse[j] = 1.0 / a, inverse[j + 1] = a * (1.0 / determinant);
		pivot[j] = a;
#pragma GCC unroll 4
		for (int i = j + 1; i < PACK; ++i)
			row[i] = pack_msub(row[i], inverse[j], pack_times(pack_lane(row[j], i), row[j]));
		pivot[j + 1] = pack_lane(row[j + 1], j + 1);
#pragma GCC unroll 4
		for (int i = j + 2; i < PACK; ++i)
			row[i] = pack_msub(row[i], inverse[j + 1], pack_times(pack_lane(row[j + 1], i), row[j + 1]));
	}
#pragma GCC unroll 4
	for (int j = 0; j < PACK; ++j) {
		f.L[j] = pack_mul(pack_times(inverse[j], row[j]), lanes_after(j));
		note_pivot(flex, work, j, classify_pivot(pivot[j], diagonal[j]), &f.failed_dof);
	}
	f.inverse = pack_from(inverse[0], inverse[1], inverse[2], inverse[3]);
	return f;
}

/* Columns 1 to 3 of L'^-1, less the diagonal: outward no mode then waits for the one after it. */
INLINE void keep_inverse(const pack L[PACK], real *columns) {
	const real o = real_from(0), L01 = pack_lane(L[0], 1), L02 = pack_lane(L[0], 2), L03 = pack_lane(L[0], 3);
	const real L12 = pack_lane(L[1], 2), L13 = pack_lane(L[1], 3), L23 = pack_lane(L[2], 3);
	const real N13 = L12 * L23 - L13;
	pack_store(columns, pack_from(-L01, o, o, o));
	pack_store(columns + PACK, pack_from(L01 * L12 - L02, -L12, o, o));
	pack_store(columns + 2 * PACK, pack_from((L02 * L23 - L03) - L01 * N13, N13, -L23, o));
}

/*
 * Four free modes out of total: an ArticulatedInertia, or with the forces y = be - tau (not NULL) an ArticulatedBody.
 * Without, L is kept for forces that come later.
 */
INLINE void eliminate_four(const FourFactors *f, FlexWork *w, pspatial E, real *total, pack *y) {
#pragma GCC unroll 4
	for (int j = 0; j + 1 < PACK; ++j) {
		E = pspatial_sub_outer(E, pspatial_lane(E, j), f->L[j]);
		if (y)
			*y = pack_msub(*y, pack_lane(*y, j), f->L[j]);
	}
	for (int j = 0; j < PACK && !y; ++j)
		pack_store(w->M + j * PACK, f->L[j]);
	keep_inverse(f->L, w->Y);
	const pspatial K = {pvec_scale(E.a, f->inverse), pvec_scale(E.l, f->inverse)};
	OuterSum outer;
	outer_add(&outer, 1, E, K);
	pack_store(w->inverse, f->inverse);
	pspatial_store(w->K, PACK, K);
	if (y) {
		const pspatial force = {pvec_scale(K.a, *y), pvec_scale(K.l, *y)};
		sub_sums(total, &outer, &force);
	} else {
		sub_sums(total, &outer, NULL);
	}
}

INLINE Four load_four(const FlexWork *w) {
	const real *M = w->M;
	return (Four){pspatial_load(w->E, PACK),
	              {pack_load(M), pack_load(M + PACK), pack_load(M + 2 * PACK), pack_load(M + 3 * PACK)}};
}

/* Their accelerations, -L'^-1 (y/D + K'A). */
INLINE pack accelerate_four(FlexWork *w, real *udot, const spatial *A) {
	const pack dy = pack_mul(pack_load(w->y), pack_load(w->inverse));
	const pack t = pack_sub(pack_sub(pack_zero(), dy), pspatial_dot(*A, pspatial_load(w->K, PACK)));
	const real *N = w->Y;
	const pack x =
		pack_add(pack_madd(t, pack_lane(t, 1), pack_load(N)),
	             pack_madd(pack_times(pack_lane(t, 2), pack_load(N + PACK)), pack_lane(t, 3), pack_load(N + 2 * PACK)));
	pack_store(w->x, x);
	pack_store(udot, x);
	return x;
}

#endif
