// SPDX-License-Identifier: Apache-2.0
/*
 * test_transition_propagation.c — groups that are switched between flexible, rigid and kinematic; attaching without an
 * impulse. Momentum and energy are computed here from masses and velocities, or taken from textbooks; a group that was
 * switched is compared with one that was described rigid; checkpoints hold every propagation.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_internal.h"
#include "support/small_system.h"
#include "transition/checkpoint_bytes.h"

static void expect(CalStatus got, CalStatus want, const CalError *error, const char *word) {
	if (got != want || !strstr(error->text, word))
		fail_msg("status %d (wanted %d), \"%s\" lacks \"%s\"", got, want, error->text, word);
}

static void near_(double got, double want, double tolerance, const char *what) {
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%s: %.17g, wanted %.17g within %g", what, got, want, tolerance);
}

static void same_momentum(CalMomentum got, CalMomentum want, double tolerance) {
	check_close_scaled(0, "linear momentum", 3, &got.linear.x, &want.linear.x, 1, tolerance);
	check_close_scaled(0, "angular momentum", 3, &got.angular_origin.x, &want.angular_origin.x, 1, tolerance);
}

static void switch_to(System *s, int group, CalPropagation to, CalTransition *report) {
	if (cal_sim_set_propagation(s->sim, group, to, report, &s->error) != CAL_OK)
		fail_msg("%s", s->error.text);
	assert_int_equal(cal_sim_propagation(s->sim, group), to);
}

static void advance(System *s, double t) {
	if (cal_sim_advance(s->sim, t, &s->error) != CAL_OK)
		fail_msg("%s", s->error.text);
}

/* ---- freezing modes ----------------------------------------------------------------------------------------- */

/*
 * A mass of 3 kg that carries one of 2 kg on a spring along x: the modal speed is the relative velocity w. Freezing is
 * the perfectly inelastic collision of the two: common speed (3 V + 2 (V + w)) / 5, energy lost w^2/2 * 3*2/5.
 */
static void freezing_a_mode_is_an_inelastic_collision(void **state) {
	(void)state;
	System s = system_begin();
	const double phi[3] = {1, 0, 0}, stiffness = 50, V = 0.7, w = -1.3;
	const CalBodyId body = add_box(&s, "carrier", 1, 3);
	CalFlexNode node = {.node = add_node(&s, body, "load", (CalVec3){0.5, 0, 0}), .mass = 2, .phi = phi};
	const CalFlexDef flex = {.modes = 1, .stiffness = &stiffness, .node_count = 1, .nodes = &node};
	CalTransition report;
	check_ok(0, cal_desc_set_flexible(s.desc, body, &flex, &s.error));
	join(&s, (CalNodeId){0}, CAL_JOINT_FREE, "f", cal_desc_body_node(s.desc, body));
	system_start(&s, NULL);
	CalState *at = cal_sim_state(s.sim, 0);
	at->u[0] = V, at->u[6] = w;
	check_ok(0, cal_sim_restart(s.sim, &s.error));
	switch_to(&s, 0, CAL_PROPAGATE_RIGID, &report);
	at = cal_sim_state(s.sim, 0);
	near_(at->u[0], (3 * V + 2 * (V + w)) / 5, 1e-15, "common speed");
	near_(at->u[6], 0, 0, "modal speed");
	near_(report.kinetic_lost, 0.5 * w * w * 6 / 5, 1e-15, "energy lost");
	near_(report.linear_change.x, 0, 1e-15, "change of momentum");
	CalSimBalance balance;
	check_ok(0, cal_sim_balance(s.sim, &balance));
	near_(balance.dissipated, report.kinetic_lost, 1e-15, "account");
	advance(&s, 0.1);
	near_(cal_sim_state(s.sim, 0)->q[7], 0, 0, "held coordinate");
	system_end(&s);
}

