// SPDX-License-Identifier: Apache-2.0
/*
 * loop_impl.h — constraint equations (loop.h) with their first and second time derivatives.
 *
 * A Jet is a scalar with its two derivatives along the motion, a VecJet a vector; the axes and origins of the
 * frames A and B give the first ones, and every row is made of them by the product rule. Nothing here is a formula
 * for a Jacobian or a bias: G is the rate for unit speeds, one at a time, and gamma the second derivative for zero
 * accelerations. The forces, in contrast, are written with the gradients of the rows, so that each checks the other.
 * Compiled in double and in quad.
 */
#ifndef TEST_REFERENCE_LOOP_IMPL_H
#define TEST_REFERENCE_LOOP_IMPL_H

#include "reference/sums_impl.h"

typedef struct Jet {
	real x, d, dd;
} Jet;
typedef struct VecJet {
	Vec x, d, dd;
} VecJet;

static Jet jet_const(real x) { return (Jet){x, 0, 0}; }
static Jet jet_add(Jet a, Jet b) { return (Jet){a.x + b.x, a.d + b.d, a.dd + b.dd}; }
static Jet jet_scale(real s, Jet a) { return (Jet){s * a.x, s * a.d, s * a.dd}; }
static Jet jet_sub(Jet a, Jet b) { return jet_add(a, jet_scale(-1, b)); }
static Jet jet_mul(Jet a, Jet b) {
	return (Jet){a.x * b.x, a.d * b.x + a.x * b.d, a.dd * b.x + 2 * a.d * b.d + a.x * b.dd};
}
static Jet jet_inverse(Jet a) {
	real y = 1 / a.x;
	return (Jet){y, -a.d * y * y, (2 * a.d * a.d * y - a.dd) * y * y};
}
static Jet jet_sqrt(Jet a) {
	real y = real_sqrt(a.x), d = a.d / (2 * y);
	return (Jet){y, d, (a.dd / 2 - d * d) / y};
}
/* (atan2(y, x))' = (y'x - y x') / (x^2 + y^2) =: n / r */
static Jet jet_atan2(Jet y, Jet x) {
	real r = x.x * x.x + y.x * y.x, rd = 2 * (x.x * x.d + y.x * y.d);
	real n = y.d * x.x - y.x * x.d, nd = y.dd * x.x - y.x * x.dd;
	return (Jet){real_atan2(y.x, x.x), n / r, (nd * r - n * rd) / (r * r)};
}
static Jet jet_dot(VecJet a, VecJet b) {
	return (Jet){dot(a.x, b.x), dot(a.d, b.x) + dot(a.x, b.d), dot(a.dd, b.x) + 2 * dot(a.d, b.d) + dot(a.x, b.dd)};
}
static VecJet vec_jet_sub(VecJet a, VecJet b) { return (VecJet){sub(a.x, b.x), sub(a.d, b.d), sub(a.dd, b.dd)}; }
static VecJet vec_jet_scale(Jet s, VecJet a) {
	return (VecJet){scale(s.x, a.x), add(scale(s.d, a.x), scale(s.x, a.d)),
	                add(scale(s.dd, a.x), add(scale(2 * s.d, a.d), scale(s.x, a.dd)))};
}

/* ---- the frames A and B --------------------------------------------------------------------- */

typedef struct Ends {
	Frame A, B;
	VecJet a[3], b[3]; // axes
	VecJet rho;        // r_B - r_A
} Ends;

static Vec axis_of(Rot R, int k) { return vec(R.m[0][k], R.m[1][k], R.m[2][k]); }

static VecJet axis_jet(Frame f, int k) {
	Vec x = axis_of(f.R, k), d = cross(f.w, x);
	return (VecJet){x, d, add(cross(f.alpha, x), cross(f.w, d))};
}

static VecJet origin_jet(Frame f) { return (VecJet){f.r, f.v, f.a}; }

/* bodies at the same q, u, ud. */
static Frame end_frame(const RefModel *m, int node, const CalPlacement *p, const Frame *bodies, const real *q,
                       const real *u, const real *ud) {
	return frame_fixed(node < 0 ? frame_base() : node_frame(m, bodies, node, q, u, ud), p);
}

