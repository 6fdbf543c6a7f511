// SPDX-License-Identifier: Apache-2.0
/*
 * modes_wire.c — lines between the nodes of a body, so that its shape is seen where no mesh is known.
 *
 * Two nodes are joined if no third lies in the sphere of which they are the poles (Gabriel's graph): on a regular mesh
 * these are its edges, on a beam the chain of its nodes. All lines are then put in few strokes, so that a picture
 * of them stays small.
 */
#include <stdlib.h>

#include "modes.h"

typedef struct Line {
	int a, b;
	bool drawn;
} Line;

typedef struct Lines {
	Line *items;
	int count, capacity;
} Lines;

static double square(CalVec3 a, CalVec3 b) {
	const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
	return x * x + y * y + z * z;
}

/* Is c inside the sphere over a and b, or on it? Then the angle at c is not acute. One that sits on a pole is not. */
static bool inside(CalVec3 a, CalVec3 b, CalVec3 c, double diameter2) {
	const double to_a = square(a, c), to_b = square(b, c), touch = 1e-12 * diameter2;
	return to_a > touch && to_b > touch && to_a + to_b <= diameter2 * (1 + 1e-6);
}

static bool add_line(Lines *lines, int a, int b) {
	if (lines->count == lines->capacity) {
		const int capacity = 2 * lines->capacity + 256;
		Line *items = realloc(lines->items, (size_t)capacity * sizeof *items);
		if (!items)
			return false;
		lines->items = items;
		lines->capacity = capacity;
	}
	lines->items[lines->count++] = (Line){.a = a, .b = b};
	return true;
}

/* The node that was in the way last is asked first: it mostly is in the way of the next pair too. */
static bool find_lines(const CalVec3 *p, int count, Lines *lines) {
	for (int a = 0; a < count; a++) {
		int suspect = 0;
		for (int b = a + 1; b < count; b++) {
			const double diameter2 = square(p[a], p[b]);
			bool free = diameter2 > 0 && !inside(p[a], p[b], p[suspect], diameter2);
			for (int c = 0; c < count && free; c++)
				if (inside(p[a], p[b], p[c], diameter2)) {
					free = false;
					suspect = c;
				}
			if (free && !add_line(lines, a, b))
				return false;
		}
	}
	return true;
}

/* The end of a line from `node` that is not drawn yet, which it then is; -1: there is none. */
static int follow(Lines *lines, int node) {
	for (int i = 0; i < lines->count; i++) {
		Line *line = &lines->items[i];
		if (line->drawn || (line->a != node && line->b != node))
			continue;
		line->drawn = true;
		return line->a == node ? line->b : line->a;
	}
	return -1;
}

int modes_wire(const CalVec3 *places, int count, int **strokes) {
	Lines lines = {0};
	int length = 0;
	*strokes = NULL;
	if (find_lines(places, count, &lines) && lines.count)
		*strokes = malloc(3 * (size_t)lines.count * sizeof **strokes);
	for (int i = 0; i < lines.count && *strokes; i++) {
		if (lines.items[i].drawn)
			continue;
		for (int node = lines.items[i].a; node >= 0; node = follow(&lines, node))
			(*strokes)[length++] = node;
		(*strokes)[length++] = -1;
	}
	free(lines.items);
	return length;
}
