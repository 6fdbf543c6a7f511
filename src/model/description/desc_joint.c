// SPDX-License-Identifier: Apache-2.0
/*
 * desc_joint.c — a joint definition made complete when it is read.
 *
 * People give axes of any length, leave out what has a default, and write quaternions to a few
 * digits. What is stored is unit and complete, so that nobody downstream repeats these rules:
 * axis {0} is z; the second axis defaults to a unit vector perpendicular to the first, and is made
 * perpendicular to it where the type wants that; a quaternion {0} is identity.
 * Whether the definition makes sense as a joint (DOF counts, signs) is for check_joint.c.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/error.h"
#include "joint/pose_solve.h"
#include "math/portable.h"
#include "model/description/desc.h"
#include "model/description/usable.h"

// Shorter than this, a vector or quaternion is a slip rather than a direction.
static const double MIN_LENGTH = 1e-8;
// Axes closer than this angle [rad] are parallel: the joint would be singular to working accuracy.
static const double MIN_ANGLE = 1e-6;
// Within this, lengths are 1 and axes perpendicular: what has been resolved before stays as it is, to the bit.
static const double ROUND_OFF = 8 * DBL_EPSILON;

static bool vec_is_zero(CalVec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }
static double vec_dot(CalVec3 a, CalVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/** sqrt(a^2 + b^2 + c^2 + d^2) without overflow. */
static double length4(double a, double b, double c, double d) {
	return portable_hypot(portable_hypot(a, b), portable_hypot(c, d));
}

/** Unit to round-off by the plain sum of squares: then so it is by length4(), which costs more and never overflows. */
static bool is_unit(double a, double b, double c, double d) {
	return fabs(a * a + b * b + c * c + d * d - 1) <= ROUND_OFF;
}

/** b minus its part along the unit vector a. */
static CalVec3 vec_reject(CalVec3 b, CalVec3 a) {
	double s = vec_dot(a, b);
	return (CalVec3){b.x - s * a.x, b.y - s * a.y, b.z - s * a.z};
}

/** Makes v unit; what is wrong with it, or NULL. */
static const char *vec_normalize(CalVec3 *v) {
	if (!vec_is_usable(*v)) {
		return NUMBER_WRONG;
	}
	if (is_unit(v->x, v->y, v->z, 0)) {
		return NULL;
	}
	double length = length4(v->x, v->y, v->z, 0);
	if (!(length >= MIN_LENGTH) || isinf(length)) {
		return "gives no direction; it must be a vector of ordinary length";
	}
	if (fabs(length - 1) > ROUND_OFF) {
		*v = (CalVec3){v->x / length, v->y / length, v->z / length};
	}
	return NULL;
}

/** A unit vector perpendicular to the unit vector a: the coordinate axis farthest from it, straightened. */
static CalVec3 vec_perpendicular(CalVec3 a) {
	CalVec3 e = {1, 0, 0};
	double least = fabs(a.x);
	if (fabs(a.y) < least) {
		e = (CalVec3){0, 1, 0};
		least = fabs(a.y);
	}
	if (fabs(a.z) < least) {
		e = (CalVec3){0, 0, 1};
	}
	CalVec3 p = vec_reject(e, a);
	vec_normalize(&p);
	return p;
}

const char *placement_resolve(CalPlacement *placement) {
	CalQuat *q = &placement->orientation;
	if (!vec_is_usable(placement->position)) {
		return "position " NUMBER_WRONG;
	}
	if (!number_is_usable(q->w) || !number_is_usable(q->x) || !number_is_usable(q->y) || !number_is_usable(q->z)) {
		return "orientation " NUMBER_WRONG;
	}
	if (q->w == 0 && q->x == 0 && q->y == 0 && q->z == 0) {
		*q = (CalQuat){1, 0, 0, 0};
		return NULL;
	}
	if (is_unit(q->w, q->x, q->y, q->z)) {
		return NULL;
	}
	double length = length4(q->w, q->x, q->y, q->z);
	if (length < MIN_LENGTH || isinf(length)) {
		return "orientation is a quaternion of almost zero or infinite length; give a unit quaternion (w, x, y, z)";
	}
	if (fabs(length - 1) > ROUND_OFF) {
		*q = (CalQuat){q->w / length, q->x / length, q->y / length, q->z / length};
	}
	return NULL;
}

static CalStatus refuse_joint(const CalJointDef *def, CalError *error, const char *part, const char *what) {
	return error_set(error, CAL_ERR_MODEL, "%s%sjoint \"%s\": %s %s", PLACE_ARGS(def->place), def->name, part, what);
}

static CalStatus axes_resolve(CalJointDef *def, CalError *error) {
	if (vec_is_zero(def->axis)) {
		def->axis = (CalVec3){0, 0, 1};
	}
	const char *wrong = vec_normalize(&def->axis);
	if (wrong) {
		return refuse_joint(def, error, "axis", wrong);
	}
	const JointType *type = joint_type(def->type);
	if (!(type->uses & CAL_JOINT_USES_AXIS2)) {
		return CAL_OK;
	}
	if (vec_is_zero(def->axis2)) {
		def->axis2 = vec_perpendicular(def->axis);
		return CAL_OK;
	}
	wrong = vec_normalize(&def->axis2);
	if (wrong) {
		return refuse_joint(def, error, "axis2", wrong);
	}
	CalVec3 across = vec_reject(def->axis2, def->axis);
	if (length4(across.x, across.y, across.z, 0) < MIN_ANGLE) {
		return refuse_joint(def, error, "axis2",
		                    "is parallel to axis; give two different directions, or leave axis2 out");
	}
	// Twice: of axes that are almost parallel the first leaves a rest along the normal.
	for (int i = 0; i < 2 && type->perpendicular && fabs(vec_dot(def->axis, def->axis2)) > ROUND_OFF; i++) {
		def->axis2 = vec_reject(def->axis2, def->axis);
		vec_normalize(&def->axis2);
	}
	return CAL_OK;
}

