// SPDX-License-Identifier: Apache-2.0
/*
 * test_errors.c — singular configurations, numbers that are not finite, calls out of order, bad arguments.
 */
#include "support/random_tree.h"

#include <calder/operators.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- singular configurations ---------------------------------------------------------------- */

static RefModel *hinge_chain(int count, uint64_t seed) {
	RefModel *m = ref_model_create();
	Rng r = rng_make(seed);
	for (int i = 0; i < count; i++) {
		ref_model_add_body(m, i - 1, CAL_JOINT_REVOLUTE);
		m->bodies[i].joint.inboard.position = rng_vector(&r, 0.5);
		rng_mass(&r, 1, &m->bodies[i].mass, &m->bodies[i].com, &m->bodies[i].inertia);
	}
	ref_model_add_node(m, count - 1, rng_placement(&r));
	ref_model_index(m);
	return m;
}

/* A hinge that carries a gimbal of axes x, y, x: locked when the middle angle vanishes. */
static Fixture *gimbal_create(CalSolver solver, uint64_t seed) {
	RefModel *m = hinge_chain(2, seed);
	CalJointDef *def = &m->bodies[1].joint;
	def->type = CAL_JOINT_SEQUENCE;
	def->element_count = 3;
	for (int k = 0; k < 3; k++)
		def->elements[k] = (CalElement){.type = CAL_JOINT_REVOLUTE, .axis = {k != 1, k == 1, 0}};
	ref_model_index(m);
	return fixture_create(m, seed, solver);
}

/* Random angles, the middle one zero: the first and third axes coincide up to round-off. */
static void gimbal_lock(Fixture *f) {
	Rng r = rng_make(f->seed);
	rng_fill(&r, 3, f->nq, f->state.q);
	rng_fill(&r, 1, f->nu, f->state.u);
	f->state.q[2] = 0;
}

/* Either of the parallel axes is to blame, not the middle one nor the hinge. */
static void check_failed_dof(const Fixture *f) {
	int failed_dof = cal_work_failed_dof(f->work);
	char name[64];
	check_that(f->seed, failed_dof == 1 || failed_dof == 3);
	cal_model_dof_name(f->model, failed_dof, name, sizeof name);
	check_that(f->seed, strstr(name, "joint1") != NULL);
}

static void gimbal_lock_is_singular_and_named(CalSolver solver) {
	for (uint64_t seed = test_seed(); seed < test_seed() + 50; seed++) {
		Fixture *f = gimbal_create(solver, seed);
		double udot[4];
		gimbal_lock(f);
		check_status(seed, cal_forward_dynamics(f->model, &f->state, NULL, f->work, udot), CAL_SINGULAR);
		check_failed_dof(f);
		f->state.q[2] = 0.5;
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, NULL, f->work, udot));
		assert_int_equal(cal_work_failed_dof(f->work), -1);
		fixture_destroy(f);
	}
}

static void articulated_names_the_gimbal_lock(void **state) {
	(void)state;
	gimbal_lock_is_singular_and_named(CAL_SOLVER_RECURSIVE);
}

static void dense_names_the_gimbal_lock(void **state) {
	(void)state;
	gimbal_lock_is_singular_and_named(CAL_SOLVER_DENSE);
}

static void factorization_names_the_gimbal_lock(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 50; seed++) {
		Fixture *f = gimbal_create(CAL_SOLVER_RECURSIVE, seed);
		double x[4] = {1, 1, 1, 1};
		gimbal_lock(f);
		check_status(seed, cal_mass_factor(f->model, &f->state, f->work), CAL_SINGULAR);
		check_failed_dof(f);
		check_status(seed, cal_mass_solve(f->model, f->work, x, x), CAL_ERR_STAGE);
		/* what does not divide by the inertia still works */
		check_ok(seed, cal_inverse_dynamics(f->model, &f->state, NULL, NULL, f->work, x));
		fixture_destroy(f);
	}
}

/* Near the lock the accelerations are large, but right. */
static void near_gimbal_lock_is_not_singular(void **state) {
	(void)state;
	for (int solver = CAL_SOLVER_RECURSIVE; solver <= CAL_SOLVER_DENSE; solver++)
		for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
			Fixture *f = gimbal_create((CalSolver)solver, seed);
			double udot[4], want[4];
			gimbal_lock(f);
			f->state.q[2] = 1e-3;
			check_ok(seed, cal_forward_dynamics(f->model, &f->state, NULL, f->work, udot));
			assert_int_equal(refq_forward_dense(f->ref, f->state.q, f->state.u, NULL, want), 0);
			check_close(seed, "udot", 4, udot, want, 1e-8);
			fixture_destroy(f);
		}
}

