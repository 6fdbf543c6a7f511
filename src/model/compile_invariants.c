// SPDX-License-Identifier: Apache-2.0
/*
 * compile_invariants.c — inertia invariants of a flexible body (body/flex.h): which blocks of them are not zero, whether
 * they cost less than sums over the masses, and their values.
 *
 * Of two axes i, j: G_ij(k, l) = sum m phi_ik phi_jl, C0_ij(k) = sum m phi_ik p_j; a component is one of these or takes
 * two of them. Most vanish: bending shapes have one component, and modes that are orthogonal in the mass of a slender
 * body leave a diagonal. An entry that is nothing but the round-off of its own sum counts as zero.
 */
#include "model/compile.h"

static const double ROUND_OFF = 1e-13; // of a sum of terms that cancel, and of shapes that a generator made orthogonal

/* Axes of a component, weight of its entry ij, and of ji. */
typedef struct Component {
	int i, j;
	double ij, ji;
} Component;

static const Component COMPONENT[FLEX_COMPONENTS] = {
	[FLEX_XX] = {0, 0, 1, 0},     [FLEX_YY] = {1, 1, 1, 0},     [FLEX_ZZ] = {2, 2, 1, 0},
	[FLEX_XY] = {0, 1, 0.5, 0.5}, [FLEX_XZ] = {0, 2, 0.5, 0.5}, [FLEX_YZ] = {1, 2, 0.5, 0.5},
	[FLEX_X] = {2, 1, 1, -1},     [FLEX_Y] = {0, 2, 1, -1},     [FLEX_Z] = {1, 0, 1, -1},
};

static int has_invariants(const CalFlexNode *node) { return node->mass > 0 && node->phi && !node->phi2; }

/*
 * Axes may be exchanged (right_angles of the body), which the number of blocks does not depend on: axis a of the result
 * is sign times axis b of the description.
 */
typedef struct Axes {
	int from[3];
	double sign[3];
} Axes;

static Axes axes_of(dmat3 R) {
	const double rows[3][3] = {{R.x.x, R.y.x, R.z.x}, {R.x.y, R.y.y, R.z.y}, {R.x.z, R.y.z, R.z.z}};
	Axes axes = {{0}, {0}};
	for (int i = 0; i < 9; ++i) {
		if (rows[i / 3][i % 3] != 0)
			axes.from[i / 3] = i % 3, axes.sign[i / 3] = rows[i / 3][i % 3];
	}
	return axes;
}

static double moment(const CalFlexDef *def, const Axes *axes, int c, int k, int l) {
	const Component *at = &COMPONENT[c];
	const int m = def->modes, i = axes->from[at->i] * m, j = axes->from[at->j] * m;
	double sum = 0, size = 0;
	for (int node = 0; node < def->node_count; ++node) {
		if (!has_invariants(&def->nodes[node]))
			continue;
		const double *phi = def->nodes[node].phi, mass = def->nodes[node].mass;
		const double ij = at->ij * mass * phi[i + k] * phi[j + l], ji = at->ji * mass * phi[j + k] * phi[i + l];
		sum += ij + ji;
		size += fabs(ij) + fabs(ji);
	}
	return fabs(sum) > ROUND_OFF * size ? axes->sign[at->i] * axes->sign[at->j] * sum : 0.0;
}

/* Component c for four modes from k on and mode l; returns 0 if all are zero. */
static int moment_block(const CalFlexDef *def, const Axes *axes, int c, int k, int l, double block[PACK]) {
	int any = 0;
	for (int i = 0; i < PACK; ++i) {
		block[i] = k + i < def->modes ? moment(def, axes, c, k + i, l) : 0.0;
		any |= block[i] != 0;
	}
	return any;
}

