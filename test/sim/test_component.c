// SPDX-License-Identifier: Apache-2.0
/*
 * test_component.c — a machine whose parts are kept as components, nested or not, moves as the same machine written flat:
 * devices, loops, flexible bodies, locks and impulses inside and across.
 */
#define _POSIX_C_SOURCE 200809L // fmemopen

#include "component_machine.h"
#include "model/model.h"
#include "support/interpose.h"

static void components_accelerate_as_the_flat_machine(void **state) {
	(void)state;
	Machine flat = layout_machine((Layout){"false", "false", 1, 0}, 4, 2);
	assert_int_equal(cal_sim_group_count(flat.sim), 1);
	for (int i = 0; i < LAYOUTS; i++) {
		Machine m = layout_machine(layouts[i], 4, 2);
		assert_true(cal_sim_group_count(m.sim) > 2);
		AGREE(flat, m, machine_nodes, 0, 18, 1e-14);
		AGREE(flat, m, machine_nodes, 18, 24, 1e-12);
		machine_free(&m);
	}
	machine_free(&flat);
}

/* The equations of a second weld follow from those of the first, but for 1e-8 m by which it is off. */
static void two_welds_hold_as_one(void **state) {
	(void)state;
	const CalSimOptions options = precise();
	Machine flat = machine_of(SPACE_FLAT(""), &options),
			parts =
				machine_of(SPACE_TIED("[{node: upper/in, to: hub/port}, {node: upper, to: hub/out}]", ""), &options);
	CalSimBalance before, after;
	AGREE(flat, parts, space_nodes, 12, 24, 1e-7);
	assert_int_equal(cal_sim_balance(parts.sim, &before), CAL_OK);
	advance(&flat, 0.5);
	advance(&parts, 0.5);
	AGREE(flat, parts, space_nodes, 0, 18, 1e-7);
	assert_int_equal(cal_sim_balance(parts.sim, &after), CAL_OK);
	assert_true(fabs(after.linear.x - before.linear.x) < 1e-11 && fabs(after.angular.y - before.angular.y) < 1e-11);
	machine_free(&flat);
	machine_free(&parts);
}

static void set_registers(Machine *m, CpuIsa isa) {
	for (int g = 0; g < cal_sim_group_count(m->sim); g++)
		((CalModel *)(uintptr_t)cal_sim_model(m->sim, g))->isa = isa;
}

static void registers_of_any_width_give_the_same_bits(void **state) {
	(void)state;
	Machine narrow = layout_machine(layouts[1], 4, 2);
	set_registers(&narrow, CPU_BASELINE);
	advance(&narrow, 0.02);
	for (int isa = CPU_AVX2; isa <= (int)cpu_isa(); isa++) {
		Machine wide = layout_machine(layouts[1], 4, 2);
		set_registers(&wide, (CpuIsa)isa);
		advance(&wide, 0.02);
		for (int g = 0; g < cal_sim_group_count(wide.sim); g++) {
			const size_t size = (size_t)cal_model_u_count(cal_sim_model(wide.sim, g)) * sizeof(double);
			assert_memory_equal(cal_sim_state(narrow.sim, g)->u, cal_sim_state(wide.sim, g)->u, size);
		}
		machine_free(&wide);
	}
	machine_free(&narrow);
}

/* Over backlash, friction, closed loops and the lock of two cranks. */
static void components_move_as_the_flat_machine(void **state) {
	(void)state;
	Machine flat = layout_machine((Layout){"false", "false", 1, 0}, 1, 1);
	advance(&flat, 20);
	for (int i = 1; i < LAYOUTS; i += 2) {
		Machine m = layout_machine(layouts[i], 1, 1);
		CalSimBalance balance;
		advance(&m, 20);
		AGREE(flat, m, machine_nodes, 0, 18, 1e-9);
		assert_int_equal(cal_sim_balance(m.sim, &balance), CAL_OK);
		assert_true(balance.complete && fabs(balance.error) < 1e-7);
		machine_free(&m);
	}
	machine_free(&flat);
}

/* ---- ranks ----------------------------------------------------------------------------------------------------------- */