/* Locking one of the two parallel axes makes the system regular. */
static void prescribing_a_parallel_axis_removes_the_singularity(void **state) {
	(void)state;
	for (int solver = CAL_SOLVER_RECURSIVE; solver <= CAL_SOLVER_DENSE; solver++) {
		Fixture *f = gimbal_create((CalSolver)solver, test_seed());
		uint8_t prescribed[4] = {0, 0, 0, 1};
		CalInput input = {.prescribed = prescribed};
		double udot[4], want[4];
		f->state.q[0] = 0.3, f->state.q[1] = 0.7;
		rng_fill(&(Rng){1, 0}, 1, 4, f->state.u);
		check_ok(0, cal_forward_dynamics(f->model, &f->state, &input, f->work, udot));
		assert_int_equal(refq_forward_dense(f->ref, f->state.q, f->state.u, &input, want), 0);
		check_close(0, "udot", 4, udot, want, 1e-11);
		fixture_destroy(f);
	}
}

/* ---- numbers that are not finite ------------------------------------------------------------ */

static int all_finite(int n, const double *x) {
	for (int i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return 0;
	return 1;
}

/* Forward dynamics with one number spoilt: refused, not answered with finite numbers, and no lasting harm. */
static void check_spoilt(Fixture *f, double *number, double value, int may_be_large) {
	double *udot = fixture_doubles(f, f->nu), *good = fixture_doubles(f, f->nu), kept = *number;
	check_ok(f->seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, good));
	*number = value;
	CalStatus status = cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot);
	*number = kept;
	if (!may_be_large)
		check_status(f->seed, status, CAL_NOT_FINITE);
	else
		check_that(f->seed, status == CAL_NOT_FINITE || (status == CAL_OK && all_finite(f->nu, udot)));
	if (status == CAL_NOT_FINITE)
		check_that(f->seed, cal_work_failed_dof(f->work) >= -1 && cal_work_failed_dof(f->work) < f->nu);
	check_ok(f->seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
	assert_memory_equal(udot, good, sizeof *udot * (size_t)f->nu);
}

static void spoilt_numbers_are_refused(CalSolver solver) {
	const double values[] = {NAN, INFINITY, -INFINITY, DBL_MAX};
	for (uint64_t seed = test_seed(); seed < test_seed() + 40; seed++) {
		TreeOptions options = {.bodies = 5, .floating = seed % 2 == 0};
		Fixture *f = fixture_random(seed, options, solver);
		Rng r = rng_make(seed);
		if (f->nu > 0)
			for (int k = 0; k < 4; k++) {
				check_spoilt(f, &f->state.q[rng_int(&r, f->nq)], values[k], k == 3);
				check_spoilt(f, &f->state.u[rng_int(&r, f->nu)], values[k], k == 3);
				check_spoilt(f, &f->tau[rng_int(&r, f->nu)], values[k], k == 3);
			}
		fixture_destroy(f);
	}
}

static void articulated_refuses_spoilt_numbers(void **state) {
	(void)state;
	spoilt_numbers_are_refused(CAL_SOLVER_RECURSIVE);
}

static void dense_refuses_spoilt_numbers(void **state) {
	(void)state;
	spoilt_numbers_are_refused(CAL_SOLVER_DENSE);
}

static void spoilt_wrenches_are_refused(void **state) {
	(void)state;
	Fixture *f = fixture_create(hinge_chain(3, test_seed()), 0, CAL_SOLVER_RECURSIVE);
	CalWrench wrench = {f->node[0], CAL_FRAME_NODE, {{1, 2, 3}, {4, NAN, 6}}};
	CalInput input = {.wrenches = &wrench, .wrench_count = 1};
	double udot[3];
	check_status(0, cal_forward_dynamics(f->model, &f->state, &input, f->work, udot), CAL_NOT_FINITE);
	fixture_destroy(f);
}

/* Sums that do not divide say that a number is not finite, or pass it on; they never hide it. */
static void other_algorithms_do_not_hide_spoilt_numbers(void **state) {
	(void)state;
	Fixture *f = fixture_create(hinge_chain(3, test_seed()), 0, CAL_SOLVER_RECURSIVE);
	double x[9];
	CalEnergy energy;
	f->state.u[1] = NAN;
	CalStatus status = cal_inverse_dynamics(f->model, &f->state, NULL, NULL, f->work, x);
	assert_true(status == CAL_NOT_FINITE || (status == CAL_OK && !all_finite(3, x)));
	status = cal_energy(f->model, &f->state, f->work, &energy);
	assert_true(status == CAL_NOT_FINITE || (status == CAL_OK && isnan(energy.kinetic) && isnan(energy.total)));
	f->state.q[1] = NAN;
	status = cal_mass_factor(f->model, &f->state, f->work);
	assert_int_equal(status, CAL_NOT_FINITE);
	status = cal_mass_matrix(f->model, &f->state, f->work, x);
	assert_true(status == CAL_NOT_FINITE || (status == CAL_OK && !all_finite(9, x)));
	fixture_destroy(f);
}

