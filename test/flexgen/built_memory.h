// SPDX-License-Identifier: Apache-2.0
/*
 * built_memory.h — generators of flexible bodies when memory is short. Replaces malloc (support/interpose.h).
 */
#ifndef TEST_FLEXGEN_BUILT_MEMORY_H
#define TEST_FLEXGEN_BUILT_MEMORY_H

#include <string.h>

#include <calder/calder.h>

#include "support/check.h"
#include "support/interpose.h"

/** Adds a body to a new description (add: cal_beam_add or the like, of def) with every allocation failing in turn. */
static inline void built_without_memory(CalStatus (*add)(CalDesc *desc, const void *def, CalError *error),
                                        const void *def) {
	CalStatus status = CAL_ERR_MEMORY;
	int failures = 0;
	for (long k = 1; status != CAL_OK; k++) {
		CalDesc *desc = NULL;
		CalError error = {.text = "out of memory"};
		interpose_begin(k);
		status = cal_desc_create(NULL, &desc);
		if (status == CAL_OK) {
			status = add(desc, def, &error);
		}
		cal_desc_destroy(desc);
		assert_int_equal(interpose_end().live, 0);
		assert_true(status == CAL_OK || (status == CAL_ERR_MEMORY && strstr(error.text, "memory")));
		failures += status != CAL_OK;
	}
	assert_true(failures > 10);
}

#endif
