// SPDX-License-Identifier: Apache-2.0
/*
 * articulated.c — forward dynamics of a tree by articulated inertias, O(N) [THEORY 4.1, (4.1)-(4.7)].
 *
 * Forces are split: b is what the motion with udot = 0 (and the prescribed udot) needs, from Newton and
 * Euler for each link; the recursion then finds the udot that the applied forces leave over. So the inward
 * sweep multiplies no velocity terms by articulated inertias, and a prescribed degree of freedom is one
 * that is not eliminated.
 *
 *   1 outward   R, r, w, al, a, W
 *   2 inward    M^, b = own (- external wrenches) + sum over children X'M^aX, X'b^a
 *               U = M^ P, D = P'U + rotor, K = U/D, eps = tau - P'b
 *               M^a = M^ - U K',  b^a = b + K eps
 *   3 outward   A = X A';  udot = eps/D - K'A;  A += P udot
 *
 * A joint of several dofs is eliminated one column at a time, first to last inward and last to first
 * outward: the same as its D in block form, factored on the way. A link's own inertia and force are formed
 * in sweep 2, where they fill the waiting time of the chain of eliminations. For the same reason the
 * commonest link, a free rotation, is shifted before it is eliminated: X'(M^ - UK')X = X'M^X - U'K'' with
 * U' = X'U, so that the shift does not wait for the division; K is then kept at the parent's origin, and
 * sweep 3 needs no shifted A for it.
 *
 * A free ball has its own axes for columns: its D is I itself, and all three go at once. With X = I^-1 H and
 * g = I^-1(tau - n), tau in world axes: M^a = [0 0; 0 M - H'X], b^a = [tau; f + H'g], and outward
 * alpha = g - X a. A free root leaves nothing: a follows from (M - H'X) a = f_applied - f - H'g.
 *
 * By hand count, for such a link, its frame reached by a twist:
 * 1: 63 mul 57 add, 2: 176 mul 183 add 1 div, 3: 16 mul 15 add, and one sine-cosine.
 */
#include "dynamics/flex/flexible.h"
#include "dynamics/flex/flexible_linear.h"
#include "dynamics/loop/loop_sweep.h"
#include "dynamics/tree/articulated.h"

/* ---- 1 outward ----------------------------------------------------------------------------- */

/* Prescribed accelerations belong to the motion that b accounts for. */
static void add_prescribed(const Link *link, int i, const SweepInput *in, CalWork *work) {
	LinkWork *l = &work->links[i];
	if (link->flex >= 0)
		LANED(flexible_prescribe)(link, work->model, work, l);
	for (int k = 0; k < link->nu; ++k) {
		if (!in->prescribed[link->u + k])
			continue;
		const spatial P = link_column(work, link, i, k);
		l->al = madd(l->al, in->udot[link->u + k], P.a);
		l->a = madd(l->a, in->udot[link->u + k], P.l);
	}
	l->W = acceleration_field(l->w, l->al);
}

static void base_init(const SweepBase *base, LinkWork *ground) {
	ground->R = base->R;
	ground->w = base->w;
	ground->W = acceleration_field(base->w, vec_zero());
}

void LANED(forward_outward_in)(const CalModel *model, dvec3 gravity, const SweepInput *in, CalWork *work) {
	const int any_prescribed = in->prescribed && in->udot;
	ground_init(work, gravity);
	if (in->base)
		base_init(in->base, &work->links[-1]);
	if (!in->prepared) {
		sweep_trig(model, in->q, work);
		LANED(flexible_load)(model, in->q, in->u, in->prescribed, in->udot, work);
	}
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		link_motion(link, &work->links[link->parent], in->q, in->u, work, &work->links[i]);
		if (UNLIKELY(any_prescribed))
			add_prescribed(link, i, in, work);
		if (UNLIKELY(link->flex_body >= 0) && !work->flex[link->flex_body].lazy)
			LANED(flexible_own)(model, link->flex_body, &model->flexes[link->flex_body].all, 1, work, &work->links[i]);
	}
}

void LANED(motion_outward)(const CalModel *model, const real *q, const real *u, CalWork *work) {
	ground_init(work, (dvec3){0, 0, 0});
	sweep_trig(model, q, work);
	LANED(flexible_load)(model, q, u, NULL, NULL, work);
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		link_motion(link, &work->links[link->parent], q, u, work, &work->links[i]);
	}
}

