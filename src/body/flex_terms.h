// SPDX-License-Identifier: Apache-2.0
/*
 * flex_terms.h — inertia of a flexible body and the forces that its motion needs, in its own axes [THEORY 2].
 *
 *   inertia   mc = sum m r, S = sum m r r' + (tr J/2 - J),  E_k = [sum m r x phi_k + c_k; s1_k]
 *   force     each mass needs m (a + W r + 2 w x v), v = phi eta_dot; rotary inertias w x sum c_k eta_dot_k beyond
 *             what S gives; modal rows phi_k'f + c_k.al, and M_ee eta_ddot, E eta_ddot where given (elastic forces
 *             are applied forces, like those of joint springs)
 * By invariants: with C_k = sum m phi_k r' = C0_k + sum_l G_kl eta_l, B = sum m v r' = sum C_k eta_dot_k and Om = [w]x
 *   S = S0 + (Y + Y')/2,  Y = sum (C_k + C0_k) eta_k        E_k = [axial part of C_k; s1_k]
 *   moment += 2 (tr B w - B w)                              be_k = W : C_k + 2 Om : sum_l G_kl eta_dot_l + s1_k.a
 * Masses that are not in the invariants are summed one by one (flex.c).
 */
#ifndef CALDER_BODY_FLEX_TERMS_H
#define CALDER_BODY_FLEX_TERMS_H

#include "body/flex.h"

/* Motion of B in its own axes, at eta_ddot = 0. */
typedef struct FlexMotion {
	vec3 w, al, a; // a minus gravity
} FlexMotion;

typedef struct FlexInertia {
	real m;
	vec3 mc;
	sym3 S; // second moment, the rotary inertias included
} FlexInertia;

/* Where the modal terms go. */
typedef struct FlexTerms {
	real *E;       // [6][n] force at the link's origin per modal acceleration (M_re)
	real *M;       // [m][n] modal mass; NULL: not wanted (no second-order shapes, no eta_ddot)
	real *be;      // [n] modal forces that the motion needs
	spatial force; // force at the link's origin that it needs
	real *scratch; // [3][n]
} FlexTerms;

/* What the masses that are summed one by one add. */
void LANED(flex_add_masses)(const Flex *flex, const real *eta, const real *eta_dot, const FlexMotion *motion,
                            const mat3 *W, FlexInertia *inertia, FlexTerms *out);

enum { XX, XY, XZ, YX, YY, YZ, ZX, ZY, ZZ, COMPONENTS };

typedef struct Moments {
	pack Y[COMPONENTS], B[COMPONENTS];
} Moments;

/*
 * Component c of C_k for four modes. sign: that which it has in r x phi_k, 0 for none; motion: W and twice Om of it,
 * otherwise the rates count for nothing.
 */
PACKED void add_component(const FlexInvariants *inv, int n, int c, int k, int sign, const real *eta,
                          const real *eta_dot, int motion, real W, real twice_Om, Moments *sum, pack *E, pack *be) {
	if (!(inv->components & 1u << c)) {
		if (n == PACK)
			sum->Y[c] = sum->B[c] = pack_zero();
		return;
	}
	const int32_t *first = inv->first + k / PACK * COMPONENTS + c;
	const pack C0 = pack_const(inv->C0 + c * n + k);
	pack C = C0, rate = pack_zero();
	for (int i = first[0]; i < first[1]; ++i) {
		const pack G = pack_const(inv->G + i * PACK);
		const int l = inv->mode[i];
		C = pack_madd(C, eta[l], G);
		if (motion && sign != 0)
			rate = pack_madd(rate, eta_dot[l], G);
	}
	const pack y = pack_mul(pack_add(C, C0), pack_load(eta + k));
	sum->Y[c] = n == PACK ? y : pack_add(sum->Y[c], y);
	if (sign > 0)
		*E = pack_add(*E, C);
	if (sign < 0)
		*E = pack_sub(*E, C);
	if (!motion)
		return;
	const pack b = pack_mul(C, pack_load(eta_dot + k));
	sum->B[c] = n == PACK ? b : pack_add(sum->B[c], b);
	*be = pack_madd(*be, W, C);
	if (sign != 0)
		*be = pack_madd(*be, twice_Om, rate);
}

/* Four modes: their columns of E, and what they need in the motion (w, W). */
PACKED void add_components(const FlexInvariants *inv, int n, int k, const real *eta, const real *eta_dot, int motion,
                           vec3 w, mat3 W, Moments *sum, pvec3 *E, pack *be) {
	const vec3 t = {2.0 * w.x, 2.0 * w.y, 2.0 * w.z};
	const real o = real_from(0);
	add_component(inv, n, XX, k, 0, eta, eta_dot, motion, W.x.x, o, sum, NULL, be);
	add_component(inv, n, YY, k, 0, eta, eta_dot, motion, W.y.y, o, sum, NULL, be);
	add_component(inv, n, ZZ, k, 0, eta, eta_dot, motion, W.z.z, o, sum, NULL, be);
	add_component(inv, n, ZY, k, 1, eta, eta_dot, motion, W.y.z, t.x, sum, &E->x, be);
	add_component(inv, n, YZ, k, -1, eta, eta_dot, motion, W.z.y, -t.x, sum, &E->x, be);
	add_component(inv, n, XZ, k, 1, eta, eta_dot, motion, W.z.x, t.y, sum, &E->y, be);
	add_component(inv, n, ZX, k, -1, eta, eta_dot, motion, W.x.z, -t.y, sum, &E->y, be);
	add_component(inv, n, YX, k, 1, eta, eta_dot, motion, W.x.y, t.z, sum, &E->z, be);
	add_component(inv, n, XY, k, -1, eta, eta_dot, motion, W.y.x, -t.z, sum, &E->z, be);
}

