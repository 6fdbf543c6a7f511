// SPDX-License-Identifier: Apache-2.0
/*
 * batch_dynamics.c — the algorithms of calder/dynamics.h over many states: each is the single call on the rows of a state.
 */
#include "batch/batch_lanes.h"

_Static_assert(sizeof(CalEnergy) == 4 * sizeof(double), "energies are plain numbers");
_Static_assert(sizeof(CalMomentum) == 13 * sizeof(double), "momenta are plain numbers");
_Static_assert(sizeof(CalPose) == 12 * sizeof(double), "poses are plain numbers");
_Static_assert(sizeof(CalSpatial) == 6 * sizeof(double), "spatial vectors are plain numbers");

/* ---- forward and inverse dynamics ---------------------------------------------------------------- */

static CalStatus forward_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalState state = batch_state(call, i);
	const CalInput input = batch_input(call, worker, i, 0);
	return cal_forward_dynamics(call->batch->model, &state, &input, worker->work, batch_result(call, 0, i));
}

CalStatus cal_batch_forward(CalBatch *batch, const CalBatchStates *states, const CalBatchInput *input, double *udot,
                            CalStatus *status) {
	if (!udot || !batch_call_is_valid(batch, states, input))
		return CAL_ERR_ARGUMENT;
	BatchCall call = batch_call(batch, forward_state, states, input, status);
	call.evaluate_lanes = batch_forward_lanes;
	call.on_device = true;
	call.out[0] = (BatchOutput){udot, (size_t)batch->nu};
	return batch_run(&call);
}

static CalStatus hybrid_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalState state = batch_state(call, i);
	const CalInput input = batch_input(call, worker, i, 0);
	return cal_hybrid_dynamics(call->batch->model, &state, &input, worker->work, batch_result(call, 0, i),
	                           batch_result(call, 1, i));
}

CalStatus cal_batch_hybrid(CalBatch *batch, const CalBatchStates *states, const CalBatchInput *input, double *udot,
                           double *force, CalStatus *status) {
	if (!udot || !force || !batch_call_is_valid(batch, states, input))
		return CAL_ERR_ARGUMENT;
	BatchCall call = batch_call(batch, hybrid_state, states, input, status);
	call.evaluate_lanes = batch_hybrid_lanes;
	call.out[0] = (BatchOutput){udot, (size_t)batch->nu};
	call.out[1] = (BatchOutput){force, (size_t)batch->nu};
	return batch_run(&call);
}

static CalStatus inverse_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalState state = batch_state(call, i);
	const CalInput input = batch_input(call, worker, i, 0);
	return cal_inverse_dynamics(call->batch->model, &state, batch_row(&call->udot, i, 0), &input, worker->work,
	                            batch_result(call, 0, i));
}

CalStatus cal_batch_inverse(CalBatch *batch, const CalBatchStates *states, const CalBatchArray *udot,
                            const CalBatchInput *input, double *tau, CalStatus *status) {
	if (!tau || !batch_call_is_valid(batch, states, input))
		return CAL_ERR_ARGUMENT;
	BatchCall call = batch_call(batch, inverse_state, states, input, status);
	call.evaluate_lanes = batch_inverse_lanes;
	call.udot = udot ? *udot : (CalBatchArray){0};
	call.out[0] = (BatchOutput){tau, (size_t)batch->nu};
	return batch_run(&call);
}

/* ---- functions of the state alone ---------------------------------------------------------------- */

/* evaluate() for all states, or side by side (NULL: not), with results of `width` numbers. */
static CalStatus run_states(CalBatch *batch, EvaluateFn evaluate, EvaluateLanesFn side_by_side,
                            const CalBatchStates *states, void *result, size_t width, CalStatus *status) {
	if (!result || !batch_call_is_valid(batch, states, NULL))
		return CAL_ERR_ARGUMENT;
	BatchCall call = batch_call(batch, evaluate, states, NULL, status);
	call.evaluate_lanes = side_by_side;
	call.out[0] = (BatchOutput){result, width};
	return batch_run(&call);
}

static CalStatus bias_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalState state = batch_state(call, i);
	return cal_bias_forces(call->batch->model, &state, worker->work, batch_result(call, 0, i));
}

CalStatus cal_batch_bias_forces(CalBatch *batch, const CalBatchStates *states, double *h, CalStatus *status) {
	return run_states(batch, bias_state, batch_bias_lanes, states, h, (size_t)cal_model_u_count(cal_batch_model(batch)),
	                  status);
}

static CalStatus gravity_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalState state = batch_state(call, i);
	return cal_gravity_forces(call->batch->model, &state, worker->work, batch_result(call, 0, i));
}

