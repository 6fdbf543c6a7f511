// SPDX-License-Identifier: Apache-2.0
/*
 * doctor_joint.c — limits, initial states and efforts of joints, and gravity.
 */
#include <math.h>
#include <string.h>

#include "doctor/doctor.h"

static const double pi = 3.14159265358979323846;
static const double standard_gravity = 9.80665;

/* ---- what is given -------------------------------------------------------------------------------------------- */

/* The coordinate of a degree of freedom in the initial state; false: not known, as of quaternions. */
static bool initial_coordinate(const Doctor *doctor, CalJointId joint, int dof, double *q, bool *stated) {
	const CalJointDef *def = cal_desc_joint(doctor->desc, joint, NULL, NULL);
	*q = 0;
	*stated = false;
	if (!def || cal_joint_coordinate_count(def) != cal_joint_speed_count(def) || dof >= cal_joint_speed_count(def))
		return false;
	for (int i = 0; i < cal_setup_state_count(doctor->setup); i++) {
		CalJointId of;
		CalStateDef state;
		if (cal_setup_state(doctor->setup, i, &of, &state) == CAL_OK && of.value == joint.value && state.q) {
			*q = state.q[dof];
			*stated = !state.guess && !(state.assumed_q && state.assumed_q[dof]);
			return true;
		}
	}
	return cal_desc_loop_count(doctor->desc) == 0; // closing loops moves what is not given
}

static bool is_angle(const Doctor *doctor, CalJointId joint, int dof) {
	CalCoordinateInfo info;
	const CalJointDef *def = cal_desc_joint(doctor->desc, joint, NULL, NULL);
	return def && cal_joint_speed(def, dof, &info) == CAL_OK && info.kind == CAL_COORDINATE_ANGLE;
}

static bool is_whole(double x) { return fabs(x - round(x)) < 1e-9 * fmax(1, fabs(x)); }

/* The reader of model files questions angles without a unit by itself. */
static bool reader_asks(const Doctor *doctor, const char *place) {
	return place && !cal_setup_format(doctor->setup)[0];
}

static void name_joint(const Doctor *doctor, CalJointId joint, Finding *f) {
	const CalJointDef *def = cal_desc_joint(doctor->desc, joint, NULL, NULL);
	FINDING(f->object, "joint \"%.120s\"", def ? def->name : "");
}

/* ---- limits --------------------------------------------------------------------------------------------------- */

static bool may_be_degrees(double lower, double upper) {
	const double most = fmax(isfinite(lower) ? fabs(lower) : 0, isfinite(upper) ? fabs(upper) : 0);
	return most >= 20 && most <= 1080 && (!isfinite(lower) || is_whole(lower)) && (!isfinite(upper) || is_whole(upper));
}

/* Less than two degrees, and a plain fraction of a turn if taken for radians that were converted once too often. */
static bool may_be_converted_twice(double lower, double upper) {
	const double most = fmax(fabs(lower), fabs(upper)), back = 180 / pi;
	if (!isfinite(most) || !(upper > lower) || most > 0.12)
		return false;
	const double a = lower * back * back, b = upper * back * back; // degrees, if both were radians
	return most * back > 0.5 && fabs(a - 5 * round(a / 5)) < 0.05 && fabs(b - 5 * round(b / 5)) < 0.05;
}

static bool examine_unit(const Doctor *doctor, const CalLimitDef *limit) {
	Finding f = {0};
	const double back = 180 / pi;
	if (!is_angle(doctor, limit->joint, limit->dof))
		return false;
	name_joint(doctor, limit->joint, &f);
	if (may_be_degrees(limit->lower, limit->upper) && !reader_asks(doctor, limit->place)) {
		FINDING(f.evidence, "its limits are %g and %g rad, up to %.3g turns", limit->lower, limit->upper,
		        fmax(fabs(limit->lower), fabs(limit->upper)) / (2 * pi));
		FINDING(f.cause, "the limits are in degrees, and the file says radians");
		FINDING(f.fix, "write %g deg and %g deg", limit->lower, limit->upper);
		doctor_report(doctor, &f, CAL_DIAGNOSIS_DEGREES, limit->place);
		return true;
	}
	if (!may_be_converted_twice(limit->lower, limit->upper))
		return false;
	FINDING(f.evidence, "its limits are %.4g and %.4g deg; multiplied by 180/pi once more, %.4g and %.4g deg",
	        limit->lower * back, limit->upper * back, limit->lower * back * back, limit->upper * back * back);
	FINDING(f.cause, "the file has radians and says degrees (MJCF: compiler angle, degrees by default)");
	FINDING(f.fix, "say radians, or write the limits in degrees");
	doctor_report(doctor, &f, CAL_DIAGNOSIS_RADIANS, limit->place);
	return true;
}

