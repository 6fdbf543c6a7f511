// SPDX-License-Identifier: Apache-2.0
/*
 * modes_plot.c — the shapes of a modal body as an SVG file: one tile per modal coordinate.
 *
 * Nodes are seen in parallel projection, with the longest axis of the body across the tile, from that side where more
 * of the shape is seen: grey at rest, in colour displaced, with a thread between the two. Displacements are enlarged
 * until the largest is a seventh of the body.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "modes.h"

enum { TILE_WIDTH = 300, TILE_HEIGHT = 210, TILE_TEXT = 30, COLUMNS = 3, MAX_TILES = 24, TOP = 48 };

typedef struct View {
	int axis[3];      // which coordinate goes across, away and up
	double side;      // 1 or -1: seen from the right or from the left
	double center[3]; // of the box [m]
	double size;      // longest side of the box [m]
	double middle[2]; // of the tile [px]
	double scale;     // [px/m]
} View;

static void project(const View *view, const double p[3], double *x, double *y) {
	const double across = p[view->axis[0]] - view->center[view->axis[0]];
	const double away = view->side * (p[view->axis[1]] - view->center[view->axis[1]]);
	const double up = p[view->axis[2]] - view->center[view->axis[2]];
	*x = 0.940 * across + 0.342 * away;
	*y = 0.171 * across - 0.470 * away - 0.866 * up; // down the page
}

static void at_rest(const CalModalNode *node, double p[3]) {
	p[0] = node->placement.position.x;
	p[1] = node->placement.position.y;
	p[2] = node->placement.position.z;
}

/* Longest axis across, shortest up. */
static void choose_axes(View *view, const double side[3]) {
	for (int i = 0; i < 3; i++)
		view->axis[i] = i;
	for (int i = 0; i < 2; i++)
		for (int j = i + 1; j < 3; j++)
			if (side[view->axis[j]] > side[view->axis[i]] * (1 + 1e-9)) {
				const int swap = view->axis[i];
				view->axis[i] = view->axis[j];
				view->axis[j] = swap;
			}
}

static bool drawn(const CalModal *modal, int index, CalModalNode *node) {
	return cal_modal_node(modal, index, node) == CAL_OK && node->kind != CAL_MODAL_MASS;
}

static bool view_of(const CalModal *modal, View *view) {
	double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, side[3], p[3];
	CalModalNode node;
	int count = 0;
	for (int i = 0; i < cal_modal_info(modal).node_count; i++) {
		if (!drawn(modal, i, &node))
			continue;
		at_rest(&node, p);
		count++;
		for (int c = 0; c < 3; c++) {
			low[c] = fmin(low[c], p[c]);
			high[c] = fmax(high[c], p[c]);
		}
	}
	*view = (View){.side = 1};
	for (int c = 0; c < 3 && count; c++) {
		side[c] = high[c] - low[c];
		view->center[c] = (high[c] + low[c]) / 2;
		view->size = fmax(view->size, side[c]);
	}
	if (count < 2 || !(view->size > 0))
		return false;
	choose_axes(view, side);
	double width = 0, height = 0;
	for (int i = 0; i < cal_modal_info(modal).node_count; i++) {
		double x, y;
		if (!drawn(modal, i, &node))
			continue;
		at_rest(&node, p);
		project(view, p, &x, &y);
		width = fmax(width, fabs(x));
		height = fmax(height, fabs(y));
	}
	const double room = view->size / 7;
	view->scale =
		fmin((TILE_WIDTH - 20) / (2 * (width + room)), (TILE_HEIGHT - TILE_TEXT - 10) / (2 * (height + room)));
	return true;
}

static double largest(const CalModal *modal, int shape) {
	const CalModalInfo info = cal_modal_info(modal);
	CalModalNode node;
	double most = 0;
	for (int i = 0; i < info.node_count; i++) {
		double square = 0;
		if (!drawn(modal, i, &node))
			continue;
		for (int c = 0; c < 3; c++)
			square += node.phi[c * info.modes + shape] * node.phi[c * info.modes + shape];
		most = fmax(most, sqrt(square));
	}
	return most;
}

/* How much of a shape this view shows. */
static double visible(const CalModal *modal, const View *view, int shape) {
	const CalModalInfo info = cal_modal_info(modal);
	CalModalNode node;
	double sum = 0;
	for (int i = 0; i < info.node_count; i++) {
		double p[3], x, y;
		if (!drawn(modal, i, &node))
			continue;
		for (int c = 0; c < 3; c++)
			p[c] = view->center[c] + node.phi[c * info.modes + shape];
		project(view, p, &x, &y);
		sum += x * x + y * y;
	}
	return sum;
}

static void draw_axes(FILE *out, const View *view, double left, double bottom) {
	for (int c = 0; c < 3; c++) {
		double p[3] = {view->center[0], view->center[1], view->center[2]}, x, y;
		p[c] += 1;
		project(view, p, &x, &y);
		fprintf(
			out,
			"<path d=\"M%.1f %.1fl%.1f %.1f\" stroke=\"#888\"/><text x=\"%.1f\" y=\"%.1f\" font-size=\"9\">%c</text>",
			left, bottom, 14 * x, 14 * y, left + 20 * x - 2, bottom + 20 * y + 3, "xyz"[c]);
	}
	putc('\n', out);
}

