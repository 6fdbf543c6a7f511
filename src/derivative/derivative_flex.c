// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_flex.c — flexible bodies in the derivatives [THEORY 10.2].
 *
 * A mode deforms its body, and moves the links of the body's nodes and, if the head moves with the modes, that of the body
 * frame B. On a node it is a coordinate like that of a joint, whose column depends on the modal coordinates: with
 * t = psi eta, theta = T(t) psi_k, x = phi_k + 2 phi2_k eta in B,
 *   theta' = w x theta + T' psi_k,  theta'' = W theta + 2 w x T' psi_k + T'' psi_k,  x', x'' likewise;  by speed: 2 theta', 2 x'
 * and on the modes a force (n, f) at the node acts also by the change of its columns, d(T psi_l)/d(eta_k).n + 2 phi2_kl.f.
 * B on a head that moves does the inverse: theta_B = -theta, x_B = -x + theta x c, c from B to the head.
 */
#include "derivative/derivative_flex.h"
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/composite.h"
#include "flexbody/flex_pose.h"

/* ---- the turn of a node --------------------------------------------------------------------------------- */

/* T = 1 + b [t]x + c [t]x^2 of SO(3), b and c of s = t.t, with first and second derivatives by s. */
typedef struct TurnCoefficients {
	double b, c, b1, c1, b2, c2;
} TurnCoefficients;

/* sum_k k (k - 1) (-1)^k s^(k-2) / (2k + order)! from k = 2 on, s < 1. */
static double second_slope(double s, int order) {
	double factorial = 1, power = 1, sum = 0;
	for (int i = 2; i <= 4 + order; ++i)
		factorial *= i;
	for (int k = 2; k < 14; ++k) {
		sum += k * (k - 1) * power / factorial;
		power *= -s;
		factorial *= (2 * k + order + 1) * (2 * k + order + 2);
	}
	return sum;
}

static TurnCoefficients turn_coefficients(double s) {
	const ExpCoefficients e = exp_coefficients(s);
	TurnCoefficients t = {e.b, e.c, e.b_s, e.c_s, 0, 0};
	if (s < 1) {
		t.b2 = second_slope(s, 2);
		t.c2 = second_slope(s, 3);
	} else { // 2 s b' = a - 2 b, 2 s c' = b - 3 c, 2 a' = c - b
		t.b2 = (0.5 * (e.c - e.b) - 4.0 * e.b_s) / (2.0 * s);
		t.c2 = (e.b_s - 5.0 * e.c_s) / (2.0 * s);
	}
	return t;
}

INLINE mat3 mat_madd(mat3 m, double k, mat3 b) {
	return (mat3){madd(m.x, k, b.x), madd(m.y, k, b.y), madd(m.z, k, b.z)};
}

/* [v]x, and (u v' + v u')/2 - u.v 1. */
INLINE mat3 mat_cross(vec3 v) { return (mat3){{0, v.z, -v.y}, {-v.z, 0, v.x}, {v.y, -v.x, 0}}; }
static mat3 mat_second(vec3 u, vec3 v) {
	const mat3 m = {scale(v.x, u), scale(v.y, u), scale(v.z, u)}, mt = {scale(u.x, v), scale(u.y, v), scale(u.z, v)};
	mat3 sum = mat_madd((mat3){scale(0.5, m.x), scale(0.5, m.y), scale(0.5, m.z)}, 0.5, mt);
	const double t = dot(u, v);
	sum.x.x -= t, sum.y.y -= t, sum.z.z -= t;
	return sum;
}

/* T and its first two time derivatives for t, t', t''. */
static void turn_rates(vec3 t, vec3 t1, vec3 t2, mat3 T[3]) {
	const double s1 = 2.0 * dot(t, t1), s2 = 2.0 * (dot(t1, t1) + dot(t, t2));
	const TurnCoefficients k = turn_coefficients(dot(t, t));
	const double b1 = k.b1 * s1, c1 = k.c1 * s1, b2 = k.b2 * s1 * s1 + k.b1 * s2, c2 = k.c2 * s1 * s1 + k.c1 * s2;
	const mat3 tt = mat_second(t, t), tt1 = mat_second(t, t1), tt2 = mat_second(t, t2), t1t1 = mat_second(t1, t1);
	const mat3 none = {vec_zero(), vec_zero(), vec_zero()};
	T[0] = mat_madd(mat_madd(mat_from(dmat_identity()), k.b, mat_cross(t)), k.c, tt);
	T[1] = mat_madd(mat_madd(mat_madd(mat_madd(none, b1, mat_cross(t)), k.b, mat_cross(t1)), c1, tt), 2.0 * k.c, tt1);
	T[2] = mat_madd(mat_madd(mat_madd(none, b2, mat_cross(t)), 2.0 * b1, mat_cross(t1)), k.b, mat_cross(t2));
	T[2] = mat_madd(mat_madd(mat_madd(mat_madd(T[2], c2, tt), 4.0 * c1, tt1), 2.0 * k.c, tt2), 2.0 * k.c, t1t1);
}

