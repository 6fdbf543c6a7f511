// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_limit.c — limits of joints.
 *
 * Only lower and upper of revolute and prismatic joints act: as stops (urdf_build.c). A continuous joint has none even if
 * they are written. URDF 1.0 defaults both to 0, and exporters write 0 for what they do not know: some programs lock such a
 * joint, others take it for no limit; here it is no limit, with a note. Both equal and not zero: it is held there. effort
 * bounds the motor of a transmission (urdf_transmission.c); without one, it, velocity and the like bound a controller, and a
 * URDF has none.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/urdf/urdf_reader.h"

/* What bounds controllers, in one line of the report. */
static bool report_controller_limits(Urdf *u, const UrdfJoint *joint, XmlElement *e) {
	static const char *const names[] = {"effort", "velocity", "acceleration", "deceleration", "jerk"};
	char list[120] = "";
	const bool has_motor = joint->has_transmission && urdf_is_scalar(joint);
	for (int i = 0; i < 5; i++) {
		double value = 0;
		bool given = false;
		if (!import_bound(u->im, e, names[i], &value, &given))
			return false;
		if (given && !(i == 0 && has_motor))
			snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s %g", list[0] ? ", " : "", names[i], value);
	}
	if (list[0] &&
	    !import_note(u->im, CAL_IMPORT_IGNORED, e, NULL, "%s: limits of a controller, of which there is none", list))
		return false;
	if (joint->type != URDF_FIXED && (!xml_peek(e, "effort") || !xml_peek(e, "velocity")) && u->minor < 2)
		return import_note(u->im, CAL_IMPORT_ASSUMED, e, NULL,
		                   "<limit> has no %s, which URDF 1.%d asks for; taken: no limit",
		                   xml_peek(e, "effort") ? "velocity" : "effort", u->minor);
	return true;
}

static bool report_no_range(Urdf *u, const UrdfJoint *joint, XmlElement *e, bool zero) {
	return import_note(u->im, CAL_IMPORT_ASSUMED, e, NULL,
	                   "a %s joint with %s%s; taken: no limits. Write the range, or type=\"continuous\"",
	                   joint->type == URDF_PRISMATIC ? "prismatic" : "revolute",
	                   zero ? "lower and upper both 0" : "neither lower nor upper",
	                   zero || u->minor < 2 ? ": some programs lock it at 0, others take it for no limit" : "");
}

/* One of the two: the other is 0 before 1.2, and not there from then on. */
static bool report_one_side(Urdf *u, UrdfJoint *joint, bool has_lower) {
	double *other = has_lower ? &joint->upper : &joint->lower;
	*other = u->minor < 2 ? 0 : has_lower ? INFINITY : -INFINITY;
	return import_note(u->im, CAL_IMPORT_ASSUMED, joint->limit, NULL, "%s is not given; taken: %g %s",
	                   has_lower ? "upper" : "lower", *other, urdf_unit(joint));
}

static bool check_range(Urdf *u, const UrdfJoint *joint) {
	if (isnan(joint->lower) || isnan(joint->upper) || joint->lower > joint->upper)
		return import_fail(u->im, joint->limit, "joint \"%.80s\": lower is %g, above upper, which is %g", joint->name,
		                   joint->lower, joint->upper);
	return joint->lower < joint->upper ||
	       import_note(u->im, CAL_IMPORT_ASSUMED, joint->limit, NULL,
	                   "lower and upper are both %g %s; taken: it is held there", joint->lower, urdf_unit(joint));
}

static bool read_range(Urdf *u, UrdfJoint *joint) {
	bool has_lower = false, has_upper = false;
	if (!import_bound(u->im, joint->limit, "lower", &joint->lower, &has_lower) ||
	    !import_bound(u->im, joint->limit, "upper", &joint->upper, &has_upper))
		return false;
	if (!has_lower && !has_upper)
		return report_no_range(u, joint, joint->limit, false);
	if (has_lower && has_upper && joint->lower == 0 && joint->upper == 0) {
		joint->lower = -INFINITY;
		joint->upper = INFINITY;
		return report_no_range(u, joint, joint->limit, true);
	}
	if (has_lower != has_upper && !report_one_side(u, joint, has_lower))
		return false;
	return check_range(u, joint);
}

/* Of a joint that is not limited. */
static bool ignore_range(Urdf *u, const UrdfJoint *joint, XmlElement *e) {
	double lower = 0, upper = 0;
	bool has_lower = false, has_upper = false;
	if (!import_bound(u->im, e, "lower", &lower, &has_lower) || !import_bound(u->im, e, "upper", &upper, &has_upper))
		return false;
	if (joint->type == URDF_FIXED || !(has_lower || has_upper))
		return true;
	return import_note(u->im, CAL_IMPORT_IGNORED, e, NULL, "a %s joint has no limits; lower and upper have no effect",
	                   joint->type == URDF_CONTINUOUS ? "continuous"
	                   : joint->type == URDF_PLANAR   ? "planar"
	                                                  : "floating");
}

/* Deprecated attributes of a controller. */
static bool ignore_controllers(Urdf *u, const UrdfJoint *joint) {
	XmlElement *safety = xml_child(joint->element, "safety_controller");
	XmlElement *calibration = xml_child(joint->element, "calibration");
	return (!safety || import_ignore(u->im, safety, "bounds of a controller, of which there is none")) &&
	       (!calibration || import_ignore(u->im, calibration, "reference positions for calibration"));
}

bool urdf_read_limit(Urdf *u, UrdfJoint *joint) {
	XmlElement *e = xml_child(joint->element, "limit");
	const bool ranged = joint->type == URDF_REVOLUTE || joint->type == URDF_PRISMATIC;
	joint->lower = -INFINITY;
	joint->upper = INFINITY;
	joint->limit = e;
	if (!ignore_controllers(u, joint))
		return false;
	if (!e)
		return !ranged || report_no_range(u, joint, joint->element, false);
	return (ranged ? read_range(u, joint) : ignore_range(u, joint, e)) && report_controller_limits(u, joint, e);
}

bool urdf_question_efforts(Urdf *u) {
	const UrdfJoint *zero = NULL;
	int zeros = 0, others = 0;
	for (int i = 0; i < u->joint_count; i++) {
		double effort = 0;
		bool given = false;
		const UrdfJoint *joint = &u->joints[i];
		if (!joint->limit || joint->type == URDF_FIXED)
			continue;
		if (!import_bound(u->im, joint->limit, "effort", &effort, &given))
			return false;
		if (!given)
			continue;
		zero = effort == 0 && !zero ? joint : zero;
		*(effort == 0 ? &zeros : &others) += 1;
	}
	if (!zero || others == 0)
		return true;
	char place[300], text[600];
	snprintf(text, sizeof text,
	         "%s: warning: joint \"%.80s\": effort is 0, as in %d joint%s of %d; did the exporter not know it? A "
	         "controller that keeps to it cannot move the joint",
	         xml_place(zero->limit, place, sizeof place), zero->name, zeros, zeros == 1 ? "" : "s", zeros + others);
	return import_ok(u->im, cal_setup_add_warning(u->im->setup, text, u->im->error));
}
