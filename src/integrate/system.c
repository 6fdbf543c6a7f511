// SPDX-License-Identifier: Apache-2.0
/*
 * system.c — several models as one: what a scheme does with the configuration, the rates and the loops of all of them.
 *
 * Arrays of all parts follow one another, in the order of the parts; a part sees its piece of them. All inputs are
 * asked for before the first part is evaluated, so that forces between parts are those of one instant.
 */
#include <math.h>
#include <string.h>

#include <calder/linear.h>
#include <calder/loops.h>
#include "dynamics/forward_halves.h"
#include "dynamics/loop/loop_rows.h"
#include "dynamics/tree/forces.h"
#include "integrate/scheme.h"

/* ---- slices ---------------------------------------------------------------------------------- */

int slice_u(const Slice *slice, int k, int *first) {
	if (!slice->branch) {
		*first = slice->part->u;
		return k == 0 ? slice->part->nu : 0;
	}
	if (k >= slice->branch->u_segments) {
		return 0;
	}
	*first = slice->part->u + slice->branch->u_segment[k].whole;
	return slice->branch->u_segment[k].count;
}

int slice_q(const Slice *slice, int k, int *first) {
	if (!slice->branch) {
		*first = slice->part->q;
		return k == 0 ? slice->part->nq : 0;
	}
	if (k >= slice->branch->q_segments) {
		return 0;
	}
	*first = slice->part->q + slice->branch->q_segment[k].whole;
	return slice->branch->q_segment[k].count;
}

void slice_integrate(const Slice *slice, const double *q0, const double *delta, double *q) {
	const SystemPart *part = slice->part;
	const BranchSlice *b = slice->branch;
	if (!b) {
		cal_config_integrate(part->is.model, q0 + part->q, delta + part->u, q + part->q);
		return;
	}
	segments_gather(b->q_segment, b->q_segments, q0 + part->q, b->q_own);
	segments_gather(b->u_segment, b->u_segments, delta + part->u, b->u_own[0]);
	cal_config_integrate(b->model, b->q_own, b->u_own[0], b->q_own);
	segments_scatter(b->q_segment, b->q_segments, b->q_own, q + part->q);
}

void slice_rate(const Slice *slice, const double *delta, const double *u, double *delta_rate) {
	const SystemPart *part = slice->part;
	const BranchSlice *b = slice->branch;
	if (!b) {
		cal_config_rate(part->is.model, delta + part->u, u + part->u, delta_rate + part->u);
		return;
	}
	segments_gather(b->u_segment, b->u_segments, delta + part->u, b->u_own[0]);
	segments_gather(b->u_segment, b->u_segments, u + part->u, b->u_own[1]);
	cal_config_rate(b->model, b->u_own[0], b->u_own[1], b->u_own[2]);
	segments_scatter(b->u_segment, b->u_segments, b->u_own[2], delta_rate + part->u);
}

void system_integrate(const CalIntegrator *ig, const double *q0, const double *delta, double *q) {
	for (int i = 0; i < ig->part_count; i++) {
		slice_integrate(&(Slice){.part = &ig->parts[i]}, q0, delta, q);
	}
}

void system_rate(const CalIntegrator *ig, const double *delta, const double *u, double *delta_rate) {
	for (int i = 0; i < ig->part_count; i++) {
		slice_rate(&(Slice){.part = &ig->parts[i]}, delta, u, delta_rate);
	}
}

/** What branches are to do with a slice. */
typedef struct SliceCall {
	CalIntegrator *integrator;
	const SystemPart *part;
	SliceFn run;
	const void *argument;
} SliceCall;

static CalStatus call_slice(void *user, const BranchSlice *branch) {
	const SliceCall *call = user;
	const Slice slice = {call->part, branch};
	return call->run(call->integrator, &slice, call->argument);
}

