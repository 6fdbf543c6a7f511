// SPDX-License-Identifier: Apache-2.0
/*
 * eval_context.c — the simulation at one instant: what devices read, what they push, and what acts on all groups
 * together.
 *
 * Kinematics of a group are computed when the first device asks for one of its nodes, in the workspace that the dynamics
 * of the same instant overwrite afterwards. Inputs of a group are left where their function put them until a device adds
 * to them; then they are copied into buffers of the group.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/device.h>
#include <calder/transition.h>

#include "dynamics/tree/forces.h"
#include "model/work.h"
#include "sim/subsystem.h"

/* ---- reading ------------------------------------------------------------------------------------- */

double cal_scene_time(const CalScene *scene) { return scene ? scene->t : 0; }

int cal_scene_group_count(const CalScene *scene) { return scene ? scene->sim->group_count : 0; }

static SimGroup *group_at(const CalScene *scene, int group) {
	return scene && group >= 0 && group < scene->sim->group_count ? &scene->sim->groups[group] : NULL;
}

const CalModel *cal_scene_model(const CalScene *scene, int group) {
	const SimGroup *g = group_at(scene, group);
	return g ? g->model : NULL;
}

const CalState *cal_scene_state(const CalScene *scene, int group) {
	return group_at(scene, group) ? &scene->parts[group] : NULL;
}

int cal_scene_find_node(const CalScene *scene, CalNodeId node, CalSite *site) {
	if (!scene || !site)
		return 0;
	*site = (CalSite){-1, -1};
	if (!node.value)
		return 1;
	const int group = sim_group_of(scene->sim, MODEL_NODES, node.value);
	if (group >= 0)
		*site = (CalSite){group, cal_model_node_index(scene->sim->groups[group].model, node)};
	return group >= 0;
}

int cal_scene_find_path(const CalScene *scene, const char *path, CalSite *site) {
	for (int i = 0; scene && path && site && i < scene->sim->group_count; i++) {
		const int node = cal_model_find_node(scene->sim->groups[i].model, path);
		if (node >= 0) {
			*site = (CalSite){i, node};
			return 1;
		}
	}
	return 0;
}

int cal_scene_find_joint(const CalScene *scene, const char *joint, int dof, CalFreedom *freedom) {
	for (int i = 0; scene && joint && freedom && i < scene->sim->group_count; i++) {
		const CalModel *model = scene->sim->groups[i].model;
		const int body = cal_model_find_joint(model, joint);
		if (body >= 0)
			return cal_sim_find_freedom(scene->sim, model->bodies[body].joint_id, dof, freedom);
	}
	return 0;
}

int cal_scene_find_freedom(const CalScene *scene, CalJointId joint, int dof, CalFreedom *freedom) {
	return scene ? cal_sim_find_freedom(scene->sim, joint, dof, freedom) : 0;
}

int cal_scene_find_group(const CalScene *scene, const char *name) {
	return scene ? cal_sim_find_group(scene->sim, name) : -1;
}

/* Keeps the first failure. */
static CalStatus note(CalScene *scene, CalStatus status) {
	if (scene->status == CAL_OK)
		scene->status = status;
	return status;
}

/* Where the speeds of a group are among those of all. */
static int scene_u_at(const CalScene *scene, int index) {
	int at = 0;
	for (int i = 0; i < index; i++)
		at += scene->sim->groups[i].model->nu;
	return at;
}

CalWork *scene_work(CalScene *scene, int index) {
	SimGroup *group = group_at(scene, index);
	if (!group)
		return NULL;
	CalWork *work = scene->viewing ? group->view_work : group->work;
	if (!group->kinematics_known) {
		const double *udot = scene->udot ? scene->udot + scene_u_at(scene, index) : NULL;
		const CalStatus status = cal_kinematics(group->model, &scene->parts[index], udot, work);
		group->kinematics_known = status == CAL_OK;
		note(scene, status);
	}
	return group->kinematics_known ? work : NULL;
}

