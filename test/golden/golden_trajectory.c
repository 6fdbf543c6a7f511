// SPDX-License-Identifier: Apache-2.0
/*
 * golden_trajectory.c — a case of kind "trajectory": integrated at tight tolerance, compared at samples.
 *
 * Dormand-Prince at rtol 1e-13; the inputs are constant over each segment of the schedule and the
 * integrator is restarted where they switch. Errors are |dy| / max(1, max|y|) over each quantity, as in
 * the accuracy block of the file; the tolerance is ten times what that block admits, within 1e-10 ... 1e-9.
 */
#include <math.h>
#include <stdio.h>

#include "golden/golden.h"

/* Constant over a segment but for the springs. */
static int segment_input(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	GoldenCase *c = user;
	(void)model;
	const CalStatus status = golden_springs_apply(c, state);
	*input = c->input;
	return status != CAL_OK;
}

/* The oracle does not project: samples of a case with loops drift off the constraints, as its second number shows. */
static CalStatus read_tolerance(GoldenCase *c) {
	double error, looser = 0;
	const TreeNode *accuracy = tree_get(c->root, "accuracy");
	CalStatus status = golden_number(c, tree_get(accuracy, "vs_rk4_richardson"), 0, &error);
	const TreeNode *constraints = tree_get(tree_get(c->root, "model"), "constraints");
	if (status == CAL_OK && constraints && constraints->count > 0)
		status = golden_number(c, tree_get(accuracy, "vs_dop853_1e11"), 0, &looser);
	c->tolerance = fmin(1e-9, fmax(1e-10, 10 * fmax(error, looser)));
	return status;
}

/* Input of the segment that holds t, and the time at which it ends. */
static CalStatus enter_segment(GoldenCase *c, double t, double *end) {
	const TreeNode *schedule = tree_get(c->root, "schedule"), *applied = NULL;
	*end = INFINITY;
	for (int i = 0; schedule && schedule->kind == TREE_LIST && i < schedule->count; i++) {
		double t0, t1;
		CalStatus status = golden_number(c, tree_get(schedule->items[i], "t0"), 0, &t0);
		if (status == CAL_OK)
			status = golden_number(c, tree_get(schedule->items[i], "t1"), 0, &t1);
		if (status != CAL_OK)
			return status;
		if (t0 <= t && t < t1) {
			applied = tree_get(schedule->items[i], "applied");
			*end = fmin(*end, t1);
		} else if (t < t0) {
			*end = fmin(*end, t0);
		}
	}
	return golden_set_input(c, applied, NULL);
}

static CalStatus advance_to(GoldenCase *c, CalIntegrator *integrator, double t) {
	while (c->state.t < t) {
		double end;
		CalStatus status = enter_segment(c, c->state.t, &end);
		if (status != CAL_OK)
			return status;
		cal_integrator_reset(integrator);
		status = cal_integrator_advance(integrator, &c->state, fmin(t, end));
		if (status != CAL_OK)
			return golden_numeric(c, status, "integration");
	}
	return CAL_OK;
}

/* ---- comparing a sample ---------------------------------------------------------------------- */

/* Coordinates element by element: quaternions count up to sign. */
static CalStatus compare_coordinates(GoldenCase *c, const char *label, const GoldenBody *body, const TreeNode *q) {
	const TreeNode *elements = golden_elements(body->node);
	double expected[CAL_JOINT_MAX_COORDS];
	const double *got = c->state.q + body->info.q;
	if (!q)
		return CAL_OK;
	CalStatus status = golden_numbers(c, q, expected, body->info.nq);
	if (status != CAL_OK)
		return status;
	int at = 0;
	for (int i = 0; elements && i < elements->count; i++) {
		const char *type;
		status = golden_text(c, tree_get(elements->items[i], "type"), NULL, &type);
		if (status != CAL_OK)
			return status;
		const int nq = golden_element_nq(type), quat = nq == 7 ? at + 3 : nq == 4 ? at : -1;
		double dot = 0, error = 0, scale = 1;
		for (int k = 0; quat >= 0 && k < 4; k++)
			dot += got[quat + k] * expected[quat + k];
		for (int k = at; k < at + nq; k++) {
			const double sign = quat >= 0 && k >= quat && dot < 0 ? -1 : 1;
			error = isfinite(got[k]) ? fmax(error, fabs(sign * got[k] - expected[k])) : INFINITY;
			scale = fmax(scale, fabs(expected[k]));
		}
		golden_tally(c, "q", label, error, scale, c->tolerance);
		at += nq;
	}
	return CAL_OK;
}

static CalStatus compare_speeds(GoldenCase *c, const char *label, const GoldenBody *body, const TreeNode *entry) {
	const CalBodyInfo *info = &body->info;
	const double *u = c->state.u + info->u, *eta = c->state.q + info->q + info->nq;
	CalStatus status = golden_compare(c, "u", label, tree_get(entry, "u"), u, info->nu, 1, c->tolerance);
	if (status == CAL_OK && info->modes > 0)
		status = golden_compare(c, "eta", label, tree_get(entry, "eta"), eta, info->modes, 1, c->tolerance);
	if (status == CAL_OK && info->modes > 0)
		status =
			golden_compare(c, "etadot", label, tree_get(entry, "etadot"), u + info->nu, info->modes, 1, c->tolerance);
	return status;
}

