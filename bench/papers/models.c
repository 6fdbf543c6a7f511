// SPDX-License-Identifier: Apache-2.0
/*
 * models.c — the systems of the order-N papers, body by body.
 *
 * T. K. Ghosh, L. J. Quiocho, "Development and Evaluation of an Order-N Formulation for Multi-flexible Body Space
 * Systems", Industrial Simulation Conference 2013: configurations 1 to 4 and the 16 cases. A. Huynh, T. A. Brain, J. R.
 * MacLean, L. J. Quiocho, "Evolution of Flexible Multibody Dynamics for Simulation Applications Supporting Human
 * Spaceflight", DETC2016-60108: 49 and 128 bodies. The counts of dofs in both fix the layout but for configuration 4,
 * whose 42 rigid dofs need an object that floats, and for the layout of the 128 bodies.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"

static const double pi = 3.14159265358979323846;
static const CalVec3 axis_x = {1, 0, 0}, axis_y = {0, 1, 0}, axis_z = {0, 0, 1}, no_axis = {0, 0, 0};
static const double boom_length = 5, boom_mass = 120, boom_stiffness = 2.4e6, short_length = 0.35, bend = 0.6;
static const double tip_length = 0.2; // of end effectors

/* A layout of the three-leg family. */
typedef struct Layout {
	int joints;         // of each leg and manipulator: 6 or 7
	int leg_parts;      // of each boom of the legs
	int manipulators;   // 0 or 2
	int arm_parts;      // of each boom of the manipulators
	int object_floats;  // held by two welds; otherwise welded to the first manipulator
	int flexible, open; //
} Layout;

static const Layout configurations[] = {
	{.joints = 6, .leg_parts = 1},
	{.joints = 6, .leg_parts = 2},
	{.joints = 7, .leg_parts = 2},
	{.joints = 6, .leg_parts = 2, .manipulators = 2, .arm_parts = 2, .object_floats = 1},
};
static const Layout bodies49 = {.joints = 7, .leg_parts = 2, .manipulators = 2, .arm_parts = 1, .flexible = 1};

/* ---- legs and manipulators ---------------------------------------------------------------------- */

static void start_at(PaperModel *made, const char *joint, double q) {
	if (q == 0 || made->start_count == PAPER_STARTS)
		return;
	PaperStart *start = &made->start[made->start_count++];
	snprintf(start->joint, sizeof start->joint, "%s", joint);
	start->q = q;
}

/* On a node, so far along its x axis. */
static Mount mount_along(CalNodeId node, double x) { return (Mount){.node = node, .placement.position.x = x}; }

/* A boom in equal parts, welded to each other; returns where the next body goes. */
static Mount add_parts(Builder *b, const char *name, Mount mount, CalVec3 axis, int parts, int flexible) {
	const Boom boom = {boom_length / parts, boom_mass / parts, boom_stiffness};
	for (int k = 0; k < parts; k++) {
		char part[PAPER_NAME];
		snprintf(part, sizeof part, "%.12s%s", name, parts == 1 ? "" : k == 0 ? "a" : "b");
		const CalVec3 about = k == 0 ? axis : no_axis;
		if (flexible)
			mount = mount_along(add_boom(b, part, mount, about, &boom), 0);
		else
			mount = mount_along(add_rod(b, part, mount, about, boom.mass, boom.length), boom.length);
	}
	return mount;
}

/* Roll, yaw, pitch, pitch, (pitch,) yaw, roll, the pitch joints bent; returns the end effector. */
static CalNodeId add_arm(Builder *b, const char *prefix, Mount mount, const Layout *layout, int parts) {
	const CalVec3 axes6[] = {axis_x, axis_z, axis_y, axis_y, axis_z, axis_x};
	const CalVec3 axes7[] = {axis_x, axis_z, axis_y, axis_y, axis_y, axis_z, axis_x};
	const double angles[] = {0, 0, bend, -2 * bend, layout->joints == 7 ? bend : 0, 0, 0};
	const CalVec3 *axes = layout->joints == 7 ? axes7 : axes6;
	const int second = layout->joints == 7 ? 4 : 3;
	char name[PAPER_NAME];
	for (int i = 0; i < layout->joints; i++) {
		const int is_boom = i == 2 || i == second;
		snprintf(name, sizeof name, "%.8s%d", prefix, i + 1);
		if (is_boom)
			mount = add_parts(b, name, mount, axes[i], parts, layout->flexible);
		else
			mount = mount_along(add_rod(b, name, mount, axes[i], 25, short_length), short_length);
		snprintf(name, sizeof name, "%.8s%d%s", prefix, i + 1, is_boom && parts > 1 ? "a" : "");
		start_at(b->made, name, angles[i]);
		if (strcmp(prefix, "leg1_") == 0)
			snprintf(b->made->torque_joint[b->made->torque_count++], sizeof name, "%s", name);
	}
	snprintf(name, sizeof name, "%.8see", prefix);
	return add_rod(b, name, mount, no_axis, 15, tip_length);
}

