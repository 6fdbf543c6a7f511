// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_forward.h — forward dynamics of one state by one thread [THEORY 4.1]: the sweeps of dynamics/tree/articulated.c with few
 * numbers in memory (docs/decisions/0071).
 *
 *   1 outward   R, w, al, a in registers; kept are those of links where a segment or branch begins
 *   2 inward    exact: the motions of a segment once more from the one before it, into memory on the chip; fast: the parent's
 *               motion by undoing the rotation. Seven numbers are kept per dof: the gain K and D_inv eps
 *   3 outward   R once more; udot and A
 *
 * Sines and cosines are computed in each sweep: they cost less than reading them back. The order of operations in what reaches a
 * result is that of articulated.c; without contraction so are the bits (test/gpu/test_gpu_sweep.c, on a processor). A joint
 * that is singular, and whatever is not finite, is found here and evaluated by the processor.
 */
#ifndef CALDER_GPU_GPU_FORWARD_H
#define CALDER_GPU_GPU_FORWARD_H

#include "gpu/gpu_scratch.h"

/** What a kernel is compiled for: constants in all of its functions. */
typedef struct GpuMode {
	int exact; // the bits of a processor
	int plain; // all links are rotations
} GpuMode;

/** One state and where its results go. */
typedef struct GpuState {
	GpuColumn q, u, tau; // tau.x NULL: zeros
} GpuState;

typedef struct GpuSweep {
	GpuMode mode;
	const GpuModel *model;
	GpuTables at;
	GpuState state;
	GpuScratch keep;
} GpuSweep;

INLINE int motion_of(const GpuSweep *sweep, const GpuLink *link) {
	return sweep->mode.plain ? PRIMITIVE_ROTATION : link->motion;
}

INLINE int dof_count(const GpuSweep *sweep, const GpuLink *link) { return sweep->mode.plain ? 1 : link->nu; }

/* ---- 1 outward ----------------------------------------------------------------------------------- */

/* Motion of a link's parent: that of the link before, of the ground, or a kept one. */
INLINE void parent_motion(const GpuSweep *s, const GpuLink *link, GpuMotion *m) {
	if (link->jump >= 0)
		*m = slot_motion(&s->keep, link->jump);
	else if (link->jump == GPU_PARENT_GROUND)
		*m = ground_motion(s->model->gravity);
}

INLINE GpuMotion next_motion(const GpuSweep *s, const GpuLink *link, const GpuMotion *base) {
	const int motion = motion_of(s, link);
	const GpuPose pose = gpu_pose(link, motion, base->R, s->state.q);
	return gpu_motion(link, motion, base, &pose, s->state.u);
}

/* Returns the motion of the last link. */
INLINE GpuMotion sweep_outward(const GpuSweep *s) {
	GpuMotion m = ground_motion(s->model->gravity);
	for (int i = 0; i < s->model->link_count; ++i) {
		const GpuLink *link = &s->at.links[i];
		parent_motion(s, link, &m);
		m = next_motion(s, link, &m);
		if (link->keep >= 0)
			slot_put_motion(&s->keep, link->keep, &m);
	}
	return m;
}

/* ---- 2 inward: one joint ---------------------------------------------------------------------------- */

/* What acts along a dof: input, damper, spring, as forces_total() adds them up. */
INLINE double total_tau(const GpuSweep *s, int u) {
	const GpuDof *dof = &s->at.dofs[u];
	double tau = s->state.tau.x ? column_at(s->state.tau, u) : 0.0;
	if (s->model->any_damping)
		tau -= dof->damping * column_at(s->state.u, u);
	if (dof->q >= 0)
		tau -= dof->stiffness * (column_at(s->state.q, dof->q) + 0.0 * column_at(s->state.u, u) - dof->rest);
	return tau;
}

INLINE TrioBody body_shift(const TrioBody *body, trio r) {
	const TrioBody shifted = {trio_inertia_shift_by(body->M, r), trio_force_shift(body->b, r)};
	return shifted;
}

/* A rotation, shifted before it is eliminated, as eliminate_rotation(). Nonzero: it is singular. */
INLINE int inward_rotation(const GpuSweep *s, const GpuLink *link, trio z, trio r, TrioBody *total) {
	TrioSpatial U = trio_inertia_mul_angular(&total->M, z);
	double D, scale;
	trio_sums(trio_mul(z, U.a), total->M.I.d, &D, &scale);
	D += s->at.dofs[link->u].rotor;
	const double eps = total_tau(s, link->u) - trio_dot(z, total->b.a);
	TrioBody shifted = *total;
	if (!link->zero_offset) {
		U = trio_force_shift(U, r);
		shifted = body_shift(total, r);
	}
	const double d = 1.0 / D;
	const TrioSpatial K = trio_spatial_times(d, U);
	const GpuGain gain = {K, d * eps};
	gain_store(&s->keep, link->u, &gain);
	total->M = trio_inertia_sub_outer(shifted.M, U, K);
	total->b = trio_spatial_madd(shifted.b, eps, K);
	return not_above(D, SINGULAR_RATIO * scale);
}

