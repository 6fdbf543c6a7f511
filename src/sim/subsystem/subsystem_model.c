// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_model.c — a compiled model as a compiled subsystem: x = (q, u, states of what acts in it), Lambda = J M_c J' with
 * its loops and driven dofs held (dynamics/loop/closed.h), b = the accelerations of its interface nodes without forces on
 * them.
 *
 * The derivative of a quaternion is q (0, w)/2, w in the outboard frame as speeds are; it is made unit when it is used,
 * and in x after every step. Loops inside are projected then too.
 */
#include "sim/subsystem/subsystem_model.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <calder/loops.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "component/free_root.h"
#include "dynamics/loop/closed.h"
#include "dynamics/tree/forces.h"
#include "math/placement.h"
#include "model/model.h"

typedef struct ModelSubsystem {
	const CalModel *model;
	CalWork *work;
	CalAllocator allocator;
	ModelActing acting;        // evaluate NULL: nothing
	double *q, *u, *udot;      // [nq], [nu], [nu]
	double *x;                 // [acting.nx]
	double *q_start, *u_start; // at the start
	double *columns;           // [nu (6 count + 1)] scratch
	CalWrench *wrenches;       // [count + acting.wrench_count]
	int *nodes;                // [count] interface nodes
	int *place;                // [nu] coordinate of a speed; -1 - i: the first of a quaternion at i; other: part of it
	int count;                 //
	bool fit;                  // the first interface node is placed at the start,
	FreeRoot root;             // by its joint
	void (*release)(void *user); // NULL: nothing to be released
	void *user;                  //
	char why[320];
} ModelSubsystem;

enum { QUATERNION = -1, WITHIN = -1000000 };

/* ---- states ------------------------------------------------------------------------------------------------------- */

static CalState state_of(ModelSubsystem *subsystem, double t, const double *x) {
	memcpy(subsystem->q, x, (size_t)subsystem->model->nq * sizeof *x);
	memcpy(subsystem->u, x + subsystem->model->nq, (size_t)subsystem->model->nu * sizeof *x);
	if (subsystem->acting.nx > 0)
		memcpy(subsystem->x, x + subsystem->model->nq + subsystem->model->nu, (size_t)subsystem->acting.nx * sizeof *x);
	return (CalState){.t = t, .q = subsystem->q, .u = subsystem->u, .x = subsystem->x};
}

/* Says what went wrong; always nonzero. */
static int note_failure(ModelSubsystem *subsystem, const char *what, CalStatus status) {
	const char *own = subsystem->acting.explain ? subsystem->acting.explain(subsystem->acting.user) : "";
	snprintf(subsystem->why, sizeof subsystem->why, "%s: %s", what, own[0] ? own : cal_status_text(status));
	return 1;
}

