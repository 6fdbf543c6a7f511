// SPDX-License-Identifier: Apache-2.0
/*
 * fe_op4.c — NASTRAN OUTPUT4 files: K and M as text or binary, with the equations of their rows from bulk data.
 *
 * A matrix is a header (columns, rows, form, type, name) and its columns, each with column number, first row and number of
 * words, up to one after the last. A first row > 0: the values from there on (dense). 0: strings of nonzeros, each with its
 * first row and length: in one word, row + 65536 (length + 1), or in two (BIGMAT: the number of rows is negative or at least
 * 65536). A word is a single precision number; text files have 8 columns per integer and the format of the values in the
 * header. Binary files are Fortran records of either byte order, with words of 4 or 8 bytes. Symmetric matrices have both
 * triangles here, other than in DMIG.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/fe/fe_nastran.h"
#include "io/fe/fe_op4_rows.h"

enum { PATH_SIZE = 1024, ROWS_OF_BIGMAT = 65536 };

typedef struct Op4 {
	Nastran *n;
	const Op4Rows *rows;
	FeText *t;
	const char *stiffness, *mass; // names asked for, or NULL
	bool swapped;                 // binary: the other byte order
	size_t word;                  // bytes of a word, 0: a text file
	// the matrix that is being read
	long columns, row_count, type;
	char name[16];
	int matrix;          // of Nastran, -1: nobody needs it
	bool big;            // two words before a string
	int per_line, width; // text: values of a line, characters of a value
	const char *record;  // binary: what is left of the record
	size_t left;         // its bytes
} Op4;

static CalStatus bad(Op4 *o, const char *what) {
	if (o->word == 0)
		return fe_text_error(o->t, CAL_ERR_INPUT, "%s", what);
	return fe_file_error(o->t->error, o->t->path, CAL_ERR_INPUT, "byte %zu: %s", o->t->at, what);
}

/* ---- matrices ---------------------------------------------------------------------------------- */

static bool is_wanted(const Op4 *o, const char *given, char letter) {
	return given ? strcmp(o->name, given) == 0 : o->name[0] == letter;
}

/* Takes the matrix in, or leaves it out: not square, or neither stiffness nor mass. */
static CalStatus open_matrix(Op4 *o) {
	const bool wanted = is_wanted(o, o->stiffness, 'K') || is_wanted(o, o->mass, 'M');
	o->big = o->row_count < 0 || o->row_count >= ROWS_OF_BIGMAT;
	o->row_count = labs(o->row_count);
	o->matrix = -1;
	if (o->columns < 1 || o->row_count < 1 || o->type < 1 || o->type > 4)
		return bad(o, "expected the header of a matrix: columns, rows, form, type 1 to 4, name");
	if (!wanted || o->columns != o->row_count)
		return CAL_OK;
	if (o->type > 2)
		return bad(o, "the stiffness or mass matrix is complex (type 3 or 4); write a real one");
	if (o->row_count != o->rows->count)
		return fe_file_error(
			o->t->error, o->t->path, CAL_ERR_INPUT,
			"matrix %s has %ld rows, but the bulk data have %d equations (six of each GRID, one of each SPOINT, or "
			"those of ASET1, BSET1, CSET1, QSET1 cards); give the set of the matrix",
			o->name, o->row_count, o->rows->count);
	if (nastran_find(o->n, o->name) >= 0)
		return bad(o, "two matrices have the same name");
	if (o->n->name_count == NASTRAN_NAMES)
		return bad(o, "too many matrices in one file");
	o->matrix = o->n->name_count++;
	NastranName *name = &o->n->names[o->matrix];
	*name = (NastranName){.square = true};
	memcpy(name->name, o->name, sizeof name->name);
	return CAL_OK;
}

static CalStatus add_value(Op4 *o, long row, long column, double value) {
	if (o->matrix < 0 || value == 0)
		return CAL_OK;
	if (!isfinite(value))
		return bad(o, "a value is not finite");
	const Op4Row *r = &o->rows->rows[row - 1], *c = &o->rows->rows[column - 1];
	const NastranEntry entry = {.row_node = r->point,
	                            .row_component = r->component,
	                            .col_node = c->point,
	                            .col_component = c->component,
	                            .matrix = o->matrix,
	                            .value = value};
	return nastran_add_entry(o->n, &entry);
}

