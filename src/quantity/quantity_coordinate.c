// SPDX-License-Identifier: Apache-2.0
/*
 * quantity_coordinate.c — coordinates and speeds by name, and where they are in the state of a group.
 *
 * Names are those of the joint as it was defined: a joint that is passed in the other direction may have its degrees of
 * freedom in another order, and may be of another type in the model.
 */
#include <string.h>

#include <calder/mechanism.h>
#include <calder/transition.h>

#include "joint/joint_type.h"
#include "model/model.h"
#include "quantity/quantity.h"
#include "sim/sim_internal.h"

/* ---- joints ------------------------------------------------------------------------------------------------- */

/* The degree of freedom whose coordinate number i is; -1: part of a quaternion. */
static int dof_of(const CalJointDef *def, const CalModel *model, const Body *body, int i) {
	for (int dof = 0; dof < body->nu; dof++)
		if ((def ? joint_coordinate_of(def, dof) : model->dofs[body->u + dof].q - body->q) == i)
			return dof;
	return -1;
}

/* ---- dependent joints of embedded mechanisms ---- */

static bool is_dependent(const Body *body) { return body->mechanism && body->nu == 0; }

/* The same joint in the model of the mechanism. */
static const Body *inner_body(const CalModel *model, const Body *body, CalMechanismInfo *info) {
	cal_model_mechanism(model, body->mechanism - 1, info);
	return &info->model->bodies[body->inner];
}

static bool dependent_coordinate(const CalModel *model, const Body *body, bool speed, int i,
                                 JointCoordinate *coordinate) {
	CalMechanismInfo info;
	const Body *inner = inner_body(model, body, &info);
	if (i < 0 || i >= (speed ? inner->nu : inner->nq))
		return false;
	coordinate->dof = i;
	return (speed ? cal_model_speed(info.model, inner->u + i, &coordinate->info)
	              : cal_model_coordinate(info.model, inner->q + i, &coordinate->info)) == CAL_OK;
}

bool dependent_coordinate_place(const CalModel *model, int index, bool speed, int i, int *mechanism, int *at) {
	const Body *body = index >= 0 ? &model->bodies[index] : NULL;
	CalMechanismInfo info;
	if (!body || !is_dependent(body))
		return false;
	const Body *inner = inner_body(model, body, &info);
	*mechanism = body->mechanism;
	*at = (speed ? inner->u : inner->q) + i;
	return true;
}

bool joint_coordinate(const CalSim *sim, int group, int body, bool speed, int i, JointCoordinate *coordinate) {
	const CalModel *model = sim->groups[group].model;
	const Body *b = &model->bodies[body];
	const CalJointDef *def = sim_joint_def(sim, b->joint_id);
	if (is_dependent(b))
		return dependent_coordinate(model, b, speed, i, coordinate);
	if (i < 0 || i >= (speed ? b->nu : b->nq))
		return false;
	const CalStatus status =
		def     ? speed ? cal_joint_speed(def, i, &coordinate->info) : cal_joint_coordinate(def, i, &coordinate->info)
			: speed ? cal_model_speed(model, b->u + i, &coordinate->info)
				: cal_model_coordinate(model, b->q + i, &coordinate->info);
	coordinate->dof = speed ? i : dof_of(def, model, b, i);
	return status == CAL_OK;
}

int joint_coordinate_find(const CalSim *sim, int group, int body, bool speed, const char *name) {
	JointCoordinate coordinate;
	for (int i = 0; joint_coordinate(sim, group, body, speed, i, &coordinate); i++)
		if (strcmp(coordinate.info.name, name) == 0)
			return i;
	return -1;
}

/* Where the order of elements is another one, parts of quaternions are not found. */
bool joint_coordinate_place(const CalSim *sim, CalJointId joint, int i, int dof, CalDofRef *ref) {
	CalJointState state;
	int reversed = 0;
	if (dof >= 0)
		return cal_sim_find_dof(sim, joint, dof, ref);
	const int group = sim_group_of(sim, MODEL_JOINTS, joint.value);
	if (group < 0)
		return false;
	const CalModel *model = sim->groups[group].model;
	const Body *body = &model->bodies[cal_model_joint_index(model, joint)];
	if (body->type == CAL_JOINT_SEQUENCE && cal_sim_joint_state(sim, joint, &state, &reversed) == CAL_OK && reversed)
		return false;
	*ref = (CalDofRef){group, -1, body->q + i};
	return true;
}

/* ---- modes -------------------------------------------------------------------------------------------------- */

int mode_find(const CalModel *model, int body, bool speed, const char *name) {
	CalBodyInfo b;
	CalCoordinateInfo info;
	if (cal_model_body(model, body, &b) != CAL_OK || strncmp(name, "eta", 3) != 0)
		return -1;
	for (int mode = 0; mode < b.modes; mode++)
		if (mode_info(model, &b, speed, mode, &info) && strcmp(info.name, name) == 0)
			return mode;
	return -1;
}

bool mode_info(const CalModel *model, const CalBodyInfo *body, bool speed, int mode, CalCoordinateInfo *info) {
	return (speed ? cal_model_speed(model, body->u + body->nu + mode, info)
	              : cal_model_coordinate(model, body->q + body->nq + mode, info)) == CAL_OK;
}
