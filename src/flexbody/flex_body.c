// SPDX-License-Identifier: Apache-2.0
/*
 * flex_body.c — the slower ways to the inertia of a flexible body: sums over its masses one by one, linear in the modes
 * for each mass, and second-order shapes (flex_terms.h has the invariants and what all of it is for).
 *
 * Each mass needs m (a + W r + 2 w x v), v = phi eta_dot; modal rows phi_k'f. With second-order shapes s1 and M_ee depend
 * on eta. They are what stiffens a body in tension: a load f on the node gives the modal force 2 (phi2 eta).f, that is
 * the geometric stiffness -2 phi2.f. Where only the sums of m phi2 and m phi2 p' are known, they give the same to first
 * order in eta (flex_add_geometric).
 */
#include <calder/build.h>

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

/* ---- geometric stiffness -------------------------------------------------------------------------- */

/* Sums over the mass of a second-order vector, m s and m s p', the latter by rows x, y, z. */
typedef struct GeometricSum {
	vec3 S;
	vec3 N[3];
} GeometricSum;

INLINE GeometricSum geometric_sum(const double *rows, int n, const real *x) {
	return (GeometricSum){
		rows_sum(rows, n, x),
		{rows_sum(rows + 3 * n, n, x), rows_sum(rows + 6 * n, n, x), rows_sum(rows + 9 * n, n, x)},
	};
}

INLINE vec3 geometric_axial(const GeometricSum *g) {
	return vec(g->N[2].y - g->N[1].z, g->N[0].z - g->N[2].x, g->N[1].x - g->N[0].y);
}

/* sum += s g */
INLINE void geometric_madd(GeometricSum *sum, real s, const GeometricSum *g) {
	sum->S = madd(sum->S, s, g->S);
	for (int i = 0; i < 3; ++i)
		sum->N[i] = madd(sum->N[i], s, g->N[i]);
}

INLINE GeometricSum geometric_zero(void) { return (GeometricSum){vec_zero(), {vec_zero(), vec_zero(), vec_zero()}}; }

/* E_k += [axial part of K_ij; K_i] eta, be_k += (a_i K_i + W_ij K_ij) eta of one mode. */
INLINE void geometric_mode(const GeometricSum *g, int n, int k, const FlexMotion *motion, const mat3 *W,
                           FlexTerms *out) {
	const vec3 axial = geometric_axial(g);
	const real add_E[6] = {axial.x, axial.y, axial.z, g->S.x, g->S.y, g->S.z};
	for (int i = 0; i < 6; ++i)
		out->E[i * n + k] += add_E[i];
	if (!motion)
		return;
	const vec3 rows[3] = {vec(W->x.x, W->y.x, W->z.x), vec(W->x.y, W->y.y, W->z.y), vec(W->x.z, W->y.z, W->z.z)};
	out->be[k] += dot(motion->a, g->S) + dot(rows[0], g->N[0]) + dot(rows[1], g->N[1]) + dot(rows[2], g->N[2]);
}

/* sum m (p x f2 + r2 x f1) and sum m f2 with r2 = eta'phi2 eta, f1 = a + W p, f2 = W r2 + 2 w x r2_dot + r2_ddot. */
INLINE spatial geometric_force(const GeometricSum *r, const GeometricSum *v, const GeometricSum *rest, sym3 Sigma,
                               const FlexMotion *motion, const mat3 *W) {
	const vec3 w = motion->w;
	const real trace = v->N[0].x + v->N[1].y + v->N[2].z;
	const vec3 Nw = vec(dot(v->N[0], w), dot(v->N[1], w), dot(v->N[2], w));
	const real two = real_from(2);
	const vec3 f = add(madd(mat_mul_vec(*W, r->S), two, cross(w, v->S)), rest->S);
	const vec3 turning = madd(geometric_axial(rest), two, sub(scale(trace, w), Nw));
	return (spatial){add(add(second_moment_torque(Sigma, *W), cross(r->S, motion->a)), turning), f};
}

void LANED(flex_add_geometric)(const Flex *flex, const real *eta, const real *eta_dot, const FlexMotion *motion,
                               const mat3 *W, FlexInertia *inertia, FlexTerms *out) {
	const int n = flex->n;
	GeometricSum r = geometric_zero(), v = geometric_zero(), rest = geometric_zero(); // of r2, r2_dot, r2_ddot
	for (int k = 0; k < flex->m; ++k) {
		const double *rows = flex->geometric + k * CAL_FLEX_GEOMETRIC * n;
		const GeometricSum g = geometric_sum(rows, n, eta);
		geometric_mode(&g, n, k, motion, W, out);
		geometric_madd(&r, 0.5 * eta[k], &g);
		if (!motion)
			continue;
		const GeometricSum rate = geometric_sum(rows, n, eta_dot);
		geometric_madd(&v, eta_dot[k], &g);
		geometric_madd(&rest, eta_dot[k], &rate);
	}
	const sym3 Sigma = {2.0 * r.N[0].x,      2.0 * r.N[1].y,      2.0 * r.N[2].z,
	                    r.N[0].y + r.N[1].x, r.N[0].z + r.N[2].x, r.N[1].z + r.N[2].y};
	inertia->mc = add(inertia->mc, r.S);
	inertia->Sigma = sym_add(inertia->Sigma, Sigma);
	if (motion)
		out->force = spatial_add(out->force, geometric_force(&r, &v, &rest, Sigma, motion, W));
}
