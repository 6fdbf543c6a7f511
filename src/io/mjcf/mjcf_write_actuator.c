// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_write_actuator.c — actuators and loads as actuators, springs between nodes as tendons, weight compensation.
 *
 * Inputs of actuators are in the keyframe. A load has none: its effort is the bias of an actuator without gain.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_write.h"

/* ---- which devices ------------------------------------------------------------------------------------- */

static bool is_number(const CalLoadValue *v) { return !v->formula && v->table.count == 0; }

static bool affine_of(const CalAppliedLoadDef *def, const char *joint, MjcfAffine *out) {
	*out = (MjcfAffine){def->effort.number, 0, 0, -INFINITY, INFINITY};
	return is_number(&def->effort) || (def->effort.formula && mjcf_read_affine(def->effort.formula, &joint, 1, 0, out));
}

/* On one joint: what is a part of a force along a tendon is none. */
static bool is_effort(const Export *ex, const CalAppliedLoadDef *def) {
	int link;
	MjcfAffine affine;
	MjcfTendonForce tendon;
	const CalJointDef *joint = cal_desc_joint(ex->desc, def->joint, NULL, NULL);
	return joint && export_is_always_on(def) && export_find_axis(ex, def->joint, def->dof, &link) &&
	       cal_joint_speed_count(joint) == 1 && affine_of(def, joint->name, &affine) &&
	       !(def->effort.formula && mjcf_find_tendon_force(ex, def, &tendon));
}

/* The keyframe has one number for each input. */
static bool takes_actuator(const Export *ex, const CalActuatorDef *def) {
	int link;
	return is_number(&def->control) && (def->node.value || export_find_axis(ex, def->joint, def->dof, &link));
}

bool mjcf_takes_device(Export *ex, const char *type, const void *device) {
	CalBodyId body;
	if (strcmp(type, "actuator") == 0)
		return takes_actuator(ex, device);
	if (strcmp(type, "spring") == 0)
		return !((const CalSpringDef *)device)->strut &&
		       !(((const CalSpringDef *)device)->cable && ((const CalSpringDef *)device)->length == 0);
	if (strcmp(type, "contact") == 0)
		return mjcf_takes_contact(ex, device);
	if (strcmp(type, "applied_load") != 0)
		return false;
	const CalAppliedLoadDef *def = device;
	MjcfTendonForce tendon;
	return is_effort(ex, def) || mjcf_find_tendon_force(ex, def, &tendon) ||
	       (export_is_constant_wrench(def) &&
	        (def->frame == CAL_FRAME_NODE || export_lifted_weight(ex, def, &body) != 0));
}

/* A constant effort on all scalar axes of a joint, or a constant wrench in axes of its node, at all times. */
bool mjcf_takes_load(Export *ex, const CalLoadDef *def) {
	int link;
	const bool always = def->start <= 0 && def->end == INFINITY;
	for (int i = 0; i < def->dof_count && def->joint.value; i++)
		if (def->dofs[i].has_acceleration || !export_find_axis(ex, def->joint, i, &link))
			return false;
	return always && (def->joint.value != 0 || (def->node.value != 0 && def->frame == CAL_FRAME_NODE));
}

typedef void (*DeviceFn)(MjcfOut *m, const void *def);

static void for_each(MjcfOut *m, const char *wanted, DeviceFn act) {
	const char *type;
	const void *def;
	for (int i = 0; cal_setup_device(m->ex->setup, i, &type, NULL, &def) == CAL_OK && m->ex->status == CAL_OK; i++)
		if (strcmp(type, wanted) == 0 && mjcf_takes_device(m->ex, type, def))
			act(m, def);
}

/* ---- weight compensation ------------------------------------------------------------------------------- */

enum { NO_SITE = -2 };

static void take_gravcomp(MjcfOut *m, const void *device) {
	const CalAppliedLoadDef *def = device;
	CalBodyId body = {0};
	const double factor = export_lifted_weight(m->ex, def, &body);
	if (factor == 0)
		return;
	m->gravcomp[m->ex->link_of_body[body.value]] += factor;
	m->site_of_node[def->node.value] = NO_SITE; // the reader makes it again
}

void mjcf_find_gravcomp(MjcfOut *m) { for_each(m, "applied_load", take_gravcomp); }

/* ---- actuators ----------------------------------------------------------------------------------------- */

/* Of an actuator without gain and input. */
static void put_bias(MjcfOut *m, double constant, double position, double speed) {
	Export *ex = m->ex;
	m->controls[m->control_count++] = 0;
	export_attribute(ex, "gainprm", "0");
	export_attribute(ex, "biastype", "affine");
	export_attribute_numbers(ex, "biasprm", (const double[3]){constant, position, speed}, 3);
}

