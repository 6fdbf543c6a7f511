// SPDX-License-Identifier: Apache-2.0
/*
 * loop_search.c — can loops be closed at all? For states from which the projection gets no further.
 *
 * Gauss and Newton get stuck at singular positions: a linkage stretched flat, where the residual has no part along any
 * direction that the coordinates can move it to, and long steps next to one. Damped steps of Levenberg and Marquardt,
 *   dq = -G'(G G' + mu)^-1 g   over the free coordinates,
 * lead to the nearest place where the sum of squares of the residuals has a minimum, or a saddle. From there the free
 * coordinates are pushed aside, by more each time: what a push makes smaller is pursued; where no push helps, the constraints
 * cannot be met from here. The number of steps is bounded. A push may lead to quite another position of the mechanism: the
 * state goes there only if that was asked for and is much better, and otherwise stays at the first minimum.
 */
#include <calder/loops.h>
#include "dynamics/loop/loops.h"
#include "dynamics/tree/kinematics.h"
#include "math/min_norm.h"
#include "math/portable.h"

#if CAL_LANES == 1

enum {
	MOST_STEPS = 400, // of one search, fewer in large systems
	PATIENCE = 12,    // steps without progress: a minimum
};
static const double PROGRESS = 1e-4;              // relative decrease of the sum of squares over PATIENCE steps
static const double PUSHED_PROGRESS = 1e-2;       // the same after a push
static const double BETTER = 1e-3;                // a push that leads this much further down was worth it
static const double MUCH = 0.25;                  // what another position must leave of the sum to go there
static const double WORK = 1e10;                  // multiplications of one search
static const double pushes[] = {0.03, 0.3, 1, 2}; // [rad, or lengths of the loops]

typedef struct Search {
	const CalModel *model;
	const uint8_t *frozen; // may be NULL
	double t;
	const double *u;
	double tolerance; // in units of the equations
	double length;    // of the longest loop
	CalWork *work;
	int steps, most; // so far, and at most
} Search;

/* A step is dense in the rows of a block: what it costs, not only how many there are, is bounded. */
static int most_steps(const CalModel *model) {
	return (int)fmin(MOST_STEPS, fmax(1, WORK / fmax(loop_blocks_cost(model->blocks), 1)));
}

static double squared_residual(const Search *s, const double *q) {
	kinematics_outward(s->model, q, s->u, s->work);
	loop_rows(s->model, &(LoopContext){.t = s->t, .q = q, .u = s->u, .plain = 1}, s->work);
	return loop_squared_residual(s->model, s->work);
}

static int is_closed(const Search *s) {
	for (int l = 0; l < s->model->loop_count; ++l) {
		const Loop *loop = &s->model->loops[l];
		for (int i = 0; i < loop->rows; ++i) {
			if (!(fabs(s->work->loops.row[loop->row + i].value) <= s->tolerance * loop->unit[i]))
				return 0;
		}
	}
	return 1;
}

static int is_free(const Search *s, int k) { return !s->frozen || !s->frozen[k]; }

/* A slide by the length of the loops is as much as a turn by 1 rad; so is a mode, which has a unit of its own. */
static double coordinate_unit(const Search *s, int k) {
	const Link *link = &s->model->links[s->model->dofs[k].link];
	const int joint = k >= link->u && k < link->u + link->nu;
	return joint && primitive_column_kind((JointPrimitive)link->motion, k - link->u) == COLUMN_TRANSLATION ? s->length
	                                                                                                       : 1;
}

/* Row r of a block of G, in its unit and that of the coordinates; returns the square of its length. */
static double linearize_row(const Search *s, const LoopBlock *b, int r, double unit) {
	const int32_t *column = s->model->blocks->columns + b->column;
	double *row = loop_block_row(b, s->work->loops.G, r), square = 0;
	for (int k = 0; k < b->columns; ++k) {
		row[k] = is_free(s, column[k]) ? row[k] * coordinate_unit(s, column[k]) / unit : 0;
		square += row[k] * row[k];
	}
	return square;
}

/*
 * G and (gathered, block after block) the residuals at the position of the equations, without the columns that cannot
 * move; returns the largest of |row|^2.
 */
static double linearize(const Search *s) {
	LoopWork *w = &s->work->loops;
	const LoopBlocks *blocks = s->model->blocks;
	double most = 0;
	loop_drop_speed_rows(s->model, w);
	loop_jacobian(s->model, s->work);
	for (int l = 0; l < s->model->loop_count; ++l) {
		const Loop *loop = &s->model->loops[l];
		const LoopBlock *b = &blocks->blocks[blocks->block_of[l]];
		for (int i = 0; i < loop->rows; ++i) {
			most = fmax(most, linearize_row(s, b, blocks->row_at[l] - b->row + i, loop->unit[i]));
			w->gathered[blocks->row_at[l] + i] = w->row[loop->row + i].value / loop->unit[i];
		}
	}
	return most;
}

