// SPDX-License-Identifier: Apache-2.0
/*
 * lanes.h — a workspace over two lanes with a state in each. Tests define CAL_LANES as 2 before they include anything.
 */
#ifndef TEST_SUPPORT_LANES_H
#define TEST_SUPPORT_LANES_H

#include <stdlib.h>
#include <string.h>

#include "dynamics/tree/articulated.h"
#include "support/random_tree.h"

enum { LANES = CAL_LANES };

typedef struct Lanes {
	Fixture *f;
	CalState state[LANES];
	double *tau[LANES], *out[LANES];
	real *q, *u, *t, *x; // the same over lanes; x[nu nu]
	CalWork *work;       // over lanes
} Lanes;

static inline real *lane_array(int n) {
	real *x = aligned_alloc(64, (sizeof(real) * (size_t)(n + 1) + 63) / 64 * 64);
	assert_non_null(x);
	memset(x, 0, sizeof(real) * (size_t)(n + 1));
	return x;
}

/** Two states: that of the fixture and one moved away from it by multiples of spread. Takes the fixture. */
static inline Lanes lanes_of(Fixture *f, double spread) {
	Lanes l = {.f = f};
	const CalModel *m = f->model;
	const int nq = f->nq, nu = f->nu;
	l.q = lane_array(nq), l.u = lane_array(nu), l.t = lane_array(nu), l.x = lane_array(nu * nu);
	void *memory = aligned_alloc(64, (work_size_x2(m) + 63) / 64 * 64);
	assert_non_null(memory);
	assert_int_equal(work_init_x2(m, memory, work_size_x2(m), &l.work), CAL_OK);
	double *dq = fixture_doubles(f, nu);
	for (int lane = 0; lane < LANES; lane++) {
		assert_int_equal(cal_state_create(m, &l.state[lane]), CAL_OK);
		l.tau[lane] = fixture_doubles(f, nu), l.out[lane] = fixture_doubles(f, nu);
		for (int i = 0; i < nu; i++) {
			dq[i] = spread * lane * (1 + 0.1 * i);
			l.state[lane].u[i] = f->state.u[i] * (1 - 0.4 * lane);
			l.tau[lane][i] = 0.5 * lane - 0.2 * i;
			real_set_lane(&l.u[i], lane, l.state[lane].u[i]);
			real_set_lane(&l.t[i], lane, l.tau[lane][i]);
		}
		cal_config_integrate(m, f->state.q, dq, l.state[lane].q);
		for (int i = 0; i < nq; i++)
			real_set_lane(&l.q[i], lane, l.state[lane].q[i]);
	}
	return l;
}

static inline void lanes_free(Lanes *l) {
	for (int lane = 0; lane < LANES; lane++)
		cal_state_destroy(&l->state[lane]);
	free(l->work);
	free(l->q), free(l->u), free(l->t), free(l->x);
	fixture_destroy(l->f);
}

#endif
