// SPDX-License-Identifier: Apache-2.0
/*
 * tie_algebra.c — the matrices of a level of ties (subsystem.h), eight columns at a time: six of an edge or as many as a tie
 * has multipliers, and zeros; in column 6 of the first edge is what is known, g beside R and a beside Lambda.
 *
 *   [H   R]   D'K D   D'K E, g          U'D U   U'D Z
 *   [   La]           E'K E, a     =            La - Z'D Z     Z = D^-1 U'^-1 R
 *
 * The elimination goes tie by tie, over those that the sources of K, or an earlier tie, join to it: a row of components costs
 * as much as it has ties.
 *
 * Instructions for each tie of examples/components/machine.yaml (AVX2): fill 1660, eliminate 2480, resolve 730.
 */
#include "math/octet.h"
#include "sim/subsystem/subsystem.h"
#include "sim/subsystem/tie_kernels.h"

static const double SMALL = 1e-8; // part of a diagonal; with less left the order of the pivots matters

/* The block of K of two nodes. NULL: there is nothing between them. */
INLINE const double *block_of(const TieLevel *level, int a, int b) {
	const LevelSource *of = level->sources;
	return a < 0 || b < 0 || of[a].first != of[b].first ? NULL : of[a].K + OCTET * (size_t)of[b].at;
}

INLINE const double *side_of(const TieLevel *level, int tie, int side) {
	return level->D + (size_t)((TIE_SIDES * tie + side) * SIX * OCTET);
}

/* out[rows] += D'T. */
INLINE void add_product(const double *D, const octet T[SIX], int rows, double *out, size_t stride) {
	for (int i = 0; i < rows; ++i, out += stride) {
		octet sum = octet_load(out);
#pragma GCC unroll 6
		for (int k = 0; k < SIX; ++k)
			sum = octet_madd(sum, D[k * OCTET + i], T[k]);
		octet_store(out, sum);
	}
}

INLINE void clear_rows(int rows, double *out, size_t stride) {
	for (int i = 0; i < rows; ++i, out += stride)
		octet_store(out, octet_zero());
}

/* H of two ties, by their sides. */
static void fill_pair(const TieLevel *level, int I, int J) {
	const size_t width = OCTET * (size_t)level->tie_count;
	const LevelTie *one = &level->ties[I], *other = &level->ties[J];
	double *out = level->H + OCTET * ((size_t)I * width + (size_t)J);
	clear_rows(one->rows, out, width);
	for (int s = 0; s < TIE_SIDES; ++s)
		for (int z = 0; z < TIE_SIDES; ++z) {
			const double *K = block_of(level, one->node[s], other->node[z]), *D = side_of(level, J, z);
			octet T[SIX];
			if (!K)
				continue;
			const size_t stride = level->sources[one->node[s]].stride;
#pragma GCC unroll 6
			for (int k = 0; k < SIX; ++k) {
				T[k] = octet_times(K[(size_t)k * stride], octet_load(D));
#pragma GCC unroll 5
				for (int l = 1; l < SIX; ++l)
					T[k] = octet_madd(T[k], K[(size_t)k * stride + (size_t)l], octet_load(D + l * OCTET));
			}
			add_product(side_of(level, I, s), T, one->rows, out, width);
		}
}

/* R of a tie and an edge. */
static void fill_edge(const TieLevel *level, int I, int edge) {
	const LevelTie *tie = &level->ties[I];
	double *out = level->R + OCTET * ((size_t)I * level->width + (size_t)edge);
	clear_rows(tie->rows, out, level->width);
	for (int s = 0; s < TIE_SIDES && edge < level->edge_count; ++s) {
		const double *K = block_of(level, tie->node[s], level->edges[edge]);
		octet T[SIX];
		if (!K)
			continue;
#pragma GCC unroll 6
		for (int k = 0; k < SIX; ++k)
			T[k] = octet_load(K + (size_t)k * level->sources[tie->node[s]].stride);
		add_product(side_of(level, I, s), T, tie->rows, out, level->width);
	}
}

static void fill_edges(const TieLevel *level, int x, int y) {
	double *out = level->Lambda + OCTET * ((size_t)x * level->width + (size_t)y);
	const double *K = block_of(level, level->edges[x], level->edges[y]);
	const size_t stride = level->sources[level->edges[x]].stride;
	for (size_t k = 0; k < SIX; ++k)
		octet_store(out + k * level->width, K ? octet_load(K + k * stride) : octet_zero());
}

