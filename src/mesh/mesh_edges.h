// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_edges.h — what triangles share: vertices at the same point, and edges.
 *
 * Files give each triangle its own three vertices (STL), so vertices are joined by their coordinates, bit by bit: what a
 * program wrote as one point is one point. Edges are matched by sorting; one that has two triangles in opposite directions
 * is sound.
 */
#ifndef CALDER_MESH_MESH_EDGES_H
#define CALDER_MESH_MESH_EDGES_H

#include <calder/mesh.h>
#include <math.h>
#include <stdbool.h>

#include "math/vec.h"

INLINE double mesh_length(vec3 a) { return sqrt(dot(a, a)); }

/* A vertex of the input, to be sorted by its place. */
typedef struct MeshCorner {
	CalVec3 p;
	int index;
} MeshCorner;

typedef struct HalfEdge {
	int low, high; // vertices
	int triangle, side;
	int forward; // goes from low to high
} HalfEdge;

/** "mesh NAME: ..." for what makes no surface: too few or too many, not finite, vertices that are not there. */
CalStatus mesh_check_input(const char *name, const CalTriangles *mesh, CalError *error);

/** same[i]: the first vertex at the place of vertex i. corners[count] is scratch. */
void mesh_find_same(const CalVec3 *vertices, int count, MeshCorner *corners, int *same);

/** The height of the triangle is more than 1e-12 of its longest side. */
bool mesh_has_area(const CalVec3 *vertices, const int corners[3]);

/**
 * The triangles with three different vertices and an area, by the vertices of same, into kept[triangle_count][3]. Returns how
 * many there are.
 */
int mesh_keep_triangles(const CalTriangles *mesh, const int *same, int *kept);

/** All edges of the triangles, corners[count][3], sorted by their vertices into edges[3 count]. */
void mesh_list_edges(const int *corners, int count, HalfEdge *edges);
/** The first edge after i that has other vertices; count: of all. */
int mesh_next_edge(const HalfEdge *edges, int i, int count);

#endif
