// SPDX-License-Identifier: Apache-2.0
/*
 * wire.c — lines between the nodes of a body, so that its shape is seen where no mesh is known.
 *
 * Two nodes are joined if no third is in the sphere of which they are the poles (Gabriel's graph): on a regular mesh
 * these are its edges, on a beam the chain of its nodes.
 */
#include <stdbool.h>

#include <calder/replay.h>

static double square(CalVec3 a, CalVec3 b) {
	const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
	return x * x + y * y + z * z;
}

/* Is c inside the sphere over a and b, or on it? Then the angle at c is not acute. One that sits on a pole is not. */
static bool inside(CalVec3 a, CalVec3 b, CalVec3 c, double diameter2) {
	const double to_a = square(a, c), to_b = square(b, c), touch = 1e-12 * diameter2;
	return to_a > touch && to_b > touch && to_a + to_b <= diameter2 * (1 + 1e-6);
}

/* The node that was in the way last is asked first: it mostly is in the way of the next pair too. */
int cal_wire_lines(const CalVec3 *p, int count, int (*lines)[2], int capacity) {
	int found = 0;
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
			if (!free)
				continue;
			if (found < capacity) {
				lines[found][0] = a;
				lines[found][1] = b;
			}
			found++;
		}
	}
	return found;
}
