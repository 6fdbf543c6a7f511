// SPDX-License-Identifier: Apache-2.0
/*
 * desc_embed.c — what of a description is embedded (component/embed.c).
 */
#include <calder/mechanism.h>

#include "model/description/desc.h"

int cal_desc_loop_mechanism(const CalDesc *desc, CalLoopId loop) {
	const int known = desc && loop.value && loop.value <= (uint32_t)desc->loop_count;
	return known ? desc->loops[loop.value - 1].mechanism : 0;
}

static const DescEmbedding *embedding_of(const CalDesc *desc, CalJointId joint) {
	const int known = desc && joint.value && joint.value <= (uint32_t)desc->joint_count;
	return known ? &desc->joints[joint.value - 1].embedding : NULL;
}

int cal_desc_joint_mechanism(const CalDesc *desc, CalJointId joint) {
	const DescEmbedding *embedding = embedding_of(desc, joint);
	return embedding ? embedding->mechanism : 0;
}

int cal_desc_joint_independent(const CalDesc *desc, CalJointId joint) {
	const DescEmbedding *embedding = embedding_of(desc, joint);
	return embedding && embedding->independent;
}

const double *cal_desc_joint_reference(const CalDesc *desc, CalJointId joint) {
	const DescEmbedding *embedding = embedding_of(desc, joint);
	return embedding && embedding->mechanism ? embedding->q : NULL;
}
