// SPDX-License-Identifier: Apache-2.0
/*
 * loop_frames.c — loops on a tree: the motion of their frames, and what a wrench on a node does to the tree.
 */
#include <calder/dynamics.h>
#include "dynamics/flex/flexible.h"
#include "dynamics/loop/loop_rows.h"
#include "dynamics/loop/loops.h"
#include "dynamics/tree/kinematics.h"
#include "model/loop_plan.h"

#if CAL_LANES == 1

/*
 * Frames are written field by field: copying one as a whole would load pairs of numbers that were just stored singly,
 * which stalls.
 */

/* A frame fixed to a link, in its axes. */
INLINE void rigid_frame(const CalWork *work, int link, const LoopSide *side, LoopDepth depth, LoopFrame *f) {
	const LinkWork *l = &work->links[link];
	const vec3 e = mat_mul_dvec(l->R, side->on.r), turning = cross(l->w, e);
	vec3 al = l->al, a = add(l->a, vec_from(work->gravity));
	if (depth == LOOP_MOTION) {
		al = add(al, l->A.a);
		a = add(a, l->A.l);
	}
	f->R.x = mat_mul_dvec(l->R, side->on.R.x);
	f->R.y = mat_mul_dvec(l->R, side->on.R.y);
	f->R.z = mat_mul_dvec(l->R, side->on.R.z);
	f->r = add(work->position[link], e);
	f->w = l->w;
	f->v = add(work->velocity[link], turning);
	f->al = al;
	f->a = add(a, add(cross(al, e), cross(l->w, turning)));
}

/* A frame on a node that modes move. */
static void flexible_frame(const CalModel *model, const CalWork *work, int node, const dpose *on, LoopDepth depth,
                           LoopFrame *f) {
	const int link = model->nodes[node].link;
	const LinkWork *l = &work->links[link];
	const NodePlace place = kinematics_node(model, work, node);
	const vec3 e = mat_mul_dvec(place.R, on->r);
	const spatial own = {mat_mul_vec(place.axes, place.n.w), mat_mul_vec(place.axes, place.n.v)};
	const spatial V = spatial_add(motion_shift((spatial){l->w, work->velocity[link]}, place.c), own);
	spatial A = kinematics_node_bias(work, l, &place);
	if (depth == LOOP_MOTION)
		A = spatial_add(A, motion_shift(l->A, place.c));
	for (int k = 0; k < place.flex->m; ++k) {
		const double x = place.work->eta_ddot[k] + (depth == LOOP_MOTION ? place.work->x[k] : 0);
		if (x != 0)
			A = spatial_madd(A, x, kinematics_node_column(&place, k));
	}
	f->R = mat_mul_dmat(place.R, on->R);
	f->r = add(work->position[link], add(place.c, e));
	f->w = V.a;
	f->v = add(V.l, cross(V.a, e));
	f->al = A.a;
	f->a = add(A.l, add(cross(A.a, e), cross(V.a, cross(V.a, e))));
}

INLINE void frame_of(const CalModel *model, const CalWork *work, int node, const LoopSide *side, LoopDepth depth,
                     LoopFrame *f) {
	if (UNLIKELY(side->moves)) {
		flexible_frame(model, work, node, &side->on, depth, f);
	} else if (LIKELY(side->link >= 0)) {
		rigid_frame(work, side->link, side, depth, f);
	} else {
		f->R = mat_from(side->on.R);
		f->r = vec_from(side->on.r);
		f->w = f->v = f->al = f->a = vec_zero();
	}
}

void loop_frame(const CalModel *model, const CalWork *work, const Loop *loop, int side, LoopDepth depth, LoopFrame *f) {
	frame_of(model, work, side ? loop->node_b : loop->node_a, &loop->side[side], depth, f);
}

void loop_rows(const CalModel *model, const LoopContext *at, CalWork *work) {
	LoopWork *w = &work->loops;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		LoopFrame A, B;
		frame_of(model, work, loop->node_a, &loop->side[0], at->depth, &A);
		frame_of(model, work, loop->node_b, &loop->side[1], at->depth, &B);
		loop_fill(loop, &A, &B, at, w->row + loop->row);
		const vec3 *point = loop_type_has_one_side(loop->type) ? &A.r : &B.r;
		w->point[l] = vec(point->x, point->y, point->z);
	}
}

/* ---- what a wrench on a node does ------------------------------------------------------------- */

/* A side of a loop on the tree, where its wrenches act. */
typedef struct SideOnTree {
	int link;        // -1: on the ground
	NodePlace place; // of its node
	vec3 arm;        // from the node to the loop's point
} SideOnTree;

static void place_side(const CalModel *model, const CalWork *work, int node, vec3 point, SideOnTree *side) {
	side->link = node < 0 ? -1 : model->nodes[node].link;
	if (side->link < 0)
		return;
	side->place = kinematics_node(model, work, node);
	side->arm = sub(point, add(kinematics_position(model, work, side->link), side->place.c));
}

