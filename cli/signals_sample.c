// SPDX-License-Identifier: Apache-2.0
/*
 * signals_sample.c — the values of signals now.
 *
 * One forward dynamics per group gives coordinates, nodes and deflections, one more call each the reactions and the residuals
 * of loops, and the monitors energy and momentum. A signal of which one column is wanted is computed as a whole all the same.
 */
#include <math.h>
#include <string.h>

#include "signals.h"

static void put_vec3(double *to, CalVec3 v) {
	to[0] = v.x;
	to[1] = v.y;
	to[2] = v.z;
}

/* The quaternion of R with w >= 0; divides by its largest component. */
static void put_quaternion(double *to, const CalMat3 *R) {
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

static CalStatus put_pose(const CalSimView *view, int node, double *to) {
	CalPose pose;
	CalStatus status = cal_node_pose(view->model, view->work, node, &pose);
	if (status != CAL_OK)
		return status;
	put_vec3(to, pose.r);
	put_quaternion(to + 3, &pose.R);
	return CAL_OK;
}

static CalStatus put_velocity(const CalSimView *view, int node, bool acceleration, double *to) {
	CalSpatial value;
	CalStatus status = acceleration ? cal_node_acceleration(view->model, view->work, node, &value)
	                                : cal_node_velocity(view->model, view->work, node, &value);
	if (status != CAL_OK)
		return status;
	put_vec3(to, value.linear);
	put_vec3(to + 3, value.angular);
	return CAL_OK;
}

static CalStatus sample_node(const CalSimView *view, SignalKind kind, int node, double *to) {
	CalStatus status = CAL_OK;
	if (kind == SIGNAL_NODE || kind == SIGNAL_POSE)
		status = put_pose(view, node, to);
	if (kind == SIGNAL_POSE || status != CAL_OK)
		return status;
	return put_velocity(view, node, kind == SIGNAL_ACCELERATION, to + (kind == SIGNAL_NODE ? 7 : 0));
}

static CalVec3 turned(const CalMat3 *R, CalVec3 v) {
	return (CalVec3){R->m[0][0] * v.x + R->m[0][1] * v.y + R->m[0][2] * v.z,
	                 R->m[1][0] * v.x + R->m[1][1] * v.y + R->m[1][2] * v.z,
	                 R->m[2][0] * v.x + R->m[2][1] * v.y + R->m[2][2] * v.z};
}

/* The sum of what the input applies at a node. */
static CalStatus sample_wrench(const CalSimView *view, int node, double *to) {
	CalPose pose;
	CalStatus status = cal_node_pose(view->model, view->work, node, &pose);
	memset(to, 0, 6 * sizeof *to);
	for (int i = 0; i < view->input.wrench_count && status == CAL_OK; i++) {
		const CalWrench *w = &view->input.wrenches[i];
		double values[6];
		if (w->node != node)
			continue;
		put_vec3(values, w->frame == CAL_FRAME_NODE ? turned(&pose.R, w->f.angular) : w->f.angular);
		put_vec3(values + 3, w->frame == CAL_FRAME_NODE ? turned(&pose.R, w->f.linear) : w->f.linear);
		for (int k = 0; k < 6; k++)
			to[k] += values[k];
	}
	return status;
}

/* Generalized forces: those given, and those that driven dofs need beyond them. */
static double force_on(const CalSimView *view, int u) {
	return (view->input.tau ? view->input.tau[u] : 0) + view->force[u];
}

static void put_coordinates(const SignalSet *set, const CalSimView *view, const Signal *signal, double *row) {
	for (int i = signal->first; i < signal->first + signal->count; i++) {
		int at = set->places[i].at;
		if (at >= 0)
			row[i] = signal->kind == SIGNAL_Q      ? view->state->q[at]
			         : signal->kind == SIGNAL_U    ? view->state->u[at]
			         : signal->kind == SIGNAL_UDOT ? view->udot[at]
			                                       : force_on(view, at);
	}
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
	double scale = sine > 0 ? 2 * atan2(sine, q[0]) / sine : 0;
	for (int i = 0; i < 3; i++)
		to[i] = scale * q[i + 1];
}

/* Against the place and axes that the node has in the body frame when nothing is deformed. */
static CalStatus sample_deflection(const CalSimView *view, int node, double *to) {
	CalNodeInfo info;
	CalBodyInfo body;
	CalPose frame, pose;
	memset(to, 0, 6 * sizeof *to);
	CalStatus status = cal_model_node(view->model, node, &info);
	if (status != CAL_OK || info.body < 0) // on the ground
		return status;
	status = cal_model_body(view->model, info.body, &body);
	if (status == CAL_OK)
		status = cal_node_pose(view->model, view->work, body.node, &frame);
	if (status == CAL_OK)
		status = cal_node_pose(view->model, view->work, node, &pose);
	if (status != CAL_OK)
		return status;
	CalVec3 r = turned_back(&frame.R, (CalVec3){pose.r.x - frame.r.x, pose.r.y - frame.r.y, pose.r.z - frame.r.z});
	put_vec3(to, (CalVec3){r.x - info.pose.r.x, r.y - info.pose.r.y, r.z - info.pose.r.z});
	CalMat3 axes = product(&frame.R, true, &pose.R, false), turn = product(&axes, false, &info.pose.R, true);
	put_rotation_vector(to + 3, &turn);
	return CAL_OK;
}

static CalSpatial opposite(CalSpatial f) {
	return (CalSpatial){{-f.angular.x, -f.angular.y, -f.angular.z}, {-f.linear.x, -f.linear.y, -f.linear.z}};
}

/* On the body that the joint was given as outboard, at its node, also where it is inboard now. */
static CalStatus sample_reaction(CalSim *sim, const CalSimView *view, const Signal *s, double *to) {
	CalSpatial wrench;
	CalBodyInfo body;
	CalJointState state;
	CalPose head = {0}, inboard = {0};
	int reversed = 0;
	CalStatus status = cal_joint_reaction(view->model, view->work, s->index, &wrench);
	if (status == CAL_OK && cal_sim_joint_state(sim, s->joint, &state, &reversed) == CAL_OK && reversed) {
		status = cal_model_body(view->model, s->index, &body);
		if (status == CAL_OK)
			status = cal_node_pose(view->model, view->work, body.head_node, &head);
		if (status == CAL_OK && body.inboard_node >= 0)
			status = cal_node_pose(view->model, view->work, body.inboard_node, &inboard);
		wrench = cal_wrench_shift(opposite(wrench), head.r, inboard.r);
	}
	if (status != CAL_OK)
		return status;
	put_vec3(to, wrench.angular);
	put_vec3(to + 3, wrench.linear);
	return CAL_OK;
}

static CalStatus sample_loop(const CalSimView *view, int loop, double *to) {
	CalSpatial wrench;
	CalStatus status = cal_loop_wrench(view->model, view->work, loop, &wrench, NULL);
	if (status != CAL_OK)
		return status;
	put_vec3(to, wrench.angular);
	put_vec3(to + 3, wrench.linear);
	return CAL_OK;
}

static CalStatus sample_multipliers(const SignalSet *set, const CalSimView *view, const Signal *s, double *row) {
	const CalStatus status = cal_loop_multipliers(view->model, view->work, set->values);
	for (int k = s->first; status == CAL_OK && k < s->first + s->count; k++)
		row[k] = set->values[set->places[k].at];
	return status;
}

/* Residuals of a group's loops. They take the forces of the loops from the workspace: the last to be asked for. */
static CalStatus sample_residuals(const SignalSet *set, const CalSimView *view, int group, double *row) {
	CalStatus status = cal_loop_residual(view->model, view->state, view->work, set->values, NULL);
	for (int i = set->first[group]; i >= 0 && status == CAL_OK; i = set->signals[i].next) {
		const Signal *s = &set->signals[i];
		for (int k = s->first; s->kind == SIGNAL_RESIDUAL && k < s->first + s->count; k++)
			row[k] = set->values[set->places[k].at];
	}
	return status;
}

static CalStatus sample_monitor(CalSim *sim, const Signal *signal, double *to) {
	CalSimMonitor monitor;
	CalStatus status = cal_sim_monitor(sim, signal->group, &monitor);
	if (status != CAL_OK)
		return status;
	if (signal->kind == SIGNAL_ENERGY) {
		double energy[] = {monitor.energy.kinetic, monitor.energy.gravity, monitor.energy.elastic,
		                   monitor.energy.total};
		memcpy(to, energy, sizeof energy);
	} else {
		put_vec3(to, monitor.momentum.linear);
		put_vec3(to + 3, monitor.momentum.angular_origin);
	}
	return CAL_OK;
}

enum { MOST_VALUES = 13 }; // of the signals below, all columns taken

/* What the signal wants of all its values. */
static void put_values(const Signal *signal, const double *all, double *row) {
	if (signal->only >= 0)
		row[signal->first] = all[signal->only];
	else
		memcpy(row + signal->first, all, (size_t)signal->count * sizeof(double));
}

/* What the view holds at once: not reactions, nor residuals. */
static CalStatus sample_signal(const SignalSet *set, const CalSimView *view, const Signal *s, double *row) {
	CalStatus status;
	double all[MOST_VALUES];
	switch (s->kind) {
	case SIGNAL_Q:
	case SIGNAL_U:
	case SIGNAL_UDOT:
	case SIGNAL_FORCE:
		put_coordinates(set, view, s, row);
		return CAL_OK;
	case SIGNAL_DEFLECTION:
		status = sample_deflection(view, s->index, all);
		break;
	case SIGNAL_WRENCH:
		status = sample_wrench(view, s->index, all);
		break;
	case SIGNAL_MULTIPLIER:
		return sample_multipliers(set, view, s, row);
	case SIGNAL_LOOP:
		status = sample_loop(view, s->index, all);
		break;
	case SIGNAL_NODE:
	case SIGNAL_POSE:
	case SIGNAL_VELOCITY:
	case SIGNAL_ACCELERATION:
		status = sample_node(view, s->kind, s->index, all);
		break;
	default:
		return CAL_OK;
	}
	if (status == CAL_OK)
		put_values(s, all, row);
	return status;
}

static CalStatus sample_reactions(const SignalSet *set, CalSim *sim, const CalSimView *view, int group, double *row) {
	CalStatus status = cal_reactions(view->model, view->state, view->udot, &view->input, view->work);
	for (int i = set->first[group]; i >= 0 && status == CAL_OK; i = set->signals[i].next) {
		const Signal *s = &set->signals[i];
		double all[MOST_VALUES];
		if (s->kind != SIGNAL_REACTION)
			continue;
		status = sample_reaction(sim, view, s, all);
		if (status == CAL_OK)
			put_values(s, all, row);
	}
	return status;
}

/* Everything that one forward dynamics gives; reactions and residuals come last because they use its workspace. */
static CalStatus sample_group(const SignalSet *set, CalSim *sim, int group, double *row) {
	CalSimView view;
	bool reactions = false, residuals = false, anything = false;
	for (int i = set->first[group]; i >= 0; i = set->signals[i].next) {
		SignalKind kind = set->signals[i].kind;
		anything |= kind != SIGNAL_ENERGY && kind != SIGNAL_MOMENTUM;
		reactions |= kind == SIGNAL_REACTION;
		residuals |= kind == SIGNAL_RESIDUAL;
	}
	if (!anything)
		return CAL_OK;
	CalStatus status = cal_sim_observe(sim, group, &view);
	for (int i = set->first[group]; i >= 0 && status == CAL_OK; i = set->signals[i].next)
		status = sample_signal(set, &view, &set->signals[i], row);
	if (reactions && status == CAL_OK)
		status = sample_reactions(set, sim, &view, group, row);
	return residuals && status == CAL_OK ? sample_residuals(set, &view, group, row) : status;
}

/* Sums over everything. */
static CalStatus sample_sum(CalSim *sim, SignalKind kind, double *to) {
	CalSimBalance balance;
	CalStatus status = cal_sim_balance(sim, &balance);
	if (status != CAL_OK)
		return status;
	if (kind == SIGNAL_BALANCE) {
		double accounts[] = {balance.groups, balance.stored, balance.dissipated, balance.supplied,
		                     balance.complete ? balance.error : (double)NAN}; // otherwise it means nothing
		memcpy(to, accounts, sizeof accounts);
	} else {
		put_vec3(to, balance.linear);
		put_vec3(to + 3, balance.angular);
	}
	return CAL_OK;
}

/* Of what is in no group, and of a group as a whole. */
static CalStatus sample_of_sim(CalSim *sim, const Signal *s, double *row) {
	double all[MOST_VALUES];
	CalStatus status = CAL_OK;
	if (s->kind == SIGNAL_EVENT)
		all[0] = (double)cal_sim_event_happened(sim, s->number, NULL);
	else if (s->kind == SIGNAL_BALANCE || s->kind == SIGNAL_TOTAL)
		status = sample_sum(sim, s->kind, all);
	else
		status = sample_monitor(sim, s, all);
	if (status == CAL_OK)
		put_values(s, all, row);
	return status;
}

typedef struct DeviceRow {
	const SignalSet *set;
	double *row;
} DeviceRow;

/* Outputs of all devices, in one scene. */
static CalStatus sample_devices(void *user, CalEvalContext *scene) {
	const DeviceRow *to = user;
	CalStatus status = CAL_OK;
	for (int i = 0; i < to->set->signal_count && status == CAL_OK; i++) {
		const Signal *s = &to->set->signals[i];
		if (s->kind != SIGNAL_DEVICE)
			continue;
		status = cal_context_device_outputs(scene, s->number, to->set->values);
		if (status == CAL_OK)
			put_values(s, to->set->values, to->row);
	}
	return status;
}

CalStatus signals_sample(SignalSet *set, CalSim *sim, double *row) {
	CalStatus status = CAL_OK;
	if (set->generation != cal_sim_generation(sim))
		signals_resolve(set, sim, 0);
	if (set->failed)
		return CAL_ERR_MEMORY;
	for (int i = 1; i < set->column_count; i++)
		row[i] = NAN;
	row[0] = cal_sim_time(sim);
	for (int group = 0; group < set->first_count && status == CAL_OK; group++)
		status = sample_group(set, sim, group, row);
	bool devices = false;
	for (int i = 0; i < set->signal_count && status == CAL_OK; i++) {
		const Signal *s = &set->signals[i];
		const bool of_group = s->kind == SIGNAL_ENERGY || s->kind == SIGNAL_MOMENTUM;
		devices |= s->kind == SIGNAL_DEVICE;
		if (s->kind != SIGNAL_DEVICE && (of_group ? s->group >= 0 : signal_is_of_sim(s->kind)))
			status = sample_of_sim(sim, s, row);
	}
	return devices && status == CAL_OK ? cal_sim_inspect(sim, sample_devices, &(DeviceRow){set, row}) : status;
}
