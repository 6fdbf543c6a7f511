// SPDX-License-Identifier: Apache-2.0
/*
 * test_operators_flexible.c — the identities of the spatial operator algebra on random trees with flexible bodies.
 *
 * T = [A'H'; 1_e] gives the velocities of all links and the modal speeds; Ms has the inertias of the links, and with
 * flexible bodies [M_rr E; E' M_ee]. M and its inverse are those of the quad reference. What psi and the articulated
 * inertias should be is worked out from M alone: link k is moved by a unit, and the dofs that set out from it or
 * from links outboard of it follow without force.
 */
#include "support/dense.h"
#include "support/interpose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 32 };

typedef struct Modes {
	int body, carrier, head; // links
	int u, m;                // speeds
	int e;                   // place among all modal speeds
} Modes;

typedef struct Operators {
	Fixture *f;
	int nl, n6, nu, ne, flexes;
	Modes *modes;
	Dense A, H, T, Ms;
} Operators;

static void find_modes(Operators *o) {
	Fixture *f = o->f;
	o->modes = test_alloc((size_t)f->nb + 1, sizeof *o->modes);
	for (int i = 0; i < f->nb; i++) {
		CalBodyInfo info;
		Modes *m = &o->modes[o->flexes];
		check_ok(f->seed, cal_model_body(f->model, i, &info));
		if (info.modes == 0)
			continue;
		*m = (Modes){.body = i, .u = info.u + info.nu, .m = info.modes, .e = o->ne};
		check_ok(f->seed, cal_flex_links(f->model, i, &m->carrier, &m->head));
		o->ne += m->m;
		o->flexes++;
	}
}

static void add_modal_inertia(Operators *o, const Modes *m) {
	Fixture *f = o->f;
	double *E = fixture_doubles(f, 6 * m->m), *Mee = fixture_doubles(f, m->m * m->m);
	int n = o->Ms.cols, first = o->n6 + m->e;
	check_ok(f->seed, cal_flex_inertia(f->model, f->work, m->body, E, Mee));
	for (int j = 0; j < m->m; j++) {
		for (int i = 0; i < 6; i++) {
			int row = 6 * m->carrier + i;
			o->Ms.x[row * n + first + j] = o->Ms.x[(first + j) * n + row] = E[i * m->m + j];
		}
		for (int i = 0; i < m->m; i++)
			o->Ms.x[(first + i) * n + first + j] = Mee[i * m->m + j];
	}
}

static Operators operators_create(uint64_t seed, TreeOptions options) {
	Operators o = {.f = fixture_random(seed, options, seed % 2 ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE)};
	Fixture *f = o.f;
	o.nl = cal_model_link_count(f->model), o.n6 = 6 * o.nl, o.nu = f->nu;
	check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
	find_modes(&o);
	o.A = operator_stacked(f, cal_operator_gather);
	o.H = operator_joint(f);
	o.T = dense(f, o.n6 + o.ne, o.nu);
	o.Ms = dense(f, o.n6 + o.ne, o.n6 + o.ne);
	Dense V = transposed(f, mul(f, o.H, o.A)), links = operator_blocks(f, cal_link_inertia);
	memcpy(o.T.x, V.x, sizeof(double) * (size_t)(o.n6 * o.nu));
	for (int i = 0; i < o.n6; i++)
		memcpy(o.Ms.x + i * o.Ms.cols, links.x + i * o.n6, sizeof(double) * (size_t)o.n6);
	for (int k = 0; k < o.flexes; k++) {
		for (int j = 0; j < o.modes[k].m; j++)
			o.T.x[(o.n6 + o.modes[k].e + j) * o.nu + o.modes[k].u + j] = 1;
		add_modal_inertia(&o, &o.modes[k]);
	}
	return o;
}

static TreeOptions options_of(uint64_t seed) {
	TreeOptions options = tree_flexible(seed);
	if (seed % 8 == 0) /* more modes than fit in two packs */
		options.bodies = 3, options.flexible = 1, options.max_modes = 20;
	if (seed % 8 == 4) /* flexible bodies welded to each other and to the ground */
		options.flexible = 1, options.floating = 0, options.joints = 1 << CAL_JOINT_WELD;
	if (seed % 8 == 2)
		options.joints = 1 << CAL_JOINT_WELD | 1 << CAL_JOINT_REVOLUTE;
	return options;
}

