// SPDX-License-Identifier: Apache-2.0
/*
 * test_reactions.c — wrenches through joints: against the reference, body by body, and by their work.
 */
#include "support/random_tree.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 120 };

static CalSpatial *library_reactions(Fixture *f, const double *udot) {
	CalSpatial *w = (CalSpatial *)fixture_doubles(f, 6 * f->nb);
	check_ok(f->seed, cal_reactions(f->model, &f->state, udot, &f->input, f->work));
	for (int i = 0; i < f->nb; i++)
		check_ok(f->seed, cal_joint_reaction(f->model, f->work, i, &w[i]));
	return w;
}

static void reactions_equal_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		CalSpatial *want = (CalSpatial *)fixture_doubles(f, 6 * f->nb);
		refq_reactions(f->ref, f->state.q, f->state.u, f->udot, &f->ref_input, want);
		CalSpatial *got = library_reactions(f, f->udot);
		check_close(seed, "wrenches", 6 * f->nb, &got->angular.x, &want->angular.x, 1e-12);
		fixture_destroy(f);
	}
}

/* Welded chains: every second body is carried by a weld. */
static void welds_carry_their_load(void **state) {
	(void)state;
	TreeOptions options = {.bodies = 8, .joints = 1u << CAL_JOINT_WELD | 1u << CAL_JOINT_REVOLUTE, .massless = 1};
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		double *udot = fixture_doubles(f, f->nu);
		CalSpatial *want = (CalSpatial *)fixture_doubles(f, 6 * f->nb);
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
		refq_reactions(f->ref, f->state.q, f->state.u, udot, &f->ref_input, want);
		CalSpatial *got = library_reactions(f, udot);
		check_close(seed, "wrenches", 6 * f->nb, &got->angular.x, &want->angular.x, 1e-12);
		fixture_destroy(f);
	}
}