/* d(T'n)/dt. */
static mat3 turn_curvature(vec3 t, vec3 n) {
	const TurnCoefficients k = turn_coefficients(dot(t, t));
	const vec3 tn = cross(t, n), along = madd(scale(-2.0 * k.b1, tn), 2.0 * k.c1, cross(t, tn));
	vec3 column[3];
	for (int i = 0; i < 3; ++i) {
		const vec3 e = vec(i == 0, i == 1, i == 2), en = cross(e, n);
		const vec3 second = add(cross(e, tn), cross(t, en));
		column[i] = madd(madd(scale(dot(t, e), along), -k.b, en), k.c, second);
	}
	return (mat3){column[0], column[1], column[2]};
}

/* ---- motion by modes -------------------------------------------------------------------------------------- */

void modal_node_init(const Flex *flex, const FlexShape *shape, const FlexWork *w, const LinkWork *l,
                     DerivativeNode *node) {
	const int n = flex->n;
	*node = (DerivativeNode){.flex = flex, .shape = shape, .work = w, .base = l, .axes = flexible_axes(flex, l)};
	node->t = shape->moves ? rows_sum(shape->psi, n, w->eta) : vec_zero();
	const vec3 t1 = shape->moves ? rows_sum(shape->psi, n, w->eta_dot) : vec_zero();
	const vec3 t2 = shape->moves ? rows_sum(shape->psi, n, w->eta_ddot) : vec_zero();
	turn_rates(node->t, t1, t2, node->T);
}

static vec3 shape_of(const double *rows, int n, int k) { return vec(rows[k], rows[n + k], rows[2 * n + k]); }

/* v fixed in B, whose components have the rates v1 and v2 there: itself, first and second derivative in the world. */
static void body_vector(const DerivativeNode *node, vec3 v, vec3 v1, vec3 v2, vec3 out[3]) {
	const LinkWork *l = node->base;
	const vec3 x = mat_mul_vec(node->axes, v), x1 = mat_mul_vec(node->axes, v1);
	out[0] = x;
	out[1] = add(x1, cross(l->w, x));
	out[2] =
		add(madd(mat_mul_vec(node->axes, v2), 2.0, cross(l->w, x1)), mat_mul_vec(acceleration_field(l->w, l->al), x));
}

/* theta and x of mode k of the node on B, with their derivatives. */
static void node_displacement(const DerivativeNode *node, int k, vec3 theta[3], vec3 x[3]) {
	const FlexShape *shape = node->shape;
	const int n = node->flex->n;
	const vec3 o = vec_zero(), psi = shape->moves ? shape_of(shape->psi, n, k) : o;
	vec3 phi = shape->moves ? shape_of(shape->phi, n, k) : o, phi1 = o, phi2 = o;
	if (shape->moves && shape->phi2) {
		const double *second = shape->phi2 + k * 3 * n;
		phi = madd(phi, 2.0, rows_sum(second, n, node->work->eta));
		phi1 = scale(2.0, rows_sum(second, n, node->work->eta_dot));
		phi2 = scale(2.0, rows_sum(second, n, node->work->eta_ddot));
	}
	body_vector(node, mat_mul_vec(node->T[0], psi), mat_mul_vec(node->T[1], psi), mat_mul_vec(node->T[2], psi), theta);
	body_vector(node, phi, phi1, phi2, x);
}

DofMotion modal_node_motion(const DerivativeNode *node, int k, vec3 a) {
	vec3 theta[3], x[3];
	node_displacement(node, k, theta, x);
	return (DofMotion){.S = {theta[0], x[0]},
	                   .rate = theta[1],
	                   .acceleration = {theta[2], sub(x[2], cross(theta[0], a))},
	                   .speed = {scale(2.0, theta[1]), scale(2.0, x[1])}};
}

