// SPDX-License-Identifier: Apache-2.0
/*
 * test_invariants.c — bodies from inertia invariants: the same body as the one whose sums they are.
 *
 * Random lumped bodies are described twice: node by node, and by direct sums over their nodes. Chains of three of them
 * must agree in mass matrix, forward and inverse dynamics, energy and momentum, far from the undeformed state.
 */
#include "invariants_sample.h"

/* ---- the two models ------------------------------------------------------------------------ */

typedef struct System {
	CalDesc *desc;
	CalModel *model;
	CalState state;
	CalWork *work;
} System;

/** A flyer, a revolute and a spherical joint, each on the last node of the one before and heading node n0. */
static void system_create(uint64_t seed, const Lumped *bodies, bool invariants, CalSolver solver, System *s) {
	static const CalJointType types[BODIES] = {CAL_JOINT_FREE, CAL_JOINT_REVOLUTE, CAL_JOINT_SPHERICAL};
	CalError error = {0};
	CalNodeId inboard = {0};
	check_ok(seed, cal_desc_create(NULL, &s->desc));
	check_ok(seed, cal_desc_set_gravity(s->desc, (CalGroupId){0}, (CalVec3){1, -2, -9}));
	for (int i = 0; i < BODIES; i++) {
		char name[16], joint_name[16];
		CalFlexNode nodes[NODES];
		Sums sums;
		snprintf(name, sizeof name, "b%d", i);
		snprintf(joint_name, sizeof joint_name, "j%d", i);
		CalBodyId body = add_body(s->desc, &bodies[i], invariants, name, nodes);
		sums_of(&bodies[i], &sums);
		if (make_flexible(s->desc, &bodies[i], invariants ? &sums : NULL, body, nodes, &error) != CAL_OK) {
			check_fail_at(__FILE__, __LINE__, seed, "%s", error.text);
		}
		CalJointDef joint = cal_joint_def(types[i]);
		joint.name = joint_name;
		joint.axis = (CalVec3){0, 1, 0};
		check_ok(seed, cal_desc_attach(s->desc, inboard, &joint, nodes[0].node, NULL, &error));
		inboard = nodes[bodies[i].count - 2].node;
	}
	if (cal_model_compile(s->desc, &(CalCompileOptions){.solver = solver}, &s->model, &error) != CAL_OK) {
		check_fail_at(__FILE__, __LINE__, seed, "%s", error.text);
	}
	check_ok(seed, cal_state_create(s->model, &s->state));
	check_ok(seed, cal_work_create(s->model, &s->work));
}

static void system_destroy(System *s) {
	cal_work_destroy(s->work);
	cal_state_destroy(&s->state);
	cal_model_destroy(s->model);
	cal_desc_destroy(s->desc);
}

/** Modal coordinates up to 1.5: deflections as large as the bodies. */
static void sample_state(Rng *r, const System *a, System *b) {
	rng_fill(r, 1.5, cal_model_q_count(a->model), a->state.q);
	rng_fill(r, 2, cal_model_u_count(a->model), a->state.u);
	assert_int_equal(cal_config_normalize(a->model, a->state.q), CAL_OK);
	cal_state_copy(a->model, &a->state, &b->state);
}

static void compare(uint64_t seed, System *a, System *b, Rng *r) {
	int n = cal_model_u_count(a->model), size = (int)(sizeof(CalMomentum) / sizeof(double));
	double *x = test_doubles(n * n), *y = test_doubles(n * n), *udot = test_doubles(n), *tau = test_doubles(n);
	CalEnergy ea, eb;
	CalMomentum ma, mb;
	rng_fill(r, 3, n, udot);
	rng_fill(r, 3, n, tau);
	const CalInput input = {.tau = tau};
	check_that(seed, cal_model_u_count(b->model) == n);
	check_ok(seed, cal_mass_matrix(a->model, &a->state, a->work, x));
	check_ok(seed, cal_mass_matrix(b->model, &b->state, b->work, y));
	check_close(seed, "mass matrix", n * n, y, x, 1e-13);
	check_ok(seed, cal_inverse_dynamics(a->model, &a->state, udot, NULL, a->work, x));
	check_ok(seed, cal_inverse_dynamics(b->model, &b->state, udot, NULL, b->work, y));
	check_close(seed, "inverse dynamics", n, y, x, 1e-12);
	check_ok(seed, cal_forward_dynamics(a->model, &a->state, &input, a->work, x));
	check_ok(seed, cal_forward_dynamics(b->model, &b->state, &input, b->work, y));
	check_close(seed, "forward dynamics", n, y, x, 1e-12);
	check_ok(seed, cal_energy(a->model, &a->state, a->work, &ea));
	check_ok(seed, cal_energy(b->model, &b->state, b->work, &eb));
	check_close(seed, "energy", 4, &eb.kinetic, &ea.kinetic, 1e-12);
	check_ok(seed, cal_momentum(a->model, &a->state, a->work, &ma));
	check_ok(seed, cal_momentum(b->model, &b->state, b->work, &mb));
	check_close(seed, "momentum", size, &mb.mass, &ma.mass, 1e-12);
	free(x), free(y), free(udot), free(tau);
}

