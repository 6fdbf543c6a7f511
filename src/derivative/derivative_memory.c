// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_memory.c — the memory of derivatives, and which dofs move which.
 *
 * Dofs are numbered parent first, bodies depth first. The dofs outboard of a link are one run of neighbors, or several
 * where nodes of a flexible body carry more than one joint; the dofs that move a dof are those of the links inboard of it,
 * and the modes of flexible bodies there.
 */
#include "base/assert.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "derivative/derivative_frame.h"
#include "math/pack.h"

/* ---- tree of dofs --------------------------------------------------------------------------------- */

/* The link that a dof belongs to: of its joint, or the one that carries the flexible body. */
static int link_of(const CalModel *model, int u) { return model->dofs[u].link; }

static int first_mode(const CalModel *model, int link) {
	const int f = link >= 0 ? model->links[link].flex_body : -1;
	return f >= 0 && model->flexes[f].m > 0 ? model->flexes[f].u : -1;
}

/* The last dof of a link or of those inboard of it; -1: none. With its modes, or without. */
static int last_dof(const CalModel *model, int link, int modes) {
	for (; link >= 0; link = model->links[link].parent, modes = 1) {
		const int mode = first_mode(model, link);
		if (modes && mode >= 0)
			return mode + model->flexes[model->links[link].flex_body].m - 1;
		if (model->links[link].nu > 0)
			return model->links[link].u + model->links[link].nu - 1;
	}
	return -1;
}

/* The next dof that moves dof u. */
static int inboard_dof(const CalModel *model, int u) {
	const int link = link_of(model, u), mode = first_mode(model, link);
	if (mode >= 0 && u >= mode && u < mode + model->flexes[model->links[link].flex_body].m)
		return u > mode ? u - 1 : last_dof(model, link, 0);
	return u > model->links[link].u ? u - 1 : last_dof(model, model->links[link].parent, 1);
}

static size_t count_ancestors(const CalModel *model) {
	size_t count = 0;
	for (int u = 0; u < model->nu; ++u) {
		for (int j = inboard_dof(model, u); j >= 0; j = inboard_dof(model, j))
			++count;
	}
	return count;
}

static void fill_ancestors(const CalModel *model, CalDerivatives *d) {
	int at = 0;
	for (int u = 0; u < model->nu; ++u) {
		d->ancestor_first[u] = at;
		d->descends[u] = u;
		for (int j = inboard_dof(model, u); j >= 0; j = inboard_dof(model, j)) {
			CAL_ASSERT(j < u && d->descends[j] >= u - 1);
			d->ancestors[at++] = j;
			d->descends[j] = u;
		}
	}
	d->ancestor_first[model->nu] = at;
}

/* ---- runs ------------------------------------------------------------------------------------------- */

/* The innermost link that both are on or outboard of; -1: the ground. */
static int common_link(const CalModel *model, int a, int b) {
	while (a != b) {
		if (a > b)
			a = model->links[a].parent;
		else
			b = model->links[b].parent;
	}
	return a;
}

/* Links that begin a run with dof u are those from its own inward to the one that it shares with the dof before. */
static int runs_end(const CalModel *model, int u) {
	return u > 0 ? common_link(model, link_of(model, u), link_of(model, u - 1)) : -1;
}

static size_t count_runs(const CalModel *model) {
	size_t count = 0;
	for (int u = 0; u < model->nu; ++u) {
		for (int i = link_of(model, u), end = runs_end(model, u); i != end; i = model->links[i].parent)
			++count;
	}
	return count;
}

