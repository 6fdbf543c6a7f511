// SPDX-License-Identifier: Apache-2.0
/*
 * composite.c — mass matrix by composite rigid bodies [THEORY 4.6; SOA: M = H (R + A~R + RA~') H'].
 *
 *   inward   R(k) = own + sum over children of R shifted to O_k:
 *            mc' = mc + m r,  Sigma' = Sigma + g r' + r g' with g = mc + m r / 2
 *   matrix   column of a dof of link j: F = R(j) S; walking to the ground, F shifts and M(i,j) = S_i'F
 * World axes make the walk a cross product per link, and four columns of one path walk side by side in the lanes of a
 * register: 9 multiplications and 8 additions per four entries of M.
 */
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

/* ---- the matrix ---------------------------------------------------------------------------------- */

/* Up to four columns of M, of dofs in sequence, on their way to the ground: one per lane. */
typedef struct Columns {
	pspatial F;       // forces that the composites of their links need, at the origin of the link where they are now
	int u, count;     // dof of the first lane, lanes in use
	real *row[PACK];  // of M
	real *mirror;     // dense: their entries in row 0 of the upper triangle
} Columns;

typedef struct Matrix {
	const CalModel *model;
	MassForm form;
	real *M;
	size_t n;
} Matrix;

/* Where the entry of dof u is in the rows of M that have it. */
INLINE size_t entry_of(const Matrix *to, int u) {
	return to->form == MASS_SPARSE ? (size_t)to->model->dof_depth[u] : (size_t)u;
}

INLINE real *row_of(const Matrix *to, int u) {
	return to->M + (to->form == MASS_SPARSE ? to->model->mass_row[u] : to->n * (size_t)u);
}

/* Entry of dofs u >= v, and its mirror image. */
INLINE void put_entry(const Matrix *to, int u, int v, real x) {
	row_of(to, u)[entry_of(to, v)] = x;
	if (to->form == MASS_DENSE)
		to->M[to->n * (size_t)v + (size_t)u] = x;
}

/* Entries of the columns and dof v, inboard of them; entry: entry_of() v. */
INLINE void put_entries(const Matrix *to, const Columns *c, size_t entry, int v, pack x) {
	if (LIKELY(c->count == PACK)) {
		for (int k = 0; k < PACK; ++k)
			c->row[k][entry] = pack_lane(x, k);
		if (to->form == MASS_DENSE)
			pack_store(c->mirror + to->n * (size_t)v, x);
		return;
	}
	for (int k = 0; k < c->count; ++k) {
		real lanes[PACK];
		pack_store(lanes, x);
		c->row[k][entry] = lanes[k];
		if (to->form == MASS_DENSE)
			c->mirror[to->n * (size_t)v + (size_t)k] = lanes[k];
	}
}

/* The modes of a flexible body have columns on its frame and on a node: their parts add up. */
static void meet_modes(const Matrix *to, const CalWork *work, const Link *link, const Columns *c) {
	const Flex *flex = &to->model->flexes[link->flex];
	for (int k = 0; k < flex->m; ++k) {
		const int v = flex->u + k;
		real lanes[PACK];
		pack_store(lanes, pspatial_dot(flexible_column(to->model, link, work, k), c->F));
		for (int lane = 0; lane < c->count; ++lane)
			put_entry(to, c->u + lane, v, c->row[lane][entry_of(to, v)] + lanes[lane]);
	}
}

/* Entries of the columns, at the origin of link i, and its dofs. */
INLINE void meet_link(const Matrix *to, const CalWork *work, const Link *link, int i, const Columns *c) {
	const size_t entry = entry_of(to, link->u);
	const mat3 *R = &work->links[i].R;
	if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
		put_entries(to, c, entry, link->u, pvec_dot(R->z, c->F.a));
	} else if (link->motion == PRIMITIVE_SPHERICAL) {
		put_entries(to, c, entry, link->u, pvec_dot(R->x, c->F.a));
		put_entries(to, c, entry + 1, link->u + 1, pvec_dot(R->y, c->F.a));
		put_entries(to, c, entry + 2, link->u + 2, pvec_dot(R->z, c->F.a));
	} else if (UNLIKELY(link->flex >= 0)) {
		meet_modes(to, work, link, c);
	} else {
		for (int j = 0; j < link->nu; ++j)
			put_entries(to, c, entry + (size_t)j, link->u + j, pspatial_dot(link_column(work, link, i, j), c->F));
	}
}

