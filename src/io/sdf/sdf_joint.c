// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_joint.c — joints: types, axes and what acts along them.
 *
 * The axis stands in the joint frame, unless the file names another by expressed_in (from 1.7), asks for that of the model
 * by use_parent_model_frame (1.5 and 1.6), or is older: then it is that of the model. It is turned into the joint frame once,
 * at the start.
 */
#include <math.h>
#include <string.h>

#include "io/sdf/sdf_reader.h"

static const double pi = 3.14159265358979323846;

static bool child_number(Sdf *s, XmlElement *owner, const char *name, double *value, bool *given) {
	XmlElement *e = xml_child(owner, name);
	if (given)
		*given = e != NULL;
	return !e || import_number(s->im, e, NULL, value, NULL);
}

static bool child_bound(Sdf *s, XmlElement *owner, const char *name, double *value) {
	XmlElement *e = xml_child(owner, name);
	return !e || import_bound(s->im, e, NULL, value, NULL);
}

/* ---- directions ---------------------------------------------------------------------------------------- */

/* The frame whose axes the components of an axis are in. */
static bool find_axis_frame(Sdf *s, const SdfJoint *joint, XmlElement *axis, XmlElement *xyz, int *frame) {
	const SdfFrame *f = &s->frames[joint->frame];
	const char *expressed = xyz ? xml_get(xyz, "expressed_in") : NULL;
	XmlElement *flag = xml_child(axis, "use_parent_model_frame");
	bool model = f->version <= 104;
	*frame = joint->frame;
	if (flag && !import_bool(s->im, flag, NULL, &model, NULL))
		return false;
	if (expressed && expressed[0]) {
		*frame = sdf_find_required(s, f->scope, xyz, expressed);
		return *frame != SDF_NONE;
	}
	if (model && f->version <= 106)
		*frame = f->scope;
	return true;
}

static CalVec3 direction_in(const Sdf *s, int to, int from, CalVec3 v) {
	const dvec3 in_world = dmat_mul_vec(sdf_axes(s, from), dvec_in(v));
	return dvec_out(dmat_tmul_vec(sdf_axes(s, to), in_world));
}

static bool read_direction(Sdf *s, const SdfJoint *joint, SdfAxis *axis) {
	XmlElement *e = xml_child(axis->element, "xyz");
	CalVec3 given = {0, 0, 1};
	int frame;
	if (!find_axis_frame(s, joint, axis->element, e, &frame) || (e && !import_vec3(s->im, e, NULL, &given, NULL)))
		return false;
	const double length = sqrt(given.x * given.x + given.y * given.y + given.z * given.z);
	if (!(length > 0))
		return import_fail(s->im, axis->element, "joint \"%.80s\": the axis has no direction",
		                   s->frames[joint->frame].name);
	if (e && !import_question_length(s->im, e, NULL, &given.x, 3))
		return false;
	import_unit(&given.x, 3);
	axis->xyz = frame == joint->frame ? given : direction_in(s, joint->frame, frame, given);
	return true;
}

/* ---- what acts along an axis --------------------------------------------------------------------------- */

static bool read_dynamics(Sdf *s, const SdfJoint *joint, SdfAxis *axis) {
	XmlElement *e = xml_child(axis->element, "dynamics");
	if (!child_number(s, e, "damping", &axis->damping, NULL) ||
	    !child_number(s, e, "friction", &axis->friction, NULL) ||
	    !child_number(s, e, "spring_stiffness", &axis->stiffness, NULL) ||
	    !child_number(s, e, "spring_reference", &axis->rest, NULL))
		return false;
	return (axis->damping >= 0 && axis->friction >= 0 && axis->stiffness >= 0) ||
	       import_fail(s->im, e, "joint \"%.80s\": damping, friction and stiffness are not below zero",
	                   s->frames[joint->frame].name);
}

/* Bounds of controllers have no counterpart. */
static bool ignore_controller_bounds(Sdf *s, XmlElement *limit) {
	static const char *const names[] = {"effort", "velocity"};
	for (int i = 0; i < 2; i++) {
		double bound = -1;
		XmlElement *e = xml_child(limit, names[i]);
		if (!child_bound(s, limit, names[i], &bound))
			return false;
		if (e && bound >= 0 && isfinite(bound) &&
		    !import_note(s->im, CAL_IMPORT_IGNORED, e, NULL, "a bound of a controller, of which there is none"))
			return false;
	}
	return true;
}

