// SPDX-License-Identifier: Apache-2.0
/*
 * test_batch.c — batches as C programs use them: strides, shared rows, what is refused, memory; the example of docs/batch.md.
 */
#include "support/interpose.h"

#define main batch_example_main // of the example; it is run below
#include "../examples/c/batch.c"
#undef main

#include "batch/batch_case.h"
#include "support/failing_allocator.h"

/* ---- layout ----------------------------------------------------------------------------------- */

/* The states of a case as rows x[STATES][nq + nu] in reverse order. */
static CalBatchStates reverse_states(const Case *c) {
	const int wide = c->nq + c->nu;
	double *x = fixture_doubles(c->f, STATES * wide + 1);
	CalBatchStates reversed = c->states;
	for (int i = 0; i < STATES; i++) {
		double *row = x + (STATES - 1 - i) * wide;
		memcpy(row, c->q + i * c->nq, sizeof(double) * (size_t)c->nq);
		memcpy(row + c->nq, c->u + i * c->nu, sizeof(double) * (size_t)c->nu);
	}
	reversed.q = (CalBatchArray){x + (STATES - 1) * wide, -wide, 0};
	reversed.u = (CalBatchArray){x + (STATES - 1) * wide + c->nq, -wide, 0};
	return reversed;
}

/* Rows of wider arrays, in reverse order, and one row of forces for all: only places differ. */
static void strides_choose_the_numbers(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 6; seed++) {
		Case c;
		CalBatch *batch;
		CalStatus status[STATES];
		case_create(&c, seed);
		double *want = fixture_doubles(c.f, c.nu + 1), *got = fixture_doubles(c.f, STATES * c.nu + 1);
		const CalBatchStates reversed = reverse_states(&c);
		check_ok(seed, cal_batch_create(c.model, NULL, &batch));
		c.input.tau.stride = 0; // that of the first state for all
		(void)cal_batch_forward(batch, &reversed, &c.input, got, status);
		for (int i = 0; i < STATES; i++) {
			CalWrench wrenches[WRENCHED];
			const CalState at = case_state(&c, i);
			CalInput input = case_input(&c, i, -1, wrenches);
			input.tau = c.tau;
			check_status(seed, cal_forward_dynamics(c.model, &at, &input, c.work, want), status[i]);
			check_rows(&c, "udot", status[i], (size_t)c.nu, got + i * c.nu, want);
		}
		cal_batch_destroy(batch);
		case_destroy(&c);
	}
}

/* Forces tau[step][state] and tau[state][step] are the same roll-out. */
static void strides_choose_the_steps(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 6; seed++) {
		Case c;
		CalBatch *batch;
		CalStatus status[2][STATES];
		case_create(&c, seed);
		double *tau = fixture_doubles(c.f, STATES * STEPS * c.nu + 1), *q[2], *u[2];
		for (int i = 0; i < STATES * STEPS; i++)
			memcpy(tau + i * c.nu, c.tau_steps + (i % STEPS * STATES + i / STEPS) * c.nu,
			       sizeof(double) * (size_t)c.nu);
		const CalBatchArray both[] = {{c.tau_steps, c.nu, STATES * c.nu}, {tau, STEPS * c.nu, c.nu}};
		const CalBatchRollout rollout = {.method = CAL_METHOD_EULER_CROMER, .step = 1e-3, .steps = STEPS};
		check_ok(seed, cal_batch_create(c.model, NULL, &batch));
		for (int k = 0; k < 2; k++) {
			q[k] = fixture_doubles(c.f, STATES * c.nq + 1), u[k] = fixture_doubles(c.f, STATES * c.nu + 1);
			c.input.tau = both[k];
			(void)cal_batch_rollout(batch, &c.states, &c.input, &rollout, q[k], u[k], status[k]);
		}
		for (int i = 0; i < STATES; i++) {
			check_status(seed, status[1][i], status[0][i]);
			check_rows(&c, "q", status[0][i], (size_t)c.nq, q[1] + i * c.nq, q[0] + i * c.nq);
			check_rows(&c, "u", status[0][i], (size_t)c.nu, u[1] + i * c.nu, u[0] + i * c.nu);
		}
		cal_batch_destroy(batch);
		case_destroy(&c);
	}
}

static void states_advance_in_place(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 6; seed++) {
		Case c;
		case_create(&c, seed);
		double *q = fixture_doubles(c.f, STATES * c.nq + 1), *u = fixture_doubles(c.f, STATES * c.nu + 1);
		const CalBatchRollout rollout = {.method = CAL_METHOD_RK4, .step = 1e-3, .steps = STEPS};
		CalStatus want[STATES], got[STATES];
		CalBatch *batch;
		check_ok(seed, cal_batch_create(c.model, &(CalBatchOptions){.threads = 2}, &batch));
		(void)cal_batch_rollout(batch, &c.states, &c.input, &rollout, q, u, want);
		(void)cal_batch_rollout(batch, &c.states, &c.input, &rollout, c.q, c.u, got);
		for (int i = 0; i < STATES; i++) {
			check_status(seed, got[i], want[i]);
			check_rows(&c, "q", got[i], (size_t)c.nq, c.q + i * c.nq, q + i * c.nq);
			check_rows(&c, "u", got[i], (size_t)c.nu, c.u + i * c.nu, u + i * c.nu);
		}
		cal_batch_destroy(batch);
		case_destroy(&c);
	}
}

