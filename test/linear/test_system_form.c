// SPDX-License-Identifier: Apache-2.0
/*
 * test_system_form.c — accelerations from system matrices, and runs with them, against the recursion.
 */
#include "support/model_file_support.h"
#include "support/random_tree.h"
#include "support/run.h"

#include <calder/calder.h>
#include <math.h>

/* ---- evaluations ------------------------------------------------------------------------------ */

static double largest_difference(int n, const double *a, const double *b, double *size) {
	double largest = 0;
	*size = 0;
	for (int i = 0; i < n; i++) {
		largest = fmax(largest, fabs(a[i] - b[i]));
		*size = fmax(*size, fabs(b[i]));
	}
	return largest;
}

/* All modes and matrices of the state are forward dynamics, of trees with prescribed speeds and their forces too. */
static void fresh_matrices_are_forward_dynamics(void **state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		TreeOptions options = tree_any(seed);
		options.massless = 0;
		options.flexible = seed % 2 ? 0.5 : 0;
		Rng rng = rng_make(seed);
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		if (seed % 3 == 0)
			fixture_prescribe(f, &rng);
		double *udot = fixture_doubles(f, f->nu + 1), *want = fixture_doubles(f, f->nu + 1), size;
		double *force = fixture_doubles(f, f->nu + 1), *force_want = fixture_doubles(f, f->nu + 1), force_size;
		const CalFormulationOptions all = {0};
		CalSystemForm *form;
		assert_int_equal(cal_system_form_create(f->model, &all, NULL, &form), CAL_OK);
		assert_int_equal(cal_hybrid_dynamics(f->model, &f->state, &f->input, f->work, want, force_want), CAL_OK);
		assert_int_equal(cal_system_form_dynamics(form, &f->state, &f->input, f->work, udot, force), CAL_OK);
		const double error = largest_difference(f->nu, udot, want, &size);
		const double force_error = largest_difference(f->nu, force, force_want, &force_size);
		if (!(error <= 1e-8 * (1 + size)) || !(force_error <= 1e-8 * (1 + force_size)))
			fail_msg("seed %llu: accelerations off by %.2g of %.2g, forces by %.2g of %.2g", (unsigned long long)seed,
			         error, size, force_error, force_size);
		if (f->nu > 0) {
			f->state.u[0] = NAN;
			assert_int_equal(cal_system_form_dynamics(form, &f->state, &f->input, f->work, udot, NULL), CAL_NOT_FINITE);
		}
		cal_system_form_destroy(form);
		fixture_destroy(f);
	}
}

/* M^-1 K and M^-1 C against differences of forward dynamics in the same coordinates, at rest and at speed. */
static void linear_equations_are_the_derivative_of_forward_dynamics(void **state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		TreeOptions options = tree_any(seed);
		options.massless = options.prescribed = options.floating = 0;
		options.bodies = options.bodies > 5 ? 5 : options.bodies;
		options.joints = TREE_ONE_DOF; // here delta' = u, and B is zero
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		const int n = f->nu;
		CalLinear linear;
		CalError error;
		assert_int_equal(cal_linearize(f->model, &f->state, NULL, NULL, NULL, f->work, &linear, &error), CAL_OK);
		assert_int_equal(linear.count, n);
		double *A = fixture_doubles(f, 4 * n * n + 1), *up = fixture_doubles(f, n + 1),
			   *down = fixture_doubles(f, n + 1);
		double *q = fixture_doubles(f, f->nq + 1), *delta = fixture_doubles(f, n + 1), size = 0, worst = 0;
		assert_int_equal(cal_linear_state_matrix(&linear, A), CAL_OK);
		memcpy(q, f->state.q, (size_t)f->nq * sizeof *q);
		for (int i = 0; i < 4 * n * n; i++)
			size = fmax(size, fabs(A[i]));
		for (int k = 0; k < 2 * n; k++) {
			const double h = 1e-5;
			for (int side = 0; side < 2; side++) {
				memset(delta, 0, (size_t)n * sizeof *delta);
				delta[k % n] = side ? -h : h;
				const double u = f->state.u[k % n];
				if (k < n)
					cal_config_integrate(f->model, q, delta, f->state.q);
				else
					f->state.u[k % n] += delta[k % n];
				assert_int_equal(cal_forward_dynamics(f->model, &f->state, NULL, f->work, side ? down : up), CAL_OK);
				memcpy(f->state.q, q, (size_t)f->nq * sizeof *q);
				f->state.u[k % n] = u;
			}
			for (int i = 0; i < n; i++)
				worst = fmax(worst, fabs((up[i] - down[i]) / (2 * h) - A[(n + i) * 2 * n + k]));
		}
		if (!(worst <= 1e-7 * size))
			fail_msg("seed %llu: off by %.2g of %.2g", (unsigned long long)seed, worst, size);
		cal_linear_release(&linear);
		fixture_destroy(f);
	}
}