/* A flexible box that flies and carries a rigid one by a hinge on its node n4. */
typedef struct Boom {
	System s;
	CalBodyId body, link;
	CalJointId hinge;
} Boom;

static const double Q[15] = {0.1, 0.2, 0.3, 0.9, 0.1, 0.3, 0.3, 0.02, -0.03, 0.05, 0.4};
static const double U[10] = {0.3, -0.2, 0.5, 0.4, -0.7, 0.6, 0.8, -0.5, 0.4, 1.1};

static void put_state(System *s) {
	CalState *at = cal_sim_state(s->sim, 0);
	memcpy(at->q, Q, 11 * sizeof(double));
	memcpy(at->u, U, sizeof U);
	check_ok(0, cal_sim_restart(s->sim, &s->error));
}

static Boom boom(void) {
	Boom b = {.s = system_begin()};
	CalNodeId nodes[5];
	b.body = add_flexible_box(&b.s, "boom", 1, 2, nodes);
	b.link = add_box(&b.s, "link", 1, 1.5);
	join(&b.s, (CalNodeId){0}, CAL_JOINT_FREE, "f", cal_desc_body_node(b.s.desc, b.body));
	b.hinge =
		join(&b.s, nodes[4], CAL_JOINT_REVOLUTE, "hinge", add_node(&b.s, b.link, "end", (CalVec3){-0.5, 0.1, 0.2}));
	system_start(&b.s, &(CalSimCapacity){.groups = 1});
	put_state(&b.s);
	return b;
}

/* exp([a]x) as a quaternion. */
static CalQuat turned_by(CalVec3 a) {
	const double angle = sqrt(a.x * a.x + a.y * a.y + a.z * a.z), s = angle > 0 ? sin(angle / 2) / angle : 0.5;
	return (CalQuat){cos(angle / 2), s * a.x, s * a.y, s * a.z};
}

/* The same as a rigid body with its point masses where the modal coordinates eta put them, and a hinge there. */
static Boom rigid_twin(const double *eta) {
	Boom b = {.s = system_begin()};
	SmallFlex flex;
	CalVec3 p[5], turn = {0, 0, 0}, first = {0, 0, 0};
	CalBodyDef def = cal_body_def();
	small_flex(&flex);
	b.body = add_box(&b.s, "box", 1, 2);
	const CalBodyDef box = *cal_desc_body(b.s.desc, b.body);
	cal_desc_destroy(b.s.desc);
	b.s = system_begin();
	def.name = "boom", def.mass = box.mass;
	for (int n = 0; n < 5; n++) {
		double *at = &p[n].x, *angle = &turn.x;
		p[n] = flex.position[n];
		turn = (CalVec3){0, 0, 0};
		for (int i = 0; i < 9; i++) {
			at[i / 3] += flex.phi[n][i] * eta[i % 3];
			angle[i / 3] += flex.psi[n][i] * eta[i % 3];
		}
		def.mass += flex.nodes[n].mass;
		first = (CalVec3){first.x + flex.nodes[n].mass * p[n].x, first.y + flex.nodes[n].mass * p[n].y,
		                  first.z + flex.nodes[n].mass * p[n].z};
	}
	def.com = (CalVec3){first.x / def.mass, first.y / def.mass, first.z / def.mass};
	for (int part = 0; part < 6; part++) { // the box at the origin, then the masses, about the common center
		const double m = part ? flex.nodes[part - 1].mass : box.mass, *c = &def.com.x;
		const CalVec3 at = part ? p[part - 1] : (CalVec3){0, 0, 0};
		const double r[3] = {at.x - c[0], at.y - c[1], at.z - c[2]}, rr = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
		for (int i = 0; i < 9; i++)
			def.inertia.m[i / 3][i % 3] +=
				m * ((i / 3 == i % 3 ? rr : 0) - r[i / 3] * r[i % 3]) + (part ? 0 : box.inertia.m[i / 3][i % 3]);
	}
	check_ok(0, cal_desc_add_body(b.s.desc, &def, &b.body, &b.s.error));
	CalNodeDef node = cal_node_def();
	CalNodeId n4;
	node.name = "n4";
	node.placement = (CalPlacement){p[4], turned_by(turn)}; // of the last node
	check_ok(0, cal_desc_add_node(b.s.desc, b.body, &node, &n4, &b.s.error));
	b.link = add_box(&b.s, "link", 1, 1.5);
	join(&b.s, (CalNodeId){0}, CAL_JOINT_FREE, "f", cal_desc_body_node(b.s.desc, b.body));
	b.hinge = join(&b.s, n4, CAL_JOINT_REVOLUTE, "hinge", add_node(&b.s, b.link, "end", (CalVec3){-0.5, 0.1, 0.2}));
	system_start(&b.s, NULL);
	return b;
}

