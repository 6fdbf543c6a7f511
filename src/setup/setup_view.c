// SPDX-License-Identifier: Apache-2.0
/*
 * setup_view.c — how a run is looked at: checked and copied into the setup.
 */
#include <math.h>
#include <string.h>

#include "setup/setup.h"

const char *cal_camera_name(CalCameraKind kind) {
	static const char *const names[] = {
#define CAMERA_NAME(name, text) text,
		CAL_CAMERA_LIST(CAMERA_NAME)
#undef CAMERA_NAME
	};
	return (int)kind >= 0 && kind < CAL_CAMERA_COUNT ? names[kind] : NULL;
}

CalViewSettings cal_view_settings_def(void) { return (CalViewSettings){.arrows = 1, .deformation = 1}; }

/* ---- checks --------------------------------------------------------------------------------------------- */

static bool is_finite(CalVec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static const char *check_camera(const CalSetup *setup, const CalViewCamera *camera) {
	const CalVec3 a = camera->from, b = camera->at;
	return !camera->name || !camera->name[0]        ? "a camera needs a name"
	       : !cal_camera_name(camera->kind)         ? "a camera is fixed, following or onboard"
	       : !is_finite(a) || !is_finite(b)         ? "a camera needs finite places"
	       : a.x == b.x && a.y == b.y && a.z == b.z ? "a camera is aimed at the place where it is"
	       : camera->kind != CAL_CAMERA_FIXED && !cal_desc_body(setup->desc, camera->body)
	           ? "a camera that follows or is onboard needs a body of the description"
	           : NULL;
}

static bool has_camera(const CalViewSettings *view, const char *name) {
	for (int i = 0; name && i < view->camera_count; i++)
		if (strcmp(view->cameras[i].name, name) == 0)
			return true;
	return !name;
}

static const char *check_step(const CalSetup *setup, const CalViewSettings *view, const CalViewStep *step) {
	return !isfinite(step->time)                                         ? "the time of a step is not finite"
	       : step->event && cal_setup_find_event(setup, step->event) < 0 ? "a step names an event that is not there"
	       : !has_camera(view, step->camera)                             ? "a step names a camera that is not there"
	                                                                     : NULL;
}

static const char *check_view(const CalSetup *setup, const CalViewSettings *view) {
	const char *wrong = !(view->speed >= 0) || !isfinite(view->speed)              ? "the speed must not be negative"
	                    : !(view->arrows >= 0) || !isfinite(view->arrows)          ? "the factor of arrows is negative"
	                    : !(view->deformation > 0) || !isfinite(view->deformation) ? "the factor of deformations is "
	                                                                                 "not positive"
	                    : !isfinite(view->start)                                   ? "the start is not finite"
	                    : !is_finite(view->light)                                  ? "the light is not finite"
	                                                                               : NULL;
	for (int i = 0; i < view->camera_count && !wrong; i++)
		wrong = check_camera(setup, &view->cameras[i]);
	for (int i = 0; i < view->step_count && !wrong; i++)
		wrong = check_step(setup, view, &view->steps[i]);
	return wrong || has_camera(view, view->camera) ? wrong : "the first camera is not there";
}

/* ---- copies --------------------------------------------------------------------------------------------- */

static bool copy_texts(CalSetup *setup, const char *const **texts, int count) {
	const char **own = setup_copy_array(setup, (const void *)*texts, (size_t)count, sizeof *own);
	bool copied = own != NULL;
	for (int i = 0; i < count && copied; i++)
		copied = setup_copy_text(setup, &own[i]);
	*texts = own;
	return copied;
}

static bool copy_view(CalSetup *setup, CalViewSettings *own) {
	CalViewCamera *cameras = setup_copy_array(setup, own->cameras, (size_t)own->camera_count, sizeof *cameras);
	CalViewStep *steps = setup_copy_array(setup, own->steps, (size_t)own->step_count, sizeof *steps);
	bool copied = cameras && steps && setup_copy_text(setup, &own->card) && setup_copy_text(setup, &own->camera) &&
	              copy_texts(setup, &own->plots, own->plot_count) && copy_texts(setup, &own->trails, own->trail_count);
	for (int i = 0; i < own->camera_count && copied; i++)
		copied = setup_copy_text(setup, &cameras[i].name);
	for (int i = 0; i < own->step_count && copied; i++)
		copied = setup_copy_text(setup, &steps[i].event) && setup_copy_text(setup, &steps[i].camera) &&
		         setup_copy_text(setup, &steps[i].caption);
	own->cameras = cameras;
	own->steps = steps;
	return copied;
}

CalStatus cal_setup_set_view(CalSetup *setup, const CalViewSettings *view, CalError *error) {
	if (!setup || !view)
		return error_null(error, "cal_setup_set_view", !setup ? "setup" : "view");
	const char *wrong = check_view(setup, view);
	if (wrong)
		return error_set(error, CAL_ERR_MODEL, "view settings: %s", wrong);
	CalViewSettings own = *view;
	if (!copy_view(setup, &own))
		return setup_no_memory(setup, error);
	setup->view = own;
	setup->has_view = true;
	return CAL_OK;
}

int cal_setup_view(const CalSetup *setup, CalViewSettings *view) {
	const bool has = setup && setup->has_view;
	if (view)
		*view = has ? setup->view : cal_view_settings_def();
	return has;
}
