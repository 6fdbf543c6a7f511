// SPDX-License-Identifier: Apache-2.0
/*
 * test_outlook.c — looking ahead: distances of convex bodies and meshes against closed forms and each other, and bounds of
 * when shapes touch against motions that are followed in small steps.
 */
#include "support/interpose.h" // defines malloc: first

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include <calder/contact.h>

#include "contact/convex.h"
#include "contact/set.h"
#include "support/rng.h"

static const CalContactMaterial hard = {.stiffness = 1e6};

#define check_near(got, want, tolerance)                             \
	do {                                                             \
		const double got_ = (got), want_ = (want);                   \
		if (!(fabs(got_ - want_) <= (tolerance)))                    \
			fail_msg("%s = %.15g, wanted %.15g", #got, got_, want_); \
	} while (0)

static CalPose pose_of(CalVec3 r, CalVec3 axis, double angle) {
	const double n = sqrt(axis.x * axis.x + axis.y * axis.y + axis.z * axis.z), s = sin(0.5 * angle) / n;
	const CalQuat q = {cos(0.5 * angle), s * axis.x, s * axis.y, s * axis.z};
	const double w = q.w, x = q.x, y = q.y, z = q.z;
	return (CalPose){{{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
	                   {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
	                   {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}},
	                 r};
}

static CalMesh *box_mesh(CalVec3 half) {
	CalVec3 v[8];
	static const int faces[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
	                              2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
	for (int i = 0; i < 8; i++)
		v[i] = (CalVec3){i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z};
	CalMesh *mesh = NULL;
	CalError error = {0};
	if (cal_mesh_create("box", v, 8, faces, 12, NULL, &mesh, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_true(cal_mesh_info(mesh).closed);
	return mesh;
}

typedef struct Pair {
	CalContactSet *set;
	CalContactWork *work;
	CalPose pose[2];
	CalSpatial velocity[2];
} Pair;

static Pair pair_of(CalShapeDef a, CalShapeDef b) {
	Pair p = {.pose = {pose_of((CalVec3){0}, (CalVec3){0, 0, 1}, 0), pose_of((CalVec3){0}, (CalVec3){0, 0, 1}, 0)}};
	CalError error = {0};
	a.name = "a", a.node = 0, a.material = hard;
	b.name = "b", b.node = 1, b.material = hard;
	if (cal_contact_set_create((CalShapeDef[]){a, b}, 2, NULL, &p.set, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_contact_work_create(p.set, 8, &p.work), CAL_OK);
	return p;
}

static void pair_free(Pair *p) {
	cal_contact_work_destroy(p->work);
	cal_contact_set_destroy(p->set);
}

static double gap_of(const Pair *p, vec3 *n) {
	broad_prepare(p->set, p->pose, p->work);
	return shapes_gap(&p->set->shapes[0], &p->work->frame[0], &p->set->shapes[1], &p->work->frame[1], INFINITY, n);
}

static const CalShapeDef sphere = {.type = CAL_SHAPE_SPHERE, .radius = 0.3};
static const CalShapeDef capsule = {.type = CAL_SHAPE_CAPSULE, .radius = 0.1, .length = 2};
static const CalShapeDef box = {.type = CAL_SHAPE_BOX, .half = {0.5, 0.4, 0.3}};
static const CalShapeDef plane = {.type = CAL_SHAPE_PLANE};

static void gaps_are_distances(void **state) {
	(void)state;
	const struct {
		CalShapeDef a, b;
		CalVec3 at, axis;
		double angle, gap;
	} cases[] = {
		{sphere, sphere, {3, 4, 0}, {0, 0, 1}, 0, 5 - 0.6},
		{sphere, box, {2, 0, 0}, {0, 0, 1}, 0, 1.5 - 0.3},
		{box, box, {2, 0, 0}, {0, 0, 1}, 0, 1},
		{box, box, {1.5, 1.2, 1}, {0, 0, 1}, 0, sqrt(0.25 + 0.16 + 0.16)},
		{capsule, capsule, {0, 1, 0}, {1, 0, 0}, 0, 0.8},
		{capsule, capsule, {1, 0, 0}, {1, 0, 0}, 1.5707963267948966, 0.8},
		{capsule, capsule, {0, 0, 5}, {1, 0, 0}, 0, 3 - 0.2},
		{plane, box, {7, 3, 2}, {0, 0, 1}, 0.3, 2 - 0.3},
		{box, plane, {0, 0, -2}, {0, 0, 1}, 0.3, 2 - 0.3},
		{box, box, {0.8, 0, 0}, {0, 0, 1}, 0, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Pair p = pair_of(cases[i].a, cases[i].b);
		vec3 n;
		p.pose[1] = pose_of(cases[i].at, cases[i].axis, cases[i].angle);
		check_near(gap_of(&p, &n), cases[i].gap, 1e-9);
		pair_free(&p);
	}
}

/* The mesh of a box is as far away as the box, from anything and however they are turned; the direction separates. */
static void meshes_are_as_far_as_what_they_bound(void **state) {
	(void)state;
	Rng rng = rng_make(test_seed());
	CalMesh *mesh = box_mesh(box.half), *other = box_mesh((CalVec3){0.2, 0.7, 0.4});
	const CalShapeDef of_mesh = {.type = CAL_SHAPE_MESH, .mesh = mesh},
					  of_other = {.type = CAL_SHAPE_MESH, .mesh = other};
	const CalShapeDef second = {.type = CAL_SHAPE_BOX, .half = {0.2, 0.7, 0.4}};
	const CalShapeDef against[] = {sphere, capsule, second};
	for (int k = 0; k < 300; k++) {
		const CalVec3 at = {rng_uniform(&rng, 1.5, 4), rng_uniform(&rng, -2, 2), rng_uniform(&rng, -2, 2)};
		const CalVec3 axis = {rng_uniform(&rng, -1, 1), rng_uniform(&rng, -1, 1), 0.5};
		const CalPose here = pose_of(at, axis, rng_uniform(&rng, 0, 6)),
					  there = pose_of((CalVec3){0}, axis, 1 + 0.01 * k);
		Pair exact = pair_of(box, against[k % 3]);
		Pair meshed = pair_of(of_mesh, k % 3 == 2 && k % 2 ? of_other : against[k % 3]);
		exact.pose[0] = meshed.pose[0] = there;
		exact.pose[1] = meshed.pose[1] = here;
		vec3 n, none;
		const double gap = gap_of(&exact, &n);
		check_near(gap_of(&meshed, &none), gap, 1e-8);
		assert_true(gap == 0 || fabs(dot(n, n) - 1) < 1e-12);
		CalContactSummary sum;
		CalSpatial wrench[2];
		assert_int_equal(cal_contact_evaluate(exact.set, exact.pose, exact.velocity, exact.work, wrench, &sum), CAL_OK);
		assert_true(gap == 0 || sum.touching == 0);
		pair_free(&exact);
		pair_free(&meshed);
	}
	cal_mesh_destroy(mesh);
	cal_mesh_destroy(other);
}

/* A motion by constant velocities; -1: no touch before the end. */
static double first_touch(Pair *p, const CalPose *start, CalVec3 axis, double end) {
	CalContactSummary sum;
	CalSpatial wrench[2];
	enum { STEPS = 4000 };
	for (int i = 0; i <= STEPS; i++) {
		const double t = end * i / STEPS;
		const CalVec3 v = p->velocity[1].linear;
		p->pose[1] = pose_of((CalVec3){start[1].r.x + t * v.x, start[1].r.y + t * v.y, start[1].r.z + t * v.z}, axis,
		                     t * p->velocity[1].angular.z);
		cal_contact_evaluate(p->set, p->pose, p->velocity, p->work, wrench, &sum);
		if (sum.touching)
			return t;
	}
	return -1;
}

/* No shape touches before the outlook said; repeated, it comes as near as it may. Nothing allocates. */
static void bounds_end_before_the_touch(void **state) {
	(void)state;
	Rng rng = rng_make(test_seed());
	CalMesh *mesh = box_mesh((CalVec3){0.5, 0.05, 0.5});
	const CalShapeDef shapes[] = {sphere, capsule, box, {.type = CAL_SHAPE_MESH, .mesh = mesh}, plane};
	int touched = 0;
	for (int k = 0; k < 120; k++) {
		Pair p = pair_of(shapes[k % 5], shapes[(k / 5) % 4]);
		const CalVec3 axis = {0, 0, 1};
		p.pose[1] = pose_of((CalVec3){rng_uniform(&rng, 3, 5), rng_uniform(&rng, -0.5, 0.5), 3}, axis, 0);
		const CalPose start[2] = {p.pose[0], p.pose[1]};
		p.velocity[1].linear = (CalVec3){-4, rng_uniform(&rng, -0.3, 0.3), -3};
		p.velocity[1].angular = (CalVec3){0, 0, rng_uniform(&rng, -20, 20)};
		const CalSpatial still[2] = {0};
		const double touch = first_touch(&p, start, axis, 2);
		double t = 0;
		int evaluations = 0;
		interpose_begin(0);
		while (t < 2 && evaluations < 20000) {
			const CalVec3 v = p.velocity[1].linear;
			p.pose[1] = pose_of((CalVec3){start[1].r.x + t * v.x, start[1].r.y + t * v.y, start[1].r.z + t * v.z}, axis,
			                    t * p.velocity[1].angular.z);
			CalContactLookahead look = {.horizon = 2};
			assert_int_equal(cal_contact_look_ahead(p.set, p.pose, p.velocity, still, p.work, &look), CAL_OK);
			if (touch >= 0 && t <= touch && look.a >= 0 && t + look.contact_free > touch + 2e-3)
				fail_msg("pair %d: clear to %.6g, but it touches at %.6g", k, t + look.contact_free, touch);
			CalContactSummary sum;
			CalSpatial wrench[2];
			cal_contact_evaluate(p.set, p.pose, p.velocity, p.work, wrench, &sum);
			if (sum.touching || look.contact_free < 1e-9)
				break;
			t += look.contact_free;
			evaluations++;
		}
		assert_int_equal(interpose_end().calls, 0);
		if (touch >= 0) {
			touched++;
			check_near(t, touch, 2e-3); // steps of the search
		}
		pair_free(&p);
	}
	print_message("%d of 120 touched\n", touched);
	assert_true(touched > 40);
	cal_mesh_destroy(mesh);
}

/* Half of a thickness in one step is too far, in either direction of time nothing is said of what is slow. */
static void long_steps_are_reported(void **state) {
	(void)state;
	Pair p = pair_of(sphere, (CalShapeDef){.type = CAL_SHAPE_BOX, .half = {0.01, 1, 1}});
	CalContactTunneling leap;
	p.pose[1] = pose_of((CalVec3){2, 0, 0}, (CalVec3){0, 0, 1}, 0);
	p.velocity[0].linear.x = 100;
	assert_int_equal(cal_contact_tunneling(p.set, p.pose, p.velocity, 1e-3, p.work, &leap), 0);
	assert_int_equal(cal_contact_tunneling(p.set, p.pose, p.velocity, 1e-1, p.work, &leap), 1);
	check_near(leap.speed, 100, 1e-12);
	check_near(leap.size, 0.31, 1e-12);
	p.velocity[0].linear = (CalVec3){0, 100, 0}; // past it
	assert_int_equal(cal_contact_tunneling(p.set, p.pose, p.velocity, 1e-1, p.work, &leap), 0);
	pair_free(&p);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_are_distances),
		cmocka_unit_test(meshes_are_as_far_as_what_they_bound),
		cmocka_unit_test(bounds_end_before_the_touch),
		cmocka_unit_test(long_steps_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
