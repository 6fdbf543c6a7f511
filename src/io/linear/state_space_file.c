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
	fprintf(out, ",\n  \"%s\": [", m->name);
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

static void put_json(FILE *out, const void *user) {
	const CalStateSpace *s = user;
	NamedMatrix matrices[STATE_SPACE_MATRICES];
	NameGroup groups[3];
	state_space_matrices(s, matrices);
	state_space_names(s, groups);
	fprintf(out, "{\"format\": \"%s\", \"version\": %d,\n  \"time\": ", STATE_SPACE_FORMAT, STATE_SPACE_VERSION);
	put_number(out, s->time);
	for (int i = 0; i < 3; i++)
		put_names(out, &groups[i]);
	for (int i = 0; i < STATE_SPACE_MATRICES; i++)
		put_rows(out, &matrices[i]);
	fputs(",\n  \"warning\": ", out);
	put_string(out, s->warning);
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

static void put_csv(FILE *out, const void *user) {
	NamedMatrix matrices[STATE_SPACE_MATRICES];
	state_space_matrices(user, matrices);
	fputs("matrix,row,row_unit,column,column_unit,value\n", out);
	for (int k = 0; k < STATE_SPACE_MATRICES; k++)
		for (int i = 0; i < matrices[k].rows; i++)
			for (int j = 0; j < matrices[k].columns; j++)
				put_entry(out, &matrices[k], i, j);
}

/* ---- by the ending of the path ------------------------------------------------------------------------------ */

static bool ends_with(const char *path, const char *ending) {
	const size_t length = strlen(path), size = strlen(ending);
	return length > size && strcmp(path + length - size, ending) == 0;
}

CalStatus cal_state_space_write(const CalStateSpace *space, const char *path, CalError *error) {
	static const struct {
		const char *ending;
		void (*put)(FILE *out, const void *user); // NULL: HDF5
	} formats[] = {{".json", put_json}, {".csv", put_csv}, {".mat", state_space_put_mat}, {".h5", NULL}};
	if (!space || !space->memory || !path)
		return error_null(error, __func__, !path ? "path" : "space");
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (ends_with(path, formats[i].ending))
			return formats[i].put ? fe_write_whole(path, formats[i].put, space, error)
			                      : state_space_write_hdf5(space, path, error);
	return error_set(error, CAL_ERR_INPUT,
	                 "%.300s: the ending of the name chooses the format: .json, .csv, .mat or .h5", path);
}
