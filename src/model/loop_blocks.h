// SPDX-License-Identifier: Apache-2.0
/*
 * loop_blocks.h — the Jacobian of loops by blocks.
 *
 * Loops that have degrees of freedom in common, if only through other loops, make a block: its rows of G are zero in all
 * columns but its own. What is dense in all equations of a block (rank, search, Euclidean projection) then costs a sum over
 * blocks: many mechanisms in one model cost as much as each by itself. With cut joints M^-1 couples all loops, and there
 * is one block of all equations and columns.
 */
#ifndef CALDER_MODEL_LOOP_BLOCKS_H
#define CALDER_MODEL_LOOP_BLOCKS_H

#include "model/model.h"

typedef struct LoopBlock {
	int row, rows;       // first of its rows in LoopBlocks.rows, number
	int column, columns; // first of its columns in LoopBlocks.columns, number
	size_t G;            // where its [rows][columns] begin in the workspace
	size_t square;       // where its [rows][rows] begin
} LoopBlock;

struct LoopBlocks {
	size_t size;
	int count;
	size_t gain_count, square_count; // numbers of all blocks
	LoopBlock *blocks;
	int32_t *rows;     // [row_count] rows of the model, block after block
	int32_t *columns;  // degrees of freedom, block after block, ascending in each
	int32_t *row_at;   // [loop_count] place of a loop's first row in `rows`; the others follow
	int32_t *block_of; // [loop_count]
};

/* Row r of a block in an array of them all. */
static inline double *loop_block_row(const LoopBlock *block, double *gains, int r) {
	return gains + block->G + (size_t)r * (size_t)block->columns;
}

/* After the plan of the model, if it has one. One block of its allocator. NULL: no memory. */
LoopBlocks *loop_blocks_create(const CalModel *model);
/* Multiplications of a dense solve of each block. */
double loop_blocks_cost(const LoopBlocks *blocks);

#endif
