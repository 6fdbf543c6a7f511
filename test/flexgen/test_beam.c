// SPDX-License-Identifier: Apache-2.0
/*
 * test_beam.c — the beam generator against closed forms, all through the body that it adds: M_ee of its lumped nodes.
 *
 * Roots beta L of the uniform beam, the pinned beam with a tip mass of MacLean, Huynh and Quiocho (2007), Timoshenko's
 * frequency equation (Huang 1961), wedge and cone (Kirchhoff), rods, rotating beams (Wright et al. 1982), and mass
 * properties of prisms, tubes and frustums.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/check.h"

#include <calder/calder.h>

#include "math/eigen.h"
#include "built.h"
#include "built_memory.h"

static const double PI = 3.14159265358979323846;

static Built build(const CalBeamDef *def) {
	Built b = {0};
	CalError error = {0};
	assert_int_equal(cal_desc_create(NULL, &b.desc), CAL_OK);
	built_check(cal_beam_add(b.desc, def, &b.body, &error), &error);
	built_report(&b);
	return b;
}

/** EI = 50, rhoA = 3, length 2, bending along y only. */
static CalBeamDef uniform(CalFlexBoundary boundary, int modes) {
	CalBeamDef def = cal_beam_def();
	def.name = "beam";
	def.length = 2;
	def.root = (CalSection){.EIy = 50, .EIz = 50, .rhoA = 3};
	def.deformation = CAL_BEAM_BEND_Y;
	def.choice.boundary = boundary;
	def.choice.modes = modes;
	return def;
}

static double beta_length(double frequency) { return 2 * sqrt(frequency * sqrt(3.0 / 50)); }

static void check_number(const char *what, double got, double want, double tolerance) {
	check_close(0, what, 1, &got, &want, tolerance);
}

/* ---- frequencies --------------------------------------------------------------------------- */

static void roots_of_the_uniform_beam(void **state) {
	(void)state;
	static const struct {
		CalFlexBoundary boundary;
		int count;
		double root[3];
	} ROOTS[] = {{CAL_FLEX_CLAMPED, 3, {1.8751040687119611, 4.694091132974175, 7.854757438237613}},
	             {CAL_FLEX_FREE, 3, {4.730040744862704, 7.853204624095838, 10.995607838001671}},
	             {CAL_FLEX_PINNED, 3, {3.926602312047919, 7.068582745628732, 10.21017612281303}}};
	for (int i = 0; i < 3; i++) {
		CalBeamDef def = uniform(ROOTS[i].boundary, 3);
		def.order = 7;
		Built b = build(&def);
		assert_int_equal(b.report.modes, 3);
		for (int k = 0; k < ROOTS[i].count; k++) {
			check_number(cal_flex_boundary_name(ROOTS[i].boundary), beta_length(b.modes[k].frequency), ROOTS[i].root[k],
			             1e-10);
		}
		assert_true(b.report.coupling < 1e-12);
		release(&b);
	}
}

/** Defaults are good for the first six modes of each plane to a part in 1e5. */
static void default_mesh_is_good_for_many_modes(void **state) {
	(void)state;
	CalBeamDef def = uniform(CAL_FLEX_CLAMPED, 6);
	Built b = build(&def);
	for (int k = 4; k <= 6; k++) {
		check_number("higher mode", beta_length(b.modes[k - 1].frequency), (k - 0.5) * PI, 1e-5);
	}
	release(&b);
}

/** omega^2 is a Rayleigh quotient: its error is O(h^(2(p-1))). */
static void frequencies_converge_with_twice_the_degree(void **state) {
	(void)state;
	for (int order = 3; order <= 5; order++) {
		double error[2];
		for (int i = 0; i < 2; i++) {
			CalBeamDef def = uniform(CAL_FLEX_CLAMPED, 3);
			def.order = order;
			def.elements = i == 0 ? 4 : 8;
			Built b = build(&def);
			error[i] = beta_length(b.modes[2].frequency) / 7.854757438237613 - 1;
			assert_true(error[i] > 0); // a Ritz method never falls below
			release(&b);
		}
		double slope = log2(error[0] / error[1]);
		print_message("order %d: error %.2e -> %.2e, slope %.2f\n", order, error[0], error[1], slope);
		assert_true(fabs(slope - 2 * (order - 1)) < 0.45);
	}
}

