// SPDX-License-Identifier: Apache-2.0
/*
 * parallel_project.c — states brought back to the constraints over the assembly of branches [THEORY 5.6, 6.4].
 *
 * A step of Gauss and Newton is a forward dynamics of everything at rest, with displacements in place of accelerations and
 * residuals in place of what the rows accelerate by. A step that makes the largest residual larger is halved. On ranks, each
 * has the residuals of its own branches; what decides is the largest of all, the same bits in any order.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "component/branches.h"

enum { STEPS = 20, HALVINGS = 12, FINE_STEPS = 4 };
static const double TOLERANCE = 1e-12, FINE = 16 * DBL_EPSILON, RATE_ROUND_OFF = 1e-14;

/* What decides whether to continue: on ranks the largest of all, which all ranks know. */
enum {
	MEASURE_VALUE,       // residuals in units of the rows (model/model.h)
	MEASURE_ROW,         // of the largest one
	MEASURE_PLAIN_VALUE, // residuals as they are
	MEASURE_RATE,        // their rates likewise
	MEASURE_PLAIN_RATE,
	MEASURE_FASTEST, // speeds
	MEASURE_FAILED,  // nonzero: the last correction did
};
_Static_assert(MEASURE_FAILED + 1 == RANKS_MEASURES, "ranks exchange these");

/* Numbers of a projection; of arrays of the model a rank has the part of its own branches. */
typedef struct Projection {
	CalBranches *branches;
	const CalModel *model;
	const uint8_t *frozen;
	double *value, *rate; // [rows]
	double *dq, *q;       // [nu], [nq]
	const double *from;   // [nq] where dq starts
	double *to;           // [nq] or [nu] that a call for each branch writes
	double factor;        // of dq
	bool doubtful;        // found: branches cannot determine the motion
	bool failed;          // the last correction did, here
	double measures[RANKS_MEASURES];
} Projection;

/* ---- calls for each branch ------------------------------------------------------------------------------ */

/* q = from + factor dq */
static CalStatus displace_branch(void *user, const BranchSlice *b) {
	const Projection *p = user;
	segments_gather(b->q_segment, b->q_segments, p->from, b->q_own);
	segments_gather(b->u_segment, b->u_segments, p->dq, b->u_own[0]);
	for (int k = 0; k < b->model->nu; ++k)
		b->u_own[0][k] *= p->factor;
	cal_config_integrate(b->model, b->q_own, b->u_own[0], b->q_own);
	segments_scatter(b->q_segment, b->q_segments, b->q_own, p->q);
	return CAL_OK;
}

static CalStatus accept_branch(void *user, const BranchSlice *b) {
	const Projection *p = user;
	segments_gather(b->q_segment, b->q_segments, p->q, b->q_own);
	segments_scatter(b->q_segment, b->q_segments, b->q_own, p->to);
	return CAL_OK;
}

static CalStatus accelerate_branch(void *user, const BranchSlice *b) {
	const Projection *p = user;
	segments_gather(b->u_segment, b->u_segments, p->to, b->u_own[0]);
	segments_gather(b->u_segment, b->u_segments, p->dq, b->u_own[1]);
	for (int k = 0; k < b->model->nu; ++k)
		b->u_own[0][k] += b->u_own[1][k];
	segments_scatter(b->u_segment, b->u_segments, b->u_own[0], p->to);
	return CAL_OK;
}

/* ---- measures ------------------------------------------------------------------------------------------- */

/* The branch that finds the residuals of a loop is here. */
static bool has_residuals(const CalBranches *s, int loop) {
	return ranks_has(s->ranks, s->cross_loops ? s->cross_loops->list[loop].lead : s->piece_map.loop[loop].piece);
}

static void measure_rows(Projection *p, double *m) {
	for (int l = 0; l < p->model->loop_count; ++l) {
		const Loop *loop = &p->model->loops[l];
		for (int i = 0; has_residuals(p->branches, l) && i < loop->rows; ++i) {
			const int row = loop->row + i;
			const double value = isnan(p->value[row]) ? INFINITY : fabs(p->value[row]);
			const double rate = isnan(p->rate[row]) ? INFINITY : fabs(p->rate[row]);
			if (value / loop->unit[i] > m[MEASURE_VALUE])
				m[MEASURE_ROW] = row;
			m[MEASURE_VALUE] = fmax(m[MEASURE_VALUE], value / loop->unit[i]);
			m[MEASURE_PLAIN_VALUE] = fmax(m[MEASURE_PLAIN_VALUE], value);
			m[MEASURE_RATE] = fmax(m[MEASURE_RATE], rate / loop->unit[i]);
			m[MEASURE_PLAIN_RATE] = fmax(m[MEASURE_PLAIN_RATE], rate);
		}
	}
}

static double find_fastest(const CalBranches *s, const double *u) {
	double fastest = 0;
	for (int k = 0; k < s->count; ++k) {
		const Branch *b = &s->branches[k];
		for (int i = 0; ranks_has(s->ranks, k) && i < b->u_segments; ++i) {
			for (int j = 0; j < b->u_segment[i].count; ++j)
				fastest = fmax(fastest, fabs(u[b->u_segment[i].whole + j]));
		}
	}
	return fastest;
}

