// SPDX-License-Identifier: Apache-2.0
/*
 * test_narrow.c — the narrow phase against distances found by brute force, and the properties that forces rely on.
 *
 * The reference knows nothing of features: the distance of two convex sets comes from alternating projections, and
 * the overlap of two boxes from sampling directions. Pushing two shapes apart by the depth along the normal must just
 * separate them. Forces must not depend on the order of the shapes, nor jump while one slides along another.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/mesh.h"
#include "contact/narrow.h"
#include "support/check.h"
#include "support/rng.h"

/* ---- shapes ------------------------------------------------------------------------------------ */

static Shape sphere(double r) { return (Shape){.type = CAL_SHAPE_SPHERE, .radius = r, .patch = r}; }
static Shape capsule(double r, double reach) {
	return (Shape){.type = CAL_SHAPE_CAPSULE, .radius = r, .reach = reach, .patch = r};
}
static Shape box(double x, double y, double z) {
	return (Shape){.type = CAL_SHAPE_BOX, .half = {x, y, z}, .patch = fmin(x, fmin(y, z))};
}
static Shape plane(void) { return (Shape){.type = CAL_SHAPE_PLANE, .patch = INFINITY}; }

static Shape random_convex(Rng *r, int type) {
	switch (type) {
	case CAL_SHAPE_SPHERE:
		return sphere(rng_uniform(r, 0.1, 0.5));
	case CAL_SHAPE_CAPSULE:
		return capsule(rng_uniform(r, 0.1, 0.4), rng_uniform(r, 0, 0.6));
	default:
		return box(rng_uniform(r, 0.1, 0.6), rng_uniform(r, 0.1, 0.6), rng_uniform(r, 0.1, 0.6));
	}
}

static vec3 v_in(CalVec3 v) { return vec(v.x, v.y, v.z); }

static Frame frame_of(CalVec3 p, CalQuat q) {
	return (Frame){{vec(1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y)),
	                vec(2 * (q.x * q.y - q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z + q.w * q.x)),
	                vec(2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y))},
	               v_in(p)};
}

static Frame at(double x, double y, double z) { return frame_of((CalVec3){x, y, z}, (CalQuat){1, 0, 0, 0}); }

/* The solid of a box as a mesh of 12 triangles, each side cut n by n if n > 1. */
static CalMesh *box_mesh(double x, double y, double z, int n) {
	const int grid = n + 1, vertices = 6 * grid * grid, triangles = 12 * n * n;
	CalVec3 *v = test_alloc((size_t)vertices, sizeof *v);
	int *t = test_alloc((size_t)triangles * 3, sizeof *t), *next = t;
	for (int side = 0; side < 6; side++) {
		const int a = side / 2, b = (a + 1) % 3, c = (a + 2) % 3, base = side * grid * grid;
		const double half[3] = {x, y, z}, sign = side % 2 ? 1 : -1;
		for (int i = 0; i < grid * grid; i++) {
			double p[3];
			p[a] = sign * half[a];
			p[b] = half[b] * (2.0 * (i / grid) / n - 1);
			p[c] = half[c] * (2.0 * (i % grid) / n - 1);
			v[base + i] = (CalVec3){p[0], p[1], p[2]};
		}
		for (int i = 0; i < n * n; i++) {
			const int p = base + i / n * grid + i % n, q = p + grid, flip = side % 2;
			const int quad[6] = {p, flip ? q : q + 1, flip ? q + 1 : q, p, flip ? q + 1 : p + 1, flip ? p + 1 : q + 1};
			memcpy(next, quad, sizeof quad);
			next += 6;
		}
	}
	CalMesh *mesh = NULL;
	CalError error = {0};
	if (cal_mesh_create("box", v, vertices, t, triangles, NULL, &mesh, &error) != CAL_OK)
		fail_msg("%s", error.text);
	free(v);
	free(t);
	return mesh;
}

static Shape mesh_shape(const CalMesh *mesh, double thickness, double patch) {
	return (Shape){.type = CAL_SHAPE_MESH, .mesh = mesh, .thickness = thickness, .patch = patch};
}

/* ---- reference --------------------------------------------------------------------------------- */

/* The point nearest to x of a sphere's center, a capsule's segment or a box. */
static vec3 project(const Shape *s, const Frame *f, vec3 x) {
	const vec3 p = frame_local(f, x);
	vec3 q = vec_zero();
	if (s->type == CAL_SHAPE_CAPSULE)
		q.z = clamp(p.z, -s->reach, s->reach);
	if (s->type == CAL_SHAPE_BOX)
		q = vec(clamp(p.x, -s->half.x, s->half.x), clamp(p.y, -s->half.y, s->half.y),
		        clamp(p.z, -s->half.z, s->half.z));
	return frame_point(f, q);
}

