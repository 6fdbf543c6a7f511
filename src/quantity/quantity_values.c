// SPDX-License-Identifier: Apache-2.0
/*
 * quantity_values.c — quantities as a sampler sees them: from the observation of a group after its forward dynamics, its
 * monitors, and the simulation as a whole.
 */
#include <math.h>
#include <string.h>

#include <calder/linear.h>
#include <calder/transition.h>

#include "math/portable.h"
#include "quantity/quantity.h"

/* ---- elements ----------------------------------------------------------------------------------------------- */

double element_q(const Sampling *s, int at) { return s->view->state->q[at]; }

double element_u(const Sampling *s, int at) { return s->view->state->u[at]; }

double element_udot(const Sampling *s, int at) { return s->view->udot[at]; }

/* Generalized forces: those given, and those that driven dofs need beyond them. */
double element_force(const Sampling *s, int at) {
	return (s->view->input.tau ? s->view->input.tau[at] : 0) + s->view->force[at];
}

double element_row(const Sampling *s, int at) { return s->rows[at]; }

/* ---- nodes -------------------------------------------------------------------------------------------------- */

static void put_vec3(double *to, CalVec3 v) {
	to[0] = v.x;
	to[1] = v.y;
	to[2] = v.z;
}

static void put_wrench(double *to, CalSpatial wrench) {
	put_vec3(to, wrench.angular);
	put_vec3(to + 3, wrench.linear);
}

/* The quaternion of R with w >= 0; divides by its largest component. */
void put_quaternion(double *to, const CalMat3 *R) {
	const double(*m)[3] = R->m;
	double square[4] = {1 + m[0][0] + m[1][1] + m[2][2], 1 + m[0][0] - m[1][1] - m[2][2],
	                    1 - m[0][0] + m[1][1] - m[2][2], 1 - m[0][0] - m[1][1] + m[2][2]};
	int k = 0;
	for (int i = 1; i < 4; i++)
		k = square[i] > square[k] ? i : k;
	double products[4][4] = {
		{square[0], m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]},
		{m[2][1] - m[1][2], square[1], m[0][1] + m[1][0], m[0][2] + m[2][0]},
		{m[0][2] - m[2][0], m[0][1] + m[1][0], square[2], m[1][2] + m[2][1]},
		{m[1][0] - m[0][1], m[0][2] + m[2][0], m[1][2] + m[2][1], square[3]},
	};
	double scale = 0.5 / sqrt(square[k]) * (products[k][0] < 0 ? -1 : 1);
	for (int i = 0; i < 4; i++)
		to[i] = scale * products[k][i];
}

CalStatus values_pose(const Sampling *s, const SampledObject *object, double *values) {
	CalPose pose;
	if (object->pair)
		return relative_pose(s, object, values);
	const CalStatus status = cal_node_pose(s->view->model, s->view->work, object->index, &pose);
	if (status != CAL_OK)
		return status;
	put_vec3(values, pose.r);
	put_quaternion(values + 3, &pose.R);
	return CAL_OK;
}

CalStatus values_velocity(const Sampling *s, const SampledObject *object, double *values) {
	CalSpatial velocity;
	if (object->pair)
		return relative_velocity(s, object, values);
	const CalStatus status = cal_node_velocity(s->view->model, s->view->work, object->index, &velocity);
	if (status != CAL_OK)
		return status;
	put_vec3(values, velocity.linear);
	put_vec3(values + 3, velocity.angular);
	return CAL_OK;
}

CalStatus values_body_rate(const Sampling *s, const SampledObject *object, double *values) {
	CalPose pose;
	CalSpatial velocity;
	if (object->pair)
		return relative_body_rate(s, object, values);
	CalStatus status = cal_node_pose(s->view->model, s->view->work, object->index, &pose);
	if (status == CAL_OK)
		status = cal_node_velocity(s->view->model, s->view->work, object->index, &velocity);
	for (int i = 0; i < 3 && status == CAL_OK; i++)
		values[i] = pose.R.m[0][i] * velocity.angular.x + pose.R.m[1][i] * velocity.angular.y +
		            pose.R.m[2][i] * velocity.angular.z;
	return status;
}

