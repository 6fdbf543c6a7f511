// SPDX-License-Identifier: Apache-2.0
/*
 * sums_impl.h — dynamics by sums over masses: M = sum J'M J, d'Alembert, energies, momenta, dense solution.
 *
 * A mass is the rigid part of a body (at its center of mass) or a lumped node of a flexible one. Its kinetic
 * energy is 1/2 m v.v + 1/2 w'J w with J constant in B and w = omega + psi eta_dot (psi = 0 for the rigid part),
 * both in components of B, so that the inertia force on speed j is m v_j.a + w_j'J wdot + omega_j'(omega x J w):
 * wdot is the derivative of the components of w. The Jacobian of a mass is what its velocity is for unit
 * speeds, one at a time. No recursion, no spatial algebra.
 */
#ifndef TEST_REFERENCE_SUMS_IMPL_H
#define TEST_REFERENCE_SUMS_IMPL_H

#include "reference/motion_impl.h"

typedef struct Lump {
	int body, node; // node -1: the rigid part
	real mass;
	Rot J; // about the point, in B
} Lump;

typedef struct LumpMotion {
	Vec r, v, a;        // of the point, world
	Vec omega, w, wdot; // in B
} LumpMotion;

static Frame com_frame(const RefModel *m, const Frame *f, int i) {
	return frame_attached(f[i], rot_identity(), vec_in(m->bodies[i].com));
}

/* Rigid parts first, in the order of the bodies, then lumped nodes. */
static Lump *lumps(const RefModel *m, int *count) {
	Lump *l = calloc((size_t)(m->body_count + m->node_count + 1), sizeof *l);
	if (!l)
		abort();
	*count = 0;
	for (int i = 0; i < m->body_count; i++)
		l[(*count)++] = (Lump){i, -1, (real)m->bodies[i].mass, rot_in(&m->bodies[i].inertia)};
	for (int i = 0; i < m->node_count; i++) {
		const RefNode *n = &m->nodes[i];
		if (n->body >= 0 && m->bodies[n->body].modes > 0)
			l[(*count)++] = (Lump){n->body, i, (real)n->mass, rot_in(&n->inertia)};
	}
	return l;
}

/* f: frames of the bodies at the same q, u, ud. */
static LumpMotion lump_motion(const RefModel *m, const Lump *l, const Frame *f, const real *q, const real *u,
                              const real *ud) {
	const RefBody *b = &m->bodies[l->body];
	Frame c = com_frame(m, f, l->body);
	if (l->node >= 0) {
		Bend shift = node_shift(m, l->node, q, u, ud);
		c = frame_bent(f[l->body], &shift);
	}
	const double *psi = l->node < 0 ? NULL : m->nodes[l->node].psi;
	Rot E = transpose(f[l->body].R);
	LumpMotion x = {.r = c.r, .v = c.v, .a = c.a, .omega = rotate(E, f[l->body].w)};
	x.w = add(x.omega, shape_mul(psi, b->modes, u + b->u + b->nu));
	x.wdot = add(rotate(E, f[l->body].alpha), shape_mul(psi, b->modes, ud + b->u + b->nu));
	return x;
}

/* Motion of mass i for unit speed j: partial[j * count + i]. */
static LumpMotion *partials(const RefModel *m, const real *q, const Lump *l, int count) {
	LumpMotion *p = calloc((size_t)(m->nu * count + 1), sizeof *p);
	real *u = real_array(m->nu), *zero = real_array(m->nu);
	Frame *f = frame_array(m->body_count);
	if (!p)
		abort();
	for (int j = 0; j < m->nu; j++) {
		u[j] = 1;
		tree_frames(m, q, u, zero, f);
		for (int i = 0; i < count; i++)
			p[j * count + i] = lump_motion(m, &l[i], f, q, u, zero);
		u[j] = 0;
	}
	free(u), free(zero), free(f);
	return p;
}

