// SPDX-License-Identifier: Apache-2.0
/*
 * test_mesh_mass.c — mass properties of meshes against formulas for solids, and what is said of meshes that bound none.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <calder/mesh.h>

#include "base/memory.h"
#include "mesh/mesh_hull.h"
#include "support/failing_allocator.h"

enum { MOST = 4096 };

typedef struct Solid {
	CalVec3 v[MOST];
	int t[3 * 2 * MOST];
	int vertices, triangles;
} Solid;

static CalTriangles triangles_of(const Solid *s) {
	return (CalTriangles){
		.vertices = s->v, .vertex_count = s->vertices, .corners = s->t, .triangle_count = s->triangles};
}

static void add_triangle(Solid *s, int a, int b, int c) {
	int *t = s->t + 3 * s->triangles++;
	t[0] = a;
	t[1] = b;
	t[2] = c;
}

/* A box between two corners, its outside outside. */
static void add_box(Solid *s, CalVec3 low, CalVec3 high) {
	static const int faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
	                                 {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
	const int first = s->vertices;
	for (int i = 0; i < 8; i++)
		s->v[s->vertices++] = (CalVec3){i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z};
	for (int i = 0; i < 12; i++)
		add_triangle(s, first + faces[i][0], first + faces[i][1], first + faces[i][2]);
}

/* An L between y = 0 and 1: arms of length 3 and width 1 along x and z, five unit cubes. */
static void add_angle(Solid *s) {
	static const double outline[6][2] = {{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}};
	static const int cap[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 6; i++)
			s->v[s->vertices++] = (CalVec3){outline[i][0], side, outline[i][1]};
	for (int i = 0; i < 4; i++) {
		add_triangle(s, cap[i][0], cap[i][1], cap[i][2]);
		add_triangle(s, 6 + cap[i][0], 6 + cap[i][2], 6 + cap[i][1]);
	}
	for (int i = 0; i < 6; i++) {
		const int j = (i + 1) % 6;
		add_triangle(s, i, 6 + i, 6 + j);
		add_triangle(s, i, 6 + j, j);
	}
}

static CalMassProperties mass_of(const Solid *s, CalMeshMassOptions o) {
	CalMassProperties m;
	CalError error = {0};
	const CalTriangles t = triangles_of(s);
	if (cal_mesh_mass_properties("solid", &t, &o, NULL, &m, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return m;
}

static void near(double value, double expected, double tolerance) {
	if (!(fabs(value - expected) <= tolerance * fmax(1, fabs(expected))))
		fail_msg("%.17g is not %.17g", value, expected);
}

static void near_properties(CalMassProperties m, double mass, CalVec3 com, const double inertia[6], double tolerance) {
	near(m.mass, mass, tolerance);
	near(m.com.x, com.x, tolerance);
	near(m.com.y, com.y, tolerance);
	near(m.com.z, com.z, tolerance);
	const double got[6] = {m.inertia.m[0][0], m.inertia.m[1][1], m.inertia.m[2][2],
	                       m.inertia.m[0][1], m.inertia.m[0][2], m.inertia.m[1][2]};
	for (int i = 0; i < 6; i++)
		near(got[i], inertia[i], tolerance);
}

static void box_is_exact(void **unused) {
	Solid s = {0};
	(void)unused;
	add_box(&s, (CalVec3){1000, -2, 3}, (CalVec3){1000.5, -1, 3.25}); // far from the origin
	const double m = 2700 * 0.5 * 1 * 0.25, x = 0.25, y = 1, z = 0.0625;
	const double inertia[6] = {m * (y + z) / 12, m * (x + z) / 12, m * (x + y) / 12};
	near_properties(mass_of(&s, (CalMeshMassOptions){.density = 2700}), m, (CalVec3){1000.25, -1.5, 3.125}, inertia,
	                1e-12);
	const double halved[6] = {inertia[0] / 2, inertia[1] / 2, inertia[2] / 2};
	near_properties(mass_of(&s, (CalMeshMassOptions){.mass = m / 2}), m / 2, (CalVec3){1000.25, -1.5, 3.125}, halved,
	                1e-12);
}

/* Of the corner (0,0,0), (a,0,0), (0,b,0), (0,0,c): m = abc/6, products about the center -m ab/80 with the tensor's sign. */
static void tetrahedron_has_products(void **unused) {
	Solid s = {.vertices = 4, .v = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}}};
	(void)unused;
	add_triangle(&s, 0, 2, 1);
	add_triangle(&s, 0, 1, 3);
	add_triangle(&s, 0, 3, 2);
	add_triangle(&s, 1, 2, 3);
	const double m = 1, k = 3.0 / 80, p = 1.0 / 80;
	const double inertia[6] = {k * m * (4 + 9), k * m * (1 + 9), k * m * (1 + 4), p * 2, p * 3, p * 6};
	near_properties(mass_of(&s, (CalMeshMassOptions){.density = 1}), m, (CalVec3){0.25, 0.5, 0.75}, inertia, 1e-14);
}

/*
 * An L, in the four ways of MuJoCo. exact: five unit cubes. convex: the square of side 3 without a corner, 7. shell: the
 * area 2 * 5 + 12 = 22. legacy: the center is outside of the kernel from which all of the L is seen, so that pyramids fold
 * back, and count with the wrong sign: the same definition, written down again, is below.
 */
static CalVec3 minus(CalVec3 a, CalVec3 b) { return (CalVec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static double triple(CalVec3 a, CalVec3 b, CalVec3 c) {
	return a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x);
}

static double pyramids(const Solid *s, CalVec3 apex, CalVec3 *center, double *second_zz) {
	double volume = 0, zz = 0;
	CalVec3 sum = {0, 0, 0};
	for (int t = 0; t < s->triangles; t++) {
		const CalVec3 a = minus(s->v[s->t[3 * t]], apex), b = minus(s->v[s->t[3 * t + 1]], apex),
					  c = minus(s->v[s->t[3 * t + 2]], apex);
		const double v = fabs(triple(a, b, c)) / 6;
		volume += v;
		sum.x += v * (a.x + b.x + c.x) / 4;
		sum.y += v * (a.y + b.y + c.y) / 4;
		sum.z += v * (a.z + b.z + c.z) / 4;
		zz += v / 10 * (a.z * a.z + b.z * b.z + c.z * c.z + a.z * b.z + a.z * c.z + b.z * c.z);
	}
	*center = (CalVec3){apex.x + sum.x / volume, apex.y + sum.y / volume, apex.z + sum.z / volume};
	*second_zz = zz;
	return volume;
}

static void angle_in_four_ways(void **unused) {
	Solid s = {0};
	(void)unused;
	add_angle(&s);
	// cubes at (0.5, 0.5), (1.5, 0.5), (2.5, 0.5), (0.5, 1.5), (0.5, 2.5) in x and z
	const double c = 1.1, second = 5.0 / 12 + 9.25 - 5 * c * c, mixed = 4.25 - 5 * c * c;
	const double exact[6] = {second + 5.0 / 12, 2 * second, second + 5.0 / 12, 0, -mixed, 0};
	near_properties(mass_of(&s, (CalMeshMassOptions){0}), 5, (CalVec3){c, 0.5, c}, exact, 1e-14);
	near(mass_of(&s, (CalMeshMassOptions){.solid = CAL_MESH_CONVEX}).mass, 7, 1e-14);
	near(mass_of(&s, (CalMeshMassOptions){.solid = CAL_MESH_CONVEX}).com.x, (9 * 1.5 - 2 * (3 - 2.0 / 3)) / 7, 1e-14);
	near(mass_of(&s, (CalMeshMassOptions){.solid = CAL_MESH_SHELL, .density = 2}).mass, 44, 1e-14);

	const CalMassProperties shell = mass_of(&s, (CalMeshMassOptions){.solid = CAL_MESH_SHELL});
	CalVec3 center, again;
	double zz;
	pyramids(&s, shell.com, &center, &zz);
	const double volume = pyramids(&s, center, &again, &zz);
	const CalMassProperties legacy = mass_of(&s, (CalMeshMassOptions){.solid = CAL_MESH_LEGACY});
	assert_true(legacy.mass > 5.01);
	near(legacy.mass, volume, 1e-14);
	near(legacy.com.x, center.x, 1e-14);
	near((legacy.inertia.m[0][0] + legacy.inertia.m[1][1] - legacy.inertia.m[2][2]) / 2, zz, 1e-14);
}

/* Thin faces of a box, each as a shell: the formula of a hollow box. */
static void shell_of_a_cube(void **unused) {
	Solid s = {0};
	(void)unused;
	add_box(&s, (CalVec3){-1, -1, -1}, (CalVec3){1, 1, 1});
	const double m = 24; // a shell of side 2: I = 5/18 m a^2
	const double inertia[6] = {5.0 / 18 * m * 4, 5.0 / 18 * m * 4, 5.0 / 18 * m * 4};
	near_properties(mass_of(&s, (CalMeshMassOptions){.solid = CAL_MESH_SHELL}), m, (CalVec3){0, 0, 0}, inertia, 1e-13);
}

static CalMeshCheck check_of(const Solid *s) {
	CalMeshCheck check;
	CalError error = {0};
	const CalTriangles t = triangles_of(s);
	if (cal_mesh_check(&t, NULL, &check, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return check;
}

static void refused(const Solid *s, const char *words) {
	CalMassProperties m;
	CalError error = {0};
	const CalTriangles t = triangles_of(s);
	assert_int_equal(cal_mesh_mass_properties("part.stl", &t, NULL, NULL, &m, &error), CAL_ERR_INPUT);
	if (!strstr(error.text, words) || !strstr(error.text, "part.stl"))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static void openings_have_places(void **unused) {
	Solid s = {0};
	(void)unused;
	add_box(&s, (CalVec3){0, 0, 0}, (CalVec3){1, 2, 3});
	CalMeshCheck c = check_of(&s);
	assert_true(c.closed && c.pieces == 1 && c.inverted == 0 && c.place_count == 0 && c.vertices == 8);
	near(c.volume, 6, 1e-14);
	near(c.area, 22, 1e-14);
	s.triangles--; // {1, 7, 5} of the side x = 1
	c = check_of(&s);
	assert_true(!c.closed && c.open_edges == 3 && c.odd_edges == 0 && c.place_count == 3);
	for (int i = 0; i < 3; i++)
		assert_true(c.places[i].from.x == 1 && c.places[i].to.x == 1 && c.places[i].triangles == 1);
	refused(&s, "3 edges have one triangle only");
	const CalMassProperties m = mass_of(&s, (CalMeshMassOptions){.unchecked = 1});
	assert_true(m.mass > 0);
	s.triangles++;
	s.t[3 * s.triangles - 1] = 7; // and turned about
	s.t[3 * s.triangles - 2] = 5;
	c = check_of(&s);
	assert_true(!c.closed && c.open_edges == 0 && c.odd_edges == 3);
}

static void inside_out_is_found(void **unused) {
	Solid s = {0};
	(void)unused;
	add_box(&s, (CalVec3){1, 1, 1}, (CalVec3){0, 2, 3}); // low and high of x exchanged: mirrored
	const CalMeshCheck c = check_of(&s);
	assert_true(c.closed && c.inside_out && c.inverted == 1);
	refused(&s, "inside out");
	near(mass_of(&s, (CalMeshMassOptions){.unchecked = 1}).mass, 2, 1e-14);
}

/* A cavity is a part of negative volume, and right. */
static void cavity_counts_negative(void **unused) {
	Solid s = {0};
	(void)unused;
	add_box(&s, (CalVec3){0, 0, 0}, (CalVec3){4, 4, 4});
	add_box(&s, (CalVec3){3, 1, 1}, (CalVec3){1, 3, 3});
	const CalMeshCheck c = check_of(&s);
	assert_true(c.closed && !c.inside_out && c.pieces == 2 && c.inverted == 1);
	near(mass_of(&s, (CalMeshMassOptions){0}).mass, 64 - 8, 1e-14);
}

static uint32_t random_state;
static double random_number(void) {
	random_state = random_state * 1664525u + 1013904223u;
	return (double)(random_state >> 8) / 16777216.0 * 2 - 1;
}

/* A closed surface, and no point is above any of its triangles. */
static void is_hull(const Solid *s, const int *corners, int count) {
	const CalTriangles hull = {
		.vertices = s->v, .vertex_count = s->vertices, .corners = corners, .triangle_count = count};
	CalMeshCheck check;
	assert_int_equal(cal_mesh_check(&hull, NULL, &check, NULL), CAL_OK);
	assert_true(check.closed && !check.inside_out && check.pieces == 1 && check.dropped == 0);
	for (int t = 0; t < count; t++) {
		const CalVec3 a = s->v[corners[3 * t]], u = minus(s->v[corners[3 * t + 1]], a),
					  w = minus(s->v[corners[3 * t + 2]], a);
		const CalVec3 n = {u.y * w.z - u.z * w.y, u.z * w.x - u.x * w.z, u.x * w.y - u.y * w.x};
		const double length = sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
		for (int i = 0; i < s->vertices; i++) {
			const CalVec3 d = minus(s->v[i], a);
			assert_true(n.x * d.x + n.y * d.y + n.z * d.z < 1e-9 * length);
		}
	}
}

/* Random points, points on a sphere, and points of a grid with many in one plane. */
static void hull_holds_all_points(void **unused) {
	(void)unused;
	static Solid s;
	const CalAllocator allocator = allocator_or_default(NULL);
	for (int seed = 1; seed <= 60; seed++) {
		random_state = (uint32_t)seed;
		s.vertices = 0;
		const int kind = seed % 3, count = 12 + seed * 13;
		for (int i = 0; i < count; i++) {
			CalVec3 p = {random_number(), random_number(), random_number()};
			const double r = sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
			if (kind == 1)
				p = (CalVec3){p.x / r, p.y / r, p.z / r};
			if (kind == 2)
				p = (CalVec3){floor(3 * p.x) / 3, floor(3 * p.y) / 3, floor(3 * p.z) / 3};
			s.v[s.vertices++] = p;
		}
		print_message("hull: seed %d, %d points\n", seed, count);
		const CalTriangles points = triangles_of(&s);
		int *corners = NULL, triangles = 0;
		CalError error = {0};
		if (mesh_hull("points", &points, &allocator, &corners, &triangles, &error) != CAL_OK)
			fail_msg("%s", error.text);
		is_hull(&s, corners, triangles);
		memory_free(&allocator, corners);
	}
}

static void memory_may_fail(void **unused) {
	(void)unused;
	Solid s = {0};
	add_box(&s, (CalVec3){0, 0, 0}, (CalVec3){1, 2, 3});
	const CalTriangles t = triangles_of(&s);
	for (int solid = 0; solid < CAL_MESH_SOLID_COUNT; solid++) {
		for (int i = 1;; i++) {
			FailingAllocator state = {.fail_at = i};
			const CalAllocator allocator = failing_allocator(&state);
			CalMassProperties m;
			const CalMeshMassOptions o = {.solid = (CalMeshSolid)solid};
			const CalStatus status = cal_mesh_mass_properties("box", &t, &o, &allocator, &m, NULL);
			assert_int_equal(state.live, 0);
			if (status == CAL_OK)
				break;
			assert_int_equal(status, CAL_ERR_MEMORY);
			assert_true(i < 100);
		}
	}
}

static void unit_is_questioned(void **unused) {
	(void)unused;
	const CalVec3 zero = {0, 0, 0};
	near(cal_mesh_question_unit(zero, (CalVec3){250, 100, 80}, 0), 0.001, 0);
	near(cal_mesh_question_unit(zero, (CalVec3){0.25, 0.1, 0.08}, 0), 1, 0);
	near(cal_mesh_question_unit(zero, (CalVec3){250, 100, 80}, 0.2), 0.001, 0);
	near(cal_mesh_question_unit(zero, (CalVec3){10, 4, 3}, 0.25), 0.0254, 0);
	near(cal_mesh_question_unit(zero, (CalVec3){10, 4, 3}, 8), 1, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(box_is_exact),           cmocka_unit_test(tetrahedron_has_products),
		cmocka_unit_test(angle_in_four_ways),     cmocka_unit_test(shell_of_a_cube),
		cmocka_unit_test(openings_have_places),   cmocka_unit_test(inside_out_is_found),
		cmocka_unit_test(cavity_counts_negative), cmocka_unit_test(hull_holds_all_points),
		cmocka_unit_test(memory_may_fail),        cmocka_unit_test(unit_is_questioned),
	};
	return cmocka_run_group_tests_name("mesh mass properties", tests, NULL, NULL);
}
