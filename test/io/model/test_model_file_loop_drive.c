// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_loop_drive.c — constraint equations driven by functions of time in files: formulas, tables, CSV columns.
 *
 * References: the closed form of a drive with the same function, a joint_drive of the same joint, inverse dynamics, and the
 * energy that the mechanism has.
 */
#define _POSIX_C_SOURCE 200809L // mkstemp, fdopen

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "driven_support.h"

enum { TEXT = 3000 };

static CalStatus try_start(CalSetup *file, CalMethod method, double step, int branches, Driven *d) {
	const CalStatus status = driven_open(file, method, step, branches, branches > 1 ? 2 : 0, d);
	return status == CAL_OK ? cal_sim_restart(d->sim, &d->error) : status;
}

/* The multiplier of the only constraint equation. */
static double force_of(Driven *d, const char *loop) {
	CalSimView view;
	CalLoopInfo info;
	double lambda[32];
	assert_int_equal(cal_sim_observe(d->sim, 0, &view), CAL_OK);
	assert_int_equal(cal_model_loop(view.model, cal_model_find_loop(view.model, loop), &info), CAL_OK);
	assert_true(cal_model_row_count(view.model) <= 32);
	assert_int_equal(cal_loop_multipliers(view.model, view.work, lambda), CAL_OK);
	return lambda[info.row];
}

#define BARS   \
	THREE_BARS \
	"state: {rocker: {q: 95 deg, guess: true}, elbow: {q: -60 deg, guess: true}, crank: {q: 1.2, guess: true}}\n"
#define PIN "  pin: {type: revolute, from: coupler/end, to: rocker/end}\n"
#define FOUR_BAR BARS "loops:\n" PIN

/* A pendulum of two links; the row drives the distance of its tip from a point of the ground. */
#define PAIR                                                                                 \
	"calder: 1\n"                                                                            \
	"gravity: [0, -9.81, 0]\n"                                                               \
	"bodies:\n"                                                                              \
	"  rod: {mass: 2, rod: {from: [0, 0, 0], to: [1, 0, 0]}, nodes: {tip: [1, 0, 0]}}\n"     \
	"  bob: {mass: 1, rod: {from: [0, 0, 0], to: [0.5, 0, 0]}, nodes: {end: [0.5, 0, 0]}}\n" \
	"joints:\n"                                                                              \
	"  hinge: {type: revolute, to: rod}\n"                                                   \
	"  elbow: {type: revolute, from: rod/tip, to: bob}\n"                                    \
	"state: {hinge: {q: 0.3, guess: true}, elbow: {q: -1, guess: true}}\n"

/* The same function by numbers and by a formula, in every kind of row: a length, an angle, a sum, a speed. */
static void a_formula_is_its_closed_form(void **state) {
	(void)state;
	static const struct {
		const char *head, *loop, *numbers, *formula;
	} same[] = {
		{PAIR, "type: distance, to: bob/end, length: 1 m",
	     "offset: 20 cm, speed: 0.1 m/s, amplitude: 5 cm, frequency: 3", "20 cm + 0.1*t + 5 cm * sin(3*t)"},
		{PAIR, "type: angle, to: rod",
	     "offset: 0.3, speed: 2, acceleration: -1, amplitude: 0.4, frequency: 3, phase: 0.5",
	     "0.3 + 2*t - t^2/2 + 0.4*sin(3*t + 0.5)"},
		{PAIR, "type: coupling, terms: [{joint: hinge, factor: 2}, {joint: elbow, factor: 1}]",
	     "offset: -0.4, speed: 0.5, amplitude: 0.2, frequency: 2", "-0.4 + 0.5*t + 0.2*sin(2*t)"},
		{PAIR, "type: knife, from: rod/tip", "speed: 0.3, amplitude: 0.1, frequency: 2", "0.3*t + 0.1*sin(2*t)"},
	};
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		for (int k = 0; k < METHODS; k++) {
			double q[2][2], u[2][2], force[2];
			for (int way = 0; way < 2; way++) {
				char text[TEXT];
				snprintf(text, sizeof text, "%sloops: {motor: {%s, drive: {%s%s}}}\n", same[i].head, same[i].loop,
				         way ? "value: " : "", way ? same[i].formula : same[i].numbers);
				Driven d = start(text, methods[k], 2e-3);
				advance(&d, 0.7);
				for (int n = 0; n < 2; n++)
					q[way][n] = d.state->q[n], u[way][n] = d.state->u[n];
				force[way] = force_of(&d, "motor");
				finish(&d);
			}
			for (int n = 0; n < 2; n++) {
				assert_near(q[1][n], q[0][n], 1e-12);
				assert_near(u[1][n], u[0][n], 1e-12);
			}
			assert_near(force[1], force[0], 1e-10 * (1 + fabs(force[0])));
			assert_true(fabs(force[0]) > 1e-3);
		}
	}
}

