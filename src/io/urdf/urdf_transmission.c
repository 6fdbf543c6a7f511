// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_transmission.c — transmissions: rotors and motors of joints (docs/urdf.md).
 *
 * A rotor counts with its inertia times the square of the reduction. A motor is a device of type actuator with the reduction
 * as its gear; URDF has no inputs, so that it is idle, and the effort of the joint's <limit> bounds it. A transmission with a
 * rotor, without <mechanicalReduction> and <hardwareInterface>, is a rotor and no motor: the writer has motors apart.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "io/urdf/urdf_reader.h"

enum { PLACE = 400 };

/* ---- rotors -------------------------------------------------------------------------------------------- */

/* A number as text or `value`; text that is none, as in published files, is named and does not count. */
static bool read_soft(Urdf *u, XmlElement *e, double *value, bool *given) {
	const char *text = e && xml_peek(e, "value") ? xml_get(e, "value") : e ? xml_content(e) : "";
	double number = 0;
	*given = false;
	if (!e)
		return true;
	const char *end = number_parse(text + strspn(text, " \t\r\n"), &number);
	if (!end || end[strspn(end, " \t\r\n")] || !isfinite(number))
		return import_note(u->im, CAL_IMPORT_ASSUMED, e, NULL, "\"%.60s\" is not a number; it was left out", text);
	*value = number;
	*given = true;
	return true;
}

/* In the actuator, or in the transmission itself as in older files. */
static XmlElement *part_of(XmlElement *transmission, XmlElement *actuator, const char *name) {
	XmlElement *found = xml_child(actuator, name);
	return found ? found : xml_child(transmission, name);
}

typedef struct Rotor {
	double inertia, ratio;
	bool has_inertia, has_ratio;
} Rotor;

static bool read_rotor(Urdf *u, XmlElement *transmission, XmlElement *actuator, Rotor *rotor) {
	static const char *const inertias[] = {"drake:rotor_inertia", "rotorInertia", "rotor_inertia", "motorInertia"};
	static const char *const ratios[] = {"drake:gear_ratio", "mechanicalReduction"};
	*rotor = (Rotor){.ratio = 1};
	for (int i = 0; i < 4; i++) {
		XmlElement *e = rotor->has_inertia ? NULL : part_of(transmission, actuator, inertias[i]);
		if (e && !read_soft(u, e, &rotor->inertia, &rotor->has_inertia))
			return false;
	}
	for (int i = 0; i < 2; i++) {
		XmlElement *e = rotor->has_ratio ? NULL : part_of(transmission, actuator, ratios[i]);
		if (e && !read_soft(u, e, &rotor->ratio, &rotor->has_ratio))
			return false;
	}
	if (!(rotor->inertia >= 0))
		return import_fail(u->im, actuator ? actuator : transmission,
		                   "the inertia of the rotor is %g; it is not below zero", rotor->inertia);
	return true;
}

static bool set_rotor(Urdf *u, XmlElement *e, UrdfJoint *joint, const Rotor *rotor) {
	if (joint->transmission)
		return import_missing(u->im, e,
		                      "joint \"%.80s\" has a rotor already (line %d); add the inertias up in one transmission",
		                      joint->name, joint->transmission->line);
	if (!urdf_is_scalar(joint))
		return import_missing(u->im, e, "joint \"%.80s\" does not have exactly one degree of freedom; remove its rotor",
		                      joint->name);
	joint->transmission = e;
	joint->dof.rotor_inertia = rotor->inertia;
	joint->dof.gear_ratio = rotor->has_ratio ? rotor->ratio : 0;
	return true;
}

static bool is_simple(const char *type) { return !type[0] || strstr(type, "SimpleTransmission") != NULL; }

/* What a transmission holds besides: names, and the interface to a controller. */
static bool ignore_interfaces(Urdf *u, XmlElement *transmission, XmlElement *joint, XmlElement *actuator) {
	XmlElement *const owners[] = {transmission, joint, actuator};
	for (int i = 0; i < 3; i++) {
		if (!owners[i])
			continue;
		xml_get(owners[i], "name");
		for (XmlElement *e = xml_child(owners[i], "hardwareInterface"); e; e = xml_again(e))
			if (!import_ignore(u->im, e, "an interface for controllers of ROS"))
				return false;
	}
	return true;
}

/* ---- motors -------------------------------------------------------------------------------------------- */

/* A name that no other motor has, nor a stop or friction. */
static const char *motor_name(Urdf *u, const XmlElement *transmission, const XmlElement *actuator) {
	const char *given = actuator ? xml_peek(actuator, "name") : NULL;
	const char *name = given && given[0] ? given : xml_peek(transmission, "name");
	name = name && name[0] ? name : "motor";
	const size_t length = strlen(name), size = length + 40;
	char *text = xml_array(u->im->tree, size, 1);
	if (!text || !name_index_reserve(&u->im->allocator, &u->motor_names))
		return import_no_memory(u->im), NULL;
	const bool is_taken = (length > 6 && strcmp(name + length - 6, "_limit") == 0) ||
	                      (length > 9 && strcmp(name + length - 9, "_friction") == 0);
	snprintf(text, size, "%s%s", name, is_taken ? "_motor" : "");
	const size_t base = strlen(text);
	for (int i = 2; urdf_find_motor(u, text) >= 0; i = i < 64 ? i + 1 : i + 1 + u->motor_count / 4)
		snprintf(text + base, size - base, "_%d", i);
	return text;
}