static Ends loop_ends(const RefModel *m, const RefLoop *l, const Frame *bodies, const real *q, const real *u,
                      const real *ud) {
	Ends e = {.A = end_frame(m, l->node_a, &l->frame_a, bodies, q, u, ud),
	          .B = end_frame(m, l->node_b, &l->frame_b, bodies, q, u, ud)};
	for (int k = 0; k < 3; k++) {
		e.a[k] = axis_jet(e.A, k);
		e.b[k] = axis_jet(e.B, k);
	}
	e.rho = vec_jet_sub(origin_jet(e.B), origin_jet(e.A));
	return e;
}

/* ---- rows ----------------------------------------------------------------------------------- */

typedef struct Rows {
	int count;
	Jet row[REF_LOOP_MAX_ROWS];
	int velocity[REF_LOOP_MAX_ROWS]; // the row has no position: x = 0
	real period[REF_LOOP_MAX_ROWS];  // of x, 0: none
} Rows;

static void push_row(Rows *r, Jet g) { r->row[r->count++] = g; }

static Jet S_entry(const Ends *e, int i, int j) { return jet_dot(e->a[i], e->b[j]); }

static int axis_count(int set) { return (set & 1) + (set >> 1 & 1) + (set >> 2 & 1); }

/* (i, j, k) is a cyclic permutation of (x, y, z) throughout. */
static void rotation_rows(const Ends *e, int set, Rows *out) {
	for (int k = 0; k < 3; k++) {
		int i = (k + 1) % 3, j = (k + 2) % 3, n = axis_count(set);
		if (!(set >> k & 1))
			continue;
		if (n == 3)
			push_row(out, jet_scale((real)0.5, jet_sub(S_entry(e, j, i), S_entry(e, i, j))));
		else if (n == 1)
			push_row(out, S_entry(e, i, j));
		else if (set >> i & 1) /* j is free: e_k . (e_j x b) = -e_i . b */
			push_row(out, jet_scale(-1, S_entry(e, i, j)));
		else /* i is free: e_k . (e_i x b) = e_j . b */
			push_row(out, S_entry(e, j, i));
	}
}

static void direction_rows(const Ends *e, int translation, int rotation, Rows *out) {
	for (int k = 0; k < 3; k++)
		if (translation >> k & 1)
			push_row(out, jet_dot(e->a[k], e->rho));
	rotation_rows(e, rotation, out);
}

static Jet twist(const Ends *e) {
	return jet_atan2(jet_sub(S_entry(e, 1, 0), S_entry(e, 0, 1)), jet_add(S_entry(e, 0, 0), S_entry(e, 1, 1)));
}

/* From the center of a disk or ball to its point of contact. */
static VecJet contact_arm(const RefLoop *l, const Ends *e) {
	VecJet p = e->a[2];
	if (l->type == REF_LOOP_DISK) {
		p = vec_jet_sub(p, vec_jet_scale(S_entry(e, 2, 2), e->b[2]));
		p = vec_jet_scale(jet_inverse(jet_sqrt(jet_dot(p, p))), p);
	}
	return vec_jet_scale(jet_const(-(real)l->radius), p);
}

/* h and h' of a row without position: a . v with a moving along, v' the derivative of v. */
static Jet velocity_row(VecJet a, Vec v, Vec vdot) { return (Jet){0, dot(a.x, v), dot(a.d, v) + dot(a.x, vdot)}; }

static void push_velocity(Rows *out, Jet h) {
	out->velocity[out->count] = 1;
	push_row(out, h);
}

static void rolling_rows(const RefLoop *l, const Ends *e, Rows *out) {
	const Frame *A = &e->A, *B = &e->B;
	VecJet s = contact_arm(l, e); /* from r_B; from r_A: rho + s */
	Vec arm = add(e->rho.x, s.x), armdot = add(e->rho.d, s.d);
	Vec v = sub(add(B->v, cross(B->w, s.x)), add(A->v, cross(A->w, arm)));
	Vec vdot = sub(add(B->a, add(cross(B->alpha, s.x), cross(B->w, s.d))),
	               add(A->a, add(cross(A->alpha, arm), cross(A->w, armdot))));
	push_velocity(out, velocity_row(e->a[0], v, vdot));
	push_velocity(out, velocity_row(e->a[1], v, vdot));
	Jet height = jet_const((real)l->radius);
	if (l->type == REF_LOOP_DISK) {
		Jet s33 = S_entry(e, 2, 2);
		height = jet_scale((real)l->radius, jet_sqrt(jet_sub(jet_const(1), jet_mul(s33, s33))));
	}
	push_row(out, jet_sub(jet_dot(e->a[2], e->rho), height));
}

