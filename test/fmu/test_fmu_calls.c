// SPDX-License-Identifier: Apache-2.0
/*
 * test_fmu_calls.c — importers with mistakes: calls in a wrong order, of variables that there are none, with bytes that are no
 * state. Each is an error with a message, and the unit works afterwards. The functions are linked here, so that sanitizers see them.
 */
#define _GNU_SOURCE // mkdtemp

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fmu/fmi2_interface.h"
#include "fmu/fmi3_interface.h"
#include "support/check.h"

static const char token[] = "{01234567-89ab-cdef-0123-456789abcdef}";
static const char model_text[] = "calder: 1\n"
								 "gravity: [0, 0, -9.81]\n"
								 "bodies: {rod: {mass: 2, rod: {from: [0, 0, 0], to: [0, 0, -1]}}}\n"
								 "joints: {hinge: {type: revolute, to: rod, axis: y}}\n"
								 "state: {hinge: {q: 1 rad}}\n"
								 "run: {duration: 1}\n";
static const char variables_text[] = "calder-fmu 1 {01234567-89ab-cdef-0123-456789abcdef}\n"
									 "input\tN m\tforce:hinge\n"
									 "output\trad\tq:hinge\n"
									 "output\trad/s\tu:hinge\n";
enum { TIME, FORCE, Q, U, NONE };

static char folder[] = "/tmp/calder_fmu_XXXXXX";
static int messages;
static char last_message[1000];

static void count_message(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                          fmi3String text) {
	(void)environment, (void)status;
	assert_true(strncmp(category, "logStatus", 9) == 0);
	snprintf(last_message, sizeof last_message, "%s", text);
	messages++;
}

static void count_message_2(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status,
                            fmi2String category, fmi2String format, ...) {
	(void)environment, (void)name, (void)status, (void)category, (void)format;
	messages++;
}

static void write_file(const char *name, const char *text) {
	char path[200];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_folder(void **state) {
	(void)state;
	assert_non_null(mkdtemp(folder));
	write_file("model.yaml", model_text);
	write_file("variables.txt", variables_text);
	return 0;
}

static int remove_folder(void **state) {
	char path[200];
	(void)state;
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, i ? "model.yaml" : "variables.txt");
		unlink(path);
	}
	return rmdir(folder);
}

static fmi3Instance make(const char *with_token) {
	return fmi3InstantiateCoSimulation("unit", with_token, folder, false, true, false, false, NULL, 0, NULL,
	                                   count_message, NULL);
}

static fmi3Instance make_started(double t) {
	fmi3Instance c = make(token);
	assert_non_null(c);
	assert_int_equal(fmi3EnterInitializationMode(c, false, 0, t, false, 0), fmi3OK);
	assert_int_equal(fmi3ExitInitializationMode(c), fmi3OK);
	return c;
}

static double value_of(fmi3Instance c, fmi3ValueReference vr) {
	double value = NAN;
	assert_int_equal(fmi3GetFloat64(c, &vr, 1, &value, 1), fmi3OK);
	return value;
}

static fmi3Status step(fmi3Instance c, double t, double h, double *last) {
	bool event, terminate, early;
	return fmi3DoStep(c, t, h, true, &event, &terminate, &early, last);
}

/* Every call is refused with a message. */
#define REFUSED(call)                        \
	do {                                     \
		const int before = messages;         \
		assert_int_equal((call), fmi3Error); \
		assert_true(messages > before);      \
	} while (0)

