// SPDX-License-Identifier: Apache-2.0
/*
 * test_devices.c — the interface of devices, groups that act on each other, given motions, sampling, events, balance.
 *
 * The devices here are written against calder/device.h alone, as a user would.
 */
#include "../device/rig.h"

#include "support/interpose.h"

/* ---- a spring of the user's own --------------------------------------------------------------- */

typedef struct Pull {
	CalNodeId node_a, node_b;
	CalNodeRef a, b;
	double stiffness;
	int too_many;
} Pull;

static int pull_bind(const CalDevice *device, const CalEvalContext *context) {
	Pull *p = device->data;
	return cal_context_find_node(context, p->node_a, &p->a) && cal_context_find_node(context, p->node_b, &p->b) ? 0 : 1;
}

static int pull_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Pull *p = device->data;
	CalPose a, b;
	(void)xdot;
	cal_context_node_motion(context, p->a, &a, NULL);
	cal_context_node_motion(context, p->b, &b, NULL);
	const CalVec3 d = {b.r.x - a.r.x, b.r.y - a.r.y, b.r.z - a.r.z};
	const double k = p->stiffness;
	for (int i = 0; i <= p->too_many; i++)
		cal_context_apply_wrench_pair(context, p->a, p->b, b.r, (CalSpatial){.linear = {-k * d.x, -k * d.y, -k * d.z}});
	cal_context_add_stored_energy(context, 0.5 * k * (d.x * d.x + d.y * d.y + d.z * d.z));
	return 0;
}

static const CalDeviceOps pull_ops = {.type = "pull", .bind = pull_bind, .evaluate = pull_evaluate};

static CalDeviceDef pull_def(const Pull *pull) {
	return (CalDeviceDef){
		.name = "pull", .ops = &pull_ops, .data = pull, .data_size = sizeof *pull, .wrench_count = 2, .accounts = 1};
}

/* Two free bodies of 1 and 3 kg in two groups with a spring of zero length between them. */
static Rig two_flyers(CalMethod method, double step) {
	Rig rig = rig_new();
	CalGroupId other = rig_group(&rig, "other");
	CalBodyId a = rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "a", cal_joint_def(CAL_JOINT_FREE), 1, unit_moments);
	CalBodyId b = rig_body(&rig, other, (CalBodyId){0}, "b", cal_joint_def(CAL_JOINT_FREE), 3, unit_moments);
	const Pull pull = {.node_a = rig_frame(&rig, a), .node_b = rig_frame(&rig, b), .stiffness = 3};
	rig_sim(&rig, method, step);
	const CalDeviceDef def = pull_def(&pull);
	rig_ok(cal_sim_add_device(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 1)->q[0] = 1;
	return rig;
}

/* Reduced mass 3/4: w = 2; the center of mass stays at 3/4. */
static void groups_pull_at_each_other(void **state) {
	(void)state;
	Rig rig = two_flyers(CAL_METHOD_DOPRI5, 0);
	rig_advance(&rig, 1.7);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 0.75 * (1 - cos(2 * 1.7)), 1e-8);
	check_near(cal_sim_state(rig.sim, 1)->q[0], 0.75 + 0.25 * cos(2 * 1.7), 1e-8);
	const CalSimBalance balance = rig_balance(&rig);
	assert_true(balance.complete);
	check_near(balance.error, 0, 1e-8);
	check_near(balance.linear.x, 0, 1e-13);
	assert_true(balance.stored > 0);
	rig_free(&rig);
}

/* One group after the other would be of order one at most. */
static void all_groups_are_at_the_same_stage(void **state) {
	(void)state;
	double error[2];
	for (int i = 0; i < 2; i++) {
		Rig rig = two_flyers(CAL_METHOD_RK4, 0.02 / (1 << i));
		rig_advance(&rig, 2);
		error[i] = fabs(cal_sim_state(rig.sim, 0)->q[0] - 0.75 * (1 - cos(4.0)));
		rig_free(&rig);
	}
	check_near(log2(error[0] / error[1]), 4, 0.1);
}

