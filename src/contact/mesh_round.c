// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_round.c — spheres, capsules and planes against meshes.
 *
 * A ball touches a mesh where its distance to the surface has a local minimum below its radius: over faces, over convex
 * edges and corners whose cone of normals holds the center. On a flat part that is one point, whatever its triangles; in
 * a corner of two walls it is two. Over an edge one feature hands the contact to the next at the same depth. A center
 * inside the surface is pushed to its nearest point.
 */
#include "contact/mesh_touch.h"

/* ---- balls ------------------------------------------------------------------------------------- */

/* From p to the center c, along the edges at vertex v, nothing is nearer: the minimum is the vertex itself. */
static bool vertex_is_nearest(const CalMesh *mesh, int v, vec3 c) {
	const vec3 p = mesh->vertex[v], w = sub(c, p);
	for (int k = mesh->ring_start[v]; k < mesh->ring_start[v + 1]; k++) {
		const vec3 u = sub(mesh->vertex[mesh->ring[k]], p);
		if (dot(w, u) > 1e-9 * norm(w) * norm(u))
			return false;
	}
	return true;
}

/* The same for an edge: the center is beyond it from the other triangle, too. */
static bool edge_is_nearest(const CalMesh *mesh, const Triangle *t, int i, const Nearest *n, vec3 c) {
	if (t->across[i] < 0)
		return true;
	const vec3 u = sub(mesh->vertex[t->v[i]], mesh->vertex[t->v[(i + 1) % 3]]);
	const vec3 outward = cross(u, mesh->triangle[t->across[i]].normal);
	return dot(outward, sub(c, n->q)) >= -1e-9 * norm(u) * sqrt(n->distance2);
}

static bool is_local_minimum(const CalMesh *mesh, const Nearest *n, vec3 c) {
	const Triangle *t = &mesh->triangle[n->triangle];
	if (n->feature >= FEATURE_VERTEX)
		return vertex_is_nearest(mesh, t->v[n->feature - FEATURE_VERTEX], c);
	if (n->feature >= FEATURE_EDGE)
		return edge_is_nearest(mesh, t, n->feature - FEATURE_EDGE, n, c);
	return dot(t->normal, sub(c, n->q)) > 0;
}

/* Triangles that share an edge or a corner find the same point; p and out in the frame f. */
static bool is_known(const Manifold *m, vec3 p, vec3 n, double size) {
	for (int i = 0; i < m->count; i++) {
		const vec3 d = sub(m->touch[i].p, p);
		if (dot(d, d) < 1e-24 * size * size && dot(m->touch[i].n, n) > 1 - 1e-12)
			return true;
	}
	return false;
}

static void add_minimum(Manifold *m, const Frame *f, vec3 c, double r, double grow, const Nearest *n) {
	const double distance = sqrt(n->distance2);
	const vec3 out = scale(1 / distance, sub(c, n->q));
	const double depth = r + grow - distance;
	const vec3 p = madd(c, 0.5 * depth - r, out);
	if (!is_known(m, frame_point(f, p), neg(mat_mul_vec(f->R, out)), r))
		touch_in_frame(m, f, p, out, depth, r, 1);
}

/* The center is on or inside the surface, at the nearest point n. */
static void add_inside(Manifold *m, const Frame *f, const CalMesh *mesh, vec3 c, double r, double grow,
                       const Nearest *n) {
	const double distance = sqrt(n->distance2), depth = r + grow + distance;
	const vec3 out = distance > 0 ? scale(1 / distance, sub(n->q, c)) : mesh->triangle[n->triangle].normal;
	touch_in_frame(m, f, madd(c, 0.5 * depth - r, out), out, depth, r, 1);
}

static void touch_ball_mesh(Manifold *m, vec3 c, double r, const Shape *b, const Frame *f) {
	const CalMesh *mesh = b->mesh;
	const double reach = r + b->margin;
	if (mesh_distance_bound(mesh, c) >= fmax(reach, mesh_reach(b)))
		return;
	const Nearest nearest = mesh_nearest(mesh, c, fmax(reach, b->thickness), NULL);
	if (nearest.triangle < 0)
		return;
	if (nearest.distance2 == 0 || mesh_contains(mesh, c, &nearest)) {
		if (nearest.distance2 <= b->thickness * b->thickness)
			add_inside(m, f, mesh, c, r, b->margin, &nearest);
		return;
	}
	if (nearest.distance2 >= reach * reach)
		return;
	const vec3 size = vec(reach, reach, reach);
	TreeWalk walk = tree_walk(mesh, sub(c, size), add(c, size));
	for (int t = tree_next(&walk); t >= 0; t = tree_next(&walk)) {
		const Nearest n = triangle_nearest(mesh, t, c);
		if (n.distance2 < reach * reach && is_local_minimum(mesh, &n, c))
			add_minimum(m, f, c, r, b->margin, &n);
	}
}

