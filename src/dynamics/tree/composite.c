// SPDX-License-Identifier: Apache-2.0
/*
 * composite.c — mass matrix by composite rigid bodies [THEORY 4.6; SOA: M = H (R + A~R + RA~') H'].
 *
 *   inward   R(k) = own + sum over children of R shifted to O_k:
 *            mc' = mc + m r,  Sigma' = Sigma + g r' + r g' with g = mc + m r / 2
 *   matrix   column of a dof of link j: F = R(j) S; walking to the ground, F shifts and M(i,j) = S_i'F
 * World axes make the walk a cross product per link: 9 multiplications per entry of M.
 */
#include <calder/dynamics.h>
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/composite.h"

INLINE Composite composite_shift(Composite c, vec3 r) {
	const vec3 mr = scale(c.m, r);
	const vec3 g = {c.mc.x + 0.5 * mr.x, c.mc.y + 0.5 * mr.y, c.mc.z + 0.5 * mr.z};
	c.mc = add(c.mc, mr);
	c.Sigma.xx += 2.0 * (g.x * r.x);
	c.Sigma.yy += 2.0 * (g.y * r.y);
	c.Sigma.zz += 2.0 * (g.z * r.z);
	c.Sigma.xy += g.x * r.y + r.x * g.y;
	c.Sigma.xz += g.x * r.z + r.x * g.z;
	c.Sigma.yz += g.y * r.z + r.y * g.z;
	return c;
}

/* What the composite of a flexible body's link does to its modes. */
static void composite_flexible(const CalModel *model, const Link *link, int i, CalWork *work) {
	const Composite *c = &work->composite[i];
	const ArticulatedInertia M = articulated_rigid(c->m, c->mc, c->Sigma);
	if (link->motion == PRIMITIVE_NODE) {
		LANED(flexible_node)(model, link, &M, NULL, work);
	} else {
		LANED(flexible_head)(model, link, &M, work);
	}
}

/* Adds the composite of link i, now complete, to its parent's. */
INLINE void pass_composite(const CalModel *model, CalWork *work, int i) {
	if (UNLIKELY(model->links[i].flex >= 0))
		composite_flexible(model, &model->links[i], i, work);
	const int p = model->links[i].parent;
	if (p < 0)
		return;
	const Composite c = composite_shift(work->composite[i], work->links[i].r);
	composite_add(&work->composite[p], &c);
}

void LANED(composite_outward)(const CalModel *model, const real *q, CalWork *work) {
	ground_init(work, (dvec3){0, 0, 0});
	sweep_trig(model, q, work);
	LANED(flexible_load)(model, q, NULL, NULL, NULL, work);
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		link_pose(link, &work->links[link->parent], q, work, &work->links[i]);
		if (UNLIKELY(link->flex_body >= 0)) {
			LANED(flexible_own)(model, link->flex_body, &model->flexes[link->flex_body].all, 0, work, &work->links[i]);
			work->composite[i] = work->flex[link->flex_body].own;
		} else {
			work->composite[i] = link_inertia(link, &work->links[i].R);
		}
	}
}

void LANED(composite_inward)(const CalModel *model, CalWork *work) {
	for (int i = model->link_count - 1; i >= 0; --i)
		pass_composite(model, work, i);
}

/* What a row of M is made of: dof u, and the force F that its composite needs. */
typedef struct Row {
	real *M;
	size_t n, u;
	spatial F;
} Row;

/* The modes have columns on the body's frame and on a node: their parts add up. */
static void meet_modes(const CalModel *model, const CalWork *work, const Row *row, const Link *link, spatial F) {
	const Flex *flex = &model->flexes[link->flex];
	for (int k = 0; k < flex->m; ++k) {
		const size_t v = (size_t)(flex->u + k);
		row->M[row->n * v + row->u] += spatial_dot(flexible_column(model, link, work, k), F);
		row->M[row->n * row->u + v] = row->M[row->n * v + row->u];
	}
}

/* Entries of the row, and of the column that mirrors it, for the dofs of link i; c: from its origin to F's. */
INLINE void meet_link(const CalModel *model, const CalWork *work, const Row *row, int i, int dofs, vec3 c) {
	const Link *link = &model->links[i];
	const vec3 moment = add(row->F.a, cross(c, row->F.l));
	size_t v = (size_t)link->u;
	if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
		row->M[row->n * row->u + v] = row->M[row->n * v + row->u] = dot(work->links[i].R.z, moment);
		return;
	}
	if (UNLIKELY(link->flex >= 0)) {
		meet_modes(model, work, row, link, (spatial){moment, row->F.l});
		return;
	}
	for (int j = 0; j < dofs; ++j, ++v) {
		const spatial S = link_column(work, link, i, j);
		row->M[row->n * row->u + v] = row->M[row->n * v + row->u] = dot(S.a, moment) + dot(S.l, row->F.l);
	}
}

