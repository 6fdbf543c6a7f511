// SPDX-License-Identifier: Apache-2.0
/*
 * test_invariants_input.c — inertia invariants that no body has are refused by name; wrong calls and lack of memory.
 */
#include "support/interpose.h"

#include "invariants_sample.h"

/* What a person may get wrong. */

static void mass_in_tonnes(Sums *s) { s->in.mass /= 1000; }
static void mass_zero(Sums *s) { s->in.mass = 0; }
static void mass_nan(Sums *s) { s->in.mass = NAN; }
static void no_linear(Sums *s) { s->in.linear = NULL; }
static void shape_nan(Sums *s) { s->shape[3] = NAN; }
static void other_modes(Sums *s) { s->in.modes = 2; }
static void inertia_negative(Sums *s) { s->in.inertia.m[1][1] *= -1; }
static void inertia_skew(Sums *s) { s->in.inertia.m[0][1] += 1; }
static void inertia_small(Sums *s) {
	for (int i = 0; i < 9; i++) {
		s->in.inertia.m[i / 3][i % 3] *= 0.01;
	}
}
static void no_extent(Sums *s) { memset(&s->in.inertia, 0, sizeof s->in.inertia); }
static void position_in_mm(Sums *s) {
	for (int i = 0; i < 9 * s->in.modes; i++) {
		s->position[i] *= 1000;
	}
	for (int i = 0; i < 3 * s->in.modes; i++) {
		s->angular[i] *= 1000;
	}
}
static void shape_negative(Sums *s) { s->shape[0] *= -1; }
static void shape_skew(Sums *s) { s->shape[1] += 1; }
static void shape_pair(Sums *s) {
	s->shape[1] += 100;
	s->shape[3] += 100;
}
/* Pairs of three components contradict each other only together. */
static void shape_triple(Sums *s) {
	int m = s->in.modes;
	double own[3];
	for (int a = 0; a < m; a++) {
		own[a] = sqrt(s->shape[a * m + a]);
		s->linear[a] = 0;
	}
	for (int a = 0; a < m; a++) {
		for (int e = 0; e < m; e++) {
			s->shape[a * m + e] = (a == e ? 1 : -0.8) * own[a] * own[e];
		}
	}
}
static void modal_small(Sums *s) { s->modal[0] *= 0.5; }
static void modal_skew(Sums *s) { s->modal[1] += 1; }
static void angular_sign(Sums *s) {
	for (int i = 0; i < 3 * s->in.modes; i++) {
		s->angular[i] *= -1;
	}
}

static void mistakes_are_named(void **state) {
	(void)state;
	static const struct {
		void (*spoil)(Sums *s);
		const char *said[2];
	} rows[] = {
		{mass_in_tonnes, {"linear: along x", "is the mass in other units"}},
		{mass_zero, {"its mass is 0 kg; it must be positive"}},
		{mass_nan, {"must be positive"}},
		{no_linear, {"the invariants lack \"linear\""}},
		{shape_nan, {"\"shape\" is not finite"}},
		{other_modes, {"the invariants are of 2 modes, the stiffness of 3"}},
		{inertia_negative, {"the moment of inertia about y is negative"}},
		{inertia_skew, {"the inertia is not symmetric: xy is"}},
		{inertia_small, {"the inertia is too small", "need at least"}},
		{no_extent, {"the inertia is too small", "it is 0 kg m^2"}},
		{position_in_mm, {"the inertia is too small for the moments of position and shape", "same units"}},
		{shape_negative, {"the moment xx of mode 1 with itself is negative"}},
		{shape_skew, {"shape is not symmetric: xx of modes 2 and 1", "row and column"}},
		{shape_pair, {"the moment xx of modes 2 and 1 is", "more than their own moments allow"}},
		{shape_triple, {"no masses have these moments of shapes", "along x"}},
		{modal_small, {"modal_mass of mode 1 is", "xx + yy + zz are"}},
		{modal_skew, {"modal_mass is not symmetric: (2, 1) is"}},
		{angular_sign, {"angular: about ", "check the signs"}},
	};
	Rng r = rng_make(test_seed());
	Lumped b;
	random_lumped(&r, (Kind){.modes = 3, .count = 9, .rows = 7, .plane = 7}, &b);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CalError error = {0};
		Sums sums;
		sums_of(&b, &sums);
		rows[i].spoil(&sums);
		CalStatus status = try_sums(&b, &sums, NULL, &error);
		if (status != CAL_ERR_MODEL) {
			fail_msg("row %zu: status %d", i, (int)status);
		}
		assert_ptr_equal(strstr(error.text, "body \"boom\": "), error.text);
		for (int k = 0; k < 2 && rows[i].said[k]; k++) {
			if (!strstr(error.text, rows[i].said[k])) {
				fail_msg("row %zu: \"%s\" does not say \"%s\"", i, error.text, rows[i].said[k]);
			}
		}
	}
}

