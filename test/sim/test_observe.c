// SPDX-License-Identifier: Apache-2.0
/*
 * test_observe.c — what observers ask for several times at one state is evaluated once, and anew after anything it depends on has
 * changed; motion alone is observed without forces.
 */
#include "../device/rig.h"

/* ---- a store of energy that counts how often it is evaluated ----------------------------------- */

typedef struct Store {
	CalJointId joint;
	CalDofRef at;
	int *evaluations;
} Store;

static int store_bind(const CalDevice *device, const CalEvalContext *context) {
	Store *s = device->data;
	return cal_context_find_dof(context, s->joint, 0, &s->at) ? 0 : 1;
}

/* 8 q + 4 x + 2 d + t: every state that it may depend on. */
static int store_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Store *s = device->data;
	const double q = cal_context_q(context, s->at);
	xdot[0] = 0;
	++*s->evaluations;
	cal_context_add_stored_energy(context, 8 * q + 4 * device->x[0] + 2 * device->d[0] + cal_context_time(context));
	cal_context_add_momentum(context, (CalVec3){q, 0, 0}, (CalVec3){0, q, 0});
	return 0;
}

static const CalDeviceOps store_ops = {.type = "store", .bind = store_bind, .evaluate = store_evaluate};

/* A pendulum of two links with a store at its first joint. */
static Rig pendulum(int *evaluations) {
	Rig rig = rig_new();
	CalBodyId a =
		rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "a", rig_joint(CAL_JOINT_REVOLUTE, 0, 1, 0), 1, unit_moments);
	rig_body(&rig, (CalGroupId){0}, a, "b", rig_joint(CAL_JOINT_REVOLUTE, 0, 1, 0), 3, unit_moments);
	rig_sim(&rig, CAL_METHOD_RK4, 0.01);
	const Store store = {.joint = rig_joint_of(&rig, "a"), .evaluations = evaluations};
	const CalDeviceDef def = {
		.name = "store", .ops = &store_ops, .data = &store, .data_size = sizeof store, .nx = 1, .nd = 1, .accounts = 1};
	rig_ok(cal_sim_add_device(rig.sim, &def, NULL, &rig_error));
	CalState *state = cal_sim_state(rig.sim, 0);
	state->q[0] = 0.3, state->q[1] = -0.2;
	state->u[0] = 0.5, state->u[1] = 0.7;
	rig_ok(cal_sim_restart(rig.sim, &rig_error));
	return rig;
}

/* ---- the balance ------------------------------------------------------------------------------- */

static void check_stored(Rig *rig, double expected) {
	const CalSimBalance balance = rig_balance(rig);
	check_near(balance.stored, expected, 1e-14);
}

static void a_state_is_evaluated_once(void **unused) {
	(void)unused;
	int evaluations = 0;
	Rig rig = pendulum(&evaluations);
	CalSimMonitor monitor;
	rig_ok(cal_sim_examine(rig.sim)); // the first one takes steps to see whether they are stable
	const CalSimBalance first = rig_balance(&rig);
	const int before = evaluations;
	for (int i = 0; i < 3; i++) {
		const CalSimBalance again = rig_balance(&rig);
		assert_memory_equal(&again, &first, sizeof first);
		rig_ok(cal_sim_monitor(rig.sim, 0, &monitor));
		rig_ok(cal_sim_examine(rig.sim));
		assert_true(monitor.energy.total == first.groups);
	}
	assert_int_equal(evaluations, before);
	rig_free(&rig);
}

static void what_has_changed_is_evaluated_anew(void **unused) {
	(void)unused;
	int evaluations = 0;
	Rig rig = pendulum(&evaluations);
	CalDeviceInfo info;
	CalState *state = cal_sim_state(rig.sim, 0);
	rig_ok(cal_sim_device(rig.sim, 0, &info));
	check_stored(&rig, 2.4);
	state->q[0] = 0.5;
	check_stored(&rig, 4);
	CalSimMonitor monitor;
	rig_ok(cal_sim_monitor(rig.sim, 0, &monitor));
	check_near(rig_balance(&rig).linear.x - monitor.momentum.linear.x, 0.5, 1e-14);
	check_near(rig_balance(&rig).angular.y - monitor.momentum.angular_origin.y, 0.5, 1e-14);
	info.x[0] = 1;
	check_stored(&rig, 8);
	info.d[0] = 3;
	check_stored(&rig, 14);
	rig_ok(cal_sim_switch_device(rig.sim, 0, 0));
	check_stored(&rig, 0);
	rig_ok(cal_sim_switch_device(rig.sim, 0, 1));
	check_stored(&rig, 14);
	rig_advance(&rig, 0.02);
	check_stored(&rig, 8 * state->q[0] + 10.02);
	rig_free(&rig);
}

/* The energy of the groups against that of another workspace. */
static void energies_are_of_the_present_state(void **unused) {
	(void)unused;
	int evaluations = 0;
	Rig rig = pendulum(&evaluations);
	const CalModel *model = cal_sim_model(rig.sim, 0);
	CalState *state = cal_sim_state(rig.sim, 0);
	CalWork *work = NULL;
	rig_ok(cal_work_create(model, &work));
	for (int i = 0; i < 4; i++) {
		CalEnergy energy;
		CalSimMonitor monitor;
		if (i == 1)
			state->u[1] = -state->u[1];
		if (i == 2)
			state->q[1] = 1;
		if (i == 3)
			rig_advance(&rig, 0.05);
		rig_ok(cal_energy(model, state, work, &energy));
		rig_ok(cal_sim_monitor(rig.sim, 0, &monitor));
		assert_memory_equal(&energy, &monitor.energy, sizeof energy);
		assert_true(rig_balance(&rig).groups == energy.total);
	}
	cal_work_destroy(work);
	rig_free(&rig);
}

/* ---- motion alone ------------------------------------------------------------------------------ */

static void motion_is_observed_without_forces(void **unused) {
	(void)unused;
	int evaluations = 0;
	Rig rig = pendulum(&evaluations);
	const int nodes = cal_model_node_count(cal_sim_model(rig.sim, 0));
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < nodes; i++) {
			CalSimView view;
			CalPose full, alone;
			CalSpatial v_full, v_alone;
			rig_ok(cal_sim_observe(rig.sim, 0, &view));
			rig_ok(cal_node_pose(view.model, view.work, i, &full));
			rig_ok(cal_node_velocity(view.model, view.work, i, &v_full));
			const int before = evaluations;
			rig_ok(cal_sim_observe_motion(rig.sim, 0, &view));
			rig_ok(cal_node_pose(view.model, view.work, i, &alone));
			rig_ok(cal_node_velocity(view.model, view.work, i, &v_alone));
			assert_int_equal(evaluations, before);
			assert_true(!view.udot && !view.force && !view.input.tau && view.input.wrench_count == 0);
			assert_memory_equal(&full, &alone, sizeof full);
			assert_memory_equal(&v_full, &v_alone, sizeof v_full);
		}
		rig_advance(&rig, cal_sim_time(rig.sim) + 0.03);
	}
	CalSimView view;
	assert_int_equal(cal_sim_observe_motion(rig.sim, 1, &view), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_sim_observe_motion(rig.sim, 0, NULL), CAL_ERR_ARGUMENT);
	rig_free(&rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_is_evaluated_once),
		cmocka_unit_test(what_has_changed_is_evaluated_anew),
		cmocka_unit_test(energies_are_of_the_present_state),
		cmocka_unit_test(motion_is_observed_without_forces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
