// SPDX-License-Identifier: Apache-2.0
#include "models.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers -------------------------------------------------------------------------------- */

/* SplitMix64. */
static double uniform(uint64_t *seed, double low, double high) {
	uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return low + (high - low) * ((double)(z >> 11) * 0x1p-53);
}

static CalVec3 random_vector(uint64_t *seed, double half) {
	const double x = uniform(seed, -half, half), y = uniform(seed, -half, half), z = uniform(seed, -half, half);
	return (CalVec3){x, y, z};
}

static CalQuat random_turn(uint64_t *seed) {
	double q[4], sum = 0;
	for (int i = 0; i < 4; i++) {
		q[i] = uniform(seed, -1, 1) + (i == 0 ? 1.5 : 0);
		sum += q[i] * q[i];
	}
	const double s = 1 / sqrt(sum);
	return (CalQuat){q[0] * s, q[1] * s, q[2] * s, q[3] * s};
}

void counted_fill(uint64_t seed, double half, int count, double *x) {
	for (int i = 0; i < count; i++)
		x[i] = uniform(&seed, -half, half);
}

/* ---- rigid bodies --------------------------------------------------------------------------- */

enum { BODIES_MOST = 127 };

typedef struct Maker {
	CalDesc *desc;
	CalError *error;
	CalStatus status; // of the first call that failed
	uint64_t seed;
	int count;
	CalBodyId body[BODIES_MOST];
} Maker;

/* Of a point at k and a ball: m (k'k 1 - k k') + d 1, a valid tensor without zeros. */
static CalMat3 random_inertia(uint64_t *seed, double mass) {
	const CalVec3 k = random_vector(seed, 0.1);
	const double v[3] = {k.x, k.y, k.z}, d = mass * (0.01 + k.x * k.x + k.y * k.y + k.z * k.z);
	CalMat3 I;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			I.m[i][j] = (i == j ? d : 0) - mass * v[i] * v[j];
	return I;
}

/* A body on another one, parent -1: on the ground. Returns its number. */
static int add_body(Maker *m, int parent, CalJointType type, int axis, CalPlacement at) {
	char body_name[16], joint_name[16];
	CalBodyDef body = cal_body_def();
	CalJointDef joint = cal_joint_def(type);
	snprintf(body_name, sizeof body_name, "b%d", m->count);
	snprintf(joint_name, sizeof joint_name, "j%d", m->count);
	body.name = body_name, body.mass = uniform(&m->seed, 0.5, 2), body.com = random_vector(&m->seed, 0.15);
	body.inertia = random_inertia(&m->seed, body.mass);
	joint.name = joint_name, joint.axis = (CalVec3){axis == 0, axis == 1, axis == 2}, joint.inboard = at;
	const int i = m->count++;
	if (m->status == CAL_OK)
		m->status = cal_desc_add_body(m->desc, &body, &m->body[i], m->error);
	if (m->status != CAL_OK)
		return i;
	const CalNodeId inboard = parent < 0 ? (CalNodeId){0} : cal_desc_body_node(m->desc, m->body[parent]);
	m->status = cal_desc_attach(m->desc, inboard, &joint, cal_desc_body_node(m->desc, m->body[i]), NULL, m->error);
	return i;
}

static CalPlacement offset(Maker *m, double x, double y, double z, double half) {
	const CalVec3 r = random_vector(&m->seed, half);
	return (CalPlacement){{x + r.x, y + r.y, z + r.z}, {1, 0, 0, 0}};
}

static void make_chain(Maker *m, int count, CalJointType type) {
	for (int i = 0; i < count; i++)
		add_body(m, i - 1, type, i % 3, offset(m, 0.25, 0.1, -0.1, 0.08));
}

static void make_chain32(Maker *m) { make_chain(m, 32, CAL_JOINT_REVOLUTE); }
static void make_balls100(Maker *m) { make_chain(m, 100, CAL_JOINT_SPHERICAL); }

static void make_tree127(Maker *m) {
	for (int i = 0; i < 127; i++) {
		CalPlacement at = offset(m, 0.25, 0.1, -0.1, 0.08);
		at.orientation = random_turn(&m->seed);
		add_body(m, i == 0 ? -1 : (i - 1) / 2, CAL_JOINT_REVOLUTE, i % 3, at);
	}
}

