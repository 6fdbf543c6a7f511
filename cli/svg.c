// SPDX-License-Identifier: Apache-2.0
/*
 * svg.c — line plots over time as an SVG file.
 *
 * Colours are those of Okabe and Ito, told apart also by people with colour blindness; beyond eight
 * lines they repeat dashed, then dotted. A line with more samples than pixels is drawn as the least and
 * greatest value of each pixel column, which looks the same and keeps the file small. Values that are
 * not finite leave a gap.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "svg.h"

enum {
	WIDTH = 860,        // of the picture [px]
	PLOT_LEFT = 78,     // of the axes
	PLOT_RIGHT = 660,   // the legend stands to the right of it
	PANEL_HEIGHT = 220, // of the axes of one panel
	PANEL_GAP = 54,     // between panels
	TOP = 64,           //
	BOTTOM = 56,        //
	LEGEND_ROW = 17,    //
};

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#8c6d1f"};
enum { COLOUR_COUNT = sizeof colours / sizeof colours[0] };
static const char *const dashes[] = {"", "7 3", "2 3"};
enum { DASH_COUNT = sizeof dashes / sizeof dashes[0] };

/* An axis maps [from, to] to pixels; ticks stand at multiples of step. */
typedef struct Axis {
	double from, to, step;
	double offset; // taken off the numbers at the ticks, so that they stay short
	double pixel_from, pixel_to;
} Axis;

/* The distance between ticks, 1, 2 or 5 times a power of ten, that gives at most `most` intervals. */
static double tick_step(double range, int most) {
	double power = pow(10, floor(log10(range / most)));
	double candidates[] = {1, 2, 5, 10};
	for (int i = 0; i < 4; i++)
		if (candidates[i] * power * most >= range * (1 - 1e-9))
			return candidates[i] * power;
	return 10 * power;
}

static double at(const Axis *axis, double value) {
	return axis->pixel_from + (value - axis->from) / (axis->to - axis->from) * (axis->pixel_to - axis->pixel_from);
}

/* The ends of the axis are widened to ticks if `round_ends`. */
static Axis axis_over(double low, double high, int most, bool round_ends) {
	Axis axis = {0};
	if (!(high >= low)) {
		low = 0;
		high = 1;
	}
	double size = fmax(fabs(low), fabs(high));
	if (high - low <= 1e-12 * size || high == low) { // a constant: some room around it
		double room = size > 0 ? 0.1 * size : 1;
		low -= room;
		high += room;
	}
	axis.step = tick_step(high - low, most);
	axis.from = round_ends ? floor(low / axis.step + 1e-9) * axis.step : low;
	axis.to = round_ends ? ceil(high / axis.step - 1e-9) * axis.step : high;
	if (size > 1e5 * axis.step)
		axis.offset = axis.from;
	return axis;
}

/* ---- text -------------------------------------------------------------------------------------- */

static void escaped(FILE *out, const char *text) {
	for (; *text; text++) {
		const char *entity = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;
		if (entity)
			fputs(entity, out);
		else
			putc(*text, out);
	}
}

static void label(FILE *out, double x, double y, const char *anchor, const char *style, const char *text) {
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, style);
	escaped(out, text);
	fputs("</text>\n", out);
}

/* A tick's number with the digits that the step needs and no more; zero is never "-0". */
static void tick_text(char *text, size_t size, double value, double step) {
	if (fabs(value) < 1e-9 * step)
		value = 0;
	int step_power = (int)floor(log10(step) + 1e-9);
	bool exponent = value != 0 && (fabs(value) >= 1e7 || step < 1e-4);
	int digits = exponent ? (int)floor(log10(fabs(value)) + 1e-9) - step_power : -step_power;
	if (value == 0 || digits < 0)
		digits = 0;
	if (exponent)
		snprintf(text, size, "%.*e", digits, value);
	else
		snprintf(text, size, "%.*f", digits, value);
}

/* ---- axes -------------------------------------------------------------------------------------- */

static void draw_x_ticks(FILE *out, const Axis *x, double top, double bottom, bool numbers) {
	for (double k = ceil(x->from / x->step - 1e-9); k * x->step <= x->to + 1e-9 * x->step; k++) {
		double px = at(x, k * x->step);
		fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", px, top, bottom);
		char text[32];
		tick_text(text, sizeof text, k * x->step, x->step);
		if (numbers)
			label(out, px, bottom + 17, "middle", "", text);
	}
}

static void draw_y_ticks(FILE *out, const Axis *y) {
	for (double k = ceil(y->from / y->step - 1e-9); k * y->step <= y->to + 1e-9 * y->step; k++) {
		double py = at(y, k * y->step);
		fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", PLOT_LEFT, py, PLOT_RIGHT);
		char text[32];
		tick_text(text, sizeof text, k * y->step - y->offset, y->step);
		label(out, PLOT_LEFT - 7, py + 4, "end", "", text);
	}
}

static void draw_title(FILE *out, const char *title, const Axis *y, double top) {
	char less[40] = "", text[280];
	if (y->offset != 0)
		snprintf(less, sizeof less, ", less %.12g", y->offset);
	snprintf(text, sizeof text, "%s%s", title, less);
	label(out, PLOT_LEFT, top - 9, "start", " class=\"panel\"", text);
}

/* ---- lines ------------------------------------------------------------------------------------- */

static void stroke(FILE *out, int index) {
	const char *dash = dashes[index / COLOUR_COUNT % DASH_COUNT];
	fprintf(out, " stroke=\"%s\"", colours[index % COLOUR_COUNT]);
	if (dash[0])
		fprintf(out, " stroke-dasharray=\"%s\"", dash);
}

