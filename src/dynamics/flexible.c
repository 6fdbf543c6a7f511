// SPDX-License-Identifier: Apache-2.0
/*
 * flexible.c — the part of the recursion that flexible bodies add [THEORY 2, 3, 4].
 *
 * With A the acceleration of B and x the modal accelerations, both beyond the bias:
 *   outboard node     A_i = X_i A + S_i x: its inertia M^a and force b^a act on the modes,
 *                     E += X'M^aS,  M_ee += S'M^aS,  be += S'b^a  (and on B as those of any link)
 *   body              F = M_rr A + E x + b,   tau = M_ee x + E'A + be
 *   head that moves   A = X A_h + P x: E += M_rr P, M_ee += P'E + E'P + P'M_rrP, be += P'b
 *   elimination       M_ee = L D L' with unit L; modes go one after the other like the freedoms of a joint: U = what is
 *                     left of column E_k, K = U/D,  M^ = M^ - U K',  b^ = b^ - K y_k, y = L^-1(be - tau)
 *                     and outward, last mode first, x_k = -y_k/D - K'A - sum_j L_jk x_j
 * A prescribed mode is not eliminated: the others leave it with its row of the equations, which give its force; its
 * acceleration is in the bias. Rows are over modes, packs at a time (math/pack.h); of the modal mass the upper triangle
 * of packs is kept, and after elimination row k holds column k of L.
 */
#include "body/flex_pose.h"
#include "body/flex_terms.h"
#include "dynamics/flexible.h"
#include "dynamics/sweep.h"

/* Bodies with a single pack of modes have kernels of their own; with lanes they would only cost compile time. */
#define SINGLE_PACK(n) (CAL_LANES == 1 && (n) == PACK)

INLINE vec3 turn(const mat3 *R, vec3 v) { return mat_mul_vec(*R, v); }
INLINE spatial turn_spatial(const mat3 *R, spatial s) { return (spatial){turn(R, s.a), turn(R, s.l)}; }

/* Padding stays zero. */
INLINE void take_row(int m, const real *from, real *row) {
	if (m == PACK) {
		pack_store(row, pack_load(from));
	} else {
		memcpy(row, from, sizeof(real) * (size_t)m);
	}
}

void LANED(flexible_load)(const CalModel *model, const real *q, const real *u, const uint8_t *prescribed,
                          const real *udot, CalWork *work) {
	for (int f = 0; f < model->flex_count; ++f) {
		const Flex *flex = &model->flexes[f];
		FlexWork *w = &work->flex[f];
		w->accelerated = w->given = 0;
		take_row(flex->m, q + flex->q, w->eta);
		if (u) {
			take_row(flex->m, u + flex->u, w->eta_dot);
		} else {
			memset(w->eta_dot, 0, sizeof(real) * (size_t)flex->m);
		}
		if (!prescribed)
			memset(w->eta_ddot, 0, sizeof(real) * (size_t)flex->m);
		for (int k = 0; k < flex->m && prescribed; ++k) {
			const int given = prescribed[flex->u + k];
			w->given |= given;
			w->accelerated |= given && udot;
			w->eta_ddot[k] = given && udot ? udot[flex->u + k] : real_from(0);
		}
		w->linear = CAL_LANES == 1 && flex->linear && model->solver == CAL_SOLVER_RECURSIVE && !w->given;
	}
}

/* ---- outward ------------------------------------------------------------------------------- */

/* Relative motion in world axes: velocity, and acceleration without eta_ddot. */
typedef struct Relative {
	spatial v, rest;
} Relative;

