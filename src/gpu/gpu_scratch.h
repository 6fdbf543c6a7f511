// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_scratch.h — what a thread keeps between the sweeps of one state, and where.
 *
 * `near` is memory on the chip (shared memory), `far` is device memory; number k of a thread is at [k * stride], so that threads
 * side by side touch neighboring addresses. Near: the motions of a segment (exact mode), then the gains of the first dofs. Far: kept
 * motions, accumulators of branch points, the other gains, stages of integrators.
 */
#ifndef CALDER_GPU_GPU_SCRATCH_H
#define CALDER_GPU_GPU_SCRATCH_H

#include "dynamics/tree/register_algebra.h"
#include "gpu/gpu_joint.h"

typedef struct GpuScratch {
	double *near, *far;
	int64_t near_stride, far_stride;
	int near_motions;                // motions on the chip: GPU_SEGMENT + 1, or 0
	int near_dofs;                   // whose gains are on the chip
	int64_t accumulators, far_gains; // where they begin in far memory
} GpuScratch;

/* ---- numbers in a row ------------------------------------------------------------------------------ */

INLINE trio row_trio(const double *x, int64_t stride) { return trio_set(x[0], x[stride], x[2 * stride]); }
INLINE void row_put(double *x, int64_t stride, trio v) {
	const vec3 s = trio_vec(v);
	x[0] = s.x;
	x[stride] = s.y;
	x[2 * stride] = s.z;
}

INLINE GpuMotion row_motion(const double *x, int64_t stride) {
	const GpuMotion m = {{row_trio(x, stride), row_trio(x + 3 * stride, stride), row_trio(x + 6 * stride, stride)},
	                     row_trio(x + 9 * stride, stride),
	                     row_trio(x + 12 * stride, stride),
	                     row_trio(x + 15 * stride, stride)};
	return m;
}
INLINE void row_put_motion(double *x, int64_t stride, const GpuMotion *m) {
	row_put(x, stride, m->R.x);
	row_put(x + 3 * stride, stride, m->R.y);
	row_put(x + 6 * stride, stride, m->R.z);
	row_put(x + 9 * stride, stride, m->w);
	row_put(x + 12 * stride, stride, m->al);
	row_put(x + 15 * stride, stride, m->a);
}

/* ---- kept motions and accelerations ----------------------------------------------------------------- */

INLINE double *slot_at(const GpuScratch *s, int slot) { return s->far + (int64_t)slot * GPU_SLOT * s->far_stride; }
INLINE GpuMotion slot_motion(const GpuScratch *s, int slot) { return row_motion(slot_at(s, slot), s->far_stride); }
INLINE void slot_put_motion(const GpuScratch *s, int slot, const GpuMotion *m) {
	row_put_motion(slot_at(s, slot), s->far_stride, m);
}
INLINE trio3 slot_orientation(const GpuScratch *s, int slot) {
	const double *x = slot_at(s, slot);
	const int64_t stride = s->far_stride;
	const trio3 R = {row_trio(x, stride), row_trio(x + 3 * stride, stride), row_trio(x + 6 * stride, stride)};
	return R;
}
INLINE TrioSpatial slot_acceleration(const GpuScratch *s, int slot) {
	const double *x = slot_at(s, slot) + GPU_MOTION * s->far_stride;
	const TrioSpatial A = {row_trio(x, s->far_stride), row_trio(x + 3 * s->far_stride, s->far_stride)};
	return A;
}
INLINE void slot_put_acceleration(const GpuScratch *s, int slot, TrioSpatial A) {
	double *x = slot_at(s, slot) + GPU_MOTION * s->far_stride;
	row_put(x, s->far_stride, A.a);
	row_put(x + 3 * s->far_stride, s->far_stride, A.l);
}

/* Motion k of the segment at hand; 0: of the parent of its first link. */
INLINE double *segment_at(const GpuScratch *s, int k) { return s->near + (int64_t)k * GPU_MOTION * s->near_stride; }
INLINE GpuMotion segment_motion(const GpuScratch *s, int k) { return row_motion(segment_at(s, k), s->near_stride); }
INLINE void segment_put(const GpuScratch *s, int k, const GpuMotion *m) {
	row_put_motion(segment_at(s, k), s->near_stride, m);
}

/* ---- accumulators ------------------------------------------------------------------------------------ */

INLINE double *accumulator_at(const GpuScratch *s, int i) {
	return s->far + (s->accumulators + (int64_t)i * GPU_BODY) * s->far_stride;
}
INLINE TrioBody accumulator_load(const GpuScratch *s, int i) {
	const double *x = accumulator_at(s, i);
	const int64_t n = s->far_stride;
	TrioBody body;
	body.M.I.d = row_trio(x, n), body.M.I.n = row_trio(x + 3 * n, n);
	body.M.H.d = row_trio(x + 6 * n, n), body.M.H.n = row_trio(x + 9 * n, n), body.M.H.p = row_trio(x + 12 * n, n);
	body.M.M.d = row_trio(x + 15 * n, n), body.M.M.n = row_trio(x + 18 * n, n);
	body.b.a = row_trio(x + 21 * n, n), body.b.l = row_trio(x + 24 * n, n);
	return body;
}
INLINE void accumulator_store(const GpuScratch *s, int i, const TrioBody *body) {
	double *x = accumulator_at(s, i);
	const int64_t n = s->far_stride;
	row_put(x, n, body->M.I.d), row_put(x + 3 * n, n, body->M.I.n);
	row_put(x + 6 * n, n, body->M.H.d), row_put(x + 9 * n, n, body->M.H.n), row_put(x + 12 * n, n, body->M.H.p);
	row_put(x + 15 * n, n, body->M.M.d), row_put(x + 18 * n, n, body->M.M.n);
	row_put(x + 21 * n, n, body->b.a), row_put(x + 24 * n, n, body->b.l);
}

/* ---- gains ------------------------------------------------------------------------------------------- */

/** What a dof keeps for the outward sweep. */
typedef struct GpuGain {
	TrioSpatial K;
	double ready; // D_inv eps
} GpuGain;

INLINE GpuGain row_gain(const double *x, int64_t n) {
	const GpuGain g = {{row_trio(x, n), row_trio(x + 3 * n, n)}, x[6 * n]};
	return g;
}
INLINE void row_put_gain(double *x, int64_t n, const GpuGain *g) {
	row_put(x, n, g->K.a);
	row_put(x + 3 * n, n, g->K.l);
	x[6 * n] = g->ready;
}
INLINE double *near_gain(const GpuScratch *s, int dof) {
	return s->near + (s->near_motions * GPU_MOTION + (int64_t)dof * GPU_GAIN) * s->near_stride;
}
INLINE double *far_gain(const GpuScratch *s, int dof) {
	return s->far + (s->far_gains + (int64_t)(dof - s->near_dofs) * GPU_GAIN) * s->far_stride;
}
/* Two branches, so that each has addresses of one kind of memory. */
INLINE GpuGain gain_load(const GpuScratch *s, int dof) {
	if (dof < s->near_dofs)
		return row_gain(near_gain(s, dof), s->near_stride);
	return row_gain(far_gain(s, dof), s->far_stride);
}
INLINE void gain_store(const GpuScratch *s, int dof, const GpuGain *g) {
	if (dof < s->near_dofs)
		row_put_gain(near_gain(s, dof), s->near_stride, g);
	else
		row_put_gain(far_gain(s, dof), s->far_stride, g);
}

#endif
