// SPDX-License-Identifier: Apache-2.0
/*
 * test_long_chain.c — chains of a thousand bodies keep their digits.
 *
 * Cyclic axes (or ball joints) and generic inertias, random states, against the articulated-body algorithm
 * in 113-bit numbers. An articulated inertia that does not stay symmetric loses all digits on ball joints.
 */
#include "support/random_tree.h"

#include <stdlib.h>

enum { LENGTH = 1000 };

static Fixture *chain_create(CalJointType type, int length, uint64_t seed) {
	RefModel *m = ref_model_create();
	Rng r = rng_make(seed);
	m->gravity = (CalVec3){0, 0, -9.81};
	for (int i = 0; i < length; i++) {
		ref_model_add_body(m, i - 1, type);
		RefBody *b = &m->bodies[i];
		b->joint.axis = (CalVec3){i % 3 == 0, i % 3 == 1, i % 3 == 2};
		b->joint.axis2 = (CalVec3){i % 3 == 1, i % 3 == 2, i % 3 == 0};
		b->joint.inboard.position = rng_vector(&r, 0.3);
		rng_mass(&r, 1, &b->mass, &b->com, &b->inertia);
	}
	ref_model_index(m);
	Fixture *f = fixture_create(m, seed, CAL_SOLVER_RECURSIVE);
	fixture_sample(f, &r);
	return f;
}

static void chain_keeps_its_digits(CalJointType type) {
	for (uint64_t seed = test_seed(); seed < test_seed() + 3; seed++) {
		Fixture *f = chain_create(type, LENGTH, seed);
		double *got = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
		assert_int_equal(refq_forward_articulated(f->ref, f->state.q, f->state.u, &f->ref_input, want), 0);
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, got));
		print_message("seed %llu: relative error %.2g\n", (unsigned long long)seed,
		              max_difference(f->nu, got, want) / max_abs(f->nu, want));
		check_close(seed, "udot", f->nu, got, want, 1e-12);
		fixture_destroy(f);
	}
}

static void thousand_hinges(void **state) {
	(void)state;
	chain_keeps_its_digits(CAL_JOINT_REVOLUTE);
}

static void thousand_ball_joints(void **state) {
	(void)state;
	chain_keeps_its_digits(CAL_JOINT_SPHERICAL);
}

static void inverse_dynamics_keeps_its_digits(void **state) {
	(void)state;
	const CalJointType types[] = {CAL_JOINT_REVOLUTE, CAL_JOINT_SPHERICAL, CAL_JOINT_UNIVERSAL};
	for (int k = 0; k < 3; k++) {
		uint64_t seed = test_seed() + (uint64_t)k;
		Fixture *f = chain_create(types[k], LENGTH, seed);
		double *got = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
		refq_inverse_recursive(f->ref, f->state.q, f->state.u, f->udot, &f->ref_input, want);
		check_ok(seed, cal_inverse_dynamics(f->model, &f->state, f->udot, &f->input, f->work, got));
		check_close(seed, "tau", f->nu, got, want, 1e-12);
		fixture_destroy(f);
	}
}

/* No algorithm may recurse along the chain or need quadratic memory. */
static void four_thousand_bodies_compile_and_keep_their_digits(void **state) {
	(void)state;
	Fixture *f = chain_create(CAL_JOINT_REVOLUTE, 4000, test_seed());
	double *got = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
	assert_int_equal(refq_forward_articulated(f->ref, f->state.q, f->state.u, &f->ref_input, want), 0);
	check_ok(f->seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, got));
	check_close(f->seed, "udot", f->nu, got, want, 1e-11);
	fixture_destroy(f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thousand_hinges),
		cmocka_unit_test(thousand_ball_joints),
		cmocka_unit_test(inverse_dynamics_keeps_its_digits),
		cmocka_unit_test(four_thousand_bodies_compile_and_keep_their_digits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
