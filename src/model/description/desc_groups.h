// SPDX-License-Identifier: Apache-2.0
/*
 * desc_groups.h — what belongs to each group of a description, listed once: compiling one group of many then costs what
 * that group holds.
 *
 * Members are in the order of the description. Joints belong to the group of their outboard body, nodes to that of
 * their body, loops to that of a body on one of their sides.
 */
#ifndef CALDER_MODEL_DESCRIPTION_DESC_GROUPS_H
#define CALDER_MODEL_DESCRIPTION_DESC_GROUPS_H

#include "model/description/desc.h"

/* Those of group g (an index) are member[first[g]] .. member[first[g + 1] - 1], as indices. */
typedef struct GroupMembers {
	int *first, *member;
} GroupMembers;

typedef struct DescGroups {
	const CalDesc *desc;
	GroupMembers bodies, joints, loops;
	GroupMembers nodes; // group group_count: the nodes of the ground
	int *scratch;       // [6 body_count + node_count + 4] of the compiler, for one group at a time
} DescGroups;

/* One block of the allocator of the description. NULL: no memory. */
DescGroups *desc_groups_create(const CalDesc *desc);
void desc_groups_destroy(DescGroups *groups);

#endif
