// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_joint.c — joints: type, the two nodes, axes, elements, placements, properties of the dofs.
 */
#include <stdio.h>
#include <string.h>

#include "io/model/model_file.h"

/* What a type is; the types of this file are all in the list. */
static CalJointTypeInfo info_of(CalJointType type) {
	CalJointTypeInfo info = {0};
	cal_joint_type_info(type, &info);
	return info;
}

/* Coordinates and speeds of a joint. False: more than a joint can have. */
static bool shape_of(const CalJointDef *def, JointShape *shape) {
	static const char letters[] = {
		[CAL_COORDINATE_ANGLE] = 'A', [CAL_COORDINATE_LENGTH] = 'L', [CAL_COORDINATE_QUATERNION] = 'Q'};
	CalCoordinateInfo info;
	const int nq = cal_joint_coordinate_count(def), nu = cal_joint_speed_count(def);
	if (nq > CAL_JOINT_MAX_COORDS || nu > CAL_JOINT_MAX_DOF)
		return false;
	*shape = (JointShape){.nq = nq, .nu = nu};
	for (int i = 0; i < nq; i++) {
		cal_joint_coordinate(def, i, &info);
		shape->coordinate[i] = letters[info.kind];
	}
	for (int i = 0; i < nu; i++) {
		cal_joint_speed(def, i, &info);
		shape->linear[i] = info.kind == CAL_COORDINATE_LENGTH;
	}
	return true;
}

/* ---- types ---------------------------------------------------------------------------------- */

/* A name of the list. Types of C functions have none in files; an element is of an elementary type. */
static bool find_type(Reader *r, const TreeNode *node, const char *what, bool elementary, CalJointType *type) {
	Suggestion suggestion = {0};
	char words[300] = "";
	if (!read_text(r, node, &suggestion.word))
		return false;
	for (int i = 0; i < CAL_JOINT_TYPE_COUNT; i++) {
		const char *name = cal_joint_type_name((CalJointType)i);
		const CalJointTypeInfo info = info_of((CalJointType)i);
		if (elementary && !info.elementary)
			continue;
		if (strcmp(name, suggestion.word) == 0) {
			*type = (CalJointType)i;
			return true;
		}
		if (info.uses & CAL_JOINT_USES_OPS)
			continue;
		const size_t used = strlen(words);
		suggestion_offer(&suggestion, name);
		snprintf(words + used, sizeof words - used, "%s%s", used ? ", " : "", name);
	}
	return reader_unknown_of(r, node, what, &suggestion, words);
}

const char *model_file_joint_word(int i) {
	i += i >= CAL_JOINT_USER; // files cannot hold it
	return i < CAL_JOINT_TYPE_COUNT ? cal_joint_type_name((CalJointType)i) : NULL;
}

bool key_joint_type(Reader *r, const TreeNode *value, const Field *key, void *target) {
	CalJointType *type = (CalJointType *)(void *)((char *)target + key->offset);
	if (!find_type(r, value, "type of joint", false, type))
		return false;
	if (info_of(*type).uses & CAL_JOINT_USES_OPS)
		return reader_fail(r, value, "a joint of type %s is made of C functions; build it through the library",
		                   cal_joint_type_name(*type));
	return true;
}

static bool key_element_type(Reader *r, const TreeNode *value, const Field *key, void *target) {
	return find_type(r, value, "type of element", true, (CalJointType *)(void *)((char *)target + key->offset));
}

/* ---- elements ------------------------------------------------------------------------------- */

static const Field element_keys[] = {
	{"type", FIELD_CHOICE, offsetof(CalElement, type), .flags = FIELD_REQUIRED, .doc = "type of the motion",
     .words = FIELD_WORDS("revolute", "prismatic", "screw", "spherical"), .read = key_element_type},
	{"axis", FIELD_AXIS, offsetof(CalElement, axis), .doc = "default `z`"},
	{"pitch", FIELD_NUMBER, offsetof(CalElement, pitch), DIM_PITCH, .doc = "screw, required there"},
};
const FieldTable element_table = {FIELDS("element", element_keys),
                                  .doc = "One step of a sequence; it acts in the frame left by the one before."};

