// SPDX-License-Identifier: Apache-2.0
/*
 * trio.h — a 3-vector in one register, and 3x3 matrices made of such vectors.
 *
 * One source for every width: with AVX a trio is one register (x, y, z, unused), otherwise and with CAL_LANES > 1 a vec3.
 * Every operation goes component by component, and sums of three are (x + y) + z: the bits are the same in all of them,
 * and those of math/vec.h (docs/decisions/0056).
 *
 * How to use it. The one costly thing is to move numbers between components, so write equations with
 * trio_next() = (y, z, x) and trio_prev() = (z, x, y), one instruction each and none without AVX:
 *   vectors            trio; a x b is next(a next(b) - next(a) b); a sum of cross products needs one next() (trio_twist())
 *   rotations          trio3, columns: R v is three products with numbers, which come from memory (trio3_mul_dvec())
 *   3x3 matrices       trio_mat, cyclic diagonals d = (xx, yy, zz), n = (xy, yz, zx), p = (xz, yx, zy): m v and
 *                      m'v are three products, a b' is three, [v]x is {0, -prev(v), next(v)}: no numbers are spread
 *   symmetric          trio_sym, d and n: exactly symmetric, as sym3
 * The unused component is never read. It is zero in what comes from memory, so that it stays zero or bounded in a
 * recursion that multiplies what it carries by vectors of each link. trio_all() fills it; trio_load_any() leaves there
 * the number after the vector, for vectors that are only added up.
 *
 * Memory. Records keep vec3 and mat3, three numbers each. trio_load() and trio_store() touch these only. The _wide
 * ones take one instruction and touch the number after the vector too: to be stored in the order of addresses, the
 * number after the last being padding or stored later; to be read where that number belongs to the same record.
 * What was just stored number by number, or by overlapping stores, is not to be read back at once as a trio: the load would
 * wait. Keep it in registers (TRIO_IN_REGISTER), or take it number by number (trio_from()).
 */
#ifndef CALDER_MATH_TRIO_H
#define CALDER_MATH_TRIO_H

#include "math/inertia.h"
#ifndef __CUDACC__ // a thread of a device has no wide registers (src/gpu)
#include "math/pack.h"
#endif

/* ---- the type -------------------------------------------------------------------------------- */