/* ---- runs ------------------------------------------------------------------------------------- */

static Run run_start(const char *text, CalFormulationOptions formulation, CalMethod method, double step) {
	Run r;
	CalSetup *setup = file_of(text);
	CalSimOptions options = cal_setup_options(setup);
	options.formulation = formulation;
	options.method.method = method;
	options.method.step = step;
	if (run_open(setup, &options, &r) != CAL_OK)
		fail_msg("%s", r.error.text);
	return r;
}

static void run_to(Run *r, double t) {
	if (cal_sim_advance(r->sim, t, &r->error) != CAL_OK)
		fail_msg("%s", r->error.text);
}

/* A four-bar with a flexible coupler, a spring, and a motor that turns a second joint: finite angles, loop, drive. */
static const char machine[] =
	"calder: 1\ngravity: [0, -9.81, 0]\nground: {nodes: {b: [0.5, 0, 0]}}\nbodies:\n"
	"  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}, nodes: {end: [0.2, 0, 0]}}\n"
	"  coupler: {beam: {length: 0.5, section: {shape: circle, diameter: 8 mm, youngs_modulus: 70 GPa, density: 2700},"
	" deformation: bending, boundary: craig-bampton, modes: 8, damping_ratio: 0.01}}\n"
	"  rocker: {mass: 2, rod: {from: [0, 0, 0], to: [0.4, 0, 0]}, nodes: {end: [0.4, 0, 0]}}\n"
	"  arm: {mass: 0.5, rod: {from: [0, 0, 0], to: [0.3, 0, 0]}}\n"
	"joints:\n  crank: {type: revolute, to: crank}\n  pin: {type: revolute, from: crank/end, to: coupler}\n"
	"  rocker: {type: revolute, from: ground/b, to: rocker, dof: {stiffness: 2, damping: 0.1}}\n"
	"  turn: {type: revolute, from: rocker/end, to: arm}\n"
	"loops: {wrist: {type: revolute, from: coupler/tip, to: rocker/end}}\n"
	"state: {crank: {q: 90 deg, u: 3}, pin: {q: -70 deg, guess: true}, rocker: {q: 85 deg, guess: true}}\n"
	"devices: {motor: {type: joint_drive, joint: turn, q: '0.5 * sin(4 * t)'}}\n"
	"run: {duration: 1 s, assemble: any}\n";

static double state_distance(Run *a, Run *b) {
	const CalModel *model = cal_sim_model(a->sim, 0);
	double delta[64], largest = 0;
	cal_config_difference(model, cal_sim_state(a->sim, 0)->q, cal_sim_state(b->sim, 0)->q, delta);
	for (int i = 0; i < cal_model_u_count(model); i++)
		largest = fmax(largest, fabs(delta[i]));
	return largest;
}

static CalFormulationOptions system_form(double update, double retain, CalUnretained unretained) {
	return (CalFormulationOptions){CAL_FORMULATION_SYSTEM, update, retain, unretained};
}

/* The same of a simulation: loop, flexible body, gravity, a drive and its force. */
static void fresh_matrices_hold_loops_and_drives(void **state) {
	(void)state;
	Run r = run_start(machine, (CalFormulationOptions){0}, CAL_METHOD_RK4, 1e-5);
	const CalFormulationOptions all = {0};
	CalSystemForm *form;
	CalSimView view;
	double udot[64], force[64], want[64], force_want[64], size;
	run_to(&r, 0.03);
	assert_int_equal(cal_sim_observe(r.sim, 0, &view), CAL_OK);
	const int nu = cal_model_u_count(view.model);
	memcpy(want, view.udot, (size_t)nu * sizeof *want);
	memcpy(force_want, view.force, (size_t)nu * sizeof *want);
	assert_non_null(view.input.prescribed);
	assert_int_equal(cal_system_form_create(view.model, &all, NULL, &form), CAL_OK);
	assert_int_equal(cal_system_form_dynamics(form, view.state, &view.input, view.work, udot, force), CAL_OK);
	assert_true(largest_difference(nu, udot, want, &size) < 1e-8 * size);
	assert_true(largest_difference(nu, force, force_want, &size) < 1e-8 * size);
	assert_true(size > 0);
	cal_system_form_destroy(form);
	run_end(&r);
}

