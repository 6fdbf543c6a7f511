// SPDX-License-Identifier: Apache-2.0
/*
 * test_sim.c — simulations: groups, stepping across jumps, what is conserved, and that looking does not touch.
 *
 * The models are small enough for closed forms: a mass on a rail, a rotor, a pendulum, two bodies in space.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>

#include "support/interpose.h"
#include "support/methods.h"

/* ---- models ------------------------------------------------------------------------------------ */

static CalDesc *new_desc(void) {
	CalDesc *desc = NULL;
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	return desc;
}

static CalBodyId add_body(CalDesc *desc, CalGroupId group, const char *name, CalVec3 com) {
	CalBodyDef def = cal_body_def();
	CalBodyId id;
	def.name = name;
	def.group = group;
	def.mass = 2;
	def.com = com;
	def.inertia = (CalMat3){{{0.3, 0, 0}, {0, 0.4, 0}, {0, 0, 0.5}}};
	assert_int_equal(cal_desc_add_body(desc, &def, &id, NULL), CAL_OK);
	return id;
}

/* A body on a joint on the ground (parent {0}) or on the frame of another body. */
static CalBodyId add_jointed(CalDesc *desc, CalGroupId group, CalBodyId parent, const char *name, CalJointDef joint) {
	CalBodyId body = add_body(desc, group, name, (CalVec3){0, 0, -0.5});
	CalNodeId inboard = parent.value ? cal_desc_body_node(desc, parent) : (CalNodeId){0};
	char joint_name[64];
	snprintf(joint_name, sizeof joint_name, "%s_joint", name);
	joint.name = joint_name;
	assert_int_equal(cal_desc_attach(desc, inboard, &joint, cal_desc_body_node(desc, body), NULL, NULL), CAL_OK);
	return body;
}

static CalJointDef joint_about_y(CalJointType type) {
	CalJointDef joint = cal_joint_def(type);
	joint.axis = (CalVec3){0, 1, 0};
	return joint;
}

static CalDesc *pendulum_desc(double damping) {
	CalDesc *desc = new_desc();
	CalJointDef hinge = joint_about_y(CAL_JOINT_REVOLUTE);
	hinge.dof[0].damping = damping;
	cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, 0, -9.81});
	add_jointed(desc, (CalGroupId){0}, (CalBodyId){0}, "rod", hinge);
	return desc;
}

/* A free body that carries a rod on a hinge: degrees of freedom 0..5 and 6. */
static CalDesc *flyer_desc(void) {
	CalDesc *desc = new_desc();
	CalBodyId base = add_jointed(desc, (CalGroupId){0}, (CalBodyId){0}, "base", cal_joint_def(CAL_JOINT_FREE));
	add_jointed(desc, (CalGroupId){0}, base, "rod", joint_about_y(CAL_JOINT_REVOLUTE));
	return desc;
}

static CalDesc *rail_desc(void) {
	CalDesc *desc = new_desc();
	add_jointed(desc, (CalGroupId){0}, (CalBodyId){0}, "cart", joint_about_y(CAL_JOINT_PRISMATIC));
	return desc;
}

/* A free body of 2 kg with a node of 1 kg that one mode moves along y: degrees of freedom 0..5 and the mode. */
static CalDesc *flexible_desc(double damping) {
	CalDesc *desc = new_desc();
	const double phi[3] = {0, 1, 0}, stiffness = 40;
	CalBodyId base = add_jointed(desc, (CalGroupId){0}, (CalBodyId){0}, "base", cal_joint_def(CAL_JOINT_FREE));
	CalNodeDef tip = cal_node_def();
	CalFlexNode node = {.mass = 1, .phi = phi};
	tip.name = "tip", tip.placement.position = (CalVec3){1, 0, 0};
	assert_int_equal(cal_desc_add_node(desc, base, &tip, &node.node, NULL), CAL_OK);
	const CalFlexDef flex = {.modes = 1, .stiffness = &stiffness, .damping = &damping, .node_count = 1, .nodes = &node};
	assert_int_equal(cal_desc_set_flexible(desc, base, &flex, NULL), CAL_OK);
	return desc;
}

static CalSim *new_sim(CalDesc *desc, CalMethod method, double step) {
	CalSimOptions options = {.method = {.method = method, .step = step}};
	CalSim *sim = NULL;
	CalError error = {0};
	CalStatus status = cal_sim_create(desc, &options, &sim, &error);
	if (status != CAL_OK)
		print_error("%s\n", error.text);
	assert_int_equal(status, CAL_OK);
	cal_desc_destroy(desc);
	return sim;
}

