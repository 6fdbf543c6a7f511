// SPDX-License-Identifier: Apache-2.0
/*
 * test_dense_modes.c — component mode reduction on chains of masses and springs, whose modes are known in closed
 * form.
 *
 * n equal masses m joined by equal springs k: held at one end w = 2 sqrt(k/m) sin((2i-1) pi / (4n+2)), free
 * w = 2 sqrt(k/m) sin(i pi / 2n).
 */
#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/rng.h"

#include "flexgen/mass_condensation.h"
#include "flexgen/dense_modes.h"

enum { N = 9, MAX = 20 };
static const double PI = 3.14159265358979323846;
static const double SPRING = 300, MASS = 0.7;

typedef struct Chain {
	int n;
	double K[MAX * MAX], M[MAX * MAX];
	unsigned char role[MAX];
} Chain;

/** n points, n - 1 springs, masses on all points; point 0 is a degree of freedom too. */
static Chain chain(int n) {
	Chain c = {.n = n};
	for (int i = 0; i < n; i++) {
		c.M[i * n + i] = MASS;
		if (i > 0) {
			c.K[i * n + i] += SPRING;
			c.K[(i - 1) * n + i - 1] += SPRING;
			c.K[i * n + i - 1] = c.K[(i - 1) * n + i] = -SPRING;
		}
	}
	return c;
}

static DenseBody input_of(const Chain *c, int modes) {
	return (DenseBody){.n = c->n, .K = c->K, .M = c->M, .role = c->role, .modes = modes};
}

/** S'AS for two shapes. */
static double form(const Chain *c, const double *A, const DenseModes *r, int a, int b) {
	double sum = 0;
	for (int i = 0; i < c->n; i++) {
		for (int j = 0; j < c->n; j++) {
			sum += r->shape[a * c->n + i] * A[i * c->n + j] * r->shape[b * c->n + j];
		}
	}
	return sum;
}

static void check_stiffness(const Chain *c, const DenseModes *r) {
	for (int a = 0; a < r->shapes; a++) {
		for (int b = 0; b < r->shapes; b++) {
			double want = form(c, c->K, r, a, b);
			check_close_scaled(0, "stiffness", 1, &r->stiffness[a * r->shapes + b], &want, SPRING, 1e-12);
		}
	}
}

static void held_chain_has_its_closed_form(void **state) {
	(void)state;
	Chain c = chain(N + 1);
	c.role[0] = ROLE_HELD;
	DenseBody in = input_of(&c, 5);
	DenseModes r;
	check_ok(0, dense_modes_create(&in, &r));
	assert_int_equal(r.shapes, 5);
	for (int i = 1; i <= 5; i++) {
		double want = 2 * sqrt(SPRING / MASS) * sin((2 * i - 1) * PI / (4 * N + 2));
		check_close(0, "frequency", 1, &r.frequency[i - 1], &want, 1e-13);
		double mass = form(&c, c.M, &r, i - 1, i - 1), one = 1;
		check_close(0, "modal mass", 1, &mass, &one, 1e-13);
		assert_true(r.shape[(i - 1) * c.n] == 0);
	}
	check_stiffness(&c, &r);
	dense_modes_free(&r);
}

static void free_chain_is_seen_from_its_frame_or_its_mean(void **state) {
	(void)state;
	for (int mean = 0; mean < 2; mean++) {
		Chain c = chain(N);
		c.role[3] = ROLE_FRAME;
		DenseBody in = input_of(&c, -1);
		in.mean = mean != 0;
		DenseModes r;
		check_ok(0, dense_modes_create(&in, &r));
		assert_int_equal(r.shapes, N - 1);
		assert_true(r.rigid_error < 1e-14);
		for (int k = 0; k < r.shapes; k++) {
			double want = 2 * sqrt(SPRING / MASS) * sin((k + 1) * PI / (2 * N)), momentum = 0;
			check_close(0, "frequency", 1, &r.frequency[k], &want, 1e-13);
			for (int i = 0; i < N; i++) {
				momentum += MASS * r.shape[k * N + i];
			}
			assert_true(mean ? fabs(momentum) < 1e-13 : r.shape[k * N + 3] == 0);
			assert_true(mean || k > 0 || fabs(momentum) > 1e-3);
		}
		check_stiffness(&c, &r);
		dense_modes_free(&r);
	}
}

/** Static shapes of the far end and all modes between span everything: the spectrum of the held chain is whole. */
static void craig_bampton_with_all_modes_loses_nothing(void **state) {
	(void)state;
	Chain c = chain(N + 1);
	c.role[0] = ROLE_HELD;
	c.role[N] = ROLE_UNIT;
	DenseBody in = input_of(&c, -1);
	DenseModes r, again;
	check_ok(0, dense_modes_create(&in, &r));
	assert_int_equal(r.shapes, N);
	assert_int_equal(r.statics, 1);
	assert_true(r.shape[N] == 1);
	check_stiffness(&c, &r);
	Chain small = {.n = r.shapes};
	for (int a = 0; a < r.shapes; a++) {
		for (int b = 0; b < r.shapes; b++) {
			small.K[a * r.shapes + b] = r.stiffness[a * r.shapes + b];
			small.M[a * r.shapes + b] = form(&c, c.M, &r, a, b);
		}
	}
	DenseBody whole = input_of(&small, -1);
	check_ok(0, dense_modes_create(&whole, &again));
	for (int i = 1; i <= N; i++) {
		double want = 2 * sqrt(SPRING / MASS) * sin((2 * i - 1) * PI / (4 * N + 2));
		check_close(0, "frequency", 1, &again.frequency[i - 1], &want, 1e-12);
	}
	dense_modes_free(&again);
	dense_modes_free(&r);
}

