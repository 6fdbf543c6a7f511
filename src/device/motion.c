// SPDX-License-Identifier: Apache-2.0
/*
 * motion.c — a group that moves as given functions of time.
 *
 * Coordinates of their own follow their functions. An orientation turns about an axis that is fixed in the inboard frame,
 * Q(t) = exp(axis angle(t)) Q0; the angular velocity in the outboard frame is then Q0^-1(axis) angle', with a
 * direction that does not change. The device owns the functions and ends steps at their kinks; the motion itself is set
 * on the group.
 */
#include <stdio.h>
#include <string.h>

#include <calder/motion.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/name_index.h"
#include "device/device.h"
#include "math/quat.h"
#include "sim/sim_internal.h"

/* One function and what it moves. */
typedef struct Course {
	int q, u;               // coordinate and speed; the first of a quaternion and of its three speeds
	bool turns;             // it is the angle of a quaternion
	CalQuat start;          // at angle zero
	CalVec3 axis, spin;     // unit: in the inboard and in the outboard frame
	CalExpression *formula; // or else
	Table table;            //
} Course;

typedef struct Motion {
	CalSim *sim;
	const CalModel *model; // of the group; NULL: it has other joints than those that the functions were given for
	uint32_t layout;       // of the model: joints and their places
	Course *courses;       // [course_count]
	int course_count;
	double *start;   // [nq] what does not move
	double *numbers; // of the tables
	char group[128];
	void *memory; // the block of the arrays
} Motion;

static Motion *motion_of(const CalDevice *device) { return *(Motion **)device->data; }

/* ---- at a time -------------------------------------------------------------------------------------- */

/* Says which function is not defined; always nonzero. */
static int report_undefined(const Motion *s, const Course *course, double t) {
	char dof[96] = "";
	cal_model_dof_name(s->model, course->u, dof, sizeof dof);
	snprintf(s->sim->why_failed, sizeof s->sim->why_failed,
	         "the motion of \"%s\", %.100s, is not finite at t = %.9g s, or its rate or acceleration is not", dof,
	         course->formula ? cal_expression_text(course->formula) : "a table", t);
	return 1;
}

static void rotate_quaternion(const Course *course, TableValue f, double *q, double *u, double *udot) {
	const dvec3 rotation = {f.value * course->axis.x, f.value * course->axis.y, f.value * course->axis.z};
	const CalQuat Q = dquat_mul(dquat_exp(rotation), course->start);
	const double *spin = &course->spin.x;
	q[course->q] = Q.w, q[course->q + 1] = Q.x, q[course->q + 2] = Q.y, q[course->q + 3] = Q.z;
	for (int i = 0; i < 3; i++) {
		u[course->u + i] = f.rate * spin[i];
		udot[course->u + i] = f.acceleration * spin[i];
	}
}

/* A CalMotionFn. */
static int motion_at(void *user, const CalModel *model, double t, double *q, double *u, double *udot) {
	const Motion *s = user;
	const CalDevice numbers = {.table = s->numbers};
	if (model != s->model) {
		snprintf(s->sim->why_failed, sizeof s->sim->why_failed,
		         "the joints of group \"%.80s\" are no longer those that its motion was given for", s->group);
		return 1;
	}
	memcpy(q, s->start, (size_t)cal_model_q_count(model) * sizeof *q);
	memset(u, 0, (size_t)cal_model_u_count(model) * sizeof *u);
	memset(udot, 0, (size_t)cal_model_u_count(model) * sizeof *udot);
	for (int i = 0; i < s->course_count; i++) {
		Course *course = &s->courses[i];
		TableValue f;
		if (course->formula) {
			double jet[3];
			cal_expression_jet(course->formula, t, jet);
			f = (TableValue){jet[0], jet[1], jet[2]};
		} else {
			f = table_at(&numbers, &course->table, t);
		}
		if (!isfinite(f.value) || !isfinite(f.rate) || !isfinite(f.acceleration))
			return report_undefined(s, course, t);
		if (course->turns) {
			rotate_quaternion(course, f, q, u, udot);
		} else {
			q[course->q] = f.value;
			u[course->u] = f.rate;
			udot[course->u] = f.acceleration;
		}
	}
	return 0;
}

/* ---- the device ------------------------------------------------------------------------------------- */

/* Which joints a model has, and where their coordinates are. */
static uint32_t layout_hash(const CalModel *model) {
	uint32_t hash = 0;
	for (int i = 0; i < cal_model_body_count(model); i++) {
		CalBodyInfo info = {0};
		cal_model_body(model, i, &info);
		const uint32_t place[] = {info.joint_id.value, (uint32_t)info.q, (uint32_t)info.u};
		hash = name_hash(hash, (const char *)place, sizeof place);
	}
	return hash;
}

/* The model is another after a change of the group, also if its joints are the same. */
static int motion_bind(const CalDevice *device, const CalEvalContext *context) {
	Motion *s = motion_of(device);
	const int group = cal_context_find_group(context, s->group);
	const CalModel *model = cal_sim_model(s->sim, group);
	s->model = model && layout_hash(model) == s->layout ? model : NULL;
	return group >= 0 ? 0 : -1;
}

