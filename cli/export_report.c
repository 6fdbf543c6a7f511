// SPDX-License-Identifier: Apache-2.0
/*
 * export_report.c — see export_report.h.
 */
#include "export_report.h"

void export_report_say(const char *path, const CalExportReport *report, bool refused) {
	CalExportNote note;
	for (int i = 0; cal_export_note(report, i, &note) == CAL_OK; i++) {
		char text[1600];
		snprintf(text, sizeof text, "%s%s%s: %s: %s", note.place, note.place[0] ? ": " : "", cal_import_name(note.kind),
		         note.element, note.text);
		if (refused && note.kind == CAL_IMPORT_MISSING)
			say_error(path, text);
		else
			say_note(path, text);
	}
}

static int count_of(const CalExportReport *report, CalImportKind kind) {
	CalExportNote note;
	int count = 0;
	for (int i = 0; cal_export_note(report, i, &note) == CAL_OK; i++)
		count += note.kind == kind;
	return count;
}

void export_report_print(const char *path, const CalExportReport *report) {
	CalExportNote note;
	printf("{\n  \"file\": ");
	json_string(stdout, path);
	for (int kind = 0; kind < CAL_IMPORT_COUNT; kind++)
		printf(",\n  \"%s\": %d", cal_import_name((CalImportKind)kind), count_of(report, (CalImportKind)kind));
	printf(",\n  \"notes\": [");
	for (int i = 0; cal_export_note(report, i, &note) == CAL_OK; i++) {
		printf("%s\n    {\"kind\": \"%s\", \"place\": ", i ? "," : "", cal_import_name(note.kind));
		json_string(stdout, note.place);
		printf(", \"element\": ");
		json_string(stdout, note.element);
		printf(", \"text\": ");
		json_string(stdout, note.text);
		printf("}");
	}
	printf("]\n}\n");
}
