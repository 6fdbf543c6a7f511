// SPDX-License-Identifier: Apache-2.0
/*
 * lanes.c — forward and inverse dynamics of CAL_LANES states side by side; see lanes.h.
 *
 * Rows of numbers are spread over lanes, the sweeps run once, and results go back to rows. The sweeps stop at nothing: a
 * lane that divides by zero leaves the others alone, and what it leaves is found at the end.
 */
#include "batch/lanes.h"

#include "base/cursor.h"
#include "dynamics/tree/articulated.h"
#include "dynamics/tree/inverse.h"

#if CAL_LANES > 1

struct LaneSpace {
	CalWork *work;
	real *q, *u, *tau, *udot; // [nq], [nu] each
	real *x, *force;          // [nu] results
};

/* ---- memory ------------------------------------------------------------------------------------- */

static void *layout_space(const CalModel *model, Cursor *cursor, LaneSpace *s) {
	const size_t nq = (size_t)model->nq, nu = (size_t)model->nu;
	char *work;
	CURSOR_ARRAY(cursor, work, LANED(work_size)(model));
	CURSOR_ARRAY(cursor, s->q, nq);
	CURSOR_ARRAY(cursor, s->u, nu);
	CURSOR_ARRAY(cursor, s->tau, nu);
	CURSOR_ARRAY(cursor, s->udot, nu);
	CURSOR_ARRAY(cursor, s->x, nu);
	CURSOR_ARRAY(cursor, s->force, nu);
	return work;
}

size_t LANED(lane_size)(const CalModel *model) {
	LaneSpace counted;
	Cursor cursor = {.used = sizeof(LaneSpace)};
	layout_space(model, &cursor, &counted);
	return cursor_size(&cursor);
}

CalStatus LANED(lane_init)(const CalModel *model, void *memory, size_t size, LaneSpace **space) {
	LaneSpace *s = memory;
	Cursor cursor = {.base = memory, .size = size, .used = sizeof(LaneSpace)};
	void *work = layout_space(model, &cursor, s);
	*space = s;
	return LANED(work_init)(model, work, LANED(work_size)(model), &s->work);
}

/* ---- rows and lanes ------------------------------------------------------------------------------- */

/* CAL_LANES vectors as the rows of a matrix, which becomes its transpose: halves are exchanged, then quarters, ... */
#define EXCHANGE(distance, low, high)                                           \
	for (int i = 0; i < CAL_LANES; ++i) {                                       \
		if ((i & (distance)) == 0) {                                            \
			const real a = x[i], b = x[i + (distance)];                         \
			x[i] = SHUFFLE(a, b, low), x[i + (distance)] = SHUFFLE(a, b, high); \
		}                                                                       \
	}
#define INDICES(...) __VA_ARGS__

INLINE void transpose(real x[CAL_LANES]) {
#if CAL_LANES == 8
	EXCHANGE(4, INDICES(0, 1, 2, 3, 8, 9, 10, 11), INDICES(4, 5, 6, 7, 12, 13, 14, 15))
	EXCHANGE(2, INDICES(0, 1, 8, 9, 4, 5, 12, 13), INDICES(2, 3, 10, 11, 6, 7, 14, 15))
	EXCHANGE(1, INDICES(0, 8, 2, 10, 4, 12, 6, 14), INDICES(1, 9, 3, 11, 5, 13, 7, 15))
#elif CAL_LANES == 4
	EXCHANGE(2, INDICES(0, 1, 4, 5), INDICES(2, 3, 6, 7))
	EXCHANGE(1, INDICES(0, 4, 2, 6), INDICES(1, 5, 3, 7))
#else
	EXCHANGE(1, INDICES(0, 2), INDICES(1, 3))
#endif
}

/* x[n] of one row in each lane. */
static void take_rows(const double *const *row, int n, real *x) {
	int i = 0;
	for (; i + CAL_LANES <= n; i += CAL_LANES) {
		real block[CAL_LANES];
		for (int lane = 0; lane < CAL_LANES; ++lane)
			memcpy(&block[lane], row[lane] + i, sizeof block[lane]);
		transpose(block);
		for (int k = 0; k < CAL_LANES; ++k)
			x[i + k] = block[k];
	}
	for (; i < n; ++i)
		for (int lane = 0; lane < CAL_LANES; ++lane)
			real_set_lane(&x[i], lane, row[lane][i]);
}

