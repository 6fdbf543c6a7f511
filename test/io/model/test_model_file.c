// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file.c — every section of a native file arrives in the description, the state, the loads and the
 * run settings; shapes give textbook inertias; map, list and JSON forms mean the same.
 */
#include <math.h>

#include "support/model_file_support.h"

#define PI 3.14159265358979323846

static void shapes_give_textbook_inertias(void **state) {
	(void)state;
	CalSetup *file = file_of("calder: 1\n"
	                         "bodies:\n"
	                         "  box: {mass: 12, box: [1, 2, 3]}\n"
	                         "  turned: {mass: 12, box: {size: [1, 2, 3], orientation: {z: 90 deg}}}\n"
	                         "  ball: {density: 3, sphere: 2, com: [1, 0, 0]}\n"
	                         "  tube: {mass: 4, cylinder: {radius: 2, inner_radius: 1, length: 6, axis: x}}\n"
	                         "  drum: {density: 1, cylinder: {radius: 1, from: [0, 0, 1], to: [0, 0, 3]}}\n"
	                         "  rod: {mass: 12, rod: {from: [0, 0, 0], to: [0, 3, 4]}}\n"
	                         "  matrix: {mass: 1, inertia: [[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]]}\n"
	                         "  map: {mass: 1, inertia: {xx: 3, yy: 4, zz: 5, xy: 0.1, xz: 0.2, yz: 0.3}}\n"
	                         "joints:\n"
	                         "  a: {type: free, to: box}\n  b: {type: free, to: turned}\n  c: {type: free, to: ball}\n"
	                         "  d: {type: free, to: tube}\n  e: {type: free, to: drum}\n  f: {type: weld, to: rod}\n"
	                         "  g: {type: free, to: matrix}\n  h: {type: free, to: map}\n");
	CalModel *model = model_of(file, NULL);
	CalBodyInfo b = body_of(model, "box");
	assert_near(b.inertia.m[0][0], 13, 1e-12);
	assert_near(b.inertia.m[1][1], 10, 1e-12);
	assert_near(b.inertia.m[2][2], 5, 1e-12);
	b = body_of(model, "turned");
	assert_near(b.inertia.m[0][0], 10, 1e-12);
	assert_near(b.inertia.m[1][1], 13, 1e-12);
	assert_near(b.inertia.m[0][1], 0, 1e-12);
	b = body_of(model, "ball");
	assert_near(b.mass, 3 * 4 * PI / 3 * 8, 1e-10);
	assert_near(b.inertia.m[1][1], 0.4 * b.mass * 4, 1e-10);
	assert_near(b.com.x, 1, 0);
	b = body_of(model, "tube");
	assert_near(b.inertia.m[0][0], 4 * 5 / 2.0, 1e-12);
	assert_near(b.inertia.m[1][1], 4 * (3 * 5 + 36) / 12.0, 1e-12);
	b = body_of(model, "drum");
	assert_near(b.mass, 2 * PI, 1e-12);
	assert_near(b.com.z, 2, 1e-15);
	assert_near(b.inertia.m[2][2], PI, 1e-12);
	b = body_of(model, "rod");
	assert_near(b.com.y, 1.5, 1e-15);
	assert_near(b.inertia.m[0][0], 25, 1e-12);
	assert_near(b.inertia.m[1][1], 25 * 0.64, 1e-12);
	assert_near(b.inertia.m[1][2], -25 * 0.48, 1e-12);
	const CalBodyInfo p = body_of(model, "matrix"), q = body_of(model, "map");
	assert_memory_equal(&p.inertia, &q.inertia, sizeof p.inertia);
	assert_near(p.inertia.m[1][2], 0.3, 0);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

static const char *const two_groups =
	"calder: 1\n"
	"title: Two groups\n"
	"gravity: [0, 0, -9.81 m/s^2]\n"
	"groups: {moon: {gravity: [0, 0, -1.62]}, empty: }\n"
	"ground: {nodes: {hook: {at: [0, 0, 2], orientation: [{z: 90 deg}, {x: 90 deg}]}}}\n"
	"bodies:\n"
	"  - {name: a, mass: 1, inertia: [1, 1, 1], nodes: [{name: tip, at: [1, 0, 0]}, {name: mid, at: [50 cm, 0, 0]}]}\n"
	"  - {name: b, mass: 2, inertia: [1, 1, 1], nodes: {tip: [0, 1, 0]}}\n"
	"  - {name: c, group: moon, mass: 3, inertia: [1, 1, 1]}\n"
	"joints:\n"
	"  - {name: ja, type: revolute, from: ground/hook, to: a, axis: -y,\n"
	"     dof: {stiffness: 3 N*m/rad, rest: 10 deg, damping: 2 N*m*s/rad, rotor_inertia: 4 kg*m^2, gear_ratio: 5}}\n"
	"  - {name: jb, type: cylindrical, from: a/tip, to: b/tip, axis: [0, 0, 2],\n"
	"     inboard: {at: [0, 0, 0.1], orientation: [0, 1, 0, 0]}, outboard: [0, 0, 0.2],\n"
	"     dof: [{stiffness: 1 N*m/rad}, {stiffness: 7 N/m, prescribed: true}]}\n"
	"  - {name: jc, type: free, to: c}\n"
	"state:\n"
	"  jb: {q: [30 deg, 5 mm], u: [2 rpm, 0.1 m/s]}\n"
	"  ja: {q: 1}\n"
	"  jc: {at: [1, 2, 3], orientation: {x: 180 deg}, angular_velocity: [0, 0, 1 rev/s]}\n"
	"loads:\n"
	"  - {joint: ja, effort: 2 N*m, start: 1 s, end: 3 s}\n"
	"  - {joint: ja, effort: 500 mN*m, start: 2 s}\n"
	"  - {joint: jb, acceleration: [1 deg/s^2, free], end: 2 s}\n"
	"  - {joint: jb, lock: [true, false], start: 2 s, end: 4 s}\n"
	"  - {node: b/tip, frame: node, force: [1 N, 0, 0], moment: [0, 0, 3 N*m], start: 1 s}\n"
	"  - {node: c, force: [0, 0, 1 kN]}\n"
	"run:\n"
	"  {duration: 2 min, method: rk4, step: 5 ms, rtol: 1e-6, atol: 1e-7, min_step: 1 us, max_step: 0.1, max_steps: 1e6,\n"
	"   projection: 150, threads: 2, branches: 6, cross_loops: always,\n"
	"   output: {interval: 10 ms, signals: [q, u, udot, energy, momentum, 'node:a/tip', 'node:ground', 'reaction:jb']}}\n";

static void description_and_state_arrive(void **state) {
	(void)state;
	CalSetup *file = file_of(two_groups);
	CalError error;
	CalModel *main_model = model_of(file, NULL), *moon = model_of(file, "moon");
	assert_int_equal(cal_desc_group_count(cal_setup_desc(file)), 3);
	assert_near(cal_model_gravity(main_model).z, -9.81, 0);
	assert_near(cal_model_gravity(moon).z, -1.62, 0);
	const CalBodyInfo a = body_of(main_model, "a"), b = body_of(main_model, "b");
	CalDofInfo dof;
	assert_int_equal(cal_model_dof(main_model, a.u, &dof), CAL_OK);
	assert_near(dof.stiffness, 3, 0);
	assert_near(dof.rest, PI / 18, 1e-16);
	assert_near(dof.damping, 2, 0);
	assert_near(dof.reflected_inertia, 100, 1e-12);
	assert_int_equal(cal_model_dof(main_model, b.u + 1, &dof), CAL_OK);
	assert_near(dof.stiffness, 7, 0);
	assert_true(dof.prescribed);
	CalState s;
	assert_int_equal(cal_state_create(main_model, &s), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, main_model, &s, &error), CAL_OK);
	assert_near(s.q[a.q], 1, 0);
	assert_near(s.q[b.q], PI / 6, 1e-16);
	assert_near(s.q[b.q + 1], 0.005, 0);
	assert_near(s.u[b.u], PI / 15, 1e-16);
	assert_near(s.u[b.u + 1], 0.1, 0);
	cal_state_destroy(&s);
	assert_int_equal(cal_state_create(moon, &s), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, moon, &s, &error), CAL_OK);
	const double q[7] = {1, 2, 3, 0, 1, 0, 0}, u[6] = {0, 0, 0, 0, 0, 2 * PI};
	for (int i = 0; i < 7; i++)
		assert_near(s.q[i], q[i], 1e-15);
	for (int i = 0; i < 6; i++)
		assert_near(s.u[i], u[i], 1e-15);
	cal_state_destroy(&s);
	cal_model_destroy(moon);
	cal_model_destroy(main_model);
	cal_setup_destroy(file);
}

