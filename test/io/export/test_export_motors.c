// SPDX-License-Identifier: Apache-2.0
/*
 * test_export_motors.c — actuators keep joint, gear, gain, bias, ranges and input over every format that has them, also
 * while their input is 0, and push alike when they get one.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include "support/round_trip.h"

#include "io/mjcf/mjcf_support.h"

#define ARM(more)                                                                                      \
	MJCF("<compiler angle='radian'/><worldbody><body name='a'><joint name='j' axis='0 1 0'/>" UNIT     \
	     "<site name='s' pos='1 .5 0'/><body name='b' pos='1 0 0'><joint name='k' axis='0 1 0'/>" UNIT \
	     "<body name='c' pos='1 0 0'><joint name='l' type='slide' axis='1 0 0'/>" UNIT                 \
	     "</body></body></body></worldbody>" more)
#define MOTORS                                                                                                     \
	"<actuator><motor name='m' joint='j' gear='50' ctrlrange='-1 1'/><motor name='n' joint='k' gear='-20' "        \
	"forcerange='-2 3'/><position name='p' joint='l' kp='10' kv='1' ctrlrange='-2 3'/><motor name='s' site='s' "   \
	"gear='1 2 3 4 5 6'/><damper name='d' joint='l' kv='2' ctrlrange='0 1'/><general name='g' joint='k' gear='3' " \
	"gainprm='.7' biastype='affine' biasprm='.1 .2 .3'/></actuator>"

static void expect_same(const char *name, const CalActuatorDef *a, const CalActuatorDef *b) {
	if (!b)
		fail_msg("%s is gone", name);
	assert_int_equal(a->joint.value, b->joint.value);
	assert_int_equal(a->dof, b->dof);
	assert_int_equal(a->node.value != 0, b->node.value != 0);
	assert_true(a->node.value || a->gear == b->gear);
	assert_memory_equal(&a->force, &b->force, sizeof a->force);
	assert_memory_equal(&a->moment, &b->moment, sizeof a->moment);
	assert_memory_equal(a->gain, b->gain, sizeof a->gain);
	assert_memory_equal(a->bias, b->bias, sizeof a->bias);
	assert_true(a->control_lower == b->control_lower && a->control_upper == b->control_upper);
	assert_true(a->lower == b->lower && a->upper == b->upper);
	assert_true(a->control.number == b->control.number && !b->control.formula);
}

/* Accelerations with the inputs .3, -.7, 1.1, ... instead of those of the setup, and without any. */
static void accelerations_of(const CalSetup *setup, double factor, double *udot, int count) {
	static const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5}};
	CalSim *sim = NULL;
	CalError error = {0};
	CalSimView view;
	const char *type;
	const void *def;
	if (cal_sim_create(cal_setup_desc(setup), &options, &sim, &error) != CAL_OK)
		fail_msg("%s", error.text);
	for (int i = 0, n = 0; cal_setup_device(setup, i, &type, NULL, &def) == CAL_OK; i++) {
		if (strcmp(type, "actuator") != 0)
			continue;
		CalActuatorDef motor = *(const CalActuatorDef *)def;
		motor.control.number = factor * (n % 2 ? 0.3 - 0.2 * n : 0.3 + 0.4 * n);
		n++;
		if (cal_sim_add_actuator(sim, &motor, NULL, &error) != CAL_OK)
			fail_msg("%s", error.text);
	}
	for (int i = 0; i < count; i++) {
		cal_sim_state(sim, 0)->q[i] = 0.4 * i - 0.3;
		cal_sim_state(sim, 0)->u[i] = 0.5 - 0.7 * i;
	}
	assert_int_equal(cal_sim_observe(sim, 0, &view), CAL_OK);
	memcpy(udot, view.udot, (size_t)count * sizeof *udot);
	cal_sim_destroy(sim);
}

static void expect_same_push(const CalSetup *a, const CalSetup *b) {
	double first[3], again[3], idle[3];
	accelerations_of(a, 0, idle, 3);
	for (int k = 1; k <= 3; k++) {
		accelerations_of(a, k, first, 3);
		accelerations_of(b, k, again, 3);
		assert_true(fabs(first[0] - idle[0]) > 1); // the inputs count
		for (int i = 0; i < 3; i++)
			expect_near("acceleration", again[i], first[i]);
	}
}

static const CalActuatorDef *motor_of(const CalSetup *setup, const char *name) {
	const char *type, *own;
	const void *def;
	for (int i = 0; cal_setup_device(setup, i, &type, &own, &def) == CAL_OK; i++)
		if (strcmp(own, name) == 0 && strcmp(type, "actuator") == 0)
			return def;
	return NULL;
}

static void compare(const CalSetup *a, const CalSetup *b, const char *names) {
	for (const char *name = names; *name; name += strlen(name) + 1)
		expect_same(name, motor_of(a, name), motor_of(b, name));
	assert_int_equal(cal_setup_device_count(a), cal_setup_device_count(b));
	expect_same_push(a, b);
}

