// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_subsystem.c — files within files: an instance is the same as what it stands for, written out.
 */
#define _POSIX_C_SOURCE 200809L // fmemopen

#include <math.h>

#include <calder/calder.h>

#include "desc_compare.h"

/* A file beside the test; the names begin alike, and all are removed at the end. */
static const char *const names[] = {"subsystem_arm.yaml", "subsystem_leg.yaml", "subsystem_ring.yaml",
                                    "subsystem_pair.yaml"};

static void put(int file, const char *text) {
	FILE *stream = fopen(names[file], "wb");
	assert_non_null(stream);
	assert_true(fputs(text, stream) >= 0);
	assert_int_equal(fclose(stream), 0);
}

static int clean(void **state) {
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		remove(names[i]);
	return 0;
}

static const char arm[] =
	"calder: 1\n"
	"interface: [column/foot, boom/tip, tool]\n"
	"gravity: [0, 0, -1]\n"
	"groups: {dust: {}}\n"
	"ground: {nodes: {lamp: [1, 1, 1]}}\n"
	"bodies:\n"
	"  - {name: column, mass: 4, box: [0.2, 0.3, 1], nodes: {foot: [0, 0, -0.5], top: [0, 0, 0.5]}}\n"
	"  - name: boom\n"
	"    beam: {length: 2, elements: 2, modes: 3, damping_ratio: 0.01,\n"
	"      section: {shape: tube, diameter: 60 mm, thickness: 3 mm, youngs_modulus: 70 GPa, density: 2700}}\n"
	"  - {name: tool, mass: 1, sphere: 0.1}\n"
	"  - {name: speck, group: dust, mass: 1, sphere: 0.1}\n"
	"joints:\n"
	"  mount: {type: weld, to: column/foot}\n"
	"  shoulder: {type: revolute, from: column/top, to: boom/root, axis: y, inboard: [0, 0, 0.1],\n"
	"    outboard: {orientation: {z: 10 deg}}, dof: {damping: 2, stiffness: 5, rest: 0.1}}\n"
	"  wrist: {type: prismatic, from: boom/tip, to: tool, axis: x}\n"
	"  float: {type: free, to: speck}\n"
	"pendulums: {hook: {node: boom/tip, mass: 1, length: 0.5}}\n"
	"loops: {gear: {type: coupling, terms: [{joint: shoulder, factor: 1}, {joint: wrist, factor: 2}]}}\n"
	"state: {shoulder: {q: 0.2, u: 0.1, eta: [0.01, 0, 0.02], eta_dot: [0, 0.3, 0]}, wrist: {q: -0.1, u: -0.05},\n"
	"  mount: {}, float: {velocity: [0, 0, 1]}}\n"
	"loads: [{joint: shoulder, effort: 1, end: 0.05}, {node: tool, force: [1, 0, 0]}, {body: boom, mode: 1, effort: 0.1},\n"
	"  {name: sway, joint: shoulder, effort: \"-0.2*q(shoulder) + 0*min(1, device(hold.effort))\"},\n"
	"  {name: puff, node: tool, force: [0, [[0, 0], [0.1, 0.2]], 0.1*x(boom/tip)]}]\n"
	"devices:\n"
	"  cord: {type: spring, from: ground/lamp, to: tool, stiffness: 3}\n"
	"  hold: {type: applied_load, joint: shoulder, effort: \"-3*q( shoulder ) - min(2, u('shoulder'))\"}\n"
	"  wind: {type: applied_load, node: boom/tip, force: [\"0.1*distance(boom/tip, ground) - x(tool, ground/lamp)\", 0,\n"
	"    \"vz(tool, column) + q(boom.eta1) + device(cord.pull)\"]}\n"
	"events:\n"
	"  far: {when: \"q(wrist) > -0.09\", do: [{note: far}, {switch_off: cord}]}\n"
	"  later: {after: far, delay: 20 ms, do: {lock: wrist}}\n";

