// SPDX-License-Identifier: Apache-2.0
// The little 3-D algebra the harness needs to describe models and to translate conventions.
// Nothing here is ever inside a timed call. Matrices are row-major; quaternions are (w, x, y, z);
// a rotation R_AB takes components in B to components in A.
#pragma once

#include <array>
#include <cmath>

namespace bench {

using Vec3 = std::array<double, 3>;
using Mat3 = std::array<double, 9>;
using Quat = std::array<double, 4>;

inline constexpr Mat3 identity3{1, 0, 0, 0, 1, 0, 0, 0, 1};

inline Vec3 add(const Vec3 &a, const Vec3 &b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

inline Vec3 sub(const Vec3 &a, const Vec3 &b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

inline Vec3 cross(const Vec3 &a, const Vec3 &b) {
	return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline Mat3 transpose(const Mat3 &m) { return {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}; }

inline Vec3 mul(const Mat3 &m, const Vec3 &v) {
	return {m[0] * v[0] + m[1] * v[1] + m[2] * v[2], m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
	        m[6] * v[0] + m[7] * v[1] + m[8] * v[2]};
}

// m^T v
inline Vec3 tmul(const Mat3 &m, const Vec3 &v) { return mul(transpose(m), v); }

inline Mat3 mul(const Mat3 &a, const Mat3 &b) {
	Mat3 c{};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			for (int k = 0; k < 3; k++)
				c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
	return c;
}

inline Vec3 unit_axis(int k) { return {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0}; }

inline Mat3 skew(const Vec3 &v) { return {0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0}; }

inline Mat3 diagonal(const Vec3 &d) { return {d[0], 0, 0, 0, d[1], 0, 0, 0, d[2]}; }

inline Quat normalized(const Quat &q) {
	const double s = 1 / std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
	return {q[0] * s, q[1] * s, q[2] * s, q[3] * s};
}

inline Mat3 rotation(const Quat &q) {
	const auto [w, x, y, z] = q;
	return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
	        2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
	        2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
}

// The quaternion of a rotation matrix, branching on the largest component so that no digits are lost.
inline Quat quaternion(const Mat3 &m) {
	const double t[4] = {1 + m[0] + m[4] + m[8], 1 + m[0] - m[4] - m[8], 1 - m[0] + m[4] - m[8],
	                     1 - m[0] - m[4] + m[8]};
	int k = 0;
	for (int i = 1; i < 4; i++)
		if (t[i] > t[k])
			k = i;
	const double wx = m[7] - m[5], wy = m[2] - m[6], wz = m[3] - m[1];
	const double xy = m[1] + m[3], xz = m[2] + m[6], yz = m[5] + m[7];
	const Quat rows[4] = {{t[0], wx, wy, wz}, {wx, t[1], xy, xz}, {wy, xy, t[2], yz}, {wz, xz, yz, t[3]}};
	return normalized(rows[k]);
}

// Rotation vector (axis times angle, angle in [0, pi]) of a unit quaternion.
inline Vec3 rotation_vector(Quat q) {
	if (q[0] < 0)
		q = {-q[0], -q[1], -q[2], -q[3]};
	const double s = std::sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
	const double k = s > 1e-12 ? 2 * std::atan2(s, q[0]) / s : 2;
	return {k * q[1], k * q[2], k * q[3]};
}

// Principal axes of a symmetric matrix: S = R diag(d) R^T with R a proper rotation.
struct Principal {
	Vec3 d;
	Mat3 R;
};

// Cyclic Jacobi rotations, iterated until the off-diagonal part is exactly negligible.
inline Principal principal_axes(Mat3 s) {
	Mat3 r = identity3;
	for (int sweep = 0; sweep < 30; sweep++) {
		const double off = std::fabs(s[1]) + std::fabs(s[2]) + std::fabs(s[5]);
		if (off <= 1e-30 * (std::fabs(s[0]) + std::fabs(s[4]) + std::fabs(s[8])))
			break;
		for (int p = 0; p < 2; p++)
			for (int q = p + 1; q < 3; q++) {
				if (s[3 * p + q] == 0)
					continue;
				const double theta = (s[4 * q] - s[4 * p]) / (2 * s[3 * p + q]);
				const double t = std::copysign(1.0, theta) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
				const double c = 1 / std::sqrt(t * t + 1), sn = t * c;
				Mat3 g = identity3;
				g[4 * p] = g[4 * q] = c;
				g[3 * p + q] = sn;
				g[3 * q + p] = -sn;
				s = mul(transpose(g), mul(s, g));
				s[3 * p + q] = s[3 * q + p] = 0;
				r = mul(r, g);
			}
	}
	return {{s[0], s[4], s[8]}, r};
}

} // namespace bench
