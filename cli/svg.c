// SPDX-License-Identifier: Apache-2.0
/*
 * svg.c — line plots over time as an SVG file.
 *
 * Colors are those of Okabe and Ito, which people with color blindness distinguish too; beyond eight
 * lines they repeat dashed, then dotted. A line with more samples than pixels is drawn as the least and
 * greatest value of each pixel column, and points that a straight line passes within a tenth of a pixel are left
 * out: the picture is the same, and this keeps the file small. Values that are not finite leave a gap. Small charts (histograms, scatter
 * plots, bars) are for pages that show many of them.
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
	NOTE_HEIGHT = 24,   //
};

static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                     "#e69f00", "#56b4e9", "#000000", "#8c6d1f"};
enum { COLOR_COUNT = sizeof colors / sizeof colors[0] };
static const char *const dashes[] = {"", "7 3", "2 3"};
enum { DASH_COUNT = sizeof dashes / sizeof dashes[0] };

/* Of small charts [px]. */
enum { CHART_WIDTH = 430, CHART_HEIGHT = 270, CHART_LEFT = 64, CHART_RIGHT = 414, CHART_TOP = 30, CHART_BOTTOM = 220 };

/* An axis maps [from, to] to pixels; ticks stand at multiples of step. */
typedef struct Axis {
	double from, to, step;
	double offset; // taken off the numbers at the ticks, so that they stay short
	int power;     // and they are divided by ten to this power
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
	size = fmax(fabs(axis.from - axis.offset), fabs(axis.to - axis.offset));
	if (size >= 1e5 || size < 1e-2)
		axis.power = 3 * (int)floor(log10(size) / 3 + 1e-9);
	return axis;
}

/* ---- text -------------------------------------------------------------------------------------- */

/* "^-9" as a raised number; returns what follows it. */
static const char *raised(FILE *out, const char *text) {
	static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
	text++;
	if (*text == '-') {
		fputs("⁻", out);
		text++;
	}
	for (; *text >= '0' && *text <= '9'; text++)
		fputs(digits[*text - '0'], out);
	return text;
}

static void escaped(FILE *out, const char *text) {
	while (*text) {
		const char *entity = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;
		if (*text == '^' && strspn(text + 1, "-0123456789") > 0) {
			text = raised(out, text);
			continue;
		}
		if (entity)
			fputs(entity, out);
		else
			putc(*text, out);
		text++;
	}
}

static void label(FILE *out, double x, double y, const char *anchor, const char *style, const char *text) {
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, style);
	escaped(out, text);
	fputs("</text>\n", out);
}

/* The number at a tick with the digits that the step needs and no more; zero has no sign. */
static void tick_label(FILE *out, double x, double y, const char *anchor, const Axis *axis, double value) {
	double unit = pow(10, axis->power), shown = (value - axis->offset) / unit, step = axis->step / unit;
	int digits = -(int)floor(log10(step) + 1e-9);
	char text[40];
	if (fabs(shown) < 1e-9 * step)
		shown = digits = 0;
	snprintf(text, sizeof text, "%s%.*f", shown < 0 ? "−" : "", digits > 0 ? digits : 0, fabs(shown));
	label(out, x, y, anchor, "", text);
}

/* "title [10^-3 unit], less offset". */
static void axis_text(char *text, size_t size, const char *title, const char *unit, const Axis *axis) {
	char power[16] = "", less[40] = "", scale[80] = "";
	if (axis->power != 0)
		snprintf(power, sizeof power, "10^%d", axis->power);
	if (power[0] && strcmp(unit, "1") == 0)
		unit = "";
	if (power[0] || unit[0])
		snprintf(scale, sizeof scale, " [%s%s%.40s]", power, power[0] && unit[0] ? " " : "", unit);
	if (axis->offset != 0)
		snprintf(less, sizeof less, ", less %.12g", axis->offset);
	snprintf(text, size, "%.160s%s%s", title, title[0] ? scale : scale + (scale[0] == ' '), less);
}

/* ---- axes -------------------------------------------------------------------------------------- */

static void draw_x_ticks(FILE *out, const Axis *x, double top, double bottom) {
	for (double k = ceil(x->from / x->step - 1e-9); k * x->step <= x->to + 1e-9 * x->step; k++) {
		double px = at(x, k * x->step);
		fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", px, top, bottom);
		tick_label(out, px, bottom + 17, "middle", x, k * x->step);
	}
}

static void draw_y_ticks(FILE *out, const Axis *y) {
	for (double k = ceil(y->from / y->step - 1e-9); k * y->step <= y->to + 1e-9 * y->step; k++) {
		double py = at(y, k * y->step);
		fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", PLOT_LEFT, py, PLOT_RIGHT);
		tick_label(out, PLOT_LEFT - 7, py + 4, "end", y, k * y->step);
	}
}

/* ---- lines ------------------------------------------------------------------------------------- */

