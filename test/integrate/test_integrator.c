// SPDX-License-Identifier: Apache-2.0
/*
 * test_integrator.c — the integrator object: end times, failures, inputs, reuse, memory.
 *
 * The guarantees of the header, one by one: the end time is met exactly and without slivers, a failing step
 * leaves the state alone, results are the same bits every time, sizes and options are checked. (Allocations: see
 * test/dynamics/test_allocation.c.)
 */
#include "integrate/systems.h"
#include "support/methods.h"

static void methods_are_found_by_name(void **state) {
	(void)state;
	for (int i = 0; i < CAL_METHOD_COUNT; i++) {
		const CalMethodInfo *info = cal_method_info((CalMethod)i);
		CalMethod found = CAL_METHOD_COUNT;
		assert_string_equal(cal_method_name((CalMethod)i), info->name);
		assert_int_equal(cal_method_order((CalMethod)i), info->order);
		assert_int_equal(cal_method_find(info->name, &found), 0);
		assert_int_equal(found, i);
	}
	assert_null(cal_method_info(CAL_METHOD_COUNT));
	CalMethod method = CAL_METHOD_RK4;
	assert_int_equal(cal_method_find("rk5", &method), -1);
	assert_int_equal(method, CAL_METHOD_RK4);
	assert_null(cal_method_name(CAL_METHOD_COUNT));
	assert_null(cal_method_name((CalMethod)-1));
}

/** Numbers of methods are in checkpoints: they stay. */
static void numbers_of_methods_stay(void **state) {
	(void)state;
	static const char *const names[] = {"euler-cromer", "rk4",         "implicit",  "implicit-midpoint",
	                                    "dopri5",       "cvode-adams", "cvode-bdf", "rosenbrock"};
	for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++)
		assert_string_equal(cal_method_name((CalMethod)i), names[i]);
}

static void what_a_method_says_of_itself_is_complete(void **state) {
	(void)state;
	for (int i = 0; i < CAL_METHOD_COUNT; i++) {
		const CalMethodInfo *info = cal_method_info((CalMethod)i);
		assert_true(info->name[0] && info->doc[0] && info->order >= 1);
		assert_true(info->adaptive ? info->rtol > 0 && info->atol > 0 : info->rtol == 0 && info->atol == 0);
		assert_true(info->adaptive == (info->imaginary_limit == 0) && info->adaptive == (info->real_limit == 0));
		const CalIntegratorOptions used = cal_integrator_options(&(CalIntegratorOptions){.method = (CalMethod)i});
		assert_true(used.rtol == info->rtol && used.atol == info->atol);
	}
	assert_true(cal_method_info(CAL_METHOD_DEFAULT)->adaptive && !cal_method_info(CAL_METHOD_DEFAULT)->missing);
}

static void names_of_methods_are_listed(void **state) {
	(void)state;
	char text[200], part[8];
	const int length = cal_method_names(text, sizeof text);
	assert_int_equal(length, strlen(text));
	assert_ptr_equal(strstr(text, "euler-cromer, rk4, "), text);
	assert_non_null(strstr(text, " or "));
	assert_int_equal(cal_method_names(part, sizeof part), length);
	assert_string_equal(part, "euler-c");
	assert_int_equal(cal_method_names(NULL, 0), length);
}

static void wrong_options_are_refused(void **state) {
	(void)state;
	System s = double_pendulum();
	const CalIntegratorOptions wrong[] = {
		{.method = CAL_METHOD_COUNT},
		{.method = (CalMethod)-1},
		{.step = -1},
		{.step = NAN},
		{.rtol = -1e-6},
		{.atol = INFINITY},
		{.min_step = -1},
		{.max_step = NAN},
		{.min_step = 2, .max_step = 1},
		{.max_steps = -1},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		CalIntegrator *integrator = NULL;
		assert_int_equal(cal_integrator_create(s.model, s.work, &wrong[i], &integrator), CAL_ERR_ARGUMENT);
		assert_null(integrator);
	}
	assert_int_equal(cal_integrator_size(s.model, CAL_METHOD_COUNT), 0);
	cal_integrator_destroy(NULL);
	system_free(&s);
}

