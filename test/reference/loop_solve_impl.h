// SPDX-License-Identifier: Apache-2.0
/*
 * loop_solve_impl.h — forces of loops, dense forward dynamics with them, projections on the constraints.
 *
 * M udot = Q + G' lambda, G udot = c over the free speeds: lambda = (G M^-1 G')^+ (c - G M^-1 Q). The
 * pseudo-inverse comes from all eigenvalues and vectors (cyclic Jacobi); eigenvalues below RANK_TOLERANCE times
 * the largest count as zero, so that redundant and singular constraints get the multipliers of minimum norm. If all
 * rows vanish the largest is round-off, so that it does not count as less than 1e-12 of the largest pivot of M^-1.
 * A projection is the same with M or the unit matrix as weight and the residual in place of c.
 * Compiled in double and in quad.
 */
#ifndef TEST_REFERENCE_LOOP_SOLVE_IMPL_H
#define TEST_REFERENCE_LOOP_SOLVE_IMPL_H

#include "reference/loop_impl.h"

#ifdef REF_QUAD
#define RANK_TOLERANCE ((real)1e-12)
#define RESIDUAL_TOLERANCE ((real)1e-26)
#define REAL_EPSILON ((real)1e-34)
#else
#define RANK_TOLERANCE 1e-9
#define RESIDUAL_TOLERANCE 1e-15
#define REAL_EPSILON 1e-16
#endif

/* ---- forces --------------------------------------------------------------------------------- */

typedef struct Wrench {
	Vec moment, force;
} Wrench;

/* S_ij = a_i . b_j changes at the rate w_rel . (b_j x a_i). */
static Vec S_moment(const Ends *e, int i, int j) { return cross(e->b[j].x, e->a[i].x); }

/* Gradients of rotation_rows(), in the same order. */
static int rotation_moments(const Ends *e, int set, Vec *moment) {
	const Vec z[3] = {S_moment(e, 0, 1), S_moment(e, 1, 2), S_moment(e, 2, 0)};
	const Vec s[3] = {S_moment(e, 1, 0), S_moment(e, 2, 1), S_moment(e, 0, 2)};
	const real half = (real)0.5;
	switch (set) {
	case REF_XYZ:
		moment[0] = scale(half, sub(s[1], z[1]));
		moment[1] = scale(half, sub(s[2], z[2]));
		moment[2] = scale(half, sub(s[0], z[0]));
		return 3;
	case REF_X | REF_Y:
		moment[0] = scale(-1, z[1]), moment[1] = s[2];
		return 2;
	case REF_Y | REF_Z:
		moment[0] = scale(-1, z[2]), moment[1] = s[0];
		return 2;
	case REF_X | REF_Z:
		moment[0] = s[1], moment[1] = scale(-1, z[0]);
		return 2;
	case REF_X:
		moment[0] = z[1];
		return 1;
	case REF_Y:
		moment[0] = z[2];
		return 1;
	case REF_Z:
		moment[0] = z[0];
		return 1;
	default:
		return 0;
	}
}

static Vec twist_moment(const Ends *e) {
	real s = S_entry(e, 1, 0).x - S_entry(e, 0, 1).x, c = S_entry(e, 0, 0).x + S_entry(e, 1, 1).x;
	Vec ds = sub(S_moment(e, 1, 0), S_moment(e, 0, 1)), dc = add(S_moment(e, 0, 0), S_moment(e, 1, 1));
	return scale(1 / (s * s + c * c), sub(scale(c, ds), scale(s, dc)));
}