static void stroke(FILE *out, int index) {
	const char *dash = dashes[index / COLOR_COUNT % DASH_COUNT];
	fprintf(out, " stroke=\"%s\"", colors[index % COLOR_COUNT]);
	if (dash[0])
		fprintf(out, " stroke-dasharray=\"%s\"", dash);
}

/*
 * Writes a line. A point is held back as long as straight lines from the last one written to those after it pass
 * within `slack` of all between: their slopes are then in [low, high].
 */
typedef struct Pen {
	FILE *out;
	bool down, holds;
	double at[2];   // last written [px]
	double held[2]; // last given [px]
	double low, high;
} Pen;

static void pen_write(Pen *pen, double x, double y) {
	fprintf(pen->out, "%c%.1f %.1f", pen->down ? 'L' : 'M', x, y);
	pen->down = true;
	pen->holds = false;
	pen->at[0] = x;
	pen->at[1] = y;
	pen->low = -INFINITY;
	pen->high = INFINITY;
}

static void pen_lift(Pen *pen) {
	if (pen->holds)
		pen_write(pen, pen->held[0], pen->held[1]);
	pen->down = false;
}

static void pen_move(Pen *pen, double x, double y) {
	const double slack = 0.1;
	if (!pen->down) {
		pen_write(pen, x, y);
		return;
	}
	double run = x - pen->at[0], slope = (y - pen->at[1]) / run;
	if (pen->holds && !(run > 0 && slope >= pen->low && slope <= pen->high)) {
		pen_write(pen, pen->held[0], pen->held[1]);
		run = x - pen->at[0];
	}
	if (run <= 0) {
		pen_write(pen, x, y);
		return;
	}
	pen->low = fmax(pen->low, (y - slack - pen->at[1]) / run);
	pen->high = fmin(pen->high, (y + slack - pen->at[1]) / run);
	pen->held[0] = x;
	pen->held[1] = y;
	pen->holds = true;
}

/* Sample i; one that is not finite ends the stroke. */
static void move_to_sample(Pen *pen, const SvgPlot *plot, const SvgLine *line, size_t i, const Axis *x, const Axis *y) {
	double value = line->y[i * plot->stride];
	if (isfinite(value))
		pen_move(pen, at(x, plot->x[i * plot->stride]), at(y, value));
	else
		pen_lift(pen);
}

/* Samples [first, last) as their least and greatest value, in the order in which they occur. */
static void move_through(Pen *pen, const SvgPlot *plot, const SvgLine *line, size_t first, size_t last, const Axis *x,
                         const Axis *y) {
	size_t low = first, high = first;
	for (size_t i = first; i < last; i++) {
		if (!isfinite(line->y[i * plot->stride])) {
			pen_lift(pen);
			return;
		}
		low = line->y[i * plot->stride] < line->y[low * plot->stride] ? i : low;
		high = line->y[i * plot->stride] > line->y[high * plot->stride] ? i : high;
	}
	move_to_sample(pen, plot, line, low < high ? low : high, x, y);
	if (low != high)
		move_to_sample(pen, plot, line, low < high ? high : low, x, y);
}

static void draw_line(FILE *out, const SvgPlot *plot, const SvgLine *line, int index, const Axis *x, const Axis *y) {
	Pen pen = {.out = out};
	fputs("<path class=\"line\"", out);
	stroke(out, index);
	fputs(" d=\"", out);
	for (size_t first = 0, last; first < plot->count; first = last) {
		double pixel = floor(at(x, plot->x[first * plot->stride]));
		for (last = first + 1; last < plot->count && floor(at(x, plot->x[last * plot->stride])) == pixel;)
			last++;
		move_through(&pen, plot, line, first, last, x, y);
	}
	pen_lift(&pen);
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
	draw_x_ticks(out, x, top, top + height);
	draw_y_ticks(out, &y);
	fprintf(out, "<rect class=\"frame\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>\n", PLOT_LEFT, top,
	        PLOT_RIGHT - PLOT_LEFT, height);
	char text[280];
	axis_text(text, sizeof text, panel->title, panel->unit, &y);
	label(out, PLOT_LEFT, top - 9, "start", " class=\"panel\"", text);
	for (int i = 0; i < panel->line_count; i++)
		draw_line(out, plot, &panel->lines[i], i, x, &y);
	draw_legend(out, panel, top);
	if (!last)
		return;
	axis_text(text, sizeof text, plot->x_title, plot->x_unit, x);
	label(out, (PLOT_LEFT + PLOT_RIGHT) / 2.0, top + height + 38, "middle", "", text);
}

