// SPDX-License-Identifier: Apache-2.0
/*
 * topology_edit.c — see topology_edit.h: what comes before and after the edit of the description.
 */
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "dynamics/tree/energy.h"
#include "integrate/scheme.h"
#include "joint/pose_solve.h"
#include "model/compile/compile.h"
#include "transition/topology_edit.h"

CalStatus edit_begin(CalSim *sim, CalTransition *report, CalError *error, TopologyEdit *c) {
	if (report)
		*report = (CalTransition){.group = -1, .other = -1};
	*c = (TopologyEdit){.sim = sim, .t = sim ? sim->topology : NULL, .error = error};
	if (error)
		*error = (CalError){0};
	if (!sim || !c->t)
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "the simulation is not prepared for changes of topology; call cal_sim_reserve() first");
	if (!subsystems_take_impulses(sim))
		return error_set(
			error, CAL_ERR_UNSUPPORTED,
			"a compiled subsystem has no function correct(): impulses would not reach into it, so the topology "
			"cannot change; give it one, or use a component (docs/subsystems.md)");
	for (int i = 0; i < sim->group_count; i++) {
		if (sim->groups[i].state.t != cal_sim_time(sim))
			return error_set(error, CAL_ERR_ARGUMENT, "group \"%s\" is at t = %.9g s and group \"%s\" at %.9g s",
			                 cal_model_name(sim->groups[i].model), sim->groups[i].state.t,
			                 cal_model_name(sim->groups[0].model), cal_sim_time(sim));
	}
	topology_save(c->t);
	topology_carriers(c->t);
	c->begun = true;
	return CAL_OK;
}

CalStatus edit_no_memory(TopologyEdit *c) {
	return error_set(c->error, CAL_ERR_MEMORY,
	                 "the memory reserved for changes (%zu bytes) is used up; give cal_sim_reserve() a larger "
	                 "CalSimCapacity.memory",
	                 c->t->memory);
}

static CalStatus unknown(TopologyEdit *c, const char *what, uint32_t value) {
	return error_set(c->error, CAL_ERR_ARGUMENT, "the simulation has no %s with id %u", what, (unsigned)value);
}

CalStatus edit_check_joint(TopologyEdit *c, CalJointId joint) {
	const int known = joint.value && joint.value <= (uint32_t)c->t->desc->joint_count;
	return known ? CAL_OK : unknown(c, "joint", joint.value);
}

CalStatus edit_check_node(TopologyEdit *c, CalNodeId node) {
	if (node.value > (uint32_t)c->t->desc->node_count || node.value == c->t->park.value)
		return unknown(c, "node", node.value);
	const uint32_t body = topology_node_body(c->t, node);
	return body ? edit_check_body(c, (CalBodyId){body}) : CAL_OK;
}

CalStatus edit_check_body(TopologyEdit *c, CalBodyId body) {
	if (body.value == 0 || body.value > (uint32_t)c->t->desc->body_count)
		return unknown(c, "body", body.value);
	if (topology_group(c->t, body.value) == c->t->parking.value)
		return error_set(c->error, CAL_ERR_ARGUMENT, "body \"%s\" was removed from the simulation",
		                 topology_body_name(c->t, body.value));
	return CAL_OK;
}

static int index_of_group(const TopologyEdit *c, uint32_t group) {
	for (int i = 0; i < c->sim->group_count; i++) {
		const CalModel *model = c->sim->groups[i].model;
		if (c->t->saved.body_group[model->bodies[0].id.value - 1] == group)
			return i;
	}
	return -1;
}

int edit_add_group(TopologyEdit *c, uint32_t group) {
	const int index = index_of_group(c, group);
	for (int i = 0; i < c->old_count; i++) {
		if (c->old[i] == index)
			return i;
	}
	c->old[c->old_count] = index;
	return c->old_count++;
}

const uint8_t *group_with_driven(const SimGroup *group, const uint8_t *prescribed) {
	for (int k = 0; k < group->model->nu; k++)
		group->prescribed[k] = prescribed[k] || group->driven[k];
	return group->prescribed;
}

