// SPDX-License-Identifier: Apache-2.0
/*
 * monitor.c — looking at a simulation: what acts, what moves, what is conserved.
 *
 * A change of energy or momentum says something about the integration only if nothing acted that may
 * change it. So every input that the integrator sees is inspected: torques and wrenches that are not
 * zero and dofs that are driven may change the energy; wrenches, and whatever acts on a joint or a loop on the
 * ground, may change the momentum. Springs of joints and modes conserve energy, dampers do not; gravity and
 * anything but an unrestrained free joint on the ground changes the momentum. What acts on modes is internal: a motion
 * of the whole body does not move them.
 */
#include <math.h>
#include <string.h>

#include <calder/loops.h>
#include <calder/sim.h>

#include "dynamics/loop/loop_rows.h"
#include "dynamics/tree/energy.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"
#include "model/work.h"
#include "sim/sim_internal.h"

/* ---- what may change what ---------------------------------------------------------------------- */

static int spatial_nonzero(CalSpatial f) {
	return f.angular.x != 0 || f.angular.y != 0 || f.angular.z != 0 || f.linear.x != 0 || f.linear.y != 0 ||
	       f.linear.z != 0;
}

static int all_is_seen(const SimGroup *group) { return group->worked && (group->pushed & PUSHED_BY_INPUT); }

static void inspect_input(SimGroup *group, const CalState *state, const CalInput *input) {
	for (int i = 0; i < input->wrench_count; i++)
		if (spatial_nonzero(input->wrenches[i].f)) {
			group->worked = 1;
			group->pushed |= PUSHED_BY_INPUT;
		}
	const uint8_t *prescribed = forces_prescribed(group->model, input);
	if (!prescribed && !input->tau)
		return;
	int nu = cal_model_u_count(group->model);
	for (int u = 0; u < nu && !all_is_seen(group); u++) {
		int held = prescribed && prescribed[u];
		int driven = held && (state->u[u] != 0 || (input->udot && input->udot[u] != 0));
		int torque = !held && input->tau && input->tau[u] != 0;
		group->worked |= driven || torque;
		group->pushed |= group->root_dof[u] && (held || torque) ? PUSHED_BY_INPUT : 0;
	}
}

int group_input(SimGroup *group, const CalState *state, CalInput *input) {
	*input = (CalInput){0};
	int rc = group->input ? group->input(group->user, group->model, state, input) : 0;
	if (rc != 0)
		return rc;
	if (!all_is_seen(group))
		inspect_input(group, state, input);
	return 0;
}

static int modes_damped(const CalModel *model) {
	for (int i = 0; i < model->flex_count; i++) {
		const Flex *flex = &model->flexes[i];
		if (flex->ops && flex->ops->dissipated)
			return 1;
		for (int k = 0; flex->D && k < flex->m * flex->m; k++)
			if (flex->D[k] != 0)
				return 1;
	}
	return 0;
}

/* A knife runs on the ground too; a coupling acts there if one of its dofs does. */
static int loop_on_ground(const SimGroup *group, const Loop *loop) {
	for (int k = 0; k < loop->term_count; k++)
		if (group->root_dof[loop->term[k].u])
			return 1;
	const int sides[] = {loop->plus, loop->minus};
	for (int k = 0; k < 2 && !loop_type_has_terms(loop->type); k++)
		if (sides[k] < 0 || group->model->nodes[sides[k]].body < 0)
			return 1;
	return 0;
}

