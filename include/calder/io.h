// SPDX-License-Identifier: Apache-2.0
/*
 * calder/io.h — models in files, read into a setup (calder/setup.h) and written from it: model files (YAML, of which JSON is
 * a subset; docs/format.md), and robot files of other programs: URDF, MJCF, SDFormat (docs/import.md, docs/export.md).
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

/** Formats that models are written in, with their names. */
#define CAL_FORMAT_LIST(X)       \
	X(CAL_FORMAT_MODEL, "model") \
	X(CAL_FORMAT_URDF, "urdf")   \
	X(CAL_FORMAT_MJCF, "mjcf")   \
	X(CAL_FORMAT_SDF, "sdf")

typedef enum CalFormat {
#define CAL_FORMAT_ENUM(name, text) name,
	CAL_FORMAT_LIST(CAL_FORMAT_ENUM)
#undef CAL_FORMAT_ENUM
		CAL_FORMAT_COUNT
} CalFormat;
CAL_API const char *cal_format_name(CalFormat format); // NULL outside the list

/** Zero-initialized: the defaults. */
typedef struct CalWriteOptions {
	int partial; // nonzero: what changes the motion and cannot be written is a note, not an error
} CalWriteOptions;

/** The export report: what a file does not say as the setup does. */
typedef struct CalExportReport CalExportReport;

/**
 * Writes a setup in any format. Everything is checked before the first byte. What the format cannot say is in *report, which
 * the caller destroys; report NULL: it is not wanted. CAL_ERR_UNSUPPORTED: a note is `missing` and options->partial is not
 * set, or the format cannot hold the model at all; nothing is written, and *report is there where it was begun, otherwise
 * NULL. CAL_ERR_IO: out cannot take it. Model files are written by cal_model_file_write(); their report is empty.
 * allocator NULL: malloc.
 */
CAL_API CalStatus cal_model_write(const CalSetup *setup, CalFormat format, const CalWriteOptions *options, FILE *out,
                                  const CalAllocator *allocator, CalExportReport **report, CalError *error);

/** One line of the export report. The kinds are those of import reports, with file and setup exchanged. */
typedef struct CalExportNote {
	CalImportKind kind;
	const char *element; // of the setup: "joint \"elbow\""
	const char *place;   // where it was defined, "arm.yaml:12:3"; "": not known
	const char *text;    // what and why, and the remedy if there is one
} CalExportNote;
CAL_API int cal_export_note_count(const CalExportReport *report);
/** Note `index` in the order in which they were found. */
CAL_API CalStatus cal_export_note(const CalExportReport *report, int index, CalExportNote *note);
CAL_API void cal_export_report_destroy(CalExportReport *report); // accepts NULL

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
