// SPDX-License-Identifier: Apache-2.0
/*
 * export_report.h — the export report of `calder convert` (docs/export.md).
 */
#ifndef CALDER_CLI_EXPORT_REPORT_H
#define CALDER_CLI_EXPORT_REPORT_H

#include "cli.h"

/** Its notes on stderr, a line each; those that are missing as errors if `refused`. */
void export_report_say(const char *path, const CalExportReport *report, bool refused);
/** As JSON on stdout: the file, the count of each kind, the notes. */
void export_report_print(const char *path, const CalExportReport *report);

#endif
