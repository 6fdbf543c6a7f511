// SPDX-License-Identifier: Apache-2.0
/*
 * embed_check.c — what cannot be part of an embedded mechanism, by name and with a remedy.
 *
 * The mechanism moves by its independent coordinates alone: what has coordinates of its own or depends on time has no
 * place in it.
 */
#include "base/error.h"
#include "component/embed.h"
#include "loop/loop_type.h"

CalStatus embed_refuse_loop(const DescLoop *loop, CalError *error, const char *why) {
	return error_set(error, CAL_ERR_UNSUPPORTED, "%s%sloop \"%s\" cannot be embedded: %s", PLACE_ARGS(loop->def.place),
	                 loop->def.name, why);
}

CalStatus embed_refuse_joint(const DescJoint *joint, CalError *error, const char *why) {
	return error_set(error, CAL_ERR_UNSUPPORTED, "%s%sjoint \"%s\" of an embedded loop: %s",
	                 PLACE_ARGS(joint->def.place), joint->def.name, why);
}

static int is_driven(const CalLoopDef *def) {
	int driven = 0;
	for (int i = 0; i < CAL_LOOP_MAX_ROWS; ++i) {
		const CalDrive *d = &def->drive[i];
		driven |= d->fn || d->offset != 0 || d->speed != 0 || d->acceleration != 0 || d->amplitude != 0;
	}
	return driven;
}

static int has_wrench(const CalSpatial *w) {
	return w->linear.x != 0 || w->linear.y != 0 || w->linear.z != 0 || w->angular.x != 0 || w->angular.y != 0 ||
	       w->angular.z != 0;
}

static CalStatus check_loop(const DescLoop *loop, CalError *error) {
	const CalLoopDef *def = &loop->def;
	if (loop_type(def->type)->speeds)
		return embed_refuse_loop(loop, error,
		                         "its equations are about speeds and determine no coordinates; remove "
		                         "\"embed\"");
	if (is_driven(def))
		return embed_refuse_loop(
			loop, error,
			"it is driven, and would depend on time; drive an independent joint instead, or remove "
			"\"embed\"");
	if (has_wrench(&def->applied_wrench))
		return embed_refuse_loop(loop, error, "it has an applied wrench; put it on nodes, or remove \"embed\"");
	return CAL_OK;
}

static const char *joint_fault(const DescJoint *joint) {
	for (int k = 0; k < CAL_JOINT_MAX_DOF; ++k) {
		const CalDofDef *d = &joint->def.dof[k];
		if (d->prescribed && !joint->embedding.independent)
			return "it is prescribed; make it an independent joint, or do not embed the loop";
	}
	return joint->def.type == CAL_JOINT_USER ? "it is a joint of the user's own; do not embed the loop" : NULL;
}

static int node_moves(const DescBody *body, CalNodeId node) {
	for (int i = 0; body->flex && i < body->flex->node_count; ++i) {
		if (body->flex->nodes[i].node.value == node.value)
			return 1;
	}
	return 0;
}

static CalStatus check_joint(const Embedding *e, const DescJoint *joint, CalError *error) {
	const char *fault = joint_fault(joint);
	if (fault)
		return embed_refuse_joint(joint, error, fault);
	const CalDesc *desc = e->desc;
	const DescBody *body = desc_body(desc, desc_node(desc, joint->outboard)->body);
	if (body->flex)
		return error_set(error, CAL_ERR_UNSUPPORTED,
		                 "%s%sbody \"%s\" is flexible and part of an embedded loop; only rigid bodies can be: do not "
		                 "embed the loop",
		                 PLACE_ARGS(body->def.place), body->def.name);
	const CalBodyId base = joint->inboard.value ? desc_node(desc, joint->inboard)->body : (CalBodyId){0};
	if (base.value && node_moves(desc_body(desc, base), joint->inboard))
		return embed_refuse_joint(joint, error,
		                          "it is on a node that moves with the modes of a flexible body; put it on a node that "
		                          "does not move, or do not embed the loop");
	return CAL_OK;
}

static CalStatus check_base_nodes(const Embedding *e, const DescLoop *loop, CalError *error) {
	const CalNodeId nodes[] = {loop->a, loop->b};
	for (int i = 0; i < 2; ++i) {
		const CalBodyId body = nodes[i].value ? desc_node(e->desc, nodes[i])->body : (CalBodyId){0};
		if (body.value && node_moves(desc_body(e->desc, body), nodes[i]))
			return embed_refuse_loop(loop, error,
			                         "it closes on a node that moves with the modes of a flexible body; remove "
			                         "\"embed\"");
	}
	return CAL_OK;
}

/* A coupling that stays a loop may use coordinates of the model only. */
static CalStatus check_terms(const Embedding *e, const DescLoop *loop, CalError *error) {
	for (int i = 0; loop_type_has_terms(loop->def.type) && i < loop->def.term_count; ++i) {
		const int joint = e->joint[loop->def.term[i].body.value];
		if (joint && e->desc->joints[joint - 1].embedding.mechanism)
			return embed_refuse_joint(&e->desc->joints[joint - 1], error,
			                          "a coupling that is not embedded uses its coordinate; embed that coupling too");
	}
	return CAL_OK;
}

CalStatus embed_check(const Embedding *e, CalError *error) {
	CalStatus status = CAL_OK;
	for (int l = 0; l < e->desc->loop_count && status == CAL_OK; ++l) {
		const DescLoop *loop = &e->desc->loops[l];
		status = !loop->mechanism              ? check_terms(e, loop, error)
		         : loop->mechanism >= e->first ? check_loop(loop, error)
		                                       : CAL_OK;
		if (status == CAL_OK && loop->mechanism >= e->first)
			status = check_base_nodes(e, loop, error);
	}
	for (int j = 0; j < e->desc->joint_count && status == CAL_OK; ++j) {
		if (e->desc->joints[j].embedding.mechanism >= e->first)
			status = check_joint(e, &e->desc->joints[j], error);
	}
	return status;
}