static void for_each_tree(void (*check)(const Operators *)) {
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Operators o = operators_create(seed, options_of(seed));
		if (o.nu > 0)
			check(&o);
		free(o.modes);
		fixture_destroy(o.f);
	}
}

/* ---- A and H -------------------------------------------------------------------------------- */

static void transposes_of(const Operators *o) {
	Fixture *f = o->f;
	Dense psi = operator_stacked(f, cal_operator_gather_articulated);
	check_dense(f, "A'", operator_stacked(f, cal_operator_scatter), transposed(f, o->A), 1, 1e-13);
	check_dense(f, "psi'", operator_stacked(f, cal_operator_scatter_articulated), transposed(f, psi), 1, 1e-12);
	check_dense(f, "H'", operator_joint_transpose(f), transposed(f, o->H), 1, 1e-13);
}

static void scatter_is_the_transpose_of_gather(void **state) {
	(void)state;
	for_each_tree(transposes_of);
}

/* A (1 - E_A) = 1, and composites R - E_A R E_A' = M_rr. */
static void resolvent_of(const Operators *o) {
	Fixture *f = o->f;
	Dense one = dense_one(f, o->n6), E = operator_parent_blocks(f, o->A);
	Dense R = operator_blocks(f, cal_link_composite_inertia), Mrr = operator_blocks(f, cal_link_inertia);
	check_dense(f, "A(1-E)", mul(f, o->A, sum(f, one, -1, E)), one, dense_max(o->A), 1e-13);
	check_dense(f, "R - E R E'", sum(f, R, -1, congruence(f, E, R)), Mrr, dense_max(R), 1e-13);
}

static void links_gather_to_their_parents(void **state) {
	(void)state;
	for_each_tree(resolvent_of);
}

/* Rows of T for a link and of a reference Jacobian. */
static void check_rows(const Operators *o, const char *what, int link, int rows, const double *J, double scale) {
	check_close_scaled(o->f->seed, what, rows * o->nu, o->T.x + 6 * link * o->nu, J, scale, 1e-12);
}

/* V = A'H'u: of every node that is a link, of every body frame that has one, and the rotation of every other body. */
static void velocities_of(const Operators *o) {
	Fixture *f = o->f;
	double *J = fixture_doubles(f, 6 * o->nu), *V = fixture_doubles(f, o->n6), scale = dense_max(o->T);
	RefMotion *bodies = test_alloc((size_t)f->nb, sizeof *bodies);
	refq_kinematics(f->ref, f->state.q, f->state.u, NULL, bodies, NULL);
	check_ok(f->seed, cal_operator_joint_transpose(f->model, f->work, f->state.u, (CalSpatial *)V));
	check_ok(f->seed, cal_operator_scatter(f->model, f->work, (CalSpatial *)V, (CalSpatial *)V)); /* in place */
	for (int i = 0; i < f->nb; i++) {
		int node = f->ref->bodies[i].parent_node;
		CalBodyInfo info;
		check_ok(f->seed, cal_model_body(f->model, i, &info));
		if (node >= 0 && f->ref->nodes[node].phi) {
			refq_jacobian(f->ref, f->state.q, node, J);
			check_rows(o, "Jacobian of a node", info.link - 1, 6, J, scale);
		}
		if (info.nlink > 0 && info.modes == 0)
			check_close_scaled(f->seed, "w", 3, V + 6 * (info.link + info.nlink - 1), &bodies[i].velocity.angular.x,
			                   scale, 1e-12);
	}
	for (int k = 0; k < o->flexes; k++) {
		const Modes *m = &o->modes[k];
		int rows = m->carrier == m->head ? 3 : 6; /* the origin of B is that of its own link */
		check_close_scaled(f->seed, "V of B", rows, V + 6 * m->carrier, &bodies[m->body].velocity.angular.x, scale,
		                   1e-12);
	}
	free(bodies);
}

static void scatter_of_speeds_gives_velocities(void **state) {
	(void)state;
	for_each_tree(velocities_of);
}

/* ---- the mass matrix ------------------------------------------------------------------------ */

/* M = T' Ms T + rotors */
static void newton_euler_of(const Operators *o) {
	Fixture *f = o->f;
	Dense M = dense(f, o->nu, o->nu), product = congruence(f, transposed(f, o->T), o->Ms);
	for (int i = 0; i < o->nu; i++) {
		CalDofInfo info;
		check_ok(f->seed, cal_model_dof(f->model, i, &info));
		product.x[i * (o->nu + 1)] += info.reflected_inertia;
	}
	refq_mass_matrix(f->ref, f->state.q, M.x);
	check_dense(f, "T' Ms T", product, M, 0, 1e-12);
}