CalStatus cal_scene_node(CalScene *scene, CalSite site, CalPose *pose, CalSpatial *velocity) {
	if (pose)
		*pose = (CalPose){.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
	if (velocity)
		*velocity = (CalSpatial){0};
	if (!scene)
		return CAL_ERR_ARGUMENT;
	if (site.group == -1)
		return CAL_OK;
	const SimGroup *group = group_at(scene, site.group);
	if (!group)
		return note(scene, CAL_ERR_ARGUMENT);
	const CalWork *work = scene_work(scene, site.group);
	CalStatus status = work ? CAL_OK : scene->status;
	if (status == CAL_OK && pose)
		status = cal_node_pose(group->model, work, site.node, pose);
	if (status == CAL_OK && velocity)
		status = cal_node_velocity(group->model, work, site.node, velocity);
	return note(scene, status);
}

double cal_scene_q(const CalScene *scene, CalFreedom freedom) {
	return group_at(scene, freedom.group) && freedom.q >= 0 ? scene->parts[freedom.group].q[freedom.q] : 0;
}

double cal_scene_u(const CalScene *scene, CalFreedom freedom) {
	return group_at(scene, freedom.group) && freedom.u >= 0 ? scene->parts[freedom.group].u[freedom.u] : 0;
}

double cal_scene_udot(const CalScene *scene, CalFreedom freedom) {
	return scene && scene->udot && group_at(scene, freedom.group) && freedom.u >= 0
	           ? scene->udot[scene_u_at(scene, freedom.group) + freedom.u]
	           : 0;
}

CalStatus cal_scene_acceleration(CalScene *scene, CalSite site, CalSpatial *acceleration) {
	if (!scene || !acceleration)
		return CAL_ERR_ARGUMENT;
	*acceleration = (CalSpatial){0};
	if (site.group == -1 || !scene->udot)
		return CAL_OK;
	const SimGroup *group = group_at(scene, site.group);
	const CalWork *work = group ? scene_work(scene, site.group) : NULL;
	if (!work)
		return note(scene, group ? scene->status : CAL_ERR_ARGUMENT);
	return note(scene, cal_node_acceleration(group->model, work, site.node, acceleration));
}

double cal_scene_step(const CalScene *scene) {
	if (!scene)
		return 0;
	const CalIntegratorOptions *method = &scene->sim->method;
	return method_is_fixed(method->method) ? method->step : 0;
}

/* ---- pushing ------------------------------------------------------------------------------------- */

static bool is_nonzero(CalSpatial f) {
	return f.angular.x != 0 || f.angular.y != 0 || f.angular.z != 0 || f.linear.x != 0 || f.linear.y != 0 ||
	       f.linear.z != 0;
}

/* The wrenches of the group's own input move to its buffer; false: there are too many. */
static bool own_wrenches(const CalScene *scene, SimGroup *group, CalInput *input) {
	if (!group->own_wrenches) {
		if (input->wrench_count > scene->sim->input_wrenches)
			return false;
		if (input->wrench_count > 0)
			memcpy(group->wrenches, input->wrenches, (size_t)input->wrench_count * sizeof *group->wrenches);
		input->wrenches = group->wrenches;
		group->own_wrenches = 1;
	}
	return true;
}

/* Of a wrench on a node of a group whose motion is given: whatever drives the group takes it. */
static void take_power(CalScene *scene, CalSite site, CalFrame frame, CalSpatial f) {
	CalPose pose;
	CalSpatial v;
	if (cal_scene_node(scene, site, &pose, &v) != CAL_OK)
		return;
	if (frame == CAL_FRAME_NODE) {
		const dmat3 R = dmat_in(&pose.R);
		f = (CalSpatial){dvec_out(dmat_mul_vec(R, dvec_in(f.angular))), dvec_out(dmat_mul_vec(R, dvec_in(f.linear)))};
	}
	cal_scene_supply(scene, -spatial_dot(spatial_in(f), spatial_in(v)));
}

CalStatus cal_scene_push(CalScene *scene, CalSite site, CalFrame frame, CalSpatial wrench) {
	if (!scene)
		return CAL_ERR_ARGUMENT;
	SimGroup *group = group_at(scene, site.group);
	if (site.group == -1)
		return CAL_OK;
	if (!scene->inputs)
		return note(scene, CAL_ERR_STAGE);
	if (!group || scene->room-- <= 0 || !own_wrenches(scene, group, &scene->inputs[site.group]))
		return note(scene, CAL_ERR_ARGUMENT);
	CalInput *input = &scene->inputs[site.group];
	group->wrenches[input->wrench_count++] = (CalWrench){site.node, frame, wrench};
	if (!scene->viewing && is_nonzero(wrench)) {
		group->worked = 1;
		group->pushed |= PUSHED_BY_DEVICE;
		if (group->motion)
			take_power(scene, site, frame, wrench);
	}
	return CAL_OK;
}

static CalSpatial opposite(CalSpatial f) {
	return (CalSpatial){{-f.angular.x, -f.angular.y, -f.angular.z}, {-f.linear.x, -f.linear.y, -f.linear.z}};
}

CalStatus cal_scene_push_pair(CalScene *scene, CalSite a, CalSite b, CalVec3 point, CalSpatial wrench) {
	if (!scene)
		return CAL_ERR_ARGUMENT;
	CalPose at_a, at_b;
	CalStatus status = cal_scene_node(scene, a, &at_a, NULL);
	if (status == CAL_OK)
		status = cal_scene_node(scene, b, &at_b, NULL);
	if (status == CAL_OK)
		status = cal_scene_push(scene, b, CAL_FRAME_WORLD, cal_wrench_shift(wrench, point, at_b.r));
	if (status == CAL_OK)
		status = cal_scene_push(scene, a, CAL_FRAME_WORLD, cal_wrench_shift(opposite(wrench), point, at_a.r));
	return status;
}

CalStatus cal_scene_effort(CalScene *scene, CalFreedom freedom, double effort) {
	if (!scene)
		return CAL_ERR_ARGUMENT;
	SimGroup *group = group_at(scene, freedom.group);
	if (!scene->inputs)
		return note(scene, CAL_ERR_STAGE);
	if (!group || freedom.u < 0 || freedom.u >= group->model->nu)
		return note(scene, CAL_ERR_ARGUMENT);
	CalInput *input = &scene->inputs[freedom.group];
	if (!group->own_tau) {
		const size_t size = (size_t)group->model->nu * sizeof *group->tau;
		if (input->tau)
			memcpy(group->tau, input->tau, size);
		else
			memset(group->tau, 0, size);
		input->tau = group->tau;
		group->own_tau = 1;
	}
	group->tau[freedom.u] += effort;
	if (!scene->viewing && effort != 0) {
		group->worked = 1;
		group->pushed |= group->root_dof[freedom.u] ? PUSHED_BY_DEVICE : 0;
		if (group->motion)
			cal_scene_supply(scene, -effort * cal_scene_u(scene, freedom));
	}
	return CAL_OK;
}

void cal_scene_store(CalScene *scene, double energy) {
	if (scene)
		scene->stored += energy;
}

void cal_scene_dissipate(CalScene *scene, double power) {
	if (scene)
		scene->dissipated += power;
}

void cal_scene_supply(CalScene *scene, double power) {
	if (scene)
		scene->supplied += power;
}

void cal_scene_carry(CalScene *scene, CalVec3 linear, CalVec3 angular) {
	if (!scene)
		return;
	scene->linear = (CalVec3){scene->linear.x + linear.x, scene->linear.y + linear.y, scene->linear.z + linear.z};
	scene->angular =
		(CalVec3){scene->angular.x + angular.x, scene->angular.y + angular.y, scene->angular.z + angular.z};
}

void cal_scene_explain(CalScene *scene, const char *why) {
	if (!scene)
		return;
	snprintf(scene->sim->why_failed, sizeof scene->sim->why_failed, "%s", why ? why : "");
}

/* ---- scenes -------------------------------------------------------------------------------------- */

static CalScene scene_open(CalSim *sim, double t, const CalState *parts, const double *x, CalInput *inputs,
                           bool viewing) {
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		group->own_tau = group->own_wrenches = group->own_drive = 0;
		group->kinematics_known = false;
	}
	return (CalScene){.sim = sim, .t = t, .parts = parts, .x = x, .inputs = inputs, .viewing = viewing};
}

