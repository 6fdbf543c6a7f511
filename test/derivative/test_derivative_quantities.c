// SPDX-License-Identifier: Apache-2.0
/*
 * test_derivative_quantities.c — regressor, derivatives of the motion of nodes, centroidal momentum, gradient of energy:
 * against inverse dynamics, and differences of eighth order of the library's own values, which other tests compare with the
 * reference.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "derivative/derivative_support.h"

enum { CASES = 60 };

static TreeOptions options_of(uint64_t seed) {
	TreeOptions options = seed % 2 ? tree_flexible(seed) : tree_any(seed);
	options.joints = (options.joints ? options.joints : TREE_ANY_JOINT) & ~(1u << CAL_JOINT_USER);
	options.foreshortening = seed % 4 == 1;
	return options;
}

/* tau(pi) - Y pi does not depend on pi: halving all masses through the regressor is inverse dynamics of half a model. */
static void regressor_gives_inverse_dynamics(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		TreeOptions options = tree_any(seed);
		options.springs = 0;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		const int n = f->nu, width = CAL_INERTIAL_PARAMETERS * f->nb;
		double *Y = fixture_doubles(f, n * width), *tau = fixture_doubles(f, n), *sum = fixture_doubles(f, n);
		CalDerivatives *d;
		check_ok(seed, cal_derivatives_create(f->model, &d));
		check_ok(seed, cal_inverse_regressor(f->model, &f->state, f->udot, d, Y));
		check_ok(seed, cal_inverse_dynamics(f->model, &f->state, f->udot, NULL, f->work, tau));
		for (int b = 0; b < f->nb; b++) {
			double p[CAL_INERTIAL_PARAMETERS];
			check_ok(seed, cal_inertial_parameters(f->model, b, p));
			for (int i = 0; i < n; i++)
				for (int k = 0; k < CAL_INERTIAL_PARAMETERS; k++)
					sum[i] += Y[i * width + b * CAL_INERTIAL_PARAMETERS + k] * p[k];
		}
		check_close_scaled(seed, "Y pi", n, sum, tau, fixture_force_scale(f, f->udot), 1e-12);
		cal_derivatives_destroy(d);
		fixture_destroy(f);
	}
}

/* Rigid parts of flexible bodies: the regressor is the derivative of what the reference computes with other parameters. */
static void regressor_is_the_derivative_by_mass(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 6; seed++) {
		TreeOptions options = tree_flexible(seed);
		options.bodies = 3, options.max_modes = 3;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		const int n = f->nu, width = CAL_INERTIAL_PARAMETERS * f->nb;
		double *Y = fixture_doubles(f, n * width), *low = fixture_doubles(f, n), *high = fixture_doubles(f, n);
		CalDerivatives *d;
		check_ok(seed, cal_derivatives_create(f->model, &d));
		check_ok(seed, cal_inverse_regressor(f->model, &f->state, f->udot, d, Y));
		for (int b = 0; b < f->nb; b++) { // a mass at the center of mass: dtau/dm = Y (1, c, I of a point)
			RefBody *body = &f->ref->bodies[b];
			const double c[3] = {body->com.x, body->com.y, body->com.z}, rr = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
			const double p[] = {1,
			                    c[0],
			                    c[1],
			                    c[2],
			                    rr - c[0] * c[0],
			                    rr - c[1] * c[1],
			                    rr - c[2] * c[2],
			                    -c[0] * c[1],
			                    -c[0] * c[2],
			                    -c[1] * c[2]};
			refq_inverse_sums(f->ref, f->state.q, f->state.u, f->udot, &f->ref_input, low);
			body->mass += 1;
			refq_inverse_sums(f->ref, f->state.q, f->state.u, f->udot, &f->ref_input, high);
			body->mass -= 1;
			for (int i = 0; i < n; i++) {
				high[i] -= low[i];
				low[i] = 0;
				for (int k = 0; k < CAL_INERTIAL_PARAMETERS; k++)
					low[i] += Y[i * width + b * CAL_INERTIAL_PARAMETERS + k] * p[k];
			}
			check_close_scaled(seed, "dtau/dm", n, low, high, 1, 1e-10);
		}
		cal_derivatives_destroy(d);
		fixture_destroy(f);
	}
}

static int probe_node; // of the differences below

static void node_motion(void *user, const double *q, const double *u, double *out) {
	Fixture *f = user;
	CalState at = {.q = (double *)q, .u = (double *)u};
	CalSpatial V, A;
	check_ok(f->seed, cal_kinematics(f->model, &at, f->udot, f->work));
	check_ok(f->seed, cal_node_velocity(f->model, f->work, probe_node, &V));
	check_ok(f->seed, cal_node_acceleration(f->model, f->work, probe_node, &A));
	memcpy(out, &V, sizeof V);
	memcpy(out + 6, &A, sizeof A);
}

