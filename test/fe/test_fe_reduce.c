// SPDX-License-Identifier: Apache-2.0
/*
 * test_fe_reduce.c — Craig-Bampton reduction: frequencies against CalculiX and closed forms, and the mass of the body
 * against the matrices, at rest and deflected.
 *
 * The frequencies of CalculiX 2.20 are those of rod_held.inp (examples/fe/make_decks.py --rod), the root held.
 */
#include "support/fe_support.h"

#include <calder/sim.h>

#include "fe/fe_solver.h"
#include "flexgen/dense_modes.h"
#include "math/eigen.h"

/* What CalculiX computes itself [Hz]. */
static const double rod_held[10] = {448.5876, 448.5876, 3444.863, 3444.863, 3903.440,
                                    6528.290, 9692.075, 9692.075, 11900.67, 20244.00};

static void rod_has_the_frequencies_of_calculix(void **state) {
	(void)state;
	double held[10];
	CalModal *modal = reduced(FIXTURE("rod.inp"), NULL);
	const CalFlexReport report = frequencies_of(modal, held, NULL, 10);
	assert_int_equal(report.modes, 18);
	for (int i = 0; i < 10; i++)
		assert_near(held[i] / rod_held[i], 1, 1e-4);
	assert_near(report.mass, 0.216, 1e-12);
	assert_near(report.com.x, 0.1, 1e-12);
	cal_modal_destroy(modal);
}

static void nothing_is_lost_at_rest(void **state) {
	(void)state;
	const char *const interfaces[] = {"10", "50"};
	const CalFeReduction how[] = {
		{0}, {.interface_count = -1, .modes = 6}, {.interface_count = 2, .interfaces = interfaces}};
	const char *const path[] = {FIXTURE("rod.inp"), FIXTURE("cube.inp"), FIXTURE("beam.pch")};
	for (int i = 0; i < 3; i++) {
		CalModal *modal = reduced(path[i], &how[i]);
		const CalModalFidelity f = cal_modal_fidelity(modal);
		assert_true(f.mass < 1e-13 && f.com < 1e-12 && f.inertia < 1e-12);
		assert_true(f.modal_mass < 1e-12 && f.coupling < 1e-12);
		cal_modal_destroy(modal);
	}
}

static void more_modes_only_lower_frequencies(void **state) {
	(void)state;
	double last[4] = {INFINITY, INFINITY, INFINITY, INFINITY}, held[4];
	for (int modes = 1; modes <= 17; modes += 4) {
		const CalFeReduction how = {.modes = modes};
		CalModal *modal = reduced(FIXTURE("rod.inp"), &how);
		frequencies_of(modal, held, NULL, 4);
		for (int i = 0; i < 4; i++) {
			assert_true(held[i] <= last[i] * (1 + 1e-10));
			last[i] = held[i];
		}
		cal_modal_destroy(modal);
	}
}

/* Free-free modes are the same whether the body is held somewhere or floats; the matrices are complete at 48 modes. */
static void free_frequencies_do_not_depend_on_the_reference(void **state) {
	(void)state;
	double held[12], free_a[12], free_b[12], free_c[12];
	const CalFeReduction root = {.modes = 48}, tip = {.modes = 48, .reference = "tip"};
	const CalFeReduction none = {.interface_count = -1, .modes = 12};
	CalModal *a = reduced(FIXTURE("rod.inp"), &root), *b = reduced(FIXTURE("rod.inp"), &tip);
	CalModal *c = reduced(FIXTURE("rod.inp"), &none);
	frequencies_of(a, held, free_a, 12);
	frequencies_of(b, held, free_b, 12);
	frequencies_of(c, free_c, NULL, 12);
	for (int i = 0; i < 12; i++) {
		assert_near(free_b[i] / free_a[i], 1, 1e-8);
		assert_near(free_c[i] / free_a[i], 1, 1e-8);
	}
	CalModalNode node;
	assert_int_equal(cal_modal_node(b, 0, &node), CAL_OK);
	assert_string_equal(node.name, "tip");
	assert_near(node.placement.position.x, 0, 0);
	cal_modal_destroy(a);
	cal_modal_destroy(b);
	cal_modal_destroy(c);
}

