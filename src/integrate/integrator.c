// SPDX-License-Identifier: Apache-2.0
/*
 * integrator.c — the integrator object: its memory, its options, and the loop to an end time.
 *
 * The object and all its arrays live in one block of the caller's or of one allocation. The end time is
 * met exactly: fixed steps are counted, not summed, and only the last one is shorter (a rest of
 * less than 1e-6 of a step, as rounding leaves it, is taken into the last step instead of making
 * one of its own); adaptive schemes stretch or halve what remains. Both directions of time are allowed.
 *
 * A step covers exactly the time between two instants that a double can hold, h = t_new - t: a size that t + h rounds away
 * would move the state further, or less far, than the clock (by 5 % at t = 1e6 s and h = 1 ns).
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/loops.h>
#include "base/assert.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "dynamics/loop/loop_rows.h"
#include "integrate/rotations.h"
#include "integrate/scheme.h"
#include "math/finite.h"
#include "model/work.h"

/* ---- methods ------------------------------------------------------------------------------- */

static const Scheme *const schemes[CAL_METHOD_COUNT] = {
#define SCHEME_ENTRY(id) [id] = &scheme_##id,
	CAL_METHOD_LIST(SCHEME_ENTRY)
#undef SCHEME_ENTRY
};

static bool method_is_known(CalMethod method) { return (int)method >= 0 && method < CAL_METHOD_COUNT; }

const CalMethodInfo *cal_method_info(CalMethod method) {
	return method_is_known(method) ? &schemes[method]->info : NULL;
}

const char *cal_method_name(CalMethod method) { return method_is_known(method) ? schemes[method]->info.name : NULL; }

int cal_method_order(CalMethod method) { return method_is_known(method) ? schemes[method]->info.order : 0; }

int cal_method_find(const char *name, CalMethod *method) {
	for (int i = 0; name && method && i < CAL_METHOD_COUNT; i++) {
		if (strcmp(name, schemes[i]->info.name) == 0) {
			*method = (CalMethod)i;
			return 0;
		}
	}
	return -1;
}

int cal_method_names(char *text, size_t size) {
	int length = 0;
	for (int i = 0; i < CAL_METHOD_COUNT; i++) {
		const char *before = i == 0 ? "" : i < CAL_METHOD_COUNT - 1 ? ", " : " or ";
		const size_t used = text && (size_t)length < size ? (size_t)length : size;
		length += snprintf(text ? text + used : NULL, text ? size - used : 0, "%s%s", before, schemes[i]->info.name);
	}
	return length;
}

/* ---- memory -------------------------------------------------------------------------------- */

static double *place_doubles(Cursor *cursor, int count) { return cursor_array(cursor, (size_t)count, sizeof(double)); }

static void place_control(CalIntegrator *ig, Cursor *cursor) {
	ig->control.q_last = place_doubles(cursor, ig->nq);
	ig->control.u_last = place_doubles(cursor, ig->nu);
	ig->control.x_last = place_doubles(cursor, ig->nx);
	CURSOR_ARRAY(cursor, ig->control.rotations, ig->nu / 3);
}

static void place_dense(CalIntegrator *ig, Cursor *cursor) {
	ig->dense.q0 = place_doubles(cursor, ig->nq);
	ig->dense.u0 = place_doubles(cursor, ig->nu);
	ig->dense.x0 = place_doubles(cursor, ig->nx);
	for (int i = 0; i < ig->scheme->dense_terms; i++) {
		ig->dense.delta[i] = place_doubles(cursor, ig->nu);
		ig->dense.u[i] = place_doubles(cursor, ig->nu);
		ig->dense.x[i] = place_doubles(cursor, ig->nx);
	}
}

/** The object at the cursor's base, and its arrays after it. */
static void place_arrays(CalIntegrator *ig, Cursor *cursor) {
	cursor_array(cursor, 1, sizeof *ig);
	CURSOR_ARRAY(cursor, ig->parts, ig->part_count);
	CURSOR_ARRAY(cursor, ig->states, ig->part_count);
	CURSOR_ARRAY(cursor, ig->inputs, ig->part_count);
	ig->stage.q = place_doubles(cursor, ig->nq);
	ig->stage.u = place_doubles(cursor, ig->nu);
	ig->stage.x = place_doubles(cursor, ig->nx);
	ig->delta = place_doubles(cursor, ig->nu);
	ig->scratch = place_doubles(cursor, ig->nu > ig->nx ? ig->nu : ig->nx);
	for (int i = 0; i < ig->scheme->stages; i++) {
		ig->delta_rate[i] = place_doubles(cursor, ig->nu);
		ig->u_rate[i] = place_doubles(cursor, ig->nu);
		ig->x_rate[i] = place_doubles(cursor, ig->nx);
	}
	if (ig->scheme->info.adaptive) {
		place_control(ig, cursor);
	}
	if (ig->scheme->dense_terms > 0) {
		place_dense(ig, cursor);
	}
}

