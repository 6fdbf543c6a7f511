// SPDX-License-Identifier: Apache-2.0
/*
 * eval_context.c — the simulation at one instant: what devices read, which forces they apply, and what acts on all
 * groups together.
 *
 * Kinematics of a group are computed when the first device asks for one of its nodes, in the workspace that the
 * dynamics of the same instant overwrite afterwards. Inputs of a group are left where their function put them until a
 * device adds to them; then they are copied into buffers of the group.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/device.h>
#include <calder/transition.h>

#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"
#include "integrate/scheme.h"
#include "model/work.h"
#include "sim/subsystem/subsystem.h"

/* ---- reading ------------------------------------------------------------------------------------- */

double cal_context_time(const CalEvalContext *context) { return context ? context->t : 0; }

int cal_context_group_count(const CalEvalContext *context) { return context ? context->sim->group_count : 0; }

static SimGroup *group_at(const CalEvalContext *context, int group) {
	return context && group >= 0 && group < context->sim->group_count ? &context->sim->groups[group] : NULL;
}

const CalModel *cal_context_model(const CalEvalContext *context, int group) {
	const SimGroup *g = group_at(context, group);
	return g ? g->model : NULL;
}

const CalState *cal_context_state(const CalEvalContext *context, int group) {
	return group_at(context, group) ? &context->parts[group] : NULL;
}

int cal_context_find_node(const CalEvalContext *context, CalNodeId node, CalNodeRef *node_ref) {
	if (!context || !node_ref)
		return 0;
	*node_ref = (CalNodeRef){-1, -1};
	if (!node.value)
		return 1;
	const int group = sim_group_of(context->sim, MODEL_NODES, node.value);
	if (group >= 0)
		*node_ref = (CalNodeRef){group, cal_model_node_index(context->sim->groups[group].model, node)};
	return group >= 0;
}

int cal_context_find_node_by_name(const CalEvalContext *context, const char *path, CalNodeRef *node_ref) {
	for (int i = 0; context && path && node_ref && i < context->sim->group_count; i++) {
		const int node = cal_model_find_node(context->sim->groups[i].model, path);
		if (node >= 0) {
			*node_ref = (CalNodeRef){i, node};
			return 1;
		}
	}
	return 0;
}

int cal_context_find_dof_by_name(const CalEvalContext *context, const char *joint, int dof, CalDofRef *dof_ref) {
	for (int i = 0; context && joint && dof_ref && i < context->sim->group_count; i++) {
		const CalModel *model = context->sim->groups[i].model;
		const int body = cal_model_find_joint(model, joint);
		if (body >= 0)
			return cal_sim_find_dof(context->sim, model->bodies[body].joint_id, dof, dof_ref);
	}
	return 0;
}

int cal_context_find_dof(const CalEvalContext *context, CalJointId joint, int dof, CalDofRef *dof_ref) {
	return context ? cal_sim_find_dof(context->sim, joint, dof, dof_ref) : 0;
}

int cal_context_find_mode(const CalEvalContext *context, CalBodyId body, int mode, CalDofRef *dof_ref) {
	return context ? cal_sim_find_mode(context->sim, body, mode, dof_ref) : 0;
}

int cal_context_find_group(const CalEvalContext *context, const char *name) {
	return context ? cal_sim_find_group(context->sim, name) : -1;
}

/* Keeps the first failure. */
static CalStatus note_status(CalEvalContext *context, CalStatus status) {
	if (context->status == CAL_OK)
		context->status = status;
	return status;
}

/* Where the speeds of a group are among those of all. */
static int context_u_at(const CalEvalContext *context, int index) {
	int at = 0;
	for (int i = 0; i < index; i++)
		at += context->sim->groups[i].model->nu;
	return at;
}

