// SPDX-License-Identifier: Apache-2.0
/*
 * sweep.h — the pieces that the sweeps in world axes share: sines and cosines of all angles at once, the
 * pose of a link, its velocity terms, its inertia.
 *
 * World axes for everything and a reference point per link: shifting a spatial quantity between links is
 * then a translation [THEORY (1.2)], no 6x6 is ever rotated, and no linear velocity is needed. A link's
 * motion enters in three ways: R and r (pose), motion subspace S (world axes, about its origin), and the
 * acceleration that u alone gives.
 */
#ifndef CALDER_DYNAMICS_TREE_SWEEP_H
#define CALDER_DYNAMICS_TREE_SWEEP_H

#include "model/work.h"

/* Sines and cosines of the angles of all rotations. */
INLINE void sweep_trig(const CalModel *model, const real *q, CalWork *work) {
	for (int i = 0; i < model->trig_count; ++i)
		work->angle[i] = q[model->trig_q[i]] + model->trig_offset[i];
#if CAL_LANES == 1
	sincos_array(work->angle, work->sine, work->cosine, model->trig_count);
#else
	for (int i = 0; i < model->trig_count; ++i)
		sincos_real(work->angle[i], &work->sine[i], &work->cosine[i]);
#endif
}

/* F Rz(angle) */
INLINE mat3 turn_about_z(mat3 F, real s, real c) {
	return (mat3){{F.x.x * c + F.y.x * s, F.x.y * c + F.y.y * s, F.x.z * c + F.y.z * s},
	              {F.y.x * c - F.x.x * s, F.y.y * c - F.x.y * s, F.y.z * c - F.x.z * s},
	              F.z};
}

/* F times the rotation of a spherical joint's quaternion. */
INLINE mat3 turn_by_quaternion(mat3 F, const real *q) { return mat_mul(F, quat_matrix(q[0], q[1], q[2], q[3])); }

/* Motions other than a rotation, a translation or a ball: pose and columns; the same with the velocity terms. */
void LANED(general_pose)(const Link *link, const real *q, const LinkWork *base, CalWork *work, LinkWork *l);
void LANED(general_link)(const Link *link, const real *q, const real *u, const LinkWork *base, CalWork *work,
                         LinkWork *l);

/*
 * links[-1] is the ground, so that a base is always a record. It accelerates with -gravity, which weighs
 * every mass. Records are read field by field: copying one as a whole would move pairs of numbers that
 * were just stored singly, which stalls.
 */
INLINE void ground_init(CalWork *work, dvec3 gravity) {
	LinkWork *ground = &work->links[-1];
	ground->R = mat_from(dmat_identity());
	ground->r = ground->w = ground->al = vec_zero();
	ground->a = vec_from((dvec3){-gravity.x, -gravity.y, -gravity.z});
	ground->W = (mat3){vec_zero(), vec_zero(), vec_zero()};
	work->gravity = gravity;
}

/* Pose of a link on its base: R, r and columns. */
INLINE void link_pose(const Link *link, const LinkWork *base, const real *q, CalWork *work, LinkWork *l) {
	if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
		l->R = turn_about_z(link_inboard(link, &base->R), work->sine[link->trig], work->cosine[link->trig]);
		l->r = mat_mul_dvec(base->R, link->p);
	} else if (link->motion == PRIMITIVE_TRANSLATION) {
		l->R = link_inboard(link, &base->R);
		l->r = madd(mat_mul_dvec(base->R, link->p), q[link->q], l->R.z);
	} else if (link->motion == PRIMITIVE_SPHERICAL) {
		l->R = turn_by_quaternion(link_inboard(link, &base->R), q + link->q);
		l->r = mat_mul_dvec(base->R, link->p);
	} else {
		LANED(general_pose)(link, q, base, work, l);
	}
}

/*
 * Pose and, at udot = 0, angular velocity and accelerations of a link on its base:
 *   w = w' + S_w u,  al = al' + w' x S_w u,  a = a' + W' r + 2 w' x S_v u   (primes: base)
 */
INLINE void link_motion(const Link *link, const LinkWork *base, const real *q, const real *u, CalWork *work,
                        LinkWork *l) {
	if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
		l->R = turn_about_z(link_inboard(link, &base->R), work->sine[link->trig], work->cosine[link->trig]);
		const vec3 zu = scale(u[link->u], l->R.z);
		l->w = add(base->w, zu);
		l->al = add(base->al, cross(base->w, zu));
		l->r = vec_zero();
		l->a = base->a;
		if (LIKELY(!link->zero_offset)) {
			l->r = mat_mul_dvec(base->R, link->p);
			l->a = add(base->a, mat_mul_vec(base->W, l->r));
		}
	} else if (link->motion == PRIMITIVE_TRANSLATION) {
		l->R = link_inboard(link, &base->R);
		l->r = madd(mat_mul_dvec(base->R, link->p), q[link->q], l->R.z);
		l->w = base->w;
		l->al = base->al;
		const vec3 coriolis = cross(base->w, scale(2.0 * u[link->u], l->R.z));
		l->a = add(add(base->a, mat_mul_vec(base->W, l->r)), coriolis);
	} else if (link->motion == PRIMITIVE_SPHERICAL) {
		l->R = turn_by_quaternion(link_inboard(link, &base->R), q + link->q);
		l->r = mat_mul_dvec(base->R, link->p);
		const vec3 Ru = mat_mul_vec(l->R, vec(u[link->u], u[link->u + 1], u[link->u + 2]));
		l->w = add(base->w, Ru);
		l->al = add(base->al, cross(base->w, Ru));
		l->a = add(base->a, mat_mul_vec(base->W, l->r));
	} else {
		LANED(general_link)(link, q, u, base, work, l);
		if (link->motion == PRIMITIVE_NODE && work->flex[link->flex].fused && link[1].zero_offset &&
		    link[1].motion == PRIMITIVE_ROTATION)
			return; // a rotation in place does not ask for W
	}
	l->W = acceleration_field(l->w, l->al);
}

/* Mass moments of a link in world axes. */
INLINE Composite link_inertia(const Link *link, const mat3 *R) {
	return (Composite){real_from(link->inertia.m), mat_mul_dvec(*R, link->inertia.mc),
	                   second_moment_rotate(&link->inertia, *R)};
}

/* Force at the link's origin that its own inertia needs in the motion (W, a). */
INLINE spatial link_inertia_force(const Composite *c, const LinkWork *l) {
	const vec3 f = madd(mat_mul_vec(l->W, c->mc), c->m, l->a);
	return (spatial){add(second_moment_torque(c->Sigma, l->W), cross(c->mc, l->a)), f};
}

#endif
