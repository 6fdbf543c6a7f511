// SPDX-License-Identifier: Apache-2.0
/*
 * spatial_impl.h — Featherstone's recursions (Rigid Body Dynamics Algorithms, 2008, ch. 5 and 7).
 *
 * Rigid bodies only. Body coordinates, full 6x6 matrices, joints of up to six columns. The acceleration of the
 * recursion is the spatial one (derivative of the velocity field at a fixed point), the base is given -g.
 */
#ifndef TEST_REFERENCE_SPATIAL_IMPL_H
#define TEST_REFERENCE_SPATIAL_IMPL_H

#include "reference/sums_impl.h"

typedef struct Mat6 {
	real m[6][6];
} Mat6;
typedef struct Vec6 {
	real v[6];
} Vec6;

static Vec6 vec6(Vec w, Vec v) { return (Vec6){{w.x, w.y, w.z, v.x, v.y, v.z}}; }

static Vec6 mul6(const Mat6 *A, Vec6 x) {
	Vec6 y = {{0}};
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 6; j++)
			y.v[i] += A->m[i][j] * x.v[j];
	return y;
}

static Vec6 mul6t(const Mat6 *A, Vec6 x) {
	Vec6 y = {{0}};
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 6; j++)
			y.v[i] += A->m[j][i] * x.v[j];
	return y;
}

static Vec6 add6(Vec6 a, Vec6 b) {
	for (int i = 0; i < 6; i++)
		a.v[i] += b.v[i];
	return a;
}

static Vec6 scale6(real s, Vec6 a) {
	for (int i = 0; i < 6; i++)
		a.v[i] *= s;
	return a;
}

static real dot6(Vec6 a, Vec6 b) {
	real s = 0;
	for (int i = 0; i < 6; i++)
		s += a.v[i] * b.v[i];
	return s;
}

static Vec top(Vec6 a) { return vec(a.v[0], a.v[1], a.v[2]); }
static Vec low(Vec6 a) { return vec(a.v[3], a.v[4], a.v[5]); }

/* v x m for motions, v x* f for forces. */
static Vec6 cross_motion(Vec6 v, Vec6 m) {
	return vec6(cross(top(v), top(m)), add(cross(top(v), low(m)), cross(low(v), top(m))));
}
static Vec6 cross_force(Vec6 v, Vec6 f) {
	return vec6(add(cross(top(v), top(f)), cross(low(v), low(f))), cross(top(v), low(f)));
}

static Rot skew(Vec a) { return (Rot){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}}; }

/* Motion transform to a frame with axes R and origin r in the old one: [R' 0; -R'[r]x R']. */
static Mat6 transform(Rot R, Vec r) {
	Rot E = transpose(R), B = rot_mul(E, skew(r));
	Mat6 X = {{{0}}};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			X.m[i][j] = X.m[i + 3][j + 3] = E.m[i][j];
			X.m[i + 3][j] = -B.m[i][j];
		}
	return X;
}

/* Spatial inertia about the body frame: [I - m[c]x[c]x, m[c]x; -m[c]x, m 1]. */
static Mat6 body_inertia(const RefBody *b) {
	real mass = (real)b->mass;
	Rot C = skew(vec_in(b->com)), CC = rot_mul(C, C);
	Mat6 M = {{{0}}};
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			M.m[i][j] = (real)b->inertia.m[i][j] - mass * CC.m[i][j];
			M.m[i][j + 3] = mass * C.m[i][j];
			M.m[i + 3][j] = -mass * C.m[i][j];
		}
		M.m[i + 3][i + 3] = mass;
	}
	return M;
}

/* What the recursions need of one body. */
typedef struct Link {
	Mat6 X, I;  // from the parent's coordinates; inertia (rigid, then articulated)
	Vec6 S[6];  // joint columns
	Vec6 c, v;  // velocity-product acceleration, velocity
	Vec6 p, a;  // bias force, acceleration
	Rot R;      // body axes in the world
	Vec r;      // body origin in the world
	Vec6 U[6];  // I S
	real D[36]; // of the free columns, factored
	int index[6], free_count;
} Link;

