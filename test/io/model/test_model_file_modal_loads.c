// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_modal_loads.c — loads on modes of flexible bodies: efforts, accelerations and locks, by body and
 * number.
 *
 * Two bodies on each other, each with two modes, so that modes come after the speeds of their joints in the middle
 * and at the end: u = (hinge, a.etadot1, a.etadot2, slide, b.etadot1, b.etadot2).
 */
#include "model_file_flex_support.h"

#define BODY \
	"{nodes: {p: [1, 0, 0]}, flexible: {stiffness: [40, 90], nodes: {p: {mass: 2, phi: [[1, 0], [0, 1], [0, 0]]}}}}"
#define MODEL                                                                                             \
	"calder: 1\nbodies:\n  a: " BODY "\n  b: " BODY "\n  rigid: {mass: 1, inertia: [1, 1, 1]}\njoints:\n" \
	"  hinge: {type: revolute, to: a}\n  slide: {type: prismatic, from: a/p, to: b}\n  w: {type: weld, from: b/p, to: rigid}\n"

typedef struct Bound {
	CalSetup *file;
	CalModel *model;
	CalSetupLoads *loads;
	CalState state;
} Bound;

static Bound bind(const char *loads) {
	char text[2000];
	CalError error = {0};
	Bound b;
	snprintf(text, sizeof text, MODEL "loads:\n%s\n", loads);
	b.file = file_of(text);
	b.model = model_of(b.file, NULL);
	assert_int_equal(cal_model_u_count(b.model), 6);
	assert_int_equal(cal_state_create(b.model, &b.state), CAL_OK);
	if (cal_setup_loads_create(b.file, b.model, &b.loads, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return b;
}

static void release(Bound *b) {
	cal_setup_loads_destroy(b->loads);
	cal_state_destroy(&b->state);
	cal_model_destroy(b->model);
	cal_setup_destroy(b->file);
}

/* free: what prescribed says; NAN in udot: not prescribed. */
static void expect(const Bound *b, double t, const double tau[6], const double udot[6]) {
	CalInput input;
	CalState at = b->state;
	at.t = t;
	assert_int_equal(cal_setup_loads_input(b->loads, b->model, &at, &input), 0);
	assert_same("tau", input.tau, tau, 6, 0);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(input.prescribed[i], !isnan(udot[i]));
		if (!isnan(udot[i]))
			assert_near(input.udot[i], udot[i], 0);
	}
}

static void efforts_add_up_on_their_modes(void **state) {
	(void)state;
	Bound b = bind(
		"- {body: b, mode: 2, effort: 3}\n- {body: b, effort: [10, 20]}\n- {body: a, mode: 1, effort: -1, start: 1 s, end: 2 s}\n"
		"- {joint: hinge, effort: 7 N*m}\n");
	const double none[6] = {NAN, NAN, NAN, NAN, NAN, NAN};
	const double early[6] = {7, 0, 0, 0, 10, 23}, late[6] = {7, -1, 0, 0, 10, 23};
	expect(&b, 0, early, none);
	expect(&b, 1, late, none);
	expect(&b, 2, early, none);
	assert_near(cal_setup_loads_next_switch(b.loads, 0), 1, 0);
	assert_near(cal_setup_loads_next_switch(b.loads, 1), 2, 0);
	release(&b);
}

static void modes_can_be_driven_and_locked(void **state) {
	(void)state;
	Bound b = bind(
		"- {body: a, acceleration: [free, 0.5]}\n- {body: b, lock: true, start: 1}\n- {body: a, mode: 1, lock: true, start: 2}\n"
		"- {body: b, lock: [no, yes], end: 0.5}\n- {body: b, mode: 1, acceleration: 4, start: 3}\n");
	const double zero[6] = {0};
	const double t0[6] = {NAN, NAN, 0.5, NAN, NAN, 0}, t1[6] = {NAN, NAN, 0.5, NAN, 0, 0};
	const double t2[6] = {NAN, 0, 0.5, NAN, 0, 0}, t3[6] = {NAN, 0, 0.5, NAN, 4, 0};
	expect(&b, 0, zero, t0);
	expect(&b, 1, zero, t1);
	expect(&b, 2, zero, t2);
	expect(&b, 3, zero, t3);
	release(&b);
}

/* The dynamics take them: locked modes stay, and a pushed oscillator accelerates with force over modal mass. */
static void the_dynamics_take_them(void **state) {
	(void)state;
	CalError error = {0};
	CalWork *work;
	CalInput input;
	CalState at;
	double udot[2];
	CalSetupLoads *loads;
	CalSetup *file =
		file_of("calder: 1\nbodies:\n  a: " BODY "\njoints: {w: {type: weld, to: a}}\nstate: {w: {eta: [0.1, 0.1]}}\n"
	            "loads: [{body: a, effort: [6, 6]}, {body: a, mode: 2, lock: true}]\n");
	CalModel *model = model_of(file, NULL);
	assert_int_equal(cal_state_create(model, &at), CAL_OK);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, model, &at, &error), CAL_OK);
	assert_int_equal(cal_setup_loads_create(file, model, &loads, &error), CAL_OK);
	assert_int_equal(cal_setup_loads_input(loads, model, &at, &input), 0);
	assert_int_equal(cal_forward_dynamics(model, &at, &input, work, udot), CAL_OK);
	assert_near(udot[0], (6 - 40 * 0.1) / 2, 1e-14);
	assert_near(udot[1], 0, 0);
	cal_setup_loads_destroy(loads);
	cal_work_destroy(work);
	cal_state_destroy(&at);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

