// SPDX-License-Identifier: Apache-2.0
/*
 * csv.c — reading a table of numbers with one header line.
 *
 * Header fields are "name [unit]", quoted where a name holds a comma or a quote; a name without a unit has none. Every
 * other line holds one number per column. An empty cell, "nan" and "inf" are values that are not there: a gap in a
 * line. Lines may end in CR LF; empty lines and those that begin with '#' are passed over. The text is cut up in place.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"

static int bad_line(const char *path, long line, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int bad_line(const char *path, long line, const char *format, ...) {
	char text[512], what[300];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	snprintf(text, sizeof text, "%.180s:%ld: %s", path, line, what);
	say_error(path, text);
	return EXIT_INPUT;
}

/* Takes the next field off the line and unquotes it; *rest is NULL after the last one. */
static char *next_field(char **rest) {
	char *from = *rest, *field = from, *to = from;
	bool quoted = *from == '"';
	from += quoted;
	for (; *from && (quoted || *from != ','); from++) {
		if (quoted && *from == '"' && from[1] != '"')
			quoted = false;
		else
			*to++ = *(from += quoted && *from == '"');
	}
	*rest = *from ? from + 1 : NULL;
	*to = 0;
	return field;
}

/* The next line that is neither empty nor a remark, cut off at its end; NULL after the last one. */
static char *next_line(char **rest, long *number) {
	while (*rest) {
		char *line = *rest, *end = line + strcspn(line, "\n");
		*rest = *end ? end + 1 : NULL;
		*end = 0;
		if (end > line && end[-1] == '\r')
			end[-1] = 0;
		++*number;
		if (*line && *line != '#')
			return line;
	}
	return NULL;
}

/* Where the field that begins here ends: at a comma outside of quotes, or at the end of the line. As next_field() goes. */
static const char *end_of_field(const char *at) {
	bool quoted = *at == '"';
	for (at += quoted; *at && (quoted || *at != ','); at++) {
		if (quoted && *at == '"' && at[1] != '"')
			quoted = false;
		else
			at += quoted && *at == '"';
	}
	return at;
}

static int count_fields(const char *line) {
	int count = 1;
	for (line = end_of_field(line); *line; line = end_of_field(line + 1))
		count++;
	return count;
}

static void name_column(Column *column, const char *name) {
	column->name = name;
	column->label = panels_label(name);
}

/* "name [unit]" */
static void read_column(Column *column, char *field) {
	size_t length = strlen(field);
	char *bracket = strrchr(field, '[');
	column->unit = "";
	if (bracket > field && field[length - 1] == ']') {
		field[length - 1] = 0;
		column->unit = bracket + 1;
		while (bracket > field && bracket[-1] == ' ')
			bracket--;
		*bracket = 0;
	}
	name_column(column, field);
}

/* NAN if the cell is empty. */
static bool read_cell(const char *field, double *value) {
	char *end;
	*value = strtod(field, &end);
	if (end == field)
		*value = NAN;
	return end[strspn(end, " \t")] == 0;
}

static int read_row(const char *path, long number, char *line, Csv *csv) {
	double *row = csv->rows + csv->count * (size_t)csv->column_count;
	const int fields = count_fields(line);
	if (fields != csv->column_count)
		return bad_line(path, number, "%d number%s under %d column name%s%s", fields, plural(fields), csv->column_count,
		                plural(csv->column_count),
		                fields > csv->column_count ? "; decimals follow a point, as commas separate columns" : "");
	for (int i = 0; i < csv->column_count; i++) {
		const char *field = next_field(&line);
		if (!read_cell(field, &row[i]))
			return bad_line(path, number, "column \"%.100s\": '%.40s' is not a number", csv->columns[i].name, field);
	}
	if (!isfinite(row[0]))
		return bad_line(path, number, "the first column, the horizontal axis, has no value");
	if (csv->count && row[0] < row[-csv->column_count])
		return bad_line(path, number, "the first column, the horizontal axis, goes back from %.9g to %.9g",
		                row[-csv->column_count], row[0]);
	csv->count++;
	return EXIT_OK;
}