CalStatus system_each(CalIntegrator *ig, SliceFn run, const void *argument) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < ig->part_count; i++) {
		SliceCall call = {ig, &ig->parts[i], run, argument};
		const CalStatus own = ig->parts[i].is.branches ? branches_each(ig->parts[i].is.branches, call_slice, &call)
		                                               : call_slice(&call, NULL);
		status = status == CAL_OK ? own : status;
	}
	return status;
}

static CalState seen_by(const SystemPart *part, const CalState *state) {
	return (CalState){.t = state->t, .q = state->q + part->q, .u = state->u + part->u};
}

/** The part whose motion or drive refused, -1: none. */
static int impose_motion(const CalIntegrator *ig, CalState *state) {
	for (int i = 0; ig->has_motions && i < ig->part_count; i++) {
		const CalSystemPart *is = &ig->parts[i].is;
		double *q = state->q + ig->parts[i].q, *u = state->u + ig->parts[i].u;
		if (is->motion && is->motion(is->motion_user, is->model, state->t, q, u, ig->scratch) != 0) {
			return i;
		}
		if (is->drive && is->drive(is->drive_user, is->model, state->t, q, u) != 0) {
			return i;
		}
	}
	return -1;
}

CalStatus system_impose(CalIntegrator *ig, CalState *state) {
	int refused = impose_motion(ig, state);
	ig->failed_dof = refused >= 0 ? refused : ig->failed_dof;
	return refused >= 0 ? CAL_ERR_USER : CAL_OK;
}

CalStatus system_motion(const CalIntegrator *ig, CalState *state) {
	return impose_motion(ig, state) >= 0 ? CAL_ERR_USER : CAL_OK;
}

/* ---- evaluation ---------------------------------------------------------------------------- */

CalStatus system_inputs(CalIntegrator *ig, const CalState *state, double *xdot) {
	for (int i = 0; i < ig->part_count; i++) {
		ig->states[i] = seen_by(&ig->parts[i], state);
		ig->inputs[i] = (CalInput){0};
		if (ig->parts[i].is.work) {
			ig->parts[i].is.work->stage &= ~STAGE_INWARD;
		}
	}
	if (ig->nx > 0) {
		memset(xdot, 0, (size_t)ig->nx * sizeof(double));
	}
	if (ig->input) {
		return ig->input(ig->user, state, ig->states, ig->inputs, xdot);
	}
	for (int i = 0; ig->options.input && i < ig->part_count; i++) {
		if (ig->options.input(ig->options.user, ig->parts[i].is.model, &ig->states[i], &ig->inputs[i]) != 0) {
			ig->failed_dof = i;
			return CAL_ERR_USER;
		}
	}
	return CAL_OK;
}

/** udot is known without dynamics. Loops would still have forces. */
static bool is_all_prescribed(const SystemPart *part, const CalInput *input) {
	if (part->has_loops || part->nu == 0 || !input->prescribed) {
		return !part->has_loops && part->nu > 0 && part->all_prescribed;
	}
	for (int u = 0; u < part->nu; u++) {
		if (!input->prescribed[u]) {
			return false;
		}
	}
	return true;
}

/** What a part is evaluated for; h not zero: a linearly implicit step of that size. */
typedef struct Evaluation {
	const CalState *elastic;
	double h;
	double *udot; // of all
	SliceFn run;  // may be NULL
	const void *argument;
	bool own; // run() takes udot of a branch from the branch; nobody else wants it
} Evaluation;

static CalStatus evaluate_branches(CalIntegrator *ig, int i, const Evaluation *e) {
	const SystemPart *part = &ig->parts[i];
	SliceCall call = {ig, part, e->run, e->argument};
	const CalState from = seen_by(part, e->elastic);
	double *udot = e->own ? NULL : e->udot + part->u;
	const BranchCallback then = {e->run ? call_slice : NULL, &call, e->argument};
	return branches_run(part->is.branches, &ig->states[i], &from, &ig->inputs[i], e->h, udot, then);
}

