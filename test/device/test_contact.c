// SPDX-License-Identifier: Apache-2.0
/*
 * test_contact.c — contact as a device of a simulation: a ball that bounces on the ground, two flyers of different groups
 * that collide, and what is refused. The forces themselves are tested in test/contact.
 */
#include "rig.h"

static const CalGroupId main_group = {0};
static const CalBodyId ground = {0};
static const CalVec3 moments = {0.004, 0.004, 0.004};

static CalShapeDef ball(const char *name, double restitution, double speed) {
	return (CalShapeDef){.name = name,
	                     .type = CAL_SHAPE_SPHERE,
	                     .radius = 0.1,
	                     .material = {.modulus = 1e7, .restitution = restitution, .impact_speed = speed}};
}

/* Falls from rest, 0.2 m above the floor: leaves it with the coefficient of restitution that its material has at that speed. */
static void a_ball_bounces_as_its_material_says(void **state) {
	(void)state;
	const double drop = 0.2, g = 9.81, speed = sqrt(2 * g * drop), e = 0.8;
	Rig rig = rig_new();
	cal_desc_set_gravity(rig.desc, main_group, (CalVec3){0, 0, -g});
	const CalBodyId body = rig_body(&rig, main_group, ground, "m", rig_joint(CAL_JOINT_PRISMATIC, 0, 0, 1), 1, moments);
	CalShapeDef shapes[2] = {ball("ball", e, speed),
	                         {.name = "floor", .type = CAL_SHAPE_PLANE, .material = {.modulus = 1e7}}};
	shapes[1].material.dissipation = cal_contact_dissipation(e, speed);
	const CalNodeId nodes[2] = {rig_frame(&rig, body), {0}};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_contact(rig.sim,
	                           &(CalContactDef){.name = "touch", .shapes = shapes, .nodes = nodes, .shape_count = 2},
	                           NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->q[0] = 0.1 + drop;
	double fastest = 0, lowest = 1;
	for (double t = 0.01; t < 0.45; t += 0.001) {
		rig_advance(&rig, t);
		fastest = fmax(fastest, cal_sim_state(rig.sim, 0)->u[0]);
		lowest = fmin(lowest, cal_sim_state(rig.sim, 0)->q[0]);
	}
	assert_true(lowest < 0.1); // it did touch
	check_near(fastest / speed, e, 0.01);
	check_near(rig_balance(&rig).error, 0, 1e-6);
	rig_free(&rig);
}

/* Two groups, off center: what one loses the other gets, heat and elastic energy close the balance. */
static void groups_collide_and_keep_their_momentum(void **state) {
	(void)state;
	Rig rig = rig_new();
	const CalGroupId other = rig_group(&rig, "other");
	const CalBodyId a = rig_body(&rig, main_group, ground, "a", cal_joint_def(CAL_JOINT_FREE), 1, moments);
	const CalBodyId b = rig_body(&rig, other, ground, "b", cal_joint_def(CAL_JOINT_FREE), 2, moments);
	CalShapeDef shapes[2] = {ball("a", 0.7, 1), ball("b", 0.7, 1)};
	shapes[0].material.friction_dynamic = shapes[1].material.friction_dynamic = 0.3;
	const CalNodeId nodes[2] = {rig_frame(&rig, a), rig_frame(&rig, b)};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_contact(rig.sim,
	                           &(CalContactDef){.name = "touch", .shapes = shapes, .nodes = nodes, .shape_count = 2},
	                           NULL, &rig_error));
	CalState *sa = cal_sim_state(rig.sim, 0), *sb = cal_sim_state(rig.sim, 1);
	sb->q[0] = 0.5, sb->q[1] = 0.08;
	sa->u[0] = 1, sa->u[5] = 3;
	rig_ok(cal_sim_restart(rig.sim, &rig_error));
	const CalSimBalance before = rig_balance(&rig);
	rig_advance(&rig, 1.0);
	const CalSimBalance after = rig_balance(&rig);
	assert_true(sb->u[0] > 0.1); // it was hit
	check_near(after.linear.x, before.linear.x, 1e-12);
	check_near(after.linear.y, before.linear.y, 1e-12);
	check_near(after.angular.z, before.angular.z, 1e-9);
	check_near(after.error, 0, 1e-7);
	rig_free(&rig);
}

