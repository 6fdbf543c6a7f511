// SPDX-License-Identifier: Apache-2.0
/*
 * results_read.c — a stream of an HDF5 result file, read back as a table.
 */
#include <stdlib.h>
#include <string.h>

#include "io/results/results_heap.h"
#include "io/results/results_sink.h"

void cal_results_table_free(CalResultsTable *table) {
	if (!table)
		return;
	for (int i = 0; table->columns && i < table->column_count; i++) {
		free((void *)table->columns[i].name);
		free((void *)table->columns[i].unit);
	}
	free(table->columns);
	free(table->rows);
	free(table->name);
	*table = (CalResultsTable){0};
}

void cal_results_about_free(CalResultsAbout *about) {
	if (!about)
		return;
	for (int i = 0; i < about->stream_count; i++)
		free(about->streams[i]);
	for (int i = 0; i < about->action_count; i++) {
		free(about->events[i]);
		free(about->actions[i]);
	}
	free(about->streams);
	free(about->events);
	free(about->actions);
	free(about->title);
	free(about->software_version);
	free(about->created);
	free(about->model_name);
	free(about->model_text);
	free(about->method);
	free(about->doubts);
	*about = (CalResultsAbout){0};
}

#ifdef CALDER_WITH_HDF5

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/file.h"
#include "io/results/results_doubts.h"
#include "io/results/results_hdf5.h"
#include "io/results/results_parts.h"
#include "io/results/results_schema.h"

enum { MAX_STREAMS = 1024 };

/* A list of texts from an attribute, each and the list from malloc. */
typedef struct Texts {
	char **items;
	int count;
} Texts;

static void texts_free(Texts *texts) {
	for (int i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
	*texts = (Texts){0};
}

static char *copy_of(const char *text) {
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);
	return copy ? memcpy(copy, text, size) : NULL;
}

static bool copy_texts(char *const *from, int count, Texts *texts) {
	texts->items = calloc((size_t)count + 1, sizeof *texts->items);
	texts->count = texts->items ? count : 0;
	bool done = texts->items != NULL;
	for (int i = 0; i < texts->count; i++) {
		texts->items[i] = copy_of(from[i] ? from[i] : "");
		done &= texts->items[i] != NULL;
	}
	return done;
}

/* Texts that HDF5 has read (done), as ours; releases what it allocated for them. */
static bool keep_texts(bool done, char **read, hssize_t count, hid_t type, hid_t space, Texts *texts) {
	if (done) {
		done = copy_texts(read, (int)count, texts);
		H5Dvlen_reclaim(type, space, H5P_DEFAULT, read);
	}
	free(read);
	H5Tclose(type);
	H5Sclose(space);
	return done;
}

static bool read_texts(hid_t object, const char *name, Texts *texts) {
	*texts = (Texts){0};
	hid_t attribute = schema_attribute(object, name, SCHEMA_TEXT), space = H5Aget_space(attribute);
	hid_t type = schema_text_type();
	hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
	char **read = count >= 0 && count < 1 << 24 ? calloc((size_t)count + 1, sizeof *read) : NULL;
	const bool done = keep_texts(read && H5Aread(attribute, type, read) >= 0, read, count, type, space, texts);
	H5Aclose(attribute);
	return done;
}

static bool read_numbers(hid_t file, const char *path, int rank, int64_t *to, hssize_t count) {
	hid_t dataset = schema_dataset(file, path, SCHEMA_INTEGER, rank), space = H5Dget_space(dataset);
	bool done = space >= 0 && H5Sget_simple_extent_npoints(space) == count &&
	            H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0;
	H5Sclose(space);
	H5Dclose(dataset);
	return done;
}

/* A stream is a table in "/streams", or in the group that its name begins with ("events/log"). */
static bool stream_path(const char *name, char path[256]) {
	const int length = snprintf(path, 256, strchr(name, '/') ? "/%s" : "/streams/%s", name);
	return name[0] && length > 0 && length < 256;
}