static void the_masses_have_the_integrals(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		Lumped bodies[BODIES];
		System b;
		for (int i = 0; i < BODIES; i++) {
			random_lumped(&r, random_kind(&r), &bodies[i]);
		}
		system_create(seed, bodies, true, CAL_SOLVER_RECURSIVE, &b);
		for (int i = 0; i < BODIES; i++) {
			char name[16];
			Sums want, got;
			int count, m = bodies[i].modes;
			snprintf(name, sizeof name, "b%d", i);
			sums_of(&bodies[i], &want);
			sums_of_body(seed, b.desc, name, &got, &count);
			check_that(seed, count <= 4 + 3 * m && count > 0);
			check_close(seed, "mass", 1, &got.in.mass, &want.in.mass, 1e-14);
			check_close_scaled(seed, "com", 3, &got.in.com.x, &want.in.com.x, 1, 1e-13);
			compare_sums(seed, &got, &want, 1e-13);
		}
		system_destroy(&b);
	}
}

static void same_body_at_any_deflection(CalSolver solver) {
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		Lumped bodies[BODIES];
		System a, b;
		for (int i = 0; i < BODIES; i++) {
			random_lumped(&r, random_kind(&r), &bodies[i]);
		}
		system_create(seed, bodies, false, solver, &a);
		system_create(seed, bodies, true, solver, &b);
		for (int k = 0; k < 3; k++) {
			sample_state(&r, &a, &b);
			compare(seed, &a, &b, &r);
		}
		system_destroy(&a);
		system_destroy(&b);
	}
}

static void the_same_body_by_recursion(void **state) {
	(void)state;
	same_body_at_any_deflection(CAL_SOLVER_RECURSIVE);
}

static void the_same_body_with_a_dense_matrix(void **state) {
	(void)state;
	same_body_at_any_deflection(CAL_SOLVER_DENSE);
}

/* ---- other forms of the same --------------------------------------------------------------- */

/** Without rotary inertia, angular and modal_mass are functions of the others. */
static void rotary_parts_may_be_left_out(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		Lumped b;
		Sums sums, given;
		random_lumped(&r, (Kind){.modes = 4, .count = 9, .rigid = true, .rows = 7, .plane = 7}, &b);
		sums_of(&b, &sums);
		given = sums;
		given.in.angular = given.in.modal_mass = NULL;
		must_take(seed, &b, &given, &sums, 1e-13);
	}
}

/** Inertias of textbook tops, which no masses have, are given on a node of their own. */
static void inertia_beyond_the_triangle_inequality(void **state) {
	(void)state;
	Rng r = rng_make(test_seed());
	Lumped b;
	Sums sums;
	random_lumped(&r, (Kind){.modes = 2, .count = 8, .rigid = true, .rows = 6, .plane = 7}, &b);
	b.J[b.count - 1] = (CalMat3){{{9, 0.5, 0}, {0.5, 0.1, 0}, {0, 0, 0.1}}};
	sums_of(&b, &sums);
	must_take(test_seed(), &b, &sums, &sums, 1e-13);
}

static double rounded(double x, int digits) {
	char text[40];
	snprintf(text, sizeof text, "%.*e", digits - 1, x);
	return strtod(text, NULL);
}