/* sqrt(K/M) of one coordinate: its frequency, if the shapes are modes. */
static double frequency(const CalModal *modal, int shape) {
	const CalModalInfo info = cal_modal_info(modal);
	CalModalNode node;
	double mass = 0;
	for (int i = 0; i < info.node_count; i++) {
		if (cal_modal_node(modal, i, &node) != CAL_OK)
			continue;
		for (int c = 0; c < 3; c++) {
			const double phi = node.phi[c * info.modes + shape];
			mass += node.mass * phi * phi;
			for (int d = 0; d < 3; d++)
				mass += node.psi[c * info.modes + shape] * node.inertia.m[c][d] * node.psi[d * info.modes + shape];
		}
	}
	return mass > 0 ? sqrt(info.stiffness[shape * (info.modes + 1)] / mass) / 6.283185307179586 : 0;
}

/* A node at rest and displaced, in pixels of the picture. */
static void place(const View *view, const CalModalNode *node, int modes, int shape, double enlarge, double rest[2],
                  double moved[2]) {
	double p[3], q[3];
	at_rest(node, p);
	for (int c = 0; c < 3; c++)
		q[c] = p[c] + enlarge * node->phi[c * modes + shape];
	project(view, p, &rest[0], &rest[1]);
	project(view, q, &moved[0], &moved[1]);
	for (int c = 0; c < 2; c++) {
		rest[c] = view->middle[c] + view->scale * rest[c];
		moved[c] = view->middle[c] + view->scale * moved[c];
	}
}

typedef enum Layer { THREADS, AT_REST, MOVED, FRAMES, LAYER_COUNT } Layer;

/* One path for all nodes of a layer: dots are lines of no length with round ends. */
static void draw_layer(FILE *out, const CalModal *modal, const View *view, int shape, double enlarge, Layer layer) {
	static const char *const style[LAYER_COUNT] = {"thread", "rest", "moved", "frame"};
	const CalModalInfo info = cal_modal_info(modal);
	fprintf(out, "<path class=\"%s\" d=\"", style[layer]);
	for (int i = 0; i < info.node_count; i++) {
		CalModalNode node;
		double rest[2], moved[2];
		if (!drawn(modal, i, &node) || (layer >= MOVED && (node.kind == CAL_MODAL_FRAME) != (layer == FRAMES)))
			continue;
		place(view, &node, info.modes, shape, enlarge, rest, moved);
		if (layer == THREADS)
			fprintf(out, "M%.1f %.1fL%.1f %.1f", rest[0], rest[1], moved[0], moved[1]);
		else if (layer == FRAMES)
			fprintf(out, "M%.1f %.1fh6", moved[0] - 3, moved[1]);
		else
			fprintf(out, "M%.1f %.1fh0", layer == AT_REST ? rest[0] : moved[0], layer == AT_REST ? rest[1] : moved[1]);
	}
	fputs("\"/>\n", out);
}

static void draw_tile(FILE *out, const CalModal *modal, View *view, int shape, double left, double top) {
	const double most = largest(modal, shape), enlarge = most > 0 ? view->size / 7 / most : 0;
	View mirrored = *view;
	view->side = 1;
	mirrored.side = -1;
	if (visible(modal, &mirrored, shape) > visible(modal, view, shape))
		view->side = -1;
	view->middle[0] = left + TILE_WIDTH / 2.0;
	view->middle[1] = top + TILE_TEXT + (TILE_HEIGHT - TILE_TEXT) / 2.0;
	fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#ddd\"/>\n", left + 4,
	        top + 4, TILE_WIDTH - 8, TILE_HEIGHT - 8);
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%d: %.5g Hz</text>\n", left + 12, top + 22, shape + 1,
	        frequency(modal, shape));
	draw_axes(out, view, left + 28, top + TILE_HEIGHT - 26);
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		draw_layer(out, modal, view, shape, enlarge, (Layer)layer);
}

static void draw(FILE *out, const CalModal *modal, View *view, const char *title) {
	const int modes = cal_modal_info(modal).modes, tiles = modes < MAX_TILES ? modes : MAX_TILES;
	const int rows = (tiles + COLUMNS - 1) / COLUMNS, width = COLUMNS * TILE_WIDTH,
			  height = TOP + rows * TILE_HEIGHT + 8;
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
	        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n"
	        "<style>path{fill:none}.thread{stroke:#c9dcea}.rest{stroke:#bbb;stroke-width:2.4;stroke-linecap:round}"
	        ".moved{stroke:#0072b2;stroke-width:3.4;stroke-linecap:round}"
	        ".frame{stroke:#d55e00;stroke-width:6}</style>\n"
	        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
	        "<text x=\"12\" y=\"28\" font-size=\"16\" font-weight=\"bold\">",
	        width, height, width, height);
	for (const char *c = title; *c; c++)
		if (*c == '&' || *c == '<' || *c == '>')
			fprintf(out, "&#%d;", *c);
		else
			putc(*c, out);
	fprintf(out, ": %d of %d shapes</text>\n", tiles, modes);
	for (int k = 0; k < tiles; k++) {
		const int left = k % COLUMNS * TILE_WIDTH, top = TOP + k / COLUMNS * TILE_HEIGHT;
		draw_tile(out, modal, view, k, left, top);
	}
	fputs("</svg>\n", out);
}

int modes_plot(const CalModal *modal, const char *title, const char *path) {
	View view;
	if (!view_of(modal, &view)) {
		say_error(path, "there are fewer than two nodes to draw");
		return EXIT_INPUT;
	}
	FILE *out = fopen(path, "w");
	if (out)
		draw(out, modal, &view, title);
	const bool bad = !out || ferror(out);
	if ((out && fclose(out) != 0) || bad) {
		say_error(path, "the file could not be written");
		return EXIT_INPUT;
	}
	return EXIT_OK;
}
