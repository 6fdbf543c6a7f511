// SPDX-License-Identifier: Apache-2.0
/*
 * test_scenario_parameters.c — numbers that change in a run, against a model that has had them all along: from the same
 * state the two have the same bits. The accounts take what a change does to the energy, by independent sums.
 */
#include "scenario/scenario_support.h"

#include <float.h>

#define METHOD "run: {duration: 2 s, method: %s, step: 1 ms}\n"

/* A cart on a rail with a pendulum, a block beside it; everything that can be changed has a number of its own. */
typedef struct Numbers {
	double mass, damping, stiffness, rest, gravity, kp, kd, coulomb, k, thrust, pid, drag;
} Numbers;

static const Numbers start = {2, 0.3, 4, 0.1, -9.81, 20, 1.5, 0.4, 50, 0.7, 3, 0.2};

static CalSetup *model(const Numbers *n, const char *method, const char *events) {
	static char text[8000];
	const int used =
		snprintf(text, sizeof text,
	             "calder: 1\n"
	             "gravity: [0, 0, %.17g]\n"
	             "bodies:\n"
	             "  cart: {mass: 3 kg, inertia: [0.1, 0.1, 0.1], nodes: {hook: [0, 0, 0.1]}}\n"
	             "  bob: {mass: %.17g, inertia: [%.17g, %.17g, %.17g], com: [0, 0, -0.4], nodes: {tip: [0, 0, -0.5]}}\n"
	             "  block: {mass: 1.5 kg, inertia: [0.2, 0.2, 0.3]}\n"
	             "joints:\n"
	             "  rail: {type: prismatic, axis: x, to: cart, dof: {damping: %.17g}}\n"
	             "  pin: {type: revolute, axis: y, from: cart, to: bob, dof: {stiffness: %.17g, rest: %.17g}}\n"
	             "  spin: {type: revolute, axis: z, to: block}\n"
	             "state: {rail: {q: 0.2, u: 0.1}, pin: {q: 0.6, u: -0.2}, spin: {q: 0.3, u: 0.8}}\n"
	             "devices:\n"
	             "  turn: {type: servo, joint: spin, reference: 1 rad, proportional: %.17g, derivative: %.17g}\n"
	             "  wear: {type: friction, joint: rail, coulomb: %.17g, smoothing_speed: 0.01}\n"
	             "  tie: {type: spring, from: bob/tip, to: ground, stiffness: %.17g, damping: 0.1, length: 0.2}\n"
	             "  jet: {type: thruster, node: cart/hook, direction: x, thrust: 5, throttle: %.17g}\n"
	             "  hold: {type: pid, joint: rail, measured: q(rail), sample_period: 20 ms, proportional: %.17g}\n"
	             "  air: {type: drag, node: bob/tip, linear: %.17g}\n"
	             "%s" METHOD,
	             n->gravity, n->mass, 0.05 * n->mass, 0.06 * n->mass, 0.02 * n->mass, n->damping, n->stiffness, n->rest,
	             n->kp, n->kd, n->coulomb, n->k, n->thrust, n->pid, n->drag, events, method);
	assert_true(used > 0 && used < (int)sizeof text);
	return file_of(text);
}

/* With memory for changes of the description. */
static Run run_reserved(CalSetup *file) {
	Run r = {.file = file};
	const CalSimOptions options = {.method = cal_setup_run(file).method};
	CalStatus status = cal_sim_create(cal_setup_desc(file), &options, &r.sim, &r.error);
	if (status == CAL_OK)
		status = cal_sim_reserve(r.sim, cal_setup_desc(file), NULL, &r.error);
	if (status == CAL_OK)
		status = cal_scenario_create(file, r.sim, &r.scenario, &r.error);
	if (status == CAL_OK)
		status = cal_sim_restart(r.sim, &r.error);
	if (status != CAL_OK)
		fail_msg("%s", r.error.text);
	return r;
}

static void set_to(Run *r, const char *name, double value, double *energy) {
	const int index = cal_sim_find_parameter(r->sim, name);
	if (index < 0)
		fail_msg("no parameter %s", name);
	if (cal_sim_set_parameter(r->sim, index, value, energy, &r->error) != CAL_OK)
		fail_msg("%s", r->error.text);
}