CalWork *context_work(CalEvalContext *context, int index) {
	SimGroup *group = group_at(context, index);
	if (!group)
		return NULL;
	CalWork *work = context->viewing ? group->view_work : group->work;
	if (!group->kinematics_known) {
		const double *udot = context->udot ? context->udot + context_u_at(context, index) : NULL;
		const CalState *state = &context->parts[index];
		CalStatus status = CAL_OK;
		if (udot)
			status = cal_kinematics(group->model, state, udot, work);
		else if (context->viewing)
			kinematics_reach(group->model, state->q, state->u, work);
		else
			kinematics_begin_forward(group->model, state->q, state->u, work);
		group->kinematics_known = status == CAL_OK;
		note_status(context, status);
	}
	return group->kinematics_known ? work : NULL;
}

/* A rank of several that knows the states of its own branches alone. */
static bool is_partial(const CalEvalContext *context) {
	return !context->viewing && distribute_is_partial(context->sim);
}

/* What the ranks have sent each other before the evaluation; nodes on the ground rest. */
static CalStatus motion_on_ranks(const CalEvalContext *context, CalNodeRef node_ref, CalPose *pose,
                                 CalSpatial *velocity) {
	const CalModel *model = context->sim->groups[node_ref.group].model;
	CalPose found_pose;
	CalSpatial found_velocity = {0};
	CalStatus status = CAL_ERR_ARGUMENT;
	if (node_ref.node < 0 || node_ref.node >= model->node_count)
		return status;
	const Node *node = &model->nodes[node_ref.node];
	if (node->link < 0) {
		found_pose = (CalPose){dmat_out(node->in_link.R), dvec_out(node->in_link.r)};
		status = CAL_OK;
	} else {
		status = distribute_node_motion(context->sim, context->device, node_ref, &found_pose, &found_velocity);
	}
	if (pose && status == CAL_OK)
		*pose = found_pose;
	if (velocity)
		*velocity = found_velocity;
	return status;
}

