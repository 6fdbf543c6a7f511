// SPDX-License-Identifier: Apache-2.0
/*
 * expression_bind.c — what formulas read from a simulation: finding it by name, and its value at an instant.
 *
 * Of two nodes the first is seen from the second: x(a, b) is the place of a in the axes of b, vx(a, b) the rate of that,
 * and wx(a, b) the angular velocity of a relative to b in the same axes.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "expression/expression.h"
#include "math/portable.h"
#include "math/vec.h"
#include "sim/sim_internal.h"

/* ---- binding ----------------------------------------------------------------------------------------- */

typedef struct Binding {
	const CalExpression *expression;
	const CalEvalContext *context;
	CalError *error;
} Binding;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static CalStatus
missing(const Binding *b, const Reading *r, const char *format, ...) {
	char text[400];
	va_list args;
	va_start(args, format);
	text_format(text, sizeof text, format, args);
	va_end(args);
	return error_set(b->error, CAL_ERR_MODEL, "formula \"%.200s\", column %d: %s", b->expression->text, r->column,
	                 text);
}

static CalStatus bind_joint(const Binding *b, Reading *r) {
	if (cal_context_find_dof_by_name(b->context, r->name[0], r->number, &r->dof_ref)) {
		if (r->kind == READ_U || r->dof_ref.q >= 0)
			return CAL_OK;
		return missing(
			b, r,
			"degree of freedom %d of joint \"%.80s\" is part of a quaternion and has no coordinate; read the angle() "
			"between two nodes instead",
			r->number + 1, r->name[0]);
	}
	for (int i = 0; i < b->context->sim->group_count; i++) {
		const CalModel *model = b->context->sim->groups[i].model;
		CalBodyInfo info;
		if (cal_model_body(model, cal_model_find_joint(model, r->name[0]), &info) == CAL_OK)
			return missing(b, r, "joint \"%.80s\" has no degree of freedom %d; it has %d, counted from 1", r->name[0],
			               r->number + 1, info.nu);
	}
	return missing(b, r, "there is no joint \"%.80s\"", r->name[0]);
}

static CalStatus bind_mode(const Binding *b, Reading *r) {
	for (int i = 0; i < b->context->sim->group_count; i++) {
		const CalModel *model = b->context->sim->groups[i].model;
		CalBodyInfo info;
		if (cal_model_body(model, cal_model_find_body(model, r->name[0]), &info) != CAL_OK)
			continue;
		if (r->number >= info.modes)
			return missing(b, r, "body \"%.80s\" has no mode %d; it has %d, counted from 1", r->name[0], r->number + 1,
			               info.modes);
		r->dof_ref = (CalDofRef){i, info.u + info.nu + r->number, info.q + info.nq + r->number};
		return CAL_OK;
	}
	return missing(b, r, "there is no body \"%.80s\"", r->name[0]);
}

static CalStatus bind_nodes(const Binding *b, Reading *r) {
	r->node_ref[0] = r->node_ref[1] = (CalNodeRef){-1, -1}; // the world
	for (int i = 0; i < 2 && r->name[i]; i++)
		if (!cal_context_find_node_by_name(b->context, r->name[i], &r->node_ref[i]) &&
		    strcmp(r->name[i], "ground") != 0)
			return missing(b, r, "there is no node \"%.80s\"; write body, body/node or ground", r->name[i]);
	return CAL_OK;
}

static CalStatus bind_output(const Binding *b, Reading *r) {
	r->device = cal_sim_find_device(b->context->sim, r->name[0]);
	if (r->device < 0)
		return missing(b, r, "there is no device \"%.80s\"", r->name[0]);
	const CalDeviceOps *ops = b->context->sim->devices[r->device].def.ops;
	r->output = -1;
	if (b->context->sim->devices[r->device].not_loaded) // what outputs it has is not known
		return CAL_OK;
	if (ops->output_count > CONTEXT_OUTPUTS)
		return missing(b, r, "device \"%.80s\" (%.40s) has more than %d outputs, too many to be read in a formula",
		               r->name[0], ops->type, CONTEXT_OUTPUTS);
	for (int i = 0; ops->output_names && i < ops->output_count; i++) {
		r->output = i;
		if (strcmp(ops->output_names[i], r->name[1]) == 0)
			return CAL_OK;
	}
	return missing(b, r, "device \"%.80s\" (%.40s) has no output \"%.80s\"", r->name[0], ops->type, r->name[1]);
}

CalStatus cal_expression_bind(CalExpression *expression, const CalEvalContext *context, CalError *error) {
	if (!expression || !context)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_expression_bind: give a formula and a scene");
	const Binding binding = {expression, context, error};
	CalStatus status = CAL_OK;
	for (int i = 0; i < expression->reading_count && status == CAL_OK; i++) {
		Reading *reading = &expression->readings[i];
		switch (reading->kind) {
		case READ_Q:
		case READ_U:
			status = bind_joint(&binding, reading);
			break;
		case READ_ETA:
		case READ_ETA_DOT:
			status = bind_mode(&binding, reading);
			break;
		case READ_DEVICE:
			status = bind_output(&binding, reading);
			break;
		default:
			status = bind_nodes(&binding, reading);
		}
	}
	expression->bound = status == CAL_OK;
	return status;
}

/* ---- values ------------------------------------------------------------------------------------------ */

typedef struct Frame {
	CalPose X;
	CalSpatial V; // at its origin
} Frame;

static vec3 minus(CalVec3 a, CalVec3 b) { return vec(a.x - b.x, a.y - b.y, a.z - b.z); }

/* Component i of R' v. */
static double along(const CalMat3 *R, int i, vec3 v) { return R->m[0][i] * v.x + R->m[1][i] * v.y + R->m[2][i] * v.z; }

