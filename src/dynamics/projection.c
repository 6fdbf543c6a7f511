// SPDX-License-Identifier: Apache-2.0
/*
 * projection.c — u = X v + drift, udot = X vdot + bias [THEORY (5.24)].
 *
 * Gauss and Jordan on the equations G u = s', G udot = gamma (dynamics/loop/loop_mobility.c) leave one dependent speed in
 * each independent equation: its row of X is what stands beside it, with the opposite sign, and drift and bias are what has become
 * of s' and gamma. Held speeds are on the right-hand side from the start.
 */
#include "dynamics/projection.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "dynamics/loop/loops.h"
#include "dynamics/tree/kinematics.h"

#if CAL_LANES == 1

/* ---- memory ------------------------------------------------------------------------------------------------ */

static void layout_projection(CalProjection *p, Cursor *cursor) {
	const size_t nu = (size_t)p->model->nu;
	cursor_array(cursor, 1, sizeof *p);
	CURSOR_ARRAY(cursor, p->X, nu * nu);
	CURSOR_ARRAY(cursor, p->M, nu * nu);
	CURSOR_ARRAY(cursor, p->scratch, (nu + 2) * nu);
	double **const of_u[] = {&p->drift, &p->bias, &p->D, &p->x, &p->y, &p->z};
	for (size_t i = 0; i < sizeof of_u / sizeof *of_u; ++i)
		CURSOR_ARRAY(cursor, *of_u[i], nu);
	CURSOR_ARRAY(cursor, p->speed, nu);
	CURSOR_ARRAY(cursor, p->order, nu);
	CURSOR_ARRAY(cursor, p->pivot, nu);
	CURSOR_ARRAY(cursor, p->independent, nu);
	CURSOR_ARRAY(cursor, p->held, nu);
	CURSOR_ARRAY(cursor, p->row, nu);
}

size_t projection_size(const CalModel *model) {
	CalProjection counted = {.model = model};
	Cursor cursor = {.align = sizeof(double)};
	layout_projection(&counted, &cursor);
	return cursor_size(&cursor);
}

CalProjection *projection_init(const CalModel *model, void *memory, size_t size) {
	Cursor cursor = {.base = memory, .size = size, .align = sizeof(double)};
	CalProjection *p = memory;
	memset(memory, 0, size);
	*p = (CalProjection){.model = model};
	layout_projection(p, &cursor);
	return p;
}

CalStatus cal_projection_create(const CalModel *model, CalProjection **projection) {
	if (!model || !projection)
		return CAL_ERR_ARGUMENT;
	CalProjection counted = {.model = model, .allocator = allocator_or_default(NULL)};
	Cursor cursor = {.align = sizeof(double)};
	layout_projection(&counted, &cursor);
	CalProjection *p = *projection = cursor_alloc_at_start(&cursor, &counted.allocator);
	if (!p)
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	*p = counted;
	layout_projection(p, &cursor);
	return CAL_OK;
}