static void memory_of_the_caller_is_used_and_measured(void **state) {
	(void)state;
	System s = heavy_top();
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		CalIntegratorOptions options = {.method = (CalMethod)method, .step = 0.01};
		size_t size = cal_integrator_size(s.model, options.method);
		assert_true(size > 0);
		char *block = aligned_alloc(64, (size + 127) / 64 * 64);
		assert_non_null(block);
		memset(block, 0x7f, size + 64);
		CalIntegrator *integrator = NULL;
		assert_int_equal(cal_integrator_init(s.model, s.work, &options, block, size - 1, &integrator),
		                 CAL_ERR_ARGUMENT);
		assert_int_equal(cal_integrator_init(s.model, s.work, &options, block + 8, size, &integrator),
		                 CAL_ERR_ARGUMENT);
		assert_int_equal(cal_integrator_init(s.model, s.work, &options, block, size, &integrator), CAL_OK);
		CalState a = state_of(&s), b = advanced(&s, options, 0.5);
		assert_int_equal(cal_integrator_advance(integrator, &a, 0.5), CAL_OK);
		assert_same_bits(&s, &a, &b);
		for (size_t i = size; i < size + 64; i++) {
			assert_int_equal(block[i], 0x7f);
		}
		cal_integrator_destroy(integrator); // does not own the block
		free(block);
		cal_state_destroy(&a);
		cal_state_destroy(&b);
	}
	system_free(&s);
}

/* ---- end times ----------------------------------------------------------------------------- */

static void end_times_are_met_exactly(void **state) {
	(void)state;
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		System s = double_pendulum();
		CalIntegrator *integrator =
			integrator_for(&s, (CalIntegratorOptions){.method = (CalMethod)method, .step = 1e-3, .rtol = 1e-6});
		for (int k = 1; k <= 30; k++) {
			double t_end = 0.1 * k + (k % 3) * 1.7e-4;
			assert_int_equal(cal_integrator_advance(integrator, &s.state, t_end), CAL_OK);
			assert_true(s.state.t == t_end);
		}
		int64_t steps = cal_integrator_stats(integrator).steps;
		assert_int_equal(cal_integrator_advance(integrator, &s.state, s.state.t), CAL_OK); // nothing to do
		assert_int_equal(cal_integrator_stats(integrator).steps, steps);
		assert_int_equal(cal_integrator_advance(integrator, &s.state, s.state.t + 1e-7), CAL_OK); // less than a step
		assert_int_equal(cal_integrator_stats(integrator).steps, steps + 1);
		cal_integrator_destroy(integrator);
		system_free(&s);
	}
}

/** Where the span is a multiple of the step, rounding must not add a step. */
static void fixed_steps_leave_no_sliver(void **state) {
	(void)state;
	const struct {
		double from, to, step;
		int64_t steps;
	} cases[] = {{0, 0.3, 0.1, 3},
	             {0, 1, 1e-3, 1000},
	             {0.1, 0.8, 0.1, 7},
	             {0, 0.7, 0.01, 70},
	             {1e4, 1e4 + 1, 0.01, 100},
	             {0, 0.0105, 1e-3, 11},
	             {0, 1e-9, 1e-3, 1},
	             {0.37, -0.63, 1e-2, 100},
	             {0, 4.35, 0.05, 87},
	             {0, 100, 1.0 / 3, 300},
	             {0, 100 + 1e-7, 1.0 / 3, 300},
	             {0, 100.01, 1.0 / 3, 301}};
	System s = wheel();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CalIntegrator *integrator =
			integrator_for(&s, (CalIntegratorOptions){.method = CAL_METHOD_RK4, .step = cases[i].step});
		s.state.t = cases[i].from;
		s.state.q[0] = 0;
		s.state.u[0] = 1;
		assert_int_equal(cal_integrator_advance(integrator, &s.state, cases[i].to), CAL_OK);
		CalIntegratorStats stats = cal_integrator_stats(integrator);
		assert_true(s.state.t == cases[i].to);
		assert_int_equal(stats.steps, cases[i].steps);
		assert_int_equal(stats.evaluations, 4 * cases[i].steps);
		assert_true(fabs(stats.last_step) > 1e-10);
		double span = cases[i].to - cases[i].from;
		assert_true(fabs(s.state.q[0] - span) < 1e-11 * (1 + fabs(span))); // the steps add up
		cal_integrator_destroy(integrator);
	}
	system_free(&s);
}

