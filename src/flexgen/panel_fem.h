// SPDX-License-Identifier: Apache-2.0
/*
 * panel_fem.h — the finite-element model of a panel: a grid of nodes with six degrees of freedom, joined by beams.
 *
 * Members are Euler-Bernoulli beams with cubic deflections; mass is a set of particles at Gauss points (of members and
 * of the cover) whose motion is interpolated from the nodes, so M is consistent and the same particles make the body.
 */
#ifndef CALDER_FLEXGEN_PANEL_FEM_H
#define CALDER_FLEXGEN_PANEL_FEM_H

#include <calder/flex.h>

typedef struct Lattice {
	int nodes, n; // n = 6 nodes
	int columns;  // nodes along x
	int rows;     // nodes along y
	double *K, *M;
	double rotary[3]; // inertia of the members' sections about x, y, z, which no particle carries [kg m^2]
	void *memory;
} Lattice;

/* A particle: u = U d with d the degrees of freedom of up to four nodes. */
typedef struct LatticeParticle {
	double mass;
	double p[3];
	int node_count, node[4];
	double U[3][24];
} LatticeParticle;

CalStatus lattice_create(const CalPanelDef *def, Lattice *lattice);
void lattice_free(Lattice *lattice); // accepts {0}

int lattice_particle_count(const CalPanelDef *def);
LatticeParticle lattice_particle(const CalPanelDef *def, int index);

static inline int lattice_node(const Lattice *l, int i, int j) { return i * l->rows + j; }
CalVec3 lattice_position(const CalPanelDef *def, int i, int j);

#endif
