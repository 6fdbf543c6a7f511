// SPDX-License-Identifier: Apache-2.0
/*
 * desc_loop.c — what the definition of a loop says by itself: the numbers its type needs, drives, gains, applied
 * wrenches.
 *
 * Whether its sides and coordinates make sense in the tree is for check_loop.c.
 */
#include <math.h>
#include <stdbool.h>

#include "base/error.h"
#include "loop/loop_type.h"
#include "model/description/desc.h"
#include "model/description/usable.h"

/* ---- checks ------------------------------------------------------------------------------------- */

static bool vec_is_zero(CalVec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }
static bool is_positive(double x) { return x > 0 && number_is_usable(x); }
static bool is_set(int axes) { return axes >= 0 && axes <= CAL_AXIS_XYZ; }

static CalStatus refuse_loop(const CalLoopDef *def, CalError *error, const char *text) {
	return error_set(error, CAL_ERR_MODEL, "%s%sloop \"%s\": %s", PLACE_ARGS(def->place), def->name, text);
}

static CalStatus check_size(const CalLoopDef *def, const char *what, double value, CalError *error) {
	if (is_positive(value)) {
		return CAL_OK;
	}
	return error_set(error, CAL_ERR_MODEL, "%s%sloop \"%s\": its %s is %g m but must be positive",
	                 PLACE_ARGS(def->place), def->name, what, value);
}

static CalStatus check_terms(const CalLoopDef *def, CalError *error) {
	if (def->term_count < 1 || def->term_count > CAL_LOOP_MAX_TERMS) {
		return error_set(error, CAL_ERR_MODEL, "%s%sloop \"%s\": a coupling has 1 to %d terms, not %d",
		                 PLACE_ARGS(def->place), def->name, CAL_LOOP_MAX_TERMS, def->term_count);
	}
	for (int i = 0; i < def->term_count; i++) {
		const CalLoopTerm *term = &def->term[i];
		if (term->factor == 0 || !number_is_usable(term->factor)) {
			return error_set(error, CAL_ERR_MODEL,
			                 "%s%sloop \"%s\": the factor of term %d is %g; give a finite one or leave the term out",
			                 PLACE_ARGS(def->place), def->name, i + 1, term->factor);
		}
		for (int k = 0; k < i; k++) {
			if (def->term[k].body.value == term->body.value && def->term[k].dof == term->dof) {
				return error_set(error, CAL_ERR_MODEL,
				                 "%s%sloop \"%s\": terms %d and %d name the same coordinate; add their factors",
				                 PLACE_ARGS(def->place), def->name, k + 1, i + 1);
			}
		}
	}
	return CAL_OK;
}

static CalStatus check_pitch(const CalLoopDef *def, CalError *error) {
	if (def->pitch != 0 && number_is_usable(def->pitch)) {
		return CAL_OK;
	}
	return error_set(error, CAL_ERR_MODEL,
	                 "%s%sloop \"%s\": a %s needs a finite pitch other than zero [m/rad]; without one it is a revolute",
	                 PLACE_ARGS(def->place), def->name, cal_loop_type_name(def->type));
}

static CalStatus check_axes(const CalLoopDef *def, CalError *error) {
	if (is_set(def->translation) && is_set(def->rotation) && def->translation + def->rotation != 0) {
		return CAL_OK;
	}
	return refuse_loop(def, error,
	                   "its directions are sets of CAL_AXIS_X, CAL_AXIS_Y and CAL_AXIS_Z in translation and "
	                   "rotation, and at least one must be locked");
}

/** The numbers that a type cannot do without. */
static CalStatus check_type(const CalLoopDef *def, CalError *error) {
	const int uses = loop_type(def->type)->uses;
	CalStatus status = CAL_OK;
	if (uses & CAL_LOOP_USES_LENGTH) {
		status = check_size(def, "length", def->length, error);
	}
	if (status == CAL_OK && uses & CAL_LOOP_USES_RADIUS) {
		status = check_size(def, "radius", def->radius, error);
	}
	if (status == CAL_OK && uses & CAL_LOOP_USES_PITCH) {
		status = check_pitch(def, error);
	}
	if (status == CAL_OK && uses & CAL_LOOP_USES_AXES) {
		status = check_axes(def, error);
	}
	return status == CAL_OK && uses & CAL_LOOP_USES_TERMS ? check_terms(def, error) : status;
}

static bool drive_is_finite(const CalDrive *d) {
	return number_is_usable(d->offset) && number_is_usable(d->speed) && number_is_usable(d->acceleration) &&
	       number_is_usable(d->amplitude) && number_is_usable(d->frequency) && number_is_usable(d->phase);
}

static bool drive_is_given(const CalDrive *d) {
	return d->fn || d->offset != 0 || d->speed != 0 || d->acceleration != 0 || d->amplitude != 0;
}

static CalStatus check_drives(const CalLoopDef *def, CalError *error) {
	const int rows = loop_def_rows(def);
	for (int i = 0; i < CAL_LOOP_MAX_ROWS; i++) {
		if (!drive_is_finite(&def->drive[i])) {
			return error_set(error, CAL_ERR_MODEL, "%s%sloop \"%s\": the drive of row %d " NUMBER_WRONG,
			                 PLACE_ARGS(def->place), def->name, i + 1);
		}
		if (i >= rows && drive_is_given(&def->drive[i])) {
			return error_set(error, CAL_ERR_MODEL,
			                 "%s%sloop \"%s\": row %d is driven, but a %s of this kind has only %d; see the order of "
			                 "rows in calder/loops.h",
			                 PLACE_ARGS(def->place), def->name, i + 1, cal_loop_type_name(def->type), rows);
		}
	}
	return CAL_OK;
}

static CalStatus check_applied_wrench(const CalLoopDef *def, CalError *error) {
	const CalSpatial *known = &def->applied_wrench;
	if (!vec_is_usable(known->angular) || !vec_is_usable(known->linear)) {
		return refuse_loop(def, error, "its applied wrench " NUMBER_WRONG);
	}
	const bool given = !vec_is_zero(known->angular) || !vec_is_zero(known->linear);
	if (given && !loop_type_has_two_sides(def->type)) {
		return error_set(
			error, CAL_ERR_MODEL,
			"%s%sloop \"%s\": a %s has no two frames between which an applied wrench could act; put it on a "
			"node (CalWrench) or on the joints (tau)",
			PLACE_ARGS(def->place), def->name, cal_loop_type_name(def->type));
	}
	return CAL_OK;
}

CalStatus loop_def_check(const CalLoopDef *def, CalError *error) {
	CalStatus status = check_type(def, error);
	if (status == CAL_OK) {
		status = check_drives(def, error);
	}
	if (status == CAL_OK) {
		status = check_applied_wrench(def, error);
	}
	if (status != CAL_OK) {
		return status;
	}
	if (!(def->frequency >= 0 && number_is_usable(def->frequency) && def->damping >= 0 &&
	      number_is_usable(def->damping))) {
		return refuse_loop(def, error, "frequency and damping of its stabilisation must be finite and not negative");
	}
	if (def->frequency == 0 && def->damping > 0) {
		return refuse_loop(def, error, "its stabilisation has a damping ratio but no frequency [rad/s]; give both");
	}
	return CAL_OK;
}