CalScene scene_now(CalSim *sim, bool viewing) {
	sim_gather(sim);
	for (int i = 0; i < sim->group_count; i++)
		sim->whole.states[i] = sim->groups[i].state;
	return scene_open(sim, sim->whole.now.t, sim->whole.states, sim->whole.now.x, NULL, viewing);
}

CalScene scene_adding(CalSim *sim) {
	return (CalScene){.sim = sim, .t = sim->groups[0].state.t, .parts = sim->whole.states, .viewing = true};
}

CalDevice scene_device(const CalScene *scene, const SimDevice *device) {
	CalDevice view = device->is;
	view.x = scene->x ? scene->x + device->x_at : device->x;
	return view;
}

CalStatus scene_failed(CalScene *scene, int device, int code) {
	if (code != 0)
		note(scene, CAL_ERR_USER);
	if (scene->status != CAL_OK)
		scene->sim->failed_device = device;
	return scene->status;
}

CalStatus scene_output(CalScene *scene, int index, int output, double *value) {
	const SimDevice *device = &scene->sim->devices[index];
	const CalDeviceOps *ops = device->def.ops;
	double outputs[SCENE_OUTPUTS] = {0};
	*value = 0;
	if (!device->active || !ops->outputs)
		return CAL_OK;
	if (scene->asking >= SCENE_ASKING || ops->output_count > SCENE_OUTPUTS)
		return note(scene, CAL_ERR_USER);
	const CalDevice view = scene_device(scene, device);
	scene->asking++;
	const int code = ops->outputs(&view, scene, outputs);
	scene->asking--;
	*value = outputs[output];
	return code ? note(scene, CAL_ERR_USER) : scene->status;
}

