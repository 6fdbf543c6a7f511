// SPDX-License-Identifier: Apache-2.0
/*
 * sim_names.c — objects of a running simulation by name, and where the dofs of a joint are now.
 *
 * Before cal_sim_reserve() the models know all there is; after it the copy of the description does: it also has what is
 * open, and what was added in the run.
 */
#include <string.h>

#include "base/name_index.h"
#include "joint/pose_solve.h"
#include "model/model.h"
#include "sim/sim_internal.h"
#include "topology/topology.h"

/* ---- in the models ------------------------------------------------------------------------------------ */

static uint32_t model_body(const CalSim *sim, const char *name) {
	for (int i = 0; i < sim->group_count; i++) {
		const int body = cal_model_find_body(sim->groups[i].model, name);
		if (body >= 0)
			return sim->groups[i].model->bodies[body].id.value;
	}
	return 0;
}

static uint32_t model_joint(const CalSim *sim, const char *name) {
	for (int i = 0; i < sim->group_count; i++) {
		const int body = cal_model_find_joint(sim->groups[i].model, name);
		if (body >= 0)
			return sim->groups[i].model->bodies[body].joint_id.value;
	}
	return 0;
}

static uint32_t model_loop(const CalSim *sim, const char *name) {
	for (int i = 0; i < sim->group_count; i++) {
		const int loop = cal_model_find_loop(sim->groups[i].model, name);
		if (loop >= 0)
			return sim->groups[i].model->loops[loop].id.value;
	}
	return 0;
}

static uint32_t model_node(const CalSim *sim, const char *path) {
	for (int i = 0; i < sim->group_count; i++) {
		CalNodeInfo info;
		const int node = cal_model_find_node(sim->groups[i].model, path);
		if (node >= 0 && cal_model_node(sim->groups[i].model, node, &info) == CAL_OK)
			return info.id.value;
	}
	return 0;
}

/* ---- in the description that changes ------------------------------------------------------------------- */

static bool is_name(const char *name, const char *text, size_t length) {
	return strlen(name) == length && strncmp(name, text, length) == 0;
}

static uint32_t desc_find_body(const Topology *t, const char *name, size_t length) {
	const uint32_t parked = topology_node_body(t, t->park);
	for (int i = 0; i < t->desc->body_count; i++)
		if ((uint32_t)i + 1 != parked && is_name(t->desc->bodies[i].def.name, name, length))
			return (uint32_t)i + 1;
	return 0;
}

static uint32_t desc_find_node(const Topology *t, const char *path) {
	uint32_t body = desc_find_body(t, path, strlen(path));
	if (body)
		return t->desc->bodies[body - 1].frame.value;
	const char *slash = name_path_split(path);
	if (!slash)
		return 0;
	const size_t length = (size_t)(slash - path);
	const bool ground = is_name("ground", path, length);
	body = ground ? 0 : desc_find_body(t, path, length);
	if (!ground && !body)
		return 0;
	for (int i = 0; i < t->desc->node_count; i++)
		if (t->desc->nodes[i].body.value == body && strcmp(t->desc->nodes[i].def.name, slash + 1) == 0)
			return (uint32_t)i + 1;
	return 0;
}

int cal_sim_reserved(const CalSim *sim, CalSimCapacity *most) {
	const Topology *t = sim ? sim->topology : NULL;
	if (t && most)
		*most = (CalSimCapacity){.groups = t->desc->group_capacity,
		                         .bodies = t->desc->body_capacity,
		                         .nodes = t->desc->node_capacity,
		                         .joints = t->desc->joint_capacity,
		                         .loops = t->desc->loop_capacity,
		                         .memory = t->memory};
	return t != NULL;
}

/* ---- the calls ------------------------------------------------------------------------------------------ */

CalBodyId cal_sim_find_body(const CalSim *sim, const char *name) {
	if (!sim || !name)
		return (CalBodyId){0};
	return (CalBodyId){sim->topology ? desc_find_body(sim->topology, name, strlen(name)) : model_body(sim, name)};
}

CalJointId cal_sim_find_joint(const CalSim *sim, const char *name) {
	const Topology *t = sim ? sim->topology : NULL;
	for (int i = 0; t && name && i < t->desc->joint_count; i++)
		if (strcmp(t->joints[i].def.name, name) == 0)
			return (CalJointId){(uint32_t)i + 1};
	return (CalJointId){sim && name && !t ? model_joint(sim, name) : 0};
}

CalLoopId cal_sim_find_loop(const CalSim *sim, const char *name) {
	const Topology *t = sim ? sim->topology : NULL;
	for (int i = 0; t && name && i < t->desc->loop_count; i++)
		if (!t->loops[i].joint && strcmp(t->loops[i].as.def.name, name) == 0)
			return (CalLoopId){(uint32_t)i + 1};
	return (CalLoopId){sim && name && !t ? model_loop(sim, name) : 0};
}

int cal_sim_find_node(const CalSim *sim, const char *path, CalNodeId *node) {
	if (!sim || !path || !node)
		return 0;
	*node = (CalNodeId){0};
	if (strcmp(path, "ground") == 0)
		return 1;
	node->value = sim->topology ? desc_find_node(sim->topology, path) : model_node(sim, path);
	return node->value != 0;
}

const CalJointDef *sim_joint_def(const CalSim *sim, CalJointId joint) {
	const Topology *t = sim->topology;
	return t && joint.value && joint.value <= (uint32_t)t->desc->joint_count ? &topology_joint(t, joint.value)->def
	                                                                         : NULL;
}

int cal_sim_find_dof(const CalSim *sim, CalJointId joint, int dof, CalDofRef *dof_ref) {
	if (!dof_ref)
		return 0;
	const Topology *t = sim ? sim->topology : NULL;
	const TopologyJoint *j =
		t && joint.value && joint.value <= (uint32_t)t->desc->joint_count ? topology_joint(t, joint.value) : NULL;
	const int group = sim && dof >= 0 ? sim_group_of(sim, MODEL_JOINTS, joint.value) : -1;
	if (group < 0)
		return 0;
	const CalModel *model = sim->groups[group].model;
	const Body *body = &model->bodies[cal_model_joint_index(model, joint)];
	CalDofInfo info;
	const int place = j && j->reversed && dof < body->nu ? joint_reverse_dof(&j->def, dof) : dof;
	if (place < 0 || place >= body->nu || cal_model_dof(model, body->u + place, &info) != CAL_OK)
		return 0;
	*dof_ref = (CalDofRef){group, body->u + place, info.q};
	return 1;
}

int cal_sim_find_mode(const CalSim *sim, CalBodyId body, int mode, CalDofRef *dof_ref) {
	const int group = sim && dof_ref ? sim_group_of(sim, MODEL_BODIES, body.value) : -1;
	CalBodyInfo info;
	if (group < 0)
		return 0;
	const CalModel *model = sim->groups[group].model;
	if (cal_model_body(model, cal_model_body_index(model, body), &info) != CAL_OK || mode < 0 || mode >= info.modes)
		return 0;
	*dof_ref = (CalDofRef){group, info.u + info.nu + mode, info.q + info.nq + mode};
	return 1;
}
