// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_contact.c — the device "contact" of the native file: every key reaches the library, meshes come from
 * files beside the model, owners, layers and masks keep shapes apart, the writer keeps it all, and mistakes are reported
 * with their place.
 */
#include "support/fe_support.h"

#include <calder/calder.h>

#include "support/model_file_support.h"

#define HEAD                                                                        \
	"calder: 1\n"                                                                   \
	"gravity: [0, 0, -9.81]\n"                                                      \
	"bodies:\n"                                                                     \
	"  a: {mass: 1 kg, box: [20 cm, 20 cm, 20 cm], nodes: {port: [10 cm, 0, 0]}}\n" \
	"  b: {mass: 2 kg, box: [20 cm, 20 cm, 20 cm]}\n"                               \
	"joints: {fa: {type: free, to: a}, fb: {type: free, to: b}}\n"                  \
	"devices:\n"

/* A closed tetrahedron with corners at 0 and 100 along the axes, in mm. */
static const char tetrahedron[] = "v 0 0 0\nv 100 0 0\nv 0 100 0\nv 0 0 100\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
static const char terrain[] = "v -5 -5 0\nv 5 -5 0\nv 0 5 0\nf 1 2 3\n";

static char model_path[600];

static int make_files(void **state) {
	(void)state;
	write_text("open.obj", terrain);
	write_text("bad.obj", "v 0 0 zero\n");
	const char *mesh = write_text("solid.obj", tetrahedron);
	snprintf(model_path, sizeof model_path, "%.*s/model.yaml", (int)(strrchr(mesh, '/') - mesh), mesh);
	return 0;
}

static CalStatus parse(const char *text, CalSetup **file, CalError *error) {
	*file = NULL;
	return cal_model_file_parse(text, strlen(text), model_path, NULL, file, error);
}

static CalSetup *parsed(const char *text) {
	CalSetup *file;
	CalError error = {0};
	if (parse(text, &file, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return file;
}

static CalSim *bare(const CalSetup *file) {
	CalSim *sim = NULL;
	CalError error = {0};
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-4}};
	if (cal_sim_create(cal_setup_desc(file), &options, &sim, &error) != CAL_OK)
		fail_msg("%s", error.text);
	CalState *s = cal_sim_state(sim, 0); // a above b, both above the floor
	s->q[2] = 0.4, s->q[7 + 2] = 0.12;
	s->q[0] = 0.02;
	s->u[0] = 0.3, s->u[4] = 2, s->u[6 + 1] = 0.2;
	return sim;
}

