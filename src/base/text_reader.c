// SPDX-License-Identifier: Apache-2.0
/*
 * text_reader.c — text files of other programs, line by line; see text_reader.h.
 *
 * Numbers go through number_parse(), which does not depend on the locale; Fortran's forms are brought into C's first.
 */
#include "base/text_reader.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/units.h"

static void error_at(CalError *error, const char *path, int line, CalStatus status, const char *format, va_list args) {
	if (!error)
		return;
	char what[512];
	text_format(what, sizeof what, format, args);
	if (line > 0)
		error_set(error, status, "%.200s:%d: error: %s", path, line, what);
	else
		error_set(error, status, "%.200s: error: %s", path, what);
}

CalStatus fe_text_error(FeText *t, CalStatus status, const char *format, ...) {
	va_list args;
	va_start(args, format);
	error_at(t->error, t->path, t->line_number, status, format, args);
	va_end(args);
	return status;
}

CalStatus fe_file_error(CalError *error, const char *path, CalStatus status, const char *format, ...) {
	va_list args;
	va_start(args, format);
	error_at(error, path, 0, status, format, args);
	va_end(args);
	return status;
}

static bool write_stream(const char *path, void (*put)(FILE *out, const void *user), const void *user) {
	FILE *out = fopen(path, "w");
	if (!out)
		return false;
	put(out, user);
	const bool bad = ferror(out) != 0;
	return fclose(out) == 0 && !bad;
}

CalStatus fe_write_whole(const char *path, void (*put)(FILE *out, const void *user), const void *user,
                         CalError *error) {
	CalOutput *output;
	CalStatus status = cal_output_open(path, NULL, &output, error);
	if (status != CAL_OK)
		return status;
	status = write_stream(cal_output_part(output), put, user)
	             ? cal_output_publish(output, error)
	             : fe_file_error(error, path, CAL_ERR_IO, "the file could not be written: %s", strerror(errno));
	cal_output_close(output);
	return status;
}

CalStatus fe_text_open(FeText *t, const char *path, const CalAllocator *allocator, CalError *error) {
	t->path = path;
	t->allocator = allocator_or_default(allocator);
	t->error = error;
	t->text = NULL;
	t->length = t->at = 0;
	t->line_number = 0;
	static const InputFile limits = {FE_FILE_MAX, "use a coarser mesh, or reduce the model with the program it is from",
	                                 false};
	char why[INPUT_FILE_WHY];
	const CalStatus status = input_file_read(path, &limits, &t->allocator, &t->text, &t->length, why);
	if (status == CAL_OK)
		return CAL_OK;
	t->length = 0;
	return fe_file_error(error, path, status, "%s", why);
}

void fe_text_close(FeText *t) {
	memory_free(&t->allocator, t->text);
	t->text = NULL;
	t->length = t->at = 0;
}

bool fe_text_next(FeText *t, CalStatus *status) {
	if (t->at >= t->length)
		return false;
	const char *start = t->text + t->at;
	const char *end = memchr(start, '\n', t->length - t->at);
	size_t length = end ? (size_t)(end - start) : t->length - t->at;
	t->at += length + (end != NULL);
	t->line_number++;
	if (length && start[length - 1] == '\r')
		length--;
	if (length >= FE_LINE_MAX || memchr(start, '\0', length)) {
		*status = fe_text_error(t, CAL_ERR_INPUT, "not a line of text; is the file binary?");
		return false;
	}
	memcpy(t->line, start, length);
	t->line[length] = '\0';
	for (size_t i = 0; i <= length; i++)
		t->lower[i] = (char)tolower((unsigned char)t->line[i]);
	return true;
}

/* 1.5D+3 and 1.5+3 become 1.5e+3. */
static bool number_in_c(const char *field, size_t length, char *out, size_t size) {
	size_t n = 0;
	bool exponent = false;
	for (size_t i = 0; i < length; i++) {
		const char c = field[i];
		const bool mark = c == 'D' || c == 'd' || c == 'E' || c == 'e';
		if (n + 3 > size)
			return false;
		if ((c == '+' || c == '-') && i > 0 && !exponent) {
			out[n++] = 'e';
			exponent = true;
		}
		exponent |= mark;
		out[n++] = mark ? 'e' : c;
	}
	out[n] = '\0';
	return n > 0;
}

bool fe_number(const char *field, double *value) {
	char text[80];
	field += strspn(field, " \t");
	size_t length = strlen(field);
	while (length && (field[length - 1] == ' ' || field[length - 1] == '\t'))
		length--;
	if (!number_in_c(field, length, text, sizeof text))
		return false;
	const char *start = text[0] == '+' ? text + 1 : text;
	const char *end = number_parse(start, value);
	return end && !*end && isfinite(*value);
}

bool fe_integer(const char *field, long *value) {
	char *end;
	field += strspn(field, " \t");
	if (!isdigit((unsigned char)*field) && *field != '-')
		return false;
	errno = 0;
	*value = strtol(field, &end, 10);
	if (errno || end == field)
		return false;
	return end[strspn(end, " \t")] == '\0' && *value > INT_MIN && *value < INT_MAX;
}

char *fe_trim(char *text) {
	text += strspn(text, " \t");
	size_t length = strlen(text);
	while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		text[--length] = '\0';
	return text;
}

bool fe_ends_with(const char *path, const char *suffix) {
	const size_t length = strlen(path), wanted = strlen(suffix);
	if (length < wanted)
		return false;
	for (size_t i = 0; i < wanted; i++)
		if (tolower((unsigned char)path[length - wanted + i]) != tolower((unsigned char)suffix[i]))
			return false;
	return true;
}

bool fe_path_beside(const char *beside, const char *name, char *buffer, size_t size) {
	const char *slash = name[0] == '/' ? NULL : strrchr(beside, '/');
	const int written = snprintf(buffer, size, "%.*s%s", slash ? (int)(slash - beside) + 1 : 0, beside, name);
	return written > 0 && (size_t)written < size;
}
