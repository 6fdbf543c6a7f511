// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_device.c — devices: each type has a table of keys that fill its definition (calder/devices.h).
 *
 * Definitions are checked where they are added to a simulation; here only what the file alone can tell: keys, units, names.
 * Quantities of a joint's dof have the unit that it asks for: the tables give the one for an angle.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/devices.h>

#include "base/error.h"
#include "io/model/model_file.h"

typedef struct SharedDef {
	const char *name, *library, *arguments, *place;
} SharedDef;

typedef struct DeviceInput {
	const Sections *sections;
	const JointRecord *joint; // that it acts on, once read
	bool dof_given;
	const TreeNode *pulses;            // of a thruster
	const TreeNode *shapes, *material; // of a contact
	union {
		CalSpringDef spring;
		CalBushingDef bushing;
		CalLimitDef limit;
		CalFrictionDef friction;
		CalServoDef servo;
		CalJointDriveDef joint_drive;
		CalWheelDef wheel;
		CalCmgDef gyro;
		CalThrusterDef thruster;
		CalSloshDef slosh;
		CalGravityDef gravity;
		CalTableLoadDef table_load;
		CalContactDef contact;
		CalExpressionLoadDef expression;
		SharedDef shared;
	} def;
	int dof;
} DeviceInput;

/* ---- values ------------------------------------------------------------------------------------- */

static void *field_of(DeviceInput *input, const Key *key) { return (char *)input + key->offset; }

static bool key_path(Reader *r, const TreeNode *value, const Key *key, void *target) {
	DeviceInput *in = target;
	const char *path;
	return read_text(r, value, &path) && model_file_find_node(r, in->sections, value, path, field_of(in, key));
}

static bool key_joint(Reader *r, const TreeNode *value, const Key *key, void *target) {
	DeviceInput *in = target;
	CalJointId *id = field_of(in, key);
	const char *name;
	if (!read_text(r, value, &name) || !model_file_find_joint(r, value, name, &in->joint))
		return false;
	*id = cal_desc_find_joint(r->file->desc, name);
	return true;
}

static bool key_dof(Reader *r, const TreeNode *value, const Key *key, void *target) {
	DeviceInput *in = target;
	(void)key;
	if (!in->joint)
		return reader_fail(r, value, "\"dof\" counts the degrees of freedom of a joint; name the \"joint\" too");
	in->dof_given =
		read_index(r, value, "dof", in->joint->shape.nu, "the degrees of freedom of joint", in->joint->name, &in->dof);
	return in->dof_given;
}

/* The unit that the dof of the joint asks for; false after reporting that it is not known which. */
static bool dimension_here(Reader *r, const TreeNode *value, const DeviceInput *in, Dimension angular, Dimension *out) {
	static const struct {
		Dimension angular, linear;
	} pairs[] = {{DIM_ANGLE, DIM_LENGTH}, {DIM_RATE, DIM_SPEED},
	             {DIM_TORQUE, DIM_FORCE}, {DIM_ANGULAR_STIFFNESS, DIM_STIFFNESS},
	             {DIM_INERTIA, DIM_MASS}, {DIM_ANGULAR_DAMPING, DIM_DAMPING}};
	*out = angular;
	if (!in->joint)
		return reader_fail(r, value, "it needs a \"joint\" to act on");
	if (in->joint->shape.nu != 1 && !in->dof_given)
		return reader_fail(r, value, "joint \"%.80s\" has %d degrees of freedom; say with \"dof\" which one, from 1",
		                   in->joint->name, in->joint->shape.nu);
	for (size_t i = 0; in->joint->shape.linear[in->dof] && i < sizeof pairs / sizeof pairs[0]; i++)
		*out = pairs[i].angular == angular ? pairs[i].linear : *out;
	return true;
}

static bool key_by_joint(Reader *r, const TreeNode *value, const Key *key, void *target) {
	Dimension dimension;
	return dimension_here(r, value, target, key->dimension, &dimension) &&
	       read_quantity(r, value, dimension, field_of(target, key));
}

