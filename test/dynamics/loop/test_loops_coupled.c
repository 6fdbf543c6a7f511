// SPDX-License-Identifier: Apache-2.0
/*
 * test_loops_coupled.c — loops between chains, in an order that couples links of both [THEORY 5.10]: ladders against the
 * chain of pendulums that they amount to, nets and scissors against cut joints; what is carried does not grow with the
 * number of rungs; near singular positions and with light rods the result is that of the other ways.
 */
#include "loop_chain.h"
#include "support/failing_allocator.h"

static const double GRAVITY = 9.81;

/* ---- ladders (bench/loop_models.cpp) ------------------------------------------------------------------- */

static double rail_angle(int i) { return 0.7 + 0.3 * sin(0.7 * i); }
static double rail_rate(int i) { return -1.3 + 0.5 * cos(1.1 * i); }

/* x = A^-1 x of a positive matrix of n rows, which is used up. */
static void solve_positive(int n, long double *A, long double *x) {
	for (int k = 0; k < n; k++) {
		for (int i = k + 1; i < n; i++) {
			const long double factor = A[i * n + k] / A[k * n + k];
			for (int j = k; j < n; j++)
				A[i * n + j] -= factor * A[k * n + j];
			x[i] -= factor * x[k];
		}
	}
	for (int i = n - 1; i >= 0; i--) {
		for (int j = i + 1; j < n; j++)
			x[i] -= A[i * n + j] * x[j];
		x[i] /= A[i * n + i];
	}
}

/* Rungs stay level: a chain of n pendulums of twice the mass of a rod (1 kg, 1 m), with the mass of a rung at each tip. */
static void chain_accelerations(int n, double rung, double *accelerations) {
	long double *M = calloc((size_t)(n * n), sizeof *M), *x = calloc((size_t)n, sizeof *x);
	assert_true(M && x);
	for (int i = 0; i < n; i++) {
		const double outboard = (2 + rung) * (n - i - 1) + rung;
		x[i] = -GRAVITY * (outboard + 1) * cosl(rail_angle(i));
		for (int j = 0; j < n; j++) {
			const int outer = i > j ? i : j;
			const double both = i == j ? outboard + 2.0 / 3 : (2 + rung) * (n - outer - 1) + rung + 1;
			const long double turn = (long double)rail_angle(i) - rail_angle(j);
			M[i * n + j] = both * cosl(turn);
			x[i] -= i == j ? 0 : both * sinl(turn) * rail_rate(j) * rail_rate(j);
		}
	}
	solve_positive(n, M, x);
	for (int i = 0; i < n; i++)
		accelerations[i] = (double)x[i];
	free(x);
	free(M);
}

/* Rods of the first rail and their rungs, then those of the second; every other loop has its frames in the other order. */
static Chain *ladder(int n, double rung) {
	Chain *c = chain_create((CalVec3){0, -GRAVITY, 0});
	double *a = calloc((size_t)n, sizeof *a);
	int *rungs = calloc((size_t)n, sizeof *rungs);
	assert_true(a && rungs);
	chain_accelerations(n, rung, a);
	for (int rail = 0; rail < 2; rail++) {
		for (int i = 0, below = -1; i < n; i++) {
			const double q = rail_angle(i) - (i ? rail_angle(i - 1) : 0), u = rail_rate(i) - (i ? rail_rate(i - 1) : 0);
			below = add_hinged_rod(c, below, i ? 1 : rail, 1, q, u, a[i] - (i ? a[i - 1] : 0));
			if (rail == 0)
				rungs[i] = add_hinged_rod(c, below, 1, rung, -rail_angle(i), -rail_rate(i), -a[i]);
			else if (i % 2)
				close_loop(c, CAL_LOOP_REVOLUTE, rungs[i], at_point(1, 0, 0), below, at_point(1, 0, 0));
			else
				close_loop(c, CAL_LOOP_REVOLUTE, below, at_point(1, 0, 0), rungs[i], at_point(1, 0, 0));
		}
	}
	free(rungs);
	free(a);
	return c;
}

