// SPDX-License-Identifier: Apache-2.0
/*
 * format_write.c — a setup written in any format.
 */
#include "base/memory.h"
#include "io/export/export.h"

static const ExportFormat *const robot_formats[CAL_FORMAT_COUNT] = {
	[CAL_FORMAT_URDF] = &urdf_export_format,
	[CAL_FORMAT_MJCF] = &mjcf_export_format,
	[CAL_FORMAT_SDF] = &sdf_export_format,
};

const char *cal_format_name(CalFormat format) {
	static const char *const names[] = {
#define FORMAT_TEXT(name, text) text,
		CAL_FORMAT_LIST(FORMAT_TEXT)
#undef FORMAT_TEXT
	};
	return (unsigned)format < CAL_FORMAT_COUNT ? names[format] : NULL;
}

CalStatus cal_model_write(const CalSetup *setup, CalFormat format, const CalWriteOptions *options, FILE *out,
                          const CalAllocator *allocator, CalExportReport **report, CalError *error) {
	if (report)
		*report = NULL;
	if (!setup || !out)
		return error_null(error, "cal_model_write", !setup ? "setup" : "out");
	if (!allocator_is_valid(allocator) || (unsigned)format >= CAL_FORMAT_COUNT)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_model_write: %s",
		                 allocator_is_valid(allocator) ? "there is no such format"
		                                               : "the allocator needs both functions or none");
	CalExportReport *made = export_report_create(allocator);
	if (!made)
		return error_set(error, CAL_ERR_MEMORY, "cal_model_write: out of memory");
	const CalStatus status =
		robot_formats[format]
			? export_write(setup, robot_formats[format], options && options->partial, out, allocator, made, error)
			: cal_model_file_write(setup, out, error);
	if (report && (status == CAL_OK || status == CAL_ERR_UNSUPPORTED))
		*report = made;
	else
		cal_export_report_destroy(made);
	return status;
}
