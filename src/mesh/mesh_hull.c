// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_hull.c — convex hull by the quickhull algorithm (Barber, Dobkin, Huhdanpaa 1996).
 *
 * A tetrahedron grows: every face has a list of points outside of it; the farthest of them becomes a vertex, the faces that
 * it sees are replaced by a cone from it to their rim, and their points go to the lists of the new faces. Each point is on
 * one list, so that memory is that of points and faces. Time is n log n for usual points; a limit ends what takes far longer.
 */
#include "mesh/mesh_hull.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "mesh/mesh_edges.h"

typedef struct Face {
	int v[3];      // counterclockwise
	int across[3]; // face beyond the edge from v[i] to v[i + 1]
	vec3 normal;   // unit, outward
	double offset; // normal . x of its plane
	int outside;   // first of its points, -1: none
	int seen;      // from the point with this number, 0: none
	bool dead;
} Face;

typedef struct Rim { // an edge between what a point sees and what it does not
	int from, to, beyond;
} Rim;

typedef struct Hull {
	CalAllocator allocator;
	const CalVec3 *points;
	int point_count;
	int *next;   // [points] in a list, -1: its last
	int *starts; // [points] new face whose rim starts there, -1: none
	Face *faces;
	int face_count, face_capacity;
	int *stack;
	int stack_count, stack_capacity;
	Rim *rim;
	int rim_count, rim_capacity;
	double least;  // distance that counts as outside
	int64_t limit; // of distances left
	bool flat;     // all points are in one plane
	CalStatus status;
} Hull;

static vec3 point(const Hull *h, int i) { return vec_in(h->points[i]); }

static double height(const Face *f, vec3 p) { return dot(f->normal, p) - f->offset; }

/* -1: no memory. */
static int add_face(Hull *h, int a, int b, int c) {
	Face *grown = array_reserve(&h->allocator, h->faces, h->face_count, 1, &h->face_capacity, sizeof *grown);
	if (!grown) {
		h->status = CAL_ERR_MEMORY;
		return -1;
	}
	h->faces = grown;
	Face *f = &h->faces[h->face_count];
	const vec3 n = cross(sub(point(h, b), point(h, a)), sub(point(h, c), point(h, a)));
	const double length = mesh_length(n);
	*f = (Face){.v = {a, b, c}, .across = {-1, -1, -1}, .outside = -1};
	f->normal = scale(length > 0 ? 1 / length : 0, n);
	f->offset = dot(f->normal, point(h, a));
	return h->face_count++;
}

/* ---- the first tetrahedron --------------------------------------------------------------------- */

static double distance_to_line(vec3 p, vec3 a, vec3 b) {
	const vec3 u = sub(b, a);
	return mesh_length(cross(u, sub(p, a))) / mesh_length(u);
}

static void find_extremes(const Hull *h, int most[2]) {
	int best[6] = {0};
	for (int i = 0; i < h->point_count; i++) {
		const double x[3] = {h->points[i].x, h->points[i].y, h->points[i].z};
		for (int k = 0; k < 3; k++) {
			const CalVec3 low = h->points[best[2 * k]], high = h->points[best[2 * k + 1]];
			best[2 * k] = x[k] < (k == 0 ? low.x : k == 1 ? low.y : low.z) ? i : best[2 * k];
			best[2 * k + 1] = x[k] > (k == 0 ? high.x : k == 1 ? high.y : high.z) ? i : best[2 * k + 1];
		}
	}
	double far = -1;
	for (int k = 0; k < 3; k++) {
		const double d = mesh_length(sub(point(h, best[2 * k]), point(h, best[2 * k + 1])));
		if (d > far) {
			far = d;
			most[0] = best[2 * k];
			most[1] = best[2 * k + 1];
		}
	}
}

