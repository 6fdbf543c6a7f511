// SPDX-License-Identifier: Apache-2.0
/*
 * partition_probe.c — partitions that leave a joint without inertia.
 *
 * Without its decoupled child, a joint that carries columns may have next to no inertia, as one about the line of
 * masses of the last body. Whether it does is seen at a few configurations: the recursion of the whole model has an
 * inertia D there for every dof, that of the branch a smaller one. There it is also seen whether loops that span branches
 * leave a doubt, after which every evaluation would be repeated in one piece.
 */
#include <string.h>

#include "component/branches.h"

enum { PROBES = 3 };
static const double MAX_RATIO = 1e6; // of the two that is allowed

/* A state somewhere near the neutral one, the same in every run. */
static void probe_state(const CalModel *model, int probe, CalState *state) {
	uint64_t x = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(probe + 1);
	cal_config_neutral(model, state->q);
	for (int k = 0; k < model->nu; ++k) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		const double size = model->dofs[k].link >= 0 && model->links[model->dofs[k].link].flex_body >= 0 &&
		                            k >= model->flexes[model->links[model->dofs[k].link].flex_body].u
		                        ? 1e-3
		                        : 0.7;
		state->u[k] = size * (2.0 * (double)(x >> 11) * 0x1p-53 - 1.0);
	}
	cal_config_integrate(model, state->q, state->u, state->q);
	memset(state->u, 0, sizeof(double) * (size_t)model->nu);
}

/* The first link of the branch that this one can carry no columns of; -1: it can. */
static int find_bad_cut(const CalBranches *s, const Branch *b, const CalWork *whole) {
	for (int p = 0; b->decoupled_child >= 0 && p < b->interface.path_count; ++p) {
		const Link *link = &b->model->links[b->interface.path[p]];
		for (int k = 0; k < link->nu; ++k) {
			const double with = whole->dofs[model_dof(b, link->u + k)].D_inv;
			const double without = b->work->dofs[link->u + k].D_inv;
			if (!(without <= MAX_RATIO * with) || !(without >= 0))
				return s->partition.pieces[b->decoupled_child].first;
		}
	}
	return -1;
}

int solver_probe(CalBranches *s) {
	CalState state;
	CalWork *work;
	int bad = -1;
	if (cal_work_create(s->model, &work) != CAL_OK)
		return -2;
	if (cal_state_create(s->model, &state) != CAL_OK) {
		cal_work_destroy(work);
		return -2;
	}
	for (int probe = 0; probe < PROBES && bad == -1; ++probe) {
		probe_state(s->model, probe, &state);
		if (cal_implicit_dynamics(s->model, &state, &state, NULL, 0, work, work->rhs) != CAL_OK)
			continue;
		branches_run(s, &state, &state, NULL, 0, work->rhs, (BranchCallback){0});
		s->probe_doubtful |= s->cross_loops && s->cross_loops->doubtful;
		for (int k = 0; k < s->count && bad == -1; ++k)
			bad = find_bad_cut(s, &s->branches[k], work);
	}
	cal_state_destroy(&state);
	cal_work_destroy(work);
	return bad;
}
