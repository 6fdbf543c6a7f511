// SPDX-License-Identifier: Apache-2.0
/*
 * loop_elimination.c — elimination of constraint equations, and the smallest multipliers [THEORY (5.9)-(5.15)].
 *
 * Constraint equations obey  Lambda lambda + Gamma'A + beta = 0, Lambda symmetric, positive and sparse: a block for
 * each two loops that are coupled. A loop a is eliminated where it closes:
 *   redundant equations of its own are replaced by as many orthonormal combinations Q as are independent
 *   (of its own block, before others were eliminated: exactly what any lambda_a = Q mu + rest can do without);
 *   Q'Lambda_aa Q = L D L', Y_ab = L^-1 Q'Lambda_ab, Y_aA = L^-1 Q'Gamma', y = L^-1 Q'beta;
 *   Lambda_bc -= Y_ab'D^-1 Y_ac, Gamma_b -= Y_aA'D^-1 Y_ab, beta_b -= Y_ab'D^-1 y,
 *   M += Y_aA'D^-1 Y_aA, b += Y_aA'D^-1 y
 * and later  L'mu = -D^-1(y + Y_aA A + sum Y_ab lambda_b).
 * A small pivot is formed anew as a sum of squares, before it is kept or dropped. One that is nothing but round-off
 * belongs to a combination that those before it imply. It is dropped: what is constrained twice moves no differently.
 * What is left of lambda is spanned by one vector for each dropped combination, N; the smallest lambda is
 * lambda - N(N'N)^-1 N'lambda. Where equations contradict each other, the same takes out of their accelerations what no
 * force can bring about, so that all of them are met in the sense of least squares. N and N' are substitutions with the
 * factors, so conjugate gradients do it in linear time; N'N is 1 plus a square.
 */
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_rank.h"
#include "math/pack.h"

#if CAL_LANES == 1

enum { STRIDE = LOOP_STRIDE, ROWS = CAL_LOOP_MAX_ROWS };

/* An equation with less left of it than this part is redundant (decision 0012). */
static const double DEPENDENT = 1e-11;
/* Masses may make the window of a singular equation so much smaller (its square), before they are left out of account. */
static const double WINDOW = 100;
static const double ROUND_OFF = 1e-15; // of a pivot, as part of its equation's compliance
/* With less left than this, nothing can be said of what is: its square is that of round-off. */
static const double HOPELESS = 1e-20;
/* With less left than this, round-off of small pivots before it may be a good part of what is: it is worth a closer look. */
static const double DOUBTFUL = 1e-4;

/* ---- equations of one loop ------------------------------------------------------------------------------- */

/* The equations of a loop that are not zero, with their own block; pivoted, L below the diagonal. */
typedef struct Rows {
	int count, rank;
	int row[ROWS];
	double B[ROWS][ROWS], diagonal[ROWS];
} Rows;

static void exchange_rows(Rows *r, int i, int k) {
	if (i == k)
		return;
	for (int j = 0; j < r->count; ++j) {
		const double t = r->B[i][j];
		r->B[i][j] = r->B[k][j], r->B[k][j] = t;
	}
	for (int j = 0; j < r->count; ++j) {
		const double t = r->B[j][i];
		r->B[j][i] = r->B[j][k], r->B[j][k] = t;
	}
	const int row = r->row[i];
	r->row[i] = r->row[k], r->row[k] = row;
	const double d = r->diagonal[i];
	r->diagonal[i] = r->diagonal[k], r->diagonal[k] = d;
}

/* The compliance below which an equation may be singular: the mean part of what columns could move it by, weighted by mass. */
INLINE void find_least(const CalModel *model, int l, const LoopWork *w, double *least) {
	const Loop *loop = &model->loops[l];
	const LoopScale *scale = &w->scale[l];
	const double *modes = w->natural + model->loop_schedule->ends[l].row_offset;
	for (int r = 0; r < loop->rows; ++r) {
		const spatial *d = &w->row[loop->row + r].direction;
		const double n = fabs(d->a.x) + fabs(d->a.y) + fabs(d->a.z), f = fabs(d->l.x) + fabs(d->l.y) + fabs(d->l.z);
		const double joints = n * n * scale->turn + 2 * n * f * scale->both + f * f * scale->arm;
		least[r] = w->singular * (joints + modes[r] * (1 / (LOOP_ROUND_OFF * LOOP_ROUND_OFF)));
	}
}