/* What a group does that is rigid by its propagation, also from the start, is what rigid bodies do. */
static void a_rigid_group_moves_as_one_that_was_described_rigid(void **state) {
	(void)state;
	Boom b = boom(), twin = rigid_twin(Q + 7);
	CalTransition report;
	double before, after;
	const CalMomentum p = momentum(b.s.sim, &before);
	switch_to(&b.s, 0, CAL_PROPAGATE_RIGID, &report);
	same_momentum(momentum(b.s.sim, &after), p, 1e-14);
	near_(before - after, report.kinetic_lost, 1e-13, "energy lost");
	assert_true(report.kinetic_lost > 0.05);
	CalState *from = cal_sim_state(b.s.sim, 0), *to = cal_sim_state(twin.s.sim, 0);
	memcpy(to->q, from->q, 7 * sizeof(double));
	memcpy(to->u, from->u, 6 * sizeof(double));
	to->q[7] = from->q[10], to->u[6] = from->u[9];
	check_ok(0, cal_sim_restart(twin.s.sim, &twin.s.error));
	same_momentum(momentum(twin.s.sim, &before), p, 1e-13); // of plain masses: the independent sum
	near_(before, after, 1e-13, "kinetic energy of the twin");
	for (int k = 1; k <= 10; k++) {
		advance(&b.s, 0.1 * k);
		advance(&twin.s, 0.1 * k);
		check_close_scaled((uint64_t)k, "q of the root", 7, from->q, to->q, 1, 1e-11);
		check_close_scaled((uint64_t)k, "u of the root", 6, from->u, to->u, 1, 1e-11);
		near_(from->q[10], to->q[7], 1e-11, "hinge");
		assert_memory_equal(from->q + 7, Q + 7, 3 * sizeof(double)); // the deflection stays, to the bit
	}
	system_end(&b.s);
	system_end(&twin.s);
}

static void thawing_keeps_velocities_and_locks(void **state) {
	(void)state;
	Boom b = boom();
	CalTransition report;
	double before, after;
	check_ok(0, cal_sim_lock_modes(b.s.sim, b.body, 1, NULL, &b.s.error));
	switch_to(&b.s, 0, CAL_PROPAGATE_RIGID, NULL);
	advance(&b.s, 0.05);
	const CalMomentum p = momentum(b.s.sim, &before);
	double u[10];
	memcpy(u, cal_sim_state(b.s.sim, 0)->u, sizeof u);
	switch_to(&b.s, 0, CAL_PROPAGATE_FLEXIBLE, &report);
	assert_memory_equal(cal_sim_state(b.s.sim, 0)->u, u, sizeof u);
	same_momentum(momentum(b.s.sim, &after), p, 1e-14);
	near_(report.kinetic_lost, 0, 0, "energy lost");
	advance(&b.s, 0.15);
	const CalState *at = cal_sim_state(b.s.sim, 0);
	assert_true(fabs(at->u[6]) > 1e-3 && at->u[7] == 0 && fabs(at->u[8]) > 1e-3); // the lock of mode 2 stayed
	same_momentum(momentum(b.s.sim, &after), p, 1e-9);
	CalSimBalance balance;
	check_ok(0, cal_sim_balance(b.s.sim, &balance));
	near_(balance.error, 0, 1e-8, "balance");
	system_end(&b.s);
}