/* Positions of a scalar coordinate among q and of its speed among u. */
static void term_index(const RefModel *m, const RefTerm *term, int *iq, int *iu) {
	const RefBody *b = m->bodies;
	while (b < m->bodies + m->body_count && strcmp(b->name, term->body) != 0)
		b++;
	if (b == m->bodies + m->body_count || term->dof < 0 || term->dof >= b->nu + b->modes)
		abort();
	*iu = b->u + term->dof;
	*iq = b->q + b->nq + term->dof - b->nu; /* of a mode */
	for (int k = 0, dof = 0, at = b->q; k < b->elements.count; k++) {
		const RefElement *e = &b->elements.element[k];
		int mine = dof <= term->dof && term->dof < dof + ref_element_nu(e);
		if (mine && e->kind != REF_CAM)
			abort();
		*iq = mine ? at : *iq;
		dof += ref_element_nu(e), at += ref_element_nq(e);
	}
}

static void coupling_row(const RefModel *m, const RefLoop *l, const real *q, const real *u, const real *ud, Rows *out) {
	Jet sum = jet_const(0);
	for (int k = 0; k < l->term_count; k++) {
		int iq, iu;
		term_index(m, &l->term[k], &iq, &iu);
		sum = jet_add(sum, jet_scale((real)l->term[k].factor, (Jet){q[iq], u[iu], ud[iu]}));
	}
	push_row(out, sum);
}

/* Without drives. bodies at the same q, u, ud. */
static Rows loop_geometry(const RefModel *m, const RefLoop *l, const Frame *bodies, const real *q, const real *u,
                          const real *ud) {
	Rows out = {0};
	Ends e = loop_ends(m, l, bodies, q, u, ud);
	int translation, rotation;
	ref_loop_directions(l, &translation, &rotation);
	direction_rows(&e, translation, rotation, &out);
	switch (l->type) {
	case REF_LOOP_SCREW:
		out.row[2] = jet_sub(out.row[2], jet_scale((real)l->pitch, twist(&e)));
		out.period[2] = 4 * real_half_pi() * real_abs((real)l->pitch);
		break;
	case REF_LOOP_ANGLE:
		out.period[0] = 4 * real_half_pi();
		push_row(&out, twist(&e));
		break;
	case REF_LOOP_DISTANCE:
		push_row(&out, jet_sub(jet_sqrt(jet_dot(e.rho, e.rho)), jet_const((real)l->length)));
		break;
	case REF_LOOP_COUPLING:
		coupling_row(m, l, q, u, ud, &out);
		break;
	case REF_LOOP_KNIFE:
		push_velocity(&out, velocity_row(e.a[1], e.A.v, e.A.a));
		break;
	case REF_LOOP_DISK:
	case REF_LOOP_BALL:
		rolling_rows(l, &e, &out);
		break;
	default:
		break;
	}
	return out;
}

static Jet drive_jet(const RefDrive *s, real t) {
	real w = (real)s->frequency, a = (real)s->amplitude, si, co;
	real_sincos(w * t + (real)s->phase, &si, &co);
	return (Jet){(real)s->offset + t * ((real)s->speed + t * (real)s->acceleration / 2) + a * si,
	             (real)s->speed + t * (real)s->acceleration + a * w * co, (real)s->acceleration - a * w * w * si};
}

/* g - s, with the turns of an angle taken off. */
static void subtract_drives(const RefLoop *l, real t, Rows *r) {
	for (int i = 0; i < r->count; i++) {
		r->row[i] = jet_sub(r->row[i], drive_jet(&l->drive[i], t));
		if (r->velocity[i])
			r->row[i].x = 0;
		if (r->period[i] > 0)
			r->row[i].x -= r->period[i] * (real)nearbyint((double)(r->row[i].x / r->period[i]));
	}
}

/* ---- all loops ------------------------------------------------------------------------------ */

/* rows[] of all loops at (q, u, ud), driven or (t NULL) not; velocity[rows] may be NULL. */
static void model_rows(const RefModel *m, const real *t, const real *q, const real *u, const real *ud, Jet *rows,
                       int *velocity) {
	Frame *f = frame_array(m->body_count);
	tree_frames(m, q, u, ud, f);
	for (int i = 0, at = 0; i < m->loop_count; i++) {
		Rows r = loop_geometry(m, &m->loops[i], f, q, u, ud);
		if (t)
			subtract_drives(&m->loops[i], *t, &r);
		for (int k = 0; k < r.count; k++, at++) {
			rows[at] = r.row[k];
			if (velocity)
				velocity[at] = r.velocity[k];
		}
	}
	free(f);
}

