// SPDX-License-Identifier: Apache-2.0
/*
 * flex_body.c — the slower ways to the inertia of a flexible body: sums over its masses one by one, linear in the modes
 * for each mass, and second-order shapes (flex_terms.h has the invariants and what all of it is for).
 *
 * Each mass needs m (a + W r + 2 w x v), v = phi eta_dot; modal rows phi_k'f. With second-order shapes s1 and M_ee depend
 * on eta. They are what stiffens a body in tension: a load f on the node gives the modal force 2 (phi2 eta).f, that is
 * the geometric stiffness -2 phi2.f.
 */
#include "flexbody/flex_pose.h"
#include "flexbody/flex_terms.h"

#if CAL_LANES == 1 && !defined(CAL_ISA)
const double flex_series[FLEX_SERIES][PACK] = {
	{0.5, 0.16666666666666666, -0.041666666666666664, -0.008333333333333333},
	{-0.041666666666666664, -0.008333333333333333, 0.002777777777777778, 0.0003968253968253968},
	{0.001388888888888889, 0.0001984126984126984, -7.440476190476191e-05, -8.267195767195768e-06},
	{-2.48015873015873e-05, -2.7557319223985893e-06, 1.1022927689594355e-06, 1.0020843354176688e-07},
	{2.755731922398589e-07, 2.505210838544172e-08, -1.043837849393405e-08, -8.029521918410807e-10},
	{-2.08767569878681e-09, -1.6059043836821613e-10, 6.882447358637835e-11, 4.58829823909189e-12},
	{1.1470745597729725e-11, 7.647163731819816e-13, -3.3456341326711696e-13, -1.9680200780418645e-14},
	{-4.779477332387385e-14, -2.8114572543455206e-15, 1.249536557486898e-15, 6.576508197299464e-17},
	{1.5619206968586225e-16, 8.22063524662433e-18, -3.6992858609809485e-18, -1.7615646957052136e-19},
	{-4.110317623312165e-19, -1.9572941063391263e-20, 8.896791392450573e-21, 3.868170170630684e-22},
	{8.896791392450574e-22, 3.868170170630684e-23, -1.77291132820573e-23, -7.091645312822921e-25},
	{-1.6117375710961184e-24, -6.446950284384474e-26, 2.975515515869757e-26, 1.1020427836554655e-27},
};
#endif

void LANED(flex_second_order_pack)(const double *phi2, int m, const real *x, int k, pvec3 *sum) {
	const int n = row_length(m);
	*sum = pvec_zero();
	for (int l = 0; l < m; ++l) // by symmetry
		*sum = pvec_madd(*sum, x[l], pvec_const(phi2 + l * 3 * n + k, n));
}

vec3 LANED(flex_second_order)(const double *phi2, int m, const real *x, const real *y) {
	const int n = row_length(m);
	vec3 sum = vec_zero();
	for (int k = 0; k < m; ++k)
		sum = madd(sum, x[k], rows_sum(phi2 + k * 3 * n, n, y));
	return sum;
}

/* What one mass adds to the inertia of the body. */
INLINE void add_inertia(FlexInertia *sum, double m, vec3 mr, vec3 r) {
	sum->m += m;
	sum->mc = add(sum->mc, mr);
	sum->Sigma = sym_add(sum->Sigma, (sym3){mr.x * r.x, mr.y * r.y, mr.z * r.z, mr.x * r.y, mr.x * r.z, mr.y * r.z});
}