/* Revolutes about these axes in turn, the first at `root`, the others `step` further each. Returns the last body. */
static int add_limb(Maker *m, int parent, CalVec3 root, CalVec3 step, const char *axes) {
	for (const char *a = axes; *a; a++) {
		const CalVec3 p = a == axes ? root : step;
		parent = add_body(m, parent, CAL_JOINT_REVOLUTE, *a - 'x', offset(m, p.x, p.y, p.z, 0.03));
	}
	return parent;
}

static void make_humanoid(Maker *m) {
	const int pelvis = add_body(m, -1, CAL_JOINT_FREE, 0, offset(m, 0, 0, 0, 0));
	const int chest = add_limb(m, pelvis, (CalVec3){0, 0, 0.1}, (CalVec3){0, 0, 0.12}, "zyx");
	add_limb(m, chest, (CalVec3){0, 0, 0.25}, (CalVec3){0, 0, 0.08}, "zy");
	for (int side = 1; side >= -1; side -= 2)
		add_limb(m, pelvis, (CalVec3){0, 0.1 * side, -0.05}, (CalVec3){0, 0, -0.2}, "zxyyyx");
	for (int side = 1; side >= -1; side -= 2)
		add_limb(m, chest, (CalVec3){0, 0.2 * side, 0.2}, (CalVec3){0, 0.05 * side, -0.12}, "yxzyzyx");
}

/* ---- flexible bodies and loops -------------------------------------------------------------- */

/* 16 tubes with four bending modes each, every revolute on the tip of the one before it. */
static void make_flexible16(Maker *m) {
	char name[16], on[24] = "";
	for (int i = 0; i < 16 && m->status == CAL_OK; i++) {
		CalBeamDef beam = cal_beam_def();
		CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
		snprintf(name, sizeof name, "b%d", i);
		beam.name = name, beam.length = 1, beam.deformation = CAL_BEAM_BENDING, beam.choice.modes = 4;
		beam.root = (CalSection){.shape = CAL_SECTION_TUBE,
		                         .height = 0.1,
		                         .thickness = 0.005,
		                         .youngs_modulus = 70e9,
		                         .poissons_ratio = 0.3,
		                         .density = 2700};
		joint.name = name, joint.axis = (CalVec3){i % 3 == 0, i % 3 == 1, i % 3 == 2};
		m->status = cal_beam_add(m->desc, &beam, &m->body[m->count++], m->error);
		if (m->status != CAL_OK)
			return;
		const CalNodeId inboard = i ? cal_desc_find_node(m->desc, on) : (CalNodeId){0};
		m->status = cal_desc_attach(m->desc, inboard, &joint, cal_desc_body_node(m->desc, m->body[i]), NULL, m->error);
		snprintf(on, sizeof on, "%s/tip", name);
	}
}

enum { WINDOWS = 40 };

/* Loop i: a hinge at the ends of two rods. */
static void close_hinge(Maker *m, int i, int on_a, int on_b) {
	char name[16];
	CalLoopDef loop = cal_loop_def(CAL_LOOP_REVOLUTE);
	snprintf(name, sizeof name, "l%d", i);
	loop.name = name, loop.a.position = loop.b.position = (CalVec3){1, 0, 0};
	const CalNodeId a = cal_desc_body_node(m->desc, m->body[on_a]), b = cal_desc_body_node(m->desc, m->body[on_b]);
	if (m->status == CAL_OK)
		m->status = cal_desc_close_loop(m->desc, a, &loop, b, NULL, m->error);
}

/* Four-bar windows (IFToMM A02): standing rods are the even bodies, rods across the odd ones. */
static void make_fourbar40(Maker *m) {
	for (int i = 0; i <= WINDOWS; i++) {
		const int standing = add_body(m, -1, CAL_JOINT_REVOLUTE, 2, offset(m, i, 0, 0, 0));
		if (i < WINDOWS)
			add_body(m, standing, CAL_JOINT_REVOLUTE, 2, offset(m, 1, 0, 0, 0));
	}
	for (int i = 0; i < WINDOWS; i++) // the free end of the rod across and the top of the next standing rod
		close_hinge(m, i, 2 * i + 1, 2 * i + 2);
}

enum { RUNGS = 40 };

