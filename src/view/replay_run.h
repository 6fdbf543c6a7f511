// SPDX-License-Identifier: Apache-2.0
/*
 * replay_run.h — a result file as the parts of a replay document see it: its tables, and which of their rows are shown.
 */
#ifndef CALDER_VIEW_REPLAY_RUN_H
#define CALDER_VIEW_REPLAY_RUN_H

#include <calder/io.h>
#include <calder/results.h>

#include "base/name_index.h"
#include "view/json_writer.h"
#include "view/turns.h"

typedef struct Run {
	const char *path;
	CalResultsAbout about;
	CalSetup *setup;
	CalResultsTable *tables; // [about.stream_count]
	NameIndex *names;        // [about.stream_count] of their columns; values: column + 1
	int frames;              // index of the table with the poses
	BodyColumns *bodies;     // [body_count] where they are in it
	int body_count;
	size_t max_rows, frame_stride;
	CalError *error;
} Run;

const char *run_body_name(const Run *run, int body);

/** How many rows of a table are shown: the first, every so many, and the last; and the i-th of them. */
size_t run_shown_count(const Run *run, const CalResultsTable *table);
size_t run_shown_index(const Run *run, const CalResultsTable *table, size_t i);
const double *run_shown_row(const Run *run, const CalResultsTable *table, size_t i);

/** The column of a modal coordinate in the table of the frames, modes from 0; -1: it is not there. */
int run_eta_column(const Run *run, const char *body, int mode);
/** The first column of a table as an array. */
void run_write_times(JsonWriter *d, const Run *run, const CalResultsTable *table);
/** The key frames, and the key arrows, which start on bodies (replay_frames.c). */
CalStatus frames_write(JsonWriter *d, const Run *run);
/** The key badges (badges.c). */
void badges_write(JsonWriter *d, const Run *run);

#endif
