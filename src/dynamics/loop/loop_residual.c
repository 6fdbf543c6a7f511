// SPDX-License-Identifier: Apache-2.0
/*
 * loop_residual.c — residuals of constrained dynamics by Newton and Euler, in twofold numbers [THEORY 5]:
 *
 *   outward   A = X(r) A' + S udot                        accelerations that udot adds to those at udot = 0 (bias)
 *   links     f = I A + (force of the bias) - external    each about its own origin
 *   rows      z = bias + d.(A on plus - A on minus),  f -= d lambda on plus,  f += d lambda on minus
 *   inward    residual = tau - rotor udot - S.f,  f' += X(r)'f
 *
 * A light link between heavy ones moves by forces that cancel to the ratio of their masses. It is not sensitive to its data:
 * an error of 1e-16 in any length or mass, made on both sides of an equation, does as little as in any other mechanism. It
 * is sensitive to forces that do not belong to the same mechanism. So poses, columns, inertias and biases, rounded to
 * doubles, are taken as exact; the constraints use the very levers and columns that forces use, and sums are twofold.
 */
#include "dynamics/loop/loop_residual.h"
#include "dynamics/tree/kinematics.h"
#include "dynamics/tree/sweep.h"

#if CAL_LANES == 1

/* ---- links ---------------------------------------------------------------------------------------------- */

static void accelerate_links(const CalModel *model, const CalWork *work, const LoopRefined *r) {
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		wide6 A = wide6_from(spatial_zero());
		if (link->parent >= 0)
			A = wide6_motion_shift(r->A[link->parent], work->links[i].r);
		for (int k = 0; k < link->nu; ++k)
			A = wide6_along(A, r->udot[link->u + k], link_column(work, link, i, k));
		r->A[i] = A;
	}
}

/* Moments of inertia times an angular acceleration: (tr Sigma 1 - Sigma) al. */
static wide3 add_inertia_moment(wide3 n, sym3 I, wide3 al) {
	return (wide3){wide3_add_dot(n.x, vec(I.xx, I.xy, I.xz), al), wide3_add_dot(n.y, vec(I.xy, I.yy, I.yz), al),
	               wide3_add_dot(n.z, vec(I.xz, I.yz, I.zz), al)};
}

/* Forces that the links themselves need. */
static void weigh_links(const CalModel *model, dvec3 gravity, const CalWork *work, const LoopRefined *r) {
	for (int i = 0; i < model->link_count; ++i) {
		const LinkWork *l = &work->links[i];
		const Composite c = link_inertia(&model->links[i], &l->R);
		const spatial bias = link_inertia_force(&c, l->w, l->al, sub(l->a, vec_from(gravity)));
		const wide6 *A = &r->A[i];
		wide6 f = wide6_from(spatial_sub(bias, r->external[i]));
		f.a = add_inertia_moment(f.a, inertia_from_second_moment(c.Sigma), A->a);
		f.a = wide3_add_cross(f.a, c.mc, A->l);
		f.l = wide3_madd(f.l, c.m, A->l);
		f.l = wide3_add_cross(f.l, neg(c.mc), A->a);
		r->f[i] = f;
	}
}

/* ---- constraints ----------------------------------------------------------------------------------------- */

/*
 * One side of a loop: its wrench on the link of a node, and the motion of the link at the loop's point. Levers act
 * on sums: rounding the moment of each equation would turn forces that pass through a joint into moments about it.
 */
static void apply_side(const CalModel *model, const CalWork *work, const Loop *loop, int node, double sign,
                       Twofold *z) {
	const LoopRefined *r = &work->loops.refined;
	const LoopRow *row = work->loops.row + loop->row;
	const int link = node < 0 ? -1 : model->nodes[node].link;
	if (link < 0)
		return;
	const vec3 arm = sub(work->loops.point[loop - model->loops], work->position[link]);
	const wide6 A = wide6_motion_shift(r->A[link], arm);
	wide6 needed = wide6_from(spatial_zero());
	for (int i = 0; i < loop->rows; ++i) {
		const Twofold lambda = r->lambda[loop->row + i];
		const spatial d = {scale(sign, row[i].direction.a), scale(sign, row[i].direction.l)};
		z[i] = wide6_add_dot(z[i], d, A);
		needed = wide6_along(needed, twofold_negate(lambda), d);
	}
	r->f[link] = wide6_add(r->f[link], wide6_force_shift(needed, arm));
}

