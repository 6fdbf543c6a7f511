// SPDX-License-Identifier: Apache-2.0
/*
 * reserve.c — cal_sim_reserve(): the memory of all later changes, and in it a copy of the description with its
 * records.
 *
 * The copy has no indices of names: what is asked for by name later are a few groups and joints, found by looking. Slots
 * beyond what the user asked for: a free joint for every group, a loop for every joint, and the place where things are
 * parked.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "integrate/scheme.h"
#include "joint/joint_type.h"
#include "loop/loop_type.h"
#include "model/compile/flex_form.h"
#include "model/model.h"
#include "sim/sim_internal.h"
#include "topology/topology.h"

/* ---- sizes ---------------------------------------------------------------------------------------------- */

static size_t group_bytes(const SimGroup *group) {
	const CalModel *model = group->model;
	return cal_model_size(model) + 2 * cal_work_size(model) + 2 * cal_state_size(model);
}

/* Of the modes of a body: a form has all the numbers that the description has, and more. */
static size_t modal_bytes(const CalFlexDef *flex) {
	int second_order = flex->geometric != NULL;
	for (int i = 0; i < flex->node_count; i++)
		second_order |= flex->nodes[i].phi2 != NULL;
	return 2 * flex_form_room(flex->modes, flex->node_count, second_order) +
	       (size_t)flex->node_count * sizeof(CalFlexNode);
}

static size_t description_bytes(const CalDesc *desc) {
	size_t size = sizeof *desc;
	for (int i = 0; i < desc->body_count; i++)
		size += 512 + (desc->bodies[i].flex ? modal_bytes(desc->bodies[i].flex) : 0);
	return size + 256 * (size_t)(desc->node_count + desc->joint_count + desc->loop_count + desc->group_count);
}

typedef struct Slots {
	int groups, bodies, nodes, joints, loops, modes;
} Slots;

static Slots slots_of(const CalDesc *desc, const CalSimCapacity *extra) {
	Slots s = {.groups = desc->group_count + extra->groups + 1,
	           .bodies = desc->body_count + extra->bodies + 1,
	           .nodes = desc->node_count + extra->nodes + extra->bodies + 1};
	s.joints = desc->joint_count + extra->joints + 2 * s.groups;
	s.loops = desc->loop_count + extra->loops + s.joints;
	s.modes = extra->modes;
	for (int i = 0; i < desc->body_count; i++)
		s.modes += desc->bodies[i].flex ? desc->bodies[i].flex->modes : 0;
	return s;
}

/* Of flexible bodies to be added, as if they were one: numbers, and two workspaces of 2 kB for each mode. */
static size_t modal_room(const CalSimCapacity *extra) {
	return extra->modes ? flex_form_room(extra->modes, extra->nodes, extra->second_order) + (size_t)extra->modes * 4096
	                    : 0;
}

/* Of the integrator and what goes with it. */
static size_t system_room(CalSim *sim, const CalSimCapacity *extra, const Slots *s) {
	int dofs = 7 * (extra->bodies + extra->joints + s->groups) + extra->modes;
	for (int i = 0; i < sim->group_count; i++)
		dofs += sim->groups[i].model->nq;
	return sim_room(sim, s->groups, dofs);
}

/*
 * Everything in one group, three times over (what is, what was tried, what will be), with the dense matrices that loops
 * bring along; one and a half times that for the gaps between.
 */
