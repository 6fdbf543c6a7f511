// SPDX-License-Identifier: Apache-2.0
/*
 * sim_system.c — all groups and devices as one system: one state, one integrator, one block of memory.
 *
 * The layout follows from the groups, devices and events at hand. It is made anew whenever one of them changes; memory is
 * taken only if the block has become too small.
 */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "model/model.h"
#include "sim/sim_internal.h"
#include "topology/topology.h"

static CalState place_state(Cursor *cursor, const SimSystem *w) {
	CalState state = {0};
	CURSOR_ARRAY(cursor, state.q, w->nq);
	CURSOR_ARRAY(cursor, state.u, w->nu);
	CURSOR_ARRAY(cursor, state.x, w->nx);
	return state;
}

static void count_ids(SimSystem *w, const CalModel *model) {
	for (int kind = 0; kind < MODEL_KIND_COUNT; kind++) {
		for (int i = 0; i < model_kind_count(model, (ModelKind)kind); i++) {
			const int id = (int)model_kind_id(model, (ModelKind)kind, i);
			w->id_count[kind] = id >= w->id_count[kind] ? id + 1 : w->id_count[kind];
		}
	}
}

/* Also of what no group has at present, so that taking it back needs no more room. */
static void count_all_ids(SimSystem *w, const CalDesc *desc) {
	const int counts[MODEL_KIND_COUNT] = {[MODEL_BODIES] = desc->body_count,
	                                      [MODEL_JOINTS] = desc->joint_count,
	                                      [MODEL_NODES] = desc->node_count,
	                                      [MODEL_LOOPS] = desc->loop_count};
	for (int kind = 0; kind < MODEL_KIND_COUNT; kind++)
		w->id_count[kind] = counts[kind] >= w->id_count[kind] ? counts[kind] + 1 : w->id_count[kind];
}

/* The last group first, so that of nodes that all have (the ground's) the first group is found. */
static void list_groups(const CalSim *sim, SimSystem *w) {
	for (int kind = 0; kind < MODEL_KIND_COUNT; kind++) {
		for (int id = 0; id < w->id_count[kind]; id++)
			w->group_of[kind][id] = -1;
		for (int g = sim->group_count - 1; g >= 0; g--) {
			const CalModel *model = sim->groups[g].model;
			for (int i = 0; i < model_kind_count(model, (ModelKind)kind); i++)
				w->group_of[kind][model_kind_id(model, (ModelKind)kind, i)] = g;
		}
	}
}

int sim_group_of(const CalSim *sim, ModelKind kind, uint32_t id) {
	const SimSystem *w = &sim->system;
	return id > 0 && id < (uint32_t)w->id_count[kind] ? w->group_of[kind][id] : -1;
}

/* Sizes, and the places of devices and events in the arrays. */
static SimSystem count_sizes(CalSim *sim) {
	SimSystem w = {.memory = sim->system.memory,
	               .capacity = sim->system.capacity,
	               .wrench_capacity = sim->input_wrenches + 1, // of a probe
	               .crossed_at = -INFINITY,
	               .stalled_at = NAN};
	for (int i = 0; i < sim->group_count; i++) {
		w.nq += cal_model_q_count(sim->groups[i].model);
		w.nu += cal_model_u_count(sim->groups[i].model);
		count_ids(&w, sim->groups[i].model);
	}
	if (sim->topology)
		count_all_ids(&w, sim->topology->desc);
	for (int i = 0; i < sim->device_count; i++) {
		SimDevice *device = &sim->devices[i];
		device->x_at = w.nx;
		device->value_at = w.value_count;
		w.nx += device->def.nx;
		w.held.nd += device->def.nd;
		w.value_count += device_values(sim, device);
		w.wrench_capacity += device->def.wrench_count;
	}
	for (int i = 0; i < sim->event_count; i++)
		sim->events[i].value_at = sim->events[i].def.value ? w.value_count++ : -1;
	w.nx += ACCOUNTS;
	w.soft_count = jumps_value_count(sim);
	return w;
}