static CalBeamDef tip_mass_beam(CalBeamMass *tip) {
	CalBeamDef def = cal_beam_def();
	double EI = 5.974 * 5.974 * 2.82;
	def.name = "jsc";
	def.length = 3.372;
	def.root = (CalSection){.EIy = EI, .EIz = EI, .rhoA = 2.82};
	*tip = (CalBeamMass){.x = def.length, .mass = 5.18 * 2.82 * def.length};
	def.masses = tip;
	def.mass_count = 1;
	def.deformation = CAL_BEAM_BEND_Z;
	def.choice.boundary = CAL_FLEX_PINNED;
	return def;
}

static void pinned_beam_with_tip_mass(void **state) {
	(void)state;
	static const double WANT[] = {5.2834, 20.8417, 46.7698, 83.0685};
	CalBeamMass tip;
	CalBeamDef def = tip_mass_beam(&tip);
	Built b = build(&def);
	for (int k = 0; k < 4; k++) {
		assert_true(fabs(b.modes[k].frequency - WANT[k]) < 0.5e-4 + 1e-6 * WANT[k]);
	}
	check_number("mass", b.report.mass, 2.82 * 3.372 + tip.mass, 1e-14);
	release(&b);
}

/** Shapes taken relative to the root say the same about the body that is free in the pin. */
static void pinned_shapes_seen_from_the_root_span_the_same(void **state) {
	(void)state;
	CalBeamMass tip;
	for (int attached = 0; attached < 2; attached++) {
		CalBeamDef def = tip_mass_beam(&tip);
		def.choice.attached = attached;
		Built b = build(&def);
		// Released in the pin only: M_ee - (row about y)^2 / J about the root
		double M[16] = {0}, K[16], values[4], scratch[8], row[4] = {0}, J = 0;
		for (int i = 0; i < b.flex->node_count; i++) {
			const CalFlexNode *n = &b.flex->nodes[i];
			double x = desc_node(b.desc, n->node)->def.placement.position.x;
			J += n->mass * x * x;
			for (int k = 0; n->phi && k < 4; k++) {
				row[k] += n->mass * x * n->phi[8 + k];
				for (int l = 0; l < 4; l++) {
					M[4 * k + l] += n->mass * n->phi[8 + k] * n->phi[8 + l];
				}
			}
		}
		for (int i = 0; i < 16; i++) {
			M[i] -= row[i / 4] * row[i % 4] / J;
			K[i] = b.flex->stiffness[i];
		}
		check_ok(0, eigen_generalized(4, K, M, values, scratch));
		check_number("first", sqrt(values[0]), 5.2834258, 1e-7);
		check_number("fourth", sqrt(values[3]), 83.0685, 1e-6);
		CalNodeId root = cal_desc_find_node(b.desc, "jsc/root");
		assert_int_equal(b.flex->nodes[0].node.value, root.value);
		assert_true(attached ? !b.flex->nodes[0].psi : fabs(b.flex->nodes[0].psi[4]) > 0.01);
		release(&b);
	}
}

