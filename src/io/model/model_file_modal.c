// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_modal.c — the key "modal" of a body: a flexible body that another file holds (calder/fe.h, docs/fe.md).
 *
 * The file is sought in the folder of the model file. What is wrong inside it is reported at the key that names it,
 * followed by the place in the file itself: model.yaml:4:12: error: body "b": b.json:6:3: expected a finite number.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_reader.h"
#include "fe/fe_modal.h"
#include "io/model/model_file.h"

typedef struct ModalInput {
	const TreeNode *file;
	double mass, frequency_bound; // 0: not given
	int ignore_geometric;
} ModalInput;

static const Field modal_keys[] = {
	{"file", FIELD_FILE, offsetof(ModalInput, file), .flags = FIELD_REQUIRED | FIELD_AS_TREE,
     .doc = "a modal file or a SID"},
	{"mass", FIELD_POSITIVE, offsetof(ModalInput, mass), DIM_MASS,
     .doc = "expected mass; a difference of more than 1 % is an error"},
	{"frequency_bound", FIELD_POSITIVE, offsetof(ModalInput, frequency_bound), DIM_RATE,
     .doc = "as for [flexible](#flexible); default none"},
	{"ignore_geometric", FIELD_FLAG, offsetof(ModalInput, ignore_geometric),
     .doc = "omits geometric stiffness and second-order shapes; for a SID whose terms a body cannot carry"},
};
const FieldTable modal_table = {FIELDS("modal", modal_keys), .brief = FIELD_FILE,
                                .doc = "A flexible body that another file holds."};

/* Finite element models have to be reduced first. */
static bool check_kind(Reader *r, const TreeNode *node, const char *path) {
	static const char *const fe[] = {".inp", ".dof", ".sti", ".mas", ".pch", ".dmig", ".bdf", ".nas", ".dat"};
	for (size_t i = 0; i < sizeof fe / sizeof fe[0]; i++)
		if (fe_ends_with(path, fe[i]))
			return reader_fail(r, node,
			                   "\"%.100s\" is a finite element model; reduce it by \"calder modes %.100s --write "
			                   "FILE.json\" and name that file",
			                   path, path);
	return true;
}

/* The reader of the other file says "place: error: text"; one "error: " is enough. */
static bool refused_inside(Reader *r, const TreeNode *node, CalStatus status, const CalError *error) {
	const char *mark = strstr(error->text, ": error: ");
	const char *rest = mark ? mark + strlen(": error: ") : error->text;
	reader_fail(r, node, "%.*s%s", mark ? (int)(mark - error->text) + 2 : 0, error->text, rest);
	r->status = status;
	if (r->error)
		r->error->status = status;
	return false;
}

static bool check_mass(Reader *r, const TreeNode *node, double expected, double mass) {
	if (!(expected > 0) || fabs(mass - expected) <= 0.01 * expected)
		return true;
	return reader_fail(
		r, node, "the file holds %g kg, %g kg were expected (%.4g times as much); %s", mass, expected, mass / expected,
		ratio_is_of_units(mass / expected) ? "the units are probably off: modal and SID files are in kg and m"
										   : "is it the same part?");
}

static bool add_body(Reader *r, const ModalInput *in, const TreeNode *map, const CalModal *modal, const Item *item,
                     CalGroupId group) {
	char place[256];
	CalBodyId id = {0};
	const CalModalInfo info = cal_modal_info(modal);
	if (!check_mass(r, tree_get(map, "mass"), in->mass, info.mass))
		return false;
	const CalStatus status = fe_modal_add_body(modal, r->file->desc, item->name, group,
	                                           tree_place(r->file->tree, item->place, place, sizeof place),
	                                           in->frequency_bound, &id, r->error);
	if (status != CAL_OK)
		return reader_refused(r, item->place, status);
	r->file->modes[id.value - 1] = info.modes;
	return true;
}

bool model_file_read_modal(Reader *r, const TreeNode *node, const Item *item, CalGroupId group) {
	ModalInput in = {.file = node};
	const char *name;
	char path[1024];
	if (node->kind != TREE_SCALAR && !fields_read(r, node, &modal_table, &in))
		return false;
	if (!read_text(r, in.file, &name) || !check_kind(r, in.file, name))
		return false;
	if (!reader_path(r, in.file, NULL, name, path, sizeof path))
		return false;
	const CalModalOptions options = {.ignore_geometric_stiffness = in.ignore_geometric};
	CalError error = {0};
	CalModal *modal = NULL;
	const CalStatus status = cal_modal_read(path, &options, &r->file->allocator, &modal, &error);
	if (status != CAL_OK)
		return refused_inside(r, in.file, status, &error);
	const bool added = add_body(r, &in, node, modal, item, group);
	cal_modal_destroy(modal);
	return added;
}
