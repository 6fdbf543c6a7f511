// SPDX-License-Identifier: Apache-2.0
/*
 * flex_terms.h — inertia of a flexible body and the forces that its motion needs [THEORY (2.8)-(2.12)].
 *
 *   inertia   mc = sum m r, Sigma = sum m r r' + (tr J/2 - J),  E_k = [sum m r x phi_k + c_k; s1_k]
 *   force     each mass needs m (a + W r + 2 w x v), v = phi eta_dot; rotary inertias w x sum c_k eta_dot_k beyond
 *             what Sigma gives; modal rows phi_k'f + c_k.al, and M_ee eta_ddot, E eta_ddot where given (elastic forces
 *             are applied forces, like those of joint springs)
 * By invariants: with C_k = sum m phi_k r' = C0_k + sum_l G_kl eta_l, its symmetric part and its axial one, which is
 * sum m r x phi_k,
 *   Sigma = Sigma0 + sum (C_k + C0_k) eta_k                 D_k = tr C_k w - C_k w (symmetric parts)
 *   force += [2 sum D_k eta_dot_k + w x h; 2 w x l], [h; l] = sum E_k eta_dot_k
 *   be_k = E_k.[al; a] + 2 w.(axial part of sum_l G_kl eta_dot_l) - w.D_k
 * since W = [al]x + ww' - w.w 1 sees C_k through these two alone. Masses that are not in the invariants are summed one
 * by one (flex_body.c), in body axes.
 */
#ifndef CALDER_FLEXBODY_FLEX_TERMS_H
#define CALDER_FLEXBODY_FLEX_TERMS_H

#include "flexbody/flex_body.h"

/* Motion of B in its own axes, at eta_ddot = 0. */
typedef struct FlexMotion {
	vec3 w, al, a; // a minus gravity
} FlexMotion;

typedef struct FlexInertia {
	real m;
	vec3 mc;
	sym3 Sigma; // second moment, the rotary inertias included
} FlexInertia;

/* Where the modal terms go. */
typedef struct FlexTerms {
	real *E;       // [6][n] force at the link's origin per modal acceleration (M_re)
	real *M;       // [m][n] modal mass
	real *be;      // [n] modal forces that the motion needs
	spatial force; // force at the link's origin that it needs
	real *scratch; // [3][n]
} FlexTerms;

/* What the masses that are summed one by one add. */
void LANED(flex_add_masses)(const Flex *flex, const real *eta, const real *eta_dot, const FlexMotion *motion,
                            const mat3 *W, FlexInertia *inertia, FlexTerms *out);

/*
 * The geometric stiffness K = a_i K_i + W_ij K_ij, K_i = 2 sum m phi2_i, K_ij = 2 sum m phi2_i p_j [THEORY 2.6,
 * (2.19)-(2.21)]: what the products of positions and second-order shapes give in the kinetic energy. Body axes.
 */
void LANED(flex_add_geometric)(const Flex *flex, const real *eta, const real *eta_dot, const FlexMotion *motion,
                               const mat3 *W, FlexInertia *inertia, FlexTerms *out);

/* Sums over the modes, four at a time; body axes. */
typedef struct ModalSums {
	pack Sigma[6]; // xx, yy, zz, xy, xz, yz of sum (C_k + C0_k) eta_k
	pvec3 mc, D;   // sum s1_k eta_k, sum D_k eta_dot_k
} ModalSums;

/* A single pack needs no sum. */
PACKED pack sum_term(int n, pack sum, pack x, pack y) { return n == PACK ? pack_mul(x, y) : pack_mac(sum, x, y); }
PACKED pvec3 sum_term_vec(int n, pvec3 sum, pvec3 v, pack y) {
	return n == PACK ? pvec_scale(v, y) : pvec_mac(sum, v, y);
}

/* Four modes times the blocks of a single pack, which are all there. */
PACKED pack four_blocks(const double *G, const real *x) {
	const pack low = pack_madd(pack_times(x[0], pack_const(G)), x[1], pack_const(G + PACK));
	const pack high = pack_madd(pack_times(x[2], pack_const(G + 2 * PACK)), x[3], pack_const(G + 3 * PACK));
	return pack_add(low, high);
}

/* What a block of G multiplies: one number, or four for a diagonal one. */
PACKED pack block_factor(int32_t mode, const real *x) { return mode < 0 ? pack_load(x + ~mode) : pack_all(x[mode]); }

/* A symmetric component of C_k for four modes, and its part of Sigma. */
PACKED pack symmetric_part(const FlexInvariants *inv, int n, int c, int k, const real *eta, ModalSums *sum) {
	if (!(inv->some[k / PACK] & 1 << c))
		return pack_zero();
	const pack C0 = pack_const(inv->C0 + c * n + k);
	pack C = C0;
	if (inv->grows[k / PACK] & 1 << c) {
		const int32_t *first = inv->first + k / PACK * FLEX_COMPONENTS + c;
		const double *G = inv->G + first[0] * PACK;
		if (n == PACK)
			C = pack_add(C, four_blocks(G, eta));
		for (int i = first[0]; n != PACK && i < first[1]; ++i, G += PACK)
			C = pack_mac(C, block_factor(inv->mode[i], eta), pack_const(G));
	}
	sum->Sigma[c] = sum_term(n, sum->Sigma[c], pack_add(C, C0), pack_load(eta + k));
	return C;
}