void cal_projection_destroy(CalProjection *projection) {
	if (!projection)
		return;
	const CalAllocator allocator = projection->allocator;
	memory_free(&allocator, projection);
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

/* What held speeds (or accelerations) leave of the right-hand sides of the rows, block after block. */
static void load_right(const CalProjection *p, const double *given, LoopWork *w, const double *of_rows, double *right) {
	for (int i = 0; p->model->blocks && i < p->model->blocks->count; ++i) {
		const LoopBlock *b = &p->model->blocks->blocks[i];
		const int32_t *column = p->model->blocks->columns + b->column;
		for (int r = 0; r < b->rows; ++r) {
			const double *G = loop_block_row(b, w->G, r);
			double sum = of_rows[p->model->blocks->rows[b->row + r]];
			for (int k = 0; k < b->columns; ++k)
				sum -= given && p->held[column[k]] ? G[k] * given[column[k]] : 0;
			right[b->row + r] = sum;
		}
	}
}

/* G, and G u = s', G udot = gamma with the held speeds on the right: in z and lambda of the loops. */
static void load_rows(const CalProjection *p, const CalState *state, const double *udot, CalWork *work) {
	const CalModel *model = p->model;
	LoopWork *w = &work->loops;
	double *of_rows = w->gathered; // [2 m]
	kinematics_outward(model, state->q, w->rest, work);
	loop_rows(model, &(LoopContext){.t = state->t, .q = state->q, .u = w->rest, .plain = 1}, work);
	for (int i = 0; i < model->row_count; ++i)
		of_rows[i] = -w->row[i].rate; // at rest: s'
	kinematics_outward(model, state->q, state->u, work);
	loop_rows(model, &(LoopContext){.t = state->t, .q = state->q, .u = state->u, .plain = 1}, work);
	loop_jacobian(model, work);
	load_right(p, state->u, w, of_rows, w->z);
	for (int i = 0; i < model->row_count; ++i)
		of_rows[i] = -w->row[i].acceleration;
	load_right(p, udot, w, of_rows, w->lambda);
}

/* ---- the map ------------------------------------------------------------------------------------------------- */

static void choose_held(CalProjection *p, const CalProjectionOptions *options) {
	const uint8_t *held = options && options->held ? options->held : p->model->prescribed;
	for (int k = 0; k < p->model->nu; ++k)
		p->held[k] = held[k] != 0;
}

/* Speeds that are neither held nor a pivot. */
static void find_independent(CalProjection *p, const LoopWork *w) {
	const LoopBlocks *blocks = p->model->blocks;
	for (int k = 0; k < p->model->nu; ++k)
		p->independent[k] = !p->held[k];
	for (int i = 0; blocks && i < blocks->count; ++i) {
		const LoopBlock *b = &blocks->blocks[i];
		for (int r = 0; r < b->rows; ++r) {
			if (w->order[b->row + r] >= 0)
				p->independent[blocks->columns[b->column + w->order[b->row + r]]] = 0;
		}
	}
	p->count = 0;
	for (int k = 0; k < p->model->nu; ++k) {
		if (p->independent[k])
			p->speed[p->count++] = k;
	}
}

/* Rows of dependent speeds from the rows of a block. */
static void fill_block(CalProjection *p, const LoopBlock *b, LoopWork *w, const int *column_of) {
	const int32_t *column = p->model->blocks->columns + b->column;
	for (int r = 0; r < b->rows; ++r) {
		const int pivot = w->order[b->row + r];
		if (pivot < 0)
			continue;
		const double *T = loop_block_row(b, w->X, r);
		double *row = p->X + (size_t)column[pivot] * (size_t)p->count;
		for (int k = 0; k < b->columns; ++k) {
			if (column_of[column[k]] >= 0)
				row[column_of[column[k]]] = -T[k];
		}
		p->drift[column[pivot]] = w->z[b->row + r];
		p->bias[column[pivot]] = w->lambda[b->row + r];
	}
}

/* state NULL: no speed is held. */
static void fill_map(CalProjection *p, const CalState *state, const double *udot, LoopWork *w) {
	const int nu = p->model->nu;
	int *column_of = p->pivot; // by speed, -1: none
	memset(p->X, 0, sizeof(double) * (size_t)nu * (size_t)p->count);
	for (int k = 0; k < nu; ++k) {
		column_of[k] = -1;
		p->drift[k] = p->held[k] && state ? state->u[k] : 0;
		p->bias[k] = p->held[k] && udot ? udot[k] : 0;
	}
	for (int j = 0; j < p->count; ++j) {
		column_of[p->speed[j]] = j;
		p->X[(size_t)p->speed[j] * (size_t)p->count + (size_t)j] = 1;
	}
	for (int i = 0; p->model->blocks && i < p->model->blocks->count; ++i)
		fill_block(p, &p->model->blocks->blocks[i], w, column_of);
}

/* Speeds of the caller's choice: as many as there are, and none of them held. */
static CalStatus check_choice(const CalProjection *p, const uint8_t *chosen, int rank) {
	int count = 0, free = 0;
	for (int k = 0; k < p->model->nu; ++k) {
		count += chosen[k] != 0;
		free += !p->held[k];
		if (chosen[k] && p->held[k])
			return CAL_ERR_ARGUMENT;
	}
	return count == free - rank ? CAL_OK : CAL_ERR_ARGUMENT;
}

CalStatus cal_projection_update(CalProjection *projection, const CalState *state, const CalProjectionOptions *options,
                                CalWork *work) {
	CalProjection *p = projection;
	if (!p || !state || !work || work->model != p->model)
		return CAL_ERR_ARGUMENT;
	const uint8_t *chosen = options ? options->independent : NULL;
	const double *udot = options ? options->udot : NULL;
	p->factored = p->count = 0;
	choose_held(p, options);
	work->loops.acting = 0;
	if (p->model->row_count)
		load_rows(p, state, udot, work);
	const int rank = loop_eliminate_speeds(p->model, p->held, NULL, &work->loops, &p->least);
	if (chosen) {
		const CalStatus status = check_choice(p, chosen, rank);
		if (status != CAL_OK)
			return status;
		load_rows(p, state, udot, work); // the first elimination has used them up
		if (loop_eliminate_speeds(p->model, p->held, chosen, &work->loops, &p->least) != rank)
			return CAL_SINGULAR;
	}
	find_independent(p, &work->loops);
	fill_map(p, state, udot, &work->loops);
	return CAL_OK;
}

static const double HOLDS = 1e-5; // G X of equations of length 1

/* Whether the map holds all equations, those without a pivot too. */
static int map_holds(const CalProjection *p, LoopWork *w) {
	const size_t count = (size_t)p->count;
	for (int i = 0; p->model->blocks && i < p->model->blocks->count; ++i) {
		const LoopBlock *b = &p->model->blocks->blocks[i];
		const int32_t *column = p->model->blocks->columns + b->column;
		double longest = 0, most = 0;
		for (int r = 0; r < b->rows; ++r) {
			const double *G = loop_block_row(b, w->G, r);
			double square = 0;
			for (int k = 0; k < b->columns; ++k)
				square += G[k] * G[k];
			longest = square > longest ? square : longest;
			for (size_t j = 0; j < count; ++j) {
				double rate = 0;
				for (int k = 0; k < b->columns; ++k)
					rate += G[k] * p->X[(size_t)column[k] * count + j];
				most = fabs(rate) > most ? fabs(rate) : most;
			}
		}
		if (!(most <= HOLDS * sqrt(longest)))
			return 0;
	}
	return 1;
}

CalStatus projection_refresh(CalProjection *projection, const uint8_t *chosen, CalWork *work) {
	CalProjection *p = projection;
	const LoopBlocks *blocks = p->model->blocks;
	LoopWork *w = &work->loops;
	int dependent = 0;
	p->factored = p->count = 0;
	memset(p->held, 0, (size_t)p->model->nu);
	for (int k = 0; k < p->model->nu; ++k)
		dependent += !chosen[k];
	for (int i = 0; i < p->model->row_count; ++i) {
		w->z[i] = -w->row[blocks->rows[i]].value;
		w->lambda[i] = -w->row[blocks->rows[i]].acceleration;
	}
	if (loop_eliminate_speeds(p->model, p->held, chosen, w, &p->least) != dependent)
		return CAL_SINGULAR;
	find_independent(p, w);
	fill_map(p, NULL, NULL, w);
	return map_holds(p, w) ? CAL_OK : CAL_SINGULAR;
}

/* ---- getters ------------------------------------------------------------------------------------------------- */

int cal_projection_count(const CalProjection *projection) { return projection ? projection->count : 0; }

const uint8_t *cal_projection_independent(const CalProjection *projection) {
	return projection ? projection->independent : NULL;
}

const double *cal_projection_map(const CalProjection *projection) { return projection ? projection->X : NULL; }

const double *cal_projection_drift(const CalProjection *projection) { return projection ? projection->drift : NULL; }

const double *cal_projection_bias(const CalProjection *projection) { return projection ? projection->bias : NULL; }

/* y = X v + from; v NULL: zero. */
static void expand(const CalProjection *p, const double *v, const double *from, double *y) {
	for (int i = 0; i < p->model->nu; ++i) {
		const double *X = p->X + (size_t)i * (size_t)p->count;
		double sum = from[i];
		for (int j = 0; v && j < p->count; ++j)
			sum += X[j] * v[j];
		y[i] = sum;
	}
}

CalStatus cal_projection_speeds(const CalProjection *projection, const double *v, double *u) {
	if (!projection || !v || !u)
		return CAL_ERR_ARGUMENT;
	expand(projection, v, projection->drift, u);
	return CAL_OK;
}

CalStatus cal_projection_accelerations(const CalProjection *projection, const double *vdot, double *udot) {
	if (!projection || !udot)
		return CAL_ERR_ARGUMENT;
	expand(projection, vdot, projection->bias, udot);
	return CAL_OK;
}

CalStatus cal_projection_forces(const CalProjection *projection, const double *tau, double *Q) {
	if (!projection || !tau || !Q)
		return CAL_ERR_ARGUMENT;
	const size_t count = (size_t)projection->count;
	memset(Q, 0, sizeof(double) * count);
	for (int i = 0; i < projection->model->nu; ++i) {
		const double *X = projection->X + (size_t)i * count;
		for (size_t j = 0; j < count; ++j)
			Q[j] += X[j] * tau[i];
	}
	return CAL_OK;
}

#endif
