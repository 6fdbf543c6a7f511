// SPDX-License-Identifier: Apache-2.0
/*
 * transition_body.c — bodies that come and go: a new one, rigid or flexible, flies freely in a group of its own; one that
 * goes carries nothing.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/name_index.h"
#include "joint/pose_solve.h"
#include "loop/loop_type.h"
#include "model/description/check.h"
#include "model/model.h"
#include "transition/topology_edit.h"

static int finite3(CalVec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static CalStatus check_body(TopologyEdit *c, const CalNewBody *made) {
	const CalDesc *desc = c->t->desc;
	const CalBodyDef *body = made ? &made->body : NULL;
	const CalSimCapacity *left = &c->t->left;
	if (!body || !body->name || !body->name[0] || !name_slashes_are_sound(body->name) ||
	    strcmp(body->name, "ground") == 0)
		return error_set(c->error, CAL_ERR_MODEL,
		                 "a new body needs a name, without '/' at an end or twice, and other than \"ground\"");
	for (int i = 0; i < desc->body_count; i++) {
		if (strcmp(desc->bodies[i].def.name, body->name) == 0)
			return error_set(c->error, CAL_ERR_MODEL, "body \"%s\": the name is already in use", body->name);
	}
	if (left->bodies <= 0 || left->nodes < made->node_count)
		return error_set(c->error, CAL_ERR_MEMORY,
		                 "body \"%s\": no room for it and its %d nodes; raise CalSimCapacity.%s", body->name,
		                 made->node_count, left->bodies <= 0 ? "bodies" : "nodes");
	if (made->flex && left->modes < made->flex->modes)
		return error_set(c->error, CAL_ERR_MEMORY, "body \"%s\": no room for its %d modes; raise CalSimCapacity.modes",
		                 body->name, made->flex->modes);
	if (body_def_not_finite(body) || !finite3(made->velocity.angular) || !finite3(made->velocity.linear) ||
	    !finite3(made->gravity))
		return error_set(c->error, CAL_ERR_MODEL, "body \"%s\": a number is not finite", body->name);
	Check check = {.desc = desc, .report = edit_keep_first_error, .user = c->error};
	check_mass_properties(&check, body, (BodyExtent){0});
	return check.failed ? CAL_ERR_MODEL : CAL_OK;
}

static CalStatus add_node(TopologyEdit *c, CalNodeDef def, CalBodyId body, CalNodeId *id) {
	CalDesc *desc = c->t->desc;
	const char *wrong = placement_resolve(&def.placement);
	if (wrong || !def.name || !def.name[0])
		return error_set(c->error, CAL_ERR_MODEL, "node \"%s\": %s", def.name ? def.name : "",
		                 wrong ? wrong : "it has no name");
	def.name = string_copy(&c->t->allocator, def.name);
	def.place = NULL;
	if (!def.name)
		return edit_no_memory(c);
	desc->nodes[desc->node_count++] = (DescNode){.def = def, .body = body};
	id->value = (uint32_t)desc->node_count;
	return CAL_OK;
}

static CalStatus add_nodes(TopologyEdit *c, const CalNewBody *made, CalBodyId body, CalNodeId *nodes) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < made->node_count && status == CAL_OK; i++) {
		CalNodeId id = {0};
		for (int k = 0; k < i && status == CAL_OK; k++) {
			if (made->nodes[k].name && made->nodes[i].name && strcmp(made->nodes[k].name, made->nodes[i].name) == 0)
				status = error_set(c->error, CAL_ERR_MODEL, "node \"%s\" of \"%s\": the name is already in use",
				                   made->nodes[i].name, made->body.name);
		}
		if (status == CAL_OK)
			status = add_node(c, made->nodes[i], body, &id);
		if (status == CAL_OK && nodes)
			nodes[i] = id;
	}
	return status;
}

static int finite_modes(const CalNewBody *made, const double *x) {
	for (int k = 0; x && k < made->flex->modes; k++) {
		if (!isfinite(x[k]))
			return 0;
	}
	return 1;
}

/* The listed nodes by their ids in the simulation; nodes[] of the body follow its own frame. */
static CalStatus name_nodes(TopologyEdit *c, const CalNewBody *made, CalNodeId frame, CalFlexNode *nodes) {
	for (int i = 0; i < made->flex->node_count; i++) {
		nodes[i] = made->flex->nodes[i];
		if (nodes[i].node.value > (uint32_t)made->node_count)
			return error_set(
				c->error, CAL_ERR_ARGUMENT,
				"body \"%s\": flexible node %d of %d is number %u of its %d nodes (counted from 1; 0: its own "
				"frame)",
				made->body.name, i + 1, made->flex->node_count, (unsigned)nodes[i].node.value, made->node_count);
		nodes[i].node.value += frame.value;
	}
	return CAL_OK;
}

