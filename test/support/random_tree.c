// SPDX-License-Identifier: Apache-2.0
/*
 * random_tree.c — random trees of every joint type.
 *
 * Joints, placements and inertias are generic. What would make the mass matrix singular is avoided by
 * construction (a sequence has at most three rotations and three translations; a massless body is a hinge
 * whose child hinges about a perpendicular axis or is welded to it). random_flex.c makes bodies flexible.
 */
#include "support/random_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BODIES = 4096, MAX_NODES = 8192 };

RefModel *ref_model_create(void) {
	RefModel *m = test_alloc(1, sizeof *m);
	m->bodies = test_alloc(MAX_BODIES, sizeof *m->bodies);
	m->nodes = test_alloc(MAX_NODES, sizeof *m->nodes);
	return m;
}

int ref_model_add_body(RefModel *m, int parent, CalJointType type) {
	int i = m->body_count++;
	RefBody *b = &m->bodies[i];
	assert_true(i < MAX_BODIES);
	snprintf(b->name, sizeof b->name, "body%d", i);
	snprintf(b->joint_name, sizeof b->joint_name, "joint%d", i);
	b->parent = parent;
	b->parent_node = b->head_node = -1;
	b->joint = cal_joint_def(type);
	return i;
}

int ref_model_add_node(RefModel *m, int body, CalPlacement placement) {
	int i = m->node_count++;
	assert_true(i < MAX_NODES);
	snprintf(m->nodes[i].name, sizeof m->nodes[i].name, "node%d", i);
	m->nodes[i].body = body;
	m->nodes[i].placement = placement;
	return i;
}

