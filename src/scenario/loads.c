// SPDX-License-Identifier: Apache-2.0
/*
 * loads.c — the loads of a setup bound to a model: a CalInputFn that never allocates.
 *
 * Loads act for start <= t < end. Efforts and wrenches add up; where two loads drive the same dof at
 * the same time, the later one counts.
 */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "setup/setup.h"

typedef struct BoundLoad {
	const LoadEntry *entry;
	int u;    // first of its dofs, -1: a wrench
	int node; // of its wrench
} BoundLoad;

struct CalSetupLoads {
	CalAllocator allocator;
	int nu, count, wrench_count;
	BoundLoad *loads;
	CalWrench *wrenches; // [wrench_count] those that act now come first
	double *tau, *udot;  // [nu]
	uint8_t *described;  // [nu] prescribed in the model
	uint8_t *prescribed; // [nu] now
};

static const char *const mismatch = "the model was not compiled from this setup";

/* One load on this model; false if it belongs to another group. */
static CalStatus bind_load(const CalSetup *setup, const CalModel *model, const LoadEntry *entry, BoundLoad *bound,
                           bool *here, CalError *error) {
	CalBodyInfo info;
	*here = false;
	*bound = (BoundLoad){entry, -1, -1};
	if (!entry->joint.value) {
		bound->node = cal_model_node_index(model, entry->def.node);
		*here = bound->node >= 0;
		return CAL_OK;
	}
	const int body = cal_model_find_joint(model, entry->name);
	if (body < 0)
		return CAL_OK;
	if (cal_model_body(model, body, &info) == CAL_OK && info.mechanism && info.nu != entry->nu)
		return error_set(error, CAL_ERR_UNSUPPORTED,
		                 "%s%sload on joint \"%.80s\": it is a dependent joint of an embedded loop; make it the "
		                 "independent one, or do not embed the loop",
		                 PLACE_ARGS(entry->def.place), entry->name);
	if (cal_model_body(model, body, &info) != CAL_OK || info.nu != entry->nu || info.modes != entry->modes)
		return error_set(error, CAL_ERR_ARGUMENT, "%s: error: joint \"%.80s\": %s", setup->name, entry->name, mismatch);
	bound->u = info.u + entry->first; // modes follow the speeds of the joint
	*here = true;
	return CAL_OK;
}

static CalStatus bind_all(CalSetupLoads *loads, const CalSetup *setup, const CalModel *model, CalError *error) {
	for (int i = 0; i < setup->load_count; i++) {
		bool here;
		const CalStatus status = bind_load(setup, model, &setup->loads[i], &loads->loads[loads->count], &here, error);
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

/* The object itself, and its arrays after it. */
static void layout_loads(CalSetupLoads *loads, int count, Cursor *cursor) {
	cursor_array(cursor, 1, sizeof *loads);
	CURSOR_ARRAY(cursor, loads->loads, count);
	CURSOR_ARRAY(cursor, loads->wrenches, count);
	CURSOR_ARRAY(cursor, loads->tau, loads->nu);
	CURSOR_ARRAY(cursor, loads->udot, loads->nu);
	CURSOR_ARRAY(cursor, loads->described, loads->nu);
	CURSOR_ARRAY(cursor, loads->prescribed, loads->nu);
}

static CalSetupLoads *loads_alloc(const CalSetup *setup, int nu) {
	CalSetupLoads counted = {.allocator = setup->allocator, .nu = nu};
	Cursor cursor = {.align = sizeof(double)};
	layout_loads(&counted, setup->load_count, &cursor);
	CalSetupLoads *loads = cursor_alloc_at_start(&cursor, &setup->allocator);
	if (!loads)
		return NULL;
	cursor_clear(&cursor);
	*loads = counted;
	layout_loads(loads, setup->load_count, &cursor);
	return loads;
}

CalStatus cal_setup_loads_create(const CalSetup *setup, const CalModel *model, CalSetupLoads **loads, CalError *error) {
	if (!setup || !model || !loads)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_setup_loads_create: setup, model or loads is NULL");
	*loads = NULL;
	CalSetupLoads *made = loads_alloc(setup, cal_model_u_count(model));
	if (!made)
		return setup_no_memory(setup, error);
	const CalStatus status = bind_all(made, setup, model, error);
	if (status != CAL_OK) {
		cal_setup_loads_destroy(made);
		return status;
	}
	*loads = made;
	return CAL_OK;
}

void cal_setup_loads_destroy(CalSetupLoads *loads) {
	if (!loads)
		return;
	const CalAllocator allocator = loads->allocator;
	memory_free(&allocator, loads);
}

static void apply_load(CalSetupLoads *loads, const BoundLoad *bound) {
	const LoadEntry *entry = bound->entry;
	if (bound->u < 0) {
		loads->wrenches[loads->wrench_count++] = (CalWrench){bound->node, entry->def.frame, entry->def.wrench};
		return;
	}
	for (int i = 0; i < entry->def.dof_count; i++) {
		const CalDofLoad *dof = &entry->def.dofs[i];
		if (dof->has_effort)
			loads->tau[bound->u + i] += dof->effort;
		if (dof->has_acceleration) {
			loads->prescribed[bound->u + i] = 1;
			loads->udot[bound->u + i] = dof->acceleration;
		}
	}
}

int cal_setup_loads_input(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	CalSetupLoads *loads = user;
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
		const CalLoadDef *def = &loads->loads[i].entry->def;
		if (def->start <= state->t && state->t < def->end)
			apply_load(loads, &loads->loads[i]);
	}
	*input = (CalInput){loads->tau, loads->prescribed, loads->udot, loads->wrenches, loads->wrench_count};
	return 0;
}

double cal_setup_loads_next_switch(const CalSetupLoads *loads, double t) {
	double next = INFINITY;
	for (int i = 0; loads && i < loads->count; i++) {
		const CalLoadDef *def = &loads->loads[i].entry->def;
		if (def->start > t)
			next = fmin(next, def->start);
		if (def->end > t)
			next = fmin(next, def->end);
	}
	return next;
}