static void coordinate_rates(const ModelSubsystem *subsystem, const CalState *s, double *rate) {
	for (int k = 0; k < subsystem->model->nu; k++) {
		const int at = subsystem->place[k];
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

/* ---- functions of the subsystem --------------------------------------------------------------------------------- */

static int start(void *self, double t, const CalInterfaceNode *interface_nodes, double *x) {
	ModelSubsystem *subsystem = self;
	const int nq = subsystem->model->nq, nu = subsystem->model->nu;
	memcpy(x, subsystem->q_start, (size_t)nq * sizeof *x);
	memcpy(x + nq, subsystem->u_start, (size_t)nu * sizeof *x);
	if (subsystem->fit)
		free_root_place(&subsystem->root, &interface_nodes[0], x, x + nq);
	if (!subsystem->acting.start)
		return 0;
	const CalState s = state_of(subsystem, t, x);
	const CalStatus status = subsystem->acting.start(subsystem->acting.user, &s, x + nq + nu);
	return status == CAL_OK ? 0 : note_failure(subsystem, "its devices do not start", status);
}

static CalStatus normalized(ModelSubsystem *subsystem, double t, const double *x, CalState *s) {
	*s = state_of(subsystem, t, x);
	return cal_config_normalize(subsystem->model, s->q);
}

static int interface_motion(void *self, double t, const double *x, CalInterfaceNode *out) {
	ModelSubsystem *subsystem = self;
	CalState s;
	CalStatus status = normalized(subsystem, t, x, &s);
	if (status == CAL_OK)
		status = cal_kinematics(subsystem->model, &s, NULL, subsystem->work);
	for (int i = 0; i < subsystem->count && status == CAL_OK; i++) {
		status = cal_node_pose(subsystem->model, subsystem->work, subsystem->nodes[i], &out[i].pose);
		if (status == CAL_OK)
			status = cal_node_velocity(subsystem->model, subsystem->work, subsystem->nodes[i], &out[i].velocity);
	}
	return status == CAL_OK ? 0 : note_failure(subsystem, "its kinematics fail", status);
}

/* What acts in the model, its wrenches after `count` others; rates of its states, NULL: not wanted. */
static CalStatus find_input(ModelSubsystem *subsystem, const CalState *s, int count, CalInput *input, double *xdot) {
	CalSubsystemEnergy energy;
	CalStatus status = CAL_OK;
	*input = (CalInput){0};
	if (subsystem->acting.evaluate)
		status = subsystem->acting.evaluate(subsystem->acting.user, s, input, xdot, &energy);
	if (status == CAL_OK && input->wrench_count > subsystem->acting.wrench_count)
		status = CAL_ERR_ARGUMENT;
	if (status == CAL_OK && input->wrench_count > 0)
		memcpy(subsystem->wrenches + count, input->wrenches, (size_t)input->wrench_count * sizeof *input->wrenches);
	input->wrenches = subsystem->wrenches;
	input->wrench_count += count;
	return status;
}

/* Accelerations of the interface nodes under the wrenches in the subsystem, count of them, and all that acts. */
static CalStatus node_accelerations(ModelSubsystem *subsystem, const CalState *s, int wrenches, double *A,
                                    double *xdot) {
	CalInput input;
	CalStatus status = find_input(subsystem, s, wrenches, &input, xdot);
	if (status == CAL_OK)
		status = cal_forward_dynamics(subsystem->model, s, &input, subsystem->work, subsystem->udot);
	for (int i = 0; A && i < subsystem->count && status == CAL_OK; i++) {
		CalSpatial a = {0};
		status = cal_node_acceleration(subsystem->model, subsystem->work, subsystem->nodes[i], &a);
		const double six[6] = {a.angular.x, a.angular.y, a.angular.z, a.linear.x, a.linear.y, a.linear.z};
		memcpy(A + 6 * i, six, sizeof six);
	}
	return status;
}

/* The first ones of the subsystem: those on its interface nodes. */
static void take_wrenches(ModelSubsystem *subsystem, const CalSpatial *wrench) {
	for (int i = 0; i < subsystem->count; i++)
		subsystem->wrenches[i] = (CalWrench){subsystem->nodes[i], CAL_FRAME_WORLD, wrench[i]};
}

/* M_c at a state. */
static CalStatus factor_model(ModelSubsystem *subsystem, const CalState *s) {
	return closed_factor(subsystem->model, s, forces_prescribed(subsystem->model, NULL), 0, subsystem->work);
}

static int respond(void *self, double t, const double *x, double *Lambda, double *b) {
	ModelSubsystem *subsystem = self;
	CalState s;
	CalStatus status = normalized(subsystem, t, x, &s);
	if (status == CAL_OK)
		status = node_accelerations(subsystem, &s, 0, b, NULL);
	if (status == CAL_OK)
		status = factor_model(subsystem, &s);
	if (status == CAL_OK)
		status = closed_compliance(subsystem->model, subsystem->work, subsystem->nodes, subsystem->count,
		                           subsystem->columns, Lambda);
	return status == CAL_OK ? 0 : note_failure(subsystem, "its dynamics fail", status);
}

static int rates(void *self, double t, const double *x, const CalSpatial *wrench, double *xdot) {
	ModelSubsystem *subsystem = self;
	CalState s;
	CalStatus status = normalized(subsystem, t, x, &s);
	take_wrenches(subsystem, wrench);
	if (status == CAL_OK)
		status = node_accelerations(subsystem, &s, subsystem->count, NULL,
		                            xdot + subsystem->model->nq + subsystem->model->nu);
	if (status != CAL_OK)
		return note_failure(subsystem, "its dynamics fail", status);
	coordinate_rates(subsystem, &s, xdot);
	memcpy(xdot + subsystem->model->nq, subsystem->udot, (size_t)subsystem->model->nu * sizeof *xdot);
	return 0;
}

/* What acts in it accounts for the losses of the model too. */
static CalStatus add_acting_energy(ModelSubsystem *subsystem, const CalState *s, CalSubsystemEnergy *out) {
	CalInput input = {0};
	CalSubsystemEnergy own = {0};
	const CalStatus status = subsystem->acting.evaluate(subsystem->acting.user, s, &input, NULL, &own);
	out->stored += own.stored;
	out->dissipated = own.dissipated;
	out->supplied += own.supplied;
	out->linear = dvec_out(dadd(dvec_in(out->linear), dvec_in(own.linear)));
	out->angular = dvec_out(dadd(dvec_in(out->angular), dvec_in(own.angular)));
	return status;
}

static int energy(void *self, double t, const double *x, CalSubsystemEnergy *out) {
	ModelSubsystem *subsystem = self;
	CalState s;
	CalEnergy held = {0};
	CalMomentum momentum = {0};
	CalStatus status = normalized(subsystem, t, x, &s);
	if (status == CAL_OK)
		status = cal_energy(subsystem->model, &s, subsystem->work, &held);
	if (status == CAL_OK)
		status = cal_momentum(subsystem->model, &s, subsystem->work, &momentum);
	*out = (CalSubsystemEnergy){.stored = held.total,
	                            .dissipated = forces_damping_power(subsystem->model, s.q, s.u, NULL, subsystem->work),
	                            .linear = momentum.linear,
	                            .angular = momentum.angular_origin};
	if (status == CAL_OK && subsystem->acting.evaluate)
		status = add_acting_energy(subsystem, &s, out);
	return status == CAL_OK ? 0 : note_failure(subsystem, "its energy cannot be found", status);
}

static int commit(void *self, double t, double *x) {
	ModelSubsystem *subsystem = self;
	CalState s;
	CalStatus status = normalized(subsystem, t, x, &s);
	if (status == CAL_OK && subsystem->model->row_count > 0)
		status = cal_loop_project(subsystem->model, &s, NULL, subsystem->work, NULL);
	if (status != CAL_OK) {
		note_failure(subsystem, "its loops cannot be closed", status);
		return -1;
	}
	const size_t q = (size_t)subsystem->model->nq * sizeof *x, u = (size_t)subsystem->model->nu * sizeof *x;
	const int changed = memcmp(x, s.q, q) != 0 || memcmp(x + subsystem->model->nq, s.u, u) != 0;
	memcpy(x, s.q, q);
	memcpy(x + subsystem->model->nq, s.u, u);
	return changed;
}

/* M_c J' of wrenches on the interface nodes, into udot. */
static CalStatus apply_inverse_mass(ModelSubsystem *subsystem, const CalState *s, const CalSpatial *wrench) {
	take_wrenches(subsystem, wrench);
	const CalStatus status = factor_model(subsystem, s);
	return status == CAL_OK ? closed_response(subsystem->model, subsystem->work, subsystem->wrenches, subsystem->count,
	                                          subsystem->udot)
	                        : status;
}

static int correct(void *self, double t, const CalSpatial *shift, const CalSpatial *impulse, double *x) {
	ModelSubsystem *subsystem = self;
	const int nq = subsystem->model->nq, nu = subsystem->model->nu;
	CalState s;
	CalStatus status = normalized(subsystem, t, x, &s);
	if (status == CAL_OK)
		status = apply_inverse_mass(subsystem, &s, shift);
	if (status == CAL_OK) {
		cal_config_integrate(subsystem->model, s.q, subsystem->udot, s.q);
		status = apply_inverse_mass(subsystem, &s, impulse);
	}
	if (status != CAL_OK)
		return note_failure(subsystem, "its states cannot be corrected", status);
	memcpy(x, s.q, (size_t)nq * sizeof *x);
	for (int k = 0; k < nu; k++)
		x[nq + k] += subsystem->udot[k];
	return 0;
}

static int values(void *self, double t, const double *x, double *value) {
	ModelSubsystem *subsystem = self;
	CalState s;
	CalStatus status = normalized(subsystem, t, x, &s);
	if (status == CAL_OK)
		status = subsystem->acting.values(subsystem->acting.user, &s, value);
	return status == CAL_OK ? 0 : note_failure(subsystem, "values of its devices cannot be found", status);
}

static int lookahead(void *self, double t, const double *x, const CalSpatial *wrench, CalLookahead *out) {
	ModelSubsystem *subsystem = self;
	CalState s;
	CalStatus status = normalized(subsystem, t, x, &s);
	take_wrenches(subsystem, wrench);
	if (status == CAL_OK)
		status = node_accelerations(subsystem, &s, subsystem->count, NULL, NULL);
	if (status == CAL_OK)
		status = subsystem->acting.lookahead(subsystem->acting.user, &s, subsystem->udot, out);
	return status == CAL_OK ? 0 : note_failure(subsystem, "its devices cannot look ahead", status);
}

static double next_switch(void *self, double t) {
	const ModelActing *acting = &((ModelSubsystem *)self)->acting;
	return acting->next_switch(acting->user, t);
}

static int doubt(void *self, int index, CalDoubt *out) {
	const ModelActing *acting = &((ModelSubsystem *)self)->acting;
	return acting->doubt(acting->user, index, out);
}

static const char *explain(void *self) { return ((ModelSubsystem *)self)->why; }

static void destroy(void *self) {
	ModelSubsystem *subsystem = self;
	const CalAllocator allocator = subsystem->allocator;
	if (subsystem->release)
		subsystem->release(subsystem->user);
	cal_work_destroy(subsystem->work);
	memory_free(&allocator, subsystem);
}

#define MODEL_OPS                                                                                              \
	.type = "model", .start = start, .interface_motion = interface_motion, .respond = respond, .rates = rates, \
	.energy = energy, .commit = commit, .correct = correct, .explain = explain, .destroy = destroy
static const CalSubsystemOps ops = {MODEL_OPS};
static const CalSubsystemOps acting_ops = {MODEL_OPS, .values = values, .lookahead = lookahead,
                                           .next_switch = next_switch, .doubt = doubt};

/* ---- making one ------------------------------------------------------------------------------------------------------ */

/* Where the coordinates of the speeds are; NULL, or what cannot be. */
static const char *find_places(ModelSubsystem *subsystem) {
	const CalModel *model = subsystem->model;
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
				subsystem->place[k++] = q++;
				continue;
			}
			subsystem->place[k] = QUATERNION - q;
			subsystem->place[k + 1] = subsystem->place[k + 2] = WITHIN;
			k += 3;
			q += 4;
		}
		for (int k = 0; k < info.modes; k++)
			subsystem->place[info.u + info.nu + k] = info.q + info.nq + k;
	}
	return NULL;
}

