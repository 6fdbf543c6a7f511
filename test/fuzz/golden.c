// SPDX-License-Identifier: Apache-2.0
/*
 * golden.c — fuzz target: any bytes as a golden case.
 */
#include <string.h>

#include "fuzz.h"
#include "golden/golden_runner.h"

static void run(const uint8_t *data, size_t size) {
	CalGoldenResult result;
	(void)cal_golden_run(fuzz_write("case.json", data, size), &result);
	fuzz_expect(memchr(result.what, 0, sizeof result.what) != NULL, "a result has a text");
}

const FuzzTarget fuzz_golden = {"golden", NULL, run};
