// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint_check.c — whether the topology in a checkpoint is one that the simulation could have come to.
 *
 * A checkpoint is a file, and whoever wrote it may mean harm: a checksum proves nothing. So ids must exist, what a run
 * cannot change must be as it is, what was added is checked like any description, and the records of joints and loops must
 * agree with each other. What only the whole can show (a body without a joint, a cycle) is checked once the description is
 * put together, by desc_check_structure().
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "checkpoint/checkpoint.h"
#include "joint/pose_solve.h"
#include "loop/loop_type.h"
#include "model/description/check.h"
#include "model/description/usable.h"
#include "transition/topology_edit.h"

typedef struct ImageCheck {
	const Topology *t;
	TopologyImage first, now; // where additions begin; what the simulation has
	const TopologyImage *image;
	CalDesc desc; // bodies and nodes of the image, for checks of a description
	CalError *why;
} ImageCheck;

/* ---- counts ------------------------------------------------------------------------------------------------- */

static int is_between(int x, int low, int high) { return x >= low && x <= high; }

/* What is there and what may still come has room. */
static int room_for(int first, int count, int left, int slots) {
	return is_between(count, first, slots) && is_between(left, 0, slots - count);
}

int image_fits(const CalSim *sim, const TopologyImage *image) {
	const Topology *t = sim->topology;
	const CalDesc *desc = t->desc;
	const CalSimCapacity *left = &image->left;
	const TopologyImage first = image_first_added(&sim->origin);
	return room_for(first.groups, image->groups, left->groups, desc->group_capacity) &&
	       room_for(first.bodies, image->bodies, left->bodies, t->body_slots) &&
	       room_for(first.nodes, image->nodes, left->nodes, desc->node_capacity - left->bodies) && // one for each frame
	       room_for(first.joints, image->joints, left->joints, t->joint_slots) &&
	       room_for(first.loops, image->loops, left->loops, t->loop_slots) &&
	       room_for(0, image->modes, left->modes, t->mode_slots);
}

/* ---- ids ------------------------------------------------------------------------------------------------------ */

static int is_id(uint32_t id, int count) { return id >= 1 && id <= (uint32_t)count; }
static int is_id_or_none(uint32_t id, int count) { return id <= (uint32_t)count; }

/* Body of a node, 0: the ground. */
static uint32_t body_of(const TopologyImage *image, CalNodeId node) {
	return node.value ? image->node[node.value - 1].body.value : 0;
}

static uint32_t group_of(const TopologyImage *image, uint32_t body) { return image->body[body - 1].def.group.value; }

static int body_ids_exist(const ImageCheck *j) {
	const TopologyImage *image = j->image;
	int modes = 0;
	for (int i = 0; i < image->bodies; i++) {
		if (!is_id(image->body[i].def.group.value, image->groups) || !is_id(image->body[i].frame.value, image->nodes))
			return 0;
		modes += image->body[i].flex ? image->body[i].flex->modes : 0;
	}
	for (int i = j->first.nodes; i < image->nodes; i++) { // nodes come with their body
		const uint32_t body = image->node[i].body.value;
		if (body <= (uint32_t)j->first.bodies || body > (uint32_t)image->bodies)
			return 0;
	}
	for (int i = 0; i < image->bodies; i++) {
		if (body_of(image, image->body[i].frame) != (uint32_t)i + 1)
			return 0;
	}
	const uint32_t parked = (uint32_t)j->first.bodies;
	return modes == image->modes && group_of(image, parked) == j->t->parking.value;
}

static int joint_ids_exist(const ImageCheck *j) {
	const TopologyImage *image = j->image;
	for (int i = 0; i < image->joints; i++) {
		const TopologyJoint *joint = &image->joint[i];
		if (!is_id_or_none(joint->a.value, image->nodes) || !is_id_or_none(joint->b.value, image->nodes) ||
		    !(body_of(image, joint->a) || body_of(image, joint->b)) || !is_id_or_none(joint->loop, image->loops) ||
		    (int)joint->state < 0 || joint->state > CAL_JOINT_IN_LOOP || !is_between(joint->reversed, 0, 1) ||
		    !is_between(joint->own, 0, 1))
			return 0;
	}
	return 1;
}

