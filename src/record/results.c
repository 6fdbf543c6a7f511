// SPDX-License-Identifier: Apache-2.0
/*
 * results.c — the writer: a ring of records, a thread that empties it, and the files it writes.
 *
 * The producer touches the ring, a counter of its own and one flag. The writer polls: nobody has to wake it, which would
 * be a system call in the step. It collects the rows of each stream and writes them in batches; when the time between
 * two flushes is over, everything is written and flushed. After a failure it continues to empty the ring, so that
 * a producer that waits is not left hanging, and the files are closed with what they hold.
 *
 * Where there are no threads (CALDER_WITHOUT_THREADS) the producer empties the ring itself when it is full.
 */
#define _POSIX_C_SOURCE 200809L // clock_gettime, nanosleep, pthread

#include <math.h>
#ifndef CALDER_WITHOUT_THREADS
#include <pthread.h>
#include <signal.h>
#endif
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "io/results/results_sink.h"
#include "record/results_ring.h"

enum { DEFAULT_BUFFER = 1 << 22, LEAST_RECORDS = 8 };
static const double default_flush_s = 1;
#ifndef CALDER_WITHOUT_THREADS
static const long poll_ns = 2000000; // of the writer when there is nothing to do
static const long wait_ns = 50000;   // of a producer that waits for room
#endif

/* What the writer has of a stream. */
typedef struct Batch {
	double *rows;    // [capacity][width]
	size_t width;    //
	size_t capacity; //
	size_t count;    // rows that are not written yet
	int sink;        // where they go
} Batch;

struct CalResults {
	CalAllocator allocator;
	CalResultsStream *streams; // copies of names and paths; columns are not kept
	int stream_count;
	Batch *batches; // [stream_count]
	Sink **sinks;   // [sink_count]
	int sink_count;
	Ring ring;
	CalResultsFull when_full;
	double flush_s;
	_Atomic int64_t *written; // [stream_count] by the writer
	_Atomic int64_t *dropped; // [stream_count] by the producer
	int64_t *dropped_now;     // [stream_count] the writer's copy
	CalDoubt *doubts;         // [doubt_count] by the producer, for the writer when it stops
	int doubt_count;
#ifndef CALDER_WITHOUT_THREADS
	pthread_t thread;
#endif
	double flushed; // when all was written last: wall time
	bool running;
	atomic_bool stop;   // no more will be put
	atomic_bool failed; // error is filled
	CalError error;     // of the writer
};