void LANED(forward_outward)(const CalModel *model, const SweepInput *in, CalWork *work) {
	LANED(forward_outward_in)(model, model->gravity, in, work);
}

/* ---- 2 inward ------------------------------------------------------------------------------ */

INLINE spatial column_force(const ArticulatedInertia *M, spatial P, ColumnKind kind) {
	if (kind == COLUMN_ROTATION)
		return (spatial){sym_mul_vec(M->I, P.a), mat_tmul_vec(M->H, P.a)};
	if (kind == COLUMN_TRANSLATION)
		return (spatial){mat_mul_vec(M->H, P.l), sym_mul_vec(M->M, P.l)};
	return articulated_mul(M, P);
}

INLINE real column_dot(spatial P, spatial f, ColumnKind kind) {
	if (kind == COLUMN_ROTATION)
		return dot(P.a, f.a);
	if (kind == COLUMN_TRANSLATION)
		return dot(P.l, f.l);
	return spatial_dot(P, f);
}

/* Not above the limit in some lane (also not a number). */
INLINE int not_above(real x, real limit) {
#if CAL_LANES == 1
	return !(x > limit);
#else
	for (int i = 0; i < CAL_LANES; ++i) {
		if (!(x[i] > limit[i]))
			return 1;
	}
	return 0;
#endif
}

INLINE real trace(sym3 s) { return s.xx + s.yy + s.zz; }

/* What a column like P might meet in M. */
INLINE real column_scale(const ArticulatedInertia *M, spatial P, ColumnKind kind) {
	if (kind == COLUMN_ROTATION)
		return trace(M->I);
	if (kind == COLUMN_TRANSLATION)
		return trace(M->M);
	return dot(P.a, P.a) * trace(M->I) + dot(P.l, P.l) * trace(M->M);
}

/* Removes one free column from M: K and 1/D. Returns nonzero if the column is singular. */
INLINE int eliminate_dof(ArticulatedInertia *M, spatial P, ColumnKind kind, double rotor, DofWork *dof) {
	const spatial U = column_force(M, P, kind);
	const real D = column_dot(P, U, kind) + rotor;
	const real limit = SINGULAR_RATIO * column_scale(M, P, kind);
	dof->D_inv = 1.0 / D;
	dof->gain = (spatial){scale(dof->D_inv, U.a), scale(dof->D_inv, U.l)};
	*M = articulated_sub_outer(*M, U, dof->gain);
	return not_above(D, limit);
}

/* Joint of link i: all its free columns, in order. Returns the DOF that is singular, or -1. */
static int eliminate_joint(const double *rotor, const Link *link, int i, const uint8_t *prescribed, CalWork *work,
                           ArticulatedInertia *M) {
	int bad = -1;
	for (int k = 0; k < link->nu; ++k) {
		const int u = link->u + k;
		const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
		const spatial P = link_column(work, link, i, k);
		if (prescribed && prescribed[u]) {
			work->dofs[u].gain = column_force(M, P, kind);
			work->dofs[u].D_inv = real_from(0);
		} else if (eliminate_dof(M, P, kind, rotor[u], &work->dofs[u]) && bad < 0) {
			bad = u;
		}
	}
	return bad;
}

/* The force side of the same: eps = tau - P'b, b += K eps for free columns. */
static void reduce_force(const Link *link, int i, const uint8_t *prescribed, const real *tau, CalWork *work,
                         spatial *b) {
	for (int k = 0; k < link->nu; ++k) {
		const int u = link->u + k;
		DofWork *dof = &work->dofs[u];
		const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
		dof->eps = tau[u] - column_dot(link_column(work, link, i, k), *b, kind);
		if (!prescribed || !prescribed[u])
			*b = spatial_madd(*b, dof->eps, dof->gain);
	}
}

INLINE const double *sweep_rotor(const CalModel *model, const SweepInput *in) {
	return in->rotor ? in->rotor : model->rotor;
}

INLINE int is_free_rotation(const Link *link, const SweepInput *in) {
	return link->motion == PRIMITIVE_ROTATION && (LIKELY(!in->prescribed) || !in->prescribed[link->u]);
}

