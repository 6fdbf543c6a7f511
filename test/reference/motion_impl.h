// SPDX-License-Identifier: Apache-2.0
/*
 * motion_impl.h — kinematics by the rules of relative motion, and the configuration manifold.
 *
 * A Frame carries pose, velocity and acceleration relative to some base; frame_fixed() moves on to a frame
 * rigidly attached to it, frame_elements() across a joint, frame_bent() to a node that the modes move and
 * frame_unbent() back from one. Everything else is a walk along a path of such steps. Compiled by
 * reference_double.c and reference_quad.c.
 */
#ifndef TEST_REFERENCE_MOTION_IMPL_H
#define TEST_REFERENCE_MOTION_IMPL_H

#include "reference/bend_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct Frame {
	Rot R;        // axes in base components
	Vec r, v, a;  // origin: position, velocity, classical acceleration
	Vec w, alpha; // angular velocity and acceleration
} Frame;

static inline Frame frame_base(void) { return (Frame){.R = rot_identity()}; }

/* A frame at (S, d) fixed in f. */
static Frame frame_attached(Frame f, Rot S, Vec d) {
	Vec p = rotate(f.R, d);
	f.r = add(f.r, p);
	f.v = add(f.v, cross(f.w, p));
	f.a = add(f.a, add(cross(f.alpha, p), cross(f.w, cross(f.w, p))));
	f.R = rot_mul(f.R, S);
	return f;
}

static Frame frame_fixed(Frame f, const CalPlacement *p) {
	return frame_attached(f, placement_rot(p), vec_in(p->position));
}

/* Relative motion across one element: rates are in the components of the frame before it. */
static Frame frame_relative(Frame f, Rot S, Vec w, Vec wdot, Vec d, Vec ddot, Vec dddot) {
	Vec p = rotate(f.R, d), pd = rotate(f.R, ddot), wr = rotate(f.R, w);
	f.r = add(f.r, p);
	f.a = add(f.a, add(cross(f.alpha, p), cross(f.w, cross(f.w, p))));
	f.a = add(f.a, add(scale(2, cross(f.w, pd)), rotate(f.R, dddot)));
	f.v = add(f.v, add(cross(f.w, p), pd));
	f.alpha = add(f.alpha, add(cross(f.w, wr), rotate(f.R, wdot)));
	f.w = add(f.w, wr);
	f.R = rot_mul(f.R, S);
	return f;
}

/* To a node of the body whose frame is f, and from a node to the frame of its body. */
static Frame frame_bent(Frame f, const Bend *b) { return frame_relative(f, b->S, b->w, b->wdot, b->d, b->d1, b->d2); }

static Frame frame_unbent(Frame h, const Bend *b) {
	Frame f = {.R = rot_mul(h.R, transpose(b->S))};
	Vec p = rotate(f.R, b->d), pd = rotate(f.R, b->d1), wr = rotate(f.R, b->w);
	f.w = sub(h.w, wr);
	f.alpha = sub(h.alpha, add(cross(f.w, wr), rotate(f.R, b->wdot)));
	f.r = sub(h.r, p);
	f.v = sub(h.v, add(cross(f.w, p), pd));
	f.a = sub(h.a, add(cross(f.alpha, p), cross(f.w, cross(f.w, p))));
	f.a = sub(f.a, add(scale(2, cross(f.w, pd)), rotate(f.R, b->d2)));
	return f;
}

