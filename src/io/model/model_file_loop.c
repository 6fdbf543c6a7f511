// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_loop.c — loops: constraints between two nodes of the tree, or between coordinates (docs/loops.md).
 *
 * A drive belongs to a row and has its dimension: a length, an angle, or for a coupling plain numbers in SI units. Its
 * function of time, if it has one, belongs to the setup.
 */
#include <stdio.h>
#include <string.h>

#include <calder/mechanism.h>

#include "base/error.h"
#include "io/model/model_file.h"

typedef struct LoopInput {
	CalLoopType type;
	const char *from, *to;
	CalPlacement a, b;
	double length, pitch, radius;
	const char *translation, *rotation;
	const TreeNode *terms, *drive, *stabilisation, *applied_wrench;
	int open, embed;
} LoopInput;

static bool key_loop_type(Reader *r, const TreeNode *value, const Field *key, void *target) {
	CalLoopType *type = (CalLoopType *)(void *)((char *)target + key->offset);
	const char *text;
	if (!read_text(r, value, &text))
		return false;
	Suggestion suggestion = {.word = text};
	char words[300] = "";
	for (int i = 0; i < CAL_LOOP_TYPE_COUNT; i++) {
		const char *name = cal_loop_type_name((CalLoopType)i);
		if (strcmp(name, text) == 0) {
			*type = (CalLoopType)i;
			return true;
		}
		const size_t used = strlen(words);
		suggestion_offer(&suggestion, name);
		snprintf(words + used, sizeof words - used, "%s%s", used ? ", " : "", name);
	}
	return reader_unknown_of(r, value, "type of loop", &suggestion, words);
}

static const char *loop_word(int i) { return i < CAL_LOOP_TYPE_COUNT ? cal_loop_type_name((CalLoopType)i) : NULL; }

static const Field loop_keys[] = {
	{"name", FIELD_NAME, 0, .doc = "in the list form only"},
	{"type", FIELD_CHOICE, offsetof(LoopInput, type), .flags = FIELD_REQUIRED, .doc = "[loop_types](#loop_types)",
     .word_at = loop_word, .read = key_loop_type},
	{"from", FIELD_NODE, offsetof(LoopInput, from), .flags = FIELD_AS_TEXT,
     .doc = "the first node, with frame A; default `ground`; not for coupling"},
	{"to", FIELD_NODE, offsetof(LoopInput, to), .flags = FIELD_AS_TEXT,
     .doc = "the second node, with frame B; default `ground`; not for knife and coupling"},
	{"a", FIELD_PLACEMENT, offsetof(LoopInput, a), DIM_LENGTH, .doc = "of frame A in the node `from`; default none"},
	{"b", FIELD_PLACEMENT, offsetof(LoopInput, b), DIM_LENGTH, .doc = "of frame B in the node `to`; default none"},
	{"length", FIELD_POSITIVE, offsetof(LoopInput, length), DIM_LENGTH, .doc = "required of the types that have it"},
	{"pitch", FIELD_NUMBER, offsetof(LoopInput, pitch), DIM_PITCH,
     .doc = "screw, required there: advance per angle, e.g. `5 mm/rev`"},
	{"radius", FIELD_POSITIVE, offsetof(LoopInput, radius), DIM_LENGTH, .doc = "required of the types that have it"},
	{"translation", FIELD_TEXT, offsetof(LoopInput, translation),
     .doc = "directions: axes of A along which nothing moves, e.g. `xz`"},
	{"rotation", FIELD_TEXT, offsetof(LoopInput, rotation),
     .doc = "directions: axes of A about which nothing turns, e.g. `x`"},
	{"terms", FIELD_LIST, offsetof(LoopInput, terms), .flags = FIELD_AS_TREE, .doc = "coupling, required there: 1 to 4",
     .table = &term_table},
	{"drive", FIELD_MAPS, offsetof(LoopInput, drive), .flags = FIELD_AS_TREE,
     .doc = "of a constraint equation; default: all stay at zero", .table = &drive_table},
	{"stabilisation", FIELD_MAP, offsetof(LoopInput, stabilisation), .flags = FIELD_AS_TREE, .doc = "default none",
     .table = &stabilisation_table},
	{"applied_wrench", FIELD_MAP, offsetof(LoopInput, applied_wrench), .former = "known", .flags = FIELD_AS_TREE,
     .doc = "constant force and moment between the sides; default none; not for knife and coupling",
     .table = &applied_wrench_table},
	{"open", FIELD_FLAG, offsetof(LoopInput, open),
     .doc = "it starts open, and an [event](#event) may close it; default false"},
	{"embed", FIELD_FLAG, offsetof(LoopInput, embed),
     .doc =
         "its bodies become one link with the independent coordinates ([embedding](loops.md#embedding)); default false"},
};
const FieldTable loop_table = {FIELDS("loop", loop_keys), .doc = "Ties the node `to` to the node `from`."};

