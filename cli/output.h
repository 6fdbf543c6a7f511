// SPDX-License-Identifier: Apache-2.0
/*
 * output.h — the files that commands write: they appear whole or not at all (calder/output.h), and never in the place of
 * a file that the command reads.
 */
#ifndef CALDER_CLI_OUTPUT_H
#define CALDER_CLI_OUTPUT_H

#include "cli.h"

typedef struct OutputFile {
	const char *path;
	FILE *stream;
	CalOutput *place; // NULL: stdout
} OutputFile;

/** Opens a file for writing, "-": stdout. Returns an exit code. */
int output_open(OutputFile *output, const char *path);
/**
 * Ends the writing. code: how the writing went so far; only what went well and was written to the end takes its place.
 * Returns code, or EXIT_INPUT after saying why it could not be written.
 */
int output_close(OutputFile *output, int code);

/* ---- outputs that would destroy something -------------------------------------------------------- */

/** The same file by its inode, or the same place where there is no file yet. "-", devices and pipes are no files. */
bool is_same_file(const char *a, const char *b);

/** An output of a command: its path and the option that names it. */
typedef struct Written {
	const char *path;   // NULL: none
	const char *option; // "-o"
} Written;

/** EXIT_USAGE, after saying so, if the output is this file; what: "the model". input NULL: none. */
int output_spares(const char *command, Written output, const char *input, const char *what);
/** The same for a model and all files that it names. */
int output_spares_model(const char *command, Written output, const char *path, const CalSetup *setup);
/** The same for a result file and the meshes that its model names, which what shows it reads. NULL: none. */
int output_spares_results(const char *command, Written output, const char *path, const char *what);
/** The same for outputs among each other. */
int outputs_differ(const char *command, const Written *outputs, int count);

#endif