/* ---- calls out of order --------------------------------------------------------------------- */

static void getters_need_their_computation(void **state) {
	(void)state;
	Fixture *f = fixture_create(hinge_chain(3, test_seed()), 0, CAL_SOLVER_RECURSIVE);
	const CalModel *m = f->model;
	CalWork *w = f->work;
	CalPose pose;
	CalSpatial s[3] = {0}, t[3];
	double x[36] = {0}, y[36], C[36], scratch[36];
	check_status(0, cal_node_pose(m, w, 0, &pose), CAL_ERR_STAGE);
	check_status(0, cal_node_velocity(m, w, 0, s), CAL_ERR_STAGE);
	check_status(0, cal_node_acceleration(m, w, 0, s), CAL_ERR_STAGE);
	check_status(0, cal_node_jacobian(m, w, 0, x), CAL_ERR_STAGE);
	check_status(0, cal_node_bias(m, w, 0, s), CAL_ERR_STAGE);
	check_status(0, cal_joint_reaction(m, w, 0, s), CAL_ERR_STAGE);
	check_status(0, cal_mass_solve(m, w, x, y), CAL_ERR_STAGE);
	check_status(0, cal_mass_inverse(m, w, y), CAL_ERR_STAGE);
	check_status(0, cal_mass_logdet(m, w, y), CAL_ERR_STAGE);
	check_status(0, cal_node_compliance(m, w, f->node, 1, scratch, C), CAL_ERR_STAGE);
	check_status(0, cal_operator_gather(m, w, s, t), CAL_ERR_STAGE);
	check_status(0, cal_operator_scatter(m, w, s, t), CAL_ERR_STAGE);
	check_status(0, cal_operator_gather_articulated(m, w, s, t), CAL_ERR_STAGE);
	check_status(0, cal_operator_scatter_articulated(m, w, s, t), CAL_ERR_STAGE);
	check_status(0, cal_operator_joint(m, w, s, y), CAL_ERR_STAGE);
	check_status(0, cal_operator_joint_transpose(m, w, x, t), CAL_ERR_STAGE);
	check_status(0, cal_innovations_mul(m, w, x, y), CAL_ERR_STAGE);
	check_status(0, cal_innovations_mul_transpose(m, w, x, y), CAL_ERR_STAGE);
	check_status(0, cal_innovations_solve(m, w, x, y), CAL_ERR_STAGE);
	check_status(0, cal_innovations_solve_transpose(m, w, x, y), CAL_ERR_STAGE);
	check_status(0, cal_innovations_diagonal(m, w, y), CAL_ERR_STAGE);
	check_status(0, cal_link_inertia(m, w, 0, C), CAL_ERR_STAGE);
	check_status(0, cal_link_composite_inertia(m, w, 0, C), CAL_ERR_STAGE);
	check_status(0, cal_link_articulated_inertia(m, w, 0, C), CAL_ERR_STAGE);
	/* kinematics without udot knows no accelerations */
	check_ok(0, cal_kinematics(m, &f->state, NULL, w));
	check_ok(0, cal_node_velocity(m, w, 0, s));
	check_status(0, cal_node_acceleration(m, w, 0, s), CAL_ERR_STAGE);
	check_status(0, cal_mass_solve(m, w, x, y), CAL_ERR_STAGE);
	fixture_destroy(f);
}

/* ---- arguments ------------------------------------------------------------------------------ */

