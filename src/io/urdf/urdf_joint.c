// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_joint.c — joints: type, pose, axis, damping and friction, mimics.
 *
 * The axis is (1, 0, 0) unless given, of a planar joint the normal of the plane. Damping and friction belong to joints with
 * one degree of freedom; of others the format does not say what they mean.
 */
#include <math.h>

#include "io/urdf/urdf_reader.h"

static const char *const urdf_joint_words[] = {"fixed",  "revolute", "continuous", "prismatic",
                                               "planar", "floating", NULL};

bool urdf_is_scalar(const UrdfJoint *joint) {
	return joint->type == URDF_REVOLUTE || joint->type == URDF_CONTINUOUS || joint->type == URDF_PRISMATIC;
}

const char *urdf_unit(const UrdfJoint *joint) { return joint->type == URDF_PRISMATIC ? "m" : "rad"; }

/* ---- axis --------------------------------------------------------------------------------------------- */

static bool read_axis(Urdf *u, UrdfJoint *joint) {
	XmlElement *e = xml_child(joint->element, "axis");
	const bool has_axis = joint->type != URDF_FIXED && joint->type != URDF_FLOATING;
	CalVec3 axis = {1, 0, 0};
	if (e && !import_vec3(u->im, e, "xyz", &axis, NULL))
		return false;
	if (!has_axis) // a zero there is common, and harmless
		return true;
	const double length = sqrt(axis.x * axis.x + axis.y * axis.y + axis.z * axis.z);
	if (!(length > 1e-9) || !isfinite(length))
		return import_fail(u->im, e ? e : joint->element,
		                   "joint \"%.80s\": its axis has the length %g; give a direction", joint->name, length);
	joint->axis = axis;
	import_unit(&joint->axis.x, 3);
	return !e || import_question_length(u->im, e, "xyz", &axis.x, 3);
}

/* ---- damping and friction ------------------------------------------------------------------------------- */

static bool read_dynamics(Urdf *u, UrdfJoint *joint) {
	XmlElement *e = xml_child(joint->element, "dynamics");
	double damping = 0;
	if (!e)
		return true;
	if (!import_number(u->im, e, "damping", &damping, NULL) ||
	    !import_number(u->im, e, "friction", &joint->friction, NULL))
		return false;
	if (!(damping >= 0 && isfinite(damping) && joint->friction >= 0 && isfinite(joint->friction)))
		return import_fail(u->im, e, "joint \"%.80s\": damping is %g and friction %g; neither is below zero",
		                   joint->name, damping, joint->friction);
	if (urdf_is_scalar(joint)) {
		joint->dof.damping = damping;
		return true;
	}
	const bool acts = damping > 0 || joint->friction > 0;
	joint->friction = 0;
	if (!acts)
		return true;
	if (joint->type == URDF_FIXED)
		return import_ignore(u->im, e, "joint \"%.80s\" is fixed", joint->name);
	return import_missing(
		u->im, e,
		"joint \"%.80s\" is %s: URDF does not say on which of its degrees of freedom damping and friction "
		"act; remove them, and add them to the converted model",
		joint->name, urdf_joint_words[joint->type]);
}

/* ---- mimics ----------------------------------------------------------------------------------------------- */

static bool read_mimic(Urdf *u, UrdfJoint *joint) {
	XmlElement *e = xml_child(joint->element, "mimic");
	UrdfMimic *mimic = &joint->mimic;
	if (!e)
		return true;
	const char *leader = import_required(u->im, e, "joint");
	mimic->multiplier = 1;
	if (!leader || !import_number(u->im, e, "multiplier", &mimic->multiplier, NULL) ||
	    !import_number(u->im, e, "offset", &mimic->offset, NULL))
		return false;
	if (!isfinite(mimic->multiplier) || !isfinite(mimic->offset))
		return import_fail(u->im, e, "joint \"%.80s\": multiplier and offset of a mimic are finite numbers",
		                   joint->name);
	if (!urdf_is_scalar(joint)) {
		if (joint->type == URDF_FIXED)
			return import_ignore(u->im, e, "joint \"%.80s\" is fixed: it follows nothing", joint->name);
		return import_missing(u->im, e, "joint \"%.80s\" is %s: a mimic is for joints with one degree of freedom",
		                      joint->name, urdf_joint_words[joint->type]);
	}
	mimic->element = e;
	return true;
}

/* ---- joints ------------------------------------------------------------------------------------------------- */

static bool read_joint(Urdf *u, UrdfJoint *joint) {
	XmlElement *e = joint->element;
	int type = 0;
	bool given = false;
	if (!import_word(u->im, e, "type", urdf_joint_words, &type, &given))
		return false;
	if (!given)
		return import_fail(u->im, e, "joint \"%.80s\" has no type; write type=\"revolute\" or another", joint->name);
	joint->type = (UrdfJointType)type;
	if (joint->type == URDF_PLANAR &&
	    !import_note(u->im, CAL_IMPORT_ASSUMED, e, NULL,
	                 "URDF gives the normal of the plane but no directions in it; taken: x-like, then "
	                 "normal x that"))
		return false;
	return urdf_read_origin(u, e, &joint->origin) && read_axis(u, joint) && urdf_read_limit(u, joint) &&
	       read_dynamics(u, joint) && read_mimic(u, joint);
}

bool urdf_read_joints(Urdf *u) {
	for (int i = 0; i < u->joint_count; i++)
		if (!read_joint(u, &u->joints[i]))
			return false;
	return true;
}
