// SPDX-License-Identifier: Apache-2.0
/*
 * state_space_hdf5.c — linearized systems as HDF5: datasets A, B, C, D, rate and value, lists of names and units as texts, and the
 * attributes format, version, time and warning of the root. A series has one more index, the first, and datasets time and warning.
 */
#include "io/linear/state_space_file.h"

#include "base/error.h"

#ifdef CALDER_WITH_HDF5

#include <calder/output.h>

#include "base/memory.h"
#include "io/results/results_hdf5.h"

/* Matrix k of all elements of a series, one after the other. */
static bool write_elements(hid_t dataset, const StateSpaceSeries *series, int k, const hsize_t size[3], int rank) {
	bool done = true;
	const hid_t space = H5Dget_space(dataset);
	for (int i = 0; i < series->count && done; i++) {
		NamedMatrix matrices[STATE_SPACE_MATRICES];
		const hsize_t start[3] = {(hsize_t)i, 0, 0}, count[3] = {1, size[1], size[2]}, own[3] = {1, size[1], size[2]};
		state_space_matrices(&series->spaces[i], matrices);
		const hid_t part = H5Screate_simple(rank, own, NULL);
		done = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
		       H5Dwrite(dataset, H5T_NATIVE_DOUBLE, part, space, H5P_DEFAULT, matrices[k].of) >= 0;
		H5Sclose(part);
	}
	H5Sclose(space);
	return done;
}

static bool put_matrix(hid_t file, const StateSpaceSeries *series, int k) {
	NamedMatrix matrices[STATE_SPACE_MATRICES];
	state_space_matrices(series->spaces, matrices);
	const NamedMatrix *m = &matrices[k];
	const hsize_t size[3] = {(hsize_t)series->count, (hsize_t)m->rows, (hsize_t)m->columns};
	const int rank = m->column ? 2 : 1;
	const hid_t space =
		series->varies ? H5Screate_simple(rank + 1, size, NULL) : H5Screate_simple(rank, size + 1, NULL);
	const hid_t dataset = H5Dcreate2(file, m->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	bool done = dataset >= 0;
	if (done && m->rows > 0 && m->columns > 0)
		done = series->varies ? write_elements(dataset, series, k, size, rank + 1)
		                      : H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, m->of) >= 0;
	H5Dclose(dataset);
	H5Sclose(space);
	return done;
}

static bool put_list(hid_t file, const char *name, const char *const *texts, int count) {
	const hid_t dataset = hdf5_put_text_dataset(file, name, count, texts);
	H5Dclose(dataset);
	return dataset >= 0;
}

static bool put_names(hid_t file, const NameGroup *group) {
	const CalAllocator allocator = allocator_or_default(NULL);
	const size_t count = (size_t)group->count;
	const char **texts = memory_alloc(&allocator, (2 * count + 1) * sizeof *texts);
	for (size_t i = 0; texts && i < count; i++) {
		texts[i] = group->of[i].name;
		texts[count + i] = group->of[i].unit;
	}
	const bool done = texts && put_list(file, group->names, texts, group->count) &&
	                  put_list(file, group->units, texts + count, group->count);
	memory_free(&allocator, texts);
	return done;
}

static bool put_numbers(hid_t file, const char *name, const double *numbers, int count) {
	const hsize_t size = (hsize_t)count;
	const hid_t space = H5Screate_simple(1, &size, NULL);
	const hid_t dataset = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	const bool done = dataset >= 0 && H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0;
	H5Dclose(dataset);
	H5Sclose(space);
	return done;
}

/* Times and warnings: attributes of the root, of a series datasets. */
static bool put_times(hid_t file, const StateSpaceSeries *series) {
	const CalStateSpace *first = series->spaces;
	if (!series->varies)
		return hdf5_put_attribute(file, "time", H5T_NATIVE_DOUBLE, -1, &first->time) &&
		       hdf5_put_texts(file, "warning", -1, &first->warning);
	const CalAllocator allocator = allocator_or_default(NULL);
	const size_t count = (size_t)series->count;
	double *times = memory_alloc(&allocator, count * sizeof *times);
	const char **warnings = memory_alloc(&allocator, count * sizeof *warnings);
	for (size_t i = 0; times && warnings && i < count; i++) {
		times[i] = first[i].time;
		warnings[i] = first[i].warning;
	}
	const bool done = times && warnings && put_numbers(file, "time", times, series->count) &&
	                  put_list(file, "warning", warnings, series->count);
	memory_free(&allocator, warnings);
	memory_free(&allocator, times);
	return done;
}

static bool put_all(hid_t file, const StateSpaceSeries *series) {
	NameGroup groups[3];
	const char *format = STATE_SPACE_FORMAT;
	const int version = STATE_SPACE_VERSION;
	bool done = hdf5_put_texts(file, "format", -1, &format) &&
	            hdf5_put_attribute(file, "version", H5T_NATIVE_INT, -1, &version) && put_times(file, series);
	state_space_names(series->spaces, groups);
	for (int i = 0; i < STATE_SPACE_MATRICES && done; i++)
		done = put_matrix(file, series, i);
	for (int i = 0; i < 3 && done; i++)
		done = put_names(file, &groups[i]);
	return done;
}

static bool write_part(const char *path, const StateSpaceSeries *series) {
	Hdf5Turn turn;
	CrashSafe state;
	hdf5_enter(&turn);
	const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
	const hid_t file = hdf5_create_whole(path, H5P_DEFAULT, access, &state);
	bool done = file >= 0 && put_all(file, series);
	done = hdf5_close_whole(file, &state) && done;
	H5Pclose(access);
	hdf5_leave(&turn);
	return done;
}

CalStatus state_space_write_hdf5(const StateSpaceSeries *series, const char *path, CalError *error) {
	CalOutput *output;
	CalStatus status = cal_output_open(path, NULL, &output, error);
	if (status != CAL_OK)
		return status;
	status = write_part(cal_output_part(output), series)
	             ? cal_output_publish(output, error)
	             : error_set(error, CAL_ERR_IO, "%.300s: the file could not be written", path);
	cal_output_close(output);
	return status;
}

#else

CalStatus state_space_write_hdf5(const StateSpaceSeries *series, const char *path, CalError *error) {
	(void)series;
	return error_set(error, CAL_ERR_UNSUPPORTED,
	                 "%.300s: this build is without HDF5; write .json, .csv or .mat, or build with libhdf5", path);
}

#endif