static void apply_rows(const CalModel *model, CalWork *work, const LoopRefined *r) {
	LoopWork *w = &work->loops;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		Twofold z[CAL_LOOP_MAX_ROWS] = {0};
		for (int i = 0; i < loop->rows; ++i)
			z[i] = twofold_from(w->row[loop->row + i].acceleration);
		apply_side(model, work, loop, loop->plus, 1, z);
		apply_side(model, work, loop, loop->minus, -1, z);
		for (int k = 0; k < loop->term_count; ++k)
			z[0] = twofold_madd(z[0], loop->term[k].factor, r->udot[loop->term[k].u]);
		for (int i = 0; i < loop->rows; ++i)
			w->z[loop->row + i] = z[i].hi;
	}
}

/* Forces of couplings on the degree of freedom u. */
static Twofold add_couplings(const CalModel *model, const LoopRefined *r, int u, Twofold sum) {
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		for (int k = 0; k < loop->term_count; ++k) {
			if (loop->term[k].u == u)
				sum = twofold_madd(sum, loop->term[k].factor, r->lambda[loop->row]);
		}
	}
	return sum;
}

/* ---- equations of motion ---------------------------------------------------------------------------------- */

static void gather_forces(const CalModel *model, const LoopRefine *at, const CalWork *work, const LoopRefined *r) {
	const double *rotor = at->rotor ? at->rotor : model->rotor;
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k) {
			const int u = link->u + k;
			const spatial S = link_column(work, link, i, k);
			Twofold left = twofold_madd(twofold_from(r->tau[u]), -rotor[u], r->udot[u]);
			left = wide6_add_dot(left, (spatial){neg(S.a), neg(S.l)}, r->f[i]);
			if (model->any_coupling)
				left = add_couplings(model, r, u, left);
			r->residual[u] = at->prescribed && at->prescribed[u] ? 0 : left.hi;
		}
		if (link->parent >= 0)
			r->f[link->parent] = wide6_add(r->f[link->parent], wide6_force_shift(r->f[i], work->links[i].r));
	}
}

/* What the constraints accelerate by, as far as doubles know. */
static void accelerate_rows(const CalModel *model, const LoopRefine *at, CalWork *work) {
	const CalState *s = at->state;
	LoopWork *w = &work->loops;
	for (int i = 0; i < model->row_count; ++i)
		w->z[i] = 0;
	if (at->at_rest) { // what drives accelerate rows by does not count
		loop_rows(model, &(LoopContext){.t = s->t, .q = s->q, .u = s->u}, work);
		for (int i = 0; i < model->row_count; ++i)
			w->z[i] = -w->row[i].acceleration;
	}
	kinematics_accelerate(model, at->udot, work);
	loop_rows(model, &(LoopContext){s->t, s->q, s->u, at->udot, LOOP_MOTION, 0}, work);
	for (int i = 0; i < model->row_count; ++i)
		w->z[i] += w->row[i].acceleration;
}

void loop_residual(const CalModel *model, const LoopRefine *at, CalWork *work) {
	const CalState *s = at->state;
	const LoopRefined *r = &work->loops.refined;
	kinematics_outward(model, s->q, s->u, work);
	if (model->flex_count > 0) {
		memset(r->residual, 0, sizeof(double) * (size_t)model->nu);
		accelerate_rows(model, at, work);
		return;
	}
	loop_rows(model, &(LoopContext){.t = s->t, .q = s->q, .u = s->u}, work);
	for (int i = 0; at->at_rest && i < model->row_count; ++i)
		work->loops.row[i].acceleration = 0;
	accelerate_links(model, work, r);
	weigh_links(model, at->at_rest ? (dvec3){0, 0, 0} : model->gravity, work, r);
	apply_rows(model, work, r);
	gather_forces(model, at, work, r);
}

#endif
