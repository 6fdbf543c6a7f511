// SPDX-License-Identifier: Apache-2.0
/*
 * svg.h — line plots over time or frequency as an SVG file (docs/decisions/0003).
 *
 * Panels stand one above the other and share the time axis; each has its own scale, ticks at round
 * numbers and a legend. Very small and very large numbers are written with a power of ten beside the unit. The file
 * needs nothing else: no scripts, no fonts of its own.
 */
#ifndef CALDER_CLI_SVG_H
#define CALDER_CLI_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct SvgLine {
	const char *name;
	const double *y; // [count], `stride` apart
} SvgLine;

typedef struct SvgPanel {
	const char *title; // "q"; may be empty
	const char *unit;  // "rad"; "": none
	const SvgLine *lines;
	int line_count;
} SvgPanel;

typedef struct SvgPlot {
	const char *title;
	const char *x_title, *x_unit; // "t", "s"
	const double *x;              // [count], `stride` apart, not decreasing
	bool x_decades;               // x are logarithms to the base 10 of what is shown
	size_t count, stride;
	const SvgPanel *panels;
	int panel_count;
	const char *note; // below them, what is not drawn; NULL or "": none
} SvgPlot;

void svg_write(FILE *out, const SvgPlot *plot);

/* ---- small charts, to stand side by side in a page ---------------------------------------------- */

/** An axis: "tip rate", "rad/s". */
typedef struct SvgAxis {
	const char *title, *unit;
} SvgAxis;

/** How often values fall into each of equal bins, with lines at limits (infinite: none). Values are finite. */
void svg_histogram(FILE *out, SvgAxis axis, const double *values, size_t count, double above, double below);
/** A point for each pair; of very many, only some. Values are finite. */
void svg_scatter(FILE *out, SvgAxis x_axis, SvgAxis y_axis, const double *x, const double *y, size_t count);
/** Bars from zero for numbers in [-1, 1], one above the other. */
void svg_bars(FILE *out, const char *title, const char *const *names, const double *values, int count);

#endif