static int loop_ids_exist(const ImageCheck *j) {
	const TopologyImage *image = j->image;
	for (int i = 0; i < image->loops; i++) {
		const TopologyLoop *loop = &image->loop[i];
		int sound = is_id_or_none(loop->as.a.value, image->nodes) && is_id_or_none(loop->as.b.value, image->nodes) &&
		            is_id_or_none(loop->joint, image->joints) && is_between(loop->open, 0, 1);
		for (int k = 0; k < CAL_LOOP_MAX_TERMS; k++)
			sound &= is_id_or_none(loop->term_joint[k], image->joints);
		for (int k = 0; k < loop->as.def.term_count; k++)
			sound &= is_id(loop->as.def.term[k].body.value, image->bodies);
		if (!sound)
			return 0;
	}
	return 1;
}

/* ---- what a run cannot change ------------------------------------------------------------------------------------ */

/* Unit to what sums of rounding errors leave of it. */
static int placement_is_sound(const CalPlacement *p) {
	const CalQuat q = p->orientation;
	return vec_is_usable(p->position) && fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1) < 1e-9;
}

/* A record as a checkpoint holds it, without its name. */
typedef struct Written {
	char bytes[2048];
	size_t size;
} Written;

static Written write_joint(CalJointDef def) {
	Written w = {.size = 0};
	Serializer a = serializer_writer(w.bytes, sizeof w.bytes);
	walk_joint(&a, &def, false);
	w.size = a.used;
	return w;
}

static Written write_loop(TopologyLoop loop) {
	Written w = {.size = 0};
	Serializer a = serializer_writer(w.bytes, sizeof w.bytes);
	walk_loop_record(&a, &loop, false);
	w.size = a.used;
	return w;
}

