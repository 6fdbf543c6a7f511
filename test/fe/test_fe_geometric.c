// SPDX-License-Identifier: Apache-2.0
/*
 * test_fe_geometric.c — geometric stiffness from finite elements: frequencies of a rotating beam and a rotating plate.
 *
 * Decks are written here, CalculiX stores their matrices, Calder reduces them. The body is spun about z by a joint,
 * and its stiffness at speed is that of the compiled model: central differences of the modal forces of inverse
 * dynamics. References:
 *   beam   a uniform cantilever, dimensionless flap frequencies at spin gamma with no hub (Wright, Smith, Thresher and
 *          Wang, J. Appl. Mech. 49, 1982; Yoo and Shin, J. Sound Vib. 212, 1998), recomputed by rotating_reference.py
 *          to all digits given here
 *   plate  a square cantilever plate, nu = 0.3, spun about the normal: Ritz solution of the Kirchhoff plate with the
 *          membrane forces of plane stress (rotating_reference.py)
 *   wheel  a narrow cantilever plate on a wheel: frequencies that S. Muti published (CalculiX-Examples, 2020)
 *   all    CalculiX's own modes of the prestressed structure (*STEP, PERTURBATION) with the same mesh
 */
#define _GNU_SOURCE // mkdtemp

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <calder/calder.h>
#include <calder/fe.h>
#include "math/eigen.h"
#include "support/check.h"
#include "support/fe_support.h"

enum { MAX_MODES = 40, POINTS = 64 };

static const double YOUNG = 70e9, DENSITY = 2700;

typedef struct Deck {
	char folder[64];
	double length, width, height, poisson;
	double young, density; // zero: those above
	double wheel;          // from the axis of the spin to the clamp
	int across;            // the axis of the spin is y, across the body in its plane, rather than z
	int nx, ny;            // elements; one through the thickness
	int tip;               // nonzero: an interface there
	int number[2 * POINTS + 1][2 * POINTS + 1][3];
	int nodes;
} Deck;

/* ---- decks --------------------------------------------------------------------------------------- */

/*
 * With Poisson's effect the clamp keeps the section from thinning: elements shrink towards it. Midside nodes in the
 * middle.
 */
static double station(const Deck *d, int i) {
	const double power = d->poisson > 0 ? 2 : 1;
	const double a = pow((i / 2) / (double)d->nx, power), b = pow((i / 2 + i % 2) / (double)d->nx, power);
	return d->length * (a + b) / 2;
}

static void put_nodes(Deck *d, FILE *out) {
	fputs("*NODE, NSET=ALL\n", out);
	for (int i = 0; i <= 2 * d->nx; i++)
		for (int j = 0; j <= 2 * d->ny; j++)
			for (int k = 0; k < 3; k++) {
				if (i % 2 + j % 2 + k % 2 > 1)
					continue;
				d->number[i][j][k] = ++d->nodes;
				fprintf(out, "%d, %.12g, %.12g, %.12g\n", d->nodes, station(d, i), d->width * (j / (2.0 * d->ny) - 0.5),
				        d->height * (k / 2.0 - 0.5));
			}
	for (int i = 0; i < 4; i++)
		fprintf(out, "%d, %.12g, 0, 0\n", d->nodes + 1 + i, i < 2 ? -d->wheel : d->length);
}

static void put_elements(const Deck *d, FILE *out) {
	static const signed char at[20][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2},
	                                      {0, 2, 2}, {1, 0, 0}, {2, 1, 0}, {1, 2, 0}, {0, 1, 0}, {1, 0, 2}, {2, 1, 2},
	                                      {1, 2, 2}, {0, 1, 2}, {0, 0, 1}, {2, 0, 1}, {2, 2, 1}, {0, 2, 1}};
	fprintf(out, "*ELEMENT, TYPE=%s, ELSET=PART\n", d->ny > 1 ? "C3D20R" : "C3D20");
	for (int e = 0; e < d->nx * d->ny; e++) {
		fprintf(out, "%d", e + 1);
		for (int a = 0; a < 20; a++)
			fprintf(out, ",%s%d", a == 10 ? "\n" : " ",
			        d->number[2 * (e / d->ny) + at[a][0]][2 * (e % d->ny) + at[a][1]][at[a][2]]);
		fputc('\n', out);
	}
	for (int end = 0; end < 2; end++) {
		fprintf(out, "*NSET, NSET=%s\n", end ? "tip" : "root");
		for (int j = 0; j <= 2 * d->ny; j++)
			for (int k = 0; k < 3; k++)
				if (j % 2 + k % 2 < 2)
					fprintf(out, "%d,\n", d->number[2 * d->nx * end][j][k]);
	}
}

