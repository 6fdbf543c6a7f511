// SPDX-License-Identifier: Apache-2.0
/*
 * test_operators.c — the identities of the spatial operator algebra on random trees (Jain, SKO models).
 *
 * The dense matrices of the operators are built column by column from products with unit vectors:
 *   A, psi (6nl x 6nl), H (nu x 6nl), L (nu x nu), and the block diagonals Ms, R, P of link inertias.
 * E_A and E_psi are the blocks of A and psi between parent and child. D = H psi Ms psi' H' is block diagonal
 * (a link of several speeds has a block), G = P H' D^-1, K = E_A G. The identities that involve D hold without
 * rotors, whose inertia belongs to M but to no link; the factorizations of M are tested with rotors too.
 */
#include "support/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 50 };

typedef struct Operators {
	Fixture *f;
	int nl, n6, nu;
	Dense A, psi, H, Ms, R, P, E, Epsi; // one matrix of each operator
	Dense D, Dinv, G, K;
} Operators;

static void check_equal(const Operators *o, const char *what, Dense got, Dense want, double scale) {
	check_dense(o->f, what, got, want, scale, 1e-11);
}

/* Inverse of the diagonal blocks of d that belong to one link, by Gauss-Jordan with pivoting. */
static Dense block_inverse(Fixture *f, int nl, Dense d) {
	Dense inv = dense(f, d.rows, d.cols);
	for (int k = 0; k < nl; k++) {
		int parent, u, n;
		double a[6][12] = {{0}};
		check_ok(f->seed, cal_link_info(f->model, k, &parent, &u, &n));
		check_that(f->seed, n >= 1);
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				a[i][j] = d.x[(u + i) * d.cols + u + j], a[i][n + j] = i == j;
		for (int p = 0; p < n; p++) {
			int best = p;
			for (int i = p + 1; i < n; i++)
				best = fabs(a[i][p]) > fabs(a[best][p]) ? i : best;
			for (int j = 0; j < 2 * n; j++) {
				double swap = a[p][j];
				a[p][j] = a[best][j], a[best][j] = swap;
			}
			for (int i = 0; i < n; i++) {
				double factor = i == p ? 0 : a[i][p] / a[p][p];
				for (int j = 0; factor != 0 && j < 2 * n; j++)
					a[i][j] -= factor * a[p][j];
			}
		}
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				inv.x[(u + i) * d.cols + u + j] = a[i][n + j] / a[i][i];
	}
	return inv;
}

static Operators operators_create(uint64_t seed, TreeOptions options) {
	Operators o = {.f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE)};
	Fixture *f = o.f;
	o.nl = cal_model_link_count(f->model), o.n6 = 6 * o.nl, o.nu = f->nu;
	check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
	o.A = operator_stacked(f, cal_operator_gather);
	o.psi = operator_stacked(f, cal_operator_gather_articulated);
	o.H = operator_joint(f);
	o.Ms = operator_blocks(f, cal_link_inertia);
	o.R = operator_blocks(f, cal_link_composite_inertia);
	o.P = operator_blocks(f, cal_link_articulated_inertia);
	o.E = operator_parent_blocks(f, o.A);
	o.Epsi = operator_parent_blocks(f, o.psi);
	o.D = congruence(f, o.H, o.P);
	o.Dinv = block_inverse(f, o.nl, o.D);
	o.G = mul(f, mul(f, o.P, transposed(f, o.H)), o.Dinv);
	o.K = mul(f, o.E, o.G);
	return o;
}

static TreeOptions without_rotors(uint64_t seed) {
	TreeOptions options = tree_any(seed);
	options.springs = 0;
	options.bodies = 1 + options.bodies / 2;
	return options;
}

static void for_each_tree(TreeOptions (*options)(uint64_t), void (*check)(const Operators *)) {
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Operators o = operators_create(seed, options(seed));
		if (o.nu > 0)
			check(&o);
		fixture_destroy(o.f);
	}
}

/* ---- the identities ------------------------------------------------------------------------- */