/* A four-bar by a row and by a joint_drive of its crank: motion, torque, and the work of the torque. */
static void a_row_drives_a_crank_as_a_joint_drive_does(void **state) {
	(void)state;
	static const char *const functions[] = {"1.2 + 2*t + 0.4*sin(3*t)",
	                                        "{shape: cubic, points: [[0, 1.2], [0.4, 1.5], [1, 1], [1.7, 3.2]]}",
	                                        "[[0, 1.2], [0.63, 2.4], [1.3, 0.5]]"};
	for (int f = 0; f < 3; f++) {
		for (int k = 0; k < METHODS; k++) {
			char row[TEXT], joint[TEXT];
			snprintf(row, sizeof row, FOUR_BAR "  motor: {type: angle, to: crank, drive: {value: %s}}\n", functions[f]);
			snprintf(joint, sizeof joint, FOUR_BAR "devices: {motor: {type: joint_drive, joint: crank, q: %s}}\n",
			         functions[f]);
			Driven a = start(row, methods[k], 1e-3), b = start(joint, methods[k], 1e-3);
			for (int i = 0; i <= 6; i++) {
				double out[2];
				advance(&a, 0.31 * i);
				advance(&b, 0.31 * i);
				for (int n = 0; n < 3; n++) {
					assert_near(remainder(a.state->q[n] - b.state->q[n], 2 * 3.141592653589793), 0, 1e-11);
					assert_near(a.state->u[n], b.state->u[n], 1e-10);
				}
				const int motor = cal_sim_find_device(b.sim, "motor");
				assert_int_equal(cal_sim_device_outputs(b.sim, motor, out), CAL_OK);
				assert_near(force_of(&a, "motor"), out[0], 1e-8 * (1 + fabs(out[0])));
			}
			CalSimBalance balance, other;
			assert_int_equal(cal_sim_balance(a.sim, &balance), CAL_OK);
			assert_int_equal(cal_sim_balance(b.sim, &other), CAL_OK);
			assert_true(balance.complete && balance.supplied != 0);
			if (!(fabs(balance.error) < (k < 2 ? 1e-7 : 0.1)))
				fail_msg("%s: balance error %g J", cal_method_name(methods[k]), balance.error);
			assert_near(balance.supplied, other.supplied, k < 2 ? 1e-6 : 0.1);
			CalSimMonitor monitor;
			assert_int_equal(cal_sim_monitor(a.sim, 0, &monitor), CAL_OK);
			assert_false(monitor.energy_conserved);
			finish(&a);
			finish(&b);
		}
	}
}

/* The work of a row is integrated at the order of the method. */
static void the_account_of_rk4_has_order_four(void **state) {
	(void)state;
	double error[2];
	for (int i = 0; i < 2; i++) {
		Driven d = start(PAIR "loops: {winch: {type: distance, to: bob/end, length: 1 m,\n"
		                      "  drive: {value: 0.2 + 0.1*t + 0.05*sin(3*t)}}}\n",
		                 CAL_METHOD_RK4, i ? 5e-3 : 1e-2);
		CalSimBalance balance;
		advance(&d, 2);
		assert_int_equal(cal_sim_balance(d.sim, &balance), CAL_OK);
		assert_true(balance.complete);
		error[i] = fabs(balance.error);
		finish(&d);
	}
	if (!(error[0] / error[1] > 10 && error[0] < 1e-3))
		fail_msg("balance errors %g and %g J", error[0], error[1]);
}

