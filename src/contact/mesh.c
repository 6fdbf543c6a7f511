// SPDX-License-Identifier: Apache-2.0
/*
 * mesh.c — making a mesh: equal vertices become one, triangles without area go, neighbors are found.
 *
 * What triangles share is found by mesh/mesh_edges.h; edges without two triangles that agree are counted and make the mesh
 * open.
 */
#include "contact/mesh.h"

#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "math/portable.h"
#include "mesh/mesh_edges.h"

/* ---- input ------------------------------------------------------------------------------------- */

typedef struct Input {
	const char *name;
	CalTriangles mesh;
} Input;

/* Scratch of the making, in one block. */
typedef struct Scratch {
	MeshCorner *corners; // [vertices]
	int *same;           // [vertices], later: index among those that are kept, -1: not used
	int *kept;           // [3 triangles] vertices of the triangles that are kept, later: by those indices
	TreeKey *keys;       // [triangles]
	HalfEdge *edges;
	int kept_count, used_count;
} Scratch;

/* Triangles with area, their vertices counted anew in the order of the input. */
static void keep_triangles(const Input *in, Scratch *s) {
	s->used_count = 0;
	s->kept_count = mesh_keep_triangles(&in->mesh, s->same, s->kept);
	for (int i = 0; i < in->mesh.vertex_count; i++)
		s->same[i] = -1;
	for (int i = 0; i < 3 * s->kept_count; i++)
		s->same[s->kept[i]] = 0;
	for (int i = 0; i < in->mesh.vertex_count; i++)
		if (s->same[i] == 0)
			s->same[i] = s->used_count++;
	for (int i = 0; i < 3 * s->kept_count; i++)
		s->kept[i] = s->same[s->kept[i]];
}

/* ---- memory ------------------------------------------------------------------------------------ */

enum { MESH_ALIGNMENT = 16 }; // vectors are loaded in pairs of numbers

static void layout_scratch(Scratch *s, const Input *in, Cursor *cursor) {
	CURSOR_ARRAY(cursor, s->corners, in->mesh.vertex_count);
	CURSOR_ARRAY(cursor, s->same, in->mesh.vertex_count);
	CURSOR_ARRAY(cursor, s->kept, 3 * (size_t)in->mesh.triangle_count);
	CURSOR_ARRAY(cursor, s->keys, in->mesh.triangle_count);
	CURSOR_ARRAY(cursor, s->edges, 3 * (size_t)in->mesh.triangle_count);
}

/* The mesh itself, and its arrays after it. */
static void layout_mesh(CalMesh *m, Cursor *cursor) {
	const size_t nv = (size_t)m->info.vertices, nt = (size_t)m->info.triangles;
	cursor_array(cursor, 1, sizeof *m);
	CURSOR_ARRAY(cursor, m->vertex, nv);
	CURSOR_ARRAY(cursor, m->vertex_normal, nv);
	CURSOR_ARRAY(cursor, m->corner, nv);
	CURSOR_ARRAY(cursor, m->ring_start, nv + 1);
	CURSOR_ARRAY(cursor, m->ring, 6 * nt);
	CURSOR_ARRAY(cursor, m->first_triangle, nv);
	CURSOR_ARRAY(cursor, m->triangle, nt);
	CURSOR_ARRAY(cursor, m->order, nt);
	CURSOR_ARRAY(cursor, m->node, (size_t)tree_capacity(m->info.triangles));
}

/* ---- neighborhoods ---------------------------------------------------------------------------- */

static void fill_geometry(CalMesh *m, const Input *in, const Scratch *s) {
	for (int i = 0; i < in->mesh.vertex_count; i++)
		if (s->same[i] >= 0)
			m->vertex[s->same[i]] = vec_in(in->mesh.vertices[i]);
	for (int t = 0; t < m->info.triangles; t++) {
		Triangle *tri = &m->triangle[t];
		*tri = (Triangle){.across = {-1, -1, -1}};
		for (int k = 0; k < 3; k++)
			tri->v[k] = s->kept[3 * t + k];
		const vec3 a = m->vertex[tri->v[0]];
		const vec3 n = cross(sub(m->vertex[tri->v[1]], a), sub(m->vertex[tri->v[2]], a));
		tri->normal = scale(1 / norm(n), n);
	}
}