/* On B at r_B; of a knife on A at r_A. */
static Wrench loop_wrench(const RefLoop *l, const Ends *e, const real *lambda) {
	Wrench w = {0};
	Vec moment[3];
	int translation, rotation, at = 0;
	ref_loop_directions(l, &translation, &rotation);
	for (int k = 0; k < 3; k++)
		if (translation >> k & 1)
			w.force = add(w.force, scale(lambda[at++], e->a[k].x));
	int n = rotation_moments(e, rotation, moment);
	for (int k = 0; k < n; k++)
		w.moment = add(w.moment, scale(lambda[at++], moment[k]));
	if (l->type == REF_LOOP_SCREW)
		w.moment = sub(w.moment, scale((real)l->pitch * lambda[2], twist_moment(e)));
	else if (l->type == REF_LOOP_ANGLE)
		w.moment = scale(lambda[0], twist_moment(e));
	else if (l->type == REF_LOOP_DISTANCE)
		w.force = scale(lambda[0] / norm(e->rho.x), e->rho.x);
	else if (l->type == REF_LOOP_KNIFE)
		w.force = scale(lambda[0], e->a[1].x);
	if (l->type == REF_LOOP_DISK || l->type == REF_LOOP_BALL) {
		for (int k = 0; k < 3; k++)
			w.force = add(w.force, scale(lambda[k], e->a[k].x));
		w.moment = cross(contact_arm(l, e).x, w.force);
	}
	return w;
}

static int has_applied_wrench(const RefLoop *l) {
	const CalVec3 a = l->applied_wrench.angular, f = l->applied_wrench.linear;
	return l->type != REF_LOOP_KNIFE && l->type != REF_LOOP_COUPLING &&
	       (a.x != 0 || a.y != 0 || a.z != 0 || f.x != 0 || f.y != 0 || f.z != 0);
}

/* Known forces of a loop on B at r_B. */
static Wrench known_wrench(const RefLoop *l, const Ends *e) {
	return (Wrench){rotate(e->A.R, vec_in(l->applied_wrench.angular)),
	                rotate(e->A.R, vec_in(l->applied_wrench.linear))};
}

/* A wrench on B at r_B as the pair that acts on A at r_A and on B at r_B. */
static void wrench_pair(const RefLoop *l, const Ends *e, Wrench w, Wrench *on_a, Wrench *on_b) {
	if (l->type == REF_LOOP_KNIFE) {
		*on_a = w;
		*on_b = (Wrench){0};
		return;
	}
	*on_b = w;
	on_a->force = scale(-1, w.force);
	on_a->moment = scale(-1, add(w.moment, cross(e->rho.x, w.force)));
}

void RN(loop_forces)(const RefModel *m, const double *q, const double *lambda, RefLoopForce *force) {
	int rows = ref_model_rows(m), at = 0;
	real *qr = real_copy(m->nq, q), *lr = real_copy(rows, lambda), *zero = real_array(m->nu);
	Frame *f = frame_array(m->body_count);
	tree_frames(m, qr, zero, zero, f);
	for (int i = 0; i < m->loop_count; i++) {
		const RefLoop *l = &m->loops[i];
		Ends e = loop_ends(m, l, f, qr, zero, zero);
		Wrench a, b;
		wrench_pair(l, &e, loop_wrench(l, &e, lr + at), &a, &b);
		force[i] = (RefLoopForce){vec_out(e.A.r),
		                          vec_out(e.B.r),
		                          {vec_out(a.moment), vec_out(a.force)},
		                          {vec_out(b.moment), vec_out(b.force)}};
		at += ref_loop_row_count(l);
	}
	free(qr), free(lr), free(zero), free(f);
}

/* Q += generalized forces of the known forces in the loops. */
static void known_forces(const RefModel *m, const real *q, real *Q) {
	real *u = real_array(m->nu), *zero = real_array(m->nu);
	Frame *f = frame_array(m->body_count);
	int any = 0;
	for (int i = 0; i < m->loop_count; i++)
		any |= has_applied_wrench(&m->loops[i]);
	for (int j = 0; any && j < m->nu; j++) {
		u[j] = 1;
		tree_frames(m, q, u, zero, f);
		for (int i = 0; i < m->loop_count; i++) {
			const RefLoop *l = &m->loops[i];
			if (!has_applied_wrench(l))
				continue;
			Ends e = loop_ends(m, l, f, q, u, zero);
			Wrench a, b;
			wrench_pair(l, &e, known_wrench(l, &e), &a, &b);
			Q[j] += dot(e.A.w, a.moment) + dot(e.A.v, a.force) + dot(e.B.w, b.moment) + dot(e.B.v, b.force);
		}
		u[j] = 0;
	}
	free(u), free(zero), free(f);
}