static const char *find_fit(ModelSubsystem *subsystem, const CalModelSubsystemOptions *options) {
	subsystem->fit = options && options->fit;
	return !subsystem->fit || free_root_find(subsystem->model, subsystem->nodes[0], &subsystem->root)
	           ? NULL
	           : "to be fitted, its first interface node has to be carried by a free joint on the ground's origin";
}

/* The object itself, and its arrays after it. */
static void layout_subsystem(ModelSubsystem *s, Cursor *cursor) {
	double **const of_u[] = {&s->u, &s->udot, &s->u_start};
	cursor_array(cursor, 1, sizeof *s);
	CURSOR_ARRAY(cursor, s->q, s->model->nq);
	CURSOR_ARRAY(cursor, s->q_start, s->model->nq);
	for (size_t i = 0; i < sizeof of_u / sizeof *of_u; i++)
		CURSOR_ARRAY(cursor, *of_u[i], s->model->nu);
	CURSOR_ARRAY(cursor, s->columns, (size_t)s->model->nu * (6 * (size_t)s->count + 1));
	CURSOR_ARRAY(cursor, s->x, s->acting.nx);
	CURSOR_ARRAY(cursor, s->wrenches, (size_t)s->count + (size_t)s->acting.wrench_count);
	CURSOR_ARRAY(cursor, s->nodes, s->count);
	CURSOR_ARRAY(cursor, s->place, s->model->nu);
}

