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

#include <calder/results.h>

#include "base/error.h"
#include "view/arrows.h"
#include "view/flexible.h"
#include "view/scene.h"

typedef struct Run {
	const char *path;
	CalResultsAbout about;
	CalFile *file;
	CalResultsTable *tables; // [about.stream_count]
	int frames;              // index of the table with the poses
	size_t max_rows;
	CalError *error;
} Run;

static CalStatus run_read(Run *run, const char *path, int max_frames, CalError *error) {
	*run = (Run){.path = path, .frames = -1, .max_rows = max_frames > 0 ? (size_t)max_frames : 3000, .error = error};
	CalStatus status = cal_results_about(path, &run->about, error);
	if (status != CAL_OK)
		return status;
	status = cal_file_parse(run->about.model_text, strlen(run->about.model_text), run->about.model_name, NULL,
	                        &run->file, error);
	run->tables = calloc((size_t)run->about.stream_count + 1, sizeof *run->tables);
	if (status == CAL_OK && !run->tables)
		status = error_set(error, CAL_ERR_MEMORY, "%.300s: out of memory", path);
	for (int i = 0; i < run->about.stream_count && status == CAL_OK; i++)
		status = cal_results_read(path, run->about.streams[i], &run->tables[i], error);
	return status;
}

static void run_free(Run *run) {
	for (int i = 0; run->tables && i < run->about.stream_count; i++)
		cal_results_table_free(&run->tables[i]);
	free(run->tables);
	cal_file_destroy(run->file);
	cal_results_about_free(&run->about);
}

/* ---- columns ------------------------------------------------------------------------------------------ */

