// SPDX-License-Identifier: Apache-2.0
/*
 * format.c — a model in any format: which one it is, and its reader.
 *
 * The text says it, not the name of the file: XML by its root element, and everything else is a model file.
 */
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "io/format/format.h"
#include "io/mjcf/mjcf.h"
#include "io/model/model_file.h"
#include "io/sdf/sdf.h"
#include "io/urdf/urdf.h"

typedef struct Format {
	const char *root; // element
	const char *name; // cal_setup_format()
	bool (*import)(Import *im);
} Format;

static const Format formats[] = {
	{"robot", "urdf", urdf_import},
	{"mujoco", "mjcf", mjcf_import},
	{"sdf", "sdf", sdf_import},
};

static const Format *find_format(const char *root) {
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].root, root) == 0)
			return &formats[i];
	return NULL;
}

/* No robot file says for how long to simulate. */
static bool assume_duration(Import *im) {
	static const double duration = 10;
	CalRunSettings run = cal_setup_run(im->setup);
	if (run.duration > 0)
		return true;
	run.duration = duration;
	run.title = NULL;
	return import_ok(im, cal_setup_set_run(im->setup, &run, im->error)) &&
	       import_note(im, CAL_IMPORT_ASSUMED, xml_root(im->tree), NULL,
	                   "the file does not say for how long to simulate; taken: %g s (--duration)", duration);
}

static CalStatus fill_setup(const Format *format, Import *im) {
	im->desc = cal_setup_edit_desc(im->setup);
	xml_root(im->tree)->used = true;
	if (import_ok(im, cal_setup_set_name(im->setup, im->path, im->error)) &&
	    import_ok(im, cal_setup_set_format(im->setup, format->name, im->error)) && format->import(im) &&
	    import_finish(im) && assume_duration(im))
		import_report_unused(im, xml_root(im->tree));
	return im->status;
}

static CalStatus parse_robot(const Format *format, const char *text, size_t length, const char *name,
                             const CalReadOptions *options, const CalAllocator *allocator, CalSetup **setup,
                             CalError *error) {
	static const CalReadOptions defaults = {0};
	Import im = {.path = name,
	             .options = options ? options : &defaults,
	             .allocator = allocator_or_default(allocator),
	             .error = error};
	CalStatus status = xml_parse(text, length, name, allocator, &im.tree, error);
	if (status != CAL_OK)
		return status;
	status = cal_setup_create(allocator, &im.setup);
	if (status == CAL_OK)
		status = fill_setup(format, &im);
	else
		error_set(error, status, "%.200s: error: out of memory", name);
	xml_destroy(im.tree);
	if (status == CAL_OK)
		*setup = im.setup;
	else
		cal_setup_destroy(im.setup);
	return status;
}

/* The robot files that it uses as subsystems are read with the same options, but for the folder of paths: that is theirs. */
static CalStatus parse_model_file(const char *text, size_t length, const char *name, const CalReadOptions *options,
                                  const CalAllocator *allocator, CalSetup **setup, CalError *error) {
	CalReadOptions of_robots = options ? *options : (CalReadOptions){0};
	const ModelFileTranslator translator = {format_translate, &of_robots};
	Tree *tree;
	of_robots.paths_from = NULL;
	const CalStatus status = tree_parse(text, length, name, allocator, &tree, error);
	return status == CAL_OK ? model_file_setup_from_tree(tree, &translator, allocator, setup, error) : status;
}

CalStatus cal_model_parse(const char *text, size_t length, const char *name, const CalReadOptions *options,
                          const CalAllocator *allocator, CalSetup **setup, CalError *error) {
	char root[64];
	if (!setup || (!text && length))
		return error_null(error, "cal_model_parse", !setup ? "setup" : "text");
	*setup = NULL;
	if (!allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_model_parse: the allocator needs both functions or none");
	if (!name)
		name = "text";
	if (length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
		return error_set(error, CAL_ERR_INPUT, "%.200s:1:1: error: the file is UTF-16; save it as UTF-8", name);
	if (!length || !xml_find_root(text, length, root, sizeof root))
		return parse_model_file(text, length, name, options, allocator, setup, error);
	const Format *format = find_format(root);
	if (!format)
		return error_set(
			error, CAL_ERR_INPUT,
			"%.200s:1:1: error: an XML file with the root <%s>, which Calder does not know; robot files have "
			"<robot> (URDF), <mujoco> (MJCF) or <sdf>",
			name, root);
	return parse_robot(format, text, length, name, options, allocator, setup, error);
}

CalStatus cal_model_read(const char *path, const CalReadOptions *options, const CalAllocator *allocator,
                         CalSetup **setup, CalError *error) {
	static const InputFile limits = {XML_MAX_BYTES, "split the model", false};
	if (!path || !setup)
		return error_null(error, "cal_model_read", !path ? "path" : "setup");
	*setup = NULL;
	if (!allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_model_read: the allocator needs both functions or none");
	const CalAllocator source = allocator_or_default(allocator);
	char why[INPUT_FILE_WHY], *text;
	size_t length;
	CalStatus status = input_file_read(path, &limits, &source, &text, &length, why);
	if (status != CAL_OK)
		return error_set(error, status, "%.200s: error: %s", path, why);
	status = cal_model_parse(text, length, path, options, allocator, setup, error);
	memory_free(&source, text);
	return status;
}