CalStatus cal_context_node_motion(CalEvalContext *context, CalNodeRef node_ref, CalPose *pose, CalSpatial *velocity) {
	if (pose)
		*pose = (CalPose){.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
	if (velocity)
		*velocity = (CalSpatial){0};
	if (!context)
		return CAL_ERR_ARGUMENT;
	if (node_ref.group == -1)
		return CAL_OK;
	const SimGroup *group = group_at(context, node_ref.group);
	if (!group)
		return note_status(context, CAL_ERR_ARGUMENT);
	if (is_partial(context) && !group->motion)
		return note_status(context, motion_on_ranks(context, node_ref, pose, velocity));
	const CalWork *work = context_work(context, node_ref.group);
	if (!work)
		return context->status;
	if (node_ref.node < 0 || node_ref.node >= group->model->node_count)
		return note_status(context, CAL_ERR_ARGUMENT);
	kinematics_node_motion(group->model, work, node_ref.node, pose, velocity);
	return CAL_OK;
}

/* The same of its origin alone, once its motion was asked for. */
static CalStatus node_origin(CalEvalContext *context, CalNodeRef node_ref, CalVec3 *r) {
	const SimGroup *group = group_at(context, node_ref.group);
	const bool known =
		group && group->kinematics_known && node_ref.node >= 0 && node_ref.node < group->model->node_count;
	if (known && (!is_partial(context) || group->motion)) {
		*r = kinematics_node_origin(group->model, context_work(context, node_ref.group), node_ref.node);
		return CAL_OK;
	}
	CalPose pose;
	const CalStatus status = cal_context_node_motion(context, node_ref, &pose, NULL);
	*r = pose.r;
	return status;
}

double cal_context_q(const CalEvalContext *context, CalDofRef dof_ref) {
	return group_at(context, dof_ref.group) && dof_ref.q >= 0 ? context->parts[dof_ref.group].q[dof_ref.q] : 0;
}

double cal_context_u(const CalEvalContext *context, CalDofRef dof_ref) {
	return group_at(context, dof_ref.group) && dof_ref.u >= 0 ? context->parts[dof_ref.group].u[dof_ref.u] : 0;
}

double cal_context_udot(const CalEvalContext *context, CalDofRef dof_ref) {
	return context && context->udot && group_at(context, dof_ref.group) && dof_ref.u >= 0
	           ? context->udot[context_u_at(context, dof_ref.group) + dof_ref.u]
	           : 0;
}

CalStatus cal_context_node_acceleration(CalEvalContext *context, CalNodeRef node_ref, CalSpatial *acceleration) {
	if (!context || !acceleration)
		return CAL_ERR_ARGUMENT;
	*acceleration = (CalSpatial){0};
	if (node_ref.group == -1 || !context->udot)
		return CAL_OK;
	const SimGroup *group = group_at(context, node_ref.group);
	const CalWork *work = group ? context_work(context, node_ref.group) : NULL;
	if (!work)
		return note_status(context, group ? context->status : CAL_ERR_ARGUMENT);
	return note_status(context, cal_node_acceleration(group->model, work, node_ref.node, acceleration));
}

double cal_context_fixed_step(const CalEvalContext *context) {
	if (!context)
		return 0;
	const CalIntegratorOptions *method = &context->sim->method;
	return method_is_fixed(method->method) ? method->step : 0;
}

/* ---- pushing ------------------------------------------------------------------------------------- */

static bool is_nonzero(CalSpatial f) {
	return f.angular.x != 0 || f.angular.y != 0 || f.angular.z != 0 || f.linear.x != 0 || f.linear.y != 0 ||
	       f.linear.z != 0;
}

/* The wrenches of the group's own input move to its buffer; false: there are too many. */
static bool own_wrenches(const CalEvalContext *context, SimGroup *group, CalInput *input) {
	if (!group->own_wrenches) {
		if (input->wrench_count > context->sim->input_wrenches)
			return false;
		if (input->wrench_count > 0)
			memcpy(group->wrenches, input->wrenches, (size_t)input->wrench_count * sizeof *group->wrenches);
		input->wrenches = group->wrenches;
		group->own_wrenches = 1;
	}
	return true;
}

/* Of a wrench on a node of a group whose motion is given: whatever drives the group takes it. */
static void take_power(CalEvalContext *context, CalNodeRef node_ref, CalFrame frame, CalSpatial f) {
	CalPose pose;
	CalSpatial v;
	if (cal_context_node_motion(context, node_ref, &pose, &v) != CAL_OK)
		return;
	if (frame == CAL_FRAME_NODE) {
		const dmat3 R = dmat_in(&pose.R);
		f = (CalSpatial){dvec_out(dmat_mul_vec(R, dvec_in(f.angular))), dvec_out(dmat_mul_vec(R, dvec_in(f.linear)))};
	}
	cal_context_add_supplied_power(context, -spatial_dot(spatial_in(f), spatial_in(v)));
}

CalStatus cal_context_apply_wrench(CalEvalContext *context, CalNodeRef node_ref, CalFrame frame, CalSpatial wrench) {
	if (!context)
		return CAL_ERR_ARGUMENT;
	SimGroup *group = group_at(context, node_ref.group);
	if (node_ref.group == -1)
		return CAL_OK;
	if (!context->inputs)
		return note_status(context, CAL_ERR_STAGE);
	if (!group || context->room-- <= 0 || !own_wrenches(context, group, &context->inputs[node_ref.group]))
		return note_status(context, CAL_ERR_ARGUMENT);
	CalInput *input = &context->inputs[node_ref.group];
	group->wrenches[input->wrench_count++] = (CalWrench){node_ref.node, frame, wrench};
	if (!context->viewing && is_nonzero(wrench)) {
		group->worked = 1;
		group->pushed |= PUSHED_BY_DEVICE;
		if (group->motion)
			take_power(context, node_ref, frame, wrench);
	}
	return CAL_OK;
}

static CalSpatial opposite(CalSpatial f) {
	return (CalSpatial){{-f.angular.x, -f.angular.y, -f.angular.z}, {-f.linear.x, -f.linear.y, -f.linear.z}};
}

CalStatus cal_context_apply_wrench_pair(CalEvalContext *context, CalNodeRef a, CalNodeRef b, CalVec3 point,
                                        CalSpatial wrench) {
	if (!context)
		return CAL_ERR_ARGUMENT;
	CalVec3 at_a, at_b;
	CalStatus status = node_origin(context, a, &at_a);
	if (status == CAL_OK)
		status = node_origin(context, b, &at_b);
	if (status == CAL_OK)
		status = cal_context_apply_wrench(context, b, CAL_FRAME_WORLD, cal_wrench_shift(wrench, point, at_b));
	if (status == CAL_OK)
		status = cal_context_apply_wrench(context, a, CAL_FRAME_WORLD, cal_wrench_shift(opposite(wrench), point, at_a));
	return status;
}

CalStatus cal_context_apply_effort(CalEvalContext *context, CalDofRef dof_ref, double effort) {
	if (!context)
		return CAL_ERR_ARGUMENT;
	SimGroup *group = group_at(context, dof_ref.group);
	if (!context->inputs)
		return note_status(context, CAL_ERR_STAGE);
	if (!group || dof_ref.u < 0 || dof_ref.u >= group->model->nu)
		return note_status(context, CAL_ERR_ARGUMENT);
	CalInput *input = &context->inputs[dof_ref.group];
	if (!group->own_tau) {
		const size_t size = (size_t)group->model->nu * sizeof *group->tau;
		if (input->tau)
			memcpy(group->tau, input->tau, size);
		else
			memset(group->tau, 0, size);
		input->tau = group->tau;
		group->own_tau = 1;
	}
	group->tau[dof_ref.u] += effort;
	if (!context->viewing && effort != 0) {
		group->worked = 1;
		group->pushed |= group->root_dof[dof_ref.u] ? PUSHED_BY_DEVICE : 0;
		if (group->motion)
			cal_context_add_supplied_power(context, -effort * cal_context_u(context, dof_ref));
	}
	return CAL_OK;
}

void cal_context_add_stored_energy(CalEvalContext *context, double energy) {
	if (context)
		context->stored += energy;
}

void cal_context_add_dissipated_power(CalEvalContext *context, double power) {
	if (context)
		context->dissipated += power;
}

void cal_context_add_supplied_power(CalEvalContext *context, double power) {
	if (context)
		context->supplied += power;
}

void cal_context_add_momentum(CalEvalContext *context, CalVec3 linear, CalVec3 angular) {
	if (!context)
		return;
	context->linear =
		(CalVec3){context->linear.x + linear.x, context->linear.y + linear.y, context->linear.z + linear.z};
	context->angular =
		(CalVec3){context->angular.x + angular.x, context->angular.y + angular.y, context->angular.z + angular.z};
}

void cal_context_explain_failure(CalEvalContext *context, const char *why) {
	if (!context)
		return;
	snprintf(context->sim->why_failed, sizeof context->sim->why_failed, "%s", why ? why : "");
}

void context_note_unbound(const CalEvalContext *context, const char *why) {
	snprintf(context->sim->why_failed, sizeof context->sim->why_failed, "%s", why);
}

/* ---- contexts ------------------------------------------------------------------------------------ */

static CalEvalContext context_open(CalSim *sim, double t, const CalState *parts, const double *x, CalInput *inputs,
                                   bool viewing) {
	sim->inputs_known = false;
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		group->own_tau = group->own_wrenches = group->own_drive = 0;
		group->kinematics_known = false;
	}
	return (CalEvalContext){.sim = sim, .t = t, .parts = parts, .x = x, .inputs = inputs, .viewing = viewing};
}

