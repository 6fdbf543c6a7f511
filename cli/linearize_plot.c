// SPDX-License-Identifier: Apache-2.0
/*
 * linearize_plot.c — Bode plots and step responses of a linearized model.
 *
 * Frequencies are chosen by the poles: from a tenth of the slowest to ten times the fastest, with the frequency of every
 * oscillation among them, so that no peak falls between two. Phases are continued across half turns.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linearize.h"
#include "output.h"
#include "svg.h"

static const double two_pi = 6.283185307179586;
enum { FREQUENCIES = 500, TIMES = 801, LINE_NAME = 340 };

/* ---- ranges ------------------------------------------------------------------------------------------ */

/* The slowest and the fastest pole that is not zero; false: there is none. */
static bool pole_range(const LinearModel *model, double *low, double *high) {
	*low = INFINITY, *high = 0;
	for (int i = 0; i < model->space.state_count; i++)
		*high = fmax(*high, model->poles[i].frequency);
	for (int i = 0; i < model->space.state_count; i++)
		if (model->poles[i].frequency > 1e-6 * *high)
			*low = fmin(*low, model->poles[i].frequency);
	return *high > 0;
}

/* Until the slowest pole that decays is down to 1 %, at most 20 of its periods; of one that grows, up to 20 times. */
static double step_duration(const LinearModel *model) {
	double low, high, duration = 0, longest = INFINITY;
	if (!pole_range(model, &low, &high))
		return 1;
	for (int i = 0; i < model->space.state_count; i++) {
		const CalPole *p = &model->poles[i];
		if (p->frequency < low)
			continue;
		const bool grows = p->real > 1e-9 * p->frequency;
		const double change = grows ? 3 / p->real : p->real < 0 ? 4.6 / -p->real : INFINITY;
		const double shown = fmin(change, 20 * two_pi / p->frequency);
		if (grows)
			longest = fmin(longest, shown);
		duration = fmax(duration, shown);
	}
	return fmin(duration, longest);
}

/* ---- one plot ------------------------------------------------------------------------------------------- */

static void line_name(const CalStateSpace *s, int output, int input, char *text) {
	if (s->input_count == 1)
		snprintf(text, LINE_NAME, "%.160s", s->outputs[output].name);
	else
		snprintf(text, LINE_NAME, "%.160s / %.160s", s->outputs[output].name, s->inputs[input].name);
}

static int write_plot(const char *path, const SvgPlot *plot) {
	OutputFile out;
	int code = output_open(&out, path);
	if (code != EXIT_OK)
		return code;
	svg_write(out.stream, plot);
	return output_close(&out, EXIT_OK);
}

/* ---- Bode ----------------------------------------------------------------------------------------------- */

typedef struct Bode {
	int count, lines;
	double *w;                 // [count] [rad/s]
	double *x;                 // [count] log10 of Hz
	double *decibels, *phases; // [lines][count]
	double *H;                 // [2 lines]
	SvgLine *of[2];            // [lines]
	char *names;               // [lines][LINE_NAME]
} Bode;

