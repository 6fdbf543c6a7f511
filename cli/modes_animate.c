// SPDX-License-Identifier: Apache-2.0
/*
 * modes_animate.c — `calder modes --system --animate`: oscillations of the whole model one after the other, as a result file
 * that the viewer plays.
 *
 * Each mode is shown for two seconds, at one period per second, from the state of the model: displacements
 * a (Re sin + Im cos) along the tangent space, loops closed again. The amplitude a moves the node that moves most by a tenth of the size
 * of the model, and turns no body by more than 0.35 rad.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/results.h>

#include "modes.h"

static const double two_pi = 6.283185307179586;
static const double shown_for = 2; // [s]
enum { FRAMES = 96 };              // of a mode

/* ---- the modes that are shown --------------------------------------------------------------------------- */

static void name_mode(AnimatedMode *to, const CalModel *model, const CalSystemMode *mode, int number, bool several) {
	const char *group = several ? cal_model_name(model) : "";
	snprintf(to->name, sizeof to->name, "%.60s%smode %d", group, several ? " " : "", number);
	snprintf(to->text, sizeof to->text, "%.6g Hz, damping ratio %.4g", mode->frequency / two_pi, mode->damping);
}

CalStatus animation_add(Animation *animation, const CalSim *sim, int group, const CalSystemModes *modes) {
	const CalModel *model = cal_sim_model(sim, group);
	const size_t nu = (size_t)cal_model_u_count(model);
	for (int i = 0; i < modes->count; i++) {
		const CalSystemMode *mode = &modes->mode[i];
		if (mode->kind != CAL_MODE_OSCILLATION)
			continue;
		if (animation->count == ANIMATED_MODES) {
			animation->left_out++;
			continue;
		}
		AnimatedMode *to = &animation->modes[animation->count];
		*to = (AnimatedMode){.group = group, .shape = calloc(2 * nu + 1, sizeof *to->shape)};
		if (!to->shape)
			return CAL_ERR_MEMORY;
		animation->count++;
		memcpy(to->shape, mode->shape, nu * sizeof *to->shape);
		if (modes->damped)
			memcpy(to->shape + nu, mode->shape_imag, nu * sizeof *to->shape);
		name_mode(to, model, mode, i + 1, cal_sim_group_count(sim) > 1);
	}
	return CAL_OK;
}

void animation_free(Animation *animation) {
	for (int i = 0; i < animation->count; i++)
		free(animation->modes[i].shape);
	*animation = (Animation){0};
}

/* ---- one group ----------------------------------------------------------------------------------------------- */

/* A group about its state. */
typedef struct Displaced {
	const CalModel *model;
	CalState about;
	CalState *state; // of the simulation
	CalWork *work;
	double *way; // [nu]
	double size; // of the model [m]
} Displaced;

static double length_of(CalVec3 a) { return sqrt(a.x * a.x + a.y * a.y + a.z * a.z); }

/* The largest distance of a node from the first, and of the mass of a body from its center. */
static CalStatus find_size(Displaced *d) {
	CalPose first = {0}, pose;
	CalStatus status = cal_kinematics(d->model, &d->about, NULL, d->work);
	for (int i = 0; i < cal_model_node_count(d->model) && status == CAL_OK; i++) {
		status = cal_node_pose(d->model, d->work, i, i ? &pose : &first);
		if (i && status == CAL_OK)
			d->size =
				fmax(d->size, length_of((CalVec3){pose.r.x - first.r.x, pose.r.y - first.r.y, pose.r.z - first.r.z}));
	}
	for (int b = 0; b < cal_model_body_count(d->model) && status == CAL_OK; b++) {
		CalBodyInfo info;
		status = cal_model_body(d->model, b, &info);
		const double trace = info.inertia.m[0][0] + info.inertia.m[1][1] + info.inertia.m[2][2];
		if (status == CAL_OK && info.mass > 0)
			d->size = fmax(d->size, 2 * sqrt(trace / info.mass));
	}
	d->size = d->size > 0 ? d->size : 1;
	return status;
}