/* c, from B to the head, with its derivatives. */
static void head_place(const DerivativeNode *node, vec3 c[3]) {
	const FlexShape *shape = node->shape;
	const FlexWork *w = node->work;
	const int m = node->flex->m, n = node->flex->n;
	vec3 v = vec_from(shape->p), v1 = vec_zero(), v2 = vec_zero();
	if (shape->moves) {
		v = add(v, rows_sum(shape->phi, n, w->eta));
		v1 = rows_sum(shape->phi, n, w->eta_dot);
		v2 = rows_sum(shape->phi, n, w->eta_ddot);
	}
	for (int k = 0; shape->moves && shape->phi2 && k < m; ++k) {
		const double *second = shape->phi2 + k * 3 * n;
		const vec3 e = rows_sum(second, n, w->eta), e1 = rows_sum(second, n, w->eta_dot);
		v = madd(v, w->eta[k], e);
		v1 = madd(v1, 2.0 * w->eta_dot[k], e);
		v2 = madd(madd(v2, 2.0 * w->eta_ddot[k], e), 2.0 * w->eta_dot[k], e1);
	}
	body_vector(node, v, v1, v2, c);
}

/* The body frame on its head. */
static DofMotion head_motion(const DerivativeNode *node, int k, const vec3 c[3]) {
	vec3 t[3], h[3];
	node_displacement(node, k, t, h);
	const vec3 x = sub(cross(t[0], c[0]), h[0]);
	const vec3 x1 = sub(add(cross(t[1], c[0]), cross(t[0], c[1])), h[1]);
	const vec3 x2 = sub(add(madd(cross(t[2], c[0]), 2.0, cross(t[1], c[1])), cross(t[0], c[2])), h[2]);
	const vec3 theta = neg(t[0]);
	return (DofMotion){.S = {theta, x},
	                   .rate = neg(t[1]),
	                   .acceleration = {neg(t[2]), sub(x2, cross(theta, node->base->a))},
	                   .speed = {scale(-2.0, t[1]), scale(2.0, x1)}};
}

/* ---- modes of a body at one of its links -------------------------------------------------------------------- */

/* How columns l change with mode k under the force (n, f) of the link. */
typedef struct ModalCurvature {
	mat3 K;      // d(T'n)/dt, in B
	vec3 f;      // in B
	double sign; // 1: node, -1: head, whose columns turn besides
	spatial force;
	vec3 c; // from B to the head
} ModalCurvature;

static double curvature(const DerivativeNode *node, const ModalCurvature *c, const DofMotion *m, int l, int k) {
	const FlexShape *shape = node->shape;
	const int n = node->flex->n;
	double value = 0;
	if (shape->moves) {
		value = dot(shape_of(shape->psi, n, l), mat_mul_vec(c->K, shape_of(shape->psi, n, k)));
		if (shape->phi2)
			value += 2.0 * dot(shape_of(shape->phi2 + k * 3 * n, n, l), c->f);
	}
	if (c->sign > 0)
		return value;
	const vec3 turned = cross(m[k].S.a, m[l].S.a);
	const vec3 h = neg(add(m[l].S.l, cross(m[l].S.a, c->c))); // x of the head
	const vec3 moved = sub(cross(m[l].S.a, m[k].S.l), add(cross(m[k].S.a, h), cross(turned, c->c)));
	return dot(turned, c->force.a) + dot(moved, c->force.l) - value;
}

static void add_vec(double *rows, int stride, vec3 v) {
	rows[0] += v.x;
	rows[stride] += v.y;
	rows[2 * stride] += v.z;
}

/* Adds to the rows of a mode forces that act at r from the origin of B, which moves with rate there. */
static void add_rows(CalDerivatives *d, int u, vec3 r, vec3 rate, const spatial F[3], vec3 g, vec3 h) {
	static const int at[3] = {ROW_N1, ROW_N3, ROW_N4};
	double *rows = d->rows + u;
	for (int i = 0; i < 3; ++i) {
		const spatial shifted = force_shift(F[i], r);
		add_vec(rows + at[i] * d->stride, d->stride, shifted.a);
		add_vec(rows + (at[i] + 3) * d->stride, d->stride, shifted.l);
	}
	add_vec(rows + ROW_G * d->stride, d->stride, madd(g, 2.0, cross(rate, F[0].l)));
	add_vec(rows + ROW_H * d->stride, d->stride, h);
}

