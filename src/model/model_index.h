// SPDX-License-Identifier: Apache-2.0
/*
 * model_index.h — the hash tables by which a compiled model finds its objects: O(1) each, whatever its size.
 */
#ifndef CALDER_MODEL_MODEL_INDEX_H
#define CALDER_MODEL_MODEL_INDEX_H

#include <calder/model.h>

#include "base/name_index.h"

typedef enum ModelKind { MODEL_BODIES, MODEL_JOINTS, MODEL_NODES, MODEL_LOOPS, MODEL_KIND_COUNT } ModelKind;

typedef struct ModelIndex {
	NameIndex names[MODEL_KIND_COUNT]; // values: index + 1; a joint has the index of its body
	NameIndex ids[MODEL_KIND_COUNT];   // likewise
} ModelIndex;

/** Number of objects of a kind, and the id of one; joints are counted as their bodies. */
int model_kind_count(const CalModel *model, ModelKind kind);
uint32_t model_kind_id(const CalModel *model, ModelKind kind, int i);
/** Slots of a table of `count` objects; their memory is to be zero. */
uint32_t model_index_capacity(int count);
/** Puts the objects of a model into its tables, which have room for them. */
void model_index_fill(ModelIndex *index, const CalModel *model);

#endif
