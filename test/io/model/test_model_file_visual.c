// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_visual.c — how bodies look: the key `visual`, shapes of masses, and both written back.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include <math.h>

#include <calder/visual.h>

#include "support/model_file_support.h"

static const char model[] =
	"calder: 1\n"
	"ground: {visual: {plane: [10, 5 m], at: [0, 0, -1]}}\n"
	"bodies:\n"
	"  hub:\n"
	"    mass: 5\n"
	"    visual:\n"
	"      - {box: [1, 2, 30 cm], orientation: {z: 90 deg}, color: '#0a1B2c'}\n"
	"      - {cone: {radius: 1, from: [0, 0, 0], to: [2, 0, 0]}, at: [0, 1, 0], orientation: {z: 90 deg}}\n"
	"      - {mesh: parts/hull.stl, scale: 0.001}\n"
	"  arm: {mass: 1, cylinder: {radius: 0.1, from: [0, 0, 0], to: [0, 0, -3]}}\n"
	"  wire: {mass: 1, rod: {length: 2, axis: y}, com: [0, 1, 0]}\n"
	"  ball: {mass: 1, sphere: 20 cm, com: [1, 0, 0]}\n"
	"  hidden: {mass: 1, sphere: 20 cm, visual: []}\n"
	"  plain: {mass: 1}\n"
	"joints:\n"
	"  a: {type: free, to: hub}\n"
	"  b: {type: weld, from: hub, to: arm}\n"
	"  c: {type: weld, from: hub, to: wire}\n"
	"  d: {type: weld, from: hub, to: ball}\n"
	"  e: {type: weld, from: hub, to: hidden}\n"
	"  f: {type: weld, from: hub, to: plain}\n";

static int visuals_of(const CalSetup *file, const char *body, const CalVisual **visuals) {
	return cal_setup_visuals(file, cal_desc_find_body(cal_setup_desc(file), body), visuals);
}

static CalVisual only_of(const CalSetup *file, const char *body) {
	const CalVisual *visuals;
	assert_int_equal(visuals_of(file, body, &visuals), 1);
	return visuals[0];
}

static CalVec3 turned(CalQuat q, CalVec3 v) {
	const CalVec3 t = {2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z), 2 * (q.x * v.y - q.y * v.x)};
	return (CalVec3){v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z,
	                 v.z + q.w * t.z + q.x * t.y - q.y * t.x};
}

static void assert_vec(CalVec3 got, double x, double y, double z) {
	assert_near(got.x, x, 1e-15);
	assert_near(got.y, y, 1e-15);
	assert_near(got.z, z, 1e-15);
}

static void check_model(const CalSetup *file) {
	const CalVisual *v;
	assert_int_equal(visuals_of(file, "hub", &v), 3);
	assert_int_equal(v[0].kind, CAL_VISUAL_BOX);
	assert_vec(v[0].size, 1, 2, 0.3);
	assert_int_equal(v[0].color, 0x0a1b2c);
	assert_vec(turned(v[0].placement.orientation, (CalVec3){1, 0, 0}), 0, 1, 0);
	assert_int_equal(v[1].kind, CAL_VISUAL_CONE);
	assert_int_equal(v[1].color, -1);
	assert_vec(v[1].size, 1, 0, 2);
	assert_vec(v[1].placement.position, 0, 2, 0); // its center, a meter along the axis, which points along y
	assert_vec(turned(v[1].placement.orientation, (CalVec3){0, 0, 1}), 0, 1, 0);
	assert_int_equal(v[2].kind, CAL_VISUAL_MESH);
	assert_string_equal(v[2].file, "parts/hull.stl");
	assert_near(v[2].size.x, 0.001, 0);
	assert_int_equal(cal_setup_visuals(file, (CalBodyId){0}, &v), 1);
	assert_int_equal(v->kind, CAL_VISUAL_PLANE);
	assert_vec(v->size, 10, 5, 0);
	assert_vec(v->placement.position, 0, 0, -1);
}

