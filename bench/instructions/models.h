// SPDX-License-Identifier: Apache-2.0
/*
 * models.h — the models whose instruction counts are watched: those of the suites "trees", "flexible" and "loops"
 * (bench/README.md), generated in C, the same numbers on every machine.
 */
#ifndef BENCH_INSTRUCTIONS_MODELS_H
#define BENCH_INSTRUCTIONS_MODELS_H

#include <calder/calder.h>

typedef struct CountedModel {
	CalModel *model;
	CalState state;
	CalWork *work;
	int tip; // node of the last body
} CountedModel;

/** Names of the models, NULL after the last. */
extern const char *const counted_names[];

/** Model, random state and workspace. On failure the status, and error says why. */
CalStatus counted_create(const char *name, CountedModel *counted, CalError *error);
void counted_destroy(CountedModel *counted);

/** Deterministic numbers in (-half, half). */
void counted_fill(uint64_t seed, double half, int count, double *x);

#endif