static bool key_group(Reader *r, const TreeNode *value, const Key *key, void *target) {
	const char **name = field_of(target, key);
	if (!read_text(r, value, name))
		return false;
	return cal_desc_find_group(r->file->desc, *name).value ||
	       reader_fail(r, value, "there is no group \"%.80s\"", *name);
}

static bool key_frame(Reader *r, const TreeNode *value, const Key *key, void *target) {
	CalFrame *frame = field_of(target, key);
	const char *word;
	if (!read_text(r, value, &word))
		return false;
	if (strcmp(word, "world") != 0 && strcmp(word, "node") != 0)
		return reader_fail(r, value, "unknown frame \"%.40s\"; write world or node", word);
	*frame = strcmp(word, "node") == 0 ? CAL_FRAME_NODE : CAL_FRAME_WORLD;
	return true;
}

static bool key_table(Reader *r, const TreeNode *value, const Key *key, void *target) {
	return model_file_read_table(r, value, key->dimension, field_of(target, key));
}

static bool key_table_by_joint(Reader *r, const TreeNode *value, const Key *key, void *target) {
	Dimension dimension;
	return dimension_here(r, value, target, key->dimension, &dimension) &&
	       model_file_read_table(r, value, dimension, field_of(target, key));
}

static bool key_function_by_joint(Reader *r, const TreeNode *value, const Key *key, void *target) {
	Dimension dimension;
	return dimension_here(r, value, target, key->dimension, &dimension) &&
	       model_file_read_function(r, value, dimension, field_of(target, key));
}

/* Three tables, one for each component. */
static bool key_tables(Reader *r, const TreeNode *value, const Key *key, void *target) {
	CalTable *tables = field_of(target, key);
	if (value->kind != TREE_LIST || value->count != 3)
		return reader_fail(r, value, "expected a list of three tables, for x, y and z; write 0 for none");
	return model_file_read_table(r, value->items[0], key->dimension, &tables[0]) &&
	       model_file_read_table(r, value->items[1], key->dimension, &tables[1]) &&
	       model_file_read_table(r, value->items[2], key->dimension, &tables[2]);
}

static bool key_formula(Reader *r, const TreeNode *value, const Key *key, void *target) {
	return model_file_read_formula(r, value, field_of(target, key));
}

static bool key_formulas(Reader *r, const TreeNode *value, const Key *key, void *target) {
	const char **texts = field_of(target, key);
	if (value->kind != TREE_LIST || value->count != 3)
		return reader_fail(r, value, "expected a list of three formulas, for x, y and z; write 0 for none");
	return model_file_read_formula(r, value->items[0], &texts[0]) &&
	       model_file_read_formula(r, value->items[1], &texts[1]) &&
	       model_file_read_formula(r, value->items[2], &texts[2]);
}

/* ---- tables of keys ------------------------------------------------------------------------------- */

#define AT(member) offsetof(DeviceInput, def.member)
#define NAMED \
	{"name", key_ignore, 0, DIM_NUMBER, 0}, { "type", key_ignore, 0, DIM_NUMBER, KEY_REQUIRED }

static const Key spring_keys[] = {
	NAMED,
	{"from", key_path, AT(spring.a), DIM_NUMBER, 0},
	{"to", key_path, AT(spring.b), DIM_NUMBER, 0},
	{"stiffness", key_quantity, AT(spring.stiffness), DIM_STIFFNESS, 0},
	{"damping", key_quantity, AT(spring.damping), DIM_DAMPING, 0},
	{"length", key_quantity, AT(spring.length), DIM_LENGTH, 0},
	{"cable", key_flag, AT(spring.cable), DIM_NUMBER, 0},
	{"strut", key_flag, AT(spring.strut), DIM_NUMBER, 0},
};
const KeyTable spring_table = KEY_TABLE("spring", spring_keys);

