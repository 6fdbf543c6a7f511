// SPDX-License-Identifier: Apache-2.0
/*
 * modes_wire.c — the lines between the nodes of a body put in few strokes, so that a picture of them stays small.
 */
#include <stdlib.h>

#include "modes.h"

typedef struct Lines {
	int (*ends)[2];
	bool *drawn;
	int count;
} Lines;

/* On usual meshes a node has few neighbors; where that is too little, there is a second try. */
static bool find_lines(const CalVec3 *places, int count, Lines *lines) {
	int capacity = 16 * count;
	for (int attempt = 0; attempt < 2; attempt++) {
		free(lines->ends);
		lines->ends = malloc((size_t)capacity * sizeof *lines->ends + 1);
		lines->count = lines->ends ? cal_wire_lines(places, count, lines->ends, capacity) : 0;
		if (lines->count <= capacity)
			break;
		capacity = lines->count;
	}
	lines->drawn = calloc((size_t)lines->count + 1, sizeof *lines->drawn);
	return lines->ends && lines->drawn && lines->count;
}

/* The end of a line from `node` that is not drawn yet, which it then is; -1: there is none. */
static int follow_lines(Lines *lines, int node) {
	for (int i = 0; i < lines->count; i++) {
		const int *ends = lines->ends[i];
		if (lines->drawn[i] || (ends[0] != node && ends[1] != node))
			continue;
		lines->drawn[i] = true;
		return ends[0] == node ? ends[1] : ends[0];
	}
	return -1;
}

int modes_wire(const CalVec3 *places, int count, int **strokes) {
	Lines lines = {0};
	int length = 0;
	*strokes = find_lines(places, count, &lines) ? malloc(3 * (size_t)lines.count * sizeof **strokes) : NULL;
	for (int i = 0; i < lines.count && *strokes; i++) {
		if (lines.drawn[i])
			continue;
		for (int node = lines.ends[i][0]; node >= 0; node = follow_lines(&lines, node))
			(*strokes)[length++] = node;
		(*strokes)[length++] = -1;
	}
	free(lines.ends);
	free(lines.drawn);
	return length;
}