static void shapes_are_read_and_placed(void **state) {
	(void)state;
	CalSetup *file = file_of(model);
	const CalVisual *v;
	check_model(file);
	const CalVisual arm = only_of(file, "arm"), wire = only_of(file, "wire"), ball = only_of(file, "ball");
	assert_vec(arm.placement.position, 0, 0, -1.5);
	assert_vec(arm.size, 0.1, 0, 3);
	assert_vec(turned(arm.placement.orientation, (CalVec3){0, 0, 1}), 0, 0, -1);
	assert_int_equal(wire.kind, CAL_VISUAL_CYLINDER);
	assert_true(wire.size.x > 0 && wire.size.z == 2);
	assert_vec(wire.placement.position, 0, 1, 0);
	assert_vec(turned(wire.placement.orientation, (CalVec3){0, 0, 1}), 0, 1, 0);
	assert_vec(ball.placement.position, 1, 0, 0);
	assert_int_equal(visuals_of(file, "hidden", &v), 0);
	assert_int_equal(visuals_of(file, "plain", &v), 0);
	char path[64];
	assert_int_equal(cal_setup_locate(file, "parts/hull.stl", path, sizeof path), 0);
	assert_string_equal(path, "parts/hull.stl");
	assert_int_equal(cal_setup_locate(file, "parts/hull.stl", path, 4), -1);
	assert_int_equal(cal_setup_visuals(file, (CalBodyId){99}, &v), 0);
	cal_setup_destroy(file);
}

static void what_is_written_has_the_same_visuals(void **state) {
	(void)state;
	CalSetup *file = file_of(model);
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	assert_int_equal(cal_model_file_write(file, out, NULL), CAL_OK);
	fclose(out);
	CalSetup *again = file_of(text);
	check_model(again);
	const CalVisual arm = only_of(file, "arm"), copy = only_of(again, "arm");
	assert_memory_equal(&arm.placement, &copy.placement, sizeof arm.placement);
	assert_memory_equal(&arm.size, &copy.size, sizeof arm.size);
	free(text);
	cal_setup_destroy(again);
	cal_setup_destroy(file);
}

static void generated_bodies_may_have_visuals(void **state) {
	(void)state;
	CalSetup *file = file_of(
		"calder: 1\n"
		"bodies:\n"
		"  boom: {beam: {length: 1, section: {shape: circle, diameter: 1 cm, youngs_modulus: 70 GPa, density: 2700}}, visual: {sphere: 1}}\n"
		"joints: {a: {type: weld, to: boom}}\n");
	assert_int_equal(only_of(file, "boom").kind, CAL_VISUAL_SPHERE);
	cal_setup_destroy(file);
}

static void mistakes_are_reported_with_their_place(void **state) {
	(void)state;
	static const struct {
		const char *visual, *message;
	} cases[] = {
		{"{box: [1, 1, 1], sphere: 1}", "is one shape; write a list"},
		{"{at: [1, 1, 1]}", "name a shape"},
		{"{sphere: 1, scale: 2}", "only a mesh is scaled"},
		{"{sphere: 1, color: red}", "\"#rrggbb\""},
		{"{sphere: 1, color: '#12345'}", "\"#rrggbb\""},
		{"{sphere: 1, color: '#+12345'}", "\"#rrggbb\""},
		{"{plane: [1, 2, 3]}", "give its two sides"},
		{"{cylinder: {length: 1}}", "\"radius\" is missing"},
		{"{boxx: [1, 1, 1]}", "did you mean \"box\""},
		{"{box: [1, -1, 1]}", "must not be negative"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[256];
		CalSetup *file = NULL;
		CalError error = {0};
		snprintf(text, sizeof text, "calder: 1\nbodies: {b: {mass: 1, visual: %s}}\njoints: {a: {type: free, to: b}}\n",
		         cases[i].visual);
		assert_int_equal(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_ERR_INPUT);
		if (!strstr(error.text, cases[i].message) || strncmp(error.text, "t.yaml:2:", 9) != 0)
			fail_msg("%s: %s", cases[i].visual, error.text);
	}
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_are_read_and_placed),
		cmocka_unit_test(what_is_written_has_the_same_visuals),
		cmocka_unit_test(generated_bodies_may_have_visuals),
		cmocka_unit_test(mistakes_are_reported_with_their_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