static void put_effort(MjcfOut *m, const CalAppliedLoadDef *def) {
	Export *ex = m->ex;
	int link;
	MjcfAffine a;
	affine_of(def, cal_desc_joint(ex->desc, def->joint, NULL, NULL)->name, &a);
	export_find_axis(ex, def->joint, def->dof, &link);
	export_attribute(ex, "joint", ex->links[link].joint_name);
	put_bias(m, a.constant, a.position, a.speed);
	if (isfinite(a.lower)) {
		export_attribute(ex, "forcelimited", "true");
		export_attribute_numbers(ex, "forcerange", (const double[2]){a.lower, a.upper}, 2);
	}
	if (def->effort.formula)
		export_note(ex, CAL_IMPORT_CHANGED, "device", def->name, def->place,
		            "the inputs in its formula are part of the bias of an actuator without gain");
}

static void put_wrench(MjcfOut *m, const CalAppliedLoadDef *def) {
	const double gear[6] = {def->force[0].number,  def->force[1].number,  def->force[2].number,
	                        def->moment[0].number, def->moment[1].number, def->moment[2].number};
	export_attribute(m->ex, "site", m->sites[mjcf_site_of(m, def->node, def->name)].name);
	export_attribute_numbers(m->ex, "gear", gear, 6);
	put_bias(m, 1, 0, 0);
}

static void put_actuator(MjcfOut *m, const void *device) {
	const CalAppliedLoadDef *def = device;
	const bool effort = is_effort(m->ex, def);
	MjcfTendonForce tendon;
	if (!effort && mjcf_find_tendon_force(m->ex, def, &tendon)) {
		if (tendon.loads[0] == def)
			mjcf_put_tendon_actuator(m, &tendon);
		return;
	}
	if (!effort && m->site_of_node[def->node.value] == NO_SITE)
		return;
	export_open(m->ex, "general");
	export_attribute(m->ex, "name", export_new_name(m->ex, &m->device_names, def->name));
	if (effort)
		put_effort(m, def);
	else
		put_wrench(m, def);
	export_close(m->ex, "general");
}

/* Both ends 0, or both infinite: none. MJCF has no range with one end. */
static void put_range(Export *ex, const char *flag, const char *attribute, double lower, double upper) {
	static const double no_bound = 1e30;
	if ((lower == 0 && upper == 0) || (isinf(lower) && isinf(upper)))
		return;
	export_attribute(ex, flag, "true");
	export_attribute_numbers(ex, attribute, (const double[2]){fmax(lower, -no_bound), fmin(upper, no_bound)}, 2);
}

static void put_transmission(MjcfOut *m, const CalActuatorDef *def) {
	const CalVec3 f = def->force, t = def->moment;
	const double wrench[6] = {f.x, f.y, f.z, t.x, t.y, t.z};
	int link;
	if (def->node.value) {
		export_attribute(m->ex, "site", m->sites[mjcf_site_of(m, def->node, def->name)].name);
		export_attribute_numbers(m->ex, "gear", wrench, 6);
	} else if (export_find_axis(m->ex, def->joint, def->dof, &link)) {
		export_attribute(m->ex, "joint", m->ex->links[link].joint_name);
		export_attribute_number(m->ex, "gear", def->gear == 0 ? 1 : def->gear);
	}
}