/* An edge is sharp if the far vertex of the other triangle is below this one's plane by more than 1e-3 rad. */
static bool is_convex(const CalMesh *m, const Triangle *t, const Triangle *other, int other_side) {
	const vec3 a = m->vertex[other->v[other_side]], far = m->vertex[other->v[(other_side + 2) % 3]];
	const vec3 w = sub(far, a), u = sub(m->vertex[other->v[(other_side + 1) % 3]], a);
	const double height = norm(cross(u, w)) / norm(u);
	return dot(t->normal, w) < -1e-3 * height;
}

static void join_edges(CalMesh *m, const HalfEdge *edges) {
	const int count = 3 * m->info.triangles;
	for (int i = 0, next; i < count; i = next) {
		next = mesh_next_edge(edges, i, count);
		const HalfEdge *a = &edges[i], *b = &edges[i + 1];
		if (next == i + 2 && a->forward != b->forward) {
			Triangle *ta = &m->triangle[a->triangle], *tb = &m->triangle[b->triangle];
			ta->across[a->side] = b->triangle;
			tb->across[b->side] = a->triangle;
			ta->sharp[a->side] = tb->sharp[b->side] = is_convex(m, ta, tb, b->side);
			continue;
		}
		m->info.open_edges += next == i + 1;
		m->info.odd_edges += next > i + 1;
		for (int k = i; k < next; k++)
			m->triangle[edges[k].triangle].sharp[edges[k].side] = 1;
	}
	m->info.closed = m->info.open_edges == 0 && m->info.odd_edges == 0;
}

static double corner_angle(vec3 p, vec3 a, vec3 b) {
	const vec3 u = sub(a, p), v = sub(b, p);
	return portable_atan2(norm(cross(u, v)), dot(u, v));
}

static void fill_vertices(CalMesh *m) {
	const int nv = m->info.vertices, nt = m->info.triangles;
	memset(m->ring_start, 0, ((size_t)nv + 1) * sizeof *m->ring_start);
	for (int v = 0; v < nv; v++) {
		m->vertex_normal[v] = vec_zero();
		m->corner[v] = 0;
		m->first_triangle[v] = -1;
	}
	for (int t = 0; t < nt; t++) {
		const Triangle *tri = &m->triangle[t];
		for (int i = 0; i < 3; i++) {
			const int v = tri->v[i], next = tri->v[(i + 1) % 3], last = tri->v[(i + 2) % 3];
			const double angle = corner_angle(m->vertex[v], m->vertex[next], m->vertex[last]);
			m->vertex_normal[v] = madd(m->vertex_normal[v], angle, tri->normal);
			if (tri->sharp[i] || tri->sharp[(i + 2) % 3])
				m->corner[v] |= CORNER_SHARP;
			if (tri->across[i] < 0 || tri->across[(i + 2) % 3] < 0)
				m->corner[v] |= CORNER_RIM;
			if (m->first_triangle[v] < 0)
				m->first_triangle[v] = t;
			m->ring_start[v + 1] += 2;
		}
	}
	for (int v = 0; v < nv; v++)
		m->ring_start[v + 1] += m->ring_start[v];
}

/* Both other vertices of every triangle at v; ring_start moves up while they are filled in, and back after it. */
static void fill_rings(CalMesh *m) {
	for (int t = 0; t < m->info.triangles; t++) {
		const int *v = m->triangle[t].v;
		for (int i = 0; i < 3; i++) {
			m->ring[m->ring_start[v[i]]++] = v[(i + 1) % 3];
			m->ring[m->ring_start[v[i]]++] = v[(i + 2) % 3];
		}
	}
	for (int v = m->info.vertices; v > 0; v--)
		m->ring_start[v] = m->ring_start[v - 1];
	m->ring_start[0] = 0;
}

