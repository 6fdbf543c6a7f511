// SPDX-License-Identifier: Apache-2.0
/*
 * mode_synthesis.c — see mode_synthesis.h.
 */
#include "flexbody/mode_synthesis.h"

#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"

static int count_role(const SynthesisInput *in, SynthesisRole role) {
	int count = 0;
	for (int i = 0; i < in->n; i++)
		count += in->role[i] == role;
	return count;
}

static void layout_synthesis(Synthesis *s, size_t modes, Cursor *cursor) {
	const size_t rows = (size_t)s->boundary_count + modes;
	CURSOR_ARRAY(cursor, s->R, rows * (size_t)s->n);
	CURSOR_ARRAY(cursor, s->value, rows);
	CURSOR_ARRAY(cursor, s->boundary, s->boundary_count);
}

/* Room for so many modes; the shapes of FRAME begin after the rigid motions. */
static CalStatus alloc_shapes(Synthesis *s, int modes) {
	Cursor cursor = {.align = sizeof(double)};
	layout_synthesis(s, (size_t)modes, &cursor);
	s->memory = cursor_alloc_at_start(&cursor, &s->allocator);
	if (!s->memory)
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	layout_synthesis(s, (size_t)modes, &cursor);
	s->statics = s->frame ? 0 : s->boundary_count;
	s->shape = s->R + (size_t)(s->boundary_count - s->statics) * (size_t)s->n;
	return CAL_OK;
}

static void static_shapes(const SynthesisInput *in, const SynthesisMatrices *matrices, Synthesis *s) {
	for (int i = 0, a = 0; i < in->n; i++) {
		if (in->role[i] != ROLE_FRAME && in->role[i] != ROLE_UNIT)
			continue;
		double *x = s->R + (size_t)a * (size_t)in->n;
		s->boundary[a++] = i;
		matrices->unit_forces(matrices->user, i, x);
		matrices->solve(matrices->user, x);
		x[i] = 1;
	}
}

/* Of `found` modes those that are wanted and slow enough; the first that is not kept is remembered. */
static void keep_modes(const SynthesisInput *in, int found, Synthesis *s) {
	const double limit = in->max_frequency, *value = s->value + s->statics;
	int kept = 0;
	while (kept < found && (in->modes < 0 || kept < in->modes) && !(limit > 0 && value[kept] > limit * limit))
		kept++;
	s->modes = kept;
	s->dropped_from = kept < found ? sqrt(fmax(value[kept], 0)) : 0;
}

static CalStatus find_shapes(const SynthesisInput *in, const SynthesisMatrices *matrices, int most, Synthesis *s) {
	CalStatus status = matrices->factor ? matrices->factor(matrices->user, &s->bad_dof) : CAL_OK;
	if (status != CAL_OK)
		return status;
	static_shapes(in, matrices, s);
	int found = most;
	status =
		matrices->modes(matrices->user, s, &found, s->value + s->statics, s->shape + (size_t)s->statics * (size_t)s->n);
	if (status == CAL_OK)
		keep_modes(in, found, s);
	return status;
}

CalStatus synthesis_create(const SynthesisInput *in, const SynthesisMatrices *matrices, const CalAllocator *allocator,
                           Synthesis *out) {
	const int frame = count_role(in, ROLE_FRAME), unit = count_role(in, ROLE_UNIT);
	const int interior = count_role(in, ROLE_INTERIOR);
	*out = (Synthesis){
		.n = in->n, .boundary_count = frame + unit, .frame = frame > 0, .bad_dof = -1, .allocator = *allocator};
	if ((frame && unit) || frame > SYNTHESIS_MAX_FRAME)
		return CAL_ERR_ARGUMENT;
	// one more than is wanted says where the modes that are left out begin
	const int most = in->modes == 0 ? 0 : in->modes < 0 || in->modes >= interior ? interior : in->modes + 1;
	CalStatus status = alloc_shapes(out, most);
	if (status == CAL_OK)
		status = find_shapes(in, matrices, most, out);
	if (status != CAL_OK) {
		memory_free(&out->allocator, out->memory);
		out->memory = NULL;
	}
	return status;
}

void synthesis_free(Synthesis *synthesis) {
	if (synthesis->memory)
		memory_free(&synthesis->allocator, synthesis->memory);
	*synthesis = (Synthesis){0};
}