/* A name without blanks at its ends, in upper case. */
static void take_name(Op4 *o, const char *text, size_t length) {
	size_t n = 0;
	for (size_t i = 0; i < length && n + 1 < sizeof o->name; i++)
		if (text[i] && !isspace((unsigned char)text[i]))
			o->name[n++] = (char)toupper((unsigned char)text[i]);
	memset(o->name + n, 0, sizeof o->name - n);
}

/* ---- text and binary: integers and values in sequence -------------------------------------------- */

static bool text_integer(const char *line, int field, long *value) {
	char text[9] = "";
	const size_t length = strlen(line), at = 8 * (size_t)field;
	if (at < length)
		memcpy(text, line + at, length - at < 8 ? length - at : 8);
	return fe_integer(text, value);
}

static uint64_t binary_bits(const Op4 *o, const char *from, size_t bytes) {
	uint64_t bits = 0;
	for (size_t i = 0; i < bytes; i++)
		bits |= (uint64_t)(unsigned char)from[o->swapped ? bytes - 1 - i : i] << 8 * i;
	return bits;
}

/* The next record of a binary file; its length is written before and after it. */
static CalStatus next_record(Op4 *o) {
	FeText *t = o->t;
	if (t->length - t->at < 8)
		return bad(o, "the file ends within a matrix");
	const uint64_t length = binary_bits(o, t->text + t->at, 4);
	if (length > t->length - t->at - 8 || binary_bits(o, t->text + t->at + 4 + length, 4) != length)
		return bad(o, "a record does not end where its length says");
	o->record = t->text + t->at + 4;
	o->left = (size_t)length;
	t->at += (size_t)length + 8;
	return CAL_OK;
}

static CalStatus next_line(Op4 *o) {
	CalStatus status = CAL_OK;
	if (fe_text_next(o->t, &status))
		return CAL_OK;
	return status != CAL_OK ? status : bad(o, "the file ends within a matrix");
}

enum { LARGEST = 1 << 30 }; // of counts and indices: sums of them do not overflow

/* The next `count` integers: a line of text, or words of the record. */
static CalStatus take_integers(Op4 *o, int count, long *value) {
	CalStatus status = o->word == 0 ? next_line(o) : CAL_OK;
	for (int i = 0; i < count && status == CAL_OK; i++) {
		if (o->word == 0) {
			if (!(count == 1 ? fe_integer(o->t->line, value) : text_integer(o->t->line, i, &value[i])))
				return bad(o, "expected integers of eight columns");
			continue;
		}
		if (o->left < o->word)
			return bad(o, "a record is shorter than its words");
		const uint64_t bits = binary_bits(o, o->record, o->word);
		const int64_t wide = o->word == 8 ? (int64_t)bits : (int32_t)(uint32_t)bits;
		if (wide < -LARGEST || wide > LARGEST)
			return bad(o, "a count or an index is too large");
		value[i] = (long)wide;
		o->record += o->word;
		o->left -= o->word;
	}
	return status;
}

static CalStatus text_value(Op4 *o, long index, double *value) {
	char text[64] = "";
	const int place = (int)(index % o->per_line);
	const CalStatus status = place == 0 ? next_line(o) : CAL_OK;
	if (status != CAL_OK)
		return status;
	const size_t length = strlen(o->t->line), at = (size_t)place * (size_t)o->width;
	if (at < length)
		memcpy(text, o->t->line + at, length - at < (size_t)o->width ? length - at : (size_t)o->width);
	return fe_number(text, value) ? CAL_OK : bad(o, "expected a finite value");
}

static CalStatus binary_value(Op4 *o, double *value) {
	const size_t bytes = o->type % 2 == 0 ? 8 : o->word;
	if (o->left < bytes)
		return bad(o, "a record is shorter than its words");
	const uint64_t bits = binary_bits(o, o->record, bytes);
	if (bytes == 8) {
		memcpy(value, &bits, sizeof *value);
	} else {
		const uint32_t half = (uint32_t)bits;
		float single;
		memcpy(&single, &half, sizeof single);
		*value = (double)single;
	}
	o->record += bytes;
	o->left -= bytes;
	return CAL_OK;
}