static bool system_is_valid(const CalSystem *system) {
	if (!system || system->count < 1 || !system->parts || system->nx < 0 || system->quadratures < 0 ||
	    system->quadratures > system->nx || (system->nx > 0 && !system->input)) {
		return false;
	}
	for (int i = 0; i < system->count; i++) {
		if (!system->parts[i].model) {
			return false;
		}
	}
	return true;
}

/** The object without its arrays. */
static CalIntegrator layout_size(const CalSystem *system, CalMethod method) {
	CalIntegrator ig = {.scheme = schemes[method],
	                    .part_count = system->count,
	                    .input = system->input,
	                    .scale = system->scale,
	                    .done = system->done,
	                    .user = system->user,
	                    .failed_dof = -1,
	                    .turned_part = -1,
	                    .nx = system->nx,
	                    .checked_x = system->nx - system->quadratures};
	for (int i = 0; i < system->count; i++) {
		ig.nq += cal_model_q_count(system->parts[i].model);
		ig.nu += cal_model_u_count(system->parts[i].model);
	}
	return ig;
}

size_t cal_integrator_system_size(const CalSystem *system, CalMethod method) {
	if (!system_is_valid(system) || !method_is_known(method)) {
		return 0;
	}
	CalIntegrator layout = layout_size(system, method);
	Cursor cursor = {0};
	place_arrays(&layout, &cursor);
	return cursor_size(&cursor);
}

size_t cal_integrator_size(const CalModel *model, CalMethod method) {
	const CalSystemPart part = {.model = model};
	return cal_integrator_system_size(&(CalSystem){.parts = &part, .count = 1}, method);
}

static bool at_least_zero(double x) { return isfinite(x) && x >= 0; }

static bool options_are_valid(const CalIntegratorOptions *o) {
	return method_is_known(o->method) && at_least_zero(o->step) && at_least_zero(o->rtol) && at_least_zero(o->atol) &&
	       at_least_zero(o->min_step) && at_least_zero(o->max_step) && o->max_steps >= 0 &&
	       (o->max_step == 0 || o->min_step <= o->max_step);
}

CalIntegratorOptions cal_integrator_options(const CalIntegratorOptions *options) {
	if (!options)
		return (CalIntegratorOptions){0};
	const CalMethodInfo *info = cal_method_info(options->method);
	const bool adaptive = info && info->adaptive;
	CalIntegratorOptions used = *options;
	used.rtol = !adaptive ? 0 : options->rtol > 0 ? options->rtol : info->rtol;
	used.atol = !adaptive ? 0 : options->atol > 0 ? options->atol : info->atol;
	used.min_step = adaptive ? options->min_step : 0;
	used.max_step = adaptive ? options->max_step : 0;
	used.max_steps = options->max_steps > 0 ? options->max_steps : 1000000000;
	return used;
}

static bool is_all_prescribed(const CalModel *model) {
	for (int u = 0; u < cal_model_u_count(model); u++) {
		CalDofInfo dof;
		if (cal_model_dof(model, u, &dof) != CAL_OK || !dof.prescribed) {
			return false;
		}
	}
	return true;
}

static void fill_parts(CalIntegrator *ig, const CalSystem *system) {
	int q = 0, u = 0;
	for (int i = 0; i < system->count; i++) {
		SystemPart *part = &ig->parts[i];
		const CalModel *model = system->parts[i].model;
		bool moves = system->parts[i].motion == NULL;
		*part = (SystemPart){.is = system->parts[i],
		                     .q = q,
		                     .nq = cal_model_q_count(model),
		                     .u = u,
		                     .nu = cal_model_u_count(model),
		                     .has_loops = moves && cal_model_row_count(model) > 0,
		                     .all_prescribed = is_all_prescribed(model),
		                     .rows_move = loop_drives_move(model) != 0};
		q += part->nq;
		u += part->nu;
		ig->checked_u += moves ? part->nu : 0;
		ig->has_loops |= part->has_loops;
		ig->has_motions |= !moves || part->is.drive;
		if (moves && ig->scheme->info.adaptive) {
			StepControl *c = &ig->control;
			int found = rotations_find(model, c->rotations + c->rotation_count);
			for (int k = 0; k < found; k++) {
				c->rotations[c->rotation_count++] += part->u;
			}
		}
	}
}

