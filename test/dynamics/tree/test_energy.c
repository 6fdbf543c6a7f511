// SPDX-License-Identifier: Apache-2.0
/*
 * test_energy.c — energies and momenta, the power balance and the momentum balance of free flyers.
 *
 * Rates are sixth-order differences of the library's own energies and momenta along the motion (u, udot) on the
 * configuration manifold, or exact sums over bodies by the reference.
 */
#include "support/random_tree.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 120 };

static void energies_equal_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		CalEnergy got, want = refq_energy(f->ref, f->state.q, f->state.u);
		check_ok(seed, cal_energy(f->model, &f->state, f->work, &got));
		check_close(seed, "kinetic", 1, &got.kinetic, &want.kinetic, 1e-13);
		check_close_scaled(seed, "gravity", 1, &got.gravity, &want.gravity, 10.0 * f->nb, 1e-14);
		check_close(seed, "elastic", 1, &got.elastic, &want.elastic, 1e-13);
		check_close_scaled(seed, "total", 1, &got.total, &want.total, fabs(want.gravity) + want.kinetic + 1, 1e-13);
		fixture_destroy(f);
	}
}

static void kinetic_energy_is_half_u_M_u(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *M = fixture_doubles(f, n * n), sum = 0;
		CalEnergy energy;
		check_ok(seed, cal_mass_matrix(f->model, &f->state, f->work, M));
		check_ok(seed, cal_energy(f->model, &f->state, f->work, &energy));
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				sum += f->state.u[i] * M[i * n + j] * f->state.u[j] / 2;
		check_close(seed, "kinetic", 1, &energy.kinetic, &sum, 1e-12);
		fixture_destroy(f);
	}
}

static void momenta_equal_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		CalMomentum got, want = refq_momentum(f->ref, f->state.q, f->state.u);
		check_ok(seed, cal_momentum(f->model, &f->state, f->work, &got));
		check_close(seed, "mass", 1, &got.mass, &want.mass, 1e-14);
		check_close_scaled(seed, "com", 3, &got.com.x, &want.com.x, 1, 1e-13);
		check_close_scaled(seed, "linear", 3, &got.linear.x, &want.linear.x, want.mass, 1e-13);
		check_close_scaled(seed, "angular_origin", 3, &got.angular_origin.x, &want.angular_origin.x, want.mass, 1e-12);
		check_close_scaled(seed, "angular_com", 3, &got.angular_com.x, &want.angular_com.x, want.mass, 1e-12);
		fixture_destroy(f);
	}
}

/* Energy after time t along the motion q (+) (u t + udot t^2/2), u + udot t. */
static CalEnergy energy_at(Fixture *f, const double *udot, double t) {
	CalState s;
	CalEnergy e;
	double *delta = test_doubles(f->nu);
	check_ok(f->seed, cal_state_create(f->model, &s));
	for (int i = 0; i < f->nu; i++) {
		delta[i] = t * (f->state.u[i] + t * udot[i] / 2);
		s.u[i] = f->state.u[i] + t * udot[i];
	}
	cal_config_integrate(f->model, f->state.q, delta, s.q);
	check_ok(f->seed, cal_energy(f->model, &s, f->work, &e));
	cal_state_destroy(&s);
	free(delta);
	return e;
}

/* Derivative of the total energy: sixth-order central differences. */
static double energy_rate(Fixture *f, const double *udot, double *scale) {
	const double h = 5e-4, c[3] = {45, -9, 1};
	double sum = 0;
	*scale = 0;
	for (int k = 1; k <= 3; k++) {
		CalEnergy a = energy_at(f, udot, k * h), b = energy_at(f, udot, -k * h);
		sum += c[k - 1] * (a.total - b.total);
		*scale = fmax(*scale, a.kinetic + fabs(a.gravity) + a.elastic);
	}
	return sum / (60 * h);
}

