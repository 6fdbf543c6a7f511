// SPDX-License-Identifier: Apache-2.0
/*
 * check_loop.c — loops in the tree: sides that can move relative to each other, terms that are coordinates.
 *
 * Checked when the whole description is there, since joints and flexibility may come after the loop.
 */
#include "joint/joint_type.h"
#include "loop/loop_type.h"
#include "model/description/check.h"

static void check_sides(Check *check, const DescLoop *loop) {
	const CalDesc *desc = check->desc;
	const CalBodyId a = loop->a.value ? desc_node(desc, loop->a)->body : (CalBodyId){0};
	const CalBodyId b = loop->b.value ? desc_node(desc, loop->b)->body : (CalBodyId){0};
	if (a.value != b.value || (desc_body(desc, a)->flex && loop->a.value != loop->b.value)) {
		return;
	}
	check_error(
		check, loop->def.place,
		"loop \"%s\": both of its sides are on %s \"%s\", so that they never move relative to each other and it "
		"can hold nothing; tie two different bodies or remove it",
		loop->def.name, desc_body(desc, a)->flex ? "one node of body" : "the rigid body", desc_body(desc, a)->def.name);
}

static int is_dependent(const CalDesc *desc, const CalJointDef *joint) {
	for (int j = 0; j < desc->joint_count; j++) {
		const DescEmbedding *e = &desc->joints[j].embedding;
		if (&desc->joints[j].def == joint) {
			return e->mechanism && !e->independent;
		}
	}
	return 0;
}

static void check_term(Check *check, const DescLoop *loop, int i, const CalJointDef *joint) {
	const CalLoopTerm *term = &loop->def.term[i];
	const DescBody *body = desc_body(check->desc, term->body);
	if (is_dependent(check->desc, joint)) {
		check_error(
			check, loop->def.place,
			"loop \"%s\": term %d names joint \"%s\", which is a dependent joint of an embedded loop and has no "
			"coordinate of its own; embed this coupling too, or couple an independent joint",
			loop->def.name, i + 1, joint->name);
		return;
	}
	const int nu = joint_speed_count(joint), modes = body->flex ? body->flex->modes : 0;
	if (term->dof < 0 || term->dof >= nu + modes) {
		check_error(
			check, loop->def.place,
			"loop \"%s\": term %d names degree of freedom %d of body \"%s\", counted from 0, but joint \"%s\" has %d and the "
			"body %d modes",
			loop->def.name, i + 1, term->dof, body->def.name, joint->name, nu, modes);
	} else if (term->dof < nu && joint_coordinate_of(joint, term->dof) < 0) {
		check_error(
			check, loop->def.place,
			"loop \"%s\": term %d names speed %d of joint \"%s\" (%s), counted from 0, which is part of a rotation "
			"in space and has no coordinate of its own; couple angles and lengths of joints, or modes",
			loop->def.name, i + 1, term->dof, joint->name, cal_joint_type_name(joint->type));
	}
}

void check_loop(Check *check, const DescLoop *loop, const CalJointDef *const *carriers) {
	if (loop_type_has_two_sides(loop->def.type)) {
		check_sides(check, loop);
	}
	for (int i = 0; !loop->mechanism && loop_type_has_terms(loop->def.type) && i < loop->def.term_count; i++) {
		check_term(check, loop, i, carriers[i]);
	}
}
