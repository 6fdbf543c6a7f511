// SPDX-License-Identifier: Apache-2.0
/*
 * test_loops_early.c — loops that close on the ground, eliminated before they get there [THEORY 5.9]: chains with feet
 * against the closed form for all sizes, mass ratios and next to singular positions; spatial chains and a platform on legs
 * against cut joints; what is carried does not grow with the number of loops.
 */
#include "loop_chain.h"

/* N four-bars as one chain, feet on the ground (bench/loop_models.cpp); standing rods but the first have mass `post`. */
static Chain *feet(int n, double angle, double rate, double post) {
	const double g = 9.81, standing = 1 + n * post, down = angle + acos(-1.0);
	const double a = -g * (standing / 2 + n) / (standing / 3 + n) * cos(angle);
	Chain *c = chain_create((CalVec3){0, -g, 0});
	int top = add_hinged_rod(c, -1, 0, 1, angle, rate, a);
	for (int i = 0; i < n; i++) {
		const int across = add_hinged_rod(c, top, i ? 0 : 1, 1, i ? -down : -angle, -rate, -a);
		top = add_hinged_rod(c, across, 1, post, down, rate, a);
		if (i % 2)
			close_loop(c, CAL_LOOP_REVOLUTE, -1, at_point(i + 1, 0, 0), top, at_point(1, 0, 0));
		else // frames in the other order
			close_loop(c, CAL_LOOP_REVOLUTE, top, at_point(1, 0, 0), -1, at_point(i + 1, 0, 0));
	}
	return c;
}

/* ---- chains with feet ---------------------------------------------------------------------------------- */

static void check_feet(int n, double angle, double post, double tolerance) {
	Chain *c = feet(n, angle, -1.3, post);
	Solved *s = solve(c, CAL_LOOPS_AUTO);
	assert_int_equal(s->status, CAL_OK);
	assert_int_equal(s->rank, 2 * n);
	check_close_scaled(0, "udot", c->dofs, s->udot, c->udot, fabs(c->udot[0]), tolerance);
	for (int l = 0; l < n; l++) { // smallest multipliers: what holds it in its plane is none
		for (int r = 2; r < 5; r++)
			assert_true(s->lambda[5 * l + r] == 0);
	}
	solved_destroy(s);
	chain_destroy(c);
}

static void feet_have_the_closed_form(void **state) {
	(void)state;
	static const int sizes[] = {1, 2, 3, 5, 9, 40, 200, 800};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		check_feet(sizes[i], 0.7, 1, 1e-12);
}

/* Rods that are light or heavy beside their neighbors; the closed form holds for any masses. */
static void feet_of_any_mass(void **state) {
	(void)state;
	static const double ratio[] = {1e-10, 1e-8, 1e-6, 1e-3, 1e3, 1e6, 1e9, 1e12};
	for (size_t i = 0; i < sizeof ratio / sizeof *ratio; i++) {
		check_feet(5, 0.7, ratio[i], 1e-11);
		if (ratio[i] >= 1e-8)
			check_feet(40, 0.7, ratio[i], 1e-11);
	}
}

/* Next to the position in which all rods are in one line every place fails; at e from it 1e-16/e^2 is lost. */
static void feet_near_a_singular_position(void **state) {
	(void)state;
	for (int n = 3; n <= 60; n *= 2) {
		check_feet(n, 0.1, 1, 1e-12);
		check_feet(n, 1e-3, 1, 1e-10);
		check_feet(n, 1e-5, 1, 1e-6);
	}
}

/* What an evaluation carries, and its couplings, do not depend on the number of loops. */
static void cost_grows_with_the_number_of_loops(void **state) {
	(void)state;
	CalLoopCost cost[2];
	for (int i = 0; i < 2; i++) {
		Chain *c = feet(i ? 800 : 50, 0.7, 0, 1);
		Solved *s = solve(c, CAL_LOOPS_AUTO);
		assert_int_equal(cal_model_loop_cost(s->model, &cost[i]), CAL_OK);
		solved_destroy(s);
		chain_destroy(c);
	}
	assert_int_equal(cost[0].solver, CAL_LOOPS_EARLY);
	assert_int_equal(cost[0].early, 50);
	assert_int_equal(cost[0].carried, 5);
	assert_int_equal(cost[1].carried, 5);
	assert_int_equal(cost[1].couplings, 0);
	assert_true(cost[1].products < 16.01 * cost[0].products);
}

/* ---- in space -------------------------------------------------------------------------------------------- */