/* The body frame on its head node, whose frame is N: everything of the node inverted. */
INLINE Relative place_frame(const Link *link, const FlexShape *shape, const FlexPose *node, int m, int n,
                            const LinkWork *base, CalWork *work, LinkWork *l) {
	const FlexPose *i = node;
	const mat3 N = link_inboard(link, &base->R);
	const mat3 nT = {{i->R.x.x, i->R.y.x, i->R.z.x}, {i->R.x.y, i->R.y.y, i->R.z.y}, {i->R.x.z, i->R.y.z, i->R.z.z}};
	real *columns = work->modal_columns + link->columns;
	l->R = mat_mul(N, nT);
	const vec3 rho = turn(&l->R, i->rho);
	l->r = sub(mat_mul_dvec(base->R, link->p), rho);
	memset(columns, 0, sizeof(real) * 6 * (size_t)n);
	if (shape->moves)
		flex_columns(shape, node, m, n, l->R, columns);
	for (int k = 0; k < n; k += PACK) { // [-S_a; S_a x rho - S_l]
		const pspatial S = pspatial_load(columns + k, n);
		const pvec3 turned = pvec_add(pvec_cross(rho, S.a), S.l);
		pspatial_store(columns + k, n, (pspatial){pvec_neg(S.a), pvec_neg(turned)});
	}
	const vec3 wr = cross(i->w, i->rho);
	const vec3 turning = sub(cross(i->w_rest, i->rho), cross(i->w, wr));
	const vec3 rest = sub(madd(turning, real_from(2), cross(i->w, i->v)), i->v_rest);
	return (Relative){turn_spatial(&l->R, (spatial){neg(i->w), sub(wr, i->v)}),
	                  turn_spatial(&l->R, (spatial){neg(i->w_rest), rest})};
}

/* A node on the body frame. */
INLINE Relative place_node(const Link *link, const Flex *flex, const FlexShape *shape, const FlexPose *node, int n,
                           const LinkWork *base, CalWork *work, LinkWork *l) {
	const mat3 R = flexible_axes(flex, base);
	l->R = mat_mul(R, node->R);
	l->r = turn(&R, node->rho);
	real *columns = work->modal_columns + link->columns;
	flex_columns(shape, node, flex->m, n, R, columns);
	Relative rel = {rows_sum_spatial(columns, n, work->flex[link->flex].eta_dot), {turn(&R, node->w_rest), vec_zero()}};
	if (shape->phi2)
		rel.rest.l = turn(&R, node->v_rest);
	return rel;
}

/* Rows of length n; motion: FLEX or NODE. */
INLINE void move_link(const CalModel *model, const Link *link, int motion, int n, const LinkWork *base, int rates,
                      CalWork *work, LinkWork *l) {
	const FlexShape *shape = &model->shapes[link->shape];
	const Flex *flex = &model->flexes[link->flex];
	const FlexWork *w = &work->flex[link->flex];
	FlexPose node;
	flex_pose(shape, flex->m, n, w->eta, rates ? w->eta_dot : NULL, &node);
	const Relative rel = motion == MOTION_FLEX ? place_frame(link, shape, &node, flex->m, n, base, work, l)
	                                           : place_node(link, flex, shape, &node, n, base, work, l);
	if (!rates)
		return;
	l->w = add(base->w, rel.v.a);
	l->al = add(add(base->al, rel.rest.a), cross(base->w, rel.v.a));
	const vec3 own = madd(rel.rest.l, real_from(2), cross(base->w, rel.v.l));
	l->a = add(add(base->a, mat_mul_vec(base->W, l->r)), own);
}

void LANED(flexible_motion)(const CalModel *model, const Link *link, const LinkWork *base, int rates, CalWork *work,
                            LinkWork *l) {
	const int n = model->flexes[link->flex].n;
	if (link->motion == MOTION_FLEX) {
		move_link(model, link, MOTION_FLEX, n, base, rates, work, l);
	} else if (SINGLE_PACK(n) && rates) {
		move_link(model, link, MOTION_NODE, PACK, base, 1, work, l);
	} else {
		move_link(model, link, MOTION_NODE, n, base, rates, work, l);
	}
}