static int is_same(const Written *a, const Written *b) {
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

static int joint_defs_are_same(const CalJointDef *a, const CalJointDef *b) {
	const Written x = write_joint(*a), y = write_joint(*b);
	return is_same(&x, &y);
}

/* The end of a joint that is on the ground, if one is. */
static CalNodeId ground_end(const TopologyImage *image, const TopologyJoint *joint) {
	return body_of(image, joint->a) ? joint->b : joint->a;
}

/* A free joint of a body that flies may carry another one since then (cal_sim_reroot). */
static int ends_are_the_same(const TopologyImage *image, const TopologyJoint *now, const TopologyJoint *read) {
	const CalNodeId ground = ground_end(image, now);
	if (now->a.value == read->a.value && now->b.value == read->b.value)
		return 1;
	return read->def.type == CAL_JOINT_FREE && !body_of(image, ground) && ground.value == ground_end(image, read).value;
}

/* Of a joint of the description, its frames (where it was closed again), locks, springs and dampers may have changed. */
static int joint_is_the_same(const TopologyImage *image, const TopologyJoint *now, const TopologyJoint *read) {
	CalJointDef def = now->def;
	def.inboard = read->def.inboard, def.outboard = read->def.outboard;
	for (int k = 0; k < CAL_JOINT_MAX_DOF; k++) {
		const CalDofDef *dof = &read->def.dof[k];
		def.dof[k].prescribed = dof->prescribed;
		def.dof[k].stiffness = dof->stiffness, def.dof[k].rest = dof->rest, def.dof[k].damping = dof->damping;
		if (!isfinite(dof->stiffness) || !isfinite(dof->rest) || !isfinite(dof->damping))
			return false;
	}
	return joint_defs_are_same(&def, &read->def) && ends_are_the_same(image, now, read) && !read->own;
}

/* Of a loop of the description, only whether it is open. */
static int loop_is_the_same(const TopologyLoop *now, const TopologyLoop *read) {
	TopologyLoop was = *now;
	was.open = read->open;
	const Written x = write_loop(was), y = write_loop(*read);
	return is_same(&x, &y);
}

static CalStatus check_unchanged(const ImageCheck *j) {
	const TopologyImage *image = j->image;
	for (int i = 0; i < j->first.joints; i++) {
		if (!joint_is_the_same(image, &j->now.joint[i], &image->joint[i]))
			return error_set(j->why, CAL_ERR_INPUT, "joint \"%s\" is not that of the model", image->joint[i].def.name);
	}
	for (int i = 0; i < j->first.loops; i++) {
		if (!loop_is_the_same(&j->now.loop[i], &image->loop[i]))
			return error_set(j->why, CAL_ERR_INPUT, "loop \"%s\" is not that of the model", image->loop[i].as.def.name);
	}
	return CAL_OK;
}

/* ---- what was added ---------------------------------------------------------------------------------------------- */

static int is_named(const char *name) { return name && name[0]; }

static CalStatus refuse_record(const ImageCheck *j, const char *kind, const char *name, const char *text) {
	return error_set(j->why, CAL_ERR_INPUT, "%s \"%s\" %s", kind, name ? name : "", text);
}

static CalStatus check_body(ImageCheck *j, int index) {
	const DescBody *body = &j->image->body[index];
	Check check = {.desc = &j->desc, .report = edit_keep_first_error, .user = j->why};
	if (!is_named(body->def.name) || body_def_not_finite(&body->def))
		return refuse_record(j, "body", body->def.name, "has no name, or a number that " NUMBER_WRONG);
	check_mass_properties(&check, &body->def, (BodyExtent){0});
	if (check.failed)
		return CAL_ERR_INPUT;
	if (!body->flex)
		return CAL_OK;
	const CalStatus status = flex_def_check(&j->desc, (CalBodyId){(uint32_t)index + 1}, body->flex, j->why);
	if (status != CAL_OK)
		return status;
	if (!check_flexibility(&check, body))
		return CAL_ERR_MEMORY;
	return check.failed ? CAL_ERR_INPUT : CAL_OK;
}

static bool inertias_are_same(const CalMat3 *a, const CalMat3 *b) {
	bool same = true;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			same &= a->m[i][k] == b->m[i][k];
	return same;
}

/* Of a body of the description the mass may have changed, of a rigid one that had any. */
static CalStatus check_mass(ImageCheck *j, int index) {
	const CalBodyDef *read = &j->image->body[index].def, *now = &j->now.body[index].def;
	if (read->mass == now->mass && inertias_are_same(&read->inertia, &now->inertia))
		return CAL_OK;
	if (j->now.body[index].flex || !(now->mass > 0) || !(read->mass > 0))
		return refuse_record(j, "body", now->name, "has a mass that cannot change");
	return check_body(j, index);
}

static CalStatus check_joint_record(ImageCheck *j, const TopologyJoint *joint) {
	CalJointDef resolved = joint->def;
	if (!is_named(joint->def.name))
		return refuse_record(j, "joint", joint->def.name, "has no name");
	if (joint_def_resolve(&resolved, j->why) != CAL_OK)
		return CAL_ERR_INPUT;
	resolved.inboard = joint->def.inboard, resolved.outboard = joint->def.outboard;
	if (!joint_defs_are_same(&resolved, &joint->def))
		return refuse_record(j, "joint", joint->def.name, "has an axis that is not unit");
	if (joint->own && (joint->def.type != CAL_JOINT_FREE || joint->a.value))
		return refuse_record(j, "joint", joint->def.name, "is no root of the simulation's own");
	return CAL_OK;
}

/* What may have changed of any joint: its locks are among its dofs, and its frames are frames. */
static CalStatus check_changes(ImageCheck *j, const CalJointDef *def) {
	Check check = {.desc = &j->desc, .report = edit_keep_first_error, .user = j->why};
	check_joint(&check, def);
	if (check.failed)
		return CAL_ERR_INPUT;
	return placement_is_sound(&def->inboard) && placement_is_sound(&def->outboard)
	           ? CAL_OK
	           : refuse_record(j, "joint", def->name, "has a frame that is none");
}

/* A term is a dof of a joint, or a mode of a body. */
static int term_exists(const TopologyImage *image, const TopologyLoop *loop, int k) {
	const uint32_t joint = loop->term_joint[k];
	const CalFlexDef *flex = image->body[loop->as.def.term[k].body.value - 1].flex;
	const int count = joint ? joint_speed_count(&image->joint[joint - 1].def) : flex ? flex->modes : 0;
	return is_between(loop->term_dof[k], 0, count - 1);
}

static CalStatus check_loop_record(ImageCheck *j, const TopologyLoop *loop) {
	const CalLoopDef *def = &loop->as.def;
	if (!is_named(def->name))
		return refuse_record(j, "loop", def->name, "has no name");
	if (loop_def_check(def, j->why) != CAL_OK)
		return CAL_ERR_INPUT;
	if (!placement_is_sound(&def->a) || !placement_is_sound(&def->b))
		return refuse_record(j, "loop", def->name, "has an orientation that is not unit");
	for (int k = 0; loop_type_has_terms(def->type) && k < def->term_count; k++) {
		if (!term_exists(j->image, loop, k))
			return refuse_record(j, "loop", def->name, "couples a degree of freedom that does not exist");
	}
	return CAL_OK;
}

static CalStatus check_added(ImageCheck *j) {
	const TopologyImage *image = j->image;
	CalStatus status = CAL_OK;
	for (int i = 0; i < image->groups && status == CAL_OK; i++) {
		if (!is_named(image->group[i].name) || !vec_is_usable(image->group[i].gravity))
			status = refuse_record(j, "group", image->group[i].name, "has no name, or gravity that " NUMBER_WRONG);
	}
	for (int i = j->first.nodes; i < image->nodes && status == CAL_OK; i++) {
		const CalNodeDef *def = &image->node[i].def;
		if (!is_named(def->name) || !placement_is_sound(&def->placement))
			status = refuse_record(j, "node", def->name, "has no name, or no placement");
	}
	for (int i = 0; i < j->first.bodies && status == CAL_OK; i++)
		status = check_mass(j, i);
	for (int i = j->first.bodies; i < image->bodies && status == CAL_OK; i++)
		status = check_body(j, i);
	for (int i = j->first.joints; i < image->joints && status == CAL_OK; i++)
		status = check_joint_record(j, &image->joint[i]);
	for (int i = 0; i < image->joints && status == CAL_OK; i++)
		status = check_changes(j, &image->joint[i].def);
	for (int i = j->first.loops; i < image->loops && status == CAL_OK; i++)
		status = check_loop_record(j, &image->loop[i]);
	return status;
}

/* ---- joints and loops together -------------------------------------------------------------------------------------- */

/* In the tree it carries a body that is there, from a body of the same group or from the ground. */
static int carries_something(const ImageCheck *j, const TopologyJoint *joint) {
	const TopologyImage *image = j->image;
	const uint32_t in = body_of(image, topology_inboard(joint)), out = body_of(image, topology_outboard(joint));
	return out && group_of(image, out) != j->t->parking.value && (!in || group_of(image, in) == group_of(image, out));
}

static int can_be_turned(const TopologyJoint *joint) {
	CalJointDef reversed;
	return !joint->reversed || !joint_reverse(&joint->def, &reversed);
}

/* A joint and the loop that stands for it know each other, and one of them is in use at most. */
static int loop_agrees(const ImageCheck *j, int index) {
	const TopologyJoint *joint = &j->image->joint[index];
	const TopologyLoop *loop = joint->loop ? &j->image->loop[joint->loop - 1] : NULL;
	if (!loop)
		return joint->state != CAL_JOINT_IN_LOOP;
	const int closed = !loop->open;
	return loop->joint == (uint32_t)index + 1 && closed == (joint->state == CAL_JOINT_IN_LOOP) &&
	       !loop_type_has_terms(loop->as.def.type) && loop->as.a.value == joint->a.value &&
	       (!closed || loop->as.b.value == joint->b.value);
}

/* A body is carried by one joint at most; `carried` [bodies] is zero. */
static CalStatus check_carriers(const ImageCheck *j, uint8_t *carried) {
	for (int i = 0; i < j->image->joints; i++) {
		const TopologyJoint *joint = &j->image->joint[i];
		if (joint->state != CAL_JOINT_IN_TREE)
			continue;
		uint8_t *body = &carried[body_of(j->image, topology_outboard(joint)) - 1];
		if (*body)
			return refuse_record(j, "joint", joint->def.name, "carries a body that another joint carries");
		*body = 1;
	}
	return CAL_OK;
}

static CalStatus check_trees(const ImageCheck *j, const CalAllocator *allocator) {
	const size_t size = (size_t)j->image->bodies;
	uint8_t *carried = memory_alloc(allocator, size);
	if (!carried)
		return error_set(j->why, CAL_ERR_MEMORY, "no memory to check its trees");
	memset(carried, 0, size);
	const CalStatus status = check_carriers(j, carried);
	memory_free(allocator, carried);
	return status;
}

static CalStatus check_joints(const ImageCheck *j) {
	for (int i = 0; i < j->image->joints; i++) {
		const TopologyJoint *joint = &j->image->joint[i];
		if (joint->state == CAL_JOINT_IN_TREE && !carries_something(j, joint))
			return refuse_record(j, "joint", joint->def.name, "is in the tree but carries nothing");
		if (!can_be_turned(joint) || !loop_agrees(j, i))
			return refuse_record(j, "joint", joint->def.name, "is in a state that it cannot have");
	}
	return CAL_OK;
}

/* The sides of a closed loop are on bodies of one group, one of them perhaps on the ground. */
static int ties_something(const ImageCheck *j, const TopologyLoop *loop) {
	const TopologyImage *image = j->image;
	const uint32_t a = body_of(image, loop->as.a);
	const uint32_t b = loop_type_has_one_side(loop->as.def.type) ? 0 : body_of(image, loop->as.b);
	if (!a && !b)
		return 0;
	const uint32_t group = group_of(image, a ? a : b);
	return group != j->t->parking.value && (!a || !b || group_of(image, b) == group);
}

static CalStatus check_loops(const ImageCheck *j) {
	for (int i = 0; i < j->image->loops; i++) {
		const TopologyLoop *loop = &j->image->loop[i];
		if (loop->joint && j->image->joint[loop->joint - 1].loop != (uint32_t)i + 1)
			return refuse_record(j, "loop", loop->as.def.name, "stands for a joint that does not know it");
		if (!loop->open && !loop_type_has_terms(loop->as.def.type) && !ties_something(j, loop))
			return refuse_record(j, "loop", loop->as.def.name, "is closed but ties nothing");
	}
	return CAL_OK;
}

CalStatus image_check(const CalSim *sim, const TopologyImage *image, CalError *why) {
	const Topology *t = sim->topology;
	*why = (CalError){0};
	ImageCheck j = {.t = t,
	                .first = image_first_added(&sim->origin),
	                .now = image_of(t),
	                .image = image,
	                .desc = *t->desc,
	                .why = why};
	j.desc.bodies = image->body, j.desc.body_count = image->bodies;
	j.desc.nodes = image->node, j.desc.node_count = image->nodes;
	if (!body_ids_exist(&j) || !joint_ids_exist(&j) || !loop_ids_exist(&j))
		return error_set(why, CAL_ERR_INPUT, "its topology names objects that do not exist");
	CalStatus status = check_unchanged(&j);
	if (status == CAL_OK)
		status = check_added(&j);
	if (status == CAL_OK)
		status = check_joints(&j);
	if (status == CAL_OK)
		status = check_trees(&j, &sim->allocator);
	if (status == CAL_OK)
		status = check_loops(&j);
	return status;
}
