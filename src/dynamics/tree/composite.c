// SPDX-License-Identifier: Apache-2.0
/*
 * composite.c — mass matrix by composite rigid bodies [THEORY 4.6; SOA: M = H (R + A~R + RA~') H'].
 *
 *   inward   R(k) = own + sum over children of R shifted to O_k:
 *            mc' = mc + m r,  Sigma' = Sigma + g r' + r g' with g = mc + m r / 2
 *   matrix   column of a dof of link j: F = R(j) S; walking to the ground, F shifts and M(i,j) = S_i'F
 *
 * World axes make the walk a cross product per link, and four columns of one path walk side by side in the lanes of a
 * pack: 9 multiplications and 8 additions per four entries of M. Composites and poses are carried from link to link in
 * registers (math/trio.h).
 */
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/composite.h"
#include "math/trio.h"

/* ---- composites -------------------------------------------------------------------------------- */

/* A Composite in registers. */
typedef struct Moments {
	real m;
	trio mc;
	trio_sym Sigma;
} Moments;

INLINE Moments moments_load(const Composite *c) {
	return (Moments){c->m, trio_load_wide(&c->mc), trio_sym_load(&c->Sigma)};
}

INLINE void moments_store(Composite *c, const Moments *x) {
	c->m = x->m;
	trio_store_wide(&c->mc, x->mc); // Sigma is next
	trio_sym_store(&c->Sigma, x->Sigma);
}

INLINE Moments moments_add(Moments a, Moments b) {
	return (Moments){a.m + b.m, trio_add(a.mc, b.mc), trio_sym_add(a.Sigma, b.Sigma)};
}

/* The same about the origin r inboard. */
INLINE Moments moments_shift(Moments c, trio r) {
	const trio mr = trio_times(c.m, r);
	const trio g = trio_madd(c.mc, real_from(0.5), mr), gr = trio_mul(g, r);
	const trio n = trio_mac(trio_mul(g, trio_next(r)), r, trio_next(g));
	return (Moments){c.m, trio_add(c.mc, mr), {trio_add(c.Sigma.d, trio_add(gr, gr)), trio_add(c.Sigma.n, n)}};
}

/* Mass moments of a link in world axes: Sigma = zz 1 + xp' + px' + ys' + sy' (math/inertia.h). */
INLINE Moments link_moments(const DInertia *b, trio3 R) {
	const trio p = trio3_mul_dvec(R, (dvec3){b->ha, b->d, b->e});
	const trio s = trio_madd(trio_times(real_from(b->hb), R.y), real_from(b->f), R.z);
	trio_sym Sigma = trio_sym_pairs(R.x, p, R.y, s);
	Sigma.d = trio_add(trio_all(real_from(b->zz)), Sigma.d);
	return (Moments){real_from(b->m), trio3_mul_dvec(R, b->mc), Sigma};
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

/*
 * The composite of link i, now complete, and on to its parent. carry: of link i + 1, at the origin of link i where that
 * is its parent; then of link i.
 */
INLINE Moments complete_composite(const CalModel *model, int i, CalWork *work, Moments *carry) {
	const Link *link = &model->links[i];
	Moments c = moments_load(&work->composite[i]);
	if (LIKELY(i + 1 < model->link_count && link[1].parent == i))
		c = moments_add(c, *carry);
	moments_store(&work->composite[i], &c);
	if (UNLIKELY(link->flex >= 0))
		composite_flexible(model, link, i, work);
	*carry = moments_shift(c, trio_load_wide(&work->links[i].r));
	if (UNLIKELY(link->parent != i - 1 && link->parent >= 0)) {
		Composite *parent = &work->composite[link->parent];
		const Moments sum = moments_add(moments_load(parent), *carry);
		moments_store(parent, &sum);
	}
	return c;
}

/* ---- outward ----------------------------------------------------------------------------------- */

/* Orientation of link i on its base, whose orientation is R; stored with its origin. */
INLINE trio3 place_link(const Link *link, int i, trio3 R, const real *q, CalWork *work) {
	LinkWork *l = &work->links[i];
	if (UNLIKELY(link->motion != PRIMITIVE_ROTATION && link->motion != PRIMITIVE_SPHERICAL &&
	             link->motion != PRIMITIVE_TRANSLATION)) {
		LANED(general_pose)(link, q, &work->links[link->parent], work, l);
		return trio3_load_wide(&l->R);
	}
	trio r = trio3_mul_dvec(R, link->p);
	R = LIKELY(link->pure_rx) ? trio3_turn_x(R, real_from(link->E.y.z), real_from(link->E.y.y))
	                          : trio3_mul_dmat(R, link->E);
	if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
		R = trio3_turn_z(R, work->sine[link->trig], work->cosine[link->trig]);
	} else if (link->motion == PRIMITIVE_SPHERICAL) {
		const real *e = q + link->q;
		const mat3 turn = quat_matrix(e[0], e[1], e[2], e[3]);
		R = (trio3){trio3_mul(R, turn.x), trio3_mul(R, turn.y), trio3_mul(R, turn.z)};
	} else {
		r = trio_madd(r, q[link->q], R.z);
	}
	trio3_store_wide(&l->R, R);
	trio_store_wide(&l->r, r);
	return R;
}

