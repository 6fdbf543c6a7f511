// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf.c — fuzz target: any bytes as an MJCF file, whole and partial, and everything that its setup leads to: a compiled
 * model, its state, devices and one forward dynamics, and the report.
 */
#include <string.h>

#include <calder/io.h>
#include <calder/scenario.h>

#include "fuzz.h"

enum { MAX_DOFS = 64 }; // keeps one input fast

static void evaluate(const CalSetup *setup, const CalModel *model) {
	CalState state;
	CalWork *work = NULL;
	CalError error;
	static double udot[MAX_DOFS];
	if (cal_model_u_count(model) > MAX_DOFS || cal_state_create(model, &state) != CAL_OK)
		return;
	fuzz_expect(cal_setup_apply_state(setup, model, &state, &error) == CAL_OK, "a model has the state of its file");
	if (cal_work_create(model, &work) == CAL_OK)
		(void)cal_forward_dynamics(model, &state, &(CalInput){0}, work, udot);
	cal_work_destroy(work);
	cal_state_destroy(&state);
}

/* Devices are checked when they are added to a simulation. */
static void simulate(const CalSetup *setup) {
	CalSim *sim = NULL;
	CalScenario *scenario = NULL;
	CalError error;
	memset(&error, 0x5a, sizeof error);
	if (cal_setup_simulate(setup, NULL, &sim, &scenario, &error) != CAL_OK)
		fuzz_expect_error(&error);
	cal_scenario_destroy(scenario);
	cal_sim_destroy(sim);
}

static void check_report(const CalSetup *setup) {
	CalImportNote note;
	for (int i = 0; i < cal_setup_import_note_count(setup); i++)
		fuzz_expect(cal_setup_import_note(setup, i, &note) == CAL_OK && note.line > 0 && note.text[0] &&
		                note.element[0],
		            "a note has its place, element and text");
}

static void read_text(const char *text, size_t size, const CalReadOptions *options) {
	const char *name = fuzz_path("model.xml");
	CalSetup *setup = NULL;
	CalModel *model = NULL;
	CalError error;
	memset(&error, 0x5a, sizeof error);
	if (cal_model_parse(text, size, name, options, NULL, &setup, &error) != CAL_OK) {
		fuzz_expect_error(&error);
		fuzz_expect(!setup, "nothing is left of a file that is refused");
		return;
	}
	check_report(setup);
	if (cal_model_compile(cal_setup_desc(setup), NULL, &model, &error) == CAL_OK) {
		evaluate(setup, model);
		if (cal_model_u_count(model) <= MAX_DOFS)
			simulate(setup);
	}
	cal_model_destroy(model);
	cal_setup_destroy(setup);
}

static void run(const uint8_t *data, size_t size) {
	static const CalReadOptions partial = {.partial = 1};
	const char *text = (const char *)data;
	if (size < 7 || memcmp(text, "<mujoco", 7) != 0)
		return; // other formats have targets of their own
	read_text(text, size, NULL);
	read_text(text, size, &partial);
}

const FuzzTarget fuzz_mjcf = {"mjcf", NULL, run};
