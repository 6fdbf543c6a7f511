// SPDX-License-Identifier: Apache-2.0
/*
 * rank_model.c — see rank_model.h. Normal equations of four unknowns; those that come out negative are left out.
 */
#include "rank_model.h"

#include <math.h>
#include <stdbool.h>

enum { TERMS = 4 };

static double depth_of(double ranks, RankShape shape) { return shape == RANKS_IN_A_ROW ? ranks - 1 : 2 * log2(ranks); }

/* What a, b, c and d are multiplied by. */
static void terms_of(double bodies, double ranks, RankShape shape, double x[TERMS]) {
	const double several = ranks > 1;
	x[0] = bodies / ranks;
	x[1] = several * depth_of(ranks, shape);
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

/* Normal equations of relative errors, with interfaces of `known` seconds beside those that are fitted. */
static void add_samples(const RankSample *samples, int count, double known, double A[TERMS][TERMS + 1]) {
	for (int s = 0; s < count; s++) {
		double t[TERMS];
		terms_of(samples[s].bodies, samples[s].ranks, RANKS_IN_A_ROW, t);
		const double weight = 1 / (samples[s].seconds * samples[s].seconds);
		for (int i = 0; i < TERMS; i++) {
			for (int k = 0; k < TERMS; k++)
				A[i][k] += weight * t[i] * t[k];
			A[i][TERMS] += weight * t[i] * (samples[s].seconds - known * t[1]);
		}
	}
}

/* Those that come out negative are left out, the worst first. known: of an interface [s]; 0: it is fitted. */
static void fit_terms(const RankSample *samples, int count, double known, double x[TERMS]) {
	bool use[TERMS] = {true, !(known > 0), true, true};
	for (int again = 0; again < TERMS; again++) {
		double A[TERMS][TERMS + 1] = {{0}};
		add_samples(samples, count, known, A);
		solve(A, use, x);
		int worst = -1;
		for (int i = 0; i < TERMS; i++)
			worst = x[i] < 0 && (worst < 0 || x[i] < x[worst]) ? i : worst;
		if (worst < 0)
			return;
		use[worst] = false;
	}
}

/* How many different numbers of ranks there are, up to three; 0: none of them is one. */
static int count_sizes(const RankSample *samples, int count) {
	double several = 0;
	bool one = false, others = false;
	for (int s = 0; s < count; s++) {
		one |= samples[s].ranks == 1;
		others |= samples[s].ranks > 1 && several > 1 && samples[s].ranks != several;
		several = samples[s].ranks > 1 ? samples[s].ranks : several;
	}
	return one ? 1 + (several > 1) + others : 0;
}

int rank_model_fit(const RankSample *samples, int count, const RankNetwork *network, RankModel *model) {
	double x[TERMS] = {0};
	const int different = count_sizes(samples, count);
	if (different < 2 || count < TERMS)
		return 1;
	fit_terms(samples, count, 0, x);
	const double sent = network->messages * network->latency + network->numbers * network->per_number;
	if (different == 2) {
		const double b = sent + RANK_JOIN_BODIES * x[0];
		fit_terms(samples, count, b, x);
		x[1] = b;
	}
	*model = (RankModel){
		.a = x[0], .c = x[2], .d = x[3], .join = fmax(0, x[1] - sent), .network = *network, .composed = different == 2};
	if (x[1] < sent) { // messages overlap: what they take is what the fit leaves them
		const double share = sent > 0 ? x[1] / sent : 0;
		model->network.latency *= share;
		model->network.per_number *= share;
	}
	for (int s = 0; s < count; s++) {
		const double t = rank_model_time(model, samples[s].bodies, samples[s].ranks, RANKS_IN_A_ROW);
		model->error += (t / samples[s].seconds - 1) * (t / samples[s].seconds - 1) / count;
	}
	model->error = sqrt(model->error);
	return 0;
}

double rank_model_interface(const RankModel *m) {
	return m->join + m->network.messages * m->network.latency + m->network.numbers * m->network.per_number;
}

double rank_model_time(const RankModel *model, double bodies, double ranks, RankShape shape) {
	double t[TERMS];
	terms_of(bodies, ranks, shape, t);
	return model->a * t[0] + rank_model_interface(model) * t[1] + model->c * t[2] + model->d * t[3];
}

double rank_model_efficiency(const RankModel *model, double bodies, double ranks, RankShape shape) {
	return model->a * bodies / (ranks * rank_model_time(model, bodies, ranks, shape));
}

double rank_model_best(const RankModel *model, double bodies) {
	const double b = rank_model_interface(model);
	return b > 0 ? sqrt((model->a + model->c) * bodies / b) : INFINITY;
}

RankModel rank_model_on(const RankModel *model, double latency, double per_number) {
	RankModel other = *model;
	other.network.latency = latency;
	other.network.per_number = per_number;
	return other;
}