void touch_sphere_mesh(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	touch_ball_mesh(m, frame_local(fb, fa->r), a->radius, b, fb);
}

/* ---- capsules ---------------------------------------------------------------------------------- */

static bool leave_mesh(const Shape *s, vec3 p, vec3 *out) {
	const Nearest n = mesh_nearest(s->mesh, p, s->thickness, NULL);
	if (n.triangle < 0 || !mesh_contains(s->mesh, p, &n))
		return false;
	*out = s->mesh->triangle[n.triangle].normal;
	return true;
}

/* A corner of the mesh that pokes into the side of the capsule. */
static void touch_axis_vertex(Manifold *m, const Frame *f, const Axis *axis, const CalMesh *mesh, int v, double grow) {
	const double t = segment_nearest(axis->from, axis->to, mesh->vertex[v]);
	const vec3 p = lerp(axis->from, axis->to, t), w = sub(p, mesh->vertex[v]);
	const double distance = norm(w), depth = axis->radius + grow - distance;
	if (t <= 0 || t >= 1 || depth <= 0 || distance == 0 || dot(w, mesh->vertex_normal[v]) <= 0)
		return;
	const vec3 n = scale(1 / distance, w);
	double least = 1;
	for (int k = mesh->ring_start[v]; k < mesh->ring_start[v + 1]; k++) {
		const vec3 u = sub(mesh->vertex[mesh->ring[k]], mesh->vertex[v]);
		least = fmin(least, -dot(n, u) / norm(u));
	}
	const double away = fmin(norm(sub(p, axis->from)), norm(sub(p, axis->to)));
	const double fade = cone_fade(least) * end_fade(least, axis->radius, away);
	touch_in_frame(m, f, madd(p, 0.5 * depth - axis->radius, n), n, depth, axis->radius, fade);
}

void touch_capsule_mesh(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	const Axis axis = capsule_axis(a, fa, fb);
	touch_ball_mesh(m, axis.from, axis.radius, b, fb);
	touch_ball_mesh(m, axis.to, axis.radius, b, fb);
	const double r = axis.radius + b->margin;
	const vec3 lower =
		vec(fmin(axis.from.x, axis.to.x) - r, fmin(axis.from.y, axis.to.y) - r, fmin(axis.from.z, axis.to.z) - r);
	const vec3 upper =
		vec(fmax(axis.from.x, axis.to.x) + r, fmax(axis.from.y, axis.to.y) + r, fmax(axis.from.z, axis.to.z) + r);
	TreeWalk walk = tree_walk(b->mesh, lower, upper);
	for (int t = tree_next(&walk); t >= 0; t = tree_next(&walk)) {
		const Triangle *tri = &b->mesh->triangle[t];
		for (int i = 0; i < 3; i++) {
			Edge edge;
			if (mesh_edge(b->mesh, t, i, &edge))
				touch_axis_edge(m, fb, &axis, &edge, b, leave_mesh);
			if ((b->mesh->corner[tri->v[i]] & CORNER_SHARP) && b->mesh->first_triangle[tri->v[i]] == t)
				touch_axis_vertex(m, fb, &axis, b->mesh, tri->v[i], b->margin);
		}
	}
}

/* ---- planes ------------------------------------------------------------------------------------ */

/* The corners of the mesh below the plane; those inside its flat parts carry nothing. */
void touch_plane_mesh(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	const CalMesh *mesh = b->mesh;
	const vec3 up = mat_tmul_vec(fb->R, fa->R.z);
	const double level = dot(up, frame_local(fb, fa->r)) + a->margin + b->margin;
	int stack[TREE_DEPTH] = {0}, depth = 1;
	while (depth > 0) {
		const int index = stack[--depth];
		const MeshNode *node = &mesh->node[index];
		const vec3 lowest = vec(up.x > 0 ? node->lower.x : node->upper.x, up.y > 0 ? node->lower.y : node->upper.y,
		                        up.z > 0 ? node->lower.z : node->upper.z);
		if (dot(up, lowest) >= level)
			continue;
		if (node->count == 0) {
			stack[depth++] = node->first;
			stack[depth++] = index + 1;
			continue;
		}
		for (int k = 3 * node->first; k < 3 * (node->first + node->count); k++) {
			const int t = mesh->order[k / 3], v = mesh->triangle[t].v[k % 3];
			if (!(mesh->corner[v] & CORNER_SHARP) || mesh->first_triangle[v] != t)
				continue;
			const double d = level - dot(up, mesh->vertex[v]);
			manifold_add(m, frame_point(fb, madd(mesh->vertex[v], 0.5 * d - b->margin, up)), fa->R.z, d, 0, 1);
		}
	}
}