static Frame frame_cam(Frame f, const RefElement *e, real q, real u, real ud) {
	Vec n = vec_in(e->axis), zero = vec(0, 0, 0);
	real length = norm(n), a1 = (real)e->angle[0], a2 = (real)e->angle[1];
	n = length > 0 ? scale(1 / length, n) : zero;
	Rot S = quat_rot(quat_exp(scale(a1 * q + a2 * q * q, n)));
	Vec w = scale((a1 + 2 * a2 * q) * u, n);
	Vec wdot = scale((a1 + 2 * a2 * q) * ud + 2 * a2 * u * u, n);
	Vec s1 = vec_in(e->shift[0]), s2 = vec_in(e->shift[1]), s3 = vec_in(e->shift[2]);
	Vec d = add(scale(q, s1), add(scale(q * q, s2), scale(q * q * q, s3)));
	Vec d1 = add(s1, add(scale(2 * q, s2), scale(3 * q * q, s3)));
	Vec d2 = add(scale(2, s2), scale(6 * q, s3));
	return frame_relative(f, S, w, wdot, d, scale(u, d1), add(scale(ud, d1), scale(u * u, d2)));
}

static Frame frame_ball(Frame f, const RefElement *e, const real *q, Vec u, Vec ud) {
	Vec zero = vec(0, 0, 0);
	Rot S = quat_rot(quat_unit((Quat){q[0], q[1], q[2], q[3]}));
	if (e->kind == REF_BALL_INBOARD)
		return frame_relative(f, S, u, ud, zero, zero, zero);
	/* outboard components: d/dt (S u) = S ud + (S u) x (S u) = S ud */
	return frame_relative(f, S, rotate(S, u), rotate(S, ud), zero, zero, zero);
}

static Frame frame_elements(Frame f, const RefElements *list, const real *q, const real *u, const real *ud) {
	for (int k = 0; k < list->count; k++) {
		const RefElement *e = &list->element[k];
		if (e->kind == REF_CAM)
			f = frame_cam(f, e, q[0], u[0], ud[0]);
		else
			f = frame_ball(f, e, q, vec(u[0], u[1], u[2]), vec(ud[0], ud[1], ud[2]));
		q += ref_element_nq(e), u += ref_element_nu(e), ud += ref_element_nu(e);
	}
	return f;
}

/* From the parent body's frame to this body's. */
static Frame frame_across(const RefModel *m, int body, Frame f, const real *q, const real *u, const real *ud) {
	const RefBody *b = &m->bodies[body];
	if (b->parent_node >= 0) {
		Bend bend = node_bend(m, b->parent_node, q, u, ud);
		f = frame_bent(f, &bend);
	}
	f = frame_fixed(f, &b->joint.inboard);
	f = frame_elements(f, &b->elements, q + b->q, u + b->u, ud + b->u);
	f = frame_fixed(f, &b->joint.outboard);
	if (b->head_node < 0)
		return f;
	Bend head = node_bend(m, b->head_node, q, u, ud);
	return frame_unbent(f, &head);
}

/* ---- whole tree ----------------------------------------------------------------------------- */

static real *real_array(int n) {
	real *x = calloc((size_t)(n > 0 ? n : 1), sizeof *x);
	if (!x)
		abort();
	return x;
}

static real *real_copy(int n, const double *x) {
	real *y = real_array(n);
	for (int i = 0; x && i < n; i++)
		y[i] = (real)x[i];
	return y;
}

static void tree_frames(const RefModel *m, const real *q, const real *u, const real *ud, Frame *bodies) {
	for (int i = 0; i < m->body_count; i++) {
		int p = m->bodies[i].parent;
		bodies[i] = frame_across(m, i, p < 0 ? frame_base() : bodies[p], q, u, ud);
	}
}

/* bodies at the same q, u, ud. */
static Frame node_frame(const RefModel *m, const Frame *bodies, int node, const real *q, const real *u,
                        const real *ud) {
	int body = m->nodes[node].body;
	Bend bend = node_bend(m, node, q, u, ud);
	return frame_bent(body < 0 ? frame_base() : bodies[body], &bend);
}

static Frame head_frame(const RefModel *m, const Frame *bodies, int body, const real *q, const real *u,
                        const real *ud) {
	int h = m->bodies[body].head_node;
	return h >= 0 ? node_frame(m, bodies, h, q, u, ud) : bodies[body];
}

