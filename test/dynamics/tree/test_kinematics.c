// SPDX-License-Identifier: Apache-2.0
/*
 * test_kinematics.c — poses, velocities and accelerations of nodes, their Jacobians and bias accelerations.
 */
#include "support/random_tree.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 60 };

/* Motion of one node from the library. */
static RefMotion node_motion(const Fixture *f, int node) {
	RefMotion m;
	check_ok(f->seed, cal_node_pose(f->model, f->work, node, &m.pose));
	check_ok(f->seed, cal_node_velocity(f->model, f->work, node, &m.velocity));
	check_ok(f->seed, cal_node_acceleration(f->model, f->work, node, &m.acceleration));
	return m;
}

static void check_motion(const Fixture *f, const RefMotion *got, const RefMotion *want, const double scale[3]) {
	check_close_scaled(f->seed, "R", 9, got->pose.R.m[0], want->pose.R.m[0], 1, 1e-14 * f->nb + 1e-14);
	check_close_scaled(f->seed, "r", 3, &got->pose.r.x, &want->pose.r.x, scale[0], 1e-14 * f->nb + 1e-14);
	check_close_scaled(f->seed, "velocity", 6, &got->velocity.angular.x, &want->velocity.angular.x, scale[1], 1e-13);
	check_close_scaled(f->seed, "acceleration", 6, &got->acceleration.angular.x, &want->acceleration.angular.x,
	                   scale[2], 1e-13);
}

/* Largest position, velocity and acceleration in the system. */
static void motion_scales(int count, const RefMotion *m, double scale[3]) {
	scale[0] = scale[1] = scale[2] = 1e-3;
	for (int i = 0; i < count; i++) {
		scale[0] = fmax(scale[0], max_abs(3, &m[i].pose.r.x));
		scale[1] = fmax(scale[1], max_abs(6, &m[i].velocity.angular.x));
		scale[2] = fmax(scale[2], max_abs(6, &m[i].acceleration.angular.x));
	}
}

static void node_motion_equals_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int count = f->ref->node_count;
		RefMotion *bodies = test_alloc((size_t)f->nb, sizeof *bodies);
		RefMotion *nodes = test_alloc((size_t)count, sizeof *nodes);
		double scale[3];
		refq_kinematics(f->ref, f->state.q, f->state.u, f->udot, bodies, nodes);
		motion_scales(f->nb, bodies, scale);
		check_ok(seed, cal_kinematics(f->model, &f->state, f->udot, f->work));
		for (int i = 0; i < count; i++) {
			RefMotion got = node_motion(f, f->node[i]);
			check_motion(f, &got, &nodes[i], scale);
		}
		for (int i = 0; i < f->nb; i++) {
			CalBodyInfo info;
			check_ok(seed, cal_model_body(f->model, i, &info));
			RefMotion got = node_motion(f, info.node);
			check_motion(f, &got, &bodies[i], scale);
		}
		free(bodies), free(nodes);
		fixture_destroy(f);
	}
}

static void velocity_is_the_jacobian_times_speeds(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *J = fixture_doubles(f, 6 * n), *want = fixture_doubles(f, 6 * n);
		check_ok(seed, cal_kinematics(f->model, &f->state, NULL, f->work));
		for (int i = 0; i < f->ref->node_count; i++) {
			double V[6] = {0};
			CalSpatial velocity;
			check_ok(seed, cal_node_jacobian(f->model, f->work, f->node[i], J));
			refq_jacobian(f->ref, f->state.q, i, want);
			check_close_scaled(seed, "J", 6 * n, J, want, 1, 1e-13);
			for (int r = 0; r < 6; r++)
				for (int j = 0; j < n; j++)
					V[r] += J[r * n + j] * f->state.u[j];
			check_ok(seed, cal_node_velocity(f->model, f->work, f->node[i], &velocity));
			check_close_scaled(seed, "J u", 6, V, &velocity.angular.x, 1, 1e-12);
		}
		fixture_destroy(f);
	}
}

/* Rigid and flexible trees: dofs of the path ascend, their columns are those of J, and all others of J are zero. */
static void check_path(Fixture *f, int node, const double *J, int *dofs, double *columns) {
	int count = -1, n = f->nu, at = 0;
	check_ok(f->seed, cal_node_path(f->model, node, &count, dofs));
	check_ok(f->seed, cal_node_jacobian_path(f->model, f->work, node, columns));
	for (int j = 0; j < n; j++) {
		const int on_path = at < count && dofs[at] == j;
		for (int r = 0; r < 6; r++)
			check_that(f->seed, J[r * n + j] == (on_path ? columns[r * count + at] : 0));
		at += on_path;
	}
	assert_int_equal(at, count);
}

