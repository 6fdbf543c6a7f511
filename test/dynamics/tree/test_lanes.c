// SPDX-License-Identifier: Apache-2.0
/*
 * test_lanes.c — the sweeps compiled over two lanes: two states of one model side by side give, in every
 * lane, exactly the bits of the scalar sweeps. This file sees the workspace with CAL_LANES = 2; the scalar
 * results come through the public API.
 */
#define CAL_LANES 2

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <calder/calder.h>
#include "dynamics/tree/articulated.h"
#include "dynamics/tree/inverse.h"
#include "support/check.h"
#include "support/lanes.h"

enum { CASES = 40 };

static Lanes lanes_make(uint64_t seed, TreeOptions options) {
	options.springs = 0; // springs and dampers are added before the sweeps
	return lanes_of(fixture_random(seed, options, CAL_SOLVER_RECURSIVE), 0.3);
}

static void check_same(uint64_t seed, const Lanes *l, int lane) {
	for (int i = 0; i < l->f->nu; i++) {
		const double got = real_lane(&l->x[i], lane);
		if (memcmp(&got, &l->out[lane][i], sizeof got) != 0) {
			fail_msg("lane %d, entry %d: %.17g, scalar %.17g (seed %llu)", lane, i, got, l->out[lane][i],
			         (unsigned long long)seed);
		}
	}
}

static void forward_dynamics_over_lanes_equals_scalar(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Lanes l = lanes_make(seed, tree_any(seed));
		const CalModel *m = l.f->model;
		const SweepInput in = {.q = l.q, .u = l.u, .tau = l.t};
		forward_outward_x2(m, &in, l.work);
		assert_int_equal(forward_inward_x2(m, &in, l.work), -1);
		forward_accelerate_x2(m, &in, l.work, l.x, NULL);
		for (int lane = 0; lane < LANES; lane++) {
			const CalInput input = {.tau = l.tau[lane]};
			check_ok(seed, cal_forward_dynamics(m, &l.state[lane], &input, l.f->work, l.out[lane]));
			check_same(seed, &l, lane);
		}
		lanes_free(&l);
	}
}

static void inverse_dynamics_over_lanes_equals_scalar(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Lanes l = lanes_make(seed, tree_any(seed));
		const CalModel *m = l.f->model;
		inverse_outward_x2(m, m->gravity, l.q, l.u, l.t, l.work);
		inverse_inward_x2(m, l.work, l.x);
		for (int i = 0; i < l.f->nu; i++)
			l.x[i] += m->rotor[i] * l.t[i];
		for (int lane = 0; lane < LANES; lane++) {
			check_ok(seed, cal_inverse_dynamics(m, &l.state[lane], l.tau[lane], NULL, l.f->work, l.out[lane]));
			check_same(seed, &l, lane);
		}
		lanes_free(&l);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forward_dynamics_over_lanes_equals_scalar),
		cmocka_unit_test(inverse_dynamics_over_lanes_equals_scalar),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
