// SPDX-License-Identifier: Apache-2.0
/*
 * test_branches.c — forward dynamics by branches against that of the whole model: random rigid and flexible chains and
 * trees of every joint, with prescribed dofs, wrenches, springs, implicit steps and loops; and the same bits with any
 * number of threads. What is singular or not finite is reported whichever thread meets it; lack of memory at any point leaves
 * nothing behind.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/failing_allocator.h"
#include "support/random_loop.h"
#include "support/random_tree.h"

enum { TREES = 150, BRANCHES = 6 };

typedef struct Counts {
	int several, apart, waiting; // cases with more than one branch, with interfaces of either way
} Counts;

static CalBranches *branches_of(uint64_t seed, const CalModel *model, int branches, int threads) {
	CalBranches *made;
	CalError error = {0};
	const CalBranchOptions options = {
		.branches = branches, .threads = threads, .forced = 1, .cross_loops = CAL_CROSS_LOOPS_NEVER, .not_pinned = 1};
	check_ok(seed, cal_branches_create(model, &options, &made, &error));
	return made;
}

static void count(const CalBranches *branches, Counts *counts) {
	counts->several += cal_branches_count(branches) > 1;
	for (int k = 0; k < cal_branches_count(branches); k++) {
		CalBranchInfo info;
		assert_int_equal(cal_branches_info(branches, k, &info), CAL_OK);
		counts->apart += info.decoupled;
		counts->waiting += !info.decoupled && info.parent >= 0;
	}
}

/* The forces that two solutions differ by, M (got - want), as part of those that are there: whatever the condition of M. */
static void check_forces(uint64_t seed, Fixture *f, const double *got, const double *want, double scale) {
	double *M = fixture_doubles(f, f->nu * f->nu), *off = fixture_doubles(f, f->nu), *none = fixture_doubles(f, f->nu);
	ref_mass_matrix(f->ref, f->state.q, M);
	for (int i = 0; i < f->nu; i++) {
		off[i] = none[i] = 0;
		for (int j = 0; j < f->nu; j++)
			off[i] += M[i * f->nu + j] * (got[j] - want[j]);
	}
	check_close_scaled(seed, "forces", f->nu, off, none, scale, 1e-12);
}

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
		check_forces(seed, f, got, want, scale);
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
	options.geometric = seed % 5 == 0;
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
	print_message("%d partitions into several branches; %d joined, %d sequential\n", counts.several, counts.apart,
	              counts.waiting);
	assert_true(counts.several > TREES && counts.apart > TREES && counts.waiting > TREES);
}

/*
 * A boom of flexible bodies on a hub, and a light stub on the hub that comes after them: with the boom cut at a node, what
 * follows that node in the piece of the hub is the stub. A body of four modes takes its node with them.
 */
static Fixture *hub_with_boom(uint64_t seed, int boom) {
	RefModel *m = ref_model_create();
	Rng r = rng_make(seed);
	const TreeOptions options = {.max_modes = 4};
	for (int i = 0; i < boom + 2; i++) {
		ref_model_add_body(m, i <= boom ? i - 1 : 0, CAL_JOINT_REVOLUTE);
		RefBody *b = &m->bodies[i];
		rng_mass(&r, 1, &b->mass, &b->com, &b->inertia);
		b->joint.inboard = rng_placement(&r);
		if (i > 1 && i <= boom)
			b->parent_node = random_flex_node(&r, m, i - 1);
		if (i > 0 && i <= boom)
			random_flexibility(&r, m, i, &options);
	}
	ref_model_index(m);
	Fixture *f = fixture_create(m, seed, CAL_SOLVER_RECURSIVE);
	fixture_sample(f, &r);
	return f;
}

