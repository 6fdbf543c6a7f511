// SPDX-License-Identifier: Apache-2.0
/*
 * test_subsystem.c — a chain with a part of it in a compiled subsystem moves as the whole chain does; boxes that are
 * wrong are named.
 */
#include <math.h>

#include <calder/calder.h>

#include "support/interpose.h"
#include "support/model_file_support.h"

#define PI 3.14159265358979323846

/* Four bodies, two of them flexible. Every joint turns about z of its frame. */
#define BODY_A "  a: {mass: 3, box: [1, 0.2, 0.1], nodes: {in: [-0.5, 0, 0], out: [0.5, 0, 0]}}\n"
#define BEAM(name)                                                                                     \
	"  " name ": {beam: {length: 1, elements: 2, modes: 2, damping_ratio: 0.02, second_order: true,\n" \
	"    section: {shape: tube, diameter: 20 mm, thickness: 1 mm, youngs_modulus: 2 GPa, density: 2700}}}\n"
#define BODY_D "  d: {mass: 1, box: [0.5, 0.2, 0.1], nodes: {in: [-0.25, 0, 0], end: [0.25, 0, 0.1]}}\n"
#define JOINT_A "  ja: {type: revolute, to: a/in, inboard: {orientation: {x: 90 deg}}}\n"
#define JOINT_B(dof) "  jb: {type: revolute, from: a/out, to: b/root, inboard: {orientation: {x: 40 deg}}" dof "}\n"
#define SPRUNG ", dof: {damping: 0.1, stiffness: 3}"
#define JOINT_C "  jc: {type: revolute, from: b/tip, to: c/root, inboard: {orientation: {y: 70 deg}}}\n"
#define JOINT_D(dof) "  jd: {type: revolute, from: c/tip, to: d/in, inboard: {orientation: {x: 90 deg}}" dof "}\n"
#define STATE_A "  ja: {q: 0.3, u: 0.5}\n"
#define STATE_B "  jb: {q: -0.4, u: 1, eta: [0.004, 0.001], eta_dot: [0, 0.02]}\n"
#define HEAD "calder: 1\ngravity: [0, 0, -9.81]\n"

#define WHOLE(dof)                                                                      \
	HEAD "bodies:\n" BODY_A BEAM("b") BEAM("c") BODY_D "joints:\n" JOINT_A JOINT_B(dof) \
	JOINT_C JOINT_D(dof) "state:\n" STATE_A STATE_B "  jc: {q: 0.5, u: -0.7, eta: [0, 0.003]}\n  jd: {q: 0.2, u: 2}\n"

/* Springs and dampers at the cut would be those of a joint, which is rows now: the joints there are plain. */
static const char whole[] = WHOLE(SPRUNG), whole_plain[] = WHOLE("");
static const char inner[] =
	HEAD "bodies:\n" BODY_A BEAM("b") "joints:\n" JOINT_A JOINT_B(SPRUNG) "state:\n" STATE_A STATE_B;
static const char outer[] = HEAD "bodies:\n" BEAM("c") BODY_D "joints:\n  jc: {type: free, to: c/root}\n" JOINT_D(
	SPRUNG) "state:\n  jc: {eta: [0, 0.003]}\n  jd: {q: 0.2, u: 2}\n";
static const char ends[] =
	HEAD "bodies:\n" BODY_A BODY_D "joints:\n" JOINT_A "  jd: {type: free, to: d/in}\nstate:\n" STATE_A;
static const char middle[] = HEAD "bodies:\n" BEAM("b")
	BEAM("c") "joints:\n  jb: {type: free, to: b/root}\n" JOINT_C
			  "state:\n  jb: {eta: [0.004, 0.001], eta_dot: [0, 0.02]}\n  jc: {q: 0.5, u: -0.7, eta: [0, 0.003]}\n";

typedef struct Thing {
	CalSetup *file;
	CalSim *sim;
} Thing;

static Thing thing_of(const char *text, CalMethod method, double step) {
	Thing t = {.file = file_of(text)};
	CalError error = {0};
	CalSimOptions options = {.method = {.method = method, .step = step, .rtol = 1e-10, .atol = 1e-12}};
	if (cal_sim_create(cal_setup_desc(t.file), &options, &t.sim, &error) != CAL_OK ||
	    cal_setup_apply_state(t.file, cal_sim_model(t.sim, 0), cal_sim_state(t.sim, 0), &error) != CAL_OK)
		fail_msg("%s", error.text);
	return t;
}

static Thing thing(const char *text) { return thing_of(text, CAL_METHOD_DOPRI5, 0); }

static void thing_free(Thing *t) {
	cal_sim_destroy(t->sim);
	cal_setup_destroy(t->file);
}