CalStatus cal_integrator_init_system(const CalSystem *system, const CalIntegratorOptions *options, void *memory,
                                     size_t size, CalIntegrator **integrator) {
	if (!options || !memory || !integrator || !options_are_valid(options) ||
	    (uintptr_t)memory % MEMORY_ALIGNMENT != 0 || !system_is_valid(system) ||
	    size < cal_integrator_system_size(system, options->method)) {
		return CAL_ERR_ARGUMENT;
	}
	for (int i = 0; i < system->count; i++) {
		if (!system->parts[i].work) {
			return CAL_ERR_ARGUMENT;
		}
	}
	if (schemes[options->method]->info.missing) {
		return CAL_ERR_UNSUPPORTED;
	}
	CalIntegrator *ig = memory;
	*ig = layout_size(system, options->method);
	ig->options = cal_integrator_options(options);
	Cursor cursor = cursor_over(memory, size);
	place_arrays(ig, &cursor);
	fill_parts(ig, system);
	for (int i = 0; i < system->count; i++) {
		system->parts[i].work->loops.singular = ig->scheme->info.adaptive ? LOOP_SINGULAR_ADAPTIVE : LOOP_SINGULAR;
	}
	cal_integrator_reset(ig);
	const CalStatus status = ig->scheme->create ? ig->scheme->create(ig) : CAL_OK;
	*integrator = status == CAL_OK ? ig : NULL;
	return status;
}

CalStatus cal_integrator_init(const CalModel *model, CalWork *work, const CalIntegratorOptions *options, void *memory,
                              size_t size, CalIntegrator **integrator) {
	const CalSystemPart part = {.model = model, .work = work};
	return cal_integrator_init_system(&(CalSystem){.parts = &part, .count = 1}, options, memory, size, integrator);
}

CalStatus cal_integrator_create_system(const CalSystem *system, const CalIntegratorOptions *options,
                                       CalIntegrator **integrator) {
	if (!system_is_valid(system) || !options || !integrator || !method_is_known(options->method)) {
		return CAL_ERR_ARGUMENT;
	}
	size_t size = cal_integrator_system_size(system, options->method);
	void *memory = memory_alloc_aligned(size);
	if (!memory) {
		return CAL_ERR_MEMORY;
	}
	CalStatus status = cal_integrator_init_system(system, options, memory, size, integrator);
	if (status != CAL_OK) {
		memory_free_aligned(memory);
		return status;
	}
	(*integrator)->owned = memory;
	return CAL_OK;
}

CalStatus cal_integrator_create(const CalModel *model, CalWork *work, const CalIntegratorOptions *options,
                                CalIntegrator **integrator) {
	const CalSystemPart part = {.model = model, .work = work};
	return cal_integrator_create_system(&(CalSystem){.parts = &part, .count = 1}, options, integrator);
}

void cal_integrator_destroy(CalIntegrator *integrator) {
	if (!integrator) {
		return;
	}
	if (integrator->scheme->destroy) {
		integrator->scheme->destroy(integrator);
	}
	memory_free_aligned(integrator->owned);
}

void cal_integrator_reset(CalIntegrator *integrator) {
	if (!integrator)
		return;
	integrator->control.h_next = integrator->options.step;
	integrator->control.error_last = 1e-4;
	integrator->control.reusable = false;
}

void cal_integrator_renew(CalIntegrator *integrator) {
	if (integrator)
		integrator->control.reusable = false;
}

int cal_integrator_failed_dof(const CalIntegrator *integrator) { return integrator ? integrator->failed_dof : -1; }

CalIntegratorStats cal_integrator_stats(const CalIntegrator *integrator) {
	return integrator ? integrator->stats : (CalIntegratorStats){0};
}

/* ---- the end of a step ----------------------------------------------------------------------- */

typedef struct Move {
	double *from_q, *from_u, *to_q, *to_u;
} Move;

