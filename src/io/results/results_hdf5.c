// SPDX-License-Identifier: Apache-2.0
/*
 * results_hdf5.c — streams as an HDF5 file (layout: docs/results.md).
 *
 * Everything but rows and two small tables of numbers is written at the start. Then the file goes into the mode for one
 * writer and many readers, in which no objects or attributes can be added and metadata reach the disk in a safe
 * order; results_hdf5_file.c says what else a file needs to be readable after a crash. What changes during the run is
 * in /status, whose numbers are overwritten in place. The file is made beside its place and moved there as soon as readers
 * can open it, before the first row (docs/decisions/0015).
 */
#define _POSIX_C_SOURCE 200809L // gmtime_r, pthread

#include <string.h>

#include "io/results/results_sink.h"

#ifdef CALDER_WITH_HDF5

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "io/results/results_assembly.h"
#include "io/results/results_doubts.h"
#include "io/results/results_hdf5.h"
#include "io/results/results_names.h"
#include "io/results/results_parts.h"
#include "io/results/results_schema.h"

/* ---- one thread at a time ---------------------------------------------------------------------- */

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;

void hdf5_enter(Hdf5Turn *turn) {
	pthread_mutex_lock(&turn_lock);
	*turn = (Hdf5Turn){0};
	H5Eget_auto2(H5E_DEFAULT, &turn->print, &turn->user);
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void hdf5_leave(const Hdf5Turn *turn) {
	H5Eset_auto2(H5E_DEFAULT, turn->print, turn->user);
	pthread_mutex_unlock(&turn_lock);
}

/* ---- the sink ---------------------------------------------------------------------------------- */

typedef struct Hdf5Stream {
	hid_t dataset; // -1: of another file
	hsize_t rows, width;
} Hdf5Stream;

typedef struct Hdf5Sink {
	Sink base;
	CalOutput *output;
	bool published; // the file is in its place
	CrashSafe state;
	hid_t file, closed, dropped, doubts;
	int64_t *own_dropped; // [own_count]
	int stream_count, own_count;
	Hdf5Stream streams[]; // [stream_count]
} Hdf5Sink;

static CalStatus cannot_write(const Hdf5Sink *sink, CalError *error) {
	if (sink->state.cause)
		return error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s%s", sink->base.path,
		                 strerror(sink->state.cause), sink->published ? "; what was written until then is kept" : "");
	return error_set(error, CAL_ERR_IO, "%.400s: cannot be written: HDF5 refuses; is there memory left?",
	                 sink->base.path);
}

static bool append_rows(Hdf5Stream *stream, const double *rows, size_t count) {
	hsize_t extent[2] = {stream->rows + count, stream->width};
	hsize_t start[2] = {stream->rows, 0}, block[2] = {count, stream->width};
	if (H5Dset_extent(stream->dataset, extent) < 0)
		return false;
	hid_t space = H5Dget_space(stream->dataset), memory = H5Screate_simple(2, block, NULL);
	bool done = space >= 0 && memory >= 0 &&
	            H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL) >= 0 &&
	            H5Dwrite(stream->dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, rows) >= 0;
	H5Sclose(space);
	H5Sclose(memory);
	stream->rows += count;
	return done;
}

/* Flushed at once: the rows must not reach the disk later than the number of them. */
static CalStatus hdf5_write(Sink *base, int stream, const double *rows, size_t count, CalError *error) {
	Hdf5Sink *sink = (Hdf5Sink *)base;
	Hdf5Turn turn;
	hdf5_enter(&turn);
	bool done = append_rows(&sink->streams[stream], rows, count) && H5Fflush(sink->file, H5F_SCOPE_LOCAL) >= 0;
	hdf5_leave(&turn);
	return done && !sink->state.cause ? CAL_OK : cannot_write(sink, error);
}

static bool put_status(Hdf5Sink *sink, const int64_t *dropped) {
	int own = 0;
	for (int i = 0; i < sink->stream_count; i++)
		if (sink->streams[i].dataset >= 0)
			sink->own_dropped[own++] = dropped[i];
	return H5Dwrite(sink->dropped, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, sink->own_dropped) >= 0 &&
	       H5Fflush(sink->file, H5F_SCOPE_LOCAL) >= 0;
}

