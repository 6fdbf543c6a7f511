// SPDX-License-Identifier: Apache-2.0
/*
 * test_config.c — the configuration manifold: integrate, difference, rate, neutral, normalize.
 */
#include "support/random_tree.h"

#include <math.h>
#include <string.h>

enum { CASES = 100 };

static const double PI = 3.14159265358979323846;

/* Quaternions are compared up to sign: each block is turned to the sign of the other. */
static void align_signs(const RefModel *m, double *q, const double *like) {
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		for (int k = 0, at = b->q; k < b->elements.count; at += ref_element_nq(&b->elements.element[k]), k++) {
			double dot = 0;
			if (b->elements.element[k].kind == REF_CAM)
				continue;
			for (int j = 0; j < 4; j++)
				dot += q[at + j] * like[at + j];
			for (int j = 0; dot < 0 && j < 4; j++)
				q[at + j] = -q[at + j];
		}
	}
}

/* Scales the rotation vectors of dq to at most `angle`. */
static void limit_rotations(const RefModel *m, double *dq, double angle) {
	for (int i = 0; i < m->body_count; i++) {
		const RefBody *b = &m->bodies[i];
		for (int k = 0, at = b->u; k < b->elements.count; at += ref_element_nu(&b->elements.element[k]), k++) {
			if (b->elements.element[k].kind == REF_CAM)
				continue;
			double n = sqrt(dq[at] * dq[at] + dq[at + 1] * dq[at + 1] + dq[at + 2] * dq[at + 2]);
			for (int j = 0; j < 3; j++)
				dq[at + j] *= angle / n;
		}
	}
}

static const unsigned with_rotations = 1u << CAL_JOINT_SPHERICAL | 1u << CAL_JOINT_FREE | 1u << CAL_JOINT_SEQUENCE |
                                       1u << CAL_JOINT_USER | 1u << CAL_JOINT_REVOLUTE;

static Fixture *sample(uint64_t seed) {
	return fixture_random(seed, (TreeOptions){.bodies = 5, .joints = with_rotations}, CAL_SOLVER_RECURSIVE);
}

static void integrate_equals_reference(void **state) {
	(void)state;
	const double sizes[] = {1, 10, 1e-3, 1e-9, 0};
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = sample(seed);
		double *got = fixture_doubles(f, f->nq), *want = fixture_doubles(f, f->nq), *dq = fixture_doubles(f, f->nu);
		for (int k = 0; k < 5; k++) {
			for (int i = 0; i < f->nu; i++)
				dq[i] = sizes[k] * f->udot[i];
			refq_config_integrate(f->ref, f->state.q, dq, want);
			cal_config_integrate(f->model, f->state.q, dq, got);
			align_signs(f->ref, want, got);
			check_close_scaled(seed, "q + dq", f->nq, got, want, 1, 1e-14);
			memcpy(want, f->state.q, sizeof *want * (size_t)f->nq);
			cal_config_integrate(f->model, want, dq, want); /* in place */
			assert_memory_equal(want, got, sizeof *got * (size_t)f->nq);
		}
		fixture_destroy(f);
	}
}

static void difference_inverts_integrate(void **state) {
	(void)state;
	const double angles[] = {0.5, 3, PI - 1e-3, PI - 1e-7, 1e-3, 1e-8, 1e-14};
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = sample(seed);
		double *q = fixture_doubles(f, f->nq), *dq = fixture_doubles(f, f->nu), *got = fixture_doubles(f, f->nu);
		for (int k = 0; k < 7; k++) {
			memcpy(dq, f->udot, sizeof *dq * (size_t)f->nu);
			limit_rotations(f->ref, dq, angles[k]);
			cal_config_integrate(f->model, f->state.q, dq, q);
			cal_config_difference(f->model, f->state.q, q, got);
			check_close_scaled(seed, "dq", f->nu, got, dq, 1, 1e-14 * 3);
		}
		fixture_destroy(f);
	}
}