/* Euler-Bernoulli beam by DMIG: cantilever by closed form; four elements are right to 2e-3 up to the fourth mode. */
static void dmig_beam_has_the_frequencies_of_a_cantilever(void **state) {
	(void)state;
	const char *const files[] = {FIXTURE("beam.pch"), FIXTURE("beam.bdf")};
	const char *const interfaces[] = {"10", "grid50"};
	const CalFeReduction how = {.interface_count = 2, .interfaces = interfaces, .modes = 18};
	const double root = 1.8751040687119611, second = 4.6940911329741746;
	for (int i = 0; i < 2; i++) {
		double held[4];
		CalModal *modal = reduced(files[i], &how);
		frequencies_of(modal, held, NULL, 4);
		assert_near(held[0] / (root * root * sqrt(1000 / 1.08) / 6.283185307179586), 1, 1e-4);
		assert_near(held[1] / (root * root * sqrt(1500 / 1.08) / 6.283185307179586), 1, 1e-4);
		assert_near(held[2] / (second * second * sqrt(1000 / 1.08) / 6.283185307179586), 1, 2e-3);
		assert_near(held[3] / (second * second * sqrt(1500 / 1.08) / 6.283185307179586), 1, 2e-3);
		cal_modal_destroy(modal);
	}
}

/* A static load at the tip bends the reduced body like the beam: the static shapes keep the flexibility. */
static void static_flexibility_is_exact(void **state) {
	(void)state;
	const char *const interfaces[] = {"10", "50"};
	const CalFeReduction how = {.interface_count = 2, .interfaces = interfaces, .modes = -1};
	CalModal *modal = reduced(FIXTURE("beam.pch"), &how);
	const CalModalInfo info = cal_modal_info(modal);
	CalModalNode tip;
	double deflection = 0, slope = 0;
	assert_int_equal(info.modes, 6);
	assert_int_equal(cal_modal_node(modal, 1, &tip), CAL_OK);
	assert_string_equal(tip.name, "grid50");
	for (int a = 0; a < 6; a++) { // unit force along y
		const double eta = tip.phi[6 + a] / info.stiffness[a * 6 + a];
		deflection += tip.phi[6 + a] * eta;
		slope += tip.psi[12 + a] * eta;
	}
	assert_near(deflection, 1.0 / (3 * 1500), 1e-9 * deflection); // L^3 / 3EI and L^2 / 2EI
	assert_near(slope, 1.0 / (2 * 1500), 1e-9 * slope);
	cal_modal_destroy(modal);
}

/* ---- the deflected body ------------------------------------------------------------------------ */

typedef struct Cube {
	double M[24][24]; // of the node and direction (3 node + direction)
	double at[8][3];
} Cube;