static const Key bushing_keys[] = {
	NAMED,
	{"from", key_path, AT(bushing.a), DIM_NUMBER, 0},
	{"to", key_path, AT(bushing.b), DIM_NUMBER, 0},
	{"rest", key_placement, AT(bushing.rest), DIM_NUMBER, 0},
	{"stiffness", key_vector, AT(bushing.stiffness), DIM_STIFFNESS, 0},
	{"damping", key_vector, AT(bushing.damping), DIM_DAMPING, 0},
	{"angular_stiffness", key_vector, AT(bushing.angular_stiffness), DIM_ANGULAR_STIFFNESS, 0},
	{"angular_damping", key_vector, AT(bushing.angular_damping), DIM_ANGULAR_DAMPING, 0},
};
const KeyTable bushing_table = KEY_TABLE("bushing", bushing_keys);

static const Key limit_keys[] = {
	NAMED,
	{"joint", key_joint, AT(limit.joint), DIM_NUMBER, KEY_REQUIRED},
	{"dof", key_dof, 0, DIM_NUMBER, 0},
	{"lower", key_by_joint, AT(limit.lower), DIM_ANGLE, 0},
	{"upper", key_by_joint, AT(limit.upper), DIM_ANGLE, 0},
	{"stiffness", key_by_joint, AT(limit.stiffness), DIM_ANGULAR_STIFFNESS, KEY_REQUIRED},
	{"damping", key_by_joint, AT(limit.damping), DIM_ANGULAR_DAMPING, 0},
};
const KeyTable limit_table = KEY_TABLE("limit", limit_keys);

static const Key friction_keys[] = {
	NAMED,
	{"joint", key_joint, AT(friction.joint), DIM_NUMBER, KEY_REQUIRED},
	{"dof", key_dof, 0, DIM_NUMBER, 0},
	{"coulomb", key_by_joint, AT(friction.coulomb), DIM_TORQUE, KEY_REQUIRED},
	{"stiction", key_by_joint, AT(friction.stiction), DIM_TORQUE, 0},
	{"stribeck_speed", key_by_joint, AT(friction.stribeck_speed), DIM_RATE, 0},
	{"viscous", key_by_joint, AT(friction.viscous), DIM_ANGULAR_DAMPING, 0},
	{"smoothing_speed", key_by_joint, AT(friction.smoothing_speed), DIM_RATE, 0},
	{"bristle_stiffness", key_by_joint, AT(friction.bristle_stiffness), DIM_ANGULAR_STIFFNESS, 0},
	{"bristle_damping", key_by_joint, AT(friction.bristle_damping), DIM_ANGULAR_DAMPING, 0},
};
const KeyTable friction_table = KEY_TABLE("friction", friction_keys);

static const Key servo_keys[] = {
	NAMED,
	{"joint", key_joint, AT(servo.joint), DIM_NUMBER, KEY_REQUIRED},
	{"dof", key_dof, 0, DIM_NUMBER, 0},
	{"reference", key_table_by_joint, AT(servo.reference), DIM_ANGLE, 0},
	{"proportional", key_by_joint, AT(servo.proportional), DIM_ANGULAR_STIFFNESS, 0},
	{"integral", key_quantity, AT(servo.integral), DIM_NUMBER, 0},
	{"derivative", key_by_joint, AT(servo.derivative), DIM_ANGULAR_DAMPING, 0},
	{"inertia", key_by_joint, AT(servo.inertia), DIM_INERTIA, 0},
	{"effort_limit", key_by_joint, AT(servo.effort_limit), DIM_TORQUE, 0},
	{"stall_effort", key_by_joint, AT(servo.stall_effort), DIM_TORQUE, 0},
	{"free_speed", key_by_joint, AT(servo.free_speed), DIM_RATE, 0},
	{"sample_period", key_quantity, AT(servo.sample_period), DIM_TIME, 0},
	{"rotor_inertia", key_by_joint, AT(servo.rotor_inertia), DIM_INERTIA, 0},
	{"gear_stiffness", key_by_joint, AT(servo.gear_stiffness), DIM_ANGULAR_STIFFNESS, 0},
	{"gear_damping", key_by_joint, AT(servo.gear_damping), DIM_ANGULAR_DAMPING, 0},
	{"backlash", key_by_joint, AT(servo.backlash), DIM_ANGLE, 0},
	{"rotor_feedback", key_flag, AT(servo.rotor_feedback), DIM_NUMBER, 0},
};
const KeyTable servo_table = KEY_TABLE("servo", servo_keys);