static int uses_of(CalLoopType type) {
	CalLoopTypeInfo info = {0};
	cal_loop_type_info(type, &info);
	return info.uses;
}

/* Keys that only some types have. */
static bool check_keys(Reader *r, const TreeNode *map, CalLoopType type) {
	static const struct {
		const char *key;
		int uses;
		bool required;
	} keys[] = {
		{"from", CAL_LOOP_USES_A, false},
		{"a", CAL_LOOP_USES_A, false},
		{"to", CAL_LOOP_USES_B, false},
		{"b", CAL_LOOP_USES_B, false},
		{"applied_wrench", CAL_LOOP_USES_B, false},
		{"length", CAL_LOOP_USES_LENGTH, true},
		{"pitch", CAL_LOOP_USES_PITCH, true},
		{"radius", CAL_LOOP_USES_RADIUS, true},
		{"translation", CAL_LOOP_USES_AXES, false},
		{"rotation", CAL_LOOP_USES_AXES, false},
		{"terms", CAL_LOOP_USES_TERMS, true},
	};
	const char *name = cal_loop_type_name(type);
	const int uses = uses_of(type), sides = CAL_LOOP_USES_A | CAL_LOOP_USES_B;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const TreeNode *value = field_value(map, field_find(&loop_table, keys[i].key));
		const bool has = uses & keys[i].uses;
		if (value && !has && keys[i].uses == CAL_LOOP_USES_B && (uses & sides) == CAL_LOOP_USES_A)
			return reader_fail(r, value, "a %s has one side, \"from\"; remove \"%s\"", name, keys[i].key);
		if (value && !has)
			return reader_fail(r, value, "a %s loop has no \"%s\"; remove it or change the type", name, keys[i].key);
		if (!value && has && keys[i].required)
			return reader_fail(r, map, "a %s loop needs the key \"%s\"", name, keys[i].key);
	}
	return true;
}

/* "xz" as a set of axes; NULL: none. */
static bool read_axes(Reader *r, const TreeNode *map, const char *key, const char *text, int *set) {
	for (const char *p = text; p && *p; p++) {
		const int axis = *p == 'x' ? CAL_AXIS_X : *p == 'y' ? CAL_AXIS_Y : *p == 'z' ? CAL_AXIS_Z : 0;
		if (!axis || *set & axis)
			return reader_fail(r, tree_get(map, key), "\"%s\" names axes of A, e.g. x or xz, each once", key);
		*set |= axis;
	}
	return true;
}

/* ---- coupling ------------------------------------------------------------------------------------ */

typedef struct TermInput {
	const char *joint, *body;
	double dof, mode, factor;
} TermInput;

static const Field term_keys[] = {
	{"joint", FIELD_JOINT, offsetof(TermInput, joint), .flags = FIELD_AS_TEXT, .doc = "whose coordinate it is"},
	{"dof", FIELD_POSITIVE, offsetof(TermInput, dof),
     .doc = "which of its degrees of freedom, from 1; default: the only one. Not one of a quaternion"},
	{"body", FIELD_BODY, offsetof(TermInput, body), .flags = FIELD_AS_TEXT, .doc = "instead of `joint`: flexible"},
	{"mode", FIELD_POSITIVE, offsetof(TermInput, mode), .doc = "which of its modes, from 1; default: the only one"},
	{"factor", FIELD_NUMBER, offsetof(TermInput, factor), .flags = FIELD_REQUIRED,
     .doc = "not zero. Coordinates count in rad, m and the units of the shapes"},
};
const FieldTable term_table = {FIELDS("term", term_keys), .doc = "One coordinate of a coupling."};

