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

static const Key invariants_keys[] = {
	{"linear", key_node, offsetof(InvariantsInput, linear), DIM_NUMBER, KEY_REQUIRED},
	{"angular", key_node, offsetof(InvariantsInput, angular), DIM_NUMBER, 0},
	{"position", key_node, offsetof(InvariantsInput, position), DIM_NUMBER, KEY_REQUIRED},
	{"shape", key_node, offsetof(InvariantsInput, shape), DIM_NUMBER, KEY_REQUIRED},
	{"modal_mass", key_node, offsetof(InvariantsInput, modal_mass), DIM_NUMBER, 0},
};
const KeyTable invariants_table = KEY_TABLE("invariants", invariants_keys);

/* By first and second letter. */
typedef struct PairInput {
	const TreeNode *of[3][3];
} PairInput;

#define PAIR_KEY(name, i, j) \
	{ name, key_node, offsetof(PairInput, of[i][j]), DIM_NUMBER, 0 }

static const Key pair_keys[] = {
	PAIR_KEY("xx", 0, 0), PAIR_KEY("xy", 0, 1), PAIR_KEY("xz", 0, 2), PAIR_KEY("yx", 1, 0), PAIR_KEY("yy", 1, 1),
	PAIR_KEY("yz", 1, 2), PAIR_KEY("zx", 2, 0), PAIR_KEY("zy", 2, 1), PAIR_KEY("zz", 2, 2),
};
const KeyTable position_table = KEY_TABLE("position_moments", pair_keys);
const KeyTable shape_table = KEY_TABLE("shape_moments", pair_keys);

static const char *const pair_names[3][3] = {{"xx", "xy", "xz"}, {"yx", "yy", "yz"}, {"zx", "zy", "zz"}};

static bool read_position(Reader *r, const TreeNode *map, int modes, double *out) {
	PairInput in = {0};
	if (!keys_read(r, map, &position_table, &in))
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
	if (!keys_read(r, map, &shape_table, &in))
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
	if (!keys_read(r, map, &invariants_table, &in))
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
