// SPDX-License-Identifier: Apache-2.0
/*
 * results.c — fuzz target: HDF5 files of any structure as results, read and made a replay document.
 *
 * Each block of eight bytes is an edit of a good file: which object, what is done to it, and with what rank, type, size and
 * values. The bytes of HDF5 itself are right: what is tested is this library, not that one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/replay.h>

#include "fuzz.h"

#ifdef CALDER_WITH_HDF5

#include "support/hdf5_edits.h"

enum { MAX_EDITS = 6, MAX_COUNT = 2000 * 20 };

static uint8_t *good;
static size_t good_size;

static void begin(void) {
	const char *path = fuzz_path("good.h5");
	fuzz_expect(sample_results(path), "a result file can be written");
	good = fuzz_read(path, &good_size);
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* ---- edits -------------------------------------------------------------------------------------------------- */

static const char *const objects[] = {"/model",          "/streams/main",   "/events/log",    "/events/names",
                                      "/events/actions", "/status/dropped", "/status/closed", "/streams",
                                      "/doubts",         "/events",         "/status",        "/"};
static const char *const attributes[] = {"columns", "units",  "interval", "name",           "streams",
                                         "title",   "format", "created",  "format_version", "software_version"};
static const char *const words[] = {
	"main",
	"events/log",
	"t",
	"pose:hub.x",
	"pose:hub.y",
	"wrench:hub.fx",
	"device:c.x1",
	"q:hub.eta0",
	"action",
	"kinetic_lost",
	"balance:error",
	"",
	"calder: 1\nbodies: {hub: {mass: 1, box: [1, 1, 1]}}\njoints: {f: {type: free, to: hub}}\n",
	"\xff\xfe<script>",
	":",
	"."};
static const double numbers[] = {0, 1, -1, 1e300, 1e-300, 0.5, 2, 1e10};
#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

typedef struct Edit {
	uint8_t object, what, name, type, rank, size, size2, value;
} Edit;

static hid_t type_of(const Edit *e) {
	switch (e->type % 6) {
	case 0:
		return edit_text_type();
	case 1:
		return H5Tcopy(H5T_NATIVE_DOUBLE);
	case 2:
		return H5Tcopy(H5T_NATIVE_INT64);
	case 3:
		return H5Tcopy(H5T_NATIVE_FLOAT);
	case 4:
		return H5Tcopy(H5T_C_S1);
	default:
		return H5Tvlen_create(H5T_NATIVE_DOUBLE);
	}
}

/* Values of a type, as many as there may be; NULL: none are written. */
static const void *values_of(const Edit *e) {
	static const char *texts[MAX_COUNT];
	static double doubles[MAX_COUNT];
	static int64_t integers[MAX_COUNT];
	for (int i = 0; i < (e->size == 255 ? MAX_COUNT : 24 * 20); i++) {
		texts[i] = words[(size_t)(e->value + (e->value & 128 ? i : 0)) % COUNT_OF(words)];
		doubles[i] = e->value == 255 ? (double)NAN : numbers[(size_t)(e->value + i) % COUNT_OF(numbers)];
		integers[i] = e->value == 255 ? INT64_MIN : e->value - 3;
	}
	const void *const by_type[6] = {texts, doubles, integers, NULL, NULL, NULL};
	return by_type[e->type % 6];
}

static int rank_of(const Edit *e) { return e->rank % 5 - 1; }

static void sizes_of(const Edit *e, hsize_t size[3]) {
	size[0] = e->size == 255 ? 2000 : e->size % 24;
	size[1] = e->size2 % 20;
	size[2] = 1;
}

/* The columns of a table get names and units, as many as there are. */
static void name_columns(hid_t file, const Edit *e, const char *path) {
	static const char *const pose[] = {"t",           "pose:hub.x",  "pose:hub.y",  "pose:hub.z",    "pose:hub.qw",
	                                   "pose:hub.qx", "pose:hub.qy", "pose:hub.qz", "wrench:hub.fx", "wrench:hub.fy"};
	const char *names[20], *units[20];
	const int count = e->size2 % 20;
	for (int i = 0; i < count; i++) {
		names[i] = i < 10 ? pose[i] : words[(size_t)(e->name + i) % COUNT_OF(words)];
		units[i] = "m";
	}
	edit_text_list(file, path, "columns", count, names);
	edit_text_list(file, path, "units", count, units);
}

