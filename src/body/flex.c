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
 */
#include "body/flex.h"

/* Coefficients of the exponential map and its tangent, as functions of s = theta.theta. */
typedef struct ExpCoefficients {
	real a, b, c;  // sin t / t, (1 - cos t)/t^2, (t - sin t)/t^3
	real b_s, c_s; // derivatives of b and c by s
} ExpCoefficients;

/*
 * Power series in s: sin t/t = sum (-s)^n/(2n+1)!, (1-cos t)/t^2 = sum (-s)^n/(2n+2)!,
 * (t-sin t)/t^3 = sum (-s)^n/(2n+3)!. Fourteen terms give full precision up to half a turn, which no modal
 * rotation reaches; no branch depends on the value.
 */
enum { SERIES = 14 };

static ExpCoefficients exp_coefficients(real s) {
	ExpCoefficients e = {real_from(0), real_from(0), real_from(0), real_from(0), real_from(0)};
	double odd[SERIES], even[SERIES], next[SERIES], f = 1;
	for (int n = 0; n < SERIES; ++n) {
		const double sign = n % 2 ? -1.0 : 1.0;
		odd[n] = sign / f; // 1/(2n+1)!
		even[n] = odd[n] / (2 * n + 2);
		next[n] = even[n] / (2 * n + 3);
		f *= (2 * n + 2) * (2 * n + 3);
	}
	for (int n = SERIES - 1; n >= 0; --n) {
		e.b_s = e.b_s * s + e.b; // Horner's rule for the derivative runs one step behind
		e.c_s = e.c_s * s + e.c;
		e.a = e.a * s + odd[n];
		e.b = e.b * s + even[n];
		e.c = e.c * s + next[n];
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

INLINE vec3 shape_sum(const dvec3 *shape, int m, const real *x) {
	vec3 sum = vec_zero();
	for (int k = 0; k < m; ++k)
		sum = add(sum, vec(shape[k].x * x[k], shape[k].y * x[k], shape[k].z * x[k]));
	return sum;
}

void LANED(flex_pose)(const FlexShape *shape, int m, const real *eta, const real *eta_dot, FlexPose *out) {
	out->rho = vec_from(shape->p);
	out->R = mat_from(shape->E);
	out->T = mat_from(dmat_identity());
	out->v = out->w = out->w_rest = vec_zero();
	if (!shape->moves)
		return;
	out->rho = add(out->rho, shape_sum(shape->phi, m, eta));
	const vec3 t = shape_sum(shape->psi, m, eta);
	const ExpCoefficients e = exp_coefficients(dot(t, t));
	out->R = mat_mul_dmat(rotation_like(t, e.a, e.b), shape->E);
	out->T = rotation_like(t, e.b, e.c);
	if (!eta_dot)
		return;
	out->v = shape_sum(shape->phi, m, eta_dot);
	const vec3 rate = shape_sum(shape->psi, m, eta_dot);
	out->w = mat_mul_vec(out->T, rate);
	// T_dot rate = 2(t.rate)(b_s t x rate + c_s t x (t x rate)) + c rate x (t x rate)
	const vec3 tr = cross(t, rate);
	const vec3 along = add(scale(e.b_s, tr), scale(e.c_s, cross(t, tr)));
	out->w_rest = madd(scale(2.0 * dot(t, rate), along), e.c, cross(rate, tr));
}

INLINE sym3 sym_from_rotary(dmat3 J) {
	const double half = 0.5 * (J.x.x + J.y.y + J.z.z);
	return (sym3){real_from(half - J.x.x), real_from(half - J.y.y), real_from(half - J.z.z),
	              real_from(-J.x.y),       real_from(-J.x.z),       real_from(-J.y.z)};
}

INLINE vec3 mass_position(const FlexMass *mass, int m, const real *eta) {
	return add(vec_from(mass->p), shape_sum(mass->phi, m, eta));
}

void LANED(flex_inertia)(const Flex *flex, const real *eta, FlexInertia *out, spatial *E) {
	const int m = flex->m;
	*out = (FlexInertia){real_from(0), vec_zero(), sym_from_rotary(flex->J)};
	for (int k = 0; k < m; ++k)
		E[k] = (spatial){vec_from(flex->c[k]), vec_from(flex->s1[k])};
	for (int i = 0; i < flex->mass_count; ++i) {
		const FlexMass *mass = &flex->masses[i];
		const vec3 r = mass_position(mass, m, eta), mr = scale(real_from(mass->m), r);
		out->m += mass->m;
		out->mc = add(out->mc, mr);
		out->S = sym_add(out->S, (sym3){mr.x * r.x, mr.y * r.y, mr.z * r.z, mr.x * r.y, mr.x * r.z, mr.y * r.z});
		for (int k = 0; k < m; ++k)
			E[k].a = add(E[k].a, cross(mr, vec_from(mass->phi[k])));
	}
}

/* f and n of the point masses, and their modal forces. */
static spatial mass_forces(const Flex *flex, const real *eta, const real *eta_dot, const FlexMotion *motion, real *be) {
	const mat3 W = acceleration_field(motion->w, motion->al);
	spatial sum = spatial_zero();
	for (int i = 0; i < flex->mass_count; ++i) {
		const FlexMass *mass = &flex->masses[i];
		const vec3 r = mass_position(mass, flex->m, eta), v = shape_sum(mass->phi, flex->m, eta_dot);
		const vec3 coriolis = scale(real_from(2), cross(motion->w, v));
		const vec3 f = scale(real_from(mass->m), add(add(motion->a, mat_mul_vec(W, r)), coriolis));
		sum = spatial_add(sum, (spatial){cross(r, f), f});
		for (int k = 0; k < flex->m; ++k)
			be[k] += f.x * mass->phi[k].x + f.y * mass->phi[k].y + f.z * mass->phi[k].z;
	}
	return sum;
}

INLINE void add_product(const double *A, int m, const real *x, real *y) {
	for (int i = 0; A && i < m; ++i) {
		for (int j = 0; j < m; ++j)
			y[i] += A[i * m + j] * x[j];
	}
}

void LANED(flex_force)(const Flex *flex, const real *eta, const real *eta_dot, const real *eta_ddot,
                       const FlexMotion *motion, const spatial *E, spatial *force, real *be) {
	const int m = flex->m;
	const mat3 J = mat_from(flex->J);
	for (int k = 0; k < m; ++k)
		be[k] = dot(vec_from(flex->c[k]), motion->al);
	*force = mass_forces(flex, eta, eta_dot, motion, be);
	const vec3 h = add(mat_mul_vec(J, motion->w), shape_sum(flex->c, m, eta_dot));
	force->a = add(force->a, add(mat_mul_vec(J, motion->al), cross(motion->w, h)));
	if (!eta_ddot)
		return;
	add_product(flex->Mee, m, eta_ddot, be);
	for (int k = 0; k < m; ++k)
		*force = spatial_madd(*force, eta_ddot[k], E[k]);
}