static void check_ladder(int n, double rung, CalLoopSolver solver, double tolerance) {
	Chain *c = ladder(n, rung);
	Solved *s = solve(c, solver);
	assert_int_equal(s->status, CAL_OK);
	assert_int_equal(s->rank, 2 * n);
	check_close_scaled(0, "udot", c->dofs, s->udot, c->udot, fmax(1, max_abs(c->dofs, c->udot)), tolerance);
	for (int l = 0; l < n; l++) { // smallest multipliers: what holds it in its plane is none
		for (int r = 2; r < 5; r++)
			assert_true(s->lambda[5 * l + r] == 0);
	}
	solved_destroy(s);
	chain_destroy(c);
}

static void ladders_are_chains_of_pendulums(void **state) {
	(void)state;
	static const int sizes[] = {1, 2, 3, 7, 40, 120};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		check_ladder(sizes[i], 1, CAL_LOOPS_COUPLED, 1e-12);
		check_ladder(sizes[i], 1, CAL_LOOPS_AUTO, 1e-12);
	}
}

/* Where inertias differ by much, the other ways refine. */
static void ladders_with_light_and_heavy_rungs(void **state) {
	(void)state;
	static const double ratio[] = {1e-8, 1e-5, 1e-3, 0.1, 30, 1e3, 1e6};
	for (size_t i = 0; i < sizeof ratio / sizeof *ratio; i++)
		check_ladder(12, ratio[i], CAL_LOOPS_COUPLED, 1e-10);
}

static CalLoopCost cost_of(Chain *c, CalLoopSolver solver) {
	CalLoopCost cost;
	Solved *s = solve(c, solver);
	assert_int_equal(s->status, CAL_OK);
	assert_int_equal(cal_model_loop_cost(s->model, &cost), CAL_OK);
	solved_destroy(s);
	chain_destroy(c);
	return cost;
}

/* What is coupled with a link does not depend on the number of rungs; short ladders are eliminated where they close. */
static void cost_grows_with_the_number_of_rungs(void **state) {
	(void)state;
	const CalLoopCost small = cost_of(ladder(30, 1), CAL_LOOPS_AUTO), large = cost_of(ladder(120, 1), CAL_LOOPS_AUTO);
	assert_int_equal(small.solver, CAL_LOOPS_COUPLED);
	assert_int_equal(large.solver, CAL_LOOPS_COUPLED);
	assert_int_equal(small.carried, large.carried);
	assert_true(large.carried <= 16);
	assert_true(large.products < 4.2 * small.products && large.couplings < 4.2 * small.couplings);
	assert_int_equal(cost_of(ladder(4, 1), CAL_LOOPS_AUTO).solver, CAL_LOOPS_ELIMINATION);
	assert_int_equal(cost_of(ladder(30, 1), CAL_LOOPS_ELIMINATION).solver, CAL_LOOPS_ELIMINATION);
}

/* ---- in space -------------------------------------------------------------------------------------------- */

enum { LONGEST = 32 };

/* Strands of bodies on balls, neighbors held apart by distances: a hanging net. */
static Chain *net(Rng *r, int strands, int length) {
	Chain *c = chain_create((CalVec3){1, 2, -GRAVITY});
	int above[LONGEST], row[LONGEST];
	for (int s = 0; s < strands; s++) {
		for (int i = 0, on = -1; i < length; i++) {
			const CalVec3 at = {on < 0 ? 0 : 1, on < 0 ? s : 0.1, 0};
			on = add_body(c, on, cal_joint_def(i % 2 ? CAL_JOINT_SPHERICAL : CAL_JOINT_UNIVERSAL), at, any_body(r));
			row[i] = on;
			if (s == 0)
				continue;
			CalLoopDef rod = cal_loop_def(CAL_LOOP_DISTANCE);
			char name[16];
			snprintf(name, sizeof name, "l%d", c->loops++);
			rod.name = name, rod.length = rng_uniform(r, 0.9, 1.3);
			rod.a.position = rod.b.position = (CalVec3){0.9, 0, 0.2};
			assert_int_equal(cal_desc_close_loop(c->desc, node_of(c, above[i]), &rod, node_of(c, on), NULL, NULL),
			                 CAL_OK);
		}
		memcpy(above, row, sizeof row);
	}
	c->neutral = 1;
	for (int k = 0; k < MOST; k++)
		c->u[k] = rng_uniform(r, -1, 1);
	return c;
}