static void observers_see_what_devices_do(void **state) {
	(void)state;
	Rig rig = two_flyers(CAL_METHOD_RK4, 0.01);
	CalSimView view;
	assert_int_equal(cal_sim_observe(rig.sim, 1, &view), CAL_OK);
	check_near(view.udot[0], -1, 1e-14);
	assert_int_equal(view.input.wrench_count, 1);
	CalSimMonitor monitor;
	rig_advance(&rig, 0.1);
	assert_int_equal(cal_sim_monitor(rig.sim, 0, &monitor), CAL_OK);
	assert_false(monitor.energy_conserved);
	assert_false(monitor.momentum_conserved);
	rig_free(&rig);
}

static void wrong_devices_are_refused_with_their_name(void **state) {
	(void)state;
	Rig rig = two_flyers(CAL_METHOD_RK4, 0.01);
	CalError error = {0};
	Pull pull = {.node_a = {999}, .stiffness = 1};
	CalDeviceDef def = pull_def(&pull);
	assert_int_equal(cal_sim_add_device(rig.sim, &def, NULL, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "two devices \"pull\""));
	def.name = "lost";
	assert_int_equal(cal_sim_add_device(rig.sim, &def, NULL, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "\"lost\" (pull): a node, joint or group"));
	pull.node_a.value = 0;
	def.sample_period = 1;
	assert_int_equal(cal_sim_add_device(rig.sim, &def, NULL, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "no function sample()"));
	assert_int_equal(cal_sim_device_count(rig.sim), 1);

	pull.too_many = 1;
	pull.node_b = rig_frame(&rig, cal_desc_find_body(rig.desc, "a"));
	pull.node_a = rig_frame(&rig, cal_desc_find_body(rig.desc, "b"));
	def = pull_def(&pull);
	def.name = "greedy";
	rig_ok(cal_sim_add_device(rig.sim, &def, NULL, &rig_error));
	assert_int_equal(cal_sim_advance(rig.sim, 1, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "device \"greedy\" (pull), t = 0 s"));
	assert_non_null(strstr(error.text, "wrench_count"));
	rig_free(&rig);
}

/* ---- inputs and devices together ---------------------------------------------------------------- */

static int three_wrenches(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	static const CalWrench wrenches[3] = {
		{.f = {.linear = {1, 0, 0}}}, {.f = {.linear = {2, 0, 0}}}, {.f = {.linear = {3, 0, 0}}}};
	(void)user;
	(void)model;
	(void)state;
	input->wrenches = wrenches;
	input->wrench_count = 3;
	return 0;
}

static void inputs_add_up_with_devices(void **state) {
	(void)state;
	Rig rig = two_flyers(CAL_METHOD_RK4, 0.01);
	CalSimView view;
	assert_int_equal(cal_sim_set_input(rig.sim, 0, three_wrenches, NULL, NULL), CAL_OK);
	assert_int_equal(cal_sim_observe(rig.sim, 0, &view), CAL_OK);
	check_near(view.udot[0], 6 + 3, 1e-13);
	rig_advance(&rig, 0.1);
	assert_true(rig_balance(&rig).complete && rig_balance(&rig).supplied > 0);
	check_near(rig_balance(&rig).error, 0, 1e-9);
	rig_free(&rig);

	rig = two_flyers(CAL_METHOD_RK4, 0.01);
	cal_sim_destroy(rig.sim);
	CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 0.01}, .input_wrenches = 2};
	rig_ok(cal_sim_create(rig.desc, &options, &rig.sim, &rig_error));
	const Pull pull = {.node_a = rig_frame(&rig, cal_desc_find_body(rig.desc, "a")), .stiffness = 1};
	const CalDeviceDef def = pull_def(&pull);
	rig_ok(cal_sim_add_device(rig.sim, &def, NULL, &rig_error));
	assert_int_equal(cal_sim_set_input(rig.sim, 0, three_wrenches, NULL, NULL), CAL_OK);
	CalError error = {0};
	assert_int_equal(cal_sim_advance(rig.sim, 1, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "input_wrenches"));
	rig_free(&rig);
}

/* ---- given motions ------------------------------------------------------------------------------ */

static int swing(void *user, const CalModel *model, double t, double *q, double *u, double *udot) {
	(void)user;
	memset(q, 0, (size_t)cal_model_q_count(model) * sizeof *q);
	memset(u, 0, (size_t)cal_model_u_count(model) * sizeof *u);
	memset(udot, 0, (size_t)cal_model_u_count(model) * sizeof *udot);
	q[0] = sin(t);
	q[3] = 1;
	u[0] = cos(t);
	udot[0] = -sin(t);
	return 0;
}

