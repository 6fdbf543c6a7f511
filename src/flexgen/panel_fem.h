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

typedef struct PanelFem {
	int nodes, n; // n = 6 nodes
	int columns;  // nodes along x
	int rows;     // nodes along y
	double *K, *M;
	double rotary[3]; // inertia of the members' sections about x, y, z, which no particle carries [kg m^2]
	void *memory;
} PanelFem;

/* A particle: u = U d with d the degrees of freedom of up to four nodes. */
typedef struct PanelParticle {
	double mass;
	double p[3];
	int node_count, node[4];
	double U[3][24];
} PanelParticle;

CalStatus panel_fem_create(const CalPanelDef *def, PanelFem *fem);
void panel_fem_free(PanelFem *fem); // accepts {0}

int panel_particle_count(const CalPanelDef *def);
PanelParticle panel_particle(const CalPanelDef *def, int index);

/** force[n] += sum over members of int EA (du'/dd) (slopes of a . slopes of b), the stretch that bending asks for. */
void panel_fem_stretch_forces(const CalPanelDef *def, const double *a, const double *b, double *force);

static inline int panel_fem_node(const PanelFem *l, int i, int j) { return i * l->rows + j; }
CalVec3 panel_fem_position(const CalPanelDef *def, int i, int j);

#endif
