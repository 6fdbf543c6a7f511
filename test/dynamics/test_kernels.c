// SPDX-License-Identifier: Apache-2.0
/*
 * test_kernels.c — forward and inverse dynamics and mass matrix compiled for wider registers give the bits of the baseline:
 * random rigid and flexible trees, chains of beams whose modes fill one pack, several and parts of one, eliminated directly and through
 * the ports, prescribed dofs, implicit steps. And bodies that one kernel takes together with their node give the
 * bits of the separate ones. Writes to the model's internals to choose the kernels.
 */
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "model/model.h"
#include "support/random_tree.h"

enum { TREES = 120 };

static void same_bits(uint64_t seed, const double *a, const double *b, int n) {
	for (int i = 0; i < n; i++) {
		if (memcmp(&a[i], &b[i], sizeof *a) != 0)
			check_fail_at(__FILE__, __LINE__, seed, "[%d] of %d: %.17g and %.17g", i, n, a[i], b[i]);
	}
}

/* Inverse dynamics, the mass matrix in its three forms and its trace: their results in x, room for `size`. */
static void inverse_and_mass(uint64_t seed, const CalModel *model, const CalState *state, const double *udot,
                             const CalInput *input, CalWork *work, size_t size, double *x) {
	const size_t n = (size_t)cal_model_u_count(model);
	double *M = x + 2 * n, *lower = M + n * n, *sparse = lower + n * n;
	memset(x, 0, sizeof *x * size);
	check_ok(seed, cal_inverse_dynamics(model, state, udot, input, work, x));
	check_ok(seed, cal_bias_forces(model, state, work, x + n));
	check_ok(seed, cal_mass_matrix(model, state, work, M));
	check_ok(seed, cal_mass_matrix_lower(model, state, work, lower));
	check_ok(seed, cal_mass_sparse(model, state, work, sparse));
	check_ok(seed, cal_mass_trace(model, state, work, &sparse[cal_mass_sparse_count(model)]));
}

static void compare_inverse_and_mass(uint64_t seed, CalModel *model, const CalState *state, const double *udot,
                                     const CalInput *input, CalWork *work) {
	const size_t n = (size_t)cal_model_u_count(model), size = 2 * n + 2 * n * n + cal_mass_sparse_count(model) + 1;
	double *x = calloc(2 * size, sizeof *x), *first = x + size;
	assert_non_null(x);
	model->isa = CPU_BASELINE;
	inverse_and_mass(seed, model, state, udot, input, work, size, first);
	for (int isa = CPU_AVX2; isa <= (int)cpu_isa(); isa++) {
		model->isa = (CpuIsa)isa;
		inverse_and_mass(seed, model, state, udot, input, work, size, x);
		same_bits(seed, first, x, (int)size);
	}
	free(x);
}

/* The factor of the mass matrix, its inverse and two solves with every instruction set of this processor. */
static void compare_factors(uint64_t seed, CalModel *model, const CalState *state, CalWork *work) {
	const int n = cal_model_u_count(model), size = n * (n + 5);
	double *x = calloc((size_t)(2 * size) + 1, sizeof *x), *first = x + size;
	assert_non_null(x);
	for (int isa = CPU_BASELINE; isa <= (int)cpu_isa(); isa++) {
		model->isa = (CpuIsa)isa;
		for (int k = 0; k < 5 * n; k++)
			x[n * n + k] = k % 7 - 3;
		check_ok(seed, cal_mass_factor(model, state, work));
		check_ok(seed, cal_mass_inverse(model, work, x));
		check_ok(seed, cal_mass_solve_many(model, work, 5, x + n * n, x + n * n));
		if (isa == CPU_BASELINE)
			memcpy(first, x, sizeof *x * (size_t)size);
		same_bits(seed, first, x, size);
	}
	free(x);
}

/* Hybrid dynamics and an implicit step with every instruction set of this processor against the baseline. */
static void compare(uint64_t seed, CalModel *model, const CalState *state, const CalInput *input, CalWork *work) {
	const int n = cal_model_u_count(model);
	double *x = calloc((size_t)n * 6 + 1, sizeof *x), *first = x + 3 * n;
	assert_non_null(x);
	for (int isa = CPU_BASELINE; isa <= (int)cpu_isa(); isa++) {
		model->isa = (CpuIsa)isa;
		check_ok(seed, cal_hybrid_dynamics(model, state, input, work, x, x + n));
		check_ok(seed, cal_implicit_dynamics(model, state, state, input, 1e-2, work, x + 2 * n));
		if (isa == CPU_BASELINE)
			memcpy(first, x, sizeof *x * (size_t)n * 3);
		same_bits(seed, first, x, 3 * n);
	}
	compare_inverse_and_mass(seed, model, state, first, input, work);
	free(x);
	compare_factors(seed, model, state, work);
}