/* 3 x'' = 3 (sin t - x) from x = 1 at rest: resonance, x = cos t + (sin t - t cos t)/2. */
static void a_group_can_move_as_a_function_of_time(void **state) {
	(void)state;
	Rig rig = two_flyers(CAL_METHOD_DOPRI5, 0);
	assert_int_equal(cal_sim_set_motion(rig.sim, 0, swing, NULL), CAL_OK);
	rig_advance(&rig, 3);
	assert_true(cal_sim_state(rig.sim, 0)->q[0] == sin(3));
	check_near(cal_sim_state(rig.sim, 1)->q[0], cos(3) + 0.5 * (sin(3) - 3 * cos(3)), 1e-8);
	CalSimView view;
	assert_int_equal(cal_sim_observe(rig.sim, 0, &view), CAL_OK);
	check_near(view.udot[0], -sin(3), 1e-15);
	const double pull = 3 * (cal_sim_state(rig.sim, 1)->q[0] - sin(3));
	check_near(view.force[0], -sin(3) - pull, 1e-12); // 1 kg
	// what drives the group takes the work of the spring on it: 1.5 (x'^2 + (x - sin t)^2) is 1.5 at the start
	const double speed = -0.5 * sin(3) * (2 - 3);
	const CalSimBalance balance = rig_balance(&rig);
	assert_true(balance.complete);
	check_near(balance.supplied, 1.5 * speed * speed + pull * pull / 6 - 1.5, 1e-7);
	check_near(balance.error, 0, 1e-7);
	rig_free(&rig);
}

/* A motion that is given within a run, from where the group is not, and released again. */
static void a_motion_that_comes_and_goes_is_in_the_balance(void **state) {
	(void)state;
	Rig rig = two_flyers(CAL_METHOD_DOPRI5, 0);
	rig_advance(&rig, 1);
	assert_int_equal(cal_sim_set_motion(rig.sim, 0, swing, NULL), CAL_OK);
	assert_true(cal_sim_state(rig.sim, 0)->q[0] == sin(1));
	check_near(rig_balance(&rig).error, 0, 1e-7);
	rig_advance(&rig, 2);
	check_near(rig_balance(&rig).error, 0, 1e-7);
	assert_int_equal(cal_sim_set_motion(rig.sim, 0, NULL, NULL), CAL_OK);
	check_near(rig_balance(&rig).error, 0, 1e-7);
	rig_advance(&rig, 3);
	const CalSimBalance balance = rig_balance(&rig);
	assert_true(balance.complete);
	check_near(balance.error, 0, 1e-7);
	rig_free(&rig);
}

/* ---- sampling ------------------------------------------------------------------------------------ */

typedef struct Sampler {
	CalJointId joint;
	CalDofRef at;
	int pushes; // at samples, where that is not allowed
} Sampler;

static int sampler_bind(const CalDevice *device, const CalEvalContext *context) {
	Sampler *s = device->data;
	return !cal_context_find_dof(context, s->joint, 0, &s->at);
}

static int sampler_start(const CalDevice *device, CalEvalContext *context, double *x) {
	(void)context;
	x[0] = 5;
	device->d[0] = -1;
	return 0;
}

static int sampler_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Sampler *s = device->data;
	cal_context_apply_effort(context, s->at, device->d[0]);
	xdot[0] = device->d[0];
	return 0;
}

/* The effort is minus the speed at the last sample. */
static int sampler_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	const Sampler *s = device->data;
	(void)x;
	device->d[0] = -cal_context_u(context, s->at);
	if (s->pushes)
		cal_context_apply_effort(context, s->at, 1);
	return 0;
}

static int sampler_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	(void)context;
	output[0] = device->d[0];
	return 0;
}

static const CalDeviceOps sampler_ops = {.type = "sampler",
                                         .bind = sampler_bind,
                                         .start = sampler_start,
                                         .evaluate = sampler_evaluate,
                                         .sample = sampler_sample,
                                         .outputs = sampler_outputs,
                                         .output_count = 1};

static Rig sampled(CalMethod method, int pushes, int *device) {
	Rig rig = rig_new();
	rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "m", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 1, unit_moments);
	const Sampler sampler = {.joint = rig_joint_of(&rig, "m"), .pushes = pushes};
	rig_sim(&rig, method, 0.03);
	const CalDeviceDef def = {.name = "sampler",
	                          .ops = &sampler_ops,
	                          .data = &sampler,
	                          .data_size = sizeof sampler,
	                          .nx = 1,
	                          .nd = 1,
	                          .sample_period = 0.1};
	rig_ok(cal_sim_add_device(rig.sim, &def, device, &rig_error));
	cal_sim_state(rig.sim, 0)->u[0] = 2;
	return rig;
}

