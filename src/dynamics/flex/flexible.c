// SPDX-License-Identifier: Apache-2.0
/*
 * flexible.c — the part of the recursion that flexible bodies add [THEORY 3.2, 4.2, (4.8)-(4.11)].
 *
 * With A the acceleration of B and x the modal accelerations, both beyond the bias:
 *   outboard node     A_i = X_i A + Phi_i x: its inertia M^a and force b^a act on the modes,
 *                     E += X'M^a Phi,  M_ee += Phi'M^a Phi,  be += Phi'b^a  (and on B as those of any link)
 *   body              F = M_rr A + E x + b,   tau = M_ee x + E'A + be
 *   head that moves   A = X A_h + Phi x with the columns of B on its head: E += M_rr Phi,
 *                     M_ee += Phi'E + E'Phi + Phi'M_rr Phi, be += Phi'b
 *   elimination       M_ee = L D L' with unit L; modes go one after the other like the dofs of a joint: U = what is
 *                     left of column E_k, K = U/D,  M^ = M^ - U K',  b^ = b^ - K y_k, y = L^-1(be - tau)
 *                     and outward, last mode first, x_k = -y_k/D - K'A - sum_j L_jk x_j
 * A prescribed mode is not eliminated: the others leave it with its row of the equations, which give its force; its
 * acceleration is in the bias. Rows are over modes, packs at a time (math/pack.h); of the modal mass the upper triangle
 * of packs is kept, and after elimination row k holds column k of L.
 *
 * A fused body (flexbody/flex_body.h) is taken at once with its node: nothing of it goes through memory in between,
 * and while its pivots wait for each other the processor forms the own terms of the next one. The bits are those of the
 * separate steps.
 */
#include "dynamics/flex/flexible_four.h"
#include "dynamics/flex/node_sums.h"
#include "dynamics/flex/user_link.h"
#include "flexbody/flex_pose.h"
#include "flexbody/flex_terms.h"
#include "math/trio_inertia.h"

/* Bodies with a single pack of modes have kernels of their own; with lanes they would only cost compile time. */
#define SINGLE_PACK(n) (CAL_LANES == 1 && (n) == PACK)

INLINE vec3 rotate(const mat3 *R, vec3 v) { return mat_mul_vec(*R, v); }
INLINE spatial rotate_spatial(const mat3 *R, spatial s) { return (spatial){rotate(R, s.a), rotate(R, s.l)}; }

/* Padding stays zero. */
INLINE void load_row(int m, const real *from, real *row) {
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
		load_row(flex->m, q + flex->q, w->eta);
		if (u) {
			load_row(flex->m, u + flex->u, w->eta_dot);
		} else {
			memset(w->eta_dot, 0, sizeof(real) * (size_t)flex->m);
		}
		for (int k = 0; k < flex->n && !prescribed; k += PACK)
			pack_store(w->eta_ddot + k, pack_zero());
		for (int k = 0; k < flex->m && prescribed; ++k) {
			const int given = prescribed[flex->u + k];
			w->given |= given;
			w->accelerated |= given && udot;
			w->eta_ddot[k] = given && udot ? udot[flex->u + k] : real_from(0);
		}
		const int special = CAL_LANES == 1 && model->solver == CAL_SOLVER_RECURSIVE && !w->given;
		w->by_ports = special && flex->by_ports;
		w->fused = special && flex->fused;
		w->lazy = 0;
		if (w->fused && f > 0)
			w[-1].lazy = w[-1].fused;
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
	const vec3 rho = rotate(&l->R, i->rho);
	l->r = sub(mat_mul_dvec(base->R, link->p), rho);
	memset(columns, 0, sizeof(real) * 6 * (size_t)n);
	if (shape->moves)
		flex_columns(shape, m, n, shape->phi2, l->R, mat_mul(l->R, node->T), node->eta, columns);
	for (int k = 0; k < n; k += PACK) { // [-Phi_a; Phi_a x rho - Phi_l]
		const pspatial Phi = pspatial_load(columns + k, n);
		const pvec3 turned = pvec_add(pvec_cross(rho, Phi.a), Phi.l);
		pspatial_store(columns + k, n, (pspatial){pvec_neg(Phi.a), pvec_neg(turned)});
	}
	const vec3 wr = cross(i->w, i->rho);
	const vec3 turning = sub(cross(i->w_rest, i->rho), cross(i->w, wr));
	const vec3 rest = sub(madd(turning, real_from(2), cross(i->w, i->v)), i->v_rest);
	return (Relative){rotate_spatial(&l->R, (spatial){neg(i->w), sub(wr, i->v)}),
	                  rotate_spatial(&l->R, (spatial){neg(i->w_rest), rest})};
}