/* The error of the delay goes with the time between updates, and what is reported goes with it. */
static void error_goes_with_the_time_between_updates(void **state) {
	(void)state;
	const double step = 5e-6, updates[3] = {4e-3, 2e-3, 1e-3};
	double error[3], reported[3];
	Run exact = run_start(machine, (CalFormulationOptions){0}, CAL_METHOD_RK4, step);
	run_to(&exact, 0.04);
	for (int i = 0; i < 3; i++) {
		Run r = run_start(machine, system_form(updates[i], 0, CAL_UNRETAINED_FROZEN), CAL_METHOD_RK4, step);
		run_to(&r, 0.04);
		error[i] = state_distance(&r, &exact);
		reported[i] = cal_sim_formulation(r.sim).error;
		assert_int_equal(cal_sim_formulation(r.sim).updates, (int)lround(0.04 / updates[i]));
		run_end(&r);
	}
	print_message("errors %.3g %.3g %.3g, reported %.3g %.3g %.3g\n", error[0], error[1], error[2], reported[0],
	              reported[1], reported[2]);
	for (int i = 1; i < 3; i++) {
		assert_true(error[i] < 0.7 * error[i - 1] && error[i] > 0.3 * error[i - 1]);
		assert_true(reported[i] < 0.7 * reported[i - 1] && reported[i] > 0.3 * reported[i - 1]);
	}
	run_end(&exact);
}

/* A run resumed from a checkpoint has the same bits, in the middle of the time between two updates. */
static void resumed_run_has_the_same_bits(void **state) {
	(void)state;
	const CalFormulationOptions form = system_form(1e-3, 2000, CAL_UNRETAINED_BOUNDED);
	Run one = run_start(machine, form, CAL_METHOD_RK4, 1e-4), two = run_start(machine, form, CAL_METHOD_RK4, 1e-4);
	CalError error;
	run_to(&one, 0.0123);
	const size_t size = cal_checkpoint_size(one.sim);
	void *memory = malloc(size);
	assert_non_null(memory);
	assert_int_equal(cal_checkpoint_take(one.sim, memory, size, NULL), CAL_OK);
	assert_int_equal(cal_checkpoint_restore(two.sim, memory, size, &error), CAL_OK);
	run_to(&one, 0.03);
	run_to(&two, 0.03);
	const CalModel *model = cal_sim_model(one.sim, 0);
	assert_memory_equal(cal_sim_state(one.sim, 0)->q, cal_sim_state(two.sim, 0)->q,
	                    (size_t)cal_model_q_count(model) * sizeof(double));
	assert_memory_equal(cal_sim_state(one.sim, 0)->u, cal_sim_state(two.sim, 0)->u,
	                    (size_t)cal_model_u_count(model) * sizeof(double));
	assert_true(cal_sim_formulation(one.sim).error == cal_sim_formulation(two.sim).error);
	free(memory);
	run_end(&one);
	run_end(&two);
}

/* Two masses on springs, 2.25 and 71.2 rad/s: the fast one frozen, or bounded to 20 rad/s. */
static const char two_masses[] = "calder: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 2}, b: {mass: 1}}\njoints:\n"
								 "  ja: {type: prismatic, axis: x, to: a, dof: {stiffness: 16}}\n"
								 "  jb: {type: prismatic, axis: x, from: a, to: b, dof: {stiffness: 3000}}\n"
								 "state: {ja: {u: 0.3}, jb: {u: 0.2}}\n"
								 "run: {duration: 1 s}\n";

/* Speeds of the frozen mode are removed, and the energy that this costs is booked. */
static void frozen_modes_do_not_move(void **state) {
	(void)state;
	Run r = run_start(two_masses, system_form(0.1, 20, CAL_UNRETAINED_FROZEN), CAL_METHOD_RK4, 1e-2);
	CalSimBalance balance;
	CalLinear linear;
	CalSystemModes modes;
	CalError error;
	assert_int_equal(cal_sim_linearize(r.sim, 0, NULL, &linear, &error), CAL_OK);
	assert_int_equal(cal_linear_modes(&linear, NULL, NULL, &modes, &error), CAL_OK);
	run_to(&r, 2);
	const CalFormulationReport report = cal_sim_formulation(r.sim);
	const double *u = cal_sim_state(r.sim, 0)->u, *slow = modes.mode[0].shape;
	assert_int_equal(report.modes, 2);
	assert_int_equal(report.retained, 1);
	assert_true(fabs(report.highest - modes.mode[0].frequency) < 1e-9);
	assert_true(fabs(report.next - modes.mode[1].frequency) < 1e-9);
	assert_true(fabs(u[0] * slow[1] - u[1] * slow[0]) < 1e-12);
	assert_int_equal(cal_sim_balance(r.sim, &balance), CAL_OK);
	assert_true(report.energy_removed > 1e-3 && fabs(balance.dissipated - report.energy_removed) < 1e-12);
	assert_true(fabs(balance.error) < 1e-8);
	cal_system_modes_release(&modes);
	cal_linear_release(&linear);
	run_end(&r);
}

