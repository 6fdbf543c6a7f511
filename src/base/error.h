// SPDX-License-Identifier: Apache-2.0
/*
 * error.h — filling a CalError.
 *
 * Every function accepts error == NULL and returns the status it was given, so that a failing call
 * reads `return error_set(error, CAL_ERR_MODEL, "...", ...)`. Texts too long for the buffer end in
 * "...". An error is written only on failure: the caller's struct may be uninitialised before.
 */
#ifndef CALDER_BASE_ERROR_H
#define CALDER_BASE_ERROR_H

#include <stdarg.h>

#include <calder/base.h>

#if defined(__GNUC__)
#define ERROR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ERROR_PRINTF(text, first)
#endif

/** "place: " in a format: printf("%s%s", PLACE_ARGS(place)); nothing for NULL. */
#define PLACE_ARGS(place) (place) ? (place) : "", (place) ? ": " : ""

/** Overwrites *error with one error. */
CalStatus error_set(CalError *error, CalStatus status, const char *format, ...) ERROR_PRINTF(3, 4);

/** CAL_ERR_ARGUMENT and "FUNCTION: ARGUMENT is NULL", for the top of a public function (docs/decisions/0030). */
CalStatus error_null(CalError *error, const char *function, const char *argument);

/** Counts one more error; the text and status stay those of the first. *error starts as {0}. */
CalStatus error_add(CalError *error, CalStatus status, const char *format, ...) ERROR_PRINTF(3, 4);

/** vsnprintf that marks a truncated text with "..." and never fails; returns the length written. */
size_t text_format(char *text, size_t size, const char *format, va_list args) ERROR_PRINTF(3, 0);

/*
 * Texts put together in a buffer, for places where files are read and printf would take most of the time. Each takes the length
 * so far and returns the new one, at most size - 1: what does not fit is cut off. The text always ends with a zero.
 */
size_t text_append(char *text, size_t size, size_t length, const char *more);
/** Up to `most` bytes of `more`. */
size_t text_append_some(char *text, size_t size, size_t length, const char *more, size_t most);
size_t text_append_int(char *text, size_t size, size_t length, int number);

#endif
