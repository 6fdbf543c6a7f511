// SPDX-License-Identifier: Apache-2.0
/*
 * test_branch_loops.c — closed loops by branches against the whole model by cut joints: random rigid and flexible systems
 * with loops of any type, redundant, driven and stabilised; loops that are closed within a branch, and loops that reach from
 * branch to branch. The same bits with any number of threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "component/branch_step.h"
#include "dynamics/loop/loop_rows.h"
#include "support/random_loop.h"

enum { CASES = 32 };

static CalCrossLoops cross_loops(int cross) { return cross ? CAL_CROSS_LOOPS_ALWAYS : CAL_CROSS_LOOPS_NEVER; }

typedef struct Case {
	Fixture *f;
	CalModel *model;
	CalWork *work;
	int n, m;
	double *want, *lambda, *got, *multipliers;
	double tolerance; // INFINITY: not to be compared
} Case;

static Case case_create(uint64_t seed) {
	LoopOptions options = loop_any(seed);
	options.tree.bodies = 4 + (int)(seed % 12);
	options.types = LOOP_ANY_TYPE & ~(1u << REF_LOOP_COUPLING); // they look at joints, wherever these are
	options.stabilised = seed % 3 == 0;
	options.redundant = seed % 2 == 0;
	options.known = 0;
	Case c = {.f = fixture_random_loop(seed, options, CAL_SOLVER_RECURSIVE)};
	CalError error = {0};
	fixture_close_loops(c.f);
	const CalCompileOptions compile = {.solver = CAL_SOLVER_RECURSIVE, .loops = CAL_LOOPS_CUT_JOINT};
	check_ok(seed, cal_model_compile(c.f->desc, &compile, &c.model, &error));
	check_ok(seed, cal_work_create(c.model, &c.work));
	c.n = cal_model_u_count(c.model), c.m = cal_model_row_count(c.model);
	c.want = test_doubles(c.n), c.got = test_doubles(c.n);
	c.lambda = test_doubles(c.m), c.multipliers = test_doubles(c.m);
	return c;
}

static void case_destroy(Case *c) {
	cal_work_destroy(c->work);
	cal_model_destroy(c->model);
	free(c->want), free(c->got), free(c->lambda), free(c->multipliers);
	fixture_destroy(c->f);
}

/* As in test_loops_ways.c: what the worst conditioned of the rows that count costs. */
static double tolerance_of(const Case *c) {
	const CalState *s = &c->f->state;
	double *memory = test_doubles(c->n + 2 * c->m);
	RefSolution solution = {.udot = memory, .lambda = memory + c->n, .mismatch = memory + c->n + c->m};
	assert_int_equal(ref_loop_forward(c->f->ref, s->t, s->q, s->u, &c->f->ref_input, &solution), 0);
	const double contradiction = max_abs(c->m, solution.mismatch), kept = solution.kept;
	free(memory);
	return kept < 1e-9 || contradiction > 1e-6 ? INFINITY : fmax(1e-9, 1e-13 / kept);
}

static int driven_cases; // that were compared and have rows that supply power

/* Returns how many branches there were; compared: how many cases were. */
static int compare(Case *c, int branches, int cross, int *compared) {
	const uint64_t seed = c->f->seed;
	CalBranches *made;
	CalError error = {0};
	const CalBranchOptions options = {
		.branches = branches, .forced = 1, .cross_loops = cross_loops(cross), .not_pinned = 1};
	check_ok(seed, cal_branches_create(c->model, &options, &made, &error));
	const int count = cal_branches_count(made);
	const double tolerance = c->tolerance;
	check_ok(seed, cal_branches_forward(made, &c->f->state, &c->f->input, c->got));
	if (isfinite(tolerance)) {
		check_close_scaled(seed, "udot", c->n, c->got, c->want, fmax(1, max_abs(c->n, c->want)), tolerance);
		++*compared;
		const double power = loop_drives_power(c->model, c->f->state.t, c->lambda), own = branches_drive_power(made);
		const double size = fmax(1, max_abs(c->m, c->lambda));
		driven_cases += power != 0;
		check_close_scaled(seed, "power of driven loops", 1, &own, &power, size, 10 * tolerance);
	}
	if (isfinite(tolerance) && cross) {
		check_ok(seed, cal_branches_multipliers(made, c->multipliers));
		check_close_scaled(seed, "lambda", c->m, c->multipliers, c->lambda, fmax(1, max_abs(c->m, c->lambda)),
		                   tolerance);
	}
	cal_branches_destroy(made);
	return count;
}

static void run(int cross) {
	int several = 0, compared = 0;
	driven_cases = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Case c = case_create(seed);
		check_ok(seed, cal_forward_dynamics(c.model, &c.f->state, &c.f->input, c.work, c.want));
		check_ok(seed, cal_loop_multipliers(c.model, c.work, c.lambda));
		c.tolerance = tolerance_of(&c);
		for (int n = 2; n <= 5; n++)
			several += compare(&c, n, cross, &compared) > 1;
		case_destroy(&c);
	}
	print_message("%d compared, %d of them in several branches\n", compared, several);
	assert_true(compared > 4 * CASES * 0.9 && several > CASES / 2 && driven_cases > CASES);
}

static void loops_within_branches(void **state) {
	(void)state;
	run(0);
}

static void loops_between_branches(void **state) {
	(void)state;
	run(1);
}

