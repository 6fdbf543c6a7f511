// SPDX-License-Identifier: Apache-2.0
/*
 * pack.h — modes side by side.
 *
 * What a flexible body has once per mode is kept by components, each a row over the modes, padded with zeros to a
 * multiple of four; kernels take a pack of four at a time, in one register or two. With CAL_LANES > 1 a row holds
 * `real`s, and a pack four of them. Source and order of additions are the same in all three: so are the bits.
 */
#ifndef CALDER_MATH_PACK_H
#define CALDER_MATH_PACK_H

#include "math/vec.h"

// The calling convention of wide vectors depends on the target; they do not leave the library.
#pragma GCC diagnostic ignored "-Wpsabi"

/* SHUFFLE(a, b, i, j, ...): the lanes of a and then b with these numbers, as many as a has. gcc has the word from 12 on. */
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (long long __attribute__((vector_size(sizeof(a))))){__VA_ARGS__})
#endif

/* Functions of packs: always in line, but with lanes, whose packs are four vectors each, as the compiler likes. */
#if CAL_LANES == 1
#define PACKED INLINE
#else
#define PACKED static inline
#endif

enum { PACK = 4 };

/* Length of a row of m modes. */
PACKED int row_length(int m) { return (m + PACK - 1) / PACK * PACK; }

#if CAL_LANES > 1
typedef struct pack {
	real lane[PACK];
} pack;
#define PACK_EACH(expression)       \
	pack out;                       \
	for (int i = 0; i < PACK; ++i)  \
		out.lane[i] = (expression); \
	return out
PACKED pack pack_all(real x) { PACK_EACH(x); }
PACKED pack pack_const(const double *row) { PACK_EACH(real_from(row[i])); }
PACKED pack pack_add(pack a, pack b) { PACK_EACH(a.lane[i] + b.lane[i]); }
PACKED pack pack_sub(pack a, pack b) { PACK_EACH(a.lane[i] - b.lane[i]); }
PACKED pack pack_mul(pack a, pack b) { PACK_EACH(a.lane[i] * b.lane[i]); }
PACKED real pack_lane(pack x, int i) { return x.lane[i]; }
#undef PACK_EACH
#elif defined(__AVX__)
typedef double pack __attribute__((vector_size(32)));
PACKED pack pack_all(real x) { return x - (pack){0}; }
PACKED pack pack_add(pack a, pack b) { return a + b; }
PACKED pack pack_sub(pack a, pack b) { return a - b; }
PACKED pack pack_mul(pack a, pack b) { return a * b; }
PACKED real pack_lane(pack x, int i) { return x[i]; }
#else
typedef double pair __attribute__((vector_size(16)));
typedef struct pack {
	pair lo, hi;
} pack;
PACKED pack pack_all(real x) {
	const pair both = x - (pair){0};
	return (pack){both, both};
}
PACKED pack pack_add(pack a, pack b) { return (pack){a.lo + b.lo, a.hi + b.hi}; }
PACKED pack pack_sub(pack a, pack b) { return (pack){a.lo - b.lo, a.hi - b.hi}; }
PACKED pack pack_mul(pack a, pack b) { return (pack){a.lo * b.lo, a.hi * b.hi}; }
PACKED real pack_lane(pack x, int i) { return i < 2 ? x.lo[i] : x.hi[i - 2]; }
#endif

#if CAL_LANES == 1
/* x where |x| > tiny, otherwise zero. */
#if defined(__AVX__)
PACKED pack pack_unless_tiny(pack x, pack tiny) {
	typedef long long bits __attribute__((vector_size(32)));
	return (pack)((bits)x & ((x > tiny) | (x < -tiny)));
}
#else
PACKED pack pack_unless_tiny(pack x, pack tiny) {
	typedef long long bits __attribute__((vector_size(16)));
	return (pack){(pair)((bits)x.lo & ((x.lo > tiny.lo) | (x.lo < -tiny.lo))),
	              (pair)((bits)x.hi & ((x.hi > tiny.hi) | (x.hi < -tiny.hi)))};
}
#endif
#endif

