// SPDX-License-Identifier: Apache-2.0
/*
 * native.c — fuzz target: any bytes as a model file, and everything that a description leads to.
 *
 * Whatever is read is compiled, gets its state and loads, and one forward dynamics; then the setup is written without its text,
 * and what was written is read and written again, until the text is the same.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream
#include <stdlib.h>
#include <string.h>

#include <calder/io.h>

#include "fuzz.h"

enum { MAX_DOFS = 512 }; // keeps one input fast

static void evaluate(const CalSetup *file, const CalModel *model) {
	CalState state;
	CalWork *work = NULL;
	CalSetupLoads *loads = NULL;
	CalError error;
	CalInput input = {0};
	static double udot[MAX_DOFS];
	if (cal_model_u_count(model) > MAX_DOFS || cal_state_create(model, &state) != CAL_OK)
		return;
	fuzz_expect(cal_setup_apply_state(file, model, &state, &error) == CAL_OK, "a model has the state of its file");
	fuzz_expect(cal_setup_loads_create(file, model, &loads, &error) == CAL_OK, "a model has the loads of its file");
	fuzz_expect(cal_setup_loads_input(loads, model, &state, &input) == 0, "loads can be asked for");
	(void)cal_setup_loads_next_switch(loads, state.t);
	if (cal_work_create(model, &work) == CAL_OK)
		(void)cal_forward_dynamics(model, &state, &input, work, udot);
	cal_work_destroy(work);
	cal_setup_loads_destroy(loads);
	cal_state_destroy(&state);
}

/* NULL: a file cannot hold it. */
static char *written(const CalSetup *setup) {
	char *text = NULL;
	size_t size = 0;
	CalError error;
	memset(&error, 0x5a, sizeof error);
	FILE *out = open_memstream(&text, &size);
	fuzz_expect(out != NULL, "there is memory");
	const CalStatus status = cal_model_file_write(setup, out, &error);
	fclose(out);
	if (status == CAL_OK)
		return text;
	fuzz_expect(status == CAL_ERR_UNSUPPORTED && size == 0, "a setup is written, or refused before the first byte");
	fuzz_expect_error(&error);
	free(text);
	return NULL;
}

/* What a text says, written anew; NULL: a file cannot hold it. */
static char *rewritten(const char *text) {
	CalSetup *setup = NULL;
	CalError error;
	fuzz_expect(cal_model_file_parse(text, strlen(text), "fuzz.yaml", NULL, &setup, &error) == CAL_OK,
	            "what is written can be read");
	cal_model_file_trim(setup);
	char *again = written(setup);
	cal_setup_destroy(setup);
	return again;
}

/* The second time, inertias that are not symmetric to the last bit have become so. */
static void write_again(CalSetup *setup) {
	cal_model_file_trim(setup);
	char *first = written(setup), *second = first ? rewritten(first) : NULL, *third = second ? rewritten(second) : NULL;
	fuzz_expect(!first || (third && strcmp(second, third) == 0), "what is written reads back as the same");
	free(first);
	free(second);
	free(third);
}

static void run(const uint8_t *data, size_t size) {
	CalSetup *file = NULL;
	CalError error;
	if (fuzz_is_slow(data, size))
		return;
	memset(&error, 0x5a, sizeof error);
	if (cal_model_file_parse((const char *)data, size, "fuzz.yaml", NULL, &file, &error) != CAL_OK) {
		fuzz_expect_error(&error);
		fuzz_expect(!file && strncmp(error.text, "fuzz.yaml:", 10) == 0, "a message begins with the place");
		return;
	}
	CalModel *model = NULL;
	const CalCompileOptions options = {0};
	if (cal_model_compile(cal_setup_desc(file), &options, &model, &error) == CAL_OK)
		evaluate(file, model);
	cal_model_destroy(model);
	write_again(file);
	cal_setup_destroy(file);
}

const FuzzTarget fuzz_native = {"native", NULL, run};