/** A prescribed dof moves and power is wanted: whatever prescribes it may supply some. */
static bool prescribed_moves(const CalIntegrator *ig, int i) {
	const SystemPart *part = &ig->parts[i];
	const uint8_t *prescribed = forces_prescribed(part->is.model, &ig->inputs[i]);
	for (int u = 0; part->is.power && prescribed && u < part->nu; u++) {
		if (prescribed[u] && ig->states[i].u[u] != 0) {
			return true;
		}
	}
	return false;
}

static double prescribed_power(const CalIntegrator *ig, int i) {
	const CalSystemPart *is = &ig->parts[i].is;
	const uint8_t *prescribed = forces_prescribed(is->model, &ig->inputs[i]);
	double power = 0;
	for (int u = 0; u < ig->parts[i].nu; u++) {
		power += prescribed[u] ? is->force[u] * ig->states[i].u[u] : 0;
	}
	return power;
}

/** udot of a part in one piece, and the power that was asked for; moves: prescribed_moves(). */
static CalStatus solve(CalIntegrator *ig, int i, const Evaluation *e, bool moves, double *udot) {
	const CalSystemPart *is = &ig->parts[i].is;
	const CalState *state = &ig->states[i], from = seen_by(&ig->parts[i], e->elastic);
	double *force = moves ? is->force : NULL;
	const bool begun = !force && (is->work->stage & STAGE_INWARD); // by the forces of ties, which add theirs
	const CalStatus status =
		begun       ? forward_finish(is->model, state, &ig->inputs[i], is->work, udot)
		: is->form  ? cal_system_form_dynamics(is->form, state, &ig->inputs[i], is->work, udot, force)
		: e->h == 0 ? cal_hybrid_dynamics(is->model, state, &ig->inputs[i], is->work, udot, force)
					: implicit_hybrid(is->model, state, &from, &ig->inputs[i], e->h, is->work, udot, force);
	if (is->power && moves && status == CAL_OK) {
		is->power[CAL_POWER_PRESCRIBED] = prescribed_power(ig, i);
	}
	if (is->power && ig->parts[i].rows_move && status == CAL_OK) {
		is->power[CAL_POWER_LOOPS] = loop_drives_power(is->model, state->t, is->work->loops.lambda);
	}
	return status;
}

static CalStatus find_udot(CalIntegrator *ig, int i, const Evaluation *e, bool moves) {
	const SystemPart *part = &ig->parts[i];
	const CalInput *input = &ig->inputs[i];
	double *udot = e->udot + part->u;
	if (part->is.motion) {
		memset(udot, 0, (size_t)part->nu * sizeof(double));
		return CAL_OK;
	}
	if (!moves && is_all_prescribed(part, input)) {
		for (int u = 0; u < part->nu; u++) {
			udot[u] = input->udot ? input->udot[u] : 0;
		}
		return CAL_OK;
	}
	ig->stats.evaluations++;
	return solve(ig, i, e, moves, udot);
}

/**
 * By its branches. Forces of prescribed dofs need the whole model, and so do multipliers on several ranks; it is solved
 * before the branches move on from the state. A rank that knows its own branches alone does not find the power.
 */
static CalStatus solve_branches(CalIntegrator *ig, int i, const Evaluation *e, bool moves) {
	const CalSystemPart *is = &ig->parts[i].is;
	const bool rows = is->power && ig->parts[i].rows_move, here = branches_are_here(is->branches);
	const bool known = branches_know_all(is->branches), whole = known && (moves || (rows && !here));
	ig->stats.evaluations++;
	CalStatus status = whole ? solve(ig, i, e, moves, ig->scratch) : CAL_OK;
	if (status == CAL_OK) {
		status = evaluate_branches(ig, i, e);
	}
	if (rows && !whole && status == CAL_OK) {
		is->power[CAL_POWER_LOOPS] = branches_drive_power(is->branches);
	}
	if (is->power && moves && !known) {
		is->power[CAL_POWER_PRESCRIBED] = NAN;
	}
	return status;
}