static FILE *open_deck(const Deck *d, const char *name) {
	char path[128];
	snprintf(path, sizeof path, "%s/%s", d->folder, name);
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	return out;
}

static void run_ccx(const Deck *d, const char *job) {
	char command[200];
	snprintf(command, sizeof command, "cd %s && OMP_NUM_THREADS=1 ccx %s >log 2>&1", d->folder, job);
	assert_int_equal(system(command), 0);
}

static void write_decks(Deck *d) {
	FILE *out = open_deck(d, "mesh.inp");
	put_nodes(d, out);
	put_elements(d, out);
	fprintf(out, "*MATERIAL, NAME=METAL\n*ELASTIC\n%g, %g\n*DENSITY\n%g\n", d->young > 0 ? d->young : YOUNG, d->poisson,
	        d->density > 0 ? d->density : DENSITY);
	fputs("*SOLID SECTION, ELSET=PART, MATERIAL=METAL\n", out);
	fprintf(out, "*RIGID BODY, NSET=root, REF NODE=%d, ROT NODE=%d\n", d->nodes + 1, d->nodes + 2);
	if (d->tip)
		fprintf(out, "*RIGID BODY, NSET=tip, REF NODE=%d, ROT NODE=%d\n", d->nodes + 3, d->nodes + 4);
	fclose(out);
	out = open_deck(d, "part.inp");
	fputs("*INCLUDE, INPUT=mesh.inp\n*STEP\n*FREQUENCY, SOLVER=MATRIXSTORAGE\n*END STEP\n", out);
	fclose(out);
}

/* Frequencies [rad/s] that CalculiX finds for the part that is held and spun. */
static void ccx_frequencies(const Deck *d, double spin, int count, double *out) {
	char path[128], line[256];
	FILE *deck = open_deck(d, "spun.inp");
	fprintf(deck, "*INCLUDE, INPUT=mesh.inp\n*BOUNDARY\n%d, 1, 3\n%d, 1, 3\n*STEP\n*STATIC\n*DLOAD\n", d->nodes + 1,
	        d->nodes + 2);
	fprintf(deck, "PART, CENTRIF, %.12g, %.12g, 0, 0, 0, %d, %d\n*END STEP\n", spin * spin, -d->wheel, d->across,
	        !d->across);
	fprintf(deck, "*STEP, PERTURBATION\n*FREQUENCY\n%d\n*END STEP\n", count);
	fclose(deck);
	run_ccx(d, "spun");
	snprintf(path, sizeof path, "%s/spun.dat", d->folder);
	FILE *in = fopen(path, "r");
	assert_non_null(in);
	int found = 0, number;
	double value, radians, hertz, rest;
	while (found < count && fgets(line, sizeof line, in))
		if (sscanf(line, "%d %lf %lf %lf %lf", &number, &value, &radians, &hertz, &rest) == 5 && number == found + 1)
			out[found++] = radians;
	fclose(in);
	assert_int_equal(found, count);
}

static void clean_up(const Deck *d) {
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", d->folder);
	assert_int_equal(system(command), 0);
}

static int deck_create(Deck *d) {
	if (system("command -v ccx >/dev/null") != 0)
		return 0;
	snprintf(d->folder, sizeof d->folder, "/tmp/calder_geometric_XXXXXX");
	assert_non_null(mkdtemp(d->folder));
	write_decks(d);
	run_ccx(d, "part");
	return 1;
}

/* ---- the body ------------------------------------------------------------------------------------ */

typedef struct Spun {
	CalModal *modal;
	CalModel *model;
	CalState state;
	CalWork *work;
	int modes;
} Spun;

static CalModal *reduce(const Deck *d, int modes, int geometric) {
	char path[128];
	CalError error = {0};
	CalFeModel *fe = NULL;
	CalModal *modal = NULL;
	snprintf(path, sizeof path, "%s/part.inp", d->folder);
	const CalFeReduction how = {.modes = modes, .geometric = geometric, .display_count = -1};
	if (cal_fe_read(path, NULL, NULL, &fe, &error) != CAL_OK || cal_fe_reduce(fe, &how, &modal, &error) != CAL_OK)
		fail_msg("%s", error.text);
	cal_fe_destroy(fe);
	return modal;
}

