// SPDX-License-Identifier: Apache-2.0
/*
 * columns.c — M^-1 and solves with M = L D L' for many right-hand sides, four at a time [THEORY (4.4)-(4.11)].
 *
 *   inward    eps = tau - S'f,   f = X'(f + gain eps)           f: force that the links outboard need
 *   outward   x = eps/D - gain'A,   A = X A' + S x
 *
 * Four right-hand sides stand side by side in a pack (math/pack.h): every number of a link is read once for all of them,
 * and each right-hand side has the bits of factor_solve(). Modes are dofs that L couples; held dofs are passed over.
 *
 * A unit force of M^-1 acts along the path from its link to the ground only, and outward only the upper triangle is
 * needed: links up to that of the dof, in the trees on the ground that the four paths reach. A column of a chain of n
 * hinges then costs n/2 (30 + 31) flops on average instead of n (30 + 31).
 */
#include "dynamics/tree/columns.h"

#include "base/assert.h"
#include "dynamics/flex/flexible.h"

#if CAL_LANES == 1

/* ---- rows of four numbers ----------------------------------------------------------------------------- */

INLINE double *column_x(const CalWork *work, int u) { return work->column.x + (ptrdiff_t)PACK * u; }
/* Entry of a matrix with rows of n numbers. */
INLINE double *entry(double *M, int n, int i, int j) { return M + (ptrdiff_t)i * n + j; }
INLINE const double *entry_of(const double *M, int n, int i, int j) { return M + (ptrdiff_t)i * n + j; }
INLINE int is_held(const uint8_t *held, int u) { return held && held[u]; }

/* sum_k row[k] x[k] over k = first, ..., m - 1 in the order of rows_sum(): four partial sums by k modulo 4. */
INLINE pack modal_sum(const double *row, const double *x, int first, int m) {
	pack sum[PACK];
	for (int lane = 0; lane < PACK; ++lane) {
		sum[lane] = pack_zero();
		for (int k = first / PACK * PACK + lane; k < m; k += PACK)
			if (k >= first)
				sum[lane] = pack_madd(sum[lane], row[k], pack_load(x + PACK * k));
	}
	return pack_add(pack_add(sum[0], sum[2]), pack_add(sum[1], sum[3]));
}

/* The same of six rows of length n, all of it. */
static pspatial modal_sums(const double *rows, int n, const double *x, int m) {
	return (pspatial){
		{modal_sum(rows, x, 0, m), modal_sum(rows + n, x, 0, m), modal_sum(rows + 2 * n, x, 0, m)},
		{modal_sum(rows + 3 * n, x, 0, m), modal_sum(rows + 4 * n, x, 0, m), modal_sum(rows + 5 * n, x, 0, m)}};
}

/* ---- modes -------------------------------------------------------------------------------------------- */

/* What a force at a FLEX or NODE link needs from the modes. */
static void add_modal_forces(const CalModel *model, const Link *link, CalWork *work, const pspatial *f) {
	const Flex *flex = &model->flexes[link->flex];
	for (int k = 0; k < flex->m; ++k) {
		double *row = work->column.modal + PACK * (flex->u + k);
		pack_store(row, pack_add(pack_load(row), pspatial_dot(flexible_column(model, link, work, k), *f)));
	}
}

/* e = L^-1(tau - be),  f += K e */
static void reduce_modes(const CalModel *model, const Link *link, const uint8_t *held, CalWork *work, pspatial *f) {
	const Flex *flex = &model->flexes[link->flex_body];
	const FlexWork *w = &work->flex[link->flex_body];
	const int m = flex->m, n = flex->n;
	double *e = column_x(work, flex->u);
	if (link->motion == PRIMITIVE_FLEX && flex->head.moves)
		add_modal_forces(model, link, work, f);
	for (int k = 0; k < m; ++k)
		pack_store(e + PACK * k,
		           pack_sub(pack_load(e + PACK * k), pack_load(work->column.modal + PACK * (flex->u + k))));
	for (int j = 0; j < m; ++j) {
		const pack ej = pack_load(e + PACK * j);
		for (int k = j + 1; k < m && !is_held(held, flex->u + j); ++k)
			pack_store(e + PACK * k, pack_msub(pack_load(e + PACK * k), w->M[j * n + k], ej));
	}
	*f = pspatial_add(*f, modal_sums(w->K, n, e, m));
}

