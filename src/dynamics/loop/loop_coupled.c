// SPDX-License-Identifier: Apache-2.0
/*
 * loop_coupled.c — loops between chains, by coupled links [THEORY 5.10].
 *
 * Unknowns x are accelerations A of links and multipliers of loops: K x + h = 0, K symmetric, with
 *   K_ii = M^ and h_i = b of link i, as in the recursion (articulated.c);  K_il = -gamma, h_l = -z of loop l.
 * In the order of the plan a link is passed: with U = K_ii S, p_j = K_ij'S, D = S'U + rotor, eps = tau - S'h_i
 *   K_ij -= U p_j'/D,  K_jk -= p_j p_k'/D,  h_i += U eps/D,  h_j += p_j eps/D,  and row i moves to the parent by X'
 * so that K_ll = -Lambda grows with each column of its path. A loop is eliminated where Lambda = L D L' has full rank:
 *   Y_j = L^-1 K_lj,  y = L^-1 h_l,  K_jk += Y_j'D^-1 Y_k,  h_j += Y_j'D^-1 y
 * Backward  L'lambda = D^-1(y + sum Y_j x_j),  and  udot = (eps - U'A - sum p_j'x_j)/D,  A += S udot.
 *
 * No pivot is chosen here. Where one keeps little of its equation, where the position is nearly singular, where inertias differ by
 * much or a loop outweighs its link, there is no result, and the sweeps with loops (loop_sweep.c) decide about rank and refine.
 */
#include "dynamics/loop/loop_coupled.h"

#include "dynamics/loop/loop_elimination.h"
#include "dynamics/loop/loop_sweep.h"
#include "dynamics/tree/kernels.h"
#include "model/coupled_plan.h"

#if CAL_LANES == 1

enum { N = COUPLED_SIZE };
static const double DOUBTFUL = 1e-4; // of a compliance, what other equations leave of it (loop_elimination.c)
static const double SINGULAR = 1e-6; // of a compliance, beside what it could be
static const double SWAMPED = 1e3;   // times the inertia of a link, that of a loop

typedef double Matrix[N][N];

/* What the sweep reads and writes. */
typedef struct Coupled {
	const CalModel *model;
	const CoupledPlan *plan;
	const SweepInput *in;
	CalWork *work;
	CoupledWork *w;
} Coupled;

static double (*diagonal_of(const Coupled *c, int at))[N] {
	return (double(*)[N])(c->w->diagonal + COUPLED_BLOCK * at);
}
static double (*block_at(const Coupled *c, int block))[N] {
	return (double(*)[N])(c->w->block + COUPLED_BLOCK * block);
}
static double *h_of(const Coupled *c, int at) { return c->w->h + N * at; }
static double *x_of(const Coupled *c, int at) { return c->w->x + N * at; }

/* ---- small matrices ----------------------------------------------------------------------------- */

static void put_spatial(spatial s, double *to) {
	to[0] = s.a.x, to[1] = s.a.y, to[2] = s.a.z;
	to[3] = s.l.x, to[4] = s.l.y, to[5] = s.l.z;
}

static double product(const double *a, const double *b) {
	double sum = 0;
	for (int i = 0; i < N; ++i)
		sum += a[i] * b[i];
	return sum;
}

/* y += a x */
static void add_times(double a, const double *x, double *y) {
	for (int i = 0; i < N; ++i)
		y[i] += a * x[i];
}

/* M += a p q' */
static void add_outer(double a, const double *p, const double *q, double (*M)[N]) {
	for (int i = 0; i < N; ++i) {
		const double f = a * p[i];
		if (f != 0)
			add_times(f, q, M[i]);
	}
}

/* M += a p p', exactly symmetric, which is what keeps long chains accurate (math/inertia.h). */
static void add_square(double a, const double *p, double (*M)[N]) {
	for (int i = 0; i < N; ++i) {
		const double f = a * p[i];
		for (int k = 0; k <= i; ++k)
			M[k][i] = M[i][k] += f * p[k];
	}
}