static void mass_matrix_has_the_newton_euler_factorization(void **state) {
	(void)state;
	for_each_tree(newton_euler_of);
}

static void innovations_of(const Operators *o) {
	Fixture *f = o->f;
	int n = o->nu;
	const Innovations m = operator_innovations(f);
	Dense M = dense(f, n, n), Minv = dense(f, n, n);
	double logdet;
	check_dense(f, "L'", m.Lt, transposed(f, m.L), 1, 1e-12);
	check_dense(f, "(L^-1)'", m.Lit, transposed(f, m.Li), 1, 1e-12);
	check_dense(f, "L L^-1", mul(f, m.L, m.Li), dense_one(f, n), dense_max(m.L) * dense_max(m.Li), 1e-12);
	refq_mass_matrix(f->ref, f->state.q, M.x);
	refq_mass_inverse(f->ref, f->state.q, Minv.x, &logdet);
	check_dense(f, "L D L'", congruence(f, m.L, m.D), M, 0, 1e-12);
	check_dense(f, "(L^-1)' D^-1 L^-1", congruence(f, transposed(f, m.Li), m.Dinv), Minv, 0, 1e-11);
	check_close_scaled(f->seed, "sum log d", 1, &m.sum_log, &logdet, n, 1e-11);
}

static void innovations_factors_give_the_mass_matrix(void **state) {
	(void)state;
	for_each_tree(innovations_of);
}

/* When each dof is eliminated: outboard before inboard, modes before the joint, columns of a link in order. */
static int *elimination_order(const Operators *o) {
	Fixture *f = o->f;
	int *when = test_alloc((size_t)o->nu + 1, sizeof *when), now = 0;
	for (int i = o->nl - 1; i >= 0; i--) {
		int parent, u, n;
		check_ok(f->seed, cal_link_info(f->model, i, &parent, &u, &n));
		for (int k = 0; k < o->flexes; k++)
			for (int j = 0; o->modes[k].carrier == i && j < o->modes[k].m; j++)
				when[o->modes[k].u + j] = now++;
		for (int k = 0; k < n; k++)
			when[u + k] = now++;
	}
	check_that(f->seed, now == o->nu);
	return when;
}

static void triangle_of(const Operators *o) {
	Fixture *f = o->f;
	int n = o->nu, *when = elimination_order(o);
	Dense L = operator_speeds(f, cal_innovations_mul);
	for (int i = 0; i < n; i++) {
		check_that(f->seed, L.x[i * (n + 1)] == 1);
		for (int j = 0; j < n; j++)
			check_that(f->seed, when[j] <= when[i] || L.x[i * n + j] == 0);
	}
	free(when);
}

static void innovations_are_unit_triangular_by_elimination(void **state) {
	(void)state;
	for_each_tree(triangle_of);
}

/* ---- psi ------------------------------------------------------------------------------------ */

/* Nonzero if link i is link k or outboard of it. */
static int reaches(const Operators *o, int k, int i) {
	int parent = i, u, n;
	for (i = parent; i > k; i = parent)
		check_ok(o->f->seed, cal_link_info(o->f->model, i, &parent, &u, &n));
	return i == k;
}

/* The dofs that set out from link k or from outboard of it. */
static int dofs_beyond(const Operators *o, int k, int *list) {
	int count = 0;
	for (int i = k + 1; i < o->nl; i++) {
		int parent, u, n;
		check_ok(o->f->seed, cal_link_info(o->f->model, i, &parent, &u, &n));
		for (int j = 0; j < n && reaches(o, k, i); j++)
			list[count++] = u + j;
	}
	for (int i = 0; i < o->flexes; i++)
		for (int j = 0; j < o->modes[i].m && o->modes[i].head >= 0 && reaches(o, k, o->modes[i].head); j++)
			list[count++] = o->modes[i].u + j;
	return count;
}

