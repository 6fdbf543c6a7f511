// SPDX-License-Identifier: Apache-2.0
/*
 * impulse.c — inelastic impulses [THEORY (7.1), (7.2)]: hybrid dynamics at rest, without gravity and forces, with jumps
 * of the speeds in place of accelerations.
 *
 * Speeds that are given are prescribed, constraints jump by -(G u - s'). Loops are eliminated where they close, or all at
 * once (G M^-1 G' lambda = -z), as the model was compiled. The energy lost follows from the impulses and the mean of the
 * speeds before and after, without a difference of large numbers:
 *   T - T_after = -lambda.(G u + G u_after)/2 - j.(u + u_after)/2
 */
#include "dynamics/impulse.h"
#include "dynamics/tree/kernels.h"
#include "dynamics/loop/loop_coupled.h"
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_sweep.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"
#include "math/finite.h"

#if CAL_LANES == 1

static const double ROUND_OFF = 1e-15; // of a rate, as part of the fastest speed

static void clear_numbers(double *x, int n) { memset(x, 0, sizeof(double) * (size_t)n); }

static void place_wrenches(const CalModel *model, const Jump *in, CalWork *work) {
	memset(work->force, 0, sizeof *work->force * (size_t)model->link_count);
	clear_numbers(work->tau, model->nu);
	for (int i = 0; i < in->wrench_count; ++i) {
		const CalWrench *wrench = &in->wrenches[i];
		const int link = model->nodes[wrench->node].link;
		if (link >= 0)
			work->force[link] = spatial_add(work->force[link], forces_wrench_at_link(model, work, wrench));
		if (link < 0 || model->nodes[wrench->node].shape < 0)
			continue;
		const NodePlace place = kinematics_node(model, work, wrench->node);
		for (int k = 0; k < place.flex->m; ++k)
			work->tau[place.flex->u + k] += spatial_dot(kinematics_node_column(&place, k), spatial_in(wrench->f));
	}
}

/* The sweeps at rest; loops NULL: without. Returns what the inward sweep does. */
static int sweep_impulse(const CalModel *model, const Jump *in, const LoopHooks *loops, CalWork *work, double *jump,
                         double *force) {
	clear_numbers(work->rhs, model->nu);
	const SweepInput at = {.q = in->q,
	                       .u = work->rhs,
	                       .tau = work->tau,
	                       .prescribed = in->held,
	                       .udot = in->given,
	                       .external = work->force,
	                       .loops = loops};
	const ForwardKernels *kernels = forward_kernels(model->isa);
	kernels->outward_in(model, (dvec3){0, 0, 0}, &at, work);
	place_wrenches(model, in, work);
	if (!loops && work->loops.acting)
		apply_multipliers(model, work, work->force, work->tau);
	if (loops)
		return loop_solve_motion(model, &at, work, jump, force);
	const int failed_dof = kernels->inward(model, &at, work);
	kernels->accelerate(model, &at, work, jump, force);
	return failed_dof;
}

static CalStatus check_result(const CalModel *model, int failed_dof, const double *jump, CalWork *work) {
	work->failed_dof = failed_dof;
	work->stage = STAGE_POSE | STAGE_ACCELERATION;
	if (failed_dof < 0 && all_finite(jump, model->nu))
		return CAL_OK;
	work->stage = 0;
	work->loops.acting = 0;
	for (int k = 0; failed_dof < 0 && work->failed_dof < 0 && k < model->nu; ++k)
		work->failed_dof = isfinite(jump[k]) ? -1 : k;
	return failed_dof >= 0 && !isnan(work->dofs[failed_dof].D_inv) ? CAL_SINGULAR : CAL_NOT_FINITE;
}

/* z + what the jumps of speeds that are not held add to it; those that are given are part of z. */
static void rows_after_jump(const CalModel *model, const uint8_t *held, const double *jump, LoopWork *w) {
	for (int i = 0; i < model->row_count; ++i) {
		const double *G = loop_block_row(model->blocks->blocks, w->G, i); // of cut joints: one block of all columns
		for (int k = 0; k < model->nu; ++k)
			w->z[i] += held && held[k] ? 0 : G[k] * jump[k];
	}
}

