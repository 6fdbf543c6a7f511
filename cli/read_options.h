// SPDX-License-Identifier: Apache-2.0
/*
 * read_options.h — how robot files are read (docs/import.md): options that all commands share which read models, and the
 * import report.
 *
 * main() takes these options out of the command line before a command reads its own.
 */
#ifndef CALDER_CLI_READ_OPTIONS_H
#define CALDER_CLI_READ_OPTIONS_H

#include "cli.h"

/** Takes --base, --root and --partial out of argv, whose first word is the command. Returns an exit code. */
int read_options_take(int *argc, char **argv);
/** The lines of --help about them. */
void read_options_help(void);

/** As the command line and the environment (ROS_PACKAGE_PATH, AMENT_PREFIX_PATH) say. */
const CalReadOptions *read_options(void);
/** Reads what is missing as notes from now on, whatever the options say; what they say: read_options_partial(). */
void read_options_read_all(void);
bool read_options_partial(void);
/** Paths of meshes are relative to the folder of this file from now on. */
void read_options_write_beside(const char *path);

/* ---- the import report ---------------------------------------------------------------------------- */

/** How many notes of a kind there are. */
int import_count(const CalSetup *setup, CalImportKind kind);
/** "2 ignored, 1 assumed"; "" if there is none. */
const char *import_summary(const CalSetup *setup, char *text, size_t size);
/** "imported: 2 ignored, 1 assumed; ..." on stderr, if there is anything to say. */
void import_remark(const char *path, const CalSetup *setup);
/** A JSON array of the notes. */
void import_json(const CalSetup *setup, FILE *out);

#endif
