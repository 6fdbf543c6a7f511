// SPDX-License-Identifier: Apache-2.0
/*
 * expression.c — fuzz target: any text as a formula, bound to a simulation and evaluated.
 */
#include <calder/expression.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/io.h>
#include <calder/scenario.h>

#include "fuzz.h"

static CalSetup *file;
static CalSim *sim;
static CalScenario *scenario;

static void begin(void) {
	const FuzzModel model = fuzz_model(FUZZ_WHEELS);
	CalError error;
	fuzz_expect(cal_model_file_parse(model.text, model.length, model.name, NULL, &file, &error) == CAL_OK,
	            "an example is read");
	const CalSimOptions options = {.method = cal_setup_run(file).method};
	fuzz_expect(cal_sim_create(cal_setup_desc(file), &options, &sim, &error) == CAL_OK, "an example is made");
	for (int g = 0; g < cal_sim_group_count(sim); g++)
		cal_setup_apply_state(file, cal_sim_model(sim, g), cal_sim_state(sim, g), &error);
	fuzz_expect(cal_scenario_create(file, sim, &scenario, &error) == CAL_OK, "so is its scenario");
	fuzz_expect(cal_sim_restart(sim, &error) == CAL_OK, "and it starts");
}

static CalStatus evaluate(void *user, CalEvalContext *context) {
	CalExpression *expression = user;
	CalError error;
	double value, jet[3];
	if (cal_expression_bind(expression, context, &error) == CAL_OK)
		(void)cal_expression_value(expression, context, &value);
	else
		fuzz_expect_error(&error);
	if (cal_expression_is_of_time(expression))
		(void)cal_expression_jet(expression, 0.25, jet);
	static const double times[] = {0, 0.25, -1, 1e9, 1e300};
	for (int i = 0; i < 5; i++)
		fuzz_expect(!(cal_expression_next_switch(expression, times[i]) <= times[i]), "the next switch comes later");
	(void)cal_expression_is_condition(expression);
	return CAL_OK;
}

static void run(const uint8_t *data, size_t size) {
	char *text = fuzz_text((FuzzPart){data, size});
	CalExpression *expression = NULL;
	CalError error;
	memset(&error, 0x5a, sizeof error);
	if (cal_expression_create(text, NULL, &expression, &error) == CAL_OK)
		(void)cal_sim_inspect(sim, evaluate, expression);
	else
		fuzz_expect_error(&error);
	cal_expression_destroy(expression);
	free(text);
}

const FuzzTarget fuzz_expression = {"expression", begin, run};