static const char host[] =
	"calder: 1\n"
	"groups: {ship: {gravity: [0, 0, -2]}}\n"
	"bodies: {hub: {group: ship, mass: 100, box: [2, 2, 2], nodes: {a: [1, 0, 0]}}}\n"
	"joints: {fly: {type: free, to: hub}}\n"
	"subsystems:\n"
	"  one: {file: subsystem_arm.yaml, attach: {interface: column/foot, to: hub/a, joint: {type: revolute, axis: x}},\n"
	"    set: {bodies.column.mass: 5, joints.shoulder.dof.rest: 0.3, bodies.tool.nodes: {n: [0, 0, 1]}}}\n"
	"state: {fly: {angular_velocity: [0.1, 0, 0.2]}, one/float: {velocity: [0, 0, 3]}}\n"
	"devices: {tap: {type: applied_load, node: hub, force: [\"0.1*device(one/cord.pull)\", 0, 0]}}\n"
	"run: {duration: 0.2 s}\n";

static const char flat[] =
	"calder: 1\n"
	"groups: {ship: {gravity: [0, 0, -2]}, one/dust: {}}\n"
	"ground: {nodes: {one/lamp: [1, 1, 1]}}\n"
	"bodies:\n"
	"  hub: {group: ship, mass: 100, box: [2, 2, 2], nodes: {a: [1, 0, 0]}}\n"
	"  one/column: {group: ship, mass: 5, box: [0.2, 0.3, 1], nodes: {foot: [0, 0, -0.5], top: [0, 0, 0.5]}}\n"
	"  one/boom:\n"
	"    group: ship\n"
	"    beam: {length: 2, elements: 2, modes: 3, damping_ratio: 0.01,\n"
	"      section: {shape: tube, diameter: 60 mm, thickness: 3 mm, youngs_modulus: 70 GPa, density: 2700}}\n"
	"  one/tool: {group: ship, mass: 1, sphere: 0.1, nodes: {n: [0, 0, 1]}}\n"
	"  one/speck: {group: one/dust, mass: 1, sphere: 0.1}\n"
	"joints:\n"
	"  fly: {type: free, to: hub}\n"
	"  one/mount: {type: revolute, axis: x, from: hub/a, to: one/column/foot}\n"
	"  one/shoulder: {type: revolute, from: one/column/top, to: one/boom/root, axis: y, inboard: [0, 0, 0.1],\n"
	"    outboard: {orientation: {z: 10 deg}}, dof: {damping: 2, stiffness: 5, rest: 0.3}}\n"
	"  one/wrist: {type: prismatic, from: one/boom/tip, to: one/tool, axis: x}\n"
	"  one/float: {type: free, to: one/speck}\n"
	"pendulums: {one/hook: {node: one/boom/tip, mass: 1, length: 0.5}}\n"
	"loops: {one/gear: {type: coupling, terms: [{joint: one/shoulder, factor: 1}, {joint: one/wrist, factor: 2}]}}\n"
	"state: {fly: {angular_velocity: [0.1, 0, 0.2]}, one/float: {velocity: [0, 0, 3]},\n"
	"  one/shoulder: {q: 0.2, u: 0.1, eta: [0.01, 0, 0.02], eta_dot: [0, 0.3, 0]}, one/wrist: {q: -0.1, u: -0.05}}\n"
	"loads: [{joint: one/shoulder, effort: 1, end: 0.05}, {node: one/tool, force: [1, 0, 0]},\n"
	"  {body: one/boom, mode: 1, effort: 0.1},\n"
	"  {name: one/sway, joint: one/shoulder, effort: \"-0.2*q(one/shoulder) + 0*min(1, device(one/hold.effort))\"},\n"
	"  {name: one/puff, node: one/tool, force: [0, [[0, 0], [0.1, 0.2]], 0.1*x(one/boom/tip)]}]\n"
	"devices:\n"
	"  one/cord: {type: spring, from: ground/one/lamp, to: one/tool, stiffness: 3}\n"
	"  one/hold: {type: applied_load, joint: one/shoulder, effort: \"-3*q(one/shoulder) - min(2, u('one/shoulder'))\"}\n"
	"  one/wind: {type: applied_load, node: one/boom/tip,\n"
	"    force: [\"0.1*distance(one/boom/tip, ground) - x(one/tool, ground/one/lamp)\", 0,\n"
	"      \"vz(one/tool, one/column) + q(one/boom.eta1) + device(one/cord.pull)\"]}\n"
	"  tap: {type: applied_load, node: hub, force: [\"0.1*device(one/cord.pull)\", 0, 0]}\n"
	"events:\n"
	"  one/far: {when: \"q(one/wrist) > -0.09\", do: [{note: far}, {switch_off: one/cord}]}\n"
	"  one/later: {after: one/far, delay: 20 ms, do: {lock: one/wrist}}\n"
	"run: {duration: 0.2 s}\n";