/* An axial component added to E, and with motion what its rate needs: twice w of it. */
PACKED pack axial_part(const FlexInvariants *inv, int n, int c, int k, const real *eta, const real *eta_dot,
                       real twice_w, pack E, pack *be) {
	if (!(inv->some[k / PACK] & 1 << c))
		return E;
	E = pack_add(E, pack_const(inv->C0 + c * n + k));
	if (!(inv->grows[k / PACK] & 1 << c))
		return E;
	const int32_t *first = inv->first + k / PACK * FLEX_COMPONENTS + c;
	const double *G = inv->G + first[0] * PACK;
	pack rate = pack_zero();
	if (n == PACK) {
		E = pack_add(E, four_blocks(G, eta));
		rate = be ? four_blocks(G, eta_dot) : rate;
	}
	for (int i = first[0]; n != PACK && i < first[1]; ++i, G += PACK) {
		E = pack_mac(E, block_factor(inv->mode[i], eta), pack_const(G));
		rate = be ? pack_mac(rate, block_factor(inv->mode[i], eta_dot), pack_const(G)) : rate;
	}
	if (be)
		*be = pack_madd(*be, twice_w, rate);
	return E;
}

/*
 * Four modes from k on of the rotary inertias and of the invariants: their columns of E, what they add to the sums, and
 * with motion (be not NULL) the part of be that takes no acceleration; w: angular velocity. Body axes.
 */
PACKED pspatial modal_part(const Flex *flex, int n, int k, const real *eta, const real *eta_dot, vec3 w, ModalSums *sum,
                           pack *be) {
	const FlexInvariants *inv = &flex->inv;
	const pvec3 s1 = pvec_const(flex->s1 + k, n);
	pvec3 E = flex->c ? pvec_const(flex->c + k, n) : pvec_zero();
	pack rate = pack_zero();
	if (be)
		*be = pack_zero();
	if (!inv->components)
		return (pspatial){E, s1};
	const pack xx = symmetric_part(inv, n, FLEX_XX, k, eta, sum), yy = symmetric_part(inv, n, FLEX_YY, k, eta, sum);
	const pack zz = symmetric_part(inv, n, FLEX_ZZ, k, eta, sum), xy = symmetric_part(inv, n, FLEX_XY, k, eta, sum);
	const pack xz = symmetric_part(inv, n, FLEX_XZ, k, eta, sum), yz = symmetric_part(inv, n, FLEX_YZ, k, eta, sum);
	pack *rates = be ? &rate : NULL;
	E.x = axial_part(inv, n, FLEX_X, k, eta, eta_dot, 2.0 * w.x, E.x, rates);
	E.y = axial_part(inv, n, FLEX_Y, k, eta, eta_dot, 2.0 * w.y, E.y, rates);
	E.z = axial_part(inv, n, FLEX_Z, k, eta, eta_dot, 2.0 * w.z, E.z, rates);
	sum->mc = sum_term_vec(n, sum->mc, s1, pack_load(eta + k));
	if (!be)
		return (pspatial){E, s1};
	const pvec3 D = {pack_msub(pack_msub(pack_times(w.x, pack_add(yy, zz)), w.y, xy), w.z, xz),
	                 pack_msub(pack_msub(pack_times(w.y, pack_add(xx, zz)), w.x, xy), w.z, yz),
	                 pack_msub(pack_msub(pack_times(w.z, pack_add(xx, yy)), w.x, xz), w.y, yz)};
	sum->D = sum_term_vec(n, sum->D, D, pack_load(eta_dot + k));
	*be = pack_sub(rate, pvec_dot(w, D));
	return (pspatial){E, s1};
}

PACKED void modal_sums_clear(ModalSums *sum) {
	for (int c = 0; c < 6; ++c)
		sum->Sigma[c] = pack_zero();
	sum->mc = sum->D = pvec_zero();
}

/* Inertia with what the modes give, and sum D_k eta_dot_k (zero without motion). */
PACKED FlexInertia modal_inertia(const Flex *flex, const FlexRigid *rigid, int motion, const ModalSums *sum, vec3 *D) {
	FlexInertia inertia = {real_from(rigid->m),
	                       vec_from(rigid->mc),
	                       {real_from(rigid->xx), real_from(rigid->yy), real_from(rigid->zz), real_from(rigid->xy),
	                        real_from(rigid->xz), real_from(rigid->yz)}};
	*D = vec_zero();
	if (!flex->inv.components)
		return inertia;
	const Sums a = pack_sums(sum->Sigma[FLEX_XX], sum->Sigma[FLEX_YY], sum->Sigma[FLEX_ZZ], sum->Sigma[FLEX_XY]);
	const Sums b = pack_sums(sum->Sigma[FLEX_XZ], sum->Sigma[FLEX_YZ], sum->mc.x, sum->mc.y);
	inertia.Sigma = sym_add(inertia.Sigma, (sym3){a.a, a.b, a.c, a.d, b.a, b.b});
	const pvec3 none = pvec_zero(), d = motion ? sum->D : none;
	const Sums c = pack_sums(sum->mc.z, d.x, d.y, d.z);
	inertia.mc = add(inertia.mc, vec(b.c, b.d, c.a));
	*D = vec(c.b, c.c, c.d);
	return inertia;
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

#endif