/* ---- kinematic ------------------------------------------------------------------------------------------------ */

static int push(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	static const CalWrench wrench = {.node = 0, .frame = CAL_FRAME_WORLD, .f = {{1, 2, 3}, {4, 5, 6}}};
	(void)user, (void)model, (void)state;
	input->wrenches = &wrench;
	input->wrench_count = 1;
	return 0;
}

/*
 * Joints and modes stop without a change of momentum; then nothing pushes the group from its path. The momentum is that of
 * one rigid body whose frame moves straight and spins: what it changed by until the release is reported.
 */
static void a_kinematic_group_keeps_its_velocity_whatever_acts(void **state) {
	(void)state;
	Boom b = boom();
	CalTransition report;
	double before, after;
	const CalMomentum p = momentum(b.s.sim, &before);
	check_ok(0, cal_sim_set_input(b.s.sim, 0, push, NULL, NULL));
	switch_to(&b.s, 0, CAL_PROPAGATE_KINEMATIC, &report);
	same_momentum(momentum(b.s.sim, &after), p, 1e-14);
	near_(before - after, report.kinetic_lost, 1e-13, "energy lost");
	double u[10], q[11];
	memcpy(u, cal_sim_state(b.s.sim, 0)->u, sizeof u);
	memcpy(q, cal_sim_state(b.s.sim, 0)->q, sizeof q);
	for (int k = 6; k < 10; k++)
		near_(u[k], 0, 0, "inner speed");
	advance(&b.s, 0.5);
	const CalState *at = cal_sim_state(b.s.sim, 0);
	assert_memory_equal(at->u, u, sizeof u);
	assert_memory_equal(at->q + 7, q + 7, 4 * sizeof(double));
	for (int k = 0; k < 3; k++)
		near_(at->q[k], q[k] + 0.5 * u[k], 1e-13, "path"); // a sum of 500 steps
	CalSimBalance balance;
	check_ok(0, cal_sim_balance(b.s.sim, &balance));
	near_(balance.error, 0, 1e-9, "balance");
	const CalMomentum late = momentum(b.s.sim, &after);
	check_ok(0, cal_sim_set_input(b.s.sim, 0, NULL, NULL, NULL));
	switch_to(&b.s, 0, CAL_PROPAGATE_RIGID, &report);
	const CalVec3 change = {late.linear.x - p.linear.x, late.linear.y - p.linear.y, late.linear.z - p.linear.z};
	check_close_scaled(0, "reported change", 3, &report.linear_change.x, &change.x, 1, 1e-13);
	assert_true(fabs(change.x) + fabs(change.y) + fabs(change.z) > 0.1);
	assert_memory_equal(cal_sim_state(b.s.sim, 0)->u, u, sizeof u);
	const CalMomentum free_now = momentum(b.s.sim, &before);
	advance(&b.s, 1);
	same_momentum(momentum(b.s.sim, &before), free_now, 1e-9); // it moves by its dynamics again
	system_end(&b.s);
}

