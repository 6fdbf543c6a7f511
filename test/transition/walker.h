// SPDX-License-Identifier: Apache-2.0
/*
 * walker.h — a scenario for tests of checkpoints: an arm with a flexible link and a loop that walks, docks, locks and lets
 * go, beside a craft with a wheel, a sled that moves as given, and a body that comes and goes; devices with states of both
 * kinds, events by time and by value. And comparing two simulations bit by bit.
 */
#ifndef TEST_TRANSITION_WALKER_H
#define TEST_TRANSITION_WALKER_H

#include "device/rig.h"

#include "base/memory.h"
#include "checkpoint/checkpoint.h"
#include "support/check.h"
#include "support/rng.h"
#include "transition/checkpoint_bytes.h"

/* ---- the scenario ---------------------------------------------------------------------------------------------- */

static const double END = 0.45;

/* A device with a state of each kind and a value that is watched: counts how often an angle passes a level. */
typedef struct Counter {
	CalJointId joint;
	CalDofRef at;
} Counter;

static inline int counter_bind(const CalDevice *device, const CalEvalContext *context) {
	Counter *c = device->data;
	return cal_context_find_dof(context, c->joint, 0, &c->at) ? 0 : 1;
}

static inline int counter_start(const CalDevice *device, CalEvalContext *context, double *x) {
	(void)context;
	x[0] = 0.25;
	device->d[0] = 3;
	return 0;
}

static inline int counter_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Counter *c = device->data;
	xdot[0] = cal_context_u(context, c->at) - 0.1 * device->x[0];
	return cal_context_apply_effort(context, c->at, -0.05 * device->x[0] - 0.01 * device->d[0] - 0.02 * device->d[1]);
}

static inline int counter_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	const Counter *c = device->data;
	device->d[1] = 0.9 * device->d[1] + cal_context_u(context, c->at);
	x[0] *= 0.99;
	return 0;
}

static inline int counter_values(const CalDevice *device, CalEvalContext *context, double *value) {
	(void)context;
	value[0] = sin(60 * (device->x[0] - 0.2));
	return 0;
}

static inline int counter_event(const CalDevice *device, CalEvalContext *context, int event, int rising, double *x) {
	(void)context, (void)event, (void)x;
	device->d[0] += rising ? 1 : -0.5;
	return 0;
}

static const CalDeviceOps counter_ops = {.type = "counter",
                                         .bind = counter_bind,
                                         .start = counter_start,
                                         .evaluate = counter_evaluate,
                                         .sample = counter_sample,
                                         .values = counter_values,
                                         .event = counter_event};

typedef enum Kind {
	GRIP,
	STAND,
	REROOT,
	RELEASE,
	LET_GO,
	LOCK,
	UNLOCK,
	DOCK,
	UNDOCK,
	ADD,
	CATCH,
	DROP,
	REMOVE,
	OPEN,
	CLOSE,
	OFF,
	ON
} Kind;

typedef struct Happening {
	const char *name;
	double time;
	Kind kind;
} Happening;

static const Happening happenings[] = {
	{"grip", 0.031, GRIP},       {"turn over", 0.047, REROOT}, {"release", 0.06, RELEASE}, {"off", 0.07, OFF},
	{"lock", 0.09, LOCK},        {"add", 0.11, ADD},           {"dock", 0.135, DOCK},      {"catch", 0.16, CATCH},
	{"unlock", 0.18, UNLOCK},    {"open", 0.2, OPEN},          {"on", 0.21, ON},           {"undock", 0.25, UNDOCK},
	{"drop", 0.28, DROP},        {"close", 0.31, CLOSE},       {"remove", 0.33, REMOVE},   {"stand", 0.35, STAND},
	{"turn back", 0.37, REROOT}, {"let go", 0.39, LET_GO},     {"lock again", 0.41, LOCK},
};
enum { HAPPENINGS = sizeof happenings / sizeof happenings[0] };

