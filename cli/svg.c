// SPDX-License-Identifier: Apache-2.0
/*
 * svg.c — line plots over time as an SVG file.
 *
 * Colors are those of Okabe and Ito, which people with color blindness distinguish too; beyond eight
 * lines they repeat dashed, then dotted. A line with more samples than pixels is drawn as the least and
 * greatest value of each pixel column, and points that a straight line passes within a tenth of a pixel are left
 * out: the picture is the same, and this keeps the file small. Few samples are marked, and so is one between gaps, which
 * values that are not finite leave. The picture is as wide as the longest name in a legend needs, and more than four panels
 * stand in two columns: a screenful.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "svg.h"
#include "svg_axis.h"

enum {
	LEAST_WIDTH = 760,   // of the picture [px]
	PLOT_LEFT = 78,      // of the axes
	PLOT_RIGHT = 660,    // the legend stands to the right of it
	PANEL_GAP = 36,      // between panels
	TOP = 64,            //
	BOTTOM = 56,         //
	FONT = 13,           // size of the text
	TITLE_FONT = 16,     //
	LEGEND_ROW = 17,     //
	LEGEND_INDENT = 31,  // of a name, right of its line
	LEGEND_NAME = 48,    // characters of a name; a longer one is cut in its middle
	NOTE_ROW = 18,       //
	COLUMN_PANELS = 4,   // more panels than this stand in two columns
	MARKED_SAMPLES = 60, // lines of at most so many samples have markers
};

static const char *const dashes[] = {"", "7 3", "2 3"};
enum { DASH_COUNT = sizeof dashes / sizeof dashes[0] };

/* ---- text -------------------------------------------------------------------------------------- */

/* Bytes of the longest beginning of a text that fits: up to a space, or all of the first word. */
static size_t fitting_length(const char *text, double size, double width) {
	char line[512];
	size_t fits = 0;
	for (size_t end = strcspn(text, " ");; end += 1 + strcspn(text + end + 1, " ")) {
		snprintf(line, sizeof line, "%.*s", (int)end, text);
		if (fits && (end >= sizeof line || svg_text_width(line, size) > width))
			return fits;
		fits = end;
		if (!text[end])
			return fits;
	}
}

/* A text in lines that fit, the first at y; out NULL: none is written. Returns how many they are. */
static int write_lines(FILE *out, double y, double row, const char *style, double size, double width,
                       const char *text) {
	int count = 0;
	for (; *text; count++) {
		char line[512];
		const size_t length = fitting_length(text, size, width);
		snprintf(line, sizeof line, "%.*s", (int)length, text);
		if (out)
			svg_label(out, PLOT_LEFT, y + count * row, "start", style, line);
		text += length + (text[length] == ' ');
	}
	return count;
}

/* A name of at most LEGEND_NAME characters: of a longer one, the beginning and the end. */
static void shorten_name(char *shown, size_t size, const char *name) {
	enum { END = 20 };
	size_t characters = 0, k = 0, used = 0;
	for (const char *c = name; *c; c++)
		characters += ((unsigned char)*c & 0xc0) != 0x80;
	for (const char *c = name; *c && used + 4 < size; c++) {
		k += ((unsigned char)*c & 0xc0) != 0x80;
		if (characters <= LEGEND_NAME || k < LEGEND_NAME - END || k > characters - END)
			shown[used++] = *c;
		else if (k == LEGEND_NAME - END && ((unsigned char)*c & 0xc0) != 0x80)
			used += (size_t)snprintf(shown + used, size - used, "…");
	}
	shown[used] = 0;
}

static void draw_y_ticks(FILE *out, const SvgScale *y) {
	for (double k = ceil(y->from / y->step - 1e-9); k * y->step <= y->to + 1e-9 * y->step; k++) {
		double py = svg_at(y, k * y->step);
		fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", PLOT_LEFT, py, PLOT_RIGHT);
		svg_tick_label(out, PLOT_LEFT - 7, py + 4, "end", y, k * y->step);
	}
}

/* ---- lines ------------------------------------------------------------------------------------- */