static double signed_volume(const CalMesh *m) {
	const vec3 o = m->vertex[0];
	double volume = 0;
	for (int t = 0; t < m->info.triangles; t++) {
		const int *v = m->triangle[t].v;
		volume += dot(sub(m->vertex[v[0]], o), cross(sub(m->vertex[v[1]], o), sub(m->vertex[v[2]], o))) / 6;
	}
	return volume;
}

static CalStatus finish_mesh(CalMesh *m, const Input *in, Scratch *s, CalError *error) {
	fill_geometry(m, in, s);
	mesh_list_edges(s->kept, s->kept_count, s->edges);
	join_edges(m, s->edges);
	fill_vertices(m);
	fill_rings(m);
	tree_build(m, s->keys);
	m->info.lower = vec_out(m->node[0].lower);
	m->info.upper = vec_out(m->node[0].upper);
	m->info.volume = m->info.closed ? signed_volume(m) : 0;
	if (m->info.volume < 0)
		return error_set(error, CAL_ERR_INPUT,
		                 "mesh \"%s\": it is inside out (its volume is %.3g m^3); reverse the order of the vertices of "
		                 "each triangle",
		                 in->name, m->info.volume);
	return CAL_OK;
}

static CalStatus create_mesh(const Input *in, Scratch *s, const CalAllocator *allocator, CalMesh **mesh,
                             CalError *error) {
	mesh_find_same(in->mesh.vertices, in->mesh.vertex_count, s->corners, s->same);
	keep_triangles(in, s);
	if (s->kept_count == 0)
		return error_set(error, CAL_ERR_INPUT, "mesh \"%s\": none of its %d triangles has an area", in->name,
		                 in->mesh.triangle_count);
	CalMesh layout = {.allocator = *allocator,
	                  .info = {.vertices = s->used_count,
	                           .triangles = s->kept_count,
	                           .dropped = in->mesh.triangle_count - s->kept_count}};
	Cursor cursor = {.align = MESH_ALIGNMENT};
	layout_mesh(&layout, &cursor);
	CalMesh *m = cursor_alloc_at_start(&cursor, allocator);
	if (!m)
		return error_set(error, CAL_ERR_MEMORY, "mesh \"%s\": out of memory", in->name);
	layout_mesh(&layout, &cursor);
	*m = layout;
	const CalStatus status = finish_mesh(m, in, s, error);
	if (status == CAL_OK)
		*mesh = m;
	else
		memory_free(allocator, m);
	return status;
}

CalStatus cal_mesh_create(const char *name, const CalVec3 *vertices, int vertex_count, const int *triangles,
                          int triangle_count, const CalAllocator *allocator, CalMesh **mesh, CalError *error) {
	if (!vertices || !triangles || !mesh || !allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_mesh_create: vertices, triangles and mesh are needed");
	const Input in = {
		name ? name : "",
		{.vertices = vertices, .vertex_count = vertex_count, .corners = triangles, .triangle_count = triangle_count}};
	const CalAllocator from = allocator_or_default(allocator);
	CalStatus status = mesh_check_input(in.name, &in.mesh, error);
	if (status != CAL_OK)
		return status;
	Scratch scratch = {0};
	Cursor cursor = {.align = MESH_ALIGNMENT};
	layout_scratch(&scratch, &in, &cursor);
	void *memory = cursor_alloc_at_start(&cursor, &from);
	if (!memory)
		return error_set(error, CAL_ERR_MEMORY, "mesh \"%s\": out of memory", in.name);
	layout_scratch(&scratch, &in, &cursor);
	status = create_mesh(&in, &scratch, &from, mesh, error);
	memory_free(&from, memory);
	return status;
}

void cal_mesh_destroy(CalMesh *mesh) {
	if (mesh) {
		const CalAllocator allocator = mesh->allocator;
		memory_free(&allocator, mesh);
	}
}

CalMeshInfo cal_mesh_info(const CalMesh *mesh) { return mesh ? mesh->info : (CalMeshInfo){0}; }
