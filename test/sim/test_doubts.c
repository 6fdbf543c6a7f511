// SPDX-License-Identifier: Apache-2.0
/*
 * test_doubts.c — what there is to doubt in a run: the list, what keeps it, and the result files that report it.
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <calder/calder.h>

#include "wheel.h"

static CalDoubt doubt_of(CalDoubtKind kind, const char *object, double value, const char *text) {
	CalDoubt doubt = {.kind = kind, .time = 0.5, .value = value, .limit = 1};
	snprintf(doubt.object, sizeof doubt.object, "%s", object);
	snprintf(doubt.text, sizeof doubt.text, "%s", text);
	return doubt;
}

static void add(CalSim *sim, CalDoubtKind kind, const char *object, double value, const char *text) {
	const CalDoubt doubt = doubt_of(kind, object, value, text);
	check_ok(0, cal_sim_add_doubt(sim, &doubt));
}

static void each_pair_of_kind_and_object_has_one_entry_with_the_worst_of_it(void **state) {
	(void)state;
	CalSim *sim = wheel_create(0);
	CalDoubt doubt;
	add(sim, CAL_DOUBT_STABILITY, "device \"a\"", 2, "two");
	add(sim, CAL_DOUBT_STABILITY, "device \"b\"", 7, "seven");
	add(sim, CAL_DOUBT_CONTACT, "device \"a\"", 1, "one");
	add(sim, CAL_DOUBT_STABILITY, "device \"a\"", 3, "three");
	add(sim, CAL_DOUBT_STABILITY, "device \"a\"", 2.5, "two and a half");
	assert_int_equal(cal_sim_doubt_count(sim), 3);
	check_ok(0, cal_sim_doubt(sim, 0, &doubt));
	assert_int_equal(doubt.count, 3);
	assert_string_equal(doubt.text, "three");
	assert_true(doubt.value == 3 && doubt.time == 0.5);
	check_ok(0, cal_sim_doubt(sim, 2, &doubt));
	assert_string_equal(doubt.text, "one");
	assert_int_equal(cal_sim_doubt(sim, 3, &doubt), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_sim_add_doubt(sim, &(CalDoubt){.kind = CAL_DOUBT_KINDS}), CAL_ERR_ARGUMENT);
	cal_sim_destroy(sim);
}

static void what_finds_no_room_is_counted(void **state) {
	(void)state;
	CalSim *sim = wheel_create(0);
	for (int i = 0; i < CAL_MAX_DOUBTS + 5; i++) {
		char object[16];
		snprintf(object, sizeof object, "%d", i);
		add(sim, CAL_DOUBT_OTHER, object, 1, "text");
	}
	add(sim, CAL_DOUBT_OTHER, "0", 1, "text"); // has an entry
	assert_int_equal(cal_sim_doubt_count(sim), CAL_MAX_DOUBTS);
	assert_int_equal(cal_sim_doubts_left_out(sim), 5);
	cal_sim_destroy(sim);
}

/* A device that doubts itself at each of its samples. */
static int warn(const CalDevice *device, CalEvalContext *context, double *x) {
	CalDoubt doubt = doubt_of(CAL_DOUBT_OTHER, "device \"d\"", cal_context_time(context), "it is late");
	(void)device, (void)x;
	doubt.time = cal_context_time(context);
	return cal_context_add_doubt(context, &doubt) != CAL_OK;
}

static int do_nothing(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)device, (void)context, (void)xdot;
	return 0;
}

static void devices_can_doubt(void **state) {
	(void)state;
	static const CalDeviceOps ops = {.type = "doubter", .evaluate = do_nothing, .sample = warn};
	const CalDeviceDef def = {.name = "d", .ops = &ops, .sample_period = 0.25, .sample_offset = 0.25};
	CalSim *sim = wheel_create(0);
	CalDoubt doubt;
	check_ok(0, cal_sim_add_device(sim, &def, NULL, NULL));
	check_ok(0, cal_sim_advance(sim, 1, NULL));
	assert_int_equal(cal_sim_doubt_count(sim), 1);
	check_ok(0, cal_sim_doubt(sim, 0, &doubt));
	assert_int_equal(doubt.count, 4);
	assert_true(doubt.time == 0.25 && doubt.value == 1);
	cal_sim_destroy(sim);
}

static void every_kind_has_a_name(void **state) {
	(void)state;
	for (int i = 0; i < CAL_DOUBT_KINDS; i++) {
		assert_non_null(cal_doubt_name((CalDoubtKind)i));
		assert_true(strlen(cal_doubt_name((CalDoubtKind)i)) < 16); // as result files hold it
	}
	assert_null(cal_doubt_name(CAL_DOUBT_KINDS));
}