/* A wrench at the loop's point: at the origin of the link, and on the modes of its body (tau). */
static spatial shift_to_link(const SideOnTree *side, spatial wrench, double *tau) {
	const NodePlace *place = &side->place;
	const spatial here = force_shift(wrench, side->arm);
	for (int k = 0; place->flex && k < place->flex->m; ++k)
		tau[place->flex->u + k] += spatial_dot(kinematics_node_column(place, k), here);
	return force_shift(here, place->c);
}

/* Generalized forces of a wrench on what is outboard of link `end` (-1: of the ground), added to Q. */
static void generalize(const CalModel *model, const CalWork *work, const SideOnTree *side, int end, spatial wrench,
                       double *Q) {
	if (side->link < 0)
		return;
	spatial f = shift_to_link(side, wrench, Q);
	for (int i = side->link; i != end && i >= 0; i = model->links[i].parent) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k)
			Q[link->u + k] += spatial_dot(link_column(work, link, i, k), f);
		for (int k = 0; link->flex >= 0 && k < model->flexes[link->flex].m; ++k)
			Q[model->flexes[link->flex].u + k] += spatial_dot(flexible_column(model, link, work, k), f);
		f = force_shift(f, work->links[i].r);
	}
}

static const double CANCELLED = 1e-13;  // of two equal numbers that were computed in different ways
static const double NEGLIGIBLE = 1e-15; // of the largest in a row

/* G = one + other: where both sides pass they cancel, and what round-off leaves is made zero. By columns of a block. */
static void subtract_common(int n, const int32_t *column, const double *one, const double *other, double *G) {
	double most = 0;
	for (int k = 0; k < n; ++k) {
		const double size = fabs(one[column[k]]) + fabs(other[column[k]]);
		most = size > most ? size : most;
	}
	for (int k = 0; k < n; ++k) {
		const double a = one[column[k]], b = other[column[k]], sum = fabs(a + b);
		G[k] = sum > CANCELLED * (fabs(a) + fabs(b)) && sum > NEGLIGIBLE * most ? a + b : 0;
	}
}

INLINE spatial opposite(spatial s) { return (spatial){neg(s.a), neg(s.l)}; }

/* A row of G, and of both sides alone in plus[nu], minus[nu], of which only the columns of the block are used. */
static void fill_row(const CalModel *model, const CalWork *work, const LoopBlock *block, int l, int row,
                     const SideOnTree side[2], double *plus, double *minus, double *G) {
	const Loop *loop = &model->loops[l];
	const int32_t *column = model->blocks->columns + block->column;
	const int end = model->loop_schedule ? model->loop_schedule->ends[l].closes : -1;
	const spatial d = work->loops.row[row].direction;
	for (int k = 0; k < block->columns; ++k)
		plus[column[k]] = minus[column[k]] = 0;
	for (int i = 0; i < loop->term_count; ++i)
		plus[loop->term[i].u] = loop->term[i].factor;
	generalize(model, work, &side[0], end, d, plus);
	generalize(model, work, &side[1], end, opposite(d), minus);
	subtract_common(block->columns, column, plus, minus, G);
}

void loop_jacobian(const CalModel *model, CalWork *work) {
	LoopWork *w = &work->loops;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		const LoopBlock *block = &model->blocks->blocks[model->blocks->block_of[l]];
		const int at = model->blocks->row_at[l] - block->row;
		SideOnTree side[2];
		place_side(model, work, loop->plus, w->point[l], &side[0]);
		place_side(model, work, loop->minus, w->point[l], &side[1]);
		for (int r = 0; r < loop->rows; ++r)
			fill_row(model, work, block, l, loop->row + r, side, w->refined.residual, w->refined.force,
			         loop_block_row(block, w->G, at + r));
	}
}

static void apply_at_node(const CalModel *model, const CalWork *work, int node, vec3 point, spatial wrench,
                          spatial *external, double *tau) {
	SideOnTree side;
	place_side(model, work, node, point, &side);
	if (side.link >= 0)
		external[side.link] = spatial_add(external[side.link], shift_to_link(&side, wrench, tau));
}

void apply_multipliers(const CalModel *model, const CalWork *work, spatial *external, double *tau) {
	const LoopWork *w = &work->loops;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		const spatial wrench = loop_wrench(loop, w);
		for (int i = 0; i < loop->term_count; ++i)
			tau[loop->term[i].u] += loop->term[i].factor * w->lambda[loop->row];
		apply_at_node(model, work, loop->plus, w->point[l], wrench, external, tau);
		apply_at_node(model, work, loop->minus, w->point[l], opposite(wrench), external, tau);
	}
}

#endif
