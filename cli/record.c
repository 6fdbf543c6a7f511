// SPDX-License-Identifier: Apache-2.0
/*
 * record.c — samples to CSV and to a plot.
 *
 * CSV: one header line "name [unit]", then numbers that read back exactly. Plot: columns of one
 * kind and unit share a panel; lengths and angles do not share a scale.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "svg.h"

/* ---- CSV --------------------------------------------------------------------------------------- */

/* Quoted if it holds a comma, a quote or a line end. */
static void csv_header_field(FILE *out, const Column *column) {
	bool quote = strpbrk(column->name, ",\"\r\n") != NULL;
	if (quote)
		putc('"', out);
	for (const char *c = column->name; *c; c++) {
		if (*c == '"')
			putc('"', out);
		putc(*c, out);
	}
	fprintf(out, " [%s]%s", column->unit, quote ? "\"" : "");
}

static void csv_header(FILE *out, const SignalSet *set) {
	for (int i = 0; i < set->column_count; i++) {
		if (i)
			putc(',', out);
		csv_header_field(out, &set->columns[i]);
	}
	putc('\n', out);
}

static void csv_row(FILE *out, const double *row, int count) {
	for (int i = 0; i < count; i++)
		fprintf(out, "%s%.17g", i ? "," : "", row[i]);
	putc('\n', out);
}

/* ---- recording --------------------------------------------------------------------------------- */

static int cannot_write(const char *path) {
	char text[256];
	snprintf(text, sizeof text, "cannot be written: %s", strerror(errno));
	say_error(path, text);
	return EXIT_INPUT;
}

int record_open(Record *record, const char *csv_path, bool keep) {
	record->keep = keep;
	if (csv_path) {
		record->csv = strcmp(csv_path, "-") == 0 ? stdout : fopen(csv_path, "w");
		if (!record->csv)
			return cannot_write(csv_path);
		csv_header(record->csv, &record->set);
	}
	return EXIT_OK;
}

/* Room for one more row; a run without a plot uses the same one again and again. */
static double *next_row(Record *record) {
	size_t width = (size_t)record->set.column_count;
	size_t place = record->keep ? record->count : 0;
	if (place >= record->capacity) {
		size_t capacity = record->keep ? 2 * record->capacity + 1024 : 1;
		double *rows = realloc(record->rows, capacity * width * sizeof(double));
		if (!rows)
			return NULL;
		record->rows = rows;
		record->capacity = capacity;
	}
	return record->rows + place * width;
}

int record_sample(Record *record, CalSim *sim, const char *path) {
	double *row = next_row(record);
	if (!row)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	CalStatus status = signals_sample(&record->set, sim, row);
	if (status != CAL_OK) {
		CalError error = {.status = status, .count = 1};
		snprintf(error.text, sizeof error.text, "t = %.9g s: %s; try a smaller step and look at the loads",
		         cal_sim_time(sim), cal_status_text(status));
		return say_status(path, status, &error);
	}
	record->count++;
	if (record->csv)
		csv_row(record->csv, row, record->set.column_count);
	return EXIT_OK;
}

int record_close(Record *record, const char *csv_path) {
	int code = EXIT_OK;
	if (record->csv) {
		bool bad = ferror(record->csv) != 0;
		bad |= (record->csv == stdout ? fflush(stdout) : fclose(record->csv)) != 0;
		if (bad)
			code = cannot_write(csv_path);
	}
	free(record->rows);
	signals_free(&record->set);
	*record = (Record){0};
	return code;
}

/* ---- plot -------------------------------------------------------------------------------------- */

/* What is drawn: columns in panels; the arrays have room for every column. */
typedef struct Drawing {
	SvgPanel *panels;
	SvgLine *lines;
	char (*titles)[200];
	bool *chosen; // columns of the signals to draw
	int panel_count, line_count;
} Drawing;

static bool drawing_alloc(Drawing *drawing, int columns) {
	size_t n = (size_t)columns;
	drawing->panels = calloc(n, sizeof *drawing->panels);
	drawing->lines = calloc(n, sizeof *drawing->lines);
	drawing->titles = calloc(n, sizeof *drawing->titles);
	drawing->chosen = calloc(n, sizeof *drawing->chosen);
	return drawing->panels && drawing->lines && drawing->titles && drawing->chosen;
}

static void drawing_free(Drawing *drawing) {
	free(drawing->panels);
	free(drawing->lines);
	free(drawing->titles);
	free(drawing->chosen);
}

static void choose_columns(Drawing *drawing, const SignalSet *set, const char *name) {
	for (int s = 0; s < set->signal_count; s++)
		if (strcmp(set->signals[s].name, name) == 0)
			for (int i = 0; i < set->signals[s].count; i++)
				drawing->chosen[set->signals[s].first + i] = true;
}

static bool share_panel(const Column *a, const Column *b) {
	return a->label == b->label && strncmp(a->name, b->name, (size_t)a->label) == 0 && strcmp(a->unit, b->unit) == 0;
}

/* A panel with all chosen columns that share it with `first`; they are then no longer to be drawn. */
static void add_panel(Drawing *drawing, const Record *record, int first) {
	const Column *columns = record->set.columns;
	SvgPanel *panel = &drawing->panels[drawing->panel_count];
	char *title = drawing->titles[drawing->panel_count++];
	snprintf(title, sizeof *drawing->titles, "%.*s [%s]", columns[first].label - 1, columns[first].name,
	         columns[first].unit);
	*panel = (SvgPanel){.title = title, .lines = drawing->lines + drawing->line_count};
	for (int i = 0; i < record->set.column_count; i++) {
		if (!drawing->chosen[i] || !share_panel(&columns[first], &columns[i]))
			continue;
		drawing->lines[drawing->line_count++] =
			(SvgLine){.name = columns[i].name + columns[i].label, .y = record->rows + i};
		drawing->chosen[i] = false;
		panel->line_count++;
	}
}

static void add_signal_panels(Drawing *drawing, const Record *record, const char *name) {
	for (int s = 0; s < record->set.signal_count; s++) {
		const Signal *signal = &record->set.signals[s];
		if (strcmp(signal->name, name) == 0)
			for (int i = signal->first; i < signal->first + signal->count; i++)
				if (drawing->chosen[i])
					add_panel(drawing, record, i);
	}
}

int record_plot(const Record *record, const char *svg_path, const char *title, const char *const *names, int count) {
	Drawing drawing = {0};
	if (!drawing_alloc(&drawing, record->set.column_count)) {
		drawing_free(&drawing);
		return say_status(svg_path, CAL_ERR_MEMORY, NULL);
	}
	for (int i = 0; i < count; i++)
		choose_columns(&drawing, &record->set, names[i]);
	for (int i = 0; i < count; i++)
		add_signal_panels(&drawing, record, names[i]);
	SvgPlot plot = {.title = title,
	                .x_title = "t [s]",
	                .x = record->rows,
	                .count = record->count,
	                .stride = (size_t)record->set.column_count,
	                .panels = drawing.panels,
	                .panel_count = drawing.panel_count};
	bool to_stdout = strcmp(svg_path, "-") == 0;
	FILE *out = to_stdout ? stdout : fopen(svg_path, "w");
	int code = out ? EXIT_OK : cannot_write(svg_path);
	if (out) {
		svg_write(out, &plot);
		bool bad = ferror(out) != 0;
		bad |= (to_stdout ? fflush(out) : fclose(out)) != 0;
		if (bad)
			code = cannot_write(svg_path);
	}
	drawing_free(&drawing);
	return code;
}