const uint8_t *group_kept(const SimGroup *group) {
	CalInput input = {0};
	if (group->input && group->input(group->user, group->model, &group->state, &input) != 0)
		return NULL;
	return group_with_driven(group, input.prescribed ? input.prescribed : group->model->prescribed);
}

/* ---- kinematics ------------------------------------------------------------------------------------- */

CalStatus edit_copy_speeds(TopologyEdit *c, int old) {
	const SimGroup *group = &c->sim->groups[c->old[old]];
	const size_t size = sizeof(double) * (size_t)group->model->nu;
	if (!c->u[old])
		c->u[old] = memory_alloc(&c->t->allocator, size);
	if (!c->u[old])
		return edit_no_memory(c);
	memcpy(c->u[old], group->state.u, size);
	return CAL_OK;
}

CalStatus edit_kinematics(TopologyEdit *c) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < c->old_count && status == CAL_OK; i++) {
		const SimGroup *group = &c->sim->groups[c->old[i]];
		CalState state = group->state;
		if (c->u[i])
			state.u = c->u[i];
		status = cal_kinematics(group->model, &state, NULL, group->view_work);
	}
	return status;
}

CalStatus edit_node_motion(const TopologyEdit *c, CalNodeId node, NodeMotion *motion) {
	const uint32_t body = topology_node_body(c->t, node);
	*motion = (NodeMotion){.X = dpose_identity()};
	if (!body) {
		if (node.value)
			motion->X = pose_of(c->t->desc->nodes[node.value - 1].def.placement);
		return CAL_OK;
	}
	for (int i = 0; i < c->old_count; i++) {
		const SimGroup *group = &c->sim->groups[c->old[i]];
		const int index = cal_model_node_index(group->model, node);
		if (index < 0)
			continue;
		CalPose pose;
		CalSpatial V = {{0, 0, 0}, {0, 0, 0}};
		CalStatus status = cal_node_pose(group->model, group->view_work, index, &pose);
		if (status == CAL_OK)
			status = cal_node_velocity(group->model, group->view_work, index, &V);
		motion->X = (dpose){dmat_in(&pose.R), dvec_in(pose.r)};
		motion->V = spatial_in(V);
		return status;
	}
	return CAL_ERR_ARGUMENT;
}

dpose joint_pose_between(const CalJointDef *def, const NodeMotion *a, const NodeMotion *b) {
	const dpose F = dpose_mul(a->X, pose_of(def->inboard));
	const dpose J = dpose_mul(b->X, dpose_inverse(pose_of(def->outboard)));
	return dpose_mul(dpose_inverse(F), J);
}

static spatial velocity_at(const NodeMotion *node, dvec3 p) {
	return motion_shift(node->V, vec_from(dadd(p, dscale(-1, node->X.r))));
}

static spatial joint_velocity_between(const CalJointDef *def, const NodeMotion *a, const NodeMotion *b) {
	const dpose J = dpose_mul(b->X, dpose_inverse(pose_of(def->outboard)));
	const mat3 F = mat_from(dpose_mul(a->X, pose_of(def->inboard)).R);
	const spatial V = spatial_sub(velocity_at(b, J.r), velocity_at(a, J.r));
	return (spatial){mat_tmul_vec(F, V.a), mat_tmul_vec(F, V.l)};
}

CalStatus edit_add_new_joint(TopologyEdit *c, uint32_t joint) {
	const DescJoint *d = &c->t->desc->joints[joint - 1];
	NewJointState *new_joint = &c->new_joints[c->new_joint_count++];
	NodeMotion in, out;
	CalStatus status = edit_node_motion(c, d->inboard, &in);
	if (status == CAL_OK)
		status = edit_node_motion(c, d->outboard, &out);
	if (status != CAL_OK)
		return status;
	const dpose X = joint_pose_between(&d->def, &in, &out);
	*new_joint = (NewJointState){.joint = joint};
	joint_solve_pose(&d->def, &X, new_joint->q);
	joint_solve_speeds(&d->def, new_joint->q, joint_velocity_between(&d->def, &in, &out), new_joint->u);
	return CAL_OK;
}

