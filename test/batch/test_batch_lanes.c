// SPDX-License-Identifier: Apache-2.0
/*
 * test_batch_lanes.c — states side by side in registers have the bits of states one by one (which test_batch_threads.c
 * compares with single calls): random rigid and flexible trees, all algorithms that have lanes, wrenches, prescribed dofs,
 * states that fail, every width that the processor has.
 */
#include "batch/batch_case.h"
#include "model/model.h"

enum { MODELS = 24, WIDTHS = 3 };
static const int widths[WIDTHS] = {2, 4, 8};

typedef struct Algorithm {
	const char *name;
	CalStatus (*call)(CalBatch *batch, const Case *c, double *x, double *y, CalStatus *status);
	bool rigid_only; // flexible bodies are evaluated one by one
	bool wrenched;   // it takes wrenches, which are evaluated one by one
} Algorithm;

static CalStatus forward(CalBatch *b, const Case *c, double *x, double *y, CalStatus *status) {
	(void)y;
	return cal_batch_forward(b, &c->states, &c->input, x, status);
}
static CalStatus hybrid(CalBatch *b, const Case *c, double *x, double *y, CalStatus *status) {
	return cal_batch_hybrid(b, &c->states, &c->input, x, y, status);
}
static CalStatus inverse(CalBatch *b, const Case *c, double *x, double *y, CalStatus *status) {
	(void)y;
	return cal_batch_inverse(b, &c->states, &c->input.udot, NULL, x, status);
}
static CalStatus inverse_under_wrenches(CalBatch *b, const Case *c, double *x, double *y, CalStatus *status) {
	(void)y;
	return cal_batch_inverse(b, &c->states, NULL, &c->input, x, status);
}
static CalStatus bias(CalBatch *b, const Case *c, double *x, double *y, CalStatus *status) {
	(void)y;
	return cal_batch_bias_forces(b, &c->states, x, status);
}
static CalStatus gravity(CalBatch *b, const Case *c, double *x, double *y, CalStatus *status) {
	(void)y;
	return cal_batch_gravity_forces(b, &c->states, x, status);
}

static const Algorithm algorithms[] = {
	{"forward", forward, false, false}, {"hybrid", hybrid, false, false},
	{"inverse", inverse, true, false},  {"inverse under wrenches", inverse_under_wrenches, true, true},
	{"bias forces", bias, true, false}, {"gravity forces", gravity, true, false},
};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

/* Rigid and flexible trees in turn, modes eliminated one by one, no state bad, wrenches on links. */
static void good_case(Case *c, uint64_t seed) {
	while (seed % 3 == 2 || seed % 4 == 3) // loops, the dense solver
		seed++;
	case_create(c, seed);
	Flex *flexes = (Flex *)(uintptr_t)c->model->flexes; // memory of the model, which is this test's
	for (int f = 0; f < c->model->flex_count; f++)
		flexes[f].by_ports = 0;
	for (int i = 0; i < STATES * c->nu; i++)
		c->u[i] = isnan(c->u[i]) ? 0.25 : c->u[i];
	for (int k = 0; k < WRENCHED; k++)
		while (c->model->nodes[c->places[k].node].shape >= 0)
			c->places[k].node--; // node 0 is the ground
}

static void compare(const Case *c, const Algorithm *a, CalBatch *single, CalBatch *wide, int64_t alone) {
	const int count = STATES * c->nu + 1;
	double *want = test_doubles(count), *got = test_doubles(count);
	double *want_force = test_doubles(count), *got_force = test_doubles(count);
	CalStatus want_status[STATES], status[STATES];
	const CalStatus first = a->call(single, c, want, want_force, want_status);
	check_status(c->seed, a->call(wide, c, got, got_force, status), first);
	const size_t size = (size_t)count * sizeof *got;
	if (memcmp(want, got, size) != 0 || memcmp(want_force, got_force, size) != 0)
		check_fail_at(__FILE__, __LINE__, c->seed, "%s: other bits with %d lanes", a->name, cal_batch_lanes(wide));
	for (int i = 0; i < STATES; i++)
		check_status(c->seed, status[i], want_status[i]);
	if (alone >= 0 && cal_batch_alone(wide) != alone)
		check_fail_at(__FILE__, __LINE__, c->seed, "%s: %d states alone with %d lanes", a->name,
		              (int)cal_batch_alone(wide), cal_batch_lanes(wide));
	free(want), free(got), free(want_force), free(got_force);
}

/* States that do not fill a register are evaluated alone, and all of them where lanes cannot do it. */
static int64_t expected_alone(const Case *c, const Algorithm *a, const CalBatch *wide) {
	const bool none = a->wrenched || (a->rigid_only && c->model->flex_count > 0);
	return none ? STATES : STATES % cal_batch_lanes(wide);
}

static void states_side_by_side_have_the_bits_of_states_alone(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + MODELS; seed++) {
		Case c;
		CalBatch *single, *wide;
		good_case(&c, seed);
		check_ok(seed, cal_batch_create(c.model, &(CalBatchOptions){.lanes = 1}, &single));
		assert_int_equal(cal_batch_lanes(single), 1);
		for (int w = 0; w < WIDTHS; w++) {
			check_ok(seed, cal_batch_create(c.model, &(CalBatchOptions){.lanes = widths[w], .threads = 1 + w}, &wide));
			assert_in_range(cal_batch_lanes(wide), 2, (uintmax_t)widths[w]);
			for (int k = 0; k < ALGORITHMS; k++)
				compare(&c, &algorithms[k], single, wide, expected_alone(&c, &algorithms[k], wide));
			cal_batch_destroy(wide);
		}
		cal_batch_destroy(single);
		case_destroy(&c);
	}
}

/* One state that is not finite: it fails, those beside it in the register do not, and no other block is evaluated alone. */
static void a_state_that_fails_leaves_the_others_alone(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + MODELS; seed += 2) {
		Case c;
		CalBatch *single, *wide;
		good_case(&c, seed);
		c.q[10 * c.nq + (int)(seed % (uint64_t)c.nq)] = seed % 4 ? NAN : INFINITY;
		check_ok(seed, cal_batch_create(c.model, &(CalBatchOptions){.lanes = 1}, &single));
		check_ok(seed, cal_batch_create(c.model, NULL, &wide));
		const int lanes = cal_batch_lanes(wide);
		compare(&c, &algorithms[0], single, wide, lanes + STATES % lanes);
		cal_batch_destroy(wide);
		cal_batch_destroy(single);
		case_destroy(&c);
	}
}

/* Loops, the dense solver: one by one, and said so. */
static void what_lanes_cannot_do_is_evaluated_alone(void **state) {
	(void)state;
	for (uint64_t seed = 2; seed < 8; seed += 3) { // closed by loops
		Case c;
		CalBatch *batch;
		case_create(&c, seed);
		check_ok(seed, cal_batch_create(c.model, NULL, &batch));
		assert_int_equal(cal_batch_lanes(batch), 1);
		double *udot = test_doubles(STATES * c.nu + 1);
		(void)cal_batch_forward(batch, &c.states, &c.input, udot, NULL);
		assert_int_equal(cal_batch_alone(batch), STATES);
		free(udot);
		cal_batch_destroy(batch);
		case_destroy(&c);
	}
	assert_int_equal(cal_batch_lanes(NULL), 0);
	assert_int_equal(cal_batch_alone(NULL), 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_side_by_side_have_the_bits_of_states_alone),
		cmocka_unit_test(a_state_that_fails_leaves_the_others_alone),
		cmocka_unit_test(what_lanes_cannot_do_is_evaluated_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