CalEvalContext context_now(CalSim *sim, bool viewing) {
	sim_gather(sim);
	for (int i = 0; i < sim->group_count; i++)
		sim->system.states[i] = sim->groups[i].state;
	return context_open(sim, sim->system.now.t, sim->system.states, sim->system.now.x, NULL, viewing);
}

CalEvalContext context_adding(CalSim *sim) {
	return (CalEvalContext){.sim = sim, .t = sim->groups[0].state.t, .parts = sim->system.states, .viewing = true};
}

CalDevice context_device(const CalEvalContext *context, const SimDevice *device) {
	CalDevice view = device->is;
	view.x = context->x ? context->x + device->x_at : device->x;
	return view;
}

CalStatus context_failed(CalEvalContext *context, int device, int code) {
	if (code != 0)
		note_status(context, CAL_ERR_USER);
	if (context->status != CAL_OK)
		context->sim->failed_device = device;
	return context->status;
}

CalStatus context_output(CalEvalContext *context, int index, int output, double *value) {
	const SimDevice *device = &context->sim->devices[index];
	const CalDeviceOps *ops = device->def.ops;
	double outputs[CONTEXT_OUTPUTS] = {0};
	*value = 0;
	if (!device->active || !ops->outputs)
		return CAL_OK;
	if (context->asking >= CONTEXT_MAX_DEPTH || ops->output_count > CONTEXT_OUTPUTS)
		return note_status(context, CAL_ERR_USER);
	const CalDevice view = context_device(context, device);
	context->asking++;
	const int code = ops->outputs(&view, context, outputs);
	context->asking--;
	*value = outputs[output];
	return code ? note_status(context, CAL_ERR_USER) : context->status;
}