void edit_move_marked(TopologyEdit *c, uint32_t group) {
	for (int i = 0; i < c->t->desc->body_count; i++) {
		if (c->t->mark[i])
			c->t->desc->bodies[i].def.group.value = group;
	}
}

/* ---- states --------------------------------------------------------------------------------------------- */

/* Where everything was. */
static void note_places(TopologyEdit *c) {
	Topology *t = c->t;
	memset(t->joint_at, 0xff, sizeof *t->joint_at * (size_t)t->desc->joint_count);
	memset(t->body_at, 0xff, sizeof *t->body_at * (size_t)t->desc->body_count);
	for (int i = 0; i < c->old_count; i++) {
		const CalModel *model = c->sim->groups[c->old[i]].model;
		for (int b = 0; b < model->body_count; b++) {
			const TopologyPlace place = {i, b};
			t->joint_at[model->bodies[b].joint_id.value - 1] = place;
			t->body_at[model->bodies[b].id.value - 1] = place;
		}
	}
}

static const NewJointState *find_new_joint(const TopologyEdit *c, uint32_t joint) {
	for (int i = 0; i < c->new_joint_count; i++) {
		if (c->new_joints[i].joint == joint)
			return &c->new_joints[i];
	}
	return NULL;
}

static void copy_numbers(double *to, const double *from, int n) { memcpy(to, from, sizeof(double) * (size_t)n); }

/* Coordinates and speeds of the joint that carries a body. */
static void map_joint(const TopologyEdit *c, const Body *body, SimGroup *made) {
	const uint32_t joint = body->joint_id.value;
	double *q = made->state.q + body->q, *u = made->state.u + body->u;
	const NewJointState *new_joint = find_new_joint(c, joint);
	if (new_joint) {
		copy_numbers(q, new_joint->q, body->nq);
		copy_numbers(u, new_joint->u, body->nu);
		return;
	}
	const TopologyPlace place = c->t->joint_at[joint - 1];
	const SimGroup *old = &c->sim->groups[c->old[place.group]];
	const Body *was = &old->model->bodies[place.body];
	const double *q_old = old->state.q + was->q;
	const double *u_old = (c->u[place.group] ? c->u[place.group] : old->state.u) + was->u;
	const CalJointDef *def = &c->t->saved.desc_joint[joint - 1].def;
	const int turned = c->t->saved.joint[joint - 1].reversed != topology_joint(c->t, joint)->reversed;
	if (turned)
		joint_reverse_state(def, q_old, u_old, q, u);
	else
		copy_numbers(q, q_old, body->nq), copy_numbers(u, u_old, body->nu);
	for (int k = 0; k < body->nu; k++) {
		const int to = body->u + (turned ? joint_reverse_dof(def, k) : k);
		made->frozen[to] = old->frozen[was->u + k];
		made->driven[to] = old->driven[was->u + k]; // until devices are bound again
	}
}

/* Modes of a body that comes in. */
static void set_modes(const TopologyEdit *c, const Body *body, SimGroup *made) {
	const Flex *to = &made->model->flexes[body->flex];
	if (body->id.value == c->added && c->eta)
		copy_numbers(made->state.q + to->q, c->eta, to->m);
	if (body->id.value == c->added && c->eta_dot)
		copy_numbers(made->state.u + to->u, c->eta_dot, to->m);
}

static void map_modes(const TopologyEdit *c, const Body *body, SimGroup *made) {
	const TopologyPlace place = c->t->body_at[body->id.value - 1];
	if (body->flex < 0)
		return;
	if (place.group < 0) {
		set_modes(c, body, made);
		return;
	}
	const SimGroup *old = &c->sim->groups[c->old[place.group]];
	const Flex *to = &made->model->flexes[body->flex];
	const Flex *from = &old->model->flexes[old->model->bodies[place.body].flex];
	const double *u_old = c->u[place.group] ? c->u[place.group] : old->state.u;
	copy_numbers(made->state.q + to->q, old->state.q + from->q, to->m);
	copy_numbers(made->state.u + to->u, u_old + from->u, to->m);
	memcpy(made->frozen + to->u, old->frozen + from->u, (size_t)to->m);
}

