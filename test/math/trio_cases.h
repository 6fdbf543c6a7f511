// SPDX-License-Identifier: Apache-2.0
/*
 * trio_cases.h — the operations of math/trio.h as functions, one per width (trio_cases.c).
 */
#ifndef TEST_MATH_TRIO_CASES_H
#define TEST_MATH_TRIO_CASES_H

/* Numbers in and out; results in the order of trio_cases.c. */
enum { TRIO_NUMBERS = 15, TRIO_VECTOR_RESULTS = 3 + 14 * 3, TRIO_MEMORY_RESULTS = 18 + 12 + 1 };
enum { TRIO_COLUMN_RESULTS = 12 + 6 * 9, TRIO_CYCLIC_RESULTS = 15 + 9 + 15 + 9 + 6 + 6 + 6 + 9 + 6 };
enum { TRIO_PRODUCT_RESULTS = 9 + 6 + 7 + 1 + 6 + 6, TRIO_INVERSE_RESULTS = 12 + 2 + 9 + 18 };
enum {
	TRIO_RESULTS = TRIO_VECTOR_RESULTS + TRIO_MEMORY_RESULTS + TRIO_COLUMN_RESULTS + TRIO_CYCLIC_RESULTS +
	               TRIO_PRODUCT_RESULTS + TRIO_INVERSE_RESULTS
};

/* Arrays of doubles; of four lanes each for x4. */
void trio_cases_x1(const void *numbers, void *results);
void trio_cases_x4(const void *numbers, void *results);
void trio_cases_x1_avx2(const void *numbers, void *results);
void trio_cases_x1_avx512(const void *numbers, void *results);

#endif
