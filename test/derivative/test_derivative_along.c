// SPDX-License-Identifier: Apache-2.0
/*
 * test_derivative_along.c — second derivatives along random directions against differences of the reference in quadruple precision:
 * mixed differences of inverse and forward dynamics; and d M^-1 = -M^-1 dM M^-1.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "derivative/derivative_support.h"

enum { CASES = 12 };

/* What is differenced, moved by s along v. */
typedef struct Moved {
	Fixture *f;
	const double *v;
	double s;
	bool forward;
	double *q, *u, *force; // scratch
} Moved;

/* Inverse dynamics at (q, u) that have been moved by s along v before: displacements of (q, u) come on top. */
static void moved_value(Moved *m, const double *dq, const double *du, double *out) {
	Fixture *f = m->f;
	const int n = f->nu;
	double *way = test_doubles(n + f->nq + 1), *base = way + n;
	for (int i = 0; i < n; i++)
		way[i] = m->s * m->v[i];
	refq_config_integrate(f->ref, f->state.q, way, base);
	refq_config_integrate(f->ref, base, dq, m->q);
	for (int i = 0; i < n; i++) {
		m->u[i] = f->state.u[i] + m->s * m->v[n + i] + du[i];
		m->force[i] = (m->forward ? f->tau[i] : f->udot[i]) + m->s * m->v[2 * n + i];
	}
	if (m->forward) {
		CalInput input = f->ref_input;
		input.tau = m->force;
		assert_int_equal(refq_forward_dense(f->ref, m->q, m->u, &input, out), 0);
	} else
		refq_inverse_sums(f->ref, m->q, m->u, m->force, &f->ref_input, out);
	free(way);
}

/* The mixed derivative by s and by (q, u) along w[2 n], by products of central differences of eighth order. */
static void mixed_difference(Fixture *f, const double *v, const double *w, bool forward, double *out) {
	static const double weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
	const double h = 1e-2;
	const int n = f->nu;
	double *x = test_doubles(6 * n + f->nq + 1), *dq = x, *du = x + n, *value = x + 2 * n;
	Moved m = {.f = f, .v = v, .forward = forward, .q = x + 3 * n, .u = x + 3 * n + f->nq, .force = x + 4 * n + f->nq};
	memset(out, 0, sizeof *out * (size_t)n);
	for (int a = -4; a <= 4; a++)
		for (int b = -4; b <= 4; b++) {
			if (!a || !b)
				continue;
			const double part = (a > 0 ? 1 : -1) * weight[abs(a) - 1] * (b > 0 ? 1 : -1) * weight[abs(b) - 1] / (h * h);
			m.s = a * h;
			for (int j = 0; j < n; j++) {
				dq[j] = b * h * w[j];
				du[j] = b * h * w[n + j];
			}
			moved_value(&m, dq, du, value);
			for (int i = 0; i < n; i++)
				out[i] += part * value[i];
		}
	free(x);
}

/* (d dq) w_q + (d du) w_u */
static void contract(int n, const double *dq, const double *du, const double *w, double *out) {
	for (int i = 0; i < n; i++) {
		out[i] = 0;
		for (int j = 0; j < n; j++)
			out[i] += dq[i * n + j] * w[j] + du[i * n + j] * w[n + j];
	}
}

static Fixture *small_fixture(uint64_t seed) {
	TreeOptions options = seed % 2 ? tree_flexible(seed) : tree_any(seed);
	options.bodies = 1 + (int)(seed % 2), options.max_modes = 2, options.prescribed = 0;
	options.joints = (options.joints ? options.joints : TREE_ANY_JOINT) & ~(1u << CAL_JOINT_USER);
	return fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
}

static void inverse_along(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = small_fixture(seed);
		Rng r = rng_make(seed);
		const int n = f->nu;
		double *v = fixture_doubles(f, 3 * n), *dq = fixture_doubles(f, n * n), *du = fixture_doubles(f, n * n);
		double *want = fixture_doubles(f, n), *got = fixture_doubles(f, n), *w = fixture_doubles(f, 2 * n);
		CalDerivatives *d;
		for (int i = 0; i < 3 * n; i++)
			v[i] = rng_uniform(&r, -1, 1);
		for (int i = 0; i < 2 * n; i++)
			w[i] = rng_uniform(&r, -1, 1);
		check_ok(seed, cal_derivatives_create(f->model, &d));
		check_ok(seed, cal_inverse_derivatives_along(f->model, &f->state, f->udot, &f->input, v, d, dq, du, NULL));
		mixed_difference(f, v, w, false, want);
		contract(n, dq, du, w, got);
		check_close_scaled(seed, "Hessian of tau", n, got, want, max_abs(n * n, dq) + max_abs(n * n, du) + 0.1, 1e-9);
		cal_derivatives_destroy(d);
		fixture_destroy(f);
	}
}

/* Of udot, which the condition of M makes worse. */
static void forward_along(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = small_fixture(seed);
		Rng r = rng_make(seed);
		const int n = f->nu;
		double *v = fixture_doubles(f, 3 * n), *dq = fixture_doubles(f, n * n), *dtau = fixture_doubles(f, n * n);
		double *du = fixture_doubles(f, n * n), *w = fixture_doubles(f, 2 * n), *got = fixture_doubles(f, n);
		double *want = fixture_doubles(f, n * n), *x = fixture_doubles(f, n * n);
		CalDerivatives *d;
		for (int i = 0; i < 3 * n; i++)
			v[i] = rng_uniform(&r, -1, 1);
		check_ok(seed, cal_derivatives_create(f->model, &d));
		check_ok(seed, cal_forward_derivatives_along(f->model, &f->state, &f->input, v, d, dq, du, dtau));
		for (int i = 0; i < 2 * n; i++)
			w[i] = rng_uniform(&r, -1, 1);
		mixed_difference(f, v, w, true, want);
		contract(n, dq, du, w, got);
		check_close_scaled(seed, "Hessian of udot", n, got, want, max_abs(n * n, dq) + max_abs(n * n, du) + 0.1, 1e-9);
		// d M^-1 = -M^-1 dM M^-1, with dM along the same displacement
		double *dM = fixture_doubles(f, n * n), *Minv = fixture_doubles(f, n * n);
		check_ok(seed, cal_inverse_derivatives_along(f->model, &f->state, NULL, &f->input, v, d, NULL, NULL, dM));
		check_ok(seed, cal_forward_derivatives(f->model, &f->state, &f->input, d, NULL, NULL, NULL, Minv));
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				for (int k = 0; k < n; k++)
					x[i * n + j] += dM[i * n + k] * Minv[k * n + j];
		memset(want, 0, sizeof *want * (size_t)(n * n));
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				for (int k = 0; k < n; k++)
					want[i * n + j] -= Minv[i * n + k] * x[k * n + j];
		check_close_scaled(seed, "d M^-1", n * n, dtau, want, max_abs(n * n, want) + 1, 1e-8);
		cal_derivatives_destroy(d);
		fixture_destroy(f);
	}
}

int main(void) {
	print_message("seed %llu (CALDER_TEST_SEED overrides)\n", (unsigned long long)test_seed());
	const struct CMUnitTest tests[] = {cmocka_unit_test(inverse_along), cmocka_unit_test(forward_along)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
