// SPDX-License-Identifier: Apache-2.0
/*
 * test_derivatives.c — derivatives of inverse and forward dynamics against differences of eighth order of the reference in
 * quadruple precision: random trees of all joint types, flexible bodies at any node, second-order shapes, springs, wrenches
 * in world and node axes, prescribed dofs. And identities: dtau/dudot = M, M dudot/dtau = 1, the same bits for every width
 * of registers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "derivative/derivative_support.h"
#include "model/model.h"
#include "support/interpose.h"

enum { CASES = 24, SLOW_CASES = 10 };

/* Quadruple precision is slow: few bodies and modes, many seeds. */
static TreeOptions small(TreeOptions options) {
	options.bodies = options.bodies % 5 + 1;
	options.max_modes = 4;
	options.joints = (options.joints ? options.joints : TREE_ANY_JOINT) & ~(1u << CAL_JOINT_USER);
	return options;
}

static void inverse_force(void *user, const double *q, const double *u, double *tau) {
	const Fixture *f = user;
	refq_inverse_sums(f->ref, q, u, f->udot, &f->ref_input, tau);
}

static void forward_acceleration(void *user, const double *q, const double *u, double *udot) {
	const Fixture *f = user;
	assert_int_equal(refq_forward_dense(f->ref, q, u, &f->ref_input, udot), 0);
}

/* Inverse dynamics of a fixture to `tolerance` of the largest entry. */
static void compare_inverse(Fixture *f, double tolerance) {
	const int n = f->nu;
	double *x = test_doubles(6 * n * n + 1), *dq = x, *du = x + n * n, *M = x + 2 * n * n, *want = x + 3 * n * n;
	CalDerivatives *d;
	check_ok(f->seed, cal_derivatives_create(f->model, &d));
	check_ok(f->seed, cal_inverse_derivatives(f->model, &f->state, f->udot, &f->input, d, dq, du, M));
	reference_derivative(f, inverse_force, 0, want);
	check_close(f->seed, "dtau/dq", n * n, dq, want, tolerance);
	reference_derivative(f, inverse_force, 1, want);
	check_close_scaled(f->seed, "dtau/du", n * n, du, want, max_abs(n * n, dq), tolerance);
	refq_mass_matrix(f->ref, f->state.q, want);
	check_close(f->seed, "dtau/dudot", n * n, M, want, 1e-12);
	cal_derivatives_destroy(d);
	free(x);
}

static void compare_forward(Fixture *f, double tolerance) {
	const int n = f->nu;
	double *x = test_doubles(5 * n * n + 2 * n + 1), *dq = x, *du = x + n * n, *dtau = x + 2 * n * n;
	double *want = x + 3 * n * n, *M = x + 4 * n * n, *udot = x + 5 * n * n;
	CalDerivatives *d;
	check_ok(f->seed, cal_derivatives_create(f->model, &d));
	check_ok(f->seed, cal_forward_derivatives(f->model, &f->state, &f->input, d, udot, dq, du, dtau));
	reference_derivative(f, forward_acceleration, 0, want);
	check_close(f->seed, "dudot/dq", n * n, dq, want, tolerance);
	reference_derivative(f, forward_acceleration, 1, want);
	check_close_scaled(f->seed, "dudot/du", n * n, du, want, max_abs(n * n, dq) * 1e-2, tolerance);
	refq_forward_dense(f->ref, f->state.q, f->state.u, &f->ref_input, udot + n);
	check_close(f->seed, "udot", n, udot, udot + n, tolerance);
	refq_mass_matrix(f->ref, f->state.q, M);
	for (int i = 0; i < n; i++) // M dudot/dtau = 1 on free dofs
		for (int j = 0; j < n; j++) {
			double sum = 0, scale = 0;
			for (int k = 0; k < n; k++) {
				sum += M[i * n + k] * dtau[k * n + j];
				scale += fabs(M[i * n + k] * dtau[k * n + j]);
			}
			const int held_i = f->input.prescribed && f->input.prescribed[i];
			const int held_j = f->input.prescribed && f->input.prescribed[j];
			check_that(f->seed, dtau[i * n + j] == dtau[j * n + i]);
			if (held_i || held_j)
				check_that(f->seed, dtau[i * n + j] == 0);
			else
				check_that(f->seed, fabs(sum - (i == j)) <= 1e-10 * (scale + 1));
		}
	cal_derivatives_destroy(d);
	free(x);
}

static void inverse_of_rigid_trees(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		const TreeOptions options = small(tree_any(seed));
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		compare_inverse(f, 1e-11);
		fixture_destroy(f);
	}
}

static void inverse_of_each_joint_type(void **state) {
	(void)state;
	for (int type = 0; type < CAL_JOINT_TYPE_COUNT; type++)
		for (uint64_t seed = test_seed(); seed < test_seed() + 2; seed++) {
			const TreeOptions options = {
				.bodies = 3, .joints = 1u << type | 1u << CAL_JOINT_REVOLUTE, .springs = seed % 2};
			Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
			compare_inverse(f, type == CAL_JOINT_USER ? 1e-9 : 1e-11);
			fixture_destroy(f);
		}
}

