// SPDX-License-Identifier: Apache-2.0
/*
 * real.h — the number type of the reference and the few functions it needs.
 *
 * Include with REF_QUAD defined for 113-bit numbers (names refq_xxx), without it for double (ref_xxx).
 * The quad elementary functions are written here (argument reduction and Taylor series, Newton steps), so
 * that no quad library is needed: compilers and C libraries differ in what they offer.
 */
#ifndef TEST_REFERENCE_REAL_H
#define TEST_REFERENCE_REAL_H

#include <calder/base.h>

#include <math.h>

#ifdef REF_QUAD
#define RN(name) refq_##name
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 real;
#else
typedef long double real;
#endif

static inline real real_abs(real x) { return x < 0 ? -x : x; }

static real real_sqrt(real x) {
	if (!(x > 0))
		return 0;
	real y = (real)sqrt((double)x);
	for (int i = 0; i < 3; i++)
		y = (y + x / y) / 2;
	return y;
}

/* pi/2 as the sum of three doubles. */
static inline real real_half_pi(void) {
	return (real)0x1.921fb54442d18p+0 + (real)0x1.1a62633145c07p-54 + (real)-0x1.f1976b7ed8fbcp-110;
}

/* Taylor series on |x| <= pi/4. */
static void real_sincos_small(real x, real *s, real *c) {
	real x2 = x * x, term = x, odd = x, even = 1, t2 = 1;
	for (int k = 1; k < 18; k++) {
		t2 = -t2 * x2 / (real)((2 * k - 1) * (2 * k));
		even += t2;
		term = -term * x2 / (real)((2 * k) * (2 * k + 1));
		odd += term;
	}
	*s = odd;
	*c = even;
}

static void real_sincos(real x, real *s, real *c) {
	double k = nearbyint((double)(x / real_half_pi()));
	real sx, cx;
	real_sincos_small(x - (real)k * real_half_pi(), &sx, &cx);
	int quadrant = (int)(k - 4.0 * floor(k / 4.0));
	*s = quadrant == 0 ? sx : quadrant == 1 ? cx : quadrant == 2 ? -sx : -cx;
	*c = quadrant == 0 ? cx : quadrant == 1 ? -sx : quadrant == 2 ? -cx : sx;
}

/* One step of sin(theta - theta0) from the double result: its error is cubed. */
static real real_atan2(real y, real x) {
	real r = real_sqrt(x * x + y * y), theta = (real)atan2((double)y, (double)x);
	if (!(r > 0))
		return 0;
	for (int i = 0; i < 2; i++) {
		real s, c;
		real_sincos(theta, &s, &c);
		theta += (y * c - x * s) / r;
	}
	return theta;
}
#else
#define RN(name) ref_##name
typedef double real;

static inline real real_abs(real x) { return fabs(x); }
static inline real real_sqrt(real x) { return sqrt(x); }
static inline real real_half_pi(void) { return 0x1.921fb54442d18p+0; }
static inline void real_sincos(real x, real *s, real *c) {
	*s = sin(x);
	*c = cos(x);
}
static inline real real_atan2(real y, real x) { return atan2(y, x); }
#endif

/* ---- vectors and rotations ------------------------------------------------------------------ */

typedef struct Vec {
	real x, y, z;
} Vec;
typedef struct Rot {
	real m[3][3];
} Rot;
typedef struct Quat {
	real w, x, y, z;
} Quat;

static inline Vec vec(real x, real y, real z) { return (Vec){x, y, z}; }
static inline Vec vec_in(CalVec3 a) { return (Vec){(real)a.x, (real)a.y, (real)a.z}; }
static inline CalVec3 vec_out(Vec a) { return (CalVec3){(double)a.x, (double)a.y, (double)a.z}; }
static inline Vec add(Vec a, Vec b) { return (Vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline Vec sub(Vec a, Vec b) { return (Vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline Vec scale(real s, Vec a) { return (Vec){s * a.x, s * a.y, s * a.z}; }
static inline real dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline Vec cross(Vec a, Vec b) {
	return (Vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline real norm(Vec a) { return real_sqrt(dot(a, a)); }

static inline Rot rot_identity(void) { return (Rot){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }
static inline Rot rot_in(const CalMat3 *a) {
	Rot R;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			R.m[i][j] = (real)a->m[i][j];
	return R;
}
static inline CalMat3 rot_out(Rot R) {
	CalMat3 a;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			a.m[i][j] = (double)R.m[i][j];
	return a;
}
static inline Vec rotate(Rot R, Vec a) {
	return (Vec){R.m[0][0] * a.x + R.m[0][1] * a.y + R.m[0][2] * a.z,
	             R.m[1][0] * a.x + R.m[1][1] * a.y + R.m[1][2] * a.z,
	             R.m[2][0] * a.x + R.m[2][1] * a.y + R.m[2][2] * a.z};
}
static inline Rot transpose(Rot R) {
	Rot T;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			T.m[i][j] = R.m[j][i];
	return T;
}
static inline Rot rot_mul(Rot A, Rot B) {
	Rot C;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			C.m[i][j] = A.m[i][0] * B.m[0][j] + A.m[i][1] * B.m[1][j] + A.m[i][2] * B.m[2][j];
	return C;
}

static inline Quat quat_unit(Quat q) {
	real n = real_sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
	return (Quat){q.w / n, q.x / n, q.y / n, q.z / n};
}
static inline Quat quat_mul(Quat a, Quat b) {
	return (Quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
	              a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z, a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x};
}
static inline Quat quat_conj(Quat q) { return (Quat){q.w, -q.x, -q.y, -q.z}; }

/* Of a unit quaternion: R a = a + 2w(v x a) + 2v x (v x a), column by column. */
static Rot quat_rot(Quat q) {
	Vec v = vec(q.x, q.y, q.z);
	Rot R = rot_identity();
	for (int j = 0; j < 3; j++) {
		Vec a = vec(j == 0, j == 1, j == 2);
		Vec va = cross(v, a), c = add(a, add(scale(2 * q.w, va), scale(2, cross(v, va))));
		R.m[0][j] = c.x, R.m[1][j] = c.y, R.m[2][j] = c.z;
	}
	return R;
}

/* exp of a rotation vector. */
static Quat quat_exp(Vec d) {
	real t = norm(d) / 2, s, c;
	real_sincos(t, &s, &c);
	real f = t > 0 ? s / (2 * t) : (real)0.5;
	return (Quat){c, f * d.x, f * d.y, f * d.z};
}

/* Rotation vector of a unit quaternion, length at most pi. */
static Vec quat_log(Quat q) {
	if (q.w < 0)
		q = (Quat){-q.w, -q.x, -q.y, -q.z};
	Vec v = vec(q.x, q.y, q.z);
	real s = norm(v);
	return s > 0 ? scale(2 * real_atan2(s, q.w) / s, v) : scale(2, v);
}

#endif