/* The nested machine, whose crank locks at 2 s: an event that changes the topology of a component within a step. */
#define ON_RANKS(kept)                                                                                                        \
	"calder: 1\ngravity: [0, 0, -9.81]\nbodies:\n  carriage: {mass: 120, box: [2, 1, 0.4], nodes: {left: [0.5, 0.4, 0.2]}}\n" \
	"joints:\n  rail: {type: prismatic, to: carriage, inboard: {orientation: {y: 90 deg}}, dof: {stiffness: 3000}}\n"         \
	"subsystems:\n  left: {file: " SOURCE_DIR "/examples/components/arm.yaml, component: " kept                               \
	", attach: {to: carriage/left},\n"                                                                                        \
	"    set: {subsystems.shoulder.component: " kept ", subsystems.boom.component: " kept ",\n"                               \
	"          subsystems.gripper.component: " kept ",\n"                                                                     \
	"          subsystems.boom.set: {bodies.boom.beam.modes: 1, bodies.boom.beam.elements: 3}}}\n"                            \
	"state: {rail: {u: 0.5}, left/shoulder/turn: {u: 0.4}}\n"

enum { RANK_TIME = 20 };

/* Few evaluations, which cost four ranks on two processors more in waiting than in work. */
static CalSimOptions fixed_steps(void) { return (CalSimOptions){.method = {.method = CAL_METHOD_RK4, .step = 8e-3}}; }

static void run_on_rank(void *user, const CalTransport *transport) {
	RankRuns *runs = user;
	const int r = transport->rank;
	const CalSimOptions options = fixed_steps();
	const CalDistribution how = {.transport = transport, .branches = RANKS, .forced = 1};
	CalStatus status = machine_try(ON_RANKS("true"), &options, &runs->machine[r], &runs->error[r]);
	if (status == CAL_OK)
		status = cal_sim_distribute(runs->machine[r].sim, &how, &runs->error[r]);
	if (status == CAL_OK)
		status = cal_sim_advance(runs->machine[r].sim, RANK_TIME, &runs->error[r]);
	runs->status[r] = status;
}

/* Every rank has the state of all groups; parts of them are solved by different ones. */
static void components_move_on_ranks(void **state) {
	(void)state;
	const CalSimOptions options = fixed_steps();
	Machine flat = machine_of(ON_RANKS("false"), &options);
	RankRuns runs = {0};
	advance(&flat, RANK_TIME);
	thread_ranks_run(RANKS, run_on_rank, &runs);
	for (int r = 0; r < RANKS; r++) {
		if (runs.status[r] != CAL_OK)
			fail_msg("rank %d: %s", r, runs.error[r].text);
		AGREE(flat, runs.machine[r], machine_nodes, 0, 18, 1e-9);
		machine_free(&runs.machine[r]);
	}
	machine_free(&flat);
}

/* Each file of the library runs alone, in good order, and what is in it works. */
static void the_library_runs(void **state) {
	(void)state;
	static const struct {
		const char *name;
		double time;
	} files[] = {{"geared_joint", 3}, {"boom", 0.3}, {"gripper", 3}, {"arm", 0.2}, {"machine", 0.05}};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char name[80];
		CalError error;
		CalSimBalance balance;
		snprintf(name, sizeof name, "components/%s", files[i].name);
		Machine m = {.setup = example_of(name)};
		if (cal_setup_simulate(m.setup, NULL, &m.sim, &m.scenario, &error) != CAL_OK)
			fail_msg("%s", error.text);
		advance(&m, files[i].time);
		assert_int_equal(cal_sim_balance(m.sim, &balance), CAL_OK);
		if (!balance.complete || !(fabs(balance.error) < 1e-6))
			fail_msg("%s: energy balance error %g J", name, balance.error);
		machine_free(&m);
	}
	// the backlash is passed from side to side, and the crank of the gripper stands since it was locked
	Machine joint = {.setup = example_of("components/geared_joint")},
			gripper = {.setup = example_of("components/gripper")};
	CalError error;
	double output[8];
	assert_int_equal(cal_setup_simulate(joint.setup, NULL, &joint.sim, &joint.scenario, &error), CAL_OK);
	assert_int_equal(cal_setup_simulate(gripper.setup, NULL, &gripper.sim, &gripper.scenario, &error), CAL_OK);
	double least = INFINITY, most = -INFINITY;
	for (int k = 1; k <= 60; k++) {
		advance(&joint, 0.1 * k);
		assert_int_equal(cal_sim_device_outputs(joint.sim, cal_sim_find_device(joint.sim, "motor"), output), CAL_OK);
		least = fmin(least, output[3] - cal_sim_state(joint.sim, 0)->q[0]);
		most = fmax(most, output[3] - cal_sim_state(joint.sim, 0)->q[0]);
	}
	const double play = 0.2 * 3.14159265358979323846 / 180;
	assert_true(least < -play / 2 && most > play / 2);
	advance(&gripper, 3);
	assert_true(fabs(cal_sim_state(gripper.sim, 0)->u[0]) < 1e-12);
	machine_free(&joint);
	machine_free(&gripper);
}