static void fill_runs(const CalModel *model, CalDerivatives *d) {
	for (int u = 0; u < model->nu; ++u) {
		for (int i = link_of(model, u), end = runs_end(model, u); i != end; i = model->links[i].parent)
			++d->columns[i].run_count;
	}
	for (int i = 0, at = 0; i < model->link_count; ++i) {
		d->columns[i].run = at;
		at += d->columns[i].run_count;
		d->columns[i].run_count = 0;
	}
	for (int u = 0; u < model->nu; ++u) {
		const int end = runs_end(model, u);
		for (int i = link_of(model, u); i >= 0; i = model->links[i].parent) {
			LinkColumns *c = &d->columns[i];
			if (i > end)
				d->runs[c->run + c->run_count++].begin = u;
			d->runs[c->run + c->run_count - 1].end = u + 1;
		}
	}
}

/* Columns of joints come first among the motions, then those of the modes of each FLEX and NODE link. */
static void fill_columns(const CalModel *model, CalDerivatives *d) {
	int at = model->nu;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		LinkColumns *c = &d->columns[i];
		*c = (LinkColumns){.u = link->u, .count = link->nu, .motion = link->u};
		if (link->flex < 0)
			continue;
		const Flex *flex = &model->flexes[link->flex];
		c->u = flex->u, c->count = flex->m, c->motion = at;
		at += flex->m;
	}
	d->spare = at;
}

static size_t count_motions(const CalModel *model) {
	size_t count = (size_t)model->nu;
	for (int i = 0; i < model->link_count; ++i) {
		const int f = model->links[i].flex;
		count += f >= 0 ? (size_t)model->flexes[f].m : 0;
	}
	return count;
}

enum { SPARE_ROWS = 4 };

/* ---- layout ------------------------------------------------------------------------------------------- */

static size_t most_modes(const CalModel *model) {
	int most = 0;
	for (int f = 0; f < model->flex_count; ++f)
		most = model->flexes[f].m > most ? model->flexes[f].m : most;
	return (size_t)most;
}

static void layout_loops(const CalModel *model, CalDerivatives *d, Cursor *cursor) {
	const size_t m = (size_t)model->row_count, n = (size_t)model->nu, stride = (size_t)row_length(model->nu);
	CURSOR_ARRAY(cursor, d->variations, 2 * n);
	CURSOR_ARRAY(cursor, d->G, m * n);
	CURSOR_ARRAY(cursor, d->GX, m * stride);
	CURSOR_ARRAY(cursor, d->Lambda, m * m);
	CURSOR_ARRAY(cursor, d->loop_scratch, m * (m + 2));
	CURSOR_ARRAY(cursor, d->ordered, m * 2 * stride);
	CURSOR_ARRAY(cursor, d->lambda, m);
	CURSOR_ARRAY(cursor, d->unit, m);
	CURSOR_ARRAY(cursor, d->dz, m * 2 * stride);
	CURSOR_ARRAY(cursor, d->order, m);
	CURSOR_ARRAY(cursor, d->independent, m);
}

static void layout_derivatives(const CalModel *model, CalDerivatives *d, Cursor *cursor) {
	const size_t n = (size_t)model->nu, stride = (size_t)row_length(model->nu), links = (size_t)model->link_count;
	CURSOR_ARRAY(cursor, d->columns, links);
	CURSOR_ARRAY(cursor, d->runs, count_runs(model));
	CURSOR_ARRAY(cursor, d->motions, count_motions(model) + most_modes(model)); // and of a node with a wrench
	CURSOR_ARRAY(cursor, d->subtree, links);
	CURSOR_ARRAY(cursor, d->rate, links);
	CURSOR_ARRAY(cursor, d->rows, ROW_COUNT * stride);
	const size_t rows = (size_t)row_length(model->nu) + SPARE_ROWS; // whole blocks, and whole tiles of the last row
	CURSOR_ARRAY(cursor, d->M, rows * stride);
	CURSOR_ARRAY(cursor, d->dq, 2 * rows * stride);
	d->du = cursor->base ? d->dq + stride : NULL;
	double **const squares[] = {&d->dq_low, &d->du_low, &d->L, &d->Lt, &d->inverse};
	for (size_t i = 0; i < sizeof squares / sizeof *squares; ++i)
		CURSOR_ARRAY(cursor, *squares[i], rows * stride);
	CURSOR_ARRAY(cursor, d->D_inv, n);
	CURSOR_ARRAY(cursor, d->udot, n);
	CURSOR_ARRAY(cursor, d->scratch, 2 * n);
	CURSOR_ARRAY(cursor, d->ancestors, count_ancestors(model));
	CURSOR_ARRAY(cursor, d->ancestor_first, n + 1);
	CURSOR_ARRAY(cursor, d->descends, n);
	CURSOR_ARRAY(cursor, d->own, 2 * (6 + most_modes(model)));
	CURSOR_ARRAY(cursor, d->at.q, model->nq);
	CURSOR_ARRAY(cursor, d->at.u, n);
	CURSOR_ARRAY(cursor, d->moved.q, model->nq);
	CURSOR_ARRAY(cursor, d->moved.u, n);
	CURSOR_ARRAY(cursor, d->moved_force, n);
	layout_loops(model, d, cursor);
}

