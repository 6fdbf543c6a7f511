// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_link.c — mass properties of links, and what else stands in them.
 *
 * A link without <inertial> has the mass 1 and the inertia of the identity, by the format. inertial/@auto computes them from
 * the collision shapes.
 */
#include "io/sdf/sdf_reader.h"

static const double default_density = 1000; // [kg/m^3], of the format

static bool child_number(Sdf *s, XmlElement *owner, const char *name, double *value, bool *given) {
	XmlElement *e = xml_child(owner, name);
	if (given)
		*given = e != NULL;
	return !e || import_number(s->im, e, NULL, value, NULL);
}

/* ---- given mass properties --------------------------------------------------------------------------- */

static bool read_inertia(Sdf *s, XmlElement *inertial, CalMat3 *inertia) {
	static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
	double v[6] = {1, 1, 1, 0, 0, 0};
	bool given[6];
	XmlElement *e = xml_child(inertial, "inertia");
	for (int i = 0; i < 6; i++)
		if (!child_number(s, e, names[i], &v[i], &given[i]))
			return false;
	*inertia = (CalMat3){{{v[0], v[3], v[4]}, {v[3], v[1], v[5]}, {v[4], v[5], v[2]}}};
	return (given[0] && given[1] && given[2]) ||
	       import_note(s->im, CAL_IMPORT_ASSUMED, e ? e : inertial, NULL,
	                   "ixx, iyy or izz is not given; taken: 1 kg m^2, the default of SDFormat");
}

static bool read_inertial_pose(Sdf *s, const SdfFrame *f, XmlElement *inertial, CalPlacement *pose) {
	const char *relative;
	if (!sdf_read_pose(s, inertial, f->version, pose, &relative))
		return false;
	const int to = relative ? sdf_find(s, f->scope, relative) : SDF_NONE;
	return !relative || to == s->links[f->link].frame ||
	       import_fail(s->im, inertial, "the pose of <inertial> is relative to its link; \"%.80s\" is something else",
	                   relative);
}

static bool read_given(Sdf *s, const SdfFrame *f, XmlElement *inertial, MassProperties *mass) {
	MassProperties at_com = {.mass = 1};
	CalPlacement pose;
	bool has_mass;
	if (!child_number(s, inertial, "mass", &at_com.mass, &has_mass) ||
	    (!has_mass && !import_note(s->im, CAL_IMPORT_ASSUMED, inertial, NULL,
	                               "the mass is not given; taken: 1 kg, the default of SDFormat")) ||
	    !read_inertia(s, inertial, &at_com.inertia) || !read_inertial_pose(s, f, inertial, &pose))
		return false;
	*mass = mass_moved(at_com, pose);
	return true;
}

/* ---- mass properties from collision shapes ------------------------------------------------------------ */

static bool add_collision(Sdf *s, const SdfFrame *f, XmlElement *collision, double density, MassProperties *sum) {
	CalVisual shape = {0};
	MassProperties mass = {0};
	CalPlacement pose;
	XmlElement *mesh = xml_child(xml_child(collision, "geometry"), "mesh");
	bool known;
	if (!child_number(s, collision, "density", &density, NULL) || !sdf_read_pose_on_link(s, f, collision, &pose) ||
	    (mesh ? !sdf_read_mesh_mass(s, mesh, &mass) : !sdf_read_shape(s, collision, &shape, &known, &mass)))
		return false;
	if (!(mass.mass > 0))
		return import_fail(s->im, collision,
		                   "the mass of this shape is not known; give link \"%.80s\" an <inertial> with "
		                   "numbers instead of auto",
		                   f->name);
	*sum = mass_sum(*sum, mass_moved(mass_scaled(mass, density), pose));
	return true;
}

/* What computes a mass, where the file gives it. */
static bool ignore_calculation(Sdf *s, XmlElement *inertial, bool is_auto) {
	XmlElement *density = is_auto ? NULL : xml_child(inertial, "density"),
			   *settings = xml_child(inertial, "auto_inertia_params");
	return (!density || import_ignore(s->im, density, "it counts with auto=\"true\" only")) &&
	       (!settings || import_ignore(s->im, settings, "settings of a program that finds the inertia of meshes"));
}

