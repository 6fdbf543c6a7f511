// SPDX-License-Identifier: Apache-2.0
/*
 * results_names.c — the names of all objects of a simulation, as signals use them.
 */
#include "io/results/results_names.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

const char *names_kind_text(NamesKind kind) {
	static const char *const texts[NAMES_KIND_COUNT] = {"groups", "bodies", "joints", "nodes", "loops"};
	return texts[kind];
}

static int count_in(const CalModel *model, NamesKind kind) {
	switch (kind) {
	case NAMES_GROUPS:
		return 1;
	case NAMES_BODIES:
	case NAMES_JOINTS:
		return cal_model_body_count(model);
	case NAMES_NODES:
		return cal_model_node_count(model);
	default:
		return cal_model_loop_count(model);
	}
}

/* "body/node" into text, "" if there is no such node; returns the length. */
static size_t node_path(const CalModel *model, int index, char *text, size_t size) {
	CalNodeInfo node;
	CalBodyInfo body = {.name = "ground", .node = -1};
	if (cal_model_node(model, index, &node) != CAL_OK)
		return 0;
	if (node.body >= 0)
		cal_model_body(model, node.body, &body);
	const bool own = body.node == index;
	const int length = snprintf(text, size, "%s%s%s", body.name, own ? "" : "/", own ? "" : node.name);
	return length > 0 ? (size_t)length : 0;
}

static const char *plain_name(const CalModel *model, NamesKind kind, int index) {
	CalBodyInfo body;
	CalLoopInfo loop;
	if (kind == NAMES_GROUPS)
		return cal_model_name(model);
	if (kind == NAMES_LOOPS)
		return cal_model_loop(model, index, &loop) == CAL_OK ? loop.name : "";
	if (cal_model_body(model, index, &body) != CAL_OK)
		return "";
	return kind == NAMES_BODIES ? body.name : body.joint;
}

static void fill_names(const CalModel *model, NamesKind kind, int group, NameList *list, size_t *used, size_t size) {
	for (int i = 0; i < count_in(model, kind); i++) {
		list->groups[list->count] = group;
		if (kind == NAMES_NODES) {
			list->names[list->count++] = list->text + *used;
			*used += node_path(model, i, list->text + *used, size - *used) + 1;
		} else {
			list->names[list->count++] = plain_name(model, kind, i);
		}
	}
}

bool names_list(CalSim *sim, NamesKind kind, const CalAllocator *allocator, NameList *list) {
	size_t total = 0, bytes = 1, used = 0;
	*list = (NameList){0};
	for (int group = 0; group < cal_sim_group_count(sim); group++) {
		const CalModel *model = cal_sim_model(sim, group);
		const int count = count_in(model, kind);
		total += (size_t)count;
		for (int i = 0; i < count && kind == NAMES_NODES; i++)
			bytes += node_path(model, i, NULL, 0) + 1;
	}
	list->names = memory_alloc(allocator, total * sizeof *list->names);
	list->groups = memory_alloc(allocator, total * sizeof *list->groups);
	list->text = memory_alloc(allocator, bytes);
	if (!list->names || !list->groups || !list->text) {
		names_free(list, allocator);
		return false;
	}
	for (int group = 0; group < cal_sim_group_count(sim); group++)
		fill_names(cal_sim_model(sim, group), kind, group, list, &used, bytes);
	return true;
}

void names_free(NameList *list, const CalAllocator *allocator) {
	memory_free(allocator, list->names);
	memory_free(allocator, list->groups);
	memory_free(allocator, list->text);
	*list = (NameList){0};
}