void LANED(composite_outward)(const CalModel *model, const real *q, CalWork *work) {
	ground_init(work, (dvec3){0, 0, 0});
	sweep_trig(model, q, work);
	LANED(flexible_load)(model, q, NULL, NULL, NULL, work);
	trio3 R = trio3_dmat(dmat_identity()); // of link i - 1
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		if (UNLIKELY(link->parent != i - 1))
			R = trio3_load_wide(&work->links[link->parent].R);
		R = place_link(link, i, R, q, work);
		if (UNLIKELY(link->flex_body >= 0)) {
			LANED(flexible_own)(model, link->flex_body, &model->flexes[link->flex_body].all, 0, work, &work->links[i]);
			work->composite[i] = work->flex[link->flex_body].own;
		} else {
			const Moments own = link_moments(&link->inertia, R);
			moments_store(&work->composite[i], &own);
		}
	}
}

void LANED(composite_inward)(const CalModel *model, CalWork *work) {
	Moments carry = {.m = real_from(0)};
	for (int i = model->link_count - 1; i >= 0; --i)
		complete_composite(model, i, work, &carry);
}

/* ---- the matrix ---------------------------------------------------------------------------------- */

typedef struct Matrix {
	const CalModel *model;
	real *M;
	size_t n;
	MassForm form;
} Matrix;

/* Up to four columns of M, of dofs in sequence, on their way to the ground: one per lane. */
typedef struct Columns {
	pspatial F; // forces that the composites of their links need, at the origin of the link where they are now
	int u;      // dof of the first lane
	int count;  // lanes in use
} Columns;

/* Rows of the columns' dofs, the first one again for lanes that are not in use; upper: their place in its row 0. */
typedef struct Rows {
	real *a, *b, *c, *d, *upper;
} Rows;

/* Where the entry of dof u is in the rows of M that have it. */
INLINE size_t entry_of(const Matrix *to, int u) {
	return to->form == MASS_SPARSE ? (size_t)to->model->dof_depth[u] : (size_t)u;
}

INLINE real *row_of(const Matrix *to, int u) {
	return to->M + (to->form == MASS_SPARSE ? to->model->mass_row[u] : to->n * (size_t)u);
}

INLINE Rows rows_of(const Matrix *to, int u, int count) {
	return (Rows){row_of(to, u), row_of(to, count > 1 ? u + 1 : u), row_of(to, count > 2 ? u + 2 : u),
	              row_of(to, count > 3 ? u + 3 : u), to->M + u};
}

/* Entry of dofs u >= v, and its mirror image. */
INLINE void put_entry(const Matrix *to, int u, int v, real x) {
	row_of(to, u)[entry_of(to, v)] = x;
	if (to->form == MASS_DENSE)
		to->M[to->n * (size_t)v + (size_t)u] = x;
}