static CalSystem system_of(CalSim *sim, const SimSystem *w) {
	for (int i = 0; i < sim->group_count; i++) {
		const SimGroup *group = &sim->groups[i];
		sim->parts[i] = (CalSystemPart){.model = group->model,
		                                .work = group->work,
		                                .motion = group->motion,
		                                .motion_user = group->motion_user,
		                                .branches = group->motion ? NULL : group->branches,
		                                .form = sim->formulation.forms ? sim->formulation.forms[i] : NULL,
		                                .force = group->drive_force,
		                                .power = group->power};
	}
	return (CalSystem){.parts = sim->parts,
	                   .count = sim->group_count,
	                   .nx = w->nx,
	                   .quadratures = ACCOUNTS,
	                   .input = sim_evaluate_inputs,
	                   .done = drives_account,
	                   .scale = balance_scale,
	                   .user = sim};
}

/* The arrays of groups too, if there is a block. */
static void layout_system(CalSim *sim, SimSystem *w, Cursor *cursor) {
	w->now = place_state(cursor, w);
	w->before = place_state(cursor, w);
	w->after = place_state(cursor, w);
	w->held.at = place_state(cursor, w);
	CURSOR_ARRAY(cursor, w->held.d, w->held.nd);
	CURSOR_ARRAY(cursor, w->udot, w->nu);
	CURSOR_ARRAY(cursor, w->udot_at, w->nu);
	CURSOR_ARRAY(cursor, w->states, sim->group_count);
	CURSOR_ARRAY(cursor, w->inputs, sim->group_count);
	CURSOR_ARRAY(cursor, w->xdot, w->nx);
	CURSOR_ARRAY(cursor, w->probe, PROBES * (2 * w->nu + w->nx));
	CURSOR_ARRAY(cursor, w->trail, TRAIL * w->nu);
	for (int kind = 0; kind < MODEL_KIND_COUNT; kind++)
		CURSOR_ARRAY(cursor, w->group_of[kind], w->id_count[kind]);
	CURSOR_ARRAY(cursor, w->value, w->value_count);
	CURSOR_ARRAY(cursor, w->value_next, w->value_count);
	CURSOR_ARRAY(cursor, w->value_end, w->value_count);
	CURSOR_ARRAY(cursor, w->soft_value, w->soft_count);
	CURSOR_ARRAY(cursor, w->soft_next, w->soft_count);
	if (w->soft_count > 0)
		w->soft_start = place_state(cursor, w);
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		double *tau;
		CURSOR_ARRAY(cursor, tau, cal_model_u_count(group->model));
		CalWrench *wrenches;
		CURSOR_ARRAY(cursor, wrenches, w->wrench_capacity);
		if (cursor->base) {
			group->tau = tau;
			group->wrenches = wrenches;
		}
	}
}

/* Bytes of the arrays; the integrator follows them. */
static size_t arrays_size(CalSim *sim, SimSystem *w) {
	Cursor cursor = {0};
	layout_system(sim, w, &cursor);
	return cursor_size(&cursor);
}

/* The block that it is in is about to go, or to have another one. */
void sim_release_integrator(CalSim *sim) {
	cal_integrator_destroy(sim->system.integrator);
	sim->system.integrator = NULL;
}

static CalStatus system_reserve(CalSim *sim, SimSystem *w, size_t size) {
	if (size <= w->capacity)
		return CAL_OK;
	void *memory = memory_alloc(&sim->allocator, size + MEMORY_ALIGNMENT);
	if (!memory)
		return CAL_ERR_MEMORY;
	sim_release_integrator(sim);
	memory_free(&sim->allocator, w->memory);
	w->memory = sim->system.memory = memory;
	w->capacity = sim->system.capacity = size;
	return CAL_OK;
}