CalStatus scene_evaluate(CalScene *scene, double *xdot) {
	CalSim *sim = scene->sim;
	for (int i = 0; i < sim->device_count; i++) {
		const SimDevice *device = &sim->devices[i];
		if (!device->active)
			continue;
		const CalDevice view = scene_device(scene, device);
		scene->room = device->def.wrench_count;
		if (device->def.ops->drive && drives_act(scene, device) != CAL_OK)
			return scene_failed(scene, i, 0);
		int code = device->def.ops->evaluate(&view, scene, xdot + device->x_at);
		if (scene_failed(scene, i, code) != CAL_OK)
			return scene->status;
	}
	return sim->boxes && !scene->partial ? boxes_solve(scene, xdot) : CAL_OK;
}

/* ---- everything that acts ------------------------------------------------------------------------ */

/* Power that dampers of joints and modes take out of a group; own as in SimGroup. */
static double damping_power(const CalModel *model, const double *u, const uint8_t *own) {
	double power = 0;
	for (int i = 0; model->any_damping && i < model->nu; i++)
		power += !own || own[i] ? model->damping[i] * u[i] * u[i] : 0;
	for (int f = 0; f < model->flex_count; f++) {
		const Flex *flex = &model->flexes[f];
		const double *rate = u + flex->u;
		for (int i = 0; flex->D && i < flex->m && (!own || own[flex->u]); i++)
			for (int k = 0; k < flex->m; k++)
				power += rate[i] * flex->D[i * flex->m + k] * rate[k];
	}
	return power;
}

/* Of prescribed dofs too: the force that the dynamics find for these is what it takes beyond the effort. */
static double effort_power(const CalModel *model, const CalInput *input, const double *u, const uint8_t *own) {
	double power = 0;
	for (int i = 0; input->tau && i < model->nu; i++)
		power += own && !own[i] ? 0 : input->tau[i] * u[i];
	return power;
}

/* Power of the wrenches of the group's own input and of its loops; a rank that has not all branches cannot tell. */
static double wrench_power(CalScene *scene, int index) {
	SimGroup *group = &scene->sim->groups[index];
	const CalInput *input = &scene->inputs[index];
	bool any = group->model->any_known != 0;
	for (int i = 0; i < input->wrench_count && !any; i++)
		any = is_nonzero(input->wrenches[i].f);
	if (!any)
		return 0;
	if (forces_check(group->model, input) != CAL_OK)
		return 0; // the dynamics refuse it
	const CalWork *work = group->own ? NULL : scene_work(scene, index);
	group->unaccounted |= !work;
	return work ? forces_power(group->model, work, input) : 0;
}

CalStatus sim_act(void *user, const CalState *state, const CalState *parts, CalInput *inputs, double *xdot) {
	CalSim *sim = user;
	CalScene scene = scene_open(sim, state->t, parts, state->x, inputs, false);
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		if (group->motion)
			continue;
		if (group_input(group, &parts[i], &inputs[i]) != 0) {
			sim->refused_group = i;
			return CAL_ERR_USER;
		}
		scene.dissipated += damping_power(group->model, parts[i].u, group->own);
		scene.supplied += effort_power(group->model, &inputs[i], parts[i].u, group->own) + wrench_power(&scene, i);
	}
	CalStatus status = scene_evaluate(&scene, xdot);
	if (sim->ranks && !isfinite(scene.dissipated + scene.supplied)) {
		distribute_note_failure(sim);
		scene.dissipated = scene.supplied = 0;
	}
	double *account = xdot + sim->whole.nx - ACCOUNTS;
	account[ACCOUNT_DISSIPATED] = scene.dissipated;
	account[ACCOUNT_SUPPLIED] = scene.supplied;
	return status;
}

CalStatus sim_view(CalSim *sim, bool with_inputs, CalScene *scene) {
	*scene = scene_now(sim, true);
	scene->inputs = sim->whole.inputs;
	scene->partial = !with_inputs;
	memset(sim->whole.xdot, 0, (size_t)sim->whole.nx * sizeof(double));
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		sim->whole.inputs[i] = (CalInput){0};
		if (with_inputs && !group->motion && group->input &&
		    group->input(group->user, group->model, &group->state, &sim->whole.inputs[i]) != 0)
			return CAL_ERR_USER;
	}
	return scene_evaluate(scene, sim->whole.xdot);
}
