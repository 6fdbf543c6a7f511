// SPDX-License-Identifier: Apache-2.0
/*
 * articulated.c — forward dynamics of a tree by articulated inertias, O(N) [THEORY 4.1, (4.1)-(4.7)].
 *
 * Forces are split: b is what the motion with udot = 0 (and the prescribed udot) needs, from Newton and
 * Euler for each link; the recursion then finds the udot that the applied forces leave over. So the inward
 * sweep multiplies no velocity terms by articulated inertias, and a prescribed degree of freedom is one
 * that is not eliminated.
 *
 *   1 outward   R, r, w, al, a
 *   2 inward    M^, b = own (- external wrenches) + sum over children X'M^aX, X'b^a
 *               U = M^ S, D = S'U + rotor, K = U/D, eps = tau - S'b
 *               M^a = M^ - U K',  b^a = b + K eps
 *   3 outward   A = X A';  udot = eps/D - K'A;  A += S udot
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
 * What flexible bodies and loops add happens on the links that Link.special marks, in steps of their own (special_...);
 * everywhere else the sweeps are those of a tree. joint_elimination.h has the joints.
 *
 * Vectors are one register each where it holds four numbers (math/trio.h, docs/decisions/0056), and what the next link needs
 * stays in registers: its motion outward, `carry` inward, A outward again.
 *
 * In numbers, for a free rotation whose frame is reached by a turn about x:
 * 1: 57 mul 45 add, 2: 187 mul 189 add 1 div, 3: 16 mul 15 add, and one sine-cosine.
 */
#include "base/assert.h"
#include "dynamics/flex/flexible.h"
#include "dynamics/flex/flexible_linear.h"
#include "dynamics/tree/joint_elimination.h"

/* ---- 1 outward ----------------------------------------------------------------------------- */

/* Prescribed accelerations belong to the motion that b accounts for. */
static LinkMotion add_prescribed(const Link *link, int i, const SweepInput *in, CalWork *work) {
	LinkWork *l = &work->links[i];
	if (link->flex >= 0)
		LANED(flexible_prescribe)(link, work->model, work, l);
	for (int k = 0; k < link->nu; ++k) {
		if (!in->prescribed[link->u + k])
			continue;
		const spatial S = link_column(work, link, i, k);
		l->al = madd(l->al, in->udot[link->u + k], S.a);
		l->a = madd(l->a, in->udot[link->u + k], S.l);
	}
	return link_motion_reload(l);
}

static void base_init(const SweepBase *base, LinkWork *ground) {
	ground->R = base->R;
	ground->w = base->w;
}

/* Own terms of a flexible body; those of some are formed inward, next to others that wait. */
static void special_outward(const CalModel *model, const Link *link, int i, CalWork *work) {
	const int f = link->flex_body;
	if (f >= 0 && !work->flex[f].lazy)
		LANED(flexible_own)(model, f, &model->flexes[f].all, 1, work, &work->links[i]);
}

/* Columns want the elimination of each mode. */
static void eliminate_each_mode(const CalModel *model, CalWork *work) {
	for (int f = 0; f < model->flex_count; ++f)
		work->flex[f].by_ports = 0;
}

/* own: with own terms of flexible bodies, for the inward sweep. */
INLINE void outward_links(const CalModel *model, const SweepInput *in, int own, CalWork *work) {
	const int any_prescribed = in->prescribed && in->udot;
	const real *q = in->q, *u = in->u;
	const Link *link = model->links;
	LinkMotion m = link_motion_reload(&work->links[-1]); // of link i - 1
	for (int i = 0; i < model->link_count; ++i, ++link) {
		const LinkWork *base = &work->links[link->parent];
		if (TRIO_IN_REGISTER && UNLIKELY(link->parent != i - 1))
			m = link_motion_load(base);
		m = link_motion(link, (LinkBase){&m, base}, q, u, work, &work->links[i]); // [THEORY (4.1), (4.2)]
		if (LIKELY(!(any_prescribed | (own && link->special))))
			continue;
		if (any_prescribed)
			m = add_prescribed(link, i, in, work);
		if (own && link->special)
			special_outward(model, link, i, work);
	}
}