static real reflected(const RefModel *m, int body, int k) {
	const CalDofDef *d = &m->bodies[body].joint.dof[k];
	real n = d->gear_ratio != 0 ? (real)d->gear_ratio : 1;
	return n * n * (real)d->rotor_inertia;
}

/* p: partials() of the masses l. */
static void mass_sums(const RefModel *m, const Lump *l, const LumpMotion *p, int count, real *M) {
	int n = m->nu;
	LumpMotion *momentum = calloc((size_t)count + 1, sizeof *momentum);
	if (!momentum)
		abort();
	for (int j = 0; j < n; j++) {
		for (int i = 0; i < count; i++) { /* momenta of the masses for unit speed j */
			momentum[i].v = scale(l[i].mass, p[j * count + i].v);
			momentum[i].w = rotate(l[i].J, p[j * count + i].w);
		}
		for (int k = 0; k <= j; k++) {
			real s = 0;
			for (int i = 0; i < count; i++)
				s += dot(p[k * count + i].v, momentum[i].v) + dot(p[k * count + i].w, momentum[i].w);
			M[j * n + k] = M[k * n + j] = s;
		}
	}
	for (int i = 0; i < m->body_count; i++)
		for (int k = 0; k < m->bodies[i].nu; k++)
			M[(m->bodies[i].u + k) * (n + 1)] += reflected(m, i, k);
	free(momentum);
}

static void mass_matrix(const RefModel *m, const real *q, real *M) {
	int count;
	Lump *l = lumps(m, &count);
	LumpMotion *p = partials(m, q, l, count);
	mass_sums(m, l, p, count, M);
	free(l), free(p);
}

void RN(mass_matrix)(const RefModel *m, const double *q, double *M) {
	real *qr = real_copy(m->nq, q), *Mr = real_array(m->nu * m->nu);
	mass_matrix(m, qr, Mr);
	give(Mr, m->nu * m->nu, M);
	free(qr);
}

void RN(jacobian)(const RefModel *m, const double *q, int node, double *J) {
	real *qr = real_copy(m->nq, q), *u = real_array(m->nu), *zero = real_array(m->nu);
	Frame *f = frame_array(m->body_count);
	for (int j = 0; j < m->nu; j++) {
		u[j] = 1;
		tree_frames(m, qr, u, zero, f);
		Frame n = node_frame(m, f, node, qr, u, zero);
		real col[6] = {n.w.x, n.w.y, n.w.z, n.v.x, n.v.y, n.v.z};
		for (int r = 0; r < 6; r++)
			J[r * m->nu + j] = (double)col[r];
		u[j] = 0;
	}
	free(qr), free(u), free(zero), free(f);
}

/* ---- generalized forces --------------------------------------------------------------------- */

/* Rate of change of momentum of a mass: the force at its point and the moment of J, world axes. */
static void inertia_wrench(const Lump *l, const LumpMotion *x, const Frame *f, Vec *moment, Vec *force) {
	Vec rate = add(rotate(l->J, x->wdot), cross(x->omega, rotate(l->J, x->w)));
	*force = scale(l->mass, x->a);
	*moment = rotate(f[l->body].R, rate);
}

/* Q = M udot + h without rotors; p: partials() of the masses l. */
static void inertia_sums(const RefModel *m, const Lump *l, const LumpMotion *p, int count, const real *q, const real *u,
                         const real *ud, real *Q) {
	Frame *f = frame_array(m->body_count);
	tree_frames(m, q, u, ud, f);
	for (int i = 0; i < count; i++) {
		LumpMotion x = lump_motion(m, &l[i], f, q, u, ud);
		Vec spin = rotate(l[i].J, x.wdot), gyroscopic = cross(x.omega, rotate(l[i].J, x.w));
		for (int j = 0; j < m->nu; j++) {
			const LumpMotion *y = &p[j * count + i];
			Q[j] += l[i].mass * dot(y->v, x.a) + dot(y->w, spin) + dot(y->omega, gyroscopic);
		}
	}
	free(f);
}

