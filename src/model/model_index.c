// SPDX-License-Identifier: Apache-2.0
/*
 * model_index.c — from names and ids to the indices of a compiled model, by hash.
 *
 * Each of the eight tables is at most half full and is part of the model's block; its values are indices + 1. A node is
 * hashed with the index of its body, so that "tip" on 10^5 bodies makes no chain.
 */
#include "model/model_index.h"

#include <string.h>

#include <calder/loops.h>

#include "model/model.h"

static const uint32_t on_ground = UINT32_MAX; // in place of a body's index

static uint32_t id_hash(uint32_t id) {
	id ^= id >> 16;
	id *= 0x7feb352du;
	return id ^ (id >> 15);
}

static uint32_t node_hash(int body, const char *name) {
	return name_hash(body >= 0 ? (uint32_t)body : on_ground, name, strlen(name));
}

uint32_t model_index_capacity(int count) {
	uint32_t capacity = 2;
	while (capacity < 2 * ((uint64_t)count + 1))
		capacity *= 2;
	return count > 0 ? capacity : 0;
}

static void insert_named(ModelIndex *index, ModelKind kind, int at, const char *name, uint32_t id) {
	name_index_insert(&index->names[kind], name_hash(0, name, strlen(name)), (uint32_t)at + 1);
	name_index_insert(&index->ids[kind], id_hash(id), (uint32_t)at + 1);
}

void model_index_fill(ModelIndex *index, const CalModel *model) {
	for (int i = 0; i < model->body_count; ++i) {
		const Body *body = &model->bodies[i];
		insert_named(index, MODEL_BODIES, i, body->name, body->id.value);
		insert_named(index, MODEL_JOINTS, i, body->joint, body->joint_id.value);
	}
	for (int i = 0; i < model->node_count; ++i) {
		const Node *node = &model->nodes[i];
		name_index_insert(&index->names[MODEL_NODES], node_hash(node->body, node->name), (uint32_t)i + 1);
		name_index_insert(&index->ids[MODEL_NODES], id_hash(node->id.value), (uint32_t)i + 1);
	}
	for (int i = 0; i < model->loop_count; ++i)
		insert_named(index, MODEL_LOOPS, i, model->loops[i].name, model->loops[i].id.value);
}

/* ---- looking up ---------------------------------------------------------------------------- */

static const char *name_at(const CalModel *model, ModelKind kind, int i) {
	return kind == MODEL_BODIES   ? model->bodies[i].name
	       : kind == MODEL_JOINTS ? model->bodies[i].joint
	                              : model->loops[i].name;
}

int model_kind_count(const CalModel *model, ModelKind kind) {
	return kind == MODEL_NODES ? model->node_count : kind == MODEL_LOOPS ? model->loop_count : model->body_count;
}

uint32_t model_kind_id(const CalModel *model, ModelKind kind, int i) {
	switch (kind) {
	case MODEL_BODIES:
		return model->bodies[i].id.value;
	case MODEL_JOINTS:
		return model->bodies[i].joint_id.value;
	case MODEL_NODES:
		return model->nodes[i].id.value;
	default:
		return model->loops[i].id.value;
	}
}

/* A body, joint or loop whose name is the first `length` characters. */
static int find_name(const CalModel *model, ModelKind kind, const char *name, size_t length) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&model->index.names[kind], name_hash(0, name, length), &cursor)) != 0) {
		const char *found = name_at(model, kind, (int)value - 1);
		if (strncmp(found, name, length) == 0 && found[length] == '\0')
			break;
	}
	return (int)value - 1;
}

static int find_id(const CalModel *model, ModelKind kind, uint32_t id) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&model->index.ids[kind], id_hash(id), &cursor)) != 0)
		if (model_kind_id(model, kind, (int)value - 1) == id)
			break;
	return (int)value - 1;
}

int cal_model_find_body(const CalModel *model, const char *name) {
	return model && name ? find_name(model, MODEL_BODIES, name, strlen(name)) : -1;
}

int cal_model_find_joint(const CalModel *model, const char *name) {
	return model && name ? find_name(model, MODEL_JOINTS, name, strlen(name)) : -1;
}

int cal_model_find_loop(const CalModel *model, const char *name) {
	return model && name ? find_name(model, MODEL_LOOPS, name, strlen(name)) : -1;
}

static int find_node_of(const CalModel *model, int body, const char *name) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&model->index.names[MODEL_NODES], node_hash(body, name), &cursor)) != 0) {
		const Node *node = &model->nodes[value - 1];
		if (node->body == body && strcmp(node->name, name) == 0)
			break;
	}
	return (int)value - 1;
}

/*
 * "body/node" names a node of a body, "ground/node" one of the ground, "body" the body's own frame. Names of bodies may
 * hold a '/' themselves (arm1/boom), those of their nodes not.
 */
int cal_model_find_node(const CalModel *model, const char *path) {
	static const char ground[] = "ground";
	if (!model || !path)
		return -1;
	int body = cal_model_find_body(model, path);
	if (body >= 0)
		return model->bodies[body].node;
	const char *slash = name_path_split(path);
	if (!slash)
		return -1;
	const size_t length = (size_t)(slash - path);
	if (length == sizeof ground - 1 && memcmp(path, ground, length) == 0)
		return find_node_of(model, -1, slash + 1);
	body = find_name(model, MODEL_BODIES, path, length);
	return body >= 0 ? find_node_of(model, body, slash + 1) : -1;
}

int cal_model_body_index(const CalModel *model, CalBodyId id) {
	return model ? find_id(model, MODEL_BODIES, id.value) : -1;
}

int cal_model_joint_index(const CalModel *model, CalJointId id) {
	return model ? find_id(model, MODEL_JOINTS, id.value) : -1;
}

int cal_model_node_index(const CalModel *model, CalNodeId id) {
	return model ? find_id(model, MODEL_NODES, id.value) : -1;
}

int cal_model_loop_index(const CalModel *model, CalLoopId id) {
	return model ? find_id(model, MODEL_LOOPS, id.value) : -1;
}
