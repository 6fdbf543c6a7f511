// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_beam.c — the keys "beam" and "panel" of a body: the generators of calder/flex.h.
 *
 * The keys are the fields of CalBeamDef, CalPanelDef and CalFlexChoice. What can be told from one key is judged here,
 * with its place; the rest by the generators.
 */
#include <string.h>

#include "io/model/model_file.h"

/* ---- words and whole numbers ------------------------------------------------------------------- */

typedef struct Word {
	const char *word;
	int value;
} Word;

static bool read_word(Reader *r, const TreeNode *node, const char *what, const Word *words, int count, int *out) {
	Suggestion suggestion = {0};
	char all[128] = "";
	if (!read_text(r, node, &suggestion.word))
		return false;
	for (int i = 0; i < count; i++) {
		if (strcmp(words[i].word, suggestion.word) == 0) {
			*out = words[i].value;
			return true;
		}
		suggestion_offer(&suggestion, words[i].word);
		strncat(all, i ? ", " : "", sizeof all - strlen(all) - 1);
		strncat(all, words[i].word, sizeof all - strlen(all) - 1);
	}
	if (suggestion.best)
		return reader_unknown(r, node, what, &suggestion);
	return reader_fail(r, node, "unknown %s \"%.40s\"; write one of %s", what, suggestion.word, all);
}

#define WORD_COUNT(words) ((int)(sizeof(words) / sizeof((words)[0])))

static bool read_whole(Reader *r, const TreeNode *node, const char *key, int low, int high, int *out) {
	double value;
	if (!read_quantity(r, node, DIM_NUMBER, &value))
		return false;
	if (!(value >= low && value <= high) || value != (double)(int)value)
		return reader_fail(r, node, "\"%s\" must be a whole number from %d to %d", key, low, high);
	*out = (int)value;
	return true;
}

static bool key_whole(Reader *r, const TreeNode *value, const Key *key, void *target) {
	static const struct {
		const char *key;
		int low, high;
	} ranges[] = {{"elements", 1, 400}, {"order", 3, CAL_BEAM_MAX_ORDER}, {"modes", 0, 1000}, {"", 1, 399}};
	size_t i = 0;
	while (ranges[i].key[0] && strcmp(ranges[i].key, key->name) != 0)
		i++;
	return read_whole(r, value, key->name, ranges[i].low, ranges[i].high,
	                  (int *)(void *)((char *)target + key->offset));
}

/* ---- sections ----------------------------------------------------------------------------------- */

typedef struct SectionInput {
	CalSection section;
	double diameter;
} SectionInput;

static bool key_shape(Reader *r, const TreeNode *value, const Key *key, void *target) {
	static const Word words[] = {{"direct", CAL_SECTION_DIRECT},
	                             {"circle", CAL_SECTION_CIRCLE},
	                             {"tube", CAL_SECTION_TUBE},
	                             {"box", CAL_SECTION_BOX}};
	SectionInput *input = target;
	int shape;
	(void)key;
	if (!read_word(r, value, "shape of a section", words, WORD_COUNT(words), &shape))
		return false;
	input->section.shape = (CalSectionShape)shape;
	return true;
}

static const Key section_keys[] = {
	{"shape", key_shape, 0, DIM_NUMBER, 0},
	{"diameter", key_positive, offsetof(SectionInput, diameter), DIM_LENGTH, 0},
	{"width", key_positive, offsetof(SectionInput, section.width), DIM_LENGTH, 0},
	{"height", key_positive, offsetof(SectionInput, section.height), DIM_LENGTH, 0},
	{"thickness", key_positive, offsetof(SectionInput, section.thickness), DIM_LENGTH, 0},
	{"youngs_modulus", key_positive, offsetof(SectionInput, section.youngs_modulus), DIM_STRESS, 0},
	{"poissons_ratio", key_quantity, offsetof(SectionInput, section.poissons_ratio), DIM_NUMBER, 0},
	{"density", key_not_negative, offsetof(SectionInput, section.density), DIM_DENSITY, 0},
	{"EA", key_not_negative, offsetof(SectionInput, section.EA), DIM_FORCE, 0},
	{"GJ", key_not_negative, offsetof(SectionInput, section.GJ), DIM_BENDING, 0},
	{"EIy", key_not_negative, offsetof(SectionInput, section.EIy), DIM_BENDING, 0},
	{"EIz", key_not_negative, offsetof(SectionInput, section.EIz), DIM_BENDING, 0},
	{"kGAy", key_not_negative, offsetof(SectionInput, section.kGAy), DIM_FORCE, 0},
	{"kGAz", key_not_negative, offsetof(SectionInput, section.kGAz), DIM_FORCE, 0},
	{"rhoA", key_not_negative, offsetof(SectionInput, section.rhoA), DIM_LINE_MASS, 0},
	{"rhoIy", key_not_negative, offsetof(SectionInput, section.rhoIy), DIM_LINE_INERTIA, 0},
	{"rhoIz", key_not_negative, offsetof(SectionInput, section.rhoIz), DIM_LINE_INERTIA, 0},
};
const KeyTable section_table = KEY_TABLE("section", section_keys);