/* Values of one column from `row` on. */
static CalStatus take_values(Op4 *o, long column, long row, long count) {
	CalStatus status = CAL_OK;
	if (row < 1 || count < 0 || count > o->row_count * (o->type > 2 ? 2 : 1) ||
	    (o->type <= 2 && row + count - 1 > o->row_count))
		return bad(o, "a column has more rows than the matrix");
	for (long k = 0; k < count && status == CAL_OK; k++) {
		double value = 0;
		status = o->word == 0 ? text_value(o, k, &value) : binary_value(o, &value);
		if (status == CAL_OK && o->type <= 2)
			status = add_value(o, row + k, column, value);
	}
	return status;
}

/* ---- columns ----------------------------------------------------------------------------------- */

/* Strings of nonzeros that fill `words` words. */
static CalStatus take_strings(Op4 *o, long column, long words) {
	const long per_value = o->word != 8 && o->type % 2 == 0 ? 2 : 1;
	CalStatus status = CAL_OK;
	while (words > 0 && status == CAL_OK) {
		long head[2] = {0}, length, row;
		status = take_integers(o, o->big ? 2 : 1, head);
		if (status != CAL_OK)
			return status;
		length = o->big ? head[0] - 1 : (head[0] >> 16) - 1;
		row = o->big ? head[1] : head[0] & 0xffff;
		if (head[0] < 1 || length < 1 || length % per_value)
			return bad(o, "a string of nonzeros has no length");
		words -= length + (o->big ? 2 : 1);
		status = take_values(o, column, row, length / per_value);
	}
	return status == CAL_OK && words < 0 ? bad(o, "the strings of a column are longer than the column") : status;
}

/* The values of a column that nobody needs, of a text file, have to be passed too; of a binary one the record ends. */
static CalStatus read_columns(Op4 *o) {
	for (long last = 0;;) {
		long head[3] = {0};
		CalStatus status = o->word ? next_record(o) : CAL_OK;
		if (status == CAL_OK)
			status = take_integers(o, 3, head);
		if (status != CAL_OK)
			return status;
		const bool end = head[0] == o->columns + 1;
		if (head[0] <= last || head[0] > o->columns + 1 || head[1] < 0 || head[2] < 0)
			return bad(o, "expected column, row and number of words, columns ascending");
		last = head[0];
		if (end) { // one value that means nothing; a file that ends here is complete
			CalStatus ignored = CAL_OK;
			if (o->word == 0)
				(void)fe_text_next(o->t, &ignored);
			return CAL_OK;
		}
		if (head[1] == 0)
			status = take_strings(o, head[0], head[2]);
		else // words of a text file are values
			status = take_values(o, head[0], head[1], o->word == 4 && o->type % 2 == 0 ? head[2] / 2 : head[2]);
		if (status != CAL_OK)
			return status;
	}
}

/* ---- headers ----------------------------------------------------------------------------------- */

/* "1P,3E23.16": three values of 23 characters in a line. */
static bool parse_format(const char *text, int *per_line, int *width) {
	long count, size;
	char number[2][8] = {"", ""};
	text += strspn(text, " ");
	if ((text[0] == '1' && toupper((unsigned char)text[1]) == 'P'))
		text += text[2] == ',' ? 3 : 2;
	const size_t digits = strspn(text, "0123456789");
	const size_t after = text[digits] ? strspn(text + digits + 1, "0123456789") : 0;
	if (digits < 1 || digits > 3 || after < 1 || after > 3 || !strchr("EDed", text[digits]))
		return false;
	memcpy(number[0], text, digits);
	memcpy(number[1], text + digits + 1, after);
	if (!fe_integer(number[0], &count) || !fe_integer(number[1], &size) || count < 1 || size < 1 || size > 60)
		return false;
	*per_line = (int)count;
	*width = (int)size;
	return true;
}

/* The header of the next matrix; *more false: there is none. */
static CalStatus read_text_header(Op4 *o, bool *more) {
	CalStatus status = CAL_OK;
	long value[4] = {0};
	do
		*more = fe_text_next(o->t, &status);
	while (*more && !o->t->line[strspn(o->t->line, " \t")]);
	if (!*more)
		return status;
	const char *line = o->t->line;
	for (int i = 0; i < 4; i++)
		if (!text_integer(line, i, &value[i]))
			return bad(o, "expected the header of a matrix: columns, rows, form, type, name");
	o->columns = value[0], o->row_count = value[1], o->type = value[3];
	const size_t length = strlen(line);
	take_name(o, length > 32 ? line + 32 : "", length > 40 ? 8 : length > 32 ? length - 32 : 0);
	o->per_line = 5;
	o->width = 16;
	if (length > 44 && !parse_format(line + 40, &o->per_line, &o->width))
		return bad(o, "the format of the values is not understood; 1P,3E23.16 is one");
	return open_matrix(o);
}