/* Some mass has a shape along this axis of the description. */
static int axis_moves(const CalFlexDef *def, int axis) {
	const int m = def->modes;
	for (int i = 0; i < def->node_count; ++i) {
		for (int k = 0; has_invariants(&def->nodes[i]) && k < m; ++k) {
			if (def->nodes[i].phi[axis * m + k] != 0)
				return 1;
		}
	}
	return 0;
}

/* Components for which masses have shapes along both axes; returns their number. */
static int components_of(const CalFlexDef *def, const Axes *axes, int exists[FLEX_COMPONENTS]) {
	int moves[3], count = 0;
	for (int i = 0; i < 3; ++i)
		moves[i] = axis_moves(def, axes->from[i]);
	for (int c = 0; c < FLEX_COMPONENTS; ++c)
		count += exists[c] = moves[COMPONENT[c].i] && moves[COMPONENT[c].j];
	return count;
}

/* Component c for four modes from k on and four from l on, a block for each of these. Returns how many are not zero. */
static int moment_square(const CalFlexDef *def, const Axes *axes, int c, int k, int l, double block[PACK][PACK]) {
	int count = 0;
	memset(block, 0, sizeof(double) * PACK * PACK);
	for (int j = 0; j < PACK && l + j < def->modes; ++j)
		count += moment_block(def, axes, c, k, l + j, block[j]);
	return count;
}

/* Two or more blocks with nothing off the diagonal; then the first becomes the diagonal. */
static int make_diagonal(int count, double block[PACK][PACK]) {
	if (count < 2)
		return 0;
	for (int i = 0; i < PACK * PACK; ++i) {
		if (i % (PACK + 1) != 0 && block[i / PACK][i % PACK] != 0)
			return 0;
	}
	for (int j = 1; j < PACK; ++j)
		block[0][j] = block[j][j];
	return 1;
}

/* Where blocks go; NULL: they are only counted. */
typedef struct BlockList {
	int count;
	int32_t *mode;
	double *G;
} BlockList;

static void keep_block(BlockList *list, int mode, const double block[PACK]) {
	if (list->mode) {
		list->mode[list->count] = mode;
		memcpy(list->G + list->count * PACK, block, sizeof(double) * PACK);
	}
	++list->count;
}

/* Modes l to l + 3 in one pack and component; all: zeros too. */
static void keep_square(int l, int count, int all, double block[PACK][PACK], BlockList *list) {
	if (!all && make_diagonal(count, block)) {
		keep_block(list, ~l, block[0]);
		return;
	}
	for (int j = 0; j < PACK; ++j) {
		int zero = 1;
		for (int i = 0; i < PACK; ++i)
			zero &= block[j][i] == 0;
		if (all || !zero)
			keep_block(list, l + j, block[j]);
	}
}

/* Blocks of G that are kept: written where there is an array to write to. Returns their number. */
static int keep_blocks(const CalFlexDef *def, const Axes *axes, int dense, int32_t *first, int32_t *mode, double *G) {
	BlockList list = {0, mode, G};
	int exists[FLEX_COMPONENTS];
	const int n = row_length(def->modes);
	components_of(def, axes, exists);
	for (int k = 0; k < n; k += PACK) {
		for (int c = 0; c < FLEX_COMPONENTS; ++c) {
			if (first)
				*first++ = list.count;
			for (int l = 0; l < n && (dense || exists[c]); l += PACK) {
				double block[PACK][PACK];
				const int count = moment_square(def, axes, c, k, l, block);
				keep_square(l, count, dense || (n == PACK && count > 0), block, &list);
			}
		}
	}
	if (first)
		*first = list.count;
	return list.count;
}

static int is_dense(const Compiler *c) { return c->modal_inertia == CAL_MODAL_INERTIA_DENSE_INVARIANTS; }

/* Flops by hand count: 30 per mode and 60 per mass; 12 per block (on average) and 8 per mode and component. */
static double flops_of_sums(int masses, int m) { return masses * (30.0 * row_length(m) + 60.0); }
static double flops_of_blocks(int blocks, int components, int m) {
	return 12.0 * blocks + 8.0 * components * row_length(m);
}

