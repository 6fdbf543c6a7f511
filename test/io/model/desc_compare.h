// SPDX-License-Identifier: Apache-2.0
/*
 * desc_compare.h — two descriptions compared field by field, numbers by their bits; ids of nodes may differ, names not.
 *
 * Fields that mean nothing for the type of a joint or a loop are left out.
 */
#ifndef TEST_IO_MODEL_DESC_COMPARE_H
#define TEST_IO_MODEL_DESC_COMPARE_H

#include <calder/flex.h>

#include "support/model_file_support.h"

/* Structs of doubles only; the sign of zero counts. */
#define assert_same(a, b, what, name)                                           \
	do {                                                                        \
		if (memcmp(&(a), &(b), sizeof(a)) != 0)                                 \
			fail_msg("%s of \"%s\" is not the same after reading", what, name); \
	} while (0)

static inline void assert_array(const double *a, const double *b, size_t count, const char *what, const char *name) {
	if (!a != !b || (a && memcmp(a, b, count * sizeof *a) != 0))
		fail_msg("%s of \"%s\" is not the same after reading", what, name);
}

static inline const char *owner_name(const CalDesc *desc, CalBodyId body) {
	return body.value ? cal_desc_body(desc, body)->name : "ground";
}

/* The same node in both, by names; {0} is the ground's origin. */
static inline void compare_node(const CalDesc *a, CalNodeId i, const CalDesc *b, CalNodeId j) {
	CalBodyId p, q;
	const CalNodeDef *m = cal_desc_node(a, i, &p), *n = cal_desc_node(b, j, &q);
	assert_int_equal(!m, !n);
	if (!m)
		return;
	assert_string_equal(m->name, n->name);
	assert_string_equal(owner_name(a, p), owner_name(b, q));
	assert_same(m->placement, n->placement, "placement", m->name);
}

static inline void compare_flexible(const CalDesc *a, const CalDesc *b, CalBodyId id, const char *name) {
	CalFlexDef f = {0}, g = {0};
	assert_int_equal(cal_flex_body(a, id, NULL, &f), CAL_OK);
	assert_int_equal(cal_flex_body(b, id, NULL, &g), CAL_OK);
	const size_t n = (size_t)f.modes;
	assert_int_equal(f.modes, g.modes);
	assert_int_equal(f.node_count, g.node_count);
	assert_int_equal(!f.unsprung, !g.unsprung);
	assert_same(f.frequency_bound, g.frequency_bound, "frequency bound", name);
	assert_array(f.stiffness, g.stiffness, n * n, "stiffness", name);
	assert_array(f.damping, g.damping, n * n, "damping", name);
	assert_array(f.geometric, g.geometric, CAL_FLEX_GEOMETRIC * n * n, "geometric stiffness", name);
	for (int i = 0; i < f.node_count; i++) {
		const CalFlexNode *p = &f.nodes[i], *q = &g.nodes[i];
		compare_node(a, p->node, b, q->node);
		assert_same(p->mass, q->mass, "mass of a node", name);
		assert_same(p->inertia, q->inertia, "inertia of a node", name);
		assert_array(p->phi, q->phi, 3 * n, "phi", name);
		assert_array(p->psi, q->psi, 3 * n, "psi", name);
		assert_array(p->phi2, q->phi2, 3 * n * n, "phi2", name);
	}
}

static inline void compare_body(const CalDesc *a, const CalDesc *b, CalBodyId id) {
	const CalBodyDef *p = cal_desc_body(a, id), *q = cal_desc_body(b, id);
	assert_string_equal(p->name, q->name);
	assert_int_equal(p->group.value, q->group.value);
	assert_same(p->mass, q->mass, "mass", p->name);
	assert_same(p->com, q->com, "center of mass", p->name);
	assert_same(p->inertia, q->inertia, "inertia", p->name);
	assert_int_equal(!p->idealized, !q->idealized);
	compare_flexible(a, b, id, p->name);
	CalFlexNodeInfo m, n;
	int i = 0;
	for (; cal_flex_node(a, id, i, &m) == CAL_OK; i++) {
		assert_int_equal(cal_flex_node(b, id, i, &n), CAL_OK);
		compare_node(a, m.flex.node, b, n.flex.node);
	}
	assert_int_not_equal(cal_flex_node(b, id, i, &n), CAL_OK);
}