/*
 * A node on the body frame. exp and T are polynomials in [theta]x: so are their products with R, of P = R [theta]x and
 * Q = P [theta]x, and what the rate of theta needs (flex_pose.h has the formulas in B). What does not wait for the
 * coefficients comes first.
 */
INLINE Relative place_node(const Link *link, const Flex *flex, const FlexShape *shape, int n, const double *phi2,
                           const LinkWork *base, CalWork *work, LinkWork *l) {
	const FlexWork *w = &work->flex[link->flex];
	const mat3 axes = flexible_axes(flex, base);
	NodeSums s = link->interface & INTERFACE_SUMS ? w->kept : node_sums(shape, n, w);
	const ExpCoefficients e = {s.a, s.b, s.c, s.b_s, s.c_s};
	vec3 rest = vec_zero();
	s.rho = add(vec_from(shape->p), s.rho);
	if (phi2) {
		s.rho = add(s.rho, LANED(flex_second_order)(phi2, flex->m, w->eta, w->eta));
		s.v = madd(s.v, real_from(2), LANED(flex_second_order)(phi2, flex->m, w->eta_dot, w->eta));
		rest = scale(real_from(2), LANED(flex_second_order)(phi2, flex->m, w->eta_dot, w->eta_dot));
	}
	const trio3 R = trio3_from(axes), P = trio3_cross(R, s.t), Q = trio3_cross(P, s.t);
	const trio Rr = trio3_mul(R, s.rate), Pr = trio3_mul(P, s.rate), Qr = trio3_mul(Q, s.rate), Rt = trio3_mul(R, s.t);
	const real tr = dot(s.t, s.rate), rr = dot(s.rate, s.rate);
	const trio bent = trio_sub(trio_times(rr, Rt), trio_times(tr, Rr));
	l->r = trio_vec(trio3_mul(R, s.rho));
	trio3 N = trio3_madd(trio3_madd(R, e.a, P), e.b, Q);
	if (shape->turned)
		N = trio3_mul_dmat(N, shape->E);
	l->R = trio3_mat(N);
	// w = T rate,  T_dot rate = 2(t.rate)(b_s t x rate + c_s t x (t x rate)) + c (rate.rate t - t.rate rate)
	const trio along = trio_madd(trio_times(e.b_s, Pr), e.c_s, Qr);
	const Relative rel = {
		{trio_vec(trio_madd(trio_madd(Rr, e.b, Pr), e.c, Qr)), trio_vec(trio3_mul(R, s.v))},
		{trio_vec(trio_madd(trio_times(2.0 * tr, along), e.c, bent)), phi2 ? trio_vec(trio3_mul(R, rest)) : rest}};
	flex_columns(shape, flex->m, n, phi2, axes, trio3_mat(trio3_madd(trio3_madd(R, e.b, P), e.c, Q)), w->eta,
	             work->modal_columns + link->columns);
	return rel;
}