typedef struct Run {
	CalSetup *file;
	CalSim *sim;
	CalScenario *scenario;
} Run;

static Run run_of(CalSetup *file) {
	Run run = {.file = file};
	CalError error = {0};
	CalSimOptions options = {.method = cal_setup_run(file).method};
	CalStatus status = cal_sim_create(cal_setup_desc(file), &options, &run.sim, &error);
	if (status == CAL_OK)
		status = cal_scenario_create(file, run.sim, &run.scenario, &error);
	if (status == CAL_OK)
		status = cal_sim_advance(run.sim, cal_setup_run(file).duration, &error);
	if (status != CAL_OK)
		fail_msg("%s", error.text);
	return run;
}

static void run_free(Run *run) {
	cal_scenario_destroy(run->scenario);
	cal_sim_destroy(run->sim);
	cal_setup_destroy(run->file);
}

static void compare_states(CalSim *a, CalSim *b) {
	assert_int_equal(cal_sim_group_count(a), cal_sim_group_count(b));
	for (int i = 0; i < cal_sim_group_count(a); i++) {
		const CalModel *model = cal_sim_model(a, i);
		const CalState *x = cal_sim_state(a, i), *y = cal_sim_state(b, i);
		assert_memory_equal(x->q, y->q, (size_t)cal_model_q_count(model) * sizeof(double));
		assert_memory_equal(x->u, y->u, (size_t)cal_model_u_count(model) * sizeof(double));
	}
}

static void an_instance_is_what_it_stands_for(void **state) {
	(void)state;
	put(0, arm);
	Run a = run_of(file_of(host)), b = run_of(file_of(flat));
	compare_desc(cal_setup_desc(a.file), cal_setup_desc(b.file));
	compare_states(a.sim, b.sim);
	assert_int_equal(cal_sim_event_happened(a.sim, 0, NULL), 1); // something has happened
	assert_int_equal(cal_setup_instance_count(a.file), 1);
	CalSetupInstance instance;
	assert_int_equal(cal_setup_instance(a.file, 0, &instance), CAL_OK);
	assert_string_equal(instance.name, "one");
	assert_string_equal(instance.file, names[0]);
	assert_string_equal(instance.joint, "one/mount");
	assert_int_equal(instance.body_count, 5);
	assert_int_equal(instance.interface_node_count, 3);
	run_free(&a);
	run_free(&b);
}

static void what_is_written_reads_back(void **state) {
	(void)state;
	put(0, arm);
	CalSetup *file = file_of(host);
	char *text = calloc(1, 1 << 18);
	FILE *stream = text ? fmemopen(text, 1 << 18, "w") : NULL;
	assert_non_null(stream);
	CalError error;
	assert_int_equal(cal_model_file_write(file, stream, &error), CAL_OK);
	fclose(stream);
	assert_null(strstr(text, "subsystems"));
	Run a = run_of(file), b = run_of(file_of(text));
	compare_desc(cal_setup_desc(a.file), cal_setup_desc(b.file));
	compare_states(a.sim, b.sim);
	run_free(&a);
	run_free(&b);
	free(text);
}

