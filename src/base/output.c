// SPDX-License-Identifier: Apache-2.0
/*
 * output.c — see calder/output.h.
 *
 * The lock file is removed while its lock is held. Whoever opened it before that gets the lock of a file without a name;
 * this shows in its inode, and the lock is asked for anew.
 */
#define _GNU_SOURCE // flock, realpath

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <calder/output.h>

#include "base/error.h"
#include "base/memory.h"

enum { MAX_LINKS = 40, MAX_TRIES = 1000 };

struct CalOutput {
	CalAllocator allocator;
	char *given; // the path of the caller
	char *path;  // of the file that is replaced, without links at its end
	char *part;  // what is written
	char *guard; // PATH.lock
	int lock;    // its descriptor; -1: none
	bool direct; // written directly, without lock
};

/* ---- paths ------------------------------------------------------------------------------------- */

static char *join_path(const CalAllocator *allocator, const char *a, size_t a_length, const char *b) {
	const size_t length = strlen(b);
	char *text = memory_alloc(allocator, a_length + length + 1);
	if (!text)
		return NULL;
	memcpy(text, a, a_length);
	memcpy(text + a_length, b, length + 1);
	return text;
}

/* What a link at this path leads to, seen from here; NULL: out of memory. */
static char *target_of(const CalAllocator *allocator, const char *path, const char *link) {
	const char *slash = strrchr(path, '/');
	return join_path(allocator, path, slash && link[0] != '/' ? (size_t)(slash - path) + 1 : 0, link);
}

/* The path with links at its end followed, also to a file that is not there yet; NULL with errno. */
static char *follow_links(const CalAllocator *allocator, const char *path) {
	char link[PATH_MAX];
	char *at = string_copy(allocator, path);
	for (int i = 0; at; i++) {
		const ssize_t length = readlink(at, link, sizeof link - 1);
		if (length < 0)
			return at;
		link[length] = '\0';
		char *next = i < MAX_LINKS ? target_of(allocator, at, link) : NULL;
		memory_free(allocator, at);
		if (i == MAX_LINKS) {
			errno = ELOOP;
			return NULL;
		}
		at = next;
	}
	errno = ENOMEM;
	return NULL;
}

/*
 * Devices and pipes have no place to move a file to. The names of open descriptors (/dev/stdout, /dev/fd/3) lead to files,
 * but whoever opened those reads the file, not its name.
 */
static bool is_direct(const char *path) {
	struct stat info;
	return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0 ||
	       (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

/* ---- the lock ---------------------------------------------------------------------------------- */

static CalStatus cannot_write(const char *path, const char *extra, CalError *error) {
	return error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s%s", path, strerror(errno), extra);
}

/* The process that holds the lock has put its number there. */
static CalStatus error_in_use(const CalOutput *o, const char *path, CalError *error) {
	char text[24] = "";
	const ssize_t got = pread(o->lock, text, sizeof text - 1, 0);
	const long process = got > 0 ? strtol(text, NULL, 10) : 0;
	if (process > 0)
		return error_set(error, CAL_ERR_IO,
		                 "%.400s: another writer has this file (process %ld); wait for it, or choose another name",
		                 path, process);
	return error_set(error, CAL_ERR_IO, "%.400s: another writer has this file; wait for it, or choose another name",
	                 path);
}

/* Whether the name still leads to the file that is locked. */
static bool is_named(const CalOutput *o) {
	struct stat named, held;
	return stat(o->guard, &named) == 0 && fstat(o->lock, &held) == 0 && named.st_dev == held.st_dev &&
	       named.st_ino == held.st_ino;
}

static void write_signature(const CalOutput *o) {
	char text[24];
	const int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
	if (ftruncate(o->lock, 0) != 0 || pwrite(o->lock, text, (size_t)length, 0) != length)
		return; // the number is for people only
}

/* A file system without locks has none: the last writer wins there. */
static CalStatus take_lock(CalOutput *o, const char *path, CalError *error) {
	for (int i = 0; i < MAX_TRIES; i++) {
		o->lock = open(o->guard, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		if (o->lock < 0)
			return cannot_write(path,
			                    errno == EACCES || errno == EROFS
			                        ? "; its folder must be writable, as files are written beside their place and moved"
			                        : "",
			                    error);
		const bool locked = flock(o->lock, LOCK_EX | LOCK_NB) == 0;
		if (!locked && errno == EWOULDBLOCK) {
			const CalStatus status = error_in_use(o, path, error);
			close(o->lock);
			o->lock = -1;
			return status;
		}
		if (!locked || is_named(o)) {
			write_signature(o);
			return CAL_OK;
		}
		close(o->lock);
		o->lock = -1;
	}
	return error_set(error, CAL_ERR_IO, "%.400s: cannot be written: its lock changes hands all the time", path);
}

/* ---- use --------------------------------------------------------------------------------------- */

static void release_lock(CalOutput *o) {
	const CalAllocator allocator = o->allocator;
	memory_free(&allocator, o->given);
	memory_free(&allocator, o->path);
	memory_free(&allocator, o->part);
	memory_free(&allocator, o->guard);
	memory_free(&allocator, o);
}

static CalStatus set_paths(CalOutput *o, const char *path, CalError *error) {
	o->given = string_copy(&o->allocator, path);
	errno = ENOMEM;
	o->path = o->direct ? string_copy(&o->allocator, path) : follow_links(&o->allocator, path);
	if (!o->given || (!o->path && errno == ENOMEM))
		return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", path);
	if (!o->path)
		return cannot_write(path, "", error);
	const size_t length = strlen(o->path);
	struct stat info;
	if (stat(o->path, &info) == 0 && S_ISDIR(info.st_mode)) {
		errno = EISDIR;
		return cannot_write(path, "", error);
	}
	o->part = join_path(&o->allocator, o->path, length, o->direct ? "" : ".part");
	o->guard = join_path(&o->allocator, o->path, length, ".lock");
	return o->part && o->guard ? CAL_OK : error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", path);
}

CalStatus cal_output_open(const char *path, const CalAllocator *allocator, CalOutput **output, CalError *error) {
	if (!path || !path[0] || !output || !allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_output_open: give a path and a place for the output");
	*output = NULL;
	const CalAllocator source = allocator_or_default(allocator);
	CalOutput *made = memory_alloc(&source, sizeof *made);
	if (!made)
		return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", path);
	*made = (CalOutput){.allocator = source, .lock = -1, .direct = is_direct(path)};
	CalStatus status = set_paths(made, path, error);
	if (status == CAL_OK && !made->direct)
		status = take_lock(made, path, error);
	if (status == CAL_OK)
		*output = made;
	else
		release_lock(made);
	return status;
}

const char *cal_output_path(const CalOutput *output) { return output ? output->given : NULL; }
const char *cal_output_part(const CalOutput *output) { return output ? output->part : NULL; }

CalStatus cal_output_publish(CalOutput *output, CalError *error) {
	if (!output)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_output_publish: output is NULL");
	if (output->direct || rename(output->part, output->path) == 0)
		return CAL_OK;
	return cannot_write(output->given, "", error);
}

void cal_output_close(CalOutput *output) {
	if (!output)
		return;
	if (!output->direct) {
		unlink(output->part);
		unlink(output->guard);
		close(output->lock);
	}
	release_lock(output);
}