static Frame *frame_array(int n) {
	Frame *f = calloc((size_t)(n > 0 ? n : 1), sizeof *f);
	if (!f)
		abort();
	return f;
}

static RefMotion motion_out(Frame f) {
	return (RefMotion){{rot_out(f.R), vec_out(f.r)}, {vec_out(f.w), vec_out(f.v)}, {vec_out(f.alpha), vec_out(f.a)}};
}

void RN(kinematics)(const RefModel *m, const double *q, const double *u, const double *udot, RefMotion *bodies,
                    RefMotion *nodes) {
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *ud = real_copy(m->nu, udot);
	Frame *f = frame_array(m->body_count);
	tree_frames(m, qr, ur, ud, f);
	for (int i = 0; bodies && i < m->body_count; i++)
		bodies[i] = motion_out(f[i]);
	for (int i = 0; nodes && i < m->node_count; i++)
		nodes[i] = motion_out(node_frame(m, f, i, qr, ur, ud));
	free(qr), free(ur), free(ud), free(f);
}

void RN(joint)(const RefElements *e, const double *q, const double *u, CalPose *X, CalSpatial *columns,
               CalSpatial *bias) {
	real qr[32] = {0}, ur[32] = {0}, zero[32] = {0};
	int nq = 0, nu = 0;
	for (int k = 0; k < e->count; k++)
		nq += ref_element_nq(&e->element[k]), nu += ref_element_nu(&e->element[k]);
	for (int i = 0; i < nq; i++)
		qr[i] = (real)q[i];
	for (int j = 0; columns && j < nu; j++) {
		ur[j] = 1;
		Frame f = frame_elements(frame_base(), e, qr, ur, zero);
		columns[j] = (CalSpatial){vec_out(f.w), vec_out(f.v)};
		ur[j] = 0;
	}
	for (int j = 0; u && j < nu; j++)
		ur[j] = (real)u[j];
	Frame f = frame_elements(frame_base(), e, qr, ur, zero);
	if (X)
		*X = (CalPose){rot_out(f.R), vec_out(f.r)};
	if (bias)
		*bias = (CalSpatial){vec_out(f.alpha), vec_out(f.a)};
}

/* ---- configuration manifold ----------------------------------------------------------------- */

static Quat quat_at(const real *q) { return quat_unit((Quat){q[0], q[1], q[2], q[3]}); }

static void elements_integrate(const RefElements *list, const real *q, const real *dq, real *out) {
	for (int k = 0; k < list->count; k++) {
		const RefElement *e = &list->element[k];
		if (e->kind == REF_CAM) {
			out[0] = q[0] + dq[0];
		} else {
			Quat d = quat_exp(vec(dq[0], dq[1], dq[2])), q0 = quat_at(q);
			Quat r = e->kind == REF_BALL ? quat_mul(q0, d) : quat_mul(d, q0);
			out[0] = r.w, out[1] = r.x, out[2] = r.y, out[3] = r.z;
		}
		q += ref_element_nq(e), out += ref_element_nq(e), dq += ref_element_nu(e);
	}
}

static void elements_difference(const RefElements *list, const real *q0, const real *q1, real *dq) {
	for (int k = 0; k < list->count; k++) {
		const RefElement *e = &list->element[k];
		if (e->kind == REF_CAM) {
			dq[0] = q1[0] - q0[0];
		} else {
			Quat a = quat_conj(quat_at(q0)), b = quat_at(q1);
			Vec d = quat_log(e->kind == REF_BALL ? quat_mul(a, b) : quat_mul(b, a));
			dq[0] = d.x, dq[1] = d.y, dq[2] = d.z;
		}
		q0 += ref_element_nq(e), q1 += ref_element_nq(e), dq += ref_element_nu(e);
	}
}

/*
 * Rate of a rotation vector d when the angular velocity is w in the moved (sign +1) or the fixed (sign -1)
 * axes: w + sign/2 d x w + c d x (d x w), c = (1 - (t/2) cot(t/2)) / t^2.
 */
