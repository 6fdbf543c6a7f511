// SPDX-License-Identifier: Apache-2.0
/*
 * file.h — opening files from outside: what cannot be read to an end, or would take memory out of proportion, is refused
 * before the first byte; and writing to the end.
 *
 * Readers take regular files and pipes. A folder, a device (/dev/zero has no end), a file that is too large and one that is
 * mostly holes are refused; a pipe without a writer, whose opening would never return, is empty.
 */
#ifndef CALDER_BASE_FILE_H
#define CALDER_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <calder/base.h>

enum { INPUT_FILE_WHY = 300 };

typedef struct InputFile {
	uint64_t most;      // bytes
	const char *remedy; // for a file that is larger: "split it"
	bool no_pipes;      // it is read in no order, or its size must be known
} InputFile;

/**
 * All of a file, from the allocator (not NULL); not ended by a zero. CAL_ERR_IO, CAL_ERR_MEMORY, or CAL_ERR_INPUT for a pipe
 * that gives more than `most`, with the reason in why; *text is NULL then.
 */
CalStatus input_file_read(const char *path, const InputFile *file, const CalAllocator *allocator, char **text,
                          size_t *length, char why[INPUT_FILE_WHY]);

/** The stream, to be closed by the caller; NULL with the reason in why. Readers of pipes keep to `most` by themselves. */
FILE *input_file_open(const char *path, const InputFile *file, char why[INPUT_FILE_WHY]);
/** The same without opening it, for libraries that open by name. */
bool input_file_check(const char *path, const InputFile *file, char why[INPUT_FILE_WHY]);

/** Writes all bytes to a descriptor, also where the system takes a part at a time; false with errno set. */
bool file_write_all(int file, const char *bytes, size_t size);

#endif
