// SPDX-License-Identifier: Apache-2.0
/*
 * record.c — streams of samples to result files (calder/results.h), and to a plot.
 *
 * Two streams whose samples nearly coincide take them at the same instant: the step between would be mere round-off.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doubts.h"
#include "record.h"

static const double coincidence = 1e-9; // of an interval

/* ---- streams ----------------------------------------------------------------------------------- */

RecordStream *record_add(Record *record) {
	RecordStream *stream = &record->streams[record->stream_count];
	if (cal_sampler_create(NULL, &stream->sampler, NULL) != CAL_OK)
		return NULL;
	record->stream_count++;
	stream->index = -1;
	return stream;
}

int record_create(Record *record, int stream_count, double start, double end) {
	*record = (Record){.streams = calloc((size_t)stream_count + 1, sizeof *record->streams),
	                   .start = start,
	                   .end = end,
	                   .event_stream = -1};
	if (!record->streams)
		return say_status("calder run", CAL_ERR_MEMORY, NULL);
	while (record->stream_count < stream_count)
		if (!record_add(record))
			return say_status("calder run", CAL_ERR_MEMORY, NULL);
	return EXIT_OK;
}

int record_set_path(RecordStream *stream, const char *path, bool several) {
	size_t size = strlen(path) + strlen(stream->name) + 2;
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
	int stem = dot && dot > path && (!slash || dot > slash + 1) ? (int)(dot - path) : (int)strlen(path);
	free(stream->path);
	stream->path = malloc(size);
	if (!stream->path)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	if (!several || cal_results_is_hdf5(path))
		snprintf(stream->path, size, "%s", path);
	else
		snprintf(stream->path, size, "%.*s-%s%s", stem, path, stream->name, path + stem);
	return EXIT_OK;
}

/* The library's errors begin with the path of the file. */
static int say_of_file(const Record *record, const char *path, CalStatus status, const CalError *error) {
	for (int i = 0; i < record->stream_count; i++) {
		const StreamParts *parts = record->streams[i].parts;
		const char *const own[] = {record->streams[i].path, parts ? parts->path : NULL};
		for (int k = 0; k < 2; k++)
			if (own[k] && strncmp(error->text, own[k], strlen(own[k])) == 0 && error->text[strlen(own[k])] == ':')
				path = own[k];
	}
	return say_status(path, status, error);
}

/* chosen[count] of its columns, NULL: all of them. */
static bool fill_stream(const RecordStream *stream, const char *path, const int *chosen, int count,
                        CalResultsStream *to) {
	CalResultsColumn *columns = calloc((size_t)count, sizeof *columns);
	for (int i = 0; columns && i < count; i++) {
		CalSamplerColumn column;
		cal_sampler_column(stream->sampler, chosen ? chosen[i] : i, &column);
		columns[i] = (CalResultsColumn){column.name, column.unit};
	}
	*to = (CalResultsStream){
		.name = stream->name, .path = path, .interval = stream->interval, .columns = columns, .column_count = count};
	return columns != NULL;
}

/* The file that joins the parts, on rank 0, which has the first; then this rank's own. */
static bool fill_parts(RecordStream *stream, CalResultsStream *streams, int *count) {
	const StreamParts *parts = stream->parts;
	bool done = true;
	if (parts->own == 0) {
		CalResultsStream *joined = &streams[(*count)++];
		done = fill_stream(stream, stream->path, NULL, cal_sampler_column_count(stream->sampler), joined);
		joined->parts = (const char *const *)parts->files;
		joined->part_count = parts->count;
		joined->part_of = parts->part_of;
	}
	if (parts->own >= 0) {
		stream->index = (*count)++;
		done &= fill_stream(stream, parts->path, parts->columns, parts->column_count, &streams[stream->index]);
	}
	return done;
}

/* Adds a stream to those of the results, if this rank writes any of it. */
static bool fill_results(RecordStream *stream, CalResultsStream *streams, int *count) {
	const int columns = cal_sampler_column_count(stream->sampler);
	stream->row = calloc((size_t)columns, sizeof(double));
	if (!stream->row || !stream->path || stream->elsewhere)
		return stream->row != NULL;
	if (stream->parts)
		return fill_parts(stream, streams, count);
	stream->index = (*count)++;
	return fill_stream(stream, stream->path, NULL, columns, &streams[stream->index]);
}

