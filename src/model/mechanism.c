// SPDX-License-Identifier: Apache-2.0
/*
 * mechanism.c — embedded mechanisms of a compiled model: their end, and what they are.
 */
#include <calder/mechanism.h>

#include "base/memory.h"
#include "model/mechanism.h"

void mechanism_destroy(Mechanism *mechanism) {
	if (!mechanism)
		return;
	const CalAllocator allocator = mechanism->allocator;
	cal_model_destroy(mechanism->model);
	memory_free(&allocator, mechanism);
}

int cal_model_mechanism_count(const CalModel *model) { return model ? model->mechanism_count : 0; }

CalStatus cal_model_mechanism(const CalModel *model, int mechanism, CalMechanismInfo *info) {
	if (!model || !info || mechanism < 0 || mechanism >= model->mechanism_count)
		return CAL_ERR_ARGUMENT;
	const Mechanism *m = model->mechanisms[mechanism];
	*info = (CalMechanismInfo){.name = m->name,
	                           .base = m->base,
	                           .dofs = m->dofs,
	                           .dependent = m->model->nu - m->dofs,
	                           .loops = m->model->loop_count,
	                           .rows = m->model->row_count,
	                           .u = model->flexes[m->flex].u,
	                           .q = model->flexes[m->flex].q,
	                           .model = m->model};
	return CAL_OK;
}
