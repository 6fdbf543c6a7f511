// SPDX-License-Identifier: Apache-2.0
/*
 * record.c — samples to CSV and to a plot.
 *
 * CSV: one header line "name [unit]", then numbers that read back exactly. Plot: the columns of the signals asked
 * for, in panels (panels.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

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

/* Appends a column unless it is there. */
static void add_item(PanelItem *items, int *count, int column, int label) {
	for (int i = 0; i < *count; i++)
		if (items[i].column == column)
			return;
	items[(*count)++] = (PanelItem){.column = column, .label = label};
}

/* The columns of the signals of that name, or the one of that name. */
static void add_items(PanelItem *items, int *count, const SignalSet *set, const char *name) {
	int own = -1;
	for (int i = 0; i < set->column_count; i++)
		own = strcmp(set->columns[i].name, name) == 0 ? i : own;
	for (int s = 0; s < set->signal_count && own < 0; s++)
		if (strcmp(set->signals[s].name, name) == 0)
			for (int i = set->signals[s].first; i < set->signals[s].first + set->signals[s].count; i++)
				add_item(items, count, i, set->columns[i].label);
	if (own >= 0)
		add_item(items, count, own, panels_own_label(name));
}

int record_plot(const Record *record, const char *svg_path, const char *title, const char *const *names, int count) {
	PanelItem *items = calloc((size_t)record->set.column_count, sizeof *items);
	if (!items)
		return say_status(svg_path, CAL_ERR_MEMORY, NULL);
	int item_count = 0;
	for (int i = 0; i < count; i++)
		add_items(items, &item_count, &record->set, names[i]);
	Table table = {.columns = record->set.columns,
	               .column_count = record->set.column_count,
	               .rows = record->rows,
	               .count = record->count};
	int code = panels_write(svg_path, title, &table, items, item_count);
	free(items);
	return code;
}
