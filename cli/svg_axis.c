// SPDX-License-Identifier: Apache-2.0
/*
 * svg_axis.c — colors, scales and texts of pictures. The colors are those of Okabe and Ito, which people with color
 * blindness distinguish too.
 */
#include <math.h>
#include <string.h>

#include "svg_axis.h"

const char *const svg_colors[SVG_COLORS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                            "#e69f00", "#56b4e9", "#000000", "#8c6d1f"};

/* The distance between ticks, 1, 2 or 5 times a power of ten, that gives at most `most` intervals. */
static double tick_step(double range, int most) {
	double power = pow(10, floor(log10(range / most)));
	double candidates[] = {1, 2, 5, 10};
	for (int i = 0; i < 4; i++)
		if (candidates[i] * power * most >= range * (1 - 1e-9))
			return candidates[i] * power;
	return 10 * power;
}

double svg_at(const SvgScale *axis, double value) {
	return axis->pixel_from + (value - axis->from) / (axis->to - axis->from) * (axis->pixel_to - axis->pixel_from);
}

/* The ends of the axis are widened to ticks if `round_ends`. */
SvgScale svg_axis_over(double low, double high, int most, bool round_ends) {
	SvgScale axis = {0};
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

void svg_escaped(FILE *out, const char *text) {
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

void svg_label(FILE *out, double x, double y, const char *anchor, const char *style, const char *text) {
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, style);
	svg_escaped(out, text);
	fputs("</text>\n", out);
}

/* How wide a text is at most [px]: by the widths of DejaVu Sans, the widest font that stands in for Helvetica. */
double svg_text_width(const char *text, double size) {
	double width = 0;
	for (; *text; text++)
		if (((unsigned char)*text & 0xc0) != 0x80) // not within a character of several bytes
			width += strchr("ijl.,:;'|!I [](){}", *text) ? 0.40 : strchr("mwMW@%", *text) ? 0.98 : 0.66;
	return width * size;
}

/* The number at a tick with the digits that the step needs and no more; zero has no sign. */
void svg_tick_label(FILE *out, double x, double y, const char *anchor, const SvgScale *axis, double value) {
	double unit = pow(10, axis->power), shown = (value - axis->offset) / unit, step = axis->step / unit;
	int digits = -(int)floor(log10(step) + 1e-9);
	char text[40];
	if (fabs(shown) < 1e-9 * step)
		shown = digits = 0;
	snprintf(text, sizeof text, "%s%.*f", shown < 0 ? "−" : "", digits > 0 ? digits : 0, fabs(shown));
	svg_label(out, x, y, anchor, "", text);
}

/* "title [10^-3 unit], less offset". */
void svg_axis_text(char *text, size_t size, const char *title, const char *unit, const SvgScale *axis) {
	char power[16] = "", less[40] = "", scale[80] = "";
	if (axis->power != 0)
		snprintf(power, sizeof power, "10^%d", axis->power);
	if (strcmp(unit, "1") == 0)
		unit = "";
	if (power[0] || unit[0])
		snprintf(scale, sizeof scale, " [%s%s%.40s]", power, power[0] && unit[0] ? " " : "", unit);
	if (axis->offset != 0)
		snprintf(less, sizeof less, ", less %.12g", axis->offset);
	snprintf(text, size, "%.160s%s%s", title, title[0] ? scale : scale + (scale[0] == ' '), less);
}

/* 0.1, 2, 50; powers of ten that are far away as such. */
static void decade_label(FILE *out, double x, double y, int decade, int mantissa) {
	char text[24];
	if (decade >= -3 && decade <= 4)
		snprintf(text, sizeof text, "%g", mantissa * pow(10, decade));
	else
		snprintf(text, sizeof text, "%s10^%d", mantissa == 1 ? "" : mantissa == 2 ? "2·" : "5·", decade);
	svg_label(out, x, y, "middle", "", text);
}

/* Lines at 1, 2 .. 9 times each power of ten; numbers at powers, of few also at 2 and 5. */
static void decade_ticks(FILE *out, const SvgScale *x, double top, double bottom, bool numbers) {
	enum { MOST_DECADES = 10 };
	const double range = x->to - x->from, slack = 1e-9;
	const int stride = (int)ceil(range / MOST_DECADES);
	for (int decade = (int)floor(x->from); decade <= x->to + slack; decade++)
		for (int mantissa = 1; mantissa < 10; mantissa++) {
			const double at = decade + log10(mantissa);
			if (at < x->from - slack || at > x->to + slack || (mantissa > 1 && stride > 1))
				continue;
			fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", svg_at(x, at), top, bottom);
			const bool named = mantissa == 1 ? decade % stride == 0 : range < 2.5 && (mantissa == 2 || mantissa == 5);
			if (numbers && named)
				decade_label(out, svg_at(x, at), bottom + 17, decade, mantissa);
		}
}

void svg_x_ticks(FILE *out, const SvgScale *x, double top, double bottom, bool numbers) {
	if (x->decades) {
		decade_ticks(out, x, top, bottom, numbers);
		return;
	}
	for (double k = ceil(x->from / x->step - 1e-9); k * x->step <= x->to + 1e-9 * x->step; k++) {
		double px = svg_at(x, k * x->step);
		fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", px, top, bottom);
		if (numbers)
			svg_tick_label(out, px, bottom + 17, "middle", x, k * x->step);
	}
}