/* Ball or free root without prescribed columns and without rotors: see the top of the file. */
INLINE int is_free_ball(const CalModel *model, const Link *link, const SweepInput *in) {
	if (link->motion != PRIMITIVE_SPHERICAL && link->motion != PRIMITIVE_FREE)
		return 0;
#if CAL_LANES == 1
	if ((link->interface & INTERFACE_COLUMNS) || (in->loops && loop_is_open(model, link)))
		return 0;
#endif
	for (int k = 0; k < link->nu; ++k) {
		if (sweep_rotor(model, in)[link->u + k] != 0 || (in->prescribed && in->prescribed[link->u + k]))
			return 0;
	}
	return 1;
}

/* Any link: eliminates its joint from `total`, which becomes what the parent sees, at the parent's origin. */
static int pass_inward(const CalModel *model, const Link *link, int i, const SweepInput *in, CalWork *work,
                       ArticulatedBody *total) {
	const int bad = eliminate_joint(sweep_rotor(model, in), link, i, in->prescribed, work, &total->M);
	reduce_force(link, i, in->prescribed, in->tau, work, &total->b);
	const vec3 r = work->links[i].r;
	*total = (ArticulatedBody){articulated_shift(total->M, r), force_shift(total->b, r)};
	return bad;
}

/* The link that carries a flexible body: own terms, then the modes are eliminated before the joint is. */
static int pass_modes(const CalModel *model, const Link *link, const SweepInput *in, CalWork *work,
                      ArticulatedBody *total) {
	const FlexWork *w = &work->flex[link->flex_body];
#if CAL_LANES == 1
	if (w->fused)
		return LANED(flexible_chain)(model, link, in->external, in->tau, work, total);
#endif
	if (UNLIKELY(in->external))
		total->b = spatial_sub(total->b, in->external[link - model->links]);
	total->M = articulated_add(total->M, articulated_rigid(w->own.m, w->own.mc, w->own.S));
	total->b = spatial_add(total->b, w->b);
#if CAL_LANES == 1
	if (w->by_ports)
		return LANED(linear_eliminate)(model, link->flex_body, in->tau, work, total) ? model->flexes[link->flex_body].u
		                                                                             : -1;
#endif
	return LANED(flexible_pass)(model, link, in->prescribed, in->tau, work, total);
}

/* A node of a flexible body: inertia and force act on the modes too. */
static void pass_node(const CalModel *model, const Link *link, int i, CalWork *work, ArticulatedBody *total) {
	const vec3 r = work->links[i].r;
#if CAL_LANES == 1
	if (work->flex[link->flex].by_ports) {
		LANED(linear_node)(link, work, total);
		return;
	}
#endif
	LANED(flexible_node)(model, link, &total->M, &total->b, work);
	*total = (ArticulatedBody){articulated_shift(total->M, r), force_shift(total->b, r)};
}

/* The same for a free rotation, shifted before it is eliminated (see the top of the file). */
INLINE int pass_inward_rotation(const double *rotor, const Link *link, const LinkWork *l, const SweepInput *in,
                                int shift, CalWork *work, ArticulatedBody *total) {
	const vec3 z = l->R.z, r = l->r;
	const vec3 Un = sym_mul_vec(total->M.I, z), Uf = mat_tmul_vec(total->M.H, z);
	const real D = dot(z, Un) + rotor[link->u];
	const real limit = SINGULAR_RATIO * trace(total->M.I);
	const real eps = in->tau[link->u] - dot(z, total->b.a);
	spatial U = {Un, Uf}, b = total->b;
	ArticulatedInertia shifted = total->M;
	if (shift) {
		U.a = add(Un, cross(r, Uf));
		shifted = articulated_shift(total->M, r);
		b = force_shift(total->b, r);
	}
	DofWork *dof = &work->dofs[link->u];
	const real d = 1.0 / D;
	const spatial K = {scale(d, U.a), scale(d, U.l)};
	dof->gain = K;
	dof->eps = eps;
	dof->D_inv = d;
	*total = (ArticulatedBody){articulated_sub_outer(shifted, U, K), spatial_madd(b, eps, K)};
	return not_above(D, limit);
}

/* With 32 of them a branch within the commonest link costs nothing; with 16 its numbers would not stay in them. */
#if defined(__AVX512VL__) || defined(__aarch64__)
enum { MANY_REGISTERS = 1 };
#else
enum { MANY_REGISTERS = 0 };
#endif

