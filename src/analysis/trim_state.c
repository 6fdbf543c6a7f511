// SPDX-License-Identifier: Apache-2.0
/*
 * trim_state.c — states of a simulation at rest.
 *
 * A step displaces the independent coordinates; those that loops make dependent follow by projection with the independent ones
 * held.
 */
#include <math.h>
#include <string.h>

#include <calder/closed.h>

#include "analysis/trim_state.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "dynamics/tree/forces.h"
#include "linear/differences.h"
#include "math/philox.h"

/* ---- making ----------------------------------------------------------------------------------------- */

static void layout_state(TrimState *s, Cursor *cursor) {
	CURSOR_ARRAY(cursor, s->q, s->nq);
	CURSOR_ARRAY(cursor, s->u, s->nu);
	CURSOR_ARRAY(cursor, s->x, s->nx);
	CURSOR_ARRAY(cursor, s->way, s->widest);
	CURSOR_ARRAY(cursor, s->v, s->widest);
	CURSOR_ARRAY(cursor, s->M, (size_t)s->widest * (size_t)s->widest);
	CURSOR_ARRAY(cursor, s->held, s->widest);
	CURSOR_ARRAY(cursor, s->fixed, s->widest);
}

CalStatus trim_state_create(TrimState *s, CalSim *sim, const CalAllocator *allocator) {
	*s = (TrimState){.sim = sim, .allocator = *allocator};
	for (int g = 0; g < sim->group_count; g++) {
		const int nu = cal_model_u_count(sim->groups[g].model);
		s->nq += cal_model_q_count(sim->groups[g].model);
		s->nu += nu;
		s->widest = nu > s->widest ? nu : s->widest;
	}
	for (int i = 0; i < sim->device_count; i++)
		s->nx += sim->devices[i].def.nx;
	Cursor cursor = {0};
	layout_state(s, &cursor);
	s->memory = cursor_alloc_zeroed(&cursor, allocator);
	if (!s->memory)
		return CAL_ERR_MEMORY;
	layout_state(s, &cursor);
	return CAL_OK;
}

void trim_state_release(TrimState *s) { memory_free(&s->allocator, s->memory); }

/* ---- saved ------------------------------------------------------------------------------------------ */

static void copy_numbers(double *to, const double *from, int count) {
	if (count > 0)
		memcpy(to, from, (size_t)count * sizeof *to);
}

/* Both ways. */
static void copy_all(TrimState *s, bool save) {
	double *q = s->q, *u = s->u, *x = s->x;
	for (int g = 0; g < s->sim->group_count; g++) {
		SimGroup *group = &s->sim->groups[g];
		const int nq = cal_model_q_count(group->model), nu = cal_model_u_count(group->model);
		copy_numbers(save ? q : group->state.q, save ? group->state.q : q, nq);
		copy_numbers(save ? u : group->state.u, save ? group->state.u : u, nu);
		q += nq;
		u += nu;
	}
	for (int i = 0; i < s->sim->device_count; i++) {
		SimDevice *device = &s->sim->devices[i];
		copy_numbers(save ? x : device->x, save ? device->x : x, device->def.nx);
		x += device->def.nx;
	}
	s->sim->inputs_known = false;
}

void trim_state_save(TrimState *s) { copy_all(s, true); }
void trim_state_restore(TrimState *s) { copy_all(s, false); }

/* ---- at rest ----------------------------------------------------------------------------------------- */

/* Which speeds of a group are prescribed, by the inputs of the last evaluation. */
static void find_held(TrimState *s, int group) {
	const CalModel *model = s->sim->groups[group].model;
	const uint8_t *prescribed = forces_prescribed(model, &s->sim->system.inputs[group]);
	for (int i = 0; i < cal_model_u_count(model); i++)
		s->held[i] = prescribed ? prescribed[i] : 0;
}

/* Dependent speeds of a group that prescribed ones move. */
static CalStatus follow_drives(TrimState *s, SimGroup *group) {
	CalProjection *projection = NULL;
	CalStatus status = cal_projection_create(group->model, &projection);
	const CalProjectionOptions options = {.held = s->held};
	if (status == CAL_OK)
		status = cal_projection_update(projection, &group->state, &options, group->view_work);
	memset(s->v, 0, (size_t)s->widest * sizeof *s->v);
	if (status == CAL_OK)
		status = cal_projection_speeds(projection, s->v, group->state.u);
	cal_projection_destroy(projection);
	return status;
}