void RN(loop_reactions)(const RefModel *m, const double *q, const double *u, const double *udot, const CalInput *in,
                        const double *lambda, CalSpatial *wrench) {
	int rows = ref_model_rows(m), at = 0;
	real *qr = real_copy(m->nq, q), *lr = real_copy(rows, lambda), *zero = real_array(m->nu);
	Frame *f = frame_array(m->body_count);
	RN(reactions)(m, q, u, udot, in, wrench);
	tree_frames(m, qr, zero, zero, f);
	for (int i = 0; i < m->loop_count; at += ref_loop_row_count(&m->loops[i]), i++) {
		const RefLoop *l = &m->loops[i];
		Ends e = loop_ends(m, l, f, qr, zero, zero);
		Wrench w = loop_wrench(l, &e, lr + at), known = known_wrench(l, &e), on[2];
		if (has_applied_wrench(l))
			w = (Wrench){add(w.moment, known.moment), add(w.force, known.force)};
		wrench_pair(l, &e, w, &on[0], &on[1]);
		for (int side = 0; side < 2; side++) {
			int node = side ? l->node_b : l->node_a, body = node < 0 ? -1 : m->nodes[node].body;
			for (; body >= 0; body = m->bodies[body].parent) { /* all joints inboard of it */
				Vec arm = sub(side ? e.B.r : e.A.r, head_frame(m, f, body, qr, zero, zero).r);
				CalVec3 mo = vec_out(add(on[side].moment, cross(arm, on[side].force))), fo = vec_out(on[side].force);
				CalSpatial *x = &wrench[body];
				x->angular = (CalVec3){x->angular.x - mo.x, x->angular.y - mo.y, x->angular.z - mo.z};
				x->linear = (CalVec3){x->linear.x - fo.x, x->linear.y - fo.y, x->linear.z - fo.z};
			}
		}
	}
	free(qr), free(lr), free(zero), free(f);
}

/* ---- pseudo-inverse ------------------------------------------------------------------------- */

/* One Jacobi rotation that zeroes A[p][q] of the symmetric A; V collects them. */
static void jacobi_rotate(int n, real *A, real *V, int p, int q) {
	real apq = A[p * n + q];
	if (apq == 0)
		return;
	real theta = (A[q * n + q] - A[p * n + p]) / (2 * apq);
	real t = 1 / (real_abs(theta) + real_sqrt(theta * theta + 1)), c, s;
	t = theta < 0 ? -t : t;
	c = 1 / real_sqrt(t * t + 1);
	s = t * c;
	for (int k = 0; k < n; k++) {
		real x = A[k * n + p], y = A[k * n + q];
		A[k * n + p] = c * x - s * y, A[k * n + q] = s * x + c * y;
	}
	for (int k = 0; k < n; k++) {
		real x = A[p * n + k], y = A[q * n + k];
		A[p * n + k] = c * x - s * y, A[q * n + k] = s * x + c * y;
		x = V[k * n + p], y = V[k * n + q];
		V[k * n + p] = c * x - s * y, V[k * n + q] = s * x + c * y;
	}
	A[p * n + q] = A[q * n + p] = 0;
}

/* Eigenvalues onto the diagonal of A, eigenvectors into the columns of V. */
static void jacobi_eigen(int n, real *A, real *V) {
	for (int i = 0; i < n * n; i++)
		V[i] = i % (n + 1) == 0;
	for (int sweep = 0; sweep < 60; sweep++) {
		real off = 0, on = 0;
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				*(i == j ? &on : &off) += A[i * n + j] * A[i * n + j];
		if (!(off > on * REAL_EPSILON * REAL_EPSILON))
			return;
		for (int p = 0; p < n; p++)
			for (int q = p + 1; q < n; q++)
				jacobi_rotate(n, A, V, p, q);
	}
}

typedef struct Pseudo {
	int rank;
	real kept, dropped; // relative eigenvalues on both sides of the decision
} Pseudo;

/*
 * x = S^+ b, S positive semidefinite (destroyed) and all noise if below `least`; eigenvalues below `tolerance` of the largest
 * are zero; redundancy[n] may be NULL.
 */