/* On the parent's origin there is nothing to shift: after a node of a flexible body. */
static __attribute__((noinline)) int pass_inward_zero_offset(const double *rotor, const Link *link, const LinkWork *l,
                                                             const SweepInput *in, CalWork *work,
                                                             ArticulatedBody *total) {
	return pass_inward_rotation(rotor, link, l, in, 0, work, total);
}

/* Inverse of a symmetric 3x3, and nonzero if it is singular: trace(s) trace(s^-1) bounds its condition. */
INLINE sym3 invert(sym3 s, int *singular) {
	real determinant;
	const sym3 inverse = sym_inverse(s, &determinant);
	const real one = real_from(1), zero = real_from(0);
	*singular = not_above(s.xx, zero) || not_above(s.xx * s.yy, s.xy * s.xy) || not_above(determinant, zero) ||
	            not_above(one, SINGULAR_RATIO * trace(s) * trace(inverse));
	return inverse;
}

/* Applied generalised forces of three speeds in world axes, along the columns a, b, c. */
INLINE vec3 world_force(vec3 a, vec3 b, vec3 c, const real *tau) {
	return madd(madd(scale(tau[0], a), tau[1], b), tau[2], c);
}

/* D_inv distinguishes a singular inertia from one that is not a number. */
INLINE void keep_row(DofWork *dof, vec3 row, real value, real d) {
	dof->gain.l = row;
	dof->eps = value;
	dof->D_inv = d;
}

static int pass_inward_ball(const Link *link, const LinkWork *l, const SweepInput *in, CalWork *work,
                            ArticulatedBody *total) {
	const int ball = link->motion == PRIMITIVE_FREE ? link->u + 3 : link->u; // first of its three rotations
	const ArticulatedInertia *M = &total->M;
	int singular, singular_a;
	const sym3 inverse = invert(M->I, &singular);
	const mat3 X = {sym_mul_vec(inverse, M->H.x), sym_mul_vec(inverse, M->H.y), sym_mul_vec(inverse, M->H.z)};
	const vec3 moment = world_force(l->R.x, l->R.y, l->R.z, in->tau + ball);
	const vec3 g = sym_mul_vec(inverse, sub(moment, total->b.a));
	keep_row(&work->dofs[ball], vec(X.x.x, X.y.x, X.z.x), g.x, trace(inverse));
	keep_row(&work->dofs[ball + 1], vec(X.x.y, X.y.y, X.z.y), g.y, trace(inverse));
	keep_row(&work->dofs[ball + 2], vec(X.x.z, X.y.z, X.z.z), g.z, trace(inverse));
	const sym3 Ma = {M->M.xx - dot(M->H.x, X.x), M->M.yy - dot(M->H.y, X.y), M->M.zz - dot(M->H.z, X.z),
	                 M->M.xy - dot(M->H.x, X.y), M->M.xz - dot(M->H.x, X.z), M->M.yz - dot(M->H.y, X.z)};
	spatial b = {moment, add(total->b.l, mat_tmul_vec(M->H, g))};
	ArticulatedInertia left = articulated_zero();
	if (link->motion == PRIMITIVE_SPHERICAL) {
		left.M = Ma;
		*total = (ArticulatedBody){articulated_shift(left, l->r), force_shift(b, l->r)};
		return singular ? ball : -1;
	}
	const spatial *P = work->columns + link->u;
	const vec3 applied = world_force(P[0].l, P[1].l, P[2].l, in->tau + link->u);
	const sym3 inverse_a = invert(Ma, &singular_a);
	const vec3 a = sym_mul_vec(inverse_a, sub(applied, b.l));
	keep_row(&work->dofs[link->u], vec_zero(), a.x, trace(inverse_a));
	keep_row(&work->dofs[link->u + 1], vec_zero(), a.y, trace(inverse_a));
	keep_row(&work->dofs[link->u + 2], vec_zero(), a.z, trace(inverse_a));
	b.l = applied;
	*total = (ArticulatedBody){left, force_shift(b, l->r)};
	return singular ? ball : singular_a ? link->u : -1;
}

