// SPDX-License-Identifier: Apache-2.0
/*
 * loop_refine.c — refinement of accelerations with loops [THEORY 5.5, (5.18), (5.19)].
 *
 * Lambda = G M^-1 G' of a mechanism with light links is a sum of large and small compliances: what only heavy links
 * move is rounded off by the light ones, by 1e-16 of their ratio. Forces on a light link cancel, and what round-off
 * leaves of them is divided by its mass. Neither is in the nature of the problem (decision 0026). With residuals of
 * twice the digits (loop_residual.c), the approximate factor solves for what is missing:
 *   [M G'; G 0] [dudot; -dlambda] = [residual; -z],   udot += dudot,   lambda += dlambda
 * Each turn leaves as large a part of what was left before it as the factor has lost: 1e-16 of the ratio. udot and
 * lambda are twofold, since rounding them would leave residuals of the same size. If corrections d, d' of two turns
 * show how much a turn leaves, d'^2/d is left after the second, but no less than the digits that the factor may have
 * lost: the first correction of a bad start says nothing of what the second leaves.
 */
#include "dynamics/loop/loop_refine.h"
#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_round_off.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"

#if CAL_LANES == 1

enum { TURNS = 24 };
static const double ENOUGH = 1e-15; // of udot and lambda
static const double WRONG = 1e-6;   // of them: no result
static const double NOTHING = 1e-4; // of what forces do to the heaviest column, accelerations that are as good as none
static const double WORTHWHILE = 0.5; // of what was left before
static const double ROUND_OFF = 1e-16;
static const double LOST = 1e-12;    // of accelerations, what is worth a closer look
static const double AT_FIRST = 1e-3; // what a turn is taken to leave before that is known

/* External wrenches; what acts on the degrees of freedom is in tau. */
static void keep_forces(const CalModel *model, const LoopRefine *at, CalWork *work) {
	const LoopRefined *r = &work->loops.refined;
	if (!at->at_rest) {
		const spatial *external = forces_collect(model, at->input, work);
		for (int i = 0; i < model->link_count; ++i)
			r->external[i] = external ? external[i] : spatial_zero();
	}
	memcpy(r->tau, work->tau, sizeof(double) * (size_t)model->nu);
}

/* The largest of accelerations [1/s^2] and of forces [N m], in units of their columns and rows. */
typedef struct Sizes {
	double motion, force;
} Sizes;

static void enlarge(double *most, double x) { *most = fabs(x) > *most ? fabs(x) : *most; }

/* In units of columns (loop_column_unit()), link by link. */
static double largest_motion(const CalModel *model, const double *udot) {
	double most = 0, sliding = 0;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k) {
			const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
			enlarge(kind == COLUMN_TRANSLATION ? &sliding : &most, udot[link->u + k]);
		}
	}
	for (int f = 0; f < model->flex_count; ++f) {
		for (int k = 0; k < model->flexes[f].m; ++k)
			enlarge(&most, udot[model->flexes[f].u + k]);
	}
	enlarge(&most, sliding > 0 ? sliding / loop_longest_reach(model) : 0);
	return most;
}

static Sizes measure(const CalModel *model, const double *udot, const double *lambda) {
	Sizes sizes = {.motion = largest_motion(model, udot)};
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		for (int r = 0; r < loop->rows; ++r)
			sizes.force = fmax(sizes.force, fabs(lambda[loop->row + r]) * loop->unit[r]);
	}
	return sizes;
}

/* The error of a forward dynamics: of its compliances, and of light links, which move by what round-off leaves of forces. */
static double expected_error(const CalModel *model, const LoopRefine *at, const CalWork *work,
                             const LoopRoundOff *round_off) {
	const Sizes x = measure(model, at->udot, work->loops.lambda);
	const double motion = fmax(x.motion, NOTHING * round_off->least * x.force);
	return fmin(1, fmax(ROUND_OFF * round_off->moved, motion > 0 ? round_off->acceleration / motion : 0));
}

/* A correction: its size, forces being what they do to the heaviest column, and how large it is beside what it corrects. */
typedef struct Correction {
	double size, part;
} Correction;

static double part(double change, double whole) {
	const double quotient = change > 0 ? change / whole : change;
	return isfinite(quotient) ? quotient : INFINITY;
}

/*
 * Where forces hold a mechanism in balance, accelerations are nothing but round-off, and so are forces where it falls
 * freely: beside either of them alone a correction may be of any size.
 */
static Correction measure_correction(Sizes x, Sizes dx, double mobility) {
	const double motion = fmax(x.motion, NOTHING * mobility * x.force),
				 force = fmax(mobility * x.force, NOTHING * x.motion);
	return (Correction){fmax(dx.motion, mobility * dx.force),
	                    fmax(part(dx.motion, motion), part(mobility * dx.force, force))};
}