static CalStatus read_binary_header(Op4 *o, bool *more) {
	long value[4] = {0};
	*more = o->t->at < o->t->length;
	CalStatus status = *more ? next_record(o) : CAL_OK;
	if (status != CAL_OK || !*more)
		return status;
	status = take_integers(o, 4, value);
	if (status != CAL_OK)
		return status;
	o->columns = value[0], o->row_count = value[1], o->type = value[3];
	take_name(o, o->record, o->left);
	return open_matrix(o);
}

/* Text, or binary by the length of the first record. */
static CalStatus find_kind(Op4 *o) {
	const FeText *t = o->t;
	if (t->length < 16)
		return fe_file_error(t->error, t->path, CAL_ERR_INPUT, "the file is too short for a matrix");
	for (int k = 0; k < 2; k++) {
		o->swapped = k > 0;
		const uint64_t length = binary_bits(o, t->text, 4);
		if (length == 24 || length == 48) {
			o->word = length == 24 ? 4 : 8;
			return CAL_OK;
		}
	}
	return CAL_OK;
}

static CalStatus read_matrices(Op4 *o) {
	bool more = true;
	CalStatus status = find_kind(o);
	while (status == CAL_OK) {
		status = o->word ? read_binary_header(o, &more) : read_text_header(o, &more);
		if (status != CAL_OK || !more)
			return status;
		status = read_columns(o);
	}
	return status;
}

/* ---- all together ------------------------------------------------------------------------------ */

/* Bulk data beside the file: the same name with another ending. */
static CalStatus find_bulk(const char *path, char *found, CalError *error) {
	static const char *const endings[] = {".asm", ".pch", ".bdf", ".nas", ".dat"};
	const char *point = strrchr(path, '.');
	const int base = (int)(point && !strchr(point, '/') ? (size_t)(point - path) : strlen(path));
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		const int length = snprintf(found, PATH_SIZE, "%.*s%s", base, path, endings[i]);
		FILE *file = length > 0 && length < PATH_SIZE ? fopen(found, "r") : NULL;
		if (file) {
			fclose(file);
			return CAL_OK;
		}
	}
	return fe_file_error(
		error, path, CAL_ERR_INPUT,
		"an OP4 file has numbers only: put the GRID cards of its rows (and ASET1, if not all components) into a file "
		"of the same name that ends in .bdf (or .asm, .pch, .nas, .dat), or give one (--bulk)");
}

static CalStatus read_op4(CalFeModel *made, const char *bulk, const char *stiffness, const char *mass,
                          CalError *error) {
	char beside[PATH_SIZE];
	FeText t;
	Op4Rows rows = {.fe = made};
	Nastran n = {.fe = made, .error = error};
	CalStatus status = bulk ? CAL_OK : find_bulk(made->path, beside, error);
	if (status == CAL_OK)
		status = op4_rows_read(&rows, bulk ? bulk : beside, error);
	if (status == CAL_OK)
		status = fe_model_open(made, &t, made->path, error);
	if (status == CAL_OK) {
		Op4 o = {.n = &n, .rows = &rows, .t = &t, .stiffness = stiffness, .mass = mass};
		status = read_matrices(&o);
		fe_text_close(&t);
	}
	if (status == CAL_OK)
		status = nastran_complete(&n, stiffness, mass);
	op4_rows_free(&rows);
	nastran_free(&n);
	return status;
}

CalStatus cal_fe_read_op4(const char *path, const char *bulk, const char *stiffness, const char *mass,
                          const CalFeUnits *units, const CalAllocator *allocator, CalFeModel **fe, CalError *error) {
	if (!path || !fe)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_fe_read_op4: path or fe is NULL");
	*fe = NULL;
	if (!allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_fe_read_op4: the allocator needs both functions or none");
	CalFeModel *made = fe_model_new(path, "OP4", units, allocator);
	if (!made)
		return fe_file_error(error, path, CAL_ERR_MEMORY, "out of memory");
	return fe_model_complete(made, read_op4(made, bulk, stiffness, mass, error), fe, error);
}