static void transpose(double (*M)[N]) {
	for (int i = 0; i < N; ++i) {
		for (int k = 0; k < i; ++k) {
			const double t = M[i][k];
			M[i][k] = M[k][i], M[k][i] = t;
		}
	}
}

/* to += M, or its transpose */
static void add_matrix(double (*M)[N], int transposed, double (*to)[N]) {
	for (int i = 0; i < N; ++i) {
		for (int k = 0; k < N; ++k)
			to[i][k] += transposed ? M[k][i] : M[i][k];
	}
}

/* Rows, being wrenches, at a point from which r leads to the present one: n += r x f. */
static void shift_rows(vec3 r, double (*M)[N]) {
	add_times(-r.z, M[4], M[0]), add_times(r.y, M[5], M[0]);
	add_times(r.z, M[3], M[1]), add_times(-r.x, M[5], M[1]);
	add_times(-r.y, M[3], M[2]), add_times(r.x, M[4], M[2]);
}

/* ---- the equations ------------------------------------------------------------------------------ */

static void load_link(const Coupled *c, int i) {
	const Link *link = &c->model->links[i];
	const LinkWork *l = &c->work->links[i];
	double(*M)[N] = diagonal_of(c, i);
	spatial b = spatial_zero();
	memset(M, 0, sizeof(Matrix));
	if (!link->massless) {
		const Composite own = link_inertia(link, &l->R);
		const ArticulatedInertia I = articulated_rigid(own.m, own.mc, own.Sigma);
		put_spatial((spatial){{I.I.xx, I.I.xy, I.I.xz}, {I.H.x.x, I.H.y.x, I.H.z.x}}, M[0]);
		put_spatial((spatial){{I.I.xy, I.I.yy, I.I.yz}, {I.H.x.y, I.H.y.y, I.H.z.y}}, M[1]);
		put_spatial((spatial){{I.I.xz, I.I.yz, I.I.zz}, {I.H.x.z, I.H.y.z, I.H.z.z}}, M[2]);
		put_spatial((spatial){I.H.x, {I.M.xx, I.M.xy, I.M.xz}}, M[3]);
		put_spatial((spatial){I.H.y, {I.M.xy, I.M.yy, I.M.yz}}, M[4]);
		put_spatial((spatial){I.H.z, {I.M.xz, I.M.yz, I.M.zz}}, M[5]);
		b = link_inertia_force(&own, l->w, l->al, l->a);
	}
	put_spatial(c->in->external ? spatial_sub(b, c->in->external[i]) : b, h_of(c, i));
}

/* K_il = -gamma of one end of a loop, its equations that take part being the first columns. */
static void load_end(const Coupled *c, int l, int side, double (*block)[N]) {
	const LoopWork *w = &c->work->loops;
	const Loop *loop = &c->model->loops[l];
	const int node = side ? loop->minus : loop->plus;
	const vec3 arm = sub(w->point[l], c->work->position[c->model->nodes[node].link]);
	int column = 0;
	for (int r = 0; r < loop->rows; ++r) {
		if (!(c->plan->active[l] >> r & 1))
			continue;
		double f[N];
		put_spatial(force_shift(w->row[loop->row + r].direction, arm), f);
		for (int i = 0; i < N; ++i)
			block[i][column] = side ? f[i] : -f[i];
		++column;
	}
}

/* The blocks of a loop with the links of its ends are the first that the plan has made (coupled_plan.c). */
static int load_loop(const Coupled *c, int l, int block) {
	const Loop *loop = &c->model->loops[l];
	const int at = c->model->link_count + l;
	double *h = h_of(c, at);
	int column = 0;
	memset(diagonal_of(c, at), 0, sizeof(Matrix));
	memset(h, 0, sizeof(double) * N);
	c->w->scale[l] = (CoupledScale){.least = INFINITY};
	for (int r = 0; r < loop->rows; ++r) {
		if (c->plan->active[l] >> r & 1)
			h[column++] = -c->work->loops.z[loop->row + r];
	}
	for (int side = 0; side < 2; ++side) {
		const int node = side ? loop->minus : loop->plus;
		if (node >= 0 && c->model->nodes[node].link >= 0)
			load_end(c, l, side, block_at(c, block++));
	}
	return block;
}