static void inertia_forces(const RefModel *m, const real *q, const real *u, const real *ud, real *Q) {
	int count;
	Lump *l = lumps(m, &count);
	LumpMotion *p = partials(m, q, l, count);
	inertia_sums(m, l, p, count, q, u, ud, Q);
	free(l), free(p);
}

static void weight_sums(const RefModel *m, const Lump *l, const LumpMotion *p, int count, real *Q) {
	for (int j = 0; j < m->nu; j++)
		for (int i = 0; i < count; i++)
			Q[j] += l[i].mass * dot(p[j * count + i].v, vec_in(m->gravity));
}

static void weight_forces(const RefModel *m, const real *q, real *Q) {
	int count;
	Lump *l = lumps(m, &count);
	LumpMotion *p = partials(m, q, l, count);
	weight_sums(m, l, p, count, Q);
	free(l), free(p);
}

/* A wrench of the input in world axes, at the origin of its node, whose frame is n. */
static void wrench_in(const CalWrench *x, Frame n, Vec *moment, Vec *force) {
	Rot R = x->frame == CAL_FRAME_NODE ? n.R : rot_identity();
	*force = rotate(R, vec_in(x->f.linear));
	*moment = rotate(R, vec_in(x->f.angular));
}

static void wrench_forces(const RefModel *m, const real *q, const CalInput *in, real *Q) {
	real *u = real_array(m->nu), *zero = real_array(m->nu);
	Frame *f = frame_array(m->body_count);
	for (int j = 0; in && in->wrench_count > 0 && j < m->nu; j++) {
		u[j] = 1;
		tree_frames(m, q, u, zero, f);
		for (int k = 0; k < in->wrench_count; k++) {
			Vec moment, force;
			Frame n = node_frame(m, f, in->wrenches[k].node, q, u, zero);
			wrench_in(&in->wrenches[k], n, &moment, &force);
			Q[j] += dot(n.w, moment) + dot(n.v, force);
		}
		u[j] = 0;
	}
	free(u), free(zero), free(f);
}

void RN(bias_forces)(const RefModel *m, const double *q, const double *u, double *h) {
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *zero = real_array(m->nu), *Q = real_array(m->nu);
	inertia_forces(m, qr, ur, zero, Q);
	give(Q, m->nu, h);
	free(qr), free(ur), free(zero);
}

void RN(gravity_forces)(const RefModel *m, const double *q, double *out) {
	real *qr = real_copy(m->nq, q), *Q = real_array(m->nu);
	weight_forces(m, qr, Q);
	give(Q, m->nu, out);
	free(qr);
}

void RN(external_forces)(const RefModel *m, const double *q, const CalInput *in, double *out) {
	real *qr = real_copy(m->nq, q), *Q = real_array(m->nu);
	wrench_forces(m, qr, in, Q);
	give(Q, m->nu, out);
	free(qr);
}

/* Displacement from the rest configuration, which is the neutral one moved by `rest`. */
static void deflection(const RefBody *b, const real *q, real *delta) {
	real neutral[32] = {0}, at_rest[32] = {0}, rest[16] = {0};
	for (int k = 0, i = 0; k < b->elements.count; i += ref_element_nq(&b->elements.element[k]), k++)
		neutral[i] = b->elements.element[k].kind == REF_CAM ? 0 : 1;
	for (int k = 0; k < b->nu; k++)
		rest[k] = (real)b->joint.dof[k].rest;
	elements_integrate(&b->elements, neutral, rest, at_rest);
	elements_difference(&b->elements, at_rest, q + b->q, delta);
}

/* -K eta - D eta_dot */
static void modal_forces(const RefBody *b, const real *q, const real *u, real *Q) {
	int n = b->modes;
	for (int j = 0; j < n; j++)
		for (int k = 0; k < n; k++) {
			Q[b->u + b->nu + j] -= (real)b->stiffness[j * n + k] * q[b->q + b->nq + k];
			if (b->damping)
				Q[b->u + b->nu + j] -= (real)b->damping[j * n + k] * u[b->u + b->nu + k];
		}
}

