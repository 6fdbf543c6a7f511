// SPDX-License-Identifier: Apache-2.0
/*
 * modes_plot.c — the shapes of a modal body as an SVG file: one tile per modal coordinate.
 *
 * Nodes are seen in parallel projection, with the longest axis of the body across the tile, from that side where more
 * of the shape is seen: grey at rest, in color displaced, and lines between neighbors; squares are frames.
 * Displacements are enlarged until the largest is a seventh of the body. Bodies of very many nodes are drawn as dots.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "modes.h"
#include "output.h"

enum { TILE_WIDTH = 300, TILE_HEIGHT = 210, TILE_TEXT = 30, COLUMNS = 3, MAX_TILES = 24, TOP = 48 };
enum { MOST_WIRED = 2000 }; // nodes; the search for neighbors takes a time that grows as their square

/* How the body is looked at. */
typedef struct View {
	int axis[3];      // which coordinate goes across, away and up
	double side;      // 1 or -1: seen from the right or from the left
	double center[3]; // of the box [m]
	double size;      // longest side of the box [m]
	double middle[2]; // of the tile [px]
	double scale;     // [px/m]
} View;

/* The nodes that are drawn, and the lines between them. */
typedef struct Scene {
	const CalModal *modal;
	int modes, count;
	CalModalNode *nodes; // [count]
	CalVec3 *places;     // [count], at rest [m]
	CalVec3 *moved;      // [count], the shape that is being drawn [m]
	int *strokes;        // as modes_wire() gives them; NULL: dots
	int stroke_length;   //
} Scene;

/* ---- scene and view ---------------------------------------------------------------------------- */

static void scene_free(Scene *scene) {
	free(scene->nodes);
	free(scene->places);
	free(scene->moved);
	free(scene->strokes);
}

static bool scene_create(Scene *scene, const CalModal *modal) {
	const CalModalInfo info = cal_modal_info(modal);
	const size_t n = (size_t)info.node_count + 1;
	*scene = (Scene){.modal = modal, .modes = info.modes};
	scene->nodes = calloc(n, sizeof *scene->nodes);
	scene->places = calloc(n, sizeof *scene->places);
	scene->moved = calloc(n, sizeof *scene->moved);
	if (!scene->nodes || !scene->places || !scene->moved)
		return false;
	for (int i = 0; i < info.node_count; i++) {
		CalModalNode *node = &scene->nodes[scene->count];
		if (cal_modal_node(modal, i, node) == CAL_OK && node->kind != CAL_MODAL_MASS)
			scene->places[scene->count++] = node->placement.position;
	}
	int *strokes = NULL;
	if (scene->count <= MOST_WIRED)
		scene->stroke_length = modes_wire(scene->places, scene->count, &strokes);
	scene->strokes = strokes;
	return true;
}

