// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_joint.h — pose and motion of one link on its parent, for a thread that holds one state.
 *
 * The equations and the order of operations are those of dynamics/tree/sweep.h and general_link.c, by the same functions of
 * math/trio.h: compiled without contraction they give the same bits. What differs is where numbers are: a motion is a value,
 * and the field W of accelerations, which follows from it exactly, is never kept. `motion` is that of the link, a constant in
 * kernels for models of rotations alone.
 */
#ifndef CALDER_GPU_GPU_JOINT_H
#define CALDER_GPU_GPU_JOINT_H

#include "gpu/gpu_model.h"
#include "joint/primitive.h"
#include "math/trio_inertia.h"

/** Orientation, angular velocity, accelerations at udot = 0, in world axes. */
typedef struct GpuMotion {
	trio3 R;
	trio w, al, a;
} GpuMotion;

/** A link on its parent: its orientation, its origin from the parent's, the inboard frame (SCREW, FREE). */
typedef struct GpuPose {
	trio3 R, F;
	trio r;
} GpuPose;

/** Numbers of one state: x[k * stride]. */
typedef struct GpuColumn {
	const double *x;
	int64_t stride;
} GpuColumn;

INLINE double column_at(GpuColumn c, int k) { return c.x[k * c.stride]; }

/* ---- pose -------------------------------------------------------------------------------------- */

INLINE trio3 gpu_inboard(const GpuLink *link, trio3 R) {
	return link->pure_rx ? trio3_turn_x(R, link->E.y.z, link->E.y.y) : trio3_mul_dmat(R, link->E);
}

INLINE trio3 trio3_mul_mat(trio3 F, mat3 Q) {
	const trio3 product = {trio3_mul(F, Q.x), trio3_mul(F, Q.y), trio3_mul(F, Q.z)};
	return product;
}

INLINE mat3 gpu_quaternion(GpuColumn q, int first) {
	return quat_matrix(column_at(q, first), column_at(q, first + 1), column_at(q, first + 2), column_at(q, first + 3));
}

/* Orientation of a screw relative to its inboard frame. */
INLINE mat3 screw_turn(double angle) {
	double s, c;
	sincos_real(angle, &s, &c);
	const mat3 turn = {vec(c, s, 0), vec(-s, c, 0), vec(0, 0, 1)};
	return turn;
}

/* Motions other than a rotation, a translation or a ball. */
INLINE GpuPose general_place(const GpuLink *link, int motion, trio3 R, GpuColumn q) {
	mat3 turn = {vec(1, 0, 0), vec(0, 1, 0), vec(0, 0, 1)};
	vec3 moved = vec_zero();
	if (motion == PRIMITIVE_FREE) {
		turn = gpu_quaternion(q, link->q + 3);
		moved = vec(column_at(q, link->q), column_at(q, link->q + 1), column_at(q, link->q + 2));
	} else if (motion == PRIMITIVE_SCREW) {
		turn = screw_turn(column_at(q, link->q));
		moved = scale(link->pitch * column_at(q, link->q), vec(0, 0, 1));
	}
	const trio3 F = gpu_inboard(link, R);
	const GpuPose pose = {trio3_mul_mat(F, turn), F, trio_add(trio3_mul_dvec(R, link->p), trio3_mul(F, moved))};
	return pose;
}

/* Orientation of a rotation by `angle`, of its link in the world. */
INLINE trio3 rotation_turn(const GpuLink *link, trio3 R, double angle) {
	double s, c;
	sincos_real(angle, &s, &c);
	return trio3_turn_z(gpu_inboard(link, R), s, c);
}

INLINE trio rotation_offset(const GpuLink *link, trio3 R) {
	return link->zero_offset ? trio_zero() : trio3_mul_dvec(R, link->p);
}

/* A link on a parent of orientation R. */
INLINE GpuPose gpu_pose(const GpuLink *link, int motion, trio3 R, GpuColumn q) {
	GpuPose pose;
	if (motion == PRIMITIVE_ROTATION) {
		pose.R = rotation_turn(link, R, column_at(q, link->q) + link->offset);
		pose.r = rotation_offset(link, R);
	} else if (motion == PRIMITIVE_TRANSLATION) {
		pose.R = gpu_inboard(link, R);
		pose.r = trio_madd(trio3_mul_dvec(R, link->p), column_at(q, link->q), pose.R.z);
	} else if (motion == PRIMITIVE_SPHERICAL) {
		pose.R = trio3_mul_mat(gpu_inboard(link, R), gpu_quaternion(q, link->q));
		pose.r = trio3_mul_dvec(R, link->p);
	} else {
		return general_place(link, motion, R, q);
	}
	pose.F = pose.R; // not used
	return pose;
}

/* The same where the orientation of the link is known already. */
INLINE GpuPose gpu_pose_known(const GpuLink *link, int motion, trio3 R, trio3 own, GpuColumn q) {
	if (motion == PRIMITIVE_ROTATION) {
		const GpuPose pose = {own, own, rotation_offset(link, R)};
		return pose;
	}
	return gpu_pose(link, motion, R, q);
}

/* ---- motion subspace ------------------------------------------------------------------------------ */