static double wall_time(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the writer -------------------------------------------------------------------------------- */

static void note_failure(CalResults *r, CalStatus status, const CalError *error) {
	if (status == CAL_OK || atomic_load_explicit(&r->failed, memory_order_relaxed))
		return;
	r->error = *error;
	atomic_store_explicit(&r->failed, true, memory_order_release);
}

static void write_batch(CalResults *r, int stream) {
	Batch *batch = &r->batches[stream];
	Sink *sink = r->sinks[batch->sink];
	CalError error = {0};
	if (batch->count > 0 && !atomic_load_explicit(&r->failed, memory_order_relaxed)) {
		CalStatus status = sink->ops->write(sink, stream, batch->rows, batch->count, &error);
		note_failure(r, status, &error);
		if (status == CAL_OK)
			atomic_fetch_add_explicit(&r->written[stream], (int64_t)batch->count, memory_order_relaxed);
	}
	batch->count = 0;
}

/* Takes what is in the ring, but no more than fits in it once, so that flushes come in time; false: it was empty. */
static bool drain(CalResults *r) {
	size_t taken = 0;
	for (int stream; taken < r->ring.capacity && (stream = ring_stream(&r->ring)) >= 0;) {
		Batch *batch = &r->batches[stream];
		ring_take(&r->ring, batch->rows + batch->count * batch->width, batch->width);
		taken += batch->width + 1;
		if (++batch->count == batch->capacity)
			write_batch(r, stream);
	}
	return taken > 0;
}

static SinkStatus count_dropped(CalResults *r) {
	for (int i = 0; i < r->stream_count; i++)
		r->dropped_now[i] = atomic_load_explicit(&r->dropped[i], memory_order_relaxed);
	return (SinkStatus){.dropped = r->dropped_now};
}

static void flush_all(CalResults *r) {
	for (int i = 0; i < r->stream_count; i++)
		write_batch(r, i);
	const SinkStatus now = count_dropped(r);
	for (int i = 0; i < r->sink_count && !atomic_load_explicit(&r->failed, memory_order_relaxed); i++) {
		CalError error = {0};
		note_failure(r, r->sinks[i]->ops->flush(r->sinks[i], &now, &error), &error);
	}
}

static void close_all(CalResults *r) {
	SinkStatus now = count_dropped(r);
	now.doubts = r->doubts;
	now.doubt_count = r->doubt_count;
	for (int i = 0; i < r->sink_count; i++) {
		CalError error = {0};
		note_failure(r, r->sinks[i]->ops->close(r->sinks[i], &now, &error), &error);
	}
	r->sink_count = 0;
}

static void flush_in_time(CalResults *r) {
	if (wall_time() - r->flushed < r->flush_s)
		return;
	flush_all(r);
	r->flushed = wall_time();
}

static void write_rest(CalResults *r) {
	for (int i = 0; i < r->stream_count; i++)
		write_batch(r, i);
	close_all(r);
}

#ifdef CALDER_WITHOUT_THREADS

static bool start_writer(CalResults *r) {
	r->flushed = wall_time();
	return r->running = true;
}

/* There is room after it: false would be a row to drop. */
static bool make_room(CalResults *r) {
	drain(r);
	flush_in_time(r);
	return true;
}

static void join_writer(CalResults *r) {
	while (drain(r))
		;
	write_rest(r);
}

#else

static void pause_for(long ns) { nanosleep(&(struct timespec){.tv_nsec = ns}, NULL); }

static void *writer(void *user) {
	CalResults *r = user;
	r->flushed = wall_time();
	for (;;) {
		bool stop = atomic_load_explicit(&r->stop, memory_order_acquire); // what was put before it is in the ring
		bool busy = drain(r);
		flush_in_time(r);
		if (stop && !busy)
			break;
		if (!busy)
			pause_for(poll_ns);
	}
	write_rest(r);
	return NULL;
}

/* An ordinary thread whatever the caller's priority is, and deaf to the process's signals. */
static bool start_writer(CalResults *r) {
	sigset_t all, before;
	pthread_attr_t attributes;
	sigfillset(&all);
	if (pthread_attr_init(&attributes) != 0)
		return false;
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r->running = pthread_create(&r->thread, &attributes, writer, r) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return r->running;
}

/* False: the row is dropped. */
static bool make_room(CalResults *r) {
	if (r->when_full == CAL_RESULTS_DROP)
		return false;
	pause_for(wait_ns);
	return true;
}

static void join_writer(CalResults *r) { pthread_join(r->thread, NULL); }

#endif

/* ---- creation ---------------------------------------------------------------------------------- */

static void *zeroed(const CalAllocator *allocator, size_t count, size_t size) {
	size_t bytes;
	void *memory = size_mul(count, size, &bytes) ? memory_alloc(allocator, bytes) : NULL;
	return memory ? memset(memory, 0, bytes) : NULL;
}

static bool parts_are_sound(const CalResultsStream *s) {
	if (s->part_count == 0)
		return true;
	bool sound = s->part_count > 0 && s->parts && s->part_of && cal_results_is_hdf5(s->path) && s->part_of[0] == 0;
	for (int i = 0; i < s->part_count && sound; i++)
		sound = s->parts[i] && cal_results_is_hdf5(s->parts[i]) && !strchr(s->parts[i], '/');
	for (int i = 0; i < s->column_count && sound; i++)
		sound = s->part_of[i] >= 0 && s->part_of[i] < s->part_count;
	return sound;
}

static CalStatus check_stream(const CalResultsOptions *options, int index, CalError *error) {
	const CalResultsStream *s = &options->streams[index];
	if (!s->name || !s->name[0] || !s->path || !s->path[0] || !s->columns || s->column_count < 1)
		return error_set(error, CAL_ERR_ARGUMENT, "stream %d of the results needs a name, a path and columns",
		                 index + 1);
	for (int i = 0; i < s->column_count; i++)
		if (!s->columns[i].name || !s->columns[i].unit)
			return error_set(error, CAL_ERR_ARGUMENT, "stream \"%.80s\": column %d needs a name and a unit", s->name,
			                 i + 1);
	if (s->text_count < 0 || (s->text_count > 0 && !s->texts) || (s->group && (!s->group[0] || strchr(s->group, '/'))))
		return error_set(error, CAL_ERR_ARGUMENT, "stream \"%.80s\": its texts or the name of its group are wrong",
		                 s->name);
	if (strchr(s->name, '/') || strcmp(s->name, ".") == 0)
		return error_set(error, CAL_ERR_ARGUMENT, "stream \"%.80s\": a name may not be \".\" nor hold a '/'", s->name);
	if (!parts_are_sound(s))
		return error_set(
			error, CAL_ERR_ARGUMENT,
			"stream \"%.80s\": parts are files in the folder of an HDF5 file, named without a '/', and each "
			"column is in one of them, the time in the first",
			s->name);
	for (int i = 0; i < index; i++) {
		const CalResultsStream *other = &options->streams[i];
		if (strcmp(s->path, other->path) != 0)
			continue;
		if (!cal_results_is_hdf5(s->path))
			return error_set(
				error, CAL_ERR_ARGUMENT,
				"%.300s: streams \"%.80s\" and \"%.80s\" cannot share a CSV file; give each one of its own, or "
				"take an HDF5 file (.h5)",
				s->path, other->name, s->name);
		if (strcmp(s->name, other->name) == 0 && strcmp(sink_group(s), sink_group(other)) == 0)
			return error_set(error, CAL_ERR_ARGUMENT, "%.300s: two streams are called \"%.80s\"", s->path, s->name);
	}
	return CAL_OK;
}

static CalStatus check_options(const CalResultsOptions *options, CalError *error) {
	if (!options || !options->streams || options->stream_count < 1 || !allocator_is_valid(&options->allocator) ||
	    (options->seed_count > 0 && !options->seeds))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_results_create: give options with streams");
	if (!(options->flush_s >= 0 && isfinite(options->flush_s)))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_results_create: flush_s is %g; give seconds above zero",
		                 options->flush_s);
	CalStatus status = CAL_OK;
	for (int i = 0; i < options->stream_count && status == CAL_OK; i++)
		status = check_stream(options, i, error);
	return status;
}