/* What `calder convert` writes is the same machine: as the text has it, and by the numbers of the setup. */
static void components_are_written_and_read(void **state) {
	(void)state;
	const CalSimOptions options = precise();
	for (int trimmed = 0; trimmed < 2; trimmed++) {
		char text[5000];
		static char written[1 << 17];
		CalError error;
		machine_text(text, sizeof text, "true", "true", 2, 1);
		Machine first = machine_of(text, &options);
		FILE *out = fmemopen(written, sizeof written, "w");
		if (trimmed)
			cal_model_file_trim(first.setup);
		if (!out || cal_model_file_write(first.setup, out, &error) != CAL_OK)
			fail_msg("%s", error.text);
		fclose(out);
		Machine again = machine_of(written, &options);
		assert_int_equal(cal_sim_group_count(first.sim), cal_sim_group_count(again.sim));
		AGREE(first, again, machine_nodes, 0, 24, 1e-12);
		machine_free(&first);
		machine_free(&again);
	}
}

/* Groups observed together are as each by itself, and as the first one of a new state. */
static void groups_are_observed_together(void **state) {
	(void)state;
	enum { GROUPS = 3, MOST = 16 };
	const CalSimOptions options = precise();
	Machine m = machine_of(SPACE_PARTS(""), &options);
	for (int k = 0; k < 2; k++) {
		double alone[GROUPS][MOST] = {{0}};
		CalSimView view;
		advance(&m, 0.1 * (k + 1));
		for (int g = 0; g < GROUPS; g++) {
			const int nu = cal_model_u_count(cal_sim_model(m.sim, g));
			assert_true(nu <= MOST);
			assert_int_equal(cal_sim_observe(m.sim, g, &view), CAL_OK);
			memcpy(alone[g], view.udot, (size_t)nu * sizeof(double));
		}
		advance(&m, 0.1 * (k + 1)); // nothing is known of it any more
		for (int g = 0; g < GROUPS; g++) {
			assert_int_equal(cal_sim_observe_also(m.sim, g, &view), CAL_OK);
			assert_memory_equal(alone[g], view.udot, (size_t)cal_model_u_count(view.model) * sizeof(double));
		}
	}
	machine_free(&m);
}

/* ---- methods ------------------------------------------------------------------------------------------------------- */

/* The machine at rest after one implicit step, flat and of components: how far their speeds are apart. */
static double one_step_apart(CalMethod method, double step) {
	char text[5000];
	Machine m[2];
	for (int k = 0; k < 2; k++) {
		const CalSimOptions options = {.method = {.method = method, .step = step}};
		machine_text(text, sizeof text, k ? "true" : "false", k ? "true" : "false", 4, 1);
		snprintf(strstr(text, "state:"), 40, "state: {left/shoulder/turn: {q: 0.3}}\n");
		m[k] = machine_of(text, &options);
		advance(&m[k], step);
	}
	const double off = apart(m[0].sim, m[1].sim, machine_nodes, 12, 18);
	for (int k = 0; k < 2; k++)
		machine_free(&m[k]);
	return off;
}