static Jet *jet_array(int n) {
	Jet *x = calloc((size_t)(n > 0 ? n : 1), sizeof *x);
	if (!x)
		abort();
	return x;
}

/* G[rows][nu]: rates for unit speeds. */
static void loop_jacobian(const RefModel *m, const real *q, real *G) {
	int n = m->nu, rows = ref_model_rows(m);
	real *u = real_array(n), *zero = real_array(n);
	Jet *g = jet_array(rows);
	for (int j = 0; j < n; j++) {
		u[j] = 1;
		model_rows(m, NULL, q, u, zero, g, NULL);
		u[j] = 0;
		for (int i = 0; i < rows; i++)
			G[i * n + j] = g[i].d;
	}
	free(u), free(zero), free(g);
}

void RN(loop_rows)(const RefModel *m, double t, const double *q, const double *u, double *residual, double *rate,
                   double *G, double *gamma) {
	int n = m->nu, rows = ref_model_rows(m);
	real *qr = real_copy(m->nq, q), *ur = real_copy(n, u), *zero = real_array(n), time = (real)t;
	Jet *g = jet_array(rows);
	model_rows(m, &time, qr, ur, zero, g, NULL);
	for (int i = 0; i < rows; i++) {
		if (residual)
			residual[i] = (double)g[i].x;
		if (rate)
			rate[i] = (double)g[i].d;
		if (gamma)
			gamma[i] = -(double)g[i].dd;
	}
	if (G) {
		real *Gr = real_array(rows * n);
		loop_jacobian(m, qr, Gr);
		give(Gr, rows * n, G);
	}
	free(qr), free(ur), free(zero), free(g);
}

/* Rows at five times around t on the motion with constant speeds u; t does not count where it is NULL. */
static void rows_along(const RefModel *m, const real *t, const real *q, const real *u, real h, Jet *g[5],
                       int *velocity) {
	real *d = real_array(m->nu), *qt = real_array(m->nq), *zero = real_array(m->nu);
	for (int k = 0; k < 5; k++) {
		real tau = (real)(k - 2) * h, time = t ? *t + tau : 0;
		for (int i = 0; i < m->nu; i++)
			d[i] = tau * u[i];
		config_integrate(m, q, d, qt);
		model_rows(m, t ? &time : NULL, qt, u, zero, g[k], velocity);
	}
	free(d), free(qt), free(zero);
}

void RN(loop_rows_numeric)(const RefModel *m, double t, const double *q, const double *u, double *rate, double *G,
                           double *gamma) {
#ifdef REF_QUAD
	const real h = (real)1e-5;
#else
	const real h = 1e-2;
#endif
	int n = m->nu, rows = ref_model_rows(m), *velocity = calloc((size_t)rows + 1, sizeof *velocity);
	real *qr = real_copy(m->nq, q), *ur = real_copy(n, u), time = (real)t, d1, d2;
	Jet *g[5];
	if (!velocity)
		abort();
	for (int k = 0; k < 5; k++)
		g[k] = jet_array(rows);
	for (int j = -1; j < n; j++) { /* first along u, then along unit speeds */
		for (int i = 0; j >= 0 && i < n; i++)
			ur[i] = i == j;
		rows_along(m, j < 0 ? &time : NULL, qr, ur, h, g, velocity);
		for (int i = 0; i < rows; i++) {
			real x[5];
			for (int k = 0; k < 5; k++)
				x[k] = velocity[i] ? g[k][i].d : g[k][i].x;
			differentiate(x, h, &d1, &d2);
			if (j < 0 && rate)
				rate[i] = velocity[i] ? (double)x[2] : (double)d1;
			if (j < 0 && gamma)
				gamma[i] = velocity[i] ? -(double)d1 : -(double)d2;
			if (j >= 0 && G)
				G[i * n + j] = velocity[i] ? (double)x[2] : (double)d1;
		}
	}
	for (int k = 0; k < 5; k++)
		free(g[k]);
	free(velocity), free(qr), free(ur);
}

#endif
