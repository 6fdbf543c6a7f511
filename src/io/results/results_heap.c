// SPDX-License-Identifier: Apache-2.0
/*
 * results_heap.c — global heaps of an HDF5 file (HDF5 File Format Specification, III.E); see results_heap.h.
 *
 * A heap is "GCOL", version 1, three zeros, its size; then objects: index (2 bytes), references (2), zeros (4), size (8), data
 * padded to a multiple of eight. Index 0 is the free rest of the heap, whose size counts its header too. Sizes have eight bytes,
 * as the superblock must say. Data of a stream that happen to look like the first eight bytes of a heap are taken for one: one
 * file of 2^64 bytes has them by chance.
 */
#define _GNU_SOURCE // memmem, fseeko

#include "io/results/results_heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 16, BLOCK = 1 << 20 };

static const unsigned char heap_start[8] = "GCOL\1\0\0";

static uint64_t number_at(const unsigned char *bytes, int count) {
	uint64_t number = 0;
	for (int i = count; i-- > 0;)
		number = number << 8 | bytes[i];
	return number;
}

static bool read_at(FILE *file, uint64_t at, void *bytes, size_t count) {
	return at <= INT64_MAX && fseeko(file, (off_t)at, SEEK_SET) == 0 && fread(bytes, 1, count, file) == count;
}

/* Offsets and lengths of eight bytes; files of this library start with the superblock. */
static bool superblock_is_known(FILE *file) {
	unsigned char start[16];
	if (!read_at(file, 0, start, sizeof start) || memcmp(start, "\211HDF\r\n\032\n", 8) != 0)
		return false;
	const int sizes = start[8] < 2 ? 13 : 9;
	return start[sizes] == 8 && start[sizes + 1] == 8;
}

/* A file; heaps do not overlap in a sound one, so that it has no more objects than this. */
typedef struct Scan {
	FILE *file;
	uint64_t size;    // of the file
	uint64_t objects; // that may still come
} Scan;

/* Objects one after the other, up to the free rest or the end. */
static bool objects_fit(Scan *scan, uint64_t heap, uint64_t size) {
	unsigned char header[HEADER];
	for (uint64_t at = HEADER; size - at >= HEADER;) {
		if (scan->objects-- == 0 || !read_at(scan->file, heap + at, header, sizeof header))
			return false;
		const uint64_t index = number_at(header, 2), length = number_at(header + 8, 8), rest = size - at;
		if (index == 0)
			return length <= rest;
		if (length > rest - HEADER)
			return false;
		const uint64_t padded = (length + 7) / 8 * 8;
		at += HEADER + (padded < rest - HEADER ? padded : rest - HEADER);
	}
	return true;
}

static bool heap_is_sound(Scan *scan, uint64_t heap) {
	unsigned char header[HEADER];
	if (!read_at(scan->file, heap, header, sizeof header))
		return false;
	const uint64_t size = number_at(header + 8, 8);
	return size >= HEADER && size <= scan->size - heap && objects_fit(scan, heap, size);
}

/* Heaps that start in the block of `count` bytes at `at`. */
static bool block_is_sound(Scan *scan, const unsigned char *block, size_t count, uint64_t at) {
	const unsigned char *from = block, *end = block + count;
	while ((from = memmem(from, (size_t)(end - from), heap_start, sizeof heap_start)) != NULL) {
		if (!heap_is_sound(scan, at + (uint64_t)(from - block)))
			return false;
		from++;
	}
	return true;
}

bool heaps_are_sound(FILE *file) {
	unsigned char *block = malloc(BLOCK);
	const off_t end = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
	bool sound = block && end >= 0 && superblock_is_known(file);
	Scan scan = {.file = file, .size = sound ? (uint64_t)end : 0};
	scan.objects = scan.size / HEADER + 1;
	for (uint64_t at = 0; sound && at < scan.size; at += BLOCK - sizeof heap_start) {
		const size_t count = scan.size - at < BLOCK ? (size_t)(scan.size - at) : BLOCK;
		sound = read_at(file, at, block, count) && block_is_sound(&scan, block, count, at);
	}
	free(block);
	return sound;
}
