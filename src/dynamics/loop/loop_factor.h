// SPDX-License-Identifier: Apache-2.0
/*
 * loop_factor.h — substitutions with the factors of eliminated loops [THEORY (5.11), (5.14)].
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOP_FACTOR_H
#define CALDER_DYNAMICS_LOOP_LOOP_FACTOR_H

#include "math/pack.h"
#include "model/loop_plan.h"
#include "model/work.h"

#if CAL_LANES == 1

enum { STRIDE = LOOP_STRIDE, ROWS = CAL_LOOP_MAX_ROWS };

/* out[count] = Q'x, x being one row per constraint equation. */
INLINE double combined(const LoopFactor *f, int j, const double *x, int stride) {
	if (LIKELY(!f->mixed))
		return x[f->row[j] * stride];
	double sum = 0;
	for (int i = 0; i < f->rows; ++i)
		sum += f->Q[i * STRIDE + j] * x[i * stride];
	return sum;
}

/* L'mu = -D^-1 t, dropped ones being in mu already, and lambda = Q mu. */
INLINE void back_substitute(const LoopFactor *f, const double *t, double *mu, double *lambda) {
	for (int j = f->count - 1; j >= 0; --j) {
		if (f->inverse[j] == 0)
			continue;
		mu[j] = -f->inverse[j] * t[j];
		for (int k = j + 1; k < f->count; ++k)
			mu[j] -= f->L[k * STRIDE + j] * mu[k];
	}
	for (int i = 0; i < f->rows; ++i)
		lambda[i] = 0;
	for (int j = 0; j < f->count; ++j) {
		if (LIKELY(!f->mixed)) {
			lambda[f->row[j]] = mu[j];
			continue;
		}
		for (int i = 0; i < f->rows; ++i)
			lambda[i] += f->Q[i * STRIDE + j] * mu[j];
	}
}

/* t += Y_ab lambda_b; lambda by row offsets. */
INLINE void add_coupled(const LoopStep *step, const LoopWork *w, const double *lambda, const LoopFactor *f, double *t) {
	const LoopNext *next = w->plan->next + step->next;
	for (int i = 0; i < step->count; ++i) {
		const LoopEnds *b = &w->plan->ends[next[i].loop];
		const double *Y = w->block + LOOP_BLOCK * next[i].block;
		for (int j = 0; j < f->count; ++j) {
			pack sum = pack_zero();
			for (int c = 0; c < b->width; c += PACK)
				sum = pack_mac(sum, pack_load(Y + j * STRIDE + c), pack_load(lambda + b->row_offset + c));
			t[j] += pack_sum(sum);
		}
	}
}

/* A row of one pack or two. */
INLINE void row_times(double x, int width, const double *from, double *to) {
	pack_store(to, pack_times(x, pack_load(from)));
	if (width > PACK)
		pack_store(to + PACK, pack_times(x, pack_load(from + PACK)));
}
INLINE void row_madd(double x, int width, const double *from, double *to) {
	pack_store(to, pack_madd(pack_load(to), x, pack_load(from)));
	if (width > PACK)
		pack_store(to + PACK, pack_madd(pack_load(to + PACK), x, pack_load(from + PACK)));
}

/* y = L^-1 Q'x; of a dropped equation, what is left of it. */
INLINE void substitute(const LoopFactor *f, const double *x, double *y) {
	for (int j = 0; j < f->count; ++j) {
		y[j] = combined(f, j, x, 1);
		for (int k = 0; k < j; ++k)
			y[j] -= f->L[j * STRIDE + k] * y[k]; // columns of dropped equations are zero
	}
}

#endif

#endif