/* Two rails side by side, joined by rungs: rods of the first are the even bodies, each with its rung; then the second. */
static void make_ladder40(Maker *m) {
	for (int rail = 0; rail < 2; rail++) {
		for (int i = 0, on = -1; i < RUNGS; i++) {
			on = add_body(m, on, CAL_JOINT_REVOLUTE, 2, offset(m, i ? 1 : rail, 0, 0, 0));
			if (rail == 0)
				add_body(m, on, CAL_JOINT_REVOLUTE, 2, offset(m, 1, 0, 0, 0));
			else
				close_hinge(m, i, 2 * i + 1, 2 * RUNGS + i);
		}
	}
}

/* ---- the list ------------------------------------------------------------------------------- */

const char *const counted_names[] = {"chain32",    "tree127",   "humanoid", "balls100",
                                     "flexible16", "fourbar40", "ladder40", NULL};

static void (*const makers[])(Maker *) = {make_chain32,    make_tree127,   make_humanoid, make_balls100,
                                          make_flexible16, make_fourbar40, make_ladder40};

/* All standing rods at the same angle, all rods across level: the loops are closed. */
static void set_windows(CountedModel *c) {
	for (int b = 0; b < cal_model_body_count(c->model); b++) {
		CalBodyInfo info;
		cal_model_body(c->model, b, &info);
		const double sign = info.parent < 0 ? 1 : -1;
		c->state.q[info.q] = sign * 0.7;
		c->state.u[info.u] = sign * -1.3;
	}
}

/* Both rails straight and inclined, all rungs level. */
static void set_ladder(CountedModel *c) {
	for (int b = 0; b < cal_model_body_count(c->model); b++) {
		CalBodyInfo info;
		cal_model_body(c->model, b, &info);
		const int number = (int)info.id.value - 1, rung = number < 2 * RUNGS && number % 2;
		const double sign = info.parent < 0 ? 1 : rung ? -1 : 0;
		c->state.q[info.q] = sign * 0.7;
		c->state.u[info.u] = sign * -1.3;
	}
}

/* A turn of each joint by up to `angle`, away from zero; modes by as much. */
static void set_state(CountedModel *c, double angle) {
	const int nu = cal_model_u_count(c->model);
	double step[3 * BODIES_MOST];
	counted_fill(7, angle, nu, step);
	cal_config_integrate(c->model, c->state.q, step, c->state.q);
	counted_fill(8, 1, nu, c->state.u);
}

static CalStatus compile_model(Maker *m, CountedModel *c) {
	CalCompileOptions options = {.solver = CAL_SOLVER_RECURSIVE};
	CalStatus status = cal_model_compile(m->desc, &options, &c->model, m->error);
	if (status == CAL_OK)
		status = cal_state_create(c->model, &c->state);
	if (status == CAL_OK)
		status = cal_work_create(c->model, &c->work);
	if (status != CAL_OK)
		return status;
	CalBodyInfo last;
	status = cal_model_body(c->model, cal_model_body_count(c->model) - 1, &last);
	c->tip = last.node;
	return status;
}

CalStatus counted_create(const char *name, CountedModel *counted, CalError *error) {
	Maker m = {.error = error, .seed = 20240229};
	memset(counted, 0, sizeof *counted);
	int k = 0;
	while (counted_names[k] && strcmp(counted_names[k], name) != 0)
		k++;
	if (!counted_names[k])
		return CAL_ERR_ARGUMENT;
	m.status = cal_desc_create(NULL, &m.desc);
	if (m.status == CAL_OK)
		m.status = cal_desc_set_gravity(m.desc, (CalGroupId){0}, (CalVec3){0, -9.81, 0});
	if (m.status == CAL_OK)
		makers[k](&m);
	if (m.status == CAL_OK)
		m.status = compile_model(&m, counted);
	if (m.status == CAL_OK && makers[k] == make_fourbar40)
		set_windows(counted);
	else if (m.status == CAL_OK && makers[k] == make_ladder40)
		set_ladder(counted);
	else if (m.status == CAL_OK)
		set_state(counted, makers[k] == make_flexible16 ? 0.02 : 1.0);
	cal_desc_destroy(m.desc);
	return m.status;
}

void counted_destroy(CountedModel *counted) {
	cal_work_destroy(counted->work);
	cal_state_destroy(&counted->state);
	cal_model_destroy(counted->model);
}