static void a_subsystem_is_a_model_of_its_own(void **state) {
	(void)state;
	CalSetup *file = file_of(arm);
	assert_int_equal(cal_setup_interface_node_count(file), 3);
	assert_string_equal(cal_setup_interface_node(file, 1), "boom/tip");
	assert_null(cal_setup_interface_node(file, 3));
	assert_int_equal(cal_setup_instance_count(file), 0);
	cal_model_destroy(model_of(file, NULL));
	cal_setup_destroy(file);
}

/* Without couplings, loads or devices, which would not let the shoulder be passed the other way. */
static const char leg[] =
	"calder: 1\n"
	"interface: [foot, thigh/hip]\n"
	"bodies:\n"
	"  foot: {mass: 2, box: [0.3, 0.1, 0.1], nodes: {ankle: [0, 0, 0.1]}}\n"
	"  shin: {beam: {length: 1, elements: 2, modes: 2,\n"
	"    section: {shape: tube, diameter: 40 mm, thickness: 2 mm, youngs_modulus: 7 GPa, density: 2700}}}\n"
	"  thigh: {mass: 3, box: [1, 0.2, 0.1], nodes: {knee: [-0.5, 0, 0], hip: {at: [0.5, 0, 0], orientation: {y: 0.3}}}}\n"
	"joints:\n"
	"  ground: {type: free, to: foot}\n"
	"  ankle: {type: cylindrical, from: foot/ankle, to: shin/root, axis: [1, 2, 0], inboard: [0, 0.1, 0]}\n"
	"  knee: {type: revolute, from: shin/tip, to: thigh/knee, axis: y, outboard: {at: [0.1, 0, 0], orientation: {x: 1}},\n"
	"    dof: {stiffness: 40, rest: 0.2, damping: 0.5}}\n"
	"state: {ankle: {q: [0.3, 0.1], u: [1, -0.2], eta: [0.02, 0.01], eta_dot: [0.5, 0]}, knee: {q: 0.4, u: -2},\n"
	"  ground: {angular_velocity: [0.1, 0.2, 0.3]}}\n";

/*
 * The same leg, carried by its hip or by its foot with the same motion of all bodies: energies and accelerations of its
 * foot agree, and both ways conserve momentum. Where the hip is found from the run by the foot.
 */