/* Strands are taken in turns: what is coupled grows with their number, not with their length. */
static void cost_of_nets_grows_with_their_length(void **state) {
	(void)state;
	CalLoopCost cost[2];
	for (int i = 0; i < 2; i++) {
		Rng r = rng_make(1);
		cost[i] = cost_of(net(&r, 4, i ? LONGEST : LONGEST / 4), CAL_LOOPS_COUPLED);
		assert_int_equal(cost[i].solver, CAL_LOOPS_COUPLED);
	}
	assert_true(cost[1].carried <= cost[0].carried + 6);
	assert_true(cost[1].products < 4.8 * cost[0].products);
}

static void nets_equal_cut_joints(void **state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		Rng r = rng_make(seed);
		Chain *c = net(&r, 2 + (int)(seed % 4), 3 + (int)(seed % 6));
		compare_with_cut_joints(c, CAL_LOOPS_COUPLED, 1e-10);
		compare_with_cut_joints(c, CAL_LOOPS_AUTO, 1e-10);
		chain_destroy(c);
	}
}

/* Two chains whose bodies are tied by balls in space: three equations each, four strands of joints. */
static void tied_chains_equal_cut_joints(void **state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		Rng r = rng_make(seed);
		Chain *c = chain_create((CalVec3){1, 2, -GRAVITY});
		int end[2] = {-1, -1};
		for (int i = 0; i < 8; i++) {
			for (int k = 0; k < 2; k++) {
				for (int j = 0; j < 2; j++) {
					CalJointDef joint = cal_joint_def(j ? CAL_JOINT_REVOLUTE : CAL_JOINT_UNIVERSAL);
					joint.axis = (CalVec3){rng_uniform(&r, -1, 1), rng_uniform(&r, -1, 1), 1};
					end[k] = add_body(c, end[k], joint, (CalVec3){1, rng_uniform(&r, -1, 1), 2.0 * k * (i + j == 0)},
					                  any_body(&r));
				}
			}
			close_loop(c, CAL_LOOP_SPHERICAL, end[0], at_point(0.3, 1, 0.2), end[1], at_point(0.3, -1, 0.2));
		}
		c->neutral = 1;
		for (int k = 0; k < MOST; k++)
			c->u[k] = rng_uniform(&r, -1, 1);
		compare_with_cut_joints(c, CAL_LOOPS_COUPLED, 1e-9);
		compare_with_cut_joints(c, CAL_LOOPS_AUTO, 1e-9);
		chain_destroy(c);
	}
}

/* ---- other operations --------------------------------------------------------------------------------------- */

typedef struct Held {
	double udot[MOST], force[MOST]; // with a rod that is driven
	double alone[MOST];             // the same, nobody asking for forces
	double product[MOST];
	double q[MOST], u[MOST]; // projected
} Held;

