// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_joint_device.c — keys of a joint that are devices: stops (`limits`), `friction`, and `effort_limit`, which limits the servos,
 * controllers and actuators of the joint that have no limit of their own. They are devices "JOINT_limits" and "JOINT_friction",
 * of joints with several degrees of freedom "JOINT_limits2" and so on.
 */
#include <math.h>
#include <string.h>

#include <calder/devices.h>

#include "device/device_type.h"
#include "io/model/model_file.h"

#define AT(member) offsetof(CalLimitDef, member)
static const Field limit_keys[] = {
	{"lower", FIELD_NUMBER, AT(lower), DIM_ANGLE, .flags = FIELD_BY_DOF, .doc = "default none"},
	{"upper", FIELD_NUMBER, AT(upper), DIM_ANGLE, .flags = FIELD_BY_DOF, .doc = "default none"},
	{"stiffness", FIELD_POSITIVE, AT(stiffness), DIM_ANGULAR_STIFFNESS, .flags = FIELD_REQUIRED | FIELD_BY_DOF,
     .doc = "of the stops"},
	{"damping", FIELD_NOT_NEGATIVE, AT(damping), DIM_ANGULAR_DAMPING, .flags = FIELD_BY_DOF, .doc = "default 0"},
};
#undef AT
const FieldTable joint_limits_table = {FIELDS("joint_limits", limit_keys),
                                       .doc = "Stops of a degree of freedom, as a device [limit](#limit)."};

#define AT(member) offsetof(CalFrictionDef, member)
static const Field friction_keys[] = {
	{"coulomb", FIELD_POSITIVE, AT(coulomb), DIM_TORQUE, .flags = FIELD_REQUIRED | FIELD_BY_DOF,
     .doc = "sliding friction"},
	{"stiction", FIELD_POSITIVE, AT(stiction), DIM_TORQUE, .flags = FIELD_BY_DOF,
     .doc = "breakaway friction; default as `coulomb`"},
	{"stribeck_speed", FIELD_POSITIVE, AT(stribeck_speed), DIM_RATE, .flags = FIELD_BY_DOF, .doc = "Stribeck velocity"},
	{"viscous", FIELD_NOT_NEGATIVE, AT(viscous), DIM_ANGULAR_DAMPING, .flags = FIELD_BY_DOF,
     .doc = "friction per speed; default 0"},
	{"smoothing_speed", FIELD_POSITIVE, AT(smoothing_speed), DIM_RATE, .flags = FIELD_BY_DOF,
     .doc = "below it friction falls to zero"},
	{"bristle_stiffness", FIELD_POSITIVE, AT(bristle_stiffness), DIM_ANGULAR_STIFFNESS, .flags = FIELD_BY_DOF,
     .doc = "LuGre, with one state"},
	{"bristle_damping", FIELD_NOT_NEGATIVE, AT(bristle_damping), DIM_ANGULAR_DAMPING, .flags = FIELD_BY_DOF,
     .doc = "default 0"},
};
#undef AT
const FieldTable joint_friction_table = {FIELDS("joint_friction", friction_keys),
                                         .doc = "Friction of a degree of freedom, as a device [friction](#friction)."};

bool model_file_has_joint_devices(const TreeNode *root) {
	const TreeNode *joints = tree_get(root, "joints");
	for (int i = 0; joints && !tree_is_null(joints) && i < joints->count; i++) {
		const TreeNode *joint = joints->items[i];
		if (tree_get(joint, "limits") || tree_get(joint, "friction") || tree_get(joint, "effort_limit"))
			return true;
	}
	return false;
}

/* The device of one degree of freedom: `def`, of a type with the members joint and dof. */
static bool add_device(Reader *r, const Item *item, const DeviceType *type, const char *key, const FieldTable *table,
                       const TreeNode *map, char *def) {
	char place[256];
	const bool several = r->joint->shape.nu > 1;
	if (!fields_read(r, map, table, def) || !model_file_check_stops(r, map, type, def))
		return false;
	const char *name =
		several ? reader_text(r, "%s_%s%d", item->name, key, r->dof + 1) : reader_text(r, "%s_%s", item->name, key);
	if (!name)
		return false;
	*(CalJointId *)(void *)(def + field_find(&type->table, "joint")->offset) =
		cal_desc_find_joint(r->file->desc, item->name);
	*(int *)(void *)(def + field_find(&type->table, "dof")->offset) = r->dof;
	*(const char **)(void *)(def + type->name) = name;
	*(const char **)(void *)(def + type->place) = tree_place(r->file->tree, map, place, sizeof place);
	return reader_added(r, map, cal_setup_add_device(r->file->setup, type->table.what, def, r->error));
}

