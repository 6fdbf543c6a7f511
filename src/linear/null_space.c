// SPDX-License-Identifier: Apache-2.0
/*
 * null_space.c — motions that loops and prescribed degrees of freedom leave [THEORY (9.5)]: N is the map X of the
 * independent speeds (dynamics/projection.c), prescribed ones being held.
 */
#include <string.h>

#include "dynamics/projection.h"
#include "linear/system_matrices.h"

void null_space_layout(const CalModel *model, Cursor *cursor, NullSpace *space) {
	const size_t nu = (size_t)cal_model_u_count(model), rows = (size_t)cal_model_row_count(model);
	const size_t size = projection_size(model);
	char *block;
	CURSOR_ARRAY(cursor, space->G, rows * nu);
	CURSOR_ARRAY(cursor, space->gamma, rows);
	CURSOR_ARRAY(cursor, space->dof, nu);
	CURSOR_ARRAY(cursor, space->dependent, nu);
	CURSOR_ARRAY(cursor, space->frozen, nu);
	CURSOR_ARRAY(cursor, block, size);
	if (cursor->base)
		space->projection = projection_init(model, block, size);
}

/* Independent speeds to `dof`, those that follow from them to `dependent`. */
static void sort_speeds(NullSpace *s, int nu) {
	const uint8_t *independent = cal_projection_independent(s->projection);
	s->count = s->rank = 0;
	for (int i = 0; i < nu; i++) {
		if (independent[i])
			s->dof[s->count++] = i;
		else if (!s->frozen[i])
			s->dependent[s->rank++] = i;
	}
}

CalStatus null_space_find(const CalModel *model, const CalState *state, CalWork *work, NullSpace *s) {
	const CalProjectionOptions options = {.held = s->frozen};
	CalStatus status = cal_projection_update(s->projection, state, &options, work);
	if (status == CAL_OK && cal_model_row_count(model) > 0)
		status = cal_loop_jacobian(model, state, work, s->G, s->gamma);
	if (status != CAL_OK)
		return status;
	sort_speeds(s, cal_model_u_count(model));
	s->N = cal_projection_map(s->projection);
	return CAL_OK;
}

/* Rows of speeds that move alone need no sum. */
void null_space_project(const NullSpace *s, int nu, const double *A, double *scratch, double *out) {
	const size_t n = (size_t)s->count;
	for (int i = 0; i < nu; i++) { // scratch = A N
		double *row = scratch + (size_t)i * n;
		const double *a = A + (size_t)i * (size_t)nu;
		for (size_t k = 0; k < n; k++)
			row[k] = a[s->dof[k]];
		for (int d = 0; d < s->rank; d++) {
			const double *N = s->N + (size_t)s->dependent[d] * n;
			for (size_t k = 0; k < n; k++)
				row[k] += a[s->dependent[d]] * N[k];
		}
	}
	for (size_t k = 0; k < n; k++)
		memcpy(out + k * n, scratch + (size_t)s->dof[k] * n, n * sizeof *out);
	for (int d = 0; d < s->rank; d++) {
		const double *N = s->N + (size_t)s->dependent[d] * n, *row = scratch + (size_t)s->dependent[d] * n;
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; N[k] != 0 && j < n; j++)
				out[k * n + j] += N[k] * row[j];
	}
}
