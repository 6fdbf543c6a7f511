// SPDX-License-Identifier: Apache-2.0
/*
 * test_random_modes.c — modes of 20 random flexible assemblies, with joints of all types, springs, dampers and gravity: against a dense
 * eigen-solution of the equations of motion, differenced numerically with the reference in quadruple precision. That knows neither
 * the mass matrix of the library nor its linearization.
 */
#include <math.h>
#include <stdlib.h>

#include <calder/calder.h>
#include "derivative/derivative_support.h"
#include "math/eigen_general.h"

enum { CASES = 20 };

static void acceleration(void *user, const double *q, const double *u, double *udot) {
	const Fixture *f = user;
	assert_int_equal(refq_forward_dense(f->ref, q, u, &f->ref_input, udot), 0);
}

/* A of (displacements, speeds) by differences. */
static void difference_matrix(Fixture *f, double *A) {
	const int n = f->nu, m = 2 * n;
	double *block = test_doubles(n * n + 1);
	memset(A, 0, sizeof *A * (size_t)(m * m));
	for (int speed = 0; speed < 2; speed++) {
		reference_derivative(f, acceleration, speed, block);
		for (int i = 0; i < n; i++)
			memcpy(A + (n + i) * m + speed * n, block + (ptrdiff_t)i * n, sizeof *A * (size_t)n);
	}
	for (int i = 0; i < n; i++)
		A[i * m + n + i] = 1;
	free(block);
}

static double distance(const CalSystemMode *mode, Complex value) {
	return hypot(mode->real - value.re, mode->imag - fabs(value.im));
}

/* Forces under which nothing accelerates at rest: then the rate of a displacement is the speed, also of ball joints. */
static int balance(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	const Fixture *f = user;
	(void)model;
	(void)state;
	input->tau = f->tau;
	return 0;
}

/* How far the nearest mode is from an eigenvalue, as part of it. */
static double farthest(const CalSystemModes *modes, int count, const Complex *values, double *compared) {
	double largest = 0, worst = 0;
	for (int i = 0; i < count; i++)
		largest = fmax(largest, hypot(values[i].re, values[i].im));
	for (int i = 0; i < count; i++) {
		const double size = hypot(values[i].re, values[i].im);
		double nearest = INFINITY;
		for (int k = 0; k < modes->count; k++)
			nearest = fmin(nearest, distance(&modes->mode[k], values[i]));
		if (size < 1e-2 * largest) // a square that is near zero: the root has half of its digits
			continue;
		worst = fmax(worst, nearest / size);
		++*compared;
	}
	return worst;
}

static void random_assemblies_have_the_modes_of_a_dense_solution(void **state) {
	double worst = 0, compared = 0;
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		TreeOptions options = tree_flexible(seed);
		options.bodies = 2, options.max_modes = 2, options.springs = 1, options.massless = 0;
		options.prescribed = 0, options.foreshortening = 0, options.flexible = 0.7;
		options.joints = TREE_ANY_JOINT & ~(1u << CAL_JOINT_USER);
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		const int n = 2 * f->nu;
		CalLinear linear;
		CalSystemModes modes;
		CalError error = {0};
		f->input = (CalInput){0};
		memset(f->state.u, 0, sizeof *f->state.u * (size_t)f->nu);
		check_ok(seed, cal_inverse_dynamics(f->model, &f->state, NULL, &f->input, f->work, f->tau));
		f->ref_input = (CalInput){.tau = f->tau};
		double *A = fixture_doubles(f, n * n);
		Complex *values = (Complex *)fixture_doubles(f, 2 * (n + n * n + n * n + 2 * n)), *vectors = values + n;
		difference_matrix(f, A);
		check_ok(seed, eigen_general(n, A, values, vectors, vectors + n * n));
		check_ok(seed, cal_linearize(f->model, &f->state, balance, f, NULL, f->work, &linear, &error));
		check_ok(seed, cal_linear_modes(&linear, NULL, NULL, &modes, &error));
		const double off = farthest(&modes, n, values, &compared);
		worst = fmax(worst, off);
		if (!(off < 1e-7))
			fail_msg("seed %llu: %d degrees of freedom, off by %.2g", (unsigned long long)seed, f->nu, off);
		cal_system_modes_release(&modes);
		cal_linear_release(&linear);
		fixture_destroy(f);
	}
	print_message("%d assemblies, %g eigenvalues: off by at most %.2g\n", CASES, compared, worst);
	assert_true(compared > 10 * CASES);
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_assemblies_have_the_modes_of_a_dense_solution)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