#if CAL_LANES == 1 && defined(__AVX__)
enum { TRIO_IN_REGISTER = 1 };
typedef pack trio;
INLINE trio trio_clean(trio v) { // the unused component zero
	typedef long long bits __attribute__((vector_size(32)));
	return (pack)((bits)v & (bits){-1, -1, -1, 0});
}
INLINE trio trio_set(real x, real y, real z) { return trio_clean((pack){x, y, z, z}); }
INLINE trio trio_all(real s) { return pack_all(s); }
INLINE trio trio_add(trio a, trio b) { return a + b; }
INLINE trio trio_sub(trio a, trio b) { return a - b; }
INLINE trio trio_mul(trio a, trio b) { return a * b; }
INLINE trio trio_neg(trio a) { return -a; }
INLINE trio trio_times(real s, trio v) { return pack_all(s) * v; }
INLINE trio trio_next(trio v) { return SHUFFLE(v, v, 1, 2, 0, 3); }
INLINE trio trio_prev(trio v) { return SHUFFLE(v, v, 2, 0, 1, 3); }
INLINE trio trio_pick(trio a, trio b, trio c) { return SHUFFLE(SHUFFLE(a, b, 0, 5, 2, 3), c, 0, 1, 6, 3); }
INLINE trio trio_swap_yz(trio v) { return SHUFFLE(v, v, 0, 2, 1, 3); }
INLINE vec3 trio_vec(trio v) { return (vec3){v[0], v[1], v[2]}; }
INLINE trio trio_load_any(const vec3 *v) { return pack_load(&v->x); }
INLINE trio trio_dload_any(const dvec3 *v) { return pack_load(&v->x); }
INLINE trio trio_cross_z(trio v) { return SHUFFLE(v, v, 1, 0, 2, 3) * (pack){1, -1, 0, 0}; }
INLINE trio trio_load_row(const real *row) { return trio_clean(pack_load(row)); }
INLINE void trio_store_row(real *row, trio x) { pack_store(row, x); }
INLINE trio trio_load(const vec3 *v) {
	typedef double pair_row __attribute__((vector_size(16), aligned(8)));
	const pair_row xy = *(const pair_row *)&v->x;
	return (pack){xy[0], xy[1], v->z, 0};
}
INLINE void trio_store(vec3 *v, trio x) {
	typedef double pair_row __attribute__((vector_size(16), aligned(8)));
	*(pair_row *)&v->x = (pair_row){x[0], x[1]};
	v->z = x[2];
}
INLINE trio trio_spread(trio v, int i) {
	return i == 0 ? SHUFFLE(v, v, 0, 0, 0, 0) : i == 1 ? SHUFFLE(v, v, 1, 1, 1, 1) : SHUFFLE(v, v, 2, 2, 2, 2);
}
INLINE void trio_sums(trio a, trio b, real *sum_a, real *sum_b) {
	const pack xy = SHUFFLE(a, b, 0, 4, 2, 6) + SHUFFLE(a, b, 1, 5, 3, 7); // x + y of each, then z of each
	*sum_a = xy[0] + a[2];
	*sum_b = xy[1] + b[2];
}
#else
enum { TRIO_IN_REGISTER = 0 };
typedef vec3 trio;
INLINE trio trio_set(real x, real y, real z) { return vec(x, y, z); }
INLINE trio trio_all(real s) { return vec(s, s, s); }
INLINE trio trio_add(trio a, trio b) { return add(a, b); }
INLINE trio trio_sub(trio a, trio b) { return sub(a, b); }
INLINE trio trio_mul(trio a, trio b) { return vec(a.x * b.x, a.y * b.y, a.z * b.z); }
INLINE trio trio_neg(trio a) { return neg(a); }
INLINE trio trio_times(real s, trio v) { return scale(s, v); }
INLINE trio trio_next(trio v) { return vec(v.y, v.z, v.x); }
INLINE trio trio_prev(trio v) { return vec(v.z, v.x, v.y); }
INLINE trio trio_pick(trio a, trio b, trio c) { return vec(a.x, b.y, c.z); }
INLINE trio trio_swap_yz(trio v) { return vec(v.x, v.z, v.y); }
INLINE vec3 trio_vec(trio v) { return v; }
INLINE trio trio_load(const vec3 *v) { return *v; }
INLINE void trio_store(vec3 *v, trio x) { *v = x; }
#endif

/* ---- vectors --------------------------------------------------------------------------------- */

INLINE trio trio_zero(void) { return trio_all(real_from(0)); }
INLINE trio trio_from(vec3 v) { return trio_set(v.x, v.y, v.z); }
INLINE trio trio_dvec(dvec3 v) { return trio_set(real_from(v.x), real_from(v.y), real_from(v.z)); }
INLINE trio trio_madd(trio a, real s, trio v) { return trio_add(a, trio_times(s, v)); }
INLINE trio trio_mac(trio a, trio x, trio y) { return trio_add(a, trio_mul(x, y)); }
INLINE real trio_sum(trio v) {
	const vec3 s = trio_vec(v);
	return s.x + s.y + s.z;
}
INLINE real trio_dot(trio a, trio b) { return trio_sum(trio_mul(a, b)); }
#if CAL_LANES > 1 || !defined(__AVX__)
/* A component, i = 0, 1, 2, in all places. */
INLINE trio trio_spread(trio v, int i) {
	const vec3 s = trio_vec(v);
	return trio_all(i == 0 ? s.x : i == 1 ? s.y : s.z);
}
/* As trio_load_wide(), the unused component being the number after the vector, which belongs to the same record. */
INLINE trio trio_load_any(const vec3 *v) { return trio_load(v); }
INLINE trio trio_dload_any(const dvec3 *v) { return trio_dvec(*v); }
/* v x z = (y, -x, 0) */
INLINE trio trio_cross_z(trio v) {
	const vec3 s = trio_vec(v);
	return trio_mul(trio_set(s.y, s.x, s.z), trio_dvec((dvec3){1, -1, 0}));
}
/* Three numbers in a row; the fourth is touched with AVX. */
INLINE trio trio_load_row(const real *row) { return trio_set(row[0], row[1], row[2]); }
INLINE void trio_store_row(real *row, trio x) {
	const vec3 v = trio_vec(x);
	row[0] = v.x, row[1] = v.y, row[2] = v.z;
}
/* The sums of two trios at once. */
INLINE void trio_sums(trio a, trio b, real *sum_a, real *sum_b) { *sum_a = trio_sum(a), *sum_b = trio_sum(b); }
#endif

