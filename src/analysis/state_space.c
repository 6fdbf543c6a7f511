// SPDX-License-Identifier: Apache-2.0
/*
 * state_space.c — x' = A x + B u, y = C x + D u of a simulation [THEORY 9.4].
 *
 * With the displacements d = N y of the coordinates and n = N w + V y of the speeds of a group, y and w the changes of the
 * independent ones (rows I), f what acts and B(u) the turning of the axes (linear/turning.h):
 *   y' = w + (V + B N)_I y
 *   w' = ((Fq N + Fu V) y + Fu N w + M_c df)_I
 * Fq, Fu and M_c are those of forward dynamics with f held; V, df, the rates of devices and the outputs are slopes.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/linear_slopes.h"
#include "base/error.h"
#include "base/memory.h"
#include "linear/system_matrices.h"

/* ---- results ------------------------------------------------------------------------------------------- */

typedef struct Results {
	double *A, *B, *C, *D, *rate, *value, *origin, *q;
	CalSignalName *states, *inputs, *outputs;
	CalStatePlace *places;
	char *names; // [n + m + p][LINEAR_NAME]
	char *warning;
} Results;

static void layout_results(const LinearSystem *s, Cursor *cursor, Results *r) {
	const size_t n = (size_t)linear_system_states(s), m = (size_t)s->input_count, p = (size_t)s->output_count;
	size_t nq = 0;
	for (int g = 0; g < s->group_count; g++)
		nq += s->groups[g].model ? (size_t)cal_model_q_count(s->groups[g].model) : 0;
	CURSOR_ARRAY(cursor, r->A, n * n);
	CURSOR_ARRAY(cursor, r->B, n * m);
	CURSOR_ARRAY(cursor, r->C, p * n);
	CURSOR_ARRAY(cursor, r->D, p * m);
	CURSOR_ARRAY(cursor, r->rate, n);
	CURSOR_ARRAY(cursor, r->value, p);
	CURSOR_ARRAY(cursor, r->origin, n);
	CURSOR_ARRAY(cursor, r->q, nq);
	CURSOR_ARRAY(cursor, r->states, n);
	CURSOR_ARRAY(cursor, r->inputs, m);
	CURSOR_ARRAY(cursor, r->outputs, p);
	CURSOR_ARRAY(cursor, r->places, n);
	CURSOR_ARRAY(cursor, r->names, (n + m + p) * LINEAR_NAME);
	CURSOR_ARRAY(cursor, r->warning, LINEAR_WARNING);
}

/* ---- matrices ------------------------------------------------------------------------------------------- */

/* Column `column` of A (of B for an input) and of C (D) from the slopes. */
static void keep_slopes(const LinearSystem *s, int column, bool input, Results *r) {
	const size_t n = (size_t)linear_system_states(s), width = input ? (size_t)s->input_count : n;
	double *to = (input ? r->B : r->A) + column, *out = (input ? r->D : r->C) + column;
	const double *force = s->slope;
	for (int g = 0; g < s->group_count; g++) {
		const LinearGroup *group = &s->groups[g];
		const size_t nu = (size_t)group->nu, first = (size_t)(s->coordinate_count + group->first);
		for (size_t j = 0; j < nu; j++)
			for (int k = 0; force[j] != 0 && k < group->count; k++)
				to[(first + (size_t)k) * width] += group->Minv[(size_t)group->dof[k] * nu + j] * force[j];
		force += nu;
	}
	for (int i = 0; i < s->device_states; i++)
		to[(size_t)(2 * s->coordinate_count + i) * width] = s->slope[s->device_at + i];
	for (int i = 0; i < s->output_count; i++)
		out[(size_t)i * width] = s->slope[s->output_at + i];
}

/* Changes of the speeds along coordinate k. */
static void keep_speeds(const LinearSystem *s, LinearGroup *g, int k) {
	for (int i = 0; i < g->nu && g->rows > 0; i++)
		g->V[(size_t)i * (size_t)g->count + (size_t)k] = g->independent[i] ? 0 : s->slope[s->speed_at + i];
}

static CalStatus difference_group(LinearSystem *s, int group, Results *r) {
	LinearGroup *g = &s->groups[group];
	CalStatus status = CAL_OK;
	for (int k = 0; k < g->count && status == CAL_OK; k++) {
		status = linear_system_slope(s, &(LinearDirection){DIRECTION_COORDINATE, group, k});
		if (status != CAL_OK)
			break;
		keep_speeds(s, g, k);
		keep_slopes(s, g->first + k, false, r);
		status = linear_system_slope(s, &(LinearDirection){DIRECTION_SPEED, group, k});
		if (status == CAL_OK)
			keep_slopes(s, s->coordinate_count + g->first + k, false, r);
	}
	return status;
}