static const Key joint_drive_keys[] = {
	NAMED,
	{"joint", key_joint, AT(joint_drive.joint), DIM_NUMBER, KEY_REQUIRED},
	{"dof", key_dof, 0, DIM_NUMBER, 0},
	{"q", key_function_by_joint, AT(joint_drive.q), DIM_ANGLE, KEY_REQUIRED},
};
const KeyTable joint_drive_table = KEY_TABLE("joint_drive", joint_drive_keys);

static const Key wheel_keys[] = {
	NAMED,
	{"node", key_path, AT(wheel.node), DIM_NUMBER, KEY_REQUIRED},
	{"axis", key_axis, AT(wheel.axis), DIM_NUMBER, 0},
	{"inertia", key_quantity, AT(wheel.inertia), DIM_INERTIA, KEY_REQUIRED},
	{"speed", key_quantity, AT(wheel.speed), DIM_RATE, 0},
	{"torque", key_table, AT(wheel.torque), DIM_TORQUE, 0},
	{"max_torque", key_quantity, AT(wheel.max_torque), DIM_TORQUE, 0},
	{"max_speed", key_quantity, AT(wheel.max_speed), DIM_RATE, 0},
	{"drag", key_quantity, AT(wheel.drag), DIM_ANGULAR_DAMPING, 0},
};
const KeyTable wheel_table = KEY_TABLE("wheel", wheel_keys);

static const Key gyro_keys[] = {
	NAMED,
	{"node", key_path, AT(gyro.node), DIM_NUMBER, KEY_REQUIRED},
	{"gimbal", key_axis, AT(gyro.gimbal), DIM_NUMBER, KEY_REQUIRED},
	{"spin", key_axis, AT(gyro.spin), DIM_NUMBER, KEY_REQUIRED},
	{"momentum", key_quantity, AT(gyro.momentum), DIM_NUMBER, KEY_REQUIRED},
	{"angle", key_quantity, AT(gyro.angle), DIM_ANGLE, 0},
	{"rate", key_table, AT(gyro.rate), DIM_RATE, 0},
};
const KeyTable gyro_table = KEY_TABLE("gyro", gyro_keys);

static const Key thruster_keys[] = {
	NAMED,
	{"node", key_path, AT(thruster.node), DIM_NUMBER, KEY_REQUIRED},
	{"direction", key_axis, AT(thruster.direction), DIM_NUMBER, 0},
	{"thrust", key_quantity, AT(thruster.thrust), DIM_FORCE, KEY_REQUIRED},
	{"throttle", key_table, AT(thruster.throttle), DIM_NUMBER, 0},
	{"pulses", key_node, offsetof(DeviceInput, pulses), DIM_TIME, 0},
};
const KeyTable thruster_table = KEY_TABLE("thruster", thruster_keys);

static const Key slosh_keys[] = {
	NAMED,
	{"node", key_path, AT(slosh.node), DIM_NUMBER, KEY_REQUIRED},
	{"mass", key_quantity, AT(slosh.mass), DIM_MASS, KEY_REQUIRED},
	{"stiffness", key_vector, AT(slosh.stiffness), DIM_STIFFNESS, KEY_REQUIRED},
	{"damping", key_vector, AT(slosh.damping), DIM_DAMPING, 0},
	{"position", key_vector, AT(slosh.position), DIM_LENGTH, 0},
	{"velocity", key_vector, AT(slosh.velocity), DIM_SPEED, 0},
};
const KeyTable slosh_table = KEY_TABLE("slosh", slosh_keys);

