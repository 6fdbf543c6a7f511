// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_extension.c — what is not a link or joint: transmissions, extensions of other programs, remains of xacro.
 *
 * A rotor counts with its inertia times the square of the reduction (docs/urdf.md). Every element of an extension is named
 * in the report; what would close loops or change joints is missing, the rest has no effect here.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "io/urdf/urdf_reader.h"

static bool begins_with(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

/* ---- xacro ------------------------------------------------------------------------------------------- */

/* Extensions are left out, whatever they hold. */
static bool is_extension(const XmlElement *e) {
	return xml_is(e, "gazebo") || xml_is(e, "mujoco") || begins_with(e->name, "drake:") || xml_is(e, "ros2_control");
}

static bool is_unexpanded(const char *text) {
	for (const char *at = strchr(text, '$'); at; at = strchr(at + 1, '$'))
		if (at[1] == '{' || at[1] == '(')
			return true;
	return false;
}

static bool refuse_macro(Urdf *u, const XmlElement *e) {
	if (begins_with(e->name, "xacro:"))
		return import_fail(
			u->im, e,
			"<%.60s>: unexpanded xacro: this is not a URDF yet; run \"xacro FILE > robot.urdf\" and read "
			"that",
			e->name);
	for (int i = 0; i < e->attribute_count; i++)
		if (is_unexpanded(e->attributes[i].value))
			return import_fail(
				u->im, e, "<%.60s %.40s=\"%.80s\">: unexpanded xacro; run \"xacro FILE > robot.urdf\" and read that",
				e->name, e->attributes[i].name, e->attributes[i].value);
	return true;
}

/* The tree is at most XML_MAX_DEPTH deep. */
static bool refuse_macros(Urdf *u, const XmlElement *e) {
	if (is_extension(e))
		return true;
	if (!refuse_macro(u, e))
		return false;
	for (const XmlElement *child = e->first; child; child = child->next)
		if (!refuse_macros(u, child))
			return false;
	return true;
}

bool urdf_refuse_xacro(Urdf *u) { return xml_is_plain(u->im->tree) || refuse_macros(u, u->robot); }

/* ---- transmissions ------------------------------------------------------------------------------------ */

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

static bool report_transmission(Urdf *u, XmlElement *e, const Rotor *rotor) {
	if (rotor->has_ratio && rotor->ratio != 1)
		return import_ignore(u->im, e,
		                     "a reduction of %g without the inertia of a rotor has no effect on the motion; add "
		                     "<drake:rotor_inertia value=\"...\"/> to <actuator> if the rotor matters",
		                     rotor->ratio);
	return import_ignore(u->im, e, "names an actuator and its interface; it has no effect on the motion");
}

/* What a transmission with a rotor holds besides: names, and the interface to a controller. */
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

static bool read_transmission(Urdf *u, XmlElement *e) {
	XmlElement *type = xml_child(e, "type"), *joint = xml_child(e, "joint"), *actuator = xml_child(e, "actuator");
	const char *kind = type ? xml_content(type) : xml_get(e, "type");
	kind = kind ? kind : "";
	Rotor rotor;
	if (!read_rotor(u, e, actuator, &rotor))
		return false;
	if (!(rotor.inertia > 0))
		return report_transmission(u, e, &rotor);
	const char *name = joint ? xml_get(joint, "name") : NULL;
	const int number = name ? urdf_find_joint(u, name) : -1;
	if (!is_simple(kind) || (joint && xml_again(joint)))
		return import_missing(u->im, e,
		                      "only simple transmissions, of one actuator to one joint, have a rotor here; give "
		                      "each joint one of its own");
	if (number < 0)
		return import_missing(u->im, e, "it has a rotor, but there is no joint \"%.80s\"; correct the name",
		                      name ? name : "");
	return ignore_interfaces(u, e, joint, actuator) && set_rotor(u, e, &u->joints[number], &rotor);
}

bool urdf_read_transmissions(Urdf *u) {
	for (XmlElement *e = xml_child(u->robot, "transmission"); e; e = xml_again(e))
		if (!read_transmission(u, e))
			return false;
	return true;
}

/* ---- other programs ------------------------------------------------------------------------------------- */

static bool is_among(const char *name, const char *const *names) {
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

static bool is_off(const XmlElement *e) {
	return strcmp(e->text, "false") == 0 || strcmp(e->text, "0") == 0 || strcmp(e->text, "0.0") == 0;
}

/* <gravity> of Gazebo changes the motion if it is off, the others if they are not. */
static bool moves_robot(const XmlElement *e, const char *const *moving) {
	return xml_is(e, "gravity") ? is_off(e) : is_among(e->name, moving) && !is_off(e);
}

/* Elements of Gazebo that would change the motion of the robot by itself. */
static bool report_gazebo(Urdf *u, XmlElement *gazebo) {
	static const char *const moving[] = {"joint",          "springStiffness", "springReference",
	                                     "turnGravityOff", "gravity_disable", "static",
	                                     "kinematic",      "dampingFactor",   "link",
	                                     "model",          "include",         NULL};
	const char *about = xml_get(gazebo, "reference");
	gazebo->used = true;
	if (!gazebo->first)
		return import_ignore(u->im, gazebo, "an extension for Gazebo without content");
	for (XmlElement *e = gazebo->first; e; e = e->next) {
		const bool moves = moves_robot(e, moving);
		if (moves ? !import_missing(u->im, e, "of Gazebo%s%.80s: it changes the motion; add it to the converted model",
		                            about ? ", about " : "", about ? about : "")
		          : !import_ignore(u->im, e, "an extension for Gazebo%s%.80s", about ? ", about " : "",
		                           about ? about : ""))
			return false;
	}
	return true;
}

static bool report_mujoco(Urdf *u, XmlElement *mujoco) {
	if (!mujoco->first)
		return import_ignore(u->im, mujoco, "an extension for MuJoCo without content");
	for (XmlElement *e = mujoco->first; e; e = e->next)
		if (!import_ignore(
				u->im, e,
				"an extension for MuJoCo: masses, inertias, names and paths are taken as the URDF gives them"))
			return false;
	mujoco->used = true;
	return true;
}

static bool report_drake(Urdf *u, XmlElement *e) {
	static const char *const moving[] = {
		"drake:joint", "drake:ball_constraint", "drake:linear_bushing_rpy", "drake:screw_thread_pitch", "drake:mimic",
		NULL};
	return is_among(e->name, moving)
	           ? import_missing(u->im, e, "of Drake: it changes the motion; add it to the converted model")
	           : import_ignore(u->im, e, "an extension for Drake");
}

static bool report_extension(Urdf *u, XmlElement *e) {
	static const char *const loops[] = {"loop_joint", "loop", "constraint", "coupling", NULL};
	if (e->used)
		return true;
	if (xml_is(e, "gazebo"))
		return report_gazebo(u, e);
	if (xml_is(e, "mujoco"))
		return report_mujoco(u, e);
	if (begins_with(e->name, "drake:"))
		return report_drake(u, e);
	if (is_among(e->name, loops))
		return import_missing(u->im, e,
		                      "URDF has trees only, and no common way to close loops; close them in the converted "
		                      "model (docs/loops.md)");
	if (xml_is(e, "ros2_control"))
		return import_ignore(u->im, e, "interfaces for controllers of ROS");
	if (xml_is(e, "sensor"))
		return import_ignore(u->im, e, "sensors have no effect on the motion");
	return true;
}

bool urdf_report_extensions(Urdf *u) {
	for (XmlElement *e = u->robot->first; e; e = e->next) {
		if (!report_extension(u, e))
			return false;
		if (!xml_is(e, "link") && !xml_is(e, "joint"))
			continue;
		for (XmlElement *inner = e->first; inner; inner = inner->next)
			if (!report_extension(u, inner))
				return false;
	}
	return true;
}