/* On the ground: everything stops, and costs no evaluation of the dynamics. */
static void a_kinematic_group_on_the_ground_stands_still(void **state) {
	(void)state;
	System s = system_begin();
	CalTransition report;
	cal_desc_set_gravity(s.desc, (CalGroupId){0}, (CalVec3){0, 0, -9.81});
	const CalBodyId a = add_box(&s, "a", 0, 2), b = add_box(&s, "b", 0, 1);
	join(&s, (CalNodeId){0}, CAL_JOINT_REVOLUTE, "p", cal_desc_body_node(s.desc, a));
	join(&s, add_node(&s, a, "tip", (CalVec3){1, 0, 0}), CAL_JOINT_REVOLUTE, "r", cal_desc_body_node(s.desc, b));
	system_start(&s, NULL);
	CalState *at = cal_sim_state(s.sim, 0);
	at->u[0] = 1, at->u[1] = -2;
	check_ok(0, cal_sim_restart(s.sim, &s.error));
	advance(&s, 0.1);
	double kinetic;
	momentum(s.sim, &kinetic);
	switch_to(&s, 0, CAL_PROPAGATE_KINEMATIC, &report);
	near_(report.kinetic_lost, kinetic, 1e-14, "all of the energy");
	const int64_t evaluations = cal_sim_stats(s.sim).evaluations;
	double q[2];
	memcpy(q, cal_sim_state(s.sim, 0)->q, sizeof q);
	advance(&s, 0.5);
	assert_memory_equal(cal_sim_state(s.sim, 0)->q, q, sizeof q);
	assert_int_equal(cal_sim_stats(s.sim).evaluations, evaluations);
	switch_to(&s, 0, CAL_PROPAGATE_FLEXIBLE, &report);
	advance(&s, 0.6);
	CalSimBalance balance;
	check_ok(0, cal_sim_balance(s.sim, &balance));
	near_(balance.error, 0, 1e-9, "balance");
	system_end(&s);
}

/* A ring of four links that flies, spinning: loops hold in every propagation. */
static void loops_hold_in_every_propagation(void **state) {
	(void)state;
	System s = system_begin();
	CalBodyId body[4];
	CalNodeId tip[4];
	for (int i = 0; i < 4; i++) {
		const char *const names[] = {"a", "b", "c", "d"};
		body[i] = add_box(&s, names[i], 1, 1 + i);
		tip[i] = add_node(&s, body[i], "tip", (CalVec3){1, 0, 0});
	}
	join(&s, (CalNodeId){0}, CAL_JOINT_FREE, "f", cal_desc_body_node(s.desc, body[0]));
	for (int i = 1; i < 4; i++) {
		const char *const names[] = {"", "h1", "h2", "h3"};
		join(&s, tip[i - 1], CAL_JOINT_REVOLUTE, names[i], cal_desc_body_node(s.desc, body[i]));
	}
	CalLoopDef loop = cal_loop_def(CAL_LOOP_REVOLUTE);
	loop.name = "ring";
	check_ok(0, cal_desc_close_loop(s.desc, tip[3], &loop, cal_desc_body_node(s.desc, body[0]), NULL, &s.error));
	system_start(&s, NULL);
	CalState *at = cal_sim_state(s.sim, 0);
	for (int i = 0; i < 3; i++)
		at->q[7 + i] = acos(-1) / 2, at->u[6 + i] = i == 1 ? -0.6 : 0.6;
	at->u[0] = 0.3, at->u[5] = 0.8, at->u[3] = 0.4;
	check_ok(0, cal_sim_restart(s.sim, &s.error));
	double kinetic;
	const CalMomentum p = momentum(s.sim, &kinetic);
	static const CalPropagation order[] = {CAL_PROPAGATE_KINEMATIC, CAL_PROPAGATE_RIGID, CAL_PROPAGATE_KINEMATIC,
	                                       CAL_PROPAGATE_FLEXIBLE};
	for (int k = 0; k < 4; k++) {
		switch_to(&s, 0, order[k], NULL);
		if (k == 0)
			same_momentum(momentum(s.sim, &kinetic), p, 1e-13);
		advance(&s, 0.1 * (k + 1));
		CalSimMonitor monitor;
		CalSimBalance balance;
		check_ok(0, cal_sim_monitor(s.sim, 0, &monitor));
		near_(monitor.residual, 0, 1e-9, "loop");
		check_ok(0, cal_sim_balance(s.sim, &balance));
		near_(balance.error, 0, 1e-7, "balance");
	}
	system_end(&s);
}

/* ---- topology ------------------------------------------------------------------------------------------------- */