/** The same through the recursion: the beam on a revolute joint at its root, which moves in B. */
static void beam_on_a_hinge_has_the_pinned_frequencies(void **state) {
	(void)state;
	static const double WANT[] = {5.2834, 20.8417, 46.7698, 83.0685};
	CalBeamMass tip;
	CalBeamDef def = tip_mass_beam(&tip);
	Built b = build(&def);
	CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
	CalJointId id;
	CalModel *model;
	CalState x;
	CalWork *work;
	double M[25], K[25] = {0}, values[5], scratch[10];
	joint.name = "pin";
	joint.axis = (CalVec3){0, 1, 0};
	check_ok(0, cal_desc_attach(b.desc, (CalNodeId){0}, &joint, cal_desc_find_node(b.desc, "jsc/root"), &id, NULL));
	check_ok(0, cal_model_compile(b.desc, NULL, &model, NULL));
	check_ok(0, cal_state_create(model, &x));
	check_ok(0, cal_work_create(model, &work));
	check_ok(0, cal_mass_matrix(model, &x, work, M));
	for (int i = 0; i < 16; i++) {
		K[5 * (i / 4 + 1) + i % 4 + 1] = b.flex->stiffness[i];
	}
	check_ok(0, eigen_generalized(5, K, M, values, scratch));
	assert_true(fabs(values[0]) < 1e-9);
	for (int k = 0; k < 4; k++) {
		assert_true(fabs(sqrt(values[k + 1]) - WANT[k]) < 0.5e-4 + 1e-6 * WANT[k]);
	}
	cal_work_destroy(work);
	cal_state_destroy(&x);
	cal_model_destroy(model);
	release(&b);
}

/** Huang's equation of the clamped-free Timoshenko beam; b^2 = w^2 rhoA L^4 / EI. */
static double huang(double b, double r2, double s2) {
	double root = sqrt((r2 - s2) * (r2 - s2) + 4 / (b * b));
	double alpha = sqrt(0.5 * (root - r2 - s2)), beta = sqrt(0.5 * (root + r2 + s2));
	return 2 + (b * b * (r2 - s2) * (r2 - s2) + 2) * cosh(b * alpha) * cos(b * beta) -
	       b * (r2 + s2) / sqrt(1 - b * b * r2 * s2) * sinh(b * alpha) * sin(b * beta);
}

static void timoshenko_cantilever_meets_its_frequency_equation(void **state) {
	(void)state;
	CalBeamDef def = cal_beam_def();
	def.name = "short";
	def.length = 1;
	def.timoshenko = 1;
	def.deformation = CAL_BEAM_BEND_Z;
	def.order = 6;
	def.root = (CalSection){.shape = CAL_SECTION_BOX,
	                        .width = 0.05,
	                        .height = 0.2,
	                        .youngs_modulus = 7e10,
	                        .poissons_ratio = 0.3,
	                        .density = 2700};
	def.choice.modes = 3;
	Built b = build(&def);
	double A = 0.05 * 0.2, I = 0.05 * 0.2 * 0.2 * 0.2 / 12, k = 10 * 1.3 / (12 + 11 * 0.3), G = 7e10 / 2.6;
	double r2 = I / A, s2 = 7e10 * I / (k * G * A);
	for (int mode = 0; mode < 3; mode++) {
		double at = b.modes[mode].frequency * sqrt(2700 * A / (7e10 * I)), e = 1e-9 * at;
		assert_true(huang(at - e, r2, s2) * huang(at + e, r2, s2) < 0);
	}
	double euler = 3.5160152685 * sqrt(7e10 * I / (2700 * A));
	assert_true(b.modes[0].frequency < 0.985 * euler && b.modes[0].frequency > 0.95 * euler);
	release(&b);
}

/** Slender Timoshenko beams do not lock: they are Euler-Bernoulli beams. */
static void slender_timoshenko_beam_does_not_lock(void **state) {
	(void)state;
	CalBeamDef def = uniform(CAL_FLEX_CLAMPED, 2);
	def.timoshenko = 1;
	def.order = 3;
	def.root.kGAy = def.root.kGAz = 5e7; // EI / (kGA L^2) = 2.5e-7
	Built b = build(&def);
	check_number("first", beta_length(b.modes[0].frequency), 1.8751040687, 1e-5);
	check_number("second", beta_length(b.modes[1].frequency), 4.694091133, 1e-4);
	release(&b);
}

