// SPDX-License-Identifier: Apache-2.0
/*
 * test_kernels.c — forward dynamics compiled for wider registers gives the bits of the baseline: random rigid and
 * flexible trees, chains of beams whose modes fill one pack, several and parts of one, eliminated directly and through
 * the ports, prescribed freedoms, implicit steps. Looks inside the model to choose the kernels.
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
			check_fail_at(__FILE__, __LINE__, seed, "udot[%d] of %d: %.17g and %.17g", i, n, a[i], b[i]);
	}
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
	free(x);
}

static void random_trees_agree(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + TREES; seed++) {
		TreeOptions options = seed % 3 ? tree_flexible(seed) : tree_any(seed);
		options.foreshortening = seed % 4 == 1;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		if (seed % 2) {
			Rng r = rng_make(seed);
			fixture_prescribe(f, &r);
		}
		compare(seed, f->model, &f->state, &f->input, f->work);
		fixture_destroy(f);
	}
}

/* Three beams in a chain, one more on the middle of the first. */
static CalModel *beams(int modes) {
	CalDesc *desc;
	CalModel *model;
	CalError error = {0};
	check_ok(0, cal_desc_create(NULL, &desc));
	static const char *names[] = {"a", "b", "c", "d"}, *on[] = {NULL, "a/tip", "b/tip", "a/n4"};
	for (int i = 0; i < 4; i++) {
		CalBeamDef def = cal_beam_def();
		CalJointDef joint = cal_joint_def(i ? CAL_JOINT_REVOLUTE : CAL_JOINT_FREE);
		CalBodyId body;
		def.name = joint.name = names[i], def.length = 2;
		def.root = (CalSection){.shape = CAL_SECTION_TUBE,
		                        .height = 0.1,
		                        .thickness = 0.005,
		                        .youngs_modulus = 70e9,
		                        .poissons_ratio = 0.3,
		                        .density = 2700};
		def.deformation = CAL_BEAM_BENDING | CAL_BEAM_TORSION;
		def.choice.modes = modes, def.choice.damping_ratio = 0.01;
		joint.axis = (CalVec3){i == 1, i == 2, i == 3};
		check_ok(0, cal_beam_add(desc, &def, &body, &error));
		const CalNodeId inboard = on[i] ? cal_desc_find_node(desc, on[i]) : (CalNodeId){0};
		check_ok(0, cal_desc_attach(desc, inboard, &joint, cal_desc_body_node(desc, body), NULL, &error));
	}
	check_ok(0, cal_model_compile(desc, &(CalCompileOptions){.solver = CAL_SOLVER_RECURSIVE}, &model, &error));
	cal_desc_destroy(desc);
	return model;
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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