static void parts_are_propagated_as_their_group_was(void **state) {
	(void)state;
	Boom b = boom();
	CalTransition report;
	switch_to(&b.s, 0, CAL_PROPAGATE_RIGID, NULL);
	check_ok(0, cal_sim_detach(b.s.sim, b.hinge, "off", &report, &b.s.error));
	assert_int_equal(cal_sim_propagation(b.s.sim, report.other), CAL_PROPAGATE_RIGID);
	switch_to(&b.s, report.other, CAL_PROPAGATE_FLEXIBLE, NULL);
	expect(cal_sim_reattach(b.s.sim, b.hinge, NULL, NULL, &b.s.error), CAL_ERR_MODEL, &b.s.error,
	       "is propagated rigid, group \"off\" flexible; make it the same first");
	switch_to(&b.s, cal_sim_find_group(b.s.sim, "off"), CAL_PROPAGATE_RIGID, NULL);
	check_ok(0, cal_sim_reattach(b.s.sim, b.hinge, NULL, NULL, &b.s.error));
	advance(&b.s, 0.01);
	assert_int_equal(cal_sim_propagation(b.s.sim, 0), CAL_PROPAGATE_RIGID);
	system_end(&b.s);
}

static void bad_calls_are_refused(void **state) {
	(void)state;
	System s = system_begin();
	CalNodeId nodes[5];
	const CalBodyId body = add_flexible_box(&s, "boom", 1, 2, nodes);
	join(&s, (CalNodeId){0}, CAL_JOINT_FREE, "f", cal_desc_body_node(s.desc, body));
	assert_int_equal(cal_desc_set_propagation(s.desc, (CalGroupId){0}, CAL_PROPAGATION_COUNT), CAL_ERR_ARGUMENT);
	check_ok(0, cal_desc_set_propagation(s.desc, (CalGroupId){0}, CAL_PROPAGATE_RIGID));
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}};
	check_ok(0, cal_sim_create(s.desc, &options, &s.sim, &s.error));
	assert_int_equal(cal_sim_propagation(s.sim, 0), CAL_PROPAGATE_RIGID);
	expect(cal_sim_set_propagation(s.sim, 0, CAL_PROPAGATE_FLEXIBLE, NULL, &s.error), CAL_ERR_ARGUMENT, &s.error,
	       "cal_sim_reserve");
	expect(cal_sim_set_propagation(s.sim, 1, CAL_PROPAGATE_FLEXIBLE, NULL, &s.error), CAL_ERR_ARGUMENT, &s.error,
	       "no group 1");
	expect(cal_sim_set_propagation(s.sim, 0, (CalPropagation)7, NULL, &s.error), CAL_ERR_ARGUMENT, &s.error,
	       "unknown propagation 7");
	cal_sim_state(s.sim, 0)->u[7] = 0.25;
	expect(cal_sim_restart(s.sim, &s.error), CAL_ERR_MODEL, &s.error,
	       "mode 2 of body \"boom\" cannot start with the speed 0.25");
	system_end(&s);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------ */

