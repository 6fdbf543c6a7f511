// SPDX-License-Identifier: Apache-2.0
/*
 * test_closed.c — the inverse of the mass matrix with loops held, and compliance and inertia of nodes: random rigid and
 * flexible trees with loops of every type, redundant ones, planar linkages, light links, held dofs; by elimination and by
 * cut joints, against constrained accelerations in quadruple precision.
 *
 * The reference accelerates under a wrench of 2^40 and without it: the difference is what the wrench alone does.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "dynamics/loop/closed.h"
#include "support/light_loop.h"

static const double PROBE = 1099511627776.0; // 2^40
static const double LITTLE = 1e-2;           // of what the tree does: loops may hold everything
enum { CASES = 20, MOST_NODES = 2 };
static const CalLoopSolver ways[] = {CAL_LOOPS_ELIMINATION, CAL_LOOPS_CUT_JOINT};

/* A model with the loops of its reference, solved one way. */
typedef struct Closed {
	Fixture *f;
	CalModel *model;
	CalWork *work;
	int n, m;
} Closed;

static Closed closed_create(Fixture *f, CalLoopSolver way) {
	Closed c = {.f = f};
	CalError error = {0};
	const CalCompileOptions options = {.solver = CAL_SOLVER_RECURSIVE, .loops = way};
	check_ok(f->seed, cal_model_compile(f->desc, &options, &c.model, &error));
	check_ok(f->seed, cal_work_create(c.model, &c.work));
	c.n = cal_model_u_count(c.model), c.m = cal_model_row_count(c.model);
	return c;
}

static void closed_destroy(Closed *c) {
	cal_work_destroy(c->work);
	cal_model_destroy(c->model);
}

/* udot of the reference under an input, no dof prescribed but those held. */
static void reference_udot(Fixture *f, const uint8_t *held, const double *tau, const CalWrench *wrench, double *udot) {
	uint8_t *prescribed = (uint8_t *)fixture_doubles(f, f->nu / 8 + 1);
	if (held)
		memcpy(prescribed, held, (size_t)f->nu);
	const CalInput in = {.tau = tau, .prescribed = prescribed, .wrenches = wrench, .wrench_count = wrench != NULL};
	RefSolution want = {.udot = udot, .rank_tolerance = 1e-27};
	assert_int_equal(refq_loop_forward(f->ref, f->state.t, f->state.q, f->state.u, &in, &want), 0);
}

/* M_c (tau + J'wrench) of the reference, tau and wrench already times PROBE. */
static void reference_response(Fixture *f, const uint8_t *held, const double *tau, const CalWrench *wrench, double *x) {
	double *without = fixture_doubles(f, f->nu);
	reference_udot(f, held, NULL, NULL, without);
	reference_udot(f, held, tau, wrench, x);
	for (int k = 0; k < f->nu; k++)
		x[k] = (x[k] - without[k]) / PROBE;
}

static void reference_compliance(Fixture *f, const uint8_t *held, const int *nodes, int count, double *C) {
	const int n = f->nu, rows = 6 * count;
	double *J = fixture_doubles(f, rows * n), *x = fixture_doubles(f, n);
	for (int k = 0; k < count; k++)
		refq_jacobian(f->ref, f->state.q, nodes[k], J + 6 * k * n);
	for (int r = 0; r < rows; r++) {
		double e[6] = {0};
		e[r % 6] = PROBE;
		const CalWrench wrench = {nodes[r / 6], CAL_FRAME_WORLD, {{e[0], e[1], e[2]}, {e[3], e[4], e[5]}}};
		reference_response(f, held, NULL, &wrench, x);
		for (int s = 0; s < rows; s++) {
			C[r * rows + s] = 0;
			for (int k = 0; k < n; k++)
				C[r * rows + s] += J[s * n + k] * x[k];
		}
	}
}

typedef struct Nodes {
	int count, ref[MOST_NODES], model[MOST_NODES];
} Nodes;

static Nodes draw_nodes(const Fixture *f, Rng *r) {
	Nodes nodes = {.count = 1 + rng_int(r, MOST_NODES)};
	for (int k = 0; k < nodes.count; k++) {
		nodes.ref[k] = rng_int(r, f->ref->node_count);
		nodes.model[k] = f->node[nodes.ref[k]];
	}
	return nodes;
}