/* Each stream has a name of its own. */
static bool names_are_sound(const Texts *names) {
	char path[256];
	bool sound = names->count <= MAX_STREAMS;
	for (int i = 0; i < names->count && sound; i++) {
		sound = stream_path(names->items[i], path);
		for (int k = 0; k < i && sound; k++)
			sound = strcmp(names->items[i], names->items[k]) != 0;
	}
	return sound;
}

/* The names of the streams, in order, and what is stated of all of them; dropped from malloc. */
static bool read_status(hid_t file, Texts *names, int64_t **dropped, int *closed) {
	int64_t flag = 0;
	hid_t dataset = schema_dataset(file, "/status/dropped", SCHEMA_INTEGER, 1);
	bool done = dataset >= 0 && read_texts(dataset, "streams", names) && names_are_sound(names);
	H5Dclose(dataset);
	*dropped = done ? calloc((size_t)names->count + 1, sizeof **dropped) : NULL;
	done = *dropped && read_numbers(file, "/status/dropped", 1, *dropped, names->count) &&
	       read_numbers(file, "/status/closed", 0, &flag, 1);
	*closed = flag != 0;
	return done;
}

static bool take_columns(Texts *names, Texts *units, CalResultsTable *table) {
	const int width = names->count;
	if (width < 1 || units->count != width)
		return false;
	table->columns = calloc((size_t)width + 1, sizeof *table->columns);
	if (!table->columns)
		return false;
	table->column_count = width;
	for (int i = 0; i < width; i++) {
		table->columns[i] = (CalResultsColumn){names->items[i], units->items[i]};
		names->items[i] = units->items[i] = NULL;
	}
	return true;
}

static bool read_columns(hid_t dataset, CalResultsTable *table) {
	Texts names = {0}, units = {0};
	const bool done = read_texts(dataset, "columns", &names) && read_texts(dataset, "units", &units) &&
	                  take_columns(&names, &units, table);
	texts_free(&names);
	texts_free(&units);
	return done;
}

/*
 * Does a dataset claim far more numbers than the file holds? Space that was never written takes none in the file: 40 GB of it
 * fit in a kilobyte. What Calder writes is never compressed; a copy that is may be smaller, but not by that much.
 */
static bool is_sparse(hid_t dataset, hsize_t bytes) {
	static const hsize_t small_bytes = (hsize_t)1 << 26, share = 64;
	return bytes > small_bytes && bytes / share > H5Dget_storage_size(dataset);
}

static bool read_rows(hid_t dataset, CalResultsTable *table, char *why, size_t why_size) {
	hsize_t size[2] = {0, 0};
	hid_t space = H5Dget_space(dataset);
	bool done = space >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
	            H5Sget_simple_extent_dims(space, size, NULL) == 2 && size[1] > 0 && size[1] < 1 << 24 &&
	            size[0] < SIZE_MAX / sizeof(double) / size[1];
	H5Sclose(space);
	if (done && is_sparse(dataset, size[0] * size[1] * sizeof(double))) {
		snprintf(
			why, why_size,
			": it claims %llu x %llu numbers, of which the file holds %llu bytes; it is damaged, or made to exhaust memory. "
			"Run the model again",
			(unsigned long long)size[0], (unsigned long long)size[1], (unsigned long long)H5Dget_storage_size(dataset));
		return false;
	}
	done = done && read_columns(dataset, table) && table->column_count == (int)size[1];
	table->rows = done ? malloc((size_t)(size[0] * size[1] + 1) * sizeof(double)) : NULL;
	table->row_count = (size_t)size[0];
	return table->rows &&
	       (size[0] == 0 || H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, table->rows) >= 0);
}

static CalStatus not_results(const char *path, const char *wrong, CalError *error) {
	return error_set(error, CAL_ERR_INPUT,
	                 "%.300s: not a Calder result file: %s is missing or is not what the format says "
	                 "(docs/results.md)",
	                 path, wrong);
}

static CalStatus no_such_stream(const char *path, const char *stream, const Texts *names, CalError *error) {
	char list[300] = "";
	for (int i = 0; i < names->count; i++) {
		size_t used = strlen(list);
		snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names->items[i]);
	}
	return error_set(error, CAL_ERR_ARGUMENT, "%.300s: there is no stream \"%.80s\"; the file has %s", path, stream,
	                 list);
}

