// SPDX-License-Identifier: Apache-2.0
/*
 * format_schema.c — a format as a JSON schema (draft 2020-12), for editors that complete and check while typing.
 */
#include <string.h>

#include "base/error.h"
#include "device/device_type.h"
#include "io/model/schema/format_text.h"

/* What the kinds refer to. Numbers with a unit and names may be texts: "any of" wherever two readings fit. */
static const char definitions[] =
	"    \"anything\": true,\n"
	"    \"quantity\": {\"description\": \"SI number, or a text with a unit such as 30 deg\", \"type\": [\"number\", "
	"\"string\"]},\n"
	"    \"whole\": {\"type\": \"integer\"},\n"
	"    \"count\": {\"type\": \"integer\", \"minimum\": 1},\n"
	"    \"text\": {\"type\": [\"string\", \"number\"]},\n"
	"    \"texts\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/text\"}},\n"
	"    \"flag\": {\"type\": [\"boolean\", \"string\"]},\n"
	"    \"flags\": {\"anyOf\": [{\"$ref\": \"#/$defs/flag\"}, {\"type\": \"array\", \"items\": {\"$ref\": "
	"\"#/$defs/flag\"}}]},\n"
	"    \"vector\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/quantity\"}, \"minItems\": 3, \"maxItems\": "
	"3},\n"
	"    \"pair\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/quantity\"}, \"minItems\": 2, \"maxItems\": "
	"2},\n"
	"    \"tensor\": {\"anyOf\": [{\"$ref\": \"#/$defs/vector\"}, {\"type\": \"array\", \"items\": {\"$ref\": "
	"\"#/$defs/vector\"}, \"minItems\": 3, \"maxItems\": 3}]},\n"
	"    \"numbers\": {\"anyOf\": [{\"$ref\": \"#/$defs/quantity\"}, {\"type\": \"array\", \"items\": {\"$ref\": "
	"\"#/$defs/quantity\"}}]},\n"
	"    \"rows\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/numbers\"}, \"minItems\": 3, \"maxItems\": 3},\n"
	"    \"matrix\": {\"anyOf\": [{\"$ref\": \"#/$defs/numbers\"}, {\"type\": \"array\", \"items\": {\"$ref\": "
	"\"#/$defs/numbers\"}}]},\n"
	"    \"matrices\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/matrix\"}, \"minItems\": 3, \"maxItems\": "
	"12},\n"
	"    \"formula\": {\"description\": \"a formula (docs/expressions.md), or a number\", \"type\": [\"number\", "
	"\"string\"]},\n"
	"    \"formulas\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/formula\"}, \"minItems\": 3, \"maxItems\": "
	"3}";

/* Those of model files alone. */
static const char model_definitions[] =
	",\n"
	"    \"axis\": {\"anyOf\": [{\"enum\": [\"x\", \"y\", \"z\", \"-x\", \"-y\", \"-z\", \"+x\", \"+y\", \"+z\"]}, "
	"{\"$ref\": \"#/$defs/vector\"}]},\n"
	"    \"orientation\": {\"anyOf\": [{\"$ref\": \"#/$defs/rotation\"}, {\"type\": \"array\", \"items\": {\"$ref\": "
	"\"#/$defs/rotation\"}, \"minItems\": 1}, {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/quantity\"}, "
	"\"minItems\": 4, \"maxItems\": 4}]},\n"
	"    \"placement_value\": {\"anyOf\": [{\"$ref\": \"#/$defs/vector\"}, {\"$ref\": \"#/$defs/placement\"}]},\n"
	"    \"points\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/pair\"}},\n"
	"    \"table_value\": {\"anyOf\": [{\"$ref\": \"#/$defs/quantity\"}, {\"$ref\": \"#/$defs/points\"}, {\"$ref\": "
	"\"#/$defs/table\"}]},\n"
	"    \"load_value\": {\"anyOf\": [{\"$ref\": \"#/$defs/table_value\"}, {\"$ref\": \"#/$defs/formula\"}]},\n"
	"    \"load_values\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/load_value\"}, \"minItems\": 3, "
	"\"maxItems\": 3},\n"
	"    \"load_list\": {\"anyOf\": [{\"$ref\": \"#/$defs/load_value\"}, {\"type\": \"array\", \"items\": {\"$ref\": "
	"\"#/$defs/load_value\"}}]},\n"
	"    \"function\": {\"description\": \"of time: a number with its unit, a formula of t, a table; of several degrees "
	"of freedom a list of them\", \"type\": [\"number\", \"string\", \"array\", \"object\"]},\n"
	"    \"functions\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/function\"}, \"minItems\": 3, "
	"\"maxItems\": 3},\n"
	"    \"tie\": {\"type\": [\"string\", \"object\"]},\n"
	"    \"contact_shapes\": {\"anyOf\": [{\"type\": \"object\", \"additionalProperties\": {\"$ref\": "
	"\"#/$defs/contact_shape\"}, \"minProperties\": 2}, {\"type\": \"array\", \"items\": {\"$ref\": "
	"\"#/$defs/contact_shape\"}, \"minItems\": 2}]},\n"
	"    \"devices\": {\"anyOf\": [{\"type\": \"object\", \"additionalProperties\": {\"$ref\": \"#/$defs/device\"}}, "
	"{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/device\"}}]}";