static CalStatus elements_resolve(CalJointDef *def, CalError *error) {
	if (def->element_count < 0 || def->element_count > CAL_JOINT_MAX_ELEMENTS) {
		return error_set(error, CAL_ERR_MODEL, "%s%sjoint \"%s\": a sequence has 0 to %d elements, not %d",
		                 PLACE_ARGS(def->place), def->name, CAL_JOINT_MAX_ELEMENTS, def->element_count);
	}
	for (int i = 0; i < def->element_count; i++) {
		CalElement *e = &def->elements[i];
		const JointType *type = joint_type(e->type);
		const char *wrong = type && !(type->uses & CAL_JOINT_USES_AXIS) ? NULL : vec_normalize(&e->axis);
		if (wrong) {
			return error_set(error, CAL_ERR_MODEL, "%s%sjoint \"%s\": axis of element %d %s", PLACE_ARGS(def->place),
			                 def->name, i + 1, wrong);
		}
		if (!number_is_usable(e->pitch)) {
			return error_set(error, CAL_ERR_MODEL, "%s%sjoint \"%s\": pitch of element %d " NUMBER_WRONG,
			                 PLACE_ARGS(def->place), def->name, i + 1);
		}
	}
	return CAL_OK;
}

static CalStatus dof_resolve(const CalJointDef *joint, int index, CalDofDef *d, CalError *error) {
	const double numbers[] = {d->stiffness, d->rest, d->damping, d->rotor_inertia, d->gear_ratio};
	static const char *const names[] = {"stiffness", "rest position", "damping", "rotor inertia", "gear ratio"};
	for (int k = 0; k < 5; k++) {
		if (!number_is_usable(numbers[k])) {
			return error_set(error, CAL_ERR_MODEL, "%s%sjoint \"%s\": %s of degree of freedom %d " NUMBER_WRONG,
			                 PLACE_ARGS(joint->place), joint->name, names[k], index + 1);
		}
	}
	d->gear_ratio = d->gear_ratio == 0 ? 1 : d->gear_ratio;
	return CAL_OK;
}

static CalStatus dofs_resolve(CalJointDef *def, CalError *error) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < CAL_JOINT_MAX_DOF && status == CAL_OK; i++) {
		status = dof_resolve(def, i, &def->dof[i], error);
	}
	return status;
}

CalStatus cal_desc_set_joint_dof(CalDesc *desc, CalJointId joint, int dof, const CalDofDef *def, CalError *error) {
	if (!desc || !def) {
		return error_null(error, __func__, !desc ? "desc" : "def");
	}
	if (joint.value == 0 || joint.value > (uint32_t)desc->joint_count) {
		return error_set(error, CAL_ERR_ARGUMENT, "there is no joint %u in the description", joint.value);
	}
	CalJointDef *own = &desc->joints[joint.value - 1].def;
	if (dof < 0 || dof >= cal_joint_speed_count(own)) {
		return error_set(error, CAL_ERR_ARGUMENT, "joint \"%.80s\" has no degree of freedom %d", own->name, dof);
	}
	CalDofDef resolved = *def;
	const CalStatus status = dof_resolve(own, dof, &resolved, error);
	if (status == CAL_OK) {
		own->dof[dof] = resolved;
	}
	return status;
}

CalStatus joint_def_resolve(CalJointDef *def, CalError *error) {
	if (!cal_joint_type_name(def->type)) {
		return error_set(error, CAL_ERR_ARGUMENT, "%s%sjoint \"%s\": type %d is not one of CAL_JOINT_*",
		                 PLACE_ARGS(def->place), def->name, (int)def->type);
	}
	CalStatus status = axes_resolve(def, error);
	if (status == CAL_OK && joint_type(def->type)->uses & CAL_JOINT_USES_ELEMENTS) {
		status = elements_resolve(def, error);
	}
	if (status == CAL_OK) {
		status = dofs_resolve(def, error);
	}
	if (status != CAL_OK) {
		return status;
	}
	if (!number_is_usable(def->pitch)) {
		return refuse_joint(def, error, "pitch", NUMBER_WRONG);
	}
	const char *wrong = placement_resolve(&def->inboard);
	if (wrong) {
		return refuse_joint(def, error, "inboard", wrong);
	}
	wrong = placement_resolve(&def->outboard);
	return wrong ? refuse_joint(def, error, "outboard", wrong) : CAL_OK;
}

CalStatus cal_joint_def_reverse(const CalJointDef *def, CalJointDef *reversed, CalError *error) {
	if (!def || !reversed) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_joint_def_reverse: def or reversed is NULL");
	}
	CalJointDef given = *def;
	given.name = def->name ? def->name : "";
	CalStatus status = joint_def_resolve(&given, error);
	if (status != CAL_OK) {
		return status;
	}
	const char *why = joint_reverse(&given, reversed);
	reversed->name = def->name;
	return why ? error_set(error, CAL_ERR_MODEL, "%s%sjoint \"%s\" cannot be reversed: it %s", PLACE_ARGS(def->place),
	                       given.name, why)
	           : CAL_OK;
}