static CalVec3 cross3(CalVec3 a, CalVec3 b) {
	return (CalVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* A direction perpendicular to a. */
static CalVec3 rng_perpendicular(Rng *r, CalVec3 a) {
	for (;;) {
		CalVec3 c = cross3(a, rng_direction(r));
		double n = sqrt(c.x * c.x + c.y * c.y + c.z * c.z);
		if (n > 0.3)
			return (CalVec3){c.x / n, c.y / n, c.z / n};
	}
}

static void random_triad(Rng *r, CalVec3 axes[3]) {
	axes[0] = rng_direction(r);
	axes[1] = rng_perpendicular(r, axes[0]);
	axes[2] = cross3(axes[0], axes[1]);
}

/* Up to three rotations (or a ball) and three translations in any order, each along the axes of a triad. */
static void random_sequence(Rng *r, CalJointDef *def) {
	int rotations = rng_int(r, 4), translations = rng_int(r, 4), ball = rotations == 3 && rng_chance(r, 0.5);
	CalVec3 turn[3], slide[3], *next_turn = turn, *next_slide = slide;
	random_triad(r, turn);
	random_triad(r, slide);
	if (rotations + translations == 0)
		rotations = 2;
	if (ball)
		rotations = 1;
	while (rotations + translations > 0) {
		CalElement *e = &def->elements[def->element_count++];
		if (rng_int(r, rotations + translations) < rotations) {
			e->type = ball ? CAL_JOINT_SPHERICAL : rng_chance(r, 0.3) ? CAL_JOINT_SCREW : CAL_JOINT_REVOLUTE;
			e->axis = *next_turn++;
			e->pitch = e->type == CAL_JOINT_SCREW ? rng_uniform(r, -0.3, 0.3) : 0;
			rotations--;
		} else {
			e->type = CAL_JOINT_PRISMATIC;
			e->axis = *next_slide++;
			translations--;
		}
	}
}

static void random_joint(Rng *r, RefBody *b) {
	CalJointDef *def = &b->joint;
	double length = rng_uniform(r, 0.5, 2);
	def->axis = rng_direction(r);
	def->axis2 = rng_perpendicular(r, def->axis);
	if (def->type == CAL_JOINT_UNIVERSAL) { /* the axes need not be perpendicular */
		CalVec3 tilt = rng_vector(r, 0.4);
		def->axis2 = (CalVec3){def->axis2.x + tilt.x, def->axis2.y + tilt.y, def->axis2.z + tilt.z};
	}
	def->axis = (CalVec3){length * def->axis.x, length * def->axis.y, length * def->axis.z};
	def->pitch = def->type == CAL_JOINT_SCREW ? rng_uniform(r, -0.3, 0.3) : 0;
	if (def->type == CAL_JOINT_SEQUENCE)
		random_sequence(r, def);
	if (def->type == CAL_JOINT_USER) {
		UserJoint kind = (UserJoint)rng_int(r, USER_JOINT_COUNT);
		b->user = user_joint_random(r, kind);
		def->ops = user_joint_ops(kind);
		def->ops_data = b->user;
	}
}

static void random_placements(Rng *r, RefModel *m, RefBody *b, int body) {
	if (rng_chance(r, 0.8))
		b->joint.inboard = rng_placement(r);
	if (rng_chance(r, 0.8))
		b->joint.outboard = rng_placement(r);
	if (b->parent >= 0 && m->bodies[b->parent].modes > 0 && rng_chance(r, 0.8))
		b->parent_node = random_flex_node(r, m, b->parent);
	else if (rng_chance(r, 0.4))
		b->parent_node = ref_model_add_node(m, b->parent, rng_placement(r));
	if (b->modes > 0 && rng_chance(r, 0.6))
		b->head_node = random_flex_node(r, m, body);
	else if (rng_chance(r, 0.4))
		b->head_node = ref_model_add_node(m, body, rng_placement(r));
}

static void random_dofs(Rng *r, CalJointDef *def, const TreeOptions *o) {
	for (int k = 0; k < CAL_JOINT_MAX_DOF; k++) {
		CalDofDef *d = &def->dof[k];
		if (o->springs && rng_chance(r, 0.5)) {
			d->stiffness = rng_uniform(r, 0, 10);
			d->rest = rng_uniform(r, -0.5, 0.5);
		}
		if (o->springs && rng_chance(r, 0.5))
			d->damping = rng_uniform(r, 0, 2);
		if (o->springs && rng_chance(r, 0.3)) {
			d->rotor_inertia = rng_uniform(r, 0, 0.01);
			d->gear_ratio = rng_chance(r, 0.3) ? 0 : rng_uniform(r, -10, 10);
		}
		if (o->prescribed && rng_chance(r, 0.3))
			d->prescribed = 1;
	}
}

static CalJointType random_type(Rng *r, unsigned set) {
	for (;;) {
		int type = rng_int(r, CAL_JOINT_TYPE_COUNT);
		if (set & 1u << type)
			return (CalJointType)type;
	}
}

/* A hinge without mass about z, and the body that it carries on a perpendicular hinge or a weld. */
static void add_massless_pair(Rng *r, RefModel *m, int parent, const TreeOptions *o) {
	int i = ref_model_add_body(m, parent, CAL_JOINT_REVOLUTE);
	RefBody *b = &m->bodies[i];
	b->joint.inboard = rng_placement(r);
	random_dofs(r, &b->joint, o);
	int k = ref_model_add_body(m, i, rng_chance(r, 0.5) ? CAL_JOINT_WELD : CAL_JOINT_REVOLUTE);
	RefBody *c = &m->bodies[k];
	double half = rng_uniform(r, -1.5, 1.5);
	c->joint.axis = (CalVec3){1, 0, 0};
	c->joint.inboard = (CalPlacement){rng_vector(r, 0.3), {cos(half), 0, 0, sin(half)}};
	c->joint.outboard = rng_placement(r);
	random_dofs(r, &c->joint, o);
	rng_mass(r, 1, &c->mass, &c->com, &c->inertia);
}

TreeOptions tree_any(uint64_t seed) {
	Rng r = rng_make(seed * 31 + 7);
	return (TreeOptions){.bodies = 1 + rng_int(&r, 12),
	                     .floating = rng_chance(&r, 0.3),
	                     .chain = rng_chance(&r, 0.2),
	                     .massless = 1,
	                     .springs = 1,
	                     .no_gravity = rng_chance(&r, 0.2)};
}

TreeOptions tree_flexible(uint64_t seed) {
	Rng r = rng_make(seed * 37 + 11);
	TreeOptions o = tree_any(seed);
	o.bodies = 1 + rng_int(&r, 7);
	o.flexible = rng_uniform(&r, 0.3, 1);
	o.foreshortening = rng_chance(&r, 0.3);
	o.rate = 3;
	return o;
}

RefModel *random_tree(Rng *r, TreeOptions o) {
	RefModel *m = ref_model_create();
	unsigned set = o.joints ? o.joints : TREE_ANY_JOINT;
	m->gravity = o.no_gravity ? (CalVec3){0, 0, 0} : rng_vector(r, 10);
	while (m->body_count < o.bodies) {
		int i = m->body_count, root = i == 0 || (!o.floating && !o.chain && rng_chance(r, 0.05));
		int parent = root ? -1 : o.chain || rng_chance(r, 0.5) ? i - 1 : rng_int(r, i);
		if (o.massless && !root && rng_chance(r, 0.1)) {
			add_massless_pair(r, m, parent, &o);
			continue;
		}
		ref_model_add_body(m, parent, o.floating && i == 0 ? CAL_JOINT_FREE : random_type(r, set));
		RefBody *b = &m->bodies[i];
		const int flexible = o.flexible > 0 && rng_chance(r, o.flexible);
		random_joint(r, b);
		if (flexible) {
			rng_mass(r, rng_uniform(r, 0.3, 1.5), &b->mass, &b->com, &b->inertia);
			random_flexibility(r, m, i, &o);
		}
		random_placements(r, m, b, i);
		random_dofs(r, &b->joint, &o);
		if (!flexible)
			rng_mass(r, rng_uniform(r, 0.3, 1.5), &b->mass, &b->com, &b->inertia);
	}
	for (int i = 0; i < m->body_count; i++)
		if (rng_chance(r, 0.5))
			ref_model_add_node(m, i, rng_placement(r));
	ref_model_add_node(m, m->body_count - 1, rng_placement(r));
	ref_model_index(m);
	for (int i = 0; i < m->body_count; i++)
		for (int k = m->bodies[i].nu; k < CAL_JOINT_MAX_DOF; k++)
			m->bodies[i].joint.dof[k] = (CalDofDef){0};
	return m;
}