/* One simulation with all that its functions need; ids are asked for by name, as nothing here survives a restart. */
typedef struct Run {
	Rig rig;
	struct Action {
		struct Run *run;
		Kind kind;
	} action[HAPPENINGS];
	int crossings;
} Run;

static inline CalNodeId node_called(const Run *run, const char *body, const char *name) {
	const CalDesc *desc = run->rig.sim->topology->desc;
	for (int i = 0; i < desc->node_count; i++) {
		const uint32_t on = desc->nodes[i].body.value;
		if (on && strcmp(desc->bodies[on - 1].def.name, body) == 0 && strcmp(desc->nodes[i].def.name, name) == 0)
			return (CalNodeId){(uint32_t)i + 1};
	}
	fail_msg("no node %s/%s", body, name);
	return (CalNodeId){0};
}

static inline CalJointId joint_called(const Run *run, const char *name) {
	const Topology *t = run->rig.sim->topology;
	for (int i = 0; i < t->desc->joint_count; i++) {
		if (strcmp(t->joints[i].def.name, name) == 0)
			return (CalJointId){(uint32_t)i + 1};
	}
	return (CalJointId){0};
}

static inline CalBodyId body_called(const Run *run, const char *name) {
	const CalDesc *desc = run->rig.sim->topology->desc;
	for (int i = 0; i < desc->body_count; i++) {
		if (strcmp(desc->bodies[i].def.name, name) == 0)
			return (CalBodyId){(uint32_t)i + 1};
	}
	return (CalBodyId){0};
}

static inline CalStatus tie(const Run *run, CalNodeId a, CalJointType type, const char *name, CalNodeId b,
                            CalError *error) {
	const CalAttachOptions options = {.fit = CAL_FIT_AT_B};
	CalJointDef def = cal_joint_def(type);
	def.name = name;
	const CalJointId open = joint_called(run, name);
	return open.value ? cal_sim_reattach(run->rig.sim, open, &options, NULL, error)
	                  : cal_sim_attach(run->rig.sim, a, &def, b, &options, NULL, NULL, error);
}

static inline CalStatus add_probe(const Run *run, CalError *error) {
	CalNodeDef port = cal_node_def();
	port.name = "port";
	port.placement.position = (CalVec3){0.1, 0.2, 0.3};
	CalNewBody probe = {.group = "probe",
	                    .placement = {{1, 2, 1}, {0.9, 0.1, 0.2, 0.3}},
	                    .velocity = {{0.4, -0.3, 0.2}, {0.3, 0.2, 0.1}},
	                    .nodes = &port,
	                    .node_count = 1};
	probe.body.name = "probe";
	probe.body.mass = 0.7;
	probe.body.inertia = (CalMat3){{{0.1, 0, 0}, {0, 0.12, 0}, {0, 0, 0.09}}};
	return cal_sim_add_body(run->rig.sim, &probe, NULL, NULL, NULL, error);
}

static inline CalVec3 place_of(CalSim *sim, CalNodeId node) {
	CalPose pose = {0};
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		CalSimView view;
		const int index = cal_model_node_index(cal_sim_model(sim, g), node);
		if (index < 0)
			continue;
		assert_int_equal(cal_sim_observe(sim, g, &view), CAL_OK);
		assert_int_equal(cal_node_pose(view.model, view.work, index, &pose), CAL_OK);
	}
	return pose.r;
}

