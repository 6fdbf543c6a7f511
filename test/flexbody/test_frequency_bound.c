// SPDX-License-Identifier: Apache-2.0
/*
 * test_frequency_bound.c — what the body-level frequency bound promises: static flexibility and damping ratios as
 * before, no assembly faster than the bound, slow modes nearly untouched.
 *
 * Assemblies are made by hand with dense matrices: bodies, each with its rigid motion and modes, tied together
 * at random nodes along random directions, reduced to the null space of the ties.
 */
#include <calder/calder.h>

#include "flexbody/modal_sample.h"

/* ---- frequency bound ----------------------------------------------------------------------- */

/** A body with a bound among its frequencies, its form without (f) and with it (g). */
static void bounded_sample(uint64_t seed, Sample *s, Form *f, Form *g) {
	random_form(seed, s, f);
	s->flex.frequency_bound = middle_bound(f, s->flex.modes);
	canonicalize(s, g);
	check_ok(seed, g->status);
	check_that(seed, g->form.bounded >= 1 && g->form.bounded <= s->flex.modes);
}

static void static_flexibility_is_unchanged_by_the_bound(void **state) {
	(void)state;
	for (uint64_t c = 0; c < 200; c++) {
		uint64_t seed = test_seed() + c;
		Sample s;
		Form f, g;
		bounded_sample(seed, &s, &f, &g);
		int m = s.flex.modes;
		double compliance[MAX_MODES * MAX_MODES], with[MAX_MODES * MAX_MODES];
		memcpy(compliance, s.K, sizeof compliance);
		invert(m, compliance);
		for (int i = 0; i < m; i++) { // K^-1 = C diag(1/w2) C'
			for (int j = 0; j < m; j++) {
				with[i * m + j] = 0;
				for (int k = 0; k < m; k++) {
					with[i * m + j] += g.C[i * m + k] * g.C[j * m + k] / g.w2[k];
				}
			}
		}
		check_close(seed, "compliance", m * m, with, compliance, 1e-9);
		for (int node = 0; node < s.flex.node_count; node++) { // and what a force at any node does there
			double want[9], got[9], Pt[3 * MAX_MODES];
			for (int i = 0; i < 3 * m; i++) {
				Pt[i] = s.phi[node][i % 3 * m + i / 3];
			}
			congruence(m, 3, compliance, Pt, want);
			congruence(m, 3, with, Pt, got);
			check_close(seed, "deflection under a load", 9, got, want, 1e-9);
		}
	}
}

/** C^-T C^-1: the modal mass matrix that the form stands for. */
static void mass_of_form(int m, const Form *f, double *M) {
	double inverse[MAX_MODES * MAX_MODES];
	memcpy(inverse, f->C, sizeof inverse);
	invert(m, inverse);
	multiply_transposed(m, m, m, inverse, inverse, M);
}

static void free_frequencies_are_cut_off_at_the_bound(void **state) {
	(void)state;
	for (uint64_t c = 0; c < 200; c++) {
		uint64_t seed = test_seed() + c;
		Sample s;
		Form f, g;
		bounded_sample(seed, &s, &f, &g);
		int m = s.flex.modes;
		double rr[36], re[6 * MAX_MODES], ee[MAX_MODES * MAX_MODES], ff[MAX_MODES * MAX_MODES];
		double got[MAX_MODES], want[MAX_MODES], bound2 = s.flex.frequency_bound * s.flex.frequency_bound;
		ModalBody b = modal_of(&s);
		modal_mass(&b, rr, re, NULL);
		mass_of_form(m, &g, ee);
		schur(m, rr, re, ee, ff);
		values_of(seed, m, s.K, ff, got);
		int above = 0;
		for (int i = 0; i < m; i++) {
			want[i] = fmin(f.free_w2[i], bound2);
			above += f.free_w2[i] > bound2;
		}
		check_close(seed, "free frequencies", m, got, want, 1e-8);
		check_that(seed, g.form.bounded == above);
	}
}

