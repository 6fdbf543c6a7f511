// SPDX-License-Identifier: Apache-2.0
/*
 * test_determinism.c — the same input gives the same bits: again, in a used workspace, in any thread.
 */
#include "support/random_tree.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 300, THREADS = 4 };

static uint64_t fnv(uint64_t hash, const void *data, size_t size) {
	const unsigned char *p = data;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t hash_of_random_models(void) {
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (uint64_t seed = test_seed(); seed < test_seed() + MODELS; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), seed % 2 ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE);
		double *udot = fixture_doubles(f, f->nu);
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, udot));
		hash = fnv(hash, udot, sizeof *udot * (size_t)f->nu);
		fixture_destroy(f);
	}
	return hash;
}

static void two_runs_over_random_models_have_the_same_hash(void **state) {
	(void)state;
	uint64_t first = hash_of_random_models(), second = hash_of_random_models();
	print_message("hash of %d models: %016llx\n", MODELS, (unsigned long long)first);
	assert_true(first == second);
}

/* Leaves something of every algorithm, at another state, in the workspace. */
static void litter(Fixture *f, CalWork *work, uint64_t seed) {
	CalState other;
	CalMomentum momentum;
	CalEnergy energy;
	Rng r = rng_make(seed + 99);
	double *x = fixture_doubles(f, f->nu), *M = fixture_doubles(f, f->nu * f->nu), trace;
	check_ok(seed, cal_state_create(f->model, &other));
	rng_fill(&r, 3, f->nu, x);
	cal_config_integrate(f->model, f->state.q, x, other.q);
	rng_fill(&r, 30, f->nu, other.u);
	check_ok(seed, cal_reactions(f->model, &other, x, NULL, work));
	check_ok(seed, cal_mass_matrix(f->model, &other, work, M));
	check_ok(seed, cal_mass_trace(f->model, &other, work, &trace));
	check_ok(seed, cal_momentum(f->model, &other, work, &momentum));
	check_ok(seed, cal_energy(f->model, &other, work, &energy));
	check_ok(seed, cal_kinematics(f->model, &other, x, work));
	(void)cal_forward_dynamics(f->model, &other, NULL, work, x); /* a random state may be singular */
	(void)cal_mass_factor(f->model, &other, work);
	cal_state_destroy(&other);
}

/* Everything that one state gives, as one array. */
static void evaluate(Fixture *f, CalWork *work, double *out) {
	int n = f->nu;
	CalEnergy energy;
	CalMomentum momentum;
	CalSpatial s = {0};
	check_ok(f->seed, cal_forward_dynamics(f->model, &f->state, &f->input, work, out));
	check_ok(f->seed, cal_inverse_dynamics(f->model, &f->state, f->udot, &f->input, work, out + n));
	check_ok(f->seed, cal_bias_forces(f->model, &f->state, work, out + 2 * n));
	check_ok(f->seed, cal_gravity_forces(f->model, &f->state, work, out + 3 * n));
	check_ok(f->seed, cal_energy(f->model, &f->state, work, &energy));
	check_ok(f->seed, cal_momentum(f->model, &f->state, work, &momentum));
	check_ok(f->seed, cal_mass_factor(f->model, &f->state, work));
	check_ok(f->seed, cal_mass_solve(f->model, work, f->tau, out + 4 * n));
	check_ok(f->seed, cal_kinematics(f->model, &f->state, f->udot, work));
	check_ok(f->seed, cal_node_acceleration(f->model, work, f->node[0], &s));
	check_ok(f->seed, cal_mass_matrix(f->model, &f->state, work, out + 5 * n));
	double *rest = out + 5 * n + n * n;
	memcpy(rest, &energy, sizeof energy);
	memcpy(rest + 4, &momentum, sizeof momentum);
	memcpy(rest + 17, &s, sizeof s);
}

static int evaluation_size(const Fixture *f) { return 5 * f->nu + f->nu * f->nu + 23; }

static void used_workspace_gives_the_same_bits(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 100; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), seed % 2 ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE);
		int size = evaluation_size(f);
		double *a = fixture_doubles(f, size), *b = fixture_doubles(f, size), *c = fixture_doubles(f, size);
		evaluate(f, f->work, a);
		evaluate(f, f->work, b);
		litter(f, f->work, seed);
		evaluate(f, f->work, c);
		assert_memory_equal(a, b, sizeof *a * (size_t)size);
		assert_memory_equal(a, c, sizeof *a * (size_t)size);
		fixture_destroy(f);
	}
}

/* Memory for a workspace filled with every byte pattern must not matter. */
static void content_of_the_memory_does_not_matter(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 30; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), seed % 2 ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE);
		int size = evaluation_size(f);
		double *a = fixture_doubles(f, size), *b = fixture_doubles(f, size);
		size_t bytes = (cal_work_size(f->model) + 63) / 64 * 64;
		void *memory = aligned_alloc(64, bytes);
		CalWork *work;
		assert_non_null(memory);
		evaluate(f, f->work, a);
		memset(memory, 0xff, bytes); /* NaN */
		check_ok(seed, cal_work_init(f->model, memory, bytes, &work));
		evaluate(f, work, b);
		assert_memory_equal(a, b, sizeof *a * (size_t)size);
		free(memory);
		fixture_destroy(f);
	}
}

typedef struct Job {
	const Fixture *f;
	double *udot; // [REPEATS nu]
	int failed;
} Job;

enum { REPEATS = 50 };

static void *thread_main(void *argument) {
	Job *job = argument;
	const Fixture *f = job->f;
	CalWork *work;
	CalState s;
	job->failed = cal_work_create(f->model, &work) != CAL_OK || cal_state_create(f->model, &s) != CAL_OK;
	if (job->failed)
		return NULL;
	cal_state_copy(f->model, &f->state, &s);
	for (int k = 0; k < REPEATS; k++) {
		for (int i = 0; i < f->nu; i++)
			s.u[i] = f->state.u[i] * (1 + 0.01 * k);
		job->failed |= cal_forward_dynamics(f->model, &s, &f->input, work, job->udot + k * f->nu) != CAL_OK;
	}
	cal_work_destroy(work);
	cal_state_destroy(&s);
	return NULL;
}

static void threads_that_share_a_model_get_the_same_bits(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 10; seed++) {
		Fixture *f = fixture_random(seed, (TreeOptions){.bodies = 15, .springs = 1}, CAL_SOLVER_RECURSIVE);
		Job job[THREADS];
		pthread_t thread[THREADS];
		for (int k = 0; k < THREADS; k++) {
			job[k] = (Job){f, fixture_doubles(f, REPEATS * f->nu), 0};
			assert_int_equal(pthread_create(&thread[k], NULL, thread_main, &job[k]), 0);
		}
		for (int k = 0; k < THREADS; k++)
			pthread_join(thread[k], NULL);
		Job here = {f, fixture_doubles(f, REPEATS * f->nu), 0};
		thread_main(&here);
		for (int k = 0; k < THREADS; k++) {
			check_that(seed, !job[k].failed);
			assert_memory_equal(job[k].udot, here.udot, sizeof(double) * (size_t)(REPEATS * f->nu));
		}
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_runs_over_random_models_have_the_same_hash),
		cmocka_unit_test(used_workspace_gives_the_same_bits),
		cmocka_unit_test(content_of_the_memory_does_not_matter),
		cmocka_unit_test(threads_that_share_a_model_get_the_same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