static void a_cut_at_a_node_keeps_other_subtrees_apart(void **state) {
	(void)state;
	enum { BOOMS = 24 };
	Counts counts = {0};
	for (uint64_t seed = test_seed(); seed < test_seed() + BOOMS; seed++) {
		Fixture *f = hub_with_boom(seed, 6 + (int)(seed % 5));
		compare(seed, f, f->model, f->work, &counts);
		fixture_destroy(f);
	}
	assert_true(counts.apart > BOOMS);
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

/* ---- loops --------------------------------------------------------------------------------------------------------- */

/* How near two ways to solve can be: see test_loops_ways.c. */
static double tolerance_of(const Fixture *f, int rows) {
	double *memory = calloc((size_t)(f->nu + 2 * rows), sizeof *memory);
	assert_non_null(memory);
	RefSolution solution = {.udot = memory, .lambda = memory + f->nu, .mismatch = memory + f->nu + rows};
	assert_int_equal(ref_loop_forward(f->ref, f->state.t, f->state.q, f->state.u, &f->ref_input, &solution), 0);
	const double contradiction = max_abs(rows, solution.mismatch), kept = solution.kept;
	free(memory);
	return kept < 1e-9 ? INFINITY : fmax(contradiction > 1e-6 ? 1e-6 : 1e-9, 1e-13 / kept);
}

static LoopOptions loops_of(uint64_t seed) {
	LoopOptions options = loop_any(seed);
	options.tree.bodies = 6 + (int)(seed % 9);
	options.loops = 1 + (int)(seed % 2);
	options.redundant = seed % 4 == 0;
	options.stabilised = seed % 3 == 0;
	return options;
}

/* Some loops reach across the whole model, and leave nothing to cut. */
static void compare_loops(uint64_t seed, Fixture *f, const CalModel *model, Counts *counts) {
	const double tolerance = tolerance_of(f, cal_model_row_count(model));
	double *want = fixture_doubles(f, f->nu), *got = fixture_doubles(f, f->nu);
	CalWork *work;
	check_ok(seed, cal_work_create(model, &work));
	check_ok(seed, cal_forward_dynamics(model, &f->state, &f->input, work, want));
	for (int n = 2; n <= BRANCHES && isfinite(tolerance); n += 2) {
		CalBranches *branches = branches_of(seed, model, n, 1 + n % 3);
		int loops = 0;
		for (int k = 0; k < cal_branches_count(branches); k++) {
			CalBranchInfo info;
			assert_int_equal(cal_branches_info(branches, k, &info), CAL_OK);
			loops += info.loops;
		}
		assert_int_equal(loops, cal_model_loop_count(model));
		count(branches, counts);
		check_ok(seed, cal_branches_forward(branches, &f->state, &f->input, got));
		check_close_scaled(seed, "udot", f->nu, got, want, fmax(1, max_abs(f->nu, want)), tolerance);
		cal_branches_destroy(branches);
	}
	cal_work_destroy(work);
}

static void compare_loops_of(uint64_t seed, Counts *counts) {
	Fixture *f = fixture_random_loop(seed, loops_of(seed), CAL_SOLVER_RECURSIVE);
	const CalCompileOptions options = {.solver = CAL_SOLVER_RECURSIVE,
	                                   .loops = seed % 5 ? CAL_LOOPS_ELIMINATION : CAL_LOOPS_CUT_JOINT};
	CalModel *model;
	fixture_close_loops(f);
	check_ok(seed, cal_model_compile(f->desc, &options, &model, NULL));
	if (seed % 3 == 0) {
		Rng r = rng_make(seed);
		fixture_prescribe(f, &r);
	}
	compare_loops(seed, f, model, counts);
	cal_model_destroy(model);
	fixture_destroy(f);
}

static void loops_agree(void **state) {
	(void)state;
	enum { CASES = 60 };
	Counts counts = {0};
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++)
		compare_loops_of(seed, &counts);
	print_message("%d partitions into several branches; %d joined, %d sequential\n", counts.several, counts.apart,
	              counts.waiting);
	assert_true(counts.several > CASES && counts.apart > 0 && counts.waiting > 0);
}

/* These have a loop between two nodes of one flexible body, which no joint is on the path of, and cuts outboard of it. */
static void columns_do_not_pass_loops_within_one_body(void **state) {
	(void)state;
	Counts counts = {0};
	compare_loops_of(2, &counts);
	compare_loops_of(551, &counts);
	assert_int_equal(counts.several, 6);
}

/* ---- errors -------------------------------------------------------------------------------------------------------- */

/* A chain of hinges with one gimbal of axes x, y, x, which is locked when the middle angle vanishes. */
static Fixture *chain_with_gimbal(uint64_t seed, int bodies, int gimbal) {
	RefModel *m = ref_model_create();
	Rng r = rng_make(seed);
	for (int i = 0; i < bodies; i++) {
		ref_model_add_body(m, i - 1, i == gimbal ? CAL_JOINT_SEQUENCE : CAL_JOINT_REVOLUTE);
		CalJointDef *def = &m->bodies[i].joint;
		def->inboard.position = rng_vector(&r, 0.5);
		rng_mass(&r, 1, &m->bodies[i].mass, &m->bodies[i].com, &m->bodies[i].inertia);
		if (i != gimbal)
			continue;
		def->element_count = 3;
		for (int k = 0; k < 3; k++)
			def->elements[k] = (CalElement){.type = CAL_JOINT_REVOLUTE, .axis = {k != 1, k == 1, 0}};
	}
	ref_model_index(m);
	Fixture *f = fixture_create(m, seed, CAL_SOLVER_RECURSIVE);
	rng_fill(&r, 1, f->nq, f->state.q);
	rng_fill(&r, 1, f->nu, f->state.u);
	return f;
}