static void map_state(const TopologyEdit *c, SimGroup *made) {
	made->state.t = cal_sim_time(c->sim);
	for (int b = 0; b < made->model->body_count; b++) {
		map_joint(c, &made->model->bodies[b], made);
		map_modes(c, &made->model->bodies[b], made);
	}
}

/* ---- new groups --------------------------------------------------------------------------------------------- */

void edit_keep_first_error(void *user, const CalFinding *finding) {
	CalError *error = user;
	if (finding->status != CAL_OK && error && error->count == 0)
		error_set(error, finding->status, "%s", finding->text);
}

static CalStatus cut_group(TopologyEdit *c, SimGroup *made) {
	const CalStatus status = group_partition(made, c->sim);
	return status == CAL_OK ? CAL_OK
	                        : error_set(c->error, status, "group \"%s\": cannot make its branches: %s",
	                                    cal_model_name(made->model), cal_status_text(status));
}

static CalStatus build_group(TopologyEdit *c, int i) {
	SimGroup *made = &c->made[i];
	*made = i == 0 && c->old_count ? c->sim->groups[c->old[0]] : (SimGroup){0};
	made->model = NULL;
	made->memory = NULL;
	made->branches = NULL;
	const CalCompileOptions options = {.group = {c->group[i]}, .solver = c->sim->solver, .allocator = c->t->allocator};
	CalStatus status = compile_checked(c->t->desc, &options, &made->model);
	if (status == CAL_OK)
		status = model_check_singular(made->model, c->t->desc, edit_keep_first_error, c->error);
	if (status == CAL_OK)
		status = group_place(made, c->sim);
	if (status == CAL_ERR_MEMORY)
		return edit_no_memory(c);
	if (status == CAL_OK)
		status = cut_group(c, made);
	if (status != CAL_OK)
		return status;
	group_classify(made);
	map_state(c, made);
	return CAL_OK;
}

static double rotor_energy(const CalModel *model, const double *u) {
	double twice = 0;
	for (int k = 0; model->any_rotor && k < model->nu; k++)
		twice += model->rotor[k] * u[k] * u[k];
	return 0.5 * twice;
}

/* Embedded mechanisms stay as they are: in the tree, in the same direction. */
static CalStatus check_mechanisms(TopologyEdit *c) {
	for (int j = 0; j < c->t->desc->joint_count; j++) {
		const TopologyJoint *joint = topology_joint(c->t, (uint32_t)j + 1);
		if (c->t->desc->joints[j].embedding.mechanism && (joint->state != CAL_JOINT_IN_TREE || joint->reversed))
			return error_set(
				c->error, CAL_ERR_UNSUPPORTED,
				"joint \"%s\" is part of an embedded loop: it cannot be opened or reversed in a run; do not "
				"embed the loop",
				joint->def.name);
	}
	return CAL_OK;
}

CalStatus edit_build(TopologyEdit *c) {
	CalStatus status = check_mechanisms(c);
	if (status == CAL_OK)
		status = topology_put_couplings(c->t, c->error);
	note_places(c);
	for (int i = 0; i < c->made_count && status == CAL_OK; i++)
		status = build_group(c, i);
	for (int i = 0; i < c->old_count && status == CAL_OK; i++) {
		const SimGroup *old = &c->sim->groups[c->old[i]];
		c->rotors_lost += rotor_energy(old->model, c->u[i] ? c->u[i] : old->state.u);
	}
	for (int i = 0; i < c->made_count && status == CAL_OK; i++)
		c->rotors_lost -= rotor_energy(c->made[i].model, c->made[i].state.u);
	return status;
}

static void release_speeds(TopologyEdit *c) {
	for (int i = 0; i < EDIT_MAX_GROUPS; i++) {
		memory_free(&c->t->allocator, c->u[i]);
		c->u[i] = NULL;
	}
}

CalStatus edit_abandon(TopologyEdit *c, CalStatus status) {
	if (!c->begun)
		return status;
	for (int i = 0; i < c->made_count; i++)
		group_release(&c->made[i], c->sim);
	release_speeds(c);
	topology_restore(c->t);
	if (c->error && c->error->count == 0)
		error_set(c->error, status, "change of topology: %s", cal_status_text(status));
	return status;
}

