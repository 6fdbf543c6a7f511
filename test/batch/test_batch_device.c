// SPDX-License-Identifier: Apache-2.0
/*
 * test_batch_device.c — moving a batch to a device that is not there: the refusal says what to do, and the batch stays as it was.
 * Devices themselves: ./dev gpu; the code of their kernels: test/gpu.
 */
#include "batch/batch_case.h"

static void a_batch_without_a_device_is_refused_and_goes_on(void **state) {
	(void)state;
	Case c;
	CalBatch *batch = NULL;
	CalError error = {0};
	case_create(&c, 6); // rigid
	check_ok(6, cal_batch_create(c.model, NULL, &batch));
	double *before = test_doubles(STATES * c.nu + 1), *after = test_doubles(STATES * c.nu + 1);
	const CalStatus first = cal_batch_forward(batch, &c.states, &c.input, before, NULL);
	check_status(6, cal_batch_to_device(batch, &(CalBatchDevice){.index = 1 << 20}, &error), CAL_ERR_UNSUPPORTED);
	assert_int_equal(error.status, CAL_ERR_UNSUPPORTED);
	assert_true(strncmp(error.text, "cal_batch_to_device: ", 21) == 0);
#ifndef CALDER_WITH_CUDA
	assert_string_equal(error.text, "cal_batch_to_device: built without CUDA; configure with -DCALDER_WITH_CUDA=ON");
	check_status(6, cal_batch_to_device(batch, NULL, NULL), CAL_ERR_UNSUPPORTED);
#endif
	assert_string_equal(cal_batch_device(batch), "");
	assert_string_equal(cal_batch_device_error(batch), "");
	assert_true(cal_batch_device_seconds(batch) == 0);
	check_status(6, cal_batch_forward(batch, &c.states, &c.input, after, NULL), first);
	assert_memory_equal(before, after, sizeof(double) * (size_t)(STATES * c.nu));
	free(before), free(after);
	cal_batch_destroy(batch);
	case_destroy(&c);
}

static void no_batch_is_an_argument_error(void **state) {
	(void)state;
	CalError error = {0};
	check_status(0, cal_batch_to_device(NULL, NULL, &error), CAL_ERR_ARGUMENT);
	assert_string_equal(error.text, "cal_batch_to_device: batch is NULL");
	assert_string_equal(cal_batch_device(NULL), "");
	assert_string_equal(cal_batch_device_error(NULL), "");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_without_a_device_is_refused_and_goes_on),
		cmocka_unit_test(no_batch_is_an_argument_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
