// SPDX-License-Identifier: Apache-2.0
/*
 * golden_spring.c — point-to-point springs of a golden case as wrenches of the input.
 *
 * The library has no such force of its own; the runner evaluates it from the motion of the two ends, which
 * are in (deformed) nodes or on the ground, and applies the tension to both. Their energy is counted here.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/golden.h"

static CalStatus read_end(GoldenCase *c, const TreeNode *node, GoldenEnd *end) {
	const TreeNode *body = tree_get(node, "body");
	const char *name, *on;
	char path[256];
	double r[3];
	CalStatus status = golden_numbers(c, tree_get(node, "r"), r, 3);
	end->r = (CalVec3){r[0], r[1], r[2]};
	end->node = -1;
	if (status != CAL_OK || !body || tree_is_null(body))
		return status;
	status = golden_text(c, body, NULL, &name);
	if (status == CAL_OK)
		status = golden_text(c, tree_get(node, "node"), "head", &on);
	if (status != CAL_OK)
		return status;
	snprintf(path, sizeof path, "%s/%s", name, on);
	end->node = cal_model_find_node(c->model, strcmp(on, "head") == 0 ? name : path);
	return end->node >= 0 ? CAL_OK : golden_fail(c, node, "a spring on an unknown node");
}

CalStatus golden_springs_bind(GoldenCase *c) {
	const TreeNode *list = tree_get(tree_get(c->root, "model"), "springs");
	for (int i = 0; i < c->spring_count; i++) {
		GoldenSpring *spring = &c->springs[i];
		const TreeNode *node = list->items[i];
		CalStatus status = read_end(c, tree_get(node, "A"), &spring->a);
		if (status == CAL_OK)
			status = read_end(c, tree_get(node, "B"), &spring->b);
		if (status == CAL_OK)
			status = golden_number(c, tree_get(node, "k"), 0, &spring->k);
		if (status == CAL_OK)
			status = golden_number(c, tree_get(node, "c"), 0, &spring->c);
		if (status == CAL_OK)
			status = golden_number(c, tree_get(node, "l0"), 0, &spring->l0);
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

static CalVec3 cross(CalVec3 a, CalVec3 b) {
	return (CalVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* An end in motion: its arm from the node's origin, position and velocity, world axes. */
typedef struct Point {
	CalVec3 arm, r, v;
} Point;

static CalStatus end_motion(const GoldenCase *c, const GoldenEnd *end, Point *point) {
	*point = (Point){.arm = end->r, .r = end->r};
	if (end->node < 0)
		return CAL_OK;
	CalPose X;
	CalSpatial V;
	CalStatus status = cal_node_pose(c->model, c->spring_work, end->node, &X);
	if (status == CAL_OK)
		status = cal_node_velocity(c->model, c->spring_work, end->node, &V);
	if (status != CAL_OK)
		return status;
	const double d[3] = {end->r.x, end->r.y, end->r.z};
	double arm[3];
	for (int i = 0; i < 3; i++)
		arm[i] = X.R.m[i][0] * d[0] + X.R.m[i][1] * d[1] + X.R.m[i][2] * d[2];
	point->arm = (CalVec3){arm[0], arm[1], arm[2]};
	point->r = (CalVec3){X.r.x + arm[0], X.r.y + arm[1], X.r.z + arm[2]};
	const CalVec3 turn = cross(V.angular, point->arm);
	point->v = (CalVec3){V.linear.x + turn.x, V.linear.y + turn.y, V.linear.z + turn.z};
	return CAL_OK;
}

static void apply_spring_force(GoldenCase *c, const GoldenEnd *end, const Point *point, CalVec3 force) {
	if (end->node >= 0)
		c->wrenches[c->input.wrench_count++] =
			(CalWrench){end->node, CAL_FRAME_WORLD, {cross(point->arm, force), force}};
}

CalStatus golden_springs_apply(GoldenCase *c, const CalState *state) {
	c->input.wrench_count = c->applied_wrenches;
	c->spring_energy = 0;
	CalStatus status = c->spring_count ? cal_kinematics(c->model, state, NULL, c->spring_work) : CAL_OK;
	for (int i = 0; status == CAL_OK && i < c->spring_count; i++) {
		const GoldenSpring *spring = &c->springs[i];
		Point a, b;
		status = end_motion(c, &spring->a, &a);
		if (status == CAL_OK)
			status = end_motion(c, &spring->b, &b);
		if (status != CAL_OK)
			return status;
		const CalVec3 d = {b.r.x - a.r.x, b.r.y - a.r.y, b.r.z - a.r.z};
		const double l = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
		const double rate = (d.x * (b.v.x - a.v.x) + d.y * (b.v.y - a.v.y) + d.z * (b.v.z - a.v.z)) / l;
		const double pull_per_length = (spring->k * (l - spring->l0) + spring->c * rate) / l;
		const CalVec3 f = {pull_per_length * d.x, pull_per_length * d.y, pull_per_length * d.z};
		apply_spring_force(c, &spring->a, &a, f);
		apply_spring_force(c, &spring->b, &b, (CalVec3){-f.x, -f.y, -f.z});
		c->spring_energy += 0.5 * spring->k * (l - spring->l0) * (l - spring->l0);
	}
	return status;
}