static CalStatus rest_group(TrimState *s, int index) {
	SimGroup *group = &s->sim->groups[index];
	bool driven = false;
	find_held(s, index);
	for (int i = 0; i < cal_model_u_count(group->model); i++) {
		group->state.u[i] = s->held[i] ? group->state.u[i] : 0;
		driven |= group->state.u[i] != 0;
	}
	return driven && cal_model_row_count(group->model) > 0 ? follow_drives(s, group) : CAL_OK;
}

CalStatus trim_state_rest(TrimState *s) {
	CalEvalContext context;
	CalStatus status = sim_evaluate_for_observers(s->sim, true, &context);
	for (int g = 0; g < s->sim->group_count && status == CAL_OK; g++)
		if (!s->sim->groups[g].motion)
			status = rest_group(s, g);
	return status;
}

/* ---- displaced ----------------------------------------------------------------------------------------- */

/* Displaces a group by way[nu] and closes its loops with `fixed` held. */
static CalStatus displace_group(TrimState *s, int index, const uint8_t *fixed, int search) {
	SimGroup *group = &s->sim->groups[index];
	const CalProjectOptions how = {.frozen = fixed, .search = search};
	cal_config_integrate(group->model, group->state.q, s->way, group->state.q);
	if (cal_model_row_count(group->model) == 0)
		return CAL_OK;
	return cal_loop_project(group->model, &group->state, &how, group->view_work, NULL);
}

/* The part of d that belongs to a group, to way and fixed. */
static void take_group(TrimState *s, const CalStateSpace *space, int group, const double *d) {
	find_held(s, group);
	memcpy(s->fixed, s->held, (size_t)s->widest);
	memset(s->way, 0, (size_t)s->widest * sizeof *s->way);
	for (int i = 0; i < space->state_count; i++)
		if (space->places[i].kind == CAL_STATE_COORDINATE && space->places[i].object == group) {
			s->way[space->places[i].index] = d[i];
			s->fixed[space->places[i].index] = 1;
		}
}

CalStatus trim_state_move(TrimState *s, const CalStateSpace *space, const double *d) {
	int coordinates = 0;
	CalStatus status = CAL_OK;
	trim_state_restore(s);
	for (int i = 0; i < space->state_count; i++)
		coordinates += space->places[i].kind == CAL_STATE_COORDINATE;
	for (int g = 0; g < s->sim->group_count && status == CAL_OK; g++) {
		if (s->sim->groups[g].motion)
			continue;
		take_group(s, space, g, d);
		status = displace_group(s, g, s->fixed, -1);
	}
	for (int i = 2 * coordinates; i < space->state_count; i++)
		s->sim->devices[space->places[i].object].x[space->places[i].index] += d[i - coordinates];
	return status == CAL_OK ? trim_state_rest(s) : status;
}

CalStatus trim_state_scatter(TrimState *s, const CalTrimOptions *o) {
	const double spread = o->spread > 0 ? o->spread : 3.141592653589793;
	uint64_t stream = 0;
	CalStatus status = CAL_OK;
	for (int g = 0; g < s->sim->group_count && status == CAL_OK; g++) {
		const SimGroup *group = &s->sim->groups[g];
		if (group->motion)
			continue;
		find_held(s, g);
		status = cal_mass_matrix(group->model, &group->state, group->view_work, s->M);
		difference_scales(group->model, s->M, s->v);
		for (int i = 0; i < cal_model_u_count(group->model); i++) {
			const double part = 2 * unit_interval(draw(o->seed, (uint64_t)o->start, stream++).a) - 1;
			s->way[i] = s->held[i] ? 0 : part * spread * s->v[i];
		}
		if (status == CAL_OK)
			status = displace_group(s, g, s->held, 1);
	}
	return status == CAL_OK ? trim_state_rest(s) : status;
}

/* ---- residuals --------------------------------------------------------------------------------------------- */

CalStatus trim_state_residual(TrimState *s, const CalStateSpace *space, double *r) {
	int last = -1, row = 0;
	CalEvalContext context;
	CalSimView view = {0};
	CalStatus status = sim_evaluate_for_observers(s->sim, true, &context);
	for (int i = 0; i < space->state_count && status == CAL_OK; i++) {
		const CalStatePlace *at = &space->places[i];
		if (at->kind == CAL_STATE_SPEED) {
			if (at->object != last)
				status = cal_sim_observe(s->sim, last = at->object, &view);
			if (status != CAL_OK || !view.udot)
				break;
			r[row++] = view.udot[at->index];
		} else if (at->kind == CAL_STATE_DEVICE)
			r[row++] = s->sim->system.xdot[s->sim->devices[at->object].x_at + at->index];
	}
	return status;
}