CalStatus values_acceleration(const Sampling *s, const SampledObject *object, double *values) {
	CalSpatial acceleration;
	const CalStatus status = cal_node_acceleration(s->view->model, s->view->work, object->index, &acceleration);
	if (status != CAL_OK)
		return status;
	put_vec3(values, acceleration.linear);
	put_vec3(values + 3, acceleration.angular);
	return CAL_OK;
}

CalStatus values_node(const Sampling *s, const SampledObject *object, double *values) {
	const CalStatus status = values_pose(s, object, values);
	return status == CAL_OK ? values_velocity(s, object, values + 7) : status;
}

static CalVec3 turned(const CalMat3 *R, CalVec3 v) {
	return (CalVec3){R->m[0][0] * v.x + R->m[0][1] * v.y + R->m[0][2] * v.z,
	                 R->m[1][0] * v.x + R->m[1][1] * v.y + R->m[1][2] * v.z,
	                 R->m[2][0] * v.x + R->m[2][1] * v.y + R->m[2][2] * v.z};
}

/* The sum of what the input applies at a node. */
CalStatus values_wrench(const Sampling *s, const SampledObject *object, double *values) {
	CalPose pose;
	CalStatus status = cal_node_pose(s->view->model, s->view->work, object->index, &pose);
	memset(values, 0, 6 * sizeof *values);
	for (int i = 0; i < s->view->input.wrench_count && status == CAL_OK; i++) {
		const CalWrench *w = &s->view->input.wrenches[i];
		double one[6];
		if (w->node != object->index)
			continue;
		put_vec3(one, w->frame == CAL_FRAME_NODE ? turned(&pose.R, w->f.angular) : w->f.angular);
		put_vec3(one + 3, w->frame == CAL_FRAME_NODE ? turned(&pose.R, w->f.linear) : w->f.linear);
		for (int k = 0; k < 6; k++)
			values[k] += one[k];
	}
	return status;
}

/* R' v. */
static CalVec3 turned_back(const CalMat3 *R, CalVec3 v) {
	return (CalVec3){R->m[0][0] * v.x + R->m[1][0] * v.y + R->m[2][0] * v.z,
	                 R->m[0][1] * v.x + R->m[1][1] * v.y + R->m[2][1] * v.z,
	                 R->m[0][2] * v.x + R->m[1][2] * v.y + R->m[2][2] * v.z};
}

static CalMat3 product(const CalMat3 *A, bool transpose_a, const CalMat3 *B, bool transpose_b) {
	CalMat3 C = {0};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			for (int k = 0; k < 3; k++)
				C.m[i][j] += (transpose_a ? A->m[k][i] : A->m[i][k]) * (transpose_b ? B->m[j][k] : B->m[k][j]);
	return C;
}

static void put_rotation_vector(double *to, const CalMat3 *R) {
	double q[4];
	put_quaternion(q, R);
	double sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
	double scale = sine > 0 ? 2 * portable_atan2(sine, q[0]) / sine : 0;
	for (int i = 0; i < 3; i++)
		to[i] = scale * q[i + 1];
}

/* Against the place and axes that the node has in the body frame when nothing is deformed. */
CalStatus values_deflection(const Sampling *s, const SampledObject *object, double *values) {
	const CalSimView *view = s->view;
	CalNodeInfo info;
	CalBodyInfo body;
	CalPose frame, pose;
	memset(values, 0, 6 * sizeof *values);
	CalStatus status = cal_model_node(view->model, object->index, &info);
	if (status != CAL_OK || info.body < 0) // on the ground
		return status;
	status = cal_model_body(view->model, info.body, &body);
	if (status == CAL_OK)
		status = cal_node_pose(view->model, view->work, body.node, &frame);
	if (status == CAL_OK)
		status = cal_node_pose(view->model, view->work, object->index, &pose);
	if (status != CAL_OK)
		return status;
	CalVec3 r = turned_back(&frame.R, (CalVec3){pose.r.x - frame.r.x, pose.r.y - frame.r.y, pose.r.z - frame.r.z});
	put_vec3(values, (CalVec3){r.x - info.pose.r.x, r.y - info.pose.r.y, r.z - info.pose.r.z});
	CalMat3 axes = product(&frame.R, true, &pose.R, false), turn = product(&axes, false, &info.pose.R, true);
	put_rotation_vector(values + 3, &turn);
	return CAL_OK;
}

