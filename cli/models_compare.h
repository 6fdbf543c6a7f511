// SPDX-License-Identifier: Apache-2.0
/*
 * models_compare.h — a model against reference dynamics of another program (docs/import.md#references).
 */
#ifndef CALDER_CLI_MODELS_COMPARE_H
#define CALDER_CLI_MODELS_COMPARE_H

#include "cli.h"
#include "json_tree.h"

/** What is compared; errors are relative to the largest value of the reference at the state. */
#define COMPARED_LIST(X)                            \
	X(COMPARED_MASS, "M", 1e-12)      /* matrix */  \
	X(COMPARED_BIAS, "bias", 1e-11)   /* forces */  \
	X(COMPARED_INVERSE, "tau", 1e-11) /* inverse */ \
	X(COMPARED_FORWARD, "qacc", 1e-9) /* forward */ \
	X(COMPARED_POSE, "pose", 1e-12)   /* bodies */  \
	X(COMPARED_COM, "com", 1e-12)     /* center */  \
	X(COMPARED_TOTAL, "mass", 1e-12)  /* total */   \
	X(COMPARED_HARD, "hard", 1e-9)    /* closed */

typedef enum Compared {
#define COMPARED_ENUM(name, text, tolerance) name,
	COMPARED_LIST(COMPARED_ENUM)
#undef COMPARED_ENUM
		COMPARED_COUNT
} Compared;

typedef enum ModelVerdict { MODEL_PASSED, MODEL_FAILED, MODEL_SKIPPED } ModelVerdict;

typedef struct ModelResult {
	ModelVerdict verdict;
	double worst[COMPARED_COUNT]; // -1: not compared
	char what[768];               // why it failed or was skipped
} ModelResult;

/** Reads the model that the reference names, in `folder`, and compares. */
void models_compare(const JsonValue *reference, const char *folder, ModelResult *result);

#endif
