// SPDX-License-Identifier: Apache-2.0
/*
 * test_inverse_kinematics.c — nodes where they are wanted: a planar arm against its closed form, random trees against a motion
 * that is known to get there, limits, directions that do not count, loops, and targets out of reach.
 */
#include <math.h>
#include <string.h>

#include <calder/calder.h>
#include "support/check.h"
#include "support/random_loop.h"
#include "support/random_tree.h"

/* ---- a planar arm: lengths 1 and 0.7, axes along z --------------------------------------------------------- */

typedef struct Arm {
	CalDesc *desc;
	CalModel *model;
	CalState state;
	CalWork *work;
	int tip;
} Arm;

static Arm arm_create(void) {
	Arm a = {0};
	CalError error;
	const double lengths[] = {1, 0.7};
	CalNodeId at = {0};
	assert_int_equal(cal_desc_create(NULL, &a.desc), CAL_OK);
	for (int i = 0; i < 2; i++) {
		CalBodyDef body = cal_body_def();
		CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
		CalNodeDef end = cal_node_def();
		CalBodyId id;
		body.name = i ? "lower" : "upper", body.mass = 1;
		body.inertia = (CalMat3){{{0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}}};
		joint.name = i ? "elbow" : "shoulder", joint.axis = (CalVec3){0, 0, 1};
		end.name = "end", end.placement.position = (CalVec3){lengths[i], 0, 0};
		assert_int_equal(cal_desc_add_body(a.desc, &body, &id, &error), CAL_OK);
		assert_int_equal(cal_desc_attach(a.desc, at, &joint, cal_desc_body_node(a.desc, id), NULL, &error), CAL_OK);
		assert_int_equal(cal_desc_add_node(a.desc, id, &end, &at, &error), CAL_OK);
	}
	assert_int_equal(cal_model_compile(a.desc, NULL, &a.model, &error), CAL_OK);
	assert_int_equal(cal_state_create(a.model, &a.state), CAL_OK);
	assert_int_equal(cal_work_create(a.model, &a.work), CAL_OK);
	a.tip = cal_model_find_node(a.model, "lower/end");
	return a;
}

static void arm_destroy(Arm *a) {
	cal_work_destroy(a->work);
	cal_state_destroy(&a->state);
	cal_model_destroy(a->model);
	cal_desc_destroy(a->desc);
}

static CalNodeTarget place(int node, double x, double y) {
	return (CalNodeTarget){.node = node, .pose = {.r = {x, y, 0}}, .translation = CAL_AXIS_XYZ};
}

/* Both solutions of the closed form, each from its side. */
static void a_planar_arm_has_its_closed_form(void **state) {
	(void)state;
	Arm a = arm_create();
	for (int i = 0; i < 60; i++) {
		const double r = 0.4 + 1.25 * (i % 15) / 15.0, phi = 0.4 * i, x = r * cos(phi), y = r * sin(phi);
		const double bend = acos((r * r - 1 - 0.49) / 1.4), side = i % 2 ? 1 : -1;
		const double elbow = side * bend, shoulder = phi - atan2(0.7 * sin(elbow), 1 + 0.7 * cos(elbow));
		const CalNodeTarget target = place(a.tip, x, y);
		CalReach report;
		a.state.q[0] = shoulder + 0.4, a.state.q[1] = side * 0.8;
		assert_int_equal(cal_inverse_kinematics(a.model, &a.state, &target, 1, NULL, a.work, &report), CAL_OK);
		assert_true(report.target == -1 && report.distance < 1e-9 && report.at_limit == 0);
		assert_near(remainder(a.state.q[0] - shoulder, 2 * 3.14159265358979323846), 0, 1e-8);
		assert_near(remainder(a.state.q[1] - elbow, 2 * 3.14159265358979323846), 0, 1e-8);
	}
	arm_destroy(&a);
}