static CalStatus evaluate_part(CalIntegrator *ig, int i, const Evaluation *e) {
	const CalSystemPart *is = &ig->parts[i].is;
	const bool moves = !is->motion && prescribed_moves(ig, i);
	for (int k = 0; is->power && k < CAL_POWER_COUNT; k++) {
		is->power[k] = 0;
	}
	if (is->branches) {
		return solve_branches(ig, i, e, moves);
	}
	const CalStatus status = find_udot(ig, i, e, moves);
	SliceCall call = {ig, &ig->parts[i], e->run, e->argument};
	const CalStatus then = e->run ? call_slice(&call, NULL) : CAL_OK;
	return status == CAL_OK ? then : status;
}

bool integrator_is_projecting(const CalIntegrator *ig) { return ig->projecting; }

double integrator_implicit_step(const CalIntegrator *ig, int part, CalState *elastic) {
	if (ig->implicit_step != 0) {
		*elastic = seen_by(&ig->parts[part], ig->elastic);
	}
	return ig->implicit_step;
}

static CalStatus evaluate(CalIntegrator *ig, const CalState *state, const Evaluation *e, double *xdot) {
	ig->implicit_step = e->h;
	ig->elastic = e->elastic;
	CalStatus status = system_inputs(ig, state, xdot);
	ig->implicit_step = 0;
	ig->reached = 0;
	for (int i = 0; status == CAL_OK && i < ig->part_count; i++) {
		status = evaluate_part(ig, i, e);
		ig->reached = i + 1;
		if (status != CAL_OK) {
			ig->failed_dof = i;
		}
	}
	if (status == CAL_OK && ig->done) {
		ig->done(ig->user, xdot);
	}
	return status;
}

CalStatus system_evaluate(CalIntegrator *ig, const CalState *state, const CalState *elastic, double h, int stage,
                          SliceFn run, const void *argument) {
	const Evaluation e = {elastic, h, ig->u_rate[stage], run, argument, false};
	return evaluate(ig, state, &e, ig->x_rate[stage]);
}

CalStatus system_evaluate_own(CalIntegrator *ig, const CalState *state, double h, SliceFn run, const void *argument) {
	const Evaluation e = {state, h, ig->u_rate[0], run, argument, true};
	return evaluate(ig, state, &e, ig->x_rate[0]);
}

/* ---- steps --------------------------------------------------------------------------------- */

void system_hold_ranks(CalIntegrator *ig, bool hold) {
	for (int i = 0; i < ig->part_count; i++) {
		if (ig->parts[i].has_loops) {
			ig->parts[i].is.work->loops.hold_rank = hold;
		}
	}
}

CalStatus system_project(CalIntegrator *ig, double t) {
	ig->stage.t = t;
	ig->projecting = true;
	CalStatus status = system_inputs(ig, &ig->stage, ig->scratch);
	ig->projecting = false;
	for (int i = 0; status == CAL_OK && i < ig->part_count; i++) {
		const SystemPart *part = &ig->parts[i];
		if (!part->has_loops) {
			continue;
		}
		const CalProjectOptions options = {.frozen = ig->inputs[i].prescribed, .euclidean = ig->options.euclidean};
		CalBranches *branches = part->is.branches;
		const bool own = branches && (branches_are_here(branches) || !branches_know_all(branches)) &&
		                 !options.euclidean; // branches have the metric of M
		status = own ? cal_branches_project(branches, &ig->states[i], &options, NULL) : CAL_NOT_CONVERGED;
		if (status == CAL_NOT_CONVERGED) { // from where branches cannot improve it, the whole model may
			status = cal_loop_project(part->is.model, &ig->states[i], &options, part->is.work, NULL);
		}
		if (status != CAL_OK) {
			ig->failed_dof = i;
		}
	}
	return status;
}