/* Entries of the columns and dof v, inboard of them; entry: entry_of() v. The first lane is stored last (Rows). */
INLINE void put_entries(const Matrix *to, const Rows *rows, int count, size_t entry, int v, pack x) {
	rows->d[entry] = pack_lane(x, 3);
	rows->c[entry] = pack_lane(x, 2);
	rows->b[entry] = pack_lane(x, 1);
	rows->a[entry] = pack_lane(x, 0);
	if (to->form != MASS_DENSE)
		return;
	real *upper = rows->upper + to->n * (size_t)v;
	if (LIKELY(count == PACK)) {
		pack_store(upper, x);
		return;
	}
	upper[0] = pack_lane(x, 0);
	if (count > 1)
		upper[1] = pack_lane(x, 1);
	if (count > 2)
		upper[2] = pack_lane(x, 2);
}

/* The modes of a flexible body have columns on its frame and on a node: their parts add up. */
static void meet_modes(const Matrix *to, const CalWork *work, const Link *link, Columns c) {
	const Flex *flex = &to->model->flexes[link->flex];
	for (int k = 0; k < flex->m; ++k) {
		const int v = flex->u + k;
		real lanes[PACK];
		pack_store(lanes, pspatial_dot(flexible_column(to->model, link, work, k), c.F));
		for (int lane = 0; lane < c.count; ++lane)
			put_entry(to, c.u + lane, v, row_of(to, c.u + lane)[entry_of(to, v)] + lanes[lane]);
	}
}

/* Entries of the columns, with F at the origin of link i, and its dofs. */
INLINE void meet_link(const Matrix *to, const CalWork *work, int i, const pspatial *F, int u, int count,
                      const Rows *rows) {
	const Link *link = &to->model->links[i];
	const mat3 *R = &work->links[i].R;
	const size_t entry = entry_of(to, link->u);
	if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
		put_entries(to, rows, count, entry, link->u, pvec_dot(R->z, F->a));
	} else if (link->motion == PRIMITIVE_SPHERICAL) {
		put_entries(to, rows, count, entry, link->u, pvec_dot(R->x, F->a));
		put_entries(to, rows, count, entry + 1, link->u + 1, pvec_dot(R->y, F->a));
		put_entries(to, rows, count, entry + 2, link->u + 2, pvec_dot(R->z, F->a));
	} else if (UNLIKELY(link->flex >= 0)) {
		meet_modes(to, work, link, (Columns){*F, u, count});
	} else {
		for (int j = 0; j < link->nu; ++j) {
			const pack x = pspatial_dot(link_column(work, link, i, j), *F);
			put_entries(to, rows, count, entry + (size_t)j, link->u + j, x);
		}
	}
}

/* From link i to the ground, run by run: no look-up waits for another. */
INLINE void walk_to_ground(const Matrix *given, const CalWork *work, int i, const Columns *c, int count) {
	const Matrix to = *given; // no store to M changes it
	const Link *links = to.model->links;
	const Rows rows = rows_of(&to, c->u, count);
	const int u = c->u;
	pspatial F = c->F;
	for (;;) {
		const int first = links[i].run;
		for (; i > first; --i) {
			F = pforce_shift(F, work->links[i].r);
			meet_link(&to, work, i - 1, &F, u, count, &rows);
		}
		if (links[first].parent < 0)
			return;
		F = pforce_shift(F, work->links[first].r);
		i = links[first].parent;
		meet_link(&to, work, i, &F, u, count, &rows);
	}
}

static void finish_four(const Matrix *to, const CalWork *work, int i, const Columns *c) {
	walk_to_ground(to, work, i, c, PACK);
}

static void finish_few(const Matrix *to, const CalWork *work, int i, const Columns *c) {
	walk_to_ground(to, work, i, c, c->count);
}

/* The columns, at link i, go to the ground. */
INLINE void finish_columns(const Matrix *to, const CalWork *work, int i, Columns *c) {
	if (c->count == PACK)
		finish_four(to, work, i, c);
	else if (c->count > 0)
		finish_few(to, work, i, c);
	c->count = 0;
}

INLINE void meet_columns(const Matrix *to, const CalWork *work, int i, const Columns *c) {
	const Rows rows = rows_of(to, c->u, c->count);
	meet_link(to, work, i, &c->F, c->u, c->count, &rows);
}