static void damping_ratios_survive_the_bound(void **state) {
	(void)state;
	for (uint64_t c = 0; c < 100; c++) {
		uint64_t seed = test_seed() + c;
		Rng r = rng_make(seed);
		Sample s;
		Form f, g;
		random_sample(&r, &s);
		int m = s.flex.modes;
		double rr[36], re[6 * MAX_MODES], ee[MAX_MODES * MAX_MODES], ff[MAX_MODES * MAX_MODES];
		double Y[MAX_MODES * MAX_MODES], Z[MAX_MODES * MAX_MODES], w2[MAX_MODES], zeta[MAX_MODES],
			scratch[2 * MAX_MODES];
		ModalBody b = modal_of(&s);
		modal_mass(&b, rr, re, ee);
		schur(m, rr, re, ee, ff);
		memcpy(Y, s.K, sizeof Y);
		check_ok(seed, eigen_generalized(m, Y, ff, w2, scratch));
		memcpy(Z, Y, sizeof Z);
		invert(m, Z);
		memset(s.D, 0, sizeof s.D);
		for (int k = 0; k < m; k++) { // D = sum 2 zeta w z z'
			zeta[k] = rng_uniform(&r, 0.01, 0.1);
			for (int i = 0; i < m * m; i++) {
				s.D[i] += 2 * zeta[k] * sqrt(w2[k]) * Z[k * m + i / m] * Z[k * m + i % m];
			}
		}
		canonicalize(&s, &f);
		double bound = s.flex.frequency_bound = middle_bound(&f, m);
		canonicalize(&s, &g);
		check_ok(seed, g.status);
		double inverse[MAX_MODES * MAX_MODES], D[MAX_MODES * MAX_MODES], got[MAX_MODES * MAX_MODES];
		double want[MAX_MODES * MAX_MODES] = {0};
		memcpy(inverse, g.C, sizeof inverse);
		invert(m, inverse);
		congruence(m, m, g.D, inverse, D);
		congruence(m, m, D, Y, got);
		for (int k = 0; k < m; k++) {
			want[k * m + k] = 2 * zeta[k] * (w2[k] > bound * bound ? w2[k] / bound : sqrt(w2[k]));
		}
		check_close(seed, "damping of the free modes", m * m, got, want, 1e-8);
	}
}

static void high_bound_changes_nothing(void **state) {
	(void)state;
	Sample s;
	Form f, g;
	random_form(test_seed(), &s, &f);
	s.flex.frequency_bound = 1.001 * sqrt(f.free_w2[s.flex.modes - 1]);
	canonicalize(&s, &g);
	assert_int_equal(g.form.bounded, 0);
	size_t m = (size_t)s.flex.modes;
	assert_memory_equal(f.C, g.C, m * m * sizeof(double));
	assert_memory_equal(f.D, g.D, m * m * sizeof(double));
	assert_memory_equal(f.w2, g.w2, m * sizeof(double));
}

static void far_lower_bound_is_accurate(void **state) {
	(void)state;
	for (uint64_t c = 0; c < 50; c++) {
		uint64_t seed = test_seed() + c;
		Sample s;
		Form f;
		random_form(seed, &s, &f);
		int m = s.flex.modes;
		s.flex.frequency_bound = 1e-8 * sqrt(f.free_w2[m - 1]); // 1e16 times the mass
		canonicalize(&s, &f);
		check_ok(seed, f.status);
		check_that(seed, f.form.bounded == m);
		for (int i = 0; i < m; i++) { // next to the added mass, the rest is nothing
			check_that(seed, fabs(sqrt(f.w2[i]) / s.flex.frequency_bound - 1) < 1e-6);
		}
	}
}

/**
 * Three equal masses on a line, the middle one moving across: M_rr has no inertia about the line. Of the shape
 * (0,1,0) the free body keeps (-1,2,-1)/3, of which the square is 2/3: w^2 = 3/2 k/m.
 */
static void line_of_masses_has_its_closed_form(void **state) {
	(void)state;
	Sample s = {.nodes = {{.mass = 4}, {.mass = 4}, {.mass = 4}}, .position = {{1, 5, 0}, {2, 5, 0}, {3, 5, 0}}};
	for (int i = 0; i < 3; i++) {
		s.nodes[i].phi = s.phi[i];
	}
	s.phi[1][1] = 1;
	s.K[0] = 600;
	s.flex = (CalFlexDef){.modes = 1, .stiffness = s.K, .node_count = 3, .nodes = s.nodes, .frequency_bound = 5};
	Form f;
	canonicalize(&s, &f);
	check_ok(0, f.status);
	assert_true(fabs(f.free_w2[0] - 225) < 1e-11);
	// modal mass 4 + (225/25 - 1) 8/3 = 25 1/3
	assert_true(fabs(f.w2[0] - 600 * 3 / 76.0) < 1e-11);
}