static void adaptive_steps_leave_no_sliver(void **state) {
	(void)state;
	System s = double_pendulum();
	CalIntegrator *integrator = integrator_for(&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-7});
	double shortest = INFINITY;
	for (int k = 1; k <= 50; k++) {
		while (s.state.t < 0.3 * k) {
			double before = s.state.t;
			assert_int_equal(cal_integrator_step(integrator, &s.state, 0.3 * k - s.state.t), CAL_OK);
			assert_true(s.state.t > before && s.state.t <= 0.3 * k);
			shortest = k > 1 ? fmin(shortest, s.state.t - before) : shortest;
		}
	}
	assert_true(shortest > 1e-3);
	cal_integrator_destroy(integrator);
	system_free(&s);
}

/* A wheel that turns steadily turns as far as the clock goes, also where t + h is rounded to 5 % of h. */
static void steps_are_those_of_the_clock(void **state) {
	(void)state;
	const double sizes[] = {1e-9, 3.3e-10, 1e-7, 1e-3};
	for (int k = 0; k < 4 * CAL_METHOD_COUNT; k++) {
		if (!method_is_built(k / 4))
			continue;
		System s = wheel();
		const double h = sizes[k % 4], start = 1e6;
		CalIntegrator *integrator =
			integrator_for(&s, (CalIntegratorOptions){.method = (CalMethod)(k / 4), .step = h, .max_step = h});
		s.state.t = start;
		s.state.q[0] = 0;
		s.state.u[0] = 1;
		assert_int_equal(cal_integrator_advance(integrator, &s.state, start + 1000 * h), CAL_OK);
		assert_true(fabs(s.state.q[0] / (s.state.t - start) - 1) < 1e-12);
		for (int i = 0; i < 100; i++) {
			assert_int_equal(cal_integrator_step(integrator, &s.state, h), CAL_OK);
		}
		assert_true(fabs(s.state.q[0] / (s.state.t - start) - 1) < 1e-12);
		cal_integrator_destroy(integrator);
		system_free(&s);
	}
}

static void calls_without_meaning_are_refused(void **state) {
	(void)state;
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		System s = wheel();
		CalIntegrator *integrator = integrator_for(&s, (CalIntegratorOptions){.method = (CalMethod)method});
		assert_int_equal(cal_integrator_step(integrator, &s.state, 0), CAL_ERR_ARGUMENT);
		assert_int_equal(cal_integrator_step(integrator, &s.state, NAN), CAL_ERR_ARGUMENT);
		assert_int_equal(cal_integrator_advance(integrator, &s.state, INFINITY), CAL_ERR_ARGUMENT);
		s.state.t = 1e6;
		assert_int_equal(cal_integrator_step(integrator, &s.state, 1e-12), CAL_STEP_TOO_SMALL);
		if (!cal_method_info((CalMethod)method)->adaptive) { // needs a step to advance
			assert_int_equal(cal_integrator_advance(integrator, &s.state, 2e6), CAL_ERR_ARGUMENT);
		}
		assert_true(s.state.t == 1e6);
		cal_integrator_destroy(integrator);
		system_free(&s);
	}
}

static void a_model_without_dof_still_has_time(void **state) {
	(void)state;
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		CalDesc *desc = desc_with_gravity(9.81);
		attach_body(desc, ground, origin, cal_joint_def(CAL_JOINT_WELD), "rock", 1, 0, (CalVec3){1, 1, 1});
		System s = system_of(desc);
		assert_int_equal(s.nu, 0);
		CalState end = advanced(&s, (CalIntegratorOptions){.method = (CalMethod)method, .step = 0.1}, 2);
		assert_true(end.t == 2);
		cal_state_destroy(&end);
		system_free(&s);
	}
}

