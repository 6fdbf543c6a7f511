// SPDX-License-Identifier: Apache-2.0
/*
 * glue.c — what the Python package needs in C beside the public headers: loops over nodes, and texts in memory.
 * Included by the source that cffi generates; declared for Python in glue.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <calder/calder.h>

static CalStatus glue_setup_text(const CalSetup *setup, char **text, size_t *length, CalError *error) {
	*text = NULL;
	*length = 0;
	FILE *out = open_memstream(text, length);
	if (!out)
		return CAL_ERR_MEMORY;
	const CalStatus status = cal_model_file_write(setup, out, error);
	return fclose(out) == 0 ? status : CAL_ERR_MEMORY;
}

static CalStatus glue_replay_text(const char *results, const CalReplayOptions *options, char **text, size_t *length,
                                  CalError *error) {
	*text = NULL;
	*length = 0;
	FILE *out = open_memstream(text, length);
	if (!out)
		return CAL_ERR_MEMORY;
	const CalStatus status = cal_replay_write(results, options, out, error);
	return fclose(out) == 0 ? status : CAL_ERR_MEMORY;
}

/* A library without HDF5 says so of any file. */
static int glue_has_hdf5(void) {
	CalResultsAbout about;
	const CalStatus status = cal_results_about("", &about, NULL);
	if (status == CAL_OK)
		cal_results_about_free(&about);
	return status != CAL_ERR_UNSUPPORTED;
}

static CalStatus glue_nodes(const CalModel *model, const CalWork *work, double *position, double *rotation,
                            double *velocity, double *acceleration) {
	const int count = cal_model_node_count(model);
	CalStatus status = CAL_OK;
	for (int i = 0; i < count && status == CAL_OK; i++) {
		CalPose pose;
		CalSpatial motion;
		status = cal_node_pose(model, work, i, &pose);
		if (position)
			memcpy(position + 3 * i, &pose.r, sizeof pose.r);
		if (rotation)
			memcpy(rotation + 9 * i, &pose.R, sizeof pose.R);
		if (status == CAL_OK && velocity && (status = cal_node_velocity(model, work, i, &motion)) == CAL_OK)
			memcpy(velocity + 6 * i, &motion, sizeof motion);
		if (status == CAL_OK && acceleration && (status = cal_node_acceleration(model, work, i, &motion)) == CAL_OK)
			memcpy(acceleration + 6 * i, &motion, sizeof motion);
	}
	return status;
}

/* ---- states of Python's own --------------------------------------------------------------------- */

static void glue_pull_state(CalSim *sim, int group, CalState *to, double *shadow, int nq, int nu) {
	const CalState *from = cal_sim_state(sim, group);
	memcpy(to->q, from->q, (size_t)nq * sizeof(double));
	memcpy(to->u, from->u, (size_t)nu * sizeof(double));
	to->t = from->t;
	memcpy(shadow, from->q, (size_t)nq * sizeof(double));
	memcpy(shadow + nq, from->u, (size_t)nu * sizeof(double));
	shadow[nq + nu] = from->t;
}

static void glue_push_state(CalSim *sim, int group, const CalState *from, int nq, int nu) {
	CalState *to = cal_sim_state(sim, group);
	memcpy(to->q, from->q, (size_t)nq * sizeof(double));
	memcpy(to->u, from->u, (size_t)nu * sizeof(double));
	to->t = from->t;
}

static int glue_state_differs(const CalState *state, const double *shadow, int nq, int nu) {
	return memcmp(state->q, shadow, (size_t)nq * sizeof(double)) != 0 ||
	       memcmp(state->u, shadow + nq, (size_t)nu * sizeof(double)) != 0 ||
	       memcmp(&state->t, shadow + nq + nu, sizeof(double)) != 0;
}

/* ---- runs --------------------------------------------------------------------------------------- */

typedef struct GlueClock {
	int stop;
	double slice_s;
	double due;
} GlueClock;

static int glue_on_tick(int unused);

