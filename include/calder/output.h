// SPDX-License-Identifier: Apache-2.0
/*
 * calder/output.h — output files that appear whole or not at all, each with one writer at a time.
 *
 * cal_output_open() reserves a path: a second writer, in this process or another one, gets CAL_ERR_IO until the first one
 * closes. What is written goes to PATH.part; cal_output_publish() renames it to PATH. Until then PATH is what it was, and
 * whoever has the old file open keeps it. Results, checkpoints, modal files and the files of the command line are written
 * in this way (docs/decisions/0015).
 *
 * The reservation is a lock (flock) on PATH.lock, which the operating system releases when the process ends, however it
 * ends. A process that is killed may leave PATH.lock and PATH.part behind; the next writer takes both over. Symbolic links
 * are followed: the file that they lead to is replaced, not the link. A path that is no regular file (/dev/null, a pipe)
 * is written directly, without lock.
 */
#ifndef CALDER_OUTPUT_H
#define CALDER_OUTPUT_H

#include <calder/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalOutput CalOutput;

/** Reserves a path. CAL_ERR_IO: another writer has it, or nothing can be written there; the message says which. */
CAL_API CalStatus cal_output_open(const char *path, const CalAllocator *allocator, CalOutput **output, CalError *error);
/** The path as it was given. */
CAL_API const char *cal_output_path(const CalOutput *output);
/** The file to create and write: PATH.part beside the file that PATH leads to; PATH itself where that is no file. */
CAL_API const char *cal_output_part(const CalOutput *output);
/**
 * Moves the part to its place. Handles that are open on it stay valid, so that a writer may publish a file early and
 * continue writing; it may also write a new part and publish again. The path stays reserved.
 */
CAL_API CalStatus cal_output_publish(CalOutput *output, CalError *error);
/** Removes a part that was not published, and gives the path free. Accepts NULL. */
CAL_API void cal_output_close(CalOutput *output);

#ifdef __cplusplus
}
#endif
#endif
