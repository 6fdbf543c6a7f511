// SPDX-License-Identifier: Apache-2.0
/*
 * test_scenario_bodies.c — bodies in files beyond the plain ones: flexible bodies that appear in a run, mass properties in
 * the frame of a node.
 */
#include "scenario_support.h"

/* ---- flexible bodies that appear ------------------------------------------------------------------------------ */

/* The same body described and added at the start: the same bits. */
static void a_flexible_body_that_appears_moves_like_a_described_one(void **state) {
	(void)state;
	static const char *const bodies[] = {
		"beam: {length: 4 m, section: {shape: tube, diameter: 50 mm, thickness: 2 mm, youngs_modulus: 70 GPa,\n"
		"  density: 2700 kg/m^3}, modes: 3, damping_ratio: 0.01}",
		"panel: {length: 2 m, width: 1 m, cells_x: 4, cells_y: 2, modes: 3, rib_x: {shape: tube, diameter: 20 mm,\n"
		"  thickness: 1 mm, youngs_modulus: 70 GPa, density: 2700 kg/m^3}}",
		"mass: 2, inertia: [1, 1, 1], com: [0.1, 0.2, 0], nodes: {p: [1, 0, 0], s: {at: [0, 1, 0], orientation: {axis: x, angle: 30 deg}}},\n"
		"  flexible: {stiffness: [8, 9, 30], damping: [0.1, 0, 0.2], nodes: {p: {mass: 2, phi: [[1, 0, 0.3], [0, 0.5, 0], [0, 0, 1]],\n"
		"  psi: [[0, 0.1, 0], [0, 0, 0.2], [0.1, 0, 0]]}, s: {mass: 3, phi: [[0, 0, 0], [0, 0.2, 0], [0, 1, 0]]}}}"};
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
		char text[4000];
		snprintf(
			text, sizeof text,
			"calder: 1\ngroups: {one: {}}\nbodies: {first: {group: one, %s}, base: {mass: 1, inertia: [1, 1, 1]}}\n"
			"joints: {f: {type: free, to: first}, g: {type: free, to: base}}\n"
			"state: {f: {at: [1, 2, 3], velocity: [0.1, 0.2, 0], angular_velocity: [0.1, 0, 0.3], eta: [0.01, 0.02, 0],\n"
			"        eta_dot: [0.1, -0.2, 0.3]}}\n"
			"events: {now: {at: 0, do: {add_body: {name: second, group: two, %s, at: [1, 2, 3], velocity: [0.1, 0.2, 0],\n"
			"  angular_velocity: [0.1, 0, 0.3], eta: [0.01, 0.02, 0], eta_dot: [0.1, -0.2, 0.3]}}}}\n" RK4,
			bodies[i], bodies[i]);
		Run r = run_text(text);
		advance(&r, 0.2);
		same_state(r.sim, cal_sim_find_group(r.sim, "one"), r.sim, cal_sim_find_group(r.sim, "two"));
		assert_true(fabs(cal_sim_state(r.sim, 0)->q[7] - 0.01) > 1e-5);
		run_end(&r);
	}
}

#define NEW_BOOM                                                                                         \
	"add_body: {name: rod, at: [4, 0, 0], beam: {length: 2 m, section: {shape: tube, diameter: 50 mm,\n" \
	"  thickness: 2 mm, youngs_modulus: 70 GPa, density: 2700 kg/m^3}, modes: 2}}"

static void a_flexible_body_that_appeared_is_used_like_any_other(void **state) {
	(void)state;
	Run r = run_text(
		FLYERS
		"events:\n"
		"  come: {at: 1 s, do: {" NEW_BOOM "}}\n"
		"  grip: {at: 2 s, do: [{attach: {name: net, from: probe, to: rod/tip, fit: to}}, {lock_modes: rod, mode: 2}]}\n"
		"  wrong: {at: 4 s, do: {lock_modes: rod, mode: 3, if_refused: ignore}}\n"
		"run: {duration: 5 s}\n");
	advance(&r, 5);
	assert_int_equal(cal_sim_group_count(r.sim), 2);
	assert_true(entry_of(&r, 1).linear_jump < 1e-12 && entry_of(&r, 2).refused == CAL_OK);
	assert_non_null(strstr(entry_of(&r, 3).why, "body \"rod\" has 2 modes"));
	run_end(&r);
}

/* ---- mass properties ------------------------------------------------------------------------------------------- */

