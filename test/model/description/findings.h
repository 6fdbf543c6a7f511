// SPDX-License-Identifier: Apache-2.0
/*
 * findings.h — what a check of a description reports, collected.
 */
#ifndef TEST_MODEL_DESCRIPTION_FINDINGS_H
#define TEST_MODEL_DESCRIPTION_FINDINGS_H

#include <stdio.h>
#include <string.h>

#include "model/description/desc.h"
#include "support/check.h"

typedef struct Findings {
	int errors, warnings;
	char text[4000]; // all of them, one per line
} Findings;

/** A CalFindingFn. */
static inline void findings_collect(void *user, const CalFinding *finding) {
	Findings *f = user;
	f->errors += finding->status < 0;
	f->warnings += finding->status == CAL_OK;
	size_t used = strlen(f->text);
	snprintf(f->text + used, sizeof f->text - used, "%s\n", finding->text);
}

static inline void assert_findings(const Findings *f, int errors, int warnings) {
	if (f->errors != errors || f->warnings != warnings) {
		print_error("expected %d errors and %d warnings, got:\n%s", errors, warnings, f->text);
	}
	assert_int_equal(f->errors, errors);
	assert_int_equal(f->warnings, warnings);
}

#endif