static void scatter_of(const Operators *o) {
	Fixture *f = o->f;
	check_equal(o, "A'", operator_stacked(f, cal_operator_scatter), transposed(f, o->A), 1);
	check_equal(o, "psi'", operator_stacked(f, cal_operator_scatter_articulated), transposed(f, o->psi), 1);
	check_equal(o, "H'", operator_joint_transpose(f), transposed(f, o->H), 1);
}

static void scatter_is_the_transpose_of_gather(void **state) {
	(void)state;
	for_each_tree(tree_any, scatter_of);
}

/* A (1 - E_A) = 1 and psi (1 - E_psi) = 1 */
static void resolvents_of(const Operators *o) {
	Fixture *f = o->f;
	Dense one = dense_one(f, o->n6);
	check_equal(o, "A(1-E)", mul(f, o->A, sum(f, one, -1, o->E)), one, max_abs(o->n6 * o->n6, o->A.x));
	check_equal(o, "psi(1-E)", mul(f, o->psi, sum(f, one, -1, o->Epsi)), one, max_abs(o->n6 * o->n6, o->psi.x));
}

static void operators_are_resolvents_of_their_parent_blocks(void **state) {
	(void)state;
	for_each_tree(tree_any, resolvents_of);
}

static void lyapunov_of(const Operators *o) {
	Fixture *f = o->f;
	double scale = max_abs(o->n6 * o->n6, o->R.x);
	check_equal(o, "R - E R E'", sum(f, o->R, -1, congruence(f, o->E, o->R)), o->Ms, scale);
	/* A Ms A' = R + A~ R + R A~' */
	Dense one = dense_one(f, o->n6), At = sum(f, o->A, -1, one), AR = mul(f, At, o->R);
	Dense right = sum(f, sum(f, o->R, 1, AR), 1, transposed(f, AR)), left = congruence(f, o->A, o->Ms);
	check_equal(o, "A Ms A'", left, right, max_abs(o->n6 * o->n6, right.x));
}

static void composite_inertias_solve_the_lyapunov_equation(void **state) {
	(void)state;
	for_each_tree(tree_any, lyapunov_of);
}

static void riccati_of(const Operators *o) {
	Fixture *f = o->f;
	double scale = max_abs(o->n6 * o->n6, o->P.x);
	check_equal(o, "P - Epsi P Epsi'", sum(f, o->P, -1, congruence(f, o->Epsi, o->P)), o->Ms, scale);
	Dense mixed = mul(f, mul(f, o->Epsi, o->P), transposed(f, o->E));
	check_equal(o, "P - Epsi P E'", sum(f, o->P, -1, mixed), o->Ms, scale);
}

static void articulated_inertias_solve_the_riccati_equation(void **state) {
	(void)state;
	for_each_tree(without_rotors, riccati_of);
}

static void decompositions_of(const Operators *o) {
	Fixture *f = o->f;
	Dense one = dense_one(f, o->n6), At = sum(f, o->A, -1, one), AP = mul(f, At, o->P);
	Dense AK = mul(f, o->A, o->K), left = congruence(f, o->A, o->Ms);
	Dense right = sum(f, sum(f, o->P, 1, AP), 1, transposed(f, AP));
	right = sum(f, right, 1, congruence(f, AK, o->D));
	check_equal(o, "A Ms A' = P + A~P + PA~' + AKDK'A'", left, right, max_abs(o->n6 * o->n6, left.x));
	/* psi Ms psi' = P + psi~ P + P psi~', A Ms psi' = P + A~ P + P psi~' */
	Dense psit = sum(f, o->psi, -1, one), psiP = mul(f, psit, o->P);
	right = sum(f, sum(f, o->P, 1, psiP), 1, transposed(f, psiP));
	check_equal(o, "psi Ms psi'", congruence(f, o->psi, o->Ms), right, max_abs(o->n6 * o->n6, right.x));
	left = mul(f, mul(f, o->A, o->Ms), transposed(f, o->psi));
	right = sum(f, sum(f, o->P, 1, AP), 1, transposed(f, psiP));
	check_equal(o, "A Ms psi'", left, right, max_abs(o->n6 * o->n6, right.x));
}

static void articulated_decompositions_hold(void **state) {
	(void)state;
	for_each_tree(without_rotors, decompositions_of);
}

