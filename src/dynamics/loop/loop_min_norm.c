// SPDX-License-Identifier: Apache-2.0
/*
 * loop_min_norm.c — the smallest multipliers of redundant constraint equations [THEORY (5.15)].
 *
 * What is left of lambda once combinations were dropped is spanned by one vector for each of them, N; the smallest lambda
 * is lambda - N(N'N)^-1 N'lambda. Where equations contradict each other, the same takes out of their accelerations what
 * no force can bring about, so that all of them are met in the sense of least squares. N and N' are substitutions with
 * the factors, so conjugate gradients do it in linear time; N'N is 1 plus a square.
 */
#include "dynamics/flex/flexible.h"
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_factor.h"

#if CAL_LANES == 1

/* p lambda of one column. */
INLINE double column_gain(const LoopHere *here, int first, int count, const double *gain, const double *lambda) {
	pack sum = pack_zero();
	for (int j = first; j < count; ++j) {
		for (int c = 0; c < here[j].width; c += PACK)
			sum = pack_mac(sum, pack_load(gain + here[j].first + c), pack_load(lambda + here[j].row_offset + c));
	}
	return pack_sum(sum);
}

/* lambda = N nu: what those dropped may be without any effect. nu by combinations, in the slots of the loop's rows. */
static void null_vector(const LoopWork *w, const double *nu, double *lambda) {
	for (int k = w->plan->step_count - 1; k >= 0; --k) {
		const LoopStep *step = &w->plan->steps[k];
		const LoopFactor *f = &w->factor[step->loop];
		const int slot = w->plan->ends[step->loop].row_offset;
		double t[ROWS] = {0}, mu[ROWS] = {0};
		for (int j = 0; j < f->count; ++j)
			mu[j] = f->inverse[j] == 0 ? nu[slot + j] : 0;
		add_coupled(step, w, lambda, f, t);
		back_substitute(f, t, mu, lambda + slot);
	}
}

/* nu = N'x; x is used up. */
static void null_product(const LoopWork *w, double *x, double *nu) {
	memset(nu, 0, sizeof(double) * (size_t)w->plan->row_offset_count);
	for (int k = 0; k < w->plan->step_count; ++k) {
		const LoopStep *step = &w->plan->steps[k];
		const LoopFactor *f = &w->factor[step->loop];
		const LoopNext *next = w->plan->next + step->next;
		const int slot = w->plan->ends[step->loop].row_offset;
		double y[ROWS];
		substitute(f, x + slot, y);
		for (int j = 0; j < f->count; ++j)
			nu[slot + j] = f->inverse[j] == 0 ? y[j] : 0;
		for (int i = 0; i < step->count; ++i) {
			const LoopEnds *b = &w->plan->ends[next[i].loop];
			for (int j = 0; j < f->count; ++j)
				row_madd(-f->inverse[j] * y[j], b->width, w->block + LOOP_BLOCK * next[i].block + j * STRIDE,
				         x + b->row_offset);
		}
	}
}

static double product(int n, const double *a, const double *b) {
	double sum = 0;
	for (int i = 0; i < n; ++i)
		sum += a[i] * b[i];
	return sum;
}

static const double SMALL_ENOUGH = 1e-30; // of the square of the first residual

/* One run of conjugate gradients for v -= N(N'N)^-1 N'v; returns what was left of N'v before it, over v. */
static double reduce_null(LoopWork *w, double *v) {
	const int n = w->plan->row_offset_count;
	double *r = w->null, *p = r + n, *Np = p + n, *NNp = Np + n, *x = NNp + n;
	memcpy(x, v, sizeof(double) * (size_t)n);
	memset(Np, 0, sizeof(double) * (size_t)n);
	null_product(w, x, r);
	for (int i = 0; i < n; ++i)
		p[i] = r[i] = -r[i];
	double square = product(n, r, r);
	const double first = square, whole = product(n, v, v);
	for (int k = 0; k < w->dropped + 8 && square > SMALL_ENOUGH * first; ++k) {
		null_vector(w, p, Np);
		memcpy(x, Np, sizeof(double) * (size_t)n);
		null_product(w, x, NNp);
		const double step = square / product(n, Np, Np);
		for (int i = 0; i < n; ++i) {
			v[i] += step * Np[i];
			r[i] -= step * NNp[i];
		}
		const double before = square;
		square = product(n, r, r);
		for (int i = 0; i < n; ++i)
			p[i] = r[i] + square / before * p[i];
	}
	return whole > 0 ? sqrt(first / whole) : 0;
}

/* The same to round-off: what a run computes as left over is not what is left over. */
static void remove_null(LoopWork *w, double *v) {
	for (int k = 0; k < 4 && reduce_null(w, v) > 1e-15; ++k)
		;
}

/* From row offsets to rows. */
static void load_rows(const CalModel *model, const LoopWork *w, const double *slots, double *rows) {
	for (int l = 0; l < model->loop_count; ++l) {
		for (int r = 0; r < model->loops[l].rows; ++r)
			rows[model->loops[l].row + r] = slots[w->plan->ends[l].row_offset + r];
	}
}