/* Accesses of doubles, not of bytes: the compiler knows that they leave pointers and numbers of loops alone. */
#if CAL_LANES == 1 && defined(__AVX__)
typedef double pack_row __attribute__((vector_size(32), aligned(8)));
PACKED pack pack_load(const real *row) { return *(const pack_row *)row; }
PACKED void pack_store(real *row, pack x) { *(pack_row *)row = x; }
#elif CAL_LANES == 1
typedef double pair_row __attribute__((vector_size(16), aligned(8)));
PACKED pack pack_load(const real *row) { return (pack){*(const pair_row *)row, *(const pair_row *)(row + 2)}; }
PACKED void pack_store(real *row, pack x) { *(pair_row *)row = x.lo, *(pair_row *)(row + 2) = x.hi; }
#else
PACKED pack pack_load(const real *row) { return (pack){{row[0], row[1], row[2], row[3]}}; }
PACKED void pack_store(real *row, pack x) {
	for (int i = 0; i < PACK; ++i)
		row[i] = x.lane[i];
}
#endif
#if CAL_LANES == 1
PACKED pack pack_const(const double *row) { return pack_load(row); }
#endif

/* Not by way of memory: a wide load has to wait until narrow stores have left the store buffer. */
#if CAL_LANES > 1
PACKED pack pack_from(real a, real b, real c, real d) { return (pack){{a, b, c, d}}; }
#elif defined(__AVX__)
PACKED pack pack_from(real a, real b, real c, real d) { return (pack){a, b, c, d}; }
#else
PACKED pack pack_from(real a, real b, real c, real d) { return (pack){{a, b}, {c, d}}; }
#endif
PACKED pack pack_zero(void) { return pack_all(real_from(0)); }
PACKED pack pack_times(real s, pack x) { return pack_mul(pack_all(s), x); }
PACKED pack pack_madd(pack a, real s, pack x) { return pack_add(a, pack_mul(pack_all(s), x)); }
PACKED pack pack_msub(pack a, real s, pack x) { return pack_sub(a, pack_mul(pack_all(s), x)); }
PACKED pack pack_mac(pack a, pack x, pack y) { return pack_add(a, pack_mul(x, y)); }
/* x before the first three of `row`. */
#if CAL_LANES > 1
PACKED pack pack_push(real x, pack row) { return (pack){{x, row.lane[0], row.lane[1], row.lane[2]}}; }
#elif defined(__AVX__)
PACKED pack pack_push(real x, pack row) { return SHUFFLE(pack_all(x), row, 0, 4, 5, 6); }
#else
PACKED pack pack_push(real x, pack row) { return (pack){{x, row.lo[0]}, {row.lo[1], row.hi[0]}}; }
#endif
PACKED real pack_sum(pack x) { return (pack_lane(x, 0) + pack_lane(x, 2)) + (pack_lane(x, 1) + pack_lane(x, 3)); }

/* Four sums at once, each in the order of pack_sum(). */
PACKED pack pack_sums_row(pack a, pack b, pack c, pack d) {
#if CAL_LANES == 1 && defined(__AVX__)
	const pack ac = SHUFFLE(a, c, 0, 1, 4, 5) + SHUFFLE(a, c, 2, 3, 6, 7);
	const pack bd = SHUFFLE(b, d, 0, 1, 4, 5) + SHUFFLE(b, d, 2, 3, 6, 7);
	return SHUFFLE(ac, bd, 0, 4, 2, 6) + SHUFFLE(ac, bd, 1, 5, 3, 7);
#elif CAL_LANES == 1
	const pair pa = a.lo + a.hi, pb = b.lo + b.hi, pc = c.lo + c.hi, pd = d.lo + d.hi;
	return (pack){SHUFFLE(pa, pb, 0, 2) + SHUFFLE(pa, pb, 1, 3), SHUFFLE(pc, pd, 0, 2) + SHUFFLE(pc, pd, 1, 3)};
#else
	return (pack){{pack_sum(a), pack_sum(b), pack_sum(c), pack_sum(d)}};
#endif
}

