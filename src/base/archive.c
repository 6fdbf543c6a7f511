// SPDX-License-Identifier: Apache-2.0
/*
 * archive.c — see archive.h.
 */
#include "base/archive.h"

#include <string.h>

#include "base/memory.h"

Archive archive_counter(void) { return (Archive){.mode = ARCHIVE_COUNT}; }

Archive archive_writer(void *memory, size_t size) {
	return (Archive){.mode = ARCHIVE_WRITE, .to = memory, .size = size};
}

Archive archive_reader(const void *memory, size_t size) {
	return (Archive){.mode = ARCHIVE_READ, .from = memory, .size = size};
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

void archive_int(Archive *a, int *x) {
	int32_t value = a->mode == ARCHIVE_READ ? 0 : (int32_t)*x;
	archive_bytes(a, &value, sizeof value);
	if (a->mode == ARCHIVE_READ)
		*x = value;
}

void archive_bool(Archive *a, bool *x) {
	uint8_t value = a->mode != ARCHIVE_READ && *x;
	archive_bytes(a, &value, sizeof value);
	if (a->mode == ARCHIVE_READ)
		*x = value != 0;
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
