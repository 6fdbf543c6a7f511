// SPDX-License-Identifier: Apache-2.0
/*
 * test_derivative_loops.c — derivatives of forward dynamics with closed loops of every type, driven and stabilized, on rigid and
 * flexible trees: against differences of eighth order of the reference in quadruple precision, which is slow (small models), and of
 * the library's forward dynamics, which other tests compare with it; along motions that the loops allow where equations are redundant; and M_c of cal_closed_solve().
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "derivative/derivative_support.h"
#include "support/random_loop.h"

enum { CASES = 40 };

/* A fixture with the loops of its reference closed, at a time of its own. */
typedef struct Closed {
	Fixture *f;
	CalModel *model;
	CalWork *work;
	CalDerivatives *d;
} Closed;

static Closed closed_create(Fixture *f) {
	Closed c = {.f = f};
	CalError error = {0};
	fixture_close_loops(f);
	check_ok(f->seed, cal_model_compile(f->desc, &(CalCompileOptions){0}, &c.model, &error));
	check_ok(f->seed, cal_work_create(c.model, &c.work));
	check_ok(f->seed, cal_derivatives_create(c.model, &c.d));
	return c;
}

static void closed_destroy(Closed *c) {
	cal_derivatives_destroy(c->d);
	cal_work_destroy(c->work);
	cal_model_destroy(c->model);
	fixture_destroy(c->f);
}

static Closed *probed; // of the differences below

static void closed_acceleration(void *user, const double *q, const double *u, double *udot) {
	const Fixture *f = user;
	const CalState at = {.t = f->state.t, .q = (double *)q, .u = (double *)u};
	check_ok(f->seed, cal_forward_dynamics(probed->model, &at, &f->input, probed->work, udot));
}

static void reference_acceleration(void *user, const double *q, const double *u, double *udot) {
	const Fixture *f = user;
	const int rows = ref_model_rows(f->ref);
	double *x = test_doubles(3 * rows + 2 * f->nu + 1);
	RefSolution out = {.udot = udot,
	                   .lambda = x,
	                   .mismatch = x + rows,
	                   .redundancy = x + 2 * (ptrdiff_t)rows,
	                   .constraint = x + 3 * (ptrdiff_t)rows,
	                   .prescribed = x + 3 * (ptrdiff_t)rows + f->nu};
	assert_int_equal(refq_loop_forward(f->ref, f->state.t, q, u, &f->ref_input, &out), 0);
	free(x);
}

/* dtau is M_c. */
static void check_inverse(const Closed *c, const double *dtau) {
	const int n = c->f->nu;
	double *b = test_doubles(2 * n + 1), *x = b + n;
	check_ok(c->f->seed, cal_closed_factor(c->model, &c->f->state, c->f->input.prescribed, c->work));
	for (int j = 0; j < n; j++) {
		memset(b, 0, sizeof *b * (size_t)n);
		b[j] = 1;
		check_ok(c->f->seed, cal_closed_solve(c->model, c->work, b, x));
		for (int i = 0; i < n; i++) {
			const double scale = max_abs(n * n, dtau);
			check_close_scaled(c->f->seed, "M_c", 1, &dtau[i * n + j], &x[i], scale, 1e-9);
			check_that(c->f->seed, dtau[i * n + j] == dtau[j * n + i]);
		}
	}
	free(b);
}

static void independent_loops(void **state) {
	int compared = 0;
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		LoopOptions options = {.tree = seed % 3 ? tree_any(seed) : tree_flexible(seed),
		                       .loops = 1 + (int)(seed % 2),
		                       .driven = seed % 2 == 0,
		                       .stabilised = seed % 3 == 0,
		                       .known = seed % 5 == 0};
		options.tree.bodies = 3 + (int)(seed % 3), options.tree.max_modes = 3;
		if (seed % 4)
			options.tree.joints = TREE_ANY_JOINT & ~(1u << CAL_JOINT_USER);
		Closed c = closed_create(fixture_random_loop(seed, options, CAL_SOLVER_RECURSIVE));
		Fixture *f = c.f;
		const int n = f->nu;
		double *dq = fixture_doubles(f, n * n), *du = fixture_doubles(f, n * n), *dtau = fixture_doubles(f, n * n);
		double *want = fixture_doubles(f, n * n), *udot = fixture_doubles(f, n);
		int rank;
		probed = &c;
		check_ok(seed, cal_forward_derivatives(c.model, &f->state, &f->input, c.d, udot, dq, du, dtau));
		check_inverse(&c, dtau);
		check_ok(seed, cal_forward_dynamics(c.model, &f->state, &f->input, c.work, udot));
		check_ok(seed, cal_loop_rank(c.model, c.work, &rank, NULL));
		if (rank == cal_model_row_count(c.model)) { // otherwise udot is smooth along the loops only
			const bool small = n <= 8;
			const ReferenceFn acceleration = small ? reference_acceleration : closed_acceleration;
			reference_derivative_of(f, acceleration, n, 0, 1e-3, want);
			check_close(seed, "dudot/dq", n * n, dq, want, small ? 1e-9 : 1e-8);
			compared += small;
			reference_derivative_of(f, acceleration, n, 1, 1e-2, want);
			check_close_scaled(seed, "dudot/du", n * n, du, want, max_abs(n * n, dq) * 1e-2, 1e-9);
		}
		closed_destroy(&c);
	}
	print_message("%d models compared with quadruple precision\n", compared);
	assert_true(compared >= 5);
}