static void advance(CalSim *sim, double t) {
	CalError error = {0};
	if (cal_sim_advance(sim, t, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

/* ---- inputs ------------------------------------------------------------------------------------ */

typedef struct Push {
	double tau[7];
	double udot[7];
	uint8_t prescribed[7];
	CalWrench wrench;
	double jump; // the force of the rail is 2 N before it and -1 N after it
} Push;

static int push_tau(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model, (void)state;
	input->tau = ((Push *)user)->tau;
	return 0;
}

static int push_wrench(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model, (void)state;
	input->wrenches = &((Push *)user)->wrench;
	input->wrench_count = 1;
	return 0;
}

static int push_prescribed(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model, (void)state;
	input->prescribed = ((Push *)user)->prescribed;
	input->udot = ((Push *)user)->udot;
	return 0;
}

static int push_jump(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	Push *push = user;
	(void)model;
	push->tau[0] = state->t < push->jump ? 2 : -1;
	input->tau = push->tau;
	return 0;
}

static double next_jump(void *user, double t) { return t < ((Push *)user)->jump ? ((Push *)user)->jump : INFINITY; }

static int refuse(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)user, (void)model, (void)input;
	return state->t > 0.25;
}

/* ---- groups ------------------------------------------------------------------------------------ */

static void every_group_with_bodies_takes_part(void **state) {
	(void)state;
	CalDesc *desc = new_desc();
	CalGroupId empty, moon;
	CalGroupDef def = cal_group_def();
	def.name = "empty";
	assert_int_equal(cal_desc_add_group(desc, &def, &empty, NULL), CAL_OK);
	def.name = "moon";
	def.gravity = (CalVec3){0, 0, -1.62};
	assert_int_equal(cal_desc_add_group(desc, &def, &moon, NULL), CAL_OK);
	CalJointDef fall = cal_joint_def(CAL_JOINT_PRISMATIC);
	cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, 0, -9.81});
	add_jointed(desc, (CalGroupId){0}, (CalBodyId){0}, "apple", fall);
	add_jointed(desc, moon, (CalBodyId){0}, "stone", fall);
	CalSim *sim = new_sim(desc, CAL_METHOD_RK4, 0.01);
	assert_int_equal(cal_sim_group_count(sim), 2);
	assert_int_equal(cal_sim_find_group(sim, "moon"), 1);
	assert_int_equal(cal_sim_find_group(sim, "empty"), -1);
	assert_null(cal_sim_model(sim, 2));
	assert_null(cal_sim_state(sim, -1));
	advance(sim, 2);
	assert_true(fabs(cal_sim_state(sim, 0)->q[0] + 0.5 * 9.81 * 4) < 1e-12);
	assert_true(fabs(cal_sim_state(sim, 1)->q[0] + 0.5 * 1.62 * 4) < 1e-12);
	cal_sim_destroy(sim);
}

static void a_description_without_bodies_is_refused(void **state) {
	(void)state;
	CalDesc *desc = new_desc();
	CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5}};
	CalSim *sim = (CalSim *)desc;
	CalError error = {0};
	assert_int_equal(cal_sim_create(desc, &options, &sim, &error), CAL_ERR_MODEL);
	assert_null(sim);
	assert_non_null(strstr(error.text, "no body"));
	cal_desc_destroy(desc);
}

/* Whatever the caller's error held before: a body without joint, and one that nothing gives inertia. */
static void a_refusal_has_a_message_in_an_error_that_was_not_set(void **state) {
	(void)state;
	for (int with_joint = 0; with_joint < 2; with_joint++) {
		CalDesc *desc = new_desc();
		CalBodyDef body = cal_body_def();
		CalBodyId id;
		body.name = "ghost";
		assert_int_equal(cal_desc_add_body(desc, &body, &id, NULL), CAL_OK);
		CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
		joint.name = "hinge";
		if (with_joint)
			assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &joint, cal_desc_body_node(desc, id), NULL, NULL),
			                 CAL_OK);
		CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5}};
		CalSim *sim;
		CalError error;
		memset(&error, 0x5a, sizeof error);
		assert_int_equal(cal_sim_create(desc, &options, &sim, &error), CAL_ERR_MODEL);
		assert_non_null(memchr(error.text, 0, sizeof error.text));
		assert_non_null(strstr(error.text, with_joint ? "hinge" : "ghost"));
		assert_int_equal(error.count, 1);
		cal_desc_destroy(desc);
	}
}

