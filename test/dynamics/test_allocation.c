// SPDX-License-Identifier: Apache-2.0
/*
 * test_allocation.c — run-time calls never allocate; build-time calls survive every failing allocation.
 */
#include "support/interpose.h"
#include "support/random_tree.h"
#include "support/failing_allocator.h"
#include "support/methods.h"

#include <calder/calder.h>

#include <stdio.h>
#include <string.h>

/* ---- no allocation -------------------------------------------------------------------------- */

typedef struct Buffers {
	double *x, *y, *M, *C, *scratch;
	CalSpatial *sx, *sy;
	void *state_memory, *work_memory;
} Buffers;

static Buffers buffers_create(Fixture *f) {
	int n = f->nu, links = cal_model_link_count(f->model);
	Buffers b = {fixture_doubles(f, n + 1),
	             fixture_doubles(f, n + 1),
	             fixture_doubles(f, n * n + 6 * n + 36),
	             fixture_doubles(f, 144),
	             fixture_doubles(f, 12 * n),
	             (CalSpatial *)fixture_doubles(f, 6 * links),
	             (CalSpatial *)fixture_doubles(f, 6 * links),
	             NULL,
	             NULL};
	b.state_memory = test_alloc(1, cal_state_size(f->model));
	b.work_memory = aligned_alloc(64, (cal_work_size(f->model) + 63) / 64 * 64);
	assert_non_null(b.work_memory);
	return b;
}

static int run_kinematics(Fixture *f, Buffers *b) {
	CalPose pose;
	CalSpatial v;
	int bad = cal_kinematics(f->model, &f->state, f->udot, f->work);
	bad |= cal_node_pose(f->model, f->work, f->node[0], &pose);
	bad |= cal_node_velocity(f->model, f->work, f->node[0], &v);
	bad |= cal_node_acceleration(f->model, f->work, f->node[0], &v);
	bad |= cal_node_bias(f->model, f->work, f->node[0], &v);
	bad |= cal_node_jacobian(f->model, f->work, f->node[0], b->M);
	bad |= cal_node_jacobians(f->model, f->work, f->node, 1, b->M);
	bad |= cal_node_jacobian_path(f->model, f->work, f->node[0], b->M);
	return bad | cal_node_jacobian_at(f->model, &f->state, f->node[0], f->work, &pose, b->M);
}

static int run_dynamics(Fixture *f, Buffers *b) {
	CalEnergy energy;
	CalMomentum momentum;
	CalSpatial w;
	int bad = cal_forward_dynamics(f->model, &f->state, &f->input, f->work, b->x);
	bad |= cal_hybrid_dynamics(f->model, &f->state, &f->input, f->work, b->x, b->y);
	bad |= cal_inverse_dynamics(f->model, &f->state, f->udot, &f->input, f->work, b->x);
	bad |= cal_bias_forces(f->model, &f->state, f->work, b->x);
	bad |= cal_gravity_forces(f->model, &f->state, f->work, b->x);
	bad |= cal_elastic_forces(f->model, &f->state, f->work, b->x);
	bad |= cal_external_forces(f->model, &f->state, &f->input, f->work, b->x);
	bad |= cal_reactions(f->model, &f->state, f->udot, &f->input, f->work);
	bad |= cal_joint_reaction(f->model, f->work, 0, &w);
	bad |= cal_energy(f->model, &f->state, f->work, &energy);
	return bad | cal_momentum(f->model, &f->state, f->work, &momentum);
}

static int run_mass(Fixture *f, Buffers *b) {
	double number;
	int bad = cal_mass_matrix(f->model, &f->state, f->work, b->M);
	bad |= cal_mass_matrix_lower(f->model, &f->state, f->work, b->M);
	bad |= cal_mass_sparse(f->model, &f->state, f->work, b->M);
	bad |= cal_mass_sparse_mul(f->model, b->M, f->tau, b->x);
	bad |= cal_mass_sparse_factor(f->model, f->work, b->M);
	bad |= cal_mass_sparse_solve(f->model, b->M, f->tau, b->x);
	bad |= cal_mass_trace(f->model, &f->state, f->work, &number);
	bad |= cal_mass_factor(f->model, &f->state, f->work);
	bad |= cal_mass_solve(f->model, f->work, f->tau, b->x);
	bad |= cal_mass_inverse(f->model, f->work, b->M);
	bad |= cal_mass_solve_many(f->model, f->work, f->nu, b->M, b->M);
	bad |= cal_mass_logdet(f->model, f->work, &number);
	return bad | cal_node_compliance(f->model, f->work, f->node, 1, b->scratch, b->C);
}

