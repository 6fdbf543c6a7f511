// SPDX-License-Identifier: Apache-2.0
/*
 * models_compare.c — see models_compare.h.
 *
 * Joints are found by name; those without a name, or that the reader named, take the remaining ones of the same kind in
 * order (both sides go depth first in the order of the file). A reference joint is a coordinate of its own: free (7
 * coordinates, 6 speeds: velocity in world axes, angular velocity in body axes), ball (4, 3) or scalar. The reference has no
 * springs, dampers, limits, friction or actuators, and its trees are open unless it says `hard`:
 *   bias = ID(0) + Q_elastic, tau = ID(qacc) + Q_elastic, qacc = M^-1 (tau - bias) or forward dynamics under tau - Q_elastic.
 */
#include "models_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read_options.h"

/* A part of the state of a joint that a joint of the reference is: free, ball or one coordinate. */
typedef struct Unit {
	const char *joint; // its name
	int q, u, nq, nu;
	bool alone; // the joint has no other
	bool taken;
} Unit;

typedef struct Comparison {
	const JsonValue *reference;
	const CalModel *model;
	CalState state;
	CalWork *work;
	ModelResult *result;
	int nq, nu;
	int *q_of, *u_of; // [nq], [nu] from the reference's order to the model's
	Unit *units;
	int unit_count;
	double *r;                             // [nq + nu] numbers of the reference
	double *tau, *udot, *a, *b;            // [nu], order of the model
	double *M;                             // [nu nu]
	double bias_scale, acceleration_scale; // at home, which may be an equilibrium: largest of the other states; else 0
} Comparison;

static bool fails(Comparison *c, const char *format, const char *name) {
	if (c->result->verdict == MODEL_PASSED)
		snprintf(c->result->what, sizeof c->result->what, format, name);
	c->result->verdict = MODEL_FAILED;
	return false;
}

/* The larger of the two; what is not a number is the worst. */
static double worse(double most, double difference) {
	return isnan(difference) ? INFINITY : fmax(most, fabs(difference));
}

static void note_error(Comparison *c, Compared what, double difference, double scale) {
	const double error = difference == 0 ? 0 : scale > 0 ? difference / scale : INFINITY;
	c->result->worst[what] = worse(c->result->worst[what], error);
}

/* ---- joints --------------------------------------------------------------------------------------------- */

static bool list_units(Comparison *c) {
	c->units = calloc((size_t)c->nu + 1, sizeof *c->units);
	for (int i = 0; c->units && i < cal_model_body_count(c->model); i++) {
		CalBodyInfo info;
		if (cal_model_body(c->model, i, &info) != CAL_OK || info.nu == 0)
			continue;
		if (info.type == CAL_JOINT_FREE || info.type == CAL_JOINT_SPHERICAL) {
			c->units[c->unit_count++] = (Unit){info.joint, info.q, info.u, info.nq, info.nu, true, false};
			continue;
		}
		for (int k = 0; k < info.nu; k++) {
			CalDofInfo dof;
			cal_model_dof(c->model, info.u + k, &dof);
			if (dof.q >= 0)
				c->units[c->unit_count++] = (Unit){info.joint, dof.q, info.u + k, 1, 1, info.nu == 1, false};
			else if (k == 0 || c->units[c->unit_count - 1].nu == 1 || c->units[c->unit_count - 1].u + 3 == info.u + k)
				c->units[c->unit_count++] = (Unit){info.joint, info.q + k, info.u + k, 4, 3, false, false};
		}
	}
	return c->units || fails(c, "%s", "out of memory");
}

static int size_of(const JsonValue *joint) {
	const char *type = json_text(json_member(joint, "type"));
	return strcmp(type, "free") == 0 ? 6 : strcmp(type, "ball") == 0 ? 3 : 1;
}

static Unit *find_unit(Comparison *c, const JsonValue *joint, bool by_name) {
	const char *name = json_text(json_member(joint, "name"));
	for (int i = 0; i < c->unit_count; i++) {
		Unit *unit = &c->units[i];
		if (!unit->taken && unit->nu == size_of(joint) && (!by_name || strcmp(unit->joint, name) == 0))
			return unit;
	}
	return NULL;
}

