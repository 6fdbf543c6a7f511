// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_beam.c — the keys "beam" and "panel" of a body: the generators of calder/flex.h.
 *
 * The keys are the fields of CalBeamDef, CalPanelDef and CalFlexChoice. What depends on one key is checked here,
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

static bool key_whole(Reader *r, const TreeNode *value, const Field *key, void *target) {
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

static bool key_shape(Reader *r, const TreeNode *value, const Field *key, void *target) {
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

static const Field section_keys[] = {
	{"shape", FIELD_CHOICE, 0, .doc = "default `direct`", .words = FIELD_WORDS("direct", "circle", "tube", "box"),
     .read = key_shape},
	{"diameter", FIELD_POSITIVE, offsetof(SectionInput, diameter), DIM_LENGTH,
     .doc = "circle, tube: outer diameter, required there"},
	{"width", FIELD_POSITIVE, offsetof(SectionInput, section.width), DIM_LENGTH, .doc = "box: along y, required there"},
	{"height", FIELD_POSITIVE, offsetof(SectionInput, section.height), DIM_LENGTH,
     .doc = "box: along z, required there"},
	{"thickness", FIELD_POSITIVE, offsetof(SectionInput, section.thickness), DIM_LENGTH,
     .doc = "tube, box: of the wall; required for a tube, a box is solid without it"},
	{"youngs_modulus", FIELD_POSITIVE, offsetof(SectionInput, section.youngs_modulus), DIM_STRESS,
     .doc = "not direct: required there"},
	{"poissons_ratio", FIELD_NUMBER, offsetof(SectionInput, section.poissons_ratio), .doc = "not direct: default 0.3"},
	{"density", FIELD_NOT_NEGATIVE, offsetof(SectionInput, section.density), DIM_DENSITY,
     .doc = "not direct: required there"},
	{"EA", FIELD_NOT_NEGATIVE, offsetof(SectionInput, section.EA), DIM_FORCE,
     .doc = "direct: stiffness against stretching"},
	{"GJ", FIELD_NOT_NEGATIVE, offsetof(SectionInput, section.GJ), DIM_BENDING, .doc = "direct: against twisting"},
	{"EIy", FIELD_NOT_NEGATIVE, offsetof(SectionInput, section.EIy), DIM_BENDING,
     .doc = "direct: against bending in the xz plane"},
	{"EIz", FIELD_NOT_NEGATIVE, offsetof(SectionInput, section.EIz), DIM_BENDING,
     .doc = "direct: against bending in the xy plane"},
	{"kGAy", FIELD_NOT_NEGATIVE, offsetof(SectionInput, section.kGAy), DIM_FORCE,
     .doc = "direct, Timoshenko: against shear along y, with the shear factor"},
	{"kGAz", FIELD_NOT_NEGATIVE, offsetof(SectionInput, section.kGAz), DIM_FORCE,
     .doc = "direct, Timoshenko: against shear along z"},
	{"rhoA", FIELD_NOT_NEGATIVE, offsetof(SectionInput, section.rhoA), DIM_LINE_MASS, .doc = "direct: mass per length"},
	{"rhoIy", FIELD_NOT_NEGATIVE, offsetof(SectionInput, section.rhoIy), DIM_LINE_INERTIA,
     .doc = "direct: rotary inertia per length about y"},
	{"rhoIz", FIELD_NOT_NEGATIVE, offsetof(SectionInput, section.rhoIz), DIM_LINE_INERTIA,
     .doc = "direct: about z; about x it is the sum of both"},
};
const FieldTable section_table = {FIELDS("section", section_keys),
                                  .doc = "A cross-section of a beam or a rib; y and z are its principal axes."};

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

static bool key_section(Reader *r, const TreeNode *value, const Field *key, void *target) {
	CalSection *out = (CalSection *)(void *)((char *)target + key->offset);
	SectionInput input = {.section.poissons_ratio = out->poissons_ratio};
	if (!fields_read(r, value, &section_table, &input) || !check_section_keys(r, value, input.section.shape))
		return false;
	*out = input.section;
	if (tree_get(value, "diameter"))
		out->height = input.diameter;
	return true;
}

/* ---- which modes ---------------------------------------------------------------------------------- */

static bool key_boundary(Reader *r, const TreeNode *value, const Field *key, void *target) {
	Word words[CAL_FLEX_BOUNDARY_COUNT];
	int boundary;
	for (int i = 0; i < CAL_FLEX_BOUNDARY_COUNT; i++)
		words[i] = (Word){cal_flex_boundary_name((CalFlexBoundary)i), i};
	if (!read_word(r, value, "boundary", words, CAL_FLEX_BOUNDARY_COUNT, &boundary))
		return false;
	*(CalFlexBoundary *)(void *)((char *)target + key->offset) = (CalFlexBoundary)boundary;
	return true;
}

/* The words that both have, and what is said of the boundary and of the frame. */
#define CHOICE_FIELDS(type, boundaries, boundary_doc, attached_doc)                                    \
	{"boundary",          FIELD_CHOICE,        offsetof(type, def.choice.boundary),                    \
	 .doc = boundary_doc, .words = boundaries, .read = key_boundary},                                  \
		{"attached", FIELD_FLAG, offsetof(type, def.choice.attached), .doc = attached_doc},            \
		{"modes", FIELD_WHOLE, offsetof(type, def.choice.modes),                                       \
	     .doc = "number of normal modes, the lowest; default 4, or with `max_frequency` all up to it", \
	     .read = key_whole},                                                                           \
		{"max_frequency", FIELD_POSITIVE, offsetof(type, def.choice.max_frequency), DIM_RATE,          \
	     .doc = "keep modes up to it; with `modes` whichever is less"},                                \
		{"damping_ratio", FIELD_NOT_NEGATIVE, offsetof(type, def.choice.damping_ratio),                \
	     .doc = "of every mode with the body frame held; default 0"},                                  \
	{                                                                                                  \
		"frequency_bound", FIELD_POSITIVE, offsetof(type, def.choice.bound), DIM_RATE,                 \
			.doc = "as for [flexible](#flexible); default none"                                        \
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
static bool key_deformation(Reader *r, const TreeNode *value, const Field *key, void *target) {
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

static const Field beam_keys[] = {
	{"length", FIELD_POSITIVE, offsetof(BeamInput, def.length), DIM_LENGTH, .flags = FIELD_REQUIRED, .doc = "along x"},
	{"section", FIELD_MAP, offsetof(BeamInput, def.root), .flags = FIELD_REQUIRED,
     .doc = "at the root, and everywhere without `tip_section`", .table = &section_table, .read = key_section},
	{"tip_section", FIELD_MAP, offsetof(BeamInput, def.tip),
     .doc = "at the tip, of the same shape: dimensions (or stiffnesses) vary linearly between", .table = &section_table,
     .read = key_section},
	{"timoshenko", FIELD_FLAG, offsetof(BeamInput, def.timoshenko),
     .doc = "shear deformation and rotary inertia; default Euler-Bernoulli, with neither"},
	{"deformation", FIELD_CHOICE, offsetof(BeamInput, def.deformation), .flags = FIELD_OR_LIST,
     .doc = "`bend_y`, `bend_z`: deflection along y, z; `bending`: both planes. Default `bending`",
     .words = FIELD_WORDS("bend_y", "bend_z", "bending", "torsion", "axial", "all"), .read = key_deformation},
	{"elements", FIELD_WHOLE, offsetof(BeamInput, def.elements), .doc = "of equal length, 1 to 400; default 8",
     .read = key_whole},
	{"order", FIELD_WHOLE, offsetof(BeamInput, def.order), .doc = "polynomial degree in an element, 3 to 9; default 5",
     .read = key_whole},
	{"masses", FIELD_LIST, offsetof(BeamInput, masses), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "masses on the axis", .table = &beam_mass_table},
	CHOICE_FIELDS(
		BeamInput, FIELD_WORDS("clamped", "pinned", "free", "craig-bampton"),
		"how the beam is held while its shapes are computed: `clamped` (default): root held; `pinned`: position of the root held; `craig-bampton`: static shapes of the tip, then modes with both ends held. Any node can be a joint's all the same",
		"`pinned` and `free`: the body frame stays on the root instead of following the mean motion"),
	{"second_order", FIELD_FLAG, offsetof(BeamInput, def.second_order),
     .doc = "foreshortening by bending, which stiffens a rotating beam"},
};
const FieldTable beam_table = {FIELDS("beam", beam_keys),
                               .doc = "A straight flexible beam along x from the origin of the body frame."};

typedef struct BeamMassInput {
	CalBeamMass mass;
	const TreeNode *inertia;
} BeamMassInput;

static const Field beam_mass_keys[] = {
	{"x", FIELD_NUMBER, offsetof(BeamMassInput, mass.x), DIM_LENGTH, .flags = FIELD_REQUIRED,
     .doc = "distance from the root"},
	{"mass", FIELD_NOT_NEGATIVE, offsetof(BeamMassInput, mass.mass), DIM_MASS, .doc = "default 0"},
	{"inertia", FIELD_MAP, offsetof(BeamMassInput, inertia), DIM_INERTIA, .flags = FIELD_AS_TREE,
     .doc = "about its own center, which is on the axis; default 0", .table = &inertia_table},
};
const FieldTable beam_mass_table = {FIELDS("beam_mass", beam_mass_keys), .doc = "A mass fixed on the axis of a beam."};

static bool read_masses(Reader *r, const TreeNode *list, CalBeamDef *def) {
	if (!read_list(r, list, "masses on the beam, e.g. - {x: 2 m, mass: 3 kg}"))
		return false;
	CalBeamMass *masses = reader_array(r, (size_t)list->count, sizeof *masses);
	if (!masses)
		return false;
	for (int i = 0; i < list->count; i++) {
		BeamMassInput input = {0};
		if (!fields_read(r, list->items[i], &beam_mass_table, &input) ||
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
	if (!fields_read(r, map, &beam_table, &input) || !complete_choice(r, map, &input.def.choice) ||
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

static const Field panel_keys[] = {
	{"length", FIELD_POSITIVE, offsetof(PanelInput, def.length), DIM_LENGTH, .flags = FIELD_REQUIRED, .doc = "along x"},
	{"width", FIELD_POSITIVE, offsetof(PanelInput, def.width), DIM_LENGTH, .flags = FIELD_REQUIRED, .doc = "along y"},
	{"cells_x", FIELD_WHOLE, offsetof(PanelInput, def.cells_x),
     .doc = "cells of the grid along x; default 6. At most 400 grid points in all", .read = key_whole},
	{"cells_y", FIELD_WHOLE, offsetof(PanelInput, def.cells_y),
     .doc = "cells along y; default 4. `free` and `craig-bampton` need an even number", .read = key_whole},
	{"rib_x", FIELD_MAP, offsetof(PanelInput, def.rib_x), .flags = FIELD_REQUIRED,
     .doc = "members along x; their y axis is in the plane, their z axis is the normal", .table = &section_table,
     .read = key_section},
	{"rib_y", FIELD_MAP, offsetof(PanelInput, def.rib_y), .doc = "members along y, likewise; default as `rib_x`",
     .table = &section_table, .read = key_section},
	{"cover_mass", FIELD_NOT_NEGATIVE, offsetof(PanelInput, def.cover_mass), DIM_MASS,
     .doc = "evenly spread and without stiffness; default 0"},
	{"hinges", FIELD_NUMBERS, offsetof(PanelInput, hinges), .flags = FIELD_MAY_BE_EMPTY | FIELD_AS_TREE,
     .doc = "rows of the grid, 0 to `cells_y`: points of the edge x = 0 that are held; default the "
            "whole edge"},
	{"in_plane", FIELD_FLAG, offsetof(PanelInput, def.in_plane),
     .doc = "motion in the plane too; default out of it only"},
	CHOICE_FIELDS(PanelInput, FIELD_WORDS("clamped", "free", "craig-bampton"),
                  "default `clamped`; `craig-bampton`: interfaces `root` and `tip`; as for a [beam](#beam)",
                  "`free`: the body frame stays on the root"),
	{"second_order", FIELD_FLAG, offsetof(PanelInput, def.second_order),
     .doc = "motion in the plane caused by bending, which stiffens a rotating panel; needs `EA` and `EIz` of the ribs"},
};
const FieldTable panel_table = {FIELDS("panel", panel_keys),
                                .doc = "A flat rectangular lattice of ribs in the xy plane, with an optional cover."};

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
	if (!fields_read(r, map, &panel_table, &input) || !complete_choice(r, map, &input.def.choice) ||
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