static inline CalStatus happen(void *user, CalSim *sim, CalError *error) {
	const struct Action *action = user;
	const Run *run = action->run;
	const CalNodeId ground = {0};
	switch (action->kind) {
	case GRIP:
		return tie(run, ground, CAL_JOINT_REVOLUTE, "grip", node_called(run, "tool", "hand"), error);
	case STAND:
		return tie(run, ground, CAL_JOINT_REVOLUTE, "lower_joint", ground, error);
	case REROOT: {
		int reversed = 0;
		CalJointState at;
		cal_sim_joint_state(sim, joint_called(run, "boom_joint"), &at, &reversed);
		return cal_sim_reroot(sim, body_called(run, reversed ? "lower" : "tool"), NULL, error);
	}
	case RELEASE:
		return cal_sim_detach(sim, joint_called(run, "lower_joint"), NULL, NULL, error);
	case LET_GO:
		return cal_sim_detach(sim, joint_called(run, "grip"), NULL, NULL, error);
	case LOCK:
		return cal_sim_lock(sim, joint_called(run, "boom_joint"), -1, NULL, error);
	case UNLOCK:
		return cal_sim_unlock(sim, joint_called(run, "boom_joint"), -1, NULL, error);
	case DOCK:
		return tie(run, node_called(run, "boom", "n4"), CAL_JOINT_SPHERICAL, "latch", node_called(run, "craft", "port"),
		           error);
	case UNDOCK:
		return cal_sim_detach(sim, joint_called(run, "latch"), "craft", NULL, error);
	case ADD:
		return add_probe(run, error);
	case CATCH:
		return tie(run, node_called(run, "craft", "port"), CAL_JOINT_REVOLUTE, "claw",
		           node_called(run, "probe", "port"), error);
	case DROP:
		return cal_sim_detach(sim, joint_called(run, "claw"), "probe", NULL, error);
	case REMOVE:
		return cal_sim_remove_body(sim, body_called(run, "probe"), NULL, error);
	case OPEN:
		return cal_sim_open_loop(sim, (CalLoopId){1}, NULL, error);
	case CLOSE: {
		CalLoopDef def = cal_loop_def(CAL_LOOP_DISTANCE);
		const CalNodeId a = node_called(run, "lower", "horn"), b = node_called(run, "tool", "horn");
		const CalVec3 at = place_of(sim, a), to = place_of(sim, b);
		def.name = "brace again";
		def.length =
			sqrt((to.x - at.x) * (to.x - at.x) + (to.y - at.y) * (to.y - at.y) + (to.z - at.z) * (to.z - at.z));
		return cal_sim_close_loop(sim, a, &def, b, NULL, NULL, error);
	}
	case OFF:
	case ON:
		return cal_sim_switch_device(sim, cal_sim_find_device(sim, "counter"), action->kind == ON);
	}
	return CAL_OK;
}

/* ---- making it ------------------------------------------------------------------------------------------------- */

static inline int push(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	double *tau = user;
	(void)model;
	tau[0] = 0.3 * sin(20 * state->t) + (state->t < 0.123 ? 0.2 : -0.1);
	input->tau = tau;
	return 0;
}

static inline double push_switch(void *user, double t) {
	(void)user;
	return t < 0.123 ? 0.123 : INFINITY;
}

static inline int slide(void *user, const CalModel *model, double t, double *q, double *u, double *udot) {
	(void)user, (void)model;
	q[0] = 0.1 * sin(3 * t), u[0] = 0.3 * cos(3 * t), udot[0] = -0.9 * sin(3 * t);
	return 0;
}

static inline int level(void *user, CalEvalContext *context, double *value) {
	(void)user;
	CalDofRef wrist;
	if (!cal_context_find_dof_by_name(context, "tool_joint", 0, &wrist))
		return 1;
	*value = sin(30 * cal_context_q(context, wrist));
	return 0;
}

static inline CalStatus level_passed(void *user, CalSim *sim, CalError *error) {
	CalDeviceInfo info;
	(void)user, (void)error;
	const CalStatus status = cal_sim_device(sim, cal_sim_find_device(sim, "counter"), &info);
	if (status == CAL_OK)
		info.d[1] += 0.01;
	return status;
}