INLINE void articulated_body_add(ArticulatedBody *to, const ArticulatedBody *from) {
	to->M = articulated_add(to->M, from->M);
	to->b = spatial_add(to->b, from->b);
}

/* Own inertia and inertia force of link i, less what acts on it from outside. */
INLINE ArticulatedBody link_own(const Link *link, int i, const SweepInput *in, const LinkWork *l) {
	const Composite c = link_inertia(link, &l->R);
	ArticulatedBody own = {articulated_rigid(c.m, c.mc, c.S), link_inertia_force(&c, l)};
	if (UNLIKELY(in->external))
		own.b = spatial_sub(own.b, in->external[i]);
	return own;
}

/* Loops take part in the sweep on this link; with lanes they never do. */
INLINE int has_loops(const Link *link, const SweepInput *in) {
	return CAL_LANES == 1 && link->loop_link >= 0 && in->loops == LOOPS_WITHIN;
}

/* A link with no inertia of its own to form: a step of a joint, a node, the frame of a flexible body. */
INLINE int has_none(const Link *link) { return link->massless || link->flex_body >= 0; }

int LANED(forward_inward)(const CalModel *model, const SweepInput *in, CalWork *work) {
	const double *rotor = sweep_rotor(model, in);
	int failed_dof = -1;
	ArticulatedBody carry = {articulated_zero(), spatial_zero()}; // of link i + 1, where link i is its parent
	for (int i = 0; i < model->accumulator_count; ++i)
		work->accumulators[i] = in->arriving ? in->arriving[i] : carry;
	if (in->leaving)
		*in->leaving = carry;
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		const LinkWork *l = &work->links[i];
		if (link->motion == PRIMITIVE_NODE && work->flex[link->flex].fused)
			continue; // the body takes what it carries
		const int carried = i + 1 < model->link_count && link[1].parent == i;
		ArticulatedBody total = carry;
		if (LIKELY(!has_none(link))) {
			total = link_own(link, i, in, l);
			if (LIKELY(carried))
				articulated_body_add(&total, &carry);
		} else {
			if (UNLIKELY(!carried))
				total = (ArticulatedBody){articulated_zero(), spatial_zero()};
			if (UNLIKELY(in->external) && link->flex_body < 0)
				total.b = spatial_sub(total.b, in->external[i]);
		}
		if (link->accumulator >= 0)
			articulated_body_add(&total, &work->accumulators[link->accumulator]);
		if (UNLIKELY(link->flex_body >= 0)) {
			ArticulatedBody any = total;
			const int bad = pass_modes(model, link, in, work, &any);
			if (bad >= 0)
				failed_dof = bad;
			total = any;
		}
#if CAL_LANES == 1
		if (UNLIKELY(has_loops(link, in))) {
			ArticulatedBody any = total;
			LANED(loop_close)(model, link, work, &any);
			total = any;
		}
#endif
		if (LIKELY(is_free_rotation(link, in))) {
			int bad;
			if (MANY_REGISTERS) {
				bad = pass_inward_rotation(rotor, link, l, in, !link->zero_offset, work, &total);
			} else if (LIKELY(!link->zero_offset)) {
				bad = pass_inward_rotation(rotor, link, l, in, 1, work, &total);
			} else {
				ArticulatedBody any = total;
				bad = pass_inward_zero_offset(rotor, link, l, in, work, &any);
				total = any;
			}
			if (UNLIKELY(bad))
				failed_dof = link->u;
		} else {
			ArticulatedBody any = total; // a copy, so that `total` itself can stay in registers
			int bad = -1;
			if (link->motion == PRIMITIVE_NODE) {
				pass_node(model, link, i, work, &any);
			} else if (is_free_ball(model, link, in)) {
				bad = pass_inward_ball(link, l, in, work, &any);
			} else {
				bad = pass_inward(model, link, i, in, work, &any);
			}
			if (bad >= 0)
				failed_dof = bad;
			total = any;
		}
		carry = total;
#if CAL_LANES == 1
		if (UNLIKELY(has_loops(link, in)))
			LANED(loop_pass)(model, link, i, in->prescribed, work);
#endif
		if (UNLIKELY(link->parent != i - 1 && link->parent >= 0)) {
			articulated_body_add(&work->accumulators[model->links[link->parent].accumulator], &carry);
		} else if (UNLIKELY(link->parent < 0 && in->leaving)) {
			articulated_body_add(in->leaving, &carry);
		}
	}
	return failed_dof;
}