/*
 * Bytes that the system takes at most with so many groups and dofs: what it takes now grows with the number of its
 * coordinates, and each group has wrenches and arrays of its own.
 */
size_t sim_room(CalSim *sim, int groups, int dofs) {
	SimSystem w = count_sizes(sim);
	const CalSystem system = system_of(sim, &w);
	const size_t now = arrays_size(sim, &w) + cal_integrator_system_size(&system, sim->method.method);
	const size_t numbers = (size_t)(w.nq + w.nu + w.nx), most = 2 * (size_t)dofs + (size_t)w.nx;
	return now * (most / numbers + 2) + (size_t)groups * ((size_t)w.wrench_capacity * sizeof(CalWrench) + 4096);
}

CalStatus sim_make_room(CalSim *sim, size_t size) {
	SimSystem *w = &sim->system;
	if (size > w->capacity) {
		void *memory = memory_alloc(&sim->allocator, size + MEMORY_ALIGNMENT);
		if (!memory)
			return CAL_ERR_MEMORY;
		sim->past = sim_counts(sim);
		sim_release_integrator(sim);
		memory_free(&sim->allocator, w->memory);
		*w = (SimSystem){.memory = memory, .capacity = size}; // the integrator lay in the block that is gone
	}
	return sim_bind(sim);
}

/* What a group adds at most, beside the integrator's own: states, effort and wrenches, each array aligned. */
static size_t size_of_group(const CalSim *sim, const SimSystem *w, const CalModel *model) {
	const size_t numbers = (size_t)(cal_model_q_count(model) + cal_model_u_count(model));
	size_t objects = 0;
	for (int kind = 0; kind < MODEL_KIND_COUNT; kind++)
		objects += (size_t)model_kind_count(model, (ModelKind)kind);
	return cal_integrator_size(model, sim->method.method) + objects * sizeof(int) + 6 * numbers * sizeof(double) +
	       sizeof(CalState) + sizeof(CalInput) + (size_t)w->wrench_capacity * sizeof(CalWrench) +
	       (size_t)24 * MEMORY_ALIGNMENT;
}

CalStatus sim_fit(CalSim *sim, const SimGroup *made, int count) {
	SimSystem w = count_sizes(sim);
	const CalSystem system = system_of(sim, &w);
	size_t size = arrays_size(sim, &w) + cal_integrator_system_size(&system, sim->method.method);
	for (int i = 0; i < count; i++)
		size += size_of_group(sim, &w, made[i].model);
	return size > sim->system.capacity ? sim_make_room(sim, size) : CAL_OK;
}

static void bind_device(SimDevice *device, CalEvalContext *context) {
	CalDevice view = context_device(context, device);
	const CalDeviceOps *ops = device->def.ops;
	const bool found = !ops->bind || ops->bind(&view, context) == 0;
	device->active = found && !device->off;
	if (!found || !ops->one_dof || ops->one_dof(&view, &device->on) != 0)
		device->on = (CalDofRef){-1, -1, -1};
	device->at_count = found && ops->nodes ? ops->nodes(&view, device->at) : 0;
}

static void bind_devices(CalSim *sim) {
	CalEvalContext context = context_now(sim, true);
	for (int i = 0; i < sim->device_count; i++)
		bind_device(&sim->devices[i], &context);
	drives_bind(sim);
}

void cal_sim_begin_adding(CalSim *sim) {
	if (!sim)
		return;
	context_now(sim, true); // states of groups where contexts find them
	sim->adding = true;
}

CalStatus cal_sim_end_adding(CalSim *sim) {
	if (!sim)
		return CAL_ERR_ARGUMENT;
	sim->adding = false;
	return sim_bind(sim);
}

/* While devices are added only the last one is bound. */
static CalStatus bind_last(CalSim *sim) {
	CalEvalContext context = context_adding(sim);
	if (sim->device_count > 0)
		bind_device(&sim->devices[sim->device_count - 1], &context);
	return context.status;
}

