// SPDX-License-Identifier: Apache-2.0
/*
 * robot.h — a robot file as a model in its initial state, for tests of readers.
 */
#ifndef TEST_SUPPORT_ROBOT_H
#define TEST_SUPPORT_ROBOT_H

#include <math.h>

#include <calder/dynamics.h>

#include "support/model_file_support.h"

#ifdef CALDER_WITH_EXPAT
#define NEEDS_EXPAT() ((void)0)
#else
#define NEEDS_EXPAT() return print_message("built without expat: skipped\n"), 0
#endif

typedef struct Robot {
	CalSetup *setup;
	CalModel *model;
	CalState state;
	CalWork *work;
} Robot;

static inline Robot robot_with(const char *text, const CalReadOptions *options) {
	Robot r = {0};
	CalError error = {0};
	if (cal_model_parse(text, strlen(text), "t.xml", options, NULL, &r.setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	r.model = model_of(r.setup, NULL);
	assert_int_equal(cal_state_create(r.model, &r.state), CAL_OK);
	assert_int_equal(cal_setup_apply_state(r.setup, r.model, &r.state, &error), CAL_OK);
	assert_int_equal(cal_work_create(r.model, &r.work), CAL_OK);
	return r;
}

static inline Robot robot_of(const char *text) { return robot_with(text, NULL); }

static inline void robot_close(Robot *r) {
	cal_work_destroy(r->work);
	cal_state_destroy(&r->state);
	cal_model_destroy(r->model);
	cal_setup_destroy(r->setup);
}

/** The file is refused with a message that holds `said`. */
static inline void robot_refuse(const char *text, const char *said) {
	CalSetup *setup = NULL;
	CalError error = {0};
	if (cal_model_parse(text, strlen(text), "t.xml", NULL, NULL, &setup, &error) == CAL_OK)
		fail_msg("it was not refused: %s", said);
	assert_null(setup);
	if (!strstr(error.text, said))
		fail_msg("\"%s\" does not hold \"%s\"", error.text, said);
	assert_non_null(strstr(error.text, "t.xml:"));
}

/** A line of the report of that kind whose element and text hold what is given. */
static inline void robot_expect_note(const Robot *r, CalImportKind kind, const char *element, const char *said) {
	CalImportNote note;
	for (int i = 0; cal_setup_import_note(r->setup, i, &note) == CAL_OK; i++)
		if (note.kind == kind && strstr(note.element, element) && strstr(note.text, said))
			return;
	fail_msg("no note \"%s\" on %s", said, element);
}

/** Coordinate of a joint, from 0. */
static inline double *robot_q(const Robot *r, const char *joint, int coordinate) {
	CalBodyInfo info;
	const int body = cal_model_find_joint(r->model, joint);
	if (body < 0)
		fail_msg("there is no joint %s", joint);
	assert_int_equal(cal_model_body(r->model, body, &info), CAL_OK);
	return &r->state.q[info.q + coordinate];
}

/** Pose of a body or node in the world. */
static inline CalPose robot_pose(const Robot *r, const char *node) {
	CalPose pose;
	const int index = cal_model_find_node(r->model, node);
	if (index < 0)
		fail_msg("there is no node %s", node);
	assert_int_equal(cal_kinematics(r->model, &r->state, NULL, r->work), CAL_OK);
	assert_int_equal(cal_node_pose(r->model, r->work, index, &pose), CAL_OK);
	return pose;
}

/** Position, and the x axis, of a body or node. */
static inline void robot_expect_at(const Robot *r, const char *node, CalVec3 position, CalVec3 x_axis) {
	const CalPose p = robot_pose(r, node);
	const double off[] = {p.r.x - position.x,     p.r.y - position.y,     p.r.z - position.z,
	                      p.R.m[0][0] - x_axis.x, p.R.m[1][0] - x_axis.y, p.R.m[2][0] - x_axis.z};
	for (int i = 0; i < 6; i++)
		if (!(fabs(off[i]) < 1e-12))
			fail_msg("%s is at (%g %g %g), its x along (%g %g %g)", node, p.r.x, p.r.y, p.r.z, p.R.m[0][0], p.R.m[1][0],
			         p.R.m[2][0]);
}

#endif