/* One device; on a rank that is not its owner, without its accounts. */
static CalStatus evaluate_device(CalEvalContext *context, int index, double *xdot) {
	CalSim *sim = context->sim;
	const SimDevice *device = &sim->devices[index];
	const CalDevice view = context_device(context, device);
	const double dissipated = context->dissipated, supplied = context->supplied;
	context->device = index;
	context->room = device->def.wrench_count;
	if (device->def.ops->drive && drives_act(context, device) != CAL_OK)
		return context_failed(context, index, 0);
	const int code = device->def.ops->evaluate(&view, context, xdot + device->x_at);
	if (is_partial(context) && !distribute_owns_device(sim, index))
		context->dissipated = dissipated, context->supplied = supplied;
	return context_failed(context, index, code);
}

/*
 * What devices do: forces into context->inputs, their rates into xdot (NULL: not wanted). A rank on which one fails must not
 * stop, since others wait for it: the advance is taken once more with all states, and ends there.
 */
static CalStatus context_evaluate(CalEvalContext *context, double *xdot) {
	CalSim *sim = context->sim;
	const bool partial = is_partial(context);
	for (int i = 0; i < sim->device_count; i++) {
		if (!sim->devices[i].active || (partial && !distribute_has_device(sim, i)))
			continue;
		if (evaluate_device(context, i, xdot) == CAL_OK)
			continue;
		if (!partial)
			return context->status;
		distribute_note_failure(sim);
		context->status = CAL_OK;
	}
	return sim->subsystems && !context->partial ? subsystems_solve(context, xdot) : CAL_OK;
}

/* ---- everything that acts ------------------------------------------------------------------------ */

/* Of prescribed dofs too: the force that the dynamics find for these is what it takes beyond the effort. */
static double effort_power(const CalModel *model, const CalInput *input, const double *u, const uint8_t *own) {
	double power = 0;
	for (int i = 0; input->tau && i < model->nu; i++)
		power += own && !own[i] ? 0 : input->tau[i] * u[i];
	return power;
}

/* Power of the wrenches of the group's own input and of its loops; a rank that has not all branches does not know it. */
static double wrench_power(CalEvalContext *context, int index) {
	SimGroup *group = &context->sim->groups[index];
	const CalInput *input = &context->inputs[index];
	bool any = group->model->any_applied_wrench != 0;
	for (int i = 0; i < input->wrench_count && !any; i++)
		any = is_nonzero(input->wrenches[i].f);
	if (!any)
		return 0;
	if (forces_check(group->model, input) != CAL_OK)
		return 0; // the dynamics refuse it
	const CalWork *work = group->own ? NULL : context_work(context, index);
	group->unaccounted |= !work;
	return work ? forces_power(group->model, work, input) : 0;
}