static void load_equations(const Coupled *c) {
	int block = 0;
	memset(c->w->block, 0, sizeof(Matrix) * (size_t)c->plan->block_count);
	for (int i = 0; i < c->model->link_count; ++i)
		load_link(c, i);
	for (int l = 0; l < c->model->loop_count; ++l)
		block = load_loop(c, l, block);
}

/* ---- a link is passed ---------------------------------------------------------------------------- */

/* Gains of a column: U/D, then p of each that is coupled, 1/D and eps. */
static double *gains_of(const Coupled *c, const CoupledStep *step, int k) {
	return c->w->factor + step->factor + (ptrdiff_t)k * (8 + N * step->count);
}

/* What a column does to the equations of a loop, and what it could do [loop_sweep.c, add_natural()]. */
static void measure_loop(const Coupled *c, int at, spatial S, int link, const double *p, double d) {
	const int l = at - c->model->link_count;
	const Loop *loop = &c->model->loops[l];
	const LoopWork *w = &c->work->loops;
	CoupledScale *scale = &c->w->scale[l];
	const vec3 arm = sub(w->point[l], c->work->position[link]);
	const double turn = fabs(S.a.x) + fabs(S.a.y) + fabs(S.a.z), slide = fabs(S.l.x) + fabs(S.l.y) + fabs(S.l.z);
	const double lever = turn * (fabs(arm.x) + fabs(arm.y) + fabs(arm.z)) + slide, longest = turn * loop->reach + slide;
	scale->most = fmax(scale->most, d * longest * longest);
	scale->least = fmin(scale->least, d * longest * longest);
	for (int r = 0, k = 0; r < loop->rows; ++r) {
		if (!(c->plan->active[l] >> r & 1))
			continue;
		const spatial *e = &w->row[loop->row + r].direction;
		const double most =
			turn * (fabs(e->a.x) + fabs(e->a.y) + fabs(e->a.z)) + lever * (fabs(e->l.x) + fabs(e->l.y) + fabs(e->l.z));
		scale->whole[k] += d * p[k] * p[k];
		scale->natural[k++] += d * most * most;
	}
}

/* One column: what is coupled with the link changes. */
static void update_coupled(const Coupled *c, const CoupledStep *step, const double *gains) {
	const CoupledNext *next = c->plan->next + step->next;
	const int32_t *update = c->plan->updates + step->update;
	const double *p = gains + N, d = p[N * step->count], eps = p[N * step->count + 1];
	for (int j = 0; j < step->count; ++j) {
		add_square(-d, p + N * j, diagonal_of(c, next[j].at));
		add_times(d * eps, p + N * j, h_of(c, next[j].at));
		for (int k = j + 1; k < step->count; ++k)
			add_outer(-d, p + N * j, p + N * k, block_at(c, *update++));
	}
}