/* Point masses: what they are about a node, by sums over them; the body must have what sums about its center give. */
static void mass_properties_about_a_node_are_those_of_the_body(void **state) {
	(void)state;
	static const double m[4] = {1, 2, 0.5, 3};
	static const double p[4][3] = {{1, 0.2, -0.3}, {-0.5, 1, 0.7}, {0.3, -1, 0.4}, {0.6, 0.1, -0.9}}; // in the node
	static const double at[3] = {0.4, -0.7, 1.1}, turn[3][3] = {{0, -1, 0}, {1, 0, 0}, {0, 0, 1}};    // 90 deg about z
	double I[3][3] = {{0}}, want[3][3] = {{0}}, com[3] = {0}, center[3] = {0}, mass = 0;
	for (int i = 0; i < 4; i++) {
		mass += m[i];
		for (int k = 0; k < 3; k++)
			com[k] += m[i] * p[i][k];
	}
	for (int k = 0; k < 3; k++)
		com[k] /= mass;
	for (int k = 0; k < 3; k++)
		center[k] = at[k] + turn[k][0] * com[0] + turn[k][1] * com[1] + turn[k][2] * com[2];
	for (int i = 0; i < 4; i++) {
		double r[3], rr = 0, pp = 0;
		for (int k = 0; k < 3; k++) {
			r[k] = at[k] + turn[k][0] * p[i][0] + turn[k][1] * p[i][1] + turn[k][2] * p[i][2] - center[k];
			rr += r[k] * r[k];
			pp += p[i][k] * p[i][k];
		}
		for (int k = 0; k < 9; k++) {
			I[k / 3][k % 3] += m[i] * ((k / 3 == k % 3 ? pp : 0) - p[i][k / 3] * p[i][k % 3]);
			want[k / 3][k % 3] += m[i] * ((k / 3 == k % 3 ? rr : 0) - r[k / 3] * r[k % 3]);
		}
	}
	char text[1000];
	snprintf(text, sizeof text,
	         "calder: 1\nbodies: {a: {mass: %.17g, com: [%.17g, %.17g, %.17g], mass_node: n,\n"
	         "  inertia: {xx: %.17g, yy: %.17g, zz: %.17g, xy: %.17g, xz: %.17g, yz: %.17g},\n"
	         "  nodes: {o: [9, 9, 9], n: {at: [0.4, -0.7, 1.1], orientation: {axis: z, angle: 90 deg}}}}}\n"
	         "joints: {f: {type: free, to: a}}\n",
	         mass, com[0], com[1], com[2], I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]);
	CalSetup *file = file_of(text);
	const CalBodyDef *body = cal_desc_body(cal_setup_desc(file), (CalBodyId){1});
	for (int k = 0; k < 3; k++)
		assert_near((&body->com.x)[k], center[k], 1e-14);
	for (int k = 0; k < 9; k++)
		assert_near(body->inertia.m[k / 3][k % 3], want[k / 3][k % 3], 1e-14);
	cal_setup_destroy(file);
	// head is the body's own frame: about its origin instead of the center of mass
	file = file_of("calder: 1\nbodies: {a: {mass: 2, com: [3, 0, 0], inertia: [1, 21, 22], mass_node: head}}\n"
	               "joints: {f: {type: free, to: a}}\n");
	body = cal_desc_body(cal_setup_desc(file), (CalBodyId){1});
	assert_near(body->inertia.m[0][0], 1, 0);
	assert_near(body->inertia.m[1][1], 21 - 18, 1e-15);
	assert_near(body->inertia.m[2][2], 22 - 18, 1e-15);
	cal_setup_destroy(file);
	CalBodyDef bad = {.name = "a", .mass = NAN};
	assert_int_equal(cal_body_def_from_node(&bad, cal_node_def().placement), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_body_def_from_node(NULL, cal_node_def().placement), CAL_ERR_ARGUMENT);
}

/* ---- mistakes -------------------------------------------------------------------------------------------------- */

static void mistakes_are_reported_with_their_place(void **state) {
	(void)state;
#define EVENT(action) FLYERS "events: {e: {at: 1 s, do: {" action "}}}\nrun: {duration: 2 s}\n"
#define BODY(keys) "calder: 1\nbodies: {a: {" keys "}}\njoints: {f: {type: free, to: a}}\n"
	static const struct {
		const char *text, *want;
	} cases[] = {
		{BODY("mass: 1, inertia: [1, 1, 1], mass_node: p, nodes: {q: [1, 0, 0]}"), "unknown node of this body \"p\""},
		{BODY("mass: 1, box: [1, 1, 1], mass_node: head"), "a shape is placed in the body frame"},
		{EVENT("add_body: {name: n, mass: 1, box: [1, 1, 1], eta: [1]}"), "the body is rigid; remove \"eta\""},
		{EVENT("add_body: {name: n, mass: 1, beam: {length: 2 m}}"), "the beam gives this body its mass"},
		{EVENT("add_body: {name: n, mass: 1, box: [1, 1, 1], nodes: {p: [1, 0, 0]}, eta: [1],\n"
	           "  flexible: {stiffness: [1, 2], nodes: {p: {mass: 1, phi: [[1, 0], [0, 1], [0, 0]]}}}}"),
	     "\"eta\" takes 2 numbers"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_error(cases[i].text, cases[i].want);
	// what only the whole says: the tip is a node of a new beam, this is none
	Run r = {.file = file_of(FLYERS "events: {come: {at: 1 s, do: {" NEW_BOOM "}},\n"
	                                "  grip: {at: 2 s, do: {attach: {from: probe, to: rod/tipp, fit: to}}}}\n"
	                                "run: {duration: 5 s}\n")};
	const CalSimOptions options = {.method = cal_setup_run(r.file).method};
	assert_int_equal(cal_sim_create(cal_setup_desc(r.file), &options, &r.sim, &r.error), CAL_OK);
	assert_int_equal(cal_scenario_create(r.file, r.sim, &r.scenario, &r.error), CAL_ERR_MODEL);
	if (!strstr(r.error.text, "unknown node \"rod/tipp\""))
		fail_msg("%s", r.error.text);
	run_end(&r);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flexible_body_that_appears_moves_like_a_described_one),
		cmocka_unit_test(a_flexible_body_that_appeared_is_used_like_any_other),
		cmocka_unit_test(mass_properties_about_a_node_are_those_of_the_body),
		cmocka_unit_test(mistakes_are_reported_with_their_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
