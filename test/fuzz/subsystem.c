// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem.c — fuzz target: any bytes as the file of a subsystem that a model names, a model file or a robot file as the first
 * byte says, twice: as part of its group and as a component.
 */
#include <stdio.h>
#include <string.h>

#include <calder/io.h>
#include <calder/scenario.h>

#include "fuzz.h"

enum { MAX_SPEEDS = 64, MAX_BODIES = 60 }; // keeps one input fast

static void simulate(const CalSetup *setup) {
	CalSim *sim = NULL;
	CalScenario *scenario = NULL;
	CalError error;
	memset(&error, 0x5a, sizeof error);
	CalStatus status = cal_setup_simulate(setup, NULL, &sim, &scenario, &error);
	for (int g = 0; status == CAL_OK && g < cal_sim_group_count(sim); g++)
		status = cal_model_u_count(cal_sim_model(sim, g)) > MAX_SPEEDS ? CAL_STOPPED : CAL_OK;
	if (status == CAL_OK)
		status = cal_sim_step(sim, 1, &error);
	if (status != CAL_OK && status != CAL_STOPPED)
		fuzz_expect_error(&error);
	cal_scenario_destroy(scenario);
	cal_sim_destroy(sim);
}

static void run(const uint8_t *data, size_t size) {
	static const char *const names[] = {"part.yaml", "part.urdf", "part.xml", "part.sdf"};
	char text[500];
	CalSetup *setup = NULL;
	CalError error;
	if (size < 1 || fuzz_is_slow(data, size))
		return;
	memset(&error, 0x5a, sizeof error);
	const char *name = names[data[0] % 4];
	fuzz_write(name, data + 1, size - 1);
	const int length =
		snprintf(text, sizeof text,
	             "calder: 1\nbodies: {base: {mass: 1, box: [1, 1, 1], nodes: {tip: [1, 0, 0]}}}\n"
	             "joints: {flight: {type: free, to: base}}\nsubsystems:\n"
	             "  one: {file: %s, attach: {to: base, interface: root, joint: {type: revolute}}}\n"
	             "  two: {file: %s, component: %s, attach: {to: base/tip, interface: root, joint: weld}}\n",
	             name, name, data[0] & 16 ? "true" : "false");
	if (cal_model_file_parse(text, (size_t)length, fuzz_path("host.yaml"), NULL, &setup, &error) != CAL_OK)
		fuzz_expect_error(&error);
	else if (cal_desc_body_count(cal_setup_desc(setup)) <= MAX_BODIES)
		simulate(setup);
	cal_setup_destroy(setup);
}

const FuzzTarget fuzz_subsystem = {"subsystem", NULL, run};
