// SPDX-License-Identifier: Apache-2.0
/*
 * plan.c — fuzz target: any bytes as the plan of a campaign over a fixed model; a few of its cases are opened.
 */
#include <stdlib.h>
#include <string.h>

#include <calder/campaign.h>

#include "fuzz.h"

static void look(const CalPlan *plan) {
	const CalPlanInfo info = cal_plan_info(plan);
	const int64_t cases[] = {0, 1, info.case_count / 2, info.case_count - 1};
	CalError error;
	CalPlanParameter parameter;
	CalPlanOutput output;
	double *values = calloc((size_t)info.parameter_count + 1, sizeof *values);
	for (int i = 0; i < info.parameter_count; i++)
		fuzz_expect(cal_plan_parameter(plan, i, &parameter) == CAL_OK, "parameters of a plan can be asked for");
	for (int i = 0; i < info.output_count; i++) {
		CalStatisticAccumulator keeper = {0};
		fuzz_expect(cal_plan_output(plan, i, &output) == CAL_OK, "outputs of a plan can be asked for");
		for (int k = 0; k < 3; k++)
			cal_statistic_add(&keeper, &output, 0.1 * k, 1.5 * k);
		(void)cal_statistic_value(&keeper, &output);
	}
	for (int i = 0; values && i < 4; i++) {
		CalSetup *file = NULL;
		memset(&error, 0x5a, sizeof error);
		if (cal_plan_values(plan, cases[i], values, &error) != CAL_OK)
			fuzz_expect_error(&error);
		if (cal_plan_open_case(plan, cases[i], &file, &error) == CAL_OK)
			cal_setup_destroy(file);
	}
	free(values);
}

static void run(const uint8_t *data, size_t size) {
	const FuzzModel model = fuzz_model(FUZZ_SEPARATION);
	CalPlan *plan = NULL;
	CalError error;
	memset(&error, 0x5a, sizeof error);
	if (cal_plan_parse((const char *)data, size, "plan.yaml", model.text, model.length, NULL, &plan, &error) == CAL_OK)
		look(plan);
	else
		fuzz_expect_error(&error);
	cal_plan_destroy(plan);
}

const FuzzTarget fuzz_plan = {"plan", NULL, run};