#define SHAPE_BIT(shape) (1u << (shape))

enum {
	ROUND = SHAPE_BIT(CAL_SECTION_CIRCLE) | SHAPE_BIT(CAL_SECTION_TUBE),
	TUBE = SHAPE_BIT(CAL_SECTION_TUBE),
	BOX = SHAPE_BIT(CAL_SECTION_BOX),
	DIRECT = SHAPE_BIT(CAL_SECTION_DIRECT),
};

/* Keys that only some shapes have; those in `required` need it. What is not listed is of DIRECT. */
static const struct {
	const char *key;
	unsigned shapes, required;
} section_shapes[] = {
	{"diameter", ROUND, ROUND},
	{"width", BOX, BOX},
	{"height", BOX, BOX},
	{"thickness", TUBE | BOX, TUBE},
	{"youngs_modulus", ROUND | BOX, ROUND | BOX},
	{"poissons_ratio", ROUND | BOX, 0},
	{"density", ROUND | BOX, ROUND | BOX},
};

static bool check_section_keys(Reader *r, const TreeNode *map, CalSectionShape shape) {
	static const char *const names[] = {"direct", "circle", "tube", "box"};
	const size_t listed = sizeof section_shapes / sizeof section_shapes[0];
	for (int i = 1; i < section_table.count; i++) {
		const char *key = section_keys[i].name;
		const TreeNode *value = tree_get(map, key);
		size_t k = 0;
		while (k < listed && strcmp(section_shapes[k].key, key) != 0)
			k++;
		const unsigned shapes = k < listed ? section_shapes[k].shapes : DIRECT;
		const unsigned required = k < listed ? section_shapes[k].required : 0;
		if (value && !(shapes & SHAPE_BIT(shape)))
			return reader_fail(r, value, "a section of the shape \"%s\" has no \"%s\"; remove it or change \"shape\"",
			                   names[shape], key);
		if (!value && (required & SHAPE_BIT(shape)))
			return reader_fail(r, map, "a section of the shape \"%s\" needs the key \"%s\"", names[shape], key);
	}
	return true;
}

static bool key_section(Reader *r, const TreeNode *value, const Key *key, void *target) {
	CalSection *out = (CalSection *)(void *)((char *)target + key->offset);
	SectionInput input = {.section.poissons_ratio = out->poissons_ratio};
	if (!keys_read(r, value, &section_table, &input) || !check_section_keys(r, value, input.section.shape))
		return false;
	*out = input.section;
	if (tree_get(value, "diameter"))
		out->height = input.diameter;
	return true;
}

/* ---- which modes ---------------------------------------------------------------------------------- */

static bool key_boundary(Reader *r, const TreeNode *value, const Key *key, void *target) {
	Word words[CAL_FLEX_BOUNDARY_COUNT];
	int boundary;
	for (int i = 0; i < CAL_FLEX_BOUNDARY_COUNT; i++)
		words[i] = (Word){cal_flex_boundary_name((CalFlexBoundary)i), i};
	if (!read_word(r, value, "boundary", words, CAL_FLEX_BOUNDARY_COUNT, &boundary))
		return false;
	*(CalFlexBoundary *)(void *)((char *)target + key->offset) = (CalFlexBoundary)boundary;
	return true;
}

#define CHOICE_KEYS(type)                                                                               \
	{"boundary", key_boundary, offsetof(type, def.choice.boundary), DIM_NUMBER, 0},                     \
		{"attached", key_flag, offsetof(type, def.choice.attached), DIM_NUMBER, 0},                     \
		{"modes", key_whole, offsetof(type, def.choice.modes), DIM_NUMBER, 0},                          \
		{"max_frequency", key_positive, offsetof(type, def.choice.max_frequency), DIM_RATE, 0},         \
		{"damping_ratio", key_not_negative, offsetof(type, def.choice.damping_ratio), DIM_NUMBER, 0}, { \
		"frequency_bound", key_positive, offsetof(type, def.choice.bound), DIM_RATE, 0                  \
	}

