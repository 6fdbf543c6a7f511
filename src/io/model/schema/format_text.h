// SPDX-License-Identifier: Apache-2.0
/*
 * format_text.h — the tables of fields as documents: what a value is in words, all tables by their names.
 */
#ifndef CALDER_IO_MODEL_SCHEMA_FORMAT_TEXT_H
#define CALDER_IO_MODEL_SCHEMA_FORMAT_TEXT_H

#include <stdio.h>

#include <calder/base.h>

#include "base/field.h"

/** Tables that a format consists of; the first is that of the file. */
typedef struct Format {
	const char *title;
	const FieldTable *const *tables;
	int count;
	bool devices; // the types of devices belong to it
} Format;

/** Table by index, those of the devices last; NULL: no more. */
const FieldTable *format_table(const Format *format, int index);

enum { FORMAT_TEXT = 600 };
/** "number > 0 [m]", "name of a joint", "`up`, `down` or `both`"; of_type: name of the type for FIELD_TYPE. */
void format_value(const Field *field, const char *of_type, char text[FORMAT_TEXT]);
/** Name of the definition in the schema of a kind; "": it depends on the table or on the words. */
const char *format_kind_schema(FieldKind kind);

/** Writes the format as a JSON schema, or as sections with a table each in Markdown. */
CalStatus format_write_schema(const Format *format, FILE *out, CalError *error);
CalStatus format_write_tables(const Format *format, FILE *out, CalError *error);

#endif
