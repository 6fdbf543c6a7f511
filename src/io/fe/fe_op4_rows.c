// SPDX-License-Identifier: Apache-2.0
/*
 * fe_op4_rows.c — equations of the rows of OP4 matrices from bulk data; see fe_op4_rows.h.
 */
#include "io/fe/fe_op4_rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/fe/fe_bulk.h"

static CalStatus add_row(Op4Rows *rows, bool chosen, long point, int component, FeText *t, const BulkCard *card) {
	int *count = chosen ? &rows->chosen_count : &rows->all_count;
	int *capacity = chosen ? &rows->chosen_capacity : &rows->all_capacity;
	Op4Row **list = chosen ? &rows->chosen : &rows->all;
	if (*count > 2 * FE_MAX_DOFS)
		return fe_bulk_error(t, card, "there are too many equations");
	Op4Row *grown = array_reserve(&rows->fe->pool.allocator, *list, *count, 1, capacity, sizeof *grown);
	if (!grown)
		return fe_text_error(t, CAL_ERR_MEMORY, "out of memory");
	*list = grown;
	grown[(*count)++] = (Op4Row){point, component};
	return CAL_OK;
}

/* Components of a point: "123456" one by one; blank or 0 is that of a scalar point. */
static CalStatus add_components(Op4Rows *rows, long point, const char *components, FeText *t, const BulkCard *card) {
	CalStatus status = CAL_OK;
	if (!*components || strcmp(components, "0") == 0)
		return add_row(rows, true, point, 0, t, card);
	for (const char *c = components; *c && status == CAL_OK; c++) {
		if (*c < '1' || *c > '6')
			return fe_bulk_error(t, card, "components are digits 1 to 6, or 0 for a scalar point");
		status = add_row(rows, true, point, *c - '0', t, card);
	}
	return status;
}

/* Points from field `from` on: numbers, or "first THRU last". components NULL: scalar points. */
static CalStatus add_points(Op4Rows *rows, int from, const char *components, FeText *t, const BulkCard *card) {
	CalStatus status = CAL_OK;
	for (int i = from; i < card->count && status == CAL_OK; i++) {
		long first, last;
		if (!card->field[i][0])
			continue;
		if (!fe_integer(card->field[i], &first) || first < 1)
			return fe_bulk_error(t, card, "expected the number of a point");
		last = first;
		if (i + 2 < card->count &&
		    (strcmp(card->field[i + 1], "THRU") == 0 || strcmp(card->field[i + 1], "thru") == 0)) {
			if (!fe_integer(card->field[i + 2], &last) || last < first || last - first > FE_MAX_DOFS)
				return fe_bulk_error(t, card, "THRU needs a greater number after it");
			i += 2;
		}
		for (long point = first; point <= last && status == CAL_OK; point++)
			status =
				components ? add_components(rows, point, components, t, card) : add_row(rows, false, point, 0, t, card);
	}
	return status;
}

static CalStatus read_set(Op4Rows *rows, FeText *t, const BulkCard *card) {
	CalStatus status = CAL_OK;
	if (strlen(card->name) == 5) // ASET1, components, points
		return card->count ? add_points(rows, 1, card->field[0], t, card) : CAL_OK;
	for (int i = 0; i + 1 < card->count && status == CAL_OK; i += 2) { // ASET, point, components, point, components ...
		long point;
		if (!card->field[i][0])
			continue;
		if (!fe_integer(card->field[i], &point) || point < 1)
			return fe_bulk_error(t, card, "expected the number of a point");
		status = add_components(rows, point, card->field[i + 1], t, card);
	}
	return status;
}

static CalStatus read_card(void *user, FeText *t, const BulkCard *card) {
	Op4Rows *rows = user;
	CalStatus status = CAL_OK;
	if (strcmp(card->name, "GRID") == 0) {
		long point;
		for (int c = 1; c <= 6 && status == CAL_OK && fe_integer(card->field[0], &point); c++)
			status = add_row(rows, false, point, c, t, card);
	} else if (strcmp(card->name, "SPOINT") == 0) {
		status = add_points(rows, 0, NULL, t, card);
	} else if (strchr("ABCQ", card->name[0]) && strncmp(card->name + 1, "SET", 3) == 0 &&
	           (!card->name[4] || strcmp(card->name + 4, "1") == 0)) {
		status = read_set(rows, t, card);
	}
	return status;
}

static int by_place(const void *a, const void *b) {
	const Op4Row *x = a, *y = b;
	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	return (x->component > y->component) - (x->component < y->component);
}

/* Sorted, each once; returns how many are left. */
static int sort_rows(Op4Row *rows, int count) {
	int kept = count > 0;
	if (count > 1)
		qsort(rows, (size_t)count, sizeof *rows, by_place);
	for (int i = 1; i < count; i++)
		if (by_place(&rows[i], &rows[kept - 1]) != 0)
			rows[kept++] = rows[i];
	return kept;
}

/* Of the numbers of a range, only those of points that there are. */
static int drop_unknown(Op4Rows *rows, int count) {
	int kept = 0;
	for (int i = 0; i < count; i++)
		if (bsearch(&rows->chosen[i], rows->all, (size_t)rows->count, sizeof *rows->all, by_place))
			rows->chosen[kept++] = rows->chosen[i];
	return kept;
}

CalStatus op4_rows_read(Op4Rows *rows, const char *path, CalError *error) {
	const CalStatus status = fe_bulk_read(rows->fe, path, read_card, NULL, rows, error);
	if (status != CAL_OK)
		return status;
	rows->count = sort_rows(rows->all, rows->all_count);
	rows->rows = rows->all;
	if (rows->chosen_count) {
		const int chosen = drop_unknown(rows, sort_rows(rows->chosen, rows->chosen_count));
		rows->rows = rows->chosen;
		rows->count = chosen;
	}
	if (rows->count == 0)
		return fe_file_error(
			error, path, CAL_ERR_INPUT,
			"there are no GRID or SPOINT cards, or none of the sets: what the rows of the matrices are "
			"is not known");
	return CAL_OK;
}

void op4_rows_free(Op4Rows *rows) {
	memory_free(&rows->fe->pool.allocator, rows->all);
	memory_free(&rows->fe->pool.allocator, rows->chosen);
}