static void stroke(FILE *out, int index) {
	const char *dash = dashes[index / SVG_COLORS % DASH_COUNT];
	fprintf(out, " stroke=\"%s\"", svg_colors[index % SVG_COLORS]);
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
static void move_to_sample(Pen *pen, const SvgPlot *plot, const SvgLine *line, size_t i, const SvgScale *x,
                           const SvgScale *y) {
	double value = line->y[i * plot->stride];
	if (isfinite(value))
		pen_move(pen, svg_at(x, plot->x[i * plot->stride]), svg_at(y, value));
	else
		pen_lift(pen);
}

/* Samples [first, last) as their least and greatest value, in the order in which they occur. */
static void move_through(Pen *pen, const SvgPlot *plot, const SvgLine *line, size_t first, size_t last,
                         const SvgScale *x, const SvgScale *y) {
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

static void draw_line(FILE *out, const SvgPlot *plot, const SvgLine *line, int index, const SvgScale *x,
                      const SvgScale *y) {
	Pen pen = {.out = out};
	fputs("<path class=\"line\"", out);
	stroke(out, index);
	fputs(" d=\"", out);
	for (size_t first = 0, last; first < plot->count; first = last) {
		double pixel = floor(svg_at(x, plot->x[first * plot->stride]));
		for (last = first + 1; last < plot->count && floor(svg_at(x, plot->x[last * plot->stride])) == pixel;)
			last++;
		move_through(&pen, plot, line, first, last, x, y);
	}
	pen_lift(&pen);
	fputs("\"/>\n", out);
}

static bool is_value(const SvgPlot *plot, const SvgLine *line, size_t i) {
	return i < plot->count && isfinite(line->y[i * plot->stride]);
}

/* Dots, as strokes of no length, at samples that are few or stand alone between gaps. */
static void draw_marks(FILE *out, const SvgPlot *plot, const SvgLine *line, int index, const SvgScale *x,
                       const SvgScale *y) {
	const bool few = plot->count <= MARKED_SAMPLES;
	bool any = false;
	for (size_t i = 0; i < plot->count; i++) {
		const bool alone = !is_value(plot, line, i + 1) && (i == 0 || !is_value(plot, line, i - 1));
		if (!is_value(plot, line, i) || !(few || alone))
			continue;
		if (!any)
			fprintf(out, "<path class=\"mark\" stroke=\"%s\" d=\"", svg_colors[index % SVG_COLORS]);
		any = true;
		fprintf(out, "M%.1f %.1fh0", svg_at(x, plot->x[i * plot->stride]), svg_at(y, line->y[i * plot->stride]));
	}
	if (any)
		fputs("\"/>\n", out);
}

/* ---- layout ------------------------------------------------------------------------------------ */

/* Where panels and legends are. Panels are counted down the first column, then down the second. */
typedef struct Layout {
	int columns, rows;  // of panels
	double least;       // height of a panel
	int legend_columns; //
	double name_width;  // of a column of a legend
	double cell_width;  // of a panel and its legend
	double width;       // of the picture
	double top;         // of the first panel
} Layout;

static double longest_name(const SvgPlot *plot) {
	double longest = 0;
	char shown[4 * LEGEND_NAME + 8];
	for (int i = 0; i < plot->panel_count; i++)
		for (int k = 0; k < plot->panels[i].line_count; k++) {
			shorten_name(shown, sizeof shown, plot->panels[i].lines[k].name);
			longest = fmax(longest, svg_text_width(shown, FONT));
		}
	return longest;
}

static Layout layout_of(const SvgPlot *plot) {
	static const double heights[COLUMN_PANELS] = {300, 240, 190, 170};
	Layout layout = {.columns = plot->panel_count > COLUMN_PANELS ? 2 : 1, .legend_columns = 1};
	layout.rows = (plot->panel_count + layout.columns - 1) / layout.columns;
	const int row = layout.rows < COLUMN_PANELS ? layout.rows : COLUMN_PANELS;
	layout.least = heights[row > 0 ? row - 1 : 0];
	for (int i = 0; i < plot->panel_count; i++)
		if (plot->panels[i].line_count * LEGEND_ROW > layout.least)
			layout.legend_columns = 2;
	layout.name_width = LEGEND_INDENT + longest_name(plot) + 12;
	layout.cell_width =
		fmax(PLOT_RIGHT + 16 + layout.legend_columns * layout.name_width, layout.columns == 1 ? LEAST_WIDTH : 0);
	layout.width = ceil(layout.columns * layout.cell_width);
	const int lines = write_lines(NULL, 0, 0, "", TITLE_FONT, layout.width - PLOT_LEFT - 16, plot->title);
	layout.top = TOP + (lines > 1 ? (lines - 1) * 1.25 * TITLE_FONT : 0);
	return layout;
}

static int legend_rows(const Layout *layout, const SvgPanel *panel) {
	return (panel->line_count + layout->legend_columns - 1) / layout->legend_columns;
}

/* Of a row of panels: as the longest legend in it needs. */
static double row_height(const SvgPlot *plot, const Layout *layout, int row) {
	double height = layout->least;
	for (int i = row; i < plot->panel_count; i += layout->rows)
		height = fmax(height, legend_rows(layout, &plot->panels[i]) * LEGEND_ROW);
	return height;
}

/* Beside the panel; down the first column, then down the second. */
static void draw_legend(FILE *out, const Layout *layout, const SvgPanel *panel, double top, double height) {
	const int fits = (int)(height / LEGEND_ROW);
	char shown[4 * LEGEND_NAME + 8];
	for (int i = 0; i < panel->line_count; i++) {
		const int column = i / fits, row = i % fits;
		const double left = PLOT_RIGHT + 16 + column * layout->name_width, y = top + 8 + row * LEGEND_ROW;
		fprintf(out, "<path class=\"line\"");
		stroke(out, i);
		fprintf(out, " d=\"M%.1f %.1fh24\"/>\n", left, y);
		shorten_name(shown, sizeof shown, panel->lines[i].name);
		svg_label(out, left + LEGEND_INDENT, y + 4, "start", "", shown);
	}
}

/* ---- panels ------------------------------------------------------------------------------------ */

static SvgScale y_axis(const SvgPlot *plot, const SvgPanel *panel) {
	double low = INFINITY, high = -INFINITY;
	for (int k = 0; k < panel->line_count; k++)
		for (size_t i = 0; i < plot->count; i++) {
			double value = panel->lines[k].y[i * plot->stride];
			if (isfinite(value)) {
				low = fmin(low, value);
				high = fmax(high, value);
			}
		}
	return svg_axis_over(low, high, 6, true);
}

/* A panel, and below the last of a column the axis that they share. */
static void draw_panel(FILE *out, const SvgPlot *plot, const Layout *layout, int index, const SvgScale *x, double top) {
	const SvgPanel *panel = &plot->panels[index];
	const double height = row_height(plot, layout, index % layout->rows);
	const bool last = index == plot->panel_count - 1 || index % layout->rows == layout->rows - 1;
	SvgScale y = y_axis(plot, panel);
	y.pixel_from = top + height;
	y.pixel_to = top;
	svg_x_ticks(out, x, top, top + height, last);
	draw_y_ticks(out, &y);
	fprintf(out, "<rect class=\"frame\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>\n", PLOT_LEFT, top,
	        PLOT_RIGHT - PLOT_LEFT, height);
	char text[280];
	svg_axis_text(text, sizeof text, panel->title, panel->unit, &y);
	svg_label(out, PLOT_LEFT, top - 9, "start", " class=\"panel\"", text);
	for (int i = 0; i < panel->line_count; i++) {
		draw_line(out, plot, &panel->lines[i], i, x, &y);
		draw_marks(out, plot, &panel->lines[i], i, x, &y);
	}
	draw_legend(out, layout, panel, top, height);
	if (!last)
		return;
	svg_axis_text(text, sizeof text, plot->x_title, plot->x_unit, x);
	svg_label(out, (PLOT_LEFT + PLOT_RIGHT) / 2.0, top + height + 38, "middle", "", text);
}

static void draw_column(FILE *out, const SvgPlot *plot, const Layout *layout, int column, const SvgScale *x) {
	double top = layout->top;
	fprintf(out, "<g transform=\"translate(%.1f 0)\">\n", column * layout->cell_width);
	for (int row = 0; row < layout->rows && column * layout->rows + row < plot->panel_count; row++) {
		draw_panel(out, plot, layout, column * layout->rows + row, x, top);
		top += row_height(plot, layout, row) + PANEL_GAP;
	}
	fputs("</g>\n", out);
}

static void begin_plot(FILE *out, const SvgPlot *plot, double width, double height) {
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
	        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"%d\" fill=\"#222\" role=\"img\">\n"
	        "<style>.line{fill:none;stroke-width:1.6;stroke-linejoin:round}.grid{stroke:#e4e4e4}"
	        ".mark{fill:none;stroke-width:5;stroke-linecap:round}"
	        ".frame{fill:none;stroke:#888}.panel{font-weight:bold}</style>\n"
	        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
	        width, height, width, height, FONT);
	fputs("<title>", out);
	svg_escaped(out, plot->title);
	fputs("</title>\n", out);
}

void svg_write(FILE *out, const SvgPlot *plot) {
	const Layout layout = layout_of(plot);
	const char *note = plot->note ? plot->note : "";
	const double text_room = layout.width - PLOT_LEFT - 16;
	double bottom = layout.top + BOTTOM - PANEL_GAP;
	for (int row = 0; row < layout.rows; row++)
		bottom += row_height(plot, &layout, row) + PANEL_GAP;
	const int note_lines = write_lines(NULL, 0, 0, "", FONT, text_room, note);
	begin_plot(out, plot, layout.width, bottom + note_lines * NOTE_ROW + (note_lines ? 6 : 0));
	write_lines(out, 27, 1.25 * TITLE_FONT, " font-size=\"16\" font-weight=\"bold\"", TITLE_FONT, text_room,
	            plot->title);
	SvgScale x = svg_axis_over(plot->count ? plot->x[0] : 0,
	                           plot->count ? plot->x[(plot->count - 1) * plot->stride] : 1, 10, false);
	x.pixel_from = PLOT_LEFT;
	x.pixel_to = PLOT_RIGHT;
	if (plot->x_decades) {
		x.decades = true;
		x.offset = x.power = 0;
	}
	for (int column = 0; column < layout.columns; column++)
		draw_column(out, plot, &layout, column, &x);
	write_lines(out, bottom + 8, NOTE_ROW, " font-size=\"12\" fill=\"#a33\"", FONT, text_room, note);
	fputs("</svg>\n", out);
}