static int read_table(const char *path, Csv *csv) {
	char *rest = csv->text;
	long number = 0;
	char *header = next_line(&rest, &number);
	if (!header)
		return bad_line(path, 1, "the file is empty; the first line should name the columns, \"t [s],q:hinge [rad]\"");
	size_t lines = 1;
	for (const char *c = rest; c && *c; c++)
		lines += *c == '\n';
	csv->column_count = count_fields(header);
	if (csv->column_count == 1 && strpbrk(header, ";\t"))
		return bad_line(path, number, "columns are separated by commas, not by %s; decimals follow a point",
		                strchr(header, ';') ? "semicolons" : "tabs");
	csv->columns = calloc((size_t)csv->column_count, sizeof *csv->columns);
	csv->rows = calloc(lines * (size_t)csv->column_count, sizeof *csv->rows);
	if (!csv->columns || !csv->rows)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	for (int i = 0; i < csv->column_count; i++)
		read_column(&csv->columns[i], next_field(&header));
	int code = EXIT_OK;
	for (char *line; code == EXIT_OK && (line = next_line(&rest, &number));)
		code = read_row(path, number, line, csv);
	if (code == EXIT_OK && csv->count == 0)
		return bad_line(path, 1, "there are no numbers under the column names");
	return code;
}

enum { CSV_MOST = 1 << 29 }; // bytes

static char *read_file(const char *path) {
	bool from_stdin = strcmp(path, "-") == 0;
	FILE *in = from_stdin ? stdin : fopen(path, "r");
	if (!in)
		return NULL;
	size_t length = 0;
	char *text = input_read(in, CSV_MOST, &length);
	if (text && (ferror(in) || length > CSV_MOST)) {
		free(text);
		text = NULL;
		errno = length > CSV_MOST ? EFBIG : errno;
	}
	if (!from_stdin)
		fclose(in);
	return text;
}

int csv_read(const char *path, Csv *csv) {
	*csv = (Csv){.text = read_file(path)};
	if (csv->text)
		return read_table(input_name(path), csv);
	char text[256];
	if (errno == EFBIG)
		snprintf(text, sizeof text, "has more than %d bytes; record less often (--interval), or into HDF5 (.h5)",
		         CSV_MOST);
	else
		snprintf(text, sizeof text, "cannot be read: %s", strerror(errno));
	say_error(input_name(path), text);
	return EXIT_INPUT;
}

/* Streams of the file that are not read; those that `calder run` adds by itself do not count. */
static void note_others(const CalResultsAbout *about, Csv *csv) {
	int others = 0;
	for (int i = 0; i < about->stream_count; i++) {
		const char *name = about->streams[i];
		const size_t used = strlen(csv->note);
		if (strcmp(name, csv->table.name) == 0 || strcmp(name, "replay") == 0 || strchr(name, '/'))
			continue;
		snprintf(csv->note + used, sizeof csv->note - used, "%s%.60s", others++ ? ", " : "not drawn: streams ", name);
	}
	if (others)
		snprintf(csv->note + strlen(csv->note), sizeof csv->note - strlen(csv->note), " (--stream)");
}

/* The title of the run, and what else the file has unless a stream was asked for. */
static void describe_run(const char *path, bool stream_given, Csv *csv) {
	CalResultsAbout about;
	if (cal_results_about(path, &about, NULL) != CAL_OK)
		return;
	snprintf(csv->title, sizeof csv->title, "%.190s", about.title ? about.title : "");
	if (!stream_given)
		note_others(&about, csv);
	cal_results_about_free(&about);
}

int csv_from_hdf5(const char *path, const char *stream, Csv *csv) {
	CalError error = {0};
	*csv = (Csv){0};
	CalStatus status = cal_results_read(path, stream, &csv->table, &error);
	if (status != CAL_OK)
		return say_status(path, status, &error);
	if (csv->table.row_count == 0) {
		say_error(path, "there are no records in this stream");
		return EXIT_INPUT;
	}
	csv->columns = calloc((size_t)csv->table.column_count, sizeof *csv->columns);
	if (!csv->columns)
		return say_status(path, CAL_ERR_MEMORY, NULL);
	csv->column_count = csv->table.column_count;
	csv->count = csv->table.row_count;
	csv->rows = csv->table.rows;
	csv->table.rows = NULL; // csv owns them
	for (int i = 0; i < csv->column_count; i++) {
		name_column(&csv->columns[i], csv->table.columns[i].name);
		csv->columns[i].unit = csv->table.columns[i].unit;
	}
	describe_run(path, stream != NULL, csv);
	return EXIT_OK;
}

bool column_scale(const Column *column, const char *unit, const char *path, double *scale) {
	char text[120], message[500];
	CalError error = {0};
	*scale = 1;
	if (!column->unit[0])
		return true;
	snprintf(text, sizeof text, "1 %.60s", column->unit);
	if (cal_quantity_parse(text, unit, scale, &error) == CAL_OK)
		return true;
	snprintf(message, sizeof message, "column \"%.120s\": %.300s", column->name, error.text);
	say_error(path, message);
	return false;
}

void csv_free(Csv *csv) {
	cal_results_table_free(&csv->table);
	free(csv->columns);
	free(csv->rows);
	free(csv->text);
	*csv = (Csv){0};
}
