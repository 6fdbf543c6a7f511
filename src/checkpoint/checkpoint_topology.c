// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint_topology.c — the topology in a checkpoint: what every joint, loop and body is now, and what was added.
 *
 * What the description held at the start is there in the simulation that is restored: of that only what may have changed
 * is written. Joints and loops of the description follow from their records, as in any change.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "checkpoint/checkpoint.h"
#include "model/compile/flex_form.h"

/* A field that is new belongs into a walk below. */
_Static_assert(sizeof(void *) != 8 || sizeof(TopologyJoint) == 768, "a field of TopologyJoint is new");
_Static_assert(sizeof(void *) != 8 || sizeof(TopologyLoop) == 840, "a field of TopologyLoop is new");

/* ---- walking --------------------------------------------------------------------------------------------- */

TopologyImage image_of(const Topology *t) {
	const CalDesc *desc = t->desc;
	return (TopologyImage){.groups = desc->group_count,
	                       .bodies = desc->body_count,
	                       .nodes = desc->node_count,
	                       .joints = desc->joint_count,
	                       .loops = desc->loop_count,
	                       .left = t->left,
	                       .group = desc->groups,
	                       .body = desc->bodies,
	                       .node = desc->nodes,
	                       .joint = t->joints,
	                       .loop = t->loops,
	                       .locked = t->mode_locked,
	                       .modes = t->mode_count};
}

static void walk_counts(Serializer *a, TopologyImage *image) {
	serializer_int(a, &image->groups);
	serializer_int(a, &image->bodies);
	serializer_int(a, &image->nodes);
	serializer_int(a, &image->joints);
	serializer_int(a, &image->loops);
	serializer_int(a, &image->left.groups);
	serializer_int(a, &image->left.bodies);
	serializer_int(a, &image->left.nodes);
	serializer_int(a, &image->left.joints);
	serializer_int(a, &image->left.loops);
	serializer_int(a, &image->left.modes);
	serializer_int(a, &image->left.second_order);
	serializer_int(a, &image->modes);
}

static void walk_joint_record(Serializer *a, TopologyJoint *joint, bool named) {
	int state = (int)joint->state;
	walk_joint(a, &joint->def, named);
	serializer_u32(a, &joint->a.value);
	serializer_u32(a, &joint->b.value);
	serializer_int(a, &state);
	serializer_int(a, &joint->reversed);
	serializer_int(a, &joint->own);
	serializer_u32(a, &joint->loop);
	if (a->mode == SERIALIZER_READ)
		joint->state = (CalJointState)state;
}

void walk_loop_record(Serializer *a, TopologyLoop *loop, bool named) {
	walk_loop(a, &loop->as, named);
	serializer_int(a, &loop->open);
	serializer_u32(a, &loop->joint);
	for (int i = 0; i < CAL_LOOP_MAX_TERMS; i++) {
		serializer_u32(a, &loop->term_joint[i]);
		serializer_int(a, &loop->term_dof[i]);
	}
}

TopologyImage image_first_added(const SimOrigin *origin) {
	return (TopologyImage){.groups = origin->groups + 1,
	                       .bodies = origin->bodies + 1,
	                       .nodes = origin->nodes + 1,
	                       .joints = origin->joints,
	                       .loops = origin->loops};
}

static void walk_records(Serializer *a, const SimOrigin *origin, TopologyImage *image) {
	const TopologyImage first = image_first_added(origin);
	for (int i = 0; i < image->groups; i++)
		walk_group(a, &image->group[i], i >= first.groups);
	for (int i = 0; i < image->bodies; i++)
		walk_body(a, &image->body[i], i >= first.bodies);
	for (int i = 0; i < image->nodes; i++)
		walk_node(a, &image->node[i], i >= first.nodes);
	for (int i = 0; i < image->joints; i++)
		walk_joint_record(a, &image->joint[i], i >= first.joints);
	for (int i = 0; i < image->loops; i++)
		walk_loop_record(a, &image->loop[i], i >= first.loops);
	serializer_bytes(a, image->locked, (size_t)image->modes);
}

void image_walk(Serializer *a, const SimOrigin *origin, TopologyImage *image) {
	walk_counts(a, image);
	walk_records(a, origin, image);
}

/* ---- memory ----------------------------------------------------------------------------------------------- */

enum { ARRAYS = 6 };

/* Arrays of the image's counts. */
static int take_arrays(const Topology *t, TopologyImage *image) {
	const CalAllocator from = arena_allocated_after(t->arena);
	const size_t size[ARRAYS] = {
		sizeof *image->group * (size_t)image->groups, sizeof *image->body * (size_t)image->bodies,
		sizeof *image->node * (size_t)image->nodes,   sizeof *image->joint * (size_t)image->joints,
		sizeof *image->loop * (size_t)image->loops,   (size_t)image->modes + 1};
	void *array[ARRAYS];
	int done = 1;
	for (int i = 0; i < ARRAYS; i++) {
		array[i] = memory_alloc(&from, size[i]);
		done &= array[i] != NULL;
		if (array[i])
			memset(array[i], 0, size[i]);
	}
	image->group = array[0], image->body = array[1], image->node = array[2];
	image->joint = array[3], image->loop = array[4], image->locked = array[5];
	if (!done)
		image_free(t, image);
	return done;
}

void image_free(const Topology *t, TopologyImage *image) {
	const CalAllocator from = arena_allocated_after(t->arena);
	memory_free(&from, image->group);
	memory_free(&from, image->body);
	memory_free(&from, image->node);
	memory_free(&from, image->joint);
	memory_free(&from, image->loop);
	memory_free(&from, image->locked);
	image->group = NULL, image->body = NULL, image->node = NULL, image->joint = NULL, image->loop = NULL;
	image->locked = NULL;
}

