// SPDX-License-Identifier: Apache-2.0
/*
 * fe_punch.c — eigenvectors of a NASTRAN punch file; see fe_punch.h.
 */
#include "io/fe/fe_punch.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "fe/fe_modal.h"

enum { FIRST_VALUE = 18, VALUE_WIDTH = 18 };

static CalStatus memory_error(FeText *t) { return fe_text_error(t, CAL_ERR_MEMORY, "out of memory"); }

/* Three values of 18 columns. */
static bool take_values(const char *line, double *x) {
	const size_t length = strlen(line);
	for (size_t k = 0; k < 3; k++) {
		char text[VALUE_WIDTH + 1] = "";
		const size_t at = FIRST_VALUE + VALUE_WIDTH * k;
		if (at < length)
			memcpy(text, line + at, length - at < VALUE_WIDTH ? length - at : VALUE_WIDTH);
		if (!fe_number(text, &x[k]))
			return false;
	}
	return true;
}

/* "$EIGENVALUE =  0.1234567E+05  MODE =     1" */
static CalStatus open_mode(PunchModes *m, FeText *t) {
	char text[40] = "";
	const char *value = strchr(t->line, '=');
	value = value ? value + 1 + strspn(value + 1, " ") : "";
	const size_t length = strcspn(value, " ");
	double number;
	memcpy(text, value, length < sizeof text ? length : sizeof text - 1);
	if (!fe_number(text, &number))
		return fe_text_error(t, CAL_ERR_INPUT, "expected $EIGENVALUE = number");
	if (m->count == FE_MAX_MODES)
		return fe_text_error(t, CAL_ERR_UNSUPPORTED, "more than %d modes", FE_MAX_MODES);
	double *values = array_reserve(&m->fe->pool.allocator, m->values, m->count, 1, &m->capacity, sizeof *values);
	if (!values)
		return memory_error(t);
	m->values = values;
	values[m->count++] = number;
	m->of_mode = true;
	return CAL_OK;
}

static CalStatus take_heading(PunchModes *m, FeText *t) {
	const char *key = t->lower + 1 + strspn(t->lower + 1, " ");
	if (m->half)
		return fe_text_error(t, CAL_ERR_INPUT, "the rotations of grid %ld are missing", m->rows[m->row_count - 1].grid);
	if ((strncmp(key, "title", 5) == 0 && strchr(key, '=')) || strncmp(key, "eigenvector", 11) == 0 ||
	    strncmp(key, "displacement", 12) == 0) {
		m->in_table = true;
		m->of_mode = false;
	}
	return m->in_table && strncmp(key, "eigenvalue", 10) == 0 ? open_mode(m, t) : CAL_OK;
}

static CalStatus take_point(PunchModes *m, FeText *t) {
	char text[16] = "";
	PunchRow row = {.mode = m->count - 1};
	memcpy(text, t->line, strlen(t->line) < 10 ? strlen(t->line) : 10);
	const char *kind = t->line + strlen(text) + strspn(t->line + strlen(text), " ");
	if (!fe_integer(text, &row.grid) || !take_values(t->line, row.x))
		return fe_text_error(t, CAL_ERR_INPUT, "expected the number of a grid and three values of 18 columns");
	if (*kind != 'G')
		return CAL_OK; // a scalar point moves no grid
	PunchRow *rows = array_reserve(&m->fe->pool.allocator, m->rows, m->row_count, 1, &m->row_capacity, sizeof *rows);
	if (!rows)
		return memory_error(t);
	m->rows = rows;
	rows[m->row_count++] = row;
	m->half = true;
	return CAL_OK;
}

bool punch_take_line(PunchModes *m, FeText *t, CalStatus *status) {
	const char *start = t->line + strspn(t->line, " ");
	if (t->line[0] == '$') {
		*status = take_heading(m, t);
		return *status != CAL_OK || m->in_table;
	}
	const bool more = strncmp(t->line, "-CONT-", 6) == 0;
	m->in_table = m->in_table && (!*start || more || isdigit((unsigned char)*start));
	if (!m->in_table || !*start)
		return m->in_table;
	if (!m->of_mode)
		return true;
	if (more && m->half && !take_values(t->line, m->rows[m->row_count - 1].x + 3))
		*status = fe_text_error(t, CAL_ERR_INPUT, "expected three values of 18 columns");
	else if (!more && m->half)
		*status = fe_text_error(t, CAL_ERR_INPUT, "expected -CONT- with the rotations of grid %ld",
		                        m->rows[m->row_count - 1].grid);
	else if (!more)
		*status = take_point(m, t);
	m->half = m->half && !more;
	return true;
}

CalStatus punch_complete(const PunchModes *m, int (*equation)(void *user, long grid, int component), void *user,
                         CalError *error) {
	CalFeModel *fe = m->fe;
	if (m->half)
		return fe_file_error(error, fe->path, CAL_ERR_INPUT, "the file ends within an eigenvector");
	for (int k = 0; k < m->row_count; k++) // all equations first: shapes have one number of each
		for (int c = 1; c <= 6; c++) {
			const int at = equation(user, m->rows[k].grid, c);
			if (at < 0)
				return fe_file_error(error, fe->path, at == -1 ? CAL_ERR_INPUT : CAL_ERR_UNSUPPORTED,
				                     at == -1 ? "the eigenvectors have grid %ld, but there is no GRID card for it"
				                              : "more equations than can be read, at grid %ld",
				                     m->rows[k].grid);
		}
	const size_t n = (size_t)fe->dof_count;
	fe->mode_values = pool_array(&fe->pool, (size_t)m->count, sizeof *fe->mode_values);
	fe->mode_shapes = pool_array(&fe->pool, (size_t)m->count * n, sizeof *fe->mode_shapes);
	if (!fe->mode_values || !fe->mode_shapes)
		return fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory");
	memcpy(fe->mode_values, m->values, (size_t)m->count * sizeof *m->values);
	for (int k = 0; k < m->row_count; k++)
		for (int c = 0; c < 6; c++)
			fe->mode_shapes[(size_t)m->rows[k].mode * n + (size_t)equation(user, m->rows[k].grid, c + 1)] =
				m->rows[k].x[c];
	fe->mode_count = m->count;
	return CAL_OK;
}

void punch_free(PunchModes *m) {
	memory_free(&m->fe->pool.allocator, m->values);
	memory_free(&m->fe->pool.allocator, m->rows);
}
