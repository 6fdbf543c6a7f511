// SPDX-License-Identifier: Apache-2.0
/*
 * factor.c — the mass matrix as the recursion factors it, without forces: M = L D L' from the poses alone, then any number
 * of solves [THEORY (4.4)-(4.6), (4.8)-(4.11)].
 */
#include "dynamics/flex/flexible.h"
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

int LANED(factor_inward)(const CalModel *model, const uint8_t *prescribed, const double *rotor, CalWork *work) {
	int failed_dof = -1;
	for (int i = 0; i < model->link_count; ++i) {
		const int carries = model->links[i].flex_body;
		if (carries >= 0)
			LANED(flexible_own)(model, carries, &model->flexes[carries].all, 0, work, &work->links[i]);
		const Composite c = carries >= 0 ? work->flex[carries].own : link_inertia(&model->links[i], &work->links[i].R);
		work->composite[i] = c;
		work->articulated[i] = articulated_rigid(c.m, c.mc, c.Sigma);
	}
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		ArticulatedInertia M = work->articulated[i];
		if (link->motion == PRIMITIVE_NODE)
			LANED(flexible_node)(model, link, &M, NULL, work);
		if (link->motion == PRIMITIVE_FLEX)
			LANED(flexible_head)(model, link, &M, work);
		const int modal =
			link->flex_body >= 0 ? LANED(flexible_eliminate)(model, link->flex_body, prescribed, work, &M) : -1;
		TrioInertia left = trio_inertia_from(&M);
		const int bad = eliminate_columns(rotor ? rotor : model->rotor, link, i, prescribed, work, &left);
		if (bad >= 0 || modal >= 0)
			failed_dof = bad >= 0 ? bad : modal;
		if (link->parent < 0)
			continue;
		const ArticulatedInertia shifted = trio_inertia_out(trio_inertia_shift_by(left, trio_from(work->links[i].r)));
		work->articulated[link->parent] = articulated_add(work->articulated[link->parent], shifted);
	}
	return failed_dof;
}

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