/* Four free modes: L'^-1 stands in Y (flexible_four.h). */
static void accelerate_four_modes(const FlexWork *w, double *x, const pspatial *A) {
	const double *N = w->Y;
	pack t[PACK];
	for (int k = 0; k < PACK; ++k)
		t[k] = pack_sub(pack_times(w->inverse[k], pack_load(x + PACK * k)), pspatial_dot(rows_mode(w->K, PACK, k), *A));
	for (int k = 0; k < PACK; ++k) {
		const pack near = pack_madd(t[k], N[k], t[1]);
		const pack far = pack_madd(pack_times(N[PACK + k], t[2]), N[2 * PACK + k], t[3]);
		pack_store(x + PACK * k, pack_add(near, far));
	}
}

/* x_j = e_j/D_j - K_j'A - sum_k L_kj x_k, last mode first; A of a FLEX link becomes that of B. */
static void accelerate_modes(const CalModel *model, const Link *link, const uint8_t *held, CalWork *work, pspatial *A) {
	const Flex *flex = &model->flexes[link->flex_body];
	const FlexWork *w = &work->flex[link->flex_body];
	const int m = flex->m, n = flex->n;
	double *x = column_x(work, flex->u);
	if (m == PACK && !(held && w->given) && link->motion != PRIMITIVE_FLEX) {
		accelerate_four_modes(w, x, A);
		return;
	}
	for (int j = m - 1; j >= 0; --j) {
		const pack e = pack_times(w->inverse[j], pack_load(x + PACK * j));
		const pack own = pack_sub(e, pspatial_dot(rows_mode(w->K, n, j), *A));
		const pack free = pack_sub(own, modal_sum(w->M + j * n, x, j + 1, m));
		pack_store(x + PACK * j, is_held(held, flex->u + j) ? pack_zero() : free);
	}
}

/* Phi x of a FLEX or NODE link, added to A. */
static void add_modal_motion(const CalModel *model, const Link *link, CalWork *work, pspatial *A) {
	const Flex *flex = &model->flexes[link->flex];
	const double *Phi = work->modal_columns + link->columns;
	*A = pspatial_add(*A, modal_sums(Phi, flex->n, column_x(work, flex->u), flex->m));
}

/* ---- one link ----------------------------------------------------------------------------------------- */

INLINE pack column_dot(spatial S, pspatial f, ColumnKind kind) {
	if (kind == COLUMN_ROTATION)
		return pvec_dot(S.a, f.a);
	if (kind == COLUMN_TRANSLATION)
		return pvec_dot(S.l, f.l);
	return pspatial_dot(S, f);
}

/* What the sweeps read and write, apart from the workspace: stores of packs may be to anything, also to the workspace. */
typedef struct Columns {
	const CalModel *model;
	const uint8_t *held;
	CalWork *work;
	const ColumnLink *link;
	double *x, *motion;
} Columns;

static void read_link(const CalModel *model, const uint8_t *held, const CalWork *work, int i) {
	const Link *link = &model->links[i];
	ColumnLink *to = &work->column.link[i];
	to->parent = link->parent, to->u = link->u, to->kept = link->accumulator >= 0;
	to->plain = link->motion == PRIMITIVE_ROTATION && link->flex_body < 0 && !is_held(held, link->u);
	to->zero_offset = link->motion == PRIMITIVE_ROTATION && link->zero_offset;
	to->r = work->links[i].r;
	if (!to->plain)
		return;
	to->z = work->links[i].R.z;
	to->gain = work->dofs[link->u].gain;
	to->D_inv = work->dofs[link->u].D_inv;
}

static Columns columns_of(const CalModel *model, const uint8_t *held, CalWork *work) {
	return (Columns){model, held, work, work->column.link, work->column.x, work->column.motion};
}