void LANED(flexible_prescribe)(const Link *link, const CalModel *model, CalWork *work, LinkWork *l) {
	if (!work->flex[link->flex].accelerated)
		return;
	const spatial given = flexible_columns(model, link, work, work->flex[link->flex].eta_ddot);
	l->al = add(l->al, given.a);
	l->a = add(l->a, given.l);
}

/* M += h D + h^2 K: the elastic forces of an implicit step. */
static void stiffen(const Flex *flex, double h, real *M) {
	for (int i = 0; i < flex->m * flex->m; ++i)
		M[i / flex->m * flex->n + i % flex->m] += h * (flex->D ? flex->D[i] : 0.0) + h * h * flex->K[i];
}

/* Rows of length n. */
INLINE void own_terms(const Flex *flex, int n, const FlexRigid *rigid, int motion, const CalWork *work, FlexWork *w,
                      const LinkWork *l) {
	const mat3 R = flexible_axes(flex, l);
	FlexTerms terms = {w->E, motion && w->linear && !w->accelerated ? NULL : w->M, w->be, spatial_zero(), w->scratch};
	FlexInertia inertia;
	if (motion) {
		const FlexMotion in_body = {mat_tmul_vec(R, l->w), mat_tmul_vec(R, l->al), mat_tmul_vec(R, l->a)};
		const real *given = w->accelerated ? w->eta_ddot : NULL;
		flex_terms(flex, n, rigid, w->eta, w->eta_dot, given, &in_body, &inertia, &terms);
		w->b = turn_spatial(&R, terms.force);
	} else {
		flex_terms(flex, n, rigid, w->eta, NULL, NULL, NULL, &inertia, &terms);
	}
	if (work->implicit_step != 0 && terms.M)
		stiffen(flex, work->implicit_step, w->M);
	w->own = (Composite){inertia.m, turn(&R, inertia.mc), sym_rotate(inertia.S, R)};
	for (int k = 0; k < n; k += PACK) {
		const pspatial E = pspatial_load(w->E + k, n);
		pspatial_store(w->E + k, n, (pspatial){mat_mul_pvec(R, E.a), mat_mul_pvec(R, E.l)});
	}
}

void LANED(flexible_own)(const CalModel *model, int f, const FlexRigid *rigid, int motion, CalWork *work,
                         const LinkWork *l) {
	const Flex *flex = &model->flexes[f];
	if (SINGLE_PACK(flex->n) && motion) {
		own_terms(flex, PACK, rigid, 1, work, &work->flex[f], l);
	} else {
		own_terms(flex, flex->n, rigid, motion, work, &work->flex[f], l);
	}
}

/* ---- inward -------------------------------------------------------------------------------- */

INLINE pspatial artic_mul_pack(const Artic *a, pspatial m) {
	return (pspatial){pvec_add(sym_mul_pvec(a->I, m.a), mat_mul_pvec(a->H, m.l)),
	                  pvec_add(mat_tmul_pvec(a->H, m.a), sym_mul_pvec(a->M, m.l))};
}

/* M += S'Y in the upper triangle of blocks: row i, from its own block on. */
INLINE void add_product(int m, int n, const real *S, const real *Y, real *M) {
	for (int i = 0; i < m; ++i) {
		const spatial s = rows_mode(S, n, i);
		for (int k = i / PACK * PACK; k < n; k += PACK)
			pack_store(M + i * n + k, pack_add(pack_load(M + i * n + k), pspatial_dot(s, pspatial_load(Y + k, n))));
	}
}

/* Inertia at a node: Y = M^a S, E += X'Y, M_ee += S'Y. */
INLINE void add_node_inertia(const Artic *M, vec3 r, int m, int n, const real *S, FlexWork *w) {
	for (int k = 0; k < n; k += PACK) {
		const pspatial Y = artic_mul_pack(M, pspatial_load(S + k, n));
		pspatial_store(w->Y + k, n, Y);
		pspatial_store(w->E + k, n, pspatial_add(pspatial_load(w->E + k, n), pforce_shift(Y, r)));
	}
	add_product(m, n, S, w->Y, w->M);
}