static void jacobians_of_paths_are_parts_of_the_whole(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, seed % 2 ? tree_flexible(seed) : tree_any(seed), CAL_SOLVER_RECURSIVE);
		const int n = f->nu, nodes = cal_model_node_count(f->model);
		double *J = fixture_doubles(f, 6 * n * nodes + 1), *one = fixture_doubles(f, 6 * n + 1);
		int *list = test_alloc((size_t)(nodes + n + 1), sizeof *list);
		for (int i = 0; i < nodes; i++)
			list[i] = i;
		check_ok(seed, cal_kinematics(f->model, &f->state, NULL, f->work));
		check_ok(seed, cal_node_jacobians(f->model, f->work, list, nodes, J));
		for (int i = 0; i < nodes; i++) {
			check_ok(seed, cal_node_jacobian(f->model, f->work, i, one));
			for (int k = 0; k < 6 * n; k++)
				check_that(seed, one[k] == J[i * 6 * n + k]);
			check_path(f, i, one, list + nodes, fixture_doubles(f, 6 * n + 1));
		}
		free(list);
		fixture_destroy(f);
	}
}

/* Posing the path alone gives the bits of posing everything, at a state that the workspace has not seen. */
static void jacobian_at_a_state_needs_no_kinematics(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, seed % 2 ? tree_flexible(seed) : tree_any(seed), CAL_SOLVER_RECURSIVE);
		const int n = f->nu, nodes = cal_model_node_count(f->model);
		double *J = fixture_doubles(f, 6 * n * nodes + 1), *want = fixture_doubles(f, 6 * n + 1);
		CalPose *poses = test_alloc((size_t)nodes, sizeof *poses), pose;
		for (int i = 0; i < nodes; i++)
			check_ok(seed, cal_node_jacobian_at(f->model, &f->state, i, f->work, &poses[i], J + i * 6 * n));
		check_status(seed, cal_node_pose(f->model, f->work, 0, &pose), CAL_ERR_STAGE);
		check_ok(seed, cal_kinematics(f->model, &f->state, NULL, f->work));
		for (int i = 0; i < nodes; i++) {
			check_ok(seed, cal_node_pose(f->model, f->work, i, &pose));
			check_ok(seed, cal_node_jacobian(f->model, f->work, i, want));
			check_close_scaled(seed, "r", 3, &poses[i].r.x, &pose.r.x, 1 + max_abs(3, &pose.r.x), 1e-14);
			for (int k = 0; k < 9; k++)
				check_that(seed, poses[i].R.m[k / 3][k % 3] == pose.R.m[k / 3][k % 3]);
			for (int k = 0; k < 6 * n; k++)
				check_that(seed, J[i * 6 * n + k] == want[k]);
		}
		free(poses);
		fixture_destroy(f);
	}
}

static void jacobians_refuse_bad_arguments(void **state) {
	(void)state;
	Fixture *f = fixture_random(test_seed(), tree_any(test_seed()), CAL_SOLVER_RECURSIVE);
	double *J = fixture_doubles(f, 6 * f->nu + 1);
	const int bad[] = {-1, cal_model_node_count(f->model)};
	int count, fine = 0;
	check_ok(0, cal_mass_matrix(f->model, &f->state, f->work, fixture_doubles(f, f->nu * f->nu + 1)));
	check_ok(0, cal_node_jacobian_at(f->model, &f->state, 0, f->work, NULL, J));
	check_status(0, cal_node_jacobian_path(f->model, f->work, 0, J), CAL_ERR_STAGE);
	check_status(0, cal_node_jacobians(f->model, f->work, &fine, 1, J), CAL_ERR_STAGE);
	for (int k = 0; k < 2; k++) {
		check_status(0, cal_node_path(f->model, bad[k], &count, NULL), CAL_ERR_ARGUMENT);
		check_status(0, cal_node_jacobian_path(f->model, f->work, bad[k], J), CAL_ERR_ARGUMENT);
		check_status(0, cal_node_jacobians(f->model, f->work, &bad[k], 1, J), CAL_ERR_ARGUMENT);
		check_status(0, cal_node_jacobian_at(f->model, &f->state, bad[k], f->work, NULL, J), CAL_ERR_ARGUMENT);
	}
	check_status(0, cal_node_jacobians(f->model, f->work, &fine, -1, J), CAL_ERR_ARGUMENT);
	fixture_destroy(f);
}