static Mount tip_of(CalNodeId end_effector) { return mount_along(end_effector, tip_length); }

static CalQuat upward(void) { return turn_about(axis_y, -pi / 2); } // the x axis of an arm to z

/* Two manipulators on the top plate, and the object at the end of the first. */
static void add_manipulators(Builder *b, const Layout *layout, CalNodeId top) {
	CalNodeId hands[2], object;
	for (int i = 0; i < 2; i++) {
		const CalPlacement shoulder = {{0, i == 0 ? 1.5 : -1.5, 0.2}, upward()};
		hands[i] = add_arm(b, i == 0 ? "man1_" : "man2_", (Mount){top, shoulder}, layout, layout->arm_parts);
	}
	if (layout->object_floats) {
		const CalPose hand = pose_at_start(b, hands[0]), tip = pose_at(&hand, (CalVec3){tip_length, 0, 0});
		const CalQuat q = quat_of(&tip.R);
		const double place[7] = {tip.r.x, tip.r.y, tip.r.z, q.w, q.x, q.y, q.z};
		object = add_plate(b, "object", mount_along((CalNodeId){0}, 0), cal_joint_def(CAL_JOINT_FREE), 400, 2);
		memcpy(b->made->object, place, sizeof place);
	} else {
		object = add_plate(b, "object", tip_of(hands[0]), paper_joint(no_axis), 400, 2);
	}
	for (int i = layout->object_floats ? 0 : 1; !layout->open && i < 2; i++)
		weld_as_it_stands(b, i == 0 ? "grasp1" : "grasp2", object, tip_of(hands[i]));
}

/* Base, three legs, the top plate on the first of them. */
static void add_legs_and_plates(Builder *b, const Layout *layout) {
	static const char *const prefix[] = {"leg1_", "leg2_", "leg3_"}, *const loop[] = {"", "leg2", "leg3"};
	CalNodeId feet[3];
	const CalNodeId base = add_plate(b, "base", mount_along((CalNodeId){0}, 0), cal_joint_def(CAL_JOINT_FREE), 4000, 6);
	for (int i = 0; i < 3; i++) {
		const double yaw = 2 * pi / 3 * i;
		const CalPlacement root = {{2 * cos(yaw), 2 * sin(yaw), 0.2}, quat_product(turn_about(axis_z, yaw), upward())};
		feet[i] = add_arm(b, prefix[i], (Mount){base, root}, layout, layout->leg_parts);
	}
	// Above the middle of the base and parallel to it.
	const CalPose foot = pose_at_start(b, feet[0]), tip = pose_at(&foot, (CalVec3){tip_length, 0, 0});
	const CalPose middle = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, tip.r.z + 0.1}};
	const Mount mount = {feet[0], placement_from(&foot, &middle)};
	const CalNodeId top = add_plate(b, "top", mount, paper_joint(no_axis), 2500, 6);
	for (int i = 1; !layout->open && i < 3; i++)
		weld_as_it_stands(b, loop[i], top, tip_of(feet[i]));
	if (layout->manipulators)
		add_manipulators(b, layout, top);
}

static void add_drive(PaperModel *made, const Layout *layout) {
	made->hold = 20;
	made->torque = 20;
	made->load[made->load_count++] = (PaperLoad){"top", {{30, 80, -60}, {200, -100, 50}}};
	if (layout->manipulators)
		made->load[made->load_count++] = (PaperLoad){"object", {{5, -4, 6}, {20, 10, -15}}};
}

static void build_family(Builder *b, const Layout *layout, double step) {
	add_legs_and_plates(b, layout);
	add_drive(b->made, layout);
	b->made->step = step;
}

/* Cases 1-4 rigid, 5-8 flexible, both open; 9-12 and 13-16 the same closed. */
static void build_case(Builder *b, int number) {
	Layout layout = configurations[(number - 1) % 4];
	layout.flexible = (number - 1) / 4 % 2;
	layout.open = number <= 8;
	build_family(b, &layout, layout.flexible ? 1e-4 : 1e-3);
}