static Spun spun_about(CalModal *modal, CalVec3 axis) {
	Spun s = {.modal = modal, .modes = cal_modal_info(modal).modes};
	CalError error = {0};
	CalDesc *desc;
	CalJointDef hub = cal_joint_def(CAL_JOINT_REVOLUTE);
	hub.name = "hub";
	hub.axis = axis;
	check_ok(0, cal_desc_create(NULL, &desc));
	check_ok(0, cal_modal_add(modal, desc, "part", (CalGroupId){0}, 0, NULL, &error));
	CalNodeId root = cal_desc_find_node(desc, "part/root");
	root = root.value ? root : cal_desc_find_node(desc, "part/grid10");
	check_ok(0, cal_desc_attach(desc, (CalNodeId){0}, &hub, root, NULL, &error));
	check_ok(0, cal_model_compile(desc, NULL, &s.model, &error));
	check_ok(0, cal_state_create(s.model, &s.state));
	check_ok(0, cal_work_create(s.model, &s.work));
	cal_desc_destroy(desc);
	assert_int_equal(cal_model_u_count(s.model), 1 + s.modes);
	return s;
}

static Spun spun_create(CalModal *modal) { return spun_about(modal, (CalVec3){0, 0, 1}); }

static void spun_destroy(Spun *s) {
	cal_state_destroy(&s->state);
	cal_work_destroy(s->work);
	cal_model_destroy(s->model);
	cal_modal_destroy(s->modal);
}

/* Momentum along z of a modal vector: modes that have none do not flap. */
static double flap(const Spun *s, const double *v) {
	double sum = 0;
	CalModalNode node;
	for (int i = 0; cal_modal_node(s->modal, i, &node) == CAL_OK; i++)
		for (int k = 0; k < s->modes; k++)
			sum += node.mass * node.phi[2 * s->modes + k] * v[k];
	return fabs(sum);
}

/*
 * Frequencies [rad/s] at rest in the spinning frame, lowest first; flapping: only those that move the center along z.
 */
static void frequencies(Spun *s, double spin, int flapping, int count, double *out) {
	const int m = s->modes, n = m + 1;
	static double K[MAX_MODES * MAX_MODES], M[MAX_MODES * MAX_MODES], value[MAX_MODES], scratch[2 * MAX_MODES];
	double tau[2][MAX_MODES + 1], udot[MAX_MODES + 1] = {0}, mass[(MAX_MODES + 1) * (MAX_MODES + 1)];
	const double step = 1e-5;
	s->state.u[0] = spin;
	for (int k = 0; k < m; k++) {
		for (int side = 0; side < 2; side++) {
			s->state.q[1 + k] = side ? step : -step;
			check_ok(0, cal_inverse_dynamics(s->model, &s->state, udot, NULL, s->work, tau[side]));
		}
		s->state.q[1 + k] = 0;
		for (int j = 0; j < m; j++)
			K[j * m + k] = (tau[1][1 + j] - tau[0][1 + j]) / (2 * step);
	}
	check_ok(0, cal_mass_matrix(s->model, &s->state, s->work, mass));
	for (int j = 0; j < m * m; j++) {
		K[j] = j / m >= j % m ? (K[j] + K[j % m * m + j / m]) / 2 : K[j];
		M[j] = mass[(1 + j / m) * n + 1 + j % m];
	}
	for (int j = 0; j < m * m; j++)
		K[j] = j / m < j % m ? K[j % m * m + j / m] : K[j];
	check_ok(0, eigen_generalized(m, K, M, value, scratch));
	int found = 0;
	for (int k = 0; k < m && found < count; k++) {
		double v[MAX_MODES], most = 0;
		for (int j = 0; j < m; j++)
			v[j] = K[j * m + k];
		most = flap(s, v);
		if (!flapping || most > 0.02 * sqrt(cal_modal_info(s->modal).mass))
			out[found++] = sqrt(value[k]);
	}
	assert_int_equal(found, count);
}