INLINE trio trio_load_wide(const vec3 *v) { return trio_load_row(&v->x); }
INLINE void trio_store_wide(vec3 *v, trio x) { trio_store_row(&v->x, x); }

/* prev(a x b): a cross product whose components wait for trio_next(); a1 = next(a), b1 = next(b). */
INLINE trio trio_twist(trio a, trio a1, trio b, trio b1) { return trio_sub(trio_mul(a, b1), trio_mul(a1, b)); }
INLINE trio trio_cross(trio a, trio b) { return trio_next(trio_twist(a, trio_next(a), b, trio_next(b))); }
/* prev(al x v + w x (w x v)): the acceleration of the point v of a body; w1, al1, v1 = next() of each. */
INLINE trio trio_twist_field(trio w, trio w1, trio al, trio al1, trio v, trio v1) {
	const trio c = trio_twist(w, w1, v, v1); // prev(w x v)
	return trio_add(trio_twist(al, al1, v, v1), trio_twist(w, w1, trio_next(c), trio_prev(c)));
}
INLINE trio trio_field(trio w, trio al, trio v) {
	return trio_next(trio_twist_field(w, trio_next(w), al, trio_next(al), v, trio_next(v)));
}

/*
 * W = [al]x + [w]x[w]x: the field of accelerations of a body, a_P = a_O + W r. By cyclic diagonals, as trio_mat below;
 * c is that of -W.
 */
typedef struct TrioField {
	trio c, n, p;
} TrioField;

INLINE TrioField trio_field_of(trio w, trio al) {
	const trio squares = trio_mul(w, w), products = trio_mul(w, trio_next(w));
	return (TrioField){trio_add(trio_next(squares), trio_prev(squares)), trio_sub(products, trio_prev(al)),
	                   trio_add(trio_prev(products), trio_next(al))};
}
/* W v; v1 = next(v), v2 = prev(v) */
INLINE trio trio_field_mul(TrioField W, trio v, trio v1, trio v2) {
	return trio_sub(trio_add(trio_mul(W.n, v1), trio_mul(W.p, v2)), trio_mul(W.c, v));
}

/* ---- columns: rotations ---------------------------------------------------------------------- */

typedef struct trio3 {
	trio x, y, z; // columns
} trio3;

