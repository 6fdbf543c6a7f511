// SPDX-License-Identifier: Apache-2.0
/*
 * export_names.c — names that XML, a format and its reader can hold, each once.
 *
 * Names of a setup are any bytes. XML has characters of UTF-8 without most control characters; formats have words of their own
 * ("world", "::" between names) and readers cut off blanks at the ends of texts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/export/export.h"

char *export_format(Export *ex, const char *format, ...) {
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	const int length = vsnprintf(NULL, 0, format, args);
	char *text = length < 0 ? NULL : pool_alloc(&ex->pool, (size_t)length + 1);
	if (text)
		vsnprintf(text, (size_t)length + 1, format, again);
	else
		export_no_memory(ex);
	va_end(again);
	va_end(args);
	return text;
}

/* ---- characters -------------------------------------------------------------------------------------- */

/* Length of the character of UTF-8 at p that XML may hold, or 0. */
static int character_length(const unsigned char *p) {
	if (p[0] < 0x80)
		return p[0] >= ' ' && p[0] != 0x7f;
	const int length = p[0] >= 0xF0 && p[0] < 0xF5   ? 4
	                   : p[0] >= 0xE0 && p[0] < 0xF0 ? 3
	                   : p[0] >= 0xC2 && p[0] < 0xE0 ? 2
	                                                 : 0;
	static const unsigned least[] = {0, 0, 0xA0, 0x800, 0x10000};
	unsigned code = length ? p[0] & (0xFFu >> (length + 1)) : 0;
	for (int i = 1; i < length; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3F);
	}
	const bool refused = code < least[length] || (code >= 0xD800 && code < 0xE000) || code == 0xFEFF ||
	                     code > 0x10FFFF || code == 0xFFFE || code == 0xFFFF;
	return refused ? 0 : length;
}

static void replace_characters(char *name) {
	for (unsigned char *p = (unsigned char *)name; *p;) {
		const int length = character_length(p);
		if (!length)
			*p = '_';
		p += length ? length : 1;
	}
}

static void replace_forbidden(char *name, const char *forbidden) {
	for (const char *text = forbidden; text && *text; text += strlen(text) + 1)
		for (char *at = name; (at = strstr(at, text));)
			memset(at, '_', strlen(text));
}

/* Room for what is put before or after: 8 bytes. */
static void make_sound(const Export *ex, char *name, size_t size) {
	replace_characters(name);
	replace_forbidden(name, ex->format->forbidden);
	const size_t length = strlen(name);
	if (name[0] == ' ')
		name[0] = '_';
	if (length && name[length - 1] == ' ')
		name[length - 1] = '_';
	if (strcmp(name, "world") == 0)
		snprintf(name, size, "world_1");
	if (ex->format->shared_names && strncmp(name, "__", 2) == 0)
		name[0] = 'x';
}

/* ---- names that differ ------------------------------------------------------------------------------- */

static bool is_taken(const ExportNames *names, const char *name) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&names->index, name_hash(0, name, strlen(name)), &cursor)) != 0)
		if (strcmp(names->list[value - 1], name) == 0)
			return true;
	return false;
}

static const char *take(Export *ex, ExportNames *names, const char *name) {
	const char **moved =
		array_reserve(&ex->allocator, (void *)names->list, names->count, 1, &names->capacity, sizeof *names->list);
	if (moved)
		names->list = moved;
	if (!moved || !name_index_reserve(&ex->allocator, &names->index)) {
		export_no_memory(ex);
		return NULL;
	}
	names->list[names->count++] = name;
	name_index_insert(&names->index, name_hash(0, name, strlen(name)), (uint32_t)names->count);
	return name;
}

bool export_name_is_free(const Export *ex, const ExportNames *names, const char *name) {
	return !is_taken(ex->format->shared_names ? &ex->link_names : names, name);
}

/* With room for a number after it. */
static char *sound_copy(Export *ex, const char *text, size_t *size) {
	*size = strlen(text) + 32;
	char *copy = ex->status == CAL_OK ? pool_alloc(&ex->pool, *size) : NULL;
	if (!copy) {
		export_no_memory(ex);
		return NULL;
	}
	snprintf(copy, *size, "%s", text[0] ? text : "_");
	make_sound(ex, copy, *size);
	return copy;
}

const char *export_sound_text(Export *ex, const char *text) {
	size_t size;
	const char *copy = sound_copy(ex, text, &size);
	return copy ? copy : "";
}

const char *export_new_name(Export *ex, ExportNames *names, const char *wanted) {
	size_t size;
	char *name = wanted ? sound_copy(ex, wanted, &size) : NULL;
	if (!name)
		return NULL;
	if (ex->format->shared_names)
		names = &ex->link_names;
	const size_t length = strlen(name);
	for (int i = 2; is_taken(names, name); i = i < 64 ? i + 1 : i + names->count / 4)
		snprintf(name + length, size - length, "_%d", i);
	return take(ex, names, name);
}

const char *export_name(Export *ex, ExportNames *names, const char *what, const char *name, const char *place) {
	const char *made = export_new_name(ex, names, name);
	if (made && strcmp(made, name) != 0)
		export_note(ex, CAL_IMPORT_CHANGED, what, name, place, "its name is \"%.100s\" in the file", made);
	return made;
}

void export_names_free(Export *ex, ExportNames *names) {
	name_index_free(&ex->allocator, &names->index);
	memory_free(&ex->allocator, (void *)names->list);
	*names = (ExportNames){0};
}