static void a_fixed_method_without_step_is_refused(void **state) {
	(void)state;
	CalDesc *desc = rail_desc();
	for (int m = method_first(); m < CAL_METHOD_COUNT; m = method_next(m)) {
		CalSimOptions options = {.method = {.method = (CalMethod)m}};
		CalSim *sim;
		CalError error = {0};
		if (cal_method_info((CalMethod)m)->adaptive)
			continue;
		assert_int_equal(cal_sim_create(desc, &options, &sim, &error), CAL_ERR_ARGUMENT);
		assert_non_null(strstr(error.text, cal_method_name((CalMethod)m)));
		assert_non_null(strstr(error.text, "has a fixed step"));
	}
	cal_desc_destroy(desc);
}

/* ---- stepping ---------------------------------------------------------------------------------- */

static void times_are_met_exactly(void **state) {
	(void)state;
	for (int m = method_first(); m < CAL_METHOD_COUNT; m = method_next(m)) {
		CalSim *sim = new_sim(pendulum_desc(0), (CalMethod)m, 0.003);
		for (int i = 1; i <= 10; i++) {
			advance(sim, 0.1 * i);
			assert_true(cal_sim_time(sim) == 0.1 * i);
		}
		CalError error = {0};
		assert_int_equal(cal_sim_advance(sim, 0.5, &error), CAL_ERR_ARGUMENT);
		assert_non_null(strstr(error.text, "forward"));
		assert_int_equal(cal_sim_advance(sim, NAN, NULL), CAL_ERR_ARGUMENT);
		assert_true(cal_sim_time(sim) == 1.0);
		cal_sim_destroy(sim);
	}
}

static void single_steps_end_at_the_limit_without_slivers(void **state) {
	(void)state;
	const CalMethod methods[] = {CAL_METHOD_EULER_CROMER, CAL_METHOD_RK4, CAL_METHOD_IMPLICIT,
	                             CAL_METHOD_IMPLICIT_MIDPOINT};
	for (int m = 0; m < 4; m++) {
		CalSim *sim = new_sim(pendulum_desc(0), methods[m], 0.1);
		int count = 0;
		for (; cal_sim_time(sim) < 1; count++)
			assert_int_equal(cal_sim_step(sim, 1, NULL), CAL_OK);
		assert_int_equal(count, 10);
		assert_true(cal_sim_time(sim) == 1);
		assert_int_equal(cal_sim_stats(sim).steps, 10);
		assert_int_equal(cal_sim_step(sim, 1, NULL), CAL_OK);
		assert_int_equal(cal_sim_stats(sim).steps, 10);
		cal_sim_destroy(sim);
	}
}

/* A thousand summed steps have more than a few roundings. */
static void many_single_steps_leave_no_sliver(void **state) {
	(void)state;
	CalSim *sim = new_sim(pendulum_desc(0), CAL_METHOD_RK4, 0.001);
	for (int k = 1; k <= 50; k++)
		while (cal_sim_time(sim) < 0.1 * k)
			assert_int_equal(cal_sim_step(sim, 0.1 * k, NULL), CAL_OK);
	assert_int_equal(cal_sim_stats(sim).steps, 5000);
	cal_sim_destroy(sim);
}

/*
 * v = 2 t/m up to the jump, then -(t - jump)/m: polynomials that both methods integrate exactly. In one go, with a
 * stop at the jump, and by single steps.
 */
static void jumps_in_the_input_cost_no_accuracy(void **state) {
	(void)state;
	const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_DOPRI5};
	for (int m = 0; m < 2; m++)
		for (int way = 0; way < 3; way++) {
			Push push = {.jump = 0.517};
			CalSim *sim = new_sim(rail_desc(), methods[m], 0.3);
			cal_sim_set_input(sim, 0, push_jump, next_jump, &push);
			if (way == 1)
				advance(sim, push.jump);
			while (way == 2 && cal_sim_time(sim) < 1)
				assert_int_equal(cal_sim_step(sim, 1, NULL), CAL_OK);
			advance(sim, 1);
			double v = 2 * 0.517 / 2, x = v * 0.517 / 2, rest = 1 - 0.517;
			const CalState *end = cal_sim_state(sim, 0);
			assert_true(fabs(end->u[0] - (v - rest / 2)) < 1e-14);
			assert_true(fabs(end->q[0] - (x + v * rest - rest * rest / 4)) < 1e-14);
			cal_sim_destroy(sim);
		}
}

