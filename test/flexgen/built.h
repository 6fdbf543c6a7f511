// SPDX-License-Identifier: Apache-2.0
/*
 * built.h — a flexible body that a generator made, with its report; for the tests of the generators.
 */
#ifndef TEST_FLEXGEN_BUILT_H
#define TEST_FLEXGEN_BUILT_H

#include <calder/calder.h>

#include "model/description/desc.h"
#include "support/check.h"

enum { MODES_MAX = 40 };

typedef struct Built {
	CalDesc *desc;
	CalBodyId body;
	CalFlexReport report;
	CalFlexMode modes[MODES_MAX];
	const CalFlexDef *flex;
} Built;

/** Ends the test with the text of the error unless the status is good. */
static inline void built_check(CalStatus status, const CalError *error) {
	if (status != CAL_OK) {
		print_error("%s\n", error->text);
		fail();
	}
}

/** Reports on b->body, which is in b->desc. */
static inline void built_report(Built *b) {
	CalError error = {0};
	built_check(cal_flex_report(b->desc, b->body, &b->report, b->modes, MODES_MAX, &error), &error);
	b->flex = desc_body(b->desc, b->body)->flex;
}

static inline void release(Built *b) { cal_desc_destroy(b->desc); }

#endif
