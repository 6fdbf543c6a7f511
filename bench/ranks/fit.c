// SPDX-License-Identifier: Apache-2.0
/*
 * fit.c — see fit.h. Normal equations of four unknowns; those that come out negative are left out.
 */
#include "fit.h"

#include <math.h>
#include <stdbool.h>

enum { TERMS = 4 };

static void terms_of(double bodies, double ranks, double x[TERMS]) {
	const double several = ranks > 1;
	x[0] = bodies / ranks;
	x[1] = several * (ranks - 1);
	x[2] = several * bodies / ranks;
	x[3] = several;
}

/* Gauss with pivots on the diagonal; terms that are not used, or that nothing determines, are zero. */
static void solve(double A[TERMS][TERMS + 1], const bool use[TERMS], double x[TERMS]) {
	for (int j = 0; j < TERMS; j++) {
		for (int i = 0; i < TERMS && use[j] && A[j][j] > 1e-300; i++) {
			const double f = i == j || !use[i] ? 0 : A[i][j] / A[j][j];
			for (int k = 0; k <= TERMS && f != 0; k++)
				A[i][k] -= f * A[j][k];
		}
	}
	for (int j = 0; j < TERMS; j++)
		x[j] = use[j] && A[j][j] > 1e-300 ? A[j][TERMS] / A[j][j] : 0;
}

int rank_model_fit(const Sample *samples, int count, RankModel *model) {
	bool use[TERMS] = {true, true, true, true};
	double x[TERMS] = {0};
	if (count < 2)
		return 1;
	for (int again = 0; again < TERMS; again++) {
		double A[TERMS][TERMS + 1] = {{0}};
		for (int s = 0; s < count; s++) {
			double t[TERMS];
			terms_of(samples[s].bodies, samples[s].ranks, t);
			const double weight = 1 / (samples[s].seconds * samples[s].seconds);
			for (int i = 0; i < TERMS; i++) {
				for (int k = 0; k < TERMS; k++)
					A[i][k] += weight * t[i] * t[k];
				A[i][TERMS] += weight * t[i] * samples[s].seconds;
			}
		}
		solve(A, use, x);
		int worst = -1;
		for (int i = 0; i < TERMS; i++)
			worst = x[i] < 0 && (worst < 0 || x[i] < x[worst]) ? i : worst;
		if (worst < 0)
			break;
		use[worst] = false;
	}
	*model = (RankModel){x[0], x[1], x[2], x[3], 0};
	for (int s = 0; s < count; s++) {
		const double off = rank_model_time(model, samples[s].bodies, samples[s].ranks) / samples[s].seconds - 1;
		model->error += off * off / count;
	}
	model->error = sqrt(model->error);
	return 0;
}

double rank_model_time(const RankModel *model, double bodies, double ranks) {
	double t[TERMS];
	terms_of(bodies, ranks, t);
	return model->a * t[0] + model->b * t[1] + model->c * t[2] + model->d * t[3];
}

double rank_model_best(const RankModel *model, double bodies) {
	return model->b > 0 ? sqrt((model->a + model->c) * bodies / model->b) : INFINITY;
}
