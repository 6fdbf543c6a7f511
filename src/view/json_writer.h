// SPDX-License-Identifier: Apache-2.0
/*
 * json_writer.h — writing a JSON document as it comes: nesting, texts that cannot end an element of HTML, and arrays of
 * numbers in base64 (docs/replay.md).
 */
#ifndef CALDER_VIEW_JSON_WRITER_H
#define CALDER_VIEW_JSON_WRITER_H

#include <calder/base.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { DOCUMENT_DEPTH = 32 };

typedef struct JsonWriter {
	FILE *out;
	int depth;
	char close[DOCUMENT_DEPTH]; // what ends each level
	bool empty[DOCUMENT_DEPTH]; // nothing stands in it yet
	bool after_key;             // a value is due
	uint8_t rest[3];            // bytes of an array that are not encoded yet
	int rest_count;
} JsonWriter;

void json_writer_open(JsonWriter *d, char bracket); // '{' or '['
void json_writer_close(JsonWriter *d);
void json_writer_key(JsonWriter *d, const char *key);
/** UTF-8; what is not is replaced. */
void json_writer_text(JsonWriter *d, const char *text);
/** Nine digits; null if it is not finite. */
void json_writer_number(JsonWriter *d, double value);
void json_writer_flag(JsonWriter *d, bool value);
void json_writer_vec3(JsonWriter *d, CalVec3 value);
void json_writer_quat(JsonWriter *d, CalQuat value);

/* A key and its value. */
void json_writer_put_text(JsonWriter *d, const char *key, const char *text);
void json_writer_put_number(JsonWriter *d, const char *key, double value);

/** An array of 32-bit floats, or of integers, whose numbers follow; the shape has rank entries. */
void json_writer_array(JsonWriter *d, const char *type, int rank, const size_t *shape);
/** The same in two parts, for keys between them. */
void json_writer_array_head(JsonWriter *d, const char *type, int rank, const size_t *shape);
void json_writer_array_data(JsonWriter *d);
void json_writer_byte(JsonWriter *d, uint8_t value);
void json_writer_f32(JsonWriter *d, double value);
void json_writer_f64(JsonWriter *d, double value);
void json_writer_u32(JsonWriter *d, uint32_t value);
void json_writer_array_end(JsonWriter *d);

#endif