static void project(const View *view, CalVec3 place, double *x, double *y) {
	const double p[3] = {place.x, place.y, place.z};
	const double across = p[view->axis[0]] - view->center[view->axis[0]];
	const double away = view->side * (p[view->axis[1]] - view->center[view->axis[1]]);
	const double up = p[view->axis[2]] - view->center[view->axis[2]];
	*x = 0.940 * across + 0.342 * away;
	*y = 0.171 * across - 0.470 * away - 0.866 * up; // down the page
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

static bool view_of(const Scene *scene, View *view) {
	double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, side[3];
	for (int i = 0; i < scene->count; i++) {
		const double p[3] = {scene->places[i].x, scene->places[i].y, scene->places[i].z};
		for (int c = 0; c < 3; c++) {
			low[c] = fmin(low[c], p[c]);
			high[c] = fmax(high[c], p[c]);
		}
	}
	*view = (View){.side = 1};
	for (int c = 0; c < 3 && scene->count; c++) {
		side[c] = high[c] - low[c];
		view->center[c] = (high[c] + low[c]) / 2;
		view->size = fmax(view->size, side[c]);
	}
	if (scene->count < 2 || !(view->size > 0))
		return false;
	choose_axes(view, side);
	double width = 0, height = 0;
	for (int i = 0; i < scene->count; i++) {
		double x, y;
		project(view, scene->places[i], &x, &y);
		width = fmax(width, fabs(x));
		height = fmax(height, fabs(y));
	}
	const double room = view->size / 7;
	view->scale =
		fmin((TILE_WIDTH - 20) / (2 * (width + room)), (TILE_HEIGHT - TILE_TEXT - 10) / (2 * (height + room)));
	return true;
}

static CalVec3 shift(const Scene *scene, int node, int shape) {
	const double *phi = scene->nodes[node].phi + shape;
	return (CalVec3){phi[0], phi[scene->modes], phi[2 * scene->modes]};
}

/* Puts the nodes where the shape moves them, the largest displacement being a seventh of the body. */
static void move(Scene *scene, const View *view, int shape) {
	double most = 0;
	for (int i = 0; i < scene->count; i++) {
		const CalVec3 d = shift(scene, i, shape);
		most = fmax(most, sqrt(d.x * d.x + d.y * d.y + d.z * d.z));
	}
	const double enlarge = most > 0 ? view->size / 7 / most : 0;
	for (int i = 0; i < scene->count; i++) {
		const CalVec3 p = scene->places[i], d = shift(scene, i, shape);
		scene->moved[i] = (CalVec3){p.x + enlarge * d.x, p.y + enlarge * d.y, p.z + enlarge * d.z};
	}
}

/* How much of the shape this view shows. */
static double visible(const Scene *scene, const View *view) {
	double sum = 0;
	for (int i = 0; i < scene->count; i++) {
		double from[2], to[2];
		project(view, scene->places[i], &from[0], &from[1]);
		project(view, scene->moved[i], &to[0], &to[1]);
		sum += pow(to[0] - from[0], 2) + pow(to[1] - from[1], 2);
	}
	return sum;
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

/* ---- drawing ----------------------------------------------------------------------------------- */

/* A place in tenths of a pixel, so that steps between rounded points do not add up to an error. */
static void in_tenths(const View *view, CalVec3 place, long at[2]) {
	double x, y;
	project(view, place, &x, &y);
	at[0] = lround(10 * (view->middle[0] + view->scale * x));
	at[1] = lround(10 * (view->middle[1] + view->scale * y));
}

static void draw_wire(FILE *out, const Scene *scene, const View *view, const CalVec3 *places) {
	long last[2] = {0, 0}, at[2];
	bool down = false;
	for (int i = 0; i < scene->stroke_length; i++) {
		if (scene->strokes[i] < 0) {
			down = false;
			continue;
		}
		in_tenths(view, places[scene->strokes[i]], at);
		if (down)
			fprintf(out, "l%g %g", (double)(at[0] - last[0]) / 10, (double)(at[1] - last[1]) / 10);
		else
			fprintf(out, "M%g %g", (double)at[0] / 10, (double)at[1] / 10);
		memcpy(last, at, sizeof last);
		down = true;
	}
}

/* Dots are lines of no length with round ends. */
static void draw_dots(FILE *out, const Scene *scene, const View *view, const CalVec3 *places) {
	for (int i = 0; i < scene->count; i++) {
		long at[2];
		in_tenths(view, places[i], at);
		fprintf(out, "M%g %gh0", (double)at[0] / 10, (double)at[1] / 10);
	}
}

static void draw_body(FILE *out, const Scene *scene, const View *view, const CalVec3 *places, const char *style) {
	fprintf(out, "<path class=\"%s %s\" d=\"", scene->strokes ? "wire" : "dots", style);
	(scene->strokes ? draw_wire : draw_dots)(out, scene, view, places);
	fputs("\"/>\n", out);
}

static void draw_frames(FILE *out, const Scene *scene, const View *view) {
	fputs("<path class=\"frame\" d=\"", out);
	for (int i = 0; i < scene->count; i++) {
		long at[2];
		if (scene->nodes[i].kind != CAL_MODAL_FRAME)
			continue;
		in_tenths(view, scene->moved[i], at);
		fprintf(out, "M%g %gh6", (double)at[0] / 10 - 3, (double)at[1] / 10);
	}
	fputs("\"/>\n", out);
}

static void draw_axes(FILE *out, const View *view, double left, double bottom) {
	const double *o = view->center;
	for (int c = 0; c < 3; c++) {
		double x, y;
		project(view, (CalVec3){o[0] + (c == 0), o[1] + (c == 1), o[2] + (c == 2)}, &x, &y);
		fprintf(
			out,
			"<path d=\"M%.1f %.1fl%.1f %.1f\" stroke=\"#888\"/><text x=\"%.1f\" y=\"%.1f\" font-size=\"11\">%c</text>",
			left, bottom, 14 * x, 14 * y, left + 21 * x - 2, bottom + 21 * y + 3, "xyz"[c]);
	}
	putc('\n', out);
}

static void draw_tile(FILE *out, Scene *scene, View *view, int shape, double left, double top) {
	move(scene, view, shape);
	View mirrored = *view;
	view->side = 1;
	mirrored.side = -1;
	if (visible(scene, &mirrored) > visible(scene, view))
		view->side = -1;
	view->middle[0] = left + TILE_WIDTH / 2.0;
	view->middle[1] = top + TILE_TEXT + (TILE_HEIGHT - TILE_TEXT) / 2.0;
	fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#ddd\"/>\n", left + 4,
	        top + 4, TILE_WIDTH - 8, TILE_HEIGHT - 8);
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%d: %.5g Hz</text>\n", left + 12, top + 22, shape + 1,
	        frequency(scene->modal, shape));
	draw_axes(out, view, left + 28, top + TILE_HEIGHT - 26);
	fprintf(out, "<use href=\"#%s\" x=\"%g\" y=\"%g\"/>\n", view->side > 0 ? "right" : "left", view->middle[0],
	        view->middle[1]);
	draw_body(out, scene, view, scene->moved, "moved");
	draw_frames(out, scene, view);
}

