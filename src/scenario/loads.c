// SPDX-License-Identifier: Apache-2.0
/*
 * loads.c — the loads of a file bound to a model: a CalInputFn that never allocates.
 *
 * Loads act for start <= t < end. Efforts and wrenches add up; where two loads drive the same dof at
 * the same time, the later one in the file counts.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "io/model/model_file.h"

typedef struct BoundLoad {
	const LoadEntry *entry;
	int u;    // first of its dofs, -1: a wrench
	int node; // of its wrench
} BoundLoad;

struct CalFileLoads {
	CalAllocator allocator;
	int nu, count, wrench_count;
	BoundLoad *loads;
	CalWrench *wrenches; // [wrench_count] those that act now come first
	double *tau, *udot;  // [nu]
	uint8_t *described;  // [nu] prescribed in the model
	uint8_t *prescribed; // [nu] now
};

static const char *const mismatch = "the model was not compiled from this file";

/* One load on this model; false if it belongs to another group. */
static CalStatus bind_load(const CalFile *file, const CalModel *model, const LoadEntry *entry, BoundLoad *bound,
                           bool *here, CalError *error) {
	CalBodyInfo info;
	*here = false;
	*bound = (BoundLoad){entry, -1, -1};
	if (!entry->joint) {
		bound->node = cal_model_node_index(model, entry->node_id);
		*here = bound->node >= 0;
		return CAL_OK;
	}
	const int body = cal_model_find_joint(model, entry->joint);
	if (body < 0)
		return CAL_OK;
	if (cal_model_body(model, body, &info) != CAL_OK || info.nu != entry->nu || info.modes != entry->modes)
		return tree_error(error, tree_name(file->tree), NULL, CAL_ERR_ARGUMENT, "joint \"%.80s\": %s", entry->joint,
		                  mismatch);
	bound->u = info.u + entry->first; // modes follow the speeds of the joint
	*here = true;
	return CAL_OK;
}

static CalStatus bind_all(CalFileLoads *loads, const CalFile *file, const CalModel *model, CalError *error) {
	for (int i = 0; i < file->load_count; i++) {
		bool here;
		const CalStatus status = bind_load(file, model, &file->loads[i], &loads->loads[loads->count], &here, error);
		if (status != CAL_OK)
			return status;
		loads->count += here;
	}
	for (int u = 0; u < loads->nu; u++) {
		CalDofInfo info;
		if (cal_model_dof(model, u, &info) == CAL_OK)
			loads->described[u] = info.prescribed != 0;
	}
	return CAL_OK;
}

/* One block: the struct, then arrays of doubles and pointers, then bytes. */
static CalFileLoads *loads_alloc(const CalFile *file, int nu) {
	const size_t n = (size_t)nu, count = (size_t)file->load_count;
	const size_t size =
		sizeof(CalFileLoads) + count * (sizeof(BoundLoad) + sizeof(CalWrench)) + n * 2 * sizeof(double) + n * 2;
	CalFileLoads *loads = memory_alloc(&file->allocator, size);
	if (!loads)
		return NULL;
	memset(loads, 0, size);
	loads->allocator = file->allocator;
	loads->nu = nu;
	loads->wrenches = (CalWrench *)(void *)(loads + 1);
	loads->loads = (BoundLoad *)(void *)(loads->wrenches + count);
	loads->tau = (double *)(void *)(loads->loads + count);
	loads->udot = loads->tau + n;
	loads->described = (uint8_t *)(loads->udot + n);
	loads->prescribed = loads->described + n;
	return loads;
}

CalStatus cal_file_loads_create(const CalFile *file, const CalModel *model, CalFileLoads **loads, CalError *error) {
	if (!file || !model || !loads)
		return tree_error(error, "cal_file_loads_create", NULL, CAL_ERR_ARGUMENT, "file, model or loads is NULL");
	*loads = NULL;
	CalFileLoads *made = loads_alloc(file, cal_model_u_count(model));
	if (!made)
		return tree_error(error, tree_name(file->tree), NULL, CAL_ERR_MEMORY, "out of memory");
	const CalStatus status = bind_all(made, file, model, error);
	if (status != CAL_OK) {
		cal_file_loads_destroy(made);
		return status;
	}
	*loads = made;
	return CAL_OK;
}

void cal_file_loads_destroy(CalFileLoads *loads) {
	if (!loads)
		return;
	const CalAllocator allocator = loads->allocator;
	memory_free(&allocator, loads);
}

static void apply_load(CalFileLoads *loads, const BoundLoad *bound) {
	const LoadEntry *entry = bound->entry;
	if (bound->u < 0) {
		loads->wrenches[loads->wrench_count++] = (CalWrench){bound->node, entry->frame, entry->wrench};
		return;
	}
	for (int i = 0; i < entry->count; i++) {
		const DofLoad *dof = &entry->dofs[i];
		if (dof->push)
			loads->tau[bound->u + i] += dof->effort;
		if (dof->drive) {
			loads->prescribed[bound->u + i] = 1;
			loads->udot[bound->u + i] = dof->acceleration;
		}
	}
}

int cal_file_loads_input(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	CalFileLoads *loads = user;
	if (!loads || !model || !state || !input || cal_model_u_count(model) != loads->nu)
		return -1;
	const size_t n = (size_t)loads->nu;
	if (n) {
		memset(loads->tau, 0, n * sizeof *loads->tau);
		memset(loads->udot, 0, n * sizeof *loads->udot);
		memcpy(loads->prescribed, loads->described, n);
	}
	loads->wrench_count = 0;
	for (int i = 0; i < loads->count; i++) {
		const LoadEntry *entry = loads->loads[i].entry;
		if (entry->start <= state->t && state->t < entry->end)
			apply_load(loads, &loads->loads[i]);
	}
	*input = (CalInput){loads->tau, loads->prescribed, loads->udot, loads->wrenches, loads->wrench_count};
	return 0;
}

double cal_file_loads_next_switch(const CalFileLoads *loads, double t) {
	double next = INFINITY;
	for (int i = 0; loads && i < loads->count; i++) {
		const LoadEntry *entry = loads->loads[i].entry;
		if (entry->start > t)
			next = fmin(next, entry->start);
		if (entry->end > t)
			next = fmin(next, entry->end);
	}
	return next;
}