/* Copies of the states of groups, none of which is made yet (balance.c). */
static void forget_holdings(CalSim *sim) {
	int q = 0, u = 0;
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		group->kept_q = q, group->kept_u = u;
		group->state_kept = group->energy_known = false;
		q += group->model->nq;
		u += group->model->nu;
	}
}

CalStatus sim_bind(CalSim *sim) {
	if (sim->adding)
		return bind_last(sim);
	SimSystem w = count_sizes(sim);
	const CalSystem system = system_of(sim, &w);
	const size_t integrator_size = cal_integrator_system_size(&system, sim->method.method);
	const CalIntegratorStats past = sim_counts(sim);
	const size_t arrays = arrays_size(sim, &w);
	CalStatus status = system_reserve(sim, &w, arrays + integrator_size);
	if (status != CAL_OK)
		return status;
	char *block = w.memory;
	block += MEMORY_ALIGNMENT - (uintptr_t)block % MEMORY_ALIGNMENT;
	Cursor cursor = cursor_over(block, arrays);
	layout_system(sim, &w, &cursor);
	sim_release_integrator(sim);
	sim->past = past;
	status = cal_integrator_init_system(&system, &sim->method, block + arrays, integrator_size, &w.integrator);
	if (status != CAL_OK)
		return status;
	list_groups(sim, &w);
	accuracy_forget_row(&w);
	sim->system = w;
	sim->inputs_known = false;
	forget_holdings(sim);
	bind_devices(sim);
	distribute_renew_devices(sim);
	watch_prepare(sim);
	return sim->subsystems ? subsystems_plan(sim) : CAL_OK;
}

CalIntegratorStats sim_counts(const CalSim *sim) {
	CalIntegratorStats all = sim->past;
	if (sim->system.integrator) {
		const CalIntegratorStats now = cal_integrator_stats(sim->system.integrator);
		all.steps += now.steps;
		all.rejected += now.rejected;
		all.evaluations += now.evaluations;
		all.last_step = now.last_step;
	}
	return all;
}

/* ---- states ------------------------------------------------------------------------------------ */

static void copy_numbers(double *to, const double *from, int count) {
	if (count > 0)
		memcpy(to, from, (size_t)count * sizeof(double));
}

void sim_gather(CalSim *sim) {
	CalState *now = &sim->system.now;
	int q = 0, u = 0;
	for (int i = 0; i < sim->group_count; i++) {
		const SimGroup *group = &sim->groups[i];
		int nq = cal_model_q_count(group->model), nu = cal_model_u_count(group->model);
		copy_numbers(now->q + q, group->state.q, nq);
		copy_numbers(now->u + u, group->state.u, nu);
		q += nq;
		u += nu;
	}
	for (int i = 0, left = sim->system.nx - ACCOUNTS; left > 0 && i < sim->device_count; i++) {
		copy_numbers(now->x + sim->devices[i].x_at, sim->devices[i].x, sim->devices[i].def.nx);
		left -= sim->devices[i].def.nx;
	}
	copy_numbers(now->x + sim->system.nx - ACCOUNTS, sim->account, ACCOUNTS);
	now->t = sim->groups[0].state.t;
}

void sim_scatter(CalSim *sim) {
	const CalState *now = &sim->system.now;
	int q = 0, u = 0;
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		int nq = cal_model_q_count(group->model), nu = cal_model_u_count(group->model);
		copy_numbers(group->state.q, now->q + q, nq);
		copy_numbers(group->state.u, now->u + u, nu);
		group->state.t = now->t;
		q += nq;
		u += nu;
	}
	for (int i = 0, left = sim->system.nx - ACCOUNTS; left > 0 && i < sim->device_count; i++) {
		copy_numbers(sim->devices[i].x, now->x + sim->devices[i].x_at, sim->devices[i].def.nx);
		left -= sim->devices[i].def.nx;
	}
	copy_numbers(sim->account, now->x + sim->system.nx - ACCOUNTS, ACCOUNTS);
}
