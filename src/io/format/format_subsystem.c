// SPDX-License-Identifier: Apache-2.0
/*
 * format_subsystem.c — robot files that model files use as subsystems, as the text of a model file.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include "io/format/format.h"

#include <stdlib.h>

#include "base/error.h"

/* All bodies and nodes: at any of them a robot can be attached, by default at what a joint ties to the ground. */
static CalStatus add_bodies(CalSetup *setup, bool on_ground, CalError *error) {
	const CalDesc *desc = cal_setup_desc(setup);
	CalStatus status = CAL_OK;
	for (uint32_t i = 1; status == CAL_OK && i <= (uint32_t)cal_desc_joint_count(desc); i++) {
		CalNodeId inboard, outboard;
		CalBodyId carrier = {0}, carried = {0};
		cal_desc_joint(desc, (CalJointId){i}, &inboard, &outboard);
		cal_desc_node(desc, inboard, &carrier);
		cal_desc_node(desc, outboard, &carried);
		if ((carrier.value == 0) == on_ground && carried.value)
			status = cal_setup_add_interface_node(setup, cal_desc_body(desc, carried)->name, error);
	}
	return status;
}

static CalStatus add_nodes(CalSetup *setup, CalError *error) {
	const CalDesc *desc = cal_setup_desc(setup);
	char path[600];
	CalStatus status = CAL_OK;
	for (uint32_t i = 1; status == CAL_OK && i <= (uint32_t)cal_desc_node_count(desc); i++) {
		CalBodyId body = {0};
		const CalNodeDef *node = cal_desc_node(desc, (CalNodeId){i}, &body);
		if (!body.value || cal_desc_body_node(desc, body).value == i)
			continue;
		const int length = snprintf(path, sizeof path, "%s/%s", cal_desc_body(desc, body)->name, node->name);
		if (length > 0 && (size_t)length < sizeof path)
			status = cal_setup_add_interface_node(setup, path, error);
	}
	return status;
}

static CalStatus write_text(const CalSetup *setup, char **text, size_t *length, CalError *error) {
	FILE *out = open_memstream(text, length);
	if (!out)
		return error_set(error, CAL_ERR_MEMORY, "out of memory");
	const CalStatus status = cal_model_file_write(setup, out, error);
	return fclose(out) == 0 || status != CAL_OK ? status : error_set(error, CAL_ERR_MEMORY, "out of memory");
}

CalStatus format_translate(const void *options, const char *path, const CalAllocator *allocator, CalSetup **robot,
                           char **text, size_t *length, CalError *error) {
	*robot = NULL;
	*text = NULL;
	CalStatus status = cal_model_read(path, options, allocator, robot, error);
	if (status == CAL_OK)
		status = add_bodies(*robot, true, error);
	if (status == CAL_OK)
		status = add_bodies(*robot, false, error);
	if (status == CAL_OK)
		status = add_nodes(*robot, error);
	return status == CAL_OK ? write_text(*robot, text, length, error) : status;
}
