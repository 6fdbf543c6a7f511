// SPDX-License-Identifier: Apache-2.0
/*
 * compile_invariants.c — inertia invariants of a flexible body (flexbody/flex_body.h): which blocks of them are not
 * zero, whether they cost less than sums over the masses, and their values.
 *
 * Of two axes i, j: G_ij(k, l) = sum m phi_ik phi_jl, C0_ij(k) = sum m phi_ik p_j; a component is one of these or takes
 * two of them. Most vanish: bending shapes have one component, and modes that are orthogonal in the mass of a slender
 * body leave a diagonal. An entry that is nothing but the round-off of its own sum counts as zero.
 */
#include "model/compile/compile.h"
#include "model/compile/flex_form.h"

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

static double moment(const CalFlexDef *def, int c, int k, int l) {
	const Component *at = &COMPONENT[c];
	const int m = def->modes, i = at->i * m, j = at->j * m;
	double sum = 0, size = 0;
	for (int node = 0; node < def->node_count; ++node) {
		if (!has_invariants(&def->nodes[node]))
			continue;
		const double *phi = def->nodes[node].phi, mass = def->nodes[node].mass;
		const double ij = at->ij * mass * phi[i + k] * phi[j + l], ji = at->ji * mass * phi[j + k] * phi[i + l];
		sum += ij + ji;
		size += fabs(ij) + fabs(ji);
	}
	return fabs(sum) > ROUND_OFF * size ? sum : 0.0;
}

/* Component c for four modes from k on and mode l; returns 0 if all are zero. */
static int moment_block(const CalFlexDef *def, int c, int k, int l, double block[PACK]) {
	int any = 0;
	for (int i = 0; i < PACK; ++i) {
		block[i] = k + i < def->modes ? moment(def, c, k + i, l) : 0.0;
		any |= block[i] != 0;
	}
	return any;
}

/* Some mass has a shape along this axis. */
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
static int components_of(const CalFlexDef *def, int exists[FLEX_COMPONENTS]) {
	int moves[3], count = 0;
	for (int i = 0; i < 3; ++i)
		moves[i] = axis_moves(def, i);
	for (int c = 0; c < FLEX_COMPONENTS; ++c)
		count += exists[c] = moves[COMPONENT[c].i] && moves[COMPONENT[c].j];
	return count;
}