static CalStatus displaced_create(Displaced *d, CalSim *sim, int group) {
	*d = (Displaced){.model = cal_sim_model(sim, group), .state = cal_sim_state(sim, group)};
	d->way = calloc((size_t)cal_model_u_count(d->model) + 1, sizeof *d->way);
	CalStatus status = d->way ? cal_state_create(d->model, &d->about) : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = cal_work_create(d->model, &d->work);
	if (status != CAL_OK)
		return status;
	cal_state_copy(d->model, d->state, &d->about);
	return find_size(d);
}

static void displaced_release(Displaced *d) {
	cal_work_destroy(d->work);
	cal_state_destroy(&d->about);
	free(d->way);
}

/* How fast nodes and bodies move where speeds are the shape. */
static CalStatus find_motion(Displaced *d, const double *shape, double *fastest, double *turning) {
	CalState moving = d->about; // its arrays, speeds aside
	moving.u = d->way;
	memcpy(d->way, shape, (size_t)cal_model_u_count(d->model) * sizeof *d->way);
	CalStatus status = cal_kinematics(d->model, &moving, NULL, d->work);
	for (int i = 0; i < cal_model_node_count(d->model) && status == CAL_OK; i++) {
		CalSpatial v;
		status = cal_node_velocity(d->model, d->work, i, &v);
		if (status != CAL_OK)
			break;
		*fastest = fmax(*fastest, length_of(v.linear));
		*turning = fmax(*turning, length_of(v.angular));
	}
	return status;
}

static CalStatus find_amplitude(Displaced *d, const double *shape, double scale, double *amplitude) {
	static const double part = 0.1, turn = 0.35; // of the size; [rad]
	double fastest = 0, turning = 0;
	CalStatus status = find_motion(d, shape, &fastest, &turning);
	if (status == CAL_OK)
		status = find_motion(d, shape + cal_model_u_count(d->model), &fastest, &turning);
	*amplitude = fmin(fastest > 0 ? part * d->size / fastest : INFINITY, turning > 0 ? turn / turning : INFINITY);
	*amplitude = isfinite(*amplitude) ? scale * *amplitude : 0;
	return status;
}

