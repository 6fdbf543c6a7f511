// SPDX-License-Identifier: Apache-2.0
/*
 * tree_checks.c — see tree_checks.h.
 */
#include "support/tree_checks.h"

#include <string.h>

void check_forward(uint64_t seed, TreeOptions options, CalSolver solver, double tolerance) {
	Fixture *f = fixture_random(seed, options, solver);
	double *got = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
	assert_int_equal(cal_model_solver(f->model), solver);
	assert_int_equal(refq_forward_dense(f->ref, f->state.q, f->state.u, &f->ref_input, want), 0);
	check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, got));
	check_close(seed, "udot", f->nu, got, want, tolerance);
	fixture_destroy(f);
}

void check_inverse_of_forward(uint64_t seed, TreeOptions options, CalSolver solver, double tolerance) {
	Fixture *f = fixture_random(seed, options, solver);
	double *udot = fixture_doubles(f, f->nu), *tau = fixture_doubles(f, f->nu);
	check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
	check_ok(seed, cal_inverse_dynamics(f->model, &f->state, udot, &f->input, f->work, tau));
	check_close_scaled(seed, "tau", f->nu, tau, f->tau, fixture_force_scale(f, udot), tolerance);
	fixture_destroy(f);
}

void check_solvers_agree(uint64_t seed, TreeOptions options, double tolerance) {
	Fixture *a = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
	Fixture *b = fixture_random(seed, options, CAL_SOLVER_DENSE);
	double *x = fixture_doubles(a, a->nu), *y = fixture_doubles(b, b->nu);
	check_ok(seed, cal_forward_dynamics(a->model, &a->state, &a->input, a->work, x));
	check_ok(seed, cal_forward_dynamics(b->model, &b->state, &b->input, b->work, y));
	check_close(seed, "udot", a->nu, x, y, tolerance);
	fixture_destroy(a);
	fixture_destroy(b);
}

void check_all_prescribed(uint64_t seed, TreeOptions options) {
	Fixture *f = fixture_random(seed, options, seed % 2 ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE);
	int n = f->nu;
	double *udot = fixture_doubles(f, n), *force = fixture_doubles(f, n), *want = fixture_doubles(f, n);
	memset(f->prescribed, 1, (size_t)n);
	f->input.prescribed = f->prescribed;
	f->input.tau = NULL;
	check_ok(seed, cal_hybrid_dynamics(f->model, &f->state, &f->input, f->work, udot, force));
	refq_inverse_sums(f->ref, f->state.q, f->state.u, f->udot, &f->ref_input, want);
	check_close(seed, "udot", n, udot, f->udot, 0);
	check_close_scaled(seed, "force", n, force, want, fixture_force_scale(f, udot), 1e-13);
	fixture_destroy(f);
}

void reference_mass_solve(Fixture *f, double *x) {
	int n = f->nu;
	double *Minv = fixture_doubles(f, n * n), logdet;
	refq_mass_inverse(f->ref, f->state.q, Minv, &logdet);
	for (int i = 0; i < n; i++) {
		x[i] = 0;
		for (int j = 0; j < n; j++)
			x[i] += Minv[i * n + j] * f->tau[j];
	}
}

void reference_compliance(Fixture *f, const int *nodes, int count, double *C) {
	int n = f->nu, rows = 6 * count;
	double *J = fixture_doubles(f, rows * n), *Minv = fixture_doubles(f, n * n), *T = fixture_doubles(f, rows * n);
	double logdet;
	refq_mass_inverse(f->ref, f->state.q, Minv, &logdet);
	for (int k = 0; k < count; k++)
		refq_jacobian(f->ref, f->state.q, nodes[k], J + 6 * k * n);
	for (int r = 0; r < rows; r++)
		for (int j = 0; j < n; j++)
			for (int k = 0; k < n; k++)
				T[r * n + j] += J[r * n + k] * Minv[k * n + j];
	for (int r = 0; r < rows; r++)
		for (int s = 0; s < rows; s++)
			for (int k = 0; k < n; k++)
				C[r * rows + s] += T[r * n + k] * J[s * n + k];
}