static Columns read_links(const CalModel *model, const uint8_t *held, CalWork *work) {
	for (int i = 0; i < model->link_count; ++i)
		read_link(model, held, work, i);
	return columns_of(model, held, work);
}

/* Any joint, column by column; and what modes do on the way. */
static __attribute__((noinline)) void reduce_other(const Columns *c, int i, pspatial *f) {
	const Link *link = &c->model->links[i];
	CalWork *work = c->work;
	if (link->motion == PRIMITIVE_NODE)
		add_modal_forces(c->model, link, work, f);
	if (link->flex_body >= 0)
		reduce_modes(c->model, link, c->held, work, f);
	pspatial sum = *f;
	double *x = c->x + (ptrdiff_t)PACK * link->u;
	for (int k = 0; k < link->nu; ++k, x += PACK) {
		const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
		if (is_held(c->held, link->u + k))
			continue;
		const pack eps = pack_sub(pack_load(x), column_dot(link_column(work, link, i, k), sum, kind));
		pack_store(x, eps);
		sum = pspatial_add_outer(sum, work->dofs[link->u + k].gain, eps);
	}
	*f = sum;
}

/* A += S x; nothing is added where a column is zero. */
INLINE pspatial add_column(pspatial A, spatial S, pack x, ColumnKind kind) {
	return (pspatial){kind == COLUMN_TRANSLATION ? A.a : pvec_add_outer(A.a, S.a, x),
	                  kind == COLUMN_ROTATION ? A.l : pvec_add_outer(A.l, S.l, x)};
}

static __attribute__((noinline)) void accelerate_other(const Columns *c, int i, pspatial *A) {
	const Link *link = &c->model->links[i];
	CalWork *work = c->work;
	if (link->motion == PRIMITIVE_NODE)
		add_modal_motion(c->model, link, work, A);
	pspatial sum = *A;
	double *x = c->x + (ptrdiff_t)PACK * (link->u + link->nu - 1);
	for (int k = link->nu - 1; k >= 0; --k, x -= PACK) {
		const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
		const DofWork *dof = &work->dofs[link->u + k];
		const pack eps = pack_times(dof->D_inv, pack_load(x));
		const pack udot = is_held(c->held, link->u + k) ? pack_zero() : pack_sub(eps, pspatial_dot(dof->gain, sum));
		pack_store(x, udot);
		sum = add_column(sum, link_column(work, link, i, k), udot, kind);
	}
	*A = sum;
	if (link->flex_body >= 0)
		accelerate_modes(c->model, link, c->held, work, A);
	if (link->motion == PRIMITIVE_FLEX)
		add_modal_motion(c->model, link, work, A);
}

/* Force of link i, complete, past its joint: at the origin of its parent. */
INLINE pspatial pass_inward(const Columns *c, const ColumnLink *l, int i, pspatial f) {
	if (!LIKELY(l->plain)) {
		pspatial any = f; // so that f itself can stay in registers
		reduce_other(c, i, &any);
		return pforce_shift(any, l->r);
	}
	double *x = c->x + (ptrdiff_t)PACK * l->u;
	const pack eps = pack_sub(pack_load(x), pvec_dot(l->z, f.a));
	pack_store(x, eps);
	f = pspatial_add_outer(f, l->gain, eps);
	return l->zero_offset ? f : pforce_shift(f, l->r);
}

/* Acceleration of link i from that of its parent. */
INLINE pspatial pass_outward(const Columns *c, const ColumnLink *l, int i, pspatial A) {
	if (!LIKELY(l->plain)) {
		pspatial any = pmotion_shift(A, l->r);
		accelerate_other(c, i, &any);
		return any;
	}
	if (!l->zero_offset)
		A = pmotion_shift(A, l->r);
	double *x = c->x + (ptrdiff_t)PACK * l->u;
	const pack udot = pack_sub(pack_times(l->D_inv, pack_load(x)), pspatial_dot(l->gain, A));
	pack_store(x, udot);
	A.a = pvec_add_outer(A.a, l->z, udot);
	return A;
}