/* The modes among each other through the subtree s of a link, and their rows at B. */
static void add_modes(CalDerivatives *d, const DerivativeNode *node, const DofMotion *m, const Subtree *s,
                      const ModalCurvature *c, vec3 r, vec3 rate) {
	const int u = node->flex->u, count = node->flex->m;
	const size_t stride = (size_t)d->stride;
	for (int k = 0; k < count; ++k) {
		const vec3 theta = m[k].S.a;
		const spatial F1 = composite_mul(&s->c, m[k].S), F4 = subtree_force(s, m[k].speed, theta);
		spatial F3 = spatial_add(subtree_force(s, m[k].acceleration, m[k].rate), subtree_world(s, theta));
		F3 = spatial_add(F3, (spatial){cross(theta, s->f.a), cross(theta, s->f.l)});
		for (int l = 0; l < count; ++l) {
			const size_t row = (size_t)(u + l) * stride, at = row + (size_t)(u + k);
			d->M[at] += 0.5 * spatial_dot(m[l].S, F1);
			d->dq[row + at] += spatial_dot(m[l].S, F3) + curvature(node, c, m, l, k);
			d->du[row + at] += spatial_dot(m[l].S, F4);
		}
		F3.a = add(F3.a, cross(m[k].S.l, s->f.l));
		add_rows(d, u + k, r, rate, (const spatial[3]){F1, F3, F4}, subtree_rate_row(s, m[k].S),
		         subtree_world_row(s, m[k].S));
	}
}

static ModalCurvature node_curvature(const DerivativeNode *node, spatial f) {
	return (ModalCurvature){
		.K = turn_curvature(node->t, mat_tmul_vec(node->axes, f.a)), .f = mat_tmul_vec(node->axes, f.l), .sign = 1};
}

/* The moment about the head is n - c x f. */
static ModalCurvature head_curvature(const DerivativeNode *node, spatial f, vec3 c) {
	const vec3 n = sub(f.a, cross(c, f.l));
	return (ModalCurvature){.K = turn_curvature(node->t, mat_tmul_vec(node->axes, n)),
	                        .f = mat_tmul_vec(node->axes, f.l),
	                        .sign = -1,
	                        .force = f,
	                        .c = c};
}

void derivative_flex_link(const CalModel *model, int i, CalDerivatives *d) {
	const Link *link = &model->links[i];
	const LinkColumns *columns = &d->columns[i];
	const DofMotion *m = d->motions + columns->motion;
	const CalWork *work = d->work;
	const Subtree *s = &d->subtree[i];
	DerivativeNode node;
	const int head = link->motion == PRIMITIVE_FLEX;
	modal_node_init(&model->flexes[link->flex], &model->shapes[link->shape], &work->flex[link->flex],
	                &work->links[head ? i : link->parent], &node);
	if (head) {
		vec3 c[3];
		head_place(&node, c);
		const ModalCurvature curvature = head_curvature(&node, s->f, c[0]);
		add_modes(d, &node, m, s, &curvature, vec_zero(), vec_zero());
	} else {
		const ModalCurvature curvature = node_curvature(&node, s->f);
		add_modes(d, &node, m, s, &curvature, work->links[i].r, d->rate[i]);
	}
}

void derivative_flex_wrench(int link, const NodePlace *place, const Subtree *s, CalDerivatives *d) {
	DerivativeNode node;
	DofMotion *m = d->motions + d->spare;
	modal_node_init(place->flex, place->shape, place->work, &d->work->links[link], &node);
	for (int k = 0; k < place->flex->m; ++k)
		m[k] = modal_node_motion(&node, k, vec_zero());
	const ModalCurvature curvature = node_curvature(&node, s->f);
	add_modes(d, &node, m, s, &curvature, place->c, vec_zero());
}

void derivative_flex_columns(const CalModel *model, CalDerivatives *d) {
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		if (link->flex < 0)
			continue;
		DofMotion *m = d->motions + d->columns[i].motion;
		const LinkWork *links = d->work->links;
		const int head = link->motion == PRIMITIVE_FLEX;
		DerivativeNode node;
		vec3 c[3];
		modal_node_init(&model->flexes[link->flex], &model->shapes[link->shape], &d->work->flex[link->flex],
		                &links[head ? i : link->parent], &node);
		if (head)
			head_place(&node, c);
		for (int k = 0; k < model->flexes[link->flex].m; ++k)
			m[k] = head ? head_motion(&node, k, c) : modal_node_motion(&node, k, links[i].a);
	}
}

void derivative_flex_begin(const CalModel *model, CalDerivatives *d) {
	if (model->flex_count == 0)
		return;
	derivative_flex_columns(model, d);
	for (int f = 0; f < model->flex_count; ++f)
		derivative_flex_own(model, f, d);
}
