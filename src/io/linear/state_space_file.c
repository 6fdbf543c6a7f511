// SPDX-License-Identifier: Apache-2.0
/*
 * state_space_file.c — linearized systems as JSON and as a table (CSV), and the choice of a format by the ending of a path.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text_reader.h"
#include "io/linear/state_space_file.h"

void state_space_matrices(const CalStateSpace *s, NamedMatrix matrices[STATE_SPACE_MATRICES]) {
	const int n = s->state_count, m = s->input_count, p = s->output_count;
	const NamedMatrix all[STATE_SPACE_MATRICES] = {
		{"A", s->A, n, n, s->states, s->states},  {"B", s->B, n, m, s->states, s->inputs},
		{"C", s->C, p, n, s->outputs, s->states}, {"D", s->D, p, m, s->outputs, s->inputs},
		{"rate", s->rate, n, 1, s->states, NULL}, {"value", s->value, p, 1, s->outputs, NULL}};
	memcpy(matrices, all, sizeof all);
}

void state_space_names(const CalStateSpace *s, NameGroup groups[3]) {
	groups[0] = (NameGroup){"states", "state_units", s->states, s->state_count};
	groups[1] = (NameGroup){"inputs", "input_units", s->inputs, s->input_count};
	groups[2] = (NameGroup){"outputs", "output_units", s->outputs, s->output_count};
}

/* ---- JSON ------------------------------------------------------------------------------------------------- */

static void put_string(FILE *out, const char *text) {
	putc('"', out);
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if ((unsigned char)*c < 0x20)
			fprintf(out, "\\u%04x", (unsigned)*c);
		else
			putc(*c, out);
	}
	putc('"', out);
}

static void put_number(FILE *out, double value) {
	char text[NUMBER_TEXT];
	if (!isfinite(value)) {
		fputs("null", out);
		return;
	}
	number_format(value, text);
	fputs(text, out);
}

static void put_rows(FILE *out, const NamedMatrix *m) {
	putc('[', out);
	for (int i = 0; i < m->rows; i++) {
		fputs(i == 0 ? "" : m->column ? ",\n    " : ", ", out);
		fputs(m->column ? "[" : "", out);
		for (int j = 0; j < m->columns; j++) {
			fputs(j ? ", " : "", out);
			put_number(out, m->of[(size_t)i * (size_t)m->columns + (size_t)j]);
		}
		fputs(m->column ? "]" : "", out);
	}
	putc(']', out);
}

static void put_names(FILE *out, const NameGroup *group) {
	fprintf(out, ",\n  \"%s\": [", group->names);
	for (int i = 0; i < group->count; i++) {
		fputs(i ? ", " : "", out);
		put_string(out, group->of[i].name);
	}
	fprintf(out, "],\n  \"%s\": [", group->units);
	for (int i = 0; i < group->count; i++) {
		fputs(i ? ", " : "", out);
		put_string(out, group->of[i].unit);
	}
	putc(']', out);
}

/* One element of a series, or all of them in a list. */
static void put_each(FILE *out, const StateSpaceSeries *series, const char *name, int matrix) {
	fprintf(out, ",\n  \"%s\": %s", name, series->varies ? "[" : "");
	for (int k = 0; k < series->count; k++) {
		NamedMatrix matrices[STATE_SPACE_MATRICES];
		state_space_matrices(&series->spaces[k], matrices);
		fputs(k ? ",\n   " : "", out);
		if (matrix >= 0)
			put_rows(out, &matrices[matrix]);
		else
			put_string(out, series->spaces[k].warning);
	}
	fputs(series->varies ? "]" : "", out);
}

static void put_json(FILE *out, const void *user) {
	const StateSpaceSeries *series = user;
	NamedMatrix matrices[STATE_SPACE_MATRICES];
	NameGroup groups[3];
	state_space_matrices(series->spaces, matrices);
	state_space_names(series->spaces, groups);
	fprintf(out, "{\"format\": \"%s\", \"version\": %d,\n  \"time\": %s", STATE_SPACE_FORMAT, STATE_SPACE_VERSION,
	        series->varies ? "[" : "");
	for (int k = 0; k < series->count; k++) {
		fputs(k ? ", " : "", out);
		put_number(out, series->spaces[k].time);
	}
	fputs(series->varies ? "]" : "", out);
	for (int i = 0; i < 3; i++)
		put_names(out, &groups[i]);
	for (int i = 0; i < STATE_SPACE_MATRICES; i++)
		put_each(out, series, matrices[i].name, i);
	put_each(out, series, "warning", -1);
	fputs("}\n", out);
}