/* ---- sweeps ------------------------------------------------------------------------------------------- */

INLINE void motion_store(const Columns *c, int i, pspatial s) {
	pspatial_store(c->motion + (ptrdiff_t)(6 * PACK) * i, PACK, s);
}
INLINE pspatial motion_load(const Columns *c, int i) {
	return i < 0 ? pspatial_zero() : pspatial_load(c->motion + (ptrdiff_t)(6 * PACK) * i, PACK);
}

/* Inward from the first head while no other head is outboard of it; f then waits at that place. */
static void inward_paths(const Columns *c, ColumnHeads *heads) {
	while (heads->count > 0) {
		const int next = heads->count > 1 ? heads->link[1] : -1;
		int i = heads->link[0], inner;
		pspatial f = motion_load(c, i);
		do {
			f = pass_inward(c, &c->link[i], i, f);
			inner = i;
			i = c->link[i].parent;
		} while (i > next);
		for (int k = 1; k < heads->count; ++k)
			heads->link[k - 1] = heads->link[k];
		const int others = --heads->count;
		if (i < 0) {
			heads->root[heads->root_count++] = inner;
			continue;
		}
		column_heads_add(heads, i);
		motion_store(c, i, heads->count == others ? pspatial_add(motion_load(c, i), f) : f);
	}
}

static void inward_all(const Columns *c) {
	memset(c->motion, 0, sizeof(double) * 6 * PACK * (size_t)c->model->link_count);
	for (int i = c->model->link_count - 1; i >= 0; --i) {
		const pspatial f = pass_inward(c, &c->link[i], i, motion_load(c, i));
		const int parent = c->link[i].parent;
		if (parent >= 0)
			motion_store(c, parent, pspatial_add(motion_load(c, parent), f));
	}
}

/* Outward over one tree on the ground, up to link `last`; what children other than the next link need is kept. Returns
 * the link after it. */
static int outward_tree(const Columns *c, int root, int last) {
	pspatial A = pspatial_zero();
	for (int i = root;;) {
		const ColumnLink *l = &c->link[i];
		A = pass_outward(c, l, i, A);
		if (l->kept)
			motion_store(c, i, A);
		const int parent = l[1].parent; // a record of no link follows the last
		if (++i > last || parent < 0)
			return i;
		if (parent != i - 1)
			A = motion_load(c, parent);
	}
}

/* ---- inverse ------------------------------------------------------------------------------------------ */

/* Dofs up to the last of link i and of the modes that it carries. */
INLINE int dof_end(const CalModel *model, int i) {
	const Link *link = &model->links[i];
	return link->flex_body >= 0 ? model->flexes[link->flex_body].u + model->flexes[link->flex_body].m
	                            : link->u + link->nu;
}

/* Four unit forces from dof c on. Their links become the heads. */
static ColumnHeads start_units(const Columns *c, int first, int end, int last) {
	ColumnHeads heads = {0};
	const size_t bytes = sizeof(double) * PACK * (size_t)dof_end(c->model, last);
	memset(c->x, 0, bytes);
	if (c->work->column.modal)
		memset(c->work->column.modal, 0, bytes);
	for (int u = first; u < end; ++u) {
		column_x(c->work, u)[u - first] = 1.0;
		column_heads_add(&heads, c->model->dofs[u].link);
	}
	for (int k = 0; k < heads.count; ++k)
		motion_store(c, heads.link[k], pspatial_zero());
	return heads;
}

/* Rows 0 ... end of columns c ... end are in x: the upper triangle of M^-1, and what is symmetric to it. */
static void place_inverse(const CalWork *work, int c, int end, int n, double *Minv) {
	const int width = end - c;
	for (int u = 0; u < c; u += PACK) {
		pack row[PACK];
		for (int k = 0; k < PACK; ++k) {
			row[k] = pack_load(column_x(work, u + k));
			double *at = entry(Minv, n, u + k, c);
			if (LIKELY(width == PACK))
				pack_store(at, row[k]);
			for (int j = 0; j < width && width < PACK; ++j)
				at[j] = column_x(work, u + k)[j];
		}
		pack_transpose(row);
		for (int k = 0; k < width; ++k)
			pack_store(entry(Minv, n, c + k, u), row[k]);
	}
	for (int i = 0; i < width; ++i)
		for (int j = 0; j <= i; ++j)
			*entry(Minv, n, c + i, c + j) = *entry(Minv, n, c + j, c + i) = column_x(work, c + j)[i];
}