static void examine_range(const Doctor *doctor, const CalLimitDef *limit) {
	Finding f = {0};
	const char *unit = is_angle(doctor, limit->joint, limit->dof) ? "rad" : "m";
	double q;
	bool stated;
	name_joint(doctor, limit->joint, &f);
	if (limit->lower >= limit->upper) {
		FINDING(f.evidence, "its limits are %g and %g %s: they leave no motion", limit->lower, limit->upper, unit);
		FINDING(f.cause, "limits that were never written (0 and 0), or exchanged");
		FINDING(f.fix, "give both limits, remove them, or weld the joint");
		doctor_report(doctor, &f, CAL_DIAGNOSIS_LIMIT_EMPTY, limit->place);
		return;
	}
	if (!initial_coordinate(doctor, limit->joint, limit->dof, &q, &stated))
		return;
	const double beyond = fmax(limit->lower - q, q - limit->upper);
	const double span = isfinite(limit->upper - limit->lower) ? limit->upper - limit->lower : fmax(1, fabs(q));
	if (!(beyond > 1e-6 * span))
		return;
	FINDING(f.evidence, "it starts at %.4g %s, %.3g %s beyond its limits %.4g ... %.4g", q, unit, beyond, unit,
	        limit->lower, limit->upper);
	FINDING(f.cause, stated ? "the initial state and the limits disagree"
	                        : "no initial state is given, and zero is outside of the limits");
	FINDING(f.fix, "give an initial state within the limits (state: {joint: {q: %.4g}})",
	        isfinite(limit->lower) && isfinite(limit->upper) ? (limit->lower + limit->upper) / 2
	        : isfinite(limit->lower)                         ? limit->lower
	                                                         : limit->upper);
	doctor_report(doctor, &f, CAL_DIAGNOSIS_LIMIT_STATE, limit->place);
}

/* ---- states --------------------------------------------------------------------------------------------------- */

static void examine_states(const Doctor *doctor) {
	for (int i = 0; i < cal_setup_state_count(doctor->setup); i++) {
		CalJointId joint;
		CalStateDef state;
		if (cal_setup_state(doctor->setup, i, &joint, &state) != CAL_OK || !state.q || reader_asks(doctor, state.place))
			continue;
		const CalJointDef *def = cal_desc_joint(doctor->desc, joint, NULL, NULL);
		const int count = cal_joint_speed_count(def);
		for (int k = 0; k < count && count == cal_joint_coordinate_count(def); k++) {
			Finding f = {0};
			const double q = state.q[k];
			if (!is_angle(doctor, joint, k) || fabs(q) < 10 || fabs(q) > 1080 || !is_whole(q / 5))
				continue;
			name_joint(doctor, joint, &f);
			FINDING(f.evidence, "it starts at %g rad, %.3g turns", q, fabs(q) / (2 * pi));
			FINDING(f.cause, "the angle is in degrees");
			FINDING(f.fix, "write %g deg", q);
			doctor_report(doctor, &f, CAL_DIAGNOSIS_DEGREES, state.place);
		}
	}
}

/* ---- efforts ---------------------------------------------------------------------------------------------------- */

static const CalServoDef *servo_at(const Doctor *doctor, int i, bool *more) {
	const char *type;
	const void *def;
	*more = cal_setup_device(doctor->setup, i, &type, NULL, &def) == CAL_OK;
	return *more && strcmp(type, "servo") == 0 ? def : NULL;
}

/* Exporters write 0 for "not known"; here it means without limit. Where most servos have a limit, the others are named. */
static void examine_efforts(const Doctor *doctor) {
	int limited = 0, open = 0;
	bool more = true;
	for (int i = 0; more; i++) {
		const CalServoDef *servo = servo_at(doctor, i, &more);
		limited += servo && (servo->effort_limit > 0 || servo->stall_effort > 0);
		open += servo && !(servo->effort_limit > 0 || servo->stall_effort > 0);
	}
	more = open > 0 && limited >= 3 * open;
	for (int i = 0; more; i++) {
		const CalServoDef *servo = servo_at(doctor, i, &more);
		if (!servo || servo->effort_limit > 0 || servo->stall_effort > 0)
			continue;
		Finding f = {0};
		FINDING(f.object, "servo \"%.120s\"", servo->name);
		FINDING(f.evidence, "its effort limit is 0, which means none; %d of %d servos have one", limited,
		        limited + open);
		FINDING(f.cause, "an exporter wrote 0 for a value that it did not know");
		FINDING(f.fix, "give the effort of the motor");
		doctor_report(doctor, &f, CAL_DIAGNOSIS_EFFORT, servo->place);
	}
}

/* ---- gravity ----------------------------------------------------------------------------------------------------- */

static void examine_gravity(const Doctor *doctor) {
	static const struct {
		double factor;
		const char *unit;
	} units[] = {{1000, "mm/s^2"}, {100, "cm/s^2"}, {3.28084, "ft/s^2"}};
	for (int i = 1; i <= cal_desc_group_count(doctor->desc); i++) {
		const CalGroupDef *group = cal_desc_group(doctor->desc, (CalGroupId){(uint32_t)i});
		const double g = group ? box_reach(group->gravity, group->gravity, (CalVec3){0, 0, 0}) : 0;
		for (size_t k = 0; group && k < sizeof units / sizeof *units; k++) {
			Finding f = {0};
			if (fabs(g / (units[k].factor * standard_gravity) - 1) > 0.005)
				continue;
			FINDING(f.object, "group \"%.120s\"", group->name);
			FINDING(f.evidence, "its gravity is %.5g m/s^2, %.4g times that of the Earth", g, g / standard_gravity);
			FINDING(f.cause, "it is in %s", units[k].unit);
			FINDING(f.fix, "write %.5g m/s^2, and check the lengths and masses of the file", g / units[k].factor);
			doctor_report(doctor, &f, CAL_DIAGNOSIS_GRAVITY, group->place);
		}
	}
}

void doctor_examine_joints(Doctor *doctor) {
	const char *type;
	const void *def;
	for (int i = 0; cal_setup_device(doctor->setup, i, &type, NULL, &def) == CAL_OK; i++)
		if (strcmp(type, "limit") == 0 && !examine_unit(doctor, def))
			examine_range(doctor, def);
	examine_states(doctor);
	examine_efforts(doctor);
	examine_gravity(doctor);
}