static void put_rows(const real *x, int n, const LaneRows *rows) {
	int i = 0;
	for (; i + CAL_LANES <= n; i += CAL_LANES) {
		real block[CAL_LANES];
		for (int k = 0; k < CAL_LANES; ++k)
			block[k] = x[i + k];
		transpose(block);
		for (int lane = 0; lane < CAL_LANES; ++lane)
			memcpy(rows->row[lane] + i, &block[lane], sizeof block[lane]);
	}
	for (; i < n; ++i)
		for (int lane = 0; lane < CAL_LANES; ++lane)
			rows->row[lane][i] = real_lane(&x[i], lane);
}

/* In all lanes. */
static bool rows_are_finite(const real *x, int n) {
	real sum = real_from(0);
	for (int i = 0; i < n; ++i)
		sum += x[i] - x[i]; // 0, or not a number
	for (int lane = 0; lane < CAL_LANES; ++lane) {
		if (!(sum[lane] == 0))
			return false;
	}
	return true;
}

/* ---- forward dynamics ------------------------------------------------------------------------------ */

static vec3 wrench_part(const LaneInput *input, int first) {
	vec3 part = vec_zero();
	for (int lane = 0; lane < CAL_LANES; ++lane) {
		const double *wrench = input->wrench[lane] + first;
		real_set_lane(&part.x, lane, wrench[0]);
		real_set_lane(&part.y, lane, wrench[1]);
		real_set_lane(&part.z, lane, wrench[2]);
	}
	return part;
}

/* Wrenches at the origins of links, as forces_collect() adds them up; NULL: none. */
static const spatial *collect_wrenches(const CalModel *model, const LaneInput *input, CalWork *work) {
	if (input->wrench_count == 0)
		return NULL;
	for (int i = 0; i < model->link_count; ++i)
		work->force[i] = spatial_zero();
	for (int k = 0; k < input->wrench_count; ++k) {
		const Node *node = &model->nodes[input->wrenches[k].node];
		if (node->link < 0)
			continue; // on the ground
		const mat3 *link = &work->links[node->link].R;
		spatial f = {wrench_part(input, 6 * k), wrench_part(input, 6 * k + 3)};
		if (input->wrenches[k].frame == CAL_FRAME_NODE) {
			const mat3 R = mat_mul_dmat(*link, node->in_link.R);
			f = (spatial){mat_mul_vec(R, f.a), mat_mul_vec(R, f.l)};
		}
		f = force_shift(f, mat_mul_dvec(*link, node->in_link.r));
		work->force[node->link] = spatial_add(work->force[node->link], f);
	}
	return work->force;
}

bool LANED(lane_forward)(const CalModel *model, const LaneStates *states, const LaneInput *input, LaneSpace *s,
                         const LaneRows *udot, const LaneRows *force) {
	take_rows(states->q, model->nq, s->q);
	take_rows(states->u, model->nu, s->u);
	take_rows(input->tau, model->nu, s->tau);
	SweepInput in = {.q = s->q, .u = s->u, .tau = s->tau, .prescribed = input->prescribed};
	if (input->prescribed && input->udot[0]) {
		take_rows(input->udot, model->nu, s->udot);
		in.udot = s->udot;
	}
	LANED(forward_outward)(model, &in, s->work);
	in.external = collect_wrenches(model, input, s->work);
	if (LANED(forward_inward)(model, &in, s->work) >= 0)
		return false;
	LANED(forward_accelerate)(model, &in, s->work, s->x, force ? s->force : NULL);
	if (!rows_are_finite(s->x, model->nu))
		return false;
	put_rows(s->x, model->nu, udot);
	if (force)
		put_rows(s->force, model->nu, force);
	return true;
}

/* ---- inverse dynamics ------------------------------------------------------------------------------ */

void LANED(lane_inverse)(const CalModel *model, CalVec3 gravity, const LaneStates *states, const double *const *udot,
                         LaneSpace *s, const LaneRows *tau) {
	take_rows(states->q, model->nq, s->q);
	take_rows(states->u, model->nu, s->u);
	if (udot)
		take_rows(udot, model->nu, s->udot);
	LANED(inverse_outward)(model, dvec_in(gravity), s->q, s->u, udot ? s->udot : NULL, s->work);
	LANED(inverse_inward)(model, s->work, s->x);
	for (int i = 0; model->any_rotor && udot && i < model->nu; ++i)
		s->x[i] += model->rotor[i] * s->udot[i];
	put_rows(s->x, model->nu, tau);
}

#endif