static inline void describe(Rig *rig) {
	CalBeamDef boom = cal_beam_def();
	CalBodyId link;
	const CalGroupId craft = rig_group(rig, "craft"), sled = rig_group(rig, "sled");
	const CalBodyId lower = rig_body(rig, (CalGroupId){0}, (CalBodyId){0}, "lower",
	                                 rig_joint(CAL_JOINT_REVOLUTE, 0, 0, 1), 2, (CalVec3){0.2, 0.3, 0.25});
	boom.name = "boom";
	boom.length = 1;
	boom.root = (CalSection){.shape = CAL_SECTION_TUBE,
	                         .height = 0.03,
	                         .thickness = 0.002,
	                         .youngs_modulus = 7e9,
	                         .poissons_ratio = 0.3,
	                         .density = 2700};
	rig_ok(cal_beam_add(rig->desc, &boom, &link, &rig_error));
	CalJointDef knee = rig_joint(CAL_JOINT_REVOLUTE, 0, 0, 1);
	knee.name = "boom_joint";
	rig_ok(cal_desc_attach(rig->desc, rig_node(rig, lower, "elbow", (CalVec3){0.6, 0, 0.1}), &knee,
	                       cal_desc_find_node(rig->desc, "boom/root"), NULL, &rig_error));
	CalBodyDef tool = cal_body_def();
	CalBodyId hand;
	tool.name = "tool", tool.mass = 0.8;
	tool.inertia = (CalMat3){{{0.05, 0, 0}, {0, 0.06, 0}, {0, 0, 0.04}}};
	rig_ok(cal_desc_add_body(rig->desc, &tool, &hand, &rig_error));
	CalJointDef wrist = rig_joint(CAL_JOINT_REVOLUTE, 0, 0, 1);
	wrist.name = "tool_joint";
	rig_ok(cal_desc_attach(rig->desc, cal_desc_find_node(rig->desc, "boom/tip"), &wrist, rig_frame(rig, hand), NULL,
	                       &rig_error));
	rig_node(rig, hand, "hand", (CalVec3){0.2, 0, 0});
	CalLoopDef brace = cal_loop_def(CAL_LOOP_DISTANCE);
	brace.name = "brace", brace.length = 1.4;
	rig_ok(cal_desc_close_loop(rig->desc, rig_node(rig, lower, "horn", (CalVec3){0, 0.4, 0}), &brace,
	                           rig_node(rig, hand, "horn", (CalVec3){0, 0.3, 0}), NULL, &rig_error));
	const CalBodyId flyer =
		rig_body(rig, craft, (CalBodyId){0}, "craft", cal_joint_def(CAL_JOINT_FREE), 3, (CalVec3){0.4, 0.5, 0.6});
	rig_node(rig, flyer, "port", (CalVec3){0.1, -0.2, 0.3});
	rig_body(rig, sled, (CalBodyId){0}, "sled", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 1, (CalVec3){1, 1, 1});
}

static inline void add_devices(Run *run) {
	Rig *rig = &run->rig;
	const double times[] = {0, 0.2, 0.4}, angles[] = {0.5, 0.9, 0.3};
	const Counter counter = {.joint = rig_joint_of(rig, "tool")};
	const CalDeviceDef def = {.name = "counter",
	                          .ops = &counter_ops,
	                          .data = &counter,
	                          .data_size = sizeof counter,
	                          .nx = 1,
	                          .nd = 2,
	                          .event_count = 1,
	                          .sample_period = 0.013};
	rig_ok(cal_sim_add_device(rig->sim, &def, NULL, &rig_error));
	const CalServoDef servo = {.name = "knee",
	                           .joint = rig_joint_of(rig, "boom"),
	                           .reference.table = TABLE(CAL_TABLE_SMOOTH, 3, times, angles),
	                           .proportional = 20,
	                           .integral = 5,
	                           .derivative = 1,
	                           .sample_period = 0.007};
	rig_ok(cal_sim_add_servo(rig->sim, &servo, NULL, &rig_error));
	const CalWheelDef wheel = {.name = "wheel",
	                           .node = cal_desc_find_node(rig->desc, "craft"),
	                           .inertia = 0.01,
	                           .speed = 30,
	                           .torque.table = TABLE(CAL_TABLE_LINEAR, 3, times, angles)};
	rig_ok(cal_sim_add_wheel(rig->sim, &wheel, NULL, &rig_error));
	const CalSpringDef spring = {.name = "tether",
	                             .a = cal_desc_find_node(rig->desc, "sled"),
	                             .b = cal_desc_find_node(rig->desc, "craft/port"),
	                             .stiffness = 15,
	                             .damping = 0.5};
	rig_ok(cal_sim_add_spring(rig->sim, &spring, NULL, &rig_error));
}