/* ---- assemblies ---------------------------------------------------------------------------- */

enum { MAX_BODIES = 5, MAX_SIZE = MAX_BODIES * (6 + MAX_MODES) };

/** Dense matrices of bodies side by side; offset[k] is where body k begins. */
typedef struct Assembly {
	int count, size, offset[MAX_BODIES];
	Sample body[MAX_BODIES];
	double *M, *bounded_M, *K; // [size*size] without and with the bound
	double *ties;              // [size*size] sum of g g' over the rows g of the ties
} Assembly;

/** Velocity of a node of body k: rows [6][size] of its derivative by the assembly's speeds. */
static void node_rows(const Assembly *a, int k, int node, double rows[6][MAX_SIZE]) {
	const Sample *s = &a->body[k];
	int m = s->flex.modes, at = a->offset[k];
	CalVec3 r = s->position[node];
	memset(rows, 0, 6 * sizeof rows[0]);
	const double shift[3][3] = {{0, r.z, -r.y}, {-r.z, 0, r.x}, {r.y, -r.x, 0}}; // w x r
	for (int i = 0; i < 3; i++) {
		rows[i][at + i] = rows[i + 3][at + 3 + i] = 1;
		for (int j = 0; j < 3; j++) {
			rows[i + 3][at + j] = shift[i][j];
		}
		for (int j = 0; j < m; j++) {
			rows[i][at + 6 + j] = s->nodes[node].psi ? s->psi[node][i * m + j] : 0;
			rows[i + 3][at + 6 + j] = s->phi[node][i * m + j];
		}
	}
}

/** Ties a node of body k to a node of an earlier body, or to the ground (parent < 0), along `count` directions. */
static void tie(Rng *r, Assembly *a, int k, int parent, int count) {
	double outer[6][MAX_SIZE], inner[6][MAX_SIZE];
	memset(inner, 0, sizeof inner);
	node_rows(a, k, rng_int(r, a->body[k].flex.node_count), outer);
	if (parent >= 0) {
		node_rows(a, parent, rng_int(r, a->body[parent].flex.node_count), inner);
	}
	for (int c = 0; c < count; c++) {
		double direction[6], g[MAX_SIZE] = {0};
		rng_fill(r, 1, 6, direction);
		for (int i = 0; i < 6; i++) {
			for (int j = 0; j < a->size; j++) {
				g[j] += direction[i] * (outer[i][j] - inner[i][j]);
			}
		}
		for (int i = 0; i < a->size * a->size; i++) {
			a->ties[i] += g[i / a->size] * g[i % a->size];
		}
	}
}

/** Random bodies, all with the same bound, in a random tree of random ties. */
static void random_assembly(Rng *r, uint64_t seed, Assembly *a) {
	a->count = 1 + rng_int(r, MAX_BODIES);
	a->size = 0;
	double bound = INFINITY;
	for (int k = 0; k < a->count; k++) {
		Form f;
		random_sample(r, &a->body[k]);
		canonicalize(&a->body[k], &f);
		check_ok(seed, f.status);
		bound = fmin(bound, middle_bound(&f, a->body[k].flex.modes));
		a->offset[k] = a->size;
		a->size += 6 + a->body[k].flex.modes;
	}
	int n = a->size;
	a->M = test_doubles(n * n), a->bounded_M = test_doubles(n * n), a->K = test_doubles(n * n);
	a->ties = test_doubles(n * n);
	for (int k = 0; k < a->count; k++) {
		Sample *s = &a->body[k];
		int m = s->flex.modes, at = a->offset[k];
		double M[(6 + MAX_MODES) * (6 + MAX_MODES)], ee[MAX_MODES * MAX_MODES];
		Form f;
		s->flex.frequency_bound = bound;
		canonicalize(s, &f);
		check_ok(seed, f.status);
		full_mass(s, M);
		mass_of_form(m, &f, ee);
		for (int i = 0; i < 6 + m; i++) {
			for (int j = 0; j < 6 + m; j++) {
				int to = (at + i) * n + at + j;
				bool modal = i >= 6 && j >= 6;
				a->M[to] = M[i * (6 + m) + j];
				a->bounded_M[to] = modal ? ee[(i - 6) * m + j - 6] : a->M[to];
				a->K[to] = modal ? s->K[(i - 6) * m + j - 6] : 0;
			}
		}
		tie(r, a, k, k == 0 ? -1 : rng_int(r, k), rng_int(r, 7));
		if (rng_chance(r, 0.3)) {
			tie(r, a, k, rng_int(r, k + 1) - 1, rng_int(r, 4)); // a loop
		}
	}
}

