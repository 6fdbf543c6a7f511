// SPDX-License-Identifier: Apache-2.0
/*
 * rig.h — small simulations on which devices are tested: bodies on joints, in as many groups as wanted.
 *
 * A Rig is a description that grows until rig_run() makes a simulation of it. Everything fails the test at once if
 * anything goes wrong. Bodies are balls with the center of mass in their own frame.
 */
#ifndef CALDER_TEST_DEVICE_RIG_H
#define CALDER_TEST_DEVICE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>

typedef struct Rig {
	CalDesc *desc;
	CalSim *sim;
} Rig;

static inline Rig rig_new(void) {
	Rig rig = {0};
	assert_int_equal(cal_desc_create(NULL, &rig.desc), CAL_OK);
	return rig;
}

static inline CalGroupId rig_group(Rig *rig, const char *name) {
	CalGroupDef def = cal_group_def();
	CalGroupId id;
	def.name = name;
	assert_int_equal(cal_desc_add_group(rig->desc, &def, &id, NULL), CAL_OK);
	return id;
}

/** A body called `name` on a joint "name_joint" at the frame of `parent` ({0}: the ground). */
static inline CalBodyId rig_body(Rig *rig, CalGroupId group, CalBodyId parent, const char *name, CalJointDef joint,
                                 double mass, CalVec3 moments) {
	CalBodyDef def = cal_body_def();
	CalBodyId id;
	char joint_name[64];
	snprintf(joint_name, sizeof joint_name, "%s_joint", name);
	joint.name = joint_name;
	def.name = name;
	def.group = group;
	def.mass = mass;
	def.inertia = (CalMat3){{{moments.x, 0, 0}, {0, moments.y, 0}, {0, 0, moments.z}}};
	assert_int_equal(cal_desc_add_body(rig->desc, &def, &id, NULL), CAL_OK);
	CalNodeId inboard = parent.value ? cal_desc_body_node(rig->desc, parent) : (CalNodeId){0};
	assert_int_equal(cal_desc_attach(rig->desc, inboard, &joint, cal_desc_body_node(rig->desc, id), NULL, NULL),
	                 CAL_OK);
	return id;
}

static inline CalJointDef rig_joint(CalJointType type, double x, double y, double z) {
	CalJointDef joint = cal_joint_def(type);
	joint.axis = (CalVec3){x, y, z};
	return joint;
}

static inline CalNodeId rig_node(Rig *rig, CalBodyId body, const char *name, CalVec3 at) {
	CalNodeDef def = cal_node_def();
	CalNodeId id;
	def.name = name;
	def.placement.position = at;
	assert_int_equal(cal_desc_add_node(rig->desc, body, &def, &id, NULL), CAL_OK);
	return id;
}

static inline CalNodeId rig_frame(const Rig *rig, CalBodyId body) { return cal_desc_body_node(rig->desc, body); }

static inline CalJointId rig_joint_of(const Rig *rig, const char *body) {
	char name[64];
	snprintf(name, sizeof name, "%s_joint", body);
	return cal_desc_find_joint(rig->desc, name);
}

static inline void rig_sim(Rig *rig, CalMethod method, double step) {
	const CalSimOptions options = {.method = {.method = method, .step = step, .rtol = 1e-10, .atol = 1e-13}};
	CalError error = {0};
	if (cal_sim_create(rig->desc, &options, &rig->sim, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

static inline void rig_free(Rig *rig) {
	cal_sim_destroy(rig->sim);
	cal_desc_destroy(rig->desc);
}

static inline void rig_advance(Rig *rig, double t) {
	CalError error = {0};
	if (cal_sim_advance(rig->sim, t, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

/** Of a call that returns a status and writes to `rig_error`. */
#define rig_ok(call)                        \
	do {                                    \
		CalError rig_error = {0};           \
		if ((call) != CAL_OK)               \
			fail_msg("%s", rig_error.text); \
	} while (0)

static inline CalSimBalance rig_balance(Rig *rig) {
	CalSimBalance balance;
	assert_int_equal(cal_sim_balance(rig->sim, &balance), CAL_OK);
	return balance;
}

#define check_near(got, want, tolerance)                                                            \
	do {                                                                                            \
		const double got_ = (got), want_ = (want);                                                  \
		if (!(fabs(got_ - want_) <= (tolerance)))                                                   \
			fail_msg("%s = %.15g, wanted %.15g, off by %g", #got, got_, want_, fabs(got_ - want_)); \
	} while (0)

#define CONSTANT(v)                                                              \
	{                                                                            \
		.count = 1, .time = (const double[]){0}, .value = (const double[]) { v } \
	}
#define TABLE(s, n, times, values) \
	{ .shape = (s), .count = (n), .time = (times), .value = (values) }

static const CalVec3 unit_moments = {0.4, 0.4, 0.4};

#endif