/* Column k of the joint of a link, in world axes, at its origin. */
INLINE TrioSpatial gpu_column(const GpuLink *link, int motion, const GpuPose *pose, int k) {
	TrioSpatial S = trio_spatial_zero();
	if (motion == PRIMITIVE_ROTATION) {
		S.a = pose->R.z;
	} else if (motion == PRIMITIVE_TRANSLATION) {
		S.l = pose->R.z;
	} else if (motion == PRIMITIVE_SPHERICAL) {
		S.a = k == 0 ? pose->R.x : k == 1 ? pose->R.y : pose->R.z;
	} else if (motion == PRIMITIVE_FREE && k < 3) {
		S.l = k == 0 ? pose->F.x : k == 1 ? pose->F.y : pose->F.z;
	} else if (motion == PRIMITIVE_FREE) {
		S.a = k == 3 ? pose->R.x : k == 4 ? pose->R.y : pose->R.z;
	} else {
		S.a = trio3_mul(pose->F, vec(0, 0, 1));
		S.l = trio3_mul(pose->F, scale(link->pitch, vec(0, 0, 1)));
	}
	return S;
}

INLINE ColumnKind gpu_column_kind(int motion, int k) { return primitive_column_kind((JointPrimitive)motion, k); }

/* ---- motion --------------------------------------------------------------------------------------- */

INLINE GpuMotion ground_motion(dvec3 gravity) {
	const GpuMotion ground = {trio3_dmat(dmat_identity()), trio_zero(), trio_zero(),
	                          trio_set(-gravity.x, -gravity.y, -gravity.z)};
	return ground;
}

/* al' + w' x w_r; a' + W' r (primes: parent) */
INLINE trio gpu_turn(const GpuMotion *base, trio w_r) { return trio_add(base->al, trio_cross(base->w, w_r)); }
INLINE trio gpu_carry(const GpuMotion *base, trio r) {
	const TrioField W = trio_field_of(base->w, base->al);
	return trio_add(base->a, trio_field_mul(W, r, trio_next(r), trio_prev(r)));
}

/* As general_link.c: columns one after the other. */
INLINE GpuMotion general_motion(const GpuLink *link, int motion, const GpuMotion *base, const GpuPose *pose,
                                GpuColumn u) {
	TrioSpatial relative = trio_spatial_zero();
	for (int k = 0; k < link->nu; ++k)
		relative = trio_spatial_madd(relative, column_at(u, link->u + k), gpu_column(link, motion, pose, k));
	GpuMotion m = {pose->R, trio_add(base->w, relative.a), trio_zero(), trio_zero()};
	const trio still = trio3_mul(pose->F, vec_zero()); // the columns do not change in the inboard frame
	m.al = trio_add(trio_add(base->al, still), trio_cross(base->w, relative.a));
	const trio own = trio_add(still, trio_times(2.0, trio_cross(base->w, relative.l)));
	const trio spin = trio_cross(base->w, trio_cross(base->w, pose->r));
	m.a = trio_add(trio_add(base->a, trio_add(trio_cross(base->al, pose->r), spin)), own);
	return m;
}

/* Motion of a link on its parent, from its pose and its speeds. */
INLINE GpuMotion gpu_motion(const GpuLink *link, int motion, const GpuMotion *base, const GpuPose *pose, GpuColumn u) {
	GpuMotion m = {pose->R, base->w, base->al, base->a};
	if (motion == PRIMITIVE_ROTATION) {
		const trio zu = trio_times(column_at(u, link->u), pose->R.z);
		m.w = trio_add(base->w, zu);
		m.al = gpu_turn(base, zu);
		if (!link->zero_offset)
			m.a = gpu_carry(base, pose->r);
	} else if (motion == PRIMITIVE_TRANSLATION) {
		const trio moving = trio_times(2.0 * column_at(u, link->u), pose->R.z);
		m.a = trio_add(gpu_carry(base, pose->r), trio_cross(base->w, moving));
	} else if (motion == PRIMITIVE_SPHERICAL) {
		const vec3 rate = vec(column_at(u, link->u), column_at(u, link->u + 1), column_at(u, link->u + 2));
		const trio Ru = trio3_mul(pose->R, rate);
		m.w = trio_add(base->w, Ru);
		m.al = gpu_turn(base, Ru);
		m.a = gpu_carry(base, pose->r);
	} else {
		return general_motion(link, motion, base, pose, u);
	}
	return m;
}

/*
 * The parent's motion from that of a rotation: R' = R Rz(-angle) E', w' = w - z u, al' = al - w' x z u, a' = a - W' r.
 * Not the same bits as outward: for the fast mode. *r: origin of the link from the parent's.
 */
INLINE GpuMotion rotation_undo(const GpuLink *link, const GpuMotion *m, GpuColumn q, GpuColumn u, trio *r) {
	double s, c;
	sincos_real(column_at(q, link->q) + link->offset, &s, &c);
	const trio3 F = trio3_turn_z(m->R, -s, c);
	GpuMotion base = *m;
	base.R = link->pure_rx ? trio3_turn_x(F, -link->E.y.z, link->E.y.y) : trio3_mul_dmat(F, dmat_transpose(link->E));
	const trio zu = trio_times(column_at(u, link->u), m->R.z);
	base.w = trio_sub(m->w, zu);
	base.al = trio_sub(m->al, trio_cross(base.w, zu));
	*r = rotation_offset(link, base.R);
	if (!link->zero_offset) {
		const TrioField W = trio_field_of(base.w, base.al);
		base.a = trio_sub(m->a, trio_field_mul(W, *r, trio_next(*r), trio_prev(*r)));
	}
	return base;
}

#endif
