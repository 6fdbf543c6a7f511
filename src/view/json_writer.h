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

typedef struct Document {
	FILE *out;
	int depth;
	char close[DOCUMENT_DEPTH]; // what ends each level
	bool empty[DOCUMENT_DEPTH]; // nothing stands in it yet
	bool after_key;             // a value is due
	uint8_t rest[3];            // bytes of an array that are not encoded yet
	int rest_count;
} Document;

void document_open(Document *d, char bracket); // '{' or '['
void document_close(Document *d);
void document_key(Document *d, const char *key);
/** UTF-8; what is not is replaced. */
void document_text(Document *d, const char *text);
/** Nine digits; null if it is not finite. */
void document_number(Document *d, double value);
void document_flag(Document *d, bool value);
void document_vec3(Document *d, CalVec3 value);
void document_quat(Document *d, CalQuat value);

/* A key and its value. */
void document_put_text(Document *d, const char *key, const char *text);
void document_put_number(Document *d, const char *key, double value);

/** An array of 32-bit floats, or of integers, whose numbers follow; the shape has rank entries. */
void document_array(Document *d, const char *type, int rank, const size_t *shape);
void document_f32(Document *d, double value);
void document_f64(Document *d, double value);
void document_u32(Document *d, uint32_t value);
void document_array_end(Document *d);

#endif
