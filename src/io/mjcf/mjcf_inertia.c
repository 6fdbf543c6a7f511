// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_inertia.c — masses of bodies as MuJoCo's compiler completes them: from geoms where the file says so, then bounds,
 * balance, and last the total mass.
 */
#include <math.h>
#include <string.h>

#include "io/import/import_mesh.h"
#include "io/mjcf/mjcf_internal.h"
#include "math/eigen.h"
#include "math/eigen3.h"

static const double pi = 3.14159265358979323846;
enum { PATH_MAX_LENGTH = 4096 };

static const double tiny_mass = 1e-14; // geoms below it do not count

/* ---- shapes -------------------------------------------------------------------------------------------------- */

/* Of density 1. */
static MassProperties mass_of_solid(const MjcfGeomAttributes *a) {
	const CalVec3 round = {a->size[0], 0, 2 * a->size[1]};
	switch (a->type) {
	case MJCF_SPHERE:
		return mass_of_shape(CAL_VISUAL_SPHERE, (CalVec3){a->size[0], 0, 0});
	case MJCF_CAPSULE:
		return mass_of_shape(CAL_VISUAL_CAPSULE, round);
	case MJCF_CYLINDER:
		return mass_of_shape(CAL_VISUAL_CYLINDER, round);
	case MJCF_ELLIPSOID:
		return mass_of_ellipsoid((CalVec3){a->size[0], a->size[1], a->size[2]});
	case MJCF_BOX:
		return mass_of_shape(CAL_VISUAL_BOX, (CalVec3){2 * a->size[0], 2 * a->size[1], 2 * a->size[2]});
	default:
		return (MassProperties){0}; // planes and height fields have no mass
	}
}

static MassProperties diagonal(double mass, double x, double y, double z) {
	return (MassProperties){.mass = mass, .inertia = {{{x, 0, 0}, {0, y, 0}, {0, 0, z}}}};
}

/* Two faces of area w each at +-c along an axis, of the sides 2a and 2b: moments about the three axes a, b, c. */
static MassProperties shell_of_box(const double h[3]) {
	MassProperties sum = {0};
	for (int c = 0; c < 3; c++) {
		const int a = (c + 1) % 3, b = (c + 2) % 3;
		const double mass = 8 * h[a] * h[b];
		const double aa = mass / 3 * h[a] * h[a], bb = mass / 3 * h[b] * h[b], cc = mass * h[c] * h[c];
		sum.mass += mass;
		sum.inertia.m[a][a] += bb + cc;
		sum.inertia.m[b][b] += aa + cc;
		sum.inertia.m[c][c] += aa + bb;
	}
	return sum;
}

/* The wall, and two disks at its ends. */
static MassProperties shell_of_cylinder(double r, double half) {
	const double wall = 4 * pi * r * half, disks = 2 * pi * r * r;
	const double across = wall * (r * r / 2 + half * half / 3) + disks * (r * r / 4 + half * half);
	return diagonal(wall + disks, across, across, wall * r * r + disks * r * r / 2);
}

/* The wall, and two half spheres, whose centers of mass are r/2 beyond its ends. */
static MassProperties shell_of_capsule(double r, double half) {
	const double wall = 4 * pi * r * half, ends = 4 * pi * r * r;
	const double across = wall * (r * r / 2 + half * half / 3) + ends * (2.0 / 3.0 * r * r + half * half + half * r);
	return diagonal(wall + ends, across, across, wall * r * r + ends * 2.0 / 3.0 * r * r);
}

static bool mass_of_shell(Mjcf *m, const MjcfGeom *geom, MassProperties *mass) {
	const MjcfGeomAttributes *a = &geom->a;
	const double area = 4 * pi * a->size[0] * a->size[0];
	switch (a->type) {
	case MJCF_SPHERE:
		*mass = diagonal(area, area * 2 / 3 * a->size[0] * a->size[0], area * 2 / 3 * a->size[0] * a->size[0],
		                 area * 2 / 3 * a->size[0] * a->size[0]);
		return true;
	case MJCF_CAPSULE:
		*mass = shell_of_capsule(a->size[0], a->size[1]);
		return true;
	case MJCF_CYLINDER:
		*mass = shell_of_cylinder(a->size[0], a->size[1]);
		return true;
	case MJCF_BOX:
		*mass = shell_of_box(a->size);
		return true;
	default:
		return import_fail(
			m->im, geom->object.element,
			"shellinertia is known of spheres, capsules, cylinders and boxes; give the body an <inertial>");
	}
}