/* The first records of another image; the arrays are large enough for them. */
static void copy_records(const TopologyImage *from, const TopologyImage *count, TopologyImage *to) {
	memcpy(to->group, from->group, sizeof *to->group * (size_t)count->groups);
	memcpy(to->body, from->body, sizeof *to->body * (size_t)count->bodies);
	memcpy(to->node, from->node, sizeof *to->node * (size_t)count->nodes);
	memcpy(to->joint, from->joint, sizeof *to->joint * (size_t)count->joints);
	memcpy(to->loop, from->loop, sizeof *to->loop * (size_t)count->loops);
	memcpy(to->locked, from->locked, (size_t)count->modes);
}

int image_copy(const Topology *t, TopologyImage *copy) {
	const TopologyImage now = image_of(t);
	*copy = now;
	if (!take_arrays(t, copy))
		return 0;
	copy_records(&now, &now, copy);
	return 1;
}

static void free_memory(const Topology *t, const void *memory) {
	memory_free(&t->allocator, (void *)(uintptr_t)memory);
}

void image_drop(const CalSim *sim, TopologyImage *image) {
	const Topology *t = sim->topology;
	const TopologyImage first = image_first_added(&sim->origin);
	for (int i = first.groups; i < image->groups; i++)
		free_memory(t, image->group[i].name);
	for (int i = first.bodies; i < image->bodies; i++) {
		free_memory(t, image->body[i].def.name);
		free_memory(t, image->body[i].flex);
		free_memory(t, image->body[i].form);
	}
	for (int i = first.nodes; i < image->nodes; i++)
		free_memory(t, image->node[i].def.name);
	for (int i = first.joints; i < image->joints; i++)
		free_memory(t, image->joint[i].def.name);
	for (int i = first.loops; i < image->loops; i++)
		free_memory(t, image->loop[i].as.def.name);
	image_free(t, image);
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* Of flexible bodies that were added, what every compilation would make anew. 0: memory is short. */
static int make_forms(const Topology *t, const TopologyImage *first, TopologyImage *image) {
	CalDesc desc = *t->desc;
	int done = 1;
	desc.bodies = image->body, desc.body_count = image->bodies;
	desc.nodes = image->node, desc.node_count = image->nodes;
	for (int i = first->bodies; i < image->bodies && done; i++) {
		DescBody *body = &image->body[i];
		body->form = body->flex ? flex_form_create(&desc, i, CAL_MODAL_INERTIA_AUTO, &t->allocator) : NULL;
		done = !body->flex || body->form;
	}
	return done;
}

CalStatus image_read(Serializer *a, const CalSim *sim, TopologyImage *image, CalError *error) {
	const Topology *t = sim->topology;
	const TopologyImage first = image_first_added(&sim->origin), now = image_of(t);
	*image = (TopologyImage){0};
	walk_counts(a, image);
	if (a->status != CAL_OK || !image_fits(sim, image))
		return error_set(error, CAL_ERR_INPUT, "the checkpoint is damaged: it has more objects than there is room for");
	if (!take_arrays(t, image))
		return error_set(error, CAL_ERR_MEMORY, "checkpoint: %s", cal_status_text(CAL_ERR_MEMORY));
	copy_records(&now, &first, image);
	a->allocator = t->allocator;
	walk_records(a, &sim->origin, image);
	CalError why = {.text = "it is cut short, or a type is none"};
	CalStatus status = a->status;
	if (status == CAL_OK)
		status = image_check(sim, image, &why);
	if (status == CAL_OK && !make_forms(t, &first, image))
		status = CAL_ERR_MEMORY;
	if (status == CAL_OK)
		return CAL_OK;
	image_drop(sim, image);
	return status == CAL_ERR_MEMORY
	           ? error_set(error, status,
	                       "checkpoint: the memory reserved for changes (%zu bytes) is too small for what was added; "
	                       "give cal_sim_reserve() a larger CalSimCapacity.memory",
	                       t->memory)
	           : error_set(error, CAL_ERR_INPUT, "the checkpoint is damaged: %s", why.text);
}

static uint64_t hash_of(const SimOrigin *origin, TopologyImage *image) {
	Serializer a = serializer_hasher();
	image_walk(&a, origin, image);
	return a.hash;
}

int image_same(const SimOrigin *origin, TopologyImage *a, TopologyImage *b) {
	return hash_of(origin, a) == hash_of(origin, b);
}

const char *image_put(const TopologyImage *image, Topology *t) {
	CalDesc *desc = t->desc;
	TopologyImage to = image_of(t);
	copy_records(image, image, &to);
	desc->group_count = image->groups, desc->body_count = image->bodies, desc->node_count = image->nodes;
	desc->joint_count = image->joints, desc->loop_count = image->loops;
	const size_t memory = t->left.memory;
	t->left = image->left;
	t->left.memory = memory;
	t->mode_count = image->modes;
	uint8_t *locked = t->mode_locked;
	for (int i = 0; i < image->bodies; i++) {
		DescBody *body = &desc->bodies[i];
		body->prescribed = body->flex ? locked : NULL;
		locked += body->flex ? body->flex->modes : 0;
	}
	for (int i = 0; i < image->joints; i++)
		topology_put_joint(t, (uint32_t)i + 1);
	topology_carriers(t);
	const char *wrong = NULL;
	for (int i = 0; i < image->loops; i++) {
		const char *why = topology_put_loop(t, (uint32_t)i + 1);
		wrong = wrong ? wrong : why;
	}
	return wrong;
}
