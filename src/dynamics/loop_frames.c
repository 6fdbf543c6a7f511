// SPDX-License-Identifier: Apache-2.0
/*
 * loop_frames.c — loops on a tree: the motion of their frames, and what a wrench on a node does to the tree.
 */
#include <calder/dynamics.h>
#include "dynamics/flexible.h"
#include "dynamics/kinematics.h"
#include "dynamics/loop_rows.h"
#include "dynamics/loops.h"

#if CAL_LANES == 1

static LoopFrame frame_of(const CalModel *model, const CalWork *work, int node, const dpose *on, int accelerated) {
	LoopFrame f = {mat_from(on->R), vec_from(on->r), vec_zero(), vec_zero(), vec_zero(), vec_zero()};
	if (node < 0)
		return f;
	CalPose pose;
	CalSpatial V, A = {{0, 0, 0}, {0, 0, 0}};
	cal_node_pose(model, work, node, &pose);
	cal_node_velocity(model, work, node, &V);
	if (accelerated)
		cal_node_acceleration(model, work, node, &A);
	const mat3 R = mat_from(dmat_in(&pose.R));
	const spatial v = spatial_in(V), a = spatial_in(A);
	const vec3 e = mat_mul_dvec(R, on->r);
	f.R = mat_mul_dmat(R, on->R);
	f.r = add(vec_in(pose.r), e);
	f.w = v.a, f.al = a.a;
	f.v = add(v.l, cross(v.a, e));
	f.a = add(a.l, add(cross(a.a, e), cross(v.a, cross(v.a, e))));
	return f;
}

void loop_rows(const CalModel *model, CalWork *work, int accelerated) {
	LoopWork *w = &work->loops;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		const LoopFrame A = frame_of(model, work, loop->node_a, &loop->a, accelerated);
		const LoopFrame B = frame_of(model, work, loop->node_b, &loop->b, accelerated);
		LoopRow rows[CAL_LOOP_MAX_ROWS];
		const int n = loop_fill(loop, &A, &B, rows);
		w->point[l] = loop->type == CAL_LOOP_KNIFE ? A.r : B.r;
		for (int i = 0; i < n; ++i) {
			w->direction[loop->row + i] = rows[i].direction;
			w->value[loop->row + i] = rows[i].value;
			w->rate[loop->row + i] = rows[i].rate;
			w->acceleration[loop->row + i] = rows[i].acceleration;
		}
	}
}

/* ---- what a wrench on a node does ------------------------------------------------------------- */

/* A wrench at a point in the world, on a node: at the origin of its link, and on the modes of its body (tau). */
static spatial at_link(const CalModel *model, const CalWork *work, int node, vec3 point, spatial wrench, double *tau) {
	const NodePlace place = kinematics_node(model, work, node);
	const vec3 origin = add(kinematics_position(model, work, model->nodes[node].link), place.c);
	const spatial here = force_shift(wrench, sub(point, origin));
	for (int k = 0; place.flex && k < place.flex->m; ++k)
		tau[place.flex->u + k] += spatial_dot(kinematics_node_column(&place, k), here);
	return force_shift(here, place.c);
}

/* Generalised forces of a wrench, added to Q. */
static void generalize(const CalModel *model, const CalWork *work, int node, vec3 point, spatial wrench, double *Q) {
	if (node < 0 || model->nodes[node].link < 0)
		return;
	spatial f = at_link(model, work, node, point, wrench, Q);
	for (int i = model->nodes[node].link; i >= 0; i = model->links[i].parent) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k)
			Q[link->u + k] += spatial_dot(link_column(work, link, i, k), f);
		for (int k = 0; link->flex >= 0 && k < model->flexes[link->flex].m; ++k)
			Q[model->flexes[link->flex].u + k] += spatial_dot(flexible_column(model, link, work, k), f);
		f = force_shift(f, work->links[i].r);
	}
}

static const double CANCELLED = 1e-13;  // of two equal numbers that were computed on different ways
static const double NEGLIGIBLE = 1e-15; // of the largest in a row

/* G += other: inboard of both sides they cancel, and what round-off leaves is made zero. */
static void subtract_common(int n, const double *other, double *G) {
	double most = 0;
	for (int k = 0; k < n; ++k)
		most = fmax(most, fabs(G[k]) + fabs(other[k]));
	for (int k = 0; k < n; ++k) {
		const double size = fabs(G[k]) + fabs(other[k]), sum = G[k] + other[k];
		G[k] = fabs(sum) > fmax(CANCELLED * size, NEGLIGIBLE * most) ? sum : 0;
	}
}

INLINE spatial opposite(spatial s) { return (spatial){neg(s.a), neg(s.l)}; }

void loop_jacobian(const CalModel *model, CalWork *work) {
	LoopWork *w = &work->loops;
	memset(w->G, 0, sizeof(double) * (size_t)model->row_count * (size_t)model->nu);
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		for (int row = loop->row; row < loop->row + loop->rows; ++row) {
			double *G = w->G + (size_t)row * (size_t)model->nu;
			const spatial d = w->direction[row];
			memset(w->dq, 0, sizeof(double) * (size_t)model->nu);
			generalize(model, work, loop->plus, w->point[l], d, G);
			generalize(model, work, loop->minus, w->point[l], opposite(d), w->dq);
			subtract_common(model->nu, w->dq, G);
		}
	}
}

static void act_on(const CalModel *model, const CalWork *work, int node, vec3 point, spatial wrench, spatial *external,
                   double *tau) {
	if (node < 0 || model->nodes[node].link < 0)
		return;
	const int link = model->nodes[node].link;
	external[link] = spatial_add(external[link], at_link(model, work, node, point, wrench, tau));
}

void loop_act(const CalModel *model, const CalWork *work, spatial *external, double *tau) {
	const LoopWork *w = &work->loops;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		const spatial wrench = loop_wrench(loop, w);
		act_on(model, work, loop->plus, w->point[l], wrench, external, tau);
		act_on(model, work, loop->minus, w->point[l], opposite(wrench), external, tau);
	}
}

#endif
