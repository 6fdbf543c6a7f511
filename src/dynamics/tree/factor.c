// SPDX-License-Identifier: Apache-2.0
/*
 * factor.c — poses alone, of all links or of one path; and the mass matrix as the recursion factors it, without forces:
 * M = L D L' from the poses, then any number of solves [THEORY (4.4)-(4.6), (4.8)-(4.11)].
 */
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/columns.h"
#include "dynamics/tree/joint_elimination.h"

void LANED(pose_outward)(const CalModel *model, const real *q, const uint8_t *prescribed, CalWork *work) {
	ground_init(work, (dvec3){0, 0, 0});
	sweep_trig(model, q, work);
	LANED(flexible_load)(model, q, NULL, prescribed, NULL, work);
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		link_pose(link, &work->links[link->parent], q, work, &work->links[i]);
	}
}

#if CAL_LANES == 1
enum { TRIG_CHUNK = 16 };

/* Sines and cosines of the rotations among these links. */
static void path_trig(const CalModel *model, const double *q, CalWork *work, const int *links, int count) {
	double angle[TRIG_CHUNK], sine[TRIG_CHUNK], cosine[TRIG_CHUNK];
	int trig[TRIG_CHUNK];
	for (int k = 0; k < count;) {
		int n = 0;
		for (; k < count && n < TRIG_CHUNK; ++k) {
			const Link *link = &model->links[links[k]];
			if (link->motion != PRIMITIVE_ROTATION)
				continue;
			trig[n] = link->trig;
			angle[n++] = q[model->trig_q[link->trig]] + model->trig_offset[link->trig];
		}
		int padded = n;
		for (; padded % 4 > 1; ++padded) // four at once cost as much as two by themselves
			angle[padded] = 0;
		sincos_array(angle, sine, cosine, padded);
		for (int j = 0; j < n; ++j)
			work->sine[trig[j]] = sine[j], work->cosine[trig[j]] = cosine[j];
	}
}

/* Modal coordinates of a flexible body, at rest. */
static void load_modes(const Flex *flex, const double *q, FlexWork *w) {
	memcpy(w->eta, q + flex->q, sizeof(double) * (size_t)flex->m);
	memset(w->eta_dot, 0, sizeof(double) * (size_t)flex->m);
}

void LANED(pose_path)(const CalModel *model, const double *q, CalWork *work, int last) {
	int *links = work->column.links, count = 0;
	for (int i = last; i >= 0; i = model->links[i].parent)
		++count;
	for (int i = last, k = count; i >= 0; i = model->links[i].parent)
		links[--k] = i;
	ground_init(work, (dvec3){0, 0, 0});
	path_trig(model, q, work, links, count);
	for (int k = 0; k < count; ++k) {
		const Link *link = &model->links[links[k]];
		if (link->flex_body >= 0)
			load_modes(&model->flexes[link->flex_body], q, &work->flex[link->flex_body]);
		link_pose(link, &work->links[link->parent], q, work, &work->links[links[k]]);
	}
}
#endif

/* Inertia of what link i itself carries. */
INLINE ArticulatedInertia own_inertia(const Link *link, const CalWork *work, int i) {
	const Composite c = link->flex_body >= 0 ? work->flex[link->flex_body].own : link_inertia(link, &work->links[i].R);
	return articulated_rigid(c.m, c.mc, c.Sigma);
}

/* Own terms of flexible bodies, and own inertias where several children will be added to them. */
static void factor_begin(const CalModel *model, CalWork *work) {
	for (int f = 0; f < model->flex_count; ++f)
		LANED(flexible_own)(model, f, &model->flexes[f].all, 0, work, &work->links[model->flexes[f].link]);
	for (int i = 0; i < model->link_count; ++i)
		if (model->links[i].accumulator >= 0)
			work->articulated[i] = own_inertia(&model->links[i], work, i);
}

