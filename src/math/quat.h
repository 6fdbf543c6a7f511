// SPDX-License-Identifier: Apache-2.0
/*
 * quat.h — quaternions (w,x,y,z) and rotation vectors.
 *
 * Quaternions of joints are used as q/|q| throughout: the matrix below divides by the squared norm, so
 * a state that is not exactly unit is read as the rotation it points to. The exponential map and the
 * inverse tangent are what integrate, difference and rate of the manifold need; they use series near 0.
 */
#ifndef CALDER_MATH_QUAT_H
#define CALDER_MATH_QUAT_H

#include "math/portable.h"
#include "math/vec.h"

/* Rotation matrix of the quaternion (w,x,y,z)/|.|. */
INLINE mat3 quat_matrix(real w, real x, real y, real z) {
	const real s = 2.0 / (w * w + x * x + y * y + z * z);
	const real wx = s * w * x, wy = s * w * y, wz = s * w * z;
	const real xx = s * x * x, xy = s * x * y, xz = s * x * z;
	const real yy = s * y * y, yz = s * y * z, zz = s * z * z;
	return (mat3){
		{1.0 - (yy + zz), xy + wz, xz - wy}, {xy - wz, 1.0 - (xx + zz), yz + wx}, {xz + wy, yz - wx, 1.0 - (xx + yy)}};
}

INLINE dmat3 dquat_matrix(CalQuat q) {
	const double n = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
	if (n == 0)
		return dmat_identity();
	const double s = 2.0 / n;
	const double wx = s * q.w * q.x, wy = s * q.w * q.y, wz = s * q.w * q.z;
	const double xx = s * q.x * q.x, xy = s * q.x * q.y, xz = s * q.x * q.z;
	const double yy = s * q.y * q.y, yz = s * q.y * q.z, zz = s * q.z * q.z;
	return (dmat3){
		{1.0 - (yy + zz), xy + wz, xz - wy}, {xy - wz, 1.0 - (xx + zz), yz + wx}, {xz + wy, yz - wx, 1.0 - (xx + yy)}};
}

INLINE CalQuat dquat_mul(CalQuat a, CalQuat b) {
	return (CalQuat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
	                 a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

INLINE CalQuat dquat_unit(CalQuat q) {
	const double s = 1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
	return (CalQuat){s * q.w, s * q.x, s * q.y, s * q.z};
}

/* Quaternion of the rotation vector v. */
INLINE CalQuat dquat_exp(dvec3 v) {
	const double a2 = ddot(v, v), a = sqrt(a2);
	double s, c;
	sincos_double(0.5 * a, &s, &c);
	const double k = a < 1e-4 ? 0.5 - a2 / 48.0 : s / a; // sin(a/2)/a
	return (CalQuat){c, k * v.x, k * v.y, k * v.z};
}

/* Rotation vector of q/|q|, of length at most pi. */
INLINE dvec3 dquat_log(CalQuat q) {
	const double sign = q.w < 0 ? -1.0 : 1.0;
	const dvec3 v = {sign * q.x, sign * q.y, sign * q.z};
	const double s = sqrt(ddot(v, v)), w = sign * q.w;
	const double k = s < 1e-5 * w ? 2.0 / w * (1.0 - s * s / (3.0 * w * w)) : 2.0 * portable_atan2(s, w) / s;
	return dscale(k, v);
}

/*
 * (1 - a/2 cot(a/2)) / a^2, the second coefficient of the inverse tangent of the exponential map:
 * theta_dot = w + 1/2 theta x w + k theta x (theta x w) for w in the moving frame.
 */
INLINE double tangent_inverse_coefficient(double a2) {
	if (a2 < 1e-4)
		return 1.0 / 12.0 + a2 / 720.0 + a2 * a2 / 30240.0;
	const double a = sqrt(a2);
	return (1.0 - 0.5 * a / portable_tan(0.5 * a)) / a2;
}

/* Rate of the rotation vector theta when the body turns with w (components in the moving frame). */
INLINE dvec3 rotation_vector_rate(dvec3 theta, dvec3 w) {
	const dvec3 c = dcross(theta, w), cc = dcross(theta, c);
	const double k = tangent_inverse_coefficient(ddot(theta, theta));
	return (dvec3){w.x + 0.5 * c.x + k * cc.x, w.y + 0.5 * c.y + k * cc.y, w.z + 0.5 * c.z + k * cc.z};
}

/* The transpose: generalized force on w for a force g on theta_dot. */
INLINE dvec3 rotation_vector_force(dvec3 theta, dvec3 g) {
	const dvec3 c = dcross(theta, g), cc = dcross(theta, c);
	const double k = tangent_inverse_coefficient(ddot(theta, theta));
	return (dvec3){g.x - 0.5 * c.x + k * cc.x, g.y - 0.5 * c.y + k * cc.y, g.z - 0.5 * c.z + k * cc.z};
}

#endif