static size_t estimate(CalSim *sim, const CalDesc *desc, const CalSimCapacity *extra, const Slots *s) {
	size_t groups = 0, nu = 0, rows = 0;
	for (int i = 0; i < sim->group_count; i++) {
		groups += group_bytes(&sim->groups[i]);
		nu += (size_t)sim->groups[i].model->nu;
		rows += (size_t)sim->groups[i].model->row_count;
	}
	const size_t per_body = groups / (size_t)(desc->body_count > 0 ? desc->body_count : 1) + 8192;
	groups += per_body * (size_t)(extra->bodies + extra->joints);
	nu += 6 * (size_t)(extra->bodies + extra->joints);
	rows += 6 * (size_t)(extra->loops + extra->joints);
	const size_t modal = modal_room(extra);
	groups += modal;
	nu += (size_t)extra->modes;
	const size_t dense = sizeof(double) * (2 * rows * nu + 3 * rows * rows) * 2 + rows * 4096;
	const size_t records =
		2 * ((size_t)s->joints * (sizeof(TopologyJoint) + sizeof(DescJoint)) +
	         (size_t)s->loops * (sizeof(TopologyLoop) + sizeof(DescLoop)) + (size_t)s->bodies * sizeof(DescBody));
	return (groups + dense) * 9 / 2 + system_room(sim, extra, s) + records + 2 * (description_bytes(desc) + modal) +
	       (size_t)s->groups * sizeof(SimGroup) + ((size_t)1 << 18);
}

/* ---- the copy -------------------------------------------------------------------------------------------- */

static void *take_array(Topology *t, int count, size_t size) {
	void *memory = memory_alloc(&t->allocator, (size_t)count * size);
	return memory ? memset(memory, 0, (size_t)count * size) : NULL;
}

static int copy_strings(const Topology *t, const char **name, const char **place) {
	const char *from_name = *name, *from_place = *place;
	*name = *place = NULL;
	return desc_strings_copy(&t->allocator, from_name, from_place, name, place);
}

static int copy_arrays(Topology *t, const CalDesc *from, const Slots *s) {
	CalDesc *to = t->desc;
	to->groups = take_array(t, s->groups, sizeof *to->groups), to->group_capacity = s->groups;
	to->bodies = take_array(t, s->bodies, sizeof *to->bodies), to->body_capacity = s->bodies;
	to->nodes = take_array(t, s->nodes, sizeof *to->nodes), to->node_capacity = s->nodes;
	to->joints = take_array(t, s->joints, sizeof *to->joints), to->joint_capacity = s->joints;
	to->loops = take_array(t, s->loops, sizeof *to->loops), to->loop_capacity = s->loops;
	if (!to->groups || !to->bodies || !to->nodes || !to->joints || !to->loops)
		return 0;
	int ok = 1;
	for (int i = 0; i < from->group_count; i++, to->group_count++) {
		to->groups[i] = from->groups[i];
		ok &= copy_strings(t, &to->groups[i].name, &to->groups[i].place);
	}
	for (int i = 0; i < from->body_count; i++, to->body_count++) {
		to->bodies[i] = (DescBody){.def = from->bodies[i].def,
		                           .frame = from->bodies[i].frame,
		                           .link = from->bodies[i].link,
		                           .link_data = from->bodies[i].link_data};
		ok &= copy_strings(t, &to->bodies[i].def.name, &to->bodies[i].def.place);
	}
	for (int i = 0; i < from->node_count; i++, to->node_count++) {
		to->nodes[i] = from->nodes[i];
		ok &= copy_strings(t, &to->nodes[i].def.name, &to->nodes[i].def.place);
	}
	for (int i = 0; i < from->joint_count; i++, to->joint_count++) {
		to->joints[i] = from->joints[i];
		ok &= copy_strings(t, &to->joints[i].def.name, &to->joints[i].def.place);
	}
	for (int i = 0; i < from->loop_count; i++, to->loop_count++) {
		to->loops[i] = from->loops[i];
		ok &= copy_strings(t, &to->loops[i].def.name, &to->loops[i].def.place);
	}
	to->mechanisms = from->mechanisms;
	for (int i = 0; ok && i < from->body_count; i++) {
		if (from->bodies[i].flex)
			ok &= cal_desc_set_flexible(to, (CalBodyId){(uint32_t)i + 1}, from->bodies[i].flex, NULL) == CAL_OK;
	}
	for (int i = 0; ok && i < from->body_count; i++) {
		if (from->bodies[i].flex)
			ok &= topology_add_modes(t, (uint32_t)i + 1);
	}
	return ok;
}

