// SPDX-License-Identifier: Apache-2.0
/*
 * topology.c — records of joints and loops, and what they are in the description now; trees and how they turn over.
 */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "joint/pose_solve.h"
#include "loop/loop_type.h"
#include "model/compile/flex_form.h"
#include "topology/topology.h"

/* ---- memory ------------------------------------------------------------------------------------------- */

void topology_destroy(Topology *t) {
	if (!t)
		return;
	Arena *arena = t->arena; // which the topology and all that it owns are in
	arena_destroy(arena);
}

int topology_add_modes(Topology *t, uint32_t body) {
	DescBody *b = &t->desc->bodies[body - 1];
	if (t->mode_count + b->flex->modes > t->mode_slots)
		return 0;
	b->prescribed = memset(t->mode_locked + t->mode_count, 0, (size_t)b->flex->modes);
	t->mode_count += b->flex->modes;
	b->form = flex_form_create(t->desc, (int)body - 1, CAL_MODAL_INERTIA_AUTO, &t->allocator);
	return b->form != NULL;
}

/* ---- saving ------------------------------------------------------------------------------------------- */

void topology_save(Topology *t) {
	const CalDesc *desc = t->desc;
	TopologySaved *s = &t->saved;
	s->groups = desc->group_count, s->bodies = desc->body_count, s->nodes = desc->node_count;
	s->joints = desc->joint_count, s->loops = desc->loop_count;
	s->left = t->left;
	memcpy(s->joint, t->joints, sizeof *s->joint * (size_t)s->joints);
	memcpy(s->loop, t->loops, sizeof *s->loop * (size_t)s->loops);
	memcpy(s->desc_joint, desc->joints, sizeof *s->desc_joint * (size_t)s->joints);
	memcpy(s->desc_loop, desc->loops, sizeof *s->desc_loop * (size_t)s->loops);
	for (int i = 0; i < s->bodies; i++)
		s->body_group[i] = desc->bodies[i].def.group.value;
	for (int i = 0; i < s->groups; i++)
		s->group[i] = desc->groups[i];
	memcpy(s->mode_locked, t->mode_locked, (size_t)t->mode_slots);
	s->modes = t->mode_count;
}

static void release_names(const Topology *t, const char *name, const char *place) {
	memory_free(&t->allocator, (void *)(uintptr_t)name);
	memory_free(&t->allocator, (void *)(uintptr_t)place);
}

void topology_restore(Topology *t) {
	CalDesc *desc = t->desc;
	const TopologySaved *s = &t->saved;
	while (desc->group_count > s->groups)
		release_names(t, desc->groups[--desc->group_count].name, NULL);
	while (desc->joint_count > s->joints)
		release_names(t, desc->joints[--desc->joint_count].def.name, NULL);
	while (desc->loop_count > s->loops)
		release_names(t, desc->loops[--desc->loop_count].def.name, NULL);
	while (desc->node_count > s->nodes)
		release_names(t, desc->nodes[--desc->node_count].def.name, NULL);
	while (desc->body_count > s->bodies) {
		const DescBody *body = &desc->bodies[--desc->body_count];
		release_names(t, body->def.name, NULL);
		memory_free(&t->allocator, body->flex);
		memory_free(&t->allocator, (void *)(uintptr_t)body->form);
	}
	t->left = s->left;
	memcpy(t->joints, s->joint, sizeof *s->joint * (size_t)s->joints);
	memcpy(t->loops, s->loop, sizeof *s->loop * (size_t)s->loops);
	memcpy(desc->joints, s->desc_joint, sizeof *s->desc_joint * (size_t)s->joints);
	memcpy(desc->loops, s->desc_loop, sizeof *s->desc_loop * (size_t)s->loops);
	for (int i = 0; i < s->bodies; i++)
		desc->bodies[i].def.group.value = s->body_group[i];
	for (int i = 0; i < s->groups; i++)
		desc->groups[i] = s->group[i];
	memcpy(t->mode_locked, s->mode_locked, (size_t)t->mode_slots);
	t->mode_count = s->modes;
}

/* ---- joints and loops as they are now ------------------------------------------------------------------ */

void topology_put_joint(Topology *t, uint32_t id) {
	const TopologyJoint *j = topology_joint(t, id);
	DescJoint *d = &t->desc->joints[id - 1];
	*d = (DescJoint){.def = j->def, .outboard = t->park, .embedding = d->embedding};
	if (j->state != CAL_JOINT_IN_TREE)
		return;
	if (j->reversed)
		joint_reverse(&j->def, &d->def); // checked when it was turned
	d->inboard = topology_inboard(j);
	d->outboard = topology_outboard(j);
}

