// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_extension.c — extensions of other programs, remains of xacro.
 *
 * Every element of an extension is named in the report; what would close loops or change joints is missing, the rest has no
 * effect here.
 */
#include <string.h>

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