static CalStatus difference_all(LinearSystem *s, Results *r) {
	CalStatus status = CAL_OK;
	for (int g = 0; g < s->group_count && status == CAL_OK; g++)
		status = difference_group(s, g, r);
	for (int i = 0; i < s->device_states && status == CAL_OK; i++) {
		status = linear_system_slope(s, &(LinearDirection){DIRECTION_DEVICE, -1, i});
		if (status == CAL_OK)
			keep_slopes(s, 2 * s->coordinate_count + i, false, r);
	}
	for (int i = 0; i < s->input_count && status == CAL_OK; i++) {
		status = linear_system_slope(s, &(LinearDirection){DIRECTION_INPUT, -1, i});
		if (status == CAL_OK)
			keep_slopes(s, i, true, r);
	}
	return status;
}

/* sum_j F[i nu + j] X[j count + k]. */
static double product(const LinearGroup *g, const double *F, int i, const double *X, int k) {
	const double *row = F + (size_t)i * (size_t)g->nu;
	double sum = 0;
	for (int j = 0; j < g->nu; j++)
		sum += row[j] * X[(size_t)j * (size_t)g->count + (size_t)k];
	return sum;
}

/* What is known analytically is added. */
static void add_dynamics(const LinearSystem *s, const LinearGroup *g, double *A) {
	const size_t n = (size_t)linear_system_states(s), y = (size_t)g->first, w = y + (size_t)s->coordinate_count;
	for (int i = 0; i < g->count; i++) {
		double *displaced = A + (y + (size_t)i) * n, *faster = A + (w + (size_t)i) * n;
		displaced[w + (size_t)i] += 1;
		for (int k = 0; k < g->count; k++) {
			if (g->turns)
				displaced[y + (size_t)k] += product(g, g->B, g->dof[i], g->N, k);
			faster[y + (size_t)k] += product(g, g->Fq, g->dof[i], g->N, k) + product(g, g->Fu, g->dof[i], g->V, k);
			faster[w + (size_t)k] += product(g, g->Fu, g->dof[i], g->N, k);
		}
	}
}

/* ---- what goes with them ---------------------------------------------------------------------------------- */

static void keep_state(const LinearSystem *s, Results *r) {
	double *q = r->q;
	for (int g = 0; g < s->group_count; g++) {
		const LinearGroup *group = &s->groups[g];
		double *rate = r->rate + group->first, *origin = r->origin + group->first;
		for (int k = 0; k < group->count; k++) {
			rate[k] = origin[s->coordinate_count + k] = group->about.u[group->dof[k]];
			rate[s->coordinate_count + k] = group->udot[group->dof[k]];
		}
		const size_t nq = group->model ? (size_t)cal_model_q_count(group->model) : 0;
		if (nq > 0)
			memcpy(q, group->about.q, nq * sizeof *q);
		q += nq;
	}
	for (int i = 0; i < s->device_states; i++) {
		r->rate[2 * s->coordinate_count + i] = s->read[0][s->device_at + i];
		r->origin[2 * s->coordinate_count + i] = s->sim->devices[s->device[i]].x[s->device_state[i]];
	}
	memcpy(r->value, s->read[0] + s->output_at, (size_t)s->output_count * sizeof *r->value);
}

static CalSignalName keep_name(CalSignalName found, char *text) {
	if (found.name != text)
		snprintf(text, LINEAR_NAME, "%s", found.name);
	return (CalSignalName){text, found.unit};
}

static void keep_names(const LinearSystem *s, Results *r) {
	char *text = r->names;
	for (int i = 0; i < linear_system_states(s); i++, text += LINEAR_NAME) {
		r->states[i] = keep_name(linear_state_name(s, i, text), text);
		r->places[i] = linear_state_place(s, i);
	}
	for (int i = 0; i < s->input_count; i++, text += LINEAR_NAME)
		r->inputs[i] = keep_name(linear_input_name(s, i, text), text);
	for (int i = 0; i < s->output_count; i++, text += LINEAR_NAME) {
		CalSamplerColumn column;
		cal_sampler_column(s->outputs, i + 1, &column);
		r->outputs[i] = keep_name((CalSignalName){column.name, column.unit}, text);
	}
}

