// SPDX-License-Identifier: Apache-2.0
/*
 * test_assert.c — assertions end the process in test builds, with place and expression, and are not evaluated in others:
 * by themselves, and where a sweep gets the workspace of another model or a model whose links are not in order.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <calder/calder.h>
#include "base/assert.h"
#include "dynamics/tree/kernels.h"
#include "model/model_check.h"
#include "support/random_tree.h"

#ifdef CALDER_ASSERTIONS
/* What a child process that calls run() prints to stderr; it must end by abort(). */
static void expect_abort(void (*run)(void), const char *what, int line) {
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	const pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGABRT, SIG_DFL);
		dup2(ends[1], 2);
		run();
		_exit(0);
	}
	close(ends[1]);
	char text[1024] = "", place[64];
	size_t used = 0;
	for (ssize_t got; used < sizeof text - 1 && (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;)
		used += (size_t)got;
	close(ends[0]);
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	snprintf(place, sizeof place, ".c:%d: assertion failed: ", line);
	if (!strstr(text, line ? place : "assertion failed: ") || !strstr(text, what))
		fail_msg("\"%s\" should say \"%s%s\"", text, place, what);
}

enum { FAIL_LINE = __LINE__ + 4 };

static void fail_here(void) {
	const int two = 2;
	CAL_ASSERT(two + two == 5);
}

static CalModel *small_model(void) {
	return fixture_random(1, (TreeOptions){.bodies = 3, .joints = TREE_ONE_DOF}, CAL_SOLVER_RECURSIVE)->model;
}

static void sweep_with_work_of_another_model(void) {
	CalModel *a = small_model(), *b = small_model();
	CalWork *work;
	if (cal_work_create(b, &work) != CAL_OK)
		_exit(0);
	const double zeros[16] = {0};
	const SweepInput in = {.q = zeros, .u = zeros, .tau = zeros};
	forward_kernels(a->isa)->outward(a, &in, work);
}

static void model_with_a_child_before_its_parent(void) {
	CalModel *model = small_model();
	Link links[16];
	memcpy(links, model->links, sizeof *links * (size_t)model->link_count);
	links[0].parent = 1;
	CalModel wrong = *model;
	wrong.links = links;
	CAL_ASSERT(model_is_consistent(&wrong));
}

static void a_failure_prints_its_place_and_aborts(void **state) {
	(void)state;
	expect_abort(fail_here, "two + two == 5", FAIL_LINE);
}

static void the_library_asserts_what_only_a_bug_can_break(void **state) {
	(void)state;
	expect_abort(sweep_with_work_of_another_model, "work->model == model", 0);
	expect_abort(model_with_a_child_before_its_parent, "model_is_consistent(&wrong)", 0);
}
#else
static void release_builds_evaluate_nothing(void **state) {
	(void)state;
	int evaluated = 0;
	CAL_ASSERT(++evaluated && 0);
	assert_int_equal(evaluated, 0);
}
#endif

int main(void) {
	const struct CMUnitTest tests[] = {
#ifdef CALDER_ASSERTIONS
		cmocka_unit_test(a_failure_prints_its_place_and_aborts),
		cmocka_unit_test(the_library_asserts_what_only_a_bug_can_break),
#else
		cmocka_unit_test(release_builds_evaluate_nothing),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
