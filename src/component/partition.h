// SPDX-License-Identifier: Apache-2.0
/*
 * partition.h — where a model is divided into branches.
 *
 * A branch is a subtree, or several with the same parent link or on the ground, less what is divided off again. A
 * parent either waits with its sweep for what a child brings (small ones), or continues without it and carries the
 * columns of the unknown wrench instead (a decoupled child; long ones: at most one each, so that an assembly is a chain
 * of pairs).
 */
#ifndef CALDER_COMPONENT_PARTITION_H
#define CALDER_COMPONENT_PARTITION_H

#include <stdbool.h>

#include <calder/loops.h>

#include "model/model.h"

typedef struct PartitionPiece {
	int first;      // its first link
	int parent;     // piece that carries it, -1: the ground
	bool decoupled; // the parent carries columns of it
	double flops;   // of its links, columns included
} PartitionPiece;

typedef struct Partition {
	int count;
	PartitionPiece *pieces; // parents before children
	int *piece_of;          // [link_count]
	double flops;           // of the model in one piece
	double work;            // flops of all pieces with their joins and loops
	double makespan;        // flops of the busiest worker
	bool cross;             // loops may span pieces
	void *memory;
} Partition;

/**
 * Divides a model for so many workers; into one piece where more are not faster (forced: even then). cross: whether loops may
 * span pieces; barred[link_count] nonzero: not inboard of this link (NULL: anywhere).
 */
CalStatus partition_model(const CalModel *model, int workers, bool forced, CalCrossLoops cross, const uint8_t *barred,
                          Partition *partition);
void partition_free(const CalModel *model, Partition *partition);

/** Gives runs of pieces to workers: worker_of[count]. Returns the largest load. */
double partition_assign(const Partition *partition, int workers, int *worker_of);

#endif