/* A frequency alone takes all modes up to it. */
static bool complete_choice(Reader *r, const TreeNode *map, CalFlexChoice *choice) {
	const TreeNode *modes = tree_get(map, "modes");
	if (!modes && choice->max_frequency > 0)
		choice->modes = 0;
	if (modes && choice->modes == 0 && choice->max_frequency == 0 && choice->boundary != CAL_FLEX_CRAIG_BAMPTON)
		return reader_fail(r, modes,
		                   "with \"modes\" 0 the body would be rigid; ask for some, or give \"max_frequency\"");
	return true;
}

/* Of a body that a generator has added or refused: how many modes the joints and the state will ask for. */
static bool finish_body(Reader *r, const Item *item, CalStatus status, CalBodyId id) {
	CalFlexDef flex;
	if (status != CAL_OK || (status = cal_flex_body(r->file->desc, id, NULL, &flex)) != CAL_OK)
		return reader_refused(r, item->place, status);
	r->file->modes[id.value - 1] = flex.modes;
	return true;
}

/* ---- beams ------------------------------------------------------------------------------------------ */

typedef struct BeamInput {
	CalBeamDef def;
	const TreeNode *masses;
} BeamInput;

/* One word or a list of them. */
static bool key_deformation(Reader *r, const TreeNode *value, const Key *key, void *target) {
	static const Word words[] = {{"bend_y", CAL_BEAM_BEND_Y},   {"bend_z", CAL_BEAM_BEND_Z},
	                             {"bending", CAL_BEAM_BENDING}, {"torsion", CAL_BEAM_TORSION},
	                             {"axial", CAL_BEAM_AXIAL},     {"all", CAL_BEAM_ALL}};
	int *out = (int *)(void *)((char *)target + key->offset);
	const int count = value->kind == TREE_LIST ? value->count : 1;
	if (count == 0)
		return reader_fail(r, value, "\"deformation\" is empty; a beam that deforms in no way is a rigid body");
	*out = 0;
	for (int i = 0; i < count; i++) {
		int way = 0;
		if (!read_word(r, value->kind == TREE_LIST ? value->items[i] : value, "deformation", words, WORD_COUNT(words),
		               &way))
			return false;
		*out |= way;
	}
	return true;
}

static const Key beam_keys[] = {
	{"length", key_positive, offsetof(BeamInput, def.length), DIM_LENGTH, KEY_REQUIRED},
	{"section", key_section, offsetof(BeamInput, def.root), DIM_NUMBER, KEY_REQUIRED},
	{"tip_section", key_section, offsetof(BeamInput, def.tip), DIM_NUMBER, 0},
	{"timoshenko", key_flag, offsetof(BeamInput, def.timoshenko), DIM_NUMBER, 0},
	{"deformation", key_deformation, offsetof(BeamInput, def.deformation), DIM_NUMBER, 0},
	{"elements", key_whole, offsetof(BeamInput, def.elements), DIM_NUMBER, 0},
	{"order", key_whole, offsetof(BeamInput, def.order), DIM_NUMBER, 0},
	{"masses", key_node, offsetof(BeamInput, masses), DIM_NUMBER, KEY_MAY_BE_EMPTY},
	CHOICE_KEYS(BeamInput),
	{"second_order", key_flag, offsetof(BeamInput, def.second_order), DIM_NUMBER, 0},
};
const KeyTable beam_table = KEY_TABLE("beam", beam_keys);

typedef struct BeamMassInput {
	CalBeamMass mass;
	const TreeNode *inertia;
} BeamMassInput;

static const Key beam_mass_keys[] = {
	{"x", key_quantity, offsetof(BeamMassInput, mass.x), DIM_LENGTH, KEY_REQUIRED},
	{"mass", key_not_negative, offsetof(BeamMassInput, mass.mass), DIM_MASS, 0},
	{"inertia", key_node, offsetof(BeamMassInput, inertia), DIM_INERTIA, 0},
};
const KeyTable beam_mass_table = KEY_TABLE("beam_mass", beam_mass_keys);

