// SPDX-License-Identifier: Apache-2.0
/*
 * parameter.c — numbers that may change in a run (calder/parameter.h).
 *
 * In this order: those of devices, then of the description that the simulation keeps for changes of topology: springs and
 * dampers of joints, masses of rigid bodies, gravity of groups; of what it had at the start. A number of the description
 * changes as topology does: the group is compiled anew and takes over its state.
 *
 * A body whose mass changes keeps its shape: its inertia is scaled by the same factor.
 */
#include <calder/parameter.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "joint/pose_solve.h"
#include "model/description/check.h"
#include "model/model.h"
#include "transition/topology_edit.h"

typedef enum Owner { OF_DEVICE, OF_JOINT, OF_BODY, OF_GROUP } Owner;
enum { DOF_NUMBERS = 3, AXES = 3 }; // stiffness, rest, damping; x, y, z

/* Where a parameter is. */
typedef struct Place {
	Owner owner;
	uint32_t object; // device from 0; id of a joint, body or group
	int item;        // of the object, from 0
} Place;

/* ---- finding ----------------------------------------------------------------------------------------------- */

static int count_of_device(const SimDevice *device) {
	CalDeviceParameter about;
	int count = 0;
	while (device_parameter_at(device, count, &about))
		count++;
	return count;
}

/* How many objects of a kind there were at the start, and how many parameters one has. */
static int objects_of(const CalSim *sim, Owner owner) {
	const SimOrigin *origin = &sim->origin;
	if (owner == OF_DEVICE)
		return sim->device_count;
	return !sim->topology ? 0 : owner == OF_JOINT ? origin->joints : owner == OF_BODY ? origin->bodies : origin->groups;
}

static int items_of(const CalSim *sim, Owner owner, int object) {
	switch (owner) {
	case OF_DEVICE:
		return count_of_device(&sim->devices[object]);
	case OF_JOINT:
		return DOF_NUMBERS * joint_speed_count(&sim->topology->joints[object].def);
	case OF_BODY:
		return 1;
	default:
		return AXES;
	}
}

/* False: there are fewer; *index is less by those that there are. */
static bool find_place(const CalSim *sim, int *index, Place *place) {
	for (Owner owner = OF_DEVICE; owner <= OF_GROUP; owner++)
		for (int i = 0; i < objects_of(sim, owner); i++) {
			const int count = items_of(sim, owner, i);
			if (*index < count) {
				*place = (Place){owner, (uint32_t)i + (owner != OF_DEVICE), *index};
				return true;
			}
			*index -= count;
		}
	return false;
}

int cal_sim_parameter_count(const CalSim *sim) {
	Place place;
	int index = INT32_MAX;
	if (sim)
		find_place(sim, &index, &place);
	return sim ? INT32_MAX - index : 0;
}

/* ---- describing -------------------------------------------------------------------------------------------- */

static double *number_of_dof(CalDofDef *dof, int item) {
	return item == 0 ? &dof->stiffness : item == 1 ? &dof->rest : &dof->damping;
}

static void describe_joint(const CalSim *sim, Place place, CalParameter *p) {
	static const char *const keys[DOF_NUMBERS] = {"stiffness", "rest", "damping"};
	static const char *const units[DOF_NUMBERS][2] = {
		{"N m/rad", "N/m"}, {"rad", "m"}, {"N m s/rad", "N s/m"}}; // a dof that turns, one that slides
	TopologyJoint *joint = topology_joint(sim->topology, place.object);
	const int dof = place.item / DOF_NUMBERS, key = place.item % DOF_NUMBERS;
	const bool several = joint_speed_count(&joint->def) > 1;
	CalCoordinateInfo info = {.kind = CAL_COORDINATE_ANGLE};
	cal_joint_speed(&joint->def, dof, &info);
	snprintf(p->name, sizeof p->name, several ? "joint:%.200s.%s%d" : "joint:%.200s.%s", joint->def.name, keys[key],
	         dof + 1);
	snprintf(p->unit, sizeof p->unit, "%s", units[key][info.kind == CAL_COORDINATE_LENGTH]);
	p->value = *number_of_dof(&joint->def.dof[dof], key);
	p->low = key == 1 ? -DBL_MAX : 0;
	p->fixed = joint->state == CAL_JOINT_IN_TREE ? NULL : "the joint is not in the tree";
}