/* The compliance after cal_mass_factor() and after cal_closed_factor(), by both ways. */
static double compare_compliance(Fixture *f, Rng *r, double tolerance) {
	const Nodes nodes = draw_nodes(f, r);
	const int rows = 6 * nodes.count;
	double *want = fixture_doubles(f, rows * rows), *C = fixture_doubles(f, rows * rows), worst = 0;
	double *scratch = fixture_doubles(f, f->nu);
	reference_compliance(f, NULL, nodes.ref, nodes.count, want);
	check_ok(f->seed, cal_mass_factor(f->model, &f->state, f->work)); // the tree alone: what the loops may take all of
	check_ok(f->seed, cal_node_compliance_tree(f->model, f->work, nodes.model, nodes.count, scratch, C));
	const double scale = fmax(max_abs(rows * rows, want), LITTLE * max_abs(rows * rows, C));
	for (size_t way = 0; way < 2; way++) {
		Closed c = closed_create(f, ways[way]);
		for (int closed = 0; closed < 2; closed++) {
			check_ok(f->seed, closed ? cal_closed_factor(c.model, &f->state, NULL, c.work)
			                         : cal_mass_factor(c.model, &f->state, c.work));
			check_ok(f->seed, cal_node_compliance(c.model, c.work, nodes.model, nodes.count, scratch, C));
			check_close_scaled(f->seed, "closed compliance", rows * rows, C, want, scale, tolerance);
			worst = fmax(worst, max_difference(rows * rows, C, want) / scale);
			for (int i = 0; i < rows; i++)
				for (int j = 0; j < i; j++)
					check_that(f->seed, C[i * rows + j] == C[j * rows + i]);
		}
		closed_destroy(&c);
	}
	return worst;
}

static Fixture *random_fixture(uint64_t seed) {
	Fixture *f = fixture_random_loop(seed, loop_any(seed), CAL_SOLVER_RECURSIVE);
	fixture_close_loops(f);
	return f;
}

static void compliance_holds_loops(void **state) {
	(void)state;
	double worst = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		Fixture *f = random_fixture(seed);
		worst = fmax(worst, compare_compliance(f, &r, 1e-9));
		fixture_destroy(f);
	}
	print_message("random loops: compliance within %.1e\n", worst);
}

static void compliance_of_redundant_linkages(void **state) {
	(void)state;
	static const RefLoopType types[] = {REF_LOOP_REVOLUTE, REF_LOOP_CYLINDRICAL, REF_LOOP_SPHERICAL};
	double worst = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
		Rng r = rng_make(seed);
		Fixture *f = fixture_create(seed % 4 == 3 ? loop_windows(3, 0.7, 1, REF_LOOP_REVOLUTE)
		                                          : random_linkage(&r, 3 + rng_int(&r, 4), types[seed % 3]),
		                            seed, CAL_SOLVER_RECURSIVE);
		ref_model_start(f->ref, f->state.q, f->state.u);
		fixture_close_loops(f);
		worst = fmax(worst, compare_compliance(f, &r, 1e-11));
		fixture_destroy(f);
	}
	print_message("redundant linkages: compliance within %.1e\n", worst);
}

static void compliance_of_light_links(void **state) {
	(void)state;
	RefModel *(*const make[])(Rng *) = {light_ring, light_ladder, light_free_ladder, light_feet, light_spatial};
	for (int decades = 3; decades <= 9; decades += 3) {
		double worst = 0;
		for (uint64_t seed = test_seed(); seed < test_seed() + 10; seed++) {
			Rng r = rng_make(seed);
			RefModel *ref = make[seed % 5](&r);
			make_light(ref, &r, pow(10, -decades));
			Fixture *f = fixture_create(ref, seed, CAL_SOLVER_RECURSIVE);
			ref_model_start(f->ref, f->state.q, f->state.u);
			fixture_close_loops(f);
			worst = fmax(worst, compare_compliance(f, &r, 1e-9));
			fixture_destroy(f);
		}
		print_message("light links, 1:1e%d: compliance within %.1e\n", decades, worst);
	}
}