/* The same where a flexible body is hit at its tip, a node that bends: it rings, and momentum and energy stay. */
static void a_flexible_tip_is_hit_by_another_group(void **state) {
	(void)state;
	Rig rig = rig_new();
	const CalGroupId other = rig_group(&rig, "other");
	const CalBodyId boom = rig_body(&rig, main_group, ground, "boom", cal_joint_def(CAL_JOINT_FREE), 3, moments);
	const CalBodyId b = rig_body(&rig, other, ground, "b", cal_joint_def(CAL_JOINT_FREE), 2, moments);
	const double phi[] = {0, 1, 0}, stiffness = 400;
	const CalFlexNode tip = {.node = rig_node(&rig, boom, "tip", (CalVec3){1, 0, 0}), .mass = 0.5, .phi = phi};
	const CalFlexDef flex = {.modes = 1, .stiffness = &stiffness, .node_count = 1, .nodes = &tip};
	assert_int_equal(cal_desc_set_flexible(rig.desc, boom, &flex, NULL), CAL_OK);
	CalShapeDef shapes[2] = {ball("tip", 0.7, 1), ball("b", 0.7, 1)};
	const CalNodeId nodes[2] = {tip.node, rig_frame(&rig, b)};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_contact(rig.sim,
	                           &(CalContactDef){.name = "touch", .shapes = shapes, .nodes = nodes, .shape_count = 2},
	                           NULL, &rig_error));
	CalState *sa = cal_sim_state(rig.sim, 0), *sb = cal_sim_state(rig.sim, 1);
	sb->q[0] = 1, sb->q[1] = -0.5;
	sb->u[1] = 1;
	rig_ok(cal_sim_restart(rig.sim, &rig_error));
	const CalSimBalance before = rig_balance(&rig);
	double largest = 0;
	for (double t = 0.01; t < 1; t += 0.01) {
		rig_advance(&rig, t);
		largest = fmax(largest, fabs(sa->q[7]));
	}
	const CalSimBalance after = rig_balance(&rig);
	assert_true(largest > 1e-3 && sb->u[1] < 0.9); // it bent, and the ball was braked
	check_near(after.linear.y, before.linear.y, 1e-12);
	check_near(after.angular.z, before.angular.z, 1e-9);
	check_near(after.error, 0, 1e-7);
	rig_free(&rig);
}

/* Two balls that fall side by side on the floor; the third, between them, is taken away while it touches both. */
static void shapes_of_a_body_that_was_removed_are_left_out(void **state) {
	(void)state;
	static const char *const names[] = {"a", "b", "c"};
	Rig rig[2];
	for (int r = 0; r < 2; r++) { // the second never has the third ball
		const int balls = 3 - r;
		CalShapeDef shapes[4] = {{.name = "floor", .type = CAL_SHAPE_PLANE, .material = {.modulus = 1e7}}};
		CalNodeId nodes[4] = {{0}};
		CalBodyId body[3];
		rig[r] = rig_new();
		for (int i = 0; i < balls; i++) {
			const CalGroupId group = i ? rig_group(&rig[r], names[i]) : main_group;
			cal_desc_set_gravity(rig[r].desc, i ? group : (CalGroupId){1}, (CalVec3){0, 0, -9.81});
			body[i] = rig_body(&rig[r], group, ground, names[i], cal_joint_def(CAL_JOINT_FREE), 1, moments);
			shapes[i + 1] = ball(names[i], 0.8, 1);
			nodes[i + 1] = rig_frame(&rig[r], body[i]);
		}
		const CalContactDef def = {.name = "touch", .shapes = shapes, .nodes = nodes, .shape_count = balls + 1};
		rig_sim(&rig[r], CAL_METHOD_RK4, 1e-4);
		rig_ok(cal_sim_reserve(rig[r].sim, rig[r].desc, &(CalSimCapacity){0}, &rig_error));
		rig_ok(cal_sim_add_contact(rig[r].sim, &def, NULL, &rig_error));
		for (int i = 0; i < balls; i++) {
			cal_sim_state(rig[r].sim, i)->q[0] = i == 2 ? 0 : 0.15 - 0.3 * i;
			cal_sim_state(rig[r].sim, i)->q[2] = i == 2 ? 0.2 : 0.3;
		}
		rig_ok(cal_sim_restart(rig[r].sim, &rig_error));
		if (balls == 3)
			rig_ok(cal_sim_remove_body(rig[r].sim, body[2], NULL, &rig_error));
		rig_advance(&rig[r], 0.5);
		CalDeviceInfo info;
		rig_ok(cal_sim_device(rig[r].sim, 0, &info));
		assert_true(info.active);
	}
	for (int i = 0; i < 2; i++) {
		const CalState *a = cal_sim_state(rig[0].sim, i), *b = cal_sim_state(rig[1].sim, i);
		assert_true(a->q[2] > 0.09); // the floor held it
		assert_memory_equal(a->q, b->q, 7 * sizeof(double));
		assert_memory_equal(a->u, b->u, 6 * sizeof(double));
	}
	// when the last body but one goes, the other bounces on; none of them is not possible
	rig_ok(cal_sim_remove_body(rig[0].sim, (CalBodyId){1}, NULL, &rig_error));
	rig_advance(&rig[0], 1);
	assert_true(cal_sim_state(rig[0].sim, 0)->q[2] > 0.09);
	rig_free(&rig[0]);
	rig_free(&rig[1]);
}