/* The body on which things are parked, in a group of its own. */
static int make_parking(Topology *t) {
	CalDesc *desc = t->desc;
	const uint32_t group = topology_add_group(t, "(parked)", &(CalGroupDef){0});
	const char *body = string_copy(&t->allocator, "(parked)"), *node = string_copy(&t->allocator, "head");
	if (!group || !body || !node)
		return 0;
	t->parking.value = group;
	desc->nodes[desc->node_count++] = (DescNode){.def = cal_node_def(), .body = {(uint32_t)desc->body_count + 1}};
	desc->nodes[desc->node_count - 1].def.name = node;
	t->park.value = (uint32_t)desc->node_count;
	desc->bodies[desc->body_count++] =
		(DescBody){.def = {.name = body, .group = t->parking, .mass = 1}, .frame = t->park};
	return 1;
}

static void make_records(Topology *t) {
	const CalDesc *desc = t->desc;
	for (int i = 0; i < desc->joint_count; i++) {
		const DescJoint *from = &desc->joints[i];
		t->joints[i] =
			(TopologyJoint){.def = from->def, .a = from->inboard, .b = from->outboard, .state = CAL_JOINT_IN_TREE};
	}
	topology_carriers(t);
	for (int i = 0; i < desc->loop_count; i++) {
		TopologyLoop *loop = &t->loops[i];
		*loop = (TopologyLoop){.as = desc->loops[i]};
		for (int k = 0; loop_type_has_terms(loop->as.def.type) && k < loop->as.def.term_count; k++) {
			const CalLoopTerm *term = &loop->as.def.term[k];
			const uint32_t carrier = t->carrier[term->body.value - 1];
			const int speeds = joint_speed_count(&topology_joint(t, carrier)->def);
			loop->term_joint[k] = term->dof < speeds ? carrier : 0;
			loop->term_dof[k] = term->dof < speeds ? term->dof : term->dof - speeds;
		}
		topology_put_loop(t, (uint32_t)i + 1);
	}
}

static int copy_description(Topology *t, const CalDesc *desc, const Slots *s) {
	t->desc = take_array(t, 1, sizeof *t->desc);
	t->joints = take_array(t, s->joints, sizeof *t->joints);
	t->loops = take_array(t, s->loops, sizeof *t->loops);
	t->carrier = take_array(t, s->bodies, sizeof *t->carrier);
	t->mark = take_array(t, s->bodies, sizeof *t->mark);
	t->mode_locked = take_array(t, s->modes + 1, sizeof *t->mode_locked);
	t->joint_at = take_array(t, s->joints, sizeof *t->joint_at);
	t->body_at = take_array(t, s->bodies, sizeof *t->body_at);
	t->saved.joint = take_array(t, s->joints, sizeof *t->saved.joint);
	t->saved.loop = take_array(t, s->loops, sizeof *t->saved.loop);
	t->saved.desc_joint = take_array(t, s->joints, sizeof *t->saved.desc_joint);
	t->saved.desc_loop = take_array(t, s->loops, sizeof *t->saved.desc_loop);
	t->saved.body_group = take_array(t, s->bodies, sizeof *t->saved.body_group);
	t->saved.group = take_array(t, s->groups, sizeof *t->saved.group);
	t->saved.mode_locked = take_array(t, s->modes + 1, sizeof *t->saved.mode_locked);
	if (!t->desc || !t->joints || !t->loops || !t->carrier || !t->mark || !t->joint_at || !t->body_at ||
	    !t->saved.joint || !t->saved.loop || !t->saved.desc_joint || !t->saved.desc_loop || !t->saved.body_group ||
	    !t->saved.group || !t->mode_locked || !t->saved.mode_locked)
		return 0;
	t->desc->allocator = t->allocator;
	t->joint_slots = s->joints, t->loop_slots = s->loops, t->body_slots = s->bodies, t->mode_slots = s->modes;
	if (!copy_arrays(t, desc, s) || !make_parking(t))
		return 0;
	make_records(t);
	return 1;
}

/* ---- the simulation --------------------------------------------------------------------------------------- */