/* Seed 83 in two branches is cut at a node of a flexible body, and links of another subtree follow that node. */
static void a_cut_at_a_node_keeps_loops_right(void **state) {
	(void)state;
	Case c = case_create(83);
	int compared = 0;
	check_ok(83, cal_forward_dynamics(c.model, &c.f->state, &c.f->input, c.work, c.want));
	check_ok(83, cal_loop_multipliers(c.model, c.work, c.lambda));
	c.tolerance = tolerance_of(&c);
	assert_int_equal(compare(&c, 2, 1, &compared), 2);
	assert_int_equal(compared, 1);
	case_destroy(&c);
}

/* From a state somewhat off the constraints, over the assembly of branches and by the whole model. */
static void project(const Case *c, int cross, Rng *r) {
	const uint64_t seed = c->f->seed;
	CalBranches *made;
	CalState s[2];
	CalProjectReport report;
	const CalBranchOptions options = {.branches = 4, .forced = 1, .cross_loops = cross_loops(cross), .not_pinned = 1};
	check_ok(seed, cal_branches_create(c->model, &options, &made, NULL));
	for (int k = 0; k < c->n; k++) {
		CalDofInfo dof;
		check_ok(seed, cal_model_dof(c->model, k, &dof));
		c->got[k] = dof.prescribed ? 0 : rng_uniform(r, -1e-3, 1e-3);
	}
	for (int i = 0; i < 2; i++) {
		check_ok(seed, cal_state_create(c->model, &s[i]));
		cal_state_copy(c->model, &c->f->state, &s[i]);
		cal_config_integrate(c->model, c->f->state.q, c->got, s[i].q);
		for (int k = 0; k < c->n; k++)
			s[i].u[k] += 10 * c->got[k];
	}
	check_ok(seed, cal_branches_project(made, &s[0], NULL, &report));
	check_ok(seed, cal_loop_project(c->model, &s[1], NULL, c->work, NULL));
	check_that(seed, report.residual <= 1e-12);
	check_close_scaled(seed, "projected q", cal_model_q_count(c->model), s[0].q, s[1].q, 1, 1e-10);
	check_close_scaled(seed, "projected u", c->n, s[0].u, s[1].u, fmax(1, max_abs(c->n, s[1].u)), 1e-10);
	for (int i = 0; i < 2; i++)
		cal_state_destroy(&s[i]);
	cal_branches_destroy(made);
}

static void projections_agree(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Case c = case_create(seed);
		Rng r = rng_make(seed);
		project(&c, 0, &r);
		project(&c, 1, &r);
		case_destroy(&c);
	}
}

static void threads_give_the_same_bits(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES / 4; seed++) {
		Case c = case_create(seed);
		for (int cross = 0; cross < 2; cross++) {
			for (int threads = 1; threads <= 4; threads++) {
				CalBranches *made;
				const CalBranchOptions options = {
					.branches = 4, .threads = threads, .forced = 1, .cross_loops = cross_loops(cross), .not_pinned = 1};
				check_ok(seed, cal_branches_create(c.model, &options, &made, NULL));
				check_ok(seed, cal_branches_forward(made, &c.f->state, &c.f->input, threads == 1 ? c.want : c.got));
				check_that(seed, threads == 1 || memcmp(c.want, c.got, sizeof *c.got * (size_t)c.n) == 0);
				cal_branches_destroy(made);
			}
		}
		case_destroy(&c);
	}
}

/* Flexible systems by branches and by one sweep against quadruple precision. Seed 57 has a knife whose other frame is
 * on a flexible body of another branch. */
static void flexible_systems_equal_the_reference(void **state) {
	(void)state;
	for (uint64_t seed = 50; seed < 62; seed++) {
		LoopOptions options = loop_any(seed);
		options.tree.flexible = 0.6, options.tree.bodies = 8 + (int)(seed % 8), options.redundant = seed % 4 == 0;
		Fixture *f = fixture_random_loop(seed, options, CAL_SOLVER_RECURSIVE);
		CalModel *model;
		CalWork *work;
		fixture_close_loops(f);
		check_ok(seed, cal_model_compile(f->desc, NULL, &model, NULL));
		check_ok(seed, cal_work_create(model, &work));
		const int n = cal_model_u_count(model);
		double *udot = test_doubles(3 * n);
		RefSolution want = {.udot = udot + 2 * n};
		const CalState *s = &f->state;
		assert_int_equal(refq_loop_forward(f->ref, s->t, s->q, s->u, &f->ref_input, &want), 0);
		check_ok(seed, cal_forward_dynamics(model, s, &f->input, work, udot));
		for (int cross = 0; cross < 2; cross++) {
			CalBranches *branches;
			const CalBranchOptions cut = {
				.branches = 3, .forced = 1, .cross_loops = cross_loops(cross), .not_pinned = 1};
			check_ok(seed, cal_branches_create(model, &cut, &branches, NULL));
			check_ok(seed, cal_branches_forward(branches, s, &f->input, udot + n));
			const double size = fmax(1, max_abs(n, udot + 2 * n)), tolerance = fmax(1e-11, 1e-14 / want.kept);
			check_close_scaled(seed, "one sweep", n, udot, udot + 2 * n, size, tolerance);
			check_close_scaled(seed, "branches", n, udot + n, udot + 2 * n, size, tolerance);
			cal_branches_destroy(branches);
		}
		free(udot);
		cal_work_destroy(work);
		cal_model_destroy(model);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flexible_systems_equal_the_reference),
		cmocka_unit_test(loops_within_branches),
		cmocka_unit_test(loops_between_branches),
		cmocka_unit_test(a_cut_at_a_node_keeps_loops_right),
		cmocka_unit_test(projections_agree),
		cmocka_unit_test(threads_give_the_same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
