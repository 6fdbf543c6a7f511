// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_motion.c — what a unit of each joint dof does to its link.
 *
 * Primes: the parent link, in whose frame the axis of a rotation and the direction of a translation are fixed. Then
 *   rotation      theta' = w' x theta,  theta'' = W' theta,  x = 0;     by speed: 2 theta'
 *   translation   x' = w' x x,  x'' = W' x;                             by speed: 2 x'
 * The columns of a ball turn with the link while its speeds stay: with theta fixed in the link the same expressions hold for
 * theta' and theta'' (the ball's own speed drops out of both), and by speed it is (w' + w) x theta.
 */
#include "derivative/derivative.h"

/* Columns fixed in the parent: x'' and twice x'. */
INLINE void translate(const LinkWork *base, vec3 x, DofMotion *m) {
	m->S = (spatial){vec_zero(), x};
	m->rate = vec_zero();
	m->acceleration = (spatial){vec_zero(), mat_mul_vec(acceleration_field(base->w, base->al), x)};
	m->speed = (spatial){vec_zero(), scale(2.0, cross(base->w, x))};
}

INLINE void rotate(const LinkWork *base, const LinkWork *l, vec3 axis, DofMotion *m) {
	m->S = (spatial){axis, vec_zero()};
	m->rate = cross(base->w, axis);
	m->acceleration = (spatial){mat_mul_vec(acceleration_field(base->w, base->al), axis), cross(l->a, axis)};
	m->speed = (spatial){add(m->rate, cross(l->w, axis)), vec_zero()};
}

static void screw(const LinkWork *base, const LinkWork *l, spatial S, DofMotion *m) {
	DofMotion along;
	translate(base, S.l, &along);
	rotate(base, l, S.a, m);
	m->S = S;
	m->acceleration.l = add(m->acceleration.l, along.acceleration.l);
	m->speed.l = along.speed.l;
}

static void general_motion(const Link *link, const CalWork *work, int i, DofMotion *m) {
	const LinkWork *base = &work->links[link->parent], *l = &work->links[i];
	for (int k = 0; k < link->nu; ++k) {
		const spatial S = link_column(work, link, i, k);
		switch (primitive_column_kind((JointPrimitive)link->motion, k)) {
		case COLUMN_ROTATION:
			rotate(base, l, S.a, &m[k]);
			break;
		case COLUMN_TRANSLATION:
			translate(base, S.l, &m[k]);
			break;
		case COLUMN_FULL:
			screw(base, l, S, &m[k]);
			break;
		}
	}
}

/* Velocity of the link's origin from that of its parent's. */
INLINE vec3 origin_rate(const CalModel *model, const Link *link, const CalWork *work, int i, const double *u) {
	vec3 v = cross(work->links[link->parent].w, work->links[i].r);
	if (LIKELY(link->motion == PRIMITIVE_ROTATION))
		return v;
	for (int k = 0; k < link->nu; ++k)
		v = madd(v, u[link->u + k], link_column(work, link, i, k).l);
	if (link->flex >= 0) {
		const Flex *flex = &model->flexes[link->flex];
		const real *x = work->modal_columns + link->columns + 3 * flex->n;
		for (int k = 0; k < flex->m; ++k)
			v = madd(v, u[flex->u + k], vec(x[k], x[flex->n + k], x[2 * flex->n + k]));
	}
	return v;
}

void derivative_motions(const CalModel *model, const double *u, CalDerivatives *d) {
	const CalWork *work = d->work;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		d->rate[i] = origin_rate(model, link, work, i, u);
		if (LIKELY(link->motion == PRIMITIVE_ROTATION))
			rotate(&work->links[link->parent], &work->links[i], work->links[i].R.z, &d->motions[link->u]);
		else
			general_motion(link, work, i, &d->motions[link->u]);
	}
}
