// SPDX-License-Identifier: Apache-2.0
/*
 * compile_loop.c — loops in the model compiler: those of the group, in the order of the description.
 */
#include "model/compile.h"

static const int rows_of[CAL_LOOP_TYPE_COUNT] = {
	[CAL_LOOP_WELD] = 6,      [CAL_LOOP_REVOLUTE] = 5,  [CAL_LOOP_PRISMATIC] = 5, [CAL_LOOP_CYLINDRICAL] = 4,
	[CAL_LOOP_UNIVERSAL] = 4, [CAL_LOOP_SPHERICAL] = 3, [CAL_LOOP_PLANAR] = 3,    [CAL_LOOP_INPLANE] = 1,
	[CAL_LOOP_DISTANCE] = 1,  [CAL_LOOP_KNIFE] = 1,
};

static int in_group(const Compiler *c, CalNodeId node) {
	const CalBodyId body = node.value ? desc_node(c->desc, node)->body : (CalBodyId){0};
	return body.value && c->index_of[body.value - 1] >= 0;
}

static int is_ours(const Compiler *c, const DescLoop *loop) { return in_group(c, loop->a) || in_group(c, loop->b); }

void compile_loop_count(Compiler *c) {
	for (int i = 0; i < c->desc->loop_count; ++i) {
		const DescLoop *loop = &c->desc->loops[i];
		if (!is_ours(c, loop))
			continue;
		++c->loop_count;
		c->row_count += rows_of[loop->def.type];
		c->string_size += strlen(loop->def.name) + 1;
	}
}

void compile_loops(Compiler *c) {
	int made = 0, row = 0;
	for (int i = 0; i < c->desc->loop_count; ++i) {
		const DescLoop *from = &c->desc->loops[i];
		if (!is_ours(c, from))
			continue;
		const int a = from->a.value ? c->node_of[from->a.value - 1] : -1;
		const int b = from->b.value ? c->node_of[from->b.value - 1] : -1;
		const int alone = from->def.type == CAL_LOOP_KNIFE;
		c->loops[made++] = (Loop){.name = compile_keep_string(c, from->def.name),
		                          .id = {(uint32_t)i + 1},
		                          .type = from->def.type,
		                          .node_a = a,
		                          .node_b = b,
		                          .plus = alone ? a : b,
		                          .minus = alone ? -1 : a,
		                          .a = compile_pose(from->def.a),
		                          .b = compile_pose(from->def.b),
		                          .def_a = from->def.a,
		                          .def_b = from->def.b,
		                          .length = from->def.length,
		                          .row = row,
		                          .rows = rows_of[from->def.type]};
		row += rows_of[from->def.type];
	}
}
