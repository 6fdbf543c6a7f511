// SPDX-License-Identifier: Apache-2.0
/*
 * calder_wasm.h — the functions that the WebAssembly module gives to JavaScript (docs/wasm.md): a model from a text, its run,
 * signals, state, parameters, and the document and ticks by which the viewer shows it. Numbers and addresses only.
 *
 * Every function takes the run first. Texts are UTF-8 and end with a zero; those that are returned, and arrays, are valid until
 * the next call for the same run. A status is 0 or what calder_error() explains: > 0 the numerics failed, < 0 the caller or the
 * model is wrong.
 */
#ifndef CALDER_WASM_H
#define CALDER_WASM_H

#include <stddef.h>

#if defined(__wasm__)
#define CALDER_EXPORT(name) __attribute__((export_name(#name)))
#else
#define CALDER_EXPORT(name)
#endif

typedef struct CalderRun CalderRun;

/** Options of calder_load(), which are added. */
enum {
	CALDER_BASE_FREE = 1, // the root of a robot file is on a free joint where the file does not say; else on the ground
	CALDER_PARTIAL = 2,   // what cannot be taken over from a robot file is a note, not an error
	CALDER_INTERACTIVE = 4, // parameters of the model can be changed, and calder_command() is obeyed
};

const char *calder_version(void) CALDER_EXPORT(calder_version);

/** NULL: out of memory. */
CalderRun *calder_new(void) CALDER_EXPORT(calder_new);
void calder_delete(CalderRun *run) CALDER_EXPORT(calder_delete);
/**
 * Reads a model in any format and prepares it to run: in its initial state, with loads, devices and events. What was loaded
 * before is released. name stands for the text in messages, and files that it names are sought beside it.
 */
int calder_load(CalderRun *run, const char *text, size_t length, const char *name, int options)
	CALDER_EXPORT(calder_load);
/** Why the last call failed: "arm.yaml:14:9: error: ..."; "": it did not. */
const char *calder_error(const CalderRun *run) CALDER_EXPORT(calder_error);
/** Warnings of the reader and what an import changed, a JSON list of {kind, place, text}; NULL: out of memory. */
const char *calder_notes(CalderRun *run) CALDER_EXPORT(calder_notes);
/** What there is to doubt about the run so far, a JSON list of {kind, object, time, text}; NULL: out of memory. */
const char *calder_doubts(CalderRun *run) CALDER_EXPORT(calder_doubts);
/** The model as a model file; NULL: calder_error() says why there is none. */
const char *calder_model_text(CalderRun *run) CALDER_EXPORT(calder_model_text);

/* ---- the run ------------------------------------------------------------------------------------- */

const char *calder_title(CalderRun *run) CALDER_EXPORT(calder_title);
double calder_time(CalderRun *run) CALDER_EXPORT(calder_time);
double calder_duration(CalderRun *run) CALDER_EXPORT(calder_duration); // [s] as the model says
double calder_interval(CalderRun *run)
	CALDER_EXPORT(calder_interval); // [s] between samples, as the model says; 0: it does not
/** Until time t exactly. 1 (CAL_STOPPED's sign aside): see calder_stopped(). */
int calder_advance(CalderRun *run, double t) CALDER_EXPORT(calder_advance);
/** One step of the integrator, not beyond t_limit. */
int calder_step(CalderRun *run, double t_limit) CALDER_EXPORT(calder_step);
/** Nonzero: an event of the model has ended the run. */
int calder_stopped(CalderRun *run) CALDER_EXPORT(calder_stopped);

/** Adds the columns of a signal, "q", "energy", "node:arm/tip.x" (docs/results.md). Column 0 is the time. */
int calder_add_signal(CalderRun *run, const char *name) CALDER_EXPORT(calder_add_signal);
int calder_column_count(CalderRun *run) CALDER_EXPORT(calder_column_count);
const char *calder_column_name(CalderRun *run, int column) CALDER_EXPORT(calder_column_name);
const char *calder_column_unit(CalderRun *run, int column) CALDER_EXPORT(calder_column_unit);
/** The values of all columns now; NULL: calder_error() says why there are none. */
const double *calder_sample(CalderRun *run) CALDER_EXPORT(calder_sample);

/** Coordinates and speeds of all groups: q and u of the first, of the second, ... */
int calder_state_size(CalderRun *run) CALDER_EXPORT(calder_state_size);
const double *calder_state(CalderRun *run) CALDER_EXPORT(calder_state);
/** All that a run consists of, as bytes; 0: out of memory. */
size_t calder_save(CalderRun *run) CALDER_EXPORT(calder_save);
const unsigned char *calder_saved(CalderRun *run) CALDER_EXPORT(calder_saved);
/** Goes back or on to what was saved, by a run of the same model. */
int calder_restore(CalderRun *run, const void *bytes, size_t size) CALDER_EXPORT(calder_restore);

int calder_parameter_count(CalderRun *run) CALDER_EXPORT(calder_parameter_count);
const char *calder_parameter_name(CalderRun *run, int index) CALDER_EXPORT(calder_parameter_name);
const char *calder_parameter_unit(CalderRun *run, int index) CALDER_EXPORT(calder_parameter_unit);
double calder_parameter(CalderRun *run, int index) CALDER_EXPORT(calder_parameter);
int calder_set_parameter(CalderRun *run, int index, double value) CALDER_EXPORT(calder_set_parameter);

/* ---- what the viewer shows (docs/replay.md, "Live"; CALDER_INTERACTIVE) -------------------------- */

/** The document of a live run with the signals that were added so far; NULL: calder_error() says why. */
const char *calder_document(CalderRun *run) CALDER_EXPORT(calder_document);
/** After calder_document(): the bytes of one tick; NULL: calder_error() says why. */
int calder_tick_size(CalderRun *run) CALDER_EXPORT(calder_tick_size);
const unsigned char *calder_tick(CalderRun *run) CALDER_EXPORT(calder_tick);
/**
 * Does what a command of a page says: forces, joints, parameters, moments. The messages to the page, a JSON list; NULL: out of
 * memory.
 */
const char *calder_command(CalderRun *run, const char *command) CALDER_EXPORT(calder_command);
/** What has happened since the last call, a JSON list of {event}; NULL: out of memory. */
const char *calder_events(CalderRun *run) CALDER_EXPORT(calder_events);

#endif