/* The translations of a free root, as eliminate_root(). */
INLINE int inward_root(const GpuSweep *s, const GpuLink *link, const GpuPose *pose, trio_sym Ma, TrioSpatial *b) {
	const vec3 tau = vec(total_tau(s, link->u), total_tau(s, link->u + 1), total_tau(s, link->u + 2));
	const trio applied = trio3_mul(pose->F, tau);
	int singular;
	double trace;
	const trio_sym inverse = invert(Ma, &singular, &trace);
	const GpuGain gain = {{sym_times(inverse, trio_sub(applied, b->l)), trio_zero()}, 0.0};
	gain_store(&s->keep, link->u, &gain);
	b->l = applied;
	return singular;
}

/* A ball or free root at once, as eliminate_ball(). */
INLINE int inward_ball(const GpuSweep *s, const GpuLink *link, int motion, const GpuPose *pose, TrioBody *total) {
	const int ball = motion == PRIMITIVE_FREE ? link->u + 3 : link->u;
	const TrioInertia M = total->M;
	const vec3 tau = vec(total_tau(s, ball), total_tau(s, ball + 1), total_tau(s, ball + 2));
	int singular, singular_root = 0;
	double trace;
	const trio_sym inverse = invert(M.I, &singular, &trace);
	const trio_mat X = trio_sym_mul_mat(inverse, M.H);
	const trio moment = trio3_mul(pose->R, tau);
	const trio g = sym_times(inverse, trio_sub(moment, total->b.a));
	const trio_sym HX = trio_mat_tmul_sym(M.H, X);
	const trio_sym Ma = {trio_sub(M.M.d, HX.d), trio_sub(M.M.n, HX.n)};
	const GpuGain first = {{g, X.d}, 0.0}, second = {{X.p, X.n}, 0.0};
	gain_store(&s->keep, ball, &first);
	gain_store(&s->keep, ball + 1, &second);
	TrioBody left = {trio_inertia_zero(), {moment, trio_add(total->b.l, trio_mat_tmul(M.H, g))}};
	if (motion == PRIMITIVE_SPHERICAL)
		left.M.M = Ma;
	else
		singular_root = inward_root(s, link, pose, Ma, &left.b);
	*total = body_shift(&left, pose->r);
	return singular | singular_root;
}

/* Any joint column by column, as eliminate_joint(): all columns of the inertia, then of the force. */
INLINE int inward_columns(const GpuSweep *s, const GpuLink *link, int motion, const GpuPose *pose, TrioBody *total) {
	int bad = 0;
	for (int k = 0; k < link->nu; ++k) {
		const ColumnKind kind = gpu_column_kind(motion, k);
		const TrioSpatial S = gpu_column(link, motion, pose, k), U = column_force(&total->M, S, kind);
		const double D = column_dot(S, U, kind) + s->at.dofs[link->u + k].rotor;
		const double limit = SINGULAR_RATIO * column_scale(&total->M, S, kind);
		const double d = 1.0 / D;
		const GpuGain gain = {trio_spatial_times(d, U), d};
		gain_store(&s->keep, link->u + k, &gain);
		total->M = trio_inertia_sub_outer(total->M, U, gain.K);
		bad |= not_above(D, limit);
	}
	for (int k = 0; k < link->nu; ++k) {
		GpuGain gain = gain_load(&s->keep, link->u + k);
		const TrioSpatial S = gpu_column(link, motion, pose, k);
		const double eps = total_tau(s, link->u + k) - column_dot(S, total->b, gpu_column_kind(motion, k));
		total->b = trio_spatial_madd(total->b, eps, gain.K);
		gain.ready = gain.ready * eps;
		gain_store(&s->keep, link->u + k, &gain);
	}
	*total = body_shift(total, pose->r);
	return bad;
}

/* ---- 2 inward: one link -------------------------------------------------------------------------------- */

/* Inertia and force of a link and all outboard of it, as own_and_children(). */
INLINE void add_link(const GpuSweep *s, const GpuLink *link, const GpuMotion *m, TrioBody *total) {
	if (!link->massless)
		*total = trio_body_add_own(&link->inertia, m->R, trio_field_of(m->w, m->al), m->a, total);
	if (link->accumulator >= 0) {
		const TrioBody others = accumulator_load(&s->keep, link->accumulator);
		*total = trio_body_add(*total, others);
	}
}

