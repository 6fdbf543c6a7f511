// SPDX-License-Identifier: Apache-2.0
/*
 * test_system.c — systems of several models: bits of a single one, forces between models at every stage, states beside
 * q and u, motions that are given.
 */
#include "systems.h"
#include "support/methods.h"

enum { METHODS = CAL_METHOD_COUNT };

/* A mass of 2 kg on a rail along x. */
static System slider(const char *name) {
	CalDesc *desc = desc_with_gravity(0);
	attach_body(desc, (CalBodyId){0}, (CalVec3){0, 0, 0}, joint_about(CAL_JOINT_PRISMATIC, 1, 0, 0), name, 2, 0,
	            (CalVec3){1, 1, 1});
	return system_of(desc);
}

static void one_part_gives_the_bits_of_a_single_model(void **state) {
	(void)state;
	for (int m = 0; m < METHODS; m++) {
		if (!method_is_built(m))
			continue;
		System a = double_pendulum(), b = double_pendulum();
		const CalIntegratorOptions options = {.method = (CalMethod)m, .step = 0.01};
		CalIntegrator *alone, *part;
		assert_int_equal(cal_integrator_create(a.model, a.work, &options, &alone), CAL_OK);
		const CalSystemPart parts[] = {{.model = b.model, .work = b.work}};
		assert_int_equal(cal_integrator_create_system(&(CalSystem){.parts = parts, .count = 1}, &options, &part),
		                 CAL_OK);
		for (int i = 0; i < a.nu; i++)
			a.state.q[i] = b.state.q[i] = 0.5 + 0.2 * i;
		assert_int_equal(cal_integrator_advance(alone, &a.state, 0.7), CAL_OK);
		assert_int_equal(cal_integrator_advance(part, &b.state, 0.7), CAL_OK);
		assert_memory_equal(a.state.q, b.state.q, (size_t)a.nq * sizeof(double));
		assert_memory_equal(a.state.u, b.state.u, (size_t)a.nu * sizeof(double));
		cal_integrator_destroy(alone);
		cal_integrator_destroy(part);
		system_free(&a);
		system_free(&b);
	}
}

/* ---- two masses and a spring between the models, and a state that follows one of them ------------- */

typedef struct Coupled {
	double stiffness;
	double tau[2];
} Coupled;

/* x' = q0 - x; x2' = 1 counts for nothing in the step size. */
static CalStatus couple(void *user, const CalState *state, const CalState *parts, CalInput *inputs, double *xdot) {
	Coupled *c = user;
	assert_true(parts[0].t == state->t && parts[1].t == state->t);
	assert_ptr_equal(parts[1].q, state->q + 1);
	const double pull = c->stiffness * (parts[1].q[0] - parts[0].q[0]);
	c->tau[0] = pull;
	c->tau[1] = -pull;
	inputs[0].tau = &c->tau[0];
	inputs[1].tau = &c->tau[1];
	assert_true(xdot[0] == 0 && xdot[1] == 0);
	xdot[0] = state->q[0] - state->x[0];
	xdot[1] = 1;
	return CAL_OK;
}

/*
 * Masses m, m with a spring k: q = s +- a cos(w t), w^2 = 2 k/m, from q = (0, 2 a) at rest: s = a. The state obeys
 * x' = a - a cos(w t) - x from 0: x = a (1 - e^-t) - a (cos wt + w sin wt - e^-t)/(1 + w^2).
 */
static double coupled_error(CalMethod method, double step, double t) {
	System a = slider("a"), b = slider("b");
	const CalSystemPart parts[] = {{.model = a.model, .work = a.work}, {.model = b.model, .work = b.work}};
	const CalIntegratorOptions options = {.method = method, .step = step, .rtol = 1e-11, .atol = 1e-13};
	Coupled c = {.stiffness = 9};
	const CalSystem system = {.parts = parts, .count = 2, .nx = 2, .quadratures = 1, .input = couple, .user = &c};
	CalIntegrator *integrator;
	assert_int_equal(cal_integrator_create_system(&system, &options, &integrator), CAL_OK);
	const double amplitude = 0.5, w = 3;
	double q[2] = {0, 2 * amplitude}, u[2] = {0}, x[2] = {0};
	CalState state = {.q = q, .u = u, .x = x};
	assert_int_equal(cal_integrator_advance(integrator, &state, t), CAL_OK);
	const double q0 = amplitude * (1 - cos(w * t)), q1 = amplitude * (1 + cos(w * t));
	const double x0 = amplitude * (1 - exp(-t)) - amplitude * (cos(w * t) + w * sin(w * t) - exp(-t)) / (1 + w * w);
	assert_true(fabs(x[1] - t) < 1e-13);
	cal_integrator_destroy(integrator);
	system_free(&a);
	system_free(&b);
	return fmax(fmax(fabs(q[0] - q0), fabs(q[1] - q1)), fabs(x[0] - x0));
}