static void a_part_is_carried_by_any_of_its_bodies(void **state) {
	(void)state;
	static const char by_foot[] =
		"calder: 1\nbodies: {}\n"
		"subsystems: {l: {file: subsystem_leg.yaml, attach: {interface: foot, to: ground, joint: free}}}\n"
		"state: {l/ground: {at: [1, 2, 3], velocity: [0.5, 0, 0], angular_velocity: [0.1, 0.2, 0.3]}}\n";
	put(1, leg);
	CalSetup *foot = file_of(by_foot);
	CalModel *model = model_of(foot, NULL);
	CalState s;
	CalWork *work;
	CalError error;
	assert_int_equal(cal_state_create(model, &s), CAL_OK);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	assert_int_equal(cal_setup_apply_state(foot, model, &s, &error), CAL_OK);
	double udot[16], other_udot[16];
	assert_true(cal_model_u_count(model) <= 16);
	assert_int_equal(cal_kinematics(model, &s, NULL, work), CAL_OK);
	CalPose hip;
	CalSpatial velocity;
	const int hip_node = cal_model_find_node(model, "l/thigh/hip"), foot_node = cal_model_find_node(model, "l/foot");
	assert_int_equal(cal_node_pose(model, work, hip_node, &hip), CAL_OK);
	assert_int_equal(cal_node_velocity(model, work, hip_node, &velocity), CAL_OK);
	CalEnergy energy, other_energy;
	assert_int_equal(cal_energy(model, &s, work, &energy), CAL_OK);
	CalSpatial a, b;
	assert_int_equal(cal_forward_dynamics(model, &s, NULL, work, udot), CAL_OK);
	assert_int_equal(cal_node_acceleration(model, work, foot_node, &a), CAL_OK);

	CalSetup *carried = file_of("calder: 1\nbodies: {}\nsubsystems: {l: {file: subsystem_leg.yaml,\n"
	                            "  attach: {interface: thigh/hip, to: ground, joint: {type: free}}}}\n");
	CalModel *turned = model_of(carried, NULL);
	assert_int_equal(cal_model_u_count(turned), cal_model_u_count(model));
	CalBodyInfo root = body_of(turned, "l/thigh");
	assert_int_equal(root.parent, -1);
	assert_string_equal(root.joint, "l/ground");
	assert_int_equal(body_of(turned, "l/shin").modes, 2);
	CalState t;
	CalWork *turned_work;
	assert_int_equal(cal_state_create(turned, &t), CAL_OK);
	assert_int_equal(cal_work_create(turned, &turned_work), CAL_OK);
	assert_int_equal(cal_setup_apply_state(carried, turned, &t, &error), CAL_OK);
	const double w = 0.5 * sqrt(1 + hip.R.m[0][0] + hip.R.m[1][1] + hip.R.m[2][2]);
	const double q[7] = {hip.r.x,
	                     hip.r.y,
	                     hip.r.z,
	                     w,
	                     (hip.R.m[2][1] - hip.R.m[1][2]) / (4 * w),
	                     (hip.R.m[0][2] - hip.R.m[2][0]) / (4 * w),
	                     (hip.R.m[1][0] - hip.R.m[0][1]) / (4 * w)};
	memcpy(t.q + root.q, q, sizeof q);
	const double v[3] = {velocity.linear.x, velocity.linear.y, velocity.linear.z};
	const double spin[3] = {velocity.angular.x, velocity.angular.y, velocity.angular.z};
	memcpy(t.u + root.u, v, sizeof v);
	for (int i = 0; i < 3; i++) // in the axes of the hip
		t.u[root.u + 3 + i] = hip.R.m[0][i] * spin[0] + hip.R.m[1][i] * spin[1] + hip.R.m[2][i] * spin[2];
	assert_int_equal(cal_energy(turned, &t, turned_work, &other_energy), CAL_OK);
	assert_near(other_energy.kinetic, energy.kinetic, 1e-13 * energy.kinetic);
	assert_near(other_energy.elastic, energy.elastic, 1e-13 * energy.elastic);
	assert_int_equal(cal_forward_dynamics(turned, &t, NULL, turned_work, other_udot), CAL_OK);
	assert_int_equal(cal_node_acceleration(turned, turned_work, cal_model_find_node(turned, "l/foot"), &b), CAL_OK);
	const double size = fabs(a.linear.x) + fabs(a.linear.y) + fabs(a.linear.z);
	assert_near(b.linear.x, a.linear.x, 1e-11 * size);
	assert_near(b.linear.y, a.linear.y, 1e-11 * size);
	assert_near(b.linear.z, a.linear.z, 1e-11 * size);
	assert_near(b.angular.y, a.angular.y, 1e-11 * (size + fabs(a.angular.y)));
	assert_true(size > 1);
	cal_work_destroy(work);
	cal_work_destroy(turned_work);
	cal_state_destroy(&s);
	cal_state_destroy(&t);
	cal_model_destroy(model);
	cal_model_destroy(turned);
	cal_setup_destroy(foot);
	cal_setup_destroy(carried);
}

