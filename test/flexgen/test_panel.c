// SPDX-License-Identifier: Apache-2.0
/*
 * test_panel.c — the panel generator against beams, rods and itself.
 *
 * Ribs that bend alike are one beam, so a lattice has beam frequencies among its own; mass properties are those of
 * its rods and its cover; condensed masses must give back the modes that they were condensed from.
 */
#include <math.h>
#include <string.h>

#include "support/check.h"

#include <calder/calder.h>

#include "built.h"
#include "built_memory.h"

static Built build(const CalPanelDef *def) {
	Built b = {0};
	CalError error = {0};
	assert_int_equal(cal_desc_create(NULL, &b.desc), CAL_OK);
	built_check(cal_panel_add(b.desc, def, &b.body, &error), &error);
	built_report(&b);
	return b;
}

static void check_number(const char *what, double got, double want, double tolerance) {
	check_close(0, what, 1, &got, &want, tolerance);
}

static CalPanelDef panel(CalFlexBoundary boundary, int modes) {
	CalPanelDef def = cal_panel_def();
	def.name = "wing";
	def.length = 3;
	def.width = 2;
	def.rib_x = (CalSection){.EA = 4e5, .GJ = 90, .EIy = 120, .EIz = 200, .rhoA = 0.8, .rhoIy = 1e-3, .rhoIz = 2e-3};
	def.rib_y = (CalSection){.EA = 3e5, .GJ = 60, .EIy = 80, .EIz = 150, .rhoA = 0.5, .rhoIy = 2e-3, .rhoIz = 3e-3};
	def.cover_mass = 5;
	def.choice.boundary = boundary;
	def.choice.modes = modes;
	return def;
}

/** Cross ribs without mass: the first mode is that of each lengthwise rib alone. */
static void ribs_bend_as_one_beam(void **state) {
	(void)state;
	CalPanelDef def = panel(CAL_FLEX_CLAMPED, 6);
	def.cells_x = 12;
	def.cover_mass = 0;
	def.rib_y.rhoA = 0;
	Built b = build(&def);
	double unit = sqrt(120 / 0.8) / 9;
	check_number("clamped", b.modes[0].frequency, 3.516015268 * unit, 1e-6);
	check_number("effective mass", b.modes[0].effective_mass[2], 0.613076 * 5 * 0.8 * 3, 1e-5);
	release(&b);
	def.choice.boundary = CAL_FLEX_FREE;
	def.choice.modes = 20;
	b = build(&def);
	double nearest = 1;
	for (int k = 0; k < 20; k++) {
		nearest = fmin(nearest, fabs(b.modes[k].frequency / (22.37328545 * unit) - 1));
	}
	assert_true(nearest < 3e-5); // cubic elements: (4.73/12)^4/1440
	release(&b);
}

/** In the plane the ribs stretch: cross ribs without mass leave the rod's frequency. */
static void ribs_stretch_as_one_rod(void **state) {
	(void)state;
	CalPanelDef def = panel(CAL_FLEX_CLAMPED, 30);
	def.cells_x = 12;
	def.cells_y = 2;
	def.cover_mass = 0;
	def.rib_y.rhoA = 0;
	def.in_plane = 1;
	Built b = build(&def);
	double want = 1.5707963267948966 / 3 * sqrt(4e5 / 0.8), nearest = 1;
	for (int k = 0; k < 30; k++) {
		nearest = fmin(nearest, fabs(b.modes[k].frequency / want - 1));
	}
	assert_true(nearest < 1e-3); // linear elements: (pi/2/12)^2/24
	release(&b);
}

