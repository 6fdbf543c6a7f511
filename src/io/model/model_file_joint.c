// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_joint.c — joints: type, the two nodes, axes, elements, placements, properties of the dofs.
 */
#include <stdio.h>
#include <string.h>

#include "io/model/model_file.h"

/* Coordinates of each type: A angle, L length, Q quaternion (three speeds, angular). NULL: not in files. */
static const char *const shapes[CAL_JOINT_TYPE_COUNT] = {
	[CAL_JOINT_WELD] = "",      [CAL_JOINT_REVOLUTE] = "A",   [CAL_JOINT_PRISMATIC] = "L",
	[CAL_JOINT_SCREW] = "A",    [CAL_JOINT_UNIVERSAL] = "AA", [CAL_JOINT_CYLINDRICAL] = "AL",
	[CAL_JOINT_PLANAR] = "LLA", [CAL_JOINT_SPHERICAL] = "Q",  [CAL_JOINT_FREE] = "LLLQ",
};

/* False: more than a joint can have. */
static bool shape_append(JointShape *shape, const char *letters) {
	for (; *letters; letters++) {
		const int nq = *letters == 'Q' ? 4 : 1, nu = *letters == 'Q' ? 3 : 1;
		if (shape->nq + nq > CAL_JOINT_MAX_COORDS || shape->nu + nu > CAL_JOINT_MAX_DOF)
			return false;
		for (int i = 0; i < nq; i++)
			shape->coordinate[shape->nq++] = *letters;
		for (int i = 0; i < nu; i++)
			shape->linear[shape->nu++] = *letters == 'L';
	}
	return true;
}

/* ---- types ---------------------------------------------------------------------------------- */

static bool find_type(Reader *r, const TreeNode *node, const char *what, CalJointType *type) {
	Suggestion suggestion = {0};
	char words[300] = "";
	if (!read_text(r, node, &suggestion.word))
		return false;
	for (int i = 0; i < CAL_JOINT_TYPE_COUNT; i++) {
		const char *name = cal_joint_type_name((CalJointType)i);
		if (strcmp(name, suggestion.word) == 0) {
			*type = (CalJointType)i;
			return true;
		}
		if (i == CAL_JOINT_USER)
			continue;
		const size_t used = strlen(words);
		suggestion_offer(&suggestion, name);
		snprintf(words + used, sizeof words - used, "%s%s", used ? ", " : "", name);
	}
	return reader_unknown_of(r, node, what, &suggestion, words);
}

bool key_joint_type(Reader *r, const TreeNode *value, const Key *key, void *target) {
	CalJointType *type = (CalJointType *)(void *)((char *)target + key->offset);
	if (!find_type(r, value, "type of joint", type))
		return false;
	if (*type == CAL_JOINT_USER)
		return reader_fail(r, value, "a joint of type user is made of C functions; build it through the library");
	return true;
}

static bool key_element_type(Reader *r, const TreeNode *value, const Key *key, void *target) {
	CalJointType *type = (CalJointType *)(void *)((char *)target + key->offset);
	if (!find_type(r, value, "type of element", type))
		return false;
	if (*type != CAL_JOINT_REVOLUTE && *type != CAL_JOINT_PRISMATIC && *type != CAL_JOINT_SCREW &&
	    *type != CAL_JOINT_SPHERICAL)
		return reader_fail(r, value, "an element of a sequence is revolute, prismatic, screw or spherical");
	return true;
}

/* ---- elements ------------------------------------------------------------------------------- */

static const Key element_keys[] = {
	{"type", key_element_type, offsetof(CalElement, type), DIM_NUMBER, KEY_REQUIRED},
	{"axis", key_axis, offsetof(CalElement, axis), DIM_NUMBER, 0},
	{"pitch", key_quantity, offsetof(CalElement, pitch), DIM_PITCH, 0},
};
const KeyTable element_table = KEY_TABLE("element", element_keys);

static bool read_elements(Reader *r, const TreeNode *node, CalJointDef *def, JointShape *shape) {
	if (!read_list(r, node, "elements, e.g. [{type: revolute, axis: z}, {type: revolute, axis: x}]"))
		return false;
	if (node->count > CAL_JOINT_MAX_ELEMENTS)
		return reader_fail(r, node, "a sequence has at most %d elements", CAL_JOINT_MAX_ELEMENTS);
	for (int i = 0; i < node->count; i++) {
		CalElement *element = &def->elements[i];
		*element = (CalElement){.axis = {0, 0, 1}};
		if (!keys_read(r, node->items[i], &element_table, element))
			return false;
		if ((element->type == CAL_JOINT_SCREW) != (tree_get(node->items[i], "pitch") != NULL))
			return reader_fail(r, node->items[i], "\"pitch\" belongs to a screw element, and a screw needs it");
		if (!shape_append(shape, shapes[element->type]))
			return reader_fail(r, node->items[i], "the sequence has more than %d degrees of freedom",
			                   CAL_JOINT_MAX_DOF);
	}
	def->element_count = node->count;
	return true;
}