static bool read_elements(Reader *r, const TreeNode *node, CalJointDef *def) {
	JointShape shape;
	if (!read_list(r, node, "elements, e.g. [{type: revolute, axis: z}, {type: revolute, axis: x}]"))
		return false;
	if (node->count > CAL_JOINT_MAX_ELEMENTS)
		return reader_fail(r, node, "a sequence has at most %d elements", CAL_JOINT_MAX_ELEMENTS);
	for (int i = 0; i < node->count; i++) {
		CalElement *element = &def->elements[i];
		*element = (CalElement){.axis = {0, 0, 1}};
		if (!fields_read(r, node->items[i], &element_table, element))
			return false;
		if (!(info_of(element->type).uses & CAL_JOINT_USES_PITCH) != !tree_get(node->items[i], "pitch"))
			return reader_fail(r, node->items[i], "\"pitch\" belongs to a screw element, and a screw needs it");
		def->element_count = i + 1;
		if (!shape_of(def, &shape))
			return reader_fail(r, node->items[i], "the sequence has more than %d degrees of freedom",
			                   CAL_JOINT_MAX_DOF);
	}
	return true;
}

/* ---- dofs ------------------------------------------------------------------------------- */

typedef struct DofInput {
	CalDofDef def;
	bool linear;
} DofInput;

/* The tables name the angular dimension; a dof along an axis has its linear counterpart. */
static bool key_dof(Reader *r, const TreeNode *value, const Field *key, void *target) {
	const DofInput *input = target;
	Field actual = *key;
	actual.flags &= ~(unsigned)FIELD_BY_DOF;
	if (input->linear)
		actual.dimension = dimension_of_sliding(key->dimension);
	return field_read(r, value, &actual, target);
}

static const Field dof_keys[] = {
	{"stiffness", FIELD_NOT_NEGATIVE, offsetof(DofInput, def.stiffness), DIM_ANGULAR_STIFFNESS, .flags = FIELD_BY_DOF,
     .doc = "force -stiffness (q - rest)", .read = key_dof},
	{"rest", FIELD_NUMBER, offsetof(DofInput, def.rest), DIM_ANGLE, .flags = FIELD_BY_DOF,
     .doc = "position at which the spring is slack; default 0", .read = key_dof},
	{"damping", FIELD_NOT_NEGATIVE, offsetof(DofInput, def.damping), DIM_ANGULAR_DAMPING, .flags = FIELD_BY_DOF,
     .doc = "force -damping u", .read = key_dof},
	{"rotor_inertia", FIELD_NOT_NEGATIVE, offsetof(DofInput, def.rotor_inertia), DIM_INERTIA, .flags = FIELD_BY_DOF,
     .doc = "of the motor's rotor about its own axis; default none", .read = key_dof},
	{"gear_ratio", FIELD_NUMBER, offsetof(DofInput, def.gear_ratio), .doc = "rotor speed over joint speed; default 1"},
	{"prescribed", FIELD_FLAG, offsetof(DofInput, def.prescribed),
     .doc = "the acceleration is given (zero unless a load says otherwise) and the force is a result"},
};
const FieldTable dof_table = {FIELDS("dof", dof_keys), .doc = "Properties of one degree of freedom."};

static bool read_dofs(Reader *r, const TreeNode *node, CalJointDef *def, const JointShape *shape) {
	const int given = node->kind == TREE_LIST ? node->count : 1;
	if (given != shape->nu || shape->nu == 0)
		return reader_fail(r, node, "this %s joint has %d degree%s of freedom, but \"dof\" describes %d",
		                   cal_joint_type_name(def->type), shape->nu, shape->nu == 1 ? "" : "s", given);
	for (int i = 0; i < given; i++) {
		const TreeNode *item = node->kind == TREE_LIST ? node->items[i] : node;
		DofInput input = {.def = def->dof[i], .linear = shape->linear[i]};
		if (!tree_is_null(item) && !fields_read(r, item, &dof_table, &input))
			return false;
		def->dof[i] = input.def;
	}
	return true;
}

/* ---- joints --------------------------------------------------------------------------------- */

/* The key `type` has been read: it comes first in the table. */
static bool key_effort(Reader *r, const TreeNode *value, const Field *key, void *target) {
	const JointInput *input = target;
	const CalJointDef def = cal_joint_def(input->type);
	JointShape shape;
	Field actual = *key;
	actual.flags &= ~(unsigned)FIELD_BY_DOF;
	if (input->type == CAL_JOINT_SEQUENCE || !shape_of(&def, &shape) || shape.nu != 1)
		return reader_fail(
			r, value, "\"effort_limit\" is for joints with one degree of freedom; give the actuators their limits");
	if (shape.linear[0])
		actual.dimension = dimension_of_sliding(key->dimension);
	return field_read(r, value, &actual, target);
}

