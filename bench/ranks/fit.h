// SPDX-License-Identifier: Apache-2.0
/*
 * fit.h — a model of the time of an evaluation on ranks, fitted to measurements.
 *
 *   t(n, R) = a n / R + [R > 1] (c n / R + d + b (R - 1))
 *
 * a: a body on one rank; c: what columns and the second pass over base paths add; d: once; b: one interface in the chain
 * of ranks, three messages and one join after the other. Fitted to relative errors.
 */
#ifndef BENCH_RANKS_FIT_H
#define BENCH_RANKS_FIT_H

typedef struct Sample {
	double bodies, ranks, seconds; // of an evaluation
} Sample;

typedef struct RankModel {
	double a, b, c, d; // [s]
	double error;      // root of the mean square of relative errors
} RankModel;

/** 0: fitted; 1: too few samples. */
int rank_model_fit(const Sample *samples, int count, RankModel *model);
double rank_model_time(const RankModel *model, double bodies, double ranks);
/** The number of ranks, a real one, with the shortest time. */
double rank_model_best(const RankModel *model, double bodies);

#endif
