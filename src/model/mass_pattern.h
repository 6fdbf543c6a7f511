// SPDX-License-Identifier: Apache-2.0
/*
 * mass_pattern.h — the sparsity of the mass matrix that branches give [Featherstone, ch. 6.4].
 *
 * M_ij is zero unless one of the two degrees of freedom moves the other. A row of the lower triangle has the entries of
 * the degrees of freedom between the ground and its own, in this order: the one of depth d is entry d of the row, in
 * every row that has it. So rows of the same path begin alike, and M = L'D L fills no zero (mass_factor.c).
 */
#ifndef CALDER_MODEL_MASS_PATTERN_H
#define CALDER_MODEL_MASS_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* depth[nu] and row[nu + 1] (CalModel.dof_depth, mass_row) from parents, which come before their children. */
static inline void mass_pattern_fill(int nu, const int32_t *parent, int32_t *depth, size_t *row) {
	row[0] = 0;
	for (int u = 0; u < nu; ++u) {
		depth[u] = parent[u] >= 0 ? depth[parent[u]] + 1 : 0;
		row[u + 1] = row[u] + (size_t)depth[u] + 1;
	}
}

#endif
