// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_solid.c — boxes and meshes against meshes.
 *
 * Two polyhedra touch with the corners of each inside the other, and where their sharp edges cross. A corner inside is
 * pushed out through the nearest face that faces it; without that condition two solids with flush sides would
 * push each other sideways. A crossing counts if the common normal of the edges is in the cones of both, softly, and
 * the one edge has passed into the other solid. Flat edges and corners within flat parts carry nothing.
 */
#include "contact/mesh_touch.h"

bool mesh_edge(const CalMesh *mesh, int triangle, int i, Edge *edge) {
	const Triangle *t = &mesh->triangle[triangle];
	if (!t->sharp[i] || t->across[i] > triangle)
		return false;
	edge->from = mesh->vertex[t->v[i]];
	edge->to = mesh->vertex[t->v[(i + 1) % 3]];
	edge->normal[0] = t->normal;
	if (t->across[i] >= 0) {
		edge->normal[1] = mesh->triangle[t->across[i]].normal;
	} else {
		const vec3 outward = cross(sub(edge->to, edge->from), t->normal);
		edge->normal[1] = scale(1 / norm(outward), outward);
	}
	return true;
}

static Edge edge_in(const Edge *e, const mat3 *R, vec3 r) {
	return (Edge){add(r, mat_mul_vec(*R, e->from)),
	              add(r, mat_mul_vec(*R, e->to)),
	              {mat_mul_vec(*R, e->normal[0]), mat_mul_vec(*R, e->normal[1])}};
}

/* The frame of one shape in that of another: local = into^-1 * of. */
static Frame frame_between(const Frame *into, const Frame *of) {
	const mat3 R = {mat_tmul_vec(into->R, of->R.x), mat_tmul_vec(into->R, of->R.y), mat_tmul_vec(into->R, of->R.z)};
	return (Frame){R, frame_local(into, of->r)};
}

/* ---- corners ----------------------------------------------------------------------------------- */

/* Inside the surface and no deeper than it is thick, or less than `grow` in front of it. */
static bool inside_mesh(const Shape *s, vec3 p, double grow) {
	if (mesh_distance_bound(s->mesh, p) > fmax(grow, mesh_reach(s)))
		return false;
	const Nearest n = mesh_nearest(s->mesh, p, fmax(grow, s->thickness), NULL);
	return n.triangle >= 0 && (n.distance2 < grow * grow || mesh_contains(s->mesh, p, &n));
}

/* The point p with the outward direction `out` of its own shape against the mesh s, all in the frame f of s. */
static void touch_point_mesh(Manifold *m, vec3 p, vec3 out, const Shape *s, const Frame *f, double grow, bool flip) {
	const CalMesh *mesh = s->mesh;
	if (mesh_distance_bound(mesh, p) > fmax(grow, mesh_reach(s)))
		return;
	Nearest n = mesh_nearest(mesh, p, fmax(grow, s->thickness), NULL);
	if (n.triangle < 0)
		return;
	const bool inside = mesh_contains(mesh, p, &n);
	if (inside) {
		const Nearest facing = mesh_nearest(mesh, p, s->thickness, &out);
		n = facing.triangle >= 0 ? facing : n;
	}
	const double distance = sqrt(n.distance2), sign = inside ? -1 : 1, depth = grow - sign * distance;
	const vec3 d = n.feature == FEATURE_FACE || distance == 0 ? mesh->triangle[n.triangle].normal
	                                                          : scale(sign / distance, sub(p, n.q));
	const vec3 middle = madd(p, 0.5 * depth, d), normal = mat_mul_vec(f->R, d);
	manifold_add(m, frame_point(f, middle), flip ? normal : neg(normal), depth, 0, 1);
}

/*
 * A corner of the mesh inside the box; v and the mesh's outward direction are in the box's frame. It leaves by the face
 * that a ray against that direction meets first.
 */
static void touch_vertex_box(Manifold *m, vec3 v, vec3 out, const Shape *box, const Frame *f, double grow) {
	double first = INFINITY, depth = 0;
	vec3 n = vec_zero();
	for (int k = 0; k < 6; k++) {
		const int i = k / 2;
		const double side = k & 1 ? 1 : -1;
		const double room = component(box->half, i) + grow - side * component(v, i), rate = -side * component(out, i);
		if (!(room > 0))
			return;
		if (rate > 1e-9 && room / rate < first) {
			first = room / rate;
			depth = room;
			n = vec(i == 0 ? side : 0, i == 1 ? side : 0, i == 2 ? side : 0);
		}
	}
	manifold_add(m, frame_point(f, madd(v, 0.5 * depth, n)), mat_mul_vec(f->R, n), depth, 0, 1);
}