/* Under a constant force the bounded mode has its static deflection on average, the frozen one none. */
static void bounded_modes_keep_their_static_response(void **state) {
	static const char pulled[] =
		"calder: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 2}, b: {mass: 1}}\njoints:\n"
		"  ja: {type: prismatic, axis: x, to: a, dof: {stiffness: 16, damping: 8}}\n"
		"  jb: {type: prismatic, axis: x, from: a, to: b, dof: {stiffness: 3000, damping: 20}}\n"
		"loads: [{node: b, force: [6, 0, 0]}]\nrun: {duration: 1 s}\n";
	(void)state;
	Run bounded = run_start(pulled, system_form(0.1, 20, CAL_UNRETAINED_BOUNDED), CAL_METHOD_RK4, 1e-2);
	Run frozen = run_start(pulled, system_form(0.1, 20, CAL_UNRETAINED_FROZEN), CAL_METHOD_RK4, 1e-2);
	run_to(&frozen, 0.05);
	const double missing = cal_sim_formulation(frozen.sim).missing_energy; // (phi'f)^2 / 2 w^2 = 4.9^2 / 2 67^2 at rest
	assert_true(fabs(missing - 2.667e-3) < 2e-5);
	run_to(&bounded, 40);
	run_to(&frozen, 40);
	assert_true(fabs(cal_sim_state(bounded.sim, 0)->q[1] - 6.0 / 3000) < 1e-9);
	assert_true(fabs(cal_sim_state(frozen.sim, 0)->q[1] - 6.0 / 3000) > 1e-4);
	run_end(&bounded);
	run_end(&frozen);
}

/* ---- what does not fit ------------------------------------------------------------------------ */

static void refuse(CalSimOptions options, const char *word) {
	CalSetup *setup = file_of(two_masses);
	CalSim *sim;
	CalError error = {0};
	assert_int_not_equal(cal_sim_create(cal_setup_desc(setup), &options, &sim, &error), CAL_OK);
	if (!strstr(error.text, word))
		fail_msg("\"%s\" does not name \"%s\"", error.text, word);
	cal_setup_destroy(setup);
}

static void what_does_not_fit_is_refused_by_name(void **state) {
	(void)state;
	const CalSimOptions good = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3},
	                            .formulation = system_form(0.01, 0, CAL_UNRETAINED_FROZEN)};
	CalSimOptions bad = good;
	bad.method.method = CAL_METHOD_IMPLICIT;
	refuse(bad, "implicit");
	bad = good, bad.formulation.update = 0;
	refuse(bad, "update");
	bad = good, bad.threads = 2;
	refuse(bad, "threads");
	bad = good, bad.formulation.retain = -1;
	refuse(bad, "retained");
	CalSetup *setup = file_of(two_masses);
	CalSim *sim;
	CalError error = {0};
	assert_int_equal(cal_sim_create(cal_setup_desc(setup), &good, &sim, &error), CAL_OK);
	assert_int_equal(cal_sim_reserve(sim, cal_setup_desc(setup), NULL, &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "topology"));
	cal_sim_destroy(sim);
	cal_setup_destroy(setup);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fresh_matrices_are_forward_dynamics),
		cmocka_unit_test(linear_equations_are_the_derivative_of_forward_dynamics),
		cmocka_unit_test(fresh_matrices_hold_loops_and_drives),
		cmocka_unit_test(error_goes_with_the_time_between_updates),
		cmocka_unit_test(resumed_run_has_the_same_bits),
		cmocka_unit_test(frozen_modes_do_not_move),
		cmocka_unit_test(bounded_modes_keep_their_static_response),
		cmocka_unit_test(what_does_not_fit_is_refused_by_name),
	};
	return cmocka_run_group_tests_name("system_form", tests, NULL, NULL);
}