void LANED(forward_outward_in)(const CalModel *model, dvec3 gravity, const SweepInput *in, CalWork *work) {
	CAL_ASSERT(work->model == model && in->q && in->u);
	ground_init(work, gravity);
	if (in->base)
		base_init(in->base, &work->links[-1]);
	if (!in->prepared) {
		sweep_trig(model, in->q, work);
		LANED(flexible_load)(model, in->q, in->u, in->prescribed, in->udot, work);
	}
	if (UNLIKELY(in->columns))
		eliminate_each_mode(model, work);
	outward_links(model, in, 1, work);
}

void LANED(forward_outward_rest)(const CalModel *model, const SweepInput *in, CalWork *work) {
	CAL_ASSERT(work->model == model && !(in->prescribed && in->udot));
	if (model->flex_count == 0)
		return;
	LANED(flexible_load)(model, in->q, in->u, in->prescribed, in->udot, work);
	for (int i = 0; i < model->link_count; ++i) {
		if (model->links[i].special)
			special_outward(model, &model->links[i], i, work);
	}
}

void LANED(motion_outward)(const CalModel *model, dvec3 gravity, const real *q, const real *u, CalWork *work) {
	ground_init(work, gravity);
	sweep_trig(model, q, work);
	LANED(flexible_load)(model, q, u, NULL, NULL, work);
	outward_links(model, &(SweepInput){.q = q, .u = u}, 0, work);
}

void LANED(forward_outward)(const CalModel *model, const SweepInput *in, CalWork *work) {
	LANED(forward_outward_in)(model, model->gravity, in, work);
}

/* ---- 2 inward ------------------------------------------------------------------------------ */

/* The same from the record of a link. */
INLINE TrioBody add_own(const Link *link, const LinkWork *l, const TrioBody *to) {
	return trio_body_add_own(&link->inertia, trio3_load_any(&l->R), link_field_load(l), trio_load_any(&l->a), to);
}

/* What other children than the next link have brought to a link. */
INLINE void add_accumulated(const Link *link, const CalWork *work, TrioBody *sum) {
	if (UNLIKELY(link->accumulator >= 0))
		*sum = trio_body_add(*sum, trio_body_load(&work->accumulators[link->accumulator]));
}

/* Inertia and force of link i and of all outboard of it, at its origin [THEORY (4.3)]. */
INLINE TrioBody own_and_children(const Link *link, int i, const SweepInput *in, const TrioBody *carry,
                                 const CalWork *work) {
	TrioBody sum = *carry;
	if (LIKELY(!link->massless))
		sum = add_own(link, &work->links[i], &sum);
	if (UNLIKELY(in->external))
		sum.b = trio_spatial_sub(sum.b, trio_spatial_load(&in->external[i]));
	add_accumulated(link, work, &sum);
	return sum;
}

/* To a parent that is not the next link, or to the base. Returns what the next link starts with: nothing. */
INLINE TrioBody give_to_parent(const CalModel *model, const Link *link, int i, const SweepInput *in, TrioBody carry,
                               CalWork *work) {
	CAL_ASSERT(link->parent < i);
	CAL_ASSERT(link->parent < 0 || model->links[link->parent].accumulator >= 0);
	ArticulatedBody *to = link->parent < 0 ? in->leaving : &work->accumulators[model->links[link->parent].accumulator];
	if (to)
		trio_body_store(to, trio_body_add(trio_body_load(to), carry));
	return trio_body_zero();
}

/* Nothing has been added up yet, but what arrives from other branches. */
static TrioBody begin_inward(const CalModel *model, const SweepInput *in, CalWork *work) {
	const ArticulatedBody nothing = {articulated_zero(), spatial_zero()};
	for (int i = 0; i < model->accumulator_count; ++i)
		work->accumulators[i] = in->arriving ? in->arriving[i] : nothing;
	if (in->leaving)
		*in->leaving = nothing;
	return trio_body_zero();
}

/* A node that its body takes with its modes: it has no step of its own. */
INLINE int is_fused(const Link *link, const CalWork *work) {
	return link->motion == PRIMITIVE_NODE && work->flex[link->flex].fused;
}

/* ---- 2 inward, special links: flexible bodies, their nodes, loops ------------------------------------ */

/* Loops take part in the sweeps on this link; with lanes they never do. */
INLINE int has_loops(const Link *link, const SweepInput *in) {
	return CAL_LANES == 1 && link->loop_link >= 0 && in->loops && in->loops->within;
}