/* HDF5 itself would wait for a pipe, and for a device. */
static CalStatus open_file(const char *path, hid_t *file, CalError *error) {
	static const InputFile limits = {UINT64_MAX, "", true};
	char why[INPUT_FILE_WHY];
	if (!input_file_check(path, &limits, why))
		return error_set(error, CAL_ERR_IO, "%.300s: cannot be read: %s", path, why);
	FILE *bytes = fopen(path, "rb");
	const bool sound = bytes && heaps_are_sound(bytes);
	if (bytes)
		fclose(bytes);
	*file = sound ? H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) : H5I_INVALID_HID;
	return *file >= 0
	           ? CAL_OK
	           : error_set(error, CAL_ERR_IO, "%.300s: cannot be read; is it an HDF5 file, and undamaged?", path);
}

/* ---- one stream --------------------------------------------------------------------------------- */

/* Where it is read: a part has no parts itself. */
typedef struct StreamPlace {
	const char *path; // of the file
	const char *name; // NULL: the first
	bool is_part;
} StreamPlace;

static CalStatus read_stream(hid_t file, const StreamPlace *place, CalResultsTable *table, CalError *error);

/* The columns of a joined table that are in one part, in the same order: none of it is there twice. */
static bool copy_part(const PartMap *map, int part, const CalResultsTable *from, CalResultsTable *table) {
	if (!table->rows && from->row_count < SIZE_MAX / sizeof(double) / (size_t)(table->column_count + 1)) {
		table->row_count = from->row_count;
		table->rows = calloc(from->row_count * (size_t)table->column_count + 1, sizeof(double));
	}
	table->row_count = from->row_count < table->row_count ? from->row_count : table->row_count;
	bool done = table->rows != NULL;
	const size_t width = (size_t)table->column_count;
	for (int i = 0, last = -1; i < table->column_count && done; i++) {
		const int at = map->at[i];
		if (map->file_of[i] != part)
			continue;
		done = at > last && at < from->column_count && strcmp(table->columns[i].name, from->columns[at].name) == 0;
		last = at;
		for (size_t row = 0; done && row < table->row_count; row++)
			table->rows[row * width + (size_t)i] = from->rows[row * (size_t)from->column_count + (size_t)at];
	}
	for (size_t row = 0; done && row < table->row_count; row++) // the time is in every part
		done = table->rows[row * width] == from->rows[row * (size_t)from->column_count];
	return done;
}

static CalStatus read_part(const StreamPlace *joined, const PartMap *map, int part, CalResultsTable *table,
                           CalError *error) {
	const char *slash = strrchr(joined->path, '/');
	const int folder = slash ? (int)(slash - joined->path) + 1 : 0;
	char path[4096];
	hid_t file = -1;
	CalResultsTable own = {0};
	const StreamPlace place = {path, table->name, true};
	const int length = snprintf(path, sizeof path, "%.*s%s", folder, joined->path, map->files[part]);
	CalStatus status = length < (int)sizeof path ? open_file(path, &file, error)
	                                             : error_set(error, CAL_ERR_IO, "%.300s: the path is too long", path);
	if (status == CAL_OK)
		status = read_stream(file, &place, &own, error);
	if (status == CAL_OK && !copy_part(map, part, &own, table))
		status =
			error_set(error, CAL_ERR_INPUT,
		              "%.300s: not the part of stream \"%.80s\" that %.300s names: its columns or times are others; "
		              "put the files of one run together",
		              path, table->name, joined->path);
	table->closed &= own.closed;
	table->dropped = own.dropped > table->dropped ? own.dropped : table->dropped;
	H5Fclose(file);
	cal_results_table_free(&own);
	return status;
}

/* A table in parts; all that its own file holds are the columns. */
static CalStatus read_joined(hid_t dataset, const StreamPlace *place, const char *at, CalResultsTable *table,
                             CalError *error) {
	PartMap map = {0};
	CalStatus status = CAL_OK;
	if (!read_columns(dataset, table) || !part_map_read(dataset, at, table->column_count, &map))
		status = error_set(error, CAL_ERR_INPUT,
		                   "%.300s: stream \"%.80s\" cannot be read: its parts are not files beside it that hold each "
		                   "column once",
		                   place->path, table->name);
	const int first =
		status == CAL_OK && map.file_of ? map.file_of[0] : 0; // the time comes before what is compared with it
	for (int i = 0; i < map.file_count && status == CAL_OK; i++)
		status = read_part(place, &map, (first + i) % map.file_count, table, error);
	part_map_free(&map);
	return status;
}