static Pseudo pseudo_solve(int n, real *S, const real *b, real least, real tolerance, real *x, real *redundancy) {
	real *V = real_array(n * n), largest = least;
	Pseudo out = {.kept = 1};
	jacobi_eigen(n, S, V);
	for (int k = 0; k < n; k++) {
		largest = S[k * (n + 1)] > largest ? S[k * (n + 1)] : largest;
		x[k] = 0;
		if (redundancy)
			redundancy[k] = 0;
	}
	for (int k = 0; k < n; k++) {
		real e = S[k * (n + 1)], projection = 0;
		if (e > tolerance * largest) {
			out.rank++;
			out.kept = e / largest < out.kept ? e / largest : out.kept;
			for (int i = 0; i < n; i++)
				projection += V[i * n + k] * b[i];
			for (int i = 0; i < n; i++)
				x[i] += V[i * n + k] * projection / e;
			continue;
		}
		out.dropped = largest > 0 && real_abs(e) / largest > out.dropped ? real_abs(e) / largest : out.dropped;
		for (int i = 0; redundancy && i < n; i++)
			redundancy[i] += V[i * n + k] * V[i * n + k];
	}
	free(V);
	return out;
}

/* ---- constrained solution ------------------------------------------------------------------- */

/*
 * lambda = (G W^-1 G')^+ b and X = W^-1 G' over the speeds index[nf]; W[nf nf] factored by ldl_factor().
 * X[rows][nf] holds it row by row.
 */
static Pseudo multipliers(int rows, int n, int nf, const int *index, const real *W, const real *G, const real *b,
                          real tolerance, real *X, real *lambda, real *redundancy) {
	real *S = real_array(rows * rows);
	for (int i = 0; i < rows; i++) {
		for (int k = 0; k < nf; k++)
			X[i * nf + k] = G[i * n + index[k]];
		ldl_solve(nf, W, X + i * nf);
	}
	for (int i = 0; i < rows; i++)
		for (int j = 0; j <= i; j++) {
			real s = 0;
			for (int k = 0; k < nf; k++)
				s += (G[i * n + index[k]] * X[j * nf + k] + G[j * n + index[k]] * X[i * nf + k]) / 2;
			S[i * rows + j] = S[j * rows + i] = s;
		}
	real noise = tolerance < (real)1e-12 ? tolerance : (real)1e-12,
		 least = 0; /* rows of 1e-6 count, rows that cancel to round-off do not */
	for (int k = 0; k < nf; k++)
		least = noise / W[k * (nf + 1)] > least ? noise / W[k * (nf + 1)] : least;
	Pseudo p = pseudo_solve(rows, S, b, least, tolerance, lambda, redundancy);
	free(S);
	return p;
}

/* Right-hand side of G udot = c and G itself. */
static void row_targets(const RefModel *m, real t, const real *q, const real *u, real *G, real *c) {
	real *zero = real_array(m->nu);
	Jet *g = jet_array(ref_model_rows(m));
	model_rows(m, &t, q, u, zero, g, NULL);
	for (int i = 0, at = 0; i < m->loop_count; i++) {
		const RefLoop *l = &m->loops[i];
		real w = (real)l->frequency, d = (real)l->damping;
		for (int k = 0; k < ref_loop_row_count(l); k++, at++)
			c[at] = -g[at].dd - 2 * d * w * g[at].d - w * w * g[at].x;
	}
	loop_jacobian(m, q, G);
	free(zero), free(g);
}

static void row_products(int rows, int n, const real *G, const real *x, real *y) {
	for (int i = 0; i < rows; i++) {
		y[i] = 0;
		for (int j = 0; j < n; j++)
			y[i] += G[i * n + j] * x[j];
	}
}

static void put(int n, const real *x, double *out) {
	for (int i = 0; out && i < n; i++)
		out[i] = (double)x[i];
}

/* c - G ud (sign 1) or its negative */
static void row_errors(int rows, int n, const real *G, const real *ud, const real *c, int sign, real *b) {
	row_products(rows, n, G, ud, b);
	for (int i = 0; i < rows; i++)
		b[i] = (real)sign * (c[i] - b[i]);
}

