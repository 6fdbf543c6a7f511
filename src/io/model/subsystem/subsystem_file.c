// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_file.c — a subsystem file as a black box: the file is instantiated on a free joint, compiled and wrapped
 * (cal_box_from_model).
 */
#include <stdio.h>
#include <string.h>

#include <calder/loops.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/model/model_file.h"

/* What the box needs as long as it lives. */
typedef struct FileBox {
	CalFile *alone, *file; // as it stands, and as it is instantiated
	CalModel *model;
	CalState state;
	int *nodes; // [border] of the model; in one block with this
} FileBox;

static void release(void *user) {
	FileBox *box = user;
	const CalAllocator allocator = allocator_or_default(NULL);
	cal_state_destroy(&box->state);
	cal_model_destroy(box->model);
	cal_file_destroy(box->file);
	cal_file_destroy(box->alone);
	memory_free(&allocator, box);
}

static const char *what_is_too_much(const CalFile *file) {
	return file->load_count     ? "loads"
	       : file->device_count ? "devices"
	       : file->motion_count ? "group_motions"
	       : file->event_count  ? "events"
	       : file->box_count    ? "black boxes"
	                            : NULL;
}

/* The file as a subsystem "box" of another one, on a free joint. */
static CalStatus instantiate(const char *path, const CalFile *alone, CalFile **file, CalError *error) {
	const CalVec3 g = cal_desc_group(alone->desc, (CalGroupId){0})->gravity;
	const CalAllocator allocator = allocator_or_default(NULL);
	const size_t size = 2 * strlen(path) + 400;
	char *text = memory_alloc(&allocator, size);
	if (!text)
		return error_set(error, CAL_ERR_MEMORY, "%.200s: out of memory", path);
	int used = snprintf(text, size, "calder: 1\ngravity: [%.17g, %.17g, %.17g]\nbodies: {}\nsubsystems: {box: {file: '",
	                    g.x, g.y, g.z);
	for (const char *p = path; *p; p++) {
		if (*p == '\'')
			text[used++] = '\'';
		text[used++] = *p;
	}
	used += snprintf(text + used, size - (size_t)used, "', attach: {to: ground, joint: free}}}\n");
	const CalStatus status = cal_file_parse(text, (size_t)used, "box", NULL, file, error);
	memory_free(&allocator, text);
	return status;
}

static CalStatus compile(FileBox *box, const char *path, CalError *error) {
	CalStatus status = cal_model_compile(cal_file_desc(box->file), NULL, &box->model, error);
	if (status == CAL_OK)
		status = cal_state_create(box->model, &box->state);
	if (status == CAL_OK)
		status = cal_file_state(box->file, box->model, &box->state, error);
	for (int i = 0; status == CAL_OK && i < box->alone->border_count; i++) {
		char node[1200];
		snprintf(node, sizeof node, "box/%s", box->alone->border[i]);
		box->nodes[i] = cal_model_find_node(box->model, node);
		if (box->nodes[i] < 0)
			status = error_set(error, CAL_ERR_INPUT, "%.200s: border node \"%.80s\" is not in the group main", path,
			                   box->alone->border[i]);
	}
	return status;
}

/* Closes the loops inside, the joint that carries it aside. */
static CalStatus close_loops(FileBox *box, const char *path, CalError *error) {
	CalWork *work = NULL;
	CalStatus status = cal_model_row_count(box->model) > 0 ? cal_work_create(box->model, &work) : CAL_OK;
	if (work)
		status = cal_loop_project(box->model, &box->state, NULL, work, NULL);
	cal_work_destroy(work);
	return status == CAL_OK ? status : error_set(error, status, "%.200s: its loops cannot be closed", path);
}

CalStatus cal_box_from_file(const char *path, CalSubsystemDef *def, CalError *error) {
	const CalAllocator allocator = allocator_or_default(NULL);
	CalFile *alone = NULL;
	if (!path || !def)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_box_from_file: path or def is NULL");
	CalStatus status = cal_file_read(path, NULL, &alone, error);
	if (status != CAL_OK)
		return status;
	const char *much = what_is_too_much(alone);
	if (much || alone->border_count == 0) {
		status = much ? error_set(error, CAL_ERR_UNSUPPORTED, "%.200s: it has %s, which a black box cannot have inside",
		                          path, much)
		              : error_set(error, CAL_ERR_INPUT, "%.200s: it has no \"border\"", path);
		cal_file_destroy(alone);
		return status;
	}
	const size_t count = (size_t)alone->border_count;
	FileBox *box = memory_alloc(&allocator, sizeof *box + count * sizeof(int));
	if (!box) {
		cal_file_destroy(alone);
		return error_set(error, CAL_ERR_MEMORY, "%.200s: out of memory", path);
	}
	*box = (FileBox){.alone = alone, .nodes = (int *)(void *)(box + 1)};
	status = instantiate(path, alone, &box->file, error);
	if (status == CAL_OK)
		status = compile(box, path, error);
	if (status == CAL_OK)
		status = close_loops(box, path, error);
	const CalModelBoxOptions options = {
		.state = &box->state, .fit = 1, .release = release, .user = box, .border_names = alone->border};
	if (status == CAL_OK)
		status = cal_box_from_model(box->model, box->nodes, alone->border_count, &options, def, error);
	if (status != CAL_OK)
		release(box);
	return status;
}
