// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_models.h — models and states for the programs of this folder.
 */
#ifndef BENCH_GPU_GPU_MODELS_H
#define BENCH_GPU_GPU_MODELS_H

#include <stdbool.h>

#include <calder/calder.h>

/** A number of [-1, 1) that follows from *seed, which moves on. */
double next_random(uint64_t *seed);

/** A chain of revolute bodies about x, y and z in turn. */
CalModel *make_chain(int bodies);
/** A free trunk with two arms, two legs and a head: 27 revolute joints. */
CalModel *make_humanoid(void);
/** A tree of all built-in joints, with springs, dampers and rotors along most dofs. */
CalModel *make_random(uint64_t seed);

/** States and forces of a model, [count] rows each. */
typedef struct States {
	int count, nq, nu;
	double *t, *q, *u, *tau;
} States;

States make_states(const CalModel *model, int count, uint64_t seed);
void free_states(States *states);
/** Zeroed numbers; ends the program where memory is short. */
double *numbers(size_t count);

#endif
