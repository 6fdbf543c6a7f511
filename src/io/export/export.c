// SPDX-License-Identifier: Apache-2.0
/*
 * export.c — from a setup to the text of a robot file, which reaches the stream when all of it is there.
 */
#include "io/export/export.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* The first error of a description that is not sound. */
static void take_finding(void *user, const CalFinding *finding) {
	Export *ex = user;
	if (finding->status < 0 && ex->status == CAL_OK)
		ex->status = error_set(ex->error, finding->status, "%.600s", finding->text); // with its place
}

static void make_text(Export *ex) {
	if (cal_desc_check(ex->desc, take_finding, ex) != CAL_OK && ex->status == CAL_OK)
		export_fail(ex, CAL_ERR_MODEL, "the description is not sound");
	if (ex->status != CAL_OK)
		return;
	export_make_tree(ex);
	export_check_setup(ex);
	export_sort_forces(ex);
	if (ex->status == CAL_OK)
		ex->format->write(ex);
	if (ex->status == CAL_OK && ex->refused)
		ex->status = error_set(ex->error, CAL_ERR_UNSUPPORTED,
		                       "%s; to write the rest, ask for a partial file (--partial)", ex->first_missing);
}

static CalStatus put_text(Export *ex, FILE *out) {
	static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
	const size_t length = (size_t)ex->length;
	if (fwrite(head, 1, sizeof head - 1, out) != sizeof head - 1 || fwrite(ex->text, 1, length, out) != length ||
	    fflush(out) != 0)
		return error_set(ex->error, CAL_ERR_IO, "%.200s: error: the file cannot be written; is the disk full?",
		                 cal_setup_name(ex->setup));
	return CAL_OK;
}

CalStatus export_write(const CalSetup *setup, const ExportFormat *format, bool partial, FILE *out,
                       const CalAllocator *allocator, CalExportReport *report, CalError *error) {
	Export ex = {.setup = setup,
	             .desc = cal_setup_desc(setup),
	             .format = format,
	             .partial = partial,
	             .allocator = allocator_or_default(allocator),
	             .report = report,
	             .error = error};
	pool_init(&ex.pool, &ex.allocator);
	make_text(&ex);
	if (ex.status == CAL_OK)
		ex.status = put_text(&ex, out);
	memory_free(&ex.allocator, ex.text);
	export_names_free(&ex, &ex.link_names);
	export_names_free(&ex, &ex.joint_names);
	export_names_free(&ex, &ex.node_names);
	pool_free(&ex.pool);
	return ex.status;
}
