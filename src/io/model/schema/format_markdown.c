// SPDX-License-Identifier: Apache-2.0
/*
 * format_markdown.c — the tables of fields in Markdown, as they stand in docs/format.md and docs/sweep.md.
 *
 * Each table is between two comments, which tools/format_docs finds:
 *   <!-- fields: NAME --> ... <!-- end -->
 */
#include <string.h>

#include "base/error.h"
#include "device/device_type.h"
#include "io/model/schema/format_text.h"

/* In a table of Markdown a bar ends a cell. */
static void write_cell(const char *text, FILE *out) {
	for (; *text; text++) {
		if (*text == '|')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void write_rows(const FieldTable *table, FILE *out) {
	char value[FORMAT_TEXT];
	fprintf(out, "| key | value | meaning |\n| --- | --- | --- |\n");
	for (int i = 0; i < table->count; i++) {
		const Field *field = &table->fields[i];
		format_value(field, table->what, value);
		fprintf(out, "| `%s` | %s", field->name, field->flags & FIELD_REQUIRED ? "**required**: " : "");
		write_cell(value, out);
		fprintf(out, " | ");
		write_cell(field->doc ? field->doc : "", out);
		fprintf(out, " |\n");
	}
}

/* "rad|m" of a device that acts on either is written "rad or m". */
static void write_outputs(const CalDeviceOps *ops, FILE *out) {
	fprintf(out, "\nOutputs:");
	for (int i = 0; i < ops->output_count; i++) {
		const char *unit = ops->output_units[i], *bar = strchr(unit, '|');
		fprintf(out, "%s `%s`", i ? "," : "", ops->output_names[i]);
		if (bar)
			fprintf(out, " [%.*s or %s]", (int)(bar - unit), unit, bar + 1);
		else if (strcmp(unit, "1") != 0)
			fprintf(out, " [%s]", unit);
	}
	fprintf(out, ".\n");
}

CalStatus format_write_tables(const Format *format, FILE *out, CalError *error) {
	const FieldTable *table;
	for (int i = 0; (table = format_table(format, i)); i++) {
		const DeviceType *type = i < format->count ? NULL : device_type_find(table->what);
		fprintf(out, "<!-- fields: %s -->\n", table->what);
		if (type)
			fprintf(out, "%s\n\n", table->doc);
		write_rows(table, out);
		if (type && type->ops)
			write_outputs(type->ops, out);
		fprintf(out, "<!-- end -->\n\n");
	}
	return ferror(out) ? error_set(error, CAL_ERR_IO, "the tables cannot be written") : CAL_OK;
}