static void join_tree_free(Assembly *a) { free(a->M), free(a->bounded_M), free(a->K), free(a->ties); }

/** An orthonormal basis N [size x rank] of the motions that the ties leave. */
static int null_space(uint64_t seed, const Assembly *a, double *N) {
	int n = a->size, rank = 0;
	double *V = test_doubles(n * n), *values = test_doubles(n), *scratch = test_doubles(2 * n);
	memcpy(V, a->ties, (size_t)(n * n) * sizeof *V);
	check_ok(seed, eigen_symmetric(n, V, values, scratch));
	while (rank < n && values[rank] < 1e-11 * fmax(values[n - 1], 1)) {
		rank++;
	}
	for (int i = 0; i < n * rank; i++) {
		N[i] = V[i / rank * n + i % rank];
	}
	free(V), free(values), free(scratch);
	return rank;
}

/** Values of K against the two mass matrices within the ties. */
static int assembly_values(uint64_t seed, const Assembly *a, double *before, double *after) {
	int n = a->size;
	double *N = test_doubles(n * n), *K = test_doubles(n * n), *M = test_doubles(n * n);
	int rank = null_space(seed, a, N);
	if (rank > 0) {
		congruence(n, rank, a->K, N, K);
		congruence(n, rank, a->M, N, M);
		values_of(seed, rank, K, M, before);
		congruence(n, rank, a->bounded_M, N, M);
		values_of(seed, rank, K, M, after);
	}
	free(N), free(K), free(M);
	return rank;
}

/** Added mass is at most K/w_max^2: w^2/(1 + w^2/w_max^2) <= w'^2 <= w^2 for every mode of every assembly. */
static void no_assembly_is_faster_than_the_bound(void **state) {
	(void)state;
	Assembly *a = test_alloc(1, sizeof *a);
	int faster_without = 0, cases = 150;
	double highest = 0;
	for (uint64_t c = 0; c < (uint64_t)cases; c++) {
		uint64_t seed = test_seed() + c;
		Rng r = rng_make(seed);
		random_assembly(&r, seed, a);
		double before[MAX_SIZE], after[MAX_SIZE], bound = a->body[0].flex.frequency_bound, bound2 = bound * bound;
		int rank = assembly_values(seed, a, before, after);
		if (rank == 0) { // tied down altogether
			join_tree_free(a);
			continue;
		}
		faster_without += before[rank - 1] > bound2;
		highest = fmax(highest, sqrt(after[rank - 1]) / bound);
		check_that(seed, after[rank - 1] <= bound2 * (1 + 1e-9));
		for (int i = 0; i < rank; i++) {
			double noise = 1e-10 * before[rank - 1];
			check_that(seed, after[i] <= before[i] * (1 + 1e-9) + noise);
			check_that(seed, after[i] >= before[i] / (1 + before[i] / bound2) * (1 - 1e-9) - noise);
		}
		join_tree_free(a);
	}
	print_message("highest frequency over the bound: %.12f; above it without: %d of %d\n", highest, faster_without,
	              cases);
	assert_true(faster_without > cases / 2);
	free(a);
}

/* ---- the report ------------------------------------------------------------------------------------ */

/** Eigenvalues, ascending, and the second vector of K v = w2 M v, 2 by 2, with v'Mv = 1. */
static void solve_pair(const double K[3], const double M[3], double w2[2], double v[2]) {
	const double a = M[0] * M[2] - M[1] * M[1], b = K[0] * M[2] + K[2] * M[0] - 2 * K[1] * M[1];
	const double c = K[0] * K[2] - K[1] * K[1], root = sqrt(b * b - 4 * a * c);
	w2[1] = (b + root) / (2 * a);
	w2[0] = c / a / w2[1];
	v[0] = -(K[1] - w2[1] * M[1]);
	v[1] = K[0] - w2[1] * M[0];
	const double length = sqrt(M[0] * v[0] * v[0] + 2 * M[1] * v[0] * v[1] + M[2] * v[1] * v[1]);
	v[0] /= length;
	v[1] /= length;
}