static CalStatus move_slice(CalIntegrator *ig, const Slice *slice, const void *argument) {
	const Move *move = argument;
	(void)ig;
	for (int k = 0, first, count; (count = slice_q(slice, k, &first)) > 0; k++) {
		memcpy(move->to_q + first, move->from_q + first, (size_t)count * sizeof(double));
	}
	for (int k = 0, first, count; (count = slice_u(slice, k, &first)) > 0; k++) {
		memcpy(move->to_u + first, move->from_u + first, (size_t)count * sizeof(double));
	}
	return CAL_OK;
}

static bool slice_is_finite(const Slice *slice, const CalState *state) {
	bool finite = true;
	for (int k = 0, first, count; (count = slice_q(slice, k, &first)) > 0; k++) {
		finite = finite && all_finite(state->q + first, count);
	}
	for (int k = 0, first, count; (count = slice_u(slice, k, &first)) > 0; k++) {
		finite = finite && all_finite(state->u + first, count);
	}
	return finite;
}

static CalStatus check_slice(CalIntegrator *ig, const Slice *slice, const void *argument) {
	(void)argument;
	return slice_is_finite(slice, &ig->stage) ? CAL_OK : CAL_NOT_FINITE;
}

/* cos of half the angle from rest, of the quaternion as it is: it changes its sign at half a turn. */
static double half_turn_value(const BallSpring *spring, const double *q) {
	const double *at = q + spring->q;
	const CalQuat rest = spring->rest;
	return rest.w * at[0] + rest.x * at[1] + rest.y * at[2] + rest.z * at[3];
}

static bool has_ball_springs(const CalIntegrator *ig) {
	bool any = false;
	for (int i = 0; i < ig->part_count; i++)
		any |= ig->parts[i].is.model->ball_spring_count > 0;
	return any;
}

/* Springs of quaternions whose moment has jumped in the step to ig->stage. */
static void note_half_turns(CalIntegrator *ig, const CalState *state, double t) {
	for (int i = 0; i < ig->part_count; i++) {
		const SystemPart *part = &ig->parts[i];
		const CalModel *model = part->is.model;
		for (int k = 0; k < model->ball_spring_count && !part->is.motion; k++) {
			const BallSpring *spring = &model->ball_springs[k];
			const double *before = state->q + part->q, *after = ig->stage.q + part->q;
			if (part->is.branches && !branches_know_dof(part->is.branches, spring->u))
				continue; // it is another rank's
			if (half_turn_value(spring, before) * half_turn_value(spring, after) < 0)
				ig->turned_part = i, ig->turned_u = spring->u, ig->turned_at = t;
		}
	}
}

static void note_step(CalIntegrator *ig, CalState *state, double t) {
	CAL_ASSERT(isfinite(t) && t != state->t); // a step that was accepted moves the time
	ig->stats.steps++;
	ig->stats.last_step = t - state->t;
	state->t = t;
}

CalStatus integrator_commit(CalIntegrator *ig, CalState *state, double t) {
	const int every = ig->options.projection ? ig->options.projection : 1;
	CAL_ASSERT(ig->stage.q != state->q && ig->stage.u != state->u); // the state is untouched until all is well
	CalStatus status = system_each(ig, check_slice, NULL);
	if (status != CAL_OK || !all_finite(ig->stage.x, ig->nx)) {
		return CAL_NOT_FINITE;
	}
	ig->stage.t = t;
	status = system_impose(ig, &ig->stage);
	if (status == CAL_OK && ig->has_loops && every > 0 && (ig->stats.steps + 1) % every == 0) {
		status = system_project(ig, t);
	}
	if (status != CAL_OK) {
		return status;
	}
	note_half_turns(ig, state, t);
	const Move move = {ig->stage.q, ig->stage.u, state->q, state->u};
	system_each(ig, move_slice, &move);
	if (ig->nx > 0) {
		memcpy(state->x, ig->stage.x, (size_t)ig->nx * sizeof(double));
	}
	note_step(ig, state, t);
	return CAL_OK;
}

/* ---- u first, then q with the new u ------------------------------------------------------------ */

typedef struct HalfExplicit {
	CalState from, to; // of the step; `from` is kept in stage where they are the same
	double h;
} HalfExplicit;

