// SPDX-License-Identifier: Apache-2.0
/*
 * state_space_mat.c — linearized systems as MATLAB files, level 5 [MAT-File Format, The MathWorks]: little-endian, not
 * compressed, matrices by columns, lists of texts as cell arrays of UTF-16.
 *
 * Every element is a tag (type, bytes), its data and zeros up to a multiple of 8. A variable is an element miMATRIX of four:
 * flags with the class, dimensions, name, data. Numbers are put byte by byte: the machine's order of bytes does not matter.
 */
#include <stdint.h>
#include <string.h>

#include "io/linear/state_space_file.h"

enum { MI_INT8 = 1, MI_UINT16 = 4, MI_INT32 = 5, MI_UINT32 = 6, MI_DOUBLE = 9, MI_MATRIX = 14 };
enum { MX_CELL = 1, MX_CHAR = 4, MX_DOUBLE = 6 };
enum { HEADER_TEXT = 116, TAG = 8, UNIT = 8 };

static size_t padded(size_t bytes) { return (bytes + UNIT - 1) / UNIT * UNIT; }

static void put_bytes(FILE *out, uint64_t value, int count) {
	for (int i = 0; i < count; i++)
		putc((int)(value >> (8 * i) & 0xff), out);
}

static void put_double(FILE *out, double value) {
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	put_bytes(out, bits, 8);
}

static void put_tag(FILE *out, int type, size_t bytes) {
	put_bytes(out, (uint64_t)type, 4);
	put_bytes(out, bytes, 4);
}

static void put_padding(FILE *out, size_t bytes) { put_bytes(out, 0, (int)(padded(bytes) - bytes)); }

/* ---- variables ---------------------------------------------------------------------------------------------- */

/* Bytes of a variable of `dimensions` after its tag, of which `data` (with their tags) follow the name. */
static size_t size_of_variable(const char *name, int dimensions, size_t data) {
	return (TAG + 8) + TAG + padded(4 * (size_t)dimensions) + TAG + padded(strlen(name)) + data;
}

/* Everything before the data; layers: a third dimension, 0: there is none. */
static void put_head(FILE *out, int class, const char *name, int rows, int columns, int layers, size_t data) {
	const int dimensions = layers > 0 ? 3 : 2;
	put_tag(out, MI_MATRIX, size_of_variable(name, dimensions, data));
	put_tag(out, MI_UINT32, 8);
	put_bytes(out, (uint64_t) class, 8);
	put_tag(out, MI_INT32, 4 * (size_t)dimensions);
	put_bytes(out, (uint64_t)rows, 4);
	put_bytes(out, (uint64_t)columns, 4);
	put_bytes(out, (uint64_t)layers, layers > 0 ? 8 : 0); // padded
	put_tag(out, MI_INT8, strlen(name));
	fputs(name, out);
	put_padding(out, strlen(name));
}

/* Matrix k of all elements; of a series they are layers, a column has one column for each. */
static void put_matrix(FILE *out, const StateSpaceSeries *series, int k) {
	NamedMatrix matrices[STATE_SPACE_MATRICES];
	state_space_matrices(series->spaces, matrices);
	const NamedMatrix *m = &matrices[k];
	const size_t bytes = (size_t)series->count * (size_t)m->rows * (size_t)m->columns * sizeof(double);
	const bool layers = series->varies && m->column;
	put_head(out, MX_DOUBLE, m->name, m->rows, m->column ? m->columns : series->count, layers ? series->count : 0,
	         TAG + bytes);
	put_tag(out, MI_DOUBLE, bytes);
	for (int s = 0; s < series->count; s++) {
		state_space_matrices(&series->spaces[s], matrices);
		for (int j = 0; j < m->columns; j++)
			for (int i = 0; i < m->rows; i++)
				put_double(out, m->of[(size_t)i * (size_t)m->columns + (size_t)j]);
	}
}

static void put_times(FILE *out, const StateSpaceSeries *series) {
	const size_t bytes = (size_t)series->count * sizeof(double);
	put_head(out, MX_DOUBLE, "time", 1, series->count, 0, TAG + bytes);
	put_tag(out, MI_DOUBLE, bytes);
	for (int s = 0; s < series->count; s++)
		put_double(out, series->spaces[s].time);
}

/* ---- texts --------------------------------------------------------------------------------------------------- */

/* The next character of UTF-8; a byte that is none stands for itself. */
static uint32_t next_character(const unsigned char **text) {
	const unsigned char *t = *text;
	const int more = *t >= 0xf0 ? 3 : *t >= 0xe0 ? 2 : *t >= 0xc0 ? 1 : 0;
	uint32_t c = more == 3 ? *t & 7u : more == 2 ? *t & 15u : more == 1 ? *t & 31u : *t;
	for (int i = 1; i <= more; i++) {
		if ((t[i] & 0xc0) != 0x80) {
			*text = t + 1;
			return *t;
		}
		c = c << 6 | (t[i] & 63u);
	}
	*text = t + 1 + more;
	return c;
}

/* Units of UTF-16; put only if out is not NULL. */
static size_t put_utf16(FILE *out, const char *text) {
	size_t count = 0;
	for (const unsigned char *t = (const unsigned char *)text; *t;) {
		const uint32_t c = next_character(&t);
		if (c < 0x10000) {
			if (out)
				put_bytes(out, c, 2);
			count++;
			continue;
		}
		if (out) {
			put_bytes(out, 0xd800 + ((c - 0x10000) >> 10), 2);
			put_bytes(out, 0xdc00 + ((c - 0x10000) & 0x3ff), 2);
		}
		count += 2;
	}
	return count;
}

static size_t size_of_text(const char *text) { return TAG + padded(2 * put_utf16(NULL, text)); }

static void put_text(FILE *out, const char *text) {
	const size_t count = put_utf16(NULL, text);
	put_head(out, MX_CHAR, "", count > 0, (int)count, 0, size_of_text(text));
	put_tag(out, MI_UINT16, 2 * count);
	put_utf16(out, text);
	put_padding(out, 2 * count);
}

static const char *text_of(const CalSignalName *signal, int units) { return units ? signal->unit : signal->name; }

static void put_cells(FILE *out, const char *name, const NameGroup *group, int units) {
	size_t bytes = 0;
	for (int i = 0; i < group->count; i++)
		bytes += TAG + size_of_variable("", 2, size_of_text(text_of(&group->of[i], units)));
	put_head(out, MX_CELL, name, group->count, 1, 0, bytes);
	for (int i = 0; i < group->count; i++)
		put_text(out, text_of(&group->of[i], units));
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

static void put_header(FILE *out) {
	static const char text[] = "MATLAB 5.0 MAT-file, linearized system by Calder";
	fputs(text, out);
	for (size_t i = strlen(text); i < HEADER_TEXT; i++)
		putc(' ', out);
	put_bytes(out, 0, 8); // no subsystem data
	put_bytes(out, 0x0100, 2);
	fputs("IM", out); // little-endian
}

void state_space_put_mat(FILE *out, const void *user) {
	const StateSpaceSeries *series = user;
	NameGroup groups[3];
	state_space_names(series->spaces, groups);
	put_header(out);
	put_times(out, series);
	for (int i = 0; i < STATE_SPACE_MATRICES; i++)
		put_matrix(out, series, i);
	for (int i = 0; i < 3; i++) {
		put_cells(out, groups[i].names, &groups[i], 0);
		put_cells(out, groups[i].units, &groups[i], 1);
	}
}