/* The mass is 1: v is multiplied by 1 - T at every sample, and the effort between them is constant. */
static void devices_sample_at_their_own_rate(void **state) {
	(void)state;
	const CalMethod methods[] = {CAL_METHOD_EULER_CROMER, CAL_METHOD_RK4, CAL_METHOD_DOPRI5};
	for (int m = 0; m < 3; m++) {
		int device;
		Rig rig = sampled(methods[m], 0, &device);
		rig_advance(&rig, 0.95);
		CalDeviceInfo info;
		double output, v = 2;
		assert_int_equal(cal_sim_device(rig.sim, device, &info), CAL_OK);
		assert_int_equal(cal_sim_device_outputs(rig.sim, device, &output), CAL_OK);
		for (int i = 0; i < 9; i++)
			v *= 0.9;
		check_near(output, -v, 1e-13);
		check_near(info.x[0], 5 + (v * (1 - 0.05) - 2), 1e-13); // its rate is the effort
		check_near(cal_sim_state(rig.sim, 0)->u[0], v * (1 - 0.05), 1e-13);
		assert_false(rig_balance(&rig).complete); // this device reports nothing
		rig_free(&rig);
	}
}

/* Switched off from 0.35 to 0.65: the speed stays; then the effort of the sample at 0.3 is held until 0.7. */
static void devices_can_be_switched_off(void **state) {
	(void)state;
	int device;
	Rig rig = sampled(CAL_METHOD_RK4, 0, &device);
	rig_advance(&rig, 0.35);
	const double v = 2 * 0.9 * 0.9 * 0.9;
	assert_int_equal(cal_sim_switch_device(rig.sim, device, 0), CAL_OK);
	rig_advance(&rig, 0.65);
	check_near(cal_sim_state(rig.sim, 0)->u[0], v * (1 - 0.05), 1e-13);
	CalDeviceInfo info;
	assert_int_equal(cal_sim_device(rig.sim, device, &info), CAL_OK);
	assert_false(info.active);
	assert_int_equal(cal_sim_switch_device(rig.sim, device, 1), CAL_OK);
	rig_advance(&rig, 0.7);
	check_near(cal_sim_state(rig.sim, 0)->u[0], v * (1 - 0.1), 1e-13);
	assert_int_equal(cal_sim_switch_device(rig.sim, device + 1, 1), CAL_ERR_ARGUMENT);
	rig_free(&rig);
}

static void pushing_at_a_sample_is_an_error(void **state) {
	(void)state;
	CalError error = {0};
	Rig rig = sampled(CAL_METHOD_RK4, 1, NULL);
	assert_int_equal(cal_sim_advance(rig.sim, 1, &error), CAL_ERR_STAGE);
	assert_non_null(strstr(error.text, "device \"sampler\""));
	assert_non_null(strstr(error.text, "only in evaluate()"));
	rig_free(&rig);
}

/* ---- events -------------------------------------------------------------------------------------- */

typedef struct Watch {
	double height;
	double times[16];
	int count, order[16], *clock;
	int id;
} Watch;

static int above(void *user, CalEvalContext *context, double *value) {
	const Watch *w = user;
	*value = cal_context_state(context, 0)->q[0] - w->height;
	return 0;
}

static CalStatus noted(void *user, CalSim *sim, CalError *error) {
	Watch *w = user;
	(void)error;
	w->order[w->count] = w->clock ? (*w->clock)++ : 0;
	w->times[w->count++] = cal_sim_time(sim);
	return CAL_OK;
}

/* q = sin t: crosses 0.5 upwards at asin 0.5 and downwards at pi - asin 0.5. */
static Rig sine(CalMethod method, double step) {
	Rig rig = rig_new();
	CalJointDef joint = rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0);
	joint.dof[0].stiffness = 2;
	rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "m", joint, 2, unit_moments);
	rig_sim(&rig, method, step);
	cal_sim_state(rig.sim, 0)->u[0] = 1;
	return rig;
}