/* An equation that no column on its path moves. Light ones that do not may hide heavy ones that do: its geometry decides. */
INLINE int is_singular(const CalModel *model, const CalWork *work, int l, int r, double compliance) {
	return compliance == 0 || loop_mobility_of_row(model, work, l, r) <= WINDOW * work->loops.singular;
}

/* Takes the equations of a block by their pivots, the one with most left of it first. */
static void choose_pivots(const double *block, Rows *r) {
	for (int i = 0; i < r->count; ++i) {
		for (int j = 0; j <= i; ++j)
			r->B[i][j] = r->B[j][i] = block[r->row[i] * STRIDE + r->row[j]];
		r->diagonal[i] = r->B[i][i];
	}
	for (r->rank = 0; r->rank < r->count; ++r->rank) {
		const int k = r->rank;
		int best = k;
		for (int i = k + 1; i < r->count; ++i) {
			if (r->B[i][i] * r->diagonal[best] > r->B[best][best] * r->diagonal[i])
				best = i;
		}
		exchange_rows(r, best, k);
		if (!(r->B[k][k] > DEPENDENT * r->diagonal[k]))
			return;
		const double inverse = 1 / r->B[k][k];
		for (int i = k + 1; i < r->count; ++i) {
			const double l = r->B[i][k] * inverse;
			for (int j = k + 1; j < r->count; ++j)
				r->B[i][j] -= l * r->B[k][j];
			r->B[i][k] = l;
		}
	}
}

/* Whether nothing but round-off is left of the equations that are not independent. */
static int exactly_redundant(const Rows *r) {
	for (int i = r->rank; i < r->count; ++i)
		if (!(fabs(r->B[i][i]) <= ROUND_OFF * r->diagonal[i]))
			return 0;
	return 1;
}

/* Those that compliances leave no doubt about; where masses may have made an equation small, those of the geometric block. */
static void find_independent(const CalModel *model, const CalWork *work, int l, const double *least, Rows *r) {
	const double *own = work->loops.own + LOOP_BLOCK * l;
	r->count = 0;
	for (int i = 0; i < model->loops[l].rows; ++i) {
		if (LIKELY(own[i * STRIDE + i] > least[i]) || !is_singular(model, work, l, i, own[i * STRIDE + i]))
			r->row[r->count++] = i;
	}
	choose_pivots(own, r);
	const LoopScale *scale = &work->loops.scale[l];
	const int k = r->rank;
	if (LIKELY(k == r->count) || (!scale->modes && fmax(r->B[k][k], ROUND_OFF * r->diagonal[k]) * scale->most <=
	                                                   DEPENDENT * scale->least * r->diagonal[k]))
		return; // no masses between these can have done it
	double block[LOOP_BLOCK];
	Rows geometric = {.count = r->count};
	memcpy(geometric.row, r->row, sizeof r->row);
	loop_geometric_block(model, work, l, block);
	choose_pivots(block, &geometric);
	if (geometric.rank > r->rank)
		*r = geometric;
}

/*
 * Q of equations of which some are redundant: with these, C times the independent ones, Q spans [1; C]. Made from the
 * last column to the first, so that combination j is made of independent equations up to j.
 */
static void combine_rows(const Rows *r, double *Q) {
	memset(Q, 0, sizeof(double) * LOOP_BLOCK);
	for (int i = 0; i < r->count; ++i) {
		double c[ROWS] = {0};
		for (int j = 0; j < r->rank && i >= r->rank; ++j)
			c[j] = r->B[i][j];
		for (int k = r->rank - 1; k >= 0 && i >= r->rank; --k) {
			for (int j = 0; j < k; ++j)
				c[j] -= c[k] * r->B[k][j];
		}
		for (int j = 0; j < r->rank; ++j)
			Q[r->row[i] * STRIDE + j] = i < r->rank ? i == j : c[j];
	}
	for (int j = r->rank - 1; j >= 0; --j) {
		for (int again = 0; again < 2; ++again) {
			for (int k = j + 1; k < r->rank; ++k) {
				double dot = 0;
				for (int i = 0; i < ROWS; ++i)
					dot += Q[i * STRIDE + j] * Q[i * STRIDE + k];
				for (int i = 0; i < ROWS; ++i)
					Q[i * STRIDE + j] -= dot * Q[i * STRIDE + k];
			}
		}
		double square = 0;
		for (int i = 0; i < ROWS; ++i)
			square += Q[i * STRIDE + j] * Q[i * STRIDE + j];
		for (int i = 0; i < ROWS; ++i)
			Q[i * STRIDE + j] /= sqrt(square);
	}
}