/** A branch has its part of the state where it started from, and keeps it. */
static CalStatus half_explicit_branch(const SystemPart *part, const BranchSlice *b, const HalfExplicit *step) {
	const int nu = cal_model_u_count(b->model), nq = cal_model_q_count(b->model);
	double *u = b->u_own[0], *delta = b->u_own[1];
	for (int i = 0; i < nu; i++) {
		u[i] = b->u[i] + step->h * b->udot[i];
		delta[i] = step->h * u[i];
	}
	cal_config_integrate(b->model, b->q, delta, b->q_own);
	segments_scatter(b->q_segment, b->q_segments, b->q_own, step->to.q + part->q);
	segments_scatter(b->u_segment, b->u_segments, u, step->to.u + part->u);
	return all_finite(u, nu) && all_finite(b->q_own, nq) ? CAL_OK : CAL_NOT_FINITE;
}

static CalStatus half_explicit_slice(CalIntegrator *ig, const Slice *slice, const void *argument) {
	const HalfExplicit *step = argument;
	if (slice->branch) {
		return half_explicit_branch(slice->part, slice->branch, step);
	}
	if (step->from.q == step->to.q) {
		move_slice(ig, slice, &(Move){step->from.q, step->from.u, ig->stage.q, ig->stage.u});
	}
	for (int i = slice->part->u; i < slice->part->u + slice->part->nu; i++) {
		step->to.u[i] = step->from.u[i] + step->h * ig->u_rate[0][i];
		ig->delta[i] = step->h * step->to.u[i];
	}
	slice_integrate(slice, step->from.q, ig->delta, step->to.q);
	return slice_is_finite(slice, &step->to) ? CAL_OK : CAL_NOT_FINITE;
}

/** States of parts that were reached go back to what they were. */
static CalStatus restore_slice(CalIntegrator *ig, const Slice *slice, const void *argument) {
	const CalState *state = argument;
	const BranchSlice *b = slice->branch;
	if (slice->part - ig->parts >= ig->reached) {
		return CAL_OK;
	}
	if (!b) {
		return move_slice(ig, slice, &(Move){ig->stage.q, ig->stage.u, state->q, state->u});
	}
	segments_scatter(b->q_segment, b->q_segments, b->q, state->q + slice->part->q);
	segments_scatter(b->u_segment, b->u_segments, b->u, state->u + slice->part->u);
	return CAL_OK;
}

/*
 * Where nothing is left to be done between the new values and the end of the step they are written in place, by whoever
 * found them: no other thread has to touch them.
 */
CalStatus integrator_half_explicit(CalIntegrator *ig, CalState *state, double h, double t, bool implicit) {
	const bool in_place =
		!ig->has_loops && !ig->has_motions && !has_ball_springs(ig); // of those both ends are compared
	const HalfExplicit step = {*state, in_place ? *state : ig->stage, h};
	CalStatus status = system_evaluate_own(ig, state, implicit ? h : 0, half_explicit_slice, &step);
	for (int i = 0; i < ig->nx; i++) {
		ig->stage.x[i] = state->x[i] + h * ig->x_rate[0][i];
	}
	if (!in_place) {
		return status == CAL_OK ? integrator_commit(ig, state, t) : status;
	}
	if (status == CAL_OK && !all_finite(ig->stage.x, ig->nx)) {
		status = CAL_NOT_FINITE;
	}
	if (status != CAL_OK) {
		system_each(ig, restore_slice, state);
		return status;
	}
	if (ig->nx > 0) {
		memcpy(state->x, ig->stage.x, (size_t)ig->nx * sizeof(double));
	}
	note_step(ig, state, t);
	return CAL_OK;
}

/* ---- stepping ------------------------------------------------------------------------------ */

/** Smallest step of a call that covers `span`. */
static double min_step(const CalIntegrator *ig, double span) {
	return ig->options.min_step > 0 ? ig->options.min_step : 1e-14 * fabs(span);
}

CalStatus integrator_step_to(CalIntegrator *ig, CalState *state, double t_new) {
	if (t_new == state->t) {
		return CAL_STEP_TOO_SMALL;
	}
	ig->failed_dof = -1;
	CalStatus status = system_impose(ig, state);
	return status == CAL_OK ? ig->scheme->step(ig, state, t_new - state->t, t_new) : status;
}

CalStatus cal_integrator_step(CalIntegrator *integrator, CalState *state, double h) {
	if (!integrator || !state || !isfinite(h) || h == 0 || !isfinite(state->t) || (integrator->nx > 0 && !state->x)) {
		return CAL_ERR_ARGUMENT;
	}
	integrator->control.h_min = min_step(integrator, h);
	return integrator_step_to(integrator, state, state->t + h);
}