static int run_operators(Fixture *f, Buffers *b) {
	int bad = cal_mass_factor(f->model, &f->state, f->work);
	bad |= cal_operator_gather(f->model, f->work, b->sx, b->sy);
	bad |= cal_operator_scatter(f->model, f->work, b->sx, b->sy);
	bad |= cal_operator_gather_articulated(f->model, f->work, b->sx, b->sy);
	bad |= cal_operator_scatter_articulated(f->model, f->work, b->sx, b->sy);
	bad |= cal_operator_joint(f->model, f->work, b->sx, b->x);
	bad |= cal_operator_joint_transpose(f->model, f->work, b->x, b->sx);
	bad |= cal_innovations_mul(f->model, f->work, b->x, b->y);
	bad |= cal_innovations_mul_transpose(f->model, f->work, b->x, b->y);
	bad |= cal_innovations_solve(f->model, f->work, b->x, b->y);
	bad |= cal_innovations_solve_transpose(f->model, f->work, b->x, b->y);
	bad |= cal_innovations_diagonal(f->model, f->work, b->x);
	bad |= cal_link_inertia(f->model, f->work, 0, b->C);
	bad |= cal_link_composite_inertia(f->model, f->work, 0, b->C);
	return bad | cal_link_articulated_inertia(f->model, f->work, 0, b->C);
}

static int run_state(Fixture *f, Buffers *b) {
	CalState state;
	CalWork *work;
	int bad = cal_state_init(f->model, b->state_memory, cal_state_size(f->model), &state);
	cal_state_copy(f->model, &f->state, &state);
	cal_config_neutral(f->model, state.q);
	cal_config_integrate(f->model, f->state.q, f->udot, state.q);
	cal_config_difference(f->model, f->state.q, state.q, b->x);
	cal_config_rate(f->model, b->x, f->state.u, b->y);
	bad |= cal_config_normalize(f->model, state.q);
	return bad | cal_work_init(f->model, b->work_memory, cal_work_size(f->model), &work);
}

static void run_time_calls_do_not_allocate(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	int (*const runs[])(Fixture *, Buffers *) = {run_kinematics, run_dynamics, run_mass, run_operators, run_state};
	for (uint64_t seed = test_seed(); seed < test_seed() + 40; seed++) {
		TreeOptions options = {.bodies = 2 + (int)(seed % 10), .floating = 1, .massless = 1, .springs = 1};
		Fixture *f = fixture_random(seed, options, seed % 2 ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE);
		Buffers b = buffers_create(f);
		for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
			interpose_begin(0);
			int bad = runs[k](f, &b);
			Interpose seen = interpose_end();
			check_that(seed, bad == 0);
			check_that(seed, seen.calls == 0);
		}
		free(b.state_memory), free(b.work_memory);
		fixture_destroy(f);
	}
}

static int give_input(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model, (void)state;
	*input = *(const CalInput *)user;
	return 0;
}

static void steps_do_not_allocate(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		Fixture *f = fixture_random(test_seed(), (TreeOptions){.bodies = 6, .floating = 1}, CAL_SOLVER_AUTO);
		CalIntegratorOptions options = {
			.method = (CalMethod)method, .step = 1e-3, .input = give_input, .user = &f->input};
		CalIntegrator *integrator;
		check_ok(f->seed, cal_integrator_create(f->model, f->work, &options, &integrator));
		interpose_begin(0);
		int bad = cal_integrator_step(integrator, &f->state, 1e-3);
		bad |= cal_integrator_advance(integrator, &f->state, 0.01);
		Interpose seen = interpose_end();
		check_that(f->seed, bad == 0);
		check_that(f->seed, seen.calls == 0);
		cal_integrator_destroy(integrator);
		fixture_destroy(f);
	}
}

static void interposer_counts(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	interpose_begin(2);
	void *volatile a = malloc(10), *volatile b = malloc(10);
	Interpose seen = interpose_end();
	assert_true(a && !b && seen.calls == 2 && seen.live == 1);
	free(a);
}

/* ---- failing allocations -------------------------------------------------------------------- */

