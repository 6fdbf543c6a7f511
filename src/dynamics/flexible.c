// SPDX-License-Identifier: Apache-2.0
/*
 * flexible.c — the part of the recursion that flexible bodies add [THEORY 2, 3, 4].
 *
 * With A the acceleration of B and x the modal accelerations, both beyond the bias:
 *   outboard node     A_i = X_i A + S_i x: its inertia M^a and force b^a act on the modes,
 *                     E += X'M^aS,  M_ee += S'M^aS,  be += S'b^a  (and on B as those of any link)
 *   body              F = M_rr A + E x + b,   tau = M_ee x + E'A + be
 *   head that moves   A = X A_h + P x: E += M_rr P, M_ee += P'E + E'P + P'M_rrP, be += P'b
 *   elimination       M_ee = L L', Z = L^-1 E':  M^ = M_rr - Z'Z,  b^ = b - Z'y, y = L^-1(be - tau)
 *                     and outward x = -L^-T (y + Z A)
 * A prescribed mode has its row and column struck out; its acceleration is in the bias.
 */
#include "dynamics/flexible.h"
#include "dynamics/sweep.h"

INLINE vec3 turn(const mat3 *R, vec3 v) { return mat_mul_vec(*R, v); }
INLINE spatial turn_spatial(const mat3 *R, spatial s) { return (spatial){turn(R, s.a), turn(R, s.l)}; }

void LANED(flexible_load)(const CalModel *model, const real *q, const real *u, const uint8_t *prescribed,
                          const real *udot, CalWork *work) {
	for (int f = 0; f < model->flex_count; ++f) {
		const Flex *flex = &model->flexes[f];
		FlexWork *w = &work->flex[f];
		w->accelerated = 0;
		w->linear = CAL_LANES == 1 && flex->linear && model->solver == CAL_SOLVER_RECURSIVE;
		for (int k = 0; k < flex->m; ++k) {
			const int given = udot && prescribed && prescribed[flex->u + k];
			w->eta[k] = q[flex->q + k];
			w->eta_dot[k] = u ? u[flex->u + k] : real_from(0);
			w->eta_ddot[k] = given ? udot[flex->u + k] : real_from(0);
			w->accelerated |= given;
			if (prescribed && prescribed[flex->u + k])
				w->linear = 0;
		}
	}
}

/* ---- outward ------------------------------------------------------------------------------- */

/* Relative motion in world axes: velocity, and acceleration without eta_ddot. */
typedef struct Relative {
	spatial v, rest;
} Relative;

/* The body frame on its head node, whose frame is N: everything of the node inverted. */
static Relative place_frame(const Link *link, const FlexShape *shape, const FlexPose *n, int m, const LinkWork *base,
                            CalWork *work, LinkWork *l) {
	const mat3 N = link_inboard(link, &base->R);
	const mat3 nT = {{n->R.x.x, n->R.y.x, n->R.z.x}, {n->R.x.y, n->R.y.y, n->R.z.y}, {n->R.x.z, n->R.y.z, n->R.z.z}};
	l->R = mat_mul(N, nT);
	l->r = sub(mat_mul_dvec(base->R, link->p), turn(&l->R, n->rho));
	for (int k = 0; k < m; ++k) {
		const spatial S = flex_column(shape, n, m, k);
		work->modal_columns[link->columns + k] = turn_spatial(&l->R, (spatial){neg(S.a), sub(cross(S.a, n->rho), S.l)});
	}
	const vec3 wr = cross(n->w, n->rho);
	const vec3 turning = sub(cross(n->w_rest, n->rho), cross(n->w, wr));
	const vec3 rest = sub(madd(turning, real_from(2), cross(n->w, n->v)), n->v_rest);
	return (Relative){turn_spatial(&l->R, (spatial){neg(n->w), sub(wr, n->v)}),
	                  turn_spatial(&l->R, (spatial){neg(n->w_rest), rest})};
}

/* A node on the body frame. */
static Relative place_node(const Link *link, const FlexShape *shape, const FlexPose *n, int m, const LinkWork *base,
                           CalWork *work, LinkWork *l) {
	l->R = mat_mul(base->R, n->R);
	l->r = turn(&base->R, n->rho);
	for (int k = 0; k < m; ++k)
		work->modal_columns[link->columns + k] = turn_spatial(&base->R, flex_column(shape, n, m, k));
	return (Relative){turn_spatial(&base->R, (spatial){n->w, n->v}),
	                  turn_spatial(&base->R, (spatial){n->w_rest, n->v_rest})};
}

