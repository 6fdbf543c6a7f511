// SPDX-License-Identifier: Apache-2.0
/*
 * test_set.c — building sets and meshes: what is refused and in which words; evaluations: filters, overflow, numbers that
 * are not finite, no allocation, the same bits whatever came before.
 */
#include "support/interpose.h" // defines malloc: first

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include <calder/contact.h>

#include "support/failing_allocator.h"
#include "support/rng.h"

static const CalContactMaterial soft = {.stiffness = 1e4, .exponent = 1, .friction_dynamic = 0.3};

static CalShapeDef ball(const char *name, int node) {
	return (CalShapeDef){.name = name, .type = CAL_SHAPE_SPHERE, .node = node, .radius = 1, .material = soft};
}

static CalContactSet *set_of(const CalShapeDef *defs, int count) {
	CalContactSet *set = NULL;
	CalError error = {0};
	if (cal_contact_set_create(defs, count, NULL, &set, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return set;
}

static void refused(const CalShapeDef *defs, int count, const char *words) {
	CalContactSet *set = NULL;
	CalError error = {0};
	assert_int_equal(cal_contact_set_create(defs, count, NULL, &set, &error), CAL_ERR_INPUT);
	assert_null(set);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static CalPose pose_at(double x, double y, double z) {
	return (CalPose){{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {x, y, z}};
}

/* ---- what is refused --------------------------------------------------------------------------- */

static void wrong_shapes_are_refused_by_name(void **state) {
	(void)state;
	CalShapeDef d = ball("hull", 0);
	d.radius = 0;
	d.place = "dock.yaml:7:3";
	refused(&d, 1, "dock.yaml:7:3: shape \"hull\": radius is 0");
	d = ball("hull", 0);
	d.radius = NAN;
	refused(&d, 1, "radius is ");
	d = ball("", 0);
	refused(&d, 1, "shape 0 has no name");
	refused((CalShapeDef[]){ball("a", 0), ball("a", 1)}, 2, "another one of this name");
	d = ball("b", -2);
	refused(&d, 1, "no node -2");
	d = ball("b", 0);
	d.type = (CalShapeType)17;
	refused(&d, 1, "no type 17");
	d = (CalShapeDef){.name = "crate", .type = CAL_SHAPE_BOX, .half = {1, -1, 1}, .material = soft};
	refused(&d, 1, "half.y is -1");
	d = (CalShapeDef){.name = "hull", .type = CAL_SHAPE_MESH, .material = soft};
	refused(&d, 1, "needs a mesh");
	d = ball("b", 0);
	d.material.restitution = 0.5;
	refused(&d, 1, "restitution needs impact_speed");
	d = ball("b", 0);
	d.material.friction_static = 0.1;
	refused(&d, 1, "are they exchanged");
	d = ball("b", 0);
	d.material.exponent = 0.5;
	refused(&d, 1, "exponent is 0.5");
	d = ball("b", 0);
	d.placement.orientation.w = INFINITY;
	refused(&d, 1, "placement.orientation");
}

static void pairs_without_a_law_are_refused(void **state) {
	(void)state;
	CalShapeDef d[2] = {ball("a", 0), ball("b", 1)};
	d[1].material.stiffness = 0;
	refused(d, 2, "\"b\" has no stiffness");
	d[0].material.modulus = d[1].material.modulus = 1e9;
	cal_contact_set_destroy(set_of(d, 2));
	d[0].material.modulus = d[1].material.modulus = INFINITY;
	refused(d, 2, "infinite modulus");
	d[0] = ball("a", 0), d[1] = ball("b", 1);
	d[0].material.stiffness = d[1].material.stiffness = INFINITY;
	refused(d, 2, "infinite stiffness");
	d[1].material.stiffness = 1e4;
	d[1].material.exponent = 2;
	cal_contact_set_destroy(set_of(d, 2)); // the rigid side has no say
	d[0].material.stiffness = 1e4;
	refused(d, 2, "exponents differ (1 and 2)");
	d[0].owner = d[1].owner = 5; // they never touch
	cal_contact_set_destroy(set_of(d, 2));
}

/* ---- meshes ------------------------------------------------------------------------------------ */

static const CalVec3 tetra_v[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int tetra_t[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

static void mesh_refused(const CalVec3 *v, int nv, const int *t, int nt, const char *words) {
	CalMesh *mesh = NULL;
	CalError error = {0};
	assert_int_equal(cal_mesh_create("part", v, nv, t, nt, NULL, &mesh, &error), CAL_ERR_INPUT);
	assert_null(mesh);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static void wrong_meshes_are_refused_by_name(void **state) {
	(void)state;
	mesh_refused(tetra_v, 4, tetra_t, 0, "mesh \"part\": 4 vertices and 0 triangles");
	mesh_refused(tetra_v, 3, tetra_t, 4, "triangle 1 names vertex 3; there are 0 ... 2");
	mesh_refused((CalVec3[]){{0, 0, 0}, {1, NAN, 0}, {0, 1, 0}}, 3, (int[]){0, 1, 2}, 1, "vertex 1 is not finite");
	mesh_refused((CalVec3[]){{0, 0, 0}, {1, 1, 1}, {2, 2, 2}}, 3, (int[]){0, 1, 2, 0, 0, 1}, 2,
	             "none of its 2 triangles");
	const int inside_out[12] = {0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2};
	mesh_refused(tetra_v, 4, inside_out, 4, "inside out");
}

static void meshes_know_what_they_are(void **state) {
	(void)state;
	CalMesh *mesh = NULL;
	CalVec3 v[24];
	int t[24];
	for (int i = 0; i < 12; i++) { // as STL has it: each triangle with vertices of its own, and once more without area
		v[i] = tetra_v[tetra_t[i]];
		v[12 + i] = tetra_v[i / 3];
		t[i] = i;
		t[12 + i] = 12 + i;
	}
	assert_int_equal(cal_mesh_create("tetra", v, 24, t, 8, NULL, &mesh, NULL), CAL_OK);
	const CalMeshInfo info = cal_mesh_info(mesh);
	assert_int_equal(info.vertices, 4);
	assert_int_equal(info.triangles, 4);
	assert_int_equal(info.dropped, 4);
	assert_true(info.closed && fabs(info.volume - 1.0 / 6) < 1e-15 && info.upper.z == 1 && info.lower.x == 0);
	cal_mesh_destroy(mesh);
	assert_int_equal(cal_mesh_create("open", tetra_v, 4, tetra_t, 3, NULL, &mesh, NULL), CAL_OK);
	assert_int_equal(cal_mesh_info(mesh).open_edges, 3);
	CalShapeDef d = {.name = "shell", .type = CAL_SHAPE_MESH, .mesh = mesh, .material = soft};
	refused(&d, 1, "not closed (3 open edges, 0 where triangles disagree)");
	d.thickness = 0.1;
	cal_contact_set_destroy(set_of(&d, 1));
	cal_mesh_destroy(mesh);
	const int twice[15] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3, 1, 2, 3};
	assert_int_equal(cal_mesh_create("odd", tetra_v, 4, twice, 5, NULL, &mesh, NULL), CAL_OK);
	assert_int_equal(cal_mesh_info(mesh).odd_edges, 3);
	cal_mesh_destroy(mesh);
}

/* ---- evaluation -------------------------------------------------------------------------------- */

typedef struct Bench {
	CalContactSet *set;
	CalContactWork *work;
	CalPose poses[64];
	CalSpatial velocities[64], wrenches[64];
	CalContactSummary sum;
} Bench;

static Bench bench_of(const CalShapeDef *defs, int count, int points) {
	Bench b = {.set = set_of(defs, count)};
	assert_int_equal(cal_contact_work_create(b.set, points, &b.work), CAL_OK);
	for (int i = 0; i < 64; i++)
		b.poses[i] = pose_at(0, 0, 0);
	return b;
}

static CalStatus bench_run(Bench *b) {
	return cal_contact_evaluate(b->set, b->poses, b->velocities, b->work, b->wrenches, &b->sum);
}

static void bench_free(Bench *b) {
	cal_contact_work_destroy(b->work);
	cal_contact_set_destroy(b->set);
}

static void slots_and_filters(void **state) {
	(void)state;
	CalShapeDef d[4] = {ball("a", 3), ball("b", 3), ball("c", 7), ball("d", -1)};
	d[2].group = 1;
	Bench b = bench_of(d, 4, 8);
	assert_int_equal(cal_contact_node_count(b.set), 2);
	int group, node;
	assert_int_equal(cal_contact_node(b.set, 1, &group, &node), CAL_OK);
	assert_true(group == 1 && node == 7);
	assert_int_equal(cal_contact_node(b.set, 2, &group, &node), CAL_ERR_ARGUMENT);
	assert_string_equal(cal_contact_shape_name(b.set, 3), "d");
	assert_null(cal_contact_shape_name(b.set, 4));
	assert_string_equal(cal_shape_type_name(CAL_SHAPE_CAPSULE), "capsule");
	assert_int_equal(bench_run(&b), CAL_OK);
	assert_int_equal(b.sum.touching, 5); // all but a-b, which share a node
	assert_int_equal(cal_contact_exclude_node(b.work, 0, 1), CAL_OK);
	assert_int_equal(bench_run(&b), CAL_OK);
	assert_int_equal(b.sum.touching, 1); // c-d
	assert_int_equal(cal_contact_exclude_node(b.work, 0, 0), CAL_OK);
	assert_int_equal(bench_run(&b), CAL_OK);
	assert_int_equal(b.sum.touching, 5);
	assert_int_equal(cal_contact_exclude_node(b.work, 2, 1), CAL_ERR_ARGUMENT);
	bench_free(&b);
	d[0].owner = d[2].owner = 4;
	d[1].layers = 2; // and d touches only layer 1
	d[3].mask = 1;
	b = bench_of(d, 4, 8);
	assert_int_equal(bench_run(&b), CAL_OK);
	assert_int_equal(b.sum.touching, 3); // a-d, b-c, c-d
	bench_free(&b);
}

static void margin_widens_shapes(void **state) {
	(void)state;
	CalMesh *mesh = NULL;
	assert_int_equal(cal_mesh_create("tetra", tetra_v, 4, tetra_t, 4, NULL, &mesh, NULL), CAL_OK);
	CalShapeDef d[2] = {ball("ball", 0),
	                    {.name = "x", .node = -1, .half = {1, 1, 1}, .radius = 1, .margin = 0.02, .material = soft}};
	for (int type = 0; type < CAL_SHAPE_COUNT; type++) {
		d[1].type = (CalShapeType)type;
		d[1].mesh = mesh;
		Bench b = bench_of(d, 2, 8);
		const double top[] = {1, 1, 1, 0, 1};
		b.poses[0] = pose_at(0, 0, top[type] + 1.01);
		assert_int_equal(bench_run(&b), CAL_OK);
		assert_int_equal(b.sum.points, 1);
		assert_true(fabs(b.sum.deepest - 0.01) < 1e-12);
		assert_true(fabs(b.wrenches[0].linear.z - 0.01 * 5e3) < 1e-9);
		bench_free(&b);
	}
	cal_mesh_destroy(mesh);
}

/* Points beyond the room for records still act; they are counted. */
static void unrecorded_points_act(void **state) {
	(void)state;
	const CalShapeDef d[2] = {{.name = "box", .type = CAL_SHAPE_BOX, .half = {1, 1, 1}, .material = soft},
	                          {.name = "floor", .type = CAL_SHAPE_PLANE, .node = -1, .material = soft}};
	for (int room = 0; room <= 4; room += 2) {
		Bench b = bench_of(d, 2, room);
		b.poses[0] = pose_at(0, 0, 0.99);
		assert_int_equal(bench_run(&b), CAL_OK);
		assert_int_equal(b.sum.points, 4);
		assert_int_equal(b.sum.unrecorded, 4 - room);
		assert_int_equal(cal_contact_point_count(b.work), room);
		assert_true(fabs(b.wrenches[0].linear.z - 4 * 0.01 * 5e3) < 1e-9);
		bench_free(&b);
	}
}

/* More than CAL_CONTACT_PAIR_POINTS corners in a plane: the deepest stay, the others are counted. */
static void crowded_pairs_keep_the_deepest(void **state) {
	(void)state;
	enum { RING = 100 };
	CalVec3 v[RING + 1] = {{0, 0, 1}};
	int t[3 * RING];
	for (int i = 0; i < RING; i++) {
		v[i + 1] = (CalVec3){cos(2 * 3.14159265358979 * i / RING), sin(2 * 3.14159265358979 * i / RING), -1e-3 * i};
		t[3 * i] = 0, t[3 * i + 1] = i + 1, t[3 * i + 2] = (i + 1) % RING + 1;
	}
	CalMesh *mesh = NULL;
	assert_int_equal(cal_mesh_create("hat", v, RING + 1, t, RING, NULL, &mesh, NULL), CAL_OK);
	const CalShapeDef d[2] = {{.name = "hat", .type = CAL_SHAPE_MESH, .mesh = mesh, .thickness = 1, .material = soft},
	                          {.name = "floor", .type = CAL_SHAPE_PLANE, .node = -1, .material = soft}};
	Bench b = bench_of(d, 2, RING);
	b.poses[0] = pose_at(0, 0, -0.01);
	assert_int_equal(bench_run(&b), CAL_OK);
	assert_int_equal(b.sum.points, CAL_CONTACT_PAIR_POINTS);
	assert_int_equal(b.sum.dropped, RING - CAL_CONTACT_PAIR_POINTS);
	for (int i = 0; i < b.sum.points; i++) {
		CalContactPoint p;
		assert_int_equal(cal_contact_point(b.work, i, &p), CAL_OK);
		assert_true(p.depth > 0.01 + 1e-3 * (RING - CAL_CONTACT_PAIR_POINTS) - 1e-9);
	}
	assert_int_equal(cal_contact_point(b.work, b.sum.points, &(CalContactPoint){0}), CAL_ERR_ARGUMENT);
	bench_free(&b);
	cal_mesh_destroy(mesh);
}

static void numbers_that_are_not_finite_are_reported(void **state) {
	(void)state;
	const CalShapeDef d[2] = {ball("a", 0), ball("b", 1)};
	Bench b = bench_of(d, 2, 8);
	b.velocities[1].angular.y = NAN;
	assert_int_equal(bench_run(&b), CAL_NOT_FINITE);
	assert_int_equal(cal_contact_failed_node(b.work), 1);
	assert_true(b.wrenches[0].linear.x == 0 && b.wrenches[1].linear.z == 0);
	b.velocities[1].angular.y = 0;
	b.poses[0].r.z = -INFINITY;
	assert_int_equal(bench_run(&b), CAL_NOT_FINITE);
	assert_int_equal(cal_contact_failed_node(b.work), 0);
	b.poses[0].r.z = 0.5;
	b.velocities[0].linear.x = 1e300; // friction is bounded, but the square of the speed is not
	b.velocities[0].linear.y = 1e300;
	(void)bench_run(&b);
	assert_true(isfinite(b.wrenches[0].linear.x) && isfinite(b.wrenches[1].linear.z));
	b.velocities[0] = (CalSpatial){{0, 0, 0}, {0, 0, 0}};
	assert_int_equal(bench_run(&b), CAL_OK);
	assert_int_equal(cal_contact_failed_node(b.work), -1);
	assert_int_equal(cal_contact_evaluate(b.set, NULL, b.velocities, b.work, b.wrenches, NULL), CAL_ERR_ARGUMENT);
	bench_free(&b);
}

/* ---- many shapes ------------------------------------------------------------------------------- */

enum { CROWD = 40 };

static Bench crowd(Rng *r) {
	CalShapeDef d[CROWD + 1];
	static char names[CROWD + 1][16];
	for (int i = 0; i <= CROWD; i++) {
		snprintf(names[i], sizeof names[i], "s%d", i);
		d[i] = (CalShapeDef){.name = names[i],
		                     .type = i == CROWD ? CAL_SHAPE_PLANE : (CalShapeType)(i % 3),
		                     .node = i == CROWD ? -1 : i,
		                     .radius = 0.3,
		                     .length = 0.5,
		                     .half = {0.3, 0.2, 0.4},
		                     .material = soft};
	}
	Bench b = bench_of(d, CROWD + 1, 2000);
	for (int i = 0; i < CROWD; i++) {
		const CalQuat q = rng_quat(r);
		const CalVec3 p = rng_vector(r, 1.2), w = rng_vector(r, 1), v = rng_vector(r, 1);
		b.poses[i] = pose_at(p.x, p.y, p.z);
		b.poses[i].R =
			(CalMat3){{{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z), 2 * (q.x * q.z + q.w * q.y)},
		               {2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.w * q.x)},
		               {2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)}}};
		b.velocities[i] = (CalSpatial){w, v};
	}
	return b;
}

/* The broad phase leaves out no pair: each pair alone touches as it does in the crowd. */
static void broad_phase_misses_nothing(void **state) {
	(void)state;
	Rng r = rng_make(test_seed());
	Bench all = crowd(&r);
	assert_int_equal(bench_run(&all), CAL_OK);
	char touched[CROWD + 1][CROWD + 1] = {{0}};
	int touching = 0;
	for (int i = 0; i < cal_contact_point_count(all.work); i++) {
		CalContactPoint p;
		assert_int_equal(cal_contact_point(all.work, i, &p), CAL_OK);
		assert_true(p.a < p.b);
		touched[p.a][p.b] = 1;
	}
	assert_int_equal(all.sum.unrecorded, 0);
	for (int i = 0; i < CROWD; i++) {
		for (int j = i + 1; j <= CROWD; j++) {
			CalShapeDef d[2];
			const int k[2] = {i, j};
			for (int s = 0; s < 2; s++)
				d[s] = (CalShapeDef){.name = s ? "b" : "a",
				                     .type = k[s] == CROWD ? CAL_SHAPE_PLANE : (CalShapeType)(k[s] % 3),
				                     .node = k[s] == CROWD ? -1 : s,
				                     .radius = 0.3,
				                     .length = 0.5,
				                     .half = {0.3, 0.2, 0.4},
				                     .material = soft};
			Bench two = bench_of(d, 2, 0);
			two.poses[0] = all.poses[i];
			two.poses[1] = all.poses[j];
			assert_int_equal(bench_run(&two), CAL_OK);
			assert_int_equal(two.sum.points > 0, touched[i][j]);
			touching += touched[i][j];
			bench_free(&two);
		}
	}
	assert_int_equal(touching, all.sum.touching);
	assert_true(touching > 50 && all.sum.pairs < CROWD * CROWD / 2);
	bench_free(&all);
}

/* Another evaluation in between leaves no trace. */
static void results_do_not_depend_on_the_past(void **state) {
	(void)state;
	Rng r = rng_make(test_seed() + 1);
	Bench b = crowd(&r);
	CalSpatial first[64];
	assert_int_equal(bench_run(&b), CAL_OK);
	memcpy(first, b.wrenches, sizeof first);
	const CalContactSummary sum = b.sum;
	for (int i = 0; i < CROWD; i++)
		b.poses[i].r = (CalVec3){-b.poses[i].r.y, b.poses[i].r.x, b.poses[i].r.z};
	assert_int_equal(bench_run(&b), CAL_OK);
	for (int i = 0; i < CROWD; i++)
		b.poses[i].r = (CalVec3){b.poses[i].r.y, -b.poses[i].r.x, b.poses[i].r.z};
	assert_int_equal(bench_run(&b), CAL_OK);
	assert_memory_equal(first, b.wrenches, CROWD * sizeof *first);
	assert_true(b.sum.points == sum.points && b.sum.stored == sum.stored && b.sum.friction == sum.friction);
	bench_free(&b);
}

static void evaluation_does_not_allocate(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	Rng r = rng_make(test_seed() + 2);
	Bench b = crowd(&r);
	interpose_begin(0);
	const CalStatus status = bench_run(&b);
	const Interpose seen = interpose_end();
	assert_int_equal(status, CAL_OK);
	assert_int_equal(seen.calls, 0);
	assert_true(b.sum.points > 50);
	bench_free(&b);
}

static void failing_memory_is_reported_and_leaves_nothing(void **state) {
	(void)state;
	const CalShapeDef d[2] = {ball("a", 0), ball("b", 1)};
	for (int k = 1; k <= 3; k++) {
		FailingAllocator f = {.fail_at = k};
		const CalAllocator allocator = failing_allocator(&f);
		CalMesh *mesh = NULL;
		CalContactSet *set = NULL;
		CalError error = {0};
		const CalStatus made = cal_mesh_create("tetra", tetra_v, 4, tetra_t, 4, &allocator, &mesh, &error);
		assert_int_equal(made, k <= 2 ? CAL_ERR_MEMORY : CAL_OK);
		cal_mesh_destroy(mesh);
		f = (FailingAllocator){.fail_at = k};
		assert_int_equal(cal_contact_set_create(d, 2, &allocator, &set, &error), k == 1 ? CAL_ERR_MEMORY : CAL_OK);
		cal_contact_set_destroy(set);
		assert_int_equal(f.live, 0);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_shapes_are_refused_by_name),
		cmocka_unit_test(pairs_without_a_law_are_refused),
		cmocka_unit_test(wrong_meshes_are_refused_by_name),
		cmocka_unit_test(meshes_know_what_they_are),
		cmocka_unit_test(slots_and_filters),
		cmocka_unit_test(margin_widens_shapes),
		cmocka_unit_test(unrecorded_points_act),
		cmocka_unit_test(crowded_pairs_keep_the_deepest),
		cmocka_unit_test(numbers_that_are_not_finite_are_reported),
		cmocka_unit_test(broad_phase_misses_nothing),
		cmocka_unit_test(results_do_not_depend_on_the_past),
		cmocka_unit_test(evaluation_does_not_allocate),
		cmocka_unit_test(failing_memory_is_reported_and_leaves_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
