// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_mass.c — mass properties of the solid that triangles bound.
 *
 * The tetrahedron over a triangle (a, b, c) with its apex at the origin has six times the volume d = a . (b x c), and
 * with s = a + b + c
 *
 *     V = d/6,   integral of r dV = d/24 s,   integral of r r' dV = d/120 (s s' + a a' + b b' + c c').
 *
 * d has a sign, and over a closed mesh all that is outside cancels: the sums are those of the solid for any origin. The
 * first pass takes the centroid of the surface for it and gives the center of mass; the second takes that, so that nothing
 * large is subtracted from the second moments. MuJoCo's `legacy` is the same with |d|: pyramids that fold back count twice.
 * A shell has area A/12 (s s' + a a' + b b' + c c') in place of d/120.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/inertia.h"
#include "mesh/mesh_edges.h"
#include "mesh/mesh_hull.h"

const char *cal_mesh_solid_name(CalMeshSolid solid) {
	static const char *const names[] = {
#define SOLID_NAME(name, text) text,
		CAL_MESH_SOLID_LIST(SOLID_NAME)
#undef SOLID_NAME
	};
	return (unsigned)solid < CAL_MESH_SOLID_COUNT ? names[solid] : NULL;
}

typedef struct Moments {
	double measure; // volume, or area
	vec3 first;
	sym3 second;
} Moments;

static void add_square(sym3 *m, double factor, vec3 a) {
	m->xx += factor * a.x * a.x;
	m->yy += factor * a.y * a.y;
	m->zz += factor * a.z * a.z;
	m->xy += factor * a.x * a.y;
	m->xz += factor * a.x * a.z;
	m->yz += factor * a.y * a.z;
}

/* Moments about the origin o, in its axes. */
static Moments integrate(const CalTriangles *mesh, CalMeshSolid solid, vec3 o) {
	Moments m = {0};
	for (int t = 0; t < mesh->triangle_count; t++) {
		const int *v = mesh->corners + 3 * (size_t)t;
		const vec3 a = sub(vec_in(mesh->vertices[v[0]]), o), b = sub(vec_in(mesh->vertices[v[1]]), o),
				   c = sub(vec_in(mesh->vertices[v[2]]), o), s = add(a, add(b, c));
		const bool shell = solid == CAL_MESH_SHELL;
		double d = shell ? mesh_length(cross(sub(b, a), sub(c, a))) : dot(a, cross(b, c));
		d = solid == CAL_MESH_LEGACY ? fabs(d) : d;
		const double square = d / (shell ? 24 : 120);
		m.measure += d / (shell ? 2 : 6);
		m.first = madd(m.first, d / (shell ? 6 : 24), s);
		add_square(&m.second, square, s);
		add_square(&m.second, square, a);
		add_square(&m.second, square, b);
		add_square(&m.second, square, c);
	}
	return m;
}

static CalMat3 matrix_of(double factor, sym3 s) {
	return (CalMat3){{{factor * s.xx, factor * s.xy, factor * s.xz},
	                  {factor * s.xy, factor * s.yy, factor * s.yz},
	                  {factor * s.xz, factor * s.yz, factor * s.zz}}};
}

static CalStatus integrate_solid(const char *name, const CalTriangles *mesh, const CalMeshMassOptions *o,
                                 CalMassProperties *out, CalError *error) {
	const Moments surface = integrate(mesh, CAL_MESH_SHELL, vec_in(mesh->vertices[mesh->corners[0]]));
	if (!(surface.measure > 0) || !isfinite(surface.measure))
		return error_set(error, CAL_ERR_INPUT, "mesh \"%s\": its triangles have no area", name);
	vec3 center = madd(vec_in(mesh->vertices[mesh->corners[0]]), 1 / surface.measure, surface.first);
	const Moments first = integrate(mesh, o->solid, center);
	if (first.measure == 0 || !isfinite(first.measure))
		return error_set(error, CAL_ERR_INPUT,
		                 "mesh \"%s\": its volume is %g m^3; if it is a thin sheet, take the solid \"shell\"", name,
		                 first.measure);
	center = madd(center, 1 / first.measure, first.first);
	const Moments m = integrate(mesh, o->solid, center);
	const double density =
		o->mass > 0 ? o->mass / m.measure : (o->density > 0 ? o->density : 1) * copysign(1, m.measure);
	out->mass = density * m.measure;
	out->com = vec_out(center);
	out->inertia = matrix_of(density, inertia_from_second_moment(m.second));
	return CAL_OK;
}

static CalStatus refuse_open(const char *name, const CalMeshCheck *c, CalError *error) {
	const CalMeshEdge *e = &c->places[0];
	return error_set(
		error, CAL_ERR_INPUT,
		"mesh \"%s\": it bounds no solid: %d edges have one triangle only, and %d have more than two or two "
		"that disagree about the outside; the first is between (%g, %g, %g) and (%g, %g, %g). Close it in "
		"the program that made it, or give mass and inertia as numbers",
		name, c->open_edges, c->odd_edges, e->from.x, e->from.y, e->from.z, e->to.x, e->to.y, e->to.z);
}

static CalStatus check_solid(const char *name, const CalTriangles *mesh, const CalAllocator *allocator,
                             CalError *error) {
	CalMeshCheck check;
	const CalStatus status = cal_mesh_check(mesh, allocator, &check, error);
	if (status != CAL_OK)
		return status;
	if (!check.closed)
		return refuse_open(name, &check, error);
	if (check.inside_out)
		return error_set(error, CAL_ERR_INPUT,
		                 "mesh \"%s\": it is inside out (its volume is %.3g m^3); reverse the order of the vertices of "
		                 "each triangle",
		                 name, check.volume);
	return CAL_OK;
}

static CalStatus integrate_hull(const char *name, const CalTriangles *mesh, const CalMeshMassOptions *o,
                                const CalAllocator *allocator, CalMassProperties *out, CalError *error) {
	CalTriangles hull = {.vertices = mesh->vertices, .vertex_count = mesh->vertex_count};
	int *corners = NULL;
	CalStatus status = mesh_hull(name, mesh, allocator, &corners, &hull.triangle_count, error);
	hull.corners = corners;
	if (status == CAL_OK)
		status = integrate_solid(name, &hull, o, out, error);
	memory_free(allocator, corners);
	return status;
}

CalStatus cal_mesh_mass_properties(const char *name, const CalTriangles *mesh, const CalMeshMassOptions *options,
                                   const CalAllocator *allocator, CalMassProperties *properties, CalError *error) {
	static const CalMeshMassOptions defaults;
	const CalMeshMassOptions *o = options ? options : &defaults;
	const char *label = name ? name : "";
	if (!mesh || !properties || !mesh->vertices || !mesh->corners || !allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_mesh_mass_properties: mesh and properties are needed");
	if (!cal_mesh_solid_name(o->solid) || !isfinite(o->density) || o->density < 0 || !isfinite(o->mass) || o->mass < 0)
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "mesh \"%s\": density and mass are not negative, the solid is one of the list", label);
	const CalAllocator from = allocator_or_default(allocator);
	CalStatus status = mesh_check_input(label, mesh, error);
	if (status == CAL_OK && o->solid == CAL_MESH_EXACT && !o->unchecked)
		status = check_solid(label, mesh, &from, error);
	if (status != CAL_OK)
		return status;
	return o->solid == CAL_MESH_CONVEX ? integrate_hull(label, mesh, o, &from, properties, error)
	                                   : integrate_solid(label, mesh, o, properties, error);
}
