// SPDX-License-Identifier: Apache-2.0
/*
 * test_flexible_inertia.c — three ways to the inertia of a flexible body test each other: sums over its masses, invariants
 * without their zeros, and all invariants. Forward and inverse dynamics, mass matrix, energy and momentum of random
 * flexible trees, and of beams, where most invariants vanish; and the choice by cost.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "model/model.h"
#include "support/random_tree.h"

enum { TREES = 80, WAYS = 3 };

static const CalModalInertia ways[WAYS] = {CAL_MODAL_INERTIA_SUMS, CAL_MODAL_INERTIA_INVARIANTS,
                                           CAL_MODAL_INERTIA_DENSE_INVARIANTS};

/* Everything that inertia enters, at one state: [udot nu][tau nu][M nu nu][energy][momentum 6] */
static int results_size(int nu) { return 2 * nu + nu * nu + 7; }

static void evaluate(uint64_t seed, const CalModel *model, const CalState *state, const double *udot, double *out) {
	const int nu = cal_model_u_count(model);
	CalWork *work;
	CalEnergy energy;
	CalMomentum p;
	check_ok(seed, cal_work_create(model, &work));
	check_ok(seed, cal_forward_dynamics(model, state, NULL, work, out));
	check_ok(seed, cal_inverse_dynamics(model, state, udot, NULL, work, out + nu));
	check_ok(seed, cal_mass_matrix(model, state, work, out + 2 * nu));
	check_ok(seed, cal_energy(model, state, work, &energy));
	check_ok(seed, cal_momentum(model, state, work, &p));
	const double last[7] = {energy.kinetic,  p.linear.x,      p.linear.y,     p.linear.z,
	                        p.angular_com.x, p.angular_com.y, p.angular_com.z};
	memcpy(out + 2 * nu + nu * nu, last, sizeof last);
	cal_work_destroy(work);
}

static void near_by(uint64_t seed, const char *what, const double *a, const double *b, int n, double tolerance) {
	double size = 0, error = 0;
	for (int i = 0; i < n; i++) {
		size = fmax(size, fabs(a[i]));
		error = fmax(error, fabs(a[i] - b[i]));
	}
	if (!(error <= tolerance * size))
		check_fail_at(__FILE__, __LINE__, seed, "%s differs by %.3g of %.3g", what, error, size);
}

/* The description compiled in every way. */
static void compare(uint64_t seed, const CalDesc *desc, const CalState *state, const double *udot, double condition) {
	double *x[WAYS];
	int nu = 0;
	for (int way = 0; way < WAYS; way++) {
		CalModel *model;
		CalError error = {0};
		const CalCompileOptions options = {.solver = CAL_SOLVER_RECURSIVE, .modal_inertia = ways[way]};
		check_ok(seed, cal_model_compile(desc, &options, &model, &error));
		nu = cal_model_u_count(model);
		for (int f = 0; f < model->flex_count; f++)
			check_that(seed, (model->flexes[f].inv.first == NULL) == (ways[way] == CAL_MODAL_INERTIA_SUMS));
		x[way] = calloc((size_t)results_size(nu), sizeof **x);
		assert_non_null(x[way]);
		evaluate(seed, model, state, udot, x[way]);
		cal_model_destroy(model);
	}
	for (int way = 1; way < WAYS; way++) {
		const double *a = x[0], *b = x[way];
		near_by(seed, "udot", a, b, nu, condition);
		near_by(seed, "tau", a + nu, b + nu, nu, 1e-12);
		near_by(seed, "M", a + 2 * nu, b + 2 * nu, nu * nu, 1e-13);
		near_by(seed, "energy and momentum", a + 2 * nu + nu * nu, b + 2 * nu + nu * nu, 7, 1e-12);
	}
	for (int way = 0; way < WAYS; way++)
		free(x[way]);
}

static void random_trees(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + TREES; seed++) {
		TreeOptions options = tree_flexible(seed);
		options.foreshortening = seed % 5 == 0;
		options.geometric = seed % 3 == 0;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		compare(seed, f->desc, &f->state, f->udot, 1e-10);
		fixture_destroy(f);
	}
}

static CalDesc *one_beam(int modes, int deformation) {
	CalDesc *desc;
	CalError error = {0};
	CalBeamDef def = cal_beam_def();
	CalJointDef joint = cal_joint_def(CAL_JOINT_FREE);
	CalBodyId body;
	check_ok(0, cal_desc_create(NULL, &desc));
	def.name = joint.name = "beam", def.length = 2, def.deformation = deformation;
	def.root = (CalSection){.shape = CAL_SECTION_TUBE,
	                        .height = 0.1,
	                        .thickness = 0.005,
	                        .youngs_modulus = 70e9,
	                        .poissons_ratio = 0.3,
	                        .density = 2700};
	def.choice.modes = modes;
	check_ok(0, cal_beam_add(desc, &def, &body, &error));
	check_ok(0, cal_desc_attach(desc, (CalNodeId){0}, &joint, cal_desc_body_node(desc, body), NULL, &error));
	return desc;
}