/* Over the free speeds: ud from the forces Q less those that accelerations ud need, and lambda; nonzero: singular. */
static int solve_free(const RefModel *m, int nf, const int *index, const real *M, const real *G, const real *c,
                      const real *Q, const real *need, real *ud, real *lambda, real *share, RefSolution *out) {
	int n = m->nu, rows = ref_model_rows(m);
	real *W = real_array(n * n), *x = real_array(n), *b = real_array(rows), *X = real_array(rows * n);
	for (int i = 0; i < nf; i++) {
		x[i] = Q[index[i]] - need[index[i]];
		for (int j = 0; j < nf; j++)
			W[i * nf + j] = M[index[i] * n + index[j]];
	}
	int singular = ldl_factor(nf, W);
	if (!singular) {
		ldl_solve(nf, W, x);
		for (int i = 0; i < nf; i++)
			ud[index[i]] = x[i];
		row_errors(rows, n, G, ud, c, 1, b);
		real tolerance = out->rank_tolerance > 0 ? (real)out->rank_tolerance : RANK_TOLERANCE;
		Pseudo p = multipliers(rows, n, nf, index, W, G, b, tolerance, X, lambda, share);
		out->rank = p.rank, out->kept = (double)p.kept, out->dropped = (double)p.dropped;
		for (int i = 0; i < rows; i++)
			for (int k = 0; k < nf; k++)
				ud[index[k]] += X[i * nf + k] * lambda[i];
	}
	free(W), free(x), free(b), free(X);
	return singular;
}

int RN(loop_forward)(const RefModel *m, double t, const double *q, const double *u, const CalInput *in,
                     RefSolution *out) {
	int n = m->nu, rows = ref_model_rows(m), *index = calloc((size_t)(n + 1), sizeof *index);
	real *qr = real_copy(m->nq, q), *ur = real_copy(n, u), *ud = real_array(n), *M = real_array(n * n);
	real *Q = real_copy(n, in ? in->tau : NULL), *need = real_array(n), *Qc = real_array(n);
	real *G = real_array(rows * n), *c = real_array(rows), *lambda = real_array(rows), *share = real_array(rows);
	if (!index)
		abort();
	int nf = free_speeds(m, in, index, ud);
	motion_sums(m, qr, ur, ud, in, M, need);
	known_forces(m, qr, Q);
	row_targets(m, (real)t, qr, ur, G, c);
	int singular = solve_free(m, nf, index, M, G, c, Q, need, ud, lambda, share, out);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < rows; i++)
			Qc[j] += G[i * n + j] * lambda[i];
	put(n, ud, out->udot), put(rows, lambda, out->lambda), put(n, Qc, out->constraint),
		put(rows, share, out->redundancy);
	if (out->mismatch) {
		row_errors(rows, n, G, ud, c, -1, lambda);
		put(rows, lambda, out->mismatch);
	}
	if (out->prescribed) {
		inverse_sums(m, qr, ur, ud, in, need);
		for (int j = 0; j < n; j++)
			need[j] -= Q[j] + Qc[j];
		for (int i = 0; i < nf; i++)
			need[index[i]] = 0;
		put(n, need, out->prescribed);
	}
	free(index), free(qr), free(ur), free(ud), free(M), free(Q), free(need), free(Qc), free(G), free(c), free(lambda);
	free(share);
	return singular;
}

/* ---- projection ----------------------------------------------------------------------------- */

typedef struct Step {
	int n, rows, nf, *index; // all speeds, rows, speeds that may move
	real *W, *G, *b;         // weight (factored), Jacobian, what G dx should be
	real *X, *lambda, *dx;
} Step;

static Step step_make(const RefModel *m, const uint8_t *frozen) {
	int n = m->nu, rows = ref_model_rows(m);
	Step s = {.n = n, .rows = rows, .index = calloc((size_t)n + 1, sizeof *s.index)};
	if (!s.index)
		abort();
	for (int j = 0; j < n; j++)
		if (!frozen || !frozen[j])
			s.index[s.nf++] = j;
	s.W = real_array(n * n), s.G = real_array(rows * n), s.b = real_array(rows);
	s.X = real_array(rows * n), s.lambda = real_array(rows), s.dx = real_array(n);
	return s;
}

static void step_free(Step *s) {
	free(s->index), free(s->W), free(s->G), free(s->b), free(s->X), free(s->lambda), free(s->dx);
}

