// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_write_values.c — numbers, texts, vectors, placements and subtrees as YAML.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "io/model/writer/model_file_write.h"

bool same_bits(const double *a, const double *b, int count) { return memcmp(a, b, (size_t)count * sizeof *a) == 0; }

bool all_zero(const double *values, int count) {
	for (int i = 0; i < count; i++) {
		if (values[i] != 0 || signbit(values[i]))
			return false;
	}
	return true;
}

void put_key(Writer *w, bool *first, const char *key) {
	fprintf(w->out, "%s%s: ", *first ? "" : ", ", key);
	*first = false;
}

void put_number(Writer *w, double value) {
	char text[NUMBER_TEXT];
	number_format(value, text);
	fputs(text, w->out);
}

void put_numbers(Writer *w, const double *values, int count) {
	for (int i = 0; i < count; i++) {
		fputs(i ? ", " : "[", w->out);
		put_number(w, values[i]);
	}
	fputs(count ? "]" : "[]", w->out);
}

void put_rows(Writer *w, const double *values, int rows, int columns) {
	for (int i = 0; i < rows; i++) {
		fputs(i ? ", " : "[", w->out);
		put_numbers(w, values + (size_t)i * (size_t)columns, columns);
	}
	fputc(']', w->out);
}

/* ---- texts --------------------------------------------------------------------------------------- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Words that YAML readers take for something else than a text. */
static bool is_word_of_yaml(const char *text) {
	static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t k = 0;
		while (words[i][k] && (text[k] | 0x20) == words[i][k])
			k++;
		if (!words[i][k] && !text[k])
			return true;
	}
	return false;
}

/* A name or a quantity that needs no quotes, inside [] and {} too. */
static bool is_plain(const char *text) {
	const size_t length = strlen(text);
	const char *p = text + (*text == '-' || *text == '+');
	if (!is_letter(*p) && *p != '_' && !is_digit(*p) && !(*p == '.' && is_digit(p[1])))
		return false;
	for (; *p; p++) {
		if (!is_letter(*p) && !is_digit(*p) && !strchr("_-+./^*() ", *p))
			return false;
	}
	return text[length - 1] != ' ' && !is_word_of_yaml(text);
}

/* How the character at p is written in quotes, NULL: as it is; *length: its bytes. YAML breaks lines at some. */
static const char *escape_of(const unsigned char *p, int *length, char *buffer, size_t size) {
	*length = 1;
	if (p[0] == '"' || p[0] == '\\') {
		snprintf(buffer, size, "\\%c", p[0]);
	} else if (p[0] < ' ' || p[0] == 0x7F) {
		snprintf(buffer, size, "\\x%02X", p[0]);
	} else if (p[0] == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0) {
		*length = 2;
		snprintf(buffer, size, "\\x%02X", p[1]);
	} else if (p[0] == 0xE2 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9)) {
		*length = 3;
		snprintf(buffer, size, "\\u20%02X", p[2] - 0x80);
	} else if (p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF) {
		*length = 3;
		snprintf(buffer, size, "\\uFEFF");
	} else {
		return NULL;
	}
	return buffer;
}

/* As it is, or as it stands between quotes. */
static void put_characters(Writer *w, const char *text, bool quoted) {
	char buffer[8];
	int length = 1;
	for (const unsigned char *p = (const unsigned char *)text; *p; p += length) {
		const char *escape = quoted ? escape_of(p, &length, buffer, sizeof buffer) : NULL;
		if (escape)
			fputs(escape, w->out);
		else
			fputc(*p, w->out);
	}
}

void put_text(Writer *w, const char *text) {
	const bool quoted = !is_plain(text);
	fputs(quoted ? "\"" : "", w->out);
	put_characters(w, text, quoted);
	fputs(quoted ? "\"" : "", w->out);
}

void put_path(Writer *w, CalNodeId id) {
	CalBodyId body = {0};
	const CalNodeDef *node = cal_desc_node(w->desc, id, &body);
	const char *owner = body.value ? cal_desc_body(w->desc, body)->name : "ground";
	if (!node || (body.value && cal_desc_body_node(w->desc, body).value == id.value)) {
		put_text(w, owner);
		return;
	}
	const bool plain = is_plain(owner) && is_plain(node->name);
	fputs(plain ? "" : "\"", w->out);
	put_characters(w, owner, !plain);
	fputc('/', w->out);
	put_characters(w, node->name, !plain);
	fputs(plain ? "" : "\"", w->out);
}

/* ---- keys with values ------------------------------------------------------------------------------ */

void put_quantity(Writer *w, bool *first, const char *key, double value) {
	if (all_zero(&value, 1))
		return;
	put_key(w, first, key);
	put_number(w, value);
}

void put_flag(Writer *w, bool *first, const char *key, int value) {
	if (!value)
		return;
	put_key(w, first, key);
	fputs("true", w->out);
}

void put_vector(Writer *w, bool *first, const char *key, CalVec3 v) {
	const double values[3] = {v.x, v.y, v.z};
	if (all_zero(values, 3))
		return;
	put_key(w, first, key);
	put_numbers(w, values, 3);
}

/* A quaternion of zeros is the identity, as in CalPlacement. */
static bool is_turned(CalQuat q) {
	const double values[4] = {q.w, q.x, q.y, q.z}, none[4] = {1, 0, 0, 0};
	return !same_bits(values, none, 4) && !all_zero(values, 4);
}

void put_orientation(Writer *w, bool *first, const char *key, CalQuat q) {
	const double turn[4] = {q.w, q.x, q.y, q.z};
	if (!is_turned(q))
		return;
	put_key(w, first, key);
	put_numbers(w, turn, 4);
}

void put_placement_value(Writer *w, const CalPlacement *p) {
	const double at[3] = {p->position.x, p->position.y, p->position.z};
	if (!is_turned(p->orientation)) {
		put_numbers(w, at, 3);
		return;
	}
	bool first = true;
	fputc('{', w->out);
	put_vector(w, &first, "at", p->position);
	put_orientation(w, &first, "orientation", p->orientation);
	fputc('}', w->out);
}

void put_placement(Writer *w, bool *first, const char *key, const CalPlacement *p) {
	const double at[3] = {p->position.x, p->position.y, p->position.z};
	if (all_zero(at, 3) && !is_turned(p->orientation))
		return;
	put_key(w, first, key);
	put_placement_value(w, p);
}

void put_inertia(Writer *w, bool *first, const CalMat3 *inertia) {
	const double(*m)[3] = inertia->m;
	const double diagonal[3] = {m[0][0], m[1][1], m[2][2]};
	const double others[6] = {m[0][1], m[0][2], m[1][0], m[1][2], m[2][0], m[2][1]};
	if (all_zero(diagonal, 3) && all_zero(others, 6))
		return;
	put_key(w, first, "inertia");
	if (all_zero(others, 6))
		put_numbers(w, diagonal, 3);
	else
		put_rows(w, &m[0][0], 3, 3);
}

void put_tree(Writer *w, const TreeNode *node) {
	if (node->kind == TREE_SCALAR) {
		if (tree_is_null(node))
			fputc('~', w->out);
		else
			put_text(w, node->text);
		return;
	}
	fputc(node->kind == TREE_LIST ? '[' : '{', w->out);
	for (int i = 0; i < node->count; i++) {
		fputs(i ? ", " : "", w->out);
		if (node->kind == TREE_MAP) {
			put_text(w, node->keys[i]->text);
			fputs(": ", w->out);
		}
		put_tree(w, node->items[i]);
	}
	fputc(node->kind == TREE_LIST ? ']' : '}', w->out);
}
