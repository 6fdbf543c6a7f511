// SPDX-License-Identifier: Apache-2.0
/*
 * batch_case.h — a random model with many states and inputs, and the single calls that a batch must repeat bit for bit.
 *
 * Models take turns: rigid, flexible, closed by loops; a part of the degrees of freedom prescribed in every second. Rows of
 * `bad` states hold a NaN.
 */
#ifndef TEST_BATCH_BATCH_CASE_H
#define TEST_BATCH_BATCH_CASE_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>

#include "support/random_loop.h"
#include "support/random_tree.h"

enum { STATES = 41, STEPS = 6, WRENCHED = 2 };

typedef struct Case {
	uint64_t seed;
	Fixture *f;
	CalModel *closed; // with loops; NULL: f->model
	const CalModel *model;
	CalWork *work;
	int nq, nu, nodes[3];
	double *t, *q, *u, *tau, *udot, *wrench; // [STATES] rows
	double *tau_steps, *wrench_steps;        // [STEPS][STATES] rows
	CalBatchWrench places[WRENCHED];
	CalBatchStates states;
	CalBatchInput input;
} Case;

static inline Fixture *case_fixture(uint64_t seed, CalModel **closed) {
	if (seed % 3 != 2) {
		TreeOptions options = seed % 3 ? tree_flexible(seed) : tree_any(seed);
		return fixture_random(seed, options, seed % 4 == 3 ? CAL_SOLVER_DENSE : CAL_SOLVER_RECURSIVE);
	}
	LoopOptions options = loop_any(seed);
	options.driven = 1;
	Fixture *f = fixture_random_loop(seed, options, CAL_SOLVER_AUTO);
	CalError error = {0};
	fixture_close_loops(f);
	if (cal_model_compile(f->desc, NULL, closed, &error) != CAL_OK)
		check_fail_at(__FILE__, __LINE__, seed, "%s", error.text);
	return f;
}

static inline double *random_rows(Fixture *f, Rng *r, double size, int rows, int width) {
	double *x = fixture_doubles(f, rows * width + 1);
	rng_fill(r, size, rows * width, x);
	return x;
}

/* States about that of the fixture; every fifth, from the fourth, is bad. */
static inline void case_states(Case *c, Rng *r) {
	double *dq = fixture_doubles(c->f, c->nu + 1);
	c->q = fixture_doubles(c->f, STATES * c->nq + 1);
	c->u = random_rows(c->f, r, 1, STATES, c->nu);
	c->t = random_rows(c->f, r, 1, STATES, 1);
	for (int i = 0; i < STATES; i++) {
		rng_fill(r, c->closed ? 1e-3 : 1, c->nu, dq);
		cal_config_integrate(c->model, c->f->state.q, dq, c->q + i * c->nq);
		if (i % 5 == 3 && c->nu > 0)
			c->u[i * c->nu + i % c->nu] = NAN;
	}
	c->states = (CalBatchStates){.count = STATES, .t = {c->t, 1, 0}, .q = {c->q, c->nq, 0}, .u = {c->u, c->nu, 0}};
}

static inline void case_inputs(Case *c, Rng *r) {
	c->tau = random_rows(c->f, r, 1, STATES, c->nu);
	c->udot = random_rows(c->f, r, 1, STATES, c->nu);
	c->wrench = random_rows(c->f, r, 1, STATES, 6 * WRENCHED);
	c->tau_steps = random_rows(c->f, r, 1, STEPS * STATES, c->nu);
	c->wrench_steps = random_rows(c->f, r, 1, STEPS * STATES, 6 * WRENCHED);
	for (int k = 0; k < WRENCHED; k++)
		c->places[k] =
			(CalBatchWrench){rng_int(r, cal_model_node_count(c->model)), k ? CAL_FRAME_NODE : CAL_FRAME_WORLD};
	for (int k = 0; k < 3; k++)
		c->nodes[k] = rng_int(r, cal_model_node_count(c->model));
	c->input = (CalBatchInput){.tau = {c->tau, c->nu, 0},
	                           .udot = {c->udot, c->nu, 0},
	                           .prescribed = c->f->input.prescribed,
	                           .wrenches = c->places,
	                           .wrench_count = WRENCHED,
	                           .wrench = {c->wrench, 6 * WRENCHED, 0}};
}

static inline void case_create(Case *c, uint64_t seed) {
	Rng r = rng_make(seed);
	*c = (Case){.seed = seed};
	c->f = case_fixture(seed, &c->closed);
	c->model = c->closed ? c->closed : c->f->model;
	c->nq = c->f->nq, c->nu = c->f->nu;
	if (seed % 2)
		fixture_prescribe(c->f, &r);
	check_ok(seed, cal_work_create(c->model, &c->work));
	case_states(c, &r);
	case_inputs(c, &r);
}

static inline void case_destroy(Case *c) {
	cal_work_destroy(c->work);
	cal_model_destroy(c->closed);
	fixture_destroy(c->f);
}

/* ---- single calls ----------------------------------------------------------------------------- */

static inline CalState case_state(const Case *c, int i) {
	return (CalState){.t = c->t[i], .q = c->q + i * c->nq, .u = c->u + i * c->nu};
}

/* What acts on a state, with wrenches [WRENCHED] as the single calls take them; step < 0: inputs that are constant. */
static inline CalInput case_input(const Case *c, int i, int step, CalWrench *wrenches) {
	const int row = step < 0 ? i : step * STATES + i;
	const double *f = (step < 0 ? c->wrench : c->wrench_steps) + row * 6 * WRENCHED;
	for (int k = 0; k < WRENCHED; k++, f += 6)
		wrenches[k] = (CalWrench){c->places[k].node, c->places[k].frame, {{f[0], f[1], f[2]}, {f[3], f[4], f[5]}}};
	return (CalInput){.tau = (step < 0 ? c->tau : c->tau_steps) + row * c->nu,
	                  .prescribed = c->input.prescribed,
	                  .udot = c->udot + i * c->nu,
	                  .wrenches = wrenches,
	                  .wrench_count = WRENCHED};
}

/* The same bits for a state that went well, nothing but NaN otherwise. */
static inline void check_rows(const Case *c, const char *what, CalStatus status, size_t width, const double *got,
                              const double *want) {
	for (size_t k = 0; k < width && status != CAL_OK; k++) {
		if (!isnan(got[k]))
			check_fail_at(__FILE__, __LINE__, c->seed, "%s: %g in a state that failed", what, got[k]);
	}
	if (status == CAL_OK && memcmp(got, want, width * sizeof *got) != 0)
		check_fail_at(__FILE__, __LINE__, c->seed, "%s: other bits than the single call", what);
}

#endif