static void crossings_are_located(void **state) {
	(void)state;
	const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_DOPRI5, CAL_METHOD_IMPLICIT_MIDPOINT};
	const double steps[] = {0.01, 0, 0.01}, tolerance[] = {1e-9, 1e-9, 1e-4}; // of the methods: 1e-10, 1e-10, 2e-5
	const double pi = acos(-1), first = asin(0.5);
	for (int m = 0; m < 3; m++) {
		for (int direction = -1; direction <= 1; direction++) {
			Rig rig = sine(methods[m], steps[m]);
			Watch watch = {.height = 0.5};
			const CalEventDef def = {
				.name = "half", .value = above, .direction = direction, .action = noted, .user = &watch};
			rig_ok(cal_sim_add_event(rig.sim, &def, NULL, &rig_error));
			rig_advance(&rig, 10);
			const double want[] = {first, pi - first, 2 * pi + first, 3 * pi - first};
			int k = 0;
			for (int i = 0; i < 4; i++)
				if (direction == 0 || direction == (i % 2 ? -1 : 1))
					check_near(watch.times[k++], want[i], tolerance[m]);
			assert_int_equal(watch.count, k);
			check_near(cal_sim_state(rig.sim, 0)->q[0], sin(10), tolerance[m]);
			assert_true(cal_sim_time(rig.sim) == 10);
			rig_free(&rig);
		}
	}
}

static CalStatus turn_back(void *user, CalSim *sim, CalError *error) {
	CalState *state = cal_sim_state(sim, 0);
	(void)error;
	state->u[0] = -state->u[0];
	return noted(user, sim, error);
}

/* A wall at 0.5: the mass goes back and forth between it and -1, each time in the same while. */
static void an_action_may_change_the_state(void **state) {
	(void)state;
	const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_DOPRI5};
	const double pi = acos(-1);
	for (int m = 0; m < 2; m++) {
		Rig rig = sine(methods[m], 0.01);
		Watch watch = {.height = 0.5};
		const CalEventDef def = {.name = "wall", .value = above, .direction = 1, .action = turn_back, .user = &watch};
		rig_ok(cal_sim_add_event(rig.sim, &def, NULL, &rig_error));
		rig_advance(&rig, 15);
		const double first = asin(0.5), period = pi + 2 * first;
		assert_int_equal(watch.count, 1 + (int)((15 - first) / period));
		for (int i = 0; i < watch.count; i++)
			check_near(watch.times[i], first + i * period, 1e-8);
		rig_free(&rig);
	}
}

static CalStatus fail_action(void *user, CalSim *sim, CalError *error) {
	(void)user;
	(void)sim;
	(void)error;
	return CAL_ERR_USER;
}

static void events_of_one_instant_happen_in_order(void **state) {
	(void)state;
	Rig rig = sine(CAL_METHOD_RK4, 0.1);
	int clock = 0;
	Watch watch[4];
	for (int i = 0; i < 4; i++) {
		watch[i] = (Watch){.height = 0.5, .clock = &clock};
		const CalEventDef at = {.name = "at", .time = i < 2 ? 0.55 : 0, .action = noted, .user = &watch[i]};
		const CalEventDef cross = {.name = "cross", .value = above, .once = 1, .action = noted, .user = &watch[i]};
		rig_ok(cal_sim_add_event(rig.sim, i < 3 ? &at : &cross, NULL, &rig_error));
	}
	rig_advance(&rig, 7);
	assert_int_equal(watch[2].order[0], 0); // at the very start
	assert_int_equal(watch[3].order[0], 1);
	assert_int_equal(watch[0].order[0], 2);
	assert_int_equal(watch[1].order[0], 3);
	assert_true(watch[0].times[0] == 0.55 && watch[2].times[0] == 0);
	for (int i = 0; i < 4; i++) {
		double last;
		assert_int_equal(watch[i].count, 1);
		assert_int_equal(cal_sim_event_happened(rig.sim, i, &last), 1);
		assert_true(last == watch[i].times[0]);
	}
	const CalEventDef fails = {.name = "fails", .time = 7.5, .action = fail_action};
	CalError error = {0};
	rig_ok(cal_sim_add_event(rig.sim, &fails, NULL, &rig_error));
	assert_int_equal(cal_sim_advance(rig.sim, 8, &error), CAL_ERR_USER);
	assert_non_null(strstr(error.text, "event \"fails\", t = 7.5 s"));
	rig_free(&rig);
}