static void random_trees_agree(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + TREES; seed++) {
		TreeOptions options = seed % 3 ? tree_flexible(seed) : tree_any(seed);
		options.foreshortening = seed % 4 == 1;
		options.geometric = seed % 5 == 0;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		if (seed % 2) {
			Rng r = rng_make(seed);
			fixture_prescribe(f, &r);
		}
		compare(seed, f->model, &f->state, &f->input, f->work);
		fixture_destroy(f);
	}
}

/* A beam of the joint's name on a node, or on the ground. */
static void add_beam(CalDesc *desc, int modes, const char *on, const CalJointDef *joint) {
	CalBeamDef def = cal_beam_def();
	CalBodyId body;
	CalError error = {0};
	def.name = joint->name, def.length = 2;
	def.root = (CalSection){.shape = CAL_SECTION_TUBE,
	                        .height = 0.1,
	                        .thickness = 0.005,
	                        .youngs_modulus = 70e9,
	                        .poissons_ratio = 0.3,
	                        .density = 2700};
	def.deformation = CAL_BEAM_BENDING | CAL_BEAM_TORSION;
	def.choice.modes = modes, def.choice.damping_ratio = 0.01;
	check_ok(0, cal_beam_add(desc, &def, &body, &error));
	const CalNodeId inboard = on ? cal_desc_find_node(desc, on) : (CalNodeId){0};
	check_ok(0, cal_desc_attach(desc, inboard, joint, cal_desc_body_node(desc, body), NULL, &error));
}

static CalModel *compiled(CalDesc *desc) {
	CalModel *model;
	CalError error = {0};
	check_ok(0, cal_model_compile(desc, &(CalCompileOptions){.solver = CAL_SOLVER_RECURSIVE}, &model, &error));
	cal_desc_destroy(desc);
	return model;
}

/* Three beams in a chain, one more on the middle of the first. */
static CalModel *beams(int modes) {
	CalDesc *desc;
	check_ok(0, cal_desc_create(NULL, &desc));
	static const char *names[] = {"a", "b", "c", "d"}, *on[] = {NULL, "a/tip", "b/tip", "a/n4"};
	for (int i = 0; i < 4; i++) {
		CalJointDef joint = cal_joint_def(i ? CAL_JOINT_REVOLUTE : CAL_JOINT_FREE);
		joint.name = names[i], joint.axis = (CalVec3){i == 1, i == 2, i == 3};
		add_beam(desc, modes, on[i], &joint);
	}
	return compiled(desc);
}

static void beams_agree(void **state) {
	(void)state;
	for (int modes = 1; modes <= 22; modes++) {
		CalModel *model = beams(modes);
		CalState s;
		CalWork *work;
		Rng r = rng_make((uint64_t)modes);
		check_ok((uint64_t)modes, cal_state_create(model, &s));
		check_ok((uint64_t)modes, cal_work_create(model, &work));
		for (int f = 0; f < model->flex_count; f++)
			rng_fill(&r, 0.02, modes, s.q + model->flexes[f].q);
		rng_fill(&r, 1, cal_model_u_count(model), s.u);
		compare((uint64_t)modes, model, &s, NULL, work);
		cal_work_destroy(work);
		cal_state_destroy(&s);
		cal_model_destroy(model);
	}
}

enum { CHAIN = 6 };

