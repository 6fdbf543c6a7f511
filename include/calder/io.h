// SPDX-License-Identifier: Apache-2.0
/*
 * calder/io.h — model files (YAML, of which JSON is a subset; docs/format.md), read into a setup (calder/setup.h).
 *
 * Errors carry file:line:col.
 * Present when the library was built with libyaml (CALDER_WITH_YAML); otherwise the calls return
 * CAL_ERR_UNSUPPORTED.
 */
#ifndef CALDER_IO_H
#define CALDER_IO_H

#include <stdio.h>

#include <calder/setup.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads a model file (YAML or JSON) and the files that it names. CAL_ERR_INPUT: error has place and reason. */
CAL_API CalStatus cal_model_file_read(const char *path, const CalAllocator *allocator, CalSetup **setup,
                                      CalError *error);
/**
 * text need not end with a zero; name stands for the file in messages. Files that the text names (modal files, meshes) are
 * sought in the folder of name.
 */
CAL_API CalStatus cal_model_file_parse(const char *text, size_t length, const char *name, const CalAllocator *allocator,
                                       CalSetup **setup, CalError *error);
/**
 * Releases the text of the file. cal_model_file_write() then writes the numbers of the setup in SI units, and refuses what
 * only the text has: the files of contact meshes.
 */
CAL_API void cal_model_file_trim(CalSetup *setup); // accepts NULL

/**
 * Writes a description as a model file that reads back as the same description, numbers bit for bit. Everything is
 * checked before the first byte: what a file cannot hold (user joints, C functions of drives, some names) is
 * CAL_ERR_UNSUPPORTED with a message that names it, and nothing is written. CAL_ERR_IO: out cannot take it.
 */
CAL_API CalStatus cal_desc_write(const CalDesc *desc, FILE *out, CalError *error);
/**
 * The same for a setup, whoever filled it, with title, state, loads, devices, motions, events, run settings and compiled
 * subsystems. If it was read from a model file, these are carried over as the file gives them.
 */
CAL_API CalStatus cal_model_file_write(const CalSetup *setup, FILE *out, CalError *error);

/**
 * The format of model files as the reader knows it: a JSON schema, for editors, and the tables of docs/format.md in
 * Markdown. CAL_ERR_IO: out cannot take it.
 */
CAL_API CalStatus cal_format_write_schema(FILE *out, CalError *error);
CAL_API CalStatus cal_format_write_tables(FILE *out, CalError *error);

/**
 * A number with or without a unit, as in files: "20 ms", "0.02". unit: what a plain number is in, and of what kind the
 * quantity must be; *value is in SI. CAL_ERR_INPUT: error says what is wrong.
 */
CAL_API CalStatus cal_quantity_parse(const char *text, const char *unit, double *value, CalError *error);
/** The candidate that a word which was not understood is most like; NULL: none is near. */
CAL_API const char *cal_name_nearest(const char *word, const char *const *candidates, int count);

#ifdef __cplusplus
}
#endif
#endif