static void inverse_of_flexible_trees(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + SLOW_CASES; seed++) {
		TreeOptions options = small(tree_flexible(seed));
		options.foreshortening = seed % 3 == 1;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		compare_inverse(f, 1e-10);
		fixture_destroy(f);
	}
}

static void forward_of_trees(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + SLOW_CASES; seed++) {
		TreeOptions options = small(seed % 2 ? tree_flexible(seed) : tree_any(seed));
		options.foreshortening = seed % 4 == 1;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		if (seed % 3 == 0) {
			Rng r = rng_make(seed);
			fixture_prescribe(f, &r);
		}
		compare_forward(f, 1e-9);
		fixture_destroy(f);
	}
}

/* All results of all calls, for comparisons; dtau and udot last. */
static CalStatus all_results(const Fixture *f, CalDerivatives *d, double *x) {
	const int n = f->nu, square = n * n;
	CalStatus status =
		cal_inverse_derivatives(f->model, &f->state, f->udot, &f->input, d, x, x + square, x + 2 * square);
	if (status == CAL_OK)
		status = cal_forward_derivatives(f->model, &f->state, &f->input, d, x + 6 * square, x + 3 * square,
		                                 x + 4 * square, x + 5 * square);
	return status;
}

/* Writes to the model's internals to choose the kernels. */
static void all_registers_give_the_same_bits(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 60; seed++) {
		TreeOptions options = seed % 2 ? tree_flexible(seed) : tree_any(seed);
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		const int count = 6 * f->nu * f->nu + f->nu;
		double *x = fixture_doubles(f, count), *first = fixture_doubles(f, count);
		CalDerivatives *d;
		check_ok(seed, cal_derivatives_create(f->model, &d));
		for (int isa = CPU_BASELINE; isa <= (int)cpu_isa(); isa++) {
			f->model->isa = (CpuIsa)isa;
			check_ok(seed, all_results(f, d, isa == CPU_BASELINE ? first : x));
			if (isa != CPU_BASELINE)
				check_that(seed, memcmp(x, first, sizeof *x * (size_t)count) == 0);
		}
		cal_derivatives_destroy(d);
		fixture_destroy(f);
	}
}

/* A state that is not finite is reported, and does not affect later calls: the next one has the bits of a fresh workspace. */
static void failures_do_not_affect_later_calls(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		Fixture *f = fixture_random(seed, seed % 2 ? tree_flexible(seed) : tree_any(seed), CAL_SOLVER_RECURSIVE);
		const int count = 6 * f->nu * f->nu + f->nu;
		double *x = fixture_doubles(f, count), *fresh = fixture_doubles(f, count);
		CalDerivatives *d;
		check_ok(seed, cal_derivatives_create(f->model, &d));
		check_ok(seed, all_results(f, d, fresh));
		if (f->nu > 0) {
			const double u = f->state.u[f->nu - 1];
			f->state.u[f->nu - 1] = NAN;
			check_status(seed, cal_inverse_derivatives(f->model, &f->state, NULL, NULL, d, x, NULL, NULL),
			             CAL_NOT_FINITE);
			check_that(seed, cal_derivatives_failed_dof(d) >= 0);
			check_status(seed, cal_forward_derivatives(f->model, &f->state, NULL, d, NULL, x, NULL, NULL),
			             CAL_NOT_FINITE);
			f->state.u[f->nu - 1] = u;
		}
		check_ok(seed, all_results(f, d, x));
		check_that(seed, memcmp(x, fresh, sizeof *x * (size_t)count) == 0);
		cal_derivatives_destroy(d);
		fixture_destroy(f);
	}
}

static void calls_do_not_allocate(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	Fixture *f = fixture_random(test_seed(), tree_flexible(test_seed()), CAL_SOLVER_RECURSIVE);
	double *x = fixture_doubles(f, 6 * f->nu * f->nu + f->nu), *Y = fixture_doubles(f, 10 * f->nb * f->nu + 12 * f->nu);
	CalDerivatives *d;
	check_ok(f->seed, cal_derivatives_create(f->model, &d));
	interpose_begin(0);
	const CalStatus status = all_results(f, d, x);
	const CalStatus regressor = cal_inverse_regressor(f->model, &f->state, f->udot, d, Y);
	const CalStatus momentum = cal_momentum_matrix(f->model, &f->state, d, Y, Y + 6 * f->nu);
	const CalStatus energy = cal_energy_gradient(f->model, &f->state, d, Y, Y + f->nu);
	const Interpose seen = interpose_end();
	check_that(f->seed, seen.calls == 0);
	check_that(f->seed, status == CAL_OK && regressor == CAL_OK && momentum == CAL_OK && energy == CAL_OK);
	cal_derivatives_destroy(d);
	fixture_destroy(f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inverse_of_rigid_trees),
		cmocka_unit_test(inverse_of_each_joint_type),
		cmocka_unit_test(inverse_of_flexible_trees),
		cmocka_unit_test(forward_of_trees),
		cmocka_unit_test(all_registers_give_the_same_bits),
		cmocka_unit_test(failures_do_not_affect_later_calls),
		cmocka_unit_test(calls_do_not_allocate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