/* ---- dofs ------------------------------------------------------------------------------- */

typedef struct DofInput {
	CalDofDef def;
	bool linear;
} DofInput;

/* The tables name the angular dimension; a dof along an axis has its linear counterpart. */
static bool key_dof(Reader *r, const TreeNode *value, const Key *key, void *target) {
	static const Dimension counterpart[DIM_COUNT] = {[DIM_ANGLE] = DIM_LENGTH,
	                                                 [DIM_ANGULAR_STIFFNESS] = DIM_STIFFNESS,
	                                                 [DIM_ANGULAR_DAMPING] = DIM_DAMPING,
	                                                 [DIM_INERTIA] = DIM_MASS};
	const DofInput *input = target;
	Key actual = *key;
	if (input->linear)
		actual.dimension = counterpart[key->dimension];
	return key->dimension == DIM_ANGLE ? key_quantity(r, value, &actual, target)
	                                   : key_not_negative(r, value, &actual, target);
}

static const Key dof_keys[] = {
	{"stiffness", key_dof, offsetof(DofInput, def.stiffness), DIM_ANGULAR_STIFFNESS, 0},
	{"rest", key_dof, offsetof(DofInput, def.rest), DIM_ANGLE, 0},
	{"damping", key_dof, offsetof(DofInput, def.damping), DIM_ANGULAR_DAMPING, 0},
	{"rotor_inertia", key_dof, offsetof(DofInput, def.rotor_inertia), DIM_INERTIA, 0},
	{"gear_ratio", key_quantity, offsetof(DofInput, def.gear_ratio), DIM_NUMBER, 0},
	{"prescribed", key_flag, offsetof(DofInput, def.prescribed), DIM_NUMBER, 0},
};
const KeyTable dof_table = KEY_TABLE("dof", dof_keys);

static bool read_dofs(Reader *r, const TreeNode *node, CalJointDef *def, const JointShape *shape) {
	const int given = node->kind == TREE_LIST ? node->count : 1;
	if (given != shape->nu || shape->nu == 0)
		return reader_fail(r, node, "this %s joint has %d degree%s of freedom, but \"dof\" describes %d",
		                   cal_joint_type_name(def->type), shape->nu, shape->nu == 1 ? "" : "s", given);
	for (int i = 0; i < given; i++) {
		const TreeNode *item = node->kind == TREE_LIST ? node->items[i] : node;
		DofInput input = {.def = def->dof[i], .linear = shape->linear[i]};
		if (!tree_is_null(item) && !keys_read(r, item, &dof_table, &input))
			return false;
		def->dof[i] = input.def;
	}
	return true;
}

/* ---- joints --------------------------------------------------------------------------------- */

static const Key joint_keys[] = {
	{"name", key_ignore, 0, DIM_NUMBER, 0},
	{"type", key_joint_type, offsetof(JointInput, type), DIM_NUMBER, KEY_REQUIRED},
	{"from", key_text, offsetof(JointInput, from), DIM_NUMBER, 0},
	{"to", key_text, offsetof(JointInput, to), DIM_NUMBER, KEY_REQUIRED},
	{"axis", key_axis, offsetof(JointInput, axis), DIM_NUMBER, 0},
	{"axis2", key_axis, offsetof(JointInput, axis2), DIM_NUMBER, 0},
	{"pitch", key_quantity, offsetof(JointInput, pitch), DIM_PITCH, 0},
	{"elements", key_node, offsetof(JointInput, elements), DIM_NUMBER, 0},
	{"inboard", key_placement, offsetof(JointInput, inboard), DIM_LENGTH, 0},
	{"outboard", key_placement, offsetof(JointInput, outboard), DIM_LENGTH, 0},
	{"dof", key_node, offsetof(JointInput, dof), DIM_NUMBER, KEY_MAY_BE_EMPTY},
	{"reversed", key_flag, offsetof(JointInput, reversed), DIM_NUMBER, 0},
};
const KeyTable joint_table = KEY_TABLE("joint", joint_keys);

#define TYPE_BIT(type) (1u << (type))