static double rounding(const Shape *s) { return s->type == CAL_SHAPE_BOX ? 0 : s->radius; }

/* Distance of the cores by alternating projections; *sure says whether it has settled. */
static double core_distance(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, int *sure) {
	vec3 p = fa->r;
	double last = INFINITY;
	*sure = 0;
	for (int i = 0; i < 200000; i++) {
		const vec3 q = project(b, fb, p);
		p = project(a, fa, q);
		const double d = norm(sub(p, q));
		if (i % 100 == 99) {
			*sure = last - d < 1e-13;
			if (*sure)
				return d;
			last = d;
		}
	}
	return last;
}

static const Touch *deepest(const Manifold *m) {
	const Touch *best = &m->touch[0];
	for (int i = 1; i < m->count; i++)
		if (m->touch[i].depth > best->depth)
			best = &m->touch[i];
	return best;
}

/* ---- distances --------------------------------------------------------------------------------- */

static void depths_are_those_of_brute_force(void **state) {
	(void)state;
	int touching = 0, apart = 0;
	for (int c = 0; c < 3000; c++) {
		const uint64_t seed = test_seed() + (uint64_t)c;
		Rng r = rng_make(seed);
		const Shape a = random_convex(&r, rng_int(&r, 3)), b = random_convex(&r, rng_int(&r, 3));
		if (a.type == CAL_SHAPE_BOX && b.type == CAL_SHAPE_BOX)
			continue;
		const Frame fa = frame_of(rng_vector(&r, 0.5), rng_quat(&r)), fb = frame_of(rng_vector(&r, 0.5), rng_quat(&r));
		int sure;
		const double distance = core_distance(&a, &fa, &b, &fb, &sure), depth = rounding(&a) + rounding(&b) - distance;
		if (!sure || distance < 1e-6)
			continue; // one core is inside the other: see pushing_apart_separates
		Manifold m;
		const bool touch = shapes_touch(&a, &fa, &b, &fb, &m);
		if (depth < -1e-6) {
			check_that(seed, !touch);
			apart++;
		} else if (depth > 1e-6) {
			check_that(seed, touch);
			if (fabs(deepest(&m)->depth - depth) > 1e-7)
				check_fail_at(__FILE__, __LINE__, seed, "%s-%s: depth %.9g instead of %.9g",
				              cal_shape_type_name(a.type), cal_shape_type_name(b.type), deepest(&m)->depth, depth);
			touching++;
		}
	}
	assert_true(touching > 500 && apart > 200);
}

/* Width of a box along a direction. */
static double reach_along(const Shape *s, const Frame *f, vec3 n) {
	return s->half.x * fabs(dot(f->R.x, n)) + s->half.y * fabs(dot(f->R.y, n)) + s->half.z * fabs(dot(f->R.z, n));
}

static double overlap_along(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, vec3 n) {
	return reach_along(a, fa, n) + reach_along(b, fb, n) - fabs(dot(n, sub(fb->r, fa->r)));
}

/* The least overlap over sampled directions, each refined downhill by random steps. */
static double sampled_overlap(Rng *r, const Shape *a, const Frame *fa, const Shape *b, const Frame *fb) {
	double best = INFINITY;
	for (int i = 0; i < 40; i++) {
		vec3 n = v_in(rng_direction(r));
		double least = overlap_along(a, fa, b, fb, n);
		for (double step = 0.3; step > 1e-7; step *= 0.9) {
			for (int k = 0; k < 3; k++) {
				vec3 t = madd(n, step, v_in(rng_direction(r)));
				t = scale(1 / norm(t), t);
				const double o = overlap_along(a, fa, b, fb, t);
				if (o < least) {
					least = o;
					n = t;
				}
			}
		}
		best = fmin(best, least);
	}
	return best;
}