static bool is_zero(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

static void put_gain(Export *ex, const CalActuatorDef *def) {
	const bool constant = def->gain[1] == 0 && def->gain[2] == 0;
	if (!constant)
		export_attribute(ex, "gaintype", "affine");
	export_attribute_numbers(ex, "gainprm", def->gain, constant ? 1 : 3);
	if (is_zero(def->bias))
		return;
	export_attribute(ex, "biastype", "affine");
	export_attribute_numbers(ex, "biasprm", def->bias, 3);
}

/* A motor has the gain 1 and no bias. */
static void put_motor(MjcfOut *m, const void *device) {
	const CalActuatorDef *def = device;
	const bool is_motor = def->gain[0] == 1 && def->gain[1] == 0 && def->gain[2] == 0 && is_zero(def->bias);
	const char *element = is_motor ? "motor" : "general";
	export_open(m->ex, element);
	export_attribute(m->ex, "name", export_name(m->ex, &m->device_names, "device", def->name, def->place));
	put_transmission(m, def);
	if (!is_motor)
		put_gain(m->ex, def);
	put_range(m->ex, "ctrllimited", "ctrlrange", def->control_lower, def->control_upper);
	put_range(m->ex, "forcelimited", "forcerange", def->lower, def->upper);
	export_close(m->ex, element);
	m->controls[m->control_count++] = def->control.number;
}

static void open_load(MjcfOut *m) {
	export_open(m->ex, "general");
	export_attribute(m->ex, "name", export_new_name(m->ex, &m->device_names, "load"));
}

static void put_load_on_joint(MjcfOut *m, const CalLoadDef *def) {
	int link = 0;
	for (int i = 0; i < def->dof_count; i++) {
		if (!def->dofs[i].has_effort || !export_find_axis(m->ex, def->joint, i, &link))
			continue;
		open_load(m);
		export_attribute(m->ex, "joint", m->ex->links[link].joint_name);
		put_bias(m, def->dofs[i].effort, 0, 0);
		export_close(m->ex, "general");
	}
}

static void put_load_on_node(MjcfOut *m, const CalLoadDef *def) {
	const CalVec3 f = def->wrench.linear, t = def->wrench.angular;
	open_load(m);
	export_attribute(m->ex, "site", m->sites[mjcf_site_of(m, def->node, "load")].name);
	export_attribute_numbers(m->ex, "gear", (const double[6]){f.x, f.y, f.z, t.x, t.y, t.z}, 6);
	put_bias(m, 1, 0, 0);
	export_close(m->ex, "general");
}

static void put_loads(MjcfOut *m) {
	CalLoadDef def;
	for (int i = 0; cal_setup_load(m->ex->setup, i, &def) == CAL_OK && m->ex->status == CAL_OK; i++) {
		if (!mjcf_takes_load(m->ex, &def))
			continue;
		if (def.joint.value)
			put_load_on_joint(m, &def);
		else
			put_load_on_node(m, &def);
	}
}

void mjcf_put_actuators(MjcfOut *m) {
	export_open(m->ex, "actuator");
	for_each(m, "actuator", put_motor);
	for_each(m, "applied_load", put_actuator);
	put_loads(m);
	export_close(m->ex, "actuator");
}

/* ---- tendons ------------------------------------------------------------------------------------------- */

static void put_end(MjcfOut *m, CalNodeId node, const char *name) {
	export_open(m->ex, "site");
	export_attribute(m->ex, "site", m->sites[mjcf_site_of(m, node, name)].name);
	export_close(m->ex, "site");
}

static void put_spring(MjcfOut *m, const void *device) {
	const CalSpringDef *def = device;
	export_open(m->ex, "spatial");
	export_attribute(m->ex, "name", export_new_name(m->ex, &m->device_names, def->name));
	export_attribute_number(m->ex, "stiffness", def->stiffness);
	export_attribute_number(m->ex, "damping", def->damping);
	export_attribute_numbers(m->ex, "springlength", (const double[2]){def->cable ? 0 : def->length, def->length}, 2);
	put_end(m, def->a, def->name);
	put_end(m, def->b, def->name);
	export_close(m->ex, "spatial");
}

static void place_spring(MjcfOut *m, const void *device) {
	const CalSpringDef *def = device;
	mjcf_site_of(m, def->a, def->name);
	mjcf_site_of(m, def->b, def->name);
}

static void place_wrench(MjcfOut *m, const void *device) {
	const CalAppliedLoadDef *def = device;
	if (def->node.value && !is_effort(m->ex, def) && m->site_of_node[def->node.value] != NO_SITE)
		mjcf_site_of(m, def->node, def->name);
}

static void place_actuator(MjcfOut *m, const void *device) {
	const CalActuatorDef *def = device;
	if (def->node.value)
		mjcf_site_of(m, def->node, def->name);
}

void mjcf_place_devices(MjcfOut *m) {
	CalLoadDef load;
	for_each(m, "actuator", place_actuator);
	for_each(m, "spring", place_spring);
	for_each(m, "applied_load", place_wrench);
	for (int i = 0; cal_setup_load(m->ex->setup, i, &load) == CAL_OK; i++)
		if (!load.joint.value && mjcf_takes_load(m->ex, &load))
			mjcf_site_of(m, load.node, "load");
}

static void put_force_tendon(MjcfOut *m, const void *device) {
	MjcfTendonForce tendon;
	if (!is_effort(m->ex, device) && mjcf_find_tendon_force(m->ex, device, &tendon) && tendon.loads[0] == device)
		mjcf_put_force_tendon(m, &tendon);
}

void mjcf_put_tendons(MjcfOut *m) {
	export_open(m->ex, "tendon");
	mjcf_put_coupling_tendons(m);
	for_each(m, "applied_load", put_force_tendon);
	for_each(m, "spring", put_spring);
	export_close(m->ex, "tendon");
}