/* out[count] = Q'x, x being one row per constraint equation. */
INLINE double combined(const LoopFactor *f, int j, const double *x, int stride) {
	if (LIKELY(!f->mixed))
		return x[f->row[j] * stride];
	double sum = 0;
	for (int i = 0; i < f->rows; ++i)
		sum += f->Q[i * STRIDE + j] * x[i * stride];
	return sum;
}

/* Lower triangle of Q'X Q of a symmetric block. */
static void combine_block(const LoopFactor *f, const double *X, double *out) {
	if (LIKELY(!f->mixed)) {
		for (int i = 0; i < f->count; ++i) {
			for (int j = 0; j <= i; ++j)
				out[i * STRIDE + j] = X[f->row[i] * STRIDE + f->row[j]];
		}
		return;
	}
	double T[LOOP_BLOCK] = {0}; // X Q
	for (int i = 0; i < f->rows; ++i) {
		for (int j = 0; j < f->count; ++j)
			T[i * STRIDE + j] = combined(f, j, X + i * STRIDE, 1);
	}
	for (int i = 0; i < f->count; ++i) {
		for (int j = 0; j <= i; ++j)
			out[i * STRIDE + j] = combined(f, i, T + j, STRIDE);
	}
}

/* ---- elimination ---------------------------------------------------------------------------------- */

