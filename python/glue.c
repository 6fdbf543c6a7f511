// SPDX-License-Identifier: Apache-2.0
/*
 * glue.c — what the Python package needs in C beside the public headers: loops over nodes, and texts in memory.
 * Included by the source that cffi generates; declared for Python in glue.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>

static CalStatus glue_setup_text(const CalSetup *setup, char **text, size_t *length, CalError *error) {
	*text = NULL;
	*length = 0;
	FILE *out = open_memstream(text, length);
	if (!out)
		return CAL_ERR_MEMORY;
	const CalStatus status = cal_model_file_write(setup, out, error);
	return fclose(out) == 0 ? status : CAL_ERR_MEMORY;
}

static CalStatus glue_nodes(const CalModel *model, const CalWork *work, double *position, double *rotation,
                            double *velocity, double *acceleration) {
	const int count = cal_model_node_count(model);
	CalStatus status = CAL_OK;
	for (int i = 0; i < count && status == CAL_OK; i++) {
		CalPose pose;
		CalSpatial motion;
		status = cal_node_pose(model, work, i, &pose);
		if (position)
			memcpy(position + 3 * i, &pose.r, sizeof pose.r);
		if (rotation)
			memcpy(rotation + 9 * i, &pose.R, sizeof pose.R);
		if (status == CAL_OK && velocity && (status = cal_node_velocity(model, work, i, &motion)) == CAL_OK)
			memcpy(velocity + 6 * i, &motion, sizeof motion);
		if (status == CAL_OK && acceleration && (status = cal_node_acceleration(model, work, i, &motion)) == CAL_OK)
			memcpy(acceleration + 6 * i, &motion, sizeof motion);
	}
	return status;
}