/* ---- events ------------------------------------------------------------------------------------ */

static const CalResultsColumn event_columns[] = {{"t", "s"},      {"action", "1"},    {"kinetic_lost", "J"},
                                                 {"misfit", "1"}, {"impulse", "N s"}, {"refused", "1"},
                                                 {"value", "1"}}; // only where pages set parameters
enum { EVENT_COLUMNS = sizeof event_columns / sizeof event_columns[0] };

static int event_column_count(const Record *record) { return EVENT_COLUMNS - (record->parameters == 0); }

/* Names of events and what they do, one of each for every action. */
typedef struct EventTexts {
	const char **names, **actions;
	char (*parameters)[300]; // actions that set them
	CalResultsTexts lists[2];
} EventTexts;

static bool event_texts(const Record *record, const CalSim *sim, EventTexts *texts) {
	const int own = cal_scenario_action_count(record->scenario), count = own + record->parameters;
	*texts = (EventTexts){.names = calloc((size_t)count + 1, sizeof *texts->names),
	                      .actions = calloc((size_t)count + 1, sizeof *texts->actions),
	                      .parameters = calloc((size_t)record->parameters + 1, sizeof *texts->parameters)};
	if (!texts->names || !texts->actions || !texts->parameters)
		return false;
	for (int i = 0; i < own; i++)
		cal_scenario_action(record->scenario, i, &texts->names[i], &texts->actions[i]);
	for (int i = 0; i < record->parameters; i++) {
		CalParameter p;
		if (cal_sim_parameter(sim, i, &p) == CAL_OK)
			snprintf(texts->parameters[i], sizeof *texts->parameters, "set %s", p.name);
		texts->names[own + i] = "parameter";
		texts->actions[own + i] = texts->parameters[i];
	}
	texts->lists[0] = (CalResultsTexts){"names", texts->names, count};
	texts->lists[1] = (CalResultsTexts){"actions", texts->actions, count};
	return true;
}

/* Another rank writes the first HDF5 file. */
static bool log_is_elsewhere(const Record *record) {
	for (int i = 0; i < record->stream_count; i++)
		if (record->streams[i].path && cal_results_is_hdf5(record->streams[i].path))
			return record->streams[i].elsewhere || (record->streams[i].parts && record->streams[i].parts->own != 0);
	return false;
}

/* A stream of its own for the log, in the first HDF5 file. */
static void add_event_stream(Record *record, CalResultsOptions *options, CalResultsStream *streams,
                             const EventTexts *texts) {
	for (int i = 0; i < options->stream_count && !log_is_elsewhere(record); i++) {
		if (!cal_results_is_hdf5(streams[i].path))
			continue;
		record->event_stream = options->stream_count++;
		streams[record->event_stream] = (CalResultsStream){.name = "log",
		                                                   .group = "events",
		                                                   .path = streams[i].path,
		                                                   .columns = event_columns,
		                                                   .column_count = event_column_count(record),
		                                                   .texts = texts->lists,
		                                                   .text_count = 2};
		return;
	}
}

int record_events(Record *record) {
	CalScenarioEntry entry;
	for (; record->event_stream >= 0 && record->events < cal_scenario_entry_count(record->scenario); record->events++) {
		if (cal_scenario_entry(record->scenario, record->events, &entry) != CAL_OK)
			continue; // not kept: more in one advance than the log holds
		double row[EVENT_COLUMNS] = {entry.time,    (double)entry.action,    entry.kinetic_lost, entry.misfit,
		                             entry.impulse, entry.refused != CAL_OK, entry.value};
		if (cal_results_put(record->results, record->event_stream, row) != CAL_OK)
			return EXIT_INPUT;
	}
	return EXIT_OK;
}

/* ---- files ------------------------------------------------------------------------------------- */