/* The body at rest, seen from both sides: every tile uses one of the two. */
static void define_rest(FILE *out, const Scene *scene, View view) {
	fputs("<defs>\n", out);
	for (int i = 0; i < 2; i++) {
		view.side = i ? -1 : 1;
		fprintf(out, "<g id=\"%s\">", i ? "left" : "right");
		draw_body(out, scene, &view, scene->places, "rest");
		fputs("</g>\n", out);
	}
	fputs("</defs>\n", out);
}

/* Of a path the last part. */
static void write_title(FILE *out, const char *text) {
	const char *slash = strrchr(text, '/');
	for (text = slash ? slash + 1 : text; *text; text++)
		if (*text == '&' || *text == '<' || *text == '>')
			fprintf(out, "&#%d;", *text);
		else
			putc(*text, out);
}

static void draw(FILE *out, Scene *scene, View *view, const char *title) {
	const int tiles = scene->modes < MAX_TILES ? scene->modes : MAX_TILES;
	const int rows = (tiles + COLUMNS - 1) / COLUMNS, width = COLUMNS * TILE_WIDTH,
			  height = TOP + rows * TILE_HEIGHT + 8;
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
	        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\" role=\"img\">\n"
	        "<style>path{fill:none;stroke-linejoin:round;stroke-linecap:round}.wire{stroke-width:.7}"
	        ".dots{stroke-width:3}.rest{stroke:#c4c4c4}.moved{stroke:#0072b2}"
	        ".frame{stroke:#d55e00;stroke-width:6;stroke-linecap:butt}</style>\n"
	        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<title>",
	        width, height, width, height);
	write_title(out, title);
	fputs("</title>\n<text x=\"12\" y=\"28\" font-size=\"16\" font-weight=\"bold\">", out);
	write_title(out, title);
	fprintf(out, ": %d of %d shapes</text>\n", tiles, scene->modes);
	define_rest(out, scene, *view);
	for (int k = 0; k < tiles; k++) {
		const int left = k % COLUMNS * TILE_WIDTH, top = TOP + k / COLUMNS * TILE_HEIGHT;
		draw_tile(out, scene, view, k, left, top);
	}
	fputs("</svg>\n", out);
}

static int write_picture(Scene *scene, View *view, const char *title, const char *path) {
	OutputFile out;
	const int code = output_open(&out, path);
	if (code != EXIT_OK)
		return code;
	draw(out.stream, scene, view, title);
	return output_close(&out, EXIT_OK);
}

int modes_plot(const CalModal *modal, const char *title, const char *path) {
	View view;
	Scene scene;
	int code;
	if (!scene_create(&scene, modal)) {
		code = say_status(path, CAL_ERR_MEMORY, NULL);
	} else if (!view_of(&scene, &view)) {
		say_error(path, "there are fewer than two nodes to draw");
		code = EXIT_INPUT;
	} else {
		code = write_picture(&scene, &view, title, path);
	}
	scene_free(&scene);
	return code;
}