/* The row against all inboard of link i, run by run: no look-up waits for another. */
INLINE void meet_inboard(const CalModel *model, const CalWork *work, const Row *row, int i) {
	const Link *links = model->links;
	vec3 c = vec_zero();
	for (;;) {
		const int first = links[i].run;
		for (; i > first; --i) {
			c = add(c, work->links[i].r);
			meet_link(model, work, row, i - 1, links[i - 1].nu, c);
		}
		const int parent = links[first].parent;
		if (parent < 0)
			return;
		c = add(c, work->links[first].r);
		i = parent;
		meet_link(model, work, row, i, links[i].nu, c);
	}
}

/* Degree of freedom k of link i against those before it on the link, and all inboard. */
INLINE void matrix_row(const CalModel *model, const CalWork *work, int i, int k, real *M) {
	const Link *link = &model->links[i];
	const size_t n = (size_t)model->nu, u = (size_t)(link->u + k);
	if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
		const vec3 z = work->links[i].R.z;
		const Row row = {M, n, u, composite_mul_rotation(&work->composite[i], z)};
		M[n * u + u] = dot(z, row.F.a) + model->rotor[u];
		meet_inboard(model, work, &row, i);
		return;
	}
	const Row row = {M, n, u, composite_mul(&work->composite[i], link_column(work, link, i, k))};
	meet_link(model, work, &row, i, k + 1, vec_zero());
	M[n * u + u] += model->rotor[u];
	meet_inboard(model, work, &row, i);
}

/* The modes of a flexible body, its modal mass and E complete: against each other and all inboard. */
static void modal_rows(const CalModel *model, const CalWork *work, const Link *link, int i, real *M) {
	const Flex *flex = &model->flexes[link->flex_body];
	const FlexWork *w = &work->flex[link->flex_body];
	const size_t n = (size_t)model->nu;
	for (int k = 0; k < flex->m; ++k) {
		const size_t u = (size_t)(flex->u + k);
		for (int j = 0; j < flex->m; ++j)
			M[n * u + (size_t)(flex->u + j)] = flexible_mass(w, flex->n, k, j);
		const Row row = {M, n, u, rows_mode(w->E, flex->n, k)};
		if (link->motion != PRIMITIVE_FLEX) // the joint of the link that carries B
			meet_link(model, work, &row, i, link->nu, vec_zero());
		meet_inboard(model, work, &row, i);
	}
}

void LANED(composite_matrix)(const CalModel *model, CalWork *work, real *M) {
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k)
			matrix_row(model, work, i, k, M);
		pass_composite(model, work, i);
		if (UNLIKELY(link->flex_body >= 0))
			modal_rows(model, work, link, i, M);
	}
}

#if CAL_LANES == 1

CalStatus cal_mass_matrix(const CalModel *model, const CalState *state, CalWork *work, double *M) {
	if (!model || !state || !work || work->model != model || !M)
		return CAL_ERR_ARGUMENT;
	composite_outward_x1(model, state->q, work);
	memset(M, 0, sizeof(double) * (size_t)model->nu * (size_t)model->nu);
	composite_matrix_x1(model, work, M);
	work->stage = STAGE_POSE;
	return CAL_OK;
}

CalStatus cal_mass_trace(const CalModel *model, const CalState *state, CalWork *work, double *trace) {
	if (!model || !state || !work || work->model != model || !trace)
		return CAL_ERR_ARGUMENT;
	composite_outward_x1(model, state->q, work);
	composite_inward_x1(model, work);
	double sum = 0;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k) {
			const spatial S = link_column(work, link, i, k);
			sum += spatial_dot(S, composite_mul(&work->composite[i], S)) + model->rotor[link->u + k];
		}
	}
	for (int f = 0; f < model->flex_count; ++f) {
		for (int k = 0; k < model->flexes[f].m; ++k)
			sum += work->flex[f].M[k * (model->flexes[f].n + 1)];
	}
	*trace = sum;
	work->stage = STAGE_POSE;
	return CAL_OK;
}

#endif
