// SPDX-License-Identifier: Apache-2.0
/*
 * test_hybrid.c — prescribed and locked degrees of freedom: against the reference, the inverse dynamics, and
 * models in which the locked joints are welds.
 */
#include "support/tree_checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 60 };

static void hybrid_equals_reference(CalSolver solver) {
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), solver);
		Rng r = rng_make(seed);
		fixture_prescribe(f, &r);
		double *got = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
		assert_int_equal(refq_forward_dense(f->ref, f->state.q, f->state.u, &f->ref_input, want), 0);
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, got));
		check_close(seed, "udot", f->nu, got, want, 1e-11);
		for (int i = 0; i < f->nu; i++)
			check_that(seed, !f->prescribed[i] || got[i] == f->udot[i]);
		fixture_destroy(f);
	}
}

static void articulated_hybrid_equals_reference(void **state) {
	(void)state;
	hybrid_equals_reference(CAL_SOLVER_RECURSIVE);
}

static void dense_hybrid_equals_reference(void **state) {
	(void)state;
	hybrid_equals_reference(CAL_SOLVER_DENSE);
}

/* force = what inverse dynamics asks for, beyond tau, on prescribed degrees of freedom; 0 on free ones. */
static void prescribed_force_is_that_of_inverse_dynamics(CalSolver solver) {
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), solver);
		Rng r = rng_make(seed);
		fixture_prescribe(f, &r);
		int n = f->nu;
		double *udot = fixture_doubles(f, n), *again = fixture_doubles(f, n), *force = fixture_doubles(f, n);
		double *total = fixture_doubles(f, n), *want = fixture_doubles(f, n);
		check_ok(seed, cal_hybrid_dynamics(f->model, &f->state, &f->input, f->work, udot, force));
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, again));
		assert_memory_equal(udot, again, sizeof *udot * (size_t)n);
		refq_inverse_sums(f->ref, f->state.q, f->state.u, udot, &f->ref_input, want);
		for (int i = 0; i < n; i++) {
			total[i] = f->tau[i] + force[i];
			check_that(seed, f->prescribed[i] || force[i] == 0);
		}
		check_close_scaled(seed, "force", n, total, want, fixture_force_scale(f, udot), 1e-12);
		fixture_destroy(f);
	}
}

static void articulated_prescribed_force_is_that_of_inverse_dynamics(void **state) {
	(void)state;
	prescribed_force_is_that_of_inverse_dynamics(CAL_SOLVER_RECURSIVE);
}

static void dense_prescribed_force_is_that_of_inverse_dynamics(void **state) {
	(void)state;
	prescribed_force_is_that_of_inverse_dynamics(CAL_SOLVER_DENSE);
}

static void described_and_given_prescription_agree(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		TreeOptions options = tree_any(seed);
		options.prescribed = 1;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *a = fixture_doubles(f, n), *b = fixture_doubles(f, n), *want = fixture_doubles(f, n);
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, a));
		refq_forward_dense(f->ref, f->state.q, f->state.u, &f->ref_input, want);
		check_close(seed, "udot", n, a, want, 1e-11);
		for (int i = 0; i < n; i++) {
			CalDofInfo info;
			check_ok(seed, cal_model_dof(f->model, i, &info));
			f->prescribed[i] = info.prescribed != 0;
			check_that(seed, (f->ref->bodies[info.body].joint.dof[info.index].prescribed != 0) == f->prescribed[i]);
		}
		f->input.prescribed = f->prescribed;
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, b));
		check_close(seed, "udot again", n, b, a, 1e-12);
		/* the input overrides the description: all free */
		memset(f->prescribed, 0, (size_t)n);
		f->ref_input.prescribed = f->prescribed;
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, b));
		refq_forward_dense(f->ref, f->state.q, f->state.u, &f->ref_input, want);
		check_close(seed, "udot of all", n, b, want, 1e-11);
		fixture_destroy(f);
	}
}

static void mass_matrix_does_not_depend_on_prescription(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 30; seed++) {
		TreeOptions options = tree_any(seed);
		options.prescribed = 1;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *x = fixture_doubles(f, n), *want = fixture_doubles(f, n);
		reference_mass_solve(f, want);
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_mass_solve(f->model, f->work, f->tau, x));
		check_close(seed, "M^-1 b", n, x, want, 1e-11);
		fixture_destroy(f);
	}
}

static void everything_prescribed_is_inverse_dynamics(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 40; seed++)
		check_all_prescribed(seed, tree_any(seed));
}