/* ---- failures ------------------------------------------------------------------------------ */

typedef struct Driver {
	int calls, fail_at; // the input function reports an error at this call
	double tau[6];
	double until; // the torque acts before this time
} Driver;

static int drive(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	static const double none[6] = {0};
	Driver *d = user;
	(void)model;
	d->calls++;
	input->tau = state->t < d->until ? d->tau : none;
	return d->calls == d->fail_at;
}

static void failing_inputs_leave_the_state_alone(void **state) {
	(void)state;
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		System s = double_pendulum();
		CalState before = state_of(&s);
		int failures = 0;
		for (int k = 1; k < 20; k++) {
			Driver driver = {.fail_at = k, .until = INFINITY};
			CalIntegrator *integrator = integrator_for(
				&s, (CalIntegratorOptions){.method = (CalMethod)method, .input = drive, .user = &driver});
			CalStatus status = cal_integrator_step(integrator, &s.state, 1e-3);
			cal_integrator_destroy(integrator);
			if (status == CAL_OK) {
				break;
			}
			assert_int_equal(status, CAL_ERR_USER);
			assert_same_bits(&s, &before, &s.state);
			failures++;
		}
		assert_true(failures >= 1 && failures < 19);
		cal_state_destroy(&before);
		system_free(&s);
	}
}

static void inputs_that_are_not_finite_leave_the_state_alone(void **state) {
	(void)state;
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		System s = double_pendulum();
		CalState before = state_of(&s);
		Driver driver = {.tau = {NAN, 0}, .until = INFINITY};
		CalIntegrator *integrator =
			integrator_for(&s, (CalIntegratorOptions){.method = (CalMethod)method, .input = drive, .user = &driver});
		assert_int_equal(cal_integrator_step(integrator, &s.state, 1e-3), CAL_NOT_FINITE);
		assert_same_bits(&s, &before, &s.state);
		cal_integrator_destroy(integrator);
		cal_state_destroy(&before);
		system_free(&s);
	}
}

/** A torque that exists only before some time: the adaptive scheme creeps up to it and then gives up. */
static int drive_into_the_wall(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	static const double fine[2] = {0}, broken[2] = {NAN, NAN};
	(void)user;
	(void)model;
	input->tau = state->t < 0.5 ? fine : broken;
	return 0;
}

static void a_wall_of_numerics_stops_before_it(void **state) {
	(void)state;
	System s = double_pendulum();
	CalIntegrator *integrator = integrator_for(
		&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-6, .input = drive_into_the_wall});
	assert_int_equal(cal_integrator_advance(integrator, &s.state, 1), CAL_NOT_FINITE);
	assert_true(s.state.t > 0.499 && s.state.t <= 0.5);
	assert_true(isfinite(s.state.q[0]) && isfinite(s.state.u[1]));
	assert_true(cal_integrator_stats(integrator).rejected > 0);
	cal_integrator_destroy(integrator);
	system_free(&s);
}

static void limits_are_reported(void **state) {
	(void)state;
	System s = double_pendulum();
	CalState before = state_of(&s);
	CalIntegrator *integrator =
		integrator_for(&s, (CalIntegratorOptions){.method = CAL_METHOD_RK4, .step = 0.01, .max_steps = 7});
	assert_int_equal(cal_integrator_advance(integrator, &s.state, 1), CAL_TOO_MANY_STEPS);
	assert_true(fabs(s.state.t - 0.07) < 1e-15);
	assert_int_equal(cal_integrator_stats(integrator).steps, 7);
	cal_integrator_destroy(integrator);
	integrator = integrator_for(&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .max_steps = 5});
	cal_state_copy(s.model, &before, &s.state);
	assert_int_equal(cal_integrator_advance(integrator, &s.state, 100), CAL_TOO_MANY_STEPS);
	assert_int_equal(cal_integrator_stats(integrator).steps, 5);
	cal_integrator_destroy(integrator);
	integrator = integrator_for(
		&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .step = 0.2, .min_step = 0.1, .rtol = 1e-12});
	cal_state_copy(s.model, &before, &s.state);
	assert_int_equal(cal_integrator_advance(integrator, &s.state, 100), CAL_STEP_TOO_SMALL);
	assert_same_bits(&s, &before, &s.state);
	cal_integrator_destroy(integrator);
	integrator =
		integrator_for(&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-3, .max_step = 1e-3});
	assert_int_equal(cal_integrator_advance(integrator, &s.state, 0.1), CAL_OK);
	assert_true(cal_integrator_stats(integrator).steps >= 100);
	cal_integrator_destroy(integrator);
	cal_state_destroy(&before);
	system_free(&s);
}

