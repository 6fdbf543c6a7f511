// SPDX-License-Identifier: Apache-2.0
/*
 * compile_invariants.c — inertia invariants of a flexible body (body/flex.h): which blocks of them are not zero, whether
 * they cost less than sums over the masses, and their values.
 *
 * G_ij(k, l) = sum m phi_ik phi_jl, C0_ij(k) = sum m phi_ik p_j. Most vanish: bending shapes have one component, and
 * modes that are orthogonal in the mass of a slender body leave a diagonal. An entry that is nothing but the round-off of
 * its own sum counts as zero.
 */
#include "model/compile.h"

enum { COMPONENTS = 9 };

static const double ROUND_OFF = 1e-13; // of a sum of terms that cancel, and of shapes that a generator made orthogonal

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
	const int m = def->modes, row = axes->from[c / 3] * m + k, column = axes->from[c % 3] * m + l;
	double sum = 0, size = 0;
	for (int i = 0; i < def->node_count; ++i) {
		if (!has_invariants(&def->nodes[i]))
			continue;
		const double term = def->nodes[i].mass * def->nodes[i].phi[row] * def->nodes[i].phi[column];
		sum += term;
		size += fabs(term);
	}
	return fabs(sum) > ROUND_OFF * size ? axes->sign[c / 3] * axes->sign[c % 3] * sum : 0.0;
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

/* Some mass has shapes along both axes of component c. */
static int component_exists(const CalFlexDef *def, const Axes *axes, int c) {
	const int m = def->modes;
	int row = 0, column = 0;
	for (int i = 0; i < def->node_count; ++i) {
		if (!has_invariants(&def->nodes[i]))
			continue;
		for (int k = 0; k < m; ++k) {
			row |= def->nodes[i].phi[axes->from[c / 3] * m + k] != 0;
			column |= def->nodes[i].phi[axes->from[c % 3] * m + k] != 0;
		}
	}
	return row && column;
}

/* Blocks of G that are kept: written where there is an array to write to. Returns their number. */
static int keep_blocks(const CalFlexDef *def, const Axes *axes, int dense, int32_t *first, int32_t *mode, double *G) {
	int count = 0;
	int exists[COMPONENTS];
	for (int c = 0; c < COMPONENTS; ++c)
		exists[c] = dense || component_exists(def, axes, c);
	for (int k = 0; k < row_length(def->modes); k += PACK) {
		for (int c = 0; c < COMPONENTS; ++c) {
			if (first)
				*first++ = count;
			for (int l = 0; l < def->modes && exists[c]; ++l) {
				double block[PACK];
				if (!moment_block(def, axes, c, k, l, block) && !dense)
					continue;
				if (mode)
					mode[count] = l;
				for (int i = 0; G && i < PACK; ++i)
					G[count * PACK + i] = block[i];
				++count;
			}
		}
	}
	if (first)
		*first = count;
	return count;
}

static int is_dense(const Compiler *c) { return c->modal_inertia == CAL_MODAL_INERTIA_DENSE_INVARIANTS; }

/* Flops by hand count: 30 per mode and 60 per mass; 12 per block (on average) and 14 per mode and component. */
static double flops_of_sums(int masses, int m) { return masses * (30.0 * row_length(m) + 60.0); }
static double flops_of_blocks(int blocks, int components, int m) {
	return 12.0 * blocks + 14.0 * components * row_length(m);
}

int invariants_pay(const Compiler *c, const CalFlexDef *def) {
	if (c->modal_inertia != CAL_MODAL_INERTIA_AUTO)
		return c->modal_inertia != CAL_MODAL_INERTIA_SUMS;
	const Axes axes = axes_of(dmat_identity());
	int masses = 0, components = 0;
	for (int i = 0; i < def->node_count; ++i)
		masses += has_invariants(&def->nodes[i]);
	for (int k = 0; k < COMPONENTS; ++k)
		components += component_exists(def, &axes, k);
	return flops_of_blocks(keep_blocks(def, &axes, 0, NULL, NULL, NULL), components, def->modes) <
	       flops_of_sums(masses, def->modes);
}

void invariants_count(Compiler *c, const CalFlexDef *def) {
	if (!invariants_pay(c, def))
		return;
	const Axes axes = axes_of(dmat_identity());
	const size_t blocks = (size_t)keep_blocks(def, &axes, is_dense(c), NULL, NULL, NULL);
	c->flex_numbers += (size_t)COMPONENTS * (size_t)row_length(def->modes) + PACK * blocks;
	c->flex_indices += (size_t)COMPONENTS * (size_t)(row_length(def->modes) / PACK) + 1 + blocks;
}

void invariants_fill(Compiler *c, const CalFlexDef *def, Flex *flex) {
	FlexInvariants *inv = &flex->inv;
	const int n = flex->n;
	double *C0 = c->numbers, *G = C0 + COMPONENTS * n;
	int32_t *first = c->indices, *mode = first + COMPONENTS * (flex->n / PACK) + 1;
	const Axes axes = axes_of(flex->right_angles);
	const int blocks = keep_blocks(def, &axes, is_dense(c), first, mode, G);
	for (int i = 0; i < flex->summed_first; ++i) {
		const FlexMass *mass = &flex->masses[i];
		if (!mass->phi)
			continue;
		const double p[3] = {mass->p.x, mass->p.y, mass->p.z};
		for (int k = 0; k < COMPONENTS * n; ++k)
			C0[k] += mass->m * mass->phi[k / n / 3 * n + k % n] * p[k / n % 3];
	}
	for (int k = 0; k < COMPONENTS * n; ++k)
		inv->components |= C0[k] != 0 ? 1u << k / n : 0u;
	for (int k = 0; k < COMPONENTS * (flex->n / PACK); ++k)
		inv->components |= first[k + 1] > first[k] ? 1u << k % COMPONENTS : 0u;
	inv->C0 = C0, inv->G = G, inv->first = first, inv->mode = mode;
	c->numbers = G + PACK * blocks;
	c->indices = mode + blocks;
}

double invariants_flops(const Flex *flex) {
	double flops = flops_of_sums(flex->mass_count - flex->summed_first, flex->m);
	if (!flex->inv.first)
		return flops;
	int components = 0;
	for (int k = 0; k < COMPONENTS; ++k)
		components += (flex->inv.components & 1u << k) != 0;
	return flops + flops_of_blocks(flex->inv.first[COMPONENTS * (flex->n / PACK)], components, flex->m);
}
