// SPDX-License-Identifier: Apache-2.0
/*
 * node_sums.h — what a node of a flexible body needs of its modal coordinates before any frame is known.
 */
#ifndef CALDER_DYNAMICS_FLEX_NODE_SUMS_H
#define CALDER_DYNAMICS_FLEX_NODE_SUMS_H

#include "flexbody/flex_pose.h"
#include "flexbody/flex_terms.h"
#include "model/work.h"

INLINE NodeSums node_sums(const FlexShape *shape, int n, const FlexWork *w) {
	pvec3 t = pvec_zero(), rho = t, rate = t, v = t;
	for (int k = 0; k < n; k += PACK) {
		const pack eta = pack_load(w->eta + k), eta_dot = pack_load(w->eta_dot + k);
		const pvec3 psi = pvec_const(shape->psi + k, n), phi = pvec_const(shape->phi + k, n);
		t = sum_term_vec(n, t, psi, eta), rate = sum_term_vec(n, rate, psi, eta_dot);
		rho = sum_term_vec(n, rho, phi, eta), v = sum_term_vec(n, v, phi, eta_dot);
	}
	const Sums a = pack_sums(t.x, t.y, t.z, rate.x), b = pack_sums(rate.y, rate.z, rho.x, rho.y);
	const Sums c = pack_sums(rho.z, v.x, v.y, v.z);
	NodeSums s = {.t = {a.a, a.b, a.c}, .rho = {b.c, b.d, c.a}, .rate = {a.d, b.a, b.b}, .v = {c.b, c.c, c.d}};
	const ExpCoefficients e = exp_coefficients(dot(s.t, s.t));
	s.a = e.a, s.b = e.b, s.c = e.c, s.b_s = e.b_s, s.c_s = e.c_s;
	return s;
}

#endif