/* The placement of a joint's outboard node with the joint held at q: inboard * joint(q) * outboard. */
static CalPlacement held_placement(const RefBody *b, const double *q) {
	RefModel one = {.body_count = 1};
	RefBody body = *b;
	RefMotion motion;
	double zero[CAL_JOINT_MAX_DOF] = {0};
	body.parent = body.parent_node = body.head_node = -1;
	one.bodies = &body;
	ref_model_index(&one);
	refq_kinematics(&one, q, zero, NULL, &motion, NULL);
	/* quaternion of R, from its largest component */
	const CalMat3 *R = &motion.pose.R;
	double t[4] = {R->m[0][0] + R->m[1][1] + R->m[2][2], R->m[0][0], R->m[1][1], R->m[2][2]}, v[4];
	int k = 0;
	for (int i = 1; i < 4; i++)
		k = t[i] > t[k] ? i : k;
	if (k == 0) {
		v[0] = 1 + t[0], v[1] = R->m[2][1] - R->m[1][2], v[2] = R->m[0][2] - R->m[2][0];
		v[3] = R->m[1][0] - R->m[0][1];
	} else {
		int i = k - 1, j = (i + 1) % 3, l = (i + 2) % 3;
		v[1 + i] = 1 + R->m[i][i] - R->m[j][j] - R->m[l][l];
		v[1 + j] = R->m[i][j] + R->m[j][i];
		v[1 + l] = R->m[i][l] + R->m[l][i];
		v[0] = R->m[l][j] - R->m[j][l];
	}
	return (CalPlacement){motion.pose.r, {v[0], v[1], v[2], v[3]}};
}

/* A copy of m in which the joints of held bodies are welds at their present pose. */
static RefModel *weld_held(const RefModel *m, const int *held, const double *q) {
	RefModel *w = ref_model_create();
	w->gravity = m->gravity;
	w->body_count = m->body_count, w->node_count = m->node_count;
	memcpy(w->bodies, m->bodies, sizeof *m->bodies * (size_t)m->body_count);
	memcpy(w->nodes, m->nodes, sizeof *m->nodes * (size_t)m->node_count);
	for (int i = 0; i < m->body_count; i++) {
		RefBody *b = &w->bodies[i];
		if (b->user) {
			b->user = test_alloc(1, sizeof *b->user);
			*b->user = *m->bodies[i].user;
			b->joint.ops_data = b->user;
		}
		if (held[i]) {
			CalPlacement inboard = held_placement(&m->bodies[i], q + b->q);
			b->joint = (CalJointDef){.type = CAL_JOINT_WELD, .inboard = inboard};
		}
	}
	ref_model_index(w);
	return w;
}

static void locked_joints_equal_welds(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		Rng r = rng_make(seed);
		int *held = test_alloc((size_t)f->nb, sizeof *held), k = 0;
		f->input.udot = NULL; /* locked */
		for (int i = 0; i < f->nb; i++) {
			const RefBody *b = &f->ref->bodies[i];
			held[i] = b->nu > 0 && rng_chance(&r, 0.4);
			for (int j = 0; held[i] && j < b->nu; j++)
				f->prescribed[b->u + j] = 1, f->state.u[b->u + j] = 0;
		}
		f->input.prescribed = f->prescribed;
		Fixture *w = fixture_create(weld_held(f->ref, held, f->state.q), 0, CAL_SOLVER_RECURSIVE);
		double *udot = fixture_doubles(f, f->nu), *kept = fixture_doubles(f, f->nu);
		double *tau = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
		CalWrench wrenches[4];
		CalInput input = {.tau = tau, .wrenches = wrenches, .wrench_count = f->input.wrench_count};
		for (int i = 0; i < input.wrench_count; i++) {
			wrenches[i] = f->ref_wrenches[i];
			wrenches[i].node = w->node[wrenches[i].node];
		}
		for (int i = 0; i < f->nb; i++) { /* the welded model may have another order */
			const RefBody *b = &f->ref->bodies[i], *c = &w->ref->bodies[w->body_of_ref[i]];
			memcpy(w->state.q + c->q, f->state.q + b->q, sizeof(double) * (size_t)c->nq);
			memcpy(w->state.u + c->u, f->state.u + b->u, sizeof(double) * (size_t)c->nu);
			memcpy(tau + c->u, f->tau + b->u, sizeof(double) * (size_t)c->nu);
		}
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
		check_ok(seed, cal_forward_dynamics(w->model, &w->state, &input, w->work, want));
		for (int i = 0; i < f->nb; i++) {
			const RefBody *b = &f->ref->bodies[i], *c = &w->ref->bodies[w->body_of_ref[i]];
			for (int j = 0; j < c->nu; j++, k++)
				kept[c->u + j] = udot[b->u + j];
		}
		check_that(seed, k == w->nu);
		check_close(seed, "udot", w->nu, kept, want, 1e-11);
		free(held);
		fixture_destroy(w);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(articulated_hybrid_equals_reference),
		cmocka_unit_test(dense_hybrid_equals_reference),
		cmocka_unit_test(articulated_prescribed_force_is_that_of_inverse_dynamics),
		cmocka_unit_test(dense_prescribed_force_is_that_of_inverse_dynamics),
		cmocka_unit_test(described_and_given_prescription_agree),
		cmocka_unit_test(mass_matrix_does_not_depend_on_prescription),
		cmocka_unit_test(everything_prescribed_is_inverse_dynamics),
		cmocka_unit_test(locked_joints_equal_welds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
