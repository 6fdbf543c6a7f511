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
 * By hand count, for a free rotation whose frame is reached by a turn about x:
 * 1: 63 mul 57 add, 2: 176 mul 183 add 1 div, 3: 16 mul 15 add, and one sine-cosine.
 */
#include "base/assert.h"
#include "dynamics/flex/flexible.h"
#include "dynamics/flex/flexible_linear.h"
#include "dynamics/tree/joint_elimination.h"

/* ---- 1 outward ----------------------------------------------------------------------------- */

/* Prescribed accelerations belong to the motion that b accounts for. */
static void add_prescribed(const Link *link, int i, const SweepInput *in, CalWork *work) {
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
	l->W = acceleration_field(l->w, l->al);
}

static void base_init(const SweepBase *base, LinkWork *ground) {
	ground->R = base->R;
	ground->w = base->w;
	ground->W = acceleration_field(base->w, vec_zero());
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

void LANED(forward_outward_in)(const CalModel *model, dvec3 gravity, const SweepInput *in, CalWork *work) {
	const int any_prescribed = in->prescribed && in->udot;
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
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		link_motion(link, &work->links[link->parent], in->q, in->u, work, &work->links[i]); // [THEORY (4.1), (4.2)]
		if (UNLIKELY(any_prescribed))
			add_prescribed(link, i, in, work);
		if (UNLIKELY(link->special))
			special_outward(model, link, i, work);
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

INLINE void articulated_body_add(ArticulatedBody *to, const ArticulatedBody *from) {
	to->M = articulated_add(to->M, from->M);
	to->b = spatial_add(to->b, from->b);
}

/* Own inertia and inertia force of a link, less what acts on it from outside. */
INLINE ArticulatedBody link_own(const Link *link, int i, const SweepInput *in, const LinkWork *l) {
	const Composite c = link_inertia(link, &l->R);
	ArticulatedBody own = {articulated_rigid(c.m, c.mc, c.Sigma), link_inertia_force(&c, l)};
	if (UNLIKELY(in->external))
		own.b = spatial_sub(own.b, in->external[i]);
	return own;
}

/* Link i + 1 is a child of link i, whose sum `carry` is. */
INLINE int is_carried(const CalModel *model, const Link *link, int i) {
	return i + 1 < model->link_count && link[1].parent == i;
}

/* What other children than the next link have brought to a link. */
INLINE void add_accumulated(const Link *link, const CalWork *work, ArticulatedBody *sum) {
	if (link->accumulator >= 0)
		articulated_body_add(sum, &work->accumulators[link->accumulator]);
}

/* Inertia and force of link i and of all outboard of it, at its origin [THEORY (4.3)]. */
INLINE ArticulatedBody own_and_children(const CalModel *model, const Link *link, int i, const SweepInput *in,
                                        const ArticulatedBody *carry, const CalWork *work) {
	const int carried = is_carried(model, link, i);
	ArticulatedBody sum = *carry;
	if (LIKELY(!link->massless)) {
		sum = link_own(link, i, in, &work->links[i]);
		if (LIKELY(carried))
			articulated_body_add(&sum, carry);
	} else {
		if (UNLIKELY(!carried))
			sum = (ArticulatedBody){articulated_zero(), spatial_zero()};
		if (UNLIKELY(in->external))
			sum.b = spatial_sub(sum.b, in->external[i]);
	}
	add_accumulated(link, work, &sum);
	return sum;
}

INLINE void give_to_parent(const CalModel *model, const Link *link, int i, const SweepInput *in,
                           const ArticulatedBody *carry, CalWork *work) {
	CAL_ASSERT(link->parent < i);
	if (UNLIKELY(link->parent != i - 1 && link->parent >= 0)) {
		CAL_ASSERT(model->links[link->parent].accumulator >= 0);
		articulated_body_add(&work->accumulators[model->links[link->parent].accumulator], carry);
	} else if (UNLIKELY(link->parent < 0 && in->leaving)) {
		articulated_body_add(in->leaving, carry);
	}
}

/* Nothing has been added up yet, but what arrives from other branches. */
static ArticulatedBody begin_inward(const CalModel *model, const SweepInput *in, CalWork *work) {
	const ArticulatedBody nothing = {articulated_zero(), spatial_zero()};
	for (int i = 0; i < model->accumulator_count; ++i)
		work->accumulators[i] = in->arriving ? in->arriving[i] : nothing;
	if (in->leaving)
		*in->leaving = nothing;
	return nothing;
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

/* The frame of a flexible body: what its children bring, then its own terms, its modes eliminated. */
INLINE int body_and_children(const CalModel *model, const Link *link, int i, const SweepInput *in,
                             const ArticulatedBody *carry, CalWork *work, ArticulatedBody *body) {
	*body = *carry;
	if (!is_carried(model, link, i))
		*body = (ArticulatedBody){articulated_zero(), spatial_zero()};
	add_accumulated(link, work, body);
	return eliminate_modes(model, link, in, work, body);
}

/* A step of the inward sweep with modes before the joint and loops around it. */
INLINE int special_inward(const CalModel *model, const Link *link, int i, const SweepInput *in,
                          const ArticulatedBody *carry, CalWork *work, ArticulatedBody *body) {
	int bad = -1, modal = -1;
	if (link->flex_body >= 0) {
		modal = body_and_children(model, link, i, in, carry, work, body); // [THEORY (4.10), (4.11)], or [THEORY (4.15)]
	} else {
		*body = own_and_children(model, link, i, in, carry, work); // [THEORY (4.3)]
	}
	if (has_loops(link, in))
		in->loops->close(model, link, work, body); // [THEORY (5.10)]
	if (link->motion == PRIMITIVE_NODE) {
		pass_node(model, link, i, work, body); // [THEORY (4.8)]
	} else {
		bad = eliminate(model, link, i, in, work, body); // [THEORY (4.4), (4.5)]
	}
	if (has_loops(link, in))
		in->loops->pass(model, link, i, in->prescribed, work); // [THEORY (5.7), (5.8)]
	return bad >= 0 ? bad : modal;
}

/* ---- 2 inward, the sweep ----------------------------------------------------------------------- */

int LANED(forward_inward)(const CalModel *model, const SweepInput *in, CalWork *work) {
	int failed_dof = -1;
	CAL_ASSERT(work->model == model && in->tau && (!in->loops || model->loop_schedule));
	ArticulatedBody carry = begin_inward(model, in, work); // of link i + 1, where link i is its parent
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		int bad = -1;
		if (LIKELY(!link->special)) {
			ArticulatedBody body = own_and_children(model, link, i, in, &carry, work); // M^, b          [THEORY (4.3)]
			bad = eliminate(model, link, i, in, work, &body);                          // M^a, b^a [THEORY (4.4), (4.5)]
			carry = body;
		} else if (!is_fused(link, work)) {
			ArticulatedBody body; // separate, so that `carry` itself can stay in registers
			bad = special_inward(model, link, i, in, &carry, work, &body);
			carry = body;
		}
		if (UNLIKELY(bad >= 0))
			failed_dof = bad;
		give_to_parent(model, link, i, in, &carry, work);
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

static void special_accelerate(const CalModel *model, const Link *link, int i, const SweepInput *in, CalWork *work,
                               real *udot, real *force) {
	LinkWork *l = &work->links[i];
	if (is_fused(link, work))
		return; // the body gave it its A
	if (has_loops(link, in))
		in->loops->apply(model, link, work);
	if (link->motion == PRIMITIVE_NODE) {
		const spatial A = motion_shift(work->links[link->parent].A, l->r);
		l->A = spatial_add(A, flexible_columns(model, link, work, work->flex[link->flex].x));
	} else {
		accelerate(model, link, i, in, work, udot, force); // [THEORY (4.6)]
	}
	if (has_loops(link, in))
		in->loops->release(model, link, work, &l->A);
	if (link->flex_body >= 0)
		accelerate_modes(model, link, in, work, udot, force, &l->A);
}

void LANED(forward_accelerate)(const CalModel *model, const SweepInput *in, CalWork *work, real *udot, real *force) {
	CAL_ASSERT(work->model == model && udot && udot != in->udot);
	if (force)
		memset(force, 0, sizeof(real) * (size_t)model->nu);
	work->links[-1].A = in->base ? in->base->A : spatial_zero();
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		if (LIKELY(!link->special)) {
			accelerate(model, link, i, in, work, udot, force); // udot, A [THEORY (4.6)]
		} else {
			special_accelerate(model, link, i, in, work, udot, force);
		}
	}
}