/* From link i to the ground, run by run: no look-up waits for another. */
static void meet_inboard(const Matrix *to, const CalWork *work, int i, const Columns *start) {
	const Link *links = to->model->links;
	Columns c = *start;
	for (;;) {
		const int first = links[i].run;
		for (; i > first; --i) {
			c.F = pforce_shift(c.F, work->links[i].r);
			meet_link(to, work, &links[i - 1], i - 1, &c);
		}
		if (links[first].parent < 0)
			return;
		c.F = pforce_shift(c.F, work->links[first].r);
		i = links[first].parent;
		meet_link(to, work, &links[i], i, &c);
	}
}

INLINE void finish_columns(const Matrix *to, const CalWork *work, int i, Columns *c) {
	if (c->count > 0)
		meet_inboard(to, work, i, c);
	c->count = 0;
}

/* Dof u of link i, the one before the columns', joins them; four go to the ground at once. */
INLINE void add_column(const Matrix *to, const CalWork *work, int i, int u, spatial F, Columns *c) {
	if (UNLIKELY(c->count > 0 && c->u != u + 1))
		finish_columns(to, work, i, c);
	c->F = pspatial_push(F, c->F);
	for (int k = PACK - 1; k > 0; --k)
		c->row[k] = c->row[k - 1];
	c->row[0] = row_of(to, u);
	c->mirror = to->M + u;
	c->u = u;
	if (++c->count == PACK)
		finish_columns(to, work, i, c);
}

/* Column k of link i: its force, and its entries with the dofs of the link up to itself. */
INLINE spatial own_column(const Matrix *to, const CalWork *work, const Link *link, int i, int k) {
	const spatial S = link_column(work, link, i, k);
	const Composite *c = &work->composite[i];
	const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
	const int u = link->u + k;
	const spatial F = kind == COLUMN_ROTATION      ? composite_mul_rotation(c, S.a)
	                  : kind == COLUMN_TRANSLATION ? composite_mul_translation(c, S.l)
	                                               : composite_mul(c, S);
	for (int j = 0; j < k; ++j)
		put_entry(to, u, link->u + j, spatial_dot(link_column(work, link, i, j), F));
	put_entry(to, u, u, spatial_dot(S, F) + to->model->rotor[u]);
	return F;
}

/* The modes of a flexible body, its modal mass and E complete: against each other, the joint of its link, all inboard. */
static void modal_columns(const Matrix *to, const CalWork *work, const Link *link, int i) {
	const Flex *flex = &to->model->flexes[link->flex_body];
	const FlexWork *w = &work->flex[link->flex_body];
	for (int k = 0; k < flex->m; ++k) {
		for (int j = 0; j <= k; ++j)
			put_entry(to, flex->u + k, flex->u + j, flexible_mass(w, flex->n, k, j));
	}
	for (int k = 0; k < flex->m; k += PACK) {
		Columns c = {.F = pspatial_load(w->E + k, flex->n), .u = flex->u + k};
		for (; c.count < PACK && k + c.count < flex->m; ++c.count)
			c.row[c.count] = row_of(to, c.u + c.count);
		c.mirror = to->M + c.u;
		if (link->motion != PRIMITIVE_FLEX)
			meet_link(to, work, link, i, &c);
		meet_inboard(to, work, i, &c);
	}
}

/* All columns of link i, its composite complete; c: those of the links outboard of it in its run. */
INLINE void link_columns(const Matrix *to, CalWork *work, int i, Columns *c) {
	const Link *link = &to->model->links[i];
	if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
		const vec3 z = work->links[i].R.z;
		const spatial F = composite_mul_rotation(&work->composite[i], z);
		put_entry(to, link->u, link->u, dot(z, F.a) + to->model->rotor[link->u]);
		add_column(to, work, i, link->u, F, c);
		return;
	}
	for (int k = link->nu - 1; k >= 0; --k)
		add_column(to, work, i, link->u + k, own_column(to, work, link, i, k), c);
}

void LANED(composite_matrix)(const CalModel *model, MassForm form, CalWork *work, real *M) {
	const Matrix to = {model, form, M, (size_t)model->nu};
	Columns c = {.F = pspatial_zero()};
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		if (c.count > 0)
			meet_link(&to, work, link, i, &c);
		pass_composite(model, work, i);
		if (UNLIKELY(link->flex_body >= 0)) {
			finish_columns(&to, work, i, &c);
			modal_columns(&to, work, link, i);
		}
		link_columns(&to, work, i, &c);
		if (link->run == i)
			finish_columns(&to, work, i, &c);
		else
			c.F = pforce_shift(c.F, work->links[i].r);
	}
}