/* ---- 128 bodies --------------------------------------------------------------------------------- */

static const Boom short_boom = {1, 8, 2.4e4};

/* Booms one after another until the arm has `longest` or there are 127. */
static void add_chain(Builder *b, Mount mount, const CalVec3 axes[3], int longest, int *count) {
	for (int i = 0; i < longest && *count < 127; i++) {
		char name[PAPER_NAME];
		snprintf(name, sizeof name, "f%d", ++*count);
		mount = mount_along(add_boom(b, name, mount, axes[i % 3], &short_boom), 0);
	}
}

static void build_chain128(Builder *b) {
	const CalVec3 axes[] = {axis_x, axis_z, axis_y};
	const CalNodeId base = add_plate(b, "base", mount_along((CalNodeId){0}, 0), cal_joint_def(CAL_JOINT_FREE), 500, 3);
	int count = 0;
	add_chain(b, mount_along(base, 1.5), axes, 127, &count);
}

/* Fifteen arms of eight booms and one of seven. */
static void build_star128(Builder *b) {
	const CalVec3 axes[] = {axis_z, axis_y, axis_x};
	const CalNodeId base = add_plate(b, "base", mount_along((CalNodeId){0}, 0), cal_joint_def(CAL_JOINT_FREE), 2000, 4);
	int count = 0;
	for (int a = 0; a < 16; a++) {
		const double yaw = pi / 8 * a;
		const CalPlacement root = {{2 * cos(yaw), 2 * sin(yaw), 0.1 * (a % 3)}, turn_about(axis_z, yaw)};
		add_chain(b, (Mount){base, root}, axes, 8, &count);
	}
}

static void build128(Builder *b, const char *layout) {
	if (strcmp(layout, "chain") == 0)
		build_chain128(b);
	else
		build_star128(b);
	b->made->load[b->made->load_count++] = (PaperLoad){"f127/n4", {{0.1, 0.2, 0.3}, {1, 2, -1}}};
	b->made->step = 1e-3;
}

/* ---- by name ------------------------------------------------------------------------------------ */

static int case_number(const char *name) {
	char *end;
	const long number = strtol(name, &end, 10);
	return *end == 0 && number >= 1 && number <= 16 ? (int)number : 0;
}

CalStatus paper_model(const char *name, const PaperOptions *options, PaperModel *model, CalError *error) {
	Builder b = {.made = model, .options = *options, .error = error};
	*model = (PaperModel){0};
	*error = (CalError){0};
	snprintf(model->name, sizeof model->name, "%s", name);
	b.status = cal_desc_create(NULL, &model->desc);
	if (case_number(name) > 0)
		build_case(&b, case_number(name));
	else if (strcmp(name, "49") == 0)
		build_family(&b, &bodies49, 1e-3);
	else if (strcmp(name, "128chain") == 0 || strcmp(name, "128star") == 0)
		build128(&b, name + 3);
	else
		b.status = CAL_ERR_ARGUMENT;
	return b.status;
}

void paper_model_free(PaperModel *model) {
	cal_desc_destroy(model->desc);
	model->desc = NULL;
}

void paper_scale_drive(PaperModel *model, double factor) {
	model->torque *= factor;
	for (int i = 0; i < model->load_count; i++) {
		CalVec3 *parts[] = {&model->load[i].f.angular, &model->load[i].f.linear};
		for (int k = 0; k < 2; k++)
			*parts[k] = (CalVec3){factor * parts[k]->x, factor * parts[k]->y, factor * parts[k]->z};
	}
}

void paper_set_start(const PaperModel *paper, const CalModel *model, CalState *state) {
	CalBodyInfo info;
	cal_config_neutral(model, state->q);
	memset(state->u, 0, sizeof *state->u * (size_t)cal_model_u_count(model));
	state->t = 0;
	for (int i = 0; i < paper->start_count; i++)
		if (cal_model_body(model, cal_model_find_joint(model, paper->start[i].joint), &info) == CAL_OK)
			state->q[info.q] = paper->start[i].q;
	if (paper->object[3] != 0 || paper->object[4] != 0 || paper->object[5] != 0 || paper->object[6] != 0)
		if (cal_model_body(model, cal_model_find_body(model, "object"), &info) == CAL_OK)
			memcpy(state->q + info.q, paper->object, sizeof paper->object);
}
