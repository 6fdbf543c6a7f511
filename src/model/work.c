// SPDX-License-Identifier: Apache-2.0
/*
 * work.c — layout of the workspace: one pass that either counts bytes or places arrays.
 */
#include "base/assert.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "model/loop_blocks.h"
#include "model/coupled_plan.h"
#include "model/loop_plan.h"
#include "model/work.h"

static FlexWork layout_flex(const Flex *flex, Cursor *cursor) {
	const size_t m = (size_t)flex->m, n = (size_t)flex->n;
	FlexWork f = {0};
	CURSOR_ARRAY(cursor, f.E, 6 * n);
	CURSOR_ARRAY(cursor, f.Y, 6 * n);
	CURSOR_ARRAY(cursor, f.K, 6 * n);
	CURSOR_ARRAY(cursor, f.M, m * n);
	CURSOR_ARRAY(cursor, f.scratch, 3 * n);
	real **rows[] = {&f.be, &f.y, &f.inverse, &f.x, &f.eta, &f.eta_dot, &f.eta_ddot, &f.left, &f.diagonal, &f.weight};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
		CURSOR_ARRAY(cursor, *rows[i], n);
	const size_t ports = flex->by_ports ? (size_t)flex->port_count : 0;
	CURSOR_ARRAY(cursor, f.port, ports);
	const size_t square = 6 * ports * (size_t)row_length((int)(6 * ports));
	CURSOR_ARRAY(cursor, f.W, square);
	CURSOR_ARRAY(cursor, f.Q, square);
	CURSOR_ARRAY(cursor, f.X, 48 * ports);
	CURSOR_ARRAY(cursor, f.R, 48 * ports);
	if (flex->ops) {
		char *scratch;
		CURSOR_ARRAY(cursor, f.user, 13 * m + m * m);
		CURSOR_ARRAY(cursor, f.user_columns, 6 * n * (size_t)(flex->shape_end - flex->shape_first));
		CURSOR_ARRAY(cursor, scratch, flex->ops->scratch_size);
		f.user_scratch = scratch;
	}
	return f;
}

static ColumnWork layout_columns(const CalModel *m, Cursor *cursor) {
	ColumnWork c = {0};
	CURSOR_ARRAY(cursor, c.link, m->link_count + 1);
	CURSOR_ARRAY(cursor, c.x, PACK * (size_t)m->nu);
	if (m->flex_count > 0)
		CURSOR_ARRAY(cursor, c.modal, PACK * (size_t)m->nu);
	CURSOR_ARRAY(cursor, c.motion, 6 * PACK * (size_t)m->link_count);
	CURSOR_ARRAY(cursor, c.links, m->link_count);
	return c;
}

static LoopRefined layout_refined(const CalModel *m, Cursor *cursor) {
	const size_t nl = (size_t)m->link_count, nu = (size_t)m->nu;
	LoopRefined r = {0};
	CURSOR_ARRAY(cursor, r.udot, nu);
	CURSOR_ARRAY(cursor, r.lambda, m->row_count);
	CURSOR_ARRAY(cursor, r.A, nl);
	CURSOR_ARRAY(cursor, r.f, nl);
	CURSOR_ARRAY(cursor, r.external, nl);
	double **lists[] = {&r.tau, &r.residual, &r.force};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
		CURSOR_ARRAY(cursor, *lists[i], nu);
	return r;
}

static size_t larger(int a, int b) { return (size_t)(a > b ? a : b); }

static void layout_schedule(const CalModel *m, Cursor *cursor, LoopWork *w) {
	const LoopSchedule *plan = m->loop_schedule, *late = plan->late ? plan->late : plan;
	const size_t loops = (size_t)m->loop_count, slots = (size_t)plan->row_offset_count;
	CURSOR_ARRAY(cursor, w->gamma, larger(plan->gamma_count, late->gamma_count));
	CURSOR_ARRAY(cursor, w->gain, larger(plan->gain_count, late->gain_count));
	CURSOR_ARRAY(cursor, w->modal, larger(plan->modal_count, late->modal_count));
	CURSOR_ARRAY(cursor, w->modal_tiny, larger(plan->modal_count, late->modal_count));
	CURSOR_ARRAY(cursor, w->own, LOOP_BLOCK * loops);
	CURSOR_ARRAY(cursor, w->taken, LOOP_BLOCK * loops);
	CURSOR_ARRAY(cursor, w->block, LOOP_BLOCK * larger(plan->block_count, late->block_count));
	CURSOR_ARRAY(cursor, w->motion, plan->early_count ? (size_t)m->link_count : 0);
	double **rows[] = {&w->beta, &w->force, &w->natural, &w->tiny, &w->tiny_slide};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
		CURSOR_ARRAY(cursor, *rows[i], slots);
	CURSOR_ARRAY(cursor, w->null, 5 * slots);
	CURSOR_ARRAY(cursor, w->change, slots);
	CURSOR_ARRAY(cursor, w->scale, loops);
	CURSOR_ARRAY(cursor, w->factor, loops);
}