static bool add_motor(Urdf *u, XmlElement *e, XmlElement *actuator, int joint, double gear) {
	UrdfMotor *motor = &u->motors[u->motor_count];
	*motor = (UrdfMotor){e, motor_name(u, e, actuator), joint, gear};
	if (!motor->name)
		return false;
	name_index_insert(&u->motor_names, name_hash(0, motor->name, strlen(motor->name)), (uint32_t)++u->motor_count);
	return import_note(
		u->im, CAL_IMPORT_ASSUMED, e, NULL,
		"a motor with the gear %g; URDF has no inputs, taken: 0. Edit \"control\" of the converted model", gear);
}

int urdf_find_motor(const Urdf *u, const char *name) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(&u->motor_names, name_hash(0, name, strlen(name)), &cursor)) != 0)
		if (strcmp(u->motors[value - 1].name, name) == 0)
			return (int)value - 1;
	return -1;
}

static bool is_motor(XmlElement *transmission, XmlElement *actuator, const Rotor *rotor) {
	return !rotor->has_inertia || part_of(transmission, actuator, "mechanicalReduction") ||
	       part_of(transmission, actuator, "hardwareInterface");
}

/* ---- both ---------------------------------------------------------------------------------------------- */

/* The joint of a transmission of one actuator to one joint; -1: it is none of these. */
static int only_joint(const Urdf *u, XmlElement *e) {
	XmlElement *type = xml_child(e, "type"), *joint = xml_child(e, "joint"), *actuator = xml_child(e, "actuator");
	const char *kind = type ? xml_content(type) : xml_get(e, "type"), *name = joint ? xml_peek(joint, "name") : NULL;
	if (!is_simple(kind ? kind : "") || !name || xml_again(joint) || (actuator && xml_again(actuator)))
		return -1;
	return urdf_find_joint(u, name);
}

static bool report_transmission(Urdf *u, XmlElement *e, const Rotor *rotor) {
	const XmlElement *joint = xml_child(e, "joint");
	const char *name = joint ? xml_peek(joint, "name") : NULL;
	if (name && urdf_find_joint(u, name) < 0 && !(rotor->inertia > 0))
		return import_ignore(u->im, e, "there is no joint \"%.80s\"; correct the name", name);
	if (rotor->inertia > 0)
		return import_missing(u->im, e,
		                      "only simple transmissions, of one actuator to one joint of the file, have a rotor here; "
		                      "give each joint one of its own, and correct names of joints");
	return import_ignore(
		u->im, e,
		"it is no simple transmission, of one actuator to one joint with one degree of freedom; it has "
		"no effect on the motion");
}

static bool read_transmission(Urdf *u, XmlElement *e) {
	XmlElement *joint = xml_child(e, "joint"), *actuator = xml_child(e, "actuator");
	const int number = only_joint(u, e);
	Rotor rotor;
	if (!read_rotor(u, e, actuator, &rotor))
		return false;
	if (number < 0 || !(rotor.inertia > 0 || urdf_is_scalar(&u->joints[number])))
		return report_transmission(u, e, &rotor);
	xml_get(joint, "name");
	if (!ignore_interfaces(u, e, joint, actuator) ||
	    (rotor.inertia > 0 && !set_rotor(u, e, &u->joints[number], &rotor)))
		return false;
	if (!urdf_is_scalar(&u->joints[number]) || !is_motor(e, actuator, &rotor))
		return true;
	if (rotor.ratio == 0)
		return import_ignore(u->im, e, "its reduction is 0: it is no motor");
	return add_motor(u, e, actuator, number, rotor.ratio);
}

bool urdf_find_transmissions(Urdf *u) {
	int count = 0;
	for (XmlElement *e = xml_child(u->robot, "transmission"); e; e = xml_again(e)) {
		const int joint = only_joint(u, e);
		if (joint >= 0)
			u->joints[joint].has_transmission = true;
		count++;
	}
	u->motors = xml_array(u->im->tree, (size_t)count + 1, sizeof *u->motors);
	return u->motors || import_no_memory(u->im);
}

bool urdf_read_transmissions(Urdf *u) {
	for (XmlElement *e = xml_child(u->robot, "transmission"); e; e = xml_again(e))
		if (!read_transmission(u, e))
			return false;
	return true;
}

static bool build_motor(Urdf *u, const UrdfMotor *motor) {
	const UrdfJoint *joint = &u->joints[motor->joint];
	char place[PLACE];
	double effort = INFINITY;
	bool given = false;
	if (joint->limit && !import_bound(u->im, joint->limit, "effort", &effort, &given))
		return false;
	if (!(effort > 0) && !import_note(u->im, CAL_IMPORT_ASSUMED, joint->limit, "effort",
	                                  "it is %g, which no motor could move the joint with; taken: no bound", effort))
		return false;
	if (!(effort > 0) || effort >= URDF_NO_BOUND)
		effort = INFINITY;
	const double most = effort / fabs(motor->gear);
	const CalActuatorDef def = {.name = motor->name,
	                            .joint = joint->id,
	                            .gear = motor->gear,
	                            .gain = {1, 0, 0},
	                            .control_lower = -INFINITY,
	                            .control_upper = INFINITY,
	                            .lower = -most,
	                            .upper = most,
	                            .place = xml_place(motor->element, place, sizeof place)};
	return import_ok(u->im, cal_setup_add_device(u->im->setup, "actuator", &def, u->im->error));
}

bool urdf_build_motors(Urdf *u) {
	for (int i = 0; i < u->motor_count; i++)
		if (!build_motor(u, &u->motors[i]))
			return false;
	return true;
}
