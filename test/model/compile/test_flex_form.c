// SPDX-License-Identifier: Apache-2.0
/*
 * test_flex_form.c — a model of bodies whose forms are kept (model/compile/flex_form.h) has the same bits as one that
 * is compiled afresh, and every failing allocation is reported.
 */
#include "support/interpose.h"

#include <string.h>

#include "base/memory.h"
#include "model/compile/compile.h"
#include "support/random_tree.h"

/* Flexible trees of all kinds: few modes and many, second-order shapes, frequency bounds. */
static Fixture *fixture_of(uint64_t seed) {
	TreeOptions options = tree_flexible(seed);
	options.bodies = 2 + (int)(seed % 6);
	options.max_modes = seed % 3 == 0 ? 14 : 4;
	options.foreshortening = seed % 4 == 0;
	options.geometric = seed % 7 < 2;
	Fixture *f = fixture_random(seed, options, CAL_SOLVER_AUTO);
	for (int i = 0; i < f->desc->body_count; i++) {
		if (f->desc->bodies[i].flex && seed % 5 == 0)
			f->desc->bodies[i].flex->frequency_bound = 6;
	}
	return f;
}

static void keep_forms(CalDesc *desc) {
	for (int i = 0; i < desc->body_count; i++) {
		if (desc->bodies[i].flex)
			desc->bodies[i].form = flex_form_create(desc, i, CAL_MODAL_INERTIA_AUTO, &desc->allocator);
		assert_true(!desc->bodies[i].flex || desc->bodies[i].form);
	}
}

static void drop_forms(CalDesc *desc) {
	for (int i = 0; i < desc->body_count; i++) {
		memory_free(&desc->allocator, (void *)(uintptr_t)desc->bodies[i].form);
		desc->bodies[i].form = NULL;
	}
}

/* Word by word: the same, or both the address of the same place in their blocks. */
static int same_blocks(const CalModel *a, const CalModel *b) {
	const uintptr_t *x = (const uintptr_t *)(const void *)a, *y = (const uintptr_t *)(const void *)b;
	if (a->size != b->size)
		return 0;
	for (size_t i = 0; i < a->size / sizeof *x; i++) {
		const uintptr_t at = x[i] - (uintptr_t)a;
		if (x[i] != y[i] && (at >= a->size || y[i] - (uintptr_t)b != at))
			return 0;
	}
	return 1;
}

static void kept_forms_give_the_same_bits(void **state) {
	(void)state;
	int flexible = 0, bounded = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 200; seed++) {
		Fixture *f = fixture_of(seed);
		const CalCompileOptions options = {0};
		CalModel *fresh, *kept;
		check_ok(seed, compile_checked(f->desc, &options, &fresh));
		keep_forms(f->desc);
		check_ok(seed, compile_checked(f->desc, &options, &kept));
		check_that(seed, same_blocks(fresh, kept));
		flexible += fresh->flex_count;
		bounded += fresh->flex_count > 0 && seed % 5 == 0;
		cal_model_destroy(fresh);
		cal_model_destroy(kept);
		drop_forms(f->desc);
		fixture_destroy(f);
	}
	assert_true(flexible > 100 && bounded > 10);
}

/* Other ways of evaluation make forms of their own, whatever is kept. */
static void kept_forms_do_not_decide_how_inertia_is_evaluated(void **state) {
	(void)state;
	static const CalModalInertia ways[] = {CAL_MODAL_INERTIA_SUMS, CAL_MODAL_INERTIA_INVARIANTS,
	                                       CAL_MODAL_INERTIA_DENSE_INVARIANTS};
	Fixture *f = fixture_of(test_seed());
	for (int i = 0; i < 3; i++) {
		const CalCompileOptions options = {.modal_inertia = ways[i]};
		CalModel *fresh, *kept;
		check_ok(0, compile_checked(f->desc, &options, &fresh));
		keep_forms(f->desc);
		check_ok(0, compile_checked(f->desc, &options, &kept));
		assert_true(same_blocks(fresh, kept) && fresh->flex_count > 0);
		cal_model_destroy(fresh);
		cal_model_destroy(kept);
		drop_forms(f->desc);
	}
	fixture_destroy(f);
}

static void failing_allocations_lose_nothing(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	Fixture *f = fixture_of(5 * (test_seed() / 5));
	const CalCompileOptions options = {0};
	CalStatus status = CAL_ERR_MEMORY;
	long calls = 0;
	for (long fail = 1; status == CAL_ERR_MEMORY; fail++) {
		CalModel *model = NULL;
		interpose_begin(fail);
		status = compile_checked(f->desc, &options, &model);
		cal_model_destroy(status == CAL_OK ? model : NULL);
		const Interpose seen = interpose_end();
		assert_int_equal(seen.live, 0);
		calls = seen.calls;
	}
	assert_int_equal(status, CAL_OK);
	assert_true(calls > 4);
	fixture_destroy(f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_forms_give_the_same_bits),
		cmocka_unit_test(kept_forms_do_not_decide_how_inertia_is_evaluated),
		cmocka_unit_test(failing_allocations_lose_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
