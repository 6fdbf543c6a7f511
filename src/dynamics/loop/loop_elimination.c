// SPDX-License-Identifier: Apache-2.0
/*
 * loop_elimination.c — elimination of constraint equations [THEORY (5.9)-(5.14)].
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
 * Multipliers of dropped combinations: loop_min_norm.c.
 */
#include "dynamics/loop/loop_early.h"
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_factor.h"
#include "dynamics/loop/loop_rank.h"

#if CAL_LANES == 1

/* An equation with less left of it than this part is redundant (decision 0012). */
static const double DEPENDENT = 1e-11;
/* Masses may make the window of a singular equation so much smaller (its square), before they are left out of account. */
static const double WINDOW = 100;
static const double ROUND_OFF = 1e-15; // of a pivot, as part of its equation's compliance
/* With less left than this, nothing can be said of what is: its square is that of round-off. */
static const double HOPELESS = 1e-20;
/* With less left than this, round-off of small pivots before it may be a good part of what is: it is worth a closer look. */
static const double DOUBTFUL = 1e-4;
/* Of what an equation's compliance could be, what one gets on an early place that does not satisfy it [THEORY (5.34)]. */
static const double SOFT = 1e-8;
/* So many times the inertia of its link, that of a loop on an early place takes digits from it. */
static const double SWAMPED = 1e3;

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
	const double *modes = w->natural + w->plan->ends[l].row_offset;
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

/* Equation i of those that are not independent as a combination of those that are. */
static void find_dependence(const Rows *r, int i, double *c) {
	for (int j = 0; j < r->rank; ++j)
		c[j] = r->B[i][j];
	for (int k = r->rank - 1; k >= 0; --k) {
		for (int j = 0; j < k; ++j)
			c[j] -= c[k] * r->B[k][j];
	}
}

/*
 * Q of equations of which some are redundant: with these, C times the independent ones, Q spans [1; C]. Made from the
 * last column to the first, so that combination j is made of independent equations up to j.
 */