INLINE trio3 trio3_from(mat3 m) { return (trio3){trio_from(m.x), trio_from(m.y), trio_from(m.z)}; }
INLINE trio3 trio3_dmat(dmat3 m) { return (trio3){trio_dvec(m.x), trio_dvec(m.y), trio_dvec(m.z)}; }
INLINE mat3 trio3_mat(trio3 m) { return (mat3){trio_vec(m.x), trio_vec(m.y), trio_vec(m.z)}; }
INLINE trio3 trio3_load(const mat3 *m) {
	return (trio3){trio_load_wide(&m->x), trio_load_wide(&m->y), trio_load(&m->z)};
}
INLINE trio3 trio3_load_wide(const mat3 *m) {
	return (trio3){trio_load_wide(&m->x), trio_load_wide(&m->y), trio_load_wide(&m->z)};
}
INLINE trio3 trio3_load_any(const mat3 *m) {
	return (trio3){trio_load_any(&m->x), trio_load_any(&m->y), trio_load_any(&m->z)};
}
INLINE void trio3_store(mat3 *m, trio3 v) {
	trio_store_wide(&m->x, v.x), trio_store_wide(&m->y, v.y), trio_store(&m->z, v.z);
}
INLINE void trio3_store_wide(mat3 *m, trio3 v) {
	trio_store_wide(&m->x, v.x), trio_store_wide(&m->y, v.y), trio_store_wide(&m->z, v.z);
}
INLINE trio3 trio3_madd(trio3 a, real s, trio3 m) {
	return (trio3){trio_madd(a.x, s, m.x), trio_madd(a.y, s, m.y), trio_madd(a.z, s, m.z)};
}
/* m v, with v as numbers in memory, or in a register. */
INLINE trio trio3_mul(trio3 m, vec3 v) { return trio_madd(trio_madd(trio_times(v.x, m.x), v.y, m.y), v.z, m.z); }
INLINE trio trio3_mul_dvec(trio3 m, dvec3 v) {
	return trio_madd(trio_madd(trio_times(real_from(v.x), m.x), real_from(v.y), m.y), real_from(v.z), m.z);
}
INLINE trio trio3_mul_trio(trio3 m, trio v) {
	return trio_mac(trio_mac(trio_mul(trio_spread(v, 0), m.x), trio_spread(v, 1), m.y), trio_spread(v, 2), m.z);
}
INLINE trio3 trio3_transpose(trio3 m) {
#if CAL_LANES == 1 && defined(__AVX__)
	const pack o = {0}, low = SHUFFLE(m.x, m.y, 0, 4, 2, 6), high = SHUFFLE(m.x, m.y, 1, 5, 3, 7);
	return (trio3){SHUFFLE(low, SHUFFLE(m.z, o, 0, 4, 2, 6), 0, 1, 4, 5),
	               SHUFFLE(high, SHUFFLE(m.z, o, 1, 5, 3, 7), 0, 1, 4, 5), SHUFFLE(low, m.z, 2, 3, 6, 7)};
#else
	const mat3 s = trio3_mat(m);
	return (trio3){trio_set(s.x.x, s.y.x, s.z.x), trio_set(s.x.y, s.y.y, s.z.y), trio_set(s.x.z, s.y.z, s.z.z)};
#endif
}
/* m'v: the sums of m.x v, m.y v, m.z v. */
INLINE trio trio3_tmul(trio3 m, trio v) {
	const trio3 t = trio3_transpose((trio3){trio_mul(m.x, v), trio_mul(m.y, v), trio_mul(m.z, v)});
	return trio_add(trio_add(t.x, t.y), t.z);
}
INLINE trio3 trio3_mul_dmat(trio3 m, dmat3 E) {
	return (trio3){trio3_mul_dvec(m, E.x), trio3_mul_dvec(m, E.y), trio3_mul_dvec(m, E.z)};
}
/* m [t]x */
INLINE trio3 trio3_cross(trio3 m, vec3 t) {
	return (trio3){trio_sub(trio_times(t.z, m.y), trio_times(t.y, m.z)),
	               trio_sub(trio_times(t.x, m.z), trio_times(t.z, m.x)),
	               trio_sub(trio_times(t.y, m.x), trio_times(t.x, m.y))};
}
/* F Rx(angle) and F Rz(angle), from sine and cosine. */
INLINE trio3 trio3_turn_x(trio3 F, real s, real c) {
	return (trio3){F.x, trio_madd(trio_times(c, F.y), s, F.z), trio_sub(trio_times(c, F.z), trio_times(s, F.y))};
}
INLINE trio3 trio3_turn_z(trio3 F, real s, real c) {
	return (trio3){trio_madd(trio_times(c, F.x), s, F.y), trio_sub(trio_times(c, F.y), trio_times(s, F.x)), F.z};
}

/* ---- cyclic diagonals: symmetric and general matrices ----------------------------------------- */

typedef struct trio_sym {
	trio d, n; // (xx, yy, zz), (xy, yz, xz)
} trio_sym;

typedef struct trio_mat {
	trio d, n, p; // (xx, yy, zz), (xy, yz, zx), (xz, yx, zy): rows first
} trio_mat;