/* L'mu = -D^-1 t, dropped ones being in mu already, and lambda = Q mu. */
static void back_substitute(const LoopFactor *f, const double *t, double *mu, double *lambda) {
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
INLINE void add_coupled(const CalModel *model, const LoopStep *step, const LoopWork *w, const double *lambda,
                        const LoopFactor *f, double *t) {
	const LoopNext *next = model->loop_schedule->next + step->next;
	for (int i = 0; i < step->count; ++i) {
		const LoopEnds *b = &model->loop_schedule->ends[next[i].loop];
		const double *Y = w->block + LOOP_BLOCK * next[i].block;
		for (int j = 0; j < f->count; ++j) {
			pack sum = pack_zero();
			for (int c = 0; c < b->width; c += PACK)
				sum = pack_mac(sum, pack_load(Y + j * STRIDE + c), pack_load(lambda + b->row_offset + c));
			t[j] += pack_sum(sum);
		}
	}
}

/* p lambda of one column. */
INLINE double column_gain(const LoopHere *here, int first, int count, const double *gain, const double *lambda) {
	pack sum = pack_zero();
	for (int j = first; j < count; ++j) {
		for (int c = 0; c < here[j].width; c += PACK)
			sum = pack_mac(sum, pack_load(gain + here[j].first + c), pack_load(lambda + here[j].row_offset + c));
	}
	return pack_sum(sum);
}

/*
 * The pivot of combination j once more, as the compliance of the equations that it and all before it amount to with the
 * others free to follow.
 */
static LoopPivot recheck_pivot(const CalModel *model, const CalWork *work, const LoopStep *step, const LoopFactor *f,
                               int j) {
	const LoopSchedule *plan = model->loop_schedule;
	const LoopWork *w = &work->loops;
	double *lambda = w->null, none[ROWS] = {0}, mu[ROWS] = {0}, alone[ROWS] = {0};
	LoopFactor up_to = *f;
	memset(lambda, 0, sizeof(double) * (size_t)plan->row_offset_count);
	up_to.count = j + 1;
	up_to.inverse[j] = 0; // given
	mu[j] = 1;
	back_substitute(&up_to, none, mu, lambda + plan->ends[step->loop].row_offset);
	for (const LoopStep *before = step - 1; before >= plan->steps; --before) {
		double t[ROWS] = {0}, zero[ROWS] = {0};
		add_coupled(model, before, w, lambda, &w->factor[before->loop], t);
		back_substitute(&w->factor[before->loop], t, zero, lambda + plan->ends[before->loop].row_offset);
	}
	for (int i = 0; i < f->rows; ++i)
		alone[i] = f->mixed ? f->Q[i * STRIDE + j] : i == f->row[j];
	return loop_pivot(model, work, step->loop, alone, lambda);
}

/* A pivot of which little is left: 0, if it is that of a redundant combination. */
static double check_pivot(const CalModel *model, CalWork *work, const LoopStep *step, const LoopFactor *f, int j,
                          double whole) {
	const LoopPivot left = recheck_pivot(model, work, step, f, j);
	const int kept = left.compliance > 0 && (left.compliance > DEPENDENT * whole || left.geometric > DEPENDENT);
	work->loops.doubtful |= kept && left.compliance < DOUBTFUL * whole;
	work->loops.hopeless |= kept && left.compliance < HOPELESS * whole;
	return kept ? left.compliance : 0;
}

/* L D L' of the combinations; redundant ones are dropped. */
static void factor_rows(const CalModel *model, CalWork *work, const LoopStep *step, LoopFactor *f) {
	const double *own = work->loops.own + LOOP_BLOCK * step->loop, *taken = work->loops.taken + LOOP_BLOCK * step->loop;
	double left[LOOP_BLOCK] = {0};
	combine_block(f, own, f->L);
	combine_block(f, taken, left);
	for (int j = 0; j < f->count; ++j) {
		const double whole = f->L[j * STRIDE + j];
		double pivot = whole - left[j * STRIDE + j];
		for (int k = 0; k < j; ++k)
			pivot -= f->L[j * STRIDE + k] * f->L[j * STRIDE + k] * f->pivot[k];
		if (UNLIKELY(pivot < DOUBTFUL * whole))
			pivot = check_pivot(model, work, step, f, j, whole);
		const int kept = pivot > 0;
		f->dropped += !kept;
		f->pivot[j] = kept ? pivot : 0;
		f->inverse[j] = kept ? 1 / pivot : 0;
		for (int i = j + 1; i < f->count; ++i) {
			double sum = f->L[i * STRIDE + j] - left[i * STRIDE + j];
			for (int k = 0; k < j; ++k)
				sum -= f->L[i * STRIDE + k] * f->L[j * STRIDE + k] * f->pivot[k];
			f->L[i * STRIDE + j] = sum * f->inverse[j];
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

/* Y_ab in place of Lambda_ab: one row per combination. */
INLINE void substitute_block(const LoopFactor *f, int width, double *block) {
	double Y[LOOP_BLOCK];
	for (int j = 0; j < f->count; ++j) {
		const double kept = f->inverse[j] != 0;
		if (LIKELY(!f->mixed)) {
			row_times(kept, width, block + f->row[j] * STRIDE, Y + j * STRIDE);
		} else {
			row_times(kept * f->Q[j], width, block, Y + j * STRIDE);
			for (int i = 1; i < f->rows; ++i)
				row_madd(kept * f->Q[i * STRIDE + j], width, block + i * STRIDE, Y + j * STRIDE);
		}
		for (int k = 0; k < j; ++k)
			row_madd(-kept * f->L[j * STRIDE + k], width, Y + k * STRIDE, Y + j * STRIDE);
	}
	for (int j = 0; j < f->count; ++j)
		row_times(1, width, Y + j * STRIDE, block + j * STRIDE);
}

/* y = L^-1 Q'x; of a dropped equation, what is left of it. */
static void substitute(const LoopFactor *f, const double *x, double *y) {
	for (int j = 0; j < f->count; ++j) {
		y[j] = combined(f, j, x, 1);
		for (int k = 0; k < j; ++k)
			y[j] -= f->L[j * STRIDE + k] * y[k]; // columns of dropped equations are zero
	}
}

static spatial combined_wrench(const LoopFactor *f, int j, const double *gamma, int n) {
	return (spatial){
		{combined(f, j, gamma, 1), combined(f, j, gamma + n, 1), combined(f, j, gamma + 2 * n, 1)},
		{combined(f, j, gamma + 3 * n, 1), combined(f, j, gamma + 4 * n, 1), combined(f, j, gamma + 5 * n, 1)}};
}

/* Y_aA, and what the closed loop adds to its link. */
static void update_link_inertia(const double *gamma, int n, LoopFactor *f, ArticulatedInertia *M, spatial *b) {
	for (int j = 0; j < f->count; ++j) {
		spatial Y = combined_wrench(f, j, gamma, n);
		for (int k = 0; k < j; ++k)
			Y = spatial_madd(Y, -f->L[j * STRIDE + k], f->A[k]);
		f->A[j] = f->inverse[j] != 0 ? Y : spatial_zero();
		const double minus = -f->inverse[j];
		*M = articulated_sub_outer(*M, f->A[j], (spatial){scale(minus, f->A[j].a), scale(minus, f->A[j].l)});
		*b = spatial_madd(*b, f->inverse[j] * f->y[j], f->A[j]);
	}
}

/* to += sign Y_ab'D^-1 Y_ac: rows of b, width of c. */
INLINE void update_block(const LoopFactor *f, double sign, int rows, const double *Yb, int width, const double *Yc,
                         double *to) {
	for (int j = 0; j < f->count; ++j) {
		for (int r = 0; r < rows; ++r) {
			const double x = sign * f->inverse[j] * Yb[j * STRIDE + r];
			if (x != 0)
				row_madd(x, width, Yc + j * STRIDE, to + r * STRIDE);
		}
	}
}

/* Right-hand side and wrenches (NULL: none) of a loop that is coupled with the one eliminated. */
INLINE void update_sides(const LoopFactor *f, int width, const double *Y, double *beta, double *gamma, int n) {
	for (int j = 0; j < f->count; ++j) {
		row_madd(-f->inverse[j] * f->y[j], width, Y + j * STRIDE, beta);
		for (int c = 0; gamma && c < width; c += PACK) {
			const pack x = pack_times(f->inverse[j], pack_load(Y + j * STRIDE + c));
			pspatial_store(gamma + c, n, pspatial_sub_outer(pspatial_load(gamma + c, n), f->A[j], x));
		}
	}
}

void LANED(loop_eliminate)(const CalModel *model, const LoopStep *step, CalWork *work, ArticulatedInertia *M,
                           spatial *b) {
	const LoopSchedule *plan = model->loop_schedule;
	LoopWork *w = &work->loops;
	LoopFactor *f = &w->factor[step->loop];
	double least[ROWS];
	Rows rows;
	find_least(model, step->loop, w, least);
	find_independent(model, work, step->loop, least, &rows);
	if (UNLIKELY(w->hold_rank))
		rows.rank = rows.rank < f->held ? rows.rank : f->held;
	else
		f->held = rows.rank < rows.count && exactly_redundant(&rows) ? rows.rank : rows.count;
	f->rows = model->loops[step->loop].rows;
	f->count = rows.rank;
	f->mixed = rows.rank < rows.count;
	f->dropped = 0;
	for (int i = 0; i < rows.rank; ++i)
		f->row[i] = rows.row[i];
	if (UNLIKELY(f->mixed))
		combine_rows(&rows, f->Q);
	factor_rows(model, work, step, f);
	const LoopScale *scale = &w->scale[step->loop];
	if (UNLIKELY(scale->most > loop_somewhat_uneven(model) * scale->least) && scale->least > 0) // 0: no way, no levers
		w->uneven |= scale->most > loop_uneven(model) * scale->least ? 2 : 1;
	substitute(f, w->beta + plan->ends[step->loop].row_offset, f->y);
	if (M)
		update_link_inertia(w->gamma + step->gamma, step->width, f, M, b);
	const LoopNext *next = plan->next + step->next;
	const int32_t *update = plan->updates + step->update;
	for (int i = 0; i < step->count; ++i)
		substitute_block(f, plan->ends[next[i].loop].width, w->block + LOOP_BLOCK * next[i].block);
	for (int i = 0; i < step->count; ++i) {
		const LoopEnds *ends = &plan->ends[next[i].loop];
		const int n = model->loops[next[i].loop].rows;
		const double *Y = w->block + LOOP_BLOCK * next[i].block;
		update_sides(f, ends->width, Y, w->beta + ends->row_offset, M ? w->gamma + next[i].gamma : NULL, step->width);
		update_block(f, 1, n, Y, ends->width, Y, w->taken + LOOP_BLOCK * (-1 - *update++));
		for (int k = i + 1; k < step->count; ++k)
			update_block(f, -1, n, Y, plan->ends[next[k].loop].width, w->block + LOOP_BLOCK * next[k].block,
			             w->block + LOOP_BLOCK * *update++);
	}
}

void LANED(loop_resolve)(const CalModel *model, const LoopStep *step, LoopWork *w, const spatial *A) {
	const LoopFactor *f = &w->factor[step->loop];
	double t[ROWS], mu[ROWS] = {0};
	for (int j = 0; j < f->count; ++j)
		t[j] = f->y[j] + (A ? spatial_dot(f->A[j], *A) : 0);
	add_coupled(model, step, w, w->force, f, t);
	back_substitute(f, t, mu, w->force + model->loop_schedule->ends[step->loop].row_offset);
}

/* ---- the smallest of them ----------------------------------------------------------------------------- */

/* lambda = N nu: what those dropped may be without any effect. nu by combinations, in the slots of the loop's rows. */
static void null_vector(const CalModel *model, const LoopWork *w, const double *nu, double *lambda) {
	for (int k = model->loop_schedule->step_count - 1; k >= 0; --k) {
		const LoopStep *step = &model->loop_schedule->steps[k];
		const LoopFactor *f = &w->factor[step->loop];
		const int slot = model->loop_schedule->ends[step->loop].row_offset;
		double t[ROWS] = {0}, mu[ROWS] = {0};
		for (int j = 0; j < f->count; ++j)
			mu[j] = f->inverse[j] == 0 ? nu[slot + j] : 0;
		add_coupled(model, step, w, lambda, f, t);
		back_substitute(f, t, mu, lambda + slot);
	}
}

/* nu = N'x; x is used up. */
static void null_product(const CalModel *model, const LoopWork *w, double *x, double *nu) {
	memset(nu, 0, sizeof(double) * (size_t)model->loop_schedule->row_offset_count);
	for (int k = 0; k < model->loop_schedule->step_count; ++k) {
		const LoopStep *step = &model->loop_schedule->steps[k];
		const LoopFactor *f = &w->factor[step->loop];
		const LoopNext *next = model->loop_schedule->next + step->next;
		const int slot = model->loop_schedule->ends[step->loop].row_offset;
		double y[ROWS];
		substitute(f, x + slot, y);
		for (int j = 0; j < f->count; ++j)
			nu[slot + j] = f->inverse[j] == 0 ? y[j] : 0;
		for (int i = 0; i < step->count; ++i) {
			const LoopEnds *b = &model->loop_schedule->ends[next[i].loop];
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
static double reduce_null(const CalModel *model, LoopWork *w, double *v) {
	const int n = model->loop_schedule->row_offset_count;
	double *r = w->null, *p = r + n, *Np = p + n, *NNp = Np + n, *x = NNp + n;
	memcpy(x, v, sizeof(double) * (size_t)n);
	memset(Np, 0, sizeof(double) * (size_t)n);
	null_product(model, w, x, r);
	for (int i = 0; i < n; ++i)
		p[i] = r[i] = -r[i];
	double square = product(n, r, r);
	const double first = square, whole = product(n, v, v);
	for (int k = 0; k < w->dropped + 8 && square > SMALL_ENOUGH * first; ++k) {
		null_vector(model, w, p, Np);
		memcpy(x, Np, sizeof(double) * (size_t)n);
		null_product(model, w, x, NNp);
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
static void remove_null(const CalModel *model, LoopWork *w, double *v) {
	for (int k = 0; k < 4 && reduce_null(model, w, v) > 1e-15; ++k)
		;
}

/* From row offsets to rows. */
static void load_rows(const CalModel *model, const double *slots, double *rows) {
	for (int l = 0; l < model->loop_count; ++l) {
		for (int r = 0; r < model->loops[l].rows; ++r)
			rows[model->loops[l].row + r] = slots[model->loop_schedule->ends[l].row_offset + r];
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
		const int slot = model->loop_schedule->ends[l].row_offset;
		for (int r = 0; r < f->rows; ++r) {
			most = fmax(most, fmax(fabs(w->beta[slot + r]), fabs(z[model->loops[l].row + r])));
			w->force[slot + r] = z[model->loops[l].row + r];
		}
		for (int j = 0; f->dropped && j < f->count; ++j)
			left = f->inverse[j] == 0 ? fmax(left, fabs(f->y[j])) : left;
	}
	if (!(left > CONTRADICTION * most))
		return 0;
	remove_null(model, w, w->force);
	load_rows(model, w->force, z);
	return 1;
}

/* What a change of lambda that moves nothing does to the forces of columns that are held. */
static void shift_held(const CalModel *model, const uint8_t *prescribed, const LoopWork *w, const double *change,
                       double *force) {
	const LoopSchedule *plan = model->loop_schedule;
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

void LANED(loop_take_basic)(const CalModel *model, LoopWork *w) { load_rows(model, w->force, w->lambda); }

void LANED(loop_put_basic)(const CalModel *model, LoopWork *w) {
	for (int l = 0; l < model->loop_count; ++l) {
		for (int r = 0; r < model->loops[l].rows; ++r)
			w->force[model->loop_schedule->ends[l].row_offset + r] = w->lambda[model->loops[l].row + r];
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
		const size_t slots = (size_t)model->loop_schedule->row_offset_count;
		memcpy(change, w->force, sizeof(double) * slots);
		remove_null(model, w, w->force);
		for (size_t i = 0; i < slots; ++i)
			change[i] = w->force[i] - change[i];
		if (prescribed && force)
			shift_held(model, prescribed, w, change, force);
	}
	load_rows(model, w->force, w->lambda);
}

#endif