/* A step that ends at the points of a table loses no order there: long steps of rk4 against short ones. */
static void steps_end_at_the_points_of_a_table(void **state) {
	(void)state;
	const char *text = PAIR "loops: {winch: {type: distance, to: bob/end, length: 1 m, drive: {value:\n"
							"  {shape: cubic, points: [[0, 0.2], [0.333, 0.3], [0.777, 0.1], [1.234, 0.25]]}}}}\n";
	double q[3];
	static const double steps[] = {1e-2, 5e-3, 5e-4};
	for (int i = 0; i < 3; i++) {
		Driven d = start(text, CAL_METHOD_RK4, steps[i]);
		advance(&d, 1.5);
		q[i] = d.state->q[0]; // the elbow follows from the distance
		finish(&d);
	}
	const double ratio = fabs(q[0] - q[2]) / fabs(q[1] - q[2]);
	if (!(ratio > 8 && fabs(q[1] - q[2]) < 1e-6))
		fail_msg("errors %g and %g", q[0] - q[2], q[1] - q[2]);
}

static void write_file(char path[64], const char *text) {
	snprintf(path, 64, "/tmp/calder_row_XXXXXX");
	const int fd = mkstemp(path);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* A column of a CSV file is the table of its points; also through what is written, and in a part of another file. */
static void a_csv_column_is_a_table(void **state) {
	(void)state;
	char csv[64], part[64], text[TEXT], whole[TEXT], *written = NULL;
	size_t size = 0;
	CalError error = {0};
	write_file(csv, "t [ms],other,angle [deg]\n0,7,60\n500,8,90\n1000,9,30\n");
	snprintf(
		text, sizeof text,
		FOUR_BAR
		"  motor: {type: angle, to: crank, drive: [{row: angle, value: {csv: %s, column: angle, shape: cubic}}]}\n",
		strrchr(csv, '/') + 1);
	write_file(part, text);
	Driven d[4];
	d[0] = start(FOUR_BAR "  motor: {type: angle, to: crank, drive:\n"
	                      "    {value: {shape: cubic, points: [[0, 60 deg], [0.5, 90 deg], [1, 30 deg]]}}}\n",
	             CAL_METHOD_RK4, 1e-3);
	CalSetup *file[3] = {0};
	assert_int_equal(cal_model_file_parse(text, strlen(text), "/tmp/t.yaml", NULL, &file[0], &error), CAL_OK);
	FILE *out = open_memstream(&written, &size);
	assert_int_equal(cal_model_file_write(file[0], out, &error), CAL_OK);
	fclose(out);
	assert_int_equal(cal_model_file_parse(written, size, "/tmp/w.yaml", NULL, &file[1], &error), CAL_OK);
	snprintf(whole, sizeof whole, "calder: 1\ngravity: [0, -9.81, 0]\nbodies: {}\nsubsystems: {bar: {file: %s}}\n",
	         part);
	if (cal_model_file_parse(whole, strlen(whole), "/u.yaml", NULL, &file[2], &error) != CAL_OK)
		fail_msg("%s", error.text);
	for (int i = 0; i < 3; i++)
		d[1 + i] = start_file(file[i], CAL_METHOD_RK4, 1e-3);
	for (int k = 1; k <= 4; k++)
		for (int i = 0; i < 4; i++) {
			advance(&d[i], 0.3 * k);
			for (int n = 0; n < 3; n++)
				assert_near(d[i].state->q[n], d[0].state->q[n], 1e-12);
		}
	free(written);
	FILE *sink = open_memstream(&written, &size);
	assert_int_equal(cal_desc_write(cal_setup_desc(file[0]), sink, &error), CAL_OK); // the description alone has it too
	fclose(sink);
	assert_non_null(strstr(written, "value: {shape: cubic, points: [[0, 1.0471975511965976]"));
	free(written);
	for (int i = 0; i < 4; i++)
		finish(&d[i]);
	remove(csv);
	remove(part);
}

/* Resumed runs are bit-identical, over points of the table and while the loop opens and closes; another table is reported. */
static void checkpoints_know_the_function(void **state) {
	(void)state;
#define MOTOR(last)                                                                                            \
	FOUR_BAR                                                                                                   \
	"  motor: {type: angle, to: crank, drive: {value: {shape: cubic, points: [[0, 1.2], [0.5, 1.5], [1, " last \
	"]]}}}\n"                                                                                                  \
	"events: {off: {at: 1.1, do: {open: motor}}}\n"
	static const double at[] = {0.31, 0.5, 1.2};
	for (int k = 0; k < 3; k++) {
		Driven d = start(MOTOR("1"), CAL_METHOD_DOPRI5, 0), again = start(MOTOR("1"), CAL_METHOD_DOPRI5, 0);
		Driven other = start(MOTOR("1.1"), CAL_METHOD_DOPRI5, 0);
		advance(&d, at[k]);
		const size_t size = cal_checkpoint_size(d.sim);
		void *bytes = malloc(size);
		size_t used;
		assert_int_equal(cal_checkpoint_take(d.sim, bytes, size, &used), CAL_OK);
		assert_int_equal(cal_checkpoint_restore(again.sim, bytes, used, &again.error), CAL_OK);
		assert_int_equal(cal_scenario_resume(again.scenario), CAL_OK);
		assert_int_not_equal(cal_checkpoint_restore(other.sim, bytes, used, &other.error), CAL_OK);
		advance(&d, 1.4);
		advance(&again, 1.4);
		assert_memory_equal(d.state->q, again.state->q, 3 * sizeof(double));
		assert_memory_equal(d.state->u, again.state->u, 3 * sizeof(double));
		free(bytes);
		finish(&d);
		finish(&again);
		finish(&other);
	}
#undef MOTOR
}

/* In branches a row is followed too, and its work is in the account. */
static void branches_follow_the_function(void **state) {
	(void)state;
	char text[TEXT * 2], *at = text;
	enum { LINKS = 24 };
	at += sprintf(at, "calder: 1\ngravity: [0, 0, -9.81]\nbodies:\n");
	for (int i = 0; i < LINKS; i++)
		at += sprintf(at, "  b%d: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}, nodes: {end: [0.2, 0, 0]}}\n", i);
	at += sprintf(at, "joints:\n  j0: {type: revolute, axis: y, to: b0}\n");
	for (int i = 1; i < LINKS; i++)
		at +=
			sprintf(at, "  j%d: {type: revolute, axis: %s, from: b%d/end, to: b%d}\n", i, i % 2 ? "z" : "y", i - 1, i);
	sprintf(at, "loops: {motor: {type: coupling, terms: [{joint: j12, factor: 1}], drive: {value: 0.5*sin(t)}}}\n");
	double q[2][LINKS];
	for (int k = 0; k < 2; k++) {
		Driven d;
		CalSimBalance balance;
		assert_int_equal(try_start(file_of(text), CAL_METHOD_RK4, 1e-3, k ? 4 : 0, &d), CAL_OK);
		advance(&d, 0.1);
		assert_true(k == 0 || cal_branches_count(cal_sim_branches(d.sim, 0)) > 1);
		assert_int_equal(cal_sim_balance(d.sim, &balance), CAL_OK);
		assert_true(balance.complete && balance.supplied != 0);
		assert_true(fabs(balance.error) < 1e-6);
		memcpy(q[k], d.state->q, sizeof q[k]);
		assert_near(q[k][12], 0.5 * sin(0.1), 1e-12);
		finish(&d);
	}
	for (int i = 0; i < LINKS; i++)
		assert_near(q[1][i], q[0][i], 1e-9);
}

/* A bend at a time that is also the end of an advance is seen. */
static void a_function_whose_speed_jumps_is_doubtful(void **state) {
	(void)state;
	static const double ends[][2] = {{0.9, 1.5}, {1, 1.5}};
	for (int i = 0; i < 2; i++) {
		Driven d = start(FOUR_BAR "  motor: {type: angle, to: crank, drive: {value: 'max(t - 1 s, 0 s)*2 + 1.2'}}\n",
		                 CAL_METHOD_DOPRI5, 0);
		CalDoubt doubt;
		assert_int_equal(cal_sim_doubt_count(d.sim), 0);
		advance(&d, ends[i][0]);
		advance(&d, ends[i][1]);
		assert_int_equal(cal_sim_doubt(d.sim, 0, &doubt), CAL_OK);
		assert_int_equal(doubt.kind, CAL_DOUBT_FORMULA);
		if (!strstr(doubt.text, "row \"motor.angle\": its function jumps at t = 1 s, by 4e-12 in its value and 2 in") &&
		    !strstr(doubt.text, "row \"motor.angle\": its function jumps at t = 1 s, by 2e-12 in its value and 2 in"))
			fail_msg("%s", doubt.text);
		finish(&d);
	}
}

static void mistakes_are_reported(void **state) {
	(void)state;
	static const struct {
		const char *drive, *text;
	} bad[] = {
		{"{value: {shape: linear, points: [[0, 0], [1, 1]]}}", "loop \"motor\": the speed of its table jumps"},
		{"{value: {shape: step, points: [[0, 0], [1, 1]]}}", "loop \"motor\": the speed of its table jumps"},
		{"{value: 0.5*q(elbow)}", "only formulas of the time t can be used here"},
		{"{value: 't > 1'}", "is a condition"},
		{"{value: 1 m}", "wrong unit"},
		{"{value: t, speed: 2}", "not both; put \"speed\" into the function"},
		{"{value: }", "value"},
		{"{value: {csv: not_there.csv}}", "not_there.csv"},
		{"{row: dx, value: t}", "has no row \"dx\""},
		{"[{value: t}, {speed: 1}]", "is driven twice"},
		{"{value: 1.2 + sqrt(t - 1)}", "row \"motor.angle\": its function is not finite at t = 0 s"},
		{"{value: 1.2 + sqrt(0.5 - t)}", "row \"motor.angle\": its function is not finite at t = 0.50"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[TEXT];
		CalSetup *file = NULL;
		CalError error = {0};
		Driven d = {0};
		snprintf(text, sizeof text, FOUR_BAR "  motor: {type: angle, to: crank, drive: %s}\n", bad[i].drive);
		CalStatus status = cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error);
		if (status == CAL_OK) {
			status = try_start(file, CAL_METHOD_DOPRI5, 0, 0, &d);
			if (status == CAL_OK)
				status = cal_sim_advance(d.sim, 1, &d.error);
			error = d.error;
		} else {
			assert_non_null(strstr(error.text, "t.yaml:"));
		}
		if (status == CAL_OK || !strstr(error.text, bad[i].text))
			fail_msg("\"%s\" gives \"%s\", which lacks \"%s\"", bad[i].drive, error.text, bad[i].text);
		finish(&d);
		if (!d.file)
			cal_setup_destroy(file);
	}
}

/* From C: the function is copied, and what cannot be followed is refused. */
static void functions_are_made_in_c(void **state) {
	(void)state;
	double time[] = {0, 1, 2}, value[] = {0, 2, 1};
	CalTimeFunction function = {.table = {CAL_TABLE_CUBIC, 3, time, value}};
	CalDriveFunction *made = NULL, *other = NULL;
	CalError error = {0};
	assert_int_equal(cal_drive_function_create(&function, NULL, &made, &error), CAL_OK);
	value[1] = 7;
	const CalDrive drive = cal_drive_function_of(made);
	double jet[3];
	drive.fn(drive.user, 1, &jet[0], &jet[1], &jet[2]);
	assert_true(jet[0] == 2 && jet[1] == 0.5);
	assert_true(drive.next_switch(drive.user, 0.5) == 1 && drive.next_switch(drive.user, 1) == 2);
	assert_true(isinf(drive.next_switch(drive.user, 2)));
	assert_int_equal(cal_drive_function_create(&function, NULL, &other, &error), CAL_OK);
	assert_true(drive.identity != 0 && cal_drive_function_of(other).identity != drive.identity);
	cal_drive_function_destroy(made);
	cal_drive_function_destroy(other);
	time[2] = 1;
	assert_int_equal(cal_drive_function_create(&function, NULL, &made, &error), CAL_ERR_ARGUMENT);
	time[2] = NAN;
	assert_int_equal(cal_drive_function_create(&function, NULL, &made, &error), CAL_ERR_ARGUMENT);
	function = (CalTimeFunction){.formula = "q(hinge)"};
	assert_int_equal(cal_drive_function_create(&function, NULL, &made, &error), CAL_ERR_ARGUMENT);
	function = (CalTimeFunction){.formula = "2*"};
	assert_int_equal(cal_drive_function_create(&function, NULL, &made, &error), CAL_ERR_INPUT);
	function = (CalTimeFunction){0};
	assert_int_equal(cal_drive_function_create(&function, NULL, &made, &error), CAL_ERR_ARGUMENT);
	assert_null(made);
	assert_null(cal_drive_function_of(NULL).fn);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_formula_is_its_closed_form),
		cmocka_unit_test(a_row_drives_a_crank_as_a_joint_drive_does),
		cmocka_unit_test(the_account_of_rk4_has_order_four),
		cmocka_unit_test(steps_end_at_the_points_of_a_table),
		cmocka_unit_test(a_csv_column_is_a_table),
		cmocka_unit_test(checkpoints_know_the_function),
		cmocka_unit_test(branches_follow_the_function),
		cmocka_unit_test(a_function_whose_speed_jumps_is_doubtful),
		cmocka_unit_test(mistakes_are_reported),
		cmocka_unit_test(functions_are_made_in_c),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