/* Shortest dx, in the metric of the weight at q, with G dx = b in the least-squares sense. */
static int step_solve(const RefModel *m, const real *q, RefWeight weight, Step *s) {
	real *M = real_array(s->n * s->n);
	if (weight == REF_MASS)
		mass_matrix(m, q, M);
	for (int i = 0; i < s->nf; i++)
		for (int j = 0; j < s->nf; j++)
			s->W[i * s->nf + j] = weight == REF_MASS ? M[s->index[i] * s->n + s->index[j]] : (real)(i == j);
	free(M);
	if (ldl_factor(s->nf, s->W) != 0)
		abort();
	Pseudo p = multipliers(s->rows, s->n, s->nf, s->index, s->W, s->G, s->b, RANK_TOLERANCE, s->X, s->lambda, NULL);
	for (int j = 0; j < s->n; j++)
		s->dx[j] = 0;
	for (int i = 0; i < s->rows; i++)
		for (int k = 0; k < s->nf; k++)
			s->dx[s->index[k]] += s->X[i * s->nf + k] * s->lambda[i];
	return p.rank;
}

static real largest_of(int n, const real *x) {
	real y = 0;
	for (int i = 0; i < n; i++)
		y = real_abs(x[i]) > y ? real_abs(x[i]) : y;
	return y;
}

/* b = -residual, and rows without position taken out of G. */
static real position_target(const RefModel *m, real t, const real *q, Step *s) {
	real *zero = real_array(s->n);
	int *velocity = calloc((size_t)s->rows + 1, sizeof *velocity);
	Jet *g = jet_array(s->rows);
	if (!velocity)
		abort();
	model_rows(m, &t, q, zero, zero, g, velocity);
	for (int i = 0; i < s->rows; i++)
		s->b[i] = -g[i].x;
	loop_jacobian(m, q, s->G);
	for (int i = 0; i < s->rows; i++)
		for (int j = 0; velocity[i] && j < s->n; j++)
			s->G[i * s->n + j] = 0;
	free(zero), free(velocity), free(g);
	return largest_of(s->rows, s->b);
}

RefProjection RN(project_position)(const RefModel *m, double t, const double *q, RefWeight weight,
                                   const uint8_t *frozen, int max_iterations, double *out) {
	Step s = step_make(m, frozen);
	real *qr = real_copy(m->nq, q), *next = real_array(m->nq);
	RefProjection p = {0};
	real residual = position_target(m, (real)t, qr, &s), longest = 1;
	while (p.iterations < max_iterations && residual > RESIDUAL_TOLERANCE && longest > RESIDUAL_TOLERANCE) {
		p.rank = step_solve(m, qr, weight, &s);
		longest = largest_of(s.n, s.dx);
		for (int j = 0; longest > (real)0.5 && j < s.n; j++) /* far away */
			s.dx[j] *= (real)0.5 / longest;
		config_integrate(m, qr, s.dx, next);
		memcpy(qr, next, sizeof *qr * (size_t)m->nq);
		residual = position_target(m, (real)t, qr, &s);
		p.iterations++;
	}
	p.residual = (double)residual;
	put(m->nq, qr, out);
	step_free(&s);
	free(qr), free(next);
	return p;
}

RefProjection RN(project_velocity)(const RefModel *m, double t, const double *q, const double *u, RefWeight weight,
                                   const uint8_t *frozen, double *u_out, double *impulse) {
	Step s = step_make(m, frozen);
	real *qr = real_copy(m->nq, q), *ur = real_copy(m->nu, u), *zero = real_array(m->nu), time = (real)t;
	Jet *g = jet_array(s.rows);
	RefProjection p = {.iterations = 1};
	model_rows(m, &time, qr, ur, zero, g, NULL);
	for (int i = 0; i < s.rows; i++)
		s.b[i] = -g[i].d;
	loop_jacobian(m, qr, s.G);
	p.rank = step_solve(m, qr, weight, &s);
	for (int j = 0; j < s.n; j++)
		ur[j] += s.dx[j];
	model_rows(m, &time, qr, ur, zero, g, NULL);
	for (int i = 0; i < s.rows; i++)
		p.residual = fabs((double)g[i].d) > p.residual ? fabs((double)g[i].d) : p.residual;
	put(s.n, ur, u_out), put(s.rows, s.lambda, impulse);
	step_free(&s);
	free(qr), free(ur), free(zero), free(g);
	return p;
}

#endif
