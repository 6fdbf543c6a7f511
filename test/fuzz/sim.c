// SPDX-License-Identifier: Apache-2.0
/*
 * sim.c — fuzz target: any bytes as a model file that is run: simulation, scenario, some steps. In the middle a checkpoint
 * is taken and restored; a checkpoint of the restored run is the same, byte for byte.
 */
#include <stdlib.h>
#include <string.h>

#include <calder/checkpoint.h>
#include <calder/io.h>
#include <calder/scenario.h>

#include "fuzz.h"

enum { MAX_BODIES = 40, MAX_SPEEDS = 80, STEPS = 10 };

static bool is_small(const CalSim *sim) {
	int speeds = 0;
	for (int g = 0; g < cal_sim_group_count(sim); g++)
		speeds += cal_model_u_count(cal_sim_model(sim, g));
	return speeds <= MAX_SPEEDS;
}

static bool set_states(const CalSetup *file, CalSim *sim) {
	CalError error;
	for (int g = 0; g < cal_sim_group_count(sim); g++)
		if (cal_setup_apply_state(file, cal_sim_model(sim, g), cal_sim_state(sim, g), &error) != CAL_OK)
			return false;
	return true;
}

static void go_through_a_checkpoint(CalSim *sim, CalScenario *scenario) {
	CalError error;
	size_t size = cal_checkpoint_size(sim), used = 0, used_again = 0;
	uint8_t *bytes = malloc(size), *again = malloc(size);
	if (bytes && again && cal_checkpoint_take(sim, bytes, size, &used) == CAL_OK) {
		const CalStatus status = cal_checkpoint_restore(sim, bytes, used, &error);
		fuzz_expect(status == CAL_OK || status == CAL_ERR_MEMORY, "a checkpoint restores what it was taken of");
		if (status == CAL_OK && cal_checkpoint_take(sim, again, size, &used_again) == CAL_OK)
			fuzz_expect(used == used_again && memcmp(bytes, again, used) == 0, "a restored run is bit-identical");
		if (status == CAL_OK)
			(void)cal_scenario_resume(scenario);
	}
	free(bytes);
	free(again);
}

static void step(CalSim *sim, CalScenario *scenario) {
	CalError error;
	CalSimBalance balance;
	for (int i = 0; i < STEPS; i++) {
		memset(&error, 0x5a, sizeof error);
		const CalStatus status = cal_sim_step(sim, 1e9, &error);
		if (status != CAL_OK) {
			fuzz_expect_error(&error);
			break;
		}
		if (i == STEPS / 2)
			go_through_a_checkpoint(sim, scenario);
	}
	(void)cal_sim_balance(sim, &balance);
}

static void run_file(const CalSetup *file) {
	CalError error;
	CalSim *sim = NULL;
	CalScenario *scenario = NULL;
	const CalRunSettings settings = cal_setup_run(file);
	const CalSimOptions options = {.method = settings.method};
	memset(&error, 0x5a, sizeof error);
	if (cal_sim_create(cal_setup_desc(file), &options, &sim, &error) != CAL_OK)
		fuzz_expect_error(&error);
	else if (is_small(sim) && set_states(file, sim) && cal_scenario_create(file, sim, &scenario, &error) == CAL_OK &&
	         cal_sim_restart(sim, &error) == CAL_OK)
		step(sim, scenario);
	cal_scenario_destroy(scenario);
	cal_sim_destroy(sim);
}

static void run(const uint8_t *data, size_t size) {
	CalSetup *file = NULL;
	CalError error;
	if (fuzz_is_slow(data, size) ||
	    cal_model_file_parse((const char *)data, size, "fuzz.yaml", NULL, &file, &error) != CAL_OK)
		return;
	if (cal_desc_body_count(cal_setup_desc(file)) <= MAX_BODIES)
		run_file(file);
	cal_setup_destroy(file);
}

const FuzzTarget fuzz_sim = {"sim", NULL, run};
