// SPDX-License-Identifier: Apache-2.0
/*
 * test_flexible_mass.c — the mass matrix, its factors, Jacobians, compliance and the motion of nodes, of random
 * trees with flexible bodies against the quad reference.
 */
#include "support/tree_checks.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 40 };

static void matrix_equals_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *M = fixture_doubles(f, n * n), *want = fixture_doubles(f, n * n), trace, sum = 0;
		refq_mass_matrix(f->ref, f->state.q, want);
		check_ok(seed, cal_mass_matrix(f->model, &f->state, f->work, M));
		check_close(seed, "M", n * n, M, want, 1e-13);
		check_ok(seed, cal_mass_trace(f->model, &f->state, f->work, &trace));
		for (int i = 0; i < n; i++) {
			sum += want[i * n + i];
			for (int j = 0; j < i; j++)
				check_that(seed, M[i * n + j] == M[j * n + i]);
		}
		check_close(seed, "trace", 1, &trace, &sum, 1e-13);
		fixture_destroy(f);
	}
}

static void factors_equal_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		TreeOptions options = tree_flexible(seed);
		options.max_modes = seed % 4 == 0 ? 24 : 8;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *Minv = fixture_doubles(f, n * n), *want = fixture_doubles(f, n * n), logdet, want_logdet;
		double *x = fixture_doubles(f, n), *product = fixture_doubles(f, n);
		assert_int_equal(refq_mass_inverse(f->ref, f->state.q, want, &want_logdet), 0);
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				product[i] += want[i * n + j] * f->tau[j];
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_mass_solve(f->model, f->work, f->tau, x));
		check_close(seed, "M^-1 b", n, x, product, 1e-10);
		check_ok(seed, cal_mass_inverse(f->model, f->work, Minv));
		check_close(seed, "M^-1", n * n, Minv, want, 1e-10);
		for (int i = 0; i < n; i++)
			for (int j = 0; j < i; j++)
				check_that(seed, Minv[i * n + j] == Minv[j * n + i]);
		check_ok(seed, cal_mass_logdet(f->model, f->work, &logdet));
		check_close_scaled(seed, "log det M", 1, &logdet, &want_logdet, 1, 1e-11);
		fixture_destroy(f);
	}
}

/* ---- nodes ------------------------------------------------------------------------------------ */

static RefMotion node_motion(const Fixture *f, int node) {
	RefMotion m;
	check_ok(f->seed, cal_node_pose(f->model, f->work, node, &m.pose));
	check_ok(f->seed, cal_node_velocity(f->model, f->work, node, &m.velocity));
	check_ok(f->seed, cal_node_acceleration(f->model, f->work, node, &m.acceleration));
	return m;
}

static void check_motion(const Fixture *f, RefMotion got, const RefMotion *want, const double scale[3]) {
	check_close_scaled(f->seed, "R", 9, got.pose.R.m[0], want->pose.R.m[0], 1, 1e-14 * (f->nb + 2));
	check_close_scaled(f->seed, "r", 3, &got.pose.r.x, &want->pose.r.x, scale[0], 1e-14 * (f->nb + 2));
	check_close_scaled(f->seed, "velocity", 6, &got.velocity.angular.x, &want->velocity.angular.x, scale[1], 1e-13);
	check_close_scaled(f->seed, "acceleration", 6, &got.acceleration.angular.x, &want->acceleration.angular.x, scale[2],
	                   1e-12);
}

static void motion_equals_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), CAL_SOLVER_RECURSIVE);
		int count = f->ref->node_count;
		RefMotion *bodies = test_alloc((size_t)f->nb, sizeof *bodies);
		RefMotion *nodes = test_alloc((size_t)count, sizeof *nodes);
		double scale[3] = {1, 1, 1};
		refq_kinematics(f->ref, f->state.q, f->state.u, f->udot, bodies, nodes);
		for (int i = 0; i < count; i++) {
			scale[0] = fmax(scale[0], max_abs(3, &nodes[i].pose.r.x));
			scale[1] = fmax(scale[1], max_abs(6, &nodes[i].velocity.angular.x));
			scale[2] = fmax(scale[2], max_abs(6, &nodes[i].acceleration.angular.x));
		}
		check_ok(seed, cal_kinematics(f->model, &f->state, f->udot, f->work));
		for (int i = 0; i < count; i++)
			check_motion(f, node_motion(f, f->node[i]), &nodes[i], scale);
		for (int i = 0; i < f->nb; i++) {
			CalBodyInfo info;
			check_ok(seed, cal_model_body(f->model, i, &info));
			check_motion(f, node_motion(f, info.node), &bodies[i], scale);
		}
		free(bodies), free(nodes);
		fixture_destroy(f);
	}
}