static int open_files(Record *record, CalResultsOptions *options, CalResultsStream *streams, const EventTexts *texts,
                      const char *path) {
	bool done = true;
	for (int i = 0; i < record->stream_count; i++)
		done &= fill_results(&record->streams[i], streams, &options->stream_count);
	if (!done)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	if (options->stream_count == 0)
		return EXIT_OK;
	if (cal_scenario_action_count(record->scenario) + record->parameters > 0)
		add_event_stream(record, options, streams, texts);
	CalError error = {0};
	options->streams = streams;
	CalStatus status = cal_results_create(options, &record->results, &error);
	return status == CAL_OK ? EXIT_OK : say_of_file(record, path, status, &error);
}

int record_open(Record *record, CalResultsOptions *options, const char *path) {
	CalResultsStream *streams = calloc(2 * (size_t)record->stream_count + 1, sizeof *streams); // joined, and parts
	EventTexts texts;
	options->stream_count = 0;
	int code = event_texts(record, options->sim, &texts) && streams ? open_files(record, options, streams, &texts, path)
	                                                                : say_status(path, CAL_ERR_MEMORY, NULL);
	for (int i = 0; streams && i < options->stream_count; i++)
		if (i != record->event_stream)
			free((void *)streams[i].columns);
	free(texts.names);
	free(texts.actions);
	free(texts.parameters);
	free(streams);
	options->streams = NULL;
	return code;
}

int record_divide(Record *record, int index, const CalSim *sim, int rank, int size) {
	RecordStream *stream = &record->streams[index];
	const int count = cal_sampler_column_count(stream->sampler);
	int code = parts_create(stream->sampler, sim, stream->path, rank, size, &stream->parts);
	unsigned char *wanted = calloc((size_t)count, sizeof *wanted);
	if (code == EXIT_OK && !wanted)
		code = say_status(stream->path, CAL_ERR_MEMORY, NULL);
	for (int i = 0; code == EXIT_OK && wanted && i < count; i++) // of a plot all, on the rank that draws it
		wanted[i] = stream->parts->part_of[i] == stream->parts->own || (record->keep && index == 0);
	if (code == EXIT_OK)
		cal_sampler_select(stream->sampler, wanted);
	free(wanted);
	return code;
}

/* ---- sampling ---------------------------------------------------------------------------------- */

/* When a stream with an interval wants its next sample. */
static double next_due(const Record *record, const RecordStream *stream) {
	double next = record->start + (double)stream->next * stream->interval;
	return next > record->end - coincidence * stream->interval ? record->end : next;
}

void record_resume(Record *record, double t) {
	for (int i = 0; i < record->stream_count; i++) {
		RecordStream *stream = &record->streams[i];
		if (!(stream->interval > 0))
			continue;
		const double k = rint((t - record->start) / stream->interval);
		const bool now = fabs(record->start + k * stream->interval - t) <= coincidence * stream->interval;
		stream->next = (int64_t)(now ? k : floor((t - record->start) / stream->interval) + 1);
	}
}

void record_return(Record *record, double t) {
	const size_t width = (size_t)cal_sampler_column_count(record->streams[0].sampler);
	while (record->kept > 0 && record->rows[(record->kept - 1) * width] > t)
		record->kept--;
	record_resume(record, t);
}

double record_next(const Record *record) {
	double next = record->end;
	for (int i = 0; i < record->stream_count; i++)
		if (record->streams[i].interval > 0 && !record->streams[i].along)
			next = fmin(next, next_due(record, &record->streams[i]));
	return next;
}

double record_next_step(const Record *record) {
	double next = record->end;
	for (int i = 0; i < record->stream_count; i++) {
		const RecordStream *stream = &record->streams[i];
		const double due = stream->interval > 0 && !stream->along ? next_due(record, stream) : record->end;
		if (due < record->end)
			next = fmin(next, due - coincidence * stream->interval);
	}
	return next;
}

bool record_wants_steps(const Record *record) {
	for (int i = 0; i < record->stream_count; i++)
		if (!(record->streams[i].interval > 0))
			return true;
	return false;
}

static bool is_due(const Record *record, const RecordStream *stream, double t) {
	return !(stream->interval > 0) || t >= next_due(record, stream) - coincidence * stream->interval ||
	       t >= record->end;
}

