// SPDX-License-Identifier: Apache-2.0
/*
 * flex_pose.h — motion of a node of a flexible body in B, and its modal columns [THEORY (2.1)-(2.6)].
 *
 *   rho = p + phi eta (+ eta'phi2 eta),  R = exp([theta]x) E, theta = psi eta
 *   rates v = phi eta_dot, w = T theta_dot, and w_rest = T_dot theta_dot
 * Second-order shapes put phi + 2 phi2 eta in place of phi and add 2 eta_dot'phi2 eta_dot to the acceleration.
 */
#ifndef CALDER_FLEXBODY_FLEX_POSE_H
#define CALDER_FLEXBODY_FLEX_POSE_H

#include "flexbody/flex_body.h"

/* A node of a flexible body relative to B. */
typedef struct FlexPose {
	vec3 rho;    // p + phi eta
	mat3 R;      // exp([psi eta]x) E
	mat3 T;      // tangent of the exponential map
	vec3 v;      // phi eta_dot
	vec3 w;      // T psi eta_dot
	vec3 w_rest; // T_dot psi eta_dot
	vec3 v_rest; // 2 eta_dot'phi2 eta_dot
	const real *eta;
} FlexPose;

/* Coefficients of the exponential map and its tangent, as functions of s = theta.theta. */
typedef struct ExpCoefficients {
	real a, b, c;  // sin t / t, (1 - cos t)/t^2, (t - sin t)/t^3
	real b_s, c_s; // derivatives of b and c by s
} ExpCoefficients;

/*
 * Power series in s of b, c and their derivatives, side by side: b = sum (-s)^i/(2i+2)!, c = sum (-s)^i/(2i+3)!; and
 * a = 1 - s c. Twelve terms give full precision up to 2 rad, which no modal rotation reaches; no branch depends on the
 * value.
 */
enum { FLEX_SERIES = 12 };
extern const double flex_series[FLEX_SERIES][PACK];

PACKED ExpCoefficients exp_coefficients(real s) {
	const real s2 = s * s, s4 = s2 * s2; // pairs of terms, then pairs of pairs: a third of the waiting of Horner's rule
	pack quad[FLEX_SERIES / 4];
#pragma GCC unroll 3
	for (int i = 0; i < FLEX_SERIES / 4; ++i) {
		const double(*term)[PACK] = &flex_series[4 * i];
		const pack low = pack_madd(pack_const(term[0]), s, pack_const(term[1]));
		quad[i] = pack_madd(low, s2, pack_madd(pack_const(term[2]), s, pack_const(term[3])));
	}
	const pack e = pack_madd(quad[0], s4, pack_madd(quad[1], s4, quad[2]));
	const real c = pack_lane(e, 1);
	return (ExpCoefficients){1.0 - s * c, pack_lane(e, 0), c, pack_lane(e, 2), pack_lane(e, 3)};
}

/* 1 + x [t]x + y [t]x^2 */
PACKED mat3 rotation_like(vec3 t, real x, real y) {
	const real xx = t.x * t.x, yy = t.y * t.y, zz = t.z * t.z;
	const real xy = y * t.x * t.y, xz = y * t.x * t.z, yz = y * t.y * t.z;
	const vec3 a = scale(x, t);
	return (mat3){{1.0 - y * (yy + zz), xy + a.z, xz - a.y},
	              {xy - a.z, 1.0 - y * (xx + zz), yz + a.x},
	              {xz + a.y, yz - a.x, 1.0 - y * (xx + yy)}};
}

/* x'phi2 y, and phi2 x for four modes from k on. */
vec3 LANED(flex_second_order)(const double *phi2, int m, const real *x, const real *y);
void LANED(flex_second_order_pack)(const double *phi2, int m, const real *x, int k, pvec3 *sum);

PACKED void pose_rates(const FlexShape *shape, int m, int n, const real *eta, const real *eta_dot, vec3 t,
                       const ExpCoefficients *e, FlexPose *out) {
	out->v = rows_sum(shape->phi, n, eta_dot);
	if (shape->phi2) {
		out->v = madd(out->v, real_from(2), LANED(flex_second_order)(shape->phi2, m, eta_dot, eta));
		out->v_rest = scale(real_from(2), LANED(flex_second_order)(shape->phi2, m, eta_dot, eta_dot));
	}
	const vec3 rate = rows_sum(shape->psi, n, eta_dot);
	out->w = mat_mul_vec(out->T, rate);
	// T_dot rate = 2(t.rate)(b_s t x rate + c_s t x (t x rate)) + c rate x (t x rate)
	const vec3 tr = cross(t, rate);
	const vec3 along = add(scale(e->b_s, tr), scale(e->c_s, cross(t, tr)));
	out->w_rest = madd(scale(2.0 * dot(t, rate), along), e->c, cross(rate, tr));
}

/* Moves of one node for (eta, eta_dot), rows of length n; eta_dot may be NULL: no rates. */
PACKED void flex_pose(const FlexShape *shape, int m, int n, const real *eta, const real *eta_dot, FlexPose *out) {
	out->rho = vec_from(shape->p);
	out->R = mat_from(shape->E);
	out->T = mat_from(dmat_identity());
	out->v = out->w = out->w_rest = out->v_rest = vec_zero();
	out->eta = eta;
	if (!shape->moves)
		return;
	out->rho = add(out->rho, rows_sum(shape->phi, n, eta));
	if (shape->phi2)
		out->rho = add(out->rho, LANED(flex_second_order)(shape->phi2, m, eta, eta));
	const vec3 t = rows_sum(shape->psi, n, eta);
	const ExpCoefficients e = exp_coefficients(dot(t, t));
	out->R = rotation_like(t, e.a, e.b);
	if (shape->turned)
		out->R = mat_mul_dmat(out->R, shape->E);
	out->T = rotation_like(t, e.b, e.c);
	if (eta_dot)
		pose_rates(shape, m, n, eta, eta_dot, t, &e, out);
}

/* Columns of a node that moves, in the axes of R: [R T psi; R (phi + 2 phi2 eta)], six rows. */
PACKED void flex_columns(const FlexShape *shape, int m, int n, const double *phi2, mat3 R, mat3 RT, const real *eta,
                         real *columns) {
	for (int k = 0; k < n; k += PACK) {
		pvec3 phi = pvec_const(shape->phi + k, n);
		if (phi2) {
			pvec3 second;
			LANED(flex_second_order_pack)(phi2, m, eta, k, &second);
			phi = pvec_madd(phi, real_from(2), second);
		}
		const pvec3 psi = pvec_const(shape->psi + k, n);
		pspatial_store(columns + k, n, (pspatial){mat_mul_pvec(RT, psi), mat_mul_pvec(R, phi)});
	}
}

#endif
