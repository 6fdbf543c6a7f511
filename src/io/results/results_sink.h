// SPDX-License-Identifier: Apache-2.0
/*
 * results_sink.h — a result file of some format, as the writer sees it.
 *
 * A sink is opened by the thread that creates the results, and from then on used by the writer's alone. Streams are
 * counted as in CalResultsOptions; a sink knows which of them are its own by their path.
 */
#ifndef CALDER_IO_RESULTS_RESULTS_SINK_H
#define CALDER_IO_RESULTS_RESULTS_SINK_H

#include <calder/output.h>
#include <calder/results.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct Sink Sink;

/** What is known of the results beside their rows. */
typedef struct SinkStatus {
	const int64_t *dropped; // records of each stream
	const CalDoubt *doubts; // [doubt_count] written when the file is closed
	int doubt_count;        //
} SinkStatus;

typedef struct SinkOps {
	/** Appends rows[count] to a stream. */
	CalStatus (*write)(Sink *sink, int stream, const double *rows, size_t count, CalError *error);
	/** Hands everything to the operating system. */
	CalStatus (*flush)(Sink *sink, const SinkStatus *now, CalError *error);
	/** Flushes and frees. A sink that failed before is closed with what it had. */
	CalStatus (*close)(Sink *sink, const SinkStatus *now, CalError *error);
} SinkOps;

/** The beginning of every sink. */
struct Sink {
	const SinkOps *ops;
	const char *path;
	const CalAllocator *allocator;
};

enum { SINK_BATCH_BYTES = 1 << 16, SINK_BATCH_LEAST = 16, SINK_BATCH_MOST_BYTES = 1 << 20 };

/** Rows that are written at once, and of a chunk of an HDF5 file: 64 KiB of them, at least 16. */
static inline size_t sink_batch_rows(const CalResultsStream *stream) {
	const size_t row = sizeof(double) * (size_t)stream->column_count, rows = SINK_BATCH_BYTES / row;
	if (rows >= SINK_BATCH_LEAST)
		return rows;
	const size_t wide = SINK_BATCH_MOST_BYTES / row; // a chunk is written whole: of rows of a megabyte it has one
	return wide >= SINK_BATCH_LEAST ? SINK_BATCH_LEAST : wide > 1 ? wide : 1;
}

/** The group of an HDF5 file that a stream is in. */
static inline const char *sink_group(const CalResultsStream *stream) {
	return stream->group ? stream->group : "streams";
}

/** Streams of options are copies that live as long as the sink. The CSV file of one stream. */
CalStatus csv_sink_open(const CalResultsOptions *options, int stream, const CalAllocator *allocator, Sink **sink,
                        CalError *error);
/** The HDF5 file of all streams with that path. */
CalStatus hdf5_sink_open(const CalResultsOptions *options, const char *path, const CalAllocator *allocator, Sink **sink,
                         CalError *error);

#endif