/* ---- 3 outward ----------------------------------------------------------------------------- */

/*
 * udot of the joint of link i, last column first; A becomes the link's own. Prescribed columns add nothing to
 * A (they are in the bias); their force is P'(M^A + b) + rotor udot - tau.
 */
static void accelerate_joint(const CalModel *model, const Link *link, int i, const SweepInput *in, CalWork *work,
                             real *udot, real *force, spatial *A) {
	for (int k = link->nu - 1; k >= 0; --k) {
		const int u = link->u + k;
		const DofWork *dof = &work->dofs[u];
		if (in->prescribed && in->prescribed[u]) {
			udot[u] = in->udot ? in->udot[u] : real_from(0);
			if (force)
				force[u] = spatial_dot(dof->gain, *A) - dof->eps + sweep_rotor(model, in)[u] * udot[u];
			continue;
		}
		udot[u] = dof->D_inv * dof->eps - spatial_dot(dof->gain, *A);
		*A = spatial_madd(*A, udot[u], link_column(work, link, i, k));
	}
}

/* The same for a free ball or free root: its acceleration first, then what of it is its own. */
static void accelerate_ball(const Link *link, const CalWork *work, const LinkWork *l, real *udot, spatial *A) {
	const int flyer = link->motion == PRIMITIVE_FREE, ball = flyer ? link->u + 3 : link->u;
	const DofWork *dof = &work->dofs[ball];
	vec3 a = A->l;
	if (flyer) {
		a = vec(work->dofs[link->u].eps, work->dofs[link->u + 1].eps, work->dofs[link->u + 2].eps);
		const vec3 own = sub(a, A->l);
		for (int k = 0; k < 3; ++k)
			udot[link->u + k] = dot(work->columns[link->u + k].l, own);
	}
	const vec3 al = {dof[0].eps - dot(dof[0].gain.l, a), dof[1].eps - dot(dof[1].gain.l, a),
	                 dof[2].eps - dot(dof[2].gain.l, a)};
	const vec3 own = mat_tmul_vec(l->R, sub(al, A->a));
	udot[ball] = own.x;
	udot[ball + 1] = own.y;
	udot[ball + 2] = own.z;
	*A = (spatial){al, a};
}

/* Modal accelerations of the body that a link carries. */
static void accelerate_modes(const CalModel *model, const Link *link, const SweepInput *in, CalWork *work, real *udot,
                             real *force, spatial *A) {
#if CAL_LANES == 1
	if (work->flex[link->flex_body].fused) {
		LANED(flexible_chain_accelerate)(model, link, work, A, udot);
		return;
	}
	if (work->flex[link->flex_body].by_ports) {
		LANED(linear_accelerate)(model, link->flex_body, work, *A, udot);
		return;
	}
#endif
	LANED(flexible_accelerate)(model, link, in->prescribed, work, udot, force, A);
}

void LANED(forward_accelerate)(const CalModel *model, const SweepInput *in, CalWork *work, real *udot, real *force) {
	if (force)
		memset(force, 0, sizeof(real) * (size_t)model->nu);
	work->links[-1].A = in->base ? in->base->A : spatial_zero();
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		LinkWork *l = &work->links[i];
		const spatial *parent = &work->links[link->parent].A;
		if (link->motion == PRIMITIVE_NODE && work->flex[link->flex].fused)
			continue; // the body gave it its A
#if CAL_LANES == 1
		if (UNLIKELY(has_loops(link, in)))
			LANED(loop_apply)(model, link, work);
#endif
		if (LIKELY(is_free_rotation(link, in))) {
			const DofWork *dof = &work->dofs[link->u];
			const real ud = dof->D_inv * dof->eps - (dot(dof->gain.a, parent->a) + dot(dof->gain.l, parent->l));
			udot[link->u] = ud;
			l->A.l = parent->l;
			if (LIKELY(!link->zero_offset))
				l->A.l = add(l->A.l, cross(parent->a, l->r));
			l->A.a = madd(parent->a, ud, l->R.z);
#if CAL_LANES == 1
			if (UNLIKELY(has_loops(link, in)))
				LANED(loop_release)(model, link, work, &l->A);
#endif
			if (UNLIKELY(link->flex_body >= 0))
				accelerate_modes(model, link, in, work, udot, force, &l->A);
			continue;
		}
		spatial A = motion_shift(*parent, l->r);
		if (link->motion == PRIMITIVE_NODE) {
			A = spatial_add(A, flexible_columns(model, link, work, work->flex[link->flex].x));
		} else if (is_free_ball(model, link, in)) {
			accelerate_ball(link, work, l, udot, &A);
		} else {
			accelerate_joint(model, link, i, in, work, udot, force, &A);
		}
#if CAL_LANES == 1
		if (UNLIKELY(has_loops(link, in)))
			LANED(loop_release)(model, link, work, &A);
#endif
		if (link->flex_body >= 0)
			accelerate_modes(model, link, in, work, udot, force, &A);
		l->A = A;
	}
}

