// SPDX-License-Identifier: Apache-2.0
/*
 * inertia.h — spatial inertias about a point, packed.
 *
 * ArticulatedInertia: a symmetric 6x6 [I H; H' M] in 21 numbers, acting on (alpha, a): n = I alpha + H a,
 * f = H' alpha + M a. Packed storage keeps it exactly symmetric, which is what keeps long chains
 * accurate. DInertia is a rigid body in its link frame as the sweeps want it: the second moment
 * Sigma = sum m r r' (I = tr Sigma 1 - Sigma), split as Sigma = zz 1 + [a d e; d b f; e f 0], because R 1 R' = 1 leaves
 * five numbers to rotate.
 */
#ifndef CALDER_MATH_INERTIA_H
#define CALDER_MATH_INERTIA_H

#include "math/vec.h"

/*
 * A joint is singular where D is nothing but round-off: below this part of what the same inertia amounts to in
 * other directions. (Long straight chains come down to 1e-6, gimbal lock leaves 1e-16.)
 */
#define SINGULAR_RATIO 1e-14

typedef struct ArticulatedInertia {
	sym3 I;
	mat3 H; // columns
	sym3 M;
} ArticulatedInertia;

typedef struct DInertia {
	double m;               // mass [kg]
	dvec3 mc;               // first moment about the link origin [kg m]
	double ha, d, e, hb, f; // halves of a and b, and the off-diagonals of Sigma - zz 1 [kg m^2]
	double zz;              // Sigma_zz [kg m^2]
} DInertia;

/* Sigma in the axes of R: with p = a/2 x + d y + e z and s = b/2 y + f z, Sigma = zz 1 + xp' + px' + ys' + sy'. */
INLINE sym3 second_moment_rotate(const DInertia *b, mat3 R) {
	const vec3 p = {R.x.x * b->ha + R.y.x * b->d + R.z.x * b->e, R.x.y * b->ha + R.y.y * b->d + R.z.y * b->e,
	                R.x.z * b->ha + R.y.z * b->d + R.z.z * b->e};
	const vec3 s = {R.y.x * b->hb + R.z.x * b->f, R.y.y * b->hb + R.z.y * b->f, R.y.z * b->hb + R.z.z * b->f};
	const vec3 x = R.x, y = R.y;
	return (sym3){
		b->zz + 2.0 * (x.x * p.x + y.x * s.x),
		b->zz + 2.0 * (x.y * p.y + y.y * s.y),
		b->zz + 2.0 * (x.z * p.z + y.z * s.z),
		(x.x * p.y + p.x * x.y) + (y.x * s.y + s.x * y.y),
		(x.x * p.z + p.x * x.z) + (y.x * s.z + s.x * y.z),
		(x.y * p.z + p.y * x.z) + (y.y * s.z + s.y * y.z),
	};
}

/* Moment sum m r x (W r) of the acceleration field W: the skew part of W Sigma. */
INLINE vec3 second_moment_torque(sym3 Sigma, mat3 W) {
	// (W Sigma)_ij = sum_k W_ik Sigma_kj; W.c.r is row r of column c
	const real zy = W.x.z * Sigma.xy + W.y.z * Sigma.yy + W.z.z * Sigma.yz;
	const real yz = W.x.y * Sigma.xz + W.y.y * Sigma.yz + W.z.y * Sigma.zz;
	const real xz = W.x.x * Sigma.xz + W.y.x * Sigma.yz + W.z.x * Sigma.zz;
	const real zx = W.x.z * Sigma.xx + W.y.z * Sigma.xy + W.z.z * Sigma.xz;
	const real yx = W.x.y * Sigma.xx + W.y.y * Sigma.xy + W.z.y * Sigma.xz;
	const real xy = W.x.x * Sigma.xy + W.y.x * Sigma.yy + W.z.x * Sigma.yz;
	return (vec3){zy - yz, xz - zx, yx - xy};
}