static double wall_s(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const volatile int *glue_stop(GlueClock *clock) { return &clock->stop; }

/* Where steps end does not depend on the clock: a run ends early only where an exception is on its way. */
static void look_at_signals(GlueClock *clock) {
	const double now = wall_s();
	if (now < clock->due)
		return;
	clock->stop = glue_on_tick(0) != 0;
	clock->due = now + clock->slice_s;
}

static double tick(void *user, CalSim *sim) {
	look_at_signals(user);
	return cal_sim_time(sim);
}

static void start_clock(CalSim *sim, GlueClock *clock) {
	clock->stop = 0;
	clock->due = wall_s() + clock->slice_s;
	cal_sim_watch(sim, tick, clock, cal_sim_time(sim));
}

static CalStatus glue_advance(CalSim *sim, GlueClock *clock, double t_end, CalError *error) {
	start_clock(sim, clock);
	const CalStatus status = cal_sim_advance(sim, t_end, error);
	cal_sim_watch(sim, NULL, NULL, 0);
	return status;
}

static CalStatus glue_steps(CalSim *sim, GlueClock *clock, int64_t count, CalError *error) {
	static const double far = 1e9; // [s] more than any step
	CalStatus status = CAL_OK;
	start_clock(sim, clock);
	for (int64_t i = 0; i < count && status == CAL_OK && !clock->stop; i++)
		status = cal_sim_step(sim, cal_sim_time(sim) + far, error);
	cal_sim_watch(sim, NULL, NULL, 0);
	return status;
}

typedef struct GlueRecord {
	CalSampler *sampler;
	double start, end, interval;
	int64_t taken;
	double *rows;
	int64_t capacity, used;
	int64_t examined;
	int64_t regular;
	const double *extra;
	int64_t extra_count, extra_next;
} GlueRecord;

/* When the next sample is due; the last one is at the end, as in the records of the command line. */
static double next_sample(const GlueRecord *record) {
	static const double coincidence = 1e-9; // of an interval
	double next = record->end;
	if (record->interval > 0)
		next = record->start + (double)record->regular * record->interval;
	if (next > record->end - coincidence * record->interval)
		next = record->end;
	if (record->extra_next < record->extra_count && record->extra[record->extra_next] < next)
		next = record->extra[record->extra_next];
	return next;
}

/* Which samples are behind. */
static void count_sample(GlueRecord *record, double t) {
	while (record->interval > 0 && t >= record->start + (double)record->regular * record->interval)
		record->regular++;
	while (record->extra_next < record->extra_count && t >= record->extra[record->extra_next])
		record->extra_next++;
	record->taken++;
	record->used++;
}

static CalStatus take_sample(CalSim *sim, GlueRecord *record) {
	enum { EXAMINATIONS = 200 };
	const int width = cal_sampler_column_count(record->sampler);
	CalStatus status = cal_sampler_sample(record->sampler, sim, record->rows + record->used * width);
	const double t = cal_sim_time(sim), span = record->end - record->start;
	if (status != CAL_OK)
		return status;
	count_sample(record, t);
	if (t < record->end && t < record->start + (double)record->examined * span / EXAMINATIONS)
		return CAL_OK;
	record->examined++;
	return cal_sim_examine(sim);
}

static CalStatus glue_record(CalSim *sim, GlueClock *clock, GlueRecord *record, CalError *error) {
	CalStatus status = CAL_OK;
	start_clock(sim, clock);
	if (record->taken == 0 && record->used < record->capacity)
		status = take_sample(sim, record);
	while (status == CAL_OK && !clock->stop && record->used < record->capacity && cal_sim_time(sim) < record->end) {
		const double next = next_sample(record);
		status = record->interval > 0 ? cal_sim_advance(sim, next, error) : cal_sim_step(sim, next, error);
		if (status == CAL_STOPPED) {
			record->end = cal_sim_time(sim);
			const CalStatus last = take_sample(sim, record);
			status = last == CAL_OK ? status : last;
		} else if (status == CAL_OK && (!(record->interval > 0) || cal_sim_time(sim) >= next)) {
			status = take_sample(sim, record);
		}
	}
	cal_sim_watch(sim, NULL, NULL, 0);
	return status;
}

/* ---- controllers -------------------------------------------------------------------------------- */

typedef struct GlueControl {
	void *handle;
	char group[128];
	int nq, nu;
	CalState *state;
	double *tau;
	int index; // of the group now
} GlueControl;

static int glue_on_control(void *handle);

/* Rests while the group is not there, or has other degrees of freedom. */
static int control_bind(const CalDevice *device, const CalEvalContext *context) {
	GlueControl *control = device->data;
	control->index = cal_context_find_group(context, control->group);
	const CalModel *model = cal_context_model(context, control->index);
	return !model || cal_model_q_count(model) != control->nq || cal_model_u_count(model) != control->nu;
}

static int call_control(const GlueControl *control, const CalEvalContext *context) {
	const CalState *now = cal_context_state(context, control->index);
	control->state->t = cal_context_time(context);
	memcpy(control->state->q, now->q, (size_t)control->nq * sizeof(double));
	memcpy(control->state->u, now->u, (size_t)control->nu * sizeof(double));
	return glue_on_control(control->handle);
}

static int apply_control(const GlueControl *control, CalEvalContext *context, const double *tau) {
	const CalState *now = cal_context_state(context, control->index);
	double power = 0;
	for (int i = 0; i < control->nu; i++) {
		power += tau[i] * now->u[i];
		if (tau[i] != 0 && cal_context_apply_effort(context, (CalDofRef){control->index, i, -1}, tau[i]) != CAL_OK)
			return 1;
	}
	cal_context_add_supplied_power(context, power);
	return 0;
}

static int control_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const GlueControl *control = device->data;
	(void)xdot;
	return call_control(control, context) || apply_control(control, context, control->tau);
}

