// SPDX-License-Identifier: Apache-2.0
/*
 * parts.c — see parts.h.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

void parts_destroy(StreamParts *parts) {
	if (!parts)
		return;
	for (int i = 0; i < parts->count; i++)
		free(parts->files[i]);
	free(parts->files);
	free(parts->part_of);
	free(parts->path);
	free(parts->columns);
	free(parts->row);
	free(parts);
}

/* "out/run.h5" with the rank before its ending: "out/run.rank1.h5"; from malloc. */
static char *path_of_rank(const char *path, int rank) {
	const char *dot = strrchr(path, '.'); // there is one: the file is HDF5 by its ending
	const size_t size = strlen(path) + 32;
	char *text = malloc(size);
	if (text)
		snprintf(text, size, "%.*s.rank%d%s", (int)(dot - path), path, rank, dot);
	return text;
}

static char *name_of_rank(const char *path, int rank) {
	const char *slash = strrchr(path, '/');
	return path_of_rank(slash ? slash + 1 : path, rank);
}

/* Ranks that have columns become parts, in order; ranks[size] then holds the part of each, -1: none. */
static bool list_files(StreamParts *parts, const char *path, int *ranks, int size, const int *rank_of, int columns) {
	for (int r = 0; r < size; r++)
		ranks[r] = r == 0 ? 0 : -1;
	for (int i = 1; i < columns; i++)
		ranks[rank_of[i]] = 0;
	bool done = true;
	for (int r = 0; r < size && done; r++) {
		if (ranks[r] < 0)
			continue;
		ranks[r] = parts->count;
		parts->files[parts->count] = name_of_rank(path, r);
		done = parts->files[parts->count++] != NULL;
	}
	return done;
}

static void list_columns(StreamParts *parts, int columns) {
	parts->columns[parts->column_count++] = 0;
	for (int i = 1; i < columns; i++)
		if (parts->part_of[i] == parts->own)
			parts->columns[parts->column_count++] = i;
}

static bool divide(const CalSampler *sampler, const CalSim *sim, const char *path, int rank, int size, int *ranks,
                   StreamParts *parts) {
	const int columns = cal_sampler_column_count(sampler);
	parts->files = calloc((size_t)size, sizeof *parts->files);
	parts->part_of = calloc((size_t)columns, sizeof *parts->part_of);
	parts->columns = calloc((size_t)columns, sizeof *parts->columns);
	parts->row = calloc((size_t)columns, sizeof *parts->row);
	if (!parts->files || !parts->part_of || !parts->columns || !parts->row ||
	    cal_sampler_ranks(sampler, sim, parts->part_of) != CAL_OK ||
	    !list_files(parts, path, ranks, size, parts->part_of, columns))
		return false;
	for (int i = 0; i < columns; i++)
		parts->part_of[i] = ranks[parts->part_of[i]];
	parts->own = ranks[rank];
	if (parts->own < 0)
		return true;
	list_columns(parts, columns);
	parts->path = path_of_rank(path, rank);
	return parts->path != NULL;
}

int parts_create(const CalSampler *sampler, const CalSim *sim, const char *path, int rank, int size,
                 StreamParts **parts) {
	*parts = calloc(1, sizeof **parts);
	int *ranks = calloc((size_t)size, sizeof *ranks);
	const bool done = *parts && ranks && divide(sampler, sim, path, rank, size, ranks, *parts);
	free(ranks);
	return done ? EXIT_OK : say_status(path, CAL_ERR_MEMORY, NULL);
}

const double *parts_pick(const StreamParts *parts, const double *row) {
	for (int i = 0; i < parts->column_count; i++)
		parts->row[i] = row[parts->columns[i]];
	return parts->row;
}
