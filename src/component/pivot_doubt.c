// SPDX-License-Identifier: Apache-2.0
/*
 * pivot_doubt.c — loops whose pivots branches cannot trust (decision 0026).
 *
 * Light links make compliances of loops lose digits, and may hide what only heavy links move. Branches find that out by
 * their pivots, inward; then no branch is solved outward, and the model is solved in one piece, where rank is a matter
 * of geometry and accelerations are refined. Doubt depends on numbers that are the same for any number of workers, and
 * so do the bits of what comes out.
 */
#include "component/branches.h"

bool solver_is_doubtful(const CalBranches *s) {
	if (!s->whole)
		return false;
	bool doubtful = s->cross_loops && s->cross_loops->doubtful;
	for (int k = 0; k < s->count; ++k) {
		const BaseInertia *base_inertia = s->branches[k].base_inertia;
		if (!s->branches[k].model->loop_schedule)
			continue;
		if (!s->ranks)
			progress_wait(&base_inertia->ready, s->evaluation.number);
		doubtful |= base_inertia->doubtful != 0;
	}
	return doubtful;
}

CalStatus solver_run_whole(CalBranches *s) {
	const Evaluation *evaluation = &s->evaluation;
	double *udot = s->numbers;
	CalStatus status = evaluation->h == 0
	                       ? cal_forward_dynamics(s->model, &evaluation->state, &evaluation->input, s->whole, udot)
	                       : cal_implicit_dynamics(s->model, &evaluation->state, &evaluation->elastic,
	                                               &evaluation->input, evaluation->h, s->whole, udot);
	s->failed_dof = status != CAL_OK ? s->whole->failed_dof : -1;
	s->error = s->whole->loops.error;
	if (s->cross_loops && status == CAL_OK)
		status = cal_loop_multipliers(s->model, s->whole, s->cross_loops->lambda);
	for (int k = 0; k < s->count; ++k) {
		Branch *b = &s->branches[k];
		segments_gather(b->u_segment, b->u_segments, udot, b->udot);
		solver_conclude(s, b);
		status = status == CAL_OK ? b->bad : status;
	}
	return status;
}