static bool read_masses(Reader *r, const TreeNode *list, CalBeamDef *def) {
	if (!read_list(r, list, "masses on the beam, e.g. - {x: 2 m, mass: 3 kg}"))
		return false;
	CalBeamMass *masses = reader_array(r, (size_t)list->count, sizeof *masses);
	if (!masses)
		return false;
	for (int i = 0; i < list->count; i++) {
		BeamMassInput input = {0};
		if (!keys_read(r, list->items[i], &beam_mass_table, &input) ||
		    (input.inertia && !model_file_read_tensor(r, input.inertia, &input.mass.inertia)))
			return false;
		if (!(input.mass.x >= 0 && input.mass.x <= def->length))
			return reader_fail(r, tree_get(list->items[i], "x"), "a mass at x = %g m is not on the beam, 0 to %g m",
			                   input.mass.x, def->length);
		masses[i] = input.mass;
	}
	def->masses = masses;
	def->mass_count = list->count;
	return true;
}

bool model_file_read_beam(Reader *r, const TreeNode *map, const Item *item, CalGroupId group) {
	char place[256];
	BeamInput input = {.def = cal_beam_def()};
	CalBodyId id = {0};
	if (!keys_read(r, map, &beam_table, &input) || !complete_choice(r, map, &input.def.choice) ||
	    (input.masses && !read_masses(r, input.masses, &input.def)))
		return false;
	input.def.name = item->name;
	input.def.group = group;
	input.def.place = tree_place(r->file->tree, item->place, place, sizeof place);
	input.def.tapered = tree_get(map, "tip_section") != NULL;
	const CalStatus status = cal_beam_add(r->file->desc, &input.def, &id, r->error);
	return finish_body(r, item, status, id);
}

/* ---- panels ------------------------------------------------------------------------------------------ */

typedef struct PanelInput {
	CalPanelDef def;
	const TreeNode *hinges;
} PanelInput;

static const Key panel_keys[] = {
	{"length", key_positive, offsetof(PanelInput, def.length), DIM_LENGTH, KEY_REQUIRED},
	{"width", key_positive, offsetof(PanelInput, def.width), DIM_LENGTH, KEY_REQUIRED},
	{"cells_x", key_whole, offsetof(PanelInput, def.cells_x), DIM_NUMBER, 0},
	{"cells_y", key_whole, offsetof(PanelInput, def.cells_y), DIM_NUMBER, 0},
	{"rib_x", key_section, offsetof(PanelInput, def.rib_x), DIM_NUMBER, KEY_REQUIRED},
	{"rib_y", key_section, offsetof(PanelInput, def.rib_y), DIM_NUMBER, 0},
	{"cover_mass", key_not_negative, offsetof(PanelInput, def.cover_mass), DIM_MASS, 0},
	{"hinges", key_node, offsetof(PanelInput, hinges), DIM_NUMBER, KEY_MAY_BE_EMPTY},
	{"in_plane", key_flag, offsetof(PanelInput, def.in_plane), DIM_NUMBER, 0},
	CHOICE_KEYS(PanelInput),
};
const KeyTable panel_table = KEY_TABLE("panel", panel_keys);

static bool read_hinges(Reader *r, const TreeNode *list, CalPanelDef *def) {
	if (!read_list(r, list, "rows of the grid, e.g. [0, 4]"))
		return false;
	if (list->count > CAL_PANEL_MAX_HINGES)
		return reader_fail(r, list, "a panel has at most %d hinges", CAL_PANEL_MAX_HINGES);
	for (int i = 0; i < list->count; i++) {
		if (!read_whole(r, list->items[i], "hinges", 0, def->cells_y, &def->hinges[i]))
			return false;
	}
	def->hinge_count = list->count;
	return true;
}

bool model_file_read_panel(Reader *r, const TreeNode *map, const Item *item, CalGroupId group) {
	char place[256];
	PanelInput input = {.def = cal_panel_def()};
	CalBodyId id = {0};
	if (!keys_read(r, map, &panel_table, &input) || !complete_choice(r, map, &input.def.choice) ||
	    (input.hinges && !read_hinges(r, input.hinges, &input.def)))
		return false;
	if (!tree_get(map, "rib_y"))
		input.def.rib_y = input.def.rib_x;
	input.def.name = item->name;
	input.def.group = group;
	input.def.place = tree_place(r->file->tree, item->place, place, sizeof place);
	const CalStatus status = cal_panel_add(r->file->desc, &input.def, &id, r->error);
	return finish_body(r, item, status, id);
}