static bool read_limit(Sdf *s, const SdfJoint *joint, SdfAxis *axis) {
	XmlElement *e = xml_child(axis->element, "limit");
	bool is_hard = false, damps = false;
	axis->lower = -INFINITY;
	axis->upper = INFINITY;
	if (!e)
		return true;
	if (!child_bound(s, e, "lower", &axis->lower) || !child_bound(s, e, "upper", &axis->upper) ||
	    !child_number(s, e, "stiffness", &axis->limit_stiffness, &is_hard) ||
	    !child_number(s, e, "dissipation", &axis->limit_damping, &damps) || !ignore_controller_bounds(s, e))
		return false;
	if (damps && !is_hard &&
	    !import_note(s->im, CAL_IMPORT_CHANGED, xml_child(e, "dissipation"), NULL,
	                 "it counts beside a <stiffness>; without one both are chosen for what the joint carries"))
		return false;
	if (axis->lower <= -1e16) // of the format, before 1.10
		axis->lower = -INFINITY;
	if (axis->upper >= 1e16)
		axis->upper = INFINITY;
	if (!(axis->lower <= axis->upper))
		return import_fail(s->im, e, "joint \"%.80s\": lower is %g, above upper, which is %g",
		                   s->frames[joint->frame].name, axis->lower, axis->upper);
	if (joint->type == SDF_CONTINUOUS && (isfinite(axis->lower) || isfinite(axis->upper))) {
		axis->lower = -INFINITY;
		axis->upper = INFINITY;
		return import_note(s->im, CAL_IMPORT_IGNORED, e, NULL, "joint \"%.80s\" is continuous: it has no limits",
		                   s->frames[joint->frame].name);
	}
	return axis->limit_stiffness >= 0 && axis->limit_damping >= 0
	           ? true
	           : import_fail(s->im, e, "stiffness and dissipation of a limit are not below zero");
}

static bool read_axis(Sdf *s, SdfJoint *joint, int which) {
	SdfAxis *axis = &joint->axis[which];
	*axis = (SdfAxis){.element = xml_child(s->frames[joint->frame].element, which == 0 ? "axis" : "axis2"),
	                  .xyz = {0, 0, 1},
	                  .lower = -INFINITY,
	                  .upper = INFINITY};
	if (!axis->element)
		return import_fail(s->im, s->frames[joint->frame].element, "joint \"%.80s\" needs <%s>",
		                   s->frames[joint->frame].name, which == 0 ? "axis" : "axis2");
	if (!read_direction(s, joint, axis) || !read_dynamics(s, joint, axis) || !read_limit(s, joint, axis) ||
	    !child_number(s, axis->element, "initial_position", &axis->start, NULL))
		return false;
	axis->mimic = xml_child(axis->element, "mimic");
	axis->acts = axis->damping > 0 || axis->friction > 0 || axis->stiffness > 0 || isfinite(axis->lower) ||
	             isfinite(axis->upper) || axis->mimic || axis->start != 0;
	return true;
}

/* ---- types --------------------------------------------------------------------------------------------- */

/* m/rad, right-handed, of thread_pitch [rad/m], left-handed, or screw_thread_pitch [m/revolution], right-handed. */
static bool read_pitch(Sdf *s, SdfJoint *joint, XmlElement *e) {
	double old = 1, pitch = 0;
	bool has_old, has_new;
	if (!child_number(s, e, "thread_pitch", &old, &has_old) ||
	    !child_number(s, e, "screw_thread_pitch", &pitch, &has_new))
		return false;
	joint->pitch = has_new ? pitch / (2 * pi) : -1 / old;
	return (isfinite(joint->pitch) && joint->pitch != 0) ||
	       import_fail(s->im, e, "joint \"%.80s\": a screw needs a pitch that is not zero",
	                   s->frames[joint->frame].name);
}

