// SPDX-License-Identifier: Apache-2.0
/*
 * panels.c — columns of a table to panels of a plot.
 *
 * Every item goes to the first panel whose kind and unit are its own, or opens a new one. Names and numbers stay
 * where the table has them; only titles are made here.
 */
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "panels.h"
#include "png.h"
#include "svg.h"

/* What is drawn; the arrays have room for every item. */
typedef struct Drawing {
	SvgPanel *panels;
	SvgLine *lines;
	char (*titles)[160];
	bool *done; // items that have their place
	int panel_count, line_count;
} Drawing;

static bool drawing_alloc(Drawing *drawing, int items) {
	size_t n = (size_t)items + 1;
	drawing->panels = calloc(n, sizeof *drawing->panels);
	drawing->lines = calloc(n, sizeof *drawing->lines);
	drawing->titles = calloc(n, sizeof *drawing->titles);
	drawing->done = calloc(n, sizeof *drawing->done);
	return drawing->panels && drawing->lines && drawing->titles && drawing->done;
}

static void drawing_free(Drawing *drawing) {
	free(drawing->panels);
	free(drawing->lines);
	free(drawing->titles);
	free(drawing->done);
}

int panels_own_label(const char *name) {
	const char *colon = strchr(name, ':');
	return colon ? (int)(colon - name) + 1 : 0;
}

static bool share_panel(const Table *table, PanelItem a, PanelItem b) {
	const Column *left = &table->columns[a.column], *right = &table->columns[b.column];
	return a.label == b.label && strncmp(left->name, right->name, (size_t)a.label) == 0 &&
	       strcmp(left->unit, right->unit) == 0;
}

/* A panel with the item and all behind it that share it. Columns without a kind: a single one is the title. */
static void add_panel(Drawing *drawing, const Table *table, const PanelItem *items, int count, int first) {
	const Column *column = &table->columns[items[first].column];
	char *title = drawing->titles[drawing->panel_count];
	SvgPanel *panel = &drawing->panels[drawing->panel_count++];
	*panel = (SvgPanel){.title = title, .unit = column->unit, .lines = drawing->lines + drawing->line_count};
	for (int i = first; i < count; i++) {
		if (drawing->done[i] || !share_panel(table, items[first], items[i]))
			continue;
		drawing->lines[drawing->line_count++] = (SvgLine){.name = table->columns[items[i].column].name + items[i].label,
		                                                  .y = table->rows + items[i].column};
		drawing->done[i] = true;
		panel->line_count++;
	}
	if (items[first].label > 0)
		snprintf(title, sizeof *drawing->titles, "%.*s", items[first].label - 1, column->name);
	else if (panel->line_count == 1)
		snprintf(title, sizeof *drawing->titles, "%s", column->name);
}

static int write_plot(const char *path, const SvgPlot *plot) {
	if (png_is_asked(path)) {
		FILE *converter = png_open(path);
		if (!converter)
			return EXIT_INPUT;
		svg_write(converter, plot);
		return png_close(converter, path);
	}
	OutputFile out;
	const int code = output_open(&out, path);
	if (code != EXIT_OK)
		return code;
	svg_write(out.stream, plot);
	return output_close(&out, EXIT_OK);
}

int panels_write(const char *svg_path, const char *title, const Table *table, const PanelItem *items, int count) {
	Drawing drawing = {0};
	if (!drawing_alloc(&drawing, count)) {
		drawing_free(&drawing);
		return say_status(svg_path, CAL_ERR_MEMORY, NULL);
	}
	for (int i = 0; i < count; i++)
		if (!drawing.done[i])
			add_panel(&drawing, table, items, count, i);
	SvgPlot plot = {.title = title,
	                .x_title = table->columns[0].name,
	                .x_unit = table->columns[0].unit,
	                .x = table->rows,
	                .count = table->count,
	                .stride = (size_t)table->column_count,
	                .panels = drawing.panels,
	                .panel_count = drawing.panel_count};
	int code = write_plot(svg_path, &plot);
	drawing_free(&drawing);
	return code;
}
