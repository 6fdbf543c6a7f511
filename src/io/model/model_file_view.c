// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_view.c — how a run is looked at: cameras, start, speed, plots, arrows, trails, the steps of its story.
 */
#include <string.h>

#include "io/model/model_file.h"

typedef struct CameraInput {
	const char *body;
	CalVec3 from, at;
	int onboard, orthographic;
} CameraInput;

static const Field camera_keys[] = {
	{"body", FIELD_BODY, offsetof(CameraInput, body), .flags = FIELD_AS_TEXT,
     .doc = "that the camera follows; default: it is fixed in the world"},
	{"onboard", FIELD_FLAG, offsetof(CameraInput, onboard),
     .doc = "the camera turns with the body, and its up is the body's z; default false"},
	{"from", FIELD_VECTOR, offsetof(CameraInput, from), DIM_LENGTH, .flags = FIELD_REQUIRED,
     .doc = "where it is: in the world; of one that follows from the body's origin along the axes of the world; of one "
            "onboard in the body frame"},
	{"at", FIELD_VECTOR, offsetof(CameraInput, at), DIM_LENGTH,
     .doc = "where it is aimed, likewise; default the origin"},
	{"orthographic", FIELD_FLAG, offsetof(CameraInput, orthographic), .doc = "without perspective; default false"},
};
const FieldTable camera_table = {FIELDS("camera", camera_keys), .doc = "Where a run is looked at from."};

typedef struct StepInput {
	double at, delay;
	const char *event, *camera, *caption;
} StepInput;

static const Field step_keys[] = {
	{"at", FIELD_NOT_NEGATIVE, offsetof(StepInput, at), DIM_TIME, .doc = "when; this or `event`"},
	{"event", FIELD_EVENT, offsetof(StepInput, event), .flags = FIELD_AS_TEXT, .doc = "that it begins with"},
	{"delay", FIELD_NUMBER, offsetof(StepInput, delay), DIM_TIME,
     .doc = "after the event; negative: before; default 0"},
	{"camera", FIELD_TEXT, offsetof(StepInput, camera), .doc = "one of `cameras`; default: as before"},
	{"caption", FIELD_TEXT, offsetof(StepInput, caption), .doc = "a sentence for people; default none"},
};
const FieldTable step_table = {FIELDS("step", step_keys),
                               .doc = "What is shown and said from a moment on: the story of a run."};

typedef struct ViewInput {
	double start, speed, arrows, deformation;
	CalVec3 light;
	const char *card, *camera;
	const TreeNode *cameras, *plots, *trails, *steps;
} ViewInput;

static const Field view_keys[] = {
	{"card", FIELD_TEXT, offsetof(ViewInput, card),
     .doc = "a sentence that is shown below the title until the run is played; default no title card"},
	{"start", FIELD_NOT_NEGATIVE, offsetof(ViewInput, start), DIM_TIME,
     .doc = "moment that is shown first; default the start"},
	{"speed", FIELD_POSITIVE, offsetof(ViewInput, speed),
     .doc = "seconds of the run per second; default by the duration"},
	{"camera", FIELD_TEXT, offsetof(ViewInput, camera),
     .doc = "one of `cameras`, used first; default that of the first step, else one that shows the whole motion"},
	{"cameras", FIELD_ITEMS, offsetof(ViewInput, cameras), .flags = FIELD_AS_TREE | FIELD_LOCAL,
     .doc = "where to look from", .table = &camera_table},
	{"plots", FIELD_TEXTS, offsetof(ViewInput, plots), .flags = FIELD_AS_TREE,
     .doc = "each is a plot: signals, separated by commas"},
	{"trails", FIELD_NODES, offsetof(ViewInput, trails), .flags = FIELD_AS_TREE,
     .doc = "nodes and bodies whose paths are drawn"},
	{"arrows", FIELD_NOT_NEGATIVE, offsetof(ViewInput, arrows),
     .doc = "factor of the length of arrows; 0: none are drawn; default 1"},
	{"deformation", FIELD_POSITIVE, offsetof(ViewInput, deformation),
     .doc = "factor of the deformations of flexible bodies; default 1"},
	{"light", FIELD_VECTOR, offsetof(ViewInput, light),
     .doc = "direction towards the light, such as the sun, in the world; default: from above, over the left shoulder"},
	{"steps", FIELD_LIST, offsetof(ViewInput, steps), .flags = FIELD_AS_TREE, .doc = "the story of the run",
     .table = &step_table},
};
const FieldTable view_table = {FIELDS("view", view_keys),
                               .doc = "How a run is looked at in the [viewer](viewer.md), without any effect on it."};

/* ---- cameras -------------------------------------------------------------------------------------------- */

