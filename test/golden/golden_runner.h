// SPDX-License-Identifier: Apache-2.0
/*
 * golden_runner.h — reference cases (schema golden-mbd-1, docs/golden.md): one is read, run and compared. For the tests and
 * for `calder golden`; no part of the library.
 */
#ifndef TEST_GOLDEN_GOLDEN_RUNNER_H
#define TEST_GOLDEN_GOLDEN_RUNNER_H

#include <stdint.h>

#include <calder/base.h>

typedef enum CalGoldenVerdict { CAL_GOLDEN_OK, CAL_GOLDEN_FAIL, CAL_GOLDEN_SKIP } CalGoldenVerdict;

typedef struct CalGoldenResult {
	CalGoldenVerdict verdict;
	double worst;     // largest error over its tolerance's scale: relative error
	double tolerance; // the tolerance that applied to it
	char what[192];   // the quantity with the worst error, the failure, or the missing feature
	char name[96];    // of the case
	uint64_t bits;    // a hash of every number that was compared, bit by bit: the same on every machine
} CalGoldenResult;

/** Runs one case file. A negative status: the file could not be read (result says FAIL and why). */
CalStatus cal_golden_run(const char *path, CalGoldenResult *result);

#endif