void svg_write(FILE *out, const SvgPlot *plot) {
	const int note = plot->note && plot->note[0] ? NOTE_HEIGHT : 0;
	double height = TOP + BOTTOM + note - PANEL_GAP;
	for (int i = 0; i < plot->panel_count; i++)
		height += panel_height(&plot->panels[i]) + PANEL_GAP;
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
	        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\" role=\"img\">\n"
	        "<style>.line{fill:none;stroke-width:1.6;stroke-linejoin:round}.grid{stroke:#e4e4e4}"
	        ".frame{fill:none;stroke:#888}.panel{font-weight:bold}</style>\n"
	        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
	        WIDTH, height, WIDTH, height);
	fputs("<title>", out);
	escaped(out, plot->title);
	fputs("</title>\n", out);
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
	if (note)
		label(out, PLOT_LEFT, height - 10, "start", " font-size=\"12\" fill=\"#a33\"", plot->note);
	fputs("</svg>\n", out);
}

/* ---- small charts ------------------------------------------------------------------------------ */

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

static Axis chart_axis(double low, double high, int most, double pixel_from, double pixel_to) {
	Axis axis = axis_over(low, high, most, true);
	axis.pixel_from = pixel_from;
	axis.pixel_to = pixel_to;
	return axis;
}

static void chart_axes(FILE *out, const Axis *x, const Axis *y, SvgAxis x_axis, SvgAxis y_axis) {
	char text[280];
	draw_x_ticks(out, x, CHART_TOP, CHART_BOTTOM);
	for (double k = ceil(y->from / y->step - 1e-9); k * y->step <= y->to + 1e-9 * y->step; k++) {
		const double py = at(y, k * y->step);
		fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", CHART_LEFT, py, CHART_RIGHT);
		tick_label(out, CHART_LEFT - 6, py + 4, "end", y, k * y->step);
	}
	fprintf(out, "<rect fill=\"none\" stroke=\"#888\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", CHART_LEFT,
	        CHART_TOP, CHART_RIGHT - CHART_LEFT, CHART_BOTTOM - CHART_TOP);
	axis_text(text, sizeof text, x_axis.title, x_axis.unit, x);
	label(out, (CHART_LEFT + CHART_RIGHT) / 2.0, CHART_BOTTOM + 38, "middle", "", text);
	axis_text(text, sizeof text, y_axis.title, y_axis.unit, y);
	label(out, CHART_LEFT, CHART_TOP - 10, "start", " font-weight=\"bold\"", text);
}

static void draw_limit(FILE *out, const Axis *x, double limit) {
	if (limit >= x->from && limit <= x->to)
		fprintf(out, "<path stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"6 3\" d=\"M%.1f %dV%d\"/>\n", colors[1],
		        at(x, limit), CHART_TOP, CHART_BOTTOM);
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
	const Axis x = chart_axis(low, high, 6, CHART_LEFT, CHART_RIGHT);
	const Axis y = chart_axis(0, (double)most, 5, CHART_BOTTOM, CHART_TOP);
	chart_begin(out, CHART_HEIGHT);
	chart_axes(out, &x, &y, axis, (SvgAxis){"cases", ""});
	for (int i = 0; i < bin_count; i++) {
		const double left = width > 0 ? at(&x, low + i * width) : at(&x, low) - 4;
		const double right = width > 0 ? at(&x, low + (i + 1) * width) : left + 8, top = at(&y, (double)bins[i]);
		if (bins[i])
			fprintf(out, "<rect fill=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", colors[0], left,
			        top, fmax(right - left - 0.5, 0.5), CHART_BOTTOM - top);
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
	const Axis x = chart_axis(low, high, 6, CHART_LEFT, CHART_RIGHT);
	range_of(ys, count, &low, &high);
	const Axis y = chart_axis(low, high, 5, CHART_BOTTOM, CHART_TOP);
	chart_begin(out, CHART_HEIGHT);
	chart_axes(out, &x, &y, x_axis, y_axis);
	fprintf(out, "<g fill=\"%s\" fill-opacity=\"0.5\">\n", colors[0]);
	for (size_t i = 0; i < count; i += step)
		fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>\n", at(&x, xs[i]), at(&y, ys[i]));
	fputs("</g>\n</svg>\n", out);
}

void svg_bars(FILE *out, const char *title, const char *const *names, const double *values, int count) {
	enum { ROW = 22, NAMES = 150 };
	const int bottom = CHART_TOP + ROW * count;
	const Axis x = chart_axis(-1, 1, 4, NAMES + 10, CHART_RIGHT);
	chart_begin(out, bottom + 30);
	draw_x_ticks(out, &x, CHART_TOP, bottom);
	label(out, 8, CHART_TOP - 10, "start", " font-weight=\"bold\"", title);
	for (int i = 0; i < count; i++) {
		const double from = at(&x, fmin(values[i], 0)), to = at(&x, fmax(values[i], 0)), y = CHART_TOP + ROW * i;
		fprintf(out, "<rect fill=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n", colors[values[i] < 0],
		        from, y + 4, fmax(to - from, 0.5), ROW - 8);
		label(out, NAMES, y + ROW / 2.0 + 4, "end", "", names[i]);
	}
	fputs("</svg>\n", out);
}
