// SPDX-License-Identifier: Apache-2.0
/*
 * test_modal.c — a flexible body's mass matrices against its kinetic energy, the canonical form, the modes of
 * the free body, and what is said about bodies that have none of these.
 */
#include "flexbody/modal_sample.h"

/* ---- mass ---------------------------------------------------------------------------------- */

static CalVec3 cross(CalVec3 a, CalVec3 b) {
	return (CalVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static double quadratic(const CalMat3 *J, const double *w) {
	double sum = 0;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			sum += w[i] * J->m[i][j] * w[j];
		}
	}
	return sum;
}

/** Twice the energy of a mass m with inertia J at r, velocity x = [w; v; modal speeds]. */
static double energy_at(double mass, const CalMat3 *J, CalVec3 r, const double *phi, const double *psi, int m,
                        const double *x) {
	CalVec3 w = {x[0], x[1], x[2]}, wr = cross(w, r);
	double v[3] = {x[3] + wr.x, x[4] + wr.y, x[5] + wr.z}, turn[3] = {x[0], x[1], x[2]};
	for (int j = 0; j < m; j++) {
		for (int k = 0; k < 3; k++) {
			v[k] += phi ? phi[k * m + j] * x[6 + j] : 0;
			turn[k] += psi ? psi[k * m + j] * x[6 + j] : 0;
		}
	}
	return mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + quadratic(J, turn);
}

static void mass_matrices_give_the_kinetic_energy(void **state) {
	(void)state;
	for (uint64_t c = 0; c < 200; c++) {
		uint64_t seed = test_seed() + c;
		Rng r = rng_make(seed);
		Sample s;
		random_sample(&r, &s);
		int m = s.flex.modes, n = 6 + m;
		double M[(6 + MAX_MODES) * (6 + MAX_MODES)], x[6 + MAX_MODES], got = 0;
		full_mass(&s, M);
		rng_fill(&r, 1, n, x);
		double want = energy_at(s.body.mass, &s.body.inertia, s.body.com, NULL, NULL, m, x);
		for (int i = 0; i < s.flex.node_count; i++) {
			const CalFlexNode *node = &s.nodes[i];
			want += energy_at(node->mass, &node->inertia, s.position[i], node->phi, node->psi, m, x);
		}
		for (int i = 0; i < n * n; i++) {
			got += x[i / n] * M[i] * x[i % n];
		}
		check_close(seed, "twice the kinetic energy", 1, &got, &want, 1e-13);
	}
}

static void whole_body_is_reported_about_its_center(void **state) {
	(void)state;
	Rng r = rng_make(test_seed());
	Sample s;
	random_sample(&r, &s);
	ModalBody b = modal_of(&s);
	ModalRigid rigid = modal_rigid(&b);
	double rr[36], c[3] = {rigid.com.x, rigid.com.y, rigid.com.z}, got[9], want[9];
	modal_mass(&b, rr, NULL, NULL);
	assert_true(fabs(rr[21] - rigid.mass) < 1e-14 * rigid.mass);
	for (int i = 0; i < 9; i++) {
		double square = i % 4 ? 0 : c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
		want[i] = rr[i / 3 * 6 + i % 3];
		got[i] = rigid.inertia.m[i / 3][i % 3] + rigid.mass * (square - c[i / 3] * c[i % 3]);
	}
	check_close(test_seed(), "inertia about B", 9, got, want, 1e-13);
}

/* ---- canonical form ------------------------------------------------------------------------ */

static void canonical_form_has_its_invariants(void **state) {
	(void)state;
	for (uint64_t c = 0; c < 200; c++) {
		uint64_t seed = test_seed() + c;
		Sample s;
		Form f;
		random_form(seed, &s, &f);
		int m = s.flex.modes;
		double ee[MAX_MODES * MAX_MODES], got[MAX_MODES * MAX_MODES], want[MAX_MODES * MAX_MODES];
		ModalBody b = modal_of(&s);
		modal_mass(&b, NULL, NULL, ee);
		congruence(m, m, ee, f.C, got);
		for (int i = 0; i < m * m; i++) {
			want[i] = i / m == i % m;
		}
		check_close(seed, "C'M_ee C", m * m, got, want, 1e-11);
		congruence(m, m, s.K, f.C, got);
		for (int i = 0; i < m * m; i++) {
			want[i] *= f.w2[i / m];
		}
		check_close(seed, "C'KC", m * m, got, want, 1e-11);
		congruence(m, m, s.D, f.C, got);
		check_close(seed, "C'DC", m * m, f.D, got, 1e-12);
		check_that(seed, f.form.bounded == 0 && f.form.clamped == 0 && f.form.fault == MODAL_SOUND);
	}
}

static void free_frequencies_are_those_of_the_schur_complement(void **state) {
	(void)state;
	for (uint64_t c = 0; c < 200; c++) {
		uint64_t seed = test_seed() + c;
		Sample s;
		Form f;
		random_form(seed, &s, &f);
		int m = s.flex.modes;
		double rr[36], re[6 * MAX_MODES], ee[MAX_MODES * MAX_MODES], ff[MAX_MODES * MAX_MODES], want[MAX_MODES];
		ModalBody b = modal_of(&s);
		modal_mass(&b, rr, re, ee);
		schur(m, rr, re, ee, ff);
		values_of(seed, m, s.K, ff, want);
		check_close(seed, "free frequencies", m, f.free_w2, want, 1e-9);
	}
}

