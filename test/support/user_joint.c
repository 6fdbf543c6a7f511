// SPDX-License-Identifier: Apache-2.0
/*
 * user_joint.c — function tables of the tests' user-defined joints.
 *
 * The functions evaluate the same chain of elements as the reference does, in double: what is tested is how
 * the library uses them.
 */
#include "support/user_joint.h"

#include "support/check.h"

static void ops_pose(const void *data, const double *q, CalPose *X_FJ) { ref_joint(data, q, NULL, X_FJ, NULL, NULL); }

static void ops_columns(const void *data, const double *q, CalSpatial *S) { ref_joint(data, q, NULL, NULL, S, NULL); }

static void ops_bias_acceleration(const void *data, const double *q, const double *u, CalSpatial *Sdot_u) {
	ref_joint(data, q, u, NULL, NULL, Sdot_u);
}

static void ops_neutral_ball(const void *data, double *q) {
	(void)data;
	q[0] = 1;
	q[1] = q[2] = q[3] = 0;
}

/* The reference's manifold functions use the heap; a joint's functions must not. */
static void quat_product(const double a[4], const double b[4], double c[4]) {
	double r[4] = {
		a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
		a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3], a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1]};
	for (int i = 0; i < 4; i++)
		c[i] = r[i];
}

static double length3(const double *a) { return __builtin_sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

static void ops_integrate_ball(const void *data, const double *q, const double *dq, double *q_out) {
	(void)data;
	double t = length3(dq), f = t > 0 ? __builtin_sin(t / 2) / t : 0.5;
	double d[4] = {__builtin_cos(t / 2), f * dq[0], f * dq[1], f * dq[2]}, r[4], n = 0;
	quat_product(d, q, r);
	for (int i = 0; i < 4; i++)
		n += r[i] * r[i];
	for (int i = 0; i < 4; i++)
		q_out[i] = r[i] / __builtin_sqrt(n);
}

static void ops_difference_ball(const void *data, const double *q0, const double *q1, double *dq) {
	(void)data;
	double inverse[4] = {q0[0], -q0[1], -q0[2], -q0[3]}, d[4];
	quat_product(q1, inverse, d);
	double sign = d[0] < 0 ? -1 : 1, s = length3(d + 1);
	double f = s > 0 ? 2 * __builtin_atan2(s, sign * d[0]) / s : 2;
	for (int i = 0; i < 3; i++)
		dq[i] = sign * f * d[i + 1];
}

/* delta_dot = w - delta x w / 2 + c delta x (delta x w) */
static void ops_rate_ball(const void *data, const double *delta, const double *u, double *delta_dot) {
	(void)data;
	double t = length3(delta), h = t / 2;
	double c = t > 1e-3 ? (1 - h * __builtin_cos(h) / __builtin_sin(h)) / (t * t) : 1.0 / 12 + t * t / 720;
	double a[3] = {delta[1] * u[2] - delta[2] * u[1], delta[2] * u[0] - delta[0] * u[2],
	               delta[0] * u[1] - delta[1] * u[0]};
	double b[3] = {delta[1] * a[2] - delta[2] * a[1], delta[2] * a[0] - delta[0] * a[2],
	               delta[0] * a[1] - delta[1] * a[0]};
	for (int i = 0; i < 3; i++)
		delta_dot[i] = u[i] - a[i] / 2 + c * b[i];
}

static const CalJointOps ops_table[USER_JOINT_COUNT] = {
	[USER_SLIDER] = {.name = "slider", .nq = 1, .nu = 1, .pose = ops_pose, .columns = ops_columns},
	[USER_CAM] = {.name = "cam",
                  .nq = 1,
                  .nu = 1,
                  .pose = ops_pose,
                  .columns = ops_columns,
                  .bias_acceleration = ops_bias_acceleration},
	[USER_CAM_TURN] = {.name = "cam-turn",
                       .nq = 2,
                       .nu = 2,
                       .pose = ops_pose,
                       .columns = ops_columns,
                       .bias_acceleration = ops_bias_acceleration},
	[USER_BALL] = {.name = "ball",
                   .nq = 4,
                   .nu = 3,
                   .pose = ops_pose,
                   .columns = ops_columns,
                   .neutral = ops_neutral_ball,
                   .integrate = ops_integrate_ball,
                   .difference = ops_difference_ball,
                   .rate = ops_rate_ball},
};

const CalJointOps *user_joint_ops(UserJoint kind) { return &ops_table[kind]; }

RefElements *user_joint_random(Rng *r, UserJoint kind) {
	RefElements *e = test_alloc(1, sizeof *e);
	RefElement cam = {.kind = REF_CAM,
	                  .axis = rng_direction(r),
	                  .angle = {rng_uniform(r, 0.5, 1.5), rng_uniform(r, -0.2, 0.2)},
	                  .shift = {rng_vector(r, 0.3), rng_vector(r, 0.2), rng_vector(r, 0.1)}};
	if (kind == USER_SLIDER)
		cam = (RefElement){.kind = REF_CAM, .axis = cam.axis, .shift = {cam.axis}};
	if (kind == USER_BALL)
		cam = (RefElement){.kind = REF_BALL_INBOARD};
	e->element[e->count++] = cam;
	if (kind == USER_CAM_TURN)
		e->element[e->count++] = (RefElement){.kind = REF_CAM, .axis = rng_direction(r), .angle = {1, 0}};
	return e;
}