/* The lowest eigenvalue of the stiffness with a force along x at a node and no spin. */
static double lowest_under_force(Spun *s, const char *node, double force) {
	double K[MAX_MODES * MAX_MODES], M[MAX_MODES * MAX_MODES] = {0}, value[MAX_MODES], scratch[2 * MAX_MODES];
	double tau[2][MAX_MODES + 1], udot[MAX_MODES + 1] = {0};
	const CalWrench pull = {.node = cal_model_find_node(s->model, node), .f.linear.x = force};
	const CalInput input = {.wrenches = &pull, .wrench_count = 1};
	const int m = s->modes;
	s->state.u[0] = 0;
	for (int k = 0; k < m; k++) {
		for (int side = 0; side < 2; side++) {
			s->state.q[1 + k] = side ? 1e-5 : -1e-5;
			check_ok(0, cal_inverse_dynamics(s->model, &s->state, udot, &input, s->work, tau[side]));
		}
		s->state.q[1 + k] = 0;
		M[k * (m + 1)] = 1;
		for (int j = 0; j < m; j++)
			K[j * m + k] = (tau[1][1 + j] - tau[0][1 + j]) / 2e-5;
	}
	for (int j = 0; j < m * m; j++)
		K[j] = j / m > j % m ? K[j % m * m + j / m] : K[j];
	check_ok(0, eigen_generalized(m, K, M, value, scratch));
	return value[0];
}

/* A cantilever buckles at pi^2 EI/(4 L^2). */
static void check_buckling(Spun *s, const char *node, double load) {
	const double before = lowest_under_force(s, node, -0.995 * load),
				 after = lowest_under_force(s, node, -1.005 * load);
	print_message("lowest stiffness at 0.995 and 1.005 of the buckling load: %.3g, %.3g\n", before, after);
	assert_true(before > 0 && after < 0);
}

static void check_frequencies(const char *what, double gamma, int count, const double *got, const double *want,
                              double tolerance) {
	for (int k = 0; k < count; k++) {
		print_message("%s, gamma %g, mode %d: %.4f, reference %.4f, %+.3f %%\n", what, gamma, k + 1, got[k], want[k],
		              100 * (got[k] / want[k] - 1));
		if (!(fabs(got[k] / want[k] - 1) <= tolerance))
			fail_msg("more than %g %% off", 100 * tolerance);
	}
}

static void rotating_beam_has_the_published_frequencies(void **state) {
	(void)state;
	static const double want[][3] = {{0, 3.51602, 22.0345},  {1, 3.68165, 22.1810}, {2, 4.13732, 22.6149},
	                                 {4, 5.58500, 24.2733},  {6, 7.36037, 26.8091}, {8, 9.25684, 29.9954},
	                                 {10, 11.2023, 33.6404}, {12, 13.1702, 37.6031}};
	static Deck d = {.length = 1, .width = 0.03, .height = 0.01, .nx = 16, .ny = 1};
	if (!deck_create(&d))
		skip();
	const double T = sqrt(12 * DENSITY / YOUNG) / d.height; // sqrt(rho A L^4/(E I))
	Spun s = spun_create(reduce(&d, 24, 1));
	for (int i = 0; i < 8; i++) {
		double got[2];
		frequencies(&s, want[i][0] / T, 1, 2, got);
		got[0] *= T, got[1] *= T;
		check_frequencies("beam", want[i][0], 2, got, want[i] + 1, 0.005);
	}
	double ours[6], theirs[6];
	ccx_frequencies(&d, 12 / T, 6, theirs);
	frequencies(&s, 12 / T, 0, 6, ours);
	check_frequencies("beam, CalculiX [rad/s]", 12, 6, ours, theirs, 0.002);
	spun_destroy(&s);
	clean_up(&d);
}

static void rotating_plate_has_the_frequencies_of_ritz(void **state) {
	(void)state;
	static const double want[][4] = {{0, 3.4711, 8.5068, 21.285},    {1, 3.6393, 8.6267, 21.429},
	                                 {2, 4.1010, 8.9769, 21.855},    {4, 5.5613, 10.2573, 23.470},
	                                 {6, 7.3449, 12.0898, 25.894},   {8, 9.2462, 14.2594, 28.828},
	                                 {10, 11.1945, 16.6312, 31.956}, {12, 13.1640, 19.1276, 35.060}};
	static Deck d = {.length = 1, .width = 1, .height = 0.01, .poisson = 0.3, .nx = 8, .ny = 4};
	if (!deck_create(&d))
		skip();
	const double T = sqrt(12 * (1 - 0.3 * 0.3) * DENSITY / YOUNG) / d.height; // sqrt(rho h L^4/D)
	Spun s = spun_create(reduce(&d, 24, 1));
	for (int i = 0; i < 8; i++) {
		double got[3];
		frequencies(&s, want[i][0] / T, 0, 3, got);
		for (int k = 0; k < 3; k++)
			got[k] *= T;
		check_frequencies("plate", want[i][0], 3, got, want[i] + 1, 0.005);
	}
	double ours[5], theirs[5];
	ccx_frequencies(&d, 12 / T, 5, theirs);
	frequencies(&s, 12 / T, 0, 5, ours);
	check_frequencies("plate, CalculiX [rad/s]", 12, 5, ours, theirs, 0.002);
	spun_destroy(&s);
	clean_up(&d);
}