static void rods_stretch_and_twist(void **state) {
	(void)state;
	CalBeamDef def = cal_beam_def();
	def.name = "rod";
	def.length = 3;
	def.root = (CalSection){.EA = 2e6, .GJ = 400, .rhoA = 5, .rhoIy = 0.02, .rhoIz = 0.03};
	def.deformation = CAL_BEAM_AXIAL | CAL_BEAM_TORSION;
	def.choice.modes = 0;
	def.choice.max_frequency = 1000;
	Built b = build(&def);
	double twist = PI / 2 / 3 * sqrt(400 / 0.05), stretch = PI / 2 / 3 * sqrt(2e6 / 5);
	assert_int_equal(b.report.modes, 13); // odd multiples: eleven of twist = 46.8, two of stretch = 331
	check_number("first twist", b.modes[0].frequency, twist, 1e-12);
	check_number("second twist", b.modes[1].frequency, 3 * twist, 1e-10);
	check_number("third twist", b.modes[2].frequency, 5 * twist, 1e-8);
	int found = 0;
	for (int k = 0; k < b.report.modes; k++) {
		found += fabs(b.modes[k].frequency / stretch - 1) < 1e-10;
		found += fabs(b.modes[k].frequency / (3 * stretch) - 1) < 1e-9;
	}
	assert_int_equal(found, 2);
	release(&b);
}

/** Wedge and cone that run out in a point: 5.315099 and 8.719259 sqrt(EI/rhoA)/L^2, root's section. */
static void tapered_beams_of_kirchhoff(void **state) {
	(void)state;
	CalBeamDef def = cal_beam_def();
	def.name = "wedge";
	def.length = 1;
	def.tapered = 1;
	def.deformation = CAL_BEAM_BEND_Z;
	def.choice.modes = 1;
	def.root =
		(CalSection){.shape = CAL_SECTION_BOX, .width = 0.1, .height = 0.1, .youngs_modulus = 1e9, .density = 1000};
	def.tip = def.root;
	def.tip.height = 1e-8;
	Built b = build(&def);
	double unit = sqrt(1e9 * 0.01 / 12 / 1000);
	check_number("wedge", b.modes[0].frequency / unit, 5.315099424, 1e-6);
	release(&b);
	def.root.shape = def.tip.shape = CAL_SECTION_CIRCLE;
	b = build(&def);
	check_number("cone", b.modes[0].frequency / (unit * sqrt(0.75)), 8.719258855, 1e-6);
	release(&b);
}

static void craig_bampton_held_at_the_root_is_the_cantilever(void **state) {
	(void)state;
	CalBeamDef def = uniform(CAL_FLEX_CRAIG_BAMPTON, 8);
	Built b = build(&def);
	assert_int_equal(b.report.modes, 10);
	check_number("first", beta_length(b.modes[0].frequency), 1.8751040687, 1e-6);
	check_number("second", beta_length(b.modes[1].frequency), 4.694091133, 1e-5);
	check_number("third", beta_length(b.modes[2].frequency), 7.854757438, 5e-5);
	const CalFlexNode *tip = &b.flex->nodes[def.elements]; // coordinates 1 and 2 are the tip's deflection and slope
	assert_true(tip->phi[10] == 1 && tip->phi[11] == 0 && tip->psi[20] == 0 && tip->psi[21] == 1);
	double static_stiffness[] = {12 * 50 / 8.0, -6 * 50 / 4.0, 4 * 50 / 2.0};
	check_number("12 EI/L^3", b.flex->stiffness[0], static_stiffness[0], 1e-11);
	check_number("-6 EI/L^2", b.flex->stiffness[1], static_stiffness[1], 1e-11);
	check_number("4 EI/L", b.flex->stiffness[11], static_stiffness[2], 1e-11);
	release(&b);
}

static void free_modes_carry_no_momentum(void **state) {
	(void)state;
	CalBeamDef def = uniform(CAL_FLEX_FREE, 4);
	Built b = build(&def);
	assert_true(b.report.rigid_content < 1e-20);
	for (int k = 0; k < 4; k++) {
		check_number("free frequency", b.modes[k].free_frequency, b.modes[k].frequency, 1e-12);
		assert_true(b.modes[k].effective_mass[1] < 1e-20 * b.report.mass);
	}
	release(&b);
}

