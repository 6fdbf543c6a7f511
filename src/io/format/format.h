// SPDX-License-Identifier: Apache-2.0
/*
 * format.h — what the files of this folder share.
 */
#ifndef CALDER_IO_FORMAT_FORMAT_H
#define CALDER_IO_FORMAT_FORMAT_H

#include <calder/io.h>
#include <stdbool.h>

/** A robot file, and its text as a model file with all bodies and nodes as interface nodes: a ModelFileTranslator of which
 * `options` are CalReadOptions. The caller destroys *robot and frees *text, also on failure. */
CalStatus format_translate(const void *options, const char *path, const CalAllocator *allocator, CalSetup **robot,
                           char **text, size_t *length, CalError *error);

#endif