static void acceleration_is_jacobian_times_udot_and_bias(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu, count = f->ref->node_count;
		double *J = fixture_doubles(f, 6 * n), *zero = fixture_doubles(f, n);
		RefMotion *nodes = test_alloc((size_t)count, sizeof *nodes);
		refq_kinematics(f->ref, f->state.q, f->state.u, zero, NULL, nodes);
		check_ok(seed, cal_kinematics(f->model, &f->state, f->udot, f->work));
		for (int i = 0; i < count; i++) {
			CalSpatial a, bias;
			double sum[6], scale = 1;
			check_ok(seed, cal_node_acceleration(f->model, f->work, f->node[i], &a));
			check_ok(seed, cal_node_jacobian(f->model, f->work, f->node[i], J));
			check_ok(seed, cal_node_bias(f->model, f->work, f->node[i], &bias));
			scale = fmax(scale, max_abs(6, &a.angular.x));
			for (int r = 0; r < 6; r++) {
				sum[r] = (&bias.angular.x)[r];
				for (int j = 0; j < n; j++) {
					sum[r] += J[r * n + j] * f->udot[j];
					scale = fmax(scale, fabs(J[r * n + j] * f->udot[j]));
				}
			}
			check_close_scaled(seed, "bias", 6, &bias.angular.x, &nodes[i].acceleration.angular.x, scale, 1e-12);
			check_close_scaled(seed, "J udot + bias", 6, sum, &a.angular.x, scale, 1e-12);
		}
		free(nodes);
		fixture_destroy(f);
	}
}

static void forward_dynamics_leaves_the_true_accelerations(CalSolver solver) {
	for (uint64_t seed = test_seed(); seed < test_seed() + 60; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), solver);
		int count = f->ref->node_count;
		RefMotion *nodes = test_alloc((size_t)count, sizeof *nodes);
		double *udot = fixture_doubles(f, f->nu), scale[3];
		const CalVec3 *g = &f->ref->gravity;
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
		refq_kinematics(f->ref, f->state.q, f->state.u, udot, NULL, nodes);
		motion_scales(count, nodes, scale);
		scale[2] = fmax(scale[2], max_abs(3, &g->x));
		for (int i = 0; i < count; i++) {
			RefMotion got = nodes[i];
			check_ok(seed, cal_node_pose(f->model, f->work, f->node[i], &got.pose));
			check_ok(seed, cal_node_acceleration(f->model, f->work, f->node[i], &got.acceleration));
			check_motion(f, &got, &nodes[i], scale);
		}
		free(nodes);
		fixture_destroy(f);
	}
}

static void articulated_leaves_the_true_accelerations(void **state) {
	(void)state;
	forward_dynamics_leaves_the_true_accelerations(CAL_SOLVER_RECURSIVE);
}

static void dense_leaves_the_true_accelerations(void **state) {
	(void)state;
	forward_dynamics_leaves_the_true_accelerations(CAL_SOLVER_DENSE);
}

static void ground_nodes_stay(void **state) {
	(void)state;
	RefModel *m = ref_model_create();
	Rng r = rng_make(test_seed());
	int b = ref_model_add_body(m, -1, CAL_JOINT_FREE);
	rng_mass(&r, 1, &m->bodies[b].mass, &m->bodies[b].com, &m->bodies[b].inertia);
	CalPlacement where = rng_placement(&r);
	ref_model_add_node(m, -1, where);
	ref_model_index(m);
	m->gravity = (CalVec3){0, 0, -9.81};
	Fixture *f = fixture_create(m, test_seed(), CAL_SOLVER_RECURSIVE);
	fixture_sample(f, &r);
	double *J = fixture_doubles(f, 6 * f->nu), *zero = fixture_doubles(f, 6 * f->nu);
	check_ok(f->seed, cal_kinematics(f->model, &f->state, f->udot, f->work));
	RefMotion got = node_motion(f, f->node[0]);
	check_close(f->seed, "position", 3, &got.pose.r.x, &where.position.x, 0);
	check_close(f->seed, "velocity", 6, &got.velocity.angular.x, zero, 0);
	check_close(f->seed, "acceleration", 6, &got.acceleration.angular.x, zero, 0);
	check_ok(f->seed, cal_node_jacobian(f->model, f->work, f->node[0], J));
	check_close(f->seed, "jacobian", 6 * f->nu, J, zero, 0);
	fixture_destroy(f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_motion_equals_reference),
		cmocka_unit_test(velocity_is_the_jacobian_times_speeds),
		cmocka_unit_test(jacobians_of_paths_are_parts_of_the_whole),
		cmocka_unit_test(jacobian_at_a_state_needs_no_kinematics),
		cmocka_unit_test(jacobians_refuse_bad_arguments),
		cmocka_unit_test(acceleration_is_jacobian_times_udot_and_bias),
		cmocka_unit_test(articulated_leaves_the_true_accelerations),
		cmocka_unit_test(dense_leaves_the_true_accelerations),
		cmocka_unit_test(ground_nodes_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