static int primitive_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)device, (void)context, (void)xdot;
	return 0;
}

static double motion_next_switch(const CalDevice *device, double t) {
	const Motion *s = motion_of(device);
	const CalDevice numbers = {.table = s->numbers};
	double next = INFINITY;
	for (int i = 0; i < s->course_count; i++) {
		Course *course = &s->courses[i];
		next = fmin(next, course->formula ? cal_expression_next_switch(course->formula, t)
		                                  : table_next_switch(&numbers, &course->table, t));
	}
	return next;
}

static void motion_free(Motion *s) {
	const CalAllocator allocator = allocator_or_default(NULL);
	for (int i = 0; s && i < s->course_count; i++)
		cal_expression_destroy(s->courses[i].formula);
	if (s)
		memory_free(&allocator, s->memory);
	memory_free(&allocator, s);
}

static void motion_destroy(void *data) { motion_free(*(Motion **)data); }

static const CalDeviceOps ops = {.type = "motion",
                                 .bind = motion_bind,
                                 .evaluate = primitive_evaluate,
                                 .next_switch = motion_next_switch,
                                 .destroy = motion_destroy};

/* ---- making ----------------------------------------------------------------------------------------- */

static bool is_given(const CalTimeFunction *f) { return f->formula || f->table.count > 0; }

/* Sizes of the arrays for a definition. */
static void count_courses(const CalMotionDef *def, int *courses, int *numbers) {
	*courses = *numbers = 0;
	for (int i = 0; i < def->joint_count; i++) {
		for (int k = 0; k <= CAL_JOINT_MAX_DOF; k++) {
			const CalJointMotion *joint = &def->joints[i];
			const CalTimeFunction *f = k < CAL_JOINT_MAX_DOF ? &joint->q[k] : &joint->angle;
			*courses += is_given(f);
			*numbers += f->formula || f->table.count < 0 ? 0 : 2 * f->table.count;
		}
	}
}

static void layout_motion(Motion *s, int courses, int numbers, Cursor *cursor) {
	CURSOR_ARRAY(cursor, s->courses, courses);
	CURSOR_ARRAY(cursor, s->start, cal_model_q_count(s->model));
	CURSOR_ARRAY(cursor, s->numbers, numbers);
}

static bool alloc_arrays(Motion *s, const CalMotionDef *def) {
	const CalAllocator allocator = allocator_or_default(NULL);
	int courses, numbers;
	count_courses(def, &courses, &numbers);
	Cursor cursor = {.align = sizeof(double)};
	layout_motion(s, courses, numbers, &cursor);
	s->memory = cursor_alloc_at_start(&cursor, &allocator);
	if (s->memory)
		layout_motion(s, courses, numbers, &cursor);
	return s->memory != NULL;
}

/* Checks a function and takes a copy; *at counts the numbers of tables so far. */
static void add_course(DeviceBuilder *d, Motion *s, Course course, const CalTimeFunction *f, int *at) {
	char what[96] = "";
	CalError error = {0};
	cal_model_dof_name(s->model, course.u, what, sizeof what);
	if (f->formula) {
		const CalStatus status = cal_expression_create(f->formula, NULL, &course.formula, &error);
		if (status == CAL_ERR_MEMORY && d->status == CAL_OK)
			d->status = error_set(d->error, status, "device \"%s\": %s", d->def.name, error.text);
		device_check(d, status == CAL_OK, "%s: %s", what, error.text);
		device_check(d, cal_expression_is_of_time(course.formula) && !cal_expression_is_condition(course.formula),
		             "%s: \"%.200s\" is no number that depends on the time t alone", what, f->formula);
	} else {
		device_check_table(d, what, &f->table);
		device_check(d, f->table.shape != CAL_TABLE_STEP || f->table.count == 1,
		             "the table of %s jumps; a motion needs a rate: take the shape linear, cubic, smooth or spline",
		             what);
		course.table = (Table){.shape = f->table.shape, .at = *at, .count = f->table.count};
		if (d->status == CAL_OK) {
			const size_t size = (size_t)f->table.count * sizeof(double);
			memcpy(s->numbers + *at, f->table.time, size);
			memcpy(s->numbers + *at + f->table.count, f->table.value, size);
			*at += 2 * f->table.count;
		}
	}
	s->courses[s->course_count++] = course; // also on failure: it may hold a formula
}

/* The rotation of a joint about its axis; q and u: of its quaternion. */
static Course rotation_of(const Motion *s, const CalJointMotion *joint, int q, int u) {
	const double *p = s->start + q;
	const CalQuat start = dquat_unit((CalQuat){p[0], p[1], p[2], p[3]}), back = {start.w, -start.x, -start.y, -start.z};
	const CalVec3 axis = v_unit(joint->axis, (CalVec3){0, 0, 1});
	const CalQuat spin = dquat_mul(dquat_mul(back, (CalQuat){0, axis.x, axis.y, axis.z}), start);
	return (Course){.q = q, .u = u, .turns = true, .start = start, .axis = axis, .spin = {spin.x, spin.y, spin.z}};
}