/*
 * Springs store 1/2 k delta^2, so that their force on speed j is -sum_i k_i delta_i times the rate of delta_i
 * for unit u_j. Dampers act on the speeds.
 */
static void elastic_forces(const RefModel *m, const real *q, const real *u, real *Q) {
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		real delta[16] = {0}, unit[16] = {0}, rate[16] = {0};
		modal_forces(b, q, u, Q);
		deflection(b, q, delta);
		for (int j = 0; j < b->nu; j++) {
			unit[j] = 1;
			elements_rate(&b->elements, delta, unit, rate);
			unit[j] = 0;
			real s = -(real)b->joint.dof[j].damping * u[b->u + j];
			for (int k = 0; k < b->nu; k++)
				s -= (real)b->joint.dof[k].stiffness * delta[k] * rate[k];
			Q[b->u + j] += s;
		}
	}
}

void RN(elastic_forces)(const RefModel *m, const double *q, const double *u, double *out) {
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *Q = real_array(m->nu);
	elastic_forces(m, qr, ur, Q);
	give(Q, m->nu, out);
	free(qr), free(ur);
}

/* ---- inverse dynamics and reactions --------------------------------------------------------- */

/* tau = M udot + h - Q_gravity - Q_elastic - Q_external, and M unless it is NULL */
static void motion_sums(const RefModel *m, const real *q, const real *u, const real *ud, const CalInput *in, real *M,
                        real *tau) {
	int count;
	Lump *l = lumps(m, &count);
	LumpMotion *p = partials(m, q, l, count);
	real *Q = real_array(m->nu);
	memset(tau, 0, sizeof *tau * (size_t)m->nu);
	if (M)
		mass_sums(m, l, p, count, M);
	inertia_sums(m, l, p, count, q, u, ud, tau);
	weight_sums(m, l, p, count, Q);
	wrench_forces(m, q, in, Q);
	elastic_forces(m, q, u, Q);
	for (int j = 0; j < m->nu; j++)
		tau[j] -= Q[j];
	for (int i = 0; i < m->body_count; i++)
		for (int k = 0; k < m->bodies[i].nu; k++)
			tau[m->bodies[i].u + k] += reflected(m, i, k) * ud[m->bodies[i].u + k];
	free(Q), free(l), free(p);
}

static void inverse_sums(const RefModel *m, const real *q, const real *u, const real *ud, const CalInput *in,
                         real *tau) {
	motion_sums(m, q, u, ud, in, NULL, tau);
}

void RN(inverse_sums)(const RefModel *m, const double *q, const double *u, const double *udot, const CalInput *in,
                      double *tau) {
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *ud = real_copy(m->nu, udot), *t = real_array(m->nu);
	inverse_sums(m, qr, ur, ud, in, t);
	give(t, m->nu, tau);
	free(qr), free(ur), free(ud);
}

static int is_outboard(const RefModel *m, int body, int of) {
	while (body > of)
		body = m->bodies[body].parent;
	return body == of;
}

/* Newton's and Euler's laws for everything outboard of a joint: what it must supply beyond weight and wrenches. */
static CalSpatial reaction(const RefModel *m, int body, const Frame *f, const real *q, const real *u, const real *ud,
                           const CalInput *in) {
	int count;
	Lump *l = lumps(m, &count);
	Vec moment = vec(0, 0, 0), force = moment, o = head_frame(m, f, body, q, u, ud).r, dm, df;
	for (int i = 0; i < count; i++) {
		if (!is_outboard(m, l[i].body, body))
			continue;
		LumpMotion x = lump_motion(m, &l[i], f, q, u, ud);
		inertia_wrench(&l[i], &x, f, &dm, &df);
		df = sub(df, scale(l[i].mass, vec_in(m->gravity)));
		force = add(force, df);
		moment = add(moment, add(dm, cross(sub(x.r, o), df)));
	}
	for (int k = 0; in && k < in->wrench_count; k++) {
		if (!is_outboard(m, m->nodes[in->wrenches[k].node].body, body))
			continue;
		Frame n = node_frame(m, f, in->wrenches[k].node, q, u, ud);
		wrench_in(&in->wrenches[k], n, &dm, &df);
		force = sub(force, df);
		moment = sub(moment, add(dm, cross(sub(n.r, o), df)));
	}
	free(l);
	return (CalSpatial){vec_out(moment), vec_out(force)};
}

