// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_fit.c — primitives that stand for a mesh: <geom type="capsule" mesh="thigh"/>.
 *
 * The primitive has the size of the box with the mass and the principal moments of the mesh, I0 >= I1 >= I2 of mass m: its
 * half sides are h_k = 1/2 sqrt(6 (I_i + I_j - I_k) / m), the longest along z. Its place is the center of mass of the mesh,
 * its axes are the principal ones. (MuJoCo's rule, XML reference: geom/mesh, compiler/fitaabb.)
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_internal.h"
#include "math/eigen.h"

bool mjcf_is_fitted(const MjcfGeomAttributes *a) {
	return a->mesh && (a->type == MJCF_SPHERE || a->type == MJCF_CAPSULE || a->type == MJCF_CYLINDER ||
	                   a->type == MJCF_ELLIPSOID || a->type == MJCF_BOX);
}

/* Principal axes as columns, and half sides, the smallest first. */
static bool equivalent_box(Mjcf *m, const MjcfGeom *geom, const MassProperties *mass, dmat3 *axes, double half[3]) {
	double A[9], I[3], scratch[6];
	int order[3] = {0, 1, 2};
	memcpy(A, mass->inertia.m, sizeof A);
	if (eigen_symmetric(3, A, I, scratch) != CAL_OK)
		return import_fail(m->im, geom->object.element, "the inertia of the mesh has no principal axes");
	for (int i = 0; i < 3; i++) // largest moment first
		for (int k = i + 1; k < 3; k++)
			if (I[order[k]] > I[order[i]]) {
				const int other = order[i];
				order[i] = order[k], order[k] = other;
			}
	for (int i = 0; i < 3; i++) {
		const double others = I[order[(i + 1) % 3]] + I[order[(i + 2) % 3]];
		half[i] = 0.5 * sqrt(fmax(6 * (others - I[order[i]]) / mass->mass, 0));
	}
	const dvec3 x = {A[order[0]], A[3 + order[0]], A[6 + order[0]]},
				y = {A[order[1]], A[3 + order[1]], A[6 + order[1]]};
	*axes = (dmat3){x, y, dcross(x, y)};
	return true;
}

static void set_size(MjcfGeomAttributes *a, const double half[3]) {
	const double radius = 0.5 * (half[0] + half[1]);
	switch (a->type) {
	case MJCF_SPHERE:
		a->size[0] = (half[0] + half[1] + half[2]) / 3;
		break;
	case MJCF_CAPSULE:
		a->size[0] = radius;
		a->size[1] = fmax(half[2] - 0.5 * radius, 0);
		break;
	case MJCF_CYLINDER:
		a->size[0] = radius;
		a->size[1] = half[2];
		break;
	default:
		memcpy(a->size, half, sizeof a->size);
	}
	for (int i = 0; i < 3; i++)
		a->size[i] *= a->fit_scale;
}

static bool fit_geom(Mjcf *m, MjcfGeom *geom) {
	MjcfGeomAttributes *a = &geom->a;
	MassProperties mass = {0};
	double half[3] = {0};
	dmat3 axes = dmat_identity();
	if (geom->object.file->compiler.fit_aabb)
		return a->type = MJCF_MESH,
		       import_missing(
				   m->im, geom->object.element,
				   "fitaabb: primitives are fitted to the inertia of a mesh, not to its bounding box; give the "
				   "geom a size instead of a mesh");
	if (!mjcf_measure_mesh(m, geom, &mass))
		return false;
	if (!(mass.mass > 0))
		return a->type = MJCF_MESH, true; // its mesh was not found, which is in the report
	if (!equivalent_box(m, geom, &mass, &axes, half))
		return false;
	set_size(a, half);
	geom->pose = placement_mul(geom->pose, (CalPlacement){mass.com, quat_of_matrix(axes)});
	return true;
}

bool mjcf_fit_geoms(Mjcf *m) {
	for (int i = 0; i < m->lists[MJCF_GEOMS].count; i++)
		if (mjcf_is_fitted(&mjcf_geom(m, i)->a) && !fit_geom(m, mjcf_geom(m, i)))
			return false;
	return true;
}
