// SPDX-License-Identifier: Apache-2.0
/*
 * scenario_support.h — runs of files with events, what they logged and where things are then; two bodies that fly, a door.
 */
#ifndef TEST_SCENARIO_SCENARIO_SUPPORT_H
#define TEST_SCENARIO_SCENARIO_SUPPORT_H

#include <math.h>

#include <calder/calder.h>

#include "support/model_file_support.h"
#include "support/run.h"

#define FLYERS                                                                                     \
	"calder: 1\n"                                                                                  \
	"groups: {visitor: {}}\n"                                                                      \
	"bodies:\n"                                                                                    \
	"  station: {mass: 100 kg, inertia: [70, 80, 90], nodes: {port: [1 m, 0, 0]}}\n"               \
	"  probe: {group: visitor, mass: 10 kg, inertia: [1, 2, 2.5], nodes: {tip: [-25 cm, 0, 0]}}\n" \
	"joints: {fly: {type: free, to: station}, visit: {type: free, to: probe}}\n"                   \
	"state:\n"                                                                                     \
	"  fly: {angular_velocity: [0.1 deg/s, 0, 0.2 deg/s]}\n"                                       \
	"  visit: {at: [2 m, 2 cm, 1 cm], velocity: [-5 cm/s, 1 mm/s, 0], angular_velocity: [0, 0.5 deg/s, 0]}\n"
#define DOCK                                               \
	"events:\n"                                            \
	"  dock:\n"                                            \
	"    when: distance(probe/tip, station/port) < 8 cm\n" \
	"    do: {attach: {name: latch, from: station/port, to: probe/tip, fit: to}}\n"

#define DOOR                                                   \
	"calder: 1\n"                                              \
	"bodies: {door: {mass: 2 kg, inertia: [0.3, 0.3, 0.5]}}\n" \
	"joints: {hinge: {type: revolute, to: door}}\n"            \
	"state: {hinge: {u: 1 rad/s}}\n"                           \
	"run: {duration: 1 s}\n"

static inline Run run_text(const char *text) { return run_file(file_of(text)); }

static inline void advance(Run *r, double t) {
	if (cal_sim_advance(r->sim, t, &r->error) != CAL_OK)
		fail_msg("%s", r->error.text);
}

static inline CalScenarioEntry entry_of(const Run *r, int64_t index) {
	CalScenarioEntry entry;
	assert_int_equal(cal_scenario_entry(r->scenario, index, &entry), CAL_OK);
	return entry;
}

/* The log from an entry on, as "time event|time event|". */
static inline void expect_log(const Run *r, const char *want) {
	char got[2000] = "";
	for (int64_t i = 0; i < cal_scenario_entry_count(r->scenario); i++) {
		const CalScenarioEntry entry = entry_of(r, i);
		const size_t used = strlen(got);
		snprintf(got + used, sizeof got - used, "%.6g %s|", entry.time, entry.event);
	}
	assert_string_equal(got, want);
}

static inline CalVec3 place_of(CalSim *sim, const char *path) {
	for (int i = 0; i < cal_sim_group_count(sim); i++) {
		const int node = cal_model_find_node(cal_sim_model(sim, i), path);
		CalSimView view;
		CalPose pose;
		if (node < 0)
			continue;
		assert_int_equal(cal_sim_observe(sim, i, &view), CAL_OK);
		assert_int_equal(cal_node_pose(view.model, view.work, node, &pose), CAL_OK);
		return pose.r;
	}
	fail_msg("no node %s", path);
	return (CalVec3){0, 0, 0};
}

static inline double speed_of(CalSim *sim, const char *joint, int dof) {
	CalDofRef dof_ref;
	assert_true(cal_sim_find_dof(sim, cal_sim_find_joint(sim, joint), dof, &dof_ref));
	return cal_sim_state(sim, dof_ref.group)->u[dof_ref.u];
}

static inline double angle_of(CalSim *sim, const char *joint, int dof) {
	CalDofRef dof_ref;
	assert_true(cal_sim_find_dof(sim, cal_sim_find_joint(sim, joint), dof, &dof_ref));
	return cal_sim_state(sim, dof_ref.group)->q[dof_ref.q];
}

#define RK4 "run: {duration: 1 s, method: rk4, step: 1 ms}\n"

/* Coordinates and speeds of two groups, to the bit. */
static inline void same_state(CalSim *a, int group_a, CalSim *b, int group_b) {
	const CalModel *model = cal_sim_model(a, group_a);
	const CalState *x = cal_sim_state(a, group_a), *y = cal_sim_state(b, group_b);
	assert_int_equal(cal_model_u_count(model), cal_model_u_count(cal_sim_model(b, group_b)));
	assert_memory_equal(x->q, y->q, (size_t)cal_model_q_count(model) * sizeof(double));
	assert_memory_equal(x->u, y->u, (size_t)cal_model_u_count(model) * sizeof(double));
}

/* A file that is refused, at a place in it and with these words. */
static inline void expect_error(const char *text, const char *want) {
	CalSetup *file = NULL;
	CalError error = {0};
	assert_int_equal(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_ERR_INPUT);
	if (!strstr(error.text, want) || strncmp(error.text, "t.yaml:", 7) != 0)
		fail_msg("\"%s\" does not say \"%s\"", error.text, want);
}

#endif
