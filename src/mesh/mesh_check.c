// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_check.c — whether triangles bound a solid: edges without a partner, connected parts and the sign of their volumes.
 */
#include <math.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "mesh/mesh_edges.h"

typedef struct Scratch {
	MeshCorner *corners; // [vertices]
	int *same;           // [vertices]
	int *part;           // [vertices] a vertex of the same part, itself at the root of its tree
	double *volume;      // [vertices] of the part with this root
	int *kept;           // [triangles][3]
	HalfEdge *edges;     // [3 triangles]
} Scratch;

static void layout_scratch(Scratch *s, const CalTriangles *mesh, Cursor *cursor) {
	CURSOR_ARRAY(cursor, s->corners, mesh->vertex_count);
	CURSOR_ARRAY(cursor, s->same, mesh->vertex_count);
	CURSOR_ARRAY(cursor, s->part, mesh->vertex_count);
	CURSOR_ARRAY(cursor, s->volume, mesh->vertex_count);
	CURSOR_ARRAY(cursor, s->kept, 3 * (size_t)mesh->triangle_count);
	CURSOR_ARRAY(cursor, s->edges, 3 * (size_t)mesh->triangle_count);
}

static void note_edge(const CalTriangles *mesh, const HalfEdge *edge, int triangles, CalMeshCheck *check) {
	check->open_edges += triangles == 1;
	check->odd_edges += triangles > 1;
	if (check->place_count < CAL_MESH_PLACES)
		check->places[check->place_count++] =
			(CalMeshEdge){mesh->vertices[edge->low], mesh->vertices[edge->high], edge->triangle, triangles};
}

static void check_edges(const CalTriangles *mesh, Scratch *s, CalMeshCheck *check) {
	const int count = 3 * check->triangles;
	mesh_list_edges(s->kept, check->triangles, s->edges);
	for (int i = 0, next; i < count; i = next) {
		next = mesh_next_edge(s->edges, i, count);
		if (next != i + 2 || s->edges[i].forward == s->edges[i + 1].forward)
			note_edge(mesh, &s->edges[i], next - i, check);
	}
	check->closed = check->open_edges == 0 && check->odd_edges == 0;
}

/* Halves the path on its way. */
static int find_root(int *part, int v) {
	while (part[v] != v)
		v = part[v] = part[part[v]];
	return v;
}

/* Triangles that share a vertex are of one part. */
static void join_parts(const CalTriangles *mesh, Scratch *s, int triangles) {
	for (int i = 0; i < mesh->vertex_count; i++) {
		s->part[i] = i;
		s->volume[i] = 0;
	}
	for (int t = 0; t < triangles; t++) {
		for (int k = 1; k < 3; k++) {
			const int a = find_root(s->part, s->kept[3 * t]), b = find_root(s->part, s->kept[3 * t + k]);
			s->part[a > b ? a : b] = a > b ? b : a;
		}
	}
}

static void measure_parts(const CalTriangles *mesh, Scratch *s, CalMeshCheck *check) {
	const vec3 low = vec_in(check->lower), high = vec_in(check->upper);
	const vec3 origin = scale(0.5, add(low, high));
	join_parts(mesh, s, check->triangles);
	for (int t = 0; t < check->triangles; t++) {
		const int *v = s->kept + 3 * (size_t)t;
		const vec3 a = sub(vec_in(mesh->vertices[v[0]]), origin), b = sub(vec_in(mesh->vertices[v[1]]), origin),
				   c = sub(vec_in(mesh->vertices[v[2]]), origin);
		const double volume = dot(a, cross(b, c)) / 6;
		check->area += mesh_length(cross(sub(b, a), sub(c, a))) / 2;
		check->volume += volume;
		s->volume[find_root(s->part, v[0])] += volume;
	}
	for (int t = 0; t < check->triangles; t++)
		for (int k = 0; k < 3; k++) {
			int *mark = &s->same[s->kept[3 * (size_t)t + (size_t)k]]; // counted once
			const int v = s->kept[3 * (size_t)t + (size_t)k];
			if (*mark < 0)
				continue;
			*mark = -1;
			check->vertices++;
			check->pieces += s->part[v] == v;
			check->inverted += s->part[v] == v && check->closed && s->volume[v] < 0;
		}
	check->inside_out = check->closed && check->volume < 0;
}

static void find_box(const CalTriangles *mesh, const Scratch *s, CalMeshCheck *check) {
	check->lower = check->upper = mesh->vertices[s->kept[0]];
	for (int i = 0; i < 3 * check->triangles; i++) {
		const CalVec3 p = mesh->vertices[s->kept[i]];
		check->lower = (CalVec3){fmin(check->lower.x, p.x), fmin(check->lower.y, p.y), fmin(check->lower.z, p.z)};
		check->upper = (CalVec3){fmax(check->upper.x, p.x), fmax(check->upper.y, p.y), fmax(check->upper.z, p.z)};
	}
}

static CalStatus check_mesh(const CalTriangles *mesh, Scratch *s, CalMeshCheck *check, CalError *error) {
	mesh_find_same(mesh->vertices, mesh->vertex_count, s->corners, s->same);
	check->triangles = mesh_keep_triangles(mesh, s->same, s->kept);
	check->dropped = mesh->triangle_count - check->triangles;
	if (check->triangles == 0)
		return error_set(error, CAL_ERR_INPUT, "none of the %d triangles has an area", mesh->triangle_count);
	find_box(mesh, s, check);
	check_edges(mesh, s, check);
	measure_parts(mesh, s, check);
	return CAL_OK;
}

CalStatus cal_mesh_check(const CalTriangles *mesh, const CalAllocator *allocator, CalMeshCheck *check,
                         CalError *error) {
	if (!mesh || !check || !mesh->vertices || !mesh->corners || !allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_mesh_check: a mesh with vertices and triangles is needed");
	const CalAllocator from = allocator_or_default(allocator);
	CalStatus status = mesh_check_input("", mesh, error);
	if (status != CAL_OK)
		return status;
	*check = (CalMeshCheck){0};
	Scratch scratch = {0};
	Cursor cursor = {.align = sizeof(double)};
	layout_scratch(&scratch, mesh, &cursor);
	void *memory = cursor_alloc_at_start(&cursor, &from);
	if (!memory)
		return error_set(error, CAL_ERR_MEMORY, "a mesh of %d triangles: out of memory", mesh->triangle_count);
	layout_scratch(&scratch, mesh, &cursor);
	status = check_mesh(mesh, &scratch, check, error);
	memory_free(&from, memory);
	return status;
}

double cal_mesh_question_unit(CalVec3 lower, CalVec3 upper, double expected) {
	const double size = fmax(upper.x - lower.x, fmax(upper.y - lower.y, upper.z - lower.z));
	static const double factors[] = {0.001, 0.01, 0.0254, 1000}; // mm, cm, inch; m read as mm
	if (!(size > 0) || !isfinite(size))
		return 1;
	if (!(expected > 0))
		return size > 20 ? 0.001 : 1;
	if (size < 5 * expected && expected < 50 * size)
		return 1;
	double best = 1, least = 5; // the factor that comes nearest, and within a factor of five
	for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
		const double ratio = size * factors[i] / expected, off = ratio > 1 ? ratio : 1 / ratio;
		if (off < least) {
			least = off;
			best = factors[i];
		}
	}
	return best;
}