/* Held dofs do not move; the product is symmetric, and no constraint equation accelerates. */
static void products_with_held_dofs(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed + 1000);
		Fixture *f = random_fixture(seed);
		const int n = f->nu;
		uint8_t *held = (uint8_t *)fixture_doubles(f, n / 8 + 1);
		double *b = fixture_doubles(f, n), *load = fixture_doubles(f, n), *x = fixture_doubles(f, n),
			   *want = fixture_doubles(f, n);
		for (int k = 0; k < n; k++) {
			held[k] = rng_int(&r, 5) == 0;
			b[k] = rng_uniform(&r, -1, 1);
			load[k] = held[k] ? 0 : PROBE * b[k];
		}
		reference_response(f, held, load, NULL, want);
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_mass_solve(f->model, f->work, b, x));
		const double scale = fmax(max_abs(n, want), LITTLE * max_abs(n, x));
		for (size_t way = 0; way < 2; way++) {
			Closed c = closed_create(f, ways[way]);
			check_ok(seed, cal_closed_factor(c.model, &f->state, held, c.work));
			check_ok(seed, cal_closed_solve(c.model, c.work, b, x));
			check_close_scaled(seed, "M_c b", n, x, want, scale, 1e-9);
			for (int k = 0; k < n; k++)
				check_that(seed, !held[k] || x[k] == 0);
			memcpy(x, b, sizeof *x * (size_t)n); // in place, once more
			check_ok(seed, cal_closed_solve(c.model, c.work, x, x));
			check_close_scaled(seed, "M_c b", n, x, want, scale, 1e-9);
			closed_destroy(&c);
		}
		fixture_destroy(f);
	}
}

/* The factor of the tree is the same before and after; the open tree yields more. */
static void factor_of_the_tree_stays(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 10; seed++) {
		Rng r = rng_make(seed);
		Fixture *f = random_fixture(seed);
		Closed c = closed_create(f, CAL_LOOPS_ELIMINATION);
		const int n = c.n, node = f->node[rng_int(&r, f->ref->node_count)];
		double *a = fixture_doubles(f, n), *b = fixture_doubles(f, n), *scratch = fixture_doubles(f, n);
		double closed[36], open[36];
		check_ok(seed, cal_mass_factor(c.model, &f->state, c.work));
		check_ok(seed, cal_mass_solve(c.model, c.work, f->tau, a));
		check_ok(seed, cal_node_compliance(c.model, c.work, &node, 1, scratch, closed));
		check_ok(seed, cal_mass_solve(c.model, c.work, f->tau, b));
		assert_memory_equal(a, b, sizeof *a * (size_t)n);
		check_ok(seed, cal_node_compliance_tree(c.model, c.work, &node, 1, scratch, open));
		for (int k = 0; k < 6; k++)
			check_that(seed, closed[7 * k] <= open[7 * k] + 1e-12 * max_abs(36, open));
		closed_destroy(&c);
		fixture_destroy(f);
	}
}

/* The coupler of a four-bar has one direction to move in: Lambda C Lambda = Lambda, and C Lambda C = C. */
static void inertia_of_a_four_bar(void **state) {
	(void)state;
	Rng r = rng_make(3);
	Fixture *f = fixture_create(random_linkage(&r, 3, REF_LOOP_REVOLUTE), 3, CAL_SOLVER_RECURSIVE);
	ref_model_start(f->ref, f->state.q, f->state.u);
	fixture_close_loops(f);
	Closed c = closed_create(f, CAL_LOOPS_ELIMINATION);
	double C[36], Lambda[36], scratch[60], product[36] = {0}, again[36] = {0};
	CalBodyInfo body;
	check_ok(3, cal_model_body(c.model, 1, &body));
	int rank = 0;
	check_ok(3, cal_mass_factor(c.model, &f->state, c.work));
	check_ok(3, cal_node_compliance(c.model, c.work, &body.node, 1, scratch, C));
	check_ok(3, cal_node_inertia(c.model, c.work, &body.node, 1, scratch, Lambda, &rank));
	assert_int_equal(rank, 1);
	for (int i = 0; i < 36; i++)
		for (int k = 0; k < 6; k++)
			product[i] += C[6 * (i / 6) + k] * Lambda[6 * k + i % 6];
	for (int i = 0; i < 36; i++)
		for (int k = 0; k < 6; k++)
			again[i] += product[6 * (i / 6) + k] * C[6 * k + i % 6];
	check_close_scaled(3, "C Lambda C", 36, again, C, max_abs(36, C), 1e-12);
	closed_destroy(&c);
	fixture_destroy(f);
}

