// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_write_zero.c — another zero of coordinates, where loops are open while all of them are zero.
 *
 * A joint of SDFormat has one frame for both sides, in the pose of the file: all loops must be closed there. Where they are not
 * closed at zero, the pose is the initial state, projected on the constraints: a joint with the coordinate q has q = q0 + q' with q'
 * in the file, X_PF S(q) X_ML = (X_PF S(q0)) S(q') X_ML, and its limits, springs and mimics count from q0. Balls have no
 * such zero; they stay as they are.
 */
#include <math.h>
#include <string.h>

#include <calder/loops.h>

#include "io/sdf/sdf_write.h"

static bool some_loop_is_open(const Export *ex) {
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_loop_count(ex->desc); i++)
		if (!sdf_loop_is_closed(ex, (CalLoopId){i}))
			return true;
	return false;
}

/* ---- the state ------------------------------------------------------------------------------------------- */

typedef struct Closed {
	CalModel *model;
	CalState state;
	CalWork *work;
} Closed;

static void closed_free(Closed *c) {
	cal_work_destroy(c->work);
	cal_state_destroy(&c->state);
	cal_model_destroy(c->model);
}

/* The initial state of the setup with its loops closed; false: they cannot be, and stay as they are. */
static bool find_closed(const Export *ex, Closed *c) {
	const CalCompileOptions options = {.allocator = ex->allocator};
	CalError error = {0};
	if (cal_desc_group_count(ex->desc) != 1 || cal_model_compile(ex->desc, &options, &c->model, &error) != CAL_OK ||
	    cal_state_create(c->model, &c->state) != CAL_OK || cal_work_create(c->model, &c->work) != CAL_OK)
		return false;
	cal_config_neutral(c->model, c->state.q);
	return cal_setup_apply_state(ex->setup, c->model, &c->state, &error) == CAL_OK &&
	       cal_loop_project(c->model, &c->state, NULL, c->work, NULL) == CAL_OK;
}

/* Coordinates of a link in that state; NULL: none. */
static const double *coordinates_of(const Export *ex, const Closed *c, const ExportLink *link) {
	CalBodyInfo info;
	const int body = cal_model_find_joint(c->model, cal_desc_joint(ex->desc, link->joint, NULL, NULL)->name);
	return body >= 0 && cal_model_body(c->model, body, &info) == CAL_OK ? c->state.q + info.q + link->coordinate : NULL;
}

/* ---- links ----------------------------------------------------------------------------------------------- */

static dpose rotation(dvec3 axis, double angle) {
	return (dpose){dquat_matrix(dquat_exp(dscale(angle, axis))), {0, 0, 0}};
}

static dpose motion_of(const ExportLink *link, double q) {
	dpose X = link->motion == EXPORT_TRANSLATION ? dpose_identity() : rotation(link->axis, q);
	X.r = dscale(link->motion == EXPORT_TRANSLATION ? q
	             : link->motion == EXPORT_SCREW     ? link->pitch * q
	                                                : 0,
	             link->axis);
	return X;
}

static void note_zero(Export *ex, const ExportLink *link) {
	const int axes = export_axis_count(link);
	for (int i = 0; i < axes; i++)
		if (link->axes[i].zero != 0)
			export_note(
				ex, CAL_IMPORT_CHANGED, "joint", link->joint_name, link->place,
				"its zero is at %.17g%s here: in the pose of the file, where the run starts, all loops are closed",
				link->axes[i].zero,
				axes == 1 ? ""
				: i == 0  ? " of its first axis"
						  : " of its second axis");
}

static void move_zero(Export *ex, ExportLink *link, const double *q) {
	if (link->motion == EXPORT_FREE) {
		memcpy(link->q, q, 7 * sizeof *q);
		return;
	}
	const int axes = export_axis_count(link);
	for (int i = 0; i < axes; i++)
		link->axes[i].zero = link->q[i] = q[i];
	if (axes > 0)
		link->X_PF = dpose_mul(link->X_PF, motion_of(link, q[0]));
	if (axes > 1) // S(q) = S1(q1) S2(q2): that of the second one comes after it
		link->X_ML = dpose_mul(rotation(link->axis2, q[1]), link->X_ML);
	note_zero(ex, link);
}

void sdf_choose_zero(Export *ex) {
	Closed c = {0};
	if (!some_loop_is_open(ex))
		return;
	if (find_closed(ex, &c))
		for (int i = 0; i < ex->link_count; i++) {
			const double *q = coordinates_of(ex, &c, &ex->links[i]);
			if (q)
				move_zero(ex, &ex->links[i], q);
		}
	closed_free(&c);
}
