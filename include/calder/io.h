// SPDX-License-Identifier: Apache-2.0
/*
 * calder/io.h — models in files, read into a setup (calder/setup.h): model files (YAML, of which JSON is a subset;
 * docs/format.md), and robot files of other programs: URDF, MJCF, SDFormat (docs/import.md).
 *
 * Errors carry file:line:col. Model files need libyaml (CALDER_WITH_YAML), robot files expat (CALDER_WITH_EXPAT); without
 * them the calls return CAL_ERR_UNSUPPORTED.
 */
#ifndef CALDER_IO_H
#define CALDER_IO_H

#include <stdio.h>

#include <calder/setup.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- any format ------------------------------------------------------------------------------------ */

/** How the root link of a robot file is tied to the ground where the file does not say. */
typedef enum CalImportBase {
	CAL_BASE_DEFAULT, // fixed, with a note in the import report
	CAL_BASE_FIXED,   // welded to the ground
	CAL_BASE_FREE,    // on a free joint
} CalImportBase;

/** Zero-initialized: the defaults. */
typedef struct CalReadOptions {
	CalImportBase base;
	int partial; // nonzero: what changes the motion and cannot be taken over is a note, not an error
	const char *const
		*roots;             // [root_count] folders in which package:// and model:// paths are sought, and out of which
	int root_count;         // files may be read, besides the folder of the file and its package
	const char *paths_from; // folder to which paths of meshes are relative; NULL: that of the file (cal_setup_locate)
} CalReadOptions;

/**
 * Reads a model in any format that Calder knows. The format is found in the text: XML with the root <robot> is URDF,
 * <mujoco> is MJCF, <sdf> is SDFormat; everything else is a model file. What a robot file says and the setup does not is in
 * its import report (cal_setup_import_note). CAL_ERR_INPUT: error has place and reason.
 */
CAL_API CalStatus cal_model_read(const char *path, const CalReadOptions *options, const CalAllocator *allocator,
                                 CalSetup **setup, CalError *error);
/** text need not end with a zero; name stands for the file in messages, and files that it names are sought beside it. */
CAL_API CalStatus cal_model_parse(const char *text, size_t length, const char *name, const CalReadOptions *options,
                                  const CalAllocator *allocator, CalSetup **setup, CalError *error);

/* ---- model files ------------------------------------------------------------------------------------ */

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
