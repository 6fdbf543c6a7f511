// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_write_view.c — how a run is looked at, as a section of a model file.
 */
#include <math.h>

#include "io/model/writer/model_file_write.h"

static void write_cameras(Writer *w, const CalViewSettings *view) {
	if (view->camera_count)
		fputs("  cameras:\n", w->out);
	for (int i = 0; i < view->camera_count; i++) {
		const CalViewCamera *camera = &view->cameras[i];
		bool first = true;
		fputs("    ", w->out);
		put_text(w, camera->name);
		fputs(": {", w->out);
		if (camera->kind != CAL_CAMERA_FIXED)
			put_named(w, &first, "body", cal_desc_body(w->desc, camera->body)->name);
		if (camera->kind == CAL_CAMERA_ONBOARD)
			put_flag(w, &first, "onboard", 1);
		put_key(w, &first, "from");
		put_numbers(w, (double[]){camera->from.x, camera->from.y, camera->from.z}, 3);
		put_vector(w, &first, "at", camera->at);
		if (camera->orthographic)
			put_flag(w, &first, "orthographic", 1);
		fputs("}\n", w->out);
	}
}

static void write_steps(Writer *w, const CalViewSettings *view) {
	if (view->step_count)
		fputs("  steps:\n", w->out);
	for (int i = 0; i < view->step_count; i++) {
		const CalViewStep *step = &view->steps[i];
		bool first = true;
		fputs("    - {", w->out);
		if (step->event)
			put_named(w, &first, "event", step->event);
		if (!step->event || step->time != 0) {
			put_key(w, &first, step->event ? "delay" : "at");
			put_number(w, step->time);
		}
		if (step->camera)
			put_named(w, &first, "camera", step->camera);
		if (step->caption)
			put_named(w, &first, "caption", step->caption);
		fputs("}\n", w->out);
	}
}

static void write_texts(Writer *w, const char *key, const char *const *texts, int count) {
	if (!count)
		return;
	fprintf(w->out, "  %s: [", key);
	for (int i = 0; i < count; i++) {
		fputs(i ? ", " : "", w->out);
		put_text(w, texts[i]);
	}
	fputs("]\n", w->out);
}

static void write_number(Writer *w, const char *key, double value, double usual) {
	if (value == usual)
		return;
	fprintf(w->out, "  %s: ", key);
	put_number(w, value);
	fputc('\n', w->out);
}

static void write_text(Writer *w, const char *key, const char *text) {
	if (!text)
		return;
	fprintf(w->out, "  %s: ", key);
	put_text(w, text);
	fputc('\n', w->out);
}

void write_view(Writer *w) {
	CalViewSettings view;
	const CalViewSettings usual = cal_view_settings_def();
	if (!cal_setup_view(w->setup, &view))
		return;
	fputs("view:\n", w->out);
	write_number(w, "arrows", view.arrows, NAN);
	write_number(w, "start", view.start, usual.start);
	write_number(w, "speed", view.speed, usual.speed);
	write_number(w, "deformation", view.deformation, usual.deformation);
	if (view.light.x != 0 || view.light.y != 0 || view.light.z != 0) {
		fputs("  light: ", w->out);
		put_numbers(w, (double[]){view.light.x, view.light.y, view.light.z}, 3);
		fputc('\n', w->out);
	}
	write_text(w, "card", view.card);
	write_text(w, "camera", view.camera);
	write_cameras(w, &view);
	write_texts(w, "plots", view.plots, view.plot_count);
	write_texts(w, "trails", view.trails, view.trail_count);
	write_steps(w, &view);
}
