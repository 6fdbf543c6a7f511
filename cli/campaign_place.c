// SPDX-License-Identifier: Apache-2.0
/*
 * campaign_place.c — the share of the cases that falls to this process.
 *
 * Launchers put the rank of a process into its environment: no library of theirs is needed to read it. Cases go round by
 * their number: which process runs which does not depend on what is done already, so that none is left out and none is
 * run twice, whenever each process checks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "campaign.h"

static bool whole(const char *text, int64_t *value) {
	char *end;
	errno = 0;
	const long long number = text ? strtoll(text, &end, 10) : -1;
	*value = number;
	return text && end != text && *end == 0 && errno == 0 && number >= 0;
}

static bool pair(const char *index, const char *count, Place *place) {
	return whole(getenv(index), &place->index) && whole(getenv(count), &place->count) && place->index < place->count;
}

/* A task of a step: the script of a batch job itself also sees the number of tasks, but is only one. */
static bool slurm_task(Place *place) {
	if (!getenv("SLURM_STEP_NUM_TASKS") && !getenv("SLURM_STEP_ID"))
		return false;
	return pair("SLURM_PROCID", getenv("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS", place);
}

static Place rank_of_launcher(void) {
	Place place = {0, 1, NULL};
	if (pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", &place) || pair("PMI_RANK", "PMI_SIZE", &place))
		return (Place){place.index, place.count, "MPI"};
	if (slurm_task(&place))
		return (Place){place.index, place.count, "Slurm"};
	return (Place){0, 1, NULL};
}

/* The numbers of an array may start anywhere and go in steps. */
static Place task_of_array(void) {
	int64_t id, least = 0, step = 1;
	Place place = {0, 1, "Slurm array"};
	if (!whole(getenv("SLURM_ARRAY_TASK_ID"), &id) || !whole(getenv("SLURM_ARRAY_TASK_COUNT"), &place.count))
		return (Place){0, 1, NULL};
	if (!whole(getenv("SLURM_ARRAY_TASK_MIN"), &least))
		least = 0;
	if (!whole(getenv("SLURM_ARRAY_TASK_STEP"), &step) || step < 1)
		step = 1;
	place.index = (id - least) / step;
	return place.index >= 0 && place.index < place.count ? place : (Place){0, 1, NULL};
}

Place place_of_environment(void) {
	const Place rank = rank_of_launcher(), task = task_of_array();
	return (Place){task.index * rank.count + rank.index, task.count * rank.count, task.from ? task.from : rank.from};
}

bool place_parse(const char *text, Place *place) {
	char copy[64];
	if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
		return false;
	char *slash = strchr(copy, '/');
	if (!slash)
		return false;
	*slash = 0;
	place->from = "--shard";
	return whole(copy, &place->index) && whole(slash + 1, &place->count) && place->index < place->count;
}