/* From every propagation into a new simulation and into one in every other propagation: the runs stay bit-identical. */
static void checkpoints_hold_every_propagation(void **state) {
	(void)state;
	for (int from = 0; from < CAL_PROPAGATION_COUNT; from++) {
		Boom whole = boom();
		advance(&whole.s, 0.01);
		switch_to(&whole.s, 0, (CalPropagation)from, NULL);
		advance(&whole.s, 0.02);
		const Bytes at = take_without_clocks(whole.s.sim);
		const CalPropagation next = (CalPropagation)((from + 1) % CAL_PROPAGATION_COUNT);
		for (int into = -1; into < CAL_PROPAGATION_COUNT; into++) {
			Boom fresh = boom();
			if (into >= 0) {
				advance(&fresh.s, 0.003);
				switch_to(&fresh.s, 0, (CalPropagation)into, NULL);
				advance(&fresh.s, 0.05);
			}
			if (cal_checkpoint_restore(fresh.s.sim, at.at, at.size, &fresh.s.error) != CAL_OK)
				fail_msg("%s", fresh.s.error.text);
			assert_int_equal(cal_sim_propagation(fresh.s.sim, 0), from);
			advance(&fresh.s, 0.04);
			switch_to(&fresh.s, 0, next, NULL);
			advance(&fresh.s, 0.06);
			if (into < 0) {
				advance(&whole.s, 0.04);
				switch_to(&whole.s, 0, next, NULL);
				advance(&whole.s, 0.06);
			}
			const Bytes a = take_without_clocks(whole.s.sim), b = take_without_clocks(fresh.s.sim);
			assert_int_equal(a.size, b.size);
			assert_memory_equal(a.at, b.at, a.size);
			free(a.at);
			free(b.at);
			system_end(&fresh.s);
		}
		free(at.at);
		system_end(&whole.s);
	}
}

/* ---- attach without an impulse ---------------------------------------------------------------------------------- */

static CalVec3 cross_sum(CalVec3 v, CalVec3 w, CalVec3 r) { // v + w x r
	return (CalVec3){v.x + w.y * r.z - w.z * r.y, v.y + w.z * r.x - w.x * r.z, v.z + w.x * r.y - w.y * r.x};
}

/* b takes over the motion of a: its momentum and energy change by what masses and velocities say. */
static void a_kinematic_attach_takes_over_the_motion(void **state) {
	(void)state;
	System s = system_begin();
	const CalGroupId other = add_group(&s, "other");
	const CalBodyId a = add_box(&s, "a", 1, 4), b = add_box(&s, "b", other.value, 1.5);
	const CalNodeId port = add_node(&s, a, "port", (CalVec3){1, 0, 0});
	join(&s, (CalNodeId){0}, CAL_JOINT_FREE, "fa", cal_desc_body_node(s.desc, a));
	join(&s, (CalNodeId){0}, CAL_JOINT_FREE, "fb", cal_desc_body_node(s.desc, b));
	system_start(&s, &(CalSimCapacity){.joints = 2, .groups = 1});
	CalState *at = cal_sim_state(s.sim, 0), *bt = cal_sim_state(s.sim, 1);
	const double ua[6] = {0.3, 0.1, -0.2, 0.2, 0.5, -0.4}, ub[6] = {-0.5, 0.4, 0.1, 0.1, -0.3, 0.2};
	memcpy(at->u, ua, sizeof ua);
	memcpy(bt->u, ub, sizeof ub);
	bt->q[0] = 2, bt->q[1] = 0.3, bt->q[2] = 0.4;
	check_ok(0, cal_sim_restart(s.sim, &s.error));
	const CalVec3 va = {ua[0], ua[1], ua[2]}, wa = {ua[3], ua[4], ua[5]}, wb = {ub[3], ub[4], ub[5]};
	const CalVec3 v_new = cross_sum(va, wa, (CalVec3){2, 0.3, 0.4}); // of b, whose center is its origin
	const CalMat3 I = cal_desc_body(s.desc, b)->inertia;
	const double m = 1.5;
	CalTransition report;
	CalJointDef latch = cal_joint_def(CAL_JOINT_WELD);
	CalJointId id;
	latch.name = "latch";
	const CalAttachOptions options = {.fit = CAL_FIT_AT_A, .kinematic = 1};
	const CalStatus status =
		cal_sim_attach(s.sim, port, &latch, cal_desc_body_node(s.desc, b), &options, &id, &report, &s.error);
	if (status != CAL_OK)
		fail_msg("%s", s.error.text);
	double lost = 0;
	const double *vn = &v_new.x, *w0 = &wb.x, *w1 = &wa.x;
	for (int k = 0; k < 3; k++) { // the frames of a and b are those of the world now; inertias are diagonal
		near_((&report.linear_change.x)[k], m * (vn[k] - ub[k]), 1e-14, "change of momentum");
		lost += 0.5 * m * (ub[k] * ub[k] - vn[k] * vn[k]) + 0.5 * I.m[k][k] * (w0[k] * w0[k] - w1[k] * w1[k]);
	}
	near_(report.kinetic_lost, lost, 1e-14, "energy lost");
	near_(report.impulse.linear.x, 0, 0, "impulse");
	check_close_scaled(0, "speeds of a", 6, cal_sim_state(s.sim, 0)->u, ua, 1, 0);
	CalSimBalance balance;
	check_ok(0, cal_sim_balance(s.sim, &balance));
	near_(balance.error, 0, 1e-14, "balance");
	near_(balance.dissipated - balance.supplied, lost, 1e-14, "account");
	latch.name = "second";
	expect(cal_sim_attach(s.sim, port, &latch, cal_desc_body_node(s.desc, b), &options, NULL, NULL, &s.error),
	       CAL_ERR_MODEL, &s.error, "closes a loop, so neither side can take over the motion");
	advance(&s, 0.1);
	check_ok(0, cal_sim_detach(s.sim, id, "other", &report, &s.error));
	near_(report.linear_change.x, 0, 1e-14, "detach");
	check_ok(0, cal_sim_reattach(s.sim, id, &options, &report, &s.error));
	near_(report.kinetic_lost, 0, 1e-12, "nothing to take over");
	system_end(&s);
}

