// SPDX-License-Identifier: Apache-2.0
/*
 * test_shared_sweep.c — forward dynamics after the kinematics of the same state continues from its sweep, with the same bits; of another
 * state, or after anything else has used the workspace, it does not.
 */
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "dynamics/tree/kinematics.h"
#include "support/random_loop.h"

enum { CASES = 40 };

static void check_same_bits(Fixture *f, const CalState *begun, const CalState *state) {
	const size_t size = sizeof(double) * (size_t)f->nu;
	double *plain = malloc(size), *shared = malloc(size);
	assert_true(plain && shared);
	f->work->stage = 0;
	check_ok(f->seed, cal_forward_dynamics(f->model, state, NULL, f->work, plain));
	kinematics_begin_forward(f->model, begun->q, begun->u, f->work);
	check_that(f->seed, kinematics_has_begun(f->model, state->q, state->u, f->work) == (begun == state));
	check_ok(f->seed, cal_forward_dynamics(f->model, state, NULL, f->work, shared));
	check_that(f->seed, memcmp(plain, shared, size) == 0);
	check_that(f->seed, !kinematics_has_begun(f->model, state->q, state->u, f->work));
	kinematics_begin_forward(f->model, state->q, state->u, f->work);
	kinematics_accelerate(f->model, plain, f->work);
	check_ok(f->seed, cal_forward_dynamics(f->model, state, NULL, f->work, shared));
	check_that(f->seed, memcmp(plain, shared, size) == 0);
	free(plain), free(shared);
}

/* Whatever uses the workspace at another state in between: forward dynamics does not continue from what it has left. */
static void check_after_others(Fixture *f, const CalState *other, const CalState *state) {
	const CalModel *m = f->model;
	const int nu = f->nu, rows = cal_model_row_count(m);
	double *plain = test_doubles(nu), *got = test_doubles(nu), *x = test_doubles(nu * nu + 6 * nu + 2 * rows + 1);
	CalEnergy energy;
	CalMomentum momentum;
	check_ok(f->seed, cal_forward_dynamics(m, state, NULL, f->work, plain));
	for (int k = 0; k < 13; k++) {
		kinematics_begin_forward(m, state->q, state->u, f->work);
		(void)(k == 0    ? cal_kinematics(m, other, NULL, f->work)
		       : k == 1  ? cal_node_jacobian_at(m, other, cal_model_node_count(m) - 1, f->work, NULL, x)
		       : k == 2  ? cal_bias_forces(m, other, f->work, x)
		       : k == 3  ? cal_gravity_forces(m, other, f->work, x)
		       : k == 4  ? cal_elastic_forces(m, other, f->work, x)
		       : k == 5  ? cal_mass_matrix(m, other, f->work, x)
		       : k == 6  ? cal_mass_factor(m, other, f->work)
		       : k == 7  ? cal_mass_trace(m, other, f->work, x)
		       : k == 8  ? cal_energy(m, other, f->work, &energy)
		       : k == 9  ? cal_momentum(m, other, f->work, &momentum)
		       : k == 10 ? cal_loop_residual(m, other, f->work, x, x + rows)
		       : k == 11 ? cal_inverse_dynamics(m, other, plain, NULL, f->work, x)
		                 : cal_mass_mul(m, other, plain, f->work, x));
		check_ok(f->seed, cal_forward_dynamics(m, state, NULL, f->work, got));
		if (memcmp(plain, got, sizeof(double) * (size_t)nu) != 0)
			check_fail_at(__FILE__, __LINE__, f->seed, "other bits after call %d", k);
	}
	free(plain), free(got), free(x);
}

static void forward_dynamics_continues_from_kinematics(void **unused) {
	(void)unused;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random_loop(seed, loop_any(seed), CAL_SOLVER_RECURSIVE);
		CalState other;
		fixture_close_loops(f);
		check_ok(seed, cal_state_create(f->model, &other));
		cal_state_copy(f->model, &f->state, &other);
		other.t = f->state.t;
		other.u[f->nu - 1] += 1;
		check_same_bits(f, &f->state, &f->state);
		check_same_bits(f, &other, &f->state);
		other.q[0] += 0.1;
		check_after_others(f, &other, &f->state);
		cal_state_destroy(&other);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(forward_dynamics_continues_from_kinematics)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