static void a_refusing_input_is_reported_with_its_place(void **state) {
	(void)state;
	CalSim *sim = new_sim(rail_desc(), CAL_METHOD_RK4, 0.1);
	CalError error = {0};
	cal_sim_set_input(sim, 0, refuse, NULL, NULL);
	assert_int_equal(cal_sim_advance(sim, 1, &error), CAL_ERR_USER);
	assert_non_null(strstr(error.text, "group \"main\""));
	assert_non_null(strstr(error.text, "t = 0.2 s"));
	assert_true(fabs(cal_sim_time(sim) - 0.2) < 1e-15);
	cal_sim_destroy(sim);
}

static void states_of_different_times_are_refused(void **state) {
	(void)state;
	CalDesc *desc = rail_desc();
	CalGroupDef def = cal_group_def();
	CalGroupId other;
	CalError error = {0};
	def.name = "other";
	assert_int_equal(cal_desc_add_group(desc, &def, &other, NULL), CAL_OK);
	add_jointed(desc, other, (CalBodyId){0}, "second", joint_about_y(CAL_JOINT_PRISMATIC));
	CalSim *sim = new_sim(desc, CAL_METHOD_RK4, 0.1);
	cal_sim_state(sim, 1)->t = 3;
	assert_int_equal(cal_sim_restart(sim, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "\"other\""));
	cal_sim_destroy(sim);
}

/* ---- monitors ---------------------------------------------------------------------------------- */

static CalSimMonitor monitor_after(CalSim *sim, double t) {
	CalSimMonitor monitor;
	advance(sim, t);
	assert_int_equal(cal_sim_monitor(sim, 0, &monitor), CAL_OK);
	return monitor;
}

static void pendulum_conserves_energy_and_not_momentum(void **state) {
	(void)state;
	CalSim *sim = new_sim(pendulum_desc(0), CAL_METHOD_DOPRI5, 0);
	cal_sim_state(sim, 0)->q[0] = 1;
	CalSimMonitor monitor = monitor_after(sim, 1.3);
	assert_true(monitor.energy_conserved);
	assert_false(monitor.momentum_conserved);
	assert_true(monitor.energy_scale > 0.1);
	assert_true(fabs(monitor.energy_change) < 1e-7 * monitor.energy_scale);
	assert_true(fabs(monitor.linear_change.x) > 0.01);
	cal_sim_destroy(sim);
}

static void dampers_make_the_energy_change_no_drift(void **state) {
	(void)state;
	CalSim *sim = new_sim(pendulum_desc(0.5), CAL_METHOD_DOPRI5, 0);
	cal_sim_state(sim, 0)->q[0] = 1;
	CalSimMonitor monitor = monitor_after(sim, 1.3);
	assert_false(monitor.energy_conserved);
	assert_true(monitor.energy_change < -0.1);
	cal_sim_destroy(sim);
}

static void damping_of_modes_is_no_drift(void **state) {
	(void)state;
	for (int damped = 0; damped < 2; damped++) {
		CalSim *sim = new_sim(flexible_desc(damped ? 0.5 : 0), CAL_METHOD_DOPRI5, 0);
		cal_sim_state(sim, 0)->q[7] = 0.1;
		cal_sim_state(sim, 0)->u[5] = 0.3;
		CalSimMonitor monitor = monitor_after(sim, 2);
		assert_int_equal(monitor.energy_conserved, !damped);
		assert_true(monitor.momentum_conserved);
		assert_true(damped ? monitor.energy_change < -0.01 : fabs(monitor.energy_change) < 1e-8 * monitor.energy_scale);
		cal_sim_destroy(sim);
	}
}