/* X = A^-1 B in place of B [n][6]; A [n][n] positive definite, becomes its factor. */
static void solve_definite(int n, double *A, double *B) {
	for (int j = 0; j < n; j++)
		for (int i = j; i < n; i++) {
			for (int k = 0; k < j; k++)
				A[i * n + j] -= A[i * n + k] * A[j * n + k];
			A[i * n + j] = i == j ? sqrt(A[i * n + i]) : A[i * n + j] / A[j * n + j];
		}
	for (int c = 0; c < 6; c++) {
		for (int i = 0; i < n; i++) {
			for (int k = 0; k < i; k++)
				B[6 * i + c] -= A[i * n + k] * B[6 * k + c];
			B[6 * i + c] /= A[i * n + i];
		}
		for (int i = n - 1; i >= 0; i--) {
			for (int k = i + 1; k < n; k++)
				B[6 * i + c] -= A[k * n + i] * B[6 * k + c];
			B[6 * i + c] /= A[i * n + i];
		}
	}
}

/* Motion of all links and modes when link k moves by each unit and what is beyond it follows freely: [n6 + ne][6]. */
static Dense free_motion(const Operators *o, Dense M, int k) {
	Fixture *f = o->f;
	int *list = test_alloc((size_t)o->nu, sizeof *list), n = dofs_beyond(o, k, list), nu = o->nu;
	Dense moved = dense(f, o->n6 + o->ne, 6), speeds = dense(f, nu, 6);
	double *A = fixture_doubles(f, n * n), *B = fixture_doubles(f, 6 * n);
	for (int i = 0; i < o->n6; i++)
		for (int c = 0; c < 6; c++)
			moved.x[6 * i + c] = o->A.x[(6 * k + c) * o->n6 + i]; // A' of a unit motion of link k
	Dense force = mul(f, transposed(f, o->T), mul(f, o->Ms, moved));
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++)
			A[i * n + j] = M.x[list[i] * nu + list[j]];
		for (int c = 0; c < 6; c++)
			B[6 * i + c] = -force.x[6 * list[i] + c];
	}
	solve_definite(n, A, B);
	for (int i = 0; i < n; i++)
		memcpy(speeds.x + 6 * list[i], B + 6 * i, 6 * sizeof *B);
	free(list);
	return sum(f, moved, 1, mul(f, o->T, speeds));
}

/* psi' of a unit motion of each link, and the force that the link then needs: its articulated inertia. */
static void free_motion_of(const Operators *o) {
	Fixture *f = o->f;
	Dense M = dense(f, o->nu, o->nu), psit = operator_stacked(f, cal_operator_scatter_articulated);
	refq_mass_matrix(f->ref, f->state.q, M.x);
	for (int k = 0; k < o->nl; k++) {
		Dense free_k = free_motion(o, M, k), got = dense(f, o->n6, 6), want = {o->n6, 6, free_k.x};
		for (int i = 0; i < o->n6; i++)
			memcpy(got.x + 6 * i, psit.x + i * o->n6 + 6 * k, 6 * sizeof(double));
		check_dense(f, "psi'", got, want, 1, 1e-11);
		Dense force = {o->n6, 6, mul(f, o->Ms, free_k).x}, P = dense(f, 6, 6);
		Dense row = {6, o->n6, o->A.x + 6 * k * o->n6}, R = dense(f, 6, 6);
		check_ok(f->seed, cal_link_articulated_inertia(f->model, f->work, k, P.x));
		check_ok(f->seed, cal_link_composite_inertia(f->model, f->work, k, R.x));
		check_dense(f, "P", P, mul(f, row, force), dense_max(R), 1e-12); /* P may be nothing but round-off */
	}
}

static void psi_is_the_free_motion_of_what_is_outboard(void **state) {
	(void)state;
	for_each_tree(free_motion_of);
}

/* (1 - H psi K) H A = H psi; with B the diagonal blocks of L, which factor those of D, 1 - H psi K = B L^-1. */
static void projection_of(const Operators *o) {
	Fixture *f = o->f;
	Dense psi = operator_stacked(f, cal_operator_gather_articulated), L = operator_speeds(f, cal_innovations_mul);
	Dense Li = operator_speeds(f, cal_innovations_solve), B = dense_one(f, o->nu), HA = mul(f, o->H, o->A);
	for (int i = 0; i < o->nl + o->flexes; i++) {
		int parent, u, n;
		if (i < o->nl)
			check_ok(f->seed, cal_link_info(f->model, i, &parent, &u, &n));
		else
			u = o->modes[i - o->nl].u, n = o->modes[i - o->nl].m;
		for (int r = u; r < u + n; r++)
			for (int c = u; c < u + n; c++)
				B.x[r * o->nu + c] = L.x[r * o->nu + c];
	}
	Dense projected = mul(f, B, mul(f, Li, HA));
	check_dense(f, "B L^-1 H A", projected, mul(f, o->H, psi), dense_max(HA) * dense_max(B), 1e-12);
}