static CalVec3 sum3(CalVec3 a, double s, CalVec3 b) { return (CalVec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }

static CalVec3 cross3(CalVec3 a, CalVec3 b) {
	return (CalVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static CalVec3 mul3(const CalMat3 *A, CalVec3 x, int transposed) {
	double y[3] = {0};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			y[i] += (transposed ? A->m[j][i] : A->m[i][j]) * (&x.x)[j];
	return (CalVec3){y[0], y[1], y[2]};
}

static CalVec3 inertia_mul(const RefBody *b, const CalMat3 *R, CalVec3 w) {
	return mul3(R, mul3(&b->inertia, mul3(R, w, 1), 0), 0);
}

/* Wrench at the body's origin that one body alone needs to move as it does. */
static CalSpatial needed_wrench(const RefBody *b, const RefMotion *m, CalVec3 gravity) {
	CalVec3 c = mul3(&m->pose.R, b->com, 0), w = m->velocity.angular, al = m->acceleration.angular;
	CalVec3 a = sum3(m->acceleration.linear, 1, sum3(cross3(al, c), 1, cross3(w, cross3(w, c))));
	CalVec3 force = sum3((CalVec3){0, 0, 0}, b->mass, sum3(a, -1, gravity));
	CalVec3 Iw = inertia_mul(b, &m->pose.R, w), moment = inertia_mul(b, &m->pose.R, al);
	return (CalSpatial){sum3(sum3(moment, 1, cross3(w, Iw)), 1, cross3(c, force)), force};
}

/* Own joint's wrench less those of the joints it carries is what each body needs. */
static void each_body_obeys_newton_and_euler(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		RefMotion *bodies = test_alloc((size_t)f->nb, sizeof *bodies);
		RefMotion *nodes = test_alloc((size_t)f->ref->node_count, sizeof *nodes);
		f->input.wrench_count = 0;
		refq_kinematics(f->ref, f->state.q, f->state.u, f->udot, bodies, nodes);
		CalSpatial *got = library_reactions(f, f->udot);
		for (int i = 0; i < f->nb; i++) {
			double sum[6] = {0};
			for (int k = i; k < f->nb; k++) {
				const RefBody *b = &f->ref->bodies[k];
				if (k != i && b->parent != i)
					continue;
				CalVec3 at = b->head_node >= 0 ? nodes[b->head_node].pose.r : bodies[k].pose.r;
				CalSpatial w = cal_wrench_shift(got[k], at, bodies[i].pose.r);
				for (int j = 0; j < 6; j++)
					sum[j] += (k == i ? 1 : -1) * (&w.angular.x)[j];
			}
			CalSpatial want = needed_wrench(&f->ref->bodies[i], &bodies[i], f->ref->gravity);
			double scale = max_abs(6 * f->nb, &got->angular.x);
			check_close_scaled(seed, "balance of one body", 6, sum, &want.angular.x, scale, 1e-12);
		}
		free(bodies), free(nodes);
		fixture_destroy(f);
	}
}

/* The moment about the axis of a hinge is its torque, springs and dampers included. */
static void hinge_moment_about_its_axis_is_its_torque(void **state) {
	(void)state;
	TreeOptions options = {.bodies = 6, .joints = 1u << CAL_JOINT_REVOLUTE};
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		double *udot = fixture_doubles(f, f->nu), *J = fixture_doubles(f, 6 * f->nu);
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
		CalSpatial *w = library_reactions(f, udot);
		check_ok(seed, cal_kinematics(f->model, &f->state, NULL, f->work));
		for (int i = 0; i < f->nb; i++) {
			CalBodyInfo info;
			check_ok(seed, cal_model_body(f->model, i, &info));
			check_ok(seed, cal_node_jacobian(f->model, f->work, info.head_node, J));
			double work = 0, scale = max_abs(6 * f->nb, &w->angular.x);
			for (int r = 0; r < 6; r++)
				work += J[r * f->nu + info.u] * (&w[i].angular.x)[r];
			check_close_scaled(seed, "torque", 1, &work, &f->tau[info.u], scale, 1e-11);
		}
		fixture_destroy(f);
	}
}

/*
 * Fixed rotations on both sides of a hinge, a torque on it and a load beyond: a two-body case with every
 * frame turned, in closed form. Body 1 hinges about its joint's z with the joint frame turned by X 90 deg
 * in the ground; the moved frame carries the body turned by Y 90 deg. The world axis is then -y.
 */
static void torque_acts_about_the_turned_axis(void **state) {
	(void)state;
	const double s = sqrt(0.5), tau = 3, inertia = 2;
	RefModel *m = ref_model_create();
	int b = ref_model_add_body(m, -1, CAL_JOINT_REVOLUTE);
	RefBody *body = &m->bodies[b];
	body->mass = 1;
	body->inertia = (CalMat3){{{inertia, 0, 0}, {0, 1.7, 0}, {0, 0, 1.1}}};
	body->joint.inboard.orientation = (CalQuat){s, s, 0, 0};
	body->joint.outboard.orientation = (CalQuat){s, 0, s, 0};
	ref_model_index(m);
	Fixture *f = fixture_create(m, 0, CAL_SOLVER_RECURSIVE);
	f->input = (CalInput){.tau = &tau};
	f->state.q[0] = 0.4;
	double udot;
	check_ok(0, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, &udot));
	/* z of the joint is -x of the body: the moment of inertia about it is the first one */
	assert_true(fabs(udot - tau / inertia) < 1e-15);
	CalSpatial *w = library_reactions(f, &udot), want = {{0, -tau, 0}, {0, 0, 0}};
	check_close(0, "wrench", 6, &w->angular.x, &want.angular.x, 1e-15);
	fixture_destroy(f);
}

static void wrench_shift_and_express(void **state) {
	(void)state;
	CalSpatial w = {{1, 2, 3}, {4, 5, 6}};
	CalSpatial at = cal_wrench_shift(w, (CalVec3){1, 0, 0}, (CalVec3){0, 0, 0});
	/* moment + (o - p) x force = (1,2,3) + (1,0,0) x (4,5,6) */
	CalSpatial want = {{1, 2 - 6, 3 + 5}, {4, 5, 6}};
	check_close(0, "shifted", 6, &at.angular.x, &want.angular.x, 0);
	CalMat3 R = {{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}}; /* z by 90 deg */
	CalSpatial in_frame = cal_wrench_express(w, &R), turned = {{2, -1, 3}, {5, -4, 6}};
	check_close(0, "expressed", 6, &in_frame.angular.x, &turned.angular.x, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reactions_equal_reference),
		cmocka_unit_test(welds_carry_their_load),
		cmocka_unit_test(each_body_obeys_newton_and_euler),
		cmocka_unit_test(hinge_moment_about_its_axis_is_its_torque),
		cmocka_unit_test(torque_acts_about_the_turned_axis),
		cmocka_unit_test(wrench_shift_and_express),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
