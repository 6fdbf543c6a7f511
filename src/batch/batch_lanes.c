// SPDX-License-Identifier: Apache-2.0
/*
 * batch_lanes.c — the algorithms of batch_dynamics.c for states side by side: rows of the call to lanes and back.
 *
 * Springs, dampers and modal stiffness are added row by row, by the code of the single call.
 */
#include "batch/batch_lanes.h"

#include "dynamics/tree/forces.h"

static LaneStates lane_states(const BatchCall *call, int first) {
	LaneStates states = {0};
	for (int lane = 0; lane < call->batch->lanes->lanes; ++lane) {
		const CalState state = batch_state(call, first + lane);
		states.q[lane] = state.q;
		states.u[lane] = state.u;
	}
	return states;
}

static LaneRows lane_results(const BatchCall *call, int output, int first) {
	LaneRows rows = {0};
	for (int lane = 0; lane < call->batch->lanes->lanes; ++lane)
		rows.row[lane] = batch_result(call, output, first + lane);
	return rows;
}

/* Nodes of flexible bodies turn with their modes, which lanes do not follow. */
static bool wrenches_are_on_links(const CalModel *model, const CalBatchInput *input) {
	for (int k = 0; input->wrench.data && k < input->wrench_count; ++k) {
		if (model->nodes[input->wrenches[k].node].shape >= 0)
			return false;
	}
	return true;
}

/* ---- forward dynamics ------------------------------------------------------------------------------ */

/* What acts along the dofs of a state: the row of the input, and springs and dampers where there are any. */
static const double *total_force(const BatchCall *call, BatchWorker *worker, int lane, const LaneStates *states,
                                 const double *applied) {
	const CalModel *model = call->batch->model;
	if (!forces_any_elastic(model))
		return applied ? applied : call->batch->zeros;
	double *tau = worker->tau + (size_t)lane * (size_t)model->nu;
	memcpy(tau, applied ? applied : call->batch->zeros, sizeof(double) * (size_t)model->nu);
	forces_add_elastic(model, states->q[lane], states->u[lane], worker->work, tau);
	return tau;
}

static bool run_forward(const BatchCall *call, BatchWorker *worker, int first, const LaneRows *force) {
	const CalModel *model = call->batch->model;
	const CalBatchInput *in = &call->input;
	if (!wrenches_are_on_links(model, in))
		return false;
	const LaneStates states = lane_states(call, first);
	LaneInput input = {.prescribed = forces_prescribed(model, &(CalInput){.prescribed = in->prescribed}),
	                   .wrenches = in->wrenches,
	                   .wrench_count = in->wrench.data ? in->wrench_count : 0};
	for (int lane = 0; lane < call->batch->lanes->lanes; ++lane) {
		input.tau[lane] = total_force(call, worker, lane, &states, batch_row(&in->tau, first + lane, 0));
		input.udot[lane] = batch_row(&in->udot, first + lane, 0);
		input.wrench[lane] = batch_row(&in->wrench, first + lane, 0);
	}
	const LaneRows udot = lane_results(call, 0, first);
	return call->batch->lanes->forward(model, &states, &input, worker->lanes, &udot, force);
}

bool batch_forward_lanes(const BatchCall *call, BatchWorker *worker, int first) {
	return run_forward(call, worker, first, NULL);
}

bool batch_hybrid_lanes(const BatchCall *call, BatchWorker *worker, int first) {
	const LaneRows force = lane_results(call, 1, first);
	return run_forward(call, worker, first, &force);
}

/* ---- inverse dynamics ------------------------------------------------------------------------------ */

bool batch_inverse_lanes(const BatchCall *call, BatchWorker *worker, int first) {
	const CalModel *model = call->batch->model;
	const bool wrenched = call->input.wrench.data && call->input.wrench_count > 0;
	if (model->flex_count > 0 || wrenched)
		return false;
	const LaneStates states = lane_states(call, first);
	const LaneRows tau = lane_results(call, 0, first);
	const double *udot[LANES_MAX] = {NULL};
	for (int lane = 0; lane < call->batch->lanes->lanes; ++lane)
		udot[lane] = batch_row(&call->udot, first + lane, 0);
	call->batch->lanes->inverse(model, dvec_out(model->gravity), &states, udot[0] ? udot : NULL, worker->lanes, &tau);
	for (int lane = 0; forces_any_elastic(model) && lane < call->batch->lanes->lanes; ++lane) {
		memset(worker->tau, 0, sizeof(double) * (size_t)model->nu);
		forces_add_elastic(model, states.q[lane], states.u[lane], worker->work, worker->tau);
		for (int i = 0; i < model->nu; ++i)
			tau.row[lane][i] -= worker->tau[i];
	}
	return true;
}

bool batch_bias_lanes(const BatchCall *call, BatchWorker *worker, int first) {
	const CalModel *model = call->batch->model;
	if (model->flex_count > 0)
		return false;
	const LaneStates states = lane_states(call, first);
	const LaneRows h = lane_results(call, 0, first);
	call->batch->lanes->inverse(model, (CalVec3){0, 0, 0}, &states, NULL, worker->lanes, &h);
	return true;
}

bool batch_gravity_lanes(const BatchCall *call, BatchWorker *worker, int first) {
	const CalModel *model = call->batch->model;
	if (model->flex_count > 0)
		return false;
	LaneStates states = lane_states(call, first);
	const LaneRows Q = lane_results(call, 0, first);
	for (int lane = 0; lane < call->batch->lanes->lanes; ++lane)
		states.u[lane] = call->batch->zeros;
	call->batch->lanes->inverse(model, dvec_out(model->gravity), &states, NULL, worker->lanes, &Q);
	for (int lane = 0; lane < call->batch->lanes->lanes; ++lane)
		for (int i = 0; i < model->nu; ++i)
			Q.row[lane][i] = -Q.row[lane][i];
	return true;
}