static double value_of_parameter(Run *r, const char *name) {
	CalParameter p;
	assert_int_equal(cal_sim_parameter(r->sim, cal_sim_find_parameter(r->sim, name), &p), CAL_OK);
	assert_string_equal(p.name, name);
	return p.value;
}

typedef struct Motion {
	double q[3], u[3], udot[3];
} Motion;

static Motion motion_of(CalSim *sim) {
	CalSimView view;
	Motion m;
	assert_int_equal(cal_sim_observe(sim, 0, &view), CAL_OK);
	assert_int_equal(cal_model_u_count(view.model), 3);
	memcpy(m.q, view.state->q, sizeof m.q);
	memcpy(m.u, view.state->u, sizeof m.u);
	memcpy(m.udot, view.udot, sizeof m.udot);
	return m;
}

/* Everything that can be changed, by its name, and where the model has it. */
static const struct Case {
	const char *name;
	size_t at;
	double value;
} cases[] = {{"body:bob.mass", offsetof(Numbers, mass), 5},
             {"joint:rail.damping", offsetof(Numbers, damping), 4},
             {"joint:pin.stiffness", offsetof(Numbers, stiffness), 11},
             {"joint:pin.rest", offsetof(Numbers, rest), -0.4},
             {"group:main.gravity.z", offsetof(Numbers, gravity), -1.62},
             {"device:turn.proportional", offsetof(Numbers, kp), 70},
             {"device:turn.derivative", offsetof(Numbers, kd), 6},
             {"device:wear.coulomb", offsetof(Numbers, coulomb), 2.5},
             {"device:tie.stiffness", offsetof(Numbers, k), 120},
             {"device:jet.throttle", offsetof(Numbers, thrust), 0.1},
             {"device:air.linear", offsetof(Numbers, drag), 1.7}};
enum { CASES = sizeof cases / sizeof *cases };

/* The accelerations are those of a model that has had the number from the start, at the same state. */
static void a_change_is_the_model_with_that_number(void **state) {
	(void)state;
	for (int i = 0; i < CASES; i++) {
		Numbers other = start;
		*(double *)(void *)((char *)&other + cases[i].at) = cases[i].value;
		Run changed = run_reserved(model(&start, "rk4", "")), made = run_reserved(model(&other, "rk4", ""));
		const Motion before = motion_of(changed.sim);
		set_to(&changed, cases[i].name, cases[i].value, NULL);
		assert_true(value_of_parameter(&changed, cases[i].name) == cases[i].value);
		const Motion after = motion_of(changed.sim), wanted = motion_of(made.sim);
		assert_memory_equal(after.q, before.q, sizeof after.q);
		assert_memory_equal(after.u, before.u, sizeof after.u);
		double change = 0;
		for (int k = 0; k < 3; k++) {
			change = fmax(change, fabs(after.udot[k] - before.udot[k]));
			if (!(fabs(after.udot[k] - wanted.udot[k]) <= 1e-12 * fmax(1, fabs(wanted.udot[k])))) // inertia * factor
				fail_msg("%s: udot[%d] is %.17g, not %.17g", cases[i].name, k, after.udot[k], wanted.udot[k]);
		}
		assert_true(change > 1e-3);
		run_end(&changed);
		run_end(&made);
	}
}

static double total_energy(CalSim *sim) {
	CalSimBalance b;
	assert_int_equal(cal_sim_balance(sim, &b), CAL_OK);
	return b.groups + b.stored;
}

static double balance_error(CalSim *sim) {
	CalSimBalance b;
	assert_int_equal(cal_sim_balance(sim, &b), CAL_OK);
	assert_true(b.complete);
	return b.error;
}

/* What groups and devices hold changes by what is reported; the error of the balance is that of the integration. */
static void the_balance_has_what_a_change_does(void **state) {
	(void)state;
	Run r = run_reserved(model(&start, "dopri5", ""));
	advance(&r, 0.4);
	for (int i = 0; i < CASES; i++) {
		double energy;
		const double held = total_energy(r.sim), error = balance_error(r.sim);
		set_to(&r, cases[i].name, cases[i].value, &energy);
		assert_true(fabs(total_energy(r.sim) - held - energy) < 1e-12);
		assert_true(fabs(balance_error(r.sim) - error) < 1e-12);
		advance(&r, 0.4 + 0.1 * (i + 1));
	}
	assert_true(fabs(balance_error(r.sim)) < 1e-5);
	run_end(&r);
}

