// SPDX-License-Identifier: Apache-2.0
/*
 * test_reference.c — the reference agrees with itself before anything is compared with it.
 *
 * Its parts share little: positions differentiated numerically against relative motion, sums over bodies
 * against Featherstone's recursions, double against quad.
 */
#include "support/random_tree.h"

#include <stdlib.h>

enum { CASES = 60 };

static void numerical_derivatives_of_positions_are_the_motion(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->ref->node_count, size = (int)(sizeof(RefMotion) / sizeof(double));
		double *numeric = fixture_doubles(f, n * size), *direct = fixture_doubles(f, n * size);
		refq_kinematics_numeric(f->ref, f->state.q, f->state.u, f->udot, NULL, (RefMotion *)numeric);
		refq_kinematics(f->ref, f->state.q, f->state.u, f->udot, NULL, (RefMotion *)direct);
		check_close(seed, "motion", n * size, numeric, direct, 1e-15);
		fixture_destroy(f);
	}
}

static void recursions_equal_sums_over_bodies(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		TreeOptions options = tree_any(seed);
		options.prescribed = 1;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		const double *q = f->state.q, *u = f->state.u;
		double *a = fixture_doubles(f, f->nu), *b = fixture_doubles(f, f->nu);
		refq_inverse_sums(f->ref, q, u, f->udot, &f->ref_input, a);
		refq_inverse_recursive(f->ref, q, u, f->udot, &f->ref_input, b);
		check_close(seed, "inverse dynamics", f->nu, b, a, 1e-15);
		assert_int_equal(refq_forward_dense(f->ref, q, u, &f->ref_input, a), 0);
		assert_int_equal(refq_forward_articulated(f->ref, q, u, &f->ref_input, b), 0);
		check_close(seed, "forward dynamics", f->nu, b, a, 1e-15);
		assert_int_equal(ref_forward_articulated(f->ref, q, u, &f->ref_input, b), 0);
		check_close(seed, "forward dynamics in double", f->nu, b, a, 1e-11);
		fixture_destroy(f);
	}
}

static void joint_wrenches_do_the_work_of_the_joint_forces(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		TreeOptions options = {.bodies = 6, .joints = 1u << CAL_JOINT_REVOLUTE | 1u << CAL_JOINT_WELD};
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		CalSpatial *wrench = (CalSpatial *)fixture_doubles(f, 6 * f->nb);
		double *tau = fixture_doubles(f, f->nu), *work = fixture_doubles(f, f->nu);
		double *unit = fixture_doubles(f, f->nu);
		RefMotion *moved = test_alloc((size_t)f->nb, sizeof *moved);
		refq_inverse_sums(f->ref, f->state.q, f->state.u, f->udot, &f->ref_input, tau);
		refq_reactions(f->ref, f->state.q, f->state.u, f->udot, &f->ref_input, wrench);
		for (int i = 0; i < f->nb; i++) {
			const RefBody *b = &f->ref->bodies[i];
			if (b->nu == 0 || b->head_node >= 0)
				continue;
			unit[b->u] = 1;
			refq_kinematics(f->ref, f->state.q, unit, NULL, moved, NULL);
			unit[b->u] = 0;
			CalSpatial v = moved[i].velocity, w = wrench[i];
			work[b->u] = v.angular.x * w.angular.x + v.angular.y * w.angular.y + v.angular.z * w.angular.z +
			             v.linear.x * w.linear.x + v.linear.y * w.linear.y + v.linear.z * w.linear.z;
			check_close_scaled(seed, "work", 1, &work[b->u], &tau[b->u], max_abs(6 * f->nb, &wrench->angular.x), 1e-14);
		}
		free(moved);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numerical_derivatives_of_positions_are_the_motion),
		cmocka_unit_test(recursions_equal_sums_over_bodies),
		cmocka_unit_test(joint_wrenches_do_the_work_of_the_joint_forces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