static const Key gravity_keys[] = {
	NAMED,
	{"group", key_group, AT(gravity.group), DIM_NUMBER, 0},
	{"mu", key_quantity, AT(gravity.mu), DIM_NUMBER, KEY_REQUIRED},
	{"radius", key_quantity, AT(gravity.radius), DIM_LENGTH, 0},
	{"j2", key_quantity, AT(gravity.j2), DIM_NUMBER, 0},
	{"pole", key_axis, AT(gravity.pole), DIM_NUMBER, 0},
	{"orbit", key_flag, AT(gravity.orbit), DIM_NUMBER, 0},
	{"position", key_vector, AT(gravity.position), DIM_LENGTH, KEY_REQUIRED},
	{"velocity", key_vector, AT(gravity.velocity), DIM_SPEED, 0},
};
const KeyTable gravity_table = KEY_TABLE("gravity", gravity_keys);

static const Key table_load_keys[] = {
	NAMED,
	{"joint", key_joint, AT(table_load.joint), DIM_NUMBER, 0},
	{"dof", key_dof, 0, DIM_NUMBER, 0},
	{"effort", key_table_by_joint, AT(table_load.effort), DIM_TORQUE, 0},
	{"node", key_path, AT(table_load.node), DIM_NUMBER, 0},
	{"frame", key_frame, AT(table_load.frame), DIM_NUMBER, 0},
	{"force", key_tables, AT(table_load.force), DIM_FORCE, 0},
	{"moment", key_tables, AT(table_load.moment), DIM_TORQUE, 0},
};
const KeyTable table_load_table = KEY_TABLE("table_load", table_load_keys);

static const Key expression_keys[] = {
	NAMED,
	{"joint", key_joint, AT(expression.joint), DIM_NUMBER, 0},
	{"dof", key_dof, 0, DIM_NUMBER, 0},
	{"effort", key_formula, AT(expression.effort), DIM_NUMBER, 0},
	{"node", key_path, AT(expression.node), DIM_NUMBER, 0},
	{"frame", key_frame, AT(expression.frame), DIM_NUMBER, 0},
	{"force", key_formulas, AT(expression.force), DIM_NUMBER, 0},
	{"moment", key_formulas, AT(expression.moment), DIM_NUMBER, 0},
};
const KeyTable expression_table = KEY_TABLE("expression", expression_keys);

static const Key shared_keys[] = {
	NAMED,
	{"library", key_text, AT(shared.library), DIM_NUMBER, KEY_REQUIRED},
	{"arguments", key_text, AT(shared.arguments), DIM_NUMBER, 0},
};
const KeyTable shared_table = KEY_TABLE("shared", shared_keys);

static const Key contact_keys[] = {
	NAMED,
	{"shapes", key_node, offsetof(DeviceInput, shapes), DIM_NUMBER, KEY_REQUIRED},
	{"material", key_node, offsetof(DeviceInput, material), DIM_NUMBER, 0},
};
const KeyTable contact_table = KEY_TABLE("contact", contact_keys);

/* ---- types ------------------------------------------------------------------------------------------ */

#define ADDER(word, call) \
	static CalStatus add_##word(CalSim *sim, const void *def, CalError *error) { return call(sim, def, NULL, error); }
ADDER(spring, cal_sim_add_spring)
ADDER(bushing, cal_sim_add_bushing)
ADDER(limit, cal_sim_add_limit)
ADDER(friction, cal_sim_add_friction)
ADDER(servo, cal_sim_add_servo)
ADDER(joint_drive, cal_sim_add_joint_drive)
ADDER(wheel, cal_sim_add_wheel)
ADDER(gyro, cal_sim_add_cmg)
ADDER(thruster, cal_sim_add_thruster)
ADDER(slosh, cal_sim_add_slosh)
ADDER(gravity, cal_sim_add_gravity)
ADDER(table_load, cal_sim_add_table_load)
ADDER(contact, cal_sim_add_contact)
ADDER(expression, cal_sim_add_expression_load)
#undef ADDER

static CalStatus add_shared(CalSim *sim, const void *def, CalError *error) {
	const SharedDef *shared = def;
	CalError own = {0};
	const CalStatus status =
		cal_sim_load_device(sim, shared->name, shared->library, shared->arguments ? shared->arguments : "", NULL, &own);
	return status == CAL_OK ? status : error_set(error, status, "%s: %s", shared->place, own.text);
}