bool model_file_check_stops(Reader *r, const TreeNode *map, const DeviceType *type, const void *def) {
	if (strcmp(type->table.what, "limit") != 0)
		return true;
	const CalLimitDef *limit = def;
	return limit->lower > -INFINITY || limit->upper < INFINITY ||
	       reader_warn(r, map, "there is neither \"lower\" nor \"upper\": nothing stops");
}

/* One map, or a list in the order of the speeds, in which null is nothing. */
static bool read_key(Reader *r, const Item *item, const char *key, const char *word, const FieldTable *table) {
	const DeviceType *type = device_type_find(word);
	const TreeNode *node = tree_get(item->value, key);
	if (!node || tree_is_null(node))
		return true;
	const int given = node->kind == TREE_LIST ? node->count : 1;
	if (given != r->joint->shape.nu)
		return reader_fail(r, node, "this joint has %d degree%s of freedom, but \"%s\" describes %d",
		                   r->joint->shape.nu, r->joint->shape.nu == 1 ? "" : "s", key, given);
	for (r->dof = 0; r->dof < given; r->dof++) {
		const TreeNode *map = node->kind == TREE_LIST ? node->items[r->dof] : node;
		char *def = reader_array(r, 1, type->size);
		if (!def)
			return false;
		if (type->start)
			memcpy(def, type->start, type->size);
		if (!tree_is_null(map) && !add_device(r, item, type, key, table, map, def))
			return false;
	}
	return true;
}

bool model_file_read_joint_devices(Reader *r, const Sections *s) {
	const int count = items_count(r, s->joints, "joints");
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, s->joints, i, "joint", &item))
			return false;
		reader_subject(r, "joint", item.name);
		r->joint = &r->file->joints[cal_desc_find_joint(r->file->desc, item.name).value - 1];
		r->body = (CalBodyId){0};
		if (!read_key(r, &item, "limits", "limit", &joint_limits_table) ||
		    !read_key(r, &item, "friction", "friction", &joint_friction_table))
			return false;
	}
	r->joint = NULL;
	r->dof = -1;
	return count >= 0;
}

/* ---- limits of efforts ---------------------------------------------------------------------------------------- */

/* The number in the field of a definition; NULL: it was given. */
static double *open_number(const DeviceType *type, const TreeNode *map, const char *name, char *def) {
	const Field *field = field_find(&type->table, name);
	return field && !field_value(map, field) ? (double *)(void *)(def + field->offset) : NULL;
}

void model_file_limit_effort(const Reader *r, const TreeNode *map, const DeviceType *type, void *def) {
	static const char *const limited[] = {"servo", "pid", "actuator"};
	const double most = r->joint ? r->joint->effort_limit : 0;
	bool is_limited = false;
	for (int i = 0; i < 3; i++)
		is_limited |= strcmp(type->table.what, limited[i]) == 0;
	if (!is_limited || !(most > 0))
		return;
	double *effort = open_number(type, map, "effort_limit", def);
	double *lower = open_number(type, map, "lower", def), *upper = open_number(type, map, "upper", def);
	const Field *gear = field_find(&type->table, "gear");
	const double ratio =
		gear && field_value(map, gear) ? fabs(*(const double *)(const void *)((char *)def + gear->offset)) : 1;
	if (effort)
		*effort = most;
	if (lower)
		*lower = -most / (ratio > 0 ? ratio : 1);
	if (upper)
		*upper = most / (ratio > 0 ? ratio : 1);
	r->file->joints[r->joint - r->file->joints].effort_taken |= effort || lower || upper;
}

bool model_file_check_efforts(Reader *r, const Sections *s) {
	const int count = items_count(r, s->joints, "joints");
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, s->joints, i, "joint", &item))
			return false;
		const JointRecord *joint = &r->file->joints[cal_desc_find_joint(r->file->desc, item.name).value - 1];
		reader_subject(r, "joint", item.name);
		if (joint->effort_limit > 0 && !joint->effort_taken &&
		    !reader_warn(
				r, tree_get(item.value, "effort_limit"),
				"\"effort_limit\" limits nothing: no servo, pid or actuator without a limit of its own acts on this joint"))
			return false;
	}
	return count >= 0;
}
