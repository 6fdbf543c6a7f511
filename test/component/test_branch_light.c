// SPDX-License-Identifier: Apache-2.0
/*
 * test_branch_light.c — closed loops with light links by branches: loops within branches and between them, masses up to
 * 1:1e12, against the reference in quadruple precision and against the model in one piece; the same bits with any number of
 * threads. Masses that are alike leave no doubt, although planar mechanisms have rows too many.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "component/branches.h"
#include "support/light_loop.h"

enum { CASES = 12, MOST = 40 };

typedef struct Case {
	Fixture *f;
	CalModel *model;
	CalWork *work;
	int n, m, cross;
} Case;

static Case case_create(RefModel *(*make)(Rng *), uint64_t seed, int decades, int cross) {
	Rng r = rng_make(seed);
	RefModel *ref = make(&r);
	make_light(ref, &r, pow(10, -decades));
	CalError error = {0};
	Case c = {.f = fixture_try(ref, seed, CAL_SOLVER_RECURSIVE, &error), .cross = cross};
	if (!c.f)
		return c; // three light bars in a row leave a joint without inertia
	ref_model_start(c.f->ref, c.f->state.q, c.f->state.u);
	fixture_close_loops(c.f);
	check_ok(seed, cal_model_compile(c.f->desc, NULL, &c.model, NULL));
	check_ok(seed, cal_work_create(c.model, &c.work));
	c.n = cal_model_u_count(c.model), c.m = cal_model_row_count(c.model);
	assert_true(c.n <= MOST && c.m <= MOST);
	return c;
}

static void case_destroy(Case *c) {
	cal_work_destroy(c->work);
	cal_model_destroy(c->model);
	fixture_destroy(c->f);
}

static CalBranches *cut(const Case *c, int branches, int threads) {
	CalBranches *made;
	const CalBranchOptions options = {.branches = branches,
	                                  .threads = threads,
	                                  .forced = 1,
	                                  .cross_loops = c->cross ? CAL_CROSS_LOOPS_ALWAYS : CAL_CROSS_LOOPS_NEVER,
	                                  .not_pinned = 1};
	check_ok(c->f->seed, cal_branches_create(c->model, &options, &made, NULL));
	return made;
}

static double relative(int n, const double *got, const double *want) {
	return max_difference(n, got, want) / fmax(max_abs(n, want), 1e-300);
}

/* What came out of many cases. */
typedef struct Findings {
	double udot, lambda, implicit, projected; // largest errors
	int several, doubtful, cases;
} Findings;

static void take(double *largest, double error) { *largest = fmax(*largest, error); }

static void compare_forward(const Case *c, CalBranches *b, const RefSolution *want, Findings *found) {
	double udot[MOST], lambda[MOST];
	check_ok(c->f->seed, cal_branches_forward(b, &c->f->state, NULL, udot));
	found->doubtful += solver_is_doubtful(b);
	check_that(c->f->seed, cal_branches_error(b) < 1e-12);
	take(&found->udot, relative(c->n, udot, want->udot));
	if (c->cross) {
		check_ok(c->f->seed, cal_branches_multipliers(b, lambda));
		take(&found->lambda, relative(c->m, lambda, want->lambda));
	}
}

static void compare_implicit(const Case *c, CalBranches *b, Findings *found) {
	double udot[MOST], want[MOST];
	const CalState *s = &c->f->state;
	check_ok(c->f->seed, cal_implicit_dynamics(c->model, s, s, NULL, 1e-3, c->work, want));
	check_ok(c->f->seed, cal_branches_implicit(b, s, s, NULL, 1e-3, udot));
	take(&found->implicit, relative(c->n, udot, want));
}

/* From a state somewhat off the constraints. */
static void compare_projected(const Case *c, CalBranches *b, Findings *found) {
	CalState s[2];
	CalProjectReport report;
	double off[MOST];
	Rng r = rng_make(c->f->seed);
	for (int k = 0; k < c->n; k++)
		off[k] = rng_uniform(&r, -1e-4, 1e-4);
	for (int i = 0; i < 2; i++) {
		check_ok(c->f->seed, cal_state_create(c->model, &s[i]));
		cal_state_copy(c->model, &c->f->state, &s[i]);
		cal_config_integrate(c->model, c->f->state.q, off, s[i].q);
		for (int k = 0; k < c->n; k++)
			s[i].u[k] += 10 * off[k];
	}
	const CalProjectOptions options = {.tolerance = 1e-13}; // of the length of a loop, some meters
	check_ok(c->f->seed, cal_loop_project(c->model, &s[0], &options, c->work, NULL));
	check_ok(c->f->seed, cal_branches_project(b, &s[1], &options, &report));
	check_that(c->f->seed, report.residual < 1e-12 && report.rate < 1e-11 * fmax(1, max_abs(c->n, s[1].u)));
	take(&found->projected, max_difference(cal_model_q_count(c->model), s[1].q, s[0].q));
	take(&found->projected, relative(c->n, s[1].u, s[0].u));
	for (int i = 0; i < 2; i++)
		cal_state_destroy(&s[i]);
}