static bool read_auto(Sdf *s, const SdfFrame *f, XmlElement *inertial, MassProperties *mass) {
	static const char *const given_parts[] = {"pose", "inertia"};
	double density = default_density, given = 0;
	bool has_mass;
	*mass = (MassProperties){0};
	if (!child_number(s, inertial, "density", &density, NULL) || !child_number(s, inertial, "mass", &given, &has_mass))
		return false;
	for (XmlElement *e = xml_child(f->element, "collision"); e; e = xml_again(e))
		if (!add_collision(s, f, e, density, mass))
			return false;
	if (!(mass->mass > 0))
		return import_fail(s->im, inertial, "link \"%.80s\" has no collision shapes from which its mass could follow",
		                   f->name);
	if (has_mass && given > 0)
		*mass = mass_scaled(*mass, given / mass->mass);
	for (int i = 0; i < 2; i++) {
		XmlElement *e = xml_child(inertial, given_parts[i]);
		if (e && !import_ignore(s->im, e, "it follows from the collision shapes"))
			return false;
	}
	return import_note(s->im, CAL_IMPORT_ASSUMED, inertial, "auto", "link \"%.80s\": %g kg from its collision shapes",
	                   f->name, mass->mass);
}

/* ---- the link ----------------------------------------------------------------------------------------- */

/* <kinematic> and <velocity_decay> change the motion, and have no counterpart. */
static bool read_flags(Sdf *s, const SdfFrame *f, bool *weightless) {
	XmlElement *gravity = xml_child(f->element, "gravity"), *kinematic = xml_child(f->element, "kinematic"),
			   *decay = xml_child(f->element, "velocity_decay");
	bool falls = true, moved = false;
	double linear = 0, angular = 0;
	if ((gravity && !import_bool(s->im, gravity, NULL, &falls, NULL)) ||
	    (kinematic && !import_bool(s->im, kinematic, NULL, &moved, NULL)) ||
	    !child_number(s, decay, "linear", &linear, NULL) || !child_number(s, decay, "angular", &angular, NULL))
		return false;
	if (f->is_static)
		return true;
	*weightless = !falls;
	return (falls || import_note(s->im, CAL_IMPORT_CHANGED, gravity, NULL,
	                             "a force at the center of mass lifts the weight of the link")) &&
	       (!moved || import_missing(s->im, kinematic, "a link that is moved from outside")) &&
	       ((linear == 0 && angular == 0) ||
	        import_missing(s->im, decay, "velocities that decay; put a damping on the joints"));
}

static bool ignore_parts(Sdf *s, const SdfFrame *f) {
	static const char *const names[] = {"sensor",
	                                    "light",
	                                    "projector",
	                                    "audio_sink",
	                                    "audio_source",
	                                    "battery",
	                                    "self_collide",
	                                    "enable_wind",
	                                    "must_be_base_link",
	                                    "particle_emitter",
	                                    "plugin",
	                                    "allow_auto_disable",
	                                    NULL};
	for (int i = 0; names[i]; i++)
		for (XmlElement *e = xml_child(f->element, names[i]); e; e = xml_again(e))
			if (!import_ignore(s->im, e, "a matter of the program that runs the file"))
				return false;
	return true;
}

static bool read_link(Sdf *s, SdfLink *link) {
	const SdfFrame *f = &s->frames[link->frame];
	XmlElement *inertial = xml_child(f->element, "inertial");
	bool is_auto = false;
	if (!read_flags(s, f, &link->weightless) || !ignore_parts(s, f))
		return false;
	if (!inertial) {
		link->mass = (MassProperties){.mass = 1, .inertia = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
		return f->is_static ||
		       import_note(s->im, CAL_IMPORT_ASSUMED, f->element, NULL,
		                   "link \"%.80s\" has no <inertial>; taken: 1 kg and 1 kg m^2 about each axis, the "
		                   "default of SDFormat",
		                   f->name);
	}
	XmlElement *added = xml_child(inertial, "fluid_added_mass");
	if (!import_bool(s->im, inertial, "auto", &is_auto, NULL) || !ignore_calculation(s, inertial, is_auto) ||
	    (added && !import_missing(s->im, added, "mass of the fluid that moves with a link")))
		return false;
	return is_auto ? read_auto(s, f, inertial, &link->mass) : read_given(s, f, inertial, &link->mass);
}

bool sdf_read_links(Sdf *s) {
	for (int i = 0; i < s->link_count; i++)
		if (!read_link(s, &s->links[i]))
			return false;
	return true;
}