static const Field joint_keys[] = {
	{"name", FIELD_NAME, 0, .doc = "in the list form only"},
	{"type", FIELD_CHOICE, offsetof(JointInput, type), .flags = FIELD_REQUIRED, .doc = "[joint_types](#joint_types)",
     .word_at = model_file_joint_word, .read = key_joint_type},
	{"from", FIELD_NODE, offsetof(JointInput, from), .flags = FIELD_AS_TEXT,
     .doc = "the inboard node; default `ground`"},
	{"to", FIELD_NODE, offsetof(JointInput, to), .flags = FIELD_REQUIRED | FIELD_AS_TEXT,
     .doc = "the outboard node, on the body that the joint carries"},
	{"axis", FIELD_AXIS, offsetof(JointInput, axis), .doc = "in the joint frame; default `z`"},
	{"axis2", FIELD_AXIS, offsetof(JointInput, axis2),
     .doc = "second axis of the types that have one; default: perpendicular to `axis`, x-like"},
	{"pitch", FIELD_NUMBER, offsetof(JointInput, pitch), DIM_PITCH,
     .doc = "screw, required there: advance per angle, e.g. `5 mm/rev`"},
	{"elements", FIELD_LIST, offsetof(JointInput, elements), .flags = FIELD_AS_TREE,
     .doc = "sequence, required there: 1 to 6", .table = &element_table},
	{"inboard", FIELD_PLACEMENT, offsetof(JointInput, inboard), DIM_LENGTH,
     .doc = "of the joint frame in the inboard node; default none"},
	{"outboard", FIELD_PLACEMENT, offsetof(JointInput, outboard), DIM_LENGTH,
     .doc = "of the outboard node in the joint's moved frame; default none"},
	{"dof", FIELD_MAPS, offsetof(JointInput, dof), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "of a joint with one degree of freedom; a list, in the order of the speeds, for more", .table = &dof_table},
	{"limits", FIELD_MAPS, offsetof(JointInput, limits), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "stops; a list, in the order of the speeds, for joints with several degrees of freedom: `null` is none",
     .table = &joint_limits_table},
	{"friction", FIELD_MAPS, offsetof(JointInput, friction), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "friction, likewise", .table = &joint_friction_table},
	{"effort_limit", FIELD_POSITIVE, offsetof(JointInput, effort_limit), DIM_TORQUE, .flags = FIELD_BY_DOF,
     .doc = "of each servo, pid and actuator on it that has no limit of its own; for joints with one degree of freedom",
     .read = key_effort},
	{"reversed", FIELD_FLAG, offsetof(JointInput, reversed),
     .doc = "the body of `from` is the child of the body of `to`, not the other way round; coordinates, "
            "axis and placements are as without it. For the types that list it"},
	{"independent", FIELD_FLAG, offsetof(JointInput, independent),
     .doc =
         "its coordinates are those of the [embedded](loops.md#embedding) loop that it is part of; default: chosen by rank"},
};
const FieldTable joint_table = {FIELDS("joint", joint_keys),
                                .doc = "How the node `to` moves relative to the node `from`."};

/* Keys that only some types have; those of the last two need them. */
static const struct {
	const char *key;
	int uses;
	bool required;
} type_keys[] = {
	{"axis", CAL_JOINT_USES_AXIS, false},
	{"axis2", CAL_JOINT_USES_AXIS2, false},
	{"pitch", CAL_JOINT_USES_PITCH, true},
	{"elements", CAL_JOINT_USES_ELEMENTS, true},
};

static bool check_type_keys(Reader *r, const TreeNode *map, CalJointType type) {
	const int uses = info_of(type).uses;
	for (size_t i = 0; i < sizeof type_keys / sizeof type_keys[0]; i++) {
		const TreeNode *value = tree_get(map, type_keys[i].key);
		if (value && !(uses & type_keys[i].uses))
			return reader_fail(r, value, "a %s joint has no \"%s\"; remove it or change the type",
			                   cal_joint_type_name(type), type_keys[i].key);
		if (!value && type_keys[i].required && uses & type_keys[i].uses)
			return reader_fail(r, map, "a %s joint needs the key \"%s\"", cal_joint_type_name(type), type_keys[i].key);
	}
	return true;
}