/* All that acts at an instant, with its accounts in the context. */
static CalStatus evaluate_acting(CalSim *sim, const CalState *state, const CalState *parts, CalInput *inputs,
                                 double *xdot, CalEvalContext *context) {
	*context = context_open(sim, state->t, parts, state->x, inputs, false);
	context->partial = integrator_is_projecting(sim->system.integrator);
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		if (group->motion)
			continue;
		if (group_input(group, &parts[i], &inputs[i]) != 0) {
			sim->refused_group = i;
			return CAL_ERR_USER;
		}
		context->dissipated += forces_damping_power(group->model, parts[i].q, parts[i].u, group->own, group->work);
		context->supplied += effort_power(group->model, &inputs[i], parts[i].u, group->own) + wrench_power(context, i);
	}
	const CalStatus status = is_partial(context) ? distribute_exchange_motions(sim, parts) : CAL_OK;
	return status == CAL_OK ? context_evaluate(context, xdot) : status;
}

CalStatus sim_evaluate_inputs(void *user, const CalState *state, const CalState *parts, CalInput *inputs,
                              double *xdot) {
	CalSim *sim = user;
	CalEvalContext context;
	const CalStatus status = evaluate_acting(sim, state, parts, inputs, xdot, &context);
	if (sim->ranks && !isfinite(context.dissipated + context.supplied)) {
		distribute_note_failure(sim);
		context.dissipated = context.supplied = 0;
	}
	double *account = xdot + sim->system.nx - ACCOUNTS;
	account[ACCOUNT_DISSIPATED] = context.dissipated;
	account[ACCOUNT_SUPPLIED] = context.supplied;
	return status;
}

CalStatus sim_evaluate_at(CalSim *sim, const CalState *state, CalInput *input, CalEvalContext *context) {
	memset(sim->system.xdot, 0, (size_t)sim->system.nx * sizeof(double));
	return evaluate_acting(sim, state, state, input, sim->system.xdot, context);
}

void context_probe(const CalEvalContext *context, const CalDevice *device, const char *name, double *command) {
	SimProbe *probe = &context->sim->probe;
	if (probe->kind != PROBE_COMMAND || !context->viewing || probe->data != device->data)
		return;
	if (strcmp(probe->name, name) != 0) {
		const size_t used = strlen(probe->others);
		if (!probe->met && !strstr(probe->others, name))
			snprintf(probe->others + used, sizeof probe->others - used, "%s%s", used ? ", " : "", name);
		return;
	}
	probe->met = true;
	*command += probe->value;
}

static CalStatus apply_probe(CalEvalContext *context) {
	const SimProbe *probe = &context->sim->probe;
	CalWrench wrench = probe->wrench;
	if (probe->kind == PROBE_EFFORT)
		return cal_context_apply_effort(context, (CalDofRef){probe->group, probe->dof, -1}, probe->value);
	if (probe->kind != PROBE_WRENCH)
		return CAL_OK;
	double *f[] = {&wrench.f.angular.x, &wrench.f.angular.y, &wrench.f.angular.z,
	               &wrench.f.linear.x,  &wrench.f.linear.y,  &wrench.f.linear.z};
	for (int i = 0; i < 6; i++)
		*f[i] *= probe->value;
	context->room = 1;
	return cal_context_apply_wrench(context, (CalNodeRef){probe->group, wrench.node}, wrench.frame, wrench.f);
}

CalStatus sim_evaluate_for_observers(CalSim *sim, bool with_inputs, CalEvalContext *context) {
	*context = context_now(sim, true);
	context->inputs = sim->system.inputs;
	context->partial = !with_inputs;
	memset(sim->system.xdot, 0, (size_t)sim->system.nx * sizeof(double));
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *group = &sim->groups[i];
		sim->system.inputs[i] = (CalInput){0};
		if (with_inputs && !group->motion && group->input &&
		    group->input(group->user, group->model, &group->state, &sim->system.inputs[i]) != 0)
			return CAL_ERR_USER;
	}
	const CalStatus status = context_evaluate(context, sim->system.xdot);
	return status == CAL_OK && with_inputs ? apply_probe(context) : status;
}
