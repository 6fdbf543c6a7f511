// SPDX-License-Identifier: Apache-2.0
/*
 * fixture_loop.c — the loops of a RefModel in the library's description.
 */
#include "support/random_loop.h"

#include <string.h>

/* The type of the library with the name of that of the reference. */
static CalLoopType type_of(RefLoopType ref) {
	int type = 0;
	while (type < CAL_LOOP_TYPE_COUNT && strcmp(cal_loop_type_name((CalLoopType)type), ref_loop_type_name(ref)) != 0)
		type++;
	assert_true(type < CAL_LOOP_TYPE_COUNT);
	return (CalLoopType)type;
}

static CalNodeId node_id(const Fixture *f, int ref_node) {
	CalNodeInfo info = {0};
	if (ref_node >= 0)
		check_ok(f->seed, cal_model_node(f->model, f->node[ref_node], &info));
	return info.id;
}

static CalLoopTerm term_of(const Fixture *f, const RefTerm *from) {
	CalBodyInfo info;
	check_ok(f->seed, cal_model_body(f->model, cal_model_find_body(f->model, from->body), &info));
	return (CalLoopTerm){info.id, from->dof, from->factor};
}

CalLoopDef fixture_loop_def(const Fixture *f, const RefLoop *from) {
	CalLoopDef def = cal_loop_def(type_of(from->type));
	def.name = from->name;
	def.a = from->frame_a, def.b = from->frame_b;
	def.length = from->length, def.pitch = from->pitch, def.radius = from->radius;
	def.translation = from->translation, def.rotation = from->rotation;
	def.frequency = from->frequency, def.damping = from->damping;
	def.applied_wrench = from->applied_wrench;
	def.term_count = from->term_count;
	for (int k = 0; k < from->term_count; k++)
		def.term[k] = term_of(f, &from->term[k]);
	for (int k = 0; k < REF_LOOP_MAX_ROWS; k++) {
		const RefDrive *s = &from->drive[k];
		def.drive[k] = (CalDrive){.offset = s->offset,
		                          .speed = s->speed,
		                          .acceleration = s->acceleration,
		                          .amplitude = s->amplitude,
		                          .frequency = s->frequency,
		                          .phase = s->phase};
	}
	return def;
}

void fixture_close_loops(Fixture *f) {
	CalError error = {0};
	for (int i = 0; i < f->ref->loop_count; i++) {
		const RefLoop *from = &f->ref->loops[i];
		const int coupling = from->type == REF_LOOP_COUPLING;
		const CalLoopDef def = fixture_loop_def(f, from);
		const CalNodeId a = node_id(f, coupling ? -1 : from->node_a), b = node_id(f, coupling ? -1 : from->node_b);
		if (cal_desc_close_loop(f->desc, a, &def, b, NULL, &error) != CAL_OK)
			check_fail_at(__FILE__, __LINE__, f->seed, "loop refused: %s", error.text);
	}
}
