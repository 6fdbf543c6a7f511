// SPDX-License-Identifier: Apache-2.0
/*
 * fe_dmig.c — NASTRAN bulk data: DMIG matrices with GRID cards, as punched by EXTSEOUT or EXTOUT=DMIGPCH.
 *
 * Real symmetric (form 6) and real square (form 1) matrices. A column card holds "name, grid, component" and then (grid,
 * component, value) for its rows. Component 0 is a scalar point. Eigenvectors that are punched into the file take the place of
 * a stiffness if there is none (fe_punch.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/fe/fe_bulk.h"
#include "io/fe/fe_nastran.h"

static CalStatus read_header(FeText *t, Nastran *d, const BulkCard *card) {
	long form, type;
	if (card->count < 4 || !fe_integer(card->field[2], &form) || !fe_integer(card->field[3], &type))
		return fe_bulk_error(t, card, "the header needs name, 0, form, type");
	if (type > 2)
		return fe_bulk_error(t, card, "complex matrices are not understood (type 3 and 4); punch a real one");
	if (form != 6 && form != 1)
		return fe_bulk_error(t, card, "only symmetric (form 6) and square (form 1) matrices are understood");
	if (nastran_find(d, card->field[0]) >= 0)
		return fe_bulk_error(t, card, "this matrix has a header already");
	if (d->name_count == NASTRAN_NAMES)
		return fe_bulk_error(t, card, "too many matrices in one file");
	NastranName *name = &d->names[d->name_count++];
	snprintf(name->name, sizeof name->name, "%.15s", card->field[0]);
	name->square = form == 1;
	return CAL_OK;
}

static bool parse_component(const char *field, int *component) {
	long value = 0;
	if (field[0] && !fe_integer(field, &value))
		return false;
	*component = (int)value;
	return value >= 0 && value <= 6;
}

static CalStatus read_column(FeText *t, Nastran *d, const BulkCard *card) {
	NastranEntry entry = {.matrix = nastran_find(d, card->field[0]), .line = card->line};
	if (entry.matrix < 0)
		return fe_bulk_error(t, card, "a column comes before the header of its matrix");
	if (card->count < 3 || !fe_integer(card->field[1], &entry.col_node) ||
	    !parse_component(card->field[2], &entry.col_component))
		return fe_bulk_error(t, card, "expected the grid and component (0 to 6) of the column");
	for (int i = 4; i + 2 < card->count; i += 4) {
		if (!card->field[i][0] && !card->field[i + 2][0])
			continue;
		if (!fe_integer(card->field[i], &entry.row_node) ||
		    !parse_component(card->field[i + 1], &entry.row_component) || !fe_number(card->field[i + 2], &entry.value))
			return fe_bulk_error(t, card, "expected grid, component and a finite value for each row");
		const CalStatus status = nastran_add_entry(d, &entry);
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

static bool read_line(void *user, FeText *t, CalStatus *status) {
	return punch_take_line(&((Nastran *)user)->modes, t, status);
}

static CalStatus read_card(void *user, FeText *t, const BulkCard *card) {
	if (strcmp(card->name, "DMIG") != 0 || card->count < 2)
		return CAL_OK;
	return strcmp(card->field[1], "0") == 0 ? read_header(t, user, card) : read_column(t, user, card);
}

CalStatus cal_fe_read_dmig(const char *path, const char *stiffness, const char *mass, const CalFeUnits *units,
                           const CalAllocator *allocator, CalFeModel **fe, CalError *error) {
	if (!path || !fe)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_fe_read_dmig: path or fe is NULL");
	*fe = NULL;
	if (!allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_fe_read_dmig: the allocator needs both functions or none");
	CalFeModel *made = fe_model_new(path, "DMIG", units, allocator);
	if (!made)
		return fe_file_error(error, path, CAL_ERR_MEMORY, "out of memory");
	Nastran d = {.fe = made, .error = error, .modes = {.fe = made}};
	CalStatus status = fe_bulk_read(made, path, read_card, read_line, &d, error);
	if (status == CAL_OK)
		status = nastran_complete(&d, stiffness, mass);
	nastran_free(&d);
	return fe_model_complete(made, status, fe, error);
}