static const char *direction_name(const LinearSystem *s, const LinearDirection *d, const Results *r) {
	if (d->kind == DIRECTION_INPUT)
		return r->inputs[d->index].name;
	if (d->kind == DIRECTION_DEVICE)
		return r->states[2 * s->coordinate_count + d->index].name;
	return r->states[s->groups[d->group].first + d->index + (d->kind == DIRECTION_SPEED ? s->coordinate_count : 0)]
	    .name;
}

/* "the force on hinge", "x:wheel", "pose:arm.x". */
static void name_reading(const LinearSystem *s, int i, const Results *r, char *text, size_t size) {
	if (i >= s->speed_at)
		snprintf(text, size, "a speed of the loops");
	else if (i >= s->output_at)
		snprintf(text, size, "output %.100s", r->outputs[i - s->output_at].name);
	else if (i >= s->device_at)
		snprintf(text, size, "the rate of %.100s", r->states[2 * s->coordinate_count + i - s->device_at].name);
	else {
		char name[100] = "";
		int g = 0;
		for (; i >= s->groups[g].nu; g++)
			i -= s->groups[g].nu;
		cal_model_dof_name(s->groups[g].model, i, name, sizeof name);
		snprintf(text, size, "the force on %s", name);
	}
}

/* An input without any effect; -1: there is none. */
static int idle_input(const LinearSystem *s, const Results *r) {
	for (int j = 0; j < s->input_count; j++) {
		bool acts = false;
		for (int i = 0; i < linear_system_states(s) && !acts; i++)
			acts = r->B[(size_t)i * (size_t)s->input_count + (size_t)j] != 0;
		for (int i = 0; i < s->output_count && !acts; i++)
			acts = r->D[(size_t)i * (size_t)s->input_count + (size_t)j] != 0;
		if (!acts)
			return j;
	}
	return -1;
}

static void keep_warning(const LinearSystem *s, Results *r) {
	char what[140];
	const int idle = idle_input(s, r);
	int used = 0;
	if (s->kink_count > 0) {
		name_reading(s, s->kink_read, r, what, sizeof what);
		used = snprintf(r->warning, LINEAR_WARNING,
		                "%s jumps or bends within the differences along %.100s%s; the slope is that across them", what,
		                direction_name(s, &s->kink, r), s->kink_count > 1 ? " (and others likewise)" : "");
	}
	if (idle >= 0)
		snprintf(r->warning + used, LINEAR_WARNING - (size_t)used, "%sinput %.100s has no effect at this state",
		         used ? "; " : "", r->inputs[idle].name);
}

/* ---- the call -------------------------------------------------------------------------------------------- */

static CalStatus find_results(LinearSystem *s, Results *r) {
	CalStatus status = difference_all(s, r);
	if (status != CAL_OK)
		return status;
	for (int g = 0; g < s->group_count; g++)
		add_dynamics(s, &s->groups[g], r->A);
	keep_state(s, r);
	keep_names(s, r);
	keep_warning(s, r);
	return CAL_OK;
}

static void give_results(const LinearSystem *s, const Results *r, void *memory, CalStateSpace *space) {
	*space = (CalStateSpace){.time = cal_sim_time(s->sim),
	                         .state_count = linear_system_states(s),
	                         .input_count = s->input_count,
	                         .output_count = s->output_count,
	                         .A = r->A,
	                         .B = r->B,
	                         .C = r->C,
	                         .D = r->D,
	                         .states = r->states,
	                         .inputs = r->inputs,
	                         .outputs = r->outputs,
	                         .places = r->places,
	                         .rate = r->rate,
	                         .value = r->value,
	                         .warning = r->warning,
	                         .origin = r->origin,
	                         .q = r->q,
	                         .generation = cal_sim_generation(s->sim),
	                         .allocator = s->allocator,
	                         .memory = memory};
}

