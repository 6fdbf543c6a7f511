// SPDX-License-Identifier: Apache-2.0
/*
 * test_flexible_calls.c — flexible bodies keep the promises of every call: the same bits for the same input, no
 * allocation at run time, modal coordinates after those of the joint.
 */
#include "support/interpose.h"
#include "support/random_tree.h"

#include <calder/calder.h>

#include <math.h>
#include <string.h>

typedef struct Results {
	double *udot, *force, *tau, *M, *Minv, *C, *scratch;
	CalEnergy energy;
	CalMomentum momentum;
	CalSpatial wrench, motion;
	double logdet;
} Results;

static Results results_create(Fixture *f) {
	int n = f->nu;
	return (Results){.udot = fixture_doubles(f, n),
	                 .force = fixture_doubles(f, n),
	                 .tau = fixture_doubles(f, n),
	                 .M = fixture_doubles(f, n * n + 6 * n),
	                 .Minv = fixture_doubles(f, n * n),
	                 .C = fixture_doubles(f, 36),
	                 .scratch = fixture_doubles(f, n)};
}

/* Every algorithm once; what is there twice must have the same bits. */
static int evaluate(Fixture *f, const CalState *at, CalWork *work, Results *x) {
	const CalModel *m = f->model;
	const int node = f->node[0];
	int bad = cal_hybrid_dynamics(m, at, &f->input, work, x->udot, x->force);
	bad |= cal_inverse_dynamics(m, at, f->udot, &f->input, work, x->tau);
	bad |= cal_bias_forces(m, at, work, x->scratch);
	bad |= cal_gravity_forces(m, at, work, x->scratch);
	bad |= cal_elastic_forces(m, at, work, x->scratch);
	bad |= cal_external_forces(m, at, &f->input, work, x->scratch);
	bad |= cal_reactions(m, at, x->udot, &f->input, work);
	bad |= cal_joint_reaction(m, work, 0, &x->wrench);
	bad |= cal_energy(m, at, work, &x->energy);
	bad |= cal_momentum(m, at, work, &x->momentum);
	bad |= cal_kinematics(m, at, x->udot, work);
	bad |= cal_node_acceleration(m, work, node, &x->motion);
	bad |= cal_node_jacobian(m, work, node, x->M + f->nu * f->nu);
	bad |= cal_mass_matrix(m, at, work, x->M);
	bad |= cal_mass_trace(m, at, work, &x->logdet);
	bad |= cal_mass_factor(m, at, work);
	bad |= cal_mass_solve(m, work, f->tau, x->scratch);
	bad |= cal_mass_inverse(m, work, x->Minv);
	bad |= cal_mass_logdet(m, work, &x->logdet);
	return bad | cal_node_compliance(m, work, &node, 1, x->scratch, x->C);
}

static void check_same_bits(const Fixture *f, const Results *a, const Results *b) {
	const size_t n = (size_t)f->nu;
	assert_memory_equal(a->udot, b->udot, n * sizeof(double));
	assert_memory_equal(a->force, b->force, n * sizeof(double));
	assert_memory_equal(a->tau, b->tau, n * sizeof(double));
	assert_memory_equal(a->M, b->M, (n * n + 6 * n) * sizeof(double));
	assert_memory_equal(a->Minv, b->Minv, n * n * sizeof(double));
	assert_memory_equal(a->C, b->C, 36 * sizeof(double));
	assert_memory_equal(&a->energy, &b->energy, sizeof a->energy);
	assert_memory_equal(&a->momentum, &b->momentum, sizeof a->momentum);
	assert_memory_equal(&a->wrench, &b->wrench, sizeof a->wrench);
	assert_memory_equal(&a->motion, &b->motion, sizeof a->motion);
	assert_memory_equal(&a->logdet, &b->logdet, sizeof a->logdet);
}