static void describe_body(const CalSim *sim, Place place, CalParameter *p) {
	const DescBody *body = &sim->topology->desc->bodies[place.object - 1];
	snprintf(p->name, sizeof p->name, "body:%.200s.mass", body->def.name);
	snprintf(p->unit, sizeof p->unit, "kg");
	p->value = body->def.mass;
	p->above = 1;
	p->fixed = body->flex                                                                    ? "the body is flexible"
	           : !(body->def.mass > 0)                                                       ? "the body has no mass"
	           : topology_group(sim->topology, place.object) == sim->topology->parking.value ? "the body was removed"
	                                                                                         : NULL;
}

static int group_in_sim(const CalSim *sim, uint32_t group) {
	for (int i = 0; i < sim->group_count; i++)
		if (topology_group(sim->topology, sim->groups[i].model->bodies[0].id.value) == group)
			return i;
	return -1;
}

static double *number_of_group(const CalSim *sim, Place place) {
	CalVec3 *gravity = &sim->topology->desc->groups[place.object - 1].gravity;
	return place.item == 0 ? &gravity->x : place.item == 1 ? &gravity->y : &gravity->z;
}

static void describe_group(const CalSim *sim, Place place, CalParameter *p) {
	const CalGroupDef *group = &sim->topology->desc->groups[place.object - 1];
	snprintf(p->name, sizeof p->name, "group:%.200s.gravity.%c", group->name, "xyz"[place.item]);
	snprintf(p->unit, sizeof p->unit, "m/s^2");
	p->value = *number_of_group(sim, place);
	p->low = -DBL_MAX;
	p->fixed = group_in_sim(sim, place.object) < 0 ? "the group has no bodies" : NULL;
}

static double *describe_device(const CalSim *sim, Place place, CalParameter *p) {
	const SimDevice *device = &sim->devices[place.object];
	CalDeviceParameter about;
	double *number = device_parameter_at(device, place.item, &about);
	snprintf(p->name, sizeof p->name, "device:%.120s.%s", device->def.name, about.name);
	snprintf(p->unit, sizeof p->unit, "%s", about.unit);
	p->value = *number;
	p->low = about.low;
	p->high = about.high;
	p->above = about.above;
	p->fixed = about.fixed;
	return number;
}

static void describe(const CalSim *sim, Place place, CalParameter *p) {
	*p = (CalParameter){.high = DBL_MAX};
	if (place.owner == OF_DEVICE)
		describe_device(sim, place, p);
	else if (place.owner == OF_JOINT)
		describe_joint(sim, place, p);
	else if (place.owner == OF_BODY)
		describe_body(sim, place, p);
	else
		describe_group(sim, place, p);
}

CalStatus cal_sim_parameter(const CalSim *sim, int index, CalParameter *parameter) {
	Place place;
	if (!sim || !parameter || index < 0 || !find_place(sim, &index, &place))
		return CAL_ERR_ARGUMENT;
	describe(sim, place, parameter);
	return CAL_OK;
}

int cal_sim_find_parameter(const CalSim *sim, const char *name) {
	int index = 0;
	for (Owner owner = OF_DEVICE; sim && name && owner <= OF_GROUP; owner++)
		for (int i = 0; i < objects_of(sim, owner); i++) {
			const int count = items_of(sim, owner, i);
			for (int k = 0; k < count; k++, index++) {
				CalParameter p;
				describe(sim, (Place){owner, (uint32_t)i + (owner != OF_DEVICE), k}, &p);
				if (strcmp(p.name, name) == 0)
					return index;
			}
		}
	return -1;
}

/* ---- changing ----------------------------------------------------------------------------------------------- */

/* As when a device is switched: what it holds beyond what it held before is booked. */
static CalStatus set_device(CalSim *sim, Place place, double value) {
	CalParameter p;
	CalEvalContext context;
	CalStatus status = sim->started ? sim_evaluate_for_observers(sim, false, &context) : CAL_OK;
	if (status != CAL_OK)
		return status;
	const double held = sim->started ? context.stored : 0;
	double *number = describe_device(sim, place, &p);
	*number = value;
	status = sim_bind(sim); // of the same size as before: it does not allocate
	if (status == CAL_OK && sim->started)
		status = sim_evaluate_for_observers(sim, false, &context);
	if (status == CAL_OK && sim->started)
		balance_add_loss(sim, held - context.stored);
	if (status != CAL_OK) {
		*number = p.value;
		sim_bind(sim);
	}
	return status;
}