#if CAL_LANES == 1
/* Four packs as the rows of a matrix, which becomes its transpose. */
PACKED void pack_transpose(pack row[PACK]) {
	const pack a = row[0], b = row[1], c = row[2], d = row[3];
#if defined(__AVX__)
	const pack ab = SHUFFLE(a, b, 0, 4, 2, 6), ab_odd = SHUFFLE(a, b, 1, 5, 3, 7);
	const pack cd = SHUFFLE(c, d, 0, 4, 2, 6), cd_odd = SHUFFLE(c, d, 1, 5, 3, 7);
	row[0] = SHUFFLE(ab, cd, 0, 1, 4, 5), row[1] = SHUFFLE(ab_odd, cd_odd, 0, 1, 4, 5);
	row[2] = SHUFFLE(ab, cd, 2, 3, 6, 7), row[3] = SHUFFLE(ab_odd, cd_odd, 2, 3, 6, 7);
#else
	row[0] = (pack){SHUFFLE(a.lo, b.lo, 0, 2), SHUFFLE(c.lo, d.lo, 0, 2)};
	row[1] = (pack){SHUFFLE(a.lo, b.lo, 1, 3), SHUFFLE(c.lo, d.lo, 1, 3)};
	row[2] = (pack){SHUFFLE(a.hi, b.hi, 0, 2), SHUFFLE(c.hi, d.hi, 0, 2)};
	row[3] = (pack){SHUFFLE(a.hi, b.hi, 1, 3), SHUFFLE(c.hi, d.hi, 1, 3)};
#endif
}
/* The upper triangle of such a matrix, and what is symmetric to it. */
PACKED void pack_symmetric(pack row[PACK]) {
	pack t[PACK] = {row[0], row[1], row[2], row[3]};
	pack_transpose(t);
#if defined(__AVX__)
	row[1] = SHUFFLE(t[1], row[1], 0, 5, 6, 7), row[2] = SHUFFLE(t[2], row[2], 0, 1, 6, 7);
	row[3] = SHUFFLE(t[3], row[3], 0, 1, 2, 7);
#else
	row[1].lo = SHUFFLE(t[1].lo, row[1].lo, 0, 3), row[2].lo = t[2].lo;
	row[3] = (pack){t[3].lo, SHUFFLE(t[3].hi, row[3].hi, 0, 3)};
#endif
}
#endif

typedef struct Sums {
	real a, b, c, d;
} Sums;

PACKED Sums pack_sums(pack a, pack b, pack c, pack d) {
	const pack row = pack_sums_row(a, b, c, d);
	return (Sums){pack_lane(row, 0), pack_lane(row, 1), pack_lane(row, 2), pack_lane(row, 3)};
}

/* ---- vectors, one per mode ------------------------------------------------------------------ */

typedef struct pvec3 {
	pack x, y, z;
} pvec3;

typedef struct pspatial {
	pvec3 a, l;
} pspatial;