/* dq of a damped step from the G and residuals that are kept in work, in the columns of a block. */
static void damped_step(const Search *s, const LoopBlock *b, double mu) {
	LoopWork *w = &s->work->loops;
	const int m = b->rows;
	const int32_t *column = s->model->blocks->columns + b->column;
	double *Lambda = w->Lambda + b->square, *scratch = w->scratch + b->square + 2 * (size_t)b->row;
	double *lambda = w->gathered + s->model->row_count + b->row;
	for (int i = 0; i < m; ++i) {
		for (int j = 0; j <= i; ++j) {
			const double *G = loop_block_row(b, w->G, i), *H = loop_block_row(b, w->G, j);
			double sum = i == j ? mu : 0;
			for (int k = 0; k < b->columns; ++k)
				sum += G[k] * H[k];
			Lambda[i * m + j] = Lambda[j * m + i] = sum;
		}
	}
	const int rank = min_norm_factor(m, Lambda, 1e-15, w->order + b->row, w->independent + b->row, scratch);
	min_norm_solve(m, rank, Lambda, w->order + b->row, scratch, w->gathered + b->row, lambda);
	for (int i = 0; i < m; ++i) {
		const double *G = loop_block_row(b, w->G, i);
		for (int k = 0; k < b->columns; ++k)
			w->dq[column[k]] -= lambda[i] * G[k];
	}
}

static void damped_steps(const Search *s, double mu) {
	memset(s->work->loops.dq, 0, sizeof(double) * (size_t)s->model->nu);
	for (int i = 0; i < s->model->blocks->count; ++i)
		damped_step(s, &s->model->blocks->blocks[i], mu);
}

/* Decrease of the sum of squares that the linear model promises for dq: dq.(mu dq - G'z). */
static double predicted_decrease(const Search *s, double mu) {
	LoopWork *w = &s->work->loops;
	double sum = 0;
	for (int k = 0; k < s->model->nu; ++k)
		sum += mu * w->dq[k] * w->dq[k];
	for (int i = 0; i < s->model->blocks->count; ++i) {
		const LoopBlock *b = &s->model->blocks->blocks[i];
		const int32_t *column = s->model->blocks->columns + b->column;
		for (int r = 0; r < b->rows; ++r) {
			const double *G = loop_block_row(b, w->G, r);
			for (int k = 0; k < b->columns; ++k)
				sum -= w->gathered[b->row + r] * G[k] * w->dq[column[k]];
		}
	}
	return sum;
}

/*
 * Down from w->at to the next minimum, left there with its equations; returns the sum of squares. `damping` follows what
 * steps keep of their promise (Nielsen); `pace` says when the last PATIENCE steps brought too little.
 */
static double descend(Search *s, double progress) {
	LoopWork *w = &s->work->loops;
	const size_t nq = (size_t)s->model->nq;
	double least = squared_residual(s, w->at), pace = least, damping = 1e-2, growth = 2, scale = 0;
	for (int k = 1, fresh = 1; s->steps < s->most && !is_closed(s); ++k, ++s->steps) {
		if (k % PATIENCE == 0) {
			if (least > (1 - progress) * pace)
				break;
			pace = least;
		}
		if (fresh)
			scale = linearize(s);
		if (!(scale > 0))
			break;
		damped_steps(s, damping * scale);
		const double promise = predicted_decrease(s, damping * scale);
		for (int i = 0; i < s->model->nu; ++i)
			w->dq[i] *= coordinate_unit(s, i);
		cal_config_integrate(s->model, w->at, w->dq, w->q);
		const double after = squared_residual(s, w->q);
		fresh = after < least;
		if (fresh) {
			const double kept = 2 * (least - after) / promise - 1;
			damping = fmax(damping * fmax(1.0 / 3, 1 - kept * kept * kept), 1e-14);
			growth = 2;
			least = after;
			memcpy(w->at, w->q, sizeof(double) * nq);
		} else {
			squared_residual(s, w->at);
			damping = fmin(damping * growth, 1e6);
			growth *= 2;
		}
	}
	return least;
}

/* Free coordinates of q pushed aside, into w->at: a fixed pattern that favours none of them. */
static void perturb(const Search *s, const double *q, int turn, double by) {
	LoopWork *w = &s->work->loops;
	for (int k = 0; k < s->model->nu; ++k)
		w->dq[k] = is_free(s, k) ? by * coordinate_unit(s, k) * portable_sin(2.4 * (k + 1) + 1.7 * turn) : 0;
	cal_config_integrate(s->model, q, w->dq, w->at);
}

LoopVerdict loop_search(const CalModel *model, CalState *state, const uint8_t *frozen, double tolerance, int go,
                        CalWork *work, int *steps) {
	LoopWork *w = &work->loops;
	Search s = {.model = model,
	            .frozen = frozen,
	            .t = state->t,
	            .u = state->u,
	            .tolerance = tolerance,
	            .work = work,
	            .most = most_steps(model)};
	for (int l = 0; l < model->loop_count; ++l)
		s.length = fmax(s.length, model->loops[l].reach);
	const size_t nq = sizeof(double) * (size_t)model->nq;
	const int tries = (int)(sizeof pushes / sizeof pushes[0]);
	memcpy(w->at, state->q, nq);
	const double first = descend(&s, PROGRESS);
	memcpy(state->q, w->at, nq);
	memcpy(w->base, w->at, nq);
	double least = first;
	int closed = is_closed(&s), turn = 0;
	for (; !closed && turn < tries && s.steps < s.most; ++turn) {
		perturb(&s, w->base, turn, pushes[turn]);
		const double found = descend(&s, PUSHED_PROGRESS);
		closed = is_closed(&s);
		if (closed || found < (1 - BETTER) * least) {
			least = found;
			memcpy(w->base, w->at, nq);
			turn = -1;
		}
	}
	if (go && least < MUCH * first)
		memcpy(state->q, w->base, nq);
	squared_residual(&s, state->q);
	*steps += s.steps;
	return is_closed(&s)                                  ? LOOP_CLOSED
	       : !closed && turn == tries && s.steps < s.most ? LOOP_UNREACHABLE
	                                                      : LOOP_UNDECIDED;
}

#endif
