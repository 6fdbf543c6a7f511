// SPDX-License-Identifier: Apache-2.0
/*
 * scenario_loads.c — the loads of a setup on all groups of a simulation, wherever their objects are now.
 *
 * Indices are looked up again whenever the topology has changed, when the first input after it is asked for. A load on a
 * joint that is open or a loop, or on a body that is gone, rests. Loads act for start <= t < end. Efforts and wrenches add
 * up; where two loads drive the same dof at the same time, the later one counts.
 */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "scenario/scenario.h"

typedef struct SimLoad {
	const LoadEntry *entry;
	CalBodyId body;      // of modes
	int first;           // place of its dofs in SimLoads.u
	CalNodeRef node_ref; // of a wrench; group -1: it rests
} SimLoad;

struct SimLoads {
	CalAllocator allocator;
	CalSim *sim;
	int64_t generation; // for which everything below is bound; -1: none
	int count;
	SimLoad *loads;                  // [count]
	CalDofRef *dofs;                 // of all loads; group -1: it rests
	int group_capacity, u_capacity;  //
	int *u_at, *wrench_at;           // [group_capacity] where the arrays of each group begin
	double *tau, *udot;              // [u_capacity]
	uint8_t *described, *prescribed; // [u_capacity] in the models, and now
	CalWrench *wrenches;             // [count]
};

/* ---- binding --------------------------------------------------------------------------------------- */

static void find_node(const CalSim *sim, CalNodeId node, CalNodeRef *node_ref) {
	*node_ref = (CalNodeRef){-1, -1};
	for (int i = 0; i < cal_sim_group_count(sim); i++) {
		const int index = cal_model_node_index(cal_sim_model(sim, i), node);
		if (index >= 0)
			*node_ref = (CalNodeRef){i, index};
	}
}

static void bind_load(SimLoads *l, SimLoad *load) {
	const LoadEntry *entry = load->entry;
	if (!entry->joint.value) {
		find_node(l->sim, entry->def.node, &load->node_ref);
		return;
	}
	for (int i = 0; i < entry->def.dof_count; i++) {
		CalDofRef *dof_ref = &l->dofs[load->first + i];
		const int dof = entry->first + i;
		const int found = dof >= entry->nu ? cal_sim_find_mode(l->sim, load->body, dof - entry->nu, dof_ref)
		                                   : cal_sim_find_dof(l->sim, entry->joint, dof, dof_ref);
		if (!found)
			*dof_ref = (CalDofRef){-1, -1, -1};
	}
}

/* 0, or -1 if there is more than there is room for. */
static int bind_groups(SimLoads *l) {
	const int groups = cal_sim_group_count(l->sim);
	int u = 0, wrench = 0;
	if (groups > l->group_capacity)
		return -1;
	for (int g = 0; g < groups; g++) {
		const CalModel *model = cal_sim_model(l->sim, g);
		l->u_at[g] = u;
		l->wrench_at[g] = wrench;
		if (u + cal_model_u_count(model) > l->u_capacity)
			return -1;
		for (int k = 0; k < cal_model_u_count(model); k++) {
			CalDofInfo info;
			l->described[u++] = cal_model_dof(model, k, &info) == CAL_OK && info.prescribed;
		}
		for (int i = 0; i < l->count; i++)
			wrench += !l->loads[i].entry->joint.value && l->loads[i].node_ref.group == g;
	}
	return 0;
}

static int bind_all(SimLoads *l) {
	if (l->generation == cal_sim_generation(l->sim))
		return 0;
	for (int i = 0; i < l->count; i++)
		bind_load(l, &l->loads[i]);
	if (bind_groups(l) != 0)
		return -1;
	l->generation = cal_sim_generation(l->sim);
	return 0;
}

/* ---- the input of a group ---------------------------------------------------------------------------- */

static void apply_load(SimLoads *l, const SimLoad *load, int group, int *wrench_count) {
	const LoadEntry *entry = load->entry;
	const int at = l->u_at[group];
	if (!entry->joint.value) {
		if (load->node_ref.group == group)
			l->wrenches[l->wrench_at[group] + (*wrench_count)++] =
				(CalWrench){load->node_ref.node, entry->def.frame, entry->def.wrench};
		return;
	}
	for (int i = 0; i < entry->def.dof_count; i++) {
		const CalDofLoad *dof = &entry->def.dofs[i];
		const CalDofRef dof_ref = l->dofs[load->first + i];
		if (dof_ref.group != group)
			continue;
		if (dof->has_effort)
			l->tau[at + dof_ref.u] += dof->effort;
		if (dof->has_acceleration) {
			l->prescribed[at + dof_ref.u] = 1;
			l->udot[at + dof_ref.u] = dof->acceleration;
		}
	}
}

static int find_group(const CalSim *sim, const CalModel *model) {
	for (int i = 0; i < cal_sim_group_count(sim); i++)
		if (cal_sim_model(sim, i) == model)
			return i;
	return -1;
}