static void wrong_order(void **state) {
	double value = 0, last;
	const fmi3ValueReference q = Q, force = FORCE, time = TIME, none = NONE;
	(void)state;
	fmi3Instance c = make(token);
	assert_non_null(c);
	REFUSED(step(c, 0, 0.1, &last));
	REFUSED(fmi3ExitInitializationMode(c));
	REFUSED(fmi3Terminate(c));
	REFUSED(fmi3GetFloat64(c, &q, 1, &value, 1)); // outputs need a start
	value = 1;
	assert_int_equal(fmi3SetFloat64(c, &force, 1, &value, 1), fmi3OK);
	REFUSED(fmi3SetFloat64(c, &q, 1, &value, 1));
	REFUSED(fmi3SetFloat64(c, &time, 1, &value, 1));
	REFUSED(fmi3SetFloat64(c, &none, 1, &value, 1));
	REFUSED(fmi3GetFloat64(c, &none, 1, &value, 1));
	REFUSED(fmi3GetFloat64(c, &force, 1, &value, 2));
	REFUSED(fmi3GetFloat64(c, NULL, 1, &value, 1));
	value = NAN;
	REFUSED(fmi3SetFloat64(c, &force, 1, &value, 1));
	REFUSED(fmi3EnterEventMode(c));
	REFUSED(fmi3EnterInitializationMode(c, true, -1, 0, false, 0));
	assert_int_equal(fmi3Reset(c), fmi3OK);
	assert_int_equal(fmi3EnterInitializationMode(c, true, 1e-6, 0, true, 1), fmi3OK);
	assert_true(value_of(c, Q) == 1);
	REFUSED(fmi3EnterInitializationMode(c, false, 0, 0, false, 0));
	assert_int_equal(fmi3ExitInitializationMode(c), fmi3OK);
	REFUSED(step(c, 0.5, 0.1, &last)); // it is at 0
	REFUSED(step(c, 0, -0.1, &last));
	REFUSED(step(c, 0, 2, &last)); // the stop time is 1
	REFUSED(fmi3DoStep(c, 0, 0.1, true, NULL, NULL, NULL, NULL));
	assert_int_equal(step(c, 0, 0.1, &last), fmi3OK);
	assert_true(last == 0.1 && value_of(c, TIME) == 0.1 && value_of(c, Q) < 1);
	assert_int_equal(fmi3Terminate(c), fmi3OK);
	REFUSED(step(c, 0.1, 0.1, &last));
	fmi3FreeInstance(c);
	fmi3FreeInstance(NULL);
}

static void resources(void **state) {
	(void)state;
	messages = 0;
	assert_null(make("{another}"));
	assert_null(make(NULL));
	assert_int_equal(messages, 2);
	assert_null(fmi3InstantiateCoSimulation("unit", token, "/nowhere", false, true, false, false, NULL, 0, NULL,
	                                        count_message, NULL));
	assert_null(fmi3InstantiateCoSimulation("unit", token, folder, false, true, true, false, NULL, 0, NULL,
	                                        count_message, NULL));
	assert_null(fmi3InstantiateModelExchange("unit", token, folder, false, true, NULL, count_message));
	assert_int_equal(messages, 5);
	static const char *const lists[] = {"", "calder-fmu 2 {x}\n", "calder-fmu 1 {x}\ninput\n",
	                                    "calder-fmu 1 {x}\noutput\trad\tq:hinge\ninput\tN m\tforce:hinge\n",
	                                    "calder-fmu 1 {x}\nparameter\t1\tmass\n"};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		write_file("variables.txt", lists[i]);
		assert_null(make("{x}"));
	}
	write_file("variables.txt", "calder-fmu 1 {x}\ninput\tN m\tforce:knee\noutput\trad\tq:hinge\n");
	fmi3Instance c = make("{x}");
	assert_non_null(c);
	assert_int_equal(fmi3EnterInitializationMode(c, false, 0, 0, false, 0), fmi3Error);
	assert_non_null(strstr(last_message, "force:knee"));
	fmi3FreeInstance(c);
	write_file("variables.txt", variables_text);
}

/* Bytes that are no state of this unit change nothing; a state of the start goes into an instance of another start. */
static void states(void **state) {
	double last, force = 3;
	size_t size = 0;
	fmi3FMUState at = NULL, other = NULL;
	const fmi3ValueReference vr = FORCE;
	(void)state;
	fmi3Instance c = make_started(5), d = make_started(0);
	assert_int_equal(fmi3SetFloat64(c, &vr, 1, &force, 1), fmi3OK);
	assert_int_equal(step(c, 5, 0.25, &last), fmi3OK);
	assert_int_equal(fmi3GetFMUState(c, &at), fmi3OK);
	assert_int_equal(fmi3GetFMUState(c, &at), fmi3OK); // replaces it
	assert_int_equal(fmi3SerializedFMUStateSize(c, at, &size), fmi3OK);
	fmi3Byte *bytes = malloc(size);
	REFUSED(fmi3SerializeFMUState(c, at, bytes, size - 1));
	assert_int_equal(fmi3SerializeFMUState(c, at, bytes, size), fmi3OK);
	for (size_t cut = 0; cut < size; cut += cut < 100 ? 1 : 97) {
		const fmi3Status status = fmi3DeserializeFMUState(d, bytes, cut, &other);
		assert_true(status == fmi3Error || fmi3SetFMUState(d, other) == fmi3Error);
	}
	uint32_t random = 1;
	for (int i = 0; i < 500; i++) { // one byte changed: refused, or a state all the same
		random = random * 1664525U + 1013904223U;
		const size_t place = random % size;
		bytes[place] ^= (fmi3Byte)(1U << (random >> 29));
		if (fmi3DeserializeFMUState(d, bytes, size, &other) == fmi3OK && fmi3SetFMUState(d, other) == fmi3OK)
			step(d, value_of(d, TIME), 0.01, &last);
		bytes[place] ^= (fmi3Byte)(1U << (random >> 29));
	}
	assert_int_equal(fmi3DeserializeFMUState(d, bytes, size, &other), fmi3OK);
	assert_int_equal(fmi3SetFMUState(d, other), fmi3OK);
	assert_true(value_of(d, TIME) == 5.25 && value_of(d, FORCE) == 3 && value_of(d, U) == value_of(c, U));
	assert_int_equal(step(c, 5.25, 0.5, &last), fmi3OK);
	assert_int_equal(step(d, 5.25, 0.5, &last), fmi3OK);
	assert_true(value_of(d, Q) == value_of(c, Q) && value_of(d, U) == value_of(c, U));
	REFUSED(fmi3SetFMUState(c, NULL));
	fmi3FreeFMUState(c, &at), fmi3FreeFMUState(d, &other), fmi3FreeFMUState(d, &other);
	free(bytes);
	fmi3FreeInstance(c), fmi3FreeInstance(d);
}