/* Residuals at q with the speeds of state: the largest in units of the rows. */
static double measure(Projection *p, const CalState *state, double *q) {
	const CalState at = {.t = state->t, .q = q, .u = state->u};
	double *m = p->measures;
	branches_residual(p->branches, &at, p->value, p->rate);
	memset(m, 0, sizeof p->measures);
	m[MEASURE_ROW] = -1;
	measure_rows(p, m);
	m[MEASURE_FASTEST] = find_fastest(p->branches, state->u);
	m[MEASURE_FAILED] = p->failed;
	if (p->branches->ranks)
		ranks_find_largest(p->branches->ranks, m);
	return m[MEASURE_VALUE];
}

/* ---- steps ------------------------------------------------------------------------------------------------ */

/* A rank continues to where all meet, in measure(). */
static CalStatus find_correction(Projection *p, const CalState *state, const double *z, bool positions) {
	const CalStatus status = branches_correct(p->branches, state, z, p->frozen, positions, p->dq);
	p->doubtful |= status == CAL_NOT_CONVERGED;
	p->failed |= status != CAL_OK;
	return p->branches->ranks ? CAL_OK : status;
}

/* 1: the residuals became smaller, and are those of the new q; 0: they did not; -1: M is singular, or there is a doubt. */
static int gauss_newton_step(Projection *p, CalState *state, double *least) {
	if (find_correction(p, state, p->value, true) != CAL_OK)
		return -1;
	p->factor = 1;
	for (int half = 0; half < HALVINGS; ++half, p->factor *= 0.5) {
		p->from = state->q;
		branches_each(p->branches, displace_branch, p);
		const double after = measure(p, state, p->q);
		if (p->measures[MEASURE_FAILED] != 0)
			return -1;
		if (after < *least) {
			*least = after;
			p->to = state->q;
			branches_each(p->branches, accept_branch, p);
			return 1;
		}
	}
	return 0;
}

static CalStatus project_positions(Projection *p, CalState *state, const CalProjectOptions *options,
                                   CalProjectReport *report) {
	const int steps = options->max_iterations > 0 ? options->max_iterations : STEPS;
	const double tolerance = options->tolerance > 0 ? options->tolerance : TOLERANCE;
	double least = measure(p, state, state->q);
	if (!isfinite(least))
		return CAL_NOT_FINITE;
	for (report->iterations = 0; report->iterations < steps; ++report->iterations) {
		if (least <= (report->iterations < FINE_STEPS ? FINE : tolerance))
			return CAL_OK;
		const int better = gauss_newton_step(p, state, &least);
		if (better < 0)
			return CAL_SINGULAR;
		if (!better) {
			least = measure(p, state, state->q);
			break;
		}
	}
	return least <= tolerance ? CAL_OK : CAL_NOT_CONVERGED;
}

static CalStatus project_speeds(Projection *p, CalState *state) {
	for (int again = 0; again < 2; ++again) {
		if (p->measures[MEASURE_RATE] <= RATE_ROUND_OFF * p->measures[MEASURE_FASTEST])
			break;
		const CalStatus status = find_correction(p, state, p->rate, false);
		if (status != CAL_OK)
			return status;
		p->to = state->u;
		branches_each(p->branches, accelerate_branch, p);
		measure(p, state, state->q);
		if (p->measures[MEASURE_FAILED] != 0)
			return CAL_SINGULAR;
	}
	return CAL_OK;
}

/* Ranks whose branches these are; others have nothing to do, and nothing to say. */
static bool takes_part(const CalBranches *s) {
	bool any = false;
	for (int k = 0; k < s->count; ++k)
		any |= ranks_has(s->ranks, k);
	return any;
}

CalStatus cal_branches_project(CalBranches *branches, CalState *state, const CalProjectOptions *options,
                               CalProjectReport *report) {
	CalProjectReport own;
	CalProjectOptions used = {0};
	if (!branches || !state)
		return CAL_ERR_ARGUMENT;
	if (options)
		used = *options;
	if (used.euclidean || used.search || (branches->ranks && branches->ranks->whole))
		return CAL_ERR_UNSUPPORTED;
	report = report ? report : &own;
	*report = (CalProjectReport){.row = -1, .reachable = 1};
	Projection p = {.branches = branches, .model = branches_model(branches), .frozen = used.frozen};
	if (p.model->row_count == 0 || !takes_part(branches))
		return CAL_OK;
	double *numbers = branches_numbers(branches);
	p.value = numbers;
	p.rate = p.value + p.model->row_count;
	p.dq = p.rate + p.model->row_count;
	p.q = p.dq + p.model->nu;
	if (!p.frozen && p.model->any_prescribed)
		p.frozen = p.model->prescribed;
	CalStatus status = project_positions(&p, state, &used, report);
	if (status == CAL_OK)
		status = project_speeds(&p, state);
	if (p.doubtful && !branches->ranks)
		return cal_loop_project(p.model, state, &used, branches_whole(branches), report);
	report->residual = p.measures[MEASURE_PLAIN_VALUE];
	report->rate = p.measures[MEASURE_PLAIN_RATE];
	report->row = status == CAL_OK ? -1 : (int)p.measures[MEASURE_ROW];
	return branches->ranks ? ranks_agree_status(branches->ranks, status) : status;
}