static void subsystems_nest_and_close_loops(void **state) {
	(void)state;
	put(1, leg);
	put(3,
	    "calder: 1\ninterface: [pelvis]\n"
	    "bodies: {pelvis: {mass: 4, box: [0.4, 0.4, 0.2], nodes: {l: [0, 0.2, 0], r: [0, -0.2, 0]}}}\n"
	    "joints: {fly: {type: free, to: pelvis}}\n"
	    "subsystems:\n"
	    "  - {name: left, file: subsystem_leg.yaml, attach: {interface: thigh/hip, to: pelvis/l, joint: {type: revolute}}}\n"
	    "  - {name: right, file: subsystem_leg.yaml, attach: [{interface: thigh/hip, to: left/thigh, joint: weld},\n"
	    "      {interface: foot, to: left/foot, joint: spherical, name: tied}, {interface: foot, to: pelvis, joint: inplane}]}\n");
	CalSetup *file = file_of("calder: 1\nbodies: {}\nsubsystems: {him: {file: subsystem_pair.yaml,\n"
	                         "  attach: {to: ground, joint: {type: revolute, axis: y}}}}\n");
	const CalDesc *desc = cal_setup_desc(file);
	assert_int_equal(cal_desc_body_count(desc), 7);
	assert_int_equal(cal_setup_instance_count(file), 3);
	CalSetupInstance instance;
	assert_int_equal(cal_setup_instance(file, 2, &instance), CAL_OK);
	assert_string_equal(instance.name, "him/right");
	assert_string_equal(instance.joint, "him/right/ground");
	assert_int_equal(cal_desc_loop_count(desc), 2);
	assert_true(cal_desc_find_loop(desc, "tied").value == 0);
	assert_true(cal_desc_find_loop(desc, "him/tied").value);
	assert_true(cal_desc_find_loop(desc, "him/right/foot").value);
	CalModel *model = model_of(file, NULL);
	assert_int_equal(body_of(model, "him/right/thigh").parent, cal_model_find_body(model, "him/left/thigh"));
	assert_int_equal(body_of(model, "him/pelvis").type, CAL_JOINT_REVOLUTE);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

/* In the place of "file" a box of the same file. */
static void a_file_in_a_box_moves_as_the_file(void **state) {
	(void)state;
#define HUB                                                                                               \
	"calder: 1\ngravity: [0, 0, -3]\nbodies: {hub: {mass: 5, box: [1, 2, 3], nodes: {n: [0.5, 0, 0]}}}\n" \
	"joints: {fly: {type: spherical, to: hub}}\nstate: {fly: {angular_velocity: [1, 0, 2]}}\n"
	char text[2000];
	CalError error = {0};
	put(1, leg); // without gravity of its own: the box has none then
	snprintf(text, sizeof text, "%sgravity: [0, 0, -3]\n", leg);
	put(0, text);
	CalSetup *whole =
		file_of(HUB "subsystems: {l: {file: subsystem_leg.yaml, attach: {to: hub/n}}}\nrun: {duration: 0.5}\n");
	Run a = run_of(whole);
	CalSetup *hub = file_of(HUB);
	CalSim *sim = NULL;
	CalSubsystemDef def;
	CalSubsystemTie tie = {
		.node = cal_desc_find_node(cal_setup_desc(hub), "hub/n"), .name = "foot", .joint = cal_loop_def(CAL_LOOP_WELD)};
	int device;
	if (cal_sim_create(cal_setup_desc(hub), &(CalSimOptions){.method = cal_setup_run(whole).method}, &sim, &error) !=
	        CAL_OK ||
	    cal_setup_apply_state(hub, cal_sim_model(sim, 0), cal_sim_state(sim, 0), &error) != CAL_OK ||
	    cal_subsystem_from_file(names[0], &def, &error) != CAL_OK ||
	    cal_sim_add_subsystem(sim, "leg", &def, &tie, 1, &device, &error) != CAL_OK ||
	    cal_sim_advance(sim, 0.5, &error) != CAL_OK)
		fail_msg("%s", error.text);
	const CalState *x = cal_sim_state(a.sim, 0), *y = cal_sim_state(sim, 0);
	const CalBodyInfo of_a = body_of(cal_sim_model(a.sim, 0), "hub");
	for (int i = 0; i < 4; i++)
		assert_near(y->q[i], x->q[of_a.q + i], 1e-7);
	for (int i = 0; i < 3; i++)
		assert_near(y->u[i], x->u[of_a.u + i], 1e-6);
	cal_sim_destroy(sim);
	cal_setup_destroy(hub);
	run_free(&a);
	put(0, arm); // with events
	assert_int_equal(cal_subsystem_from_file(names[0], &def, &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "events"));
}

/* What docs/examples.md says of it. */
static void the_example_swings_and_keeps_its_momentum(void **state) {
	(void)state;
	CalSetup *file = NULL;
	CalSim *sim = NULL;
	CalScenario *scenario = NULL;
	CalError error = {0};
	const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5, .rtol = 1e-8, .atol = 1e-10}};
	if (cal_model_file_read(SOURCE_DIR "/examples/station_arrays.yaml", NULL, &file, &error) != CAL_OK ||
	    cal_sim_create(cal_setup_desc(file), &options, &sim, &error) != CAL_OK ||
	    cal_scenario_create(file, sim, &scenario, &error) != CAL_OK || cal_sim_advance(sim, 10, &error) != CAL_OK)
		fail_msg("%s", error.text);
	CalSimBalance balance;
	assert_int_equal(cal_setup_instance_count(file), 4);
	assert_int_equal(cal_sim_balance(sim, &balance), CAL_OK);
	assert_near(balance.linear.x, 0, 1e-6); // at the start only the blankets turn, each against another
	assert_true(balance.complete && fabs(balance.error) < 1e-4);
	const CalModel *model = cal_sim_model(sim, 0);
	assert_true(body_of(model, "a2/blanket").lumped_mass > 1.2 * body_of(model, "a1/blanket").lumped_mass);
	assert_int_equal(body_of(model, "a4/yoke").nu, 1);
	const double *q = cal_sim_state(sim, 0)->q;
	assert_true(fabs(q[body_of(model, "a4/yoke").q]) > 1e-4);
	assert_true(fabs(q[body_of(model, "a1/blanket").q] - q[body_of(model, "a3/blanket").q]) > 1e-6);
	cal_scenario_destroy(scenario);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