PACKED pvec3 pvec_zero(void) { return (pvec3){pack_zero(), pack_zero(), pack_zero()}; }
PACKED pvec3 pvec_load(const real *rows, int n) {
	return (pvec3){pack_load(rows), pack_load(rows + n), pack_load(rows + 2 * n)};
}
PACKED pvec3 pvec_const(const double *rows, int n) {
	return (pvec3){pack_const(rows), pack_const(rows + n), pack_const(rows + 2 * n)};
}
PACKED void pvec_store(real *rows, int n, pvec3 v) {
	pack_store(rows, v.x);
	pack_store(rows + n, v.y);
	pack_store(rows + 2 * n, v.z);
}
PACKED pvec3 pvec_add(pvec3 a, pvec3 b) { return (pvec3){pack_add(a.x, b.x), pack_add(a.y, b.y), pack_add(a.z, b.z)}; }
PACKED pvec3 pvec_neg(pvec3 a) {
	const pack o = pack_zero();
	return (pvec3){pack_sub(o, a.x), pack_sub(o, a.y), pack_sub(o, a.z)};
}
PACKED pvec3 pvec_madd(pvec3 a, real s, pvec3 b) {
	return (pvec3){pack_madd(a.x, s, b.x), pack_madd(a.y, s, b.y), pack_madd(a.z, s, b.z)};
}
/* Each mode's vector times its own number, also added; and one vector times each mode's number, taken off. */
PACKED pvec3 pvec_scale(pvec3 v, pack x) { return (pvec3){pack_mul(v.x, x), pack_mul(v.y, x), pack_mul(v.z, x)}; }
PACKED pvec3 pvec_mac(pvec3 a, pvec3 v, pack x) {
	return (pvec3){pack_mac(a.x, v.x, x), pack_mac(a.y, v.y, x), pack_mac(a.z, v.z, x)};
}
PACKED pvec3 pvec_sub_outer(pvec3 a, vec3 s, pack x) {
	return (pvec3){pack_msub(a.x, s.x, x), pack_msub(a.y, s.y, x), pack_msub(a.z, s.z, x)};
}
PACKED pack pack_combine(real a, pack x, real b, pack y, real c, pack z) {
	return pack_madd(pack_madd(pack_times(a, x), b, y), c, z);
}
PACKED pvec3 mat_mul_pvec(mat3 m, pvec3 v) {
	return (pvec3){pack_combine(m.x.x, v.x, m.y.x, v.y, m.z.x, v.z), pack_combine(m.x.y, v.x, m.y.y, v.y, m.z.y, v.z),
	               pack_combine(m.x.z, v.x, m.y.z, v.y, m.z.z, v.z)};
}
/* m' v */
PACKED pvec3 mat_tmul_pvec(mat3 m, pvec3 v) {
	return (pvec3){pack_combine(m.x.x, v.x, m.x.y, v.y, m.x.z, v.z), pack_combine(m.y.x, v.x, m.y.y, v.y, m.y.z, v.z),
	               pack_combine(m.z.x, v.x, m.z.y, v.y, m.z.z, v.z)};
}
PACKED pvec3 sym_mul_pvec(sym3 s, pvec3 v) {
	return (pvec3){pack_combine(s.xx, v.x, s.xy, v.y, s.xz, v.z), pack_combine(s.xy, v.x, s.yy, v.y, s.yz, v.z),
	               pack_combine(s.xz, v.x, s.yz, v.y, s.zz, v.z)};
}
/* a x v and a . v for each mode */
PACKED pvec3 pvec_cross(vec3 a, pvec3 v) {
	return (pvec3){pack_msub(pack_times(a.y, v.z), a.z, v.y), pack_msub(pack_times(a.z, v.x), a.x, v.z),
	               pack_msub(pack_times(a.x, v.y), a.y, v.x)};
}
PACKED pack pvec_dot(vec3 a, pvec3 v) { return pack_combine(a.x, v.x, a.y, v.y, a.z, v.z); }