/* A hinge lets its own part of the relative motion stay. */
static void a_kinematic_attach_keeps_what_the_joint_allows(void **state) {
	(void)state;
	System s = system_begin();
	const CalGroupId other = add_group(&s, "other");
	const CalBodyId a = add_box(&s, "a", 1, 4), b = add_box(&s, "b", other.value, 1.5);
	join(&s, (CalNodeId){0}, CAL_JOINT_FREE, "fa", cal_desc_body_node(s.desc, a));
	join(&s, (CalNodeId){0}, CAL_JOINT_FREE, "fb", cal_desc_body_node(s.desc, b));
	system_start(&s, &(CalSimCapacity){.joints = 1});
	const double ub[6] = {0.2, 0.3, 0, 0.4, 0.5, 0.7};
	memcpy(cal_sim_state(s.sim, 1)->u, ub, sizeof ub);
	check_ok(0, cal_sim_restart(s.sim, &s.error));
	CalJointDef hinge = cal_joint_def(CAL_JOINT_REVOLUTE); // about z
	hinge.name = "hinge";
	const CalAttachOptions options = {.fit = CAL_FIT_AT_A, .kinematic = 1};
	CalTransition report;
	check_ok(0, cal_sim_attach(s.sim, cal_desc_body_node(s.desc, a), &hinge, cal_desc_body_node(s.desc, b), &options,
	                           NULL, &report, &s.error));
	near_(cal_sim_state(s.sim, 0)->u[6], 0.7, 1e-15, "speed of the hinge");
	near_(report.linear_change.x, -1.5 * 0.2, 1e-15, "momentum");
	system_end(&s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(freezing_a_mode_is_an_inelastic_collision),
		cmocka_unit_test(a_rigid_group_moves_as_one_that_was_described_rigid),
		cmocka_unit_test(thawing_keeps_velocities_and_locks),
		cmocka_unit_test(a_kinematic_group_keeps_its_velocity_whatever_acts),
		cmocka_unit_test(a_kinematic_group_on_the_ground_stands_still),
		cmocka_unit_test(loops_hold_in_every_propagation),
		cmocka_unit_test(parts_are_propagated_as_their_group_was),
		cmocka_unit_test(bad_calls_are_refused),
		cmocka_unit_test(checkpoints_hold_every_propagation),
		cmocka_unit_test(a_kinematic_attach_takes_over_the_motion),
		cmocka_unit_test(a_kinematic_attach_keeps_what_the_joint_allows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