/* Of density 1, in the frame of the geom; each mesh is integrated once. */
bool mjcf_measure_mesh(Mjcf *m, const MjcfGeom *geom, MassProperties *mass) {
	static const CalMeshSolid solids[] = {CAL_MESH_CONVEX, CAL_MESH_LEGACY, CAL_MESH_EXACT, CAL_MESH_SHELL};
	XmlElement *e = geom->object.element;
	char path[PATH_MAX_LENGTH];
	bool found = false;
	const int index = geom->a.mesh ? mjcf_find(m, MJCF_MESHES, geom->object.file, geom->a.mesh) : -1;
	if (index < 0)
		return import_fail(m->im, e, "mesh=\"%.100s\": there is no such mesh in <asset>",
		                   geom->a.mesh ? geom->a.mesh : "");
	MjcfMesh *mesh = mjcf_mesh(m, index);
	if (!mesh->measured && mesh->a.file && !mjcf_locate_mesh(m, mesh, path, sizeof path, &found))
		return false;
	if (!mesh->measured && !found)
		return import_missing(
			m->im, e,
			"the mass of the body is that of mesh \"%.100s\", which has no file that can be found; give the "
			"body an <inertial>",
			geom->a.mesh);
	if (!mesh->measured) {
		const MeshMass options = {.scale = mesh->a.scale,
		                          .offset = mesh->a.refpos,
		                          .turned = mesh->a.refquat,
		                          .solid = solids[mesh->a.inertia]};
		if (!mass_of_mesh(m->im, mesh->object.element, path, &options, &mesh->mass))
			return false;
		mesh->measured = true;
	}
	*mass = mesh->mass;
	return true;
}

static bool mass_of_geom(Mjcf *m, const MjcfGeom *geom, MassProperties *mass) {
	const MjcfGeomAttributes *a = &geom->a;
	MassProperties unit = {0};
	*mass = unit;
	if (a->mass < 0 || (isnan(a->mass) && a->density < 0))
		return import_fail(m->im, geom->object.element, "mass and density of a geom must not be negative");
	if ((!isnan(a->mass) && a->mass == 0) || (isnan(a->mass) && a->density == 0))
		return true;
	if (a->type == MJCF_MESH || a->type == MJCF_SDF) {
		if (!mjcf_measure_mesh(m, geom, &unit))
			return false;
	} else if (a->shell ? !mass_of_shell(m, geom, &unit) : (unit = mass_of_solid(a), false)) {
		return false;
	}
	if (unit.mass > 0)
		*mass = mass_moved(mass_scaled(unit, isnan(a->mass) ? a->density : a->mass / unit.mass), geom->pose);
	return true;
}

/* ---- bodies ------------------------------------------------------------------------------------------------ */

static bool counts_geoms(const MjcfBody *body) {
	const int from_geom = body->object.file->compiler.inertia_from_geom;
	return from_geom == MJCF_TRUE || (from_geom == MJCF_AUTO && !body->has_inertial);
}

/* An <inertial> stands where no geom of the groups has mass. */
static bool add_geoms(Mjcf *m) {
	for (int i = 0; i < m->lists[MJCF_GEOMS].count; i++) {
		const MjcfGeom *geom = mjcf_geom(m, i);
		MjcfBody *body = mjcf_body(m, geom->body);
		const int *groups = geom->object.file->compiler.inertia_groups;
		MassProperties mass;
		if (geom->body == 0 || !counts_geoms(body) || geom->a.group < groups[0] || geom->a.group > groups[1])
			continue;
		if (!mass_of_geom(m, geom, &mass))
			return false;
		if (!(mass.mass > tiny_mass))
			continue;
		body->mass = body->is_from_geoms ? mass_sum(body->mass, mass) : mass;
		body->is_from_geoms = true;
	}
	return true;
}

/* Principal moments of at least `bound`, or all equal to their mean. */
static bool change_moments(Mjcf *m, MjcfBody *body, double bound, bool balance) {
	double A[9], values[3], scratch[6];
	CalMat3 *inertia = &body->mass.inertia;
	memcpy(A, inertia->m, sizeof A);
	if (eigen_symmetric(3, A, values, scratch) != CAL_OK)
		return import_fail(m->im, body->object.element, "the inertia of the body has no principal axes");
	for (int i = 0; i < 3; i++)
		values[i] = fmax(values[i], bound);
	if (balance && values[0] + values[1] < values[2])
		values[0] = values[1] = values[2] = (values[0] + values[1] + values[2]) / 3;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			inertia->m[i][j] = A[i * 3] * values[0] * A[j * 3] + A[i * 3 + 1] * values[1] * A[j * 3 + 1] +
			                   A[i * 3 + 2] * values[2] * A[j * 3 + 2];
	return true;
}

static bool violates_triangle(const MassProperties *mass) {
	double values[3];
	eigen3_values(&mass->inertia, values);
	const double low = fmin(values[0], fmin(values[1], values[2])), high = fmax(values[0], fmax(values[1], values[2]));
	return values[0] + values[1] + values[2] - high < high && low >= 0;
}

