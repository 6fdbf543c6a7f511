// SPDX-License-Identifier: Apache-2.0
/*
 * results_csv.c — a stream as CSV: one header line "name [unit]", then numbers that read back exactly.
 *
 * Lines are collected and go to the file in whole; after a write that failed halfway the file is truncated after its last
 * whole line. Records that were dropped, and what there is to doubt, are in last lines that begin with '#'.
 */
#define _POSIX_C_SOURCE 200809L // open, write, ftruncate

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "io/results/results_sink.h"

enum { NUMBER_LONGEST = 26, TEXT_BYTES = 1 << 16 };

typedef struct CsvSink {
	Sink base;
	int stream, column_count;
	int fd;
	CalOutput *output; // the file that this sink opened; NULL: stdout
	off_t whole;       // bytes of it that end with a line
	bool failed;
	char *text; // not written yet
	size_t length, capacity;
} CsvSink;

static CalStatus cannot_write(CsvSink *sink, int cause, CalError *error) {
	sink->failed = true;
	bool cut = sink->output && ftruncate(sink->fd, sink->whole) == 0;
	return error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s%s", sink->base.path, strerror(cause),
	                 cut ? "; what was written until then is kept" : "");
}

static CalStatus write_text(CsvSink *sink, CalError *error) {
	if (!file_write_all(sink->fd, sink->text, sink->length))
		return cannot_write(sink, errno, error);
	sink->whole += (off_t)sink->length;
	sink->length = 0;
	return CAL_OK;
}

static CalStatus csv_write(Sink *base, int stream, const double *rows, size_t count, CalError *error) {
	CsvSink *sink = (CsvSink *)base;
	size_t line = (size_t)sink->column_count * NUMBER_LONGEST;
	CalStatus status = CAL_OK;
	(void)stream;
	for (size_t i = 0; i < count && status == CAL_OK; i++) {
		if (sink->capacity - sink->length < line)
			status = write_text(sink, error);
		for (int k = 0; k < sink->column_count && status == CAL_OK; k++)
			sink->length += (size_t)snprintf(sink->text + sink->length, NUMBER_LONGEST, "%.17g%c", *rows++,
			                                 k + 1 < sink->column_count ? ',' : '\n');
	}
	return status;
}

static CalStatus csv_flush(Sink *base, const SinkStatus *now, CalError *error) {
	(void)now;
	return write_text((CsvSink *)base, error);
}

/* Last lines, which readers of numbers pass over. */
static CalStatus write_remarks(CsvSink *sink, const SinkStatus *now, CalError *error) {
	CalStatus status = CAL_OK;
	if (now->dropped[sink->stream] > 0) {
		sink->length = (size_t)snprintf(sink->text, sink->capacity,
		                                "# %lld records are missing: the disk was slower than the simulation\n",
		                                (long long)now->dropped[sink->stream]);
		status = write_text(sink, error);
	}
	for (int i = 0; i < now->doubt_count && status == CAL_OK; i++) {
		const CalDoubt *doubt = &now->doubts[i];
		sink->length = (size_t)snprintf(sink->text, sink->capacity, "# doubt (%s): %s\n", cal_doubt_name(doubt->kind),
		                                doubt->text);
		for (size_t k = 0; k + 1 < sink->length; k++)
			sink->text[k] = sink->text[k] == '\n' ? ' ' : sink->text[k];
		status = write_text(sink, error);
	}
	return status;
}

/* now NULL: the file could not even be begun. */
static CalStatus csv_close(Sink *base, const SinkStatus *now, CalError *error) {
	CsvSink *sink = (CsvSink *)base;
	CalStatus status = sink->failed ? CAL_OK : write_text(sink, error);
	if (!sink->failed && now)
		status = write_remarks(sink, now, error);
	if (sink->fd >= 0 && close(sink->fd) != 0 && status == CAL_OK && !sink->failed)
		status = error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s", base->path, strerror(errno));
	cal_output_close(sink->output);
	memory_free(base->allocator, sink->text);
	memory_free(base->allocator, sink);
	return status;
}

/* ---- opening ----------------------------------------------------------------------------------- */

/* Quoted if it holds a comma, a quote or a line end. Returns the bytes; text may be NULL to count them. */
static size_t header_field(char *text, const CalResultsColumn *column) {
	bool quote = strpbrk(column->name, ",\"\r\n") != NULL;
	size_t length = 0;
	char scrap[2];
#define PUT(c) (*(text ? text + length : scrap) = (c), length++)
	if (quote)
		PUT('"');
	for (const char *c = column->name; *c; c++) {
		if (*c == '"')
			PUT('"');
		PUT(*c);
	}
	PUT(' ');
	PUT('[');
	for (const char *c = column->unit; *c; c++)
		PUT(*c);
	PUT(']');
	if (quote)
		PUT('"');
#undef PUT
	return length;
}

static size_t header(char *text, const CalResultsStream *stream) {
	size_t length = 0;
	for (int i = 0; i < stream->column_count; i++) {
		length += header_field(text ? text + length : NULL, &stream->columns[i]);
		if (text)
			text[length] = i + 1 < stream->column_count ? ',' : '\n';
		length++;
	}
	return length;
}

static const SinkOps csv_ops = {csv_write, csv_flush, csv_close};

/* The file, with its header, takes its place at once: lines that follow can be read there while the run continues. */
static CalStatus open_file(CsvSink *sink, CalError *error) {
	const char *path = sink->base.path;
	CalStatus status = CAL_OK;
	if (strcmp(path, "-") == 0)
		sink->fd = dup(STDOUT_FILENO);
	else if ((status = cal_output_open(path, sink->base.allocator, &sink->output, error)) == CAL_OK)
		sink->fd = open(cal_output_part(sink->output), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (status != CAL_OK)
		return status;
	if (sink->fd < 0)
		return error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s", path, strerror(errno));
	status = write_text(sink, error);
	return status == CAL_OK && sink->output ? cal_output_publish(sink->output, error) : status;
}

CalStatus csv_sink_open(const CalResultsOptions *options, int stream, const CalAllocator *allocator, Sink **sink,
                        CalError *error) {
	const CalResultsStream *def = &options->streams[stream];
	size_t needed = header(NULL, def), line = (size_t)def->column_count * NUMBER_LONGEST;
	CsvSink *made = memory_alloc(allocator, sizeof *made);
	size_t capacity = TEXT_BYTES + (needed > line ? needed : line);
	char *text = memory_alloc(allocator, capacity);
	if (!made || !text) {
		memory_free(allocator, text);
		memory_free(allocator, made);
		return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", def->path);
	}
	*made = (CsvSink){.base = {&csv_ops, def->path, allocator},
	                  .stream = stream,
	                  .column_count = def->column_count,
	                  .fd = -1,
	                  .text = text,
	                  .capacity = capacity};
	made->length = header(text, def);
	CalStatus status = open_file(made, error);
	if (status == CAL_OK) {
		*sink = &made->base;
	} else {
		made->failed = true;
		csv_close(&made->base, NULL, NULL);
	}
	return status;
}