static CalStatus report_failure(const LinearSystem *s, CalStatus status, CalError *error) {
	char place[200] = "", name[96] = "";
	const CalSim *sim = s->sim;
	if (s->failed_group >= 0) {
		const LinearGroup *g = &s->groups[s->failed_group];
		if (g->chosen > 0 && (status == CAL_ERR_ARGUMENT || status == CAL_SINGULAR))
			return error_set(
				error, CAL_ERR_INPUT, "group \"%.60s\": %s; calder info prints mobility and choices",
				cal_model_name(g->model),
				status == CAL_SINGULAR
					? "the independent coordinates that were named do not determine the others at this state"
					: "the independent coordinates that were named are not as many as its mobility, or one is "
					  "prescribed");
		const int dof = cal_derivatives_failed_dof(g->derivatives);
		if (dof >= 0)
			cal_model_dof_name(g->model, dof, name, sizeof name);
		snprintf(place, sizeof place, " (group \"%.60s\"%s%s)", cal_model_name(g->model), name[0] ? ", joint " : "",
		         name);
	} else if (status == CAL_ERR_USER && sim->failed_device >= 0 && sim->failed_device < sim->device_count)
		snprintf(place, sizeof place, " (device \"%.80s\")", sim->devices[sim->failed_device].def.name);
	return error_set(error, status, "cannot linearize at t = %.9g s: %s%s%s%.200s", cal_sim_time(sim),
	                 cal_status_text(status), place, sim->why_failed[0] ? ": " : "", sim->why_failed);
}

static CalStatus check_sim(const CalSim *sim, CalError *error) {
	for (int g = 0; g < sim->group_count; g++)
		if (nonholonomic_loop(sim->groups[g].model))
			return error_set(
				error, CAL_ERR_UNSUPPORTED,
				"cal_sim_state_space: loop \"%.100s\" constrains speeds and not positions (rolling, knife edge); "
				"its system has more coordinates than speeds, which this does not know",
				nonholonomic_loop(sim->groups[g].model));
	if (sim->ranks)
		return error_set(error, CAL_ERR_UNSUPPORTED, "cal_sim_state_space: the simulation is distributed over ranks");
	if (subsystems_first(sim))
		return error_set(
			error, CAL_ERR_UNSUPPORTED,
			"cal_sim_state_space: subsystem \"%.100s\" is tied to the groups by constraints that this does "
			"not know; take it as part of its group (component: false), or the model without it",
			subsystems_first(sim));
	return CAL_OK;
}

/* Of a system that has been created. */
static CalStatus linearize(LinearSystem *s, const CalStateSpaceOptions *o, CalStateSpace *space, CalError *error) {
	Results r;
	Cursor cursor = {0};
	CalStatus status = linear_independent_find(s, o->independent, o->independent_count, error);
	if (status != CAL_OK)
		return status;
	status = linear_system_find(s);
	if (status != CAL_OK)
		return report_failure(s, status, error);
	status = linear_inputs_find(s, o->inputs, o->input_count, error);
	if (status == CAL_OK)
		status = linear_outputs_find(s, o->outputs, o->output_count, error);
	if (status != CAL_OK)
		return status;
	layout_results(s, &cursor, &r);
	void *memory = cursor_alloc_zeroed(&cursor, &s->allocator);
	if (!memory)
		return error_set(error, CAL_ERR_MEMORY, "out of memory for the matrices of %d states", linear_system_states(s));
	layout_results(s, &cursor, &r);
	status = linear_system_begin(s);
	if (status == CAL_OK)
		status = find_results(s, &r);
	if (status == CAL_OK) {
		give_results(s, &r, memory, space);
		return CAL_OK;
	}
	memory_free(&s->allocator, memory);
	return report_failure(s, status, error);
}

CalStatus cal_sim_state_space(CalSim *sim, const CalStateSpaceOptions *options, CalStateSpace *space, CalError *error) {
	static const CalStateSpaceOptions none = {0};
	const CalStateSpaceOptions *o = options ? options : &none;
	if (!sim || !space)
		return error_null(error, __func__, !sim ? "sim" : "space");
	*space = (CalStateSpace){0};
	if (o->input_count < 0 || o->output_count < 0 || (o->input_count > 0 && !o->inputs) ||
	    (o->output_count > 0 && !o->outputs) || o->independent_count < 0 ||
	    (o->independent_count > 0 && !o->independent) || !allocator_is_valid(&o->allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_state_space: the options are not valid");
	CalStatus status = check_sim(sim, error);
	if (status == CAL_OK && !sim->started)
		status = cal_sim_restart(sim, error);
	if (status != CAL_OK)
		return status;
	LinearSystem system;
	const CalAllocator allocator = allocator_or_default(&o->allocator);
	status = linear_system_create(&system, sim, &allocator);
	status = status == CAL_OK ? linearize(&system, o, space, error)
	                          : error_set(error, status, "cal_sim_state_space: %s", cal_status_text(status));
	linear_system_release(&system);
	return status;
}

void cal_state_space_release(CalStateSpace *space) {
	if (!space || !space->memory)
		return;
	memory_free(&space->allocator, space->memory);
	*space = (CalStateSpace){0};
}