/* ---- balance and memory -------------------------------------------------------------------------- */

/* Dampers of joints and efforts of inputs are in the accounts. */
static int push(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	double *tau = user;
	(void)model;
	tau[0] = 3 * cos(state->t);
	input->tau = tau;
	return 0;
}

static void the_balance_counts_dampers_and_efforts(void **state) {
	(void)state;
	Rig rig = rig_new();
	CalJointDef joint = rig_joint(CAL_JOINT_REVOLUTE, 1, 0, 0);
	double tau[1];
	joint.dof[0].damping = 0.3;
	joint.dof[0].stiffness = 2;
	rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "m", joint, 1, unit_moments);
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	cal_sim_set_input(rig.sim, 0, push, NULL, tau);
	rig_advance(&rig, 5);
	const CalSimBalance balance = rig_balance(&rig);
	assert_true(balance.complete);
	assert_true(balance.dissipated > 0.5 && balance.supplied > 0.5);
	check_near(balance.error, 0, 1e-9);
	rig_free(&rig);
}

static void nothing_allocates_in_a_run_with_devices_and_events(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_DOPRI5};
	for (int m = 0; m < 2; m++) {
		Rig rig = two_flyers(methods[m], 0.01);
		Watch watch = {.height = 0.3};
		const CalEventDef def = {.name = "up", .value = above, .action = noted, .user = &watch};
		rig_ok(cal_sim_add_event(rig.sim, &def, NULL, &rig_error));
		CalSimView view;
		CalSimBalance balance;
		interpose_begin(0);
		CalStatus status = cal_sim_advance(rig.sim, 2, NULL);
		status = status ? status : cal_sim_observe(rig.sim, 0, &view);
		status = status ? status : cal_sim_balance(rig.sim, &balance);
		status = status ? status : cal_sim_set_motion(rig.sim, 0, swing, NULL);
		status = status ? status : cal_sim_advance(rig.sim, 2.5, NULL);
		const Interpose seen = interpose_end();
		assert_int_equal(status, CAL_OK);
		assert_int_equal(seen.calls, 0);
		assert_true(watch.count > 0);
		rig_free(&rig);
	}
}

static void every_failed_allocation_of_a_device_leaves_the_simulation_whole(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	CalStatus status = CAL_ERR_MEMORY;
	int failures = 0;
	for (long k = 1; status != CAL_OK && k < 20; k++) {
		Rig rig = two_flyers(CAL_METHOD_RK4, 0.01);
		const CalBodyId a = cal_desc_find_body(rig.desc, "a");
		const CalSpringDef spring = {.name = "second", .a = rig_frame(&rig, a), .stiffness = 1};
		CalError error = {0};
		interpose_begin(k);
		status = cal_sim_add_spring(rig.sim, &spring, NULL, &error);
		interpose_end();
		failures += status == CAL_ERR_MEMORY;
		assert_true(status == CAL_OK || status == CAL_ERR_MEMORY);
		assert_int_equal(cal_sim_device_count(rig.sim), status == CAL_OK ? 2 : 1);
		rig_advance(&rig, 0.1);
		rig_free(&rig);
	}
	assert_int_equal(status, CAL_OK);
	assert_true(failures >= 2);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_pull_at_each_other),
		cmocka_unit_test(all_groups_are_at_the_same_stage),
		cmocka_unit_test(observers_see_what_devices_do),
		cmocka_unit_test(wrong_devices_are_refused_with_their_name),
		cmocka_unit_test(inputs_add_up_with_devices),
		cmocka_unit_test(a_group_can_move_as_a_function_of_time),
		cmocka_unit_test(a_motion_that_comes_and_goes_is_in_the_balance),
		cmocka_unit_test(devices_sample_at_their_own_rate),
		cmocka_unit_test(devices_can_be_switched_off),
		cmocka_unit_test(pushing_at_a_sample_is_an_error),
		cmocka_unit_test(crossings_are_located),
		cmocka_unit_test(an_action_may_change_the_state),
		cmocka_unit_test(events_of_one_instant_happen_in_order),
		cmocka_unit_test(the_balance_counts_dampers_and_efforts),
		cmocka_unit_test(nothing_allocates_in_a_run_with_devices_and_events),
		cmocka_unit_test(every_failed_allocation_of_a_device_leaves_the_simulation_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