void LANED(flexible_motion)(const CalModel *model, const Link *link, const LinkWork *base, int rates, CalWork *work,
                            LinkWork *l) {
	const FlexShape *shape = &model->shapes[link->shape];
	const FlexWork *w = &work->flex[link->flex];
	const int m = model->flexes[link->flex].m;
	FlexPose n;
	LANED(flex_pose)(shape, m, w->eta, rates ? w->eta_dot : NULL, &n);
	const Relative rel = link->motion == MOTION_FLEX ? place_frame(link, shape, &n, m, base, work, l)
	                                                 : place_node(link, shape, &n, m, base, work, l);
	if (!rates)
		return;
	l->w = add(base->w, rel.v.a);
	l->al = add(add(base->al, rel.rest.a), cross(base->w, rel.v.a));
	const vec3 own = madd(rel.rest.l, real_from(2), cross(base->w, rel.v.l));
	l->a = add(add(base->a, mat_mul_vec(base->W, l->r)), own);
}

void LANED(flexible_prescribe)(const Link *link, const CalModel *model, CalWork *work, LinkWork *l) {
	const spatial given = flexible_columns(model, link, work, work->flex[link->flex].eta_ddot);
	l->al = add(l->al, given.a);
	l->a = add(l->a, given.l);
}

/* M += h D + h^2 K: the elastic forces of an implicit step. */
static void stiffen(const Flex *flex, double h, real *M) {
	if (h == 0)
		return;
	for (int i = 0; i < flex->m * flex->m; ++i)
		M[i] += h * (flex->D ? flex->D[i] : 0.0) + h * h * flex->K[i];
}

void LANED(flexible_own)(const CalModel *model, int f, int motion, CalWork *work, const LinkWork *l) {
	const Flex *flex = &model->flexes[f];
	FlexWork *w = &work->flex[f];
	FlexTerms terms = {w->E, motion && w->linear ? NULL : w->M, w->be, spatial_zero(), w->scratch};
	FlexInertia inertia;
	if (motion) {
		const FlexMotion in_body = {mat_tmul_vec(l->R, l->w), mat_tmul_vec(l->R, l->al), mat_tmul_vec(l->R, l->a)};
		LANED(flex_terms)(flex, w->eta, w->eta_dot, w->accelerated ? w->eta_ddot : NULL, &in_body, &inertia, &terms);
		w->b = turn_spatial(&l->R, terms.force);
		if (!w->linear)
			stiffen(flex, work->implicit_step, w->M);
	} else {
		LANED(flex_terms)(flex, w->eta, NULL, NULL, NULL, &inertia, &terms);
	}
	w->own = (Composite){inertia.m, turn(&l->R, inertia.mc), sym_rotate(inertia.S, l->R)};
	for (int k = 0; k < flex->m; ++k)
		w->E[k] = turn_spatial(&l->R, w->E[k]);
}

/* ---- inward -------------------------------------------------------------------------------- */

void LANED(flexible_node)(const CalModel *model, const Link *link, const Artic *M, const spatial *b, CalWork *work) {
	const int m = model->flexes[link->flex].m;
	FlexWork *w = &work->flex[link->flex];
	const spatial *S = work->modal_columns + link->columns;
	const vec3 r = work->links[link - model->links].r;
	for (int k = 0; k < m; ++k) {
		if (b)
			w->be[k] += spatial_dot(S[k], *b);
		if (!M)
			continue;
		const spatial Y = artic_mul(M, S[k]);
		w->E[k] = spatial_add(w->E[k], force_shift(Y, r));
		for (int j = 0; j <= k; ++j) {
			const real value = spatial_dot(S[j], Y);
			w->M[k * m + j] += value;
			if (j < k)
				w->M[j * m + k] += value;
		}
	}
}

void LANED(flexible_head)(const CalModel *model, const Link *link, const Artic *M, CalWork *work) {
	const int m = model->flexes[link->flex].m;
	FlexWork *w = &work->flex[link->flex];
	const spatial *P = work->modal_columns + link->columns;
	if (!model->shapes[link->shape].moves)
		return;
	for (int k = 0; k < m; ++k)
		w->Z[k] = artic_mul(M, P[k]);
	for (int k = 0; k < m; ++k) {
		for (int j = 0; j <= k; ++j) {
			const real value = spatial_dot(P[k], w->E[j]) + spatial_dot(w->E[k], P[j]) + spatial_dot(P[k], w->Z[j]);
			w->M[k * m + j] += value;
			if (j < k)
				w->M[j * m + k] += value;
		}
	}
	for (int k = 0; k < m; ++k)
		w->E[k] = spatial_add(w->E[k], w->Z[k]);
}

INLINE int struck_out(const uint8_t *prescribed, const Flex *flex, int k) {
	return prescribed && prescribed[flex->u + k];
}

enum { PIVOT_GOOD, PIVOT_LOST, PIVOT_NOT_FINITE };

