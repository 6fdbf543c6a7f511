// SPDX-License-Identifier: Apache-2.0
/*
 * serializer.c — see serializer.h.
 */
#include "base/serializer.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

Serializer serializer_counter(void) { return (Serializer){.mode = SERIALIZER_COUNT}; }

Serializer serializer_writer(void *memory, size_t size) {
	return (Serializer){.mode = SERIALIZER_WRITE, .to = memory, .size = size};
}

Serializer serializer_reader(const void *memory, size_t size) {
	return (Serializer){.mode = SERIALIZER_READ, .from = memory, .size = size};
}

Serializer serializer_checker(const Serializer *reader) {
	Serializer a = *reader;
	a.mode = SERIALIZER_CHECK;
	return a;
}

Serializer serializer_hasher(void) { return (Serializer){.mode = SERIALIZER_HASH, .hash = SERIALIZER_HASH_START}; }

void serializer_fail(Serializer *a, CalStatus status, const char *failed_name) {
	if (a->status != CAL_OK)
		return;
	a->status = status;
	a->failed_name = failed_name;
}

uint64_t serializer_hash(uint64_t hash, const void *data, size_t size) {
	const unsigned char *byte = data;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3u;
	return hash;
}

static void read_bytes(Serializer *a, void *data, size_t size) {
	if (a->status == CAL_OK && a->size - a->used < size)
		serializer_fail(a, CAL_ERR_INPUT, NULL);
	if (a->status != CAL_OK) {
		if (data)
			memset(data, 0, size);
		return;
	}
	if (data)
		memcpy(data, a->from + a->used, size);
	a->used += size;
}

static void write_bytes(Serializer *a, const void *data, size_t size) {
	if (a->size - a->used < size)
		serializer_fail(a, CAL_ERR_MEMORY, NULL);
	if (a->status != CAL_OK)
		return;
	if (data)
		memcpy(a->to + a->used, data, size);
	else
		memset(a->to + a->used, 0, size);
	a->used += size;
}

void serializer_bytes(Serializer *a, void *data, size_t size) {
	if (size == 0)
		return;
	switch (a->mode) {
	case SERIALIZER_COUNT:
		a->used += size;
		break;
	case SERIALIZER_WRITE:
		write_bytes(a, data, size);
		break;
	case SERIALIZER_CHECK:
		read_bytes(a, NULL, size);
		break;
	case SERIALIZER_READ:
		read_bytes(a, data, size);
		break;
	case SERIALIZER_HASH:
		if (data)
			a->hash = serializer_hash(a->hash, data, size);
		break;
	}
}

void serializer_doubles(Serializer *a, double *data, int count) {
	serializer_bytes(a, data, sizeof *data * (size_t)count);
}

static bool is_input(const Serializer *a) { return a->mode == SERIALIZER_CHECK || a->mode == SERIALIZER_READ; }

/* A value by way of a copy, which CHECK can see. */
static void copy_through(Serializer *a, void *copy, size_t size) {
	if (is_input(a))
		read_bytes(a, copy, size);
	else
		serializer_bytes(a, copy, size);
}

static int int_through(Serializer *a, int x) {
	int32_t value = is_input(a) ? 0 : (int32_t)x;
	copy_through(a, &value, sizeof value);
	return value;
}

void serializer_int(Serializer *a, int *x) {
	const int value = int_through(a, *x);
	if (a->mode == SERIALIZER_READ)
		*x = value;
}

bool serializer_bool(Serializer *a, bool *x) {
	uint8_t value = !is_input(a) && *x;
	copy_through(a, &value, sizeof value);
	if (a->mode == SERIALIZER_READ)
		*x = value != 0;
	return value != 0;
}

void serializer_text(Serializer *a, char *text, size_t size) {
	if (a->mode == SERIALIZER_CHECK && a->size - a->used >= size && !memchr(a->from + a->used, 0, size))
		serializer_fail(a, CAL_ERR_INPUT, NULL);
	serializer_bytes(a, text, size);
}

void serializer_finite(Serializer *a, double *data, int count) {
	double value;
	for (int i = 0; a->mode == SERIALIZER_CHECK && i < count; i++) {
		read_bytes(a, &value, sizeof value);
		if (!isfinite(value))
			serializer_fail(a, CAL_ERR_INPUT, NULL);
	}
	if (a->mode != SERIALIZER_CHECK)
		serializer_doubles(a, data, count);
}

void serializer_int_within(Serializer *a, int *x, int low, int high) {
	const int value = int_through(a, *x);
	if (a->mode == SERIALIZER_CHECK && (value < low || value > high))
		serializer_fail(a, CAL_ERR_INPUT, NULL);
	if (a->mode == SERIALIZER_READ)
		*x = value;
}

void serializer_double_within(Serializer *a, double *x, double low, double high) {
	double value = is_input(a) ? 0 : *x;
	copy_through(a, &value, sizeof value);
	if (a->mode == SERIALIZER_CHECK && !(value >= low && value <= high))
		serializer_fail(a, CAL_ERR_INPUT, NULL);
	if (a->mode == SERIALIZER_READ)
		*x = value;
}

void serializer_i64_within(Serializer *a, int64_t *x, int64_t low, int64_t high) {
	int64_t value = is_input(a) ? 0 : *x;
	copy_through(a, &value, sizeof value);
	if (a->mode == SERIALIZER_CHECK && (value < low || value > high))
		serializer_fail(a, CAL_ERR_INPUT, NULL);
	if (a->mode == SERIALIZER_READ)
		*x = value;
}

static char *read_string(Serializer *a, size_t length) {
	if (a->status != CAL_OK || a->size - a->used < length) {
		serializer_fail(a, CAL_ERR_INPUT, NULL);
		return NULL;
	}
	char *text = memory_alloc(&a->allocator, length + 1);
	if (!text) {
		serializer_fail(a, CAL_ERR_MEMORY, NULL);
		return NULL;
	}
	serializer_bytes(a, text, length);
	text[length] = 0;
	return text;
}

void serializer_string(Serializer *a, const char **text) {
	uint32_t length = a->mode == SERIALIZER_READ || !*text ? 0 : (uint32_t)strlen(*text);
	serializer_u32(a, &length);
	if (a->mode == SERIALIZER_READ)
		*text = read_string(a, length);
	else
		serializer_bytes(a, (void *)(uintptr_t)*text, length);
}
