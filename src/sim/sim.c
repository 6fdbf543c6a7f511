// SPDX-License-Identifier: Apache-2.0
/*
 * sim.c — making a simulation of a description, and handing out its parts.
 *
 * Each group that has bodies becomes one model and one block of memory: state, two workspaces, and the vectors of the
 * observers, each part aligned to 64 bytes. The sizes are known before anything is taken, so that a step never allocates; the
 * system gives pages to what is used.
 */
#include <string.h>

#include <calder/motion.h>
#include <calder/sim.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/worker_pool.h"
#include "integrate/scheme.h"
#include "model/compile/compile.h"
#include "model/work.h"
#include "sim/assemble.h"
#include "topology/topology.h"

/* The parts of a group in its block. */
typedef struct GroupMemory {
	char *state, *work, *view_work, *assembly;
	size_t state_size, work_size, assembly_size;
} GroupMemory;

static void layout_group(SimGroup *group, GroupMemory *parts, Cursor *cursor) {
	const size_t nu = (size_t)cal_model_u_count(group->model);
	CURSOR_ARRAY(cursor, parts->state, parts->state_size);
	CURSOR_ARRAY(cursor, parts->work, parts->work_size);
	CURSOR_ARRAY(cursor, parts->view_work, parts->work_size);
	double **const numbers[] = {&group->udot, &group->force, &group->given, &group->drive_force};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		CURSOR_ARRAY(cursor, *numbers[i], nu);
	uint8_t **const flags[] = {&group->root_dof, &group->frozen, &group->held, &group->driven, &group->prescribed};
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		CURSOR_ARRAY(cursor, *flags[i], nu);
	CURSOR_ARRAY(cursor, group->power, CAL_POWER_COUNT);
	CURSOR_ARRAY(cursor, parts->assembly, parts->assembly_size);
}

CalStatus group_place(SimGroup *group, const CalSim *sim) {
	const CalModel *model = group->model;
	GroupMemory parts = {
		.state_size = cal_state_size(model), .work_size = cal_work_size(model), .assembly_size = assembly_size(model)};
	Cursor cursor = {0};
	layout_group(group, &parts, &cursor);
	group->memory = cursor_alloc_zeroed(&cursor, &sim->allocator);
	if (!group->memory)
		return CAL_ERR_MEMORY;
	layout_group(group, &parts, &cursor);
	group->assembly = assembly_place(model, parts.assembly);
	CalStatus status = cal_state_init(model, parts.state, parts.state_size, &group->state);
	if (status == CAL_OK)
		status = work_init_zeroed_x1(model, parts.work, parts.work_size, &group->work);
	if (status == CAL_OK)
		status = work_init_zeroed_x1(model, parts.view_work, parts.work_size, &group->view_work);
	return status;
}

static CalStatus group_create(SimGroup *group, CalSim *sim, const DescGroups *listed, CalGroupId id,
                              const CalSimOptions *options, CalError *error) {
	CalCompileOptions compile = {.group = id, .solver = options->solver, .allocator = options->allocator};
	CalStatus status = compile_group(listed, &compile, &group->model, error);
	if (status != CAL_OK)
		return status;
	status = group_place(group, sim);
	if (status != CAL_OK)
		return error_set(error, status, "group \"%s\": %s", cal_model_name(group->model), cal_status_text(status));
	status = group_partition(group, sim);
	if (status != CAL_OK)
		return error_set(error, status, "group \"%s\": cannot make its branches: %s", cal_model_name(group->model),
		                 cal_status_text(status));
	group->input = options->method.input;
	group->user = options->method.user;
	group_classify(group);
	return CAL_OK;
}

static CalStatus create_groups(CalSim *sim, const DescGroups *listed, const CalSimOptions *options, CalError *error) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < listed->desc->group_count && status == CAL_OK; i++) {
		const bool has_bodies = listed->bodies.first[i + 1] > listed->bodies.first[i];
		const CalGroupId id = {(uint32_t)i + 1};
		if (has_bodies)
			status = group_create(&sim->groups[sim->group_count++], sim, listed, id, options, error);
	}
	return status;
}

static CalStatus fill_groups(CalSim *sim, const CalDesc *desc, const CalSimOptions *options, CalError *error) {
	CalStatus status = compile_check_structure(desc, (CalGroupId){0}, error);
	if (status != CAL_OK)
		return status;
	DescGroups *listed = desc_groups_create(desc);
	status = listed ? create_groups(sim, listed, options, error)
	                : error_set(error, CAL_ERR_MEMORY, "simulation: %s", cal_status_text(CAL_ERR_MEMORY));
	desc_groups_destroy(listed);
	if (status != CAL_OK)
		return status;
	sim->origin.function_count = sim->group_count;
	for (int i = 0; i < sim->group_count; i++) {
		origin_note_input(sim, i);
		origin_note_motion(sim, i);
	}
	if (sim->group_count > 0)
		return CAL_OK;
	return error_set(error, CAL_ERR_MODEL, "the description has no body; add one with cal_desc_add_body");
}

