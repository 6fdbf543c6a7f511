// SPDX-License-Identifier: Apache-2.0
/*
 * general_link.c — links whose motion the sweeps do not write out: screw, free, user-defined, fixed, and
 * those of flexible bodies (flexible.c). Everything comes from the motion's relative pose and columns.
 *
 * With F the inboard frame, w' and al' of the base, and S u = (w_r, v_r) in world axes:
 *   w = w' + w_r,  al = al' + Sdot_u_w + w' x w_r,  a = a' + al' x r + w' x (w' x r) + 2 w' x v_r + Sdot_u_v
 */
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/sweep.h"

/* Pose from the relative one; returns the inboard frame F. */
INLINE mat3 place_frame(const Link *link, mat3 R, vec3 r, const LinkWork *base, LinkWork *l) {
	const mat3 F = link_inboard(link, &base->R);
	l->R = mat_mul(F, R);
	l->r = add(mat_mul_dvec(base->R, link->p), mat_mul_vec(F, r));
	return F;
}

/* Columns of a free link: along the axes of F, about those of the link. */
INLINE void put_free_columns(mat3 F, mat3 R, spatial *S) {
	const vec3 o = vec_zero();
	S[0] = (spatial){o, F.x}, S[1] = (spatial){o, F.y}, S[2] = (spatial){o, F.z};
	S[3] = (spatial){R.x, o}, S[4] = (spatial){R.y, o}, S[5] = (spatial){R.z, o};
}

/* Pose and columns from the relative motion; returns the inboard frame F. */
static mat3 place_link(const Link *link, const RelativeMotion *rel, const LinkWork *base, CalWork *work, LinkWork *l) {
	const mat3 F = place_frame(link, rel->R, rel->r, base, l);
	spatial *S = &work->columns[link->u];
	if (link->motion == PRIMITIVE_FREE) {
		put_free_columns(F, l->R, S);
		return F;
	}
	for (int k = 0; k < link->nu; ++k)
		S[k] = (spatial){mat_mul_vec(F, rel->S[k].a), mat_mul_vec(F, rel->S[k].l)};
	return F;
}

void LANED(general_pose)(const Link *link, const real *q, const LinkWork *base, CalWork *work, LinkWork *l) {
	if (link->flex >= 0) {
		LANED(flexible_motion)(work->model, link, base, 0, work, l);
		return;
	}
	if (link->motion == PRIMITIVE_FREE) {
		const real *p = q + link->q;
		const mat3 F = place_frame(link, quat_matrix(p[3], p[4], p[5], p[6]), vec(p[0], p[1], p[2]), base, l);
		put_free_columns(F, l->R, &work->columns[link->u]);
		return;
	}
	RelativeMotion rel;
	LANED(primitive_evaluate)((JointPrimitive)link->motion, &link->data, q + link->q, NULL, &rel);
	place_link(link, &rel, base, work, l);
}

void LANED(general_link)(const Link *link, const real *q, const real *u, const LinkWork *base, CalWork *work,
                         LinkWork *l) {
	if (link->flex >= 0) {
		LANED(flexible_motion)(work->model, link, base, 1, work, l);
		return;
	}
	RelativeMotion rel;
	LANED(primitive_evaluate)((JointPrimitive)link->motion, &link->data, q + link->q, u + link->u, &rel);
	const mat3 F = place_link(link, &rel, base, work, l);
	spatial relative = spatial_zero();
	for (int k = 0; k < link->nu; ++k)
		relative = spatial_madd(relative, u[link->u + k], work->columns[link->u + k]);
	l->w = add(base->w, relative.a);
	l->al = add(add(base->al, mat_mul_vec(F, rel.Sdot_u.a)), cross(base->w, relative.a));
	const vec3 own = add(mat_mul_vec(F, rel.Sdot_u.l), scale(real_from(2.0), cross(base->w, relative.l)));
	l->a = add(add(base->a, acceleration_at(base->w, base->al, l->r)), own);
}