PACKED pspatial pspatial_load(const real *rows, int n) {
	return (pspatial){pvec_load(rows, n), pvec_load(rows + 3 * n, n)};
}
PACKED void pspatial_store(real *rows, int n, pspatial s) {
	pvec_store(rows, n, s.a);
	pvec_store(rows + 3 * n, n, s.l);
}
PACKED pspatial pspatial_add(pspatial a, pspatial b) { return (pspatial){pvec_add(a.a, b.a), pvec_add(a.l, b.l)}; }
PACKED pspatial pspatial_sub_outer(pspatial a, spatial s, pack x) {
	return (pspatial){pvec_sub_outer(a.a, s.a, x), pvec_sub_outer(a.l, s.l, x)};
}
PACKED pspatial pspatial_zero(void) { return (pspatial){pvec_zero(), pvec_zero()}; }
PACKED pvec3 pvec_push(vec3 a, pvec3 v) {
	return (pvec3){pack_push(a.x, v.x), pack_push(a.y, v.y), pack_push(a.z, v.z)};
}
/* s as the first of four, the last of which is gone. */
PACKED pspatial pspatial_push(spatial s, pspatial v) { return (pspatial){pvec_push(s.a, v.a), pvec_push(s.l, v.l)}; }
/* One vector times each mode's number, added. */
PACKED pvec3 pvec_add_outer(pvec3 a, vec3 s, pack x) {
	return (pvec3){pack_madd(a.x, s.x, x), pack_madd(a.y, s.y, x), pack_madd(a.z, s.z, x)};
}
PACKED pspatial pspatial_add_outer(pspatial a, spatial s, pack x) {
	return (pspatial){pvec_add_outer(a.a, s.a, x), pvec_add_outer(a.l, s.l, x)};
}
PACKED pack pspatial_dot(spatial a, pspatial v) { return pack_add(pvec_dot(a.a, v.a), pvec_dot(a.l, v.l)); }
PACKED spatial pspatial_lane(pspatial s, int i) {
	return (spatial){{pack_lane(s.a.x, i), pack_lane(s.a.y, i), pack_lane(s.a.z, i)},
	                 {pack_lane(s.l.x, i), pack_lane(s.l.y, i), pack_lane(s.l.z, i)}};
}
/* X(r)' on forces: from O + r back to O. */
PACKED pspatial pforce_shift(pspatial f, vec3 r) { return (pspatial){pvec_add(f.a, pvec_cross(r, f.l)), f.l}; }

/* X(r) on motions: from O to O + r. */
PACKED pspatial pmotion_shift(pspatial m, vec3 r) {
	const pvec3 v = {pack_msub(pack_times(r.z, m.a.y), r.y, m.a.z), pack_msub(pack_times(r.x, m.a.z), r.z, m.a.x),
	                 pack_msub(pack_times(r.y, m.a.x), r.x, m.a.y)};
	return (pspatial){m.a, pvec_add(m.l, v)};
}

/* ---- sums over the modes of rows ------------------------------------------------------------ */

PACKED vec3 pvec_sum(pvec3 v) {
	const Sums s = pack_sums(v.x, v.y, v.z, v.z);
	return (vec3){s.a, s.b, s.c};
}
PACKED spatial pspatial_sum(pvec3 a, pvec3 l) {
	const Sums s = pack_sums(a.x, a.y, a.z, l.x);
	const real y = pack_sum(l.y), z = pack_sum(l.z);
	return (spatial){{s.a, s.b, s.c}, {s.d, y, z}};
}

/* sum_k rows_k x_k of constants, or of numbers of an evaluation */
PACKED vec3 rows_sum(const double *rows, int n, const real *x) {
	pvec3 sum = pvec_scale(pvec_const(rows, n), pack_load(x));
	for (int k = PACK; k < n; k += PACK)
		sum = pvec_mac(sum, pvec_const(rows + k, n), pack_load(x + k));
	return pvec_sum(sum);
}
PACKED spatial rows_sum_spatial(const real *rows, int n, const real *x) {
	const pack x0 = pack_load(x);
	pvec3 a = pvec_scale(pvec_load(rows, n), x0), l = pvec_scale(pvec_load(rows + 3 * n, n), x0);
	for (int k = PACK; k < n; k += PACK) {
		const pack xk = pack_load(x + k);
		a = pvec_mac(a, pvec_load(rows + k, n), xk);
		l = pvec_mac(l, pvec_load(rows + 3 * n + k, n), xk);
	}
	return pspatial_sum(a, l);
}

/* One mode of six rows. */
PACKED spatial rows_mode(const real *rows, int n, int k) {
	return (spatial){{rows[k], rows[n + k], rows[2 * n + k]}, {rows[3 * n + k], rows[4 * n + k], rows[5 * n + k]}};
}

#endif
