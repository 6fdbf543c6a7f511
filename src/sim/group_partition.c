// SPDX-License-Identifier: Apache-2.0
/*
 * group_partition.c — the branches of groups, and the worker pool of threads that all groups share.
 *
 * Whether a model is worth cutting depends on the model and on the number of branches that are asked for, never on that of
 * the threads: a run in the same branches has the same bits. Memory of branches does not come from what is reserved for
 * changes of topology, whose size does not know of them.
 */
#include "base/cpu.h"
#include "base/memory.h"
#include "base/worker_pool.h"
#include "component/branch_step.h"
#include "component/partition.h"
#include "sim/sim_internal.h"
#include "topology/topology.h"

static CalStatus is_worth_cutting(const CalModel *model, const CalBranchOptions *options, bool *worth) {
	Partition partition;
	const CalStatus status =
		partition_model(model, options->branches, options->forced != 0, options->cross_loops, NULL, &partition);
	*worth = status == CAL_OK && partition.count > 1;
	if (status == CAL_OK)
		partition_free(model, &partition);
	return status;
}

/* Threads that share a processor wait for each other most of the time. */
static CalStatus make_team(CalSim *sim) {
	const int processors = cpu_count(), wanted = sim->partition.threads;
	const int threads = wanted > processors && !sim->partition.not_pinned ? processors : wanted;
	if (sim->pool || threads < 2)
		return CAL_OK;
	return worker_pool_create(threads, !sim->partition.not_pinned, &sim->allocator, &sim->pool);
}

static CalStatus make_branches(SimGroup *group, CalSim *sim) {
	bool worth;
	CalStatus status = is_worth_cutting(group->model, &sim->partition, &worth);
	if (status != CAL_OK || !worth)
		return status;
	status = make_team(sim);
	if (status == CAL_OK)
		status = branches_create(group->model, &sim->partition, sim->pool, &group->branches);
	if (status == CAL_OK && cal_branches_count(group->branches) == 1) { // no cut was sound
		cal_branches_destroy(group->branches);
		group->branches = NULL;
	}
	return status;
}

CalStatus group_partition(SimGroup *group, CalSim *sim) {
	if (sim->partition.branches < 2 || sim->solver == CAL_SOLVER_DENSE)
		return CAL_OK;
	if (sim->topology)
		arena_bypass(sim->topology->arena, true);
	const CalStatus status = make_branches(group, sim);
	if (sim->topology)
		arena_bypass(sim->topology->arena, false);
	return status;
}

void group_release(SimGroup *group, const CalSim *sim) {
	distribute_keep_counts(sim, group);
	cal_branches_destroy(group->branches); // they look at the model
	cal_model_destroy(group->model);
	memory_free(&sim->allocator, group->memory);
	*group = (SimGroup){0};
}

CalStatus cal_sim_follow_priority(CalSim *sim) {
	if (!sim)
		return CAL_ERR_ARGUMENT;
	return sim->pool ? worker_pool_follow_priority(sim->pool) : CAL_OK; // one that is made later has it from the start
}