/* d/dt (T + V) = u'tau - u'C u + power of wrenches */
static void energy_rate_is_the_power_supplied(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		double *udot = fixture_doubles(f, f->nu), *Q = fixture_doubles(f, f->nu), power = 0, scale, rate;
		for (int i = 0; i < f->nu; i++) /* slow, so that differences converge */
			f->state.u[i] *= 0.3, f->tau[i] *= 0.2;
		f->input.wrench_count = f->input.wrench_count > 1 ? 1 : f->input.wrench_count;
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
		check_ok(seed, cal_external_forces(f->model, &f->state, &f->input, f->work, Q));
		for (int i = 0; i < f->nu; i++) {
			CalDofInfo info;
			check_ok(seed, cal_model_dof(f->model, i, &info));
			power += f->state.u[i] * (f->tau[i] + Q[i] - info.damping * f->state.u[i]);
		}
		rate = energy_rate(f, udot, &scale);
		check_close_scaled(seed, "power", 1, &rate, &power, scale + fabs(power), 1e-9);
		fixture_destroy(f);
	}
}

/*
 * The wrench through the root's joint is the rate of change of momentum less weight and external wrenches;
 * for a system that nothing ties to the ground it vanishes.
 */
static void momentum_rate_of_free_flyers_is_the_external_wrench(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		TreeOptions options = tree_any(seed);
		Rng r = rng_make(seed);
		options.floating = 1;
		RefModel *m = random_tree(&r, options);
		for (int k = 0; k < CAL_JOINT_MAX_DOF; k++)
			m->bodies[0].joint.dof[k] = (CalDofDef){0};
		Fixture *f = fixture_create(m, seed, CAL_SOLVER_RECURSIVE);
		fixture_sample(f, &r);
		double *udot = fixture_doubles(f, f->nu), zero[6] = {0};
		CalSpatial *wrench = (CalSpatial *)fixture_doubles(f, 6 * f->nb);
		check_that(seed, f->ref->bodies[0].joint.type == CAL_JOINT_FREE);
		for (int k = 0; k < 6; k++)
			f->tau[k] = 0;
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
		refq_reactions(f->ref, f->state.q, f->state.u, udot, &f->ref_input, wrench);
		double scale = fmax(1, max_abs(6 * f->nb, &wrench->angular.x)) + fixture_force_scale(f, udot);
		check_close_scaled(seed, "momentum rate", 6, &wrench[0].angular.x, zero, scale, 1e-12);
		fixture_destroy(f);
	}
}

/* Without weight and external wrenches the momenta change by nothing over a short motion. */
static void momentum_of_free_flyers_is_stationary(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 40; seed++) {
		TreeOptions options = {.bodies = 6, .floating = 1, .no_gravity = 1};
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		const double h = 1e-3, c[3] = {45, -9, 1};
		double *udot = fixture_doubles(f, f->nu), *delta = fixture_doubles(f, f->nu), rate[6] = {0}, zero[6] = {0};
		CalState s;
		CalMomentum p;
		for (int i = 0; i < f->nu; i++)
			f->tau[i] = i < 6 ? 0 : 0.1 * f->tau[i];
		f->input.wrench_count = 0;
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
		check_ok(seed, cal_state_create(f->model, &s));
		for (int k = -3; k <= 3; k++) {
			double t = k * h, weight = k == 0 ? 0 : (k > 0 ? 1 : -1) * c[abs(k) - 1] / (60 * h);
			for (int i = 0; i < f->nu; i++) {
				delta[i] = t * (f->state.u[i] + t * udot[i] / 2);
				s.u[i] = f->state.u[i] + t * udot[i];
			}
			cal_config_integrate(f->model, f->state.q, delta, s.q);
			check_ok(seed, cal_momentum(f->model, &s, f->work, &p));
			for (int i = 0; i < 3; i++) {
				rate[i] += weight * (&p.linear.x)[i];
				rate[i + 3] += weight * (&p.angular_origin.x)[i];
			}
		}
		double scale = p.mass * (1 + max_abs(f->nu, udot));
		check_close_scaled(seed, "momentum rate", 6, rate, zero, scale, 1e-9);
		cal_state_destroy(&s);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energies_equal_reference),
		cmocka_unit_test(kinetic_energy_is_half_u_M_u),
		cmocka_unit_test(momenta_equal_reference),
		cmocka_unit_test(energy_rate_is_the_power_supplied),
		cmocka_unit_test(momentum_rate_of_free_flyers_is_the_external_wrench),
		cmocka_unit_test(momentum_of_free_flyers_is_stationary),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