/* A term of a coupling where its coordinate is now; NULL, or what is wrong with it. */
static const char *put_term(const Topology *t, const TopologyLoop *loop, int i, CalLoopTerm *term) {
	if (!loop->term_joint[i])
		return NULL; // a mode: counted below
	const TopologyJoint *j = topology_joint(t, loop->term_joint[i]);
	if (j->state != CAL_JOINT_IN_TREE)
		return "couples a joint that would no longer be in the tree";
	term->body.value = topology_node_body(t, topology_outboard(j));
	term->dof = j->reversed ? joint_reverse_dof(&j->def, loop->term_dof[i]) : loop->term_dof[i];
	return NULL;
}

/* Modes come after the speeds of whatever joint carries their body. */
static void put_mode(const Topology *t, const TopologyLoop *loop, int i, CalLoopTerm *term) {
	const uint32_t carrier = t->carrier[term->body.value - 1];
	if (!loop->term_joint[i] && carrier)
		term->dof = joint_speed_count(&topology_joint(t, carrier)->def) + loop->term_dof[i];
}

static int same_group(const Topology *t, const CalLoopDef *def) {
	for (int i = 1; i < def->term_count; i++) {
		if (topology_group(t, def->term[i].body.value) != topology_group(t, def->term[0].body.value))
			return 0;
	}
	return 1;
}

const char *topology_put_loop(Topology *t, uint32_t id) {
	const TopologyLoop *loop = topology_loop(t, id);
	DescLoop *d = &t->desc->loops[id - 1];
	*d = loop->as;
	if (loop_type_has_one_side(d->def.type))
		d->b = (CalNodeId){0}; // which it does not look at, and which may be anywhere
	if (loop->open) {
		d->def.type = CAL_LOOP_WELD;
		d->a = t->park, d->b = (CalNodeId){0};
		return NULL;
	}
	if (!loop_type_has_terms(loop->as.def.type))
		return NULL;
	for (int i = 0; i < loop->as.def.term_count; i++) {
		const char *why = put_term(t, loop, i, &d->def.term[i]);
		if (why)
			return why;
		put_mode(t, loop, i, &d->def.term[i]);
	}
	return same_group(t, &d->def) ? NULL : "couples joints that would be in two groups";
}

CalStatus topology_put_couplings(Topology *t, CalError *error) {
	topology_carriers(t);
	for (int i = 0; i < t->desc->loop_count; i++) {
		const TopologyLoop *loop = &t->loops[i];
		const char *why = loop_type_has_terms(loop->as.def.type) ? topology_put_loop(t, (uint32_t)i + 1) : NULL;
		if (why)
			return error_set(error, CAL_ERR_MODEL, "loop \"%s\" %s; open it first (cal_sim_open_loop)",
			                 loop->as.def.name, why);
	}
	return CAL_OK;
}

/* ---- new records ------------------------------------------------------------------------------------------ */

uint32_t topology_add_joint(Topology *t, const CalJointDef *def, CalNodeId a, CalNodeId b) {
	CalDesc *desc = t->desc;
	if (desc->joint_count >= t->joint_slots)
		return 0;
	TopologyJoint *j = &t->joints[desc->joint_count];
	*j = (TopologyJoint){.def = *def, .a = a, .b = b};
	j->def.place = NULL;
	j->def.name = string_copy(&t->allocator, def->name);
	if (!j->def.name)
		return 0;
	desc->joint_count++;
	topology_put_joint(t, (uint32_t)desc->joint_count);
	return (uint32_t)desc->joint_count;
}

uint32_t topology_add_loop(Topology *t, const DescLoop *as) {
	CalDesc *desc = t->desc;
	if (desc->loop_count >= t->loop_slots)
		return 0;
	TopologyLoop *loop = &t->loops[desc->loop_count];
	*loop = (TopologyLoop){.as = *as, .open = 1};
	loop->as.def.place = NULL;
	loop->as.def.name = string_copy(&t->allocator, as->def.name);
	if (!loop->as.def.name)
		return 0;
	desc->loop_count++;
	topology_put_loop(t, (uint32_t)desc->loop_count);
	return (uint32_t)desc->loop_count;
}

uint32_t topology_add_group(Topology *t, const char *name, const CalGroupDef *like) {
	CalDesc *desc = t->desc;
	const char *copy = desc->group_count < desc->group_capacity ? string_copy(&t->allocator, name) : NULL;
	if (!copy)
		return 0;
	desc->groups[desc->group_count++] =
		(CalGroupDef){.name = copy, .gravity = like->gravity, .propagation = like->propagation};
	return (uint32_t)desc->group_count;
}