static CalStatus hdf5_flush(Sink *base, const SinkStatus *now, CalError *error) {
	Hdf5Sink *sink = (Hdf5Sink *)base;
	Hdf5Turn turn;
	hdf5_enter(&turn);
	bool done = put_status(sink, now->dropped);
	hdf5_leave(&turn);
	return done && !sink->state.cause ? CAL_OK : cannot_write(sink, error);
}

static void release_sink(Hdf5Sink *sink) {
	cal_output_close(sink->output);
	memory_free(sink->base.allocator, sink->own_dropped);
	memory_free(sink->base.allocator, sink);
}

/* Closing the file closes all that is open in it (H5F_CLOSE_STRONG). */
static CalStatus hdf5_close(Sink *base, const SinkStatus *now, CalError *error) {
	Hdf5Sink *sink = (Hdf5Sink *)base;
	static const int64_t yes = 1;
	bool failed_before = sink->state.cause != 0;
	Hdf5Turn turn;
	hdf5_enter(&turn);
	bool done = failed_before || (doubts_write(sink->doubts, now->doubts, now->doubt_count) &&
	                              put_status(sink, now->dropped) && !sink->state.cause &&
	                              H5Dwrite(sink->closed, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &yes) >= 0);
	done = H5Fclose(sink->file) >= 0 && done;
	crash_safe_release(&sink->state);
	hdf5_leave(&turn);
	CalStatus status = (done && !sink->state.cause) || failed_before ? CAL_OK : cannot_write(sink, error);
	release_sink(sink);
	return status;
}

/* ---- what is written at the start -------------------------------------------------------------- */

/* count < 0: one value and not a list of them. */
bool hdf5_put_attribute(hid_t object, const char *name, hid_t type, int count, const void *values) {
	hsize_t size = count > 0 ? (hsize_t)count : 0;
	hid_t space = count < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
	hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	bool done = attribute >= 0 && (count == 0 || H5Awrite(attribute, type, values) >= 0);
	H5Aclose(attribute);
	H5Sclose(space);
	return done;
}

bool hdf5_put_texts(hid_t object, const char *name, int count, const char *const *texts) {
	hid_t type = schema_text_type();
	bool done = hdf5_put_attribute(object, name, type, count, texts);
	H5Tclose(type);
	return done;
}

static bool put_text(hid_t object, const char *name, const char *text) {
	const char *given = text ? text : "";
	return hdf5_put_texts(object, name, -1, &given);
}

static bool put_double(hid_t object, const char *name, double value) {
	return hdf5_put_attribute(object, name, H5T_NATIVE_DOUBLE, -1, &value);
}

static bool put_time(hid_t file) {
	char text[40] = "";
	time_t now = time(NULL);
	struct tm parts;
	if (gmtime_r(&now, &parts))
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
	return put_text(file, "created", text);
}

static bool put_method(hid_t file, const CalIntegratorOptions *method) {
	if (!method)
		return true;
	const CalIntegratorOptions used = cal_integrator_options(method);
	return put_text(file, "method", cal_method_name(used.method)) && put_double(file, "step", used.step) &&
	       put_double(file, "rtol", used.rtol) && put_double(file, "atol", used.atol) &&
	       put_double(file, "min_step", used.min_step) && put_double(file, "max_step", used.max_step);
}

static bool put_header(hid_t file, const CalResultsOptions *options) {
	const int version = HDF5_RESULTS_VERSION;
	return put_text(file, "format", HDF5_RESULTS_FORMAT) &&
	       hdf5_put_attribute(file, "format_version", H5T_NATIVE_INT, -1, &version) &&
	       put_text(file, "software", "calder") && put_text(file, "software_version", cal_version()) &&
	       put_time(file) && put_text(file, "title", options->title) && put_method(file, options->method) &&
	       put_double(file, "start_time", options->sim ? cal_sim_time(options->sim) : 0) &&
	       hdf5_put_attribute(file, "seeds", H5T_NATIVE_UINT64, options->seed_count, options->seeds);
}

/* A dataset of texts; count < 0: one. */
hid_t hdf5_put_text_dataset(hid_t place, const char *name, int count, const char *const *texts) {
	hsize_t size = count > 0 ? (hsize_t)count : 0;
	hid_t type = schema_text_type(), space = count < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
	hid_t dataset = H5Dcreate2(place, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	if (dataset >= 0 && count != 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) < 0) {
		H5Dclose(dataset);
		dataset = -1;
	}
	H5Sclose(space);
	H5Tclose(type);
	return dataset;
}

