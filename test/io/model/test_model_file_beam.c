// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_beam.c — beams and panels in files: the same bodies as cal_beam_add() and cal_panel_add() make, to
 * the last bit, for every key; and what is refused, with its place.
 */
#include "support/interpose.h"

#include "model_file_flex_support.h"

/* ---- the same bodies --------------------------------------------------------------------------- */

/** A file with the body "b" and one joint that carries it. */
static CalSetup *body_file(const char *keys) {
	char text[4000];
	snprintf(text, sizeof text, "calder: 1\nbodies:\n  b: {%s}\njoints: {j: {type: revolute, to: b/root}}\n", keys);
	return file_of(text);
}

static void expect_beam(const char *keys, const CalBeamDef *def, double tolerance) {
	CalDesc *desc;
	CalError error = {0};
	CalBeamDef named = *def;
	CalSetup *file = body_file(keys);
	named.name = "b";
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	if (cal_beam_add(desc, &named, NULL, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_same_body(cal_setup_desc(file), desc, "b", tolerance);
	cal_desc_destroy(desc);
	cal_setup_destroy(file);
}

static void expect_panel(const char *keys, const CalPanelDef *def, double tolerance) {
	CalDesc *desc;
	CalError error = {0};
	CalPanelDef named = *def;
	CalSetup *file = body_file(keys);
	named.name = "b";
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	if (cal_panel_add(desc, &named, NULL, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_same_body(cal_setup_desc(file), desc, "b", tolerance);
	cal_desc_destroy(desc);
	cal_setup_destroy(file);
}

static const CalSection circle = {
	.shape = CAL_SECTION_CIRCLE, .height = 0.25, .youngs_modulus = 7e10, .poissons_ratio = 0.3, .density = 2700};
#define CIRCLE "{shape: circle, diameter: 0.25, youngs_modulus: 7e10, density: 2700}"

static void a_beam_with_all_defaults(void **state) {
	(void)state;
	CalBeamDef def = cal_beam_def();
	def.length = 2;
	def.root = circle;
	expect_beam("beam: {length: 2, section: " CIRCLE "}", &def, 0);
}

/* The same with units, which convert to within a rounding. */
static void beams_have_units(void **state) {
	(void)state;
	CalBeamDef def = cal_beam_def();
	def.length = 2;
	def.root = circle;
	def.choice.bound = 600;
	expect_beam(
		"beam: {length: 200 cm, section: {shape: circle, diameter: 250 mm, youngs_modulus: 70 GPa, density: 2.7 g/cm^3}, "
		"frequency_bound: 600 rad/s}",
		&def, 1e-11);
}

static void a_tapered_beam_with_everything(void **state) {
	(void)state;
	const CalBeamMass masses[] = {{1.5, 2, {{{0.1, 0.01, 0}, {0.01, 0.2, 0}, {0, 0, 0.3}}}}, {0.7, 1, {{{0}}}}};
	CalBeamDef def = cal_beam_def();
	def.length = 1.5;
	def.root = (CalSection){.shape = CAL_SECTION_TUBE,
	                        .height = 0.2,
	                        .thickness = 0.02,
	                        .youngs_modulus = 2e11,
	                        .poissons_ratio = 0.25,
	                        .density = 7800};
	def.tip = def.root;
	def.tip.height = 0.125;
	def.tip.thickness = 0.01;
	def.tapered = def.timoshenko = def.second_order = 1;
	def.deformation = CAL_BEAM_ALL;
	def.elements = 5;
	def.order = 4;
	def.mass_count = 2;
	def.masses = masses;
	def.choice.modes = 7;
	def.choice.damping_ratio = 0.02;
	def.choice.bound = 5000;
	expect_beam("beam: {length: 1.5, section: {shape: tube, diameter: 0.2, thickness: 0.02, youngs_modulus: 2e11, "
	            "poissons_ratio: 0.25, density: 7800}, tip_section: {shape: tube, diameter: 0.125, thickness: 0.01, "
	            "youngs_modulus: 2e11, poissons_ratio: 0.25, density: 7800}, timoshenko: true, second_order: yes, "
	            "deformation: all, elements: 5, order: 4, modes: 7, damping_ratio: 0.02, frequency_bound: 5000, "
	            "masses: [{x: 1.5, mass: 2, inertia: {xx: 0.1, yy: 0.2, zz: 0.3, xy: 0.01}}, {x: 0.7, mass: 1}]}",
	            &def, 0);
}

static void boundaries_and_choices_of_modes(void **state) {
	(void)state;
	CalBeamDef def = cal_beam_def();
	def.length = 2;
	def.root = (CalSection){.shape = CAL_SECTION_BOX,
	                        .width = 0.05,
	                        .height = 0.1,
	                        .thickness = 0.004,
	                        .youngs_modulus = 7e10,
	                        .poissons_ratio = 0.3,
	                        .density = 2700};
#define BOX "{shape: box, width: 0.05, height: 0.1, thickness: 0.004, youngs_modulus: 7e10, density: 2700}"
	def.choice = (CalFlexChoice){.boundary = CAL_FLEX_PINNED, .attached = 1, .modes = 3};
	expect_beam("beam: {length: 2, section: " BOX ", boundary: pinned, attached: true, modes: 3}", &def, 0);
	def.choice = (CalFlexChoice){.boundary = CAL_FLEX_FREE, .max_frequency = 2000}; // no number: all up to it
	expect_beam("beam: {length: 2, section: " BOX ", boundary: free, max_frequency: 2000}", &def, 0);
	def.choice = (CalFlexChoice){.boundary = CAL_FLEX_CLAMPED, .max_frequency = 2000, .modes = 2};
	expect_beam("beam: {length: 2, section: " BOX ", modes: 2, max_frequency: 2000 rad/s}", &def, 0);
	def.choice = (CalFlexChoice){.boundary = CAL_FLEX_CRAIG_BAMPTON};
	expect_beam("beam: {length: 2, section: " BOX ", boundary: craig-bampton, modes: 0}", &def, 0);
}

static void sections_given_directly(void **state) {
	(void)state;
	CalBeamDef def = cal_beam_def();
	def.length = 3;
	def.root = (CalSection){.EA = 1e6,
	                        .GJ = 200,
	                        .EIy = 300,
	                        .EIz = 400,
	                        .kGAy = 1e5,
	                        .kGAz = 2e5,
	                        .rhoA = 0.5,
	                        .rhoIy = 1e-3,
	                        .rhoIz = 2e-3,
	                        .poissons_ratio = 0.3};
	def.timoshenko = 1;
	def.deformation = CAL_BEAM_BEND_Y | CAL_BEAM_TORSION | CAL_BEAM_AXIAL;
	expect_beam(
		"beam: {length: 3, section: {EA: 1e6 N, GJ: 200 N*m^2, EIy: 300, EIz: 400, kGAy: 1e5, kGAz: 2e5, rhoA: 0.5 kg/m, "
		"rhoIy: 1e-3 kg*m, rhoIz: 2e-3}, timoshenko: true, deformation: [bend_y, torsion, axial]}",
		&def, 0);
	def.deformation = CAL_BEAM_BEND_Z;
	def.root.shape = CAL_SECTION_DIRECT;
	expect_beam(
		"beam: {length: 3, section: {shape: direct, EA: 1e6 N, GJ: 200 N*m^2, EIy: 300, EIz: 400, kGAy: 1e5, kGAz: 2e5, "
		"rhoA: 0.5 kg/m, rhoIy: 1e-3 kg*m, rhoIz: 2e-3}, timoshenko: true, deformation: bend_z}",
		&def, 0);
}

static void panels_of_every_kind(void **state) {
	(void)state;
	CalPanelDef def = cal_panel_def();
	def.length = 3;
	def.width = 1;
	def.rib_x = def.rib_y = circle;
	expect_panel("panel: {length: 3, width: 1, rib_x: " CIRCLE "}", &def, 0);
	def.cells_x = 3;
	def.cells_y = 2;
	def.rib_y.height = 0.125;
	def.cover_mass = 4;
	def.hinge_count = 2;
	def.hinges[1] = 2;
	def.in_plane = 1;
	def.choice = (CalFlexChoice){.modes = 5, .damping_ratio = 0.01, .bound = 1e4};
	expect_panel("panel: {length: 3, width: 1, cells_x: 3, cells_y: 2, rib_x: " CIRCLE
	             ", rib_y: {shape: circle, diameter: 0.125, youngs_modulus: 7e10, density: 2700}, cover_mass: 4 kg, "
	             "hinges: [0, 2], in_plane: true, modes: 5, damping_ratio: 0.01, frequency_bound: 1e4}",
	             &def, 0);
	def.hinge_count = def.in_plane = 0;
	def.choice = (CalFlexChoice){.boundary = CAL_FLEX_FREE, .attached = 1, .modes = 3};
	expect_panel("panel: {length: 3, width: 1, cells_x: 3, cells_y: 2, rib_x: " CIRCLE
	             ", rib_y: {shape: circle, diameter: 0.125, youngs_modulus: 7e10, density: 2700}, cover_mass: 4 kg, "
	             "boundary: free, attached: true, modes: 3}",
	             &def, 0);
	def.choice = (CalFlexChoice){.boundary = CAL_FLEX_CRAIG_BAMPTON, .max_frequency = 1e4};
	expect_panel("panel: {length: 3, width: 1, cells_x: 3, cells_y: 2, rib_x: " CIRCLE
	             ", rib_y: {shape: circle, diameter: 0.125, youngs_modulus: 7e10, density: 2700}, cover_mass: 4 kg, "
	             "boundary: craig-bampton, max_frequency: 1e4 rad/s}",
	             &def, 0);
}

/* Joints, state, loads and signals see the nodes and modes; a group may be chosen. */
static void the_rest_of_the_file_sees_them(void **state) {
	(void)state;
	CalState at;
	CalError error = {0};
	CalSetup *file = file_of("calder: 1\ngroups: {far: {}}\nbodies:\n"
	                         "  a: {beam: {length: 2, section: " CIRCLE ", modes: 2}}\n"
	                         "  p: {panel: {length: 1, width: 1, rib_x: " CIRCLE ", modes: 3}}\n"
	                         "  c: {group: far, beam: {length: 1, section: " CIRCLE "}}\n"
	                         "joints:\n"
	                         "  j: {type: revolute, to: a/n3}\n"
	                         "  k: {type: weld, from: a/tip, to: p/n_0_2}\n"
	                         "  l: {type: weld, to: c}\n"
	                         "state: {j: {eta: [0.1, 0.2]}, k: {eta_dot: [1, 2, 3]}, l: {eta: [1, 2, 3, 4]}}\n"
	                         "loads: [{node: p/tip, force: [1, 0, 0]}, {body: p, mode: 3, effort: 2}]\n"
	                         "run: {duration: 1, output: {signals: ['node:a/n1', 'q:k']}}\n");
	CalModel *model = model_of(file, NULL), *other = model_of(file, "far");
	assert_int_equal(cal_model_body_count(model), 2);
	assert_int_equal(cal_model_u_count(model), 1 + 2 + 3);
	assert_int_equal(cal_model_u_count(other), 4);
	assert_int_equal(cal_state_create(model, &at), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, model, &at, &error), CAL_OK);
	const double q[] = {0, 0.1, 0.2, 0, 0, 0}, u[] = {0, 0, 0, 1, 2, 3};
	assert_same("q", at.q, q, 6, 0);
	assert_same("u", at.u, u, 6, 0);
	cal_state_destroy(&at);
	cal_model_destroy(model);
	cal_model_destroy(other);
	cal_setup_destroy(file);
}

/* ---- mistakes ------------------------------------------------------------------------------------- */

#define LONG(keys) "{length: 2, section: " CIRCLE ", " keys "}"
#define WIDE(keys) "{length: 1, width: 1, rib_x: " CIRCLE ", " keys "}"

static void mistakes_in_beams(void **state) {
	(void)state;
	static const Mistake rows[] = {
		{"{section: " CIRCLE "}", "{", {"body \"b\"", "the key \"length\" is missing (see \"beam\""}},
		{"{length: 2}", "{", {"the key \"section\" is missing"}},
		{"37", "37", {"expected a map (see \"beam\""}},
		{"{lenght: 2, section: " CIRCLE "}", "lenght", {"unknown key \"lenght\"", "did you mean \"length\"?"}},
		{"{length: -2, section: " CIRCLE "}", "-2", {"\"length\" must be greater than zero"}},
		{"{length: 2 kg, section: " CIRCLE "}", "2 kg", {"wrong unit", "a length"}},
		{LONG("order: 2.5"), "2.5", {"\"order\" must be a whole number from 3 to 9"}},
		{LONG("order: 99"), "99", {"\"order\" must be a whole number from 3 to 9"}},
		{LONG("elements: 0.0"), "0.0", {"\"elements\" must be a whole number from 1 to 400"}},
		{LONG("elements: 1 m"), "1 m", {"a number without unit"}},
		{LONG("modes: -1"), "-1", {"\"modes\" must be a whole number from 0 to 1000"}},
		{LONG("modes: 0.0"), "0.0", {"would be rigid", "\"max_frequency\""}},
		{LONG("modes: 900"), "b: {", {"beam \"b\"", "fewer modes than asked for"}},
		{LONG("max_frequency: 1"), "b: {", {"beam \"b\"", "no mode is below max_frequency"}},
		{LONG("max_frequency: 3 m"), "3 m", {"an angular speed"}},
		{LONG("damping_ratio: -0.1"), "-0.1", {"must not be negative"}},
		{LONG("tip_mass: 3"), "tip_mass", {"did you mean \"masses\"?"}},
		{LONG("boundary: clampd"), "clampd", {"unknown boundary \"clampd\"", "\"clamped\""}},
		{LONG("boundary: glued"), "glued", {"one of clamped, pinned, free, craig-bampton"}},
		{LONG("deformation: []"), "[]", {"\"deformation\" is empty"}},
		{LONG("deformation: [bend_y, bendz]"), "bendz", {"unknown deformation \"bendz\"", "\"bend_z\""}},
		{LONG("timoshenko: maybe"), "maybe", {"true or false"}},
		{LONG("masses: 33"), "33", {"list of masses on the beam"}},
		{LONG("masses: [{mass: 3}]"), "{mass", {"\"x\" is missing (see \"beam_mass\""}},
		{LONG("masses: [{x: 3.5, mass: 3}]"), "3.5", {"x = 3.5 m is not on the beam, 0 to 2 m"}},
		{LONG("masses: [{x: 1, mass: -3}]"), "-3", {"must not be negative"}},
		{LONG("masses: [{x: 1, inertia: 33}]"), "33", {"an inertia is [xx, yy, zz]"}},
		{LONG("tip_section: {EIy: 3}"), "b: {", {"beam \"b\"", "different shapes"}},
	};
	REFUSE_ALL("calder: 1\nbodies:\n  b: {beam: %s}\n", rows);
}

static void mistakes_in_sections(void **state) {
	(void)state;
	static const Mistake rows[] = {
		{"{shape: circle, diameter: 0.1, density: 1}", "{", {"shape \"circle\" needs the key \"youngs_modulus\""}},
		{"{shape: tube, diameter: 0.1, density: 1}", "{", {"shape \"tube\" needs the key \"thickness\""}},
		{"{shape: circel, diameter: 0.1}", "circel", {"unknown shape of a section \"circel\"", "\"circle\""}},
		{"{shape: 17, diameter: 0.1}", "17", {"write one of direct, circle, tube, box"}},
		{"{diameter: 0.1}", "0.1", {"a section of the shape \"direct\" has no \"diameter\""}},
		{"{shape: box, diameter: 0.1}", "0.1", {"a section of the shape \"box\" has no \"diameter\""}},
		{"{shape: circle, diameter: 1, youngs_modulus: 1, density: 1, EIy: 3}", "3}", {"has no \"EIy\""}},
		{"{E: 3}", "E", {"unknown key \"E\""}},
		{"{nu: 3}", "nu", {"unknown key \"nu\"", "\"poissons_ratio\""}},
		{"{EIy: 3 N}", "3 N", {"wrong unit", "a bending or torsional stiffness", "N*m^2"}},
		{"{rhoA: -1}", "-1", {"\"rhoA\" must not be negative"}},
		{"{shape: box, width: 1, height: 1, youngs_modulus: 1, density: 1, poissons_ratio: 2}",
	     "b: {",
	     {"beam \"b\"", "poissons_ratio must be in"}},
		{"{shape: tube, diameter: 0.1, thickness: 0.06, youngs_modulus: 1 GPa, density: 1}",
	     "b: {",
	     {"beam \"b\"", "the wall is thicker than half"}},
		{"{EIy: 1, rhoA: 1}", "b: {", {"beam \"b\"", "bending along y needs EIz > 0"}},
	};
	REFUSE_ALL("calder: 1\nbodies:\n  b: {beam: {length: 1, section: %s}}\n", rows);
}

static void mistakes_in_panels(void **state) {
	(void)state;
	static const Mistake rows[] = {
		{"{width: 1, rib_x: " CIRCLE "}", "{", {"\"length\" is missing (see \"panel\""}},
		{"{length: 1, rib_x: " CIRCLE "}", "{", {"\"width\" is missing"}},
		{"{length: 1, width: 1, rib_y: " CIRCLE "}", "{", {"\"rib_x\" is missing"}},
		{"{length: 1, width: 1, ribx: " CIRCLE "}", "ribx", {"did you mean \"rib_x\"?"}},
		{WIDE("cells_x: 0.0"), "0.0", {"\"cells_x\" must be a whole number from 1"}},
		{WIDE("cells_x: 100, cells_y: 10"), "b: {", {"panel \"b\"", "at most 400 grid points"}},
		{WIDE("hinges: 33"), "33", {"rows of the grid"}},
		{WIDE("hinges: [0, 5]"), "5]", {"\"hinges\" must be a whole number from 0 to 4"}},
		{WIDE("hinges: [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]"), "[0", {"at most 16 hinges"}},
		{WIDE("boundary: pinned"), "b: {", {"panel \"b\"", "cannot be pinned"}},
		{WIDE("cells_y: 3, boundary: free"), "b: {", {"make cells_y even"}},
		{WIDE("cover_mass: -1"), "-1", {"must not be negative"}},
		{"{length: 1, width: 1, rib_x: {GJ: 3, EIz: 3, rhoA: 1}}", "b: {", {"panel \"b\"", "has no stiffness"}},
	};
	REFUSE_ALL("calder: 1\nbodies:\n  b: {panel: %s}\n", rows);
}

#define BEAM "beam: {length: 1, section: " CIRCLE "}"

static void mistakes_beside_them(void **state) {
	(void)state;
	static const Mistake rows[] = {
		{"  b: {mass: 33, " BEAM "}", "33", {"the beam gives this body its mass", "remove \"mass\""}},
		{"  b: {nodes: {t: [1, 0, 0]}, " BEAM "}", "{t", {"remove \"nodes\"", "root, tip"}},
		{"  b: {panel: {}, " BEAM "}", "{}", {"remove \"panel\""}},
		{"  b: {flexible: {}, " BEAM "}", "{}", {"remove \"flexible\""}},
		{"  b: {group: nowhere, " BEAM "}", "nowhere", {"unknown group \"nowhere\""}},
		{"  b: {panl: {}}", "panl", {"did you mean \"panel\"?"}},
		{"  - {name: a, mass: 1}\n  - {name: a, " BEAM "}", "{name: a, beam", {"body \"a\"", "already in use"}},
		{"  b: {" BEAM "}\njoints: {j: {type: weld, to: b/n9}}",
	     "b/n9",
	     {"\"b\" has no node \"n9\"", "did you mean \"n1\"?"}},
		{"  b: {" BEAM "}\njoints: {j: {type: weld, to: b/tipp}}", "b/tipp", {"did you mean \"tip\"?"}},
		{"  b: {" BEAM "}\njoints: {j: {type: weld, to: b/tip}}\nstate: {j: {eta: [1, 2]}}",
	     "[1, 2]",
	     {"takes 4 numbers"}},
		{"  b: {" BEAM "}\njoints: {j: {type: weld, to: b/tip}}\nstate: {b: {eta: [1, 2]}}",
	     "b: {eta",
	     {"\"b\" is a body", "names of joints"}},
	};
	REFUSE_ALL("calder: 1\nbodies:\n%s\n", rows);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

static void every_malloc_may_fail(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	static const char *const text =
		"calder: 1\nbodies:\n"
		"  b: {beam: {length: 1, section: " CIRCLE
		", elements: 1, modes: 1, damping_ratio: 0.1, masses: [{x: 1, mass: 1}]}}\n"
		"  p: {panel: {length: 1, width: 1, cells_x: 1, cells_y: 1, rib_x: " CIRCLE ", modes: 1}}\n"
		"joints: {j: {type: weld, to: b}, k: {type: weld, to: p}}\nloads: [{body: b, effort: 1}]\n";
	long failures = 0;
	for (long k = 1;; k++) {
		CalSetup *file = NULL;
		CalError error = {0};
		interpose_begin(k);
		const CalStatus status = cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error);
		cal_setup_destroy(file);
		const Interpose seen = interpose_end();
		assert_int_equal(seen.live, 0);
		if (seen.calls < k) {
			assert_int_equal(status, CAL_OK);
			break;
		}
		if (status != CAL_OK) {
			failures++;
			assert_int_equal(status, CAL_ERR_MEMORY);
			assert_non_null(strstr(error.text, "out of memory"));
		}
	}
	assert_true(failures > 20);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_beam_with_all_defaults),       cmocka_unit_test(beams_have_units),
		cmocka_unit_test(a_tapered_beam_with_everything), cmocka_unit_test(boundaries_and_choices_of_modes),
		cmocka_unit_test(sections_given_directly),        cmocka_unit_test(panels_of_every_kind),
		cmocka_unit_test(the_rest_of_the_file_sees_them), cmocka_unit_test(mistakes_in_beams),
		cmocka_unit_test(mistakes_in_sections),           cmocka_unit_test(mistakes_in_panels),
		cmocka_unit_test(mistakes_beside_them),           cmocka_unit_test(every_malloc_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
