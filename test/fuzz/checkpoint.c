// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint.c — fuzz target: edits of checkpoints, with a checksum that is right all the same. The first byte says of
 * which run, the others what is changed (fuzz_edit()). What is taken must run on.
 */
#include <stdlib.h>
#include <string.h>

#include <calder/checkpoint.h>
#include <calder/io.h>
#include <calder/scenario.h>

#include "base/serializer.h"
#include "fuzz.h"

enum { HEADER = 104, GENERATION_AT = 80, REUSE = 100 };

typedef struct Base {
	int model;
	double t; // of the checkpoint
	CalSetup *file;
	CalSim *sim;
	CalScenario *scenario;
	int used; // how often since it was made
	uint8_t *bytes;
	size_t size;
} Base;

static Base bases[] = {{.model = FUZZ_WALKING_ARM, .t = 2.5},
                       {.model = FUZZ_PANELS, .t = 6},
                       {.model = FUZZ_SEPARATION, .t = 0.7},
                       {.model = FUZZ_WHEELS, .t = 0.5},
                       {.model = FUZZ_FOUR_BAR, .t = 0.1}};
enum { BASE_COUNT = sizeof bases / sizeof bases[0] };

static void make_sim(Base *base) {
	CalError error;
	const CalRunSettings settings = cal_setup_run(base->file);
	const CalSimOptions options = {.method = settings.method};
	cal_scenario_destroy(base->scenario);
	cal_sim_destroy(base->sim);
	base->scenario = NULL;
	base->used = 0;
	fuzz_expect(cal_sim_create(cal_setup_desc(base->file), &options, &base->sim, &error) == CAL_OK,
	            "an example is made");
	for (int g = 0; g < cal_sim_group_count(base->sim); g++)
		cal_setup_apply_state(base->file, cal_sim_model(base->sim, g), cal_sim_state(base->sim, g), &error);
	fuzz_expect(cal_scenario_create(base->file, base->sim, &base->scenario, &error) == CAL_OK, "so is its scenario");
	fuzz_expect(cal_sim_restart(base->sim, &error) == CAL_OK, "and it starts");
}

static void begin(void) {
	CalError error;
	for (int i = 0; i < BASE_COUNT; i++) {
		Base *base = &bases[i];
		const FuzzModel model = fuzz_model(base->model);
		fuzz_expect(cal_model_file_parse(model.text, model.length, model.name, NULL, &base->file, &error) == CAL_OK,
		            "an example is read");
		make_sim(base);
		fuzz_expect(cal_sim_advance(base->sim, base->t, &error) == CAL_OK, "an example runs");
		base->size = cal_checkpoint_size(base->sim);
		base->bytes = malloc(base->size);
		fuzz_expect(base->bytes && cal_checkpoint_take(base->sim, base->bytes, base->size, NULL) == CAL_OK,
		            "a checkpoint is taken");
		make_sim(base);
	}
}

static void seal(uint8_t *bytes, size_t size) {
	uint64_t hash = serializer_hash(SERIALIZER_HASH_START, bytes, HEADER - sizeof hash);
	hash = serializer_hash(hash, bytes + HEADER, size - HEADER);
	memcpy(bytes + HEADER - sizeof hash, &hash, sizeof hash);
}

static void run_on(Base *base) {
	CalError error;
	CalSimBalance balance;
	(void)cal_scenario_resume(base->scenario);
	for (int i = 0; i < 3; i++)
		if (cal_sim_step(base->sim, cal_sim_time(base->sim) + 0.01, &error) != CAL_OK)
			break;
	(void)cal_sim_balance(base->sim, &balance);
	const size_t size = cal_checkpoint_size(base->sim);
	uint8_t *again = malloc(size);
	if (again)
		(void)cal_checkpoint_take(base->sim, again, size, NULL);
	free(again);
}

static void run(const uint8_t *data, size_t size) {
	if (size < 2)
		return;
	Base *base = &bases[data[0] % BASE_COUNT];
	CalError error;
	uint8_t *bytes = malloc(base->size);
	if (!bytes)
		return;
	memcpy(bytes, base->bytes, base->size);
	if (data[1] < 32) // otherwise the header stays
		bytes[GENERATION_AT + data[1] / 4] = data[1] % 4;
	fuzz_edit(bytes, HEADER, base->size, data + 2, size - 2 < 60 ? size - 2 : 60);
	seal(bytes, base->size);
	memset(&error, 0x5a, sizeof error);
	if (cal_checkpoint_restore(base->sim, bytes, base->size, &error) == CAL_OK)
		run_on(base);
	else
		fuzz_expect_error(&error);
	free(bytes);
	if (++base->used > REUSE)
		make_sim(base);
}

const FuzzTarget fuzz_checkpoint = {"checkpoint", begin, run};
