// SPDX-License-Identifier: Apache-2.0
/*
 * models.c — fuzz target: any bytes as the reference of a robot that `calder models` compares (NAME.ref.json).
 */
#include "../../cli/models_compare.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

FUZZ_TAKE_IN(fuzz_arm, "../test/data/models/arm/arm.urdf")

static void begin(void) { fuzz_write("arm.urdf", fuzz_arm, (size_t)(fuzz_arm_end - fuzz_arm)); }

static void run(const uint8_t *data, size_t size) {
	char *text = fuzz_text((FuzzPart){data, size}), why[200] = "";
	JsonTree *tree = json_tree_parse(text, why, sizeof why);
	ModelResult result = {.verdict = MODEL_FAILED};
	fuzz_expect(tree || (why[0] && memchr(why, 0, sizeof why)), "what is no JSON is said");
	if (tree) {
		models_compare(json_tree_root(tree), fuzz_folder(), &result);
		fuzz_expect(result.verdict == MODEL_PASSED || result.what[0], "a comparison that fails says why");
		fuzz_expect(memchr(result.what, 0, sizeof result.what) != NULL, "a result has a text");
	}
	json_tree_destroy(tree);
	free(text);
}

const FuzzTarget fuzz_models = {"models", begin, run};