/* Column k of the joint of link i; zero: it is singular. */
static int eliminate_column(const Coupled *c, const CoupledStep *step, int k) {
	const int i = step->at, u = c->model->links[i].u + k;
	const double *rotor = c->in->rotor ? c->in->rotor : c->model->rotor;
	const CoupledNext *next = c->plan->next + step->next;
	double(*M)[N] = diagonal_of(c, i), *h = h_of(c, i), S[N], U[N];
	double *gains = gains_of(c, step, k), *p = gains + N;
	const spatial column = link_column(c->work, &c->model->links[i], i, k);
	put_spatial(column, S);
	for (int r = 0; r < N; ++r)
		U[r] = product(M[r], S);
	const double D = product(S, U) + rotor[u], d = 1 / D, eps = c->in->tau[u] - product(S, h);
	const double scale = dot(column.a, column.a) * (M[0][0] + M[1][1] + M[2][2]) +
	                     dot(column.l, column.l) * (M[3][3] + M[4][4] + M[5][5]);
	if (!(D > SINGULAR_RATIO * scale))
		return 0;
	for (int j = 0; j < step->count; ++j) {
		double(*B)[N] = block_at(c, next[j].block), *pj = p + N * j;
		memset(pj, 0, sizeof(double) * N);
		for (int r = 0; r < N; ++r)
			add_times(S[r], B[r], pj);
		add_outer(-d, U, pj, B);
		if (next[j].at >= c->model->link_count)
			measure_loop(c, next[j].at, column, i, pj, d);
	}
	add_square(-d, U, M);
	add_times(d * eps, U, h);
	memset(gains, 0, sizeof(double) * N);
	add_times(d, U, gains);
	p[N * step->count] = d, p[N * step->count + 1] = eps;
	update_coupled(c, step, gains);
	return 1;
}

/* What is left of a link, and of its couplings, to its parent. */
static void move_to_parent(const Coupled *c, const CoupledStep *step, int parent) {
	const CoupledNext *next = c->plan->next + step->next;
	const vec3 r = c->work->links[step->at].r;
	double(*M)[N] = diagonal_of(c, step->at), *h = h_of(c, step->at), *to = h_of(c, parent);
	shift_rows(r, M);
	transpose(M);
	shift_rows(r, M);
	for (int i = 0; i < N; ++i) {
		for (int k = 0; k < i; ++k)
			M[k][i] = M[i][k];
	}
	add_matrix(M, 0, diagonal_of(c, parent));
	const spatial b = force_shift((spatial){{h[0], h[1], h[2]}, {h[3], h[4], h[5]}}, r);
	double shifted[N];
	put_spatial(b, shifted);
	add_times(1, shifted, to);
	for (int j = 0; j < step->count; ++j) {
		const int block = c->plan->moves[step->move + j];
		double(*B)[N] = block_at(c, next[j].block);
		shift_rows(r, B);
		if (block >= 0) {
			add_matrix(B, next[j].at < parent, block_at(c, block));
			continue;
		}
		add_matrix(B, 0, diagonal_of(c, parent));
		add_matrix(B, 1, diagonal_of(c, parent));
	}
}

static int pass_link(const Coupled *c, const CoupledStep *step) {
	const Link *link = &c->model->links[step->at];
	const CoupledNext *next = c->plan->next + step->next;
	for (int j = 0; j < step->count; ++j) {
		if (next[j].at < step->at) // rows are those of the other one
			transpose(block_at(c, next[j].block));
	}
	for (int k = 0; k < link->nu; ++k) {
		if (c->in->prescribed && c->in->prescribed[link->u + k])
			continue;
		if (!eliminate_column(c, step, k))
			return 0;
	}
	if (link->parent >= 0)
		move_to_parent(c, step, link->parent);
	return 1;
}

/* ---- a loop is eliminated -------------------------------------------------------------------------- */

/* Factor of a loop: L with D on its diagonal, y, then Y of each that is coupled. */
static double (*factor_of(const Coupled *c, const CoupledStep *step))[N] {
	return (double(*)[N])(c->w->factor + step->factor);
}

/* Lambda = L D L' of the first n equations; zero: one has too little left. */
static int factor_loop(const CoupledScale *scale, int n, double (*K)[N], double (*L)[N]) {
	for (int j = 0; j < n; ++j) {
		double pivot = -K[j][j];
		for (int k = 0; k < j; ++k)
			pivot -= L[j][k] * L[j][k] * L[k][k];
		if (!(pivot > DOUBTFUL * scale->whole[j]) || !(scale->whole[j] > SINGULAR * scale->natural[j]))
			return 0;
		L[j][j] = pivot;
		for (int i = j + 1; i < n; ++i) {
			double sum = -K[i][j];
			for (int k = 0; k < j; ++k)
				sum -= L[i][k] * L[j][k] * L[k][k];
			L[i][j] = sum / pivot;
		}
	}
	return 1;
}

