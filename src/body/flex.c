// SPDX-License-Identifier: Apache-2.0
/*
 * flex.c — node motion, inertia and forces of a flexible body, in its own axes, as sums over its masses
 * [THEORY 2]. Linear in the number of modes for each mass.
 *
 *   node      rho = p + phi eta,  R = exp([theta]x) E, theta = psi eta
 *             rates v = phi eta_dot, w = T theta_dot, and w_rest = T_dot theta_dot
 *   inertia   mc = sum m r, S = sum m r r' + (tr J/2 - J),  E_k = [sum m r x phi_k + c_k; s1_k]
 *   force     each mass needs m (a + W r + 2 w x phi eta_dot); rotary: J al + w x (J w + sum c_k eta_dot_k);
 *             modal rows phi_k'f + c_k.al, and M_ee eta_ddot, E eta_ddot where given (elastic forces are applied
 *             forces, like those of joint springs)
 * Second-order shapes put phi + 2 phi2 eta in place of phi and add 2 eta_dot'phi2 eta_dot to the acceleration:
 * s1 and M_ee then depend on eta. They are what stiffens a body in tension: a load f on the node gives the
 * modal force 2 (phi2 eta).f, that is the geometric stiffness -2 phi2.f.
 */
#include "body/flex.h"

/* Coefficients of the exponential map and its tangent, as functions of s = theta.theta. */
typedef struct ExpCoefficients {
	real a, b, c;  // sin t / t, (1 - cos t)/t^2, (t - sin t)/t^3
	real b_s, c_s; // derivatives of b and c by s
} ExpCoefficients;

/*
 * Power series in s: sin t/t = sum (-s)^n/(2n+1)!, (1-cos t)/t^2 = sum (-s)^n/(2n+2)!,
 * (t-sin t)/t^3 = sum (-s)^n/(2n+3)!. Twelve terms give full precision up to 2 rad, which no modal rotation
 * reaches; no branch depends on the value.
 */
enum { SERIES = 12 };
static const double sine_terms[SERIES] = {1.0,
                                          -0.16666666666666666,
                                          0.008333333333333333,
                                          -0.0001984126984126984,
                                          2.7557319223985893e-06,
                                          -2.505210838544172e-08,
                                          1.6059043836821613e-10,
                                          -7.647163731819816e-13,
                                          2.8114572543455206e-15,
                                          -8.22063524662433e-18,
                                          1.9572941063391263e-20,
                                          -3.868170170630684e-23};
static const double cosine_terms[SERIES] = {0.5,
                                            -0.041666666666666664,
                                            0.001388888888888889,
                                            -2.48015873015873e-05,
                                            2.755731922398589e-07,
                                            -2.08767569878681e-09,
                                            1.1470745597729725e-11,
                                            -4.779477332387385e-14,
                                            1.5619206968586225e-16,
                                            -4.110317623312165e-19,
                                            8.896791392450574e-22,
                                            -1.6117375710961184e-24};
static const double third_terms[SERIES] = {0.16666666666666666,     -0.008333333333333333,   0.0001984126984126984,
                                           -2.7557319223985893e-06, 2.505210838544172e-08,   -1.6059043836821613e-10,
                                           7.647163731819816e-13,   -2.8114572543455206e-15, 8.22063524662433e-18,
                                           -1.9572941063391263e-20, 3.868170170630684e-23,   -6.446950284384474e-26};

static ExpCoefficients exp_coefficients(real s) {
	ExpCoefficients e = {real_from(0), real_from(0), real_from(0), real_from(0), real_from(0)};
	for (int n = SERIES - 1; n >= 0; --n) {
		e.b_s = e.b_s * s + e.b; // Horner's rule for the derivative runs one step behind
		e.c_s = e.c_s * s + e.c;
		e.a = e.a * s + sine_terms[n];
		e.b = e.b * s + cosine_terms[n];
		e.c = e.c * s + third_terms[n];
	}
	return e;
}

/* 1 + x [t]x + y [t]x^2 */
static mat3 rotation_like(vec3 t, real x, real y) {
	const real xx = t.x * t.x, yy = t.y * t.y, zz = t.z * t.z;
	const real xy = y * t.x * t.y, xz = y * t.x * t.z, yz = y * t.y * t.z;
	const vec3 a = scale(x, t);
	return (mat3){{1.0 - y * (yy + zz), xy + a.z, xz - a.y},
	              {xy - a.z, 1.0 - y * (xx + zz), yz + a.x},
	              {xz + a.y, yz - a.x, 1.0 - y * (xx + yy)}};
}

