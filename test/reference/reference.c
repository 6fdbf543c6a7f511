// SPDX-License-Identifier: Apache-2.0
/*
 * reference.c — the meaning of each joint type as a chain of elementary motions, and model bookkeeping.
 *
 * This is the reference's own reading of calder/build.h: which elements a joint type stands for, in which
 * order its speeds come and which directions they act along.
 */
#include "reference/reference.h"

#include <stdlib.h>
#include <string.h>

int ref_element_nq(const RefElement *e) { return e->kind == REF_CAM ? 1 : 4; }
int ref_element_nu(const RefElement *e) { return e->kind == REF_CAM ? 1 : 3; }

static CalVec3 unit_or(CalVec3 a, CalVec3 fallback) {
	double n = __builtin_sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
	return n > 0 ? (CalVec3){a.x / n, a.y / n, a.z / n} : fallback;
}

static RefElement turn(CalVec3 axis) { return (RefElement){.kind = REF_CAM, .axis = axis, .angle = {1, 0}}; }

static RefElement slide(CalVec3 axis) { return (RefElement){.kind = REF_CAM, .axis = axis, .shift = {axis}}; }

static RefElement helix(CalVec3 axis, double pitch) {
	return (RefElement){
		.kind = REF_CAM, .axis = axis, .angle = {1, 0}, .shift = {{pitch * axis.x, pitch * axis.y, pitch * axis.z}}};
}

static void append(RefElements *list, RefElement e) { list->element[list->count++] = e; }

static void sequence_elements(const CalJointDef *def, RefElements *list) {
	for (int i = 0; i < def->element_count; i++) {
		const CalElement *e = &def->elements[i];
		CalVec3 axis = unit_or(e->axis, (CalVec3){0, 0, 1});
		if (e->type == CAL_JOINT_REVOLUTE)
			append(list, turn(axis));
		else if (e->type == CAL_JOINT_PRISMATIC)
			append(list, slide(axis));
		else if (e->type == CAL_JOINT_SCREW)
			append(list, helix(axis, e->pitch));
		else
			append(list, (RefElement){.kind = REF_BALL});
	}
}

static RefElements joint_elements(const CalJointDef *def, const RefElements *user) {
	RefElements list = {0};
	CalVec3 z = {0, 0, 1}, a = unit_or(def->axis, z), b = unit_or(def->axis2, (CalVec3){1, 0, 0});
	CalVec3 c = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
	switch (def->type) {
	case CAL_JOINT_REVOLUTE:
		append(&list, turn(a));
		break;
	case CAL_JOINT_PRISMATIC:
		append(&list, slide(a));
		break;
	case CAL_JOINT_SCREW:
		append(&list, helix(a, def->pitch));
		break;
	case CAL_JOINT_UNIVERSAL:
		append(&list, turn(a)), append(&list, turn(b));
		break;
	case CAL_JOINT_CYLINDRICAL:
		append(&list, turn(a)), append(&list, slide(a));
		break;
	case CAL_JOINT_PLANAR:
		append(&list, slide(b)), append(&list, slide(c)), append(&list, turn(a));
		break;
	case CAL_JOINT_SPHERICAL:
		append(&list, (RefElement){.kind = REF_BALL});
		break;
	case CAL_JOINT_FREE:
		append(&list, slide((CalVec3){1, 0, 0})), append(&list, slide((CalVec3){0, 1, 0}));
		append(&list, slide(z)), append(&list, (RefElement){.kind = REF_BALL});
		break;
	case CAL_JOINT_SEQUENCE:
		sequence_elements(def, &list);
		break;
	case CAL_JOINT_USER:
		list = *user;
		break;
	default:
		break;
	}
	return list;
}

void ref_model_index(RefModel *m) {
	m->nq = m->nu = 0;
	for (int i = 0; i < m->body_count; i++) {
		RefBody *b = &m->bodies[i];
		b->elements = joint_elements(&b->joint, b->user);
		b->q = m->nq, b->u = m->nu, b->nq = b->nu = 0;
		for (int k = 0; k < b->elements.count; k++) {
			b->nq += ref_element_nq(&b->elements.element[k]);
			b->nu += ref_element_nu(&b->elements.element[k]);
		}
		m->nq += b->nq + b->modes, m->nu += b->nu + b->modes;
	}
}

void ref_model_destroy(RefModel *m) {
	if (!m)
		return;
	for (int i = 0; i < m->body_count; i++)
		free(m->bodies[i].user), free(m->bodies[i].stiffness), free(m->bodies[i].damping);
	for (int i = 0; i < m->node_count; i++)
		free(m->nodes[i].phi), free(m->nodes[i].psi), free(m->nodes[i].phi2);
	free(m->bodies);
	free(m->nodes);
	free(m);
}
