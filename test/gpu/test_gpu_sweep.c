// SPDX-License-Identifier: Apache-2.0
/*
 * test_gpu_sweep.c — the sweeps of the GPU kernels (src/gpu/gpu_forward.h, gpu_step.h), compiled for a processor: exact mode gives
 * the bits of cal_forward_dynamics() and cal_batch_rollout() on random trees, fast mode the same numbers to round-off, and models
 * that the kernels do not have are refused by name. On a device: ./dev gpu.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>

#include "base/memory.h"
#include "gpu/gpu_plan.h"
#include "gpu/gpu_step.h"
#include "support/random_tree.h"

enum { MODELS = 400, NEAR = 128 };

static const unsigned built_in = TREE_ANY_JOINT & ~(1U << CAL_JOINT_USER);

/* A random tree of built-in rigid joints without what the kernels do not have. */
static Fixture *rigid_tree(uint64_t seed) {
	TreeOptions options = tree_any(seed);
	options.joints = built_in & (options.joints ? options.joints : built_in);
	options.joints = options.joints ? options.joints : built_in;
	options.prescribed = 0;
	options.springs = seed % 2 != 0; // balls have springs that the kernels do not have
	if (options.springs) {
		options.joints &=
			TREE_ONE_DOF | 1U << CAL_JOINT_UNIVERSAL | 1U << CAL_JOINT_CYLINDRICAL | 1U << CAL_JOINT_PLANAR;
		options.joints = options.joints ? options.joints : TREE_ONE_DOF;
		options.floating = 0;
	}
	return fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
}

/* A thread's memory with room for `near_dofs` gains on the chip. */
static GpuScratch scratch_for(const GpuPlan *plan, int near_dofs, double *near_memory, double **far_memory) {
	const GpuModel *m = &plan->model;
	*far_memory = test_doubles((int)gpu_plan_far(m, near_dofs) + 1);
	return (GpuScratch){.near = near_memory,
	                    .far = *far_memory,
	                    .near_stride = 1,
	                    .far_stride = 1,
	                    .near_motions = GPU_SEGMENT + 1,
	                    .near_dofs = near_dofs,
	                    .accumulators = (int64_t)m->slot_count * GPU_SLOT,
	                    .far_gains = (int64_t)m->slot_count * GPU_SLOT + (int64_t)m->accumulator_count * GPU_BODY};
}

typedef struct Setup {
	GpuPlan plan;
	GpuSweep sweep;
	double near[NEAR], *far;
} Setup;

static void setup_create(Setup *s, const Fixture *f, bool exact, int near_dofs) {
	const CalAllocator allocator = allocator_or_default(NULL);
	CalError error = {0};
	check_ok(f->seed, gpu_plan_create(f->model, exact, &allocator, &s->plan, &error));
	s->sweep = (GpuSweep){.mode = {exact, s->plan.plain},
	                      .model = &s->plan.model,
	                      .at = gpu_plan_tables(&s->plan),
	                      .state = {{f->state.q, 1}, {f->state.u, 1}, {f->tau, 1}},
	                      .keep = scratch_for(&s->plan, near_dofs, s->near, &s->far)};
}

static void setup_destroy(Setup *s) {
	const CalAllocator allocator = allocator_or_default(NULL);
	gpu_plan_destroy(&s->plan, &allocator);
	free(s->far);
}

static bool is_supported(const Fixture *f) {
	const CalAllocator allocator = allocator_or_default(NULL);
	GpuPlan plan;
	const CalStatus status = gpu_plan_create(f->model, true, &allocator, &plan, NULL);
	gpu_plan_destroy(&plan, &allocator);
	return status == CAL_OK;
}

/* The sweeps are always in line: one copy of each, or compilers with sanitizers take minutes. */
static int run_forward(const GpuSweep *s, double *udot) { return sweep_forward(s, udot, 1); }
static int run_cromer(const GpuSweep *s, double h, GpuMoving x) { return step_cromer(s, h, x); }
static int run_rk4(const GpuSweep *s, double h, GpuStages at, GpuMoving x) { return step_rk4(s, h, at, x); }

