// SPDX-License-Identifier: Apache-2.0
/*
 * state_space_hdf5.c — linearized systems as HDF5: datasets A, B, C, D, rate and value, lists of names and units as texts, and the
 * attributes format, version, time and warning of the root.
 */
#include "io/linear/state_space_file.h"

#include "base/error.h"

#ifdef CALDER_WITH_HDF5

#include <calder/output.h>

#include "base/memory.h"
#include "io/results/results_hdf5.h"

static bool put_matrix(hid_t file, const NamedMatrix *m) {
	const hsize_t size[2] = {(hsize_t)m->rows, (hsize_t)m->columns};
	const hid_t space = H5Screate_simple(m->column ? 2 : 1, size, NULL);
	const hid_t dataset = H5Dcreate2(file, m->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	const bool empty = m->rows == 0 || m->columns == 0;
	const bool done =
		dataset >= 0 && (empty || H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, m->of) >= 0);
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

static bool put_all(hid_t file, const CalStateSpace *space) {
	NamedMatrix matrices[STATE_SPACE_MATRICES];
	NameGroup groups[3];
	const char *format = STATE_SPACE_FORMAT;
	const int version = STATE_SPACE_VERSION;
	bool done = hdf5_put_texts(file, "format", -1, &format) &&
	            hdf5_put_attribute(file, "version", H5T_NATIVE_INT, -1, &version) &&
	            hdf5_put_attribute(file, "time", H5T_NATIVE_DOUBLE, -1, &space->time) &&
	            hdf5_put_texts(file, "warning", -1, &space->warning);
	state_space_matrices(space, matrices);
	state_space_names(space, groups);
	for (int i = 0; i < STATE_SPACE_MATRICES && done; i++)
		done = put_matrix(file, &matrices[i]);
	for (int i = 0; i < 3 && done; i++)
		done = put_names(file, &groups[i]);
	return done;
}

static bool write_part(const char *path, const CalStateSpace *space) {
	Hdf5Turn turn;
	CrashSafe state;
	hdf5_enter(&turn);
	const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
	const hid_t file = hdf5_create_whole(path, H5P_DEFAULT, access, &state);
	bool done = file >= 0 && put_all(file, space);
	done = hdf5_close_whole(file, &state) && done;
	H5Pclose(access);
	hdf5_leave(&turn);
	return done;
}

CalStatus state_space_write_hdf5(const CalStateSpace *space, const char *path, CalError *error) {
	CalOutput *output;
	CalStatus status = cal_output_open(path, NULL, &output, error);
	if (status != CAL_OK)
		return status;
	status = write_part(cal_output_part(output), space)
	             ? cal_output_publish(output, error)
	             : error_set(error, CAL_ERR_IO, "%.300s: the file could not be written", path);
	cal_output_close(output);
	return status;
}

#else

CalStatus state_space_write_hdf5(const CalStateSpace *space, const char *path, CalError *error) {
	(void)space;
	return error_set(error, CAL_ERR_UNSUPPORTED,
	                 "%.300s: this build is without HDF5; write .json, .csv or .mat, or build with libhdf5", path);
}

#endif