/* ---- joints and loops --------------------------------------------------------------------------------------- */

static CalSpatial opposite(CalSpatial f) {
	return (CalSpatial){{-f.angular.x, -f.angular.y, -f.angular.z}, {-f.linear.x, -f.linear.y, -f.linear.z}};
}

/* On the body that the joint was given as outboard, at its node, also where it is inboard now. */
CalStatus values_reaction(const Sampling *s, const SampledObject *object, double *values) {
	const CalSimView *view = s->view;
	CalSpatial wrench;
	CalBodyInfo body;
	CalJointState state;
	CalPose head = {0}, inboard = {0};
	int reversed = 0;
	CalStatus status = cal_joint_reaction(view->model, view->work, object->index, &wrench);
	if (status == CAL_OK && cal_sim_joint_state(s->sim, object->joint, &state, &reversed) == CAL_OK && reversed) {
		status = cal_model_body(view->model, object->index, &body);
		if (status == CAL_OK)
			status = cal_node_pose(view->model, view->work, body.head_node, &head);
		if (status == CAL_OK && body.inboard_node >= 0)
			status = cal_node_pose(view->model, view->work, body.inboard_node, &inboard);
		wrench = cal_wrench_shift(opposite(wrench), head.r, inboard.r);
	}
	if (status == CAL_OK)
		put_wrench(values, wrench);
	return status;
}

CalStatus values_loop(const Sampling *s, const SampledObject *object, double *values) {
	CalSpatial wrench;
	const CalStatus status = cal_loop_wrench(s->view->model, s->view->work, object->index, &wrench, NULL);
	if (status == CAL_OK)
		put_wrench(values, wrench);
	return status;
}

/* ---- groups, devices, events, everything --------------------------------------------------------------------- */

CalStatus values_energy(const Sampling *s, const SampledObject *object, double *values) {
	CalSimMonitor monitor;
	const CalStatus status = cal_sim_monitor(s->sim, object->group, &monitor);
	if (status != CAL_OK)
		return status;
	values[0] = monitor.energy.kinetic;
	values[1] = monitor.energy.gravity;
	values[2] = monitor.energy.elastic;
	values[3] = monitor.energy.total;
	return CAL_OK;
}

CalStatus values_momentum(const Sampling *s, const SampledObject *object, double *values) {
	CalSimMonitor monitor;
	const CalStatus status = cal_sim_monitor(s->sim, object->group, &monitor);
	if (status != CAL_OK)
		return status;
	put_vec3(values, monitor.momentum.linear);
	put_vec3(values + 3, monitor.momentum.angular_origin);
	return CAL_OK;
}

CalStatus values_device(const Sampling *s, const SampledObject *object, double *values) {
	return cal_context_device_outputs(s->context, object->number, values);
}

CalStatus values_event(const Sampling *s, const SampledObject *object, double *values) {
	values[0] = (double)cal_sim_event_happened(s->sim, object->number, NULL);
	return CAL_OK;
}

CalStatus values_balance(const Sampling *s, const SampledObject *object, double *values) {
	CalSimBalance balance;
	const CalStatus status = cal_sim_balance(s->sim, &balance);
	(void)object;
	if (status != CAL_OK)
		return status;
	values[0] = balance.groups;
	values[1] = balance.stored;
	values[2] = balance.dissipated;
	values[3] = balance.supplied;
	values[4] = balance.complete ? balance.error : (double)NAN; // otherwise it means nothing
	return CAL_OK;
}

CalStatus values_formulation(const Sampling *s, const SampledObject *object, double *values) {
	const CalFormulationReport r = cal_sim_formulation(s->sim);
	(void)object;
	values[0] = (double)r.updates;
	values[1] = r.last;
	values[2] = r.error;
	values[3] = r.missing_energy;
	values[4] = r.energy_removed;
	return CAL_OK;
}

CalStatus values_total_momentum(const Sampling *s, const SampledObject *object, double *values) {
	CalSimBalance balance;
	const CalStatus status = cal_sim_balance(s->sim, &balance);
	(void)object;
	if (status != CAL_OK)
		return status;
	put_vec3(values, balance.linear);
	put_vec3(values + 3, balance.angular);
	return CAL_OK;
}