/* A number from 1 to count as an index from 0; not given: 0 if there is but one. */
static bool index_of(Reader *r, const TreeNode *map, const char *key, double number, int count, const char *whose,
                     int *index) {
	if (number == 0 && count == 1)
		number = 1;
	if (number >= 1 && number <= count && number == (double)(int)number) {
		*index = (int)number - 1;
		return true;
	}
	const TreeNode *value = tree_get(map, key);
	return reader_fail(r, value ? value : map, "\"%s\" must be a whole number from 1 to %d, those of \"%.80s\"", key,
	                   count, whose);
}

static bool read_term(Reader *r, const Sections *s, const TreeNode *map, CalLoopTerm *term) {
	TermInput in = {0};
	const JointRecord *joint = NULL;
	if (!fields_read(r, map, &term_table, &in))
		return false;
	if (!in.joint == !in.body || (in.joint && in.mode != 0) || (in.body && in.dof != 0))
		return reader_fail(
			r, map, "a term is a degree of freedom of a \"joint\" (\"dof\") or a \"mode\" of a \"body\"; name one");
	term->factor = in.factor;
	if (in.joint) {
		if (!model_file_find_joint(r, tree_get(map, "joint"), in.joint, &joint))
			return false;
		term->body = joint->body;
		return index_of(r, map, "dof", in.dof, joint->shape.nu, in.joint, &term->dof);
	}
	if (!model_file_find_body(r, s, tree_get(map, "body"), in.body, &term->body))
		return false;
	for (int i = 0; i < cal_desc_joint_count(r->file->desc); i++) {
		if (r->file->joints[i].body.value == term->body.value)
			joint = &r->file->joints[i];
	}
	if (!joint || joint->modes == 0)
		return reader_fail(r, map, "body \"%.80s\" is rigid: it has no modes to couple; name a joint", in.body);
	if (!index_of(r, map, "mode", in.mode, joint->modes, in.body, &term->dof))
		return false;
	term->dof += joint->shape.nu;
	return true;
}

static bool read_terms(Reader *r, const Sections *s, const TreeNode *node, CalLoopDef *def) {
	if (!read_list(r, node, "terms, e.g. [{joint: pinion, factor: 3}, {joint: wheel, factor: 1}]"))
		return false;
	if (node->count < 1 || node->count > CAL_LOOP_MAX_TERMS)
		return reader_fail(r, node, "a coupling has 1 to %d terms, not %d", CAL_LOOP_MAX_TERMS, node->count);
	def->term_count = node->count;
	for (int i = 0; i < node->count; i++) {
		if (!read_term(r, s, node->items[i], &def->term[i]))
			return false;
	}
	return true;
}

/* ---- drives, stabilisation, applied wrenches --------------------------------------------------------- */

typedef struct DriveInput {
	CalDrive drive;
	const char *row;
	const TreeNode *value;
	CalCoordinateKind kind; // of the row
} DriveInput;

/* The table names the dimensions of an angle. */
static bool key_drive(Reader *r, const TreeNode *value, const Field *key, void *target) {
	const DriveInput *input = target;
	Field actual = *key;
	actual.flags &= ~(unsigned)FIELD_BY_DOF;
	if (input->kind != CAL_COORDINATE_ANGLE)
		actual.dimension = input->kind == CAL_COORDINATE_LENGTH ? dimension_of_sliding(key->dimension) : DIM_NUMBER;
	return field_read(r, value, &actual, target);
}