/* A copy of its modes in the description, checked like any other. */
static CalStatus set_flexible(TopologyEdit *c, const CalNewBody *made, CalBodyId body, CalNodeId frame) {
	CalFlexDef flex = *made->flex;
	Check check = {.desc = c->t->desc, .report = edit_keep_first_error, .user = c->error};
	if (flex.modes < 1 || flex.node_count < 0 || (flex.node_count && !flex.nodes))
		return error_set(c->error, CAL_ERR_MODEL,
		                 "body \"%s\": %d modes on %d nodes; give one mode at least and all nodes", made->body.name,
		                 flex.modes, flex.node_count);
	if (!finite_modes(made, made->eta) || !finite_modes(made, made->eta_dot))
		return error_set(c->error, CAL_ERR_MODEL, "body \"%s\": a modal coordinate or speed is not finite",
		                 made->body.name);
	CalFlexNode *nodes = memory_alloc(&c->t->allocator, sizeof *nodes * (size_t)flex.node_count);
	if (!nodes)
		return edit_no_memory(c);
	flex.nodes = nodes;
	CalStatus status = name_nodes(c, made, frame, nodes);
	if (status == CAL_OK)
		status = cal_desc_set_flexible(c->t->desc, body, &flex, c->error);
	memory_free(&c->t->allocator, nodes);
	if (status == CAL_OK && !check_flexibility(&check, &c->t->desc->bodies[body.value - 1]))
		status = CAL_ERR_MEMORY;
	if (status == CAL_OK && check.failed)
		return CAL_ERR_MODEL;
	if (status == CAL_OK && !topology_add_modes(c->t, body.value))
		status = CAL_ERR_MEMORY;
	c->t->left.modes -= flex.modes;
	c->added = body.value, c->eta = made->eta, c->eta_dot = made->eta_dot;
	return status == CAL_ERR_MEMORY ? edit_no_memory(c) : status;
}

/* Coordinates of its free joint on the ground. */
static CalStatus place_body(TopologyEdit *c, const CalNewBody *made, uint32_t body) {
	CalPlacement at = made->placement;
	const char *wrong = placement_resolve(&at);
	if (wrong)
		return error_set(c->error, CAL_ERR_MODEL, "body \"%s\": %s", made->body.name, wrong);
	const uint32_t root = topology_root_joint(c->t, body);
	const CalStatus status = root ? topology_set_parent(c->t, root, body, c->error) : edit_no_memory(c);
	if (status != CAL_OK)
		return status;
	NewJointState *new_joint = &c->new_joints[c->new_joint_count++];
	const CalJointDef *def = &c->t->desc->joints[root - 1].def;
	const dpose X = pose_of(at);
	*new_joint = (NewJointState){.joint = root};
	joint_solve_pose(def, &X, new_joint->q);
	joint_solve_speeds(def, new_joint->q, spatial_in(made->velocity), new_joint->u);
	return CAL_OK;
}

