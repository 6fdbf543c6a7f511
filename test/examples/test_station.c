// SPDX-License-Identifier: Apache-2.0
/*
 * test_station.c — the station of examples/station.yaml: the file is what its generator writes, and the run does
 * what docs/flagship.md says, from the capture to the arm that backs off, with momentum and energy accounted for.
 */
#define _POSIX_C_SOURCE 200809L // popen

#include <math.h>

#include "example_support.h"

#define STATION SOURCE_DIR "/examples/station.yaml"

/* ---- the generator -------------------------------------------------------------------------------------- */

static void generator_writes_the_file(void **state) {
	(void)state;
	if (system("python3 -c 'import math' 2>/dev/null") != 0)
		skip();
	FILE *made = popen("python3 '" SOURCE_DIR "/examples/make_station.py'", "r"), *kept = fopen(STATION, "r");
	assert_non_null(made);
	assert_non_null(kept);
	for (int line = 1;; line++) {
		char a[4096] = "", b[4096] = "";
		const char *got = fgets(a, sizeof a, made), *want = fgets(b, sizeof b, kept);
		if (strcmp(a, b) != 0)
			fail_msg("line %d: written \"%s\", in the file \"%s\"", line, a, b);
		if (!got && !want)
			break;
	}
	fclose(kept);
	assert_int_equal(pclose(made), 0);
}

/* ---- the run -------------------------------------------------------------------------------------------- */

typedef struct Run {
	Running example;        //
	double linear, angular; // largest change of the momentum of all groups
	double effort;          // largest one of a motor of the arm
	double residual;        // largest one of a loop
	int held;               // samples at which arm, vehicle and station were a closed loop
	CalScenarioEntry capture, damped, berthing, release, clear;
} Run;

static double distance(CalVec3 a, CalVec3 b) {
	return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

/* One output of a device. */
static double output_of(Run *r, const char *device, int index) {
	double output[8] = {0};
	const int id = cal_sim_find_device(r->example.sim, device);
	assert_true(id >= 0);
	assert_int_equal(cal_sim_device_outputs(r->example.sim, id, output), CAL_OK);
	return output[index];
}

static void watch(Run *r) {
	static const char *const joints[] = {"shoulder_roll", "shoulder_yaw", "shoulder_pitch", "elbow_pitch",
	                                     "wrist_pitch",   "wrist_yaw",    "wrist_roll"};
	CalSimBalance now;
	assert_int_equal(cal_sim_balance(r->example.sim, &now), CAL_OK);
	assert_true(now.complete);
	r->linear = fmax(r->linear, distance(now.linear, r->example.before.linear));
	r->angular = fmax(r->angular, distance(now.angular, r->example.before.angular));
	for (int i = 0; i < 7; i++) {
		char drive[64], forward[64];
		snprintf(drive, sizeof drive, "drive_%s", joints[i]);
		snprintf(forward, sizeof forward, "forward_%s", joints[i]);
		r->effort = fmax(r->effort, fabs(output_of(r, drive, 2) + output_of(r, forward, 0)));
	}
	CalSimMonitor monitor;
	assert_int_equal(cal_sim_monitor(r->example.sim, cal_sim_find_group(r->example.sim, "main"), &monitor), CAL_OK);
	if (cal_model_row_count(cal_sim_model(r->example.sim, cal_sim_find_group(r->example.sim, "main"))) > 0) {
		r->residual = fmax(r->residual, monitor.residual);
		r->held++;
	}
}

static CalScenarioEntry entry_of(const Run *r, int64_t index, const char *event) {
	CalScenarioEntry entry;
	assert_int_equal(cal_scenario_entry(r->example.scenario, index, &entry), CAL_OK);
	assert_string_equal(entry.event, event);
	assert_int_equal(entry.refused, CAL_OK);
	return entry;
}

static Run whole_run(void) {
	Run r = {.example = example_start("station")};
	for (int i = 1; i <= 300; i++) {
		example_advance(&r.example, 0.5 * i);
		watch(&r);
	}
	assert_int_equal(cal_scenario_entry_count(r.example.scenario), 6);
	r.capture = entry_of(&r, 1, "capture");
	r.damped = entry_of(&r, 2, "damped");
	r.berthing = entry_of(&r, 3, "berthing");
	r.release = entry_of(&r, 4, "release");
	r.clear = entry_of(&r, 5, "clear");
	return r;
}

/* Plans are open-loop: what happens when, and how well, is known from the plan to the accuracy of rigid bodies. */
static void expect_story(Run *r) {
	assert_near(r->capture.time, 61.4, 0.05);
	assert_true(r->capture.misfit < 0.02);
	assert_near(r->damped.time, 71.1, 0.05);
	assert_near(r->berthing.time, 126.7, 0.05);
	assert_true(r->berthing.misfit < 0.02);
	assert_near(r->release.time, r->berthing.time + 8, 1e-9);
	assert_near(r->clear.time, 147.5, 0.05);
	assert_int_equal(r->held, 16);
	assert_true(r->effort > 500 && r->effort < 2332);
	assert_int_equal(cal_sim_group_count(r->example.sim), 1);
	assert_int_equal(cal_model_body_count(cal_sim_model(r->example.sim, 0)), 54);
	assert_near(output_of(r, "grapple_range", 0), 1.6, 0.02);
	assert_near(output_of(r, "port_range", 0), 0, 0.02);
	CalJointState joint;
	assert_int_equal(cal_sim_joint_state(r->example.sim, cal_sim_find_joint(r->example.sim, "latches"), &joint, NULL),
	                 CAL_OK);
	assert_int_equal(joint, CAL_JOINT_IN_TREE); // it took the place of the grapple
}

/* At a step of 2.5 ms the truncation of RK4 leaves 1e-9 kg m/s and 2e-8 kg m^2/s: docs/flagship.md. */
static void momentum_and_energy_are_kept_from_capture_to_release(void **state) {
	(void)state;
	Run r = whole_run();
	expect_story(&r);
	CalSimBalance now;
	assert_int_equal(cal_sim_balance(r.example.sim, &now), CAL_OK);
	assert_near(distance(r.example.before.linear, (CalVec3){0, 0, 0}), 117.7, 0.1);
	assert_near(r.linear, 0, 5e-9);
	assert_near(r.angular, 0, 1e-7);
	assert_near(now.error, 0, 1e-7);
	assert_true(r.residual < 1e-12);
	example_finish(&r.example);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generator_writes_the_file),
		cmocka_unit_test(momentum_and_energy_are_kept_from_capture_to_release),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
