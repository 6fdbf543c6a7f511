// SPDX-License-Identifier: Apache-2.0
/*
 * desc_groups.c — members of each group, by counting.
 */
#include <string.h>

#include "base/memory.h"
#include "loop/loop_type.h"
#include "model/description/desc_groups.h"

typedef int (*GroupOf)(const CalDesc *desc, int index);

static int group_of_body(const CalDesc *desc, int body) { return (int)desc->bodies[body].def.group.value - 1; }

static int group_of_node(const CalDesc *desc, int node) {
	const uint32_t body = desc->nodes[node].body.value;
	return body ? group_of_body(desc, (int)body - 1) : desc->group_count;
}

static int group_of_joint(const CalDesc *desc, int joint) {
	return group_of_node(desc, (int)desc->joints[joint].outboard.value - 1);
}

static int group_of_loop(const CalDesc *desc, int loop) {
	const DescLoop *l = &desc->loops[loop];
	if (loop_type_has_terms(l->def.type))
		return group_of_body(desc, (int)l->def.term[0].body.value - 1);
	const int a = l->a.value ? group_of_node(desc, (int)l->a.value - 1) : desc->group_count;
	return a < desc->group_count || !l->b.value ? a : group_of_node(desc, (int)l->b.value - 1);
}

/* first[g + 1] counts, then is where the next member of g goes, and in the end where those of g + 1 begin. */
static void list_members(const CalDesc *desc, int count, GroupOf group_of, GroupMembers m) {
	const int groups = desc->group_count + 1;
	memset(m.first, 0, sizeof(int) * (size_t)(groups + 1));
	for (int i = 0; i < count; ++i) {
		const int g = group_of(desc, i);
		if (g + 2 <= groups)
			++m.first[g + 2];
	}
	for (int g = 2; g <= groups; ++g)
		m.first[g] += m.first[g - 1];
	for (int i = 0; i < count; ++i)
		m.member[m.first[group_of(desc, i) + 1]++] = i;
}

DescGroups *desc_groups_create(const CalDesc *desc) {
	const size_t firsts = (size_t)desc->group_count + 2;
	const size_t counts[] = {(size_t)desc->body_count, (size_t)desc->joint_count, (size_t)desc->loop_count,
	                         (size_t)desc->node_count};
	const size_t scratch = 6 * counts[0] + counts[3] + 4;
	const size_t numbers = 4 * firsts + counts[0] + counts[1] + counts[2] + counts[3] + scratch;
	DescGroups *groups = memory_alloc(&desc->allocator, sizeof *groups + numbers * sizeof(int));
	if (!groups)
		return NULL;
	*groups = (DescGroups){.desc = desc};
	GroupMembers *kinds[] = {&groups->bodies, &groups->joints, &groups->loops, &groups->nodes};
	static const GroupOf group_of[] = {group_of_body, group_of_joint, group_of_loop, group_of_node};
	int *next = (int *)(void *)(groups + 1);
	for (int k = 0; k < 4; ++k) {
		*kinds[k] = (GroupMembers){next, next + firsts};
		next += firsts + counts[k];
		list_members(desc, (int)counts[k], group_of[k], *kinds[k]);
	}
	groups->scratch = next;
	return groups;
}

void desc_groups_destroy(DescGroups *groups) {
	if (groups)
		memory_free(&groups->desc->allocator, groups);
}
