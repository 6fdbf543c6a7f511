// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_model.c — a compiled model as a black box: x = (q, u), Phi = J M^-1 J', b = the accelerations of its border
 * nodes without forces on them. By the recursion; where loops or driven freedoms are inside, from forward dynamics
 * under large wrenches, which are linear in them.
 *
 * The derivative of a quaternion is q (0, w)/2, w in the outboard frame as speeds are; it is made unit when it is used,
 * and in x after every step. Loops inside are projected then too.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <calder/loops.h>
#include <calder/subsystem.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/placement.h"
#include "model/model.h"

static const double PROBE = 1048576; // a power of two

typedef struct ModelBox {
	const CalModel *model;
	CalWork *work;
	CalAllocator allocator;
	double *q, *u, *udot, *scratch; // [nq], [nu], [nu], [nu]
	double *q_start, *u_start;      // at the start
	CalWrench *wrenches;            // [count]
	int *nodes;                     // [count] border
	int *place;     // [nu] coordinate of a speed; -1 - i: the first of a quaternion at i; other: part of it
	int count, fit; // fit: speed of the free joint that the first border node is the head of, -1: none
	int fit_q;      //
	void (*release)(void *user); // NULL: nothing to be released
	void *user;                  //
	char why[160];
} ModelBox;

enum { QUATERNION = -1, WITHIN = -1000000 };

/* ---- states ------------------------------------------------------------------------------------------------------- */

static CalState state_of(ModelBox *box, double t, const double *x) {
	memcpy(box->q, x, (size_t)box->model->nq * sizeof *x);
	memcpy(box->u, x + box->model->nq, (size_t)box->model->nu * sizeof *x);
	return (CalState){.t = t, .q = box->q, .u = box->u};
}

/* Says what went wrong; always nonzero. */
static int failed(ModelBox *box, const char *what, CalStatus status) {
	snprintf(box->why, sizeof box->why, "%s: %s", what, cal_status_text(status));
	return 1;
}

static void coordinate_rates(const ModelBox *box, const CalState *s, double *rate) {
	for (int k = 0; k < box->model->nu; k++) {
		const int at = box->place[k];
		if (at >= 0)
			rate[at] = s->u[k];
		if (at >= 0 || at == WITHIN)
			continue;
		const int i = QUATERNION - at;
		const CalQuat q = {s->q[i], s->q[i + 1], s->q[i + 2], s->q[i + 3]};
		const CalQuat turned = dquat_mul(q, (CalQuat){0, s->u[k], s->u[k + 1], s->u[k + 2]});
		const double out[4] = {turned.w / 2, turned.x / 2, turned.y / 2, turned.z / 2};
		memcpy(rate + i, out, sizeof out);
	}
}

/* ---- functions of the box --------------------------------------------------------------------------------------------- */

