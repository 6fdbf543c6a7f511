// SPDX-License-Identifier: Apache-2.0
/*
 * calder/results.h — results of a run: streams of records to files, written by a thread of their own.
 *
 * A stream is a table that grows: one row of numbers per record, the first of them the time. The caller puts rows into a
 * buffer that is allocated up front; a thread takes them out and writes them. Putting neither allocates nor locks, so
 * that a step never waits for the disk; what happens when the buffer is full is the caller's choice. Files are HDF5
 * (several streams each, docs/results.md says what is in them) or CSV (one stream each). Every flush_s seconds all that
 * was put is handed to the operating system: a process that is killed loses no more than that, and its files can be read.
 * A stream may join the columns of others: each of its parts is a result file with a stream of the same name and group,
 * whose columns are the time and those of the part, in the order of the joined ones (docs/distributed.md).
 * HDF5 needs a library built with it (CALDER_WITH_HDF5); otherwise its files are refused with CAL_ERR_UNSUPPORTED.
 */
#ifndef CALDER_RESULTS_H
#define CALDER_RESULTS_H

#include <calder/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalResults CalResults;

/** What a put does when the buffer is full. */
typedef enum CalResultsFull {
	CAL_RESULTS_WAIT, // waits for the writer: nothing is lost
	CAL_RESULTS_DROP, // counts the record and drops it: the caller never waits
} CalResultsFull;

typedef struct CalResultsColumn {
	const char *name; // "q:shoulder"
	const char *unit; // "rad"
} CalResultsColumn;

/** A list of texts that numbers of a stream refer to by their place in it, from 0. */
typedef struct CalResultsTexts {
	const char *name;         // "actions"
	const char *const *items; // [count]
	int count;
} CalResultsTexts;

typedef struct CalResultsStream {
	const char *name;                // unlike the others' of its file; may not hold '/'
	const char *path;                // ends in .h5 or .hdf5: HDF5; else CSV, "-": to stdout
	double interval;                 // [s], 0: every step; only noted in the file
	const CalResultsColumn *columns; // [column_count], the first is the time
	int column_count;                //
	const char *group;               // of the HDF5 file that it is in; NULL: "streams"
	const CalResultsTexts *texts;    // [text_count] HDF5: datasets beside it, written at the start
	int text_count;                  //
	const char *const *parts;        // [part_count] HDF5: files in the same folder that hold its columns, by name
	int part_count;                  // 0: the columns are here; otherwise nothing is put into this stream
	const int *part_of;              // [column_count] the part of each column; of the time: 0
} CalResultsStream;

/** Where results go, and what the HDF5 files store about the run. Nothing of it is needed after cal_results_create(). */
typedef struct CalResultsOptions {
	const CalResultsStream *streams;    // [stream_count]
	int stream_count;                   //
	CalResultsFull when_full;           //
	size_t buffer_bytes;                // 0: 4 MiB; at least room for eight records of the widest stream is taken
	double flush_s;                     // wall time between two flushes, 0: 1 s
	CalSim *sim;                        // its time and the names of its objects are noted; NULL: none
	const CalIntegratorOptions *method; // NULL: not noted
	const char *title;                  // NULL: none
	const char *model_name;             // of the model file; NULL: none
	const char *model_text;             // all of it; NULL: none
	const uint64_t *seeds;              // [seed_count] of whatever was random
	int seed_count;                     //
	CalAllocator allocator;             // {0}: malloc; HDF5 and the thread allocate on their own
} CalResultsOptions;

/** Opens the files, replacing those that are there, and starts the writer. An error names the file and the cause. */
CAL_API CalStatus cal_results_create(const CalResultsOptions *options, CalResults **results, CalError *error);

/**
 * One record: row[column_count of the stream]. For one thread at a time. CAL_ERR_IO: a file could not be written, and
 * nothing will be any more; cal_results_finish() says which and why.
 */
CAL_API CalStatus cal_results_put(CalResults *results, int stream, const double *row);

/**
 * What there is to doubt, to be written into every file when it is closed (calder/doubt.h). Copied; replaces what was given
 * before.
 */
CAL_API CalStatus cal_results_set_doubts(CalResults *results, const CalDoubt *doubts, int count);

/** Writes what is in the buffer, closes the files, ends the writer. The first failure since the start is reported. */
CAL_API CalStatus cal_results_finish(CalResults *results, CalError *error);

/** Records of a stream so far. */
typedef struct CalResultsCount {
	int64_t written; // handed to the file
	int64_t dropped; // because the buffer was full
} CalResultsCount;
CAL_API CalResultsCount cal_results_count(const CalResults *results, int stream);

/** Finishes first if that was not done. Accepts NULL. */
CAL_API void cal_results_destroy(CalResults *results);

/* ---- reading back ------------------------------------------------------------------------- */

/** Nonzero if a path is that of an HDF5 file by its ending. */
CAL_API int cal_results_is_hdf5(const char *path);

/** One stream of an HDF5 file. */
typedef struct CalResultsTable {
	char *name;                // of the stream
	CalResultsColumn *columns; // [column_count]
	int column_count;          //
	double *rows;              // [row_count column_count]
	size_t row_count;          //
	int64_t dropped;           // records that are not there
	int closed;                // nonzero: the file was closed in order, not left by a process that died
} CalResultsTable;

/** What an HDF5 file stores about its run; texts from malloc. */
typedef struct CalResultsAbout {
	char *title, *software_version, *created;
	char *model_name, *model_text;
	char **streams; // [stream_count] names
	int stream_count;
	char **events, **actions; // [action_count] what the column "action" of the stream "events/log" counts: name, words
	int action_count;
	char *method;            // "" if the file does not say
	double step, rtol, atol; // of the method, as used; NAN: the file does not say
	CalDoubt *doubts;        // [doubt_count]
	int doubt_count;         //
	int closed;              // nonzero: the file was closed in order, not left by a process that died
} CalResultsAbout;
CAL_API CalStatus cal_results_about(const char *path, CalResultsAbout *about, CalError *error);
CAL_API void cal_results_about_free(CalResultsAbout *about);

/**
 * stream NULL: the first. An unknown one is answered with the names that there are. Of a stream in parts: the records that
 * all of them hold.
 */
CAL_API CalStatus cal_results_read(const char *path, const char *stream, CalResultsTable *table, CalError *error);
CAL_API void cal_results_table_free(CalResultsTable *table);

#ifdef __cplusplus
}
#endif
#endif