/* The body that a joint of the group carries, or -1. */
static int carried_by(const CalModel *model, CalJointId joint, CalBodyInfo *info) {
	for (int i = 0; i < cal_model_body_count(model); i++)
		if (cal_model_body(model, i, info) == CAL_OK && info->joint_id.value == joint.value)
			return i;
	return -1;
}

static void add_joint(DeviceBuilder *d, Motion *s, const CalJointMotion *joint, int *at) {
	CalBodyInfo info = {0};
	const bool found = carried_by(s->model, joint->joint, &info) >= 0;
	device_check(d, found, "joint %u is not in group \"%s\"", (unsigned)joint->joint.value, s->group);
	if (!found)
		return;
	int q = info.q, quaternion = -1, first = 0; // coordinates follow the speeds, a quaternion stands for three
	for (int k = 0; k < info.nu; k++) {
		CalDofInfo dof;
		cal_model_dof(s->model, info.u + k, &dof);
		if (dof.q < 0 && quaternion < 0) {
			quaternion = q;
			first = info.u + k;
			q += 4;
		}
		q += dof.q >= 0;
		if (is_given(&joint->q[k])) {
			device_check(d, dof.q >= 0,
			             "degree of freedom %d of joint \"%s\" is part of a quaternion; give its angle about an axis",
			             k, info.joint);
			add_course(d, s, (Course){.q = dof.q, .u = info.u + k}, &joint->q[k], at);
		}
	}
	for (int k = info.nu; k < CAL_JOINT_MAX_DOF; k++)
		device_check(d, !is_given(&joint->q[k]), "joint \"%s\" has no degree of freedom %d; it has %d, counted from 0",
		             info.joint, k, info.nu);
	if (is_given(&joint->angle)) {
		device_check(d, quaternion >= 0, "joint \"%s\" has no quaternion; give its coordinates", info.joint);
		if (quaternion >= 0)
			add_course(d, s, rotation_of(s, joint, quaternion, first), &joint->angle, at);
	}
}

static void check_twice(DeviceBuilder *d, const CalMotionDef *def) {
	for (int i = 0; i < def->joint_count; i++)
		for (int k = 0; k < i; k++)
			device_check(d, def->joints[i].joint.value != def->joints[k].joint.value, "joint %d of it is given twice",
			             i + 1);
}

CalStatus cal_sim_add_motion(CalSim *sim, const CalMotionDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	const int group = sim && def->group ? cal_sim_find_group(sim, def->group) : -1;
	int at = 0;
	device_check(&d, group >= 0 && strlen(def->group) < sizeof((Motion *)0)->group, "there is no group \"%.80s\"",
	             def->group ? def->group : "");
	device_check(&d, def->joint_count >= 0 && (def->joint_count == 0 || def->joints), "its list of joints is NULL");
	device_check(&d, group < 0 || sim->groups[group].drive_count == 0,
	             "a device drives a joint of group \"%.80s\"; a group moves as a whole, or by its dynamics with drives",
	             def->group ? def->group : "");
	check_twice(&d, def);
	if (d.status != CAL_OK || !def->group)
		return d.status;
	const CalAllocator allocator = allocator_or_default(NULL);
	Motion *s = memory_alloc(&allocator, sizeof *s);
	if (s)
		*s = (Motion){.sim = sim, .model = cal_sim_model(sim, group), .layout = layout_hash(cal_sim_model(sim, group))};
	if (!s || !alloc_arrays(s, def)) {
		motion_free(s);
		return error_set(error, CAL_ERR_MEMORY, "device \"%s\": %s", def->name, cal_status_text(CAL_ERR_MEMORY));
	}
	memcpy(s->group, def->group, strlen(def->group) + 1);
	const int nq = cal_model_q_count(s->model);
	if (nq > 0)
		memcpy(s->start, cal_sim_state(sim, group)->q, (size_t)nq * sizeof *s->start);
	for (int i = 0; i < def->joint_count; i++)
		add_joint(&d, s, &def->joints[i], &at);
	CalStatus status = device_add(&d, &s, sizeof(Motion *), device);
	if (status != CAL_OK) {
		motion_free(s);
		return status;
	}
	return cal_sim_set_motion(sim, group, motion_at, s); // in range; needs no memory
}

int cal_sim_find_motion(const CalSim *sim, int group) {
	const CalModel *model = cal_sim_model(sim, group);
	for (int i = model ? sim->device_count - 1 : -1; i >= 0; i--) {
		const SimDevice *device = &sim->devices[i];
		if (device->def.ops == &ops && strcmp(motion_of(&device->is)->group, cal_model_name(model)) == 0)
			return i;
	}
	return -1;
}

CalStatus cal_sim_resume_motion(CalSim *sim, int group, CalError *error) {
	const int device = cal_sim_find_motion(sim, group);
	if (device < 0)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_resume_motion: no motion was added for group %d", group);
	Motion *s = motion_of(&sim->devices[device].is);
	if (s->model != cal_sim_model(sim, group))
		return error_set(error, CAL_ERR_MODEL,
		                 "group \"%s\": its joints are no longer those that its motion was given for", s->group);
	return cal_sim_set_motion(sim, group, motion_at, s);
}