/**
 * 1 kg at the origin, 2 and 3 kg before it on the x axis, each on a spring along it: M_rr = 6, M_re = (2 3). The faster free
 * mode is above the bound, the slower held mode below: it moves, as the formula of docs/flexible.md says.
 */
static void the_report_says_what_becomes_of_held_modes(void **state) {
	(void)state;
	static const double K[3] = {80, 0, 3}, M[3] = {2, 0, 3}, M_ff[3] = {2 - 4.0 / 6, -1, 3 - 9.0 / 6};
	static const double stiffness[4] = {80, 0, 0, 3}, phi1[6] = {1}, phi2[6] = {0, 1};
	const double bound = 4;
	CalDesc *desc;
	CalBodyDef def = cal_body_def();
	CalBodyId id;
	CalNodeId node[2];
	def.name = "b";
	def.mass = 1;
	check_ok(0, cal_desc_create(NULL, &desc));
	check_ok(0, cal_desc_add_body(desc, &def, &id, NULL));
	for (int i = 0; i < 2; i++) {
		CalNodeDef at = cal_node_def();
		at.name = i ? "s" : "p";
		at.placement.position.x = 1 + i;
		check_ok(0, cal_desc_add_node(desc, id, &at, &node[i], NULL));
	}
	const CalFlexNode nodes[2] = {{.node = node[0], .mass = 2, .phi = phi1}, {.node = node[1], .mass = 3, .phi = phi2}};
	const CalFlexDef flex = {
		.modes = 2, .stiffness = stiffness, .node_count = 2, .nodes = nodes, .frequency_bound = bound};
	check_ok(0, cal_desc_set_flexible(desc, id, &flex, NULL));
	CalFlexReport report;
	CalFlexMode modes[2];
	check_ok(0, cal_flex_report(desc, id, &report, modes, 2, NULL));
	double free2[2], after2[2], v[2], unused[2];
	solve_pair(K, M_ff, free2, v);
	const double p[2] = {M_ff[0] * v[0] + M_ff[1] * v[1], M_ff[1] * v[0] + M_ff[2] * v[1]};
	const double add = free2[1] / (bound * bound) - 1;
	const double heavier[3] = {M[0] + add * p[0] * p[0], add * p[0] * p[1], M[2] + add * p[1] * p[1]};
	solve_pair(K, heavier, after2, unused);
	assert_true(free2[0] < bound * bound && free2[1] > bound * bound);
	check_close(0, "free", 1, &(double){modes[1].free_frequency}, &(double){sqrt(free2[1])}, 1e-12);
	check_close(0, "free after", 1, &(double){modes[1].bounded_free}, &(double){bound}, 1e-12);
	check_close(0, "free below", 1, &(double){modes[0].bounded_free}, &(double){sqrt(free2[0])}, 1e-12);
	for (int k = 0; k < 2; k++) {
		const double before = modes[k].frequency, after = modes[k].bounded_frequency;
		check_close(0, "held", 1, &(double){before}, &(double){sqrt(k ? 40 : 1)}, 1e-12);
		check_close(0, "held after", 1, &(double){after}, &(double){sqrt(after2[k])}, 1e-12);
		assert_true(after < before && after > before / sqrt(1 + before * before / (bound * bound)));
	}
	cal_desc_destroy(desc);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(static_flexibility_is_unchanged_by_the_bound),
		cmocka_unit_test(free_frequencies_are_cut_off_at_the_bound),
		cmocka_unit_test(damping_ratios_survive_the_bound),
		cmocka_unit_test(high_bound_changes_nothing),
		cmocka_unit_test(far_lower_bound_is_accurate),
		cmocka_unit_test(line_of_masses_has_its_closed_form),
		cmocka_unit_test(no_assembly_is_faster_than_the_bound),
		cmocka_unit_test(the_report_says_what_becomes_of_held_modes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