/* After a forward dynamics, by either solver, the nodes have the accelerations that belong to its result. */
static void forward_leaves_the_accelerations(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), seed % 2 ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE);
		double *udot = fixture_doubles(f, f->nu);
		int count = f->ref->node_count;
		RefMotion *nodes = test_alloc((size_t)count, sizeof *nodes);
		double scale = 1;
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
		refq_kinematics(f->ref, f->state.q, f->state.u, udot, NULL, nodes);
		for (int i = 0; i < count; i++)
			scale = fmax(scale, max_abs(6, &nodes[i].acceleration.angular.x));
		for (int i = 0; i < count; i++) {
			CalSpatial a;
			CalPose X;
			check_ok(seed, cal_node_pose(f->model, f->work, f->node[i], &X));
			check_close_scaled(seed, "r", 3, &X.r.x, &nodes[i].pose.r.x, 1, 1e-12);
			check_ok(seed, cal_node_acceleration(f->model, f->work, f->node[i], &a));
			check_close_scaled(seed, "a", 6, &a.angular.x, &nodes[i].acceleration.angular.x, scale, 1e-10);
		}
		free(nodes);
		fixture_destroy(f);
	}
}

static void jacobian_and_bias_equal_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu, count = f->ref->node_count;
		double *J = fixture_doubles(f, 6 * n), *want = fixture_doubles(f, 6 * n), scale = 1;
		RefMotion *nodes = test_alloc((size_t)count, sizeof *nodes);
		refq_kinematics(f->ref, f->state.q, f->state.u, NULL, NULL, nodes);
		for (int i = 0; i < count; i++)
			scale = fmax(scale, max_abs(6, &nodes[i].acceleration.angular.x));
		check_ok(seed, cal_kinematics(f->model, &f->state, NULL, f->work));
		for (int i = 0; i < count; i++) {
			CalSpatial bias;
			check_ok(seed, cal_node_jacobian(f->model, f->work, f->node[i], J));
			refq_jacobian(f->ref, f->state.q, i, want);
			check_close_scaled(seed, "J", 6 * n, J, want, 1, 1e-12);
			check_ok(seed, cal_node_bias(f->model, f->work, f->node[i], &bias));
			check_close_scaled(seed, "bias", 6, &bias.angular.x, &nodes[i].acceleration.angular.x, scale, 1e-12);
		}
		free(nodes);
		fixture_destroy(f);
	}
}

static void compliance_equals_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), CAL_SOLVER_RECURSIVE);
		Rng r = rng_make(seed);
		enum { COUNT = 3 };
		int of_ref[COUNT], of_model[COUNT], rows = 6 * COUNT;
		double *C = fixture_doubles(f, rows * rows), *want = fixture_doubles(f, rows * rows);
		for (int k = 0; k < COUNT; k++) {
			of_ref[k] = rng_int(&r, f->ref->node_count);
			of_model[k] = f->node[of_ref[k]];
		}
		reference_compliance(f, of_ref, COUNT, want);
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_node_compliance(f->model, f->work, of_model, COUNT, fixture_doubles(f, f->nu), C));
		check_close_scaled(seed, "J M^-1 J'", rows * rows, C, want, 1e-3, 1e-10);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matrix_equals_reference),           cmocka_unit_test(factors_equal_reference),
		cmocka_unit_test(motion_equals_reference),           cmocka_unit_test(forward_leaves_the_accelerations),
		cmocka_unit_test(jacobian_and_bias_equal_reference), cmocka_unit_test(compliance_equals_reference),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