/*
 * Where a step has no velocity terms, both find the same speeds, since their implicit matrices are the same; what is left
 * comes from closing the ties where the step ends. With M in place of M + hD + h^2K they are apart by 0.2.
 */
static void implicit_steps_are_those_of_the_flat_machine(void **state) {
	(void)state;
	const CalMethod methods[] = {CAL_METHOD_IMPLICIT, CAL_METHOD_IMPLICIT_MIDPOINT};
	for (int i = 0; i < 2; i++) {
		const double long_step = one_step_apart(methods[i], 0.02), short_step = one_step_apart(methods[i], 0.01);
		if (!(long_step < 5e-5 && short_step < 5e-5))
			fail_msg("%s: %g, %g", cal_method_name(methods[i]), long_step, short_step);
	}
}

/* How far flat machine and components are apart after half a second, with the method's order. */
static void implicit_steps_converge(void **state) {
	(void)state;
	const struct {
		CalMethod method;
		int order;
	} cases[] = {{CAL_METHOD_IMPLICIT, 1}, {CAL_METHOD_IMPLICIT_MIDPOINT, 2}, {CAL_METHOD_EULER_CROMER, 1}};
	for (int i = 0; i < 3; i++) {
		double off[2];
		for (int k = 0; k < 2; k++) {
			const CalSimOptions options = {.method = {.method = cases[i].method, .step = k ? 1e-3 : 2e-3}};
			Machine flat = machine_of(SPACE_FLAT(""), &options), parts = machine_of(SPACE_PARTS(""), &options);
			advance(&flat, 0.5);
			advance(&parts, 0.5);
			off[k] = apart(flat.sim, parts.sim, space_nodes, 0, 18);
			machine_free(&flat);
			machine_free(&parts);
		}
		const double ratio = off[0] / off[1];
		if (!(off[0] < 1e-2 && ratio > 0.9 * (1 << cases[i].order)))
			fail_msg("%s: %g, %g", cal_method_name(cases[i].method), off[0], off[1]);
	}
}

/* The multistep methods, whose history no projection ends: ties are held by feedback alone. */
static void cvode_moves_components(void **state) {
	(void)state;
	const CalMethod methods[] = {CAL_METHOD_CVODE_ADAMS, CAL_METHOD_CVODE_BDF};
	for (int i = 0; i < 2; i++) {
		if (cal_method_info(methods[i])->missing)
			continue;
		const CalSimOptions exact = precise(),
							options = {.method = {.method = methods[i], .rtol = 1e-9, .atol = 1e-11}};
		Machine flat = machine_of(SPACE_FLAT(""), &exact), parts = machine_of(SPACE_PARTS(""), &options);
		advance(&flat, 2);
		advance(&parts, 2);
		AGREE(flat, parts, space_nodes, 0, 18, 1e-6);
		const Motion a = motion_of(parts.sim, "hub/port"), b = motion_of(parts.sim, "upper/in");
		for (int k = 0; k < 18; k++)
			assert_true(fabs(a.of[k] - b.of[k]) < 1e-7);
		machine_free(&flat);
		machine_free(&parts);
	}
}

/* Of fixed steps that are large nothing is left open. */
static void ties_are_closed_after_steps(void **state) {
	(void)state;
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 8e-3}};
	Machine parts = machine_of(SPACE_PARTS(""), &options);
	advance(&parts, 5);
	const Motion a = motion_of(parts.sim, "hub/port"), b = motion_of(parts.sim, "upper/in");
	for (int k = 0; k < 18; k++)
		assert_true(fabs(a.of[k] - b.of[k]) < (k < 12 ? 1e-11 : 1e-10));
	machine_free(&parts);
}

/*
 * One projection in either metric: the ties close, and the Euclidean change of the coordinates is the smaller one of the two in
 * its own norm. The angle between the metrics is large: the hub has eight times the mass of the arm.
 */