/* v_a - v_b, as seen from the axes of b; r is the place of a from b. */
static vec3 relative_velocity(const Frame *a, const Frame *b, vec3 r) {
	const CalVec3 w = b->V.angular;
	return sub(minus(a->V.linear, b->V.linear), cross(vec(w.x, w.y, w.z), r));
}

/* Of the rotation from one frame to the other, 0 to pi. */
static double angle_between(const CalMat3 *a, const CalMat3 *b) {
	double R[3][3], x, y, z;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			R[i][k] = a->m[0][i] * b->m[0][k] + a->m[1][i] * b->m[1][k] + a->m[2][i] * b->m[2][k];
	x = R[2][1] - R[1][2];
	y = R[0][2] - R[2][0];
	z = R[1][0] - R[0][1];
	return portable_atan2(sqrt(x * x + y * y + z * z), R[0][0] + R[1][1] + R[2][2] - 1);
}

static double between(ReadingKind kind, const Frame *a, const Frame *b) {
	const vec3 r = minus(a->X.r, b->X.r);
	if (kind >= READ_X && kind <= READ_Z)
		return along(&b->X.R, (int)kind - READ_X, r);
	if (kind >= READ_VX && kind <= READ_VZ)
		return along(&b->X.R, (int)kind - READ_VX, relative_velocity(a, b, r));
	if (kind >= READ_WX && kind <= READ_WZ)
		return along(&b->X.R, (int)kind - READ_WX, minus(a->V.angular, b->V.angular));
	if (kind == READ_ANGLE)
		return angle_between(&a->X.R, &b->X.R);
	const double distance = sqrt(dot(r, r));
	if (kind == READ_DISTANCE)
		return distance;
	return distance > 0 ? dot(r, minus(a->V.linear, b->V.linear)) / distance : 0;
}

CalStatus reading_value(const Reading *r, CalEvalContext *context, double *value) {
	Frame frame[2];
	CalStatus status = CAL_OK;
	switch (r->kind) {
	case READ_Q:
	case READ_ETA:
		*value = cal_context_q(context, r->dof_ref);
		return CAL_OK;
	case READ_U:
	case READ_ETA_DOT:
		*value = cal_context_u(context, r->dof_ref);
		return CAL_OK;
	case READ_DEVICE:
		*value = 0;
		return r->output < 0 ? CAL_OK : context_output(context, r->device, r->output, value);
	default:
		for (int i = 0; i < 2 && status == CAL_OK; i++)
			status = cal_context_node_motion(context, r->node_ref[i], &frame[i].X, &frame[i].V);
		*value = status == CAL_OK ? between(r->kind, &frame[0], &frame[1]) : 0;
		return status;
	}
}

/* ---- ahead ------------------------------------------------------------------------------------------- */

static double size(CalVec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

/* How the quantity changes that two nodes have: bounds by the motion of both. */
static Course between_course(const Reading *r, const Frame *f, const CalSpatial acceleration[2]) {
	const vec3 place = minus(f[0].X.r, f[1].X.r), v = relative_velocity(&f[0], &f[1], place);
	const double distance = sqrt(dot(place, place)), speed = sqrt(dot(v, v)), turn = size(f[1].V.angular);
	const double linear = size(acceleration[0].linear) + size(acceleration[1].linear);
	const double angular = size(acceleration[0].angular) + size(acceleration[1].angular);
	const double bend = linear + (turn * turn + size(acceleration[1].angular)) * distance + 2 * turn * speed;
	const double rate = between(READ_RANGE_RATE, &f[0], &f[1]);
	const double across = distance > 0 ? fmax(0, speed * speed - rate * rate) / distance : 0;
	Course c = {.v = between(r->kind, &f[0], &f[1])};
	if (r->kind >= READ_X && r->kind <= READ_Z) {
		c.d = along(&f[1].X.R, (int)r->kind - READ_X, v);
		c.bend = bend;
	} else if (r->kind == READ_DISTANCE) {
		c.d = rate;
		c.bend = linear + across;
	} else if (r->kind == READ_RANGE_RATE) {
		c.spread = linear + across;
	} else if (r->kind == READ_ANGLE) {
		c.spread = size(f[0].V.angular) + turn;
		c.bend = angular;
	} else {
		c.spread = r->kind >= READ_WX && r->kind <= READ_WZ ? angular : bend;
	}
	return c;
}

/* Of a rate that is known by its size alone the quantity may go either way. */
CalStatus reading_course(const Reading *r, CalEvalContext *context, Course *course) {
	Frame frame[2];
	CalSpatial acceleration[2];
	CalStatus status = CAL_OK;
	switch (r->kind) {
	case READ_Q:
	case READ_ETA:
		*course = (Course){.v = cal_context_q(context, r->dof_ref),
		                   .d = cal_context_u(context, r->dof_ref),
		                   .bend = fabs(cal_context_udot(context, r->dof_ref))};
		return CAL_OK;
	case READ_U:
	case READ_ETA_DOT:
		*course =
			(Course){.v = cal_context_u(context, r->dof_ref), .spread = fabs(cal_context_udot(context, r->dof_ref))};
		return CAL_OK;
	case READ_DEVICE:
		*course = (Course){0};
		return context_output(context, r->device, r->output, &course->v);
	default:
		for (int i = 0; i < 2 && status == CAL_OK; i++) {
			status = cal_context_node_motion(context, r->node_ref[i], &frame[i].X, &frame[i].V);
			if (status == CAL_OK)
				status = cal_context_node_acceleration(context, r->node_ref[i], &acceleration[i]);
		}
		*course = status == CAL_OK ? between_course(r, frame, acceleration) : (Course){0};
		return status;
	}
}
