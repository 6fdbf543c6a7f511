// SPDX-License-Identifier: Apache-2.0
/*
 * loop_rows.c — the rows of loop constraints [THEORY 5].
 *
 * Axes a_i of frame A, b_j of frame B, rho = r_B - r_A. Every row is a function of the relative pose whose rate is
 *   n.(w_B - w_A) + f.(v_B - v_A - w_A x rho):
 * the wrench (n, f) at the origin of B is its direction, acting on B, and its opposite at the same point on A.
 *   translation   a_i.rho          f = a_i
 *   rotation      s a_i.b_j        n = s b_j x a_i
 *   distance      |rho| - length   f = rho/|rho|
 * Second derivatives are those of these expressions, with the accelerations as they are.
 */
#include <calder/dynamics.h>
#include "dynamics/flexible.h"
#include "dynamics/kinematics.h"
#include "dynamics/loops.h"

#if CAL_LANES == 1

typedef struct LoopFrame {
	mat3 R;
	vec3 r, w, v, al, a;
} LoopFrame;

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

/* One row in the making. */
typedef struct Row {
	spatial direction;
	double value, rate, acceleration;
} Row;

INLINE vec3 axis(const mat3 *R, int i) { return i == 0 ? R->x : i == 1 ? R->y : R->z; }

static Row translation(const LoopFrame *A, const LoopFrame *B, int i) {
	const vec3 a = axis(&A->R, i), rho = sub(B->r, A->r), rate = sub(B->v, A->v), wa = cross(A->w, a);
	const vec3 a_rate = add(cross(A->al, a), cross(A->w, wa));
	return (Row){{vec_zero(), a},
	             dot(a, rho),
	             dot(a, rate) + dot(wa, rho),
	             dot(a, sub(B->a, A->a)) + 2 * dot(wa, rate) + dot(a_rate, rho)};
}

/* s a_i.b_j */
static Row rotation(const LoopFrame *A, const LoopFrame *B, int i, int j, double s) {
	const vec3 a = axis(&A->R, i), b = axis(&B->R, j), w = sub(B->w, A->w);
	const vec3 n = scale(s, cross(b, a));
	const vec3 n_rate = scale(s, add(cross(cross(B->w, b), a), cross(b, cross(A->w, a))));
	return (Row){{n, vec_zero()}, s * dot(a, b), dot(n, w), dot(n, sub(B->al, A->al)) + dot(n_rate, w)};
}

/* (a_i.b_j - a_j.b_i)/2 */
static Row skew(const LoopFrame *A, const LoopFrame *B, int i, int j) {
	const Row x = rotation(A, B, i, j, 0.5), y = rotation(A, B, j, i, -0.5);
	return (Row){spatial_add(x.direction, y.direction), x.value + y.value, x.rate + y.rate,
	             x.acceleration + y.acceleration};
}

static Row distance(const LoopFrame *A, const LoopFrame *B, double length) {
	const vec3 rho = sub(B->r, A->r), rate = sub(B->v, A->v);
	const double d = sqrt(dot(rho, rho));
	const vec3 f = d > 0 ? scale(1 / d, rho) : A->R.x;
	const double d_rate = dot(f, rate);
	const double turning = d > 0 ? (dot(rate, rate) - d_rate * d_rate) / d : 0;
	return (Row){{vec_zero(), f}, d - length, d_rate, dot(f, sub(B->a, A->a)) + turning};
}

/* y_A.v_A: acts on A itself. */
static Row knife(const LoopFrame *A) {
	const vec3 y = A->R.y;
	return (Row){{vec_zero(), y}, 0, dot(y, A->v), dot(y, A->a) + dot(cross(A->w, y), A->v)};
}

/* Translations along the axes in `along` (bits), then the rotations of the type. */
static int fill(const Loop *loop, const LoopFrame *A, const LoopFrame *B, Row *row) {
	static const unsigned along[CAL_LOOP_TYPE_COUNT] = {
		[CAL_LOOP_WELD] = 7,      [CAL_LOOP_REVOLUTE] = 7,  [CAL_LOOP_PRISMATIC] = 3, [CAL_LOOP_CYLINDRICAL] = 3,
		[CAL_LOOP_UNIVERSAL] = 7, [CAL_LOOP_SPHERICAL] = 7, [CAL_LOOP_PLANAR] = 4,    [CAL_LOOP_INPLANE] = 4,
	};
	int n = 0;
	for (int i = 0; i < 3; ++i) {
		if (along[loop->type] & 1u << i)
			row[n++] = translation(A, B, i);
	}
	switch (loop->type) {
	case CAL_LOOP_WELD:
	case CAL_LOOP_PRISMATIC:
		row[n++] = skew(A, B, 2, 1);
		row[n++] = skew(A, B, 0, 2);
		row[n++] = skew(A, B, 1, 0);
		break;
	case CAL_LOOP_REVOLUTE:
	case CAL_LOOP_CYLINDRICAL:
	case CAL_LOOP_PLANAR:
		row[n++] = rotation(A, B, 1, 2, -1);
		row[n++] = rotation(A, B, 0, 2, 1);
		break;
	case CAL_LOOP_UNIVERSAL:
		row[n++] = rotation(A, B, 0, 1, 1);
		break;
	case CAL_LOOP_DISTANCE:
		row[n++] = distance(A, B, loop->length);
		break;
	case CAL_LOOP_KNIFE:
		row[n++] = knife(A);
		break;
	case CAL_LOOP_SPHERICAL:
	case CAL_LOOP_INPLANE:
	case CAL_LOOP_TYPE_COUNT:
		break;
	}
	return n;
}

void loop_rows(const CalModel *model, CalWork *work, int accelerated) {
	LoopWork *w = &work->loops;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		const LoopFrame A = frame_of(model, work, loop->node_a, &loop->a, accelerated);
		const LoopFrame B = frame_of(model, work, loop->node_b, &loop->b, accelerated);
		Row rows[CAL_LOOP_MAX_ROWS];
		const int n = fill(loop, &A, &B, rows);
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
			if (loop->type == CAL_LOOP_KNIFE) {
				generalize(model, work, loop->node_a, w->point[l], d, G);
				continue;
			}
			memset(w->dq, 0, sizeof(double) * (size_t)model->nu);
			generalize(model, work, loop->node_b, w->point[l], d, G);
			generalize(model, work, loop->node_a, w->point[l], opposite(d), w->dq);
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
		if (loop->type == CAL_LOOP_KNIFE) {
			act_on(model, work, loop->node_a, w->point[l], wrench, external, tau);
			continue;
		}
		act_on(model, work, loop->node_b, w->point[l], wrench, external, tau);
		act_on(model, work, loop->node_a, w->point[l], opposite(wrench), external, tau);
	}
}

#endif