/* The groups, their parts and the system go to the arena, with room for more; 0: nothing has changed. */
static int replace_topology(CalSim *sim, Topology *t, int capacity, size_t room) {
	const CalAllocator before = sim->allocator;
	SimGroup *groups = take_array(t, capacity, sizeof *groups);
	CalSystemPart *parts = groups ? take_array(t, capacity, sizeof *parts) : NULL;
	if (!parts)
		return 0;
	sim->allocator = t->allocator;
	if (sim_make_room(sim, room) != CAL_OK) {
		sim->allocator = before;
		return 0;
	}
	memcpy(groups, sim->groups, sizeof *groups * (size_t)sim->group_count);
	memcpy(parts, sim->parts, sizeof *parts * (size_t)sim->group_count);
	memory_free(&before, sim->groups);
	memory_free(&before, sim->parts);
	sim->groups = groups;
	sim->parts = parts;
	return 1;
}

/* Whether the models of a simulation may come from this description. */
static int describes(const CalSim *sim, const CalDesc *desc) {
	for (int i = 0; i < sim->group_count; i++) {
		const CalModel *model = sim->groups[i].model;
		for (int b = 0; b < model->body_count; b++) {
			const uint32_t id = model->bodies[b].id.value;
			if (id > (uint32_t)desc->body_count || strcmp(desc->bodies[id - 1].def.name, model->bodies[b].name) != 0)
				return 0;
		}
	}
	return 1;
}

/* Whether all counts are within what the estimate of memory can add up. */
static int counts_valid(const CalSimCapacity *extra) {
	enum { MOST = 1 << 20 };
	const int counts[] = {extra->groups, extra->bodies, extra->nodes, extra->joints, extra->loops, extra->modes};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		if (counts[i] < 0 || counts[i] > MOST)
			return 0;
	return 1;
}

CalStatus cal_sim_reserve(CalSim *sim, const CalDesc *desc, const CalSimCapacity *capacity, CalError *error) {
	const CalSimCapacity none = {0};
	const CalSimCapacity *extra = capacity ? capacity : &none;
	if (!sim || !desc || !counts_valid(extra))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_sim_reserve: give a simulation, its description, and numbers from 0 to 1048576");
	if (sim->topology)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_reserve: memory is reserved already; call it once");
	CalStatus status = formulation_refuse(sim, "changes of topology", error);
	if (status != CAL_OK)
		return status;
	if (sim->ranks)
		return error_set(error, CAL_ERR_UNSUPPORTED,
		                 "cal_sim_reserve: the simulation is distributed; reserve before cal_sim_distribute()");
	if (!describes(sim, desc))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_sim_reserve: the simulation was not made of this description; give the one it was");
	const Slots slots = slots_of(desc, extra);
	const size_t size = extra->memory ? extra->memory : estimate(sim, desc, extra, &slots);
	Arena *arena = arena_create(&sim->allocator, size);
	const CalAllocator allocator = arena ? arena_allocator(arena) : (CalAllocator){0};
	Topology *t = arena ? memory_alloc(&allocator, sizeof *t) : NULL;
	if (t)
		*t = (Topology){.arena = arena, .allocator = allocator, .memory = size, .left = *extra};
	if (!t || !copy_description(t, desc, &slots) ||
	    !replace_topology(sim, t, slots.groups, system_room(sim, extra, &slots))) {
		arena_destroy(arena);
		return error_set(error, CAL_ERR_MEMORY, "cal_sim_reserve: %zu bytes are not enough or cannot be had", size);
	}
	sim->topology = t;
	return CAL_OK;
}

size_t cal_sim_memory_left(const CalSim *sim) { return sim && sim->topology ? arena_left(sim->topology->arena) : 0; }

int cal_sim_group_of(const CalSim *sim, CalBodyId body) {
	return sim ? sim_group_of(sim, MODEL_BODIES, body.value) : -1;
}

CalStatus cal_sim_joint_state(const CalSim *sim, CalJointId joint, CalJointState *state, int *reversed) {
	const Topology *t = sim ? sim->topology : NULL;
	if (!t || !state || joint.value == 0 || joint.value > (uint32_t)t->desc->joint_count)
		return CAL_ERR_ARGUMENT;
	*state = topology_joint(t, joint.value)->state;
	if (reversed)
		*reversed = topology_joint(t, joint.value)->reversed;
	return CAL_OK;
}
