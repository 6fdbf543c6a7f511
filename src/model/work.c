// SPDX-License-Identifier: Apache-2.0
/*
 * work.c — layout of the workspace: one pass that either counts bytes or places arrays.
 */
#include <stdlib.h>

#include "model/loop_blocks.h"
#include "model/loop_plan.h"
#include "model/work.h"

enum { ALIGNMENT = 64 };

typedef struct Layout {
	char *base; // NULL: only count
	size_t offset;
} Layout;

static void *layout_take(Layout *layout, size_t count, size_t size) {
	const size_t at = (layout->offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	layout->offset = at + count * size;
	return layout->base ? layout->base + at : NULL;
}

static FlexWork layout_flex(const Flex *flex, Layout *layout) {
	const size_t m = (size_t)flex->m, n = (size_t)flex->n;
	FlexWork f = {0};
	f.E = layout_take(layout, 6 * n, sizeof(real));
	f.Y = layout_take(layout, 6 * n, sizeof(real));
	f.K = layout_take(layout, 6 * n, sizeof(real));
	f.M = layout_take(layout, m * n, sizeof(real));
	f.scratch = layout_take(layout, 3 * n, sizeof(real));
	real **rows[] = {&f.be, &f.y, &f.inverse, &f.x, &f.eta, &f.eta_dot, &f.eta_ddot, &f.left, &f.diagonal, &f.weight};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
		*rows[i] = layout_take(layout, n, sizeof(real));
	const size_t ports = flex->by_ports ? (size_t)flex->port_count : 0;
	f.port = layout_take(layout, ports, sizeof *f.port);
	const size_t square = 6 * ports * (size_t)row_length((int)(6 * ports));
	f.W = layout_take(layout, square, sizeof(double));
	f.Q = layout_take(layout, square, sizeof(double));
	f.X = layout_take(layout, 48 * ports, sizeof(double));
	f.R = layout_take(layout, 48 * ports, sizeof(double));
	return f;
}

static LoopRefined layout_refined(const CalModel *m, Layout *layout) {
	const size_t nl = (size_t)m->link_count, nu = (size_t)m->nu;
	LoopRefined r = {0};
	r.udot = layout_take(layout, nu, sizeof *r.udot);
	r.lambda = layout_take(layout, (size_t)m->row_count, sizeof *r.lambda);
	r.A = layout_take(layout, nl, sizeof *r.A);
	r.f = layout_take(layout, nl, sizeof *r.f);
	r.external = layout_take(layout, nl, sizeof *r.external);
	double **lists[] = {&r.tau, &r.residual, &r.force};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
		*lists[i] = layout_take(layout, nu, sizeof(double));
	return r;
}

static void layout_schedule(const CalModel *m, Layout *layout, LoopWork *w) {
	const LoopSchedule *plan = m->loop_schedule;
	const size_t loops = (size_t)m->loop_count, slots = (size_t)plan->row_offset_count;
	w->gamma = layout_take(layout, (size_t)plan->gamma_count, sizeof(double));
	w->gain = layout_take(layout, (size_t)plan->gain_count, sizeof(double));
	w->modal = layout_take(layout, (size_t)plan->modal_count, sizeof(double));
	w->modal_tiny = layout_take(layout, (size_t)plan->modal_count, sizeof(double));
	w->own = layout_take(layout, LOOP_BLOCK * loops, sizeof(double));
	w->taken = layout_take(layout, LOOP_BLOCK * loops, sizeof(double));
	w->block = layout_take(layout, LOOP_BLOCK * (size_t)plan->block_count, sizeof(double));
	double **rows[] = {&w->beta, &w->force, &w->natural, &w->tiny, &w->tiny_slide};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
		*rows[i] = layout_take(layout, slots, sizeof(double));
	w->null = layout_take(layout, 5 * slots, sizeof(double));
	w->change = layout_take(layout, slots, sizeof(double));
	w->scale = layout_take(layout, loops, sizeof *w->scale);
	w->factor = layout_take(layout, loops, sizeof *w->factor);
}

static void layout_work(const CalModel *m, Layout *layout, CalWork *w) {
	const size_t nl = (size_t)m->link_count, nu = (size_t)m->nu, nt = (size_t)m->trig_count;
	w->links = layout_take(layout, nl + 1, sizeof *w->links);
	if (layout->base)
		++w->links; // links[-1] is the ground
	w->local = layout_take(layout, nl + 1, sizeof *w->local);
	if (layout->base)
		++w->local;
	w->dofs = layout_take(layout, nu, sizeof *w->dofs);
	w->accumulators = layout_take(layout, (size_t)m->accumulator_count, sizeof *w->accumulators);
	w->columns = layout_take(layout, nu, sizeof *w->columns);
	w->sine = layout_take(layout, nt, sizeof *w->sine);
	w->cosine = layout_take(layout, nt, sizeof *w->cosine);
	w->angle = layout_take(layout, nt, sizeof *w->angle);
	w->force = layout_take(layout, nl, sizeof *w->force);
	w->position = layout_take(layout, nl, sizeof *w->position);
	w->velocity = layout_take(layout, nl, sizeof *w->velocity);
	w->tau = layout_take(layout, nu, sizeof *w->tau);
	w->rotor = layout_take(layout, nu, sizeof *w->rotor);
	w->jump = layout_take(layout, 4 * nu + (size_t)m->row_count, sizeof *w->jump);
	w->held = layout_take(layout, nu, sizeof *w->held);
	w->all_prescribed = layout_take(layout, nu, sizeof *w->all_prescribed);
	w->rhs = layout_take(layout, nu, sizeof *w->rhs);
	w->articulated = layout_take(layout, nl, sizeof *w->articulated);
	w->composite = layout_take(layout, nl, sizeof *w->composite);
	w->modal_columns = layout_take(layout, (size_t)m->modal_columns, sizeof *w->modal_columns);
	w->flex = layout_take(layout, (size_t)m->flex_count, sizeof *w->flex);
	for (int i = 0; i < m->flex_count; ++i) {
		const FlexWork f = layout_flex(&m->flexes[i], layout);
		if (layout->base)
			w->flex[i] = f;
	}
	const size_t rows = (size_t)m->row_count, nq = (size_t)m->nq;
	LoopWork *loops = &w->loops;
	loops->row = layout_take(layout, rows, sizeof *loops->row);
	loops->point = layout_take(layout, (size_t)m->loop_count, sizeof *loops->point);
	double **lists[] = {&loops->z, &loops->lambda, &loops->unit};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
		*lists[i] = layout_take(layout, rows, sizeof(double));
	const size_t gains = m->blocks ? m->blocks->gain_count : 0, squares = m->blocks ? m->blocks->square_count : 0;
	loops->G = layout_take(layout, gains, sizeof(double));
	loops->X = layout_take(layout, gains, sizeof(double));
	loops->Lambda = layout_take(layout, squares, sizeof(double));
	loops->scratch = layout_take(layout, squares + 2 * rows, sizeof(double));
	loops->gathered = layout_take(layout, 2 * rows, sizeof(double));
	loops->block_rank = layout_take(layout, m->blocks ? (size_t)m->blocks->count : 0, sizeof *loops->block_rank);
	loops->q = layout_take(layout, rows ? nq : 0, sizeof(double));
	loops->dq = layout_take(layout, rows ? nu : 0, sizeof(double));
	loops->at = layout_take(layout, rows ? nq : 0, sizeof(double));
	loops->base = layout_take(layout, rows ? nq : 0, sizeof(double));
	if (rows)
		loops->refined = layout_refined(m, layout);
	loops->order = layout_take(layout, rows, sizeof *loops->order);
	loops->column = layout_take(layout, rows, sizeof *loops->column);
	loops->independent = layout_take(layout, rows, sizeof *loops->independent);
	if (m->loop_schedule)
		layout_schedule(m, layout, loops);
	w->reaction = layout_take(layout, (size_t)m->body_count, sizeof *w->reaction);
	w->dense = m->solver == CAL_SOLVER_DENSE ? layout_take(layout, nu * (nu + 1), sizeof *w->dense) : NULL;
}

size_t LANED(work_size)(const CalModel *model) {
	CalWork counted;
	Layout layout = {NULL, sizeof(CalWork)};
	layout_work(model, &layout, &counted);
	return (layout.offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

CalStatus LANED(work_init)(const CalModel *model, void *memory, size_t size, CalWork **work) {
	const size_t needed = model ? LANED(work_size)(model) : 0;
	if (!model || !memory || !work || (uintptr_t)memory % ALIGNMENT || size < needed) {
		return CAL_ERR_ARGUMENT;
	}
	CalWork *w = memory;
	memset(memory, 0, needed);
	Layout layout = {memory, sizeof(CalWork)};
	layout_work(model, &layout, w);
	memset(w->all_prescribed, 1, (size_t)model->nu);
	w->model = model;
	w->failed_dof = -1;
	w->loops.singular = LOOP_SINGULAR;
	*work = w;
	return CAL_OK;
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
	void *memory = aligned_alloc(ALIGNMENT, size);
	if (!memory)
		return CAL_ERR_MEMORY;
	const CalStatus status = cal_work_init(model, memory, size, work);
	if (status == CAL_OK)
		(*work)->memory = memory;
	return status;
}

void cal_work_destroy(CalWork *work) {
	if (work)
		free(work->memory);
}

int cal_work_failed_dof(const CalWork *work) { return work ? work->failed_dof : -1; }

#endif