/** Modal mass beyond the shapes is of rotary inertia; a line of masses that is all has none to spare. */
static void rotary_mass_needs_rotary_inertia(void **state) {
	(void)state;
	Rng r = rng_make(test_seed());
	Lumped b;
	Sums sums;
	CalError error = {0};
	random_lumped(&r, (Kind){.modes = 1, .count = 8, .rows = 2, .plane = 0}, &b);
	sums_of(&b, &sums); // all in one point: no inertia at all
	sums.modal[0] *= 2;
	assert_int_equal(try_sums(&b, &sums, NULL, &error), CAL_ERR_MODEL);
	assert_non_null(strstr(error.text, "which is rotary inertia, but the inertia leaves none"));
}

static void wrong_calls_are_refused(void **state) {
	(void)state;
	Rng r = rng_make(test_seed());
	Lumped b;
	Sums sums;
	CalDesc *desc;
	CalFlexNode nodes[NODES];
	CalError error = {0};
	random_lumped(&r, (Kind){.modes = 2, .count = 8, .rows = 7, .plane = 7}, &b);
	sums_of(&b, &sums);
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	CalBodyId body = add_body(desc, &b, true, "boom", nodes);
	CalFlexDef def = {.modes = 2, .stiffness = b.K};
	assert_int_equal(cal_flex_set_invariants(desc, body, &def, NULL, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_flex_set_invariants(desc, (CalBodyId){7}, &def, &sums.in, &error), CAL_ERR_ARGUMENT);
	def.modes = 0;
	assert_int_equal(cal_flex_set_invariants(desc, body, &def, &sums.in, &error), CAL_ERR_MODEL);
	def.modes = 1001;
	assert_int_equal(cal_flex_set_invariants(desc, body, &def, &sums.in, &error), CAL_ERR_MODEL);
	assert_non_null(strstr(error.text, "at most 1000"));
	def.modes = 2;
	assert_int_equal(cal_flex_set_invariants(desc, body, &def, &sums.in, &error), CAL_OK);
	assert_int_equal(cal_flex_set_invariants(desc, body, &def, &sums.in, &error), CAL_ERR_MODEL);
	assert_non_null(strstr(error.text, "flexible already"));
	CalBodyId other = add_body(desc, &b, true, "other", nodes);
	CalNodeDef node = cal_node_def();
	node.name = "mass2";
	assert_int_equal(cal_desc_add_node(desc, other, &node, NULL, &error), CAL_OK);
	assert_int_equal(cal_flex_set_invariants(desc, other, &def, &sums.in, &error), CAL_ERR_MODEL);
	assert_non_null(strstr(error.text, "node \"mass2\" has a name that the invariants need"));
	cal_desc_destroy(desc);
}

static void every_allocation_may_fail(void **state) {
	(void)state;
	if (!interpose_active()) {
		skip();
	}
	Rng r = rng_make(test_seed());
	Lumped b;
	Sums sums;
	long failures = 0;
	random_lumped(&r, (Kind){.modes = 2, .count = 8, .rotary = true, .slopes = true, .rows = 7, .plane = 7}, &b);
	sums_of(&b, &sums);
	for (long k = 1;; k++) {
		CalDesc *desc;
		CalFlexNode nodes[NODES];
		CalError error = {0};
		assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
		CalBodyId body = add_body(desc, &b, true, "boom", nodes);
		interpose_begin(k);
		CalStatus status = make_flexible(desc, &b, &sums, body, nodes, &error);
		Interpose seen = interpose_end();
		cal_desc_destroy(desc);
		if (status == CAL_OK) {
			assert_true(seen.calls < k);
			break;
		}
		failures++;
		assert_int_equal(status, CAL_ERR_MEMORY);
		assert_non_null(strstr(error.text, "out of memory"));
	}
	assert_true(failures >= 4);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(rotary_mass_needs_rotary_inertia),
		cmocka_unit_test(wrong_calls_are_refused),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
