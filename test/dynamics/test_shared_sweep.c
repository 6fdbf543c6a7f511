// SPDX-License-Identifier: Apache-2.0
/*
 * test_shared_sweep.c — forward dynamics after the kinematics of the same state continues from its sweep, with the same bits; of another
 * state, or after anything else has used the workspace, it does not. Poses, velocities and energies use a sweep that is there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "dynamics/tree/kinematics.h"
#include "support/random_loop.h"

enum { CASES = 40 };

/* The model with its loops in place of that of the tree. */
static void close_loops(Fixture *f) {
	CalModel *model = NULL;
	CalWork *work = NULL;
	CalError error = {0};
	fixture_close_loops(f);
	check_ok(f->seed, cal_model_compile(f->desc, &(CalCompileOptions){.solver = CAL_SOLVER_RECURSIVE}, &model, &error));
	check_ok(f->seed, cal_work_create(model, &work));
	cal_work_destroy(f->work);
	cal_model_destroy(f->model);
	f->model = model;
	f->work = work;
	check_that(f->seed, cal_model_row_count(model) > 0 && cal_model_u_count(model) == f->nu);
}

static void check_same_bits(Fixture *f, const CalState *begun, const CalState *state) {
	const size_t size = sizeof(double) * (size_t)f->nu;
	double *plain = malloc(size), *shared = malloc(size);
	assert_true(plain && shared);
	f->work->stage = 0;
	check_ok(f->seed, cal_forward_dynamics(f->model, state, NULL, f->work, plain));
	kinematics_begin(f->model, f->model->gravity, begun->q, begun->u, f->work);
	check_that(f->seed,
	           kinematics_has_begun(f->model, f->model->gravity, state->q, state->u, f->work) == (begun == state));
	check_ok(f->seed, cal_forward_dynamics(f->model, state, NULL, f->work, shared));
	check_that(f->seed, memcmp(plain, shared, size) == 0);
	check_that(f->seed, !kinematics_has_begun(f->model, f->model->gravity, state->q, state->u, f->work));
	kinematics_begin_forward(f->model, state->q, state->u, f->work);
	kinematics_accelerate(f->model, plain, f->work);
	check_ok(f->seed, cal_forward_dynamics(f->model, state, NULL, f->work, shared));
	check_that(f->seed, memcmp(plain, shared, size) == 0);
	kinematics_begin(f->model, (dvec3){0, 0, 0}, state->q, state->u, f->work);
	check_ok(f->seed, cal_forward_dynamics(f->model, state, NULL, f->work, shared));
	check_that(f->seed, memcmp(plain, shared, size) == 0);
	free(plain), free(shared);
}

enum { USES = 14 };

/* Something that uses the workspace; x: room for its results. */
static void use_work(int k, const CalModel *m, const CalState *at, CalWork *work, double *x) {
	const int nu = cal_model_u_count(m), rows = cal_model_row_count(m);
	CalEnergy energy;
	CalMomentum momentum;
	double *given = x + nu * nu + 6 * nu + 2 * rows;
	memcpy(given, at->u, sizeof(double) * (size_t)nu);
	(void)(k == 0    ? cal_kinematics(m, at, NULL, work)
	       : k == 1  ? cal_node_jacobian_at(m, at, cal_model_node_count(m) - 1, work, NULL, x)
	       : k == 2  ? cal_bias_forces(m, at, work, x)
	       : k == 3  ? cal_gravity_forces(m, at, work, x)
	       : k == 4  ? cal_elastic_forces(m, at, work, x)
	       : k == 5  ? cal_mass_matrix(m, at, work, x)
	       : k == 6  ? cal_mass_factor(m, at, work)
	       : k == 7  ? cal_mass_trace(m, at, work, x)
	       : k == 8  ? cal_energy(m, at, work, &energy)
	       : k == 9  ? cal_momentum(m, at, work, &momentum)
	       : k == 10 ? cal_loop_residual(m, at, work, x, x + rows)
	       : k == 11 ? cal_inverse_dynamics(m, at, given, NULL, work, x)
	       : k == 12 ? cal_mass_mul(m, at, given, work, x)
	                 : cal_forward_dynamics(m, at, NULL, work, x));
}

static double *room_for_uses(const Fixture *f) {
	return test_doubles(f->nu * f->nu + 7 * f->nu + 2 * cal_model_row_count(f->model) + 1);
}

/* Whatever uses the workspace in between, at another state or this one: forward dynamics does not continue from what it left. */
static void check_after_others(Fixture *f, const CalState *other, const CalState *state) {
	const CalModel *m = f->model;
	const int nu = f->nu;
	double *plain = test_doubles(nu), *got = test_doubles(nu), *x = room_for_uses(f);
	f->work->stage = 0;
	check_ok(f->seed, cal_forward_dynamics(m, state, NULL, f->work, plain));
	for (int k = 0; k < 2 * USES; k++) {
		kinematics_begin_forward(m, state->q, state->u, f->work);
		use_work(k / 2, m, k % 2 ? state : other, f->work, x);
		check_ok(f->seed, cal_forward_dynamics(m, state, NULL, f->work, got));
		if (memcmp(plain, got, sizeof(double) * (size_t)nu) != 0)
			check_fail_at(__FILE__, __LINE__, f->seed, "other bits after call %d", k);
	}
	free(plain), free(got), free(x);
}

