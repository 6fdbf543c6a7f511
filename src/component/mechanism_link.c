// SPDX-License-Identifier: Apache-2.0
/*
 * mechanism_link.c — an embedded mechanism as the functions of a link [THEORY (5.27), (5.28)].
 *
 * Its bodies are nodes of the link and carry their own inertia; the link has none. In the mechanism's own model, whose
 * ground is B, node i moves by S = J_i X, and without vdot accelerates by J_i c + (what speeds give), c = bias of (5.24).
 * Springs, dampers and rotors of its joints are forces and inertia of the link's dofs, by the same map.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "component/mechanism_motion.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"

/* Configuration and map, which are the same at any speeds. */
static CalStatus find_map(const Mechanism *m, MechanismWork *w, const double *q) {
	const bool known = w->closed && w->moving && memcmp(w->key_q, q, sizeof(double) * (size_t)m->dofs) == 0;
	return known ? CAL_OK : mechanism_move(m, w, q, NULL);
}

/* out += X'f. */
static void add_mapped(const Mechanism *m, const double *X, const double *f, double *out) {
	for (int k = 0; k < m->model->nu; ++k) {
		for (int j = 0; j < m->dofs && f[k] != 0; ++j)
			out[j] += X[k * m->dofs + j] * f[k];
	}
}

/* Rotors: M += X'R X, and X'R c where speeds accelerate joints by c at vdot = 0. Bodies carry their own inertia. */
static int add_rotors(const void *data, void *scratch, const double *q, const double *u, const CalLinkBase *base,
                      CalLinkInertia *out) {
	const Mechanism *m = data;
	MechanismWork *w = mechanism_work(m, scratch);
	if (!m->model->any_rotor)
		return 0;
	if ((base ? mechanism_move(m, w, q, u) : find_map(m, w, q)) != CAL_OK)
		return 1;
	const double *X = cal_projection_map(w->projection), *R = m->model->rotor;
	const int n = m->dofs;
	for (int k = 0; k < m->model->nu; ++k) {
		for (int i = 0; i < n && R[k] != 0; ++i)
			for (int j = 0; j < n; ++j)
				out->M[i * n + j] += X[k * n + i] * R[k] * X[k * n + j];
	}
	if (!base)
		return 0;
	cal_projection_accelerations(w->projection, NULL, w->udot);
	for (int k = 0; k < m->model->nu; ++k)
		w->force[k] = R[k] * w->udot[k];
	add_mapped(m, X, w->force, out->dof_force);
	return 0;
}

/* Springs and dampers of its joints: X'f. */
static int add_springs(const void *data, void *scratch, const double *q, const double *u, double *force) {
	const Mechanism *m = data;
	MechanismWork *w = mechanism_work(m, scratch);
	if (mechanism_move(m, w, q, u) != CAL_OK)
		return 1;
	memset(w->force, 0, sizeof(double) * (size_t)m->model->nu);
	forces_add_elastic(m->model, w->q, w->u, w->work, w->force);
	add_mapped(m, cal_projection_map(w->projection), w->force, force);
	return 0;
}

static double potential_of_joints(const void *data, void *scratch, const double *q) {
	const Mechanism *m = data;
	MechanismWork *w = mechanism_work(m, scratch);
	return find_map(m, w, q) == CAL_OK ? forces_elastic_energy(m->model, w->q, w->work) : NAN;
}

static double power_of_dampers(const void *data, void *scratch, const double *q, const double *u) {
	const Mechanism *m = data;
	MechanismWork *w = mechanism_work(m, scratch);
	return mechanism_move(m, w, q, u) == CAL_OK ? forces_damping_power(m->model, w->q, w->u, NULL, w->work) : NAN;
}

/* Accelerations of all bodies, once for all of them; the map has left poses and velocities. */
static void accelerate_bodies(const Mechanism *m, MechanismWork *w) {
	if (w->swept)
		return;
	cal_projection_accelerations(w->projection, NULL, w->udot);
	kinematics_accelerate(m->model, w->udot, w->work);
	w->swept = 1;
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
		accelerate_bodies(m, w);
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

const MechanismFunctions mechanism_functions = {.link = {.name = "mechanism",
                                                         .inertia = add_rotors,
                                                         .node = move_body,
                                                         .elastic = add_springs,
                                                         .potential = potential_of_joints,
                                                         .dissipated = power_of_dampers},
                                                .scratch_size = mechanism_work_size};