/*
 * A plate of 328 mm x 28 mm x 3 mm on a wheel of 150 mm at 4500 rpm, its normal in the plane of the spin: the plate of
 * the benchmark "Vibration of a rotating cantilever plate" of Abaqus, whose first frequencies S. Muti published for
 * CalculiX (CalculiX-Examples on GitHub, rotating_cantilever_beam, 2020; 64 x 12 x 6 elements C3D20R). Bending out of
 * the plate, which the spin stiffens by tension and softens by the growing arm, bending in its plane, and the second
 * mode out of it. Young's modulus is that of his deck and text; his table of parameters has 210 GPa.
 */
static void rotating_plate_on_a_wheel_has_the_published_frequencies(void **state) {
	(void)state;
	static const double want[] = {71.807009, 243.222157, 273.155573}, two_pi = 6.283185307179586; // Hz
	static Deck d = {.length = 0.328,
	                 .width = 0.028,
	                 .height = 0.003,
	                 .poisson = 0.3,
	                 .young = 217e9,
	                 .density = 7850,
	                 .wheel = 0.15,
	                 .across = 1,
	                 .nx = 16,
	                 .ny = 4};
	if (!deck_create(&d))
		skip();
	Spun s = spun_about(reduce(&d, 24, 1), (CalVec3){0, 1, 0});
	double got[3], theirs[3];
	frequencies(&s, 75 * two_pi, 0, 3, got);
	ccx_frequencies(&d, 75 * two_pi, 3, theirs);
	check_frequencies("plate on a wheel, CalculiX [rad/s]", 10.6, 3, got, theirs, 0.002);
	for (int k = 0; k < 3; k++)
		got[k] /= two_pi;
	check_frequencies("plate on a wheel [Hz]", 10.6, 3, got, want, 0.005);
	spun_destroy(&s);
	clean_up(&d);
}

/* With a frame at the tip: a force there. Slender, because a solid beam is softer in shear. */
static void tip_force_buckles_a_beam_at_eulers_load(void **state) {
	(void)state;
	static Deck d = {.length = 1, .width = 0.03, .height = 0.01, .nx = 16, .ny = 1, .tip = 1};
	if (!deck_create(&d))
		skip();
	Spun s = spun_create(reduce(&d, 16, 1));
	check_buckling(&s, "part/tip", pow(3.14159265358979, 2) * YOUNG * 0.03 * 1e-6 / 12 / 4);
	spun_destroy(&s);
	clean_up(&d);
}

/* The same from matrices: EI = 1000, 1.08 kg, 1 m (test/data/fe/make_dmig.py). */
static void differential_stiffness_of_dmig_is_used(void **state) {
	(void)state;
	static const double want[][2] = {{0, 3.51602}, {4, 5.58500}, {8, 9.25684}, {12, 13.1702}};
	CalError error = {0};
	CalFeModel *fe = NULL;
	CalModal *modal = NULL;
	const char *const ends[] = {"10", "90"};
	const CalFeReduction how = {.modes = 12, .geometric = 1, .interface_count = 2, .interfaces = ends};
	if (cal_fe_read(FIXTURE("spun.pch"), NULL, NULL, &fe, &error) != CAL_OK ||
	    cal_fe_reduce(fe, &how, &modal, &error) != CAL_OK)
		fail_msg("%s", error.text);
	cal_fe_destroy(fe);
	const double T = sqrt(1.08 / 1000);
	Spun s = spun_create(modal);
	for (int i = 0; i < 4; i++) {
		double got;
		frequencies(&s, want[i][0] / T, 1, 1, &got);
		got *= T;
		check_frequencies("DMIG", want[i][0], 1, &got, want[i] + 1, 0.005);
	}
	check_buckling(&s, "part/grid90", pow(3.14159265358979, 2) * 1000 / 4);
	spun_destroy(&s);
}