INLINE trio_sym trio_sym_from(sym3 s) { return (trio_sym){trio_set(s.xx, s.yy, s.zz), trio_set(s.xy, s.yz, s.xz)}; }
INLINE sym3 trio_sym_out(trio_sym s) {
	const vec3 d = trio_vec(s.d), n = trio_vec(s.n);
	return (sym3){d.x, d.y, d.z, n.x, n.z, n.y};
}
/* From and to memory, one load and store per trio; what follows a sym3 is left alone. */
#if CAL_LANES == 1 && defined(__AVX__)
INLINE trio_sym trio_sym_load(const sym3 *s) {
	const pack o = {0}, off = pack_load(&s->zz); // zz, xy, xz, yz
	return (trio_sym){SHUFFLE(pack_load(&s->xx), o, 0, 1, 2, 7), SHUFFLE(SHUFFLE(off, off, 1, 3, 2, 0), o, 0, 1, 2, 7)};
}
INLINE void trio_sym_store(sym3 *s, trio_sym x) {
	const pack off = SHUFFLE(SHUFFLE(x.n, x.n, 3, 0, 2, 1), SHUFFLE(x.d, x.d, 2, 2, 2, 2), 4, 1, 2, 3);
	memcpy(&s->xx, &x.d, sizeof x.d);
	memcpy(&s->zz, &off, sizeof off);
}
#else
INLINE trio_sym trio_sym_load(const sym3 *s) { return trio_sym_from(*s); }
INLINE void trio_sym_store(sym3 *s, trio_sym x) { *s = trio_sym_out(x); }
#endif
/* Wide: touch the number after the record. */
INLINE trio_sym trio_sym_load_wide(const sym3 *s) {
	return (trio_sym){trio_load_row(&s->xx), trio_swap_yz(trio_load_row(&s->xy))};
}
INLINE void trio_sym_store_wide(sym3 *s, trio_sym x) {
	trio_store_row(&s->xx, x.d), trio_store_row(&s->xy, trio_swap_yz(x.n));
}
INLINE trio_sym trio_sym_zero(void) { return (trio_sym){trio_zero(), trio_zero()}; }
INLINE real trio_sym_trace(trio_sym s) { return trio_sum(s.d); }
INLINE trio_sym trio_sym_add(trio_sym a, trio_sym b) { return (trio_sym){trio_add(a.d, b.d), trio_add(a.n, b.n)}; }
/* s v; v1 = next(v), v2 = prev(v) */
INLINE trio trio_sym_mul(trio_sym s, trio v, trio v1, trio v2) {
	return trio_mac(trio_mac(trio_mul(s.d, v), s.n, v1), trio_prev(s.n), v2);
}
/* s - a b', where the product is known to be symmetric (b is a multiple of a); b1 = next(b) */
INLINE trio_sym trio_sym_sub_outer(trio_sym s, trio a, trio b, trio b1) {
	return (trio_sym){trio_sub(s.d, trio_mul(a, b)), trio_sub(s.n, trio_mul(a, b1))};
}
/* s - a b' - b a'; b1 = next(b) */
INLINE trio_sym trio_sym_sub_pair(trio_sym s, trio a, trio b, trio b1) {
	const trio half = trio_mul(a, b);
	return (trio_sym){trio_sub(s.d, trio_add(half, half)),
	                  trio_sub(s.n, trio_add(trio_mul(a, b1), trio_mul(b, trio_next(a))))};
}
/* x p' + p x' + y s' + s y' */
INLINE trio_sym trio_sym_pairs(trio x, trio p, trio y, trio s) {
	const trio half = trio_add(trio_mul(x, p), trio_mul(y, s));
	const trio xp = trio_add(trio_mul(x, trio_next(p)), trio_mul(p, trio_next(x)));
	const trio ys = trio_add(trio_mul(y, trio_next(s)), trio_mul(s, trio_next(y)));
	return (trio_sym){trio_add(half, half), trio_add(xp, ys)};
}