static int by_size(const void *a, const void *b) {
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static bool bode_create(Bode *b, const LinearModel *model) {
	const CalStateSpace *s = &model->space;
	b->lines = s->input_count * s->output_count;
	const size_t most = (size_t)(FREQUENCIES + s->state_count), lines = (size_t)b->lines;
	b->w = calloc(2 * most, sizeof *b->w);
	b->x = b->w ? b->w + most : NULL;
	b->decibels = calloc(2 * most * lines + 1, sizeof *b->decibels);
	b->phases = b->decibels ? b->decibels + most * lines : NULL;
	b->H = calloc(2 * lines + 1, sizeof *b->H);
	b->of[0] = calloc(2 * lines + 1, sizeof *b->of[0]);
	b->of[1] = b->of[0] ? b->of[0] + lines : NULL;
	b->names = calloc(lines + 1, LINE_NAME);
	return b->w && b->decibels && b->H && b->of[0] && b->names;
}

static void bode_free(Bode *b) { free(b->w), free(b->decibels), free(b->H), free(b->of[0]), free(b->names); }

static void choose_frequencies(Bode *b, const LinearModel *model, const PlotRange *range) {
	double low, high;
	if (!pole_range(model, &low, &high))
		low = high = two_pi;
	low = range->from > 0 ? range->from : low / 10;
	high = range->to > 0 ? range->to : high * 10;
	for (int i = 0; i < FREQUENCIES; i++)
		b->w[b->count++] = low * pow(high / low, (double)i / (FREQUENCIES - 1));
	for (int i = 0; i < model->space.state_count; i++) {
		const double w = model->poles[i].imag;
		if (w > low && w < high)
			b->w[b->count++] = w;
	}
	qsort(b->w, (size_t)b->count, sizeof *b->w, by_size);
	for (int i = 0; i < b->count; i++)
		b->x[i] = log10(b->w[i] / two_pi);
}

/* Across -180 degrees the phase continues. */
static double continued(double phase, double before) {
	return isfinite(before) ? phase - 360 * floor((phase - before) / 360 + 0.5) : phase;
}

static void find_response(Bode *b, const CalStateSpace *s) {
	const size_t count = (size_t)b->count;
	for (size_t i = 0; i < count; i++) {
		const CalStatus status = cal_state_space_response(s, b->w[i], b->H);
		for (size_t k = 0; k < (size_t)b->lines; k++) {
			const double re = b->H[2 * k], im = b->H[2 * k + 1], size = hypot(re, im);
			const bool known = status == CAL_OK && isfinite(size) && size > 0;
			b->decibels[k * count + i] = known ? 20 * log10(size) : NAN;
			b->phases[k * count + i] =
				known ? continued(atan2(im, re) * 360 / two_pi, i > 0 ? b->phases[k * count + i - 1] : NAN) : NAN;
		}
	}
}

static int draw_bode(const LinearModel *model, const Bode *b, const char *path) {
	const CalStateSpace *s = &model->space;
	for (int k = 0; k < b->lines; k++) {
		char *name = b->names + (size_t)k * LINE_NAME;
		line_name(s, k / s->input_count, k % s->input_count, name);
		b->of[0][k] = (SvgLine){name, b->decibels + (size_t)k * (size_t)b->count};
		b->of[1][k] = (SvgLine){name, b->phases + (size_t)k * (size_t)b->count};
	}
	char title[400];
	snprintf(title, sizeof title, "%.200s: frequency response%s%.150s", model->title, s->input_count == 1 ? " to " : "",
	         s->input_count == 1 ? s->inputs[0].name : "");
	const SvgPanel panels[2] = {{"magnitude", "dB", b->of[0], b->lines}, {"phase", "deg", b->of[1], b->lines}};
	return write_plot(path, &(SvgPlot){.title = title,
	                                   .x_title = "frequency",
	                                   .x_unit = "Hz",
	                                   .x = b->x,
	                                   .x_decades = true,
	                                   .count = (size_t)b->count,
	                                   .stride = 1,
	                                   .panels = panels,
	                                   .panel_count = 2});
}

int linearize_bode(const LinearModel *model, const PlotRange *range, const char *path) {
	Bode b = {0};
	int code = EXIT_INPUT;
	if (bode_create(&b, model)) {
		choose_frequencies(&b, model, range);
		find_response(&b, &model->space);
		code = draw_bode(model, &b, path);
	} else
		code = say_status(input_name(model->path), CAL_ERR_MEMORY, NULL);
	bode_free(&b);
	return code;
}

/* ---- step responses ---------------------------------------------------------------------------------------- */

typedef struct Steps {
	double *t;        // [TIMES]
	double *y;        // [inputs][TIMES outputs]
	SvgLine *lines;   // [outputs][inputs]
	SvgPanel *panels; // [outputs]
} Steps;

static bool steps_create(Steps *p, const CalStateSpace *s) {
	const size_t m = (size_t)s->input_count, n = (size_t)s->output_count;
	p->t = calloc(TIMES * n, sizeof *p->t); // as far apart as the outputs
	p->y = calloc(TIMES * n * m, sizeof *p->y);
	p->lines = calloc(n * m, sizeof *p->lines);
	p->panels = calloc(n, sizeof *p->panels);
	return p->t && p->y && p->lines && p->panels;
}

static void steps_free(Steps *p) { free(p->t), free(p->y), free(p->lines), free(p->panels); }

static void list_panels(Steps *p, const CalStateSpace *s) {
	for (int i = 0; i < s->output_count; i++) {
		SvgLine *lines = p->lines + (size_t)i * (size_t)s->input_count;
		for (int j = 0; j < s->input_count; j++)
			lines[j] = (SvgLine){s->inputs[j].name, p->y + (size_t)j * TIMES * (size_t)s->output_count + (size_t)i};
		p->panels[i] = (SvgPanel){s->outputs[i].name, s->outputs[i].unit, lines, s->input_count};
	}
}

static int draw_steps(const LinearModel *model, const Steps *p, const char *path) {
	const CalStateSpace *s = &model->space;
	char title[400];
	snprintf(title, sizeof title, "%.200s: change of outputs after a step of 1 (SI unit) of an input", model->title);
	return write_plot(path, &(SvgPlot){.title = title,
	                                   .x_title = "t",
	                                   .x_unit = "s",
	                                   .x = p->t,
	                                   .count = TIMES,
	                                   .stride = (size_t)s->output_count,
	                                   .panels = p->panels,
	                                   .panel_count = s->output_count});
}

int linearize_step(const LinearModel *model, const PlotRange *range, const char *path) {
	const CalStateSpace *s = &model->space;
	const double duration = range->duration > 0 ? range->duration : step_duration(model), dt = duration / (TIMES - 1);
	Steps p = {0};
	CalStatus status = steps_create(&p, s) ? CAL_OK : CAL_ERR_MEMORY;
	for (int j = 0; j < s->input_count && status == CAL_OK; j++)
		status = cal_state_space_step(s, j, 1, NULL, dt, TIMES, p.y + (size_t)j * TIMES * (size_t)s->output_count);
	int code = say_status(input_name(model->path), status, NULL);
	if (code == EXIT_OK) {
		for (size_t i = 0; i < TIMES; i++)
			p.t[i * (size_t)s->output_count] = (double)i * dt;
		list_panels(&p, s);
		code = draw_steps(model, &p, path);
	}
	steps_free(&p);
	return code;
}
