// SPDX-License-Identifier: Apache-2.0
/*
 * native_load.c — loads: efforts and driven freedoms of joints, wrenches on nodes, each over a time interval.
 */
#include <math.h>
#include <string.h>

#include "io/native.h"

typedef struct LoadInput {
	const char *joint, *node, *frame;
	const TreeNode *effort, *acceleration, *lock, *force, *moment;
	double start, end;
} LoadInput;

static const Key load_keys[] = {
	{"name", key_ignore, 0, DIM_NUMBER, 0},
	{"joint", key_text, offsetof(LoadInput, joint), DIM_NUMBER, 0},
	{"effort", key_node, offsetof(LoadInput, effort), DIM_TORQUE, 0},
	{"acceleration", key_node, offsetof(LoadInput, acceleration), DIM_ANGULAR_ACCELERATION, 0},
	{"lock", key_node, offsetof(LoadInput, lock), DIM_NUMBER, 0},
	{"node", key_text, offsetof(LoadInput, node), DIM_NUMBER, 0},
	{"frame", key_text, offsetof(LoadInput, frame), DIM_NUMBER, 0},
	{"force", key_node, offsetof(LoadInput, force), DIM_FORCE, 0},
	{"moment", key_node, offsetof(LoadInput, moment), DIM_TORQUE, 0},
	{"start", key_quantity, offsetof(LoadInput, start), DIM_TIME, 0},
	{"end", key_quantity, offsetof(LoadInput, end), DIM_TIME, 0},
};
const KeyTable load_table = KEY_TABLE("load", load_keys);

static bool check_count(Reader *r, const TreeNode *node, const char *key, const JointRecord *joint) {
	const int given = node->kind == TREE_LIST ? node->count : node->kind == TREE_SCALAR ? 1 : -1;
	if (given == joint->shape.nu && given > 0)
		return true;
	return reader_fail(r, node, "\"%s\" on joint \"%.80s\" takes one value for each of its %d freedom%s", key,
	                   joint->name, joint->shape.nu, joint->shape.nu == 1 ? "" : "s (a list)");
}

static const TreeNode *component(const TreeNode *node, int i) {
	return node->kind == TREE_LIST ? node->items[i] : node;
}

static bool is_free(const TreeNode *node) { return node->kind == TREE_SCALAR && strcmp(node->text, "free") == 0; }

static bool read_effort(Reader *r, const TreeNode *node, const JointRecord *joint, LoadEntry *load) {
	if (!check_count(r, node, "effort", joint))
		return false;
	for (int i = 0; i < joint->shape.nu; i++) {
		const Dimension dimension = joint->shape.linear[i] ? DIM_FORCE : DIM_TORQUE;
		if (!read_quantity(r, component(node, i), dimension, &load->effort[i]))
			return false;
		load->push[i] = true;
	}
	return true;
}

static bool read_acceleration(Reader *r, const TreeNode *node, const JointRecord *joint, LoadEntry *load) {
	if (!check_count(r, node, "acceleration", joint))
		return false;
	for (int i = 0; i < joint->shape.nu; i++) {
		const Dimension dimension = joint->shape.linear[i] ? DIM_ACCELERATION : DIM_ANGULAR_ACCELERATION;
		if (is_free(component(node, i)))
			continue;
		if (!read_quantity(r, component(node, i), dimension, &load->acceleration[i]))
			return false;
		load->drive[i] = true;
	}
	return true;
}

/* true locks every freedom; a list says which. */
static bool read_lock(Reader *r, const TreeNode *node, const JointRecord *joint, LoadEntry *load) {
	if (node->kind == TREE_LIST && !check_count(r, node, "lock", joint))
		return false;
	for (int i = 0; i < joint->shape.nu; i++) {
		int locked;
		if (!read_flag(r, component(node, i), &locked))
			return false;
		load->drive[i] = load->drive[i] || locked;
	}
	return true;
}

static bool read_joint_load(Reader *r, const TreeNode *map, const LoadInput *in, LoadEntry *load) {
	const JointRecord *joint;
	if (!native_find_joint(r, tree_get(map, "joint"), in->joint, &joint))
		return false;
	load->joint = joint->name;
	load->nu = joint->shape.nu;
	if (in->force || in->moment || in->frame)
		return reader_fail(r, map, "force, moment and frame belong to a load on a node; on a joint give \"effort\"");
	if (in->lock && in->acceleration)
		return reader_fail(r, in->lock,
		                   "\"lock\" is an acceleration of zero; give one of \"lock\" and \"acceleration\"");
	if (!in->effort && !in->acceleration && !in->lock)
		return reader_fail(r, map, "a load on a joint needs \"effort\", \"acceleration\" or \"lock\"");
	return (!in->effort || read_effort(r, in->effort, joint, load)) &&
	       (!in->acceleration || read_acceleration(r, in->acceleration, joint, load)) &&
	       (!in->lock || read_lock(r, in->lock, joint, load));
}

static bool read_node_load(Reader *r, const Sections *s, const TreeNode *map, const LoadInput *in, LoadEntry *load) {
	if (!native_find_node(r, s, tree_get(map, "node"), in->node, &load->node_id))
		return false;
	if (strncmp(in->node, "ground", 6) == 0 && (!in->node[6] || in->node[6] == '/'))
		return reader_fail(r, tree_get(map, "node"), "a load on the ground moves nothing; name a node of a body");
	load->node = in->node;
	if (in->effort || in->acceleration || in->lock)
		return reader_fail(r, map,
		                   "effort, acceleration and lock belong to a load on a joint; on a node give \"force\" and "
		                   "\"moment\"");
	if (!in->force && !in->moment)
		return reader_fail(r, map, "a load on a node needs \"force\", \"moment\" or both");
	if (in->frame && strcmp(in->frame, "world") != 0 && strcmp(in->frame, "node") != 0)
		return reader_fail(r, tree_get(map, "frame"), "unknown frame \"%.40s\"; write world or node", in->frame);
	load->frame = in->frame && strcmp(in->frame, "node") == 0 ? CAL_FRAME_NODE : CAL_FRAME_WORLD;
	return (!in->force || read_vector(r, in->force, DIM_FORCE, &load->wrench.linear)) &&
	       (!in->moment || read_vector(r, in->moment, DIM_TORQUE, &load->wrench.angular));
}

static bool read_load(Reader *r, const Sections *s, const TreeNode *map, LoadEntry *load) {
	LoadInput in = {.start = -INFINITY, .end = INFINITY};
	if (!keys_read(r, map, &load_table, &in))
		return false;
	if (!in.joint == !in.node)
		return reader_fail(r, map, "a load acts on either a \"joint\" or a \"node\"; name one of the two");
	if (!(in.start < in.end))
		return reader_fail(r, map, "the load ends (%g s) before it starts (%g s)", in.end, in.start);
	load->start = in.start;
	load->end = in.end;
	return in.joint ? read_joint_load(r, map, &in, load) : read_node_load(r, s, map, &in, load);
}

bool native_read_loads(Reader *r, const Sections *s) {
	reader_subject(r, "loads", NULL);
	if (!s->loads)
		return true;
	if (!read_list(r, s->loads, "loads, e.g. - {joint: hinge, effort: 2 N*m}"))
		return false;
	r->file->loads = reader_array(r, (size_t)s->loads->count, sizeof *r->file->loads);
	if (!r->file->loads)
		return false;
	for (int i = 0; i < s->loads->count; i++) {
		if (!read_load(r, s, s->loads->items[i], &r->file->loads[i]))
			return false;
	}
	r->file->load_count = s->loads->count;
	return true;
}
