// SPDX-License-Identifier: Apache-2.0
/*
 * forward.c — forward and hybrid dynamics: collects what acts, and runs the recursion (articulated.c) or
 * the dense solver (dense.c), whichever the model was compiled for.
 */
#include "dynamics/forward_halves.h"
#include "dynamics/tree/kernels.h"
#include "dynamics/tree/dense.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"
#include "dynamics/loop/loop_coupled.h"
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_sweep.h"
#include "dynamics/loop/loop_refine.h"
#include "math/finite.h"

static int find_not_finite(const double *x, int n) {
	if (all_finite(x, n))
		return -1;
	for (int i = 0; i < n; ++i) {
		if (!isfinite(x[i]))
			return i;
	}
	return -1;
}

static CalStatus check_result(const CalModel *model, int failed_dof, const double *udot, CalWork *work) {
	const int bad = find_not_finite(udot, model->nu);
	const int not_a_number = failed_dof >= 0 && isnan(work->dofs[failed_dof].D_inv);
	work->failed_dof = failed_dof >= 0 ? failed_dof : bad;
	if (work->failed_dof < 0)
		return CAL_OK;
	work->stage = 0;
	return failed_dof >= 0 && !not_a_number ? CAL_SINGULAR : CAL_NOT_FINITE;
}

static int arguments_ok(const CalModel *model, const CalState *state, const CalInput *input, const CalWork *work,
                        const double *udot) {
	return model && state && work && work->model == model && udot && forces_check(model, input) == CAL_OK;
}

/* Where refinement does not converge, masses or lengths differ by more than doubles can resolve. */
static CalStatus check_error(CalWork *work, CalStatus status) {
	LoopWork *w = &work->loops;
	if (status == CAL_OK && w->hopeless)
		return CAL_NOT_CONVERGED;
	w->worst = fmax(w->worst, w->error);
	return status;
}

/* What a forward dynamics works with beside the state; rotor NULL: the model's, dense: may use the dense solver. */
typedef struct Run {
	const CalInput *input;
	const double *rotor;
	int dense;
} Run;

/* External wrenches, work->tau being filled in with those that act on joints. */
static const spatial *collect_wrenches(const CalModel *model, const Run *run, CalWork *work) {
	const spatial *external = forces_collect(model, run->input, work);
	if (!work->loops.acting) {
		forces_add_modal(model, work, run->input, work->tau);
		return external;
	}
	if (!external) // the modal part of the input is in tau since the sweeps without the loops
		memset(work->force, 0, sizeof *work->force * (size_t)model->link_count);
	apply_multipliers(model, work, work->force, work->tau);
	return work->force;
}

/* The first sweep, or what kinematics at this very state has left to do of it; then origins are known, and it returns 1. */
static int sweep_outward(const CalModel *model, const SweepInput *in, CalWork *work) {
	const ForwardKernels *kernels = forward_kernels(model->isa);
	const int begun = !(in->prescribed && in->udot) && kinematics_has_begun(model, model->gravity, in->q, in->u, work);
	if (begun)
		kernels->outward_rest(model, in, work);
	else
		kernels->outward(model, in, work);
	work->stage &= ~(STAGE_SWEPT | STAGE_REACHED);
	return begun;
}

/* The sweeps over the tree; loops act as far as their forces are known. */
static CalStatus solve_tree(const CalModel *model, const CalState *state, const Run *run, CalWork *work, double *udot,
                            double *force) {
	SweepInput in = {.q = state->q, .u = state->u, .tau = work->tau, .rotor = run->rotor};
	in.prescribed = forces_prescribed(model, run->input);
	in.udot = run->input ? run->input->udot : NULL;
	const ForwardKernels *kernels = forward_kernels(model->isa);
	sweep_outward(model, &in, work);
	in.external = collect_wrenches(model, run, work);
	int failed_dof;
	if (run->dense && model->solver == CAL_SOLVER_DENSE) {
		failed_dof = dense_solve(model, &in, work, udot, force);
	} else {
		failed_dof = kernels->inward(model, &in, work);
		kernels->accelerate(model, &in, work, udot, force);
	}
	work->stage = STAGE_POSE | STAGE_ACCELERATION;
	return check_result(model, failed_dof, udot, work);
}