/* Modes of the rotary inertias and of the invariants: E, be and moments. */
PACKED void modal_terms(const Flex *flex, int n, const real *eta, const real *eta_dot, const FlexMotion *motion, mat3 W,
                        Moments *sum, FlexTerms *out) {
	for (int k = 0; k < n; k += PACK) {
		const pvec3 s1 = pvec_const(flex->s1 + k, n);
		pvec3 E = pvec_zero();
		pack be = pack_zero();
		if (motion && flex->inv.components)
			be = pvec_dot(motion->a, s1);
		if (flex->c) {
			E = pvec_const(flex->c + k, n);
			if (motion)
				be = pack_add(be, pvec_dot(motion->al, E));
		}
		add_components(&flex->inv, n, k, eta, eta_dot, motion != NULL, motion ? motion->w : vec_zero(), W, sum, &E,
		               &be);
		pspatial_store(out->E + k, n, (pspatial){E, s1});
		if (motion)
			pack_store(out->be + k, be);
	}
}

/* What the invariants give to the moments; with motion also the force that the rates need. */
PACKED void gather_moments(const Flex *flex, int n, const Moments *sum, const real *eta, const real *eta_dot,
                           const FlexMotion *motion, FlexInertia *inertia, spatial *gyroscopic) {
	const pack *Y = sum->Y, *B = sum->B;
	if (flex->inv.components == 0)
		return;
	const pack half = pack_all(real_from(0.5));
	const Sums diagonal = pack_sums(Y[XX], Y[YY], Y[ZZ], Y[ZZ]);
	const Sums off = pack_sums(pack_mul(half, pack_add(Y[XY], Y[YX])), pack_mul(half, pack_add(Y[XZ], Y[ZX])),
	                           pack_mul(half, pack_add(Y[YZ], Y[ZY])), Y[ZZ]);
	inertia->mc = add(inertia->mc, rows_sum(flex->s1, n, eta));
	inertia->S = sym_add(inertia->S, (sym3){diagonal.a, diagonal.b, diagonal.c, off.a, off.b, off.c});
	if (!motion)
		return;
	const vec3 w = motion->w;
	const pack trace = pack_add(pack_add(B[XX], B[YY]), B[ZZ]);
	const pvec3 Bw = {pack_combine(w.x, B[XX], w.y, B[XY], w.z, B[XZ]),
	                  pack_combine(w.x, B[YX], w.y, B[YY], w.z, B[YZ]),
	                  pack_combine(w.x, B[ZX], w.y, B[ZY], w.z, B[ZZ])};
	const Sums s = pack_sums(Bw.x, Bw.y, Bw.z, trace);
	const vec3 turning = {s.d * w.x - s.a, s.d * w.y - s.b, s.d * w.z - s.c};
	const vec3 s1_rate = rows_sum(flex->s1, n, eta_dot);
	*gyroscopic = (spatial){scale(real_from(2), turning), scale(real_from(2), cross(w, s1_rate))};
}

/* What the prescribed modal accelerations need. */
PACKED void prescribed_force(const Flex *flex, const real *eta_ddot, FlexTerms *out) {
	const int n = flex->n;
	for (int k = 0; k < flex->m; ++k) {
		pack sum = pack_zero();
		for (int j = 0; j < n; j += PACK)
			sum = pack_mac(sum, pack_load(out->M + k * n + j), pack_load(eta_ddot + j));
		out->be[k] += pack_sum(sum);
	}
	out->force = spatial_add(out->force, rows_sum_spatial(out->E, n, eta_ddot));
}

/*
 * Everything at (eta, eta_dot) of the masses and of `rigid`, which is flex->own or flex->all; motion NULL: inertia
 * alone. eta_ddot (NULL: zero) is part of the motion. n: length of the rows.
 */
PACKED void flex_terms(const Flex *flex, int n, const FlexRigid *rigid, const real *eta, const real *eta_dot,
                       const real *eta_ddot, const FlexMotion *motion, FlexInertia *inertia, FlexTerms *out) {
	Moments sum;
	spatial gyroscopic = spatial_zero();
	const mat3 W = motion ? acceleration_field(motion->w, motion->al) : mat_from(dmat_identity());
	for (int c = 0; n != PACK && c < COMPONENTS; ++c) // a single pack needs no sum
		sum.Y[c] = sum.B[c] = pack_zero();
	modal_terms(flex, n, eta, eta_dot, motion, W, &sum, out);
	*inertia = (FlexInertia){real_from(rigid->m),
	                         vec_from(rigid->mc),
	                         {real_from(rigid->xx), real_from(rigid->yy), real_from(rigid->zz), real_from(rigid->xy),
	                          real_from(rigid->xz), real_from(rigid->yz)}};
	gather_moments(flex, n, &sum, eta, eta_dot, motion, inertia, &gyroscopic);
	if (motion) {
		const vec3 f = madd(mat_mul_vec(W, inertia->mc), inertia->m, motion->a);
		const vec3 torque = add(second_moment_torque(inertia->S, W), cross(inertia->mc, motion->a));
		out->force = spatial_add((spatial){torque, f}, gyroscopic);
		if (flex->c)
			out->force.a = add(out->force.a, cross(motion->w, rows_sum(flex->c, n, eta_dot)));
	}
	for (int i = 0; out->M && i < flex->m * n; i += PACK)
		pack_store(out->M + i, pack_const(flex->Mee + i));
	if (flex->summed_first < flex->mass_count)
		LANED(flex_add_masses)(flex, eta, eta_dot, motion, &W, inertia, out);
	if (eta_ddot && out->M)
		prescribed_force(flex, eta_ddot, out);
}

#endif