/* A force on a mode of a free root is internal. */
static void modal_forces_do_not_change_the_momentum(void **state) {
	(void)state;
	Push push = {.tau = {[6] = 0.7}};
	CalSim *sim = new_sim(flexible_desc(0), CAL_METHOD_DOPRI5, 0);
	cal_sim_set_input(sim, 0, push_tau, NULL, &push);
	CalSimMonitor monitor = monitor_after(sim, 2);
	assert_false(monitor.energy_conserved);
	assert_true(monitor.momentum_conserved);
	assert_true(fabs(monitor.energy_change) > 1e-3);
	assert_true(fabs(monitor.linear_change.y) < 1e-9 && fabs(monitor.angular_change.z) < 1e-9);
	push.tau[0] = 0.1;
	assert_int_equal(cal_sim_restart(sim, NULL), CAL_OK);
	assert_false(monitor_after(sim, 3).momentum_conserved);
	cal_sim_destroy(sim);
}

static void internal_torque_changes_energy_and_not_momentum(void **state) {
	(void)state;
	Push push = {.tau = {[6] = 0.7}};
	CalSim *sim = new_sim(flyer_desc(), CAL_METHOD_DOPRI5, 0);
	cal_sim_set_input(sim, 0, push_tau, NULL, &push);
	CalState *start = cal_sim_state(sim, 0);
	for (int i = 0; i < 6; i++)
		start->u[i] = 0.1 * (i + 1);
	CalSimMonitor monitor = monitor_after(sim, 2);
	assert_false(monitor.energy_conserved);
	assert_true(monitor.momentum_conserved);
	assert_true(fabs(monitor.energy_change) > 0.1);
	double changes[] = {monitor.linear_change.x,  monitor.linear_change.y,  monitor.linear_change.z,
	                    monitor.angular_change.x, monitor.angular_change.y, monitor.angular_change.z};
	for (int i = 0; i < 6; i++)
		assert_true(fabs(changes[i]) < 1e-8);
	cal_sim_destroy(sim);
}

/* A gear between two joints of a free root is internal; one that takes in a dof of its flight is not. */
static void gears_count_as_what_they_tie(void **state) {
	(void)state;
	for (int outside = 0; outside < 2; outside++) {
		CalDesc *desc = new_desc();
		const CalBodyId base =
			add_jointed(desc, (CalGroupId){0}, (CalBodyId){0}, "base", cal_joint_def(CAL_JOINT_FREE));
		const CalBodyId a = add_jointed(desc, (CalGroupId){0}, base, "a", joint_about_y(CAL_JOINT_REVOLUTE));
		const CalBodyId b = add_jointed(desc, (CalGroupId){0}, base, "b", joint_about_y(CAL_JOINT_REVOLUTE));
		CalLoopDef gear = cal_loop_def(CAL_LOOP_COUPLING);
		gear.name = "gear", gear.term_count = 2;
		gear.term[0] = (CalLoopTerm){a, 0, 2}, gear.term[1] = (CalLoopTerm){outside ? base : b, 0, 1};
		assert_int_equal(cal_desc_close_loop(desc, (CalNodeId){0}, &gear, (CalNodeId){0}, NULL, NULL), CAL_OK);
		CalSim *sim = new_sim(desc, CAL_METHOD_DOPRI5, 0);
		cal_sim_state(sim, 0)->u[outside ? 0 : 7] = -0.6;
		cal_sim_state(sim, 0)->u[6] = 0.3;
		const CalSimMonitor monitor = monitor_after(sim, 2);
		assert_int_equal(monitor.momentum_conserved, !outside);
		assert_true(outside ? fabs(monitor.linear_change.x) > 1e-4 : fabs(monitor.linear_change.x) < 1e-9);
		cal_sim_destroy(sim);
	}
}

static void free_flight_conserves_both(void **state) {
	(void)state;
	CalSim *sim = new_sim(flyer_desc(), CAL_METHOD_DOPRI5, 0);
	CalState *start = cal_sim_state(sim, 0);
	for (int i = 0; i < 7; i++)
		start->u[i] = 0.1 * (i + 1);
	CalSimMonitor monitor = monitor_after(sim, 2);
	assert_true(monitor.energy_conserved);
	assert_true(monitor.momentum_conserved);
	assert_true(fabs(monitor.energy_change) < 1e-7 * monitor.energy_scale);
	cal_sim_destroy(sim);
}