/* Through MJCF, and through a model file to MJCF, with inputs 0 and with others. */
static void motors_come_back_through_mjcf_and_model_files(void **state) {
	(void)state;
	static const char names[] = "m\0n\0p\0s\0d\0g\0";
	static const char *const texts[] = {ARM(MOTORS),
	                                    ARM(MOTORS "<keyframe><key name='home' ctrl='.5 -.25 1 2 .1 0'/></keyframe>")};
	for (int i = 0; i < 2; i++) {
		Robot first = robot_of(texts[i]);
		Written mjcf = write_setup(first.setup, CAL_FORMAT_MJCF, 0), model, last;
		CalSetup *again = read_again(&mjcf, 0);
		assert_int_equal(written_count(&mjcf, CAL_IMPORT_MISSING) + written_count(&mjcf, CAL_IMPORT_CHANGED), 0);
		compare(first.setup, again, names);
		cal_setup_destroy(again);
		model = write_setup(first.setup, CAL_FORMAT_MODEL, 0);
		CalSetup *middle = read_again(&model, 0);
		compare(first.setup, middle, names);
		last = write_setup(middle, CAL_FORMAT_MJCF, 0);
		again = read_again(&last, 0);
		compare(first.setup, again, names);
		cal_setup_destroy(again);
		cal_setup_destroy(middle);
		written_free(&last);
		written_free(&model);
		written_free(&mjcf);
		robot_close(&first);
	}
}

/* The force on a joint by hand: gear (gain c + b0 + b1 l + b2 l'), before the limit -20 * 3. */
static void motors_push_as_the_file_says(void **state) {
	(void)state;
	Robot r = robot_of(
		ARM(MOTORS "<keyframe><key name='home' qpos='.1 .2 .3' qvel='-1 .5 2' ctrl='4 -3.5 1 2 .5 0'/></keyframe>"));
	expect_near("input within its range", output_of(&r, "m", 0), 50 * 1);
	expect_near("force within its range", output_of(&r, "n", 0), -20 * -2);
	expect_near("servo", output_of(&r, "p", 0), 10 * (1 - .3) - 2);
	expect_near("site", output_of(&r, "s", 6), 3 * 2);
	expect_near("damper", output_of(&r, "d", 0), -2 * 2 * .5);
	expect_near("general", output_of(&r, "g", 0), 3 * (.1 + .2 * 3 * .2 + .3 * 3 * .5));
	robot_close(&r);
}

/* A joint limits its one actuator by actuatorfrcrange: a range of the force. Of several it is the sum. */
static void joints_limit_their_motor(void **state) {
	(void)state;
#define LIMITED(more)                                                                                                 \
	MJCF("<worldbody><body name='a'><joint name='j' actuatorfrcrange='-30 20'/>" UNIT "</body></worldbody><actuator>" \
	     "<motor name='m' joint='j' gear='-20' forcerange='-5 1'/>" more "</actuator>")
	Robot r = robot_of(LIMITED(""));
	const CalActuatorDef *def = motor_of(r.setup, "m");
	assert_non_null(def);
	assert_true(def->lower == -1 && def->upper == 1 && def->gear == -20);
	robot_close(&r);
	r = robot_of(LIMITED("<motor name='n' joint='j'/>"));
	assert_null(motor_of(r.setup, "m"));
	assert_non_null(device_of(&r, "j_actuators"));
	robot_close(&r);
}

/* Motors on tendons keep their gain and input; two with the same force stay two. */
static void motors_on_tendons_come_back(void **state) {
	(void)state;
	static const char *const devices[] = {"x_j", "x_k", "y_k", "y_l"};
	Robot first = robot_of(ARM(
		"<tendon><fixed name='t'><joint joint='j' coef='2'/><joint joint='k' coef='-1'/></fixed><fixed name='u'>"
		"<joint joint='k' coef='1'/><joint joint='l' coef='.5'/></fixed></tendon><actuator><general name='x' tendon='t' "
		"gear='4' gainprm='3'/><general name='y' tendon='u' gear='5' gainprm='3'/></actuator>"));
	Written w = write_setup(first.setup, CAL_FORMAT_MJCF, 0);
	assert_int_equal(written_count(&w, CAL_IMPORT_MISSING), 0);
	assert_non_null(strstr(w.text, "name=\"x\" tendon=\"x_tendon\" gainprm=\"3\""));
	assert_non_null(strstr(w.text, "name=\"y\" tendon=\"y_tendon\" gainprm=\"3\""));
	CalSetup *again = read_again(&w, 0);
	assert_int_equal(cal_setup_device_count(again), 4);
	cal_setup_destroy(again);
	/* An input for the first: the keyframe of the written file gets one. */
	char text[8000];
	const char *end = strstr(w.text, "</mujoco>");
	snprintf(text, sizeof text, "%.*s<keyframe><key name='home' ctrl='.5 0'/></keyframe></mujoco>", (int)(end - w.text),
	         w.text);
	Robot pushed = robot_of(text);
	static const double efforts[] = {2 * 4 * 3 * .5, -1 * 4 * 3 * .5, 0, 0};
	for (int i = 0; i < 4; i++)
		expect_near(devices[i], output_of(&pushed, devices[i], 0), efforts[i]);
	robot_close(&pushed);
	robot_close(&first);
	written_free(&w);
}