static void combine_rows(const Rows *r, double *Q) {
	memset(Q, 0, sizeof(double) * LOOP_BLOCK);
	for (int i = 0; i < r->count; ++i) {
		double c[ROWS] = {0};
		if (i >= r->rank)
			find_dependence(r, i, c);
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

/*
 * The pivot of combination j once more, as the compliance of the equations that it and all before it amount to with the
 * others free to follow.
 */
static LoopPivot recheck_pivot(const CalModel *model, const CalWork *work, const LoopStep *step, const LoopFactor *f,
                               int j) {
	const LoopSchedule *plan = work->loops.plan;
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
		add_coupled(before, w, lambda, &w->factor[before->loop], t);
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

/* ---- early places ------------------------------------------------------------------------------------- */

static spatial combined_wrench(const LoopFactor *f, int j, const double *gamma, int n) {
	return (spatial){
		{combined(f, j, gamma, 1), combined(f, j, gamma + n, 1), combined(f, j, gamma + 2 * n, 1)},
		{combined(f, j, gamma + 3 * n, 1), combined(f, j, gamma + 4 * n, 1), combined(f, j, gamma + 5 * n, 1)}};
}

/* Wrench of an equation of the loop of a step on the link of its place. */
static spatial row_wrench(const double *gamma, int n, int r) {
	return (spatial){{gamma[r], gamma[n + r], gamma[2 * n + r]},
	                 {gamma[3 * n + r], gamma[4 * n + r], gamma[5 * n + r]}};
}

/* On an early place: joints farther inboard could move combination j, of which its columns leave nothing or little. */
static int is_left_early(const CalModel *model, CalWork *work, const LoopStep *step, const LoopFactor *f, int j) {
	spatial Y[ROWS];
	for (int i = 0; step->early >= 0 && i <= j; ++i) {
		Y[i] = combined_wrench(f, i, work->loops.gamma + step->gamma, step->width);
		for (int k = 0; k < i; ++k)
			Y[i] = spatial_madd(Y[i], -f->L[i * STRIDE + k], Y[k]); // columns of L that were dropped are zero
	}
	return step->early >= 0 && loop_reaches(model, work, step->early, Y[j]);
}

/* The combination is held by a compliance of its own; refinement takes that out again. */
static double soften_pivot(CalWork *work, double pivot, double most) {
	work->loops.unsatisfied = work->loops.doubtful = 1;
	return fmax(pivot, SOFT * most);
}

/*
 * On an early place: equations that columns outboard do not move, or that others imply there, although joints farther
 * inboard could move what is left of them. Returns the set of the former, and in *implied whether there are any of the
 * latter.
 */
static int find_left(const CalModel *model, CalWork *work, const LoopStep *step, const Rows *r, int *implied) {
	const double *gamma = work->loops.gamma + step->gamma;
	int others = ((1 << model->loops[step->loop].rows) - 1) & ~work->loops.plan->ends[step->loop].inert, left = 0;
	for (int i = 0; i < r->count; ++i)
		others &= ~(1 << r->row[i]);
	for (int k = 0; others >> k; ++k) {
		if ((others >> k & 1) && loop_reaches(model, work, step->early, row_wrench(gamma, step->width, k)))
			left |= 1 << k;
	}
	*implied = 0;
	for (int i = r->rank; i < r->count && !*implied; ++i) {
		double c[ROWS];
		spatial wrench = row_wrench(gamma, step->width, r->row[i]);
		find_dependence(r, i, c);
		for (int j = 0; j < r->rank; ++j)
			wrench = spatial_madd(wrench, -c[j], row_wrench(gamma, step->width, r->row[j]));
		*implied = loop_reaches(model, work, step->early, wrench);
	}
	return left;
}

/* Such equations are kept; those that are redundant after all are dropped one by one. */
static void keep_left(const CalModel *model, CalWork *work, const LoopStep *step, Rows *r) {
	int implied;
	const int left = find_left(model, work, step, r, &implied);
	if (!left && !implied)
		return;
	work->loops.unsatisfied = 1;
	if (work->loops.plan->late_first || (work->loops.hold_rank && work->loops.factor[step->loop].held <= r->rank))
		return;
	for (int k = 0; left >> k; ++k) {
		if (left >> k & 1)
			r->row[r->count++] = k;
	}
	r->rank = r->count;
}

/* L D L' of the combinations; redundant ones are dropped. most: what compliances of the equations could be. */
static void factor_rows(const CalModel *model, CalWork *work, const LoopStep *step, const double *most, LoopFactor *f) {
	const double *own = work->loops.own + LOOP_BLOCK * step->loop, *taken = work->loops.taken + LOOP_BLOCK * step->loop;
	double left[LOOP_BLOCK] = {0};
	combine_block(f, own, f->L);
	combine_block(f, taken, left);
	for (int j = 0; j < f->count; ++j) {
		const double whole = f->L[j * STRIDE + j];
		double pivot = whole - left[j * STRIDE + j];
		for (int k = 0; k < j; ++k)
			pivot -= f->L[j * STRIDE + k] * f->L[j * STRIDE + k] * f->pivot[k];
		if (UNLIKELY(!(pivot >= DOUBTFUL * whole && pivot > 0)))
			pivot = is_left_early(model, work, step, f, j) ? soften_pivot(work, pivot, most[f->row[j]])
			                                               : check_pivot(model, work, step, f, j, whole);
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

/* Y_aA */
static void find_link_wrenches(const double *gamma, int n, LoopFactor *f) {
	for (int j = 0; j < f->count; ++j) {
		spatial Y = combined_wrench(f, j, gamma, n);
		for (int k = 0; k < j; ++k)
			Y = spatial_madd(Y, -f->L[j * STRIDE + k], f->A[k]);
		f->A[j] = f->inverse[j] != 0 ? Y : spatial_zero();
	}
}

/* What the closed loop adds to its link. */
static void update_link_inertia(const LoopFactor *f, ArticulatedInertia *M, spatial *b) {
	for (int j = 0; j < f->count; ++j) {
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

/* Right-hand side of a loop that is coupled with the one eliminated. */
INLINE void update_beta(const LoopFactor *f, int width, const double *Y, double *beta) {
	for (int j = 0; j < f->count; ++j)
		row_madd(-f->inverse[j] * f->y[j], width, Y + j * STRIDE, beta);
}

/* Its wrenches. */
INLINE void update_wrenches(const LoopFactor *f, int width, const double *Y, double *gamma, int n) {
	for (int j = 0; j < f->count; ++j) {
		for (int c = 0; c < width; c += PACK) {
			const pack x = pack_times(f->inverse[j], pack_load(Y + j * STRIDE + c));
			pspatial_store(gamma + c, n, pspatial_sub_outer(pspatial_load(gamma + c, n), f->A[j], x));
		}
	}
}

/* With the factor in place. */
static void eliminate_forces(const LoopStep *step, LoopWork *w, ArticulatedInertia *M, spatial *b) {
	const LoopNext *next = w->plan->next + step->next;
	LoopFactor *f = &w->factor[step->loop];
	substitute(f, w->beta + w->plan->ends[step->loop].row_offset, f->y);
	if (M)
		update_link_inertia(f, M, b);
	for (int i = 0; i < step->count; ++i) {
		const LoopEnds *ends = &w->plan->ends[next[i].loop];
		update_beta(f, ends->width, w->block + LOOP_BLOCK * next[i].block, w->beta + ends->row_offset);
	}
}

void LANED(loop_eliminate)(const CalModel *model, const LoopStep *step, CalWork *work, ArticulatedInertia *M,
                           spatial *b) {
	const LoopSchedule *plan = work->loops.plan;
	LoopWork *w = &work->loops;
	LoopFactor *f = &w->factor[step->loop];
	double least[ROWS];
	Rows rows;
	if (w->held) {
		eliminate_forces(step, w, M, b);
		return;
	}
	find_least(model, step->loop, w, least);
	find_independent(model, work, step->loop, least, &rows);
	if (UNLIKELY(step->early >= 0 && rows.rank < model->loops[step->loop].rows))
		keep_left(model, work, step, &rows);
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
	for (int r = 0; r < f->rows; ++r)
		least[r] *= 1 / w->singular;
	factor_rows(model, work, step, least, f);
	const LoopScale *scale = &w->scale[step->loop];
	if (UNLIKELY(scale->most > loop_somewhat_uneven(model) * scale->least) && scale->least > 0) // 0: no way, no levers
		w->uneven |= scale->most > loop_uneven(model) * scale->least ? 2 : 1;
	substitute(f, w->beta + plan->ends[step->loop].row_offset, f->y);
	const double inertia = M ? M->I.xx + M->I.yy + M->I.zz : 0, mass = M ? M->M.xx + M->M.yy + M->M.zz : 0;
	if (M) {
		find_link_wrenches(w->gamma + step->gamma, step->width, f);
		update_link_inertia(f, M, b);
	}
	if (M && step->early >= 0 &&
	    (M->I.xx + M->I.yy + M->I.zz > SWAMPED * inertia || M->M.xx + M->M.yy + M->M.zz > SWAMPED * mass))
		w->unsatisfied = w->doubtful = 1;
	const LoopNext *next = plan->next + step->next;
	const int32_t *update = plan->updates + step->update;
	for (int i = 0; i < step->count; ++i)
		substitute_block(f, plan->ends[next[i].loop].width, w->block + LOOP_BLOCK * next[i].block);
	for (int i = 0; i < step->count; ++i) {
		const LoopEnds *ends = &plan->ends[next[i].loop];
		const int n = model->loops[next[i].loop].rows;
		const double *Y = w->block + LOOP_BLOCK * next[i].block;
		update_beta(f, ends->width, Y, w->beta + ends->row_offset);
		if (M)
			update_wrenches(f, ends->width, Y, w->gamma + next[i].gamma, step->width);
		update_block(f, 1, n, Y, ends->width, Y, w->taken + LOOP_BLOCK * (-1 - *update++));
		for (int k = i + 1; k < step->count; ++k)
			update_block(f, -1, n, Y, plan->ends[next[k].loop].width, w->block + LOOP_BLOCK * next[k].block,
			             w->block + LOOP_BLOCK * *update++);
	}
}

void LANED(loop_resolve)(const LoopStep *step, LoopWork *w, const spatial *A) {
	const LoopFactor *f = &w->factor[step->loop];
	double t[ROWS], mu[ROWS] = {0};
	for (int j = 0; j < f->count; ++j)
		t[j] = f->y[j] + (A ? spatial_dot(f->A[j], *A) : 0);
	add_coupled(step, w, w->force, f, t);
	back_substitute(f, t, mu, w->force + w->plan->ends[step->loop].row_offset);
}

#endif