/* udot as far as it is prescribed, which only couplings ask for: NULL, if it is zero. */
static const double *prescribed_part(const CalModel *model, const SweepInput *in, CalWork *work) {
	if (!model->any_coupling || !in->prescribed || !in->udot)
		return NULL;
	for (int k = 0; k < model->nu; ++k)
		work->rhs[k] = in->prescribed[k] ? in->udot[k] : 0;
	return work->rhs;
}

/* Multipliers of redundant equations are zero meanwhile: what round-off leaves of their gains does not count. */
static void refine_closed(const CalModel *model, const LoopRefine *at, CalWork *work) {
	loop_take_basic_x1(model, &work->loops);
	loop_refine(model, at, work);
	loop_put_basic_x1(model, &work->loops);
}

/* The sweeps with loops that are eliminated where they close. */
static CalStatus solve_closed_loops(const CalModel *model, const CalState *state, const Run *run, CalWork *work,
                                    double *udot, double *force) {
	SweepInput in = {.q = state->q, .u = state->u, .tau = work->tau, .rotor = run->rotor};
	in.loops = loop_hooks(model);
	in.prescribed = forces_prescribed(model, run->input);
	in.udot = run->input ? run->input->udot : NULL;
	if (!sweep_outward(model, &in, work))
		kinematics_origins(model, state->u, work);
	const LoopContext at = {.t = state->t, .q = state->q, .u = state->u, .udot = prescribed_part(model, &in, work)};
	loop_rows(model, &at, work);
	in.external = collect_wrenches(model, run, work);
	for (int r = 0; r < model->row_count; ++r)
		work->loops.z[r] = work->loops.row[r].acceleration;
	const int failed_dof = loop_solve_motion(model, &in, work, udot, force);
	if (UNLIKELY(work->loops.doubtful || work->loops.uneven) && failed_dof < 0)
		refine_closed(model, &(LoopRefine){state, run->input, in.prescribed, run->rotor, udot, force, 0}, work);
	min_norm_multipliers_x1(model, in.prescribed, &work->loops, force);
	work->loops.acting = 1;
	work->loops.kept.valid = 0; // the next call costs what this one does, also at the same positions
	work->stage = STAGE_POSE | STAGE_VELOCITY | STAGE_ACCELERATION;
	return check_error(work, check_result(model, failed_dof, udot, work));
}

/* The same, refined: a run under the forces gives what is prescribed and held, accelerations are better without it. */
static CalStatus solve_refined(const CalModel *model, const CalState *state, const Run *run, CalWork *work,
                               double *udot, double *force) {
	double *kept = work->loops.dq;
	loop_add_motion(model, &work->loops, udot);
	loop_refine(
		model, &(LoopRefine){state, run->input, forces_prescribed(model, run->input), run->rotor, udot, NULL, 0}, work);
	memcpy(kept, udot, sizeof(double) * (size_t)model->nu);
	const CalStatus status = solve_tree(model, state, run, work, udot, force);
	memcpy(udot, kept, sizeof(double) * (size_t)model->nu);
	kinematics_outward(model, state->q, state->u, work);
	kinematics_accelerate(model, udot, work);
	return check_error(work, status);
}

/* By cut joints: one run over the tree finds the forces of loops, one is under these. */
static CalStatus solve_cut_joint(const CalModel *model, const CalState *state, const Run *run, CalWork *work,
                                 double *udot, double *force) {
	CalStatus status = solve_tree(model, state, run, work, udot, NULL);
	if (status != CAL_OK)
		return status;
	status = loop_forces(model, state, forces_prescribed(model, run->input), run->rotor, udot, work);
	if (status != CAL_OK) {
		work->stage = 0;
		return status;
	}
	if (LIKELY(!work->loops.doubtful && !work->loops.uneven))
		return solve_tree(model, state, run, work, udot, force);
	return solve_refined(model, state, run, work, udot, force);
}

static CalStatus run_all(const CalModel *model, const CalState *state, const Run *run, CalWork *work, double *udot,
                         double *force) {
	work->loops.acting = 0;
	if (model->loop_schedule)
		return solve_closed_loops(model, state, run, work, udot, force);
	return model->row_count ? solve_cut_joint(model, state, run, work, udot, force)
	                        : solve_tree(model, state, run, work, udot, force);
}

CalStatus cal_hybrid_dynamics(const CalModel *model, const CalState *state, const CalInput *input, CalWork *work,
                              double *udot, double *force) {
	if (!arguments_ok(model, state, input, work, udot))
		return CAL_ERR_ARGUMENT;
	forces_total(model, state, input ? input->tau : NULL, work);
	work->implicit_step = 0;
	return run_all(model, state, &(Run){input, NULL, 1}, work, udot, force);
}

