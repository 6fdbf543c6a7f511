// SPDX-License-Identifier: Apache-2.0
/*
 * panels.h — a table of columns as a picture: which columns share a panel, and the file it goes to.
 *
 * Columns are named "kind:label [unit]", as the catalogue of quantities does (calder/quantity.h). Those of one kind and unit
 * share a panel, whose title is the kind; lengths and angles never share a scale. What counts as the kind depends on how a
 * column was asked for: as one of a signal ("node:arm/tip" of x, y, z) or by its own name ("node" of arm/tip.x and arm/end.x).
 */
#ifndef CALDER_CLI_PANELS_H
#define CALDER_CLI_PANELS_H

#include "cli.h"

typedef struct Column {
	const char *name; // "q:shoulder"; the table's owner has the text
	const char *unit; // "rad"; "": none is known
	int label;        // where the part that distinguishes it from its neighbors begins in name
} Column;

/** Samples: rows[count][column_count]; the first column is the horizontal axis and does not decrease. */
typedef struct Table {
	const Column *columns;
	int column_count;
	const double *rows;
	size_t count;
} Table;

/** A column to draw. */
typedef struct PanelItem {
	int column;
	int label; // as Column.label, for this picture
} PanelItem;

/** Where the label of a column begins that was asked for by its own name: after the first colon. */
int panels_own_label(const char *name);
/**
 * Where it begins in a table that does not say how its columns were asked for: components of one object share a panel, and so
 * do coordinates and constraint equations of all objects. Of what is not in the catalogue: after the last colon.
 */
int panels_label(const char *name);
enum { PANELS_MOST = 8, PANEL_LINES_MOST = 24 }; // a screenful, and as many lines as there are colors and dashes

/**
 * Draws the items, panels in the order of their first item; "-" is stdout. At most PANELS_MOST panels with PANEL_LINES_MOST
 * lines each are drawn. What is left out is said below them and on stderr, after `note` ("": nothing) if there is more
 * to say. Returns an exit code.
 */
int panels_write(const char *svg_path, const char *title, const Table *table, const PanelItem *items, int count,
                 const char *note);

#endif