static Vec rotation_vector_rate(Vec d, Vec w, int sign) {
	real t = norm(d), c, s, k;
	if (t < (real)1e-4) {
		c = (real)1 / 12 + t * t / 720 + t * t * t * t / 30240;
	} else {
		real_sincos(t / 2, &s, &k);
		c = (1 - (t / 2) * k / s) / (t * t);
	}
	Vec dw = cross(d, w);
	return add(w, add(scale((real)sign / 2, dw), scale(c, cross(d, dw))));
}

static void elements_rate(const RefElements *list, const real *delta, const real *u, real *rate) {
	for (int k = 0; k < list->count; k++) {
		const RefElement *e = &list->element[k];
		if (e->kind == REF_CAM) {
			rate[0] = u[0];
		} else {
			Vec d = vec(delta[0], delta[1], delta[2]), w = vec(u[0], u[1], u[2]);
			Vec r = rotation_vector_rate(d, w, e->kind == REF_BALL ? 1 : -1);
			rate[0] = r.x, rate[1] = r.y, rate[2] = r.z;
		}
		delta += ref_element_nu(e), u += ref_element_nu(e), rate += ref_element_nu(e);
	}
}

static void config_integrate(const RefModel *m, const real *q, const real *dq, real *out) {
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		elements_integrate(&b->elements, q + b->q, dq + b->u, out + b->q);
		for (int k = 0; k < b->modes; k++)
			out[b->q + b->nq + k] = q[b->q + b->nq + k] + dq[b->u + b->nu + k];
	}
}

static void counts(const RefElements *e, int *nq, int *nu) {
	*nq = *nu = 0;
	for (int k = 0; k < e->count; k++)
		*nq += ref_element_nq(&e->element[k]), *nu += ref_element_nu(&e->element[k]);
}

static void give(real *x, int n, double *out) {
	for (int i = 0; i < n; i++)
		out[i] = (double)x[i];
	free(x);
}

void RN(elements_integrate)(const RefElements *e, const double *q, const double *dq, double *out) {
	int nq, nu;
	counts(e, &nq, &nu);
	real *qr = real_copy(nq, q), *d = real_copy(nu, dq), *r = real_array(nq);
	elements_integrate(e, qr, d, r);
	give(r, nq, out);
	free(qr), free(d);
}

void RN(elements_difference)(const RefElements *e, const double *q0, const double *q1, double *dq) {
	int nq, nu;
	counts(e, &nq, &nu);
	real *a = real_copy(nq, q0), *b = real_copy(nq, q1), *d = real_array(nu);
	elements_difference(e, a, b, d);
	give(d, nu, dq);
	free(a), free(b);
}

void RN(elements_rate)(const RefElements *e, const double *delta, const double *u, double *rate) {
	int nq, nu;
	counts(e, &nq, &nu);
	real *d = real_copy(nu, delta), *w = real_copy(nu, u), *r = real_array(nu);
	elements_rate(e, d, w, r);
	give(r, nu, rate);
	free(d), free(w);
}

void RN(config_integrate)(const RefModel *m, const double *q, const double *dq, double *out) {
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		RN(elements_integrate)(&b->elements, q + b->q, dq + b->u, out + b->q);
		for (int k = 0; k < b->modes; k++)
			out[b->q + b->nq + k] = q[b->q + b->nq + k] + dq[b->u + b->nu + k];
	}
}

void RN(config_difference)(const RefModel *m, const double *q0, const double *q1, double *dq) {
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		RN(elements_difference)(&b->elements, q0 + b->q, q1 + b->q, dq + b->u);
		for (int k = 0; k < b->modes; k++)
			dq[b->u + b->nu + k] = q1[b->q + b->nq + k] - q0[b->q + b->nq + k];
	}
}