static CalSim *with_devices(const CalSetup *file) {
	CalSim *sim = bare(file);
	CalError error = {0};
	if (cal_setup_apply_devices(file, sim, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return sim;
}

static void run_to(CalSim *sim, double t) {
	CalError error = {0};
	if (cal_sim_advance(sim, t, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

static double output_of(CalSim *sim, int k) {
	double output[28];
	assert_int_equal(cal_sim_device_outputs(sim, 0, output), CAL_OK);
	return output[k];
}

/* ---- what arrives ------------------------------------------------------------------------------------ */

static const char every_key[] = HEAD
	"  touch:\n"
	"    type: contact\n"
	"    material: {stiffness: rigid, friction_dynamic: 0.5}\n"
	"    shapes:\n"
	"      ball: {type: sphere, node: a/port, at: [0, 0, -5 cm], radius: 4 cm, margin: 1 cm, owner: a, layers: [one],\n"
	"             material: &soft {modulus: 2 MPa, stiffness: 3e5, exponent: 2, dissipation: 0.2 s/m, friction_static: 0.6,\n"
	"               friction_dynamic: 0.4, transition_speed: 2 mm/s, stribeck_speed: 1 cm/s, torsion_radius: 1 cm}}\n"
	"      pill: {type: capsule, node: a, orientation: {y: 90 deg}, at: [-5 cm, 0, 0], radius: 3 cm, length: 6 cm,\n"
	"             owner: a, mask: [one, default], material: *soft}\n"
	"      crate: {type: box, node: b, half: [10 cm, 10 cm, 10 cm], patch: 5 cm, layers: [one, 2],\n"
	"              material: {stiffness: 3e5, exponent: 2, restitution: 0.7, impact_speed: 2 m/s, friction_dynamic: 0.3}}\n"
	"      wedge: {type: mesh, node: b, mesh: solid.obj, scale: 0.001, at: [0, 0, 8 cm], owner: b, material: *soft}\n"
	"      ground: {type: mesh, mesh: open.obj, thickness: 30 cm, layers: [one]}\n"
	"      floor: {type: plane, orientation: {x: 1 deg}}\n";

/* The same in C. */
static void add_in_c(CalSim *sim, const CalDesc *desc, const CalMesh *solid, const CalMesh *open) {
	const double half_deg = 0.5 * acos(-1) / 180, right = 0.25 * acos(-1);
	const CalQuat none = {1, 0, 0, 0};
	const CalContactMaterial soft = {.modulus = 2e6,
	                                 .stiffness = 3e5,
	                                 .exponent = 2,
	                                 .dissipation = 0.2,
	                                 .friction_static = 0.6,
	                                 .friction_dynamic = 0.4,
	                                 .transition_speed = 2e-3,
	                                 .stribeck_speed = 1e-2,
	                                 .torsion_radius = 1e-2};
	const CalContactMaterial crate = {
		.stiffness = 3e5, .exponent = 2, .restitution = 0.7, .impact_speed = 2, .friction_dynamic = 0.3};
	const CalContactMaterial rigid = {.stiffness = INFINITY, .friction_dynamic = 0.5};
	const CalShapeDef shapes[] = {
		{.name = "ball",
	     .type = CAL_SHAPE_SPHERE,
	     .placement = {{0, 0, -0.05}, none},
	     .radius = 0.04,
	     .margin = 0.01,
	     .owner = 1,
	     .layers = 2,
	     .material = soft},
		{.name = "pill",
	     .type = CAL_SHAPE_CAPSULE,
	     .placement = {{-0.05, 0, 0}, {cos(right), 0, sin(right), 0}},
	     .radius = 0.03,
	     .length = 0.06,
	     .owner = 1,
	     .layers = 1,
	     .mask = 3,
	     .material = soft},
		{.name = "crate",
	     .type = CAL_SHAPE_BOX,
	     .placement = {{0, 0, 0}, none},
	     .half = {0.1, 0.1, 0.1},
	     .patch = 0.05,
	     .layers = 6,
	     .material = crate},
		{.name = "wedge",
	     .type = CAL_SHAPE_MESH,
	     .placement = {{0, 0, 0.08}, none},
	     .mesh = solid,
	     .owner = 2,
	     .material = soft},
		{.name = "ground",
	     .type = CAL_SHAPE_MESH,
	     .placement = {{0, 0, 0}, none},
	     .mesh = open,
	     .thickness = 0.3,
	     .layers = 2,
	     .material = rigid},
		{.name = "floor",
	     .type = CAL_SHAPE_PLANE,
	     .placement = {{0, 0, 0}, {cos(half_deg), sin(half_deg), 0, 0}},
	     .material = rigid},
	};
	const CalNodeId b = cal_desc_find_node(desc, "b");
	const CalNodeId nodes[] = {cal_desc_find_node(desc, "a/port"), cal_desc_find_node(desc, "a"), b, b, {0}, {0}};
	CalError error = {0};
	if (cal_sim_add_contact(sim, &(CalContactDef){.name = "touch", .shapes = shapes, .nodes = nodes, .shape_count = 6},
	                        NULL, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

static void every_key_reaches_the_library(void **state) {
	(void)state;
	char path[700];
	CalMesh *solid = NULL, *open = NULL;
	snprintf(path, sizeof path, "%.*ssolid.obj", (int)(strrchr(model_path, '/') - model_path) + 1, model_path);
	assert_int_equal(cal_mesh_read(path, (CalVec3){0.001, 0.001, 0.001}, NULL, &solid, NULL), CAL_OK);
	snprintf(path, sizeof path, "%.*sopen.obj", (int)(strrchr(model_path, '/') - model_path) + 1, model_path);
	assert_int_equal(cal_mesh_read(path, (CalVec3){0}, NULL, &open, NULL), CAL_OK);
	CalSetup *file = parsed(every_key);
	CalSim *mine = with_devices(file), *other = bare(file);
	add_in_c(other, cal_setup_desc(file), solid, open);
	double most = 0;
	for (int i = 1; i <= 8; i++) {
		run_to(mine, 0.05 * i);
		run_to(other, 0.05 * i);
		most = fmax(most, output_of(mine, 0));
	}
	assert_true(most >= 2); // pairs that touch at a time
	for (int i = 0; i < 14; i++)
		assert_true(cal_sim_state(mine, 0)->q[i] == cal_sim_state(other, 0)->q[i]);
	for (int i = 0; i < 12; i++)
		assert_true(cal_sim_state(mine, 0)->u[i] == cal_sim_state(other, 0)->u[i]);
	cal_sim_destroy(mine);
	cal_sim_destroy(other);
	cal_setup_destroy(file);
	cal_mesh_destroy(solid);
	cal_mesh_destroy(open);
}

/* Two balls of 0.2 m whose centers are 0.28 m apart. */
static void check_touching(const char *first, const char *second, int pairs) {
	char text[2000];
	snprintf(
		text, sizeof text,
		HEAD
		"  t: {type: contact, material: {modulus: 1 MPa}, shapes: [{name: p, type: sphere, node: a, radius: 20 cm%s},\n"
		"    {name: q, type: sphere, node: b, radius: 20 cm%s}]}\n",
		first, second);
	CalSetup *file = parsed(text);
	CalSim *sim = with_devices(file);
	if (output_of(sim, 0) != pairs)
		fail_msg("\"%s\" and \"%s\": %g pairs touch, expected %d", first, second, output_of(sim, 0), pairs);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

static void owners_and_layers_keep_shapes_apart(void **state) {
	(void)state;
	check_touching("", "", 1);
	check_touching(", owner: x", ", owner: y", 1);
	check_touching(", owner: x", ", owner: x", 0);
	check_touching(", layers: [one]", ", layers: [two]", 1);
	check_touching(", layers: [one], mask: [one]", ", layers: [two]", 0);
	check_touching(", layers: [one], mask: [two]", ", layers: [two], mask: [one]", 1);
	check_touching(", mask: [one]", ", layers: [one]", 1);
	check_touching(", mask: [one]", ", layers: [one], mask: [one]", 0);
	check_touching(", mask: [default]", "", 1);
}

/* A mesh that is named twice at one scale is one; the file gives all of them back (seen by the sanitizers). */
static void a_mesh_is_read_once(void **state) {
	(void)state;
	CalSetup *file =
		parsed(HEAD "  t: {type: contact, material: {stiffness: 1e4, exponent: 1}, shapes: {p: {type: mesh, node: a,\n"
	                "    mesh: solid.obj}, q: {type: mesh, node: b, mesh: solid.obj}, r: {type: mesh, node: b,\n"
	                "    mesh: solid.obj, scale: 0.5}}}\n");
	CalSim *sim = with_devices(file);
	assert_int_equal(cal_sim_device_count(sim), 1);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

/* What is written reads back, and runs to the same bits. */
static void the_writer_keeps_contacts(void **state) {
	(void)state;
	CalSetup *file = parsed(every_key);
	CalError error = {0};
	FILE *out = tmpfile();
	static char text[20000];
	assert_non_null(out);
	assert_int_equal(cal_model_file_write(file, out, &error), CAL_OK);
	rewind(out);
	text[fread(text, 1, sizeof text - 1, out)] = 0;
	fclose(out);
	CalSetup *again = parsed(text);
	CalSim *one = with_devices(file), *two = with_devices(again);
	run_to(one, 0.3);
	run_to(two, 0.3);
	for (int i = 0; i < 14; i++)
		assert_true(cal_sim_state(one, 0)->q[i] == cal_sim_state(two, 0)->q[i]);
	cal_sim_destroy(one);
	cal_sim_destroy(two);
	cal_setup_destroy(file);
	cal_setup_destroy(again);
}

/* ---- mistakes ------------------------------------------------------------------------------------------ */

static void check_refused(const char *device, CalStatus status, const char *place, const char *want) {
	char text[3000], where[800];
	CalSetup *file;
	CalError error = {0};
	snprintf(text, sizeof text, "%s%s", HEAD, device);
	snprintf(where, sizeof where, "model.yaml:%s: error: ", place);
	assert_int_equal(parse(text, &file, &error), status);
	assert_int_equal(error.status, status);
	assert_null(file);
	if (!strstr(error.text, where) || !strstr(error.text, want))
		fail_msg("got \"%s\", wanted \"%s\" and \"%s\"", error.text, where, want);
}

/* One shape with these keys beside a floor; it is on line 10. */
static void check_shape(const char *keys, const char *place, const char *want) {
	char text[1000];
	snprintf(text, sizeof text,
	         "  t:\n    type: contact\n    material: {stiffness: 1e5}\n    shapes:\n      floor: {type: plane}\n"
	         "      p: {%s}\n",
	         keys);
	check_refused(text, CAL_ERR_INPUT, place, want);
}

#define TWO "  t: {type: contact, shapes: {p: {type: sphere, node: a, radius: 1}, q: {type: plane}}"

static void mistakes_are_reported_with_their_place(void **state) {
	(void)state;
	check_refused("  t: {type: contact}\n", CAL_ERR_INPUT, "8:6", "\"shapes\" is missing");
	check_refused("  t: {type: contact, shapes: {p: {type: plane}}}\n", CAL_ERR_INPUT, "8:30",
	              "device \"t\": a contact needs two shapes at least; it has 1");
	check_refused("  t: {type: contact, shapes: 3}\n", CAL_ERR_INPUT, "8:30", "map of shapes by name");
	check_refused(TWO "}\n", CAL_ERR_INPUT, "8:3", "\"p\" and \"q\" may touch, but \"p\" has no stiffness");
	check_refused(TWO ", material: {modulus: rigid}}\n", CAL_ERR_INPUT, "8:3", "both have an infinite modulus");
	check_refused(TWO ", material: {stiffness: -5}}\n", CAL_ERR_INPUT, "8:111",
	              "the key \"stiffness\" must be greater than zero, or rigid");
	check_refused(TWO ", material: {stiffness: 5 N/m}}\n", CAL_ERR_INPUT, "8:111", "a number without unit");
	check_refused(TWO ", material: {stiffness: 5 s, exponent: 1}}\n", CAL_ERR_INPUT, "8:111", "a stiffness");
	check_refused(TWO ", material: {modulus: 0 Pa}}\n", CAL_ERR_INPUT, "8:109", "greater than zero");
	check_refused(TWO ", material: {exponent: 0.5}}\n", CAL_ERR_INPUT, "8:110", "from 1 to 4");
	check_refused(TWO ", material: {restitution: 1.5, impact_speed: 1}}\n", CAL_ERR_INPUT, "8:113", "at most 1");
	check_refused(TWO ", material: {restitution: 0.5}}\n", CAL_ERR_INPUT, "8:113", "needs the \"impact_speed\"");
	check_refused(TWO ", material: {restitution: 0.5, impact_speed: 1, dissipation: 1}}\n", CAL_ERR_INPUT, "8:113",
	              "no \"dissipation\"");
	check_refused(TWO ", material: {frictoin_dynamic: 1}}\n", CAL_ERR_INPUT, "8:100",
	              "did you mean \"friction_dynamic\"?");
	check_refused(TWO ", material: {friction_dynamic: -1}}\n", CAL_ERR_INPUT, "8:118", "must not be negative");
	check_refused("  t: {type: contact, material: {stiffness: 1}, shapes: [{name: p, type: plane, node: a},\n"
	              "    {name: p, type: sphere, radius: 1}]}\n",
	              CAL_ERR_INPUT, "8:3", "\"p\": there is another one of this name");
}

static void mistakes_of_shapes_are_reported_with_their_place(void **state) {
	(void)state;
	check_shape("type: ball", "13:17", "unknown type of shape \"ball\"");
	check_shape("type: spheer, radius: 1", "13:17", "did you mean \"sphere\"?");
	check_shape("type: sphere", "13:10", "shape \"p\": a sphere needs the key \"radius\"");
	check_shape("type: sphere, radius: 1, length: 2", "13:44", "a sphere has no \"length\"");
	check_shape("type: sphere, radius: -1", "13:33", "greater than zero");
	check_shape("type: capsule, radius: 1", "13:10", "needs the key \"length\"");
	check_shape("type: box, half: [1, 0, 1], node: a", "13:7", "shape \"p\": half.y is 0");
	check_shape("type: sphere, radius: 1, node: c", "13:42", "unknown body \"c\"");
	check_shape(
		"type: sphere, radius: 1, node: a, material: {friction_static: 0.1, friction_dynamic: 0.2, stiffness: 1}",
		"13:7", "are they exchanged?");
	check_shape("type: sphere, radius: 1, layers: one", "13:44", "names of layers");
	check_shape("type: sphere, radius: 1, layers: []", "13:44", "the list of layers is empty");
	check_shape("type: sphere, radius: 1, mask: []", "13:42", "touches nothing");
	check_shape("type: sphere, radius: 1, mask: [defualt]", "13:43",
	            "unknown layer \"defualt\"; did you mean \"default\"?");
	check_shape("type: mesh, node: a", "13:10", "needs the key \"mesh\"");
	check_shape("type: mesh, node: a, mesh: open.obj", "13:7", "is not closed");
	check_shape("type: mesh, node: a, mesh: bad.obj", "13:38", "bad.obj:1: error: a vertex needs three numbers");
	check_shape("type: mesh, node: a, mesh: solid.ply", "13:38", ".stl, .obj, .gltf and .glb");
	char words[400] = "type: sphere, radius: 1, layers: [";
	for (int i = 0; i < 32; i++)
		snprintf(words + strlen(words), sizeof words - strlen(words), "%s%d", i ? ", " : "", i + 100);
	snprintf(words + strlen(words), sizeof words - strlen(words), "]");
	check_shape(words, "13:200", "at most 32 layers");
	check_refused("  t: {type: contact, material: {stiffness: 1}, shapes: {p: {type: plane},\n"
	              "    q: {type: mesh, node: a, mesh: none.stl}}}\n",
	              CAL_ERR_IO, "9:36", "none.stl: error: the file could not be opened");
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_reaches_the_library),
		cmocka_unit_test(owners_and_layers_keep_shapes_apart),
		cmocka_unit_test(a_mesh_is_read_once),
		cmocka_unit_test(the_writer_keeps_contacts),
		cmocka_unit_test(mistakes_are_reported_with_their_place),
		cmocka_unit_test(mistakes_of_shapes_are_reported_with_their_place),
	};
	return cmocka_run_group_tests(tests, make_files, NULL);
}
