// SPDX-License-Identifier: Apache-2.0
/*
 * live_hand.c — see live_hand.h. Nothing is added while the simulation runs.
 */
#include "live_hand.h"

#include <stdlib.h>

#include "live_command.h"

enum { MAX_SLIDERS = 256 };

typedef struct Slider {
	CalJointId joint;
	int dof;
	bool on;
	double target;
	double inertia; // that the joint feels [kg m^2] or [kg]
} Slider;

struct Hand {
	const CalSetup *setup;
	bool pushing;
	CalBodyId body;
	CalVec3 point, force; // in the body frame; world axes
	Slider sliders[MAX_SLIDERS];
	int slider_count;
};

/* ---- the device ------------------------------------------------------------------------------------ */

static double dot(CalVec3 a, CalVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static CalVec3 cross(CalVec3 a, CalVec3 b) {
	return (CalVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static CalVec3 turned(const CalMat3 *R, CalVec3 v) {
	return (CalVec3){R->m[0][0] * v.x + R->m[0][1] * v.y + R->m[0][2] * v.z,
	                 R->m[1][0] * v.x + R->m[1][1] * v.y + R->m[1][2] * v.z,
	                 R->m[2][0] * v.x + R->m[2][1] * v.y + R->m[2][2] * v.z};
}

static int push_body(const Hand *hand, CalEvalContext *context) {
	CalNodeRef node_ref;
	CalPose pose;
	CalSpatial v;
	const CalNodeId node = cal_desc_body_node(cal_setup_desc(hand->setup), hand->body);
	if (!cal_context_find_node(context, node, &node_ref) ||
	    cal_context_node_motion(context, node_ref, &pose, &v) != CAL_OK)
		return 0;
	const CalVec3 arm = turned(&pose.R, hand->point), moment = cross(arm, hand->force);
	cal_context_add_supplied_power(context, dot(hand->force, v.linear) + dot(moment, v.angular));
	return cal_context_apply_wrench(context, node_ref, CAL_FRAME_WORLD, (CalSpatial){moment, hand->force});
}

/* As a spring of 3 rad/s with critical damping. */
static int pull_joint(const Slider *slider, CalEvalContext *context) {
	static const double frequency = 3;
	CalDofRef dof_ref;
	if (!cal_context_find_dof(context, slider->joint, slider->dof, &dof_ref) || dof_ref.q < 0)
		return 0;
	const double off = slider->target - cal_context_q(context, dof_ref), rate = cal_context_u(context, dof_ref);
	const double effort = slider->inertia * frequency * (frequency * off - 2 * rate);
	cal_context_add_supplied_power(context, effort * rate);
	return cal_context_apply_effort(context, dof_ref, effort);
}

static int hand_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Hand *hand = *(Hand *const *)device->data;
	int failed = 0;
	(void)xdot;
	if (hand->pushing)
		failed = push_body(hand, context);
	for (int i = 0; i < hand->slider_count && !failed; i++)
		if (hand->sliders[i].on)
			failed = pull_joint(&hand->sliders[i], context);
	return failed;
}

static const CalDeviceOps hand_ops = {.type = "hand", .evaluate = hand_evaluate};

/* ---- commands -------------------------------------------------------------------------------------- */

static void set_pointer_force(Hand *hand, const char *text) {
	int body;
	CalVec3 point, force;
	if (!command_index(text, "body", cal_desc_body_count(cal_setup_desc(hand->setup)), &body) ||
	    !command_vector(text, "point", &point) || !command_vector(text, "force", &force))
		return;
	hand->body = (CalBodyId){(uint32_t)body + 1};
	hand->point = point;
	hand->force = force;
	hand->pushing = true;
}

/* The diagonal of the mass matrix: what the joint feels of everything that it carries. */
static double inertia_of(CalSim *sim, CalJointId joint, int dof) {
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		CalSimView view;
		CalBodyInfo info;
		if (cal_sim_observe(sim, g, &view) != CAL_OK)
			continue;
		const int nu = cal_model_u_count(view.model);
		for (int i = 0; i < cal_model_body_count(view.model); i++) {
			cal_model_body(view.model, i, &info);
			if (info.joint_id.value != joint.value || dof >= info.nu)
				continue;
			double *M = malloc((size_t)nu * (size_t)nu * sizeof *M), inertia = 1;
			if (M && cal_mass_matrix(view.model, view.state, view.work, M) == CAL_OK)
				inertia = M[(info.u + dof) * (nu + 1)];
			free(M);
			return inertia;
		}
	}
	return 1;
}

/* The slider that a command names; NULL: there is none yet, or no such joint, which *valid says. */
static Slider *find_slider(Hand *hand, const char *text, CalJointId *id, int *dof, bool *valid) {
	int joint;
	*valid = command_index(text, "joint", cal_desc_joint_count(cal_setup_desc(hand->setup)), &joint) &&
	         command_index(text, "dof", CAL_JOINT_MAX_DOF, dof);
	if (!*valid)
		return NULL;
	*id = (CalJointId){(uint32_t)joint + 1};
	for (int i = 0; i < hand->slider_count; i++)
		if (hand->sliders[i].joint.value == id->value && hand->sliders[i].dof == *dof)
			return &hand->sliders[i];
	return NULL;
}

static void set_joint_target(Hand *hand, CalSim *sim, const char *text) {
	double value;
	CalJointId id;
	int dof;
	bool valid;
	Slider *slider = find_slider(hand, text, &id, &dof, &valid);
	if (!valid || !command_number(text, "value", &value))
		return;
	if (!slider && hand->slider_count < MAX_SLIDERS) {
		slider = &hand->sliders[hand->slider_count++];
		*slider = (Slider){.joint = id, .dof = dof, .inertia = inertia_of(sim, id, dof)};
	}
	if (slider) {
		slider->on = true;
		slider->target = value;
	}
}

static void release_joint(Hand *hand, const char *text) {
	CalJointId id;
	int dof;
	bool valid;
	Slider *slider = find_slider(hand, text, &id, &dof, &valid);
	if (slider)
		slider->on = false;
}

void hand_obey(Hand *hand, CalSim *sim, const char *command) {
	if (command_is(command, "force"))
		set_pointer_force(hand, command);
	else if (command_is(command, "release"))
		hand->pushing = false;
	else if (command_is(command, "joint"))
		set_joint_target(hand, sim, command);
	else if (command_is(command, "release_joint"))
		release_joint(hand, command);
}

/* ---- making ----------------------------------------------------------------------------------------- */

Hand *hand_create(const CalSetup *setup, CalSim *sim, CalError *error) {
	Hand *hand = calloc(1, sizeof *hand);
	const CalDeviceDef device = {.name = "live hand",
	                             .ops = &hand_ops,
	                             .data = &hand,
	                             .data_size = sizeof hand,
	                             .wrench_count = 1,
	                             .accounts = 1};
	if (!hand)
		return NULL;
	hand->setup = setup;
	if (cal_sim_add_device(sim, &device, NULL, error) == CAL_OK)
		return hand;
	free(hand);
	return NULL;
}

void hand_destroy(Hand *hand) { free(hand); }