/* ---- inputs, reuse ------------------------------------------------------------------------- */

/** A torque on a wheel: RK4 and DOPRI5 are exact where it is constant, up to the very end of a step. */
static void loads_that_switch_between_steps_are_exact(void **state) {
	(void)state;
	const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_DOPRI5};
	for (int i = 0; i < 2; i++) {
		System s = wheel();
		Driver driver = {.tau = {2}, .until = 0.5};
		CalIntegrator *integrator = integrator_for(
			&s, (CalIntegratorOptions){.method = methods[i], .step = 0.05, .input = drive, .user = &driver});
		assert_int_equal(cal_integrator_advance(integrator, &s.state, 0.5), CAL_OK);
		assert_true(fabs(s.state.u[0] - 1) < 1e-14);
		cal_integrator_reset(integrator);
		assert_int_equal(cal_integrator_advance(integrator, &s.state, 1), CAL_OK);
		assert_true(fabs(s.state.u[0] - 1) < 1e-14);
		assert_true(fabs(s.state.q[0] - 0.75) < 1e-14);
		cal_integrator_destroy(integrator);
		system_free(&s);
	}
}

static void prescribed_dofs_follow_their_acceleration(void **state) {
	(void)state;
	CalDesc *desc = desc_with_gravity(9.81);
	CalJointDef driven = joint_about(CAL_JOINT_REVOLUTE, 0, 1, 0);
	driven.dof[0].prescribed = 1;
	CalBodyId upper = attach_body(desc, ground, origin, driven, "upper", 1, 0.5, (CalVec3){0.1, 0.1, 0.1});
	attach_body(desc, upper, (CalVec3){0, 0, -1}, joint_about(CAL_JOINT_REVOLUTE, 0, 1, 0), "lower", 1, 0.5,
	            (CalVec3){0.1, 0.1, 0.1});
	System s = system_of(desc);
	s.state.u[0] = 0.25;
	CalState end = advanced_fixed(&s, CAL_METHOD_RK4, 0.01, 2);
	assert_true(end.u[0] == 0.25); // locked acceleration: no input gives zero
	assert_true(fabs(end.q[0] - 0.5) < 1e-14);
	assert_true(fabs(end.u[1]) > 1e-3);
	cal_state_destroy(&end);
	system_free(&s);
}

static void the_last_stage_is_reused(void **state) {
	(void)state;
	System s = double_pendulum();
	CalIntegrator *integrator = integrator_for(&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5});
	assert_int_equal(cal_integrator_advance(integrator, &s.state, 1), CAL_OK);
	assert_int_equal(cal_integrator_advance(integrator, &s.state, 2), CAL_OK);
	CalIntegratorStats stats = cal_integrator_stats(integrator);
	assert_int_equal(stats.evaluations, 2 + 6 * (stats.steps + stats.rejected)); // 2: first stage, first size
	cal_integrator_reset(integrator);
	assert_int_equal(cal_integrator_advance(integrator, &s.state, 3), CAL_OK);
	stats = cal_integrator_stats(integrator);
	assert_int_equal(stats.evaluations, 4 + 6 * (stats.steps + stats.rejected));
	cal_integrator_destroy(integrator);
	system_free(&s);
}

