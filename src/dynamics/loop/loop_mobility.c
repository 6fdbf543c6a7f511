// SPDX-License-Identifier: Apache-2.0
/*
 * loop_mobility.c — what loops leave of the degrees of freedom: rank, redundant equations, and speeds that can be chosen
 * freely.
 *
 * Gauss and Jordan on G over the free speeds, rows scaled to length 1, with the largest element of all that is left as the
 * pivot. A pivot's equation is independent, its column a dependent speed; in the end every independent one reads
 *   u_dependent + sum_j T_j u_j = 0   over the independent speeds u_j.
 * An entry |T_j| > 1 means that exchanging the two speeds makes the determinant of the dependent block larger by just that
 * factor: this is done until there is none, so that no dependent speed is larger than the sum of the independent ones.
 *
 * Where several pivots are as good as each other the first row and the last column win, and equal exchanges follow: speeds
 * near the ground stay independent. Speeds that the caller chose are never pivots, and none is exchanged. Right-hand sides
 * follow the rows: with them a row reads  u_dependent + sum_j T_j u_j = right.  The search keeps the best element of each row, and only rows that a pivot changed are
 * searched again. All of it by blocks of the Jacobian (model/loop_blocks.h): mechanisms side by side do not see each other.
 */
#include <calder/loops.h>
#include "dynamics/loop/loops.h"
#include "dynamics/tree/kinematics.h"

#if CAL_LANES == 1

/* What is left of a redundant equation of length 1; the root of what loops.c takes for its squares. */
static const double DEPENDENT = 3e-6;
static const double NOTHING = 1e-12; // of the longest row: round-off in what rows are made of
static const double SAME = 1e-9;     // numbers that differ by less, relatively, are equal

typedef struct Tableau {
	int m, n;
	double *T;             // [m][n]
	const int32_t *speed;  // [n] of the columns
	const uint8_t *frozen; // by speed
	const uint8_t *chosen; // by speed, independent by choice; NULL: none is
	double *right[2];      // [m] right-hand sides, NULL: none
	int *pivot;            // [m] dependent speed of a row, -1: none
	int *column;           // [m] of the largest element of a row, -1: nothing is left
	double *size;          // [m] of it
	double least;          // smallest pivot so far
} Tableau;

static double *row_of(const Tableau *t, int i) { return t->T + (size_t)i * (size_t)t->n; }

static double length_of(const Tableau *t, int i) {
	const double *row = row_of(t, i);
	double square = 0;
	for (int k = 0; k < t->n; ++k)
		square += row[k] * row[k];
	return sqrt(square);
}

/* Columns that cannot move are left out; rows that have no others vanish. */
static void scale_rows(const Tableau *t) {
	double longest = 0;
	for (int i = 0; i < t->m; ++i)
		longest = fmax(longest, length_of(t, i));
	for (int i = 0; i < t->m; ++i) {
		double *row = row_of(t, i);
		for (int k = 0; k < t->n; ++k)
			row[k] = t->frozen[t->speed[k]] ? 0 : row[k];
		const double length = length_of(t, i);
		for (int k = 0; k < t->n; ++k)
			row[k] = length > NOTHING * longest ? row[k] / length : 0;
		for (int r = 0; t->right[0] && r < 2; ++r)
			t->right[r][i] = length > NOTHING * longest ? t->right[r][i] / length : 0;
	}
}

static void search_row(Tableau *t, int i) {
	const double *row = row_of(t, i);
	t->size[i] = 0, t->column[i] = -1;
	for (int k = t->n - 1; k >= 0; --k) {
		if (fabs(row[k]) > t->size[i] * (1 + SAME) && !(t->chosen && t->chosen[t->speed[k]])) {
			t->size[i] = fabs(row[k]);
			t->column[i] = k;
		}
	}
}

/* Row i solved for speed k, which then occurs in no other row. Rows that change are searched again as far as asked. */
static void choose_pivot(Tableau *t, int i, int k, int search) {
	double *row = row_of(t, i);
	const double by = row[k];
	for (int j = 0; j < t->n; ++j)
		row[j] /= by;
	row[k] = 1;
	t->pivot[i] = k;
	for (int r = 0; t->right[0] && r < 2; ++r)
		t->right[r][i] /= by;
	for (int l = 0; l < t->m; ++l) {
		double *other = row_of(t, l);
		const double f = other[k];
		if (l == i || f == 0)
			continue;
		for (int j = 0; j < t->n; ++j)
			other[j] -= f * row[j];
		other[k] = 0;
		for (int r = 0; t->right[0] && r < 2; ++r)
			t->right[r][l] -= f * t->right[r][i];
		if (search && t->pivot[l] < 0)
			search_row(t, l);
	}
}

static int eliminate_rows(Tableau *t) {
	scale_rows(t);
	t->least = 1;
	for (int i = 0; i < t->m; ++i) {
		t->pivot[i] = -1;
		search_row(t, i);
	}
	for (int rank = 0;; ++rank) {
		int best = -1;
		for (int i = 0; i < t->m; ++i) {
			if (t->pivot[i] < 0 && t->size[i] > DEPENDENT && (best < 0 || t->size[i] > t->size[best] * (1 + SAME)))
				best = i;
		}
		if (best < 0)
			return rank;
		t->least = fmin(t->least, t->size[best]);
		choose_pivot(t, best, t->column[best], 1);
	}
}