static bool make_stream(CalResults *r, const CalResultsOptions *options, int i) {
	const CalResultsStream *from = &options->streams[i];
	CalResultsStream *stream = &r->streams[i];
	Batch *batch = &r->batches[i];
	*stream = *from;
	stream->name = string_copy(&r->allocator, from->name);
	stream->path = string_copy(&r->allocator, from->path);
	batch->width = (size_t)from->column_count;
	batch->capacity = from->part_count > 0 ? 1 : sink_batch_rows(from); // nothing is put into parts
	batch->rows = zeroed(&r->allocator, batch->capacity, batch->width * sizeof(double));
	return stream->name && stream->path && batch->rows;
}

static bool make_ring(CalResults *r, const CalResultsOptions *options) {
	size_t wanted = (options->buffer_bytes ? options->buffer_bytes : DEFAULT_BUFFER) / sizeof(double), widest = 0;
	for (int i = 0; i < r->stream_count; i++)
		widest = r->streams[i].part_count == 0 && r->batches[i].width > widest ? r->batches[i].width : widest;
	wanted = wanted > LEAST_RECORDS * (widest + 1) ? wanted : LEAST_RECORDS * (widest + 1);
	r->ring.capacity = 1;
	while (r->ring.capacity < wanted && r->ring.capacity <= SIZE_MAX / 4)
		r->ring.capacity *= 2;
	r->ring.numbers = zeroed(&r->allocator, r->ring.capacity, sizeof(double)); // touched here, not in the first steps
	return r->ring.numbers != NULL;
}

static bool make_all(CalResults *r, const CalResultsOptions *options) {
	size_t count = (size_t)options->stream_count;
	r->streams = zeroed(&r->allocator, count, sizeof *r->streams);
	r->batches = zeroed(&r->allocator, count, sizeof *r->batches);
	r->sinks = zeroed(&r->allocator, count, sizeof(Sink *));
	r->written = zeroed(&r->allocator, count, sizeof *r->written);
	r->dropped = zeroed(&r->allocator, count, sizeof *r->dropped);
	r->dropped_now = zeroed(&r->allocator, count, sizeof *r->dropped_now);
	if (!r->streams || !r->batches || !r->sinks || !r->written || !r->dropped || !r->dropped_now)
		return false;
	r->stream_count = options->stream_count;
	for (int i = 0; i < r->stream_count; i++)
		if (!make_stream(r, options, i))
			return false;
	return make_ring(r, options);
}

/* One sink for each path; streams and paths of `options` are the copies. */
static CalStatus open_sinks(CalResults *r, const CalResultsOptions *options, CalError *error) {
	for (int i = 0; i < r->stream_count; i++) {
		int sink = -1;
		for (int k = 0; k < i && sink < 0; k++)
			sink = strcmp(r->streams[k].path, r->streams[i].path) == 0 ? r->batches[k].sink : -1;
		if (sink < 0) {
			sink = r->sink_count;
			CalStatus status = cal_results_is_hdf5(r->streams[i].path)
			                       ? hdf5_sink_open(options, r->streams[i].path, &r->allocator, &r->sinks[sink], error)
			                       : csv_sink_open(options, i, &r->allocator, &r->sinks[sink], error);
			if (status != CAL_OK)
				return status;
			r->sink_count++;
		}
		r->batches[i].sink = sink;
	}
	return CAL_OK;
}

