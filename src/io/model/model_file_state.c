// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_state.c — the initial state: coordinates and speeds of joints by name, and of the modes of the bodies that
 * they carry; and what of it the closing of loops must not move.
 */
#include <math.h>
#include <string.h>

#include "io/model/model_file.h"
#include "math/portable.h"

typedef struct StateInput {
	const TreeNode *q, *u, *at, *orientation, *velocity, *angular_velocity, *eta, *eta_dot, *frozen;
	int guess;
} StateInput;

/* What the file says of a joint. */
typedef struct StateValues {
	int nq, nu; // 0: not given
	double q[CAL_JOINT_MAX_COORDS];
	double u[CAL_JOINT_MAX_DOF];
	const double *eta, *eta_dot; // [modes]; NULL: not given
	uint8_t frozen[CAL_JOINT_MAX_DOF], frozen_modes;
	uint8_t stated_q[CAL_JOINT_MAX_DOF], stated_u[CAL_JOINT_MAX_DOF]; // the file gives the coordinate, the speed
} StateValues;

static const Field state_keys[] = {
	{"q", FIELD_NUMBERS, offsetof(StateInput, q), DIM_ANGLE, .flags = FIELD_BY_DOF | FIELD_AS_TREE,
     .doc = "coordinates, in the order of the table of [joints](#joint)"},
	{"u", FIELD_NUMBERS, offsetof(StateInput, u), DIM_RATE, .flags = FIELD_BY_DOF | FIELD_AS_TREE, .doc = "speeds"},
	{"at", FIELD_VECTOR, offsetof(StateInput, at), DIM_LENGTH, .flags = FIELD_AS_TREE, .doc = "free: position"},
	{"orientation", FIELD_ORIENTATION, offsetof(StateInput, orientation), .flags = FIELD_AS_TREE,
     .doc = "free, spherical"},
	{"velocity", FIELD_VECTOR, offsetof(StateInput, velocity), DIM_SPEED, .flags = FIELD_AS_TREE,
     .doc = "free: inboard axes"},
	{"angular_velocity", FIELD_VECTOR, offsetof(StateInput, angular_velocity), DIM_RATE, .flags = FIELD_AS_TREE,
     .doc = "free, spherical: outboard axes"},
	{"eta", FIELD_NUMBERS, offsetof(StateInput, eta), .flags = FIELD_AS_TREE, .doc = "modal coordinates"},
	{"eta_dot", FIELD_NUMBERS, offsetof(StateInput, eta_dot), .flags = FIELD_AS_TREE, .doc = "modal speeds"},
	{"frozen", FIELD_FLAGS, offsetof(StateInput, frozen), .flags = FIELD_AS_TREE,
     .doc = "a run that closes [loops](loops.md) leaves this joint, and the modes that it carries, as "
            "given; a list has one flag for each speed of the joint"},
	{"guess", FIELD_FLAG, offsetof(StateInput, guess),
     .doc = "these values are an initial guess for closing the [loops](loops.md#assembly), not values at which the "
            "run must start; default false"},
};
const FieldTable state_table = {FIELDS("state", state_keys),
                                .doc = "The initial state of a joint and of the modes of the body that it carries."};

/* The item for index i of a list of n, or the scalar itself for n = 1. */
static const TreeNode *component(const TreeNode *node, int i) {
	return node->kind == TREE_LIST ? node->items[i] : node;
}

static bool check_count(Reader *r, const TreeNode *node, const char *key, int n) {
	const int given = node->kind == TREE_LIST ? node->count : node->kind == TREE_SCALAR ? 1 : -1;
	return given == n || reader_fail(r, node, "\"%s\" of this joint takes %d number%s%s", key, n, n == 1 ? "" : "s",
	                                 n > 1 ? " in a list" : "");
}

/* Makes each quaternion of q unit; refuses one that is far from it. */
static bool unit_quaternions(Reader *r, const TreeNode *node, const JointShape *shape, double *q) {
	for (int i = 0; i < shape->nq; i += shape->coordinate[i] == 'Q' ? 4 : 1) {
		if (shape->coordinate[i] != 'Q')
			continue;
		const double norm = portable_hypot(portable_hypot(q[i], q[i + 1]), portable_hypot(q[i + 2], q[i + 3]));
		if (!(fabs(norm - 1) < 1e-3))
			return reader_fail(
				r, node, "the quaternion [w, x, y, z] in \"q\" has the norm %g; it must be 1 (within 0.001)", norm);
		for (int k = i; k < i + 4; k++)
			q[k] /= norm;
	}
	return true;
}