static void the_metric_of_projections_can_be_chosen(void **state) {
	(void)state;
	const char *const metrics[] = {"mass", "euclidean"};
	double moved[2];
	for (int i = 0; i < 2; i++) {
		char text[3000];
		snprintf(text, sizeof text, "%srun: {duration: 1, method: rk4, step: 50 ms, projection_metric: %s}\n",
		         SPACE_PARTS(""), metrics[i]);
		Machine m = machine_of(text, NULL);
		// opened by hand: the arm is somewhere else
		double before[3][14], *q[3];
		for (int g = 0; g < 3; g++) {
			q[g] = cal_sim_state(m.sim, g)->q;
			memcpy(before[g], q[g], (size_t)cal_model_q_count(cal_sim_model(m.sim, g)) * sizeof(double));
		}
		const int arm = cal_sim_find_group(m.sim, "arm"), hub = cal_sim_find_group(m.sim, "main");
		q[arm][0] += 1e-4;
		before[arm][0] += 1e-4;
		CalError error;
		assert_int_equal(cal_sim_restart(m.sim, &error), CAL_OK); // closes it
		moved[i] = 0;
		for (int k = 0; k < 3; k++)
			moved[i] += pow(q[hub][k] - before[hub][k], 2) + pow(q[arm][k] - before[arm][k], 2);
		const Motion a = motion_of(m.sim, "hub/port"), b = motion_of(m.sim, "upper/in");
		for (int k = 0; k < 12; k++)
			assert_true(fabs(a.of[k] - b.of[k]) < 1e-10);
		advance(&m, 1);
		machine_free(&m);
	}
	assert_true(moved[1] < 0.8 * moved[0]);
	assert_true(fabs(moved[1] - 0.5e-8) < 0.05e-8); // both go half the way
}

static void a_step_with_components_allocates_nothing(void **state) {
	(void)state;
	if (!INTERPOSE_ACTIVE)
		skip();
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 8e-3}};
	Machine parts = machine_of(SPACE_PARTS(""), &options);
	CalError error;
	interpose_begin(0);
	const CalStatus status = cal_sim_advance(parts.sim, 0.05, &error);
	const Interpose seen = interpose_end();
	assert_int_equal(status, CAL_OK);
	assert_int_equal(seen.calls, 0);
	machine_free(&parts);
}

/* ---- groups that move as given ------------------------------------------------------------------------------------- */

#define SWING(base_group, groups, drive)                                                                \
	"calder: 1\ngravity: [0, 0, -9.81]\n" groups "bodies:\n  base: {mass: 3, box: [1, 1, 1]" base_group \
	", nodes: {port: [0.5, 0, 0]}}\n"                                                                   \
	"  link: {mass: 2, box: [1, 0.1, 0.1], nodes: {in: [-0.5, 0, 0], out: [0.5, 0, 0]}" drive

static void components_hang_on_groups_in_motion(void **state) {
	(void)state;
	static const char driven[] =
		SWING("", "",
	          "}\njoints:\n  lift: {type: prismatic, to: base}\n"
	          "  pin: {type: revolute, from: base/port, to: link/in, inboard: {orientation: {x: 90 deg}},\n"
	          "        outboard: {orientation: {x: -90 deg}}}\n"
	          "devices: {d: {type: joint_drive, joint: lift, q: '0.2*sin(3*t)'}}\n");
	static const char moved[] =
		SWING(", group: moved", "groups: {moved: {gravity: [0, 0, -9.81]}}\n",
	          "}\njoints:\n  lift: {type: prismatic, to: base}\n  fly: {type: free, to: link/in}\n"
	          "group_motions: {moved: {lift: {q: '0.2*sin(3*t)'}}}\n"
	          "subsystems: {link: {component: true, attach: {node: link/in, to: base/port,\n"
	          "  joint: {type: revolute, a: {orientation: {x: 90 deg}}, b: {orientation: {x: 90 deg}}}}}}\n");
	static const char *const nodes[] = {"link/out", "base/port", NULL};
	const CalSimOptions options = precise();
	Machine a = machine_of(driven, &options), b = machine_of(moved, &options);
	advance(&a, 2);
	advance(&b, 2);
	AGREE(a, b, nodes, 0, 18, 1e-8);
	machine_free(&a);
	machine_free(&b);
}

