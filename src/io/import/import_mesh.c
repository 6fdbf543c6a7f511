// SPDX-License-Identifier: Apache-2.0
/*
 * import_mesh.c — see import_mesh.h.
 */
#include "io/import/import_mesh.h"

#include "base/memory.h"
#include "math/quat.h"

static bool is_zero(CalVec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }

/* The order of MJCF: offset, rotation, scale. */
static CalVec3 place_vertex(const MeshMass *o, dmat3 R, CalVec3 s, CalVec3 p) {
	const dvec3 r = {p.x - o->offset.x, p.y - o->offset.y, p.z - o->offset.z};
	const dvec3 q = dmat_tmul_vec(R, r);
	return (CalVec3){s.x * q.x, s.y * q.y, s.z * q.z};
}

/* A copy of the triangles in their place, mirrored ones with their vertices exchanged; false: out of memory. */
static bool place_mesh(const CalAllocator *a, const MeshMass *o, CalTriangles *mesh, CalVec3 **vertices,
                       int **corners) {
	const CalVec3 s = is_zero(o->scale) ? (CalVec3){1, 1, 1} : o->scale;
	const bool mirrored = s.x * s.y * s.z < 0;
	const dmat3 R = dquat_matrix(o->turned);
	*vertices = memory_alloc(a, (size_t)mesh->vertex_count * sizeof **vertices);
	*corners = memory_alloc(a, 3 * (size_t)mesh->triangle_count * sizeof **corners);
	if (!*vertices || !*corners)
		return false;
	for (int i = 0; i < mesh->vertex_count; i++)
		(*vertices)[i] = place_vertex(o, R, s, mesh->vertices[i]);
	for (int i = 0; i < 3 * mesh->triangle_count; i++) {
		const int k = i % 3; // 0, 1, 2 or 0, 2, 1
		(*corners)[i] = mesh->corners[mirrored && k > 0 ? i - k + 3 - k : i];
	}
	mesh->vertices = *vertices;
	mesh->corners = *corners;
	return true;
}

static CalStatus integrate_file(Import *im, const char *path, const MeshMass *o, const CalMeshFile *file,
                                CalMassProperties *out, CalError *error) {
	CalTriangles mesh = cal_mesh_file_triangles(file);
	CalVec3 *vertices = NULL;
	int *corners = NULL;
	const CalMeshMassOptions options = {.solid = o->solid, .density = 1, .unchecked = o->unchecked};
	CalStatus status = place_mesh(&im->allocator, o, &mesh, &vertices, &corners) ? CAL_OK : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = cal_mesh_mass_properties(path, &mesh, &options, &im->allocator, out, error);
	else
		error_set(error, status, "out of memory");
	memory_free(&im->allocator, vertices);
	memory_free(&im->allocator, corners);
	return status;
}

bool mass_of_mesh(Import *im, const XmlElement *element, const char *path, const MeshMass *options,
                  MassProperties *out) {
	CalMeshFile *file = NULL;
	CalMassProperties m;
	CalError error = {0};
	CalStatus status = cal_mesh_file_read(path, (CalVec3){0}, &im->allocator, &file, &error);
	if (status == CAL_OK)
		status = integrate_file(im, path, options, file, &m, &error);
	cal_mesh_file_destroy(file);
	if (status == CAL_ERR_MEMORY)
		return import_no_memory(im);
	if (status != CAL_OK)
		return import_fail(im, element, "%s", error.text);
	*out = (MassProperties){.mass = m.mass, .com = m.com, .inertia = m.inertia};
	return true;
}