/* Rows of length n; motion: FLEX or NODE. */
INLINE void move_link(const CalModel *model, const Link *link, int motion, int n, const double *phi2,
                      const LinkWork *base, int rates, CalWork *work, LinkWork *l) {
	const FlexShape *shape = &model->shapes[link->shape];
	const Flex *flex = &model->flexes[link->flex];
	const FlexWork *w = &work->flex[link->flex];
	Relative rel;
	if (motion == PRIMITIVE_FLEX) {
		FlexPose head;
		flex_pose(shape, flex->m, n, w->eta, rates ? w->eta_dot : NULL, &head);
		rel = place_frame(link, shape, &head, flex->m, n, base, work, l);
	} else {
		rel = place_node(link, flex, shape, n, phi2, base, work, l);
	}
	if (!rates)
		return;
	l->w = add(base->w, rel.v.a);
	l->al = add(add(base->al, rel.rest.a), cross(base->w, rel.v.a));
	const vec3 own = madd(rel.rest.l, real_from(2), cross(base->w, rel.v.l));
	l->a = add(add(base->a, acceleration_at(base->w, base->al, l->r)), own);
}

void LANED(flexible_motion)(const CalModel *model, const Link *link, const LinkWork *base, int rates, CalWork *work,
                            LinkWork *l) {
	const int n = model->flexes[link->flex].n;
	const double *phi2 = model->shapes[link->shape].phi2;
#if CAL_LANES == 1
	if (UNLIKELY(model->flexes[link->flex].ops) && link->motion == PRIMITIVE_NODE) {
		user_link_motion(model, link, base, rates, work, l);
		return;
	}
#endif
	if (link->motion == PRIMITIVE_FLEX) {
		move_link(model, link, PRIMITIVE_FLEX, n, phi2, base, rates, work, l);
	} else if (SINGLE_PACK(n) && rates && !phi2) {
		move_link(model, link, PRIMITIVE_NODE, PACK, NULL, base, 1, work, l);
	} else {
		move_link(model, link, PRIMITIVE_NODE, n, phi2, base, rates, work, l);
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

/* R s R': with s_zz taken out, five numbers are left (see DInertia): s_zz 1 + xp' + px' + yq' + qy'. */
INLINE sym3 turn_second_moment(sym3 s, const trio3 *R) {
	const real ha = 0.5 * (s.xx - s.zz), hb = 0.5 * (s.yy - s.zz);
	const trio x = R->x, y = R->y, p = trio_madd(trio_madd(trio_times(ha, x), s.xy, y), s.xz, R->z);
	const trio q = trio_madd(trio_times(hb, y), s.yz, R->z);
	const trio half = trio_add(trio_mul(x, p), trio_mul(y, q));
	const vec3 on = trio_vec(trio_add(half, half));
	const trio xp = trio_add(trio_mul(x, trio_next(p)), trio_mul(p, trio_next(x)));
	const trio yq = trio_add(trio_mul(y, trio_next(q)), trio_mul(q, trio_next(y)));
	const vec3 off = trio_vec(trio_add(xp, yq)); // xy, yz, zx
	return (sym3){s.zz + on.x, s.zz + on.y, s.zz + on.z, off.x, off.z, off.y};
}

/* Force that a body needs in a motion (w, W, a): rate = sum E_k eta_dot_k, D = sum D_k eta_dot_k (flex_terms.h). */
INLINE spatial own_force(const FlexInertia *in, vec3 w, mat3 W, vec3 a, spatial rate, vec3 D) {
	const real two = real_from(2);
	const vec3 f = madd(mat_mul_vec(W, in->mc), in->m, a);
	const vec3 n = add(second_moment_torque(in->Sigma, W), cross(in->mc, a));
	return (spatial){add(madd(n, two, D), cross(w, rate.a)), madd(f, two, cross(w, rate.l))};
}

/* E in world axes, be, inertia and force, but for the masses that are summed. */
INLINE void own_invariants(const Flex *flex, int n, const FlexRigid *rigid, int motion, FlexWork *w,
                           const LinkWork *l) {
	const mat3 R = flexible_axes(flex, l);
	const vec3 in_body = motion ? mat_tmul_vec(R, l->w) : vec_zero();
	const spatial A = {l->al, l->a};
	ModalSums sum;
	pspatial rate = {pvec_zero(), pvec_zero()};
	modal_sums_clear(&sum);
	for (int k = 0; k < n; k += PACK) {
		pack be;
		const pspatial E = modal_part(flex, n, k, w->eta, w->eta_dot, in_body, &sum, motion ? &be : NULL);
		const pspatial turned = {mat_mul_pvec(R, E.a), mat_mul_pvec(R, E.l)};
		pspatial_store(w->E + k, n, turned);
		if (!motion)
			continue;
		pack_store(w->be + k, pack_add(be, pspatial_dot(A, turned)));
		const pack eta_dot = pack_load(w->eta_dot + k);
		rate.a = sum_term_vec(n, rate.a, turned.a, eta_dot);
		rate.l = sum_term_vec(n, rate.l, turned.l, eta_dot);
	}
	vec3 D;
	FlexInertia inertia = modal_inertia(flex, rigid, motion, &sum, &D);
	const trio3 axes = flex->turned ? trio3_from(R) : trio3_load(&l->R);
	inertia.mc = trio_vec(trio3_mul(axes, inertia.mc));
	inertia.Sigma = turn_second_moment(inertia.Sigma, &axes);
	w->own = (Composite){inertia.m, inertia.mc, inertia.Sigma};
	if (motion)
		w->b = own_force(&inertia, l->w, acceleration_field(l->w, l->al), l->a, pspatial_sum(rate.a, rate.l),
		                 trio_vec(trio3_mul(axes, D)));
}

/* What the prescribed accelerations of modes need, then the modal mass of an implicit step. */
INLINE void finish_own_inertia(const Flex *flex, int motion, const CalWork *work, FlexWork *w, FlexTerms *terms) {
	if (motion && w->accelerated)
		prescribed_force(flex, w->eta_ddot, terms);
	if (work->implicit_step != 0)
		stiffen(flex, work->implicit_step, w->M);
}

INLINE void load_modal_mass(const Flex *flex, int n, real *M) {
	for (int i = 0; i < flex->m * n; i += PACK)
		pack_store(M + i, pack_const(flex->Mee + i));
}

/* Rows of length n. */
INLINE void own_terms(const Flex *flex, int n, const FlexRigid *rigid, int motion, const CalWork *work, FlexWork *w,
                      const LinkWork *l) {
	own_invariants(flex, n, rigid, motion, w, l);
	if (motion && w->by_ports && !w->accelerated)
		return;
	FlexTerms terms = {w->E, w->M, w->be, w->b, w->scratch};
	load_modal_mass(flex, n, w->M);
	finish_own_inertia(flex, motion, work, w, &terms);
	w->b = terms.force;
}

/* The same where masses are summed, which is done in body axes. */
static void own_summed(const Flex *flex, const FlexRigid *rigid, int motion, const CalWork *work, FlexWork *w,
                       const LinkWork *l) {
	const int n = flex->n, weighed = flex->inv.components != 0; // s1 counts: not with the masses that are summed
	const mat3 R = flexible_axes(flex, l);
	const vec3 o = vec_zero();
	FlexMotion in = {o, o, o};
	if (motion)
		in = (FlexMotion){mat_tmul_vec(R, l->w), mat_tmul_vec(R, l->al), mat_tmul_vec(R, l->a)};
	const mat3 W = acceleration_field(in.w, in.al);
	const spatial A = {in.al, weighed ? in.a : o};
	ModalSums sum;
	modal_sums_clear(&sum);
	for (int k = 0; k < n; k += PACK) {
		pack be;
		const pspatial E = modal_part(flex, n, k, w->eta, w->eta_dot, in.w, &sum, motion ? &be : NULL);
		pspatial_store(w->E + k, n, E);
		if (motion)
			pack_store(w->be + k, pack_add(be, pspatial_dot(A, E)));
	}
	vec3 D;
	FlexInertia inertia = modal_inertia(flex, rigid, motion, &sum, &D);
	FlexTerms terms = {w->E, w->M, w->be, spatial_zero(), w->scratch};
	if (motion) {
		spatial rate = rows_sum_spatial(w->E, n, w->eta_dot);
		rate.l = weighed ? rate.l : o;
		terms.force = own_force(&inertia, in.w, W, in.a, rate, D);
	}
	load_modal_mass(flex, n, w->M);
	LANED(flex_add_masses)(flex, w->eta, w->eta_dot, motion ? &in : NULL, &W, &inertia, &terms);
	if (flex->geometric)
		LANED(flex_add_geometric)(flex, w->eta, w->eta_dot, motion ? &in : NULL, &W, &inertia, &terms);
	finish_own_inertia(flex, motion, work, w, &terms);
	w->b = rotate_spatial(&R, terms.force);
	const trio3 axes = trio3_from(R);
	w->own = (Composite){inertia.m, rotate(&R, inertia.mc), turn_second_moment(inertia.Sigma, &axes)};
	for (int k = 0; k < n; k += PACK) {
		const pspatial E = pspatial_load(w->E + k, n);
		pspatial_store(w->E + k, n, (pspatial){mat_mul_pvec(R, E.a), mat_mul_pvec(R, E.l)});
	}
}

void LANED(flexible_own)(const CalModel *model, int f, const FlexRigid *rigid, int motion, CalWork *work,
                         const LinkWork *l) {
	const Flex *flex = &model->flexes[f];
	if (flex->summed_first < flex->mass_count || flex->geometric) {
		own_summed(flex, rigid, motion, work, &work->flex[f], l);
	} else if (SINGLE_PACK(flex->n) && motion) {
		own_terms(flex, PACK, rigid, 1, work, &work->flex[f], l);
	} else {
		own_terms(flex, flex->n, rigid, motion, work, &work->flex[f], l);
	}
#if CAL_LANES == 1
	if (UNLIKELY(flex->ops))
		user_link_add(flex, motion, &work->flex[f], l);
#endif
}

/* ---- inward -------------------------------------------------------------------------------- */

INLINE pspatial articulated_mul_pack(const ArticulatedInertia *a, pspatial m) {
	return (pspatial){pvec_add(sym_mul_pvec(a->I, m.a), mat_mul_pvec(a->H, m.l)),
	                  pvec_add(mat_tmul_pvec(a->H, m.a), sym_mul_pvec(a->M, m.l))};
}

/* M += left'right in the upper triangle of blocks: row i, from its own block on. */
INLINE void add_product(int m, int n, const real *left, const real *right, real *M) {
	for (int i = 0; i < m; ++i) {
		const spatial s = rows_mode(left, n, i);
		for (int k = i / PACK * PACK; k < n; k += PACK)
			pack_store(M + i * n + k, pack_add(pack_load(M + i * n + k), pspatial_dot(s, pspatial_load(right + k, n))));
	}
}

/* Inertia at a node: Y = M^a Phi, E += X'Y, M_ee += Phi'Y. */
INLINE void add_node_inertia(const ArticulatedInertia *M, vec3 r, int m, int n, const real *Phi, FlexWork *w) {
	for (int k = 0; k < n; k += PACK) {
		const pspatial Y = articulated_mul_pack(M, pspatial_load(Phi + k, n));
		pspatial_store(w->Y + k, n, Y);
		pspatial_store(w->E + k, n, pspatial_add(pspatial_load(w->E + k, n), pforce_shift(Y, r)));
	}
	add_product(m, n, Phi, w->Y, w->M);
}

void LANED(flexible_node)(const CalModel *model, const Link *link, const ArticulatedInertia *M, const spatial *b,
                          CalWork *work) {
	const int m = model->flexes[link->flex].m, n = model->flexes[link->flex].n;
	FlexWork *w = &work->flex[link->flex];
	const real *Phi = work->modal_columns + link->columns;
	for (int k = 0; k < n && b; k += PACK)
		pack_store(w->be + k, pack_add(pack_load(w->be + k), pspatial_dot(*b, pspatial_load(Phi + k, n))));
	if (!M)
		return;
	const vec3 r = work->links[link - model->links].r;
	if (SINGLE_PACK(m)) {
		add_node_inertia(M, r, PACK, PACK, Phi, w);
	} else {
		add_node_inertia(M, r, m, n, Phi, w);
	}
}

void LANED(flexible_head)(const CalModel *model, const Link *link, const ArticulatedInertia *M, CalWork *work) {
	const int m = model->flexes[link->flex].m, n = model->flexes[link->flex].n;
	FlexWork *w = &work->flex[link->flex];
	const real *Phi = work->modal_columns + link->columns;
	if (!model->shapes[link->shape].moves)
		return;
	// M_ee += Phi'(E + M Phi) + E'Phi, then E += M Phi
	for (int k = 0; k < n; k += PACK)
		pspatial_store(w->Y + k, n, articulated_mul_pack(M, pspatial_load(Phi + k, n)));
	add_product(m, n, w->E, Phi, w->M);
	for (int k = 0; k < n; k += PACK)
		pspatial_store(w->E + k, n, pspatial_add(pspatial_load(w->E + k, n), pspatial_load(w->Y + k, n)));
	add_product(m, n, Phi, w->E, w->M);
}

/* The rest of each row, where prescribed modes may stand before the one that is eliminated. */
static void fill_modal_rows(int m, int n, real *M) {
	for (int i = 0; i < m; ++i) {
		for (int k = 0; k < i / PACK * PACK; ++k)
			M[i * n + k] = M[k * n + i];
	}
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

int LANED(flexible_eliminate)(const CalModel *model, int f, const uint8_t *prescribed, CalWork *work,
                              ArticulatedInertia *M) {
	const Flex *flex = &model->flexes[f];
	FlexWork *w = &work->flex[f];
	const int m = flex->m, n = flex->n, given = prescribed && w->given;
	int failed_dof = -1;
	if (m == PACK && !given) {
		Four four = load_four(w);
		const FourFactors factors = factor_four(flex, work, four.row);
		eliminate_four(&factors, w, four.E, (real *)(void *)M, NULL);
		return factors.failed_dof;
	}
	if (given)
		fill_modal_rows(m, n, w->M);
	for (int k = 0; k < m; ++k) {
		w->left[k] = real_from(1);
		w->diagonal[k] = w->M[k * n + k];
	}
	for (int j = 0; j < m; ++j) {
		w->inverse[j] = real_from(0);
		if (given && prescribed[flex->u + j])
			continue;
		note_pivot(flex, work, j, classify_pivot(w->M[j * n + j], w->diagonal[j]), &failed_dof);
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
	sub_sums((real *)(void *)M, &outer, NULL);
	return failed_dof;
}

void LANED(flexible_reduce)(const CalModel *model, const Link *link, const uint8_t *prescribed, const real *tau,
                            CalWork *work, spatial *b) {
	const Flex *flex = &model->flexes[link->flex_body];
	FlexWork *w = &work->flex[link->flex_body];
	const int m = flex->m, n = flex->n, given = prescribed && w->given;
	if (link->motion == PRIMITIVE_FLEX && flex->head.moves) {
		const real *Phi = work->modal_columns + link->columns;
		for (int k = 0; k < n; k += PACK)
			pack_store(w->be + k, pack_add(pack_load(w->be + k), pspatial_dot(*b, pspatial_load(Phi + k, n))));
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
                         CalWork *work, ArticulatedBody *total) {
	const Flex *flex = &model->flexes[link->flex_body];
	FlexWork *w = &work->flex[link->flex_body];
	if (link->motion == PRIMITIVE_FLEX)
		LANED(flexible_head)(model, link, &total->M, work);
	if (flex->m == PACK && !w->given && link->motion != PRIMITIVE_FLEX) {
		const real *t = tau + flex->u;
		pack y = pack_sub(pack_load(w->be), pack_load(t));
		Four four = load_four(w);
		const FourFactors factors = factor_four(flex, work, four.row);
		eliminate_four(&factors, w, four.E, (real *)(void *)total, &y);
		pack_store(w->y, y);
		for (int j = 0; j < PACK && link->loop_link >= 0; ++j) // loops are still to come
			pack_store(w->M + j * PACK, factors.L[j]);
		return factors.failed_dof;
	}
	const int failed_dof = LANED(flexible_eliminate)(model, link->flex_body, prescribed, work, &total->M);
	LANED(flexible_reduce)(model, link, prescribed, tau, work, &total->b);
	return failed_dof;
}

#if CAL_LANES == 1
/* Sum of Phi'Y for mode j: its row of the modal mass. */
INLINE pack add_row(const double *Mee, const real *Phi, int j, pspatial Y) {
	return pack_add(pack_load(Mee + j * PACK), pspatial_dot(rows_mode(Phi, PACK, j), Y));
}

int LANED(flexible_fused)(const CalModel *model, const Link *link, const spatial *external, const real *tau,
                          CalWork *work, ArticulatedBody *total) {
	const Flex *flex = &model->flexes[link->flex_body];
	FlexWork *w = &work->flex[link->flex_body];
	const int i = (int)(link - model->links);
	const real *Phi = work->modal_columns + link[1].columns, *Mee = flex->Mee;
	if (work->implicit_step != 0) {
		load_modal_mass(flex, PACK, w->M);
		stiffen(flex, work->implicit_step, w->M);
		Mee = w->M;
	}
	const vec3 r = work->links[i + 1].r;
	const pspatial columns = pspatial_load(Phi, PACK), Y = articulated_mul_pack(&total->M, columns);
	Four four = {pspatial_add(pspatial_load(w->E, PACK), pforce_shift(Y, r)),
	             {add_row(Mee, Phi, 0, Y), add_row(Mee, Phi, 1, Y), add_row(Mee, Phi, 2, Y), add_row(Mee, Phi, 3, Y)}};
	ArticulatedBody sum = *total;
	if (external)
		sum.b = spatial_sub(sum.b, external[i + 1]);
	const pack be = pack_add(pack_load(w->be), pspatial_dot(sum.b, columns));
	pack y = pack_sub(be, pack_load(tau + flex->u));
	sum = (ArticulatedBody){trio_inertia_out(trio_inertia_shift_by(trio_inertia_from(&sum.M), trio_from(r))),
	                        force_shift(sum.b, r)};
	if (external)
		sum.b = spatial_sub(sum.b, external[i]);
	total->M = articulated_add(sum.M, articulated_rigid(w->own.m, w->own.mc, w->own.Sigma));
	total->b = spatial_add(sum.b, w->b);
	const FourFactors factors = factor_four(flex, work, four.row);
	if (link->flex_body > 0 && w[-1].lazy) { // while the pivots are on their way
		const LinkWork *next = &work->links[flex[-1].link];
		own_invariants(&flex[-1], PACK, &flex[-1].all, 1, &w[-1], next);
	}
	eliminate_four(&factors, w, four.E, (real *)(void *)total, &y);
	pack_store(w->y, y);
	return factors.failed_dof;
}
#endif

/* ---- outward again ------------------------------------------------------------------------- */

#if CAL_LANES == 1
void LANED(flexible_fused_accelerate)(const CalModel *model, const Link *link, CalWork *work, const spatial *A,
                                      real *udot) {
	LinkWork *node = &work->links[link + 1 - model->links];
	const pack x = accelerate_four(&work->flex[link->flex_body], udot + model->flexes[link->flex_body].u, A);
	const pspatial Phi = pspatial_load(work->modal_columns + link[1].columns, PACK);
	node->A = spatial_add(motion_shift(*A, node->r), pspatial_sum(pvec_scale(Phi.a, x), pvec_scale(Phi.l, x)));
}
#endif

/* x_j = -(y_j/D_j + K_j'A + sum L x), last mode first. */
void LANED(flexible_accelerate)(const CalModel *model, const Link *link, const uint8_t *prescribed, CalWork *work,
                                real *udot, real *force, spatial *A) {
	const Flex *flex = &model->flexes[link->flex_body];
	FlexWork *w = &work->flex[link->flex_body];
	const int m = flex->m, n = flex->n, given = prescribed && w->given;
	if (m == PACK && !given && link->motion != PRIMITIVE_FLEX) {
		accelerate_four(w, udot + flex->u, A);
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
	if (link->motion == PRIMITIVE_FLEX)
		*A = spatial_add(*A, flexible_columns(model, link, work, w->x));
}