/* A ladder with a rod that is driven, the product of M_c with a force, and a projection from a state that is off. */
static void run_operations(const Chain *c, CalLoopSolver solver, Held *out) {
	CalModel *model;
	CalWork *work;
	CalState state;
	const CalCompileOptions options = {.solver = CAL_SOLVER_RECURSIVE, .loops = solver};
	uint8_t prescribed[MOST] = {0};
	double udot[MOST] = {0}, b[MOST];
	assert_int_equal(cal_model_compile(c->desc, &options, &model, NULL), CAL_OK);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	assert_int_equal(cal_state_create(model, &state), CAL_OK);
	const int n = cal_model_u_count(model);
	memcpy(state.q, c->q, sizeof(double) * (size_t)n);
	memcpy(state.u, c->u, sizeof(double) * (size_t)n);
	prescribed[2] = 1, udot[2] = 0.3;
	const CalInput input = {.prescribed = prescribed, .udot = udot};
	assert_int_equal(cal_hybrid_dynamics(model, &state, &input, work, out->udot, out->force), CAL_OK);
	assert_int_equal(cal_hybrid_dynamics(model, &state, &input, work, out->alone, NULL), CAL_OK);
	assert_int_equal(cal_closed_factor(model, &state, NULL, work), CAL_OK);
	for (int k = 0; k < n; k++)
		b[k] = cos(1.7 * k);
	assert_int_equal(cal_closed_solve(model, work, b, out->product), CAL_OK);
	for (int k = 0; k < n; k++)
		state.q[k] += 1e-3 * sin(1.0 + k), state.u[k] += 1e-3 * cos(2.0 * k);
	assert_int_equal(cal_loop_project(model, &state, NULL, work, NULL), CAL_OK);
	memcpy(out->q, state.q, sizeof(double) * (size_t)n);
	memcpy(out->u, state.u, sizeof(double) * (size_t)n);
	cal_state_destroy(&state);
	cal_work_destroy(work);
	cal_model_destroy(model);
}

static void operations_agree_with_elimination(void **state) {
	(void)state;
	Chain *c = ladder(15, 1);
	Held *coupled = calloc(1, sizeof *coupled), *want = calloc(1, sizeof *want);
	assert_true(coupled && want);
	run_operations(c, CAL_LOOPS_COUPLED, coupled);
	run_operations(c, CAL_LOOPS_ELIMINATION, want);
	check_close_scaled(0, "udot", c->dofs, coupled->udot, want->udot, max_abs(c->dofs, want->udot), 1e-11);
	check_close_scaled(0, "alone", c->dofs, coupled->alone, want->udot, max_abs(c->dofs, want->udot), 1e-11);
	check_close_scaled(0, "force", c->dofs, coupled->force, want->force, max_abs(c->dofs, want->force), 1e-11);
	check_close_scaled(0, "product", c->dofs, coupled->product, want->product, max_abs(c->dofs, want->product), 1e-11);
	check_close_scaled(0, "q", c->dofs, coupled->q, want->q, 1, 1e-11);
	check_close_scaled(0, "u", c->dofs, coupled->u, want->u, 1, 1e-11);
	free(want);
	free(coupled);
	chain_destroy(c);
}

/* Without memory for the order there is no model, and all blocks are released. */
static void compilation_reports_lack_of_memory(void **state) {
	(void)state;
	Chain *c = ladder(12, 1);
	CalStatus status = CAL_ERR_MEMORY;
	for (int k = 1; status != CAL_OK; k++) {
		FailingAllocator counter = {.fail_at = k};
		const CalCompileOptions options = {
			.solver = CAL_SOLVER_RECURSIVE, .loops = CAL_LOOPS_COUPLED, .allocator = failing_allocator(&counter)};
		CalModel *model = NULL;
		status = cal_model_compile(c->desc, &options, &model, NULL);
		assert_true(status == CAL_OK || (status == CAL_ERR_MEMORY && !model));
		cal_model_destroy(model);
		assert_int_equal(counter.live, 0);
	}
	chain_destroy(c);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ladders_are_chains_of_pendulums),      cmocka_unit_test(ladders_with_light_and_heavy_rungs),
		cmocka_unit_test(cost_grows_with_the_number_of_rungs),  cmocka_unit_test(nets_equal_cut_joints),
		cmocka_unit_test(cost_of_nets_grows_with_their_length), cmocka_unit_test(tied_chains_equal_cut_joints),
		cmocka_unit_test(operations_agree_with_elimination),    cmocka_unit_test(compilation_reports_lack_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