void LANED(flexible_node)(const CalModel *model, const Link *link, const Artic *M, const spatial *b, CalWork *work) {
	const int m = model->flexes[link->flex].m, n = model->flexes[link->flex].n;
	FlexWork *w = &work->flex[link->flex];
	const real *S = work->modal_columns + link->columns;
	for (int k = 0; k < n && b; k += PACK)
		pack_store(w->be + k, pack_add(pack_load(w->be + k), pspatial_dot(*b, pspatial_load(S + k, n))));
	if (!M)
		return;
	const vec3 r = work->links[link - model->links].r;
	if (SINGLE_PACK(m)) {
		add_node_inertia(M, r, PACK, PACK, S, w);
	} else {
		add_node_inertia(M, r, m, n, S, w);
	}
}

void LANED(flexible_head)(const CalModel *model, const Link *link, const Artic *M, CalWork *work) {
	const int m = model->flexes[link->flex].m, n = model->flexes[link->flex].n;
	FlexWork *w = &work->flex[link->flex];
	const real *P = work->modal_columns + link->columns;
	if (!model->shapes[link->shape].moves)
		return;
	// M_ee += P'(E + M P) + E'P, then E += M P
	for (int k = 0; k < n; k += PACK)
		pspatial_store(w->Y + k, n, artic_mul_pack(M, pspatial_load(P + k, n)));
	add_product(m, n, w->E, P, w->M);
	for (int k = 0; k < n; k += PACK)
		pspatial_store(w->E + k, n, pspatial_add(pspatial_load(w->E + k, n), pspatial_load(w->Y + k, n)));
	add_product(m, n, P, w->E, w->M);
}