/* Appends the sample of the first stream to those kept. */
static bool keep_row(Record *record) {
	const RecordStream *stream = &record->streams[0];
	size_t width = (size_t)cal_sampler_column_count(stream->sampler);
	if (record->kept >= record->capacity) {
		size_t capacity = 2 * record->capacity + 1024;
		double *rows = realloc(record->rows, capacity * width * sizeof(double));
		if (!rows)
			return false;
		record->rows = rows;
		record->capacity = capacity;
	}
	memcpy(record->rows + record->kept++ * width, stream->row, width * sizeof(double));
	return true;
}

/*
 * From the angular velocities in the last sample: when the fastest body will have turned by `turn`. So many samples at most
 * are taken for that: a rotor at 10^4 rpm is shown by its angular velocity (docs/replay.md).
 */
static void expect_turn(const Record *record, RecordStream *stream) {
	static const double turn = 0.4, most = 20000; // [rad]
	double fastest = 0;
	for (int i = 0; i < stream->spin_count; i++) {
		const double *w = stream->row + stream->spins[i];
		const double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
		fastest = square > fastest ? square : fastest; // not for a body that is nowhere: NaN
	}
	stream->turn_due =
		fastest > 0 ? stream->row[0] + fmax(turn / sqrt(fastest), (record->end - record->start) / most) : INFINITY;
}

static int sample_stream(Record *record, RecordStream *stream, CalSim *sim, const char *path) {
	const bool wanted = !stream->elsewhere || (record->keep && stream == record->streams);
	CalStatus status = wanted ? cal_sampler_sample(stream->sampler, sim, stream->row) : CAL_OK;
	if (status != CAL_OK) {
		CalError error = {.status = status, .count = 1};
		char place[256];
		failure_place(sim, place, sizeof place);
		snprintf(error.text, sizeof error.text, "t = %.9g s: %s%s%s", cal_sim_time(sim), cal_status_text(status), place,
		         place[0] ? "" : "; try a smaller step and look at the loads");
		return say_status(path, status, &error);
	}
	if (stream->spin_count > 0)
		expect_turn(record, stream);
	stream->taken++;
	stream->next++;
	if (stream->along || (record->whole_steps && stream->interval > 0)) // whose times are those of others, or of steps
		stream->next = (int64_t)floor((cal_sim_time(sim) - record->start) / stream->interval + coincidence) + 1;
	if (record->keep && stream == record->streams && !keep_row(record))
		return say_status(path, CAL_ERR_MEMORY, NULL);
	const double *row = stream->parts ? parts_pick(stream->parts, stream->row) : stream->row;
	if (stream->index >= 0 && cal_results_put(record->results, stream->index, row) != CAL_OK)
		return EXIT_INPUT;
	return EXIT_OK;
}

int record_sample(Record *record, CalSim *sim, const char *path) {
	int code = EXIT_OK;
	for (int i = 0; i < record->stream_count && code == EXIT_OK; i++)
		if (is_due(record, &record->streams[i], cal_sim_time(sim)))
			code = sample_stream(record, &record->streams[i], sim, path);
	return code;
}

/* When a stream wants a further sample, INFINITY: not before the next one at its time. */
static double next_turn(const Record *record) {
	const double limit = record_next(record);
	double due = INFINITY;
	for (int i = 0; i < record->stream_count; i++)
		if (record->streams[i].spin_count > 0 && record->streams[i].turn_due < limit)
			due = fmin(due, record->streams[i].turn_due);
	return due;
}

static double watch_turns(void *user, CalSim *sim) {
	Record *record = user;
	const double t = cal_sim_time(sim);
	if (t >= record_next(record))
		return INFINITY; // a sample is taken there anyway
	for (int i = 0; i < record->stream_count && record->watched == EXIT_OK; i++) {
		RecordStream *stream = &record->streams[i];
		const int64_t next = stream->next;
		if (stream->spin_count == 0 || t < stream->turn_due)
			continue;
		record->watched = sample_stream(record, stream, sim, record->path);
		stream->next = next; // those at their times are taken all the same
	}
	return record->watched == EXIT_OK ? next_turn(record) : INFINITY;
}