void LANED(tie_fill)(TieLevel *level) {
	const int octets = (int)(level->width / OCTET);
	for (int I = 0; I < level->tie_count; ++I) {
		const LevelTie *tie = &level->ties[I];
		for (int k = 0; k < tie->linked_count; ++k)
			fill_pair(level, I, tie->linked[k]);
		for (int x = 0; x < octets; ++x)
			fill_edge(level, I, x);
	}
	for (int x = 0; x < level->edge_count; ++x)
		for (int y = 0; y < level->edge_count; ++y)
			fill_edges(level, x, y);
}

/* to -= s from, over octets. */
INLINE void subtract_row(double s, const double *from, size_t width, double *to) {
	for (size_t x = 0; x < width; x += OCTET)
		octet_store(to + x, octet_msub(octet_load(to + x), s, octet_load(from + x)));
}

/* Row `from` of H and R, which is done, out of one after it: of tie J, from its diagonal on. */
INLINE void eliminate_from(const TieLevel *level, const LevelTie *tie, int place, double s, size_t from, size_t to) {
	const size_t width = OCTET * (size_t)level->tie_count;
	for (int k = place; k < tie->linked_count; ++k) {
		const size_t at = OCTET * (size_t)tie->linked[k];
		subtract_row(s, level->H + from * width + at, OCTET, level->H + to * width + at);
	}
	subtract_row(s, level->R + from * level->width, level->width, level->R + to * level->width);
}

static void eliminate_edges(const TieLevel *level, double d, const double *row) {
	for (int x = 0; x < level->edge_count; ++x)
		for (size_t k = 0, at = OCTET * (size_t)x; k < SIX; ++k, ++at)
			subtract_row(row[at] * d, row, level->width, level->Lambda + at * level->width);
}

bool LANED(tie_eliminate)(TieLevel *level) {
	const size_t width = OCTET * (size_t)level->tie_count;
	for (int I = 0; I < level->tie_count; ++I)
		for (size_t i = OCTET * (size_t)I; i < OCTET * (size_t)I + (size_t)level->ties[I].rows; ++i)
			level->inverse[i] = level->H[i * width + i]; // until the pivot is there
	for (int I = 0; I < level->tie_count; ++I) {
		const LevelTie *tie = &level->ties[I];
		for (int i = 0; i < tie->rows; ++i) {
			const size_t from = OCTET * (size_t)I + (size_t)i;
			const double *row = level->H + from * width;
			if (!(row[from] > SMALL * level->inverse[from]))
				return false;
			const double d = level->inverse[from] = 1 / row[from];
			for (int k = 0; k < tie->linked_count; ++k) {
				const size_t first = OCTET * (size_t)tie->linked[k];
				for (int j = k == 0 ? i + 1 : 0; j < level->ties[tie->linked[k]].rows; ++j)
					eliminate_from(level, tie, k, row[first + (size_t)j] * d, from, first + (size_t)j);
			}
			eliminate_edges(level, d, level->R + from * level->width);
		}
	}
	return true;
}

INLINE double row_product(const double *a, const double *b, size_t width) {
	octet sum = octet_mul(octet_load(a), octet_load(b));
	for (size_t x = OCTET; x < width; x += OCTET)
		sum = octet_add(sum, octet_mul(octet_load(a + x), octet_load(b + x)));
	return pack_sum(octet_halves(sum));
}

/* lambda = -(g + R F), of the rows that are eliminated with those after them. */
static void find_multipliers(const TieLevel *level, int I) {
	const size_t width = OCTET * (size_t)level->tie_count;
	const LevelTie *tie = &level->ties[I];
	for (int i = tie->rows - 1; i >= 0; --i) {
		const size_t row = OCTET * (size_t)I + (size_t)i;
		double sum = row_product(level->R + row * level->width, level->edge_force, level->width);
		for (int k = 0; k < tie->linked_count && !level->dependent; ++k) {
			const size_t at = OCTET * (size_t)tie->linked[k];
			sum += row_product(level->H + row * width + at, level->lambda + at, OCTET); // the next ones are known
		}
		level->lambda[row] = level->dependent ? -sum : -sum * level->inverse[row];
	}
}

void LANED(tie_resolve)(TieLevel *level) {
	memset(level->lambda, 0, sizeof(double) * OCTET * (size_t)level->tie_count);
	for (int I = level->tie_count - 1; I >= 0; --I) {
		const double *lambda = level->lambda + OCTET * (size_t)I;
		find_multipliers(level, I);
		for (int s = 0; s < TIE_SIDES; ++s) {
			const double *D = side_of(level, I, s);
			if (level->ties[I].node[s] < 0)
				continue;
			double *force = level->force + OCTET * (size_t)level->ties[I].node[s];
			for (int k = 0; k < SIX; ++k)
				force[k] += row_product(D + k * OCTET, lambda, OCTET);
		}
	}
}
