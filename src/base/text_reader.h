// SPDX-License-Identifier: Apache-2.0
/*
 * text_reader.h — line by line through the text files of other programs, with file:line in every message.
 *
 * The whole file is read into memory; a line is handed out as a zero-terminated text in a buffer of its own, so that
 * a reader may split it. Fortran's numbers (1.5D+3, and 1.5+3 of NASTRAN) are understood.
 */
#ifndef CALDER_BASE_TEXT_READER_H
#define CALDER_BASE_TEXT_READER_H

#include <calder/output.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

enum {
	FE_LINE_MAX = 4096, // characters of a line
};
#define FE_FILE_MAX 2147483648u // bytes of a file

typedef struct FeText {
	const char *path;
	CalAllocator allocator;
	CalError *error;
	char *text;
	size_t length, at;
	int line_number;         // of the line handed out last, from 1
	char line[FE_LINE_MAX];  // without its end
	char lower[FE_LINE_MAX]; // the same in lower case
} FeText;

/** Reads the file. CAL_ERR_IO, CAL_ERR_MEMORY with a message; nothing is left to close then. */
CalStatus fe_text_open(FeText *t, const char *path, const CalAllocator *allocator, CalError *error);
void fe_text_close(FeText *t);
/** The next line into t->line and t->lower; false at the end. A line that is too long sets *status. */
bool fe_text_next(FeText *t, CalStatus *status);
/** "path:line: error: ..." */
CalStatus fe_text_error(FeText *t, CalStatus status, const char *format, ...) ERROR_PRINTF(3, 4);
/** "path: error: ..." */
CalStatus fe_file_error(CalError *error, const char *path, CalStatus status, const char *format, ...)
	ERROR_PRINTF(4, 5);

/** Writes a file that appears whole or not at all (calder/output.h): what put() writes to `out`. */
CalStatus fe_write_whole(const char *path, void (*put)(FILE *out, const void *user), const void *user, CalError *error);

/** A whole field as a number; blanks around it are allowed. False: it is none, or not finite. */
bool fe_number(const char *field, double *value);
bool fe_integer(const char *field, long *value);
/** text without blanks at its ends, cut in place. */
char *fe_trim(char *text);
/** True if path ends in the suffix, whatever the case. */
bool fe_ends_with(const char *path, const char *suffix);
/** `name` in the folder of `beside`, into buffer; false if it does not fit. */
bool fe_path_beside(const char *beside, const char *name, char *buffer, size_t size);

#endif
