// SPDX-License-Identifier: Apache-2.0
/*
 * linear_system.c — what is read of a simulation at its state and beside it, and the slopes of that.
 *
 * A direction is an independent coordinate or speed of a group, a state of a device, or an input. In each, everything that
 * is not known analytically is differenced by the formula of linear/differences.h: generalized forces of all groups (at the
 * configuration of the state: how these change with it is part of the analytical derivatives), rates of devices, outputs,
 * and speeds that follow from the independent ones. Second differences over h and 2h show forces that jump or bend: of
 * what is smooth their ratio is 2.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/linear_slopes.h"
#include "base/error.h"
#include "base/memory.h"
#include "linear/differences.h"

/* ---- making ----------------------------------------------------------------------------------------- */

static CalStatus create_groups(LinearSystem *s) {
	CalStatus status = CAL_OK;
	for (int g = 0; g < s->group_count && status == CAL_OK; g++)
		if (!s->sim->groups[g].motion)
			status = linear_group_create(&s->groups[g], s->sim->groups[g].model, &s->sim->groups[g].state);
	return status;
}

static void count_device_states(LinearSystem *s) {
	for (int i = 0; i < s->sim->device_count; i++)
		s->device_states += s->sim->devices[i].active ? s->sim->devices[i].def.nx : 0;
}

static void list_device_states(LinearSystem *s) {
	int at = 0;
	for (int i = 0; i < s->sim->device_count; i++)
		for (int k = 0; s->sim->devices[i].active && k < s->sim->devices[i].def.nx; k++, at++) {
			s->device[at] = i;
			s->device_state[at] = k;
		}
}

static void layout_first(LinearSystem *s, Cursor *cursor) {
	for (int g = 0; g < s->group_count; g++)
		linear_group_layout(&s->groups[g], cursor);
	CURSOR_ARRAY(cursor, s->device, s->device_states);
	CURSOR_ARRAY(cursor, s->device_state, s->device_states);
}

static void layout_reading(LinearSystem *s, Cursor *cursor) {
	int widest = 0;
	s->read_count = 0;
	for (int g = 0; g < s->group_count; g++) {
		s->read_count += s->groups[g].nu;
		widest = s->groups[g].nu > widest ? s->groups[g].nu : widest;
	}
	s->device_at = s->read_count;
	s->output_at = s->device_at + s->device_states;
	s->speed_at = s->output_at + s->output_count;
	s->read_count = s->speed_at + widest;
	for (int i = 0; i < 5; i++)
		CURSOR_ARRAY(cursor, s->read[i], s->read_count);
	CURSOR_ARRAY(cursor, s->slope, s->read_count);
	CURSOR_ARRAY(cursor, s->row, s->output_count + 1);
}

CalStatus linear_system_create(LinearSystem *s, CalSim *sim, const CalAllocator *allocator) {
	*s = (LinearSystem){.sim = sim, .allocator = *allocator, .group_count = sim->group_count};
	s->groups = memory_alloc_zeroed(allocator, (size_t)s->group_count * sizeof *s->groups);
	if (!s->groups)
		return CAL_ERR_MEMORY;
	CalStatus status = create_groups(s);
	if (status != CAL_OK)
		return status;
	count_device_states(s);
	Cursor cursor = {0};
	layout_first(s, &cursor);
	s->memory = cursor_alloc_zeroed(&cursor, allocator);
	if (!s->memory)
		return CAL_ERR_MEMORY;
	layout_first(s, &cursor);
	list_device_states(s);
	return CAL_OK;
}

void linear_system_release(LinearSystem *s) {
	for (int g = 0; s->groups && g < s->group_count; g++)
		linear_group_release(&s->groups[g]);
	cal_sampler_destroy(s->outputs);
	cal_sampler_destroy(s->of_inputs);
	cal_sampler_destroy(s->of_states);
	memory_free(&s->allocator, s->inputs);
	memory_free(&s->allocator, s->reading);
	memory_free(&s->allocator, s->memory);
	memory_free(&s->allocator, s->groups);
}

/* ---- at the state ------------------------------------------------------------------------------------- */

CalStatus linear_system_find(LinearSystem *s) {
	CalEvalContext context;
	s->coordinate_count = 0;
	CalStatus status = sim_evaluate_for_observers(s->sim, true, &context);
	for (int g = 0; g < s->group_count && status == CAL_OK; g++) {
		LinearGroup *group = &s->groups[g];
		if (!group->model)
			continue;
		status = linear_group_find(group, &s->sim->system.inputs[g]);
		s->failed_group = status == CAL_OK ? -1 : g;
		group->first = s->coordinate_count;
		s->coordinate_count += group->count;
	}
	return status;
}

/* All that is differenced, at the present state of the simulation; of: the group that is displaced, -1: none is. */
static CalStatus read_all(LinearSystem *s, int of, double *read) {
	CalEvalContext context;
	double *at = read;
	CalStatus status = sim_evaluate_for_observers(s->sim, true, &context);
	for (int g = 0; g < s->group_count && status == CAL_OK; g++) {
		if (s->groups[g].model)
			status = linear_group_force(&s->groups[g], &s->sim->system.inputs[g], at);
		at += s->groups[g].nu;
	}
	for (int i = 0; i < s->device_states; i++)
		read[s->device_at + i] = s->sim->system.xdot[s->sim->devices[s->device[i]].x_at + s->device_state[i]];
	if (status == CAL_OK && s->output_count > 0)
		status = cal_sampler_sample(s->outputs, s->sim, s->row);
	for (int i = 0; i < s->output_count; i++)
		read[s->output_at + i] = s->row[i + 1];
	for (int i = 0; of >= 0 && i < s->groups[of].nu; i++)
		read[s->speed_at + i] = s->groups[of].state->u[i] - s->groups[of].about.u[i];
	return status;
}

