// SPDX-License-Identifier: Apache-2.0
/*
 * serializer.h — one walk over the fields of a struct that counts their bytes, writes them, checks them, reads them, or
 * hashes them.
 *
 * What walks over fields names each of them once, and cannot forget one in one direction. Numbers go as they lie in
 * memory: whoever makes a file of them notes the byte order. Reading never passes the end, and a failure stays in
 * `status`; what is read after it is zero. Checking goes over the bytes as reading does and changes nothing: a walk that
 * has passed it cannot fail when it reads the same bytes.
 */
#ifndef CALDER_BASE_SERIALIZER_H
#define CALDER_BASE_SERIALIZER_H

#include <stdbool.h>

#include <calder/base.h>

typedef enum ArchiveMode { ARCHIVE_COUNT, ARCHIVE_WRITE, ARCHIVE_CHECK, ARCHIVE_READ, ARCHIVE_HASH } ArchiveMode;

typedef struct Archive {
	ArchiveMode mode;
	char *to;               // WRITE
	const char *from;       // CHECK, READ
	size_t used, size;      // bytes so far; there are (WRITE, CHECK, READ)
	uint64_t hash;          // HASH
	CalAllocator allocator; // READ: of strings
	CalStatus status;       // of the first failure
	const char *culprit;    // name of what cannot be written, NULL: unknown
} Archive;

Archive archive_counter(void);
Archive archive_writer(void *memory, size_t size);
Archive archive_reader(const void *memory, size_t size);
/** Checks what the reader would read next. */
Archive archive_checker(const Archive *reader);
Archive archive_hasher(void);

/** Keeps the first failure. */
void archive_fail(Archive *a, CalStatus status, const char *culprit);

/** data NULL: zeros are written; what is read is skipped. */
void archive_bytes(Archive *a, void *data, size_t size);
void archive_doubles(Archive *a, double *data, int count);
static inline void archive_double(Archive *a, double *x) { archive_doubles(a, x, 1); }
static inline void archive_u32(Archive *a, uint32_t *x) { archive_bytes(a, x, sizeof *x); }
static inline void archive_i64(Archive *a, int64_t *x) { archive_bytes(a, x, sizeof *x); }
static inline void archive_u64(Archive *a, uint64_t *x) { archive_bytes(a, x, sizeof *x); }
static inline void archive_vec3(Archive *a, CalVec3 *v) { archive_doubles(a, &v->x, 3); }
/** As 32 bits. */
void archive_int(Archive *a, int *x);
/** Returns what is written, or stands in the bytes. */
bool archive_bool(Archive *a, bool *x);
/** Fields whose values CHECK refuses: texts without an end in their array, numbers that are not finite or not in a range. */
void archive_text(Archive *a, char *text, size_t size);
void archive_finite(Archive *a, double *data, int count);
void archive_int_within(Archive *a, int *x, int low, int high);
void archive_double_within(Archive *a, double *x, double low, double high);
void archive_i64_within(Archive *a, int64_t *x, int64_t low, int64_t high);
/** Reading takes memory from the allocator; NULL afterwards: there was none, or it is short. */
void archive_string(Archive *a, const char **text);

/** FNV-1a, going on from `hash`; the first call takes ARCHIVE_HASH_START. A single byte that differs always shows. */
#define ARCHIVE_HASH_START 0xcbf29ce484222325u
uint64_t archive_hash(uint64_t hash, const void *data, size_t size);

#endif