static bool take_unit(Comparison *c, const JsonValue *joint, Unit *unit) {
	const int q = json_integer(joint, "qadr"), u = json_integer(joint, "vadr");
	if (q < 0 || u < 0 || q + unit->nq > c->nq || u + unit->nu > c->nu)
		return fails(c, "the reference of joint \"%.80s\" has no qadr and vadr", json_text(json_member(joint, "name")));
	unit->taken = true;
	for (int k = 0; k < unit->nq; k++)
		c->q_of[q + k] = unit->q + k;
	for (int k = 0; k < unit->nu; k++)
		c->u_of[u + k] = unit->u + k;
	return true;
}

/* By name first, so that those by order find the rest. */
static bool match_joints(Comparison *c) {
	const JsonValue *joints = json_member(c->reference, "joints");
	const int count = joints ? joints->count : 0;
	bool *done = calloc((size_t)count + 1, sizeof *done), fine = done && list_units(c);
	for (int pass = 0; pass < 2 && fine; pass++) {
		int i = 0;
		for (const JsonValue *joint = joints ? joints->first : NULL; joint && fine; joint = joint->next, i++) {
			Unit *unit = done[i] ? NULL : find_unit(c, joint, pass == 0);
			if (done[i])
				continue;
			if (unit)
				done[i] = take_unit(c, joint, unit);
			else if (pass == 1)
				fine = fails(c, "the model has no joint for \"%.80s\"", json_text(json_member(joint, "name")));
			fine = fine && (done[i] || pass == 0);
		}
	}
	free(done);
	return fine;
}

/* ---- values ------------------------------------------------------------------------------------------------ */

/* A list of the reference by the model's degrees of freedom. */
static bool read_speeds(Comparison *c, const JsonValue *state, const char *key, double *values) {
	if (!json_numbers(json_member(state, key), c->r, c->nu))
		return fails(c, "the reference has no %s of all degrees of freedom", key);
	for (int i = 0; i < c->nu; i++)
		values[c->u_of[i]] = c->r[i];
	return true;
}

static bool read_state(Comparison *c, const JsonValue *state) {
	if (!json_numbers(json_member(state, "qpos"), c->r, c->nq))
		return fails(c, "the reference has no %s of all coordinates", "qpos");
	for (int i = 0; i < c->nq; i++)
		c->state.q[c->q_of[i]] = c->r[i];
	for (int i = 0; i < c->nu; i++)
		c->state.u[i] = 0;
	return !json_member(state, "qvel") || read_speeds(c, state, "qvel", c->state.u);
}

static double largest(const double *values, int count) {
	double most = 0;
	for (int i = 0; i < count; i++)
		most = fmax(most, fabs(values[i]));
	return most;
}

static void compare_lists(Comparison *c, Compared what, const double *ours, const double *theirs, double scale) {
	double most = 0;
	for (int i = 0; i < c->nu; i++)
		most = worse(most, ours[i] - theirs[i]);
	note_error(c, what, most, fmax(scale, largest(theirs, c->nu)));
}

/* ---- quantities -------------------------------------------------------------------------------------------- */

static double entry(const Comparison *c, int row, int column) {
	return c->M[(size_t)c->u_of[row] * (size_t)c->nu + (size_t)c->u_of[column]];
}

static void compare_mass_matrix(Comparison *c, const JsonValue *state) {
	const JsonValue *rows = json_member(state, "M_lower"), *some = json_member(state, "M_some");
	double most = 0;
	if (cal_mass_matrix(c->model, &c->state, c->work, c->M) != CAL_OK) {
		fails(c, "%s", "the mass matrix cannot be computed");
		return;
	}
	const double scale = largest(c->M, c->nu * c->nu);
	int i = 0;
	for (const JsonValue *row = rows ? rows->first : NULL; row && i < c->nu; row = row->next, i++) {
		int j = 0;
		for (const JsonValue *value = row->first; value && j <= i; value = value->next, j++)
			most = worse(most, json_value(value) - entry(c, i, j));
	}
	if (!rows && json_numbers(json_member(state, "M_diag"), c->r, c->nu))
		for (i = 0; i < c->nu; i++)
			most = worse(most, c->r[i] - entry(c, i, i));
	for (const JsonValue *item = some ? some->first : NULL; item; item = item->next) {
		double at[3];
		if (json_numbers(item, at, 3) && at[0] >= 0 && at[0] < c->nu && at[1] >= 0 && at[1] < c->nu)
			most = worse(most, at[2] - entry(c, (int)at[0], (int)at[1]));
	}
	note_error(c, COMPARED_MASS, most, scale);
}

