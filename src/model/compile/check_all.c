// SPDX-License-Identifier: Apache-2.0
/*
 * check_all.c — cal_desc_check: the structure first, and where that is sound, each group compiled and its
 * joints looked at for inertia.
 */
#include <stdio.h>

#include "model/compile/compile.h"

static CalStatus check_group(const DescGroups *groups, uint32_t group, CalFindingFn report, void *user) {
	const CalCompileOptions options = {.group = {group}, .allocator = groups->desc->allocator};
	CalModel *model;
	CalStatus status = compile_listed(groups, &options, &model);
	if (status != CAL_OK)
		return status;
	status = model_check_singular(model, groups->desc, report, user);
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
	DescGroups *groups = desc_groups_create(desc);
	if (!groups)
		return CAL_ERR_MEMORY;
	for (int g = 0; g < desc->group_count && worst != CAL_ERR_MEMORY; ++g) {
		const CalStatus status = check_group(groups, (uint32_t)g + 1, report, user);
		worst = status != CAL_OK ? status : worst;
	}
	desc_groups_destroy(groups);
	return worst;
}
