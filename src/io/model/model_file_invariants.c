// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_invariants.c — the key "invariants" of a flexible body: its inertia as integrals over mass, position and
 * shapes.
 *
 * Moments of two directions are written by their letters; those that are left out are zero. What the numbers are
 * multiplied by depends on how the shapes are scaled, so they are plain SI numbers, as the shapes are.
 */
#include "io/model/model_file.h"

typedef struct InvariantsInput {
	const TreeNode *linear, *angular, *position, *shape, *modal_mass;
} InvariantsInput;

static const Field invariants_keys[] = {
	{"linear", FIELD_ROWS, offsetof(InvariantsInput, linear), .flags = FIELD_REQUIRED | FIELD_AS_TREE,
     .doc = "x, y, z, with a number for each mode: sum m phi"},
	{"angular", FIELD_ROWS, offsetof(InvariantsInput, angular), .flags = FIELD_AS_TREE,
     .doc = "sum m r x phi + J psi. Default: without rotary inertia, from `position`"},
	{"position", FIELD_MAP, offsetof(InvariantsInput, position), .flags = FIELD_REQUIRED | FIELD_AS_TREE,
     .doc = "sums of position and shape", .table = &position_table},
	{"shape", FIELD_MAP, offsetof(InvariantsInput, shape), .flags = FIELD_REQUIRED | FIELD_AS_TREE,
     .doc = "sums of shape and shape", .table = &shape_table},
	{"modal_mass", FIELD_MATRIX, offsetof(InvariantsInput, modal_mass), .flags = FIELD_AS_TREE,
     .doc = "rows of a matrix, or one number per mode (the diagonal): sum m phi_a.phi_b + psi_a.J "
            "psi_b. Default: without rotary inertia, from `shape`"},
};
const FieldTable invariants_table = {FIELDS("invariants", invariants_keys),
                                     .doc = "The inertia of a flexible body as integrals over its mass."};

/* By first and second letter. */
typedef struct PairInput {
	const TreeNode *of[3][3];
} PairInput;

#define PAIR(kind, name, i, j, meaning) \
	{ name, kind, offsetof(PairInput, of[i][j]), .flags = FIELD_AS_TREE, .doc = meaning }

static const Field position_fields[] = {
	PAIR(FIELD_NUMBERS, "xx", 0, 0, "sum m x phi_x"), PAIR(FIELD_NUMBERS, "xy", 0, 1, "sum m x phi_y"),
	PAIR(FIELD_NUMBERS, "xz", 0, 2, "sum m x phi_z"), PAIR(FIELD_NUMBERS, "yx", 1, 0, "sum m y phi_x"),
	PAIR(FIELD_NUMBERS, "yy", 1, 1, "sum m y phi_y"), PAIR(FIELD_NUMBERS, "yz", 1, 2, "sum m y phi_z"),
	PAIR(FIELD_NUMBERS, "zx", 2, 0, "sum m z phi_x"), PAIR(FIELD_NUMBERS, "zy", 2, 1, "sum m z phi_y"),
	PAIR(FIELD_NUMBERS, "zz", 2, 2, "sum m z phi_z"),
};
const FieldTable position_table = {
	FIELDS("position_moments", position_fields),
	.doc = "Sums m r_i phi_j by their directions i (of the position) and j (of the shape)."};

static const Field shape_fields[] = {
	PAIR(FIELD_MATRIX, "xx", 0, 0, "sum m phi_x phi_x: symmetric"),
	PAIR(FIELD_MATRIX, "xy", 0, 1, "sum m phi_x phi_y"),
	PAIR(FIELD_MATRIX, "xz", 0, 2, "sum m phi_x phi_z"),
	PAIR(FIELD_MATRIX, "yx", 1, 0, "sum m phi_y phi_x"),
	PAIR(FIELD_MATRIX, "yy", 1, 1, "sum m phi_y phi_y: symmetric"),
	PAIR(FIELD_MATRIX, "yz", 1, 2, "sum m phi_y phi_z"),
	PAIR(FIELD_MATRIX, "zx", 2, 0, "sum m phi_z phi_x"),
	PAIR(FIELD_MATRIX, "zy", 2, 1, "sum m phi_z phi_y"),
	PAIR(FIELD_MATRIX, "zz", 2, 2, "sum m phi_z phi_z: symmetric"),
};
const FieldTable shape_table = {FIELDS("shape_moments", shape_fields),
                                .doc = "Sums m phi_i phi_j by their directions."};

static const char *const pair_names[3][3] = {{"xx", "xy", "xz"}, {"yx", "yy", "yz"}, {"zx", "zy", "zz"}};

static bool read_position(Reader *r, const TreeNode *map, int modes, double *out) {
	PairInput in = {0};
	if (!fields_read(r, map, &position_table, &in))
		return false;
	for (int i = 0; i < 9; i++) {
		const TreeNode *row = in.of[i / 3][i % 3];
		if (row && !model_file_read_row(r, row, pair_names[i / 3][i % 3], modes, DIM_NUMBER, out + i * modes))
			return false;
	}
	return true;
}

/* Of xy and yx one is enough: the other has the modes exchanged. */
static bool read_shape(Reader *r, const TreeNode *map, int modes, double *out) {
	PairInput in = {0};
	const int size = modes * modes;
	if (!fields_read(r, map, &shape_table, &in))
		return false;
	for (int i = 0; i < 9; i++) {
		const TreeNode *node = in.of[i / 3][i % 3];
		if (node && !model_file_read_matrix(r, node, pair_names[i / 3][i % 3], modes, out + i * size))
			return false;
	}
	for (int i = 0; i < 9; i++) {
		const double *other = out + (i % 3 * 3 + i / 3) * size;
		for (int k = 0; !in.of[i / 3][i % 3] && k < size; k++)
			out[i * size + k] = other[k % modes * modes + k / modes];
	}
	return true;
}

bool model_file_read_invariants(Reader *r, const TreeNode *map, int modes, CalFlexInvariants *out) {
	InvariantsInput in = {0};
	const size_t m = (size_t)modes;
	if (!fields_read(r, map, &invariants_table, &in))
		return false;
	double *memory = reader_array(r, 15 * m + 10 * m * m, sizeof *memory);
	if (!memory)
		return false;
	double *linear = memory, *angular = linear + 3 * m, *position = angular + 3 * m;
	double *shape = position + 9 * m, *modal_mass = shape + 9 * m * m;
	if (!model_file_read_rows(r, in.linear, "linear", 3, modes, linear) ||
	    (in.angular && !model_file_read_rows(r, in.angular, "angular", 3, modes, angular)) ||
	    !read_position(r, in.position, modes, position) || !read_shape(r, in.shape, modes, shape) ||
	    (in.modal_mass && !model_file_read_matrix(r, in.modal_mass, "modal_mass", modes, modal_mass)))
		return false;
	out->modes = modes;
	out->linear = linear;
	out->angular = in.angular ? angular : NULL;
	out->position = position;
	out->shape = shape;
	out->modal_mass = in.modal_mass ? modal_mass : NULL;
	return true;
}
