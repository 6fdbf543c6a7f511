// SPDX-License-Identifier: Apache-2.0
/*
 * sums_impl.h — dynamics by sums over bodies: M = sum J'M J, d'Alembert, energies, momenta, dense solution.
 *
 * The Jacobian of a body is what its velocity is for unit speeds, one at a time; the inertia force of a body
 * is Newton's and Euler's at its centre of mass. No recursion, no spatial algebra.
 */
#ifndef TEST_REFERENCE_SUMS_IMPL_H
#define TEST_REFERENCE_SUMS_IMPL_H

#include "reference/motion_impl.h"

/* Velocities of body frames for unit speed j: w and v at the centre of mass. */
typedef struct Partial {
	Vec w, v;
} Partial;

static Frame com_frame(const RefModel *m, const Frame *f, int i) {
	return frame_attached(f[i], rot_identity(), vec_in(m->bodies[i].com));
}

static Vec inertia_mul(const RefModel *m, const Frame *f, int i, Vec w) {
	return rotate(f[i].R, rotate(rot_in(&m->bodies[i].inertia), rotate(transpose(f[i].R), w)));
}

/* partial[j * body_count + i] at centres of mass. */
static Partial *partials(const RefModel *m, const real *q) {
	Partial *p = calloc((size_t)(m->nu * m->body_count + 1), sizeof *p);
	real *u = real_array(m->nu), *zero = real_array(m->nu);
	Frame *f = frame_array(m->body_count);
	if (!p)
		abort();
	for (int j = 0; j < m->nu; j++) {
		u[j] = 1;
		tree_frames(m, q, u, zero, f);
		for (int i = 0; i < m->body_count; i++) {
			Frame c = com_frame(m, f, i);
			p[j * m->body_count + i] = (Partial){c.w, c.v};
		}
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

static void mass_matrix(const RefModel *m, const real *q, real *M) {
	int n = m->nu, nb = m->body_count;
	real *zero = real_array(n);
	Frame *f = frame_array(nb);
	Partial *p = partials(m, q);
	tree_frames(m, q, zero, zero, f);
	for (int j = 0; j < n; j++)
		for (int k = 0; k < n; k++) {
			real s = 0;
			for (int i = 0; i < nb; i++) {
				Partial a = p[j * nb + i], b = p[k * nb + i];
				s += (real)m->bodies[i].mass * dot(a.v, b.v) + dot(a.w, inertia_mul(m, f, i, b.w));
			}
			M[j * n + k] = s;
		}
	for (int i = 0; i < nb; i++)
		for (int k = 0; k < m->bodies[i].nu; k++)
			M[(m->bodies[i].u + k) * (n + 1)] += reflected(m, i, k);
	free(zero), free(f), free(p);
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
		Frame n = node_frame(m, f, node);
		real col[6] = {n.w.x, n.w.y, n.w.z, n.v.x, n.v.y, n.v.z};
		for (int r = 0; r < 6; r++)
			J[r * m->nu + j] = (double)col[r];
		u[j] = 0;
	}
	free(qr), free(u), free(zero), free(f);
}

/* ---- generalised forces --------------------------------------------------------------------- */

/* Q_j += sum over bodies of (moment . w_j + force . v_j), wrenches at centres of mass. */
static void project(const RefModel *m, const Partial *p, const Vec *moment, const Vec *force, real *Q) {
	for (int j = 0; j < m->nu; j++)
		for (int i = 0; i < m->body_count; i++) {
			Partial a = p[j * m->body_count + i];
			Q[j] += dot(a.w, moment[i]) + dot(a.v, force[i]);
		}
}

/* Rate of change of momentum of each body at its centre of mass. */
static void inertia_wrenches(const RefModel *m, const Frame *f, Vec *moment, Vec *force) {
	for (int i = 0; i < m->body_count; i++) {
		Frame c = com_frame(m, f, i);
		force[i] = scale((real)m->bodies[i].mass, c.a);
		moment[i] = add(inertia_mul(m, f, i, c.alpha), cross(c.w, inertia_mul(m, f, i, c.w)));
	}
}

static void external_wrenches(const RefModel *m, const Frame *f, const CalInput *in, Vec *moment, Vec *force) {
	for (int k = 0; in && k < in->wrench_count; k++) {
		const CalWrench *x = &in->wrenches[k];
		int b = m->nodes[x->node].body;
		if (b < 0)
			continue;
		Frame n = node_frame(m, f, x->node);
		Rot R = x->frame == CAL_FRAME_NODE ? n.R : rot_identity();
		Vec fo = rotate(R, vec_in(x->f.linear)), mo = rotate(R, vec_in(x->f.angular));
		force[b] = add(force[b], fo);
		moment[b] = add(moment[b], add(mo, cross(sub(n.r, com_frame(m, f, b).r), fo)));
	}
}

static Vec *vec_array(int n) {
	Vec *v = calloc((size_t)(n > 0 ? n : 1), sizeof *v);
	if (!v)
		abort();
	return v;
}

/* inertia: Q = M udot + h without rotors; in: Q of wrenches; gravity: Q of weight. */
static void generalised(const RefModel *m, const real *q, const real *u, const real *ud, int inertia,
                        const CalInput *in, int gravity, real *Q) {
	Frame *f = frame_array(m->body_count);
	Vec *moment = vec_array(m->body_count), *force = vec_array(m->body_count);
	Partial *p = partials(m, q);
	tree_frames(m, q, u, ud, f);
	if (inertia)
		inertia_wrenches(m, f, moment, force);
	external_wrenches(m, f, in, moment, force);
	for (int i = 0; gravity && i < m->body_count; i++)
		force[i] = add(force[i], scale((real)m->bodies[i].mass, vec_in(m->gravity)));
	project(m, p, moment, force, Q);
	free(f), free(moment), free(force), free(p);
}

void RN(bias_forces)(const RefModel *m, const double *q, const double *u, double *h) {
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *zero = real_array(m->nu), *Q = real_array(m->nu);
	generalised(m, qr, ur, zero, 1, NULL, 0, Q);
	give(Q, m->nu, h);
	free(qr), free(ur), free(zero);
}

void RN(gravity_forces)(const RefModel *m, const double *q, double *out) {
	real *qr = real_copy(m->nq, q), *zero = real_array(m->nu), *Q = real_array(m->nu);
	generalised(m, qr, zero, zero, 0, NULL, 1, Q);
	give(Q, m->nu, out);
	free(qr), free(zero);
}

void RN(external_forces)(const RefModel *m, const double *q, const CalInput *in, double *out) {
	real *qr = real_copy(m->nq, q), *zero = real_array(m->nu), *Q = real_array(m->nu);
	generalised(m, qr, zero, zero, 0, in, 0, Q);
	give(Q, m->nu, out);
	free(qr), free(zero);
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

/*
 * Springs store 1/2 k delta^2, so that their force on speed j is -sum_i k_i delta_i times the rate of delta_i
 * for unit u_j. Dampers act on the speeds.
 */
static void elastic_forces(const RefModel *m, const real *q, const real *u, real *Q) {
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		real delta[16] = {0}, unit[16] = {0}, rate[16] = {0};
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

/* tau = M udot + h - Q_gravity - Q_elastic - Q_external */
static void inverse_sums(const RefModel *m, const real *q, const real *u, const real *ud, const CalInput *in,
                         real *tau) {
	real *zero = real_array(m->nu), *Q = real_array(m->nu);
	memset(tau, 0, sizeof *tau * (size_t)m->nu);
	generalised(m, q, u, ud, 1, NULL, 0, tau);
	generalised(m, q, zero, zero, 0, in, 1, Q);
	elastic_forces(m, q, u, Q);
	for (int j = 0; j < m->nu; j++)
		tau[j] -= Q[j];
	for (int i = 0; i < m->body_count; i++)
		for (int k = 0; k < m->bodies[i].nu; k++)
			tau[m->bodies[i].u + k] += reflected(m, i, k) * ud[m->bodies[i].u + k];
	free(zero), free(Q);
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

void RN(reactions)(const RefModel *m, const double *q, const double *u, const double *udot, const CalInput *in,
                   CalSpatial *wrench) {
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *ud = real_copy(m->nu, udot);
	int nb = m->body_count;
	Frame *f = frame_array(nb);
	Vec *mi = vec_array(nb), *fi = vec_array(nb), *mx = vec_array(nb), *fx = vec_array(nb);
	tree_frames(m, qr, ur, ud, f);
	inertia_wrenches(m, f, mi, fi);
	external_wrenches(m, f, in, mx, fx);
	for (int i = 0; i < nb; i++) {
		Vec moment = vec(0, 0, 0), force = moment, o = head_frame(m, f, i).r;
		for (int b = i; b < nb; b++) {
			if (!is_outboard(m, b, i))
				continue;
			Vec weight = scale((real)m->bodies[b].mass, vec_in(m->gravity));
			Vec df = sub(sub(fi[b], fx[b]), weight);
			force = add(force, df);
			moment = add(moment, add(sub(mi[b], mx[b]), cross(sub(com_frame(m, f, b).r, o), df)));
		}
		wrench[i] = (CalSpatial){vec_out(moment), vec_out(force)};
	}
	free(qr), free(ur), free(ud), free(f), free(mi), free(fi), free(mx), free(fx);
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

static int is_prescribed(const RefModel *m, const CalInput *in, int body, int k) {
	const RefBody *b = &m->bodies[body];
	return in && in->prescribed ? in->prescribed[b->u + k] != 0 : b->joint.dof[k].prescribed != 0;
}

/* free_index[nf] lists the free speeds; ud holds the prescribed accelerations and zero elsewhere. */
static int free_speeds(const RefModel *m, const CalInput *in, int *free_index, real *ud) {
	int nf = 0;
	for (int i = 0; i < m->body_count; i++)
		for (int k = 0; k < m->bodies[i].nu; k++) {
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
	mass_matrix(m, qr, M);
	inverse_sums(m, qr, ur, ud, in, rhs);
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

CalEnergy RN(energy)(const RefModel *m, const double *q, const double *u) {
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *zero = real_array(m->nu);
	Frame *f = frame_array(m->body_count);
	real kinetic = 0, gravity = 0, elastic = 0;
	tree_frames(m, qr, ur, zero, f);
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		Frame c = com_frame(m, f, i);
		real delta[16] = {0};
		kinetic += ((real)b->mass * dot(c.v, c.v) + dot(c.w, inertia_mul(m, f, i, c.w))) / 2;
		gravity -= (real)b->mass * dot(vec_in(m->gravity), c.r);
		deflection(b, qr, delta);
		for (int k = 0; k < b->nu; k++) {
			elastic += (real)b->joint.dof[k].stiffness * delta[k] * delta[k] / 2;
			kinetic += reflected(m, i, k) * ur[b->u + k] * ur[b->u + k] / 2;
		}
	}
	free(qr), free(ur), free(zero), free(f);
	return (CalEnergy){(double)kinetic, (double)gravity, (double)elastic, (double)(kinetic + gravity + elastic)};
}

CalMomentum RN(momentum)(const RefModel *m, const double *q, const double *u) {
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *zero = real_array(m->nu), mass = 0;
	Frame *f = frame_array(m->body_count);
	Vec first = vec(0, 0, 0), p = first, h = first;
	tree_frames(m, qr, ur, zero, f);
	for (int i = 0; i < m->body_count; i++) {
		Frame c = com_frame(m, f, i);
		Vec mv = scale((real)m->bodies[i].mass, c.v);
		mass += (real)m->bodies[i].mass;
		first = add(first, scale((real)m->bodies[i].mass, c.r));
		p = add(p, mv);
		h = add(h, add(inertia_mul(m, f, i, c.w), cross(c.r, mv)));
	}
	Vec com = mass > 0 ? scale(1 / mass, first) : first;
	free(qr), free(ur), free(zero), free(f);
	return (CalMomentum){(double)mass, vec_out(com), vec_out(p), vec_out(h), vec_out(sub(h, cross(com, p)))};
}

#endif
