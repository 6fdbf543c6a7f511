// SPDX-License-Identifier: Apache-2.0
/*
 * svg_charts.c — small charts (histograms, scatter plots, bars) for pages that show many of them.
 */
#include <math.h>

#include "svg.h"
#include "svg_axis.h"

/* [px] */
enum { CHART_WIDTH = 430, CHART_HEIGHT = 270, CHART_LEFT = 64, CHART_RIGHT = 414, CHART_TOP = 30, CHART_BOTTOM = 220 };

static void chart_begin(FILE *out, int height) {
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
	        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\" role=\"img\">\n"
	        "<style>.grid{stroke:#e4e4e4}</style>\n",
	        CHART_WIDTH, height, CHART_WIDTH, height);
}

static void range_of(const double *values, size_t count, double *low, double *high) {
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < count; i++) {
		*low = fmin(*low, values[i]);
		*high = fmax(*high, values[i]);
	}
}

static SvgScale chart_axis(double low, double high, int most, double pixel_from, double pixel_to) {
	SvgScale axis = svg_axis_over(low, high, most, true);
	axis.pixel_from = pixel_from;
	axis.pixel_to = pixel_to;
	return axis;
}

static void chart_axes(FILE *out, const SvgScale *x, const SvgScale *y, SvgAxis x_axis, SvgAxis y_axis) {
	char text[280];
	svg_x_ticks(out, x, CHART_TOP, CHART_BOTTOM, true);
	for (double k = ceil(y->from / y->step - 1e-9); k * y->step <= y->to + 1e-9 * y->step; k++) {
		const double py = svg_at(y, k * y->step);
		fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", CHART_LEFT, py, CHART_RIGHT);
		svg_tick_label(out, CHART_LEFT - 6, py + 4, "end", y, k * y->step);
	}
	fprintf(out, "<rect fill=\"none\" stroke=\"#888\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", CHART_LEFT,
	        CHART_TOP, CHART_RIGHT - CHART_LEFT, CHART_BOTTOM - CHART_TOP);
	svg_axis_text(text, sizeof text, x_axis.title, x_axis.unit, x);
	svg_label(out, (CHART_LEFT + CHART_RIGHT) / 2.0, CHART_BOTTOM + 38, "middle", "", text);
	svg_axis_text(text, sizeof text, y_axis.title, y_axis.unit, y);
	svg_label(out, CHART_LEFT, CHART_TOP - 10, "start", " font-weight=\"bold\"", text);
}

static void draw_limit(FILE *out, const SvgScale *x, double limit) {
	if (limit >= x->from && limit <= x->to)
		fprintf(out, "<path stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"6 3\" d=\"M%.1f %dV%d\"/>\n",
		        svg_colors[1], svg_at(x, limit), CHART_TOP, CHART_BOTTOM);
}

void svg_histogram(FILE *out, SvgAxis axis, const double *values, size_t count, double above, double below) {
	enum { MOST_BINS = 40, LEAST_BINS = 5 };
	size_t bins[MOST_BINS] = {0}, most = 1;
	double low, high;
	range_of(values, count, &low, &high);
	const int bin_count = (int)fmin(fmax(ceil(sqrt((double)count)), LEAST_BINS), MOST_BINS);
	const double width = (high - low) / bin_count;
	for (size_t i = 0; i < count; i++) {
		const int bin = width > 0 ? (int)fmin((values[i] - low) / width, bin_count - 1) : 0;
		bins[bin]++;
		most = bins[bin] > most ? bins[bin] : most;
	}
	const SvgScale x = chart_axis(low, high, 6, CHART_LEFT, CHART_RIGHT);
	const SvgScale y = chart_axis(0, (double)most, 5, CHART_BOTTOM, CHART_TOP);
	chart_begin(out, CHART_HEIGHT);
	chart_axes(out, &x, &y, axis, (SvgAxis){"cases", ""});
	for (int i = 0; i < bin_count; i++) {
		const double left = width > 0 ? svg_at(&x, low + i * width) : svg_at(&x, low) - 4;
		const double right = width > 0 ? svg_at(&x, low + (i + 1) * width) : left + 8,
					 top = svg_at(&y, (double)bins[i]);
		if (bins[i])
			fprintf(out, "<rect fill=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", svg_colors[0],
			        left, top, fmax(right - left - 0.5, 0.5), CHART_BOTTOM - top);
	}
	draw_limit(out, &x, above);
	draw_limit(out, &x, below);
	fputs("</svg>\n", out);
}

void svg_scatter(FILE *out, SvgAxis x_axis, SvgAxis y_axis, const double *xs, const double *ys, size_t count) {
	enum { MOST_POINTS = 2000 };
	double low, high;
	const size_t step = count / MOST_POINTS + 1;
	range_of(xs, count, &low, &high);
	const SvgScale x = chart_axis(low, high, 6, CHART_LEFT, CHART_RIGHT);
	range_of(ys, count, &low, &high);
	const SvgScale y = chart_axis(low, high, 5, CHART_BOTTOM, CHART_TOP);
	chart_begin(out, CHART_HEIGHT);
	chart_axes(out, &x, &y, x_axis, y_axis);
	fprintf(out, "<g fill=\"%s\" fill-opacity=\"0.5\">\n", svg_colors[0]);
	for (size_t i = 0; i < count; i += step)
		fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>\n", svg_at(&x, xs[i]), svg_at(&y, ys[i]));
	fputs("</g>\n</svg>\n", out);
}

void svg_bars(FILE *out, const char *title, const char *const *names, const double *values, int count) {
	enum { ROW = 22, NAMES = 150 };
	const int bottom = CHART_TOP + ROW * count;
	const SvgScale x = chart_axis(-1, 1, 4, NAMES + 10, CHART_RIGHT);
	chart_begin(out, bottom + 30);
	svg_x_ticks(out, &x, CHART_TOP, bottom, true);
	svg_label(out, 8, CHART_TOP - 10, "start", " font-weight=\"bold\"", title);
	for (int i = 0; i < count; i++) {
		const double from = svg_at(&x, fmin(values[i], 0)), to = svg_at(&x, fmax(values[i], 0)),
					 y = CHART_TOP + ROW * i;
		fprintf(out, "<rect fill=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n",
		        svg_colors[values[i] < 0], from, y + 4, fmax(to - from, 0.5), ROW - 8);
		svg_label(out, NAMES, y + ROW / 2.0 + 4, "end", "", names[i]);
	}
	fputs("</svg>\n", out);
}
