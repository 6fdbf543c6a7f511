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

#include "math/trio.h"
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

/* What a link needs of its base, in registers: orientation, angular velocity, accelerations at udot = 0. */
typedef struct LinkMotion {
	trio3 R;
	trio w, al, a;
	TrioField W; // of w and al
} LinkMotion;

INLINE TrioField keep_field(LinkWork *l, TrioField W) {
	trio_store_wide(&l->W[0], W.c);
	trio_store_wide(&l->W[1], W.n);
	trio_store_wide(&l->W[2], W.p);
	return W;
}
INLINE TrioField link_field_load(const LinkWork *l) {
	return (TrioField){trio_load_any(&l->W[0]), trio_load_any(&l->W[1]), trio_load_any(&l->W[2])};
}

/* Of a record that was stored long before; of one that was just stored without W, number by number. */
INLINE LinkMotion link_motion_load(const LinkWork *l) {
	return (LinkMotion){trio3_load_wide(&l->R), trio_load_wide(&l->w), trio_load_wide(&l->al), trio_load_wide(&l->a),
	                    link_field_load(l)};
}
INLINE LinkMotion link_motion_reload(LinkWork *l) {
	const trio w = trio_from(l->w), al = trio_from(l->al);
	return (LinkMotion){trio3_from(l->R), w, al, trio_from(l->a), keep_field(l, trio_field_of(w, al))};
}
/* Each part as soon as it is known, in the order of addresses. */
INLINE trio3 keep_R(LinkWork *l, trio3 R) { return trio3_store_wide(&l->R, R), R; }
INLINE trio keep_vec(vec3 *to, trio v) { return trio_store_wide(to, v), v; }

/* The base of a link: `m` where it is kept in registers, otherwise read from its record where it is wanted. */
typedef struct LinkBase {
	const LinkMotion *m;
	const LinkWork *l;
} LinkBase;

INLINE trio3 base_R(LinkBase b) { return TRIO_IN_REGISTER ? b.m->R : trio3_load(&b.l->R); }
INLINE trio base_w(LinkBase b) { return TRIO_IN_REGISTER ? b.m->w : trio_load(&b.l->w); }
INLINE trio base_al(LinkBase b) { return TRIO_IN_REGISTER ? b.m->al : trio_load(&b.l->al); }
INLINE trio base_a(LinkBase b) { return TRIO_IN_REGISTER ? b.m->a : trio_load(&b.l->a); }
INLINE TrioField base_W(LinkBase b) { return TRIO_IN_REGISTER ? b.m->W : link_field_load(b.l); }

/* The frame before a link's own motion: link_inboard() in registers. */
INLINE trio3 motion_inboard(const Link *link, LinkBase base) {
	if (LIKELY(link->pure_rx))
		return trio3_turn_x(base_R(base), real_from(link->E.y.z), real_from(link->E.y.y));
	return trio3_mul_dmat(base_R(base), link->E);
}

/* al' + w' x w_r, with w_r relative to the base */
INLINE trio motion_turn(LinkBase base, trio w_r) { return trio_add(base_al(base), trio_cross(base_w(base), w_r)); }
/* a' + W' r */
INLINE trio motion_carry(LinkBase base, trio r) {
	return trio_add(base_a(base), trio_field_mul(base_W(base), r, trio_next(r), trio_prev(r)));
}

INLINE LinkMotion rotation_motion(const Link *link, LinkBase base, real s, real c, real u, LinkWork *l) {
	LinkMotion m = {.R = keep_R(l, trio3_turn_z(motion_inboard(link, base), s, c))};
	const trio r = keep_vec(&l->r, link->zero_offset ? trio_zero() : trio3_mul_dvec(base_R(base), link->p));
	const trio zu = trio_times(u, m.R.z);
	m.w = keep_vec(&l->w, trio_add(base_w(base), zu));
	m.al = keep_vec(&l->al, motion_turn(base, zu));
	m.a = keep_vec(&l->a, link->zero_offset ? base_a(base) : motion_carry(base, r));
	m.W = keep_field(l, trio_field_of(m.w, m.al));
	return m;
}

INLINE LinkMotion translation_motion(const Link *link, LinkBase base, real q, real u, LinkWork *l) {
	LinkMotion m = {.R = keep_R(l, motion_inboard(link, base))};
	const trio r = keep_vec(&l->r, trio_madd(trio3_mul_dvec(base_R(base), link->p), q, m.R.z));
	const trio coriolis = trio_cross(base_w(base), trio_times(2.0 * u, m.R.z));
	m.w = keep_vec(&l->w, base_w(base));
	m.al = keep_vec(&l->al, base_al(base));
	m.a = keep_vec(&l->a, trio_add(motion_carry(base, r), coriolis));
	m.W = keep_field(l, base_W(base));
	return m;
}

INLINE LinkMotion ball_motion(const Link *link, LinkBase base, const real *q, const real *u, LinkWork *l) {
	const trio3 F = motion_inboard(link, base);
	const mat3 Q = quat_matrix(q[0], q[1], q[2], q[3]);
	LinkMotion m = {.R = keep_R(l, (trio3){trio3_mul(F, Q.x), trio3_mul(F, Q.y), trio3_mul(F, Q.z)})};
	const trio r = keep_vec(&l->r, trio3_mul_dvec(base_R(base), link->p));
	const trio Ru = trio3_mul(m.R, vec(u[0], u[1], u[2]));
	m.w = keep_vec(&l->w, trio_add(base_w(base), Ru));
	m.al = keep_vec(&l->al, motion_turn(base, Ru));
	m.a = keep_vec(&l->a, motion_carry(base, r));
	m.W = keep_field(l, trio_field_of(m.w, m.al));
	return m;
}

/*
 * Pose and, at udot = 0, angular velocity and accelerations of a link on its base:
 *   w = w' + S_w u,  al = al' + w' x S_w u,  a = a' + W' r + 2 w' x S_v u   (primes: base)
 * To the record, and in registers for the next link.
 */
INLINE LinkMotion link_motion(const Link *link, LinkBase base, const real *q, const real *u, CalWork *work,
                              LinkWork *l) {
	if (LIKELY(link->motion == PRIMITIVE_ROTATION))
		return rotation_motion(link, base, work->sine[link->trig], work->cosine[link->trig], u[link->u], l);
	if (link->motion == PRIMITIVE_TRANSLATION)
		return translation_motion(link, base, q[link->q], u[link->u], l);
	if (link->motion == PRIMITIVE_SPHERICAL)
		return ball_motion(link, base, q + link->q, u + link->u, l);
	LANED(general_link)(link, q, u, base.l, work, l);
	return link_motion_reload(l);
}

/* Mass moments of a link in world axes. */
INLINE Composite link_inertia(const Link *link, const mat3 *R) {
	return (Composite){real_from(link->inertia.m), mat_mul_dvec(*R, link->inertia.mc),
	                   second_moment_rotate(&link->inertia, *R)};
}

/* Force at the link's origin that its own inertia needs where it turns with w and al, and its origin accelerates by a. */
INLINE spatial link_inertia_force(const Composite *c, vec3 w, vec3 al, vec3 a) {
	const mat3 W = acceleration_field(w, al);
	const vec3 f = madd(mat_mul_vec(W, c->mc), c->m, a);
	return (spatial){add(second_moment_torque(c->Sigma, W), cross(c->mc, a)), f};
}

#endif