void group_classify(SimGroup *group) {
	const CalModel *model = group->model;
	group->loops_move = loop_drives_move(model);
	CalVec3 g = cal_model_gravity(model);
	group->energy_free = !modes_damped(model);
	group->momentum_free = g.x == 0 && g.y == 0 && g.z == 0;
	int nu = cal_model_u_count(model);
	for (int u = 0; u < nu; u++) {
		const Dof *dof = &model->dofs[u];
		const Body *body = &model->bodies[dof->body];
		group->root_dof[u] = body->parent < 0 && u < body->u + body->nu;
		group->energy_free &= dof->damping == 0;
		int restrained = dof->stiffness != 0 || dof->damping != 0 || dof->rotor != 0;
		group->momentum_free &= !(group->root_dof[u] && restrained);
	}
	for (int i = 0; i < model->body_count; i++)
		group->momentum_free &= model->bodies[i].parent >= 0 || model->bodies[i].type == CAL_JOINT_FREE;
	for (int i = 0; i < model->loop_count; i++)
		group->momentum_free &= !loop_on_ground(group, &model->loops[i]);
}

/* ---- observing --------------------------------------------------------------------------------- */

static SimGroup *group_at(CalSim *sim, int group) {
	return sim && group >= 0 && group < sim->group_count ? &sim->groups[group] : NULL;
}

/* What acts on a group at its present state. */
static CalStatus present_input(CalSim *sim, int group, CalInput *input) {
	SimGroup *g = &sim->groups[group];
	if (sim->device_count == 0 && sim->probe.kind == PROBE_NONE) {
		*input = (CalInput){0};
		return g->input && g->input(g->user, g->model, &g->state, input) != 0 ? CAL_ERR_USER : CAL_OK;
	}
	CalEvalContext context;
	CalStatus status = sim->started ? CAL_OK : cal_sim_restart(sim, NULL);
	if (status == CAL_OK)
		status = sim_evaluate_for_observers(sim, true, &context);
	*input = sim->system.inputs[group];
	sim->inputs_known = status == CAL_OK;
	return status;
}

CalStatus group_impose(SimGroup *group) {
	return group->motion(group->motion_user, group->model, group->state.t, group->state.q, group->state.u,
	                     group->udot) == 0
	           ? CAL_OK
	           : CAL_ERR_USER;
}

/* Of a group whose motion is given: every dof is driven. */
static CalStatus impose_input(SimGroup *g, CalInput *input) {
	memset(g->held, 1, (size_t)g->model->nu);
	input->prescribed = g->held;
	input->udot = g->given;
	return g->motion(g->motion_user, g->model, g->state.t, g->state.q, g->state.u, g->given) == 0 ? CAL_OK
	                                                                                              : CAL_ERR_USER;
}

/* With what acts on it known, as far as status says. */
static CalStatus view_group(SimGroup *g, const CalInput *input, CalStatus status, CalSimView *view) {
	*view = (CalSimView){.model = g->model,
	                     .state = &g->state,
	                     .input = *input,
	                     .udot = g->udot,
	                     .force = g->force,
	                     .work = g->view_work};
	if (status == CAL_OK && g->motion)
		status = impose_input(g, &view->input);
	if (status == CAL_OK)
		status = cal_hybrid_dynamics(g->model, &g->state, &view->input, g->view_work, g->udot, g->force);
	return status == CAL_OK ? cal_kinematics(g->model, &g->state, g->udot, g->view_work) : status;
}

CalStatus cal_sim_observe(CalSim *sim, int group, CalSimView *view) {
	SimGroup *g = group_at(sim, group);
	if (!g || !view)
		return CAL_ERR_ARGUMENT;
	CalInput input = {0};
	const CalStatus status = present_input(sim, group, &input);
	return view_group(g, &input, status, view);
}

CalStatus context_observe(CalEvalContext *context, int group, CalSimView *view) {
	CalSim *sim = context->sim;
	SimGroup *g = group_at(sim, group);
	CalEvalContext own;
	if (!g)
		return CAL_ERR_ARGUMENT;
	CalStatus status = sim_evaluate_for_observers(sim, true, &own);
	status = view_group(g, &sim->system.inputs[group], status, view);
	for (int i = 0; i < sim->group_count; i++)
		sim->groups[i].kinematics_known = false;
	if (context->status == CAL_OK)
		context->status = status;
	return status;
}

