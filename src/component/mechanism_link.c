// SPDX-License-Identifier: Apache-2.0
/*
 * mechanism_link.c — an embedded mechanism as the functions of a link [THEORY (5.27), (5.28)].
 *
 * Its bodies are nodes of the link and carry their own inertia; the link has none. In the mechanism's own model, whose
 * ground is B, node i moves by S = J_i X, and without vdot accelerates by J_i c + (what speeds give), c = bias of (5.24).
 */
#include "component/mechanism_motion.h"

static int add_nothing(const void *data, void *scratch, const double *q, const double *u, const CalLinkBase *base,
                       CalLinkInertia *out) {
	(void)data, (void)scratch, (void)q, (void)u, (void)base, (void)out;
	return 0;
}

/* Poses and accelerations of all bodies, once for all of them. */
static CalStatus sweep(const Mechanism *m, MechanismWork *w) {
	const CalState state = {.q = w->q, .u = w->u};
	if (w->swept)
		return CAL_OK;
	cal_projection_accelerations(w->projection, NULL, w->udot);
	const CalStatus status = cal_kinematics(m->model, &state, w->udot, w->work);
	w->swept = status == CAL_OK;
	return status;
}

static void add_columns(const Mechanism *m, const MechanismWork *w, double *S) {
	const int nu = m->model->nu, n = m->dofs;
	const double *X = cal_projection_map(w->projection);
	for (int i = 0; i < 6; ++i) {
		for (int k = 0; k < nu; ++k) {
			for (int j = 0; j < n && w->J[i * nu + k] != 0; ++j)
				S[i * n + j] += w->J[i * nu + k] * X[k * n + j];
		}
	}
}

/* Node i is the frame of body i. */
static int move_body(const void *data, void *scratch, int index, const double *q, const double *u, CalLinkNode *out) {
	const Mechanism *m = data;
	MechanismWork *w = mechanism_work(m, scratch);
	const int node = m->model->bodies[index].node;
	CalStatus status = mechanism_move(m, w, q, u);
	if (status == CAL_OK)
		status = sweep(m, w);
	if (status == CAL_OK)
		status = cal_node_pose(m->model, w->work, node, &out->pose);
	if (status == CAL_OK)
		status = cal_node_acceleration(m->model, w->work, node, &out->bias);
	if (status == CAL_OK)
		status = cal_node_jacobian(m->model, w->work, node, w->J);
	if (status != CAL_OK)
		return 1;
	add_columns(m, w, out->S);
	return 0;
}

const MechanismFunctions mechanism_functions = {
	.link = {.name = "mechanism", .inertia = add_nothing, .node = move_body}, .scratch_size = mechanism_work_size};