static void read_cube(Cube *cube) {
	static const double corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
	                                    {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
	static const double size[3] = {0.1, 0.2, 0.3};
	FILE *in = fopen(FIXTURE("cube.mas"), "r");
	int row, col;
	double value;
	assert_non_null(in);
	memset(cube, 0, sizeof *cube);
	while (fscanf(in, "%d %d %lf", &row, &col, &value) == 3)
		cube->M[row - 1][col - 1] = cube->M[col - 1][row - 1] = value;
	fclose(in);
	for (int i = 0; i < 8; i++)
		for (int c = 0; c < 3; c++)
			cube->at[i][c] = (corner[i][c] - 0.5) * size[c];
}

/* J and M_re of the deflected brick from its own mass matrix: R'MR and R'MT, R at the deflected nodes. */
static void inertia_follows_the_deflection_exactly(void **state) {
	(void)state;
	enum { N = 5 };
	const CalFeReduction how = {.interface_count = -1, .modes = N, .display_count = 1000};
	CalModal *modal = reduced(FIXTURE("cube.inp"), &how);
	const double eta[N] = {0.02, -0.05, 0.03, 0.04, -0.01};
	double out[10 + 6 * N + N * N], R[3][24] = {{0}}, phi[N][24];
	Cube cube;
	read_cube(&cube);
	for (int i = 0, node = 0; i < cal_modal_info(modal).node_count; i++) {
		CalModalNode shown;
		assert_int_equal(cal_modal_node(modal, i, &shown), CAL_OK);
		if (shown.kind != CAL_MODAL_DISPLAY)
			continue;
		double r[3];
		for (int c = 0; c < 3; c++) {
			r[c] = cube.at[node][c];
			for (int a = 0; a < N; a++) {
				phi[a][3 * node + c] = shown.phi[c * N + a];
				r[c] += shown.phi[c * N + a] * eta[a];
			}
		}
		for (int c = 0; c < 3; c++) { // e_c x r
			R[c][3 * node + (c + 1) % 3] = -r[(c + 2) % 3];
			R[c][3 * node + (c + 2) % 3] = r[(c + 1) % 3];
		}
		node++;
	}
	inertia_at(modal, eta, out);
	for (int c = 0; c < 3; c++) {
		double JJ = 0, re[N] = {0};
		for (int i = 0; i < 24; i++)
			for (int j = 0; j < 24; j++) {
				JJ += R[c][i] * cube.M[i][j] * R[c][j];
				for (int a = 0; a < N; a++)
					re[a] += R[c][i] * cube.M[i][j] * phi[a][j];
			}
		assert_near(out[4 + c] / JJ, 1, 1e-12);
		for (int a = 0; a < N; a++)
			assert_near(out[10 + 6 * a + c], re[a], 1e-12);
	}
	assert_string_equal(cal_modal_info(modal).notes, "");
	cal_modal_destroy(modal);
}

/* ---- in motion --------------------------------------------------------------------------------- */

/* The rod hinged at its root, falling at 20 rad/s: it is a body like any other, and keeps its energy. */
static void a_reduced_body_swings_and_keeps_its_energy(void **state) {
	(void)state;
	CalModal *modal = reduced(FIXTURE("rod.inp"), &(CalFeReduction){.modes = 2});
	CalDesc *desc;
	CalSim *sim = NULL;
	CalError error = {0};
	CalBodyId body;
	CalSimMonitor monitor;
	CalJointDef hinge = cal_joint_def(CAL_JOINT_REVOLUTE);
	hinge.name = "hinge";
	hinge.axis = (CalVec3){0, 1, 0};
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	assert_int_equal(cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, 0, -9.81}), CAL_OK);
	assert_int_equal(cal_modal_add(modal, desc, "rod", (CalGroupId){0}, 0, &body, &error), CAL_OK);
	assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &hinge, cal_desc_find_node(desc, "rod/root"), NULL, &error),
	                 CAL_OK);
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 5e-7}};
	if (cal_sim_create(desc, &options, &sim, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_model_u_count(cal_sim_model(sim, 0)), 1 + 8);
	cal_sim_state(sim, 0)->u[0] = 20;
	assert_int_equal(cal_sim_restart(sim, &error), CAL_OK);
	assert_int_equal(cal_sim_monitor(sim, 0, &monitor), CAL_OK);
	const double inertia = 0.216 * (0.2 * 0.2 + 0.02 * 0.02) / 12 + 0.216 * 0.01; // about the hinge
	assert_near(monitor.energy.kinetic, 0.5 * inertia * 400, 1e-12);
	assert_int_equal(cal_sim_advance(sim, 0.005, &error), CAL_OK);
	assert_int_equal(cal_sim_monitor(sim, 0, &monitor), CAL_OK);
	assert_true(monitor.energy_conserved);
	assert_true(monitor.energy.kinetic > 0.5 * inertia * 400 + 0.01); // it has fallen
	assert_near(monitor.energy_change, 0, 1e-9 * monitor.energy_scale);
	cal_sim_destroy(sim);
	cal_desc_destroy(desc);
	cal_modal_destroy(modal);
}