static inline void compare_joint(const CalDesc *a, const CalDesc *b, CalJointId id) {
	CalNodeId in_a, out_a, in_b, out_b;
	const CalJointDef *p = cal_desc_joint(a, id, &in_a, &out_a), *q = cal_desc_joint(b, id, &in_b, &out_b);
	assert_string_equal(p->name, q->name);
	assert_int_equal(p->type, q->type);
	compare_node(a, in_a, b, in_b);
	compare_node(a, out_a, b, out_b);
	CalJointTypeInfo type;
	assert_int_equal(cal_joint_type_info(p->type, &type), CAL_OK);
	if (type.uses & CAL_JOINT_USES_AXIS)
		assert_same(p->axis, q->axis, "axis", p->name);
	if (type.uses & CAL_JOINT_USES_AXIS2)
		assert_same(p->axis2, q->axis2, "axis2", p->name);
	if (type.uses & CAL_JOINT_USES_PITCH)
		assert_same(p->pitch, q->pitch, "pitch", p->name);
	assert_int_equal(p->element_count, q->element_count);
	for (int i = 0; i < p->element_count; i++) {
		assert_int_equal(p->elements[i].type, q->elements[i].type);
		if (p->elements[i].type != CAL_JOINT_SPHERICAL)
			assert_same(p->elements[i].axis, q->elements[i].axis, "axis of an element", p->name);
		if (p->elements[i].type == CAL_JOINT_SCREW)
			assert_same(p->elements[i].pitch, q->elements[i].pitch, "pitch of an element", p->name);
	}
	assert_same(p->inboard, q->inboard, "inboard", p->name);
	assert_same(p->outboard, q->outboard, "outboard", p->name);
	for (int i = 0; i < cal_joint_speed_count(p); i++) {
		assert_array(&p->dof[i].stiffness, &q->dof[i].stiffness, 5, "dof", p->name);
		assert_int_equal(!p->dof[i].prescribed, !q->dof[i].prescribed);
	}
}

static inline void compare_loop(const CalDesc *a, const CalDesc *b, CalLoopId id) {
	CalNodeId aa, ab, ba, bb;
	const CalLoopDef *p = cal_desc_loop(a, id, &aa, &ab), *q = cal_desc_loop(b, id, &ba, &bb);
	assert_string_equal(p->name, q->name);
	assert_int_equal(p->type, q->type);
	compare_node(a, aa, b, ba);
	if (p->type != CAL_LOOP_KNIFE)
		compare_node(a, ab, b, bb);
	if (p->type != CAL_LOOP_COUPLING)
		assert_same(p->a, q->a, "frame A", p->name);
	if (p->type != CAL_LOOP_COUPLING && p->type != CAL_LOOP_KNIFE)
		assert_same(p->b, q->b, "frame B", p->name);
	assert_array(&p->length, &q->length, 3, "length, pitch or radius", p->name);
	assert_int_equal(p->translation, q->translation);
	assert_int_equal(p->rotation, q->rotation);
	assert_int_equal(p->term_count, q->term_count);
	for (int i = 0; i < p->term_count; i++) {
		assert_int_equal(p->term[i].body.value, q->term[i].body.value);
		assert_int_equal(p->term[i].dof, q->term[i].dof);
		assert_same(p->term[i].factor, q->term[i].factor, "factor", p->name);
	}
	for (int i = 0; i < CAL_LOOP_MAX_ROWS; i++)
		assert_array(&p->drive[i].offset, &q->drive[i].offset, 6, "drive", p->name);
	assert_array(&p->frequency, &q->frequency, 2, "stabilisation", p->name);
	assert_same(p->applied_wrench, q->applied_wrench, "applied wrench", p->name);
}

static inline void compare_desc(const CalDesc *a, const CalDesc *b) {
	assert_int_equal(cal_desc_group_count(a), cal_desc_group_count(b));
	assert_int_equal(cal_desc_body_count(a), cal_desc_body_count(b));
	assert_int_equal(cal_desc_node_count(a), cal_desc_node_count(b));
	assert_int_equal(cal_desc_joint_count(a), cal_desc_joint_count(b));
	assert_int_equal(cal_desc_loop_count(a), cal_desc_loop_count(b));
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_group_count(a); i++) {
		const CalGroupDef *p = cal_desc_group(a, (CalGroupId){i}), *q = cal_desc_group(b, (CalGroupId){i});
		assert_string_equal(p->name, q->name);
		assert_same(p->gravity, q->gravity, "gravity", p->name);
	}
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_node_count(a); i++) { // of the ground: nothing else lists them
		CalBodyId body = {0};
		const CalNodeDef *node = cal_desc_node(a, (CalNodeId){i}, &body);
		char path[256];
		snprintf(path, sizeof path, "%.100s/%.100s", owner_name(a, body), node->name);
		compare_node(a, (CalNodeId){i}, b, cal_desc_find_node(b, path));
	}
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_body_count(a); i++)
		compare_body(a, b, (CalBodyId){i});
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_joint_count(a); i++)
		compare_joint(a, b, (CalJointId){i});
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_loop_count(a); i++)
		compare_loop(a, b, (CalLoopId){i});
}

#endif
