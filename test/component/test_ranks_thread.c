// SPDX-License-Identifier: Apache-2.0
/*
 * test_ranks_thread.c — branches on ranks: the same bits on any number of them, failures on which all agree, and no more
 * messages than three for each cut between two ranks; loops that span ranks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "component/branch_step.h"
#include "support/light_loop.h"
#include "support/random_loop.h"
#include "support/thread_ranks.h"

enum { TREES = 40, BRANCHES = 6, MOST_RANKS = 7, EVALUATIONS = 3, MOST_ROWS = 64 };

/* What all ranks are to do, and what each found. */
typedef struct Task {
	const Fixture *f;
	const CalModel *model;
	bool whole;
	CalCrossLoops cross_loops;
	double *udot[MOST_RANKS]; // [2 nu]: forward, then implicit
	uint8_t *own[MOST_RANKS]; // [nu]
	CalStatus status[MOST_RANKS];
	int failed_dof[MOST_RANKS];
	bool failed[MOST_RANKS];
	CalDistributionInfo info[MOST_RANKS];
	CalStatus lambda_status[MOST_RANKS];
	double lambda[MOST_RANKS][MOST_ROWS];
} Task;

static CalStatus solve(CalBranches *branches, const Fixture *f, double *udot) {
	const CalStatus status = cal_branches_forward(branches, &f->state, &f->input, udot);
	const CalStatus next = cal_branches_implicit(branches, &f->state, &f->state, &f->input, 1e-2, udot + f->nu);
	return status == CAL_OK ? next : status;
}

static void work(void *user, const CalTransport *transport) {
	Task *task = user;
	const int r = transport->rank;
	CalBranches *branches = NULL;
	const CalBranchOptions options = {
		.branches = BRANCHES, .forced = 1, .cross_loops = task->cross_loops, .transport = transport};
	task->status[r] = cal_branches_create(task->model, &options, &branches, NULL);
	if (task->status[r] != CAL_OK)
		return;
	int rank_of[BRANCHES * 8];
	for (int k = 0; k < cal_branches_count(branches); k++) {
		CalBranchInfo info;
		cal_branches_info(branches, k, &info);
		rank_of[k] = info.rank;
	}
	branches_place(branches, rank_of, task->own[r]);
	branches_set_whole(branches, task->whole);
	for (int k = 0; k < EVALUATIONS; k++)
		task->status[r] = solve(branches, task->f, task->udot[r]);
	if (cal_model_row_count(task->model) <= MOST_ROWS)
		task->lambda_status[r] = cal_branches_multipliers(branches, task->lambda[r]);
	task->failed_dof[r] = cal_branches_failed_dof(branches);
	task->failed[r] = branches_failed(branches);
	branches_count_messages(branches, &task->info[r]);
	cal_branches_destroy(branches);
}

static void task_run_loops(Task *task, Fixture *f, const CalModel *model, CalCrossLoops cross_loops, int size,
                           bool whole) {
	*task = (Task){.f = f, .model = model, .whole = whole, .cross_loops = cross_loops};
	for (int r = 0; r < size; r++) {
		task->udot[r] = fixture_doubles(f, 2 * f->nu);
		task->own[r] = test_alloc((size_t)f->nu + 1, 1);
	}
	thread_ranks_run(size, work, task);
}

static void task_run_model(Task *task, Fixture *f, const CalModel *model, int size, bool whole) {
	task_run_loops(task, f, model, CAL_CROSS_LOOPS_NEVER, size, whole);
}

static void task_run(Task *task, Fixture *f, int size, bool whole) { task_run_model(task, f, f->model, size, whole); }

static void task_free(Task *task) {
	for (int r = 0; r < MOST_RANKS; r++)
		free(task->own[r]);
}

static Fixture *any_tree(uint64_t seed) {
	TreeOptions options = seed % 3 ? tree_flexible(seed) : tree_any(seed);
	options.bodies = 2 + (int)(seed % 23);
	options.chain = seed % 4 == 0;
	return fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
}

static CalStatus solve_here(Fixture *f, double *udot, int *failed_dof) {
	CalBranches *branches;
	const CalBranchOptions options = {.branches = BRANCHES, .forced = 1};
	check_ok(f->seed, cal_branches_create(f->model, &options, &branches, NULL));
	const CalStatus status = solve(branches, f, udot);
	*failed_dof = cal_branches_failed_dof(branches);
	cal_branches_destroy(branches);
	return status;
}

/*
 * On one rank chains are joined as on any number of them, one branch after the other; in one place in pairs, which is the
 * same but for round-off.
 */
static void solve_on_one_rank(Fixture *f, double *udot) {
	double *here = fixture_doubles(f, 2 * f->nu);
	int failed_dof;
	Task task;
	check_ok(f->seed, solve_here(f, here, &failed_dof));
	task_run(&task, f, 1, true);
	check_ok(f->seed, task.status[0]);
	memcpy(udot, task.udot[0], 2 * sizeof *udot * (size_t)f->nu);
	task_free(&task);
	check_close(f->seed, "udot", f->nu, udot, here, 1e-10);
	check_close(f->seed, "implicit udot", f->nu, udot + f->nu, here + f->nu, 1e-10);
}