static void what_cannot_touch_is_refused(void **state) {
	(void)state;
	Rig rig = rig_new();
	const CalBodyId a = rig_body(&rig, main_group, ground, "a", cal_joint_def(CAL_JOINT_FREE), 1, moments);
	CalShapeDef shapes[2] = {ball("a", 0.7, 1), ball("b", 0.7, 1)};
	const CalNodeId nodes[2] = {rig_frame(&rig, a), {0}};
	CalContactDef def = {.name = "touch", .shapes = shapes, .nodes = nodes, .shape_count = 1};
	CalError error = {0};
	rig_sim(&rig, CAL_METHOD_RK4, 1e-3);
	assert_int_not_equal(cal_sim_add_contact(rig.sim, &def, NULL, &error), CAL_OK);
	assert_non_null(strstr(error.text, "touch"));
	def.shape_count = 2;
	shapes[1].radius = -1;
	assert_int_not_equal(cal_sim_add_contact(rig.sim, &def, NULL, &error), CAL_OK);
	assert_non_null(strstr(error.text, "\"b\""));
	shapes[1].radius = 0.1;
	def.nodes = (const CalNodeId[]){nodes[0], {77}};
	assert_int_not_equal(cal_sim_add_contact(rig.sim, &def, NULL, &error), CAL_OK); // there has never been such a node
	rig_free(&rig);
}

/* Doubts of kind contact of two balls (radius 0.1 m) on one line that start `apart` from center to center. */
static int overlap_doubts(CalMethod method, double step, double apart) {
	Rig rig = rig_new();
	const CalBodyId a = rig_body(&rig, main_group, ground, "a", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 1, moments);
	const CalBodyId b = rig_body(&rig, main_group, ground, "b", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 1, moments);
	const CalShapeDef shapes[2] = {ball("a", 0.7, 1), ball("b", 0.7, 1)};
	const CalNodeId nodes[2] = {rig_frame(&rig, a), rig_frame(&rig, b)};
	int count = 0;
	rig_sim(&rig, method, step);
	rig_ok(cal_sim_add_contact(rig.sim,
	                           &(CalContactDef){.name = "touch", .shapes = shapes, .nodes = nodes, .shape_count = 2},
	                           NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->q[1] = apart;
	rig_advance(&rig, 1e-3);
	CalDoubt doubt;
	for (int i = 0; cal_sim_doubt(rig.sim, i, &doubt) == CAL_OK; i++)
		count += doubt.kind == CAL_DOUBT_CONTACT;
	rig_free(&rig);
	return count;
}

/* Half of both radii is the limit: deeper, the centers may pass each other, and the force then jumps. */
static void shapes_that_overlap_too_far_raise_a_doubt(void **state) {
	(void)state;
	assert_int_equal(overlap_doubts(CAL_METHOD_DOPRI5, 0, 0.12), 0);
	assert_int_equal(overlap_doubts(CAL_METHOD_RK4, 1e-6, 0.12), 0);
	assert_int_equal(overlap_doubts(CAL_METHOD_DOPRI5, 0, 0.05), 1);
	assert_int_equal(overlap_doubts(CAL_METHOD_RK4, 1e-6, 0.05), 1);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ball_bounces_as_its_material_says),
		cmocka_unit_test(groups_collide_and_keep_their_momentum),
		cmocka_unit_test(a_flexible_tip_is_hit_by_another_group),
		cmocka_unit_test(shapes_of_a_body_that_was_removed_are_left_out),
		cmocka_unit_test(shapes_that_overlap_too_far_raise_a_doubt),
		cmocka_unit_test(what_cannot_touch_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
