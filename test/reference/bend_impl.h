// SPDX-License-Identifier: Apache-2.0
/*
 * bend_impl.h — motion of a node in its body's frame B: constant on a rigid body, by the modes on a flexible one.
 *
 * Position p + phi eta + eta'phi2 eta, axes exp([psi eta]x) E. The rate of the rotation is the left Jacobian
 * of SO(3), T(t) = 1 + a [t]x + b [t]x^2 with a = (1 - cos|t|)/|t|^2 and b = (|t| - sin|t|)/|t|^3, taken from
 * their power series in |t|^2, which also give the derivatives. Compiled in double and in quad.
 */
#ifndef TEST_REFERENCE_BEND_IMPL_H
#define TEST_REFERENCE_BEND_IMPL_H

#include "reference/real.h"
#include "reference/reference.h"

typedef struct Bend {
	Rot S;         // axes of the node in B
	Vec w, wdot;   // relative angular velocity and its derivative in B
	Vec d, d1, d2; // position and its derivatives in B
} Bend;

static Rot placement_rot(const CalPlacement *p) {
	CalQuat o = p->orientation;
	if (o.w == 0 && o.x == 0 && o.y == 0 && o.z == 0)
		return rot_identity();
	return quat_rot(quat_unit((Quat){(real)o.w, (real)o.x, (real)o.y, (real)o.z}));
}

/* sum over modes of shape[row][k] x[k] */
static Vec shape_mul(const double *shape, int modes, const real *x) {
	real y[3] = {0, 0, 0};
	for (int i = 0; shape && i < 3; i++)
		for (int k = 0; k < modes; k++)
			y[i] += (real)shape[i * modes + k] * x[k];
	return vec(y[0], y[1], y[2]);
}

/* x'phi2 y, symmetrised */
static Vec shape2_mul(const double *phi2, int modes, const real *x, const real *y) {
	real s[3] = {0, 0, 0};
	for (int i = 0; phi2 && i < 3; i++)
		for (int k = 0; k < modes; k++)
			for (int l = 0; l < modes; l++)
				s[i] += (real)phi2[(i * modes + k) * modes + l] * (x[k] * y[l] + y[k] * x[l]) / 2;
	return vec(s[0], s[1], s[2]);
}

/* sum_k (-s)^k / (2k + n)!  and its derivative with respect to s */
static void jacobian_series(real s, int n, real *value, real *slope) {
	real term = 1;
	for (int i = 2; i <= n; i++)
		term /= (real)i;
	*value = term;
	*slope = 0;
	for (int k = 1; k < 30; k++) { /* term: without the last factor s */
		term *= (k > 1 ? -s : -1) / (real)((2 * k + n) * (2 * k + n - 1));
		*slope += (real)k * term;
		*value += term * s;
	}
}

/* Angular velocity T t1 and its derivative T t2 + T' t1 of exp([t]x) when t moves with t1, t2. */
static void bend_rates(Vec t, Vec t1, Vec t2, Bend *b) {
	real s = dot(t, t), s1 = 2 * dot(t, t1), a, da, c, dc;
	jacobian_series(s, 2, &a, &da);
	jacobian_series(s, 3, &c, &dc);
	Vec x1 = cross(t, t1), x2 = cross(t, t2);
	b->w = add(t1, add(scale(a, x1), scale(c, cross(t, x1))));
	b->wdot = add(t2, add(scale(a, x2), scale(c, cross(t, x2))));
	b->wdot = add(b->wdot, add(scale(da * s1, x1), scale(dc * s1, cross(t, x1))));
	b->wdot = add(b->wdot, scale(c, cross(t1, x1)));
}

/* The node's position alone, in axes along those of B. */
static Bend node_shift(const RefModel *m, int node, const real *q, const real *u, const real *ud) {
	const RefNode *n = &m->nodes[node];
	Bend out = {.S = rot_identity(), .d = vec_in(n->placement.position)};
	if (n->body < 0 || m->bodies[n->body].modes == 0)
		return out;
	const RefBody *b = &m->bodies[n->body];
	const real *x = q + b->q + b->nq, *x1 = u + b->u + b->nu, *x2 = ud + b->u + b->nu;
	out.d = add(out.d, add(shape_mul(n->phi, b->modes, x), shape2_mul(n->phi2, b->modes, x, x)));
	out.d1 = add(shape_mul(n->phi, b->modes, x1), scale(2, shape2_mul(n->phi2, b->modes, x, x1)));
	out.d2 = add(shape_mul(n->phi, b->modes, x2), scale(2, shape2_mul(n->phi2, b->modes, x, x2)));
	out.d2 = add(out.d2, scale(2, shape2_mul(n->phi2, b->modes, x1, x1)));
	return out;
}

static Bend node_bend(const RefModel *m, int node, const real *q, const real *u, const real *ud) {
	const RefNode *n = &m->nodes[node];
	Bend out = node_shift(m, node, q, u, ud);
	out.S = placement_rot(&n->placement);
	if (n->body < 0 || !n->psi)
		return out;
	const RefBody *b = &m->bodies[n->body];
	Vec t = shape_mul(n->psi, b->modes, q + b->q + b->nq);
	Vec t1 = shape_mul(n->psi, b->modes, u + b->u + b->nu), t2 = shape_mul(n->psi, b->modes, ud + b->u + b->nu);
	bend_rates(t, t1, t2, &out);
	out.S = rot_mul(quat_rot(quat_exp(t)), out.S);
	return out;
}

#endif