/* Four points that are far apart; false: all are in one plane. */
static bool find_tetrahedron(Hull *h, int v[4]) {
	find_extremes(h, v);
	const vec3 a = point(h, v[0]), b = point(h, v[1]);
	h->least = 1e-11 * mesh_length(sub(b, a));
	double far = 0;
	v[2] = v[3] = -1;
	for (int i = 0; i < h->point_count && h->least > 0; i++) {
		const double d = distance_to_line(point(h, i), a, b);
		v[2] = d > far ? i : v[2];
		far = fmax(far, d);
	}
	if (v[2] < 0 || far <= h->least)
		return false;
	const vec3 n = cross(sub(b, a), sub(point(h, v[2]), a));
	far = 0;
	for (int i = 0; i < h->point_count; i++) {
		const double d = fabs(dot(n, sub(point(h, i), a))) / mesh_length(n);
		v[3] = d > far ? i : v[3];
		far = fmax(far, d);
	}
	if (v[3] < 0 || far <= h->least)
		return false;
	if (dot(n, sub(point(h, v[3]), a)) > 0) { // the fourth is below the first three
		const int swap = v[1];
		v[1] = v[2];
		v[2] = swap;
	}
	return true;
}

/* ---- lists of points --------------------------------------------------------------------------- */

/* To the first face of `first`... that it is outside of. */
static void assign_point(Hull *h, int i, int first) {
	for (int f = first; f < h->face_count; f++) {
		h->limit--;
		if (height(&h->faces[f], point(h, i)) > h->least) {
			h->next[i] = h->faces[f].outside;
			h->faces[f].outside = i;
			return;
		}
	}
}

static int farthest(const Hull *h, const Face *f) {
	int best = f->outside;
	double far = -1;
	for (int i = f->outside; i >= 0; i = h->next[i]) {
		const double d = height(f, point(h, i));
		best = d > far ? i : best;
		far = fmax(far, d);
	}
	return best;
}

/* ---- growth -------------------------------------------------------------------------------------- */

static bool push(Hull *h, int f, int mark) {
	int *grown = array_reserve(&h->allocator, h->stack, h->stack_count, 1, &h->stack_capacity, sizeof *grown);
	if (!grown) {
		h->status = CAL_ERR_MEMORY;
		return false;
	}
	h->stack = grown;
	h->stack[h->stack_count++] = f;
	h->faces[f].seen = mark;
	return true;
}

static bool add_rim(Hull *h, Rim rim) {
	Rim *grown = array_reserve(&h->allocator, h->rim, h->rim_count, 1, &h->rim_capacity, sizeof *grown);
	if (!grown) {
		h->status = CAL_ERR_MEMORY;
		return false;
	}
	h->rim = grown;
	h->rim[h->rim_count++] = rim;
	return true;
}

/* All faces that p sees, from face `start` on: they stay on the stack; the edges at their end are the rim. */
static bool find_seen(Hull *h, int start, vec3 p, int mark) {
	h->stack_count = h->rim_count = 0;
	if (!push(h, start, mark))
		return false;
	for (int at = 0; at < h->stack_count; at++) {
		const Face f = h->faces[h->stack[at]];
		for (int k = 0; k < 3; k++) {
			const Face *other = &h->faces[f.across[k]];
			h->limit--;
			if (other->seen == mark)
				continue;
			const bool sees = height(other, p) > 0;
			if (sees ? !push(h, f.across[k], mark) : !add_rim(h, (Rim){f.v[k], f.v[(k + 1) % 3], f.across[k]}))
				return false;
		}
	}
	return true;
}

static bool ambiguous(Hull *h) {
	h->status = CAL_ERR_INPUT;
	return false;
}