static void overlap_of_boxes_is_the_least(void **state) {
	(void)state;
	int touching = 0, apart = 0;
	for (int c = 0; c < 150; c++) {
		const uint64_t seed = test_seed() + 10000 + (uint64_t)c;
		Rng r = rng_make(seed);
		const Shape a = random_convex(&r, CAL_SHAPE_BOX), b = random_convex(&r, CAL_SHAPE_BOX);
		const Frame fa = frame_of(rng_vector(&r, 0.4), rng_quat(&r)), fb = frame_of(rng_vector(&r, 0.4), rng_quat(&r));
		const double least = sampled_overlap(&r, &a, &fa, &b, &fb);
		Manifold m;
		const bool touch = shapes_touch(&a, &fa, &b, &fb, &m);
		if (least < -1e-6) {
			check_that(seed, !touch);
			apart++;
		} else if (least > 1e-4) {
			check_that(seed, touch);
			// The search ends within a per cent above the least. Axes near the least count too (10 %), and edges near a
			// face are passed over for the face.
			check_that(seed, deepest(&m)->depth > 0.98 * least && deepest(&m)->depth < 1.3 * least + 0.02);
			touching++;
		}
	}
	assert_true(touching > 50 && apart > 10);
}

/* The deepest point gives the way to separate the shapes, and they no longer touch then. */
static void pushing_apart_separates(void **state) {
	(void)state;
	int count[3][3] = {{0}};
	for (int c = 0; c < 3000; c++) {
		const uint64_t seed = test_seed() + 20000 + (uint64_t)c;
		Rng r = rng_make(seed);
		const Shape a = random_convex(&r, rng_int(&r, 3)), b = random_convex(&r, rng_int(&r, 3));
		const Frame fa = frame_of(rng_vector(&r, 0.4), rng_quat(&r));
		Frame fb = frame_of(rng_vector(&r, 0.4), rng_quat(&r));
		Manifold m;
		if (!shapes_touch(&a, &fa, &b, &fb, &m))
			continue;
		const Touch t = *deepest(&m);
		check_that(seed, fabs(norm(t.n) - 1) < 1e-12);
		if (t.depth > 0.5 * (rounding(&a) + rounding(&b)) && a.type != b.type)
			continue; // a capsule's axis deep inside a box leaves where it is nearest, not where it is shortest
		fb.r = madd(fb.r, t.depth * (1 + 1e-9) + 1e-9, t.n);
		if (shapes_touch(&a, &fa, &b, &fb, &m))
			check_fail_at(__FILE__, __LINE__, seed, "%s-%s still touch by %.3g after %.3g", cal_shape_type_name(a.type),
			              cal_shape_type_name(b.type), deepest(&m)->depth, t.depth);
		count[a.type][b.type]++;
	}
	for (int i = 0; i < 9; i++)
		assert_true(count[i / 3][i % 3] > 20);
}

/* ---- sums that forces are made of -------------------------------------------------------------- */

typedef struct Sums {
	double w;    // sum of weight depth^1.5
	double f[3]; // times n
	double p[3]; // times p
} Sums;

static Sums sums_of(const Manifold *m) {
	Sums s = {0};
	for (int i = 0; i < m->count; i++) {
		const Touch *t = &m->touch[i];
		const double x = t->weight * t->depth * sqrt(t->depth);
		s.w += x;
		s.f[0] += x * t->n.x, s.f[1] += x * t->n.y, s.f[2] += x * t->n.z;
		s.p[0] += x * t->p.x, s.p[1] += x * t->p.y, s.p[2] += x * t->p.z;
	}
	return s;
}

static Sums sums(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb) {
	Manifold m;
	shapes_touch(a, fa, b, fb, &m);
	return sums_of(&m);
}

static void order_of_shapes_does_not_matter(void **state) {
	(void)state;
	CalMesh *mesh = box_mesh(0.4, 0.3, 0.35, 1);
	int touching = 0;
	for (int c = 0; c < 4000; c++) {
		const uint64_t seed = test_seed() + 30000 + (uint64_t)c;
		Rng r = rng_make(seed);
		Shape s[2];
		for (int i = 0; i < 2; i++) {
			const int type = rng_int(&r, 5);
			s[i] = type == CAL_SHAPE_MESH    ? mesh_shape(mesh, INFINITY, 0.1)
			       : type == CAL_SHAPE_PLANE ? plane()
			                                 : random_convex(&r, type);
		}
		const Frame fa = frame_of(rng_vector(&r, 0.4), rng_quat(&r)), fb = frame_of(rng_vector(&r, 0.4), rng_quat(&r));
		Manifold m;
		shapes_touch(&s[0], &fa, &s[1], &fb, &m);
		if (m.dropped)
			continue;
		const Sums x = sums_of(&m), y = sums(&s[1], &fb, &s[0], &fa);
		const double flipped[3] = {-y.f[0], -y.f[1], -y.f[2]};
		check_close_scaled(seed, "force", 3, x.f, flipped, x.w + 1e-12, 1e-9);
		check_close_scaled(seed, "moment", 3, x.p, y.p, x.w + 1e-12, 1e-9);
		touching += x.w > 0;
	}
	assert_true(touching > 1000);
	cal_mesh_destroy(mesh);
}