static void round_all(int digits, Sums *s) {
	int m = s->in.modes;
	struct {
		double *x;
		int n;
	} arrays[] = {{&s->in.mass, 1},    {&s->in.com.x, 3},    {&s->in.inertia.m[0][0], 9}, {s->linear, 3 * m},
	              {s->angular, 3 * m}, {s->position, 9 * m}, {s->shape, 9 * m * m},       {s->modal, m * m}};
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
		for (int k = 0; k < arrays[i].n; k++) {
			arrays[i].x[k] = rounded(arrays[i].x[k], digits);
		}
	}
	s->in.linear = s->linear;
	s->in.angular = s->angular;
	s->in.position = s->position;
	s->in.shape = s->shape;
	s->in.modal_mass = s->modal;
}

/** With nine digits a body whose Gram matrix is singular is one that no masses have exactly. */
static void numbers_of_nine_digits_are_taken(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		Lumped b;
		Sums sums, given;
		random_lumped(&r, random_kind(&r), &b);
		sums_of(&b, &sums);
		given = sums;
		round_all(9, &given);
		must_take(seed, &b, &given, &sums, 1e-6);
	}
}

/** The nine invariants, as the header translates them. */
static void the_nine_invariants_translate(void **state) {
	(void)state;
	Rng r = rng_make(test_seed());
	Lumped b;
	Sums want, got;
	random_lumped(&r, (Kind){.modes = 3, .count = 9, .rotary = true, .slopes = true, .rows = 7, .plane = 7}, &b);
	sums_of(&b, &want);
	got = want;
	int m = b.modes;
	for (int a = 0; a < m; a++) {
		double I8[9] = {0};
		for (int i = 0; i < b.count; i++) {
			for (int k = 0; k < 9; k++) { // s~ phi~ = phi s' - s.phi 1
				double dot = b.p[i].x * b.phi[i][a] + b.p[i].y * b.phi[i][m + a] + b.p[i].z * b.phi[i][2 * m + a];
				I8[k] += b.mass[i] * (b.phi[i][k / 3 * m + a] * part(b.p[i], k % 3) - (k % 4 == 0 ? dot : 0));
			}
		}
		for (int k = 0; k < 9; k++) {
			got.position[k * m + a] = I8[k % 3 * 3 + k / 3] - (k % 4 == 0 ? (I8[0] + I8[4] + I8[8]) / 2 : 0);
		}
		for (int e = 0; e < m; e++) {
			double I9[9] = {0};
			for (int i = 0; i < b.count; i++) {
				const double *phi = b.phi[i];
				double dot = phi[a] * phi[e] + phi[m + a] * phi[m + e] + phi[2 * m + a] * phi[2 * m + e];
				for (int k = 0; k < 9; k++) {
					I9[k] += b.mass[i] * (phi[k / 3 * m + e] * phi[k % 3 * m + a] - (k % 4 == 0 ? dot : 0));
				}
			}
			for (int k = 0; k < 9; k++) {
				got.shape[(k * m + a) * m + e] = I9[k % 3 * 3 + k / 3] - (k % 4 == 0 ? (I9[0] + I9[4] + I9[8]) / 2 : 0);
			}
		}
	}
	compare_sums(test_seed(), &got, &want, 1e-14);
}

/** A mode that turns masses and does not move them, as torsion of a beam does: all of it is rotary. */
static void a_mode_may_be_rotary_alone(void **state) {
	(void)state;
	Rng r = rng_make(test_seed());
	Lumped b;
	Sums sums;
	CalError error = {0};
	random_lumped(&r, (Kind){.modes = 2, .count = 8, .rotary = true, .slopes = true, .rows = 7, .plane = 7}, &b);
	for (int i = 0; i < b.count; i++) {
		for (int c = 0; c < 3; c++) {
			b.phi[i][2 * c + 1] = 0;
		}
	}
	sums_of(&b, &sums);
	must_take(test_seed(), &b, &sums, &sums, 1e-13);
	sums.position[1] = sums.in.mass;
	assert_int_equal(try_sums(&b, &sums, NULL, &error), CAL_ERR_MODEL);
	assert_non_null(strstr(error.text, "position: xx of mode 2 is"));
	assert_non_null(strstr(error.text, "the mode has no moments of shape"));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_masses_have_the_integrals),          cmocka_unit_test(the_same_body_by_recursion),
		cmocka_unit_test(the_same_body_with_a_dense_matrix),      cmocka_unit_test(rotary_parts_may_be_left_out),
		cmocka_unit_test(inertia_beyond_the_triangle_inequality), cmocka_unit_test(numbers_of_nine_digits_are_taken),
		cmocka_unit_test(the_nine_invariants_translate),          cmocka_unit_test(a_mode_may_be_rotary_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