int invariants_pay(const Compiler *c, const CalFlexDef *def) {
	if (c->modal_inertia != CAL_MODAL_INERTIA_AUTO)
		return c->modal_inertia != CAL_MODAL_INERTIA_SUMS;
	const Axes axes = axes_of(dmat_identity());
	int masses = 0, exists[FLEX_COMPONENTS];
	for (int i = 0; i < def->node_count; ++i)
		masses += has_invariants(&def->nodes[i]);
	const int components = components_of(def, &axes, exists);
	if (flops_of_blocks(0, components, def->modes) >= flops_of_sums(masses, def->modes))
		return 0;
	return flops_of_blocks(keep_blocks(def, &axes, 0, NULL, NULL, NULL), components, def->modes) <
	       flops_of_sums(masses, def->modes);
}

void invariants_count(Compiler *c, const CalFlexDef *def) {
	if (!invariants_pay(c, def))
		return;
	const Axes axes = axes_of(dmat_identity());
	const size_t blocks = (size_t)keep_blocks(def, &axes, is_dense(c), NULL, NULL, NULL);
	c->flex_numbers += (size_t)FLEX_COMPONENTS * (size_t)row_length(def->modes) + PACK * blocks;
	c->flex_indices += (size_t)(FLEX_COMPONENTS + 2) * (size_t)(row_length(def->modes) / PACK) + 1 + blocks;
}

void invariants_fill(Compiler *c, const CalFlexDef *def, Flex *flex) {
	FlexInvariants *inv = &flex->inv;
	const int n = flex->n;
	double *C0 = c->numbers, *G = C0 + FLEX_COMPONENTS * n;
	int32_t *some = c->indices, *grows = some + n / PACK, *first = grows + n / PACK;
	int32_t *mode = first + FLEX_COMPONENTS * (n / PACK) + 1;
	const Axes axes = axes_of(flex->right_angles);
	const int blocks = keep_blocks(def, &axes, is_dense(c), first, mode, G);
	for (int i = 0; i < flex->summed_first; ++i) {
		const FlexMass *mass = &flex->masses[i];
		if (!mass->phi)
			continue;
		const double p[3] = {mass->p.x, mass->p.y, mass->p.z};
		for (int k = 0; k < FLEX_COMPONENTS * n; ++k) {
			const Component *at = &COMPONENT[k / n];
			const double *phi = mass->phi + k % n;
			C0[k] += mass->m * (at->ij * phi[at->i * n] * p[at->j] + at->ji * phi[at->j * n] * p[at->i]);
		}
	}
	for (int k = 0; k < n / PACK; ++k)
		some[k] = grows[k] = 0;
	for (int k = 0; k < FLEX_COMPONENTS * (n / PACK); ++k)
		grows[k / FLEX_COMPONENTS] |= first[k + 1] > first[k] ? 1 << k % FLEX_COMPONENTS : 0;
	for (int k = 0; k < FLEX_COMPONENTS * n; ++k)
		some[k % n / PACK] |= C0[k] != 0 ? 1 << k / n : 0;
	for (int k = 0; k < n / PACK; ++k) {
		some[k] |= grows[k];
		inv->components |= (unsigned)some[k];
	}
	inv->some = some, inv->grows = grows;
	inv->C0 = C0, inv->G = G, inv->first = first, inv->mode = mode;
	c->numbers = G + PACK * blocks;
	c->indices = mode + blocks;
}

double invariants_flops(const Flex *flex) {
	double flops = flops_of_sums(flex->mass_count - flex->summed_first, flex->m);
	if (!flex->inv.first)
		return flops;
	int components = 0;
	for (int k = 0; k < FLEX_COMPONENTS; ++k)
		components += (flex->inv.components & 1u << k) != 0;
	return flops + flops_of_blocks(flex->inv.first[FLEX_COMPONENTS * (flex->n / PACK)], components, flex->m);
}