/* Dof u of link i, the one before the columns', joins them; four go to the ground at once. */
INLINE void add_column(const Matrix *to, const CalWork *work, int i, int u, spatial F, Columns *c) {
	if (UNLIKELY(c->count > 0 && c->u != u + 1))
		finish_columns(to, work, i, c);
	c->F = pspatial_push(F, c->F);
	c->u = u;
	if (++c->count == PACK)
		finish_columns(to, work, i, c);
}

/* Column k of link i: its force, and its entries with the dofs of the link up to itself. */
static spatial own_column(const Matrix *to, const CalWork *work, const Link *link, int i, int k) {
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

/* Force that a composite needs for a unit acceleration about z: (I z, z x mc), I = tr Sigma 1 - Sigma. */
INLINE void moments_turn(const Moments *c, trio z, trio *n, trio *f) {
	const trio z1 = trio_next(z), z2 = trio_prev(z);
	const trio diagonal = trio_add(trio_next(c->Sigma.d), trio_prev(c->Sigma.d));
	const trio off = trio_mac(trio_mul(c->Sigma.n, z1), trio_prev(c->Sigma.n), z2);
	*n = trio_sub(trio_mul(diagonal, z), off);
	*f = trio_next(trio_twist(z, z1, c->mc, trio_next(c->mc)));
}

/* Rotation dof u = link->u + k about z: its entries with the axes up to its own, and its column. */
INLINE void add_turn(const Matrix *to, const CalWork *work, int i, int u, const Moments *m, trio z, Columns *c) {
	trio n, f;
	moments_turn(m, z, &n, &f);
	put_entry(to, u, u, trio_dot(z, n) + to->model->rotor[u]);
	add_column(to, work, i, u, (spatial){trio_vec(n), trio_vec(f)}, c);
}

static void ball_columns(const Matrix *to, const CalWork *work, int i, int u, const Moments *m, Columns *c) {
	const trio3 R = trio3_load_wide(&work->links[i].R);
	const trio axis[3] = {R.x, R.y, R.z};
	for (int k = 2; k >= 0; --k) {
		trio n, f;
		moments_turn(m, axis[k], &n, &f);
		for (int j = 0; j < k; ++j)
			put_entry(to, u + k, u + j, trio_dot(axis[j], n));
		put_entry(to, u + k, u + k, trio_dot(axis[k], n) + to->model->rotor[u + k]);
		add_column(to, work, i, u + k, (spatial){trio_vec(n), trio_vec(f)}, c);
	}
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
		Columns c = {pspatial_load(w->E + k, flex->n), flex->u + k, flex->m - k < PACK ? flex->m - k : PACK};
		if (link->motion != PRIMITIVE_FLEX)
			meet_columns(to, work, i, &c);
		finish_columns(to, work, i, &c);
	}
}

/* All columns of link i, its composite m complete; c: those of the links outboard of it in its run. */
INLINE void link_columns(const Matrix *to, CalWork *work, int i, const Moments *m, Columns *c) {
	const Link *link = &to->model->links[i];
	if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
		add_turn(to, work, i, link->u, m, trio_load_wide(&work->links[i].R.z), c);
	} else if (link->motion == PRIMITIVE_SPHERICAL) {
		ball_columns(to, work, i, link->u, m, c);
	} else {
		for (int k = link->nu - 1; k >= 0; --k)
			add_column(to, work, i, link->u + k, own_column(to, work, link, i, k), c);
	}
}

void LANED(composite_matrix)(const CalModel *model, MassForm form, CalWork *work, real *M) {
	const Matrix to = {model, M, (size_t)model->nu, form};
	Columns c = {.F = pspatial_zero()};
	Moments carry = {.m = real_from(0)};
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		if (c.count > 0)
			meet_columns(&to, work, i, &c);
		const Moments m = complete_composite(model, i, work, &carry);
		if (UNLIKELY(link->flex_body >= 0)) {
			finish_columns(&to, work, i, &c);
			modal_columns(&to, work, link, i);
		}
		link_columns(&to, work, i, &m, &c);
		if (link->run == i)
			finish_columns(&to, work, i, &c);
		else if (c.count > 0)
			c.F = pforce_shift(c.F, work->links[i].r);
	}
}