static void wrenches_and_driven_dofs_are_noticed(void **state) {
	(void)state;
	Push push = {.wrench = {.node = 0, .f = {.linear = {0, 0, 1}}}};
	CalSim *sim = new_sim(flyer_desc(), CAL_METHOD_DOPRI5, 0);
	cal_sim_set_input(sim, 0, push_wrench, NULL, &push);
	CalSimMonitor monitor = monitor_after(sim, 0.5);
	assert_false(monitor.energy_conserved);
	assert_false(monitor.momentum_conserved);

	push.prescribed[6] = 1;
	cal_sim_set_input(sim, 0, push_prescribed, NULL, &push);
	cal_sim_state(sim, 0)->u[6] = 0;
	assert_int_equal(cal_sim_restart(sim, NULL), CAL_OK);
	monitor = monitor_after(sim, 1);
	assert_true(monitor.energy_conserved); // locked
	assert_true(monitor.momentum_conserved);

	push.udot[6] = 0.3;
	assert_int_equal(cal_sim_restart(sim, NULL), CAL_OK);
	monitor = monitor_after(sim, 1.5);
	assert_false(monitor.energy_conserved); // driven
	assert_true(monitor.momentum_conserved);

	push.prescribed[0] = 1;
	assert_int_equal(cal_sim_restart(sim, NULL), CAL_OK);
	monitor = monitor_after(sim, 2);
	assert_false(monitor.momentum_conserved);
	cal_sim_destroy(sim);
}

static void restart_counts_from_zero(void **state) {
	(void)state;
	CalSim *sim = new_sim(pendulum_desc(0), CAL_METHOD_RK4, 0.01);
	assert_int_equal(cal_sim_stats(sim).steps, 0);
	cal_sim_state(sim, 0)->q[0] = 1;
	advance(sim, 1);
	CalSimStats stats = cal_sim_stats(sim);
	assert_int_equal(stats.steps, 100);
	assert_int_equal(stats.evaluations, 400);
	assert_true(stats.time == 1);
	assert_true(stats.wall_s > 0 && stats.cpu_s > 0);
	assert_true(fabs(stats.real_time_factor - 1 / stats.wall_s) < 1e-9 / stats.wall_s);
	cal_sim_state(sim, 0)->u[0] = 5;
	assert_int_equal(cal_sim_restart(sim, NULL), CAL_OK);
	assert_int_equal(cal_sim_stats(sim).steps, 0);
	assert_true(cal_sim_stats(sim).wall_s == 0);
	CalSimMonitor monitor;
	assert_int_equal(cal_sim_monitor(sim, 0, &monitor), CAL_OK);
	assert_true(monitor.energy_change == 0);
	cal_sim_destroy(sim);
}

/* ---- observing --------------------------------------------------------------------------------- */

static void observing_does_not_change_the_run(void **state) {
	(void)state;
	CalSim *watched = new_sim(flyer_desc(), CAL_METHOD_DOPRI5, 0), *alone = new_sim(flyer_desc(), CAL_METHOD_DOPRI5, 0);
	CalSim *both[] = {watched, alone};
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 7; i++)
			cal_sim_state(both[k], 0)->u[i] = 0.3 * (i + 1);
	for (int i = 1; i <= 20; i++) {
		CalSimView view;
		CalSimMonitor monitor;
		advance(watched, 0.05 * i);
		advance(alone, 0.05 * i);
		assert_int_equal(cal_sim_observe(watched, 0, &view), CAL_OK);
		assert_int_equal(cal_reactions(view.model, view.state, view.udot, &view.input, view.work), CAL_OK);
		assert_int_equal(cal_sim_monitor(watched, 0, &monitor), CAL_OK);
	}
	const CalState *a = cal_sim_state(watched, 0), *b = cal_sim_state(alone, 0);
	assert_memory_equal(a->q, b->q, 8 * sizeof(double));
	assert_memory_equal(a->u, b->u, 7 * sizeof(double));
	assert_int_equal(cal_sim_stats(watched).evaluations, cal_sim_stats(alone).evaluations);
	cal_sim_destroy(watched);
	cal_sim_destroy(alone);
}

static void observation_shows_what_acts(void **state) {
	(void)state;
	Push push = {.jump = 1};
	CalSim *sim = new_sim(rail_desc(), CAL_METHOD_RK4, 0.1);
	CalSimView view;
	cal_sim_set_input(sim, 0, push_jump, next_jump, &push);
	assert_int_equal(cal_sim_observe(sim, 0, &view), CAL_OK);
	assert_true(fabs(view.udot[0] - 1) < 1e-14);
	advance(sim, 1);
	assert_int_equal(cal_sim_observe(sim, 0, &view), CAL_OK);
	assert_true(fabs(view.udot[0] + 0.5) < 1e-14); // from the right of the jump
	assert_int_equal(cal_sim_observe(sim, 1, &view), CAL_ERR_ARGUMENT);
	cal_sim_destroy(sim);
}