void record_watch(Record *record, CalSim *sim, const char *path) {
	record->path = path;
	cal_sim_watch(sim, watch_turns, record, next_turn(record));
}

size_t record_taken(const Record *record) {
	size_t taken = 0;
	for (int i = 0; i < record->stream_count; i++)
		taken += record->streams[i].along ? 0 : record->streams[i].taken;
	return taken;
}

int record_finish(Record *record, const CalSim *sim, const char *path) {
	CalError error = {0};
	CalDoubt doubts[CAL_MAX_DOUBTS];
	if (!record->results)
		return EXIT_OK;
	CalStatus status = cal_results_set_doubts(record->results, doubts, doubts_of(sim, doubts));
	if (status != CAL_OK)
		return say_status(path, status, NULL);
	status = cal_results_finish(record->results, &error);
	return status == CAL_OK ? EXIT_OK : say_of_file(record, path, status, &error);
}

void record_free(Record *record) {
	for (int i = 0; i < record->stream_count; i++) {
		free(record->streams[i].path);
		free(record->streams[i].row);
		free(record->streams[i].spins);
		parts_destroy(record->streams[i].parts);
		cal_sampler_destroy(record->streams[i].sampler);
	}
	cal_results_destroy(record->results);
	free(record->streams);
	free(record->rows);
	*record = (Record){0};
}

/* ---- plot -------------------------------------------------------------------------------------- */

/* What is drawn of a stream; each column once. */
typedef struct PlotItems {
	PanelItem *items;
	bool *taken; // [column_count]
	int count;
} PlotItems;

static void add_item(PlotItems *plot, int column, int label) {
	if (!plot->taken[column])
		plot->items[plot->count++] = (PanelItem){.column = column, .label = label};
	plot->taken[column] = true;
}

/* The columns of a signal, or the one of that name. */
static void add_items(PlotItems *plot, const CalSampler *sampler, const Column *columns, const char *name) {
	int first, count;
	cal_sampler_find(sampler, name, &first, &count);
	for (int i = first; i < first + count; i++) {
		const bool own = strcmp(columns[i].name, name) == 0;
		add_item(plot, i, own ? panels_own_label(name) : columns[i].label);
	}
}

/* The columns of a sampler for a picture, from malloc. */
static Column *columns_of(const CalSampler *sampler, int count) {
	Column *columns = calloc((size_t)count, sizeof *columns);
	for (int i = 0; columns && i < count; i++) {
		CalSamplerColumn column;
		cal_sampler_column(sampler, i, &column);
		columns[i] = (Column){column.name, column.unit, column.label};
	}
	return columns;
}

/* Streams whose samples were not kept. */
static void note_others(const Record *record, char *note, size_t size) {
	note[0] = '\0';
	for (int i = 1, others = 0; i < record->stream_count; i++) {
		const size_t used = strlen(note);
		if (!record->streams[i].along && strcmp(record->streams[i].name, "replay") != 0)
			snprintf(note + used, size - used, "%s%.60s", others++ ? ", " : "not drawn: streams ",
			         record->streams[i].name);
	}
}

int record_plot(const Record *record, const char *svg_path, const char *title, const char *const *names, int count) {
	const CalSampler *sampler = record->streams[0].sampler;
	const int column_count = cal_sampler_column_count(sampler);
	Column *columns = columns_of(sampler, column_count);
	PlotItems plot = {.items = calloc((size_t)column_count, sizeof *plot.items),
	                  .taken = calloc((size_t)column_count, sizeof *plot.taken)};
	char note[200];
	note_others(record, note, sizeof note);
	Table table = {.columns = columns, .column_count = column_count, .rows = record->rows, .count = record->kept};
	int code = columns && plot.items && plot.taken ? EXIT_OK : say_status(svg_path, CAL_ERR_MEMORY, NULL);
	for (int i = 0; code == EXIT_OK && i < count; i++)
		add_items(&plot, sampler, columns, names[i]);
	if (code == EXIT_OK)
		code = panels_write(svg_path, title, &table, plot.items, plot.count, note);
	free(plot.items);
	free(plot.taken);
	free(columns);
	return code;
}