static int control_sample(const CalDevice *device, CalEvalContext *context, double *x) {
	const GlueControl *control = device->data;
	(void)x;
	if (call_control(control, context))
		return 1;
	memcpy(device->d, control->tau, (size_t)control->nu * sizeof(double));
	return 0;
}

static int control_hold(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)xdot;
	return apply_control(device->data, context, device->d);
}

static CalStatus glue_add_control(CalSim *sim, const char *name, const GlueControl *control, double period,
                                  double offset, int *device, CalError *error) {
	static const CalDeviceOps continuous = {
		.type = "python controller", .bind = control_bind, .evaluate = control_evaluate};
	static const CalDeviceOps sampled = {
		.type = "python controller", .bind = control_bind, .evaluate = control_hold, .sample = control_sample};
	const CalDeviceDef def = {.name = name,
	                          .ops = period > 0 ? &sampled : &continuous,
	                          .data = control,
	                          .data_size = sizeof *control,
	                          .nd = period > 0 ? control->nu : 0,
	                          .sample_period = period,
	                          .sample_offset = offset,
	                          .accounts = 1};
	return cal_sim_add_device(sim, &def, device, error);
}

/* ---- campaigns ---------------------------------------------------------------------------------- */

/* What a plan's output makes of samples at t[count]; x[stride i]. */
static double glue_statistic(const CalPlanOutput *output, const double *t, const double *x, size_t stride,
                             size_t count) {
	CalStatisticAccumulator accumulator = {0};
	for (size_t i = 0; i < count; i++)
		cal_statistic_add(&accumulator, output, t[i * stride], x[i * stride]);
	return cal_statistic_value(&accumulator, output);
}

/* ---- paths of equilibria -------------------------------------------------------------------------- */

typedef struct GluePath {
	CalTrimPoint *points;
	double *q; /* [points nq] */
	int nq, count;
} GluePath;

static int keep_point(void *user, CalSim *sim, const CalTrimPoint *point) {
	GluePath *path = user;
	double *q = path->q + (size_t)path->count * (size_t)path->nq;
	path->points[path->count++] = *point;
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		const int nq = cal_model_q_count(cal_sim_model(sim, g));
		memcpy(q, cal_sim_state(sim, g)->q, (size_t)nq * sizeof *q);
		q += nq;
	}
	return 0;
}

static CalStatus glue_trim_path(CalSim *sim, const CalTrimPathOptions *options, CalTrimPoint *points, double *q, int nq,
                                int *count, CalError *error) {
	GluePath path = {.points = points, .q = q, .nq = nq};
	CalTrimPathOptions with = *options;
	with.point = keep_point;
	with.user = &path;
	const CalStatus status = cal_sim_trim_path(sim, &with, NULL, error);
	*count = path.count;
	return status;
}