/* ---- memory ------------------------------------------------------------------------------------ */

typedef struct Budget {
	int left;        // calls until one fails
	int outstanding; // blocks not returned
} Budget;

static void *budget_alloc(void *user, size_t size) {
	Budget *budget = user;
	if (budget->left-- <= 0)
		return NULL;
	budget->outstanding++;
	return malloc(size);
}

static void budget_free(void *user, void *memory) {
	((Budget *)user)->outstanding -= memory != NULL;
	free(memory);
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state) {
	(void)state;
	CalDesc *desc = flyer_desc();
	CalStatus status = CAL_ERR_MEMORY;
	int failures = 0;
	for (int calls = 0; status != CAL_OK && calls < 100; calls++) {
		Budget budget = {.left = calls};
		CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5},
		                         .allocator = {budget_alloc, budget_free, &budget}};
		CalSim *sim = NULL;
		CalError error = {0};
		status = cal_sim_create(desc, &options, &sim, &error);
		if (status != CAL_OK) {
			assert_int_equal(status, CAL_ERR_MEMORY);
			assert_int_equal(error.status, CAL_ERR_MEMORY);
			assert_null(sim);
			failures++;
		}
		cal_sim_destroy(sim);
		assert_int_equal(budget.outstanding, 0);
	}
	assert_int_equal(status, CAL_OK);
	assert_true(failures >= 4); // simulation, groups, model, block
	cal_desc_destroy(desc);
}

static void advancing_and_observing_allocate_nothing(void **state) {
	(void)state;
	if (!INTERPOSE_ACTIVE)
		skip();
	const CalMethod methods[] = {CAL_METHOD_EULER_CROMER, CAL_METHOD_RK4, CAL_METHOD_DOPRI5};
	for (int m = 0; m < 3; m++) {
		CalSim *sim = new_sim(flyer_desc(), methods[m], 0.01);
		Push push = {.tau = {[6] = 0.7}, .jump = 0.33};
		CalSimView view;
		CalSimMonitor monitor;
		cal_sim_set_input(sim, 0, push_jump, next_jump, &push);
		interpose_begin(0);
		CalStatus status = cal_sim_advance(sim, 0.5, NULL);
		status = status ? status : cal_sim_step(sim, 1, NULL);
		status = status ? status : cal_sim_observe(sim, 0, &view);
		status = status ? status : cal_sim_monitor(sim, 0, &monitor);
		status = status ? status : cal_sim_restart(sim, NULL);
		Interpose seen = interpose_end();
		assert_int_equal(status, CAL_OK);
		assert_int_equal(seen.calls, 0);
		cal_sim_destroy(sim);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_group_with_bodies_takes_part),
		cmocka_unit_test(a_description_without_bodies_is_refused),
		cmocka_unit_test(a_refusal_has_a_message_in_an_error_that_was_not_set),
		cmocka_unit_test(a_fixed_method_without_step_is_refused),
		cmocka_unit_test(times_are_met_exactly),
		cmocka_unit_test(single_steps_end_at_the_limit_without_slivers),
		cmocka_unit_test(many_single_steps_leave_no_sliver),
		cmocka_unit_test(jumps_in_the_input_cost_no_accuracy),
		cmocka_unit_test(a_refusing_input_is_reported_with_its_place),
		cmocka_unit_test(states_of_different_times_are_refused),
		cmocka_unit_test(pendulum_conserves_energy_and_not_momentum),
		cmocka_unit_test(dampers_make_the_energy_change_no_drift),
		cmocka_unit_test(damping_of_modes_is_no_drift),
		cmocka_unit_test(modal_forces_do_not_change_the_momentum),
		cmocka_unit_test(internal_torque_changes_energy_and_not_momentum),
		cmocka_unit_test(gears_count_as_what_they_tie),
		cmocka_unit_test(free_flight_conserves_both),
		cmocka_unit_test(wrenches_and_driven_dofs_are_noticed),
		cmocka_unit_test(restart_counts_from_zero),
		cmocka_unit_test(observing_does_not_change_the_run),
		cmocka_unit_test(observation_shows_what_acts),
		cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
		cmocka_unit_test(advancing_and_observing_allocate_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