/* What an implicit step (h = 0: forward dynamics) accelerates a node by under a wrench alone, held dofs at rest. */
static void probed_row(Fixture *f, Closed *c, double h, const uint8_t *held, int row, const Nodes *nodes, double *out) {
	double *x = fixture_doubles(f, c->n), *without = fixture_doubles(f, c->n), *J = fixture_doubles(f, 6 * c->n);
	double e[6] = {0};
	e[row % 6] = PROBE;
	const CalWrench wrench = {nodes->model[row / 6], CAL_FRAME_WORLD, {{e[0], e[1], e[2]}, {e[3], e[4], e[5]}}};
	for (int k = 0; k < 2; k++) {
		const CalInput in = {.prescribed = held, .wrenches = &wrench, .wrench_count = k};
		double *udot = k ? x : without;
		check_ok(f->seed, h != 0 ? cal_implicit_dynamics(c->model, &f->state, &f->state, &in, h, c->work, udot)
		                         : cal_forward_dynamics(c->model, &f->state, &in, c->work, udot));
	}
	check_ok(f->seed, cal_kinematics(c->model, &f->state, NULL, c->work));
	for (int i = 0; i < nodes->count; i++) {
		check_ok(f->seed, cal_node_jacobian(c->model, c->work, nodes->model[i], J));
		for (int s = 0; s < 6; s++) {
			out[6 * i + s] = 0;
			for (int k = 0; k < c->n; k++)
				out[6 * i + s] += J[s * c->n + k] * (x[k] - without[k]) / PROBE;
		}
	}
}

/* Trees and loops, rigid and flexible, held dofs, in steps of several lengths. */
static void compliance_of_steps(void **state) {
	(void)state;
	static const double steps[] = {0, 1e-2, 0.5};
	for (uint64_t seed = test_seed(); seed < test_seed() + 3 * CASES; seed++) {
		Rng r = rng_make(seed + 2000);
		Fixture *f = seed % 2
		                 ? random_fixture(seed)
		                 : fixture_random(seed, seed % 4 ? tree_flexible(seed) : tree_any(seed), CAL_SOLVER_RECURSIVE);
		Closed c = closed_create(f, ways[seed / 2 % 2]);
		const Nodes nodes = draw_nodes(f, &r);
		const int rows = 6 * nodes.count;
		const double h = steps[seed % 3];
		uint8_t *held = (uint8_t *)fixture_doubles(f, c.n / 8 + 1);
		double *want = fixture_doubles(f, rows * rows), *C = fixture_doubles(f, rows * rows);
		double *columns = fixture_doubles(f, c.n * (rows + 1));
		for (int k = 0; k < c.n; k++)
			held[k] = seed % 5 < 2 && rng_int(&r, 5) == 0;
		for (int row = 0; row < rows; row++)
			probed_row(f, &c, h, held, row, &nodes, want + row * rows);
		check_ok(seed, cal_mass_factor(c.model, &f->state, c.work)); // the tree alone, of which little may be left
		check_ok(seed, cal_node_compliance_tree(c.model, c.work, nodes.model, nodes.count, columns, C));
		const double scale = fmax(max_abs(rows * rows, want), LITTLE * max_abs(rows * rows, C));
		check_ok(seed, closed_factor(c.model, &f->state, held, h, c.work));
		check_ok(seed, closed_compliance(c.model, c.work, nodes.model, nodes.count, columns, C));
		check_close_scaled(seed, "compliance of a step", rows * rows, C, want, scale, 1e-9);
		closed_destroy(&c);
		fixture_destroy(f);
	}
}

static void calls_need_their_stage(void **state) {
	(void)state;
	Fixture *f = random_fixture(test_seed());
	Closed c = closed_create(f, CAL_LOOPS_ELIMINATION);
	double C[36], *x = fixture_doubles(f, c.n + 60);
	check_ok(0, cal_kinematics(c.model, &f->state, NULL, c.work));
	check_status(0, cal_closed_solve(c.model, c.work, x, x), CAL_ERR_STAGE);
	check_status(0, cal_node_compliance(c.model, c.work, f->node, 1, x, C), CAL_ERR_STAGE);
	check_ok(0, cal_closed_factor(c.model, &f->state, NULL, c.work));
	check_status(0, cal_node_compliance_tree(c.model, c.work, f->node, 1, x, C), CAL_ERR_STAGE);
	check_status(0, cal_mass_solve(c.model, c.work, x, x), CAL_ERR_STAGE);
	check_status(0, cal_closed_solve(c.model, c.work, NULL, x), CAL_ERR_ARGUMENT);
	check_status(0, cal_closed_factor(c.model, NULL, NULL, c.work), CAL_ERR_ARGUMENT);
	closed_destroy(&c);
	fixture_destroy(f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compliance_holds_loops),    cmocka_unit_test(compliance_of_redundant_linkages),
		cmocka_unit_test(compliance_of_light_links), cmocka_unit_test(products_with_held_dofs),
		cmocka_unit_test(factor_of_the_tree_stays),  cmocka_unit_test(inertia_of_a_four_bar),
		cmocka_unit_test(compliance_of_steps),       cmocka_unit_test(calls_need_their_stage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