/* Where name, place and dof of a definition lie; dof -1: it has none. */
#define TYPE(word) #word, &word##_table, add_##word, AT(word.name), AT(word.place)
#define NO_DOF ((size_t)-1)

struct DeviceType {
	const char *word;
	const KeyTable *table;
	CalStatus (*add)(CalSim *sim, const void *def, CalError *error);
	size_t name, place, dof;
};

static const DeviceType types[] = {
	{TYPE(spring), NO_DOF},       {TYPE(bushing), NO_DOF},
	{TYPE(limit), AT(limit.dof)}, {TYPE(friction), AT(friction.dof)},
	{TYPE(servo), AT(servo.dof)}, {TYPE(joint_drive), AT(joint_drive.dof)},
	{TYPE(wheel), NO_DOF},        {TYPE(gyro), NO_DOF},
	{TYPE(thruster), NO_DOF},     {TYPE(slosh), NO_DOF},
	{TYPE(gravity), NO_DOF},      {TYPE(table_load), AT(table_load.dof)},
	{TYPE(contact), NO_DOF},      {TYPE(expression), AT(expression.dof)},
	{TYPE(shared), NO_DOF},
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

const char *cal_file_device_type(int index) { return index >= 0 && index < TYPE_COUNT ? types[index].word : NULL; }

static const DeviceType *find_type(Reader *r, const Item *item) {
	const TreeNode *node = tree_get(item->value, "type");
	Suggestion suggestion = {0};
	char words[200] = "";
	if (item->value->kind != TREE_MAP || !node) {
		reader_fail(r, item->value, "the key \"type\" is missing (see \"device\" in docs/format.md)");
		return NULL;
	}
	if (!read_text(r, node, &suggestion.word))
		return NULL;
	for (int i = 0; i < TYPE_COUNT; i++) {
		if (strcmp(types[i].word, suggestion.word) == 0)
			return &types[i];
		const size_t used = strlen(words);
		suggestion_offer(&suggestion, types[i].word);
		snprintf(words + used, sizeof words - used, "%s%s", i ? ", " : "", types[i].word);
	}
	reader_unknown_of(r, node, "type of device", &suggestion, words);
	return NULL;
}

/* ---- the section -------------------------------------------------------------------------------------- */

/* [start, end] of each time that a thruster fires: a table of steps that begins with zero. */
static bool read_pulses(Reader *r, const TreeNode *node, CalTable *table) {
	if (!read_list(r, node, "pulses, each [start, end]"))
		return false;
	double *time = reader_array(r, 2 * (size_t)node->count + 1, sizeof *time);
	double *value = reader_array(r, 2 * (size_t)node->count + 1, sizeof *value);
	if (!time || !value)
		return false;
	time[0] = -1e30;
	value[0] = 0;
	for (int i = 0; i < node->count; i++) {
		const TreeNode *pulse = node->items[i];
		if (pulse->kind != TREE_LIST || pulse->count != 2)
			return reader_fail(r, pulse, "expected a pulse as a list of two times, [start, end]");
		if (!read_quantity(r, pulse->items[0], DIM_TIME, &time[2 * i + 1]) ||
		    !read_quantity(r, pulse->items[1], DIM_TIME, &time[2 * i + 2]))
			return false;
		value[2 * i + 1] = 1;
		value[2 * i + 2] = 0;
	}
	*table = (CalTable){CAL_TABLE_STEP, 2 * node->count + 1, time, value};
	return true;
}

/* The library lies beside the file. Without a slash the loader would look for it in the system's folders. */
const char *model_file_library_path(Reader *r, const TreeNode *node, const char *name) {
	char path[1024];
	if (!reader_path(r, node, NULL, name, path, sizeof path))
		return NULL;
	return reader_text(r, "%s%s", strchr(path, '/') ? "" : "./", path);
}

static DeviceInput defaults(const DeviceType *type, const Sections *s) {
	DeviceInput in = {.sections = s};
	if (type->table == &limit_table) {
		in.def.limit.lower = -INFINITY;
		in.def.limit.upper = INFINITY;
	}
	if (type->table == &servo_table)
		in.def.servo.reference.shape = CAL_TABLE_SMOOTH;
	if (type->table == &joint_drive_table)
		in.def.joint_drive.q.table.shape = CAL_TABLE_SMOOTH;
	if (type->table == &wheel_table)
		in.def.wheel.torque.shape = CAL_TABLE_LINEAR;
	if (type->table == &gyro_table)
		in.def.gyro.rate.shape = CAL_TABLE_LINEAR;
	if (type->table == &table_load_table) {
		in.def.table_load.effort.shape = CAL_TABLE_LINEAR;
		for (int i = 0; i < 3; i++)
			in.def.table_load.force[i].shape = in.def.table_load.moment[i].shape = CAL_TABLE_LINEAR;
	}
	return in;
}

static bool read_device(Reader *r, const Sections *s, const Item *item, DeviceEntry *entry) {
	char place[256];
	reader_subject(r, "device", item->name);
	const DeviceType *type = find_type(r, item);
	if (!type)
		return false;
	DeviceInput in = defaults(type, s);
	if (!keys_read(r, item->value, type->table, &in))
		return false;
	if (in.pulses && tree_get(item->value, "throttle"))
		return reader_fail(r, in.pulses, "give \"throttle\" or \"pulses\", not both");
	if (in.pulses && !read_pulses(r, in.pulses, &in.def.thruster.throttle))
		return false;
	if (type->table == &shared_table &&
	    !(in.def.shared.library = model_file_library_path(r, tree_get(item->value, "library"), in.def.shared.library)))
		return false;
	if (in.shapes && !model_file_read_contact(r, s, item, in.shapes, in.material, &in.def.contact))
		return false;
	DeviceInput *kept = reader_array(r, 1, sizeof *kept);
	tree_place(r->file->tree, item->place, place, sizeof place);
	char *where = reader_array(r, strlen(place) + 1, 1);
	if (!kept || !where)
		return false;
	memcpy(where, place, strlen(place) + 1);
	*kept = in;
	*(const char **)(void *)((char *)kept + type->name) = item->name;
	*(const char **)(void *)((char *)kept + type->place) = where;
	if (type->dof != NO_DOF)
		*(int *)(void *)((char *)kept + type->dof) = in.dof;
	*entry = (DeviceEntry){type, &kept->def};
	return true;
}

bool model_file_read_devices(Reader *r, const Sections *s) {
	reader_subject(r, "devices", NULL);
	const int count = items_count(r, s->devices, "devices");
	if (count <= 0)
		return count == 0;
	r->file->devices = reader_array(r, (size_t)count, sizeof *r->file->devices);
	if (!r->file->devices)
		return false;
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, s->devices, i, "device", &item) || !read_device(r, s, &item, &r->file->devices[i]))
			return false;
		reader_subject(r, "devices", NULL);
	}
	r->file->device_count = count;
	return true;
}

int cal_file_device_count(const CalFile *file) { return file ? file->device_count : 0; }

CalStatus cal_file_add_devices(const CalFile *file, CalSim *sim, CalError *error) {
	if (!file || !sim)
		return tree_error(error, "cal_file_add_devices", NULL, CAL_ERR_ARGUMENT, "file or simulation is NULL");
	CalStatus status = CAL_OK;
	if (file->device_count == 0)
		return model_file_add_boxes(file, sim, error);
	cal_sim_begin_adding(sim);
	for (int i = 0; i < file->device_count && status == CAL_OK; i++)
		status = file->devices[i].type->add(sim, file->devices[i].def, error);
	const CalStatus bound = cal_sim_end_adding(sim);
	if (status == CAL_OK && bound != CAL_OK)
		status = tree_error(error, tree_name(file->tree), NULL, bound, "devices: %s", cal_status_text(bound));
	return status == CAL_OK ? model_file_add_boxes(file, sim, error) : status;
}