/* Out of reach: stretched towards the target. A limit in the way: at the limit, as near as it comes. */
static void what_is_out_of_reach_is_approached(void **state) {
	(void)state;
	Arm a = arm_create();
	const CalNodeTarget far = place(a.tip, 3, 4), near = place(a.tip, 0.6, 0.8);
	const double lower[] = {-INFINITY, -0.5}, upper[] = {INFINITY, 0.5};
	const CalReachOptions limits = {.lower = lower, .upper = upper};
	CalReach report;
	a.state.q[0] = 0.3, a.state.q[1] = 0.5;
	assert_int_equal(cal_inverse_kinematics(a.model, &a.state, &far, 1, NULL, a.work, &report), CAL_NOT_CONVERGED);
	assert_near(report.distance, 5 - 1.7, 1e-9);
	assert_int_equal(report.target, 0);
	assert_near(a.state.q[0], atan2(4, 3), 1e-5);
	a.state.q[0] = 0.3, a.state.q[1] = 0.1;
	assert_int_equal(cal_inverse_kinematics(a.model, &a.state, &near, 1, &limits, a.work, &report), CAL_NOT_CONVERGED);
	assert_near(report.distance, sqrt(1.49 + 1.4 * cos(0.5)) - 1, 1e-9); // the limit holds the tip this far out
	assert_near(fabs(a.state.q[1]), 0.5, 0);
	assert_int_equal(report.at_limit, 1);
	arm_destroy(&a);
}

/* A frozen joint stays; of two speeds one is left, which meets one coordinate of the place. */
static void frozen_joints_stay(void **state) {
	(void)state;
	Arm a = arm_create();
	const uint8_t frozen[] = {0, 1};
	CalNodeTarget target = place(a.tip, 0, 0.5);
	target.translation = CAL_AXIS_Y;
	const CalReachOptions options = {.frozen = frozen};
	CalPose pose;
	a.state.q[0] = 0.1, a.state.q[1] = 0.6;
	assert_int_equal(cal_inverse_kinematics(a.model, &a.state, &target, 1, &options, a.work, NULL), CAL_OK);
	assert_near(a.state.q[1], 0.6, 0);
	assert_int_equal(cal_kinematics(a.model, &a.state, NULL, a.work), CAL_OK);
	assert_int_equal(cal_node_pose(a.model, a.work, a.tip, &pose), CAL_OK);
	assert_near(pose.r.y, 0.5, 1e-9);
	arm_destroy(&a);
}

/* ---- trees ---------------------------------------------------------------------------------------------------- */

static CalPose pose_of(Fixture *f, const double *q, int node) {
	CalPose pose;
	CalState at = f->state;
	at.q = (double *)(uintptr_t)q;
	assert_int_equal(cal_kinematics(f->model, &at, NULL, f->work), CAL_OK);
	assert_int_equal(cal_node_pose(f->model, f->work, node, &pose), CAL_OK);
	return pose;
}

static double distance_of(CalPose a, CalPose b) {
	return fabs(a.r.x - b.r.x) + fabs(a.r.y - b.r.y) + fabs(a.r.z - b.r.z);
}

/* Two nodes where a configuration nearby has them: reached, whatever the joints. */
static void trees_reach_what_they_can(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 40; seed++) {
		Fixture *f =
			fixture_random(seed, (TreeOptions){.bodies = 3 + (int)(seed % 8), .chain = seed % 2 == 0, .no_gravity = 1},
		                   CAL_SOLVER_RECURSIVE);
		Rng r = rng_make(seed);
		double *q = fixture_doubles(f, f->nq), *way = fixture_doubles(f, f->nu);
		for (int i = 0; i < f->nu; i++)
			way[i] = rng_uniform(&r, -0.2, 0.2);
		cal_config_integrate(f->model, f->state.q, way, q);
		CalNodeTarget targets[2];
		for (int i = 0; i < 2; i++) {
			const int node = f->node[(i == 0 ? f->ref->node_count - 1 : f->ref->node_count / 2)];
			targets[i] = (CalNodeTarget){node, pose_of(f, q, node), CAL_AXIS_XYZ, CAL_AXIS_XYZ};
		}
		CalReach report;
		const CalStatus status = cal_inverse_kinematics(f->model, &f->state, targets, 2, NULL, f->work, &report);
		check_that(seed, status == CAL_OK && report.target == -1);
		for (int i = 0; i < 2; i++)
			check_that(seed, distance_of(pose_of(f, f->state.q, targets[i].node), targets[i].pose) < 1e-8);
		fixture_destroy(f);
	}
}

