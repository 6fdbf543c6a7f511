// SPDX-License-Identifier: Apache-2.0
/*
 * assert.h — what only a bug in the library can break.
 *
 * CAL_ASSERT(condition) is code in builds that look for bugs: Debug, and any with a sanitizer (CALDER_ASSERTIONS,
 * cmake/CalderOptions.cmake). There a condition that does not hold prints file, line and expression to stderr and aborts.
 * In all other builds it is compiled and never evaluated: no code, and nothing that the library prints. What a caller can
 * cause is a status, in every build (CONTRIBUTING.md).
 */
#ifndef CALDER_BASE_ASSERT_H
#define CALDER_BASE_ASSERT_H

#ifdef CALDER_ASSERTIONS
_Noreturn void assertion_failed(const char *file, int line, const char *expression);
#define CAL_ASSERT(condition) ((condition) ? (void)0 : assertion_failed(__FILE__, __LINE__, #condition))
#else
#define CAL_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif
