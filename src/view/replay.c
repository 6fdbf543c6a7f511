// SPDX-License-Identifier: Apache-2.0
/*
 * replay.c — a result file as a document for the viewer: the scene of its model, and what its streams say about it.
 *
 * Frames come from the stream that has the poses of bodies; every other column of every stream is a signal. Streams with more
 * rows than a screen can show are thinned out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/quantity.h>
#include <calder/results.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/name_index.h"
#include "view/packing.h"
#include "view/replay_run.h"
#include "view/scene.h"
#include "view/view_settings.h"

static bool index_columns(const CalResultsTable *table, NameIndex *names) {
	const CalAllocator allocator = allocator_or_default(NULL);
	for (int i = 0; i < table->column_count; i++) {
		const char *name = table->columns[i].name;
		if (!name_index_reserve(&allocator, names))
			return false;
		name_index_insert(names, name_hash(0, name, strlen(name)), (uint32_t)i + 1);
	}
	return true;
}

static CalStatus run_read(Run *run, const char *path, int max_frames, CalError *error) {
	*run = (Run){.path = path, .frames = -1, .max_rows = max_frames > 0 ? (size_t)max_frames : 3000, .error = error};
	CalStatus status = cal_results_about(path, &run->about, error);
	if (status != CAL_OK)
		return status;
	status = cal_model_file_parse(run->about.model_text, strlen(run->about.model_text), run->about.model_name, NULL,
	                              &run->setup, error);
	run->tables = calloc((size_t)run->about.stream_count + 1, sizeof *run->tables);
	run->names = calloc((size_t)run->about.stream_count + 1, sizeof *run->names);
	bool room = run->tables && run->names;
	for (int i = 0; i < run->about.stream_count && status == CAL_OK && room; i++) {
		status = cal_results_read(path, run->about.streams[i], &run->tables[i], error);
		room = status != CAL_OK || index_columns(&run->tables[i], &run->names[i]);
	}
	return status != CAL_OK || room ? status : error_set(error, CAL_ERR_MEMORY, "%.300s: out of memory", path);
}

static void run_free(Run *run) {
	const CalAllocator allocator = allocator_or_default(NULL);
	for (int i = 0; run->tables && run->names && i < run->about.stream_count; i++) {
		cal_results_table_free(&run->tables[i]);
		name_index_free(&allocator, &run->names[i]);
	}
	free(run->tables);
	free(run->names);
	free(run->bodies);
	cal_setup_destroy(run->setup);
	cal_results_about_free(&run->about);
}

/* ---- columns ------------------------------------------------------------------------------------------ */

static int find_column(const Run *run, int stream, const char *name) {
	const CalResultsTable *table = &run->tables[stream];
	const uint32_t hash = name_hash(0, name, strlen(name));
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&run->names[stream], hash, &cursor)) != 0)
		if (strcmp(table->columns[value - 1].name, name) == 0)
			return (int)value - 1;
	return -1;
}

/*
 * The first of the columns of a quantity of a body, "pose:hub.x", which follow one another; -1: they are not there. Earlier
 * versions wrote "pose:hub:x".
 */
static int quantity_columns(const Run *run, int stream, const char *word, const char *body) {
	const CalResultsTable *table = &run->tables[stream];
	CalQuantityInfo info;
	char name[512];
	if (cal_quantity(cal_quantity_find(word), &info) != CAL_OK)
		return -1;
	char mark = '.';
	snprintf(name, sizeof name, "%s:%.480s%c%s", word, body, mark, info.components[0]);
	int first = find_column(run, stream, name);
	if (first < 0) {
		mark = ':';
		snprintf(name, sizeof name, "%s:%.480s%c%s", word, body, mark, info.components[0]);
		first = find_column(run, stream, name);
	}
	if (first < 0 || table->column_count - first < info.component_count)
		return -1;
	for (int k = 1; k < info.component_count; k++) {
		snprintf(name, sizeof name, "%s:%.480s%c%s", word, body, mark, info.components[k]);
		if (strcmp(table->columns[first + k].name, name) != 0)
			return -1;
	}
	return first;
}

/* Modes count from 1; in files of earlier versions from 0, and eta0 is there. */
int run_eta_column(const Run *run, const char *body, int mode) {
	char name[512];
	snprintf(name, sizeof name, "q:%.480s.eta0", body);
	const int first = find_column(run, run->frames, name) >= 0 ? 0 : 1;
	snprintf(name, sizeof name, "q:%.480s.eta%d", body, first + mode);
	return find_column(run, run->frames, name);
}

const char *run_body_name(const Run *run, int body) {
	return cal_desc_body(cal_setup_desc(run->setup), (CalBodyId){(uint32_t)body + 1})->name;
}