CalStatus cal_forward_dynamics(const CalModel *model, const CalState *state, const CalInput *input, CalWork *work,
                               double *udot) {
	return cal_hybrid_dynamics(model, state, input, work, udot, NULL);
}

CalStatus implicit_hybrid(const CalModel *model, const CalState *state, const CalState *elastic, const CalInput *input,
                          double h, CalWork *work, double *udot, double *force) {
	if (!arguments_ok(model, state, input, work, udot) || !elastic || !isfinite(h))
		return CAL_ERR_ARGUMENT;
	forces_total_implicit(model, state, elastic, h, input ? input->tau : NULL, work);
	work->implicit_step = h;
	const CalStatus status = run_all(model, state, &(Run){input, work->rotor, 0}, work, udot, force);
	work->implicit_step = 0;
	return status;
}

CalStatus cal_implicit_dynamics(const CalModel *model, const CalState *state, const CalState *elastic,
                                const CalInput *input, double h, CalWork *work, double *udot) {
	return implicit_hybrid(model, state, elastic, input, h, work, udot, NULL);
}

/* ---- in two halves ----------------------------------------------------------------------------------- */

static SweepInput halves_input(const CalModel *model, const CalState *state, const CalInput *input, CalWork *work) {
	return (SweepInput){.q = state->q,
	                    .u = state->u,
	                    .tau = work->tau,
	                    .prescribed = forces_prescribed(model, input),
	                    .udot = input ? input->udot : NULL,
	                    .loops = model->loop_schedule ? loop_hooks(model) : NULL,
	                    .columns = 1};
}

static void begin_loops(const CalModel *model, const CalState *state, const SweepInput *in, CalWork *work) {
	loop_rows(model,
	          &(LoopContext){.t = state->t, .q = state->q, .u = state->u, .udot = prescribed_part(model, in, work)},
	          work);
	for (int r = 0; r < model->row_count; ++r)
		work->loops.z[r] = work->loops.row[r].acceleration;
}

CalStatus forward_begin(const CalModel *model, const CalState *state, const CalState *elastic, const CalInput *input,
                        double h, CalWork *work) {
	work->stage = 0;
	if (model->solver == CAL_SOLVER_DENSE || (model->row_count > 0 && !model->loop_schedule))
		return CAL_OK;
	if (!arguments_ok(model, state, input, work, work->tau))
		return CAL_ERR_ARGUMENT;
	if (h == 0)
		forces_total(model, state, input ? input->tau : NULL, work);
	else
		forces_total_implicit(model, state, elastic, h, input ? input->tau : NULL, work);
	SweepInput in = halves_input(model, state, input, work);
	in.rotor = h == 0 ? NULL : work->rotor;
	work->implicit_step = h;
	work->loops.acting = 0;
	forward_kernels(model->isa)->outward(model, &in, work);
	kinematics_origins(model, state->u, work);
	if (in.loops)
		begin_loops(model, state, &in, work);
	in.external = collect_wrenches(model, &(Run){input, in.rotor, 0}, work);
	const int failed_dof = in.loops ? loop_kernels(model->isa)->inward(model, &in, work)
	                                : forward_kernels(model->isa)->inward(model, &in, work);
	work->implicit_step = 0;
	work->failed_dof = failed_dof;
	if (failed_dof >= 0)
		return isnan(work->dofs[failed_dof].D_inv) ? CAL_NOT_FINITE : CAL_SINGULAR;
	if (!in.loops || !(work->loops.doubtful || work->loops.uneven))
		work->stage = STAGE_POSE | STAGE_VELOCITY | STAGE_INWARD;
	return CAL_OK;
}

CalStatus forward_finish(const CalModel *model, const CalState *state, const CalInput *input, CalWork *work,
                         double *udot) {
	const SweepInput in = halves_input(model, state, input, work);
	forward_kernels(model->isa)->accelerate(model, &in, work, udot, NULL);
	work->stage = STAGE_POSE | STAGE_VELOCITY | STAGE_ACCELERATION;
	if (in.loops) {
		min_norm_multipliers_x1(model, in.prescribed, &work->loops, NULL);
		work->loops.acting = 1;
	}
	return check_result(model, -1, udot, work);
}