/* By the mass of a body at its center of mass, in trees and closed models: differences of eighth order of the reference. */
static void accelerations_by_mass(void **state) {
	static const double weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 18; seed++) {
		LoopOptions options = {.tree = seed % 2 ? tree_any(seed) : tree_flexible(seed), .loops = (int)(seed % 3)};
		options.tree.bodies = 3, options.tree.max_modes = 2;
		Closed c = closed_create(fixture_random_loop(seed, options, CAL_SOLVER_RECURSIVE));
		Fixture *f = c.f;
		const int n = f->nu, width = CAL_INERTIAL_PARAMETERS * f->nb;
		double *dpi = fixture_doubles(f, n * width), *udot = fixture_doubles(f, n), *want = fixture_doubles(f, n);
		double *got = fixture_doubles(f, n), *at = fixture_doubles(f, n);
		check_ok(seed, cal_forward_parameter_derivatives(c.model, &f->state, &f->input, c.d, udot, dpi));
		reference_acceleration(f, f->state.q, f->state.u, at);
		check_close(seed, "udot", n, udot, at, 1e-8);
		for (int b = 0; b < f->nb; b++) {
			RefBody *body = &f->ref->bodies[b];
			const double r[3] = {body->com.x, body->com.y, body->com.z}, rr = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
			const double p[] = {1,
			                    r[0],
			                    r[1],
			                    r[2],
			                    rr - r[0] * r[0],
			                    rr - r[1] * r[1],
			                    rr - r[2] * r[2],
			                    -r[0] * r[1],
			                    -r[0] * r[2],
			                    -r[1] * r[2]};
			const double mass = body->mass, some = mass > 0 ? mass : 0.1, h = 0.01 * some;
			memset(want, 0, sizeof *want * (size_t)n);
			for (int k = -4; k <= 4; k++) {
				if (k == 0)
					continue;
				body->mass = mass + k * h;
				reference_acceleration(f, f->state.q, f->state.u, at);
				for (int i = 0; i < n; i++)
					want[i] += (k > 0 ? 1 : -1) * weight[abs(k) - 1] / h * at[i];
			}
			body->mass = mass;
			for (int i = 0; i < n; i++) {
				got[i] = 0;
				for (int k = 0; k < CAL_INERTIAL_PARAMETERS; k++)
					got[i] += dpi[i * width + b * CAL_INERTIAL_PARAMETERS + k] * p[k];
			}
			check_close_scaled(seed, "dudot/dm", n, got, want, max_abs(n, udot) / some + max_abs(n, want), 1e-9);
		}
		closed_destroy(&c);
	}
}

/* udot at the state moved by s along its own speeds and brought back to the loops; q, u: there. */
static void follow(const Closed *c, double s, double *q, double *u, double *udot) {
	const Fixture *f = c->f;
	CalState at = {.t = f->state.t, .q = q, .u = u};
	double *dq = test_doubles(f->nu + 1);
	for (int i = 0; i < f->nu; i++)
		dq[i] = s * f->state.u[i];
	cal_config_integrate(c->model, f->state.q, dq, q);
	memcpy(u, f->state.u, sizeof *u * (size_t)f->nu);
	check_ok(f->seed, cal_loop_project(c->model, &at, &(CalProjectOptions){.euclidean = 1}, c->work, NULL));
	check_ok(f->seed, cal_forward_dynamics(c->model, &at, &f->input, c->work, udot));
	free(dq);
}

/* Planar linkages in space have three redundant equations: dq v + du w along the motion (v, w) that the loops allow. */
static void redundant_linkages(void **state) {
	static const double weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
		Rng r = rng_make(seed);
		RefModel *ref = random_linkage(&r, 3 + (int)(seed % 3), REF_LOOP_REVOLUTE);
		Fixture *f = fixture_create(ref, seed, CAL_SOLVER_RECURSIVE);
		fixture_sample(f, &r);
		ref_model_start(f->ref, f->state.q, f->state.u);
		Closed c = closed_create(f);
		const int n = f->nu;
		for (int i = 0; i < n; i++)
			f->state.u[i] += 1;
		check_ok(seed, cal_loop_project(c.model, &f->state, &(CalProjectOptions){.euclidean = 1}, c.work, NULL));
		double *dq = fixture_doubles(f, n * n), *du = fixture_doubles(f, n * n), *udot = fixture_doubles(f, n);
		double *q = fixture_doubles(f, f->nq), *u = fixture_doubles(f, n), *moved = fixture_doubles(f, n);
		double *want = fixture_doubles(f, n), *turn = fixture_doubles(f, n), *got = fixture_doubles(f, n);
		double *v = fixture_doubles(f, n), *step = fixture_doubles(f, n);
		probed = &c;
		check_ok(seed, cal_forward_derivatives(c.model, &f->state, &f->input, c.d, udot, dq, du, NULL));
		const double h = 1e-3;
		for (int p = -4; p <= 4; p++) {
			if (p == 0)
				continue;
			const double w = (p > 0 ? 1 : -1) * weight[abs(p) - 1] / h;
			follow(&c, p * h, q, u, moved);
			cal_config_difference(c.model, f->state.q, q, step);
			for (int i = 0; i < n; i++)
				want[i] += w * moved[i], turn[i] += w * u[i], v[i] += w * step[i];
		}
		for (int i = 0; i < n * n; i++)
			got[i / n] += dq[i] * v[i % n] + du[i] * turn[i % n];
		check_close_scaled(seed, "along the motion", n, got, want, max_abs(n * n, dq), 1e-8);
		closed_destroy(&c);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(independent_loops),
		cmocka_unit_test(accelerations_by_mass),
		cmocka_unit_test(redundant_linkages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