/* The link that carries a flexible body: own terms, then the modes are eliminated before the joint is. */
static int eliminate_modes(const CalModel *model, const Link *link, const SweepInput *in, CalWork *work,
                           ArticulatedBody *total) {
	const FlexWork *w = &work->flex[link->flex_body];
#if CAL_LANES == 1
	if (w->fused)
		return LANED(flexible_fused)(model, link, in->external, in->tau, work, total);
#endif
	if (in->external)
		total->b = spatial_sub(total->b, in->external[link - model->links]);
	total->M = articulated_add(total->M, articulated_rigid(w->own.m, w->own.mc, w->own.Sigma));
	total->b = spatial_add(total->b, w->b);
#if CAL_LANES == 1
	if (w->by_ports)
		return LANED(linear_eliminate)(model, link->flex_body, in->tau, work, total) ? model->flexes[link->flex_body].u
		                                                                             : -1;
#endif
	return LANED(flexible_pass)(model, link, in->prescribed, in->tau, work, total);
}

/* A node of a flexible body: inertia and force act on the modes too. */
static void pass_node(const CalModel *model, const Link *link, int i, CalWork *work, TrioBody *total) {
	ArticulatedBody body;
	trio_body_store(&body, *total);
#if CAL_LANES == 1
	if (work->flex[link->flex].by_ports) {
		LANED(linear_node)(link, work, &body);
		*total = trio_body_reload(&body);
		return;
	}
#endif
	LANED(flexible_node)(model, link, &body.M, &body.b, work);
	*total = trio_body_shift(total, trio_load_wide(&work->links[i].r));
}

/* The frame of a flexible body: what its children bring, then its own terms, its modes eliminated. */
INLINE int body_and_children(const CalModel *model, const Link *link, const SweepInput *in, const TrioBody *carry,
                             CalWork *work, TrioBody *body) {
	TrioBody sum = *carry;
	ArticulatedBody total;
	add_accumulated(link, work, &sum);
	trio_body_store(&total, sum);
	const int bad = eliminate_modes(model, link, in, work, &total);
	*body = trio_body_reload(&total);
	return bad;
}

/* Loops that close on a link change its inertia and force. */
static void close_loops(const CalModel *model, const Link *link, const SweepInput *in, CalWork *work, TrioBody *body) {
	ArticulatedBody total;
	trio_body_store(&total, *body);
	in->loops->close(model, link, work, &total);
	*body = trio_body_reload(&total);
}

/* A step of the inward sweep with modes before the joint and loops around it. */
INLINE int special_inward(const CalModel *model, const Link *link, int i, const SweepInput *in, const double *rotor,
                          const TrioBody *carry, CalWork *work, TrioBody *body) {
	int bad = -1, modal = -1;
	if (link->flex_body >= 0) {
		modal = body_and_children(model, link, in, carry, work, body); // [THEORY (4.10), (4.11)], or [THEORY (4.15)]
	} else {
		*body = own_and_children(link, i, in, carry, work); // [THEORY (4.3)]
	}
	if (has_loops(link, in))
		close_loops(model, link, in, work, body); // [THEORY (5.10)]
	if (link->motion == PRIMITIVE_NODE) {
		pass_node(model, link, i, work, body); // [THEORY (4.8)]
	} else {
		bad = eliminate(model, link, i, in, rotor, work, body); // [THEORY (4.4), (4.5)]
	}
	if (has_loops(link, in))
		in->loops->pass(model, link, i, in->prescribed, work); // [THEORY (5.7), (5.8)]
	return bad >= 0 ? bad : modal;
}

/* ---- 2 inward, the sweep ----------------------------------------------------------------------- */

/* The commonest link, a free rotation away from its parent's origin: a path of its own, all of it in registers. */
INLINE int is_plain(const Link *link, const SweepInput *in) {
	return is_free_rotation(link, in) && !(link->special | link->massless | link->zero_offset);
}

/* Any other: what `carry` becomes, and the singular dof or -1. */
INLINE int other_inward(const CalModel *model, const Link *link, int i, const SweepInput *in, const double *rotor,
                        CalWork *work, TrioBody *carry) {
	TrioBody body;
	int bad = -1;
	if (is_fused(link, work))
		return bad;
	if (link->special) {
		bad = special_inward(model, link, i, in, rotor, carry, work, &body);
	} else {
		body = own_and_children(link, i, in, carry, work);
		bad = eliminate(model, link, i, in, rotor, work, &body);
	}
	*carry = body;
	return bad;
}