/* ---- continuity -------------------------------------------------------------------------------- */

/* A path of b: straight, turning, touching a with depths of about `depth`. */
typedef struct Path {
	Shape a, b;
	Frame fa;
	vec3 from, to;
	vec3 turn; // rotation vector over the path
	CalQuat start;
} Path;

static CalQuat quat_mul(CalQuat a, CalQuat b) {
	return (CalQuat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
	                 a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static Sums along(const Path *path, double x) {
	const double angle = norm(path->turn) * x, k = angle > 0 ? sin(0.5 * angle) / angle * x : 0;
	const CalQuat q = {cos(0.5 * angle), k * path->turn.x, k * path->turn.y, k * path->turn.z};
	const vec3 p = lerp(path->from, path->to, x);
	const Frame fb = frame_of((CalVec3){p.x, p.y, p.z}, quat_mul(q, path->start));
	return sums(&path->a, &path->fa, &path->b, &fb);
}

/* Largest change of the force over an interval of size `step` near x, found by halving the interval that changes most. */
static double jump_near(const Path *path, double x, double step, double smallest) {
	Sums lo = along(path, x), hi = along(path, x + step);
	while (step > smallest) {
		step *= 0.5;
		const Sums mid = along(path, x + step);
		const double left = max_difference(3, lo.f, mid.f), right = max_difference(3, mid.f, hi.f);
		if (left >= right) {
			hi = mid;
		} else {
			lo = mid;
			x += step;
		}
	}
	return max_difference(3, lo.f, hi.f);
}

/* The largest jump along the path, relative to the largest force on it. */
static double worst_jump(const Path *path, int steps, double *largest) {
	double worst = 0;
	*largest = 0;
	for (int i = 0; i < steps; i++) {
		*largest = fmax(*largest, max_abs(3, along(path, (double)i / steps).f));
		worst = fmax(worst, jump_near(path, (double)i / steps, 1.0 / steps, 1e-10));
	}
	return *largest > 0 ? worst / *largest : 0;
}

static void check_smooth(const char *what, const Path *path, double allowed) {
	double largest;
	const double jump = worst_jump(path, 200, &largest);
	assert_true(largest > 0);
	if (!(jump <= allowed))
		fail_msg("%s: the force jumps by %.3g of its largest value", what, jump);
}

/* A grid of n by n squares over [-2, 2]^2 with heights h(x, y). */
static CalMesh *terrain(int n, double (*height)(double, double)) {
	const int grid = n + 1;
	CalVec3 *v = test_alloc((size_t)(grid * grid), sizeof *v);
	int *t = test_alloc((size_t)(6 * n * n), sizeof *t);
	for (int i = 0; i < grid * grid; i++) {
		const double x = 4.0 * (i % grid) / n - 2, y = 4.0 * (i / grid) / n - 2;
		v[i] = (CalVec3){x, y, height(x, y)};
	}
	for (int i = 0; i < n * n; i++) {
		const int p = i / n * grid + i % n;
		const int quad[6] = {p, p + 1, p + grid + 1, p, p + grid + 1, p + grid};
		memcpy(t + 6 * i, quad, sizeof quad);
	}
	CalMesh *mesh = NULL;
	assert_int_equal(cal_mesh_create("terrain", v, grid * grid, t, 2 * n * n, NULL, &mesh, NULL), CAL_OK);
	free(v);
	free(t);
	return mesh;
}

static double flat(double x, double y) { return 0 * x * y; }
static double ridge(double x, double y) { return -0.5 * fabs(x) + 0 * y; }
static double valley(double x, double y) { return 1.2 * fabs(x) + 0 * y; }
static double bowl(double x, double y) { return 0.2 * (x * x + y * y); }

static void rolling_over_edges_is_continuous(void **state) {
	(void)state;
	CalMesh *ridge_mesh = terrain(4, ridge), *valley_mesh = terrain(4, valley), *solid = box_mesh(0.5, 0.4, 0.3, 3);
	Path p = {.a = mesh_shape(ridge_mesh, 0.1, 0.1), .b = sphere(0.2), .fa = at(0, 0, 0), .start = {1, 0, 0, 0}};
	p.from = vec(-0.3, -0.13, 0.07), p.to = vec(0.3, 0.17, 0.07);
	check_smooth("sphere over a ridge", &p, 1e-6);
	p.b = capsule(0.2, 0.3);
	p.start = (CalQuat){sqrt(0.5), 0, sqrt(0.5), 0}; // z to x
	p.turn = vec(0, 0.1, 0.9);
	p.from = vec(-0.3, -0.13, 0.16), p.to = vec(0.3, 0.17, 0.19);
	check_smooth("capsule over a ridge", &p, 1e-6);
	p.start = (CalQuat){1, 0, 0, 0};
	p.turn = vec_zero();
	p.a = mesh_shape(valley_mesh, 0.1, 0.1);
	p.b = sphere(0.2);
	p.from = vec(-0.15, 0.1, 0.28), p.to = vec(0.15, -0.1, 0.28);
	check_smooth("sphere across a valley", &p, 1e-6);
	p.a = mesh_shape(solid, INFINITY, 0.1);
	p.from = vec(-0.75, -0.5, 0.42), p.to = vec(0.7, 0.6, 0.4);
	check_smooth("sphere over a box", &p, 1e-6);
	p.a = box(0.5, 0.4, 0.3);
	check_smooth("sphere over a box", &p, 1e-6);
	p.b = capsule(0.2, 0.25);
	p.start = (CalQuat){sqrt(0.5), 0, sqrt(0.5), 0};
	p.turn = vec(0, 0.05, 0.4);
	check_smooth("capsule over a box", &p, 1e-6);
	p.b = box(0.2, 0.15, 0.15);
	p.start = (CalQuat){1, 0, 0, 0};
	p.turn = vec(0.02, 0.03, 0.8);
	p.from = vec(-0.75, -0.6, 0.44), p.to = vec(0.75, 0.55, 0.44);
	check_smooth("box over a box", &p, 1e-6);
	p.a = plane();
	p.fa = at(0, 0, 0.3);
	p.turn = vec(1.5, 1.2, 0);
	check_smooth("box over a plane", &p, 1e-6);
	cal_mesh_destroy(ridge_mesh);
	cal_mesh_destroy(valley_mesh);
	cal_mesh_destroy(solid);
}

/* In a bowl of triangles the normal turns at each edge: the force jumps by that angle, and by no more. */
static void rolling_in_a_bowl_jumps_by_the_angle_of_its_edges(void **state) {
	(void)state;
	CalMesh *mesh = terrain(
		80, bowl); // its squares are 0.05 wide: edges bend by 0.4 * 0.05 = 0.02 rad, diagonals by up to 1.42 of it
	Path p = {.a = mesh_shape(mesh, 0.1, 0.1), .b = sphere(0.2), .fa = at(0, 0, 0), .start = {1, 0, 0, 0}};
	p.from = vec(-0.2, -0.1, 0.196), p.to = vec(0.25, 0.1, 0.196);
	check_smooth("sphere in a bowl", &p, 0.03);
	cal_mesh_destroy(mesh);
}

/* ---- meshes against what they stand for -------------------------------------------------------- */

static void flat_mesh_is_a_plane(void **state) {
	(void)state;
	CalMesh *mesh = terrain(8, flat);
	const Shape m = mesh_shape(mesh, 0.5, 1), floor = plane();
	int touching = 0;
	for (int c = 0; c < 2000; c++) {
		const uint64_t seed = test_seed() + 40000 + (uint64_t)c;
		Rng r = rng_make(seed);
		const Shape s = random_convex(&r, c % 3);
		CalVec3 p = {rng_uniform(&r, -0.2, 0.2), rng_uniform(&r, -0.2, 0.2), rng_uniform(&r, 0, 0.4)};
		if (c % 5 == 0)
			p = (CalVec3){0.5, c % 2 ? 0.5 : p.y, p.z}; // over edges and corners of triangles
		const Frame fs = frame_of(p, rng_quat(&r)), ground = at(0, 0, 0);
		const Sums x = sums(&s, &fs, &m, &ground);
		Manifold below;
		if (!shapes_touch(&s, &fs, &floor, &ground, &below) || deepest(&below)->depth > 0.3)
			continue; // deeper than that the rim of the mesh is nearer than its surface
		const Sums y = sums_of(&below);
		touching++;
		check_close_scaled(seed, cal_shape_type_name(s.type), 3, x.f, y.f, 1e-9, 1e-12);
		check_close_scaled(seed, cal_shape_type_name(s.type), 3, x.p, y.p, y.w + 1e-9, 1e-12);
	}
	assert_true(touching > 500);
	cal_mesh_destroy(mesh);
}

static void mesh_of_a_box_is_that_box(void **state) {
	(void)state;
	CalMesh *mesh = box_mesh(0.4, 0.3, 0.35, 1), *fine = box_mesh(0.4, 0.3, 0.35, 4);
	const Shape b = box(0.4, 0.3, 0.35), m = mesh_shape(mesh, INFINITY, b.patch),
				f = mesh_shape(fine, INFINITY, b.patch);
	int touching = 0;
	for (int c = 0; c < 2000; c++) {
		const uint64_t seed = test_seed() + 50000 + (uint64_t)c;
		Rng r = rng_make(seed);
		const Shape s = random_convex(&r, CAL_SHAPE_SPHERE);
		const Frame fs = frame_of(rng_vector(&r, 0.8), rng_quat(&r)), fb = frame_of(rng_vector(&r, 0.2), rng_quat(&r));
		const Sums x = sums(&s, &fs, &b, &fb), y = sums(&s, &fs, &m, &fb), z = sums(&s, &fs, &f, &fb);
		touching += x.w > 0;
		check_close_scaled(seed, "sphere", 3, y.f, x.f, 1e-9, 1e-9);
		check_close_scaled(seed, "sphere", 3, z.f, x.f, 1e-9, 1e-9);
		check_close_scaled(seed, "sphere", 3, y.p, x.p, 1e-9, 1e-9);
		const Shape p = plane();
		const Sums u = sums(&b, &fb, &p, &fs), v = sums(&m, &fb, &p, &fs);
		check_close_scaled(seed, "plane", 3, v.f, u.f, 1e-3, 1e-12);
	}
	assert_true(touching > 300);
	cal_mesh_destroy(mesh);
	cal_mesh_destroy(fine);
}

/* A point about as deep, with about the same normal. */
static int has_like(const Manifold *m, const Touch *t) {
	for (int i = 0; i < m->count; i++)
		if (dot(m->touch[i].n, t->n) > 0.9 && fabs(m->touch[i].depth - t->depth) < 0.3 * t->depth)
			return 1;
	return 0;
}

/*
 * Capsules and boxes whose overlap is shallow: the mesh touches where the box does, as deep, and along the same normal.
 * Near edges and corners it may have further points with other normals.
 */
static void mesh_of_a_box_touches_where_the_box_does(void **state) {
	(void)state;
	CalMesh *mesh = box_mesh(0.4, 0.3, 0.35, 1);
	const Shape b = box(0.4, 0.3, 0.35), m = mesh_shape(mesh, INFINITY, b.patch);
	int touching = 0, alike = 0, apart = 0;
	for (int c = 0; c < 6000; c++) {
		const uint64_t seed = test_seed() + 60000 + (uint64_t)c;
		Rng r = rng_make(seed);
		const Shape s = random_convex(&r, c % 2 ? CAL_SHAPE_CAPSULE : CAL_SHAPE_BOX);
		const Frame fs = frame_of(rng_vector(&r, 0.8), rng_quat(&r)), fb = at(0, 0, 0);
		Manifold x, y;
		const bool touch = shapes_touch(&s, &fs, &b, &fb, &x), again = shapes_touch(&s, &fs, &m, &fb, &y);
		if (!touch) {
			check_that(seed, !again);
			apart++;
		} else if (deepest(&x)->depth > 1e-6 && deepest(&x)->depth < 0.02) {
			check_that(seed, again);
			alike += has_like(&y, deepest(&x));
			touching++;
		}
	}
	assert_true(touching > 60 && apart > 1000 && alike > 0.98 * touching);
	cal_mesh_destroy(mesh);
}

/* Two meshes touch where the boxes that they stand for do, and nowhere else. */
static void meshes_of_boxes_touch_where_the_boxes_do(void **state) {
	(void)state;
	int touching = 0, apart = 0;
	for (int c = 0; c < 3000; c++) {
		const uint64_t seed = test_seed() + 100000 + (uint64_t)c;
		Rng r = rng_make(seed);
		const Shape a = random_convex(&r, CAL_SHAPE_BOX), b = random_convex(&r, CAL_SHAPE_BOX);
		const Frame fa = frame_of(rng_vector(&r, 0.7), rng_quat(&r)), fb = frame_of(rng_vector(&r, 0.3), rng_quat(&r));
		CalMesh *ma = box_mesh(a.half.x, a.half.y, a.half.z, 2), *mb = box_mesh(b.half.x, b.half.y, b.half.z, 1);
		const Shape x = mesh_shape(ma, INFINITY, a.patch), y = mesh_shape(mb, INFINITY, b.patch);
		Manifold m, n;
		const bool touch = shapes_touch(&a, &fa, &b, &fb, &m), again = shapes_touch(&x, &fa, &y, &fb, &n);
		if (!touch)
			check_that(seed, !again);
		else if (deepest(&m)->depth > 1e-6 && deepest(&m)->depth < 0.02)
			check_that(seed, again);
		touching += touch && again;
		apart += !touch;
		cal_mesh_destroy(ma);
		cal_mesh_destroy(mb);
	}
	assert_true(touching > 300 && apart > 300);
}

/* ---- special positions ------------------------------------------------------------------------- */

static int all_defined(const Manifold *m) {
	for (int i = 0; i < m->count; i++) {
		const Touch *t = &m->touch[i];
		if (!(fabs(norm(t->n) - 1) < 1e-9) || !isfinite(t->depth) || !(t->depth > 0) || !isfinite(norm(t->p)) ||
		    !(t->weight >= 0 && t->weight <= 1))
			return 0;
	}
	return 1;
}

/* Concentric, aligned, parallel, flush, just touching, one inside the other. */
static void special_positions_are_defined(void **state) {
	(void)state;
	CalMesh *mesh = box_mesh(0.4, 0.4, 0.4, 2);
	const Shape shapes[] = {
		sphere(0.4),        sphere(0.05),          capsule(0.2, 0.4), capsule(0.2, 0),
		box(0.4, 0.4, 0.4), box(0.05, 0.05, 0.05), plane(),           mesh_shape(mesh, INFINITY, 0.1)};
	const int count = (int)(sizeof shapes / sizeof *shapes);
	const double offsets[] = {0, 0.4, 0.8, -0.4, 1e-300};
	for (int i = 0; i < count * count; i++) {
		for (int k = 0; k < 125; k++) {
			const Frame fa = at(0, 0, 0), fb = at(offsets[k % 5], offsets[k / 5 % 5], offsets[k / 25]);
			Manifold m;
			shapes_touch(&shapes[i / count], &fa, &shapes[i % count], &fb, &m);
			assert_true(all_defined(&m));
		}
	}
	// boxes face to face, flush: four points of full weight at the corners
	const Frame lower = at(0, 0, 0), upper = at(0, 0, 0.79);
	Manifold m;
	assert_true(shapes_touch(&shapes[4], &lower, &shapes[4], &upper, &m));
	const Sums s = sums_of(&m);
	assert_true(fabs(s.f[2] - 4 * pow(0.01, 1.5)) < 1e-12 && fabs(s.f[0]) < 1e-15 && fabs(s.p[0]) < 1e-15);
	cal_mesh_destroy(mesh);
}

/* A plank across a beam: no corner of either is inside the other, and it still rests on four points. */
static void crossed_boxes_rest_on_four_points(void **state) {
	(void)state;
	const Shape plank = box(1, 0.1, 0.1), beam = box(0.1, 1, 0.1);
	CalMesh *mesh = box_mesh(0.1, 1, 0.1, 1);
	const Shape beam_mesh = mesh_shape(mesh, INFINITY, 0.1), plank_mesh = plank;
	const Frame lower = at(0, 0, 0), upper = frame_of((CalVec3){0, 0, 0.199}, (CalQuat){1, 0, 0, 0});
	const Sums x = sums(&plank, &upper, &beam, &lower), y = sums(&plank_mesh, &upper, &beam_mesh, &lower);
	const double full = 4 * pow(1e-3, 1.5);
	check_close(0, "boxes", 1, &x.f[2], &(double){-full}, 1e-9);
	check_close(0, "box and mesh", 1, &y.f[2], &(double){-full}, 1e-9);
	cal_mesh_destroy(mesh);
}

static void parallel_capsules_rest_on_two_points(void **state) {
	(void)state;
	const Shape a = capsule(0.1, 0.5), b = capsule(0.1, 0.3);
	const Frame fa = at(0, 0, 0), fb = at(0.19, 0, 0.05);
	Manifold m;
	assert_true(shapes_touch(&a, &fa, &b, &fb, &m));
	const Sums s = sums_of(&m);
	check_close(0, "force", 1, &s.f[0], &(double){2 * pow(0.01, 1.5)}, 1e-12);
	assert_true(fabs(s.p[2] / s.w - 0.05) < 1e-12); // the ends of b carry
}

/* ---- trees ------------------------------------------------------------------------------------- */

static void nearest_point_is_that_of_all_triangles(void **state) {
	(void)state;
	CalMesh *mesh = terrain(20, bowl);
	for (int c = 0; c < 500; c++) {
		const uint64_t seed = test_seed() + 70000 + (uint64_t)c;
		Rng r = rng_make(seed);
		const vec3 p = v_in(rng_vector(&r, 1.5));
		double best = INFINITY;
		for (int t = 0; t < mesh->info.triangles; t++)
			best = fmin(best, triangle_nearest(mesh, t, p).distance2);
		const Nearest n = mesh_nearest(mesh, p, INFINITY, NULL);
		check_that(seed, n.distance2 == best && fabs(norm(sub(n.q, p)) - sqrt(best)) < 1e-12);
		check_that(seed, mesh_nearest(mesh, p, 0.99 * sqrt(best), NULL).triangle < 0);
	}
	cal_mesh_destroy(mesh);
}

/* The nearest point of one triangle against a search over it. */
static void nearest_point_of_a_triangle_is_the_nearest(void **state) {
	(void)state;
	for (int c = 0; c < 300; c++) {
		const uint64_t seed = test_seed() + 80000 + (uint64_t)c;
		Rng r = rng_make(seed);
		const CalVec3 v[3] = {rng_vector(&r, 1), rng_vector(&r, 1), rng_vector(&r, 1)};
		CalMesh *mesh = NULL;
		assert_int_equal(cal_mesh_create("one", v, 3, (int[]){0, 1, 2}, 1, NULL, &mesh, NULL), CAL_OK);
		const vec3 p = v_in(rng_vector(&r, 2));
		double best = INFINITY;
		for (int i = 0; i <= 200; i++) {
			for (int j = 0; j <= 200 - i; j++) {
				const vec3 q = add(scale(i / 200.0, v_in(v[0])),
				                   add(scale(j / 200.0, v_in(v[1])), scale((200 - i - j) / 200.0, v_in(v[2]))));
				best = fmin(best, norm(sub(p, q)));
			}
		}
		const double got = sqrt(triangle_nearest(mesh, 0, p).distance2);
		check_that(seed, got <= best * (1 + 1e-12) && got > best - 0.03);
		cal_mesh_destroy(mesh);
	}
}

static void walk_finds_all_triangles_that_meet_a_box(void **state) {
	(void)state;
	CalMesh *mesh = terrain(20, bowl);
	for (int c = 0; c < 200; c++) {
		const uint64_t seed = test_seed() + 90000 + (uint64_t)c;
		Rng r = rng_make(seed);
		const vec3 a = v_in(rng_vector(&r, 1)), size = vec(0.2, 0.1, 0.2);
		const vec3 lower = sub(a, size), upper = add(a, size);
		char found[800] = {0};
		TreeWalk walk = tree_walk(mesh, lower, upper);
		for (int t = tree_next(&walk); t >= 0; t = tree_next(&walk)) {
			check_that(seed, !found[t]);
			found[t] = 1;
		}
		for (int t = 0; t < mesh->info.triangles; t++) {
			int out = 0;
			for (int k = 0; k < 3; k++) {
				double least = INFINITY, most = -INFINITY;
				for (int i = 0; i < 3; i++) {
					const double x = component(mesh->vertex[mesh->triangle[t].v[i]], k);
					least = fmin(least, x);
					most = fmax(most, x);
				}
				out |= least > component(upper, k) || most < component(lower, k);
			}
			check_that(seed, found[t] == !out);
		}
	}
	cal_mesh_destroy(mesh);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depths_are_those_of_brute_force),
		cmocka_unit_test(overlap_of_boxes_is_the_least),
		cmocka_unit_test(pushing_apart_separates),
		cmocka_unit_test(order_of_shapes_does_not_matter),
		cmocka_unit_test(rolling_over_edges_is_continuous),
		cmocka_unit_test(rolling_in_a_bowl_jumps_by_the_angle_of_its_edges),
		cmocka_unit_test(flat_mesh_is_a_plane),
		cmocka_unit_test(mesh_of_a_box_is_that_box),
		cmocka_unit_test(mesh_of_a_box_touches_where_the_box_does),
		cmocka_unit_test(meshes_of_boxes_touch_where_the_boxes_do),
		cmocka_unit_test(special_positions_are_defined),
		cmocka_unit_test(crossed_boxes_rest_on_four_points),
		cmocka_unit_test(parallel_capsules_rest_on_two_points),
		cmocka_unit_test(nearest_point_is_that_of_all_triangles),
		cmocka_unit_test(nearest_point_of_a_triangle_is_the_nearest),
		cmocka_unit_test(walk_finds_all_triangles_that_meet_a_box),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
