// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_csv.c — a table from a CSV file: the first column is the time, another one the value.
 *
 * Lines that begin with '#' and empty lines are skipped. The first other line may be a header, whose fields name the columns
 * and may end in a unit: "q:crank [deg]", as result files have it. Numbers without a unit are SI. What is wrong in the file is
 * reported at the key that names it, with the line.
 */
#include <stdio.h>
#include <string.h>

#include "base/text_reader.h"
#include "io/model/model_file.h"

enum { MOST_COLUMNS = 1024, UNIT_SIZE = 40 };

typedef struct Csv {
	Reader *r;
	const TreeNode *file;   // key that names it
	const TreeNode *column; // name or number, NULL: the second
	const char *name;       // as given
	Dimension dimension;
	FeText text;
	int at;                 // column of the values, from 0
	double unit_time, unit; // of the two columns
	double *time, *value;   // [capacity]
	int count, capacity;
} Csv;

static bool fail(const Csv *csv, const char *what) {
	return reader_fail(csv->r, csv->file, "%.200s:%d: %s", csv->name, csv->text.line_number, what);
}

/* The next line with something in it; false at the end or after reporting. */
static bool next_line(Csv *csv) {
	CalStatus status = CAL_OK;
	while (fe_text_next(&csv->text, &status)) {
		const char *first = csv->text.line + strspn(csv->text.line, " \t\r");
		if (*first && *first != '#')
			return true;
	}
	return status != CAL_OK && fail(csv, "the line is too long");
}

/* Cuts a line at its commas (outside quotes), or semicolons or tabs where there are none; the number of fields. */
static int split_fields(char *line, char **fields) {
	const char separator = strchr(line, ',') ? ',' : strchr(line, ';') ? ';' : '\t';
	int count = 0;
	bool quoted = false;
	fields[count++] = line;
	for (char *c = line; *c; c++) {
		quoted ^= *c == '"';
		if (*c != separator || quoted)
			continue;
		*c = 0;
		if (count == MOST_COLUMNS)
			return -1;
		fields[count++] = c + 1;
	}
	for (int i = 0; i < count; i++) {
		fields[i] = fe_trim(fields[i]);
		const size_t length = strlen(fields[i]);
		if (length >= 2 && fields[i][0] == '"' && fields[i][length - 1] == '"') {
			fields[i][length - 1] = 0;
			fields[i]++;
		}
	}
	return count;
}

/* The unit in brackets at the end of a header, which is cut off; 1: none. */
static bool take_unit(Csv *csv, char *field, Dimension dimension, double *unit) {
	char *open = strrchr(field, '['), *close = open ? strchr(open, ']') : NULL, text[UNIT_SIZE + 4], message[200];
	*unit = 1;
	if (!close || close[1])
		return true;
	*close = *open = 0;
	fe_trim(field);
	if (strlen(open + 1) > UNIT_SIZE)
		return fail(csv, "the unit is too long");
	snprintf(text, sizeof text, "1 %s", open + 1);
	if (strcmp(open + 1, "1") == 0 || quantity_parse(text, dimension, unit, message, sizeof message))
		return true;
	return fail(csv, message);
}

/* A column by its number; the time is 1. */
static bool column_by_number(Csv *csv, const char *text) {
	long number;
	if (!fe_integer(text, &number))
		return false;
	csv->at = number >= 2 && number <= MOST_COLUMNS ? (int)number - 1 : -1;
	return true;
}

static bool read_header(Csv *csv, char **fields, int count) {
	const char *wanted = csv->column ? csv->column->text : NULL;
	for (int i = 0; wanted && i < count; i++) {
		const char *open = strrchr(fields[i], '[');
		size_t length = open ? (size_t)(open - fields[i]) : strlen(fields[i]); // of the name without the unit
		while (length > 0 && fields[i][length - 1] == ' ')
			length--;
		if (strcmp(fields[i], wanted) == 0 || (strlen(wanted) == length && strncmp(fields[i], wanted, length) == 0))
			csv->at = i;
	}
	if (csv->at < 1 || csv->at >= count)
		return reader_fail(csv->r, csv->column ? csv->column : csv->file,
		                   "%.200s has no column \"%.100s\" beside the time", csv->name, wanted ? wanted : "2");
	return take_unit(csv, fields[0], DIM_TIME, &csv->unit_time) &&
	       take_unit(csv, fields[csv->at], csv->dimension, &csv->unit);
}

static bool grow(Csv *csv) {
	if (csv->count < csv->capacity)
		return true;
	const int capacity = csv->capacity ? 2 * csv->capacity : 256;
	double *time = reader_array(csv->r, 2 * (size_t)capacity, sizeof *time);
	if (!time)
		return false;
	if (csv->count > 0) {
		memcpy(time, csv->time, (size_t)csv->count * sizeof *time);
		memcpy(time + capacity, csv->value, (size_t)csv->count * sizeof *time);
	}
	csv->time = time;
	csv->value = time + capacity;
	csv->capacity = capacity;
	return true;
}

static bool read_row(Csv *csv, char **fields, int count) {
	double time, value;
	if (csv->at >= count)
		return fail(csv, "the line has too few columns");
	if (!fe_number(fields[0], &time) || !fe_number(fields[csv->at], &value))
		return fail(csv, "expected a finite number");
	time *= csv->unit_time;
	if (csv->count > 0 && !(time > csv->time[csv->count - 1]))
		return fail(csv, "the times of a table ascend");
	if (!grow(csv))
		return false;
	csv->time[csv->count] = time;
	csv->value[csv->count++] = value * csv->unit;
	return true;
}

static bool read_lines(Csv *csv, char **fields) {
	const bool by_number = !csv->column || column_by_number(csv, csv->column->text);
	bool first = true;
	csv->at = by_number ? csv->at : -1;
	while (csv->r->status == CAL_OK && next_line(csv)) {
		double number;
		const int count = split_fields(csv->text.line, fields);
		if (count < 0)
			return fail(csv, "the line has too many columns");
		const bool header = first && !fe_number(fields[0], &number);
		if (first && !header && (!by_number || csv->at < 1))
			return reader_fail(csv->r, csv->column, "%.200s has no header; give the column by its number, from 2",
			                   csv->name);
		if (header ? !read_header(csv, fields, count) : !read_row(csv, fields, count))
			return false;
		first = false;
	}
	if (csv->r->status != CAL_OK)
		return false;
	return csv->count > 0 || fail(csv, "there are no points in it");
}

bool model_file_read_csv(Reader *r, const TreeNode *file, const TreeNode *column, Dimension dimension,
                         CalTable *table) {
	char path[1024];
	CalError error = {0};
	Csv *csv = reader_array(r, 1, sizeof *csv);
	char **fields = reader_array(r, MOST_COLUMNS, sizeof *fields);
	if (!csv || !fields)
		return false;
	*csv = (Csv){.r = r, .file = file, .column = column, .dimension = dimension, .at = 1, .unit_time = 1, .unit = 1};
	if (!read_text(r, file, &csv->name))
		return false;
	if (column && column->kind != TREE_SCALAR)
		return reader_fail(r, column, "expected the name of a column, or its number (the time is 1)");
	if (!reader_path(r, file, NULL, csv->name, path, sizeof path))
		return false;
	if (fe_text_open(&csv->text, path, &r->file->allocator, &error) != CAL_OK)
		return reader_fail(r, file, "%s", error.text);
	const bool done = read_lines(csv, fields);
	fe_text_close(&csv->text);
	table->count = csv->count;
	table->time = csv->time;
	table->value = csv->value;
	return done;
}