/* Forces: what the reference calls bias, and the torque that its accelerations need. */
static bool compare_inverse(Comparison *c, const JsonValue *state) {
	double *elastic = c->udot, *theirs = c->b;
	const CalInput none = {0};
	if (cal_inverse_dynamics(c->model, &c->state, NULL, &none, c->work, c->a) != CAL_OK ||
	    cal_elastic_forces(c->model, &c->state, c->work, elastic) != CAL_OK)
		return fails(c, "%s", "inverse dynamics fails");
	for (int i = 0; i < c->nu; i++)
		c->a[i] += elastic[i];
	if (!read_speeds(c, state, "bias", theirs))
		return false;
	compare_lists(c, COMPARED_BIAS, c->a, theirs, c->bias_scale);
	const double scale = fmax(largest(theirs, c->nu), c->bias_scale);
	if (!read_speeds(c, state, "qacc", theirs) ||
	    cal_inverse_dynamics(c->model, &c->state, theirs, &none, c->work, c->a) != CAL_OK)
		return fails(c, "%s", "inverse dynamics fails");
	for (int i = 0; i < c->nu; i++)
		c->a[i] += elastic[i];
	const double inertial = largest(c->M, c->nu * c->nu) * largest(theirs, c->nu);
	compare_lists(c, COMPARED_INVERSE, c->a, c->tau, fmax(scale, inertial));
	return true;
}

/* Of the tree; a model with loops has its accelerations from the factored mass matrix. */
static bool compare_forward(Comparison *c, const JsonValue *state) {
	double *elastic = c->b;
	const CalInput none = {0};
	CalStatus status = cal_elastic_forces(c->model, &c->state, c->work, elastic);
	if (status == CAL_OK && cal_model_loop_count(c->model) == 0) {
		for (int i = 0; i < c->nu; i++)
			c->a[i] = c->tau[i] - elastic[i];
		const CalInput input = {.tau = c->a};
		status = cal_forward_dynamics(c->model, &c->state, &input, c->work, c->udot);
	} else if (status == CAL_OK) {
		status = cal_inverse_dynamics(c->model, &c->state, NULL, &none, c->work, c->a);
		for (int i = 0; i < c->nu; i++)
			c->a[i] = c->tau[i] - c->a[i] - elastic[i];
		if (status == CAL_OK)
			status = cal_mass_factor(c->model, &c->state, c->work);
		if (status == CAL_OK)
			status = cal_mass_solve(c->model, c->work, c->a, c->udot);
	}
	if (status != CAL_OK)
		return fails(c, "forward dynamics: %s", cal_status_text(status));
	if (!read_speeds(c, state, "qacc", c->a))
		return false;
	compare_lists(c, COMPARED_FORWARD, c->udot, c->a, c->acceleration_scale);
	return true;
}