/* Transmissions hold joint, gear and an even limit; SDFormat holds nothing, and says where. */
static void motors_come_back_through_urdf(void **state) {
	(void)state;
	Robot first = robot_of(ARM(
		"<actuator><motor name='m' joint='j' gear='50' forcerange='-2 2'/><motor name='n' joint='k' gear='-20'/><motor "
		"name='p' joint='l' gear='3' forcerange='-1 2'/></actuator>"));
	Written w = write_setup(first.setup, CAL_FORMAT_URDF, 0);
	assert_int_equal(written_count(&w, CAL_IMPORT_MISSING), 0);
	written_expect_note(&w, CAL_IMPORT_CHANGED, "\"p\"", "limits of this one are not written");
	CalSetup *again = read_again(&w, 0);
	const CalActuatorDef *p = motor_of(again, "p");
	assert_true(p && p->gear == 3 && isinf(p->upper));
	for (int i = 0; i < 2; i++) {
		const CalActuatorDef *a = motor_of(first.setup, i ? "n" : "m"), *b = motor_of(again, i ? "n" : "m");
		const CalDesc *da = cal_setup_desc(first.setup), *db = cal_setup_desc(again);
		assert_true(b && a->gear == b->gear && a->lower == b->lower && a->upper == b->upper && b->gain[0] == 1);
		assert_string_equal(cal_desc_joint(da, a->joint, NULL, NULL)->name,
		                    cal_desc_joint(db, b->joint, NULL, NULL)->name);
	}
	written_free(&w);
	w = write_setup(again, CAL_FORMAT_MJCF, 0);
	assert_non_null(
		strstr(w.text, "<motor name=\"m\" joint=\"j\" gear=\"50\" forcelimited=\"true\" forcerange=\"-2 2\"/>"));
	written_free(&w);
	cal_setup_destroy(again);
	robot_close(&first);
}

static void formats_without_motors_name_them(void **state) {
	(void)state;
	CalExportNote note;
	Robot r = robot_of(ARM("<actuator>\n<motor name='m' joint='j' gear='50'/></actuator>"));
	Written w = write_setup(r.setup, CAL_FORMAT_SDF, 0);
	assert_int_equal(w.status, CAL_OK); // an idle one changes nothing
	written_expect_note(&w, CAL_IMPORT_IGNORED, "device \"m\"", "no actuators");
	for (int i = 0; cal_export_note(w.report, i, &note) == CAL_OK; i++)
		if (strstr(note.element, "device \"m\""))
			assert_non_null(strstr(note.place, "t.xml:2:"));
	written_free(&w);
	robot_close(&r);
	r = robot_of(
		ARM("<actuator><motor name='m' joint='j'/></actuator><keyframe><key name='home' ctrl='1'/></keyframe>"));
	for (int format = CAL_FORMAT_URDF; format < CAL_FORMAT_COUNT; format++) {
		w = write_setup(r.setup, (CalFormat)format, 0);
		assert_int_equal(w.status, format == CAL_FORMAT_MJCF ? CAL_OK : CAL_ERR_UNSUPPORTED);
		if (format != CAL_FORMAT_MJCF)
			written_expect_note(&w, CAL_IMPORT_MISSING, "device \"m\"", "inputs that are not 0");
		written_free(&w);
	}
	robot_close(&r);
}

/* What is left out of a file says so. */
static void idle_parts_are_named(void **state) {
	(void)state;
	Robot r = robot_of(
		ARM("<actuator><motor name='m' joint='j' gear='0'/><intvelocity name='i' joint='k' kp='3'/></actuator>"));
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "motor \"m\"", "gear is 0");
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "intvelocity \"i\"", "stays 0");
	robot_close(&r);
	r = robot_with(ARM("<actuator><damper name='d' site='s' kv='3'/></actuator>"), &(CalReadOptions){.partial = 1});
	robot_expect_note(&r, CAL_IMPORT_MISSING, "damper \"d\"", "do not depend on the motion");
	robot_close(&r);
}

int main(void) {
	NEEDS_YAML();
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {cmocka_unit_test(motors_come_back_through_mjcf_and_model_files),
	                                   cmocka_unit_test(motors_push_as_the_file_says),
	                                   cmocka_unit_test(joints_limit_their_motor),
	                                   cmocka_unit_test(motors_on_tendons_come_back),
	                                   cmocka_unit_test(motors_come_back_through_urdf),
	                                   cmocka_unit_test(formats_without_motors_name_them),
	                                   cmocka_unit_test(idle_parts_are_named)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
