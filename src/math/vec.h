// SPDX-License-Identifier: Apache-2.0
/*
 * vec.h — 3-vectors, 3x3 matrices and spatial vectors over `real`, by value.
 *
 * Matrices are stored as columns: the columns of a rotation are the axes of its frame, and a turn about
 * z mixes two of them. dvec3 and dmat3 are the same over double: constants of the model. Where lanes are
 * on, real * double is a vector times a scalar.
 */
#ifndef CALDER_MATH_VEC_H
#define CALDER_MATH_VEC_H

#include <calder/base.h>
#include "math/real.h"

typedef struct vec3 {
	real x, y, z;
} vec3;

typedef struct mat3 {
	vec3 x, y, z; // columns
} mat3;

/* Symmetric 3x3. */
typedef struct sym3 {
	real xx, yy, zz, xy, xz, yz;
} sym3;

/* Angular part first: motion (w, v), acceleration (alpha, a) or wrench (moment, force). */
typedef struct spatial {
	vec3 a; // angular
	vec3 l; // linear
} spatial;

typedef struct dvec3 {
	double x, y, z;
} dvec3;

typedef struct dmat3 {
	dvec3 x, y, z; // columns
} dmat3;

typedef struct dpose {
	dmat3 R;
	dvec3 r;
} dpose;