static CalBranchOptions partition_options_of(const CalSimOptions *options) {
	const int threads = options->threads > 0 ? options->threads : 1;
	return (CalBranchOptions){.branches = options->branches > 0 ? options->branches : threads,
	                          .threads = threads,
	                          .forced = options->branches_forced,
	                          .cross_loops = options->cross_loops,
	                          .not_pinned = options->not_pinned};
}

static CalSim *sim_alloc(const CalDesc *desc, const CalSimOptions *options) {
	CalAllocator allocator = allocator_or_default(&options->allocator);
	size_t size = (size_t)desc->group_count * sizeof(SimGroup);
	CalSim *sim = memory_alloc(&allocator, sizeof *sim);
	SimGroup *groups = memory_alloc(&allocator, size);
	CalSystemPart *parts = memory_alloc(&allocator, (size_t)desc->group_count * sizeof *parts);
	SimFunctions *functions = memory_alloc(&allocator, (size_t)desc->group_count * sizeof *functions);
	if (!sim || !groups || !parts || !functions) {
		memory_free(&allocator, functions);
		memory_free(&allocator, parts);
		memory_free(&allocator, groups);
		memory_free(&allocator, sim);
		return NULL;
	}
	memset(groups, 0, size);
	*sim = (CalSim){.allocator = allocator,
	                .method = options->method,
	                .plugins = options->plugins,
	                .stop = options->stop,
	                .solver = options->solver,
	                .input_wrenches = options->input_wrenches > 0 ? options->input_wrenches : 64,
	                .event_tolerance = options->event_tolerance,
	                .assembly_limit = options->assembly_limit > 0 ? options->assembly_limit : ASSEMBLY_LIMIT,
	                .partition = partition_options_of(options),
	                .formulation.options = options->formulation,
	                .groups = groups,
	                .parts = parts,
	                .origin = origin_of(desc)};
	sim->origin.functions = functions;
	sim->method.input = NULL; // each group has its own
	return sim;
}

static CalStatus bind_first(CalSim *sim, CalError *error) {
	CalStatus status = sim_bind(sim);
	if (status == CAL_OK)
		return CAL_OK;
	return error_set(error, status, "cannot set up the integrator: %s%s", cal_status_text(status),
	                 status == CAL_ERR_ARGUMENT ? "; are the method known and its options finite and not negative?"
	                                            : "");
}

CalStatus cal_sim_create(const CalDesc *desc, const CalSimOptions *options, CalSim **sim, CalError *error) {
	if (!desc || !options || !sim || !allocator_is_valid(&options->allocator))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_sim_create: give a description, options and a place for the result");
	*sim = NULL;
	const CalMethodInfo *info = cal_method_info(options->method.method);
	if (info && info->missing)
		return error_set(error, CAL_ERR_UNSUPPORTED, "the method %s is not built: this library lacks %s", info->name,
		                 info->missing);
	if (method_is_fixed(options->method.method) && !(options->method.step > 0))
		return error_set(error, CAL_ERR_ARGUMENT, "method %s has a fixed step; give it a size above zero (it is %g s)",
		                 cal_method_name(options->method.method), options->method.step);
	if (options->threads < 0 || options->threads > WORKER_POOL_MAX || options->branches < 0 ||
	    options->branches > WORKER_POOL_MAX)
		return error_set(error, CAL_ERR_ARGUMENT, "threads and branches must be between 0 and %d (they are %d and %d)",
		                 WORKER_POOL_MAX, options->threads, options->branches);
	CalStatus status = formulation_check(options, error);
	if (status != CAL_OK)
		return status;
	if (!cal_cross_loops_name(options->cross_loops))
		return error_set(error, CAL_ERR_ARGUMENT, "CalSimOptions.cross_loops is none of CAL_CROSS_LOOPS_*");
	CalSim *made = sim_alloc(desc, options);
	if (!made)
		return error_set(error, CAL_ERR_MEMORY, "simulation: %s", cal_status_text(CAL_ERR_MEMORY));
	status = fill_groups(made, desc, options, error);
	if (status == CAL_OK)
		status = formulation_create(made, error);
	if (status == CAL_OK)
		status = bind_first(made, error);
	if (status == CAL_OK)
		*sim = made;
	else
		cal_sim_destroy(made);
	return status;
}

