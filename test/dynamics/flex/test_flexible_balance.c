// SPDX-License-Identifier: Apache-2.0
/*
 * test_flexible_balance.c — energies, momenta and reactions of random trees with flexible bodies: against the quad
 * reference, as balances of power and momentum, and conserved over time by free flyers.
 */
#include "support/random_tree.h"

#include <calder/integrate.h>

#include <math.h>
#include <stdlib.h>

enum { CASES = 60 };

static void energies_equal_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), CAL_SOLVER_RECURSIVE);
		CalEnergy got, want = refq_energy(f->ref, f->state.q, f->state.u);
		check_ok(seed, cal_energy(f->model, &f->state, f->work, &got));
		check_close(seed, "kinetic", 1, &got.kinetic, &want.kinetic, 1e-13);
		check_close_scaled(seed, "gravity", 1, &got.gravity, &want.gravity, 30.0 * f->nb, 1e-13);
		check_close(seed, "elastic", 1, &got.elastic, &want.elastic, 1e-13);
		check_close_scaled(seed, "total", 1, &got.total, &want.total, fabs(want.gravity) + want.kinetic + 1, 1e-13);
		fixture_destroy(f);
	}
}

static void momenta_equal_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), CAL_SOLVER_RECURSIVE);
		CalMomentum got, want = refq_momentum(f->ref, f->state.q, f->state.u);
		check_ok(seed, cal_momentum(f->model, &f->state, f->work, &got));
		check_close(seed, "mass", 1, &got.mass, &want.mass, 1e-14);
		check_close_scaled(seed, "com", 3, &got.com.x, &want.com.x, 1, 1e-13);
		check_close_scaled(seed, "linear", 3, &got.linear.x, &want.linear.x, want.mass, 1e-12);
		check_close_scaled(seed, "angular_origin", 3, &got.angular_origin.x, &want.angular_origin.x, want.mass, 1e-12);
		check_close_scaled(seed, "angular_com", 3, &got.angular_com.x, &want.angular_com.x, want.mass, 1e-12);
		fixture_destroy(f);
	}
}

static void reactions_equal_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), CAL_SOLVER_RECURSIVE);
		CalSpatial *want = (CalSpatial *)fixture_doubles(f, 6 * f->nb);
		refq_reactions(f->ref, f->state.q, f->state.u, f->udot, &f->ref_input, want);
		const double scale = max_abs(6 * f->nb, &want->angular.x);
		check_ok(seed, cal_reactions(f->model, &f->state, f->udot, &f->input, f->work));
		for (int i = 0; i < f->nb; i++) {
			CalSpatial got;
			check_ok(seed, cal_joint_reaction(f->model, f->work, i, &got));
			check_close_scaled(seed, "wrench", 6, &got.angular.x, &want[i].angular.x, scale, 1e-12);
		}
		fixture_destroy(f);
	}
}

/* ---- balances -------------------------------------------------------------------------------- */

/* The state after time t along the motion q (+) (u t + udot t^2/2), u + udot t. */
static void moved_state(const Fixture *f, const double *udot, double t, CalState *s) {
	double *delta = test_doubles(f->nu);
	for (int i = 0; i < f->nu; i++) {
		delta[i] = t * (f->state.u[i] + t * udot[i] / 2);
		s->u[i] = f->state.u[i] + t * udot[i];
	}
	cal_config_integrate(f->model, f->state.q, delta, s->q);
	free(delta);
}

/* Derivatives of total energy, linear and angular momentum along the motion: sixth-order differences. */
static void balance_rates(Fixture *f, const double *udot, double rate[7], double scale[7]) {
	const double h = 2e-4, c[3] = {45, -9, 1};
	CalState s;
	check_ok(f->seed, cal_state_create(f->model, &s));
	for (int k = -3; k <= 3; k++) {
		const double weight = k == 0 ? 0 : (k > 0 ? 1 : -1) * c[abs(k) - 1] / (60 * h);
		CalEnergy e;
		CalMomentum p;
		moved_state(f, udot, k * h, &s);
		check_ok(f->seed, cal_energy(f->model, &s, f->work, &e));
		check_ok(f->seed, cal_momentum(f->model, &s, f->work, &p));
		const double x[7] = {
			e.total, p.linear.x, p.linear.y, p.linear.z, p.angular_origin.x, p.angular_origin.y, p.angular_origin.z};
		for (int i = 0; i < 7; i++) {
			rate[i] = (k == -3 ? 0 : rate[i]) + weight * x[i];
			scale[i] = fmax(k == -3 ? 0 : scale[i], fabs(i ? x[i] : e.kinetic) + fabs(e.gravity) + e.elastic);
		}
	}
	cal_state_destroy(&s);
}