static void remove_slot(CalSim *sim, int at) {
	sim->group_count--;
	memmove(&sim->groups[at], &sim->groups[at + 1], sizeof *sim->groups * (size_t)(sim->group_count - at));
}

/* Adds the momentum of a group to the changes of a report. */
static void report_momentum(const CalMomentum *momentum, double sign, CalTransition *report) {
	const CalVec3 p = momentum->linear, l = momentum->angular_origin;
	CalVec3 *linear = &report->linear_change, *angular = &report->angular_change;
	*linear = (CalVec3){linear->x + sign * p.x, linear->y + sign * p.y, linear->z + sign * p.z};
	*angular = (CalVec3){angular->x + sign * l.x, angular->y + sign * l.y, angular->z + sign * l.z};
}

/* What counts of an old group's energy in the balance; its momentum goes to the report. */
static double leave_group(const CalSim *sim, SimGroup *group, CalTransition *report) {
	CalEnergy energy;
	CalMomentum momentum;
	energy_and_momentum(group->model, &group->state, group->view_work, &energy, &momentum);
	report_momentum(&momentum, -1, report);
	return sim->started && !group->motion ? energy.total : 0;
}

/* The same of a new one, which starts. */
static double enter_group(const CalSim *sim, SimGroup *group, CalTransition *report) {
	group_start(group);
	report_momentum(&group->start_momentum, 1, report);
	return sim->started && !group->motion ? group->start_energy.total : 0;
}

/* To all that ties connect with the new groups; what the ground gets of it goes to the report. Returns the energy lost. */
static double pass_impulse(CalSim *sim, CalTransition *report) {
	CalSimBalance before, after;
	if (!sim->started || !subsystems_first(sim) || cal_sim_balance(sim, &before) != CAL_OK)
		return 0;
	const double lost = subsystems_pass_impulse(sim);
	if (cal_sim_balance(sim, &after) == CAL_OK) {
		report_momentum(&(CalMomentum){.linear = before.linear, .angular_origin = before.angular}, -1, report);
		report_momentum(&(CalMomentum){.linear = after.linear, .angular_origin = after.angular}, 1, report);
	}
	return lost;
}

void edit_commit(TopologyEdit *c, CalTransition *report) {
	CalSim *sim = c->sim;
	CAL_ASSERT(c->old_count + c->made_count > 0 && c->old_count <= EDIT_MAX_GROUPS && c->made_count <= EDIT_MAX_GROUPS);
	CalTransition unread = {0};
	report = report ? report : &unread;
	report->linear_change = report->angular_change = (CalVec3){0, 0, 0};
	double lost = balance_stored(sim); // a device may lose its object, and with it what it holds
	for (int i = 0; i < c->old_count; i++) {
		lost += leave_group(sim, &sim->groups[c->old[i]], report);
		sim->unaccounted |= sim->groups[c->old[i]].unaccounted;
		group_release(&sim->groups[c->old[i]], sim);
	}
	int first = c->old_count ? c->old[0] : sim->group_count, other = -1;
	if (c->made_count) {
		sim->group_count += c->old_count == 0;
		sim->groups[first] = c->made[0];
	}
	if (c->made_count > 1) {
		other = sim->group_count++;
		sim->groups[other] = c->made[1];
	}
	const int gone = c->old_count > 1 ? c->old[1] : c->made_count ? -1 : first;
	if (gone >= 0) {
		remove_slot(sim, gone);
		first = gone < first ? first - 1 : c->made_count ? first : -1;
	}
	distribute_renew(sim);
	sim_bind(sim); // edit_commit_or_abandon() has made room for it
	sim->generation++;
	const int entered[] = {first, other};
	for (int i = 0; i < 2; i++)
		lost -= entered[i] < 0 ? 0 : enter_group(sim, &sim->groups[entered[i]], report);
	balance_add_loss(sim, lost - balance_stored(sim));
	distribute_save(sim);
	release_speeds(c);
	report->group = first;
	report->other = other;
	report->kinetic_lost += c->rotors_lost + pass_impulse(sim, report);
}
