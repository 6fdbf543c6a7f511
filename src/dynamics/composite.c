// SPDX-License-Identifier: Apache-2.0
/*
 * composite.c — mass matrix by composite rigid bodies [THEORY 4; SOA: M = H (R + A~R + RA~') H'].
 *
 *   inward   R(k) = own + sum over children of R shifted to O_k:
 *            mc' = mc + m r,  S' = S + g r' + r g' with g = mc + m r / 2
 *   matrix   column of a freedom of link j: F = R(j) P; walking to the ground, F shifts by r and
 *            M(i,j) = P_i'F
 * World axes make the walk a cross product per link: 9 multiplications per entry of M.
 */
#include <calder/dynamics.h>
#include "dynamics/articulated.h"
#include "dynamics/composite.h"

INLINE Composite composite_shift(Composite c, vec3 r) {
	const vec3 mr = scale(c.m, r);
	const vec3 g = {c.mc.x + 0.5 * mr.x, c.mc.y + 0.5 * mr.y, c.mc.z + 0.5 * mr.z};
	c.mc = add(c.mc, mr);
	c.S.xx += 2.0 * (g.x * r.x);
	c.S.yy += 2.0 * (g.y * r.y);
	c.S.zz += 2.0 * (g.z * r.z);
	c.S.xy += g.x * r.y + r.x * g.y;
	c.S.xz += g.x * r.z + r.x * g.z;
	c.S.yz += g.y * r.z + r.y * g.z;
	return c;
}

void LANED(composite_inward)(const CalModel *model, CalWork *work) {
	for (int i = model->link_count - 1; i >= 0; --i) {
		const int p = model->links[i].parent;
		if (p < 0) continue;
		const Composite c = composite_shift(work->composite[i], work->links[i].r);
		Composite *to = &work->composite[p];
		*to = (Composite){to->m + c.m, add(to->mc, c.mc), sym_add(to->S, c.S)};
	}
}

/* Row u of M: force F at the origin of link i, met by the columns of i up to k and by all inboard ones. */
INLINE void matrix_row(const CalModel *model, const CalWork *work, int i, int k, spatial F, real *row) {
	const Link *link = &model->links[i];
	for (int j = 0; j <= k; ++j) row[link->u + j] = spatial_dot(link_column(work, link, i, j), F);
	while (link->parent >= 0) {
		F = force_shift(F, work->links[i].r);
		i = link->parent;
		link = &model->links[i];
		if (LIKELY(link->motion == MOTION_ROTATION)) {
			row[link->u] = dot(work->links[i].R.z, F.a);
			continue;
		}
		for (int j = 0; j < link->nu; ++j) row[link->u + j] = spatial_dot(link_column(work, link, i, j), F);
	}
}

void LANED(composite_matrix)(const CalModel *model, const CalWork *work, real *M) {
	const size_t n = (size_t)model->nu;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k) {
			const int u = link->u + k;
			real *row = M + n * (size_t)u;
			matrix_row(model, work, i, k, composite_mul(&work->composite[i], link_column(work, link, i, k)), row);
			row[u] += model->rotor[u];
		}
	}
}

#if CAL_LANES == 1

static void mirror_lower(double *M, int n) {
	for (int i = 0; i < n; ++i) {
		for (int j = 0; j < i; ++j) M[(size_t)j * (size_t)n + (size_t)i] = M[(size_t)i * (size_t)n + (size_t)j];
	}
}

static void form_composites(const CalModel *model, const double *q, CalWork *work) {
	pose_outward_x1(model, q, work);
	for (int i = 0; i < model->link_count; ++i) {
		work->composite[i] = link_inertia(&model->links[i], &work->links[i].R);
	}
	composite_inward_x1(model, work);
}

CalStatus cal_mass_matrix(const CalModel *model, const CalState *state, CalWork *work, double *M) {
	if (!model || !state || !work || work->model != model || !M) return CAL_ERR_ARGUMENT;
	form_composites(model, state->q, work);
	memset(M, 0, sizeof(double) * (size_t)model->nu * (size_t)model->nu);
	composite_matrix_x1(model, work, M);
	mirror_lower(M, model->nu);
	work->stage = STAGE_POSE | STAGE_COMPOSITE;
	return CAL_OK;
}

CalStatus cal_mass_trace(const CalModel *model, const CalState *state, CalWork *work, double *trace) {
	if (!model || !state || !work || work->model != model || !trace) return CAL_ERR_ARGUMENT;
	form_composites(model, state->q, work);
	double sum = 0;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k) {
			const spatial P = link_column(work, link, i, k);
			sum += spatial_dot(P, composite_mul(&work->composite[i], P)) + model->rotor[link->u + k];
		}
	}
	*trace = sum;
	work->stage = STAGE_POSE | STAGE_COMPOSITE;
	return CAL_OK;
}

#endif
