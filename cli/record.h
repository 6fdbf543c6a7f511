// SPDX-License-Identifier: Apache-2.0
/*
 * record.h — where the samples of a run go: streams to result files as they come, and a plot at the end.
 *
 * Each stream has its signals, its interval and perhaps a file. Samples are taken at multiples of the interval and at the
 * end; with interval 0 after every step. A stream that follows angular velocities takes further ones, at ends of steps, so that
 * no body turns far between two. The picture is of the first stream.
 */
#ifndef CALDER_CLI_RECORD_H
#define CALDER_CLI_RECORD_H

#include "panels.h"
#include "parts.h"

typedef struct RecordStream {
	const char *name;
	char *path;         // of its file, from malloc; NULL: nowhere
	double interval;    // [s], 0: every step
	bool elsewhere;     // another rank writes it
	StreamParts *parts; // each rank writes some of its columns; NULL: one file has them all
	bool along;         // at least that time apart, but only when another stream takes a sample
	CalSampler *sampler;
	double *row;     // [columns of the sampler] the last sample
	int64_t next;    // the next sample is at start + next * interval
	int index;       // among the streams of the results; -1: none
	size_t taken;    // samples
	int *spins;      // [spin_count] columns of the angular velocities (three each) that it follows; from malloc
	int spin_count;  //
	double turn_due; // a further sample is wanted then: some body may have turned far since the last one
} RecordStream;

typedef struct Record {
	RecordStream *streams;
	int stream_count;
	double start, end; // of the run [s]
	CalResults *results;
	CalScenario *scenario; // whose log goes to the first HDF5 file; NULL: none
	int event_stream;      // among the streams of the results; -1: none
	int64_t events;        // entries of the log that were handed on
	int parameters;        // that a page may set: their changes go to the log, after the actions of events
	bool whole_steps;      // samples are at the ends of steps
	bool keep;             // the samples of the first stream, for a plot
	double *rows;          // kept: [kept][column_count]
	size_t kept, capacity;
	const char *path; // of record_watch()
	int watched;      // exit code of the samples that it took
} Record;

/** Makes room for streams; their names, paths and signals are then set one by one. Returns an exit code. */
int record_create(Record *record, int stream_count, double start, double end);
/** One more stream, for which there is room; NULL: out of memory. */
RecordStream *record_add(Record *record);
/**
 * The file that a stream is written to. several: others are too; a CSV file then gets the stream's name into its own,
 * "run.csv" becomes "run-main.csv". Returns an exit code.
 */
int record_set_path(RecordStream *stream, const char *path, bool several);
/** Divides the columns of a stream with an HDF5 file among ranks (parts.h). Returns an exit code. */
int record_divide(Record *record, int index, const CalSim *sim, int rank, int size);
/** Opens the files; what is stored in them about the run is in options. Returns an exit code. */
int record_open(Record *record, CalResultsOptions *options, const char *path);
/** After record_create(): the run resumes at time t; samples due then are still to be taken. */
void record_resume(Record *record, double t);
/** The run has gone back to time t: samples from there on are taken again. Not of one that writes files. */
void record_return(Record *record, double t);
/** The time of the next sample that some stream wants, at most the end. */
double record_next(const Record *record);
/** The same where samples are at the ends of steps: from when on the end of a step is one, round-off allowed for. */
double record_next_step(const Record *record);
/** Before an advance to the next sample: takes further ones on the way, where a body may have turned far since the last. */
void record_watch(Record *record, CalSim *sim, const char *path);
/** Does a stream want every step? */
bool record_wants_steps(const Record *record);
/** Takes the samples that are due. Returns an exit code; why a file could not be written is said by record_finish(). */
int record_sample(Record *record, CalSim *sim, const char *path);
/** Hands new entries of the scenario's log to its stream. Returns an exit code, as record_sample() does. */
int record_events(Record *record);
/** Ends the writing. Returns EXIT_INPUT, and says so, if a file could not be written. */
int record_finish(Record *record, const CalSim *sim, const char *path);
/** Samples of all streams but those taken along. */
size_t record_taken(const Record *record);
/** Draws the given signals of the first stream. Returns an exit code. */
int record_plot(const Record *record, const char *svg_path, const char *title, const char *const *names, int count);
void record_free(Record *record);

#endif
