// SPDX-License-Identifier: Apache-2.0
/*
 * test_import_mass.c — mass properties of shapes against sums over thin disks and over small cubes; of moved parts and sums
 * against point masses.
 */
#include <math.h>

#include "io/import/import.h"
#include "support/model_file_support.h"

static const double pi = 3.14159265358979323846;

static void expect_near(double value, double expected, double scale) {
	if (!(fabs(value - expected) <= 1e-9 * scale))
		fail_msg("%.17g, expected %.17g", value, expected);
}

/* Simpson's rule over disks of radius r(z), z from -top to top. */
static MassProperties of_disks(double (*radius)(double z, const double size[2]), const double size[2], double top) {
	enum { INTERVALS = 20000 };
	const double h = 2 * top / INTERVALS;
	double mass = 0, first = 0, across = 0, along = 0;
	for (int i = 0; i <= INTERVALS; i++) {
		const double z = -top + i * h, r = radius(z, size), area = pi * r * r;
		const double weight = h / 3 * (i == 0 || i == INTERVALS ? 1 : i % 2 ? 4 : 2);
		mass += weight * area;
		first += weight * area * z;
		along += weight * area * r * r / 2;
		across += weight * area * (r * r / 4 + z * z);
	}
	MassProperties m = {.mass = mass, .com = {0, 0, first / mass}};
	m.inertia.m[0][0] = m.inertia.m[1][1] = across - first * first / mass;
	m.inertia.m[2][2] = along;
	return m;
}

static double cylinder_radius(double z, const double size[2]) {
	(void)z;
	return size[0];
}
static double capsule_radius(double z, const double size[2]) {
	const double beyond = fmax(0, fabs(z) - size[1] / 2);
	return sqrt(fmax(0, size[0] * size[0] - beyond * beyond));
}
static double cone_radius(double z, const double size[2]) { return size[0] * (0.5 - z / size[1]); }

static void expect_same(const MassProperties *a, const MassProperties *b) {
	expect_near(a->mass, b->mass, b->mass);
	expect_near(a->com.x, b->com.x, 1);
	expect_near(a->com.y, b->com.y, 1);
	expect_near(a->com.z, b->com.z, 1);
	const double size = b->inertia.m[0][0] + b->inertia.m[1][1] + b->inertia.m[2][2];
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			expect_near(a->inertia.m[i][j], b->inertia.m[i][j], size);
}

static void round_shapes_are_sums_of_disks(void **state) {
	(void)state;
	static const double size[2] = {0.3, 0.7};
	const CalVec3 given = {size[0], 0, size[1]};
	MassProperties m = mass_of_shape(CAL_VISUAL_CYLINDER, given), d = of_disks(cylinder_radius, size, 0.35);
	expect_same(&m, &d);
	m = mass_of_shape(CAL_VISUAL_CONE, given), d = of_disks(cone_radius, size, 0.35);
	expect_same(&m, &d);
	m = mass_of_shape(CAL_VISUAL_CAPSULE, given), d = of_disks(capsule_radius, size, 0.65);
	expect_same(&m, &d);
	static const double ball[2] = {0.3, 0};
	m = mass_of_shape(CAL_VISUAL_SPHERE, given), d = of_disks(capsule_radius, ball, 0.3);
	expect_same(&m, &d);
}

/* An ellipsoid is a ball that is stretched: second moments are stretched with the square of their axis. */
static void boxes_and_ellipsoids(void **state) {
	(void)state;
	const MassProperties ball = mass_of_ellipsoid((CalVec3){1, 1, 1}), e = mass_of_ellipsoid((CalVec3){2, 3, 5});
	const double second =
		ball.inertia.m[0][0] / 2 * 30; // of the unit ball along one axis, with the mass of the ellipsoid
	expect_near(e.mass, 30 * ball.mass, e.mass);
	expect_near(e.inertia.m[0][0], second * (9 + 25), 1e3);
	expect_near(e.inertia.m[1][1], second * (4 + 25), 1e3);
	expect_near(e.inertia.m[2][2], second * (4 + 9), 1e3);
	// two halves of a box are the box
	const CalPlacement left = {.position = {-0.5, 0, 0}}, right = {.position = {0.5, 0, 0}};
	const MassProperties half = mass_of_shape(CAL_VISUAL_BOX, (CalVec3){1, 3, 4});
	const MassProperties both = mass_sum(mass_moved(half, left), mass_moved(half, right));
	const MassProperties whole = mass_of_shape(CAL_VISUAL_BOX, (CalVec3){2, 3, 4});
	expect_same(&both, &whole);
}

static MassProperties point(double mass, double x, double y, double z) {
	return (MassProperties){.mass = mass, .com = {x, y, z}};
}

static void parts_are_moved_and_added(void **state) {
	(void)state;
	const double c = cos(0.4), s = sin(0.4);
	const CalPlacement turned = {.position = {1, 2, 3}, .orientation = {cos(0.2), 0, 0, sin(0.2)}};
	const MassProperties apart = mass_sum(point(2, 1, 0, 0), point(3, 0, 1, 0.5));
	const MassProperties moved = mass_moved(apart, turned);
	const MassProperties each = mass_sum(point(2, 1 + c, 2 + s, 3), point(3, 1 - s, 2 + c, 3.5));
	expect_same(&moved, &each);
	const MassProperties none = mass_sum(point(0, 1, 2, 3), point(0, 0, 0, 0));
	assert_true(none.mass == 0 && none.com.x == 0);
	const MassProperties one = mass_sum(point(0, 9, 9, 9), point(2, 1, 0, 0));
	assert_true(one.com.x == 1 && one.com.y == 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_shapes_are_sums_of_disks),
		cmocka_unit_test(boxes_and_ellipsoids),
		cmocka_unit_test(parts_are_moved_and_added),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