/* The joint of a link on a parent of orientation R; own: orientation of the link. */
INLINE int inward_joint(const GpuSweep *s, const GpuLink *link, trio3 R, trio3 own, TrioBody *total) {
	const int motion = motion_of(s, link);
	const GpuPose pose = gpu_pose_known(link, motion, R, own, s->state.q);
	if (motion == PRIMITIVE_ROTATION)
		return inward_rotation(s, link, pose.R.z, pose.r, total);
	return link->at_once ? inward_ball(s, link, motion, &pose, total) : inward_columns(s, link, motion, &pose, total);
}

/* To a parent that is not the next link of the sweep. */
INLINE void give_away(const GpuSweep *s, const GpuLink *link, TrioBody *total) {
	if (link->give_to >= 0) {
		const TrioBody before = link->gives_first ? trio_body_zero() : accumulator_load(&s->keep, link->give_to);
		const TrioBody sum = trio_body_add(before, *total);
		accumulator_store(&s->keep, link->give_to, &sum);
	}
	if (link->jump != GPU_PARENT_BEFORE)
		*total = trio_body_zero();
}

/* ---- 2 inward: exact, segment by segment ------------------------------------------------------------------ */

INLINE int inward_segment(const GpuSweep *s, GpuSegment segment, TrioBody *total) {
	const GpuLink *first = &s->at.links[segment.first];
	GpuMotion m = ground_motion(s->model->gravity);
	if (first->reload >= 0)
		m = slot_motion(&s->keep, first->reload);
	segment_put(&s->keep, 0, &m);
	for (int k = 0; k < segment.count; ++k) {
		m = next_motion(s, first + k, &m);
		if (k + 1 < segment.count)
			segment_put(&s->keep, k + 1, &m);
	}
	int bad = 0;
	for (int k = segment.count - 1; k >= 0; --k) {
		const GpuMotion base = segment_motion(&s->keep, k);
		add_link(s, first + k, &m, total);
		bad |= inward_joint(s, first + k, base.R, m.R, total);
		give_away(s, first + k, total);
		m = base;
	}
	return bad;
}

INLINE int sweep_inward_exact(const GpuSweep *s) {
	TrioBody total = trio_body_zero();
	int bad = 0;
	for (int k = s->model->segment_count - 1; k >= 0; --k)
		bad |= inward_segment(s, s->at.segments[k], &total);
	return bad;
}

/* ---- 2 inward: fast, by undoing rotations ------------------------------------------------------------------ */

/* m: motion of the link, then of its parent. */
INLINE int inward_undone(const GpuSweep *s, const GpuLink *link, GpuMotion *m, TrioBody *total) {
	add_link(s, link, m, total);
	if (link->reload == GPU_PARENT_BEFORE) {
		trio r;
		const GpuMotion base = rotation_undo(link, m, s->state.q, s->state.u, &r);
		const int bad = inward_rotation(s, link, m->R.z, r, total);
		*m = base;
		return bad;
	}
	const GpuMotion base = link->reload >= 0 ? slot_motion(&s->keep, link->reload) : ground_motion(s->model->gravity);
	const int bad = inward_joint(s, link, base.R, m->R, total);
	*m = base;
	return bad;
}

/* m: motion of the last link. */
INLINE int sweep_inward_fast(const GpuSweep *s, GpuMotion m) {
	TrioBody total = trio_body_zero();
	int bad = 0;
	for (int i = s->model->link_count - 1; i >= 0; --i) {
		const GpuLink *link = &s->at.links[i];
		bad |= inward_undone(s, link, &m, &total);
		give_away(s, link, &total);
		if (link->jump != GPU_PARENT_BEFORE && i > 0)
			m = slot_motion(&s->keep, s->at.links[i - 1].keep);
	}
	return bad;
}

/* ---- 3 outward ----------------------------------------------------------------------------------- */

/** Accelerations of the dofs of one link. */
typedef struct GpuRates {
	double x[6];
} GpuRates;

/* As accelerate_rotation(): the gain is at the parent's origin. */
INLINE double outward_rotation(const GpuGain *gain, trio z, trio r, TrioSpatial *A) {
	const trio linear = trio_add(A->l, trio_cross(A->a, r));
	const double ud = gain->ready - trio_spatial_dot(gain->K, *A);
	A->a = trio_madd(A->a, ud, z);
	A->l = linear;
	return ud;
}

