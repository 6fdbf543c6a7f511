// SPDX-License-Identifier: Apache-2.0
/*
 * octet.h — eight numbers side by side: two packs, or one register where it holds as many.
 *
 * All but octet_sum() goes element by element, so that the bits are the same either way.
 */
#ifndef CALDER_MATH_OCTET_H
#define CALDER_MATH_OCTET_H

#include "math/pack.h"

#if CAL_LANES == 1

enum { OCTET = 8 };

#if defined(__AVX512F__)
typedef double octet __attribute__((vector_size(64)));
PACKED octet octet_zero(void) { return (octet){0}; }
PACKED octet octet_add(octet a, octet b) { return a + b; }
PACKED octet octet_mul(octet a, octet b) { return a * b; }
PACKED octet octet_times(double s, octet x) { return (s - (octet){0}) * x; }
PACKED octet octet_madd(octet a, double s, octet x) { return a + (s - (octet){0}) * x; }
PACKED octet octet_msub(octet a, double s, octet x) { return a - (s - (octet){0}) * x; }
PACKED octet octet_load(const double *x) {
	octet o;
	memcpy(&o, x, sizeof o);
	return o;
}
PACKED void octet_store(double *x, octet o) { memcpy(x, &o, sizeof o); }
PACKED double octet_at(octet x, int k) { return x[k]; }
PACKED pack octet_halves(octet x) { return (pack){x[0], x[1], x[2], x[3]} + (pack){x[4], x[5], x[6], x[7]}; }
#else
typedef struct octet {
	pack lo, hi;
} octet;
PACKED octet octet_zero(void) { return (octet){pack_zero(), pack_zero()}; }
PACKED octet octet_add(octet a, octet b) { return (octet){pack_add(a.lo, b.lo), pack_add(a.hi, b.hi)}; }
PACKED octet octet_mul(octet a, octet b) { return (octet){pack_mul(a.lo, b.lo), pack_mul(a.hi, b.hi)}; }
PACKED octet octet_times(double s, octet x) { return (octet){pack_times(s, x.lo), pack_times(s, x.hi)}; }
PACKED octet octet_madd(octet a, double s, octet x) {
	return (octet){pack_madd(a.lo, s, x.lo), pack_madd(a.hi, s, x.hi)};
}
PACKED octet octet_msub(octet a, double s, octet x) {
	return (octet){pack_msub(a.lo, s, x.lo), pack_msub(a.hi, s, x.hi)};
}
PACKED octet octet_load(const double *x) { return (octet){pack_load(x), pack_load(x + PACK)}; }
PACKED void octet_store(double *x, octet o) {
	pack_store(x, o.lo);
	pack_store(x + PACK, o.hi);
}
PACKED double octet_at(octet x, int k) {
	double all[OCTET];
	octet_store(all, x);
	return all[k];
}
PACKED pack octet_halves(octet x) { return pack_add(x.lo, x.hi); }
#endif

/* ---- wrenches in columns ------------------------------------------------------------------------ */

/* Eight spatial vectors, by components. */
typedef struct ospatial {
	octet ax, ay, az, lx, ly, lz;
} ospatial;

PACKED ospatial ospatial_load(const double *rows, int n) {
	return (ospatial){octet_load(rows),         octet_load(rows + n),     octet_load(rows + 2 * n),
	                  octet_load(rows + 3 * n), octet_load(rows + 4 * n), octet_load(rows + 5 * n)};
}
PACKED void ospatial_store(double *rows, int n, ospatial s) {
	octet_store(rows, s.ax), octet_store(rows + n, s.ay), octet_store(rows + 2 * n, s.az);
	octet_store(rows + 3 * n, s.lx), octet_store(rows + 4 * n, s.ly), octet_store(rows + 5 * n, s.lz);
}
PACKED ospatial ospatial_add(ospatial a, ospatial b) {
	return (ospatial){octet_add(a.ax, b.ax), octet_add(a.ay, b.ay), octet_add(a.az, b.az),
	                  octet_add(a.lx, b.lx), octet_add(a.ly, b.ly), octet_add(a.lz, b.lz)};
}
PACKED octet ospatial_dot_angular(vec3 a, ospatial s) {
	return octet_madd(octet_madd(octet_times(a.x, s.ax), a.y, s.ay), a.z, s.az);
}
PACKED octet ospatial_dot(spatial a, ospatial s) {
	const octet linear = octet_madd(octet_madd(octet_times(a.l.x, s.lx), a.l.y, s.ly), a.l.z, s.lz);
	return octet_add(ospatial_dot_angular(a.a, s), linear);
}
PACKED ospatial ospatial_sub_outer(ospatial s, spatial K, octet g) {
	return (ospatial){octet_msub(s.ax, K.a.x, g), octet_msub(s.ay, K.a.y, g), octet_msub(s.az, K.a.z, g),
	                  octet_msub(s.lx, K.l.x, g), octet_msub(s.ly, K.l.y, g), octet_msub(s.lz, K.l.z, g)};
}
/* From O + r back to O: moments get r x f. */
PACKED ospatial ospatial_shift(ospatial s, vec3 r) {
	s.ax = octet_msub(octet_madd(s.ax, r.y, s.lz), r.z, s.ly);
	s.ay = octet_msub(octet_madd(s.ay, r.z, s.lx), r.x, s.lz);
	s.az = octet_msub(octet_madd(s.az, r.x, s.ly), r.y, s.lx);
	return s;
}

#endif

#endif
