// SPDX-License-Identifier: Apache-2.0
/*
 * real.h — the number type of the sweeps.
 *
 * Kernels are written once over `real` and compiled with CAL_LANES = 1 (real is double: one system) or
 * CAL_LANES = 4, 8 (real is a vector of doubles: as many states of one model side by side). Arithmetic
 * is the same source in both; nothing here or in a kernel branches on the value of a lane, except where
 * every lane takes the same slow path (huge angles).
 *
 * sin and cos are our own: the same bits on every machine and in every lane, and several at a time.
 * Reduction by multiples of pi/2 in three parts of 33 bits (Cody and Waite), polynomials of degree 13
 * and 14 from a Chebyshev fit; error below 1 ulp (test/math/test_real.c). Beyond |x| = REAL_TRIG_MAX the
 * reduction would lose digits; math/portable.c takes over, with all the digits of 2/pi that it needs.
 */
#ifndef CALDER_MATH_REAL_H
#define CALDER_MATH_REAL_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/portable.h"

#ifndef __CUDACC__
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be computed as doubles; on 32-bit x86 add -msse2 -mfpmath=sse");
#endif

#ifndef CAL_LANES
#define CAL_LANES 1
#endif

#if CAL_LANES > 1
// The calling convention of vectors depends on the target; they do not leave the library.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

typedef double real4 __attribute__((vector_size(32)));

#if CAL_LANES == 1
typedef double real;
#else
typedef double real __attribute__((vector_size(8 * CAL_LANES)));
#endif

/*
 * Kernel names carry the lane count: LANED(forward_sweep) is forward_sweep_x1, forward_sweep_x4, ... and, where the
 * file is compiled once more for wider registers, CAL_ISA: forward_sweep_x1_avx2 (dynamics/tree/kernels.h).
 */
#define LANED_JOIN(name, lanes) name##_x##lanes
#define LANED_EXPAND(name, lanes) LANED_JOIN(name, lanes)
#define LANED_JOIN_ISA(name, lanes, isa) name##_x##lanes##_##isa
#define LANED_EXPAND_ISA(name, lanes, isa) LANED_JOIN_ISA(name, lanes, isa)
#ifdef CAL_ISA
#define LANED(name) LANED_EXPAND_ISA(name, CAL_LANES, CAL_ISA)
#else
#define LANED(name) LANED_EXPAND(name, CAL_LANES)
#endif

#ifdef __CUDACC__ // src/gpu: the same source for a device
#define INLINE static __device__ __forceinline__
#else
#define INLINE static inline __attribute__((always_inline))
#endif
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A constant in every lane. */
INLINE real real_from(double value) {
#if CAL_LANES == 1
	return value;
#else
	return value - (real){0};
#endif
}

INLINE double real_lane(const real *x, int lane) {
	double value[CAL_LANES];
	memcpy(value, x, sizeof value);
	return value[lane];
}

INLINE void real_set_lane(real *x, int lane, double value) {
	double lanes[CAL_LANES];
	memcpy(lanes, x, sizeof lanes);
	lanes[lane] = value;
	memcpy(x, lanes, sizeof lanes);
}

#define REAL_TRIG_MAX 1.0e6 // |n| < 2^20: n times a 33-bit part is exact

/*
 * The body of sincos for a floating type F whose bits have the integer type I. n = round(2x/pi) is
 * found by adding 1.5 2^52, which leaves it in the low bits; they select and sign the two polynomials.
 */
