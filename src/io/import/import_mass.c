// SPDX-License-Identifier: Apache-2.0
/*
 * import_mass.c — mass, center of mass and inertia of shapes of density 1, of parts that are moved, and of their sums.
 */
#include "io/import/import.h"
#include "math/placement.h"

static const double pi = 3.14159265358979323846;

static MassProperties centered(double mass, double x, double y, double z) {
	return (MassProperties){.mass = mass, .inertia = {.m = {{x, 0, 0}, {0, y, 0}, {0, 0, z}}}};
}

/* Half axes a, b, c: m/5 (b^2 + c^2) ... */
MassProperties mass_of_ellipsoid(CalVec3 half) {
	const double mass = 4.0 / 3.0 * pi * half.x * half.y * half.z;
	const double xx = half.x * half.x, yy = half.y * half.y, zz = half.z * half.z;
	return centered(mass, mass / 5 * (yy + zz), mass / 5 * (xx + zz), mass / 5 * (xx + yy));
}

static MassProperties mass_of_box(CalVec3 side) {
	const double mass = side.x * side.y * side.z;
	const double xx = side.x * side.x, yy = side.y * side.y, zz = side.z * side.z;
	return centered(mass, mass / 12 * (yy + zz), mass / 12 * (xx + zz), mass / 12 * (xx + yy));
}

static MassProperties mass_of_cylinder(double radius, double length) {
	const double mass = pi * radius * radius * length;
	const double across = mass / 12 * (3 * radius * radius + length * length);
	return centered(mass, across, across, mass / 2 * radius * radius);
}

/* A cylinder, and two half balls whose centers of mass are 3/8 r beyond its ends. */
static MassProperties mass_of_capsule(double radius, double length) {
	const MassProperties middle = mass_of_cylinder(radius, length);
	const double ends = 4.0 / 3.0 * pi * radius * radius * radius, half = length / 2;
	const double about_end = 0.4 * radius * radius + half * half + 2 * half * 0.375 * radius;
	const double across = middle.inertia.m[0][0] + ends * about_end;
	return centered(middle.mass + ends, across, across, middle.inertia.m[2][2] + 0.4 * ends * radius * radius);
}

/* Its center, half way up, is the origin; its center of mass is a quarter of its length above the base. */
static MassProperties mass_of_cone(double radius, double length) {
	const double mass = pi / 3 * radius * radius * length;
	const double across = mass * (0.15 * radius * radius + 0.0375 * length * length);
	MassProperties cone = centered(mass, across, across, 0.3 * mass * radius * radius);
	cone.com.z = -length / 4;
	return cone;
}

MassProperties mass_of_shape(CalVisualKind kind, CalVec3 size) {
	switch (kind) {
	case CAL_VISUAL_BOX:
		return mass_of_box(size);
	case CAL_VISUAL_SPHERE:
		return mass_of_ellipsoid((CalVec3){size.x, size.x, size.x});
	case CAL_VISUAL_CYLINDER:
		return mass_of_cylinder(size.x, size.z);
	case CAL_VISUAL_CAPSULE:
		return mass_of_capsule(size.x, size.z);
	case CAL_VISUAL_CONE:
		return mass_of_cone(size.x, size.z);
	default: // planes have no volume, and meshes are not known here
		return (MassProperties){0};
	}
}

MassProperties mass_scaled(MassProperties m, double factor) {
	m.mass *= factor;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			m.inertia.m[i][j] *= factor;
	return m;
}

MassProperties mass_moved(MassProperties m, CalPlacement placement) {
	const dmat3 R = dquat_matrix(placement.orientation);
	const dmat3 I = dmat_mul(R, dmat_mul(dmat_in(&m.inertia), dmat_transpose(R)));
	const dvec3 com = dadd(dvec_in(placement.position), dmat_mul_vec(R, dvec_in(m.com)));
	// the mean of both halves: exactly symmetric
	const double xy = 0.5 * (I.y.x + I.x.y), xz = 0.5 * (I.z.x + I.x.z), yz = 0.5 * (I.z.y + I.y.z);
	return (MassProperties){
		.mass = m.mass, .com = dvec_out(com), .inertia = {.m = {{I.x.x, xy, xz}, {xy, I.y.y, yz}, {xz, yz, I.z.z}}}};
}

/* Adds m (d.d 1 - d d'). */
static void add_point(CalMat3 *inertia, double mass, const double d[3]) {
	const double dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			inertia->m[i][j] += mass * ((i == j ? dd : 0) - d[i] * d[j]);
}

MassProperties mass_sum(MassProperties a, MassProperties b) {
	const double mass = a.mass + b.mass;
	if (mass == 0)
		return (MassProperties){0};
	const double d[3] = {b.com.x - a.com.x, b.com.y - a.com.y, b.com.z - a.com.z};
	MassProperties sum = {.mass = mass, .inertia = a.inertia};
	const double share = b.mass / mass;
	sum.com = (CalVec3){a.com.x + share * d[0], a.com.y + share * d[1], a.com.z + share * d[2]};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			sum.inertia.m[i][j] += b.inertia.m[i][j];
	add_point(&sum.inertia, a.mass * share, d);
	return sum;
}
