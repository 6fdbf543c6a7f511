// SPDX-License-Identifier: Apache-2.0
/*
 * plan_support.h — plans over a small model, for the tests of campaigns.
 */
#ifndef TEST_CAMPAIGN_PLAN_SUPPORT_H
#define TEST_CAMPAIGN_PLAN_SUPPORT_H

#include <calder/campaign.h>

#include "support/model_file_support.h"

static const char model_text[] =
	"calder: 1\n"
	"define:\n"
	"  spring: &spring {type: spring, to: rod/tip, length: 2 m, stiffness: 10}\n"
	"bodies:\n"
	"  rod: {mass: 1 kg, rod: {from: [0, 0, 0], to: [0, 0, -1 m]}, nodes: {tip: [0, 0, -1 m]}}\n"
	"joints:\n"
	"  - {name: hinge, type: revolute, to: rod, axis: y}\n"
	"state: {hinge: {q: 30 deg}}\n"
	"devices:\n"
	"  left: {<<: *spring, from: ground}\n"
	"  right: {<<: *spring, from: ground}\n"
	"run: {duration: 1 s, method: rk4, step: 10 ms}\n";

static inline CalStatus plan_parse(const char *text, const CalAllocator *allocator, CalPlan **plan, CalError *error) {
	return cal_plan_parse(text, strlen(text), "dir/p.yaml", model_text, sizeof model_text - 1, allocator, plan, error);
}

/** A plan with this design and these parameters (YAML, indented by two) that must be good. */
static inline CalPlan *plan_of(const char *design, const char *parameters) {
	char text[4000];
	CalPlan *plan = NULL;
	CalError error;
	snprintf(
		text, sizeof text,
		"sweep: 1\nmodel: m.yaml\n%s\nparameters:\n%s\noutputs:\n  angle: {signal: 'q:hinge', statistic: [final, max]}\n",
		design, parameters);
	if (plan_parse(text, NULL, &plan, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return plan;
}

#endif