static void projected_columns_are_the_innovations_of_the_columns(void **state) {
	(void)state;
	for_each_tree(projection_of);
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* The factors are bit for bit what they were after cal_flex_inertia(), and x may be y. */
static void calls_of(const Operators *o) {
	Fixture *f = o->f;
	SpeedsFn products[] = {cal_innovations_mul, cal_innovations_mul_transpose, cal_innovations_solve,
	                       cal_innovations_solve_transpose};
	size_t size = sizeof(double) * (size_t)o->nu;
	double *x = fixture_doubles(f, o->nu), *y = fixture_doubles(f, o->nu), *solved = fixture_doubles(f, o->nu);
	check_ok(f->seed, cal_mass_factor(f->model, &f->state, f->work));
	check_ok(f->seed, cal_mass_solve(f->model, f->work, f->tau, solved));
	for (int k = 0; k < 4; k++) {
		check_ok(f->seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(f->seed, products[k](f->model, f->work, f->tau, x));
		for (int i = 0; i < o->flexes; i++) {
			int m = o->modes[i].m;
			double *E = fixture_doubles(f, 6 * m), *Mee = fixture_doubles(f, m * m);
			check_ok(f->seed, cal_flex_inertia(f->model, f->work, o->modes[i].body, E, Mee));
			for (int j = 0; j < m * m; j++)
				check_that(f->seed, Mee[j] == Mee[j % m * m + j / m]);
		}
		memcpy(y, f->tau, size);
		check_ok(f->seed, products[k](f->model, f->work, y, y));
		check_that(f->seed, memcmp(x, y, size) == 0);
		check_ok(f->seed, cal_mass_solve(f->model, f->work, f->tau, y));
		check_that(f->seed, memcmp(solved, y, size) == 0);
	}
}

static void inertia_of_a_body_leaves_the_factors(void **state) {
	(void)state;
	for_each_tree(calls_of);
}

static int call_all(const Operators *o, double *x, double *y, double *E, double *Mee) {
	const CalModel *m = o->f->model;
	CalWork *work = o->f->work;
	CalSpatial *sx = (CalSpatial *)x, *sy = (CalSpatial *)y;
	double block[36];
	int bad = cal_mass_factor(m, &o->f->state, work);
	bad |= cal_operator_gather(m, work, sx, sy) | cal_operator_gather_articulated(m, work, sx, sy);
	bad |= cal_operator_scatter(m, work, sx, sy) | cal_operator_scatter_articulated(m, work, sx, sy);
	bad |= cal_operator_joint(m, work, sx, y) | cal_operator_joint_transpose(m, work, x, sy);
	bad |= cal_innovations_mul(m, work, x, y) | cal_innovations_mul_transpose(m, work, x, y);
	bad |= cal_innovations_solve(m, work, x, y) | cal_innovations_solve_transpose(m, work, x, y);
	bad |= cal_innovations_diagonal(m, work, y) | cal_link_inertia(m, work, 0, block);
	bad |= cal_link_composite_inertia(m, work, 0, block) | cal_link_articulated_inertia(m, work, 0, block);
	return o->flexes == 0 ? bad : bad | cal_flex_inertia(m, work, o->modes[0].body, E, Mee);
}

static void memory_of(const Operators *o) {
	Fixture *f = o->f;
	int size = o->n6 + o->nu, m = o->ne;
	double *x = fixture_doubles(f, size), *y = fixture_doubles(f, size), *E = fixture_doubles(f, 6 * m);
	double *Mee = fixture_doubles(f, m * m);
	interpose_begin(0);
	int bad = call_all(o, x, y, E, Mee);
	Interpose seen = interpose_end();
	check_that(f->seed, bad == 0);
	check_that(f->seed, seen.calls == 0);
}

static void operators_do_not_allocate(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	for_each_tree(memory_of);
}

/* The trees above have what they are meant to have. */
static void trees_have_every_kind_of_link(void **state) {
	(void)state;
	int fixed = 0, moving = 0, welded = 0, on_ground = 0, several = 0, many = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Operators o = operators_create(seed, options_of(seed));
		for (int k = 0; k < o.flexes; k++) {
			const Modes *m = &o.modes[k];
			const RefBody *b = &o.f->ref->bodies[m->body];
			fixed += m->head == m->carrier;
			moving += b->head_node >= 0 && o.f->ref->nodes[b->head_node].phi != NULL;
			welded += b->joint.type == CAL_JOINT_WELD;
			on_ground += m->head < 0;
			many += m->m > 8;
			int links = 0;
			for (int i = 0; i < o.n6; i += 6)
				links += max_abs(6, o.H.x + m->u * o.n6 + i) > 0;
			several += links > 1;
		}
		free(o.modes);
		fixture_destroy(o.f);
	}
	check_that(test_seed(), fixed > 0 && moving > 0 && welded > 0 && on_ground > 0 && several > 0 && many > 0);
}

static Operators tree_with_both_kinds(void) {
	for (uint64_t seed = test_seed();; seed++) {
		Operators o = operators_create(seed, options_of(seed));
		if (o.flexes > 0 && o.flexes < o.f->nb)
			return o;
		free(o.modes);
		fixture_destroy(o.f);
	}
}

static void wrong_calls_are_refused(void **state) {
	(void)state;
	Operators o = tree_with_both_kinds(), other = tree_with_both_kinds();
	const Fixture *f = o.f;
	const CalModel *m = f->model;
	int body = o.modes[0].body, rigid = 0, carrier, head;
	double *E = fixture_doubles(o.f, 6 * o.modes[0].m), *Mee = fixture_doubles(o.f, o.modes[0].m * o.modes[0].m);
	double *x = fixture_doubles(o.f, o.nu), *y = fixture_doubles(o.f, o.nu);
	for (int k = 0; k < o.flexes && o.modes[k].body == rigid; k++)
		rigid++;
	int bad[] = {-1, f->nb, rigid};
	for (int k = 0; k < 3; k++) {
		check_status(0, cal_flex_links(m, bad[k], &carrier, &head), CAL_ERR_ARGUMENT);
		check_status(0, cal_flex_inertia(m, f->work, bad[k], E, Mee), CAL_ERR_ARGUMENT);
	}
	check_status(0, cal_flex_links(NULL, body, &carrier, &head), CAL_ERR_ARGUMENT);
	check_status(0, cal_flex_links(m, body, NULL, &head), CAL_ERR_ARGUMENT);
	check_status(0, cal_flex_links(m, body, &carrier, NULL), CAL_ERR_ARGUMENT);
	check_status(0, cal_flex_inertia(NULL, f->work, body, E, Mee), CAL_ERR_ARGUMENT);
	check_status(0, cal_flex_inertia(m, NULL, body, E, Mee), CAL_ERR_ARGUMENT);
	check_status(0, cal_flex_inertia(m, other.f->work, body, E, Mee), CAL_ERR_ARGUMENT);
	check_status(0, cal_flex_inertia(m, f->work, body, NULL, Mee), CAL_ERR_ARGUMENT);
	check_status(0, cal_flex_inertia(m, f->work, body, E, NULL), CAL_ERR_ARGUMENT);
	check_status(0, cal_innovations_mul(m, other.f->work, x, y), CAL_ERR_ARGUMENT);
	check_ok(0, cal_kinematics(m, &f->state, NULL, f->work));
	check_status(0, cal_flex_inertia(m, f->work, body, E, Mee), CAL_ERR_STAGE);
	check_status(0, cal_innovations_mul(m, f->work, x, y), CAL_ERR_STAGE);
	check_status(0, cal_innovations_diagonal(m, f->work, x), CAL_ERR_STAGE);
	check_status(0, cal_operator_joint(m, f->work, (CalSpatial *)o.A.x, x), CAL_ERR_STAGE);
	free(o.modes), free(other.modes);
	fixture_destroy(o.f), fixture_destroy(other.f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_have_every_kind_of_link),
		cmocka_unit_test(scatter_is_the_transpose_of_gather),
		cmocka_unit_test(links_gather_to_their_parents),
		cmocka_unit_test(scatter_of_speeds_gives_velocities),
		cmocka_unit_test(mass_matrix_has_the_newton_euler_factorization),
		cmocka_unit_test(innovations_factors_give_the_mass_matrix),
		cmocka_unit_test(innovations_are_unit_triangular_by_elimination),
		cmocka_unit_test(psi_is_the_free_motion_of_what_is_outboard),
		cmocka_unit_test(projected_columns_are_the_innovations_of_the_columns),
		cmocka_unit_test(inertia_of_a_body_leaves_the_factors),
		cmocka_unit_test(operators_do_not_allocate),
		cmocka_unit_test(wrong_calls_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
