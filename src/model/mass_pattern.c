// SPDX-License-Identifier: Apache-2.0
/*
 * mass_pattern.c — depths of the degrees of freedom, and where the rows of the sparse mass matrix begin.
 */
#include "model/mass_pattern.h"

void mass_pattern_fill(int nu, const int32_t *parent, int32_t *depth, size_t *row) {
	row[0] = 0;
	for (int u = 0; u < nu; ++u) {
		depth[u] = parent[u] >= 0 ? depth[parent[u]] + 1 : 0;
		row[u + 1] = row[u] + (size_t)depth[u] + 1;
	}
}
