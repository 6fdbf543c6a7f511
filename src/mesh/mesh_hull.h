// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_hull.h — the convex hull of the vertices of a mesh.
 */
#ifndef CALDER_MESH_MESH_HULL_H
#define CALDER_MESH_MESH_HULL_H

#include <calder/mesh.h>

/**
 * Triangles of the hull, counterclockwise seen from outside, by vertices of the mesh: *corners[*count][3], released by
 * memory_free(). Points less than 1e-11 of the extent outside of it are left out. CAL_ERR_INPUT: all vertices are in one plane, rounding
 * made the surface ambiguous, or it takes too long.
 */
CalStatus mesh_hull(const char *name, const CalTriangles *mesh, const CalAllocator *allocator, int **corners,
                    int *count, CalError *error);

#endif
