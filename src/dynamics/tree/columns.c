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

/* The same of four modes, in registers. */
INLINE pack four_sum(const double *row, const pack x[PACK]) {
	return pack_add(pack_madd(pack_times(row[0], x[0]), row[2], x[2]),
	                pack_madd(pack_times(row[1], x[1]), row[3], x[3]));
}

/* Six such sums, of rows of length n. */
static pspatial modal_sums(const double *rows, int n, const double *x, int m) {
	if (m == PACK) {
		const pack four[PACK] = {pack_load(x), pack_load(x + PACK), pack_load(x + 2 * PACK), pack_load(x + 3 * PACK)};
		return (pspatial){
			{four_sum(rows, four), four_sum(rows + PACK, four), four_sum(rows + 2 * PACK, four)},
			{four_sum(rows + 3 * PACK, four), four_sum(rows + 4 * PACK, four), four_sum(rows + 5 * PACK, four)}};
	}
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

static int column_way(const Link *link, const uint8_t *held) {
	int free = link->flex_body < 0;
	for (int u = link->u; u < link->u + link->nu; ++u)
		free = free && !is_held(held, u);
	if (free && link->motion == PRIMITIVE_ROTATION)
		return link->zero_offset ? COLUMN_WAY_IN_PLACE : COLUMN_WAY_HINGE;
	if (free && link->motion == PRIMITIVE_FREE)
		return COLUMN_WAY_FREE;
	return free && link->motion == PRIMITIVE_SPHERICAL ? COLUMN_WAY_BALL : COLUMN_WAY_ANY;
}

static void read_link(const CalModel *model, const uint8_t *held, const CalWork *work, int i) {
	const Link *link = &model->links[i];
	ColumnLink *to = &work->column.link[i];
	to->parent = link->parent, to->row = PACK * link->u, to->kept = link->accumulator >= 0;
	to->way = column_way(link, held);
	to->r = work->links[i].r;
	if (to->way > COLUMN_WAY_IN_PLACE)
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

/* One free column, inward: eps = tau - S'f, f + gain eps. */
INLINE pspatial reduce_column(pspatial f, spatial S, ColumnKind kind, const DofWork *dof, double *x) {
	const pack eps = pack_sub(pack_load(x), column_dot(S, f, kind));
	pack_store(x, eps);
	return pspatial_add_outer(f, dof->gain, eps);
}

/* And outward: x = eps/D - gain'A, A + S x; nothing is added where S is zero. */
INLINE pspatial accelerate_column(pspatial A, spatial S, ColumnKind kind, const DofWork *dof, double *x) {
	const pack udot = pack_sub(pack_times(dof->D_inv, pack_load(x)), pspatial_dot(dof->gain, A));
	pack_store(x, udot);
	return (pspatial){kind == COLUMN_TRANSLATION ? A.a : pvec_add_outer(A.a, S.a, udot),
	                  kind == COLUMN_ROTATION ? A.l : pvec_add_outer(A.l, S.l, udot)};
}

INLINE spatial turning(vec3 axis) { return (spatial){axis, vec_zero()}; }

/* Any joint, column by column; and what modes do on the way. */
static __attribute__((noinline)) void reduce_any(const Columns *c, int i, pspatial *f) {
	const Link *link = &c->model->links[i];
	const DofWork *dof = &c->work->dofs[link->u];
	if (link->motion == PRIMITIVE_NODE)
		add_modal_forces(c->model, link, c->work, f);
	if (link->flex_body >= 0)
		reduce_modes(c->model, link, c->held, c->work, f);
	pspatial sum = *f;
	double *x = column_x(c->work, link->u);
	for (int k = 0; k < link->nu; ++k, ++dof, x += PACK) {
		const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
		if (!is_held(c->held, link->u + k))
			sum = reduce_column(sum, link_column(c->work, link, i, k), kind, dof, x);
	}
	*f = sum;
}

static __attribute__((noinline)) void accelerate_any(const Columns *c, int i, pspatial *A) {
	const Link *link = &c->model->links[i];
	if (link->motion == PRIMITIVE_NODE)
		add_modal_motion(c->model, link, c->work, A);
	pspatial sum = *A;
	double *x = column_x(c->work, link->u + link->nu - 1);
	for (int k = link->nu - 1; k >= 0; --k, x -= PACK) {
		const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
		if (is_held(c->held, link->u + k))
			pack_store(x, pack_zero());
		else
			sum = accelerate_column(sum, link_column(c->work, link, i, k), kind, &c->work->dofs[link->u + k], x);
	}
	*A = sum;
	if (link->flex_body >= 0)
		accelerate_modes(c->model, link, c->held, c->work, A);
	if (link->motion == PRIMITIVE_FLEX)
		add_modal_motion(c->model, link, c->work, A);
}

/* A free ball. */
static __attribute__((noinline)) void reduce_ball(const Columns *c, int i, pspatial *f) {
	const mat3 *R = &c->work->links[i].R;
	const int u = c->model->links[i].u;
	const DofWork *dof = &c->work->dofs[u];
	double *x = column_x(c->work, u);
	pspatial sum = reduce_column(*f, turning(R->x), COLUMN_ROTATION, dof, x);
	sum = reduce_column(sum, turning(R->y), COLUMN_ROTATION, dof + 1, x + PACK);
	*f = reduce_column(sum, turning(R->z), COLUMN_ROTATION, dof + 2, x + 2 * PACK);
}

static __attribute__((noinline)) void accelerate_ball(const Columns *c, int i, pspatial *A) {
	const mat3 *R = &c->work->links[i].R;
	const int u = c->model->links[i].u;
	const DofWork *dof = &c->work->dofs[u];
	double *x = column_x(c->work, u);
	pspatial sum = accelerate_column(*A, turning(R->z), COLUMN_ROTATION, dof + 2, x + 2 * PACK);
	sum = accelerate_column(sum, turning(R->y), COLUMN_ROTATION, dof + 1, x + PACK);
	*A = accelerate_column(sum, turning(R->x), COLUMN_ROTATION, dof, x);
}

/* A free root: three translations, three rotations. */
static __attribute__((noinline)) void reduce_free(const Columns *c, int i, pspatial *f) {
	const int u = c->model->links[i].u;
	const spatial *S = &c->work->columns[u];
	const DofWork *dof = &c->work->dofs[u];
	double *x = column_x(c->work, u);
	pspatial sum = *f;
	for (int k = 0; k < 3; ++k)
		sum = reduce_column(sum, S[k], COLUMN_TRANSLATION, &dof[k], x + PACK * k);
	for (int k = 3; k < 6; ++k)
		sum = reduce_column(sum, S[k], COLUMN_ROTATION, &dof[k], x + PACK * k);
	*f = sum;
}

static __attribute__((noinline)) void accelerate_free(const Columns *c, int i, pspatial *A) {
	const int u = c->model->links[i].u;
	const spatial *S = &c->work->columns[u];
	const DofWork *dof = &c->work->dofs[u];
	double *x = column_x(c->work, u);
	pspatial sum = *A;
	for (int k = 5; k >= 3; --k)
		sum = accelerate_column(sum, S[k], COLUMN_ROTATION, &dof[k], x + PACK * k);
	for (int k = 2; k >= 0; --k)
		sum = accelerate_column(sum, S[k], COLUMN_TRANSLATION, &dof[k], x + PACK * k);
	*A = sum;
}

static void reduce_other(const Columns *c, int way, int i, pspatial *f) {
	if (way == COLUMN_WAY_BALL)
		reduce_ball(c, i, f);
	else if (way == COLUMN_WAY_FREE)
		reduce_free(c, i, f);
	else
		reduce_any(c, i, f);
}

static void accelerate_other(const Columns *c, int way, int i, pspatial *A) {
	if (way == COLUMN_WAY_BALL)
		accelerate_ball(c, i, A);
	else if (way == COLUMN_WAY_FREE)
		accelerate_free(c, i, A);
	else
		accelerate_any(c, i, A);
}

/* Force of link i, complete, past its joint: at the origin of its parent. x: of dof 0. */
INLINE pspatial pass_inward(const Columns *c, const ColumnLink *l, int i, double *x, pspatial f) {
	if (!LIKELY(l->way <= COLUMN_WAY_IN_PLACE)) {
		pspatial any = f; // so that f itself can stay in registers
		reduce_other(c, l->way, i, &any);
		return pforce_shift(any, l->r);
	}
	x += l->row;
	const pack eps = pack_sub(pack_load(x), pvec_dot(l->z, f.a));
	pack_store(x, eps);
	f = pspatial_add_outer(f, l->gain, eps);
	return l->way == COLUMN_WAY_HINGE ? pforce_shift(f, l->r) : f;
}

/* Acceleration of link i from that of its parent. */
INLINE pspatial pass_outward(const Columns *c, const ColumnLink *l, int i, double *x, pspatial A) {
	if (LIKELY(l->way != COLUMN_WAY_IN_PLACE))
		A = pmotion_shift(A, l->r);
	if (!LIKELY(l->way <= COLUMN_WAY_IN_PLACE)) {
		pspatial any = A;
		accelerate_other(c, l->way, i, &any);
		return any;
	}
	x += l->row;
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

/* Inward from the outermost head while no other head is outboard of it; f then waits at that place. */
static void inward_paths(const Columns *c, ColumnHeads *heads) {
	const ColumnLink *link = c->link;
	double *x = c->x;
	while (heads->count > 0) {
		int i = heads->link[--heads->count], inner;
		const int next = heads->count > 0 ? heads->link[heads->count - 1] : -1;
		pspatial f = motion_load(c, i);
		do {
			f = pass_inward(c, &link[i], i, x, f);
			inner = i;
			i = link[i].parent;
		} while (i > next);
		if (i < 0)
			heads->root[heads->root_count++] = inner;
		else if (column_heads_add(heads, i))
			motion_store(c, i, f);
		else
			motion_store(c, i, pspatial_add(motion_load(c, i), f));
	}
}

static void inward_all(const Columns *c) {
	memset(c->motion, 0, sizeof(double) * 6 * PACK * (size_t)c->model->link_count);
	for (int i = c->model->link_count - 1; i >= 0; --i) {
		const pspatial f = pass_inward(c, &c->link[i], i, c->x, motion_load(c, i));
		const int parent = c->link[i].parent;
		if (parent >= 0)
			motion_store(c, parent, pspatial_add(motion_load(c, parent), f));
	}
}

/* Outward over one tree on the ground, up to link `last`; what children other than the next link need is kept. Returns
 * the link after it. */
static int outward_tree(const Columns *c, int root, int last) {
	pspatial A = pspatial_zero();
	double *x = c->x;
	const ColumnLink *l = &c->link[root];
	for (int i = root;; ++l) {
		A = pass_outward(c, l, i, x, A);
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

/* Four unit forces from dof `first` on. Their links become the heads; of a link and its parent the link is enough. */
static ColumnHeads start_units(const Columns *c, int first, int end, int last) {
	ColumnHeads heads = {0};
	const size_t bytes = sizeof(double) * PACK * (size_t)dof_end(c->model, last);
	memset(c->x, 0, bytes);
	if (c->work->column.modal)
		memset(c->work->column.modal, 0, bytes);
	for (int u = first; u < end; ++u) {
		column_x(c->work, u)[u - first] = 1.0;
		const int link = c->model->dofs[u].link;
		if (heads.count > 0 && c->link[link].parent == heads.link[heads.count - 1])
			heads.link[heads.count - 1] = link;
		else
			column_heads_add(&heads, link);
	}
	for (int k = 0; k < heads.count; ++k)
		motion_store(c, heads.link[k], pspatial_zero());
	return heads;
}

typedef struct Block {
	pack row[PACK];
} Block;

INLINE Block block_load(const double *x) {
	return (Block){{pack_load(x), pack_load(x + PACK), pack_load(x + 2 * PACK), pack_load(x + 3 * PACK)}};
}

/* To a matrix with rows of n numbers. */
INLINE void block_store(const Block *b, ptrdiff_t n, double *to) {
	pack_store(to, b->row[0]), pack_store(to + n, b->row[1]);
	pack_store(to + 2 * n, b->row[2]), pack_store(to + 3 * n, b->row[3]);
}

/* Rows up to `end` of the columns from c to `end` are in x: the upper triangle of M^-1, and what is symmetric to it. */
static void place_inverse(const double *x, int c, int end, int n, double *Minv) {
	double *at = Minv + c, *transposed = entry(Minv, n, c, 0);
	if (end - c < PACK) {
		for (int u = 0; u < end; ++u, x += PACK)
			for (int j = u > c ? u : c; j < end; ++j)
				*entry(Minv, n, u, j) = *entry(Minv, n, j, u) = x[j - c];
		return;
	}
	for (int u = 0; u < c; u += PACK, x += PACK * PACK, at += (ptrdiff_t)PACK * n, transposed += PACK) {
		Block block = block_load(x);
		block_store(&block, n, at);
		pack_transpose(block.row);
		block_store(&block, n, transposed);
	}
	Block diagonal = block_load(x);
	pack_symmetric(diagonal.row);
	block_store(&diagonal, n, at);
}

void LANED(columns_inverse)(const CalModel *model, CalWork *work, double *Minv) {
	const Columns c = read_links(model, NULL, work);
	const int n = model->nu;
	for (int u = 0; u < n; u += PACK) {
		const int end = u + PACK < n ? u + PACK : n, last = model->dofs[end - 1].link;
		CAL_ASSERT(last >= model->dofs[u].link && dof_end(model, last) >= end); // links are in the order of their dofs
		ColumnHeads heads = start_units(&c, u, end, last);
		inward_paths(&c, &heads);
		for (int k = 0; k < heads.root_count; ++k)
			outward_tree(&c, heads.root[k], last);
		place_inverse(c.x, u, end, n, Minv);
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
		motion_store(&c, i, pass_outward(&c, &c.link[i], i, c.x, motion_load(&c, c.link[i].parent)));
	}
}

#endif
