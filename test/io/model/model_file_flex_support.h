// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_flex_support.h — flexible bodies of a file against those that the C interface makes, and rows of mistakes.
 */
#ifndef TEST_IO_MODEL_MODEL_FILE_FLEX_SUPPORT_H
#define TEST_IO_MODEL_MODEL_FILE_FLEX_SUPPORT_H

#include "support/model_file_support.h"

#include <math.h>

#include <calder/flex.h>

/** Fails unless two arrays (or NULLs) agree to `tolerance` of their largest entry; 0: to the last bit. */
static inline void assert_same(const char *what, const double *got, const double *want, int count, double tolerance) {
	double size = 0;
	if (!got != !want)
		fail_msg("%s is %s", what, got ? "there" : "missing");
	for (int i = 0; want && i < count; i++)
		size = fmax(size, fabs(want[i]));
	for (int i = 0; want && i < count; i++) {
		if (!(fabs(got[i] - want[i]) <= tolerance * size))
			fail_msg("%s[%d] is %.17g, expected %.17g", what, i, got[i], want[i]);
	}
}

/** The same body in two descriptions: rigid part, modes, forces, nodes with their names, places, masses and shapes. */
static inline void assert_same_body(const CalDesc *a, const CalDesc *b, const char *name, double tolerance) {
	const CalBodyId ia = cal_desc_find_body(a, name), ib = cal_desc_find_body(b, name);
	CalBodyDef ra, rb;
	CalFlexDef fa, fb;
	assert_int_equal(cal_flex_body(a, ia, &ra, &fa), CAL_OK);
	assert_int_equal(cal_flex_body(b, ib, &rb, &fb), CAL_OK);
	const int m = fb.modes;
	assert_true(m > 0);
	assert_int_equal(fa.modes, m);
	assert_int_equal(fa.node_count, fb.node_count);
	assert_same("mass", &ra.mass, &rb.mass, 1, tolerance);
	assert_same("stiffness", fa.stiffness, fb.stiffness, m * m, tolerance);
	assert_same("damping", fa.damping, fb.damping, m * m, tolerance);
	assert_same("bound", &fa.frequency_bound, &fb.frequency_bound, 1, tolerance);
	for (int i = 0;; i++) {
		CalFlexNodeInfo na, nb;
		const CalStatus status = cal_flex_node(b, ib, i, &nb);
		assert_int_equal(cal_flex_node(a, ia, i, &na), status);
		if (status != CAL_OK)
			break;
		assert_string_equal(na.name, nb.name);
		assert_same("position", &na.placement.position.x, &nb.placement.position.x, 3, tolerance);
		assert_same("node mass", &na.flex.mass, &nb.flex.mass, 1, tolerance);
		assert_same("node inertia", &na.flex.inertia.m[0][0], &nb.flex.inertia.m[0][0], 9, tolerance);
		assert_same("phi", na.flex.phi, nb.flex.phi, 3 * m, tolerance);
		assert_same("psi", na.flex.psi, nb.flex.psi, 3 * m, tolerance);
		assert_same("phi2", na.flex.phi2, nb.flex.phi2, 3 * m * m, tolerance);
	}
}

/* A mistake: `text` stands for %s in a file. The message begins with the place of `at`, and holds what is said. */
typedef struct Mistake {
	const char *text;
	const char *at; // its first occurrence in text, or else in the file
	const char *said[3];
} Mistake;

static inline void refuse_all(const char *format, const Mistake *rows, size_t count) {
	for (size_t i = 0; i < count; i++) {
		char text[4000], place[64];
		CalSetup *file = NULL;
		CalError error = {0};
		const char *hole = strstr(format, "%s");
		assert_non_null(hole);
		snprintf(text, sizeof text, "%.*s%s%s", (int)(hole - format), format, rows[i].text, hole + 2);
		const char *at = strstr(text + (hole - format), rows[i].at);
		at = at ? at : strstr(text, rows[i].at);
		assert_non_null(at);
		int line = 1, column = 1;
		for (const char *c = text; c < at; c++, column = c[-1] == '\n' ? 1 : column + 1)
			line += *c == '\n';
		if (cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error) == CAL_OK)
			fail_msg("accepted: %s", rows[i].text);
		assert_null(file);
		snprintf(place, sizeof place, "t.yaml:%d:%d: error: ", line, column);
		if (strncmp(error.text, place, strlen(place)) != 0)
			fail_msg("%s: \"%s\" does not begin with \"%s\"", rows[i].text, error.text, place);
		for (int k = 0; k < 3 && rows[i].said[k]; k++) {
			if (!strstr(error.text, rows[i].said[k]))
				fail_msg("%s: \"%s\" does not say \"%s\"", rows[i].text, error.text, rows[i].said[k]);
		}
	}
}

#define REFUSE_ALL(format, rows) refuse_all(format, rows, sizeof(rows) / sizeof((rows)[0]))

#endif