/** Every second mass taken away: the springs between are half as stiff, and no mode is lost or added. */
static void massless_degrees_of_freedom_follow_statically(void **state) {
	(void)state;
	Chain c = chain(2 * N + 1);
	for (int i = 1; i < 2 * N + 1; i += 2) {
		c.M[i * c.n + i] = 0;
	}
	c.role[0] = ROLE_HELD;
	DenseBody in = input_of(&c, -1);
	DenseModes r;
	check_ok(0, dense_modes_create(&in, &r));
	assert_int_equal(r.shapes, N);
	for (int i = 1; i <= N; i++) {
		double want = 2 * sqrt(SPRING / 2 / MASS) * sin((2 * i - 1) * PI / (4 * N + 2));
		check_close(0, "frequency", 1, &r.frequency[i - 1], &want, 1e-12);
	}
	dense_modes_free(&r);
}

static void frequency_limits_the_modes(void **state) {
	(void)state;
	Chain c = chain(N + 1);
	c.role[0] = ROLE_HELD;
	DenseBody in = input_of(&c, -1);
	in.max_frequency = 2 * sqrt(SPRING / MASS) * sin(6 * PI / (4 * N + 2)); // between the third and the fourth
	DenseModes r;
	check_ok(0, dense_modes_create(&in, &r));
	assert_int_equal(r.shapes, 3);
	dense_modes_free(&r);
	in.modes = 2;
	check_ok(0, dense_modes_create(&in, &r));
	assert_int_equal(r.shapes, 2);
	dense_modes_free(&r);
}

static void loose_parts_and_mixed_roles_are_refused(void **state) {
	(void)state;
	Chain c = chain(N);
	DenseBody in = input_of(&c, 3);
	DenseModes r;
	check_status(0, dense_modes_create(&in, &r), CAL_SINGULAR);
	assert_int_equal(r.bad_dof, N - 1);
	c.role[0] = ROLE_FRAME;
	c.role[1] = ROLE_UNIT;
	check_status(0, dense_modes_create(&in, &r), CAL_ERR_ARGUMENT);
}

/** A spring to the ground: the frame's motion is no longer rigid, and the error says by how much. */
static void grounded_stiffness_is_noticed(void **state) {
	(void)state;
	Chain c = chain(N);
	c.role[0] = ROLE_FRAME;
	c.K[(N - 1) * N + N - 1] += SPRING;
	DenseBody in = input_of(&c, 3);
	DenseModes r;
	check_ok(0, dense_modes_create(&in, &r));
	double want = 1.0 / N; // N springs in series against one
	check_close(0, "rigid error", 1, &r.rigid_error, &want, 1e-12);
	dense_modes_free(&r);
}

/* ---- condensing particles ------------------------------------------------------------------ */

enum { PARTICLES = 60, MODES = 3, WIDTH = 3 + 3 * MODES, FEW = 4 + 3 * MODES };

/** Sum over particles of mass f_a f_b, function -1 being the constant 1. */
static double moment(const MassPoints *p, int a, int b) {
	double sum = 0;
	for (int i = 0; i < p->count; i++) {
		double fa = a < 0 ? 1 : p->f[i * WIDTH + a], fb = b < 0 ? 1 : p->f[i * WIDTH + b];
		sum += p->mass[i] * fa * fb;
	}
	return sum;
}

static void few_particles_have_the_moments_of_many(void **state) {
	(void)state;
	uint64_t seed = test_seed();
	Rng rng = rng_make(seed);
	double mass[PARTICLES], f[PARTICLES * WIDTH], few_mass[FEW], few_f[FEW * WIDTH];
	for (int i = 0; i < PARTICLES; i++) {
		mass[i] = rng_uniform(&rng, 0.1, 2);
		for (int a = 0; a < WIDTH; a++) {
			f[i * WIDTH + a] = a == 2 || a == 5 ? 0 : rng_uniform(&rng, -1, 1) + (a < 3 ? 4 : 0);
		}
	}
	const MassPoints many = {PARTICLES, MODES, mass, f};
	MassPoints few = {.mass = few_mass, .f = few_f};
	check_ok(seed, mass_points_condense(&many, &few));
	assert_int_equal(mass_points_limit(MODES), FEW);
	assert_int_equal(few.count, FEW - 2); // two functions vanish
	for (int a = -1; a < WIDTH; a++) {
		for (int b = -1; b < WIDTH; b++) {
			double got = moment(&few, a, b), want = moment(&many, a, b);
			double scale = sqrt(moment(&many, a, a) * moment(&many, b, b));
			check_close_scaled(seed, "moment", 1, &got, &want, scale, 1e-13);
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_chain_has_its_closed_form),
		cmocka_unit_test(free_chain_is_seen_from_its_frame_or_its_mean),
		cmocka_unit_test(craig_bampton_with_all_modes_loses_nothing),
		cmocka_unit_test(massless_degrees_of_freedom_follow_statically),
		cmocka_unit_test(frequency_limits_the_modes),
		cmocka_unit_test(loose_parts_and_mixed_roles_are_refused),
		cmocka_unit_test(grounded_stiffness_is_noticed),
		cmocka_unit_test(few_particles_have_the_moments_of_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
