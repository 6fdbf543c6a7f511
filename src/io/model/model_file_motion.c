// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_motion.c — motions: groups that move as given, joint by joint, by tables or formulas of the time.
 */
#include <string.h>

#include "io/model/model_file.h"

typedef struct MotionInput {
	const TreeNode *q, *at, *angle;
	CalVec3 axis;
} MotionInput;

static const Field motion_keys[] = {
	{"q", FIELD_FUNCTION, offsetof(MotionInput, q), .flags = FIELD_AS_TREE,
     .doc = "of the coordinate; of a joint with several a list of functions. Not for free joints"},
	{"at", FIELD_FUNCTIONS, offsetof(MotionInput, at), DIM_LENGTH, .flags = FIELD_AS_TREE, .doc = "of a free joint"},
	{"axis", FIELD_AXIS, offsetof(MotionInput, axis),
     .doc = "of a free or spherical joint, in the inboard frame; default `z`"},
	{"angle", FIELD_FUNCTION, offsetof(MotionInput, angle), DIM_ANGLE, .flags = FIELD_AS_TREE,
     .doc = "how far it has turned about the axis from the orientation in `state`"},
};
const FieldTable motion_table = {FIELDS("motion", motion_keys),
                                 .doc = "How one joint of a group moves as a function of time."};

static CalTimeFunction none(void) { return (CalTimeFunction){.table.shape = CAL_TABLE_SMOOTH}; }

static bool read_angle(Reader *r, const MotionInput *in, const JointRecord *joint, CalJointMotion *out) {
	if (!memchr(joint->shape.coordinate, 'Q', (size_t)joint->shape.nq))
		return reader_fail(r, in->angle, "\"angle\" is for free and spherical joints; give \"q\"");
	return model_file_read_function(r, in->angle, DIM_ANGLE, &out->angle);
}

/* Functions of the coordinates outside a quaternion, one for each; a table of points is a list of lists. */
static bool read_coordinates(Reader *r, const TreeNode *node, const char *key, const JointRecord *joint,
                             CalJointMotion *out) {
	const JointShape *shape = &joint->shape;
	int own = 0, speed = 0, item = 0;
	for (int i = 0; i < shape->nq; i++)
		own += shape->coordinate[i] != 'Q';
	if (own == 0)
		return reader_fail(r, node, "a %s joint has no \"%s\"; give \"axis\" and \"angle\"",
		                   cal_joint_type_name(joint->type), key);
	if (own > 1 && (node->kind != TREE_LIST || node->count != own))
		return reader_fail(r, node,
		                   "\"%s\" of this joint takes %d functions in a list, in the order of its degrees of freedom",
		                   key, own);
	for (int i = 0; i < shape->nq; i += shape->coordinate[i] == 'Q' ? 4 : 1) {
		if (shape->coordinate[i] == 'Q') {
			speed += 3;
			continue;
		}
		const TreeNode *value = own > 1 ? node->items[item++] : node;
		if (!model_file_read_function(r, value, shape->coordinate[i] == 'A' ? DIM_ANGLE : DIM_LENGTH, &out->q[speed++]))
			return false;
	}
	return true;
}

static bool read_joint(Reader *r, const TreeNode *key, const TreeNode *map, CalJointMotion *out) {
	const JointRecord *joint;
	MotionInput in = {0};
	*out = (CalJointMotion){.angle = none()};
	for (int k = 0; k < CAL_JOINT_MAX_DOF; k++)
		out->q[k] = none();
	if (!model_file_find_joint(r, key, key->text, &joint))
		return false;
	reader_subject(r, "motion of joint", joint->name);
	if (!fields_read(r, map, &motion_table, &in))
		return false;
	out->joint = cal_desc_find_joint(r->file->desc, joint->name);
	out->axis = in.axis;
	if (in.q && joint->type == CAL_JOINT_FREE)
		return reader_fail(r, in.q, "a free joint moves by \"at\", \"axis\" and \"angle\"");
	if (in.at && joint->type != CAL_JOINT_FREE)
		return reader_fail(r, in.at, "\"at\" is for free joints; give \"q\"");
	if (tree_get(map, "axis") && !in.angle)
		return reader_fail(r, tree_get(map, "axis"), "\"axis\" needs an \"angle\" about it");
	return (!in.q || read_coordinates(r, in.q, "q", joint, out)) &&
	       (!in.at || read_coordinates(r, in.at, "at", joint, out)) && (!in.angle || read_angle(r, &in, joint, out));
}

/* The joint belongs to the group that is moved. */
static bool check_group(Reader *r, const TreeNode *key, const char *group) {
	const JointRecord *joint;
	if (!model_file_find_joint(r, key, key->text, &joint))
		return false;
	const char *own = cal_desc_group(r->file->desc, cal_desc_body(r->file->desc, joint->body)->group)->name;
	return strcmp(own, group) == 0 ||
	       reader_fail(r, key, "joint \"%.80s\" is in group \"%.80s\", not in this one", joint->name, own);
}

static bool read_motion(Reader *r, const TreeNode *key, const TreeNode *map) {
	char place[256];
	reader_subject(r, "motion of group", key->text);
	if (!cal_desc_find_group(r->file->desc, key->text).value)
		return reader_fail(r, key, "there is no group \"%.80s\"", key->text);
	if (!tree_is_null(map) && map->kind != TREE_MAP)
		return reader_fail(r, map, "expected a map by names of joints, e.g. hinge: {q: 5 deg * sin(2*t)}");
	const int count = tree_is_null(map) ? 0 : map->count;
	CalJointMotion *joints = reader_array(r, (size_t)count, sizeof *joints);
	const char *name = reader_text(r, "motion of %s", key->text);
	if (!joints || !name)
		return false;
	for (int i = 0; i < count; i++) {
		reader_subject(r, "motion of group", key->text);
		if (!check_group(r, tree_key(map, i), key->text) || !read_joint(r, tree_key(map, i), map->items[i], &joints[i]))
			return false;
	}
	const CalMotionDef def = {.name = name,
	                          .group = key->text,
	                          .joints = joints,
	                          .joint_count = count,
	                          .place = tree_place(r->file->tree, key, place, sizeof place)};
	return reader_added(r, key, cal_setup_add_motion(r->file->setup, &def, r->error));
}

/* The motions of one section; a group is named once. */
static bool read_section(Reader *r, const TreeNode *section) {
	reader_subject(r, "group_motions", NULL);
	if (!section)
		return true;
	if (section->kind != TREE_MAP)
		return reader_fail(r, section, "expected a map by names of groups");
	for (int i = 0; i < section->count; i++) {
		CalMotionDef known;
		for (int k = 0; cal_setup_motion(r->file->setup, k, &known) == CAL_OK; k++)
			if (strcmp(known.group, tree_key(section, i)->text) == 0)
				return reader_fail(r, tree_key(section, i), "the motion of group \"%.80s\" is given twice",
				                   tree_key(section, i)->text);
		if (!read_motion(r, tree_key(section, i), section->items[i]))
			return false;
	}
	return true;
}

bool model_file_read_motions(Reader *r, const Sections *s) {
	return read_section(r, s->motions) && read_section(r, s->old_motions);
}