/* udot = (tau - m g l sin q)/I: its derivative by tau is 1/I, of a rod 3/(m l^2). */
static void derivative_is_that_of_a_rod(void **state) {
	(void)state;
	write_file("variables.txt", "calder-fmu 1 {x}\ninput\tN m\tforce:hinge\noutput\trad/s^2\tudot:hinge\n");
	fmi3Instance c = make("{x}");
	assert_non_null(c);
	assert_int_equal(fmi3EnterInitializationMode(c, false, 0, 0, false, 0), fmi3OK);
	const fmi3ValueReference output = 2, input = 1, none = 7;
	const double seed = 4;
	double sensitivity = 0;
	assert_int_equal(fmi3GetDirectionalDerivative(c, &output, 1, &input, 1, &seed, 1, &sensitivity, 1), fmi3OK);
	assert_true(fabs(sensitivity / 4 - 1.5) < 1e-9);
	REFUSED(fmi3GetDirectionalDerivative(c, &input, 1, &input, 1, &seed, 1, &sensitivity, 1));
	REFUSED(fmi3GetDirectionalDerivative(c, &output, 1, &none, 1, &seed, 1, &sensitivity, 1));
	fmi3FreeInstance(c);
	write_file("variables.txt", variables_text);
}

/* The location of the resources is a URI, with escapes. */
static void version_2(void **state) {
	const fmi2CallbackFunctions callbacks = {.logger = count_message_2};
	const fmi2ValueReference q = Q;
	double value = 0;
	char uri[200];
	fmi2Boolean ended = 1;
	(void)state;
	snprintf(uri, sizeof uri, "file://localhost/%%74mp%s", folder + 4);
	fmi2Component c = fmi2Instantiate("unit", fmi2CoSimulation, token, uri, &callbacks, 0, 0);
	assert_non_null(c);
	assert_null(fmi2Instantiate("unit", fmi2ModelExchange, token, uri, &callbacks, 0, 0));
	assert_null(fmi2Instantiate("unit", fmi2CoSimulation, token, "file:///nowhere%2", &callbacks, 0, 0));
	assert_int_equal(fmi2DoStep(c, 0, 0.1, 1), fmi2Error);
	assert_int_equal(fmi2SetupExperiment(c, 0, 0, 0, 0, 0), fmi2OK);
	assert_int_equal(fmi2EnterInitializationMode(c), fmi2OK);
	assert_int_equal(fmi2ExitInitializationMode(c), fmi2OK);
	assert_int_equal(fmi2DoStep(c, 0, 0.1, 1), fmi2OK);
	assert_int_equal(fmi2GetReal(c, &q, 1, &value), fmi2OK);
	assert_true(value < 1);
	assert_int_equal(fmi2GetBooleanStatus(c, fmi2Terminated, &ended), fmi2OK);
	assert_int_equal(ended, 0);
	assert_int_equal(fmi2GetInteger(c, &q, 1, &(fmi2Integer){0}), fmi2Error);
	assert_int_equal(fmi2GetInteger(c, NULL, 0, NULL), fmi2OK);
	assert_int_equal(fmi2CancelStep(c), fmi2Error);
	assert_int_equal(fmi2Terminate(c), fmi2OK);
	fmi2FreeInstance(c);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_order), cmocka_unit_test(resources),
		cmocka_unit_test(states),      cmocka_unit_test(derivative_is_that_of_a_rod),
		cmocka_unit_test(version_2),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
