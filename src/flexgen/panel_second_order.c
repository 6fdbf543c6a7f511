// SPDX-License-Identifier: Apache-2.0
/*
 * panel_second_order.c — see panel_second_order.h [THEORY 2.6].
 *
 * A member that deflects by w across its axis has the strain u' + w'w'/2 along it. The energy EA/2 of its square
 * couples the bending shapes with displacements u in the plane: with b_kl = d/du of sum int EA u' w_k'w_l', the panel
 * is at rest in the plane where K u = -1/2 b_kl eta_k eta_l, so that phi2_kl = -1/2 K^-1 b_kl. A load f in the plane
 * then has the geometric stiffness -2 f.phi2_kl = sum int N w_k'w_l' with the forces N that it causes in the members.
 * K is the stiffness of the lattice in its plane, in which members stretch and bend.
 */
#include "flexgen/panel_second_order.h"

#include <string.h>

#include "base/memory.h"
#include "math/eigen.h"

static const double NO_STIFFNESS = 1e-12; // of a diagonal entry, relative

/* x, y and the rotation about z of nodes that are not held, in dof[]; returns how many. */
static int plane_dofs(int n, const unsigned char *role, int *dof) {
	int count = 0;
	for (int i = 0; i < n; i++) {
		bool in_plane = i % 6 < 2 || i % 6 == 5, at_rest = role[i] == ROLE_HELD || role[i] == ROLE_FRAME;
		if (in_plane && !at_rest) {
			dof[count++] = i;
		}
	}
	return count;
}

typedef struct Plane {
	int count;
	int *dof;
	double *L, *x;
} Plane;

static CalStatus plane_factor(const PanelFem *fem, const unsigned char *role, Plane *plane, int *bad_dof) {
	size_t n = (size_t)fem->n;
	plane->count = plane_dofs(fem->n, role, plane->dof);
	for (int i = 0; i < plane->count; i++) {
		for (int j = 0; j < plane->count; j++) {
			plane->L[(size_t)i * (size_t)plane->count + (size_t)j] =
				fem->K[(size_t)plane->dof[i] * n + (size_t)plane->dof[j]];
		}
	}
	int row = cholesky_factor(plane->count, plane->L, NULL, NO_STIFFNESS);
	*bad_dof = row < 0 ? -1 : plane->dof[row];
	return row < 0 ? CAL_OK : CAL_SINGULAR;
}

static void solve_pairs(const CalPanelDef *def, const DenseModes *modes, const Plane *plane, PanelSecondOrder *out) {
	size_t n = (size_t)out->n;
	for (int k = 0; k < out->modes; k++) {
		for (int l = 0; l <= k; l++) {
			double *u = out->u + (size_t)panel_pair(k, l) * n;
			panel_fem_stretch_forces(def, modes->shape + (size_t)k * n, modes->shape + (size_t)l * n, u);
			for (int i = 0; i < plane->count; i++) {
				plane->x[i] = -0.5 * u[plane->dof[i]];
			}
			cholesky_solve(plane->count, plane->L, plane->x);
			memset(u, 0, n * sizeof *u);
			for (int i = 0; i < plane->count; i++) {
				u[plane->dof[i]] = plane->x[i];
			}
		}
	}
}

CalStatus panel_second_order_create(const CalPanelDef *def, const PanelFem *fem, const DenseModes *modes,
                                    const unsigned char *role, PanelSecondOrder *out, int *bad_dof) {
	size_t n = (size_t)fem->n, pairs = (size_t)panel_pair(modes->shapes, 0);
	CalAllocator allocator = allocator_or_default(NULL);
	*out = (PanelSecondOrder){.modes = modes->shapes, .n = fem->n};
	*bad_dof = -1;
	out->u = memory_alloc(&allocator, pairs * n * sizeof(double));
	Plane plane = {.L = memory_alloc(&allocator, (n * n / 4 + n) * sizeof(double) + n * sizeof(int))};
	CalStatus status = out->u && plane.L ? CAL_OK : CAL_ERR_MEMORY;
	if (status == CAL_OK) {
		memset(out->u, 0, pairs * n * sizeof(double));
		plane.x = plane.L + n * n / 4;
		plane.dof = (int *)(plane.x + n);
		status = plane_factor(fem, role, &plane, bad_dof);
	}
	if (status == CAL_OK) {
		solve_pairs(def, modes, &plane, out);
	}
	memory_free(&allocator, plane.L);
	if (status != CAL_OK) {
		panel_second_order_free(out);
	}
	return status;
}

void panel_second_order_free(PanelSecondOrder *second) {
	CalAllocator allocator = allocator_or_default(NULL);
	memory_free(&allocator, second->u);
	*second = (PanelSecondOrder){0};
}

void panel_second_order_node(const PanelSecondOrder *second, int node, FlexBuilderNode *out) {
	int m = second->modes;
	for (int i = 0; i < 2 * m * m; i++) { // along x and y
		const double *u = second->u + (size_t)panel_pair(i / m % m, i % m) * (size_t)second->n;
		out->phi2[i] = u[6 * node + i / (m * m)];
	}
}

void panel_second_order_mass(const CalPanelDef *def, const PanelSecondOrder *second, double *geometric) {
	int m = second->modes;
	size_t square = (size_t)m * (size_t)m;
	for (int q = 0; q < panel_particle_count(def); q++) {
		PanelParticle p = panel_particle(def, q);
		for (size_t i = 0; i < 2 * square; i++) {
			int axis = (int)(i / square), pair = (int)(i % square);
			const double *u = second->u + (size_t)panel_pair(pair / m, pair % m) * (size_t)second->n;
			double sum = 0;
			for (int k = 0; k < 6 * p.node_count; k++) {
				sum += p.U[axis][k] * u[6 * p.node[k / 6] + k % 6];
			}
			geometric[i] += 2 * p.mass * sum;
			for (size_t j = 0; j < 2; j++) { // z is zero
				geometric[(3 + 3 * (size_t)axis + j) * square + (size_t)pair] += 2 * p.mass * sum * p.p[j];
			}
		}
	}
}
