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

/* Of a relative to b, in the axes of a. */
static double body_rate(int i, const Frame *a, const Frame *b) {
	return along(a, i, minus(a->V.angular, b->V.angular));
}

static double distance(const Frame *a, const Frame *b) {
	const vec3 r = minus(a->X.r, b->X.r);
	return sqrt(dot(r, r));
}

static double range_rate(const Frame *a, const Frame *b) {
	const double length = distance(a, b);
	return length > 0 ? dot(minus(a->X.r, b->X.r), minus(a->V.linear, b->V.linear)) / length : 0;
}

/* Sine and cosine of the angle of the rotation from one frame to the other, both times two. */
typedef struct TurnAngle {
	double s, c;
} TurnAngle;

static TurnAngle turn_angle(const Frame *a, const Frame *b) {
	const CalMat3 R = turn_from(&a->X.R, &b->X.R);
	const double x = R.m[2][1] - R.m[1][2], y = R.m[0][2] - R.m[2][0], z = R.m[1][0] - R.m[0][1];
	return (TurnAngle){sqrt(x * x + y * y + z * z), R.m[0][0] + R.m[1][1] + R.m[2][2] - 1};
}

/* 0 to pi. */
static double angle(const Frame *a, const Frame *b) {
	const TurnAngle turn = turn_angle(a, b);
	return portable_atan2(turn.s, turn.c);
}

/* Of the rotation from the axes of a to those of b. */
static void quaternion(const Frame *a, const Frame *b, double q[4]) {
	const CalMat3 R = turn_from(&b->X.R, &a->X.R);
	put_quaternion(q, &R);
}

/* Components 0..2 of the position, 3..6 of the quaternion. */
static double pose(int i, const Frame *a, const Frame *b) {
	double q[4];
	if (i < 3)
		return position(i, a, b);
	quaternion(a, b, q);
	return q[i - 3];
}

/*
 * What is left to half a turn, with a sign that changes there, as the vector part of the quaternion does: that of its
 * component along a direction of no meaning. Rotations of less than 145 degrees are on one side; where the sign changes
 * without need a step ends.
 */
static double side(const Frame *a, const Frame *b) {
	const TurnAngle turn = turn_angle(a, b);
	const double left = portable_atan2(turn.s, -turn.c);
	double q[4];
	quaternion(a, b, q);
	return q[0] < 0.3 && 0.5377 * q[1] + 0.6741 * q[2] + 0.5064 * q[3] < 0 ? -left : left;
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

static CalStatus sample_components(const Sampling *s, const SampledObject *object, int count, double *values,
                                   double (*component)(int i, const Frame *a, const Frame *b)) {
	CalStatus status = CAL_OK;
	Frame f[2];
	const bool there = frames_of(s, object, f, &status);
	for (int i = 0; i < count; i++)
		values[i] = there ? component(i, &f[0], &f[1]) : (double)NAN;
	return status;
}

CalStatus relative_pose(const Sampling *s, const SampledObject *object, double values[7]) {
	return sample_components(s, object, 7, values, pose);
}

CalStatus relative_velocity(const Sampling *s, const SampledObject *object, double values[6]) {
	return sample_components(s, object, 6, values, velocity);
}

CalStatus relative_body_rate(const Sampling *s, const SampledObject *object, double values[3]) {
	return sample_components(s, object, 3, values, body_rate);
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
	return read_component(ref, context, value, pose);
}

CalStatus read_velocity(const QuantityRef *ref, CalEvalContext *context, double *value) {
	return read_component(ref, context, value, velocity);
}

CalStatus read_body_rate(const QuantityRef *ref, CalEvalContext *context, double *value) {
	return read_component(ref, context, value, body_rate);
}

CalStatus read_side(const QuantityRef *ref, CalEvalContext *context, double *value) {
	return read_pair(ref, context, value, side);
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
	if (status != CAL_OK)
		*course = (Course){0};
	else if (ref->component < 3)
		*course = (Course){
			.v = position(ref->component, &b.f[0], &b.f[1]), .d = along(&b.f[1], ref->component, b.v), .bend = b.bend};
	else // by half the angular velocity at most
		*course = (Course){.v = pose(ref->component, &b.f[0], &b.f[1]),
		                   .spread = 0.5 * (size(b.f[0].V.angular) + b.turn),
		                   .bend = 0.5 * b.angular};
	return status;
}

CalStatus course_side(const QuantityRef *ref, CalEvalContext *context, Course *course) {
	Bounds b;
	const CalStatus status = bounds_of(ref, context, &b);
	*course = status != CAL_OK
	              ? (Course){0}
	              : (Course){.v = side(&b.f[0], &b.f[1]), .spread = size(b.f[0].V.angular) + b.turn, .bend = b.angular};
	return status;
}

CalStatus course_body_rate(const QuantityRef *ref, CalEvalContext *context, Course *course) {
	Bounds b;
	const CalStatus status = bounds_of(ref, context, &b);
	*course = (Course){0};
	if (status == CAL_OK) {
		const double turn = size(b.f[0].V.angular);
		*course =
			(Course){.v = body_rate(ref->component, &b.f[0], &b.f[1]), .spread = b.angular + turn * (turn + b.turn)};
	}
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