static void write_text(const char *text, FILE *out) {
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void write_words(const Field *field, FILE *out) {
	fprintf(out, "{\"enum\": [");
	for (int i = 0; field_word(field, i); i++) {
		fprintf(out, "%s", i ? ", " : "");
		if (strcmp(field_word(field, i), "true") == 0) // a flag in YAML
			fprintf(out, "true");
		else
			write_text(field_word(field, i), out);
	}
	fprintf(out, "]}");
}

/* A reference to a kind or a table, with what may stand in its place. */
static void write_reference(const FieldTable *table, bool may_be_empty, FILE *out) {
	const bool brief = table->brief != FIELD_NAME;
	fprintf(out, brief || may_be_empty ? "{\"anyOf\": [" : "");
	if (brief)
		fprintf(out, "{\"$ref\": \"#/$defs/%s\"}, ", format_kind_schema(table->brief));
	fprintf(out, "{\"$ref\": \"#/$defs/%s\"}", table->what);
	fprintf(out, "%s%s", may_be_empty ? ", {\"type\": \"null\"}" : "", brief || may_be_empty ? "]}" : "");
}

/* The forms that a value may have, one after the other. */
static void write_maps(const Field *field, FILE *out) {
	const bool one = field->kind == FIELD_MAP || field->kind == FIELD_MAPS, empty = field->table->may_be_empty;
	const bool by_name = field->kind == FIELD_ITEMS || field->kind == FIELD_BY_NAME || field->kind == FIELD_BY_GROUP;
	if (one)
		write_reference(field->table, false, out);
	if (by_name) {
		fprintf(out, "{\"type\": \"object\", \"additionalProperties\": ");
		fprintf(out,
		        field->kind == FIELD_BY_GROUP ? "{\"type\": [\"object\", \"null\"], \"additionalProperties\": " : "");
		write_reference(field->table, empty, out);
		fprintf(out, field->kind == FIELD_BY_GROUP ? "}}" : "}");
	}
	if (field->kind == FIELD_MAPS || field->kind == FIELD_LIST || field->kind == FIELD_ITEMS) {
		fprintf(out, "%s{\"type\": \"array\", \"items\": ", field->kind == FIELD_LIST ? "" : ", ");
		write_reference(field->table, empty || field->kind == FIELD_MAPS, out);
		fprintf(out, "}");
	}
}

/* Everything that the value of a field may be, as the list of "anyOf". */
static void write_forms(const Field *field, FILE *out) {
	const char *schema = format_kind_schema(field->kind);
	if (schema[0])
		fprintf(out, "{\"$ref\": \"#/$defs/%s\"}%s", schema, field_word(field, 0) ? ", " : "");
	if (field_word(field, 0))
		write_words(field, out);
	if (field->kind == FIELD_CHOICE && (field->flags & FIELD_OR_LIST)) {
		fprintf(out, ", {\"type\": \"array\", \"items\": ");
		write_words(field, out);
		fprintf(out, "}");
	} else if (field->flags & FIELD_OR_LIST) {
		fprintf(out, ", {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/%s\"}}", schema);
	}
	if (!schema[0] && field->kind != FIELD_CHOICE)
		write_maps(field, out);
	fprintf(out, "%s", field->flags & FIELD_MAY_BE_EMPTY ? ", {\"type\": \"null\"}" : "");
}

static void write_property(const FieldTable *table, const Field *field, FILE *out) {
	char value[FORMAT_TEXT], description[FORMAT_TEXT + 800];
	const DeviceType *type = device_type_find(table->what);
	format_value(field, table->what, value);
	snprintf(description, sizeof description, "%s: %s", value, field->doc ? field->doc : "");
	fprintf(out, "        \"%s\": {\"description\": ", field->name);
	write_text(description, out);
	if (field->kind == FIELD_TYPE && type && type->former[0]) {
		fprintf(out, ", \"enum\": [\"%s\", \"%s\"", table->what, type->former[0]);
		if (type->former[1])
			fprintf(out, ", \"%s\"", type->former[1]);
		fprintf(out, "]}");
	} else if (field->kind == FIELD_TYPE) {
		fprintf(out, ", \"const\": \"%s\"}", table->what);
	} else {
		fprintf(out, ", \"anyOf\": [");
		write_forms(field, out);
		fprintf(out, "]}");
	}
}

static void write_table(const FieldTable *table, FILE *out) {
	int required = 0;
	fprintf(out, ",\n    \"%s\": {\n      \"description\": ", table->what);
	write_text(table->doc, out);
	fprintf(out, ",\n      \"type\": \"object\",\n      \"properties\": {\n");
	for (int i = 0; i < table->count; i++) {
		write_property(table, &table->fields[i], out);
		fprintf(out, i + 1 < table->count ? ",\n" : "\n      },\n");
	}
	for (int i = 0; i < table->count; i++)
		if (table->fields[i].flags & FIELD_REQUIRED)
			fprintf(out, "%s\"%s\"", required++ ? ", " : "      \"required\": [", table->fields[i].name);
	fprintf(out, "%s      \"additionalProperties\": false\n    }", required ? "],\n" : "");
}

static void write_device_types(FILE *out) {
	fprintf(out, ",\n    \"device\": {\"oneOf\": [");
	for (int i = 0; device_type(i); i++)
		fprintf(out, "%s{\"$ref\": \"#/$defs/%s\"}", i ? ", " : "", device_type(i)->table.what);
	fprintf(out, "]}");
}

CalStatus format_write_schema(const Format *format, FILE *out, CalError *error) {
	const FieldTable *table;
	fprintf(out, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": ");
	write_text(format->title, out);
	fprintf(out, ",\n  \"$ref\": \"#/$defs/%s\",\n  \"$defs\": {\n%s%s", format->tables[0]->what, definitions,
	        format->devices ? model_definitions : "");
	for (int i = 0; (table = format_table(format, i)); i++)
		write_table(table, out);
	if (format->devices)
		write_device_types(out);
	fprintf(out, "\n  }\n}\n");
	return ferror(out) ? error_set(error, CAL_ERR_IO, "the schema cannot be written") : CAL_OK;
}
