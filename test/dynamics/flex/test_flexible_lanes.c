// SPDX-License-Identifier: Apache-2.0
/*
 * test_flexible_lanes.c — the sweeps over two lanes give the scalar bits with flexible bodies too.
 *
 * As in test_lanes.c, this file sees the workspace with CAL_LANES = 2 and the scalar results come through the
 * public API. Springs act before the sweeps, so the modes here have no stiffness. Lanes eliminate mode by mode; so do the
 * scalar sweeps here, since an elimination through the ports rounds in other places. (Inverse dynamics of flexible
 * bodies is made of the sweeps of forward dynamics.)
 */
#define CAL_LANES 2

#include <stdlib.h>
#include <string.h>

#include "support/lanes.h"

#include "dynamics/tree/articulated.h"

enum { CASES = 30 };

static Fixture *slack_tree(uint64_t seed) {
	TreeOptions options = tree_flexible(seed);
	Rng r = rng_make(seed);
	options.springs = 0;
	options.conservative = 1;
	options.geometric = seed % 3 == 0;
	RefModel *m = random_tree(&r, options);
	for (int i = 0; i < m->body_count; i++)
		for (int k = 0; k < m->bodies[i].modes * m->bodies[i].modes; k++)
			m->bodies[i].stiffness[k] = 0;
	Fixture *f = fixture_create(m, seed, CAL_SOLVER_RECURSIVE);
	fixture_sample(f, &r);
	Flex *flexes = (Flex *)(uintptr_t)f->model->flexes; // memory of the model, which is this test's
	for (int i = 0; i < f->model->flex_count; i++)
		flexes[i].by_ports = 0;
	return f;
}

static Lanes lanes_make(uint64_t seed) { return lanes_of(slack_tree(seed), 0.05); }

static void check_lane(const Lanes *l, int lane, int n, const double *want) {
	for (int i = 0; i < n; i++) {
		const double got = real_lane(&l->x[i], lane);
		if (got != want[i])
			check_fail_at(__FILE__, __LINE__, l->f->seed, "lane %d, entry %d: %.17g, scalar %.17g", lane, i, got,
			              want[i]);
	}
}

static void forward_dynamics_over_lanes_equals_scalar(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Lanes l = lanes_make(seed);
		const CalModel *m = l.f->model;
		const SweepInput in = {.q = l.q, .u = l.u, .tau = l.t};
		double *want = fixture_doubles(l.f, l.f->nu);
		forward_outward_x2(m, &in, l.work);
		assert_int_equal(forward_inward_x2(m, &in, l.work), -1);
		forward_accelerate_x2(m, &in, l.work, l.x, NULL);
		for (int lane = 0; lane < LANES; lane++) {
			const CalInput input = {.tau = l.tau[lane]};
			check_ok(seed, cal_forward_dynamics(m, &l.state[lane], &input, l.f->work, want));
			check_lane(&l, lane, l.f->nu, want);
		}
		lanes_free(&l);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forward_dynamics_over_lanes_equals_scalar),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
