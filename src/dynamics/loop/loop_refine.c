// SPDX-License-Identifier: Apache-2.0
/*
 * loop_refine.c — refinement of accelerations with loops [THEORY 5].
 *
 * Phi = G M^-1 G' of a mechanism with light links is a sum of large and small compliances: what only heavy links move is
 * rounded off by the light ones, by 1e-16 of their ratio, and so are the accelerations of light links, which are small
 * differences of forces over small masses. Neither is in the nature of the problem. With the accelerations that an
 * approximate factor gave, the rows still accelerate by r = G udot - gamma, known from kinematics without any mass:
 *   Phi dlambda = -r,   udot += M^-1 G'dlambda,   lambda += dlambda
 * Each turn leaves 1e-16 of the ratio of what was left before it. Every udot obeys M udot = f + G'lambda as well as forces
 * are known; the sum of the corrections carries the digits of lambda that a single number could not.
 */
#include "dynamics/loop/loop_refine.h"
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/tree/kinematics.h"

#if CAL_LANES == 1

enum { TURNS = 12 };
static const double ENOUGH = 4e-16; // of the accelerations that a row is made of
static const double WORTHWHILE = 0.5;

/* Numbers that last from turn to turn, of work->loops.refined [2 m + 2 n]. */
typedef struct Refinement {
	double *size, *lambda; // [m] what the accelerations of a row are made of; all forces so far
	double *udot, *force;  // [n] before the last turn; what it did to forces of what is prescribed
} Refinement;

static Refinement numbers_of(const CalModel *model, const LoopWork *w) {
	const int m = model->row_count, n = model->nu;
	double *next = w->refined;
	return (Refinement){next, next + m, next + 2 * m, next + 2 * m + n};
}

/* Rows at udot, and what they accelerate by in z. */
static void update_accelerations(const CalModel *model, const LoopRefine *at, CalWork *work) {
	const CalState *s = at->state;
	kinematics_outward(model, s->q, s->u, work);
	kinematics_accelerate(model, at->udot, work);
	loop_rows(model, &(LoopContext){s->t, s->q, s->u, at->udot, LOOP_MOTION, 0}, work);
	for (int i = 0; i < model->row_count; ++i)
		work->loops.z[i] = work->loops.row[i].acceleration;
}

INLINE double length(vec3 v) { return sqrt(dot(v, v)); }

/* What the accelerations of the rows of a loop are made of: those of its frames and of links that turn on its way. */
static void measure_row(const CalModel *model, const LoopRefine *at, const CalWork *work, int l, double *size) {
	const Loop *loop = &model->loops[l];
	LoopFrame A, B;
	loop_frame(model, work, loop, 0, LOOP_MOTION, &A);
	loop_frame(model, work, loop, 1, LOOP_MOTION, &B);
	const double w = length(A.w) + length(B.w), al = length(A.al) + length(B.al) + w * w;
	const double a = length(A.a) + length(B.a) + w * (length(A.v) + length(B.v)) + al * loop->reach;
	for (int i = loop->row; i < loop->row + loop->rows; ++i) {
		const spatial *d = &work->loops.row[i].direction;
		size[i] = length(d->a) * al + length(d->l) * a;
		for (int k = 0; k < loop->term_count; ++k)
			size[i] += fabs(loop->term[k].factor * at->udot[loop->term[k].u]);
	}
}

/* The largest part of its size that a row accelerates by; of those that were left out none is expected. */
static double largest_left(const CalModel *model, const LoopWork *w, const double *size) {
	double most = 0;
	for (int i = 0; i < model->row_count; ++i) {
		if (w->independent[i] && fabs(w->z[i]) > most * size[i])
			most = size[i] > 0 ? fabs(w->z[i]) / size[i] : INFINITY;
	}
	return most;
}

/* One turn: udot, lambda and forces follow. Nonzero: M is singular. */
static int add_correction(const CalModel *model, const LoopRefine *at, const Refinement *r, CalWork *work) {
	LoopWork *w = &work->loops;
	if (loop_correct_again(model, at->state->q, at->prescribed, at->rotor, work, r->force) != CAL_OK)
		return 1;
	for (int i = 0; i < model->row_count; ++i)
		r->lambda[i] += w->lambda[i];
	for (int k = 0; k < model->nu; ++k) {
		r->udot[k] = at->udot[k];
		at->udot[k] += at->prescribed && at->prescribed[k] ? 0 : w->dq[k];
		if (at->force)
			at->force[k] += r->force[k];
	}
	return 0;
}

/* Back to what was before the last turn. */
static void undo_correction(const CalModel *model, const LoopRefine *at, const Refinement *r, CalWork *work) {
	for (int i = 0; i < model->row_count; ++i)
		r->lambda[i] -= work->loops.lambda[i];
	for (int k = 0; k < model->nu; ++k) {
		at->udot[k] = r->udot[k];
		if (at->force)
			at->force[k] -= r->force[k];
	}
	update_accelerations(model, at, work);
}

void loop_refine(const CalModel *model, const LoopRefine *at, CalWork *work) {
	LoopWork *w = &work->loops;
	const Refinement r = numbers_of(model, w);
	const int contradict = w->contradict;
	memcpy(r.lambda, w->lambda, sizeof(double) * (size_t)model->row_count);
	update_accelerations(model, at, work);
	for (int l = 0; l < model->loop_count; ++l)
		measure_row(model, at, work, l, r.size);
	double left = largest_left(model, w, r.size);
	for (int turn = 0; turn < TURNS && left > ENOUGH; ++turn) {
		if (add_correction(model, at, &r, work))
			break;
		update_accelerations(model, at, work);
		const double after = largest_left(model, w, r.size);
		if (!(after < WORTHWHILE * left)) {
			undo_correction(model, at, &r, work);
			break;
		}
		left = after;
	}
	w->left = left;
	w->contradict = contradict;
	memcpy(w->lambda, r.lambda, sizeof(double) * (size_t)model->row_count);
}

#endif
