// SPDX-License-Identifier: Apache-2.0
/*
 * desc_view.c — definitions read back from a description, for writers and viewers.
 */
#include "model/description/desc.h"

/** An id from 1 to count. */
static int is_known(uint32_t value, int count) { return value > 0 && value <= (uint32_t)count; }

int cal_desc_node_count(const CalDesc *desc) { return desc ? desc->node_count : 0; }

const CalGroupDef *cal_desc_group(const CalDesc *desc, CalGroupId id) {
	uint32_t value = id.value ? id.value : 1;
	return desc && is_known(value, desc->group_count) ? &desc->groups[value - 1] : NULL;
}

const CalBodyDef *cal_desc_body(const CalDesc *desc, CalBodyId id) {
	return desc && is_known(id.value, desc->body_count) ? &desc_body(desc, id)->def : NULL;
}

const CalNodeDef *cal_desc_node(const CalDesc *desc, CalNodeId id, CalBodyId *body) {
	if (!desc || !is_known(id.value, desc->node_count)) {
		return NULL;
	}
	const DescNode *node = desc_node(desc, id);
	if (body) {
		*body = node->body;
	}
	return &node->def;
}

const CalJointDef *cal_desc_joint(const CalDesc *desc, CalJointId id, CalNodeId *inboard, CalNodeId *outboard) {
	if (!desc || !is_known(id.value, desc->joint_count)) {
		return NULL;
	}
	const DescJoint *joint = desc_joint(desc, id);
	if (inboard) {
		*inboard = joint->inboard;
	}
	if (outboard) {
		*outboard = joint->outboard;
	}
	return &joint->def;
}

const CalLoopDef *cal_desc_loop(const CalDesc *desc, CalLoopId id, CalNodeId *a, CalNodeId *b) {
	if (!desc || !is_known(id.value, desc->loop_count)) {
		return NULL;
	}
	const DescLoop *loop = &desc->loops[id.value - 1];
	if (a) {
		*a = loop->a;
	}
	if (b) {
		*b = loop->b;
	}
	return &loop->def;
}