/* One correction for the residuals at present, not yet added. */
static Correction find_correction(const CalModel *model, const LoopRefine *at, double mobility, CalWork *work) {
	const LoopWork *w = &work->loops;
	const Sizes x = measure(model, at->udot, w->lambda);
	loop_residual(model, at, work);
	if (loop_correct_again(model, at->state->q, at->prescribed, at->rotor, work, w->refined.force) != CAL_OK)
		return (Correction){INFINITY, INFINITY};
	return measure_correction(x, measure(model, w->dq, w->lambda), mobility);
}

static void add_correction(const CalModel *model, const LoopRefine *at, const LoopWork *w) {
	const LoopRefined *r = &w->refined;
	for (int i = 0; i < model->row_count; ++i) {
		r->lambda[i] = twofold_plus(r->lambda[i], w->lambda[i]);
		w->lambda[i] = r->lambda[i].hi;
	}
	for (int k = 0; k < model->nu; ++k) {
		if (at->prescribed && at->prescribed[k]) {
			if (at->force)
				at->force[k] += r->force[k];
			continue;
		}
		r->udot[k] = twofold_plus(r->udot[k], w->dq[k]);
		at->udot[k] = r->udot[k].hi;
	}
}

/*
 * Turns until nothing is left, or no turn helps; anew: from nothing at all. Returns what is left. The first correction may
 * be as large as what it corrects: accelerations of a mechanism in balance are nothing but round-off. The second shows
 * whether turns help.
 */
static double run_turns(const CalModel *model, const LoopRefine *at, int anew, const LoopRoundOff *round_off,
                        CalWork *work) {
	LoopWork *w = &work->loops;
	const double lost = fmin(1, ROUND_OFF * round_off->moved);
	Correction before = {INFINITY, INFINITY};
	double left = 1;
	for (int turn = 0; turn < TURNS && left > ENOUGH; ++turn) {
		const Correction now = find_correction(model, at, round_off->least, work);
		if (turn == 0 ? !isfinite(now.size) : !(now.size < WORTHWHILE * before.size && now.part < 1))
			return now.part; // of what there is: it is not added
		add_correction(model, at, w);
		left = (anew && turn == 0 ? 1 : now.part) * fmax(lost, turn > 0 ? now.size / before.size : AT_FIRST);
		before = now;
	}
	return left;
}

/* What is known so far. */
static void set_start(const CalModel *model, const LoopRefine *at, const CalWork *work) {
	const LoopRefined *r = &work->loops.refined;
	for (int k = 0; k < model->nu; ++k)
		r->udot[k] = twofold_from(at->udot[k]);
	for (int i = 0; i < model->row_count; ++i)
		r->lambda[i] = twofold_from(work->loops.lambda[i]);
}

/* There is another plan; forces of what is prescribed are those of the sweep that was not good enough. */
static int can_run_late(const CalModel *model, const LoopRefine *at, const LoopWork *w) {
	const LoopSchedule *plan = model->loop_schedule;
	return plan && plan->late && w->plan != plan->late && !(at->force && at->prescribed);
}

/* Early places may lose more digits than turns can make good: once more without them, from accelerations of zero. */
static double run_late(const CalModel *model, const LoopRefine *at, const LoopRoundOff *round_off, CalWork *work) {
	LoopWork *w = &work->loops;
	for (int k = 0; k < model->nu; ++k)
		at->udot[k] = at->prescribed && at->prescribed[k] ? at->udot[k] : 0;
	memset(w->lambda, 0, sizeof(double) * (size_t)model->row_count);
	set_start(model, at, work);
	w->late = 1;
	const double left = run_turns(model, at, 1, round_off, work);
	w->late = 0;
	return left;
}

void loop_refine(const CalModel *model, const LoopRefine *at, CalWork *work) {
	LoopWork *w = &work->loops;
	const LoopRefined *r = &w->refined;
	const LoopRoundOff round_off = loop_round_off_of(model, w->lambda, work);
	const double expected = expected_error(model, at, work, &round_off);
	if (!w->doubtful && !(expected > LOST))
		return;
	if (model->flex_count > 0 && !w->doubtful && w->uneven < 2) { // rows are as good as refinement of them would be
		w->error = expected;
		return;
	}
	keep_forces(model, at, work);
	set_start(model, at, work);
	w->error = run_turns(model, at, 0, &round_off, work);
	if (UNLIKELY(w->error > WRONG) && can_run_late(model, at, w))
		w->error = run_late(model, at, &round_off, work);
	w->hopeless |= w->error > WRONG;
	if (model->flex_count > 0) // forces on light links are what they were
		w->error = fmax(w->error, expected);
	for (int i = 0; i < model->row_count; ++i)
		w->lambda[i] = r->lambda[i].hi;
	kinematics_outward(model, at->state->q, at->state->u, work);
	kinematics_accelerate(model, at->udot, work);
}

#endif
