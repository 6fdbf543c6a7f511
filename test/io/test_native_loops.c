// SPDX-License-Identifier: Apache-2.0
/*
 * test_native_loops.c — loops in native files: every type and key, what is refused and where, a run that starts from a
 * rough state, and one that cannot be closed.
 */
#include <math.h>

#include <calder/calder.h>
#include "native_support.h"

#define HEAD                                                         \
	"calder: 1\n"                                                    \
	"bodies:\n"                                                      \
	"  a: {mass: 1, box: [1, 1, 1], nodes: {end: [1, 0, 0]}}\n"      \
	"  b: {mass: 1, box: [1, 1, 1], nodes: {end: [1, 0, 0]}}\n"      \
	"joints:\n"                                                      \
	"  ja: {type: revolute, to: a, axis: z}\n"                       \
	"  jb: {type: revolute, to: b, axis: z, inboard: [0.5, 0, 0]}\n" \
	"loops:\n"

static void every_type_is_read(void **state) {
	(void)state;
	for (int type = 0; type < CAL_LOOP_TYPE_COUNT; type++) {
		char text[1000];
		snprintf(text, sizeof text, HEAD "  tie: {type: %s, from: a/end%s%s, a: {at: [0, 1 mm, 0]}}\n",
		         cal_loop_type_name((CalLoopType)type), type == CAL_LOOP_KNIFE ? "" : ", to: b/end, b: [0, 0, 2 mm]",
		         type == CAL_LOOP_DISTANCE ? ", length: 30 cm" : "");
		CalFile *file = file_of(text);
		CalModel *model = model_of(file, NULL);
		CalLoopInfo info;
		assert_int_equal(cal_model_loop_count(model), 1);
		assert_int_equal(cal_model_loop(model, cal_model_find_loop(model, "tie"), &info), CAL_OK);
		assert_int_equal(info.type, type);
		assert_int_equal(info.node_a, cal_model_find_node(model, "a/end"));
		assert_int_equal(info.node_b, type == CAL_LOOP_KNIFE ? -1 : cal_model_find_node(model, "b/end"));
		assert_near(info.a.position.y, 1e-3, 1e-18);
		assert_near(info.b.position.z, type == CAL_LOOP_KNIFE ? 0 : 2e-3, 1e-18);
		cal_model_destroy(model);
		cal_file_destroy(file);
	}
}

static void mistakes_are_told_with_their_place(void **state) {
	(void)state;
	static const struct {
		const char *loop, *place, *text;
	} bad[] = {
		{"{type: revolut, from: a, to: b}", "t.yaml:9:15", "did you mean \"revolute\""},
		{"{type: weld, from: a, to: b/ned}", "t.yaml:9:34", "ned"},
		{"{type: weld, from: a, to: b, length: 1}", "t.yaml:9:", "a weld loop has no \"length\""},
		{"{type: distance, from: a, to: b}", "t.yaml:9:", "needs the key \"length\""},
		{"{type: knife, from: a, to: b}", "t.yaml:9:", "a knife has one side"},
		{"{type: weld}", "t.yaml:9:", "both sides are on the ground"},
		{"{type: weld, form: a}", "t.yaml:9:", "did you mean \"from\""},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[1000];
		CalFile *file = NULL;
		CalError error = {0};
		snprintf(text, sizeof text, HEAD "  tie: %s\n", bad[i].loop);
		assert_int_not_equal(cal_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_OK);
		if (!strstr(error.text, bad[i].place) || !strstr(error.text, bad[i].text))
			fail_msg("%s\n  should say %s ... %s", error.text, bad[i].place, bad[i].text);
	}
}

/* Rods from two pivots 0.5 m apart, tips 0.3 m apart: closed from a rough state, energy kept; 3 m apart is too far. */
static void a_run_closes_its_loops(void **state) {
	(void)state;
	for (int far = 0; far < 2; far++) {
		char text[1000];
		CalError error = {0};
		CalSim *sim = NULL;
		const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}};
		snprintf(text, sizeof text,
		         HEAD "  tie: {type: distance, from: a/end, to: b/end, length: %s}\n"
		              "state: {ja: {q: 1, u: 2}, jb: {q: 0.9}}\n",
		         far ? "3 m" : "0.3 m");
		CalFile *file = file_of(text);
		assert_int_equal(cal_sim_create(cal_file_desc(file), &options, &sim, &error), CAL_OK);
		assert_int_equal(cal_file_state(file, cal_sim_model(sim, 0), cal_sim_state(sim, 0), &error), CAL_OK);
		const CalStatus status = cal_sim_restart(sim, &error);
		if (far) {
			assert_int_equal(status, CAL_NOT_CONVERGED);
			assert_non_null(strstr(error.text, "tie.distance is off by"));
		} else {
			CalWork *work;
			double g;
			assert_int_equal(status, CAL_OK);
			assert_int_equal(cal_sim_advance(sim, 1, &error), CAL_OK);
			assert_int_equal(cal_work_create(cal_sim_model(sim, 0), &work), CAL_OK);
			assert_int_equal(cal_loop_residual(cal_sim_model(sim, 0), cal_sim_state(sim, 0), work, &g, NULL), CAL_OK);
			assert_true(fabs(g) < 1e-12);
			cal_work_destroy(work);
		}
		cal_sim_destroy(sim);
		cal_file_destroy(file);
	}
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_read),
		cmocka_unit_test(mistakes_are_told_with_their_place),
		cmocka_unit_test(a_run_closes_its_loops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
