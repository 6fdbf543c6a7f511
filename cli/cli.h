// SPDX-License-Identifier: Apache-2.0
/*
 * cli.h — what the commands of `calder` share: exit codes, messages, opening an input, JSON.
 *
 * Every command is one file with one function of the shape of main. Results go to stdout; messages and
 * the progress bar go to stderr. Only the public interface of the library is used.
 */
#ifndef CALDER_CLI_H
#define CALDER_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include <calder/calder.h>

typedef enum ExitCode {
	EXIT_OK = 0,
	EXIT_CHECK = 1,    // the check that was asked for failed
	EXIT_USAGE = 2,    // the command line is wrong
	EXIT_INPUT = 3,    // a file or the model in it is wrong
	EXIT_NUMERICS = 4, // the computation failed
	EXIT_LOST = 5,     // another rank of a distributed run is gone
} ExitCode;

int command_info(int argc, char **argv);
int command_check(int argc, char **argv);
int command_run(int argc, char **argv);
int command_plot(int argc, char **argv);
int command_signals(int argc, char **argv);
int command_view(int argc, char **argv);
int command_render(int argc, char **argv);
int command_modes(int argc, char **argv);
int command_linearize(int argc, char **argv);
int command_trim(int argc, char **argv);
int command_operators(int argc, char **argv);
int command_inverse(int argc, char **argv);
int command_identify(int argc, char **argv);
int command_pose(int argc, char **argv);
int command_methods(int argc, char **argv);
int command_parameters(int argc, char **argv);
int command_sweep(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_golden(int argc, char **argv);
int command_models(int argc, char **argv);
int command_mesh(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_fmu(int argc, char **argv);
int command_schema(int argc, char **argv);

/* ---- messages ---------------------------------------------------------------------------------- */

/** "path:line:col: error: text" on stderr; finds the place at the beginning of text, else uses path. */
void say_error(const char *path, const char *text);
void say_warning(const char *path, const char *text);
void say_note(const char *path, const char *text);
/** The warnings of the reader. */
void say_file_warnings(const char *path, const CalSetup *setup);
/** A note for each shared object that was left out (CAL_PLUGIN_SKIP). */
void say_left_out(const char *path, CalSim *sim);
/** "calder COMMAND: text" and a hint at --help on stderr; returns EXIT_USAGE. */
int say_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** The exit code of a call that failed. */
int exit_code_of(CalStatus status);
/** Prints the error of a call that failed and returns its exit code. */
int say_status(const char *path, CalStatus status, const CalError *error);

/* ---- input ------------------------------------------------------------------------------------- */

enum { INPUT_MOST = 1 << 28 }; // bytes of a model that are worth reading: the library refuses more

/** All of a stream, or somewhat more than `most` of it, and a zero after it, from malloc; NULL: out of memory. */
char *input_read(FILE *in, size_t most, size_t *length);
/** How messages call an input: "<stdin>" for "-". */
const char *input_name(const char *path);
/**
 * Reads a model in any format, or stdin for "-", by read_options(). What is wrong with it, lost in the import or suspicious is
 * printed; returns an exit code.
 */
int input_open(const char *path, CalSetup **setup);
/** The same, saying only why it cannot be read. */
int input_open_quietly(const char *path, CalSetup **setup);

/**
 * A file with everything set to run: a simulation in the file's initial state, with its loads, devices and events. The
 * first three are set by commands that run it; others do not load code that the model names.
 */
typedef struct Loaded {
	bool runs_code;           // shared objects that the model names are loaded
	bool refuses_code;        // they are an error; neither: the model is taken without them
	const volatile int *stop; // of CalSimOptions
	CalSetup *setup;
	CalRunSettings settings;
	CalSim *sim;
	CalScenario *scenario;
} Loaded;

/** Reading takes more memory than what is needed afterwards: releases the text of the file, and gives pages back to the system. */
void give_memory_back(CalSetup *setup);
/**
 * Builds the simulation of an open file, in a Loaded that is {0} but for what commands set; settings NULL: as the file
 * says, on one thread. Loops are not closed, nothing is printed.
 */
CalStatus loaded_build(Loaded *loaded, CalSetup *setup, const CalRunSettings *settings, CalError *error);
/** The same with loops closed, ready to run; prints what goes wrong. */
int loaded_create(Loaded *loaded, CalSetup *setup, const char *path, const CalRunSettings *settings);
/**
 * The same for commands that compute something at a state: that of a time of the run (0: the initial one). Prints what there is
 * to doubt about it, and what was left out.
 */
int loaded_at(Loaded *loaded, CalSetup *setup, const char *path, double time);
/** Releases all, the file included. */
void loaded_destroy(Loaded *loaded);

/** The text of such a note about a device; "" if it is there. */
const char *left_out(const CalDeviceInfo *info, char *text, size_t size);

/* ---- text -------------------------------------------------------------------------------------- */

/** "s" unless the number is one. */
static inline const char *plural(long long number) { return number == 1 ? "" : "s"; }
/**
 * Where the dynamics of the present state fail, " (joint \"wrist.2\"...)" and perhaps why; "" if that is not known. For
 * the end of a message.
 */
const char *failure_place(CalSim *sim, char *text, size_t size);

/* ---- JSON -------------------------------------------------------------------------------------- */

void json_string(FILE *out, const char *text);
/** Shortest form that reads back as the same number; null if it is not finite. */
void json_number(FILE *out, double value);
void json_vec3(FILE *out, CalVec3 value);

#endif