/* Writes one point of a path; `pen` is 'M' at the start and behind a gap, then 'L'. */
static void point(FILE *out, char *pen, const Axis *x, double xv, const Axis *y, double yv) {
	if (!isfinite(yv)) {
		*pen = 'M';
		return;
	}
	fprintf(out, "%c%.2f %.2f", *pen, at(x, xv), at(y, yv));
	*pen = 'L';
}

/* Samples [first, last) as their least and greatest value, in the order in which they occur. */
static void point_pair(FILE *out, char *pen, const SvgPlot *plot, const SvgLine *line, size_t first, size_t last,
                       const Axis *x, const Axis *y) {
	size_t low = first, high = first;
	for (size_t i = first; i < last; i++) {
		if (!isfinite(line->y[i * plot->stride])) {
			*pen = 'M';
			return;
		}
		low = line->y[i * plot->stride] < line->y[low * plot->stride] ? i : low;
		high = line->y[i * plot->stride] > line->y[high * plot->stride] ? i : high;
	}
	size_t a = low < high ? low : high, b = low < high ? high : low;
	point(out, pen, x, plot->x[a * plot->stride], y, line->y[a * plot->stride]);
	if (b != a)
		point(out, pen, x, plot->x[b * plot->stride], y, line->y[b * plot->stride]);
}

static void draw_line(FILE *out, const SvgPlot *plot, const SvgLine *line, int index, const Axis *x, const Axis *y) {
	size_t buckets = PLOT_RIGHT - PLOT_LEFT;
	char pen = 'M';
	fputs("<path class=\"line\"", out);
	stroke(out, index);
	fputs(" d=\"", out);
	if (plot->count <= 2 * buckets) {
		for (size_t i = 0; i < plot->count; i++)
			point(out, &pen, x, plot->x[i * plot->stride], y, line->y[i * plot->stride]);
	} else {
		for (size_t b = 0; b < buckets; b++)
			point_pair(out, &pen, plot, line, b * plot->count / buckets, (b + 1) * plot->count / buckets, x, y);
	}
	fputs("\"/>\n", out);
}

static void draw_legend(FILE *out, const SvgPanel *panel, double top) {
	for (int i = 0; i < panel->line_count; i++) {
		double y = top + 8 + i * LEGEND_ROW;
		fprintf(out, "<path class=\"line\"");
		stroke(out, i);
		fprintf(out, " d=\"M%d %.1fh24\"/>\n", PLOT_RIGHT + 16, y);
		label(out, PLOT_RIGHT + 47, y + 4, "start", "", panel->lines[i].name);
	}
}

/* ---- panels ------------------------------------------------------------------------------------ */

static double panel_height(const SvgPanel *panel) { return fmax(PANEL_HEIGHT, panel->line_count * LEGEND_ROW); }

static Axis y_axis(const SvgPlot *plot, const SvgPanel *panel) {
	double low = INFINITY, high = -INFINITY;
	for (int k = 0; k < panel->line_count; k++)
		for (size_t i = 0; i < plot->count; i++) {
			double value = panel->lines[k].y[i * plot->stride];
			if (isfinite(value)) {
				low = fmin(low, value);
				high = fmax(high, value);
			}
		}
	return axis_over(low, high, 6, true);
}

static void draw_panel(FILE *out, const SvgPlot *plot, const SvgPanel *panel, const Axis *x, double top, bool last) {
	double height = panel_height(panel);
	Axis y = y_axis(plot, panel);
	y.pixel_from = top + height;
	y.pixel_to = top;
	draw_x_ticks(out, x, top, top + height, true);
	draw_y_ticks(out, &y);
	fprintf(out, "<rect class=\"frame\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>\n", PLOT_LEFT, top,
	        PLOT_RIGHT - PLOT_LEFT, height);
	draw_title(out, panel->title, &y, top);
	for (int i = 0; i < panel->line_count; i++)
		draw_line(out, plot, &panel->lines[i], i, x, &y);
	draw_legend(out, panel, top);
	if (last)
		label(out, (PLOT_LEFT + PLOT_RIGHT) / 2.0, top + height + 38, "middle", "", plot->x_title);
}

void svg_write(FILE *out, const SvgPlot *plot) {
	double height = TOP + BOTTOM - PANEL_GAP;
	for (int i = 0; i < plot->panel_count; i++)
		height += panel_height(&plot->panels[i]) + PANEL_GAP;
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
	        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n"
	        "<style>.line{fill:none;stroke-width:1.6;stroke-linejoin:round}.grid{stroke:#e4e4e4}"
	        ".frame{fill:none;stroke:#888}.panel{font-weight:bold}</style>\n"
	        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
	        WIDTH, height, WIDTH, height);
	label(out, PLOT_LEFT, 27, "start", " font-size=\"16\" font-weight=\"bold\"", plot->title);
	Axis x =
		axis_over(plot->count ? plot->x[0] : 0, plot->count ? plot->x[(plot->count - 1) * plot->stride] : 1, 10, false);
	x.pixel_from = PLOT_LEFT;
	x.pixel_to = PLOT_RIGHT;
	double top = TOP;
	for (int i = 0; i < plot->panel_count; i++) {
		draw_panel(out, plot, &plot->panels[i], &x, top, i == plot->panel_count - 1);
		top += panel_height(&plot->panels[i]) + PANEL_GAP;
	}
	fputs("</svg>\n", out);
}
