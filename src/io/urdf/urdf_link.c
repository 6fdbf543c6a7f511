// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_link.c — poses, and the mass properties of links.
 *
 * <inertia> is about the center of mass in the axes of the inertial frame, which <origin> of <inertial> places in the link:
 * its rotation counts. What is left out is zero (a link without <inertial> has no mass), and in the import report.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/urdf/urdf_reader.h"

/* ---- poses ------------------------------------------------------------------------------------------- */

/* quat_xyzw, since 1.1, instead of rpy. */
static bool read_quaternion(Urdf *u, XmlElement *e, CalQuat *orientation) {
	double q[4] = {0, 0, 0, 1};
	bool given = false;
	if (!import_numbers(u->im, e, "quat_xyzw", q, 4, &given) || !given)
		return u->im->status == CAL_OK;
	const double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
	if (xml_peek(e, "rpy"))
		return import_fail(u->im, e, "an orientation is either rpy or quat_xyzw; leave one out");
	if (!(norm > 1e-3))
		return import_fail(u->im, e, "quat_xyzw has the length %g; a rotation has the length 1", norm);
	if (!import_question_length(u->im, e, "quat_xyzw", q, 4))
		return false;
	import_unit(q, 4);
	*orientation = (CalQuat){q[3], q[0], q[1], q[2]};
	return u->minor >= 1 || import_note(u->im, CAL_IMPORT_ASSUMED, e, "quat_xyzw",
	                                    "URDF 1.0 has no quaternions, other programs ignore it; it was taken: write "
	                                    "version=\"1.1\" into <robot>");
}

bool urdf_read_origin(Urdf *u, XmlElement *owner, CalPlacement *placement) {
	XmlElement *e = xml_child(owner, "origin");
	CalVec3 rpy = {0};
	*placement = (CalPlacement){.orientation = {1, 0, 0, 0}};
	if (!e)
		return true;
	if (!import_vec3(u->im, e, "xyz", &placement->position, NULL) || !import_vec3(u->im, e, "rpy", &rpy, NULL) ||
	    !import_question_radians(u->im, e, "rpy", rpy))
		return false;
	placement->orientation = import_rpy(rpy);
	return read_quaternion(u, e, &placement->orientation);
}

/* ---- mass --------------------------------------------------------------------------------------------- */

static bool read_mass(Urdf *u, const UrdfLink *link, XmlElement *inertial, double *mass) {
	XmlElement *e = xml_child(inertial, "mass");
	bool given = false;
	if (e && !import_number(u->im, e, "value", mass, &given))
		return false;
	if (!given)
		return import_note(u->im, CAL_IMPORT_ASSUMED, e ? e : inertial, NULL, "its mass is not given; taken: 0");
	return (*mass >= 0 && isfinite(*mass)) ||
	       import_fail(u->im, e, "link \"%.80s\": the mass is %g kg; it is not below zero, and finite", link->name,
	                   *mass);
}

/* Components that are not there are zero. */
static bool read_inertia(Urdf *u, const UrdfLink *link, XmlElement *inertial, CalMat3 *inertia) {
	static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
	static const int row[] = {0, 1, 2, 0, 0, 1}, column[] = {0, 1, 2, 1, 2, 2};
	XmlElement *e = xml_child(inertial, "inertia");
	char left_out[32] = "";
	if (!e)
		return import_note(u->im, CAL_IMPORT_ASSUMED, inertial, NULL, "its inertia is not given; taken: a point mass");
	for (int i = 0; i < 6; i++) {
		double value = 0;
		bool given = false;
		if (!import_number(u->im, e, names[i], &value, &given))
			return false;
		if (!isfinite(value))
			return import_fail(u->im, e, "link \"%.80s\": %s is not finite", link->name, names[i]);
		inertia->m[row[i]][column[i]] = inertia->m[column[i]][row[i]] = value;
		if (!given)
			snprintf(left_out + strlen(left_out), sizeof left_out - strlen(left_out), " %s", names[i]);
	}
	return !left_out[0] || import_note(u->im, CAL_IMPORT_ASSUMED, e, NULL, "not given, taken as 0:%s", left_out);
}

static bool is_zero(const CalMat3 *m) {
	for (int i = 0; i < 9; i++)
		if (m->m[i / 3][i % 3] != 0)
			return false;
	return true;
}

static bool read_inertial(Urdf *u, UrdfLink *link, XmlElement *e) {
	CalPlacement placement;
	MassProperties m = {0};
	if (!urdf_read_origin(u, e, &placement) || !read_mass(u, link, e, &m.mass) || !read_inertia(u, link, e, &m.inertia))
		return false;
	if (xml_again(e))
		return import_fail(u->im, xml_again(e), "link \"%.80s\" has two <inertial>; leave one out, or add them up",
		                   link->name);
	if (m.mass == 0 && !is_zero(&m.inertia)) {
		if (!import_missing(u->im, e, "link \"%.80s\" has inertia but no mass; give its mass, or remove the inertia",
		                    link->name))
			return false;
		m.inertia = (CalMat3){0};
	}
	link->mass = mass_moved(m, placement);
	return true;
}

static bool read_link(Urdf *u, UrdfLink *link) {
	XmlElement *e = xml_child(link->element, "inertial");
	const bool is_ground = u->root_is_ground && link == &u->links[u->root];
	if (is_ground)
		return !e || import_ignore(u->im, e, "\"world\" is the ground, which does not move");
	if (!e)
		return import_note(u->im, CAL_IMPORT_ASSUMED, link->element, NULL, "it has no <inertial>; taken: no mass");
	return read_inertial(u, link, e);
}

bool urdf_read_links(Urdf *u) {
	for (int i = 0; i < u->link_count; i++)
		if (!read_link(u, &u->links[i]))
			return false;
	return true;
}
