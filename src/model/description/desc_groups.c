// SPDX-License-Identifier: Apache-2.0
/*
 * desc_groups.c — members of each group, by counting.
 */
#include <string.h>

#include "base/cursor.h"
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

static void layout_members(const CalDesc *desc, int count, GroupMembers *m, Cursor *cursor) {
	CURSOR_ARRAY(cursor, m->first, desc->group_count + 2);
	CURSOR_ARRAY(cursor, m->member, count);
}

/* The object itself, and its arrays after it. */
static void layout_groups(const CalDesc *desc, DescGroups *groups, Cursor *cursor) {
	cursor_array(cursor, 1, sizeof *groups);
	layout_members(desc, desc->body_count, &groups->bodies, cursor);
	layout_members(desc, desc->joint_count, &groups->joints, cursor);
	layout_members(desc, desc->loop_count, &groups->loops, cursor);
	layout_members(desc, desc->node_count, &groups->nodes, cursor);
	CURSOR_ARRAY(cursor, groups->scratch, 6 * (size_t)desc->body_count + (size_t)desc->node_count + 4);
}

DescGroups *desc_groups_create(const CalDesc *desc) {
	DescGroups counted = {.desc = desc};
	Cursor cursor = {.align = sizeof(double)};
	layout_groups(desc, &counted, &cursor);
	DescGroups *groups = cursor_alloc_at_start(&cursor, &desc->allocator);
	if (!groups)
		return NULL;
	*groups = counted;
	layout_groups(desc, groups, &cursor);
	list_members(desc, desc->body_count, group_of_body, groups->bodies);
	list_members(desc, desc->joint_count, group_of_joint, groups->joints);
	list_members(desc, desc->loop_count, group_of_loop, groups->loops);
	list_members(desc, desc->node_count, group_of_node, groups->nodes);
	return groups;
}

void desc_groups_destroy(DescGroups *groups) {
	if (groups)
		memory_free(&groups->desc->allocator, groups);
}