/* The largest entry above 1 of a dependent speed; its row, or -1. */
static int worst_exchange(const Tableau *t, int *column) {
	double most = 1 + SAME;
	int worst = -1;
	for (int i = 0; i < t->m; ++i) {
		const double *row = row_of(t, i);
		for (int k = 0; t->pivot[i] >= 0 && k < t->n; ++k) {
			if (fabs(row[k]) > most * (1 + SAME)) {
				most = fabs(row[k]);
				worst = i, *column = k;
			}
		}
	}
	return worst;
}

/* The dependent speed nearest to the ground that may as well be independent instead of one further out; its row, or -1. */
static int equal_exchange(const Tableau *t, int *column) {
	int nearest = -1;
	for (int i = 0; i < t->m; ++i) {
		const double *row = row_of(t, i);
		if (t->pivot[i] < 0 || (nearest >= 0 && t->pivot[i] > t->pivot[nearest]))
			continue;
		for (int k = t->n - 1; k > t->pivot[i]; --k) {
			if (fabs(row[k]) > 1 - SAME) {
				nearest = i, *column = k;
				break;
			}
		}
	}
	return nearest;
}

/*
 * Exchanges that are an improvement make the determinant larger, equal ones bring a speed nearer to the ground: none comes
 * back. After complete pivoting there are few.
 */
static void exchange_columns(Tableau *t) {
	for (int left = t->n; left > 0; --left) {
		int column = -1, row = worst_exchange(t, &column);
		if (row < 0)
			row = equal_exchange(t, &column);
		if (row < 0)
			return;
		choose_pivot(t, row, column, 0);
	}
}

/* Redundant equations hold nothing but round-off. */
static void clear_dependent_rows(const Tableau *t) {
	for (int i = 0; i < t->m; ++i) {
		if (t->pivot[i] < 0)
			memset(row_of(t, i), 0, sizeof(double) * (size_t)t->n);
	}
}

/* The equations of a block as they are in w->G, nothing eliminated yet. */
static Tableau load_block(const CalModel *model, const LoopBlock *b, const uint8_t *frozen, LoopWork *w) {
	Tableau t = {.m = b->rows,
	             .n = b->columns,
	             .T = w->X + b->G,
	             .speed = model->blocks->columns + b->column,
	             .frozen = frozen,
	             .pivot = w->order + b->row,
	             .column = w->column + b->row,
	             .size = w->gathered + b->row};
	if (b->columns > 0)
		memcpy(t.T, w->G + b->G, sizeof(double) * (size_t)t.m * (size_t)t.n);
	return t;
}

/* Of a block: the rank, which of its rows are independent and which of its speeds dependent. */
static int find_block_rank(const CalModel *model, const LoopBlock *b, const uint8_t *frozen, LoopWork *w, uint8_t *rows,
                           uint8_t *speeds) {
	Tableau t = load_block(model, b, frozen, w);
	const int rank = eliminate_rows(&t);
	for (int i = 0; rows && i < t.m; ++i)
		rows[model->blocks->rows[b->row + i]] = t.pivot[i] >= 0;
	if (!speeds)
		return rank;
	clear_dependent_rows(&t);
	exchange_columns(&t);
	for (int i = 0; i < t.m; ++i) {
		if (t.pivot[i] >= 0)
			speeds[t.speed[t.pivot[i]]] = 0;
	}
	return rank;
}

int loop_eliminate_speeds(const CalModel *model, const uint8_t *frozen, const uint8_t *chosen, LoopWork *w,
                          double *least) {
	int rank = 0;
	*least = 1;
	for (int i = 0; model->blocks && i < model->blocks->count; ++i) {
		const LoopBlock *b = &model->blocks->blocks[i];
		Tableau t = load_block(model, b, frozen, w);
		t.chosen = chosen;
		t.right[0] = w->z + b->row, t.right[1] = w->lambda + b->row;
		rank += eliminate_rows(&t);
		*least = fmin(*least, t.least);
		clear_dependent_rows(&t);
		if (!chosen)
			exchange_columns(&t);
	}
	return rank;
}

CalStatus cal_loop_mobility(const CalModel *model, const CalState *state, const uint8_t *frozen, CalWork *work,
                            CalMobility *mobility, uint8_t *rows, uint8_t *speeds) {
	if (!model || !state || !work || work->model != model || !mobility)
		return CAL_ERR_ARGUMENT;
	LoopWork *w = &work->loops;
	w->acting = 0;
	kinematics_outward(model, state->q, state->u, work);
	loop_rows(model, &(LoopContext){.t = state->t, .q = state->q, .u = state->u, .plain = 1}, work);
	loop_jacobian(model, work);
	frozen = frozen ? frozen : model->prescribed;
	*mobility = (CalMobility){0};
	for (int k = 0; k < model->nu; ++k) {
		mobility->dofs += !frozen[k];
		if (speeds)
			speeds[k] = !frozen[k];
	}
	for (int i = 0; model->blocks && i < model->blocks->count; ++i)
		mobility->rank += find_block_rank(model, &model->blocks->blocks[i], frozen, w, rows, speeds);
	mobility->mobility = mobility->dofs - mobility->rank;
	return CAL_OK;
}

CalStatus cal_loop_independent(const CalModel *model, const CalState *state, CalWork *work, uint8_t *independent,
                               int *count) {
	CalMobility mobility;
	if (!independent || !count)
		return CAL_ERR_ARGUMENT;
	const CalStatus status = cal_loop_mobility(model, state, NULL, work, &mobility, NULL, independent);
	if (status == CAL_OK)
		*count = mobility.mobility;
	return status;
}

#endif