/* Closes loops where the bodies are: frames of both sides coincide at the state of the chain. */
static void tie_to_ground(Chain *c, CalLoopType type, int body, CalVec3 at) {
	CalModel *model;
	CalWork *work;
	CalState state;
	CalPose pose;
	CalBodyInfo info;
	assert_int_equal(cal_model_compile(c->desc, NULL, &model, NULL), CAL_OK);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	assert_int_equal(cal_state_create(model, &state), CAL_OK);
	assert_int_equal(cal_kinematics(model, &state, NULL, work), CAL_OK);
	assert_int_equal(cal_model_body(model, body, &info), CAL_OK);
	assert_int_equal(cal_node_pose(model, work, info.node, &pose), CAL_OK);
	const double *R = &pose.R.m[0][0];
	const CalPlacement ground =
		at_point(pose.r.x + R[0] * at.x + R[1] * at.y + R[2] * at.z, pose.r.y + R[3] * at.x + R[4] * at.y + R[5] * at.z,
	             pose.r.z + R[6] * at.x + R[7] * at.y + R[8] * at.z);
	close_loop(c, type, -1, ground, body, at_point(at.x, at.y, at.z));
	cal_state_destroy(&state);
	cal_work_destroy(work);
	cal_model_destroy(model);
}

/* A chain of bodies on balls and hinges with ball feet: three dofs each, at q = 0 and with speeds. */
static void spatial_chains_equal_cut_joints(void **state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		Rng r = rng_make(seed);
		Chain *c = chain_create((CalVec3){1, 2, -9.81});
		int top = -1;
		for (int i = 0; i < 8; i++) {
			for (int k = 0; k < 2; k++) {
				CalJointDef joint = cal_joint_def(k ? CAL_JOINT_UNIVERSAL : CAL_JOINT_REVOLUTE);
				joint.axis = (CalVec3){rng_uniform(&r, -1, 1), rng_uniform(&r, -1, 1), 1};
				top =
					add_body(c, top, joint, (CalVec3){1, rng_uniform(&r, -1, 1), rng_uniform(&r, -1, 1)}, any_body(&r));
			}
			if (i > 0)
				tie_to_ground(c, CAL_LOOP_SPHERICAL, top, (CalVec3){0.3, 1, 0.2});
		}
		c->neutral = 1;
		for (int k = 0; k < MOST; k++)
			c->u[k] = rng_uniform(&r, -1, 1);
		compare_with_cut_joints(c, CAL_LOOPS_AUTO, 1e-9);
		compare_with_cut_joints(c, CAL_LOOPS_EARLY, 1e-9);
		chain_destroy(c);
	}
}

/* Legs on universal joints and slides carry a platform that is free: each satisfies its ball by itself. */
static Chain *platform_on_legs(Rng *r) {
	Chain *c = chain_create((CalVec3){0, 0, -9.81});
	const int top = add_body(c, -1, cal_joint_def(CAL_JOINT_FREE), (CalVec3){0, 0, 1}, any_body(r));
	for (int i = 0; i < 6; i++) {
		const double below = i * acos(0.5) + 0.3 * (i % 2), above = i * acos(0.5) - 0.3 * (i % 2);
		const CalVec3 foot = {2 * cos(below), 2 * sin(below), 0}, at = {cos(above), sin(above), 0};
		const CalVec3 along = {at.x - foot.x, at.y - foot.y, 1};
		CalJointDef slide = cal_joint_def(CAL_JOINT_PRISMATIC);
		slide.axis = along;
		const int lower = add_body(c, -1, cal_joint_def(CAL_JOINT_UNIVERSAL), foot, any_body(r));
		const int upper = add_body(c, lower, slide, (CalVec3){0, 0, 0}, any_body(r));
		close_loop(c, CAL_LOOP_SPHERICAL, top, at_point(at.x, at.y, 0), upper, at_point(along.x, along.y, along.z));
	}
	c->neutral = 1;
	for (int k = 0; k < 24; k++)
		c->u[k] = rng_uniform(r, -1, 1);
	return c;
}

static void legs_of_a_platform_are_not_coupled(void **state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		Rng r = rng_make(seed);
		Chain *c = platform_on_legs(&r);
		CalLoopCost cost;
		Solved *s = solve(c, CAL_LOOPS_AUTO);
		assert_int_equal(cal_model_loop_cost(s->model, &cost), CAL_OK);
		assert_int_equal(cost.early, 6);
		assert_int_equal(cost.carried, 3);
		assert_int_equal(cost.couplings, 0);
		solved_destroy(s);
		compare_with_cut_joints(c, CAL_LOOPS_AUTO, 1e-9);
		chain_destroy(c);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(feet_have_the_closed_form),       cmocka_unit_test(feet_of_any_mass),
		cmocka_unit_test(feet_near_a_singular_position),   cmocka_unit_test(cost_grows_with_the_number_of_loops),
		cmocka_unit_test(spatial_chains_equal_cut_joints), cmocka_unit_test(legs_of_a_platform_are_not_coupled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