static const Field drive_keys[] = {
	{"row", FIELD_TEXT, offsetof(DriveInput, row),
     .doc = "name of the constraint equation, see [loop_types](#loop_types); default: the only one"},
	{"value", FIELD_FUNCTION, offsetof(DriveInput, value), DIM_ANGLE, .flags = FIELD_BY_DOF | FIELD_AS_TREE,
     .doc = "of the constraint equation"},
	{"offset", FIELD_NUMBER, offsetof(DriveInput, drive.offset), DIM_ANGLE, .flags = FIELD_BY_DOF, .doc = "default 0",
     .read = key_drive},
	{"speed", FIELD_NUMBER, offsetof(DriveInput, drive.speed), DIM_RATE, .flags = FIELD_BY_DOF, .doc = "default 0",
     .read = key_drive},
	{"acceleration", FIELD_NUMBER, offsetof(DriveInput, drive.acceleration), DIM_ANGULAR_ACCELERATION,
     .flags = FIELD_BY_DOF, .doc = "default 0", .read = key_drive},
	{"amplitude", FIELD_NUMBER, offsetof(DriveInput, drive.amplitude), DIM_ANGLE, .flags = FIELD_BY_DOF,
     .doc = "default 0", .read = key_drive},
	{"frequency", FIELD_NUMBER, offsetof(DriveInput, drive.frequency), DIM_RATE, .doc = "default 0"},
	{"phase", FIELD_NUMBER, offsetof(DriveInput, drive.phase), DIM_ANGLE, .doc = "default 0"},
};
const FieldTable drive_table = {FIELDS("drive", drive_keys), .doc = "What moves a constraint equation of a loop."};

/* The row that a drive names; one that names none is that of the only row. */
static bool find_row(Reader *r, const TreeNode *map, const CalLoopDef *def, int *row) {
	const TreeNode *node = tree_get(map, "row");
	char names[64] = "";
	const char *word = "";
	if (node && !read_text(r, node, &word))
		return false;
	int count = 0, used = 0;
	for (const char *name; (name = cal_loop_row_name(def, count)) != NULL; count++) {
		if (node && strcmp(name, word) == 0) {
			*row = count;
			return true;
		}
		used += snprintf(names + used, sizeof names - (size_t)used, "%s%s", count ? ", " : "", name);
	}
	*row = 0;
	if (node)
		return reader_fail(r, node, "this %s loop has no row \"%.40s\"; its rows are %s", cal_loop_type_name(def->type),
		                   word, names);
	return count == 1 || reader_fail(r, map, "say which \"row\" is driven: %s", names);
}

static void destroy_function(void *function) { cal_drive_function_destroy(function); }

/* The function in the place of the numbers. */
static bool read_value(Reader *r, const TreeNode *map, DriveInput *input) {
	const Dimension dimension = input->kind == CAL_COORDINATE_LENGTH  ? DIM_LENGTH
	                            : input->kind == CAL_COORDINATE_ANGLE ? DIM_ANGLE
	                                                                  : DIM_NUMBER;
	CalTimeFunction function = {.table.shape = CAL_TABLE_SMOOTH};
	CalError error = {0};
	for (int i = 0; i < map->count; i++)
		if (strcmp(tree_key(map, i)->text, "row") != 0 && strcmp(tree_key(map, i)->text, "value") != 0)
			return reader_fail(
				r, tree_key(map, i),
				"a drive is a function \"value\" or the numbers of a closed form, not both; put \"%.40s\" "
				"into the function",
				tree_key(map, i)->text);
	CalDriveFunction *drive = NULL;
	if (!model_file_read_function(r, input->value, dimension, &function))
		return false;
	const CalStatus status = cal_drive_function_create(&function, &r->file->allocator, &drive, &error);
	if (status == CAL_ERR_MEMORY) {
		r->status = tree_error(r->error, tree_name(r->file->tree), input->value, status, "out of memory");
		return false;
	}
	if (status != CAL_OK)
		return reader_fail(r, input->value, "%s", error.text);
	if (!reader_added(r, input->value, cal_setup_keep(r->file->setup, drive, destroy_function, r->error))) {
		cal_drive_function_destroy(drive);
		return false;
	}
	input->drive = cal_drive_function_of(drive);
	return true;
}