/* The static placements on both sides of the joints, seen in the poses at zero angles. */
static void placements_arrive(void **state) {
	(void)state;
	CalSetup *file = file_of(two_groups);
	CalModel *model = model_of(file, NULL);
	CalState s;
	CalWork *work;
	CalPose pose;
	assert_int_equal(cal_state_create(model, &s), CAL_OK);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	assert_int_equal(cal_kinematics(model, &s, NULL, work), CAL_OK);
	assert_int_equal(cal_node_pose(model, work, body_of(model, "a").node, &pose), CAL_OK);
	// Rz(90) Rx(90) takes x to y, y to z, z to x.
	assert_near(pose.r.z, 2, 1e-15);
	assert_near(pose.R.m[1][0], 1, 1e-15);
	assert_near(pose.R.m[2][1], 1, 1e-15);
	assert_near(pose.R.m[0][2], 1, 1e-15);
	// b/tip sits at a/tip + 0.1 z_a, then turned by 180 deg about x, then 0.2 along the turned z: -0.1 z_a in all.
	assert_int_equal(cal_node_pose(model, work, cal_model_find_node(model, "b/tip"), &pose), CAL_OK);
	assert_near(pose.r.x, -0.1, 1e-15);
	assert_near(pose.r.y, 1, 1e-15);
	assert_near(pose.r.z, 2, 1e-15);
	cal_work_destroy(work);
	cal_state_destroy(&s);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

static void loads_act_in_their_intervals(void **state) {
	(void)state;
	CalSetup *file = file_of(two_groups);
	CalModel *model = model_of(file, NULL);
	CalError error;
	CalSetupLoads *loads;
	CalState s;
	CalInput in;
	const CalBodyInfo a = body_of(model, "a"), b = body_of(model, "b");
	assert_int_equal(cal_setup_loads_create(file, model, &loads, &error), CAL_OK);
	assert_int_equal(cal_state_create(model, &s), CAL_OK);
	static const struct {
		double t, tau, udot;
		int driven, wrenches;
	} rows[] = {{0, 0, PI / 180, 1, 0}, {1, 2, PI / 180, 1, 1}, {1.999, 2, PI / 180, 1, 1},
	            {2, 2.5, 0, 1, 1},      {3, 0.5, 0, 1, 1},      {4, 0.5, 0, 0, 1}};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		s.t = rows[i].t;
		assert_int_equal(cal_setup_loads_input(loads, model, &s, &in), 0);
		assert_near(in.tau[a.u], rows[i].tau, 1e-15);
		assert_near(in.udot[b.u], rows[i].udot, 1e-17);
		assert_int_equal(in.prescribed[b.u], rows[i].driven);
		assert_int_equal(in.prescribed[b.u + 1], 1); // as described
		assert_int_equal(in.prescribed[a.u], 0);
		assert_int_equal(in.wrench_count, rows[i].wrenches);
	}
	assert_int_equal(in.wrenches[0].frame, CAL_FRAME_NODE);
	assert_int_equal(in.wrenches[0].node, cal_model_find_node(model, "b/tip"));
	assert_near(in.wrenches[0].f.linear.x, 1, 0);
	assert_near(in.wrenches[0].f.angular.z, 3, 0);
	const double times[] = {-1, 0, 1, 2, 3, 4}, next[] = {1, 1, 2, 3, 4, INFINITY};
	for (int i = 0; i < 6; i++)
		assert_true(cal_setup_loads_next_switch(loads, times[i]) == next[i]);
	cal_setup_loads_destroy(loads);
	cal_state_destroy(&s);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

static void run_settings_arrive(void **state) {
	(void)state;
	CalSetup *file = file_of(two_groups);
	const CalRunSettings run = cal_setup_run(file);
	assert_string_equal(run.title, "Two groups");
	assert_near(run.duration, 120, 0);
	assert_int_equal(run.method.method, CAL_METHOD_RK4);
	assert_near(run.method.step, 0.005, 0);
	assert_near(run.method.rtol, 1e-6, 0);
	assert_near(run.method.atol, 1e-7, 0);
	assert_near(run.method.min_step, 1e-6, 0);
	assert_near(run.method.max_step, 0.1, 0);
	assert_int_equal(run.method.max_steps, 1000000);
	assert_int_equal(run.method.projection, 150);
	assert_int_equal(run.threads, 2);
	assert_int_equal(run.branches, 6);
	assert_int_equal(run.cross_loops, CAL_CROSS_LOOPS_ALWAYS);
	assert_int_equal(run.stream_count, 1);
	assert_string_equal(run.streams[0].name, "main");
	assert_null(run.streams[0].file);
	assert_near(run.streams[0].interval, 0.01, 0);
	assert_int_equal(run.streams[0].signal_count, 8);
	assert_string_equal(run.streams[0].signals[5], "node:a/tip");
	cal_setup_destroy(file);
	file = file_of("calder: 1\nbodies: {a: {mass: 1}}\njoints:\nstate:\nloads:\nrun:\n");
	assert_string_equal(cal_setup_run(file).title, "");
	assert_int_equal(cal_setup_run(file).method.method, CAL_METHOD_DOPRI5);
	assert_int_equal(cal_setup_run(file).method.projection, 0);
	assert_int_equal(cal_setup_run(file).stream_count, 0);
	cal_setup_destroy(file);
	file = file_of("calder: 1\nbodies: {a: {mass: 1}}\nrun: {duration: 1, projection: none}\n");
	assert_int_equal(cal_setup_run(file).method.projection, -1);
	cal_setup_destroy(file);
}

static void several_outputs_are_streams(void **state) {
	(void)state;
	CalSetup *file =
		file_of("calder: 1\nbodies: {a: {mass: 1, nodes: {tip: [1, 0, 0]}}}\njoints: {j: {type: weld, to: a}}\n"
	            "loops: {pin: {type: spherical, from: ground, to: a}}\n"
	            "run: {duration: 1, output: [{interval: 1 ms, signals: [pose, 'velocity:a/tip', residual]},\n"
	            "  {name: slow, file: b.h5, interval: 2}, {signals: ['loop:pin.fx', reaction, 'wrench:a']}]}\n");
	const CalRunSettings run = cal_setup_run(file);
	assert_int_equal(run.stream_count, 3);
	assert_string_equal(run.streams[0].name, "main");
	assert_near(run.streams[0].interval, 1e-3, 0);
	assert_int_equal(run.streams[0].signal_count, 3);
	assert_null(run.streams[0].file);
	assert_string_equal(run.streams[1].name, "slow");
	assert_string_equal(run.streams[1].file, "b.h5");
	assert_int_equal(run.streams[1].signal_count, 0);
	assert_string_equal(run.streams[2].name, "stream3");
	assert_string_equal(run.streams[2].signals[0], "loop:pin.fx");
	cal_setup_destroy(file);
}

/* All ten types of joint, and the coordinates that each takes. */
static void every_joint_type_is_read(void **state) {
	(void)state;
	static const struct {
		const char *joint;
		int nq, nu;
		const char *q, *u;
	} rows[] = {
		{"type: weld", 0, 0, NULL, NULL},
		{"type: revolute, axis: x", 1, 1, "1 deg", "1 deg/s"},
		{"type: prismatic, axis: [1, 1, 0]", 1, 1, "1 mm", "1 mm/s"},
		{"type: screw, axis: z, pitch: 5 mm/rev", 1, 1, "1 deg", "1 deg/s"},
		{"type: universal, axis: x, axis2: y", 2, 2, "[1 deg, 2 deg]", "[1 rpm, 0]"},
		{"type: cylindrical", 2, 2, "[1 deg, 2 m]", "[1 rpm, 1 m/s]"},
		{"type: planar, axis: z, axis2: x", 3, 3, "[1 m, 2 m, 3 deg]", "[1 m/s, 2 m/s, 3 deg/s]"},
		{"type: spherical", 4, 3, "[0.6, 0, 0.8, 0]", "[1 deg/s, 0, 0]"},
		{"type: free", 7, 6, "[1 m, 2, 3, 0.6, 0, 0.8, 0]", "[1 m/s, 0, 0, 1 deg/s, 0, 0]"},
		{"type: sequence, elements: [{type: revolute, axis: z}, {type: prismatic, axis: x}, {type: spherical}]", 6, 5,
	     "[1 deg, 2 mm, 1, 0, 0, 0]", "[1 deg/s, 2 mm/s, 0, 0, 1 deg/s]"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[600];
		int used = snprintf(text, sizeof text,
		                    "calder: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\njoints:\n  j: {to: a, %s}\n",
		                    rows[i].joint);
		if (rows[i].q)
			snprintf(text + used, sizeof text - (size_t)used, "state: {j: {q: %s, u: %s}}\n", rows[i].q, rows[i].u);
		CalSetup *file = file_of(text);
		CalModel *model = model_of(file, NULL);
		CalState s;
		CalError error;
		assert_int_equal(cal_model_q_count(model), rows[i].nq);
		assert_int_equal(cal_model_u_count(model), rows[i].nu);
		assert_int_equal(cal_state_create(model, &s), CAL_OK);
		if (cal_setup_apply_state(file, model, &s, &error) != CAL_OK)
			fail_msg("%s: %s", rows[i].joint, error.text);
		if (rows[i].nq)
			assert_true(s.q[0] != 0);
		cal_state_destroy(&s);
		cal_model_destroy(model);
		cal_setup_destroy(file);
	}
}

static void another_models_state_is_refused(void **state) {
	(void)state;
	CalSetup *one = file_of("calder: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\njoints: {j: {type: free, to: a}}\n"
	                        "state: {j: {u: [0, 0, 0, 0, 0, 1]}}\nloads: [{joint: j, lock: true}]\n");
	CalSetup *two =
		file_of("calder: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\njoints: {j: {type: revolute, to: a}}\n");
	CalModel *model = model_of(two, NULL);
	CalState s;
	CalError error;
	CalSetupLoads *loads;
	assert_int_equal(cal_state_create(model, &s), CAL_OK);
	assert_int_equal(cal_setup_apply_state(one, model, &s, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "joint \"j\": the model was not compiled from this setup"));
	assert_int_equal(cal_setup_loads_create(one, model, &loads, &error), CAL_ERR_ARGUMENT);
	assert_null(loads);
	assert_int_equal(cal_setup_apply_state(NULL, model, &s, NULL), CAL_ERR_ARGUMENT);
	cal_setup_destroy(two);
	assert_int_equal(cal_model_file_parse(NULL, 1, NULL, NULL, &two, NULL), CAL_ERR_ARGUMENT);
	cal_state_destroy(&s);
	cal_model_destroy(model);
	cal_setup_destroy(one);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_give_textbook_inertias),
		cmocka_unit_test(description_and_state_arrive),
		cmocka_unit_test(placements_arrive),
		cmocka_unit_test(loads_act_in_their_intervals),
		cmocka_unit_test(run_settings_arrive),
		cmocka_unit_test(several_outputs_are_streams),
		cmocka_unit_test(every_joint_type_is_read),
		cmocka_unit_test(another_models_state_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
