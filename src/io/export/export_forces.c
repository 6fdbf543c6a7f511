// SPDX-License-Identifier: Apache-2.0
/*
 * export_forces.c — what acts along joints: springs, dampers, rotors, stops, friction; and where they start.
 *
 * What the format cannot say is noted and taken out of the link, so that a writer writes what it finds there.
 */
#include <math.h>
#include <string.h>

#include "io/export/export.h"

/* ---- axes -------------------------------------------------------------------------------------------- */

int export_axis_count(const ExportLink *link) {
	switch (link->motion) {
	case EXPORT_ROTATION:
	case EXPORT_TRANSLATION:
	case EXPORT_SCREW:
		return 1;
	case EXPORT_UNIVERSAL:
		return 2;
	default:
		return 0;
	}
}

ExportAxis *export_find_axis(const Export *ex, CalJointId joint, int dof, int *link) {
	if (joint.value == 0 || joint.value > (uint32_t)cal_desc_joint_count(ex->desc) || dof < 0)
		return NULL;
	for (int i = ex->link_of_joint[joint.value]; i < ex->link_count && ex->links[i].joint.value == joint.value; i++) {
		ExportLink *l = &ex->links[i];
		*link = i;
		if (dof >= l->dof && dof < l->dof + l->dofs)
			return dof - l->dof < export_axis_count(l) ? &l->axes[dof - l->dof] : NULL;
	}
	return NULL;
}

double export_axis_inertia(const ExportLink *link) {
	const CalDofDef *dof = &link->axes[0].dof;
	const double ratio = dof->gear_ratio == 0 ? 1 : dof->gear_ratio, rotor = dof->rotor_inertia * ratio * ratio;
	const MassProperties m = mass_moved(link->carried, placement_of(&link->X_ML));
	const dvec3 arm = dcross(link->axis, dvec_in(m.com));
	if (link->motion == EXPORT_TRANSLATION)
		return m.mass + rotor;
	return ddot(link->axis, dmat_mul_vec(dmat_in(&m.inertia), link->axis)) + m.mass * ddot(arm, arm) + rotor;
}

/* ---- springs, dampers, rotors ------------------------------------------------------------------------ */

static const char *joint_name(const Export *ex, const ExportLink *link) {
	return cal_desc_joint(ex->desc, link->joint, NULL, NULL)->name;
}

static void note_missing(Export *ex, const ExportLink *link, const char *what) {
	export_note(ex, CAL_IMPORT_MISSING, "joint", joint_name(ex, link), link->place, "%s cannot say %s of this joint",
	            ex->format->name, what);
}

/* Of a ball or a free joint: the same along all axes, without rest positions. */
static bool is_uniform(const CalDofDef *dof, int count) {
	for (int i = 0; i < count; i++)
		if (dof[i].damping != dof[0].damping || dof[i].stiffness != dof[0].stiffness || dof[i].rest != 0 ||
		    dof[i].rotor_inertia != dof[0].rotor_inertia || dof[i].gear_ratio != dof[0].gear_ratio)
			return false;
	return true;
}

static void check_dofs(Export *ex, ExportLink *link, const CalDofDef *dofs) {
	const bool uniform = ex->format->has_ball_forces && (link->motion == EXPORT_BALL || link->motion == EXPORT_FREE) &&
	                     is_uniform(dofs, link->dofs);
	const char *missing[4] = {0};
	for (int i = 0; i < link->dofs; i++) {
		CalDofDef *dof = &link->axes[i].dof;
		const bool scalar = i < export_axis_count(link);
		*dof = dofs[i];
		if (dof->prescribed)
			missing[0] = "prescribed accelerations", dof->prescribed = 0;
		if (dof->damping != 0 && !scalar && !uniform)
			missing[1] = "damping", dof->damping = 0;
		if (dof->stiffness != 0 && !(scalar && ex->format->has_springs) && !(uniform && link->motion == EXPORT_BALL))
			missing[2] = "the spring", dof->stiffness = dof->rest = 0;
		if (dof->rotor_inertia != 0 && !(scalar && ex->format->has_rotors) && !uniform)
			missing[3] = "the inertia of a rotor", dof->rotor_inertia = 0;
	}
	for (int i = 0; i < 4; i++)
		if (missing[i])
			note_missing(ex, link, missing[i]);
}