INLINE vec3 dscale_real(real x, dvec3 v) { return vec(v.x * x, v.y * x, v.z * x); }

INLINE vec3 shape_sum(const dvec3 *shape, int m, const real *x) {
	vec3 sum = vec_zero();
	for (int k = 0; k < m; ++k)
		sum = add(sum, dscale_real(x[k], shape[k]));
	return sum;
}

vec3 LANED(flex_translation)(const dvec3 *phi, const dvec3 *phi2, int m, const real *eta, int k) {
	const vec3 first = vec_from(phi[k]);
	return phi2 ? madd(first, real_from(2), shape_sum(phi2 + k * m, m, eta)) : first;
}

/* Second-order part x'phi2 y. */
static vec3 second_order(const dvec3 *phi2, int m, const real *x, const real *y) {
	vec3 sum = vec_zero();
	for (int k = 0; k < m; ++k)
		sum = add(sum, scale(x[k], shape_sum(phi2 + k * m, m, y)));
	return sum;
}

void LANED(flex_pose)(const FlexShape *shape, int m, const real *eta, const real *eta_dot, FlexPose *out) {
	out->rho = vec_from(shape->p);
	out->R = mat_from(shape->E);
	out->T = mat_from(dmat_identity());
	out->v = out->w = out->w_rest = out->v_rest = vec_zero();
	out->eta = eta;
	if (!shape->moves)
		return;
	out->rho = add(out->rho, shape_sum(shape->phi, m, eta));
	if (shape->phi2)
		out->rho = add(out->rho, second_order(shape->phi2, m, eta, eta));
	const vec3 t = shape_sum(shape->psi, m, eta);
	const ExpCoefficients e = exp_coefficients(dot(t, t));
	out->R = mat_mul_dmat(rotation_like(t, e.a, e.b), shape->E);
	out->T = rotation_like(t, e.b, e.c);
	if (!eta_dot)
		return;
	out->v = shape_sum(shape->phi, m, eta_dot);
	if (shape->phi2) {
		out->v = madd(out->v, real_from(2), second_order(shape->phi2, m, eta_dot, eta));
		out->v_rest = scale(real_from(2), second_order(shape->phi2, m, eta_dot, eta_dot));
	}
	const vec3 rate = shape_sum(shape->psi, m, eta_dot);
	out->w = mat_mul_vec(out->T, rate);
	// T_dot rate = 2(t.rate)(b_s t x rate + c_s t x (t x rate)) + c rate x (t x rate)
	const vec3 tr = cross(t, rate);
	const vec3 along = add(scale(e.b_s, tr), scale(e.c_s, cross(t, tr)));
	out->w_rest = madd(scale(2.0 * dot(t, rate), along), e.c, cross(rate, tr));
}

/* ---- masses -------------------------------------------------------------------------------- */

INLINE sym3 sym_from_rotary(dmat3 J) {
	const double half = 0.5 * (J.x.x + J.y.y + J.z.z);
	return (sym3){real_from(half - J.x.x), real_from(half - J.y.y), real_from(half - J.z.z),
	              real_from(-J.x.y),       real_from(-J.x.z),       real_from(-J.y.z)};
}

/* What one mass adds to the inertia of the body. */
INLINE void add_inertia(FlexInertia *sum, double m, vec3 mr, vec3 r) {
	sum->m += m;
	sum->mc = add(sum->mc, mr);
	sum->S = sym_add(sum->S, (sym3){mr.x * r.x, mr.y * r.y, mr.z * r.z, mr.x * r.y, mr.x * r.z, mr.y * r.z});
}

/* A mass with first-order shapes: its part of s1 and M_ee is constant. */
INLINE void mass_first_order(const FlexMass *mass, int m, const real *eta, const real *eta_dot,
                             const FlexMotion *motion, const mat3 *W, FlexInertia *sum, spatial *E, spatial *force,
                             real *be) {
	const vec3 r = add(vec_from(mass->p), shape_sum(mass->phi, m, eta)), mr = scale(real_from(mass->m), r);
	add_inertia(sum, mass->m, mr, r);
	for (int k = 0; k < m; ++k) {
		const dvec3 p = mass->phi[k];
		E[k].a.x += mr.y * p.z - mr.z * p.y;
		E[k].a.y += mr.z * p.x - mr.x * p.z;
		E[k].a.z += mr.x * p.y - mr.y * p.x;
	}
	if (!motion)
		return;
	const vec3 v = shape_sum(mass->phi, m, eta_dot);
	const vec3 a = madd(add(motion->a, mat_mul_vec(*W, r)), real_from(2), cross(motion->w, v));
	const vec3 f = scale(real_from(mass->m), a);
	force->a = add(force->a, cross(r, f));
	force->l = add(force->l, f);
	for (int k = 0; k < m; ++k)
		be[k] += f.x * mass->phi[k].x + f.y * mass->phi[k].y + f.z * mass->phi[k].z;
}

