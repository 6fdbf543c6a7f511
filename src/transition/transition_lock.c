// SPDX-License-Identifier: Apache-2.0
/*
 * transition_lock.c — dofs of joints and modes of bodies that stop by an impulse and are described as prescribed from
 * then on, and that become free again.
 *
 * The locks are in the records of joints and bodies (topology.h), so that they outlive whatever else changes.
 */
#include <string.h>

#include "base/error.h"
#include "joint/pose_solve.h"
#include "model/model.h"
#include "transition/topology_edit.h"

/* The group of a body is made anew; returns where the body is in its model. */
static const Body *begin_lock(TopologyEdit *c, uint32_t body) {
	c->group[0] = topology_group(c->t, body);
	c->made_count = 1;
	edit_add_group(c, c->group[0]);
	const CalModel *model = c->sim->groups[c->old[0]].model;
	return &model->bodies[cal_model_body_index(model, (CalBodyId){body})];
}

CalStatus edit_apply_locks(TopologyEdit *c, CalTransition *report) {
	const SimGroup *group = &c->sim->groups[c->old[0]];
	const uint8_t *kept = group_kept(group);
	CalImpulseReport lost;
	CalStatus status = kept ? edit_copy_speeds(c, 0) : CAL_ERR_USER;
	if (status != CAL_OK)
		return status;
	const CalImpulse impulse = {.kept = kept, .locked = group->held};
	status = cal_impulse(group->model, &group->state, &impulse, group->view_work, c->u[0], NULL, &lost);
	if (status == CAL_OK && report)
		report->kinetic_lost = lost.kinetic_lost;
	return status == CAL_OK ? edit_check_rates(c, group->model, &lost, group_fastest(group)) : status;
}

uint8_t *edit_clear_locks(const TopologyEdit *c) {
	const SimGroup *group = &c->sim->groups[c->old[0]];
	return memset(group->held, 0, (size_t)group->model->nu);
}

/* ---- joints ------------------------------------------------------------------------------------------------ */

static CalStatus check_lock(TopologyEdit *c, CalJointId joint, int dof) {
	CalStatus status = edit_check_joint(c, joint);
	if (status != CAL_OK)
		return status;
	const TopologyJoint *j = topology_joint(c->t, joint.value);
	const int count = joint_speed_count(&j->def);
	if (j->state != CAL_JOINT_IN_TREE)
		return error_set(c->error, CAL_ERR_MODEL, "joint \"%s\" is %s; only a joint in the tree can be locked",
		                 j->def.name, j->state == CAL_JOINT_OPEN ? "open" : "a loop");
	const DescEmbedding *embedding = &c->t->desc->joints[joint.value - 1].embedding;
	if (embedding->mechanism && !embedding->independent)
		return error_set(
			c->error, CAL_ERR_UNSUPPORTED,
			"joint \"%s\" is a dependent joint of an embedded loop: it cannot be locked; lock an independent "
			"joint of the loop, or do not embed it",
			j->def.name);
	if (dof < -1 || dof >= count)
		return error_set(c->error, CAL_ERR_ARGUMENT,
		                 "joint \"%s\" has %d degree%s of freedom; there is no %d (counted from 0)", j->def.name, count,
		                 count == 1 ? "" : "s", dof);
	return CAL_OK;
}

static CalStatus set_joint(TopologyEdit *c, uint32_t joint, int dof, int lock, CalTransition *report) {
	TopologyJoint *j = topology_joint(c->t, joint);
	const Body *at = begin_lock(c, topology_node_body(c->t, topology_outboard(j)));
	uint8_t *locked = edit_clear_locks(c);
	for (int k = 0; k < at->nu; k++)
		locked[at->u + (j->reversed ? joint_reverse_dof(&j->def, k) : k)] = (uint8_t)(dof < 0 || dof == k);
	CalStatus status = lock ? edit_apply_locks(c, report) : CAL_OK;
	for (int k = 0; k < at->nu; k++)
		j->def.dof[k].prescribed = dof < 0 || dof == k ? lock : j->def.dof[k].prescribed;
	CalJointDef reversed;
	const char *why = j->reversed ? joint_reverse(&j->def, &reversed) : NULL;
	if (status == CAL_OK && why)
		status = error_set(c->error, CAL_ERR_MODEL,
		                   "joint \"%s\" is turned over, and would then be one that %s; lock all of it, or re-root",
		                   j->def.name, why);
	topology_put_joint(c->t, joint);
	return status;
}

static CalStatus lock_joint(CalSim *sim, CalJointId joint, int dof, int lock, CalTransition *report, CalError *error) {
	TopologyEdit c;
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status == CAL_OK)
		status = check_lock(&c, joint, dof);
	if (status == CAL_OK)
		status = set_joint(&c, joint.value, dof, lock, report);
	return edit_build_and_commit(&c, status, report);
}

CalStatus cal_sim_lock(CalSim *sim, CalJointId joint, int dof, CalTransition *report, CalError *error) {
	return lock_joint(sim, joint, dof, 1, report, error);
}

CalStatus cal_sim_unlock(CalSim *sim, CalJointId joint, int dof, CalTransition *report, CalError *error) {
	return lock_joint(sim, joint, dof, 0, report, error);
}

/* ---- modes -------------------------------------------------------------------------------------------------- */

static CalStatus check_modes(TopologyEdit *c, CalBodyId body, int mode) {
	const CalStatus status = edit_check_body(c, body);
	if (status != CAL_OK)
		return status;
	const CalFlexDef *flex = c->t->desc->bodies[body.value - 1].flex;
	if (!flex)
		return error_set(c->error, CAL_ERR_MODEL, "body \"%s\" is rigid; it has no modes to lock",
		                 topology_body_name(c->t, body.value));
	if (mode < -1 || mode >= flex->modes)
		return error_set(c->error, CAL_ERR_ARGUMENT, "body \"%s\" has %d mode%s; there is no %d (counted from 0)",
		                 topology_body_name(c->t, body.value), flex->modes, flex->modes == 1 ? "" : "s", mode);
	return CAL_OK;
}

static CalStatus set_modes(TopologyEdit *c, uint32_t body, int mode, int lock, CalTransition *report) {
	const Body *at = begin_lock(c, body);
	const Flex *flex = &c->sim->groups[c->old[0]].model->flexes[at->flex];
	uint8_t *locks = topology_mode_locks(c->t, body), *locked = edit_clear_locks(c);
	for (int k = 0; k < flex->m; k++) {
		locked[flex->u + k] = (uint8_t)(mode < 0 || mode == k);
		locks[k] = (uint8_t)(mode < 0 || mode == k ? lock : locks[k]);
	}
	return lock ? edit_apply_locks(c, report) : CAL_OK;
}

static CalStatus lock_modes(CalSim *sim, CalBodyId body, int mode, int lock, CalTransition *report, CalError *error) {
	TopologyEdit c;
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status == CAL_OK)
		status = check_modes(&c, body, mode);
	if (status == CAL_OK)
		status = set_modes(&c, body.value, mode, lock, report);
	return edit_build_and_commit(&c, status, report);
}

CalStatus cal_sim_lock_modes(CalSim *sim, CalBodyId body, int mode, CalTransition *report, CalError *error) {
	return lock_modes(sim, body, mode, 1, report, error);
}

CalStatus cal_sim_unlock_modes(CalSim *sim, CalBodyId body, int mode, CalTransition *report, CalError *error) {
	return lock_modes(sim, body, mode, 0, report, error);
}