static bool read_q(Reader *r, const TreeNode *node, const JointShape *shape, StateValues *entry) {
	if (!check_count(r, node, "q", shape->nq))
		return false;
	for (int i = 0; i < shape->nq; i++) {
		const char kind = shape->coordinate[i];
		const Dimension dimension = kind == 'A' ? DIM_ANGLE : kind == 'L' ? DIM_LENGTH : DIM_NUMBER;
		if (!read_quantity(r, component(node, i), dimension, &entry->q[i]))
			return false;
	}
	entry->nq = shape->nq;
	memset(entry->stated_q, 1, (size_t)shape->nu);
	return unit_quaternions(r, node, shape, entry->q);
}

static bool read_u(Reader *r, const TreeNode *node, const JointShape *shape, StateValues *entry) {
	if (!check_count(r, node, "u", shape->nu))
		return false;
	for (int i = 0; i < shape->nu; i++) {
		if (!read_quantity(r, component(node, i), shape->linear[i] ? DIM_SPEED : DIM_RATE, &entry->u[i]))
			return false;
	}
	entry->nu = shape->nu;
	memset(entry->stated_u, 1, (size_t)shape->nu);
	return true;
}

/* at, orientation, velocity, angular_velocity of free and spherical joints. */
static bool read_pose(Reader *r, const TreeNode *map, const StateInput *in, const JointRecord *joint,
                      StateValues *entry) {
	const int ball = joint->type == CAL_JOINT_FREE ? 3 : 0; // first place of the rotation in q and u
	const TreeNode *linear = in->at ? in->at : in->velocity;
	CalVec3 v = {0, 0, 0}, w = {0, 0, 0}, at = {0, 0, 0};
	CalQuat quat = {1, 0, 0, 0};
	if (joint->type != CAL_JOINT_FREE && joint->type != CAL_JOINT_SPHERICAL)
		return reader_fail(r, map,
		                   "at, orientation, velocity and angular_velocity are for free and spherical joints; give "
		                   "\"q\" and \"u\"");
	if (linear && joint->type == CAL_JOINT_SPHERICAL)
		return reader_fail(r, linear, "a spherical joint has no position of its own; remove \"at\" and \"velocity\"");
	if ((in->q && (in->at || in->orientation)) || (in->u && (in->velocity || in->angular_velocity)))
		return reader_fail(r, map,
		                   "give either \"q\" and \"u\" or at, orientation, velocity and angular_velocity, not both");
	if ((in->at && !read_vector(r, in->at, DIM_LENGTH, &at)) ||
	    (in->orientation && !read_orientation(r, in->orientation, &quat)) ||
	    (in->velocity && !read_vector(r, in->velocity, DIM_SPEED, &v)) ||
	    (in->angular_velocity && !read_vector(r, in->angular_velocity, DIM_RATE, &w)))
		return false;
	const double q[7] = {at.x, at.y, at.z, quat.w, quat.x, quat.y, quat.z}, u[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
	if (in->at || in->orientation) {
		memcpy(entry->q, q + 3 - ball, (size_t)joint->shape.nq * sizeof *q);
		entry->nq = joint->shape.nq;
	}
	if (in->velocity || in->angular_velocity) {
		memcpy(entry->u, u + 3 - ball, (size_t)joint->shape.nu * sizeof *u);
		entry->nu = joint->shape.nu;
	}
	for (int i = 0; i < joint->shape.nu; i++) {
		const bool turns = i >= ball;
		entry->stated_q[i] = turns ? in->orientation != NULL : in->at != NULL;
		entry->stated_u[i] = turns ? in->angular_velocity != NULL : in->velocity != NULL;
	}
	return true;
}

bool model_file_read_modal_values(Reader *r, const TreeNode *node, const char *key, int modes, const double **out) {
	const int given = !node ? 0 : node->kind == TREE_LIST ? node->count : node->kind == TREE_SCALAR ? 1 : -1;
	if (!node)
		return true;
	if (modes == 0)
		return reader_fail(r, node, "the body is rigid; remove \"%s\"", key);
	if (given != modes)
		return reader_fail(r, node, "\"%s\" takes %d number%s, one for each mode of the body", key, modes,
		                   modes == 1 ? "" : "s in a list");
	double *values = reader_array(r, (size_t)modes, sizeof *values);
	for (int i = 0; values && i < modes; i++) {
		if (!read_quantity(r, component(node, i), DIM_NUMBER, &values[i]))
			return false;
	}
	*out = values;
	return values != NULL;
}

/* true freezes every dof of the joint and every mode of its body; a list says which dofs. */
static bool read_frozen(Reader *r, const TreeNode *node, const JointShape *shape, StateValues *entry) {
	int frozen = 0;
	if (node->kind == TREE_LIST && node->count != shape->nu)
		return reader_fail(r, node, "\"frozen\" of this joint takes true, false, or a list of %d flag%s", shape->nu,
		                   shape->nu == 1 ? "" : "s");
	if (node->kind != TREE_LIST) {
		if (!read_flag(r, node, &frozen))
			return false;
		entry->frozen_modes = frozen != 0;
	}
	for (int i = 0; i < shape->nu && i < CAL_JOINT_MAX_DOF; i++) { // the bound is for the compiler
		if (node->kind == TREE_LIST && !read_flag(r, node->items[i], &frozen))
			return false;
		entry->frozen[i] = frozen != 0;
	}
	return true;
}

/* A coordinate or a speed that the file does not give is assumed. */
static bool add_state(Reader *r, const TreeNode *key, const StateInput *in, const StateValues *entry) {
	char place[256];
	uint8_t assumed_q[CAL_JOINT_MAX_DOF], assumed_u[CAL_JOINT_MAX_DOF];
	for (int i = 0; i < CAL_JOINT_MAX_DOF; i++) {
		assumed_q[i] = !entry->stated_q[i];
		assumed_u[i] = !entry->stated_u[i];
	}
	const CalStateDef def = {.q = entry->nq ? entry->q : NULL,
	                         .u = entry->nu ? entry->u : NULL,
	                         .eta = entry->eta,
	                         .eta_dot = entry->eta_dot,
	                         .assumed_q = assumed_q,
	                         .assumed_u = assumed_u,
	                         .frozen = in->frozen ? entry->frozen : NULL,
	                         .frozen_modes = entry->frozen_modes,
	                         .guess = in->guess,
	                         .place = tree_place(r->file->tree, key, place, sizeof place)};
	const CalJointId joint = cal_desc_find_joint(r->file->desc, key->text);
	return reader_added(r, key, cal_setup_set_state(r->file->setup, joint, &def, r->error));
}

static bool read_entry(Reader *r, const TreeNode *key, const TreeNode *map) {
	const JointRecord *joint;
	StateInput in = {0};
	StateValues entry = {0};
	reader_subject(r, "state", NULL);
	if (!cal_desc_find_joint(r->file->desc, key->text).value && cal_desc_find_body(r->file->desc, key->text).value)
		return reader_fail(r, key, "\"%.80s\" is a body; the state, that of its modes too, is given by names of joints",
		                   key->text);
	if (!model_file_find_joint(r, key, key->text, &joint))
		return false;
	reader_subject(r, "state of joint", joint->name);
	if (!fields_read(r, map, &state_table, &in))
		return false;
	if ((in.at || in.orientation || in.velocity || in.angular_velocity) && !read_pose(r, map, &in, joint, &entry))
		return false;
	if (in.guess && in.frozen)
		return reader_fail(r, in.frozen, "a guess is what closing loops moves first; it cannot be \"frozen\" too");
	return (!in.q || read_q(r, in.q, &joint->shape, &entry)) && (!in.u || read_u(r, in.u, &joint->shape, &entry)) &&
	       model_file_read_modal_values(r, in.eta, "eta", joint->modes, &entry.eta) &&
	       model_file_read_modal_values(r, in.eta_dot, "eta_dot", joint->modes, &entry.eta_dot) &&
	       (!in.frozen || read_frozen(r, in.frozen, &joint->shape, &entry)) && add_state(r, key, &in, &entry);
}

bool model_file_read_state(Reader *r, const Sections *s) {
	reader_subject(r, "state", NULL);
	if (!s->state)
		return true;
	if (s->state->kind != TREE_MAP)
		return reader_fail(r, s->state, "expected a map by names of joints, e.g. hinge: {q: 30 deg, u: 0}");
	for (int i = 0; i < s->state->count; i++)
		if (!read_entry(r, tree_key(s->state, i), s->state->items[i]))
			return false;
	return true;
}