/* ---- forward dynamics ------------------------------------------------------------------------------- */

/* Calls check() for all models of a series that the kernels and the processor can evaluate; tau acts, nothing else does. */
static void for_models(uint64_t first, void (*check)(Fixture *f, const CalInput *input, const double *udot)) {
	int checked = 0;
	for (uint64_t seed = first; seed < first + MODELS; seed++) {
		Fixture *f = rigid_tree(seed);
		const CalInput input = {.tau = f->tau};
		double *udot = test_doubles(f->nu + 1);
		if (is_supported(f) && cal_forward_dynamics(f->model, &f->state, &input, f->work, udot) == CAL_OK) {
			check(f, &input, udot);
			checked++;
		}
		free(udot);
		fixture_destroy(f);
	}
	check_that(first, checked > MODELS / 2);
}

static void check_exact(Fixture *f, const CalInput *input, const double *udot) {
	(void)input;
	double *got = test_doubles(f->nu + 1);
	Setup s;
	setup_create(&s, f, true, (int)(f->seed % 3));
	check_that(f->seed, run_forward(&s.sweep, got) == 0);
	check_that(f->seed, memcmp(got, udot, sizeof *got * (size_t)f->nu) == 0);
	setup_destroy(&s);
	free(got);
}

static void exact_has_the_bits_of_a_processor(void **state) {
	(void)state;
	for_models(1, check_exact);
}

static void check_fast(Fixture *f, const CalInput *input, const double *udot) {
	(void)input;
	double *got = test_doubles(f->nu + 1);
	Setup s;
	setup_create(&s, f, false, (int)(f->seed % 3));
	check_that(f->seed, run_forward(&s.sweep, got) == 0);
	check_close(f->seed, "udot", f->nu, got, udot, 1e-9);
	setup_destroy(&s);
	free(got);
}

static void fast_has_the_same_numbers_to_round_off(void **state) {
	(void)state;
	for_models(1001, check_fast);
}

static void what_is_not_finite_fails(void **state) {
	(void)state;
	Fixture *f = rigid_tree(8);
	double *got = test_doubles(f->nu + 1);
	Setup s;
	setup_create(&s, f, true, 0);
	f->state.u[f->nu - 1] = NAN;
	check_that(8, run_forward(&s.sweep, got) != 0);
	setup_destroy(&s);
	free(got);
	fixture_destroy(f);
}

/* ---- steps ---------------------------------------------------------------------------------------------- */

enum { STEPS = 5 };
static const double step_size = 1e-3, start_time = 0.3;

/* STEPS steps of the processor. */
static CalStatus roll(const Fixture *f, const CalInput *input, CalMethod method, double *q, double *u) {
	CalBatch *batch = NULL;
	check_ok(f->seed, cal_batch_create(f->model, NULL, &batch));
	const CalBatchStates start = {
		.count = 1, .t = {&start_time, 0, 0}, .q = {f->state.q, f->nq, 0}, .u = {f->state.u, f->nu, 0}};
	const CalBatchRollout rollout = {.method = method, .step = step_size, .steps = STEPS};
	const CalStatus status =
		cal_batch_rollout(batch, &start, &(CalBatchInput){.tau = {input->tau, 0, 0}}, &rollout, q, u, NULL);
	cal_batch_destroy(batch);
	return status;
}

static double size_of_step(int k) { return start_time + (k + 1) * step_size - (start_time + k * step_size); }