/* Keys that only some types have; `required` of those need it. */
static const struct {
	const char *key;
	unsigned types, required;
} key_types[] = {
	{"axis",
     TYPE_BIT(CAL_JOINT_REVOLUTE) | TYPE_BIT(CAL_JOINT_PRISMATIC) | TYPE_BIT(CAL_JOINT_SCREW) |
         TYPE_BIT(CAL_JOINT_UNIVERSAL) | TYPE_BIT(CAL_JOINT_CYLINDRICAL) | TYPE_BIT(CAL_JOINT_PLANAR),
     0},
	{"axis2", TYPE_BIT(CAL_JOINT_UNIVERSAL) | TYPE_BIT(CAL_JOINT_PLANAR), 0},
	{"pitch", TYPE_BIT(CAL_JOINT_SCREW), TYPE_BIT(CAL_JOINT_SCREW)},
	{"elements", TYPE_BIT(CAL_JOINT_SEQUENCE), TYPE_BIT(CAL_JOINT_SEQUENCE)},
};

static bool check_key_types(Reader *r, const TreeNode *map, CalJointType type) {
	for (size_t i = 0; i < sizeof key_types / sizeof key_types[0]; i++) {
		const TreeNode *value = tree_get(map, key_types[i].key);
		if (value && !(key_types[i].types & TYPE_BIT(type)))
			return reader_fail(r, value, "a %s joint has no \"%s\"; remove it or change the type",
			                   cal_joint_type_name(type), key_types[i].key);
		if (!value && (key_types[i].required & TYPE_BIT(type)))
			return reader_fail(r, map, "a %s joint needs the key \"%s\"", cal_joint_type_name(type), key_types[i].key);
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
	if (!check_key_types(r, map, input->type))
		return false;
	*def = cal_joint_def(input->type);
	*shape = (JointShape){0};
	if (tree_get(map, "axis"))
		def->axis = input->axis;
	def->axis2 = input->axis2;
	def->pitch = input->pitch;
	def->inboard = input->inboard;
	def->outboard = input->outboard;
	if (input->elements ? !read_elements(r, input->elements, def, shape) : !shape_append(shape, shapes[input->type]))
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

bool model_file_can_reverse(CalJointType type) {
	return type == CAL_JOINT_WELD || type == CAL_JOINT_REVOLUTE || type == CAL_JOINT_PRISMATIC ||
	       type == CAL_JOINT_SCREW || type == CAL_JOINT_CYLINDRICAL;
}

static bool read_joint(Reader *r, const Sections *s, const Item *item) {
	char place[256];
	JointInput input = {.inboard.orientation = {1, 0, 0, 0}, .outboard.orientation = {1, 0, 0, 0}};
	JointShape shape;
	CalNodeId inboard, outboard;
	CalJointId id;
	CalJointDef def;
	reader_subject(r, "joint", item->name);
	if (!keys_read(r, item->value, &joint_table, &input) ||
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
	r->file->joints[id.value - 1] = (JointRecord){item->name, input.type, shape, body, modes};
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

static const Key pendulum_keys[] = {
	{"name", key_ignore, 0, DIM_NUMBER, 0},
	{"node", key_text, offsetof(PendulumInput, node), DIM_NUMBER, KEY_REQUIRED},
	{"group", key_text, offsetof(PendulumInput, group), DIM_NUMBER, 0},
	{"pivot", key_vector, offsetof(PendulumInput, pivot), DIM_LENGTH, 0},
	{"down", key_axis, offsetof(PendulumInput, down), DIM_NUMBER, 0},
	{"mass", key_positive, offsetof(PendulumInput, mass), DIM_MASS, KEY_REQUIRED},
	{"length", key_positive, offsetof(PendulumInput, length), DIM_LENGTH, KEY_REQUIRED},
	{"damping", key_not_negative, offsetof(PendulumInput, damping), DIM_ANGULAR_DAMPING, 0},
	{"stiffness", key_not_negative, offsetof(PendulumInput, stiffness), DIM_ANGULAR_STIFFNESS, 0},
};
const KeyTable pendulum_table = KEY_TABLE("pendulum", pendulum_keys);

static bool read_pendulum(Reader *r, const Sections *s, const Item *item) {
	char place[256];
	PendulumInput in = {.down = cal_pendulum_def().down};
	CalPendulumDef def = cal_pendulum_def();
	CalBodyId body;
	reader_subject(r, "pendulum", item->name);
	if (!keys_read(r, item->value, &pendulum_table, &in) ||
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
	JointRecord *record = &r->file->joints[cal_desc_find_joint(r->file->desc, item->name).value - 1];
	*record = (JointRecord){.name = item->name, .type = CAL_JOINT_UNIVERSAL, .body = body};
	return shape_append(&record->shape, shapes[CAL_JOINT_UNIVERSAL]);
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