static void mistakes_are_reported_with_their_place(void **state) {
	(void)state;
	put(0, "calder: 1\ninterface: [b]\nbodies: {b: {mass: 1, sphere: 1}}\njoints: {j: {type: free, to: b}}\n"
	       "devices: {d: {type: thruster, node: c, thrust: 1}}\n");
	put(1,
	    "calder: 1\ninterface: [b/n, a]\nbodies: {a: {mass: 1, sphere: 1}, b: {mass: 1, sphere: 1, nodes: {n: [0, 0, 0]}}}\n"
	    "joints: {j: {type: free, to: a}, k: {type: spherical, from: a, to: b}}\n");
	put(2, "calder: 1\ninterface: [b]\nbodies: {b: {mass: 1, sphere: 1}}\njoints: {j: {type: free, to: b}}\n"
	       "subsystems: {me: {file: subsystem_ring.yaml}}\n");
	put(3, "calder: 1\nbodies: {b: {mass: 1, sphere: 1}}\njoints: {j: {type: free, to: b}}\nfoo: 1\n");
	static const struct {
		const char *text, *says[3];
	} cases[] = {
		{"{s: {file: nowhere.yaml}}", {"t.yaml:4:24", "subsystem \"s\": nowhere.yaml: ", "could not be opened"}},
		{"{s: {file: subsystem_arm.yaml}}", {"subsystem_arm.yaml:5:37", "device \"s/d\"", "unknown body \"s/c\""}},
		{"{s: {file: subsystem_ring.yaml}}",
	     {"subsystem_ring.yaml:5:25", "part of itself", "subsystem_ring.yaml -> subsystem_ring.yaml"}},
		{"{s: {file: subsystem_pair.yaml}}", {"subsystem_pair.yaml:4:1", "unknown key \"foo\"", ""}},
		{"{s: {file: subsystem_leg.yaml, attach: {to: hub}}}", {"t.yaml:4:", "joint \"s/k\"", "spherical"}},
		{"{s: {file: subsystem_leg.yaml, attach: {interface: q, to: hub}}}", {"t.yaml:4:", "interface node \"q\"", ""}},
		{"{s: {file: subsystem_leg.yaml, attach: {interface: a, to: hub/x}}}",
	     {"t.yaml:4:", "joint \"s/j\"", "has no node \"x\""}},
		{"{s: {file: subsystem_leg.yaml, attach: {interface: b/n, to: hub, joint: {type: weld, to: x}}}}",
	     {"t.yaml:4:", "\"to\" is not given here", ""}},
		{"{s: {file: subsystem_leg.yaml, set: {bodies.c.mass: 1}}}",
	     {"t.yaml:4:", "there is nothing at \"bodies.c.mass\"", "\"c.mass\""}},
		{"{hub: {file: subsystem_leg.yaml}}", {"t.yaml:4:", "a body has this name", ""}},
		{"{a/b: {file: subsystem_leg.yaml}}", {"t.yaml:4:", "cannot hold /", ""}},
		{"{s: {}}", {"t.yaml:4:", "\"file\", \"library\"", ""}},
		{"{s: {file: subsystem_leg.yaml, file2: x}}", {"t.yaml:4:", "unknown key \"file2\"", ""}},
		{"[{file: subsystem_leg.yaml}]", {"t.yaml:4:", "needs the key \"name\"", ""}},
		{"7", {"t.yaml:4:", "subsystems", ""}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[800];
		CalSetup *file = NULL;
		CalError error = {0};
		snprintf(text, sizeof text,
		         "calder: 1\nbodies: {hub: {mass: 1, sphere: 1}}\njoints: {f: {type: free, to: hub}}\nsubsystems: %s\n",
		         cases[i].text);
		const CalStatus status = cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error);
		if (status >= 0)
			fail_msg("%s was read", cases[i].text);
		for (int k = 0; k < 3; k++)
			if (!strstr(error.text, cases[i].says[k]))
				fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, error.text, cases[i].says[k]);
	}
}