/* A model in a box: what has to outlive the simulation. */
typedef struct Boxed {
	CalSetup *file;
	CalModel *model;
	CalState state;
} Boxed;

static Boxed boxed_of(const char *text) {
	Boxed b = {.file = file_of(text)};
	CalError error;
	b.model = model_of(b.file, NULL);
	assert_int_equal(cal_state_create(b.model, &b.state), CAL_OK);
	assert_int_equal(cal_setup_apply_state(b.file, b.model, &b.state, &error), CAL_OK);
	return b;
}

static void boxed_free(Boxed *b) {
	cal_state_destroy(&b->state);
	cal_model_destroy(b->model);
	cal_setup_destroy(b->file);
}

static void observe(CalSim *sim, CalSimView *view) { assert_int_equal(cal_sim_observe(sim, 0, view), CAL_OK); }

static int node_of(const CalSim *sim, const char *path) {
	const int node = cal_model_find_node(cal_sim_model(sim, 0), path);
	assert_true(node >= 0);
	return node;
}

static CalInterfaceNode motion_of(CalSim *sim, const char *path) {
	CalSimView view;
	CalInterfaceNode at;
	observe(sim, &view);
	assert_int_equal(cal_node_pose(view.model, view.work, node_of(sim, path), &at.pose), CAL_OK);
	assert_int_equal(cal_node_velocity(view.model, view.work, node_of(sim, path), &at.velocity), CAL_OK);
	return at;
}

/* Sets a free joint so that its head moves as wanted. */
static void set_free(const CalModel *model, CalState *state, const char *joint, CalInterfaceNode at) {
	CalBodyInfo body;
	assert_int_equal(cal_model_body(model, cal_model_find_joint(model, joint), &body), CAL_OK);
	const double(*R)[3] = (const double(*)[3])at.pose.R.m;
	const double w = 0.5 * sqrt(1 + R[0][0] + R[1][1] + R[2][2]);
	const double q[7] = {at.pose.r.x,
	                     at.pose.r.y,
	                     at.pose.r.z,
	                     w,
	                     (R[2][1] - R[1][2]) / (4 * w),
	                     (R[0][2] - R[2][0]) / (4 * w),
	                     (R[1][0] - R[0][1]) / (4 * w)};
	const CalVec3 v = at.velocity.linear, n = at.velocity.angular;
	memcpy(state->q + body.q, q, sizeof q);
	const double u[6] = {v.x,
	                     v.y,
	                     v.z,
	                     R[0][0] * n.x + R[1][0] * n.y + R[2][0] * n.z,
	                     R[0][1] * n.x + R[1][1] * n.y + R[2][1] * n.z,
	                     R[0][2] * n.x + R[1][2] * n.y + R[2][2] * n.z};
	memcpy(state->u + body.u, u, sizeof u);
}

static CalNodeId id_of(const Thing *t, const char *path) {
	const CalNodeId id = cal_desc_find_node(cal_setup_desc(t->file), path);
	assert_true(id.value);
	return id;
}

/* A hinge about z, the frame on the node turned about an axis. */
static CalSubsystemTie hinge(CalNodeId node, int interface_nodes, double x, double y) {
	CalSubsystemTie tie = {.node = node, .interface_node = interface_nodes, .joint = cal_loop_def(CAL_LOOP_REVOLUTE)};
	tie.joint.a.orientation = (CalQuat){cos((x + y) / 2), sin(x / 2), sin(y / 2), 0};
	return tie;
}