CalStatus linear_system_begin(LinearSystem *s) {
	Cursor cursor = {0};
	layout_reading(s, &cursor);
	s->reading = cursor_alloc_zeroed(&cursor, &s->allocator);
	if (!s->reading)
		return CAL_ERR_MEMORY;
	layout_reading(s, &cursor);
	return read_all(s, -1, s->read[0]);
}

/* ---- slopes ------------------------------------------------------------------------------------------- */

static const double points[4] = {-2, -1, 1, 2};

static double step_of(const LinearSystem *s, const LinearDirection *d) {
	if (d->kind == DIRECTION_INPUT) // all but commands act linearly
		return s->inputs[d->index].probe.kind == PROBE_COMMAND ? DIFFERENCE_STEP : 1;
	if (d->kind == DIRECTION_DEVICE)
		return DIFFERENCE_STEP * fmax(1, fabs(s->sim->devices[s->device[d->index]].x[s->device_state[d->index]]));
	const LinearGroup *g = &s->groups[d->group];
	const int dof = g->dof[d->index];
	return DIFFERENCE_STEP *
	       (d->kind == DIRECTION_COORDINATE ? g->scale[dof] : fmax(g->scale[dof], fabs(g->about.u[dof])));
}

/* The simulation displaced by h, and put back. */
static CalStatus read_at(LinearSystem *s, const LinearDirection *d, double h, double *read) {
	CalStatus status = CAL_OK;
	if (d->kind == DIRECTION_INPUT) {
		const SimProbe kept = s->sim->probe; // the parameter of a path of equilibria: it is this input
		s->sim->probe = s->inputs[d->index].probe;
		s->sim->probe.value = kept.value + h;
		status = read_all(s, -1, read);
		s->sim->probe = kept;
		return status;
	}
	if (d->kind == DIRECTION_DEVICE) {
		double *x = &s->sim->devices[s->device[d->index]].x[s->device_state[d->index]];
		const double was = *x;
		*x += h;
		status = read_all(s, -1, read);
		*x = was;
		return status;
	}
	LinearGroup *g = &s->groups[d->group];
	if (d->kind == DIRECTION_COORDINATE)
		status = linear_group_move(g, d->index, h);
	else
		linear_group_speed_up(g, d->index, h);
	if (status == CAL_OK)
		status = read_all(s, d->group, read);
	linear_group_restore(g);
	return status;
}

/* The largest of the forces, rates of devices, outputs or speeds that reading i is among. */
static double size_beside(const LinearSystem *s, int i) {
	const int ends[] = {0, s->device_at, s->output_at, s->speed_at, s->read_count};
	int part = 0;
	while (i >= ends[part + 1])
		part++;
	double size = 0;
	for (int p = 0; p < 5; p++)
		for (int k = ends[part]; k < ends[part + 1]; k++)
			size = fmax(size, fabs(s->read[p][k]));
	return size;
}

/* Of what is smooth the second difference over 2h, halved, is twice that over h. */
static bool has_kink(const LinearSystem *s, int i, double h) {
	static const double round_off = 1e-12, share = 1e-3, least_slope = 1e-9;
	const double f = s->read[0][i], far_low = s->read[1][i] - f, low = s->read[2][i] - f, high = s->read[3][i] - f,
				 far_high = s->read[4][i] - f;
	const double one = fabs(high + low), two = 0.5 * fabs(far_high + far_low);
	const double size = fmax(fmax(fabs(far_low), fabs(far_high)), fmax(fabs(low), fabs(high)));
	if (!(fmax(one, two) > share * size + least_slope * h) || !(fmax(one, two) > round_off * size_beside(s, i)))
		return false;
	return two < 1.5 * one || two > 8 * one + share * size;
}

static void warn_once(LinearSystem *s, const LinearDirection *d, int i) {
	if (s->kink_count++ == 0) {
		s->kink = *d;
		s->kink_read = i;
	}
}

CalStatus linear_system_slope(LinearSystem *s, const LinearDirection *d) {
	const double h = step_of(s, d);
	CalStatus status = CAL_OK;
	bool found = false;
	memset(s->read[0] + s->speed_at, 0, (size_t)(s->read_count - s->speed_at) * sizeof(double));
	for (int p = 0; p < 4 && status == CAL_OK; p++)
		status = read_at(s, d, points[p] * h, s->read[1 + p]);
	for (int i = 0; i < s->read_count && status == CAL_OK; i++) {
		const double near = s->read[3][i] - s->read[2][i], far = s->read[4][i] - s->read[1][i];
		s->slope[i] = (8 * near - far) / (12 * h);
		if (!found && has_kink(s, i, h)) {
			warn_once(s, d, i);
			found = true;
		}
	}
	return status;
}
