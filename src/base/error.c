// SPDX-License-Identifier: Apache-2.0
/*
 * error.c — status texts, the version, filling a CalError, and the end of a process in which an assertion failed.
 *
 * The texts of cal_status_text() come from CAL_STATUS_LIST, the one place where a status is defined.
 * No function here allocates, so that "out of memory" can be reported like any other error.
 */
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define VERSION_TEXT_(major, minor, patch) #major "." #minor "." #patch
#define VERSION_TEXT(major, minor, patch) VERSION_TEXT_(major, minor, patch)

const char *cal_version(void) { return VERSION_TEXT(CAL_VERSION_MAJOR, CAL_VERSION_MINOR, CAL_VERSION_PATCH); }

const char *cal_status_text(CalStatus status) {
	switch (status) {
#define STATUS_CASE(name, value, text) \
	case name:                         \
		return text;
		CAL_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
	}
	return "unknown status";
}

size_t text_format(char *text, size_t size, const char *format, va_list args) {
	int length = vsnprintf(text, size, format, args);
	if (length < 0) {
		text[0] = '\0';
		return 0;
	}
	if ((size_t)length < size) {
		return (size_t)length;
	}
	if (size > 3) {
		memcpy(text + size - 4, "...", 4);
	}
	return size - 1;
}

/* ---- texts in buffers of fixed size ---- */

static size_t append_bytes(char *text, size_t size, size_t length, const char *more, size_t count) {
	const size_t room = size - 1 - length;
	count = count < room ? count : room;
	memcpy(text + length, more, count);
	text[length + count] = '\0';
	return length + count;
}

size_t text_append(char *text, size_t size, size_t length, const char *more) {
	return append_bytes(text, size, length, more, strlen(more));
}

size_t text_append_some(char *text, size_t size, size_t length, const char *more, size_t most) {
	const char *end = memchr(more, '\0', most);
	return append_bytes(text, size, length, more, end ? (size_t)(end - more) : most);
}

size_t text_append_int(char *text, size_t size, size_t length, int number) {
	char digits[16];
	size_t at = sizeof digits;
	unsigned rest = number < 0 ? 0u - (unsigned)number : (unsigned)number;
	do {
		digits[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (number < 0)
		digits[--at] = '-';
	return append_bytes(text, size, length, digits + at, sizeof digits - at);
}

/* ---- errors ---- */

static void error_fill(CalError *error, CalStatus status, const char *format, va_list args) {
	error->status = status;
	error->count = 1;
	text_format(error->text, sizeof error->text, format, args);
}

CalStatus error_set(CalError *error, CalStatus status, const char *format, ...) {
	if (error) {
		va_list args;
		va_start(args, format);
		error_fill(error, status, format, args);
		va_end(args);
	}
	return status;
}

CalStatus error_null(CalError *error, const char *function, const char *argument) {
	return error_set(error, CAL_ERR_ARGUMENT, "%s: %s is NULL", function, argument);
}

CalStatus error_add(CalError *error, CalStatus status, const char *format, ...) {
	if (error && error->count > 0) {
		error->count++;
	} else if (error) {
		va_list args;
		va_start(args, format);
		error_fill(error, status, format, args);
		va_end(args);
	}
	return status;
}

#ifdef CALDER_ASSERTIONS
void assertion_failed(const char *file, int line, const char *expression) {
	fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, expression);
	abort();
}
#endif
