// SPDX-License-Identifier: Apache-2.0
/*
 * format_text.c — what the value of a field is, in words: its kind, its unit, its table.
 */
#include "io/model/schema/format_text.h"

#include <stdarg.h>
#include <string.h>

#include "device/device_type.h"

static const struct {
	const char *text, *schema;
} kinds[] = {
#define FIELD_KIND_ROW(name, text, schema) {text, schema},
	FIELD_KIND_LIST(FIELD_KIND_ROW)
#undef FIELD_KIND_ROW
};

const char *format_kind_schema(FieldKind kind) { return kinds[kind].schema; }

const FieldTable *format_table(const Format *format, int index) {
	if (index < format->count)
		return format->tables[index];
	const DeviceType *type = format->devices ? device_type(index - format->count) : NULL;
	return type ? &type->table : NULL;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
append(char text[FORMAT_TEXT], const char *format, ...) {
	const size_t used = strlen(text);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text + used, FORMAT_TEXT - used, format, arguments);
	va_end(arguments);
}

static void append_unit(const Field *field, char text[FORMAT_TEXT]) {
	const char *unit = dimension_unit(field->dimension);
	if (field->flags & FIELD_BY_DOF)
		append(text, " [%s or %s]", unit, dimension_unit(dimension_of_sliding(field->dimension)));
	else if (unit[0])
		append(text, " [%s]", unit);
}

static void append_words(const Field *field, char text[FORMAT_TEXT]) {
	for (int i = 0; field_word(field, i); i++) {
		const char *next = field_word(field, i + 1);
		append(text, "%s`%s`", i == 0 ? "" : next ? ", " : " or ", field_word(field, i));
	}
}

static void append_link(const Field *field, char text[FORMAT_TEXT]) {
	append(text, "[%s](#%s)", field->table->what, field->table->what);
}

/* A map with the fields of a table, or several of them. */
static void append_map(const Field *field, char text[FORMAT_TEXT]) {
	static const char *const before[FIELD_KIND_COUNT] = {[FIELD_LIST] = "list of ",
	                                                     [FIELD_ITEMS] = "by name: ",
	                                                     [FIELD_BY_NAME] = "by joint: ",
	                                                     [FIELD_BY_GROUP] = "by group, then by joint: "};
	if (field->kind == FIELD_MAP && field->table->brief) {
		append(text, "%s", kinds[field->table->brief].text);
		append_unit(field, text);
		append(text, ", or ");
	}
	append(text, "%s", before[field->kind] ? before[field->kind] : "");
	append_link(field, text);
	append(text, "%s", field->kind == FIELD_MAPS ? ", or a list of them" : "");
}

void format_value(const Field *field, const char *of_type, char text[FORMAT_TEXT]) {
	text[0] = '\0';
	if (field->kind == FIELD_TYPE) {
		append(text, "`%s`", of_type);
	} else if (field->kind == FIELD_CHOICE) {
		append_words(field, text);
		append(text, "%s", field->flags & FIELD_OR_LIST ? "; or a list of them" : "");
	} else if (!kinds[field->kind].text[0]) {
		append_map(field, text);
	} else {
		append(text, "%s", kinds[field->kind].text);
		append_unit(field, text);
		if (field_word(field, 0)) {
			append(text, ", or ");
			append_words(field, text);
		}
		append(text, "%s", field->flags & FIELD_OR_LIST ? ", or a list" : "");
	}
}
