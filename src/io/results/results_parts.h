// SPDX-License-Identifier: Apache-2.0
/*
 * results_parts.h — a table whose columns are in several files: a virtual dataset of HDF5, and what it says of them.
 *
 * HDF5 follows such a table by itself, for whoever trusts the file. This library does not: it reads which columns are
 * in which file, and then each part as the result file that it is (results_read.c).
 */
#ifndef CALDER_IO_RESULTS_RESULTS_PARTS_H
#define CALDER_IO_RESULTS_RESULTS_PARTS_H

#include <stdbool.h>

#include <hdf5.h>

#include <calder/results.h>

/** The table of a stream with parts; negative: it cannot be made. */
hid_t parts_create_table(hid_t group, const CalResultsStream *stream);

/** Where the columns of a table are. */
typedef struct PartMap {
	char **files; // [file_count] names, beside the file of the table
	int file_count;
	int *file_of, *at; // [width] of each column: its file, and its column there
} PartMap;

/**
 * False: the parts do not hold each column once, or are not files beside this one with a table at the same path. To be
 * released in any case.
 */
bool part_map_read(hid_t dataset, const char *path, int width, PartMap *map);
void part_map_free(PartMap *map);

#endif
