// SPDX-License-Identifier: Apache-2.0
/*
 * loop_rank.c — gains of constraint equations without masses [THEORY (5.16), (5.17)].
 *
 * Lambda = P'D^-1 P over the columns k on the path of a loop; P = L^-1 G' with M = L D L', so that P has the rank of G
 * whatever the masses. The geometric block is P'N^-2 P with N_k the largest gain that column k could have for an equation of
 * the loop: a lever as long as the path of the loop. Where D^-1 spans ten decades, a combination of equations that is left
 * with 1e-10 of its compliance may be as independent as any; in the geometric block it has what its directions leave
 * it. Used only where compliances leave a doubt.
 */
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_rank.h"

#if CAL_LANES == 1

enum { STRIDE = LOOP_STRIDE };

/* A free column, with the gains of the loops from `first` on. */
typedef struct Column {
	const LoopLink *at;
	const LoopHere *here;
	int first;
	const double *gain; // by LoopHere.first
	const double *tiny; // of a mode the same; NULL: of a joint
	int k;              // of the joint
	double turn, slide; // of a joint, once it is measured
	double d;           // 1/D
} Column;

/* Over the columns of all links outboard of one, or of the ground, from the tips inwards. */
typedef struct Walk {
	const CalModel *model;
	const CalWork *work;
	int place, link, column;
} Walk;

INLINE double larger_of(double a, double b) { return b > a ? b : a; }
INLINE double size_of(vec3 v) { return fabs(v.x) + fabs(v.y) + fabs(v.z); }

static Walk walk_begin(const CalModel *model, const CalWork *work, int place) {
	return (Walk){model, work, place, work->loops.plan->link_count - 1, 0};
}

static Column joint_column(const Walk *walk, const LoopLink *at, int k) {
	const LoopWork *w = &walk->work->loops;
	return (Column){.at = at,
	                .here = walk->work->loops.plan->here + at->here,
	                .first = at->closing,
	                .gain = w->gain + at->gains + k * (at->width - at->open) - at->open,
	                .k = k,
	                .d = walk->work->dofs[walk->model->links[at->link].u + k].D_inv};
}

/* What it does at a lever. */
static void measure_column(const CalModel *model, const CalWork *work, Column *c) {
	if (c->tiny)
		return;
	const spatial S = link_column(work, &model->links[c->at->link], c->at->link, c->k);
	c->turn = size_of(S.a);
	c->slide = size_of(S.l);
}

static Column modal_column(const Walk *walk, const LoopLink *at, int k) {
	const LoopWork *w = &walk->work->loops;
	return (Column){.at = at,
	                .here = walk->work->loops.plan->here + at->here,
	                .gain = w->modal + at->modal + k * at->width,
	                .tiny = w->modal_tiny + at->modal + k * at->width,
	                .d = walk->work->flex[walk->model->links[at->link].flex_body].inverse[k]};
}

/* The next column that is free to move; 0: there is none. The link on which the loop is eliminated has modes, but no joint. */
static int walk_next(Walk *walk, Column *column) {
	for (; walk->link >= 0; --walk->link, walk->column = 0) {
		const LoopLink *at = &walk->work->loops.plan->links[walk->link];
		const Link *link = &walk->model->links[at->link];
		const int joint = at->link > walk->place ? link->nu : 0;
		const int modes = at->modal >= 0 && at->link >= walk->place ? walk->model->flexes[link->flex_body].m : 0;
		while (walk->column < joint + modes) {
			const int k = walk->column++;
			*column = k < joint ? joint_column(walk, at, k) : modal_column(walk, at, k - joint);
			if (column->d != 0)
				return 1;
		}
	}
	return 0;
}

/* What column c could move equation r of the loop at place j by, with a lever as long as the path of the loop. */
static double possible_gain(const CalModel *model, const CalWork *work, const Column *c, int j, int r) {
	const LoopHere *here = &c->here[j];
	const Loop *loop = &model->loops[here->loop];
	if (c->tiny)
		return c->tiny[here->first + r] / LOOP_ROUND_OFF;
	const spatial *d = &work->loops.row[loop->row + r].direction;
	return c->turn * size_of(d->a) + (c->turn * loop->reach + c->slide) * size_of(d->l);
}

/* N of a loop on a column. */
static double column_size(const CalModel *model, const CalWork *work, const Column *c, int j) {
	const LoopHere *here = &c->here[j];
	double size = 0;
	for (int r = 0; r < here->rows; ++r) {
		const double gain = fabs(c->gain[here->first + r]); // couplings have no direction
		const double possible = possible_gain(model, work, c, j, r);
		size = larger_of(size, larger_of(possible, gain) / model->loops[here->loop].unit[r]);
	}
	return size;
}

/* What lambda of all loops, and `alone` of one, do along a column. */
static void act_on_column(const Column *c, int loop, const double *alone, const double *lambda, double *p,
                          double *own) {
	*p = *own = 0;
	for (int j = c->first; j < c->at->count; ++j) {
		const LoopHere *here = &c->here[j];
		for (int r = 0; r < here->rows; ++r) {
			*p += c->gain[here->first + r] * lambda[here->row_offset + r];
			*own += here->loop == loop ? c->gain[here->first + r] * alone[r] : 0;
		}
	}
}

LoopPivot loop_pivot(const CalModel *model, const CalWork *work, int loop, const double *alone, const double *lambda) {
	double mass = 0, left = 0, whole = 0;
	Walk walk = walk_begin(model, work, work->loops.plan->ends[loop].place);
	for (Column c; walk_next(&walk, &c);) {
		double p, own, size = 0;
		act_on_column(&c, loop, alone, lambda, &p, &own);
		if (p == 0 && own == 0)
			continue;
		measure_column(model, work, &c);
		for (int j = c.first; j < c.at->count; ++j)
			size = larger_of(size, column_size(model, work, &c, j));
		mass += c.d * p * p;
		left += size > 0 ? p * p / (size * size) : 0;
		whole += size > 0 ? own * own / (size * size) : 0;
	}
	return (LoopPivot){mass, whole > 0 ? left / whole : 0};
}

double loop_mobility_of_row(const CalModel *model, const CalWork *work, int loop, int r) {
	double most = 0;
	Walk walk = walk_begin(model, work, work->loops.plan->ends[loop].place);
	for (Column c; walk_next(&walk, &c);) {
		measure_column(model, work, &c);
		for (int j = c.first; j < c.at->count; ++j) {
			if (c.here[j].loop != loop)
				continue;
			const double part = c.gain[c.here[j].first + r] / possible_gain(model, work, &c, j, r);
			most = part * part > most ? part * part : most;
		}
	}
	return most;
}

void loop_geometric_block(const CalModel *model, const CalWork *work, int loop, double *block) {
	const int rows = model->loops[loop].rows;
	memset(block, 0, sizeof(double) * LOOP_BLOCK);
	Walk walk = walk_begin(model, work, work->loops.plan->ends[loop].place);
	for (Column c; walk_next(&walk, &c);) {
		measure_column(model, work, &c);
		for (int j = c.first; j < c.at->count; ++j) {
			const double size = c.here[j].loop == loop ? column_size(model, work, &c, j) : 0;
			const double *gain = c.gain + c.here[j].first;
			for (int r = 0; size > 0 && r < rows; ++r) {
				for (int s = 0; s < rows; ++s)
					block[r * STRIDE + s] += gain[r] / size * (gain[s] / size);
			}
		}
	}
}

#endif