/* Moments of inertia from second moments: I = tr Sigma 1 - Sigma. */
INLINE sym3 inertia_from_second_moment(sym3 Sigma) {
	return (sym3){Sigma.yy + Sigma.zz, Sigma.xx + Sigma.zz, Sigma.xx + Sigma.yy, -Sigma.xy, -Sigma.xz, -Sigma.yz};
}

INLINE vec3 sym_mul_vec(sym3 s, vec3 v) {
	return (vec3){s.xx * v.x + s.xy * v.y + s.xz * v.z, s.xy * v.x + s.yy * v.y + s.yz * v.z,
	              s.xz * v.x + s.yz * v.y + s.zz * v.z};
}
/* Inverse by cofactors. */
INLINE sym3 sym_inverse(sym3 s, real *determinant) {
	const real xx = s.yy * s.zz - s.yz * s.yz, xy = s.xz * s.yz - s.xy * s.zz, xz = s.xy * s.yz - s.xz * s.yy;
	const real yy = s.xx * s.zz - s.xz * s.xz, zz = s.xx * s.yy - s.xy * s.xy, yz = s.xy * s.xz - s.xx * s.yz;
	*determinant = s.xx * xx + s.xy * xy + s.xz * xz;
	const real d = 1.0 / *determinant;
	return (sym3){d * xx, d * yy, d * zz, d * xy, d * xz, d * yz};
}
INLINE sym3 sym_add(sym3 a, sym3 b) {
	return (sym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
/* s - a b' where the product is known to be symmetric (b is a multiple of a). */
INLINE sym3 sym_sub_outer(sym3 s, vec3 a, vec3 b) {
	return (sym3){s.xx - a.x * b.x, s.yy - a.y * b.y, s.zz - a.z * b.z,
	              s.xy - a.x * b.y, s.xz - a.x * b.z, s.yz - a.y * b.z};
}
/* m - a b' */
INLINE mat3 mat_sub_outer(mat3 m, vec3 a, vec3 b) {
	return (mat3){madd(m.x, -b.x, a), madd(m.y, -b.y, a), madd(m.z, -b.z, a)};
}

/* R s R' */
INLINE sym3 sym_rotate(sym3 s, mat3 R) {
	const mat3 T = {sym_mul_vec(s, vec(R.x.x, R.y.x, R.z.x)), sym_mul_vec(s, vec(R.x.y, R.y.y, R.z.y)),
	                sym_mul_vec(s, vec(R.x.z, R.y.z, R.z.z))};                                  // s R', by columns
	const vec3 x = {R.x.x, R.y.x, R.z.x}, y = {R.x.y, R.y.y, R.z.y}, z = {R.x.z, R.y.z, R.z.z}; // rows of R
	return (sym3){dot(x, T.x), dot(y, T.y), dot(z, T.z), dot(x, T.y), dot(x, T.z), dot(y, T.z)};
}

INLINE ArticulatedInertia articulated_zero(void) {
	const real o = real_from(0);
	const sym3 s = {o, o, o, o, o, o};
	return (ArticulatedInertia){s, {vec_zero(), vec_zero(), vec_zero()}, s};
}

/* A rigid body: H = [mc]x, M = m 1. */
INLINE ArticulatedInertia articulated_rigid(real m, vec3 mc, sym3 Sigma) {
	const real o = real_from(0);
	return (ArticulatedInertia){
		inertia_from_second_moment(Sigma), {{o, mc.z, -mc.y}, {-mc.z, o, mc.x}, {mc.y, -mc.x, o}}, {m, m, m, o, o, o}};
}

/* A rigid inertia in the axes of R: only its three parts need turning. */
INLINE ArticulatedInertia articulated_rotate(ArticulatedInertia a, mat3 R) {
	const vec3 mc = mat_mul_vec(R, vec(a.H.y.z, a.H.z.x, a.H.x.y));
	const sym3 I = sym_rotate(a.I, R);
	const real o = real_from(0);
	return (ArticulatedInertia){I, {{o, mc.z, -mc.y}, {-mc.z, o, mc.x}, {mc.y, -mc.x, o}}, a.M};
}

INLINE ArticulatedInertia articulated_add(ArticulatedInertia a, ArticulatedInertia b) {
	return (ArticulatedInertia){
		sym_add(a.I, b.I), {add(a.H.x, b.H.x), add(a.H.y, b.H.y), add(a.H.z, b.H.z)}, sym_add(a.M, b.M)};
}

#if CAL_LANES == 1
/* All 36 numbers. */
INLINE void articulated_rows(const ArticulatedInertia *m, double M[6][6]) {
	const double all[6][6] = {{m->I.xx, m->I.xy, m->I.xz, m->H.x.x, m->H.y.x, m->H.z.x},
	                          {m->I.xy, m->I.yy, m->I.yz, m->H.x.y, m->H.y.y, m->H.z.y},
	                          {m->I.xz, m->I.yz, m->I.zz, m->H.x.z, m->H.y.z, m->H.z.z},
	                          {m->H.x.x, m->H.x.y, m->H.x.z, m->M.xx, m->M.xy, m->M.xz},
	                          {m->H.y.x, m->H.y.y, m->H.y.z, m->M.xy, m->M.yy, m->M.yz},
	                          {m->H.z.x, m->H.z.y, m->H.z.z, m->M.xz, m->M.yz, m->M.zz}};
	memcpy(M, all, sizeof all);
}
#endif

INLINE spatial articulated_mul(const ArticulatedInertia *a, spatial m) {
	return (spatial){add(sym_mul_vec(a->I, m.a), mat_mul_vec(a->H, m.l)),
	                 add(mat_tmul_vec(a->H, m.a), sym_mul_vec(a->M, m.l))};
}

/* a - U K' with K a multiple of U. */
INLINE ArticulatedInertia articulated_sub_outer(ArticulatedInertia a, spatial U, spatial K) {
	a.I = sym_sub_outer(a.I, U.a, K.a);
	a.H = mat_sub_outer(a.H, U.a, K.l);
	a.M = sym_sub_outer(a.M, U.l, K.l);
	return a;
}

/*
 * X(r)' a X(r): from O + r to O. With T = [r]x M / 2 and G = H + T: H' = G + T and
 * I' = I + N + N', N = [r]x G'.
 */
INLINE ArticulatedInertia articulated_shift(ArticulatedInertia a, vec3 r) {
	const vec3 h = {0.5 * r.x, 0.5 * r.y, 0.5 * r.z};
	const mat3 T = {cross(h, vec(a.M.xx, a.M.xy, a.M.xz)), cross(h, vec(a.M.xy, a.M.yy, a.M.yz)),
	                cross(h, vec(a.M.xz, a.M.yz, a.M.zz))};
	const mat3 G = {add(a.H.x, T.x), add(a.H.y, T.y), add(a.H.z, T.z)};
	// G.c.r is row r of column c
	a.I.xx += 2.0 * (r.y * G.z.x - r.z * G.y.x);
	a.I.yy += 2.0 * (r.z * G.x.y - r.x * G.z.y);
	a.I.zz += 2.0 * (r.x * G.y.z - r.y * G.x.z);
	a.I.xy += (r.y * G.z.y - r.z * G.y.y) + (r.z * G.x.x - r.x * G.z.x);
	a.I.xz += (r.y * G.z.z - r.z * G.y.z) + (r.x * G.y.x - r.y * G.x.x);
	a.I.yz += (r.z * G.x.z - r.x * G.z.z) + (r.x * G.y.y - r.y * G.x.y);
	a.H = (mat3){add(G.x, T.x), add(G.y, T.y), add(G.z, T.z)};
	return a;
}

#endif
