// SPDX-License-Identifier: Apache-2.0
/*
 * portable.h — elementary functions that give the same bits on every machine.
 *
 * Those of the C library differ in the last bit between its versions, between processors with and without fused
 * multiply-add (glibc chooses at run time) and between architectures; a step size that differs in its last bit is another
 * run. The library therefore calls none of them, only what IEEE 754 rounds correctly: + - * / sqrt, and fmod, floor and their like,
 * which are exact (test/math/test_no_libm.sh). Arguments and results at the edges (0, infinity, NaN, outside the domain) are those
 * of C17 Annex F; errno and floating-point flags are not part of the contract. Errors: test/math/test_portable.c.
 */
#ifndef CALDER_MATH_PORTABLE_H
#define CALDER_MATH_PORTABLE_H

#ifdef __CUDACC__
/* What kernels of src/gpu meet of it. There it is not a number: the processor evaluates such a state. */
static __device__ inline void portable_sincos_large(double x, double *s, double *c) { *s = *c = x - x + NAN; }
static __device__ inline double portable_tan(double x) { return x - x + NAN; }
static __device__ inline double portable_atan2(double y, double x) { return y - x + NAN; }
#else
/** Both at once, for |x| above REAL_TRIG_MAX (math/real.h); any finite x. */
void portable_sincos_large(double x, double *s, double *c);
double portable_sin(double x);
double portable_cos(double x);
double portable_tan(double x);
double portable_asin(double x);
double portable_acos(double x);
double portable_atan(double x);
double portable_atan2(double y, double x);
double portable_sinh(double x);
double portable_cosh(double x);
double portable_tanh(double x);
double portable_exp(double x);
double portable_log(double x);
double portable_log1p(double x);
double portable_log10(double x);
double portable_pow(double x, double y);
double portable_hypot(double x, double y);
#endif

#endif