/* Continues a hash by the bits of numbers; size in bytes. */
static uint64_t hash_numbers(uint64_t hash, const void *numbers, size_t size) {
	for (size_t k = 0; k < size; k += sizeof(uint64_t)) {
		uint64_t bits;
		memcpy(&bits, (const char *)numbers + k, sizeof bits);
		hash = (hash ^ bits) * UINT64_C(0x100000001b3);
	}
	return hash;
}

/* A hash of poses and velocities of all nodes, and of energies. */
static uint64_t look(Fixture *f, const CalState *state) {
	CalEnergy energy;
	CalMomentum momentum;
	check_ok(f->seed, cal_energy(f->model, state, f->work, &energy));
	uint64_t hash = hash_numbers(0, &energy, sizeof energy);
	kinematics_reach(f->model, state->q, state->u, f->work);
	for (int i = 0; i < cal_model_node_count(f->model); i++) {
		CalPose pose;
		CalSpatial velocity;
		kinematics_node_motion(f->model, f->work, i, &pose, &velocity);
		const CalVec3 r = kinematics_node_origin(f->model, f->work, i);
		check_that(f->seed, r.x == pose.r.x && r.y == pose.r.y && r.z == pose.r.z);
		hash = hash_numbers(hash, &pose, sizeof pose);
		hash = hash_numbers(hash, &velocity, sizeof velocity);
	}
	check_ok(f->seed, cal_momentum(f->model, state, f->work, &momentum));
	return hash_numbers(hash, &momentum, sizeof momentum);
}

/* A sweep that is there is used, and nothing else that was left in the workspace. */
static void check_reached(Fixture *f, const CalState *other, const CalState *state) {
	double *x = room_for_uses(f);
	f->work->stage = 0;
	const uint64_t plain = look(f, state);
	for (int k = 0; k < 2 * USES; k++) {
		kinematics_reach(f->model, state->q, state->u, f->work);
		use_work(k / 2, f->model, k % 2 ? state : other, f->work, x);
		if (look(f, state) != plain)
			check_fail_at(__FILE__, __LINE__, f->seed, "other motion or energy after call %d", k);
	}
	free(x);
}

/* A projection leaves the sweep of the state that it found. */
static void check_after_projection(Fixture *f, const CalState *apart) {
	const size_t size = sizeof(double) * (size_t)f->nu;
	double *plain = test_doubles(f->nu), *shared = test_doubles(f->nu);
	double *rate = test_doubles(cal_model_row_count(f->model) + 1);
	CalState state;
	CalWork *other = NULL;
	check_ok(f->seed, cal_work_create(f->model, &other));
	check_ok(f->seed, cal_state_create(f->model, &state));
	for (int k = 0; k < 2; k++) { // from a state that has to move, and from one that is there
		if (k == 0)
			cal_state_copy(f->model, apart, &state);
		if (cal_loop_project(f->model, &state, NULL, f->work, NULL) != CAL_OK)
			break;
		check_ok(f->seed, cal_loop_residual(f->model, &state, other, NULL, rate));
		for (int i = 0; i < cal_model_row_count(f->model); i++)
			check_that(f->seed, fabs(rate[i]) < 1e-9);
		check_that(f->seed, cal_model_row_count(f->model) == 0 ||
		                        kinematics_has_begun(f->model, f->model->gravity, state.q, state.u, f->work));
		check_ok(f->seed, cal_forward_dynamics(f->model, &state, NULL, f->work, shared));
		f->work->stage = 0;
		check_ok(f->seed, cal_forward_dynamics(f->model, &state, NULL, f->work, plain));
		check_that(f->seed, memcmp(plain, shared, size) == 0);
	}
	cal_state_destroy(&state);
	cal_work_destroy(other);
	free(plain), free(shared), free(rate);
}

/* At rest without gravity, refinements of accelerations begin as forward dynamics does. */
static void check_at_rest(Fixture *f) {
	CalState rest;
	check_ok(f->seed, cal_state_create(f->model, &rest));
	cal_state_copy(f->model, &f->state, &rest);
	memset(rest.u, 0, sizeof(double) * (size_t)f->nu);
	f->model->gravity = (dvec3){0, 0, 0};
	f->model->light_loops = 1;
	check_same_bits(f, &rest, &rest);
	cal_state_destroy(&rest);
}

static void forward_dynamics_continues_from_kinematics(void **unused) {
	(void)unused;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random_loop(seed, loop_any(seed), CAL_SOLVER_RECURSIVE);
		CalState other;
		close_loops(f);
		check_ok(seed, cal_state_create(f->model, &other));
		cal_state_copy(f->model, &f->state, &other);
		other.t = f->state.t;
		other.u[f->nu - 1] += 1;
		check_same_bits(f, &f->state, &f->state);
		check_same_bits(f, &other, &f->state);
		other.q[0] += 0.1;
		check_after_others(f, &other, &f->state);
		check_reached(f, &other, &f->state);
		memcpy(other.u, f->state.u, sizeof(double) * (size_t)f->nu);
		check_same_bits(f, &other, &f->state);
		check_reached(f, &other, &f->state);
		cal_state_copy(f->model, &f->state, &other);
		other.t = f->state.t;
		for (int i = 0; i < f->nu; i++)
			other.u[i] += 1e-3 * sin(i);
		check_after_projection(f, &other);
		cal_config_integrate(f->model, f->state.q, other.u, other.q);
		check_after_projection(f, &other);
		check_at_rest(f);
		cal_state_destroy(&other);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(forward_dynamics_continues_from_kinematics)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