static void ranks_give_the_same_bits(void **state) {
	(void)state;
	static const int sizes[] = {2, 3, 7};
	int interfaces = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + TREES; seed++) {
		Fixture *f = any_tree(seed);
		double *want = fixture_doubles(f, 2 * f->nu);
		solve_on_one_rank(f, want);
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			Task task;
			task_run(&task, f, sizes[i], true);
			interfaces += task.info[0].interfaces;
			for (int r = 0; r < sizes[i]; r++) {
				check_ok(seed, task.status[r]);
				check_that(seed, memcmp(task.udot[r], want, 2 * sizeof *want * (size_t)f->nu) == 0);
			}
			task_free(&task);
		}
		fixture_destroy(f);
	}
	print_message("%d interfaces between ranks\n", interfaces);
	assert_true(interfaces > 3 * TREES);
}

/* Three messages and 45 numbers for each cut between two ranks and evaluation, and nothing else. */
static void only_interfaces_are_sent(void **state) {
	(void)state;
	int64_t most = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + TREES; seed++) {
		Fixture *f = any_tree(seed);
		double *want = fixture_doubles(f, 2 * f->nu);
		solve_on_one_rank(f, want);
		const int size = 2 + (int)(seed % 4);
		Task task;
		task_run(&task, f, size, false);
		int64_t messages = 0, numbers = 0;
		int *owners = test_alloc((size_t)f->nu + 1, sizeof *owners);
		for (int r = 0; r < size; r++) {
			check_ok(seed, task.status[r]);
			messages += task.info[r].messages;
			numbers += task.info[r].numbers;
			check_that(seed, task.info[r].gathers == 0 && task.info[r].evaluations == 2 * EVALUATIONS);
			for (int i = 0; i < 2 * f->nu; i++)
				check_that(seed, !task.own[r][i % f->nu] || task.udot[r][i] == want[i]);
			for (int i = 0; i < f->nu; i++)
				owners[i] += task.own[r][i];
		}
		for (int i = 0; i < f->nu; i++)
			check_that(seed, owners[i] == 1);
		const int64_t crossings = (int64_t)task.info[0].interfaces * 2 * EVALUATIONS;
		check_that(seed, messages == 3 * crossings && numbers == 45 * crossings);
		most = task.info[0].interfaces > most ? task.info[0].interfaces : most;
		free(owners);
		task_free(&task);
		fixture_destroy(f);
	}
	print_message("up to %d interfaces between ranks\n", (int)most);
	assert_true(most >= 3);
}

static void ranks_agree_on_what_failed(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + TREES; seed++) {
		Fixture *f = any_tree(seed);
		double *want = fixture_doubles(f, 2 * f->nu);
		int failed_dof;
		f->state.u[seed % (uint64_t)f->nu] = NAN;
		const CalStatus status = solve_here(f, want, &failed_dof);
		Task task;
		task_run(&task, f, 3, true);
		for (int r = 0; r < 3; r++) {
			check_that(seed, status != CAL_OK && task.status[r] == status && task.failed_dof[r] == failed_dof);
		}
		task_free(&task);
		fixture_destroy(f);
	}
}

static void threads_on_ranks_are_refused(void **state) {
	(void)state;
	Fixture *f = any_tree(test_seed());
	CalBranches *branches;
	CalError error = {0};
	const CalTransport transport = {.size = 1};
	const CalBranchOptions options = {.threads = 2, .transport = &transport};
	assert_int_equal(cal_branches_create(f->model, &options, &branches, &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "start more ranks"));
	fixture_destroy(f);
}

/* A rank on which loops leave a doubt: all solve the model in one piece; where only interfaces are sent, the run handles it. */
static void light_loops_are_solved_in_one_piece(void **state) {
	(void)state;
	int doubts = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++) {
		Rng rng = rng_make(seed);
		RefModel *ref = light_carriers(&rng);
		make_light(ref, &rng, 1e-9);
		Fixture *f = fixture_create(ref, seed, CAL_SOLVER_RECURSIVE);
		CalModel *model;
		CalWork *whole;
		Task task;
		ref_model_start(f->ref, f->state.q, f->state.u);
		fixture_close_loops(f);
		check_ok(seed, cal_model_compile(f->desc, NULL, &model, NULL));
		check_ok(seed, cal_work_create(model, &whole));
		double *want = fixture_doubles(f, f->nu);
		check_ok(seed, cal_forward_dynamics(model, &f->state, &f->input, whole, want));
		task_run_model(&task, f, model, 2, false);
		const bool failed = task.failed[0] || task.failed[1];
		check_that(seed, task.info[0].interfaces > 0);
		task_free(&task);
		task_run_model(&task, f, model, 2, true);
		for (int r = 0; r < 2; r++) {
			check_ok(seed, task.status[r]);
			check_that(seed, !failed || memcmp(task.udot[r], want, sizeof *want * (size_t)f->nu) == 0);
			check_close_scaled(seed, "udot", f->nu, task.udot[r], want, max_abs(f->nu, want), 1e-10);
		}
		doubts += failed;
		task_free(&task);
		cal_work_destroy(whole);
		cal_model_destroy(model);
		fixture_destroy(f);
	}
	print_message("%d in doubt\n", doubts);
	assert_true(doubts > 0);
}