static const double CONTRADICTION = 1e-9; // of the largest acceleration of a constraint: well above round-off

int LANED(loop_reconcile)(const CalModel *model, LoopWork *w, double *z) {
	double most = 0, left = 0;
	w->dropped = 0;
	for (int l = 0; l < model->loop_count; ++l)
		w->dropped += w->factor[l].dropped;
	if (LIKELY(!w->dropped))
		return 0;
	for (int l = 0; l < model->loop_count; ++l) {
		const LoopFactor *f = &w->factor[l];
		const int slot = w->plan->ends[l].row_offset;
		for (int r = 0; r < f->rows; ++r) {
			most = fmax(most, fmax(fabs(w->beta[slot + r]), fabs(z[model->loops[l].row + r])));
			w->force[slot + r] = z[model->loops[l].row + r];
		}
		for (int j = 0; f->dropped && j < f->count; ++j)
			left = f->inverse[j] == 0 ? fmax(left, fabs(f->y[j])) : left;
	}
	if (!(left > CONTRADICTION * most))
		return 0;
	remove_null(w, w->force);
	load_rows(model, w, w->force, z);
	return 1;
}

/* What a change of lambda that moves nothing does to the forces of columns that are held. */
static void shift_held(const CalModel *model, const uint8_t *prescribed, const LoopWork *w, const double *change,
                       double *force) {
	const LoopSchedule *plan = w->plan;
	for (int i = 0; i < plan->link_count; ++i) {
		const LoopLink *at = &plan->links[i];
		const Link *link = &model->links[at->link];
		const LoopHere *here = plan->here + at->here;
		for (int k = 0; k < link->nu; ++k) {
			const double *gain = w->gain + at->gains + k * (at->width - at->open) - at->open;
			if (prescribed[link->u + k])
				force[link->u + k] -= column_gain(here, at->closing, at->count, gain, change);
		}
		for (int k = 0; at->modal >= 0 && k < model->flexes[link->flex_body].m; ++k) {
			const int u = model->flexes[link->flex_body].u + k;
			if (prescribed[u])
				force[u] -= column_gain(here, 0, at->count, w->modal + at->modal + k * at->width, change);
		}
	}
}

/*
 * The same with early places: joints inboard of a place know no gains of the loop. A change that moves nothing passes
 * free columns as it is, so that wrenches on the ends are passed inward without them. Uses up lambda.
 */
static void shift_held_inboard(const CalModel *model, const uint8_t *prescribed, LoopWork *w, const double *change,
                               double *force) {
	spatial *wrench = w->refined.external;
	double *each = w->refined.residual;
	for (int i = 0; i < model->link_count; ++i)
		wrench[i] = spatial_zero();
	memset(each, 0, sizeof(double) * (size_t)model->nu);
	load_rows(model, w, change, w->lambda);
	apply_multipliers(model, w->whole, wrench, each);
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k)
			each[link->u + k] += spatial_dot(link_column(w->whole, link, i, k), wrench[i]);
		for (int k = 0; link->flex >= 0 && k < model->flexes[link->flex].m; ++k)
			each[model->flexes[link->flex].u + k] += spatial_dot(flexible_column(model, link, w->whole, k), wrench[i]);
		if (link->parent >= 0)
			wrench[link->parent] = spatial_add(wrench[link->parent], force_shift(wrench[i], w->whole->links[i].r));
	}
	for (int u = 0; u < model->nu; ++u)
		force[u] -= prescribed[u] ? each[u] : 0;
}

void LANED(loop_take_basic)(const CalModel *model, LoopWork *w) { load_rows(model, w, w->force, w->lambda); }

void LANED(loop_put_basic)(const CalModel *model, LoopWork *w) {
	for (int l = 0; l < model->loop_count; ++l) {
		for (int r = 0; r < model->loops[l].rows; ++r)
			w->force[w->plan->ends[l].row_offset + r] = w->lambda[model->loops[l].row + r];
	}
}

void LANED(min_norm_multipliers)(const CalModel *model, const uint8_t *prescribed, LoopWork *w, double *force) {
	w->rank = 0;
	memset(w->independent, 0, (size_t)model->row_count);
	for (int l = 0; l < model->loop_count; ++l) {
		const LoopFactor *f = &w->factor[l];
		w->rank += f->count - f->dropped;
		for (int j = 0; j < f->count; ++j)
			w->independent[model->loops[l].row + f->row[j]] = f->inverse[j] != 0;
	}
	if (UNLIKELY(w->dropped)) {
		double *change = w->change;
		const size_t slots = (size_t)w->plan->row_offset_count;
		memcpy(change, w->force, sizeof(double) * slots);
		remove_null(w, w->force);
		for (size_t i = 0; i < slots; ++i)
			change[i] = w->force[i] - change[i];
		if (prescribed && force && w->plan->early_count)
			shift_held_inboard(model, prescribed, w, change, force);
		else if (prescribed && force)
			shift_held(model, prescribed, w, change, force);
	}
	load_rows(model, w, w->force, w->lambda);
}

#endif
