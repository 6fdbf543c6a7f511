// SPDX-License-Identifier: Apache-2.0
/*
 * linearize_series.c — `calder linearize --every`: a linear system that varies with time, along a run.
 */
#include <math.h>
#include <stdlib.h>

#include "linearize.h"

enum { MOST_TIMES = 100000 };
static const double two_pi = 6.283185307179586;

/* ---- one time ------------------------------------------------------------------------------------------ */

/* How many poles grow, the largest real part, and the slowest oscillation [Hz] (0: none). */
typedef struct Summary {
	int unstable;
	double growth, slowest;
} Summary;

static Summary summary_of(const LinearModel *model) {
	const int n = model->space.state_count;
	const double zero = n > 0 ? 1e-6 * fmax(model->poles[n - 1].frequency, 1e-3) : 0;
	Summary s = {.growth = n > 0 ? -INFINITY : 0};
	for (int i = 0; i < n; i++) {
		const CalPole *p = &model->poles[i];
		s.growth = fmax(s.growth, p->real);
		s.unstable += p->real > zero;
		if (s.slowest == 0 && p->imag > zero)
			s.slowest = p->frequency / two_pi;
	}
	return s;
}

static void print_time(const LinearModel *model) {
	const Summary s = summary_of(model);
	printf("  %12.6g  %8d  %12.4g  ", model->space.time, s.unstable, s.growth);
	if (s.slowest > 0)
		printf("%12.6g Hz\n", s.slowest);
	else
		printf("%12s\n", "none");
}

static CalStatus find_poles(LinearModel *model) {
	model->poles = calloc((size_t)model->space.state_count + 1, sizeof *model->poles);
	return model->poles ? cal_state_space_poles(&model->space, model->poles) : CAL_ERR_MEMORY;
}

/* ---- all times ------------------------------------------------------------------------------------------- */

static int count_times(const LinearSeries *s) {
	const double steps = floor((s->until - s->first) / s->every + 1e-9);
	return steps >= 0 && steps < MOST_TIMES ? (int)steps + 1 : 0;
}

static CalStatus take_time(const LinearSeries *s, CalSim *sim, int k, CalStateSpace *space, CalError *error) {
	const double t = s->first + k * s->every;
	CalStatus status = CAL_OK;
	if (t > cal_sim_time(sim))
		status = cal_sim_advance(sim, t, error);
	if (status == CAL_OK)
		status = cal_sim_state_space(sim, s->options, space, error);
	LinearModel model = {.path = s->path};
	if (status == CAL_OK) {
		model.space = *space;
		status = find_poles(&model);
	}
	if (status == CAL_OK && s->json) {
		fputs(k ? ",\n" : "", stdout);
		linearize_json(&model);
	} else if (status == CAL_OK)
		print_time(&model);
	free(model.poles);
	return status;
}

static void print_head(const LinearSeries *s, int count) {
	if (s->json) {
		puts("[");
		return;
	}
	printf("%s: linear at %d time%s\n", input_name(s->path), count, plural(count));
	printf("      time [s]  unstable  largest real  slowest oscillation\n");
}

int linearize_series(const LinearSeries *s, CalSim *sim) {
	const int count = count_times(s);
	if (count == 0)
		return say_usage("linearize", "--every: there are no times up to %g s, or more than %d", s->until, MOST_TIMES);
	CalStateSpace *spaces = calloc((size_t)count, sizeof *spaces);
	CalError error = {0};
	CalStatus status = spaces ? CAL_OK : CAL_ERR_MEMORY;
	print_head(s, count);
	for (int k = 0; k < count && status == CAL_OK; k++)
		status = take_time(s, sim, k, &spaces[k], &error);
	if (s->json)
		puts("]");
	int code = say_status(input_name(s->path), status, &error);
	for (int i = 0; i < s->file_count && code == EXIT_OK; i++)
		code = say_status(s->files[i], cal_state_space_write_series(spaces, count, s->files[i], &error), &error);
	for (int k = 0; spaces && k < count; k++)
		cal_state_space_release(&spaces[k]);
	free(spaces);
	return code;
}