/** Sum of rods and a plate, about the body frame. */
static void mass_is_that_of_ribs_and_cover(void **state) {
	(void)state;
	CalPanelDef def = panel(CAL_FLEX_CLAMPED, 4);
	Built b = build(&def);
	double along = 0.8 * 3, across = 0.5 * 2, mass = 5 * along + 7 * across + 5;
	double Jx = 5 * (2.0 * 2 / 12), Jy = 5 * (9.0 / 3), xm = 5 * along * 1.5 + 7 * across * 1.5 + 5 * 1.5;
	for (int j = 0; j < 5; j++) {
		double y = -1 + 0.5 * j;
		Jx += along * y * y + 3 * 3e-3;
		Jy += along * 9 / 3 + 3 * 1e-3;
	}
	for (int i = 0; i < 7; i++) {
		double x = 0.5 * i;
		Jx += across * 4 / 12 + 2 * 2e-3;
		Jy += across * x * x + 2 * 5e-3;
	}
	check_number("mass", b.report.mass, mass, 1e-13);
	check_number("center", b.report.com.x, xm / mass, 1e-13);
	assert_true(fabs(b.report.com.y) < 1e-13 && fabs(b.report.com.z) < 1e-13);
	check_number("Jx", b.report.total_inertia[0], Jx, 1e-13);
	check_number("Jy", b.report.total_inertia[1], Jy, 1e-13);
	// Jz = Jx + Jy for all that is flat, which the sections are not
	double sections_z = 15 * 2e-3 + 14 * 3e-3, sections_xy = 15 * (3e-3 + 1e-3) + 14 * (2e-3 + 5e-3);
	check_number("Jz", b.report.total_inertia[2], Jx + Jy - sections_xy + sections_z, 1e-13);
	release(&b);
}

/** The condensed masses reproduce the modal masses of the lattice: K and M_ee give its frequencies, uncoupled. */
static void few_masses_keep_the_modes(void **state) {
	(void)state;
	for (int in_plane = 0; in_plane < 2; in_plane++) {
		CalPanelDef def = panel(CAL_FLEX_CLAMPED, 7);
		def.in_plane = in_plane;
		Built b = build(&def);
		int masses = 0;
		for (int i = 0; i < b.flex->node_count; i++) {
			masses += b.flex->nodes[i].mass > 0;
		}
		assert_true(masses <= 4 + 3 * 7);
		assert_true(b.report.coupling < 1e-11);
		for (int k = 0; k < 7; k++) {
			check_number("frequency", b.modes[k].frequency, sqrt(b.flex->stiffness[8 * k]), 1e-12);
		}
		release(&b);
	}
}

static void free_panel_carries_no_momentum(void **state) {
	(void)state;
	for (int attached = 0; attached < 2; attached++) {
		CalPanelDef def = panel(CAL_FLEX_FREE, 8);
		def.in_plane = 1;
		def.choice.attached = attached;
		// The sections' rotary inertia stays with B: only without it both views are of the same body.
		def.rib_x.rhoIy = def.rib_x.rhoIz = def.rib_y.rhoIy = def.rib_y.rhoIz = 0;
		Built b = build(&def);
		for (int k = 0; k < 8; k++) {
			double lattice = sqrt(b.flex->stiffness[9 * k]);
			check_number("free frequency", b.modes[k].free_frequency, lattice, 1e-8);
			assert_true(attached || fabs(b.modes[k].frequency / lattice - 1) < 1e-11);
		}
		assert_true(attached ? b.report.rigid_content > 0.1 : b.report.rigid_content < 1e-18);
		CalNodeId root = cal_desc_find_node(b.desc, "wing/root");
		for (int i = 0; i < b.flex->node_count; i++) {
			const CalFlexNode *n = &b.flex->nodes[i];
			assert_true(n->node.value != root.value || (n->phi == NULL) == (attached != 0));
		}
		release(&b);
	}
}