/* A description of three bodies with nodes in two groups; stops at the first status that is not CAL_OK. */
static CalStatus describe(CalDesc *desc) {
	CalGroupDef group = cal_group_def();
	CalGroupId group_id;
	CalError error;
	group.name = "second", group.place = "file:1:1";
	CalStatus status = cal_desc_add_group(desc, &group, &group_id, &error);
	for (int i = 0; i < 20 && status == CAL_OK; i++) {
		CalBodyDef body = cal_body_def();
		CalNodeDef node = cal_node_def();
		CalJointDef joint = cal_joint_def(i % 2 ? CAL_JOINT_REVOLUTE : CAL_JOINT_SPHERICAL);
		CalBodyId body_id;
		CalNodeId node_id;
		CalJointId joint_id;
		char name[32], joint_name[32];
		snprintf(name, sizeof name, "body%d", i);
		snprintf(joint_name, sizeof joint_name, "joint%d", i);
		body.name = node.name = name, joint.name = joint_name, body.place = node.place = joint.place = "file:2:3";
		body.mass = 1, body.inertia = (CalMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
		status = cal_desc_add_body(desc, &body, &body_id, &error);
		if (status == CAL_OK)
			status = cal_desc_add_node(desc, body_id, &node, &node_id, &error);
		if (status == CAL_OK)
			status = cal_desc_attach(desc, (CalNodeId){0}, &joint, node_id, &joint_id, &error);
	}
	return status;
}

static void building_survives_every_failing_allocation(void **state) {
	(void)state;
	int failures = 0;
	for (long k = 1;; k++) {
		FailingAllocator memory = {.fail_at = k};
		CalAllocator allocator = failing_allocator(&memory);
		CalCompileOptions options = {.allocator = allocator};
		CalDesc *desc = NULL;
		CalModel *model = NULL;
		CalError error = {0};
		CalStatus status = cal_desc_create(&allocator, &desc);
		if (status == CAL_OK)
			status = describe(desc);
		if (status == CAL_OK)
			status = cal_model_compile(desc, &options, &model, &error);
		int done = memory.calls < k;
		assert_int_equal(status, done ? CAL_OK : CAL_ERR_MEMORY);
		assert_true(done || model == NULL);
		if (!done && error.status != CAL_OK)
			assert_int_equal(error.status, CAL_ERR_MEMORY);
		cal_model_destroy(model);
		cal_desc_destroy(desc);
		assert_int_equal(memory.live, 0);
		if (done)
			break;
		failures++;
	}
	assert_true(failures >= 4); /* at least the description, its parts and the model */
}

/* A description that a call could not extend stays as it was and can be extended later. */
static void refused_parts_leave_the_description_usable(void **state) {
	(void)state;
	for (long k = 2;; k++) {
		FailingAllocator memory = {.fail_at = k};
		CalAllocator allocator = failing_allocator(&memory);
		CalDesc *desc;
		CalBodyDef body = cal_body_def();
		CalBodyId id = {0};
		CalError error;
		body.name = "body", body.mass = 1;
		CalStatus created = cal_desc_create(&allocator, &desc);
		assert_int_equal(created, memory.calls < k ? CAL_OK : CAL_ERR_MEMORY);
		if (created != CAL_OK) {
			assert_int_equal(memory.live, 0);
			continue;
		}
		CalStatus status = cal_desc_add_body(desc, &body, &id, &error);
		int done = memory.calls < k;
		assert_int_equal(status, done ? CAL_OK : CAL_ERR_MEMORY);
		assert_int_equal(cal_desc_body_count(desc), done ? 1 : 0);
		memory.fail_at = 0;
		if (!done) {
			assert_int_equal(cal_desc_find_body(desc, "body").value, 0);
			assert_int_equal(cal_desc_add_body(desc, &body, &id, &error), CAL_OK);
		}
		assert_int_equal(cal_desc_find_body(desc, "body").value, id.value);
		cal_desc_destroy(desc);
		assert_int_equal(memory.live, 0);
		if (done)
			break;
	}
}

/* One build-time call that uses malloc: tries it with the k-th allocation failing. */
typedef CalStatus (*CreateFn)(Fixture *f);

static CalStatus create_state(Fixture *f) {
	CalState s = {0};
	CalStatus status = cal_state_create(f->model, &s);
	cal_state_destroy(&s);
	return status;
}

static CalStatus create_work(Fixture *f) {
	CalWork *work = NULL;
	CalStatus status = cal_work_create(f->model, &work);
	cal_work_destroy(work);
	return status;
}

static CalStatus create_integrator(Fixture *f) {
	CalIntegratorOptions options = {.method = CAL_METHOD_DOPRI5};
	CalIntegrator *integrator = NULL;
	CalStatus status = cal_integrator_create(f->model, f->work, &options, &integrator);
	cal_integrator_destroy(integrator);
	return status;
}

static CalStatus create_model(Fixture *f) {
	CalModel *model = NULL;
	CalError error;
	CalStatus status = cal_model_compile(f->desc, NULL, &model, &error);
	cal_model_destroy(model);
	return status;
}

static CalStatus check_description(Fixture *f) { return cal_desc_check(f->desc, NULL, NULL); }

static void creating_survives_every_failing_malloc(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	const CreateFn creates[] = {create_state, create_work, create_integrator, create_model, check_description};
	Fixture *f = fixture_random(test_seed(), (TreeOptions){.bodies = 8, .springs = 1}, CAL_SOLVER_RECURSIVE);
	for (size_t c = 0; c < sizeof creates / sizeof *creates; c++)
		for (long k = 1;; k++) {
			interpose_begin(k);
			CalStatus status = creates[c](f);
			Interpose seen = interpose_end();
			int done = seen.calls < k;
			check_status(f->seed, status, done ? CAL_OK : CAL_ERR_MEMORY);
			assert_int_equal(seen.live, 0);
			if (done)
				break;
		}
	fixture_destroy(f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interposer_counts),
		cmocka_unit_test(run_time_calls_do_not_allocate),
		cmocka_unit_test(steps_do_not_allocate),
		cmocka_unit_test(building_survives_every_failing_allocation),
		cmocka_unit_test(refused_parts_leave_the_description_usable),
		cmocka_unit_test(creating_survives_every_failing_malloc),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