static void rotation_of(const double q[4], CalMat3 *R) {
	const double w = q[0], x = q[1], y = q[2], z = q[3];
	*R = (CalMat3){{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
	                {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
	                {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

static void compare_pose(Comparison *c, int body, const JsonValue *position, const JsonValue *turn) {
	CalBodyInfo info;
	CalPose pose;
	CalMat3 R;
	double r[3], q[4], most = 0;
	if (cal_model_body(c->model, body, &info) != CAL_OK || !json_numbers(position, r, 3) || !json_numbers(turn, q, 4) ||
	    cal_node_pose(c->model, c->work, info.node, &pose) != CAL_OK)
		return;
	rotation_of(q, &R);
	for (int i = 0; i < 9; i++)
		most = worse(most, R.m[i / 3][i % 3] - pose.R.m[i / 3][i % 3]);
	note_error(c, COMPARED_POSE, most, 1);
	most = worse(worse(worse(0, r[0] - pose.r.x), r[1] - pose.r.y), r[2] - pose.r.z);
	note_error(c, COMPARED_POSE, most, fmax(1, largest(r, 3)));
}

/* Bodies by name; those without one by order, if there are as many on both sides. */
static void compare_poses(Comparison *c, const JsonValue *state) {
	const JsonValue *bodies = json_member(c->reference, "bodies"), *r = json_member(state, "xpos"),
					*q = json_member(state, "xquat");
	const bool same = bodies && bodies->count == cal_model_body_count(c->model);
	if (!bodies || !r || !q || cal_kinematics(c->model, &c->state, NULL, c->work) != CAL_OK)
		return;
	const JsonValue *position = r->first, *turn = q->first;
	int i = 0;
	for (const JsonValue *body = bodies->first; body && position && turn;
	     body = body->next, position = position->next, turn = turn->next, i++) {
		const char *name = json_text(json_member(body, "name"));
		const int found = name[0] ? cal_model_find_body(c->model, name) : same ? i : -1;
		if (found >= 0)
			compare_pose(c, found, position, turn);
	}
}

static void compare_center(Comparison *c, const JsonValue *state) {
	CalMomentum m;
	double com[3];
	const double total = json_value(json_member(c->reference, "total_mass"));
	if (cal_momentum(c->model, &c->state, c->work, &m) != CAL_OK)
		return;
	if (!isnan(total))
		note_error(c, COMPARED_TOTAL, fabs(total - m.mass), total);
	if (json_numbers(json_member(state, "com"), com, 3))
		note_error(c, COMPARED_COM, worse(worse(worse(0, com[0] - m.com.x), com[1] - m.com.y), com[2] - m.com.z),
		           fmax(1, largest(com, 3)));
}

static bool compare_state(Comparison *c, const JsonValue *state) {
	for (int i = 0; i < c->nu; i++)
		c->tau[i] = 0;
	if (!read_state(c, state) || (json_member(state, "tau") && !read_speeds(c, state, "tau", c->tau)))
		return false;
	compare_mass_matrix(c, state);
	compare_poses(c, state);
	compare_center(c, state);
	return compare_inverse(c, state) && compare_forward(c, state);
}

/* Accelerations with the equalities as ideal constraints, at qpos0 and at rest. */
static bool compare_hard(Comparison *c) {
	const JsonValue *hard = json_member(json_member(c->reference, "equalities"), "hard");
	const JsonValue *posed = json_member(hard, "well_posed");
	if (!hard || json_integer(hard, "rows") <= 0 || (posed && posed->kind != JSON_TRUE))
		return true;
	if (cal_model_row_count(c->model) == 0)
		return fails(c, "%s", "the reference has equality constraints, and the model no loops");
	if (!json_numbers(json_member(c->reference, "qpos0"), c->r, c->nq))
		return fails(c, "the reference has no %s of all coordinates", "qpos0");
	for (int i = 0; i < c->nq; i++)
		c->state.q[c->q_of[i]] = c->r[i];
	memset(c->state.u, 0, (size_t)c->nu * sizeof *c->state.u);
	if (!read_speeds(c, hard, "tau", c->tau) || !read_speeds(c, hard, "qacc", c->a) ||
	    cal_elastic_forces(c->model, &c->state, c->work, c->b) != CAL_OK)
		return false;
	for (int i = 0; i < c->nu; i++)
		c->tau[i] -= c->b[i];
	const CalInput input = {.tau = c->tau};
	const CalStatus status = cal_forward_dynamics(c->model, &c->state, &input, c->work, c->udot);
	if (status != CAL_OK)
		return fails(c, "forward dynamics with loops: %s", cal_status_text(status));
	compare_lists(c, COMPARED_HARD, c->udot, c->a, 0);
	return true;
}

/* ---- a model --------------------------------------------------------------------------------------------------- */

static void set_scales(Comparison *c, const JsonValue *states) {
	for (const JsonValue *state = states ? states->first : NULL; state; state = state->next) {
		if (json_numbers(json_member(state, "bias"), c->r, c->nu))
			c->bias_scale = fmax(c->bias_scale, largest(c->r, c->nu));
		if (json_numbers(json_member(state, "qacc"), c->r, c->nu))
			c->acceleration_scale = fmax(c->acceleration_scale, largest(c->r, c->nu));
	}
}

static bool compare_all(Comparison *c) {
	const JsonValue *home = json_member(c->reference, "home"), *states = json_member(c->reference, "states");
	set_scales(c, states);
	bool fine = match_joints(c) && (!home || compare_state(c, home));
	c->bias_scale = c->acceleration_scale = 0;
	for (const JsonValue *state = states ? states->first : NULL; state && fine; state = state->next)
		fine = compare_state(c, state);
	return fine && compare_hard(c);
}

static void *numbers(Comparison *c, size_t count, size_t size) {
	void *made = calloc(count + 1, size);
	if (!made)
		fails(c, "%s", "out of memory");
	return made;
}

static void compare_model(Comparison *c) {
	const JsonValue *counts = json_member(c->reference, "counts");
	char text[120];
	const size_t nu = (size_t)c->nu, nq = (size_t)c->nq;
	if (json_integer(counts, "nq") != c->nq || json_integer(counts, "nv") != c->nu) {
		snprintf(text, sizeof text, "%d coordinates and %d speeds, not %d and %d", c->nq, c->nu,
		         json_integer(counts, "nq"), json_integer(counts, "nv"));
		fails(c, "%s", text);
		return;
	}
	c->q_of = numbers(c, nq, sizeof(int));
	c->u_of = numbers(c, nu, sizeof(int));
	double **const lists[] = {&c->r, &c->tau, &c->udot, &c->a, &c->b, &c->M};
	const size_t sizes[] = {nq + nu, nu, nu, nu, nu, nu * nu};
	bool fine = c->q_of && c->u_of;
	for (int i = 0; i < 6; i++)
		fine = (*lists[i] = numbers(c, sizes[i], sizeof(double))) && fine;
	if (fine && cal_state_create(c->model, &c->state) == CAL_OK && cal_work_create(c->model, &c->work) == CAL_OK)
		compare_all(c);
	cal_work_destroy(c->work);
	cal_state_destroy(&c->state);
	for (int i = 0; i < 6; i++)
		free(*lists[i]);
	free(c->q_of);
	free(c->u_of);
	free(c->units);
}

static CalReadOptions options_of(const JsonValue *reference) {
	CalReadOptions options = *read_options();
	const char *base = json_text(json_member(json_member(reference, "urdf"), "base"));
	options.partial = 1;
	if (base[0])
		options.base = strstr(base, "free joint") ? CAL_BASE_FREE : CAL_BASE_FIXED;
	return options;
}

static void check_result(ModelResult *result) {
	static const double tolerances[] = {
#define COMPARED_TOLERANCE(name, text, tolerance) tolerance,
		COMPARED_LIST(COMPARED_TOLERANCE)
#undef COMPARED_TOLERANCE
	};
	for (int i = 0; i < COMPARED_COUNT; i++)
		if (result->verdict == MODEL_PASSED && result->worst[i] > tolerances[i]) {
			result->verdict = MODEL_FAILED;
			snprintf(result->what, sizeof result->what, "more than %g", tolerances[i]);
		}
}

void models_compare(const JsonValue *reference, const char *folder, ModelResult *result) {
	char path[4096];
	CalSetup *setup = NULL;
	CalModel *model = NULL;
	CalError error = {0};
	const CalReadOptions options = options_of(reference);
	*result = (ModelResult){.verdict = MODEL_PASSED};
	for (int i = 0; i < COMPARED_COUNT; i++)
		result->worst[i] = -1;
	snprintf(path, sizeof path, "%s/%s", folder, json_text(json_member(reference, "file")));
	CalStatus status = cal_model_read(path, &options, NULL, &setup, &error);
	double gravity[3] = {0, 0, -9.81};
	json_numbers(json_member(json_member(reference, "settings"), "gravity"), gravity, 3);
	if (status == CAL_OK)
		status = cal_desc_set_gravity(cal_setup_edit_desc(setup), (CalGroupId){0},
		                              (CalVec3){gravity[0], gravity[1], gravity[2]});
	if (status == CAL_OK)
		status = cal_model_compile(cal_setup_desc(setup), NULL, &model, &error);
	if (status != CAL_OK) {
		result->verdict = status == CAL_ERR_UNSUPPORTED ? MODEL_SKIPPED : MODEL_FAILED;
		snprintf(result->what, sizeof result->what, "%s", error.text[0] ? error.text : cal_status_text(status));
	} else {
		Comparison c = {.reference = reference,
		                .model = model,
		                .result = result,
		                .nq = cal_model_q_count(model),
		                .nu = cal_model_u_count(model)};
		compare_model(&c);
		check_result(result);
	}
	cal_model_destroy(model);
	cal_setup_destroy(setup);
}