void LANED(columns_inverse)(const CalModel *model, CalWork *work, double *Minv) {
	const Columns c = read_links(model, NULL, work);
	const int n = model->nu;
	for (int u = 0; u < n; u += PACK) {
		const int end = u + PACK < n ? u + PACK : n, last = model->dofs[end - 1].link;
		ColumnHeads heads = start_units(&c, u, end, last);
		inward_paths(&c, &heads);
		for (int k = 0; k < heads.root_count; ++k)
			outward_tree(&c, heads.root[k], last);
		place_inverse(work, u, end, n, Minv);
	}
}

/* ---- many right-hand sides ---------------------------------------------------------------------------- */

/* Rows of b, `count` of them but four at most, to columns; zeros where there are none. */
static void load_columns(const CalModel *model, CalWork *work, int count, const double *b) {
	const int n = model->nu;
	int u = 0;
	for (; count == PACK && u + PACK <= n; u += PACK) {
		pack row[PACK];
		for (int k = 0; k < PACK; ++k)
			row[k] = pack_load(entry_of(b, n, k, u));
		pack_transpose(row);
		for (int k = 0; k < PACK; ++k)
			pack_store(column_x(work, u + k), row[k]);
	}
	for (; u < n; ++u)
		for (int k = 0; k < PACK; ++k)
			column_x(work, u)[k] = k < count ? *entry_of(b, n, k, u) : 0.0;
}

static void store_columns(const CalModel *model, const CalWork *work, int count, double *x) {
	const int n = model->nu;
	int u = 0;
	for (; count == PACK && u + PACK <= n; u += PACK) {
		pack row[PACK];
		for (int k = 0; k < PACK; ++k)
			row[k] = pack_load(column_x(work, u + k));
		pack_transpose(row);
		for (int k = 0; k < PACK; ++k)
			pack_store(entry(x, n, k, u), row[k]);
	}
	for (; u < n; ++u)
		for (int k = 0; k < count; ++k)
			*entry(x, n, k, u) = column_x(work, u)[k];
}

void LANED(columns_solve)(const CalModel *model, const uint8_t *held, CalWork *work, int count, const double *b,
                          double *x) {
	const Columns c = read_links(model, held, work);
	const int n = model->nu;
	for (int first = 0; first < count; first += PACK) {
		const int width = count - first < PACK ? count - first : PACK;
		load_columns(model, work, width, entry_of(b, n, first, 0));
		if (work->column.modal)
			memset(work->column.modal, 0, sizeof(double) * PACK * (size_t)n);
		inward_all(&c);
		for (int i = 0; i < model->link_count;)
			i = outward_tree(&c, i, model->link_count - 1);
		store_columns(model, work, width, entry(x, n, first, 0));
	}
}

/* ---- parts of a solve --------------------------------------------------------------------------------- */

void LANED(columns_read)(const CalModel *model, const uint8_t *held, CalWork *work, const int *links, int count) {
	for (int k = 0; k < count; ++k)
		read_link(model, held, work, links[k]);
}

void LANED(columns_inward)(const CalModel *model, const uint8_t *held, CalWork *work, ColumnHeads *heads) {
	const Columns c = columns_of(model, held, work);
	inward_paths(&c, heads);
}

void LANED(columns_outward)(const CalModel *model, const uint8_t *held, CalWork *work, const int *links, int count) {
	const Columns c = columns_of(model, held, work);
	for (int k = 0; k < count; ++k) {
		const int i = links[k];
		motion_store(&c, i, pass_outward(&c, &c.link[i], i, motion_load(&c, c.link[i].parent)));
	}
}

#endif