/* Rows of Y, n of them, and y: with L^-1. */
static void substitute(int n, double (*L)[N], double (*Y)[N]) {
	for (int j = 1; j < n; ++j) {
		for (int k = 0; k < j; ++k)
			add_times(-L[j][k], Y[k], Y[j]);
	}
}

static int is_swamped(const Coupled *c, int at, double (*before)[N]) {
	double(*M)[N] = diagonal_of(c, at);
	if (at >= c->model->link_count)
		return 0;
	const double turn = before[0][0] + before[1][1] + before[2][2], slide = before[3][3] + before[4][4] + before[5][5];
	return M[0][0] + M[1][1] + M[2][2] > SWAMPED * turn || M[3][3] + M[4][4] + M[5][5] > SWAMPED * slide;
}

/* What the loop adds to those coupled with it; zero: more than leaves their digits. */
static int add_loop(const Coupled *c, const CoupledStep *step, int n) {
	const CoupledNext *next = c->plan->next + step->next;
	const int32_t *update = c->plan->updates + step->update;
	double(*L)[N] = factor_of(c, step), *y = L[N], (*Y)[N] = L + 2 * N;
	for (int j = 0; j < step->count; ++j) {
		Matrix before;
		memcpy(before, diagonal_of(c, next[j].at), sizeof before);
		for (int r = 0; r < n; ++r) {
			add_square(1 / L[r][r], Y[N * j + r], diagonal_of(c, next[j].at));
			add_times(y[r] / L[r][r], Y[N * j + r], h_of(c, next[j].at));
		}
		if (is_swamped(c, next[j].at, before))
			return 0;
		for (int k = j + 1; k < step->count; ++k) {
			double(*B)[N] = block_at(c, *update++);
			for (int r = 0; r < n; ++r)
				add_outer(1 / L[r][r], Y[N * j + r], Y[N * k + r], B);
		}
	}
	return 1;
}

static int eliminate_loop(const Coupled *c, const CoupledStep *step) {
	const int l = step->at - c->model->link_count, n = coupled_rows(c->plan, l);
	const CoupledNext *next = c->plan->next + step->next;
	const CoupledScale *scale = &c->w->scale[l];
	double(*L)[N] = factor_of(c, step), *y = L[N];
	if (n == 0)
		return 1;
	if (!factor_loop(scale, n, diagonal_of(c, step->at), L) ||
	    scale->most > loop_somewhat_uneven(c->model) * scale->least)
		return 0;
	memcpy(y, h_of(c, step->at), sizeof(double) * N);
	for (int j = 1; j < n; ++j) {
		for (int k = 0; k < j; ++k)
			y[j] -= L[j][k] * y[k];
	}
	for (int j = 0; j < step->count; ++j) {
		double(*B)[N] = block_at(c, next[j].block), (*Y)[N] = L + 2 * N + N * j;
		if (next[j].at < step->at)
			transpose(B);
		memcpy(Y, B, sizeof(Matrix));
		substitute(n, L, Y);
	}
	return add_loop(c, step, n);
}

/* ---- backward -------------------------------------------------------------------------------------- */

static void resolve_loop(const Coupled *c, const CoupledStep *step) {
	const int n = coupled_rows(c->plan, step->at - c->model->link_count);
	const CoupledNext *next = c->plan->next + step->next;
	double(*L)[N] = factor_of(c, step), *y = L[N], *x = x_of(c, step->at);
	memset(x, 0, sizeof(double) * N);
	for (int r = n - 1; r >= 0; --r) {
		double sum = y[r];
		for (int j = 0; j < step->count; ++j)
			sum += product(L[2 * N + N * j + r], x_of(c, next[j].at));
		x[r] = sum / L[r][r];
		for (int k = r + 1; k < n; ++k)
			x[r] -= L[k][r] * x[k];
	}
}