static CalStatus compare_state(GoldenCase *c, const TreeNode *state, double t) {
	for (int i = 0; i < c->body_count; i++) {
		const GoldenBody *body = &c->bodies[i];
		const TreeNode *entry = tree_get(state, body->name);
		char label[160];
		if (!entry)
			continue;
		snprintf(label, sizeof label, "%.100s at t=%g", body->name, t);
		CalStatus status = compare_coordinates(c, label, body, tree_get(entry, "q"));
		if (status == CAL_OK)
			status = compare_speeds(c, label, body, entry);
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

static CalStatus compare_vec(GoldenCase *c, const char *what, const char *label, const TreeNode *expected,
                             CalVec3 got) {
	return golden_compare_vec(c, what, label, expected, got, 1, c->tolerance);
}

static CalStatus compare_sums(GoldenCase *c, const TreeNode *sample, const char *label) {
	CalEnergy energy;
	CalMomentum p;
	CalStatus status = golden_numeric(c, cal_energy(c->model, &c->state, c->work, &energy), "cal_energy");
	if (status == CAL_OK)
		status = golden_springs_apply(c, &c->state);
	if (status == CAL_OK)
		status = golden_numeric(c, cal_momentum(c->model, &c->state, c->work, &p), "cal_momentum");
	if (status != CAL_OK)
		return status;
	energy.total += c->spring_energy;
	if (status == CAL_OK)
		status = golden_compare(c, "kinetic_energy", label, tree_get(sample, "kinetic_energy"), &energy.kinetic, 1, 1,
		                        c->tolerance);
	if (status == CAL_OK)
		status = golden_compare(c, "total_energy", label, tree_get(sample, "total_energy"), &energy.total, 1, 1,
		                        c->tolerance);
	if (status == CAL_OK)
		status = compare_vec(c, "linear_momentum", label, tree_get(sample, "linear_momentum"), p.linear);
	if (status == CAL_OK)
		status = compare_vec(c, "angular_momentum_origin", label, tree_get(sample, "angular_momentum_origin"),
		                     p.angular_origin);
	if (status == CAL_OK)
		status = compare_vec(c, "com", label, tree_get(sample, "com"), p.com);
	return status;
}

static CalStatus compare_bodies(GoldenCase *c, const TreeNode *bodies, double t) {
	CalStatus status = golden_numeric(c, cal_kinematics(c->model, &c->state, NULL, c->work), "cal_kinematics");
	for (int i = 0; status == CAL_OK && bodies && bodies->kind == TREE_MAP && i < bodies->count; i++) {
		CalPose pose;
		CalSpatial v;
		char label[160];
		const TreeNode *e = bodies->items[i];
		const int node = cal_model_find_node(c->model, tree_key(bodies, i)->text);
		if (node < 0)
			return golden_fail(c, tree_key(bodies, i), "unknown body");
		snprintf(label, sizeof label, "%.100s at t=%g", tree_key(bodies, i)->text, t);
		status = golden_numeric(c, cal_node_pose(c->model, c->work, node, &pose), "cal_node_pose");
		if (status == CAL_OK)
			status = golden_numeric(c, cal_node_velocity(c->model, c->work, node, &v), "cal_node_velocity");
		if (status == CAL_OK)
			status = compare_vec(c, "r", label, tree_get(e, "r"), pose.r);
		if (status == CAL_OK)
			status = golden_compare(c, "R", label, tree_get(e, "R"), &pose.R.m[0][0], 9, 1, c->tolerance);
		if (status == CAL_OK)
			status = compare_vec(c, "v", label, tree_get(e, "v"), v.linear);
		if (status == CAL_OK)
			status = compare_vec(c, "w", label, tree_get(e, "w"), v.angular);
	}
	return status;
}

static CalStatus run_samples(GoldenCase *c, CalIntegrator *integrator, const TreeNode *samples) {
	for (int i = 0; i < samples->count; i++) {
		double t = 0;
		char label[64];
		const TreeNode *sample = samples->items[i];
		CalStatus status = golden_check_sample_keys(c, sample);
		if (status == CAL_OK)
			status = golden_number(c, tree_get(sample, "t"), 0, &t);
		if (status == CAL_OK && t < c->state.t)
			status = golden_fail(c, sample, "the samples are not in the order of time");
		if (status == CAL_OK)
			status = advance_to(c, integrator, t);
		if (status != CAL_OK)
			return status;
		snprintf(label, sizeof label, "at t=%g", t);
		status = compare_state(c, tree_get(sample, "state"), t);
		if (status == CAL_OK)
			status = compare_sums(c, sample, label);
		if (status == CAL_OK)
			status = compare_bodies(c, tree_get(sample, "bodies"), t);
		if (status == CAL_OK)
			status = golden_check_closure(c, label, tree_get(sample, "constraint_drift"));
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

CalStatus golden_run_trajectory(GoldenCase *c) {
	const TreeNode *samples = tree_get(c->root, "samples");
	if (!samples || samples->kind != TREE_LIST || samples->count == 0)
		return golden_fail(c, c->root, "the case has no list of samples");
	CalIntegrator *integrator = NULL;
	enum { MOST_STEPS = 30000 }; // from one sample to the next; a file can ask for any motion
	const CalIntegratorOptions options = {.method = CAL_METHOD_DOPRI5,
	                                      .rtol = 1e-13,
	                                      .atol = 1e-14,
	                                      .max_steps = MOST_STEPS,
	                                      .input = segment_input,
	                                      .user = c};
	CalStatus status = read_tolerance(c);
	if (status == CAL_OK)
		status = golden_bind(c, CAL_SOLVER_AUTO);
	if (status == CAL_OK)
		status =
			golden_numeric(c, cal_integrator_create(c->model, c->work, &options, &integrator), "cal_integrator_create");
	if (status == CAL_OK)
		status = run_samples(c, integrator, samples);
	cal_integrator_destroy(integrator);
	golden_unbind(c);
	return status;
}