/* ---- stiffening by rotation ---------------------------------------------------------------- */

enum { RITZ = 16 };

/** Frequencies of a clamped beam turning about z at its root: K + W^2 (-2 sum m x phi2_x [- M for lag]). */
static void rotating(double gamma, int lag, double *frequency) {
	CalBeamDef def = uniform(CAL_FLEX_CLAMPED, RITZ);
	def.deformation = lag ? CAL_BEAM_BEND_Y : CAL_BEAM_BEND_Z;
	def.second_order = 1;
	def.elements = 12;
	Built b = build(&def);
	double M[RITZ * RITZ] = {0}, K[RITZ * RITZ], values[RITZ], scratch[2 * RITZ];
	double unit = sqrt(50 / 3.0) / 4, W = gamma * unit;
	memcpy(K, b.flex->stiffness, sizeof K);
	for (int i = 0; i < b.flex->node_count; i++) {
		const CalFlexNode *n = &b.flex->nodes[i];
		double x = desc_node(b.desc, n->node)->def.placement.position.x;
		const double *phi = n->phi + (lag ? RITZ : 2 * RITZ);
		for (int j = 0; n->mass > 0 && j < RITZ * RITZ; j++) {
			double m = n->mass * phi[j / RITZ] * phi[j % RITZ];
			M[j] += m;
			K[j] -= W * W * (2 * n->mass * x * n->phi2[j] + (lag ? m : 0));
		}
	}
	check_ok(0, eigen_generalized(RITZ, K, M, values, scratch));
	for (int k = 0; k < 3; k++) {
		frequency[k] = sqrt(values[k]) / unit;
	}
	release(&b);
}

static void rotating_beam_stiffens_as_tabulated(void **state) {
	(void)state;
	static const struct {
		double gamma, flap[3], lag[3];
	} TABLE[] = {{1, {3.6816, 22.1810, 61.8418}, {3.5432, 22.1585, 61.8337}},
	             {2, {4.1373, 22.6149, 62.2732}, {3.6218, 22.5263, 62.2411}},
	             {5, {6.4495, 25.4461, 65.2050}, {4.0739, 24.9500, 65.0131}}};
	for (int i = 0; i < 3; i++) {
		double flap[3], lag[3];
		rotating(TABLE[i].gamma, 0, flap);
		rotating(TABLE[i].gamma, 1, lag);
		for (int k = 0; k < 3; k++) {
			assert_true(fabs(flap[k] - TABLE[i].flap[k]) < 0.6e-4 + 1e-6 * flap[k]);
			assert_true(fabs(lag[k] - TABLE[i].lag[k]) < 0.6e-4 + 1e-6 * lag[k]);
		}
	}
}

/** Bent into an arc, the tip is drawn in by half the integral of the slope squared. */
static void foreshortening_is_that_of_an_inextensible_axis(void **state) {
	(void)state;
	CalBeamDef def = uniform(CAL_FLEX_CRAIG_BAMPTON, 0);
	def.second_order = 1;
	Built b = build(&def);
	// tip deflection c L^2/2 with slope c L: w' = c x, drawn in by c^2 L^3 / 6
	double eta[2] = {0.5 * 4, 2}, drawn = 0;
	const CalFlexNode *tip = &b.flex->nodes[def.elements];
	for (int j = 0; j < 4; j++) {
		drawn += tip->phi2[j] * eta[j / 2] * eta[j % 2];
	}
	check_number("drawn in", drawn, -8.0 / 6, 1e-12);
	assert_true(!b.flex->nodes[0].phi2); // nothing at the root
	release(&b);
}

/* ---- masses -------------------------------------------------------------------------------- */