/* A CalInputFn. */
static int loads_input(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	SimLoads *l = user;
	const int group = find_group(l->sim, model);
	if (group < 0 || bind_all(l) != 0)
		return -1;
	const int at = l->u_at[group];
	const size_t n = (size_t)cal_model_u_count(model);
	int wrench_count = 0;
	if (n) {
		memset(l->tau + at, 0, n * sizeof *l->tau);
		memset(l->udot + at, 0, n * sizeof *l->udot);
		memcpy(l->prescribed + at, l->described + at, n);
	}
	for (int i = 0; i < l->count; i++)
		if (l->loads[i].entry->def.start <= state->t && state->t < l->loads[i].entry->def.end)
			apply_load(l, &l->loads[i], group, &wrench_count);
	*input = (CalInput){l->tau + at, l->prescribed + at, l->udot + at, l->wrenches + l->wrench_at[group], wrench_count};
	return 0;
}

/* A CalSwitchFn. */
static double loads_next_switch(void *user, double t) {
	const SimLoads *l = user;
	double next = INFINITY;
	for (int i = 0; i < l->count; i++) {
		const CalLoadDef *def = &l->loads[i].entry->def;
		if (def->start > t)
			next = fmin(next, def->start);
		if (def->end > t)
			next = fmin(next, def->end);
	}
	return next;
}

void sim_loads_renew(SimLoads *loads) {
	if (loads)
		loads->generation = -1;
}

CalStatus sim_loads_apply(SimLoads *loads) {
	CalStatus status = CAL_OK;
	for (int i = 0; loads && i < cal_sim_group_count(loads->sim) && status == CAL_OK; i++)
		status = cal_sim_set_input(loads->sim, i, loads_input, loads_next_switch, loads);
	return status;
}

/* ---- making --------------------------------------------------------------------------------------------- */

/* Most groups and bodies that there can be: as the caller reserved, or as the actions need. */
static void most_objects(const CalSetup *setup, const CalSim *sim, int *groups, int *bodies) {
	const CalSimCapacity extra = cal_setup_capacity(setup);
	CalSimCapacity most = {.groups = cal_desc_group_count(setup->desc) + extra.groups,
	                       .bodies = cal_desc_body_count(setup->desc) + extra.bodies};
	cal_sim_reserved(sim, &most);
	*groups = most.groups;
	*bodies = most.bodies;
}

/* Most dofs that all groups can have together: six for each body, and its modes. */
static int most_dofs(const CalSetup *setup, int bodies) {
	int count = CAL_JOINT_MAX_DOF * bodies;
	for (int i = 0; i < cal_desc_body_count(setup->desc); i++)
		count += setup_body_modes(setup->desc, (CalBodyId){(uint32_t)i + 1});
	return count;
}

static int all_dofs(const CalSetup *setup) {
	int count = 0;
	for (int i = 0; i < setup->load_count; i++)
		count += setup->loads[i].def.dof_count;
	return count;
}

/* The object itself, and its arrays after it. */
static void layout_loads(SimLoads *l, int dofs, Cursor *cursor) {
	cursor_array(cursor, 1, sizeof *l);
	CURSOR_ARRAY(cursor, l->loads, l->count);
	CURSOR_ARRAY(cursor, l->dofs, dofs);
	CURSOR_ARRAY(cursor, l->u_at, l->group_capacity);
	CURSOR_ARRAY(cursor, l->wrench_at, l->group_capacity);
	CURSOR_ARRAY(cursor, l->tau, l->u_capacity);
	CURSOR_ARRAY(cursor, l->udot, l->u_capacity);
	CURSOR_ARRAY(cursor, l->described, l->u_capacity);
	CURSOR_ARRAY(cursor, l->prescribed, l->u_capacity);
	CURSOR_ARRAY(cursor, l->wrenches, l->count);
}

static SimLoads *loads_alloc(const CalSetup *setup, CalSim *sim) {
	SimLoads counted = {.allocator = setup->allocator, .sim = sim, .generation = -1, .count = setup->load_count};
	int bodies;
	most_objects(setup, sim, &counted.group_capacity, &bodies);
	counted.u_capacity = most_dofs(setup, bodies);
	const int dofs = all_dofs(setup);
	Cursor cursor = {.align = sizeof(double)};
	layout_loads(&counted, dofs, &cursor);
	SimLoads *loads = cursor_alloc_at_start(&cursor, &setup->allocator);
	if (!loads)
		return NULL;
	cursor_clear(&cursor);
	*loads = counted;
	layout_loads(loads, dofs, &cursor);
	return loads;
}

CalStatus sim_loads_create(const CalSetup *setup, CalSim *sim, SimLoads **loads, CalError *error) {
	*loads = NULL;
	if (setup->load_count == 0)
		return CAL_OK;
	SimLoads *made = loads_alloc(setup, sim);
	if (!made)
		return setup_no_memory(setup, error);
	for (int i = 0, first = 0; i < made->count; i++) {
		const LoadEntry *entry = &setup->loads[i];
		SimLoad *load = &made->loads[i];
		*load = (SimLoad){.entry = entry, .first = first, .node_ref = {-1, -1}};
		if (!entry->joint.value)
			continue;
		load->body = setup_joint_body(setup->desc, entry->joint);
		first += entry->def.dof_count;
	}
	*loads = made;
	return CAL_OK;
}

void sim_loads_destroy(SimLoads *loads) {
	if (!loads)
		return;
	const CalAllocator allocator = loads->allocator;
	memory_free(&allocator, loads);
}