/* The rest of each row, where prescribed modes may stand before the one that is eliminated. */
static void fill_rows(int m, int n, real *M) {
	for (int i = 0; i < m; ++i) {
		for (int k = 0; k < i / PACK * PACK; ++k)
			M[i * n + k] = M[k * n + i];
	}
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

/*
 * Mode j out of the modes that are left (1 in `left`): its row becomes column j of L; `from` is the first pack in which
 * any is left.
 */
INLINE void eliminate_mode(int m, int n, int j, int from, FlexWork *w) {
	real *row = w->M + j * n;
	const real inverse = 1.0 / row[j];
	const spatial U = rows_mode(w->E, n, j);
	w->inverse[j] = inverse;
	w->left[j] = real_from(0);
	for (int k = from; k < n; k += PACK) {
		const pack own = pack_load(row + k), L = pack_mul(pack_times(inverse, own), pack_load(w->left + k));
		pack_store(w->Y + k, own);
		pack_store(row + k, L);
		pspatial_store(w->E + k, n, pspatial_sub_outer(pspatial_load(w->E + k, n), U, L));
	}
	for (int i = from; i < m; ++i) {
		const real L = row[i];
		for (int k = from; k < n; k += PACK)
			pack_store(w->M + i * n + k, pack_msub(pack_load(w->M + i * n + k), L, pack_load(w->Y + k)));
	}
}

/* Products of the rows of U and K, summed over the modes: U K' is symmetric. */
typedef struct OuterSum {
	pack I[6], H[9], M[6];
} OuterSum;

INLINE pack outer_term(pack sum, int first, pack u, pack k) { return first ? pack_mul(u, k) : pack_mac(sum, u, k); }

INLINE void outer_add(OuterSum *s, int first, pspatial U, pspatial K) {
	s->I[0] = outer_term(s->I[0], first, U.a.x, K.a.x), s->I[1] = outer_term(s->I[1], first, U.a.y, K.a.y);
	s->I[2] = outer_term(s->I[2], first, U.a.z, K.a.z), s->I[3] = outer_term(s->I[3], first, U.a.x, K.a.y);
	s->I[4] = outer_term(s->I[4], first, U.a.x, K.a.z), s->I[5] = outer_term(s->I[5], first, U.a.y, K.a.z);
	s->H[0] = outer_term(s->H[0], first, U.a.x, K.l.x), s->H[1] = outer_term(s->H[1], first, U.a.y, K.l.x);
	s->H[2] = outer_term(s->H[2], first, U.a.z, K.l.x), s->H[3] = outer_term(s->H[3], first, U.a.x, K.l.y);
	s->H[4] = outer_term(s->H[4], first, U.a.y, K.l.y), s->H[5] = outer_term(s->H[5], first, U.a.z, K.l.y);
	s->H[6] = outer_term(s->H[6], first, U.a.x, K.l.z), s->H[7] = outer_term(s->H[7], first, U.a.y, K.l.z);
	s->H[8] = outer_term(s->H[8], first, U.a.z, K.l.z), s->M[0] = outer_term(s->M[0], first, U.l.x, K.l.x);
	s->M[1] = outer_term(s->M[1], first, U.l.y, K.l.y), s->M[2] = outer_term(s->M[2], first, U.l.z, K.l.z);
	s->M[3] = outer_term(s->M[3], first, U.l.x, K.l.y), s->M[4] = outer_term(s->M[4], first, U.l.x, K.l.z);
	s->M[5] = outer_term(s->M[5], first, U.l.y, K.l.z);
}

INLINE Artic artic_sub_sums(Artic a, const OuterSum *s) {
	const Sums i0 = pack_sums(s->I[0], s->I[1], s->I[2], s->I[3]), i1 = pack_sums(s->I[4], s->I[5], s->H[0], s->H[1]);
	const Sums h0 = pack_sums(s->H[2], s->H[3], s->H[4], s->H[5]), h1 = pack_sums(s->H[6], s->H[7], s->H[8], s->M[0]);
	const Sums m0 = pack_sums(s->M[1], s->M[2], s->M[3], s->M[4]);
	a.I = (sym3){a.I.xx - i0.a, a.I.yy - i0.b, a.I.zz - i0.c, a.I.xy - i0.d, a.I.xz - i1.a, a.I.yz - i1.b};
	a.H.x = sub(a.H.x, (vec3){i1.c, i1.d, h0.a});
	a.H.y = sub(a.H.y, (vec3){h0.b, h0.c, h0.d});
	a.H.z = sub(a.H.z, (vec3){h1.a, h1.b, h1.c});
	a.M = (sym3){a.M.xx - h1.d, a.M.yy - m0.a, a.M.zz - m0.b, a.M.xy - m0.c, a.M.xz - m0.d, a.M.yz - pack_sum(s->M[5])};
	return a;
}

/* Notes the first pivot that is lost. */
INLINE void note_pivot(const Flex *flex, CalWork *work, int j, int verdict, int *culprit) {
	if (LIKELY(verdict == PIVOT_GOOD) || *culprit >= 0)
		return;
	*culprit = flex->u + j;
	work->dofs[*culprit].d = real_from(verdict == PIVOT_LOST ? (double)INFINITY : (double)NAN);
}

/* Zeros up to lane j, then ones. */
INLINE pack lanes_after(int j) {
	static const double after[2 * PACK] = {0, 0, 0, 0, 1, 1, 1, 1};
	return pack_const(after + PACK - 1 - j);
}

/* The same for four free modes, which fit in registers; then all there is to do. y NULL: without the forces. */
INLINE int eliminate_four(const Flex *flex, CalWork *work, FlexWork *w, Artic *M, pack *y, spatial *b) {
	pspatial E = pspatial_load(w->E, PACK);
	pack row[PACK];
	real diagonal[PACK], inverse[PACK];
	int culprit = -1;
	for (int j = 0; j < PACK; ++j) {
		row[j] = pack_load(w->M + j * PACK);
		diagonal[j] = pack_lane(row[j], j);
	}
#pragma GCC unroll 4
	for (int j = 0; j < PACK; ++j) {
		const real pivot = pack_lane(row[j], j);
		inverse[j] = 1.0 / pivot;
		const pack scaled = pack_times(inverse[j], row[j]), L = pack_mul(scaled, lanes_after(j));
		pack_store(w->M + j * PACK, L);
		note_pivot(flex, work, j, judge_pivot(pivot, diagonal[j]), &culprit);
#pragma GCC unroll 4
		for (int i = j + 1; i < PACK; ++i)
			row[i] = pack_msub(row[i], pack_lane(scaled, i), row[j]);
		if (j + 1 < PACK) {
			E = pspatial_sub_outer(E, pspatial_lane(E, j), L);
			if (y)
				*y = pack_msub(*y, pack_lane(*y, j), L);
		}
	}
	const pack d = pack_from(inverse[0], inverse[1], inverse[2], inverse[3]);
	const pspatial K = {pvec_scale(E.a, d), pvec_scale(E.l, d)};
	OuterSum outer;
	outer_add(&outer, 1, E, K);
	pack_store(w->inverse, d);
	pspatial_store(w->K, PACK, K);
	*M = artic_sub_sums(*M, &outer);
	if (y)
		*b = spatial_sub(*b, pspatial_sum(pvec_scale(K.a, *y), pvec_scale(K.l, *y)));
	return culprit;
}

int LANED(flexible_eliminate)(const CalModel *model, int f, const uint8_t *prescribed, CalWork *work, Artic *M) {
	const Flex *flex = &model->flexes[f];
	FlexWork *w = &work->flex[f];
	const int m = flex->m, n = flex->n, given = prescribed && w->given;
	int culprit = -1;
	if (m == PACK && !given)
		return eliminate_four(flex, work, w, M, NULL, NULL);
	if (given)
		fill_rows(m, n, w->M);
	for (int k = 0; k < m; ++k) {
		w->left[k] = real_from(1);
		w->diagonal[k] = w->M[k * n + k];
	}
	for (int j = 0; j < m; ++j) {
		w->inverse[j] = real_from(0);
		if (given && prescribed[flex->u + j])
			continue;
		note_pivot(flex, work, j, judge_pivot(w->M[j * n + j], w->diagonal[j]), &culprit);
		eliminate_mode(m, n, j, given ? 0 : j / PACK * PACK, w);
	}
	OuterSum outer;
	memset(&outer, 0, sizeof outer);
	for (int k = 0; k < n; k += PACK) {
		const pspatial U = pspatial_load(w->E + k, n);
		const pack d = pack_load(w->inverse + k);
		const pspatial K = {pvec_scale(U.a, d), pvec_scale(U.l, d)};
		pspatial_store(w->K + k, n, K);
		outer_add(&outer, 0, U, K);
	}
	*M = artic_sub_sums(*M, &outer);
	return culprit;
}

void LANED(flexible_reduce)(const CalModel *model, const Link *link, const uint8_t *prescribed, const real *tau,
                            CalWork *work, spatial *b) {
	const Flex *flex = &model->flexes[link->carries];
	FlexWork *w = &work->flex[link->carries];
	const int m = flex->m, n = flex->n, given = prescribed && w->given;
	if (link->motion == MOTION_FLEX && flex->head.moves) {
		const real *P = work->modal_columns + link->columns;
		for (int k = 0; k < n; k += PACK)
			pack_store(w->be + k, pack_add(pack_load(w->be + k), pspatial_dot(*b, pspatial_load(P + k, n))));
	}
	for (int k = 0; k < n; ++k) // padding too: what is not a number must not stay
		w->y[k] = k < m ? w->be[k] - tau[flex->u + k] : real_from(0);
	for (int j = 0; j < m; ++j) {
		if (given && prescribed[flex->u + j])
			continue;
		const real y = w->y[j];
		for (int k = given ? 0 : j / PACK * PACK; k < n; k += PACK)
			pack_store(w->y + k, pack_msub(pack_load(w->y + k), y, pack_load(w->M + j * n + k)));
	}
	*b = spatial_sub(*b, rows_sum_spatial(w->K, n, w->y));
}

/* Inertia and forces at once. */
int LANED(flexible_pass)(const CalModel *model, const Link *link, const uint8_t *prescribed, const real *tau,
                         CalWork *work, Slot *total) {
	const Flex *flex = &model->flexes[link->carries];
	FlexWork *w = &work->flex[link->carries];
	if (link->motion == MOTION_FLEX)
		LANED(flexible_head)(model, link, &total->M, work);
	if (flex->m == PACK && !w->given && link->motion != MOTION_FLEX) {
		const real *t = tau + flex->u;
		pack y = pack_sub(pack_load(w->be), pack_load(t));
		spatial b = total->b;
		const int culprit = eliminate_four(flex, work, w, &total->M, &y, &b);
		total->b = b;
		pack_store(w->y, y);
		return culprit;
	}
	const int culprit = LANED(flexible_eliminate)(model, link->carries, prescribed, work, &total->M);
	LANED(flexible_reduce)(model, link, prescribed, tau, work, &total->b);
	return culprit;
}

/* ---- outward again ------------------------------------------------------------------------- */

/* Four free modes. */
INLINE void accelerate_four(FlexWork *w, real *udot, spatial A) {
	const real *L = w->M;
	const pack t =
		pack_add(pack_mul(pack_load(w->y), pack_load(w->inverse)), pspatial_dot(A, pspatial_load(w->K, PACK)));
	const real x3 = -pack_lane(t, 3), x2 = -(pack_lane(t, 2) + L[11] * x3);
	const real x1 = -(pack_lane(t, 1) + (L[6] * x2 + L[7] * x3));
	const real x0 = -(pack_lane(t, 0) + (L[2] * x2 + (L[1] * x1 + L[3] * x3)));
	const pack x = pack_from(x0, x1, x2, x3);
	pack_store(w->x, x);
	pack_store(udot, x);
}

/* x_j = -(y_j/D_j + K_j'A + sum L x), last mode first. */
void LANED(flexible_accelerate)(const CalModel *model, const Link *link, const uint8_t *prescribed, CalWork *work,
                                real *udot, real *force, spatial *A) {
	const Flex *flex = &model->flexes[link->carries];
	FlexWork *w = &work->flex[link->carries];
	const int m = flex->m, n = flex->n, given = prescribed && w->given;
	if (m == PACK && !given && link->motion != MOTION_FLEX) {
		accelerate_four(w, udot + flex->u, *A);
		return;
	}
	for (int k = 0; k < n; k += PACK) {
		const pack dy = pack_mul(pack_load(w->y + k), pack_load(w->inverse + k));
		pack_store(w->Y + k, pack_add(dy, pspatial_dot(*A, pspatial_load(w->K + k, n))));
		pack_store(w->x + k, pack_zero());
	}
	for (int j = m - 1; j >= 0; --j) {
		if (given && prescribed[flex->u + j]) {
			udot[flex->u + j] = w->eta_ddot[j];
			if (force)
				force[flex->u + j] = w->y[j] + spatial_dot(rows_mode(w->E, n, j), *A);
			continue;
		}
		pack sum = pack_zero();
		for (int k = given ? 0 : j / PACK * PACK; k < n; k += PACK)
			sum = pack_mac(sum, pack_load(w->M + j * n + k), pack_load(w->x + k));
		w->x[j] = -(w->Y[j] + pack_sum(sum));
		udot[flex->u + j] = w->x[j];
	}
	if (link->motion == MOTION_FLEX)
		*A = spatial_add(*A, flexible_columns(model, link, work, w->x));
}