static void the_same_input_gives_the_same_bits(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 40; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), seed % 2 ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE);
		Results a = results_create(f), b = results_create(f), other = results_create(f);
		Rng r = rng_make(seed + 5);
		CalState elsewhere;
		CalWork *fresh;
		fixture_prescribe(f, &r);
		check_that(seed, evaluate(f, &f->state, f->work, &a) == 0);
		/* the workspace is used at another state in between */
		check_ok(seed, cal_state_create(f->model, &elsewhere));
		rng_fill(&r, 0.3, f->nu, other.scratch);
		cal_config_integrate(f->model, f->state.q, other.scratch, elsewhere.q);
		rng_fill(&r, 5, f->nu, elsewhere.u);
		(void)evaluate(f, &elsewhere, f->work, &other);
		check_that(seed, evaluate(f, &f->state, f->work, &b) == 0);
		check_same_bits(f, &a, &b);
		check_ok(seed, cal_work_create(f->model, &fresh));
		check_that(seed, evaluate(f, &f->state, fresh, &b) == 0);
		check_same_bits(f, &a, &b);
		cal_work_destroy(fresh);
		cal_state_destroy(&elsewhere);
		fixture_destroy(f);
	}
}

static void run_time_calls_do_not_allocate(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	for (uint64_t seed = test_seed(); seed < test_seed() + 40; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), seed % 2 ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE);
		Results x = results_create(f);
		const CalIntegratorOptions options = {.method = CAL_METHOD_RK4, .step = 1e-4};
		CalIntegrator *integrator;
		check_ok(seed, cal_integrator_create(f->model, f->work, &options, &integrator));
		interpose_begin(0);
		int bad = evaluate(f, &f->state, f->work, &x);
		bad |= cal_integrator_step(integrator, &f->state, 1e-4);
		const Interpose seen = interpose_end();
		check_that(seed, bad == 0);
		check_that(seed, seen.calls == 0);
		cal_integrator_destroy(integrator);
		fixture_destroy(f);
	}
}

/* Modal coordinates follow those of the joint, are zero in the neutral state and add like lengths. */
static void modal_coordinates_follow_the_joint(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 30; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *q = fixture_doubles(f, f->nq), *dq = fixture_doubles(f, n), *back = fixture_doubles(f, n);
		double *want = fixture_doubles(f, f->nq), *rate = fixture_doubles(f, n), *want_rate = fixture_doubles(f, n);
		Rng r = rng_make(seed);
		cal_config_neutral(f->model, q);
		for (int i = 0; i < f->nb; i++) {
			const RefBody *b = &f->ref->bodies[i];
			for (int k = 0; k < b->modes; k++)
				check_that(seed, q[b->q + b->nq + k] == 0);
		}
		rng_fill(&r, 0.5, n, dq);
		cal_config_integrate(f->model, f->state.q, dq, q);
		refq_config_integrate(f->ref, f->state.q, dq, want);
		check_close(seed, "q + dq", f->nq, q, want, 1e-14);
		cal_config_difference(f->model, f->state.q, q, back);
		check_close(seed, "q1 - q0", n, back, dq, 1e-13);
		cal_config_rate(f->model, dq, f->state.u, rate);
		refq_config_rate(f->ref, dq, f->state.u, want_rate);
		check_close(seed, "rate", n, rate, want_rate, 1e-13);
		check_ok(seed, cal_config_normalize(f->model, q));
		check_close(seed, "normalized q", f->nq, q, want, 1e-14);
		fixture_destroy(f);
	}
}

/* A call that meets what is not a number leaves nothing of it for the next. */
static void not_a_number_does_not_stay(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 60; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), CAL_SOLVER_RECURSIVE);
		double *bad = fixture_doubles(f, f->nu), *x = fixture_doubles(f, f->nu), *y = fixture_doubles(f, f->nu);
		for (int i = 0; i < f->nu; i++)
			bad[i] = NAN;
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, x));
		check_status(seed, cal_forward_dynamics(f->model, &f->state, &(CalInput){.tau = bad}, f->work, y),
		             CAL_NOT_FINITE);
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, y));
		check_that(seed, memcmp(x, y, sizeof *x * (size_t)f->nu) == 0);
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_mass_solve(f->model, f->work, f->tau, x));
		check_ok(seed, cal_mass_solve(f->model, f->work, bad, y));
		check_ok(seed, cal_mass_solve(f->model, f->work, f->tau, y));
		check_that(seed, memcmp(x, y, sizeof *x * (size_t)f->nu) == 0);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_input_gives_the_same_bits),
		cmocka_unit_test(run_time_calls_do_not_allocate),
		cmocka_unit_test(modal_coordinates_follow_the_joint),
		cmocka_unit_test(not_a_number_does_not_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