INLINE trio_mat trio_mat_from_columns(trio3 m) {
	return (trio_mat){trio_pick(m.x, m.y, m.z), trio_pick(m.y, m.z, m.x), trio_pick(m.z, m.x, m.y)};
}
INLINE trio3 trio_mat_columns(trio_mat m) {
	return (trio3){trio_pick(m.d, m.p, m.n), trio_pick(m.n, m.d, m.p), trio_pick(m.p, m.n, m.d)};
}
INLINE trio_mat trio_mat_from(mat3 m) { return trio_mat_from_columns(trio3_from(m)); }
INLINE mat3 trio_mat_out(trio_mat m) { return trio3_mat(trio_mat_columns(m)); }
INLINE trio_mat trio_mat_zero(void) { return (trio_mat){trio_zero(), trio_zero(), trio_zero()}; }
INLINE trio_mat trio_mat_add(trio_mat a, trio_mat b) {
	return (trio_mat){trio_add(a.d, b.d), trio_add(a.n, b.n), trio_add(a.p, b.p)};
}
/* m v; v1 = next(v), v2 = prev(v) */
INLINE trio trio_mat_mul(trio_mat m, trio v, trio v1, trio v2) {
	return trio_mac(trio_mac(trio_mul(m.d, v), m.n, v1), m.p, v2);
}
/* m'v */
INLINE trio trio_mat_tmul(trio_mat m, trio v) {
	return trio_add(trio_add(trio_mul(m.d, v), trio_prev(trio_mul(m.n, v))), trio_next(trio_mul(m.p, v)));
}
INLINE trio_mat trio_mat_mul_mat(trio_mat a, trio_mat b) {
	const trio dn = trio_next(b.d), dp = trio_prev(b.d), nn = trio_next(b.n), np = trio_prev(b.n);
	const trio pn = trio_next(b.p), pp = trio_prev(b.p);
	return (trio_mat){trio_mac(trio_mac(trio_mul(a.d, b.d), a.n, pn), a.p, np),
	                  trio_mac(trio_mac(trio_mul(a.d, b.n), a.n, dn), a.p, pp),
	                  trio_mac(trio_mac(trio_mul(a.d, b.p), a.n, nn), a.p, dp)};
}
/* Rotation of the quaternion (w, v) / |(w, v)|; its unused component is not zero. */
INLINE trio_mat trio_mat_quat(real w, trio v) {
	const real s = 2.0 / (w * w + trio_dot(v, v));
	const trio sv = trio_times(s, v), wv = trio_times(w, sv), v1 = trio_next(v), v2 = trio_prev(v);
	const trio squares = trio_mul(sv, v);
	const trio d = trio_sub(trio_all(real_from(1)), trio_add(trio_next(squares), trio_prev(squares)));
	return (trio_mat){d, trio_sub(trio_mul(sv, v1), trio_prev(wv)), trio_add(trio_mul(sv, v2), trio_next(wv))};
}
/* m - a b'; b1 = next(b), b2 = prev(b) */
INLINE trio_mat trio_mat_sub_outer(trio_mat m, trio a, trio b, trio b1, trio b2) {
	return (trio_mat){trio_sub(m.d, trio_mul(a, b)), trio_sub(m.n, trio_mul(a, b1)), trio_sub(m.p, trio_mul(a, b2))};
}
/* s m */
INLINE trio_mat trio_sym_mul_mat(trio_sym s, trio_mat m) {
	const trio n2 = trio_prev(s.n);
	return (trio_mat){trio_mac(trio_mac(trio_mul(s.d, m.d), s.n, trio_next(m.p)), n2, trio_prev(m.n)),
	                  trio_mac(trio_mac(trio_mul(s.d, m.n), s.n, trio_next(m.d)), n2, trio_prev(m.p)),
	                  trio_mac(trio_mac(trio_mul(s.d, m.p), s.n, trio_next(m.n)), n2, trio_prev(m.d))};
}
/* a'b, where it is known to be symmetric */
INLINE trio_sym trio_mat_tmul_sym(trio_mat a, trio_mat b) {
	const trio d = trio_add(trio_mul(a.d, b.d), trio_prev(trio_mul(a.n, b.n)));
	const trio n = trio_add(trio_mul(a.d, b.n), trio_next(trio_mul(a.p, b.d)));
	return (trio_sym){trio_add(d, trio_next(trio_mul(a.p, b.p))), trio_add(n, trio_prev(trio_mul(a.n, b.p)))};
}
/* Inverse by cofactors. */
INLINE trio_sym trio_sym_inverse(trio_sym s, real *determinant) {
	const trio d1 = trio_next(s.d), d2 = trio_prev(s.d), n1 = trio_next(s.n), n2 = trio_prev(s.n);
	const trio d = trio_sub(trio_mul(d1, d2), trio_mul(n1, n1)), n = trio_sub(trio_mul(n1, n2), trio_mul(s.n, d2));
	*determinant = trio_sum(trio_pick(trio_mul(s.d, d), trio_prev(trio_mul(s.n, n)), trio_mul(s.n, n)));
	const real inverse = 1.0 / *determinant;
	return (trio_sym){trio_times(inverse, d), trio_times(inverse, n)};
}
/* [r]x s; r1 = next(r), r2 = prev(r) */
INLINE trio_mat trio_cross_sym(trio r1, trio r2, trio_sym s) {
	const trio n1 = trio_next(s.n), n2 = trio_prev(s.n), d1 = trio_next(s.d), d2 = trio_prev(s.d);
	return (trio_mat){trio_sub(trio_mul(r1, n2), trio_mul(r2, s.n)), trio_sub(trio_mul(r1, n1), trio_mul(r2, d1)),
	                  trio_sub(trio_mul(r1, d2), trio_mul(r2, n1))};
}
/* (N + N')/2 with N = [r]x g' */
INLINE trio_sym trio_cross_mat_half(trio r, trio r1, trio r2, trio_mat g) {
	const trio up = trio_sub(trio_mul(r1, trio_next(g.n)), trio_mul(r2, trio_next(g.d)));
	const trio low = trio_sub(trio_mul(r2, g.d), trio_mul(r, g.p));
	return (trio_sym){trio_sub(trio_mul(r1, g.p), trio_mul(r2, g.n)), trio_times(real_from(0.5), trio_add(up, low))};
}

#endif