static void forces_between_models_keep_the_order_of_every_method(void **state) {
	(void)state;
	for (int m = 0; m < METHODS; m++) {
		if (!method_is_built(m))
			continue;
		if (cal_method_info((CalMethod)m)->adaptive)
			continue;
		const double coarse = coupled_error((CalMethod)m, 0.01, 2), fine = coupled_error((CalMethod)m, 0.005, 2);
		const double order = log2(coarse / fine);
		if (!(fabs(order - cal_method_order((CalMethod)m)) < 0.15))
			fail_msg("%s: order %g, errors %g and %g", cal_method_name((CalMethod)m), order, coarse, fine);
	}
	assert_true(coupled_error(CAL_METHOD_DOPRI5, 0, 2) < 1e-9);
}

/* ---- motions ---------------------------------------------------------------------------------- */

static int shake(void *user, const CalModel *model, double t, double *q, double *u, double *udot) {
	const double *w = user;
	(void)model;
	q[0] = sin(*w * t);
	u[0] = *w * cos(*w * t);
	udot[0] = -*w * *w * sin(*w * t);
	return t > 5 ? 1 : 0;
}

typedef struct Follow {
	double tau;
} Follow;

static CalStatus follow(void *user, const CalState *state, const CalState *parts, CalInput *inputs, double *xdot) {
	Follow *f = user;
	(void)state;
	(void)xdot;
	f->tau = 2 * (parts[0].q[0] - parts[1].q[0]);
	inputs[1].tau = &f->tau;
	return CAL_OK;
}

/* m q'' = k (sin wt - q), k/m = 1, from rest at zero: q = (sin wt - w sin t)/(1 - w^2). */
static void a_given_motion_drives_the_others_and_costs_no_dynamics(void **state) {
	(void)state;
	const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_DOPRI5, CAL_METHOD_IMPLICIT_MIDPOINT};
	const double steps[] = {1e-2, 0, 1e-3}, tolerance[] = {1e-8, 1e-8, 1e-5};
	for (int m = 0; m < 3; m++) {
		System a = slider("a"), b = slider("b");
		double w = 2;
		Follow f;
		const CalSystemPart parts[] = {{.model = a.model, .work = a.work, .motion = shake, .motion_user = &w},
		                               {.model = b.model, .work = b.work}};
		const CalIntegratorOptions options = {.method = methods[m], .step = steps[m]};
		CalIntegrator *integrator;
		assert_int_equal(
			cal_integrator_create_system(&(CalSystem){.parts = parts, .count = 2, .input = follow, .user = &f},
		                                 &options, &integrator),
			CAL_OK);
		double q[2] = {7, 0}, u[2] = {7, 0}, at_q[2], at_u[2];
		CalState s = {.q = q, .u = u}, at = {.q = at_q, .u = at_u};
		const double t = 3;
		assert_int_equal(cal_integrator_advance(integrator, &s, t), CAL_OK);
		assert_true(q[0] == sin(w * t) && u[0] == w * cos(w * t));
		assert_true(fabs(q[1] - (sin(w * t) - w * sin(t)) / (1 - w * w)) < tolerance[m]);
		const CalIntegratorStats stats = cal_integrator_stats(integrator);
		if (methods[m] == CAL_METHOD_RK4)
			assert_int_equal(stats.evaluations, 4 * stats.steps);
		if (methods[m] == CAL_METHOD_DOPRI5) {
			const double middle = t - 0.5 * stats.last_step;
			assert_int_equal(cal_integrator_interpolate(integrator, middle, &at), CAL_OK);
			assert_true(at_q[0] == sin(w * middle));
			assert_true(fabs(at_q[1] - (sin(w * middle) - w * sin(middle)) / (1 - w * w)) < 1e-8);
		}
		assert_int_equal(cal_integrator_advance(integrator, &s, 6), CAL_ERR_USER);
		assert_int_equal(cal_integrator_failed_dof(integrator), 0);
		cal_integrator_destroy(integrator);
		system_free(&a);
		system_free(&b);
	}
}

static void wrong_systems_are_refused(void **state) {
	(void)state;
	System a = slider("a");
	const CalSystemPart good[] = {{.model = a.model, .work = a.work}}, no_work[] = {{.model = a.model}};
	const CalIntegratorOptions options = {.method = CAL_METHOD_RK4, .step = 0.1};
	CalIntegrator *integrator = NULL;
	const CalSystem wrong[] = {
		{.parts = good, .count = 0},
		{.count = 1},
		{.parts = no_work, .count = 1},
		{.parts = good, .count = 1, .nx = 1},
		{.parts = good, .count = 1, .nx = 1, .quadratures = 2, .input = couple},
		{.parts = good, .count = 1, .nx = -1, .input = couple},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(cal_integrator_create_system(&wrong[i], &options, &integrator), CAL_ERR_ARGUMENT);
	const CalSystem with_x = {.parts = good, .count = 1, .nx = 1, .input = couple};
	assert_int_equal(cal_integrator_create_system(&with_x, &options, &integrator), CAL_OK);
	assert_int_equal(cal_integrator_advance(integrator, &a.state, 1), CAL_ERR_ARGUMENT); // x is missing
	assert_int_equal(cal_integrator_step(integrator, &a.state, 1), CAL_ERR_ARGUMENT);
	cal_integrator_destroy(integrator);
	system_free(&a);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_part_gives_the_bits_of_a_single_model),
		cmocka_unit_test(forces_between_models_keep_the_order_of_every_method),
		cmocka_unit_test(a_given_motion_drives_the_others_and_costs_no_dynamics),
		cmocka_unit_test(wrong_systems_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