/* ---- factorisation alone: M = L D L' ------------------------------------------------------- */

void LANED(pose_outward)(const CalModel *model, const real *q, const uint8_t *prescribed, CalWork *work) {
	ground_init(work, (dvec3){0, 0, 0});
	sweep_trig(model, q, work);
	LANED(flexible_load)(model, q, NULL, prescribed, NULL, work);
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		link_pose(link, &work->links[link->parent], q, work, &work->links[i]);
	}
}

int LANED(factor_inward)(const CalModel *model, const uint8_t *prescribed, const double *rotor, CalWork *work) {
	int failed_dof = -1;
	for (int i = 0; i < model->link_count; ++i) {
		const int carries = model->links[i].flex_body;
		if (carries >= 0)
			LANED(flexible_own)(model, carries, &model->flexes[carries].all, 0, work, &work->links[i]);
		const Composite c = carries >= 0 ? work->flex[carries].own : link_inertia(&model->links[i], &work->links[i].R);
		work->composite[i] = c;
		work->articulated[i] = articulated_rigid(c.m, c.mc, c.S);
	}
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		ArticulatedInertia M = work->articulated[i];
		if (link->motion == PRIMITIVE_NODE)
			LANED(flexible_node)(model, link, &M, NULL, work);
		if (link->motion == PRIMITIVE_FLEX)
			LANED(flexible_head)(model, link, &M, work);
		const int modal =
			link->flex_body >= 0 ? LANED(flexible_eliminate)(model, link->flex_body, prescribed, work, &M) : -1;
		const int bad = eliminate_joint(rotor ? rotor : model->rotor, link, i, prescribed, work, &M);
		if (bad >= 0 || modal >= 0)
			failed_dof = bad >= 0 ? bad : modal;
		if (link->parent < 0)
			continue;
		work->articulated[link->parent] =
			articulated_add(work->articulated[link->parent], articulated_shift(M, work->links[i].r));
	}
	return failed_dof;
}

void LANED(factor_solve)(const CalModel *model, const uint8_t *prescribed, CalWork *work, const real *b, real *x) {
	const SweepInput held = {.prescribed = prescribed};
	for (int i = 0; i < model->link_count; ++i)
		work->force[i] = spatial_zero();
	for (int f = 0; f < model->flex_count; ++f)
		memset(work->flex[f].be, 0, sizeof(real) * (size_t)model->flexes[f].m);
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		spatial f = work->force[i];
		if (link->motion == PRIMITIVE_NODE)
			LANED(flexible_node)(model, link, NULL, &f, work);
		if (link->flex_body >= 0)
			LANED(flexible_reduce)(model, link, prescribed, b, work, &f);
		reduce_force(link, i, prescribed, b, work, &f);
		if (link->parent < 0)
			continue;
		work->force[link->parent] = spatial_add(work->force[link->parent], force_shift(f, work->links[i].r));
	}
	work->links[-1].A = spatial_zero();
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		LinkWork *l = &work->links[i];
		spatial A = motion_shift(work->links[link->parent].A, l->r);
		if (link->motion == PRIMITIVE_NODE)
			A = spatial_add(A, flexible_columns(model, link, work, work->flex[link->flex].x));
		accelerate_joint(model, link, i, &held, work, x, NULL, &A);
		if (link->flex_body >= 0)
			LANED(flexible_accelerate)(model, link, prescribed, work, x, NULL, &A);
		l->A = A;
	}
}