void cal_sim_destroy(CalSim *sim) {
	if (!sim)
		return;
	CalAllocator allocator = sim->allocator;
	distribute_end(sim);
	formulation_release(sim);
	for (int i = 0; i < sim->group_count; i++)
		group_release(&sim->groups[i], sim);
	worker_pool_destroy(sim->pool);
	for (int i = 0; i < sim->device_count; i++) {
		if (sim->devices[i].def.ops->destroy)
			sim->devices[i].def.ops->destroy(sim->devices[i].is.data);
		if (sim->devices[i].library)
			sim->devices[i].close_library(sim->devices[i].library);
		memory_free(&allocator, sim->devices[i].memory);
	}
	for (int i = 0; i < sim->event_count; i++)
		memory_free(&allocator, sim->events[i].memory);
	subsystems_release(sim);
	memory_free(&allocator, sim->devices);
	memory_free(&allocator, sim->events);
	name_index_free(&allocator, &sim->device_names);
	name_index_free(&allocator, &sim->event_names);
	sim_release_integrator(sim);
	memory_free(&allocator, sim->system.memory);
	memory_free(&allocator, sim->origin.functions);
	memory_free(&allocator, sim->parts);
	memory_free(&allocator, sim->groups);
	struct Topology *topology = sim->topology;
	memory_free(&allocator, sim);
	topology_destroy(topology);
}

int cal_sim_group_count(const CalSim *sim) { return sim ? sim->group_count : 0; }

int cal_sim_find_group(const CalSim *sim, const char *name) {
	for (int i = 0; sim && name && i < sim->group_count; i++)
		if (strcmp(cal_model_name(sim->groups[i].model), name) == 0)
			return i;
	return -1;
}

static int in_range(const CalSim *sim, int group) { return sim && group >= 0 && group < sim->group_count; }

const CalModel *cal_sim_model(const CalSim *sim, int group) {
	return in_range(sim, group) ? sim->groups[group].model : NULL;
}

const CalBranches *cal_sim_branches(const CalSim *sim, int group) {
	return in_range(sim, group) ? sim->groups[group].branches : NULL;
}

CalState *cal_sim_state(CalSim *sim, int group) { return in_range(sim, group) ? &sim->groups[group].state : NULL; }

double cal_sim_time(const CalSim *sim) { return sim ? sim->groups[0].state.t : 0; }

int64_t cal_sim_generation(const CalSim *sim) { return sim ? sim->generation : 0; }

CalStatus cal_sim_set_input(CalSim *sim, int group, CalInputFn input, CalSwitchFn next_switch, void *user) {
	if (!in_range(sim, group))
		return CAL_ERR_ARGUMENT;
	SimGroup *g = &sim->groups[group];
	g->input = input;
	g->next_switch = next_switch;
	g->user = user;
	origin_note_input(sim, group);
	if (!sim->restored) // otherwise it is what it was
		cal_integrator_reset(sim->system.integrator);
	return CAL_OK;
}

CalStatus cal_sim_set_motion(CalSim *sim, int group, CalMotionFn motion, void *user) {
	if (!in_range(sim, group))
		return CAL_ERR_ARGUMENT;
	SimGroup *g = &sim->groups[group];
	if (sim->restored && motion && g->motion) { // it is the one that it was
		g->motion = motion;
		g->motion_user = user;
		origin_note_motion(sim, group);
		integrator_set_motion(sim->system.integrator, group, motion, user);
		return CAL_OK;
	}
	const double before = sim->started ? balance_energy(g) + balance_stored(sim) : 0;
	g->motion = motion;
	g->motion_user = user;
	origin_note_motion(sim, group);
	CalStatus status = sim->started && motion ? group_impose(g) : CAL_OK;
	if (status == CAL_OK)
		status = sim_bind(sim);           // of the same size as before: it does not allocate
	if (status == CAL_OK && sim->started) // whatever drives the group hands its energy over, or takes it
		sim->account[ACCOUNT_SUPPLIED] += balance_energy(g) + balance_stored(sim) - before;
	return status;
}

int cal_sim_is_moved(const CalSim *sim, int group) { return in_range(sim, group) && sim->groups[group].motion != NULL; }

CalStatus cal_sim_set_frozen(CalSim *sim, int group, const uint8_t *frozen) {
	if (!in_range(sim, group))
		return CAL_ERR_ARGUMENT;
	SimGroup *g = &sim->groups[group];
	size_t nu = (size_t)cal_model_u_count(g->model);
	if (frozen)
		memcpy(g->frozen, frozen, nu);
	else
		memset(g->frozen, 0, nu);
	return CAL_OK;
}
