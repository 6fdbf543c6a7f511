// SPDX-License-Identifier: Apache-2.0
/*
 * rotations.c — where a model's quaternions have their speeds; see rotations.h.
 *
 * A quaternion's degrees of freedom are those without a coordinate of their own (CalDofInfo.q < 0). They come
 * in threes and in succession.
 */
#include "integrate/rotations.h"

#include <math.h>

int rotations_find(const CalModel *model, int *rotations) {
	int count = 0;
	for (int u = 0; u + 2 < cal_model_u_count(model); u++) {
		CalDofInfo dof;
		CalBodyInfo body;
		if (cal_model_dof(model, u, &dof) == CAL_OK && dof.q < 0 && cal_model_body(model, dof.body, &body) == CAL_OK &&
		    body.type != CAL_JOINT_USER) {
			rotations[count++] = u;
			u += 2;
		}
	}
	return count;
}

double rotations_largest(const int *rotations, int count, const double *x) {
	double largest = 0;
	for (int i = 0; i < count; i++) {
		const double *w = x + rotations[i];
		largest = fmax(largest, w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
	}
	return sqrt(largest);
}