static void beams(void **state) {
	(void)state;
	for (int modes = 1; modes <= 17; modes++) {
		CalDesc *desc = one_beam(modes, CAL_BEAM_ALL);
		CalModel *model;
		CalState s;
		Rng r = rng_make((uint64_t)modes);
		check_ok(0, cal_model_compile(desc, NULL, &model, NULL));
		check_ok(0, cal_state_create(model, &s));
		double *udot = calloc((size_t)cal_model_u_count(model), sizeof *udot);
		assert_non_null(udot);
		rng_fill(&r, 0.1, modes, s.q + model->flexes[0].q);
		rng_fill(&r, 2, cal_model_u_count(model), s.u);
		rng_fill(&r, 5, cal_model_u_count(model), udot);
		compare((uint64_t)modes, desc, &s, udot, 1e-11);
		free(udot);
		cal_state_destroy(&s);
		cal_model_destroy(model);
		cal_desc_destroy(desc);
	}
}

/*
 * Bending modes of a uniform beam are orthogonal: of 9 m blocks for a pack of modes, four or the one that is their
 * diagonal is left. The first modes are so to the last digits.
 */
static void zeros_are_left_out(void **state) {
	(void)state;
	CalDesc *desc = one_beam(8, CAL_BEAM_BEND_Y);
	CalModel *sparse, *dense;
	check_ok(0, cal_model_compile(desc, &(CalCompileOptions){.modal_inertia = ways[1]}, &sparse, NULL));
	check_ok(0, cal_model_compile(desc, &(CalCompileOptions){.modal_inertia = ways[2]}, &dense, NULL));
	const int last = 9 * (sparse->flexes[0].n / PACK);
	assert_int_equal(dense->flexes[0].inv.first[last], last * 8);
	assert_int_equal(sparse->flexes[0].inv.first[9], 1);
	assert_int_equal(sparse->flexes[0].inv.mode[0], ~0);
	assert_true(sparse->flexes[0].inv.first[last] <= 5);
	assert_true(cal_model_size(sparse) < cal_model_size(dense));
	cal_model_destroy(sparse);
	cal_model_destroy(dense);
	cal_desc_destroy(desc);
}

/* A beam has some forty mass points; two masses on general shapes cost less one by one. */
static void the_cheaper_is_chosen(void **state) {
	(void)state;
	enum { MODES = 12 };
	CalDesc *desc = one_beam(4, CAL_BEAM_BENDING), *few;
	CalModel *model;
	CalBodyId body;
	CalError error = {0};
	double shapes[2][3 * MODES], stiffness[MODES * MODES] = {0};
	Rng r = rng_make(5);
	check_ok(0, cal_model_compile(desc, NULL, &model, NULL));
	assert_non_null(model->flexes[0].inv.first);
	cal_model_destroy(model);
	cal_desc_destroy(desc);
	check_ok(0, cal_desc_create(NULL, &few));
	CalBodyDef def = cal_body_def();
	def.name = "few", def.mass = 1, def.inertia = (CalMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
	check_ok(0, cal_desc_add_body(few, &def, &body, &error));
	CalFlexNode nodes[2 + MODES];
	memset(nodes, 0, sizeof nodes);
	for (int i = 0; i < MODES; i++)
		stiffness[i * (MODES + 1)] = 1;
	double turns[MODES][3 * MODES] = {{0}};
	for (int i = 0; i < 2 + MODES; i++) {
		CalNodeDef node = cal_node_def();
		char name[16];
		snprintf(name, sizeof name, "n%d", i);
		node.name = name, node.placement.position = (CalVec3){i, 1, 0};
		check_ok(0, cal_desc_add_node(few, body, &node, &nodes[i].node, &error));
		if (i < 2) {
			rng_fill(&r, 1, 3 * MODES, shapes[i]);
			nodes[i].mass = 1, nodes[i].phi = shapes[i];
		} else { // rotary inertia keeps the modal mass positive
			turns[i - 2][i - 2] = 1;
			nodes[i].inertia = (CalMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, nodes[i].psi = turns[i - 2];
		}
	}
	const CalFlexDef flex = {.modes = MODES, .stiffness = stiffness, .node_count = 2 + MODES, .nodes = nodes};
	check_ok(0, cal_desc_set_flexible(few, body, &flex, &error));
	CalJointDef joint = cal_joint_def(CAL_JOINT_FREE);
	joint.name = "few";
	check_ok(0, cal_desc_attach(few, (CalNodeId){0}, &joint, cal_desc_body_node(few, body), NULL, &error));
	check_ok(0, cal_model_compile(few, NULL, &model, &error));
	assert_null(model->flexes[0].inv.first);
	assert_int_equal(model->flexes[0].mass_count - model->flexes[0].summed_first, 2);
	cal_model_destroy(model);
	cal_desc_destroy(few);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_trees),
		cmocka_unit_test(beams),
		cmocka_unit_test(zeros_are_left_out),
		cmocka_unit_test(the_cheaper_is_chosen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