static BodyColumns body_columns(const Run *run, int stream, int body) {
	const char *name = run_body_name(run, body);
	return (BodyColumns){.pose = quantity_columns(run, stream, "pose", name),
	                     .velocity = quantity_columns(run, stream, "velocity", name)};
}

/* The table in which most bodies have a pose; of two such, the one with more velocities. */
static CalStatus find_frames(Run *run) {
	int most = 0;
	run->body_count = cal_desc_body_count(cal_setup_desc(run->setup));
	for (int i = 0; i < run->about.stream_count; i++) {
		int poses = 0, velocities = 0;
		for (int b = 0; b < run->body_count && run->tables[i].row_count; b++) {
			const BodyColumns columns = body_columns(run, i, b);
			poses += columns.pose >= 0;
			velocities += columns.pose >= 0 && columns.velocity >= 0;
		}
		if (poses > 0 && 2 * poses + (velocities > 0) > most) {
			most = 2 * poses + (velocities > 0);
			run->frames = i;
		}
	}
	if (run->frames < 0)
		return error_set(run->error, CAL_ERR_INPUT,
		                 "%.300s: holds no poses of bodies; run the model again with this version, or record the "
		                 "signal \"pose\"",
		                 run->path);
	run->bodies = malloc((size_t)(run->body_count + 1) * sizeof *run->bodies);
	if (!run->bodies)
		return error_set(run->error, CAL_ERR_MEMORY, "%.300s: out of memory", run->path);
	for (int b = 0; b < run->body_count; b++)
		run->bodies[b] = body_columns(run, run->frames, b);
	return CAL_OK;
}

static const char event_log[] = "events/log";

static bool is_log(const Run *run, int stream) { return strcmp(run->about.streams[stream], event_log) == 0; }

/* Every row of the log of events names an action that the file has. */
static CalStatus check_log(const Run *run) {
	for (int i = 0; i < run->about.stream_count; i++) {
		const CalResultsTable *log = &run->tables[i];
		const int action = is_log(run, i) ? find_column(run, i, "action") : -1;
		for (size_t k = 0; action >= 0 && k < log->row_count; k++) {
			const double number = log->rows[k * (size_t)log->column_count + (size_t)action];
			if (!(number >= 0 && number < run->about.action_count))
				return error_set(run->error, CAL_ERR_INPUT,
				                 "%.300s: row %zu of %s names action %g, but /events/actions has %d; the file is "
				                 "damaged",
				                 run->path, k, event_log, number, run->about.action_count);
		}
	}
	return CAL_OK;
}

/* ---- rows that are shown ------------------------------------------------------------------------------- */

static size_t thinned(const CalResultsTable *table, size_t most) {
	return table->row_count > most ? (table->row_count + most - 1) / most : 1;
}

/*
 * Frames are thinned out no further than that every body turns by less than a quarter turn from one to the next, unless the
 * caller has said how many there are to be, or the document would become too large.
 */
static size_t find_stride(const Run *run, bool given) {
	static const size_t most_numbers = (size_t)1 << 23;
	const CalResultsTable *table = &run->tables[run->frames];
	double fastest = 0;
	for (int b = 0; b < run->body_count; b++)
		if (run->bodies[b].pose >= 0)
			fastest = fmax(fastest, turns_fastest(run->bodies[b], table));
	const size_t stride = thinned(table, run->max_rows);
	if (given || !(fastest * (double)stride > TURNS_LIMIT))
		return stride;
	const size_t rows = most_numbers / (13 * (size_t)run->body_count), least = thinned(table, rows > 2 ? rows : 2);
	const double wanted = floor(TURNS_LIMIT / fastest);
	const size_t finer = wanted > 1 ? (size_t)wanted : 1;
	return finer > least ? finer : least < stride ? least : stride;
}

static size_t stride_of(const Run *run, const CalResultsTable *table) {
	return table == &run->tables[run->frames] ? run->frame_stride : thinned(table, run->max_rows);
}

/* The first, every so many, and the last. */
size_t run_shown_count(const Run *run, const CalResultsTable *table) {
	const size_t stride = stride_of(run, table);
	return table->row_count == 0 ? 0 : (table->row_count - 2 + stride) / stride + 1;
}

size_t run_shown_index(const Run *run, const CalResultsTable *table, size_t i) {
	const size_t row = i * stride_of(run, table);
	return row >= table->row_count || i + 1 == run_shown_count(run, table) ? table->row_count - 1 : row;
}

const double *run_shown_row(const Run *run, const CalResultsTable *table, size_t i) {
	return table->rows + run_shown_index(run, table, i) * (size_t)table->column_count;
}

void run_write_times(JsonWriter *d, const Run *run, const CalResultsTable *table) {
	const size_t count = run_shown_count(run, table);
	json_writer_array(d, "f64", 1, (size_t[]){count});
	for (size_t i = 0; i < count; i++)
		json_writer_f64(d, run_shown_row(run, table, i)[0]);
	json_writer_array_end(d);
}