/* Without elements and matrices there is nothing to take it from. */
static void matrices_alone_are_refused(void **state) {
	(void)state;
	CalError error = {0};
	CalFeModel *fe = NULL;
	CalModal *modal = NULL;
	const char *const ends[] = {"10", "50"};
	const CalFeReduction how = {.geometric = 1, .interface_count = 2, .interfaces = ends};
	const CalFeReduction no_hold = {.geometric = 1, .interface_count = -1};
	assert_int_equal(cal_fe_read(FIXTURE("beam.pch"), NULL, NULL, &fe, &error), CAL_OK);
	assert_int_equal(cal_fe_reduce(fe, &how, &modal, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "needs the elements of the model"));
	assert_int_equal(cal_fe_reduce(fe, &no_hold, &modal, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "needs an interface"));
	cal_fe_destroy(fe);
}

/* Elements that cannot be used do not keep the matrices from being read; they are reported where they are needed. */
static void unusable_elements_are_reported(void **state) {
	(void)state;
	static const char *const files[] = {"rod.inp", "rod_mesh.inp", "rod.dof", "rod.sti", "rod.mas"};
	static const struct {
		const char *from, *to, *what;
	} list[] = {
		{"TYPE=C3D20", "TYPE=S8", "elements of type \"s8\" are not known"},
		{"*ELASTIC\n", "*ELASTIC, TYPE=ORTHO\n", "only isotropic materials"},
		{"*ELASTIC\n", "*ELASTIC\n-", "Young's modulus and Poisson's ratio"},
		{"MATERIAL=METAL", "MATERIAL=OTHER", "element 1 has no *SOLID SECTION"},
		{"NSET=tip\n", "NSET=other\n", "the set of a *RIGID BODY is not in the deck"},
		{"*MATERIAL", "*ELEMENT, TYPE=C3D4, ELSET=PART\n99, 1, 2, 3\n*MATERIAL", "element 99 has too few nodes"},
		{"*MATERIAL", "*ELEMENT, TYPE=C3D4, ELSET=PART\n99, 1, 2, 3, 777\n*MATERIAL", "a node without coordinates"},
		{"*MATERIAL", "*ELEMENT, TYPE=C3D4, ELSET=PART\n99, 1, 2, 4, 3\n*MATERIAL", "turned inside out"},
		{"*MATERIAL", "*NSET, NSET=x, GENERATE\n1, 2000000000, 1\n*MATERIAL", "with the step 1"},
		{"*MATERIAL", "*NSET, NSET=x, GENERATE\n1, 9, 0\n*MATERIAL", "generated from 1 to 9 with the step 0"},
	};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		CalError error = {0};
		CalFeModel *fe = NULL;
		CalModal *modal = NULL;
		for (int k = 0; k < 5; k++) {
			char fixture[512];
			snprintf(fixture, sizeof fixture, "%s/%s", FIXTURE(""), files[k]);
			changed_copy(fixture, files[k], k == 1 ? list[i].from : NULL, k == 1 ? list[i].to : NULL);
		}
		assert_int_equal(cal_fe_read(temp_path("rod.inp"), NULL, NULL, &fe, &error), CAL_OK);
		assert_int_equal(cal_fe_reduce(fe, &(CalFeReduction){.modes = 2}, &modal, &error), CAL_OK);
		cal_modal_destroy(modal);
		assert_int_equal(cal_fe_reduce(fe, &(CalFeReduction){.modes = 2, .geometric = 1}, &modal, &error),
		                 CAL_ERR_INPUT);
		if (!strstr(error.text, list[i].what))
			fail_msg("\"%s\" to \"%s\": %s", list[i].from, list[i].to, error.text);
		cal_fe_destroy(fe);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rotating_beam_has_the_published_frequencies),
		cmocka_unit_test(rotating_plate_has_the_frequencies_of_ritz),
		cmocka_unit_test(rotating_plate_on_a_wheel_has_the_published_frequencies),
		cmocka_unit_test(tip_force_buckles_a_beam_at_eulers_load),
		cmocka_unit_test(differential_stiffness_of_dmig_is_used),
		cmocka_unit_test(matrices_alone_are_refused),
		cmocka_unit_test(unusable_elements_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
