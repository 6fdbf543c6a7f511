// SPDX-License-Identifier: Apache-2.0
/*
 * fe_bulk.c — cards of NASTRAN bulk data; see fe_bulk.h. Grids must be in the basic coordinate system.
 */
#include "io/fe/fe_bulk.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"

enum { INCLUDE_DEPTH = 8, PATH_SIZE = 1024 };

typedef struct Bulk {
	CalFeModel *fe;
	CalError *error;
	BulkReader reader;
	BulkLineReader lines;
	void *user;
} Bulk;

/* ---- fields ------------------------------------------------------------------------------------ */

static void put_field(BulkCard *card, const char *text, size_t width) {
	if (card->count == BULK_FIELDS)
		return;
	const char *zero = memchr(text, '\0', width);
	size_t length = zero ? (size_t)(zero - text) : width;
	while (length && (*text == ' ' || *text == '\t')) {
		text++;
		length--;
	}
	while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		length--;
	if (length >= BULK_FIELD_SIZE)
		length = BULK_FIELD_SIZE - 1;
	memcpy(card->field[card->count], text, length);
	card->field[card->count++][length] = '\0';
}

/* Splits a line after its first field; comments are gone. */
static void put_line(BulkCard *card, const char *line) {
	const char *comma = strchr(line, ',');
	if (comma) {
		const int count = memchr(line, '*', (size_t)(comma - line)) ? 4 : 8;
		for (int i = 0; i < count; i++) { // what is left out at the end is blank
			const char *next = comma ? strchr(comma + 1, ',') : NULL;
			put_field(card, comma ? comma + 1 : "", next ? (size_t)(next - comma - 1) : comma ? strlen(comma + 1) : 0);
			comma = next;
		}
		return;
	}
	const size_t length = strlen(line);
	const bool large = memchr(line, '*', length < 8 ? length : 8) != NULL;
	const int fields = large ? 4 : 8, width = large ? 16 : 8;
	for (int i = 0; i < fields; i++) {
		const size_t at = 8 + (size_t)(i * width);
		put_field(card, at < length ? line + at : "", (size_t)width);
	}
}

static void card_name(const char *line, char *name, size_t size) {
	size_t n = 0;
	for (; n + 1 < size && n < 8 && (isalnum((unsigned char)line[n]) || line[n] == '-' || line[n] == '_'); n++)
		name[n] = line[n];
	name[n] = '\0';
}

static bool is_continuation(const char *line) {
	return line[0] == ' ' || line[0] == '*' || line[0] == '+' || line[0] == ',' || line[0] == '\t';
}

/* ---- cards ------------------------------------------------------------------------------------- */

CalStatus fe_bulk_error(FeText *t, const BulkCard *card, const char *what) {
	t->line_number = card->line;
	return fe_text_error(t, CAL_ERR_INPUT, "%s: %s", card->name, what);
}

static CalStatus read_grid(FeText *t, Bulk *b, const BulkCard *card) {
	long id, system;
	double x[3] = {0, 0, 0};
	if (card->count < 1 || !fe_integer(card->field[0], &id))
		return fe_bulk_error(t, card, "expected the number of the grid");
	for (int i = 1; i <= 5 && i < card->count; i += 4)
		if (card->field[i][0] && (!fe_integer(card->field[i], &system) || system != 0))
			return fe_bulk_error(t, card,
			                     "only the basic coordinate system (CP and CD blank or 0) is understood; "
			                     "transform the model first");
	for (int i = 0; i < 3 && 2 + i < card->count; i++)
		if (card->field[2 + i][0] && !fe_number(card->field[2 + i], &x[i]))
			return fe_bulk_error(t, card, "a coordinate is no number");
	return fe_model_add_node(b->fe, id, (CalVec3){x[0], x[1], x[2]})
	           ? CAL_OK
	           : fe_file_error(b->error, b->fe->path, CAL_ERR_MEMORY, "out of memory");
}

static CalStatus read_card(FeText *t, Bulk *b, BulkCard *card) {
	const int line = t->line_number;
	CalStatus status = CAL_OK;
	if (card->count == BULK_FIELDS)
		return fe_bulk_error(t, card, "the card has too many continuations");
	for (char *c = card->name; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	if (strcmp(card->name, "GRID") == 0)
		status = read_grid(t, b, card);
	if (status == CAL_OK)
		status = b->reader(b->user, t, card);
	t->line_number = line;
	return status;
}

static CalStatus read_file(Bulk *b, const char *path, int depth);

static CalStatus read_include(FeText *t, Bulk *b, int depth) {
	char path[PATH_SIZE];
	char *name = fe_trim(t->line + 7);
	if (*name == '\'' || *name == '"') {
		const char quote = *name++;
		name[strcspn(name, quote == '"' ? "\"" : "'")] = '\0';
	}
	if (depth >= INCLUDE_DEPTH || !*name || !fe_path_beside(t->path, name, path, sizeof path))
		return fe_text_error(t, CAL_ERR_INPUT, "INCLUDE goes too deep or names no file");
	return read_file(b, path, depth + 1);
}

/* Lines gather in a card until the next one starts. */
static CalStatus read_lines(FeText *t, Bulk *b, BulkCard *card, int depth) {
	CalStatus status = CAL_OK;
	while (status == CAL_OK && fe_text_next(t, &status)) {
		if (b->lines && b->lines(b->user, t, &status))
			continue;
		t->line[strcspn(t->line, "$")] = '\0';
		if (!t->line[strspn(t->line, " \t")])
			continue;
		if (is_continuation(t->line)) {
			if (card->name[0])
				put_line(card, t->line);
			continue;
		}
		if (card->name[0])
			status = read_card(t, b, card);
		card->count = 0;
		card->line = t->line_number;
		card_name(t->line, card->name, sizeof card->name);
		if (status == CAL_OK && strncmp(t->lower, "include", 7) == 0) {
			card->name[0] = '\0';
			status = read_include(t, b, depth);
		} else {
			put_line(card, t->line);
		}
	}
	return status == CAL_OK && card->name[0] ? read_card(t, b, card) : status;
}

static CalStatus read_file(Bulk *b, const char *path, int depth) {
	FeText t;
	CalStatus status = fe_model_open(b->fe, &t, path, b->error);
	if (status != CAL_OK)
		return status;
	BulkCard *card = memory_alloc(&b->fe->pool.allocator, sizeof *card);
	if (card) {
		card->name[0] = '\0';
		card->count = 0;
		status = read_lines(&t, b, card, depth);
		memory_free(&b->fe->pool.allocator, card);
	} else {
		status = fe_file_error(b->error, path, CAL_ERR_MEMORY, "out of memory");
	}
	fe_text_close(&t);
	return status;
}

CalStatus fe_bulk_read(CalFeModel *fe, const char *path, BulkReader reader, BulkLineReader lines, void *user,
                       CalError *error) {
	Bulk bulk = {fe, error, reader, lines, user};
	return read_file(&bulk, path, 0);
}