CalStatus cal_batch_gravity_forces(CalBatch *batch, const CalBatchStates *states, double *Q, CalStatus *status) {
	return run_states(batch, gravity_state, batch_gravity_lanes, states, Q,
	                  (size_t)cal_model_u_count(cal_batch_model(batch)), status);
}

static CalStatus elastic_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalState state = batch_state(call, i);
	return cal_elastic_forces(call->batch->model, &state, worker->work, batch_result(call, 0, i));
}

CalStatus cal_batch_elastic_forces(CalBatch *batch, const CalBatchStates *states, double *Q, CalStatus *status) {
	return run_states(batch, elastic_state, NULL, states, Q, (size_t)cal_model_u_count(cal_batch_model(batch)), status);
}

static CalStatus mass_matrix_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalState state = batch_state(call, i);
	return cal_mass_matrix(call->batch->model, &state, worker->work, batch_result(call, 0, i));
}

CalStatus cal_batch_mass_matrix(CalBatch *batch, const CalBatchStates *states, double *M, CalStatus *status) {
	const size_t nu = (size_t)cal_model_u_count(cal_batch_model(batch));
	return run_states(batch, mass_matrix_state, NULL, states, M, nu * nu, status);
}

static CalStatus energy_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalState state = batch_state(call, i);
	return cal_energy(call->batch->model, &state, worker->work, (CalEnergy *)(void *)batch_result(call, 0, i));
}

CalStatus cal_batch_energy(CalBatch *batch, const CalBatchStates *states, CalEnergy *energy, CalStatus *status) {
	return run_states(batch, energy_state, NULL, states, energy, sizeof *energy / sizeof(double), status);
}

static CalStatus momentum_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalState state = batch_state(call, i);
	return cal_momentum(call->batch->model, &state, worker->work, (CalMomentum *)(void *)batch_result(call, 0, i));
}

CalStatus cal_batch_momentum(CalBatch *batch, const CalBatchStates *states, CalMomentum *momentum, CalStatus *status) {
	return run_states(batch, momentum_state, NULL, states, momentum, sizeof *momentum / sizeof(double), status);
}

/* ---- kinematics ------------------------------------------------------------------------------------ */

static CalStatus nodes_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalModel *model = call->batch->model;
	const CalState state = batch_state(call, i);
	CalPose *pose = (CalPose *)(void *)batch_result(call, 0, i);
	CalSpatial *velocity = (CalSpatial *)(void *)batch_result(call, 1, i);
	CalStatus status = cal_kinematics(model, &state, NULL, worker->work);
	for (int k = 0; k < call->node_count && status == CAL_OK; ++k) {
		if (pose)
			status = cal_node_pose(model, worker->work, call->nodes[k], &pose[k]);
		if (velocity && status == CAL_OK)
			status = cal_node_velocity(model, worker->work, call->nodes[k], &velocity[k]);
	}
	return status;
}

static bool nodes_are_valid(const CalModel *model, const int *nodes, int count) {
	for (int k = 0; k < count; ++k) {
		if (nodes[k] < 0 || nodes[k] >= cal_model_node_count(model))
			return false;
	}
	return count >= 0;
}

CalStatus cal_batch_nodes(CalBatch *batch, const CalBatchStates *states, const int *nodes, int node_count,
                          CalPose *pose, CalSpatial *velocity, CalStatus *status) {
	if (!batch_call_is_valid(batch, states, NULL) || !nodes || !nodes_are_valid(batch->model, nodes, node_count))
		return CAL_ERR_ARGUMENT;
	BatchCall call = batch_call(batch, nodes_state, states, NULL, status);
	call.nodes = nodes;
	call.node_count = node_count;
	call.out[0] = (BatchOutput){(double *)(void *)pose, (size_t)node_count * (sizeof *pose / sizeof(double))};
	call.out[1] = (BatchOutput){(double *)(void *)velocity, (size_t)node_count * (sizeof *velocity / sizeof(double))};
	return batch_run(&call);
}

static CalStatus jacobian_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalModel *model = call->batch->model;
	const CalState state = batch_state(call, i);
	return cal_node_jacobian_at(model, &state, call->nodes[0], worker->work, NULL, batch_result(call, 0, i));
}

CalStatus cal_batch_jacobian(CalBatch *batch, const CalBatchStates *states, int node, double *J, CalStatus *status) {
	if (!batch_call_is_valid(batch, states, NULL) || !J || !nodes_are_valid(batch->model, &node, 1))
		return CAL_ERR_ARGUMENT;
	BatchCall call = batch_call(batch, jacobian_state, states, NULL, status);
	call.nodes = &node;
	call.node_count = 1;
	call.out[0] = (BatchOutput){J, 6 * (size_t)batch->nu};
	return batch_run(&call);
}