/* All loops at once: the tree without them, their impulses, the tree under these. */
static CalStatus jump_cut_joint(const CalModel *model, const Jump *in, CalWork *work, double *jump, double *force) {
	LoopWork *w = &work->loops;
	loop_jacobian(model, work);
	if (in->given || in->wrench_count) {
		const CalStatus status = check_result(model, sweep_impulse(model, in, NULL, work, jump, NULL), jump, work);
		if (status != CAL_OK)
			return status;
		rows_after_jump(model, in->held, jump, w);
	}
	const CalStatus status = loop_factor(model, in->q, in->held, NULL, 0, work);
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < model->row_count; ++i)
		w->z[i] = -w->z[i];
	loop_solve(model, work, w->z, w->lambda);
	w->acting = 1;
	return check_result(model, sweep_impulse(model, in, NULL, work, jump, force), jump, work);
}

CalStatus impulse_jump(const CalModel *model, const Jump *in, CalWork *work, double *jump, double *force) {
	work->loops.acting = 0;
	if (model->row_count && !model->loop_schedule)
		return jump_cut_joint(model, in, work, jump, force);
	const LoopHooks *loops = model->loop_schedule ? loop_hooks(model) : NULL;
	const CalStatus status = check_result(model, sweep_impulse(model, in, loops, work, jump, force), jump, work);
	if (status != CAL_OK || !model->loop_schedule)
		return status;
	min_norm_multipliers_x1(model, in->held, &work->loops, force);
	work->loops.acting = 1;
	return CAL_OK;
}

/* ---- the call ------------------------------------------------------------------------------------ */

/* Which speeds are given in work->held, their jumps in work->rotor, and u with them in u_given. Nonzero: some jump. */
static int collect_impulses(const CalModel *model, const CalState *state, const CalImpulse *impulse, CalWork *work,
                            double *u_given) {
	const uint8_t *kept = impulse->kept ? impulse->kept : model->prescribed;
	int any = 0;
	for (int k = 0; k < model->nu; ++k) {
		const int locked = impulse->locked && impulse->locked[k];
		const double before = state->u[k];
		u_given[k] = locked ? impulse->speed ? impulse->speed[k] : 0 : before;
		work->held[k] = (uint8_t)(locked || kept[k]);
		work->rotor[k] = u_given[k] - before;
		any |= locked;
	}
	return any;
}

void impulse_rows(const CalModel *model, const CalState *state, const double *u, CalWork *work) {
	kinematics_outward(model, state->q, u, work);
	loop_rows(model, &(LoopContext){.t = state->t, .q = state->q, .u = u, .plain = 1}, work);
}

/* -lambda.(G u)/2 at a speed whose rates are in work; drives: rates of the constraints at rest, -s', or NULL. */
static double half_work(const CalModel *model, const LoopWork *w, const double *drives) {
	double sum = 0;
	for (int i = 0; i < model->row_count; ++i)
		sum -= 0.5 * w->lambda[i] * (w->row[i].rate - (drives ? drives[i] : 0));
	return sum;
}

/* -s' of the constraints in z; NULL: nothing is driven. */
static const double *row_drives(const CalModel *model, const CalState *state, CalWork *work) {
	int driven = 0;
	for (int l = 0; l < model->loop_count; ++l)
		driven |= model->loops[l].driven;
	if (!driven)
		return NULL;
	clear_numbers(work->rhs, model->nu);
	impulse_rows(model, state, work->rhs, work);
	for (int i = 0; i < model->row_count; ++i)
		work->loops.z[i] = work->loops.row[i].rate;
	return work->loops.z;
}

/* Energy of the impulses on given speeds, u being those before. */
static double given_work(const CalModel *model, const double *u, const CalWork *work, const double *force) {
	double sum = 0;
	for (int k = 0; k < model->nu; ++k) {
		if (work->held[k])
			sum -= force[k] * (u[k] + 0.5 * work->rotor[k]);
	}
	return sum;
}