void RN(reactions)(const RefModel *m, const double *q, const double *u, const double *udot, const CalInput *in,
                   CalSpatial *wrench) {
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *ud = real_copy(m->nu, udot);
	Frame *f = frame_array(m->body_count);
	tree_frames(m, qr, ur, ud, f);
	for (int i = 0; i < m->body_count; i++)
		wrench[i] = reaction(m, i, f, qr, ur, ud, in);
	free(qr), free(ur), free(ud), free(f);
}

/* ---- dense solution ------------------------------------------------------------------------- */

/* A = L D L' in place (unit L below, D on the diagonal); nonzero if a pivot is not positive. */
static int ldl_factor(int n, real *A) {
	for (int j = 0; j < n; j++) {
		for (int k = 0; k < j; k++)
			A[j * n + j] -= A[j * n + k] * A[j * n + k] * A[k * n + k];
		if (!(A[j * n + j] > 0))
			return 1;
		for (int i = j + 1; i < n; i++) {
			for (int k = 0; k < j; k++)
				A[i * n + j] -= A[i * n + k] * A[j * n + k] * A[k * n + k];
			A[i * n + j] /= A[j * n + j];
		}
	}
	return 0;
}

static void ldl_solve(int n, const real *A, real *x) {
	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++)
			x[i] -= A[i * n + k] * x[k];
	for (int i = 0; i < n; i++)
		x[i] /= A[i * n + i];
	for (int i = n - 1; i >= 0; i--)
		for (int k = i + 1; k < n; k++)
			x[i] -= A[k * n + i] * x[k];
}

/* k-th speed of a body: those of its joint, then modal ones. */
static int is_prescribed(const RefModel *m, const CalInput *in, int body, int k) {
	const RefBody *b = &m->bodies[body];
	if (in && in->prescribed)
		return in->prescribed[b->u + k] != 0;
	return k < b->nu && b->joint.dof[k].prescribed != 0;
}

/* free_index[nf] lists the free speeds; ud holds the prescribed accelerations and zero elsewhere. */
static int free_speeds(const RefModel *m, const CalInput *in, int *free_index, real *ud) {
	int nf = 0;
	for (int i = 0; i < m->body_count; i++)
		for (int k = 0; k < m->bodies[i].nu + m->bodies[i].modes; k++) {
			int j = m->bodies[i].u + k;
			ud[j] = 0;
			if (!is_prescribed(m, in, i, k))
				free_index[nf++] = j;
			else if (in && in->udot)
				ud[j] = (real)in->udot[j];
		}
	return nf;
}

int RN(forward_dense)(const RefModel *m, const double *q, const double *u, const CalInput *in, double *udot) {
	int n = m->nu, *index = calloc((size_t)(n + 1), sizeof *index);
	real *qr = real_copy(m->nq, q), *ur = real_copy(n, u), *ud = real_array(n), *M = real_array(n * n);
	real *A = real_array(n * n), *rhs = real_array(n), *x = real_array(n);
	if (!index)
		abort();
	int nf = free_speeds(m, in, index, ud);
	motion_sums(m, qr, ur, ud, in, M, rhs);
	for (int i = 0; i < nf; i++) {
		x[i] = (in && in->tau ? (real)in->tau[index[i]] : 0) - rhs[index[i]];
		for (int j = 0; j < nf; j++)
			A[i * nf + j] = M[index[i] * n + index[j]];
	}
	int singular = ldl_factor(nf, A);
	if (!singular)
		ldl_solve(nf, A, x);
	for (int i = 0; i < nf; i++)
		ud[index[i]] = x[i];
	give(ud, n, udot);
	free(index), free(qr), free(ur), free(M), free(A), free(rhs), free(x);
	return singular;
}

