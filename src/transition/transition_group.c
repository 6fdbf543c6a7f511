// SPDX-License-Identifier: Apache-2.0
/*
 * transition_group.c — how a group is propagated: flexible, rigid or kinematic, switched in a run.
 *
 * The propagation is part of the description of the group; compilation prescribes its modes, or everything. What is
 * prescribed from now on stops by the impulse of a lock (transition_lock.c), which is internal to the group: its momentum
 * stays, unless the ground holds it. Free roots of a kinematic group keep the velocity that the impulse leaves them. What
 * becomes free again keeps its speed.
 */
#include <string.h>

#include "base/error.h"
#include "dynamics/tree/energy.h"
#include "math/vec.h"
#include "model/model.h"
#include "transition/topology_edit.h"

static void mark_modes(const CalModel *model, uint8_t *stops) {
	for (int i = 0; i < model->flex_count; i++)
		memset(stops + model->flexes[i].u, 1, (size_t)model->flexes[i].m);
}

/* All but what is driven or prescribed already, which keeps its speed, and free roots. */
static CalStatus mark_all(const SimGroup *group, uint8_t *stops) {
	const CalModel *model = group->model;
	const uint8_t *kept = group_kept(group);
	for (int u = 0; kept && u < model->nu; u++)
		stops[u] = !kept[u];
	for (int i = 0; i < model->body_count; i++) {
		const Body *body = &model->bodies[i];
		if (body->parent < 0 && body->type == CAL_JOINT_FREE)
			memset(stops + body->u, 0, (size_t)body->nu);
	}
	return kept ? CAL_OK : CAL_ERR_USER;
}

static CalStatus propagate(TopologyEdit *c, uint32_t group, CalPropagation propagation, CalTransition *report) {
	c->group[0] = group;
	c->made_count = 1;
	edit_add_group(c, group);
	const SimGroup *old = &c->sim->groups[c->old[0]];
	uint8_t *stops = edit_clear_locks(c);
	c->t->desc->groups[group - 1].propagation = propagation;
	if (propagation == CAL_PROPAGATE_FLEXIBLE)
		return CAL_OK;
	if (propagation == CAL_PROPAGATE_RIGID)
		mark_modes(old->model, stops);
	const CalStatus status = propagation == CAL_PROPAGATE_KINEMATIC ? mark_all(old, stops) : CAL_OK;
	return status == CAL_OK ? edit_apply_locks(c, report) : status;
}

CalPropagation cal_sim_propagation(const CalSim *sim, int group) {
	const CalModel *model = cal_sim_model(sim, group);
	return model && sim->groups[group].motion ? CAL_PROPAGATE_KINEMATIC : cal_model_propagation(model);
}

static CalStatus check_propagation(CalSim *sim, int group, CalPropagation propagation, CalError *error) {
	if (!sim || group < 0 || group >= cal_sim_group_count(sim))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_set_propagation: there is no group %d", group);
	if (!cal_propagation_name(propagation))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_set_propagation: unknown propagation %d", (int)propagation);
	return CAL_OK;
}

static CalVec3 sum_of(CalVec3 a, double sign, CalVec3 b) {
	return dvec_out(dadd(dvec_in(a), dscale(sign, dvec_in(b))));
}

/* By how much the momentum of a kinematic group has changed since it is one: nothing but its motion decides that. */
static CalTransition change_so_far(const CalSim *sim, int group) {
	const SimGroup *now = &sim->groups[group];
	const CalMomentum *start = &now->start_momentum;
	CalMomentum at;
	CalEnergy energy;
	if (!sim->started || now->motion || now->model->propagation != CAL_PROPAGATE_KINEMATIC)
		return (CalTransition){0};
	energy_and_momentum(now->model, &now->state, now->view_work, &energy, &at);
	return (CalTransition){.linear_change = sum_of(at.linear, -1, start->linear),
	                       .angular_change = sum_of(at.angular_origin, -1, start->angular_origin)};
}

static CalStatus switch_group(CalSim *sim, int group, CalPropagation propagation, CalTransition *report,
                              CalError *error) {
	TopologyEdit c;
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status != CAL_OK)
		return status;
	const CalTransition so_far = change_so_far(sim, group);
	status = propagate(&c, topology_group(c.t, sim->groups[group].model->bodies[0].id.value), propagation, report);
	status = edit_build_and_commit(&c, status, report); // the group keeps its index
	if (status == CAL_OK && report) {
		report->linear_change = sum_of(report->linear_change, 1, so_far.linear_change);
		report->angular_change = sum_of(report->angular_change, 1, so_far.angular_change);
	}
	return status;
}

CalStatus cal_sim_set_propagation(CalSim *sim, int group, CalPropagation propagation, CalTransition *report,
                                  CalError *error) {
	CalStatus status = check_propagation(sim, group, propagation, error);
	if (status != CAL_OK)
		return status;
	const bool moved = sim->groups[group].motion != NULL, same = sim->groups[group].model->propagation == propagation;
	if (report)
		*report = (CalTransition){.group = group, .other = -1};
	if (same ? !moved : moved && propagation == CAL_PROPAGATE_KINEMATIC)
		return CAL_OK;
	if (!same)
		status = switch_group(sim, group, propagation, report, error);
	return status == CAL_OK && moved ? cal_sim_set_motion(sim, group, NULL, NULL) : status;
}