/* Two axes of rotation: the third ones point the same way, and the node may turn about it. */
static void a_tool_may_turn_about_its_axis(void **state) {
	(void)state;
	int turned = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		Fixture *f =
			fixture_random(seed, (TreeOptions){.bodies = 1, .joints = 1 << CAL_JOINT_SPHERICAL}, CAL_SOLVER_RECURSIVE);
		Rng r = rng_make(seed);
		double *q = fixture_doubles(f, f->nq), way[3];
		for (int i = 0; i < 3; i++)
			way[i] = rng_uniform(&r, -2, 2);
		cal_config_integrate(f->model, f->state.q, way, q);
		const int node = f->node[f->ref->node_count - 1];
		const CalPose wanted = pose_of(f, q, node);
		const CalNodeTarget target = {node, wanted, 0, CAL_AXIS_X | CAL_AXIS_Y};
		check_that(seed, cal_inverse_kinematics(f->model, &f->state, &target, 1, NULL, f->work, NULL) == CAL_OK);
		const CalPose found = pose_of(f, f->state.q, node);
		double off_z = 0, off_x = 0;
		for (int i = 0; i < 3; i++)
			off_z += fabs(found.R.m[i][2] - wanted.R.m[i][2]), off_x += fabs(found.R.m[i][0] - wanted.R.m[i][0]);
		check_that(seed, off_z < 1e-8);
		turned += off_x > 1e-2;
		fixture_destroy(f);
	}
	assert_true(turned > 15);
}

/* ---- loops ------------------------------------------------------------------------------------------------------ */

/* A window of bars, moved by its mobility: a node is brought back to where it was, with the loops closed. */
static void loops_stay_closed(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++) {
		Fixture *f =
			fixture_create(loop_windows(1 + (int)(seed % 3), 0.7, 1.5, REF_LOOP_REVOLUTE), seed, CAL_SOLVER_RECURSIVE);
		ref_model_start(f->ref, f->state.q, f->state.u);
		fixture_close_loops(f);
		double *q = fixture_doubles(f, f->nq);
		memcpy(q, f->state.q, sizeof(double) * (size_t)f->nq);
		const int node = f->node[f->ref->node_count - 1];
		CalNodeTarget target = {node, pose_of(f, q, node), CAL_AXIS_XYZ, 0};
		double *way = fixture_doubles(f, f->nu);
		way[0] = 0.15;
		cal_config_integrate(f->model, q, way, f->state.q);
		CalReach report;
		check_that(seed, cal_inverse_kinematics(f->model, &f->state, &target, 1, NULL, f->work, &report) == CAL_OK);
		CalProjectReport closed;
		check_that(seed, distance_of(pose_of(f, f->state.q, node), target.pose) < 1e-8);
		check_that(seed,
		           cal_loop_project(f->model, &f->state, NULL, f->work, &closed) == CAL_OK && closed.iterations <= 1);
		fixture_destroy(f);
	}
}

static void misuse_is_refused(void **state) {
	(void)state;
	Arm a = arm_create();
	CalNodeTarget target = place(99, 1, 0);
	assert_int_equal(cal_inverse_kinematics(a.model, &a.state, &target, 1, NULL, a.work, NULL), CAL_ERR_ARGUMENT);
	target = place(a.tip, NAN, 0);
	assert_int_equal(cal_inverse_kinematics(a.model, &a.state, &target, 1, NULL, a.work, NULL), CAL_ERR_ARGUMENT);
	target = place(a.tip, 1, 0);
	target.rotation = CAL_AXIS_X; // a turn about one axis alone is no condition of its own
	assert_int_equal(cal_inverse_kinematics(a.model, &a.state, &target, 1, NULL, a.work, NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_inverse_kinematics(a.model, &a.state, NULL, 1, NULL, a.work, NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_inverse_kinematics(a.model, &a.state, NULL, 0, NULL, a.work, NULL), CAL_OK);
	arm_destroy(&a);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_planar_arm_has_its_closed_form),
		cmocka_unit_test(what_is_out_of_reach_is_approached),
		cmocka_unit_test(frozen_joints_stay),
		cmocka_unit_test(trees_reach_what_they_can),
		cmocka_unit_test(a_tool_may_turn_about_its_axis),
		cmocka_unit_test(loops_stay_closed),
		cmocka_unit_test(misuse_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