/* The kinetic energy that a mass of the same speed brings, and the potential energy of its height. */
static void a_mass_brings_its_energy(void **state) {
	(void)state;
	Run r = run_file(file_of("calder: 1\n"
	                         "gravity: [0, 0, -10]\n"
	                         "bodies: {ball: {mass: 2 kg, inertia: [1, 1, 1]}}\n"
	                         "joints: {slide: {type: prismatic, axis: z, to: ball}}\n"
	                         "state: {slide: {q: 3, u: 4}}\n"
	                         "events: {heavy: {at: 1 s, do: {set: body:ball.mass, value: 5}}}\n"
	                         "run: {duration: 2 s, method: rk4, step: 10 ms}\n"));
	advance(&r, 1.5);
	const double z = 3 + 4 - 5, v = 4 - 10, energy = 3 * (0.5 * v * v + 10 * z);
	const CalScenarioEntry entry = entry_of(&r, 0);
	assert_true(fabs(entry.energy - energy) < 1e-9);
	assert_true(entry.value == 5 && entry.changed);
	assert_string_equal(entry.text, "set body:ball.mass to 5");
	run_end(&r);
}

/* By an event, or by a caller between two advances: the same bits, and so after a checkpoint in between. */
static void who_changes_it_makes_no_difference(const char *method) {
	static const char events[] = "events:\n"
								 "  a: {at: 0.5 s, do: [{set: device:turn.proportional, value: 70},\n"
								 "                      {set: body:bob.mass, value: 5}]}\n"
								 "  b: {at: 1.1 s, do: {set: device:tie.stiffness, value: 120}}\n";
	Run own = run_reserved(model(&start, method, events)), hand = run_reserved(model(&start, method, ""));
	Run late = run_reserved(model(&start, method, ""));
	advance(&own, 1.6);
	advance(&hand, 0.5);
	set_to(&hand, "device:turn.proportional", 70, NULL);
	set_to(&hand, "body:bob.mass", 5, NULL);
	advance(&hand, 1.1);
	set_to(&hand, "device:tie.stiffness", 120, NULL);
	const size_t size = cal_checkpoint_size(hand.sim);
	void *memory = malloc(size);
	assert_non_null(memory);
	assert_int_equal(cal_checkpoint_take(hand.sim, memory, size, NULL), CAL_OK);
	advance(&hand, 1.6);
	assert_int_equal(cal_checkpoint_restore(late.sim, memory, size, &late.error), CAL_OK);
	assert_int_equal(cal_scenario_resume(late.scenario), CAL_OK);
	assert_true(value_of_parameter(&late, "device:tie.stiffness") == 120);
	assert_true(value_of_parameter(&late, "body:bob.mass") == 5);
	advance(&late, 1.6);
	const Motion a = motion_of(own.sim), b = motion_of(hand.sim), c = motion_of(late.sim);
	assert_memory_equal(&a, &b, sizeof a);
	assert_memory_equal(&a, &c, sizeof a);
	free(memory);
	run_end(&own);
	run_end(&hand);
	run_end(&late);
}

static void a_change_has_the_same_bits_by_event_hand_and_checkpoint(void **state) {
	(void)state;
	who_changes_it_makes_no_difference("rk4");
	who_changes_it_makes_no_difference("dopri5");
}

/* Back to a moment before the change, all numbers are those of then. */
static void a_checkpoint_takes_changes_back(void **state) {
	(void)state;
	Run r = run_reserved(model(&start, "rk4", "")), plain = run_reserved(model(&start, "rk4", ""));
	advance(&r, 0.3);
	const size_t size = cal_checkpoint_size(r.sim);
	void *memory = malloc(size);
	assert_int_equal(cal_checkpoint_take(r.sim, memory, size, NULL), CAL_OK);
	for (int i = 0; i < CASES; i++)
		set_to(&r, cases[i].name, cases[i].value, NULL);
	advance(&r, 0.9);
	assert_int_equal(cal_checkpoint_restore(r.sim, memory, size, &r.error), CAL_OK);
	assert_int_equal(cal_scenario_resume(r.scenario), CAL_OK);
	for (int i = 0; i < CASES; i++)
		assert_true(value_of_parameter(&r, cases[i].name) ==
		            *(const double *)(const void *)((const char *)&start + cases[i].at));
	advance(&r, 0.9);
	advance(&plain, 0.9);
	const Motion a = motion_of(r.sim), b = motion_of(plain.sim);
	assert_memory_equal(&a, &b, sizeof a);
	free(memory);
	run_end(&r);
	run_end(&plain);
}

