// SPDX-License-Identifier: Apache-2.0
/*
 * serializer.h — one walk over the fields of a struct that counts their bytes, writes them, checks them, reads them, or
 * hashes them.
 *
 * What walks over fields names each of them once, and cannot forget one in one direction. Numbers go as they are in
 * memory: whoever makes a file of them notes the byte order. Reading never passes the end, and a failure stays in
 * `status`; what is read after it is zero. Checking goes over the bytes as reading does and changes nothing: a walk that
 * has passed it cannot fail when it reads the same bytes.
 */
#ifndef CALDER_BASE_SERIALIZER_H
#define CALDER_BASE_SERIALIZER_H

#include <stdbool.h>

#include <calder/base.h>

typedef enum SerializerMode {
	SERIALIZER_COUNT,
	SERIALIZER_WRITE,
	SERIALIZER_CHECK,
	SERIALIZER_READ,
	SERIALIZER_HASH
} SerializerMode;

typedef struct Serializer {
	SerializerMode mode;
	char *to;                // WRITE
	const char *from;        // CHECK, READ
	size_t used, size;       // bytes so far; there are (WRITE, CHECK, READ)
	uint64_t hash;           // HASH
	CalAllocator allocator;  // READ: of strings
	CalStatus status;        // of the first failure
	const char *failed_name; // name of what cannot be written, NULL: unknown
} Serializer;

Serializer serializer_counter(void);
Serializer serializer_writer(void *memory, size_t size);
Serializer serializer_reader(const void *memory, size_t size);
/** Checks what the reader would read next. */
Serializer serializer_checker(const Serializer *reader);
Serializer serializer_hasher(void);

/** Keeps the first failure. */
void serializer_fail(Serializer *a, CalStatus status, const char *failed_name);

/** data NULL: zeros are written; what is read is skipped. */
void serializer_bytes(Serializer *a, void *data, size_t size);
void serializer_doubles(Serializer *a, double *data, int count);
static inline void serializer_double(Serializer *a, double *x) { serializer_doubles(a, x, 1); }
static inline void serializer_u32(Serializer *a, uint32_t *x) { serializer_bytes(a, x, sizeof *x); }
static inline void serializer_i64(Serializer *a, int64_t *x) { serializer_bytes(a, x, sizeof *x); }
static inline void serializer_u64(Serializer *a, uint64_t *x) { serializer_bytes(a, x, sizeof *x); }
static inline void serializer_vec3(Serializer *a, CalVec3 *v) { serializer_doubles(a, &v->x, 3); }
/** As 32 bits. */
void serializer_int(Serializer *a, int *x);
/** Returns what is written, or stands in the bytes. */
bool serializer_bool(Serializer *a, bool *x);
/** Fields whose values CHECK refuses: texts without an end in their array, numbers that are not finite or not in a range. */
void serializer_text(Serializer *a, char *text, size_t size);
void serializer_finite(Serializer *a, double *data, int count);
void serializer_int_within(Serializer *a, int *x, int low, int high);
void serializer_double_within(Serializer *a, double *x, double low, double high);
void serializer_i64_within(Serializer *a, int64_t *x, int64_t low, int64_t high);
/** Reading takes memory from the allocator; NULL afterwards: there was none, or it is short. */
void serializer_string(Serializer *a, const char **text);

/**
 * FNV-1a, continued from `hash`; the first call takes SERIALIZER_HASH_START. A single byte that differs always shows.
 */
#define SERIALIZER_HASH_START 0xcbf29ce484222325u
uint64_t serializer_hash(uint64_t hash, const void *data, size_t size);

#endif
