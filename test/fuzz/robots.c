// SPDX-License-Identifier: Apache-2.0
/*
 * robots.c — fuzz targets: any bytes as a robot file. What can be read has a sound description, runs or is refused with a
 * reason, and is the same model after it was written and read again, as a model file and, where nothing is missing there, as a
 * robot file of each format. The length chooses the options.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/io.h>
#include <calder/scenario.h>

#include "fuzz.h"

enum { MAX_SPEEDS = 64 }; // keeps one input fast

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

static void compile(const CalSetup *setup) {
	CalModel *model = NULL;
	CalError error;
	memset(&error, 0x5a, sizeof error);
	if (cal_model_compile(cal_setup_desc(setup), NULL, &model, &error) != CAL_OK)
		fuzz_expect_error(&error);
	else if (cal_model_u_count(model) <= MAX_SPEEDS)
		simulate(setup);
	cal_model_destroy(model);
}

static void write_and_read(const CalSetup *setup) {
	char *text = NULL;
	size_t length = 0;
	CalError error;
	CalSetup *again = NULL;
	FILE *out = open_memstream(&text, &length);
	fuzz_expect(out != NULL, "memory for a text");
	memset(&error, 0x5a, sizeof error);
	const CalStatus status = cal_model_file_write(setup, out, &error);
	fclose(out);
	if (status != CAL_OK) {
		fuzz_expect_error(&error); // a name that a model file cannot hold
	} else if (cal_model_file_parse(text, length, "again.yaml", NULL, &again, &error) != CAL_OK) {
		fprintf(stderr, "%s\n%s\n", error.text, text);
		fuzz_expect(false, "a robot that was written can be read");
	} else {
		fuzz_expect(cal_desc_body_count(cal_setup_desc(again)) == cal_desc_body_count(cal_setup_desc(setup)) &&
		                cal_desc_joint_count(cal_setup_desc(again)) == cal_desc_joint_count(cal_setup_desc(setup)),
		            "it has as many bodies and joints");
	}
	cal_setup_destroy(again);
	free(text);
}

/* A file in which nothing is missing can be read; one that may be partial is written whatever the model is. */
static void export_and_read(const CalSetup *setup, CalFormat format, int partial) {
	char *text = NULL;
	size_t length = 0;
	CalError error;
	CalSetup *again = NULL;
	CalExportReport *report = NULL;
	CalExportNote note;
	FILE *out = open_memstream(&text, &length);
	fuzz_expect(out != NULL, "memory for a text");
	memset(&error, 0x5a, sizeof error);
	const CalStatus status =
		cal_model_write(setup, format, &(CalWriteOptions){.partial = partial}, out, NULL, &report, &error);
	fclose(out);
	for (int i = 0; cal_export_note(report, i, &note) == CAL_OK; i++)
		fuzz_expect(note.text[0] && note.element[0], "a note says what and about what");
	if (status != CAL_OK) {
		fuzz_expect_error(&error);
		fuzz_expect(length == 0, "nothing is written of a model that is refused");
	} else if (cal_model_parse(text, length, "again.xml", &(CalReadOptions){.partial = partial}, NULL, &again,
	                           &error) != CAL_OK) {
		fuzz_expect_error(&error);
		if (!partial) {
			fprintf(stderr, "%s\n%s\n", error.text, text);
			fuzz_expect(false, "a robot that was written as a robot file can be read");
		}
	}
	cal_setup_destroy(again);
	cal_export_report_destroy(report);
	free(text);
}

static void run(const uint8_t *data, size_t size) {
	CalSetup *setup = NULL;
	CalError error;
	CalImportNote note;
	const CalReadOptions options = {.base = size & 1 ? CAL_BASE_FREE : CAL_BASE_DEFAULT, .partial = size >> 1 & 1};
	memset(&error, 0x5a, sizeof error);
	if (cal_model_parse((const char *)data, size, "fuzz.xml", &options, NULL, &setup, &error) != CAL_OK) {
		fuzz_expect_error(&error);
		fuzz_expect(setup == NULL, "no setup of a file that is refused");
		return;
	}
	for (int i = 0; cal_setup_import_note(setup, i, &note) == CAL_OK; i++)
		fuzz_expect(note.text[0] && note.element[0] && note.line > 0, "a note says what and where");
	cal_desc_check(cal_setup_desc(setup), NULL, NULL);
	if (cal_setup_format(setup)[0]) {
		compile(setup);
		write_and_read(setup);
		for (int format = CAL_FORMAT_URDF; format < CAL_FORMAT_COUNT; format++) {
			export_and_read(setup, (CalFormat)format, 0);
			export_and_read(setup, (CalFormat)format, 1);
		}
	}
	cal_setup_destroy(setup);
}

const FuzzTarget fuzz_urdf = {"urdf", NULL, run};
const FuzzTarget fuzz_mjcf = {"mjcf", NULL, run};
const FuzzTarget fuzz_sdf = {"sdf", NULL, run};
