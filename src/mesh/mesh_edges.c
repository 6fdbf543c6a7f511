// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_edges.c — see mesh_edges.h.
 */
#include "mesh/mesh_edges.h"

#include <limits.h>
#include <stdlib.h>

#include "base/error.h"

CalStatus mesh_check_input(const char *name, const CalTriangles *mesh, CalError *error) {
	if (mesh->vertex_count < 3 || mesh->triangle_count < 1)
		return error_set(error, CAL_ERR_INPUT, "mesh \"%s\": %d vertices and %d triangles make no surface", name,
		                 mesh->vertex_count, mesh->triangle_count);
	if (mesh->triangle_count > INT_MAX / 8)
		return error_set(error, CAL_ERR_INPUT, "mesh \"%s\": %d triangles are too many; the limit is %d", name,
		                 mesh->triangle_count, INT_MAX / 8);
	for (int i = 0; i < mesh->vertex_count; i++) {
		const CalVec3 p = mesh->vertices[i];
		if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z))
			return error_set(error, CAL_ERR_INPUT, "mesh \"%s\": vertex %d is not finite (%g, %g, %g)", name, i, p.x,
			                 p.y, p.z);
	}
	for (int i = 0; i < 3 * mesh->triangle_count; i++)
		if (mesh->corners[i] < 0 || mesh->corners[i] >= mesh->vertex_count)
			return error_set(error, CAL_ERR_INPUT, "mesh \"%s\": triangle %d names vertex %d; there are 0 ... %d", name,
			                 i / 3, mesh->corners[i], mesh->vertex_count - 1);
	return CAL_OK;
}

static int compare_corners(const void *left, const void *right) {
	const MeshCorner *a = left, *b = right;
	if (a->p.x != b->p.x)
		return a->p.x < b->p.x ? -1 : 1;
	if (a->p.y != b->p.y)
		return a->p.y < b->p.y ? -1 : 1;
	if (a->p.z != b->p.z)
		return a->p.z < b->p.z ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static bool same_point(CalVec3 a, CalVec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

void mesh_find_same(const CalVec3 *vertices, int count, MeshCorner *corners, int *same) {
	for (int i = 0; i < count; i++)
		corners[i] = (MeshCorner){vertices[i], i};
	qsort(corners, (size_t)count, sizeof *corners, compare_corners);
	for (int i = 0; i < count; i++) {
		const bool again = i > 0 && same_point(corners[i].p, corners[i - 1].p);
		same[corners[i].index] = again ? same[corners[i - 1].index] : corners[i].index;
	}
}

bool mesh_has_area(const CalVec3 *vertices, const int corners[3]) {
	const vec3 a = vec_in(vertices[corners[0]]), b = vec_in(vertices[corners[1]]), c = vec_in(vertices[corners[2]]);
	const vec3 ab = sub(b, a), ac = sub(c, a), bc = sub(c, b);
	const double longest2 = fmax(dot(ab, ab), fmax(dot(ac, ac), dot(bc, bc)));
	return mesh_length(cross(ab, ac)) > 1e-12 * longest2;
}

int mesh_keep_triangles(const CalTriangles *mesh, const int *same, int *kept) {
	int count = 0;
	for (int t = 0; t < mesh->triangle_count; t++) {
		int *v = kept + 3 * (size_t)count;
		for (int k = 0; k < 3; k++)
			v[k] = same[mesh->corners[3 * (size_t)t + (size_t)k]];
		count += v[0] != v[1] && v[1] != v[2] && v[2] != v[0] && mesh_has_area(mesh->vertices, v);
	}
	return count;
}

static int compare_edges(const void *left, const void *right) {
	const HalfEdge *a = left, *b = right;
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	const int x = 3 * a->triangle + a->side, y = 3 * b->triangle + b->side;
	return (x > y) - (x < y);
}

void mesh_list_edges(const int *corners, int count, HalfEdge *edges) {
	for (int t = 0; t < count; t++) {
		for (int i = 0; i < 3; i++) {
			const int a = corners[3 * t + i], b = corners[3 * t + (i + 1) % 3];
			edges[3 * t + i] =
				(HalfEdge){.low = a < b ? a : b, .high = a < b ? b : a, .triangle = t, .side = i, .forward = a < b};
		}
	}
	qsort(edges, 3 * (size_t)count, sizeof *edges, compare_edges);
}

int mesh_next_edge(const HalfEdge *edges, int i, int count) {
	int next = i + 1;
	while (next < count && edges[next].low == edges[i].low && edges[next].high == edges[i].high)
		next++;
	return next;
}