#define REAL_SINCOS_BODY(F, I)                                                                                \
	const F magic = x * 0.63661977236758134308 + 6755399441055744.0;                                          \
	const F n = magic - 6755399441055744.0;                                                                   \
	const F r1 = x - n * 1.57079632673412561417;                                                              \
	const F n2 = n * 6.07710050630396597660e-11;                                                              \
	const F r2 = r1 - n2;                                                                                     \
	const F t = n * 2.02226624871116645580e-21 - ((r1 - r2) - n2);                                            \
	const F r = r2 - t;                                                                                       \
	const F lo = (r2 - r) - t;                                                                                \
	const F z = r * r;                                                                                        \
	const F ps = ((((1.591805913698281e-10 * z - 2.5051130870968297e-08) * z + 2.755731609787775e-06) * z -   \
	               0.0001984126983674956) *                                                                   \
	                  z +                                                                                     \
	              0.008333333333330943) *                                                                     \
	                 z -                                                                                      \
	             0.16666666666666666;                                                                         \
	const F pc = ((((-1.1382588535352522e-11 * z + 2.0876145659059344e-09) * z - 2.755731726880539e-07) * z + \
	               2.4801587298760048e-05) *                                                                  \
	                  z -                                                                                     \
	              0.0013888888888887393) *                                                                    \
	                 z +                                                                                      \
	             0.041666666666666664;                                                                        \
	const F half = 0.5 * z;                                                                                   \
	const F w = 1.0 - half;                                                                                   \
	const F sine = r + (r * z * ps + lo * w);                                                                 \
	const F cosine = w + (((1.0 - w) - half) + (z * z * pc - r * lo));                                        \
	I k, sb, cb;                                                                                              \
	memcpy(&k, &magic, sizeof k);                                                                             \
	memcpy(&sb, &sine, sizeof sb);                                                                            \
	memcpy(&cb, &cosine, sizeof cb);                                                                          \
	const I swap = -(k & 1);                                                                                  \
	const I s_out = ((sb & ~swap) | (cb & swap)) ^ ((k & 2) << 62);                                           \
	const I c_out = ((cb & ~swap) | (sb & swap)) ^ (((k + 1) & 2) << 62);                                     \
	memcpy(s, &s_out, sizeof s_out);                                                                          \
	memcpy(c, &c_out, sizeof c_out);

/* Shifting into the sign bit is meant: done on unsigned bits. */
typedef uint64_t ubits4 __attribute__((vector_size(32)));

INLINE void sincos_double_reduced(double x, double *s, double *c) { REAL_SINCOS_BODY(double, uint64_t) }
#ifndef __CUDACC__
INLINE void sincos_real4_reduced(const real4 *angles, real4 *s, real4 *c) {
	const real4 x = *angles;
	REAL_SINCOS_BODY(real4, ubits4)
}
#endif

INLINE void sincos_double(double x, double *s, double *c) {
	sincos_double_reduced(x, s, c);
	if (fabs(x) > REAL_TRIG_MAX) {
		portable_sincos_large(x, s, c);
	}
}

#ifndef __CUDACC__
/* n angles at once, four at a time. */
INLINE void sincos_array(const double *x, double *s, double *c, int n) {
	typedef int64_t int4 __attribute__((vector_size(32)));
	int4 large = {0};
	int i = 0;
	for (; i + 4 <= n; i += 4) {
		real4 v, vs, vc;
		memcpy(&v, x + i, sizeof v);
		large |= (v > REAL_TRIG_MAX) | (v < -REAL_TRIG_MAX);
		sincos_real4_reduced(&v, &vs, &vc);
		memcpy(s + i, &vs, sizeof vs);
		memcpy(c + i, &vc, sizeof vc);
	}
	for (; i < n; ++i)
		sincos_double(x[i], &s[i], &c[i]);
	if (__builtin_expect((large[0] | large[1] | large[2] | large[3]) != 0, 0)) {
		for (i = 0; i < n; ++i)
			sincos_double(x[i], &s[i], &c[i]);
	}
}
#endif

#if CAL_LANES == 1
INLINE void sincos_real(real x, real *s, real *c) { sincos_double(x, s, c); }
INLINE real real_sqrt(real x) { return sqrt(x); }
#else
typedef uint64_t real_ubits __attribute__((vector_size(8 * CAL_LANES)));
INLINE void sincos_real(real x, real *s, real *c) {
	{ REAL_SINCOS_BODY(real, real_ubits) }
	for (int i = 0; i < CAL_LANES; ++i) {
		const double xi = x[i];
		if (__builtin_expect(fabs(xi) > REAL_TRIG_MAX, 0)) {
			double si, ci;
			portable_sincos_large(xi, &si, &ci);
			real_set_lane(s, i, si);
			real_set_lane(c, i, ci);
		}
	}
}
INLINE real real_sqrt(real x) {
	for (int i = 0; i < CAL_LANES; ++i)
		x[i] = sqrt(x[i]);
	return x;
}
#endif

#endif