static int add(Thing *t, const Boxed *b, const int *nodes, int count, int fit, const CalSubsystemTie *ties,
               int tie_count) {
	CalSubsystemDef def;
	CalError error = {0};
	int device = -1;
	const CalModelSubsystemOptions options = {.state = &b->state, .fit = fit};
	if (cal_subsystem_from_model(b->model, nodes, count, &options, &def, &error) != CAL_OK ||
	    cal_sim_add_subsystem(t->sim, "box", &def, ties, tie_count, &device, &error) != CAL_OK ||
	    cal_sim_restart(t->sim, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return device;
}

/* The outer half in a box. */
static Thing outer_half(Thing *all, Boxed *subsystem, CalMethod method, double step, int *device) {
	Thing t = thing_of(inner, method, step);
	*subsystem = boxed_of(outer);
	set_free(subsystem->model, &subsystem->state, "jc", motion_of(all->sim, "c/root"));
	const int nodes[] = {cal_model_find_node(subsystem->model, "c/root")};
	const CalSubsystemTie tie = hinge(id_of(&t, "b/tip"), 0, 0, 70 * PI / 180);
	*device = add(&t, subsystem, nodes, 1, 0, &tie, 1);
	return t;
}

static double difference(CalVec3 a, CalVec3 b) { return fabs(a.x - b.x) + fabs(a.y - b.y) + fabs(a.z - b.z); }
static double size_of(CalVec3 a) { return fabs(a.x) + fabs(a.y) + fabs(a.z); }

/* The same acceleration of a node in both. */
static void same_acceleration(CalSim *a, CalSim *b, const char *path) {
	CalSimView p, q;
	CalSpatial x, y;
	observe(a, &p);
	observe(b, &q);
	assert_int_equal(cal_node_acceleration(p.model, p.work, node_of(a, path), &x), CAL_OK);
	assert_int_equal(cal_node_acceleration(q.model, q.work, node_of(b, path), &y), CAL_OK);
	const double scale = size_of(x.linear) + size_of(x.angular);
	assert_true(scale > 1);
	if (difference(x.linear, y.linear) + difference(x.angular, y.angular) > 1e-10 * scale)
		fail_msg("%s accelerates differently: by %g of %g", path,
		         difference(x.linear, y.linear) + difference(x.angular, y.angular), scale);
}

static void same_motion(CalInterfaceNode a, CalInterfaceNode b, double tolerance, const char *what) {
	double off = difference(a.pose.r, b.pose.r) + difference(a.velocity.linear, b.velocity.linear) / 10 +
	             difference(a.velocity.angular, b.velocity.angular) / 10;
	for (int i = 0; i < 9; i++)
		off = fmax(off, fabs((&a.pose.R.m[0][0])[i] - (&b.pose.R.m[0][0])[i]));
	if (!(off <= tolerance))
		fail_msg("%s is off by %g", what, off);
}

static void the_outer_half_in_a_box_accelerates_as_the_whole(void **state) {
	(void)state;
	Thing all = thing(whole);
	Boxed subsystem;
	int device;
	CalError error;
	assert_int_equal(cal_sim_restart(all.sim, &error), CAL_OK);
	Thing half = outer_half(&all, &subsystem, CAL_METHOD_DOPRI5, 0, &device);
	same_acceleration(all.sim, half.sim, "a/out");
	same_acceleration(all.sim, half.sim, "b/tip");
	CalSimView view; // the force through the cut is the reaction of the joint there
	CalSpatial through, reaction;
	observe(all.sim, &view);
	assert_int_equal(cal_reactions(view.model, view.state, view.udot, &view.input, view.work), CAL_OK);
	assert_int_equal(cal_joint_reaction(view.model, view.work, cal_model_find_joint(view.model, "jc"), &reaction),
	                 CAL_OK);
	assert_int_equal(cal_sim_subsystem_wrench(half.sim, device, 0, &through), CAL_OK);
	const double scale = size_of(reaction.linear);
	assert_true(scale > 1);
	assert_true(difference(reaction.linear, through.linear) < 1e-9 * scale);
	assert_true(difference(reaction.angular, through.angular) < 1e-9 * scale);
	// The simulation knows the numbers x of the box, and no body, joint or mode of it.
	assert_int_equal(cal_model_body_count(cal_sim_model(half.sim, 0)), 2);
	CalDeviceInfo info;
	assert_int_equal(cal_sim_device(half.sim, device, &info), CAL_OK);
	assert_int_equal(info.nx, cal_model_q_count(subsystem.model) + cal_model_u_count(subsystem.model));
	thing_free(&half);
	boxed_free(&subsystem);
	thing_free(&all);
}

static void the_outer_half_in_a_box_moves_as_the_whole(void **state) {
	(void)state;
	Thing all = thing(whole);
	Boxed subsystem;
	int device;
	CalError error = {0};
	assert_int_equal(cal_sim_restart(all.sim, &error), CAL_OK);
	Thing half = outer_half(&all, &subsystem, CAL_METHOD_DOPRI5, 0, &device);
	if (cal_sim_advance(all.sim, 1, &error) != CAL_OK || cal_sim_advance(half.sim, 1, &error) != CAL_OK)
		fail_msg("%s", error.text);
	same_motion(motion_of(all.sim, "b/tip"), motion_of(half.sim, "b/tip"), 1e-9, "b/tip");
	CalInterfaceNode interface_nodes;
	assert_int_equal(cal_sim_subsystem_interface_node(half.sim, device, 0, &interface_nodes), CAL_OK);
	same_motion(motion_of(all.sim, "c/root"), interface_nodes, 1e-9, "the interface");
	assert_true(difference(interface_nodes.pose.r, motion_of(half.sim, "b/tip").pose.r) < 1e-8); // drift
	CalSimBalance balance, other;
	assert_int_equal(cal_sim_balance(half.sim, &balance), CAL_OK);
	assert_int_equal(cal_sim_balance(all.sim, &other), CAL_OK);
	assert_true(balance.complete);
	assert_true(fabs(balance.error) < 1e-6);
	assert_near(balance.dissipated, other.dissipated, 1e-6);
	assert_true(balance.dissipated > 1e-3);
	thing_free(&half);
	boxed_free(&subsystem);
	thing_free(&all);
}

static void the_middle_in_a_box_moves_as_the_whole(void **state) {
	(void)state;
	Thing all = thing(whole_plain), rest = thing(ends);
	Boxed subsystem = boxed_of(middle);
	CalError error = {0};
	assert_int_equal(cal_sim_restart(all.sim, &error), CAL_OK);
	set_free(cal_sim_model(rest.sim, 0), cal_sim_state(rest.sim, 0), "jd", motion_of(all.sim, "d/in"));
	set_free(subsystem.model, &subsystem.state, "jb", motion_of(all.sim, "b/root"));
	const int nodes[] = {cal_model_find_node(subsystem.model, "b/root"), cal_model_find_node(subsystem.model, "c/tip")};
	CalSubsystemTie ties[] = {hinge(id_of(&rest, "a/out"), 0, 40 * PI / 180, 0), hinge(id_of(&rest, "d/in"), 1, 0, 0)};
	ties[1].joint.b.orientation =
		(CalQuat){cos(PI / 4), sin(PI / 4), 0, 0}; // where jd has its frame on the interface node
	const int device = add(&rest, &subsystem, nodes, 2, 0, ties, 2);
	same_acceleration(all.sim, rest.sim, "a/out");
	same_acceleration(all.sim, rest.sim, "d/end");
	if (cal_sim_advance(all.sim, 1, &error) != CAL_OK || cal_sim_advance(rest.sim, 1, &error) != CAL_OK)
		fail_msg("%s", error.text);
	same_motion(motion_of(all.sim, "a/out"), motion_of(rest.sim, "a/out"), 1e-9, "a/out");
	same_motion(motion_of(all.sim, "d/end"), motion_of(rest.sim, "d/end"), 1e-9, "d/end");
	CalInterfaceNode interface_nodes;
	assert_int_equal(cal_sim_subsystem_interface_node(rest.sim, device, 1, &interface_nodes), CAL_OK);
	same_motion(motion_of(all.sim, "c/tip"), interface_nodes, 1e-9, "c/tip");
	thing_free(&all);
	thing_free(&rest);
	boxed_free(&subsystem);
}

static void a_step_with_boxes_allocates_nothing(void **state) {
	(void)state;
	if (!INTERPOSE_ACTIVE)
		skip();
	Thing all = thing(whole);
	Boxed subsystem;
	int device;
	CalError error = {0};
	assert_int_equal(cal_sim_restart(all.sim, &error), CAL_OK);
	Thing half = outer_half(&all, &subsystem, CAL_METHOD_RK4, 1e-3, &device);
	interpose_begin(0);
	const CalStatus status = cal_sim_advance(half.sim, 0.01, &error);
	const Interpose seen = interpose_end();
	assert_int_equal(status, CAL_OK);
	assert_int_equal(seen.calls, 0);
	thing_free(&half);
	thing_free(&all);
	boxed_free(&subsystem);
}

/* Loops and driven dofs on both sides: C and Lambda are probed. */
static void loops_on_either_side_are_held(void **state) {
	(void)state;
#define LINKS                                                                           \
	"  a: {mass: 2, box: [1, 0.1, 0.1], nodes: {in: [-0.5, 0, 0], out: [0.5, 0, 0]}}\n" \
	"  b: {mass: 1, box: [1, 0.1, 0.1], nodes: {in: [-0.5, 0, 0], out: [0.5, 0, 0], mid: [0, 0, 0.1]}}\n"
#define LINK_JOINTS \
	"  ja: {type: revolute, to: a/in, axis: y}\n  jb: {type: revolute, from: a/out, to: b/in, axis: y}\n"
#define SLIDE "loops: {slide: {type: inplane, from: ground, to: b/out}}\n"
#define LOAD "  e: {mass: 3, box: [0.4, 0.2, 0.1], nodes: {in: [0, 0, -0.1]}}\n  f: {mass: 1, box: [0.2, 0.2, 0.3]}\n"
#define LOAD_JOINTS "  jf: {type: spherical, from: e, to: f}\n"
#define LOAD_LOOP "stay: {type: distance, from: e, a: [0.5, 0, 0], to: f, b: [0, 0, 0.4], length: 0.7}"
	static const char together[] = HEAD
		"bodies:\n" LINKS LOAD "joints:\n" LINK_JOINTS LOAD_JOINTS
		"  je: {type: weld, from: b/mid, to: e/in}\nloops: {slide: {type: inplane, from: ground, to: b/out}, " LOAD_LOOP
		"}\n"
		"state: {ja: {q: -0.6}, jb: {q: 1.2, frozen: true}, jf: {angular_velocity: [1, 0, 2]}}\n";
	static const char linkage[] =
		HEAD "bodies:\n" LINKS "joints:\n" LINK_JOINTS SLIDE "state: {ja: {q: -0.6}, jb: {q: 1.2, frozen: true}}\n";
	static const char load[] =
		HEAD "bodies:\n" LOAD "joints:\n  je: {type: free, to: e/in}\n" LOAD_JOINTS "loops: {" LOAD_LOOP "}\n";
	Thing all = thing(together), part = thing(linkage);
	Boxed subsystem = boxed_of(load);
	CalError error = {0};
	if (cal_sim_restart(all.sim, &error) != CAL_OK)
		fail_msg("%s", error.text);
	// inner state from the whole, where its loop has been closed
	const CalModel *model = cal_sim_model(all.sim, 0);
	CalBodyInfo from, to;
	assert_int_equal(cal_model_body(model, cal_model_find_joint(model, "jf"), &from), CAL_OK);
	assert_int_equal(cal_model_body(subsystem.model, cal_model_find_joint(subsystem.model, "jf"), &to), CAL_OK);
	memcpy(subsystem.state.q + to.q, cal_sim_state(all.sim, 0)->q + from.q, 4 * sizeof(double));
	memcpy(subsystem.state.u + to.u, cal_sim_state(all.sim, 0)->u + from.u, 3 * sizeof(double));
	memcpy(cal_sim_state(part.sim, 0)->q, cal_sim_state(all.sim, 0)->q, 2 * sizeof(double));
	memcpy(cal_sim_state(part.sim, 0)->u, cal_sim_state(all.sim, 0)->u, 2 * sizeof(double));
	const int nodes[] = {cal_model_find_node(subsystem.model, "e/in")};
	const CalSubsystemTie tie = {.node = id_of(&part, "b/mid"), .joint = cal_loop_def(CAL_LOOP_WELD)};
	const int device = add(&part, &subsystem, nodes, 1, 1, &tie, 1);
	same_acceleration(all.sim, part.sim, "b/mid");
	if (cal_sim_advance(all.sim, 0.5, &error) != CAL_OK || cal_sim_advance(part.sim, 0.5, &error) != CAL_OK)
		fail_msg("%s", error.text);
	same_motion(motion_of(all.sim, "b/mid"), motion_of(part.sim, "b/mid"), 1e-9, "b/mid");
	CalInterfaceNode interface_nodes;
	assert_int_equal(cal_sim_subsystem_interface_node(part.sim, device, 0, &interface_nodes), CAL_OK);
	same_motion(motion_of(all.sim, "e/in"), interface_nodes, 1e-9, "the interface");
	thing_free(&all);
	thing_free(&part);
	boxed_free(&subsystem);
}

/* Large steps leave the interface open; the projection closes it, and without it the gains hold it. */
static void the_interface_is_closed_after_steps(void **state) {
	(void)state;
	double drift[2];
	for (int projected = 0; projected < 2; projected++) {
		Thing all = thing(whole);
		Boxed subsystem;
		int device;
		CalError error = {0};
		assert_int_equal(cal_sim_restart(all.sim, &error), CAL_OK);
		Thing t = thing_of(inner, CAL_METHOD_RK4, 2e-3);
		subsystem = boxed_of(outer);
		set_free(subsystem.model, &subsystem.state, "jc", motion_of(all.sim, "c/root"));
		const int nodes[] = {cal_model_find_node(subsystem.model, "c/root")};
		const CalSubsystemTie tie = hinge(id_of(&t, "b/tip"), 0, 0, 70 * PI / 180);
		CalSubsystemDef def;
		assert_int_equal(cal_subsystem_from_model(subsystem.model, nodes, 1,
		                                          &(CalModelSubsystemOptions){.state = &subsystem.state}, &def, &error),
		                 CAL_OK);
		CalSubsystemOps ops = *def.ops;
		ops.correct = projected ? ops.correct : NULL;
		def.ops = &ops;
		assert_int_equal(cal_sim_add_subsystem(t.sim, "box", &def, &tie, 1, &device, &error), CAL_OK);
		if (cal_sim_advance(t.sim, 1, &error) != CAL_OK)
			fail_msg("%s", error.text);
		CalInterfaceNode interface_nodes;
		assert_int_equal(cal_sim_subsystem_interface_node(t.sim, device, 0, &interface_nodes), CAL_OK);
		const CalInterfaceNode at = motion_of(t.sim, "b/tip");
		drift[projected] = difference(interface_nodes.pose.r, at.pose.r) +
		                   difference(interface_nodes.velocity.linear, at.velocity.linear);
		thing_free(&t);
		thing_free(&all);
		boxed_free(&subsystem);
	}
	assert_true(drift[0] > 1e-8); // what there is to be closed
	assert_true(drift[0] < 1e-3);
	if (!(drift[1] < 1e-9))
		fail_msg("off by %g, without projection by %g", drift[1], drift[0]);
}

/* A body that flies freely with a box on it: nothing comes from outside. */
static void momentum_with_boxes_is_conserved(void **state) {
	(void)state;
	Thing t = thing(
		"calder: 1\nbodies: {hub: {mass: 5, box: [1, 2, 3], nodes: {l: [0.5, 0, 0], r: [0, 1, 0]}}}\n"
		"joints: {fly: {type: free, to: hub}}\nstate: {fly: {velocity: [1, 0, 0], angular_velocity: [1, 2, 3]}}\n");
	Boxed subsystem = boxed_of("calder: 1\nbodies:\n" BEAM("c") "joints: {jc: {type: free, to: c/root}}\n");
	CalError error = {0};
	const int nodes[] = {cal_model_find_node(subsystem.model, "c/root")};
	CalSubsystemTie tie = {.node = id_of(&t, "hub/l"), .joint = cal_loop_def(CAL_LOOP_WELD)};
	add(&t, &subsystem, nodes, 1, 1, &tie, 1);
	CalSubsystemDef def; // a second box, on a joint
	tie = (CalSubsystemTie){.node = id_of(&t, "hub/r"), .joint = cal_loop_def(CAL_LOOP_SPHERICAL)};
	assert_int_equal(
		cal_subsystem_from_model(subsystem.model, nodes, 1, &(CalModelSubsystemOptions){.fit = 1}, &def, &error),
		CAL_OK);
	assert_int_equal(cal_sim_add_subsystem(t.sim, "second", &def, &tie, 1, NULL, &error), CAL_OK);
	CalSimBalance before, after;
	assert_int_equal(cal_sim_balance(t.sim, &before), CAL_OK);
	if (cal_sim_advance(t.sim, 2, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_sim_balance(t.sim, &after), CAL_OK);
	assert_true(size_of(before.angular) > 1);
	assert_true(difference(before.linear, after.linear) < 1e-8);
	assert_true(difference(before.angular, after.angular) < 1e-7);
	assert_true(after.complete && fabs(after.error) < 1e-6 && after.dissipated > 1e-6);
	thing_free(&t);
	boxed_free(&subsystem);
}

/* The same bits after a checkpoint. */
static void checkpoints_hold_the_hidden_states(void **state) {
	(void)state;
	Thing all = thing(whole);
	Boxed subsystem, other_box;
	int device, other_device;
	CalError error = {0};
	assert_int_equal(cal_sim_restart(all.sim, &error), CAL_OK);
	Thing a = outer_half(&all, &subsystem, CAL_METHOD_RK4, 1e-3, &device);
	Thing b = outer_half(&all, &other_box, CAL_METHOD_RK4, 1e-3, &other_device);
	assert_int_equal(cal_sim_advance(a.sim, 0.05, &error), CAL_OK);
	const size_t size = cal_checkpoint_size(a.sim);
	void *memory = malloc(size);
	assert_non_null(memory);
	if (cal_checkpoint_take(a.sim, memory, size, NULL) != CAL_OK ||
	    cal_checkpoint_restore(b.sim, memory, size, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_sim_advance(a.sim, 0.1, &error), CAL_OK);
	assert_int_equal(cal_sim_advance(b.sim, 0.1, &error), CAL_OK);
	CalDeviceInfo x, y;
	assert_int_equal(cal_sim_device(a.sim, device, &x), CAL_OK);
	assert_int_equal(cal_sim_device(b.sim, other_device, &y), CAL_OK);
	assert_memory_equal(x.x, y.x, (size_t)x.nx * sizeof(double));
	assert_memory_equal(cal_sim_state(a.sim, 0)->q, cal_sim_state(b.sim, 0)->q, 5 * sizeof(double));
	free(memory);
	thing_free(&a);
	thing_free(&b);
	thing_free(&all);
	boxed_free(&subsystem);
	boxed_free(&other_box);
}

/* ---- boxes that are wrong ---------------------------------------------------------------------------------- */

typedef struct Bad {
	double Lambda01, Lambda00, rate, place; // what is wrong about it
	int refuses, changes, destroyed;
} Bad;

static int bad_start(void *self, double t, const CalInterfaceNode *interface_nodes, double *x) {
	const Bad *bad = self;
	(void)t;
	x[0] = interface_nodes->pose.r.x + bad->place;
	return bad->refuses;
}
static int bad_interface_motion(void *self, double t, const double *x, CalInterfaceNode *interface_nodes) {
	(void)self, (void)t;
	*interface_nodes = (CalInterfaceNode){.pose = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {x[0], 0, 0}}};
	return 0;
}
static int bad_respond(void *self, double t, const double *x, double *Lambda, double *b) {
	const Bad *bad = self;
	(void)t, (void)x;
	for (int i = 0; i < 36; i++)
		Lambda[i] = i % 7 == 0;
	memset(b, 0, 6 * sizeof *b);
	Lambda[0] = bad->Lambda00;
	Lambda[1] = bad->Lambda01;
	return 0;
}
static int bad_rates(void *self, double t, const double *x, const CalSpatial *wrench, double *xdot) {
	const Bad *bad = self;
	(void)t, (void)x, (void)wrench;
	xdot[0] = bad->rate;
	return 0;
}
static const char *bad_explain(void *self) { return ((const Bad *)self)->refuses ? "not today" : ""; }
static void bad_destroy(void *self) { ((Bad *)self)->destroyed++; }

static const CalSubsystemOps bad_ops = {.type = "bad",
                                        .start = bad_start,
                                        .interface_motion = bad_interface_motion,
                                        .respond = bad_respond,
                                        .rates = bad_rates,
                                        .explain = bad_explain,
                                        .destroy = bad_destroy};
static const char still[] = "calder: 1\nbodies: {a: {mass: 1, sphere: 1}}\njoints: {j: {type: free, to: a}}\n";

static void wrong_boxes_are_named_in_the_run(void **state) {
	(void)state;
	const struct {
		Bad bad;
		const char *says;
	} cases[] = {
		{{.Lambda00 = 1, .Lambda01 = 0.1}, "not symmetric"},
		{{.Lambda00 = NAN}, "not finite"},
		{{.Lambda00 = -1}, "negative diagonal"},
		{{.Lambda00 = 1, .rate = NAN}, "rates() gives numbers that are not finite"},
		{{.Lambda00 = 1, .place = 0.1}, "does not meet the node"},
		{{.Lambda00 = 1, .refuses = 1}, "not today"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Bad bad = cases[i].bad;
		Thing t = thing(still);
		CalError error = {0};
		const CalSubsystemDef def = {CAL_SUBSYSTEM_API_VERSION, &bad_ops, &bad, 1, 1, NULL, 0};
		const CalSubsystemTie tie = {.node = id_of(&t, "a"), .joint = cal_loop_def(CAL_LOOP_WELD)};
		assert_int_equal(cal_sim_add_subsystem(t.sim, "thing", &def, &tie, 1, NULL, &error), CAL_OK);
		assert_int_equal(cal_sim_advance(t.sim, 0.1, &error), CAL_ERR_USER);
		if (!strstr(error.text, cases[i].says) || !strstr(error.text, "\"thing\""))
			fail_msg("\"%s\" does not say \"%s\"", error.text, cases[i].says);
		thing_free(&t);
		assert_int_equal(bad.destroyed, 1);
	}
}

static void wrong_definitions_are_refused(void **state) {
	(void)state;
	CalSubsystemOps lame = bad_ops;
	lame.respond = NULL;
	const CalSubsystemDef good = {CAL_SUBSYSTEM_API_VERSION, &bad_ops, NULL, 1, 1, NULL, 0};
	struct {
		CalSubsystemDef def;
		int interface_node;
		const char *name, *says;
		CalLoopType type;
		CalMethod method;
	} cases[] = {
		{good, 1, NULL, "no number 2", CAL_LOOP_WELD, CAL_METHOD_RK4},
		{good, 0, "foot", "no interface node \"foot\"", CAL_LOOP_WELD, CAL_METHOD_RK4},
		{good, 0, NULL, "no knife", CAL_LOOP_KNIFE, CAL_METHOD_RK4},
		{good, 0, NULL, "length", CAL_LOOP_DISTANCE, CAL_METHOD_RK4},
		{good, 0, NULL, "implicit", CAL_LOOP_WELD, CAL_METHOD_IMPLICIT},
		{good, 0, NULL, "version 7", CAL_LOOP_WELD, CAL_METHOD_RK4},
		{good, 0, NULL, "functions start, interface_motion, respond and rates", CAL_LOOP_WELD, CAL_METHOD_RK4},
		{good, 0, NULL, "interface nodes", CAL_LOOP_WELD, CAL_METHOD_RK4},
	};
	cases[5].def.version = 7;
	cases[6].def.ops = &lame;
	cases[7].def.interface_node_count = 0;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Thing t = thing_of(still, cases[i].method, 1e-3);
		CalError error = {0};
		const CalSubsystemTie tie = {.node = id_of(&t, "a"),
		                             .interface_node = cases[i].interface_node,
		                             .name = cases[i].name,
		                             .joint = cal_loop_def(cases[i].type)};
		assert_true(cal_sim_add_subsystem(t.sim, "thing", &cases[i].def, &tie, 1, NULL, &error) < 0);
		if (!strstr(error.text, cases[i].says) || !strstr(error.text, "\"thing\""))
			fail_msg("\"%s\" does not say \"%s\"", error.text, cases[i].says);
		assert_int_equal(cal_sim_advance(t.sim, 0.1, &error), CAL_OK); // as it was
		thing_free(&t);
	}
}

static void the_topology_stays_with_boxes(void **state) {
	(void)state;
	Bad bad = {.Lambda00 = 1};
	Thing t = thing(still);
	CalError error = {0};
	const CalSubsystemDef def = {CAL_SUBSYSTEM_API_VERSION, &bad_ops, &bad, 1, 1, NULL, 0};
	const CalSubsystemTie tie = {.node = id_of(&t, "a"), .joint = cal_loop_def(CAL_LOOP_WELD)};
	assert_int_equal(cal_sim_reserve(t.sim, cal_setup_desc(t.file), &(CalSimCapacity){.bodies = 1}, &error), CAL_OK);
	assert_int_equal(cal_sim_add_subsystem(t.sim, "thing", &def, &tie, 1, NULL, &error), CAL_OK);
	assert_int_equal(cal_sim_lock(t.sim, cal_sim_find_joint(t.sim, "j"), -1, NULL, &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "compiled subsystem"));
	CalSimBalance balance;
	assert_int_equal(cal_sim_balance(t.sim, &balance), CAL_OK);
	assert_false(balance.complete); // it does not report its energy
	thing_free(&t);
}

static void fixed_steps_and_fitted_starts(void **state) {
	(void)state;
	static const char pendulum[] =
		HEAD "bodies: {a: {mass: 3, box: [1, 0.2, 0.1], nodes: {in: [-0.5, 0, 0], out: [0.5, 0, 0]}},\n"
			 "  d: {mass: 1, box: [0.5, 0.2, 0.1], nodes: {in: [-0.25, 0, 0]}}}\n"
			 "joints: {ja: {type: revolute, to: a/in, axis: y}, jd: {type: weld, from: a/out, to: d/in}}\n"
			 "state: {ja: {q: 0.3, u: 1}}\n";
	static const char first[] =
		HEAD "bodies: {a: {mass: 3, box: [1, 0.2, 0.1], nodes: {in: [-0.5, 0, 0], out: [0.5, 0, 0]}}}\n"
			 "joints: {ja: {type: revolute, to: a/in, axis: y}}\nstate: {ja: {q: 0.3, u: 1}}\n";
	static const char second[] = HEAD "bodies: {d: {mass: 1, box: [0.5, 0.2, 0.1], nodes: {in: [-0.25, 0, 0]}}}\n"
									  "joints: {jd: {type: free, to: d/in}}\n";
	Thing all = thing_of(pendulum, CAL_METHOD_RK4, 1e-3), half = thing_of(first, CAL_METHOD_RK4, 1e-3);
	Boxed subsystem = boxed_of(second);
	CalError error = {0};
	const int nodes[] = {cal_model_find_node(subsystem.model, "d/in")};
	const CalSubsystemTie tie = {.node = id_of(&half, "a/out"), .joint = cal_loop_def(CAL_LOOP_WELD)};
	const int device = add(&half, &subsystem, nodes, 1, 1, &tie, 1);
	if (cal_sim_advance(all.sim, 1, &error) != CAL_OK || cal_sim_advance(half.sim, 1, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_near(cal_sim_state(half.sim, 0)->q[0], cal_sim_state(all.sim, 0)->q[0], 1e-9);
	CalInterfaceNode interface_nodes;
	assert_int_equal(cal_sim_subsystem_interface_node(half.sim, device, 0, &interface_nodes), CAL_OK);
	same_motion(motion_of(all.sim, "d/in"), interface_nodes, 1e-8, "the interface");
	thing_free(&half);
	thing_free(&all);
	boxed_free(&subsystem);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_outer_half_in_a_box_accelerates_as_the_whole),
		cmocka_unit_test(the_outer_half_in_a_box_moves_as_the_whole),
		cmocka_unit_test(the_middle_in_a_box_moves_as_the_whole),
		cmocka_unit_test(fixed_steps_and_fitted_starts),
		cmocka_unit_test(a_step_with_boxes_allocates_nothing),
		cmocka_unit_test(loops_on_either_side_are_held),
		cmocka_unit_test(the_interface_is_closed_after_steps),
		cmocka_unit_test(momentum_with_boxes_is_conserved),
		cmocka_unit_test(checkpoints_hold_the_hidden_states),
		cmocka_unit_test(wrong_boxes_are_named_in_the_run),
		cmocka_unit_test(wrong_definitions_are_refused),
		cmocka_unit_test(the_topology_stays_with_boxes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
