// SPDX-License-Identifier: Apache-2.0
/*
 * check.c — what the WebAssembly build and the build for this machine must print alike: golden cases with a hash of every number,
 * and models through the interface of the module, with samples, states, documents, errors.
 *
 *   wasm_check golden FILE...   one line for each case, then "N passed, N failed, N skipped"
 *   wasm_check run FILE...      some lines for each model
 *   wasm_check texts            texts that cannot be read: the messages and their places
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calder_wasm.h"
#include "golden/golden_runner.h"

static uint64_t hash_of(uint64_t hash, const void *bytes, size_t count) {
	const unsigned char *at = bytes;
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

static uint64_t hash_of_text(const char *text) { return text ? hash_of(hash_start, text, strlen(text)) : 0; }

/* ---- golden cases --------------------------------------------------------------------------------------- */

static int run_golden(int count, char **paths) {
	static const char *const words[] = {"ok", "FAIL", "skip"};
	int counts[3] = {0};
	for (int i = 0; i < count; i++) {
		CalGoldenResult result = {0};
		const CalStatus status = cal_golden_run(paths[i], &result);
		const int verdict = status < 0 ? CAL_GOLDEN_FAIL : (int)result.verdict;
		counts[verdict]++;
		printf("%s %s %.17g %016" PRIx64 " %s\n", result.name, words[verdict], result.worst, result.bits, result.what);
	}
	printf("%d passed, %d failed, %d skipped\n", counts[0], counts[1], counts[2]);
	return counts[1] > 0;
}

/* ---- models --------------------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *length) {
	FILE *file = fopen(path, "rb");
	if (!file)
		return NULL;
	size_t capacity = 1 << 16;
	char *text = malloc(capacity);
	*length = 0;
	for (size_t got; text && (got = fread(text + *length, 1, capacity - *length, file)) > 0;) {
		*length += got;
		if (*length == capacity)
			text = realloc(text, capacity *= 2);
	}
	fclose(file);
	return text;
}

static void print_numbers(const char *what, const double *values, int count) {
	enum { MOST = 12 };
	printf("  %s", what);
	for (int i = 0; i < count && i < MOST; i++)
		printf(" %.17g", values[i]);
	printf(" %016" PRIx64 "\n", hash_of(hash_start, values, (size_t)count * sizeof *values));
}

/* Two hundredths of the run or 0.1 s, whichever is less, in ten parts. */
static int sample_run(CalderRun *run) {
	enum { PARTS = 10 };
	static const char *const signals[] = {"q", "u", "energy", "momentum"};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (calder_add_signal(run, signals[i]) != 0)
			return -1;
	const double end = fmin(0.02 * calder_duration(run), 0.1);
	uint64_t hash = hash_start;
	for (int i = 0; i <= PARTS; i++) {
		if (calder_advance(run, end * i / PARTS) != 0)
			return -1;
		const double *row = calder_sample(run);
		if (!row)
			return -1;
		hash = hash_of(hash, row, (size_t)calder_column_count(run) * sizeof *row);
	}
	printf("  %d columns to t = %.17g %016" PRIx64 "\n", calder_column_count(run), calder_time(run), hash);
	print_numbers("state", calder_state(run), calder_state_size(run));
	return 0;
}

static void print_interface(CalderRun *run) {
	uint64_t hash = hash_start;
	for (int i = 0; i < calder_parameter_count(run); i++) {
		const double value = calder_parameter(run, i);
		hash = hash_of(hash, &value, sizeof value);
		hash = hash_of(hash, calder_parameter_name(run, i), strlen(calder_parameter_name(run, i)));
	}
	printf("  %d parameters %016" PRIx64 "\n", calder_parameter_count(run), hash);
	printf("  notes %016" PRIx64 ", doubts %016" PRIx64 "\n", hash_of_text(calder_notes(run)),
	       hash_of_text(calder_doubts(run)));
	printf("  model text %016" PRIx64 "%s\n", hash_of_text(calder_model_text(run)), calder_error(run));
	printf("  document %016" PRIx64 "%s\n", hash_of_text(calder_document(run)), calder_error(run));
	const unsigned char *tick = calder_tick(run);
	printf("  tick of %d bytes %016" PRIx64 "\n", calder_tick_size(run),
	       tick ? hash_of(hash_start, tick, (size_t)calder_tick_size(run)) : 0);
}

static void run_model(CalderRun *run, const char *path) {
	size_t length;
	char *text = read_file(path, &length);
	printf("%s\n", path);
	if (!text || calder_load(run, text, length, path, CALDER_PARTIAL) != 0 || sample_run(run) != 0)
		printf("  error: %s\n", text ? calder_error(run) : "it cannot be opened");
	else
		print_interface(run);
	free(text);
}

static int run_models(int count, char **paths) {
	CalderRun *run = calder_new();
	for (int i = 0; run && i < count; i++)
		run_model(run, paths[i]);
	calder_delete(run);
	return !run;
}

/* ---- texts with mistakes -------------------------------------------------------------------------------- */

static int run_texts(void) {
	static const char *const texts[] = {
		"",
		"bodies: [",
		"bodies:\n\tlink: {mass: 1}\n",
		"calder: 1\nbodies:\n  link: {mas: 1}\n",
		"calder: 1\nbodies:\n  link: {mass: 1 kgg}\n",
		"calder: 1\nbodies:\n  link:\n    mass: 1\n    joint: {type: revolut}\n",
		"a: *b\n",
		"a: \xff\n",
		"calder: 1\nbodies: {a: {mass: 1, parent: lnik}, link: {mass: 1}}\n",
		"<robot name='r'><link name='a'></robot>",
		"<robot name='r'><link name='a'/><joint name='j' type='revolut'/></robot>",
		"<mujoco><worldbody><body><geom size='x'/></body></worldbody></mujoco>",
		"<sdf version='1.7'><model name='m'/><nonsense></sdf>",
		"<robot>&undefined;</robot>",
		"<!DOCTYPE a [<!ENTITY b 'c'>]><robot name='&b;'/>",
	};
	CalderRun *run = calder_new();
	for (size_t i = 0; run && i < sizeof texts / sizeof *texts; i++) {
		const int status = calder_load(run, texts[i], strlen(texts[i]), "text", 0);
		printf("%zu: %d %s\n", i, status, calder_error(run));
	}
	calder_delete(run);
	return !run;
}

int main(int argc, char **argv) {
	if (argc >= 2 && strcmp(argv[1], "golden") == 0)
		return run_golden(argc - 2, argv + 2);
	if (argc >= 2 && strcmp(argv[1], "run") == 0)
		return run_models(argc - 2, argv + 2);
	if (argc == 2 && strcmp(argv[1], "texts") == 0)
		return run_texts();
	fputs("usage: wasm_check golden FILE... | run FILE... | texts\n", stderr);
	return 2;
}
