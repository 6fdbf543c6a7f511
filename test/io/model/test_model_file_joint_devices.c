// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_joint_devices.c — limits, friction and effort limits as keys of joints: the same bits as with devices that say the
 * same, also after being written, and what is refused.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include "support/model_file_support.h"
#include "support/run.h"

#include <calder/calder.h>

#define BODIES                                                                                                \
	"calder: 1\ngravity: [0, -9.81, 0]\nbodies: {a: {mass: 2, com: [0.4, 0, 0], inertia: [0.1, 0.2, 0.2]},\n" \
	"  b: {mass: 1, inertia: [0.1, 0.1, 0.1]}, c: {mass: 1, com: [0, 0.1, 0.2], inertia: [0.1, 0.1, 0.1]}}\njoints:\n"
#define RUN "state: {hinge: {q: 1.2, u: -3}, slide: {u: 2}, cross: {u: [4, -3]}}\n"

static const char *const by_keys = BODIES
	"  hinge: {type: revolute, to: a, limits: {lower: -20 deg, upper: 80 deg, stiffness: 500, damping: 2},\n"
	"          friction: {coulomb: 0.5, smoothing_speed: 0.02}, effort_limit: 7}\n"
	"  slide: {type: prismatic, axis: x, from: a, to: b, limits: {upper: 5 cm, stiffness: 3 kN/m}, effort_limit: 20 N}\n"
	"  cross: {type: universal, axis: z, axis2: x, from: a, to: c, limits: [null, {lower: -0.3, stiffness: 90}],\n"
	"          friction: [{coulomb: 0.1, bristle_stiffness: 40, bristle_damping: 0.2}, {coulomb: 0.2, viscous: 0.1, smoothing_speed: 0.01}]}\n" RUN
	"devices:\n"
	"  motor: {type: servo, joint: hinge, reference: 1, proportional: 200, derivative: 9}\n"
	"  own: {type: servo, joint: hinge, reference: 1, proportional: 200, effort_limit: 3}\n"
	"  hold: {type: pid, joint: slide, measured: \"q(slide)\", proportional: 900, sample_period: 10 ms}\n"
	"  push: {type: actuator, joint: slide, gear: -4, control: \"30*sin(5*t)\"}\n";

static const char *const by_devices = BODIES
	"  hinge: {type: revolute, to: a}\n"
	"  slide: {type: prismatic, axis: x, from: a, to: b}\n"
	"  cross: {type: universal, axis: z, axis2: x, from: a, to: c}\n" RUN "devices:\n"
	"  hinge_limits: {type: limit, joint: hinge, lower: -20 deg, upper: 80 deg, stiffness: 500, damping: 2}\n"
	"  hinge_friction: {type: friction, joint: hinge, coulomb: 0.5, smoothing_speed: 0.02}\n"
	"  slide_limits: {type: limit, joint: slide, upper: 5 cm, stiffness: 3000}\n"
	"  cross_limits2: {type: limit, joint: cross, dof: 2, lower: -0.3, stiffness: 90}\n"
	"  cross_friction1: {type: friction, joint: cross, dof: 1, coulomb: 0.1, bristle_stiffness: 40, bristle_damping: 0.2}\n"
	"  cross_friction2: {type: friction, joint: cross, dof: 2, coulomb: 0.2, viscous: 0.1, smoothing_speed: 0.01}\n"
	"  motor: {type: servo, joint: hinge, reference: 1, proportional: 200, derivative: 9, effort_limit: 7}\n"
	"  own: {type: servo, joint: hinge, reference: 1, proportional: 200, effort_limit: 3}\n"
	"  hold: {type: pid, joint: slide, measured: \"q(slide)\", proportional: 900, sample_period: 10 ms, lower: -20, upper: 20}\n"
	"  push: {type: actuator, joint: slide, gear: -4, control: \"30*sin(5*t)\", lower: -5, upper: 5}\n";

static void expect_same_run(CalSetup *one, CalSetup *other) {
	Run a = run_file(one), b = run_file(other);
	CalError error = {0};
	assert_int_equal(cal_sim_device_count(a.sim), cal_sim_device_count(b.sim));
	for (int i = 0; i < cal_sim_device_count(a.sim); i++) {
		CalDeviceInfo x, y;
		assert_int_equal(cal_sim_device(a.sim, i, &x), CAL_OK);
		assert_int_equal(cal_sim_device(b.sim, i, &y), CAL_OK);
		assert_string_equal(x.name, y.name);
	}
	for (double t = 0.2; t < 2; t += 0.2) {
		assert_int_equal(cal_sim_advance(a.sim, t, &error), CAL_OK);
		assert_int_equal(cal_sim_advance(b.sim, t, &error), CAL_OK);
		const size_t bytes = sizeof(double) * (size_t)cal_model_q_count(cal_sim_model(a.sim, 0));
		assert_memory_equal(cal_sim_state(a.sim, 0)->q, cal_sim_state(b.sim, 0)->q, bytes);
	}
	run_end(&a);
	run_end(&b);
}