/* A mass with second-order shapes: phi + 2 phi2 eta in place of phi, everywhere. */
static void mass_second_order(const FlexMass *mass, int m, const real *eta, const real *eta_dot,
                              const FlexMotion *motion, const mat3 *W, FlexInertia *sum, FlexTerms *out) {
	vec3 *phi = out->scratch;
	vec3 r = vec_from(mass->p), v = vec_zero();
	for (int k = 0; k < m; ++k) {
		phi[k] = LANED(flex_translation)(mass->phi, mass->phi2, m, eta, k);
		r = madd(r, 0.5 * eta[k], add(vec_from(mass->phi[k]), phi[k]));
		if (motion)
			v = madd(v, eta_dot[k], phi[k]);
	}
	const vec3 mr = scale(real_from(mass->m), r);
	vec3 f = vec_zero();
	add_inertia(sum, mass->m, mr, r);
	if (motion) {
		const vec3 a = madd(add(motion->a, mat_mul_vec(*W, r)), real_from(2), cross(motion->w, v));
		f = scale(real_from(mass->m), madd(a, real_from(2), second_order(mass->phi2, m, eta_dot, eta_dot)));
		out->force = spatial_add(out->force, (spatial){cross(r, f), f});
	}
	for (int k = 0; k < m; ++k) {
		out->E[k] = spatial_add(out->E[k], (spatial){cross(mr, phi[k]), scale(real_from(mass->m), phi[k])});
		for (int j = 0; out->M && j < m; ++j)
			out->M[k * m + j] += mass->m * dot(phi[k], phi[j]);
		if (motion)
			out->be[k] += dot(phi[k], f);
	}
}

/* Rotary inertias: constant in B. */
static void rotary_force(const Flex *flex, const real *eta_dot, const FlexMotion *motion, FlexTerms *out) {
	const mat3 J = mat_from(flex->J);
	const vec3 h = add(mat_mul_vec(J, motion->w), shape_sum(flex->c, flex->m, eta_dot));
	out->force = (spatial){add(mat_mul_vec(J, motion->al), cross(motion->w, h)), vec_zero()};
	for (int k = 0; k < flex->m; ++k) {
		const dvec3 c = flex->c[k];
		out->be[k] = c.x * motion->al.x + c.y * motion->al.y + c.z * motion->al.z;
	}
}

/* What the prescribed modal accelerations need. */
static void prescribed_force(int m, const real *eta_ddot, FlexTerms *out) {
	for (int k = 0; k < m; ++k) {
		for (int j = 0; j < m; ++j)
			out->be[k] += out->M[k * m + j] * eta_ddot[j];
		out->force = spatial_madd(out->force, eta_ddot[k], out->E[k]);
	}
}

void LANED(flex_terms)(const Flex *flex, const real *eta, const real *eta_dot, const real *eta_ddot,
                       const FlexMotion *motion, FlexInertia *inertia, FlexTerms *out) {
	const int m = flex->m;
	const mat3 W = motion ? acceleration_field(motion->w, motion->al) : mat_from(dmat_identity());
	*inertia = (FlexInertia){real_from(0), vec_zero(), sym_from_rotary(flex->J)};
	for (int k = 0; k < m; ++k)
		out->E[k] = (spatial){vec_from(flex->c[k]), vec_from(flex->s1[k])};
	for (int k = 0; out->M && k < m * m; ++k)
		out->M[k] = real_from(flex->Mee[k]);
	if (motion)
		rotary_force(flex, eta_dot, motion, out);
	for (int i = 0; i < flex->mass_count; ++i) {
		const FlexMass *mass = &flex->masses[i];
		if (mass->phi2) {
			mass_second_order(mass, m, eta, eta_dot, motion, &W, inertia, out);
		} else {
			mass_first_order(mass, m, eta, eta_dot, motion, &W, inertia, out->E, &out->force, out->be);
		}
	}
	if (eta_ddot && out->M)
		prescribed_force(m, eta_ddot, out);
}
