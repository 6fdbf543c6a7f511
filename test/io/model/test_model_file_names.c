// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_names.c — names of any length: objects with long names are found wherever a file refers to them, two
 * names that begin alike are not taken for one another, and the writer says where its own limit is.
 */
#include <math.h>

#include <calder/calder.h>

#include "support/model_file_support.h"

/* Two names of this many letters that differ in the last one only. */
static void make_names(char *a, char *b, size_t length) {
	memset(a, 'x', length);
	memset(b, 'x', length);
	a[length - 1] = '1';
	b[length - 1] = '2';
	a[length] = b[length] = 0;
}

/* Of every kind of object two; body 1 has one mode, body 2 has two. */
static char *model_text(size_t length) {
	static char text[60000];
	char a[2000], b[2000];
	make_names(a, b, length);
	snprintf(
		text, sizeof text,
		"calder: 1\n"
		"groups: {%s: {}, %s: {}}\n"
		"bodies:\n"
		"  %s: {mass: 1, inertia: [1, 1, 1], nodes: {%s: [1, 0, 0], %s: [2, 0, 0]}, flexible: {frequencies: 1, nodes: {%s: {mass: 1,\n"
		"    phi: [0, 1, 0]}}}}\n"
		"  %s: {mass: 1, inertia: [1, 1, 1], nodes: {%s: [1, 0, 0], %s: [2, 0, 0]}, flexible: {frequencies: [1, 2], nodes: {%s: {mass: 1,\n"
		"    phi: [[0, 0], [1, 0], [0, 1]]}}}}\n"
		"joints: {%s: {type: free, to: %s}, %s: {type: free, to: %s/%s, from: %s/%s}}\n"
		"loops: {%s: {type: spherical, from: %s/%s}, %s: {type: spherical, from: %s}}\n",
		a, b, a, a, b, b, b, a, b, b, a, a, b, b, a, a, b, a, a, a, b, b);
	snprintf(text + strlen(text), sizeof text - strlen(text),
	         "state: {%s: {eta: 1}, %s: {eta: [1, 2]}}\n"
	         "loads: [{body: %s, mode: 2, effort: 1}]\n"
	         "devices: {%s: {type: thruster, node: %s/%s, thrust: 1}, %s: {type: thruster, node: %s, thrust: 1}}\n"
	         "run: {duration: 1, output: {signals: ['q:%s.eta1', 'q:%s.qz', 'u:%s.wz', 'node:%s/%s.x', 'loop:%s.fx',\n"
	         "  'deflection:%s/%s', 'residual:%s']}}\n",
	         a, b, b, a, b, b, b, a, b, a, b, a, b, b, b, b, b);
	return text;
}

static const size_t lengths[] = {20, 59, 61, 69, 71, 99, 101, 127, 128, 129, 255, 256, 257, 300, 1000};

static void names_of_any_length_are_found(void **state) {
	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		char a[2000], b[2000], path[4100];
		make_names(a, b, lengths[i]);
		CalSetup *file = file_of(model_text(lengths[i]));
		const CalDesc *desc = cal_setup_desc(file);
		CalFlexDef flex = {0};
		CalFlexNodeInfo info = {0};
		const CalBodyId two = cal_desc_find_body(desc, b);
		assert_int_equal(cal_desc_body_count(desc), 2);
		assert_int_equal(cal_flex_body(desc, two, NULL, &flex), CAL_OK);
		assert_int_equal(flex.modes, 2);
		snprintf(path, sizeof path, "%s/%s", b, b);
		const CalNodeId node = cal_desc_find_node(desc, path);
		assert_true(node.value != 0);
		assert_near(cal_desc_node(desc, node, NULL)->placement.position.x, 2, 0);
		int found = 0;
		for (int k = 0; cal_flex_node(desc, two, k, &info) == CAL_OK; k++)
			found += strcmp(info.name, b) == 0;
		assert_int_equal(found, 1);
		CalModel *model = model_of(file, NULL);
		CalState s;
		CalError error = {0};
		assert_int_equal(cal_state_create(model, &s), CAL_OK);
		assert_int_equal(cal_setup_apply_state(file, model, &s, &error), CAL_OK);
		const CalBodyInfo carried = body_of(model, b);
		assert_int_equal(carried.modes, 2);
		assert_near(s.q[carried.q + carried.nq + 1], 2, 0);
		assert_int_equal(cal_setup_run(file).streams[0].signal_count, 7);
		cal_state_destroy(&s);
		cal_model_destroy(model);
		cal_setup_destroy(file);
	}
}

static void long_names_that_are_unknown_are_reported(void **state) {
	(void)state;
	char a[400], b[400], text[4000];
	CalSetup *file = NULL;
	CalError error = {0};
	make_names(a, b, 300);
	snprintf(text, sizeof text, "calder: 1\nbodies: {%s: {mass: 1}}\njoints: {j: {type: free, to: %s/tip}}\n", a, b);
	assert_int_equal(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "t.yaml:3:"));
	assert_non_null(strstr(error.text, "unknown body \"xxx"));
	snprintf(text, sizeof text, "calder: 1\nbodies: {%s: {mass: 1}}\njoints: {j: {type: free, to: %s/tip}}\n", a, a);
	assert_int_equal(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "has no node \"tip\""));
	snprintf(text, sizeof text,
	         "calder: 1\nbodies: {%s: {mass: 1}}\njoints: {%s: {type: free, to: %s}}\n"
	         "run: {duration: 1, output: {signals: ['q:%s.qz', 'q:%s.w']}}\n",
	         a, a, a, a, a);
	assert_int_equal(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "has no coordinate \"w\"; it has x, y, z"));
}

/* Up to 500 bytes they come back; beyond that nothing is written, and the name is reported. */
static void long_names_are_written(void **state) {
	(void)state;
	for (size_t length = 100; length <= 600; length += 100) {
		static char text[60000];
		char a[2000], b[2000];
		CalError error = {0};
		CalSetup *file = file_of(model_text(length));
		FILE *out = tmpfile();
		assert_non_null(out);
		make_names(a, b, length);
		const CalStatus status = cal_model_file_write(file, out, &error);
		rewind(out);
		text[fread(text, 1, sizeof text - 1, out)] = 0;
		fclose(out);
		if (length <= 500) {
			assert_int_equal(status, CAL_OK);
			CalSetup *again = file_of(text);
			assert_int_equal(cal_desc_find_body(cal_setup_desc(again), b).value, 2);
			assert_int_equal(cal_desc_find_loop(cal_setup_desc(again), b).value, 2);
			cal_setup_destroy(again);
		} else {
			assert_int_equal(status, CAL_ERR_UNSUPPORTED);
			assert_non_null(strstr(error.text, "at most 500 bytes"));
			assert_string_equal(text, "");
		}
		cal_setup_destroy(file);
	}
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_any_length_are_found),
		cmocka_unit_test(long_names_that_are_unknown_are_reported),
		cmocka_unit_test(long_names_are_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