/* ---- no mode is missed ------------------------------------------------------------------------- */

enum { ROWS = 9, COLUMNS = 14, GRID = ROWS * COLUMNS };

/* A square net of unit masses and strings, its edge held; attached to it a light mass on a spring of its own. */
typedef struct Net {
	CalFeModel *fe;
	bool inside[GRID + 1];
	int count;
	double values[GRID + 1]; // exact, ascending
} Net;

static int by_value(const void *a, const void *b) {
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void net_add_values(Net *net, int rows, int columns) {
	for (int i = 1; i <= rows; i++)
		for (int j = 1; j <= columns; j++) {
			const double x = sin(i * 1.5707963267948966 / (rows + 1)), y = sin(j * 1.5707963267948966 / (columns + 1));
			net->values[net->count++] = 4 * x * x + 4 * y * y;
		}
}

/** held: a column that does not move, -1: none. light 0: no light mass; else its mass, at the value 0.5. */
static void net_make(Net *net, int held, double light) {
	const int n = GRID + (light > 0);
	memset(net, 0, sizeof *net);
	CalFeModel *fe = net->fe = fe_model_new("net", "made", NULL, NULL);
	assert_non_null(fe);
	fe->dof_count = n;
	fe->dofs = pool_array(&fe->pool, (size_t)n, sizeof *fe->dofs);
	assert_non_null(fe->dofs);
	bool added = true;
	for (int k = 0; k < GRID; k++) {
		const int column = k % COLUMNS;
		fe->dofs[k].node = -1;
		net->inside[k] = column != held;
		added = added && fe_matrix_add(fe, &fe->K, k, k, 4) && fe_matrix_add(fe, &fe->M, k, k, 1);
		added = added && (column + 1 == COLUMNS || fe_matrix_add(fe, &fe->K, k, k + 1, -1));
		added = added && (k + COLUMNS >= GRID || fe_matrix_add(fe, &fe->K, k + COLUMNS, k, -1));
	}
	net_add_values(net, ROWS, held < 0 ? COLUMNS : held);
	if (held >= 0)
		net_add_values(net, ROWS, COLUMNS - 1 - held);
	if (light > 0) {
		added =
			added && fe_matrix_add(fe, &fe->K, GRID, GRID, 0.5 * light) && fe_matrix_add(fe, &fe->M, GRID, GRID, light);
		fe->dofs[GRID].node = -1;
		net->inside[GRID] = true;
		net->values[net->count++] = 0.5;
	}
	assert_true(added);
	qsort(net->values, (size_t)net->count, sizeof *net->values, by_value);
}

/** The lowest modes; their number, *modes, must not be cut down. */
static CalStatus net_modes(const Net *net, int modes, double *values, CalError *error) {
	FeSolver solver;
	int count = modes;
	double *vectors = calloc((size_t)modes * (GRID + 1), sizeof *vectors);
	assert_non_null(vectors);
	assert_int_equal(fe_solver_open(&solver, net->fe, net->inside, 0, error), CAL_OK);
	assert_int_equal(fe_solver_factor(&solver, 0, error), CAL_OK);
	const CalStatus status = fe_lowest_modes(&solver, 0, &count, values, vectors, error);
	assert_int_equal(count, modes);
	fe_solver_free(&solver);
	free(vectors);
	return status;
}

static void modes_below_a_value_are_counted(void **state) {
	(void)state;
	static const int held[] = {-1, 5};
	for (int k = 0; k < 2; k++) {
		Net net;
		FeSolver solver;
		CalError error = {0};
		int answers = 0, asked = 0;
		net_make(&net, held[k], 0);
		assert_int_equal(fe_solver_open(&solver, net.fe, net.inside, 0, &error), CAL_OK);
		for (int i = 0; i < net.count; i++) {
			const double low = i ? net.values[i - 1] : 0, gap = net.values[i] - low;
			for (double part = 0.1; part < 1 && gap > 1e-9; part += 0.2, asked++) {
				const int count = fe_solver_count_below(&solver, low + part * gap);
				assert_true(count == i || count == -1); // no answer is allowed, a wrong one is not
				answers += count >= 0;
			}
		}
		assert_true(asked > 2 * net.count && answers > 0.98 * asked);
		assert_int_equal(fe_solver_count_below(&solver, 9), net.count);
		fe_solver_free(&solver);
		cal_fe_destroy(net.fe);
	}
}

/* The start has 1e-12 of the light mass's mode: the iteration settles on the others before that has grown. */
static void a_mode_that_the_start_lacks_is_found(void **state) {
	(void)state;
	Net net;
	CalError error = {0};
	double values[6];
	net_make(&net, -1, 1e-24);
	assert_near(net.values[4], 0.5, 0);
	if (net_modes(&net, 6, values, &error) != CAL_OK)
		fail_msg("%s", error.text);
	for (int i = 0; i < 6; i++)
		assert_near(values[i] / net.values[i], 1, 1e-11);
	cal_fe_destroy(net.fe);
}

/* With 1e-50 of it, it never comes up. */
static void modes_that_are_missing_are_an_error(void **state) {
	(void)state;
	Net net;
	CalError error = {0};
	double values[6];
	net_make(&net, -1, 1e-100);
	assert_int_equal(net_modes(&net, 6, values, &error), CAL_NOT_CONVERGED);
	if (!strstr(error.text, "net: error: there are 7 modes up to 0.138714 Hz, but only 6 of them were found"))
		fail_msg("%s", error.text);
	cal_fe_destroy(net.fe);
}

/* ---- dense and sparse matrices ------------------------------------------------------------------ */

static double *dense_of(const FeMatrix *A, int n) {
	double *full = calloc((size_t)n * (size_t)n, sizeof *full);
	assert_non_null(full);
	for (int e = 0; e < A->count; e++) {
		full[A->row[e] * n + A->col[e]] += A->value[e];
		if (A->row[e] != A->col[e])
			full[A->col[e] * n + A->row[e]] += A->value[e];
	}
	return full;
}

static double product_of(const double *M, int n, const double *a, const double *b) {
	double sum = 0;
	for (int i = 0; i < n * n; i++)
		sum += a[i / n] * M[i] * b[i % n];
	return sum;
}

/* Frequencies [Hz] of static shapes and modes together; the modes of the body with dense matrices. */
static void dense_frequencies(const DenseBody *body, double *hertz, int count) {
	DenseModes r;
	assert_int_equal(dense_modes_create(body, &r), CAL_OK);
	const int m = r.shapes;
	double *M = calloc((size_t)(m * m + 3 * m), sizeof *M), *values = M + m * m;
	assert_non_null(M);
	for (int i = 0; i < m * m; i++)
		M[i] = product_of(body->M, body->n, r.shape + i / m * body->n, r.shape + i % m * body->n);
	assert_int_equal(eigen_generalized(m, r.stiffness, M, values, values + m), CAL_OK);
	for (int i = 0; i < count; i++)
		hertz[i] = sqrt(values[i]) / 6.283185307179586;
	free(M);
	dense_modes_free(&r);
}

/* Beams and panels reduce dense matrices, finite-element models a band: the same matrices give the same body. */
static void sparse_and_dense_matrices_give_the_same_modes(void **state) {
	(void)state;
	enum { MODES = 10, BOTH = MODES + 6 };
	CalFeModel *fe = fe_of(FIXTURE("rod.inp"));
	const int n = fe->dof_count;
	double *K = dense_of(&fe->K, n), *M = dense_of(&fe->M, n), band[BOTH], dense[BOTH];
	unsigned char *role = calloc((size_t)n, 1);
	assert_non_null(role);
	for (int free_body = 0; free_body < 2; free_body++) {
		const int count = free_body ? MODES : BOTH;
		memset(role, ROLE_INTERIOR, (size_t)n);
		for (int f = 0; f < (free_body ? 1 : 2); f++)
			for (int c = 0; c < 6; c++)
				role[fe->nodes[fe->frames[f].node].dof[c]] = free_body ? ROLE_FRAME : f == 0 ? ROLE_HELD : ROLE_UNIT;
		const DenseBody body = {.n = n, .K = K, .M = M, .role = role, .modes = MODES, .mean = true};
		dense_frequencies(&body, dense, count);
		const CalFeReduction how = {.modes = MODES, .interface_count = free_body ? -1 : 0};
		CalModal *modal = reduced(FIXTURE("rod.inp"), &how);
		frequencies_of(modal, band, NULL, count);
		for (int i = 0; i < count; i++)
			assert_near(dense[i] / band[i], 1, 1e-8);
		cal_modal_destroy(modal);
	}
	free(K);
	free(M);
	free(role);
	cal_fe_destroy(fe);
}

/* ---- what is refused --------------------------------------------------------------------------- */

static void expect_refusal(const char *path, const CalFeReduction *how, const char *what) {
	CalFeModel *fe = fe_of(path);
	CalModal *modal = NULL;
	CalError error = {0};
	assert_int_equal(cal_fe_reduce(fe, how, &modal, &error), CAL_ERR_INPUT);
	if (!strstr(error.text, what))
		fail_msg("%s", error.text);
	assert_null(modal);
	cal_fe_destroy(fe);
}

static void wrong_requests_are_refused(void **state) {
	(void)state;
	const char *const missing[] = {"flange"}, *const solid[] = {"5"}, *const twice[] = {"tip", "35"};
	expect_refusal(FIXTURE("rod.inp"), &(CalFeReduction){.interface_count = 1, .interfaces = missing},
	               "there is no interface \"flange\"; the model offers root, tip");
	expect_refusal(FIXTURE("rod.inp"), &(CalFeReduction){.interface_count = 1, .interfaces = solid},
	               "there is no interface \"5\"");
	expect_refusal(FIXTURE("rod.inp"), &(CalFeReduction){.interface_count = 2, .interfaces = twice}, "named twice");
	expect_refusal(FIXTURE("rod.inp"), &(CalFeReduction){.reference = "middle"}, "there is no interface \"middle\"");
	expect_refusal(FIXTURE("rod.inp"), &(CalFeReduction){.expected_mass = 216},
	               "216 kg were expected (0.001 times as much); the units are probably off");
	expect_refusal(FIXTURE("rod.inp"), &(CalFeReduction){.expected_mass = 0.3},
	               "(0.72 times as much); is it the same part");
	expect_refusal(FIXTURE("cube.inp"), &(CalFeReduction){.modes = 4, .max_frequency = 1}, "no shape is left");
	expect_refusal(FIXTURE("cube.inp"), &(CalFeReduction){.modes = -1}, "there must be modes");
}

/* Two free masses without a spring between them; a spring to the ground; a mass that acts along x only. */
static void broken_models_are_refused(void **state) {
	(void)state;
	enum { SIZE = 8192 };
	static const struct {
		const char *k, *m, *what;
	} change[] = {
		{"DMIG,K,2,3,,2,3,0.\n", "", "stiffness matrix is singular"},
		{"DMIG,K,2,1,,2,1,50.\n", "", "rigid motion meets a resistance"},
		{"", "DMIG,M,2,1,,2,1,1.\n", "mass differs by"},
	};
	for (int i = 0; i < 3; i++) {
		char text[SIZE] = "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nDMIG,K,0,6,2,0\n";
		for (int c = 1; c <= 3; c++) { // translations tied by springs that rigid rotation does not stretch either
			const int tie = i != 0 || c != 3;
			snprintf(text + strlen(text), SIZE - strlen(text), "DMIG,K,1,%d,,1,%d,%d.\n,2,%d,%d.\n,,\n", c, c, 100, c,
			         tie && c == 1 ? -100 : 0);
			snprintf(text + strlen(text), SIZE - strlen(text), "DMIG,K,2,%d,,2,%d,%d.\n", c, c,
			         c == 3 && i == 0 ? 0 : 100);
		}
		snprintf(text + strlen(text), SIZE - strlen(text), "%sDMIG,M,0,6,2,0\n", change[i].k);
		for (int c = 1; c <= 3; c++)
			snprintf(text + strlen(text), SIZE - strlen(text), "DMIG,M,1,%d,,1,%d,1.\nDMIG,M,2,%d,,2,%d,1.\n", c, c, c,
			         c);
		snprintf(text + strlen(text), SIZE - strlen(text), "%s", change[i].m);
		CalFeModel *fe = NULL;
		CalModal *modal = NULL;
		CalError error = {0};
		CalStatus status = cal_fe_read(write_text("broken.dmig", text), NULL, NULL, &fe, &error);
		if (status == CAL_OK)
			status = cal_fe_reduce(fe, &(CalFeReduction){.modes = 2}, &modal, &error);
		if (status != CAL_ERR_INPUT || !strstr(error.text, change[i].what))
			fail_msg("%d: %s", status, error.text);
		cal_fe_destroy(fe);
	}
}

/* The beam, and beside it a tetrahedron of bars that touches nothing: it floats once the interfaces are held. */
static void loose_parts_are_found(void **state) {
	(void)state;
	static const double at[4][3] = {{0, 1, 0}, {1, 1, 0}, {0, 2, 0}, {0, 1, 1}};
	double K[12][12] = {{0}};
	char *text = text_of(FIXTURE("beam.pch")), *end = text + strlen(text);
	for (int i = 0; i < 4; i++)
		for (int j = i + 1; j < 4; j++)
			for (int c = 0; c < 3; c++)
				for (int d = 0; d < 3; d++) {
					const double k = 1e6 * (at[j][c] - at[i][c]) * (at[j][d] - at[i][d]);
					K[3 * i + c][3 * i + d] += k;
					K[3 * j + c][3 * j + d] += k;
					K[3 * i + c][3 * j + d] -= k;
					K[3 * j + c][3 * i + d] -= k;
				}
	for (int i = 0; i < 4; i++)
		end += sprintf(end, "GRID,%d,,%.1f,%.1f,%.1f\n", 61 + i, at[i][0], at[i][1], at[i][2]);
	for (int j = 0; j < 12; j++)
		for (int i = j; i < 12; i++)
			end += sprintf(end, "DMIG,KAAX,%d,%d,,%d,%d,%.1f\n", 61 + j / 3, j % 3 + 1, 61 + i / 3, i % 3 + 1, K[i][j]);
	for (int j = 0; j < 12; j++)
		end += sprintf(end, "DMIG,MAAX,%d,%d,,%d,%d,0.1\n", 61 + j / 3, j % 3 + 1, 61 + j / 3, j % 3 + 1);
	write_text("loose.pch", text);
	free(text);
	const char *const interfaces[] = {"10", "50"};
	expect_refusal(temp_path("loose.pch"), &(CalFeReduction){.interface_count = 2, .interfaces = interfaces},
	               "singular with the interfaces held (node 6");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rod_has_the_frequencies_of_calculix),
		cmocka_unit_test(nothing_is_lost_at_rest),
		cmocka_unit_test(more_modes_only_lower_frequencies),
		cmocka_unit_test(free_frequencies_do_not_depend_on_the_reference),
		cmocka_unit_test(dmig_beam_has_the_frequencies_of_a_cantilever),
		cmocka_unit_test(static_flexibility_is_exact),
		cmocka_unit_test(inertia_follows_the_deflection_exactly),
		cmocka_unit_test(a_reduced_body_swings_and_keeps_its_energy),
		cmocka_unit_test(modes_below_a_value_are_counted),
		cmocka_unit_test(a_mode_that_the_start_lacks_is_found),
		cmocka_unit_test(modes_that_are_missing_are_an_error),
		cmocka_unit_test(sparse_and_dense_matrices_give_the_same_modes),
		cmocka_unit_test(wrong_requests_are_refused),
		cmocka_unit_test(broken_models_are_refused),
		cmocka_unit_test(loose_parts_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