INLINE int judge_pivot(real pivot, real diagonal) {
	int verdict = PIVOT_GOOD;
	for (int i = 0; i < CAL_LANES; ++i) {
		const double p = real_lane(&pivot, i);
		if (!(p > SINGULAR_RATIO * real_lane(&diagonal, i)))
			verdict = isnan(p) ? PIVOT_NOT_FINITE : PIVOT_LOST;
	}
	return verdict;
}

/* Row k of L and Z_k; the upper triangle of M is only read. Returns what became of the pivot. */
static int eliminate_mode(const Flex *flex, const uint8_t *prescribed, FlexWork *w, int k) {
	const int m = flex->m, out = struck_out(prescribed, flex, k);
	real *row = w->M + k * m;
	spatial Z = out ? spatial_zero() : w->E[k];
	const real diagonal = row[k];
	real pivot = diagonal;
	for (int j = 0; j < k; ++j) {
		real s = out || struck_out(prescribed, flex, j) ? real_from(0) : w->M[j * m + k];
		for (int i = 0; i < j; ++i)
			s -= row[i] * w->M[j * m + i];
		row[j] = s * w->inverse[j];
		pivot -= row[j] * row[j];
		Z = spatial_madd(Z, -row[j], w->Z[j]);
	}
	if (out)
		pivot = real_from(1);
	row[k] = real_sqrt(pivot);
	const real inverse = 1.0 / row[k];
	w->inverse[k] = inverse;
	w->Z[k] = (spatial){scale(inverse, Z.a), scale(inverse, Z.l)};
	return out ? PIVOT_GOOD : judge_pivot(pivot, diagonal);
}

int LANED(flexible_eliminate)(const CalModel *model, int f, const uint8_t *prescribed, CalWork *work, Artic *M) {
	const Flex *flex = &model->flexes[f];
	FlexWork *w = &work->flex[f];
	int culprit = -1;
	for (int k = 0; k < flex->m; ++k) {
		const int verdict = eliminate_mode(flex, prescribed, w, k);
		if (verdict == PIVOT_GOOD || culprit >= 0)
			continue;
		culprit = flex->u + k;
		work->dofs[culprit].d = real_from(verdict == PIVOT_LOST ? (double)INFINITY : (double)NAN);
	}
	Artic left = *M;
	for (int k = 0; k < flex->m; ++k)
		left = artic_sub_outer(left, w->Z[k], w->Z[k]);
	*M = left;
	return culprit;
}

void LANED(flexible_reduce)(const CalModel *model, const Link *link, const uint8_t *prescribed, const real *tau,
                            CalWork *work, spatial *b) {
	const Flex *flex = &model->flexes[link->carries];
	FlexWork *w = &work->flex[link->carries];
	const int m = flex->m, head = link->motion == MOTION_FLEX && flex->head.moves;
	const spatial B = *b;
	for (int k = 0; k < m; ++k) {
		if (head)
			w->be[k] += spatial_dot(work->modal_columns[link->columns + k], B);
		real s = struck_out(prescribed, flex, k) ? real_from(0) : w->be[k] - tau[flex->u + k];
		for (int j = 0; j < k; ++j)
			s -= w->M[k * m + j] * w->y[j];
		w->y[k] = s * w->inverse[k];
		*b = spatial_madd(*b, -w->y[k], w->Z[k]);
	}
}

/* ---- outward again ------------------------------------------------------------------------- */

/* Force of a prescribed mode beyond tau: its row of the equations, from the upper triangle of M. */
static real mode_force(const Flex *flex, const FlexWork *w, const real *tau, int k, spatial A) {
	const int m = flex->m;
	real sum = w->be[k] - tau[flex->u + k] + spatial_dot(w->E[k], A);
	for (int j = 0; j < m; ++j) {
		if (j != k) // x of prescribed modes is zero, its own too
			sum += (j > k ? w->M[k * m + j] : w->M[j * m + k]) * w->x[j];
	}
	return sum;
}

void LANED(flexible_accelerate)(const CalModel *model, const Link *link, const uint8_t *prescribed, const real *tau,
                                CalWork *work, real *udot, real *force, spatial *A) {
	const Flex *flex = &model->flexes[link->carries];
	FlexWork *w = &work->flex[link->carries];
	const int m = flex->m;
	for (int k = m - 1; k >= 0; --k) {
		real s = -(w->y[k] + spatial_dot(w->Z[k], *A));
		for (int j = k + 1; j < m; ++j)
			s -= w->M[j * m + k] * w->x[j];
		w->x[k] = s * w->inverse[k];
	}
	for (int k = 0; k < m; ++k) {
		const int out = struck_out(prescribed, flex, k);
		udot[flex->u + k] = out ? w->eta_ddot[k] : w->x[k];
		if (force && out)
			force[flex->u + k] = mode_force(flex, w, tau, k, *A);
	}
	if (link->motion == MOTION_FLEX)
		*A = spatial_add(*A, flexible_columns(model, link, work, w->x));
}