static void expect_refusal(Run *r, const char *name, double value, const char *why) {
	const int index = cal_sim_find_parameter(r->sim, name);
	const double was = value_of_parameter(r, name);
	const Motion before = motion_of(r->sim);
	CalError error = {0};
	assert_int_equal(cal_sim_set_parameter(r->sim, index, value, NULL, &error), CAL_ERR_ARGUMENT);
	if (!strstr(error.text, why))
		fail_msg("\"%s\" lacks \"%s\"", error.text, why);
	assert_true(value_of_parameter(r, name) == was);
	const Motion after = motion_of(r->sim);
	assert_memory_equal(&after, &before, sizeof after);
}

static void what_cannot_be_changed_says_why(void **state) {
	(void)state;
	Run r = run_reserved(model(&start, "rk4", ""));
	expect_refusal(&r, "body:bob.mass", 0, "above 0");
	expect_refusal(&r, "body:bob.mass", -1, "above 0");
	expect_refusal(&r, "body:bob.mass", (double)NAN, "finite");
	expect_refusal(&r, "body:bob.mass", INFINITY, "finite");
	expect_refusal(&r, "joint:rail.damping", -1, "from 0");
	expect_refusal(&r, "device:turn.proportional", -3, "from 0");
	expect_refusal(&r, "device:turn.integral", 4, "there is none");
	expect_refusal(&r, "device:jet.throttle", 1.5, "up to 1");
	assert_int_equal(cal_sim_find_parameter(r.sim, "device:turn.backwards"), -1);
	run_end(&r);
	Run plain = run_file(model(&start, "rk4", "")); // without memory for changes those of devices are there
	assert_true(cal_sim_find_parameter(plain.sim, "device:turn.proportional") >= 0);
	assert_int_equal(cal_sim_find_parameter(plain.sim, "body:bob.mass"), -1);
	run_end(&plain);
}

static void an_event_that_sets_what_is_not_there_is_refused(void **state) {
	(void)state;
	Run r;
	CalSetup *file = model(&start, "rk4", "events: {a: {at: 1 s, do: {set: device:turn.proportionl, value: 3}}}\n");
	const CalSimOptions options = {.method = cal_setup_run(file).method};
	assert_int_equal(run_open(file, &options, &r), CAL_ERR_MODEL);
	assert_non_null(strstr(r.error.text, "did you mean \"device:turn.proportional\"?"));
	run_end(&r);
}

/* Every name leads back to its number, and all names differ. */
static void names_lead_to_numbers(void **state) {
	(void)state;
	Run r = run_reserved(model(&start, "rk4", ""));
	const int count = cal_sim_parameter_count(r.sim);
	assert_true(count > CASES);
	for (int i = 0; i < count; i++) {
		CalParameter p;
		assert_int_equal(cal_sim_parameter(r.sim, i, &p), CAL_OK);
		assert_int_equal(cal_sim_find_parameter(r.sim, p.name), i);
		assert_true(p.fixed || isinf(p.value) || (p.value >= p.low && p.value <= p.high));
	}
	CalParameter p;
	assert_int_equal(cal_sim_parameter(r.sim, count, &p), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_sim_parameter(r.sim, -1, &p), CAL_ERR_ARGUMENT);
	run_end(&r);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_is_the_model_with_that_number),
		cmocka_unit_test(the_balance_has_what_a_change_does),
		cmocka_unit_test(a_mass_brings_its_energy),
		cmocka_unit_test(a_change_has_the_same_bits_by_event_hand_and_checkpoint),
		cmocka_unit_test(a_checkpoint_takes_changes_back),
		cmocka_unit_test(what_cannot_be_changed_says_why),
		cmocka_unit_test(an_event_that_sets_what_is_not_there_is_refused),
		cmocka_unit_test(names_lead_to_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