static void write_column(JsonWriter *d, const Run *run, const CalResultsTable *table, int column) {
	const size_t count = run_shown_count(run, table);
	Packing packing = packing_floats(d, 1, (size_t[]){count});
	for (size_t i = 0; i < count; i++)
		packing_put_float(&packing, run_shown_row(run, table, i)[column]);
	packing_end(&packing);
}

/* ---- signals ------------------------------------------------------------------------------------------ */

/* The object of a column, as a page selects it; NULL: none that it can. `text` is its name. */
static const char *object_kind(const CalDesc *desc, const char *name, char text[512]) {
	CalQuantityName parts;
	CalQuantityInfo info;
	if (cal_quantity_split(name, &parts) != CAL_OK || !parts.object || cal_quantity(parts.quantity, &info) != CAL_OK)
		return NULL;
	snprintf(text, 512, "%s", parts.object);
	const bool joint = info.about == CAL_ABOUT_COORDINATE || info.about == CAL_ABOUT_JOINT;
	if (!joint || !cal_desc_find_joint(desc, text).value) // no joint has the whole as its name
		snprintf(text, 512, "%.*s", parts.object_length < 511 ? parts.object_length : 511, parts.object);
	switch (info.about) {
	case CAL_ABOUT_COORDINATE:
		return parts.component && strncmp(parts.component, "eta", 3) == 0 && cal_desc_find_body(desc, text).value
		           ? "body"
		           : "joint";
	case CAL_ABOUT_JOINT:
		return "joint";
	case CAL_ABOUT_NODE:
		return strchr(text, ',') ? NULL : cal_desc_find_body(desc, text).value ? "body" : "node";
	case CAL_ABOUT_LOOP:
		return "loop";
	case CAL_ABOUT_DEVICE:
		return "device";
	default:
		return NULL;
	}
}

static void write_about(JsonWriter *d, const CalDesc *desc, const char *name) {
	char text[512];
	const char *kind = object_kind(desc, name, text);
	if (!kind)
		return;
	json_writer_key(d, "about");
	json_writer_open(d, '{');
	json_writer_put_text(d, "kind", kind);
	json_writer_put_text(d, "name", text);
	json_writer_close(d);
}

/* Whether a stream before has a column of that name. */
static bool is_double(const Run *run, int stream, int column) {
	for (int i = 0; i < stream; i++)
		if (!is_log(run, i) && find_column(run, i, run->tables[stream].columns[column].name) >= 0)
			return true;
	return false;
}

/* Poses, and the velocities that the recorder adds to them. */
static bool is_frame(const Run *run, int stream, const char *name) {
	return stream == run->frames &&
	       (strncmp(name, "pose:", 5) == 0 ||
	        (strcmp(run->about.streams[stream], "replay") == 0 && strncmp(name, "velocity:", 9) == 0));
}

static void write_signals(JsonWriter *d, const Run *run) {
	json_writer_key(d, "times");
	json_writer_open(d, '[');
	for (int i = 0; i < run->about.stream_count; i++)
		run_write_times(d, run, &run->tables[i]);
	json_writer_close(d);
	json_writer_key(d, "signals");
	json_writer_open(d, '[');
	for (int i = 0; i < run->about.stream_count; i++) {
		const CalResultsTable *table = &run->tables[i];
		for (int c = 1; c < table->column_count && table->row_count && !is_log(run, i); c++) {
			if (is_frame(run, i, table->columns[c].name) || is_double(run, i, c))
				continue; // these are the frames, or stand in an earlier stream too
			json_writer_open(d, '{');
			json_writer_put_text(d, "name", table->columns[c].name);
			json_writer_put_text(d, "unit", table->columns[c].unit);
			write_about(d, cal_setup_desc(run->setup), table->columns[c].name);
			json_writer_put_number(d, "t", i);
			json_writer_key(d, "values");
			write_column(d, run, table, c);
			json_writer_close(d);
		}
	}
	json_writer_close(d);
}

/* ---- events ---------------------------------------------------------------------------------------------- */

static const char *event_kind(const char *words) {
	return strncmp(words, "attach", 6) == 0 || strncmp(words, "reattach", 8) == 0 || strncmp(words, "close", 5) == 0
	           ? "attach"
	       : strncmp(words, "detach", 6) == 0 || strncmp(words, "open", 4) == 0 ? "detach"
	       : strncmp(words, "lock", 4) == 0                                     ? "lock"
	                                                                            : "other";
}

