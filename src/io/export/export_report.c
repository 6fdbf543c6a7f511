// SPDX-License-Identifier: Apache-2.0
/*
 * export_report.c — the export report, and errors of writers of robot files.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/export/export.h"

enum { WHAT_MAX = 512, ELEMENT_MAX = 256 };

struct CalExportReport {
	Pool pool; // of the texts
	CalExportNote *notes;
	int count, capacity;
};

CalExportReport *export_report_create(const CalAllocator *allocator) {
	const CalAllocator source = allocator_or_default(allocator);
	CalExportReport *report = memory_alloc(&source, sizeof *report);
	if (!report)
		return NULL;
	memset(report, 0, sizeof *report);
	pool_init(&report->pool, &source);
	return report;
}

void cal_export_report_destroy(CalExportReport *report) {
	if (!report)
		return;
	const CalAllocator source = report->pool.allocator;
	memory_free(&source, report->notes);
	pool_free(&report->pool);
	memory_free(&source, report);
}

int cal_export_note_count(const CalExportReport *report) { return report ? report->count : 0; }

CalStatus cal_export_note(const CalExportReport *report, int index, CalExportNote *note) {
	if (!report || !note || index < 0 || index >= report->count)
		return CAL_ERR_ARGUMENT;
	*note = report->notes[index];
	return CAL_OK;
}

/* ---- errors ------------------------------------------------------------------------------------------ */

void export_no_memory(Export *ex) {
	if (ex->status == CAL_OK)
		ex->status = error_set(ex->error, CAL_ERR_MEMORY, "%.200s: error: out of memory", cal_setup_name(ex->setup));
}

void export_fail(Export *ex, CalStatus status, const char *format, ...) {
	char what[WHAT_MAX];
	va_list args;
	va_start(args, format);
	text_format(what, sizeof what, format, args);
	va_end(args);
	if (ex->status == CAL_OK)
		ex->status = error_set(ex->error, status, "%.200s: error: %s", cal_setup_name(ex->setup), what);
}

/* ---- notes ------------------------------------------------------------------------------------------- */

/* What is missing and may not be is an error, which names the first one. */
static void refuse(Export *ex, const CalExportNote *note) {
	if (ex->partial || ex->refused)
		return;
	ex->refused = true;
	snprintf(ex->first_missing, sizeof ex->first_missing, "%.180s%s%.120s: %.260s", note->place,
	         note->place[0] ? ": error: " : "", note->element, note->text);
}

static void add_note(Export *ex, const CalExportNote *note) {
	CalExportReport *r = ex->report;
	CalExportNote *moved = array_reserve(&r->pool.allocator, r->notes, r->count, 1, &r->capacity, sizeof *r->notes);
	CalExportNote copy = {.kind = note->kind};
	if (moved)
		r->notes = moved;
	copy.element = pool_text(&r->pool, note->element, strlen(note->element));
	copy.place = pool_text(&r->pool, note->place, strlen(note->place));
	copy.text = pool_text(&r->pool, note->text, strlen(note->text));
	if (!moved || !copy.element || !copy.place || !copy.text) {
		export_no_memory(ex);
		return;
	}
	r->notes[r->count++] = copy;
}

void export_note(Export *ex, CalImportKind kind, const char *what, const char *name, const char *place,
                 const char *format, ...) {
	char text[WHAT_MAX], element[ELEMENT_MAX];
	va_list args;
	if (ex->status != CAL_OK)
		return;
	va_start(args, format);
	text_format(text, sizeof text, format, args);
	va_end(args);
	if (name)
		snprintf(element, sizeof element, "%s \"%.200s\"", what, name);
	else
		snprintf(element, sizeof element, "%s", what);
	const CalExportNote note = {.kind = kind, .element = element, .place = place ? place : "", .text = text};
	add_note(ex, &note);
	if (kind == CAL_IMPORT_MISSING)
		refuse(ex, &note);
}