static void names_with_a_slash_are_found(void **state) {
	(void)state;
	CalSetup *file =
		file_of("calder: 1\nbodies: {a: {mass: 1, sphere: 1, nodes: {n: [1, 0, 0]}}, a/b: {mass: 1, sphere: 1,\n"
	            "  nodes: {n: [2, 0, 0]}}}\njoints: {j: {type: free, to: a}, k: {type: free, from: a/n, to: a/b/n}}\n");
	CalModel *model = model_of(file, NULL);
	CalNodeInfo node;
	assert_int_equal(cal_model_node(model, cal_model_find_node(model, "a/b/n"), &node), CAL_OK);
	assert_near(node.pose.r.x, 2, 0);
	assert_int_equal(cal_model_find_node(model, "a/b"), body_of(model, "a/b").node);
	assert_int_equal(cal_model_find_node(model, "a/c"), -1);
	cal_model_destroy(model);
	cal_setup_destroy(file);
	CalError error;
	static const char twice[] =
		"calder: 1\nbodies: {a: {mass: 1, sphere: 1, nodes: {b: [1, 0, 0]}}, a/b: {mass: 1, sphere: 1}}\n";
	assert_true(cal_model_file_parse(twice, strlen(twice), "t.yaml", NULL, &file, &error) < 0);
	assert_non_null(strstr(error.text, "a node has this path already"));
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instance_is_what_it_stands_for),
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(a_subsystem_is_a_model_of_its_own),
		cmocka_unit_test(a_part_is_carried_by_any_of_its_bodies),
		cmocka_unit_test(subsystems_nest_and_close_loops),
		cmocka_unit_test(a_file_in_a_box_moves_as_the_file),
		cmocka_unit_test(the_example_swings_and_keeps_its_momentum),
		cmocka_unit_test(mistakes_are_reported_with_their_place),
		cmocka_unit_test(names_with_a_slash_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, clean);
}
