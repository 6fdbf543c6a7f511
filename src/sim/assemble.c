// SPDX-License-Identifier: Apache-2.0
/*
 * assemble.c — closing the loops of a group before a run starts: what that moved, and by name what cannot be closed.
 *
 * assemble_nearest.c finds the state. What was given is kept beside it, for assemble_report.c.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/loops.h>
#include <calder/sim.h>

#include "base/cursor.h"
#include "base/error.h"
#include "dynamics/loop/loop_rows.h"
#include "model/work.h"
#include "sim/assemble.h"

enum { NAMED = 4 }; // rows that a message names

/* ---- what cannot be closed ----------------------------------------------------------------------- */

/* Directions d.. are lengths, v.. speeds; the others are sines of angles. */
const char *assembly_row_unit(const char *row) {
	const char *dot = strrchr(row, '.');
	return dot && dot[1] == 'd' ? " m" : dot && dot[1] == 'v' ? " m/s" : "";
}

static size_t add_row(const SimGroup *group, int row, const char *before, char *text, size_t size) {
	char name[96] = "";
	cal_model_row_name(group->model, row, name, sizeof name);
	const int length = snprintf(text, size, "%s%s is off by %.3g%s", before, name, group->work->loops.row[row].value,
	                            assembly_row_unit(name));
	return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

/* The row that follows `last` (-1: none) in the order of residuals, the largest first; -1: none is left above `floor`. */
static int next_row(const SimGroup *group, int last, double floor) {
	const LoopRow *row = group->work->loops.row;
	const double limit = last >= 0 ? fabs(row[last].value) : INFINITY;
	int next = -1;
	for (int i = 0; i < group->model->row_count; i++) {
		const double size = fabs(row[i].value);
		const int follows = size < limit || (size == limit && i > last);
		if (follows && size > (next >= 0 ? fabs(row[next].value) : floor))
			next = i;
	}
	return next;
}

void group_worst_row(const SimGroup *group, char *text, size_t size) {
	const int row = next_row(group, -1, 0);
	text[0] = 0;
	if (row >= 0)
		add_row(group, row, ", row ", text, size);
}

/* "row a is off by 1 m, b is off by 0.5 m ...": the largest, as far as they matter beside it. */
static void name_rows(const SimGroup *group, double largest, char *text, size_t size) {
	int row = -1;
	size_t used = 0;
	text[0] = 0;
	for (int k = 0; k < NAMED && (row = next_row(group, row, 1e-2 * largest)) >= 0; k++)
		used += add_row(group, row, k ? ", " : "row ", text + used, size - used);
}

/* What is frozen, driven now, or described as prescribed; returns how many, -1: the input refused. */
static int find_held(SimGroup *group) {
	CalInput input = {0};
	int count = 0;
	if (group->input && group->input(group->user, group->model, &group->state, &input) != 0)
		return -1;
	const uint8_t *driven = input.prescribed ? input.prescribed : group->model->prescribed;
	for (int i = 0; i < group->model->nu; i++) {
		group->held[i] = group->frozen[i] || driven[i] || group->driven[i];
		count += group->held[i];
	}
	return count;
}

static CalStatus set_error(const SimGroup *group, const CalProjectReport *left, int held, CalError *error) {
	char rows[420], verdict[160];
	name_rows(group, left->residual, rows, sizeof rows);
	if (left->reachable)
		snprintf(verdict, sizeof verdict, "not closed after %d iterations; give a state that is nearer",
		         left->iterations);
	else if (left->row >= 0 && left->residual < 1e-6 * loop_row_unit(group->model, left->row))
		snprintf(verdict, sizeof verdict, "%s", "out of reach; are numbers of redundant loops rounded?");
	else if (held)
		snprintf(verdict, sizeof verdict,
		         "out of reach while %d of %d coordinates are frozen or driven; free some, or check lengths and frames",
		         held, group->model->nu);
	else
		snprintf(verdict, sizeof verdict, "%s", "out of reach; check lengths and frames");
	return error_set(error, CAL_NOT_CONVERGED, "group \"%s\": its loops cannot be closed from this state: %s: %s",
	                 cal_model_name(group->model), rows, verdict);
}

/* Positions are closed; speeds that are held may still pull the rows apart. */
static CalStatus check_speeds(const SimGroup *group, CalError *error) {
	const LoopWork *w = &group->work->loops;
	char name[96] = "";
	double fastest = 1, most = 0, rate = 0; // most: in units of the rows
	for (int i = 0; i < group->model->nu; i++)
		fastest = fmax(fastest, fabs(group->state.u[i]));
	for (int i = 0; i < group->model->row_count; i++) {
		const double size = fabs(w->row[i].rate) / loop_row_unit(group->model, i);
		if (size <= most)
			continue;
		most = size;
		rate = fabs(w->row[i].rate);
		cal_model_row_name(group->model, i, name, sizeof name);
	}
	if (most <= 1e-6 * fastest) // what a singular position leaves is no contradiction
		return CAL_OK;
	return error_set(
		error, CAL_NOT_CONVERGED,
		"group \"%s\": its loops cannot be kept at these speeds: row %s changes by %.3g a second, and what is "
		"frozen or driven leaves no way out; free some of it, or give speeds that agree",
		cal_model_name(group->model), name, rate);
}

/* ---- memory -------------------------------------------------------------------------------------- */

/* The struct itself, and its arrays after it. */
static void layout_assembly(const CalModel *model, Assembly *a, Cursor *cursor) {
	double **const of_q[] = {&a->q_given, &a->q, &a->best};
	double **const of_u[] = {&a->u_given, &a->u, &a->change, &a->speed_change, &a->weight};
	uint8_t **const flags[] = {&a->stated_q, &a->stated_u, &a->mask, &a->angle};
	cursor_array(cursor, 1, sizeof *a);
	for (size_t i = 0; i < sizeof of_q / sizeof *of_q; i++)
		CURSOR_ARRAY(cursor, *of_q[i], model->nq);
	for (size_t i = 0; i < sizeof of_u / sizeof *of_u; i++)
		CURSOR_ARRAY(cursor, *of_u[i], model->nu);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		CURSOR_ARRAY(cursor, *flags[i], model->nu);
}

size_t assembly_size(const CalModel *model) {
	Assembly none;
	Cursor cursor = {.align = sizeof(double)};
	if (model->row_count > 0)
		layout_assembly(model, &none, &cursor);
	return cursor_size(&cursor);
}

Assembly *assembly_place(const CalModel *model, void *memory) {
	if (model->row_count == 0)
		return NULL;
	Cursor cursor = {.base = memory, .size = assembly_size(model), .align = sizeof(double)};
	cursor_clear(&cursor);
	Assembly *a = memory;
	layout_assembly(model, a, &cursor);
	return a;
}

/* ---- what moved ---------------------------------------------------------------------------------- */

/* What differs from neutral was set by somebody. */
static void guess_stated(SimGroup *group) {
	const Assembly *a = group->assembly;
	cal_config_neutral(group->model, a->best);
	cal_config_difference(group->model, a->best, group->state.q, a->change);
	for (int k = 0; k < group->model->nu; k++) {
		a->stated_q[k] = a->change[k] != 0;
		a->stated_u[k] = group->state.u[k] != 0;
	}
}

static bool is_same(const double *a, const double *b, int count) {
	return memcmp(a, b, (size_t)count * sizeof(double)) == 0;
}

/* Notes the state as the one that was given, with its residuals. */
static CalStatus note_given(SimGroup *group) {
	Assembly *a = group->assembly;
	const CalModel *model = group->model;
	if (!a->stated_known)
		guess_stated(group);
	memcpy(a->q_given, group->state.q, (size_t)model->nq * sizeof(double));
	memcpy(a->u_given, group->state.u, (size_t)model->nu * sizeof(double));
	a->known = a->accepted = false;
	a->residual = a->rate = 0;
	a->row = a->rate_row = -1;
	const CalStatus status = cal_loop_residual(model, &group->state, group->work, NULL, NULL);
	for (int i = 0; status == CAL_OK && i < model->row_count; i++) {
		const LoopRow *row = &group->work->loops.row[i];
		if (!(fabs(row->value) <= a->residual))
			a->residual = fabs(row->value), a->row = i;
		if (!(fabs(row->rate) <= a->rate))
			a->rate = fabs(row->rate), a->rate_row = i;
	}
	return isfinite(a->residual) ? status : CAL_NOT_FINITE;
}

static void note_assembled(SimGroup *group) {
	Assembly *a = group->assembly;
	memcpy(a->q, group->state.q, (size_t)group->model->nq * sizeof(double));
	memcpy(a->u, group->state.u, (size_t)group->model->nu * sizeof(double));
	cal_config_difference(group->model, a->q_given, a->q, a->change);
	for (int k = 0; k < group->model->nu; k++)
		a->speed_change[k] = a->u[k] - a->u_given[k];
	a->known = true;
}

CalStatus group_assemble(SimGroup *group, CalProjectReport *left, CalError *error) {
	Assembly *a = group->assembly;
	*left = (CalProjectReport){.row = -1, .reachable = 1};
	if (!a)
		return CAL_OK;
	const int held = find_held(group);
	if (held < 0)
		return CAL_ERR_USER;
	const bool again =
		a->known && is_same(a->q, group->state.q, group->model->nq) && is_same(a->u, group->state.u, group->model->nu);
	if (again)
		return CAL_OK;
	CalStatus status = note_given(group);
	if (status == CAL_OK)
		status = assemble_nearest(group, left);
	if (status == CAL_OK)
		note_assembled(group);
	if (status == CAL_NOT_CONVERGED)
		return set_error(group, left, held, error);
	return status == CAL_OK && held ? check_speeds(group, error) : status;
}