/* ---- arguments -------------------------------------------------------------------------------- */

static void wrong_options_are_refused(void **state) {
	(void)state;
	Case c;
	CalBatch *batch = NULL;
	const CalBatchOptions wrong[] = {{.threads = -1}, {.threads = 257}, {.wrenches = -1}};
	case_create(&c, test_seed());
	for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
		assert_int_equal(cal_batch_create(c.model, &wrong[k], &batch), CAL_ERR_ARGUMENT);
	assert_null(batch);
	assert_int_equal(cal_batch_threads(NULL), 0);
	assert_null(cal_batch_model(NULL));
	check_ok(c.seed, cal_batch_create(c.model, NULL, &batch));
	assert_ptr_equal(cal_batch_model(batch), c.model);
	assert_int_equal(cal_batch_threads(batch), 1);
	cal_batch_destroy(batch);
	case_destroy(&c);
}

static void wrong_states_and_inputs_are_refused(void **state) {
	(void)state;
	Case c;
	CalBatch *batch;
	CalStatus status[STATES];
	case_create(&c, test_seed());
	double *x = fixture_doubles(c.f, STATES * (c.nu + 24));
	check_ok(c.seed, cal_batch_create(c.model, NULL, &batch));
	x[0] = 7;
	CalBatchStates states = c.states;
	states.count = -1;
	assert_int_equal(cal_batch_forward(batch, &states, NULL, x, status), CAL_ERR_ARGUMENT);
	states = c.states;
	states.q.data = NULL;
	assert_int_equal(cal_batch_energy(batch, &states, (CalEnergy *)(void *)x, status), CAL_ERR_ARGUMENT);
	states.count = 0; // nothing to do
	assert_int_equal(cal_batch_forward(batch, &states, NULL, x, status), CAL_OK);
	CalBatchInput input = c.input;
	input.wrench_count = 9;
	assert_int_equal(cal_batch_forward(batch, &c.states, &input, x, status), CAL_ERR_ARGUMENT);
	c.places[1].node = cal_model_node_count(c.model);
	assert_int_equal(cal_batch_forward(batch, &c.states, &c.input, x, status), CAL_ERR_ARGUMENT);
	c.places[1] = (CalBatchWrench){0, (CalFrame)2};
	assert_int_equal(cal_batch_inverse(batch, &c.states, NULL, &c.input, x, status), CAL_ERR_ARGUMENT);
	const int outside[] = {0, cal_model_node_count(c.model)};
	CalPose *pose = (CalPose *)(void *)x;
	assert_int_equal(cal_batch_nodes(batch, &c.states, outside, 2, pose, NULL, status), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_batch_nodes(batch, &c.states, outside, -1, pose, NULL, status), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_batch_jacobian(batch, &c.states, -1, x, status), CAL_ERR_ARGUMENT);
	assert_true(x[0] == 7);
	cal_batch_destroy(batch);
	case_destroy(&c);
}

static void wrong_rollouts_are_refused(void **state) {
	(void)state;
	static const CalBatchRollout wrong[] = {
		{.method = CAL_METHOD_DOPRI5, .step = 1e-3, .steps = 1},
		{.method = CAL_METHOD_CVODE_BDF, .step = 1e-3, .steps = 1},
		{.method = CAL_METHOD_COUNT, .step = 1e-3, .steps = 1},
		{.method = CAL_METHOD_RK4, .step = 0, .steps = 1},
		{.method = CAL_METHOD_RK4, .step = NAN, .steps = 1},
		{.method = CAL_METHOD_RK4, .step = INFINITY, .steps = 1},
		{.method = CAL_METHOD_RK4, .step = 1e-3, .steps = 0},
		{.method = CAL_METHOD_RK4, .step = 1e-3, .steps = 1, .every = -1},
		{.method = CAL_METHOD_RK4, .step = 1e-3, .steps = 1, .every = 2}, // no row at all
	};
	Case c;
	CalBatch *batch;
	CalStatus status[STATES];
	case_create(&c, test_seed());
	double *q = fixture_doubles(c.f, STATES * c.nq + 1), *u = fixture_doubles(c.f, STATES * c.nu + 1);
	check_ok(c.seed, cal_batch_create(c.model, NULL, &batch));
	q[0] = 7;
	for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
		assert_int_equal(cal_batch_rollout(batch, &c.states, NULL, &wrong[k], q, u, status), CAL_ERR_ARGUMENT);
	assert_true(q[0] == 7);
	cal_batch_destroy(batch);
	case_destroy(&c);
}