/* All of a table is that of another file. */
static void map_other_file(hid_t create, const Edit *e, const hsize_t size[2]) {
	static const char *const files[] = {"good.h5", "edited.h5", ".",       "../good.h5",
	                                    "part.h5", "/dev/null", "none.h5", ""};
	const hid_t space = H5Screate_simple(2, size, NULL);
	H5Pset_virtual(create, space, files[e->value % COUNT_OF(files)], objects[e->value / 8 % COUNT_OF(objects)], space);
	H5Sclose(space);
}

static void apply(hid_t file, const Edit *e) {
	const char *object = objects[e->object % COUNT_OF(objects)];
	hsize_t size[3];
	sizes_of(e, size);
	hid_t type = type_of(e), create = H5Pcreate(H5P_DATASET_CREATE);
	switch (e->what % 8) {
	case 0:
		H5Ldelete(file, object, H5P_DEFAULT);
		break;
	case 1:
	case 2:
	case 3:
		edit_dataset(file, object, type, rank_of(e), size, H5P_DEFAULT, values_of(e));
		if (e->what % 8 == 3)
			name_columns(file, e, object);
		break;
	case 4:
	case 5:
		edit_attribute(file, object, attributes[e->name % COUNT_OF(attributes)], type, rank_of(e), size, values_of(e));
		break;
	case 6:
		H5Ldelete(file, object, H5P_DEFAULT);
		if (e->name & 1)
			H5Lcreate_soft(objects[e->value % COUNT_OF(objects)], file, object, H5P_DEFAULT, H5P_DEFAULT);
		else
			H5Lcreate_external("other.h5", "/model", file, object, H5P_DEFAULT, H5P_DEFAULT);
		break;
	default:
		if (e->name & 2 && size[0] && size[1])
			map_other_file(create, e, size);
		else if (e->name & 1 && size[0])
			H5Pset_chunk(create, 2, (const hsize_t[]){size[0], size[1] ? size[1] : 1});
		else
			H5Pset_external(create, "/dev/null", 0, H5F_UNLIMITED);
		edit_dataset(file, object, H5T_NATIVE_DOUBLE, 2, size, create, NULL);
		name_columns(file, e, object);
	}
	H5Pclose(create);
	H5Tclose(type);
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

static void read_back(const char *path) {
	CalResultsAbout about;
	CalResultsTable table;
	CalError error;
	memset(&error, 0x5a, sizeof error);
	if (cal_results_about(path, &about, &error) == CAL_OK) {
		for (int i = 0; i < about.stream_count; i++)
			if (cal_results_read(path, about.streams[i], &table, &error) == CAL_OK)
				cal_results_table_free(&table);
		cal_results_about_free(&about);
	} else {
		fuzz_expect_error(&error);
	}
	static FILE *out;
	out = out ? out : fopen("/dev/null", "wb");
	memset(&error, 0x5a, sizeof error);
	if (cal_replay_write(path, &(CalReplayOptions){.max_frames = 50}, out, &error) != CAL_OK)
		fuzz_expect_error(&error);
}

static void run(const uint8_t *data, size_t size) {
	const char *path = fuzz_path("edited.h5");
	hid_t access = H5Pcreate(H5P_FILE_ACCESS);
	H5Pset_fapl_core(access, 1 << 16, 1);
	H5Pset_file_image(access, good, good_size);
	remove(path);
	hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
	H5Pclose(access);
	if (file < 0)
		return;
	for (size_t i = 0; i + sizeof(Edit) <= size && i < MAX_EDITS * sizeof(Edit); i += sizeof(Edit)) {
		Edit edit;
		memcpy(&edit, data + i, sizeof edit);
		apply(file, &edit);
	}
	H5Fclose(file);
	read_back(path);
}

#else

static void begin(void) { fuzz_expect(false, "the library is built with HDF5"); }
static void run(const uint8_t *data, size_t size) { (void)data, (void)size; }

#endif

const FuzzTarget fuzz_results = {"results", begin, run};