static int start(void *self, double t, const CalBorder *border, double *x) {
	ModelBox *box = self;
	(void)t;
	memcpy(x, box->q_start, (size_t)box->model->nq * sizeof *x);
	memcpy(x + box->model->nq, box->u_start, (size_t)box->model->nu * sizeof *x);
	if (box->fit < 0)
		return 0;
	const dmat3 R = dmat_in(&border[0].pose.R);
	const CalQuat turn = quat_of_matrix(R);
	const CalVec3 r = border[0].pose.r, v = border[0].velocity.linear;
	const dvec3 w = dmat_tmul_vec(R, dvec_in(border[0].velocity.angular)); // in the outboard frame
	const double q[7] = {r.x, r.y, r.z, turn.w, turn.x, turn.y, turn.z}, u[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
	memcpy(x + box->fit_q, q, sizeof q);
	memcpy(x + box->model->nq + box->fit, u, sizeof u);
	return 0;
}

static CalStatus normalized(ModelBox *box, double t, const double *x, CalState *s) {
	*s = state_of(box, t, x);
	return cal_config_normalize(box->model, s->q);
}

static int border(void *self, double t, const double *x, CalBorder *out) {
	ModelBox *box = self;
	CalState s;
	CalStatus status = normalized(box, t, x, &s);
	if (status == CAL_OK)
		status = cal_kinematics(box->model, &s, NULL, box->work);
	for (int i = 0; i < box->count && status == CAL_OK; i++) {
		status = cal_node_pose(box->model, box->work, box->nodes[i], &out[i].pose);
		if (status == CAL_OK)
			status = cal_node_velocity(box->model, box->work, box->nodes[i], &out[i].velocity);
	}
	return status == CAL_OK ? 0 : failed(box, "its kinematics fail", status);
}

/* Accelerations of the border nodes under the wrenches in box; count of them. */
static CalStatus accelerate(ModelBox *box, const CalState *s, int wrenches, double *A) {
	const CalInput input = {.wrenches = box->wrenches, .wrench_count = wrenches};
	CalStatus status = cal_forward_dynamics(box->model, s, &input, box->work, box->udot);
	for (int i = 0; A && i < box->count && status == CAL_OK; i++) {
		CalSpatial a = {0};
		status = cal_node_acceleration(box->model, box->work, box->nodes[i], &a);
		const double six[6] = {a.angular.x, a.angular.y, a.angular.z, a.linear.x, a.linear.y, a.linear.z};
		memcpy(A + 6 * i, six, sizeof six);
	}
	return status;
}

static CalStatus probe(ModelBox *box, const CalState *s, double *Phi, const double *b) {
	const int n = 6 * box->count;
	CalStatus status = CAL_OK;
	for (int j = 0; j < n && status == CAL_OK; j++) {
		double e[6] = {0};
		e[j % 6] = PROBE;
		box->wrenches[0] = (CalWrench){box->nodes[j / 6], CAL_FRAME_WORLD, {{e[0], e[1], e[2]}, {e[3], e[4], e[5]}}};
		status = accelerate(box, s, 1, Phi + (size_t)j * (size_t)n);
		for (int i = 0; i < n; i++)
			Phi[j * n + i] = (Phi[j * n + i] - b[i]) / PROBE;
	}
	for (int i = 0; i < n; i++) // round-off
		for (int j = 0; j < i; j++)
			Phi[i * n + j] = Phi[j * n + i] = 0.5 * (Phi[i * n + j] + Phi[j * n + i]);
	return status;
}

static int respond(void *self, double t, const double *x, double *Phi, double *b) {
	ModelBox *box = self;
	CalState s;
	CalStatus status = normalized(box, t, x, &s);
	if (status == CAL_OK)
		status = accelerate(box, &s, 0, b);
	if (status == CAL_OK && box->model->row_count == 0 && !box->model->any_prescribed) {
		status = cal_mass_factor(box->model, &s, box->work);
		if (status == CAL_OK)
			status = cal_node_compliance(box->model, box->work, box->nodes, box->count, box->scratch, Phi);
	} else if (status == CAL_OK) {
		status = probe(box, &s, Phi, b);
	}
	return status == CAL_OK ? 0 : failed(box, "its dynamics fail", status);
}

static int rates(void *self, double t, const double *x, const CalSpatial *wrench, double *xdot) {
	ModelBox *box = self;
	CalState s;
	CalStatus status = normalized(box, t, x, &s);
	for (int i = 0; i < box->count; i++)
		box->wrenches[i] = (CalWrench){box->nodes[i], CAL_FRAME_WORLD, wrench[i]};
	if (status == CAL_OK)
		status = accelerate(box, &s, box->count, NULL);
	if (status != CAL_OK)
		return failed(box, "its dynamics fail", status);
	coordinate_rates(box, &s, xdot);
	memcpy(xdot + box->model->nq, box->udot, (size_t)box->model->nu * sizeof *xdot);
	return 0;
}

static double damping_power(const CalModel *model, const double *u) {
	double power = 0;
	for (int i = 0; model->any_damping && i < model->nu; i++)
		power += model->damping[i] * u[i] * u[i];
	for (int f = 0; f < model->flex_count; f++) {
		const Flex *flex = &model->flexes[f];
		const double *rate = u + flex->u;
		for (int i = 0; flex->D && i < flex->m; i++)
			for (int k = 0; k < flex->m; k++)
				power += rate[i] * flex->D[i * flex->m + k] * rate[k];
	}
	return power;
}

static int energy(void *self, double t, const double *x, CalSubsystemEnergy *out) {
	ModelBox *box = self;
	CalState s;
	CalEnergy held = {0};
	CalMomentum momentum = {0};
	CalStatus status = normalized(box, t, x, &s);
	if (status == CAL_OK)
		status = cal_energy(box->model, &s, box->work, &held);
	if (status == CAL_OK)
		status = cal_momentum(box->model, &s, box->work, &momentum);
	*out = (CalSubsystemEnergy){.stored = held.total,
	                            .dissipated = damping_power(box->model, s.u),
	                            .linear = momentum.linear,
	                            .angular = momentum.angular_origin};
	return status == CAL_OK ? 0 : failed(box, "its energy cannot be found", status);
}

static int commit(void *self, double t, double *x) {
	ModelBox *box = self;
	CalState s;
	CalStatus status = normalized(box, t, x, &s);
	if (status == CAL_OK && box->model->row_count > 0)
		status = cal_loop_project(box->model, &s, NULL, box->work, NULL);
	if (status != CAL_OK) {
		failed(box, "its loops cannot be closed", status);
		return -1;
	}
	const size_t q = (size_t)box->model->nq * sizeof *x, u = (size_t)box->model->nu * sizeof *x;
	const int changed = memcmp(x, s.q, q) != 0 || memcmp(x + box->model->nq, s.u, u) != 0;
	memcpy(x, s.q, q);
	memcpy(x + box->model->nq, s.u, u);
	return changed;
}

/* M^-1 J' of wrenches on the border nodes, into udot. */
static CalStatus give_way(ModelBox *box, const CalState *s, const CalSpatial *wrench) {
	const bool free_tree = box->model->row_count == 0 && !box->model->any_prescribed;
	const CalInput input = {.wrenches = box->wrenches, .wrench_count = box->count};
	const double factor = free_tree ? 1 : PROBE;
	for (int i = 0; i < box->count; i++) {
		const CalVec3 n = wrench[i].angular, f = wrench[i].linear;
		box->wrenches[i] =
			(CalWrench){box->nodes[i],
		                CAL_FRAME_WORLD,
		                {{factor * n.x, factor * n.y, factor * n.z}, {factor * f.x, factor * f.y, factor * f.z}}};
	}
	if (!free_tree) {
		CalStatus status = cal_forward_dynamics(box->model, s, NULL, box->work, box->scratch);
		if (status == CAL_OK)
			status = cal_forward_dynamics(box->model, s, &input, box->work, box->udot);
		for (int k = 0; k < box->model->nu; k++)
			box->udot[k] = (box->udot[k] - box->scratch[k]) / PROBE;
		return status;
	}
	CalStatus status = cal_external_forces(box->model, s, &input, box->work, box->scratch);
	if (status == CAL_OK)
		status = cal_mass_factor(box->model, s, box->work);
	return status == CAL_OK ? cal_mass_solve(box->model, box->work, box->scratch, box->udot) : status;
}

static int correct(void *self, double t, const CalSpatial *shift, const CalSpatial *push, double *x) {
	ModelBox *box = self;
	const int nq = box->model->nq, nu = box->model->nu;
	CalState s;
	CalStatus status = normalized(box, t, x, &s);
	if (status == CAL_OK)
		status = give_way(box, &s, shift);
	if (status == CAL_OK) {
		cal_config_integrate(box->model, s.q, box->udot, s.q);
		status = give_way(box, &s, push);
	}
	if (status != CAL_OK)
		return failed(box, "its states cannot be corrected", status);
	memcpy(x, s.q, (size_t)nq * sizeof *x);
	for (int k = 0; k < nu; k++)
		x[nq + k] += box->udot[k];
	return 0;
}

static const char *explain(void *self) { return ((ModelBox *)self)->why; }

static void destroy(void *self) {
	ModelBox *box = self;
	const CalAllocator allocator = box->allocator;
	if (box->release)
		box->release(box->user);
	cal_work_destroy(box->work);
	memory_free(&allocator, box);
}

static const CalSubsystemOps ops = {"model", start, border, respond, rates, energy, commit, correct, explain, destroy};

/* ---- making one ------------------------------------------------------------------------------------------------------ */

/* Where the coordinates of the speeds are; NULL, or what cannot be. */
static const char *find_places(ModelBox *box) {
	const CalModel *model = box->model;
	for (int i = 0; i < model->body_count; i++) {
		CalBodyInfo info;
		cal_model_body(model, i, &info);
		if (info.type == CAL_JOINT_USER)
			return "joints of the caller's own cannot be put into a box";
		int q = info.q;
		for (int k = info.u; k < info.u + info.nu;) {
			CalDofInfo dof;
			cal_model_dof(model, k, &dof);
			if (dof.q >= 0) {
				box->place[k++] = q++;
				continue;
			}
			box->place[k] = QUATERNION - q;
			box->place[k + 1] = box->place[k + 2] = WITHIN;
			k += 3;
			q += 4;
		}
		for (int k = 0; k < info.modes; k++)
			box->place[info.u + info.nu + k] = info.q + info.nq + k;
	}
	return NULL;
}

static const char *find_fit(ModelBox *box, const CalModelBoxOptions *options) {
	box->fit = -1;
	if (!options || !options->fit)
		return NULL;
	CalNodeInfo node;
	CalBodyInfo body;
	cal_model_node(box->model, box->nodes[0], &node);
	if (node.body < 0 || cal_model_body(box->model, node.body, &body) != CAL_OK || body.parent >= 0 ||
	    body.type != CAL_JOINT_FREE || body.head_node != box->nodes[0] || body.inboard_node >= 0)
		return "to be fitted, its first border node has to be carried by a free joint on the ground's origin";
	box->fit = body.u;
	box->fit_q = body.q;
	return NULL;
}

static ModelBox *box_alloc(const CalModel *model, int count) {
	const CalAllocator allocator = allocator_or_default(NULL);
	const size_t nq = (size_t)model->nq, nu = (size_t)model->nu, k = (size_t)count;
	const size_t numbers = 2 * nq + 4 * nu,
				 size = sizeof(ModelBox) + numbers * sizeof(double) + k * sizeof(CalWrench) + (k + nu) * sizeof(int);
	ModelBox *box = memory_alloc(&allocator, size);
	if (!box)
		return NULL;
	memset(box, 0, size);
	box->model = model;
	box->allocator = allocator;
	box->count = count;
	double *d = (double *)(void *)(box + 1);
	box->q = d, box->q_start = d + nq, box->u = d + 2 * nq, box->udot = box->u + nu;
	box->scratch = box->udot + nu, box->u_start = box->scratch + nu;
	box->wrenches = (CalWrench *)(void *)(box->u_start + nu);
	box->nodes = (int *)(void *)(box->wrenches + k);
	box->place = box->nodes + k;
	return box;
}

static const char *fill(ModelBox *box, const int *nodes, const CalModelBoxOptions *options) {
	for (int i = 0; i < box->count; i++) {
		if (nodes[i] < 0 || nodes[i] >= box->model->node_count || box->model->nodes[nodes[i]].body < 0)
			return "a border node is one of a body of the model";
		box->nodes[i] = nodes[i];
	}
	if (options && options->state) {
		memcpy(box->q_start, options->state->q, (size_t)box->model->nq * sizeof(double));
		memcpy(box->u_start, options->state->u, (size_t)box->model->nu * sizeof(double));
	} else {
		cal_config_neutral(box->model, box->q_start);
	}
	const char *wrong = find_places(box);
	return wrong ? wrong : find_fit(box, options);
}

CalStatus cal_box_from_model(const CalModel *model, const int *nodes, int count, const CalModelBoxOptions *options,
                             CalSubsystemDef *def, CalError *error) {
	if (!model || !nodes || count < 1 || !def)
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_box_from_model: give a model, its border nodes and a place for the box");
	ModelBox *box = box_alloc(model, count);
	if (!box || cal_work_create(model, &box->work) != CAL_OK) {
		const CalAllocator allocator = allocator_or_default(NULL);
		memory_free(&allocator, box);
		return error_set(error, CAL_ERR_MEMORY, "cal_box_from_model: out of memory");
	}
	const char *wrong = fill(box, nodes, options);
	if (wrong) {
		destroy(box);
		return error_set(error, CAL_ERR_ARGUMENT, "cal_box_from_model: %s", wrong);
	}
	box->release = options ? options->release : NULL; // from here on
	box->user = options ? options->user : NULL;
	*def = (CalSubsystemDef){.version = CAL_SUBSYSTEM_INTERFACE,
	                         .ops = &ops,
	                         .self = box,
	                         .nx = model->nq + model->nu,
	                         .border_count = count,
	                         .border_names = options ? options->border_names : NULL};
	return CAL_OK;
}