/* Modes and joint of any link out of M. Returns the singular dof, or -1. */
static __attribute__((noinline)) int eliminate_any(const CalModel *model, int i, const uint8_t *prescribed,
                                                   const double *rotor, CalWork *work, ArticulatedInertia *M) {
	const Link *link = &model->links[i];
	if (link->motion == PRIMITIVE_NODE)
		LANED(flexible_node)(model, link, M, NULL, work);
	if (link->motion == PRIMITIVE_FLEX)
		LANED(flexible_head)(model, link, M, work);
	const int modal =
		link->flex_body >= 0 ? LANED(flexible_eliminate)(model, link->flex_body, prescribed, work, M) : -1;
	TrioInertia left = trio_inertia_from(M);
	const int bad = eliminate_columns(rotor, link, i, prescribed, work, &left);
	*M = trio_inertia_out(left);
	return bad >= 0 ? bad : modal;
}

INLINE int is_plain_hinge(const Link *link, const uint8_t *prescribed) {
	return LIKELY(link->motion == PRIMITIVE_ROTATION && link->flex_body < 0) && !(prescribed && prescribed[link->u]);
}

/* An only child that is the next link leaves what it brings in `brought`; others add theirs to the parent at once. */
int LANED(factor_inward)(const CalModel *model, const uint8_t *prescribed, const double *rotor, CalWork *work) {
	int failed_dof = -1, brings = 0;
	TrioInertia brought = trio_inertia_zero();
	rotor = rotor ? rotor : model->rotor;
	factor_begin(model, work);
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		const LinkWork *l = &work->links[i];
		TrioInertia M;
		if (link->accumulator >= 0) {
			M = trio_inertia_from(&work->articulated[i]);
		} else {
			const ArticulatedInertia own = own_inertia(link, work, i);
			M = trio_inertia_from(&own);
			if (brings)
				M = trio_inertia_add(M, brought);
			work->articulated[i] = trio_inertia_out(M);
		}
		int bad = -1;
		if (is_plain_hinge(link, prescribed)) {
			const TrioSpatial S = {trio_from(l->R.z), trio_zero()};
			if (eliminate_dof(&M, S, COLUMN_ROTATION, rotor[link->u], &work->dofs[link->u]))
				bad = link->u;
		} else {
			ArticulatedInertia any = trio_inertia_out(M); // so that M itself can stay in registers
			bad = eliminate_any(model, i, prescribed, rotor, work, &any);
			M = trio_inertia_from(&any);
		}
		if (bad >= 0)
			failed_dof = bad;
		brings = link->parent >= 0 && model->links[link->parent].accumulator < 0;
		if (link->parent < 0)
			continue;
		brought = trio_inertia_shift_by(M, trio_from(l->r));
		if (!brings) {
			ArticulatedInertia *parent = &work->articulated[link->parent];
			*parent = articulated_add(*parent, trio_inertia_out(brought));
		}
	}
	return failed_dof;
}

#ifndef CAL_ISA
void LANED(factor_solve)(const CalModel *model, const uint8_t *prescribed, CalWork *work, const real *b, real *x) {
	const SweepInput held = {.prescribed = prescribed};
	for (int i = 0; i < model->link_count; ++i)
		work->force[i] = spatial_zero();
	for (int f = 0; f < model->flex_count; ++f)
		memset(work->flex[f].be, 0, sizeof(real) * (size_t)model->flexes[f].m);
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		spatial f = work->force[i];
		if (link->motion == PRIMITIVE_NODE)
			LANED(flexible_node)(model, link, NULL, &f, work);
		if (link->flex_body >= 0)
			LANED(flexible_reduce)(model, link, prescribed, b, work, &f);
		TrioSpatial left = trio_spatial_from(f);
		reduce_force(link, i, prescribed, b, work, &left);
		if (link->parent < 0)
			continue;
		f = trio_spatial_out(trio_force_shift(left, trio_from(work->links[i].r)));
		work->force[link->parent] = spatial_add(work->force[link->parent], f);
	}
	work->links[-1].A = spatial_zero();
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		LinkWork *l = &work->links[i];
		spatial A = motion_shift(work->links[link->parent].A, l->r);
		if (link->motion == PRIMITIVE_NODE)
			A = spatial_add(A, flexible_columns(model, link, work, work->flex[link->flex].x));
		TrioSpatial own = trio_spatial_from(A);
		accelerate_columns(model, link, i, &held, work, x, NULL, &own);
		A = trio_spatial_out(own);
		if (link->flex_body >= 0)
			LANED(flexible_accelerate)(model, link, prescribed, work, x, NULL, &A);
		l->A = A;
	}
}
#endif
