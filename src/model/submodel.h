// SPDX-License-Identifier: Apache-2.0
/*
 * submodel.h — pieces of a compiled model as models of their own.
 *
 * A submodel is made complete, like any model, and is constant from then on: what is to arrive at its links, and which of
 * them columns of an interface pass, is said when it is made.
 */
#ifndef CALDER_MODEL_SUBMODEL_H
#define CALDER_MODEL_SUBMODEL_H

#include <stdbool.h>

#include "model/model.h"

/* Where something of the whole model is: its piece (-1: none) and its number there. */
typedef struct PieceIndex {
	int piece, own;
} PieceIndex;

typedef struct PieceMap {
	PieceIndex *link, *body, *node, *flex, *u, *q, *loop; // [as many as the model has]
	void *memory;
} PieceMap;

/** piece_of[link_count]: pieces of the links. Without `loops`, these belong to no piece. */
CalStatus piece_map_create(const CalModel *model, const int *piece_of, int pieces, bool loops, PieceMap *piece_map);
void piece_map_free(const CalModel *model, PieceMap *piece_map);
/** How many of a list belong to a piece. */
int piece_count(const PieceIndex *list, int count, int piece);

/**
 * The model of a piece, which refers to shapes, invariants and names of the whole one. Links whose parent is in another
 * piece have none. marks[links of the piece]: Link.interface. Ends with cal_model_destroy().
 */
CalStatus submodel_create(const CalModel *whole, const PieceMap *piece_map, int piece, const uint8_t *marks,
                          CalModel **model);

#endif