/* The two sides of the joint in the description. */
static bool find_sides(Reader *r, const Sections *s, const TreeNode *map, const JointInput *input, CalNodeId *inboard,
                       CalNodeId *outboard) {
	*inboard = (CalNodeId){0};
	if (input->from && !model_file_find_node(r, s, tree_get(map, "from"), input->from, inboard))
		return false;
	return model_file_find_node(r, s, tree_get(map, "to"), input->to, outboard);
}

bool model_file_joint_def(Reader *r, const TreeNode *map, const JointInput *input, CalJointDef *def,
                          JointShape *shape) {
	if (!check_type_keys(r, map, input->type))
		return false;
	*def = cal_joint_def(input->type);
	if (tree_get(map, "axis"))
		def->axis = input->axis;
	def->axis2 = input->axis2;
	def->pitch = input->pitch;
	def->inboard = input->inboard;
	def->outboard = input->outboard;
	if ((input->elements && !read_elements(r, input->elements, def)) || !shape_of(def, shape))
		return false;
	return !input->dof || read_dofs(r, input->dof, def, shape);
}

/*
 * The other side carries. Only types whose dofs stay the same ones in the same order: state, loads and devices then
 * mean the same as before.
 */
static bool reverse(Reader *r, const TreeNode *map, CalJointDef *def, CalNodeId *inboard, CalNodeId *outboard) {
	const CalJointDef given = *def;
	const CalNodeId swapped = *inboard;
	if (!model_file_can_reverse(def->type))
		return reader_fail(
			r, tree_get(map, "reversed"),
			"a %s joint cannot be reversed, since its degrees of freedom would change; exchange \"from\" and \"to\"",
			cal_joint_type_name(def->type));
	const CalStatus status = cal_joint_def_reverse(&given, def, r->error);
	if (status != CAL_OK)
		return reader_refused(r, tree_get(map, "reversed"), status);
	*inboard = *outboard;
	*outboard = swapped;
	return true;
}

bool model_file_can_reverse(CalJointType type) { return info_of(type).reversible; }

static bool read_joint(Reader *r, const Sections *s, const Item *item) {
	char place[256];
	JointInput input = {.inboard.orientation = {1, 0, 0, 0}, .outboard.orientation = {1, 0, 0, 0}};
	JointShape shape;
	CalNodeId inboard, outboard;
	CalJointId id;
	CalJointDef def;
	reader_subject(r, "joint", item->name);
	if (!fields_read(r, item->value, &joint_table, &input) ||
	    !find_sides(r, s, item->value, &input, &inboard, &outboard) ||
	    !model_file_joint_def(r, item->value, &input, &def, &shape))
		return false;
	def.name = item->name;
	def.place = tree_place(r->file->tree, item->place, place, sizeof place);
	if (input.reversed && !reverse(r, item->value, &def, &inboard, &outboard))
		return false;
	const CalStatus status = cal_desc_attach(r->file->desc, inboard, &def, outboard, &id, r->error);
	if (status != CAL_OK)
		return reader_refused(r, item->place, status);
	CalBodyId body = {0};
	cal_desc_node(r->file->desc, outboard, &body);
	const int modes = body.value ? r->file->modes[body.value - 1] : 0;
	r->file->joints[id.value - 1] =
		(JointRecord){item->name, input.type, shape, body, modes, input.independent, input.effort_limit, false};
	return true;
}

bool model_file_read_joints(Reader *r, const Sections *s) {
	reader_subject(r, "joints", NULL);
	const int count = items_count(r, s->joints, "joints");
	if (count < 0)
		return false;
	const size_t pendulums = s->pendulums ? (size_t)s->pendulums->count : 0;
	r->file->joints = reader_array(r, (size_t)count + pendulums, sizeof *r->file->joints);
	if (!r->file->joints)
		return false;
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, s->joints, i, "joint", &item) || !read_joint(r, s, &item))
			return false;
		reader_subject(r, "joints", NULL);
	}
	return true;
}

/* ---- pendulums ------------------------------------------------------------------------------ */

typedef struct PendulumInput {
	const char *node, *group;
	CalVec3 pivot, down;
	double mass, length, damping, stiffness;
} PendulumInput;