/* Component c for four modes from k on and four from l on, a block for each of these. Returns how many are not zero. */
static int moment_square(const CalFlexDef *def, int c, int k, int l, double block[PACK][PACK]) {
	int count = 0;
	memset(block, 0, sizeof(double) * PACK * PACK);
	for (int j = 0; j < PACK && l + j < def->modes; ++j)
		count += moment_block(def, c, k, l + j, block[j]);
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
static int keep_blocks(const CalFlexDef *def, int dense, int32_t *first, int32_t *mode, double *G) {
	BlockList list = {0, mode, G};
	int exists[FLEX_COMPONENTS];
	const int n = row_length(def->modes);
	components_of(def, exists);
	for (int k = 0; k < n; k += PACK) {
		for (int c = 0; c < FLEX_COMPONENTS; ++c) {
			if (first)
				*first++ = list.count;
			for (int l = 0; l < n && (dense || exists[c]); l += PACK) {
				double block[PACK][PACK];
				const int count = moment_square(def, c, k, l, block);
				keep_square(l, count, dense || (n == PACK && count > 0), block, &list);
			}
		}
	}
	if (first)
		*first = list.count;
	return list.count;
}

/* Flops by hand count: 30 per mode and 60 per mass; 12 per block (on average) and 8 per mode and component. */
static double flops_of_sums(int masses, int m) { return masses * (30.0 * row_length(m) + 60.0); }
static double flops_of_blocks(int blocks, int components, int m) {
	return 12.0 * blocks + 8.0 * components * row_length(m);
}

static int is_dense(CalModalInertia how) { return how == CAL_MODAL_INERTIA_DENSE_INVARIANTS; }

int invariants_count(const CalFlexDef *def, CalModalInertia how) {
	if (how == CAL_MODAL_INERTIA_SUMS)
		return -1;
	if (how != CAL_MODAL_INERTIA_AUTO)
		return keep_blocks(def, is_dense(how), NULL, NULL, NULL);
	int masses = 0, exists[FLEX_COMPONENTS];
	for (int i = 0; i < def->node_count; ++i)
		masses += has_invariants(&def->nodes[i]);
	const int components = components_of(def, exists);
	const double sums = flops_of_sums(masses, def->modes);
	if (flops_of_blocks(0, components, def->modes) >= sums)
		return -1;
	const int blocks = keep_blocks(def, 0, NULL, NULL, NULL);
	return flops_of_blocks(blocks, components, def->modes) < sums ? blocks : -1;
}

void invariants_make(const CalFlexDef *def, CalModalInertia how, FlexForm *form) {
	keep_blocks(def, is_dense(how), form->first, form->mode, form->G);
}

/* ---- in the model ---------------------------------------------------------------------------------- */

/*
 * Axes may be exchanged (right_angles of the body): axis a of the model is sign times axis b of the description. Components
 * are exchanged with them, and blocks change their place and sign at most.
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

/* The component of the description that becomes component c, and its sign. */
static int source_of(const Axes *axes, int c, double *sign) {
	const Component *at = &COMPONENT[c];
	const int i = axes->from[at->i], j = axes->from[at->j], axial = at->ji < 0;
	*sign = axes->sign[at->i] * axes->sign[at->j];
	for (int s = 0; s < FLEX_COMPONENTS; ++s) {
		const Component *from = &COMPONENT[s];
		if ((from->ji < 0) != axial || (from->i != i && from->i != j) || (from->j != i && from->j != j))
			continue;
		if ((i == j) != (from->i == from->j))
			continue;
		*sign *= axial && from->i != i ? -1 : 1;
		return s;
	}
	return c;
}

/* Numbers with a sign; no zero gets one. */
static void put_signed(double *to, const double *from, int count, double sign) {
	if (sign > 0)
		memcpy(to, from, sizeof(double) * (size_t)count);
	for (int i = 0; sign < 0 && i < count; ++i)
		to[i] = 0.0 - from[i];
}

/* Blocks of a form in the axes of the model. */
static void place_blocks(const FlexForm *form, const Axes *axes, int32_t *first, int32_t *mode, double *G) {
	int source[FLEX_COMPONENTS], made = 0;
	double sign[FLEX_COMPONENTS];
	for (int c = 0; c < FLEX_COMPONENTS; ++c)
		source[c] = source_of(axes, c, &sign[c]);
	for (int k = 0; k < form->n; k += PACK) {
		const int32_t *of_pack = form->first + k / PACK * FLEX_COMPONENTS;
		for (int c = 0; c < FLEX_COMPONENTS; ++c) {
			const int at = of_pack[source[c]], count = of_pack[source[c] + 1] - at;
			*first++ = made;
			memcpy(mode + made, form->mode + at, sizeof *mode * (size_t)count);
			put_signed(G + made * PACK, form->G + at * PACK, count * PACK, sign[c]);
			made += count;
		}
	}
	*first = made;
}

void invariants_room(Compiler *c, const FlexForm *form) {
	const size_t n = (size_t)form->n, blocks = (size_t)form->block_count;
	if (!form->invariants)
		return;
	c->flex_numbers += FLEX_COMPONENTS * n + PACK * blocks;
	c->flex_indices += (FLEX_COMPONENTS + 2) * (n / PACK) + 1 + blocks;
}

/* sum += m (a x + b y), a row. */
static void add_moments(double *restrict sum, const double *x, const double *y, int n, double m, double a, double b) {
	for (int k = 0; k < n; k += PACK) {
		for (int i = k; i < k + PACK; ++i)
			sum[i] += m * (a * x[i] + b * y[i]);
	}
}

/* sum m phi_ik p_j of the masses. */
static void fill_C0(const Flex *flex, double *C0) {
	const int n = flex->n;
	for (int i = 0; i < flex->summed_first; ++i) {
		const FlexMass *mass = &flex->masses[i];
		const double p[3] = {mass->p.x, mass->p.y, mass->p.z};
		for (int c = 0; mass->phi && c < FLEX_COMPONENTS; ++c) {
			const Component *at = &COMPONENT[c];
			add_moments(C0 + c * n, mass->phi + at->i * n, mass->phi + at->j * n, n, mass->m, at->ij * p[at->j],
			            at->ji * p[at->i]);
		}
	}
}

void invariants_fill(Compiler *c, const FlexForm *form, Flex *flex) {
	FlexInvariants *inv = &flex->inv;
	const int n = flex->n, packs = n / PACK;
	double *C0 = c->numbers, *G = C0 + FLEX_COMPONENTS * n;
	int32_t *some = c->indices, *grows = some + packs, *first = grows + packs;
	int32_t *mode = first + FLEX_COMPONENTS * packs + 1;
	const Axes axes = axes_of(flex->right_angles);
	place_blocks(form, &axes, first, mode, G);
	fill_C0(flex, C0);
	for (int k = 0; k < packs; ++k) {
		for (int i = 0; i < FLEX_COMPONENTS; ++i) {
			const int32_t *blocks = first + k * FLEX_COMPONENTS + i;
			const double *at = C0 + i * n + k * PACK;
			grows[k] |= blocks[1] > blocks[0] ? 1 << i : 0;
			some[k] |= blocks[1] > blocks[0] || at[0] != 0 || at[1] != 0 || at[2] != 0 || at[3] != 0 ? 1 << i : 0;
		}
		inv->components |= (unsigned)some[k];
	}
	inv->some = some, inv->grows = grows;
	inv->C0 = C0, inv->G = G, inv->first = first, inv->mode = mode;
	c->numbers = G + PACK * form->block_count;
	c->indices = mode + form->block_count;
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
