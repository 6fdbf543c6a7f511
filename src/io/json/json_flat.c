// SPDX-License-Identifier: Apache-2.0
/*
 * json_flat.c — see json_flat.h. One pass without recursion; the stack holds the open lists and objects.
 */
#include "io/json/json_flat.h"

#include <string.h>

#include "base/memory.h"
#include "base/number.h"

typedef struct Open {
	int value, last; // list or object, and its last child, -1: none yet
} Open;

static void skip_blanks(JsonFlat *t) {
	while (t->at < t->length && strchr(" \t\r\n", t->text[t->at]) && t->text[t->at])
		t->at++;
}

static bool take(JsonFlat *t, char c) {
	if (t->at >= t->length || t->text[t->at] != c)
		return false;
	t->at++;
	return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t skip_digits(const JsonFlat *t, size_t at) {
	while (at < t->length && is_digit(t->text[at]))
		at++;
	return at;
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool read_number_text(JsonFlat *t) {
	size_t at = t->at + (t->text[t->at] == '-'), end = skip_digits(t, at);
	if (end == at || (t->text[at] == '0' && end > at + 1))
		return false;
	if (end < t->length && t->text[end] == '.') {
		at = end + 1;
		end = skip_digits(t, at);
		if (end == at)
			return false;
	}
	if (end < t->length && (t->text[end] == 'e' || t->text[end] == 'E')) {
		at = end + 1;
		at += at < t->length && (t->text[at] == '+' || t->text[at] == '-');
		end = skip_digits(t, at);
		if (end == at)
			return false;
	}
	t->at = end;
	return true;
}

/* From after the opening quote; *start ... *end is what is between. */
static bool read_quoted(JsonFlat *t, size_t *start, size_t *end) {
	*start = t->at;
	while (t->at < t->length && t->text[t->at] != '"') {
		const char c = t->text[t->at];
		if ((unsigned char)c < 0x20)
			return false;
		if (c == '\\' && (++t->at >= t->length || !t->text[t->at] || !strchr("\"\\/bfnrtu", t->text[t->at])))
			return false;
		t->at++;
	}
	*end = t->at;
	return take(t, '"');
}

static bool read_word(JsonFlat *t, const char *word) {
	const size_t length = strlen(word);
	if (t->length - t->at < length || memcmp(t->text + t->at, word, length) != 0)
		return false;
	t->at += length;
	return true;
}

/* One value; of lists and objects the opening bracket. */
static const char *read_value(JsonFlat *t, JsonValue *v) {
	v->start = t->at;
	v->first = v->next = -1;
	const char c = t->at < t->length ? t->text[t->at] : '\0';
	if (c == '{' || c == '[') {
		v->kind = c == '{' ? JSON_OBJECT : JSON_LIST;
		t->at++;
	} else if (c == '"') {
		v->kind = JSON_TEXT;
		t->at++;
		return read_quoted(t, &v->start, &v->end) ? NULL
		                                          : "a text does not end, or has a character that is not allowed";
	} else if (c == '-' || is_digit(c)) {
		v->kind = JSON_NUMBER;
		if (!read_number_text(t))
			return "expected a number";
	} else if (read_word(t, "true") || read_word(t, "false")) {
		v->kind = JSON_FLAG;
	} else if (read_word(t, "null")) {
		v->kind = JSON_NULL;
	} else {
		return "expected a value";
	}
	v->end = t->at;
	return NULL;
}

static const char *read_key(JsonFlat *t, JsonValue *v) {
	if (!take(t, '"') || !read_quoted(t, &v->key, &v->key_end))
		return "expected a name in quotes";
	skip_blanks(t);
	if (!take(t, ':'))
		return "expected ':' after the name";
	skip_blanks(t);
	return NULL;
}

/* Appends a value to the innermost open list or object. */
static const char *add_value(JsonFlat *t, const JsonValue *v, Open *parent) {
	JsonValue *grown = array_reserve(&t->allocator, t->values, t->count, 1, &t->capacity, sizeof *grown);
	if (!grown || t->count >= JSON_MAX_VALUES)
		return grown ? "too many values" : "out of memory";
	t->values = grown;
	t->values[t->count] = *v;
	if (parent) {
		*(parent->last < 0 ? &t->values[parent->value].first : &t->values[parent->last].next) = t->count;
		t->values[parent->value].count++;
		parent->last = t->count;
	}
	t->count++;
	return NULL;
}

/* Closes what ends here; *more: a further value follows in the innermost that is still open. */
static const char *close_values(JsonFlat *t, const Open *stack, int *depth, bool *more) {
	*more = false;
	for (;;) {
		skip_blanks(t);
		if (*depth == 0)
			return NULL;
		JsonValue *v = &t->values[stack[*depth - 1].value];
		if (take(t, v->kind == JSON_OBJECT ? '}' : ']')) {
			v->end = t->at;
			--*depth;
		} else {
			*more = true;
			return take(t, ',') ? NULL : "expected ',' or the end of a list or object";
		}
	}
}

/* After an opening bracket: whether it closes at once. */
static bool is_empty(JsonFlat *t, JsonKind kind) {
	skip_blanks(t);
	return t->at < t->length && t->text[t->at] == (kind == JSON_OBJECT ? '}' : ']');
}

const char *json_flat_parse(JsonFlat *t, const char *text, size_t length, const CalAllocator *allocator) {
	Open stack[JSON_MAX_DEPTH];
	int depth = 0;
	*t = (JsonFlat){.allocator = allocator_or_default(allocator), .text = text, .length = length};
	for (bool more = true; more;) {
		JsonValue v = {0};
		skip_blanks(t);
		const char *wrong = depth > 0 && t->values[stack[depth - 1].value].kind == JSON_OBJECT ? read_key(t, &v) : NULL;
		wrong = wrong ? wrong : read_value(t, &v);
		wrong = wrong ? wrong : add_value(t, &v, depth > 0 ? &stack[depth - 1] : NULL);
		if (wrong)
			return wrong;
		if (v.kind == JSON_LIST || v.kind == JSON_OBJECT) {
			if (depth == JSON_MAX_DEPTH)
				return "nested too deeply";
			stack[depth++] = (Open){t->count - 1, -1};
			if (!is_empty(t, v.kind))
				continue;
		}
		wrong = close_values(t, stack, &depth, &more);
		if (wrong)
			return wrong;
	}
	return t->at == length ? NULL : "something follows the end of the document";
}

void json_flat_free(JsonFlat *t) { memory_free(&t->allocator, t->values); }

int json_flat_line(const JsonFlat *t) {
	int line = 1;
	for (size_t i = 0; i < t->at && i < t->length; i++)
		line += t->text[i] == '\n';
	return line;
}

int json_flat_member(const JsonFlat *t, int value, const char *name) {
	const size_t length = strlen(name);
	if (value < 0 || t->values[value].kind != JSON_OBJECT)
		return -1;
	for (int i = t->values[value].first; i >= 0; i = t->values[i].next) {
		const JsonValue *v = &t->values[i];
		if (v->key_end - v->key == length && memcmp(t->text + v->key, name, length) == 0)
			return i;
	}
	return -1;
}

bool json_flat_double(const JsonFlat *t, int value, double *number) {
	char text[64];
	if (value < 0 || t->values[value].kind != JSON_NUMBER)
		return false;
	const size_t length = t->values[value].end - t->values[value].start;
	if (length >= sizeof text)
		return false;
	memcpy(text, t->text + t->values[value].start, length);
	text[length] = '\0';
	const char *end = number_parse(text, number);
	return end && !*end;
}

bool json_flat_whole(const JsonFlat *t, int value, size_t most, size_t *number) {
	double x;
	if (value < 0)
		return true;
	if (!json_flat_double(t, value, &x) || !(x >= 0) || !(x <= (double)most) || x != (double)(size_t)x)
		return false;
	*number = (size_t)x;
	return true;
}

bool json_flat_is(const JsonFlat *t, int value, const char *text) {
	const size_t length = strlen(text);
	return value >= 0 && t->values[value].kind == JSON_TEXT &&
	       t->values[value].end - t->values[value].start == length &&
	       memcmp(t->text + t->values[value].start, text, length) == 0;
}