static void node_motions_differentiate(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, options_of(seed), CAL_SOLVER_RECURSIVE);
		const int n = f->nu, nodes = cal_model_node_count(f->model);
		double *want = fixture_doubles(f, 12 * n), *V = fixture_doubles(f, 6 * n), *A = fixture_doubles(f, 6 * n);
		double *Au = fixture_doubles(f, 6 * n), *J = fixture_doubles(f, 6 * n), *Jdot = fixture_doubles(f, 6 * n);
		CalDerivatives *d;
		check_ok(seed, cal_derivatives_create(f->model, &d));
		for (probe_node = nodes - 1; probe_node >= 0; probe_node -= nodes / 3 + 1) {
			check_ok(seed, cal_node_derivatives(f->model, &f->state, f->udot, probe_node, d, V, A, Au));
			reference_derivative_of(f, node_motion, 12, 0, 1e-2, want);
			check_close_scaled(seed, "dV/dq", 6 * n, V, want, 1, 1e-10);
			check_close_scaled(seed, "dA/dq", 6 * n, A, want + 6 * n, 1, 1e-10);
			reference_derivative_of(f, node_motion, 12, 1, 1e-2, want);
			check_close_scaled(seed, "dA/du", 6 * n, Au, want + 6 * n, 1, 1e-10);
			check_ok(seed, cal_node_jacobian_rate(f->model, &f->state, probe_node, d, J, Jdot));
			check_close_scaled(seed, "J", 6 * n, J, want, 1, 1e-11);
			CalSpatial bias;
			double sum[6] = {0};
			check_ok(seed, cal_kinematics(f->model, &f->state, NULL, f->work));
			check_ok(seed, cal_node_bias(f->model, f->work, probe_node, &bias));
			for (int i = 0; i < 6 * n; i++)
				sum[i / n] += Jdot[i] * f->state.u[i % n];
			check_close_scaled(seed, "Jdot u", 6, sum, &bias.angular.x, 1, 1e-11);
		}
		cal_derivatives_destroy(d);
		fixture_destroy(f);
	}
}

/* A along the motion: at q + s u. */
static void momentum_matrix_at(Fixture *f, CalDerivatives *d, double s, double *A) {
	double *dq = test_doubles(f->nu + f->nq), *q = dq + f->nu;
	for (int i = 0; i < f->nu; i++)
		dq[i] = s * f->state.u[i];
	cal_config_integrate(f->model, f->state.q, dq, q);
	check_ok(f->seed, cal_momentum_matrix(f->model, &(CalState){.q = q, .u = f->state.u}, d, A, NULL));
	free(dq);
}

static void momentum_matrix_and_its_rate(void **state) {
	static const double weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, options_of(seed), CAL_SOLVER_RECURSIVE);
		const int n = f->nu;
		double *A = fixture_doubles(f, 6 * n), *Adot = fixture_doubles(f, 6 * n), *at = fixture_doubles(f, 6 * n);
		double *want = fixture_doubles(f, 6 * n), h[6] = {0};
		CalDerivatives *d;
		CalMomentum m;
		check_ok(seed, cal_derivatives_create(f->model, &d));
		check_ok(seed, cal_momentum_matrix(f->model, &f->state, d, A, Adot));
		check_ok(seed, cal_momentum(f->model, &f->state, f->work, &m));
		for (int i = 0; i < 6 * n; i++)
			h[i / n] += A[i] * f->state.u[i % n];
		const double expected[] = {m.angular_com.x, m.angular_com.y, m.angular_com.z,
		                           m.linear.x,      m.linear.y,      m.linear.z};
		check_close_scaled(seed, "momentum", 6, h, expected, max_abs(6 * n, A), 1e-12);
		const double step = 1e-2 / fmax(1, max_abs(n, f->state.u));
		for (int p = 1; p <= 4; p++)
			for (int sign = -1; sign <= 1; sign += 2) {
				momentum_matrix_at(f, d, sign * p * step, at);
				for (int i = 0; i < 6 * n; i++)
					want[i] += sign * weight[p - 1] / step * at[i];
			}
		check_close_scaled(seed, "rate", 6 * n, Adot, want, max_abs(6 * n, A), 1e-10);
		cal_derivatives_destroy(d);
		fixture_destroy(f);
	}
}

static void total_energy(void *user, const double *q, const double *u, double *out) {
	Fixture *f = user;
	CalEnergy energy;
	check_ok(f->seed, cal_energy(f->model, &(CalState){.q = (double *)q, .u = (double *)u}, f->work, &energy));
	*out = energy.total;
}

static void energy_has_its_gradient(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, options_of(seed), CAL_SOLVER_RECURSIVE);
		double *dq = fixture_doubles(f, f->nu), *du = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
		CalDerivatives *d;
		CalEnergy energy;
		check_ok(seed, cal_derivatives_create(f->model, &d));
		check_ok(seed, cal_energy_gradient(f->model, &f->state, d, dq, du));
		check_ok(seed, cal_energy(f->model, &f->state, f->work, &energy));
		const double scale = energy.kinetic + fabs(energy.gravity) + energy.elastic;
		reference_derivative_of(f, total_energy, 1, 0, 1e-2, want);
		check_close_scaled(seed, "dE/dq", f->nu, dq, want, scale, 1e-11);
		reference_derivative_of(f, total_energy, 1, 1, 1e-2, want);
		check_close_scaled(seed, "dE/du", f->nu, du, want, scale, 1e-11);
		cal_derivatives_destroy(d);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regressor_gives_inverse_dynamics), cmocka_unit_test(regressor_is_the_derivative_by_mass),
		cmocka_unit_test(node_motions_differentiate),       cmocka_unit_test(momentum_matrix_and_its_rate),
		cmocka_unit_test(energy_has_its_gradient),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