static void accelerate_link(const Coupled *c, const CoupledStep *step, double *udot) {
	const Link *link = &c->model->links[step->at];
	const CoupledNext *next = c->plan->next + step->next;
	const spatial parent = link->parent >= 0 ? c->work->links[link->parent].A : spatial_zero();
	double *A = x_of(c, step->at);
	put_spatial(motion_shift(parent, c->work->links[step->at].r), A);
	for (int k = link->nu - 1; k >= 0; --k) {
		const int u = link->u + k;
		const double *gains = gains_of(c, step, k), *p = gains + N, d = p[N * step->count];
		if (c->in->prescribed && c->in->prescribed[u]) {
			udot[u] = c->in->udot ? c->in->udot[u] : 0;
			continue;
		}
		double sum = p[N * step->count + 1], S[N];
		for (int j = 0; j < step->count; ++j)
			sum -= product(p + N * j, x_of(c, next[j].at));
		udot[u] = d * sum - product(gains, A);
		put_spatial(link_column(c->work, link, step->at, k), S);
		add_times(udot[u], S, A);
	}
	c->work->links[step->at].A = (spatial){{A[0], A[1], A[2]}, {A[3], A[4], A[5]}};
}

/* ---- all of it -------------------------------------------------------------------------------------- */

/* Multipliers and ranks as the elimination of loops leaves them (loop_elimination.c). */
static void keep_multipliers(const Coupled *c) {
	LoopWork *w = &c->work->loops;
	for (int l = 0; l < c->model->loop_count; ++l) {
		LoopFactor *f = &w->factor[l];
		const double *x = x_of(c, c->model->link_count + l);
		double *force = w->force + w->plan->ends[l].row_offset;
		f->rows = c->model->loops[l].rows;
		f->count = f->held = coupled_rows(c->plan, l);
		f->mixed = f->dropped = 0;
		for (int r = 0, k = 0; r < f->rows; ++r) {
			force[r] = 0;
			if (!(c->plan->active[l] >> r & 1))
				continue;
			f->row[k] = r;
			f->inverse[k] = 1;
			force[r] = x[k++];
		}
	}
	w->dropped = w->doubtful = w->uneven = w->hopeless = w->unsatisfied = w->motion_known = w->kept.valid = 0;
	w->error = 0;
}

/* Zero: this order may cost digits here. */
static int solve_coupled(const Coupled *c, double *udot) {
	const CoupledPlan *plan = c->plan;
	load_equations(c);
	for (int k = 0; k < plan->step_count; ++k) {
		const CoupledStep *step = &plan->steps[k];
		if (!(step->at < c->model->link_count ? pass_link(c, step) : eliminate_loop(c, step)))
			return 0;
	}
	for (int k = plan->step_count - 1; k >= 0; --k) {
		const CoupledStep *step = &plan->steps[k];
		if (step->at < c->model->link_count)
			accelerate_link(c, step, udot);
		else
			resolve_loop(c, step);
	}
	c->work->loops.plan = c->model->loop_schedule;
	c->work->loops.whole = c->work;
	keep_multipliers(c);
	return 1;
}

int loop_solve_motion(const CalModel *model, const SweepInput *in, CalWork *work, double *udot, double *force) {
	const Coupled c = {model, model->coupled, in, work, &work->loops.coupled};
	const int asked = force && in->prescribed; // of forces of what is prescribed the sweeps know
	if (c.plan && !work->loops.late && !asked && solve_coupled(&c, udot)) {
		if (force)
			memset(force, 0, sizeof(double) * (size_t)model->nu);
		return -1;
	}
	const int failed_dof = loop_kernels(model->isa)->inward(model, in, work);
	forward_kernels(model->isa)->accelerate(model, in, work, udot, force);
	return failed_dof;
}

#endif