/* A time that is not a number, or one that a step cannot move, is a failure of that state. */
static void times_that_do_not_move_fail(void **state) {
	(void)state;
	Case c;
	case_create(&c, test_seed());
	CalBatch *batch;
	CalStatus status[STATES];
	const CalBatchRollout rollout = {.method = CAL_METHOD_RK4, .step = 1e-3, .steps = 2, .every = 1};
	double *q = fixture_doubles(c.f, 2 * STATES * c.nq + 1), *u = fixture_doubles(c.f, 2 * STATES * c.nu + 1);
	check_ok(c.seed, cal_batch_create(c.model, NULL, &batch));
	c.t[0] = NAN, c.t[1] = 1e300, c.t[2] = 0;
	assert_int_equal(cal_batch_rollout(batch, &c.states, NULL, &rollout, q, u, status), CAL_NOT_FINITE);
	assert_int_equal(status[0], CAL_NOT_FINITE);
	assert_int_equal(status[1], CAL_STEP_TOO_SMALL);
	assert_int_equal(status[2], CAL_OK);
	for (int row = 0; row < 2; row++)
		assert_true(isnan(q[row * STATES * c.nq]) && isnan(u[(row * STATES + 1) * c.nu]));
	cal_batch_destroy(batch);
	case_destroy(&c);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static void calls_do_not_allocate(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
		Case c;
		case_create(&c, seed);
		CalBatch *batch;
		CalStatus status[STATES];
		const int most = c.nu > 5 ? c.nu : 5;
		double *x = fixture_doubles(c.f, STATES * (most * most + 6 * most + c.nq + 36)),
			   *y = fixture_doubles(c.f, STATES * (c.nu + 18));
		check_ok(seed, cal_batch_create(c.model, &(CalBatchOptions){.threads = 1 + (int)(seed % 3)}, &batch));
		interpose_begin(0);
		(void)cal_batch_forward(batch, &c.states, &c.input, x, status);
		(void)cal_batch_hybrid(batch, &c.states, &c.input, x, y, status);
		(void)cal_batch_inverse(batch, &c.states, &c.input.udot, &c.input, x, status);
		(void)cal_batch_bias_forces(batch, &c.states, x, status);
		(void)cal_batch_gravity_forces(batch, &c.states, x, status);
		(void)cal_batch_elastic_forces(batch, &c.states, x, status);
		(void)cal_batch_mass_matrix(batch, &c.states, x, status);
		(void)cal_batch_energy(batch, &c.states, (CalEnergy *)(void *)x, status);
		(void)cal_batch_momentum(batch, &c.states, (CalMomentum *)(void *)x, status);
		(void)cal_batch_nodes(batch, &c.states, c.nodes, 3, (CalPose *)(void *)x, (CalSpatial *)(void *)y, status);
		(void)cal_batch_jacobian(batch, &c.states, c.nodes[0], x, status);
		for (int method = 0; method < CAL_METHOD_COUNT; method++) {
			const CalBatchRollout rollout = {.method = (CalMethod)method, .step = 1e-3, .steps = 2};
			(void)cal_batch_rollout(batch, &c.states, &c.input, &rollout, x, y, status);
		}
		const Interpose seen = interpose_end();
		check_that(seed, seen.calls == 0);
		cal_batch_destroy(batch);
		case_destroy(&c);
	}
}

static void creating_survives_every_failing_allocation(void **state) {
	(void)state;
	Case c;
	case_create(&c, test_seed() + 2);
	for (long k = 1;; k++) {
		FailingAllocator memory = {.fail_at = k};
		const CalBatchOptions options = {.threads = 3, .allocator = failing_allocator(&memory)};
		CalBatch *batch = NULL;
		const CalStatus status = cal_batch_create(c.model, &options, &batch);
		const int done = memory.calls < k;
		assert_int_equal(status, done ? CAL_OK : CAL_ERR_MEMORY);
		assert_true(done == (batch != NULL));
		cal_batch_destroy(batch);
		assert_int_equal(memory.live, 0);
		if (done)
			break;
	}
	case_destroy(&c);
}

/* The same where the C library itself runs out of memory, while threads are started for example. */
static void creating_survives_every_failing_malloc(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	Case c;
	case_create(&c, test_seed());
	for (long k = 1;; k++) {
		CalBatch *batch = NULL;
		interpose_begin(k);
		const CalStatus status = cal_batch_create(c.model, &(CalBatchOptions){.threads = 2}, &batch);
		const Interpose seen = interpose_end();
		assert_int_equal(status, seen.calls < k ? CAL_OK : CAL_ERR_MEMORY);
		cal_batch_destroy(batch);
		if (seen.calls < k)
			break;
	}
	case_destroy(&c);
}

static void the_example_runs(void **state) {
	(void)state;
	assert_int_equal(batch_example_main(), 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strides_choose_the_numbers),
		cmocka_unit_test(strides_choose_the_steps),
		cmocka_unit_test(states_advance_in_place),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(wrong_states_and_inputs_are_refused),
		cmocka_unit_test(wrong_rollouts_are_refused),
		cmocka_unit_test(times_that_do_not_move_fail),
		cmocka_unit_test(calls_do_not_allocate),
		cmocka_unit_test(creating_survives_every_failing_allocation),
		cmocka_unit_test(creating_survives_every_failing_malloc),
		cmocka_unit_test(the_example_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