/* Beams of four modes, tip to root, on joints of several kinds; a mass welded to the last tip, or none. */
static CalModel *chain(int welded) {
	static const char *names[CHAIN] = {"a", "b", "c", "d", "e", "f"};
	static const char *on[CHAIN] = {NULL, "a/tip", "b/tip", "c/tip", "d/tip", "e/tip"};
	static const CalJointType types[CHAIN] = {CAL_JOINT_FREE,      CAL_JOINT_REVOLUTE,  CAL_JOINT_SPHERICAL,
	                                          CAL_JOINT_PRISMATIC, CAL_JOINT_UNIVERSAL, CAL_JOINT_REVOLUTE};
	CalDesc *desc;
	CalError error = {0};
	check_ok(0, cal_desc_create(NULL, &desc));
	for (int i = 0; i < CHAIN; i++) {
		CalJointDef joint = cal_joint_def(types[i]);
		joint.name = names[i], joint.axis = (CalVec3){0, i % 2, 1 - i % 2};
		if (types[i] == CAL_JOINT_UNIVERSAL)
			joint.axis2 = (CalVec3){1, 0, 0};
		if (i == 4) // not where the node is
			joint.inboard.position = (CalVec3){0, 0.1, 0.2};
		add_beam(desc, 4, on[i], &joint);
	}
	if (welded) {
		CalBodyDef def = cal_body_def();
		CalJointDef weld = cal_joint_def(CAL_JOINT_WELD);
		CalBodyId body;
		def.name = weld.name = "mass", def.mass = 3, def.inertia = (CalMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
		check_ok(0, cal_desc_add_body(desc, &def, &body, &error));
		check_ok(0, cal_desc_attach(desc, cal_desc_find_node(desc, "f/tip"), &weld, cal_desc_body_node(desc, body),
		                            NULL, &error));
	}
	return compiled(desc);
}

/* Wrenches on tips, on a body and on a node of no joint; with kernels for chained bodies and without. */
static void compare_chain(CalModel *model) {
	enum { WRENCHES = 4 };
	static const char *names[WRENCHES] = {"b/tip", "c", "d/n4", "f/tip"};
	CalState s;
	CalWork *work;
	CalWrench wrenches[WRENCHES];
	Rng r = rng_make(7);
	check_ok(0, cal_state_create(model, &s));
	check_ok(0, cal_work_create(model, &work));
	const int n = cal_model_u_count(model);
	double *x = calloc((size_t)n * 5 + 1, sizeof *x), *whole = x + 2 * n, *tau = x + 4 * n;
	assert_non_null(x);
	rng_fill(&r, 0.02, n, tau);
	cal_config_integrate(model, s.q, tau, s.q);
	rng_fill(&r, 1, n, s.u);
	rng_fill(&r, 20, n, tau);
	for (int i = 0; i < WRENCHES; i++) {
		wrenches[i] = (CalWrench){.node = cal_model_find_node(model, names[i]), .frame = CAL_FRAME_NODE};
		assert_true(wrenches[i].node >= 0);
		rng_fill(&r, 30, 3, &wrenches[i].f.linear.x);
		rng_fill(&r, 10, 3, &wrenches[i].f.angular.x);
	}
	Flex *flexes = (Flex *)(uintptr_t)model->flexes;
	int chained = 0;
	for (int f = 0; f < model->flex_count; f++)
		chained += flexes[f].fused;
	assert_int_equal(chained, CHAIN - 1);
	for (int loaded = 0; loaded < 2; loaded++) {
		const CalInput input = {.tau = tau, .wrenches = wrenches, .wrench_count = loaded ? WRENCHES : 0};
		compare(0, model, &s, &input, work);
		check_ok(0, cal_forward_dynamics(model, &s, &input, work, whole));
		check_ok(0, cal_implicit_dynamics(model, &s, &s, &input, 1e-2, work, whole + n));
		int kept[CHAIN];
		for (int f = 0; f < model->flex_count; f++)
			kept[f] = flexes[f].fused, flexes[f].fused = 0;
		check_ok(0, cal_forward_dynamics(model, &s, &input, work, x));
		check_ok(0, cal_implicit_dynamics(model, &s, &s, &input, 1e-2, work, x + n));
		for (int f = 0; f < model->flex_count; f++)
			flexes[f].fused = kept[f];
		same_bits((uint64_t)loaded, x, whole, 2 * n);
	}
	free(x);
	cal_work_destroy(work);
	cal_state_destroy(&s);
}

/* All but the last have one joint on their tip; a weld leaves its mass on the node, which is then taken by itself. */
static void chains_are_the_sum_of_their_parts(void **state) {
	(void)state;
	for (int welded = 0; welded < 2; welded++) {
		CalModel *model = chain(welded);
		assert_int_equal(model->flex_count, CHAIN);
		compare_chain(model);
		cal_model_destroy(model);
	}
}

static void the_widest_is_chosen(void **state) {
	(void)state;
	CalModel *model = beams(2);
	assert_int_equal(model->isa, cpu_isa());
	print_message("kernels of this processor: %d of %d\n", (int)cpu_isa() + 1, (int)CPU_ISA_COUNT);
	cal_model_destroy(model);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_widest_is_chosen),
		cmocka_unit_test(random_trees_agree),
		cmocka_unit_test(beams_agree),
		cmocka_unit_test(chains_are_the_sum_of_their_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