uint32_t topology_root_joint(Topology *t, uint32_t body) {
	const CalDesc *desc = t->desc;
	uint32_t id = 0;
	for (int i = 0; i < desc->joint_count && !id; i++) {
		if (t->joints[i].own && t->joints[i].state == CAL_JOINT_OPEN)
			id = (uint32_t)i + 1;
	}
	if (!id) {
		CalJointDef def = cal_joint_def(CAL_JOINT_FREE);
		char name[32];
		snprintf(name, sizeof name, "(root %d)", desc->joint_count + 1);
		def.name = name;
		id = topology_add_joint(t, &def, (CalNodeId){0}, desc->bodies[body - 1].frame);
	}
	if (id) {
		topology_joint(t, id)->own = 1;
		topology_joint(t, id)->b = desc->bodies[body - 1].frame;
	}
	return id;
}

/* ---- trees --------------------------------------------------------------------------------------------------- */

void topology_carriers(Topology *t) {
	memset(t->carrier, 0, sizeof *t->carrier * (size_t)t->desc->body_count);
	for (int i = 0; i < t->desc->joint_count; i++) {
		const TopologyJoint *j = &t->joints[i];
		if (j->state != CAL_JOINT_IN_TREE)
			continue;
		const uint32_t body = topology_node_body(t, topology_outboard(j));
		CAL_ASSERT(body && body <= (uint32_t)t->desc->body_count && !t->carrier[body - 1]); // one joint carries a body
		t->carrier[body - 1] = (uint32_t)i + 1;
	}
}

uint32_t topology_parent(const Topology *t, uint32_t body) {
	CAL_ASSERT(body && body <= (uint32_t)t->desc->body_count);
	const uint32_t joint = t->carrier[body - 1];
	return joint ? topology_node_body(t, topology_inboard(topology_joint(t, joint))) : 0;
}

uint32_t topology_root(const Topology *t, uint32_t body) {
	int steps = 0;
	for (uint32_t up = topology_parent(t, body); up; up = topology_parent(t, up)) {
		++steps;
		CAL_ASSERT(steps < t->desc->body_count); // a tree
		body = up;
	}
	(void)steps;
	return t->carrier[body - 1];
}

int topology_subtree(Topology *t, uint32_t top) {
	enum { IN = 1, OUT = 2 };
	int count = 0;
	memset(t->mark, 0, (size_t)t->desc->body_count);
	t->mark[top - 1] = IN;
	for (uint32_t body = 1; body <= (uint32_t)t->desc->body_count; body++) {
		uint32_t up = body;
		while (up && !t->mark[up - 1])
			up = topology_parent(t, up);
		const uint8_t verdict = up ? t->mark[up - 1] : OUT;
		for (up = body; up && !t->mark[up - 1]; up = topology_parent(t, up))
			t->mark[up - 1] = verdict;
		count += verdict == IN;
	}
	for (int i = 0; i < t->desc->body_count; i++)
		t->mark[i] = t->mark[i] == IN;
	return count;
}

/* NULL, or why a joint cannot be passed in the other direction. */
static CalStatus check_reversible(const TopologyJoint *j, CalError *error) {
	CalJointDef reversed;
	const char *why = joint_reverse(&j->def, &reversed);
	return why ? error_set(error, CAL_ERR_MODEL,
	                       "joint \"%s\" cannot be turned over: it %s; take another body as the root", j->def.name, why)
	           : CAL_OK;
}

CalStatus topology_reverse_path(Topology *t, uint32_t body, uint32_t top, CalError *error) {
	for (uint32_t at = body; at != top; at = topology_parent(t, at)) {
		const TopologyJoint *j = topology_joint(t, t->carrier[at - 1]);
		const CalStatus status = j->reversed ? CAL_OK : check_reversible(j, error);
		if (status != CAL_OK)
			return status;
	}
	uint32_t at = body, joint = t->carrier[body - 1];
	while (at != top) {
		const uint32_t up = topology_node_body(t, topology_inboard(topology_joint(t, joint))),
					   above = t->carrier[up - 1];
		topology_joint(t, joint)->reversed ^= 1;
		topology_put_joint(t, joint);
		t->carrier[up - 1] = joint; // it carries its former parent
		at = up;
		joint = above;
	}
	t->carrier[body - 1] = 0;
	return CAL_OK;
}

CalStatus topology_set_parent(Topology *t, uint32_t joint, uint32_t body, CalError *error) {
	TopologyJoint *j = topology_joint(t, joint);
	j->reversed = topology_node_body(t, j->b) != body;
	const CalStatus status = j->reversed ? check_reversible(j, error) : CAL_OK;
	if (status != CAL_OK)
		return status;
	if (j->state == CAL_JOINT_IN_LOOP) {
		topology_loop(t, j->loop)->open = 1;
		topology_put_loop(t, j->loop);
	}
	j->state = CAL_JOINT_IN_TREE;
	t->carrier[body - 1] = joint;
	topology_put_joint(t, joint);
	return CAL_OK;
}

