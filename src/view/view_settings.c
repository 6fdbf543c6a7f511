// SPDX-License-Identifier: Apache-2.0
/*
 * view_settings.c — how a run is looked at, as a part of the document (docs/replay.md, "view"). Bodies are given by
 * their index, as everywhere in it.
 */
#include "view/view_settings.h"

#include <string.h>

#include "base/error.h"

static void put_flag(JsonWriter *d, const char *key, bool flag) {
	json_writer_key(d, key);
	json_writer_flag(d, flag);
}

static void write_camera(JsonWriter *d, const CalViewCamera *camera) {
	json_writer_open(d, '{');
	json_writer_put_text(d, "name", camera->name);
	json_writer_put_text(d, "kind", cal_camera_name(camera->kind));
	if (camera->kind != CAL_CAMERA_FIXED)
		json_writer_put_number(d, "body", (double)camera->body.value - 1);
	json_writer_key(d, "from");
	json_writer_vec3(d, camera->from);
	json_writer_key(d, "at");
	json_writer_vec3(d, camera->at);
	put_flag(d, "orthographic", camera->orthographic);
	json_writer_close(d);
}

static void write_step(JsonWriter *d, const CalViewStep *step) {
	json_writer_open(d, '{');
	json_writer_put_number(d, "t", step->time);
	if (step->event)
		json_writer_put_text(d, "event", step->event);
	if (step->camera)
		json_writer_put_text(d, "camera", step->camera);
	if (step->caption)
		json_writer_put_text(d, "caption", step->caption);
	json_writer_close(d);
}

static void write_texts(JsonWriter *d, const char *key, const char *const *texts, int count) {
	json_writer_key(d, key);
	json_writer_open(d, '[');
	for (int i = 0; i < count; i++)
		json_writer_text(d, texts[i]);
	json_writer_close(d);
}

static void write_lists(JsonWriter *d, const CalViewSettings *view) {
	json_writer_key(d, "cameras");
	json_writer_open(d, '[');
	for (int i = 0; i < view->camera_count; i++)
		write_camera(d, &view->cameras[i]);
	json_writer_close(d);
	json_writer_key(d, "steps");
	json_writer_open(d, '[');
	for (int i = 0; i < view->step_count; i++)
		write_step(d, &view->steps[i]);
	json_writer_close(d);
	write_texts(d, "plots", view->plots, view->plot_count);
	write_texts(d, "trails", view->trails, view->trail_count);
}

CalStatus view_settings_check(const CalSetup *setup, const CalViewSettings *more, CalError *error) {
	CalViewSettings view;
	const char *name = more ? more->camera : NULL;
	cal_setup_view(setup, &view);
	for (int i = 0; name && i < view.camera_count; i++)
		if (strcmp(view.cameras[i].name, name) == 0)
			return CAL_OK;
	return !name ? CAL_OK
	             : error_set(error, CAL_ERR_INPUT,
	                         "the model has no camera \"%.80s\"; its key view: cameras: says which it has", name);
}

static bool is_zero(CalVec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }

/* What is not as the default in `more` replaces what the model says. */
static void apply_more(CalViewSettings *view, const CalViewSettings *more) {
	const CalViewSettings usual = cal_view_settings_def();
	view->card = more->card ? more->card : view->card;
	view->camera = more->camera ? more->camera : view->camera;
	view->start = more->start != usual.start ? more->start : view->start;
	view->speed = more->speed != usual.speed ? more->speed : view->speed;
	view->arrows = more->arrows != usual.arrows ? more->arrows : view->arrows;
	view->deformation = more->deformation != usual.deformation ? more->deformation : view->deformation;
	view->light = is_zero(more->light) ? view->light : more->light;
	if (more->camera)
		view->step_count = 0; // somebody wants this camera, not those of the story
	if (more->plot_count) {
		view->plots = more->plots;
		view->plot_count = more->plot_count;
	}
	if (more->trail_count) {
		view->trails = more->trails;
		view->trail_count = more->trail_count;
	}
}

void view_settings_write(JsonWriter *d, const CalSetup *setup, const CalViewSettings *more) {
	CalViewSettings view;
	if (!cal_setup_view(setup, &view) && !more)
		return;
	if (more)
		apply_more(&view, more);
	json_writer_key(d, "view");
	json_writer_open(d, '{');
	if (view.card)
		json_writer_put_text(d, "card", view.card);
	if (view.camera)
		json_writer_put_text(d, "camera", view.camera);
	json_writer_put_number(d, "start", view.start);
	json_writer_put_number(d, "speed", view.speed);
	json_writer_put_number(d, "arrows", view.arrows);
	json_writer_put_number(d, "deformation", view.deformation);
	if (!is_zero(view.light)) {
		json_writer_key(d, "light");
		json_writer_vec3(d, view.light);
	}
	write_lists(d, &view);
	json_writer_close(d);
}