/* ---- what is refused ------------------------------------------------------------------------------------------------- */

static void refuse_text(const char *text, const char *says) {
	CalSetup *file = NULL;
	CalError error;
	assert_true(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error) != CAL_OK);
	if (!strstr(error.text, says))
		fail_msg("\"%s\" does not say \"%s\"", error.text, says);
}

static void wrong_components_are_named(void **state) {
	(void)state;
#define ARM "subsystems: {arm: {file: " SOURCE_DIR "/examples/components/arm.yaml, component: true"
#define CORE "calder: 1\nbodies: {core: {mass: 1, box: [1, 1, 1]}}\njoints: {j: {type: free, to: core}}\n"
	refuse_text(CORE ARM "}}\n", "needs \"attach\"");
	refuse_text(CORE ARM ", attach: {to: core, joint: {type: revolute, dof: {damping: 1}}}}}\n", "dof");
	refuse_text(CORE "subsystems: {arm: {component: true, attach: {to: core}}}\n", "node");
	refuse_text(CORE "subsystems: {arm: {library: x.so, attach: {to: core, node: core}}}\n", "interface");
	refuse_text("calder: 1\ngroups: {a: {gravity_of: b}, b: {gravity_of: a}}\nbodies: {x: {mass: 1, box: [1, 1, 1]}}\n"
	            "joints: {j: {type: free, to: x}}\n",
	            "ring");
	Machine m;
	CalError error;
	CalSimOptions options = precise();
	options.formulation = (CalFormulationOptions){.kind = CAL_FORMULATION_SYSTEM, .update = 0.01};
	assert_true(machine_try(SPACE_PARTS(""), &options, &m, &error) != CAL_OK);
	assert_non_null(strstr(error.text, "component \"arm\""));
	cal_setup_destroy(m.setup);
	m = machine_of(SPACE_PARTS(""), NULL);
	CalSubsystemTie tie = {.node = node_id(&m, "fore"), .joint = cal_loop_def(CAL_LOOP_WELD)};
	const struct {
		uint32_t node, inner;
		const char *says;
	} wrong[] = {{tie.node.value, 0, "component \"new\": its interface node"},
	             {tie.node.value, 9999, "component \"new\": its interface node"},
	             {9999, tie.node.value, "component \"new\": the node (id 9999)"},
	             {tie.node.value, node_id(&m, "upper").value, "\"arm\"; put the component into a group of its own"}};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		tie.node.value = wrong[i].node;
		tie.inner.value = wrong[i].inner;
		assert_int_equal(cal_sim_add_component(m.sim, "new", &tie, 1, NULL, &error), CAL_ERR_ARGUMENT);
		if (!strstr(error.text, wrong[i].says))
			fail_msg("\"%s\" does not say \"%s\"", error.text, wrong[i].says);
	}
	CalLinear linear;
	assert_int_equal(cal_sim_linearize(m.sim, 0, NULL, &linear, &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "subsystem \"arm\""));
	machine_free(&m);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(components_accelerate_as_the_flat_machine),
		cmocka_unit_test(two_welds_hold_as_one),
		cmocka_unit_test(registers_of_any_width_give_the_same_bits),
		cmocka_unit_test(components_move_as_the_flat_machine),
		cmocka_unit_test(components_move_on_ranks),
		cmocka_unit_test(the_library_runs),
		cmocka_unit_test(components_are_written_and_read),
		cmocka_unit_test(groups_are_observed_together),
		cmocka_unit_test(implicit_steps_are_those_of_the_flat_machine),
		cmocka_unit_test(implicit_steps_converge),
		cmocka_unit_test(cvode_moves_components),
		cmocka_unit_test(ties_are_closed_after_steps),
		cmocka_unit_test(the_metric_of_projections_can_be_chosen),
		cmocka_unit_test(a_step_with_components_allocates_nothing),
		cmocka_unit_test(components_hang_on_groups_in_motion),
		cmocka_unit_test(wrong_components_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