static double efforts[2][64]; // of the input; the functions themselves write them before they are read

static inline void add_events(Run *run) {
	for (int i = 0; i < HAPPENINGS; i++) {
		run->action[i] = (struct Action){run, happenings[i].kind};
		const CalEventDef def = {
			.name = happenings[i].name, .time = happenings[i].time, .action = happen, .user = &run->action[i]};
		rig_ok(cal_sim_add_event(run->rig.sim, &def, NULL, &rig_error));
	}
	const CalEventDef passed = {.name = "level", .value = level, .action = level_passed};
	const CalEventDef once = {.name = "once", .value = level, .direction = 1, .once = 1};
	rig_ok(cal_sim_add_event(run->rig.sim, &passed, NULL, &rig_error));
	rig_ok(cal_sim_add_event(run->rig.sim, &once, NULL, &rig_error));
}

static int walker_branches, walker_threads; // with branches, cut wherever that can be

static CalSimCapacity room = {.groups = 2, .bodies = 1, .nodes = 1, .joints = 4, .loops = 1};

static inline void run_destroy(Run *run) {
	rig_free(&run->rig);
	free(run);
}

/* Made always in the same way; NULL: room.memory is too little to begin with. */
static inline Run *run_create(CalMethod method, int projection) {
	Run *run = test_alloc(1, sizeof *run);
	run->rig = rig_new();
	describe(&run->rig);
	const CalSimOptions options = {.method = {.method = method,
	                                          .step = method == CAL_METHOD_DOPRI5 ? 0 : 1e-3,
	                                          .rtol = 1e-7,
	                                          .atol = 1e-9,
	                                          .projection = projection},
	                               .branches = walker_branches,
	                               .threads = walker_threads,
	                               .branches_forced = walker_branches > 1,
	                               .not_pinned = 1};
	rig_ok(cal_sim_create(run->rig.desc, &options, &run->rig.sim, &rig_error));
	CalSim *sim = run->rig.sim;
	CalError error = {0};
	if (cal_sim_reserve(sim, run->rig.desc, &room, &error) != CAL_OK && room.memory) {
		run_destroy(run);
		return NULL;
	}
	assert_int_equal(cal_sim_set_input(sim, 0, push, push_switch, efforts[0]), CAL_OK);
	assert_int_equal(cal_sim_set_motion(sim, 2, slide, NULL), CAL_OK);
	add_devices(run);
	add_events(run);
	CalState *arm = cal_sim_state(sim, 0), *craft = cal_sim_state(sim, 1);
	arm->q[0] = 0.3, arm->q[1] = 0.5;
	arm->u[0] = 0.4, arm->u[1] = -0.3;
	craft->q[0] = 0.5, craft->q[1] = 1.5, craft->u[0] = 0.3, craft->u[4] = 0.5;
	return run;
}

/* ---- comparing ----------------------------------------------------------------------------------------------------- */

static inline void restore(CalSim *sim, Bytes bytes) {
	rig_ok(cal_checkpoint_restore(sim, bytes.at, bytes.size, &rig_error));
}

static inline void check_bits(const char *what, const void *a, const void *b, size_t size) {
	if (size > 0 && memcmp(a, b, size) != 0)
		fail_msg("%s differ", what);
}