static void layout_coupled(const CalModel *m, Cursor *cursor, CoupledWork *w) {
	const size_t unknowns = (size_t)(m->link_count + m->loop_count);
	CURSOR_ARRAY(cursor, w->diagonal, COUPLED_BLOCK * unknowns);
	CURSOR_ARRAY(cursor, w->h, COUPLED_SIZE * unknowns);
	CURSOR_ARRAY(cursor, w->x, COUPLED_SIZE * unknowns);
	CURSOR_ARRAY(cursor, w->block, COUPLED_BLOCK * (size_t)m->coupled->block_count);
	CURSOR_ARRAY(cursor, w->factor, m->coupled->factor_count);
	CURSOR_ARRAY(cursor, w->scale, m->loop_count);
}

static void layout_work(const CalModel *m, Cursor *cursor, CalWork *w) {
	const size_t nl = (size_t)m->link_count, nu = (size_t)m->nu, nt = (size_t)m->trig_count;
	CURSOR_ARRAY(cursor, w->links, nl + 1);
	if (cursor->base)
		++w->links; // links[-1] is the ground
	CURSOR_ARRAY(cursor, w->local, nl + 1);
	if (cursor->base)
		++w->local;
	CURSOR_ARRAY(cursor, w->dofs, nu);
	CURSOR_ARRAY(cursor, w->accumulators, m->accumulator_count);
	CURSOR_ARRAY(cursor, w->columns, nu);
	CURSOR_ARRAY(cursor, w->sine, nt);
	CURSOR_ARRAY(cursor, w->cosine, nt);
	CURSOR_ARRAY(cursor, w->angle, nt);
	CURSOR_ARRAY(cursor, w->force, nl);
	CURSOR_ARRAY(cursor, w->position, nl);
	CURSOR_ARRAY(cursor, w->velocity, nl);
	CURSOR_ARRAY(cursor, w->swept_q, CAL_LANES == 1 ? m->nq : 0);
	CURSOR_ARRAY(cursor, w->swept_u, CAL_LANES == 1 ? m->nu : 0);
	CURSOR_ARRAY(cursor, w->tau, nu);
	CURSOR_ARRAY(cursor, w->rotor, nu);
	CURSOR_ARRAY(cursor, w->jump, 4 * nu + (size_t)m->row_count);
	CURSOR_ARRAY(cursor, w->held, nu);
	CURSOR_ARRAY(cursor, w->all_prescribed, nu);
	CURSOR_ARRAY(cursor, w->rhs, nu);
	CURSOR_ARRAY(cursor, w->articulated, nl);
	CURSOR_ARRAY(cursor, w->composite, nl);
	CURSOR_ARRAY(cursor, w->modal_columns, m->modal_columns);
	CURSOR_ARRAY(cursor, w->flex, m->flex_count);
	for (int i = 0; i < m->flex_count; ++i) {
		const FlexWork f = layout_flex(&m->flexes[i], cursor);
		if (cursor->base)
			w->flex[i] = f;
	}
	const size_t rows = (size_t)m->row_count, nq = (size_t)m->nq;
	LoopWork *loops = &w->loops;
	CURSOR_ARRAY(cursor, loops->row, rows);
	CURSOR_ARRAY(cursor, loops->point, m->loop_count);
	CURSOR_ARRAY(cursor, loops->mobility, m->loop_count);
	double **lists[] = {&loops->z, &loops->lambda, &loops->unit};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
		CURSOR_ARRAY(cursor, *lists[i], rows);
	const size_t gains = m->blocks ? m->blocks->gain_count : 0, squares = m->blocks ? m->blocks->square_count : 0;
	CURSOR_ARRAY(cursor, loops->G, gains);
	CURSOR_ARRAY(cursor, loops->X, gains);
	CURSOR_ARRAY(cursor, loops->Lambda, squares);
	CURSOR_ARRAY(cursor, loops->scratch, squares + 2 * rows);
	CURSOR_ARRAY(cursor, loops->gathered, 2 * rows);
	CURSOR_ARRAY(cursor, loops->block_rank, m->blocks ? (size_t)m->blocks->count : 0);
	CURSOR_ARRAY(cursor, loops->q, rows ? nq : 0);
	CURSOR_ARRAY(cursor, loops->dq, rows ? nu : 0);
	CURSOR_ARRAY(cursor, loops->factored_q, rows ? nq : 0);
	CURSOR_ARRAY(cursor, loops->rest, rows ? nu : 0);
	CURSOR_ARRAY(cursor, loops->at, rows ? nq : 0);
	CURSOR_ARRAY(cursor, loops->base, rows ? nq : 0);
	CURSOR_ARRAY(cursor, loops->kept.q, rows ? nq : 0);
	CURSOR_ARRAY(cursor, loops->kept.direction, rows);
	if (rows)
		loops->refined = layout_refined(m, cursor);
	CURSOR_ARRAY(cursor, loops->order, rows);
	CURSOR_ARRAY(cursor, loops->column, rows);
	CURSOR_ARRAY(cursor, loops->independent, rows);
	CURSOR_ARRAY(cursor, loops->kept.prescribed, rows ? nu : 0);
	if (m->loop_schedule)
		layout_schedule(m, cursor, loops);
	if (m->coupled)
		layout_coupled(m, cursor, &loops->coupled);
	CURSOR_ARRAY(cursor, w->reaction, m->body_count);
	w->column = CAL_LANES == 1 ? layout_columns(m, cursor) : (ColumnWork){0};
	w->dense = NULL;
	if (m->solver == CAL_SOLVER_DENSE)
		CURSOR_ARRAY(cursor, w->dense, nu * (nu + 1));
}

