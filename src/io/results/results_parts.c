// SPDX-License-Identifier: Apache-2.0
/*
 * results_parts.c — see results_parts.h.
 */
#include <calder/base.h>

#ifdef CALDER_WITH_HDF5

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/results/results_parts.h"
#include "io/results/results_sink.h"

/* ---- writing ----------------------------------------------------------------------------------- */

/* Of each part, as its columns are mapped. The time is the first column of every part; that of the first is used. */
typedef struct PartWidth {
	int width; // columns that it has
	int next;  // the one that comes next in the joined table
} PartWidth;

/* From malloc; NULL: no memory. */
static PartWidth *part_widths(const CalResultsStream *stream) {
	PartWidth *parts = calloc((size_t)stream->part_count + 1, sizeof *parts);
	for (int i = 0; parts && i < stream->part_count; i++)
		parts[i] = (PartWidth){.width = 1, .next = 1};
	for (int i = 1; parts && i < stream->column_count; i++)
		parts[stream->part_of[i]].width++;
	return parts;
}

/* The time by itself, then as many columns as are of one part. */
static int run_end(const CalResultsStream *stream, int first) {
	int next = first + 1;
	while (first > 0 && next < stream->column_count && stream->part_of[next] == stream->part_of[first])
		next++;
	return next;
}

/* A table of any number of rows, of which these columns are selected; negative: no memory. */
static hid_t select_columns(int width, int first, int count) {
	const hsize_t size[2] = {0, (hsize_t)width}, most[2] = {H5S_UNLIMITED, (hsize_t)width};
	const hsize_t start[2] = {0, (hsize_t)first}, times[2] = {H5S_UNLIMITED, 1}, block[2] = {1, (hsize_t)count};
	const hid_t space = H5Screate_simple(2, size, most);
	if (space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, times, block) >= 0)
		return space;
	H5Sclose(space);
	return -1;
}

/* Consecutive columns of one part. */
static bool map_columns(hid_t create, const CalResultsStream *stream, PartWidth *parts, int first, int count) {
	char path[256];
	PartWidth *part = &parts[stream->part_of[first]];
	const int at = first == 0 ? 0 : part->next;
	const int length = snprintf(path, sizeof path, "/%s/%s", sink_group(stream), stream->name);
	const hid_t to = select_columns(stream->column_count, first, count), from = select_columns(part->width, at, count);
	const bool done = to >= 0 && from >= 0 && length > 0 && length < (int)sizeof path &&
	                  H5Pset_virtual(create, to, stream->parts[stream->part_of[first]], path, from) >= 0;
	part->next = at + count;
	H5Sclose(to);
	H5Sclose(from);
	return done;
}

hid_t parts_create_table(hid_t group, const CalResultsStream *stream) {
	static const double missing = NAN; // of a part that is not there, for readers that go by HDF5
	const hsize_t size[2] = {0, (hsize_t)stream->column_count}, most[2] = {H5S_UNLIMITED, size[1]};
	const hid_t create = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, size, most);
	PartWidth *parts = part_widths(stream);
	bool done = parts && create >= 0 && space >= 0 && H5Pset_fill_value(create, H5T_NATIVE_DOUBLE, &missing) >= 0;
	for (int i = 0; i < stream->column_count && done; i = run_end(stream, i))
		done = map_columns(create, stream, parts, i, run_end(stream, i) - i);
	const hid_t dataset =
		done ? H5Dcreate2(group, stream->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT) : -1;
	free(parts);
	H5Pclose(create);
	H5Sclose(space);
	return dataset;
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* Columns first .. first + count - 1 of all rows; false: something else is selected. Closes the space. */
static bool selected_columns(hid_t space, int *first, int *count) {
	hsize_t start[2], stride[2], times[2], block[2];
	const bool regular = space >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
	                     H5Sget_select_type(space) == H5S_SEL_HYPERSLABS && H5Sis_regular_hyperslab(space) > 0 &&
	                     H5Sget_regular_hyperslab(space, start, stride, times, block) >= 0;
	H5Sclose(space);
	if (!regular || start[0] != 0 || (times[0] != H5S_UNLIMITED && block[0] != H5S_UNLIMITED) || times[1] != 1 ||
	    start[1] >= 1 << 24 || block[1] >= 1 << 24)
		return false;
	*first = (int)start[1];
	*count = (int)block[1];
	return true;
}

/* The name of a file in the same folder, from malloc; NULL: it is none. */
static char *part_name(hid_t create, size_t mapping) {
	const ssize_t length = H5Pget_virtual_filename(create, mapping, NULL, 0);
	char *name = length > 0 && length < 1024 ? malloc((size_t)length + 1) : NULL;
	if (name && H5Pget_virtual_filename(create, mapping, name, (size_t)length + 1) == length &&
	    !memchr(name, '/', (size_t)length) && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
		return name;
	free(name);
	return NULL;
}

/* Its place in the list, -1: no memory. Takes the name over. */
static int add_file(PartMap *map, char *name) {
	for (int i = map->file_count - 1; i >= 0; i--) {
		if (strcmp(map->files[i], name) == 0) {
			free(name);
			return i;
		}
	}
	char **files = realloc(map->files, ((size_t)map->file_count + 1) * sizeof *files);
	if (!files) {
		free(name);
		return -1;
	}
	map->files = files;
	files[map->file_count] = name;
	return map->file_count++;
}

static bool read_mapping(hid_t create, size_t mapping, const char *path, int width, PartMap *map) {
	char there[256];
	int to, from, count, source_count;
	if (H5Pget_virtual_dsetname(create, mapping, there, sizeof there) != (ssize_t)strlen(path) ||
	    strcmp(there, path) != 0 || !selected_columns(H5Pget_virtual_vspace(create, mapping), &to, &count) ||
	    !selected_columns(H5Pget_virtual_srcspace(create, mapping), &from, &source_count) || count != source_count ||
	    count > width - to)
		return false;
	char *name = part_name(create, mapping);
	const int file = name ? add_file(map, name) : -1;
	for (int i = 0; i < count && file >= 0; i++) {
		if (map->file_of[to + i] >= 0)
			return false;
		map->file_of[to + i] = file;
		map->at[to + i] = from + i;
	}
	return file >= 0;
}

bool part_map_read(hid_t dataset, const char *path, int width, PartMap *map) {
	*map = (PartMap){.file_of = malloc(((size_t)width + 1) * sizeof *map->file_of),
	                 .at = malloc(((size_t)width + 1) * sizeof *map->at)};
	bool done = map->file_of && map->at;
	for (int i = 0; i < width && done; i++)
		map->file_of[i] = -1;
	const hid_t create = H5Dget_create_plist(dataset);
	size_t mappings = 0;
	done = done && create >= 0 && H5Pget_virtual_count(create, &mappings) >= 0 && mappings <= (size_t)width;
	for (size_t i = 0; i < mappings && done; i++)
		done = read_mapping(create, i, path, width, map);
	H5Pclose(create);
	for (int i = 0; i < width && done; i++)
		done = map->file_of[i] >= 0;
	return done;
}

void part_map_free(PartMap *map) {
	for (int i = 0; i < map->file_count; i++)
		free(map->files[i]);
	free(map->files);
	free(map->file_of);
	free(map->at);
	*map = (PartMap){0};
}

#endif
