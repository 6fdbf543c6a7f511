// SPDX-License-Identifier: Apache-2.0
/*
 * hdf5_edits.h — making HDF5 files that no version of this library writes, for tests of what reads them: each function
 * replaces one object of a file by another of any rank, type and storage.
 */
#ifndef CALDER_TEST_SUPPORT_HDF5_EDITS_H
#define CALDER_TEST_SUPPORT_HDF5_EDITS_H

#include <stdlib.h>

#include <hdf5.h>

#include <calder/results.h>

/* ---- a good file ------------------------------------------------------------------------------------------ */

/* A run with poses, a flexible body, forces and a log of events; false: it cannot be written. */
static inline int sample_results(const char *path) {
	static const char model[] =
		"calder: 1\nbodies: {hub: {mass: 10, box: [1, 1, 1]}}\njoints: {flight: {type: free, to: hub}}\n";
	static const CalResultsColumn columns[] = {
		{"t", "s"},
		{"pose:hub.x", "m"},
		{"pose:hub.y", "m"},
		{"pose:hub.z", "m"},
		{"pose:hub.qw", "1"},
		{"pose:hub.qx", "1"},
		{"pose:hub.qy", "1"},
		{"pose:hub.qz", "1"},
		{"wrench:hub.fx", "N"},
		{"wrench:hub.fy", "N"},
		{"wrench:hub.fz", "N"},
		{"device:c.x1", "m"},
		{"device:c.y1", "m"},
		{"device:c.z1", "m"},
		{"device:c.fx1", "N"},
		{"device:c.fy1", "N"},
		{"device:c.fz1", "N"},
		{"balance:error", "J"},
		{"balance:groups", "J"},
	};
	static const CalResultsColumn log[] = {{"t", "s"}, {"action", "1"}, {"kinetic_lost", "J"}};
	static const char *const names[] = {"latch", "stop"}, *const words[] = {"lock flight", "stop"};
	static const CalResultsTexts texts[] = {{"names", names, 2}, {"actions", words, 2}};
	enum { WIDTH = sizeof columns / sizeof columns[0], ROWS = 5 };
	const CalResultsStream streams[] = {
		{.name = "main", .path = path, .interval = 0.1, .columns = columns, .column_count = WIDTH},
		{.name = "log",
	     .path = path,
	     .group = "events",
	     .columns = log,
	     .column_count = 3,
	     .texts = texts,
	     .text_count = 2},
	};
	const CalResultsOptions options = {
		.streams = streams, .stream_count = 2, .title = "sample", .model_name = "m.yaml", .model_text = model};
	CalResults *results = NULL;
	if (cal_results_create(&options, &results, NULL) != CAL_OK)
		return 0;
	for (int row = 0; row < ROWS; row++) {
		double values[WIDTH] = {0.1 * row, 1.0 * row, 0, 0, 1};
		cal_results_put(results, 0, values);
	}
	cal_results_put(results, 1, (const double[]){0.1, 0, 2.5});
	cal_results_put(results, 1, (const double[]){0.2, 1, 0});
	const int done = cal_results_finish(results, NULL) == CAL_OK;
	cal_results_destroy(results);
	return done;
}

/* ---- edits -------------------------------------------------------------------------------------------------- */

static inline hid_t edit_text_type(void) {
	hid_t type = H5Tcopy(H5T_C_S1);
	H5Tset_size(type, H5T_VARIABLE);
	H5Tset_cset(type, H5T_CSET_UTF8);
	return type;
}

/* A space of so many dimensions of these sizes; rank 0: one value, rank < 0: none at all. */
static inline hid_t edit_space(int rank, const hsize_t *size) {
	return rank < 0 ? H5Screate(H5S_NULL) : rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, size, NULL);
}

/* The attribute of an object, which may have one of that name; values NULL: not written. */
static inline void edit_attribute(hid_t file, const char *object, const char *name, hid_t type, int rank,
                                  const hsize_t *size, const void *values) {
	hid_t at = H5Oopen(file, object, H5P_DEFAULT), space = edit_space(rank, size);
	if (at >= 0 && H5Aexists(at, name) > 0)
		H5Adelete(at, name);
	hid_t attribute = at >= 0 ? H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
	if (attribute >= 0 && values)
		H5Awrite(attribute, type, values);
	H5Aclose(attribute);
	H5Sclose(space);
	H5Oclose(at);
}

static inline void edit_text_list(hid_t file, const char *object, const char *name, int count,
                                  const char *const *texts) {
	hid_t type = edit_text_type();
	const hsize_t size = (hsize_t)count;
	edit_attribute(file, object, name, type, 1, &size, texts);
	H5Tclose(type);
}

/* A dataset in the place of what is there; its attributes are lost. create: how it is stored. */
static inline void edit_dataset(hid_t file, const char *path, hid_t type, int rank, const hsize_t *size, hid_t create,
                                const void *values) {
	if (H5Lexists(file, path, H5P_DEFAULT) > 0)
		H5Ldelete(file, path, H5P_DEFAULT);
	hid_t space = edit_space(rank, size);
	hid_t dataset = H5Dcreate2(file, path, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
	if (dataset >= 0 && values)
		H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
	H5Dclose(dataset);
	H5Sclose(space);
}

#endif
