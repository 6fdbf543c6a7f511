// SPDX-License-Identifier: Apache-2.0
/*
 * methods.h — which integration methods a build has, for tests that run all of them.
 */
#ifndef TEST_SUPPORT_METHODS_H
#define TEST_SUPPORT_METHODS_H

#include <stdbool.h>
#include <stdint.h>

#include <calder/integrate.h>

static inline bool method_is_built(int method) { return !cal_method_info((CalMethod)method)->missing; }

/** The first of them, and the one after; CAL_METHOD_COUNT: there is no more. */
static inline int method_next(int method) {
	do
		method++;
	while (method < CAL_METHOD_COUNT && !method_is_built(method));
	return method;
}
static inline int method_first(void) { return method_next(-1); }

/** One of them; where it is not built, the default. */
static inline CalMethod method_of_seed(uint64_t seed) {
	const int method = (int)(seed % CAL_METHOD_COUNT);
	return method_is_built(method) ? (CalMethod)method : CAL_METHOD_DEFAULT;
}

#endif
