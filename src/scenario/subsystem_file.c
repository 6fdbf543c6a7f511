// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_file.c — a subsystem file as a compiled subsystem: the file is instantiated on a free joint, compiled and
 * wrapped: a model by itself (cal_subsystem_from_model), or a simulation of it if it has loads or devices
 * (cal_subsystem_from_sim).
 */
#include <stdio.h>
#include <string.h>

#include <calder/io.h>
#include <calder/loops.h>
#include <calder/scenario.h>

#include "setup/setup.h"

/* What the subsystem needs as long as it lives. */
typedef struct FileSubsystem {
	CalSetup *alone, *carried; // as it stands, and as it is instantiated
	CalModel *model;           // NULL: that of the simulation
	CalState state;
	CalSim *sim;           // NULL: nothing acts in it
	CalScenario *scenario; // of that
	int *nodes;            // [interface nodes] of the model; in one block with this
} FileSubsystem;

static void release_subsystem(void *user) {
	FileSubsystem *subsystem = user;
	const CalAllocator allocator = allocator_or_default(NULL);
	cal_scenario_destroy(subsystem->scenario);
	cal_sim_destroy(subsystem->sim);
	cal_state_destroy(&subsystem->state);
	cal_model_destroy(subsystem->model);
	cal_setup_destroy(subsystem->carried);
	cal_setup_destroy(subsystem->alone);
	memory_free(&allocator, subsystem);
}

static const char *unsupported_section(const CalSetup *setup) {
	return cal_setup_motion_count(setup)      ? "group_motions"
	       : cal_setup_event_count(setup)     ? "events"
	       : cal_setup_subsystem_count(setup) ? "compiled subsystems"
	                                          : NULL;
}

/* The file as a subsystem "box" of another one, on a free joint. */
static CalStatus instantiate(const char *path, const CalSetup *alone, CalSetup **carried, CalError *error) {
	const CalVec3 g = cal_desc_group(cal_setup_desc(alone), (CalGroupId){0})->gravity;
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
	const CalStatus status = cal_model_file_parse(text, (size_t)used, "box", NULL, carried, error);
	memory_free(&allocator, text);
	return status;
}

static CalStatus find_nodes(FileSubsystem *subsystem, const CalModel *model, const char *path, CalError *error) {
	CalStatus status = CAL_OK;
	for (int i = 0; status == CAL_OK && i < cal_setup_interface_node_count(subsystem->alone); i++) {
		char node[1200];
		snprintf(node, sizeof node, "box/%s", cal_setup_interface_node(subsystem->alone, i));
		subsystem->nodes[i] = cal_model_find_node(model, node);
		if (subsystem->nodes[i] < 0)
			status = error_set(error, CAL_ERR_INPUT, "%.200s: interface node \"%.80s\" is not in the group main", path,
			                   cal_setup_interface_node(subsystem->alone, i));
	}
	return status;
}

/* Closes the loops inside, the joint that carries it aside. */
static CalStatus close_loops(FileSubsystem *subsystem, const char *path, CalError *error) {
	CalWork *work = NULL;
	CalStatus status = cal_model_row_count(subsystem->model) > 0 ? cal_work_create(subsystem->model, &work) : CAL_OK;
	if (work)
		status = cal_loop_project(subsystem->model, &subsystem->state, NULL, work, NULL);
	cal_work_destroy(work);
	return status == CAL_OK ? status : error_set(error, status, "%.200s: its loops cannot be closed", path);
}

static CalStatus wrap_model(FileSubsystem *subsystem, const char *path, CalModelSubsystemOptions *options,
                            CalSubsystemDef *def, CalError *error) {
	const int count = cal_setup_interface_node_count(subsystem->alone);
	CalStatus status = cal_model_compile(cal_setup_desc(subsystem->carried), NULL, &subsystem->model, error);
	if (status == CAL_OK)
		status = cal_state_create(subsystem->model, &subsystem->state);
	if (status == CAL_OK)
		status = cal_setup_apply_state(subsystem->carried, subsystem->model, &subsystem->state, error);
	if (status == CAL_OK)
		status = find_nodes(subsystem, subsystem->model, path, error);
	if (status == CAL_OK)
		status = close_loops(subsystem, path, error);
	options->state = &subsystem->state;
	return status == CAL_OK ? cal_subsystem_from_model(subsystem->model, subsystem->nodes, count, options, def, error)
	                        : status;
}

/* With its loads and devices. Whatever the file's own method is, the subsystem follows that of the model around it. */
static CalStatus wrap_sim(FileSubsystem *subsystem, const char *path, const CalModelSubsystemOptions *options,
                          CalSubsystemDef *def, CalError *error) {
	const int count = cal_setup_interface_node_count(subsystem->alone);
	const CalSimOptions how = {.method = {.method = CAL_METHOD_DEFAULT}};
	CalError own = {0};
	CalStatus status = cal_setup_simulate(subsystem->carried, &how, &subsystem->sim, &subsystem->scenario, &own);
	if (status != CAL_OK)
		return error_set(error, status, "%.200s: %s", path, own.text);
	status = find_nodes(subsystem, cal_sim_model(subsystem->sim, 0), path, error);
	if (status != CAL_OK)
		return status;
	status = cal_subsystem_from_sim(subsystem->sim, subsystem->nodes, count, options, def, &own);
	return status == CAL_OK ? status : error_set(error, status, "%.200s: %s", path, own.text);
}

CalStatus cal_subsystem_from_file(const char *path, CalSubsystemDef *def, CalError *error) {
	const CalAllocator allocator = allocator_or_default(NULL);
	CalSetup *alone = NULL;
	if (!path || !def)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_subsystem_from_file: path or def is NULL");
	CalStatus status = cal_model_file_read(path, NULL, &alone, error);
	if (status != CAL_OK)
		return status;
	const char *much = unsupported_section(alone);
	if (much || cal_setup_interface_node_count(alone) == 0) {
		status = much ? error_set(error, CAL_ERR_UNSUPPORTED,
		                          "%.200s: it has %s, which a compiled subsystem cannot contain", path, much)
		              : error_set(error, CAL_ERR_INPUT, "%.200s: it has no \"interface\"", path);
		cal_setup_destroy(alone);
		return status;
	}
	const size_t count = (size_t)cal_setup_interface_node_count(alone);
	FileSubsystem *subsystem = memory_alloc(&allocator, sizeof *subsystem + count * sizeof(int));
	if (!subsystem) {
		cal_setup_destroy(alone);
		return error_set(error, CAL_ERR_MEMORY, "%.200s: out of memory", path);
	}
	*subsystem = (FileSubsystem){.alone = alone, .nodes = (int *)(void *)(subsystem + 1)};
	status = instantiate(path, alone, &subsystem->carried, error);
	CalModelSubsystemOptions options = {.fit = 1,
	                                    .release = release_subsystem,
	                                    .user = subsystem,
	                                    .interface_node_names = alone->interface_nodes.items};
	const bool acts = cal_setup_load_count(alone) + cal_setup_device_count(alone) > 0;
	if (status == CAL_OK)
		status =
			acts ? wrap_sim(subsystem, path, &options, def, error) : wrap_model(subsystem, path, &options, def, error);
	if (status != CAL_OK)
		release_subsystem(subsystem);
	return status;
}