/* ---- stops and friction ------------------------------------------------------------------------------ */

static void take_limit(Export *ex, const CalLimitDef *def) {
	int link;
	ExportAxis *axis = export_find_axis(ex, def->joint, def->dof, &link);
	if (!axis || axis->limit)
		export_note(ex, CAL_IMPORT_MISSING, "device", def->name, def->place,
		            axis ? "the joint has stops already; %s has one pair" : "%s has no stops of such joints",
		            ex->format->name);
	else
		axis->limit = def;
}

static void take_friction(Export *ex, const CalFrictionDef *def) {
	int link;
	ExportAxis *axis = export_find_axis(ex, def->joint, def->dof, &link);
	const bool is_dry = (def->stiction == 0 || def->stiction == def->coulomb) && def->bristle_stiffness == 0;
	if (!axis || axis->friction || !is_dry) {
		export_note(ex, CAL_IMPORT_MISSING, "device", def->name, def->place,
		            !axis            ? "%s has no friction of such joints"
		            : axis->friction ? "the joint has friction already; %s has one"
		                             : "%s has Coulomb friction only, without breakaway friction and bristles",
		            ex->format->name);
		return;
	}
	axis->friction = def;
	axis->dof.damping += def->viscous;
	if (def->smoothing_speed != IMPORT_FRICTION_SPEED)
		export_note(ex, CAL_IMPORT_CHANGED, "device", def->name, def->place,
		            "%s does not say at which speed friction falls to zero, here %g; Calder reads it back with %g",
		            ex->format->name, def->smoothing_speed, IMPORT_FRICTION_SPEED);
	if (def->viscous != 0)
		export_note(ex, CAL_IMPORT_CHANGED, "device", def->name, def->place,
		            "viscous friction is part of the damping of the joint in the file");
}

bool export_actuator_is_idle(const CalActuatorDef *def) {
	return !def->control.formula && def->control.table.count == 0 && def->control.number == 0 && def->bias[0] == 0 &&
	       def->bias[1] == 0 && def->bias[2] == 0;
}

/* ---- loads ---------------------------------------------------------------------------------------------- */

bool export_is_always_on(const CalAppliedLoadDef *def) {
	return def->start <= 0 && (def->end == INFINITY || (def->start == 0 && def->end == 0));
}

static bool is_number(const CalLoadValue *v) { return !v->formula && v->table.count == 0; }

bool export_is_constant_wrench(const CalAppliedLoadDef *def) {
	bool constant = def->node.value != 0 && export_is_always_on(def);
	for (int i = 0; i < 3; i++)
		constant = constant && is_number(&def->force[i]) && is_number(&def->moment[i]);
	return constant;
}

/* A constant force against gravity at the center of mass, in world axes. */
double export_lifted_weight(const Export *ex, const CalAppliedLoadDef *def, CalBodyId *body) {
	static const char name[] = "gravcomp";
	const CalNodeDef *node = export_is_constant_wrench(def) ? cal_desc_node(ex->desc, def->node, body) : NULL;
	const CalBodyDef *b = node ? cal_desc_body(ex->desc, *body) : NULL;
	const CalGroupDef *group = b ? cal_desc_group(ex->desc, b->group) : NULL;
	if (!group || def->frame != CAL_FRAME_WORLD || strncmp(node->name, name, strlen(name)) != 0 || !(b->mass > 0))
		return 0;
	const double g2 = ddot(dvec_in(group->gravity), dvec_in(group->gravity));
	const dvec3 f = {def->force[0].number, def->force[1].number, def->force[2].number};
	const double factor = -ddot(f, dvec_in(group->gravity)) / (g2 * b->mass);
	const dvec3 off = dadd(f, dscale(factor * b->mass, dvec_in(group->gravity)));
	const bool at_com = node->placement.position.x == b->com.x && node->placement.position.y == b->com.y &&
	                    node->placement.position.z == b->com.z;
	return at_com && g2 > 0 && ddot(off, off) <= 1e-24 * ddot(f, f) && def->moment[0].number == 0 &&
	               def->moment[1].number == 0 && def->moment[2].number == 0
	           ? factor
	           : 0;
}

