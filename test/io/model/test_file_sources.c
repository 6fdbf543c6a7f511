// SPDX-License-Identifier: Apache-2.0
/*
 * test_file_sources.c — what a model file names and what a program has to know of it before it acts: other files, code in
 * shared objects, suspicious numbers; quantities with units from a command line; and a run that is asked to end.
 */
#define _GNU_SOURCE // mkdtemp

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <calder/calder.h>

static char folder[] = "/tmp/calder_sources_XXXXXX";

static void put(const char *name, const char *text) {
	char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static CalSetup *parse(const char *text) {
	char name[256];
	CalSetup *file;
	CalError error = {0};
	snprintf(name, sizeof name, "%s/model.yaml", folder);
	if (cal_model_file_parse(text, strlen(text), name, NULL, &file, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return file;
}

#define PENDULUM                                                                                         \
	"calder: 1\ngravity: [0, 0, -9.81]\nbodies: {rod: {mass: 2, inertia: [1, 1, 1], com: [0, 0, -1]}}\n" \
	"joints: {hinge: {type: revolute, to: rod, axis: y}}\n"

static void all_files_that_a_model_names_are_known(void **state) {
	(void)state;
	put("part.yaml", "calder: 1\nbodies: {b: {mass: 1, box: [1, 1, 1], visual: {mesh: deep/far.stl}}}\n"
	                 "joints: {j: {type: revolute, to: b}}\ninterface: [b]\n");
	CalSetup *file =
		parse("calder: 1\nbodies: {a: {mass: 1, box: [1, 1, 1], visual: [{mesh: near.stl}, {mesh: near.stl}]}}\n"
	          "joints: {j: {type: prismatic, axis: x, to: a}}\n"
	          "devices: {d: {type: shared, library: code.so}}\n"
	          "subsystems: {s: {file: part.yaml, attach: {to: a, joint: {type: revolute}}}}\n");
	static const char *const names[] = {"part.yaml", "near.stl", "code.so"};
	int found = 0;
	for (int i = 0; i < cal_setup_source_count(file); i++)
		for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
			char path[256];
			snprintf(path, sizeof path, "%s/%s", folder, names[k]);
			found += strcmp(cal_setup_source(file, i), path) == 0;
		}
	assert_int_equal(found, 3); // each once
	bool far = false;
	for (int i = 0; i < cal_setup_source_count(file); i++)
		far |= strstr(cal_setup_source(file, i), "deep/far.stl") != NULL;
	assert_true(far);
	assert_null(cal_setup_source(file, -1));
	assert_null(cal_setup_source(file, cal_setup_source_count(file)));
	assert_int_equal(cal_setup_source_count(NULL), 0);
	cal_setup_destroy(file);
}

static void angles_of_many_turns_without_unit_are_suspicious(void **state) {
	(void)state;
	static const struct {
		const char *q;
		int warnings;
	} rows[] = {{"90", 1}, {"-90", 1}, {"7", 1}, {"6.28", 0}, {"90 deg", 0}, {"90 rad", 0}, {"0", 0}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[400], said[80];
		snprintf(text, sizeof text, PENDULUM "state: {hinge: {q: %s}}\n", rows[i].q);
		CalSetup *file = parse(text);
		assert_int_equal(cal_setup_warning_count(file), rows[i].warnings);
		snprintf(said, sizeof said, "model.yaml:5:20: warning: state of joint \"hinge\": the angle %s is in rad",
		         rows[i].q);
		if (rows[i].warnings)
			assert_non_null(strstr(cal_setup_warning(file, 0), said));
		assert_null(cal_setup_warning(file, rows[i].warnings));
		cal_setup_destroy(file);
	}
}

/* Of a thousand a few are reported: neither people nor lists are made for more. */
static void many_suspicious_numbers_are_cut_short(void **state) {
	(void)state;
	enum { COUNT = 1000, KEPT = 32 };
	char *text = malloc((size_t)COUNT * 100), *at = text;
	assert_non_null(text);
	at += sprintf(at, "calder: 1\nbodies:\n");
	for (int i = 0; i < COUNT; i++)
		at += sprintf(at, "  b%d: {mass: 1, inertia: [1, 1, 1]}\n", i);
	at += sprintf(at, "joints:\n");
	for (int i = 0; i < COUNT; i++)
		at += sprintf(at, "  j%d: {type: revolute, to: b%d}\n", i, i);
	at += sprintf(at, "state:\n");
	for (int i = 0; i < COUNT; i++)
		at += sprintf(at, "  j%d: {q: 90}\n", i);
	CalSetup *file = parse(text);
	assert_int_equal(cal_setup_warning_count(file), KEPT);
	assert_non_null(strstr(cal_setup_warning(file, 0), "\"j0\": the angle 90"));
	assert_non_null(strstr(cal_setup_warning(file, KEPT - 1), "there is more"));
	cal_setup_destroy(file);
	free(text);
}

static void quantities_of_options_have_units(void **state) {
	(void)state;
	static const struct {
		const char *text, *unit;
		double value; // NAN: refused
		const char *said;
	} rows[] = {
		{"20ms", "s", 0.02, ""},
		{"20 ms", "s", 0.02, ""},
		{"0.02", "s", 0.02, ""},
		{"2 min", "s", 120, ""},
		{"-3", "s", -3, ""},
		{"5", "mm", 0.005, ""}, // a plain number is in the unit that is named
		{"5 m", "mm", 5, ""},
		{"300 rad/s", "rad/s", 300, ""},
		{"1e-6", "", 1e-6, ""},
		{"1e-6 s", "", (double)NAN, "wrong unit"},
		{"5 m", "s", (double)NAN, "wrong unit; it must be one that becomes s"},
		{"5 parsecs", "s", (double)NAN, "unknown unit \"parsecs\""},
		{"1,5", "s", (double)NAN, "decimal point, not a comma"},
		{"", "s", (double)NAN, "not a number"},
		{"soon", "s", (double)NAN, "not a number"},
		{"nan", "s", (double)NAN, "not a number"},
		{"1e999", "s", (double)NAN, "not a number"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double value = 0;
		CalError error = {0};
		const CalStatus status = cal_quantity_parse(rows[i].text, rows[i].unit, &value, &error);
		if (isnan(rows[i].value)) {
			assert_int_equal(status, CAL_ERR_INPUT);
			if (!strstr(error.text, rows[i].said))
				fail_msg("\"%s\": %s", rows[i].text, error.text);
		} else {
			assert_int_equal(status, CAL_OK);
			assert_true(fabs(value - rows[i].value) <= 1e-15 * fabs(rows[i].value));
		}
	}
	double value;
	assert_int_equal(cal_quantity_parse(NULL, "s", &value, NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_quantity_parse("1", "parsecs", &value, NULL), CAL_ERR_ARGUMENT);
}

static CalSim *simulation(const CalSetup *file, const CalSimOptions *options) {
	CalSim *sim;
	CalError error = {0};
	if (cal_sim_create(cal_setup_desc(file), options, &sim, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return sim;
}

static void code_is_loaded_only_where_it_is_allowed(void **state) {
	(void)state;
	put("code.so", "not a shared object\n");
	CalSetup *file = parse(PENDULUM "devices: {engine: {type: shared, library: code.so}}\n"
	                                "events: {full: {when: 'device(engine.thrust) > 1', do: {switch_off: engine}}}\n");
	const CalSimOptions skip = {.method.method = CAL_METHOD_DOPRI5, .plugins = CAL_PLUGIN_SKIP};
	CalSim *sim = simulation(file, &skip);
	CalScenario *scenario;
	CalError error = {0};
	if (cal_scenario_create(file, sim, &scenario, &error) != CAL_OK)
		fail_msg("%s", error.text);
	CalDeviceInfo info;
	assert_int_equal(cal_sim_device(sim, cal_sim_find_device(sim, "engine"), &info), CAL_OK);
	assert_true(info.not_loaded);
	assert_int_equal(cal_sim_advance(sim, 0.1, NULL), CAL_OK); // it does nothing
	cal_scenario_destroy(scenario);
	cal_sim_destroy(sim);
	for (int allowed = 0; allowed <= 1; allowed++) {
		const CalSimOptions options = {.method.method = CAL_METHOD_DOPRI5,
		                               .plugins = allowed ? CAL_PLUGIN_LOAD : CAL_PLUGIN_REFUSE};
		sim = simulation(file, &options);
		assert_int_not_equal(cal_scenario_create(file, sim, &scenario, &error), CAL_OK);
		const bool refused = strstr(error.text, "is code, and code is not to be loaded here") != NULL;
		assert_int_equal(refused, !allowed);
		cal_sim_destroy(sim);
	}
	cal_setup_destroy(file);
}

static volatile int stop;

static int stop_at_half(void *user, const CalModel *model, const CalState *s, CalInput *input) {
	(void)user;
	(void)model;
	(void)input;
	stop |= s->t >= 0.5;
	return 0;
}

/* It ends after a step, and the numbers up to there are those of a run that nobody stopped. */
static void an_advance_ends_when_it_is_asked_to(void **state) {
	(void)state;
	static const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_DOPRI5, CAL_METHOD_IMPLICIT};
	CalSetup *file = parse(PENDULUM "state: {hinge: {q: 1}}\n");
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		CalSimOptions options = {.method = {.method = methods[i], .step = 1e-3, .rtol = 1e-6, .atol = 1e-9},
		                         .stop = &stop};
		CalSim *sim = simulation(file, &options);
		options.stop = NULL;
		CalSim *whole = simulation(file, &options);
		cal_sim_state(sim, 0)->q[0] = cal_sim_state(whole, 0)->q[0] = 1;
		stop = 0;
		assert_int_equal(cal_sim_set_input(sim, 0, stop_at_half, NULL, NULL), CAL_OK);
		assert_int_equal(cal_sim_advance(sim, 1e6, NULL), CAL_OK);
		const double t = cal_sim_time(sim);
		assert_true(t >= 0.5 && t < 1.5);
		while (cal_sim_time(whole) < t)
			assert_int_equal(cal_sim_step(whole, 1e6, NULL), CAL_OK);
		assert_true(fabs(cal_sim_time(whole) - t) < 1e-12);
		assert_true(fabs(cal_sim_state(whole, 0)->q[0] - cal_sim_state(sim, 0)->q[0]) < 1e-9);
		assert_int_equal(cal_sim_advance(sim, t + 1, NULL), CAL_OK); // still asked to: one step
		assert_true(cal_sim_time(sim) > t && cal_sim_time(sim) < t + 1);
		stop = 0;
		cal_sim_destroy(sim);
		cal_sim_destroy(whole);
	}
	cal_setup_destroy(file);
}

static void checkpoints_of_a_run_keep_their_path(void **state) {
	(void)state;
	char path[256];
	snprintf(path, sizeof path, "%s/run.ckpt", folder);
	CalSetup *file = parse(PENDULUM);
	const CalSimOptions options = {.method.method = CAL_METHOD_DOPRI5};
	CalSim *sim = simulation(file, &options);
	CalOutput *output;
	CalError error = {0};
	assert_int_equal(cal_output_open(path, NULL, &output, &error), CAL_OK);
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(cal_sim_advance(sim, 0.1 * i, NULL), CAL_OK);
		assert_int_equal(cal_checkpoint_save_to(sim, output, &error), CAL_OK);
		assert_int_equal(cal_checkpoint_save(sim, path, &error), CAL_ERR_IO); // another writer
		assert_non_null(strstr(error.text, "another writer has this file"));
	}
	cal_output_close(output);
	CalSim *other = simulation(file, &options);
	assert_int_equal(cal_checkpoint_load(other, path, &error), CAL_OK);
	assert_true(cal_sim_time(other) == cal_sim_time(sim));
	assert_int_equal(cal_checkpoint_save(sim, path, &error), CAL_OK);
	assert_int_equal(cal_checkpoint_save_to(sim, NULL, &error), CAL_ERR_ARGUMENT);
	cal_sim_destroy(sim);
	cal_sim_destroy(other);
	cal_setup_destroy(file);
}

int main(void) {
	if (!mkdtemp(folder))
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_files_that_a_model_names_are_known),
		cmocka_unit_test(angles_of_many_turns_without_unit_are_suspicious),
		cmocka_unit_test(many_suspicious_numbers_are_cut_short),
		cmocka_unit_test(quantities_of_options_have_units),
		cmocka_unit_test(code_is_loaded_only_where_it_is_allowed),
		cmocka_unit_test(an_advance_ends_when_it_is_asked_to),
		cmocka_unit_test(checkpoints_of_a_run_keep_their_path),
	};
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	char command[80];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command) != 0 || failed;
}