static bool read_camera(Reader *r, const Sections *s, const Item *item, CalViewCamera *out) {
	CameraInput in = {0};
	if (!model_file_check_name(r, item->place, item->name) || !fields_read(r, item->value, &camera_table, &in))
		return false;
	if (in.onboard && !in.body)
		return reader_fail(r, item->value, "camera \"%.40s\": one that is onboard needs its \"body\"", item->name);
	*out = (CalViewCamera){.name = item->name, .from = in.from, .at = in.at, .orthographic = in.orthographic};
	out->kind = in.onboard ? CAL_CAMERA_ONBOARD : in.body ? CAL_CAMERA_FOLLOWING : CAL_CAMERA_FIXED;
	return !in.body || model_file_find_body(r, s, tree_get(item->value, "body"), in.body, &out->body);
}

static bool read_cameras(Reader *r, const Sections *s, const TreeNode *section, CalViewSettings *view) {
	const int count = items_count(r, section, "camera");
	CalViewCamera *cameras = count >= 0 ? reader_array(r, (size_t)count, sizeof *cameras) : NULL;
	for (int i = 0; cameras && i < count; i++) {
		Item item;
		if (!items_get(r, section, i, "camera", &item) || !read_camera(r, s, &item, &cameras[i]))
			return false;
	}
	view->cameras = cameras;
	view->camera_count = count;
	return cameras != NULL;
}

static bool check_camera(Reader *r, const CalViewSettings *view, const TreeNode *place, const char *name) {
	Suggestion suggestion = {.word = name};
	for (int i = 0; i < view->camera_count; i++) {
		if (strcmp(view->cameras[i].name, name) == 0)
			return true;
		suggestion_offer(&suggestion, view->cameras[i].name);
	}
	return reader_unknown(r, place, "camera", &suggestion);
}

/* ---- lists ---------------------------------------------------------------------------------------------- */

static bool read_texts(Reader *r, const TreeNode *list, const char *what, const char *const **out, int *count) {
	if (!read_list(r, list, what))
		return false;
	const char **texts = reader_array(r, (size_t)list->count, sizeof *texts);
	for (int i = 0; texts && i < list->count; i++)
		if (!read_text(r, list->items[i], &texts[i]))
			return false;
	*out = texts;
	*count = list->count;
	return texts != NULL;
}

static bool read_trails(Reader *r, const Sections *s, const TreeNode *list, CalViewSettings *view) {
	if (!read_texts(r, list, "trails", &view->trails, &view->trail_count))
		return false;
	for (int i = 0; i < view->trail_count; i++) {
		CalNodeId node;
		if (!model_file_find_node(r, s, list->items[i], view->trails[i], &node))
			return false;
	}
	return true;
}

static bool read_step(Reader *r, const TreeNode *map, const CalViewSettings *view, CalViewStep *out) {
	StepInput in = {0};
	if (!fields_read(r, map, &step_table, &in))
		return false;
	const bool timed = tree_get(map, "at") != NULL;
	if (timed == (in.event != NULL))
		return reader_fail(r, map, "a step begins \"at\" a time or with an \"event\": give one of the two");
	if (timed && tree_get(map, "delay"))
		return reader_fail(r, tree_get(map, "delay"), "\"delay\" counts from an \"event\"; write the time in \"at\"");
	if (in.event && cal_setup_find_event(r->file->setup, in.event) < 0)
		return reader_fail(r, tree_get(map, "event"), "there is no event \"%.80s\"", in.event);
	if (in.camera && !check_camera(r, view, tree_get(map, "camera"), in.camera))
		return false;
	*out = (CalViewStep){timed ? in.at : in.delay, in.event, in.camera, in.caption};
	return true;
}

static bool read_steps(Reader *r, const TreeNode *list, CalViewSettings *view) {
	if (!read_list(r, list, "steps"))
		return false;
	CalViewStep *steps = reader_array(r, (size_t)list->count, sizeof *steps);
	for (int i = 0; steps && i < list->count; i++)
		if (!read_step(r, list->items[i], view, &steps[i]))
			return false;
	view->steps = steps;
	view->step_count = list->count;
	return steps != NULL;
}

bool model_file_read_view(Reader *r, const Sections *s) {
	if (!s->view || tree_is_null(s->view))
		return true;
	CalViewSettings view = cal_view_settings_def();
	ViewInput in = {.arrows = view.arrows, .deformation = view.deformation};
	reader_subject(r, "view", NULL);
	if (!fields_read(r, s->view, &view_table, &in) || (in.cameras && !read_cameras(r, s, in.cameras, &view)) ||
	    (in.camera && !check_camera(r, &view, tree_get(s->view, "camera"), in.camera)) ||
	    (in.plots && !read_texts(r, in.plots, "plots", &view.plots, &view.plot_count)) ||
	    (in.trails && !read_trails(r, s, in.trails, &view)) || (in.steps && !read_steps(r, in.steps, &view)))
		return false;
	view.card = in.card;
	view.camera = in.camera;
	view.start = in.start;
	view.speed = in.speed;
	view.arrows = in.arrows;
	view.deformation = in.deformation;
	view.light = in.light;
	return reader_added(r, s->view, cal_setup_set_view(r->file->setup, &view, r->error));
}
