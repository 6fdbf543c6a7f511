// SPDX-License-Identifier: Apache-2.0
/*
 * record.h — where the samples of a run go: a CSV file as they come, and a plot at the end.
 */
#ifndef CALDER_CLI_RECORD_H
#define CALDER_CLI_RECORD_H

#include "signals.h"

typedef struct Record {
	SignalSet set;
	FILE *csv;       // NULL: none
	bool keep;       // for a plot
	double *rows;    // kept samples, set.column_count numbers each; at least room for one
	size_t count;    // samples taken
	size_t capacity; //
} Record;

/** Opens the CSV file ("-": stdout, NULL: none) and writes its header. Returns an exit code. */
int record_open(Record *record, const char *csv_path, bool keep);
/** Takes one sample. Returns an exit code; the message has been printed. */
int record_sample(Record *record, CalSim *sim, const char *path);
/** Draws the given signals of the kept samples. Returns an exit code. */
int record_plot(const Record *record, const char *svg_path, const char *title, const char *const *names, int count);
/** Closes and frees everything. Returns EXIT_INPUT if the CSV file could not be written. */
int record_close(Record *record, const char *csv_path);

#endif
