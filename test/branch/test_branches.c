// SPDX-License-Identifier: Apache-2.0
/*
 * test_branches.c — forward dynamics by branches against that of the whole model: random rigid and flexible chains and
 * trees of every joint, with prescribed freedoms, wrenches, springs, implicit steps and loops; and the same bits with any
 * number of threads.
 */
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/random_loop.h"
#include "support/random_tree.h"

enum { TREES = 150, BRANCHES = 6 };

typedef struct Counts {
	int several, apart, waiting; // cases with more than one branch, with cuts of either way
} Counts;

static CalBranches *branches_of(uint64_t seed, const CalModel *model, int branches, int threads) {
	CalBranches *made;
	CalError error = {0};
	const CalBranchOptions options = {.branches = branches, .threads = threads, .forced = 1, .not_pinned = 1};
	check_ok(seed, cal_branches_create(model, &options, &made, &error));
	return made;
}

static void count(const CalBranches *branches, Counts *counts) {
	counts->several += cal_branches_count(branches) > 1;
	for (int k = 0; k < cal_branches_count(branches); k++) {
		CalBranchInfo info;
		assert_int_equal(cal_branches_info(branches, k, &info), CAL_OK);
		counts->apart += info.apart;
		counts->waiting += !info.apart && info.parent >= 0;
	}
}

/* Largest difference of two solutions in terms of forces, as part of the forces that are there. */
static void compare(uint64_t seed, Fixture *f, const CalModel *model, CalWork *work, Counts *counts) {
	double *want = fixture_doubles(f, 2 * f->nu), *got = fixture_doubles(f, 2 * f->nu);
	check_ok(seed, cal_forward_dynamics(model, &f->state, &f->input, work, want));
	check_ok(seed, cal_implicit_dynamics(model, &f->state, &f->state, &f->input, 1e-2, work, want + f->nu));
	const double scale = fixture_force_scale(f, want);
	for (int n = 2; n <= BRANCHES; n++) {
		CalBranches *branches = branches_of(seed, model, n, 1);
		count(branches, counts);
		check_ok(seed, cal_branches_forward(branches, &f->state, &f->input, got));
		check_ok(seed, cal_branches_implicit(branches, &f->state, &f->state, &f->input, 1e-2, got + f->nu));
		(void)scale;
		check_close(seed, "udot", f->nu, got, want, 1e-10);
		check_close(seed, "implicit udot", f->nu, got + f->nu, want + f->nu, 1e-10);
		cal_branches_destroy(branches);
	}
}

static TreeOptions options_of(uint64_t seed) {
	TreeOptions options = seed % 3 ? tree_flexible(seed) : tree_any(seed);
	options.bodies = 2 + (int)(seed % 23);
	options.chain = seed % 4 == 0;
	options.foreshortening = seed % 8 == 1;
	return options;
}

static void trees_agree(void **state) {
	(void)state;
	Counts counts = {0};
	for (uint64_t seed = test_seed(); seed < test_seed() + TREES; seed++) {
		Fixture *f = fixture_random(seed, options_of(seed), CAL_SOLVER_RECURSIVE);
		if (seed % 2) {
			Rng r = rng_make(seed);
			fixture_prescribe(f, &r);
		}
		compare(seed, f, f->model, f->work, &counts);
		fixture_destroy(f);
	}
	print_message("%d cuts into several branches; %d joined, %d waited for\n", counts.several, counts.apart,
	              counts.waiting);
	assert_true(counts.several > TREES && counts.apart > TREES && counts.waiting > TREES);
}

static void threads_give_the_same_bits(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + TREES / 5; seed++) {
		Fixture *f = fixture_random(seed, options_of(seed), CAL_SOLVER_RECURSIVE);
		double *first = fixture_doubles(f, f->nu), *got = fixture_doubles(f, f->nu);
		for (int threads = 1; threads <= 4; threads++) {
			CalBranches *branches = branches_of(seed, f->model, BRANCHES, threads);
			for (int again = 0; again < 3; again++) {
				check_ok(seed, cal_branches_forward(branches, &f->state, &f->input, got));
				if (threads == 1 && again == 0)
					memcpy(first, got, sizeof *got * (size_t)f->nu);
				check_that(seed, memcmp(first, got, sizeof *got * (size_t)f->nu) == 0);
			}
			cal_branches_destroy(branches);
		}
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_agree),
		cmocka_unit_test(threads_give_the_same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