static void keys_are_the_devices_that_they_name(void **state) {
	(void)state;
	expect_same_run(file_of(by_keys), file_of(by_devices));
}

/* Written with the text of the file at hand and without. */
static void they_are_written_as_devices(void **state) {
	(void)state;
	for (int trimmed = 0; trimmed < 2; trimmed++) {
		CalSetup *setup = file_of(by_keys);
		CalError error = {0};
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);
		if (trimmed)
			cal_model_file_trim(setup);
		assert_int_equal(cal_model_file_write(setup, out, &error), CAL_OK);
		fclose(out);
		expect_same_run(file_of(text), file_of(by_devices));
		cal_setup_destroy(setup);
		free(text);
	}
}

static void expect_refusal(const char *joint, const char *message) {
	char text[1000];
	CalSetup *setup = NULL;
	CalError error = {0};
	snprintf(text, sizeof text, BODIES "%s\n", joint);
	const CalStatus status = cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &setup, &error);
	if (status == CAL_OK || !strstr(error.text, message))
		fail_msg("%s: %s", joint, status == CAL_OK ? "accepted" : error.text);
	cal_setup_destroy(setup);
}

static void mistakes_are_named(void **state) {
	(void)state;
	expect_refusal("  h: {type: revolute, to: a, limits: [{upper: 1, stiffness: 1}, null]}",
	               "this joint has 1 degree of freedom, but \"limits\" describes 2");
	expect_refusal("  h: {type: revolute, to: a, limits: {upper: 1}}", "stiffness");
	expect_refusal("  h: {type: revolute, to: a, limits: {upper: 1 m, stiffness: 1}}",
	               "wrong unit in \"1 m\"; expected an angle");
	expect_refusal("  h: {type: revolute, to: a, friction: {coulomb: -1}}", "must be greater than zero");
	expect_refusal("  h: {type: revolute, to: a, friction: {columb: 1}}", "coulomb");
	expect_refusal("  h: {type: free, to: a, effort_limit: 3}", "is for joints with one degree of freedom");
	expect_refusal("  h: {type: prismatic, to: a, effort_limit: 3 N*m}", "expected a force");
	expect_refusal("  h: {type: revolute, to: a, limits: {upper: 1, stiffness: 1}}\n"
	               "devices: {h_limits: {type: limit, joint: h, upper: 1, stiffness: 1}}",
	               "h_limits");
}

static void expect_warnings(const char *joint, const char *message) {
	char text[1000];
	CalSetup *setup = NULL;
	CalError error = {0};
	snprintf(text, sizeof text, BODIES "%s\n", joint);
	if (cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	const char *warning = cal_setup_warning(setup, 0);
	if (!message != !warning || (message && !strstr(warning, message)))
		fail_msg("%s: %s", joint, warning ? warning : "no warning");
	cal_setup_destroy(setup);
}

/* Keys that have no effect, whatever else is said. */
static void limits_of_nothing_are_named(void **state) {
	(void)state;
	static const char *const none = "\"effort_limit\" limits nothing";
	static const char *const limited = "  h: {type: revolute, to: a, effort_limit: 3}\ndevices: {d: {type: ";
	char text[400];
	expect_warnings("  h: {type: revolute, to: a, effort_limit: 3}", none);
	snprintf(text, sizeof text, "%s%s", limited, "applied_load, joint: h, effort: 5}}");
	expect_warnings(text, none);
	snprintf(text, sizeof text, "%s%s", limited, "servo, joint: h, proportional: 5, effort_limit: 9}}");
	expect_warnings(text, none);
	snprintf(text, sizeof text, "%s%s", limited, "servo, joint: h, proportional: 5}}");
	expect_warnings(text, NULL);
	snprintf(text, sizeof text, "%s%s", limited, "actuator, joint: h, control: 5, upper: 9}}");
	expect_warnings(text, NULL);
	expect_warnings("  h: {type: revolute, to: a, limits: {stiffness: 1}}", "neither \"lower\" nor \"upper\"");
	expect_warnings("  h: {type: revolute, to: a}\ndevices: {d: {type: limit, joint: h, stiffness: 1}}",
	                "nothing stops");
	expect_warnings("  h: {type: revolute, to: a, limits: {lower: 0, stiffness: 1}}", NULL);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_the_devices_that_they_name),
		cmocka_unit_test(they_are_written_as_devices),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(limits_of_nothing_are_named),
	};
	NEEDS_YAML();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