void topology_open(Topology *t, uint32_t joint) {
	TopologyJoint *j = topology_joint(t, joint);
	if (j->state == CAL_JOINT_IN_LOOP) {
		topology_loop(t, j->loop)->open = 1;
		topology_put_loop(t, j->loop);
	}
	CAL_ASSERT(j->state != CAL_JOINT_OPEN);
	j->state = CAL_JOINT_OPEN;
	topology_put_joint(t, joint);
}

CalStatus topology_close(Topology *t, uint32_t joint, CalError *error) {
	TopologyJoint *j = topology_joint(t, joint);
	DescLoop as = {.a = j->a, .b = j->b};
	const char *why = topology_joint_as_loop(&j->def, &as.def);
	char types[200];
	if (why)
		return error_set(error, CAL_ERR_MODEL, "joint \"%s\" (%s) cannot be a loop: %s; %s joints can", j->def.name,
		                 cal_joint_type_name(j->def.type), why,
		                 joint_type_list(joint_type_is_loop, types, sizeof types));
	if (!j->loop) {
		as.def.name = j->def.name;
		j->loop = topology_add_loop(t, &as);
		if (!j->loop)
			return error_set(error, CAL_ERR_MEMORY, "joint \"%s\": no room for a loop in the reserved memory",
			                 j->def.name);
	}
	TopologyLoop *loop = topology_loop(t, j->loop);
	as.def.name = loop->as.def.name;
	loop->as = as;
	loop->joint = joint;
	loop->open = 0;
	j->state = CAL_JOINT_IN_LOOP;
	j->reversed = 0;
	topology_put_joint(t, joint);
	topology_put_loop(t, j->loop);
	return CAL_OK;
}

int topology_is_free_root(const Topology *t, uint32_t joint) {
	const TopologyJoint *j = topology_joint(t, joint);
	for (int k = 0; k < 6; k++) {
		const CalDofDef *d = &j->def.dof[k];
		if (d->stiffness != 0 || d->damping != 0 || d->rotor_inertia != 0 || d->prescribed)
			return 0;
	}
	return j->def.type == CAL_JOINT_FREE && topology_node_body(t, topology_inboard(j)) == 0;
}

/* Whether a side is marked: 1, not: 0, the ground: -1. */
static int side_of(const Topology *t, uint32_t body) { return body ? t->mark[body - 1] : -1; }

static int crosses(const Topology *t, const TopologyLoop *loop, int ground) {
	const CalLoopDef *def = &loop->as.def;
	if (loop_type_has_terms(def->type))
		return 0; // topology_put_couplings() checks
	const int a = side_of(t, topology_node_body(t, loop->as.a)), b = side_of(t, topology_node_body(t, loop->as.b));
	if (loop_type_has_one_side(def->type))
		return 0;
	return (a == 1 && b == 0) || (a == 0 && b == 1) || (ground && a + b == 0 && a != b);
}

uint32_t topology_crossing(const Topology *t, uint32_t group, int joints, int ground) {
	for (int i = 0; i < t->desc->loop_count; i++) {
		const TopologyLoop *loop = &t->loops[i];
		if (loop->open || (loop->joint != 0) != joints || !crosses(t, loop, ground))
			continue;
		const uint32_t a = topology_node_body(t, loop->as.a), b = topology_node_body(t, loop->as.b);
		if (topology_group(t, a ? a : b) == group)
			return (uint32_t)i + 1;
	}
	return 0;
}

/* Marks one of two bodies if the other is; returns nonzero then. 0: the ground. */
static int mark_other(Topology *t, uint32_t a, uint32_t b) {
	if (!a || !b || t->mark[a - 1] == t->mark[b - 1])
		return 0;
	t->mark[a - 1] = t->mark[b - 1] = 1;
	return 1;
}

static int mark_over_loop(Topology *t, int index) {
	const DescLoop *now = &t->desc->loops[index];
	if (t->loops[index].open || loop_type_has_one_side(now->def.type))
		return 0;
	if (!loop_type_has_terms(now->def.type))
		return mark_other(t, topology_node_body(t, now->a), topology_node_body(t, now->b));
	int changed = 0;
	for (int k = 1; k < now->def.term_count; k++)
		changed |= mark_other(t, now->def.term[0].body.value, now->def.term[k].body.value);
	return changed;
}

void topology_component(Topology *t, uint32_t body) {
	const uint32_t count = (uint32_t)t->desc->body_count;
	int changed = 1;
	memset(t->mark, 0, count);
	t->mark[body - 1] = 1;
	while (changed) { // one round for a tree whose bodies are numbered along its branches
		changed = 0;
		for (uint32_t i = 1; i <= count; i++)
			changed |= mark_other(t, i, topology_parent(t, i));
		for (uint32_t i = count; i >= 1; i--)
			changed |= mark_other(t, i, topology_parent(t, i));
		for (int i = 0; i < t->desc->loop_count; i++)
			changed |= mark_over_loop(t, i);
	}
}