/* The group of the simulation, displaced. False: its loops cannot be closed there; it is as near to that as it gets. */
static bool displace(Displaced *d, const double *shape, double amplitude, double phase) {
	const int nu = cal_model_u_count(d->model);
	for (int i = 0; i < nu; i++)
		d->way[i] = amplitude * (shape[i] * sin(phase) + shape[nu + i] * cos(phase));
	cal_config_integrate(d->model, d->about.q, d->way, d->state->q);
	memset(d->state->u, 0, (size_t)nu * sizeof(double));
	return cal_model_row_count(d->model) == 0 ||
	       cal_loop_project(d->model, d->state, &(CalProjectOptions){.search = -1}, d->work, NULL) == CAL_OK;
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

/* Poses of all bodies, and all coordinates. */
static CalStatus add_signals(CalSampler *sampler, CalSim *sim, CalError *error) {
	CalStatus status = cal_sampler_add(sampler, sim, "q", error);
	for (int g = 0; g < cal_sim_group_count(sim); g++)
		for (int b = 0; b < cal_model_body_count(cal_sim_model(sim, g)) && status == CAL_OK; b++) {
			CalBodyInfo info;
			char name[512];
			status = cal_model_body(cal_sim_model(sim, g), b, &info);
			snprintf(name, sizeof name, "pose:%.480s", info.name);
			if (status == CAL_OK)
				status = cal_sampler_add(sampler, sim, name, error);
		}
	return status;
}

typedef struct Film {
	const Animation *animation;
	CalSim *sim;
	CalSampler *sampler;
	CalResults *results;
	double *row; // [columns of the sampler]
	double scale;
	int open; // frames in which loops are not closed
} Film;

static const CalResultsColumn log_columns[] = {{"t", "s"}, {"action", "1"}, {"kinetic_lost", "J"}};
enum { LOG_COLUMNS = sizeof log_columns / sizeof log_columns[0] };

/* Frames, and a log whose entries name the modes. */
static CalStatus open_film(Film *f, const char *path, const AnimationModel *of, CalError *error) {
	const int columns = cal_sampler_column_count(f->sampler);
	const char *names[ANIMATED_MODES], *texts[ANIMATED_MODES];
	CalResultsColumn *column = calloc((size_t)columns, sizeof *column);
	f->row = calloc((size_t)columns, sizeof *f->row);
	if (!column || !f->row) {
		free(column);
		return CAL_ERR_MEMORY;
	}
	for (int i = 0; i < columns; i++) {
		CalSamplerColumn about;
		cal_sampler_column(f->sampler, i, &about);
		column[i] = (CalResultsColumn){about.name, about.unit};
	}
	for (int i = 0; i < f->animation->count; i++)
		names[i] = f->animation->modes[i].name, texts[i] = f->animation->modes[i].text;
	const CalResultsTexts lists[] = {{"names", names, f->animation->count}, {"actions", texts, f->animation->count}};
	const CalResultsStream streams[] = {
		{.name = "replay", .path = path, .interval = shown_for / FRAMES, .columns = column, .column_count = columns},
		{.name = "log",
	     .group = "events",
	     .path = path,
	     .columns = log_columns,
	     .column_count = LOG_COLUMNS,
	     .texts = lists,
	     .text_count = 2}};
	const CalResultsOptions options = {
		.streams = streams, .stream_count = 2, .title = of->title, .model_name = of->name, .model_text = of->text};
	const CalStatus status = cal_results_create(&options, &f->results, error);
	free(column);
	return status;
}

static CalStatus show_mode(Film *f, Displaced *d, int number) {
	const AnimatedMode *mode = &f->animation->modes[number];
	const double start = shown_for * number, entry[LOG_COLUMNS] = {start, number};
	const bool last = number + 1 == f->animation->count;
	double amplitude = 0;
	CalStatus status = find_amplitude(d, mode->shape, f->scale, &amplitude);
	if (status == CAL_OK)
		status = cal_results_put(f->results, 1, entry);
	for (int i = 0; i < FRAMES + last && status == CAL_OK; i++) {
		const double t = shown_for * i / FRAMES;
		f->open += !displace(d, mode->shape, amplitude, two_pi * t);
		status = cal_sampler_sample(f->sampler, f->sim, f->row);
		f->row[0] = start + t;
		if (status == CAL_OK)
			status = cal_results_put(f->results, 0, f->row);
	}
	cal_state_copy(d->model, &d->about, d->state);
	return status;
}

static CalStatus write_film(Film *f, const char *path, const AnimationModel *of, CalError *error) {
	CalStatus status = cal_sampler_create(NULL, &f->sampler, error);
	if (status == CAL_OK)
		status = add_signals(f->sampler, f->sim, error);
	if (status == CAL_OK)
		status = open_film(f, path, of, error);
	for (int i = 0; i < f->animation->count && status == CAL_OK; i++) {
		Displaced d = {0};
		status = displaced_create(&d, f->sim, f->animation->modes[i].group);
		if (status == CAL_OK)
			status = show_mode(f, &d, i);
		displaced_release(&d);
	}
	if (f->results && (status == CAL_OK || status == CAL_ERR_IO)) // which says what could not be written
		status = cal_results_finish(f->results, error);
	return status;
}

int animation_write(const Animation *animation, CalSim *sim, const char *path, double scale, const AnimationModel *of) {
	Film film = {.animation = animation, .sim = sim, .scale = scale};
	CalError error = {0};
	char text[200];
	if (animation->count == 0) {
		say_error(of->name, "--animate: no mode oscillates; rigid-body and aperiodic modes are not shown");
		return EXIT_INPUT;
	}
	const CalStatus status = write_film(&film, path, of, &error);
	cal_results_destroy(film.results);
	cal_sampler_destroy(film.sampler);
	free(film.row);
	const int code = say_status(status == CAL_ERR_IO ? path : of->name, status, &error);
	if (code == EXIT_OK && film.open > 0) {
		snprintf(text, sizeof text, "--animate: loops cannot be closed in %d of %d frames; take a smaller --scale",
		         film.open, FRAMES * animation->count + 1);
		say_warning(of->name, text);
	}
	if (code == EXIT_OK && animation->left_out > 0) {
		snprintf(text, sizeof text,
		         "--animate: the first %d oscillations are shown, %d are not; choose by --modes or --max-frequency",
		         ANIMATED_MODES, animation->left_out);
		say_note(of->name, text);
	}
	return code;
}