/* The same by the code of the kernels, in place. */
static int roll_sweep(Setup *s, CalMethod method, double *stages) {
	const GpuModel *m = &s->plan.model;
	const GpuMoving x = {(double *)(uintptr_t)s->sweep.state.q.x, (double *)(uintptr_t)s->sweep.state.u.x, 1};
	const GpuStages at = {stages, stages + 4 * m->nu, stages + 8 * m->nu, stages + 8 * m->nu + m->nq, 1};
	int bad = 0;
	if (method == CAL_METHOD_RK4)
		s->sweep.state.q.x = at.q, s->sweep.state.u.x = at.u;
	for (int k = 0; k < STEPS; k++) {
		const double h = size_of_step(k);
		bad |= method == CAL_METHOD_RK4 ? run_rk4(&s->sweep, h, at, x) : run_cromer(&s->sweep, h, x);
	}
	return bad;
}

static void check_steps(Fixture *f, const CalInput *input, CalMethod method) {
	double *q = test_doubles(f->nq + 1), *u = test_doubles(f->nu + 1);
	Setup s;
	setup_create(&s, f, true, (int)(f->seed % 3));
	double *stages = test_doubles((int)gpu_stages_size(&s.plan.model) + 1);
	const bool possible = method != CAL_METHOD_RK4 || !s.plan.model.any_quaternion;
	if (possible && roll(f, input, method, q, u) == CAL_OK) {
		check_that(f->seed, roll_sweep(&s, method, stages) == 0);
		check_that(f->seed, memcmp(q, f->state.q, sizeof *q * (size_t)f->nq) == 0);
		check_that(f->seed, memcmp(u, f->state.u, sizeof *u * (size_t)f->nu) == 0);
	}
	setup_destroy(&s);
	free(stages), free(q), free(u);
}
static void check_cromer(Fixture *f, const CalInput *input, const double *udot) {
	(void)udot;
	check_steps(f, input, CAL_METHOD_EULER_CROMER);
}
static void check_rk4(Fixture *f, const CalInput *input, const double *udot) {
	(void)udot;
	check_steps(f, input, CAL_METHOD_RK4);
}

static void steps_have_the_bits_of_a_processor(void **state) {
	(void)state;
	for_models(2001, check_cromer);
	for_models(3001, check_rk4);
}

/* ---- refusals ------------------------------------------------------------------------------------------- */

/* A random tree that the kernels do not have: the refusal contains `what`. */
static void check_refused(TreeOptions options, CalSolver solver, bool exact, const char *what) {
	const CalAllocator allocator = allocator_or_default(NULL);
	const uint64_t seed = 12;
	Fixture *f = fixture_random(seed, options, solver);
	CalError error = {0};
	GpuPlan plan;
	check_status(seed, gpu_plan_create(f->model, exact, &allocator, &plan, &error), CAL_ERR_UNSUPPORTED);
	if (!strstr(error.text, what))
		check_fail_at(__FILE__, __LINE__, seed, "\"%s\" lacks \"%s\"", error.text, what);
	fixture_destroy(f);
}

static void other_models_are_refused_by_name(void **state) {
	(void)state;
	check_refused((TreeOptions){.bodies = 4, .flexible = 1}, CAL_SOLVER_RECURSIVE, true, "flexible bodies");
	check_refused((TreeOptions){.bodies = 3, .joints = 1U << CAL_JOINT_USER}, CAL_SOLVER_RECURSIVE, true,
	              "user-defined joint");
	check_refused((TreeOptions){.bodies = 8, .prescribed = 1, .joints = TREE_ONE_DOF}, CAL_SOLVER_RECURSIVE, true,
	              "prescribed degrees of freedom");
	check_refused((TreeOptions){.bodies = 12, .springs = 1, .joints = 1U << CAL_JOINT_SPHERICAL}, CAL_SOLVER_RECURSIVE,
	              true, "springs of spherical joints");
	check_refused((TreeOptions){.bodies = 3, .joints = TREE_ONE_DOF}, CAL_SOLVER_DENSE, true, "dense solver");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_has_the_bits_of_a_processor), cmocka_unit_test(fast_has_the_same_numbers_to_round_off),
		cmocka_unit_test(what_is_not_finite_fails),          cmocka_unit_test(steps_have_the_bits_of_a_processor),
		cmocka_unit_test(other_models_are_refused_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
