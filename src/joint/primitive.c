// SPDX-License-Identifier: Apache-2.0
/*
 * primitive.c — pose, columns and bias acceleration of the joint primitives, over `real`.
 *
 * V_FJ = S u with all components in the inboard frame F, at the origin of the outboard frame J.
 * Sdot_u is the part of the relative acceleration without udot: zero wherever the columns are constant
 * in F, or turn with J about themselves (spherical: d/dt(R u) = R udot + R (u x u)).
 */
#include "joint/primitive.h"

INLINE vec3 unit_vec(int axis) { return vec(real_from(axis == 0), real_from(axis == 1), real_from(axis == 2)); }

static void evaluate_axis(JointPrimitive motion, const PrimitiveData *data, real q, RelativeMotion *out) {
	const vec3 z = unit_vec(2);
	const real pitch = real_from(motion == PRIMITIVE_TRANSLATION ? 1.0 : motion == PRIMITIVE_SCREW ? data->pitch : 0.0);
	if (motion != PRIMITIVE_TRANSLATION) {
		real s, c;
		sincos_real(q, &s, &c);
		out->R.x = vec(c, s, real_from(0));
		out->R.y = vec(-s, c, real_from(0));
	}
	out->r = scale(pitch * q, z);
	out->S[0].a = motion == PRIMITIVE_TRANSLATION ? vec_zero() : z;
	out->S[0].l = scale(pitch, z);
}

static void evaluate_ball(const real *q, int first, RelativeMotion *out) {
	out->R = quat_matrix(q[0], q[1], q[2], q[3]);
	out->S[first].a = out->R.x;
	out->S[first + 1].a = out->R.y;
	out->S[first + 2].a = out->R.z;
	for (int k = 0; k < 3; ++k)
		out->S[first + k].l = vec_zero();
}

static void evaluate_free(const real *q, RelativeMotion *out) {
	out->r = vec(q[0], q[1], q[2]);
	for (int k = 0; k < 3; ++k) {
		out->S[k].a = vec_zero();
		out->S[k].l = unit_vec(k);
	}
	evaluate_ball(q + 3, 3, out);
}

INLINE void vec_set_lane(vec3 *v, int lane, CalVec3 value) {
	real_set_lane(&v->x, lane, value.x);
	real_set_lane(&v->y, lane, value.y);
	real_set_lane(&v->z, lane, value.z);
}

/* The caller's functions see one lane at a time. */
static void evaluate_user_lane(const PrimitiveData *data, const real *q, const real *u, int lane, RelativeMotion *out) {
	const CalJointOps *ops = data->ops;
	double ql[CAL_JOINT_MAX_COORDS] = {0}, ul[CAL_JOINT_MAX_DOF] = {0};
	for (int i = 0; i < ops->nq; ++i)
		ql[i] = real_lane(&q[i], lane);
	CalPose pose;
	CalSpatial S[CAL_JOINT_MAX_DOF], rest = {{0, 0, 0}, {0, 0, 0}};
	ops->pose(data->ops_data, ql, &pose);
	ops->columns(data->ops_data, ql, S);
	if (u && ops->bias_acceleration) {
		for (int i = 0; i < ops->nu; ++i)
			ul[i] = real_lane(&u[i], lane);
		ops->bias_acceleration(data->ops_data, ql, ul, &rest);
	}
	const dmat3 R = dmat_in(&pose.R);
	vec_set_lane(&out->R.x, lane, dvec_out(R.x));
	vec_set_lane(&out->R.y, lane, dvec_out(R.y));
	vec_set_lane(&out->R.z, lane, dvec_out(R.z));
	vec_set_lane(&out->r, lane, pose.r);
	for (int k = 0; k < ops->nu; ++k) {
		vec_set_lane(&out->S[k].a, lane, S[k].angular);
		vec_set_lane(&out->S[k].l, lane, S[k].linear);
	}
	vec_set_lane(&out->Sdot_u.a, lane, rest.angular);
	vec_set_lane(&out->Sdot_u.l, lane, rest.linear);
}

void LANED(primitive_evaluate)(JointPrimitive motion, const PrimitiveData *data, const real *q, const real *u,
                               RelativeMotion *out) {
	out->R = (mat3){unit_vec(0), unit_vec(1), unit_vec(2)};
	out->r = vec_zero();
	out->Sdot_u = spatial_zero();
	switch (motion) {
	case PRIMITIVE_FIXED:
	case PRIMITIVE_FLEX: // flexible links are the sweeps' own business
	case PRIMITIVE_NODE:
		break;
	case PRIMITIVE_ROTATION:
	case PRIMITIVE_TRANSLATION:
	case PRIMITIVE_SCREW:
		evaluate_axis(motion, data, q[0], out);
		break;
	case PRIMITIVE_SPHERICAL:
		evaluate_ball(q, 0, out);
		break;
	case PRIMITIVE_FREE:
		evaluate_free(q, out);
		break;
	case PRIMITIVE_USER:
		for (int k = 0; k < CAL_JOINT_MAX_DOF; ++k)
			out->S[k] = spatial_zero();
		for (int lane = 0; lane < CAL_LANES; ++lane)
			evaluate_user_lane(data, q, u, lane, out);
		break;
	}
}