static void report_rows(const CalModel *model, const LoopWork *w, CalImpulseReport *report) {
	for (int i = 0; i < model->row_count; ++i) {
		const double rate = fabs(w->row[i].rate);
		if (rate > report->rate || isnan(rate)) {
			report->rate = rate;
			report->row = i;
		}
	}
}

/* Impulses once they are known: what they took, and what is left. Ends with the kinematics at u_after. */
static void fill_report(const CalModel *model, const CalState *state, const double *u_after, const double *force,
                        CalWork *work, CalImpulseReport *report) {
	const double *drives = row_drives(model, state, work);
	*report = (CalImpulseReport){.kinetic_lost = given_work(model, state->u, work, force), .row = -1};
	if (model->row_count) {
		impulse_rows(model, state, state->u, work);
		report->kinetic_lost += half_work(model, &work->loops, drives);
	}
	impulse_rows(model, state, u_after, work);
	report->kinetic_lost += half_work(model, &work->loops, drives);
	report_rows(model, &work->loops, report);
}

/* Rates of the constraints at u into z; nonzero: more than round-off is left of them. */
static int rates_left(const CalModel *model, const CalState *state, const double *u, CalWork *work) {
	double most = 0, fastest = 0;
	impulse_rows(model, state, u, work);
	for (int i = 0; i < model->row_count; ++i) {
		work->loops.z[i] = work->loops.row[i].rate;
		most = fmax(most, fabs(work->loops.z[i]));
	}
	for (int k = 0; k < model->nu; ++k)
		fastest = fmax(fastest, fabs(u[k]));
	return most > ROUND_OFF * fastest;
}

/* One more jump of u by z, added up with its impulses. */
static CalStatus add_jump(const CalModel *model, const Jump *in, CalWork *work, double *u, double *on_given,
                          double *lambda) {
	double *force = work->jump + 3 * model->nu;
	const CalStatus status = impulse_jump(model, in, work, work->jump, force);
	for (int k = 0; status == CAL_OK && k < model->nu; ++k) {
		u[k] += work->held[k] ? 0 : work->jump[k];
		on_given[k] += force[k];
	}
	for (int i = 0; status == CAL_OK && i < model->row_count; ++i)
		lambda[i] += work->loops.lambda[i];
	return status;
}

CalStatus cal_impulse(const CalModel *model, const CalState *state, const CalImpulse *impulse, CalWork *work,
                      double *u_after, double *force, CalImpulseReport *report) {
	const CalImpulse none = {0};
	CalImpulseReport own;
	if (!model || !state || !work || work->model != model || !u_after)
		return CAL_ERR_ARGUMENT;
	double *u = work->jump + model->nu, *on_given = work->jump + 2 * model->nu, *lambda = work->jump + 4 * model->nu;
	const int jumps = collect_impulses(model, state, impulse ? impulse : &none, work, u);
	clear_numbers(on_given, model->nu);
	clear_numbers(lambda, model->row_count);
	Jump in = {.q = state->q, .held = work->held, .given = jumps ? work->rotor : NULL};
	rates_left(model, state, u, work);
	CalStatus status = add_jump(model, &in, work, u, on_given, lambda);
	in.given = NULL;
	if (status == CAL_OK && rates_left(model, state, u, work)) // once more for the last digits
		status = add_jump(model, &in, work, u, on_given, lambda);
	if (status == CAL_OK)
		status = check_result(model, -1, u, work);
	if (status != CAL_OK)
		return status;
	memcpy(work->loops.lambda, lambda, sizeof(double) * (size_t)model->row_count);
	work->loops.acting = model->row_count > 0;
	fill_report(model, state, u, on_given, work, report ? report : &own);
	memcpy(u_after, u, sizeof(double) * (size_t)model->nu);
	if (force)
		memcpy(force, on_given, sizeof(double) * (size_t)model->nu);
	return CAL_OK;
}

#endif
