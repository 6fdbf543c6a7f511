// SPDX-License-Identifier: Apache-2.0
/*
 * panels.c — columns of a table to panels of a plot.
 *
 * Every item goes to the first panel whose kind and unit are its own, or opens a new one. Names and numbers stay
 * where the table has them; only titles are made here.
 */
#include <stdlib.h>
#include <string.h>

#include "converter.h"
#include "output.h"
#include "panels.h"
#include "svg.h"

/* What is drawn, and how much is not. */
typedef struct Drawing {
	SvgPanel panels[PANELS_MOST];
	PanelItem first[PANELS_MOST]; // that opened each
	SvgLine lines[PANELS_MOST][PANEL_LINES_MOST];
	char titles[PANELS_MOST][160];
	int panel_count;
	int lines_left;  // of panels that are drawn
	int others_left; // lines that would need further panels
} Drawing;

int panels_own_label(const char *name) {
	const char *colon = strchr(name, ':');
	return colon ? (int)(colon - name) + 1 : 0;
}

int panels_label(const char *name) {
	CalQuantityName parts;
	CalQuantityInfo info;
	const char *colon = strrchr(name, ':');
	if (cal_quantity_split(name, &parts) != CAL_OK || cal_quantity(parts.quantity, &info) != CAL_OK)
		return colon ? (int)(colon - name) + 1 : 0;
	const bool listed = info.component_count > 0 || info.about == CAL_ABOUT_DEVICE;
	return listed && parts.component ? (int)(parts.component - name) : panels_own_label(name);
}

static bool share_panel(const Table *table, PanelItem a, PanelItem b) {
	const Column *left = &table->columns[a.column], *right = &table->columns[b.column];
	return a.label == b.label && strncmp(left->name, right->name, (size_t)a.label) == 0 &&
	       strcmp(left->unit, right->unit) == 0;
}

/* The panel of an item, a new one if there is room; NULL: there is none. */
static SvgPanel *panel_of(Drawing *drawing, const Table *table, PanelItem item) {
	for (int i = 0; i < drawing->panel_count; i++)
		if (share_panel(table, drawing->first[i], item))
			return &drawing->panels[i];
	if (drawing->panel_count == PANELS_MOST)
		return NULL;
	const int made = drawing->panel_count++;
	drawing->first[made] = item;
	drawing->panels[made] = (SvgPanel){
		.title = drawing->titles[made], .unit = table->columns[item.column].unit, .lines = drawing->lines[made]};
	return &drawing->panels[made];
}

static void add_item(Drawing *drawing, const Table *table, PanelItem item) {
	SvgPanel *panel = panel_of(drawing, table, item);
	if (!panel) {
		drawing->others_left++;
	} else if (panel->line_count == PANEL_LINES_MOST) {
		drawing->lines_left++;
	} else {
		SvgLine *line = &drawing->lines[panel - drawing->panels][panel->line_count++];
		*line = (SvgLine){.name = table->columns[item.column].name + item.label, .y = table->rows + item.column};
	}
}

/* Columns without a kind: a single one is the title. */
static void set_title(Drawing *drawing, const Table *table, int panel) {
	const PanelItem first = drawing->first[panel];
	const char *name = table->columns[first.column].name;
	if (first.label > 0)
		snprintf(drawing->titles[panel], sizeof drawing->titles[0], "%.*s", first.label - 1, name);
	else if (drawing->panels[panel].line_count == 1)
		snprintf(drawing->titles[panel], sizeof drawing->titles[0], "%s", name);
}

/* What is not drawn, after the text of the caller. */
static void say_rest(const Drawing *drawing, const char *path, const char *note, char *text, size_t size) {
	const int left = drawing->lines_left + drawing->others_left;
	snprintf(text, size, "%s", note);
	if (left > 0)
		snprintf(text + strlen(text), size - strlen(text),
		         "%snot drawn: %d column%s, beyond %d panels of %d lines; name those that you want",
		         note[0] ? "; " : "", left, plural(left), PANELS_MOST, PANEL_LINES_MOST);
	if (text[0])
		say_warning(path, text);
}

static int write_plot(const char *path, const SvgPlot *plot) {
	if (converter_is_asked(path)) {
		FILE *converter = converter_open(path);
		if (!converter)
			return EXIT_INPUT;
		svg_write(converter, plot);
		return converter_close(path);
	}
	OutputFile out;
	const int code = output_open(&out, path);
	if (code != EXIT_OK)
		return code;
	svg_write(out.stream, plot);
	return output_close(&out, EXIT_OK);
}

int panels_write(const char *svg_path, const char *title, const Table *table, const PanelItem *items, int count,
                 const char *note) {
	char rest[400];
	Drawing *drawing = calloc(1, sizeof *drawing);
	if (!drawing)
		return say_status(svg_path, CAL_ERR_MEMORY, NULL);
	for (int i = 0; i < count; i++)
		add_item(drawing, table, items[i]);
	for (int i = 0; i < drawing->panel_count; i++)
		set_title(drawing, table, i);
	say_rest(drawing, svg_path, note, rest, sizeof rest);
	SvgPlot plot = {.title = title,
	                .x_title = table->columns[0].name,
	                .x_unit = table->columns[0].unit,
	                .x = table->rows,
	                .count = table->count,
	                .stride = (size_t)table->column_count,
	                .panels = drawing->panels,
	                .panel_count = drawing->panel_count,
	                .note = rest};
	int code = write_plot(svg_path, &plot);
	free(drawing);
	return code;
}
