// SPDX-License-Identifier: Apache-2.0
/*
 * quantity_nodes.c — a node seen from another, or from the world: the first from the second.
 *
 * pose(a, b) is the pose of a in the axes of b, velocity(a, b) the rate of its position there and the angular velocity of a
 * relative to b in the same axes. Samplers and formulas take the same functions of the motion of both.
 */
#include <math.h>

#include "math/portable.h"
#include "math/vec.h"
#include "quantity/quantity.h"

typedef struct Frame {
	CalPose X;
	CalSpatial V; // at its origin
	bool world;   // nothing is turned or subtracted: the same bits as of a node alone, signs of zeros too
} Frame;

static vec3 minus(CalVec3 a, CalVec3 b) { return vec(a.x - b.x, a.y - b.y, a.z - b.z); }

/* Component i of a vector of the world in the axes of a frame, R' v. */
static double along(const Frame *b, int i, vec3 v) {
	if (b->world)
		return i == 0 ? v.x : i == 1 ? v.y : v.z;
	return b->X.R.m[0][i] * v.x + b->X.R.m[1][i] * v.y + b->X.R.m[2][i] * v.z;
}

/* v_a - v_b, as seen from the axes of b; r is the place of a from b. */
static vec3 velocity_from(const Frame *a, const Frame *b, vec3 r) {
	const CalVec3 w = b->V.angular;
	if (b->world)
		return minus(a->V.linear, b->V.linear);
	return sub(minus(a->V.linear, b->V.linear), cross(vec(w.x, w.y, w.z), r));
}

/* R_b' R_a turned round: from the axes of a to those of b. */
static CalMat3 turn_from(const CalMat3 *a, const CalMat3 *b) {
	CalMat3 R;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			R.m[i][k] = a->m[0][i] * b->m[0][k] + a->m[1][i] * b->m[1][k] + a->m[2][i] * b->m[2][k];
	return R;
}

static CalStatus frame_at(CalEvalContext *context, CalNodeRef ref, Frame *frame) {
	frame->world = ref.group == -1;
	return cal_context_node_motion(context, ref, &frame->X, &frame->V);
}

/* ---- values ------------------------------------------------------------------------------------------------- */

static double position(int i, const Frame *a, const Frame *b) { return along(b, i, minus(a->X.r, b->X.r)); }

/* Components 0..2 linear, 3..5 angular. */
static double velocity(int i, const Frame *a, const Frame *b) {
	if (i >= 3)
		return along(b, i - 3, minus(a->V.angular, b->V.angular));
	return along(b, i, velocity_from(a, b, minus(a->X.r, b->X.r)));
}

static double distance(const Frame *a, const Frame *b) {
	const vec3 r = minus(a->X.r, b->X.r);
	return sqrt(dot(r, r));
}

static double range_rate(const Frame *a, const Frame *b) {
	const double length = distance(a, b);
	return length > 0 ? dot(minus(a->X.r, b->X.r), minus(a->V.linear, b->V.linear)) / length : 0;
}

/* Of the rotation from one frame to the other, 0 to pi. */
static double angle(const Frame *a, const Frame *b) {
	const CalMat3 R = turn_from(&a->X.R, &b->X.R);
	const double x = R.m[2][1] - R.m[1][2], y = R.m[0][2] - R.m[2][0], z = R.m[1][0] - R.m[0][1];
	return portable_atan2(sqrt(x * x + y * y + z * z), R.m[0][0] + R.m[1][1] + R.m[2][2] - 1);
}

/* ---- sampling ----------------------------------------------------------------------------------------------- */

/* False: a node is not there, and its columns stay NaN. */
static bool frames_of(const Sampling *s, const SampledObject *object, Frame frame[2], CalStatus *status) {
	for (int i = 0; i < 2 && *status == CAL_OK; i++) {
		CalNodeRef ref;
		if (!cal_context_find_node(s->context, object->node[i], &ref))
			return false;
		*status = frame_at(s->context, ref, &frame[i]);
	}
	return *status == CAL_OK;
}

static CalStatus sample_pair(const Sampling *s, const SampledObject *object, double *values,
                             double (*value)(const Frame *a, const Frame *b)) {
	CalStatus status = CAL_OK;
	Frame frame[2];
	*values = frames_of(s, object, frame, &status) ? value(&frame[0], &frame[1]) : (double)NAN;
	return status;
}

CalStatus values_distance(const Sampling *s, const SampledObject *object, double *values) {
	return sample_pair(s, object, values, distance);
}

CalStatus values_range_rate(const Sampling *s, const SampledObject *object, double *values) {
	return sample_pair(s, object, values, range_rate);
}

CalStatus values_angle(const Sampling *s, const SampledObject *object, double *values) {
	return sample_pair(s, object, values, angle);
}

CalStatus relative_pose(const Sampling *s, const SampledObject *object, double values[7]) {
	CalStatus status = CAL_OK;
	Frame f[2];
	const bool there = frames_of(s, object, f, &status);
	for (int i = 0; i < 3; i++)
		values[i] = there ? position(i, &f[0], &f[1]) : (double)NAN;
	if (there) {
		const CalMat3 R = turn_from(&f[1].X.R, &f[0].X.R);
		put_quaternion(values + 3, &R);
	}
	for (int i = 3; i < 7 && !there; i++)
		values[i] = NAN;
	return status;
}

CalStatus relative_velocity(const Sampling *s, const SampledObject *object, double values[6]) {
	CalStatus status = CAL_OK;
	Frame f[2];
	const bool there = frames_of(s, object, f, &status);
	for (int i = 0; i < 6; i++)
		values[i] = there ? velocity(i, &f[0], &f[1]) : (double)NAN;
	return status;
}