/* d/dt (T + V) = u'(tau + Q_external) - dissipation, the last by the difference of elastic forces with u and at rest */
static void energy_rate_is_the_power_supplied(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		TreeOptions options = tree_flexible(seed);
		options.rate = 0.5;
		options.geometric = seed % 3 == 0;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *udot = fixture_doubles(f, n), *Q = fixture_doubles(f, n), *rest = fixture_doubles(f, n);
		double *damped = fixture_doubles(f, n), *zero = fixture_doubles(f, n), power = 0, rate[7], scale[7];
		for (int i = 0; i < f->nb; i++) { /* slow, so that differences converge */
			const RefBody *b = &f->ref->bodies[i];
			for (int k = 0; k < b->modes; k++)
				f->state.q[b->q + b->nq + k] *= 0.2;
		}
		for (int i = 0; i < n; i++)
			f->tau[i] *= 0.2;
		f->input.wrench_count = f->input.wrench_count > 1 ? 1 : f->input.wrench_count;
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
		check_ok(seed, cal_external_forces(f->model, &f->state, &f->input, f->work, Q));
		refq_elastic_forces(f->ref, f->state.q, zero, rest);
		refq_elastic_forces(f->ref, f->state.q, f->state.u, damped);
		for (int i = 0; i < n; i++)
			power += f->state.u[i] * (f->tau[i] + Q[i] + damped[i] - rest[i]);
		balance_rates(f, udot, rate, scale);
		check_close_scaled(seed, "power", 1, &rate[0], &power, scale[0] + fabs(power), 1e-8);
		fixture_destroy(f);
	}
}

/* Without weight and wrenches, nothing that acts inside changes the momenta of what floats. */
static void momentum_of_free_flyers_is_stationary(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		TreeOptions options = {
			.bodies = 1 + (int)(seed % 5), .floating = 1, .no_gravity = 1, .flexible = 0.7, .rate = 1};
		options.geometric = seed % 3 == 0;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		const RefBody *root = &f->ref->bodies[0];
		double *udot = fixture_doubles(f, f->nu), rate[7], scale[7], zero[7] = {0};
		check_that(seed, root->joint.type == CAL_JOINT_FREE && root->u == 0);
		for (int i = 0; i < 6; i++)
			f->tau[i] = 0;
		f->input.wrench_count = f->ref_input.wrench_count = 0;
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
		balance_rates(f, udot, rate, scale);
		const double size = refq_momentum(f->ref, f->state.q, f->state.u).mass * (1 + max_abs(f->nu, udot));
		check_close_scaled(seed, "momentum rate", 6, rate + 1, zero, size, 1e-8);
		/* exactly: the joint to the ground transmits nothing */
		CalSpatial wrench;
		check_ok(seed, cal_reactions(f->model, &f->state, udot, &f->input, f->work));
		check_ok(seed, cal_joint_reaction(f->model, f->work, 0, &wrench));
		check_close_scaled(seed, "wrench of the root", 6, &wrench.angular.x, zero, fixture_force_scale(f, udot), 1e-11);
		fixture_destroy(f);
	}
}

/* ---- over time -------------------------------------------------------------------------------- */

/* A free root without damping: deflected, spinning, left alone. */
static Fixture *free_flyer(uint64_t seed, int bodies) {
	TreeOptions options = {.bodies = bodies,
	                       .joints = 1u << CAL_JOINT_REVOLUTE | 1u << CAL_JOINT_SPHERICAL | 1u << CAL_JOINT_WELD,
	                       .floating = 1,
	                       .no_gravity = 1,
	                       .flexible = 0.8,
	                       .max_modes = 4,
	                       .conservative = 1,
	                       .geometric = seed % 2 == 0,
	                       .rate = 0.6};
	Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
	for (int i = 0; i < f->nb; i++) {
		const RefBody *b = &f->ref->bodies[i];
		for (int k = 0; k < b->modes; k++)
			f->state.q[b->q + b->nq + k] *= 0.2;
	}
	return f;
}

static void free_flyers_conserve_energy_and_momentum(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++) {
		Fixture *f = free_flyer(seed, 1 + (int)(seed % 4));
		const CalIntegratorOptions options = {.method = CAL_METHOD_DOPRI5, .rtol = 1e-12, .atol = 1e-13};
		CalIntegrator *integrator;
		CalEnergy e0, e;
		CalMomentum p0, p;
		check_ok(seed, cal_energy(f->model, &f->state, f->work, &e0));
		check_ok(seed, cal_momentum(f->model, &f->state, f->work, &p0));
		check_ok(seed, cal_integrator_create(f->model, f->work, &options, &integrator));
		check_ok(seed, cal_integrator_advance(integrator, &f->state, 5));
		check_ok(seed, cal_energy(f->model, &f->state, f->work, &e));
		check_ok(seed, cal_momentum(f->model, &f->state, f->work, &p));
		check_close(seed, "total energy", 1, &e.total, &e0.total, 1e-9);
		check_close(seed, "linear momentum", 3, &p.linear.x, &p0.linear.x, 1e-10);
		check_close(seed, "angular momentum", 3, &p.angular_origin.x, &p0.angular_origin.x, 1e-10);
		cal_integrator_destroy(integrator);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energies_equal_reference),
		cmocka_unit_test(momenta_equal_reference),
		cmocka_unit_test(reactions_equal_reference),
		cmocka_unit_test(energy_rate_is_the_power_supplied),
		cmocka_unit_test(momentum_of_free_flyers_is_stationary),
		cmocka_unit_test(free_flyers_conserve_energy_and_momentum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