static bool put_model(hid_t file, const CalResultsOptions *options) {
	const char *text = options->model_text ? options->model_text : "";
	hid_t dataset = hdf5_put_text_dataset(file, "model", -1, &text);
	bool done = dataset >= 0 && put_text(dataset, "name", options->model_name);
	H5Dclose(dataset);
	return done;
}

static bool put_names(hid_t file, const CalResultsOptions *options, const CalAllocator *allocator) {
	hid_t group = H5Gcreate2(file, "names", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	bool done = group >= 0;
	for (int kind = 0; kind < NAMES_KIND_COUNT && done && options->sim; kind++) {
		NameList list;
		if (!names_list(options->sim, (NamesKind)kind, allocator, &list)) {
			done = false;
			break;
		}
		hid_t dataset = hdf5_put_text_dataset(group, names_kind_text((NamesKind)kind), list.count, list.names);
		done = dataset >= 0 && hdf5_put_attribute(dataset, "group", H5T_NATIVE_INT, list.count, list.groups);
		H5Dclose(dataset);
		names_free(&list, allocator);
	}
	H5Gclose(group);
	return done;
}

static hid_t create_table(hid_t group, const CalResultsStream *stream) {
	hsize_t size[2] = {0, (hsize_t)stream->column_count}, most[2] = {H5S_UNLIMITED, (hsize_t)stream->column_count};
	hsize_t chunk[2] = {sink_batch_rows(stream), (hsize_t)stream->column_count};
	hid_t space = H5Screate_simple(2, size, most), create = H5Pcreate(H5P_DATASET_CREATE);
	H5Pset_chunk(create, 2, chunk);
	H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
	hid_t dataset = H5Dcreate2(group, stream->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
	H5Pclose(create);
	H5Sclose(space);
	return dataset;
}

static bool put_columns(hid_t dataset, const CalResultsStream *stream, const CalAllocator *allocator) {
	const char **texts = memory_alloc(allocator, (size_t)stream->column_count * sizeof *texts);
	bool done = texts != NULL;
	for (int i = 0; done && i < stream->column_count; i++)
		texts[i] = stream->columns[i].name;
	done = done && hdf5_put_texts(dataset, "columns", stream->column_count, texts);
	for (int i = 0; done && i < stream->column_count; i++)
		texts[i] = stream->columns[i].unit;
	done = done && hdf5_put_texts(dataset, "units", stream->column_count, texts);
	memory_free(allocator, texts);
	return done && put_double(dataset, "interval", stream->interval);
}

/* The group of that name, made if it is not there. */
static hid_t open_group(hid_t file, const char *name) {
	if (H5Lexists(file, name, H5P_DEFAULT) > 0)
		return H5Gopen2(file, name, H5P_DEFAULT);
	return H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

static bool put_lists(hid_t group, const CalResultsStream *stream) {
	bool done = true;
	for (int i = 0; i < stream->text_count && done; i++) {
		const CalResultsTexts *texts = &stream->texts[i];
		hid_t dataset = hdf5_put_text_dataset(group, texts->name, texts->count, texts->items);
		done = dataset >= 0;
		H5Dclose(dataset);
	}
	return done;
}

static bool put_stream(Hdf5Sink *sink, const CalResultsStream *stream, Hdf5Stream *made) {
	hid_t group = open_group(sink->file, sink_group(stream));
	*made = (Hdf5Stream){.dataset = group < 0                ? -1
	                                : stream->part_count > 0 ? parts_create_table(group, stream)
	                                                         : create_table(group, stream),
	                     .width = (hsize_t)stream->column_count};
	sink->own_count++;
	bool done =
		made->dataset >= 0 && put_columns(made->dataset, stream, sink->base.allocator) && put_lists(group, stream);
	H5Gclose(group);
	return done;
}

static bool put_streams(Hdf5Sink *sink, const CalResultsOptions *options) {
	hid_t group = open_group(sink->file, "streams");
	bool done = group >= 0;
	for (int i = 0; i < options->stream_count && done; i++)
		if (strcmp(options->streams[i].path, sink->base.path) == 0)
			done = put_stream(sink, &options->streams[i], &sink->streams[i]);
	H5Gclose(group);
	return done;
}

/* Numbers that are overwritten in place: their room is there from the start. */
static hid_t create_numbers(hid_t group, const char *name, int count) {
	hsize_t size = count > 0 ? (hsize_t)count : 0;
	hid_t space = count < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
	hid_t create = H5Pcreate(H5P_DATASET_CREATE);
	H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY);
	H5Pset_fill_time(create, H5D_FILL_TIME_ALLOC);
	hid_t dataset = H5Dcreate2(group, name, H5T_STD_I64LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
	H5Pclose(create);
	H5Sclose(space);
	return dataset;
}

static bool put_status_tables(Hdf5Sink *sink, const CalResultsOptions *options) {
	const char **names = memory_alloc(sink->base.allocator, (size_t)sink->own_count * sizeof *names);
	char(*paths)[200] = memory_alloc(sink->base.allocator, (size_t)sink->own_count * sizeof *paths);
	hid_t group = H5Gcreate2(sink->file, "status", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	sink->own_dropped = memory_alloc(sink->base.allocator, (size_t)sink->own_count * sizeof *sink->own_dropped);
	bool done = names && paths && group >= 0 && sink->own_dropped;
	int own = 0;
	for (int i = 0; i < options->stream_count && done; i++) {
		const CalResultsStream *stream = &options->streams[i];
		if (sink->streams[i].dataset < 0)
			continue;
		if (stream->group)
			snprintf(paths[own], sizeof *paths, "%.90s/%.100s", stream->group, stream->name);
		names[own] = stream->group ? paths[own] : stream->name;
		own++;
	}
	if (done) {
		sink->closed = create_numbers(group, "closed", -1);
		sink->dropped = create_numbers(group, "dropped", own);
		done = sink->closed >= 0 && sink->dropped >= 0 && hdf5_put_texts(sink->dropped, "streams", own, names);
	}
	memory_free(sink->base.allocator, names);
	memory_free(sink->base.allocator, paths);
	H5Gclose(group);
	return done;
}

static bool create_file(Hdf5Sink *sink) {
	hid_t access = H5Pcreate(H5P_FILE_ACCESS);
	bool ready = access >= 0 && H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0 &&
	             H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 && crash_safe_create(access, &sink->state);
	if (ready)
		sink->file = H5Fcreate(cal_output_part(sink->output), H5F_ACC_TRUNC, H5P_DEFAULT, access);
	H5Pclose(access);
	return sink->file >= 0;
}

static const SinkOps hdf5_ops = {hdf5_write, hdf5_flush, hdf5_close};

CalStatus hdf5_sink_open(const CalResultsOptions *options, const char *path, const CalAllocator *allocator, Sink **sink,
                         CalError *error) {
	size_t count = (size_t)options->stream_count;
	Hdf5Sink *made = memory_alloc(allocator, sizeof *made + count * sizeof made->streams[0]);
	if (!made)
		return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", path);
	*made = (Hdf5Sink){
		.base = {&hdf5_ops, path, allocator}, .state.driver = -1, .file = -1, .stream_count = options->stream_count};
	for (size_t i = 0; i < count; i++)
		made->streams[i] = (Hdf5Stream){.dataset = -1};
	CalStatus status = cal_output_open(path, allocator, &made->output, error);
	if (status != CAL_OK) {
		release_sink(made);
		return status;
	}
	Hdf5Turn turn;
	hdf5_enter(&turn);
	bool done = create_file(made) && put_header(made->file, options) && put_model(made->file, options) &&
	            put_names(made->file, options, allocator) && assembly_write(made->file, options->sim, allocator) &&
	            put_streams(made, options) && put_status_tables(made, options) &&
	            (made->doubts = doubts_dataset(made->file)) >= 0 && H5Fstart_swmr_write(made->file) >= 0 &&
	            !made->state.cause;
	status = done ? cal_output_publish(made->output, error) : cannot_write(made, error);
	made->published = status == CAL_OK;
	if (!made->published) {
		H5Fclose(made->file);
		crash_safe_release(&made->state);
	}
	hdf5_leave(&turn);
	if (made->published)
		*sink = &made->base;
	else
		release_sink(made);
	return status;
}

#else

CalStatus hdf5_sink_open(const CalResultsOptions *options, const char *path, const CalAllocator *allocator, Sink **sink,
                         CalError *error) {
	(void)options;
	(void)allocator;
	(void)sink;
	return error_set(
		error, CAL_ERR_UNSUPPORTED,
		"%.400s: this build writes no HDF5; write CSV (.csv), or install HDF5 (Debian: libhdf5-dev) and build "
		"again with CALDER_WITH_HDF5=ON",
		path);
}

#endif