static int any_user_function(const CalModel *model) {
	for (int i = 0; i < model->link_count; ++i) {
		if (model->links[i].motion == PRIMITIVE_USER)
			return 1;
	}
	for (int f = 0; f < model->flex_count; ++f) {
		if (model->flexes[f].ops)
			return 1;
	}
	return model->mechanism_count > 0;
}

/* Bytes of the workspace of derivatives without that of the sweeps, which follows it. */
static size_t own_size(const CalModel *model) {
	CalDerivatives counted = {0};
	Cursor cursor = {.used = sizeof(CalDerivatives)};
	layout_derivatives(model, &counted, &cursor);
	return cursor_size(&cursor);
}

size_t cal_derivatives_size(const CalModel *model) { return model ? own_size(model) + cal_work_size(model) : 0; }

CalStatus cal_derivatives_init(const CalModel *model, void *memory, size_t size, CalDerivatives **derivatives) {
	const size_t needed = cal_derivatives_size(model), own = model ? own_size(model) : 0;
	if (!model || !memory || !derivatives || (uintptr_t)memory % MEMORY_ALIGNMENT || size < needed)
		return CAL_ERR_ARGUMENT;
	memset(memory, 0, own);
	CalDerivatives *d = memory;
	Cursor cursor = {.base = memory, .size = own, .used = sizeof(CalDerivatives)};
	layout_derivatives(model, d, &cursor);
	d->model = model;
	d->n = model->nu, d->stride = row_length(model->nu);
	d->failed_dof = -1;
	d->exact = !any_user_function(model) && !model->any_applied_wrench;
	fill_columns(model, d);
	fill_runs(model, d);
	fill_ancestors(model, d);
	const CalStatus status = cal_work_init(model, (char *)memory + own, needed - own, &d->work);
	if (status == CAL_OK)
		*derivatives = d;
	return status;
}

CalStatus cal_derivatives_create(const CalModel *model, CalDerivatives **derivatives) {
	if (!model || !derivatives)
		return CAL_ERR_ARGUMENT;
	*derivatives = NULL;
	const size_t size = cal_derivatives_size(model);
	void *memory = memory_alloc_aligned(size);
	if (!memory)
		return CAL_ERR_MEMORY;
	const CalStatus status = cal_derivatives_init(model, memory, size, derivatives);
	if (status == CAL_OK)
		(*derivatives)->memory = memory;
	else
		memory_free_aligned(memory);
	return status;
}

void cal_derivatives_destroy(CalDerivatives *derivatives) {
	if (derivatives)
		memory_free_aligned(derivatives->memory);
}

int cal_derivatives_exact(const CalDerivatives *derivatives) { return derivatives ? derivatives->exact : 0; }

int cal_derivatives_failed_dof(const CalDerivatives *derivatives) { return derivatives ? derivatives->failed_dof : -1; }
