// SPDX-License-Identifier: Apache-2.0
/*
 * serializer.c — see serializer.h.
 */
#include "base/serializer.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

Archive archive_counter(void) { return (Archive){.mode = ARCHIVE_COUNT}; }

Archive archive_writer(void *memory, size_t size) {
	return (Archive){.mode = ARCHIVE_WRITE, .to = memory, .size = size};
}

Archive archive_reader(const void *memory, size_t size) {
	return (Archive){.mode = ARCHIVE_READ, .from = memory, .size = size};
}

Archive archive_checker(const Archive *reader) {
	Archive a = *reader;
	a.mode = ARCHIVE_CHECK;
	return a;
}

Archive archive_hasher(void) { return (Archive){.mode = ARCHIVE_HASH, .hash = ARCHIVE_HASH_START}; }

void archive_fail(Archive *a, CalStatus status, const char *culprit) {
	if (a->status != CAL_OK)
		return;
	a->status = status;
	a->culprit = culprit;
}

uint64_t archive_hash(uint64_t hash, const void *data, size_t size) {
	const unsigned char *byte = data;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3u;
	return hash;
}

static void read_bytes(Archive *a, void *data, size_t size) {
	if (a->status == CAL_OK && a->size - a->used < size)
		archive_fail(a, CAL_ERR_INPUT, NULL);
	if (a->status != CAL_OK) {
		if (data)
			memset(data, 0, size);
		return;
	}
	if (data)
		memcpy(data, a->from + a->used, size);
	a->used += size;
}

static void write_bytes(Archive *a, const void *data, size_t size) {
	if (a->size - a->used < size)
		archive_fail(a, CAL_ERR_MEMORY, NULL);
	if (a->status != CAL_OK)
		return;
	if (data)
		memcpy(a->to + a->used, data, size);
	else
		memset(a->to + a->used, 0, size);
	a->used += size;
}

void archive_bytes(Archive *a, void *data, size_t size) {
	if (size == 0)
		return;
	switch (a->mode) {
	case ARCHIVE_COUNT:
		a->used += size;
		break;
	case ARCHIVE_WRITE:
		write_bytes(a, data, size);
		break;
	case ARCHIVE_CHECK:
		read_bytes(a, NULL, size);
		break;
	case ARCHIVE_READ:
		read_bytes(a, data, size);
		break;
	case ARCHIVE_HASH:
		if (data)
			a->hash = archive_hash(a->hash, data, size);
		break;
	}
}

void archive_doubles(Archive *a, double *data, int count) { archive_bytes(a, data, sizeof *data * (size_t)count); }

static bool is_input(const Archive *a) { return a->mode == ARCHIVE_CHECK || a->mode == ARCHIVE_READ; }

/* A value by way of a copy, which CHECK can see. */
static void copy_through(Archive *a, void *copy, size_t size) {
	if (is_input(a))
		read_bytes(a, copy, size);
	else
		archive_bytes(a, copy, size);
}

static int int_through(Archive *a, int x) {
	int32_t value = is_input(a) ? 0 : (int32_t)x;
	copy_through(a, &value, sizeof value);
	return value;
}

void archive_int(Archive *a, int *x) {
	const int value = int_through(a, *x);
	if (a->mode == ARCHIVE_READ)
		*x = value;
}

bool archive_bool(Archive *a, bool *x) {
	uint8_t value = !is_input(a) && *x;
	copy_through(a, &value, sizeof value);
	if (a->mode == ARCHIVE_READ)
		*x = value != 0;
	return value != 0;
}

void archive_text(Archive *a, char *text, size_t size) {
	if (a->mode == ARCHIVE_CHECK && a->size - a->used >= size && !memchr(a->from + a->used, 0, size))
		archive_fail(a, CAL_ERR_INPUT, NULL);
	archive_bytes(a, text, size);
}

void archive_finite(Archive *a, double *data, int count) {
	double value;
	for (int i = 0; a->mode == ARCHIVE_CHECK && i < count; i++) {
		read_bytes(a, &value, sizeof value);
		if (!isfinite(value))
			archive_fail(a, CAL_ERR_INPUT, NULL);
	}
	if (a->mode != ARCHIVE_CHECK)
		archive_doubles(a, data, count);
}

void archive_int_within(Archive *a, int *x, int low, int high) {
	const int value = int_through(a, *x);
	if (a->mode == ARCHIVE_CHECK && (value < low || value > high))
		archive_fail(a, CAL_ERR_INPUT, NULL);
	if (a->mode == ARCHIVE_READ)
		*x = value;
}

void archive_double_within(Archive *a, double *x, double low, double high) {
	double value = is_input(a) ? 0 : *x;
	copy_through(a, &value, sizeof value);
	if (a->mode == ARCHIVE_CHECK && !(value >= low && value <= high))
		archive_fail(a, CAL_ERR_INPUT, NULL);
	if (a->mode == ARCHIVE_READ)
		*x = value;
}

void archive_i64_within(Archive *a, int64_t *x, int64_t low, int64_t high) {
	int64_t value = is_input(a) ? 0 : *x;
	copy_through(a, &value, sizeof value);
	if (a->mode == ARCHIVE_CHECK && (value < low || value > high))
		archive_fail(a, CAL_ERR_INPUT, NULL);
	if (a->mode == ARCHIVE_READ)
		*x = value;
}

static char *read_string(Archive *a, size_t length) {
	if (a->status != CAL_OK || a->size - a->used < length) {
		archive_fail(a, CAL_ERR_INPUT, NULL);
		return NULL;
	}
	char *text = memory_alloc(&a->allocator, length + 1);
	if (!text) {
		archive_fail(a, CAL_ERR_MEMORY, NULL);
		return NULL;
	}
	archive_bytes(a, text, length);
	text[length] = 0;
	return text;
}

void archive_string(Archive *a, const char **text) {
	uint32_t length = a->mode == ARCHIVE_READ || !*text ? 0 : (uint32_t)strlen(*text);
	archive_u32(a, &length);
	if (a->mode == ARCHIVE_READ)
		*text = read_string(a, length);
	else
		archive_bytes(a, (void *)(uintptr_t)*text, length);
}