static CalStatus read_table(hid_t file, const StreamPlace *place, const char *name, CalResultsTable *table,
                            CalError *error) {
	char at[256], why[200] = "";
	table->name = copy_of(name);
	if (!table->name || !stream_path(name, at))
		return error_set(error, CAL_ERR_MEMORY, "%.300s: %s", place->path, cal_status_text(CAL_ERR_MEMORY));
	const hid_t joined = place->is_part ? -1 : schema_joined_table(file, at);
	const hid_t dataset = joined < 0 ? schema_dataset(file, at, SCHEMA_FLOAT, 2) : -1;
	CalStatus status = CAL_OK;
	if (joined >= 0)
		status = read_joined(joined, place, at, table, error);
	else if (dataset < 0 || !read_rows(dataset, table, why, sizeof why))
		status = error_set(error, CAL_ERR_INPUT, "%.300s: stream \"%.80s\" cannot be read%s", place->path, name, why);
	H5Dclose(joined);
	H5Dclose(dataset);
	return status;
}

static CalStatus read_stream(hid_t file, const StreamPlace *place, CalResultsTable *table, CalError *error) {
	Texts names = {0};
	int64_t *dropped = NULL;
	CalStatus status = CAL_OK;
	if (!schema_is_results(file)) {
		status = not_results(place->path, "format", error);
	} else if (!read_status(file, &names, &dropped, &table->closed) || names.count == 0) {
		status = not_results(place->path, "/status", error);
	} else {
		int index = 0;
		while (place->name && index < names.count && strcmp(names.items[index], place->name) != 0)
			index++;
		if (index < names.count) {
			table->dropped = dropped[index];
			status = read_table(file, place, names.items[index], table, error);
		} else {
			status = no_such_stream(place->path, place->name, &names, error);
		}
	}
	free(dropped);
	texts_free(&names);
	return status;
}

CalStatus cal_results_read(const char *path, const char *stream, CalResultsTable *table, CalError *error) {
	if (!path || !table)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_results_read: path or table is NULL");
	*table = (CalResultsTable){0};
	Hdf5Turn turn;
	hdf5_enter(&turn);
	hid_t file = -1;
	CalStatus status = open_file(path, &file, error);
	if (status == CAL_OK)
		status = read_stream(file, &(StreamPlace){.path = path, .name = stream}, table, error);
	H5Fclose(file);
	hdf5_leave(&turn);
	if (status != CAL_OK)
		cal_results_table_free(table);
	return status;
}

/* ---- about the run ------------------------------------------------------------------------------ */

/* The only text of an attribute. */
static bool read_text(hid_t object, const char *name, char **text) {
	Texts texts = {0};
	const bool done = read_texts(object, name, &texts) && texts.count == 1;
	if (done) {
		*text = texts.items[0];
		texts.items[0] = NULL;
	}
	texts_free(&texts);
	return done;
}

static bool read_model(hid_t file, CalResultsAbout *about) {
	hid_t dataset = schema_dataset(file, "/model", SCHEMA_TEXT, 0), type = schema_text_type();
	char *text = NULL;
	bool done = dataset >= 0 && read_text(dataset, "name", &about->model_name) &&
	            H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0;
	about->model_text = text ? copy_of(text) : NULL;
	H5free_memory(text);
	H5Tclose(type);
	H5Dclose(dataset);
	return done && about->model_text;
}

/* A list of texts that is a dataset. */
static bool read_list(hid_t file, const char *path, Texts *texts) {
	*texts = (Texts){0};
	hid_t dataset = schema_dataset(file, path, SCHEMA_TEXT, 1), space = H5Dget_space(dataset);
	hid_t type = schema_text_type();
	const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
	const bool sound = count >= 0 && count < 1 << 24 && !is_sparse(dataset, (hsize_t)count * sizeof(char *));
	char **read = sound ? calloc((size_t)count + 1, sizeof *read) : NULL;
	const bool got = read && (count == 0 || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0);
	const bool done = keep_texts(got, read, count, type, space, texts);
	H5Dclose(dataset);
	return done;
}