static void integrate_inverts_difference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = sample(seed);
		Rng r = rng_make(seed + 5);
		double *q0 = fixture_doubles(f, f->nq), *q1 = fixture_doubles(f, f->nq), *dq = fixture_doubles(f, f->nu);
		double *want = fixture_doubles(f, f->nu);
		memcpy(q0, f->state.q, sizeof *q0 * (size_t)f->nq);
		fixture_sample(f, &r); /* another configuration, any rotation away */
		cal_config_difference(f->model, q0, f->state.q, dq);
		refq_config_difference(f->ref, q0, f->state.q, want);
		check_close_scaled(seed, "difference", f->nu, dq, want, 1, 1e-13);
		cal_config_integrate(f->model, q0, dq, q1);
		align_signs(f->ref, q1, f->state.q);
		check_close_scaled(seed, "q1", f->nq, q1, f->state.q, 1, 1e-14);
		fixture_destroy(f);
	}
}

/* The two quaternions of one rotation differ by nothing. */
static void difference_takes_the_shorter_rotation(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		Fixture *f = sample(seed);
		double *q = fixture_doubles(f, f->nq), *dq = fixture_doubles(f, f->nu), *zero = fixture_doubles(f, f->nu);
		memcpy(q, f->state.q, sizeof *q * (size_t)f->nq);
		for (int i = 0; i < f->nb; i++) {
			const RefBody *b = &f->ref->bodies[i];
			for (int k = 0, at = b->q; k < b->elements.count; at += ref_element_nq(&b->elements.element[k]), k++)
				for (int j = 0; b->elements.element[k].kind != REF_CAM && j < 4; j++)
					q[at + j] = -q[at + j];
		}
		cal_config_difference(f->model, f->state.q, q, dq);
		check_close_scaled(seed, "dq", f->nu, dq, zero, 1, 1e-15);
		fixture_destroy(f);
	}
}

/* rate(delta, u) = d/dt of difference(q0, q(t)) with q(0) = q0 + delta and speeds u. */
static void rate_is_the_derivative_of_the_displacement(void **state) {
	(void)state;
	const double angles[] = {2.5, 1, 1e-2, 1e-5, 1e-9};
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = sample(seed);
		double *delta = fixture_doubles(f, f->nu), *got = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
		double *q1 = fixture_doubles(f, f->nq), *q2 = fixture_doubles(f, f->nq), *du = fixture_doubles(f, f->nu);
		double *moved = fixture_doubles(f, f->nu);
		const double h = 1e-2, c[3] = {45, -9, 1};
		for (int k = 0; k < 5; k++) {
			memcpy(delta, f->udot, sizeof *delta * (size_t)f->nu);
			limit_rotations(f->ref, delta, angles[k]);
			cal_config_rate(f->model, delta, f->state.u, got);
			refq_config_rate(f->ref, delta, f->state.u, want);
			check_close(seed, "rate", f->nu, got, want, 1e-14);
			/* and by differences of the library's own functions */
			memset(want, 0, sizeof *want * (size_t)f->nu);
			cal_config_integrate(f->model, f->state.q, delta, q1);
			for (int s = -3; s <= 3; s++) {
				for (int i = 0; i < f->nu; i++)
					du[i] = s * h * f->state.u[i];
				cal_config_integrate(f->model, q1, du, q2);
				cal_config_difference(f->model, f->state.q, q2, moved);
				for (int i = 0; s != 0 && i < f->nu; i++)
					want[i] += (s > 0 ? 1 : -1) * c[(s > 0 ? s : -s) - 1] * moved[i] / (60 * h);
			}
			check_close(seed, "numerical rate", f->nu, got, want, 1e-9);
		}
		fixture_destroy(f);
	}
}

/* The speed of a node while the configuration is integrated is that of the speeds. */
static void integrating_moves_nodes_with_their_velocity(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = sample(seed);
		double *dq = fixture_doubles(f, f->nu), rate[3] = {0};
		const double h = 2e-3, c[3] = {45, -9, 1};
		int node = f->node[f->ref->node_count - 1];
		CalState s;
		CalSpatial v;
		CalPose pose;
		check_ok(seed, cal_state_create(f->model, &s));
		for (int k = -3; k <= 3; k++) {
			for (int i = 0; i < f->nu; i++)
				dq[i] = k * h * f->state.u[i];
			cal_config_integrate(f->model, f->state.q, dq, s.q);
			check_ok(seed, cal_kinematics(f->model, &s, NULL, f->work));
			check_ok(seed, cal_node_pose(f->model, f->work, node, &pose));
			for (int i = 0; k != 0 && i < 3; i++)
				rate[i] += (k > 0 ? 1 : -1) * c[(k > 0 ? k : -k) - 1] * (&pose.r.x)[i] / (60 * h);
		}
		check_ok(seed, cal_kinematics(f->model, &f->state, NULL, f->work));
		check_ok(seed, cal_node_velocity(f->model, f->work, node, &v));
		check_close_scaled(seed, "velocity", 3, rate, &v.linear.x, 1, 1e-9);
		cal_state_destroy(&s);
		fixture_destroy(f);
	}
}