static void diagonal_of(const Operators *o) {
	Fixture *f = o->f;
	double *d = fixture_doubles(f, o->nu), scale = max_abs(o->nu * o->nu, o->D.x);
	Dense Hpsi = mul(f, o->H, o->psi), left = congruence(f, Hpsi, o->Ms), blocks = dense(f, o->nu, o->nu);
	check_ok(f->seed, cal_innovations_diagonal(f->model, f->work, d));
	for (int k = 0; k < o->nl; k++) {
		int parent, u, n;
		check_ok(f->seed, cal_link_info(f->model, k, &parent, &u, &n));
		for (int i = u; i < u + n; i++)
			for (int j = u; j < u + n; j++)
				blocks.x[i * o->nu + j] = left.x[i * o->nu + j];
		if (n == 1)
			check_close(f->seed, "D of a link", 1, &blocks.x[u * (o->nu + 1)], &d[u], 1e-11);
	}
	check_equal(o, "H psi Ms psi' H' outside its blocks", left, blocks, scale);
	check_equal(o, "H P H'", left, o->D, scale);
}

static void projected_inertia_is_block_diagonal(void **state) {
	(void)state;
	for_each_tree(without_rotors, diagonal_of);
}

/* psi^-1 - A^-1 = E_A - E_psi = K H, and what follows from it. */
static void resolvent_identities_of(const Operators *o) {
	Fixture *f = o->f;
	Dense KH = mul(f, o->K, o->H), one = dense_one(f, o->n6), one_u = dense_one(f, o->nu);
	double scale = fmax(1, max_abs(o->n6 * o->n6, o->A.x)) * fmax(1, max_abs(o->n6 * o->n6, KH.x));
	check_equal(o, "psi^-1 - A^-1 = KH", sum(f, o->E, -1, o->Epsi), KH, scale);
	/* A = psi (1 + K H A), (1 - H psi K) H A = H psi, A K (1 - H psi K) = psi K */
	Dense right = mul(f, o->psi, sum(f, one, 1, mul(f, KH, o->A)));
	check_equal(o, "psi (1 + KHA)", right, o->A, scale);
	Dense factor = sum(f, one_u, -1, mul(f, mul(f, o->H, o->psi), o->K));
	check_equal(o, "(1 - H psi K) H A", mul(f, factor, mul(f, o->H, o->A)), mul(f, o->H, o->psi), scale);
	check_equal(o, "A K (1 - H psi K)", mul(f, mul(f, o->A, o->K), factor), mul(f, o->psi, o->K), scale);
}

static void articulated_and_rigid_operators_differ_by_KH(void **state) {
	(void)state;
	for_each_tree(without_rotors, resolvent_identities_of);
}

/* M = H A Ms A' H' + rotors */
static void newton_euler_of(const Operators *o) {
	Fixture *f = o->f;
	Dense M = dense(f, o->nu, o->nu), product = congruence(f, mul(f, o->H, o->A), o->Ms);
	for (int i = 0; i < o->nu; i++) {
		CalDofInfo info;
		check_ok(f->seed, cal_model_dof(f->model, i, &info));
		product.x[i * (o->nu + 1)] += info.reflected_inertia;
	}
	refq_mass_matrix(f->ref, f->state.q, M.x);
	check_equal(o, "H A Ms A' H'", product, M, 0);
}

static void mass_matrix_has_the_newton_euler_factorization(void **state) {
	(void)state;
	for_each_tree(tree_any, newton_euler_of);
}

/* M = (1 + HAK) D (1 + HAK)', M^-1 = (1 - H psi K)' D^-1 (1 - H psi K) */
static void operator_factorization_of(const Operators *o) {
	Fixture *f = o->f;
	Dense one = dense_one(f, o->nu), M = dense(f, o->nu, o->nu), Minv = dense(f, o->nu, o->nu);
	double logdet;
	refq_mass_matrix(f->ref, f->state.q, M.x);
	refq_mass_inverse(f->ref, f->state.q, Minv.x, &logdet);
	Dense left = sum(f, one, 1, mul(f, mul(f, o->H, o->A), o->K));
	Dense right = sum(f, one, -1, mul(f, mul(f, o->H, o->psi), o->K));
	check_equal(o, "(1+HAK) D (1+HAK)'", congruence(f, left, o->D), M, 0);
	check_equal(o, "(1-H psi K)' D^-1 (1-H psi K)", congruence(f, transposed(f, right), o->Dinv), Minv, 0);
	check_equal(o, "(1+HAK)(1-H psi K)", mul(f, left, right), one, max_abs(o->nu * o->nu, left.x));
}

