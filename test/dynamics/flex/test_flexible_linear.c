// SPDX-License-Identifier: Apache-2.0
/*
 * test_flexible_linear.c — many modes: the elimination that is linear in their number against the direct one (which
 * a prescribed mode falls back to), the dense solver and inverse dynamics, on trees of beams with several joints on
 * one body. Reads the model's internals to verify that the linear elimination is used.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "model/model.h"
#include "support/check.h"
#include "support/rng.h"

enum { MODES = 22, BEAMS = 4 };

typedef struct Tree {
	CalDesc *desc;
	CalModel *model;
	CalWork *work;
	CalState state;
	int nu;
	double *tau, *udot, *other;
} Tree;

static void add_beam(CalDesc *desc, const char *name, CalNodeId inboard, CalJointType type, double twist) {
	CalBeamDef def = cal_beam_def();
	CalBodyId body;
	CalError error = {0};
	def.name = name, def.length = 2;
	def.root = (CalSection){.shape = CAL_SECTION_DIRECT,
	                        .EA = 1e6,
	                        .GJ = 900,
	                        .EIy = 1000,
	                        .EIz = 1500,
	                        .rhoA = 1.5,
	                        .rhoIy = 1e-3,
	                        .rhoIz = 2e-3};
	def.deformation = CAL_BEAM_BENDING | CAL_BEAM_TORSION;
	def.choice.modes = MODES, def.choice.damping_ratio = 0.01;
	check_ok(0, cal_beam_add(desc, &def, &body, &error));
	CalJointDef joint = cal_joint_def(type);
	joint.name = name, joint.axis = (CalVec3){0.2, 1, twist};
	joint.inboard.orientation = (CalQuat){1, 0.1, twist, -0.3};
	check_ok(0, cal_desc_attach(desc, inboard, &joint, cal_desc_body_node(desc, body), NULL, &error));
}

/* A free root with two beams on it, at its tip and its middle, and one more on the tip of the first. */
static Tree tree_create(CalSolver solver, uint64_t seed) {
	Tree t = {0};
	CalError error = {0};
	check_ok(seed, cal_desc_create(NULL, &t.desc));
	check_ok(seed, cal_desc_set_gravity(t.desc, (CalGroupId){0}, (CalVec3){1, -2, -9}));
	add_beam(t.desc, "a", (CalNodeId){0}, CAL_JOINT_FREE, 0);
	add_beam(t.desc, "b", cal_desc_find_node(t.desc, "a/tip"), CAL_JOINT_REVOLUTE, 0.5);
	add_beam(t.desc, "c", cal_desc_find_node(t.desc, "a/n4"), CAL_JOINT_SPHERICAL, -0.4);
	add_beam(t.desc, "d", cal_desc_find_node(t.desc, "b/tip"), CAL_JOINT_PRISMATIC, 0.2);
	check_ok(seed, cal_model_compile(t.desc, &(CalCompileOptions){.solver = solver}, &t.model, &error));
	check_ok(seed, cal_work_create(t.model, &t.work));
	check_ok(seed, cal_state_create(t.model, &t.state));
	t.nu = cal_model_u_count(t.model);
	t.tau = test_doubles(t.nu), t.udot = test_doubles(t.nu), t.other = test_doubles(t.nu);
	Rng r = rng_make(seed);
	rng_fill(&r, 0.05, t.nu, t.other);
	cal_config_integrate(t.model, t.state.q, t.other, t.state.q);
	rng_fill(&r, 1, t.nu, t.state.u);
	rng_fill(&r, 5, t.nu, t.tau);
	return t;
}

static void tree_destroy(Tree *t) {
	free(t->tau), free(t->udot), free(t->other);
	cal_state_destroy(&t->state);
	cal_work_destroy(t->work);
	cal_model_destroy(t->model);
	cal_desc_destroy(t->desc);
}

static void linear_way_is_taken(void **state) {
	(void)state;
	Tree t = tree_create(CAL_SOLVER_RECURSIVE, test_seed());
	assert_int_equal(t.model->flex_count, BEAMS);
	for (int f = 0; f < BEAMS; f++)
		assert_true(t.model->flexes[f].by_ports);
	assert_int_equal(t.model->flexes[0].port_count, 2);
	tree_destroy(&t);
}

/* M udot + h - forces, relative to the largest term: the accelerations' own conditioning does not matter. */
static void inverse_dynamics_gives_the_forces_back(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		Tree t = tree_create(CAL_SOLVER_RECURSIVE, seed);
		const CalWrench wrench = {cal_model_find_node(t.model, "b/n5"), CAL_FRAME_NODE, {{1, 2, -1}, {3, -2, 1}}};
		const CalInput input = {.tau = t.tau, .wrenches = &wrench, .wrench_count = 1};
		check_ok(seed, cal_forward_dynamics(t.model, &t.state, &input, t.work, t.udot));
		check_ok(seed, cal_inverse_dynamics(t.model, &t.state, t.udot, &input, t.work, t.other));
		double *elastic = test_doubles(t.nu);
		check_ok(seed, cal_elastic_forces(t.model, &t.state, t.work, elastic));
		check_close_scaled(seed, "tau", t.nu, t.other, t.tau, max_abs(t.nu, elastic), 1e-10);
		free(elastic);
		tree_destroy(&t);
	}
}

static void linear_equals_dense(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		Tree a = tree_create(CAL_SOLVER_RECURSIVE, seed), b = tree_create(CAL_SOLVER_DENSE, seed);
		const CalInput input = {.tau = a.tau};
		check_ok(seed, cal_forward_dynamics(a.model, &a.state, &input, a.work, a.udot));
		check_ok(seed, cal_forward_dynamics(b.model, &b.state, &input, b.work, b.udot));
		check_close(seed, "udot", a.nu, a.udot, b.udot, 1e-10);
		tree_destroy(&a);
		tree_destroy(&b);
	}
}

/* One mode of each body prescribed at what it would do anyway: the direct way gives the same motion. */
static void linear_equals_direct(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		Tree t = tree_create(CAL_SOLVER_RECURSIVE, seed);
		CalInput input = {.tau = t.tau};
		check_ok(seed, cal_forward_dynamics(t.model, &t.state, &input, t.work, t.udot));
		uint8_t *prescribed = test_alloc((size_t)t.nu, 1);
		for (int f = 0; f < BEAMS; f++)
			prescribed[t.model->flexes[f].u + 3] = 1;
		input.prescribed = prescribed, input.udot = t.udot;
		double *force = test_doubles(t.nu);
		check_ok(seed, cal_hybrid_dynamics(t.model, &t.state, &input, t.work, t.other, force));
		check_close(seed, "udot", t.nu, t.other, t.udot, 1e-10);
		double *elastic = test_doubles(t.nu), *zero = test_doubles(t.nu);
		check_ok(seed, cal_elastic_forces(t.model, &t.state, t.work, elastic));
		check_close_scaled(seed, "force", t.nu, force, zero, max_abs(t.nu, elastic), 1e-10);
		free(prescribed), free(force), free(elastic), free(zero);
		tree_destroy(&t);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linear_way_is_taken),
		cmocka_unit_test(inverse_dynamics_gives_the_forces_back),
		cmocka_unit_test(linear_equals_dense),
		cmocka_unit_test(linear_equals_direct),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