/* ---- formulas ----------------------------------------------------------------------------------------------- */

static CalStatus read_frames(const QuantityRef *ref, CalEvalContext *context, Frame frame[2]) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < 2 && status == CAL_OK; i++)
		status = frame_at(context, ref->node_ref[i], &frame[i]);
	return status;
}

static CalStatus read_component(const QuantityRef *ref, CalEvalContext *context, double *value,
                                double (*component)(int i, const Frame *a, const Frame *b)) {
	Frame frame[2];
	const CalStatus status = read_frames(ref, context, frame);
	*value = status == CAL_OK ? component(ref->component, &frame[0], &frame[1]) : 0;
	return status;
}

static CalStatus read_pair(const QuantityRef *ref, CalEvalContext *context, double *value,
                           double (*of_pair)(const Frame *a, const Frame *b)) {
	Frame frame[2];
	const CalStatus status = read_frames(ref, context, frame);
	*value = status == CAL_OK ? of_pair(&frame[0], &frame[1]) : 0;
	return status;
}

CalStatus read_pose(const QuantityRef *ref, CalEvalContext *context, double *value) {
	return read_component(ref, context, value, position);
}

CalStatus read_velocity(const QuantityRef *ref, CalEvalContext *context, double *value) {
	return read_component(ref, context, value, velocity);
}

CalStatus read_distance(const QuantityRef *ref, CalEvalContext *context, double *value) {
	return read_pair(ref, context, value, distance);
}

CalStatus read_range_rate(const QuantityRef *ref, CalEvalContext *context, double *value) {
	return read_pair(ref, context, value, range_rate);
}

CalStatus read_angle(const QuantityRef *ref, CalEvalContext *context, double *value) {
	return read_pair(ref, context, value, angle);
}

/* ---- ahead -------------------------------------------------------------------------------------------------- */

static double size(CalVec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

/* Bounds by the motion of both nodes. Of a rate that is known by its size alone the quantity may go either way. */
typedef struct Bounds {
	Frame f[2];
	vec3 v;         // velocity of the first seen from the second
	double turn;    // angular speed of the second
	double linear;  // sum of the accelerations
	double angular; // sum of the angular accelerations
	double bend;    // of the velocity seen from the second
	double across;  // centripetal part of the rate of the range rate
} Bounds;

static CalStatus bounds_of(const QuantityRef *ref, CalEvalContext *context, Bounds *b) {
	CalSpatial acceleration[2];
	CalStatus status = CAL_OK;
	for (int i = 0; i < 2 && status == CAL_OK; i++) {
		status = frame_at(context, ref->node_ref[i], &b->f[i]);
		if (status == CAL_OK)
			status = cal_context_node_acceleration(context, ref->node_ref[i], &acceleration[i]);
	}
	if (status != CAL_OK)
		return status;
	const vec3 place = minus(b->f[0].X.r, b->f[1].X.r);
	b->v = velocity_from(&b->f[0], &b->f[1], place);
	b->turn = size(b->f[1].V.angular);
	b->linear = size(acceleration[0].linear) + size(acceleration[1].linear);
	b->angular = size(acceleration[0].angular) + size(acceleration[1].angular);
	const double length = sqrt(dot(place, place)), speed = sqrt(dot(b->v, b->v));
	const double rate = range_rate(&b->f[0], &b->f[1]);
	b->bend = b->linear + (b->turn * b->turn + size(acceleration[1].angular)) * length + 2 * b->turn * speed;
	b->across = length > 0 ? fmax(0, speed * speed - rate * rate) / length : 0;
	return CAL_OK;
}

CalStatus course_pose(const QuantityRef *ref, CalEvalContext *context, Course *course) {
	Bounds b;
	const CalStatus status = bounds_of(ref, context, &b);
	*course = status != CAL_OK ? (Course){0}
	                           : (Course){.v = position(ref->component, &b.f[0], &b.f[1]),
	                                      .d = along(&b.f[1], ref->component, b.v),
	                                      .bend = b.bend};
	return status;
}

CalStatus course_velocity(const QuantityRef *ref, CalEvalContext *context, Course *course) {
	Bounds b;
	const CalStatus status = bounds_of(ref, context, &b);
	*course = status != CAL_OK ? (Course){0}
	                           : (Course){.v = velocity(ref->component, &b.f[0], &b.f[1]),
	                                      .spread = ref->component >= 3 ? b.angular : b.bend};
	return status;
}

CalStatus course_distance(const QuantityRef *ref, CalEvalContext *context, Course *course) {
	Bounds b;
	const CalStatus status = bounds_of(ref, context, &b);
	*course =
		status != CAL_OK
			? (Course){0}
			: (Course){.v = distance(&b.f[0], &b.f[1]), .d = range_rate(&b.f[0], &b.f[1]), .bend = b.linear + b.across};
	return status;
}

CalStatus course_range_rate(const QuantityRef *ref, CalEvalContext *context, Course *course) {
	Bounds b;
	const CalStatus status = bounds_of(ref, context, &b);
	*course =
		status != CAL_OK ? (Course){0} : (Course){.v = range_rate(&b.f[0], &b.f[1]), .spread = b.linear + b.across};
	return status;
}

CalStatus course_angle(const QuantityRef *ref, CalEvalContext *context, Course *course) {
	Bounds b;
	const CalStatus status = bounds_of(ref, context, &b);
	*course =
		status != CAL_OK
			? (Course){0}
			: (Course){.v = angle(&b.f[0], &b.f[1]), .spread = size(b.f[0].V.angular) + b.turn, .bend = b.angular};
	return status;
}