static CalStatus add_body(TopologyEdit *c, const CalNewBody *made, CalBodyId *id, CalNodeId *nodes) {
	CalDesc *desc = c->t->desc;
	CalStatus status = check_body(c, made);
	if (status == CAL_OK && made)
		status = edit_find_group(c, made->group, &(CalGroupDef){.gravity = made->gravity}, &c->group[0]);
	if (status != CAL_OK || !made)
		return status;
	CalBodyDef def = made->body;
	def.name = string_copy(&c->t->allocator, def.name);
	def.place = NULL;
	def.group.value = c->group[0];
	if (!def.name)
		return edit_no_memory(c);
	desc->bodies[desc->body_count++] = (DescBody){.def = def};
	id->value = (uint32_t)desc->body_count;
	CalNodeDef head = cal_node_def();
	head.name = "head";
	status = add_node(c, head, *id, &desc->bodies[id->value - 1].frame);
	if (status == CAL_OK)
		status = add_nodes(c, made, *id, nodes);
	if (status == CAL_OK && made->flex)
		status = set_flexible(c, made, *id, desc->bodies[id->value - 1].frame);
	c->t->left.bodies--;
	c->t->left.nodes -= made->node_count;
	c->made_count = 1;
	return status == CAL_OK ? place_body(c, made, id->value) : status;
}

CalStatus cal_sim_add_body(CalSim *sim, const CalNewBody *made, CalBodyId *id, CalNodeId *nodes, CalTransition *report,
                           CalError *error) {
	TopologyEdit c;
	CalBodyId body = {0};
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status != CAL_OK)
		return status;
	if (!made || made->node_count < 0 || (made->node_count && !made->nodes))
		status = error_set(error, CAL_ERR_ARGUMENT, "cal_sim_add_body: give a body, and nodes if it has some");
	if (status == CAL_OK)
		status = add_body(&c, made, &body, nodes);
	status = edit_build_and_commit(&c, status, report);
	if (status == CAL_OK && id)
		*id = body;
	return status;
}

/* ---- removing ----------------------------------------------------------------------------------------------- */

/* What still needs a body, or NULL. */
static const char *needed_by(const Topology *t, uint32_t body) {
	for (int i = 0; i < t->desc->joint_count; i++) {
		const TopologyJoint *j = &t->joints[i];
		if (j->state == CAL_JOINT_IN_TREE && topology_node_body(t, topology_inboard(j)) == body)
			return j->def.name;
	}
	for (int i = 0; i < t->desc->loop_count; i++) {
		const TopologyLoop *loop = &t->loops[i];
		const DescLoop *now = &t->desc->loops[i];
		int held = !loop->open && (topology_node_body(t, now->a) == body || topology_node_body(t, now->b) == body);
		for (int k = 0; !loop->open && loop_type_has_terms(now->def.type) && k < now->def.term_count; k++)
			held |= now->def.term[k].body.value == body;
		if (held)
			return loop->as.def.name;
	}
	return NULL;
}

static CalStatus remove_body(TopologyEdit *c, uint32_t body) {
	Topology *t = c->t;
	const char *name = needed_by(t, body);
	const uint32_t group = topology_group(t, body);
	if (name)
		return error_set(c->error, CAL_ERR_MODEL, "body \"%s\" is still held by \"%s\"; detach or open that first",
		                 topology_body_name(t, body), name);
	edit_add_group(c, group);
	topology_open(t, t->carrier[body - 1]);
	t->desc->bodies[body - 1].def.group = t->parking;
	for (int i = 0; i < t->desc->body_count && !c->made_count; i++)
		c->made_count = t->desc->bodies[i].def.group.value == group;
	c->group[0] = group;
	if (!c->made_count && c->sim->group_count == 1)
		return error_set(c->error, CAL_ERR_MODEL, "body \"%s\" is the last one of the simulation",
		                 topology_body_name(t, body));
	return CAL_OK;
}

CalStatus cal_sim_remove_body(CalSim *sim, CalBodyId body, CalTransition *report, CalError *error) {
	TopologyEdit c;
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status == CAL_OK)
		status = edit_check_body(&c, body);
	if (status == CAL_OK)
		status = remove_body(&c, body.value);
	return edit_build_and_commit(&c, status, report);
}