static void neutral_is_zero_and_identity(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		Fixture *f = sample(seed);
		double *q = fixture_doubles(f, f->nq), *want = fixture_doubles(f, f->nq);
		for (int i = 0; i < f->nb; i++) {
			const RefBody *b = &f->ref->bodies[i];
			for (int k = 0, at = b->q; k < b->elements.count; at += ref_element_nq(&b->elements.element[k]), k++)
				want[at] = b->elements.element[k].kind == REF_CAM ? 0 : 1;
		}
		cal_config_neutral(f->model, q);
		check_close_scaled(seed, "neutral", f->nq, q, want, 1, 0);
		CalState s;
		check_ok(seed, cal_state_create(f->model, &s));
		check_close_scaled(seed, "new state", f->nq, s.q, want, 1, 0);
		check_that(seed, s.t == 0 && max_abs(f->nu, s.u) == 0);
		cal_state_destroy(&s);
		fixture_destroy(f);
	}
}

static void integration_keeps_quaternions_unit(void **state) {
	(void)state;
	Fixture *f = sample(test_seed());
	double *q = fixture_doubles(f, f->nq), *n = fixture_doubles(f, f->nq);
	memcpy(q, f->state.q, sizeof *q * (size_t)f->nq);
	for (int k = 0; k < 100000; k++)
		cal_config_integrate(f->model, q, f->udot, q);
	for (int i = 0; i < f->nb; i++)
		for (int k = 0, at = f->ref->bodies[i].q; k < f->ref->bodies[i].elements.count;
		     at += ref_element_nq(&f->ref->bodies[i].elements.element[k]), k++) {
			if (f->ref->bodies[i].elements.element[k].kind != REF_BALL)
				continue;
			for (int j = 0; j < 4; j++)
				n[at] += q[at + j] * q[at + j];
			check_that(f->seed, fabs(n[at] - 1) < 1e-13);
		}
	fixture_destroy(f);
}

static void normalize_makes_quaternions_unit_or_refuses(void **state) {
	(void)state;
	RefModel *m = ref_model_create();
	Rng r = rng_make(test_seed());
	ref_model_add_body(m, -1, CAL_JOINT_FREE);
	rng_mass(&r, 1, &m->bodies[0].mass, &m->bodies[0].com, &m->bodies[0].inertia);
	ref_model_index(m);
	Fixture *f = fixture_create(m, 0, CAL_SOLVER_RECURSIVE);
	double q[7] = {1, 2, 3, 0, 3, 0, -4}, want[7] = {1, 2, 3, 0, 0.6, 0, -0.8};
	check_ok(0, cal_config_normalize(f->model, q));
	check_close(0, "q", 7, q, want, 1e-15);
	double zero[7] = {1, 2, 3, 0, 0, 0, 0}, kept[7];
	memcpy(kept, zero, sizeof zero);
	check_status(0, cal_config_normalize(f->model, zero), CAL_NOT_FINITE);
	assert_memory_equal(zero, kept, sizeof zero);
	double bad[7] = {1, 2, 3, 1, NAN, 0, 0};
	memcpy(kept, bad, sizeof bad);
	check_status(0, cal_config_normalize(f->model, bad), CAL_NOT_FINITE);
	assert_memory_equal(bad, kept, sizeof bad);
	fixture_destroy(f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integrate_equals_reference),
		cmocka_unit_test(difference_inverts_integrate),
		cmocka_unit_test(integrate_inverts_difference),
		cmocka_unit_test(difference_takes_the_shorter_rotation),
		cmocka_unit_test(rate_is_the_derivative_of_the_displacement),
		cmocka_unit_test(integrating_moves_nodes_with_their_velocity),
		cmocka_unit_test(neutral_is_zero_and_identity),
		cmocka_unit_test(integration_keeps_quaternions_unit),
		cmocka_unit_test(normalize_makes_quaternions_unit_or_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