static void tube_has_its_mass_and_inertia(void **state) {
	(void)state;
	CalBeamDef def = cal_beam_def();
	def.name = "tube";
	def.length = 4;
	def.root = (CalSection){.shape = CAL_SECTION_TUBE,
	                        .height = 0.1,
	                        .thickness = 0.01,
	                        .youngs_modulus = 7e10,
	                        .poissons_ratio = 0.3,
	                        .density = 2700};
	def.deformation = CAL_BEAM_ALL;
	CalBeamMass masses[2] = {{.x = 4, .mass = 3, .inertia = {{{0.2, 0, 0}, {0, 0.3, 0}, {0, 0, 0.4}}}},
	                         {.x = 1.234, .mass = 2}};
	for (int timoshenko = 0; timoshenko < 2; timoshenko++) {
		def.timoshenko = timoshenko;
		def.masses = masses;
		def.mass_count = 2;
		Built b = build(&def);
		double m = 2700 * 4 * PI / 4 * (0.01 - 0.0064), ratio = (0.01 + 0.0064) / 16;
		double total = m + 5, com = (2 * m + 3 * 4 + 2 * 1.234) / total;
		double across = m * (16.0 / 12 + 4 + ratio) + 3 * 16 + 2 * 1.234 * 1.234 - total * com * com;
		check_number("mass", b.report.mass, total, 1e-14);
		check_number("center", b.report.com.x, com, 1e-14);
		check_number("Jx", b.report.inertia.m[0][0], 2 * m * ratio + 0.2, 1e-13);
		check_number("Jy", b.report.inertia.m[1][1], across + 0.3, 1e-13);
		check_number("Jz", b.report.inertia.m[2][2], across + 0.4, 1e-13);
		assert_true(cal_desc_find_node(b.desc, "tube/point2").value != 0);
		release(&b);
	}
}

static void frustum_has_its_mass_and_center(void **state) {
	(void)state;
	CalBeamDef def = cal_beam_def();
	def.name = "cone";
	def.length = 2;
	def.tapered = 1;
	def.elements = 2;
	def.root = (CalSection){
		.shape = CAL_SECTION_CIRCLE, .height = 0.4, .youngs_modulus = 7e10, .poissons_ratio = 0.3, .density = 1000};
	def.tip = def.root;
	def.tip.height = 0.1;
	Built b = build(&def);
	double R = 0.2, r = 0.05, sum = R * R + R * r + r * r;
	check_number("mass", b.report.mass, 1000 * PI * 2 / 3 * sum, 1e-13);
	check_number("center", b.report.com.x, 2.0 / 4 * (R * R + 2 * R * r + 3 * r * r) / sum, 1e-13);
	double R5 = (R * R * R * R * R - r * r * r * r * r) / (R - r);
	check_number("Jx", b.report.inertia.m[0][0], 1000 * PI / 10 * 2 * R5, 1e-13);
	release(&b);
}

/** With many modes, effective masses add up to the mass that the modes can move. */
static void effective_masses_add_up(void **state) {
	(void)state;
	CalBeamDef def = uniform(CAL_FLEX_CLAMPED, 20);
	Built b = build(&def);
	double mass = 0, inertia = 0;
	for (int k = 0; k < 20; k++) {
		mass += b.modes[k].effective_mass[1];
		inertia += b.modes[k].effective_inertia[2];
	}
	check_number("first of them", b.modes[0].effective_mass[1] / b.report.mass, 0.613076, 2e-6);
	assert_true(mass < b.report.mass && mass > 0.97 * b.report.mass);
	assert_true(inertia < b.report.total_inertia[2] && inertia > 0.99999 * b.report.total_inertia[2]);
	release(&b);
}