static inline void check_same_groups(CalSim *a, CalSim *b) {
	assert_int_equal(cal_sim_group_count(a), cal_sim_group_count(b));
	for (int g = 0; g < cal_sim_group_count(a); g++) {
		const CalModel *model = cal_sim_model(a, g);
		const size_t nq = (size_t)cal_model_q_count(model), nu = (size_t)cal_model_u_count(model);
		CalSimMonitor ma, mb;
		assert_string_equal(cal_model_name(model), cal_model_name(cal_sim_model(b, g)));
		assert_int_equal(nq, cal_model_q_count(cal_sim_model(b, g)));
		assert_int_equal(nu, cal_model_u_count(cal_sim_model(b, g)));
		check_bits("coordinates", cal_sim_state(a, g)->q, cal_sim_state(b, g)->q, nq * sizeof(double));
		check_bits("speeds", cal_sim_state(a, g)->u, cal_sim_state(b, g)->u, nu * sizeof(double));
		assert_int_equal(cal_sim_monitor(a, g, &ma), CAL_OK);
		assert_int_equal(cal_sim_monitor(b, g, &mb), CAL_OK);
		check_bits("monitors", &ma, &mb, sizeof ma);
	}
}

/* As far as a user can see, and in every byte of a checkpoint but the clocks. */
static inline void check_same(CalSim *a, CalSim *b) {
	CalSimBalance ba, bb;
	assert_true(cal_sim_time(a) == cal_sim_time(b));
	assert_int_equal(cal_sim_generation(a), cal_sim_generation(b));
	check_same_groups(a, b);
	for (int i = 0; i < cal_sim_device_count(a); i++) {
		CalDeviceInfo da, db;
		assert_int_equal(cal_sim_device(a, i, &da), CAL_OK);
		assert_int_equal(cal_sim_device(b, i, &db), CAL_OK);
		assert_int_equal(da.active, db.active);
		check_bits("continuous states", da.x, db.x, (size_t)da.nx * sizeof(double));
		check_bits("discrete states", da.d, db.d, (size_t)da.nd * sizeof(double));
	}
	for (int i = 0; i < cal_sim_event_count(a); i++) {
		double ta, tb;
		assert_int_equal(cal_sim_event_happened(a, i, &ta), cal_sim_event_happened(b, i, &tb));
		check_bits("times of events", &ta, &tb, sizeof ta);
	}
	assert_int_equal(cal_sim_balance(a, &ba), CAL_OK);
	assert_int_equal(cal_sim_balance(b, &bb), CAL_OK);
	check_bits("balances", &ba, &bb, sizeof ba);
	const CalSimStats sa = cal_sim_stats(a), sb = cal_sim_stats(b);
	assert_int_equal(sa.steps, sb.steps);
	assert_int_equal(sa.rejected, sb.rejected);
	assert_int_equal(sa.evaluations, sb.evaluations);
	a->wall_s = a->cpu_s = b->wall_s = b->cpu_s = 0;
	const Bytes ta = take(a), tb = take(b);
	assert_int_equal(ta.size, tb.size);
	check_bits("checkpoints", ta.at, tb.at, ta.size);
	free(ta.at);
	free(tb.at);
}

/* Two flyers and a sled; DOPRI5 would notice any reset. */
static inline Rig flyers(void) {
	Rig rig = rig_new();
	const CalGroupId other = rig_group(&rig, "other"), sled = rig_group(&rig, "sled");
	rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "a", cal_joint_def(CAL_JOINT_FREE), 1, (CalVec3){1, 2, 2.5});
	rig_body(&rig, other, (CalBodyId){0}, "b", cal_joint_def(CAL_JOINT_FREE), 3, (CalVec3){1, 1.2, 1.3});
	rig_body(&rig, sled, (CalBodyId){0}, "sled", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 1, (CalVec3){1, 1, 1});
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	assert_int_equal(cal_sim_set_motion(rig.sim, 2, slide, NULL), CAL_OK);
	for (int i = 0; i < 6; i++)
		cal_sim_state(rig.sim, 0)->u[i] = 0.3 * (i + 1);
	return rig;
}

#endif