/* Faces from the rim to point i, each tied to its neighbors. The rim must be one closed line. */
static bool add_cone(Hull *h, int i, int first) {
	for (int k = 0; k < h->rim_count; k++) {
		const Rim r = h->rim[k];
		const int f = add_face(h, r.from, r.to, i);
		if (f < 0)
			return false;
		if (h->starts[r.from] >= first)
			return ambiguous(h);
		h->starts[r.from] = f;
		h->faces[f].across[0] = r.beyond;
		Face *beyond = &h->faces[r.beyond];
		for (int e = 0; e < 3; e++)
			if (beyond->v[e] == r.to && beyond->v[(e + 1) % 3] == r.from)
				beyond->across[e] = f;
	}
	for (int k = 0; k < h->rim_count; k++) {
		const int f = first + k, after = h->starts[h->rim[k].to];
		if (after < first)
			return ambiguous(h);
		h->faces[f].across[1] = after;
		h->faces[after].across[2] = f;
	}
	return true;
}

static bool grow(Hull *h, int face, int mark) {
	const int i = farthest(h, &h->faces[face]), first = h->face_count;
	if (!find_seen(h, face, point(h, i), mark) || !add_cone(h, i, first))
		return false;
	for (int at = 0; at < h->stack_count; at++) {
		Face *f = &h->faces[h->stack[at]];
		f->dead = true;
		for (int p = f->outside, next; p >= 0; p = next) {
			next = h->next[p];
			if (p != i)
				assign_point(h, p, first);
		}
	}
	return h->limit > 0 || ambiguous(h);
}

static bool start_hull(Hull *h, const int v[4]) {
	static const int faces[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
	static const int across[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
	for (int f = 0; f < 4; f++) {
		if (add_face(h, v[faces[f][0]], v[faces[f][1]], v[faces[f][2]]) < 0)
			return false;
		for (int k = 0; k < 3; k++)
			h->faces[f].across[k] = across[f][k];
	}
	for (int i = 0; i < h->point_count; i++) {
		h->starts[i] = -1;
		if (i != v[0] && i != v[1] && i != v[2] && i != v[3])
			assign_point(h, i, 0);
	}
	return true;
}

static bool list_faces(Hull *h, int **corners, int *count) {
	int *list = memory_alloc(&h->allocator, 3 * (size_t)h->face_count * sizeof *list);
	if (!list) {
		h->status = CAL_ERR_MEMORY;
		return false;
	}
	*count = 0;
	for (int f = 0; f < h->face_count; f++)
		for (int k = 0; k < 3 && !h->faces[f].dead; k++)
			list[(*count)++] = h->faces[f].v[k];
	*count /= 3;
	*corners = list;
	return true;
}

static void make_hull(Hull *h, int **corners, int *count) {
	int v[4] = {0};
	if (!find_tetrahedron(h, v)) {
		h->flat = true;
		h->status = CAL_ERR_INPUT;
		return;
	}
	if (!start_hull(h, v))
		return;
	for (int f = 0; f < h->face_count; f++)
		if (!h->faces[f].dead && h->faces[f].outside >= 0 && !grow(h, f, f + 1))
			return;
	list_faces(h, corners, count);
}

CalStatus mesh_hull(const char *name, const CalTriangles *mesh, const CalAllocator *allocator, int **corners,
                    int *count, CalError *error) {
	Hull h = {.allocator = *allocator,
	          .points = mesh->vertices,
	          .point_count = mesh->vertex_count,
	          .limit = 10000000 + 2000 * (int64_t)mesh->vertex_count};
	h.next = memory_alloc(allocator, (size_t)h.point_count * sizeof *h.next);
	h.starts = memory_alloc(allocator, (size_t)h.point_count * sizeof *h.starts);
	if (h.next && h.starts)
		make_hull(&h, corners, count);
	else
		h.status = CAL_ERR_MEMORY;
	memory_free(allocator, h.next);
	memory_free(allocator, h.starts);
	memory_free(allocator, h.faces);
	memory_free(allocator, h.stack);
	memory_free(allocator, h.rim);
	if (h.status == CAL_OK)
		return CAL_OK;
	return error_set(error, h.status, "mesh \"%s\": %s", name,
	                 h.status == CAL_ERR_MEMORY ? "out of memory"
	                 : h.flat                   ? "all its vertices are in one plane; it has no convex hull"
	                          : "its convex hull is ambiguous or too large; take the solid \"exact\"");
}