/* Joint columns and bias acceleration in body coordinates from the relative motion seen from the parent. */
static void link_joint(const RefModel *m, int i, const real *q, const real *u, Link *l) {
	const RefBody *b = &m->bodies[i];
	real *unit = real_array(m->nu), *zero = real_array(m->nu);
	Frame f = frame_across(m, i, frame_base(), q, u, zero);
	Rot E = transpose(f.R);
	l->X = transform(f.R, f.r);
	l->c = vec6(rotate(E, f.alpha), rotate(E, sub(f.a, cross(f.w, f.v))));
	for (int k = 0; k < b->nu; k++) {
		unit[b->u + k] = 1;
		Frame g = frame_across(m, i, frame_base(), q, unit, zero);
		l->S[k] = vec6(rotate(E, g.w), rotate(E, g.v));
		unit[b->u + k] = 0;
	}
	free(unit), free(zero);
}

static Vec *vec_array(int n) {
	Vec *v = calloc((size_t)(n > 0 ? n : 1), sizeof *v);
	if (!v)
		abort();
	return v;
}

/* Wrenches of the input on each body, at its center of mass. */
static void external_wrenches(const RefModel *m, const Frame *f, const CalInput *in, const real *q, const real *zero,
                              Vec *moment, Vec *force) {
	for (int k = 0; in && k < in->wrench_count; k++) {
		int b = m->nodes[in->wrenches[k].node].body;
		Vec mo, fo;
		if (b < 0)
			continue;
		Frame n = node_frame(m, f, in->wrenches[k].node, q, zero, zero);
		wrench_in(&in->wrenches[k], n, &mo, &fo);
		force[b] = add(force[b], fo);
		moment[b] = add(moment[b], add(mo, cross(sub(n.r, com_frame(m, f, b).r), fo)));
	}
}

static Link *links(const RefModel *m, const real *q, const real *u, const CalInput *in) {
	int nb = m->body_count;
	Link *l = calloc((size_t)(nb + 1), sizeof *l);
	Frame *f = frame_array(nb);
	Vec *mx = vec_array(nb), *fx = vec_array(nb);
	real *zero = real_array(m->nu);
	if (!l)
		abort();
	tree_frames(m, q, zero, zero, f);
	external_wrenches(m, f, in, q, zero, mx, fx);
	for (int i = 0; i < nb; i++) {
		const RefBody *b = &m->bodies[i];
		link_joint(m, i, q, u, &l[i]);
		Vec6 vj = {{0}};
		for (int k = 0; k < b->nu; k++)
			vj = add6(vj, scale6(u[b->u + k], l[i].S[k]));
		l[i].v = b->parent < 0 ? vj : add6(mul6(&l[i].X, l[b->parent].v), vj);
		l[i].c = add6(l[i].c, cross_motion(l[i].v, vj));
		l[i].I = body_inertia(b);
		l[i].p = cross_force(l[i].v, mul6(&l[i].I, l[i].v));
		Vec arm = sub(com_frame(m, f, i).r, f[i].r);
		Rot E = transpose(f[i].R);
		Vec6 external = vec6(rotate(E, add(mx[i], cross(arm, fx[i]))), rotate(E, fx[i]));
		l[i].p = add6(l[i].p, scale6(-1, external));
	}
	free(f), free(mx), free(fx), free(zero);
	return l;
}

static Vec6 base_acceleration(const RefModel *m) { return vec6(vec(0, 0, 0), scale(-1, vec_in(m->gravity))); }

void RN(inverse_recursive)(const RefModel *m, const double *q, const double *u, const double *udot, const CalInput *in,
                           double *tau) {
	int nb = m->body_count;
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *ud = real_copy(m->nu, udot), *t = real_array(m->nu);
	Link *l = links(m, qr, ur, in);
	elastic_forces(m, qr, ur, t);
	for (int i = 0; i < nb; i++) {
		const RefBody *b = &m->bodies[i];
		Vec6 a0 = b->parent < 0 ? base_acceleration(m) : l[b->parent].a;
		l[i].a = add6(mul6(&l[i].X, a0), l[i].c);
		for (int k = 0; k < b->nu; k++)
			l[i].a = add6(l[i].a, scale6(ud[b->u + k], l[i].S[k]));
		l[i].p = add6(l[i].p, mul6(&l[i].I, l[i].a));
	}
	for (int i = nb - 1; i >= 0; i--) {
		const RefBody *b = &m->bodies[i];
		for (int k = 0; k < b->nu; k++)
			t[b->u + k] = dot6(l[i].S[k], l[i].p) + reflected(m, i, k) * ud[b->u + k] - t[b->u + k];
		if (b->parent >= 0)
			l[b->parent].p = add6(l[b->parent].p, mul6t(&l[i].X, l[i].p));
	}
	give(t, m->nu, tau);
	free(qr), free(ur), free(ud), free(l);
}