/* A file's loads on a model that was not made from it. */
static void other_models_are_refused(void **state) {
	(void)state;
	CalError error = {0};
	CalSetupLoads *loads;
	CalSetup *file = file_of(MODEL "loads: [{body: a, effort: [1, 2]}]\n");
	CalSetup *other =
		file_of("calder: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\njoints: {hinge: {type: revolute, to: a}}\n");
	CalModel *model = model_of(other, NULL);
	assert_int_equal(cal_setup_loads_create(file, model, &loads, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "was not compiled from this setup"));
	cal_model_destroy(model);
	cal_setup_destroy(other);
	cal_setup_destroy(file);
}

/* Signals of modes, deflections and single columns. */
static void modes_are_signals(void **state) {
	(void)state;
	static const char *const names[] = {"q:hinge",      "q:a.eta1",       "u:b.etadot2",       "udot:b.etadot1",
	                                    "node:b/p",     "deflection:b/p", "deflection:b/p.dx", "node:b/p.x",
	                                    "energy:total", "momentum:Lz",    "reaction:slide.fz"};
	char text[2000];
	int used = snprintf(text, sizeof text, MODEL "run: {duration: 1, output: {signals: [");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		used += snprintf(text + used, sizeof text - (size_t)used, "'%s', ", names[i]);
	snprintf(text + used, sizeof text - (size_t)used, "]}}\n");
	CalSetup *file = file_of(text);
	const CalRunSettings run = cal_setup_run(file);
	assert_int_equal(run.stream_count, 1);
	assert_int_equal(run.streams[0].signal_count, sizeof names / sizeof names[0]);
	for (int i = 0; i < run.streams[0].signal_count; i++)
		assert_string_equal(run.streams[0].signals[i], names[i]);
	cal_setup_destroy(file);
	static const Mistake rows[] = {
		{"q:a.eta3", "'q", {"unknown joint \"a.eta3\""}},
		{"q:a.eta", "'q", {"unknown joint"}},
		{"q:hinge.0", "'q", {"joint \"hinge\" has no coordinate \"0\"", "it has angle"}},
	};
	refuse_all(MODEL "run: {duration: 1, output: {signals: ['%s']}}\n", rows, sizeof rows / sizeof rows[0]);
}

static void mistakes_are_refused(void **state) {
	(void)state;
	static const Mistake rows[] = {
		{"{body: rigid, effort: 1}", "rigid", {"body \"rigid\" is rigid", "name a joint or a node"}},
		{"{body: c, effort: 1}", "c,", {"unknown body \"c\""}},
		{"{body: rigit, effort: 1}", "rigit", {"did you mean \"rigid\"?"}},
		{"{body: a, joint: hinge, effort: 1}", "{b", {"a load acts on either"}},
		{"{body: a, node: a/p, force: [1, 0, 0]}", "{b", {"a load acts on either"}},
		{"{body: a, mode: 1}", "{b", {"a load on a body needs \"effort\", \"acceleration\" or \"lock\""}},
		{"{body: a, mode: 0.0, effort: 1}", "0.0", {"\"mode\" must be a whole number from 1 to 2", "body \"a\""}},
		{"{body: a, mode: 3.0, effort: 1}", "3.0", {"from 1 to 2"}},
		{"{body: a, mode: 1.5, effort: 1}", "1.5", {"from 1 to 2"}},
		{"{body: a, mode: first, effort: 1}", "first", {"not a number"}},
		{"{body: a, effort: 17}", "17", {"\"effort\" on body \"a\" takes one value for each of its 2 modes (a list)"}},
		{"{body: a, mode: 2, effort: [1, 7]}", "[1", {"takes one value for each of its 1 mode"}},
		{"{body: a, mode: 2, effort: 1 N}", "1 N", {"a number without unit"}},
		{"{body: a, mode: 2, acceleration: 1 m/s^2}", "1 m", {"a number without unit"}},
		{"{body: a, acceleration: [1, 2, 3]}", "[1", {"\"acceleration\" on body \"a\""}},
		{"{body: a, lock: [yes]}", "[yes", {"\"lock\" on body \"a\""}},
		{"{body: a, lock: maybe}", "maybe", {"true or false"}},
		{"{body: a, force: [1, 0, 0]}", "{b", {"belong to a load on a node; on a body give \"effort\""}},
		{"{joint: hinge, mode: 17, effort: 1}", "17", {"name the \"body\" instead of the \"joint\""}},
		{"{node: a/p, mode: 1, force: [1, 0, 0]}", "{n", {"belong to a load on a joint or a body"}},
		{"{body: a, modes: 1, effort: 1}", "modes", {"did you mean \"mode\"?"}},
	};
	REFUSE_ALL(MODEL "loads: [%s]\n", rows);
	static const Mistake loose[] = {{"{body: a, mode: 1, effort: 1}", "a, mode", {"no joint carries body \"a\""}}};
	REFUSE_ALL("calder: 1\nbodies:\n  a: " BODY "\nloads: [%s]\n", loose);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(efforts_add_up_on_their_modes),
		cmocka_unit_test(modes_can_be_driven_and_locked),
		cmocka_unit_test(the_dynamics_take_them),
		cmocka_unit_test(other_models_are_refused),
		cmocka_unit_test(modes_are_signals),
		cmocka_unit_test(mistakes_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