/* ---- CSV -------------------------------------------------------------------------------------------------- */

/* Names of two nodes hold a comma. */
static void put_field(FILE *out, const char *text) {
	const bool quote = strpbrk(text, ",\"\n") != NULL;
	fputs(quote ? "\"" : "", out);
	for (const char *c = text; *c; c++)
		fputs(*c == '"' ? "\"\"" : (const char[]){*c, 0}, out);
	fputs(quote ? "\"," : ",", out);
}

static void put_entry(FILE *out, const NamedMatrix *m, int i, int j) {
	char number[NUMBER_TEXT];
	const double value = m->of[(size_t)i * (size_t)m->columns + (size_t)j];
	fprintf(out, "%s,", m->name);
	put_field(out, m->row[i].name);
	put_field(out, m->row[i].unit);
	put_field(out, m->column ? m->column[j].name : "");
	put_field(out, m->column ? m->column[j].unit : "");
	number_format(value, number);
	fprintf(out, "%s\n", isfinite(value) ? number : "nan");
}

static void put_entries(FILE *out, const CalStateSpace *space, const char *time) {
	NamedMatrix matrices[STATE_SPACE_MATRICES];
	state_space_matrices(space, matrices);
	for (int k = 0; k < STATE_SPACE_MATRICES; k++)
		for (int i = 0; i < matrices[k].rows; i++)
			for (int j = 0; j < matrices[k].columns; j++) {
				if (time)
					fprintf(out, "%s,", time);
				put_entry(out, &matrices[k], i, j);
			}
}

static void put_csv(FILE *out, const void *user) {
	const StateSpaceSeries *series = user;
	fprintf(out, "%smatrix,row,row_unit,column,column_unit,value\n", series->varies ? "time," : "");
	for (int k = 0; k < series->count; k++) {
		char time[NUMBER_TEXT];
		number_format(series->spaces[k].time, time);
		put_entries(out, &series->spaces[k], series->varies ? time : NULL);
	}
}

/* ---- by the ending of the path ------------------------------------------------------------------------------ */

static bool ends_with(const char *path, const char *ending) {
	const size_t length = strlen(path), size = strlen(ending);
	return length > size && strcmp(path + length - size, ending) == 0;
}

static CalStatus write_series(const StateSpaceSeries *series, const char *path, CalError *error) {
	static const struct {
		const char *ending;
		void (*put)(FILE *out, const void *user); // NULL: HDF5
	} formats[] = {{".json", put_json}, {".csv", put_csv}, {".mat", state_space_put_mat}, {".h5", NULL}};
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (ends_with(path, formats[i].ending))
			return formats[i].put ? fe_write_whole(path, formats[i].put, series, error)
			                      : state_space_write_hdf5(series, path, error);
	return error_set(error, CAL_ERR_INPUT,
	                 "%.300s: the ending of the name chooses the format: .json, .csv, .mat or .h5", path);
}

CalStatus cal_state_space_write(const CalStateSpace *space, const char *path, CalError *error) {
	if (!space || !space->memory || !path)
		return error_null(error, __func__, !path ? "path" : "space");
	return write_series(&(StateSpaceSeries){space, 1, false}, path, error);
}

/* What is different, or NULL. */
static const char *difference_of(const CalStateSpace *a, const CalStateSpace *b) {
	NameGroup first[3], second[3];
	state_space_names(a, first);
	state_space_names(b, second);
	for (int g = 0; g < 3; g++) {
		if (first[g].count != second[g].count)
			return first[g].names;
		for (int i = 0; i < first[g].count; i++)
			if (strcmp(first[g].of[i].name, second[g].of[i].name) != 0)
				return first[g].names;
	}
	return NULL;
}

CalStatus cal_state_space_write_series(const CalStateSpace *spaces, int count, const char *path, CalError *error) {
	if (!spaces || !path)
		return error_null(error, __func__, !path ? "path" : "spaces");
	if (count < 1)
		return error_set(error, CAL_ERR_ARGUMENT, "%s: there is no linearization", __func__);
	for (int k = 0; k < count; k++) {
		if (!spaces[k].memory)
			return error_null(error, __func__, "one of spaces");
		const char *different = difference_of(&spaces[0], &spaces[k]);
		if (different)
			return error_set(
				error, CAL_ERR_INPUT,
				"%.200s: the %s at t = %.9g s are not those at %.9g s; choose coordinates that hold for all "
				"of the run (independent), or times between changes of the topology",
				path, different, spaces[k].time, spaces[0].time);
	}
	return write_series(&(StateSpaceSeries){spaces, count, true}, path, error);
}