static bool read_drives(Reader *r, const TreeNode *node, CalLoopDef *def) {
	const int count = node->kind == TREE_LIST ? node->count : 1;
	int driven = 0;
	for (int i = 0; i < count; i++) {
		const TreeNode *map = node->kind == TREE_LIST ? node->items[i] : node;
		DriveInput input = {0};
		int row;
		if (map->kind != TREE_MAP)
			return reader_fail(r, map, "\"drive\" is a map, e.g. {speed: 2 rad/s}, or a list of them");
		if (!find_row(r, map, def, &row))
			return false;
		input.kind = cal_loop_row_kind(def, row);
		if (!fields_read(r, map, &drive_table, &input) || (input.value && !read_value(r, map, &input)))
			return false;
		if (driven & 1 << row)
			return reader_fail(r, map, "row %s is driven twice; add the two", cal_loop_row_name(def, row));
		driven |= 1 << row;
		def->drive[row] = input.drive;
	}
	return true;
}

typedef struct Gains {
	double frequency, damping;
} Gains;

static const Field stabilisation_keys[] = {
	{"frequency", FIELD_POSITIVE, offsetof(Gains, frequency), DIM_RATE, .flags = FIELD_REQUIRED,
     .doc = "natural frequency of the spring"},
	{"damping", FIELD_NOT_NEGATIVE, offsetof(Gains, damping), .doc = "damping ratio; default 1"},
};
const FieldTable stabilisation_table = {
	FIELDS("stabilisation", stabilisation_keys),
	.doc = "Pulls the constraint equations of a loop back like a spring and a damper (Baumgarte)."};

static bool read_stabilisation(Reader *r, const TreeNode *node, CalLoopDef *def) {
	Gains gains = {.damping = 1};
	if (!fields_read(r, node, &stabilisation_table, &gains))
		return false;
	def->frequency = gains.frequency, def->damping = gains.damping;
	return true;
}

static const Field applied_wrench_keys[] = {
	{"force", FIELD_VECTOR, offsetof(CalSpatial, linear), DIM_FORCE, .doc = "default none"},
	{"moment", FIELD_VECTOR, offsetof(CalSpatial, angular), DIM_TORQUE, .doc = "default none"},
};
const FieldTable applied_wrench_table = {FIELDS("applied_wrench", applied_wrench_keys),
                                         .doc = "A constant force and moment between the two sides of a loop."};

/* ---- loops --------------------------------------------------------------------------------------- */

static bool find_side(Reader *r, const Sections *s, const TreeNode *map, const char *key, const char *path,
                      CalNodeId *id) {
	*id = (CalNodeId){0};
	return !path || model_file_find_node(r, s, tree_get(map, key), path, id);
}

/* Everything but the sides. */
static bool read_values(Reader *r, const Sections *s, const TreeNode *map, const LoopInput *in, CalLoopDef *def) {
	def->a = in->a, def->b = in->b;
	def->length = in->length, def->pitch = in->pitch, def->radius = in->radius;
	if (!read_axes(r, map, "translation", in->translation, &def->translation) ||
	    !read_axes(r, map, "rotation", in->rotation, &def->rotation))
		return false;
	if (uses_of(def->type) & CAL_LOOP_USES_AXES && !def->translation && !def->rotation)
		return reader_fail(r, map, "a %s loop locks axes: give \"translation\", \"rotation\" or both, e.g. xz",
		                   cal_loop_type_name(def->type));
	return (!in->terms || read_terms(r, s, in->terms, def)) && (!in->drive || read_drives(r, in->drive, def)) &&
	       (!in->stabilisation || read_stabilisation(r, in->stabilisation, def)) &&
	       (!in->applied_wrench || fields_read(r, in->applied_wrench, &applied_wrench_table, &def->applied_wrench));
}

bool model_file_loop_def(Reader *r, const Sections *s, const TreeNode *map, CalLoopDef *def) {
	LoopInput input = {.a.orientation = {1, 0, 0, 0}, .b.orientation = {1, 0, 0, 0}};
	if (!fields_read(r, map, &loop_table, &input) || !check_keys(r, map, input.type))
		return false;
	if (input.embed)
		return reader_fail(r, tree_get(map, "embed"),
		                   "a loop that is closed in a run cannot be embedded; remove \"embed\"");
	*def = cal_loop_def(input.type);
	return read_values(r, s, map, &input, def);
}