static ModelSubsystem *subsystem_alloc(const CalModel *model, int count, const ModelActing *acting) {
	ModelSubsystem counted = {.model = model, .allocator = allocator_or_default(NULL), .count = count};
	if (acting)
		counted.acting = *acting;
	Cursor cursor = {.align = sizeof(double)};
	layout_subsystem(&counted, &cursor);
	ModelSubsystem *subsystem = cursor_alloc_at_start(&cursor, &counted.allocator);
	if (!subsystem)
		return NULL;
	cursor_clear(&cursor);
	*subsystem = counted;
	layout_subsystem(subsystem, &cursor);
	return subsystem;
}

static const char *fill_subsystem(ModelSubsystem *subsystem, const int *nodes,
                                  const CalModelSubsystemOptions *options) {
	for (int i = 0; i < subsystem->count; i++) {
		if (nodes[i] < 0 || nodes[i] >= subsystem->model->node_count || subsystem->model->nodes[nodes[i]].body < 0)
			return "an interface node is one of a body of the model";
		subsystem->nodes[i] = nodes[i];
	}
	if (options && options->state) {
		memcpy(subsystem->q_start, options->state->q, (size_t)subsystem->model->nq * sizeof(double));
		memcpy(subsystem->u_start, options->state->u, (size_t)subsystem->model->nu * sizeof(double));
	} else {
		cal_config_neutral(subsystem->model, subsystem->q_start);
	}
	const char *wrong = find_places(subsystem);
	return wrong ? wrong : find_fit(subsystem, options);
}