static void write_events(JsonWriter *d, const Run *run) {
	json_writer_key(d, "events");
	json_writer_open(d, '[');
	for (int i = 0; i < run->about.stream_count; i++) {
		const CalResultsTable *log = &run->tables[i];
		const int action = is_log(run, i) ? find_column(run, i, "action") : -1,
				  lost = find_column(run, i, "kinetic_lost");
		for (size_t k = 0; action >= 0 && lost >= 0 && k < log->row_count; k++) {
			const double *row = log->rows + k * (size_t)log->column_count;
			const int number = (int)row[action]; // check_log() has looked at it
			json_writer_open(d, '{');
			json_writer_put_number(d, "t", row[0]);
			json_writer_put_text(d, "name", run->about.events[number]);
			json_writer_put_text(d, "text", run->about.actions[number]);
			json_writer_put_text(d, "kind", event_kind(run->about.actions[number]));
			json_writer_put_number(d, "kinetic_lost", row[lost]);
			json_writer_close(d);
		}
	}
	json_writer_close(d);
}

/* ---- the document -------------------------------------------------------------------------------------- */

static CalStatus write_ghost(JsonWriter *d, const char *path, int max_frames, CalError *error) {
	Run ghost;
	CalStatus status = run_read(&ghost, path, max_frames, error);
	if (status == CAL_OK)
		status = find_frames(&ghost);
	if (status == CAL_OK)
		status = check_log(&ghost);
	if (status == CAL_OK) {
		ghost.frame_stride = find_stride(&ghost, max_frames > 0);
		json_writer_key(d, "ghost");
		json_writer_open(d, '{');
		json_writer_put_text(d, "title", ghost.about.title);
		status = scene_write(d, ghost.setup, false, error);
		if (status == CAL_OK)
			status = frames_write(d, &ghost);
		write_signals(d, &ghost);
		json_writer_close(d);
	}
	run_free(&ghost);
	return status;
}

static CalStatus write_document(JsonWriter *d, const Run *run, const CalReplayOptions *options) {
	json_writer_open(d, '{');
	json_writer_put_text(d, "format", "calder-replay");
	json_writer_put_number(d, "version", 1);
	json_writer_put_text(d, "title", options->title ? options->title : run->about.title);
	json_writer_put_text(d, "software", "calder");
	json_writer_put_text(d, "software_version", run->about.software_version);
	json_writer_put_text(d, "created", run->about.created);
	json_writer_put_text(d, "model_name", run->about.model_name);
	CalStatus status = view_settings_check(run->setup, options->view, run->error);
	if (status == CAL_OK)
		status = scene_write(d, run->setup, false, run->error);
	view_settings_write(d, run->setup, options->view);
	if (status == CAL_OK)
		status = frames_write(d, run);
	write_signals(d, run);
	write_events(d, run);
	badges_write(d, run);
	if (status == CAL_OK && options->ghost)
		status = write_ghost(d, options->ghost, options->max_frames, run->error);
	json_writer_close(d);
	return status;
}

static const char marker[] = "@CALDER_REPLAY_JSON@";

/* Where the document goes in the page; NULL after reporting that it has no such place. */
static const char *find_marker(const CalReplayOptions *options, CalError *error) {
	const size_t length = sizeof marker - 1;
	for (size_t i = 0; i + length <= options->page_length; i++)
		if (memcmp(options->page + i, marker, length) == 0)
			return options->page + i;
	error_set(error, CAL_ERR_ARGUMENT, "cal_replay_write: the page has no place for the document (%s)", marker);
	return NULL;
}

static CalStatus write_page(JsonWriter *d, const Run *run, const CalReplayOptions *options) {
	const char *at = options->page ? find_marker(options, run->error) : NULL;
	if (options->page && !at)
		return CAL_ERR_ARGUMENT;
	if (at)
		fwrite(options->page, 1, (size_t)(at - options->page), d->out);
	CalStatus status = write_document(d, run, options);
	const char *rest = at ? at + sizeof marker - 1 : NULL;
	if (at)
		fwrite(rest, 1, options->page_length - (size_t)(rest - options->page), d->out);
	if (status == CAL_OK && (fflush(d->out) != 0 || ferror(d->out)))
		status = error_set(run->error, CAL_ERR_IO, "the replay could not be written; is the disk full?");
	return status;
}

CalStatus cal_replay_write(const char *results, const CalReplayOptions *options, FILE *out, CalError *error) {
	if (!results || !out)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_replay_write: results or out is NULL");
	const CalReplayOptions none = {0};
	options = options ? options : &none;
	Run run;
	JsonWriter document = {.out = out};
	CalStatus status = run_read(&run, results, options->max_frames, error);
	if (status == CAL_OK)
		status = find_frames(&run);
	if (status == CAL_OK)
		status = check_log(&run);
	if (status == CAL_OK) {
		run.frame_stride = find_stride(&run, options->max_frames > 0);
		status = write_page(&document, &run, options);
	}
	run_free(&run);
	return status;
}