/* ---- edges ------------------------------------------------------------------------------------- */

typedef struct Crossing {
	vec3 n;       // outward of b
	vec3 pa, pb;  // on the edges
	vec3 probe;   // must be inside both solids
	double depth; //
	double fade;  //
} Crossing;

/*
 * Two sharp edges in one frame; false if they do not cross, or not with overlap. The cones are soft: n may be outside one
 * by CONE_WIDTH, and then the point midway between the edges is outside that solid by half of CONE_WIDTH times the depth.
 * So the probe is moved in by as much: it is inside both solids whenever the fade is not 0. Edges that have passed each
 * other by more than `reach` are not a contact but opposite sides.
 */
static bool edges_cross(const Edge *a, const Edge *b, double grow, double reach, Crossing *x) {
	const vec3 u = sub(a->to, a->from), v = sub(b->to, b->from);
	double s, t;
	if (!lines_nearest(a->from, u, b->from, v, &s, &t) || s < 0 || s > 1 || t < 0 || t > 1)
		return false;
	const vec3 c = cross(u, v), out_a = add(a->normal[0], a->normal[1]), out_b = add(b->normal[0], b->normal[1]);
	x->n = scale((dot(c, out_b) < 0 ? -1 : 1) / norm(c), c);
	x->pa = lerp(a->from, a->to, s);
	x->pb = lerp(b->from, b->to, t);
	x->depth = grow - dot(x->n, sub(x->pa, x->pb));
	x->fade = cone_fade(dot(x->n, b->normal[0])) * cone_fade(dot(x->n, b->normal[1])) *
	          cone_fade(-dot(x->n, a->normal[0])) * cone_fade(-dot(x->n, a->normal[1])) *
	          smoothstep(2 - 2 * (x->depth - grow) / reach);
	x->probe = madd(lerp(x->pa, x->pb, 0.5), -0.5 * CONE_WIDTH * x->depth, add(out_a, out_b));
	return x->depth > 0 && x->fade > 0;
}

static void add_crossing(Manifold *m, const Frame *f, const Crossing *x) {
	touch_in_frame(m, f, lerp(x->pa, x->pb, 0.5), x->n, x->depth, 0, x->fade);
}

/* ---- box and mesh ------------------------------------------------------------------------------ */

/* The box that holds a box of half extents `half` in the frame f. */
static void bounds_in(const Frame *f, vec3 half, double grow, vec3 *lower, vec3 *upper) {
	const vec3 size = vec(fabs(f->R.x.x) * half.x + fabs(f->R.y.x) * half.y + fabs(f->R.z.x) * half.z + grow,
	                      fabs(f->R.x.y) * half.x + fabs(f->R.y.y) * half.y + fabs(f->R.z.y) * half.z + grow,
	                      fabs(f->R.x.z) * half.x + fabs(f->R.y.z) * half.y + fabs(f->R.z.z) * half.z + grow);
	*lower = sub(f->r, size);
	*upper = add(f->r, size);
}

static bool inside_box(vec3 half, vec3 p, double slack) {
	return fabs(p.x) <= half.x + slack && fabs(p.y) <= half.y + slack && fabs(p.z) <= half.z + slack;
}

/* Edge of the mesh, in its own frame, against the twelve of the box at X in it. */
static void touch_box_edges(Manifold *m, const Shape *box, const Frame *X, const Edge *edge, const Shape *b,
                            const Frame *fb) {
	for (int k = 0; k < 12; k++) {
		const Edge own = box_edge(box->half, k), moved = edge_in(&own, &X->R, X->r);
		Crossing x;
		if (edges_cross(&moved, edge, b->margin, fmin(box->patch, b->patch), &x) &&
		    inside_box(box->half, frame_local(X, x.probe), b->margin) && inside_mesh(b, x.probe, b->margin))
			add_crossing(m, fb, &x);
	}
}