int RN(mass_inverse)(const RefModel *m, const double *q, double *Minv, double *logdet) {
	int n = m->nu;
	real *qr = real_copy(m->nq, q), *M = real_array(n * n), *x = real_array(n);
	double sum = 0;
	mass_matrix(m, qr, M);
	int singular = ldl_factor(n, M);
	for (int j = 0; !singular && j < n; j++) {
		memset(x, 0, sizeof *x * (size_t)n);
		x[j] = 1;
		ldl_solve(n, M, x);
		for (int i = 0; i < n; i++)
			Minv[i * n + j] = (double)x[i];
		sum += log((double)M[j * (n + 1)]);
	}
	*logdet = sum;
	free(qr), free(M), free(x);
	return singular;
}

/* ---- energy and momentum -------------------------------------------------------------------- */

static real strain_energy(const RefBody *b, const real *q) {
	const real *eta = q + b->q + b->nq;
	real s = 0;
	for (int j = 0; j < b->modes; j++)
		for (int k = 0; k < b->modes; k++)
			s += eta[j] * (real)b->stiffness[j * b->modes + k] * eta[k] / 2;
	return s;
}

CalEnergy RN(energy)(const RefModel *m, const double *q, const double *u) {
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *zero = real_array(m->nu);
	Frame *f = frame_array(m->body_count);
	int count;
	Lump *l = lumps(m, &count);
	real kinetic = 0, gravity = 0, elastic = 0;
	tree_frames(m, qr, ur, zero, f);
	for (int i = 0; i < count; i++) {
		LumpMotion x = lump_motion(m, &l[i], f, qr, ur, zero);
		kinetic += (l[i].mass * dot(x.v, x.v) + dot(x.w, rotate(l[i].J, x.w))) / 2;
		gravity -= l[i].mass * dot(vec_in(m->gravity), x.r);
	}
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		real delta[16] = {0};
		deflection(b, qr, delta);
		elastic += strain_energy(b, qr);
		for (int k = 0; k < b->nu; k++) {
			elastic += (real)b->joint.dof[k].stiffness * delta[k] * delta[k] / 2;
			kinetic += reflected(m, i, k) * ur[b->u + k] * ur[b->u + k] / 2;
		}
	}
	free(qr), free(ur), free(zero), free(f), free(l);
	return (CalEnergy){(double)kinetic, (double)gravity, (double)elastic, (double)(kinetic + gravity + elastic)};
}

CalMomentum RN(momentum)(const RefModel *m, const double *q, const double *u) {
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *zero = real_array(m->nu), mass = 0;
	Frame *f = frame_array(m->body_count);
	int count;
	Lump *l = lumps(m, &count);
	Vec first = vec(0, 0, 0), p = first, h = first;
	tree_frames(m, qr, ur, zero, f);
	for (int i = 0; i < count; i++) {
		LumpMotion x = lump_motion(m, &l[i], f, qr, ur, zero);
		Vec mv = scale(l[i].mass, x.v);
		mass += l[i].mass;
		first = add(first, scale(l[i].mass, x.r));
		p = add(p, mv);
		h = add(h, add(rotate(f[l[i].body].R, rotate(l[i].J, x.w)), cross(x.r, mv)));
	}
	Vec com = mass > 0 ? scale(1 / mass, first) : first;
	free(qr), free(ur), free(zero), free(f), free(l);
	return (CalMomentum){(double)mass, vec_out(com), vec_out(p), vec_out(h), vec_out(sub(h, cross(com, p)))};
}

#endif