/* A device that the format has not. */
static void leave_out(Export *ex, int index, const char *type, const char *name, const void *def) {
	const char *place = cal_setup_device_place(ex->setup, index);
	const bool is_actuator = strcmp(type, "actuator") == 0;
	if (is_actuator && export_actuator_is_idle(def))
		export_note(ex, CAL_IMPORT_IGNORED, "device", name, place,
		            "%s has no actuators on such joints and nodes; it has no effect, since its input is 0",
		            ex->format->name);
	else if (is_actuator)
		export_note(ex, CAL_IMPORT_MISSING, "device", name, place,
		            "%s has no actuator like this one: inputs that are not 0, and biases", ex->format->name);
	else
		export_note(ex, CAL_IMPORT_MISSING, "device", name, place,
		            "%s has nothing for a device of type %s like this one", ex->format->name, type);
}

static void take_device(Export *ex, int index) {
	const char *type, *name;
	const void *def;
	if (cal_setup_device(ex->setup, index, &type, &name, &def) != CAL_OK)
		return;
	if (strcmp(type, "limit") == 0)
		take_limit(ex, def);
	else if (strcmp(type, "friction") == 0)
		take_friction(ex, def);
	else if (strcmp(type, "contact") == 0 && ex->format->has_collisions)
		export_note(ex, CAL_IMPORT_MISSING, "device", name, ((const CalContactDef *)def)->place,
		            "%s does not say how hard contact is, and Calder does not read it back; a partial file has its "
		            "collision shapes",
		            ex->format->name);
	else if (!ex->format->takes_device || !ex->format->takes_device(ex, type, def))
		leave_out(ex, index, type, name, def);
}

/* ---- the state --------------------------------------------------------------------------------------- */

static void set_neutral(ExportLink *link) {
	memset(link->q, 0, sizeof link->q);
	if (link->motion == EXPORT_BALL)
		link->q[0] = 1;
	if (link->motion == EXPORT_FREE)
		link->q[3] = 1;
}

static int coordinate_count(const ExportLink *link) {
	return link->motion == EXPORT_BALL ? 4 : link->motion == EXPORT_FREE ? 7 : link->dofs;
}

static void take_state(Export *ex, CalJointId joint, const CalStateDef *def) {
	for (int i = ex->link_of_joint[joint.value]; i < ex->link_count && ex->links[i].joint.value == joint.value; i++) {
		ExportLink *link = &ex->links[i];
		if (def->q)
			memcpy(link->q, def->q + link->coordinate, (size_t)coordinate_count(link) * sizeof *link->q);
		if (def->u)
			memcpy(link->u, def->u + link->dof, (size_t)link->dofs * sizeof *link->u);
		link->starts = true;
	}
}

void export_sort_forces(Export *ex) {
	CalJointId joint;
	CalStateDef state;
	if (ex->status != CAL_OK)
		return;
	for (int i = 0; i < ex->link_count; i++) {
		ExportLink *link = &ex->links[i];
		check_dofs(ex, link, &cal_desc_joint(ex->desc, link->joint, NULL, NULL)->dof[link->dof]);
		set_neutral(link);
	}
	for (int i = 0; i < cal_setup_device_count(ex->setup); i++)
		take_device(ex, i);
	if (ex->format->has_collisions)
		export_list_collisions(ex);
	for (int i = 0; cal_setup_state(ex->setup, i, &joint, &state) == CAL_OK; i++)
		take_state(ex, joint, &state);
	for (int i = 0; i < ex->link_count; i++)
		if (ex->links[i].starts)
			ex->format->check_start(ex, &ex->links[i]);
}