/* ---- loops -------------------------------------------------------------------------------------------------- */

static Fixture *any_loops(uint64_t seed) {
	LoopOptions options = loop_any(seed);
	options.tree.bodies = 6 + (int)(seed % 12);
	options.types = LOOP_ANY_TYPE & ~(1u << REF_LOOP_COUPLING);
	options.stabilised = seed % 3 == 0;
	options.redundant = seed % 2 == 0;
	options.known = 0;
	Fixture *f = fixture_random_loop(seed, options, CAL_SOLVER_RECURSIVE);
	fixture_close_loops(f);
	return f;
}

/* What the worst conditioned of the rows that count costs (test_branch_loops.c); INFINITY: not to be compared. */
static double tolerance_of(Fixture *f, int rows) {
	double *memory = fixture_doubles(f, f->nu + 2 * rows);
	RefSolution solution = {.udot = memory, .lambda = memory + f->nu, .mismatch = memory + f->nu + rows};
	assert_int_equal(ref_loop_forward(f->ref, f->state.t, f->state.q, f->state.u, &f->ref_input, &solution), 0);
	return solution.kept < 1e-9 || max_abs(rows, solution.mismatch) > 1e-6 ? INFINITY
	                                                                       : fmax(1e-9, 1e-13 / solution.kept);
}

/*
 * Closed loops that span ranks: the same bits on any number of ranks, by interface messages alone; the model in one piece
 * finds the same. What leaves a doubt does so on any number of ranks, and is left to the run.
 */
static void loops_between_ranks(void **state) {
	(void)state;
	int interfaces = 0, compared = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + TREES; seed++) {
		Fixture *f = any_loops(seed);
		CalModel *model;
		CalWork *work;
		Task one, task;
		check_ok(seed, cal_model_compile(f->desc, NULL, &model, NULL));
		check_ok(seed, cal_work_create(model, &work));
		double *whole = fixture_doubles(f, f->nu);
		check_ok(seed, cal_forward_dynamics(model, &f->state, &f->input, work, whole));
		task_run_loops(&one, f, model, CAL_CROSS_LOOPS_ALWAYS, 1, false);
		check_ok(seed, one.status[0]);
		for (int size = 2; size <= MOST_RANKS; size += 1 + (int)(seed % 3)) {
			task_run_loops(&task, f, model, CAL_CROSS_LOOPS_ALWAYS, size, false);
			bool failed = false;
			for (int r = 0; r < size; r++) {
				check_ok(seed, task.status[r]);
				check_that(seed, task.info[r].gathers == 0);
				failed |= task.failed[r];
				for (int i = 0; i < 2 * f->nu; i++)
					check_that(seed, !task.own[r][i % f->nu] || task.udot[r][i] == one.udot[0][i]);
			}
			check_that(seed, failed == one.failed[0]);
			interfaces += task.info[0].interfaces;
			task_free(&task);
		}
		const double tolerance = tolerance_of(f, cal_model_row_count(model));
		if (!one.failed[0] && isfinite(tolerance)) {
			check_close_scaled(seed, "udot", f->nu, one.udot[0], whole, fmax(1, max_abs(f->nu, whole)), tolerance);
			compared++;
		}
		task_free(&one);
		cal_work_destroy(work);
		cal_model_destroy(model);
		fixture_destroy(f);
	}
	print_message("%d interfaces between ranks, %d of %d compared with the model in one piece\n", interfaces, compared,
	              TREES);
	assert_true(interfaces > 4 * TREES && compared > TREES / 2);
}

/* Everything to everybody: all ranks have all accelerations and all multipliers, a doubt included. */
static void multipliers_reach_all_ranks(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++) {
		Fixture *f = any_loops(seed);
		CalModel *model;
		Task one, task;
		check_ok(seed, cal_model_compile(f->desc, NULL, &model, NULL));
		task_run_loops(&one, f, model, CAL_CROSS_LOOPS_ALWAYS, 1, true);
		task_run_loops(&task, f, model, CAL_CROSS_LOOPS_ALWAYS, 4, true);
		for (int r = 0; r < 4; r++) {
			check_that(seed, task.status[r] == CAL_OK && task.lambda_status[r] == one.lambda_status[0]);
			check_that(seed, memcmp(task.udot[r], one.udot[0], 2 * sizeof(double) * (size_t)f->nu) == 0);
			check_that(seed, memcmp(task.lambda[r], one.lambda[0], sizeof task.lambda[r]) == 0);
		}
		task_free(&one);
		task_free(&task);
		cal_model_destroy(model);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_give_the_same_bits),
		cmocka_unit_test(only_interfaces_are_sent),
		cmocka_unit_test(ranks_agree_on_what_failed),
		cmocka_unit_test(threads_on_ranks_are_refused),
		cmocka_unit_test(light_loops_are_solved_in_one_piece),
		cmocka_unit_test(loops_between_ranks),
		cmocka_unit_test(multipliers_reach_all_ranks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