CalStatus cal_sim_observe_also(CalSim *sim, int group, CalSimView *view) {
	SimGroup *g = group_at(sim, group);
	if (!g || !view)
		return CAL_ERR_ARGUMENT;
	return sim->inputs_known ? view_group(g, &sim->system.inputs[group], CAL_OK, view)
	                         : cal_sim_observe(sim, group, view);
}

CalStatus cal_sim_observe_motion(CalSim *sim, int group, CalSimView *view) {
	SimGroup *g = group_at(sim, group);
	if (!g || !view)
		return CAL_ERR_ARGUMENT;
	*view = (CalSimView){.model = g->model, .state = &g->state, .work = g->view_work};
	CalStatus status = sim->started || sim->device_count == 0 ? CAL_OK : cal_sim_restart(sim, NULL);
	if (status == CAL_OK && g->motion)
		status = group_impose(g);
	if (status == CAL_OK)
		kinematics_reach(g->model, g->state.q, g->state.u, g->view_work);
	return status;
}

CalStatus cal_sim_inspect(CalSim *sim, CalInspectFn look, void *user) {
	if (!sim || !look)
		return CAL_ERR_ARGUMENT;
	CalEvalContext context = sim->adding ? context_adding(sim) : context_now(sim, true);
	const CalStatus status = look(user, &context);
	return status != CAL_OK ? status : context.status;
}

CalStatus group_start(SimGroup *group) {
	group->worked = group->loops_move || group->model->any_applied_wrench;
	group->pushed = 0;
	group->unaccounted = 0;
	energy_and_momentum(group->model, &group->state, group->view_work, &group->start_energy, &group->start_momentum);
	group->energy_scale = group->start_energy.kinetic;
	return CAL_OK;
}

static CalVec3 minus(CalVec3 a, CalVec3 b) { return (CalVec3){a.x - b.x, a.y - b.y, a.z - b.z}; }

/* From the rows that cal_loop_residual leaves in view_work. */
static void residuals(SimGroup *g, CalSimMonitor *monitor) {
	const LoopWork *rows = &g->view_work->loops;
	monitor->residual_row = -1;
	if (g->model->row_count == 0 || cal_loop_residual(g->model, &g->state, g->view_work, NULL, NULL) != CAL_OK)
		return;
	for (int i = 0; i < g->model->row_count; i++) {
		if (fabs(rows->row[i].value) > monitor->residual) {
			monitor->residual = fabs(rows->row[i].value);
			monitor->residual_row = i;
		}
		monitor->residual_rate = fmax(monitor->residual_rate, fabs(rows->row[i].rate));
	}
}

CalStatus cal_sim_monitor(CalSim *sim, int group, CalSimMonitor *monitor) {
	SimGroup *g = group_at(sim, group);
	if (!g || !monitor)
		return CAL_ERR_ARGUMENT;
	*monitor = (CalSimMonitor){0};
	CalStatus status = sim->started ? CAL_OK : cal_sim_restart(sim, NULL);
	if (status != CAL_OK)
		return status;
	balance_hold(sim, g);
	monitor->energy = g->energy;
	monitor->momentum = g->momentum;
	g->energy_scale = fmax(g->energy_scale, monitor->energy.kinetic);
	monitor->energy_change = monitor->energy.total - g->start_energy.total;
	monitor->energy_scale = g->energy_scale;
	monitor->linear_change = minus(monitor->momentum.linear, g->start_momentum.linear);
	monitor->angular_change = minus(monitor->momentum.angular_origin, g->start_momentum.angular_origin);
	residuals(g, monitor);
	monitor->energy_conserved = g->energy_free && !g->worked && !g->motion;
	monitor->momentum_free = g->momentum_free && !g->motion;
	monitor->momentum_conserved = monitor->momentum_free && !g->pushed;
	monitor->momentum_loaded = (g->pushed & PUSHED_BY_INPUT) != 0;
	return CAL_OK;
}
