// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_step.h — whole steps of one state by one thread: the schemes of integrate/euler_cromer.c and rk4.c.
 *
 * q and u of the state are in memory of the thread's own and change in place. Steps end at t0 + (k + 1) h, computed from the
 * start as cal_integrator_advance() does, so that a step has the bits of a processor's.
 */
#ifndef CALDER_GPU_GPU_STEP_H
#define CALDER_GPU_GPU_STEP_H

#include "gpu/gpu_forward.h"

/** Numbers of the state that change: x[k * stride]. */
typedef struct GpuMoving {
	double *q, *u;
	int64_t stride;
} GpuMoving;

INLINE int is_not_finite(double x) { return !(x - x == 0); }

/* ---- configurations ------------------------------------------------------------------------------------ */

/* q = q o exp(d) of a quaternion at x[0], x[n], ...; nonzero: not finite. */
INLINE int quaternion_advance(const double *from, double *to, int64_t n, dvec3 d) {
	const CalQuat at = {from[0], from[n], from[2 * n], from[3 * n]};
	const CalQuat next = dquat_unit(dquat_mul(at, dquat_exp(d)));
	to[0] = next.w;
	to[n] = next.x;
	to[2 * n] = next.y;
	to[3 * n] = next.z;
	return is_not_finite(next.w) | is_not_finite(next.x) | is_not_finite(next.y) | is_not_finite(next.z);
}

/* Coordinates of a link, displaced by d, as primitive_integrate(). Nonzero: not finite. */
INLINE int link_advance(const GpuLink *link, int motion, const double *from, double *to, int64_t n, const GpuRates *d) {
	int bad = 0;
	const double *q = from + link->q * n;
	double *moved = to + link->q * n;
	if (motion == PRIMITIVE_SPHERICAL) {
		const dvec3 turn = {d->x[0], d->x[1], d->x[2]};
		return quaternion_advance(q, moved, n, turn);
	}
	if (motion == PRIMITIVE_FREE) {
		const dvec3 turn = {d->x[3], d->x[4], d->x[5]};
		for (int k = 0; k < 3; ++k) {
			moved[k * n] = q[k * n] + d->x[k];
			bad |= is_not_finite(moved[k * n]);
		}
		return bad | quaternion_advance(q + 3 * n, moved + 3 * n, n, turn);
	}
	if (motion == PRIMITIVE_FIXED)
		return 0;
	moved[0] = q[0] + d->x[0];
	return is_not_finite(moved[0]);
}

/* ---- Euler-Cromer ---------------------------------------------------------------------------------------- */

/* u += h udot, then q by h u: of one link, whose q the sweep has read already. */
INLINE int cromer_link(const GpuSweep *s, const GpuLink *link, double h, const GpuRates *udot, GpuMoving to) {
	GpuRates d;
	int bad = 0;
	for (int k = 0; k < 6; ++k) {
		if (k < dof_count(s, link)) {
			double *u = to.u + (link->u + k) * to.stride;
			const double next = *u + h * udot->x[k];
			*u = next;
			d.x[k] = h * next;
			bad |= is_not_finite(udot->x[k]) | is_not_finite(next);
		}
	}
	return bad | link_advance(link, motion_of(s, link), to.q, to.q, to.stride, &d);
}

/* One step of size h; s->state is where `to` is. Nonzero: it failed. */
INLINE int step_cromer(const GpuSweep *s, double h, GpuMoving to) {
	int bad = sweep_eliminate(s);
	GpuReach at = outward_start();
	for (int i = 0; i < s->model->link_count; ++i) {
		const GpuLink *link = &s->at.links[i];
		GpuRates udot;
		outward_link(s, link, &at, &udot);
		bad |= cromer_link(s, link, h, &udot, to);
	}
	return bad;
}

/* ---- Runge-Kutta ---------------------------------------------------------------------------------------- */

/** Memory of a step: rates of four stages [4][nu], the state at hand; all numbers are `stride` apart. */
typedef struct GpuStages {
	double *u_rate, *delta_rate; // [4][nu]
	double *q, *u;               // [nq], [nu]
	int64_t stride;
} GpuStages;

enum { GPU_RK_STAGES = 4 };

/* Numbers that a thread needs for it. */
static inline int64_t gpu_stages_size(const GpuModel *model) {
	return (int64_t)(2 * GPU_RK_STAGES + 1) * model->nu + model->nq;
}

/* h times the sum of weighted rates of dof i. */
INLINE double rk_increment(const double *rate, int64_t row, const double *w, int count, double h) {
	double sum = 0;
	for (int j = 0; j < count; ++j)
		sum += w[j] * rate[j * row];
	return h * sum;
}

/* The state displaced from the start of the step by rates of `count` stages; models without quaternions. */
INLINE int rk_combine(const GpuSweep *s, double h, const double *w, int count, GpuMoving from, GpuStages at,
                      GpuMoving to) {
	const int nu = s->model->nu;
	const int64_t n = at.stride, row = nu * n;
	int bad = 0;
	for (int i = 0; i < s->model->link_count; ++i) {
		const GpuLink *link = &s->at.links[i];
		if (dof_count(s, link) == 0)
			continue;
		const GpuRates d = {{rk_increment(at.delta_rate + link->u * n, row, w, count, h), 0, 0, 0, 0, 0}};
		const double u = from.u[link->u * from.stride] + rk_increment(at.u_rate + link->u * n, row, w, count, h);
		const double q = from.q[link->q * from.stride] + d.x[0];
		to.u[link->u * to.stride] = u;
		to.q[link->q * to.stride] = q;
		bad |= is_not_finite(u) | is_not_finite(q);
	}
	return bad;
}

INLINE void rk_copy(const GpuModel *model, GpuMoving from, GpuMoving to) {
	for (int k = 0; k < model->nq; ++k)
		to.q[k * to.stride] = from.q[k * from.stride];
	for (int k = 0; k < model->nu; ++k)
		to.u[k * to.stride] = from.u[k * from.stride];
}

/* The classical scheme. `s` evaluates the state in `at`; `x` is that of the step. Nonzero: it failed. */
INLINE int step_rk4(const GpuSweep *s, double h, GpuStages at, GpuMoving x) {
	const int64_t n = at.stride;
	const int nu = s->model->nu;
	const GpuMoving stage = {at.q, at.u, n};
	const double weights[GPU_RK_STAGES][GPU_RK_STAGES] = {
		{0.5, 0, 0, 0}, {0, 0.5, 0, 0}, {0, 0, 1, 0}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};
	int bad = 0;
	rk_copy(s->model, x, stage);
#ifdef __CUDACC__
#pragma unroll 1
#endif
	for (int i = 0; i < GPU_RK_STAGES; ++i) {
		bad |= sweep_forward(s, at.u_rate + (int64_t)i * nu * n, n);
		for (int k = 0; k < nu; ++k)
			at.delta_rate[((int64_t)i * nu + k) * n] = at.u[k * n];
		bad |= rk_combine(s, h, weights[i], i + 1, x, at, i + 1 < GPU_RK_STAGES ? stage : x);
	}
	return bad;
}

#endif