static void mass_matrix_has_the_innovations_factorization(void **state) {
	(void)state;
	for_each_tree(without_rotors, operator_factorization_of);
}

/* The library's own L, D: rotors included. */
static void innovations_of(const Operators *o) {
	Fixture *f = o->f;
	int n = o->nu;
	const Innovations m = operator_innovations(f);
	Dense M = dense(f, n, n), Minv = dense(f, n, n);
	double logdet;
	for (int i = 0; i < n; i++)
		check_close(f->seed, "diagonal of L", 1, &m.L.x[i * (n + 1)], &(double){1}, 1e-14);
	check_equal(o, "L'", m.Lt, transposed(f, m.L), 1);
	check_equal(o, "(L^-1)'", m.Lit, transposed(f, m.Li), 1);
	check_equal(o, "L L^-1", mul(f, m.L, m.Li), dense_one(f, n),
	            max_abs(n * n, m.L.x) * fmax(1, max_abs(n * n, m.Li.x)));
	refq_mass_matrix(f->ref, f->state.q, M.x);
	refq_mass_inverse(f->ref, f->state.q, Minv.x, &logdet);
	check_equal(o, "L D L'", congruence(f, m.L, m.D), M, 0);
	check_equal(o, "(L^-1)' D^-1 L^-1", congruence(f, transposed(f, m.Li), m.Dinv), Minv, 0);
	check_close_scaled(f->seed, "sum log d", 1, &m.sum_log, &logdet, n, 1e-11);
}

static void innovations_factors_give_the_mass_matrix(void **state) {
	(void)state;
	for_each_tree(tree_any, innovations_of);
}

/* V = A' H' u: at a link's reference point; the angular part is that of the body it carries. */
static void velocities_of(const Operators *o) {
	Fixture *f = o->f;
	double *V = fixture_doubles(f, o->n6);
	RefMotion *bodies = test_alloc((size_t)f->nb, sizeof *bodies);
	refq_kinematics(f->ref, f->state.q, f->state.u, NULL, bodies, NULL);
	check_ok(f->seed, cal_operator_joint_transpose(f->model, f->work, f->state.u, (CalSpatial *)V));
	check_ok(f->seed, cal_operator_scatter(f->model, f->work, (CalSpatial *)V, (CalSpatial *)V)); /* in place */
	for (int i = 0; i < f->nb; i++) {
		CalBodyInfo info;
		check_ok(f->seed, cal_model_body(f->model, i, &info));
		if (info.nlink > 0)
			check_close_scaled(f->seed, "w", 3, V + 6 * (info.link + info.nlink - 1), &bodies[i].velocity.angular.x, 1,
			                   1e-13);
	}
	free(bodies);
}

static void scatter_of_joint_speeds_gives_velocities(void **state) {
	(void)state;
	for_each_tree(tree_any, velocities_of);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scatter_is_the_transpose_of_gather),
		cmocka_unit_test(operators_are_resolvents_of_their_parent_blocks),
		cmocka_unit_test(composite_inertias_solve_the_lyapunov_equation),
		cmocka_unit_test(articulated_inertias_solve_the_riccati_equation),
		cmocka_unit_test(articulated_decompositions_hold),
		cmocka_unit_test(projected_inertia_is_block_diagonal),
		cmocka_unit_test(articulated_and_rigid_operators_differ_by_KH),
		cmocka_unit_test(mass_matrix_has_the_newton_euler_factorization),
		cmocka_unit_test(mass_matrix_has_the_innovations_factorization),
		cmocka_unit_test(innovations_factors_give_the_mass_matrix),
		cmocka_unit_test(scatter_of_joint_speeds_gives_velocities),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