/** A state that was changed between steps is noticed: nothing stale is reused. */
static void a_changed_state_is_noticed(void **state) {
	(void)state;
	const CalIntegratorOptions options = {.method = CAL_METHOD_DOPRI5, .step = 0.01, .max_step = 0.01, .rtol = 1e-3};
	System s = double_pendulum();
	CalIntegrator *used = integrator_for(&s, options), *fresh = integrator_for(&s, options);
	assert_int_equal(cal_integrator_step(used, &s.state, 0.01), CAL_OK);
	s.state.u[1] += 3;
	CalState twin = state_of(&s);
	assert_int_equal(cal_integrator_step(used, &s.state, 0.01), CAL_OK);
	assert_int_equal(cal_integrator_step(fresh, &twin, 0.01), CAL_OK);
	assert_same_bits(&s, &s.state, &twin);
	cal_integrator_destroy(used);
	cal_integrator_destroy(fresh);
	cal_state_destroy(&twin);
	system_free(&s);
}

static void the_same_run_gives_the_same_bits(void **state) {
	(void)state;
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		System s = heavy_top();
		const CalIntegratorOptions options = {.method = (CalMethod)method, .step = 1e-3};
		CalState a = advanced(&s, options, 1.5), b = advanced(&s, options, 1.5);
		assert_same_bits(&s, &a, &b);
		cal_state_destroy(&a);
		cal_state_destroy(&b);
		system_free(&s);
	}
}

static void interpolation_covers_the_last_step_only(void **state) {
	(void)state;
	System s = heavy_top();
	CalState before = state_of(&s), out = state_of(&s);
	CalIntegrator *rk4 = integrator_for(&s, (CalIntegratorOptions){.method = CAL_METHOD_RK4});
	assert_int_equal(cal_integrator_interpolate(rk4, 0, &out), CAL_ERR_UNSUPPORTED);
	cal_integrator_destroy(rk4);
	CalIntegrator *integrator = integrator_for(&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-6});
	assert_int_equal(cal_integrator_interpolate(integrator, 0, &out), CAL_ERR_STAGE);
	assert_int_equal(cal_integrator_advance(integrator, &s.state, 0.4), CAL_OK);
	cal_state_copy(s.model, &s.state, &before);
	assert_int_equal(cal_integrator_step(integrator, &s.state, 0.4), CAL_OK);
	assert_int_equal(cal_integrator_interpolate(integrator, 0.4, &out), CAL_OK);
	assert_true(state_distance(&s, &before, &out) < 1e-14);
	assert_int_equal(cal_integrator_interpolate(integrator, s.state.t, &out), CAL_OK);
	assert_true(state_distance(&s, &s.state, &out) < 1e-14);
	assert_true(out.t == s.state.t);
	assert_int_equal(cal_integrator_interpolate(integrator, 0.399, &out), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_integrator_interpolate(integrator, s.state.t + 1e-9, &out), CAL_ERR_ARGUMENT);
	cal_integrator_destroy(integrator);
	cal_state_destroy(&before);
	cal_state_destroy(&out);
	system_free(&s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(methods_are_found_by_name),
		cmocka_unit_test(numbers_of_methods_stay),
		cmocka_unit_test(what_a_method_says_of_itself_is_complete),
		cmocka_unit_test(names_of_methods_are_listed),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(memory_of_the_caller_is_used_and_measured),
		cmocka_unit_test(end_times_are_met_exactly),
		cmocka_unit_test(fixed_steps_leave_no_sliver),
		cmocka_unit_test(adaptive_steps_leave_no_sliver),
		cmocka_unit_test(steps_are_those_of_the_clock),
		cmocka_unit_test(calls_without_meaning_are_refused),
		cmocka_unit_test(a_model_without_dof_still_has_time),
		cmocka_unit_test(failing_inputs_leave_the_state_alone),
		cmocka_unit_test(inputs_that_are_not_finite_leave_the_state_alone),
		cmocka_unit_test(a_wall_of_numerics_stops_before_it),
		cmocka_unit_test(limits_are_reported),
		cmocka_unit_test(loads_that_switch_between_steps_are_exact),
		cmocka_unit_test(prescribed_dofs_follow_their_acceleration),
		cmocka_unit_test(the_last_stage_is_reused),
		cmocka_unit_test(a_changed_state_is_noticed),
		cmocka_unit_test(the_same_run_gives_the_same_bits),
		cmocka_unit_test(interpolation_covers_the_last_step_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