/* D = S'I S of the free columns with rotors; U = I S. */
static int link_factor(const RefModel *m, const CalInput *in, int i, Link *l) {
	l->free_count = 0;
	for (int k = 0; k < m->bodies[i].nu; k++) {
		l->U[k] = mul6(&l->I, l->S[k]);
		if (!is_prescribed(m, in, i, k))
			l->index[l->free_count++] = k;
	}
	int n = l->free_count;
	for (int r = 0; r < n; r++)
		for (int s = 0; s < n; s++)
			l->D[r * n + s] = dot6(l->S[l->index[r]], l->U[l->index[s]]) + (r == s ? reflected(m, i, l->index[r]) : 0);
	return ldl_factor(n, l->D);
}

/* The articulated inertia and bias handed to the parent: I - U D^-1 U', p + I^a c + U D^-1 (tau - S'p). */
static void link_hand_inward(Link *l, const real *tau, Link *parent) {
	int n = l->free_count;
	Mat6 Ia = l->I;
	real x[6];
	for (int j = 0; j < 6; j++) {
		for (int r = 0; r < n; r++)
			x[r] = l->U[l->index[r]].v[j];
		ldl_solve(n, l->D, x);
		for (int i = 0; i < 6; i++)
			for (int r = 0; r < n; r++)
				Ia.m[i][j] -= l->U[l->index[r]].v[i] * x[r];
	}
	Vec6 pa = add6(l->p, mul6(&Ia, l->c));
	for (int r = 0; r < n; r++)
		x[r] = tau[l->index[r]] - dot6(l->S[l->index[r]], l->p);
	ldl_solve(n, l->D, x);
	for (int r = 0; r < n; r++)
		pa = add6(pa, scale6(x[r], l->U[l->index[r]]));
	if (!parent)
		return;
	parent->p = add6(parent->p, mul6t(&l->X, pa));
	for (int j = 0; j < 6; j++) {
		Vec6 e = {{0}};
		e.v[j] = 1;
		Vec6 column = mul6(&l->X, e);
		column = mul6t(&l->X, mul6(&Ia, column));
		for (int i = 0; i < 6; i++)
			parent->I.m[i][j] += column.v[i];
	}
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < i; j++)
			parent->I.m[i][j] = parent->I.m[j][i] = (parent->I.m[i][j] + parent->I.m[j][i]) / 2;
}

int RN(forward_articulated)(const RefModel *m, const double *q, const double *u, const CalInput *in, double *udot) {
	int n = m->nu, singular = 0, *index = calloc((size_t)(n + 1), sizeof *index);
	real *qr = real_copy(m->nq, q), *ur = real_copy(n, u), *ud = real_array(n);
	real *tau = real_copy(n, in ? in->tau : NULL);
	if (!index)
		abort();
	Link *l = links(m, qr, ur, in);
	free_speeds(m, in, index, ud);
	elastic_forces(m, qr, ur, tau);
	for (int i = m->body_count - 1; i >= 0; i--) {
		const RefBody *b = &m->bodies[i];
		singular |= link_factor(m, in, i, &l[i]);
		for (int k = 0; k < b->nu; k++)
			l[i].c = add6(l[i].c, scale6(ud[b->u + k], l[i].S[k]));
		link_hand_inward(&l[i], tau + b->u, b->parent < 0 ? NULL : &l[b->parent]);
	}
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		Vec6 a = add6(mul6(&l[i].X, b->parent < 0 ? base_acceleration(m) : l[b->parent].a), l[i].c);
		real x[6];
		for (int r = 0; r < l[i].free_count; r++) {
			int k = l[i].index[r];
			x[r] = tau[b->u + k] - dot6(l[i].S[k], l[i].p) - dot6(l[i].U[k], a);
		}
		ldl_solve(l[i].free_count, l[i].D, x);
		for (int r = 0; r < l[i].free_count; r++) {
			ud[b->u + l[i].index[r]] = x[r];
			a = add6(a, scale6(x[r], l[i].S[l[i].index[r]]));
		}
		l[i].a = a;
	}
	give(ud, n, udot);
	free(index), free(qr), free(ur), free(tau), free(l);
	return singular;
}

#endif