static void compare(const Case *c, int branches, const RefSolution *want, Findings *found) {
	CalBranches *b = cut(c, branches, 1);
	found->cases++;
	found->several += cal_branches_count(b) > 1;
	compare_forward(c, b, want, found);
	compare_implicit(c, b, found);
	compare_projected(c, b, found);
	cal_branches_destroy(b);
}

static void check_mechanism(RefModel *(*make)(Rng *), const char *name, int cross) {
	for (int decades = 0; decades <= 12; decades += 3) {
		Findings found = {0};
		for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
			Case c = case_create(make, seed, decades, cross);
			double udot[MOST], lambda[MOST];
			check_that(seed, c.f || decades >= 12);
			if (!c.f)
				continue;
			RefSolution want = {.udot = udot, .lambda = lambda, .rank_tolerance = 1e-20};
			const CalState *s = &c.f->state;
			assert_int_equal(refq_loop_forward(c.f->ref, s->t, s->q, s->u, NULL, &want), 0);
			for (int branches = 2; branches <= 4; branches++)
				compare(&c, branches, &want, &found);
			case_destroy(&c);
		}
		print_message(
			"%s%s, masses 1:1e%d: accelerations %.1e, forces %.1e, implicit %.1e, projected %.1e; %d of %d in "
			"several branches, %d in doubt\n",
			name, cross ? " across" : "", decades, found.udot, found.lambda, found.implicit, found.projected,
			found.several, found.cases, found.doubtful);
		/* Across branches as by cut joints: without doubt, light links are known by their forces over their masses. */
		const double tolerance = cross ? 1e-9 : 1e-10;
		check_that(test_seed(), found.udot < tolerance && found.lambda < tolerance && found.implicit < tolerance);
		check_that(test_seed(), found.projected < 1e-10 && found.several > found.cases / 2);
		check_that(test_seed(), decades > 0 || found.doubtful == 0);
	}
}

static void four_bars_within_branches(void **state) { (void)state, check_mechanism(light_carriers, "carriers", 0); }
static void rings_across(void **state) { (void)state, check_mechanism(light_ring, "ring", 1); }
static void ladders_across(void **state) { (void)state, check_mechanism(light_ladder, "ladder", 1); }
static void free_ladders_across(void **state) { (void)state, check_mechanism(light_free_ladder, "free ladder", 1); }
static void walkers_across(void **state) { (void)state, check_mechanism(light_feet, "feet", 1); }
static void spatial_across(void **state) { (void)state, check_mechanism(light_spatial, "spatial four-bar", 1); }
static void carriers_across(void **state) { (void)state, check_mechanism(light_carriers, "carriers", 1); }

static void threads_give_the_same_bits(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		const int cross = (int)(seed % 2), decades = 3 * (int)(seed % 5);
		Case c = case_create(light_carriers, seed, decades, cross);
		double udot[2][MOST], *got[2] = {udot[0], udot[1]};
		for (int threads = 1; threads <= 3; threads++) {
			CalBranches *b = cut(&c, 3, threads);
			for (int again = 0; again < 20; again++) {
				double *to = got[threads > 1 || again > 0];
				check_ok(seed, cal_branches_forward(b, &c.f->state, NULL, to));
				check_that(seed, memcmp(to, got[0], sizeof *to * (size_t)c.n) == 0);
			}
			cal_branches_destroy(b);
		}
		case_destroy(&c);
	}
}

/* Too light for doubles to distinguish from no mass: the answer is that of no mass at all, or there is none. */
static void nothing_wrong_without_a_word(void **state) {
	(void)state;
	int refused = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++) {
		const int cross = (int)(seed % 2);
		RefModel *(*make)(Rng *) = cross ? light_ladder : light_carriers;
		double want[MOST], udot[MOST];
		Case c = case_create(make, seed, 12, cross);
		RefSolution solution = {.udot = want, .rank_tolerance = 1e-20};
		assert_int_equal(refq_loop_forward(c.f->ref, 0, c.f->state.q, c.f->state.u, NULL, &solution), 0);
		case_destroy(&c);
		for (int decades = 13; decades <= 24; decades++) {
			c = case_create(make, seed, decades, cross);
			CalBranches *b = cut(&c, 3, 1);
			const CalStatus status = cal_branches_forward(b, &c.f->state, NULL, udot);
			check_that(seed, status != CAL_OK || relative(c.n, udot, want) < 1e-5);
			refused += status == CAL_NOT_CONVERGED;
			cal_branches_destroy(b);
			case_destroy(&c);
		}
	}
	print_message("%d refused\n", refused);
	assert_true(refused > 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_bars_within_branches),
		cmocka_unit_test(rings_across),
		cmocka_unit_test(ladders_across),
		cmocka_unit_test(free_ladders_across),
		cmocka_unit_test(walkers_across),
		cmocka_unit_test(spatial_across),
		cmocka_unit_test(carriers_across),
		cmocka_unit_test(threads_give_the_same_bits),
		cmocka_unit_test(nothing_wrong_without_a_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
