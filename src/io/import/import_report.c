// SPDX-License-Identifier: Apache-2.0
/*
 * import_report.c — errors of readers of robot files, and the lines of the import report.
 */
#include <stdarg.h>

#include "base/error.h"
#include "io/import/import.h"

enum { WHAT_MAX = 512, ELEMENT_MAX = 256 };

/* The text of a function whose last named argument is a format. */
#define WRITE_WHAT(what, format)                         \
	do {                                                 \
		va_list args;                                    \
		va_start(args, format);                          \
		text_format((what), sizeof(what), format, args); \
		va_end(args);                                    \
	} while (0)

bool import_fail(Import *im, const XmlElement *element, const char *format, ...) {
	char what[WHAT_MAX];
	WRITE_WHAT(what, format);
	im->status = xml_error(im->error, element, CAL_ERR_INPUT, "%s", what);
	return false;
}

bool import_no_memory(Import *im) {
	im->status = error_set(im->error, CAL_ERR_MEMORY, "%.200s: error: out of memory", im->path);
	return false;
}

bool import_ok(Import *im, CalStatus status) {
	im->status = status;
	return status == CAL_OK;
}

/* ---- notes ------------------------------------------------------------------------------------------- */

static size_t append(char text[ELEMENT_MAX], size_t length, const char *more) {
	return text_append(text, ELEMENT_MAX, length, more);
}

/* joint "elbow"/limit: the nearest element with a name, and the way from there. Returns the length. */
static size_t describe(const XmlElement *element, char text[ELEMENT_MAX]) {
	const char *name = xml_peek(element, "name");
	size_t length = 0;
	if (!name && element->parent && element->parent->parent)
		length = append(text, describe(element->parent, text), "/");
	length = append(text, length, element->name);
	return name ? append(text, append(text, append(text, length, " \""), name), "\"") : length;
}

static bool add_note(Import *im, CalImportKind kind, const XmlElement *element, const char *attribute,
                     const char *what) {
	char about[ELEMENT_MAX];
	const size_t length = describe(element, about);
	if (attribute)
		append(about, append(about, length, " @"), attribute);
	const CalImportNote note = {.kind = kind,
	                            .file = element->file,
	                            .line = element->line,
	                            .column = element->column,
	                            .element = about,
	                            .text = what};
	return import_ok(im, cal_setup_add_import_note(im->setup, &note, im->error));
}

bool import_note(Import *im, CalImportKind kind, const XmlElement *element, const char *attribute, const char *format,
                 ...) {
	char what[WHAT_MAX];
	WRITE_WHAT(what, format);
	return add_note(im, kind, element, attribute, what);
}

bool import_missing(Import *im, XmlElement *element, const char *format, ...) {
	char what[WHAT_MAX];
	WRITE_WHAT(what, format);
	xml_use_all(element);
	if (!im->options->partial)
		return import_fail(im, element, "<%.40s>: %s; to read the rest, ask for a partial model (--partial)",
		                   element->name, what);
	return add_note(im, CAL_IMPORT_MISSING, element, NULL, what);
}

bool import_ignore(Import *im, XmlElement *element, const char *format, ...) {
	char what[WHAT_MAX];
	WRITE_WHAT(what, format);
	xml_use_all(element);
	return add_note(im, CAL_IMPORT_IGNORED, element, NULL, what);
}

/* ---- what nobody looked at --------------------------------------------------------------------------- */

/* Most names of the formats are in lower case: one that is not may be a known one. */
static const char *about_case(const char *name) {
	for (; *name; name++)
		if (*name >= 'A' && *name <= 'Z')
			return "; upper and lower case letters differ";
	return "";
}

bool import_report_parts(Import *im, const XmlElement *element) {
	for (int i = 0; i < element->attribute_count; i++) {
		const char *name = element->attributes[i].name;
		if (!element->attributes[i].used && !import_note(im, CAL_IMPORT_IGNORED, element, name,
		                                                 "unknown attribute; it was left out%s", about_case(name)))
			return false;
	}
	return element->text_used || !element->text[0] ||
	       add_note(im, CAL_IMPORT_IGNORED, element, NULL, "text in an element that has none; it was left out");
}

/* Whether a reader took one of the same name before it, among the first children: of these the first counts. */
static bool is_repeated(const XmlElement *element) {
	enum { MOST = 64 }; // readers list what can be more
	const XmlElement *e = element->parent ? element->parent->first : element;
	for (int i = 0; i < MOST && e != element; i++, e = e->next)
		if (e->used && xml_is(e, element->name))
			return true;
	return false;
}

bool import_report_unused(Import *im, const XmlElement *root) {
	if (!root->used && is_repeated(root))
		return add_note(im, CAL_IMPORT_ASSUMED, root, NULL,
		                "there is one before it, which counts; this one was left out");
	if (!root->used)
		return import_note(im, CAL_IMPORT_IGNORED, root, NULL, "unknown element; it was left out with all inside%s",
		                   about_case(root->name));
	if (!import_report_parts(im, root))
		return false;
	for (const XmlElement *child = root->first; child; child = child->next)
		if (!import_report_unused(im, child))
			return false;
	return true;
}