static const Field pendulum_keys[] = {
	{"name", FIELD_NAME, 0, .doc = "in the list form only"},
	{"node", FIELD_NODE, offsetof(PendulumInput, node), .flags = FIELD_REQUIRED | FIELD_AS_TEXT,
     .doc = "that it is attached to"},
	{"group", FIELD_GROUP, offsetof(PendulumInput, group), .flags = FIELD_AS_TEXT,
     .doc = "its group, on the ground only; default `main`"},
	{"pivot", FIELD_VECTOR, offsetof(PendulumInput, pivot), DIM_LENGTH,
     .doc = "in the node's frame; default its origin"},
	{"down", FIELD_AXIS, offsetof(PendulumInput, down),
     .doc = "of the node in which it is at rest at angle zero; default `-z`"},
	{"mass", FIELD_POSITIVE, offsetof(PendulumInput, mass), DIM_MASS, .flags = FIELD_REQUIRED,
     .doc = "not part of the tank's"},
	{"length", FIELD_POSITIVE, offsetof(PendulumInput, length), DIM_LENGTH, .flags = FIELD_REQUIRED,
     .doc = "from the pivot to the mass"},
	{"damping", FIELD_NOT_NEGATIVE, offsetof(PendulumInput, damping), DIM_ANGULAR_DAMPING,
     .doc = "of each angle; default 0"},
	{"stiffness", FIELD_NOT_NEGATIVE, offsetof(PendulumInput, stiffness), DIM_ANGULAR_STIFFNESS,
     .doc = "of each angle; default 0"},
};
const FieldTable pendulum_table = {FIELDS("pendulum", pendulum_keys),
                                   .doc =
                                       "A point mass that swings about a point of a node, such as liquid in a tank."};

static bool read_pendulum(Reader *r, const Sections *s, const Item *item) {
	char place[256];
	PendulumInput in = {.down = cal_pendulum_def().down};
	CalPendulumDef def = cal_pendulum_def();
	CalBodyId body;
	reader_subject(r, "pendulum", item->name);
	if (!fields_read(r, item->value, &pendulum_table, &in) ||
	    !model_file_find_node(r, s, tree_get(item->value, "node"), in.node, &def.node))
		return false;
	if (in.group && strcmp(in.node, "ground") != 0 && strncmp(in.node, "ground/", 7) != 0)
		return reader_fail(r, tree_get(item->value, "group"),
		                   "a pendulum belongs to the group of its node; only on the ground can \"group\" be given");
	if (in.group && !(def.group = cal_desc_find_group(r->file->desc, in.group)).value)
		return reader_fail(r, tree_get(item->value, "group"), "there is no group \"%.80s\"", in.group);
	def.name = item->name;
	def.place = tree_place(r->file->tree, item->place, place, sizeof place);
	def.pivot = in.pivot;
	def.down = in.down;
	def.mass = in.mass;
	def.length = in.length;
	def.damping = in.damping;
	def.stiffness = in.stiffness;
	const CalStatus status = cal_desc_add_pendulum(r->file->desc, &def, &body, r->error);
	if (status != CAL_OK)
		return reader_refused(r, item->place, status);
	const CalJointId id = cal_desc_find_joint(r->file->desc, item->name);
	const CalJointDef *joint = cal_desc_joint(r->file->desc, id, NULL, NULL);
	JointRecord *record = &r->file->joints[id.value - 1];
	*record = (JointRecord){.name = item->name, .type = joint->type, .body = body};
	return shape_of(joint, &record->shape);
}

bool model_file_read_pendulums(Reader *r, const Sections *s) {
	reader_subject(r, "pendulums", NULL);
	const int count = items_count(r, s->pendulums, "pendulums");
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, s->pendulums, i, "pendulum", &item) || !read_pendulum(r, s, &item))
			return false;
		reader_subject(r, "pendulums", NULL);
	}
	return count >= 0;
}

bool model_file_find_joint(Reader *r, const TreeNode *node, const char *name, const JointRecord **joint) {
	const CalJointId id = cal_desc_find_joint(r->file->desc, name);
	if (id.value) {
		*joint = &r->file->joints[id.value - 1];
		return true;
	}
	Suggestion suggestion = {.word = name};
	for (int i = 0; i < cal_desc_joint_count(r->file->desc); i++)
		suggestion_offer(&suggestion, r->file->joints[i].name);
	return reader_unknown(r, node, "joint", &suggestion);
}
