// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz_native.c — libFuzzer target: any bytes as a native file, and everything that a file leads to.
 *
 * Whatever is read is compiled, gets its state and loads, and one forward dynamics. Nothing may crash, leak
 * or hang; a file that is refused must come with a message. Run it on a copy of test/fuzz/corpus:
 *   fuzz_native -max_len=8192 -timeout=10 -max_total_time=60 CORPUS_COPY
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <calder/io.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_DOFS = 512 }; // keeps one input fast

static void evaluate(const CalFile *file, const CalModel *model) {
	CalState state;
	CalWork *work = NULL;
	CalFileLoads *loads = NULL;
	CalError error;
	CalInput input = {0};
	static double udot[MAX_DOFS];
	if (cal_model_u_count(model) > MAX_DOFS || cal_state_create(model, &state) != CAL_OK)
		return;
	if (cal_file_state(file, model, &state, &error) != CAL_OK)
		abort(); // the model comes from this very file
	if (cal_file_loads_create(file, model, &loads, &error) != CAL_OK)
		abort();
	if (cal_file_loads_input(loads, model, &state, &input) != 0)
		abort();
	(void)cal_file_loads_next_switch(loads, state.t);
	if (cal_work_create(model, &work) == CAL_OK)
		(void)cal_forward_dynamics(model, &state, &input, work, udot);
	cal_work_destroy(work);
	cal_file_loads_destroy(loads);
	cal_state_destroy(&state);
}

/*
 * Fine meshes are allowed but slow: the eigenproblem of a beam or a panel is dense. Finding them here, by the text behind
 * the key, leaves out few inputs that could show anything else.
 */
static int is_slow(const uint8_t *data, size_t size) {
	static const char *const keys[] = {"elements", "cells_x", "cells_y"};
	for (int k = 0; k < 3; k++) {
		const size_t length = strlen(keys[k]);
		for (size_t i = 0; i + length < size; i++) {
			if (memcmp(data + i, keys[k], length) != 0)
				continue;
			char text[32] = "";
			const size_t rest = size - i - length;
			memcpy(text, data + i + length, rest < sizeof text - 1 ? rest : sizeof text - 1);
			const char *number = text + strcspn(text, "0123456789*");
			if (*number == '*' || strtod(number, NULL) > 12)
				return 1;
		}
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	CalFile *file = NULL;
	CalError error;
	if (is_slow(data, size))
		return 0;
	memset(&error, 0x5a, sizeof error);
	if (cal_file_parse((const char *)data, size, "fuzz.yaml", NULL, &file, &error) != CAL_OK) {
		if (file || strncmp(error.text, "fuzz.yaml:", 10) != 0 || !memchr(error.text, 0, sizeof error.text))
			abort();
		return 0;
	}
	CalModel *model = NULL;
	const CalCompileOptions options = {0};
	if (cal_model_compile(cal_file_desc(file), &options, &model, &error) == CAL_OK)
		evaluate(file, model);
	cal_model_destroy(model);
	cal_file_destroy(file);
	return 0;
}
