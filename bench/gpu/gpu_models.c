// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_models.c — models and states for the programs of this folder; see gpu_models.h.
 */
#include "gpu_models.h"

#include <stdio.h>
#include <stdlib.h>

double next_random(uint64_t *seed) {
	*seed = *seed * 6364136223846793005U + 1442695040888963407U;
	return (double)(int64_t)(*seed >> 11 << 1) / 9007199254740992.0 - 1.0;
}

double *numbers(size_t count) {
	double *x = calloc(count + 1, sizeof *x);
	if (!x) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return x;
}

static void require(CalStatus status, const CalError *error) {
	if (status == CAL_OK)
		return;
	fprintf(stderr, "%s: %s\n", cal_status_text(status), error->text);
	exit(1);
}

/* Adds a body with a joint on a node; returns its node. */
static CalNodeId add_body(CalDesc *desc, CalNodeId parent, int i, const CalJointDef *like, double size) {
	char body_name[24], joint_name[24];
	CalBodyDef body = cal_body_def();
	CalJointDef joint = *like;
	CalBodyId id;
	CalError error = {0};
	snprintf(body_name, sizeof body_name, "b%d", i);
	snprintf(joint_name, sizeof joint_name, "j%d", i);
	body.name = body_name, body.mass = 1 + 0.01 * i, body.com = (CalVec3){0.05 * size, -0.03 * size, 0.1 * size};
	body.inertia = (CalMat3){{{0.05, 0.004, -0.003}, {0.004, 0.06, 0.005}, {-0.003, 0.005, 0.04}}};
	joint.name = joint_name;
	require(cal_desc_add_body(desc, &body, &id, &error), &error);
	require(cal_desc_attach(desc, parent, &joint, cal_desc_body_node(desc, id), NULL, &error), &error);
	return cal_desc_body_node(desc, id);
}

static CalDesc *begin(void) {
	CalDesc *desc = NULL;
	const CalError error = {0};
	require(cal_desc_create(NULL, &desc), &error);
	require(cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, 0, -9.81}), &error);
	return desc;
}

static CalModel *finish(CalDesc *desc) {
	CalModel *model = NULL;
	CalError error = {0};
	require(cal_model_compile(desc, &(CalCompileOptions){.solver = CAL_SOLVER_RECURSIVE}, &model, &error), &error);
	cal_desc_destroy(desc);
	return model;
}

static CalJointDef revolute(int i, double length) {
	static const CalVec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
	joint.axis = axes[i % 3];
	joint.inboard.position = (CalVec3){0.05 * length, 0.1 * length, length};
	return joint;
}

CalModel *make_chain(int bodies) {
	CalDesc *desc = begin();
	CalNodeId tip = {0};
	for (int i = 0; i < bodies; i++) {
		const CalJointDef joint = revolute(i, i > 0 ? 0.2 : 0);
		tip = add_body(desc, tip, i, &joint, 1);
	}
	return finish(desc);
}

CalModel *make_humanoid(void) {
	static const int limbs[] = {7, 7, 6, 6, 1};
	CalDesc *desc = begin();
	const CalJointDef free_root = cal_joint_def(CAL_JOINT_FREE);
	const CalNodeId trunk = add_body(desc, (CalNodeId){0}, 0, &free_root, 1);
	int body = 1;
	for (int limb = 0; limb < 5; limb++) {
		CalNodeId tip = trunk;
		for (int i = 0; i < limbs[limb]; i++, body++) {
			const CalJointDef joint = revolute(body, 0.15);
			tip = add_body(desc, tip, body, &joint, 1);
		}
	}
	return finish(desc);
}

CalModel *make_random(uint64_t seed) {
	static const CalJointType types[] = {CAL_JOINT_REVOLUTE,    CAL_JOINT_PRISMATIC, CAL_JOINT_SCREW,
	                                     CAL_JOINT_UNIVERSAL,   CAL_JOINT_WELD,      CAL_JOINT_SPHERICAL,
	                                     CAL_JOINT_CYLINDRICAL, CAL_JOINT_PLANAR,    CAL_JOINT_REVOLUTE,
	                                     CAL_JOINT_REVOLUTE,    CAL_JOINT_FREE};
	uint64_t r = seed * 7919;
	CalDesc *desc = begin();
	CalNodeId nodes[64] = {{0}};
	const int bodies = 1 + (int)(seed % 40);
	for (int i = 0; i < bodies; i++) {
		const int pick = (int)(11 * (0.5 + 0.4999 * next_random(&r)));
		const CalJointType type = i == 0 && seed % 3 == 0 ? CAL_JOINT_FREE : types[pick];
		CalJointDef joint = cal_joint_def(type);
		joint.axis = (CalVec3){next_random(&r), next_random(&r), 1.5};
		joint.pitch = type == CAL_JOINT_SCREW ? 0.3 : 0;
		joint.inboard.position = (CalVec3){next_random(&r), next_random(&r), next_random(&r)};
		const bool ball = type == CAL_JOINT_SPHERICAL || type == CAL_JOINT_FREE;
		for (int k = 0; k < cal_joint_speed_count(&joint) && seed % 2; k++) {
			joint.dof[k].stiffness = ball ? 0 : 3 * (1 + next_random(&r));
			joint.dof[k].rest = ball ? 0 : next_random(&r);
			joint.dof[k].damping = 1 + next_random(&r);
			joint.dof[k].rotor_inertia = next_random(&r) > 0 ? 0.1 : 0;
		}
		const double place = 0.5 + 0.4999 * next_random(&r);
		const int on = next_random(&r) > 0.3 ? (int)(place * i) : i - 1;
		nodes[i] = add_body(desc, i == 0 ? (CalNodeId){0} : nodes[on], i, &joint, 1);
	}
	return finish(desc);
}

States make_states(const CalModel *model, int count, uint64_t seed) {
	States s = {.count = count, .nq = cal_model_q_count(model), .nu = cal_model_u_count(model)};
	uint64_t r = seed;
	double *d = numbers((size_t)s.nu), *q0 = numbers((size_t)s.nq);
	s.t = numbers((size_t)count), s.q = numbers((size_t)count * (size_t)s.nq);
	s.u = numbers((size_t)count * (size_t)s.nu), s.tau = numbers((size_t)count * (size_t)s.nu);
	cal_config_neutral(model, q0);
	for (int i = 0; i < count; i++) {
		for (int k = 0; k < s.nu; k++) {
			d[k] = next_random(&r);
			s.u[(size_t)i * (size_t)s.nu + (size_t)k] = next_random(&r);
			s.tau[(size_t)i * (size_t)s.nu + (size_t)k] = next_random(&r);
		}
		s.t[i] = next_random(&r);
		cal_config_integrate(model, q0, d, s.q + (size_t)i * (size_t)s.nq);
	}
	free(d), free(q0);
	return s;
}

void free_states(States *s) { free(s->t), free(s->q), free(s->u), free(s->tau); }