static int find_column(const CalResultsTable *table, const char *name) {
	for (int i = 0; i < table->column_count; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return i;
	return -1;
}

/* The first of the seven columns of a pose, which follow one another. */
static int pose_column(const CalResultsTable *table, const char *body) {
	static const char *const parts[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
	char name[512];
	snprintf(name, sizeof name, "pose:%.480s:x", body);
	const int first = find_column(table, name);
	if (first < 0 || table->column_count - first < 7)
		return -1;
	for (int k = 1; k < 7; k++) {
		snprintf(name, sizeof name, "pose:%.480s:%s", body, parts[k]);
		if (strcmp(table->columns[first + k].name, name) != 0)
			return -1;
	}
	return first;
}

static int eta_column(const CalResultsTable *table, const char *body, int mode) {
	char name[512];
	snprintf(name, sizeof name, "q:%.480s.eta%d", body, mode);
	return find_column(table, name);
}

static const char *body_name(const Run *run, int body) {
	return cal_desc_body(cal_file_desc(run->file), (CalBodyId){(uint32_t)body + 1})->name;
}

/* The table in which most bodies have a pose. */
static CalStatus find_frames(Run *run) {
	const int bodies = cal_desc_body_count(cal_file_desc(run->file));
	int best = 0;
	for (int i = 0; i < run->about.stream_count; i++) {
		int count = 0;
		for (int b = 0; b < bodies && run->tables[i].row_count; b++)
			count += pose_column(&run->tables[i], body_name(run, b)) >= 0;
		if (count > best) {
			best = count;
			run->frames = i;
		}
	}
	return best > 0
	           ? CAL_OK
	           : error_set(run->error, CAL_ERR_INPUT,
	                       "%.300s: holds no poses of bodies; run the model again with this version, or record the "
	                       "signal \"pose\"",
	                       run->path);
}

static const char event_log[] = "events/log";

static bool is_log(const Run *run, int stream) { return strcmp(run->about.streams[stream], event_log) == 0; }

/* Every row of the log of events names an action that the file has. */
static CalStatus check_log(const Run *run) {
	for (int i = 0; i < run->about.stream_count; i++) {
		const CalResultsTable *log = &run->tables[i];
		const int action = is_log(run, i) ? find_column(log, "action") : -1;
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

static size_t stride_of(const Run *run, const CalResultsTable *table) {
	return table->row_count > run->max_rows ? (table->row_count + run->max_rows - 1) / run->max_rows : 1;
}

/* The first, every so many, and the last. */
static size_t shown_count(const Run *run, const CalResultsTable *table) {
	const size_t stride = stride_of(run, table);
	return table->row_count == 0 ? 0 : (table->row_count - 2 + stride) / stride + 1;
}

static const double *shown_row(const Run *run, const CalResultsTable *table, size_t i) {
	size_t row = i * stride_of(run, table);
	if (row >= table->row_count || i + 1 == shown_count(run, table))
		row = table->row_count - 1;
	return table->rows + row * (size_t)table->column_count;
}

static void write_column(Document *d, const Run *run, const CalResultsTable *table, int column, bool wide) {
	const size_t count = shown_count(run, table);
	document_array(d, wide ? "f64" : "f32", 1, (size_t[]){count});
	for (size_t i = 0; i < count; i++) {
		const double value = shown_row(run, table, i)[column];
		if (wide)
			document_f64(d, value);
		else
			document_f32(d, value);
	}
	document_array_end(d);
}

/* ---- frames ------------------------------------------------------------------------------------------- */

static void write_poses(Document *d, const Run *run, const int *column, int bodies) {
	const CalResultsTable *table = &run->tables[run->frames];
	const size_t count = shown_count(run, table);
	document_key(d, "pose");
	document_array(d, "f32", 3, (size_t[]){count, (size_t)bodies, 7});
	for (size_t i = 0; i < count; i++) {
		const double *row = shown_row(run, table, i);
		for (int b = 0; b < bodies; b++)
			for (int k = 0; k < 7; k++)
				document_f32(d, column[b] >= 0 ? row[column[b] + k] : (double)NAN);
	}
	document_array_end(d);
}

/* Modes of a body whose coordinates were recorded with its pose. */
static void write_eta(Document *d, const Run *run, int body) {
	const CalResultsTable *table = &run->tables[run->frames];
	const int modes = flexible_modes(cal_file_desc(run->file), (CalBodyId){(uint32_t)body + 1});
	const size_t count = shown_count(run, table);
	const int first = modes ? eta_column(table, body_name(run, body), 0) : -1;
	for (int a = 1; a < modes; a++)
		if (first < 0 || eta_column(table, body_name(run, body), a) != first + a)
			return;
	if (first < 0)
		return;
	document_open(d, '{');
	document_put_number(d, "body", body);
	document_key(d, "values");
	document_array(d, "f32", 2, (size_t[]){count, (size_t)modes});
	for (size_t i = 0; i < count; i++)
		for (int a = 0; a < modes; a++)
			document_f32(d, shown_row(run, table, i)[first + a]);
	document_array_end(d);
	document_close(d);
}

static const double *frame_row(const void *user, size_t frame) {
	const Run *run = user;
	return shown_row(run, &run->tables[run->frames], frame);
}

static void write_arrows(Document *d, const Run *run, const int *pose) {
	const CalResultsTable *frames = &run->tables[run->frames];
	const ArrowSource source = {.desc = cal_file_desc(run->file),
	                            .tables = run->tables,
	                            .count = run->about.stream_count,
	                            .frames = frames,
	                            .pose = pose,
	                            .frame_count = shown_count(run, frames),
	                            .row = frame_row,
	                            .user = run};
	arrows_write(d, &source);
}

/* And the arrows, which stand on bodies. */
static CalStatus write_frames(Document *d, const Run *run) {
	const int bodies = cal_desc_body_count(cal_file_desc(run->file));
	int *column = malloc((size_t)(bodies + 1) * sizeof *column);
	if (!column)
		return error_set(run->error, CAL_ERR_MEMORY, "out of memory for the frames");
	for (int b = 0; b < bodies; b++)
		column[b] = pose_column(&run->tables[run->frames], body_name(run, b));
	document_key(d, "frames");
	document_open(d, '{');
	document_key(d, "t");
	write_column(d, run, &run->tables[run->frames], 0, true);
	write_poses(d, run, column, bodies);
	document_key(d, "eta");
	document_open(d, '[');
	for (int b = 0; b < bodies; b++)
		write_eta(d, run, b);
	document_close(d);
	document_close(d);
	write_arrows(d, run, column);
	free(column);
	return CAL_OK;
}

/* ---- signals ------------------------------------------------------------------------------------------ */

/* What stands behind the first colon of a name is of this kind. */
static const char *kind_of(const char *name) {
	static const char *const kinds[][2] = {
		{"q", "joint"},        {"u", "joint"},         {"udot", "joint"},        {"force", "joint"},
		{"reaction", "joint"}, {"pose", "node"},       {"node", "node"},         {"velocity", "node"},
		{"wrench", "node"},    {"deflection", "node"}, {"acceleration", "node"}, {"loop", "loop"},
		{"residual", "loop"},  {"device", "device"},   {"energy", "group"},      {"momentum", "group"},
	};
	const size_t length = strcspn(name, ":");
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strlen(kinds[i][0]) == length && strncmp(name, kinds[i][0], length) == 0)
			return name[length] ? kinds[i][1] : "system";
	return "system";
}

/* Takes a last ":part" or ".number" off, as long as the object is not known by its whole name. */
static void write_about(Document *d, const CalDesc *desc, const char *name) {
	const char *kind = kind_of(name), *object = strchr(name, ':');
	char text[512];
	if (!object || strcmp(kind, "system") == 0 || strcmp(kind, "group") == 0)
		return;
	snprintf(text, sizeof text, "%s", object + 1);
	char *eta = strstr(text, ".eta"), *tail = strrchr(text, ':');
	if (strcmp(kind, "joint") == 0 && !cal_desc_find_joint(desc, text).value) {
		if (eta) {
			*eta = '\0';
			kind = "body";
		} else if ((tail = tail ? tail : strrchr(text, '.')) != NULL) {
			*tail = '\0';
		}
	} else if (strcmp(kind, "joint") != 0 && tail) {
		*tail = '\0';
	}
	if (strcmp(kind, "node") == 0 && cal_desc_find_body(desc, text).value)
		kind = "body";
	document_key(d, "about");
	document_open(d, '{');
	document_put_text(d, "kind", kind);
	document_put_text(d, "name", text);
	document_close(d);
}

/* Whether a stream before has a column of that name. */
static bool is_double(const Run *run, int stream, int column) {
	for (int i = 0; i < stream; i++)
		if (!is_log(run, i) && find_column(&run->tables[i], run->tables[stream].columns[column].name) >= 0)
			return true;
	return false;
}

static void write_signals(Document *d, const Run *run) {
	document_key(d, "times");
	document_open(d, '[');
	for (int i = 0; i < run->about.stream_count; i++)
		write_column(d, run, &run->tables[i], 0, true);
	document_close(d);
	document_key(d, "signals");
	document_open(d, '[');
	for (int i = 0; i < run->about.stream_count; i++) {
		const CalResultsTable *table = &run->tables[i];
		for (int c = 1; c < table->column_count && table->row_count && !is_log(run, i); c++) {
			if ((i == run->frames && strncmp(table->columns[c].name, "pose:", 5) == 0) || is_double(run, i, c))
				continue; // these are the frames, or stand in an earlier stream too
			document_open(d, '{');
			document_put_text(d, "name", table->columns[c].name);
			document_put_text(d, "unit", table->columns[c].unit);
			write_about(d, cal_file_desc(run->file), table->columns[c].name);
			document_put_number(d, "t", i);
			document_key(d, "values");
			write_column(d, run, table, c, false);
			document_close(d);
		}
	}
	document_close(d);
}

/* ---- events and badges --------------------------------------------------------------------------------- */

static const char *event_kind(const char *words) {
	return strncmp(words, "attach", 6) == 0 || strncmp(words, "reattach", 8) == 0 || strncmp(words, "close", 5) == 0
	           ? "attach"
	       : strncmp(words, "detach", 6) == 0 || strncmp(words, "open", 4) == 0 ? "detach"
	       : strncmp(words, "lock", 4) == 0                                     ? "lock"
	                                                                            : "other";
}

static void write_events(Document *d, const Run *run) {
	document_key(d, "events");
	document_open(d, '[');
	for (int i = 0; i < run->about.stream_count; i++) {
		const CalResultsTable *log = &run->tables[i];
		const int action = is_log(run, i) ? find_column(log, "action") : -1, lost = find_column(log, "kinetic_lost");
		for (size_t k = 0; action >= 0 && lost >= 0 && k < log->row_count; k++) {
			const double *row = log->rows + k * (size_t)log->column_count;
			const int number = (int)row[action]; // check_log() has looked at it
			document_open(d, '{');
			document_put_number(d, "t", row[0]);
			document_put_text(d, "name", run->about.events[number]);
			document_put_text(d, "text", run->about.actions[number]);
			document_put_text(d, "kind", event_kind(run->about.actions[number]));
			document_put_number(d, "kinetic_lost", row[lost]);
			document_close(d);
		}
	}
	document_close(d);
}

/* By how much the worst of some columns is off: the largest magnitude, or the change since the start. NAN: not known. */
static double worst_of(const CalResultsTable *table, const double *row, const char *prefix, bool change) {
	double worst = 0;
	for (int c = 1; c < table->column_count; c++) {
		const double off = fabs(row[c] - (change ? table->rows[c] : 0));
		if (strncmp(table->columns[c].name, prefix, strlen(prefix)) == 0)
			worst = isnan(off) || off > worst ? off : worst;
		if (isnan(worst))
			return worst;
	}
	return worst;
}

static double largest_of(const CalResultsTable *table, const char *prefix, bool change) {
	double largest = 0;
	for (size_t i = 0; i < table->row_count && !isnan(largest); i++) {
		const double worst = worst_of(table, table->rows + i * (size_t)table->column_count, prefix, change);
		largest = isnan(worst) || worst > largest ? worst : largest;
	}
	return largest;
}

typedef struct Badge {
	const char *label, *unit, *prefix, *scale, *text; // scale: prefix of the columns that a good value is small against
	bool change;
	double good; // of that scale; 0: of 1
} Badge;

/* Momentum is shown only where it is conserved to single precision: elsewhere it is no measure of quality. */
static void write_badge(Document *d, const Run *run, const Badge *badge) {
	const CalResultsTable *table = &run->tables[run->frames];
	bool there = false;
	for (int c = 1; c < table->column_count; c++)
		there |= strncmp(table->columns[c].name, badge->prefix, strlen(badge->prefix)) == 0;
	const double scale = badge->scale ? largest_of(table, badge->scale, false) : 1;
	const double largest = there ? largest_of(table, badge->prefix, badge->change) : 0;
	if (!there || !isfinite(largest) || (badge->change && !(largest <= 1e-6 * scale)))
		return;
	const size_t count = shown_count(run, table);
	document_open(d, '{');
	document_put_text(d, "label", badge->label);
	document_put_text(d, "unit", badge->unit);
	document_put_text(d, "text", badge->text);
	document_put_number(d, "good", badge->good * scale);
	document_key(d, "values");
	document_array(d, "f32", 1, (size_t[]){count});
	for (size_t i = 0; i < count; i++)
		document_f32(d, worst_of(table, shown_row(run, table, i), badge->prefix, badge->change));
	document_array_end(d);
	document_close(d);
}

static void write_badges(Document *d, const Run *run) {
	static const Badge badges[] = {
		{"Energy", "J", "balance:error", "balance:groups", "what the account of energies misses since the start", false,
	     1e-6},
		{"Momentum", "N s", "total_momentum:p", "total_momentum:p", "change of the linear momentum since the start",
	     true, 1e-9},
		{"Loops", "1", "residual", NULL, "the largest residual of a row [m, rad]", false, 1e-6},
	};
	document_key(d, "badges");
	document_open(d, '[');
	for (size_t i = 0; i < sizeof badges / sizeof badges[0]; i++)
		write_badge(d, run, &badges[i]);
	document_close(d);
}

/* ---- the document -------------------------------------------------------------------------------------- */

static CalStatus write_ghost(Document *d, const char *path, int max_frames, CalError *error) {
	Run ghost;
	CalStatus status = run_read(&ghost, path, max_frames, error);
	if (status == CAL_OK)
		status = find_frames(&ghost);
	if (status == CAL_OK)
		status = check_log(&ghost);
	if (status == CAL_OK) {
		document_key(d, "ghost");
		document_open(d, '{');
		document_put_text(d, "title", ghost.about.title);
		status = scene_write(d, ghost.file, false, error);
		if (status == CAL_OK)
			status = write_frames(d, &ghost);
		write_signals(d, &ghost);
		document_close(d);
	}
	run_free(&ghost);
	return status;
}

static CalStatus write_document(Document *d, const Run *run, const CalReplayOptions *options) {
	document_open(d, '{');
	document_put_text(d, "format", "calder-replay");
	document_put_number(d, "version", 1);
	document_put_text(d, "title", options->title ? options->title : run->about.title);
	document_put_text(d, "software", "calder");
	document_put_text(d, "software_version", run->about.software_version);
	document_put_text(d, "created", run->about.created);
	document_put_text(d, "model_name", run->about.model_name);
	CalStatus status = scene_write(d, run->file, false, run->error);
	if (status == CAL_OK)
		status = write_frames(d, run);
	write_signals(d, run);
	write_events(d, run);
	write_badges(d, run);
	if (status == CAL_OK && options->ghost)
		status = write_ghost(d, options->ghost, options->max_frames, run->error);
	document_close(d);
	return status;
}

static const char marker[] = "@CALDER_REPLAY_JSON@";

/* Where the document goes in the page; NULL after telling that it has no such place. */
static const char *find_marker(const CalReplayOptions *options, CalError *error) {
	const size_t length = sizeof marker - 1;
	for (size_t i = 0; i + length <= options->page_length; i++)
		if (memcmp(options->page + i, marker, length) == 0)
			return options->page + i;
	error_set(error, CAL_ERR_ARGUMENT, "cal_replay_write: the page has no place for the document (%s)", marker);
	return NULL;
}

static CalStatus write_page(Document *d, const Run *run, const CalReplayOptions *options) {
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
	Document document = {.out = out};
	CalStatus status = run_read(&run, results, options->max_frames, error);
	if (status == CAL_OK)
		status = find_frames(&run);
	if (status == CAL_OK)
		status = check_log(&run);
	if (status == CAL_OK)
		status = write_page(&document, &run, options);
	run_free(&run);
	return status;
}