void integrator_watch(CalIntegrator *integrator, StepEndFn step_end, void *user) {
	integrator->step_end = step_end;
	integrator->step_end_user = user;
}

static void end_step(const CalIntegrator *ig, const CalState *state) {
	if (ig->step_end)
		ig->step_end(ig->step_end_user, state);
}

static CalStatus advance_adaptive(CalIntegrator *ig, CalState *state, double t_end) {
	enum { STALLED = 200000 }; // steps for less than 1e-6 of what is left: it would not end
	double marked = state->t;
	ig->control.h_min = min_step(ig, t_end - state->t);
	for (int64_t k = 0; state->t != t_end && !(k > 0 && integrator_is_stopped(ig)); k++) {
		if (k == ig->options.max_steps) {
			return CAL_TOO_MANY_STEPS;
		}
		if (k % STALLED == STALLED - 1) {
			if (fabs(state->t - marked) < 1e-6 * fabs(t_end - marked)) {
				return CAL_STEP_TOO_SMALL;
			}
			marked = state->t;
		}
		CalStatus status = ig->scheme->step(ig, state, t_end - state->t, t_end);
		if (status != CAL_OK) {
			return status;
		}
		end_step(ig, state);
	}
	return CAL_OK;
}

static CalStatus advance_fixed(CalIntegrator *ig, CalState *state, double t_end) {
	double t0 = state->t, span = t_end - t0, h = copysign(ig->options.step, span);
	if (h == 0) {
		return CAL_ERR_ARGUMENT;
	}
	if (t0 + h == t0 || t_end - h == t_end) {
		return CAL_STEP_TOO_SMALL;
	}
	double count = fmax(1, ceil(span / h - 1e-6));
	for (int64_t k = 1; (double)k <= count && !(k > 1 && integrator_is_stopped(ig)); k++) {
		if (k > ig->options.max_steps) {
			return CAL_TOO_MANY_STEPS;
		}
		const double t_new = (double)k >= count ? t_end : t0 + (double)k * h;
		if (t_new == state->t) {
			continue; // shorter than the rounding of the time: the next one is longer
		}
		CalStatus status = ig->scheme->step(ig, state, t_new - state->t, t_new);
		if (status != CAL_OK) {
			return status;
		}
		end_step(ig, state);
	}
	return CAL_OK;
}

CalStatus cal_integrator_advance(CalIntegrator *integrator, CalState *state, double t_end) {
	if (!integrator || !state || !isfinite(t_end) || !isfinite(state->t) || (integrator->nx > 0 && !state->x)) {
		return CAL_ERR_ARGUMENT;
	}
	if (state->t == t_end) {
		return CAL_OK;
	}
	integrator->failed_dof = -1;
	CalStatus status = system_impose(integrator, state);
	if (status != CAL_OK) {
		return status;
	}
	return integrator->scheme->info.adaptive ? advance_adaptive(integrator, state, t_end)
	                                         : advance_fixed(integrator, state, t_end);
}

/* ---- dense output -------------------------------------------------------------------------- */

CalStatus dense_place(const DenseOutput *dense, double t, double *theta) {
	if (!dense->valid) {
		return CAL_ERR_STAGE;
	}
	double h = dense->t1 - dense->t0;
	double place = (t - dense->t0) / h, slack = 4 * DBL_EPSILON * fmax(fabs(dense->t0), fabs(dense->t1)) / fabs(h);
	if (!(place >= -slack && place <= 1 + slack)) {
		return CAL_ERR_ARGUMENT;
	}
	*theta = fmin(1, fmax(0, place));
	return CAL_OK;
}

CalStatus cal_integrator_interpolate(const CalIntegrator *integrator, double t, CalState *out) {
	if (!integrator || !out || !isfinite(t)) {
		return CAL_ERR_ARGUMENT;
	}
	return integrator->scheme->interpolate ? integrator->scheme->interpolate(integrator, t, out) : CAL_ERR_UNSUPPORTED;
}

CalStatus cal_integrator_acceleration(const CalIntegrator *integrator, double t, double *udot) {
	if (!integrator || !udot || !isfinite(t)) {
		return CAL_ERR_ARGUMENT;
	}
	return integrator->scheme->acceleration ? integrator->scheme->acceleration(integrator, t, udot)
	                                        : CAL_ERR_UNSUPPORTED;
}