void touch_box_mesh(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	const CalMesh *mesh = b->mesh;
	const Frame X = frame_between(fb, fa);
	for (int k = 0; k < 8; k++) {
		const vec3 corner = box_corner(a->half, k),
				   out = vec(copysign(1, corner.x), copysign(1, corner.y), copysign(1, corner.z));
		touch_point_mesh(m, frame_point(&X, corner), scale(sqrt(1.0 / 3), mat_mul_vec(X.R, out)), b, fb, b->margin,
		                 false);
	}
	vec3 lower, upper;
	bounds_in(&X, a->half, b->margin, &lower, &upper);
	TreeWalk walk = tree_walk(mesh, lower, upper);
	for (int t = tree_next(&walk); t >= 0; t = tree_next(&walk)) {
		for (int i = 0; i < 3; i++) {
			const int v = mesh->triangle[t].v[i];
			Edge edge;
			if (mesh_edge(mesh, t, i, &edge))
				touch_box_edges(m, a, &X, &edge, b, fb);
			if ((mesh->corner[v] & CORNER_SHARP) && mesh->first_triangle[v] == t)
				touch_vertex_box(m, frame_local(&X, mesh->vertex[v]), mat_tmul_vec(X.R, mesh->vertex_normal[v]), a, fa,
				                 b->margin);
		}
	}
}

/* ---- two meshes -------------------------------------------------------------------------------- */

/* The triangles of one mesh near another at X in its frame. */
static TreeWalk walk_near(const CalMesh *mesh, const CalMesh *other, const Frame *X, double grow) {
	const vec3 l = other->node[0].lower, u = other->node[0].upper;
	const Frame center = {X->R, frame_point(X, lerp(l, u, 0.5))};
	vec3 lower, upper;
	bounds_in(&center, scale(0.5, sub(u, l)), grow, &lower, &upper);
	return tree_walk(mesh, lower, upper);
}

/* The corners of `from` inside `into`; X is the frame of the first in the second, Y its inverse. */
static void touch_corners(Manifold *m, const Shape *from, const Shape *into, const Frame *X, const Frame *Y,
                          const Frame *fi, double grow, bool flip) {
	const CalMesh *mesh = from->mesh;
	TreeWalk walk = walk_near(mesh, into->mesh, Y, fmax(grow, mesh_reach(into)));
	for (int t = tree_next(&walk); t >= 0; t = tree_next(&walk)) {
		for (int i = 0; i < 3; i++) {
			const int v = mesh->triangle[t].v[i];
			if (!(mesh->corner[v] & CORNER_SHARP) || mesh->first_triangle[v] != t)
				continue;
			const vec3 n = mat_mul_vec(X->R, mesh->vertex_normal[v]);
			touch_point_mesh(m, frame_point(X, mesh->vertex[v]), scale(1 / norm(n), n), into, fi, grow, flip);
		}
	}
}

static vec3 vec_min(vec3 a, vec3 b) { return vec(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)); }
static vec3 vec_max(vec3 a, vec3 b) { return vec(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)); }

/* An edge of a, in the frame of b, against the sharp edges of b near it. */
static void touch_edge_mesh(Manifold *m, const Shape *a, const Frame *X, const Edge *edge, const Shape *b,
                            const Frame *fb, double grow) {
	const vec3 g = vec(grow, grow, grow);
	const double reach = fmin(a->patch, b->patch);
	const vec3 more = add(g, vec(reach, reach, reach));
	TreeWalk walk =
		tree_walk(b->mesh, sub(vec_min(edge->from, edge->to), more), add(vec_max(edge->from, edge->to), more));
	for (int t = tree_next(&walk); t >= 0; t = tree_next(&walk)) {
		for (int i = 0; i < 3; i++) {
			Edge other;
			Crossing x;
			if (mesh_edge(b->mesh, t, i, &other) && edges_cross(edge, &other, grow, reach, &x) &&
			    inside_mesh(a, frame_local(X, x.probe), grow) && inside_mesh(b, x.probe, grow))
				add_crossing(m, fb, &x);
		}
	}
}

void touch_mesh_mesh(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	const double grow = a->margin + b->margin;
	const Frame X = frame_between(fb, fa), Y = frame_between(fa, fb);
	touch_corners(m, a, b, &X, &Y, fb, grow, false);
	touch_corners(m, b, a, &Y, &X, fa, grow, true);
	TreeWalk walk = walk_near(a->mesh, b->mesh, &Y, grow);
	for (int t = tree_next(&walk); t >= 0; t = tree_next(&walk)) {
		for (int i = 0; i < 3; i++) {
			Edge edge;
			if (!mesh_edge(a->mesh, t, i, &edge))
				continue;
			edge = edge_in(&edge, &X.R, X.r);
			touch_edge_mesh(m, a, &X, &edge, b, fb, grow);
		}
	}
}