static bool read_loop(Reader *r, const Sections *s, const Item *item) {
	char place[256];
	LoopInput input = {.a.orientation = {1, 0, 0, 0}, .b.orientation = {1, 0, 0, 0}};
	CalNodeId a, b;
	reader_subject(r, "loop", item->name);
	if (!fields_read(r, item->value, &loop_table, &input) || !check_keys(r, item->value, input.type) ||
	    !find_side(r, s, item->value, "from", input.from, &a) || !find_side(r, s, item->value, "to", input.to, &b))
		return false;
	CalLoopDef def = cal_loop_def(input.type);
	def.name = item->name;
	def.place = tree_place(r->file->tree, item->place, place, sizeof place);
	if (!read_values(r, s, item->value, &input, &def))
		return false;
	CalLoopId loop;
	const CalStatus status = cal_desc_close_loop(r->file->desc, a, &def, b, &loop, r->error);
	if (status != CAL_OK)
		return reader_refused(r, item->place, status);
	if (input.embed && input.open)
		return reader_fail(r, tree_get(item->value, "open"),
		                   "an embedded loop cannot be open; remove \"open\" or \"embed\"");
	if (input.embed)
		r->file->embedded[r->file->embedded_count++] = loop;
	return !input.open || reader_added(r, item->place, cal_setup_open_loop(r->file->setup, loop, r->error));
}

bool model_file_read_loops(Reader *r, const Sections *s) {
	reader_subject(r, "loops", NULL);
	const int count = items_count(r, s->loops, "loops");
	r->file->embedded = count > 0 ? reader_array(r, (size_t)count, sizeof *r->file->embedded) : NULL;
	if (count > 0 && !r->file->embedded)
		return false;
	for (int i = 0; i < count; i++) {
		Item item;
		if (!items_get(r, s->loops, i, "loop", &item) || !read_loop(r, s, &item))
			return false;
		reader_subject(r, "loops", NULL);
	}
	return count >= 0;
}

/* ---- embedding ----------------------------------------------------------------------------------- */

static bool has_independent(const ModelFile *file) {
	for (int i = 0; i < cal_desc_joint_count(file->desc); i++)
		if (file->joints[i].independent)
			return true;
	return false;
}

/* What is refused has its own place, that of a joint, body or loop; without one the section has. */
static bool refuse_embedding(Reader *r, const TreeNode *section, CalStatus status) {
	const char *name = tree_name(r->file->tree);
	const size_t length = strlen(name);
	char text[sizeof r->error->text];
	if (!r->error || strncmp(r->error->text, name, length) != 0 || r->error->text[length] != ':')
		return reader_refused(r, section, status);
	snprintf(text, sizeof text, "%s", r->error->text);
	char *message = strstr(text + length, ": ");
	if (!message)
		return reader_refused(r, section, status);
	*message = 0;
	r->status = error_set(r->error, status, "%s: error: %s", text, message + 2);
	return false;
}

/* Loops to be embedded, once the state is known from which they are closed. */
bool model_file_embed_loops(Reader *r, const Sections *s) {
	ModelFile *file = r->file;
	const int joints = cal_desc_joint_count(file->desc), states = cal_setup_state_count(file->setup);
	if (file->embedded_count == 0 && !has_independent(file))
		return true;
	CalJointId *independent = reader_array(r, (size_t)joints + 1, sizeof *independent);
	CalJointGuess *guesses = reader_array(r, (size_t)states + 1, sizeof *guesses);
	CalEmbedDef def = {.loops = file->embedded, .loop_count = file->embedded_count, independent, 0, guesses, 0};
	if (!independent || !guesses)
		return false;
	for (int i = 0; i < joints; i++)
		if (file->joints[i].independent)
			independent[def.independent_count++].value = (uint32_t)i + 1;
	for (int i = 0; i < states; i++) {
		CalStateDef state;
		CalJointId joint;
		if (cal_setup_state(file->setup, i, &joint, &state) == CAL_OK && state.q)
			guesses[def.guess_count++] = (CalJointGuess){joint, state.q, !state.guess};
	}
	reader_subject(r, "loops", NULL);
	const CalStatus status = cal_desc_embed(file->desc, &def, r->error);
	return status == CAL_OK || refuse_embedding(r, s->loops ? s->loops : s->joints, status);
}