static bool read_gearbox(Sdf *s, SdfJoint *joint, XmlElement *e) {
	XmlElement *reference = xml_child(e, "gearbox_reference_body");
	joint->ratio = 1;
	if (!child_number(s, e, "gearbox_ratio", &joint->ratio, NULL))
		return false;
	if (!reference || !xml_content(reference)[0])
		return import_fail(s->im, e, "joint \"%.80s\": a gearbox needs a <gearbox_reference_body>",
		                   s->frames[joint->frame].name);
	joint->reference = sdf_find_required(s, s->frames[joint->frame].scope, reference, reference->text);
	return joint->reference != SDF_NONE;
}

static int axes_of(SdfJointType type) {
	switch (type) {
	case SDF_FIXED:
	case SDF_BALL:
		return 0;
	case SDF_UNIVERSAL:
	case SDF_REVOLUTE2:
	case SDF_GEARBOX:
		return 2;
	default:
		return 1;
	}
}

static bool read_ends(Sdf *s, SdfJoint *joint, XmlElement *e) {
	const SdfFrame *f = &s->frames[joint->frame];
	XmlElement *parent = xml_child(e, "parent");
	if (!parent || !xml_content(parent)[0])
		return import_fail(s->im, e, "joint \"%.80s\" needs a <parent>", f->name);
	joint->parent = sdf_find_required(s, f->scope, parent, parent->text);
	joint->child = f->attached_to;
	if (joint->parent == SDF_NONE)
		return false;
	return s->frames[joint->parent].link != s->frames[joint->child].link ||
	       import_fail(s->im, e, "joint \"%.80s\" ties a link to itself", f->name);
}

/* <physics> says how a program solves the joint; one hint is of use: that it closes a loop. */
static bool read_hints(Sdf *s, SdfJoint *joint, XmlElement *e) {
	XmlElement *physics = xml_child(e, "physics");
	XmlElement *hint = xml_child(xml_child(physics, "simbody"), "must_be_loop_joint");
	if (hint && !import_bool(s->im, hint, NULL, &joint->must_be_loop, NULL))
		return false;
	static const char *const names[] = {"sensor", "plugin"};
	for (int i = 0; i < 2; i++)
		for (XmlElement *part = xml_child(e, names[i]); part; part = xml_again(part))
			if (!import_ignore(s->im, part, "a matter of the program that runs the file"))
				return false;
	return !physics || import_ignore(s->im, physics, "settings of a program that solves the joint by other means");
}

/* Parts of joints of other types, which exporters write too. */
static bool ignore_parts_of_others(Sdf *s, const SdfJoint *joint, XmlElement *e) {
	const struct {
		const char *name;
		bool fits;
	} parts[] = {{"axis", joint->axis_count > 0},
	             {"axis2", joint->axis_count > 1},
	             {"thread_pitch", joint->type == SDF_SCREW},
	             {"screw_thread_pitch", joint->type == SDF_SCREW},
	             {"gearbox_ratio", joint->type == SDF_GEARBOX},
	             {"gearbox_reference_body", joint->type == SDF_GEARBOX}};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		for (XmlElement *part = parts[i].fits ? NULL : xml_child(e, parts[i].name); part; part = xml_again(part))
			if (!import_ignore(s->im, part, "joint \"%.80s\" is of a type that has none", s->frames[joint->frame].name))
				return false;
	return true;
}

static bool read_joint(Sdf *s, SdfJoint *joint) {
	static const char *const types[] = {"fixed", "revolute",  "continuous", "prismatic", "screw",
	                                    "ball",  "universal", "revolute2",  "gearbox",   NULL};
	XmlElement *e = s->frames[joint->frame].element;
	int type = 0;
	bool given;
	if (!import_word(s->im, e, "type", types, &type, &given))
		return false;
	if (!given)
		return import_fail(s->im, e, "joint \"%.80s\" needs a type", s->frames[joint->frame].name);
	joint->type = (SdfJointType)type;
	joint->axis_count = axes_of(joint->type);
	for (int i = 0; i < joint->axis_count; i++)
		if (!read_axis(s, joint, i))
			return false;
	return read_ends(s, joint, e) && read_hints(s, joint, e) && ignore_parts_of_others(s, joint, e) &&
	       (joint->type != SDF_SCREW || read_pitch(s, joint, e)) &&
	       (joint->type != SDF_GEARBOX || read_gearbox(s, joint, e));
}

bool sdf_read_joints(Sdf *s) {
	for (int i = 0; i < s->joint_count; i++)
		if (!read_joint(s, &s->joints[i]))
			return false;
	return true;
}