static void damping_is_the_ratio_asked_for(void **state) {
	(void)state;
	for (int boundary = 0; boundary < CAL_FLEX_BOUNDARY_COUNT; boundary++) {
		CalBeamDef def = uniform((CalFlexBoundary)boundary, 3);
		def.choice.damping_ratio = 0.02;
		def.choice.attached = 1;
		Built b = build(&def);
		for (int k = 0; k < b.report.modes; k++) {
			check_number("damping ratio", b.modes[k].damping_ratio, 0.02, 1e-9);
		}
		release(&b);
	}
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void refused(const CalBeamDef *def, const char *says) {
	CalDesc *desc;
	CalError error = {0};
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	check_status(0, cal_beam_add(desc, def, NULL, &error), CAL_ERR_MODEL);
	if (!strstr(error.text, says)) {
		print_error("\"%s\" does not say \"%s\"\n", error.text, says);
		fail();
	}
	assert_int_equal(cal_desc_body_count(desc), 0);
	cal_desc_destroy(desc);
}

static void wrong_beams_are_refused(void **state) {
	(void)state;
	const CalBeamDef good = uniform(CAL_FLEX_CLAMPED, 3);
	CalBeamMass mass = {.x = 2.5, .mass = 1};
	CalBeamDef def = good;
	def.place = "arm.yaml:7:3";
	def.length = 0;
	refused(&def, "arm.yaml:7:3: beam \"beam\": the length must be positive");
	def = good;
	def.name = NULL;
	refused(&def, "has no name");
	def = good;
	def.root.EIz = 0;
	refused(&def, "needs EIz > 0");
	def = good;
	def.timoshenko = 1;
	refused(&def, "kGAy");
	def = good;
	def.masses = &mass;
	def.mass_count = 1;
	refused(&def, "outside of the beam's 0 ... 2 m");
	def = good;
	def.choice.modes = 0;
	refused(&def, "no modes are asked for");
	def = good;
	def.choice.modes = 900;
	refused(&def, "fewer modes than asked for");
	def = good;
	def.choice.modes = 0;
	def.choice.max_frequency = 1e-3;
	refused(&def, "no mode is below max_frequency");
	def = good;
	def.root = (CalSection){.shape = CAL_SECTION_TUBE, .height = 0.1, .thickness = 0.06, .youngs_modulus = 1e9};
	refused(&def, "thicker than half");
	def = good;
	def.root.rhoA = NAN;
	refused(&def, "negative or not finite");
}

static CalStatus add_beam(CalDesc *desc, const void *def, CalError *error) {
	return cal_beam_add(desc, (const CalBeamDef *)def, NULL, error);
}

static void running_out_of_memory_is_reported(void **state) {
	(void)state;
	if (!interpose_active()) {
		skip();
	}
	CalBeamDef def = uniform(CAL_FLEX_CLAMPED, 3);
	def.choice.damping_ratio = 0.01;
	def.elements = 2;
	built_without_memory(add_beam, &def);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roots_of_the_uniform_beam),
		cmocka_unit_test(default_mesh_is_good_for_many_modes),
		cmocka_unit_test(frequencies_converge_with_twice_the_degree),
		cmocka_unit_test(pinned_beam_with_tip_mass),
		cmocka_unit_test(pinned_shapes_seen_from_the_root_span_the_same),
		cmocka_unit_test(beam_on_a_hinge_has_the_pinned_frequencies),
		cmocka_unit_test(timoshenko_cantilever_meets_its_frequency_equation),
		cmocka_unit_test(slender_timoshenko_beam_does_not_lock),
		cmocka_unit_test(rods_stretch_and_twist),
		cmocka_unit_test(tapered_beams_of_kirchhoff),
		cmocka_unit_test(craig_bampton_held_at_the_root_is_the_cantilever),
		cmocka_unit_test(free_modes_carry_no_momentum),
		cmocka_unit_test(rotating_beam_stiffens_as_tabulated),
		cmocka_unit_test(foreshortening_is_that_of_an_inextensible_axis),
		cmocka_unit_test(tube_has_its_mass_and_inertia),
		cmocka_unit_test(frustum_has_its_mass_and_center),
		cmocka_unit_test(effective_masses_add_up),
		cmocka_unit_test(damping_is_the_ratio_asked_for),
		cmocka_unit_test(wrong_beams_are_refused),
		cmocka_unit_test(running_out_of_memory_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