static void indices_out_of_range_are_refused(void **state) {
	(void)state;
	Fixture *f = fixture_create(hinge_chain(3, test_seed()), 0, CAL_SOLVER_RECURSIVE);
	const CalModel *m = f->model;
	const int bad[] = {-1, -2, 1000000};
	double x[36], scratch[36];
	for (int k = 0; k < 3; k++) {
		CalPose pose;
		CalSpatial s;
		CalBodyInfo body;
		CalDofInfo dof;
		CalNodeInfo node;
		CalWrench wrench = {.node = bad[k]};
		CalInput input = {.wrenches = &wrench, .wrench_count = 1};
		int parent, u, nu;
		check_ok(0, cal_kinematics(m, &f->state, f->udot, f->work));
		check_status(0, cal_node_pose(m, f->work, bad[k], &pose), CAL_ERR_ARGUMENT);
		check_status(0, cal_node_velocity(m, f->work, bad[k], &s), CAL_ERR_ARGUMENT);
		check_status(0, cal_node_acceleration(m, f->work, bad[k], &s), CAL_ERR_ARGUMENT);
		check_status(0, cal_node_jacobian(m, f->work, bad[k], x), CAL_ERR_ARGUMENT);
		check_status(0, cal_node_bias(m, f->work, bad[k], &s), CAL_ERR_ARGUMENT);
		check_ok(0, cal_reactions(m, &f->state, f->udot, NULL, f->work));
		check_status(0, cal_joint_reaction(m, f->work, bad[k], &s), CAL_ERR_ARGUMENT);
		check_status(0, cal_model_body(m, bad[k], &body), CAL_ERR_ARGUMENT);
		check_status(0, cal_model_dof(m, bad[k], &dof), CAL_ERR_ARGUMENT);
		check_status(0, cal_model_node(m, bad[k], &node), CAL_ERR_ARGUMENT);
		check_status(0, cal_link_info(m, bad[k], &parent, &u, &nu), CAL_ERR_ARGUMENT);
		check_status(0, cal_forward_dynamics(m, &f->state, &input, f->work, x), CAL_ERR_ARGUMENT);
		check_status(0, cal_inverse_dynamics(m, &f->state, NULL, &input, f->work, x), CAL_ERR_ARGUMENT);
		check_status(0, cal_external_forces(m, &f->state, &input, f->work, x), CAL_ERR_ARGUMENT);
		check_status(0, cal_reactions(m, &f->state, f->udot, &input, f->work), CAL_ERR_ARGUMENT);
		check_ok(0, cal_mass_factor(m, &f->state, f->work));
		check_status(0, cal_link_inertia(m, f->work, bad[k], x), CAL_ERR_ARGUMENT);
		check_status(0, cal_node_compliance(m, f->work, &bad[k], 1, scratch, x), CAL_ERR_ARGUMENT);
	}
	fixture_destroy(f);
}

static void memory_that_is_too_small_or_askew_is_refused(void **state) {
	(void)state;
	Fixture *f = fixture_create(hinge_chain(3, test_seed()), 0, CAL_SOLVER_RECURSIVE);
	size_t size = cal_work_size(f->model);
	char *memory = aligned_alloc(64, (size + 64 + 63) / 64 * 64);
	CalWork *work;
	CalState s;
	assert_non_null(memory);
	check_status(0, cal_work_init(f->model, memory, size - 1, &work), CAL_ERR_ARGUMENT);
	check_status(0, cal_work_init(f->model, memory + 8, size, &work), CAL_ERR_ARGUMENT);
	check_status(0, cal_work_init(f->model, NULL, size, &work), CAL_ERR_ARGUMENT);
	check_ok(0, cal_work_init(f->model, memory, size, &work));
	size = cal_state_size(f->model);
	check_status(0, cal_state_init(f->model, memory, size - 1, &s), CAL_ERR_ARGUMENT);
	check_status(0, cal_state_init(f->model, NULL, size, &s), CAL_ERR_ARGUMENT);
	check_ok(0, cal_state_init(f->model, memory, size, &s));
	free(memory);
	fixture_destroy(f);
}

static void every_status_has_a_text(void **state) {
	(void)state;
#define TEXT_OF(name, value, text) assert_string_equal(cal_status_text(name), text);
	CAL_STATUS_LIST(TEXT_OF)
#undef TEXT_OF
	assert_non_null(cal_status_text((CalStatus)12345));
	assert_non_null(cal_version());
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(articulated_names_the_gimbal_lock),
		cmocka_unit_test(dense_names_the_gimbal_lock),
		cmocka_unit_test(factorization_names_the_gimbal_lock),
		cmocka_unit_test(near_gimbal_lock_is_not_singular),
		cmocka_unit_test(prescribing_a_parallel_axis_removes_the_singularity),
		cmocka_unit_test(articulated_refuses_spoilt_numbers),
		cmocka_unit_test(dense_refuses_spoilt_numbers),
		cmocka_unit_test(spoilt_wrenches_are_refused),
		cmocka_unit_test(other_algorithms_do_not_hide_spoilt_numbers),
		cmocka_unit_test(getters_need_their_computation),
		cmocka_unit_test(indices_out_of_range_are_refused),
		cmocka_unit_test(memory_that_is_too_small_or_askew_is_refused),
		cmocka_unit_test(every_status_has_a_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