static CalStatus set_joint(TopologyEdit *c, Place place, double value) {
	TopologyJoint *joint = topology_joint(c->t, place.object);
	Check check = {.desc = c->t->desc, .report = edit_keep_first_error, .user = c->error};
	*number_of_dof(&joint->def.dof[place.item / DOF_NUMBERS], place.item % DOF_NUMBERS) = value;
	check_joint(&check, &joint->def);
	CalJointDef reversed;
	const char *why = joint->reversed ? joint_reverse(&joint->def, &reversed) : NULL;
	if (!check.failed && why)
		return error_set(c->error, CAL_ERR_MODEL, "joint \"%s\" is turned over, and would then be one that %s",
		                 joint->def.name, why);
	topology_put_joint(c->t, place.object);
	return check.failed ? CAL_ERR_MODEL : CAL_OK;
}

static void set_mass(CalBodyDef *body, double mass) {
	const double factor = mass / body->mass;
	body->mass = mass;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			body->inertia.m[i][k] *= factor;
}

static uint32_t group_of(const CalSim *sim, Place place) {
	const Topology *t = sim->topology;
	if (place.owner == OF_GROUP)
		return place.object;
	const uint32_t body = place.owner == OF_BODY
	                          ? place.object
	                          : topology_node_body(t, topology_outboard(topology_joint(t, place.object)));
	return topology_group(t, body);
}

static CalStatus set_model(CalSim *sim, Place place, double value, CalError *error) {
	TopologyEdit c;
	CalStatus status = edit_begin(sim, NULL, error, &c);
	if (status != CAL_OK)
		return status;
	CalBodyDef *body = place.owner == OF_BODY ? &c.t->desc->bodies[place.object - 1].def : NULL;
	const CalBodyDef was = body ? *body : (CalBodyDef){0};
	c.group[0] = group_of(sim, place);
	c.made_count = 1;
	edit_add_group(&c, c.group[0]);
	if (body)
		set_mass(body, value);
	else if (place.owner == OF_JOINT)
		status = set_joint(&c, place, value);
	else
		*number_of_group(sim, place) = value;
	status = edit_build_and_commit(&c, status, NULL);
	if (status != CAL_OK && body)
		*body = was;
	return status;
}

static CalStatus refuse(const CalParameter *p, double value, CalError *error) {
	if (p->fixed)
		return error_set(error, CAL_ERR_ARGUMENT, "%s cannot be changed: %s", p->name, p->fixed);
	char low[60] = "", high[60] = "";
	if (p->low > -DBL_MAX)
		snprintf(low, sizeof low, " %s %g", p->above ? "above" : "from", p->low);
	if (p->high < DBL_MAX)
		snprintf(high, sizeof high, " up to %g", p->high);
	return error_set(error, CAL_ERR_ARGUMENT, "%s cannot be %g: give a finite number%s%s%s%s", p->name, value, low,
	                 high, p->unit[0] ? " " : "", p->unit);
}

static double energy_added(CalSim *sim) { return sim->account[ACCOUNT_SUPPLIED] - sim->account[ACCOUNT_DISSIPATED]; }

CalStatus cal_sim_set_parameter(CalSim *sim, int index, double value, double *energy, CalError *error) {
	Place place;
	CalParameter p;
	if (energy)
		*energy = 0;
	if (!sim || index < 0 || !find_place(sim, &index, &place))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_set_parameter: there is no such parameter");
	CalStatus status = formulation_refuse(sim, "changes of parameters", error);
	if (status != CAL_OK)
		return status;
	if (sim->ranks)
		return error_set(error, CAL_ERR_UNSUPPORTED, "the simulation is distributed: its parameters cannot be changed");
	describe(sim, place, &p);
	if (p.fixed || !isfinite(value) || value < p.low || value > p.high || (p.above && value == p.low))
		return refuse(&p, value, error);
	if (p.value == value)
		return CAL_OK;
	const double before = energy_added(sim);
	status = place.owner == OF_DEVICE ? set_device(sim, place, value) : set_model(sim, place, value, error);
	if (status == CAL_OK && energy)
		*energy = energy_added(sim) - before;
	if (status != CAL_OK && error && !error->text[0])
		error_set(error, status, "%s: %s", p.name, cal_status_text(status));
	return status;
}
