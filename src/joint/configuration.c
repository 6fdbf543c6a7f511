// SPDX-License-Identifier: Apache-2.0
/*
 * configuration.c — coordinates of the joint primitives as points of a manifold: neutral element, integrate,
 * difference, and the rate of the displacement within an element.
 *
 * A displacement has one entry per speed. Quaternions advance by the exponential of the rotation vector on
 * the right, because speeds are in the outboard frame: q_out = q o exp(dq).
 */
#include "joint/primitive.h"

int primitive_u_count(JointPrimitive motion, const CalJointOps *ops) {
	switch (motion) {
	case PRIMITIVE_FIXED:
	case PRIMITIVE_FLEX:
	case PRIMITIVE_NODE:
		return 0;
	case PRIMITIVE_SPHERICAL:
		return 3;
	case PRIMITIVE_FREE:
		return 6;
	case PRIMITIVE_USER:
		return ops->nu;
	default:
		return 1;
	}
}

/* A quaternion has a coordinate more than its rotation has speeds. */
int primitive_q_count(JointPrimitive motion, const CalJointOps *ops) {
	if (motion == PRIMITIVE_USER)
		return ops->nq;
	return primitive_u_count(motion, ops) + (motion == PRIMITIVE_SPHERICAL || motion == PRIMITIVE_FREE);
}

CalCoordinateKind primitive_q_kind(JointPrimitive motion, int i) {
	switch (motion) {
	case PRIMITIVE_TRANSLATION:
		return CAL_COORDINATE_LENGTH;
	case PRIMITIVE_SPHERICAL:
		return CAL_COORDINATE_QUATERNION;
	case PRIMITIVE_FREE:
		return i < 3 ? CAL_COORDINATE_LENGTH : CAL_COORDINATE_QUATERNION;
	case PRIMITIVE_USER:
		return CAL_COORDINATE_USER;
	default:
		return CAL_COORDINATE_ANGLE;
	}
}

CalCoordinateKind primitive_u_kind(JointPrimitive motion, int i) {
	const CalCoordinateKind kind = primitive_q_kind(motion, i);
	return kind == CAL_COORDINATE_QUATERNION ? CAL_COORDINATE_ANGLE : kind;
}

INLINE CalQuat quat_read(const double *q) { return (CalQuat){q[0], q[1], q[2], q[3]}; }
INLINE void quat_write(CalQuat v, double *q) { q[0] = v.w, q[1] = v.x, q[2] = v.y, q[3] = v.z; }
INLINE dvec3 vec_read(const double *v) { return (dvec3){v[0], v[1], v[2]}; }
INLINE void vec_write(dvec3 v, double *out) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

void primitive_neutral(JointPrimitive motion, const PrimitiveData *data, double *q) {
	const int nq = primitive_q_count(motion, data->ops);
	if (motion == PRIMITIVE_USER && data->ops->neutral) {
		data->ops->neutral(data->ops_data, q);
		return;
	}
	for (int i = 0; i < nq; ++i)
		q[i] = 0;
	if (motion == PRIMITIVE_SPHERICAL)
		q[0] = 1;
	if (motion == PRIMITIVE_FREE)
		q[3] = 1;
}

static void ball_integrate(const double *q, const double *dq, double *q_out) {
	quat_write(dquat_unit(dquat_mul(quat_read(q), dquat_exp(vec_read(dq)))), q_out);
}

static void ball_difference(const double *q0, const double *q1, double *dq) {
	const CalQuat a = quat_read(q0);
	vec_write(dquat_log(dquat_mul((CalQuat){a.w, -a.x, -a.y, -a.z}, quat_read(q1))), dq);
}

void primitive_integrate(JointPrimitive motion, const PrimitiveData *data, const double *q, const double *dq,
                         double *q_out) {
	if (motion == PRIMITIVE_SPHERICAL) {
		ball_integrate(q, dq, q_out);
	} else if (motion == PRIMITIVE_FREE) {
		for (int i = 0; i < 3; ++i)
			q_out[i] = q[i] + dq[i];
		ball_integrate(q + 3, dq + 3, q_out + 3);
	} else if (motion == PRIMITIVE_USER && data->ops->integrate) {
		data->ops->integrate(data->ops_data, q, dq, q_out);
	} else {
		const int nu = primitive_u_count(motion, data->ops);
		for (int i = 0; i < nu; ++i)
			q_out[i] = q[i] + dq[i];
	}
}

void primitive_difference(JointPrimitive motion, const PrimitiveData *data, const double *q0, const double *q1,
                          double *dq) {
	if (motion == PRIMITIVE_SPHERICAL) {
		ball_difference(q0, q1, dq);
	} else if (motion == PRIMITIVE_FREE) {
		for (int i = 0; i < 3; ++i)
			dq[i] = q1[i] - q0[i];
		ball_difference(q0 + 3, q1 + 3, dq + 3);
	} else if (motion == PRIMITIVE_USER && data->ops->difference) {
		data->ops->difference(data->ops_data, q0, q1, dq);
	} else {
		const int nu = primitive_u_count(motion, data->ops);
		for (int i = 0; i < nu; ++i)
			dq[i] = q1[i] - q0[i];
	}
}

void primitive_rate(JointPrimitive motion, const PrimitiveData *data, const double *delta, const double *u,
                    double *delta_dot) {
	const int nu = primitive_u_count(motion, data->ops);
	if (motion == PRIMITIVE_USER && data->ops->rate) {
		data->ops->rate(data->ops_data, delta, u, delta_dot);
		return;
	}
	for (int i = 0; i < nu; ++i)
		delta_dot[i] = u[i];
	if (motion == PRIMITIVE_SPHERICAL)
		vec_write(rotation_vector_rate(vec_read(delta), vec_read(u)), delta_dot);
	if (motion == PRIMITIVE_FREE)
		vec_write(rotation_vector_rate(vec_read(delta + 3), vec_read(u + 3)), delta_dot + 3);
}
