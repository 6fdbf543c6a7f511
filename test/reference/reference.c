// SPDX-License-Identifier: Apache-2.0
/*
 * reference.c — the meaning of each joint type as a chain of elementary motions, and model bookkeeping.
 *
 * This is the reference's own reading of calder/build.h: which elements a joint type stands for, in which
 * order its speeds come and which directions they act along. Of loops: which directions each type locks.
 */
#include "reference/reference.h"

#include "reference/joint_rows.h"

#include <stdio.h>
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

/* A row of joint_rows.h as elements. */
static void row_elements(const CalJointDef *def, const char *motion, RefElements *list) {
	const CalVec3 z = {0, 0, 1}, a = unit_or(def->axis, z), b = unit_or(def->axis2, (CalVec3){1, 0, 0});
	const CalVec3 c = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
	for (const char *p = motion; *p; p++) {
		const char kind = *p, about = kind == 'B' ? 'z' : *++p;
		const CalVec3 axis = about == 'a'   ? a
		                     : about == 'b' ? b
		                     : about == 'c' ? c
		                                    : (CalVec3){about == 'x', about == 'y', about == 'z'};
		append(list, kind == 'R'   ? turn(axis)
		             : kind == 'T' ? slide(axis)
		             : kind == 'H' ? helix(axis, def->pitch)
		                           : (RefElement){.kind = REF_BALL});
		p += p[1] == ' ';
	}
}

static RefElements joint_elements(const CalJointDef *def, const RefElements *user) {
	RefElements list = {0};
	if (def->type == CAL_JOINT_SEQUENCE)
		sequence_elements(def, &list);
	else if (def->type == CAL_JOINT_USER)
		list = *user;
	for (int i = 0; i < JOINT_ROWS; i++)
		if (joint_rows[i].type == def->type && joint_rows[i].motion[0] != '*')
			row_elements(def, joint_rows[i].motion, &list);
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
		free(m->bodies[i].user), free(m->bodies[i].stiffness), free(m->bodies[i].damping), free(m->bodies[i].geometric),
			free(m->bodies[i].start_q), free(m->bodies[i].start_u);
	for (int i = 0; i < m->node_count; i++)
		free(m->nodes[i].phi), free(m->nodes[i].psi), free(m->nodes[i].phi2);
	free(m->bodies);
	free(m->nodes);
	free(m->loops);
	free(m);
}

/* ---- loops ---------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int translation, rotation;
	int other; // rows that are not directions
} loop_types[REF_LOOP_TYPE_COUNT] = {
#define REF_LOOP_TYPE_ROW(type, name, translation, rotation, other) [type] = {name, translation, rotation, other},
	REF_LOOP_TYPE_LIST(REF_LOOP_TYPE_ROW)
#undef REF_LOOP_TYPE_ROW
};

static int set_size(int set) { return (set & 1) + (set >> 1 & 1) + (set >> 2 & 1); }

void ref_loop_directions(const RefLoop *l, int *translation, int *rotation) {
	int own = l->type == REF_LOOP_DIRECTIONS;
	*translation = own ? l->translation & REF_XYZ : loop_types[l->type].translation;
	*rotation = own ? l->rotation & REF_XYZ : loop_types[l->type].rotation;
}

int ref_loop_row_count(const RefLoop *l) {
	int translation, rotation;
	ref_loop_directions(l, &translation, &rotation);
	return set_size(translation) + set_size(rotation) + loop_types[l->type].other;
}

const char *ref_loop_type_name(RefLoopType type) { return loop_types[type].name; }

RefLoop *ref_model_add_loop(RefModel *m, RefLoopType type) {
	m->loops = realloc(m->loops, sizeof *m->loops * (size_t)(m->loop_count + 1));
	if (!m->loops)
		abort();
	RefLoop *l = &m->loops[m->loop_count];
	*l = (RefLoop){.type = type, .node_a = -1, .node_b = -1};
	snprintf(l->name, sizeof l->name, "loop%d", m->loop_count++);
	return l;
}

int ref_model_rows(const RefModel *m) {
	int rows = 0;
	for (int i = 0; i < m->loop_count; i++)
		rows += ref_loop_row_count(&m->loops[i]);
	return rows;
}

/* ---- state to start from -------------------------------------------------------------------- */

static double *copy_of(const double *x, int n) {
	double *y = calloc((size_t)n + 1, sizeof *y);
	if (!y)
		abort();
	memcpy(y, x, sizeof *x * (size_t)n);
	return y;
}

void ref_model_set_start(RefModel *m, const double *q, const double *u) {
	for (int i = 0; i < m->body_count; i++) {
		RefBody *b = &m->bodies[i];
		free(b->start_q), free(b->start_u);
		b->start_q = copy_of(q + b->q, b->nq + b->modes);
		b->start_u = copy_of(u + b->u, b->nu + b->modes);
	}
}

void ref_model_start(const RefModel *m, double *q, double *u) {
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		memset(q + b->q, 0, sizeof *q * (size_t)(b->nq + b->modes));
		memset(u + b->u, 0, sizeof *u * (size_t)(b->nu + b->modes));
		for (int k = 0, at = b->q; k < b->elements.count; at += ref_element_nq(&b->elements.element[k]), k++)
			q[at] = b->elements.element[k].kind == REF_CAM ? 0 : 1;
		if (b->start_q)
			memcpy(q + b->q, b->start_q, sizeof *q * (size_t)(b->nq + b->modes));
		if (b->start_u)
			memcpy(u + b->u, b->start_u, sizeof *u * (size_t)(b->nu + b->modes));
	}
}