/* A run without events has none of this. */
static bool read_actions(hid_t file, CalResultsAbout *about) {
	Texts events = {0}, actions = {0};
	if (H5Lexists(file, "/events", H5P_DEFAULT) <= 0)
		return true;
	const bool done = read_list(file, "/events/names", &events) && read_list(file, "/events/actions", &actions) &&
	                  events.count == actions.count;
	if (done) {
		about->events = events.items;
		about->actions = actions.items;
		about->action_count = events.count;
	} else {
		texts_free(&events);
		texts_free(&actions);
	}
	return done;
}

static double read_double(hid_t object, const char *name) {
	double value = NAN;
	hid_t attribute = schema_attribute(object, name, SCHEMA_FLOAT), space = H5Aget_space(attribute);
	if (space < 0 || H5Sget_simple_extent_npoints(space) != 1 || H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0)
		value = NAN;
	H5Sclose(space);
	H5Aclose(attribute);
	return value;
}

/* A file whose writer did not know the method has none of this. */
static bool read_method(hid_t root, CalResultsAbout *about) {
	about->step = read_double(root, "step");
	about->rtol = read_double(root, "rtol");
	about->atol = read_double(root, "atol");
	if (H5Aexists(root, "method") > 0)
		return read_text(root, "method", &about->method);
	about->method = copy_of("");
	return about->method != NULL;
}

/* NULL, or what is missing or not as it should be. */
static const char *read_about(hid_t file, CalResultsAbout *about) {
	int64_t *dropped = NULL;
	Texts names = {0};
	const char *wrong = !schema_is_results(file)                                         ? "format"
	                    : !read_text(file, "title", &about->title)                       ? "title"
	                    : !read_text(file, "software_version", &about->software_version) ? "software_version"
	                    : !read_text(file, "created", &about->created)                   ? "created"
	                    : !read_model(file, about)                                       ? "/model"
	                    : !read_actions(file, about)                                     ? "/events"
	                    : !read_method(file, about)                                      ? "method"
	                    : !doubts_read(file, &about->doubts, &about->doubt_count)        ? "/doubts"
	                    : !read_status(file, &names, &dropped, &about->closed)           ? "/status"
	                                                                                     : NULL;
	free(dropped);
	if (wrong) {
		texts_free(&names);
	} else {
		about->streams = names.items;
		about->stream_count = names.count;
	}
	return wrong;
}

CalStatus cal_results_about(const char *path, CalResultsAbout *about, CalError *error) {
	if (!path || !about)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_results_about: path or about is NULL");
	*about = (CalResultsAbout){0};
	Hdf5Turn turn;
	hdf5_enter(&turn);
	hid_t file = -1;
	CalStatus status = open_file(path, &file, error);
	const char *wrong = status == CAL_OK ? read_about(file, about) : NULL;
	if (wrong)
		status = not_results(path, wrong, error);
	H5Fclose(file);
	hdf5_leave(&turn);
	if (status != CAL_OK)
		cal_results_about_free(about);
	return status;
}

#else

static CalStatus without_hdf5(const char *path, CalError *error) {
	return error_set(error, CAL_ERR_UNSUPPORTED,
	                 "%.300s: this build reads no HDF5; install it (Debian: libhdf5-dev) and build again with "
	                 "CALDER_WITH_HDF5=ON",
	                 path);
}

CalStatus cal_results_about(const char *path, CalResultsAbout *about, CalError *error) {
	if (!path || !about)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_results_about: path or about is NULL");
	*about = (CalResultsAbout){0};
	return without_hdf5(path, error);
}

CalStatus cal_results_read(const char *path, const char *stream, CalResultsTable *table, CalError *error) {
	(void)stream;
	if (!path || !table)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_results_read: path or table is NULL");
	*table = (CalResultsTable){0};
	return without_hdf5(path, error);
}

#endif