/* As accelerate_ball(). */
INLINE void outward_ball(const GpuSweep *s, const GpuLink *link, int motion, const GpuPose *pose, GpuRates *rates,
                         TrioSpatial *A) {
	const int root = motion == PRIMITIVE_FREE, ball = root ? 3 : 0;
	const GpuGain first = gain_load(&s->keep, link->u + ball), second = gain_load(&s->keep, link->u + ball + 1);
	trio a = A->l;
	if (root) {
		a = gain_load(&s->keep, link->u).K.a;
		const trio own = trio_sub(a, A->l);
		rates->x[0] = trio_dot(pose->F.x, own);
		rates->x[1] = trio_dot(pose->F.y, own);
		rates->x[2] = trio_dot(pose->F.z, own);
	}
	const trio_mat X = {first.K.l, second.K.l, second.K.a};
	const trio al = trio_sub(first.K.a, trio_mat_mul(X, a, trio_next(a), trio_prev(a)));
	const vec3 own = trio_vec(trio3_tmul(pose->R, trio_sub(al, A->a)));
	rates->x[ball] = own.x;
	rates->x[ball + 1] = own.y;
	rates->x[ball + 2] = own.z;
	A->a = al;
	A->l = a;
}

/* As accelerate_columns(): last to first. */
INLINE void outward_columns(const GpuSweep *s, const GpuLink *link, int motion, const GpuPose *pose, GpuRates *rates,
                            TrioSpatial *A) {
	for (int k = link->nu - 1; k >= 0; --k) {
		const GpuGain gain = gain_load(&s->keep, link->u + k);
		rates->x[k] = gain.ready - trio_spatial_dot(gain.K, *A);
		*A = trio_spatial_madd(*A, rates->x[k], gpu_column(link, motion, pose, k));
	}
}

/* A: of the parent, then of the link. */
INLINE void outward_joint(const GpuSweep *s, const GpuLink *link, int motion, const GpuPose *pose, GpuRates *rates,
                          TrioSpatial *A) {
	if (motion == PRIMITIVE_ROTATION) {
		const GpuGain gain = gain_load(&s->keep, link->u);
		rates->x[0] = outward_rotation(&gain, pose->R.z, pose->r, A);
		return;
	}
	*A = trio_motion_shift(*A, pose->r);
	if (link->at_once)
		outward_ball(s, link, motion, pose, rates, A);
	else
		outward_columns(s, link, motion, pose, rates, A);
}

/* Where the outward sweep is: orientation and acceleration of a link. */
typedef struct GpuReach {
	trio3 R;
	TrioSpatial A;
} GpuReach;

INLINE GpuReach outward_start(void) {
	const GpuReach ground = {trio3_dmat(dmat_identity()), trio_spatial_zero()};
	return ground;
}

/* The accelerations of link i, and `at` from its parent to it. */
INLINE void outward_link(const GpuSweep *s, const GpuLink *link, GpuReach *at, GpuRates *rates) {
	const int motion = motion_of(s, link);
	if (link->jump >= 0) {
		at->R = slot_orientation(&s->keep, link->jump);
		at->A = slot_acceleration(&s->keep, link->jump);
	} else if (link->jump == GPU_PARENT_GROUND) {
		*at = outward_start();
	}
	const GpuPose pose = gpu_pose(link, motion, at->R, s->state.q);
	outward_joint(s, link, motion, &pose, rates, &at->A);
	at->R = pose.R;
	if (link->branches)
		slot_put_acceleration(&s->keep, link->keep, at->A);
}

/* ---- the whole ----------------------------------------------------------------------------------- */

/* Sweeps 1 and 2. Nonzero: a joint is singular. */
INLINE int sweep_eliminate(const GpuSweep *s) {
	const GpuMotion last = sweep_outward(s);
	return s->mode.exact ? sweep_inward_exact(s) : sweep_inward_fast(s, last);
}

/* udot[k * stride]. Nonzero: a joint is singular, or a number is not finite. */
INLINE int sweep_forward(const GpuSweep *s, double *udot, int64_t stride) {
	int bad = sweep_eliminate(s);
	GpuReach at = outward_start();
	for (int i = 0; i < s->model->link_count; ++i) {
		const GpuLink *link = &s->at.links[i];
		GpuRates rates;
		outward_link(s, link, &at, &rates);
		for (int k = 0; k < 6; ++k) { // with constant indices rates stay in registers
			if (k < dof_count(s, link)) {
				udot[(link->u + k) * stride] = rates.x[k];
				bad |= !(rates.x[k] - rates.x[k] == 0);
			}
		}
	}
	return bad;
}

#endif