CalStatus subsystem_of_model(const char *caller, const CalModel *model, const int *nodes, int count,
                             const CalModelSubsystemOptions *options, const ModelActing *acting, CalSubsystemDef *def,
                             CalError *error) {
	ModelSubsystem *subsystem = subsystem_alloc(model, count, acting);
	if (!subsystem || cal_work_create(model, &subsystem->work) != CAL_OK) {
		const CalAllocator allocator = allocator_or_default(NULL);
		memory_free(&allocator, subsystem);
		return error_set(error, CAL_ERR_MEMORY, "%s: out of memory", caller);
	}
	const char *wrong = fill_subsystem(subsystem, nodes, options);
	if (wrong) {
		destroy(subsystem);
		return error_set(error, CAL_ERR_ARGUMENT, "%s: %s", caller, wrong);
	}
	subsystem->release = options ? options->release : NULL; // from here on
	subsystem->user = options ? options->user : NULL;
	*def = (CalSubsystemDef){.version = CAL_SUBSYSTEM_API_VERSION,
	                         .ops = acting ? &acting_ops : &ops,
	                         .self = subsystem,
	                         .nx = model->nq + model->nu + subsystem->acting.nx,
	                         .interface_node_count = count,
	                         .interface_node_names = options ? options->interface_node_names : NULL,
	                         .event_count = subsystem->acting.event_count};
	return CAL_OK;
}

CalStatus cal_subsystem_from_model(const CalModel *model, const int *nodes, int count,
                                   const CalModelSubsystemOptions *options, CalSubsystemDef *def, CalError *error) {
	if (!model || !nodes || count < 1 || !def)
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_subsystem_from_model: give a model, its interface nodes and a place for the subsystem");
	return subsystem_of_model("cal_subsystem_from_model", model, nodes, count, options, NULL, def, error);
}