size_t LANED(work_size)(const CalModel *model) {
	CalWork counted;
	Cursor cursor = {.used = sizeof(CalWork)};
	layout_work(model, &cursor, &counted);
	return cursor_size(&cursor);
}

CalStatus LANED(work_init_zeroed)(const CalModel *model, void *memory, size_t size, CalWork **work) {
	const size_t needed = model ? LANED(work_size)(model) : 0;
	if (!model || !memory || !work || (uintptr_t)memory % MEMORY_ALIGNMENT || size < needed) {
		return CAL_ERR_ARGUMENT;
	}
	CalWork *w = memory;
	Cursor cursor = {.base = memory, .size = needed, .used = sizeof(CalWork)};
	layout_work(model, &cursor, w);
	CAL_ASSERT(cursor.used <= needed);
	memset(w->all_prescribed, 1, (size_t)model->nu);
	w->model = model;
	w->failed_dof = -1;
	w->loops.singular = LOOP_SINGULAR;
	*work = w;
	return CAL_OK;
}

CalStatus LANED(work_init)(const CalModel *model, void *memory, size_t size, CalWork **work) {
	const size_t needed = model ? LANED(work_size)(model) : 0;
	if (memory && size >= needed)
		memset(memory, 0, needed);
	return LANED(work_init_zeroed)(model, memory, size, work);
}

#if CAL_LANES == 1

size_t cal_work_size(const CalModel *model) { return model ? work_size_x1(model) : 0; }

CalStatus cal_work_init(const CalModel *model, void *memory, size_t size, CalWork **work) {
	return work_init_x1(model, memory, size, work);
}

CalStatus cal_work_create(const CalModel *model, CalWork **work) {
	if (!model || !work)
		return CAL_ERR_ARGUMENT;
	*work = NULL;
	const size_t size = cal_work_size(model);
	void *memory = memory_alloc_aligned(size);
	if (!memory)
		return CAL_ERR_MEMORY;
	const CalStatus status = cal_work_init(model, memory, size, work);
	if (status == CAL_OK)
		(*work)->memory = memory;
	return status;
}

void cal_work_destroy(CalWork *work) {
	if (work)
		memory_free_aligned(work->memory);
}

int cal_work_failed_dof(const CalWork *work) { return work ? work->failed_dof : -1; }

#endif