static void free_all(CalResults *r) {
	CalAllocator allocator = r->allocator;
	for (int i = 0; i < r->stream_count; i++) {
		memory_free(&allocator, (void *)r->streams[i].name);
		memory_free(&allocator, (void *)r->streams[i].path);
		memory_free(&allocator, r->batches[i].rows);
	}
	memory_free(&allocator, r->ring.numbers);
	memory_free(&allocator, r->streams);
	memory_free(&allocator, r->batches);
	memory_free(&allocator, r->sinks);
	memory_free(&allocator, r->written);
	memory_free(&allocator, r->dropped);
	memory_free(&allocator, r->dropped_now);
	memory_free(&allocator, r->doubts);
	memory_free(&allocator, r);
}

CalStatus cal_results_create(const CalResultsOptions *options, CalResults **results, CalError *error) {
	if (!results)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_results_create: give a place for the result");
	*results = NULL;
	CalStatus status = check_options(options, error);
	if (status != CAL_OK)
		return status;
	CalAllocator allocator = allocator_or_default(&options->allocator);
	CalResults *r = zeroed(&allocator, 1, sizeof *r);
	if (!r)
		return error_set(error, CAL_ERR_MEMORY, "results: %s", cal_status_text(CAL_ERR_MEMORY));
	r->allocator = allocator;
	r->when_full = options->when_full;
	r->flush_s = options->flush_s > 0 ? options->flush_s : default_flush_s;
	if (make_all(r, options)) {
		CalResultsOptions own = *options;
		own.streams = r->streams;
		status = open_sinks(r, &own, error);
	} else {
		status = error_set(error, CAL_ERR_MEMORY, "results: %s", cal_status_text(CAL_ERR_MEMORY));
	}
	for (int i = 0; i < r->stream_count; i++) { // the caller's
		r->streams[i].columns = NULL;
		r->streams[i].texts = NULL;
		r->streams[i].parts = NULL;
		r->streams[i].part_of = NULL;
		r->streams[i].group = NULL;
	}
	if (status == CAL_OK && !start_writer(r))
		status = error_set(error, CAL_ERR_MEMORY, "results: the writer's thread cannot be started");
	if (status != CAL_OK) {
		close_all(r);
		free_all(r);
		return status;
	}
	*results = r;
	return CAL_OK;
}

/* ---- use --------------------------------------------------------------------------------------- */

CalStatus cal_results_put(CalResults *r, int stream, const double *row) {
	if (!r || !row || stream < 0 || stream >= r->stream_count || !r->running || r->streams[stream].part_count > 0)
		return CAL_ERR_ARGUMENT;
	while (!atomic_load_explicit(&r->failed, memory_order_acquire)) {
		if (ring_put(&r->ring, stream, row, r->batches[stream].width))
			return CAL_OK;
		if (!make_room(r)) {
			atomic_fetch_add_explicit(&r->dropped[stream], 1, memory_order_relaxed);
			return CAL_OK;
		}
	}
	return CAL_ERR_IO;
}

CalStatus cal_results_set_doubts(CalResults *r, const CalDoubt *doubts, int count) {
	if (!r || count < 0 || (count > 0 && !doubts) || !r->running)
		return CAL_ERR_ARGUMENT;
	CalDoubt *copy = zeroed(&r->allocator, (size_t)count + 1, sizeof *copy);
	if (!copy)
		return CAL_ERR_MEMORY;
	if (count > 0)
		memcpy(copy, doubts, (size_t)count * sizeof *copy);
	memory_free(&r->allocator, r->doubts);
	r->doubts = copy;
	r->doubt_count = count;
	return CAL_OK;
}

CalStatus cal_results_finish(CalResults *r, CalError *error) {
	if (!r)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_results_finish: results is NULL");
	if (r->running) {
		atomic_store_explicit(&r->stop, true, memory_order_release);
		join_writer(r);
		r->running = false;
	}
	if (!atomic_load_explicit(&r->failed, memory_order_acquire))
		return CAL_OK;
	return error_set(error, r->error.status, "%s", r->error.text);
}

CalResultsCount cal_results_count(const CalResults *r, int stream) {
	if (!r || stream < 0 || stream >= r->stream_count)
		return (CalResultsCount){0};
	return (CalResultsCount){.written = atomic_load_explicit(&r->written[stream], memory_order_relaxed),
	                         .dropped = atomic_load_explicit(&r->dropped[stream], memory_order_relaxed)};
}

void cal_results_destroy(CalResults *r) {
	if (!r)
		return;
	cal_results_finish(r, NULL);
	free_all(r);
}

int cal_results_is_hdf5(const char *path) {
	static const char *const endings[] = {".h5", ".hdf5"};
	size_t length = path ? strlen(path) : 0;
	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		size_t n = strlen(endings[i]);
		if (length > n && strcmp(path + length - n, endings[i]) == 0)
			return 1;
	}
	return 0;
}