static void a_checkpoint_keeps_them_and_a_new_run_forgets_them(void **state) {
	(void)state;
	CalSim *sim = wheel_create(0), *other = wheel_create(0);
	char memory[32768];
	CalDoubt doubt;
	const size_t size = cal_checkpoint_size(sim);
	add(sim, CAL_DOUBT_BALANCE, "", 4, "four");
	assert_true(cal_checkpoint_size(sim) == size);
	check_ok(0, cal_checkpoint_take(sim, memory, sizeof memory, NULL));
	check_ok(0, cal_checkpoint_restore(other, memory, size, NULL));
	assert_int_equal(cal_sim_doubt_count(other), 1);
	check_ok(0, cal_sim_doubt(other, 0, &doubt));
	assert_string_equal(doubt.text, "four");
	check_ok(0, cal_sim_restart(other, NULL));
	assert_int_equal(cal_sim_doubt_count(other), 0);
	cal_sim_destroy(sim);
	cal_sim_destroy(other);
}

/* ---- result files -------------------------------------------------------------------------------- */

static CalStatus write_file(const char *path, const CalIntegratorOptions *method, const CalDoubt *doubts, int count) {
	static const CalResultsColumn columns[] = {{"t", "s"}};
	const CalResultsStream stream = {.name = "main", .path = path, .columns = columns, .column_count = 1};
	const CalResultsOptions options = {.streams = &stream, .stream_count = 1, .method = method};
	CalResults *results;
	CalStatus status = cal_results_create(&options, &results, NULL);
	if (status != CAL_OK)
		return status;
	check_ok(0, cal_results_put(results, 0, &(double){0.25}));
	check_ok(0, cal_results_set_doubts(results, doubts, count));
	check_ok(0, cal_results_finish(results, NULL));
	cal_results_destroy(results);
	return CAL_OK;
}

static void hdf5_holds_doubts_and_the_tolerances_that_were_used(void **state) {
	(void)state;
	const char *path = "test_doubts.h5";
	CalDoubt doubts[2] = {doubt_of(CAL_DOUBT_BALANCE, "", 4, "the balance"),
	                      doubt_of(CAL_DOUBT_CONTACT, "device \"wall\"", NAN, "a contact")};
	doubts[1].count = 12;
	const CalStatus status = write_file(path, &(CalIntegratorOptions){.method = CAL_METHOD_DOPRI5}, doubts, 2);
	if (status == CAL_ERR_UNSUPPORTED)
		skip(); // a build without HDF5
	check_ok(0, status);
	CalResultsAbout about;
	check_ok(0, cal_results_about(path, &about, NULL));
	assert_int_equal(about.doubt_count, 2);
	assert_int_equal(about.doubts[0].kind, CAL_DOUBT_BALANCE);
	assert_true(about.doubts[0].value == 4 && about.doubts[0].limit == 1 && about.doubts[0].time == 0.5);
	assert_string_equal(about.doubts[1].object, "device \"wall\"");
	assert_string_equal(about.doubts[1].text, "a contact");
	assert_int_equal(about.doubts[1].count, 12);
	assert_true(isnan(about.doubts[1].value));
	assert_string_equal(about.method, "dopri5");
	assert_true(about.rtol == 1e-9 && about.atol == 1e-12); // the defaults, not 0
	assert_true(about.closed);
	cal_results_about_free(&about);
	check_ok(0,
	         write_file(path, &(CalIntegratorOptions){.method = CAL_METHOD_RK4, .step = 0.1, .rtol = 1e-3}, NULL, 0));
	check_ok(0, cal_results_about(path, &about, NULL));
	assert_int_equal(about.doubt_count, 0);
	assert_true(about.step == 0.1 && about.rtol == 0 && about.atol == 0); // it has no tolerance
	cal_results_about_free(&about);
	unlink(path);
}

static void csv_ends_with_them(void **state) {
	(void)state;
	const char *path = "test_doubts.csv";
	const CalDoubt doubts[1] = {doubt_of(CAL_DOUBT_BALANCE, "", 4, "the balance\nis off")};
	char text[400] = "";
	check_ok(0, write_file(path, NULL, doubts, 1));
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, sizeof text - 1, file) > 0);
	fclose(file);
	assert_string_equal(text, "t [s]\n0.25\n# doubt (balance): the balance is off\n");
	unlink(path);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pair_of_kind_and_object_has_one_entry_with_the_worst_of_it),
		cmocka_unit_test(what_finds_no_room_is_counted),
		cmocka_unit_test(devices_can_doubt),
		cmocka_unit_test(every_kind_has_a_name),
		cmocka_unit_test(a_checkpoint_keeps_them_and_a_new_run_forgets_them),
		cmocka_unit_test(hdf5_holds_doubts_and_the_tolerances_that_were_used),
		cmocka_unit_test(csv_ends_with_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