static void check_reported(uint64_t seed, Fixture *f, int gimbal, int threads) {
	CalBranches *branches = branches_of(seed, f->model, 4, threads);
	double *udot = fixture_doubles(f, f->nu), *middle = &f->state.q[gimbal + 1], *speed = &f->state.u[gimbal];
	const double angle = *middle, known = *speed;
	check_that(seed, cal_branches_count(branches) > 1);
	*middle = 0;
	check_status(seed, cal_branches_forward(branches, &f->state, NULL, udot), CAL_SINGULAR);
	const int failed_dof = cal_branches_failed_dof(branches);
	check_that(seed, failed_dof == gimbal || failed_dof == gimbal + 2);
	*middle = angle;
	check_ok(seed, cal_branches_forward(branches, &f->state, NULL, udot));
	check_that(seed, cal_branches_failed_dof(branches) == -1);
	*speed = NAN;
	check_status(seed, cal_branches_forward(branches, &f->state, NULL, udot), CAL_NOT_FINITE);
	*speed = known;
	check_ok(seed, cal_branches_forward(branches, &f->state, NULL, udot));
	cal_branches_destroy(branches);
}

static void what_is_wrong_is_reported_by_any_thread(void **state) {
	(void)state;
	enum { BODIES = 16 };
	for (int gimbal = 0; gimbal < BODIES; gimbal++) {
		const uint64_t seed = test_seed() + (uint64_t)gimbal;
		Fixture *f = chain_with_gimbal(seed, BODIES, gimbal);
		for (int threads = 1; threads <= 4; threads++)
			check_reported(seed, f, gimbal, threads);
		fixture_destroy(f);
	}
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

/* Each allocation fails in turn. Returns how many there are. */
static int fail_in_turn(uint64_t seed, const CalModel *model, FailingAllocator *memory) {
	const long live = memory->live;
	for (int k = 1;; k++) {
		const CalBranchOptions options = {.branches = 4, .threads = 2, .forced = 1, .not_pinned = 1};
		CalBranches *branches = NULL;
		CalError error = {0};
		memory->calls = 0;
		memory->fail_at = k;
		const CalStatus status = cal_branches_create(model, &options, &branches, &error);
		memory->fail_at = 0;
		if (status == CAL_OK) {
			check_that(seed, memory->calls == k - 1);
			cal_branches_destroy(branches);
			check_that(seed, memory->live == live);
			return k - 1;
		}
		check_that(seed, status == CAL_ERR_MEMORY && memory->live == live && strstr(error.text, "branches"));
	}
}

static void lack_of_memory_leaks_nothing(void **state) {
	(void)state;
	int several = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
		FailingAllocator memory = {0};
		const CalCompileOptions options = {.solver = CAL_SOLVER_RECURSIVE, .allocator = failing_allocator(&memory)};
		Fixture *f = seed % 2 ? fixture_random_loop(seed, loops_of(seed), CAL_SOLVER_RECURSIVE)
		                      : fixture_random(seed, options_of(seed + 10), CAL_SOLVER_RECURSIVE);
		CalModel *model;
		if (seed % 2)
			fixture_close_loops(f);
		check_ok(seed, cal_model_compile(f->desc, &options, &model, NULL));
		several += fail_in_turn(seed, model, &memory) > 10;
		cal_model_destroy(model);
		check_that(seed, memory.live == 0);
		fixture_destroy(f);
	}
	assert_true(several > 6);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_agree),
		cmocka_unit_test(a_cut_at_a_node_keeps_other_subtrees_apart),
		cmocka_unit_test(threads_give_the_same_bits),
		cmocka_unit_test(loops_agree),
		cmocka_unit_test(columns_do_not_pass_loops_within_one_body),
		cmocka_unit_test(what_is_wrong_is_reported_by_any_thread),
		cmocka_unit_test(lack_of_memory_leaks_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