void RN(config_rate)(const RefModel *m, const double *delta, const double *u, double *rate) {
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		RN(elements_rate)(&b->elements, delta + b->u, u + b->u, rate + b->u);
		for (int k = 0; k < b->modes; k++)
			rate[b->u + b->nu + k] = u[b->u + b->nu + k];
	}
}

/* ---- differentiation of positions ----------------------------------------------------------- */

/*
 * Frames of bodies and nodes at time t on the motion with speeds u and accelerations udot at t = 0:
 * q (+) (u t + udot t^2/2).
 */
static void frames_at(const RefModel *m, const real *q, const real *u, const real *ud, real t, Frame *f, Frame *nodes) {
	real *d = real_array(m->nu), *qt = real_array(m->nq), *zero = real_array(m->nu);
	for (int i = 0; i < m->nu; i++)
		d[i] = t * (u[i] + t * ud[i] / 2);
	config_integrate(m, q, d, qt);
	tree_frames(m, qt, zero, zero, f);
	for (int i = 0; i < m->node_count; i++)
		nodes[i] = node_frame(m, f, i, qt, zero, zero);
	free(d), free(qt), free(zero);
}

/* Five-point formulas of fourth order for the first and second derivative. */
static void differentiate(const real x[5], real h, real *d1, real *d2) {
	*d1 = (x[0] - 8 * x[1] + 8 * x[3] - x[4]) / (12 * h);
	*d2 = (-x[0] + 16 * x[1] - 30 * x[2] + 16 * x[3] - x[4]) / (12 * h * h);
}

/* Velocity and acceleration of a frame from its poses: W = R'R^T = [w]x, R''R^T = [alpha]x + [w]x^2. */
static Frame frame_differentiate(const Frame f[5], real h) {
	Frame out = {.R = f[2].R, .r = f[2].r};
	Rot R1, R2;
	real x[5];
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			for (int k = 0; k < 5; k++)
				x[k] = f[k].R.m[i][j];
			differentiate(x, h, &R1.m[i][j], &R2.m[i][j]);
		}
	Rot W = rot_mul(R1, transpose(out.R)), A = rot_mul(R2, transpose(out.R));
	out.w = vec(W.m[2][1], W.m[0][2], W.m[1][0]);
	out.alpha = scale((real)0.5, vec(A.m[2][1] - A.m[1][2], A.m[0][2] - A.m[2][0], A.m[1][0] - A.m[0][1]));
	real *v[3] = {&out.v.x, &out.v.y, &out.v.z}, *a[3] = {&out.a.x, &out.a.y, &out.a.z};
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 5; k++)
			x[k] = i == 0 ? f[k].r.x : i == 1 ? f[k].r.y : f[k].r.z;
		differentiate(x, h, v[i], a[i]);
	}
	return out;
}

void RN(kinematics_numeric)(const RefModel *m, const double *q, const double *u, const double *udot, RefMotion *bodies,
                            RefMotion *nodes) {
#ifdef REF_QUAD
	const real h = (real)1e-5;
#else
	const real h = 1e-2;
#endif
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *ud = real_copy(m->nu, udot);
	Frame *f[5], *n[5];
	for (int k = 0; k < 5; k++) {
		f[k] = frame_array(m->body_count);
		n[k] = frame_array(m->node_count);
		frames_at(m, qr, ur, ud, (real)(k - 2) * h, f[k], n[k]);
	}
	for (int i = 0; bodies && i < m->body_count; i++) {
		Frame at[5] = {f[0][i], f[1][i], f[2][i], f[3][i], f[4][i]};
		bodies[i] = motion_out(frame_differentiate(at, h));
	}
	for (int i = 0; nodes && i < m->node_count; i++) {
		Frame at[5] = {n[0][i], n[1][i], n[2][i], n[3][i], n[4][i]};
		nodes[i] = motion_out(frame_differentiate(at, h));
	}
	for (int k = 0; k < 5; k++)
		free(f[k]), free(n[k]);
	free(qr), free(ur), free(ud);
}

#endif