/* A mass with first-order shapes: its part of s1 and M_ee is constant. */
static void mass_first_order(const FlexMass *mass, int n, const real *eta, const real *eta_dot,
                             const FlexMotion *motion, const mat3 *W, FlexInertia *sum, FlexTerms *out) {
	const vec3 r = add(vec_from(mass->p), rows_sum(mass->phi, n, eta)), mr = scale(real_from(mass->m), r);
	add_inertia(sum, mass->m, mr, r);
	vec3 f = vec_zero();
	if (motion) {
		const vec3 v = rows_sum(mass->phi, n, eta_dot);
		const vec3 Wr = mat_mul_vec(*W, r);
		f = scale(real_from(mass->m), madd(add(motion->a, Wr), real_from(2), cross(motion->w, v)));
		out->force = spatial_add(out->force, (spatial){cross(r, f), f});
	}
	for (int k = 0; k < n; k += PACK) {
		const pvec3 phi = pvec_const(mass->phi + k, n);
		pvec_store(out->E + k, n, pvec_add(pvec_load(out->E + k, n), pvec_cross(mr, phi)));
		if (motion)
			pack_store(out->be + k, pack_add(pack_load(out->be + k), pvec_dot(f, phi)));
	}
}

/* M += m phi'phi, four columns at a time. */
static void add_modal_mass(double mass, int m, int n, const real *phi, real *M) {
	for (int k = 0; k < m; ++k) {
		const vec3 mphi = scale(real_from(mass), (vec3){phi[k], phi[n + k], phi[2 * n + k]});
		for (int j = 0; j < n; j += PACK)
			pack_store(M + k * n + j, pack_add(pack_load(M + k * n + j), pvec_dot(mphi, pvec_load(phi + j, n))));
	}
}

/* A mass with second-order shapes: phi + 2 phi2 eta in place of phi, everywhere. */
static void mass_second_order(const FlexMass *mass, int m, const real *eta, const real *eta_dot,
                              const FlexMotion *motion, const mat3 *W, FlexInertia *sum, FlexTerms *out) {
	const int n = row_length(m);
	real *phi = out->scratch;
	for (int k = 0; k < n; k += PACK) {
		const pvec3 first = pvec_const(mass->phi + k, n);
		pvec3 second_k;
		LANED(flex_second_order_pack)(mass->phi2, m, eta, k, &second_k);
		pvec_store(phi + k, n, pvec_madd(first, real_from(2), second_k));
	}
	const vec3 second = LANED(flex_second_order)(mass->phi2, m, eta, eta);
	const vec3 r = add(add(vec_from(mass->p), rows_sum(mass->phi, n, eta)), second);
	const vec3 mr = scale(real_from(mass->m), r);
	vec3 f = vec_zero();
	add_inertia(sum, mass->m, mr, r);
	if (motion) {
		const vec3 v =
			madd(rows_sum(mass->phi, n, eta_dot), real_from(2), LANED(flex_second_order)(mass->phi2, m, eta_dot, eta));
		const vec3 a = madd(add(motion->a, mat_mul_vec(*W, r)), real_from(2), cross(motion->w, v));
		f = scale(real_from(mass->m), madd(a, real_from(2), LANED(flex_second_order)(mass->phi2, m, eta_dot, eta_dot)));
		out->force = spatial_add(out->force, (spatial){cross(r, f), f});
	}
	for (int k = 0; k < n; k += PACK) {
		const pvec3 phi_k = pvec_load(phi + k, n);
		const pspatial E = pspatial_load(out->E + k, n);
		const pvec3 linear = pvec_madd(E.l, real_from(mass->m), phi_k);
		pspatial_store(out->E + k, n, (pspatial){pvec_add(E.a, pvec_cross(mr, phi_k)), linear});
		if (motion)
			pack_store(out->be + k, pack_add(pack_load(out->be + k), pvec_dot(f, phi_k)));
	}
	add_modal_mass(mass->m, m, n, phi, out->M);
}

void LANED(flex_add_masses)(const Flex *flex, const real *eta, const real *eta_dot, const FlexMotion *motion,
                            const mat3 *W, FlexInertia *inertia, FlexTerms *out) {
	for (int i = flex->summed_first; i < flex->mass_count; ++i) {
		const FlexMass *mass = &flex->masses[i];
		if (mass->phi2) {
			mass_second_order(mass, flex->m, eta, eta_dot, motion, W, inertia, out);
		} else {
			mass_first_order(mass, flex->n, eta, eta_dot, motion, W, inertia, out);
		}
	}
}