INLINE vec3 vec(real x, real y, real z) { return (vec3){x, y, z}; }
INLINE vec3 vec_zero(void) { return (vec3){real_from(0), real_from(0), real_from(0)}; }
INLINE vec3 vec_from(dvec3 a) { return (vec3){real_from(a.x), real_from(a.y), real_from(a.z)}; }
INLINE vec3 add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
INLINE vec3 sub(vec3 a, vec3 b) { return (vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
INLINE vec3 neg(vec3 a) { return (vec3){-a.x, -a.y, -a.z}; }
INLINE vec3 scale(real s, vec3 a) { return (vec3){s * a.x, s * a.y, s * a.z}; }
INLINE vec3 madd(vec3 a, real s, vec3 b) { return (vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
INLINE real dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE vec3 cross(vec3 a, vec3 b) {
	return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

INLINE spatial spatial_zero(void) { return (spatial){vec_zero(), vec_zero()}; }
INLINE spatial spatial_add(spatial a, spatial b) { return (spatial){add(a.a, b.a), add(a.l, b.l)}; }
INLINE spatial spatial_sub(spatial a, spatial b) { return (spatial){sub(a.a, b.a), sub(a.l, b.l)}; }
INLINE spatial spatial_madd(spatial a, real s, spatial b) { return (spatial){madd(a.a, s, b.a), madd(a.l, s, b.l)}; }
INLINE real spatial_dot(spatial a, spatial b) { return dot(a.a, b.a) + dot(a.l, b.l); }

/* X(r) on a motion: from O to O + r. */
INLINE spatial motion_shift(spatial m, vec3 r) { return (spatial){m.a, add(m.l, cross(m.a, r))}; }
/* X(r)' on a force: from O + r back to O. */
INLINE spatial force_shift(spatial f, vec3 r) { return (spatial){add(f.a, cross(r, f.l)), f.l}; }

INLINE mat3 mat_from(dmat3 m) { return (mat3){vec_from(m.x), vec_from(m.y), vec_from(m.z)}; }
INLINE vec3 mat_mul_vec(mat3 m, vec3 v) {
	return (vec3){m.x.x * v.x + m.y.x * v.y + m.z.x * v.z, m.x.y * v.x + m.y.y * v.y + m.z.y * v.z,
	              m.x.z * v.x + m.y.z * v.y + m.z.z * v.z};
}
/* m' v */
INLINE vec3 mat_tmul_vec(mat3 m, vec3 v) { return (vec3){dot(m.x, v), dot(m.y, v), dot(m.z, v)}; }
INLINE mat3 mat_mul(mat3 a, mat3 b) { return (mat3){mat_mul_vec(a, b.x), mat_mul_vec(a, b.y), mat_mul_vec(a, b.z)}; }

/* Products of a run-time matrix with constants of the model. */
INLINE vec3 mat_mul_dvec(mat3 m, dvec3 v) {
	return (vec3){m.x.x * v.x + m.y.x * v.y + m.z.x * v.z, m.x.y * v.x + m.y.y * v.y + m.z.y * v.z,
	              m.x.z * v.x + m.y.z * v.y + m.z.z * v.z};
}
INLINE mat3 mat_mul_dmat(mat3 a, dmat3 b) {
	return (mat3){mat_mul_dvec(a, b.x), mat_mul_dvec(a, b.y), mat_mul_dvec(a, b.z)};
}

/* al x r + w x (w x r): acceleration of the point r of a body that turns with w and al. */
INLINE vec3 acceleration_at(vec3 w, vec3 al, vec3 r) { return add(cross(al, r), cross(w, cross(w, r))); }

/* [a]x + [w]x [w]x: the field of accelerations of a body about a point of it, a_P = a_O + W r. */
INLINE mat3 acceleration_field(vec3 w, vec3 al) {
	const real xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
	const real xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
	return (mat3){
		{-(yy + zz), xy + al.z, xz - al.y}, {xy - al.z, -(xx + zz), yz + al.x}, {xz + al.y, yz - al.x, -(xx + yy)}};
}

/* Double-only helpers for the model compiler. */
INLINE dvec3 dadd(dvec3 a, dvec3 b) { return (dvec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
INLINE dvec3 dscale(double s, dvec3 a) { return (dvec3){s * a.x, s * a.y, s * a.z}; }
INLINE double ddot(dvec3 a, dvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE dvec3 dcross(dvec3 a, dvec3 b) {
	return (dvec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
INLINE dvec3 dmat_mul_vec(dmat3 m, dvec3 v) {
	return (dvec3){m.x.x * v.x + m.y.x * v.y + m.z.x * v.z, m.x.y * v.x + m.y.y * v.y + m.z.y * v.z,
	               m.x.z * v.x + m.y.z * v.y + m.z.z * v.z};
}
INLINE dvec3 dmat_tmul_vec(dmat3 m, dvec3 v) { return (dvec3){ddot(m.x, v), ddot(m.y, v), ddot(m.z, v)}; }
INLINE dmat3 dmat_mul(dmat3 a, dmat3 b) {
	return (dmat3){dmat_mul_vec(a, b.x), dmat_mul_vec(a, b.y), dmat_mul_vec(a, b.z)};
}
INLINE dmat3 dmat_transpose(dmat3 m) {
	return (dmat3){{m.x.x, m.y.x, m.z.x}, {m.x.y, m.y.y, m.z.y}, {m.x.z, m.y.z, m.z.z}};
}
INLINE dmat3 dmat_identity(void) { return (dmat3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}; }
INLINE dpose dpose_identity(void) { return (dpose){dmat_identity(), {0, 0, 0}}; }
INLINE dpose dpose_mul(dpose a, dpose b) { return (dpose){dmat_mul(a.R, b.R), dadd(a.r, dmat_mul_vec(a.R, b.r))}; }
INLINE dpose dpose_inverse(dpose a) {
	const dmat3 Rt = dmat_transpose(a.R);
	return (dpose){Rt, dscale(-1, dmat_mul_vec(Rt, a.r))};
}

/* To and from the public types. */
INLINE dvec3 dvec_in(CalVec3 v) { return (dvec3){v.x, v.y, v.z}; }
INLINE CalVec3 dvec_out(dvec3 v) { return (CalVec3){v.x, v.y, v.z}; }
INLINE dmat3 dmat_in(const CalMat3 *m) {
	return (dmat3){{m->m[0][0], m->m[1][0], m->m[2][0]},
	               {m->m[0][1], m->m[1][1], m->m[2][1]},
	               {m->m[0][2], m->m[1][2], m->m[2][2]}};
}
INLINE CalMat3 dmat_out(dmat3 m) {
	return (CalMat3){{{m.x.x, m.y.x, m.z.x}, {m.x.y, m.y.y, m.z.y}, {m.x.z, m.y.z, m.z.z}}};
}
INLINE CalPose dpose_out(dpose p) { return (CalPose){dmat_out(p.R), dvec_out(p.r)}; }

#if CAL_LANES == 1
INLINE CalVec3 vec_out(vec3 v) { return (CalVec3){v.x, v.y, v.z}; }
INLINE vec3 vec_in(CalVec3 v) { return (vec3){v.x, v.y, v.z}; }
INLINE CalSpatial spatial_out(spatial s) { return (CalSpatial){vec_out(s.a), vec_out(s.l)}; }
INLINE spatial spatial_in(CalSpatial s) { return (spatial){vec_in(s.angular), vec_in(s.linear)}; }
INLINE CalMat3 mat_out(mat3 m) {
	return (CalMat3){{{m.x.x, m.y.x, m.z.x}, {m.x.y, m.y.y, m.z.y}, {m.x.z, m.y.z, m.z.z}}};
}
#endif

#endif
