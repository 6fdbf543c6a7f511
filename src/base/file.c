// SPDX-License-Identifier: Apache-2.0
/*
 * file.c — see file.h.
 */
#define _GNU_SOURCE // st_blocks, O_CLOEXEC

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

static const uint64_t small_bytes = (uint64_t)1 << 26; // below, holes do not matter
static const uint64_t hole_share = 64;                 // a file may claim so many times what it takes on disk

static bool set_reason(char *why, const char *text) {
	snprintf(why, INPUT_FILE_WHY, "%s", text);
	return false;
}

static bool check_file_size(const struct stat *about, const InputFile *file, char *why) {
	const uint64_t size = about->st_size > 0 ? (uint64_t)about->st_size : 0;
	const uint64_t stored = about->st_blocks > 0 ? (uint64_t)about->st_blocks * 512 : 0;
	if (size > file->most) {
		snprintf(why, INPUT_FILE_WHY, "the file has %llu bytes, and at most %llu are read; %s",
		         (unsigned long long)size, (unsigned long long)file->most, file->remedy);
		return false;
	}
	if (size > small_bytes && size / hole_share > stored) {
		snprintf(
			why, INPUT_FILE_WHY,
			"the file claims %llu bytes, but has only %llu on disk: it is damaged, or made to exhaust memory; write it "
			"again",
			(unsigned long long)size, (unsigned long long)stored);
		return false;
	}
	return true;
}

static bool check_file(const struct stat *about, const InputFile *file, char *why) {
	if (S_ISDIR(about->st_mode))
		return set_reason(why, "the file could not be read: it is a folder; name a file in it");
	if (S_ISREG(about->st_mode))
		return check_file_size(about, file, why);
	if (S_ISFIFO(about->st_mode) && !file->no_pipes)
		return true;
	return set_reason(why, S_ISFIFO(about->st_mode)
	                           ? "the file could not be read: it is a pipe; store what comes out of it in "
	                             "a file first"
	                           : "the file could not be read: it is a device, which has no end; name a "
	                             "regular file");
}

static bool cannot_open(char *why) {
	return set_reason(why, "the file could not be opened; check that it exists and may be read");
}

bool input_file_check(const char *path, const InputFile *file, char why[INPUT_FILE_WHY]) {
	struct stat about;
	return stat(path, &about) == 0 ? check_file(&about, file, why) : cannot_open(why);
}

/* A pipe is opened without waiting for its writer: where there is none, it ends at once. */
static bool open_file(const char *path, const InputFile *file, int *opened, char *why) {
	struct stat about;
	*opened = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (*opened < 0 || fstat(*opened, &about) != 0)
		return cannot_open(why);
	if (!check_file(&about, file, why))
		return false;
	const int flags = fcntl(*opened, F_GETFL);
	return (flags >= 0 && fcntl(*opened, F_SETFL, flags & ~O_NONBLOCK) == 0) || cannot_open(why);
}

FILE *input_file_open(const char *path, const InputFile *file, char why[INPUT_FILE_WHY]) {
	int opened;
	const bool found = open_file(path, file, &opened, why);
	FILE *stream = found ? fdopen(opened, "rb") : NULL;
	if (found && !stream)
		cannot_open(why); // memory is short
	if (!stream && opened >= 0)
		close(opened);
	return stream;
}

/* Doubles the buffer; NULL: out of memory, and the buffer is gone. */
static char *buffer_grow(const CalAllocator *allocator, char *buffer, size_t length, size_t *capacity) {
	const size_t larger = *capacity ? 2 * *capacity : 65536;
	char *memory = memory_alloc(allocator, larger);
	if (memory && length)
		memcpy(memory, buffer, length);
	memory_free(allocator, buffer);
	*capacity = larger;
	return memory;
}

/* The whole stream, or one byte more than `most`. */
static char *stream_read(FILE *stream, uint64_t most, const CalAllocator *allocator, size_t *length) {
	char *buffer = NULL;
	size_t capacity = 0, got = 1;
	*length = 0;
	while (got > 0 && *length <= most) {
		if (*length == capacity && !(buffer = buffer_grow(allocator, buffer, *length, &capacity)))
			return NULL;
		got = fread(buffer + *length, 1, capacity - *length, stream);
		*length += got;
	}
	return buffer;
}

/* What stands in the place of a large file where Git LFS did not fetch it. */
static bool is_lfs_pointer(const char *text, size_t length) {
	static const char begin[] = "version https://git-lfs.github.com/spec/";
	return length >= sizeof begin - 1 && memcmp(text, begin, sizeof begin - 1) == 0;
}

CalStatus input_file_read(const char *path, const InputFile *file, const CalAllocator *allocator, char **text,
                          size_t *length, char why[INPUT_FILE_WHY]) {
	*text = NULL;
	FILE *stream = input_file_open(path, file, why);
	if (!stream)
		return CAL_ERR_IO;
	char *all = stream_read(stream, file->most, allocator, length);
	CalStatus status = CAL_OK;
	if (!all) {
		set_reason(why, "out of memory while reading the file");
		status = CAL_ERR_MEMORY;
	} else if (ferror(stream)) {
		set_reason(why, "the file could not be read to its end");
		status = CAL_ERR_IO;
	} else if (*length > file->most) {
		snprintf(why, INPUT_FILE_WHY, "the file has more than %llu bytes; %s", (unsigned long long)file->most,
		         file->remedy);
		status = CAL_ERR_INPUT;
	} else if (is_lfs_pointer(all, *length)) {
		set_reason(why,
		           "the file is a pointer of Git LFS, which stands for the file itself; run \"git lfs pull\" in its "
		           "repository");
		status = CAL_ERR_INPUT;
	}
	fclose(stream);
	if (status == CAL_OK)
		*text = all;
	else
		memory_free(allocator, all);
	return status;
}

bool file_write_all(int file, const char *bytes, size_t size) {
	while (size > 0) {
		const ssize_t written = write(file, bytes, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written == 0)
			errno = ENOSPC;
		if (written <= 0)
			return false;
		bytes += written;
		size -= (size_t)written;
	}
	return true;
}
