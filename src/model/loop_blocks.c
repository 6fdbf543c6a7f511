// SPDX-License-Identifier: Apache-2.0
/*
 * loop_blocks.c — blocks of the Jacobian: the clusters of the plan, with the columns of the links that they reach.
 */
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "model/loop_blocks.h"
#include "model/loop_plan.h"

static int block_of(const CalModel *model, int loop) {
	return model->loop_schedule ? model->loop_schedule->ends[loop].cluster : 0;
}

static int count_blocks(const CalModel *model) {
	int most = 0;
	for (int l = 0; l < model->loop_count; ++l)
		most = block_of(model, l) > most ? block_of(model, l) : most;
	return most + 1;
}

static void set_columns(int *of, int first, int count, int block) {
	for (int k = first; k < first + count; ++k)
		of[k] = block;
}

/* The block of each degree of freedom, -1: of none. All loops that move with a joint are in one, and so are all that meet
 * modes of one body. */
static void find_columns(const CalModel *model, int *of) {
	const LoopSchedule *plan = model->loop_schedule;
	set_columns(of, 0, model->nu, plan ? -1 : 0);
	for (int i = 0; plan && i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		if (plan->joint_cluster[i] >= 0)
			set_columns(of, link->u, link->nu, plan->joint_cluster[i]);
		if (plan->modal_cluster[i] >= 0)
			set_columns(of, model->flexes[link->flex_body].u, model->flexes[link->flex_body].m, plan->modal_cluster[i]);
	}
}

/* Where each block begins. */
static void place_blocks(const CalModel *model, const int *of, LoopBlocks *made) {
	for (int l = 0; l < model->loop_count; ++l)
		made->blocks[block_of(model, l)].rows += model->loops[l].rows;
	for (int k = 0; k < model->nu; ++k) {
		if (of[k] >= 0)
			++made->blocks[of[k]].columns;
	}
	for (int i = 0, row = 0, column = 0; i < made->count; ++i) {
		LoopBlock *b = &made->blocks[i];
		b->row = row, b->column = column;
		b->G = made->gain_count, b->square = made->square_count;
		row += b->rows, column += b->columns;
		made->gain_count += (size_t)b->rows * (size_t)b->columns;
		made->square_count += (size_t)b->rows * (size_t)b->rows;
	}
}

/* next[blocks] is scratch. */
static void list_members(const CalModel *model, const int *of, int *next, LoopBlocks *made) {
	for (int i = 0; i < made->count; ++i)
		next[i] = made->blocks[i].row;
	for (int l = 0; l < model->loop_count; ++l) {
		int *at = &next[block_of(model, l)];
		made->row_at[l] = *at;
		made->block_of[l] = block_of(model, l);
		for (int r = 0; r < model->loops[l].rows; ++r)
			made->rows[(*at)++] = model->loops[l].row + r;
	}
	for (int i = 0; i < made->count; ++i)
		next[i] = made->blocks[i].column;
	for (int k = 0; k < model->nu; ++k) {
		if (of[k] >= 0)
			made->columns[next[of[k]]++] = k;
	}
}

static void layout_blocks(const CalModel *model, LoopBlocks *made, Cursor *cursor) {
	cursor_array(cursor, 1, sizeof *made);
	CURSOR_ARRAY(cursor, made->blocks, made->count);
	CURSOR_ARRAY(cursor, made->rows, model->row_count);
	CURSOR_ARRAY(cursor, made->columns, model->nu);
	CURSOR_ARRAY(cursor, made->row_at, model->loop_count);
	CURSOR_ARRAY(cursor, made->block_of, model->loop_count);
}

LoopBlocks *loop_blocks_create(const CalModel *model) {
	LoopBlocks counted = {.count = count_blocks(model)};
	Cursor cursor = {.align = sizeof(double)};
	layout_blocks(model, &counted, &cursor);
	LoopBlocks *made = cursor_alloc_at_start(&cursor, &model->allocator);
	int *of = memory_alloc(&model->allocator, sizeof(int) * (size_t)(model->nu + counted.count));
	if (made && of) {
		cursor_clear(&cursor);
		*made = (LoopBlocks){.count = counted.count, .size = cursor.size};
		layout_blocks(model, made, &cursor);
		find_columns(model, of);
		place_blocks(model, of, made);
		list_members(model, of, of + model->nu, made);
	} else {
		memory_free(&model->allocator, made);
		made = NULL;
	}
	memory_free(&model->allocator, of);
	return made;
}

double loop_blocks_cost(const LoopBlocks *blocks) {
	double sum = 0;
	for (int i = 0; i < blocks->count; ++i) {
		const double m = blocks->blocks[i].rows, n = blocks->blocks[i].columns;
		sum += m * m * (n + m);
	}
	return sum;
}