int LANED(forward_inward)(const CalModel *model, const SweepInput *in, CalWork *work) {
	int failed_dof = -1;
	CAL_ASSERT(work->model == model && in->tau && (!in->loops || model->loop_schedule));
	const double *rotor = in->rotor ? in->rotor : model->rotor;
	const Link *link = model->links + model->link_count - 1;
	TrioBody carry = begin_inward(model, in, work); // of link i + 1, where link i is its parent
	for (int i = model->link_count - 1; i >= 0; --i, --link) {
		int bad;
		if (LIKELY(is_plain(link, in))) {
			carry = own_and_children(link, i, in, &carry, work);           // M^, b [THEORY (4.3)]
			bad = eliminate_rotation(rotor, link, i, in, 1, work, &carry); // M^a, b^a [THEORY (4.4), (4.5)]
		} else {
			TrioBody any = carry; // separate, so that `carry` itself can stay in registers
			bad = other_inward(model, link, i, in, rotor, work, &any);
			carry = any;
		}
		if (UNLIKELY(bad >= 0))
			failed_dof = bad;
		if (UNLIKELY(link->parent != i - 1 || i == 0))
			carry = give_to_parent(model, link, i, in, carry, work);
	}
	return failed_dof;
}

/* ---- 3 outward ----------------------------------------------------------------------------- */

/* Modal accelerations of the body that a link carries. */
static void accelerate_modes(const CalModel *model, const Link *link, const SweepInput *in, CalWork *work, real *udot,
                             real *force, spatial *A) {
#if CAL_LANES == 1
	if (work->flex[link->flex_body].fused) {
		LANED(flexible_fused_accelerate)(model, link, work, A, udot);
		return;
	}
	if (work->flex[link->flex_body].by_ports) {
		LANED(linear_accelerate)(model, link->flex_body, work, *A, udot);
		return;
	}
#endif
	LANED(flexible_accelerate)(model, link, in->prescribed, work, udot, force, A);
}

/* Returns A of the link, or of the node that a fused body has given it. */
static TrioSpatial special_accelerate(const CalModel *model, const Link *link, int i, const SweepInput *in,
                                      CalWork *work, TrioSpatial parent, real *udot, real *force) {
	LinkWork *l = &work->links[i];
	if (is_fused(link, work))
		return trio_spatial_from(l->A);
	if (has_loops(link, in))
		in->loops->apply(model, link, work);
	if (link->motion == PRIMITIVE_NODE) {
		const spatial A = motion_shift(trio_spatial_out(parent), l->r);
		l->A = spatial_add(A, flexible_columns(model, link, work, work->flex[link->flex].x));
	} else {
		accelerate(model, link, i, in, work, parent, udot, force); // [THEORY (4.6)]
	}
	if (has_loops(link, in))
		in->loops->release(model, link, work, &l->A);
	if (link->flex_body >= 0)
		accelerate_modes(model, link, in, work, udot, force, &l->A);
	return trio_spatial_from(l->A);
}

void LANED(forward_accelerate)(const CalModel *model, const SweepInput *in, CalWork *work, real *udot, real *force) {
	CAL_ASSERT(work->model == model && udot && udot != in->udot);
	if (force)
		memset(force, 0, sizeof(real) * (size_t)model->nu);
	work->links[-1].A = in->base ? in->base->A : spatial_zero();
	const int all_free = !in->prescribed;
	const Link *link = model->links;
	TrioSpatial A = trio_spatial_from(work->links[-1].A); // of link i - 1
	for (int i = 0; i < model->link_count; ++i, ++link) {
		if (UNLIKELY(link->parent != i - 1))
			A = trio_spatial_load_wide(&work->links[link->parent].A);
		if (LIKELY(all_free && link->motion == PRIMITIVE_ROTATION && !link->special)) {
			A = accelerate_rotation(link, &work->dofs[link->u], &work->links[i], A, udot); // udot, A [THEORY (4.6)]
		} else if (!link->special) {
			A = accelerate(model, link, i, in, work, A, udot, force);
		} else {
			A = special_accelerate(model, link, i, in, work, A, udot, force);
		}
	}
}
