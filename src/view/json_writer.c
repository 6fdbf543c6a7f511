// SPDX-License-Identifier: Apache-2.0
/*
 * json_writer.c — a JSON document as it comes.
 */
#include "view/json_writer.h"

#include <math.h>
#include <string.h>

/* ---- nesting -------------------------------------------------------------------------------------- */

static void begin_value(JsonWriter *d) {
	if (d->after_key) {
		d->after_key = false;
		return;
	}
	if (d->depth > 0) {
		if (!d->empty[d->depth - 1])
			fputc(',', d->out);
		d->empty[d->depth - 1] = false;
	}
}

void json_writer_open(JsonWriter *d, char bracket) {
	begin_value(d);
	fputc(bracket, d->out);
	d->close[d->depth] = bracket == '{' ? '}' : ']';
	d->empty[d->depth++] = true;
}

void json_writer_close(JsonWriter *d) { fputc(d->close[--d->depth], d->out); }

/* ---- texts ------------------------------------------------------------------------------------------ */

/* Bytes of the UTF-8 character at p, 0: it is none. */
static int utf8_length(const unsigned char *p) {
	const int length = p[0] < 0x80                   ? 1
	                   : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
	                   : (p[0] & 0xf0) == 0xe0       ? 3
	                   : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
	                                                 : 0;
	for (int i = 1; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	const bool too_long = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
	const bool not_a_character = (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf4 && p[1] >= 0x90);
	return too_long || not_a_character ? 0 : length;
}

static void put_quoted(JsonWriter *d, const char *text) {
	fputc('"', d->out);
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		const int length = utf8_length(p);
		if (length == 0) {
			fputs("\\ufffd", d->out);
		} else if (*p == '"' || *p == '\\') {
			fprintf(d->out, "\\%c", *p);
		} else if (*p < ' ' || *p == '<' || *p == '>' || *p == '&' || *p == 0x7f) {
			fprintf(d->out, "\\u%04x", *p);
		} else {
			fwrite(p, 1, (size_t)length, d->out);
		}
		p += length ? length : 1;
	}
	fputc('"', d->out);
}

void json_writer_key(JsonWriter *d, const char *key) {
	begin_value(d);
	put_quoted(d, key);
	fputc(':', d->out);
	d->after_key = true;
}

void json_writer_text(JsonWriter *d, const char *text) {
	begin_value(d);
	put_quoted(d, text);
}

void json_writer_put_text(JsonWriter *d, const char *key, const char *text) {
	json_writer_key(d, key);
	json_writer_text(d, text);
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

void json_writer_number(JsonWriter *d, double value) {
	begin_value(d);
	if (isfinite(value))
		fprintf(d->out, "%.9g", value);
	else
		fputs("null", d->out);
}

void json_writer_flag(JsonWriter *d, bool value) {
	begin_value(d);
	fputs(value ? "true" : "false", d->out);
}

void json_writer_put_number(JsonWriter *d, const char *key, double value) {
	json_writer_key(d, key);
	json_writer_number(d, value);
}

void json_writer_vec3(JsonWriter *d, CalVec3 value) {
	json_writer_open(d, '[');
	json_writer_number(d, value.x);
	json_writer_number(d, value.y);
	json_writer_number(d, value.z);
	json_writer_close(d);
}

void json_writer_quat(JsonWriter *d, CalQuat value) {
	json_writer_open(d, '[');
	json_writer_number(d, value.w);
	json_writer_number(d, value.x);
	json_writer_number(d, value.y);
	json_writer_number(d, value.z);
	json_writer_close(d);
}

/* ---- arrays -------------------------------------------------------------------------------------------- */

static void encode_base64(JsonWriter *d) {
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const int count = d->rest_count;
	memset(d->rest + count, 0, (size_t)(3 - count));
	const uint32_t bits = (uint32_t)d->rest[0] << 16 | (uint32_t)d->rest[1] << 8 | d->rest[2];
	char text[4] = {digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63], digits[bits & 63]};
	for (int i = count + 1; i < 4; i++)
		text[i] = '=';
	fwrite(text, 1, 4, d->out);
	d->rest_count = 0;
}

/* The lowest `count` bytes, the lowest first. */
static void put_bytes(JsonWriter *d, uint64_t bits, int count) {
	for (int i = 0; i < count; i++) {
		d->rest[d->rest_count++] = (uint8_t)(bits >> 8 * i);
		if (d->rest_count == 3)
			encode_base64(d);
	}
}

void json_writer_array_head(JsonWriter *d, const char *type, int rank, const size_t *shape) {
	json_writer_open(d, '{');
	json_writer_put_text(d, "type", type);
	json_writer_key(d, "shape");
	json_writer_open(d, '[');
	for (int i = 0; i < rank; i++)
		json_writer_number(d, (double)shape[i]);
	json_writer_close(d);
}

void json_writer_array_data(JsonWriter *d) {
	json_writer_key(d, "data");
	begin_value(d);
	fputc('"', d->out);
	d->rest_count = 0;
}

void json_writer_array(JsonWriter *d, const char *type, int rank, const size_t *shape) {
	json_writer_array_head(d, type, rank, shape);
	json_writer_array_data(d);
}

void json_writer_byte(JsonWriter *d, uint8_t value) { put_bytes(d, value, 1); }

void json_writer_f32(JsonWriter *d, double value) {
	const float number = (float)value;
	uint32_t bits;
	memcpy(&bits, &number, sizeof bits);
	put_bytes(d, bits, 4);
}

void json_writer_f64(JsonWriter *d, double value) {
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	put_bytes(d, bits, 8);
}

void json_writer_u32(JsonWriter *d, uint32_t value) { put_bytes(d, value, 4); }

void json_writer_array_end(JsonWriter *d) {
	if (d->rest_count)
		encode_base64(d);
	fputc('"', d->out);
	json_writer_close(d);
}