static bool repair_body(Mjcf *m, MjcfBody *body) {
	const MjcfCompiler *c = &body->object.file->compiler;
	const MassProperties before = body->mass;
	// MuJoCo takes the attribute itself, which is in the parent or in a frame
	if (!(before.mass > 0) && !body->has_inertial &&
	    !import_vec3(m->im, body->object.element, "pos", &body->mass.com, NULL))
		return false;
	body->mass.mass = fmax(body->mass.mass, c->bound_mass);
	if (c->bound_inertia > 0 && !change_moments(m, body, c->bound_inertia, false))
		return false;
	if (c->balance_inertia && violates_triangle(&body->mass) && !change_moments(m, body, -INFINITY, true))
		return false;
	return !c->balance_inertia || !violates_triangle(&before) ||
	       import_note(
			   m->im, CAL_IMPORT_CHANGED, body->object.element, NULL,
			   "balanceinertia: the principal moments of inertia violate the triangle inequality and were replaced "
			   "by their mean, as MuJoCo does");
}

static void scale_total(Mjcf *m) {
	const double wanted = m->file.compiler.total_mass;
	const int count = m->lists[MJCF_BODIES].count;
	double total = 0;
	for (int i = 1; i < count; i++)
		total += mjcf_body(m, i)->mass.mass;
	const double factor = wanted > 0 && total > 0 ? wanted / total : 1;
	for (int i = 1; i < count && factor != 1; i++)
		mjcf_body(m, i)->mass = mass_scaled(mjcf_body(m, i)->mass, factor);
	m->total_mass = total * factor;
}

bool mjcf_complete_masses(Mjcf *m) {
	if (!add_geoms(m))
		return false;
	for (int i = 1; i < m->lists[MJCF_BODIES].count; i++) {
		MjcfBody *body = mjcf_body(m, i);
		if (body->object.file->compiler.inertia_from_geom == MJCF_FALSE && !body->has_inertial &&
		    (body->joint_count || body->is_mocap) && !(body->object.file->compiler.bound_mass > 0))
			return import_fail(m->im, body->object.element,
			                   "inertiafromgeom is \"false\", and the body has no <inertial>");
		if (!repair_body(m, body))
			return false;
	}
	scale_total(m);
	return true;
}

/* ---- the mass matrix at qpos0 ------------------------------------------------------------------------------ */

static double moment_about(const MassProperties *c, dvec3 point, dvec3 axis) {
	const dvec3 arm = dcross(axis, dadd(dvec_in(c->com), dscale(-1, point)));
	const dmat3 I = dmat_in(&c->inertia);
	return ddot(axis, dmat_mul_vec(I, axis)) + c->mass * ddot(arm, arm);
}

/* Mean over its degrees of freedom. */
static double inertia_of_joint(const Mjcf *m, const MjcfJoint *joint, const MassProperties *carried) {
	const dpose X = mjcf_body(m, joint->body)->world;
	const dvec3 point = dadd(X.r, dmat_mul_vec(X.R, dvec_in(joint->a.pos)));
	double sum = 0;
	switch (joint->a.type) {
	case MJCF_SLIDE:
		return carried->mass + joint->a.armature;
	case MJCF_HINGE:
		return moment_about(carried, point, dmat_mul_vec(X.R, dvec_in(joint->a.axis))) + joint->a.armature;
	default:
		sum = moment_about(carried, joint->a.type == MJCF_FREE ? X.r : point, (dvec3){1, 0, 0}) +
		      moment_about(carried, joint->a.type == MJCF_FREE ? X.r : point, (dvec3){0, 1, 0}) +
		      moment_about(carried, joint->a.type == MJCF_FREE ? X.r : point, (dvec3){0, 0, 1});
		return (joint->a.type == MJCF_FREE ? (sum + 3 * carried->mass) / 6 : sum / 3) + joint->a.armature;
	}
}

bool mjcf_joint_inertias(Mjcf *m) {
	const int count = m->lists[MJCF_BODIES].count;
	MassProperties *carried = xml_array(m->im->tree, (size_t)count, sizeof *carried);
	if (!carried)
		return import_no_memory(m->im);
	for (int i = 1; i < count; i++)
		carried[i] = mass_moved(mjcf_body(m, i)->mass, mjcf_placement(mjcf_body(m, i)->world));
	for (int i = count - 1; i > 0; i--) {
		const int parent = mjcf_body(m, i)->parent;
		if (carried[i].mass > 0)
			carried[parent] = carried[parent].mass > 0 ? mass_sum(carried[parent], carried[i]) : carried[i];
	}
	for (int i = 0; i < m->lists[MJCF_JOINTS].count; i++) {
		MjcfJoint *joint = mjcf_joint(m, i);
		joint->inertia = inertia_of_joint(m, joint, &carried[joint->body]);
	}
	return true;
}
