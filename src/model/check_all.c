// SPDX-License-Identifier: Apache-2.0
/*
 * check_all.c — cal_desc_check: the structure first, and where that is sound, each group compiled and its
 * joints looked at for inertia.
 */
#include <stdio.h>

#include "model/compile.h"

static CalStatus check_group(const CalDesc *desc, uint32_t group, CalFindingFn report, void *user) {
	const CalCompileOptions options = {.group = {group}, .allocator = desc->allocator};
	CalModel *model;
	CalStatus status = compile_checked(desc, &options, &model);
	if (status != CAL_OK)
		return status;
	status = model_check_singular(model, desc, report, user);
	cal_model_destroy(model);
	return status;
}

static void ignore(void *user, const CalFinding *finding) { (void)user, (void)finding; }

CalStatus cal_desc_check(const CalDesc *desc, CalFindingFn report, void *user) {
	if (!desc)
		return CAL_ERR_ARGUMENT;
	if (!report)
		report = ignore;
	CalStatus worst = desc_check_structure(desc, (CalGroupId){0}, report, user);
	if (worst != CAL_OK)
		return worst;
	for (int g = 0; g < desc->group_count; ++g) {
		const CalStatus status = check_group(desc, (uint32_t)g + 1, report, user);
		if (status == CAL_ERR_MEMORY)
			return status;
		if (status != CAL_OK)
			worst = status;
	}
	return worst;
}