static void hinge_points_are_softer_than_the_edge(void **state) {
	(void)state;
	CalPanelDef def = panel(CAL_FLEX_CLAMPED, 2);
	Built edge = build(&def);
	def.hinge_count = 2;
	def.hinges[0] = 1;
	def.hinges[1] = 3;
	Built hinged = build(&def);
	assert_true(hinged.modes[0].frequency < 0.98 * edge.modes[0].frequency);
	assert_true(hinged.modes[0].frequency > 0.3 * edge.modes[0].frequency);
	for (int i = 0; i < hinged.flex->node_count; i++) {
		const CalFlexNode *n = &hinged.flex->nodes[i];
		const char *name = desc_node(hinged.desc, n->node)->def.name;
		int held = !strcmp(name, "n_0_1") || !strcmp(name, "n_0_3") || !strcmp(name, "root");
		int grid = !strncmp(name, "n_", 2) || !strcmp(name, "root") || !strcmp(name, "tip");
		assert_true(!grid || held == (n->phi == NULL && n->psi == NULL));
	}
	release(&edge);
	release(&hinged);
}

static void craig_bampton_finds_the_clamped_modes(void **state) {
	(void)state;
	CalPanelDef def = panel(CAL_FLEX_CLAMPED, 2);
	Built clamped = build(&def);
	def.choice.boundary = CAL_FLEX_CRAIG_BAMPTON;
	def.choice.modes = 20;
	Built b = build(&def);
	assert_int_equal(b.report.modes, 23); // deflection and two slopes of the tip
	check_number("first", b.modes[0].frequency, clamped.modes[0].frequency, 1e-4);
	check_number("second", b.modes[1].frequency, clamped.modes[1].frequency, 1e-4);
	release(&clamped);
	release(&b);
}

static void refused(const CalPanelDef *def, const char *says) {
	CalDesc *desc;
	CalError error = {0};
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	check_status(0, cal_panel_add(desc, def, NULL, &error), CAL_ERR_MODEL);
	if (!strstr(error.text, says)) {
		print_error("\"%s\" does not say \"%s\"\n", error.text, says);
		fail();
	}
	assert_int_equal(cal_desc_body_count(desc), 0);
	cal_desc_destroy(desc);
}

static void wrong_panels_are_refused(void **state) {
	(void)state;
	const CalPanelDef good = panel(CAL_FLEX_CLAMPED, 3);
	CalPanelDef def = good;
	def.place = "sat.yaml:3:1";
	def.width = -1;
	refused(&def, "sat.yaml:3:1: panel \"wing\": length and width");
	def = good;
	def.choice.boundary = CAL_FLEX_PINNED;
	refused(&def, "revolute");
	def = good;
	def.choice.boundary = CAL_FLEX_FREE;
	def.cells_y = 3;
	refused(&def, "even");
	def = good;
	def.hinge_count = 1;
	def.hinges[0] = 9;
	refused(&def, "not on the edge");
	def = good;
	def.rib_x.EIy = def.rib_x.GJ = def.rib_y.EIy = def.rib_y.GJ = 0;
	refused(&def, "no stiffness");
	def = good;
	def.choice.modes = 500;
	refused(&def, "ask for fewer");
}

static CalStatus add_panel(CalDesc *desc, const void *def, CalError *error) {
	return cal_panel_add(desc, (const CalPanelDef *)def, NULL, error);
}

static void running_out_of_memory_is_reported(void **state) {
	(void)state;
	if (!interpose_active()) {
		skip();
	}
	CalPanelDef def = panel(CAL_FLEX_CLAMPED, 2);
	def.cells_x = 2;
	def.cells_y = 1;
	built_without_memory(add_panel, &def);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ribs_bend_as_one_beam),
		cmocka_unit_test(ribs_stretch_as_one_rod),
		cmocka_unit_test(mass_is_that_of_ribs_and_cover),
		cmocka_unit_test(few_masses_keep_the_modes),
		cmocka_unit_test(free_panel_carries_no_momentum),
		cmocka_unit_test(hinge_points_are_softer_than_the_edge),
		cmocka_unit_test(craig_bampton_finds_the_clamped_modes),
		cmocka_unit_test(wrong_panels_are_refused),
		cmocka_unit_test(running_out_of_memory_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
