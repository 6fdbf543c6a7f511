// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_view.c — how a run is looked at: the key `view`, its mistakes, and the settings written back.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include <calder/view.h>
#include <math.h>

#include "support/model_file_support.h"

#define BODIES                                            \
	"calder: 1\n"                                         \
	"bodies: {hub: {mass: 5, nodes: {tip: [1, 0, 0]}}}\n" \
	"joints: {a: {type: free, to: hub}}\n"                \
	"events: {go: {at: 2 s, do: {note: it goes}}}\n"

static const char model[] = BODIES "view:\n"
								   "  card: A hub\n"
								   "  start: 500 ms\n"
								   "  speed: 5\n"
								   "  arrows: 0\n"
								   "  deformation: 20\n"
								   "  light: [0, -3, 4]\n"
								   "  camera: wide\n"
								   "  cameras:\n"
								   "    wide: {from: [5, -6, 7 m], at: [0, 0, 1], orthographic: true}\n"
								   "    chase: {body: hub, from: [-3, 0, 1]}\n"
								   "    eye: {body: hub, onboard: true, from: [1, 0, 0], at: [2, 0, 0]}\n"
								   "  plots: ['q:a.x, q:a.y', energy]\n"
								   "  trails: [hub, hub/tip]\n"
								   "  steps:\n"
								   "    - {at: 1 s, camera: chase, caption: 'First: it waits'}\n"
								   "    - {event: go, delay: -1.5 s, camera: eye}\n"
								   "    - {event: go, caption: It goes}\n";

static void check_settings(const CalSetup *setup) {
	CalViewSettings view;
	assert_true(cal_setup_view(setup, &view));
	assert_string_equal(view.card, "A hub");
	assert_true(view.start == 0.5 && view.speed == 5 && view.arrows == 0 && view.deformation == 20);
	assert_true(view.light.x == 0 && view.light.y == -3 && view.light.z == 4);
	assert_string_equal(view.camera, "wide");
	assert_int_equal(view.camera_count, 3);
	assert_int_equal(view.cameras[0].kind, CAL_CAMERA_FIXED);
	assert_true(view.cameras[0].from.z == 7 && view.cameras[0].at.z == 1 && view.cameras[0].orthographic);
	assert_int_equal(view.cameras[1].kind, CAL_CAMERA_FOLLOWING);
	assert_int_equal(view.cameras[1].body.value, cal_desc_find_body(cal_setup_desc(setup), "hub").value);
	assert_int_equal(view.cameras[2].kind, CAL_CAMERA_ONBOARD);
	assert_string_equal(cal_camera_name(view.cameras[2].kind), "onboard");
	assert_int_equal(view.plot_count, 2);
	assert_string_equal(view.plots[0], "q:a.x, q:a.y");
	assert_int_equal(view.trail_count, 2);
	assert_string_equal(view.trails[1], "hub/tip");
	assert_int_equal(view.step_count, 3);
	assert_true(view.steps[0].time == 1 && !view.steps[0].event);
	assert_string_equal(view.steps[0].caption, "First: it waits");
	assert_true(view.steps[1].time == -1.5 && !view.steps[1].caption);
	assert_string_equal(view.steps[1].event, "go");
	assert_true(view.steps[2].time == 0 && !view.steps[2].camera);
}

/* As the text of the file, and, after it was released, from the setup. */
static void settings_are_read_and_written_back(void **state) {
	(void)state;
	for (int trimmed = 0; trimmed < 2; trimmed++) {
		CalSetup *file = file_of(model);
		check_settings(file);
		char *text = NULL;
		size_t length = 0;
		FILE *out = open_memstream(&text, &length);
		assert_non_null(out);
		if (trimmed)
			cal_model_file_trim(file);
		assert_int_equal(cal_model_file_write(file, out, NULL), CAL_OK);
		fclose(out);
		CalSetup *again = file_of(text);
		check_settings(again);
		cal_setup_destroy(again);
		cal_setup_destroy(file);
		free(text);
	}
}

static void a_file_without_them_has_none(void **state) {
	(void)state;
	CalSetup *file = file_of(BODIES);
	CalViewSettings view;
	assert_false(cal_setup_view(file, &view));
	assert_true(view.arrows == 1 && view.deformation == 1 && view.camera_count == 0);
	cal_setup_destroy(file);
}

static void mistakes_are_named_with_their_place(void **state) {
	(void)state;
	static const char *const cases[][2] = {
		{"view: {cameras: {a: {from: [1, 0, 0]}}, camera: b}\n", "text:5:49: error: view: unknown camera \"b\""},
		{"view: {cameras: {a: {body: hbu, from: [1, 0, 0]}}}\n", "did you mean \"hub\""},
		{"view: {cameras: {a: {onboard: true, from: [1, 0, 0]}}}\n", "one that is onboard needs its \"body\""},
		{"view: {cameras: {a: {from: [0, 0, 0]}}}\n", "aimed at the place where it is"},
		{"view: {cameras: {a: {at: [0, 0, 0]}}}\n", "from"},
		{"view: {steps: [{caption: no time}]}\n", "give one of the two"},
		{"view: {steps: [{at: 1, delay: 2}]}\n", "\"delay\" counts from an \"event\""},
		{"view: {steps: [{event: stop}]}\n", "there is no event \"stop\""},
		{"view: {steps: [{at: 1, camera: c}]}\n", "unknown camera \"c\""},
		{"view: {trails: [hub/top]}\n", "did you mean"},
		{"view: {speed: 0}\n", "speed"},
		{"view: {arrows: -1}\n", "arrows"},
		{"view: {zoom: 2}\n", "unknown key \"zoom\""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[1000];
		CalSetup *file = NULL;
		CalError error = {0};
		snprintf(text, sizeof text, "%s%s", BODIES, cases[i][0]);
		assert_int_equal(cal_model_file_parse(text, strlen(text), "text", NULL, &file, &error) < 0, 1);
		if (!strstr(error.text, cases[i][1]))
			fail_msg("\"%s\" does not say \"%s\"", error.text, cases[i][1]);
	}
}

static void a_light_that_is_not_finite_is_refused(void **state) {
	(void)state;
	CalSetup *file = file_of(BODIES);
	CalViewSettings view = cal_view_settings_def();
	CalError error = {0};
	view.light.y = INFINITY;
	assert_int_equal(cal_setup_set_view(file, &view, &error), CAL_ERR_MODEL);
	assert_string_equal(error.text, "view settings: the light is not finite");
	cal_setup_destroy(file);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_read_and_written_back),
		cmocka_unit_test(a_file_without_them_has_none),
		cmocka_unit_test(mistakes_are_named_with_their_place),
		cmocka_unit_test(a_light_that_is_not_finite_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