/** One mass of 1 kg that modes 1 to 3 move along x, y, z: M_ee = 1 to the last bit. */
static void canonical_body_is_left_alone(void **state) {
	(void)state;
	Sample s = {.body = {.mass = 2}, .nodes = {{.mass = 1}}, .position = {{1, 2, 3}}};
	for (int k = 0; k < 3; k++) {
		s.phi[0][k * 3 + k] = 1;
		s.K[k * 4] = k < 2 ? 7.1 : 9.3; // a degenerate pair
		s.D[k * 4] = 0.3;
	}
	s.nodes[0].phi = s.phi[0];
	s.D[1] = 0.1;
	s.flex = (CalFlexDef){.modes = 3, .stiffness = s.K, .damping = s.D, .node_count = 1, .nodes = s.nodes};
	Form f;
	canonicalize(&s, &f);
	check_ok(0, f.status);
	assert_true(f.form.identity);
	for (int i = 0; i < 9; i++) {
		assert_true(f.C[i] == (i % 4 == 0));
		assert_true(f.D[i] == s.D[i]);
	}
	assert_true(f.w2[0] == 7.1 && f.w2[1] == 7.1 && f.w2[2] == 9.3);
	s.K[0] = 11; // out of order: no longer the identity
	canonicalize(&s, &f);
	assert_false(f.form.identity);
}

/* ---- faults -------------------------------------------------------------------------------- */

/** Two masses on a beam, two modes that move one each. */
static void sound_sample(Sample *s) {
	*s = (Sample){.body = {.mass = 3, .inertia = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
	              .nodes = {{.mass = 1}, {.mass = 2}},
	              .position = {{1, 0, 0}, {2, 0, 0}}};
	s->phi[0][2] = s->phi[1][3] = 1;
	s->nodes[0].phi = s->phi[0];
	s->nodes[1].phi = s->phi[1];
	s->K[0] = s->K[3] = 100;
	s->flex = (CalFlexDef){.modes = 2, .stiffness = s->K, .node_count = 2, .nodes = s->nodes};
}

static void check_fault(const Sample *s, ModalFault fault, int mode) {
	Form f;
	canonicalize(s, &f);
	assert_int_equal(f.status, CAL_ERR_MODEL);
	assert_int_equal(f.form.fault, fault);
	assert_int_equal(f.form.mode, mode);
}

static void faults_name_the_mode(void **state) {
	(void)state;
	Sample s;
	Form f;
	sound_sample(&s);
	canonicalize(&s, &f);
	check_ok(0, f.status);

	s.K[1] = 1;
	check_fault(&s, MODAL_STIFFNESS_ASYMMETRIC, 0);
	s.K[2] = 1 + 1e-9; // within what arithmetic does
	canonicalize(&s, &f);
	check_ok(0, f.status);

	sound_sample(&s);
	s.K[3] = -1;
	check_fault(&s, MODAL_STIFFNESS_NEGATIVE, 1);
	s.flex.frequency_bound = 1;
	check_fault(&s, MODAL_STIFFNESS_NEGATIVE, 1);

	sound_sample(&s);
	s.nodes[1].mass = 0;
	check_fault(&s, MODAL_MASSLESS, 1);

	sound_sample(&s);
	s.phi[0][3] = s.phi[1][2] = s.phi[0][2] = s.phi[1][3];
	check_fault(&s, MODAL_DEPENDENT, 1);

	sound_sample(&s);
	s.K[3] = -1e-15;
	s.K[0] = 1;
	canonicalize(&s, &f);
	check_ok(0, f.status);
	assert_true(f.form.clamped == 1 && f.w2[0] == 0);
}

/** Mode 2 turns the body about z: a fault where the free body is asked for, a note otherwise. */
static void rigid_motion_is_reported(void **state) {
	(void)state;
	Sample s;
	Form f;
	sound_sample(&s);
	s.body.mass = 0;
	s.body.inertia = (CalMat3){{{0}}};
	canonicalize(&s, &f); // two masses on a line cannot bend
	check_ok(0, f.status);
	assert_int_equal(f.form.fault, MODAL_RIGID);
	assert_int_equal(f.form.mode, 0);
	assert_true(isnan(f.free_w2[0]));
	s.flex.frequency_bound = 10;
	check_fault(&s, MODAL_RIGID, 0);

	Rng r = rng_make(test_seed());
	random_sample(&r, &s);
	int m = s.flex.modes = 3;
	for (int i = 0; i < s.flex.node_count; i++) {
		s.phi[i][0 * m + 1] = -s.position[i].y; // w = z
		s.phi[i][1 * m + 1] = s.position[i].x;
		s.phi[i][2 * m + 1] = 0.3; // v = 0.3 z
		s.psi[i][0 * m + 1] = s.psi[i][1 * m + 1] = 0;
		s.psi[i][2 * m + 1] = 1;
		s.nodes[i].psi = s.psi[i];
	}
	s.body.mass = 0;
	s.body.inertia = (CalMat3){{{0}}};
	random_spd(&r, m, 50, s.K);
	s.flex.frequency_bound = 10;
	check_fault(&s, MODAL_RIGID, 1);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mass_matrices_give_the_kinetic_energy),
		cmocka_unit_test(whole_body_is_reported_about_its_center),
		cmocka_unit_test(canonical_form_has_its_invariants),
		cmocka_unit_test(free_frequencies_are_those_of_the_schur_complement),
		cmocka_unit_test(canonical_body_is_left_alone),
		cmocka_unit_test(faults_name_the_mode),
		cmocka_unit_test(rigid_motion_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
