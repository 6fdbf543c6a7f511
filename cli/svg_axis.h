// SPDX-License-Identifier: Apache-2.0
/*
 * svg_axis.h — what line plots and small charts share: colors, scales with round ticks, texts.
 */
#ifndef CALDER_CLI_SVG_AXIS_H
#define CALDER_CLI_SVG_AXIS_H

#include <stdbool.h>
#include <stdio.h>

enum { SVG_COLORS = 8 };
extern const char *const svg_colors[SVG_COLORS];

/** A scale maps [from, to] to pixels; ticks stand at multiples of step. */
typedef struct SvgScale {
	double from, to, step;
	double offset; // taken off the numbers at the ticks, so that they stay short
	int power;     // and they are divided by ten to this power
	double pixel_from, pixel_to;
	bool decades; // values are logarithms to the base 10 of the numbers at the ticks
} SvgScale;

/** At most `most` intervals; the ends are widened to ticks if `round_ends`. */
SvgScale svg_axis_over(double low, double high, int most, bool round_ends);
double svg_at(const SvgScale *axis, double value);

/** With entities in the place of characters of SVG, and powers raised ("m^2"). */
void svg_escaped(FILE *out, const char *text);
void svg_label(FILE *out, double x, double y, const char *anchor, const char *style, const char *text);
/** How wide a text is at most [px]: by the widths of DejaVu Sans, the widest font that stands in for Helvetica. */
double svg_text_width(const char *text, double size);
/** The number at a tick with the digits that the step needs and no more; zero has no sign. */
void svg_tick_label(FILE *out, double x, double y, const char *anchor, const SvgScale *axis, double value);
/** "title [10^-3 unit], less offset". */
void svg_axis_text(char *text, size_t size, const char *title, const char *unit, const SvgScale *axis);
/** Lines of the grid, with numbers below them or without. */
void svg_x_ticks(FILE *out, const SvgScale *x, double top, double bottom, bool numbers);

#endif
