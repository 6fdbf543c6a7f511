// SPDX-License-Identifier: Apache-2.0
/*
 * rank_model.h — a model of the time of a step on ranks, fitted to measurements.
 *
 *   t(n, R) = a n/R + [R > 1] (c n/R + d + depth b),   b = join + messages latency + numbers per_number
 *
 * n bodies on R ranks. a: a body on one rank; c: what columns and the second pass over base paths add; d: once a step; b: an
 * interface between two ranks. depth: interfaces that are passed one after the other, R - 1 in a row of ranks, 2 log2 R if
 * ranks were joined in pairs. a, b, c and d are fitted to relative errors; latency and time of a number are measured of the
 * transport, and messages and numbers of an interface are counted: what is left of b is the join. With times on two ranks
 * alone a join counts as RANK_JOIN_BODIES bodies.
 */
#ifndef BENCH_RANKS_RANK_MODEL_H
#define BENCH_RANKS_RANK_MODEL_H

#include <stdbool.h>

#define RANK_JOIN_BODIES (2200.0 / 530) // flops of a join and of a body with a hinge, src/component/partition.c

typedef struct RankSample {
	double bodies, ranks, seconds; // of a step
} RankSample;

/** What a transport takes, and what a step sends over an interface. */
typedef struct RankNetwork {
	double latency, per_number; // [s] of a message, of a number in it
	double messages, numbers;   // of an interface and step
} RankNetwork;

typedef struct RankModel {
	double a, c, d, join; // [s]
	RankNetwork network;
	double error; // root of the mean square of relative errors of the fit
	bool
		composed; // one number of ranks was measured, which does not distinguish b from d: the join is counted, not fitted
} RankModel;

typedef enum RankShape { RANKS_IN_A_ROW, RANKS_IN_PAIRS } RankShape;

/** 0: fitted; 1: too few samples, or none on one rank and on several. */
int rank_model_fit(const RankSample *samples, int count, const RankNetwork *network, RankModel *model);
/** Of an interface [s]: b. */
double rank_model_interface(const RankModel *model);
/** Of a step [s]. */
double rank_model_time(const RankModel *model, double bodies, double ranks, RankShape shape);
/** Speedup over one rank, by ranks. */
double rank_model_efficiency(const RankModel *model, double bodies, double ranks, RankShape shape);
/** The number of ranks in a row, a real one, with the shortest step. */
double rank_model_best(const RankModel *model, double bodies);
/** The same processors with another transport. */
RankModel rank_model_on(const RankModel *model, double latency, double per_number);

#endif
